// Filters that compare two values of a record: the same records as SQL that is written by hand, on every database.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import { createEngine, type Engine } from '../../src/agent/engine.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { PlainFilter } from '../../src/core/filter.ts';
import { type Dialect, servers, type TestDatabase } from '../databases.ts';
import { askSql, runSql } from '../sql/schemas.ts';
import { accessOf, type Rights } from './shop.ts';

const types = {
  sqlite: { text: 'text', folded: 'text collate nocase', time: 'datetime', flag: 'boolean' },
  mariadb: { text: 'varchar(40) collate utf8mb4_bin', folded: 'varchar(40)', time: 'datetime(6)', flag: 'tinyint(1)' },
  postgres: { text: 'text collate "C"', folded: 'text collate "C"', time: 'timestamptz', flag: 'boolean' },
} satisfies Record<Dialect, Record<string, string>>;

/** Texts of two collations that the database does not compare with one another. */
const others = {
  sqlite: ['text', 'text'],
  mariadb: ['varchar(9) collate utf8mb4_general_ci', 'varchar(9) collate utf8mb4_unicode_ci'],
  postgres: ['text collate "C"', 'text collate "POSIX"'],
} as const;

function schema(dialect: Dialect): string[] {
  const { text, folded, time, flag } = types[dialect];
  const [yes, no] = dialect === 'postgres' ? ['true', 'false'] : ['1', '0'];
  const zone = dialect === 'postgres' ? '+00' : '';
  return [
    `create table places (id int primary key, city ${text}, most decimal(12, 2), opened date)`,
    `create table items (id int primary key, place_id int references places(id), price decimal(12, 2), cost decimal(14, 4),
      quantity int, city ${text}, label ${folded}, shipped_at ${time}, required_at ${time}, epoch_at ${dialect === 'sqlite' ? 'datetime' : time},
      sent date, due date, flag ${flag}, expected ${flag}, rating double precision, document ${dialect === 'postgres' ? 'jsonb' : 'json'})`,
    `create table words (id int primary key, one ${others[dialect][0]}, two ${others[dialect][1]})`,
    "insert into words values (1, 'a', 'a')",
    'create table numbers (id int primary key, n int)',
    `insert into numbers values ${Array.from({ length: 8000 }, (_, at) => `(${at + 1}, ${at % 5 === 0 ? 'null' : at - 4000})`)}`,
    'create table parts (id int primary key, item_id int references items(id), paid decimal(12, 2), listed decimal(12, 2))',
    "insert into places values (1, 'Oslo', 10.10, '2024-02-01'), (2, 'Lyon', null, '2024-03-01'), (3, null, 5, null)",
    `insert into items values
      (1, 1, 10.10, 10.1, 3, 'Oslo', 'oslo', '2024-03-31 00:30:00.000${zone}', '2024-03-31 01:30:00.000${zone}', ${stamp(dialect, '2024-03-31 00:30:00.000')}, '2024-03-01', '2024-03-02', ${yes}, ${yes}, 0.1, '{}'),
      (2, 1, 20.55, 10.5501, 10, 'Lyon', 'Lyon', '2024-04-02 00:00:00.001${zone}', '2024-04-02 00:00:00.000${zone}', ${stamp(dialect, '2024-04-01 00:00:00.001')}, '2024-03-05', '2024-03-05', ${no}, ${yes}, 10.5501, null),
      (3, 2, 0.30, 0.1, 0, 'Lyon', 'LYON', null, '2024-04-02 00:00:00.000${zone}', null, null, '2024-03-02', null, ${no}, 0, null),
      (4, null, null, 3, 7, null, null, '2024-04-02 00:00:00.000${zone}', null, ${stamp(dialect, '2024-04-02 00:00:00.000')}, '2024-03-09', '2024-03-01', ${yes}, null, 7, null),
      (5, 3, -4.25, -4.2500, -2, 'b', 'B', '2024-05-01 12:00:00.000${zone}', '2024-05-01 12:00:00.000${zone}', ${stamp(dialect, '2024-05-01 12:00:00.000')}, '2024-02-29', '2024-02-29', ${no}, ${no}, null, null)`,
    'insert into parts values (1, 1, 5, 6), (2, 1, 6, 6), (3, 2, 9, 8), (4, 3, null, 1), (5, 4, 2, 3)',
  ];
}

/** SQLite: milliseconds since 1970, another form than the other columns. */
function stamp(dialect: Dialect, time: string): string {
  if (dialect === 'sqlite') return String(Date.parse(`${time.replace(' ', 'T')}Z`));
  return `'${time}${dialect === 'postgres' ? '+00' : ''}'`;
}

const days: Record<Dialect, string> = {
  sqlite: 'julianday(required_at) - julianday(shipped_at)',
  mariadb: 'timestampdiff(microsecond, shipped_at, required_at) / 86400000000.0',
  postgres: 'extract(epoch from required_at - shipped_at) / 86400',
};

const place = 'left join places p on p.id = i.place_id';
/** A filter, and the WHERE clause that a person would write for it. */
const cases: readonly (readonly [filter: unknown, where: string | ((dialect: Dialect) => string)])[] = [
  [{ field: 'price', operator: 'Equal', other: 'cost' }, 'i.price = i.cost'],
  [{ field: 'price', operator: 'NotEqual', other: 'cost' }, '(i.price = i.cost) is not true'],
  [{ field: 'price', operator: 'GreaterThan', other: 'cost' }, 'i.price > i.cost'],
  [{ field: 'price', operator: 'GreaterThanOrEqual', other: 'quantity' }, 'i.price >= i.quantity'],
  [{ field: 'price', operator: 'LessThanOrEqual', other: 'place:most' }, 'i.price <= p.most'],
  [{ field: 'cost', operator: 'LessThan', other: 'rating' }, 'i.cost < i.rating'],
  [{ field: 'rating', operator: 'Equal', other: 'cost' }, 'abs(i.rating - i.cost) < 0.0000001'],
  [{ field: 'place:most', operator: 'LessThan', other: 'price' }, 'p.most < i.price'],
  [{ field: 'city', operator: 'Equal', other: 'place:city' }, 'i.city = p.city'],
  [{ field: 'city', operator: 'NotEqual', other: 'place:city' }, '(i.city = p.city) is not true'],
  [{ field: 'city', operator: 'LessThan', other: 'place:city' }, 'i.city < p.city'],
  [{ field: 'flag', operator: 'Equal', other: 'expected' }, 'i.flag = i.expected'],
  [{ field: 'flag', operator: 'NotEqual', other: 'expected' }, '(i.flag = i.expected) is not true'],
  [{ field: 'shipped_at', operator: 'After', other: 'required_at' }, 'i.shipped_at > i.required_at'],
  [{ field: 'shipped_at', operator: 'Before', other: 'required_at' }, 'i.shipped_at < i.required_at'],
  [{ field: 'shipped_at', operator: 'Equal', other: 'required_at' }, 'i.shipped_at = i.required_at'],
  [{ field: 'epoch_at', operator: 'Equal', other: 'shipped_at' }, 'i.id in (1, 4, 5)'],
  [{ field: 'epoch_at', operator: 'LessThan', other: 'shipped_at' }, 'i.id = 2'],
  [{ field: 'shipped_at', operator: 'LessThanOrEqual', other: 'epoch_at' }, 'i.id in (1, 4, 5)'],
  [{ field: 'sent', operator: 'After', other: 'due' }, 'i.sent > i.due'],
  [{ field: 'sent', operator: 'GreaterThanOrEqual', other: 'place:opened' }, 'i.sent >= p.opened'],
  [{ expression: { minus: ['price', 'cost'] }, operator: 'LessThan', value: 10 }, 'i.price - i.cost < 10'],
  [{ expression: { minus: ['price', 'cost'] }, operator: 'Equal', value: '9.9999' }, 'i.price - i.cost = 9.9999'],
  [{ expression: { times: ['quantity', 'price'] }, operator: 'GreaterThan', other: { plus: ['cost', 'place:most'] } }, 'i.quantity * i.price > i.cost + p.most'],
  [{ expression: { dividedBy: ['price', 'quantity'] }, operator: 'NotEqual', value: 2.055 }, '(round(i.price * 1.00000 / nullif(i.quantity, 0), 6) = 2.055) is not true'],
  [{ expression: { coalesce: ['price', 0] }, operator: 'Equal', value: 0 }, 'coalesce(i.price, 0) = 0'],
  [{ expression: { coalesce: ['place:city', 'city'] }, operator: 'Equal', value: 'Oslo' }, "coalesce(p.city, i.city) = 'Oslo'"],
  [{ expression: { coalesce: ['city', { value: 'none' }] }, operator: 'Equal', other: 'city' }, "coalesce(i.city, 'none') = i.city"],
  [{ expression: { difference: ['shipped_at', 'required_at'], unit: 'day' }, operator: 'GreaterThan', value: 0.01 }, (dialect) => `${days[dialect]} > 0.01`],
  [{ expression: 'price', operator: 'LessThan', value: 1 }, 'i.price < 1'],
  [{ some: 'parts', where: { field: 'paid', operator: 'LessThan', other: 'listed' } }, 'exists (select 1 from parts l where l.item_id = i.id and l.paid < l.listed)'],
  [{ none: 'parts', where: { field: 'paid', operator: 'LessThan', other: 'listed' } }, 'not exists (select 1 from parts l where l.item_id = i.id and l.paid < l.listed)'],
  [{ every: 'parts', where: { field: 'paid', operator: 'LessThan', other: 'listed' } }, 'not exists (select 1 from parts l where l.item_id = i.id and (l.paid < l.listed) is not true)'],
  [{ some: 'parts', where: { field: 'paid', operator: 'LessThan', other: 'item:price' } }, 'exists (select 1 from parts l where l.item_id = i.id and l.paid < i.price)'],
  [{ some: 'place', where: { field: 'most', operator: 'GreaterThan', other: 'id' } }, 'p.most > p.id'],
  [{ aggregator: 'Not', conditions: [{ field: 'price', operator: 'GreaterThan', other: 'cost' }] }, '(i.price > i.cost) is not true'],
  [{ aggregator: 'Or', conditions: [{ field: 'price', operator: 'GreaterThan', other: 'cost' }, { field: 'sent', operator: 'Before', other: 'due' }] }, '(i.price > i.cost or i.sent < i.due)'],
]; // biome-ignore format: a case a line

describe.each(servers)('$dialect', (server) => {
  let database: TestDatabase;
  let engine: Engine;
  beforeAll(async () => {
    database = await server.create();
    await runSql(database, schema(server.dialect));
    const agent = createHeadlessAgent();
    agent.addDataSource(() => createSqlSource(database.url, { observe: () => undefined, clock: systemClock }));
    agent.customizeCollection('items', (items) =>
      items
        .addField('margin', {
          columnType: 'Number',
          dependencies: ['price', 'cost'],
          getValues: (records) =>
            records.map(({ price, cost }) => (price === null || cost === null ? null : Number(price) - Number(cost))),
        })
        .emulateFieldFiltering('margin')
        .addField('unfiltered', {
          columnType: 'Number',
          dependencies: ['price'],
          getValues: (records) => records.map(({ price }) => price),
        })
        .addSegment('late', { field: 'shipped_at', operator: 'After', other: 'required_at' })
        .addSegment('dear', () => ({ expression: { minus: ['price', 'cost'] }, operator: 'GreaterThan', value: 5 })),
    );
    agent.customizeCollection('numbers', (numbers) =>
      numbers
        .addField('twice', {
          columnType: 'Number',
          dependencies: ['n'],
          getValues: (records) => records.map(({ n }) => (n === null ? null : 2 * Number(n))),
        })
        .emulateFieldFiltering('twice'),
    );
    const limits = { pageSizeLimit: 100, queryTimeoutMs: 20_000 };
    engine = await agent.createEngine({ observe: () => {}, clock: systemClock, limits });
  });
  afterAll(async () => {
    await engine.close();
    await database.drop();
  });

  const ids = async (filter: unknown, rights: Rights = {}, more: object = {}) => {
    const request = { collection: 'items', fields: ['id'], filter: filter as PlainFilter, limit: 50, ...more };
    return (await engine.list(accessOf(rights), request)).rows.flat();
  };
  const refusal = async (filter: unknown, rights?: Rights) =>
    ids(filter, rights).then(
      (found) => `answered ${found}`,
      (error: Error) => error.message,
    );

  test.each(cases)('%j', async (filter, where) => {
    const clause = typeof where === 'string' ? where : where(server.dialect);
    const byHand = await askSql(database, `select i.id from items i ${place} where ${clause} order by i.id`);
    expect(await ids(filter)).toEqual(byHand.map(({ id }) => Number(id)));
  });

  test('comparisons work in segments, row scopes and conditions of measures', async () => {
    expect(await ids(null, {}, { segment: 'late' })).toEqual([2]);
    expect(await ids(null, {}, { segment: 'dear' })).toEqual([2]);
    const scope = { field: 'price', operator: 'GreaterThan', other: 'cost' } as const;
    expect(await ids(null, { scopes: { items: scope } })).toEqual([2, 3]);
    const measures = {
      late: { count: true, where: { field: 'shipped_at', operator: 'After', other: 'required_at' } },
      even: { sum: 'quantity', where: { expression: { minus: ['price', 'cost'] }, operator: 'Equal', value: 0 } },
    } as const;
    const { rows } = await engine.aggregate(accessOf(), { collection: 'items', measures, limit: 5 });
    expect(rows).toEqual([[1, 1]]);
  });

  test('a related row that the row scope hides counts as missing', async () => {
    const scopes = { places: { field: 'id', operator: 'NotEqual', value: 1 } } as const;
    const less = { field: 'price', operator: 'LessThanOrEqual', other: 'place:most' };
    expect([await ids(less), await ids(less, { scopes })]).toEqual([[1, 5], [5]]);
  });

  test('fields that code computes are compared after reading', async () => {
    expect(await ids({ field: 'margin', operator: 'LessThan', other: 'quantity' })).toEqual([1, 2]);
    expect(await ids({ expression: { abs: 'margin' }, operator: 'LessThan', value: 0.5 })).toEqual([1, 3, 5]);
    const either = { aggregator: 'Or', conditions: [{ field: 'margin', operator: 'Equal', other: 'quantity' }, { field: 'sent', operator: 'After', other: 'due' }] }; // biome-ignore format: one filter
    expect(await ids(either)).toEqual([4]);
    expect(await ids({ some: 'place', where: { some: 'items', where: { field: 'margin', operator: 'GreaterThan', other: 'rating' } } })).toEqual([3]); // biome-ignore format: one filter
  });

  test('many computed values are compared correctly', async () => {
    const filter = { expression: { plus: ['twice', 1] }, operator: 'GreaterThan', other: 'n' } as const;
    const [{ n } = { n: 0 }] = await askSql(database, 'select count(*) as n from numbers where 2 * n + 1 > n');
    expect(await engine.count(accessOf(), { collection: 'numbers', filter })).toBe(Number(n));
    expect(Number(n)).toBeGreaterThan(3000);
  });

  test('texts of different collations are refused', async () => {
    const filter = { field: 'one', operator: 'LessThanOrEqual', other: 'two' } as const;
    const found = engine.list(accessOf(), { collection: 'words', fields: ['id'], filter, limit: 5 });
    if (server.dialect === 'sqlite') expect((await found).rows).toEqual([[1]]);
    else await expect(found).rejects.toThrow('compares texts of different collations');
  });

  test('pages continue with a cursor, and only with the same comparison', async () => {
    const filter = { field: 'price', operator: 'NotEqual', other: 'place:most' } as const;
    const request = { collection: 'items', fields: ['id'], filter, limit: 2 };
    const first = await engine.list(accessOf(), request);
    const cursor = first.cursorAfter(1)!;
    const next = await engine.list(accessOf(), { ...request, cursor });
    expect([first.rows, next.rows]).toEqual([
      [[2], [3]],
      [[4], [5]],
    ]);
    const other = { ...filter, other: 'cost' };
    await expect(engine.list(accessOf(), { ...request, filter: other, cursor })).rejects.toMatchObject({
      code: 'INVALID_CURSOR',
    });
  });

  test('an invalid comparison is refused with what to send', async () => {
    const other = (field: string, name: unknown, operator = 'Equal') => ({ field, operator, other: name });
    const expected: readonly (readonly [unknown, string])[] = [
      [other('price', 'city'), "two values of one type, but 'price' is Number and 'city' is String"],
      [other('shipped_at', 'sent'), "'shipped_at' is Date and 'sent' is Dateonly"],
      [other('document', 'document'), "'document' is Json, which cannot be compared"],
      [other('flag', 'expected', 'LessThan'), 'Equal and NotEqual only'],
      [other('price', 'cost', 'Before'), 'Before compares dates'],
      [other('price', 'cost', 'In'), 'In does not compare two values. Usable: Equal, NotEqual, LessThan'],
      [other('price', 'parts:paid'), '{"some":"parts","where":'],
      [other('parts:paid', 'parts:listed', 'LessThan'), '{"some":"parts","where":{"field":"paid","operator":"LessThan","other":"listed"}}'],
      [{ field: 'price', operator: 'Equal', other: 'cost', value: 3 }, 'other or value'],
      [{ field: 'price', expression: 'price', operator: 'Equal', other: 'cost' }, 'field or expression'],
      [{ expression: { minus: ['price', 'cost'] }, operator: 'Equal' }, 'other or value'],
      [{ expression: { minus: ['price', 'cost'] }, operator: 'Equal', value: null }, '{"value":"text"} or {"value":5}'],
      [{ expression: { minus: ['price', 'cost'] }, operator: 'Equal', value: 'x' }, 'one type'],
      [{ expression: { minus: ['price', 'city'] }, operator: 'Equal', value: 1 }, 'minus takes Numbers'],
      [{ expression: { value: 'x' }, operator: 'Equal', other: 'city' }, 'the constant of a comparison is its value'],
      [other('price', 'unfiltered'), "'Equal' cannot be used on 'unfiltered' of 'items'"],
      [{ expression: { abs: 'unfiltered' }, operator: 'Equal', value: 1 }, "'Equal' cannot be used on 'unfiltered' of 'items'"],
      [{ expression: { mod: ['price', 2] }, operator: 'Equal', value: 1 }, 'plus, minus, times'],
    ]; // biome-ignore format: a case a line
    for (const [filter, message] of expected) expect(await refusal(filter), JSON.stringify(filter)).toContain(message);
    if (server.dialect !== 'postgres')
      expect(await refusal(other('city', 'label'))).toContain(
        "compares 'city' (binary) and 'label' (insensitive) in different ways",
      );
  });

  test('a hidden field is refused with the message for an unknown field', async () => {
    const rights = { hidden: ['items.cost', 'places.most'] };
    const comparisons = (own: string, related: string) => [
      { field: 'price', operator: 'Equal', other: own },
      { field: own, operator: 'Equal', other: 'price' },
      { expression: { minus: ['price', own] }, operator: 'Equal', value: 1 },
      { field: 'price', operator: 'Equal', other: `place:${related}` },
    ];
    const hidden = await Promise.all(comparisons('cost', 'most').map((each) => refusal(each, rights)));
    const absent = await Promise.all(comparisons('qqqq', 'xxxx').map((each) => refusal(each, rights)));
    expect(hidden.map((each) => each.replace('cost', 'qqqq').replace('most', 'xxxx'))).toEqual(absent);
    expect(hidden[0]).toMatch(/no field 'cost'/);
  });
});

test('a custom source without comparisons is not asked to compare', async () => {
  const { compares: _, ...own } = createMemorySource('own', [
    {
      name: 'items',
      columns: [
        { name: 'id', type: 'Number' },
        { name: 'price', type: 'Number', nullable: true },
        { name: 'cost', type: 'Number', nullable: true },
      ],
      primaryKey: ['id'],
      rows: [[1, 5, 3], [2, 3, 5], [3, null, 1], [4, 4, 4]],
    },
  ]); // biome-ignore format: rows
  const asked: string[] = [];
  const source: Source = {
    ...own,
    read(select, options) {
      asked.push(JSON.stringify(select.where));
      return own.read(select, options);
    },
  };
  const limits = { pageSizeLimit: 100, queryTimeoutMs: 20_000 };
  const engine = await createEngine({ observe: () => {}, clock: systemClock, limits, sources: [source] });
  const price = { field: 'price', operator: 'GreaterThanOrEqual', other: 'cost' } as const;
  const filter = { aggregator: 'And', conditions: [price, { field: 'id', operator: 'LessThan', value: 4 }] } as const;
  const { rows } = await engine.list(accessOf(), { collection: 'items', fields: ['id'], filter, limit: 5 });
  expect([rows, await engine.count(accessOf(), { collection: 'items', filter: price })]).toEqual([[[1]], 2]);
  expect(asked.join()).toContain('LessThan');
  expect(asked.join()).not.toContain('compare');
  await engine.close();
});

test('values of another source are compared by that source or after reading', async () => {
  const number = (name: string) => ({ name, type: 'Number' as const, nullable: true });
  const orders = createMemorySource('a', [
    {
      name: 'orders',
      columns: ['id', 'customer_id', 'total'].map(number),
      primaryKey: ['id'],
      rows: [[1, 1, 50], [2, 1, 5], [3, 2, 90], [4, null, 7]],
    },
  ]); // biome-ignore format: rows
  const customers = createMemorySource('b', [
    {
      name: 'customers',
      columns: ['id', 'most', 'spent'].map(number),
      primaryKey: ['id'],
      rows: [[1, 20, 90], [2, 100, 90]],
    },
  ]); // biome-ignore format: rows
  const agent = createHeadlessAgent();
  for (const source of [orders, customers]) agent.addDataSource(() => source);
  agent.customizeCollection('orders', (each) =>
    each.addManyToOneRelation('customer', 'customers', { foreignKey: 'customer_id' }),
  );
  agent.customizeCollection('customers', (each) =>
    each.addOneToManyRelation('orders', 'orders', { originKey: 'customer_id' }),
  );
  const limits = { pageSizeLimit: 100, queryTimeoutMs: 20_000 };
  const engine = await agent.createEngine({ observe: () => {}, clock: systemClock, limits });
  const ids = async (collection: string, filter: unknown) => {
    const request = { collection, fields: ['id'], filter: filter as PlainFilter, limit: 50 };
    return (await engine.list(accessOf(), request)).rows.flat();
  };
  const there = { field: 'customer:spent', operator: 'GreaterThan', other: 'customer:most' };
  const mixed = { field: 'total', operator: 'GreaterThan', other: 'customer:most' };
  const not = (...conditions: unknown[]) => ({ aggregator: 'Not', conditions });
  expect(await ids('orders', there)).toEqual([1, 2]);
  expect(await ids('orders', not(there))).toEqual([3, 4]);
  expect(await ids('orders', { ...there, operator: 'NotEqual' })).toEqual([1, 2, 3, 4]);
  expect(await ids('orders', mixed)).toEqual([1]);
  expect(await ids('orders', not(mixed))).toEqual([2, 3, 4]);
  expect(await ids('orders', { aggregator: 'Or', conditions: [mixed, not(there)] })).toEqual([1, 3, 4]);
  expect(await ids('orders', { aggregator: 'And', conditions: [there, not(mixed)] })).toEqual([2]);
  expect(
    await ids('orders', { some: 'customer', where: { field: 'spent', operator: 'LessThan', other: 'most' } }),
  ).toEqual([3]);
  expect(await ids('customers', { some: 'orders', where: mixed })).toEqual([1]);
  expect(await ids('customers', { every: 'orders', where: mixed })).toEqual([]);
  await engine.close();
});
