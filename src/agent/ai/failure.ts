// What goes wrong between here and a provider. Callers are told what to do, and never what the provider said: its words
// may hold the question, names of accounts, or the key. They are the cause, for the log, without the key.
import { AppError, isAppError } from '../../core/errors.ts';

/** Of the errors of both official clients; without a status nothing was answered. */
interface ClientError {
  readonly status?: unknown;
  readonly headers?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
}

export interface Failed {
  readonly provider: string;
  readonly apiKey: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export function failureOf(thrown: unknown, { provider, apiKey, now }: Failed): AppError {
  if (isAppError(thrown)) return thrown;
  const { status, headers } = (thrown ?? {}) as ClientError;
  const cause = new Error(`The AI provider '${provider}': ${withoutKey(wordsOf(thrown), apiKey)}`);
  if (typeof status !== 'number') return new AppError('AI_UNAVAILABLE', { provider }, cause);
  if (status === 401 || status === 403) return new AppError('AI_KEY_REFUSED', { provider }, cause);
  if (status === 429) {
    const wait = headers instanceof Headers ? retryAfterSeconds(headers, now) : null;
    return new AppError('AI_RATE_LIMITED', { provider, retryAfterSeconds: wait }, cause);
  }
  if (status === 408 || status >= 500) return new AppError('AI_UNAVAILABLE', { provider }, cause);
  return new AppError('AI_REFUSED', { provider, status }, cause);
}

/** How long an answer asks to wait, in whole seconds; null when it does not say. */
export function retryAfterSeconds(headers: Headers, now: number): number | null {
  const milliseconds = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  const given = headers.get('retry-after') ?? '';
  const seconds = Number.isNaN(milliseconds) ? Number.parseFloat(given) : milliseconds / 1000;
  const wait = Number.isNaN(seconds) ? (Date.parse(given) - now) / 1000 : seconds;
  return Number.isNaN(wait) ? null : Math.max(0, Math.ceil(wait));
}

/** The error and those behind it, which tell of a connection that failed. */
function wordsOf(thrown: unknown): string {
  const words: string[] = [];
  for (let error = thrown as ClientError | undefined; error && words.length < 4; error = error.cause as ClientError)
    words.push(String(error.message ?? error));
  return words.join(': ') || String(thrown);
}

/** A server that is misconfigured, or means ill, sends back what it was sent. */
function withoutKey(text: string, apiKey: string): string {
  return text.replaceAll(apiKey, '***').replaceAll(JSON.stringify(apiKey).slice(1, -1), '***');
}
