// The client of the platform endpoint: signed calls over persistent connections. A response counts only if it is signed
// with the secret for this request. An unsigned response may come from a proxy, another server or an attacker. When a
// connection breaks, idempotent calls are sent again as a new request. Other calls are repeated with the same nonce,
// which the endpoint accepts once.
import type { Pool } from 'undici';
import type { Clock } from '../core/clock.ts';
import { AppError, type ErrorCode, type ErrorDetails, errorCodes } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { randomToken } from '../core/secret.ts';
import { answerHeader, authorize, hashOf, isAnswerTo } from './signature.ts';

export interface Channel {
  /**
   * Rejects with the platform's own error, or PLATFORM_UNAVAILABLE. `path`: below the endpoint, such as
   * `/v1/oauth/find`.
   */
  call(path: string, args: readonly unknown[], effect: 'again' | 'once'): Promise<unknown>;
  /** Repeated calls have no effect. */
  close(): Promise<void>;
}

interface ChannelOptions {
  /** URL of the platform endpoint, such as `https://platform.example.com/platform`. */
  readonly url: string;
  readonly key: string;
  /** Identifies the environment to a sandbox, which has no other way to know it. */
  readonly environment?: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly observe: Observe;
}

/** Why there was no trusted response. For the log, and for the operator who starts an agent. */
export class RpcFailure extends Error {
  /** HTTP status; undefined without a response. */
  readonly status: number | undefined;
  /** The reason for a refusal, if the response was trusted. */
  readonly refused: string | undefined;

  constructor(
    message: string,
    about: { readonly status?: number; readonly refused?: string; readonly cause?: unknown },
  ) {
    super(message, about.cause === undefined ? undefined : { cause: about.cause });
    this.name = 'DoorFailure';
    this.status = about.status;
    this.refused = about.refused;
  }
}

const CONNECTIONS = 64;
const CONNECT_MS = 5000;
/** In milliseconds. Every call makes small idempotent requests; the other requests may write much. */
const ANSWER_MS = { again: 10_000, once: 30_000 } as const;

interface HttpAnswer {
  readonly status: number;
  readonly body: string;
  readonly signature: string;
}

interface Message {
  readonly path: string;
  readonly nonce: string;
  readonly authorization: string;
  readonly body: string;
}

export async function openChannel(options: ChannelOptions): Promise<Channel> {
  const { key, environment = '', clock, observe } = options;
  const { Pool: UndiciPool } = await import('undici');
  const { origin, pathname } = new URL(options.url);
  const pool: Pool = new UndiciPool(origin, {
    connections: CONNECTIONS,
    connect: { timeout: CONNECT_MS },
  });
  let closing: Promise<void> | undefined;
  // An outage is only logged after a first successful call.
  let isUnavailable: boolean | undefined;

  const noteAvailability = (nowUnavailable: boolean, cause?: unknown): void => {
    if (nowUnavailable === isUnavailable || (isUnavailable === undefined && nowUnavailable)) return;
    const isFirst = isUnavailable === undefined;
    isUnavailable = nowUnavailable;
    if (isFirst) return;
    const message = nowUnavailable
      ? `The platform at ${options.url} cannot be reached; calls are rejected until it answers.`
      : `The platform at ${options.url} answers again.`;
    observe({ type: 'warning', message, ...(cause !== undefined && { cause }) });
  };

  const composeMessage = (path: string, args: readonly unknown[]): Message => {
    // By position, to distinguish an omitted argument from null.
    const body = JSON.stringify({ ...args });
    const nonce = randomToken(128);
    const signed = { path, time: clock.now(), nonce, body: hashOf(body), environment };
    return { path, nonce, authorization: authorize(signed, key), body };
  };

  const post = async ({ path, authorization, body }: Message, effect: 'again' | 'once'): Promise<HttpAnswer> => {
    const {
      statusCode,
      headers,
      body: responseBody,
    } = await pool.request({
      method: 'POST',
      path: pathname + path,
      headers: { 'content-type': 'application/json', authorization },
      body,
      headersTimeout: ANSWER_MS[effect],
      bodyTimeout: ANSWER_MS[effect],
    });
    return { status: statusCode, body: await responseBody.text(), signature: `${headers[answerHeader] ?? ''}` };
  };

  const deliver = async (compose: () => Message, effect: 'again' | 'once') => {
    const first = compose();
    try {
      return { message: first, answer: await post(first, effect) };
    } catch (cause) {
      if (!isBroken(cause)) throw new RpcFailure(`No server answers at ${options.url}.`, { cause });
    }
    // The other side closed the persistent connection at this moment.
    const second = effect === 'again' ? compose() : first;
    try {
      return { message: second, answer: await post(second, effect) };
    } catch (cause) {
      throw new RpcFailure(`No server answers at ${options.url}.`, { cause });
    }
  };

  const attempt = async (path: string, args: readonly unknown[], effect: 'again' | 'once'): Promise<unknown> => {
    const { message, answer } = await deliver(() => composeMessage(path, args), effect);
    const { status, body, signature } = answer;
    if (!isAnswerTo(message.nonce, status, body, signature, key)) {
      throw new RpcFailure(`The answer of ${options.url} has no valid signature of the platform of this environment.`, {
        status,
      });
    }
    const parsed = JSON.parse(body) as {
      readonly value?: unknown;
      readonly error?: { readonly code: ErrorCode; readonly details: never };
      readonly refused?: string;
      readonly detail?: string;
    };
    if (parsed.refused !== undefined) {
      throw new RpcFailure(`The platform refused a request: ${parsed.detail ?? parsed.refused}`, {
        status,
        refused: parsed.refused,
      });
    }
    noteAvailability(false);
    if (parsed.error) throw toPlatformError(parsed.error);
    return parsed.value;
  };

  return {
    async call(path, args, effect) {
      try {
        return await attempt(path, args, effect);
      } catch (error) {
        if (!(error instanceof RpcFailure)) throw error;
        noteAvailability(true, error);
        throw new AppError('PLATFORM_UNAVAILABLE', {}, error);
      }
    },
    close() {
      closing ??= pool.close();
      return closing;
    },
  };
}

/** An unknown code, from a newer version, becomes INTERNAL. */
function toPlatformError({
  code,
  details,
}: {
  readonly code: ErrorCode;
  readonly details: ErrorDetails<ErrorCode>;
}): AppError {
  if (errorCodes.includes(code)) return new AppError(code, details);
  return new AppError('INTERNAL', { requestId: 'of the platform' }, new Error(`The platform answered ${code}.`));
}

function isBroken(cause: unknown): boolean {
  const { code } = cause as { readonly code?: string };
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
}
