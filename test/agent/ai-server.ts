// A server on loopback that stands for a provider: it keeps what it was asked, checks that the way of asking is the way of
// its form, and answers what the test has laid ready, in turn; the last answer stays.
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
  /** Sends nothing and keeps the connection; 'cut' ends it instead. */
  | 'silence'
  | 'cut';

/** What is not as each provider wants to be asked; undefined when all is. */
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
  const send = (res: ServerResponse, { status = 200, headers = {}, body }: Exclude<Reply, string>) => {
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
    send(res, reply);
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

/** A server that answers so, and the provider that asks it. */
export async function openProvider(kind: Kind, ...replies: Reply[]) {
  const server = await openAiServer(kind, ...replies);
  return { ...server, ai: providerAt(kind, server.baseUrl) };
}

/** What each provider sends for an answer of this text. */
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

/** An error as each provider words it, which here repeats the key. */
export function failing(kind: Kind, status: number, headers: Record<string, string> = {}): Reply {
  const error = { type: 'some_error', message: `Nothing doing with ${KEY}, said the server` };
  return {
    status,
    headers: { 'retry-after-ms': '1', ...headers },
    body: kind === 'openai' ? { error } : { type: 'error', error },
  };
}
