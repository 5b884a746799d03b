// Token classes are separate (RFC 9700 section 2.3): every credential of this server is sent to every endpoint, in the
// Authorization header, the URL and cookies, and only endpoints of its own class accept it. A refusal has the challenge
// of the endpoint and logs a security event, and neither contains the value. The cases are generated, so a new class or
// endpoint is tested against all others.
import { randomBytes } from 'node:crypto';
import { decodeJwt, SignJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { createProof, proofHeader } from '../../src/api/cloud/environment-proof.ts';
import { hashToken, sign } from '../../src/core/secret.ts';
import { authorizationUrl, connect, register } from '../oauth/client.ts';
import { createBrowser, signIn } from '../oauth/flow.ts';
import { ask, poll } from '../oauth/terminal.ts';
import { platformSettings } from '../platform/platform-servers.ts';
import { frontOrigin, openAnswer, sessionToken } from '../rest/front-end.ts';
import { callTool, requestOf } from './call.ts';
import { issuerOf, openShop, redirectUri, type Shop } from './shop.ts';

const authSecret = 'auth-secret-of-the-test';
const envSecret = platformSettings.SERVICE_ENV_SECRET;

const doors = [
  '/mcp',
  'token endpoint, as a refresh token',
  'token endpoint, as a code',
  'token endpoint, as a device code',
  'token endpoint, as a bearer token',
  'introspection',
  'registration',
  'agent API',
  'public API',
  'structure for portico cloud',
  'console',
  'approval page',
  'sign-in page of assistants',
  'upload',
  'download',
  'platform',
] as const;
type Door = (typeof doors)[number];

/** The endpoints that accept each class. */
const opens = {
  'access token': ['/mcp', 'introspection'],
  'access token bound to a key': ['introspection'],
  'refresh token': ['token endpoint, as a refresh token', 'introspection'],
  'authorization code': ['token endpoint, as a code'],
  'registration token': [],
  'access token of the command line': ['structure for portico cloud'],
  'refresh token of the command line': [],
  'device code': ['token endpoint, as a device code'],
  'application token for /mcp': ['/mcp'],
  'application token for the agent API': ['agent API'],
  'application token for the public API': ['public API'],
  'session token of the agent API': ['agent API'],
  'token of the testing client': [],
  'console session': ['console', 'approval page'],
  'session of the authorization server': ['sign-in page of assistants'],
  'key of an upload': ['upload'],
  'address of an approval': [],
} satisfies Readonly<Record<string, readonly Door[]>>;
type Class = keyof typeof opens;
const classes = Object.keys(opens) as readonly Class[];

let shop: Shop;
let issuer: string;
let clientId: string;
let verifier: string;
let approvalId: string;
const secrets = {} as Record<Class, string>;
let consoleCookie: string;
let serverCookie: string;

beforeAll(async () => {
  const customize = (agent: HeadlessAgent) => {
    // The upload tool needs an action with a file field.
    agent.customizeCollection('orders', (orders) =>
      orders.addAction('Import', {
        scope: 'Global',
        form: [{ label: 'file', type: 'File' }],
        execute: () => undefined,
      }),
    );
  };
  const env = { SERVICE_AGENT_ORIGINS: frontOrigin, ...platformSettings };
  shop = await openShop({ env, app: { authSecret, customize } });
  issuer = issuerOf(shop);
  const api = `${shop.address}/service`;
  const { store, account } = shop;
  const user = (await store.identity.findUserByEmail(account.email))!;
  const registered = await register(issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
  clientId = registered.client.client_id;
  const asking = { redirectUri, resource: shop.mcpUrl, scope: 'mcp:read mcp:write mcp:action' };

  const plain = await connect(registered, account, asking);
  secrets['access token'] = plain.tokens.access_token;
  secrets['refresh token'] = `${plain.tokens.refresh_token}`;
  const keys = await oauth.generateKeyPair('ES256');
  const bound = await connect({ ...registered, DPoP: oauth.DPoP(registered.client, keys) }, account, asking);
  secrets['access token bound to a key'] = bound.tokens.access_token;

  const browser = createBrowser();
  const asked = await authorizationUrl(registered, asking);
  verifier = asked.verifier;
  secrets['authorization code'] = (await signIn(asked.url, account, browser)).searchParams.get('code')!;
  const [key, { value }] = [...browser.cookies].find(([name]) => /^portico_session_\d+ /.test(name))!;
  serverCookie = key.split(' ')[0]!;
  secrets['session of the authorization server'] = value;
  // The signature is sent together with the cookie.
  signature = [...browser.cookies].find(([name]) => name.startsWith(`${serverCookie}.sig `))![1].value;

  const allowed = async () => {
    const device = await ask(issuer);
    const another = createBrowser();
    const page = await another.press(await another.open(device.verification_uri_complete), 'continue');
    await another.press(await another.press(page, 'sign-in', { ...account }), 'allow');
    return device.device_code;
  };
  const terminal = (await poll(issuer, await allowed())).body;
  secrets['access token of the command line'] = `${terminal.access_token}`;
  secrets['refresh token of the command line'] = `${terminal.refresh_token}`;
  secrets['device code'] = await allowed();

  // The server issues no registration tokens. One in the store must not work either.
  secrets['registration token'] = randomBytes(32).toString('base64url');
  await store.oauth.upsert({
    model: 'RegistrationAccessToken',
    id: hashToken(secrets['registration token']),
    payload: { kind: 'RegistrationAccessToken', clientId, exp: Math.floor(Date.now() / 1000) + 600 },
    clientId,
    expiresAt: Date.now() + 600_000,
  });

  const make = async (name: string, scopes: string[]) =>
    (await store.tokens.create({ userId: user.id, name, scopes })).secret;
  secrets['application token for /mcp'] = await make('one', ['mcp:read', 'mcp:write', 'mcp:action']);
  secrets['application token for the agent API'] = await make('three', ['records:read', 'records:write']);
  secrets['application token for the public API'] = await make('two', ['all']);
  secrets['session token of the agent API'] = await sessionToken(api, account);
  // Uses a live session, so only the token type can cause the refusal.
  const { sid } = decodeJwt(secrets['session token of the agent API']);
  secrets['token of the testing client'] = await new SignJWT({ sid })
    .setProtectedHeader({ alg: 'HS256', typ: 'portico-testing+jwt' })
    .setIssuer(api)
    .setAudience(api)
    .setSubject(`${user.id}`)
    .setIssuedAt()
    .setExpirationTime('10m')
    .sign(Buffer.from(sign('portico session token', authSecret), 'base64url'));

  const person = createBrowser();
  await openAnswer(shop.consoleUrl, account, person);
  const [name, kept] = [...person.cookies].find(([one]) => /^portico-console-\d+ /.test(one))!;
  consoleCookie = name.split(' ')[0]!;
  secrets['console session'] = kept.value;

  const upload = await callTool(shop.mcpUrl, secrets['access token'], 'requestActionFileUpload', {
    filename: 'a.csv',
    mimeType: 'text/csv',
  });
  secrets['key of an upload'] = /uploads\/([\w-]{43})/.exec(JSON.stringify(upload))![1]!;
  const approval = await store.approvals.ask({
    userId: user.id,
    renderingId: 1,
    clientId,
    clientName: 'Notebook',
    tool: 'update',
    collection: 'customers',
    recordIds: ['1'],
    policy: { policy: 'ask-person', secondPerson: false },
    args: '{}',
    found: 'as it is',
    content: {
      arguments: { collectionName: 'customers', recordId: '1', attributes: {} },
      preview: { count: 1, changes: [] },
    },
  });
  if (approval === 'full') throw new Error('there is no room');
  approvalId = approval.id;
  secrets['address of an approval'] = approval.id;
});
afterAll(() => shop?.stop());
let signature: string;

/** How a credential is sent. `given` is for endpoints that take it in a form or in their own URL. */
type Carriage = 'bearer' | 'DPoP' | 'address' | 'cookie' | 'given';

interface Shown {
  readonly status: number;
  readonly isOpen: boolean;
  readonly told: string;
  readonly challenge: string | null;
}

const post = (path: string, form: Record<string, string>, init: RequestInit = {}) =>
  fetch(`${issuer}/oauth/${path}`, { method: 'POST', body: new URLSearchParams(form), ...init });

/** Every cookie that the server knows, each with the secret as its value. */
const cookiesOf = (secret: string): string =>
  [consoleCookie, serverCookie, 'service_session_token', 'access_token']
    .map((name) => `${name}=${secret}`)
    .concat(`${serverCookie}.sig=${signature}`)
    .join('; ');

const carried = (url: string, secret: string, by: Carriage): [string, Record<string, string>] => {
  if (by === 'bearer' || by === 'DPoP') return [url, { authorization: `${by === 'DPoP' ? by : 'Bearer'} ${secret}` }];
  if (by === 'cookie') return [url, { cookie: cookiesOf(secret) }];
  return [`${url}${url.includes('?') ? '&' : '?'}access_token=${secret}`, {}];
};

async function show(door: Door, secret: string, by: Carriage): Promise<Shown> {
  const judge = async (response: Response, isOpen: (text: string) => boolean): Promise<Shown> => {
    const text = await response.text();
    const told = `${text} ${JSON.stringify([...response.headers])}`;
    return { status: response.status, isOpen: isOpen(text), told, challenge: response.headers.get('www-authenticate') };
  };
  const get = async (path: string, isOpen: (response: Response, text: string) => boolean) => {
    const [url, headers] = carried(path, secret, by);
    const response = await fetch(url, { headers, redirect: 'manual' });
    return judge(response, (text) => isOpen(response, text));
  };
  const ok = ({ status }: Response) => status === 200;
  switch (door) {
    case '/mcp': {
      const [url, headers] = carried(shop.mcpUrl, secret, by);
      const request = requestOf('tools/list', {});
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...request.headers, ...headers },
        body: request.body,
      });
      return judge(response, () => ok(response));
    }
    case 'token endpoint, as a refresh token': {
      const response = await post('token', { grant_type: 'refresh_token', refresh_token: secret, client_id: clientId });
      return judge(response, () => ok(response));
    }
    case 'token endpoint, as a code': {
      const form = { grant_type: 'authorization_code', code: secret, client_id: clientId, code_verifier: verifier };
      const response = await post('token', { ...form, redirect_uri: redirectUri });
      return judge(response, () => ok(response));
    }
    case 'token endpoint, as a device code': {
      const { status, body } = await poll(issuer, secret);
      return { status, isOpen: status === 200, told: JSON.stringify(body), challenge: null };
    }
    case 'token endpoint, as a bearer token': {
      const [url, headers] = carried(`${issuer}/oauth/token`, secret, by);
      const body = new URLSearchParams({ grant_type: 'refresh_token', client_id: clientId });
      const response = await fetch(url, { method: 'POST', headers, body });
      return judge(response, () => ok(response));
    }
    case 'introspection': {
      const response = await post('introspect', { token: secret, client_id: clientId });
      return judge(response, (text) => text.includes('"active":true'));
    }
    case 'registration':
      return get(`${issuer}/oauth/register/${clientId}`, ok);
    case 'agent API':
      return get(`${shop.address}/service/orders/count`, ok);
    case 'public API':
      return get(`${shop.address}/v1/token`, ok);
    case 'structure for portico cloud': {
      const url = `${shop.address}/v1/cloud/schema`;
      const proven = { method: 'GET', url, token: secret };
      const [target, headers] = carried(url, secret, by);
      const proof = createProof(proven, envSecret, Date.now());
      const response = await fetch(target, { headers: { ...headers, [proofHeader]: proof } });
      return judge(response, () => ok(response));
    }
    case 'console':
      return get(`${shop.consoleUrl}/approvals`, ok);
    case 'approval page':
      return get(`${shop.consoleUrl}/approvals/${approvalId}`, ok);
    case 'sign-in page of assistants': {
      const form = { response_type: 'code', client_id: clientId, redirect_uri: redirectUri, resource: shop.mcpUrl };
      const query = new URLSearchParams({ ...form, code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' });
      const [url, headers] = carried(`${issuer}/oauth/authorize?${query}`, secret, by);
      const first = await fetch(url, { headers, redirect: 'manual' });
      const interaction = first.headers.getSetCookie().map((line) => line.slice(0, line.indexOf(';')));
      const cookie = [headers.cookie, ...interaction].filter(Boolean).join('; ');
      const next = new URL(first.headers.get('location') ?? issuer, issuer);
      const response = await fetch(next, { headers: { cookie }, redirect: 'manual' });
      return judge(response, (text) => text.includes('value="allow"'));
    }
    case 'upload': {
      const response = await fetch(`${shop.mcpUrl}/uploads/${secret}`, {
        method: 'PUT',
        headers: { 'content-type': 'text/csv' },
        body: 'a,b\n',
      });
      return judge(response, () => response.status === 201);
    }
    case 'download': {
      const response = await fetch(`${shop.mcpUrl}/downloads/${secret}`);
      return judge(response, () => ok(response));
    }
    case 'platform': {
      const [url, headers] = carried(`${shop.address}/platform/v1/identity/listUsers`, secret, by);
      const response = await fetch(url, { method: 'POST', headers, body: '{}' });
      return judge(response, () => ok(response));
    }
  }
}

const ways: Readonly<Record<Door, readonly Carriage[]>> = {
  '/mcp': ['bearer', 'DPoP', 'address', 'cookie'],
  'token endpoint, as a refresh token': ['given'],
  'token endpoint, as a code': ['given'],
  'token endpoint, as a device code': ['given'],
  'token endpoint, as a bearer token': ['bearer', 'address', 'cookie'],
  introspection: ['given'],
  registration: ['bearer', 'address'],
  'agent API': ['bearer', 'DPoP', 'address', 'cookie'],
  'public API': ['bearer', 'DPoP', 'address', 'cookie'],
  'structure for portico cloud': ['bearer', 'DPoP', 'address', 'cookie'],
  console: ['bearer', 'address', 'cookie'],
  'approval page': ['bearer', 'address', 'cookie'],
  'sign-in page of assistants': ['bearer', 'address', 'cookie'],
  upload: ['given'],
  download: ['given'],
  platform: ['bearer', 'DPoP', 'address', 'cookie'],
};

/** The one carriage that a class is accepted in: cookies for sessions, bearer for tokens. */
const wayOf = (kind: Class): Carriage =>
  kind === 'console session' || kind === 'session of the authorization server' ? 'cookie' : 'bearer';

const mayOpen = (kind: Class, door: Door, by: Carriage): boolean =>
  (opens[kind] as readonly Door[]).includes(door) && (by === 'given' || by === wayOf(kind));

/** The challenge of endpoints that read tokens, when they refuse one. */
const challenges: Readonly<Partial<Record<Door, readonly [challenge: RegExp, event: string]>>> = {
  '/mcp': [/^Bearer .*resource_metadata="http/, 'mcp.token-refused'],
  'agent API': [/^Bearer realm="agent", error="invalid_token"$/, 'agent.token-refused'],
  'structure for portico cloud': [/^Bearer realm="cloud", error="invalid_token"$/, 'cloud.token-refused'],
  'public API': [/^Bearer realm="public api", error="invalid_token"$/, 'api.token-refused'],
  platform: [/^Portico-HMAC-SHA256$/, 'platform.not-signed'],
};

const securityEvents = () => shop.observed.filter((one) => one.type === 'security');
const pairs = classes.flatMap((kind) => doors.map((door) => [kind, door] as const));

describe('an endpoint of another class refuses the credential', () => {
  test.each(pairs)('%s at: %s', async (kind, door) => {
    for (const by of ways[door]) {
      // The credential's own endpoint comes last, since it may use up the credential.
      if (mayOpen(kind, door, by)) continue;
      const before = securityEvents().length;
      const { isOpen, status, told, challenge } = await show(door, secrets[kind], by);
      const events = securityEvents().slice(before);
      const leaked = Object.values(secrets).filter(
        // The redirect to the sign-in contains the requested URL.
        (one) => one !== approvalId && (told.includes(one) || JSON.stringify(events).includes(one)),
      );
      expect([by, isOpen, leaked]).toEqual([by, false, []]);
      const asked = challenges[door];
      if (!asked) continue;
      expect([by, status]).toEqual([by, 401]);
      if (by !== 'bearer' && by !== 'DPoP') continue;
      expect(challenge).toMatch(asked[0]);
      expect(events.map(({ event }) => event)).toContain(asked[1]);
    }
  });
});

test('revoking a credential of another class revokes nothing', async () => {
  for (const kind of classes) {
    if ((opens[kind] as readonly Door[]).includes('introspection')) continue;
    // RFC 7009 section 2.2: an unknown token is not an error. A JWT is not a token of this server.
    const { status } = await post('revoke', { token: secrets[kind], client_id: clientId });
    expect([kind, [200, 400].includes(status)]).toEqual([kind, true]);
  }
});

describe('an endpoint of its own class still accepts the credential afterwards', () => {
  test.each(pairs.filter(([kind, door]) => (opens[kind] as readonly Door[]).includes(door)))(
    '%s at: %s',
    async (kind, door) => {
      const by = ways[door].includes('given') ? 'given' : wayOf(kind);
      expect((await show(door, secrets[kind], by)).isOpen).toBe(true);
    },
  );
});
