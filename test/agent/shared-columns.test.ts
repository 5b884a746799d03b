// Measures that need the same figure of the database share its column: a sum and an average of one field, for example.
import { expect, test } from 'vitest';
import { createEngine } from '../../src/agent/engine.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { servers } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { accessOf } from './shop.ts';

test.each(servers)('$dialect reads a column once for all measures that need it', async (server) => {
  const database = await server.create();
  try {
    await runSql(database, [
      'create table hats (id integer primary key, kind varchar(9), price decimal(8, 2))',
      "insert into hats values (1, 'top', 0.1), (2, 'top', 0.2), (3, 'bowler', null), (4, null, 12.5)",
    ]);
    const source = createSqlSource(database.url, { observe: () => {}, clock: systemClock });
    const texts: string[] = [];
    const watched = {
      ...source,
      aggregate: ((group, options) =>
        source.aggregate!(group, { ...options, watch: (text) => texts.push(text) })) as typeof source.aggregate,
    };
    const limits = { pageSizeLimit: 100, queryTimeoutMs: 20_000 };
    const engine = await createEngine({ sources: [watched as never], observe: () => {}, clock: systemClock, limits });
    try {
      const { rows } = await engine.aggregate(accessOf(), {
        collection: 'hats',
        measures: {
          n: { count: true },
          sum: { sum: 'price' },
          average: { avg: 'price' },
          priced: { count: 'price' },
          again: { sum: 'price' },
          rate: { ratio: ['sum', { count: true }] },
        },
        groups: ['kind'],
        sort: [{ group: 0 }],
        limit: 10,
      });
      expect(rows).toEqual([
        [null, 1, 12.5, 12.5, 1, 12.5, 12.5],
        ['bowler', 1, null, null, 0, null, null],
        ['top', 2, 0.3, 0.15, 2, 0.3, 0.15],
      ]);
      const list = /^select (.+?) from /s.exec(texts.at(-1)!)![1]!;
      expect(list.match(/count\(\*\)/g)).toHaveLength(1);
      // The quotes differ by database. SQLite adds doubles.
      expect((list.match(/count\(\S*price\S*\)/g) ?? []).length).toBeLessThanOrEqual(1);
      expect(list.match(/(?:sum|total)\(\S*price\S*\)/g)).toHaveLength(1);
      const columns = list.split(/, (?![^(]*\))/);
      expect(new Set(columns).size).toBe(columns.length);
    } finally {
      await engine.close();
    }
  } finally {
    await database.drop();
  }
});
