// Browsers that have signed in to an account before (OWASP "device cookies"). Wrong guesses from elsewhere use up the
// attempts of an account, which could lock its owner out. The owner's own browser has a separate count. Its cookie only
// proves that this account has signed in with this browser. It grants no access.
import type { IncomingMessage } from 'node:http';
import { hashToken, randomToken, sameText, sign } from '../../core/secret.ts';
import type { Store } from '../../store/store.ts';

export interface Devices {
  /** Returns the cookie value for a browser after a sign-in. */
  make(email: string): Promise<string>;
  /** Returns the id of the browser if the cookie belongs to this account; otherwise undefined. */
  recognise(kept: string | undefined, email: string): Promise<string | undefined>;
}

const purpose = 'sign-in-devices';
const LIFE_SECONDS = 180 * 86_400;

export function createDevices({ keys }: Pick<Store, 'keys'>): Devices {
  const values = async () => (await keys.of(purpose, () => randomToken())).map(({ value }) => value);
  const textOf = (email: string, id: string) => `device ${id} ${accountOf(email)}`;
  return {
    async make(email) {
      const id = randomToken(128);
      return `${id}.${sign(textOf(email, id), (await values())[0]!)}`;
    },
    async recognise(kept, email) {
      const [id, sent] = kept?.split('.') ?? [];
      if (!id || !sent) return undefined;
      return (await values()).some((key) => sameText(sent, sign(textOf(email, id), key))) ? id : undefined;
    },
  };
}

/** Fixed-length name of the account with this e-mail address. */
export function accountOf(email: string): string {
  return hashToken(email.trim().normalize('NFC').toLowerCase());
}

export interface DeviceCookie {
  readonly name: string;
  readonly path: string;
  readonly secure: boolean;
}

export function writeDevice({ name, path, secure }: DeviceCookie, value: string): string {
  return `${name}=${value}; HttpOnly; SameSite=Lax; Path=${path}; Max-Age=${LIFE_SECONDS}${secure ? '; Secure' : ''}`;
}

export function readDevice(req: Pick<IncomingMessage, 'headers'>, name: string): string | undefined {
  for (const pair of (req.headers.cookie ?? '').split(';')) {
    const [found, value = ''] = pair.trim().split(/=(.*)/s);
    if (found === name) return /^[\w-]{22}\.[\w-]{43}$/.test(value) ? value : undefined;
  }
  return undefined;
}
