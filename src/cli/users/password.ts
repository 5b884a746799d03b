import { randomToken } from '../../core/secret.ts';

/** Excludes letters and digits that look alike. 32 characters, 5 bits each. */
const signs = 'abcdefghijkmnpqrstuvwxyz23456789';
const length = 20;

/** Returns 100 random bits as four groups of five characters, easy to read aloud and type on a phone. */
export function makePassword(): string {
  const bytes = Buffer.from(randomToken(length * 8), 'base64url');
  const text = Array.from(bytes.subarray(0, length), (byte) => signs[byte % signs.length]!).join('');
  return text.match(/.{5}/g)!.join('-');
}
