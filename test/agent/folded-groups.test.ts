// Where a database compares texts without their case, 'Green' and 'green' are one label: for running totals,
// previous periods, and what is counted for each label, too.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import { createSqlDataSource } from '../../src/agent/data-sources.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { systemClock } from '../../src/core/clock.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { accessOf } from './shop.ts';

const labels = {
  sqlite: 'text collate nocase',
  mariadb: 'varchar(20) collate utf8mb4_general_ci',
  // PostgreSQL compares every letter.
  postgres: 'text',
};

describe.each(servers)('$dialect', (server) => {
  let database: TestDatabase;
  let engine: Engine;
  beforeAll(async () => {
    database = await server.create();
    await runSql(database, [
      `create table sales (id integer primary key, day date, label ${labels[server.dialect]}, amount integer)`,
      "insert into sales values (1, '2024-01-10', 'Green', 1), (2, '2024-02-10', 'green', 2), (3, '2024-03-10', 'GREEN', 4)",
    ]);
    engine = await createHeadlessAgent()
      .addDataSource(createSqlDataSource(database.url))
      .createEngine({ observe: () => {}, clock: systemClock, limits: { pageSizeLimit: 100, queryTimeoutMs: 20_000 } });
  });
  afterAll(async () => {
    await engine?.close();
    await database?.drop();
  });

  test('running totals and previous periods', async () => {
    const { rows, columns } = await engine.aggregate(accessOf(), {
      collection: 'sales',
      measures: { amount: { sum: 'amount' }, soFar: { running: 'amount' } },
      groups: [{ field: 'day', bucket: 'Month' }, 'label'],
      compare: { previous: 1 },
      limit: 10,
      timezone: 'UTC',
    });
    expect(columns.slice(2, 5)).toEqual(['amount', 'previous amount', 'soFar']);
    expect(rows.map(([, , ...figures]) => figures.slice(0, 3))).toEqual(
      server.dialect === 'postgres'
        ? [
            [4, null, 4],
            [2, null, 2],
            [1, null, 1],
          ]
        : [
            [4, 2, 7],
            [2, 1, 3],
            [1, null, 1],
          ],
    );
  });

  test('the first groups, ranks and shares of each label', async () => {
    const { rows } = await engine.aggregate(accessOf(), {
      collection: 'sales',
      measures: {
        amount: { sum: 'amount' },
        place: { rank: 'amount', per: [1] },
        share: { share: 'amount', per: [1] },
      },
      groups: [{ field: 'day', bucket: 'Month' }, 'label'],
      sort: [{ measure: 'amount', ascending: false }],
      top: { n: 2, per: ['label'] },
      limit: 10,
      timezone: 'UTC',
    });
    expect(rows.map(([, , ...figures]) => figures)).toEqual(
      server.dialect === 'postgres'
        ? [
            [4, 1, 1],
            [2, 1, 1],
            [1, 1, 1],
          ]
        : [
            [4, 1, 0.5714285714],
            [2, 2, 0.2857142857],
          ],
    );
  });
});
