// What real assistants were recorded to register or to publish, driven by oauth4webapi, which is told the issuer and
// nothing else: each completes the way from discovery to a list of real records in the protocol it speaks.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callTool, type Era } from '../app/call.ts';
import { issuerOf, openShop, type Shop } from '../app/shop.ts';
import { byDocument, connect, type Registered, register } from '../oauth/client.ts';

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

/** What is asked at the authorization endpoint and tokens are used for. */
interface Shape {
  readonly name: string;
  readonly metadata: Record<string, unknown>;
  readonly redirectUri: string;
  /** What it asks for; undefined: nothing, as some do when they connect again. */
  readonly scope?: string;
  readonly prompt?: string;
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
const completed = ({ redirectUri, scope }: Shape) => ({
  sentTo: redirectUri,
  issuer: issuerOf(shop),
  // offline_access asks for a refresh token; it is no scope of the resource.
  scope: (scope ?? 'mcp:read mcp:write')
    .split(' ')
    .filter((one) => one !== 'offline_access')
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
];

test.each(publishing)('by its metadata document, $name signs in and lists', async (shape) => {
  const { clientId, name, metadata } = shape;
  shop.documents.set(new URL(clientId).pathname, { client_id: clientId, client_name: name, ...metadata });
  const registered = await byDocument(issuerOf(shop), clientId);
  expect(await listAs(registered, shape)).toEqual(completed(shape));
});
