// Repeated calls with an idempotency key: the write runs once, and every repeat returns its result.
import { afterEach, expect, test } from 'vitest';
import type { Engine } from '../../src/agent/engine.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { fail } from '../../src/core/errors.ts';
import { accessOf, type Rights, shopTables } from '../agent/shop.ts';
import { ask } from './asking.ts';
import { legacy, type McpTestServer, openMcpServer, post } from './mcp-server.ts';

let server: McpTestServer;
afterEach(() => server.close());

const given = {
  collectionName: 'customers',
  attributes: { id: 9, name: 'Dee', city: 'Rome' },
  idempotencyKey: 'key-1',
};
let rights: Rights;

async function open(before: () => unknown = () => undefined): Promise<{ creates: number }> {
  rights = {};
  const seen = { creates: 0 };
  server = await openMcpServer({
    source: createMemorySource('memory', shopTables),
    access: () => accessOf(rights),
    around: (engine): Engine => ({
      ...engine,
      create: async (...args) => {
        seen.creates++;
        await before();
        return engine.create(...args);
      },
    }),
  });
  return seen;
}

const create = (more: object = {}, token?: string) => ask(server, 'create', { ...given, ...more }, token);
const made = '{"count":1,"ids":["9"],"columns":["id","name","city","secret"],"rows":[[9,"Dee","Rome",null]]}';

test('the repeat gets the first answer and writes nothing; the log shows it as a read', async () => {
  const seen = await open();
  const texts = [await create(), await create({ attributes: '{"city":"Rome","name":"Dee","id":9}' }), await create()];
  const marks = await server.store.activity.list({ limit: 5 });
  expect([texts, seen.creates, marks.length, server.activity.map(({ type, outcome }) => [type, outcome])]).toEqual([
    [made, made, made],
    1,
    1,
    [
      ['read', 'completed'],
      ['read', 'completed'],
    ],
  ]);
});

test('of two concurrent calls, one writes and the other waits for its answer', async () => {
  const seen = await open(() => systemClock.sleep(300));
  const texts = await Promise.all([create(), create()]);
  expect([texts, seen.creates]).toEqual([[made, made], 1]);
});

test('other arguments and a long key are errors; another user and a dry run do not share the key', async () => {
  const seen = await open();
  await create();
  const attributes = { id: 10, name: 'Eve' };
  const texts = [
    await create({ attributes }),
    await create({ idempotencyKey: 'k'.repeat(201) }),
    await create({ attributes, dryRun: true }),
    await create({ attributes }, 'user-3'),
  ];
  expect([texts.slice(0, 2), JSON.parse(texts[2]!).dryRun, JSON.parse(texts[3]!).ids, seen.creates]).toEqual([
    [
      "IDEMPOTENCY_KEY_REUSED: This idempotencyKey was already sent to 'create' with other arguments. Use a new key for a new call.",
      'INVALID_ARGUMENT: idempotencyKey: at most 200 characters.',
    ],
    true,
    ['10'],
    3,
  ]);
});

test('the stored answer is returned only to a caller who still has the rights', async () => {
  await open();
  await create();
  const withheld = [];
  for (const less of [{ denied: ['customers.add'] }, { hidden: ['customers.city'] }, { browse: ['orders'] }]) {
    rights = less;
    withheld.push((await create()).split(':')[0]);
  }
  rights = {};
  const { url } = server;
  const narrowed = await ask({ url: `${url}?readonly=true` }, 'create', given).catch((error) => String(error));
  expect([withheld, narrowed.includes('Dee'), await create()]).toEqual([
    ['ANSWER_WITHHELD', 'ANSWER_WITHHELD', 'UNKNOWN_COLLECTION'],
    false,
    made,
  ]);
});

test('a revoked token gets no stored answer', async () => {
  await open();
  await create();
  server.holds.push(Promise.resolve(false));
  const asked = server.asked.push.bind(server.asked);
  server.asked.push = (...headers) => {
    queueMicrotask(() => server.revoked.add('user-2'));
    return asked(...headers);
  };
  const answer = await post(server, legacy('tools/call', { name: 'create', arguments: given }));
  expect([answer.status, JSON.stringify(answer.body).includes('Dee')]).toEqual([401, false]);
});

test('after an error that wrote nothing, the key can be used again', async () => {
  const seen = await open();
  const wrong = await create({ attributes: { id: 1, name: 'Taken' } });
  expect([wrong.split(':')[0], await create(), seen.creates]).toEqual(['INVALID_RECORD', made, 2]);
});

test('after a write conflict, the key can be used again', async () => {
  const seen = await open(() => {
    if (seen.creates === 1) fail('WRITE_CONFLICT', { collection: 'customers' });
  });
  const refused = await create();
  expect(refused).toMatch(/^WRITE_CONFLICT:/);
  expect(await create()).toBe(made);
  expect(seen.creates).toBe(2);
});

test('after an error during the write the outcome is unknown, and the write is not repeated', async () => {
  const seen = await open(() => {
    throw new Error('the connection was lost');
  });
  const texts = [await create(), await create()];
  expect([texts.map((text) => text.split(':')[0]), seen.creates]).toEqual([['INTERNAL', 'OUTCOME_UNKNOWN'], 1]);
});

test('a call continues after its client disconnects, and the repeat gets its answer', async () => {
  const seen = await open(() => systemClock.sleep(400));
  const leave = new AbortController();
  const first = fetch(server.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: 'Bearer user-2',
    },
    body: JSON.stringify(legacy('tools/call', { name: 'create', arguments: given })),
    signal: leave.signal,
  }).catch(() => 'left');
  while (seen.creates === 0) await systemClock.sleep(5);
  leave.abort();
  expect([await first, await create(), seen.creates]).toEqual(['left', made, 1]);
});
