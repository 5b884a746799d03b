// Lists of distinct values and with computed columns, as assistants ask for them. Examples of docs/lists.md run here too.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { ask } from './asking.ts';
import { type McpTestServer, openMcpServer } from './mcp-server.ts';

const source = createMemorySource('memory', [
  {
    name: 'customers',
    columns: [
      { name: 'id', type: 'Number' },
      { name: 'country', type: 'String', nullable: true },
    ],
    primaryKey: ['id'],
    rows: [
      [1, 'NO'],
      [2, 'FR'],
      [3, null],
    ],
  },
  {
    name: 'orders',
    columns: [
      { name: 'id', type: 'Number' },
      { name: 'customer_id', type: 'Number', nullable: true },
      { name: 'status', type: 'String' },
      { name: 'total', type: 'Number', nullable: true },
      { name: 'shipping_fee', type: 'Number' },
      { name: 'placed_at', type: 'Date' },
    ],
    primaryKey: ['id'],
    foreignKeys: [{ columns: ['customer_id'], table: 'customers', targetColumns: ['id'] }],
    rows: [
      [1, 1, 'paid', 50, 5, '2024-03-01T10:00:00.000Z'],
      [2, 1, 'open', 20, 5, '2024-03-31T10:00:00.000Z'],
      [3, 2, 'paid', 70, 9, '2024-04-01T10:00:00.000Z'],
      [4, null, 'paid', null, 0, '2024-04-02T10:00:00.000Z'],
    ],
  },
]);

let server: McpTestServer;
beforeAll(async () => {
  server = await openMcpServer({ source });
});
afterAll(() => server?.close());

const list = (given: Record<string, unknown>, tool = 'list') =>
  ask(server, tool, { collectionName: 'orders', ...given });

describe('distinct', () => {
  const fields = ['status', 'customer:country'];

  test('distinct combinations of values, with pages', async () => {
    expect(await list({ distinct: true, fields })).toBe(
      '{"columns":["status","customer:country"],"rows":[["open","NO"],["paid",null],["paid","FR"],["paid","NO"]],"hasMore":false}',
    );
    const first = JSON.parse(await list({ distinct: 'true', fields, sort: '-status', pagination: { size: 3 } }));
    expect(first).toMatchObject({ rows: [['paid', null], ['paid', 'FR'], ['paid', 'NO']], hasMore: true }); // biome-ignore format: rows
    const next = await list({
      distinct: true,
      fields,
      sort: '-status',
      pagination: { size: 3 },
      cursor: first.nextCursor,
    });
    expect(JSON.parse(next)).toMatchObject({ rows: [['open', 'NO']], hasMore: false });
  });

  test('as records, and of related records', async () => {
    const records = await list({ distinct: true, fields: ['customer:country'], format: 'records' });
    expect(records).toContain('{"customer":{"country":"FR"}}');
    const related = { collectionName: 'customers', parentRecordId: '1', relationName: 'orders' };
    expect(await list({ ...related, distinct: true, fields: ['status'] }, 'listRelated')).toContain(
      '[["open"],["paid"]]',
    );
  });

  test('invalid calls are refused with what to send', async () => {
    expect(await list({ distinct: true })).toMatch('fields: distinct needs fields, such as ["status"].');
    expect(await list({ distinct: true, fields, enableCount: true })).toMatch('enableCount: counts records, not');
    expect(await list({ distinct: true, fields, sort: 'total' })).toMatch('sort takes the listed fields: status');
    expect(await list({ distinct: 'yes', fields })).toMatch('distinct: send true or false.');
  });
});

describe('computed columns', () => {
  const customers = (given: Record<string, unknown>) => list({ collectionName: 'customers', ...given });

  test('aggregates of related records and expressions, with fields and in the sort', async () => {
    const fields = [
      'country',
      { name: 'paid', count: 'orders', where: { field: 'status', operator: 'Equal', value: 'paid' } },
      { name: 'revenue', sum: 'orders:total' },
      { name: 'next', expression: { plus: ['id', 1] } },
    ];
    expect(await customers({ fields, sort: '-revenue' })).toBe(
      '{"columns":["country","paid","revenue","next"],"rows":[["FR",1,70,3],["NO",1,70,2],[null,0,null,4]],"hasMore":false}',
    );
    const first = JSON.parse(await customers({ fields, sort: '-paid', pagination: { size: 2 }, format: 'records' }));
    expect(first.records[0]).toEqual({ country: 'FR', paid: 1, revenue: 70, next: 3 });
    const next = { fields, sort: '-paid', pagination: { size: 2 }, cursor: first.nextCursor };
    expect(JSON.parse(await customers(next))).toMatchObject({ rows: [[null, 0, null, 4]], hasMore: false });
  });

  test('unambiguous forms are accepted', async () => {
    const forms = [
      [{ as: 'n', operation: 'count', field: 'orders' }],
      '[{"name":"n","count":"order"}]',
      { n: { count: 'orders' } },
      [{ alias: 'n', expr: { '-': [3, { '*': ['id', 1] }] } }],
      [{ name: 'n', plus: [{ times: ['id', -1] }, 3] }],
    ];
    for (const fields of forms)
      expect(await customers({ fields, sort: ['-n', 'id'] }), JSON.stringify(fields)).toContain('[2],[1],[0]');
    const where = { status: 'paid', total: { gt: 60 } };
    const most = [{ name: 'Total', maximum: 'orders:Total', filter: where }];
    expect(await customers({ fields: most, sort: 'Total' })).toContain('[null],[null],[70]');
  });

  test('related records have them too', async () => {
    const fields = [{ name: 'sum', expression: { plus: ['total', 'shipping_fee'] } }];
    const related = { collectionName: 'customers', parentRecordId: '1', relationName: 'orders', fields, sort: 'sum' };
    expect(await list(related, 'listRelated')).toContain('[[25],[55]]');
  });

  test('invalid columns are refused with what to send', async () => {
    expect(await customers({ fields: [{ count: 'orders' }] })).toMatch(
      'fields: a column that is not a field has a name',
    );
    expect(await customers({ fields: [{ name: 'n', count: 'order_lines' }] })).toMatch("no field 'order_lines'");
    expect(await customers({ fields: ['orders:total'] })).toMatch('such as {"name":"n","count":"orders"} in fields');
    expect(await customers({ fields: [{ name: 'n', count: 'orders' }], filters: { m: 1 } })).toMatch("no field 'm'");
  });

  test('filters name the columns, and the count follows them', async () => {
    const fields = ['country', { name: 'n', count: 'orders' }, { name: 'twice', expression: { times: ['n', 2] } }];
    expect(await customers({ fields, filters: { n: 0 }, enableCount: true })).toBe(
      '{"columns":["country","n","twice"],"rows":[[null,0,0]],"hasMore":false,"totalCount":1}',
    );
    const ordered = { fields, filters: { field: 'twice', operator: 'GreaterThan', value: 1 }, sort: '-twice' };
    expect(await customers({ ...ordered, enableCount: true })).toBe(
      '{"columns":["country","n","twice"],"rows":[["NO",2,4],["FR",1,2]],"hasMore":false,"totalCount":2}',
    );
    // Expressions of the record may be under Or with conditions on fields.
    const next = [{ name: 'next', expression: { plus: ['id', 1] } }];
    const filters = { Or: [{ next: 2 }, { country: 'NO' }] };
    expect(JSON.parse(await customers({ fields: next, filters, enableCount: true })).totalCount).toBeGreaterThan(0);
    const related = { collectionName: 'customers', parentRecordId: '1', relationName: 'orders' };
    const sums = [{ name: 'sum', expression: { plus: ['total', 'shipping_fee'] } }];
    expect(await list({ ...related, fields: sums, filters: { sum: 55 }, enableCount: true }, 'listRelated')).toContain(
      '"rows":[[55]],"hasMore":false,"totalCount":1',
    );
  });
});

test.each([
  ['{some, atLeast}', { some: 'orders', atLeast: 2 }, [1]],
  ['{some, where, atLeast} under And', { aggregator: 'And', conditions: [{ some: 'orders', where: { field: 'status', operator: 'Equal', value: 'paid' }, atLeast: 1 }, { field: 'country', operator: 'Equal', value: 'FR' }] }, [2]],
  ['a figure in place of a field', { field: { count: 'orders' }, operator: 'LessThan', value: 2 }, [2, 3]],
  ['a figure as value', { field: 'id', operator: 'LessThan', value: { count: 'orders' } }, [1]],
  ['a figure within a value', { field: 'id', operator: 'LessThan', value: { times: [{ count: 'orders' }, { count: 'orders' }] } }, [1]],
  ['a multiple of a figure', { field: 'id', operator: 'GreaterThan', value: { times: [1.5, { count: 'orders' }] } }, [2, 3]],
])('figures of related records in a filter, as %s: the list with their columns', async (_, filters, ids) => {
  const refusal = await list({ collectionName: 'customers', fields: ['id'], filters });
  const [, form = ''] = /^INVALID_ARGUMENT: filters: figures of related records are columns, which filters name: send (.*)\.$/.exec(refusal) ?? [];
  const found = JSON.parse(await list({ collectionName: 'customers', ...JSON.parse(form) }));
  expect(found.rows.map(([id]: [number]) => id)).toEqual(ids);
}); // biome-ignore format: cases

test('a note says that records without a figure are not below a number, and how to include them', async () => {
  const fields = ['id', { name: 'spent', sum: 'orders:total' }, { name: 'n', count: 'orders' }];
  const ask = async (filters: unknown) => JSON.parse(await list({ collectionName: 'customers', fields, filters }));
  const few = { field: 'spent', operator: 'LessThan', value: 75 };
  const { rows, note } = await ask(few);
  expect(rows).toEqual([[1, 70, 2], [2, 70, 1]]);
  const [, form = ''] = /^Records without a value of 'spent', .* are left out\. To include them, send (.*)\.$/.exec(note) ?? [];
  const whole = await ask(JSON.parse(form));
  expect([whole.rows, whole.note]).toEqual([[[1, 70, 2], [2, 70, 1], [3, null, 0]], undefined]);
  const both = { aggregator: 'And', conditions: [{ field: 'n', operator: 'LessThan', value: 5 }, few] };
  expect((await ask(both)).note).toBe(note);
  for (const clear of [{ ...few, operator: 'GreaterThan' }, { field: 'n', operator: 'LessThan', value: 5 }, { aggregator: 'Not', conditions: [few] }])
    expect((await ask(clear)).note).toBeUndefined();
}); // biome-ignore format: rows

const page = readFileSync('docs/lists.md', 'utf8');
const calls = [...page.matchAll(/^```json\n([\s\S]*?)^```/gm)].map(([, text]) => JSON.parse(text!));

test.each(calls)('docs/lists.md: %j', async (call) => {
  expect(await ask(server, 'list', call)).toMatch(/^\{"columns"/);
});
