// Registrations and metadata documents recorded from real assistants, driven by oauth4webapi with only the issuer. Each
// goes from discovery to a list of real records in its own protocol version. Then known problems of each client.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashToken } from '../../src/core/secret.ts';
import { callTool, type Era } from '../app/call.ts';
import { issuerOf, openShop, type Shop } from '../app/shop.ts';
import { authorizationUrl, byDocument, connect, type Registered, register } from '../oauth/client.ts';
import { createBrowser, signIn } from '../oauth/flow.ts';

let shop: Shop;
let rows: unknown;
beforeAll(async () => {
  shop = await openShop();
  rows = (await shop.ask('SELECT number FROM orders ORDER BY id LIMIT 2')).map(({ number }) => [number]);
});
afterAll(() => shop.stop());

const grants = ['authorization_code', 'refresh_token'];
const deviceCode = 'urn:ietf:params:oauth:grant-type:device_code';
const open = { token_endpoint_auth_method: 'none', grant_types: grants, response_types: ['code'] };

/** A recorded client: its registration, authorization request and protocol version. */
interface Shape {
  readonly name: string;
  readonly metadata: Record<string, unknown>;
  readonly redirectUri: string;
  /** The requested scope; undefined for clients that send none, as some do when they connect again. */
  readonly scope?: string;
  readonly prompt?: string;
  /** The granted scope, if it differs from the requested one. */
  readonly gives?: string;
  readonly era: Era;
}

async function listAs(registered: Registered, { redirectUri, scope, prompt, era }: Shape) {
  const session = await connect(registered, shop.account, {
    redirectUri,
    resource: shop.mcpUrl,
    ...(scope !== undefined && { scope }),
    ...(prompt !== undefined && { prompt }),
  });
  const question = { collectionName: 'orders', fields: ['number'], pagination: { size: 2 } };
  const answer = await callTool(shop.mcpUrl, session.tokens.access_token, 'list', question, { era });
  return {
    sentTo: session.callback.href.split('?')[0],
    issuer: session.callback.searchParams.get('iss'),
    scope: `${session.tokens.scope}`.split(' ').sort(),
    refresh: typeof session.tokens.refresh_token,
    rows: 'json' in answer ? (answer.json as { rows: unknown }).rows : answer,
  };
}
const completed = ({ redirectUri, scope, gives = scope }: Shape) => ({
  sentTo: redirectUri,
  issuer: issuerOf(shop),
  // offline_access requests a refresh token; it is not a scope of the resource.
  scope: (gives ?? 'mcp:read mcp:write')
    .split(' ')
    // The shop has no actions, so the consent page does not offer this scope.
    .filter((one) => one !== 'offline_access' && one !== 'mcp:action')
    .sort(),
  refresh: 'string',
  rows,
});

const registering: readonly Shape[] = [
  {
    name: 'Claude',
    metadata: {
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      token_endpoint_auth_method: 'client_secret_post',
      grant_types: grants,
      response_types: ['code'],
      scope: 'mcp:read offline_access',
    },
    redirectUri: 'https://claude.ai/api/mcp/auth_callback',
    scope: 'mcp:read offline_access',
    prompt: 'consent',
    era: 'legacy',
  },
  {
    name: 'Claude Code',
    metadata: { ...open, redirect_uris: ['http://localhost:3118/callback'], application_type: 'native' },
    redirectUri: 'http://localhost:53682/callback',
    scope: 'mcp:read',
    era: 'legacy',
  },
  {
    name: 'ChatGPT',
    metadata: {
      ...open,
      redirect_uris: ['https://chatgpt.com/connector/oauth/Xa3'],
      token_endpoint_auth_method: 'client_secret_basic',
    },
    redirectUri: 'https://chatgpt.com/connector/oauth/Xa3',
    era: 'legacy',
  },
  {
    name: 'Visual Studio Code',
    metadata: {
      ...open,
      client_uri: 'https://code.visualstudio.com',
      grant_types: [...grants, deviceCode],
      redirect_uris: ['https://vscode.dev/redirect', 'http://127.0.0.1/', 'http://127.0.0.1:33418/'],
      application_type: 'native',
    },
    redirectUri: 'http://127.0.0.1:33418/',
    scope: 'mcp:read mcp:write mcp:action offline_access',
    era: 'modern',
  },
  {
    name: 'Cursor',
    metadata: {
      ...open,
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ],
    },
    redirectUri: 'cursor://anysphere.cursor-mcp/oauth/callback',
    scope: 'mcp:read',
    era: 'legacy',
  },
  {
    name: 'Claude at its other address, with a scope that begins with a space',
    metadata: { ...open, redirect_uris: ['https://claude.com/api/mcp/auth_callback'] },
    redirectUri: 'https://claude.com/api/mcp/auth_callback',
    scope: ' offline_access',
    gives: 'mcp:read mcp:write',
    prompt: 'consent',
    era: 'legacy',
  },
  {
    name: 'Codex, on a random port, without a scope',
    metadata: { ...open, redirect_uris: ['http://127.0.0.1:50211/callback'] },
    redirectUri: 'http://127.0.0.1:61874/callback',
    era: 'legacy',
  },
  {
    name: 'OpenCode, without application_type or an authentication method',
    metadata: { redirect_uris: ['http://127.0.0.1:19876/mcp/oauth/callback'], grant_types: grants },
    redirectUri: 'http://127.0.0.1:19876/mcp/oauth/callback',
    era: 'legacy',
  },
  {
    name: 'MCP Inspector, for all scopes',
    metadata: { ...open, redirect_uris: ['http://127.0.0.1:6276/oauth/callback'] },
    redirectUri: 'http://127.0.0.1:6276/oauth/callback',
    scope: 'mcp:read mcp:write mcp:action offline_access',
    era: 'modern',
  },
  {
    name: 'mcp-remote, on a port derived from the address',
    metadata: { ...open, redirect_uris: ['http://localhost:14207/oauth/callback'] },
    redirectUri: 'http://localhost:14207/oauth/callback',
    scope: 'mcp:read mcp:write',
    era: 'legacy',
  },
];

test.each(registering)('by registration, $name signs in and lists', async (shape) => {
  const registered = await register(issuerOf(shop), { client_name: shape.name, ...shape.metadata });
  expect(await listAs(registered, shape)).toEqual(completed(shape));
});

const publishing: readonly (Shape & { readonly clientId: string })[] = [
  {
    name: 'Claude',
    clientId: 'https://claude.ai/oauth/mcp-client-metadata',
    metadata: { ...open, redirect_uris: ['https://claude.ai/api/mcp/auth_callback'] },
    redirectUri: 'https://claude.ai/api/mcp/auth_callback',
    scope: 'mcp:read offline_access',
    prompt: 'consent',
    era: 'legacy',
  },
  {
    name: 'Claude Code, redirects without a port',
    clientId: 'https://claude.ai/oauth/claude-code-client-metadata',
    metadata: { ...open, redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'] },
    redirectUri: 'http://localhost:3118/callback',
    scope: 'mcp:read',
    era: 'modern',
  },
  {
    name: 'ChatGPT',
    clientId: 'https://chatgpt.com/oauth/client.json',
    metadata: {
      redirect_uris: ['https://chatgpt.com/connector/oauth/Xa3'],
      token_endpoint_auth_methods_supported: ['none', 'tls_client_auth'],
      grant_types: [...grants, 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
      response_types: ['code', 'id_token'],
    },
    redirectUri: 'https://chatgpt.com/connector/oauth/Xa3',
    era: 'legacy',
  },
  {
    name: 'Visual Studio Code',
    clientId: 'https://vscode.dev/oauth/client-metadata.json',
    metadata: {
      ...open,
      grant_types: [...grants, deviceCode],
      redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
    },
    redirectUri: 'https://vscode.dev/redirect',
    scope: 'mcp:read mcp:write mcp:action offline_access',
    era: 'modern',
  },
  {
    name: 'OpenCode',
    clientId: 'https://opencode.ai/oauth/client.json',
    metadata: { redirect_uris: ['http://127.0.0.1:19876/mcp/oauth/callback'] },
    redirectUri: 'http://127.0.0.1:19876/mcp/oauth/callback',
    era: 'modern',
  },
  {
    name: 'MCP Inspector',
    clientId: 'https://inspector.example/oauth/client.json',
    metadata: { ...open, redirect_uris: ['http://127.0.0.1:6276/oauth/callback'] },
    redirectUri: 'http://127.0.0.1:6276/oauth/callback',
    scope: 'mcp:read mcp:write mcp:action offline_access',
    era: 'modern',
  },
];

test.each(publishing)('by its metadata document, $name signs in and lists', async (shape) => {
  const { clientId, name, metadata } = shape;
  shop.documents.set(new URL(clientId).pathname, { client_id: clientId, client_name: name, ...metadata });
  const registered = await byDocument(issuerOf(shop), clientId);
  expect(await listAs(registered, shape)).toEqual(completed(shape));
});

const claude = {
  client_name: 'Claude',
  redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
  token_endpoint_auth_method: 'client_secret_post',
  grant_types: grants,
};
const back = 'https://claude.ai/api/mcp/auth_callback';

test('Claude: the metadata advertises registration and client metadata documents, also for public clients', async () => {
  const { server } = await register(issuerOf(shop), claude);
  const { client_id_metadata_document_supported, token_endpoint_auth_methods_supported: methods } = server;
  expect([
    client_id_metadata_document_supported,
    methods?.includes('none'),
    typeof server.registration_endpoint,
  ]).toEqual([true, true, 'string']);
});

test('Claude: the metadata URL in the challenge is absolute', async () => {
  const response = await fetch(shop.mcpUrl, { method: 'POST' });
  const [, address = ''] = /resource_metadata="([^"]*)"/.exec(`${response.headers.get('www-authenticate')}`) ?? [];
  expect([URL.canParse(address), ((await (await fetch(address)).json()) as { resource: string }).resource]).toEqual([
    true,
    shop.mcpUrl,
  ]);
});

test('Claude: the redirect back is a 303, after which no browser repeats a form', async () => {
  const registered = await register(issuerOf(shop), claude);
  const browser = createBrowser();
  const { url } = await authorizationUrl(registered, { redirectUri: back });
  const consent = await browser.press(await browser.open(url), 'sign-in', { ...shop.account });
  const { status, leftTo } = await browser.press(consent, 'allow');
  expect([status, leftTo?.href.split('?')[0]]).toEqual([303, back]);
});

test('Claude: a deleted client gets 401 invalid_client, and works after it registers again', async () => {
  const session = await connect(await register(issuerOf(shop), claude), shop.account, { redirectUri: back });
  const { client, server, tokens } = session;
  await shop.store.oauth.destroy('Client', client.client_id);
  const body = new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: `${tokens.refresh_token}`,
    client_id: client.client_id,
    client_secret: `${client.client_secret}`,
  });
  const answer = await fetch(`${server.token_endpoint}`, { method: 'POST', body });
  const { error } = (await answer.json()) as { error: string };
  const again = await connect(await register(issuerOf(shop), claude), shop.account, { redirectUri: back });
  expect([answer.status, error, typeof again.tokens.access_token]).toEqual([401, 'invalid_client', 'string']);
});

test('Claude Code: asks for exactly the scope of the challenge, and gets the part that opens anything', async () => {
  const response = await fetch(shop.mcpUrl, { method: 'POST' });
  const [, scope = ''] = / scope="([^"]*)"/.exec(`${response.headers.get('www-authenticate')}`) ?? [];
  const redirectUri = 'http://localhost:3118/callback';
  const registered = await register(issuerOf(shop), {
    ...open,
    client_name: 'Claude Code',
    redirect_uris: [redirectUri],
  });
  const { tokens } = await connect(registered, shop.account, { redirectUri, scope, resource: shop.mcpUrl });
  expect([scope, tokens.scope]).toEqual(['mcp:read mcp:write mcp:action', 'mcp:read mcp:write']);
});

test('ChatGPT: the resource of the metadata is accepted verbatim; a second sign-in needs no scope', async () => {
  const metadata = await fetch(`${new URL(shop.mcpUrl).origin}/.well-known/oauth-protected-resource/mcp`);
  const { resource } = (await metadata.json()) as { resource: string };
  const redirectUri = 'https://chatgpt.com/connector/oauth/Xa3';
  const registered = await register(issuerOf(shop), { ...open, client_name: 'ChatGPT', redirect_uris: [redirectUri] });
  const browser = createBrowser();
  const first = await connect(registered, shop.account, { redirectUri, resource, scope: 'mcp:read', browser });
  const again = await connect(registered, shop.account, { redirectUri, resource, browser });
  const row = await shop.store.oauth.find('AccessToken', hashToken(again.tokens.access_token));
  expect([first.tokens.scope, again.tokens.scope?.split(' ').sort(), row?.payload.aud]).toEqual([
    'mcp:read',
    ['mcp:read', 'mcp:write'],
    shop.mcpUrl,
  ]);
});

test('Visual Studio Code: can request every scope of the metadata; its extra grant type is dropped', async () => {
  const metadata = {
    client_name: 'Visual Studio Code',
    ...open,
    grant_types: [...grants, deviceCode],
    redirect_uris: ['http://127.0.0.1/', 'http://127.0.0.1:33418/'],
  };
  const registered = await register(issuerOf(shop), metadata);
  const scope = `${registered.server.scopes_supported?.join(' ')}`;
  const { tokens } = await connect(registered, shop.account, { redirectUri: 'http://127.0.0.1:40123/', scope });
  expect([registered.client.grant_types, tokens.scope?.split(' ').sort()]).toEqual([
    grants,
    // The shop has no actions to allow.
    ['mcp:read', 'mcp:write'],
  ]);
});

test.each([
  'cursor://anysphere.cursor-mcp/oauth/callback',
  'https://www.cursor.com/agents/mcp/oauth/callback',
  'http://localhost:8787/callback',
])('Cursor: of the three redirect URIs of one registration, %s works', async (redirectUri) => {
  const redirect_uris = registering.find(({ name }) => name === 'Cursor')?.metadata.redirect_uris;
  const registered = await register(issuerOf(shop), { ...open, client_name: 'Cursor', redirect_uris });
  const session = await connect(registered, shop.account, { redirectUri });
  expect([session.callback.href.split('?')[0], typeof session.tokens.access_token]).toEqual([redirectUri, 'string']);
});

test('Cursor: one invalid redirect URI rejects the whole registration, and the error says why', async () => {
  const redirect_uris = ['http://localhost:8787/callback', 'http://cursor.example/callback'];
  const refused = await register(issuerOf(shop), { ...open, redirect_uris }).catch(
    (error: Record<string, unknown>) => error,
  );
  expect(refused).toMatchObject({
    error: 'invalid_redirect_uri',
    error_description: 'redirect_uris must be https, unless they point to localhost',
  });
});

test('MCP Inspector: a typed client id, registered by another program, signs in', async () => {
  const redirectUri = 'http://127.0.0.1:6276/oauth/callback';
  const { client } = await register(issuerOf(shop), { ...open, client_name: 'Typed in', redirect_uris: [redirectUri] });
  const session = await connect(await byDocument(issuerOf(shop), client.client_id), shop.account, { redirectUri });
  expect(typeof session.tokens.access_token).toBe('string');
});

test('mcp-remote: an abandoned step-up revokes nothing, and a new sign-in gets both scopes', async () => {
  const redirectUri = 'http://localhost:14207/oauth/callback';
  const registered = await register(issuerOf(shop), {
    ...open,
    client_name: 'mcp-remote',
    redirect_uris: [redirectUri],
  });
  const browser = createBrowser();
  const { tokens } = await connect(registered, shop.account, { redirectUri, scope: 'mcp:read', browser });
  const change = { collectionName: 'orders', recordIds: ['1'] };
  const refused = await callTool(shop.mcpUrl, tokens.access_token, 'delete', change);
  // The client's listener is closed, so the code never reaches it.
  const { url } = await authorizationUrl(registered, { redirectUri, scope: 'mcp:read mcp:write' });
  await signIn(url, shop.account, browser);
  const question = { collectionName: 'orders', fields: ['number'], pagination: { size: 2 } };
  const before = await callTool(shop.mcpUrl, tokens.access_token, 'list', question);
  const again = await connect(registered, shop.account, { redirectUri, scope: 'mcp:read mcp:write', browser });
  expect([refused, 'json' in before, again.tokens.scope]).toEqual([{ status: 403 }, true, 'mcp:read mcp:write']);
});
