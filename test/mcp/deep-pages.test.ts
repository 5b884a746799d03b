import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { openMcpServer } from './mcp-server.ts';

test('a page by number after 10,000 records recommends the cursor; earlier and last pages do not', async () => {
  const rows = Array.from({ length: 10_010 }, (_, at) => [at]);
  const table = { name: 'numbers', columns: [{ name: 'n', type: 'Number' as const }], primaryKey: ['n'], rows };
  const server = await openMcpServer({ source: createMemorySource('memory', [table]) });
  onTestFinished(() => server.close());
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: 'Bearer user-1' } };
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }) as never);
  onTestFinished(() => client.close());
  const list = async (more: object) => {
    const { content } = await client.callTool({ name: 'list', arguments: { collectionName: 'numbers', ...more } });
    return JSON.parse((content as { text: string }[])[0]!.text);
  };

  const late = await list({ pagination: { size: 5, number: 2001 } });
  expect(late).toMatchObject({
    rows: [[10_000], [10_001], [10_002], [10_003], [10_004]],
    note: 'The database read the 10000 records before this page too. Continue with nextCursor instead of pagination.number.',
  });
  const next = await list({ pagination: { size: 5 }, cursor: late.nextCursor });
  expect([next.rows[0], next.note]).toEqual([[10_005], undefined]);
  expect((await list({ pagination: { size: 5, number: 2000 } })).note).toBeUndefined();
  expect((await list({ pagination: { size: 5, number: 2002 } })).note).toBeUndefined();
});
