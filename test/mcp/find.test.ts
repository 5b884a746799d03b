// A search of the model by words: describeCollection with `search`, over the endpoint and by a real client.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { accessOf } from '../agent/shop.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { type McpTestServer, openMcpServer } from './mcp-server.ts';

const tables = [
  'create table customers (id integer not null primary key, name varchar(40), birth_date date, secret_note varchar(40))',
  'create table orders (id integer not null primary key, customer_id integer, placed_at date, shipped_at date, total integer, foreign key (customer_id) references customers (id))',
  'create table suppliers (id integer not null primary key, name varchar(40), unit_price integer)',
];

const customize = (agent: HeadlessAgent) =>
  void agent
    .customizeCollection('customers', (customers) => customers.describe({ synonyms: ['clients'] }))
    .customizeCollection('orders', (orders) =>
      orders
        .describeField('total', { description: 'What the buyer pays', synonyms: ['turnover'], unit: 'EUR' })
        .describeField('shipped_at', { description: 'The day on which the parcel left' }),
    )
    .addMetric('late orders', { collection: 'orders', measure: { count: true }, description: 'Sent after a week' });

describe.each(servers)('$dialect', (dbServer) => {
  let database: TestDatabase;
  let server: McpTestServer;
  let client: Client;
  beforeAll(async () => {
    database = await dbServer.create();
    await runSql(database, tables);
    server = await openMcpServer({
      source: createSqlSource(database.url, { observe: () => undefined, clock: systemClock }),
      customize,
      access: (id) => (id === 4 ? accessOf({ hidden: ['orders.total', 'customers.secret_note'] }) : accessOf()),
      settings: { answerTokens: 500 },
    });
    client = await connect(2);
  });
  afterAll(async () => {
    await client?.close();
    await server?.close();
    await database?.drop();
  });

  async function connect(user: number): Promise<Client> {
    const connected = new Client({ name: 'test', version: '1' });
    const requestInit = { headers: { authorization: `Bearer user-${user}` } };
    await connected.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }) as never);
    return connected;
  }
  const text = async (given: object, by = client): Promise<string> => {
    const result = await by.callTool({ name: 'describeCollection', arguments: { ...given } });
    return (result.content as unknown as [{ text: string }])[0].text;
  };
  /** The parts that are found, by collection. */
  const find = async (given: object, by = client): Promise<Record<string, string[]>> => {
    const { collections } = JSON.parse(await text(given, by)) as {
      collections: Record<string, { fields: object; relations?: object; metrics?: object }>;
    };
    return Object.fromEntries(
      Object.entries(collections).map(([name, { fields, relations = {}, metrics = {} }]) => [
        name,
        [
          ...Object.keys(fields),
          ...Object.keys(relations),
          ...(Array.isArray(metrics) ? metrics : Object.keys(metrics)),
        ],
      ]),
    );
  };

  test.each<[string, Record<string, string[]>]>([
    ['Which collection has the shipping date?', { orders: ['shipped_at'] }],
    ['parcel', { orders: ['shipped_at'] }],
    ['turnover', { orders: ['total'] }],
    ['clients', { customers: [] }],
    ['unit price', { suppliers: ['unit_price'] }],
    ['name of the customer', { customers: ['name'] }],
    ['late', { orders: ['late orders'] }],
  ])('%s', async (search, expected) => {
    const found = await find({ search });
    expect(found).toMatchObject(expected);
    expect(Object.keys(found)[0]).toBe(Object.keys(expected)[0]);
  });

  test('shows types and descriptions of the fields it found', async () => {
    const { collections } = JSON.parse(await text({ search: 'turnover' }));
    expect(collections).toEqual({
      orders: {
        key: 'id',
        fields: { total: expect.stringMatching(/^Number/) },
        descriptions: { total: 'What the buyer pays; in EUR' },
      },
    });
  });

  test('finds only what the caller may see', async () => {
    const limited = await connect(4);
    for (const search of ['turnover', 'buyer pays', 'secret note']) {
      const answer = await text({ search }, limited);
      expect(answer).not.toMatch(/"total|secret/);
    }
    await limited.close();
    expect(await find({ search: 'secret note' })).toMatchObject({ customers: ['secret_note'] });
  });

  test('search within named collections', async () => {
    expect(await find({ search: 'name', collectionName: 'suppliers' })).toEqual({ suppliers: ['name'] });
    expect(await text({ search: 'name', collectionName: 'supplier_list' })).toMatch(/^UNKNOWN_COLLECTION/);
  });

  test('no match, and a search that is too long', async () => {
    expect(JSON.parse(await text({ search: 'zebra' }))).toEqual({
      collections: {},
      note: 'Nothing matches. Send other words, or no search for all collections.',
    });
    expect(await text({ search: 'a'.repeat(201) })).toMatch(/^INVALID_ARGUMENT: .*at most 200 characters/);
  });

  test('stays within the budget of an answer', async () => {
    expect(countTokens(await text({ search: 'date name total id price note', detail: 'full' }))).toBeLessThanOrEqual(
      500,
    );
  });
});
