// The AI query route of the agent's HTTP API with OpenAI's official client, and plain requests that this client would
// not send.
import { OpenAI } from 'openai';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createEngineAgent } from '../../src/entries/engine.ts';
import { type AiProvider, createMemoryDataSource } from '../../src/index.ts';
import { failing, KEY, kinds, openProvider, type Reply, saying, speaking, spoken } from '../agent/ai-server.ts';
import { everything, openRestServer, type RestTestServer } from './rest-server.ts';

const path = '/_internal/ai/query';
const messages = [{ role: 'user' as const, content: 'How many orders?' }];
const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } }];

let server: RestTestServer;
afterEach(() => server?.close());

async function open(ai: AiProvider | null, settings = {}, access = () => everything): Promise<RestTestServer> {
  const agent = createEngineAgent().addDataSource(createMemoryDataSource('none', []));
  if (ai) agent.addAi(ai);
  const limits = { pageSizeLimit: 100, queryTimeoutMs: 10_000 };
  const engine = await agent.createEngine({ observe: () => {}, clock: systemClock, limits });
  server = await openRestServer({ engine, access, settings: { logLevel: 'Debug', ...settings } });
  return server;
}

const post = (body: unknown, init: RequestInit = {}) =>
  server.ask(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
  });

/** The client appends `/chat/completions` to its base URL; here its requests go to the one path of the route. */
const clientOf = () =>
  new OpenAI({
    apiKey: 'user',
    baseURL: server.api,
    maxRetries: 0,
    fetch: (_, init) => fetch(`${server.api}${path}`, init),
  });

const errorOf = async (answer: Response) => {
  const { errors } = (await answer.json()) as { errors: { status: number; code: string; detail: string }[] };
  return errors[0]!;
};

describe.each(kinds)('with a provider of the kind %s', (kind) => {
  const openWith = async (...replies: Reply[]) => {
    const provider = await openProvider(kind, ...replies);
    await open(provider.ai);
    return provider;
  };

  test('the official client gets an answer', async () => {
    const { asked } = await openWith(saying(kind, 'Four.'));
    const answer = await clientOf().chat.completions.create({ model: 'model-1', messages, tools, temperature: 0.2 });
    expect(answer.choices).toEqual([
      { index: 0, message: { role: 'assistant', content: 'Four.', refusal: null }, finish_reason: 'stop' },
    ]);
    expect(answer.usage).toEqual({ prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 });
    expect(asked).toHaveLength(1);
    expect(asked[0]!.body).toMatchObject({ model: 'model-1', tools: [expect.anything()] });
    expect(server.activity).toMatchObject([{ action: 'aiQuery', type: 'read', outcome: 'completed', userId: 2 }]);
    // No log entry contains the question.
    expect(JSON.stringify([server.activity, server.observations])).not.toContain('How many orders');
  });

  test('the official client gets a stream, with tool calls', async () => {
    await openWith({ parts: speaking(kind) });
    const stream = clientOf().chat.completions.stream({
      model: 'model-1',
      messages,
      stream_options: { include_usage: true },
    });
    const { choices, usage } = await stream.finalChatCompletion();
    expect(choices[0]!.message.content).toBe(spoken.content);
    const calls = choices[0]!.message.tool_calls!.map((call) => ({
      id: call.id,
      ...('function' in call && { function: call.function }),
    }));
    expect(calls.map(({ id, function: called }) => [id, called?.name, called?.arguments])).toEqual(
      spoken.calls.map(({ id, function: called }) => [id, called.name, called.arguments]),
    );
    expect([choices[0]!.finish_reason, usage]).toEqual(['tool_calls', spoken.usage[0]]);
  });

  test('events end with [DONE], and usage is sent on request', async () => {
    await openWith({ parts: speaking(kind) });
    const answer = await post({ messages, stream: true });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const events = (await answer.text()).split('\n\n');
    expect(events.slice(-2)).toEqual(['data: [DONE]', '']);
    const chunks = events.slice(0, -2).map((event) => JSON.parse(event.replace('data: ', '')));
    expect(chunks.every(({ choices, usage }) => choices.length === 1 && usage === undefined)).toBe(true);
    const asked = await (await post({ messages, stream: true, stream_options: { include_usage: true } })).text();
    expect(asked).toContain('"usage":{"prompt_tokens":12');
  });

  test.each([
    [401, 502, 'AI_KEY_REFUSED'],
    [400, 502, 'AI_REFUSED'],
    [500, 503, 'AI_UNAVAILABLE'],
    [429, 429, 'AI_RATE_LIMITED'],
  ] as const)(
    'status %i of the provider becomes %i, streamed or not, with a message of Portico',
    async (status, told, code) => {
      await openWith(failing(kind, status, { 'retry-after': '40', 'retry-after-ms': '' }));
      for (const stream of [false, true]) {
        const answer = await post({ messages, stream });
        const text = await answer.clone().text();
        expect([answer.status, (await errorOf(answer)).code]).toEqual([told, code]);
        expect(answer.headers.get('retry-after')).toBe(status === 429 ? '40' : null);
        expect(text).not.toContain('said the server');
        expect(text).not.toContain(KEY);
      }
      const log = JSON.stringify(server.observations, (_, value) =>
        value instanceof Error ? `${value.message} ${value.stack}` : value,
      );
      expect(log).toContain('Nothing doing with ***, said the server');
      expect(log).not.toContain(KEY);
      expect(log).not.toContain(JSON.stringify(KEY).slice(1, -1));
      expect(server.activity.map(({ outcome, code: why }) => [outcome, why])).toEqual(Array(2).fill(['failed', code]));
    },
  );

  test('a provider that fails during a stream becomes an error event, which the client throws', async () => {
    await openWith({ parts: speaking(kind).slice(0, 4), ending: 'cut' });
    const text = await (await post({ messages, stream: true })).text();
    expect(text).not.toContain('[DONE]');
    const last = text.trim().split('\n\n').at(-1)!.replace('data: ', '');
    expect(JSON.parse(last)).toEqual({
      error: {
        message: "The AI provider 'house' cannot be reached, or returns invalid answers. Try again shortly.",
        type: 'server_error',
        code: 'AI_UNAVAILABLE',
      },
    });
    const read = async () => {
      for await (const chunk of await clientOf().chat.completions.create({ model: 'model-1', messages, stream: true }))
        expect(chunk.object).toBe('chat.completion.chunk');
    };
    await expect(read()).rejects.toMatchObject({ code: 'AI_UNAVAILABLE' });
  });

  test.each([false, true])(
    'a client that disconnects cancels the request to the provider (streamed: %s)',
    async (stream) => {
      const { asked, closed } = await openWith(
        stream ? { parts: speaking(kind).slice(0, 4), ending: 'silence' } : 'silence',
      );
      const leave = new AbortController();
      const answer = post({ messages, stream }, { signal: leave.signal });
      if (stream) await (await answer).body!.getReader().read();
      else answer.catch(() => undefined);
      await expect.poll(() => asked).toHaveLength(1);
      leave.abort();
      await expect.poll(() => closed()).toBe(1);
    },
  );
});

describe('refusals', () => {
  const openOpenAi = async (settings = {}) => {
    const provider = await openProvider('openai', saying('openai', 'Four.'));
    await open(provider.ai, settings);
    return provider;
  };

  test('an agent without a provider returns NO_AI_PROVIDER', async () => {
    await open(null);
    const answer = await post({ messages });
    expect(answer.status).toBe(404);
    expect(await errorOf(answer)).toMatchObject({
      code: 'NO_AI_PROVIDER',
      detail: 'This server has no AI provider. The operator can add one with addAi(createAiProvider(...)).',
    });
  });

  test('a model other than the configured one', async () => {
    const { asked } = await openOpenAi();
    const answer = await post({ model: 'model-2', messages });
    expect(await errorOf(answer)).toMatchObject({
      status: 400,
      code: 'INVALID_ARGUMENT',
      detail: "model: the operator of this server chooses the model: leave it out, or send 'model-1'.",
    });
    expect(asked).toEqual([]);
    expect((await post({ model: 'model-1', messages })).status).toBe(200);
  });

  test('a user without a session', async () => {
    const { asked } = await openOpenAi();
    for (const authorization of ['', 'Bearer other', `Bearer ${KEY}`]) {
      const answer = await fetch(`${server.api}${path}`, { method: 'POST', headers: { authorization }, body: '{}' });
      expect(answer.status).toBe(401);
    }
    expect((await server.ask(path)).status).toBe(405);
    expect(asked).toEqual([]);
  });

  test.each([
    ['[]', 400, 'body: expected an object'],
    ['{"messages": []}', 400, 'messages: '],
    [
      '{"messages": [{"role": "user", "content": "x"}], "temprature": 1}',
      400,
      'temprature: is unknown. Near: temperature',
    ],
    ['{"messages": [{"role": "user", "content": "x"}], "n": 2}', 400, 'n: is unknown.'],
    ['{"messages": [{"role": "user", "content": "x"}], "stream": "yes"}', 400, 'stream: expected true or false.'],
    ['{"messages": [{"role": "user", "content": "x"}], "stream": true, "stream_options": 1}', 400, 'stream_options: '],
    ['{"model": 1, "messages": []}', 400, 'model: expected a string'],
    ['{"messages"', 400, 'The request body is not usable JSON'],
  ])('%s', async (body, status, detail) => {
    const { asked } = await openOpenAi();
    const answer = await post(body);
    expect(answer.status).toBe(status);
    expect((await errorOf(answer)).detail).toContain(detail);
    expect(asked).toEqual([]);
  });

  test('a body beyond the limit', async () => {
    await openOpenAi({ bodyLimitBytes: 10_000 });
    const answer = await post({ messages: [{ role: 'user', content: 'x'.repeat(11_000) }] });
    expect([answer.status, (await errorOf(answer)).code]).toEqual([413, 'BODY_TOO_LARGE']);
  });

  test('more requests in a minute than the limit of a user', async () => {
    const { asked } = await openOpenAi({ aiPerMinute: 2 });
    const answers = [await post({ messages }), await post({ messages, stream: false }), await post({ messages })];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(Number(answers[2]!.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(asked).toHaveLength(2);
  });

  test('the limit of one user is not that of another', async () => {
    const provider = await openProvider('openai', saying('openai', 'Four.'));
    let id = 2;
    await open(provider.ai, { aiPerMinute: 1 }, () => ({ ...everything, caller: { ...everything.caller, id } }));
    const statuses = [];
    for (id of [2, 3, 3, 2]) statuses.push((await post({ messages })).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
  });
});

test('null for stream and its options is the default', async () => {
  const provider = await openProvider('openai', saying('openai', 'Four.'), { parts: speaking('openai') });
  await open(provider.ai);
  const plain = await post({ messages, stream: null, stream_options: null });
  const streamed = await post({ messages, stream: true, stream_options: null });
  expect([plain.status, plain.headers.get('content-type'), streamed.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('json'),
    'text/event-stream',
  ]);
  expect(await streamed.text()).not.toContain('"usage":{');
});
