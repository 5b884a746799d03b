// Quantified filters as assistants send them, and the full text of each error.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { type McpTestServer, openMcpServer } from './mcp-server.ts';

const source = createMemorySource('memory', [
  {
    name: 'customers',
    columns: [{ name: 'id', type: 'Number' }],
    primaryKey: ['id'],
    rows: [[1], [2], [3]],
  },
  {
    name: 'orders',
    columns: [
      { name: 'id', type: 'Number' },
      { name: 'customer_id', type: 'Number' },
      { name: 'status', type: 'String' },
      { name: 'total', type: 'Number' },
    ],
    primaryKey: ['id'],
    foreignKeys: [{ columns: ['customer_id'], table: 'customers', targetColumns: ['id'] }],
    rows: [
      [1, 1, 'paid', 5],
      [2, 1, 'open', 50],
      [3, 2, 'paid', 50],
    ],
  },
]);

let server: McpTestServer;
let client: Client;
beforeAll(async () => {
  server = await openMcpServer({ source });
  client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: 'Bearer user-2' } };
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }) as never);
});
afterAll(async () => {
  await client?.close();
  await server?.close();
});

async function ask(name: string, given: Record<string, unknown>): Promise<string> {
  const result = await client.callTool({ name, arguments: { collectionName: 'customers', ...given } });
  return (result.content as unknown as [{ text: string }])[0].text;
}
const list = async (filters: unknown) => {
  const text = await ask('list', { filters, fields: ['id'] });
  return text.startsWith('{') ? (JSON.parse(text) as { rows: number[][] }).rows.flat() : text;
};
const paid = { field: 'status', operator: 'Equal', value: 'paid' };
const dear = { field: 'total', operator: 'GreaterThan', value: 10 };

test.each([
  [{ none: 'orders' }, [3]],
  [JSON.stringify({ none: 'orders', where: JSON.stringify(paid) }), [3]],
  [{ none: 'orders', where: {} }, [3]],
  [{ some: 'orders', where: [paid, { field: 'total', operator: '>', value: '10' }] }, [2]],
  [{ every: 'orders', where: dear }, [2, 3]],
  [{ aggregator: 'not', conditions: { some: 'orders', where: dear } }, [3]],
])('list accepts %j', async (filters, ids) => expect(await list(filters)).toEqual(ids));

test('aggregate and listRelated accept them too', async () => {
  const some = { some: 'orders', where: dear };
  expect([
    await ask('aggregate', { operation: 'count', filters: { none: 'orders' } }),
    await ask('aggregate', {
      collectionName: 'orders',
      operation: 'sum',
      field: 'total',
      filters: { some: 'customer', where: some },
    }),
    await ask('listRelated', {
      parentRecordId: '1',
      relationName: 'orders',
      fields: ['id'],
      filters: { every: 'customer', where: some },
    }),
  ]).toEqual([
    expect.stringContaining('[[1]]'),
    expect.stringContaining('[[105]]'),
    expect.stringContaining('[[1],[2]]'),
  ]);
});

test('a refusal shows every form in full, and each form works', async () => {
  const both = {
    aggregator: 'And',
    conditions: [
      { ...paid, field: 'orders:status' },
      { ...dear, field: 'orders:total' },
    ],
  };
  const one = { some: 'orders', where: { aggregator: 'And', conditions: [paid, dear] } };
  const each = { aggregator: 'And', conditions: [paid, dear].map((where) => ({ some: 'orders', where })) };
  const text = await list(both);
  for (const form of [one, each]) expect(text).toContain(JSON.stringify(form));
  expect([text, await list(one), await list(each)]).toEqual([
    expect.stringMatching(/^AMBIGUOUS_FILTER: /),
    [2],
    [1, 2],
  ]);
});

test.each([
  [{ every: 'orders' }, 'required with every'],
  [{ none: 'city' }, 'UNKNOWN_RELATION'],
])('%j is refused with what to send', async (filters, problem) => expect(await list(filters)).toContain(problem));

test.each([
  [{ field: 'id', operator: '<', other: 'total' }, [1, 2, 3]],
  [{ column: 'id', op: 'less_than', compareTo: 'customer:id' }, []],
  [{ field: 'id', operator: 'greaterThan', other: 'customer_id' }, [2, 3]],
  [{ expression: { subtract: ['total', 'id'] }, operator: '>', value: 4 }, [2, 3]],
  [JSON.stringify({ expression: { '-': ['total', { constant: 40 }] }, operator: 'Equal', value: '10' }), [2, 3]],
])('list compares two values: %j', async (filters, ids) => {
  const text = await ask('list', { collectionName: 'orders', filters, fields: ['id'] });
  expect((JSON.parse(text) as { rows: number[][] }).rows.flat()).toEqual(ids);
});

test('an invalid comparison is refused with the form to send', async () => {
  const given = { collectionName: 'orders', fields: ['id'] };
  expect([
    await ask('list', { ...given, filters: { field: 'status', operator: 'Equal', other: 'total' } }),
    await ask('list', { ...given, filters: { field: 'id', operator: 'Equal', other: 'totl' } }),
    await ask('list', { ...given, filters: { field: 'id', operator: 'Contains', other: 'total' } }),
  ]).toMatchInlineSnapshot(`
    [
      "INVALID_ARGUMENT: filter: it compares two values of one type, but 'status' is String and 'total' is Number.",
      "UNKNOWN_FIELD: 'orders' has no field 'totl'. Near: total. Call describeCollection for all fields.",
      "INVALID_ARGUMENT: filter: Contains does not compare two values. Usable: Equal, NotEqual, LessThan, GreaterThan, LessThanOrEqual, GreaterThanOrEqual, Before, After.",
    ]
  `);
});
