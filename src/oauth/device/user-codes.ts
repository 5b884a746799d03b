// User codes (RFC 8628 section 6.1) in the storage. They are short, so a plain hash could be found by brute force. The
// row is found by a keyed hash, and the code itself, which the consent page shows, is stored encrypted.
import { decrypt, encrypt, sign } from '../../core/secret.ts';

export interface UserCodes {
  /** Lookup values of a code, one for each key. New rows use the first. */
  lookupHashes(code: string): readonly string[];
  seal(code: string): string;
  /** Decrypts a code; '' if no key fits. */
  open(sealed: string): string;
}

/** `keys`: keys of the installation, newest first. */
export function createUserCodes(keys: readonly string[]): UserCodes {
  return {
    lookupHashes: (code) => keys.map((key) => sign(`user code ${code}`, key)),
    seal: (code) => encrypt(code, keys[0] ?? ''),
    open(sealed) {
      for (const key of keys) {
        try {
          return decrypt(sealed, key);
        } catch {
          // Encrypted with another key.
        }
      }
      return '';
    },
  };
}
