// What an assistant sees of an agent, through the MCP test client.
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  AgentHttpError,
  createMcpTestClient,
  createTestableAgent,
  McpToolError,
  type TestableAgent,
} from '../../src/testing/index.ts';
import { messageOf } from '../app/agent.ts';
import { describeShop } from './shop.ts';

let place: TestableAgent;
beforeAll(async () => {
  place = await createTestableAgent(describeShop, { mcp: { basePath: '/data' } });
});
afterAll(() => place?.close());

test('the client lists the tools of the user, and returns their results', async () => {
  const { mcp } = place;
  const tools = await mcp.listTools();
  const index = await mcp.describe();
  const customers = await mcp.describe('customers');
  const listed = await mcp.call('list', { collectionName: 'customers', segment: 'Placed', fields: ['label'] });
  expect([
    tools.map(({ name }) => name).includes('list'),
    tools.find(({ name }) => name === 'list')?.inputSchema.type,
    JSON.stringify(index).includes('order_lines'),
    JSON.stringify(customers).includes('Secret_word'),
    listed,
  ]).toEqual([
    true,
    'object',
    true,
    true,
    { columns: ['label'], rows: [['Ada (Paris)'], ['Bo (Rome)']], hasMore: false },
  ]);
});

test('an error of a tool is the text that the assistant reads; an error of the endpoint has its status', async () => {
  const { mcp } = place;
  const error = await mcp.call('list', { collectionName: 'custmers' }).catch((thrown: unknown) => thrown);
  const unknown = await mcp.call('lst').catch((thrown: unknown) => thrown);
  expect([
    error instanceof McpToolError && [error.tool, error.text.includes("No collection 'custmers'. Near: customers")],
    unknown instanceof AgentHttpError || unknown instanceof McpToolError,
  ]).toEqual([['list', true], true]);
});

test('overridden permissions apply to assistants as well', async () => {
  const { mcp } = place;
  const read = async () =>
    Object.keys((await mcp.call('aggregate', { collectionName: 'orders', operation: 'Count' })).rows);
  await mcp.overridePermissions({
    customers: { fields: { Secret_word: 'hidden' } },
    orders: { browse: false, read: false },
  });
  const hidden = JSON.stringify(await mcp.describe('customers')).includes('Secret_word');
  const denied = await messageOf(read);
  await mcp.overridePermissions({});
  expect([hidden, denied.includes("'orders'"), await read()]).toEqual([false, true, ['0']]);
});

test('a token of fewer scopes sees fewer tools', async () => {
  const reader = await createMcpTestClient({ ...place.options, mcpPath: place.mcpPath, scopes: ['mcp:read'] });
  const names = (await reader.listTools()).map(({ name }) => name);
  await reader.close();
  const status = await reader
    .call('delete', { collectionName: 'orders', recordIds: [1] })
    .catch((error) => error.status);
  expect([names.includes('list'), status]).toEqual([true, 403]);
});

test('wrong options are errors that say what to set', async () => {
  const make = (more: object) => messageOf(() => createMcpTestClient({ ...place.options, ...more }));
  const elsewhere = await createMcpTestClient({ ...place.options, mcpPath: '/mcp' });
  expect([
    await make({ scopes: ['all'] }),
    await make({ mcpPath: 'mcp' }),
    await make({ serverUrl: 7 }),
    await elsewhere.listTools().catch((error: AgentHttpError) => error.status),
  ]).toEqual([
    expect.stringMatching(/createMcpTestClient: 'scopes' must be a list of mcp:read, mcp:write, mcp:action/),
    expect.stringMatching(/createMcpTestClient: 'mcpPath' must be a path such as '\/data\/mcp'/),
    expect.stringMatching(/createMcpTestClient: 'serverUrl' must be the address of the sandbox/),
    404,
  ]);
  await elsewhere.close();
});
