// One user cannot occupy a database: a few of their statements run at once, and the rest wait in a queue.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { type Access, fullAccess } from '../../src/core/caller.ts';
import { systemClock } from '../../src/core/clock.ts';
import { isAppError } from '../../src/core/errors.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { runSql, slowSchema, sqliteIsolates } from '../sql/schemas.ts';
import { accessOf } from './shop.ts';

const user = (id: number): Access => fullAccess({ ...accessOf().caller, id });
const codeOf = (error: unknown): unknown => (isAppError(error) ? error.code : error);

const stoppable = servers.filter(({ dialect }) => dialect !== 'sqlite' || sqliteIsolates);

// A test file must contain a test.
if (stoppable.length === 0) test.skip('needs a database that can stop a statement', () => {});

describe.each(stoppable)('$dialect', (server) => {
  let database: TestDatabase;
  let engine: Engine;
  beforeAll(async () => {
    database = await server.create();
    await runSql(database, slowSchema());
    const agent = createHeadlessAgent().addDataSource(() =>
      createSqlSource(database.url, { observe: () => undefined, clock: systemClock }),
    );
    const limits = { pageSizeLimit: 1000, queryTimeoutMs: 8000 };
    engine = await agent.createEngine({ observe: () => undefined, clock: systemClock, limits });
    for (const id of [1, 2]) await engine.list(user(id), { collection: 'cheap', limit: 10 });
  }, 60_000);
  afterAll(async () => {
    await engine.close();
    await database.drop();
  });

  const slow = (signal?: AbortSignal) =>
    engine.list(user(1), { collection: 'slow', limit: 10 }, signal ? { signal } : {}).catch(codeOf);

  test('during thirty slow lists of one user, a list of another user is answered', async () => {
    const stop = new AbortController();
    const lists = Array.from({ length: 30 }, () => slow(stop.signal));
    await systemClock.sleep(500);
    const { rows } = await engine.list(user(2), { collection: 'cheap', limit: 10 });
    stop.abort();
    // Behind the slow lists it would have waited until they timed out.
    expect({ rows: rows.length, codes: new Set(await Promise.all(lists)) }).toEqual({
      rows: 10,
      codes: new Set(['CANCELLED']),
    });
  });

  test('at most two hundred calls of a user wait, more are refused, and later calls succeed', async () => {
    const stop = new AbortController();
    const most = server.dialect === 'sqlite' ? 8 : 7;
    let refused = 0;
    const lists = Array.from({ length: 210 }, async () => {
      const code = await slow(stop.signal);
      if (code === 'TOO_MANY_QUERIES') refused++;
      return code;
    });
    await expect.poll(() => refused).toBe(most);
    stop.abort();
    const codes = await Promise.all(lists);
    const { rows } = await engine.list(user(1), { collection: 'cheap', limit: 10 });
    expect([codes.filter((code) => code === 'TOO_MANY_QUERIES').length, new Set(codes), rows.length]).toEqual([
      most,
      new Set(['CANCELLED', 'TOO_MANY_QUERIES']),
      10,
    ]);
  });
});
