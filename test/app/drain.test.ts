// Shutdown while the database runs a statement: the call is answered and logged, new calls are refused, and an endless
// call is cut off after a time limit. Without the native driver, an SQLite statement cannot be stopped.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, expect, test } from 'vitest';
import { startServer, type TestServer } from '../server.ts';
import { askSql, runSql, sqliteIsolates } from '../sql/schemas.ts';
import { ask, callTool } from './call.ts';
import { signedIn } from './shop.ts';

const folder = mkdtempSync(join(tmpdir(), 'portico-drain-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string) => ({
  dialect: 'sqlite' as const,
  url: `sqlite:${join(folder, name)}`,
  drop: async () => {},
});
/** No index helps to find the one matching pair (or four), so every combination is scanned. */
const tables = [
  'CREATE TABLE numbers (n integer not null)',
  `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 3000) INSERT INTO numbers SELECT n FROM c`,
  'CREATE VIEW slow AS SELECT a.n FROM numbers a, numbers b WHERE a.n + b.n = 6000',
  'CREATE VIEW endless AS SELECT a.n FROM numbers a, numbers b, numbers c, numbers d WHERE a.n + b.n + c.n + d.n = 12000',
];

/** A server over one slow and one endless view. */
async function startSlow(name: string, shutdownSeconds: number) {
  const [served, storage] = [file(`${name}.sqlite`), file(`${name}-storage.sqlite`)];
  await runSql(served, tables);
  const server = await startServer({
    database: served.url,
    env: { SERVICE_STORAGE_URL: storage.url, SERVICE_SHUTDOWN_SECONDS: `${shutdownSeconds}` },
  });
  const { token } = await signedIn(server);
  const logged = () => askSql(storage, 'SELECT action, collection, outcome FROM activity_logs ORDER BY id');
  return { server, token, logged };
}

const begun = (server: TestServer) =>
  expect.poll(() => server.observed.some(({ type }) => type === 'tool.began')).toBe(true);

test.runIf(sqliteIsolates)(
  'at shutdown a running call is answered and logged, and new connections are refused',
  async () => {
    const { server, token, logged } = await startSlow('slow', 20);
    const under = callTool(server.mcpUrl, token, 'list', { collectionName: 'slow' });
    await begun(server);
    const stopping = server.stop();
    const late = () =>
      ask(server.mcpUrl, token, 'ping', {}).then(
        () => 'answered',
        (error) => error.cause.code,
      );
    await expect.poll(late, { interval: 20 }).toMatch(/^(ECONNREFUSED|UND_ERR_SOCKET)$/);
    const answer = await under;
    await stopping;
    expect([answer, await logged()]).toEqual([
      { json: { columns: ['n'], rows: [[3000]], hasMore: false } },
      [{ action: 'list', collection: 'slow', outcome: 'completed' }],
    ]);
  },
);

test.runIf(sqliteIsolates)('at shutdown an endless call is cut off after the time limit, and logged', async () => {
  const { server, token, logged } = await startSlow('endless', 1);
  const under = callTool(server.mcpUrl, token, 'list', { collectionName: 'endless' }).catch(() => 'cut off');
  await begun(server);
  const from = performance.now();
  await server.stop();
  // Without the cut-off it would run until the statement limit of 30 seconds.
  const seconds = (performance.now() - from) / 1000;
  expect([await under, seconds >= 0.9 && seconds < 25, await logged()]).toEqual([
    'cut off',
    true,
    [{ action: 'list', collection: 'endless', outcome: 'failed' }],
  ]);
});

test('a listening client does not delay the shutdown', async () => {
  const [served, storage] = [file('quiet.sqlite'), file('quiet-storage.sqlite')];
  await runSql(served, ['CREATE TABLE numbers (n integer not null primary key)']);
  const server = await startServer({
    database: served.url,
    env: { SERVICE_STORAGE_URL: storage.url, SERVICE_SHUTDOWN_SECONDS: '20' },
  });
  const { token } = await signedIn(server);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(server.mcpUrl), { requestInit }));
  await client.listen({ toolsListChanged: true });
  const ended = await Promise.race([server.stop().then(() => 'ended'), sleep(19_000).then(() => 'waits')]);
  await client.close();
  expect(ended).toBe('ended');
});
