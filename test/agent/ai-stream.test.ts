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
    ['one by one', () => speaking(kind)],
    ['in one packet', (text) => [text]],
    [
      'in packets of seven bytes that split characters',
      (text) =>
        Array.from(
          Buffer.from(text)
            .toString('hex')
            .match(/.{1,14}/g)!,
          (hex) => Buffer.from(hex, 'hex'),
        ),
    ],
    ['with CR LF line ends', (text) => [text.replaceAll('\n', '\r\n')]],
  ];

  test.each(packets)('text, two tool calls and usage are complete when events are sent %s', async (_, divide) => {
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

  test('chunks are returned as they arrive, not at the end', async () => {
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
  ] as const)('status %i gives %s after %i attempts, before any chunk', async (status, code, attempts) => {
    const { ai, asked } = await openProvider(kind, failing(kind, status));
    const { read, error } = await readAll(ai.askInChunks(question));
    expect([read, error?.code, asked.length]).toEqual([[], code, attempts]);
    expect(String(error?.cause)).toContain('Nothing doing with ***, said the server');
    expect(inspect(error, { depth: 9 })).not.toContain(KEY);
  });

  test('a stream that fails before it begins is retried', async () => {
    const { ai, asked } = await openProvider(kind, failing(kind, 503), { parts: speaking(kind) });
    const { read } = await readAll(ai.askInChunks(question));
    expect([join(read), asked.length]).toEqual([spoken, 2]);
  });

  const half = speaking(kind).slice(0, 4);
  test.each([
    ['is cut off', { parts: half, ending: 'cut' }],
    ['ends too early', { parts: half }],
    ['is empty', { parts: [] }],
    ['contains malformed JSON', { parts: [...half, 'event: message_delta\ndata: {"type":\n\n'] }],
    [
      'contains an error event',
      {
        parts: [
          ...half,
          `event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"no ${'x'}"}}\n\n`,
        ],
      },
    ],
    ['is a response without streaming', saying(kind, 'Four.')],
  ] satisfies [string, Reply][])('a stream that %s gives AI_UNAVAILABLE after its chunks', async (_, reply) => {
    const { ai, asked } = await openProvider(kind, reply);
    const { read, error } = await readAll(ai.askInChunks(question));
    expect([error?.code, asked.length]).toEqual(['AI_UNAVAILABLE', 1]);
    expect(join(read).finish).toEqual([]);
    expect(error?.message).toBe(
      "The AI provider 'house' cannot be reached, or returns invalid answers. Try again shortly.",
    );
  });

  test('a stream that stalls gives AI_TIMED_OUT, and the request is closed', async () => {
    const { ai, closed } = await openProvider(kind, { parts: half, ending: 'silence' });
    const { read, error } = await readAll(ai.askInChunks(question, { timeoutSeconds: 0.5 }));
    expect([read.length > 0, error?.code]).toEqual([true, 'AI_TIMED_OUT']);
    await expect.poll(() => closed()).toBe(1);
  });

  test('an aborted stream gives CANCELLED, and the request is closed', async () => {
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

  test('a reader that stops early closes the request', async () => {
    const { ai, closed } = await openProvider(kind, { parts: half, ending: 'silence' });
    for await (const chunk of ai.askInChunks(question)) if (chunk) break;
    await expect.poll(() => closed()).toBe(1);
  });

  test('an invalid question is refused before anything is sent', async () => {
    const { ai, asked } = await openProvider(kind, saying(kind, ''));
    const { error } = await readAll(ai.askInChunks({ messages: [] }));
    expect([error?.code, asked]).toEqual(['INVALID_ARGUMENT', []]);
  });
});

test.each([
  ['max_tokens', 'length'],
  ['refusal', 'content_filter'],
  ['end_turn', 'stop'],
] as const)('the stop reason %s of anthropic becomes the finish reason %s', async (reason, finish) => {
  const parts = speaking('anthropic').map((text) =>
    text.replace('"tool_use","stop_sequence"', `"${reason}","stop_sequence"`),
  );
  const { ai } = await openProvider('anthropic', { parts });
  expect(join((await readAll(ai.askInChunks(question))).read).finish).toEqual([finish]);
});

test('a refusal of an openai model is streamed', async () => {
  const parts = speaking('openai').map((text) => text.replace('"content":"Søk"', '"refusal":"I will not"'));
  const { ai } = await openProvider('openai', { parts });
  const { read } = await readAll(ai.askInChunks(question));
  expect(read.flatMap(({ choices }) => choices[0]?.delta.refusal ?? [])).toEqual(['I will not']);
});
