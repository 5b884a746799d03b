// Console sessions. A session is a cookie of 256 random bits; the storage holds only its hash. Before sign-in, a
// separate visit cookie, which is not stored, binds the sign-in form to the browser. The console ignores the
// Authorization header, so API tokens give no access to it.
import type { IncomingMessage } from 'node:http';
import type { Access } from '../core/caller.ts';
import { randomToken, sign, timingSafeEqualText } from '../core/secret.ts';
import type { LoginMethods } from '../oauth/login/login-methods.ts';
import {
  formatTrustedBrowserCookie,
  readTrustedBrowserCookie,
  type TrustedBrowserCookie,
} from '../oauth/login/trusted-browsers.ts';
import type { Store } from '../store/store.ts';
import type { ConsolePaths } from './paths.ts';

export interface Visitor {
  /** Value that this browser's form tokens are bound to. */
  readonly binding: string;
  /** Set-Cookie value to send, if any. */
  readonly cookie?: string;
  readonly session?: { readonly id: string; readonly access: Access };
  /** Token of a one-time link that was opened in this browser. */
  readonly link?: string | undefined;
  /** Trusted-browser value from an earlier sign-in (oauth/login/trusted-browsers.ts). */
  readonly device?: string | undefined;
}

export interface NewSession extends SignedIn {
  readonly browser: string;
  readonly address: string;
  /** Time when the sign-in began; default now. */
  readonly since?: number;
  /** New trusted-browser value of this browser. */
  readonly device?: string;
}

interface SignedIn {
  readonly userId: number;
  /** Issuer of the identity; null for a password. */
  readonly issuer: string | null;
}

export interface Sessions {
  /** Identifies the visitor, signed in or not, with their current rights. */
  recognise(req: IncomingMessage): Promise<Visitor>;
  /**
   * Starts a session and returns its cookies. Ends the previous session (OWASP session management: no session survives
   * a sign-in).
   */
  begin(visitor: Visitor, begun: NewSession): Promise<readonly string[]>;
  /** Ends the session and returns the cookies that clear it. */
  end(visitor: Visitor): Promise<readonly string[]>;
  /** Cookies that store the token of a one-time link and keep it out of URLs; '' clears it. */
  linkCookies(token: string): readonly string[];
  /** Cookie with the trusted-browser value. */
  trustedBrowserCookie(value: string): string;
  /** CSRF token for the visitor's forms. */
  makeToken(visitor: Visitor): Promise<string>;
  isToken(visitor: Visitor, token: string): Promise<boolean>;
}

const formKeys = 'console-forms';

export function createSessions(
  store: Pick<Store, 'sessions' | 'permissions' | 'keys'>,
  paths: Pick<ConsolePaths, 'secure' | 'host' | 'path'>,
  loginMethods: Pick<LoginMethods, 'accepts'>,
): Sessions {
  const names = cookieNames(paths);
  // SameSite=Lax instead of Strict: users open approval links from a chat, and Strict would show them the sign-in page.
  // GET requests change no data, so Lax is safe. RFC 6265bis section 4.1.3.2: a __Host- cookie is bound to this host
  // over TLS and requires Path=/. On plain http the cookies use the console's own path. The cookies have no Max-Age:
  // they end with the browser, or earlier when the storage ends the session.
  const attributes = `HttpOnly; SameSite=Lax; ${paths.secure ? 'Path=/; Secure' : `Path=${paths.path('')}`}`;
  const set = (name: string, value: string) => `${name}=${value}; ${attributes}`;
  const clear = (name: string) => `${name}=; ${attributes}; Max-Age=0`;
  const keys = async (): Promise<readonly string[]> =>
    (await store.keys.of(formKeys, () => randomToken())).map(({ value }) => value);
  const tokenOf = ({ binding }: Visitor, key: string) => sign(`form ${binding}`, key);

  const device: TrustedBrowserCookie = {
    name: names.device,
    path: paths.secure ? '/' : paths.path(''),
    secure: paths.secure,
  };
  const readLinkAndDevice = (req: IncomingMessage) => ({
    link: readCookie(req, names.link),
    device: readTrustedBrowserCookie(req, device.name),
  });

  return {
    async recognise(req) {
      const id = readCookie(req, names.session);
      const found = id === undefined ? undefined : await store.sessions.find(id);
      // Reject sessions of a sign-in method that is now disabled.
      const access = found && loginMethods.accepts(found.issuer) && (await store.permissions.accessOf(found.userId));
      if (id !== undefined && access)
        return { ...readLinkAndDevice(req), binding: `session ${id}`, session: { id, access } };
      const visitId = readCookie(req, names.visit);
      if (visitId !== undefined) return { ...readLinkAndDevice(req), binding: `visit ${visitId}` };
      const newVisitId = randomToken();
      return { ...readLinkAndDevice(req), binding: `visit ${newVisitId}`, cookie: set(names.visit, newVisitId) };
    },
    async begin(visitor, { device: newDevice, ...begun }) {
      if (visitor.session) await store.sessions.end(visitor.session.id);
      const id = await store.sessions.begin(begun);
      return [
        set(names.session, id),
        clear(names.visit),
        ...(newDevice === undefined ? [] : [formatTrustedBrowserCookie(device, newDevice)]),
      ];
    },
    async end({ session }) {
      if (session) await store.sessions.end(session.id);
      return [clear(names.session)];
    },
    linkCookies: (token) => [token === '' ? clear(names.link) : set(names.link, token)],
    trustedBrowserCookie: (value) => formatTrustedBrowserCookie(device, value),
    async makeToken(visitor) {
      return tokenOf(visitor, (await keys())[0]!);
    },
    async isToken(visitor, token) {
      return (await keys()).some((key) => timingSafeEqualText(token, tokenOf(visitor, key)));
    },
  };
}

/** On plain http the cookie name includes the port, because browsers share cookies between ports of a host. */
function cookieNames({ secure, host }: Pick<ConsolePaths, 'secure' | 'host'>) {
  const port = /:(\d+)$/.exec(host)?.[1] ?? '80';
  const session = secure ? '__Host-portico-console' : `portico-console-${port}`;
  return { session, visit: `${session}-visit`, link: `${session}-link`, device: `${session}-device` };
}

/** First cookie of that name; undefined if we cannot have set its value. */
function readCookie(req: IncomingMessage, name: string): string | undefined {
  for (const pair of (req.headers.cookie ?? '').split(';')) {
    const [found, value = ''] = pair.trim().split(/=(.*)/s);
    if (found === name) return /^[\w-]{43}$/.test(value) ? value : undefined;
  }
  return undefined;
}
