// Field names are input too: limits on their number, repeated names, and the names in errors.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { estimateTokens } from '../../src/mcp/results/tokens.ts';
import { type McpTestServer, modern, openMcpServer, post } from './mcp-server.ts';

const columns = Array.from({ length: 900 }, (_, at) => `a_rather_long_name_of_the_column_${at}_of_a_wide_table`);

let server: McpTestServer;
beforeAll(async () => {
  server = await openMcpServer({
    source: createMemorySource('wide', [
      {
        name: 'notes',
        columns: [
          { name: 'id', type: 'Number' },
          { name: 'owner', type: 'Number' },
          ...columns.map((name) => ({ name, type: 'String' as const, nullable: true })),
        ],
        primaryKey: ['id'],
        rows: Array.from({ length: 100 }, (_, at) => [at + 1, 2, ...columns.map(() => 'x')]),
      },
    ]),
  });
});
afterAll(() => server.close());

const list = (given: object): Promise<string> => ask('list', given);

async function ask(name: string, given: object): Promise<string> {
  const call = modern('tools/call', { name, arguments: { collectionName: 'notes', ...given } });
  const { body } = await post(server, call.body, call.headers);
  return (body as { result: { content: [{ text: string }] } }).result.content[0].text;
}

test('a field that is named twice is returned once', async () => {
  const answer = JSON.parse(await list({ fields: ['id', 'owner', 'id', ' id ', 'owner'], pagination: { size: 1 } }));
  expect([answer.columns, answer.rows]).toEqual([['id', 'owner'], [[1, 2]]]);
});

test('100,000 field names are refused, as a list and as a string', async () => {
  const many = Array(100_000).fill('id');
  for (const fields of [many, many.join(',')])
    expect(await list({ fields })).toContain('fields: at most 1000 fields, got 100000.');
});

// Each name takes microseconds to look up, and a request can contain 50,000.
test.each<[tool: string, given: (many: Record<string, unknown>) => object, problem: string]>([
  ['aggregate', (many) => ({ measures: many }), 'measures: at most 20 measures, got 20000.'],
  ['aggregate', (many) => ({ measures: JSON.stringify(many) }), 'measures: at most 20 measures, got 20000.'],
  ['aggregate', (many) => ({ measures: { n: 'm' }, over: { measures: many } }), 'measures: at most 20 measures, got 20000.'],
  ['aggregate', (many) => ({ measures: { n: { count: true } }, sort: Object.keys(many) }), 'sort: at most 100 fields to sort by, got 20000.'],
  ['list', (many) => ({ sort: Object.keys(many) }), 'sort: at most 100 fields to sort by, got 20000.'],
  ['list', (many) => ({ filters: many }), 'filters: at most 500 conditions, got 20000.'],
  ['list', (many) => ({ cells: many }), 'cells: at most 1000 fields, got 20000.'],
  ['list', (many) => ({ fields: Object.keys(many).map((name) => ({ name, count: 'x' })) }), 'fields: at most 1000 fields, got 20000.'],
  ['create', (many) => ({ attributes: many }), 'attributes: at most 5000 fields, got 20000.'],
])('%s refuses thousands of names before it looks them up', async (tool, given, problem) => {
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`m${at}`, { count: true }]));
  expect(await ask(tool, given(many))).toContain(problem);
}); // biome-ignore format: a table

test('names of columns count towards the budget of an answer', async () => {
  const few = await list({ fields: columns.slice(0, 200), pagination: { size: 100 } });
  expect(JSON.parse(few).columns).toHaveLength(200);
  expect(estimateTokens(few)).toBeLessThan(server.config.answerTokens * 1.05);
  for (const format of ['table', 'records'])
    expect(await list({ fields: columns, format })).toMatch(
      /fields: one record with 900 columns .* Name fewer fields\./,
    );
});
