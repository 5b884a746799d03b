// The official client libraries, old and new, in every mode over HTTP.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitRequestSchema,
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { Extension } from '../../src/mcp/server.ts';
import { toolNames } from '../../src/mcp/tools.ts';
import { type McpTestServer, openMcpServer, withExtras } from './mcp-server.ts';

const info = { name: 'client-test', version: '1.0.0' };
const requestInit = { headers: { authorization: 'Bearer user-3' } };

type Conversation = {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
};

const modes = {
  'client 2.x, legacy': 'legacy',
  'client 2.x, auto': 'auto',
  'client 2.x, pinned to 2026-07-28': { pin: '2026-07-28' },
} as const;

async function connectClient(name: string, url: string): Promise<Conversation> {
  if (name in modes) {
    const mode = modes[name as keyof typeof modes];
    const client = new Client(info, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    return client;
  }
  const client = new FirstClient(info);
  // The SDK's own types do not satisfy exactOptionalPropertyTypes.
  await client.connect(new FirstTransport(new URL(url), { requestInit }) as Parameters<FirstClient['connect']>[0]);
  return client as Conversation;
}

const requestedSchema = { type: 'object' as const, properties: { color: { type: 'string' as const } } };
const asking: Extension = {
  capabilities: {},
  tools: [
    {
      definition: { name: 'ask', inputSchema: { type: 'object' } },
      async run(_params, ctx) {
        const answer = await ctx.mcpReq.elicitInput({ message: 'Which color?', requestedSchema });
        return { content: [{ type: 'text', text: String(answer.content?.color) }] };
      },
    },
  ],
  install: () => undefined,
};

describe.each(['shared', 'sdk'] as const)('served by %s instances', (serving) => {
  let server: McpTestServer;
  beforeAll(async () => {
    server = await openMcpServer({ serving, customize: withExtras('notes', 'owner'), workflowOn: 'notes' });
  });
  afterAll(() => server.close());

  test.each([...Object.keys(modes), 'sdk 1.x'])('%s lists the tools and calls one', async (name) => {
    const client = await connectClient(name, server.url);
    const { tools } = await client.listTools();
    const result = await client.callTool({
      name: 'list',
      arguments: { collectionName: 'notes', fields: ['id', 'text'], pagination: { size: 3 } },
    });
    await client.close();
    expect([tools.map((tool) => tool.name), (result as { content: unknown }).content]).toEqual([
      toolNames,
      [
        {
          type: 'text',
          text: '{"columns":["id","text"],"rows":[[3,"note 3 of user 3"],[53,"note 53 of user 3"],[103,"note 103 of user 3"]],"hasMore":false}',
        },
      ],
    ]);
  });
});

test('an elicitation reaches a client without an open stream', async () => {
  const server = await openMcpServer({ legacySessions: 'auto', extension: asking });
  const client = new FirstClient(info, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { color: 'green' } }));
  const withoutStream: typeof fetch = async (url, init) =>
    init?.method === 'GET' ? new Response(null, { status: 405 }) : fetch(url, init);
  const transport = new FirstTransport(new URL(server.url), { requestInit, fetch: withoutStream });
  await client.connect(transport as Parameters<FirstClient['connect']>[0]);
  const result = await client.callTool({ name: 'ask', arguments: {} }, undefined, { timeout: 5000 });
  await client.close();
  await server.close();
  expect(result.content).toEqual([{ type: 'text', text: 'green' }]);
});

test('a client with a session is notified of changes on its open stream', async () => {
  const server = await openMcpServer({ legacySessions: 'auto' });
  const client = new FirstClient(info, { capabilities: { elicitation: {} } });
  const heard: string[] = [];
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.push('tools'));
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => void heard.push('resources'));
  client.setNotificationHandler(PromptListChangedNotificationSchema, () => void heard.push('prompts'));
  await client.connect(
    new FirstTransport(new URL(server.url), { requestInit }) as Parameters<FirstClient['connect']>[0],
  );
  // The client opens its stream shortly after it connects and receives no notification before.
  for (let tries = 0; tries < 100 && heard.length < 3; tries++) {
    server.tellOfChange();
    for (let turn = 0; turn < 10 && heard.length < 3; turn++) await systemClock.sleep(20);
  }
  await client.close();
  await server.close();
  expect(heard.slice(0, 3)).toEqual(['tools', 'resources', 'prompts']);
});
