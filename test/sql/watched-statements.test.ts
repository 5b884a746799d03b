// Statements are attributed to the work that runs them, by its async context: on every database, beside other work,
// through pools, transactions and user code. Without such work, statements are not tracked.
import type { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { createStatementWatch, type Statement } from '../../src/core/observe/statements.ts';
import type { Observe } from '../../src/core/observe.ts';
import { accessOf } from '../agent/shop.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { runSql } from './schemas.ts';

const access = accessOf({});
const made = vi.hoisted(() => [] as (AsyncLocalStorage<unknown> & { enabled?: boolean })[]);
vi.mock(import('node:async_hooks'), async (original) => {
  const real = await original();
  class Noted<T> extends real.AsyncLocalStorage<T> {
    constructor() {
      super();
      made.push(this as never);
    }
  }
  return { ...real, AsyncLocalStorage: Noted as never };
});

describe.each(servers)('$dialect', (server) => {
  let database: TestDatabase;
  let engine: Engine;
  let observe: Observe = () => undefined;
  const watch = createStatementWatch((listener) => {
    observe = listener;
  });
  const storage = made.at(-1)!;
  beforeAll(async () => {
    database = await server.create();
    await runSql(database, [
      'create table boots (id integer primary key, size integer)',
      'create table hats (id integer primary key, size integer)',
      'insert into boots values (1, 40), (2, 41)',
      'insert into hats values (1, 56)',
    ]);
    const agent = createHeadlessAgent();
    agent.addDataSource(() => createSqlSource(database.url, { observe: (one) => observe(one), clock: systemClock }));
    agent.customizeCollection('hats', (hats) =>
      hats.addHook('Before', 'Create', async ({ collection }) => {
        await systemClock.sleep(5);
        await collection('boots').aggregate({}, { operation: 'Count' });
      }),
    );
    const limits = { pageSizeLimit: 100, queryTimeoutMs: 10_000 };
    engine = await agent.createEngine({ observe: () => undefined, clock: systemClock, limits });
  });
  afterAll(async () => {
    await engine.close();
    await database.drop();
  });

  async function watched(work: () => Promise<unknown>): Promise<string[]> {
    const told: Statement[] = [];
    await watch.watchDuring((statement) => told.push(statement), work);
    return told.map(({ operation, table }) => `${operation} ${table}`);
  }
  const list = (collection: string) => () => engine.list(access, { collection, limit: 10 });
  const create = () => engine.create(access, { collection: 'hats', records: [{ id: 9, size: 1 }] }, { preview: true });

  test('concurrent tasks are each notified of their own statements', async () => {
    const many = Array.from({ length: 10 }, (_, at) => watched(list(at % 2 ? 'boots' : 'hats')));
    const beside = Array.from({ length: 10 }, () => list('boots')());
    const [written, ...read] = await Promise.all([watched(create), ...many]);
    await Promise.all(beside);
    expect(read).toEqual(read.map((_, at) => [`SELECT ${at % 2 ? 'boots' : 'hats'}`]));
    // The hook's code queries first, then the write runs in its transaction.
    expect(written.slice(0, 2)).toEqual(['SELECT boots', 'INSERT hats']);
    expect(new Set(written.slice(2))).toEqual(new Set(written.length > 2 ? ['SELECT hats'] : []));
  });

  test('after a task fails, its statements are no longer watched', async () => {
    const failing = watch.watchDuring(
      () => undefined,
      async () => {
        await list('boots')();
        expect(storage.getStore()).toBeTypeOf('function');
        throw new Error('in the middle');
      },
    );
    await expect(failing).rejects.toThrow('in the middle');
    expect(storage.enabled ?? false).toBe(false);
    expect(await watched(list('hats'))).toEqual(['SELECT hats']);
  });
});
