// The provider of a language model that a host application brings: asked in the chat-completions form whichever it is
// (spec 2 and 4.1, addAi). The official clients do the talking; they are loaded by the first question, so that a start
// costs nothing, and live in here alone, since they hold the key.
import { type StopSignal, toAbortSignal } from '../core/clock/stop.ts';
import { type Clock, systemClock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import { fromMessages, toMessages } from './ai/anthropic.ts';
import { fromEvents } from './ai/anthropic-stream.ts';
import type {
  AiAnswer,
  AiCallOptions,
  AiChunk,
  AiProvider,
  AiProviderKind,
  AiProviderOptions,
  AiRequest,
} from './ai/definitions.ts';
import { failureOf, retryAfterSeconds } from './ai/failure.ts';
import { stopInTime, streamInTime, type Within } from './ai/in-time.ts';
import { fromCompletion, toCompletion } from './ai/openai.ts';
import { fromChunks } from './ai/openai-stream.ts';
import { checkRequest } from './ai/request.ts';
import { checkRows, isText, type OptionRows } from './check-options.ts';
import { callSite } from './customize/call-site.ts';

const DEFAULT_SECONDS = 60;
const MOST_SECONDS = 600;
/** Attempts after the first, by the client. */
const RETRIES = 2;
/** A provider that asks to wait longer than this is not asked again: whoever waits for the answer is told instead. */
const LONGEST_WAIT_SECONDS = 5;

const kinds = ['openai', 'anthropic'] as const satisfies readonly AiProviderKind[];

const optionRows: OptionRows<AiProviderOptions> = {
  name: { required: true, expected: 'a text that is not empty', takes: isText },
  provider: {
    required: true,
    expected: "'openai' or 'anthropic'",
    takes: (value) => (kinds as readonly unknown[]).includes(value),
  },
  apiKey: {
    required: true,
    expected: 'a text of visible ASCII characters, without spaces',
    // It becomes a header; what cannot be one would be shown in the error of whoever refuses it.
    takes: (value) => typeof value === 'string' && /^[!-~]+$/.test(value),
  },
  model: { required: true, expected: 'a text that is not empty', takes: isText },
  baseUrl: {
    expected: "an http or https address without credentials, query or fragment, such as 'https://ai.example.com/v1'",
    takes: isBaseUrl,
  },
};

function isBaseUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username === '' && password === '' && !/[?#]/.test(value);
}

const made = new WeakSet<object>();

/** CONFIGURATION, with the user's line, for an option that is missing, unknown or not as it must be. Nothing is sent yet. */
export function createAiProvider(options: AiProviderOptions): AiProvider {
  checkRows('createAiProvider', options, optionRows, callSite(createAiProvider));
  const { name, provider: kind, model, apiKey } = options;
  const baseUrl = options.baseUrl?.replace(/\/+$/, '');
  let opened: Promise<Door> | undefined;
  const open = () => {
    opened ??= openers[kind]({ apiKey, model, baseUrl, clock: systemClock });
    return opened;
  };
  const prepare = (given: AiRequest, { signal, timeoutSeconds = DEFAULT_SECONDS }: AiCallOptions) => {
    const request = checkRequest(given);
    checkSeconds(timeoutSeconds);
    return { request, limits: { provider: name, seconds: timeoutSeconds, signal, clock: systemClock } };
  };
  const explain = (error: unknown) => failureOf(error, { provider: name, apiKey, now: systemClock.now() });
  const provider: AiProvider = Object.freeze({
    name,
    provider: kind,
    model,
    async ask(given: AiRequest, options: AiCallOptions = {}) {
      const { request, limits } = prepare(given, options);
      try {
        return await stopInTime(limits, async (within) => (await open()).ask(request, within));
      } catch (error) {
        throw explain(error);
      }
    },
    async *askInChunks(given: AiRequest, options: AiCallOptions = {}) {
      const { request, limits } = prepare(given, options);
      try {
        yield* streamInTime(limits, async (within) => (await open()).open(request, within));
      } catch (error) {
        throw explain(error);
      }
    },
  });
  made.add(provider);
  return provider;
}

export function isAiProvider(value: unknown): value is AiProvider {
  return typeof value === 'object' && value !== null && made.has(value);
}

/** The same provider, whose questions end with the call that they are asked for. */
export function askWithin(provider: AiProvider, call: StopSignal | undefined): AiProvider {
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
  if (typeof seconds === 'number' && seconds > 0 && seconds <= MOST_SECONDS) return;
  fail('INVALID_ARGUMENT', { argument: 'timeoutSeconds', problem: `expected a number up to ${MOST_SECONDS}.` });
}

interface Door {
  ask(request: AiRequest, within: Within): Promise<AiAnswer>;
  open(request: AiRequest, within: Within): Promise<AsyncIterable<AiChunk>>;
}

interface Settings {
  readonly apiKey: string;
  readonly model: string;
  readonly baseUrl: string | undefined;
  readonly clock: Clock;
}

/** What a client takes from the environment when it is not told is told: one key goes to one address. */
const openers: Readonly<Record<AiProviderKind, (settings: Settings) => Promise<Door>>> = {
  async openai({ apiKey, model, baseUrl = 'https://api.openai.com/v1', clock }) {
    const { OpenAI } = await import('openai');
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
    const { Anthropic } = await import('@anthropic-ai/sdk');
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

/** `logLevel`: at `debug` the clients would print questions, which `OPENAI_LOG` or `ANTHROPIC_LOG` could ask for. */
const clientOptions = (clock: Clock) => ({ maxRetries: RETRIES, logLevel: 'off' as const, fetch: createFetch(clock) });

/**
 * Redirects are not followed: question and key are for one host. The wait between two attempts cannot be ended from
 * outside, so that a long one is declined beforehand, by the header that the clients heed.
 */
function createFetch(clock: Clock): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'manual' });
    if (response.ok || (retryAfterSeconds(response.headers, clock.now()) ?? 0) <= LONGEST_WAIT_SECONDS) return response;
    const headers = new Headers(response.headers);
    headers.set('x-should-retry', 'false');
    const { status, statusText } = response;
    return new Response(response.body, { status, statusText, headers });
  };
}
