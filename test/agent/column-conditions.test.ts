// Filters of lists that name columns of the list: random conditions give the records that SQL which is written by hand gives,
// on every database and over arrays, in every order, and the same number. The rights of the caller hold.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import type { ListRequest } from '../../src/agent/requests.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { PlainColumn } from '../../src/core/filter/columns.ts';
import type { PlainFilter } from '../../src/core/filter.ts';
import { servers } from '../databases.ts';
import { askSql, runSql } from '../sql/schemas.ts';
import {
  closeSubjects,
  column,
  customers,
  list,
  number,
  ofOrders,
  ofOthers,
  open,
  openSubjects,
  orders,
  random,
  refusal,
  type Subject,
  shown,
} from './listed.ts';
import { accessOf, type Rights } from './shop.ts';

const QUESTIONS = 80;
let subjects: readonly Subject[];
beforeAll(async () => {
  subjects = await openSubjects();
});
afterAll(() => closeSubjects(subjects));

const count = ({ engine }: Subject, request: Partial<ListRequest>, rights: Rights = {}) =>
  engine.count(accessOf(rights), { collection: 'customers', ...request });

/** A condition, and the same in SQL over the columns c0, c1 ..., and over `b`, `r` and `n` for fields of the customer. */
type Condition = readonly [condition: PlainFilter, sql: string];

const signs = {
  LessThan: '<',
  LessThanOrEqual: '<=',
  GreaterThan: '>',
  GreaterThanOrEqual: '>=',
  Equal: '=',
  NotEqual: '<>',
} as const;
type Sign = keyof typeof signs;
const order: readonly Sign[] = ['LessThan', 'LessThanOrEqual', 'GreaterThan', 'GreaterThanOrEqual'];

/** About one column, whose values are `values`. */
function onColumn(name: string, values: readonly unknown[]): Condition {
  const field = name;
  const found = values.filter((value) => value !== null);
  if (found.length === 0 || random.chance(0.1))
    return random.pick<Condition>([
      [{ field, operator: 'Missing' }, `${name} is null`],
      [{ field, operator: 'Present' }, `${name} is not null`],
    ]);
  const value = random.pick(found);
  if (typeof value === 'number') {
    const isWhole = found.every(Number.isInteger);
    if (isWhole && random.chance(0.2)) {
      const list = [value, 7];
      return random.pick<Condition>([
        [{ field, operator: 'In', value: list }, `${name} in (${list.join(', ')})`],
        [{ field, operator: 'NotIn', value: list }, `(${name} not in (${list.join(', ')}) or ${name} is null)`],
      ]);
    }
    const operator = random.pick<Sign>(isWhole ? [...order, 'Equal', 'NotEqual'] : order);
    // No value of a column is equal to it, whichever way a database rounds.
    const short = Math.round(value * 10) / 10 + random.pick([0, 0.05]);
    const isNear = found.some((each) => Math.abs(Number(each) - short) < 1e-6);
    const operand = isWhole ? value : isNear || random.chance(0.4) ? value + 0.0123456 : Number(short.toFixed(2));
    const sql = `${name} ${signs[operator]} ${operand}`;
    return [{ field, operator, value: operand }, operator === 'NotEqual' ? `(${sql} or ${name} is null)` : sql];
  }
  const operator = random.pick<Sign>([...order, 'Equal', 'NotEqual']);
  const isDate = /^\d{4}-\d\d-\d\d /.test(String(value));
  const sql = `${name} ${signs[operator]} '${value}'`;
  const operand = isDate ? `${String(value).replace(' ', 'T')}Z` : value;
  return [{ field, operator, value: operand }, operator === 'NotEqual' ? `(${sql} or ${name} is null)` : sql];
}

const onField = (): Condition =>
  random.pick<Condition>([
    [{ field: 'balance', operator: 'GreaterThan', value: 40.5 }, 'b > 40.5'],
    [{ field: 'rate', operator: 'NotEqual', value: 1 }, '(r <> 1 or r is null)'],
    [{ field: 'name', operator: 'In', value: ['Ada', 'Cy'] }, "n in ('Ada', 'Cy')"],
    [{ field: 'balance', operator: 'LessThan', other: { times: ['rate', 30] } }, 'b < r * 30'],
  ]);

/** Compares two numbers of the record. */
function onTwo(name: string): Condition {
  const operator = random.pick(order);
  const sign = signs[operator];
  return random.pick<Condition>([
    [{ field: name, operator, other: 'balance' }, `${name} ${sign} b`],
    [{ field: 'rate', operator, other: name }, `r ${sign} ${name}`],
    [{ expression: { minus: [name, 'rate'] }, operator, value: 3.01234 }, `${name} - r ${sign} 3.01234`],
    [{ field: name, operator, other: { plus: ['balance', { times: [name, 2] }] } }, `${name} ${sign} b + ${name} * 2`],
  ]);
}

function conditionOn(values: readonly (readonly unknown[])[], depth = 0): Condition {
  if (depth < 2 && random.chance(depth === 0 ? 0.7 : 0.4)) {
    const parts = Array.from({ length: 1 + random.number(3) }, () => conditionOn(values, depth + 1));
    const aggregator = random.pick(['And', 'And', 'Or', 'Not'] as const);
    const conditions = parts.map(([condition]) => condition);
    const sql = parts.map(([, text]) => `coalesce(${text}, false)`).join(aggregator === 'Or' ? ' or ' : ' and ');
    return [{ aggregator, conditions }, aggregator === 'Not' ? `not (${sql})` : `(${sql})`];
  }
  const at = random.number(values.length);
  const isNumber = values[at]!.some((value) => typeof value === 'number');
  if (random.chance(0.2)) return onField();
  return isNumber && random.chance(0.35) ? onTwo(`c${at}`) : onColumn(`c${at}`, values[at]!);
}

const rounded = (value: unknown) => (typeof value === 'number' ? 'number' : value === null ? 'null' : 'other');

test('random conditions on columns give the records of SQL', { timeout: 180_000 }, async () => {
  for (let question = 0; question < QUESTIONS; question++) {
    const asked = Array.from({ length: 1 + random.number(3) }, (_, at) => {
      const [json, sql] = random.chance(0.7) ? ofOrders() : ofOthers();
      return { json: { name: `c${at}`, ...json } as PlainColumn, sql };
    });
    const fields = ['id', ...asked.map(({ json }) => json)];
    const all = (await list(subjects[0]!, { fields })).rows.map((row) => row.slice(1).map(shown));
    const values = asked.map((_, at) => all.map((row) => row[at]));
    const [filter, where] = conditionOn(values);
    let first: unknown;
    for (const subject of subjects) {
      const at = `${subject.name} ${JSON.stringify(fields)} ${JSON.stringify(filter)}`;
      const found = (await list(subject, { fields, filter })).rows.map(([id]) => id);
      if (subject.database) {
        const { dialect } = subject.database;
        const columns = asked.map(({ sql }, index) => `${exact(sql(dialect), values[index]!)} as c${index}`);
        const inner = `select c.id, ${columns.join(', ')}, c.balance as b, c.rate as r, c.name as n from customers c`;
        const statement = `select id from (${inner}) x where ${where} order by id`;
        const rank = dialect === 'mariadb' ? 't.`rank`' : 't."rank"';
        const ids = (await askSql(subject.database, statement.replaceAll('t.rank', rank))).map(({ id }) => Number(id));
        expect(found, `${at}\n${statement}`).toEqual(ids);
      } else first = found;
      expect(found, at).toEqual(first);
      expect(await count(subject, { fields, filter }), at).toBe(found.length);
      const sort = [{ field: `c${random.number(asked.length)}`, ascending: random.chance(0.5) }];
      const sorted = (await list(subject, { fields, filter, sort })).rows.map(([id]) => id);
      const whole = (await list(subject, { fields, sort })).rows.map(([id]) => id);
      expect(sorted, at).toEqual(whole.filter((id) => found.includes(id)));
    }
  }
});

/** SQLite has sums of decimals as doubles. */
const exact = (sql: string, values: readonly unknown[]): string =>
  values.some((value) => rounded(value) === 'number') ? `round(${sql}, 6)` : sql;

const counts = column('orders_count', { count: 'orders' });
const many = { field: 'orders_count', operator: 'GreaterThanOrEqual', value: 4 } as const;
const withMany = (least = 4) =>
  customers.filter(([id]) => orders.filter((each) => each[1] === id).length >= least).map(([id]) => id);

test('pages follow one another, and their cursors belong to the call', async () => {
  for (const subject of subjects) {
    const request: Partial<ListRequest> = { fields: ['id', counts], filter: many, sort: [{ field: 'name' }] };
    const all = (await list(subject, request)).rows;
    expect(
      all.map(([id]) => id).sort((a, b) => Number(a) - Number(b)),
      subject.name,
    ).toEqual(withMany());
    const pages: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await list(subject, { ...request, limit: 3, ...(cursor && { cursor }) });
      pages.push(...page.rows);
      cursor = page.hasMore ? page.cursorAfter(page.rows.length - 1) : undefined;
    } while (cursor);
    expect(pages).toEqual(all);
    expect((await list(subject, { ...request, limit: 2, skip: 3 })).rows).toEqual(all.slice(3, 5));
    const first = (await list(subject, { ...request, limit: 3 })).cursorAfter(2)!;
    for (const other of [
      { filter: { ...many, value: 3 } },
      { fields: ['id', column('orders_count', { count: 'teams' })] },
      { sort: [{ field: 'id' }] },
    ])
      expect(await refusal(subject, { ...request, ...other, cursor: first })).toMatch(/cursor/);
  }
});

test('expressions of a list may use its figures, in the columns, the filter and the sort', async () => {
  for (const subject of subjects) {
    const total = (id: unknown) =>
      orders.filter((each) => each[1] === id && each[3] !== null).reduce((sum, each) => sum + Number(each[3]) * 100, 0);
    const has = (id: unknown) => orders.some((each) => each[1] === id && each[3] !== null);
    const spent = column('spent', { sum: 'orders:total' });
    const fields = ['id', column('left', { expression: { minus: ['balance', 'spent'] } }), spent];
    const expected = customers.map(([id, , , , balance]) => {
      const left = balance === null || !has(id) ? null : Math.round(Number(balance) * 100 - total(id)) / 100;
      return [id, left];
    });
    const shownRows = (rows: readonly (readonly unknown[])[]) => rows.map(([id, left]) => [id, left === null ? null : Number(left)]); // biome-ignore format: rows
    expect(shownRows((await list(subject, { fields })).rows), subject.name).toEqual(expected);
    const known = expected.filter(([, left]) => left !== null) as [number, number][];
    const filter = { field: 'left', operator: 'LessThan', value: -100 } as const;
    expect(shownRows((await list(subject, { fields, filter })).rows)).toEqual(known.filter(([, left]) => left < -100));
    const sort = [{ field: 'left', ascending: false }];
    const present: PlainFilter = { aggregator: 'Not', conditions: [{ field: 'spent', operator: 'Missing' }] };
    const and: PlainFilter = { aggregator: 'And', conditions: [present, { field: 'balance', operator: 'Present' }] };
    const sorted = (await list(subject, { fields, filter: and, sort })).rows;
    expect(shownRows(sorted)).toEqual([...known].sort((a, b) => b[1] - a[1] || b[0] - a[0]));
    const last = column('last', { max: 'orders:placed_at' });
    const first = column('first', { min: 'orders:placed_at' });
    const days = column('days', { expression: { difference: ['first', 'last'], unit: 'day' } });
    const spans = (await list(subject, { fields: ['id', days, first, last], sort: [{ field: 'days' }] })).rows;
    const span = (id: unknown) => {
      const times = orders.filter((each) => each[1] === id && each[5]).map((each) => Date.parse(String(each[5])));
      return times.length === 0 ? null : (Math.max(...times) - Math.min(...times)) / 86_400_000;
    };
    expect(spans.map(([id, value]) => [id, value === null ? null : Number(Number(value).toFixed(6))])).toEqual(
      customers
        .map(([id]) => [id, span(id) === null ? null : Number(span(id)!.toFixed(6))])
        .sort((a, b) => Number(b[1] === null) - Number(a[1] === null) || Number(a[1]) - Number(b[1]) || Number(a[0]) - Number(b[0])), // biome-ignore format: order
    );
  }
});

/** The tables of the subject, and the number of rows of each aggregate. */
async function recorded({ name, database }: Subject): Promise<{ subject: Subject; rows: number[] }> {
  const rows: number[] = [];
  const source = createSqlSource(database!.url, { observe: () => {}, clock: systemClock });
  const engine = await open({ ...source, aggregate: async (group, options) => {
    const found = await source.aggregate!(group, options);
    rows.push(found.length);
    return found;
  } }); // biome-ignore format: a source that records
  return { subject: { name, engine }, rows };
}

const onServers = () => subjects.filter(({ database }) => database);

const spent = column('spent', { sum: 'orders:total' });
const paid = column('paid', {
  sum: { times: ['orders:total', 'orders:quantity'] },
  where: { field: 'status', operator: 'Equal', value: 'paid' },
});
const average = column('average', { avg: 'orders:total' });
const [least, last] = [column('least', { min: 'orders:total' }), column('last', { max: 'orders:placed_at' })];
const conditions: readonly PlainFilter[] = [
  many,
  { field: 'spent', operator: 'GreaterThan', other: 'balance' },
  { field: 'least', operator: 'LessThan', other: { times: ['spent', 0.1] } },
  { field: 'paid', operator: 'GreaterThanOrEqual', other: { plus: ['spent', { times: ['orders_count', 2] }] } },
  { field: 'average', operator: 'GreaterThan', value: 140.5 },
  { aggregator: 'Not', conditions: [{ field: 'average', operator: 'LessThanOrEqual', value: 99 }] },
  { field: 'last', operator: 'Before', value: '2024-11-01T00:00:00Z' },
  { aggregator: 'Or', conditions: [{ field: 'orders_count', operator: 'NotIn', value: [0, 1, 2] }, { field: 'name', operator: 'Equal', value: 'Ada' }] },
  { aggregator: 'And', conditions: [many, { field: 'least', operator: 'Present' }, { field: 'rate', operator: 'LessThan', other: 'orders_count' }] },
]; // biome-ignore format: conditions

test.each(conditions)('%j is part of the statement', async (filter) => {
  const fields = ['id', counts, spent, paid, average, least, last];
  const expected = (await list(subjects[0]!, { fields, filter })).rows.map(([id]) => id);
  for (const each of onServers()) {
    const { subject, rows } = await recorded(each);
    expect(
      (await list(subject, { fields, filter })).rows.map(([id]) => id),
      each.name,
    ).toEqual(expected);
    expect(rows[0], each.name).toBe(expected.length);
    expect(await count(subject, { fields, filter })).toBe(expected.length);
    // The total of all records is one row.
    expect(rows.at(-1), each.name).toBe(1);
    await subject.engine.close();
  }
});

test('what a database does not compare exactly is compared in the process', async () => {
  for (const each of onServers()) {
    // A sum beyond 64 bits, and one of a tenth of a cent, which is too fine for the declared decimals.
    const big = `${2n ** 62n}`;
    const isFine = each.name === 'sqlite';
    const added = [
      `insert into customers (id, balance, rate) values (901, 1, 1), (902, 1, 1)`,
      `create table sums (id int primary key, customer_id int references customers(id), whole bigint, fine decimal(12, 2))`,
      `insert into sums values (1, 901, ${big}, ${isFine ? 0.001 : 0}), (2, 901, ${big}, ${isFine ? 0.001 : 0}), (3, 902, ${big}, ${isFine ? 0.001 : 0})`,
    ];
    await runSql(each.database!, added);
    const { subject } = await recorded(each);
    const find = async (sum: string, operator: 'Equal' | 'GreaterThan', value: unknown) => {
      const filter = { field: 'figure', operator, value } as const;
      const request = { fields: ['id', column('figure', { sum: `sums:${sum}` })], filter };
      const found = (await list(subject, request)).rows;
      expect(await count(subject, request)).toBe(found.length);
      return found.map(([id]) => id);
    };
    expect(await find('whole', 'Equal', `${2n ** 63n}`), each.name).toEqual([901]);
    expect(await find('whole', 'GreaterThan', `${2n ** 63n - 1n}`), each.name).toEqual([901]);
    if (isFine) {
      expect(await find('fine', 'Equal', 0.002)).toEqual([901]);
      expect(await find('fine', 'GreaterThan', 0.0019)).toEqual([901]);
    }
    await runSql(each.database!, ['drop table sums', 'delete from customers where id > 900']);
    await subject.engine.close();
  }
});

test('more records than the process groups are counted by the database', { timeout: 60_000 }, async () => {
  const database = await servers.find(({ dialect }) => dialect === 'sqlite')!.create();
  const numbers = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 100002)';
  await runSql(database, [
    'create table people (id integer primary key, least int)',
    'create table notes (id integer primary key, person_id integer references people(id))',
    `insert into people ${numbers} select i, 1 from n`,
    `insert into notes ${numbers} select i, i from n`,
    'create index notes_people on notes (person_id)',
  ]);
  const agent = createHeadlessAgent();
  agent.addDataSource(() => createSqlSource(database.url, { observe: () => {}, clock: systemClock }));
  const limits = { pageSizeLimit: 100, queryTimeoutMs: 20_000 };
  const engine = await agent.createEngine({ observe: () => {}, clock: systemClock, limits });
  const fields = [column('notes_count', { count: 'notes' })];
  const counted = (filter: PlainFilter) => engine.count(accessOf({}), { collection: 'people', fields, filter });
  expect(await counted({ field: 'notes_count', operator: 'GreaterThan', value: 0 })).toBe(100_002);
  expect(await counted({ field: 'notes_count', operator: 'GreaterThanOrEqual', other: 'least' })).toBe(100_002);
  await engine.close();
  await database.drop();
});

test('only records and related records that the caller may see count', async () => {
  const scopes = { orders: { field: 'status', operator: 'Equal', value: 'paid' } } as const;
  const own = { customers: { field: 'id', operator: 'LessThan', value: 9 } } as const;
  for (const subject of subjects) {
    const request = { fields: ['id', counts], filter: { ...many, value: 2 } };
    const paid = customers
      .map(([id]) => id)
      .filter((id) => orders.filter((each) => each[1] === id && each[2] === 'paid').length >= 2);
    expect(
      (await list(subject, request, { scopes })).rows.map(([id]) => id),
      subject.name,
    ).toEqual(paid);
    expect(await count(subject, request, { scopes })).toBe(paid.length);
    expect((await list(subject, request, { scopes: own })).rows.map(([id]) => id)).toEqual(
      withMany(2).filter((id) => Number(id) < 9),
    );
    expect(await refusal(subject, request, { hidden: ['orders.customer_id'] })).toMatch("no field 'orders'");
    const two = { fields: [counts], filter: { ...many, operator: 'LessThan', other: 'rate', value: undefined } };
    const filter = { field: 'orders_count', operator: 'LessThan', other: 'rate' } as const;
    expect(await refusal(subject, { ...two, filter }, { hidden: ['customers.rate'] })).toMatch("no field 'rate'");
    // The name of a hidden field means the column of the caller.
    const nick = { fields: ['id', column('nick', { count: 'orders' })], filter: { ...many, field: 'nick' } };
    expect((await list(subject, nick, { hidden: ['customers.nick'] })).rows.map(([id]) => id)).toEqual(withMany());
  }
});

test('an empty text of an expression is not present, and not missing', async () => {
  const agent = createHeadlessAgent();
  const text = (name: string) => ({ name, type: 'String' as const, nullable: true });
  agent.addDataSource(() =>
    createMemorySource('one', [
      { name: 'notes', columns: [number('id', false), text('a'), text('b')], primaryKey: ['id'], rows: [[1, null, 'x'], [2, null, ''], [3, null, null], [4, '', 'x']] },
    ]),
  ); // biome-ignore format: rows
  const limits = { pageSizeLimit: 100, queryTimeoutMs: 20_000 };
  const engine = await agent.createEngine({ observe: () => {}, clock: systemClock, limits });
  const fields = ['id', column('text', { expression: { coalesce: ['a', 'b'] } })];
  const ids = async (operator: 'Present' | 'Missing') => {
    const request = { collection: 'notes', fields, filter: { field: 'text', operator } } as const;
    return (await list({ name: 'one', engine }, request)).rows.map(([id]) => id);
  };
  expect(await ids('Present')).toEqual([1]);
  expect(await ids('Missing')).toEqual([3]);
  await engine.close();
});

test('what cannot be decided is refused with what to send', async () => {
  for (const subject of subjects) {
    const refuse = (filter: unknown, more: Partial<ListRequest> = {}) =>
      refusal(subject, { fields: ['id', counts], filter: filter as PlainFilter, ...more });
    const or = (...conditions: unknown[]) => ({ aggregator: 'Or', conditions });
    expect(await refuse(or(many, { some: 'teams' }))).toMatch('are combined with And, not with Or or Not');
    expect(await refuse({ ...many, operator: 'Contains', value: 'x' })).toMatch('a figure takes Equal, NotEqual');
    expect(await refuse({ ...many, value: 'many' })).toMatch('orders_count GreaterThanOrEqual');
    expect(await refuse({ field: 'orders_count', operator: 'LessThan', other: 'name' })).toMatch(
      /compares? two values of one type/,
    );
    expect(await refuse({ field: 'orders_counts', operator: 'Equal', value: 1 })).toMatch("no field 'orders_counts'");
    expect(await refuse({ some: 'orders', where: many })).toMatch("no field 'orders_count'");
    const net = column('net', { expression: { plus: ['balance', 1] } });
    expect(await refuse({ field: 'net', operator: 'Contains', value: '1' }, { fields: [net] })).toMatch(
      'Contains does not compare two values',
    );
    const double = column('double', { sum: 'orders:double' });
    expect(await refuse({ ...many, field: 'double' }, { fields: [double] })).toMatch(
      "fields.double: 'double' uses a field that the database cannot evaluate, so a list cannot be sorted or filtered",
    );
    const visited = column('n', { count: 'visited' });
    expect(await refuse({ ...many, field: 'n' }, { fields: [visited] })).toMatch('pairs of records may repeat');
  }
});

test('a malformed, deep or long filter is refused as in a list without columns', async () => {
  const deep = (depth: number): unknown => {
    let filter: unknown = many;
    for (let at = 0; at < depth; at++) filter = { aggregator: 'Not', conditions: [filter] };
    return filter;
  };
  const [subject] = subjects as [Subject];
  const refuse = (filter: unknown, fields: ListRequest['fields']) =>
    refusal(subject, { fields: fields!, filter: filter as PlainFilter });
  for (const filter of [
    { aggregator: 'And' },
    { aggregator: 'Or', conditions: 'x' },
    { aggregator: 'And', conditions: [null, many] },
    { aggregator: 'Not', conditions: [5] },
    'orders_count > 3',
    deep(40),
    deep(5000),
  ]) {
    const expected = await refuse(filter, ['id']);
    expect(expected).toMatch(/^filter: expected/);
    expect(await refuse(filter, ['id', counts])).toBe(expected);
    await expect(count(subject, { fields: [counts], filter: filter as PlainFilter })).rejects.toThrow(expected);
  }
  const long = { aggregator: 'Or', conditions: Array.from({ length: 501 }, () => many) };
  expect(await refuse(long, ['id', counts])).toBe('filter: at most 500 conditions; use In for many values.');
});

test('a list without a key, and one whose aggregates code checks, take no conditions on figures', async () => {
  const agent = createHeadlessAgent();
  agent.addDataSource(() =>
    createMemorySource('one', [
      { name: 'shops', columns: [number('id', false)], primaryKey: ['id'], rows: [[1], [2]] },
      { name: 'places', columns: [number('shop_id')], rows: [[1]] },
      { name: 'sales', columns: [number('id', false), number('shop_id')], primaryKey: ['id'], rows: [[1, 1]] },
    ]),
  );
  agent.customizeCollection('shops', (each) => each.addOneToManyRelation('sales', 'sales', { originKey: 'shop_id' }));
  agent.customizeCollection('places', (each) => each.addManyToOneRelation('shop', 'shops', { foreignKey: 'shop_id' }));
  agent.customizeCollection('sales', (each) =>
    each
      .addManyToOneRelation('shop', 'shops', { foreignKey: 'shop_id' })
      .addHook('Before', 'Aggregate', () => undefined),
  );
  const limits = { pageSizeLimit: 100, queryTimeoutMs: 20_000 };
  const engine = await agent.createEngine({ observe: () => {}, clock: systemClock, limits });
  const subject: Subject = { name: 'one', engine };
  const filter = { field: 'n', operator: 'GreaterThan', value: 0 } as const;
  expect(await refusal(subject, { collection: 'shops', fields: [column('n', { count: 'sales' })], filter })).toMatch(
    /code of the operator checks aggregates of 'sales'/,
  );
  // Code checks counts too.
  const sold = { collection: 'sales', fields: [column('n', { count: 'shop:sales' })], filter };
  await expect(count(subject, sold)).rejects.toThrow("code that checks aggregates of 'sales' cannot check conditions");
  const places = { collection: 'places', fields: [column('n', { count: 'shop:sales' })], filter };
  expect(await refusal(subject, places)).toMatch("'places' has no key");
  await engine.close();
});

test('groups with a condition on their number are paged alike where code computes a figure', async () => {
  const statuses = ['late', 'open', 'paid'];
  const of = (status: string) => orders.filter((each) => each[2] === status);
  const least = Math.min(...statuses.map((status) => of(status).length)) + 1;
  const expected = statuses.filter((status) => of(status).length >= least);
  const sum = (status: string) => of(status).reduce((total, each) => total + 2 * Number(each[4]), 0);
  for (const { name, engine } of subjects) {
    const ask = (limit: number) =>
      engine.aggregate(accessOf(), {
        collection: 'orders',
        measures: { n: { count: true }, double: { sum: 'double' } },
        groups: ['status'],
        filter: { field: 'status', operator: 'Present' },
        having: { measure: 'n', operator: 'GreaterThanOrEqual', value: least },
        sort: [{ group: 0 }],
        limit,
      });
    const rows = expected.map((status) => [status, of(status).length, sum(status)]);
    expect((await ask(10)).rows, name).toEqual(rows);
    const first = await ask(1);
    expect([first.rows, first.hasMore]).toEqual([rows.slice(0, 1), rows.length > 1]);
  }
});

test('a condition on the number of all records decides about their only row', async () => {
  for (const { name, engine } of subjects)
    for (const [value, rows] of [
      [orders.length, [[orders.length]]],
      [orders.length + 1, []],
    ] as const) {
      const having = { measure: 'n', operator: 'GreaterThanOrEqual', value } as const;
      const request = { collection: 'orders', measures: { n: { count: true } }, having, limit: 5 } as const;
      expect((await engine.aggregate(accessOf(), request)).rows, name).toEqual(rows);
    }
});
