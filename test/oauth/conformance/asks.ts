// Raw client requests: a test can replace, omit (undefined) or repeat (a list) every parameter, and gets the raw
// response.
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { requestOf } from '../../app/call.ts';
import { type Browser, createBrowser, type Page, signIn } from '../flow.ts';
import type { ConformanceServer } from './conformance-server.ts';

export type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body if it is a JSON object. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are compared, and a wrong shape fails the comparison
  readonly json: any;
}

export interface Client {
  readonly id: string;
  readonly secret?: string;
}

/** The pair of RFC 7636 appendix B. */
export const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
export const redirectUri = 'https://notebook.example/callback';
export const loopback = 'http://127.0.0.1:49152/callback';
export const state = 'af0ifjsldkj';

export function fill(fields: Fields, change: Fields = {}): URLSearchParams {
  const filled = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...fields, ...change })) {
    for (const one of [value ?? []].flat()) filled.append(name, one);
  }
  return filled;
}

export async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, { redirect: 'manual', ...init });
  const body = await response.text();
  return { status: response.status, headers: response.headers, text: body, json: parse(body) };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Sends headers that fetch would not. */
export async function askRaw(url: string, method: string, headers: Record<string, string | string[]>, body = '') {
  const { hostname, port, pathname, search } = new URL(url);
  return new Promise<Answer>((resolve, reject) => {
    request({ host: hostname, port, path: pathname + search, method, headers }, async (response) => {
      const answer = await text(response);
      resolve({ status: response.statusCode ?? 0, headers: new Headers(), text: answer, json: parse(answer) });
    })
      .on('error', reject)
      .end(body);
  });
}

export const endpoint = (at: ConformanceServer, name: string): string => `${at.issuer}/oauth/${name}`;

/** Posts a form to an endpoint for clients. */
export const post = (
  at: ConformanceServer,
  name: string,
  fields: Fields,
  headers: Record<string, string> = {},
): Promise<Answer> => ask(endpoint(at, name), { method: 'POST', body: fill(fields), headers });

export const register = (
  at: ConformanceServer,
  metadata: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  ask(endpoint(at, 'register'), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof metadata === 'string' ? metadata : JSON.stringify(metadata),
  });

export async function newClient(at: ConformanceServer, metadata: Record<string, unknown> = {}): Promise<Client> {
  const { status, json, text } = await register(at, {
    client_name: 'Notebook',
    redirect_uris: [redirectUri],
    ...metadata,
  });
  if (status !== 201) throw new Error(`registration answered ${status}: ${text}`);
  return { id: json.client_id, secret: json.client_secret };
}

/** A public web client. */
export const notebook = (at: ConformanceServer): Promise<Client> => at.once('notebook', () => newClient(at));
/** A client with a secret, sent by HTTP Basic. */
export const keeper = (at: ConformanceServer): Promise<Client> =>
  at.once('keeper', () => newClient(at, { token_endpoint_auth_method: 'client_secret_basic' }));
/** A native client. */
export const desktop = (at: ConformanceServer): Promise<Client> =>
  at.once('desktop', () => newClient(at, { client_name: 'Desktop', redirect_uris: ['http://127.0.0.1/callback'] }));

export const basic = ({ id, secret }: Client): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(`${secret}`)}`).toString('base64')}`,
});

/** The parameters of an authorization request. */
export async function authorization(at: ConformanceServer, change: Fields = {}): Promise<URLSearchParams> {
  const known: Fields = {
    response_type: 'code',
    client_id: 'client_id' in change ? change.client_id : (await notebook(at)).id,
    redirect_uri: redirectUri,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    state,
    scope: 'mcp:read',
    resource: at.resource,
  };
  return fill(known, change);
}

/** Opens the authorization endpoint without pressing a button. */
export async function open(at: ConformanceServer, change: Fields = {}, browser: Browser = at.browser): Promise<Page> {
  return browser.open(`${endpoint(at, 'authorize')}?${await authorization(at, change)}`);
}

/** The parameters of the redirect or of the page's link back to the client; otherwise the status of the page. */
export function told({ leftTo: sentTo, html, status }: Pick<Page, 'leftTo' | 'html' | 'status'>): unknown {
  const [, link] = /<a class="back" href="([^"]+)"/.exec(html) ?? [];
  const leftTo = sentTo ?? (link && new URL(link.replaceAll('&amp;', '&')));
  if (!leftTo) return status;
  // A client that requested an implicit response expects the error in the fragment (RFC 6749 section 4.2.2.1).
  const all = [...leftTo.searchParams, ...new URLSearchParams(leftTo.hash.slice(1))];
  return Object.fromEntries(all.filter(([name]) => name !== 'error_description'));
}

export const refusal = async (at: ConformanceServer, change: Fields, browser = createBrowser()): Promise<unknown> =>
  told(await open(at, change, browser));

/** The parameters of every error redirect. */
export const refused = (at: ConformanceServer, error: string): unknown => ({ error, state, iss: at.issuer });

/** Signs in and allows; returns the URL of the redirect. */
export async function allow(at: ConformanceServer, change: Fields = {}, browser: Browser = at.browser): Promise<URL> {
  return signIn(`${endpoint(at, 'authorize')}?${await authorization(at, change)}`, at.account, browser);
}

export const codeFor = async (at: ConformanceServer, change: Fields = {}): Promise<string> =>
  `${(await allow(at, change)).searchParams.get('code')}`;

export const redeem = async (
  at: ConformanceServer,
  code: string,
  change: Fields = {},
  headers: Record<string, string> = {},
) => {
  const known: Fields = {
    grant_type: 'authorization_code',
    client_id: 'client_id' in change ? change.client_id : (await notebook(at)).id,
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  };
  return post(at, 'token', { ...known, ...change }, headers);
};

export interface Tokens {
  readonly access: string;
  readonly refresh: string;
  readonly scope: string;
}

/** The whole flow. */
export async function connect(
  at: ConformanceServer,
  asked: Fields = {},
  sent: Fields = {},
  headers: Record<string, string> = {},
): Promise<Tokens> {
  const { client_id, redirect_uri = redirectUri } = { client_id: (await notebook(at)).id, ...asked };
  const code = await codeFor(at, asked);
  const { status, json, text } = await redeem(at, code, { client_id, redirect_uri, ...sent }, headers);
  if (status !== 200) throw new Error(`the code was answered ${status}: ${text}`);
  return { access: json.access_token, refresh: json.refresh_token, scope: json.scope };
}

export const refresh = async (
  at: ConformanceServer,
  token: string,
  change: Fields = {},
  headers: Record<string, string> = {},
) =>
  post(
    at,
    'token',
    { grant_type: 'refresh_token', client_id: (await notebook(at)).id, refresh_token: token, ...change },
    headers,
  );

/** Calls a tool at /mcp. */
export async function call(
  at: ConformanceServer,
  token: string | undefined,
  { tool = 'describeCollection', args = {}, headers = {}, query = '' }: Partial<Call> = {},
): Promise<Answer> {
  const made = requestOf('tools/call', { name: tool, arguments: args });
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const all = { ...made.headers, ...authorization, ...headers };
  return ask(`${at.resource}${query}`, { method: 'POST', headers: all, body: made.body });
}

interface Call {
  readonly tool: string;
  readonly args: Record<string, unknown>;
  readonly headers: Record<string, string>;
  readonly query: string;
}

export const statusOf = async (at: ConformanceServer, token: string): Promise<number> => (await call(at, token)).status;

/** The status and the error code. */
export const shown = ({ status, json }: Answer): unknown => [status, json?.error];

export const names = (headers: Headers, ...wanted: readonly string[]): readonly (string | null)[] =>
  wanted.map((name) => headers.get(name));

export const asMetadata = (at: ConformanceServer): Promise<Answer> =>
  ask(`${at.origin}/.well-known/oauth-authorization-server${at.prefix}`);
export const resourceMetadata = (at: ConformanceServer): Promise<Answer> =>
  ask(`${at.origin}/.well-known/oauth-protected-resource${at.prefix}/mcp`);

/** The parameters of the first challenge in a WWW-Authenticate header. */
export function challengeIn(headers: Headers): { scheme: string } & Record<string, string> {
  const [, scheme = '', rest = ''] = /^(\S+) (.*)$/.exec(headers.get('www-authenticate') ?? '') ?? [];
  return {
    scheme,
    ...Object.fromEntries([...rest.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value])),
  };
}
