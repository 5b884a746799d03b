// The tool aggregate over HTTP with the official client, and with calls as models send them.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AggregateRequest } from '../../src/agent/requests.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { answerOf, legacy, type McpTestServer, openMcpServer, post } from './mcp-server.ts';

const shop = () =>
  createMemorySource('memory', [
    {
      name: 'customers',
      columns: [
        { name: 'id', type: 'Number' },
        { name: 'name', type: 'String' },
      ],
      primaryKey: ['id'],
      rows: [
        [1, 'Ada'],
        [2, 'Bo'],
      ],
    },
    {
      name: 'orders',
      columns: [
        { name: 'id', type: 'Number' },
        { name: 'customer_id', type: 'Number' },
        { name: 'total', type: 'Number' },
        { name: 'placed_at', type: 'Date' },
      ],
      primaryKey: ['id'],
      foreignKeys: [{ columns: ['customer_id'], table: 'customers', targetColumns: ['id'] }],
      rows: Array.from({ length: 3000 }, (_, i) => [
        i + 1,
        (i % 2) + 1,
        0.1,
        new Date(Date.UTC(2024, 2, 31, 23, 30) + Math.floor(i / 1000) * 86_400_000).toISOString(),
      ]),
    },
  ]);

describe('answers', () => {
  let server: McpTestServer;
  let client: Client;
  const call = async (given: Record<string, unknown>) => {
    const result = await client.callTool({ name: 'aggregate', arguments: { collectionName: 'orders', ...given } });
    return (result.content as unknown as [{ text: string }])[0].text;
  };
  beforeAll(async () => {
    server = await openMcpServer({
      source: shop(),
      customize: (agent) =>
        agent.customizeCollection('orders', (orders) =>
          orders.addSegment('of Ada', { field: 'customer:name', operator: 'Equal', value: 'Ada' }).addField('cents', {
            columnType: 'Number',
            dependencies: ['total'],
            getValues: (records) => records.map(({ total }) => Number(total) * 100),
          }),
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

  test('a total, a row per group, and a row per period in the timezone', async () => {
    const days = JSON.parse(
      await call({
        operation: 'count',
        groups: [{ field: 'placed_at', bucket: 'Day' }],
        timezone: 'Europe/Paris',
        order: 'groups',
        limit: 2,
      }),
    );
    expect(days).toEqual({
      columns: ['day(placed_at)', 'count'],
      rows: [
        ['2024-04-01', 1000],
        ['2024-04-02', 1000],
      ],
      hasMore: true,
      nextCursor: expect.any(String),
      note: 'Groups without records are left out.',
    });
    expect([
      await call({ operation: 'count' }),
      await call({ operation: 'sum', field: 'total', groups: ['customer:name'] }),
    ]).toEqual([
      // Without groups, or with groups that always have records, there is no note.
      '{"columns":["count"],"rows":[[3000]],"hasMore":false}',
      '{"columns":["customer:name","sum(total)"],"rows":[["Ada",150],["Bo",150]],"hasMore":false,"note":"Groups without records are left out."}',
    ]);
  });

  test('within a segment, and over computed fields', async () => {
    expect([
      await call({ operation: 'count', segment: 'of Ada', groups: ['customer:name'] }),
      await call({ operation: 'sum', field: 'cents', segment: 'of Ada' }),
      await call({ operation: 'count', segment: 'of ada' }),
    ]).toEqual([
      '{"columns":["customer:name","count"],"rows":[["Ada",1500]],"hasMore":false,"note":"Groups without records are left out."}',
      '{"columns":["sum(cents)"],"rows":[[15000]],"hasMore":false}',
      "UNKNOWN_SEGMENT: 'orders' has no segment 'of ada'. Near: of Ada. Leave it out for all records.",
    ]);
  });

  test('a long result is cut between groups within the budget, and the note says so', async () => {
    const text = await call({ operation: 'sum', field: 'total', groups: ['id', 'placed_at'], limit: 1000 });
    const { rows, hasMore, note } = JSON.parse(text) as { rows: unknown[]; hasMore: boolean; note: string };
    expect([countTokens(text) <= 8000, rows.length > 100, rows.length < 1000, hasMore, note]).toEqual([
      true,
      true,
      true,
      true,
      `Cut at ${rows.length} of 1000 groups: an answer is limited to about 8000 tokens. Continue with nextCursor. Narrow the filters, or group by fewer fields.`,
    ]);
  });

  test('errors of a model say what to send', async () => {
    expect([
      await call({}),
      await call({ operation: 'median' }),
      await call({ operation: 'sum' }),
      await call({ operation: 'count', groups: [{ field: 'placed_at', bucket: 'Minute' }] }),
      await call({ operation: 'count', groups: [{ name: 'placed_at' }] }),
      await call({ operation: 'count', groupping: 'id' }),
      await call({ operation: 'count', groups: 'customer' }),
      await call({ operation: 'count', limit: 5000 }),
    ]).toEqual([
      'INVALID_ARGUMENT: operation: send {"operation":"count"}, or "sum" or "avg" or "max" or "min" with a field. More: {"measures":{"middle":{"median":"price"}}}.',
      'INVALID_ARGUMENT: operation: send {"operation":"count"}, or "sum" or "avg" or "max" or "min" with a field. More: {"measures":{"middle":{"median":"price"}}}.',
      'INVALID_ARGUMENT: field: Sum needs a field. Usable: id, customer_id, total, cents.',
      'INVALID_ARGUMENT: groups.bucket: send "Year" or "Quarter" or "Month" or "Week" or "Day" or "Hour".',
      'INVALID_ARGUMENT: groups: send a list such as ["status",{"field":"created_at","bucket":"Month"}].',
      'INVALID_ARGUMENT: groupping: unknown argument. Near: groups.',
      "RELATION_NEEDS_FIELD: 'customer' of 'orders' is a relation: name one of its fields, such as 'customer:id'.",
      'INVALID_ARGUMENT: limit: at most 1000 groups; continue with nextCursor.',
    ]);
  });
});

describe('arguments', () => {
  let server: McpTestServer;
  const asked: AggregateRequest[] = [];
  beforeAll(async () => {
    server = await openMcpServer({
      source: shop(),
      around: (engine) => ({
        ...engine,
        aggregate: async (_, request) => {
          asked.push(request);
          return { columns: [], rows: [], hasMore: false, cursorAfter: () => '' };
        },
      }),
    });
  });
  afterAll(() => server.close());

  const base = { collection: 'orders', operation: 'Count', limit: 50 };
  test.each<[string, Record<string, unknown>, Partial<AggregateRequest>]>([
    ['only the operation, in any case', { operation: 'COUNT' }, {}],
    ['one group as a string', { groups: ' customer:name ' }, { groups: [{ field: 'customer:name' }] }],
    ['groups as a JSON string', { groups: '["id"]' }, { groups: [{ field: 'id' }] }],
    [
      'one group as an object, a bucket in any case',
      { groups: { field: 'placed_at', bucket: 'month' } },
      { groups: [{ field: 'placed_at', bucket: 'Month' }] },
    ],
    [
      'search, also in relations',
      { search: ' a ', shouldSearchInRelation: 'true' },
      { search: 'a', searchExtended: true },
    ],
    [
      'filters and limit as strings',
      { filters: '{"field":"id","operator":"=","value":1}', limit: '5' },
      { filter: { field: 'id', operator: 'Equal', value: 1 }, limit: 5 },
    ],
    ['null counts as absent', { field: null, groups: null, filters: null, timezone: null, limit: null }, {}],
  ])('%s', async (_, given, expected) => {
    asked.length = 0;
    const sent = { collectionName: 'orders', operation: 'count', ...given };
    const answer = answerOf((await post(server, legacy('tools/call', { name: 'aggregate', arguments: sent }))).body);
    expect([asked, answer]).toEqual([[{ ...base, ...expected }], { columns: [], rows: [], hasMore: false }]);
  });

  test('the activity log names the collection, and no values', async () => {
    const given = { collectionName: 'orders', operation: 'count', search: 'a secret' };
    await post(server, legacy('tools/call', { name: 'aggregate', arguments: given }));
    const { startedAt: _, durationMs: __, ...entry } = server.activity.at(-1)!;
    expect([entry, JSON.stringify(server.observations).includes('secret')]).toEqual([
      {
        userId: 2,
        renderingId: 1,
        clientId: 'client-2',
        clientName: 'Test client',
        action: 'aggregate',
        type: 'read',
        collection: 'orders',
        outcome: 'completed',
      },
      false,
    ]);
  });
});
