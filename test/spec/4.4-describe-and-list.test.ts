// The tools describeCollection and list over the real endpoint, on every database.
import { afterEach, describe, expect, test } from 'vitest';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { accessOf, databases, type Rights, type Seller, type Shop, shopTables } from '../agent/shop.ts';
import { ask } from '../mcp/asking.ts';
import { type McpTestServer, openMcpServer } from '../mcp/mcp-server.ts';

let server: McpTestServer;
let shop: Shop | undefined;
afterEach(async () => {
  await server.close();
  await shop?.close();
  shop = undefined;
});

async function open(seller: Seller, rights: Rights = {}) {
  const opened = await seller.open();
  shop = opened;
  server = await openMcpServer({
    source: createMemorySource('memory', shopTables),
    access: () => accessOf(rights),
    around: () => ({ ...opened.engine, close: async () => {} }),
  });
  return (tool: string, given: Record<string, unknown> = {}) => ask(server, tool, given);
}

describe.each(databases)('4.4 MCP tools on $name', (seller) => {
  test('describeCollection: the index, and one collection with fields, relations and key', async () => {
    const call = await open(seller);
    const { collections } = JSON.parse(await call('describeCollection'));
    const orders = JSON.parse(await call('describeCollection', { collectionName: 'orders' }));
    expect([Object.keys(collections).sort(), orders]).toEqual([
      expect.arrayContaining(['customers', 'order_lines', 'orders']),
      {
        name: 'orders',
        key: 'id',
        fields: {
          id: expect.stringMatching(/^Number/),
          customer_id: expect.stringMatching(/^Number\?/),
          total: expect.stringMatching(/^Number/),
          placed_at: expect.stringMatching(/^Date/),
        },
        relations: expect.objectContaining({ customer: 'one customers' }),
      },
    ]);
  });

  test('describeCollection: names only what the caller may see', async () => {
    const call = await open(seller, { browse: ['orders'] });
    expect([
      Object.keys(JSON.parse(await call('describeCollection')).collections),
      (await call('describeCollection', { collectionName: 'orders' })).includes('customers'),
      await call('describeCollection', { collectionName: 'customers' }),
    ]).toEqual([['orders'], false, expect.stringMatching(/^UNKNOWN_COLLECTION: /)]);
  });

  test('list: fields through relations, filter, sort, pages and the count', async () => {
    const call = await open(seller);
    const asked = {
      collectionName: 'orders',
      fields: ['id', 'customer:name'],
      filters: { field: 'total', operator: 'GreaterThan', value: 6 },
      sort: [{ field: 'total', ascending: false }],
      pagination: { size: 2, number: 1 },
      enableCount: true,
    };
    const first = JSON.parse(await call('list', asked));
    expect([first, JSON.parse(await call('list', { ...asked, cursor: first.nextCursor }))]).toEqual([
      {
        columns: ['id', 'customer:name'],
        rows: [
          [4, null],
          [3, 'Bo'],
        ],
        hasMore: true,
        nextCursor: expect.any(String),
        totalCount: 4,
      },
      {
        columns: ['id', 'customer:name'],
        rows: [
          [2, 'Bo'],
          [1, 'Ada'],
        ],
        hasMore: false,
        totalCount: 4,
      },
    ]);
  });

  test('list: a search, and only the records of the caller', async () => {
    const scopes = { customers: { field: 'city', operator: 'Equal', value: 'Rome' } } as const;
    const call = await open(seller, { scopes });
    const names = async (given: object) =>
      JSON.parse(await call('list', { collectionName: 'customers', fields: ['name'], ...given })).rows;
    expect([await names({ search: 'bo' }), await names({ search: 'ada' }), await names({})]).toEqual([
      [['Bo']],
      [],
      [['Bo']],
    ]);
  });
});
