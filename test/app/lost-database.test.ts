// A database server stops answering and comes back: the documented error in bounded time, no partial writes, and good
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
/** The time limit, plus the time to find out that the statement cannot be cancelled either. */
const BOUND_MS = (SECONDS + 5) * 1000 + 3000;

// A file must contain a test.
if (remoteServers.length === 0) test.skip('on a server', () => {});

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
    expect(await recovery()).toBeLessThan(BOUND_MS);
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

  async function timed(work: Promise<ToolAnswer>): Promise<{ code: string | undefined; milliseconds: number }> {
    const began = systemClock.monotonic();
    const code = codeOf(await work);
    return { code, milliseconds: systemClock.monotonic() - began };
  }

  /** Milliseconds until every kind of call succeeds again. */
  async function recovery(): Promise<number> {
    const began = systemClock.monotonic();
    for (;;) {
      const codes = [];
      for (const [tool, args] of [...reads, ['update', change('first')] as const])
        codes.push(codeOf(await call(tool, args)));
      const milliseconds = systemClock.monotonic() - began;
      if (codes.every((code) => code === 'answered') || milliseconds > BOUND_MS) return milliseconds;
    }
  }

  test('cut: SOURCE_UNAVAILABLE at once, for reads and writes, and what needs no database is answered', async () => {
    await Promise.all(reads.map(([tool, args]) => call(tool, args)));
    wire.cut();
    const answers = [];
    for (const [tool, args] of [...reads, ['update', change('cut')] as const])
      answers.push(await timed(call(tool, args)));
    const described = codeOf(await call('describeCollection', { collectionName: 'items' }));
    expect([answers.map(({ code }) => code), described]).toEqual([Array(3).fill('SOURCE_UNAVAILABLE'), 'answered']);
    for (const { milliseconds } of answers) expect(milliseconds).toBeLessThan(BOUND_MS);
  });

  test('cut while a write waits: an error, nothing is written, and the log says that it failed', async () => {
    const holder = await hold(database, ['select id from items for update']);
    const writing = timed(call('update', change('half')));
    await systemClock.sleep(300);
    wire.cut();
    const { code, milliseconds } = await writing;
    await holder.release();
    const entry = (await server.store.activity.list({ limit: 20 })).find(({ action }) => action === 'update');
    expect([code, entry?.action, entry?.outcome, entry?.code]).toEqual([
      'SOURCE_UNAVAILABLE',
      'update',
      'failed',
      'SOURCE_UNAVAILABLE',
    ]);
    expect(milliseconds).toBeLessThan(BOUND_MS);
    expect(await askSql(database, 'select label from items where id = 1')).toEqual([{ label: 'first' }]);
  });

  test('frozen: TIMED_OUT within the time limit and what it takes to give up, and cheap calls go on meanwhile', async () => {
    await Promise.all(reads.map(([tool, args]) => call(tool, args)));
    wire.freeze();
    const under = Promise.all(
      [...reads, ['update', change('frozen')] as const].map(([tool, args]) => timed(call(tool, args))),
    );
    const cheap = await timed(call('describeCollection', {}));
    const answers = await under;
    expect([answers.map(({ code }) => code), cheap.code]).toEqual([Array(3).fill('TIMED_OUT'), 'answered']);
    for (const { milliseconds } of answers) expect(milliseconds).toBeLessThan(BOUND_MS);
    expect(await askSql(database, 'select label from items where id = 1')).toEqual([{ label: 'first' }]);
  });
});
