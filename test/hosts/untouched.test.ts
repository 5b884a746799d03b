// An application with a mounted agent answers as it does without one, and keeps the paths of MCP if MCP is not served.
import { describe, expect, test } from 'vitest';
import { sessionToken, whoAmI } from '../rest/front-end.ts';
import { hosts } from './hosts.ts';
import { account, ask, json, openBare, openMountedAgent } from './mounted-agent.ts';

const hosting = hosts.filter(({ hasRoutes }) => hasRoutes);

const megabytes = 5;
const upload = () =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < megabytes * 16; at++) controller.enqueue(new Uint8Array(65_536));
      controller.close();
    },
  });

/** Requests of the application's users, all outside Portico's paths. */
const visits: readonly (readonly [path: string, init: () => RequestInit])[] = [
  ['/', () => ({})],
  ['/', () => ({ headers: { 'accept-encoding': 'identity' } })],
  ['/', () => ({ method: 'HEAD' })],
  ['/orders', () => json('{"total":12}')],
  ['/orders', () => json('{"total":')],
  ['/orders', () => json('{"total":12}', 'PUT')],
  [
    '/upload',
    () =>
      ({
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream' },
        body: upload(),
        duplex: 'half',
      }) as RequestInit,
  ],
  ['/oauth/callback', () => ({})],
  ['/.well-known/security.txt', () => ({})],
  ['/mcp-dashboard', () => ({})],
  ['/services', () => ({})],
  ['/nothing', () => ({})],
  ['/nothing', () => json('{}')],
];

async function visit(origin: string, path: string, init: RequestInit) {
  const response = await fetch(origin + path, init);
  const headers = Object.fromEntries(response.headers);
  delete headers.date;
  return { path, status: response.status, headers, text: await response.text() };
}

const visitAll = async (origin: string) => {
  const seen = [];
  for (const [path, init] of visits) seen.push(await visit(origin, path, init()));
  return seen;
};

describe.each(hosting)('$name', (row) => {
  test('the routes of the application answer as before, before the start, during it and after the stop', async () => {
    const [{ agent, origin }, bare] = [await openMountedAgent(row), await openBare(row)];
    const expected = await visitAll(bare);
    const ours = async () => [
      await ask(origin, '/data/mcp', json('{}')),
      await ask(origin, '/service'),
      await ask(origin, '/.well-known/oauth-authorization-server/data'),
    ];
    const seen = [await visitAll(origin)];
    const away = [await ours()];
    await agent.start();
    seen.push(await visitAll(origin));
    await agent.stop();
    seen.push(await visitAll(origin));
    away.push(await ours());
    expect(seen).toEqual([expected, expected, expected]);
    expect(away).toEqual(Array(2).fill(Array(3).fill([503, 'not_ready', false])));
    const uploaded = expected.find(({ path }) => path === '/upload')!;
    expect([expected[0]!.headers['x-dns-prefetch-control'], uploaded.status, JSON.parse(uploaded.text)]).toEqual([
      'off',
      200,
      { bytes: megabytes * 2 ** 20 },
    ]);
  });

  test('without mountAiMcpServer the application keeps the paths of MCP, and the HTTP API works', async () => {
    const [{ agent, origin }, bare] = [await openMountedAgent(row, { basePath: null }), await openBare(row)];
    const theirs = ['/mcp', '/oauth/token', '/oauth/callback', '/.well-known/oauth-authorization-server'];
    const asked = async (at: string) => {
      const seen = [];
      for (const path of theirs) seen.push(await visit(at, path, {}), await visit(at, path, json('{"a":1}')));
      return seen;
    };
    const expected = await asked(bare);
    const before = [await ask(origin, '/service'), await asked(origin)];
    const { server } = await agent.start();
    expect([before, await asked(origin), await ask(origin, '/service'), server?.mcpUrl]).toEqual([
      [[503, 'not_ready', false], expected],
      expected,
      [200, undefined, false],
      '',
    ]);
    expect((await whoAmI(`${origin}/service`, await sessionToken(`${origin}/service`, account))).status).toBe(200);
  });
});

test('on a standalone server, unknown paths return 404, before the start of MCP or without it', async () => {
  const { agent, origin } = await openMountedAgent(hosts.at(-1)!, { basePath: null });
  await agent.start();
  expect([
    agent.standaloneServerPort,
    await ask(origin, '/mcp', json('{}')),
    await ask(origin, '/nothing'),
    await ask(origin, '/service'),
    await ask(origin, '/healthz'),
  ]).toEqual([
    Number(new URL(origin).port),
    [404, 'not_found', false],
    [404, 'not_found', false],
    [200, undefined, false],
    [200, undefined, false],
  ]);
});
