// Prompts and completion, in every client library. They contain only what the caller may see.
import { afterEach, describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { MemoryTable } from '../../src/agent/sources/memory/tables.ts';
import { type Caller, fullAccess, type Verb } from '../../src/core/caller.ts';
import { ask } from './asking.ts';
import { type AnyClient, clientNames, connectClient } from './client.ts';
import { type McpTestServer, notes, openMcpServer } from './mcp-server.ts';

let server: McpTestServer;
const clients: AnyClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await server.close();
});

const visits: MemoryTable = {
  name: 'visits',
  columns: [
    { name: 'id', type: 'Number' },
    { name: 'on', type: 'Dateonly' },
    { name: 'minutes', type: 'Number' },
  ],
  primaryKey: ['id'],
  rows: [],
};
const numbered = Array.from({ length: 120 }, (_, n) => ({ ...visits, name: `week${n}` }));
const source = (...more: MemoryTable[]) => createMemorySource('memory', [notes, visits, ...more]);

const caller: Caller = {
  id: 2,
  email: 'ada@example.test',
  firstName: 'Ada',
  lastName: 'Byron',
  team: 'Operations',
  role: 'Member',
  tags: {},
  timezone: 'UTC',
  permissionLevel: 'user',
  renderingId: 1,
};
/** Read access to notes only. */
const reader = () => {
  const full = fullAccess(caller);
  const verbs: readonly Verb[] = ['browse', 'read'];
  return { ...full, can: (verb: Verb, collection: string) => collection === 'notes' && verbs.includes(verb) };
};

describe.each(clientNames)('%s', (name) => {
  const connect = async (token = 'user-2', query = '') => {
    const client = await connectClient(name, server.url + query, token);
    clients.push(client);
    return client;
  };
  const names = async (client: AnyClient) => (await client.listPrompts()).prompts.map((prompt) => prompt.name);
  const textOf = async (client: AnyClient, prompt: string, given: Record<string, string>) => {
    const { messages } = await client.getPrompt({ name: prompt, arguments: given });
    const [{ role, content }] = messages as [{ role: string; content: { type: string; text: string } }];
    return { count: messages.length, role, text: content.text };
  };
  const complete = async (client: AnyClient, prompt: string, argument: string, value: string) =>
    (await client.complete({ ref: { type: 'ref/prompt', name: prompt }, argument: { name: argument, value } }))
      .completion;
  const refusal = (work: Promise<unknown>): Promise<[number?, string?]> =>
    work.then(
      () => [],
      ({ code, message }) => [code, message.replace(/^MCP error -\d+: /, '')],
    );

  test('each prompt contains the description of its collection, as the tool returns it', async () => {
    server = await openMcpServer({ source: source() });
    const client = await connect();
    expect(await names(client)).toEqual(['explore', 'totals', 'change-safely']);
    const description = await ask(server, 'describeCollection', { collectionName: 'visits' });
    const given: [string, Record<string, string>, RegExp][] = [
      ['explore', { collection: ' visits ' }, /^Give me an overview of the collection 'visits'\./],
      [
        'totals',
        { collection: 'visits', period: 'week', measure: 'minutes' },
        /'minutes' in the collection 'visits' for each week/,
      ],
      [
        'change-safely',
        { collection: 'visits', change: 'Round the minutes.' },
        /'visits': Round the minutes\.\n.*dryRun/s,
      ],
    ];
    for (const [prompt, args, start] of given) {
      const { count, role, text } = await textOf(client, prompt, args);
      expect([count, role, text.endsWith(`\n${description}`)]).toEqual([1, 'user', true]);
      expect(text).toMatch(start);
    }
    expect(server.activity.map(({ action, collection }) => [action, collection])).toEqual(
      Array(4).fill(['describeCollection', 'visits']),
    );
  });

  test('a user without a tool gets no prompt that uses it, and no hidden name', async () => {
    server = await openMcpServer({ source: source(), access: reader });
    const client = await connect();
    const hidden = await refusal(client.getPrompt({ name: 'explore', arguments: { collection: 'visits' } }));
    const missing = await refusal(client.getPrompt({ name: 'explore', arguments: { collection: 'nothing' } }));
    expect([
      await names(client),
      (await complete(client, 'explore', 'collection', '')).values,
      (await complete(client, 'totals', 'collection', '')).values,
      (await refusal(client.getPrompt({ name: 'change-safely', arguments: { collection: 'notes', change: 'x' } })))[0],
      hidden,
    ]).toEqual([['explore', 'totals'], ['notes'], [], -32602, [-32602, missing[1]?.replace('nothing', 'visits')]]);
  });

  test('the URL restricts prompts and completion', async () => {
    server = await openMcpServer({ source: source() });
    const client = await connect('user-2', '?readonly=true&collections=notes');
    expect([await names(client), (await complete(client, 'explore', 'collection', '')).values]).toEqual([
      ['explore', 'totals'],
      ['notes'],
    ]);
  });

  test('wrong arguments are refused with what to send', async () => {
    server = await openMcpServer({ source: source() });
    const client = await connect();
    const get = (prompt: string, given: Record<string, string>) =>
      refusal(client.getPrompt({ name: prompt, arguments: given }));
    expect([
      await get('explor', {}),
      await get('explore', {}),
      await get('explore', { collection: 'nots' }),
      await get('explore', { collection: 'notes', depth: '3' }),
      await get('totals', { collection: 'visits', period: 'decade' }),
    ]).toEqual([
      [-32602, "No prompt 'explor'. Near: explore."],
      [-32602, 'collection: required. Name of a collection.'],
      [
        -32602,
        "UNKNOWN_COLLECTION: No collection 'nots'. Near: notes. Call describeCollection without a name for the list.",
      ],
      [-32602, 'depth: unknown argument. Known: collection.'],
      [-32602, "INVALID_ARGUMENT: period: send 'Year' or 'Quarter' or 'Month' or 'Week' or 'Day'."],
    ]);
  });

  test('names are completed, also in templates: prefixes first, at most 100', async () => {
    server = await openMcpServer({ source: source(...numbered) });
    const client = await connect();
    const template = { type: 'ref/resource' as const, uri: 'portico://collections/{name}' };
    const ofTemplate = await client.complete({ ref: template, argument: { name: 'name', value: 'NO' } });
    const many = await complete(client, 'explore', 'collection', 'week');
    expect([
      (await complete(client, 'explore', 'collection', 'it')).values,
      (await complete(client, 'explore', 'collection', 'e1')).values.slice(0, 3),
      (await complete(client, 'totals', 'period', 'q')).values,
      (await complete(client, 'totals', 'measure', 'a')).values,
      ofTemplate.completion.values,
      [many.values.length, many.total, many.hasMore],
      (await refusal(client.complete({ ref: template, argument: { name: 'id', value: '' } })))[0],
    ]).toEqual([['visits'], [], ['Quarter'], [], ['notes'], [100, 120, true], -32602]);
  });
});

test('without the tools that they use, prompts are not listed', async () => {
  const customize = (agent: HeadlessAgent) => void agent;
  server = await openMcpServer({ source: source(), customize, settings: { enabledTools: ['list'] } });
  const client = await connectClient('sdk 1.x', server.url, 'user-2');
  clients.push(client);
  expect([(await client.listPrompts()).prompts, (await client.listResources()).resources]).toEqual([[], []]);
});
