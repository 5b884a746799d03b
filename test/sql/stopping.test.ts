// A caller that disconnects or times out leaves no statement running in the database. A slow statement does not delay
// other callers.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Source } from '../../src/agent/sources/source.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import type { CountSelect, Select } from '../../src/agent/sources/statement.ts';
import { systemClock } from '../../src/core/clock.ts';
import { isAppError } from '../../src/core/errors.ts';
import type { Observation } from '../../src/core/observe.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { readTables, type Tables } from './collections.ts';
import { runningStatements } from './running.ts';
import { runSql, slowSchema, sqliteIsolates } from './schemas.ts';

const codeOf = (error: unknown): unknown => (isAppError(error) ? error.code : error);

const stoppable = servers.filter(({ dialect }) => dialect !== 'sqlite' || sqliteIsolates);

describe.each(stoppable)('$dialect', (server) => {
  let database: TestDatabase;
  let source: Source;
  let tables: Tables;
  const observed: Observation[] = [];
  const slow: CountSelect = { table: 'slow', joins: [], where: { op: 'always' } };
  beforeAll(async () => {
    database = await server.create();
    await runSql(database, slowSchema());
    source = createSqlSource(database.url, { observe: (one) => observed.push(one), clock: systemClock });
    tables = readTables(source, await source.describe());
  });
  afterAll(async () => {
    await source.close();
    await database.drop();
  });

  const running = () => runningStatements(database);

  async function settled(): Promise<number> {
    for (let tries = 0; tries < 400 && (await running()) > 0; tries++) await systemClock.sleep(25);
    return running();
  }

  test('a cancelled call ends before its time limit, and its statement ends too', async () => {
    const stop = new AbortController();
    const call = source.count(slow, { timeoutMs: 20_000, signal: stop.signal }).catch(codeOf);
    for (let tries = 0; tries < 100 && (await running()) === 0; tries++) await systemClock.sleep(20);
    const before = await running();
    stop.abort();
    // Without the cancellation the statement runs into its time limit: TIMED_OUT.
    const code = await call;
    expect({ code, before, after: await settled() }).toEqual({ code: 'CANCELLED', before: 1, after: 0 });
  });

  test('a statement that exceeds its time limit is stopped in the database', async () => {
    const call = await source.count(slow, { timeoutMs: 400 }).catch(codeOf);
    expect([call, await settled()]).toEqual(['TIMED_OUT', 0]);
  });

  test('a call cancelled before it began sends nothing to the database', async () => {
    const call = await source.count(slow, { timeoutMs: 400, signal: AbortSignal.abort() }).catch(codeOf);
    expect([call, await settled()]).toEqual(['CANCELLED', 0]);
  });

  test('the source still works after many cancelled calls', async () => {
    const calls = Array.from({ length: 12 }, () => source.count(slow, { timeoutMs: 150 }).catch(codeOf));
    const codes = await Promise.all(calls);
    expect([
      new Set(codes),
      await source.count({ ...slow, table: 'cheap' }, { timeoutMs: 5000 }),
      await settled(),
    ]).toEqual([new Set(['TIMED_OUT']), 100, 0]);
  });

  test('while a statement runs for seconds, cheap ones are answered', async () => {
    const id = tables.path('cheap', 'id');
    const cheap: Select = {
      table: 'cheap',
      columns: [id],
      joins: [],
      where: tables.test('cheap', 'id', 'GreaterThan', 50),
      order: [{ path: id, ascending: true }],
      limit: 15,
    };
    for (let warm = 0; warm < 20; warm++) await source.read(cheap, { timeoutMs: 5000 });
    const stop = new AbortController();
    let over = false;
    const call = source
      .count(slow, { timeoutMs: 60_000, signal: stop.signal })
      .catch(codeOf)
      .finally(() => {
        over = true;
      });
    for (let n = 0; n < 20; n++) await source.read(cheap, { timeoutMs: 60_000 });
    const stillRunning = !over;
    stop.abort();
    expect({ code: await call, stillRunning }).toEqual({ code: 'CANCELLED', stillRunning: true });
  });
});

test.runIf(sqliteIsolates)(
  'a statement in a child process is observed with its outcome, and without its text',
  async () => {
    const database = await servers[0]!.create();
    const observed: Observation[] = [];
    await runSql(database, slowSchema());
    const source = createSqlSource(database.url, { observe: (one) => observed.push(one), clock: systemClock });
    await source.describe();
    await source.count({ table: 'slow', joins: [], where: { op: 'always' } }, { timeoutMs: 300 }).catch(codeOf);
    await source.close();
    await database.drop();
    expect(observed.filter(({ type }) => type === 'source.isolated')).toEqual([
      {
        type: 'source.isolated',
        source: database.url.slice('sqlite:'.length),
        milliseconds: expect.any(Number),
        outcome: 'failed',
      },
    ]);
  },
);

test.each(['mysql://root@127.0.0.1:1/none', 'postgres://postgres:hidden@127.0.0.1:1/none'])(
  'an unreachable server is SOURCE_UNAVAILABLE, without a secret in the text (%s)',
  async (url) => {
    const source = createSqlSource(url, { observe: () => undefined, clock: systemClock });
    const error = (await source.describe().catch((cause: unknown) => cause)) as Error;
    await source.close();
    expect([codeOf(error), error.message.includes('hidden'), source.name.includes('hidden')]).toEqual([
      'SOURCE_UNAVAILABLE',
      false,
      false,
    ]);
  },
);

test('a file that is not a SQLite database is a configuration error', () => {
  expect(() =>
    createSqlSource(`sqlite:${import.meta.filename}`, { observe: () => undefined, clock: systemClock }),
  ).toThrow(/is not a SQLite database/);
});

test.each(servers.filter(({ dialect }) => dialect !== 'sqlite'))(
  'a URL that $dialect refuses is a configuration error without a secret',
  async (server) => {
    const database = await server.create();
    const url = new URL(database.url);
    if (server.dialect === 'mariadb') Object.assign(url, { username: 'nobody', password: 'hidden' });
    else url.pathname = '/not_there';
    const source = createSqlSource(url.href, { observe: () => undefined, clock: systemClock });
    const error = (await source.describe().catch((cause: unknown) => cause)) as Error;
    await source.close();
    await database.drop();
    expect([codeOf(error), error.message.includes('hidden')]).toEqual(['CONFIGURATION', false]);
  },
);

test.each(['sqlite:/not/there.sqlite', 'oracle://x/y', 'postgres//x', 'mysql://root:hidden@127.0.0.1'])(
  'an invalid URL is a configuration error without a secret (%s)',
  (url) => {
    let error: unknown;
    try {
      createSqlSource(url, { observe: () => undefined, clock: systemClock });
    } catch (cause) {
      error = cause;
    }
    expect([codeOf(error), (error as Error).message.includes('hidden')]).toEqual(['CONFIGURATION', false]);
  },
);
