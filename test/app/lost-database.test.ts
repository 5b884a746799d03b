// A database server stops answering and comes back: the documented error, no partial writes, and good
// answers afterwards without a restart. An unhandled error event would end the process and fail the run.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { remoteServers, type TestDatabase } from '../databases.ts';
import { startServer, type TestServer } from '../server.ts';
import { askSql, runSql } from '../sql/schemas.ts';
import { callTool, type ToolAnswer } from './call.ts';
import { hold } from './holding.ts';
import { signedIn } from './shop.ts';
import { openWire, type Wire } from './wire.ts';

const SECONDS = 2;

// A file must contain a test.
if (remoteServers.length === 0) test.skip('needs a database server', () => {});

describe.each(remoteServers)('$dialect', ({ create }) => {
  let database: TestDatabase;
  let wire: Wire;
  let server: TestServer;
  let token: string;
  beforeAll(async () => {
    database = await create();
    await runSql(database, [
      'create table items (id integer not null primary key, label varchar(20))',
      "insert into items (id, label) values (1, 'first'), (2, 'second')",
    ]);
    const url = new URL(database.url);
    wire = await openWire({ host: url.hostname, port: Number(url.port) });
    url.port = String(wire.port);
    server = await startServer({ database: url.href, env: { SERVICE_QUERY_SECONDS: String(SECONDS) } });
    token = (await signedIn(server)).token;
  });
  afterEach(async () => {
    wire.mend();
    await recovery();
  });
  afterAll(async () => {
    await server?.stop();
    await wire?.close();
    await database?.drop();
  });

  const reads: readonly (readonly [string, Record<string, unknown>])[] = [
    ['list', { collectionName: 'items', fields: ['id'] }],
    ['aggregate', { collectionName: 'items', operation: 'count' }],
  ];
  const change = (label: string) => ({ collectionName: 'items', recordId: 1, attributes: { label } });
  const call = (tool: string, args: Record<string, unknown>) => callTool(server.mcpUrl, token, tool, args);
  const codeOf = (answer: ToolAnswer) => ('error' in answer ? answer.error.split(':')[0] : 'answered');

  /** Until every kind of call succeeds again. */
  async function recovery(): Promise<void> {
    for (;;) {
      const codes = [];
      for (const [tool, args] of [...reads, ['update', change('first')] as const])
        codes.push(codeOf(await call(tool, args)));
      if (codes.every((code) => code === 'answered')) return;
    }
  }

  test('a cut connection gives SOURCE_UNAVAILABLE for reads and writes; calls without the database are answered', async () => {
    await Promise.all(reads.map(([tool, args]) => call(tool, args)));
    wire.cut();
    const answers = [];
    for (const [tool, args] of [...reads, ['update', change('cut')] as const])
      answers.push(codeOf(await call(tool, args)));
    const described = codeOf(await call('describeCollection', { collectionName: 'items' }));
    expect([answers, described]).toEqual([Array(3).fill('SOURCE_UNAVAILABLE'), 'answered']);
  });

  test('a connection cut while a write waits gives an error, writes nothing and is logged as failed', async () => {
    const holder = await hold(database, ['select id from items for update']);
    const writing = call('update', change('half'));
    await systemClock.sleep(300);
    wire.cut();
    const code = codeOf(await writing);
    await holder.release();
    const entry = (await server.store.activity.list({ limit: 20 })).find(({ action }) => action === 'update');
    expect([code, entry?.action, entry?.outcome, entry?.code]).toEqual([
      'SOURCE_UNAVAILABLE',
      'update',
      'failed',
      'SOURCE_UNAVAILABLE',
    ]);
    expect(await askSql(database, 'select label from items where id = 1')).toEqual([{ label: 'first' }]);
  });

  test('a frozen database gives TIMED_OUT, and calls without the database are answered meanwhile', async () => {
    await Promise.all(reads.map(([tool, args]) => call(tool, args)));
    wire.freeze();
    const under = Promise.all(
      [...reads, ['update', change('frozen')] as const].map(async ([tool, args]) => codeOf(await call(tool, args))),
    );
    const cheap = codeOf(await call('describeCollection', {}));
    const answers = await under;
    expect([answers, cheap]).toEqual([Array(3).fill('TIMED_OUT'), 'answered']);
    expect(await askSql(database, 'select label from items where id = 1')).toEqual([{ label: 'first' }]);
  });
});
