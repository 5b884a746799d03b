import { inspect } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import type { AiAnswer, AiRequest } from '../../src/entries/engine.ts';
import { AppError, createAiProvider } from '../../src/index.ts';
import { failing, KEY, kinds, openAiServer, openProvider, providerAt, type Reply, saying } from './ai-server.ts';

const question: AiRequest = { messages: [{ role: 'user', content: 'How many?' }] };

async function errorOf(asking: Promise<unknown>): Promise<AppError> {
  const error = await asking.then(
    () => 'an answer',
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(AppError);
  return error as AppError;
}

/** Everything that a log or a debugger could show. */
const everything = (value: unknown): string =>
  `${inspect(value, { depth: 9, showHidden: true, getters: true })}${JSON.stringify(value)}${String(value)}${(value as Error).stack}`;

describe.each(kinds)('a provider of the kind %s', (kind) => {
  test('returns chat completions', async () => {
    const { ai } = await openProvider(kind, saying(kind, 'Four.'));
    const from = Math.floor(Date.now() / 1000);
    const answer = await ai.ask(question);
    const seconds = kind === 'openai' ? [1_700_000_000, 1_700_000_000] : [from, Math.ceil(Date.now() / 1000)];
    expect(answer.created >= seconds[0]! && answer.created <= seconds[1]!).toBe(true);
    expect(answer).toEqual({
      id: 'answer-1',
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'model-1-2025',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Four.', refusal: null }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 },
    });
  });

  test.each([
    [401, 'AI_KEY_REFUSED', 1],
    [403, 'AI_KEY_REFUSED', 1],
    [400, 'AI_REFUSED', 1],
    [404, 'AI_REFUSED', 1],
    [422, 'AI_REFUSED', 1],
    [429, 'AI_RATE_LIMITED', 3],
    [500, 'AI_UNAVAILABLE', 3],
    [503, 'AI_UNAVAILABLE', 3],
    [529, 'AI_UNAVAILABLE', 3],
  ] as const)(
    'status %i gives %s after %i attempts, without the key or the words of the server',
    async (status, code, attempts) => {
      const { ai, asked } = await openProvider(kind, failing(kind, status));
      const error = await errorOf(ai.ask(question));
      expect([error.code, asked.length]).toEqual([code, attempts]);
      expect(error.message).toContain("'house'");
      expect(error.message).not.toContain('said the server');
      // The log contains them, without the key.
      expect(String(error.cause)).toContain('Nothing doing with ***, said the server');
      expect(everything(error)).not.toContain(KEY);
      expect(everything(error)).not.toContain(JSON.stringify(KEY).slice(1, -1));
    },
  );

  test('a temporary failure is retried', async () => {
    const { ai, asked } = await openProvider(kind, failing(kind, 500), 'cut', saying(kind, 'Four.'));
    expect((await ai.ask(question)).choices[0].message.content).toBe('Four.');
    expect(asked).toHaveLength(3);
  });

  test.each([
    ['seconds', { 'retry-after': '1800' }, 1800],
    ['milliseconds', { 'retry-after-ms': '1800500' }, 1801],
    ['a date', { 'retry-after': () => new Date(Date.now() + 1_800_000).toUTCString() }, expect.closeTo(1800, -2)],
  ])('a 429 with a long wait, in %s, is reported with the time and not retried', async (_, given, seconds) => {
    const wait = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, typeof value === 'string' ? value : value()]),
    );
    const { 'retry-after-ms': ms = '' } = wait;
    const { ai, asked } = await openProvider(kind, failing(kind, 429, { 'retry-after-ms': ms, ...wait }));
    // A client that waits would exceed the time limit of the test.
    const error = await errorOf(ai.ask(question));
    expect(asked).toHaveLength(1);
    expect(error.details).toEqual({ provider: 'house', retryAfterSeconds: seconds });
    expect(error.message).toMatch(
      /^The AI provider 'house' accepts no more requests at the moment\. Try again in 1\d{3} s\.$/,
    );
  });

  test('an unreachable URL gives AI_UNAVAILABLE', async () => {
    const error = await errorOf(providerAt(kind, 'http://127.0.0.1:9').ask(question, { timeoutSeconds: 20 }));
    expect([error.code, error.status]).toEqual(['AI_UNAVAILABLE', 503]);
    expect(String(error.cause)).toMatch(/ECONNREFUSED|bad port/);
  });

  test.each([
    ['an HTML page', { headers: { 'content-type': 'text/html' }, body: '<h1>Welcome</h1>' }],
    ['an empty object', { body: {} }],
    ['truncated JSON', { body: '{"id": "a' }],
    ['no choices', { body: { choices: [], content: null } }],
  ] satisfies [string, Reply][])('%s instead of an answer gives AI_UNAVAILABLE', async (_, reply) => {
    const { ai } = await openProvider(kind, reply);
    expect((await errorOf(ai.ask(question))).code).toBe('AI_UNAVAILABLE');
  });

  test('a redirect is not followed, so that the key reaches one URL only', async () => {
    const other = await openAiServer(kind, saying(kind, 'Give it to me'));
    const path = kind === 'openai' ? '/v1/chat/completions' : '/v1/messages';
    const location = { location: `${other.origin}${path}` };
    const { ai } = await openProvider(kind, { status: 307, headers: location, body: {} });
    const error = await errorOf(ai.ask(question));
    expect([error.code, error.details]).toEqual(['AI_REFUSED', { provider: 'house', status: 307 }]);
    expect(other.asked).toEqual([]);
  });

  test('a provider without an answer within the time limit gives AI_TIMED_OUT, and the request is closed', async () => {
    const { ai, closed } = await openProvider(kind, 'silence');
    const error = await errorOf(ai.ask(question, { timeoutSeconds: 0.3 }));
    expect([error.code, error.status]).toEqual(['AI_TIMED_OUT', 504]);
    expect(error.message).toBe("The AI provider 'house' did not answer within 0.3 s. Ask for less, or try again.");
    await expect.poll(() => closed()).toBe(1);
  });

  test('an aborted question gives CANCELLED, and the request is closed', async () => {
    const { ai, asked, closed } = await openProvider(kind, 'silence');
    const stop = new AbortController();
    const error = errorOf(ai.ask(question, { signal: stop.signal }));
    await expect.poll(() => asked).toHaveLength(1);
    stop.abort();
    expect((await error).code).toBe('CANCELLED');
    await expect.poll(() => closed()).toBe(1);
    expect((await errorOf(ai.ask(question, { signal: stop.signal }))).code).toBe('CANCELLED');
    expect(asked).toHaveLength(1);
  });

  test('a question aborted between two attempts gives CANCELLED without a retry', async () => {
    const { ai, asked } = await openProvider(kind, failing(kind, 503, { 'retry-after-ms': '700' }));
    const stop = new AbortController();
    const error = errorOf(ai.ask(question, { signal: stop.signal }));
    await expect.poll(() => asked.length).toBeGreaterThan(0);
    const attempts = asked.length;
    stop.abort();
    expect((await error).code).toBe('CANCELLED');
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(asked).toHaveLength(attempts);
  });

  test('environment variables change neither the URL, the account nor the log output', async () => {
    const print = (['log', 'debug', 'info', 'warn', 'error'] as const).map((name) => vi.spyOn(console, name));
    for (const [name, value] of Object.entries({
      OPENAI_BASE_URL: 'http://127.0.0.1:9',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
      OPENAI_ORG_ID: 'org-other',
      OPENAI_PROJECT_ID: 'project-other',
      OPENAI_ADMIN_KEY: 'admin-other',
      ANTHROPIC_AUTH_TOKEN: 'token-other',
      OPENAI_LOG: 'debug',
      ANTHROPIC_LOG: 'debug',
    }))
      vi.stubEnv(name, value);
    try {
      const { ai, asked } = await openProvider(kind, saying(kind, 'Four.'));
      await ai.ask(question);
      expect(JSON.stringify(asked[0]!.headers)).not.toContain('other');
      for (const spy of print) expect(spy).not.toHaveBeenCalled();
    } finally {
      vi.unstubAllEnvs();
      vi.restoreAllMocks();
    }
  });

  test('printing a provider never shows its key', async () => {
    const { ai } = await openProvider(kind, saying(kind, 'Four.'));
    const before = everything(ai);
    await ai.ask(question);
    expect(before + everything(ai)).not.toContain(KEY.slice(0, 7));
    expect(JSON.parse(JSON.stringify(ai))).toEqual({ name: 'house', provider: kind, model: 'model-1' });
    expect(Object.isFrozen(ai)).toBe(true);
  });
});

const weather: AiRequest = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'developer',
      content: [
        { type: 'text', text: 'In ' },
        { type: 'text', text: 'English.' },
      ],
    },
    { role: 'user', content: 'Weather in Oslo and Bergen?' },
    {
      role: 'assistant',
      content: 'I look.',
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
        { id: 'c2', type: 'function', function: { name: 'weather', arguments: '{"city":"Bergen"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'sun' },
    { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'rain' }] },
    { role: 'user', content: 'And tomorrow?' },
  ],
  tools: [
    {
      type: 'function',
      function: {
        name: 'weather',
        description: 'Of a city',
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        strict: true,
      },
    },
    { type: 'function', function: { name: 'now' } },
  ],
  tool_choice: 'required',
  parallel_tool_calls: false,
  temperature: 1.5,
  top_p: 0.9,
  max_completion_tokens: 77,
  stop: 'END',
  response_format: { type: 'json_schema', json_schema: { name: 'told', schema: { type: 'object' }, strict: true } },
};

describe('requests', () => {
  test('openai gets the request unchanged, with the model', async () => {
    const { ai, asked } = await openProvider('openai', saying('openai', 'Yes'));
    await ai.ask(weather);
    expect(asked[0]!.body).toEqual({ ...weather, model: 'model-1' });
  });

  test('anthropic gets the request in its own format', async () => {
    const { ai, asked } = await openProvider('anthropic', saying('anthropic', 'Yes'));
    await ai.ask(weather);
    expect(asked[0]!.body).toEqual({
      model: 'model-1',
      max_tokens: 77,
      system: 'Be brief.\n\nIn English.',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Weather in Oslo and Bergen?' }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Oslo' } },
            { type: 'tool_use', id: 'c2', name: 'weather', input: { city: 'Bergen' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: 'sun' },
            { type: 'tool_result', tool_use_id: 'c2', content: 'rain' },
            { type: 'text', text: 'And tomorrow?' },
          ],
        },
      ],
      tools: [
        {
          name: 'weather',
          description: 'Of a city',
          strict: true,
          input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
        { name: 'now', input_schema: { type: 'object', properties: {} } },
      ],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      stop_sequences: ['END'],
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
    });
  });

  test.each([
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'any' }],
    [
      { type: 'function', function: { name: 'now' } },
      { type: 'tool', name: 'now' },
    ],
  ] as const)('the tool choice %j becomes %j for anthropic', async (choice, told) => {
    const { ai, asked } = await openProvider('anthropic', saying('anthropic', 'Yes'));
    await ai.ask({ ...question, tools: weather.tools!, tool_choice: choice });
    expect(asked[0]!.body.tool_choice).toEqual(told);
  });

  test('anthropic gets a default max_tokens, and max_tokens is an alias', async () => {
    const { ai, asked } = await openProvider('anthropic', saying('anthropic', 'Yes'));
    await ai.ask(question);
    await ai.ask({ ...question, max_tokens: 5 });
    expect(asked.map(({ body }) => body.max_tokens)).toEqual([4096, 5]);
  });

  test('json_object is refused for anthropic before anything is sent', async () => {
    const { ai, asked } = await openProvider('anthropic', saying('anthropic', 'Yes'));
    const error = await errorOf(ai.ask({ ...question, response_format: { type: 'json_object' } }));
    expect([error.code, error.message, asked]).toEqual([
      'INVALID_ARGUMENT',
      "response_format: anthropic does not support 'json_object'. Describe the answer with 'json_schema'.",
      [],
    ]);
  });
});

describe('responses', () => {
  const called = {
    index: 0,
    message: {
      role: 'assistant',
      content: null,
      refusal: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
    },
    finish_reason: 'tool_calls',
  };
  const calls: Record<(typeof kinds)[number], Reply> = {
    openai: { body: { id: 'a', created: 1, model: 'm', choices: [{ ...called, logprobs: null }] } },
    anthropic: {
      body: {
        id: 'a',
        model: 'm',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Oslo' } },
        ],
        stop_reason: 'tool_use',
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
  };

  test.each(kinds)('a tool call of %s is returned, and its message can be sent back unchanged', async (kind) => {
    const { ai, asked } = await openProvider(kind, calls[kind], saying(kind, 'Sun.'));
    const answer: AiAnswer = await ai.ask({ ...question, tools: weather.tools! });
    expect(answer.choices).toEqual([called]);
    const [{ message }] = answer.choices;
    await ai.ask({
      messages: [...question.messages, message, { role: 'tool', tool_call_id: 'c1', content: 'sun' }],
      tools: weather.tools!,
    });
    expect(asked[1]!.body.messages).toHaveLength(3);
    expect(asked[1]!.body.messages[2]).toEqual(
      kind === 'openai'
        ? { role: 'tool', tool_call_id: 'c1', content: 'sun' }
        : { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'sun' }] },
    );
  });

  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool_calls'],
    ['refusal', 'content_filter'],
  ])('the stop reason %s of anthropic becomes %s', async (reason, told) => {
    const { body } = saying('anthropic', 'Yes') as { body: object };
    const { ai } = await openProvider('anthropic', { body: { ...body, stop_reason: reason } });
    expect((await ai.ask(question)).choices[0].finish_reason).toBe(told);
  });

  test.each([
    ['length', 'length'],
    ['content_filter', 'content_filter'],
    ['eos', 'stop'],
  ])('the finish reason %s of an openai server becomes %s', async (reason, told) => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Yes' }, finish_reason: reason }];
    const { ai } = await openProvider('openai', { body: { id: 'a', created: 1, model: 'm', choices } });
    const answer = await ai.ask(question);
    expect(answer.choices[0]).toEqual({
      index: 0,
      message: { role: 'assistant', content: 'Yes', refusal: null },
      finish_reason: told,
    });
    expect(answer.usage).toEqual({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
  });

  test('a refusal of a model can be sent back', async () => {
    const choices = [{ message: { role: 'assistant', content: null, refusal: 'I will not.' }, finish_reason: 'stop' }];
    const { ai, asked } = await openProvider('openai', { body: { id: 'a', created: 1, model: 'm', choices } });
    const { message } = (await ai.ask(question)).choices[0];
    expect(message.refusal).toBe('I will not.');
    await ai.ask({ messages: [...question.messages, message, { role: 'user', content: 'Why?' }] });
    expect(asked[1]!.body.messages[1]).toEqual({ role: 'assistant', content: 'I will not.' });
  });
});

const user = question.messages[0]!;
const now = weather.tools![1]!;
const bad: readonly (readonly [unknown, string])[] = [
  [undefined, 'request: expected an object with messages, tools, '],
  [{}, 'messages: is missing.'],
  [{ messages: [] }, 'messages: expected a non-empty list of messages.'],
  [{ messages: [{ role: 'system', content: 'Hi' }] }, "messages: expected at least one message of the role 'user'."],
  [{ messages: ['Hi'] }, 'messages[0]: expected a message, such as '],
  [{ messages: [{ role: 'bot', content: 'Hi' }] }, "messages[0].role: expected 'system' or 'developer' or 'user' or "],
  [{ messages: [{ role: 'user' }] }, 'messages[0].content: is missing.'],
  [
    { messages: [{ role: 'user', content: 7 }] },
    "messages[0].content: expected a string, or a list of { type: 'text', text }.",
  ],
  [{ messages: [{ role: 'user', content: [{ type: 'image' }] }] }, 'messages[0].content[0].text: is missing.'],
  [{ messages: [{ role: 'user', content: 'Hi', nam: 1 }] }, 'messages[0].nam: is unknown.'],
  [{ messages: [user, { role: 'assistant' }] }, "messages[1]: expected 'content', 'tool_calls', or both."],
  [
    { messages: [user, { role: 'tool', tool_call_id: 'x', content: 'Hi' }] },
    'messages[1].tool_call_id: expected the id of a tool call in an earlier assistant message.',
  ],
  [
    {
      messages: [
        user,
        { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'a', arguments: '[1]' } }] },
      ],
    },
    'messages[1].tool_calls[0].function.arguments: expected a JSON object as a string.',
  ],
  [{ ...question, stream: true }, 'stream: is unknown.'],
  [{ ...question, max_token: 5 }, 'max_token: is unknown. Near: max_tokens'],
  [{ ...question, constructor: 5 }, 'constructor: is unknown.'],
  [{ ...question, temperature: 3 }, 'temperature: expected a number from 0 to 2.'],
  [{ ...question, temperature: Number.NaN }, 'temperature: expected a number from 0 to 2.'],
  [{ ...question, max_tokens: 0 }, 'max_tokens: expected a whole number from 1.'],
  [{ ...question, stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop: expected a string, or a list of 1 to 4 strings.'],
  [{ ...question, tools: [] }, 'tools: expected a non-empty list of tools; leave it out for no tools.'],
  [{ ...question, tools: [now, now] }, "tools: two tools have the name 'now'."],
  [
    { ...question, tools: [{ type: 'function', function: { name: 'a b' } }] },
    'tools[0].function.name: expected a name of ',
  ],
  [{ ...question, tool_choice: 'auto' }, 'tool_choice: there are no tools to choose from.'],
  [
    { ...question, tools: [now], tool_choice: { type: 'function', function: { name: 'nov' } } },
    "tool_choice: there is no tool 'nov'. Near: now.",
  ],
  [{ ...question, tools: [now], tool_choice: 'any' }, "tool_choice: expected 'auto' or 'none' or 'required'."],
  [{ ...question, response_format: 'json' }, 'response_format: expected an object with a type.'],
  [{ ...question, response_format: { type: 'json' } }, "response_format.type: expected 'text' or 'json_object' or "],
  [{ ...question, response_format: { type: 'json_schema' } }, 'response_format.json_schema: is missing.'],
];

test.each(bad)('the request %j is refused before anything is sent: %s', async (request, told) => {
  const { ai, asked } = await openProvider('openai', saying('openai', 'Yes'));
  const error = await errorOf(ai.ask(request as AiRequest));
  expect([error.code, asked]).toEqual(['INVALID_ARGUMENT', []]);
  expect(error.message).toContain(told);
  expect(error.message.startsWith(told)).toBe(true);
});

test.each([0, -1, 601, Number.NaN, '5'])('a time limit of %j is refused', async (timeoutSeconds) => {
  const { ai } = await openProvider('openai', saying('openai', 'Yes'));
  const error = await errorOf(ai.ask(question, { timeoutSeconds: timeoutSeconds as number }));
  expect(error.message).toBe('timeoutSeconds: expected a number up to 600.');
});

const right = { name: 'house', provider: 'openai', apiKey: KEY, model: 'model-1' } as const;
const { apiKey: _, ...keyless } = right;
const wrong: readonly (readonly [unknown, string])[] = [
  [undefined, 'createAiProvider needs an object of options. ('],
  [KEY, 'createAiProvider needs an object of options. ('],
  [keyless, "createAiProvider needs 'apiKey': a string of visible ASCII characters, without spaces. ("],
  [{ ...keyless, apikey: KEY }, "createAiProvider has no option 'apikey'. Near: apiKey. ("],
  [
    { ...right, apiKey: `${KEY}\n` },
    "createAiProvider: 'apiKey' must be a string of visible ASCII characters, without spaces. (",
  ],
  [{ ...right, apiKey: '' }, "createAiProvider: 'apiKey' must be a string of visible"],
  [{ ...right, provider: 'openay' }, "createAiProvider: 'provider' must be 'openai' or 'anthropic'. ("],
  [{ ...right, model: ' ' }, "createAiProvider: 'model' must be a non-empty string. ("],
  [{ ...right, name: 7 }, "createAiProvider: 'name' must be a non-empty string. ("],
  [{ ...right, baseUrl: 'localhost:11434' }, "createAiProvider: 'baseUrl' must be an http or https URL"],
  [
    { ...right, baseUrl: `https://user:${encodeURIComponent(KEY)}@ai.example.com` },
    "createAiProvider: 'baseUrl' must be",
  ],
  [{ ...right, baseUrl: 'https://ai.example.com/v1?key=1' }, "createAiProvider: 'baseUrl' must be an http or https"],
];

test.each(wrong)('createAiProvider refuses invalid options (%#) with the line and without the key', (options, told) => {
  let error: unknown;
  try {
    createAiProvider(options as never);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({ code: 'CONFIGURATION' });
  expect((error as Error).message.startsWith(told)).toBe(true);
  expect((error as Error).message).toMatch(/\(.*ai\.test\.ts:\d+\)$/);
  expect(everything(error)).not.toContain(KEY.slice(0, 7));
});

test('trailing slashes of the base URL are ignored', async () => {
  const { baseUrl, asked } = await openAiServer('openai', saying('openai', 'Yes'));
  await providerAt('openai', `${baseUrl}//`).ask(question);
  expect(asked).toHaveLength(1);
});
