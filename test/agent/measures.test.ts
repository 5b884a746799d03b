// Measures, groups and conditions on them: the same answers from rows in memory and from every database.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEngine, type Engine } from '../../src/agent/engine.ts';
import type { AggregateRequest } from '../../src/agent/requests.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { MemoryTable } from '../../src/agent/sources/memory/tables.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { type Dialect, servers, type TestDatabase } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { accessOf, type Rights } from './shop.ts';

const columns = {
  shops: { id: 'Number', city: 'String', opened: 'Dateonly' },
  sales: {
    id: 'Number', shop_id: 'Number', price: 'Number', quantity: 'Number', discount: 'Number', rating: 'Double',
    status: 'String', sold_at: 'Date', shipped_at: 'Date', due: 'Dateonly',
  },
  tags: { id: 'Number', sale_id: 'Number', label: 'String' },
} as const; // biome-ignore format: tables

const rows = {
  shops: [
    [1, 'Oslo', '2020-02-29'],
    [2, 'Lyon', '2021-01-31'],
    [3, 'Rome', null],
  ],
  sales: [
    [1, 1, 10.5, 2, 0.1, 4.5, 'paid', '2024-01-31T23:30:00.000Z', '2024-02-02T11:30:00.000Z', '2024-02-03'],
    [2, 1, 0.1, 3, null, 3, 'open', '2024-02-29T10:00:00.000Z', null, '2024-03-01'],
    [3, 2, 20.25, 1, 0.25, null, 'paid', '2024-03-31T01:30:00.000Z', '2024-03-31T02:30:00.000Z', '2024-03-31'],
    [4, 2, 3, 7, 0, 1, 'paid', '2024-03-31T22:00:00.000Z', '2025-03-31T21:59:59.000Z', null],
    [5, null, 100, 1, null, 2, null, '2023-12-31T22:59:59.500Z', '2023-12-31T21:59:59.500Z', '2024-01-01'],
    [6, 1, 7, 0, 0.5, 5, 'paid', '2024-02-05T08:00:00.000Z', '2024-02-05T08:00:00.000Z', '2024-02-05'],
  ],
  tags: [
    [1, 1, 'new'],
    [2, 1, 'gift'],
    [3, 2, 'new'],
    [4, 4, 'new'],
    [5, 4, 'new'],
    [6, 6, 'gift'],
  ],
} as const;

const types: Record<Dialect, Record<string, string>> = {
  sqlite: { String: 'text', Date: 'datetime', Dateonly: 'date', Double: 'double' },
  mariadb: { String: 'varchar(20) collate utf8mb4_bin', Date: 'datetime(6)', Dateonly: 'date', Double: 'double' },
  postgres: { String: 'text collate "C"', Date: 'timestamptz', Dateonly: 'date', Double: 'double precision' },
};
const numbers: Record<string, string> = { price: 'decimal(10, 2)', discount: 'decimal(4, 2)' };
const references: Record<string, string> = { shop_id: ' references shops(id)', sale_id: ' references sales(id)' };
const tables = ['shops', 'sales', 'tags'] as const;

const memoryTables = tables.map(
  (name): MemoryTable => ({
    name,
    columns: Object.entries(columns[name]).map(([column, type]) => ({
      name: column,
      type: type === 'Double' ? 'Number' : type,
      nullable: true,
    })),
    primaryKey: ['id'],
    ...(name === 'sales' && { foreignKeys: [{ columns: ['shop_id'], table: 'shops', targetColumns: ['id'] }] }),
    ...(name === 'tags' && { foreignKeys: [{ columns: ['sale_id'], table: 'sales', targetColumns: ['id'] }] }),
    rows: rows[name] as unknown as MemoryTable['rows'],
  }),
);

function statements(dialect: Dialect): string[] {
  const value = (each: unknown): string => {
    if (each === null) return 'null';
    if (typeof each === 'number') return String(each);
    return `'${/T.*Z$/.test(String(each)) ? String(each).replace('T', ' ').replace('Z', '') : each}'`;
  };
  return tables.flatMap((name) => [
    `create table ${name} (${Object.entries(columns[name])
      .map(([column, type]) => {
        const sql = type === 'Number' ? (numbers[column] ?? 'int') : types[dialect][type];
        return `${column} ${sql}${column === 'id' ? ' primary key' : (references[column] ?? '')}`;
      })
      .join(', ')})`,
    `insert into ${name} values ${rows[name].map((row) => `(${row.map(value).join(', ')})`).join(', ')}`,
  ]);
}

const limits = { pageSizeLimit: 1000, queryTimeoutMs: 20_000 };
const options = { observe: () => {}, clock: systemClock, limits };

const subjects = [
  { name: 'memory', open: async () => ({ source: createMemorySource('memory', memoryTables), database: undefined }) },
  ...servers.map((server) => ({
    name: server.dialect as string,
    async open() {
      const database: TestDatabase = await server.create();
      await runSql(database, statements(server.dialect));
      return { source: createSqlSource(database.url, { observe: () => {}, clock: systemClock }), database };
    },
  })),
];

describe.each(subjects)('$name', ({ name, open }) => {
  let engine: Engine;
  let database: TestDatabase | undefined;
  beforeAll(async () => {
    const opened = await open();
    database = opened.database;
    engine = await createEngine({ ...options, sources: [opened.source] });
  });
  afterAll(async () => {
    await engine.close();
    await database?.drop();
  });

  type Asked = Omit<Partial<AggregateRequest>, 'operation'>;
  const ask = (request: Asked, rights?: Rights) =>
    engine.aggregate(accessOf(rights), { collection: 'sales', limit: 50, timezone: 'UTC', ...request });
  const answer = async (request: Asked, rights?: Rights) => (await ask(request, rights)).rows;
  /** The figures of all records, by name. */
  const figures = async (measures: AggregateRequest['measures'], rights?: Rights) => {
    const { columns: names, rows: found } = await ask({ measures: measures! }, rights);
    return Object.fromEntries(names.map((each, at) => [each, found[0]![at]]));
  };
  const refusal = (request: Asked, rights?: Rights) =>
    ask(request, rights).then(
      () => 'answered',
      (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
    );

  test('several measures in one call, each with its own condition', async () => {
    const paid = { field: 'status', operator: 'Equal', value: 'paid' } as const;
    expect(
      await figures({
        all: { count: true },
        paid: { count: true, where: paid },
        shipped: { count: 'shipped_at' },
        states: { countDistinct: 'status' },
        shops: { countDistinct: 'shop:city', where: paid },
        revenue: { sum: { times: ['price', 'quantity'] } },
        'paid revenue': { sum: { times: ['price', 'quantity'] }, where: paid },
        cheapest: { min: 'price' },
        last: { max: 'sold_at' },
        'first status': { min: 'status' },
        rate: { ratio: ['paid', 'all'] },
        'in place': {
          ratio: [
            { sum: 'quantity' },
            { count: true, where: { field: 'quantity', operator: 'GreaterThan', value: 100 } },
          ],
        },
      }),
    ).toEqual({
      all: 6,
      paid: 4,
      shipped: 5,
      states: 2,
      shops: 2,
      revenue: 162.55,
      'paid revenue': 62.25,
      cheapest: 0.1,
      last: '2024-03-31T22:00:00.000Z',
      'first status': 'open',
      rate: 0.6666666667,
      'in place': null,
    });
  });

  test('expressions are exact, null with null or a division by zero, and round halves away from zero', async () => {
    const sum = (of: unknown) => ({ sum: of }) as never;
    expect(
      await figures({
        net: sum({ times: ['price', 'quantity', { minus: [1, { coalesce: ['discount', 0] }] }] }),
        'null without discount': sum({ times: ['price', { minus: [1, 'discount'] }] }),
        'by zero': { count: { dividedBy: ['price', 'quantity'] } },
        thirds: sum({ dividedBy: ['price', 3] }),
        negative: sum({ abs: { minus: ['quantity', 5] } }),
        rounded: sum({ round: { times: ['price', -1] } }),
        half: { min: { round: { times: [{ minus: [0, 'rating'] }, 1] } } },
        constant: { max: { plus: ['id', 0.125] } },
        third: { max: { dividedBy: ['id', 3] } },
      }),
    ).toEqual({
      net: 155.3875,
      'null without discount': 31.1375,
      'by zero': 5,
      // Each row is rounded first.
      thirds: name === 'memory' ? 46.9499999999 : 46.949999999999,
      negative: 20,
      rounded: -141,
      half: -5,
      constant: 6.125,
      third: 2,
    });
  });

  test('a quotient has ten more decimals than its operands', async () => {
    const one = { field: 'id', operator: 'Equal', value: 3 } as const;
    expect(
      await answer({
        filter: one,
        measures: {
          quotient: { sum: { dividedBy: ['id', 7] } },
          money: { sum: { dividedBy: [{ times: ['discount', 1] }, 7] } },
          minus: { sum: { dividedBy: [{ minus: [0, 'id'] }, 7] } },
        },
      }),
    ).toEqual([[0.4285714286, name === 'memory' ? 0.0357142857 : 0.035714285714, -0.4285714286]]);
  });

  test('averages, medians and percentiles are interpolated over the records of the condition', async () => {
    expect(
      await answer({
        measures: {
          avg: { avg: 'quantity' },
          middle: { median: 'price' },
          p90: { percentile: ['price', 0.9] },
          p0: { percentile: ['price', 0] },
          p1: { percentile: ['quantity', 1] },
          few: { median: 'price', where: { field: 'id', operator: 'In', value: [1, 2, 4, 6] } },
          none: { median: 'price', where: { field: 'id', operator: 'GreaterThan', value: 100 } },
          of: { median: { times: ['price', 'quantity'] } },
        },
      }),
    ).toEqual([[2.3333333333, 8.75, 60.125, 0.1, 7, 5, null, 20.625]]);
    expect(
      await answer({
        groups: ['status'],
        measures: { middle: { median: 'price' }, n: { count: true } },
        sort: [{ group: 0 }],
      }),
    ).toEqual([
      [null, 100, 1],
      ['open', 0.1, 1],
      ['paid', 8.75, 4],
    ]);
  });

  test('a difference is the time between two dates in a unit', async () => {
    const days = (unit: 'day' | 'hour' | 'minute' | 'month' | 'year') =>
      ({ difference: ['sold_at', 'shipped_at'], unit }) as const;
    expect(
      await answer({
        groups: ['id'],
        measures: {
          days: { sum: days('day') },
          hours: { sum: days('hour') },
          minutes: { sum: days('minute') },
          months: { sum: days('month') },
          years: { sum: days('year') },
        },
        sort: [{ group: 'id' }],
      }),
    ).toEqual([
      [1, 1.5, 36, 2160, 0, 0],
      [2, null, null, null, null, null],
      [3, 0.0416666667, 1, 60, 0, 0],
      [4, 364.9999884259, 8759.9997222222, '525599.9833333333', 11, 0],
      [5, -0.0416666667, -1, -60, 0, 0],
      [6, 0, 0, 0, 0, 0],
    ]);
    expect(
      await figures({
        late: { max: { difference: ['shop:opened', 'due'], unit: 'day' } },
        months: { max: { difference: ['shop:opened', 'due'], unit: 'month' } },
        fixed: { min: { difference: ['due', { value: '2024-03-01' }], unit: 'day' } },
      }),
    ).toEqual({ late: 1462, months: 48, fixed: -30 });
  });

  test('calendar months are those of the timezone', async () => {
    const measures = {
      months: { sum: { difference: ['sold_at', { value: '2024-03-01T00:30:00Z' }], unit: 'month' } },
    } as const;
    const filter = { field: 'id', operator: 'Equal', value: 1 } as const;
    expect([
      await answer({ measures, filter, timezone: 'UTC' }),
      await answer({ measures, filter, timezone: 'Asia/Kolkata' }),
    ]).toEqual([[[1]], [[1]]]);
    const other = { field: 'id', operator: 'Equal', value: 3 } as const;
    const later = {
      months: { sum: { difference: ['sold_at', { value: '2024-04-30T22:30:00Z' }], unit: 'month' } },
    } as const;
    // 30 April in UTC, and 1 May in Paris.
    expect([
      await answer({ measures: later, filter: other, timezone: 'UTC' }),
      await answer({ measures: later, filter: other, timezone: 'Europe/Paris' }),
    ]).toEqual([[[0]], [[1]]]);
  });

  test('groups can be periods, parts of dates and ranges', async () => {
    const count = { n: { count: true } } as const;
    const sort = [{ group: 0 }] as const;
    expect(
      await Promise.all([
        answer({
          measures: count,
          sort,
          groups: [{ field: 'sold_at', bucket: 'Hour' }],
          filter: { field: 'id', operator: 'LessThan', value: 3 },
          timezone: 'Asia/Kolkata',
        }),
        answer({ measures: count, sort, groups: [{ field: 'sold_at', part: 'HourOfDay' }], timezone: 'Europe/Paris' }),
        answer({ measures: count, sort, groups: [{ field: 'sold_at', part: 'Weekday' }] }),
        answer({ measures: count, sort, groups: [{ field: 'due', part: 'MonthOfYear' }] }),
        answer({ measures: count, sort, groups: [{ field: 'price', ranges: [0.1, 7, '20.25'] }] }),
        answer({ measures: count, sort, groups: [{ field: 'discount', ranges: [0.1] }] }),
      ]),
    ).toEqual([
      [
        ['2024-02-01T05:00', 1],
        ['2024-02-29T15:00', 1],
      ],
      [
        [0, 2],
        [3, 1],
        [9, 1],
        [11, 1],
        [23, 1],
      ],
      [
        [1, 1],
        [3, 1],
        [4, 1],
        [7, 3],
      ],
      [
        [null, 1],
        [1, 1],
        [2, 2],
        [3, 2],
      ],
      [
        ['0.1..7', 2],
        ['7..20.25', 2],
        ['20.25..', 2],
      ],
      [
        [null, 2],
        ['..0.1', 1],
        ['0.1..', 3],
      ],
    ]);
  });

  test('having, sorts by any measure or group, and pages', async () => {
    const request = {
      groups: ['shop:city'],
      measures: { n: { count: true }, revenue: { sum: { times: ['price', 'quantity'] } }, mean: { avg: 'price' } },
    } as const;
    expect(await ask(request)).toEqual({
      columns: ['shop:city', 'n', 'revenue', 'mean'],
      rows: [
        ['Oslo', 3, 21.3, expect.closeTo(5.866666666667, 9)],
        ['Lyon', 2, 41.25, 11.625],
        [null, 1, 100, 100],
      ],
      hasMore: false,
      note: 'Groups without records are left out.',
      cursorAfter: expect.any(Function),
    });
    const cities = async (more: Asked) => (await answer({ ...request, ...more })).map(([city]) => city);
    expect([
      await cities({ sort: [{ measure: 'revenue' }] }),
      await cities({ sort: [{ measure: 'mean', ascending: false }] }),
      await cities({ sort: [{ group: 0, ascending: false }] }),
      await cities({ having: { measure: 'n', operator: 'GreaterThan', value: 1 }, sort: [{ group: 0 }] }),
      await cities({ having: { measure: 'mean', operator: 'Equal', value: 11.625 } }),
      await cities({
        having: {
          aggregator: 'Not',
          conditions: [
            {
              aggregator: 'Or',
              conditions: [
                { measure: 'revenue', operator: 'LessThan', value: '41.25' },
                { measure: 'n', operator: 'In', value: [1] },
              ],
            },
          ],
        },
      }),
    ]).toEqual([
      ['Oslo', 'Lyon', null],
      [null, 'Lyon', 'Oslo'],
      ['Oslo', 'Lyon', null],
      ['Lyon', 'Oslo'],
      ['Lyon'],
      ['Lyon'],
    ]);
    for (const sort of [[{ measure: 'revenue' }], [{ measure: 'n' }]] as const) {
      const first = await ask({ ...request, sort, limit: 2 });
      const second = await ask({ ...request, sort, limit: 2, cursor: first.cursorAfter(1)! });
      expect([first.hasMore, second.hasMore, [...first.rows, ...second.rows].map(([city]) => city)]).toEqual([
        true,
        false,
        await cities({ sort }),
      ]);
    }
  });

  test('shares and running totals are over all groups', async () => {
    expect(
      await answer({
        groups: ['shop:city', { field: 'sold_at', bucket: 'Month' }],
        measures: { n: { count: true }, part: { share: 'n' }, 'so far': { running: 'n' } },
        having: { measure: 'n', operator: 'GreaterThan', value: 0 },
        sort: [{ group: 0 }, { group: 1 }],
      }),
    ).toEqual([
      [null, '2023-12-01', 1, 0.1666666667, 1],
      ['Lyon', '2024-03-01', 2, 0.3333333333, 2],
      ['Oslo', '2024-01-01', 1, 0.1666666667, 1],
      ['Oslo', '2024-02-01', 2, 0.3333333333, 3],
    ]);
    expect(
      await answer({
        groups: ['status'],
        measures: { revenue: { sum: 'price' }, 'so far': { running: 'revenue' } },
        sort: [{ measure: 'revenue', ascending: false }],
      }),
    ).toEqual([
      [null, 100, 100],
      ['paid', 40.75, 140.75],
      ['open', 0.1, 140.85],
    ]);
    // The first measure decides the order, also a total along a date.
    expect(
      await answer({
        groups: [{ field: 'sold_at', bucket: 'Month' }],
        measures: { 'so far': { running: 'n' }, n: { count: true } },
      }),
    ).toEqual([
      ['2024-03-01', 6, 2],
      ['2024-02-01', 4, 2],
      ['2024-01-01', 2, 1],
      ['2023-12-01', 1, 1],
    ]);
  });

  test('totals and moving averages of the last groups', async () => {
    const measures = {
      n: { count: true },
      most: { max: 'quantity' },
      two: { running: 'n', last: 2 },
      average: { movingAverage: 'n', last: 2 },
      three: { movingAverage: 'most', last: 3 },
      discount: { movingAverage: { max: 'discount' }, last: 2 },
      all: { movingAverage: { sum: 'quantity' }, last: 1000 },
    } as const;
    const groups = [{ field: 'sold_at', bucket: 'Month' }] as const;
    expect(await answer({ groups, measures, sort: [{ group: 0 }] })).toEqual([
      ['2023-12-01', 1, 1, 1, 1, 1, null, 1],
      ['2024-01-01', 1, 2, 2, 1, 1.5, 0.1, 1.5],
      ['2024-02-01', 2, 3, 3, 1.5, 2, 0.3, 2],
      ['2024-03-01', 2, 7, 4, 2, 4, 0.375, 3.5],
    ]);
    // Separately for the other groups; without a date, in the order of sort.
    const moving = { n: { count: true }, average: { movingAverage: 'n', last: 2 } } as const;
    expect(
      await answer({ groups: ['shop:city', ...groups], measures: moving, sort: [{ group: 0 }, { group: 1 }] }),
    ).toEqual([
      [null, '2023-12-01', 1, 1],
      ['Lyon', '2024-03-01', 2, 2],
      ['Oslo', '2024-01-01', 1, 1],
      ['Oslo', '2024-02-01', 2, 1.5],
    ]);
    expect(await answer({ groups: ['status'], measures: moving, sort: [{ group: 0 }] })).toEqual([
      [null, 1, 1],
      ['open', 1, 1],
      ['paid', 4, 2.5],
    ]);
    const refused = (measure: object) => refusal({ groups, measures: { n: { count: true }, a: measure } as never });
    expect([
      await refused({ movingAverage: 'n' }),
      await refused({ running: 'n', last: 0 }),
      await refused({ movingAverage: { max: 'status' }, last: 2 }),
    ]).toEqual([
      'INVALID_ARGUMENT: measures.a.last: send the number of groups, at most 1000: {"movingAverage":"n","last":7}.',
      'INVALID_ARGUMENT: measures.a.last: send the number of groups, at most 1000: {"running":"n","last":7}.',
      'INVALID_ARGUMENT: measures.a.movingAverage: takes numbers.',
    ]);
  });

  test('a part of a date is a number in expressions and conditions, in the timezone of the call', async () => {
    const part = (field: string, name: string) => ({ field, part: name }) as never;
    const measures = {
      hours: { sum: part('sold_at', 'HourOfDay') },
      third: { min: { dividedBy: [part('sold_at', 'Weekday'), 3] } },
      months: { countDistinct: part('due', 'MonthOfYear') },
      late: { count: true, where: { expression: part('sold_at', 'HourOfDay'), operator: 'GreaterThan', value: 21 } },
    } as const;
    expect(await answer({ measures })).toEqual([[23 + 10 + 1 + 22 + 22 + 8, 0.3333333333, 3, 3]]);
    const [, , , late] = (await answer({ measures, timezone: 'Europe/Berlin' }))[0]!;
    expect(late).toBe(1);
    const filter = { expression: part('sold_at', 'MonthOfYear'), operator: 'Equal', value: 2 } as const;
    expect(await answer({ filter, measures: { n: { count: true } } })).toEqual([[2]]);
    expect(await refusal({ measures: { n: { sum: part('due', 'HourOfDay') } } })).toBe(
      "INVALID_ARGUMENT: measures.n.sum: 'due' is Dateonly, which has no HourOfDay.",
    );
  });

  test('arithmetic of measures is exact, and null with null, except for coalesce', async () => {
    const none = { field: 'price', operator: 'GreaterThan', value: 1000 } as const;
    expect(
      await figures({
        revenue: { sum: 'price' },
        n: { count: true },
        mean: { avg: 'price' },
        nothing: { sum: 'price', where: none },
        rest: { minus: ['revenue', 'n'] },
        all: { plus: ['revenue', 'n', 0.05] },
        'n price': { times: ['mean', 'n'] },
        percent: { times: [100, { ratio: ['n', 7] }] },
        part: { dividedBy: [{ minus: ['revenue', 'n'] }, 'n'] },
        'by zero': { dividedBy: ['n', { minus: ['n', 6] }] },
        size: { abs: { minus: ['n', 10] } },
        whole: { round: 'mean' },
        less: { minus: ['n', 'nothing'] },
        filled: { coalesce: ['nothing', 0] },
        'filled again': { coalesce: ['nothing', { max: 'price', where: none }, 'n'] },
      }),
    ).toEqual({
      revenue: 140.85,
      n: 6,
      mean: 23.475,
      nothing: null,
      rest: 134.85,
      all: 146.9,
      'n price': 140.85,
      percent: 85.7142857143,
      part: 22.475,
      'by zero': null,
      size: 4,
      whole: 23,
      less: null,
      filled: 0,
      'filled again': 6,
    });
  });

  test('a square root has ten decimals, and is null for null and below zero', async () => {
    const none = { sum: 'price', where: { field: 'price', operator: 'GreaterThan', value: 1000 } } as const;
    expect(
      await figures({
        n: { count: true },
        root: { sqrt: 'n' },
        whole: { sqrt: { plus: ['n', 19] } },
        part: { sqrt: { dividedBy: [1, 4] } },
        large: { sqrt: { times: ['n', 6] } },
        zero: { sqrt: { minus: ['n', 6] } },
        'below zero': { sqrt: { minus: ['n', 7] } },
        nothing: { sqrt: none },
        twice: { times: [{ sqrt: 2 }, { sqrt: 2 }] },
      }),
    ).toEqual({
      n: 6,
      root: 2.4494897428,
      whole: 5,
      part: 0.5,
      large: 6,
      zero: 0,
      'below zero': null,
      nothing: null,
      twice: 2,
    });
  });

  test('a computed measure can be a condition, an order and a change from the period before', async () => {
    const groups = [{ field: 'sold_at', bucket: 'Month' }] as const;
    expect(
      await answer({
        groups,
        measures: {
          n: { count: true },
          change: { minus: ['n', 'previous n'] },
          growth: { ratio: [{ minus: ['n', 'previous n'] }, 'previous n'] },
        },
        compare: { previous: 1 },
        having: { measure: 'change', operator: 'Present' },
        sort: [{ measure: 'growth', ascending: false }],
      }),
    ).toEqual([
      ['2024-02-01', 2, 1, 1, 0, 1, 0],
      ['2024-01-01', 1, 1, 0, null, 0, null],
      ['2024-03-01', 2, 2, 0, 1, 0, 1],
    ]);
  });

  test('equal figures have one rank among all groups, and null has none', async () => {
    const measures = {
      n: { count: true },
      place: { rank: 'n' },
      best: { rank: { max: 'rating' } },
      last: { rank: { max: 'shipped_at' } },
      'from below': { rank: { minus: [0, 'n'] } },
    } as const;
    expect(await answer({ groups: ['id'], measures, sort: [{ group: 0 }] })).toEqual([
      [1, 1, 1, 2, 4, 1],
      [2, 1, 1, 3, null, 1],
      [3, 1, 1, null, 2, 1],
      [4, 1, 1, 5, 1, 1],
      [5, 1, 1, 4, 5, 1],
      [6, 1, 1, 1, 3, 1],
    ]);
    const having = { measure: 'place', operator: 'LessThanOrEqual', value: 2 } as const;
    const sort = [{ measure: 'place' }, { group: 0 }];
    expect(await answer({ groups: ['shop:city'], measures, having, sort })).toEqual([
      ['Oslo', 3, 1, 1, 2, 3],
      ['Lyon', 2, 2, 3, 1, 2],
    ]);
  });

  test('ranks and shares within groups, and running totals of shares', async () => {
    const measures = {
      n: { count: true },
      place: { rank: 'n', per: ['shop:city'] },
      part: { share: 'n', per: [0] },
      whole: { share: 'n', per: [0, 1] },
      all: { share: 'n', per: [] },
      'so far': { running: { share: 'n' } },
    } as const;
    const groups = ['shop:city', 'status'];
    const sort = [{ group: 0 }, { measure: 'place' }] as const;
    expect(await answer({ groups, measures, sort })).toEqual([
      [null, null, 1, 1, 1, 1, 0.1666666667, 0.1666666667],
      ['Lyon', 'paid', 2, 1, 1, 1, 0.3333333333, 0.5],
      ['Oslo', 'paid', 2, 1, 0.6666666667, 1, 0.3333333333, 0.8333333333],
      ['Oslo', 'open', 1, 2, 0.3333333333, 1, 0.1666666667, 1],
    ]);
    const percent = { times: [{ running: { share: 'n', per: [0] } }, 100] } as const;
    expect(
      await answer({ groups, measures: { n: { count: true }, percent }, sort: [{ group: 0 }, { group: 1 }] }),
    ).toEqual([
      [null, null, 1, 100],
      ['Lyon', 'paid', 2, 200],
      ['Oslo', 'open', 1, 233.3333333333],
      ['Oslo', 'paid', 2, 300],
    ]);
    const refused = (per: unknown) =>
      refusal({ groups, measures: { n: { count: true }, a: { rank: 'n', per } } as never });
    expect([await refused([2]), await refused('city'), await refused(['price'])]).toEqual([
      'INVALID_ARGUMENT: measures.a.per: no group 2. Send its index: 0 (shop:city), 1 (status).',
      'INVALID_ARGUMENT: measures.a.per: send a list of groups: {"rank":"n","per":[0]}.',
      'INVALID_ARGUMENT: measures.a.per: no group "price". Send its index: 0 (shop:city), 1 (status).',
    ]);
  });

  test('conditions of measures use related records within their row scopes', async () => {
    const measures = {
      tagged: { count: true, where: { some: 'tags', where: { field: 'label', operator: 'Equal', value: 'new' } } },
      untagged: { sum: 'price', where: { none: 'tags' } },
      far: { count: true, where: { field: 'shop:city', operator: 'Equal', value: 'Lyon' } },
    } as const;
    expect([
      await figures(measures),
      await figures(measures, {
        scopes: {
          tags: { field: 'id', operator: 'LessThan', value: 4 },
          shops: { field: 'id', operator: 'Equal', value: 1 },
          sales: { field: 'id', operator: 'LessThan', value: 6 },
        },
      }),
    ]).toEqual([
      { tagged: 3, untagged: 120.25, far: 2 },
      { tagged: 2, untagged: 123.25, far: 0 },
    ]);
  });

  test('hidden fields do not exist in any part of a call', async () => {
    const rights = { hidden: ['sales.price', 'shops.city'] };
    const n = { n: { count: true } } as const;
    const unknown = "UNKNOWN_FIELD: 'sales' has no field 'price'. Call describeCollection for all fields.";
    expect([
      await refusal({ measures: { a: { sum: 'price' } } }, rights),
      await refusal({ measures: { a: { sum: { times: [1, { coalesce: [0, 'price'] }] } } } }, rights),
      await refusal({ measures: { a: { ratio: [{ max: 'price' }, { count: true }] } } }, rights),
      await refusal(
        { measures: { a: { count: true, where: { field: 'price', operator: 'GreaterThan', value: 1 } } } },
        rights,
      ),
      await refusal({ measures: n, groups: [{ field: 'price', ranges: [1] }] }, rights),
      await refusal({ measures: { a: { countDistinct: 'shop:city' } } }, rights),
      await refusal({ measures: n, sort: [{ measure: 'price' }] }, rights),
      await refusal({ measures: n, groups: ['id'], sort: [{ group: 'price' }] }, rights),
      await refusal({ measures: n, having: { measure: 'price', operator: 'Equal', value: 1 } }, rights),
    ]).toEqual([
      unknown,
      unknown,
      unknown,
      unknown,
      unknown,
      "UNKNOWN_FIELD: 'shops' has no field 'city'. Call describeCollection for all fields.",
      "INVALID_ARGUMENT: sort[0]: no measure 'price'. Send one of: n.",
      'INVALID_ARGUMENT: sort[0]: no group "price". Send its index: 0 (id).',
      "INVALID_ARGUMENT: having: no measure 'price'. Send one of: n.",
    ]);
  });

  test('an invalid request is refused with the form to send', async () => {
    const nested = Array.from({ length: 8 }).reduce<unknown>((of) => ({ abs: of }), 'price');
    const wide = { plus: Array.from({ length: 64 }, () => 'price') };
    const sum = (of: unknown) => refusal({ measures: { a: { sum: of } } as never });
    const forms =
      'send a field, a number, {"value":"text"} or an operation such as {"times":["price","quantity"]}: plus, minus, times, dividedBy, coalesce of two; abs, round of one; {"difference":[from,to],"unit":"day"}, {"field":"placed_at","part":"Weekday"}.';
    expect([
      await refusal({
        groups: ['status'],
        measures: { n: { count: true }, total: { running: 'n' }, part: { ratio: ['total', 'n'] } },
        sort: [{ measure: 'part' }],
      }),
      await refusal({ measures: {} }),
      await refusal({}),
      await refusal({ measures: { a: { count: true } }, operation: 'Sum', field: 'price' } as never),
      await refusal({ measures: { a: { total: 'price' } } as never }),
      await refusal({ measures: { a: { sum: 'price', avg: 'price' } } as never }),
      await sum('status'),
      await sum({ times: ['price'] }),
      await sum({ power: ['price', 2] }),
      await sum({ plus: ['price', 'status'] }),
      await sum({ minus: ['shipped_at', 'sold_at'] }),
      await sum({ difference: ['sold_at', 'due'], unit: 'day' }),
      await sum({ difference: ['sold_at', 'shipped_at'], unit: 'week' }),
      await sum(nested),
      await sum(wide),
      await refusal({ measures: { a: { percentile: ['price', 90] } } }),
      await refusal({ measures: { a: { share: 'b' }, b: { avg: 'price' } } }),
      await refusal({ measures: { a: { ratio: ['b', 'a'] }, b: { avg: 'price' } } }),
      await refusal({ measures: { a: { ratio: ['b', 'c'] }, b: { count: true } } }),
      await refusal({ measures: { a: { minus: ['b'] }, b: { count: true } } as never }),
      await refusal({ measures: { a: { minus: ['b', 1, 2] }, b: { count: true } } as never }),
      await refusal({ measures: { a: { plus: ['b', { max: 'due' }] }, b: { count: true } } }),
      await refusal({ measures: { a: { round: { minus: ['a', 1] } } } }),
      await refusal({
        groups: ['status'],
        measures: { n: { count: true }, total: { running: 'n' }, place: { rank: 'total' } },
        sort: [{ measure: 'place' }],
      }),
      await refusal({
        measures: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`m${at}`, { count: true as const }])),
      }),
      await refusal({ measures: { city: { count: true } }, groups: ['status'], sort: [{ field: 'city' }] as never }),
      await refusal({ measures: { status: { count: true } }, groups: ['status'] }),
      await refusal({
        measures: { a: { count: true } },
        having: { field: 'price', operator: 'Equal', value: 1 } as never,
      }),
      await refusal({ measures: { a: { count: true } }, having: { measure: 'a', operator: 'Contains', value: 1 } }),
      await refusal({ measures: { a: { count: true } }, groups: [{ field: 'due', bucket: 'Hour' }] }),
      await refusal({ measures: { a: { count: true } }, groups: [{ field: 'price', ranges: [1, 1] }] }),
    ]).toEqual([
      "INVALID_ARGUMENT: sort: 'part' depends on a running total, which follows this order. Sort by another measure.",
      'INVALID_ARGUMENT: measures: send at least one, by name: {"orders":{"count":true}}.',
      'INVALID_ARGUMENT: measures: send figures by name: {"orders":{"count":true},"revenue":{"sum":"total"}}.',
      'INVALID_ARGUMENT: operation: send either operation or measures. As a measure: {"sum":{"sum":"price"}}.',
      expect.stringMatching(/^INVALID_ARGUMENT: measures\.a: send \{"count":true\}, \{"sum":"price"\}, or another of/),
      expect.stringMatching(/^INVALID_ARGUMENT: measures\.a\.avg: only "sum" and "where" can be here/),
      "INVALID_ARGUMENT: measures.a.sum: Sum takes Number, but 'status' is String. Usable: id, shop_id, price, quantity, discount, rating.",
      'INVALID_ARGUMENT: measures.a.sum.times: takes a list of two: {"times":["a","b"]}.',
      `INVALID_ARGUMENT: measures.a.sum.power: ${forms}`,
      "INVALID_ARGUMENT: measures.a.sum.plus: plus takes Numbers, but 'status' is String.",
      `INVALID_ARGUMENT: measures.a.sum.minus: for the time between two dates, send {"difference":["sold_at","shipped_at"],"unit":"day"}.`,
      expect.stringMatching(
        /^INVALID_ARGUMENT: measures\.a\.sum\.difference: takes two timestamps or two days, but 'sold_at' is Date/,
      ),
      'INVALID_ARGUMENT: measures.a.sum.unit: send "minute" or "hour" or "day" or "month" or "year".',
      `INVALID_ARGUMENT: measures.a.sum.${Array(8).fill('abs').join('.')}: expressions are nested at most 8 deep.`,
      'INVALID_ARGUMENT: measures.a.sum.plus[63]: at most 64 fields, constants and operations in one expression.',
      'INVALID_ARGUMENT: measures.a.percentile[1]: send a number from 0 to 1 with at most 6 decimals: {"percentile":["price",0.9]}.',
      'INVALID_ARGUMENT: measures.a.share: takes a count or a sum: only these add up over groups.',
      "INVALID_ARGUMENT: measures.a.ratio[1]: 'a' refers to itself.",
      "INVALID_ARGUMENT: measures.a.ratio[1]: no measure 'c'. Near: a, b.",
      'INVALID_ARGUMENT: measures.a.minus: takes two measures, by name or in place, or numbers: {"minus":["paid","all"]}.',
      'INVALID_ARGUMENT: measures.a.minus: takes two measures, by name or in place, or numbers: {"minus":["paid","all"]}.',
      'INVALID_ARGUMENT: measures.a.plus[1]: takes numbers.',
      "INVALID_ARGUMENT: measures.a.round.minus[0]: 'a' refers to itself.",
      "INVALID_ARGUMENT: sort: 'place' depends on a running total, which follows this order. Sort by another measure.",
      'INVALID_ARGUMENT: measures: at most 20 measures.',
      'INVALID_ARGUMENT: sort[0]: send {"measure":"revenue","ascending":false}, or {"group":0} for the first group.',
      "INVALID_ARGUMENT: measures: 'status' is a group too: choose another name for the measure.",
      'INVALID_ARGUMENT: having: conditions on groups name a measure: {"measure":"revenue","operator":"GreaterThan","value":100}. Use filters for fields.',
      'INVALID_ARGUMENT: having: a figure takes Equal, NotEqual, LessThan, LessThanOrEqual, GreaterThan, GreaterThanOrEqual, In, NotIn, Missing and Present, not Contains.',
      "INVALID_ARGUMENT: groups: 'due' has no time, so its shortest bucket is Day.",
      'INVALID_ARGUMENT: groups: ranges are in ascending order: {"field":"price","ranges":[0,10,100]}.',
    ]);
  });
  test('a group through a to-many relation counts a record once for each of its values', async () => {
    const measures = { n: { count: true }, revenue: { sum: 'price' }, middle: { median: 'price' } } as const;
    expect(await ask({ measures, groups: ['tags:label'], sort: [{ group: 0 }] })).toEqual({
      columns: ['tags:label', 'n', 'revenue', 'middle'],
      rows: [
        [null, 2, 120.25, 60.125],
        ['gift', 2, 17.5, 8.75],
        ['new', 3, 13.6, 3],
      ],
      hasMore: false,
      note: 'Groups without records are left out. A record counts once for each value of tags:label.',
      cursorAfter: expect.any(Function),
    });
    expect(
      await Promise.all([
        answer({
          measures: { n: { count: true } },
          groups: ['tags:label', 'status'],
          sort: [{ group: 0 }, { group: 1 }],
        }),
        answer({
          measures: { n: { count: true } },
          groups: [{ field: 'tags:id', ranges: [2, 5] }],
          sort: [{ group: 0 }],
        }),
        answer({
          collection: 'shops',
          measures: { n: { count: true } },
          groups: [{ field: 'sales:sold_at', bucket: 'Month' }, 'sales:status'],
          sort: [{ group: 0 }, { group: 1 }],
        }),
        answer(
          { measures: { n: { count: true } }, groups: ['tags:label'], sort: [{ group: 0 }] },
          {
            scopes: {
              tags: { field: 'id', operator: 'LessThan', value: 3 },
              sales: { field: 'id', operator: 'LessThan', value: 3 },
            },
          },
        ),
        answer({
          measures: { n: { count: true, where: { field: 'status', operator: 'Equal', value: 'paid' } } },
          groups: ['tags:label'],
          sort: [{ group: 0 }],
        }),
      ]),
    ).toEqual([
      [
        [null, null, 1],
        [null, 'paid', 1],
        ['gift', 'paid', 2],
        ['new', 'open', 1],
        ['new', 'paid', 2],
      ],
      [
        [null, 2],
        ['..2', 1],
        ['2..5', 3],
        ['5..', 2],
      ],
      [
        [null, null, 1],
        ['2024-01-01', 'paid', 1],
        ['2024-02-01', 'open', 1],
        ['2024-02-01', 'paid', 1],
        ['2024-03-01', 'paid', 1],
      ],
      [
        [null, 1],
        ['gift', 1],
        ['new', 1],
      ],
      [
        [null, 1],
        ['gift', 2],
        ['new', 2],
      ],
    ]);
    expect([
      await refusal({ collection: 'shops', measures: { n: { count: true } }, groups: ['sales:tags:label'] }),
      await refusal({ measures: { n: { count: true } }, groups: ['tags:label'] }, { hidden: ['tags.label'] }),
      await refusal({ measures: { n: { count: true } }, groups: ['tags:label'] }, { browse: ['sales'] }),
    ]).toEqual([
      "INVALID_ARGUMENT: groups: 'sales:tags:label' leads through two to-many relations; groups follow one.",
      "UNKNOWN_FIELD: 'tags' has no field 'label'. Call describeCollection for all fields.",
      "UNKNOWN_FIELD: 'sales' has no field 'tags:label'. Call describeCollection for all fields.",
    ]);
  });

  test('top returns the first groups of each group, and compare the previous period', async () => {
    const measures = { revenue: { sum: 'price' } } as const;
    const dearest = [{ measure: 'revenue', ascending: false }] as const;
    expect(
      await Promise.all([
        answer({ measures, groups: ['shop:city', 'id'], sort: dearest, top: { n: 1, per: [0] } }),
        answer({ measures, groups: ['shop:city', 'id'], sort: dearest, top: { n: 2 } }),
        answer({
          measures: { ...measures, growth: { ratio: ['revenue', 'previous revenue'] } },
          groups: [{ field: 'sold_at', bucket: 'Month' }],
          sort: [{ group: 0 }],
          compare: { previous: 1 },
        }),
        answer({
          measures,
          groups: ['status', { field: 'sold_at', bucket: 'Quarter' }],
          sort: [{ group: 1 }, { group: 0 }],
          compare: { previous: 1 },
          having: { measure: 'previous revenue', operator: 'Present' },
        }),
      ]),
    ).toEqual([
      [
        [null, 5, 100],
        ['Lyon', 3, 20.25],
        ['Oslo', 1, 10.5],
      ],
      [
        [null, 5, 100],
        ['Lyon', 3, 20.25],
      ],
      [
        ['2023-12-01', 100, null, null, null],
        ['2024-01-01', 10.5, 100, 0.105, null],
        ['2024-02-01', 7.1, 10.5, expect.closeTo(0.6761904762, 9), 0.105],
        ['2024-03-01', 23.25, 7.1, expect.closeTo(3.2746478873, 9), expect.closeTo(0.6761904762, 9)],
      ],
      [],
    ]);
    expect([
      await refusal({ measures, groups: ['id'], top: { n: 1 } }),
      await refusal({ measures, groups: ['id'], compare: { previous: 1 } }),
      await refusal({ measures, groups: ['id'], sort: dearest, top: { n: 0 } }),
    ]).toEqual([
      'INVALID_ARGUMENT: top: takes the order of sort: send both, such as {"top":{"n":1},"sort":[{"measure":"revenue","ascending":false}]}.',
      'INVALID_ARGUMENT: compare: needs exactly one group with a bucket: {"field":"placed_at","bucket":"Month"}.',
      'INVALID_ARGUMENT: top: send {"n":3,"per":[0]}: the first 3 for each value of the first group.',
    ]);
  });

  test('includeEmpty adds periods without records, within the range of the filters', async () => {
    const measures = { n: { count: true } } as const;
    const by = (bucket: 'Month' | 'Day', field = 'sold_at') => ({
      measures,
      groups: [{ field, bucket }],
      includeEmpty: true,
      sort: [{ group: 0 }],
    });
    const between = (from: string, to: string, field = 'sold_at') =>
      ({
        aggregator: 'And',
        conditions: [
          { field, operator: 'GreaterThanOrEqual', value: from },
          { field, operator: 'LessThan', value: to },
        ],
      }) as const;
    expect(await answer({ ...by('Month'), filter: between('2022-11-15', '2023-02-01') })).toEqual([
      ['2022-11-01', 0],
      ['2022-12-01', 0],
      ['2023-01-01', 0],
    ]);
    // 2022-12-31 23:30 in UTC is January in Oslo.
    const late = { field: 'sold_at', operator: 'Equal', value: '2022-12-31T23:30:00Z' } as const;
    expect(await answer({ ...by('Month'), timezone: 'Europe/Oslo', filter: late })).toEqual([['2023-01-01', 0]]);
    expect(await answer({ ...by('Month'), filter: between('2023-12-01', '2024-02-01') })).toEqual([
      ['2023-12-01', 1],
      ['2024-01-01', 1],
    ]);
    expect(await answer({ ...by('Month'), filter: between('2024-01-01', '2024-06-01') })).toEqual([
      ['2024-01-01', 1],
      ['2024-02-01', 2],
      ['2024-03-01', 2],
      ['2024-04-01', 0],
      ['2024-05-01', 0],
    ]);
    expect(await answer({ ...by('Day', 'due'), filter: between('2023-01-30', '2023-02-02', 'due') })).toEqual([
      ['2023-01-30', 0],
      ['2023-01-31', 0],
      ['2023-02-01', 0],
    ]);
    const after = { field: 'due', operator: 'GreaterThan', value: '2023-01-30' } as const;
    const until = { field: 'due', operator: 'LessThanOrEqual', value: '2023-01-31' } as const;
    const open = { ...by('Day', 'due'), filter: { aggregator: 'And', conditions: [after, until] } as const };
    expect(await answer(open)).toEqual([['2023-01-31', 0]]);
    // A row scope says nothing about the periods that the caller asks for.
    const scopes = { sales: between('2022-01-01', '2022-03-01') };
    const scoped = await ask(by('Month'), { scopes });
    expect(scoped.rows).toEqual([]);
    const note =
      "No record matches, and the filters do not set both ends of 'sold_at', so there are no periods to show. Send GreaterThanOrEqual and LessThan for it.";
    expect(scoped.note).toBe(note);
    const half = { field: 'sold_at', operator: 'After', value: '2030-01-01' } as const;
    expect(await ask({ ...by('Month'), filter: half })).toMatchObject({ rows: [], note });
    expect((await ask({ ...by('Month'), filter: between('2022-11-15', '2023-02-01') })).note).toBeUndefined();
  });

  test('a sort by a running total along the same order is refused', async () => {
    const request = { groups: ['status'], measures: { n: { count: true }, 'so far': { running: 'n' } } } as const;
    expect(await refusal({ ...request, sort: [{ measure: 'so far' }] })).toBe(
      "INVALID_ARGUMENT: sort: 'so far' is a running total along this order, so it cannot decide the order. Sort by 'n' or by a group, or group by a date.",
    );
    const running = { 'so far': { running: { sum: 'price' } } } as const;
    expect(await refusal({ groups: ['status'], measures: running, sort: [{ measure: 'so far' }] })).toBe(
      "INVALID_ARGUMENT: sort: 'so far' is a running total along this order, so it cannot decide the order. Sort by a group, or group by a date.",
    );
    const dated = { ...request, groups: [{ field: 'sold_at', bucket: 'Month' }] } as const;
    expect((await answer({ ...dated, sort: [{ measure: 'so far', ascending: false }] })).map((row) => row[2])).toEqual([
      6, 4, 2, 1,
    ]);
  });

  test('days between a day and a timestamp work as the refusal suggests', async () => {
    const days = { sum: { difference: ['sold_at', 'due'], unit: 'day' } } as const;
    const refused = await refusal({ measures: { days } });
    const over = {
      groups: ['id', 'due', { field: 'sold_at', bucket: 'Day' }],
      measures: { n: { count: true } },
    } as const;
    expect(refused).toContain(
      '"over":{"groups":["id",{"field":"sold_at","bucket":"Day"},"due"],"measures":{"n":{"count":true}}}',
    );
    expect(refused).toContain('{"difference":["day(sold_at)","due"],"unit":"day"}');
    const measures = { days: { sum: { difference: ['day(sold_at)', 'due'], unit: 'day' } } } as const;
    expect(await answer({ measures, over })).toEqual([[3 + 1 + 0 + 1 + 0]]);
  });

  test('columns of buckets and parts are named consistently', async () => {
    const measures = { n: { count: true } } as const;
    const groups = [
      { field: 'sold_at', bucket: 'Hour' },
      { field: 'sold_at', part: 'HourOfDay' },
      { field: 'sold_at', part: 'Weekday' },
      { field: 'shop:opened', part: 'MonthOfYear' },
    ] as const;
    expect((await ask({ measures, groups })).columns).toEqual([
      'hour(sold_at)',
      'hourOfDay(sold_at)',
      'weekday(sold_at)',
      'monthOfYear(shop:opened)',
      'n',
    ]);
    const weekdays = { measures: { most: { max: 'n' } }, over: { groups: [groups[2]], measures } } as const;
    expect(await answer(weekdays)).toEqual([[3]]);
  });

  test('includeEmpty adds groups without records', async () => {
    const measures = { n: { count: true }, revenue: { sum: 'price' } } as const;
    const few = { field: 'id', operator: 'In', value: [3, 5] } as const;
    expect(
      await Promise.all([
        answer({ measures, groups: ['shop:city'], filter: few, includeEmpty: true, sort: [{ group: 0 }] }),
        answer({ measures, groups: ['status'], filter: few, includeEmpty: true, sort: [{ group: 0 }] }),
        answer({
          measures,
          groups: [{ field: 'sold_at', bucket: 'Month' }],
          filter: few,
          includeEmpty: true,
          sort: [{ group: 0 }],
        }),
        answer({
          measures,
          groups: [{ field: 'sold_at', part: 'Weekday' }],
          includeEmpty: true,
          sort: [{ group: 0 }],
          limit: 3,
        }),
        answer({ measures, groups: ['tags:label'], filter: few, includeEmpty: true, sort: [{ group: 0 }] }),
        answer(
          { measures, groups: ['shop:city'], filter: few, includeEmpty: true, sort: [{ group: 0 }] },
          { scopes: { shops: { field: 'id', operator: 'NotEqual', value: 1 } } },
        ),
        answer({
          measures,
          groups: ['shop:city'],
          includeEmpty: true,
          having: { measure: 'n', operator: 'Equal', value: 0 },
        }),
      ]),
    ).toEqual([
      [
        [null, 1, 100],
        ['Lyon', 1, 20.25],
        ['Oslo', 0, null],
        ['Rome', 0, null],
      ],
      [
        [null, 1, 100],
        ['open', 0, null],
        ['paid', 1, 20.25],
      ],
      [
        ['2023-12-01', 1, 100],
        ['2024-01-01', 0, null],
        ['2024-02-01', 0, null],
        ['2024-03-01', 1, 20.25],
      ],
      [
        [1, 1, 7],
        [2, 0, null],
        [3, 1, 10.5],
      ],
      [
        [null, 2, 120.25],
        ['gift', 0, null],
        ['new', 0, null],
      ],
      [
        [null, 1, 100],
        ['Lyon', 1, 20.25],
        ['Rome', 0, null],
      ],
      [['Rome', 0, null]],
    ]);
  });

  // The value is that of the own foreign key, but the field belongs to the other collection.
  test('includeEmpty adds a group for every related record when grouping by their key', async () => {
    const filter = { field: 'id', operator: 'In', value: [3, 5] } as const;
    const rest = { measures: { n: { count: true } }, filter, includeEmpty: true, sort: [{ group: 0 }] } as const;
    expect(await answer({ groups: ['shop:id'], ...rest })).toEqual([
      [null, 1],
      [1, 0],
      [2, 1],
      [3, 0],
    ]);
    expect(await answer({ groups: ['shop_id'], ...rest })).toEqual([
      [null, 1],
      [1, 0],
      [2, 1],
    ]);
  });

  test('over aggregates the groups of another aggregate', async () => {
    const over = { groups: ['shop:city'], measures: { n: { count: true }, revenue: { sum: 'price' } } } as const;
    expect(
      await Promise.all([
        ask({ measures: { shops: { count: true }, 'mean n': { avg: 'n' }, best: { max: 'revenue' } }, over }),
        answer({ measures: { shops: { count: true } }, groups: ['n'], over, sort: [{ group: 0 }] }),
        answer({ measures: { shops: { count: true, where: { field: 'shop:city', operator: 'Present' } } }, over }),
        answer({ measures: { shops: { count: true } }, over: { ...over, includeEmpty: true } }),
        answer({
          measures: { shops: { count: true } },
          over: { ...over, having: { measure: 'n', operator: 'GreaterThan', value: 1 } },
        }),
        answer({
          measures: { lines: { sum: 'n' } },
          over,
          filter: { field: 'status', operator: 'Equal', value: 'paid' },
        }),
        answer({
          measures: { best: { max: 'n' } },
          groups: [{ field: 'day(sold_at)', bucket: 'Quarter' }],
          over: { groups: [{ field: 'sold_at', bucket: 'Day' }], measures: { n: { count: true } } },
          sort: [{ group: 0 }],
        }),
      ]),
    ).toEqual([
      {
        columns: ['shops', 'mean n', 'best'],
        rows: [[3, 2, 100]],
        hasMore: false,
        cursorAfter: expect.any(Function),
      },
      [
        [1, 1],
        [2, 1],
        [3, 1],
      ],
      [[2]],
      [[4]],
      [[2]],
      [[4]],
      [
        ['2023-10-01', 1],
        ['2024-01-01', 2],
      ],
    ]);
    expect([
      await refusal({ measures: { a: { avg: 'price' } }, over }),
      await refusal({ measures: { a: { avg: 'n' } }, over: { ...over, measures: { n: { sum: 'status' } } } }),
      await refusal({ measures: { a: { avg: 'n' } }, over: { groups: [], measures: { n: { count: true } } } }),
      await refusal({ measures: { a: { avg: 'n' } }, over }, { hidden: ['shops.city'] }),
    ]).toEqual([
      "UNKNOWN_FIELD: 'groups of sales' has no field 'price'. Call describeCollection for all fields.",
      "INVALID_ARGUMENT: over.measures.n.sum: Sum takes Number, but 'status' is String. Usable: id, shop_id, price, quantity, discount, rating.",
      'INVALID_ARGUMENT: over: send {"groups":["customer_id"],"measures":{"orders":{"count":true}}}; having and includeEmpty may be added.',
      "UNKNOWN_FIELD: 'shops' has no field 'city'. Call describeCollection for all fields.",
    ]);
  });
});
