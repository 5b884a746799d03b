// Figures of all groups of groups: the database computes them in one statement where every digit is exact. Each answer is
// that of the process, which reads the groups when a percentile is asked for too.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEngine, type Engine } from '../../src/agent/engine.ts';
import type { AggregateRequest } from '../../src/agent/requests.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { askSql, runSql } from '../sql/schemas.ts';
import { createRandom } from './oracle/random.ts';
import { accessOf } from './shop.ts';

const seed = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);
console.log(`seed ${seed} (TEST_SEED=${seed} repeats it)`);
const random = createRandom(seed);

const amount = (): string => {
  const digits = 1 + random.number(9);
  const cents = random.number(10 ** digits);
  return `${random.chance(0.3) ? '-' : ''}${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
};
const orNull = (value: string): string => (random.chance(0.1) ? 'null' : value);
const rows = Array.from({ length: 600 }, (_, id) => {
  const customer = orNull(String(random.number(80)));
  return `(${id}, ${customer}, ${orNull(amount())}, ${orNull(String(random.number(1000) - 300))}, ${orNull(`${random.number(1000)}.125`)})`;
});
// The sum of the points is more than 64 bits hold; that of the totals, in cents, is not.
const large = Array.from({ length: 2000 }, (_, at) => `(${at}, ${at % 3}, 9000000000000.01, 9000000000000000000, 1)`);
const many = '(select a.id * 600 + b.id as n from few a cross join few b) as numbers';

describe.each(servers)('$dialect', ({ dialect, create }) => {
  let database: TestDatabase;
  let engine: Engine;
  const statements: string[] = [];
  beforeAll(async () => {
    database = await create();
    const columns = 'id int primary key, customer_id int, total decimal(15, 2), points bigint, weight double precision';
    await runSql(database, [
      `create table few (${columns})`,
      `insert into few values ${rows.join(', ')}`,
      `create table large (${columns})`,
      `insert into large values ${large.join(', ')}`,
      `create table many (${columns})`,
      `insert into many select n, n % 120000, n % 1000 + 0.25, n % 7, 0.5 from ${many} where n < 200000`,
      ...(dialect === 'sqlite'
        ? [
            "update few set total = 'unknown' where id = 5",
            'update few set points = 0.5 where id = 6',
            `create table mixed (${columns})`,
            'insert into mixed values (1, 1, 0, 9007199254740993, 0), (2, 2, 0, 0.5, 0), (3, 2, 0, 0.5, 0)',
          ]
        : []),
      ...(dialect === 'postgres'
        ? [
            `create table special (${columns.replace('(15, 2)', '')})`,
            "insert into special select id, customer_id, case id when 7 then 'NaN'::numeric when 8 then 'Infinity' else total / 7 end, points, weight from few where customer_id is not null",
          ]
        : []),
    ]);
    const source = createSqlSource(database.url, { observe: () => undefined, clock: systemClock });
    const aggregate: typeof source.aggregate = (group, options) =>
      source.aggregate!(group, { ...options, watch: (text) => statements.push(text) });
    engine = await createEngine({
      sources: [{ ...source, aggregate }],
      observe: () => undefined,
      clock: systemClock,
      limits: { pageSizeLimit: 100, queryTimeoutMs: 60_000 },
    });
  }, 60_000);
  afterAll(async () => {
    await engine.close();
    await database.drop();
  });

  const ask = (request: Omit<AggregateRequest, 'limit'>) =>
    engine.aggregate(accessOf(), { limit: 100, ...request }).then(({ rows: [row] }) => row!);
  const figures = ['sum', 'avg', 'min', 'max', 'count'] as const;
  const measuresOf = (name: string) => Object.fromEntries(figures.map((each) => [each, { [each]: name }]));

  /** The figures of the groups' sums, and whether one statement has them. */
  async function compare(
    request: Pick<AggregateRequest, 'collection' | 'over' | 'filter'>,
    name: string,
  ): Promise<boolean> {
    const measures = { groups: { count: true as const }, ...measuresOf(name) };
    statements.length = 0;
    const row = await ask({ ...request, measures });
    const isOne = statements.length === 1 && !/group by[^)]*$/.test(statements[0]!);
    const read = await ask({ ...request, measures: { ...measures, middle: { percentile: [name, 0.5] } } });
    expect(row).toEqual(read.slice(0, -1));
    return isOne;
  }

  test.each([
    ['a count', { count: true }, true],
    ['a count of different values', { countDistinct: 'points' }, true],
    ['a sum of integers', { sum: 'points' }, dialect !== 'sqlite'],
    ['a sum of decimals', { sum: 'total' }, dialect !== 'sqlite'],
    // SQLite has whole numbers of all products of some random rows, and not of others (TEST_SEED=997274814).
    ['a sum of products', { sum: { times: ['total', 'points'] } }, dialect === 'sqlite' ? undefined : true],
    ['a sum with a condition', { sum: 'total', where: { field: 'id', operator: 'GreaterThan', value: 99 } }, true],
    ['a sum of doubles', { sum: 'weight' }, false],
    ['an average', { avg: 'total' }, false],
  ] as const)('%s', async (_, measure, isOne) => {
    const over = { groups: ['customer_id'], measures: { n: measure } } as const;
    const found = await compare({ collection: 'few', over }, 'n');
    if (isOne !== undefined) expect(found).toBe(isOne);
  });

  test('a condition on the number of records', async () => {
    const having = { measure: 'n', operator: 'GreaterThan', value: 7 } as const;
    const over = { groups: ['customer_id'], measures: { n: { count: true }, sum: { sum: 'id' } }, having } as const;
    expect(await compare({ collection: 'few', over }, 'sum')).toBe(true);
    const other = { ...over, having: { measure: 'sum', operator: 'GreaterThan', value: 2000 } } as const;
    expect(await compare({ collection: 'few', over: other }, 'sum')).toBe(false);
  });

  test('figures with a condition of their own', async () => {
    const over = { groups: ['customer_id'], measures: { n: { count: true } } } as const;
    const where = { field: 'n', operator: 'GreaterThan', value: 7 } as const;
    const measures = { all: { count: true }, some: { count: true, where }, sum: { sum: 'n', where } } as const;
    const [all, some, sum] = await ask({ collection: 'few', measures, over });
    const counts = 'select count(*) as n from few group by customer_id';
    const [expected] = await askSql(database, `select count(*) as c, sum(n) as s from (${counts}) as g where n > 7`);
    expect([some, sum].map(Number)).toEqual(Object.values(expected!).map(Number));
    expect(Number(some)).toBeLessThan(Number(all));
  });

  test('sums beyond 64 bits', async () => {
    const ofTotals = { groups: ['customer_id'], measures: { n: { sum: 'total' } } } as const;
    expect(await compare({ collection: 'large', over: ofTotals }, 'n')).toBe(true);
    const over = { groups: ['customer_id'], measures: { n: { sum: 'points' } } } as const;
    expect(await compare({ collection: 'large', over }, 'n')).toBe(dialect !== 'sqlite');
  });

  test.runIf(dialect === 'sqlite')('a sum that is rounded, after one that needs 64-bit integers', async () => {
    const over = { groups: ['customer_id'], measures: { n: { sum: 'points' } } } as const;
    const measures = { sum: { sum: 'n' } } as const;
    const filter = { field: 'id', operator: 'Equal', value: 1 } as const;
    expect((await ask({ collection: 'mixed', measures, over, filter }))[0]).toBe('9007199254740993');
    expect(await compare({ collection: 'mixed', over }, 'n')).toBe(false);
    // The shape of the first call, with rows whose sum is rounded.
    const rounded = { ...filter, value: 2 };
    expect((await ask({ collection: 'mixed', measures, over, filter: rounded }))[0]).toBe(0.5);
  });

  test.runIf(dialect === 'postgres')('NaN and infinity', async () => {
    const over = { groups: ['customer_id'], measures: { n: { sum: 'total' } } } as const;
    expect(await compare({ collection: 'special', over }, 'n')).toBe(false);
    const filter = { field: 'id', operator: 'GreaterThan', value: 8 } as const;
    expect(await compare({ collection: 'special', over, filter }, 'n')).toBe(true);
  });

  test('no groups', async () => {
    const over = { groups: ['customer_id'], measures: { n: { sum: 'id' } } } as const;
    const filter = { field: 'id', operator: 'Equal', value: -1 } as const;
    const row = await ask({
      collection: 'few',
      measures: { groups: { count: true }, ...measuresOf('n') },
      over,
      filter,
    });
    expect(row).toEqual([0, null, null, null, null, 0]);
  });

  test('different sums of more than 100,000 groups', async () => {
    const over = { groups: ['customer_id'], measures: { revenue: { sum: 'total' } } } as const;
    const row = await ask({
      collection: 'many',
      measures: { groups: { count: true }, ...measuresOf('revenue') },
      over,
    });
    const [expected] = await askSql(
      database,
      `select count(*) as c, sum(s) as s, avg(s) as a, min(s) as l, max(s) as h, count(s) as n
       from (select sum(total) as s from many group by customer_id) as g`,
    );
    expect(row.map((value) => Number(Number(value).toFixed(6)))).toEqual(
      Object.values(expected!).map((value) => Number(Number(value).toFixed(6))),
    );
    expect(row[0]).toBe(120_000);
  });
});
