// What tells work that nobody waits for it any more. Node's AbortController costs microseconds to make, a short call as much
// as planning its query, and hardly any call is ever stopped; so what lies between the socket and the statement is handed
// this, and a real AbortSignal is made for whoever needs one: code of users, and libraries.

/** As much of an AbortSignal as is used here; every AbortSignal is one. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A signal and the means to give it in one; it is given once. */
export class Stop implements StopSignal {
  aborted = false;
  reason: unknown;
  #listeners: (() => void)[] | undefined;
  #real: AbortController | undefined;

  /** The reason is an AbortError when none is named, as that of an AbortController. */
  abort(reason?: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason ?? new DOMException('This operation was aborted', 'AbortError');
    const told = this.#listeners;
    this.#listeners = undefined;
    this.#real?.abort(this.reason);
    if (told) for (const listener of told) listener();
  }

  /** Every listener is called once at most. */
  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.aborted) return;
    if (this.#listeners) this.#listeners.push(listener);
    else this.#listeners = [listener];
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners?.indexOf(listener) ?? -1;
    if (at >= 0) this.#listeners!.splice(at, 1);
  }

  /** The same signal for those who need a real one. */
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
