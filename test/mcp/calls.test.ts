import { afterEach, expect, test } from 'vitest';
import type { StopSignal } from '../../src/core/clock/stop.ts';
import { systemClock } from '../../src/core/clock.ts';
import { AppError } from '../../src/core/errors.ts';
import { conformanceFixture } from '../conformance/fixture.ts';
import { answerOf, legacy, type McpTestServer, modern, openMcpServer, post } from './mcp-server.ts';

let server: McpTestServer;
afterEach(() => server.close());

const listCall = (given: Record<string, unknown> = {}) =>
  modern('tools/call', { name: 'list', arguments: { collectionName: 'notes', ...given } });

const send = (wire: ReturnType<typeof modern>, headers: Record<string, string | undefined> = {}) =>
  post(server, wire.body, { ...wire.headers, ...headers });

/** A promise with its resolve and reject. */
function later<T>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

test('a read starts immediately, and its answer waits until the permissions are confirmed', async () => {
  const started = later<void>();
  server = await openMcpServer({ beforeList: async () => started.resolve() });
  const stands = later<boolean>();
  server.holds.push(stands.promise);
  let answered = false;
  const answer = send(listCall()).finally(() => {
    answered = true;
  });
  await started.promise;
  await systemClock.sleep(40);
  const early = answered;
  stands.resolve(true);
  expect([early, (await answer).status]).toEqual([false, 200]);
});

test('if the permissions changed, the call is checked and runs again, once', async () => {
  let lists = 0;
  const beforeList = async () => {
    lists++;
  };
  server = await openMcpServer({ beforeList });
  server.holds.push(Promise.resolve(false), Promise.resolve(true));
  const answer = await send(listCall());
  expect([answer.status, lists, server.asked, server.renewed, server.activity.length]).toEqual([
    200,
    2,
    ['Bearer user-2'],
    ['user-2'],
    1,
  ]);
});

test('a token revoked during the call gets 401 with a challenge, and no rows', async () => {
  const started = later<void>();
  const stands = later<boolean>();
  server = await openMcpServer({ beforeList: async () => started.resolve() });
  server.holds.push(stands.promise);
  const call = send(listCall());
  await started.promise;
  server.revoked.add('user-2');
  stands.resolve(false);
  const answer = await call;
  expect([answer.status, answer.headers.get('www-authenticate')?.slice(0, 28), answer.body]).toEqual([
    401,
    'Bearer error="invalid_token"',
    { error: 'invalid_token', error_description: 'There is no usable token.' },
  ]);
  expect(server.activity.map(({ outcome, code }) => ({ outcome, code }))).toEqual([
    { outcome: 'denied', code: 'UNAUTHENTICATED' },
  ]);
});

test('a token revoked before tools/list answers gets 401', async () => {
  server = await openMcpServer();
  const first = await send(modern('tools/list'));
  server.asked.length = 0;
  const stands = later<boolean>();
  server.holds.push(stands.promise);
  const call = send(modern('tools/list'));
  while (server.asked.length === 0) await systemClock.sleep(2);
  server.revoked.add('user-2');
  stands.resolve(false);
  expect([first.status, (await call).status]).toEqual([200, 401]);
});

test('permissions that keep changing end the call with NOT_READY', async () => {
  server = await openMcpServer();
  server.holds.push(Promise.resolve(false), Promise.resolve(false));
  expect(answerOf((await send(listCall())).body)).toBe(
    'NOT_READY: The server is starting or stopping. Try again shortly.',
  );
});

test.each(['modern', 'legacy'] as const)('a %s client that disconnects cancels its call', async (era) => {
  const started = later<StopSignal>();
  const beforeList = async (_access: unknown, signal: StopSignal | undefined) => {
    started.resolve(signal!);
    await systemClock.sleep(20_000, signal);
  };
  server = await openMcpServer({ beforeList });
  const leave = new AbortController();
  const params = { name: 'list', arguments: { collectionName: 'notes' } };
  const wire = era === 'modern' ? listCall() : { body: legacy('tools/call', params), headers: {} };
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: 'Bearer user-2',
    ...wire.headers,
  };
  const call = fetch(server.url, { method: 'POST', headers, body: JSON.stringify(wire.body), signal: leave.signal });
  const outcome = call.then(
    () => 'answered',
    () => 'left',
  );
  const signal = await started.promise;
  const stopped = new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped')));
  leave.abort();
  expect([await outcome, await stopped]).toEqual(['left', 'stopped']);
});

test('progress makes the answer an event stream; without a progress token the answer is JSON', async () => {
  server = await openMcpServer({ extension: conformanceFixture });
  const withToken = await send(
    modern('tools/call', { name: 'test_tool_with_progress', _meta: { progressToken: 'mine' } }, 'call-1'),
  );
  const without = await send(modern('tools/call', { name: 'test_tool_with_progress' }, 'call-2'));
  const events = String(withToken.body)
    .split('\n\n')
    .filter(Boolean)
    .map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 6)));
  expect([
    withToken.headers.get('content-type'),
    events.map((event) => event.params?.progress ?? event.id),
    events.map((event) => event.params?.progressToken),
  ]).toEqual(['text/event-stream', [0, 50, 100, 'call-1'], ['mine', 'mine', 'mine', undefined]]);
  expect([without.headers.get('content-type'), (without.body as { id: string }).id]).toEqual([
    'application/json',
    'call-2',
  ]);
});

test('every call makes one activity entry and one observation: names, outcome and code, no values', async () => {
  server = await openMcpServer();
  const secret = 'hunter2-value';
  await send(listCall({ search: secret }));
  await send(listCall({ fields: ['txt'] }));
  await send(listCall({ filters: secret }));
  await send(modern('tools/call', { name: 'describeCollection', arguments: { collectionName: 'notes' } }));
  const seen = server.activity.map(({ action, type, collection, outcome, code }) => [
    action,
    type,
    collection,
    outcome,
    code,
  ]);
  expect(seen).toEqual([
    ['list', 'read', 'notes', 'completed', undefined],
    ['list', 'read', 'notes', 'failed', 'UNKNOWN_FIELD'],
    ['list', 'read', undefined, 'failed', 'INVALID_ARGUMENT'],
    ['describeCollection', 'read', 'notes', 'completed', undefined],
  ]);
  const told = JSON.stringify([server.activity, server.observations]);
  expect([server.observations.filter(({ type }) => type === 'tool.called').length, told.includes(secret)]).toEqual([
    4,
    false,
  ]);
});

test('an unexpected error becomes INTERNAL with a request id; its cause is logged', async () => {
  const cause = new Error('password of the database is swordfish');
  const beforeList = () => Promise.reject(cause);
  server = await openMcpServer({ beforeList });
  const text = String(answerOf((await send(listCall())).body));
  const failure = server.observations.find((observation) => observation.type === 'failure');
  const requestId = failure?.type === 'failure' ? failure.requestId : '';
  expect(text).toBe(
    `INTERNAL: An internal error occurred; your call is not the cause. Tell the operator: request ${requestId}.`,
  );
  expect(failure).toEqual({ type: 'failure', where: 'mcp list', requestId, cause });
});

test('an engine error is a tool error with its near names', async () => {
  server = await openMcpServer();
  const answer = await send(listCall({ fields: ['txt'] }));
  expect((answer.body as { result: unknown }).result).toMatchObject({
    isError: true,
    content: [
      {
        type: 'text',
        text: "UNKNOWN_FIELD: 'notes' has no field 'txt'. Near: text. Call describeCollection for all fields.",
      },
    ],
  });
});

test('a denial by permissions is logged as denied', async () => {
  const beforeList = () => Promise.reject(new AppError('FORBIDDEN', { verb: 'browse', collection: 'notes' }));
  server = await openMcpServer({ beforeList });
  await send(listCall());
  expect(server.activity.map(({ outcome, code }) => [outcome, code])).toEqual([['denied', 'FORBIDDEN']]);
});

test('enabled tools are an exact list: others are neither listed nor called', async () => {
  server = await openMcpServer({ settings: { enabledTools: ['list'] } });
  const listed = await send(modern('tools/list'));
  const called = await send(modern('tools/call', { name: 'describeCollection', arguments: {} }));
  const names = (listed.body as { result: { tools: { name: string }[] } }).result.tools.map((tool) => tool.name);
  expect([names, (called.body as { error: { code: number } }).error.code, server.observations[0]?.type]).toEqual([
    ['list'],
    -32602,
    'warning',
  ]);
});

test('an enabled tool that does not exist fails at start with near names', async () => {
  server = await openMcpServer();
  await expect(openMcpServer({ settings: { enabledTools: ['lists'] } })).rejects.toMatchObject({
    code: 'CONFIGURATION',
    message: "enabledTools (SERVICE_MCP_ENABLED_TOOLS): no tool 'lists'. Near: list.",
  });
});

test('the count runs in parallel with the list', async () => {
  const order: string[] = [];
  const told =
    <A extends unknown[], R>(name: string, run: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      order.push(`${name} starts`);
      const result = await run(...args);
      order.push(`${name} ends`);
      return result;
    };
  server = await openMcpServer({
    around: (engine) => ({ ...engine, list: told('list', engine.list), count: told('count', engine.count) }),
    beforeList: () => systemClock.sleep(1),
  });
  const answer = await send(listCall({ enableCount: 'true', pagination: { size: '1', number: 3 }, fields: 'id' }));
  expect([order.indexOf('count starts') < order.indexOf('list ends'), answerOf(answer.body)]).toEqual([
    true,
    { columns: ['id'], rows: [[102]], hasMore: false, totalCount: 3 },
  ]);
});
