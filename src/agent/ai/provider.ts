// The language model provider of the host application, in the chat-completions format for all providers (`addAi`,
// behaviour 4.1). The first request loads the official client, so the start stays fast. Only this file uses the
// clients, because they hold the key.

import { type StopSignal, toAbortSignal } from '../../core/clock/stop.ts';
import { type Clock, systemClock } from '../../core/clock.ts';
import { importOptional } from '../../core/config/optional-package.ts';
import { fail } from '../../core/errors.ts';
import { callSite } from '../customize/call-site.ts';
import { checkOptions, isText, type OptionRules } from '../customize/option-checks.ts';
import { fromMessages, toMessages } from './anthropic.ts';
import { fromEvents } from './anthropic-stream.ts';
import type {
  AiAnswer,
  AiCallOptions,
  AiChunk,
  AiProvider,
  AiProviderKind,
  AiProviderOptions,
  AiRequest,
} from './definitions.ts';
import { retryAfterSeconds, toAppError } from './failure.ts';
import { fromCompletion, toCompletion } from './openai.ts';
import { fromChunks } from './openai-stream.ts';
import { checkRequest } from './request.ts';
import { type ClientLimits, streamWithTimeout, withTimeout } from './timeout.ts';

const DEFAULT_SECONDS = 60;
const MAX_SECONDS = 600;
/** Attempts after the first, by the client. */
const RETRIES = 2;
/** A provider that asks for a longer wait is not retried; the caller gets an error instead. */
const MAX_WAIT_SECONDS = 5;

const kinds = ['openai', 'anthropic'] as const satisfies readonly AiProviderKind[];

const optionRows: OptionRules<AiProviderOptions> = {
  name: { required: true, expected: 'a non-empty string', accepts: isText },
  provider: {
    required: true,
    expected: "'openai' or 'anthropic'",
    accepts: (value) => (kinds as readonly unknown[]).includes(value),
  },
  apiKey: {
    required: true,
    expected: 'a string of visible ASCII characters, without spaces',
    // The key becomes a header. An invalid one would appear in the client's error.
    accepts: (value) => typeof value === 'string' && /^[!-~]+$/.test(value),
  },
  model: { required: true, expected: 'a non-empty string', accepts: isText },
  baseUrl: {
    expected: "an http or https URL without credentials, query or fragment, such as 'https://ai.example.com/v1'",
    accepts: isBaseUrl,
  },
};

function isBaseUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username === '' && password === '' && !/[?#]/.test(value);
}

const createdProviders = new WeakSet<object>();

/**
 * Creates a provider of language models for `addAi`. CONFIGURATION, with your line, for a missing, unknown or invalid
 * option. Sends no request.
 *
 * @example
 * const provider = createAiProvider({
 *   name: 'support model',
 *   provider: 'openai',
 *   apiKey: 'sk-…',
 *   model: 'gpt-5',
 *   baseUrl: 'https://models.example.com/v1',
 * });
 */
export function createAiProvider(options: AiProviderOptions): AiProvider {
  checkOptions('createAiProvider', options, optionRows, callSite(createAiProvider));
  const { name, provider: kind, model, apiKey } = options;
  const baseUrl = options.baseUrl?.replace(/\/+$/, '');
  let opened: Promise<ProviderClient> | undefined;
  const open = () => {
    opened ??= clientFactories[kind]({ apiKey, model, baseUrl, clock: systemClock });
    return opened;
  };
  const prepare = (given: AiRequest, { signal, timeoutSeconds = DEFAULT_SECONDS }: AiCallOptions) => {
    const request = checkRequest(given);
    checkSeconds(timeoutSeconds);
    return { request, limits: { provider: name, seconds: timeoutSeconds, signal, clock: systemClock } };
  };
  const explain = (error: unknown) => toAppError(error, { provider: name, apiKey, now: systemClock.now() });
  const provider: AiProvider = Object.freeze({
    name,
    provider: kind,
    model,
    async ask(given: AiRequest, options: AiCallOptions = {}) {
      const { request, limits } = prepare(given, options);
      try {
        return await withTimeout(limits, async (within) => (await open()).ask(request, within));
      } catch (error) {
        throw explain(error);
      }
    },
    async *askInChunks(given: AiRequest, options: AiCallOptions = {}) {
      const { request, limits } = prepare(given, options);
      try {
        yield* streamWithTimeout(limits, async (within) => (await open()).open(request, within));
      } catch (error) {
        throw explain(error);
      }
    },
  });
  createdProviders.add(provider);
  return provider;
}

export function isAiProvider(value: unknown): value is AiProvider {
  return typeof value === 'object' && value !== null && createdProviders.has(value);
}

/** Wraps the provider to cancel its requests together with the call. */
export function withCancellation(provider: AiProvider, call: StopSignal | undefined): AiProvider {
  if (!call) return provider;
  const within = ({ signal, ...options }: AiCallOptions): AiCallOptions => {
    const ofCall = toAbortSignal(call);
    return { ...options, signal: signal ? AbortSignal.any([ofCall, signal]) : ofCall };
  };
  return Object.freeze({
    ...provider,
    ask: (request: AiRequest, options: AiCallOptions = {}) => provider.ask(request, within(options)),
    askInChunks: (request: AiRequest, options: AiCallOptions = {}) => provider.askInChunks(request, within(options)),
  });
}

function checkSeconds(seconds: unknown): void {
  if (typeof seconds === 'number' && seconds > 0 && seconds <= MAX_SECONDS) return;
  fail('INVALID_ARGUMENT', { argument: 'timeoutSeconds', problem: `expected a number up to ${MAX_SECONDS}.` });
}

interface ProviderClient {
  ask(request: AiRequest, within: ClientLimits): Promise<AiAnswer>;
  open(request: AiRequest, within: ClientLimits): Promise<AsyncIterable<AiChunk>>;
}

interface Settings {
  readonly apiKey: string;
  readonly model: string;
  readonly baseUrl: string | undefined;
  readonly clock: Clock;
}

/**
 * Every setting is explicit, because the clients read defaults from the environment. A key must only go to its own
 * endpoint.
 */
const clientFactories: Readonly<Record<AiProviderKind, (settings: Settings) => Promise<ProviderClient>>> = {
  async openai({ apiKey, model, baseUrl = 'https://api.openai.com/v1', clock }) {
    const { OpenAI } = await importOptional('openai', () => import('openai'));
    const client = new OpenAI({
      apiKey,
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      baseURL: baseUrl,
      ...clientOptions(clock),
    });
    return {
      ask: async (request, within) =>
        fromCompletion(await client.chat.completions.create(toCompletion(request, model), within)),
      open: async (request, within) =>
        fromChunks(
          await client.chat.completions.create(
            { ...toCompletion(request, model), stream: true, stream_options: { include_usage: true } },
            within,
          ),
        ),
    };
  },
  async anthropic({ apiKey, model, baseUrl = 'https://api.anthropic.com', clock }) {
    const { Anthropic } = await importOptional('@anthropic-ai/sdk', () => import('@anthropic-ai/sdk'));
    const client = new Anthropic({
      apiKey,
      webhookKey: null,
      baseURL: baseUrl,
      openTelemetry: false,
      ...clientOptions(clock),
    });
    const seconds = () => Math.floor(clock.now() / 1000);
    return {
      ask: async (request, within) =>
        fromMessages(await client.messages.create(toMessages(request, model), within), seconds()),
      open: async (request, within) =>
        fromEvents(await client.messages.create({ ...toMessages(request, model), stream: true }, within), seconds()),
    };
  },
};

/** At `debug` the clients would log requests, and `OPENAI_LOG` or `ANTHROPIC_LOG` could enable that. */
const clientOptions = (clock: Clock) => ({ maxRetries: RETRIES, logLevel: 'off' as const, fetch: createFetch(clock) });

/**
 * Does not follow redirects, since request and key are for one host. The wait between two attempts cannot be cancelled.
 * A long wait is declined in advance with a header that the clients respect.
 */
function createFetch(clock: Clock): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'manual' });
    if (response.ok || (retryAfterSeconds(response.headers, clock.now()) ?? 0) <= MAX_WAIT_SECONDS) return response;
    const headers = new Headers(response.headers);
    headers.set('x-should-retry', 'false');
    const { status, statusText } = response;
    return new Response(response.body, { status, statusText, headers });
  };
}
