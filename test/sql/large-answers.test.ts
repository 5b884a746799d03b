// The memory limit of one statement. Megabyte cells, many or one, are refused before all of them are loaded, and the
// error says what to request instead. The source keeps working.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { isAppError } from '../../src/core/errors.ts';
import { accessOf } from '../agent/shop.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { readTables, type Tables } from './collections.ts';
import { runSql, sqliteIsolates } from './schemas.ts';

const stoppable = servers.filter(({ dialect }) => dialect !== 'sqlite' || sqliteIsolates);

// A test file must contain a test.
if (stoppable.length === 0) test.skip('skipped: needs statements that can be stopped', () => {});

describe.each(stoppable)('$dialect', (server) => {
  let database: TestDatabase;
  let source: Source;
  let tables: Tables;
  beforeAll(async () => {
    database = await server.create();
    const isMaria = server.dialect === 'mariadb';
    const texts = (length: number) =>
      server.dialect === 'sqlite' ? `replace(hex(zeroblob(${length / 2})), '0', 'x')` : `repeat('x', ${length})`;
    await runSql(database, [
      `create table memos (id integer primary key, body ${isMaria ? 'longtext' : 'text'})`,
      ...Array.from({ length: 60 }, (_, at) => `insert into memos values (${at + 1}, ${texts(1_000_000)})`),
    ]);
    source = createSqlSource(database.url, { observe: () => undefined, clock: systemClock });
    tables = readTables(source, await source.describe());
  });
  afterAll(async () => {
    await source.close();
    await database.drop();
  });

  const read = (limit: number) =>
    source.read(
      {
        table: 'memos',
        columns: [tables.path('memos', 'id'), tables.path('memos', 'body')],
        joins: [],
        where: { op: 'always' },
        order: [{ path: tables.path('memos', 'id'), ascending: true }],
        limit,
      },
      { timeoutMs: 20_000 },
    );

  test('sixty cells of a megabyte are refused and ten are read, repeatedly', async () => {
    const asked = async (limit: number) => {
      const rows = await read(limit).catch((error: unknown) => (isAppError(error) ? error.code : error));
      return Array.isArray(rows) ? rows.map((row) => String(row[1]).length) : rows;
    };
    const ten = Array(10).fill(1_000_000);
    expect([await asked(60), await asked(10), await asked(60), await asked(10)]).toEqual([
      'ANSWER_TOO_LARGE',
      ten,
      'ANSWER_TOO_LARGE',
      ten,
    ]);
  });

  test('a list page is cut if the caller can continue by cursor, and refused otherwise', async () => {
    const agent = createHeadlessAgent().addDataSource(() =>
      createSqlSource(database.url, { observe: () => undefined, clock: systemClock }),
    );
    const engine = await agent.createEngine({
      observe: () => undefined,
      clock: systemClock,
      limits: { pageSizeLimit: 1000, queryTimeoutMs: 20_000 },
    });
    onTestFinished(() => engine.close());
    const request = { collection: 'memos', limit: 1000 };
    const ids: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await engine.list(accessOf(), { ...request, ...(cursor && { cursor }) }, { cutsPages: true });
      ids.push(...page.rows.map(([id]) => id));
      cursor = page.hasMore ? page.cursorAfter(page.rows.length - 1) : undefined;
    } while (cursor);
    expect(ids).toEqual(Array.from({ length: 60 }, (_, at) => at + 1));
    await expect(engine.list(accessOf(), request)).rejects.toMatchObject({ code: 'ANSWER_TOO_LARGE' });
  });

  test('while such answers are refused, the memory of the process stays below a limit', async () => {
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    let most = before;
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 10);
    await Promise.allSettled(Array.from({ length: 4 }, () => read(60)));
    clearInterval(timer);
    expect((most - before) / 1e6).toBeLessThan(300);
  });
});
