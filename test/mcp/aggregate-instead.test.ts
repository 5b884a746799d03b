// An aggregate over a to-many relation is refused. The error holds a complete call that returns the intended result.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { type McpTestServer, openMcpServer } from './mcp-server.ts';

const shop = () =>
  createMemorySource('memory', [
    {
      name: 'customers',
      columns: [
        { name: 'id', type: 'Number' },
        { name: 'name', type: 'String' },
        { name: 'country', type: 'String' },
      ],
      primaryKey: ['id'],
      rows: [
        [1, 'Ada', 'NO'],
        [2, 'Bo', 'NO'],
        [3, 'Cy', null],
      ],
    },
    {
      name: 'orders',
      columns: [
        { name: 'id', type: 'Number' },
        { name: 'customer_id', type: 'Number' },
        { name: 'total', type: 'Number' },
        { name: 'status', type: 'String' },
        { name: 'placed_at', type: 'Date' },
      ],
      primaryKey: ['id'],
      foreignKeys: [{ columns: ['customer_id'], table: 'customers', targetColumns: ['id'] }],
      rows: [
        [1, 1, 10, 'paid', '2024-01-31T23:30:00.000Z'],
        [2, 1, 20, 'open', '2024-01-15T00:00:00.000Z'],
        [3, 2, 40, 'open', '2024-02-15T00:00:00.000Z'],
        [4, 3, 80, 'paid', '2024-03-15T00:00:00.000Z'],
        // No customer: an aggregate by customer must exclude this order.
        [5, null, 1000, 'paid', '2024-03-15T00:00:00.000Z'],
      ],
    },
  ]);

let server: McpTestServer;
let client: Client;
beforeAll(async () => {
  server = await openMcpServer({
    source: shop(),
    customize: (agent) =>
      agent.customizeCollection('customers', (customers) =>
        customers.addSegment('of A', { field: 'name', operator: 'StartsWith', value: 'A' }),
      ),
  });
  client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: 'Bearer user-2' } };
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }) as never);
});
afterAll(async () => {
  await client.close();
  await server.close();
});

async function call(name: string, given: Record<string, unknown>): Promise<string> {
  const result = await client.callTool({ name, arguments: given });
  return (result.content as unknown as [{ text: string }])[0].text;
}

/** The calls in an error, in order. */
function callsIn(text: string): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = [];
  for (let from = text.indexOf('{"'); from >= 0; from = text.indexOf('{"', from)) {
    let depth = 0;
    let to = from;
    do depth += text[to] === '{' ? 1 : text[to] === '}' ? -1 : 0;
    while (++to < text.length && depth > 0);
    found.push(JSON.parse(text.slice(from, to)));
    from = to;
  }
  return found;
}

const rowsOf = async (given: Record<string, unknown>) => JSON.parse(await call('aggregate', given)).rows;
const sum = { collectionName: 'customers', operation: 'sum', field: 'orders:total' };
const norway = { field: 'country', operator: 'Equal', value: 'NO' };
const paid = { field: 'orders:status', operator: 'Equal', value: 'paid' };

test.each<[what: string, given: Record<string, unknown>, rows: readonly unknown[]]>([
  ['alone', {}, [[150]]],
  [
    'groups',
    { groups: ['country'], order: 'groups' },
    [
      ['NO', 70],
      [null, 80],
    ],
  ],
  [
    'a group of the related collection',
    { groups: ['orders:status'] },
    [
      ['paid', 90],
      ['open', 60],
    ],
  ],
  ['a filter', { filters: norway }, [[70]]],
  ['a filter that a null satisfies', { filters: { field: 'country', operator: 'Missing' } }, [[80]]],
  [
    'a quantified filter',
    { filters: { none: 'orders', where: { field: 'status', operator: 'Equal', value: 'paid' } } },
    [[40]],
  ],
  [
    'an Or',
    { filters: { aggregator: 'Or', conditions: [norway, { field: 'country', operator: 'Missing' }] } },
    [[150]],
  ],
  [
    'periods in a timezone, with a limit',
    { groups: [{ field: 'orders:placed_at', bucket: 'Month' }], timezone: 'Europe/Paris', order: 'groups', limit: 1 },
    [['2024-01-01', 20]],
  ],
])('%s', async (_, given, rows) => {
  const refusal = await call('aggregate', { ...sum, ...given });
  expect(refusal).toMatch(/^INVALID_ARGUMENT: field: 'orders' leads to many records: send \{/);
  const [instead, ...others] = callsIn(refusal);
  expect(others).toEqual([]);
  const answer = await rowsOf(instead ?? {});
  expect(new Set(answer)).toEqual(new Set(rows));
});

test('a filter on the records that are summed has two meanings, and the error shows both calls', async () => {
  for (const filters of [paid, { aggregator: 'And', conditions: [paid, norway] }]) {
    const refusal = await call('aggregate', { ...sum, filters });
    const [own, all] = callsIn(refusal);
    const isNorway = 'aggregator' in filters;
    expect(refusal).toMatch(
      /to include only the .*, send .*; to include all .* of each 'customers' record with a match, send/,
    );
    expect([await rowsOf(own ?? {}), await rowsOf(all ?? {})]).toEqual(isNorway ? [[[10]], [[30]]] : [[[90]], [[110]]]);
  }
});

test.each([
  ['a segment', { segment: 'of A' }],
  ['a search', { search: 'Ada', filters: norway }],
])('%s: the list, then the figure', async (_, given) => {
  const refusal = await call('aggregate', { ...sum, ...given });
  const [list, figure] = callsIn(refusal);
  const ids = JSON.parse(await call('list', list ?? {})).rows.flat();
  const filters = { ...(figure?.filters as object), value: ids };
  expect([ids, await rowsOf({ ...figure, filters })]).toEqual([[1], [[30]]]);
});

test('several measures over a to-many relation: the error shows the call for the other collection', async () => {
  const given = {
    collectionName: 'customers',
    measures: {
      revenue: { sum: { times: ['orders:total', 2] } },
      paid: { count: 'orders:id', where: { field: 'orders:status', operator: 'Equal', value: 'paid' } },
      part: { share: 'revenue' },
      mean: { ratio: ['revenue', { count: 'orders:id' }] },
    },
    groups: ['country'],
    sort: [{ group: 'country', ascending: false }],
  };
  const refusal = await call('aggregate', given);
  expect(refusal).toMatch(/^INVALID_ARGUMENT: measures: 'orders' leads to many records: send \{/);
  const [instead] = callsIn(refusal);
  expect(await rowsOf(instead ?? {})).toEqual([
    ['NO', 140, 1, 0.4666666667, 46.6666666667],
    [null, 160, 1, 0.5333333333, 160],
  ]);
  // A count of customers would count once per order.
  const both = { ...given, measures: { ...given.measures, customers: { count: true } } };
  expect(await call('aggregate', both)).toMatch(/^RELATION_TO_MANY: /);
});

test.each([
  [
    'ranges of an expression, with labels, beside other measures',
    {
      measures: { n: { count: true }, mean: { average: 'total' }, kinds: { distinct: 'status' }, part: { share: 'n' } },
      groups: [
        'status',
        {
          expression: { times: ['total', 2] },
          ranges: [{ to: 50, label: 'low' }, { from: 50, to: 1000, label: 'middle' }, { from: 1000 }],
        },
      ],
      sort: [{ group: 0 }, { group: 1 }],
    },
    [
      ['open', '..50', 1, 20, 1, 0.2],
      ['open', '50..1000', 1, 40, 1, 0.2],
      ['paid', '..50', 1, 10, 1, 0.2],
      ['paid', '50..1000', 1, 80, 1, 0.2],
      ['paid', '1000..', 1, 1000, 1, 0.2],
    ],
  ],
  [
    'an expression with a name',
    {
      measures: { revenue: { sum: 'total' } },
      groups: [{ expression: { coalesce: ['customer:country', { value: 'none' }] }, name: 'country' }],
    },
    [
      ['none', 1080],
      ['NO', 70],
    ],
  ],
])('a group by %s: groups of groups', async (_, given, rows) => {
  const refusal = await call('aggregate', { collectionName: 'orders', ...given });
  expect(refusal).toMatch(/^INVALID_ARGUMENT: groups: a group is a field/);
  expect(await rowsOf({ collectionName: 'orders', ...given, ...callsIn(refusal)[0] })).toEqual(rows);
});

test.each([
  ['a condition of its own', { n: { count: true, where: paid } }],
  ['a percentile', { n: { percentile: ['total', 0.5] } }],
  ['measures in place', { n: { ratio: [{ sum: 'total' }, { count: true }] } }],
])('a group by an expression with a measure that has %s is refused without a call', async (_, measures) => {
  const refusal = await call('aggregate', {
    collectionName: 'orders',
    measures,
    groups: [{ expression: { times: ['total', 2] }, ranges: [50] }],
  });
  expect(refusal).toMatch(/^INVALID_ARGUMENT: groups: groups take fields/);
});
