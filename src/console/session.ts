// Who sits in front of the console. A session is a cookie of 256 random bits that only the browser holds; the storage knows
// its hash. Before there is one, a visit (another cookie, kept nowhere) stands in its place, so that the sign-in form too is
// bound to the browser that asked for it. Tokens open nothing here: the Authorization header is not read.
import type { IncomingMessage } from 'node:http';
import type { Access } from '../core/caller.ts';
import { randomToken, sameText, sign } from '../core/secret.ts';
import { type DeviceCookie, readDevice, writeDevice } from '../oauth/devices.ts';
import type { SignInWays } from '../oauth/sign-in-ways.ts';
import type { Store } from '../store/store.ts';
import type { ConsolePaths } from './paths.ts';

export interface Visitor {
  /** What the forms of this browser are bound to. */
  readonly binding: string;
  /** Set when the browser is to keep it. */
  readonly cookie?: string;
  readonly session?: { readonly id: string; readonly access: Access };
  /** Of a one-time link that was opened in this browser. */
  readonly link?: string | undefined;
  /** What the browser kept of an earlier sign-in (oauth/devices.ts). */
  readonly device?: string | undefined;
}

export interface Begun extends SignedIn {
  readonly browser: string;
  readonly address: string;
  /** When he began to prove who he is; default now. */
  readonly since?: number;
  /** By which this browser is known from now on. */
  readonly device?: string;
}

export interface SignedIn {
  readonly userId: number;
  /** Through whom; null: by a password. */
  readonly issuer: string | null;
}

export interface Sessions {
  /** Signed in or not, with the rights of this moment. */
  recognise(req: IncomingMessage): Promise<Visitor>;
  /** Answers the cookies of the new session. The one of before ends: OWASP session management, no session outlives a sign-in. */
  begin(visitor: Visitor, begun: Begun): Promise<readonly string[]>;
  /** Answers the cookies that take it from the browser. */
  end(visitor: Visitor): Promise<readonly string[]>;
  /** The cookies that keep the token of a one-time link, so that it stands in no address; '' forgets it. */
  keepLink(token: string): readonly string[];
  /** The cookie by which this browser is known from now on. */
  keepDevice(value: string): string;
  /** For the forms of the visitor. */
  makeToken(visitor: Visitor): Promise<string>;
  isToken(visitor: Visitor, sent: string): Promise<boolean>;
}

const formKeys = 'console-forms';

export function createSessions(
  store: Pick<Store, 'sessions' | 'permissions' | 'keys'>,
  paths: Pick<ConsolePaths, 'secure' | 'host' | 'path'>,
  ways: Pick<SignInWays, 'accepts'>,
): Sessions {
  const names = cookieNames(paths);
  // SameSite=Lax, not Strict: the address of an approval is opened from a chat, and Strict would show its reader a sign-in.
  // Nothing that a GET can do changes anything, so that Lax gives nothing away.
  // RFC 6265bis section 4.1.3.2: a __Host- cookie comes from this host alone, over TLS; it needs Path=/ for that. Cookies of
  // plain http are held to our own path. Neither has an age: it ends with the browser, or before that in the storage.
  const attributes = `HttpOnly; SameSite=Lax; ${paths.secure ? 'Path=/; Secure' : `Path=${paths.path('')}`}`;
  const set = (name: string, value: string) => `${name}=${value}; ${attributes}`;
  const clear = (name: string) => `${name}=; ${attributes}; Max-Age=0`;
  const keys = async (): Promise<readonly string[]> =>
    (await store.keys.of(formKeys, () => randomToken())).map(({ value }) => value);
  const tokenOf = ({ binding }: Visitor, key: string) => sign(`form ${binding}`, key);

  const device: DeviceCookie = { name: names.device, path: paths.secure ? '/' : paths.path(''), secure: paths.secure };
  const known = (req: IncomingMessage) => ({ link: readCookie(req, names.link), device: readDevice(req, device.name) });

  return {
    async recognise(req) {
      const id = readCookie(req, names.session);
      const found = id === undefined ? undefined : await store.sessions.find(id);
      // A session that was made by a way in that is closed now is none.
      const access = found && ways.accepts(found.issuer) && (await store.permissions.accessOf(found.userId));
      if (id !== undefined && access) return { ...known(req), binding: `session ${id}`, session: { id, access } };
      const visit = readCookie(req, names.visit);
      if (visit !== undefined) return { ...known(req), binding: `visit ${visit}` };
      const made = randomToken();
      return { ...known(req), binding: `visit ${made}`, cookie: set(names.visit, made) };
    },
    async begin(visitor, { device: kept, ...begun }) {
      if (visitor.session) await store.sessions.end(visitor.session.id);
      const id = await store.sessions.begin(begun);
      return [set(names.session, id), clear(names.visit), ...(kept === undefined ? [] : [writeDevice(device, kept)])];
    },
    async end({ session }) {
      if (session) await store.sessions.end(session.id);
      return [clear(names.session)];
    },
    keepLink: (token) => [token === '' ? clear(names.link) : set(names.link, token)],
    keepDevice: (value) => writeDevice(device, value),
    async makeToken(visitor) {
      return tokenOf(visitor, (await keys())[0]!);
    },
    async isToken(visitor, sent) {
      return (await keys()).some((key) => sameText(sent, tokenOf(visitor, key)));
    },
  };
}

/** On plain http the port is in the name: browsers tell hosts apart by it, but not their cookies. */
function cookieNames({ secure, host }: Pick<ConsolePaths, 'secure' | 'host'>) {
  const port = /:(\d+)$/.exec(host)?.[1] ?? '80';
  const session = secure ? '__Host-portico-console' : `portico-console-${port}`;
  return { session, visit: `${session}-visit`, link: `${session}-link`, device: `${session}-device` };
}

/** The first of that name; undefined for what we cannot have set. */
function readCookie(req: IncomingMessage, name: string): string | undefined {
  for (const pair of (req.headers.cookie ?? '').split(';')) {
    const [found, value = ''] = pair.trim().split(/=(.*)/s);
    if (found === name) return /^[\w-]{43}$/.test(value) ? value : undefined;
  }
  return undefined;
}
