import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ListRequest } from '../../src/agent/requests.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { PlainFilter } from '../../src/core/filter.ts';
import { accessOf, type Rights, type Shop, sellers } from './shop.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await sellers[0]!.open();
});
afterAll(() => shop.close());

async function errorOf(request: Partial<ListRequest>, rights: Rights = {}): Promise<object> {
  const error = await shop.engine
    .list(accessOf(rights), { collection: 'orders', limit: 5, ...request })
    .catch((error: unknown) => error);
  const { code, details, message } = error as { code: string; details: object; message: string };
  expect(message).not.toBe('');
  return { code, ...details };
}
const filtered = (field: string, operator: string, value?: unknown, rights?: Rights) =>
  errorOf({ filter: { field, operator: operator as never, value } }, rights);

test('an unknown collection is refused with similar names', async () => {
  expect(await errorOf({ collection: 'order' })).toEqual({
    code: 'UNKNOWN_COLLECTION',
    collection: 'order',
    near: ['orders', 'order_lines'],
  });
});

test('an unknown field is refused with similar names of its collection', async () => {
  expect(await errorOf({ fields: ['totl'] })).toEqual({
    code: 'UNKNOWN_FIELD',
    collection: 'orders',
    field: 'totl',
    near: ['total'],
  });
  expect(await errorOf({ fields: ['customer:nme'] })).toEqual({
    code: 'UNKNOWN_FIELD',
    collection: 'customers',
    field: 'nme',
    near: ['name'],
  });
});

test('a relation without a field is refused with one of its fields', async () => {
  expect(await errorOf({ fields: ['customer'] })).toEqual({
    code: 'RELATION_NEEDS_FIELD',
    collection: 'orders',
    relation: 'customer',
    example: 'customer:id',
  });
});

test('a relation to many records cannot be a column', async () => {
  expect(await errorOf({ collection: 'customers', fields: ['orders:total'] })).toEqual({
    code: 'RELATION_TO_MANY',
    collection: 'customers',
    relation: 'orders',
    foreign: 'orders',
    back: 'customer',
  });
});

test('@@@ separates a path like a colon', async () => {
  const answer = await shop.engine.list(accessOf(), {
    collection: 'orders',
    fields: ['customer@@@name'],
    sort: [{ field: 'customer@@@name', ascending: false }],
    limit: 1,
  });
  expect({ columns: answer.columns, rows: answer.rows }).toEqual({ columns: ['customer:name'], rows: [['Cy']] });
});

test.each<[string, string, unknown, object]>([
  ['total', 'Bigger', 1, { code: 'UNKNOWN_OPERATOR', operator: 'Bigger', near: [] }],
  ['total', 'GreatrThan', 1, { code: 'UNKNOWN_OPERATOR', operator: 'GreatrThan', near: ['GreaterThan', 'LessThan', 'LongerThan', 'ShorterThan'] }],
  ['total', 'Equal', 'ten', { code: 'INVALID_VALUE', at: 'total Equal', expected: 'a number', got: 'ten' }],
  ['total', 'GreaterThan', null, { code: 'INVALID_VALUE', at: 'total GreaterThan', expected: 'a number', got: null }],
  ['total', 'In', [1, {}], { code: 'INVALID_VALUE', at: 'total In', expected: 'a number', got: {} }],
  ['placed_at', 'PreviousXDays', 0, { code: 'INVALID_VALUE', at: 'placed_at PreviousXDays', expected: 'a whole number of days from 1 to 100000', got: 0 }],
  ['placed_at', 'Before', '2024-02-30', { code: 'INVALID_VALUE', at: 'placed_at Before', expected: "a timestamp such as '2025-03-30T08:00:00Z', or a date such as '2025-03-30'", got: '2024-02-30' }],
  ['customer:name', 'Like', 'a\\', { code: 'INVALID_VALUE', at: 'customer:name Like', expected: "a pattern that does not end in a single '\\'", got: 'a\\' }],
  ['customer:name', 'Equal', 'a\0', { code: 'INVALID_VALUE', at: 'customer:name Equal', expected: 'a string without NUL characters', got: 'a\0' }],
])('%s %s %j is refused with what to send instead', async (field, operator, value, expected) => {
  expect(await filtered(field, operator, value)).toEqual(expected);
}); // biome-ignore format: a table

test('an operator that the type does not have is refused with the allowed operators', async () => {
  expect(await filtered('total', 'Contains', '1')).toEqual({
    code: 'OPERATOR_NOT_ALLOWED',
    collection: 'orders',
    field: 'total',
    operator: 'Contains',
    allowed: [
      ...['Present', 'Blank', 'Missing', 'Equal', 'NotEqual', 'In', 'NotIn'],
      ...['LessThan', 'GreaterThan', 'LessThanOrEqual', 'GreaterThanOrEqual'],
    ],
  });
});

test.each<[string, string, unknown, number[]]>([
  ['total', 'greater_than', '15', [2, 3, 4]],
  ['total', 'In', '20', [2, 3]],
  ['total', 'Equal', '10.50', [1]],
  ['customer_id', 'Equal', null, [4]],
  ['customer_id', 'In', [null, 3], [4, 5]],
  ['customer_id', 'NotIn', [null, 3], [1, 2, 3]],
  ['customer_id', 'NotEqual', 2, [1, 4, 5]],
  ['placed_at', 'Equal', '2024-04-01T10:00:00+02:00', [5]],
  ['customer:city', 'Blank', undefined, [4, 5]],
])('%s %s %j is converted and accepted', async (field, operator, value, ids) => {
  const filter = { field, operator: operator as never, value };
  const { rows } = await shop.engine.list(accessOf(), { collection: 'orders', fields: ['id'], filter, limit: 9 });
  expect(rows.flat()).toEqual(ids);
});

test.each([
  [{ limit: 0 }, 'limit'],
  [{ limit: 101 }, 'limit'],
  [{ limit: 1.5 }, 'limit'],
  [{ skip: -1 }, 'skip'],
  [{ timezone: 'Mars/Olympus' }, 'timezone'],
  [{ search: 'w '.repeat(17) }, 'search'],
  [{ filter: { aggregator: 'Xor', conditions: [] } as never }, 'filter'],
])('%j is refused with the name of the argument', async (request, argument) => {
  expect(await errorOf(request)).toMatchObject({ code: 'INVALID_ARGUMENT', argument });
});

test('a filter that is too deep or too wide is refused', async () => {
  const leaf = { field: 'total', operator: 'Equal', value: 1 } as const;
  let deep: PlainFilter = leaf;
  for (let depth = 0; depth < 40; depth++) deep = { aggregator: 'And', conditions: [deep] };
  const wide = { aggregator: 'Or', conditions: Array.from({ length: 501 }, () => leaf) } as const;
  expect([await errorOf({ filter: deep }), await errorOf({ filter: wide })]).toMatchObject([
    { code: 'INVALID_ARGUMENT', argument: 'filter' },
    { code: 'INVALID_ARGUMENT', argument: 'filter' },
  ]);
});

test('a sort by an unsortable field is refused with the sortable fields', async () => {
  const tables = [
    {
      name: 'docs',
      columns: [
        { name: 'id', type: 'Number' as const },
        { name: 'body', type: 'Json' as const },
      ],
      primaryKey: ['id'],
      rows: [],
    },
  ];
  const other = await sellers[0]!.open({ sources: [createMemorySource('docs', tables)] });
  const listing = other.engine.list(accessOf(), { collection: 'docs', sort: [{ field: 'body' }], limit: 1 });
  await expect(listing).rejects.toMatchObject({
    code: 'FIELD_NOT_SORTABLE',
    details: { collection: 'docs', field: 'body', sortable: ['id'] },
  });
});
