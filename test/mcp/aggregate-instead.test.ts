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

const perCustomer = { measures: { spent: { sum: 'total' } }, groups: ['customer_id'] };

test.each([
  ['measures', { groups: ['customer:country', 'customer_id'] }, { groups: ['customer:country'], measures: { most: { max: 'spent' } } }, [['NO', 40], [null, 80]]],
  ['a group', { measures: { spent: { sum: 'total' } } }, { groups: ['spent'], measures: { n: { count: true } } }, [[30, 1], [40, 1], [80, 1]]],
  ['a group by its index', { groups: ['customer:country', 'customer_id'] }, { groups: [{ group: 0 }], measures: { n: { count: true } } }, [['NO', 2], [null, 1]]],
] as const)('over that names %s of the call: the call the other way round', async (_, more, over, rows) => {
  const given = { collectionName: 'orders', ...perCustomer, ...more, filters: { field: 'customer_id', operator: 'Present' }, over };
  const refusal = await call('aggregate', given);
  expect(refusal).toMatch(/^INVALID_ARGUMENT: over: has the inner groups, and measures are about them/);
  const found = await rowsOf(callsIn(refusal)[0]!);
  expect(sorted(found)).toEqual(sorted(rows));
}); // biome-ignore format: cases

test('over the wrong way round with a sort of its own: the offered call keeps the order', async () => {
  const ascending = [{ group: 0 }];
  const over = { groups: ['spent'], measures: { n: { count: true } } };
  const given = { collectionName: 'orders', ...perCustomer, filters: { field: 'customer_id', operator: 'Present' } };
  const rowsWith = async (sort: readonly object[]) =>
    rowsOf(callsIn(await call('aggregate', { ...given, over: { ...over, sort } }))[0]!);
  expect(await rowsWith(ascending)).toEqual([[30, 1], [40, 1], [80, 1]]);
  expect(await rowsWith([{ group: 0, ascending: false }])).toEqual([[80, 1], [40, 1], [30, 1]]);
}); // biome-ignore format: rows

const sorted = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).sort();

test('over whose measures have the names of those about them is answered', async () => {
  const over = { groups: ['customer_id'], measures: { spent: { sum: 'total' } } };
  const given = { collectionName: 'orders', measures: { total: { max: 'spent' } }, over };
  expect(await rowsOf(given)).toEqual([[1000]]);
  const same = { ...given, measures: { spent: { max: 'spent' } } };
  expect(await rowsOf(same)).toEqual([[1000]]);
});

test.each([
  ['a group by their bucket', { measures: { n: { count: true } }, groups: [{ name: 'first', min: 'orders:placed_at', bucket: 'Month' }] }, [['2024-01-01', 1], ['2024-02-01', 1], ['2024-03-01', 1]]],
  ['a group by their number', { measures: { n: { count: true } }, groups: [{ count: 'orders' }, 'country'] }, [[2, 'NO', 1], [1, 'NO', 1], [1, null, 1]]],
  ['an expression', { measures: { days: { avg: { difference: [{ min: 'orders:placed_at' }, { max: 'orders:placed_at' }], unit: 'hour' } } }, groups: ['country'] }, [['NO', 203.75], [null, 0]]],
  ['a ratio with a number of the record', { measures: { share: { sum: { dividedBy: [{ sum: 'orders:total' }, 'id'] } } }, filters: { field: 'country', operator: 'Equal', value: 'NO' } }, [[50]]],
] as const)('figures of related records in %s: groups of groups of these records', async (_, given, rows) => {
  const refusal = await call('aggregate', { collectionName: 'customers', ...given });
  expect(refusal).toMatch("measures: figures of related records are groups of groups. For the records that have 'orders', send {");
  expect(sorted(await rowsOf(callsIn(refusal)[0]!))).toEqual(sorted(rows));
}); // biome-ignore format: cases

test('figures of related records with one name for two of them are refused without a call', async () => {
  const group = (kind: string) => ({ name: 'first', [kind]: 'orders:placed_at', bucket: 'Month' });
  const given = { measures: { n: { count: true } }, groups: [group('min'), group('max')] };
  expect(await call('aggregate', { collectionName: 'customers', ...given })).toMatch(
    /^INVALID_ARGUMENT: groups: send a/,
  );
});

const isPaid = { field: 'status', operator: 'Equal', value: 'paid' };

test('a comparison of one period that is no group: measures of two periods', async () => {
  const given = {
    collectionName: 'orders',
    measures: { revenue: { sum: 'total' } },
    groups: ['status'],
    filters: { aggregator: 'And', conditions: [isPaid, { field: 'placed_at', operator: 'PreviousMonth' }] },
    compare: { field: 'placed_at', to: 'PreviousYear' },
  };
  const refusal = await call('aggregate', given);
  expect(refusal).toMatch(/^INVALID_ARGUMENT: compare: it compares periods that are groups/);
  const [offered] = callsIn(refusal) as [{ measures: Record<string, unknown>; filters: unknown }];
  const month = (back: number) => {
    const now = new Date();
    return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 10);
  };
  expect(offered.measures).toEqual({
    revenue: { sum: 'total', where: { field: 'placed_at', operator: 'PreviousMonth' } },
    'revenue before': {
      sum: 'total',
      where: {
        aggregator: 'And',
        conditions: [
          { field: 'placed_at', operator: 'GreaterThanOrEqual', value: month(13) },
          { field: 'placed_at', operator: 'LessThan', value: month(12) },
        ],
      },
    },
  });
  expect(offered.filters).toEqual(isPaid);
  expect(await rowsOf(offered)).toEqual([['paid', null, null]]);
});

test('previous figures of periods that the filters leave out come with a note', async () => {
  const given = {
    collectionName: 'orders',
    measures: { n: { count: true } },
    groups: [{ field: 'placed_at', bucket: 'Month' }],
    compare: { previous: 1 },
    sort: [{ group: 0 }],
  };
  const note = 'Previous figures of periods before the first date of the filters are null';
  const since = { field: 'placed_at', operator: 'GreaterThanOrEqual', value: '2024-02-01' };
  const answer = await call('aggregate', { ...given, filters: since });
  expect(JSON.parse(answer)).toMatchObject({ rows: [['2024-02-01', 1, null], ['2024-03-01', 2, 1]] }); // biome-ignore format: rows
  expect(JSON.parse(answer).note).toMatch(`${note}: begin 'placed_at' earlier to have them.`);
  for (const filters of [undefined, isPaid, { ...since, operator: 'LessThan', value: '2024-03-01' }])
    expect(await call('aggregate', { ...given, ...(filters && { filters }) })).not.toMatch(note);
});

test('texts put together in a list: the list with their fields', async () => {
  const fields = [
    'id',
    { name: 'who', expression: { concat: ['name', ' ', 'country'] } },
    { name: 'n', count: 'orders' },
  ];
  const refusal = await call('list', { collectionName: 'customers', fields });
  expect(refusal).toBe(
    'INVALID_ARGUMENT: fields: lists do not put texts together. Name their fields: send ["id","name","country",{"name":"n","count":"orders"}].',
  );
});

test('a running total along a date may name the other groups, which it begins again for', async () => {
  const given = {
    collectionName: 'orders',
    groups: ['status', { field: 'placed_at', bucket: 'Month' }],
    sort: [{ group: 0 }, { group: 1 }],
  };
  const running = (per?: unknown) => ({ n: { count: true }, all: { running: 'n', ...(per !== undefined && { per }) } });
  const expected = await rowsOf({ ...given, measures: running() });
  expect(expected).toEqual([['open', '2024-01-01', 1, 1], ['open', '2024-02-01', 1, 2], ['paid', '2024-01-01', 1, 1], ['paid', '2024-03-01', 2, 3]]); // biome-ignore format: rows
  for (const per of ['status', ['status'], [0]])
    expect(await rowsOf({ ...given, measures: running(per) })).toEqual(expected);
  expect(await call('aggregate', { ...given, measures: running([1]) })).toMatch(
    'measures.all.per: along a date, it begins again for each combination of the other groups. Leave per out',
  );
  const byStatus = { collectionName: 'orders', groups: ['status'], measures: running('status') };
  expect(await call('aggregate', byStatus)).toMatch('without a group by a date, it follows the order of all groups');
});
