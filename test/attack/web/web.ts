// The server for attacks on sign-in, HTTP and console, and the requests of a client and a browser.
import { createServer } from 'node:net';
import { validateAuthResponse } from 'oauth4webapi';
import { redirectUri } from '../../app/shop.ts';
import { authorizationUrl, type Registered, redeem, register } from '../../oauth/client.ts';
import { type Account, type Browser, createBrowser, type Page } from '../../oauth/flow.ts';
import type { Place } from '../attack.ts';
import { shop } from '../data/shop.ts';
import type { Target } from '../target.ts';

const env = {
  // Attackers choose their address with X-Forwarded-For.
  SERVICE_TRUSTED_PROXIES: 'loopback',
  SERVICE_DCR_REDIRECT_DENIED_DOMAINS: 'evil.example',
  SERVICE_REMOTE_HOSTS: '127.0.0.1',
  SERVICE_CLOUD: 'true',
};
export const web: Place = { ...shop, name: 'web', env };
/** With low limits. */
export const limited: Place = {
  ...shop,
  name: 'web with low limits',
  env: { ...env, SERVICE_DCR_PER_HOUR: '5', SERVICE_SIGN_IN_ATTEMPTS: '5' },
};

/** The storage of every target is SQLite, because these attacks behave the same on all databases. */
export const on = ['sqlite'] as const;

type Fields = Readonly<Record<string, string | undefined>>;

export interface Asked {
  readonly registered: Registered;
  readonly browser: Browser;
  readonly verifier: string;
  /** The consent page, or the page shown instead. */
  readonly page: Page;
}

/** Makes an authorization request of a client, and signs in. `change` overrides its parameters. */
export async function ask(
  { origin, mcpUrl }: Target,
  person: Account | undefined,
  metadata: Readonly<Record<string, unknown>> = {},
  change: Fields = {},
): Promise<Asked> {
  const registered = await register(origin, { client_name: 'Notebook', redirect_uris: [redirectUri], ...metadata });
  const [to = redirectUri] = (metadata.redirect_uris ?? []) as string[];
  const scope = 'mcp:read mcp:write mcp:action';
  const { url, verifier } = await authorizationUrl(registered, { redirectUri: to, resource: mcpUrl, scope });
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  const browser = createBrowser();
  const first = await browser.open(url);
  const { email = '', password = '' } = person ?? {};
  const isForm = person && first.html.includes('name="password"');
  const page = isForm ? await browser.press(first, 'sign-in', { email, password }) : first;
  return { registered, browser, verifier, page };
}

export interface Tokens {
  readonly registered: Registered;
  readonly access: string;
  readonly refresh: string;
}

/** The complete flow of an honest client. */
export async function connectClient(
  target: Target,
  person: Account,
  metadata: Readonly<Record<string, unknown>> = {},
  change: Fields = {},
): Promise<Tokens> {
  const { registered, code, verifier } = await codeFor(target, person, metadata, change);
  const tokens = await redeem(registered, { parameters: code, verifier, redirectUri });
  return { registered, access: tokens.access_token, refresh: `${tokens.refresh_token}` };
}

export async function codeFor(
  target: Target,
  person: Account,
  metadata: Readonly<Record<string, unknown>> = {},
  change: Fields = {},
) {
  const { registered, browser, page, verifier } = await ask(target, person, metadata, change);
  const { leftTo } = page.leftTo ? page : await browser.press(page, 'allow');
  const code = validateAuthResponse(registered.server, registered.client, leftTo!, 'the-state');
  return { registered, code, verifier, leftTo: leftTo! };
}

export interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what comes back is looked at member by member
  readonly json: any;
}

export async function tell(url: string, init: RequestInit = {}): Promise<Told> {
  const response = await fetch(url, { redirect: 'manual', ...init });
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.status, headers: response.headers, text, json };
}

/** Posts a form to an endpoint of the authorization server. */
export const post = ({ origin }: Target, name: string, fields: Fields, headers: Record<string, string> = {}) =>
  tell(`${origin}/oauth/${name}`, {
    method: 'POST',
    headers,
    body: new URLSearchParams(Object.entries(fields).filter((one): one is [string, string] => one[1] !== undefined)),
  });

export const refreshWith = (target: Target, { registered }: Tokens, token: string) =>
  post(target, 'token', {
    grant_type: 'refresh_token',
    refresh_token: token,
    client_id: registered.client.client_id,
  });

export const registerRaw = ({ origin }: Target, metadata: object, headers: Record<string, string> = {}) =>
  tell(`${origin}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(metadata),
  });

/** Whether the MCP endpoint accepts a token. */
export const opens = async (target: Target, token: string): Promise<boolean> =>
  !/^4\d\d /.test(JSON.stringify(await target.caller(token).call('describeCollection', {})).slice(1));

/** The first heading of a page, without markup. */
export const headline = ({ html }: Page): string =>
  (/<h1[^>]*>(.*?)<\/h1>/s.exec(html)?.[1] ?? '').replaceAll(/<[^>]+>/g, '');

/** An internal service on a local port. It counts connections and sends no answer. */
export async function openInside(): Promise<{ readonly port: number; seen(): number; close(): void }> {
  let seen = 0;
  const server = createServer((socket) => {
    seen++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { port, seen: () => seen, close: () => void server.close() };
}

export { redirectUri };
