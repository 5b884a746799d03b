// Errors in requests to providers. Callers see the remedy, but never the provider's message: it may contain the
// request, account names or the key. The message is the cause, for the log, with the key removed.
import { AppError, isAppError } from '../../core/errors.ts';

/** The common properties of errors in both official clients. Without a status, the provider did not answer. */
interface ClientError {
  readonly status?: unknown;
  readonly headers?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
}

interface FailureContext {
  readonly provider: string;
  readonly apiKey: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export function toAppError(thrown: unknown, { provider, apiKey, now }: FailureContext): AppError {
  if (isAppError(thrown)) return thrown;
  const { status, headers } = (thrown ?? {}) as ClientError;
  const cause = new Error(`The AI provider '${provider}': ${withoutKey(collectMessages(thrown), apiKey)}`);
  if (typeof status !== 'number') return new AppError('AI_UNAVAILABLE', { provider }, cause);
  if (status === 401 || status === 403) return new AppError('AI_KEY_REFUSED', { provider }, cause);
  if (status === 429) {
    const wait = headers instanceof Headers ? retryAfterSeconds(headers, now) : null;
    return new AppError('AI_RATE_LIMITED', { provider, retryAfterSeconds: wait }, cause);
  }
  if (status === 408 || status >= 500) return new AppError('AI_UNAVAILABLE', { provider }, cause);
  return new AppError('AI_REFUSED', { provider, status }, cause);
}

/** The wait requested by the answer, in whole seconds; null if absent. */
export function retryAfterSeconds(headers: Headers, now: number): number | null {
  const milliseconds = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  const given = headers.get('retry-after') ?? '';
  const seconds = Number.isNaN(milliseconds) ? Number.parseFloat(given) : milliseconds / 1000;
  const wait = Number.isNaN(seconds) ? (Date.parse(given) - now) / 1000 : seconds;
  return Number.isNaN(wait) ? null : Math.max(0, Math.ceil(wait));
}

/** The messages of the error and its causes, which describe connection failures. */
function collectMessages(thrown: unknown): string {
  const words: string[] = [];
  for (let error = thrown as ClientError | undefined; error && words.length < 4; error = error.cause as ClientError)
    words.push(String(error.message ?? error));
  return words.join(': ') || String(thrown);
}

/** A misconfigured or malicious server may echo the key. */
function withoutKey(text: string, apiKey: string): string {
  return text.replaceAll(apiKey, '***').replaceAll(JSON.stringify(apiKey).slice(1, -1), '***');
}
