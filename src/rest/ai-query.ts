// The language model of the operator for whoever is signed in, in the chat-completions form (spec 4.1, addAi: it routes AI
// features through the host): the key stays here, the model is the operator's choice, and each user has so many questions a minute.

import type { AiChunk, AiRequest } from '../agent/ai/definitions.ts';
import { checkRequest } from '../agent/ai/request.ts';
import type { Engine } from '../agent/engine.ts';
import { toAbortSignal } from '../core/clock/stop.ts';
import type { Config } from '../core/config.ts';
import { fail, isAppError } from '../core/errors.ts';
import { createLimiter, type Limiter } from '../core/limit.ts';
import type { Observe } from '../core/observe.ts';
import { type DataRoute, dataRoute } from './route.ts';

interface Question {
  readonly request: AiRequest;
  readonly model: string | undefined;
  /** Whether the answer is told while it is made, and whether its usage is told at the end of that. */
  readonly stream: { readonly withUsage: boolean } | undefined;
}

/** The longest that a provider can be waited for. */
const mostSeconds = 600;

/** Of one server each, which its engine stands for: that stays the same when the agent is restarted. */
const limiters = new WeakMap<Engine, Limiter>();

function limiterOf(engine: Engine, { aiPerMinute }: Config): Limiter {
  const known = limiters.get(engine);
  if (known) return known;
  const limiter = createLimiter('ai-query', { points: aiPerMinute, seconds: 60 });
  limiters.set(engine, limiter);
  return limiter;
}

const aiQuery = dataRoute<Question>({
  method: 'POST',
  path: '/_internal/ai/query',
  action: 'aiQuery',
  writes: false,
  parse: ({ body }) => readQuestion(body),
  // What is asked and answered is told to nobody.
  subject: () => ({}),
  async run({ request, model, stream }, { engine, config, access, signal, observe }) {
    const { ai } = engine;
    if (!ai) return fail('NO_AI_PROVIDER', {});
    if (model !== undefined && model !== ai.model)
      fail('INVALID_ARGUMENT', {
        argument: 'model',
        problem: `it is chosen by whoever runs this server: leave it out, or send '${ai.model}'.`,
      });
    // OWASP API4:2023: each question costs the operator money.
    await limiterOf(engine, config).consume(`${access.caller.id}`);
    const options = { signal: toAbortSignal(signal), timeoutSeconds: Math.min(config.callSeconds, mostSeconds) };
    if (!stream) return { status: 200, body: await tellingLog(observe, () => ai.ask(request, options)) };
    const chunks = ai.askInChunks(request, options)[Symbol.asyncIterator]();
    // What fails before the answer begins has a status of its own.
    const first = await tellingLog(observe, () => chunks.next());
    return {
      status: 200,
      headers: { 'X-Accel-Buffering': 'no' },
      stream: { type: 'text/event-stream', parts: toEvents(first, chunks, stream.withUsage, observe) },
    };
  },
});

export const aiQueryRoutes: readonly DataRoute[] = [aiQuery];

/** What the provider said of a failure is in its cause, and for the log alone. */
async function tellingLog<T>(observe: Observe, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (isAppError(error) && error.cause !== undefined)
      observe({ type: 'warning', message: error.message, cause: error.cause });
    throw error;
  }
}

/** Server-sent events (HTML Living Standard 9.2), each a chunk, and at the end `[DONE]`; or an error, after which nothing comes. */
async function* toEvents(
  first: IteratorResult<AiChunk>,
  chunks: AsyncIterator<AiChunk>,
  withUsage: boolean,
  observe: Observe,
): AsyncGenerator<string, void, void> {
  try {
    for (let next = first; !next.done; next = await tellingLog(observe, () => chunks.next())) {
      const isUsage = next.value.choices.length === 0;
      if (!isUsage || withUsage) yield `data: ${JSON.stringify(next.value)}\n\n`;
    }
    yield 'data: [DONE]\n\n';
  } catch (error) {
    // The status is sent. Clients of the form know this as the end.
    if (!isAppError(error)) throw error;
    const { code, message, status } = error;
    yield `data: ${JSON.stringify({ error: { message, type: status === 429 ? 'rate_limit_error' : 'server_error', code } })}\n\n`;
  } finally {
    await chunks.return?.();
  }
}

function readQuestion(body: unknown): Question {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return fail('INVALID_ARGUMENT', {
      argument: 'body',
      problem: 'expected an object such as {"messages": [{"role": "user", "content": "..."}]}.',
    });
  const { model, stream, stream_options: options, ...rest } = body as Readonly<Record<string, unknown>>;
  if (model !== undefined && typeof model !== 'string')
    fail('INVALID_ARGUMENT', { argument: 'model', problem: 'expected a text, or leave it out.' });
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean')
    fail('INVALID_ARGUMENT', { argument: 'stream', problem: 'expected true or false.' });
  return {
    request: checkRequest(rest),
    model: model as string | undefined,
    stream: stream === true ? { withUsage: readUsageWish(options) } : undefined,
  };
}

function readUsageWish(options: unknown): boolean {
  if (options === undefined || options === null) return false;
  const wish = typeof options === 'object' ? (options as Readonly<Record<string, unknown>>).include_usage : options;
  if (wish === undefined || typeof wish === 'boolean') return wish ?? false;
  return fail('INVALID_ARGUMENT', { argument: 'stream_options', problem: 'expected {"include_usage": true}.' });
}
