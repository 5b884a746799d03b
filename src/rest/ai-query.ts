// Gives signed-in users access to the operator's language model, in the chat-completions format (`addAi`,
// behaviour 4.1). The API key stays on the server. The operator chooses the model. Each user has a limit of questions
// per minute.

import type { AiChunk, AiRequest } from '../agent/ai/definitions.ts';
import { checkRequest } from '../agent/ai/request.ts';
import type { Engine } from '../agent/engine.ts';
import { toAbortSignal } from '../core/clock/stop.ts';
import type { Config } from '../core/config.ts';
import { fail, isAppError } from '../core/errors.ts';
import { createLimiter, type Limiter } from '../core/limit.ts';
import { markLogged } from '../core/observe/failures.ts';
import type { Observe } from '../core/observe.ts';
import { type DataRoute, dataRoute } from './route.ts';

interface ModelQuestion {
  readonly request: AiRequest;
  readonly model: string | undefined;
  /** Set for a streamed response. `withUsage` adds the token usage as the last chunk. */
  readonly stream: { readonly withUsage: boolean } | undefined;
}

/** The maximum provider timeout, in seconds. */
const MAX_SECONDS = 600;

/** Limiters by engine. The engine stays the same when the agent restarts, so limits survive a restart. */
const limiters = new WeakMap<Engine, Limiter>();

function limiterOf(engine: Engine, { aiPerMinute }: Config): Limiter {
  const existing = limiters.get(engine);
  if (existing) return existing;
  const limiter = createLimiter('ai-query', { points: aiPerMinute, seconds: 60 });
  limiters.set(engine, limiter);
  return limiter;
}

const aiQuery = dataRoute<ModelQuestion>({
  method: 'POST',
  path: '/_internal/ai/query',
  action: 'aiQuery',
  writes: false,
  // Scopes for records do not cover the operator's language model.
  scope: null,
  parse: ({ body }) => parseQuestion(body),
  // The activity log records neither the question nor the response.
  subject: () => ({}),
  async run({ request, model, stream }, { engine, config, access, signal, observe }) {
    const { ai } = engine;
    if (!ai) return fail('NO_AI_PROVIDER', {});
    if (model !== undefined && model !== ai.model)
      fail('INVALID_ARGUMENT', {
        argument: 'model',
        problem: `the operator of this server chooses the model: leave it out, or send '${ai.model}'.`,
      });
    // OWASP API4:2023: each question costs the operator money.
    await limiterOf(engine, config).consume(`${access.caller.id}`);
    const options = { signal: toAbortSignal(signal), timeoutSeconds: Math.min(config.callSeconds, MAX_SECONDS) };
    if (!stream) return { status: 200, body: await withErrorLog(observe, () => ai.ask(request, options)) };
    const chunks = ai.askInChunks(request, options)[Symbol.asyncIterator]();
    // A failure before the first chunk gets its own HTTP status.
    const first = await withErrorLog(observe, () => chunks.next());
    return {
      status: 200,
      headers: { 'X-Accel-Buffering': 'no' },
      stream: { type: 'text/event-stream', parts: toEvents(first, chunks, stream.withUsage, observe) },
    };
  },
});

export const aiQueryRoutes: readonly DataRoute[] = [aiQuery];

/** The provider's own message is in the error's cause. It goes only to the log. */
async function withErrorLog<T>(observe: Observe, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isAppError(error) && error.cause !== undefined)
      observe({ type: 'warning', message: markLogged(error).message, cause: error.cause });
    throw error;
  }
}

/**
 * Server-sent events (HTML Living Standard 9.2), one per chunk. The stream ends with `[DONE]` or with an error event.
 */
async function* toEvents(
  first: IteratorResult<AiChunk>,
  chunks: AsyncIterator<AiChunk>,
  withUsage: boolean,
  observe: Observe,
): AsyncGenerator<string, void, void> {
  try {
    for (let next = first; !next.done; next = await withErrorLog(observe, () => chunks.next())) {
      const isUsage = next.value.choices.length === 0;
      if (!isUsage || withUsage) yield `data: ${JSON.stringify(next.value)}\n\n`;
    }
    yield 'data: [DONE]\n\n';
  } catch (error) {
    // The status has already been sent. Chat-completions clients treat an error event as the end.
    if (!isAppError(error)) throw error;
    const { code, message, status } = error;
    yield `data: ${JSON.stringify({ error: { message, type: status === 429 ? 'rate_limit_error' : 'server_error', code } })}\n\n`;
  } finally {
    await chunks.return?.();
  }
}

function parseQuestion(body: unknown): ModelQuestion {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return fail('INVALID_ARGUMENT', {
      argument: 'body',
      problem: 'expected an object such as {"messages": [{"role": "user", "content": "..."}]}.',
    });
  const { model, stream, stream_options: options, ...rest } = body as Readonly<Record<string, unknown>>;
  if (model !== undefined && typeof model !== 'string')
    fail('INVALID_ARGUMENT', { argument: 'model', problem: 'expected a string, or leave it out.' });
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean')
    fail('INVALID_ARGUMENT', { argument: 'stream', problem: 'expected true or false.' });
  return {
    request: checkRequest(rest),
    model,
    stream: stream === true ? { withUsage: parseUsageOption(options) } : undefined,
  };
}

function parseUsageOption(options: unknown): boolean {
  if (options === undefined || options === null) return false;
  const includeUsage =
    typeof options === 'object' ? (options as Readonly<Record<string, unknown>>).include_usage : options;
  if (includeUsage === undefined || typeof includeUsage === 'boolean') return includeUsage ?? false;
  return fail('INVALID_ARGUMENT', { argument: 'stream_options', problem: 'expected {"include_usage": true}.' });
}
