// An external OpenID provider: oidc-provider with its own users, keys and pages, on another host and port. Tests can
// alter its ID tokens, signed with its real key, to prove that the server validates them.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import Provider from 'oidc-provider';
import { type Browser, createBrowser, type Page } from './flow.ts';

export interface Upstream {
  readonly issuer: string;
  /** Settings of a server that uses this provider. */
  readonly env: Readonly<Record<string, string>>;
  /** Claims by subject. */
  readonly people: Map<string, Record<string, unknown>>;
  /** Alters the claims of the next ID tokens before they are signed again. */
  spoil: ((claims: Record<string, unknown>) => Record<string, unknown>) | undefined;
  /** Whether altered tokens are signed by a foreign key under the provider's key id. */
  forges: boolean;
  /** Answers every request with 503, as if it were down. */
  isDown: boolean;
  /** Requested paths, oldest first. */
  readonly asked: string[];
  /** Registers our server; until then the provider is down. */
  start(redirectUris: readonly string[]): void;
  stop(): Promise<void>;
}

export const clientId = 'portico';
const secret = 'what the provider gave to us, and to nobody else';

const nina = {
  email: 'nina@example.com',
  email_verified: true,
  given_name: 'Nina',
  family_name: 'Simon',
  groups: ['staff', 'clerks'],
  region: 'north',
};

interface Keys {
  readonly key: JWK;
  /** A foreign key with the same key id. */
  readonly forged: JWK;
}

/** Shared by all providers, since an RSA key takes a fifth of a second to generate. */
let kept: Promise<Keys> | undefined;

async function makeKeys(): Promise<Keys> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const stranger = await generateKeyPair('RS256', { extractable: true });
  const key: JWK = { ...(await exportJWK(privateKey)), kid: 'upstream', alg: 'RS256', use: 'sig' };
  return { key, forged: { ...key, ...(await exportJWK(stranger.privateKey)) } };
}

export async function openUpstream(): Promise<Upstream> {
  let handle: ((req: IncomingMessage, res: ServerResponse) => void) | undefined;
  const http = createServer((req, res) => {
    upstream.asked.push(`${req.url}`);
    if (!handle || upstream.isDown) res.writeHead(503, { 'Content-Type': 'text/plain' }).end('down');
    else handle(req, res);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  kept ??= makeKeys();
  const { key, forged } = await kept;

  const upstream: Upstream = {
    issuer,
    env: {
      SERVICE_SSO_ISSUER: issuer,
      SERVICE_SSO_CLIENT_ID: clientId,
      SERVICE_SSO_CLIENT_SECRET: secret,
      SERVICE_SSO_NAME: 'Example ID',
    },
    people: new Map([['nina', nina]]),
    spoil: undefined,
    forges: false,
    isDown: false,
    asked: [],
    start(redirectUris) {
      const provider = createProvider(issuer, key, upstream.people, redirectUris);
      const callback = provider.callback() as (req: IncomingMessage, res: ServerResponse) => void;
      handle = (req, res) => {
        if (req.url?.startsWith('/interaction/')) return void showLogin(provider, req, res);
        if (req.url === '/token' && upstream.spoil) spoilToken(res, upstream.forges ? forged : key, upstream.spoil);
        callback(req, res);
      };
    },
    async stop() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return upstream;
}

function createProvider(
  issuer: string,
  key: JWK,
  people: Upstream['people'],
  redirectUris: readonly string[],
): Provider {
  const client = { grant_types: ['authorization_code'], redirect_uris: [...redirectUris] };
  const provider = new Provider(issuer, {
    clients: [
      { ...client, client_id: clientId, client_secret: secret },
      { ...client, client_id: 'another', client_secret: 'the secret of another' },
    ],
    jwks: { keys: [key] },
    cookies: { keys: ['a key of the provider'] },
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['given_name', 'family_name', 'groups', 'region'],
    },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    findAccount: (_ctx, id) =>
      people.has(id) ? { accountId: id, claims: async () => ({ sub: id, ...people.get(id) }) } : undefined,
    async loadExistingGrant(ctx) {
      const { client: asking, session } = ctx.oidc;
      const known = session!.grantIdFor(asking!.clientId);
      if (known) return provider.Grant.find(known);
      const grant = new provider.Grant({ clientId: asking!.clientId, accountId: session!.accountId! });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  return provider;
}

async function showLogin(provider: Provider, req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (req.method === 'GET') {
    res.writeHead(200, { 'Content-Type': 'text/html' });
    res.end(
      `<!doctype html><title>Example ID</title><form method="post" action="${req.url}"><label for="who">Name</label> <input id="who" name="who"> <button name="do" value="enter">Enter</button></form>`,
    );
    return;
  }
  let body = '';
  for await (const chunk of req) body += chunk;
  const form = new URLSearchParams(body);
  const result = !form.get('who') ? { error: 'access_denied' } : { login: { accountId: `${form.get('who')}` } };
  await provider.interactionFinished(req, res, result, { mergeWithLastSubmission: false });
}

/** Replaces the ID token in the response body. */
function spoilToken(res: ServerResponse, key: JWK, spoil: NonNullable<Upstream['spoil']>): void {
  const end = res.end.bind(res) as (body: string) => ServerResponse;
  const change = async (body: string): Promise<void> => {
    const answer = JSON.parse(body) as { id_token?: string };
    if (answer.id_token) {
      const claims = spoil(decodeJwt(answer.id_token));
      const signed = new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: `${key.kid}` });
      answer.id_token = await signed.sign(await importJWK(key, 'RS256'));
    }
    const text = JSON.stringify(answer);
    res.setHeader('Content-Length', Buffer.byteLength(text));
    end(text);
  };
  res.end = ((body: string | Buffer) => {
    void change(`${body}`);
    return res;
  }) as typeof res.end;
}

/** From our page with the button to the provider's redirect, which is not opened yet. */
export async function goThrough(browser: Browser, page: Page, who: string, button = 'sso'): Promise<URL> {
  const leaving = await browser.press(page, button);
  if (!leaving.leftTo)
    throw new Error(`the button led to ${leaving.status}:\n${leaving.html.replace(/<style>.*?<\/style>/s, '')}`);
  return atUpstream(browser, leaving.leftTo, who);
}

export async function atUpstream(browser: Browser, url: URL, who: string): Promise<URL> {
  let page = await browser.open(url);
  if (!page.leftTo) page = await browser.press(page, 'enter', { who });
  // A browser submits this form by script: the provider ends the session of the other account.
  const ending = /<form method="post" action="([^"]+)">\s*<input type="hidden" name="xsrf" value="([^"]+)"/.exec(
    page.html,
  );
  if (ending) {
    const body = new URLSearchParams({ xsrf: `${ending[2]}`, logout: 'yes' });
    page = await browser.open(`${ending[1]}`, { method: 'POST', body });
  }
  if (!page.leftTo) throw new Error(`the provider stopped with ${page.status}:\n${page.html}`);
  return page.leftTo;
}

/** The whole flow with consent; returns the URL of the redirect to the client. */
export async function signInThrough(url: string | URL, who: string, browser: Browser = createBrowser()): Promise<URL> {
  const first = await browser.open(url);
  let page = await browser.open(await goThrough(browser, first, who));
  if (!page.leftTo && page.html.includes('value="allow"')) page = await browser.press(page, 'allow');
  if (page.leftTo) return page.leftTo;
  throw new Error(
    `sign-in stopped with ${page.status} at ${page.url}:\n${page.html.replace(/<style>.*?<\/style>/s, '')}`,
  );
}
