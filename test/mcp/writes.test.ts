// The path of a write: the pending log entry, the permission check, a single execution, and the completed log entry.
import { afterEach, expect, test } from 'vitest';
import type { Engine } from '../../src/agent/engine.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { accessOf, type Rights, shopTables } from '../agent/shop.ts';
import { ask } from './asking.ts';
import { legacy, type McpTestServer, type McpTestServerOptions, openMcpServer, post } from './mcp-server.ts';

let server: McpTestServer;
afterEach(() => server.close());

async function open(options: McpTestServerOptions = {}, rights: Rights = {}) {
  server = await openMcpServer({
    source: createMemorySource('memory', shopTables),
    access: () => accessOf(rights),
    ...options,
  });
  return server;
}

const name = { collectionName: 'customers', attributes: { id: 9, name: 'Dee' } };
const marks = async () =>
  (await server.store.activity.list({ limit: 10 })).map(({ action, type, collection, recordIds, outcome, code }) => ({
    action,
    type,
    collection,
    recordIds,
    outcome,
    code,
  }));
const mark = { action: 'create', type: 'write', collection: 'customers', recordIds: undefined, code: undefined };
const customers = async () =>
  JSON.parse(await ask(server, 'list', { collectionName: 'customers', fields: ['id'] })).rows.length;

/** An engine that reads the log during a create. */
const watched =
  (seen: unknown[], fails?: () => never) =>
  (engine: Engine): Engine => ({
    ...engine,
    create: async (...given) => {
      seen.push(...(await marks()));
      fails?.();
      return engine.create(...given);
    },
  });

test('the log mark exists before the write, and afterwards shows the outcome and the created records', async () => {
  const seen: unknown[] = [];
  await open({ around: watched(seen) });
  const text = await ask(server, 'create', name);
  expect([text, seen, await marks(), server.activity]).toEqual([
    '{"count":1,"ids":["9"],"columns":["id","name","city","secret"],"rows":[[9,"Dee",null,null]]}',
    [{ ...mark, outcome: 'unknown' }],
    [{ ...mark, outcome: 'completed', recordIds: ['9'] }],
    [],
  ]);
});

test('an error completes the mark with its code, also an internal error', async () => {
  const seen: unknown[] = [];
  await open({
    around: watched(seen, () => {
      throw new Error('the disk of the database is full');
    }),
  });
  const text = await ask(server, 'create', name);
  await ask(server, 'create', { ...name, attributes: 'nothing' });
  expect([
    text.split(':')[0],
    await marks(),
    server.activity.map(({ type, outcome, code }) => [type, outcome, code]),
  ]).toEqual([
    'INTERNAL',
    [{ ...mark, outcome: 'failed', code: 'INTERNAL' }],
    [['write', 'failed', 'INVALID_ARGUMENT']],
  ]);
});

test('a denial is logged as denied', async () => {
  await open({}, { denied: ['customers.add'] });
  const text = await ask(server, 'create', name);
  expect([text, await marks(), await customers()]).toEqual([
    "FORBIDDEN: You may not add to 'customers'. An administrator can allow it.",
    [{ ...mark, outcome: 'denied', code: 'FORBIDDEN' }],
    3,
  ]);
});

test('permissions are compared before the write: a revoked token writes nothing and gets 401', async () => {
  const seen: unknown[] = [];
  await open({ around: watched(seen) });
  server.holds.push(Promise.resolve(false));
  const call = legacy('tools/call', { name: 'create', arguments: name });
  const asked = server.asked.push.bind(server.asked);
  // The token is revoked between the first check and the second.
  server.asked.push = (...headers) => {
    queueMicrotask(() => server.revoked.add('user-2'));
    return asked(...headers);
  };
  const { status } = await post(server, call);
  expect([status, seen, await marks()]).toEqual([401, [], [{ ...mark, outcome: 'denied', code: 'UNAUTHENTICATED' }]]);
});

test('if the permissions changed, the call continues with the new ones, and writes once', async () => {
  const seen: unknown[] = [];
  await open({ around: watched(seen) });
  server.holds.push(Promise.resolve(false));
  const text = await ask(server, 'create', name);
  expect([JSON.parse(text).count, seen.length, server.renewed, await customers()]).toEqual([1, 1, ['user-2'], 4]);
});

test('without the OAuth scope nothing is marked and nothing is written', async () => {
  await open();
  const { status } = await post(server, legacy('tools/call', { name: 'create', arguments: name }), {
    authorization: 'Bearer reader-2',
  });
  expect([status, await marks(), server.activity.map(({ outcome, code }) => [outcome, code])]).toEqual([
    403,
    [],
    [['denied', 'INSUFFICIENT_SCOPE']],
  ]);
});

test('a write that cannot be marked is refused', async () => {
  const seen: unknown[] = [];
  await open({ around: watched(seen) });
  await server.store.close();
  const text = await ask(server, 'create', name);
  expect([text, seen, await customers()]).toEqual([
    'SOURCE_UNAVAILABLE: The database cannot be reached at the moment. Try again shortly. If the problem persists, tell the operator: the log has the cause.',
    [],
    3,
  ]);
});

test('a dry run is a read: no mark, one log entry, nothing written', async () => {
  await open();
  const text = await ask(server, 'create', { ...name, dryRun: 'true' });
  expect([
    JSON.parse(text),
    await marks(),
    server.activity.map(({ action, type, outcome }) => [action, type, outcome]),
    await customers(),
  ]).toEqual([
    {
      dryRun: true,
      count: 1,
      changes: [{ id: null, fields: { id: { before: null, after: 9 }, name: { before: null, after: 'Dee' } } }],
    },
    [],
    [['create', 'read', 'completed']],
    3,
  ]);
});
