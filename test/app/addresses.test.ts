// Every URL of the protocol in three deployments: at the root, under a basePath, and with a public URL that has a path.
// A proxy in front may strip that path or pass it on.
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, register } from '../oauth/client.ts';
import { startServer } from '../server.ts';
import { ask, callTool } from './call.ts';
import { issuerOf, openShop, redirectUri, type Shop } from './shop.ts';

const challengeOf = async (url: string) => (await ask(url, undefined, 'ping', {})).headers.get('www-authenticate');
const documentAt = async (url: string) => (await (await fetch(url)).json()) as Record<string, unknown>;
const summary = async (method: string, url: string) => {
  const response = await fetch(url, { method, redirect: 'manual', headers: { accept: '*/*' } });
  const { error } = (await response.json()) as { error: unknown };
  const code = typeof error === 'object' ? (error as { data: { code: string } }).data.code.toLowerCase() : error;
  return [method, new URL(url).pathname, response.status, response.headers.get('allow'), code];
};

async function signInAndList(shop: Shop): Promise<unknown> {
  const registered = await register(issuerOf(shop), { client_name: 'Notebook', redirect_uris: [redirectUri] });
  const { tokens } = await connect(registered, shop.account, { redirectUri, resource: shop.mcpUrl });
  const question = { collectionName: 'categories', fields: ['id'], pagination: { size: 1 } };
  return callTool(shop.mcpUrl, tokens.access_token, 'list', question);
}
const listed = { json: { columns: ['id'], rows: [[1]], hasMore: true, nextCursor: expect.any(String) } };

describe.each([
  ['at the root', ''],
  ['under a basePath', '/data/agent'],
  ['under a basePath that ends like the endpoint', '/mcp'],
])('%s', (_name, prefix) => {
  let shop: Shop;
  let origin: string;
  beforeAll(async () => {
    shop = await openShop({ env: { SERVICE_MCP_BASE_PATH: prefix } });
    ({ origin } = new URL(shop.mcpUrl));
  });
  afterAll(() => shop.stop());

  test('a client that knows the URL of /mcp discovers all others, signs in and lists', async () => {
    const resource = await documentAt(`${origin}/.well-known/oauth-protected-resource${prefix}/mcp`);
    const server = await documentAt(`${origin}/.well-known/oauth-authorization-server${prefix}`);
    expect([
      shop.mcpUrl,
      await challengeOf(shop.mcpUrl),
      [resource.resource, resource.authorization_servers],
      [server.issuer, server.authorization_endpoint, server.token_endpoint, server.registration_endpoint],
      await signInAndList(shop),
    ]).toEqual([
      `${origin}${prefix}/mcp`,
      `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource${prefix}/mcp", scope="mcp:read mcp:write mcp:action"`,
      [`${origin}${prefix}/mcp`, [origin + prefix]],
      [origin + prefix, ...['authorize', 'token', 'register'].map((name) => `${origin}${prefix}/oauth/${name}`)],
      listed,
    ]);
  });

  test('wrong methods get 405 and unknown paths 404, as JSON', async () => {
    const asked = [
      await summary('GET', `${origin}${prefix}/mcp`),
      await summary('DELETE', `${origin}${prefix}/mcp`),
      await summary('PUT', `${origin}${prefix}/mcp`),
      await summary('GET', `${origin}${prefix}/oauth/token`),
      await summary('DELETE', `${origin}${prefix}/oauth/authorize`),
      await summary('POST', `${origin}/.well-known/oauth-authorization-server${prefix}`),
      await summary('GET', `${origin}${prefix}/oauth/userinfo`),
      await summary('GET', `${origin}${prefix}/oauth/`),
      await summary('GET', `${origin}/.well-known/openid-configuration`),
      await summary('GET', `${origin}/nothing`),
    ];
    expect(asked).toEqual([
      ['GET', `${prefix}/mcp`, 405, 'POST', 'method_not_allowed'],
      ['DELETE', `${prefix}/mcp`, 405, 'POST', 'method_not_allowed'],
      ['PUT', `${prefix}/mcp`, 405, 'POST', 'method_not_allowed'],
      ['GET', `${prefix}/oauth/token`, 405, 'POST', 'method_not_allowed'],
      ['DELETE', `${prefix}/oauth/authorize`, 405, 'GET, POST', 'method_not_allowed'],
      ['POST', `/.well-known/oauth-authorization-server${prefix}`, 405, 'GET, HEAD', 'method_not_allowed'],
      ['GET', `${prefix}/oauth/userinfo`, 404, null, 'not_found'],
      ['GET', `${prefix}/oauth/`, 404, null, 'not_found'],
      ['GET', '/.well-known/openid-configuration', 404, null, 'not_found'],
      ['GET', '/nothing', 404, null, 'not_found'],
    ]);
  });

  test('with a basePath, URLs without it get 404', async () => {
    const statuses = [];
    for (const path of ['/oauth/authorize', '/oauth/token', '/.well-known/oauth-protected-resource', '/mcp/oauth'])
      statuses.push((await fetch(origin + path)).status);
    expect(statuses).toEqual(prefix === '' ? [400, 405, 200, 404] : [404, 404, 404, 404]);
  });
});

describe.each([
  ['strips', (path: string) => path.replace(/^\/agents\/shop/, '') || '/'],
  ['keeps', (path: string) => path],
])('behind a proxy that %s the path of the public URL', (_name, rewrite) => {
  let shop: Shop;
  const proxy = createServer((req, res) => {
    const path = rewrite(req.url ?? '/');
    const inner = request({ host: '127.0.0.1', port: new URL(shop.address).port, method: req.method, path });
    for (const [name, value] of Object.entries(req.headers)) if (value !== undefined) inner.setHeader(name, value);
    inner.on('response', (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(res);
    });
    req.pipe(inner);
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    shop = await openShop({ env: { SERVICE_PUBLIC_URL: `http://127.0.0.1:${port}/agents/shop` } });
  });
  afterAll(async () => {
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
    await shop.stop();
  });

  test('metadata is at the root of the origin, every URL has the path, and a client lists', async () => {
    const { origin, pathname } = new URL(shop.mcpUrl);
    const { resource } = await documentAt(`${shop.address}/.well-known/oauth-protected-resource/agents/shop/mcp`);
    const { issuer } = await documentAt(`${shop.address}/.well-known/oauth-authorization-server`);
    // A client that omits the path finds the same document, whether the proxy strips its path or passes it on.
    for (const passedOn of ['', '/agents/shop'])
      for (const end of ['', '/mcp', '/agents/shop/mcp']) {
        const document = await documentAt(`${shop.address}${passedOn}/.well-known/oauth-protected-resource${end}`);
        expect([passedOn, end, document.resource]).toEqual([passedOn, end, shop.mcpUrl]);
      }
    expect(issuer).toBe(`${origin}/agents/shop`);
    expect([pathname, await challengeOf(shop.mcpUrl), resource, await signInAndList(shop)]).toEqual([
      '/agents/shop/mcp',
      `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/agents/shop/mcp", scope="mcp:read mcp:write mcp:action"`,
      shop.mcpUrl,
      listed,
    ]);
  });
});

test('a basePath together with a public URL that has a path is refused at the start', async () => {
  const env = { SERVICE_PUBLIC_URL: 'https://data.example/agents', SERVICE_MCP_BASE_PATH: '/data' };
  await expect(startServer({ database: 'sqlite::memory:', env })).rejects.toMatchObject({
    code: 'CONFIGURATION',
    message: 'basePath needs the agent at the root of its domain, but SERVICE_PUBLIC_URL has a path.',
  });
});
