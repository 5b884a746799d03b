/**
 * The text with one character changed, for what is signed or secret. The character is another one for certain, and not
 * the last one: base64url of 32 bytes ends in two bits that a decoder ignores.
 */
export function altered(text: string, at = Math.floor(text.length / 2)): string {
  return `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
}
