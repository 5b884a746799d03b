// Cancels work when its caller no longer waits. Creating an AbortController takes microseconds, as long as planning a
// short query, and few calls are ever cancelled. Code between the socket and the statement therefore uses this class.
// It creates a real AbortSignal only for user code and libraries.

/** The part of AbortSignal that this code uses. Every AbortSignal satisfies it. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A signal and its controller in one. It aborts at most once. */
export class Stop implements StopSignal {
  aborted = false;
  reason: unknown;
  #listeners: (() => void)[] | undefined;
  #real: AbortController | undefined;

  /** The default reason is an AbortError, like that of an AbortController. */
  abort(reason?: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason ?? new DOMException('This operation was aborted', 'AbortError');
    const listeners = this.#listeners;
    this.#listeners = undefined;
    this.#real?.abort(this.reason);
    if (listeners) for (const listener of listeners) listener();
  }

  /** Calls every listener at most once. */
  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.aborted) return;
    if (this.#listeners) this.#listeners.push(listener);
    else this.#listeners = [listener];
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners?.indexOf(listener) ?? -1;
    if (at >= 0) this.#listeners!.splice(at, 1);
  }

  /** The same signal as a real AbortSignal. */
  get real(): AbortSignal {
    this.#real ??= new AbortController();
    if (this.aborted) this.#real.abort(this.reason);
    return this.#real.signal;
  }
}

export function toAbortSignal(signal: StopSignal): AbortSignal {
  if (signal instanceof Stop) return signal.real;
  if (signal instanceof AbortSignal) return signal;
  const stop = new Stop();
  if (signal.aborted) stop.abort(signal.reason);
  else signal.addEventListener('abort', () => stop.abort(signal.reason), { once: true });
  return stop.real;
}
