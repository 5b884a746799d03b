// Conditions, filters, projections and sort clauses from front ends, assistants and code.
import { describe, expect, test } from 'vitest';
import type { Agent, CustomizationContext, PlainFilter } from '../../src/index.ts';
import { serveOutside } from './outside.ts';

const tables = [
  'CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, city VARCHAR(20))',
  'CREATE TABLE orders (id INTEGER PRIMARY KEY, total REAL NOT NULL, note VARCHAR(20), customer_id INTEGER REFERENCES customers(id))',
  'CREATE TABLE order_lines (id INTEGER PRIMARY KEY, article VARCHAR(20) NOT NULL, order_id INTEGER NOT NULL REFERENCES orders(id))',
  "INSERT INTO customers VALUES (1, 'Ada', 'Paris'), (2, 'Bo', 'Rome'), (3, 'Cy', NULL)",
  "INSERT INTO orders VALUES (1, 10.5, 'blue', 1), (2, 20, NULL, 2), (3, 20, 'Rome', 2), (4, 30, '', NULL), (5, 5, 'x', 1)",
  "INSERT INTO order_lines VALUES (1, 'pen', 1), (2, 'cap', 4)",
]; // biome-ignore format: a table

const big: PlainFilter = { field: 'total', operator: 'GreaterThan', value: 15 };
const is = (id: number): PlainFilter => ({ field: 'id', operator: 'Equal', value: id });
const and = (...conditions: PlainFilter[]): PlainFilter => ({ aggregator: 'And', conditions });
const or = (...conditions: PlainFilter[]): PlainFilter => ({ aggregator: 'Or', conditions });
const all = [1, 2, 3, 4, 5];

/** The body of the chart `code`; a test sets it. */
let run: (context: Pick<CustomizationContext, 'collection' | 'timezone' | 'caller'>) => unknown;
const place = serveOutside(tables, (agent: Agent) =>
  agent
    .addChart('code', async (context, chart) => chart.smart(await run(context)))
    .customizeCollection('orders', (orders) =>
      orders
        .addSegment('dear', big)
        .addSegment('tree', or(is(1), and(big, is(3))))
        .addSegment('mine', async ({ caller }) => ({ field: 'customer_id', operator: 'Equal', value: caller.id })),
    ),
);
const code = async (given: typeof run) => {
  run = given;
  return (await place.get('/_charts/code')).body;
};
interface Asked {
  readonly filters?: PlainFilter;
  readonly search?: string;
  readonly segment?: string;
  readonly searchExtended?: true;
}
/** The ids that match over HTTP. MCP, code and the counts must agree. */
async function found(asked: Asked) {
  const { filters, searchExtended, ...others } = asked;
  const texts = { ...others, ...(searchExtended && { searchExtended: 'true' }) };
  const query = new URLSearchParams({ ...texts, ...(filters && { filters: JSON.stringify(filters) }) });
  const ids = await place.ids(`/orders?${query}`);
  const { body } = await place.get(`/orders/count?${query}`);
  const further = searchExtended && { shouldSearchInRelation: true };
  const of = { collectionName: 'orders', ...others, ...further, ...(filters && { filters }) };
  const { json } = await place.tool('list', { ...of, fields: ['id'] });
  const { json: counted } = await place.tool('aggregate', { ...of, operation: 'count' });
  const filter = { ...others, ...(searchExtended && { searchExtended }), ...(filters && { conditionTree: filters }) };
  const inside = await code(async ({ collection }) => [
    (await collection('orders').list(filter, ['id'])).map(({ id }) => id),
    await collection('orders').count(filter),
  ]);
  expect([json, body, counted, inside]).toMatchObject([
    ...[{ rows: ids.map((id) => [id]) }, { count: ids.length }],
    ...[{ rows: [[ids.length]] }, [ids, ids.length]],
  ]);
  return ids;
}

describe('conditions', () => {
  test('leaf: field, operator, value; also of a related field; null is a value', async () => {
    expect([
      await found({ filters: big }),
      await found({ filters: { field: 'total', operator: 'GreaterThan', value: 20 } }),
      await found({ filters: { field: 'customer:name', operator: 'Equal', value: 'Bo' } }),
      await found({ filters: { field: 'customer:city', operator: 'NotEqual', value: 'Rome' } }),
      await found({ filters: { field: 'note', operator: 'Equal', value: null } }),
      await found({ filters: { field: 'note', operator: 'Missing' } }),
      await found({ filters: { field: 'customer:id', operator: 'Missing' } }),
      await found({}),
    ]).toEqual([[2, 3, 4], [4], [2, 3], [1, 4, 5], [2], [2], [4], all]);
  });

  test('conditionTree: an aggregator in lower or upper case is the same, from front ends, assistants and code', async () => {
    const tree = (aggregator: string, ...conditions: PlainFilter[]) => ({ aggregator, conditions }) as PlainFilter;
    expect([
      await found({ filters: tree('and', big, is(3)) }),
      await found({ filters: tree('AND', big, tree('oR', is(1), is(3))) }),
      await found({ filters: tree('or', is(1), is(4)) }),
      await found({ filters: tree('not', big) }),
      await found({ filters: tree('NOT', tree('OR', is(1), big)) }),
    ]).toEqual([[3], [3], [1, 4], [1, 5], [5]]);
  });

  test('leaf: a wrong field, operator or value is refused with near names, and an invalid condition with the form', async () => {
    const refused = async (filter: object) => {
      const { status, body } = await place.get(`/orders?filters=${encodeURIComponent(JSON.stringify(filter))}`);
      return [status, body.errors?.[0].detail];
    };
    expect([
      await refused({ ...big, field: 'totl' }),
      await refused({ ...big, operator: 'GreaterThen' }),
      await refused({ ...big, value: 'many' }),
      await refused({ ...big, operator: 'Like' }),
      await refused({ field: 'total' }),
      await refused({ aggregator: 'Xor', conditions: [] }),
      await refused({ aggregator: 'And', conditions: big }),
      await refused({ aggregator: 'And', conditions: [big, null] }),
      await refused({ aggregator: 'Or', conditions: ['total'] }),
    ]).toEqual([
      [400, expect.stringContaining('Near: total')],
      [400, expect.stringContaining('GreaterThan')],
      [400, expect.stringMatching(/total.*number/)],
      [400, expect.stringContaining('Allowed')],
      [400, expect.any(String)],
      [400, expect.stringContaining('"aggregator"')],
      [400, expect.stringContaining('conditions')],
      [400, expect.stringContaining('at filters.conditions[1].')],
      [400, expect.stringContaining('at filters.conditions[0].')],
    ]);
  });

  test('And: all conditions hold, of one, of three and nested; an empty list matches every record', async () => {
    expect([
      await found({ filters: and(big, is(3)) }),
      await found({ filters: and(is(1), is(3)) }),
      await found({ filters: and(big) }),
      await found({ filters: and(big, { ...big, operator: 'LessThan', value: 30 }, { field: 'note', operator: 'Present' }) }),
      await found({ filters: and(or(is(1), is(3)), or(is(3), is(4))) }),
      await found({ filters: and() }),
      await found({ filters: and(and(), is(2)) }),
    ]).toEqual([[3], [], [2, 3, 4], [3], [3], all, [2]]);
  }); // biome-ignore format: short

  test('Or: one of the conditions holds, of one, of three and nested; an empty list matches no record', async () => {
    expect([
      await found({ filters: or(is(1), is(3)) }),
      await found({ filters: or(is(4)) }),
      await found({ filters: or(is(5), is(1), is(3)) }),
      await found({ filters: or(is(1), and(big, is(3))) }),
      await found({ filters: or(is(1), and()) }),
      await found({ filters: or() }),
      await found({ filters: or(or(), is(2)) }),
    ]).toEqual([[1, 3], [4], [1, 3, 5], [1, 3], all, [], [2]]);
  });
});

describe('filter', () => {
  test('conditionTree, search, segment: all of them apply together, for callers and for code', async () => {
    expect([
      await found({ filters: is(3), segment: 'dear' }),
      await found({ filters: is(1), segment: 'dear' }),
      await found({ search: '20', filters: is(3) }),
      await found({ search: 'blue', segment: 'dear' }),
      await found({ search: 'rome', searchExtended: true, segment: 'dear', filters: is(2) }),
    ]).toEqual([[3], [], [3], [], [2]]);
  });

  test('conditionTree: selects exactly the records that code changes, and an empty one is refused', async () => {
    const city = async () => (await place.list('/customers?sort=id')).map((one) => one.city);
    const outcome = await code(async ({ collection }) => {
      const customers = collection('customers');
      const none = await customers.update({}, { city: 'X' }).catch((error: Error) => error.message);
      return [none, await customers.update({ conditionTree: { field: 'name', operator: 'In', value: ['Cy', 'Di'] } }, { city: 'Oslo' })];
    });
    expect([outcome, await city()]).toEqual([
      [expect.stringContaining('send a condition for the records'), 1],
      ['Paris', 'Rome', 'Oslo'],
    ]);
    await code(({ collection }) => collection('customers').update({ conditionTree: is(3) }, { city: null }));
  }); // biome-ignore format: short

  test('search: a text is searched in the columns of the collection, in any case, numbers exactly', async () => {
    expect([
      await found({ search: 'ROM' }),
      await found({ search: '20' }),
      await found({ search: '2' }),
      await found({ search: 'nobody' }),
      await found({ search: 'blue x' }),
    ]).toEqual([[3], [2, 3], [2, 3], [], []]);
  });

  test('search: at most 16 words and 1,000 characters; every word must match; an empty search matches all', async () => {
    const words = (count: number) => Array.from({ length: count }, () => 'rome').join(' ');
    const refused = async (search: string) => (await place.get(`/orders?${new URLSearchParams({ search })}`)).status;
    expect([
      ...[await found({ search: words(16) }), await found({ search: 'x'.repeat(1000) }), await refused(words(17)), await refused('x'.repeat(1001))],
      ...[await found({ search: '20 rome' }), await found({ search: 'rome blue' }), await place.ids('/orders?search='), await place.ids('/orders?search=%20')],
    ]).toEqual([[3], [], 400, 400, [3], [], all, all]);
  }); // biome-ignore format: short

  test('searchExtended: the text is also searched in to-one relations, only if requested', async () => {
    expect([
      await found({ search: 'rome' }),
      await found({ search: 'rome', searchExtended: true }),
      await found({ search: 'ada', searchExtended: true }),
      await place.ids('/orders?search=rome&searchExtended=0'),
      await place.ids('/orders?search=rome&searchExtended=1'),
    ]).toEqual([[3], [2, 3], [1, 5], [3], [2, 3]]);
  });

  test('segment: a named filter of the collection: a leaf, a tree, or the result of code for the caller', async () => {
    const { status, body } = await place.get('/orders?segment=deer');
    expect([
      await found({ segment: 'dear' }),
      await found({ segment: 'tree' }),
      await found({ segment: 'mine' }),
      [status, body.errors[0].detail],
    ]).toEqual([
      [2, 3, 4],
      [1, 3],
      [1, 5],
      [400, expect.stringContaining('dear')],
    ]);
  });
});

test('projection: field paths, relation fields written relation:field; these, in this order, and null without a related record', async () => {
  const fields = ['order:customer:name', 'article', 'order:total'];
  const asked = { collectionName: 'order_lines', fields, sort: 'id' };
  const { json } = await place.tool('list', asked);
  const inside = await code(({ collection }) => collection('order_lines').list({}, fields));
  const refused = [
    await place.tool('list', { ...asked, fields: ['order'] }),
    await place.tool('list', { ...asked, fields: ['order:totl'] }),
  ];
  expect([json, inside, refused.map(({ error }) => error)]).toMatchObject([
    {
      columns: fields,
      rows: [
        ['Ada', 'pen', 10.5],
        [null, 'cap', 30],
      ],
    },
    [
      { article: 'pen', order: { total: 10.5, customer: { name: 'Ada' } } },
      { article: 'cap', order: { total: 30, customer: null } },
    ],
    [expect.stringContaining('order:'), expect.stringContaining('total')],
  ]);
  expect(Object.keys(inside[0])).toEqual(['article', 'order']);
  const { body } = await place.get('/order_lines?sort=id&fields[order_lines]=article');
  expect(body.data.map(({ attributes }: { attributes: object }) => attributes)).toEqual([
    { id: 1, article: 'pen' },
    { id: 2, article: 'cap' },
  ]);
});

describe('sort clauses', () => {
  const tool = async (sort: unknown) =>
    (await place.tool('list', { collectionName: 'orders', fields: ['id'], sort })).json.rows.flat();

  test('sort: field: the fields to sort by, also of relations, the second within the first, then the key', async () => {
    expect([
      await place.ids('/orders?sort=total'),
      await place.ids('/orders?sort=customer.name,-total'),
      await tool([{ field: 'customer:name' }, { field: 'total' }]),
      await place.ids('/orders'),
      (await place.get('/orders?sort=totl')).status,
    ]).toEqual([[5, 1, 2, 3, 4], [4, 1, 5, 3, 2], [4, 5, 1, 2, 3], all, 400]);
  });

  test('sort: ascending: true by default; for each clause separately; ties are sorted by the key', async () => {
    expect([
      await tool([{ field: 'total' }]),
      await tool([{ field: 'total', ascending: true }]),
      await tool([{ field: 'total', ascending: false }]),
      await place.ids('/orders?sort=-total'),
      await place.ids('/orders?sort=total,-id'),
      await place.ids('/orders?sort=-customer_id,total'),
    ]).toEqual([
      [5, 1, 2, 3, 4],
      [5, 1, 2, 3, 4],
      [4, 3, 2, 1, 5],
      [4, 3, 2, 1, 5],
      [5, 1, 3, 2, 4],
      [2, 3, 5, 1, 4],
    ]);
  });
}); // biome-ignore format: short
