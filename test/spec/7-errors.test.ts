import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express from 'express';
import { expect, onTestFinished, test } from 'vitest';
import { type CollectionCustomizer, createAiProvider } from '../../src/index.ts';
import { emptyAgent, makeFolder, messageOf, shopAgent } from '../app/agent.ts';
import { hosted } from '../app/mounts.ts';

const close = { scope: 'Global', execute: () => undefined } as const;
const two = (orders: CollectionCustomizer) => orders.addAction('Close it', close).addAction('close  IT', close);

test('useUnsafeActionEndpoint enabled and two actions of one collection share a slug | the agent refuses to start, naming both', async () => {
  const { agent } = shopAgent({ useUnsafeActionEndpoint: true });
  agent.customizeCollection('orders', two);
  const message = await messageOf(() => agent.start());
  expect(message).toMatch(/'close {2}IT' of 'orders' .*its URL name 'close-it' is also that of 'Close it', added at/);
  expect(message.match(/7-errors\.test\.ts:\d+/g)).toHaveLength(2);
});

test.each([
  ['Close it', 'close-it', true],
  ['Close it', 'Close  it!', false],
  ['Close it', 'CLOSE\tIT', true],
  ['a.b', 'a_b', true],
  ['a--b', 'a-b', false],
  ['a', 'a!', false],
  ['a!', 'a?', true],
  ['é', 'ü', true],
  ['é', 'e', false],
  ['1', '2', false],
  ['a1', 'A1', true],
  ['!a', 'a', false],
])('useUnsafeActionEndpoint: the actions %j and %j share a slug: %s', async (one, other, isShared) => {
  const start = (useUnsafeActionEndpoint: boolean) => {
    const { agent } = shopAgent({ useUnsafeActionEndpoint });
    agent.customizeCollection('orders', (orders) => orders.addAction(one, close).addAction('between', close).addAction(other, close));
    return messageOf(() => agent.start());
  };
  expect([await start(true), await start(false)]).toEqual([isShared ? expect.stringContaining(`is also that of '${one}', added at`) : 'it worked', 'it worked']);
}); // biome-ignore format: short

test('useUnsafeActionEndpoint not enabled: the position distinguishes the actions', async () => {
  const { agent } = shopAgent();
  agent.customizeCollection('orders', two);
  expect(await messageOf(() => agent.start())).toBe('it worked');
});

test('useUnsafeActionEndpoint: two collections may have actions of one slug', async () => {
  const { agent } = shopAgent({ useUnsafeActionEndpoint: true });
  for (const name of ['orders', 'customers'])
    agent.customizeCollection(name, (collection) => collection.addAction('Close', close));
  expect(await messageOf(() => agent.start())).toBe('it worked');
});

test('basePath set while the agent URL includes a path | throws at startup', async () => {
  const begin = async (basePath: string, publicUrl: string) => {
    const { agent, folder } = shopAgent({});
    const other = shopAgent({ settings: { dataDir: folder, publicUrl } });
    other.agent.mountAiMcpServer({ basePath }).mountOnStandaloneServer(0);
    await agent.stop();
    return messageOf(() => other.agent.start());
  };
  expect([
    await begin('/ai', 'https://data.example.com/tools'),
    await begin('', 'https://data.example.com/tools'),
    await begin('/ai', 'https://data.example.com'),
    await begin('/ai', 'https://data.example.com/'),
    await begin('/ai', 'https://data.example.com/tools/'),
    await begin('/tools', 'https://data.example.com/tools'),
    await begin('/a/b', 'https://data.example.com/a'),
    await begin('/ai', 'https://data.example.com:8443//'),
    await begin('/', 'https://data.example.com/tools'),
  ]).toEqual([
    'basePath needs the agent at the root of its domain, but SERVICE_PUBLIC_URL has a path.',
    'it worked',
    'it worked',
    'it worked',
    'basePath needs the agent at the root of its domain, but SERVICE_PUBLIC_URL has a path.',
    'basePath needs the agent at the root of its domain, but SERVICE_PUBLIC_URL has a path.',
    'basePath needs the agent at the root of its domain, but SERVICE_PUBLIC_URL has a path.',
    'it worked',
    'it worked',
  ]);
});

const ai = createAiProvider({ name: 'house', provider: 'openai', apiKey: 'sk-of-nobody', model: 'model-1' });

test('addAi called a second time | throws an error, with the lines of both calls', async () => {
  const { agent } = shopAgent();
  expect(agent.addAi(ai)).toBe(agent);
  const message = await messageOf(() => agent.addAi(ai));
  expect(message).toMatch(/^addAi was already called, at .*: an agent can have only one AI provider\. \(.*\)$/);
  const [first, second] = [...message.matchAll(/7-errors\.test\.ts:(\d+)/g)].map(([, line]) => Number(line));
  expect(second! - first!).toBe(1);
  // The first provider stays, and the agent starts.
  expect(await messageOf(() => agent.start())).toBe('it worked');
});

test('addAi, called by a plugin, names both lines too', async () => {
  const { agent } = emptyAgent();
  agent.addAi(ai);
  const message = await messageOf(() => agent.use({ customizeAgent: (inner) => void inner.addAi(ai) }));
  expect(message).toMatch(/^addAi was already called, at .*:\d+: .*7-errors\.test\.ts:\d+, by a plugin at .*:\d+/);
});

test('addAi after the start is refused, like every late call', async () => {
  const { agent } = shopAgent();
  await agent.start();
  expect(await messageOf(() => agent.addAi(ai))).toMatch(
    /^The agent has already started and accepts no more customizations\. \(.*7-errors\.test\.ts:\d+\)$/,
  );
});

test.each([
  ['nothing', undefined],
  ['the options', { name: 'house', provider: 'openai', apiKey: 'sk-of-nobody', model: 'model-1' }],
  ['a copy of a provider', { ...ai }],
])('addAi accepts the result of createAiProvider, and not %s', async (_, given) => {
  const { agent } = shopAgent();
  const message = await messageOf(() => agent.addAi(given as never));
  expect(message).toMatch(
    /^addAi needs a provider: addAi\(createAiProvider\(\{ name, provider, apiKey, model \}\)\)\. \(.*7-errors\.test\.ts:\d+\)$/,
  );
  expect(message).not.toContain('sk-of-nobody');
  expect(await messageOf(() => agent.addAi(ai))).toBe('it worked');
});

test('namespaces | a request in the MCP namespaces that the MCP server does not serve | answered 404 or 405 and does not reach the host application', async () => {
  const reached: string[] = [];
  const app = express();
  app.use((req, res) => {
    reached.push(req.path);
    res.send('of the host');
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { agent } = shopAgent({ settings: { dataDir: join(makeFolder(), 'data'), publicUrl: origin } });
  agent.mountAiMcpServer().mountOnExpress(app);
  await agent.start();
  const ask = async (method: string, path: string) => {
    const response = await fetch(origin + path, { method });
    return [method, path, response.status, response.headers.get('content-type')?.split(';')[0]];
  };
  expect([
    await ask('GET', '/oauth/callback'),
    await ask('POST', '/oauth/callback'),
    await ask('GET', '/oauth/token'),
    await ask('GET', '/.well-known/security.txt'),
    await ask('POST', '/.well-known/oauth-authorization-server'),
    await ask('GET', '/mcp'),
    await ask('DELETE', '/mcp'),
    await ask('GET', '/mcp/other'),
    await ask('GET', '/mcp-dashboard'),
  ]).toEqual([
    ['GET', '/oauth/callback', 404, 'application/json'],
    ['POST', '/oauth/callback', 404, 'application/json'],
    ['GET', '/oauth/token', 405, 'application/json'],
    ['GET', '/.well-known/security.txt', 404, 'application/json'],
    ['POST', '/.well-known/oauth-authorization-server', 405, 'application/json'],
    ['GET', '/mcp', 405, 'application/json'],
    ['DELETE', '/mcp', 405, 'application/json'],
    ['GET', '/mcp/other', 404, 'application/json'],
    ['GET', '/mcp-dashboard', 200, 'text/html'],
  ]);
  expect(reached).toEqual(['/mcp-dashboard']);
});

test('namespaces | with a basePath those below it belong to Portico, and those of the root to the host', async () => {
  const { origin, prefix, reached } = await hosted('/data');
  const ask = async (method: string, path: string) => (await fetch(origin + path, { method })).status;
  expect([
    await ask('GET', `${prefix}/oauth/callback`),
    await ask('PUT', `${prefix}/oauth/token`),
    await ask('GET', `${prefix}/mcp`),
    await ask('GET', `${prefix}/mcp/other`),
    await ask('POST', `/.well-known/oauth-authorization-server${prefix}`),
    await ask('POST', `/.well-known/oauth-protected-resource${prefix}/mcp`),
  ]).toEqual([404, 405, 405, 404, 405, 405]);
  expect(reached).toEqual([]);
  expect([await ask('POST', '/oauth/callback'), await ask('GET', '/oauth/token')]).toEqual([200, 200]);
  expect(reached).toEqual(['POST /oauth/callback', 'GET /oauth/token']);
});
