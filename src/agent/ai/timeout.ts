// The timeout of a request, for all attempts together, and its cancellation by the caller.
import type { Clock } from '../../core/clock.ts';
import { AppError, fail } from '../../core/errors.ts';

interface TimeoutOptions {
  readonly provider: string;
  readonly seconds: number;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
}

/** The limits that the client receives. */
export interface ClientLimits {
  readonly signal: AbortSignal;
  /** Milliseconds. */
  readonly timeout: number;
}

/** CANCELLED or AI_TIMED_OUT immediately; the client stops shortly after. */
export async function withTimeout<Result>(
  limits: TimeoutOptions,
  run: (within: ClientLimits) => Promise<Result>,
): Promise<Result> {
  const { within, stopped, end } = startTimeout(limits);
  try {
    return await Promise.race([run(within), stopped]);
  } finally {
    end();
  }
}

/** Like `withTimeout`, for a stream. Stops the client when the iteration ends. */
export async function* streamWithTimeout<Part>(
  limits: TimeoutOptions,
  open: (within: ClientLimits) => Promise<AsyncIterable<Part>>,
): AsyncGenerator<Part, void, void> {
  const { within, stopped, end, abort } = startTimeout(limits);
  try {
    const parts = (await Promise.race([open(within), stopped]))[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([parts.next(), stopped]);
      if (next.done) return;
      yield next.value;
    }
  } finally {
    end();
    abort();
  }
}

function startTimeout({ provider, seconds, signal, clock }: TimeoutOptions) {
  if (signal?.aborted) return fail('CANCELLED', {});
  const controller = new AbortController();
  const timeout = Math.ceil(seconds * 1000);
  let cancel = () => {};
  let stopTimer = () => {};
  const stopped = new Promise<never>((_, reject) => {
    const stop = (error: AppError) => {
      reject(error);
      controller.abort();
    };
    cancel = () => stop(new AppError('CANCELLED', {}));
    stopTimer = clock.after(timeout, () => stop(new AppError('AI_TIMED_OUT', { provider, seconds })));
  });
  signal?.addEventListener('abort', cancel, { once: true });
  return {
    within: { signal: controller.signal, timeout } satisfies ClientLimits,
    stopped,
    end: () => {
      stopTimer();
      signal?.removeEventListener('abort', cancel);
    },
    abort: () => controller.abort(),
  };
}
