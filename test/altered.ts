/**
 * The text with one character changed, for signed or secret values. It never changes
 * the last character: base64url of 32 bytes ends in two bits that decoders ignore.
 */
export function altered(text: string, at = Math.floor(text.length / 2)): string {
  return `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
}
