// Browsers that have signed in to an account before (OWASP "device cookies"). Wrong guesses from elsewhere use up the
// attempts of an account, which could lock its owner out. The owner's own browser has a separate count. Its cookie only
// proves that this account has signed in with this browser. It grants no access.
import type { IncomingMessage } from 'node:http';
import { hashToken, randomToken, sign, timingSafeEqualText } from '../../core/secret.ts';
import type { Store } from '../../store/store.ts';

interface TrustedBrowsers {
  /** Returns the cookie value for a browser after a sign-in. */
  issue(email: string): Promise<string>;
  /** Returns the id of the browser if the cookie belongs to this account; otherwise undefined. */
  verify(cookie: string | undefined, email: string): Promise<string | undefined>;
}

const purpose = 'sign-in-devices';
const LIFE_SECONDS = 180 * 86_400;

export function createTrustedBrowsers({ keys }: Pick<Store, 'keys'>): TrustedBrowsers {
  const readKeys = async () => (await keys.of(purpose, () => randomToken())).map(({ value }) => value);
  const signedText = (email: string, id: string) => `device ${id} ${accountKeyOf(email)}`;
  return {
    async issue(email) {
      const id = randomToken(128);
      return `${id}.${sign(signedText(email, id), (await readKeys())[0]!)}`;
    },
    async verify(cookie, email) {
      const [id, signature] = cookie?.split('.') ?? [];
      if (!id || !signature) return undefined;
      return (await readKeys()).some((key) => timingSafeEqualText(signature, sign(signedText(email, id), key)))
        ? id
        : undefined;
    },
  };
}

/** Fixed-length name of the account with this e-mail address. */
export function accountKeyOf(email: string): string {
  return hashToken(email.trim().normalize('NFC').toLowerCase());
}

export interface TrustedBrowserCookie {
  readonly name: string;
  readonly path: string;
  readonly secure: boolean;
}

export function formatTrustedBrowserCookie({ name, path, secure }: TrustedBrowserCookie, value: string): string {
  return `${name}=${value}; HttpOnly; SameSite=Lax; Path=${path}; Max-Age=${LIFE_SECONDS}${secure ? '; Secure' : ''}`;
}

export function readTrustedBrowserCookie(req: Pick<IncomingMessage, 'headers'>, name: string): string | undefined {
  for (const pair of (req.headers.cookie ?? '').split(';')) {
    const [cookieName, value = ''] = pair.trim().split(/=(.*)/s);
    if (cookieName === name) return /^[\w-]{22}\.[\w-]{43}$/.test(value) ? value : undefined;
  }
  return undefined;
}
