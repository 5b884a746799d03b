// Resources return the same as describeCollection, to callers with access, in every client library.
import { afterEach, describe, expect, test } from 'vitest';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { fullAccess, type Verb } from '../../src/core/caller.ts';
import { ask } from './asking.ts';
import { type AnyClient, clientNames, connectClient } from './client.ts';
import { type McpTestServer, modern, notes, openMcpServer, post, withExtras } from './mcp-server.ts';

let server: McpTestServer;
const clients: AnyClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await server.close();
});

const table = (name: string) => ({ ...notes, name, rows: [] });
const source = (...names: string[]) => createMemorySource('memory', [notes, ...names.map(table)]);

const query = 'portico://query';
const all = ['portico://collections', 'portico://collections/notes', 'portico://collections/red%20%26%20blue'];

describe.each(clientNames)('%s', (name) => {
  const connect = async (token = 'user-2', query = '') => {
    const client = await connectClient(name, server.url + query, token);
    clients.push(client);
    return client;
  };
  const addresses = async (client: AnyClient) => (await client.listResources()).resources.map(({ uri }) => uri);
  const textOf = async (client: AnyClient, uri: string) => {
    const { contents } = await client.readResource({ uri });
    const [content] = contents as { uri: string; mimeType: string; text: string }[];
    return { count: contents.length, ...content! };
  };
  const failure = (work: Promise<unknown>): Promise<{ code?: number; message: string }> =>
    work.then(
      () => ({ message: 'no failure' }),
      ({ code, message }) => ({ code, message }),
    );

  test('lists the index and every collection, and each resource equals describeCollection', async () => {
    server = await openMcpServer({ source: source('red & blue'), customize: withExtras('notes', 'owner') });
    const client = await connect();
    const { resources } = await client.listResources();
    const { resourceTemplates } = await client.listResourceTemplates();
    expect([
      resources.map(({ uri, title, mimeType }) => [uri, title, mimeType]),
      resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    ]).toEqual([
      [
        [all[0], 'Collections', 'application/json'],
        [all[1], 'notes', 'application/json'],
        [all[2], 'red & blue', 'application/json'],
        [query, 'Query language', 'text/markdown'],
      ],
      ['portico://collections/{name}', 'portico://files/{collection}/{id}/{field}'],
    ]);
    const given = [{}, { collectionName: 'notes' }, { collectionName: 'red & blue' }];
    for (const [at, uri] of all.entries()) {
      const text = await ask(server, 'describeCollection', given[at]!);
      expect(await textOf(client, uri)).toMatchObject({ count: 1, uri, mimeType: 'application/json', text });
    }
    const text = await ask(server, 'describeCollection', { detail: 'query' });
    expect(await textOf(client, query)).toMatchObject({ count: 1, mimeType: 'text/markdown', text });
  });

  test('a resource that the caller may not see has the same error as a missing one', async () => {
    const access = (id: number) => {
      const full = fullAccess({ ...caller, id });
      return { ...full, can: (verb: Verb, collection: string) => collection === 'notes' && full.can(verb, collection) };
    };
    server = await openMcpServer({ source: source('secrets'), access });
    const client = await connect();
    const unknown = async (uri: string) => {
      const { code, message } = await failure(client.readResource({ uri }));
      return [code, message.replaceAll(uri, '<uri>')];
    };
    const missing = await unknown('portico://collections/nothing');
    // Invalid params with the URI as data, as in 2026-07-28; the SDK sends the same to earlier clients.
    expect(missing[0]).toBe(-32602);
    for (const uri of ['portico://collections/secrets', 'portico://nowhere', 'portico://collections/%E0', 'x:y'])
      expect(await unknown(uri)).toEqual(missing);
    expect([await addresses(client), (await textOf(client, all[0]!)).text]).toEqual([
      [all[0], all[1], query],
      '{"collections":{"notes":""}}',
    ]);
  });

  test('the URL restricts resources as it restricts tools', async () => {
    server = await openMcpServer({ source: source('secrets') });
    const client = await connect('user-2', '?collections=secrets');
    expect([
      await addresses(client),
      (await textOf(client, all[0]!)).text,
      (await failure(client.readResource({ uri: all[1]! }))).code !== undefined,
    ]).toEqual([[all[0], 'portico://collections/secrets', query], '{"collections":{"secrets":""}}', true]);
  });

  test('a caller without describeCollection has no resources', async () => {
    server = await openMcpServer({ source: source() });
    const client = await connect('writer-2');
    expect([
      await addresses(client),
      (await client.listResourceTemplates()).resourceTemplates,
      (await failure(client.readResource({ uri: all[1]! }))).code !== undefined,
    ]).toEqual([[], [], true]);
  });
});

const caller = {
  id: 0,
  email: 'ada@example.test',
  firstName: 'Ada',
  lastName: 'Byron',
  team: 'Operations',
  role: 'Member',
  tags: {},
  timezone: 'UTC',
  permissionLevel: 'user',
  renderingId: 1,
} as const;

test('a page ends with a cursor that works even after the named collection was removed', async () => {
  const names = Array.from({ length: 450 }, (_, n) => `t${String(n).padStart(3, '0')}`);
  server = await openMcpServer({ source: source(...names) });
  const pages: number[] = [];
  const seen: string[] = [];
  let cursor: string | undefined;
  const list = (from?: string) => {
    const { body, headers } = modern('resources/list', from === undefined ? {} : { cursor: from });
    return post(server, body, headers);
  };
  do {
    const { body } = await list(cursor);
    const { result } = body as { result: { resources: { uri: string }[]; nextCursor?: string } };
    pages.push(result.resources.length);
    seen.push(...result.resources.map(({ uri }) => uri));
    cursor = result.nextCursor;
  } while (cursor !== undefined);
  const gone = Buffer.from('portico://collections/t447-gone').toString('base64url');
  const after = await list(gone);
  const wrong = await list('made up');
  expect([pages, new Set(seen).size, after.body, wrong.body]).toMatchObject([
    [200, 200, 53],
    453,
    { result: { resources: [{ name: 't448' }, { name: 't449' }, { name: 'query' }] } },
    { error: { code: -32602, message: 'Unknown cursor: start again without one.' } },
  ]);
});

test('a read is logged as an activity, and its answer may be cached privately for a time', async () => {
  server = await openMcpServer();
  const read = (uri: string) => {
    const { body, headers } = modern('resources/read', { uri });
    return post(server, body, { ...headers, 'mcp-name': uri });
  };
  const answers = [await read('portico://collections/notes'), await read('portico://collections/none')];
  expect([
    answers[0]!.body,
    server.activity.map(({ action, type, collection, outcome, code }) => [action, type, collection, outcome, code]),
  ]).toMatchObject([
    { result: { ttlMs: 300_000, cacheScope: 'private', contents: [{ uri: 'portico://collections/notes' }] } },
    [
      ['describeCollection', 'read', 'notes', 'completed', undefined],
      ['describeCollection', 'read', 'none', 'failed', 'UNKNOWN_COLLECTION'],
    ],
  ]);
});
