// A sample of each fault. faults-at-commit.long.test.ts is the long version.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import { servers } from '../databases.ts';
import { startServer } from '../server.ts';
import { runSql } from '../sql/schemas.ts';
import { callTool } from './call.ts';
import { proveFaultsAtCommit } from './faults-at-commit.ts';
import { signedIn } from './shop.ts';

test.each(servers)(
  '$dialect: the log matches the database after faults at COMMIT',
  { timeout: 60_000 },
  async (maker) => {
    const { acknowledged } = await proveFaultsAtCommit(maker, { faults: 8, seed: 7 });
    expect(acknowledged).toBeGreaterThan(10);
  },
);

const locks = loadSqliteDriver().kind !== 'wasm';

async function openFile() {
  const folder = mkdtempSync(join(tmpdir(), 'portico-held-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [data, storage] = [join(folder, 'data.sqlite'), join(folder, 'storage.sqlite')];
  await runSql({ dialect: 'sqlite', url: `sqlite:${data}`, drop: async () => {} }, [
    'CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT NOT NULL)',
    "INSERT INTO things VALUES (1, 'old')",
  ]);
  const server = await startServer({
    database: `sqlite:${data}`,
    env: { SERVICE_STORAGE_URL: `sqlite:${storage}`, SERVICE_QUERY_SECONDS: '2' },
  });
  onTestFinished(() => server.stop());
  const { token } = await signedIn(server);
  const { driver: Database } = loadSqliteDriver();
  const hold = (path: string) => {
    const other = new Database(path);
    other.exec('begin exclusive');
    return () => {
      other.exec('rollback');
      other.close();
    };
  };
  return { server, token, data, storage, hold };
}

test.skipIf(!locks)(
  'if another process locks the storage, a write waits, and other requests are answered',
  async () => {
    const { server, token, storage, hold } = await openFile();
    const change = { collectionName: 'things', recordIds: ['1'], attributes: { name: 'new' } };
    await callTool(server.mcpUrl, token, 'update', change);
    const release = hold(storage);
    let isWaiting = true;
    const newer = { ...change, attributes: { name: 'newer' } };
    const writing = callTool(server.mcpUrl, token, 'update', newer).finally(() => {
      isWaiting = false;
    });
    for (let n = 0; n < 10; n++) {
      expect((await fetch(server.mcpUrl.replace(/\/mcp$/, '/healthz'))).status).toBe(200);
      await systemClock.sleep(100);
    }
    expect(isWaiting).toBe(true);
    release();
    expect(await writing).toMatchObject({ json: { count: 1 } });
    expect((await server.store.activity.list({ limit: 1 }))[0]).toMatchObject({
      action: 'update',
      outcome: 'completed',
    });
  },
);

test.skipIf(!locks)('if another process locks the served file, calls report it', async () => {
  const { server, token, data, hold } = await openFile();
  const release = hold(data);
  const list = await callTool(server.mcpUrl, token, 'list', { collectionName: 'things' });
  const change = { collectionName: 'things', recordIds: ['1'], attributes: { name: 'new' } };
  const update = await callTool(server.mcpUrl, token, 'update', change);
  release();
  expect(list).toEqual({ error: expect.stringMatching(/^DATABASE_FAILED: .*another transaction holds/) });
  expect(update).toEqual({ error: expect.stringMatching(/^(TIMED_OUT|WRITE_CONFLICT|DATABASE_FAILED)/) });
  expect(await callTool(server.mcpUrl, token, 'list', { collectionName: 'things' })).toHaveProperty('json');
});
