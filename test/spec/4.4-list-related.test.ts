// The tool listRelated over the real endpoint.
import { afterEach, describe, expect, test } from 'vitest';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { accessOf, type Rights, shopTables } from '../agent/shop.ts';
import { ask } from '../mcp/asking.ts';
import { type McpTestServer, openMcpServer } from '../mcp/mcp-server.ts';

let server: McpTestServer;
afterEach(() => server.close());

async function open(rights: Rights = {}) {
  server = await openMcpServer({ source: createMemorySource('memory', shopTables), access: () => accessOf(rights) });
  return (given: Record<string, unknown>) =>
    ask(server, 'listRelated', { collectionName: 'customers', relationName: 'orders', parentRecordId: 2, ...given });
}

describe('4.4 MCP tools', () => {
  test('listRelated: the records of a to-many relation of one record, with the arguments of list', async () => {
    const related = await open();
    const page = { fields: ['id', 'customer:name'], pagination: { size: 1 }, enableCount: true };
    const first = JSON.parse(await related(page)) as { nextCursor: string };
    expect([
      first,
      JSON.parse(await related({ ...page, cursor: first.nextCursor })),
      await related({ fields: 'id', filters: '{"field":"id","operator":"GreaterThan","value":2}' }),
      await related({ fields: ['id'], sort: '-id', format: 'records' }),
      await related({ parentRecordId: '3', fields: ['total'] }),
      server.activity.map(({ action, type, collection, recordIds }) => [action, type, collection, recordIds])[0],
    ]).toEqual([
      {
        columns: ['id', 'customer:name'],
        rows: [[2, 'Bo']],
        hasMore: true,
        nextCursor: expect.any(String),
        totalCount: 2,
      },
      { columns: ['id', 'customer:name'], rows: [[3, 'Bo']], hasMore: false, totalCount: 2 },
      '{"columns":["id"],"rows":[[3]],"hasMore":false}',
      '{"records":[{"id":3},{"id":2}],"hasMore":false}',
      '{"columns":["total"],"rows":[[5]],"hasMore":false}',
      ['listRelated', 'read', 'customers', ['2']],
    ]);
  });

  test('listRelated: of a record with a composite key, as a list or packed', async () => {
    const related = await open();
    const lines = { collectionName: 'order_lines', relationName: 'line_notes', fields: ['text'] };
    expect([
      await related({ ...lines, parentRecordId: [1, 2] }),
      await related({ ...lines, parentRecordId: '1|2' }),
      await related({ ...lines, parentRecordId: '[3,1]' }),
    ]).toEqual([
      '{"columns":["text"],"rows":[["blue"]],"hasMore":false}',
      '{"columns":["text"],"rows":[["blue"]],"hasMore":false}',
      '{"columns":["text"],"rows":[["lined"]],"hasMore":false}',
    ]);
  });
});

describe('errors', () => {
  test('listRelated: says what to send, by the argument names of the tool', async () => {
    const related = await open();
    expect([
      await related({ relationName: 'ordres' }),
      await related({ collectionName: 'orders', relationName: 'customer' }),
      await related({ parentRecordId: undefined }),
      await related({ parentRecordId: { nr: 2 } }),
      await related({ parentRecordId: 'two' }),
      await related({ parentRecordId: [2, 3] }),
      await related({ parentRecordId: 99 }),
      await related({ rowsPerView: 3 }),
      await related({ pagination: { size: 5000 } }),
      await related({ fields: ['parcel:id'] }),
    ]).toEqual([
      "UNKNOWN_RELATION: 'customers' has no relation 'ordres'. Near: orders.",
      "INVALID_ARGUMENT: relationName: 'customer' leads to one record: list 'orders' with fields such as 'customer:id'.",
      'INVALID_ARGUMENT: parentRecordId: send the id of the record.',
      'INVALID_ARGUMENT: parentRecordId: send one id, a number or a string.',
      'INVALID_VALUE: parentRecordId: expected a number, got "two".',
      'INVALID_VALUE: parentRecordId: expected one value, got [2,3].',
      "RECORD_NOT_FOUND: No record '99' in 'customers', or you may not see it.",
      expect.stringMatching(/^INVALID_ARGUMENT: rowsPerView: unknown argument\. /),
      'INVALID_ARGUMENT: pagination.size: at most 1000; continue with nextCursor.',
      expect.stringMatching(/^UNKNOWN_FIELD: 'orders' has no field 'parcel:id'/),
    ]);
  });

  test('listRelated: hidden relations and records give the same errors as unknown ones', async () => {
    const scopes = { customers: { field: 'city', operator: 'Equal', value: 'Paris' } } as const;
    const related = await open({ browse: ['customers', 'order_lines', 'line_notes'], scopes });
    const unseen = await related({});
    server.close();
    const scoped = await open({ scopes });
    expect([unseen, await scoped({}), await scoped({ parentRecordId: 77 })]).toEqual([
      "UNKNOWN_RELATION: 'customers' has no relation 'orders'.",
      "RECORD_NOT_FOUND: No record '2' in 'customers', or you may not see it.",
      "RECORD_NOT_FOUND: No record '77' in 'customers', or you may not see it.",
    ]);
  });
});
