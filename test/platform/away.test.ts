// A platform that becomes unavailable and comes back while an agent runs,
// and one that is unavailable or misconfigured when an agent starts.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { emptyAgent, messageOf, shopAgent } from '../app/agent.ts';
import { callTool } from '../app/call.ts';
import { signedIn } from '../app/shop.ts';
import { servers, type TestDatabase } from '../databases.ts';
import type { TestServer } from '../server.ts';
import { askSql } from '../sql/schemas.ts';
import { createNotes, openPlatformProxy, startAgent, startPlatform } from './platform-servers.ts';

let notes: TestDatabase;
let storage: TestDatabase;
beforeAll(async () => {
  [notes, storage] = [await createNotes(), await servers[0]!.create()];
});
afterAll(async () => {
  await notes?.drop();
  await storage?.drop();
});

const start = (port = '0', account?: TestServer['account']) =>
  startPlatform(
    notes.url,
    { SERVICE_STORAGE_URL: storage.url, MCP_SERVER_PORT: port, SERVICE_SECRET: 's'.repeat(40) },
    account,
  );

test('while the platform is unreachable, calls return 503 and nothing is written; afterwards the agent recovers', async () => {
  let platform = await start();
  const { port } = new URL(platform.address);
  const agent = await startAgent(notes.url, platform);
  onTestFinished(async () => {
    await agent.stop();
    await platform.stop();
  });
  const { token } = await signedIn(agent);
  const list = () => callTool(agent.mcpUrl, token, 'list', { collectionName: 'notes', fields: ['id'] });
  const write = (text: string) =>
    callTool(agent.mcpUrl, token, 'update', { collectionName: 'notes', recordId: 1, attributes: { text } });
  const textOf = async () => (await askSql(notes, 'select text from notes where id = 1'))[0]?.text;
  const ready = async () => (await fetch(`${agent.address}/readyz`)).status;
  const before = [await list(), await ready()];
  await platform.stop();
  const response = await fetch(agent.mcpUrl, {
    method: 'POST',
    body: '{}',
    headers: { authorization: `Bearer ${token}` },
  });
  const away = [await list(), await write('while it was away'), await textOf(), await ready(), response.status];
  const said = await response.text();
  platform = await start(port, platform.account);
  const back = [await list(), await write('when it was back'), await textOf(), await ready()];
  const told = agent.observed.flatMap((one) => (one.type === 'warning' ? [one.message] : []));
  const warnings = told.filter((message) => message.startsWith('The platform'));
  expect([before, away, said, back, warnings]).toMatchObject([
    [{ json: { rows: [[1], [2]] } }, 200],
    [{ status: 503 }, { status: 503 }, 'first', 503, 503],
    expect.stringContaining('The server that keeps users, permissions and the log cannot be reached at the moment'),
    [{ json: { rows: [[1], [2]] } }, { json: {} }, 'when it was back', 200],
    [
      `The platform at ${platform.address}/platform cannot be reached; calls are rejected until it answers.`,
      `The platform at ${platform.address}/platform answers again.`,
    ],
  ]);
});

test('a write does not run if its log mark cannot be stored', async () => {
  const platform = await startPlatform(notes.url);
  const agent = await startAgent(notes.url, platform);
  onTestFinished(() => agent.stop());
  const versions = await agent.store.versions();
  await platform.stop();
  const mark = { userId: 1, renderingId: 1, clientId: 'c', clientName: 'C', action: 'update', startedAt: 1 } as const;
  expect([
    versions.permissions > 0,
    await messageOf(() => agent.store.activity.begin({ ...mark, type: 'write' })),
  ]).toEqual([
    true,
    'The server that keeps users, permissions and the log cannot be reached at the moment. Try again shortly. If the problem persists, tell the operator.',
  ]);
});

test.each([
  [404, /^serverUrl: there is no platform at http:.*\/platform\. Set SERVICE_PLATFORM_DOOR=true there, or correct/],
  [403, /^serverUrl: .* rejects the address of this machine \(status 403\)/],
  [503, /is not ready \(status 503\)/],
  [200, /answers with status 200, so it is not a platform/],
])('a server that answers %i is not a platform, and the start says why', async (status, message) => {
  const server = createServer((req, res) => {
    req.resume();
    res.writeHead(status).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { agent } = shopAgent({ serverUrl: url });
  agent.mountAiMcpServer().mountOnStandaloneServer(0);
  expect(await messageOf(() => agent.start())).toMatch(message);
});

test('a Portico server without SERVICE_PLATFORM_DOOR is not a platform', async () => {
  const closed = await startPlatform(notes.url, { SERVICE_PLATFORM_DOOR: 'false' });
  onTestFinished(() => closed.stop());
  expect(await messageOf(() => startAgent(notes.url, closed))).toMatch(/^serverUrl: there is no platform at/);
});

test.each<[string, Record<string, string>, RegExp]>([
  ['an invalid URL', { SERVICE_SERVER_URL: 'platform' }, /expected an address such as https:/],
  [
    'http to another host',
    { SERVICE_SERVER_URL: 'http://platform.example.com' },
    /expected https; http is allowed only on this machine/,
  ],
  [
    'a password in the URL',
    { SERVICE_SERVER_URL: 'https://a:b@platform.example.com' },
    /credentials, query and fragment/,
  ],
  [
    'a storage as well',
    { SERVICE_SERVER_URL: 'https://platform.example.com', SERVICE_STORAGE_URL: 'sqlite::memory:' },
    /SERVICE_STORAGE_URL is also set/,
  ],
  [
    'a platform endpoint as well',
    { SERVICE_SERVER_URL: 'https://platform.example.com', SERVICE_PLATFORM_DOOR: 'true' },
    /SERVICE_PLATFORM_DOOR is also set/,
  ],
])('%s is refused before anything starts', async (_what, env, message) => {
  expect(await messageOf(() => loadConfig({ env }))).toMatch(message);
});

test.each([
  ['without a secret', ''],
  ['with a secret that can be guessed', 'too-short'],
])('the platform endpoint does not open %s', async (_what, secret) => {
  expect(await messageOf(() => startPlatform(notes.url, { SERVICE_ENV_SECRET: secret }))).toMatch(
    /^SERVICE_PLATFORM_DOOR: agents authenticate with the envSecret\. Set SERVICE_ENV_SECRET to 32 or more random characters/,
  );
});

test('an agent started by the command needs the secret too', async () => {
  const platform = await startPlatform(notes.url);
  onTestFinished(() => platform.stop());
  expect(await messageOf(() => startAgent(notes.url, platform, { SERVICE_ENV_SECRET: '' }))).toBe(
    'SERVICE_SERVER_URL: SERVICE_ENV_SECRET is missing. Set it to the same value as on the platform.',
  );
});

test('serverUrl of createAgent is validated, and is not a setting', async () => {
  const wrong = await messageOf(() => emptyAgent({ serverUrl: 'platform' }));
  const setting = await messageOf(() => emptyAgent({ settings: { serverUrl: 'https://x.example' } as never }));
  expect([wrong, setting]).toEqual([
    expect.stringMatching(/^createAgent: 'serverUrl' must be an address such as 'https:\/\/platform\.example\.com'/),
    expect.stringMatching(/^settings: 'serverUrl' is an option of createAgent itself/),
  ]);
});

test('a platform that accepts requests without answering counts as unreachable after ten seconds', async () => {
  const platform = await startPlatform(notes.url);
  onTestFinished(() => platform.stop());
  const proxy = await openPlatformProxy(platform.address);
  onTestFinished(() => proxy.close());
  const agent = await startAgent(notes.url, { ...platform, address: proxy.address });
  onTestFinished(() => agent.stop());
  const answered = await agent.store.versions();
  proxy.change.hold = true;
  const from = systemClock.monotonic();
  const message = await messageOf(async () => agent.store.versions());
  const seconds = (systemClock.monotonic() - from) / 1000;
  proxy.change.hold = false;
  expect([message, seconds > 9, await agent.store.versions()]).toEqual([
    expect.stringContaining('cannot be reached at the moment'),
    true,
    answered,
  ]);
}, 40_000);
