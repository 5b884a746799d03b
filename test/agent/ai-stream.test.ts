// Streamed responses of both providers, from a server that splits events into odd packets, stops midway, or sends
// something else.
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { AiChunk, AiRequest } from '../../src/entries/engine.ts';
import { AppError } from '../../src/index.ts';
import { failing, KEY, kinds, openProvider, type Reply, saying, speaking, spoken } from './ai-server.ts';

const question: AiRequest = { messages: [{ role: 'user', content: 'How many?' }] };

/** Joins chunks the way a client of the API does. */
function join(chunks: readonly AiChunk[]) {
  const parts = chunks.flatMap(({ choices }) => [...choices]);
  const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = [];
  for (const { index, id, type, function: called } of parts.flatMap(({ delta }) => delta.tool_calls ?? [])) {
    calls[index] ??= { id: '', type: '', function: { name: '', arguments: '' } };
    const call = calls[index];
    call.id += id ?? '';
    call.type += type ?? '';
    call.function.name += called.name ?? '';
    call.function.arguments += called.arguments ?? '';
  }
  return {
    id: chunks[0]?.id,
    model: chunks.at(-1)?.model,
    content: parts.map(({ delta }) => delta.content ?? '').join(''),
    calls,
    finish: parts.flatMap(({ finish_reason }) => finish_reason ?? []),
    usage: chunks.flatMap(({ usage }) => usage ?? []),
  };
}

/** Reads all chunks, and the error that ends the stream. */
async function readAll(chunks: AsyncIterable<AiChunk>) {
  const read: AiChunk[] = [];
  try {
    for await (const chunk of chunks) read.push(chunk);
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    return { read, error: error as AppError };
  }
  return { read, error: undefined };
}

describe.each(kinds)('a provider of the kind %s', (kind) => {
  const packets: readonly (readonly [string, (text: string) => readonly (string | Uint8Array)[]])[] = [
    ['each on its own', () => speaking(kind)],
    ['all at once', (text) => [text]],
    [
      'in packets of seven bytes, which divide characters',
      (text) =>
        Array.from(
          Buffer.from(text)
            .toString('hex')
            .match(/.{1,14}/g)!,
          (hex) => Buffer.from(hex, 'hex'),
        ),
    ],
    ['with line ends of Windows', (text) => [text.replaceAll('\n', '\r\n')]],
  ];

  test.each(packets)('text, two calls and usage come whole when events are sent %s', async (_, divide) => {
    const { ai, asked } = await openProvider(kind, { parts: divide(speaking(kind).join('')) });
    const { read, error } = await readAll(ai.askInChunks(question));
    expect(error).toBeUndefined();
    expect(join(read)).toEqual(spoken);
    expect(read.every(({ object, id }) => object === 'chat.completion.chunk' && id === 'answer-1')).toBe(true);
    expect(asked[0]!.body.stream).toBe(true);
    // The end comes before the usage, and no chunk follows.
    expect(read.slice(-2).map(({ choices, usage }) => [choices.length, usage !== undefined])).toEqual([
      [1, false],
      [0, true],
    ]);
  });

  test('parts are told when they come, not at the end', async () => {
    const { ai } = await openProvider(kind, { parts: speaking(kind).slice(0, 5), ending: 'silence' });
    const texts: string[] = [];
    for await (const { choices } of ai.askInChunks(question)) {
      texts.push(choices[0]?.delta.content ?? '');
      if (texts.join('') === 'Søker 🙂' || texts.length > 9) break;
    }
    expect(texts.join('')).toContain('Søk');
  });

  test.each([
    [401, 'AI_KEY_REFUSED', 1],
    [400, 'AI_REFUSED', 1],
    [429, 'AI_RATE_LIMITED', 3],
    [500, 'AI_UNAVAILABLE', 3],
  ] as const)('status %i is %s after %i attempts, before any chunk', async (status, code, attempts) => {
    const { ai, asked } = await openProvider(kind, failing(kind, status));
    const { read, error } = await readAll(ai.askInChunks(question));
    expect([read, error?.code, asked.length]).toEqual([[], code, attempts]);
    expect(String(error?.cause)).toContain('Nothing doing with ***, said the server');
    expect(inspect(error, { depth: 9 })).not.toContain(KEY);
  });

  test('what fails before it begins is tried again', async () => {
    const { ai, asked } = await openProvider(kind, failing(kind, 503), { parts: speaking(kind) });
    const { read } = await readAll(ai.askInChunks(question));
    expect([join(read), asked.length]).toEqual([spoken, 2]);
  });

  const half = speaking(kind).slice(0, 4);
  test.each([
    ['is cut off', { parts: half, ending: 'cut' }],
    ['ends before the answer does', { parts: half }],
    ['is nothing at all', { parts: [] }],
    ['holds broken JSON', { parts: [...half, 'event: message_delta\ndata: {"type":\n\n'] }],
    [
      'says an error',
      {
        parts: [
          ...half,
          `event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"no ${'x'}"}}\n\n`,
        ],
      },
    ],
    ['is an answer of another form', saying(kind, 'Four.')],
  ] satisfies [string, Reply][])('a stream that %s is AI_UNAVAILABLE, after what it said', async (_, reply) => {
    const { ai, asked } = await openProvider(kind, reply);
    const { read, error } = await readAll(ai.askInChunks(question));
    expect([error?.code, asked.length]).toEqual(['AI_UNAVAILABLE', 1]);
    expect(join(read).finish).toEqual([]);
    expect(error?.message).toBe(
      "The AI provider 'house' cannot be reached, or returns invalid answers. Try again shortly.",
    );
  });

  test('silence in the middle is AI_TIMED_OUT, and the request is taken back', async () => {
    const { ai, closed } = await openProvider(kind, { parts: half, ending: 'silence' });
    const { read, error } = await readAll(ai.askInChunks(question, { timeoutSeconds: 0.5 }));
    expect([read.length > 0, error?.code]).toEqual([true, 'AI_TIMED_OUT']);
    await expect.poll(() => closed()).toBe(1);
  });

  test('aborted in the middle, it is CANCELLED at once, and the request is taken back', async () => {
    const { ai, closed } = await openProvider(kind, { parts: half, ending: 'silence' });
    const stop = new AbortController();
    const chunks = ai.askInChunks(question, { signal: stop.signal })[Symbol.asyncIterator]();
    await chunks.next();
    stop.abort();
    await expect(readAll({ [Symbol.asyncIterator]: () => chunks })).resolves.toMatchObject({
      error: { code: 'CANCELLED' },
    });
    await expect.poll(() => closed()).toBe(1);
  });

  test('whoever stops reading stops the provider', async () => {
    const { ai, closed } = await openProvider(kind, { parts: half, ending: 'silence' });
    for await (const chunk of ai.askInChunks(question)) if (chunk) break;
    await expect.poll(() => closed()).toBe(1);
  });

  test('a question that cannot be sent is refused, and nothing is sent', async () => {
    const { ai, asked } = await openProvider(kind, saying(kind, ''));
    const { error } = await readAll(ai.askInChunks({ messages: [] }));
    expect([error?.code, asked]).toEqual(['INVALID_ARGUMENT', []]);
  });
});

test.each([
  ['max_tokens', 'length'],
  ['refusal', 'content_filter'],
  ['end_turn', 'stop'],
] as const)('the end %s of anthropic is told as %s', async (reason, finish) => {
  const parts = speaking('anthropic').map((text) =>
    text.replace('"tool_use","stop_sequence"', `"${reason}","stop_sequence"`),
  );
  const { ai } = await openProvider('anthropic', { parts });
  expect(join((await readAll(ai.askInChunks(question))).read).finish).toEqual([finish]);
});

test('what a model of openai refuses is told in parts', async () => {
  const parts = speaking('openai').map((text) => text.replace('"content":"Søk"', '"refusal":"I will not"'));
  const { ai } = await openProvider('openai', { parts });
  const { read } = await readAll(ai.askInChunks(question));
  expect(read.flatMap(({ choices }) => choices[0]?.delta.refusal ?? [])).toEqual(['I will not']);
});
