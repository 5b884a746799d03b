// With SERVICE_MCP_OUTPUT_SCHEMA every tool has an output schema, and real clients validate structured content against
// it without errors. Without the setting all responses stay the same.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FormerClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FormerTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { type Caller, fullAccess } from '../../src/core/caller.ts';
import { toolNames } from '../../src/mcp/tools.ts';
import { legacy, type McpTestServer, notes, openMcpServer, post, withExtras } from './mcp-server.ts';

let plain: McpTestServer;
let server: McpTestServer;
beforeAll(async () => {
  const customize = withExtras('notes', 'owner');
  // Access to all notes, to link them to each other.
  const access = (id: number) => fullAccess({ id, timezone: 'UTC', tags: {}, renderingId: 1 } as Caller);
  const columns = notes.columns.map((column) => ({ ...column, nullable: column.name === 'owner' }));
  const source = () => createMemorySource('memory', [{ ...notes, columns }]);
  const both = { source: source(), customize, access, workflowOn: 'notes' };
  plain = await openMcpServer(both);
  server = await openMcpServer({ ...both, source: source(), settings: { outputSchemas: true } });
});
afterAll(() => Promise.all([plain.close(), server.close()]));

interface Answer {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

interface AnyClient {
  listTools(): Promise<{ tools: { name: string; outputSchema?: unknown }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

const requestInit = { headers: { authorization: 'Bearer user-2' } };
const connected = async (url: string, mode: 'legacy' | { pin: '2026-07-28' }): Promise<AnyClient> => {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return client as unknown as AnyClient;
};
const clients: readonly (readonly [string, (url: string) => Promise<AnyClient>])[] = [
  ['2026-07-28', (url) => connected(url, { pin: '2026-07-28' })],
  ['2025-11-25', (url) => connected(url, 'legacy')],
  [
    '2025-11-25, by the previous SDK',
    async (url) => {
      const client = new FormerClient({ name: 'test', version: '1' });
      await client.connect(new FormerTransport(new URL(url), { requestInit }) as never);
      return client as unknown as AnyClient;
    },
  ],
];

let lastId = 9000;
const inNotes = { collectionName: 'notes' };
const attributes = (id: number) => ({ id, owner: 2, text: 'new' });
/** Successful calls for each tool; `id` is an unused key. */
const calls = (id: number): readonly (readonly [string, Record<string, unknown>])[] => [
  ['describeCollection', {}],
  ['describeCollection', { ...inNotes, detail: 'full' }],
  ['list', inNotes],
  ['list', { ...inNotes, format: 'records', enableCount: true, pagination: { size: 1 } }],
  ['list', { ...inNotes, search: 'nothing like it' }],
  ['listRelated', { ...inNotes, parentRecordId: 2, relationName: 'others' }],
  ['create', { ...inNotes, attributes: attributes(id), dryRun: true }],
  ['create', { ...inNotes, attributes: attributes(id) }],
  ['update', { ...inNotes, recordId: id, attributes: { text: 'changed' }, dryRun: true }],
  ['update', { ...inNotes, recordId: id, attributes: { text: 'changed' } }],
  ['associate', { ...inNotes, parentRecordId: id, relationName: 'others', targetRecordId: 52, dryRun: true }],
  ['dissociate', { ...inNotes, parentRecordId: 2, relationName: 'others', targetRecordIds: [52], dryRun: true }],
  ['delete', { ...inNotes, recordIds: [id], dryRun: true }],
  ['delete', { ...inNotes, recordIds: [id] }],
  ['getActionForm', { ...inNotes, actionName: 'Archive', recordIds: [2] }],
  ['executeAction', { ...inNotes, actionName: 'Archive', recordIds: [2], dryRun: true }],
  ['executeAction', { ...inNotes, actionName: 'Archive', recordIds: [2] }],
  ['requestActionFileUpload', { filename: 'a.txt', mimeType: 'text/plain' }],
  ['aggregate', { ...inNotes, operation: 'count', groups: ['owner'] }],
  ['getChart', { chartName: 'total' }],
  ['listWorkflows', {}],
  ['triggerWorkflow', { workflowId: server.workflows.workflowId, recordId: id }],
  ['getWorkflowRun', { runId: server.workflows.runId }],
];

describe.each(clients)('a client of %s', (_, connect) => {
  test('accepts every answer of every tool, and its structured content equals its text', async () => {
    const client = await connect(server.url);
    const { tools } = await client.listTools();
    expect(tools.map(({ name, outputSchema }) => [name, typeof outputSchema])).toEqual(
      toolNames.map((name) => [name, 'object']),
    );
    const answered = new Set<string>();
    const refused: string[] = [];
    for (const [name, given] of calls(++lastId)) {
      const { content, structuredContent, isError } = (await client.callTool({ name, arguments: given })) as Answer;
      expect(content).toHaveLength(1);
      if (isError) {
        refused.push(`${name}: ${content[0]?.text}`);
        continue;
      }
      answered.add(name);
      expect(structuredContent).toEqual(JSON.parse(content[0]!.text));
    }
    expect(refused).toEqual([]);
    expect([...answered].sort()).toEqual([...toolNames].sort());
    await client.close();
  });

  test('accepts the errors of every tool, which have no structured content', async () => {
    const client = await connect(server.url);
    await client.listTools();
    for (const name of toolNames) {
      const call = { name, arguments: { collectionName: 'nothing', chartName: 'nothing', noSuchArgument: 1 } };
      const { content, structuredContent, isError } = (await client.callTool(call)) as Answer;
      expect([name, isError, structuredContent, content.length]).toEqual([name, true, undefined, 1]);
    }
    await client.close();
  });

  test('without the setting gets no schema and no structured content', async () => {
    const client = await connect(plain.url);
    const { tools } = await client.listTools();
    const answer = (await client.callTool({ name: 'list', arguments: inNotes })) as Answer;
    expect([tools.filter((tool) => 'outputSchema' in tool), 'structuredContent' in answer]).toEqual([[], false]);
    await client.close();
  });
});

test('the schemas cost at most 1,500 tokens, and change nothing else of the tool list', async () => {
  interface Listed {
    result: { tools: { outputSchema?: unknown }[] };
  }
  const listed = async (one: McpTestServer) => ((await post(one, legacy('tools/list'))).body as Listed).result.tools;
  const [before, after] = [await listed(plain), await listed(server)];
  const cost = countTokens(JSON.stringify(after)) - countTokens(JSON.stringify(before));
  console.log(`outputSchema of ${after.length} tools: ${cost} tokens`);
  expect(after.map(({ outputSchema, ...rest }) => rest)).toEqual(before);
  expect(cost).toBeLessThanOrEqual(1500);
});
