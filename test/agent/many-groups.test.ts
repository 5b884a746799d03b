// Groups of groups beside SQL, with more inner groups than the process reads: the database merges those with equal
// figures.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEngine, type Engine } from '../../src/agent/engine.ts';
import type { AggregateRequest } from '../../src/agent/requests.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { askSql, runSql } from '../sql/schemas.ts';
import { accessOf } from './shop.ts';

const digits = [0, 1, 2, 3, 4, 5];
const number = digits.map((digit) => `d${digit}.d * ${10 ** digit}`).join(' + ');
const city = "case i % 4 when 0 then 'rome' when 1 then 'Rome' when 2 then 'Oslo' end";
const schema = [
  'create table digits (d integer not null)',
  'insert into digits values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)',
  'create table orders (id integer primary key, customer_id integer, city varchar(10), total integer)',
  `insert into orders select i, case when i % 10 = 0 then 0 else i * 7 % 115001 end, ${city}, i % 50 from
   (select ${number} as i from ${digits.map((digit) => `digits as d${digit}`).join(', ')} where d5.d < 2) as numbers
   where i < 140000`,
];

describe.each(servers)('$dialect', ({ dialect, create }) => {
  let database: TestDatabase;
  let engine: Engine;
  beforeAll(async () => {
    database = await create();
    const folded = dialect === 'sqlite' ? schema.map((sql) => sql.replace('(10),', '(10) collate nocase,')) : schema;
    await runSql(database, folded);
    const source = createSqlSource(database.url, { observe: () => undefined, clock: systemClock });
    engine = await createEngine({
      sources: [source],
      observe: () => undefined,
      clock: systemClock,
      limits: { pageSizeLimit: 100, queryTimeoutMs: 60_000 },
    });
  }, 60_000);
  afterAll(async () => {
    await engine.close();
    await database.drop();
  });

  const ask = async (request: Omit<AggregateRequest, 'collection' | 'limit'>) => {
    return (await engine.aggregate(accessOf(), { collection: 'orders', limit: 100, ...request })).rows;
  };
  const sql = async (statement: string) =>
    (await askSql(database, statement)).map((row) => Object.values(row).map((value) => Number(value)));
  const orders = { groups: ['customer_id'], measures: { n: { count: true }, least: { min: 'total' } } } as const;
  const byHand = 'select customer_id, count(*) as n, min(total) as least from orders group by customer_id';

  test('figures of more than 100,000 groups', async () => {
    const measures = {
      customers: { count: true },
      most: { max: 'n' },
      low: { sum: 'least' },
      kinds: { countDistinct: 'n' },
    } as const;
    const [row] = await ask({ measures, over: orders });
    const expected = await sql(
      `select count(*) as c, max(n) as m, sum(least) as s, count(distinct n) as k from (${byHand}) as g`,
    );
    expect(expected[0]![0]).toBeGreaterThan(100_000);
    expect(row!.map(Number)).toEqual(expected[0]);
  });

  test('an average and a percentile of merged groups', async () => {
    const [row] = await ask({ measures: { mean: { avg: 'n' }, high: { percentile: ['n', 0.999] } }, over: orders });
    const counts = (await sql(`select n from (${byHand}) as g order by n`)).map(([n]) => n!);
    const place = (counts.length - 1) * 0.999;
    const [low, high] = [counts[Math.floor(place)]!, counts[Math.ceil(place)]!];
    expect(Number(row![0])).toBeCloseTo(140_000 / counts.length, 9);
    expect(Number(row![1])).toBeCloseTo(low + (high - low) * (place % 1), 9);
  });

  test('a histogram, with a condition on the inner figures', async () => {
    const over = { ...orders, having: { measure: 'n', operator: 'GreaterThan', value: 1 } } as const;
    const rows = await ask({ measures: { customers: { count: true } }, groups: ['n'], over, sort: [{ group: 0 }] });
    const expected = await sql(`select n, count(*) as c from (${byHand}) as g where n > 1 group by n order by n`);
    expect(expected.length).toBeGreaterThan(1);
    expect(rows.map((row) => row.map(Number))).toEqual(expected);
  });

  test.each([
    ['GreaterThan', 8, '>'],
    ['Equal', 1, '='],
  ] as const)('the database leaves out groups by their number of records: %s %d', async (operator, value, sign) => {
    const having = { measure: 'n', operator, value } as const;
    const sort = [{ measure: 'n', ascending: false }, { group: 0 }] as const;
    const request = { measures: { n: { count: true }, sum: { sum: 'total' } }, groups: ['customer_id'], sort } as const;
    const all = await ask({ ...request, having }).then(
      (rows) => rows.map((row) => row.map(Number)),
      ({ message }: Error) => message,
    );
    const expected = await sql(
      `select customer_id, count(*) as n, sum(total) as s from orders group by customer_id having count(*) ${sign} ${value} order by 2 desc, 1`,
    );
    expect(expected.length).toBeGreaterThan(0);
    expect(all).toEqual(expected.slice(0, 100));
  });

  test('a share needs all groups, which are too many', async () => {
    const request = { measures: { n: { count: true }, part: { share: 'n' } }, groups: ['customer_id'] } as const;
    const having = { measure: 'n', operator: 'GreaterThan', value: 8 } as const;
    await expect(ask({ ...request, having })).rejects.toThrow('more than 100000 groups');
  });

  test('groups by an inner group, whose case the database may ignore', async () => {
    const over = { groups: ['customer_id', 'city'], measures: { n: { count: true } } } as const;
    const rows = await ask({ measures: { pairs: { count: true }, mean: { avg: 'n' } }, groups: ['city'], over });
    const inner = 'select customer_id, city, count(*) as n from orders group by customer_id, city';
    const expected = await sql(`select count(*) as c, avg(n * 1.000000000000) as a from (${inner}) as g group by city`);
    const figures = rows.map(([, pairs, mean]) => [Number(pairs), Number(Number(mean).toFixed(6))]);
    expect(figures.sort()).toEqual(expected.map(([pairs, mean]) => [pairs, Number(mean!.toFixed(6))]).sort());
    const cities = dialect === 'postgres' ? ['Oslo', 'Rome', 'null', 'rome'] : ['Oslo', 'Rome', 'null'];
    expect(rows.map(([name]) => String(name)).sort()).toEqual(cities);
  });
});
