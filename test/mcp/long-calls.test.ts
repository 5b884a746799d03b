// Long calls: progress for clients of every version, and cleanup after a cancellation.
import { afterEach, describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import type { StopSignal } from '../../src/core/clock/stop.ts';
import { systemClock } from '../../src/core/clock.ts';
import { createProgress, type ProgressMessage } from '../../src/mcp/transport/progress.ts';
import { type AnyClient, clientNames, connectClient } from './client.ts';
import { answerOf, legacy, type McpTestServer, modern, openMcpServer, post } from './mcp-server.ts';

let server: McpTestServer;
const clients: AnyClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await server?.close();
});

/** An action that reports progress `steps` times with pauses, and records how it ended. */
const counting =
  (steps: number, pauseMs: number, seen: string[] = []) =>
  (agent: HeadlessAgent): void => {
    agent.customizeCollection('notes', (collection) =>
      collection.addAction('Count', {
        scope: 'Bulk',
        async execute(context, resultBuilder) {
          seen.push('started');
          context.signal.addEventListener('abort', () => seen.push('told to stop'));
          for (let done = 1; done <= steps; done++) {
            await systemClock.sleep(pauseMs, context.signal);
            context.progress(done, steps, `note ${done}`);
          }
          seen.push('finished');
          return resultBuilder.success('Counted.');
        },
      }),
    );
  };

const count = {
  name: 'executeAction',
  arguments: { collectionName: 'notes', actionName: 'Count', recordIds: [2, 52] },
};
const list = { name: 'list', arguments: { collectionName: 'notes', fields: ['id'] } };

describe.each(clientNames)('%s', (name) => {
  const connect = async () => {
    const client = await connectClient(name, server.url, 'user-2');
    clients.push(client);
    return client;
  };

  test('receives the progress of an action, on the stream of its call', async () => {
    server = await openMcpServer({ customize: counting(3, 250) });
    const client = await connect();
    const heard: ProgressMessage[] = [];
    const result = await client.callTool(count, { onprogress: (message) => heard.push(message) });
    expect([heard, result.content[0]?.text.includes('Counted.')]).toEqual([
      [1, 2, 3].map((progress) => ({ progress, total: 3, message: `note ${progress}` })),
      true,
    ]);
  });

  test('with a timeout that progress resets does not give up on a running call', async () => {
    server = await openMcpServer({ beforeList: (_access, signal) => systemClock.sleep(3100, signal) });
    const client = await connect();
    const heard: ProgressMessage[] = [];
    const options = {
      timeout: 3000,
      resetTimeoutOnProgress: true,
      onprogress: (one: ProgressMessage) => heard.push(one),
    };
    const result = await client.callTool(list, options);
    expect([result.content[0]?.text, heard.map(({ message }) => message)]).toEqual([
      '{"columns":["id"],"rows":[[2],[52],[102]],"hasMore":false}',
      ['Still working, 1 s'],
    ]);
  });

  test('that cancels stops the code of an action, and the log records it', async () => {
    const seen: string[] = [];
    server = await openMcpServer({ customize: counting(1000, 20, seen) });
    const client = await connect();
    const leave = new AbortController();
    const call = client.callTool(count, { signal: leave.signal }).catch(() => 'cancelled');
    while (seen.length === 0) await systemClock.sleep(5);
    leave.abort('enough');
    const outcome = await call;
    const entry = async () => {
      const [last] = await server.store.activity.list({ limit: 1 });
      return last && [last.action, last.outcome, last.code];
    };
    for (let tries = 0; tries < 1000 && (await entry())?.[1] === 'unknown'; tries++) await systemClock.sleep(20);
    expect([outcome, seen, await entry()]).toEqual([
      'cancelled',
      ['started', 'told to stop'],
      ['executeAction', 'failed', 'CANCELLED'],
    ]);
  });
});

/** Sends a call without waiting for its response. */
function begin(from: string, token: string, id: number): Promise<string> {
  const headers = { 'mcp-session-id': from, authorization: `Bearer ${token}` };
  return post(server, legacy('tools/call', list, id), headers).then(({ status, body }) =>
    `${status} ${typeof body === 'object' ? 'answered' : (body ?? '')}`.trim(),
  );
}

const conversation = async (token = 'user-2'): Promise<string> => {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const { headers } = await post(server, legacy('initialize', params), { authorization: `Bearer ${token}` });
  return headers.get('mcp-session-id')!;
};

test('a cancel notification cancels the call of its own session, not one of another with the same id', async () => {
  let underWay = 0;
  server = await openMcpServer({
    async beforeList(_access, signal) {
      underWay++;
      await systemClock.sleep(1500, signal);
    },
  });
  const [mine, other] = [await conversation(), await conversation()];
  const calls = [
    begin(mine, 'user-2', 7),
    begin(other, 'user-2', 7),
    begin(mine, 'user-2', 8),
    begin(mine, 'user-4', 7),
  ];
  while (underWay < calls.length) await systemClock.sleep(5);
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
  const { status } = await post(server, cancel, { 'mcp-session-id': mine });
  expect([status, await Promise.all(calls)]).toEqual([
    202,
    // The response of a cancelled call ends without a message.
    ['200', '200 answered', '200 answered', '200 answered'],
  ]);
});

// CWE-639: the conversation id and the request id of a call are no permission to cancel it.
test.each([
  ['another user of the same client', 'user-4-2'],
  ['another client of the same user', 'user-2-4'],
])('a cancel notification of %s with the same session and request id cancels nothing', async (_, token) => {
  let isUnderWay = false;
  server = await openMcpServer({
    async beforeList(_access, signal) {
      isUnderWay = true;
      await systemClock.sleep(400, signal);
    },
  });
  const from = await conversation();
  const call = begin(from, 'user-2', 7);
  await expect.poll(() => isUnderWay, { interval: 5 }).toBe(true);
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
  await post(server, cancel, { 'mcp-session-id': from, authorization: `Bearer ${token}` });
  expect(await call).toBe('200 answered');
});

test.each([
  ['an invented session', 'conversation-none'],
  ['no session', undefined],
])('a cancel notification of %s cancels nothing', async (_, from) => {
  server = await openMcpServer({ beforeList: (_access, signal) => systemClock.sleep(400, signal) });
  const call = begin(await conversation(), 'user-2', 7);
  await systemClock.sleep(100);
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
  const { status } = await post(server, cancel, { 'mcp-session-id': from });
  expect([status, await call]).toEqual([202, '200 answered']);
});

test.each(['modern', 'legacy'] as const)(
  'without a progress token, and %s, a long call is answered as JSON',
  async (era) => {
    server = await openMcpServer({ beforeList: (_access, signal) => systemClock.sleep(1300, signal) });
    const { body, headers } =
      era === 'modern' ? modern('tools/call', list) : { body: legacy('tools/call', list), headers: {} };
    const answer = await post(server, body, headers);
    expect([answer.headers.get('content-type'), answerOf(answer.body)]).toMatchObject([
      'application/json',
      { columns: ['id'] },
    ]);
  },
);

test('a client that accepts only JSON gets JSON, with or without a progress token', async () => {
  server = await openMcpServer({ beforeList: (_access, signal) => systemClock.sleep(1300, signal) });
  const { body, headers } = modern('tools/call', { ...list, _meta: { progressToken: 'mine' } });
  const answer = await post(server, body, { ...headers, accept: 'application/json' });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
});

test('an invalid progress report is a failure of the code, not of the caller', async () => {
  server = await openMcpServer({
    customize: (agent) =>
      agent.customizeCollection('notes', (collection) =>
        collection.addAction('Count', {
          scope: 'Bulk',
          async execute(context, resultBuilder) {
            context.progress(Number.NaN);
            return resultBuilder.success();
          },
        }),
      ),
  });
  const answer = await post(server, legacy('tools/call', count));
  expect(answerOf(answer.body)).toMatch(/^ACTION_FAILED/);
});

describe('a call that exceeds the total time limit', () => {
  const settings = { callSeconds: 1 };
  const timedOut =
    'CALL_TIMED_OUT: The call took longer than 1 s and was stopped. Ask for less in one call, such as fewer records.';

  test.each([
    ['listens', (signal: StopSignal | undefined) => systemClock.sleep(20_000, signal)],
    ['ignores the signal', () => systemClock.sleep(20_000)],
  ])('is a read whose code %s: it is aborted', async (_, pause) => {
    server = await openMcpServer({ settings, beforeList: (_access, signal) => pause(signal) });
    const answer = await post(server, legacy('tools/call', list));
    expect([answerOf(answer.body), server.activity.map(({ code }) => code)]).toEqual([timedOut, ['CALL_TIMED_OUT']]);
  });

  test('is an action that heeds the signal: it is stopped, also with an idempotency key, and logged', async () => {
    const seen: string[] = [];
    server = await openMcpServer({ settings, customize: counting(1000, 20, seen) });
    const keyed = { ...count, arguments: { ...count.arguments, idempotencyKey: 'once' } };
    const answers = [await post(server, legacy('tools/call', count)), await post(server, legacy('tools/call', keyed))];
    const entries = await server.store.activity.list({ limit: 2 });
    expect([answers.map(({ body }) => answerOf(body)), seen, entries.map(({ code }) => code)]).toEqual([
      [timedOut, timedOut],
      ['started', 'told to stop', 'started', 'told to stop'],
      ['CALL_TIMED_OUT', 'CALL_TIMED_OUT'],
    ]);
  });

  test('is an action that ignores the signal: its own answer is returned, since it is done', async () => {
    server = await openMcpServer({
      settings,
      customize: (agent) =>
        agent.customizeCollection('notes', (collection) =>
          collection.addAction('Count', {
            scope: 'Bulk',
            async execute(_context, resultBuilder) {
              await systemClock.sleep(1400);
              return resultBuilder.success('Counted.');
            },
          }),
        ),
    });
    const answer = await post(server, legacy('tools/call', count));
    const [entry] = await server.store.activity.list({ limit: 1 });
    expect([JSON.stringify(answerOf(answer.body)).includes('Counted.'), entry?.outcome]).toEqual([true, 'completed']);
  });
});

describe('progress', () => {
  /** A clock that the test advances. */
  function handClock() {
    let now = 0;
    let timers: { at: number; run: () => void }[] = [];
    const pass = (ms: number) => {
      const until = now + ms;
      for (;;) {
        const next = timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        now = next.at;
        timers = timers.filter((timer) => timer !== next);
        next.run();
      }
      now = until;
    };
    const clock = {
      ...systemClock,
      monotonic: () => now,
      after(ms: number, run: () => void) {
        const timer = { at: now + ms, run };
        timers.push(timer);
        return () => {
          timers = timers.filter((one) => one !== timer);
        };
      },
    };
    return { clock, pass, waiting: () => timers.length };
  }

  function open() {
    const hands = handClock();
    const sent: ProgressMessage[] = [];
    const progress = createProgress(hands.clock, async (message) => void sent.push(message));
    return { ...hands, sent, progress };
  }

  test('of a silent call is sent after 1 s and then every 5 s, each value a little higher', async () => {
    const { pass, sent, progress, waiting } = open();
    pass(999);
    const early = sent.length;
    pass(15_001);
    await progress.end();
    pass(60_000);
    expect([early, sent.map(({ message }) => message), waiting()]).toEqual([
      0,
      ['Still working, 1 s', 'Still working, 6 s', 'Still working, 11 s', 'Still working, 16 s'],
      0,
    ]);
    expect(sent.map(({ progress: at }) => at)).toEqual([...new Set(sent.map(({ progress: at }) => at))].sort());
  });

  test('that is reported often is sent five times a second, and the last value always', async () => {
    const { pass, sent, progress } = open();
    for (let done = 1; done <= 1000; done++) {
      progress.report(done, 1000);
      pass(1);
    }
    await progress.end();
    expect(sent.map(({ progress: at }) => at)).toEqual([1, 200, 400, 600, 800, 1000]);
  });

  test('never decreases, and rises between reports by less than a hundredth', async () => {
    const { pass, sent, progress } = open();
    progress.report(0, 3);
    for (const done of [1, 1, 0.5, 2]) {
      pass(12_000);
      progress.report(done, 3);
    }
    await progress.end();
    progress.report(3, 3);
    const numbers = sent.map(({ progress: at }) => at);
    expect(numbers.every((at, place) => place === 0 || at > numbers[place - 1]!)).toBe(true);
    expect([numbers[0], numbers.filter(Number.isInteger), numbers.every((at) => at % 1 < 0.01)]).toEqual([
      0,
      [0, 1, 2],
      true,
    ]);
    expect(sent.every(({ total }) => total === 3)).toBe(true);
  });
});
