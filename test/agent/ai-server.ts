// A fake AI provider on loopback. It records requests and checks that they follow the provider's API. It sends the
// prepared replies in order, and repeats the last one.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type AiProvider, type AiProviderOptions, createAiProvider } from '../../src/index.ts';

export type Kind = AiProviderOptions['provider'];
export const kinds: readonly Kind[] = ['openai', 'anthropic'];

export const KEY = 'sk-proj-Zq81"x/\\the+key+nobody=sees';

export interface Asked {
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: what was sent is looked at as JSON.
  readonly body: any;
}

export type Reply =
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body: unknown }
  /** Sent one by one as separate packets. Then the response ends, is cut off, or stays open without data. */
  | { readonly parts: readonly (string | Uint8Array)[]; readonly ending?: 'end' | 'cut' | 'silence' }
  /** 'silence' sends no response and keeps the connection open; 'cut' closes it. */
  | 'silence'
  | 'cut';

/** How the request deviates from the provider's API; undefined if it conforms. */
function misuse(kind: Kind, method: string | undefined, path: string | undefined, headers: IncomingHttpHeaders) {
  const wanted = {
    openai: { path: '/v1/chat/completions', headers: {} },
    anthropic: { path: '/v1/messages', headers: { 'anthropic-version': '2026-10-21' } },
  }[kind];
  if (method !== 'POST' || path !== wanted.path) return `${method} ${path}`;
  if (headers['content-type'] !== 'application/json') return `content-type ${headers['content-type']}`;
  const wrong = Object.entries({ authorization: `Bearer ${KEY}`, ...wanted.headers }).find(
    ([name, value]) => headers[name] !== value,
  );
  return wrong && `header ${wrong[0]}`;
}

export async function openAiServer(kind: Kind, ...replies: Reply[]) {
  const asked: Asked[] = [];
  let closed = 0;
  const send = (res: ServerResponse, { status = 200, headers = {}, body }: Extract<Reply, { body: unknown }>) => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers });
    res.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  const server = createServer(async (req, res) => {
    res.on('close', () => {
      if (!res.writableFinished) closed++;
    });
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const wrong = misuse(kind, req.method, req.url, req.headers);
    if (wrong) return send(res, { status: 418, body: { error: { message: `not asked as ${kind} is: ${wrong}` } } });
    asked.push({ headers: req.headers, body: JSON.parse(Buffer.concat(chunks).toString()) });
    const reply = replies[Math.min(asked.length, replies.length) - 1]!;
    if (reply === 'silence') return;
    if (reply === 'cut') return res.destroy();
    if ('body' in reply) return send(res, reply);
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const part of reply.parts) {
      res.write(part);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    if (reply.ending === 'cut') res.destroy();
    else if (reply.ending !== 'silence') res.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { asked, origin, baseUrl: kind === 'openai' ? `${origin}/v1` : origin, closed: () => closed };
}

export function providerAt(kind: Kind, baseUrl: string): AiProvider {
  return createAiProvider({ name: 'house', provider: kind, apiKey: KEY, model: 'model-1', baseUrl });
}

/** A server with these replies, and a provider that uses it. */
export async function openProvider(kind: Kind, ...replies: Reply[]) {
  const server = await openAiServer(kind, ...replies);
  return { ...server, ai: providerAt(kind, server.baseUrl) };
}

/** The provider's response with this text. */
export function saying(kind: Kind, text: string): Reply {
  return {
    body:
      kind === 'openai'
        ? {
            id: 'answer-1',
            object: 'chat.completion',
            created: 1_700_000_000,
            model: 'model-1-2025',
            system_fingerprint: 'fp_1',
            choices: [
              { index: 0, message: { role: 'assistant', content: text, refusal: null }, finish_reason: 'stop' },
            ],
            usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 },
          }
        : {
            id: 'answer-1',
            type: 'message',
            role: 'assistant',
            model: 'model-1-2025',
            content: [{ type: 'text', text }],
            stop_reason: 'end_turn',
            stop_sequence: null,
            usage: { input_tokens: 7, cache_read_input_tokens: 5, cache_creation_input_tokens: 0, output_tokens: 3 },
          },
  };
}

const event = (kind: Kind, data: Readonly<Record<string, unknown>>): string =>
  `${kind === 'anthropic' ? `event: ${data.type}\n` : ''}data: ${JSON.stringify(data)}\n\n`;

/** The provider's events for a response with text and two tool calls, the second one without arguments. */
export function speaking(kind: Kind): readonly string[] {
  if (kind === 'openai') {
    const head = { id: 'answer-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'model-1-2025' };
    const part = (delta: object, finish: string | null = null) =>
      event(kind, { ...head, system_fingerprint: 'fp_1', choices: [{ index: 0, delta, finish_reason: finish }] });
    const call = (index: number, rest: object) => part({ tool_calls: [{ index, ...rest }] });
    return [
      part({ role: 'assistant', content: '', refusal: null }),
      part({ content: 'Søk' }),
      part({ content: 'er 🙂' }),
      call(0, { id: 'c1', type: 'function', function: { name: 'weather', arguments: '' } }),
      call(0, { function: { arguments: '{"city":' } }),
      call(0, { function: { arguments: '"Bodø"}' } }),
      call(1, { id: 'c2', type: 'function', function: { name: 'now', arguments: '{}' } }),
      part({}, 'tool_calls'),
      event(kind, { ...head, choices: [], usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 } }),
      'data: [DONE]\n\n',
    ];
  }
  const usage = { input_tokens: 7, cache_read_input_tokens: 5, cache_creation_input_tokens: 0, output_tokens: 1 };
  const message = { id: 'answer-1', type: 'message', role: 'assistant', model: 'model-1-2025', content: [], usage };
  const begin = (index: number, block: object) =>
    event(kind, { type: 'content_block_start', index, content_block: block });
  const delta = (index: number, rest: object) => event(kind, { type: 'content_block_delta', index, delta: rest });
  const end = (index: number) => event(kind, { type: 'content_block_stop', index });
  return [
    event(kind, { type: 'message_start', message }),
    begin(0, { type: 'text', text: '' }),
    event(kind, { type: 'ping' }),
    delta(0, { type: 'text_delta', text: 'Søk' }),
    delta(0, { type: 'text_delta', text: 'er 🙂' }),
    end(0),
    begin(1, { type: 'tool_use', id: 'c1', name: 'weather', input: {} }),
    delta(1, { type: 'input_json_delta', partial_json: '' }),
    delta(1, { type: 'input_json_delta', partial_json: '{"city":' }),
    delta(1, { type: 'input_json_delta', partial_json: '"Bodø"}' }),
    end(1),
    begin(2, { type: 'tool_use', id: 'c2', name: 'now', input: {} }),
    end(2),
    event(kind, {
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 3 },
    }),
    event(kind, { type: 'message_stop' }),
  ];
}

/** The complete response that `speaking` streams. */
export const spoken = {
  id: 'answer-1',
  model: 'model-1-2025',
  content: 'Søker 🙂',
  calls: [
    { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bodø"}' } },
    { id: 'c2', type: 'function', function: { name: 'now', arguments: '{}' } },
  ],
  finish: ['tool_calls'],
  usage: [{ prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 }],
};

/** An error response in the provider's format. Its message repeats the key. */
export function failing(kind: Kind, status: number, headers: Record<string, string> = {}): Reply {
  const error = { type: 'some_error', message: `Nothing doing with ${KEY}, said the server` };
  return {
    status,
    headers: { 'retry-after-ms': '1', ...headers },
    body: kind === 'openai' ? { error } : { type: 'error', error },
  };
}
