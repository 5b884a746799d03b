// Figures beyond what a database calculates exactly: digits are right, or the call is refused.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEngine, type Engine } from '../../src/agent/engine.ts';
import type { AggregateRequest } from '../../src/agent/requests.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { PlainMeasure } from '../../src/core/filter/measures.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { accessOf } from './shop.ts';

const rows = [
  [1, '9223372036854775807', 3, '1.10', "''"],
  [2, '-9007199254740993', 7, '2.25', "'a'"],
  [3, '9218868437227405312', 3, '99999999.99', "''"],
  [4, null, 1, null, null],
] as const;

describe.each(servers)('$dialect', (server) => {
  let database: TestDatabase;
  let engine: Engine;
  beforeAll(async () => {
    database = await server.create();
    await runSql(database, [
      'create table items (id int primary key, big bigint, small int, price decimal(12, 2), note varchar(9))',
      `insert into items values ${rows.map((row) => `(${row.map((value) => value ?? 'null').join(', ')})`).join(', ')}`,
    ]);
    const observe = () => {};
    const source = createSqlSource(database.url, { observe, clock: systemClock });
    engine = await createEngine({
      ...{ sources: [source], observe, clock: systemClock },
      limits: { pageSizeLimit: 100, queryTimeoutMs: 20_000 },
    });
  });
  afterAll(async () => {
    await engine.close();
    await database.drop();
  });
  const answer = async (request: Partial<AggregateRequest>) => {
    const { rows } = await engine.aggregate(accessOf(), { collection: 'items', limit: 50, ...request });
    return rows;
  };

  test.each<[PlainMeasure, string | number]>([
    [{ sum: { dividedBy: ['big', 2] } }, '9216616637413720063'],
    [{ sum: { times: ['big', 'small'] } }, '55263671027463356406'],
    [{ sum: { plus: ['big', 'big'] } }, '36866466549654880252'],
    [{ sum: { minus: ['big', { times: ['big', 3] }] } }, '-36866466549654880252'],
    [{ max: { times: ['big', 10] } }, '92233720368547758070'],
    [{ min: { times: ['big', 1000] } }, '-9007199254740993000'],
    [{ max: { dividedBy: ['big', 1] } }, '9223372036854775807'],
    [{ avg: { times: ['big', 100] } }, '614441109160914670866.6666666667'],
    [{ median: { times: ['big', 4] } }, '36875473748909621248'],
    [{ countDistinct: { plus: ['big', { times: ['big', 'small'] }] } }, 3],
    [{ sum: { times: ['price', 'big'] } }, '921886853755994889044812100.33'],
    [{ max: { round: { times: ['big', 0.5] } } }, '4611686018427387904'],
    [{ max: { abs: { times: ['big', -2] } } }, '18446744073709551614'],
    [{ max: { minus: [{ value: '99999999999999999999' }, 'id'] } }, '99999999999999999998'],
    // 4 / 0.6666666667, whose digits after the twentieth are 4999999999.
    [
      { max: { dividedBy: [4, { dividedBy: [2, 'small'] }] }, where: { field: 'id', operator: 'Equal', value: 1 } },
      '5.99999999970000000001',
    ],
  ])('%j', async (measure, figure) => {
    expect(await answer({ measures: { figure: measure } })).toEqual([[figure]]);
  });

  test('figures beyond 64 bits are exact with conditions and groups', async () => {
    const measures = {
      figure: { sum: { times: ['big', 'small'] }, where: { field: 'id', operator: 'LessThan', value: 3 } },
    } as const;
    expect(await answer({ measures, groups: ['small'], sort: [{ group: 0 }] })).toEqual([
      [1, null],
      [3, '27670116110564327421'],
      [7, '-63050394783186951'],
    ]);
  });

  test('having accepts null in a list', async () => {
    const measures = { figure: { max: 'small', where: { field: 'big', operator: 'Present' } } } as const;
    const figures = async (operator: string, value: unknown) =>
      (
        await answer({
          measures,
          groups: ['id'],
          sort: [{ group: 0 }],
          having: { measure: 'figure', operator, value } as never,
        })
      ).map(([id]) => id);
    expect([await figures('In', [null, 7]), await figures('NotIn', [null, 7]), await figures('In', [null])]).toEqual([
      [2, 4],
      [1, 3],
      [4],
    ]);
  });

  test('having takes an empty text as not present, as filters do', async () => {
    const groupsWith = async (operator: string) =>
      (
        await answer({
          measures: { figure: { min: 'note' } },
          groups: ['id'],
          sort: [{ group: 0 }],
          having: { measure: 'figure', operator } as never,
        })
      ).map(([id]) => id);
    expect([await groupsWith('Present'), await groupsWith('Missing')]).toEqual([[2], [4]]);
  });

  test('a comparison of figures beyond 64 bits is exact or refused', async () => {
    const filter = { expression: { times: ['big', 10] }, operator: 'Equal', value: '92233720368547758070' } as never;
    const listed = await engine.list(accessOf(), { collection: 'items', fields: ['id'], filter, limit: 9 }).then(
      ({ rows }) => rows,
      ({ code }: { code: string }) => code,
    );
    expect(listed).toEqual(
      server.dialect === 'sqlite' ? expect.stringMatching(/^(INVALID_ARGUMENT|DATABASE_FAILED)$/) : [[1]],
    );
  });
});
