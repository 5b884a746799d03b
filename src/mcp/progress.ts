// Progress notifications for a client that sent a progress token (MCP, utilities, progress). Code that knows its
// progress reports it. Without reports, a heartbeat is sent every few seconds, because clients with a timeout reset it
// on each message. The progress value must grow with each message, so a report that does not exceed the last value is
// skipped. A heartbeat raises the value by less than any plausible step of a report.
import type { ReportProgress } from '../agent/actions/definitions.ts';
import type { Clock } from '../core/clock.ts';

export interface ProgressMessage {
  /** Greater than in every earlier message. */
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** Sends progress on the stream of its call, only to a client that sent a progress token. */
export type TellProgress = (message: ProgressMessage) => Promise<void>;

export interface ProgressParams extends ProgressMessage {
  readonly progressToken: string | number;
  readonly [member: string]: unknown;
}

/**
 * Returns no function without a token. The token is read from `_meta` of a checked request (MCP, utilities, progress).
 */
export function tellsProgress(
  progressToken: unknown,
  notify: (method: 'notifications/progress', params: ProgressParams) => void | Promise<void>,
): { readonly tell?: TellProgress } {
  if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return {};
  return { tell: async (message) => notify('notifications/progress', { progressToken, ...message }) };
}

export interface Progress {
  readonly report: ReportProgress;
  /** Sends the last delayed message. Later reports are ignored. */
  end(): Promise<void>;
}

const FIRST_SIGN_MS = 1000;
const NEXT_SIGN_MS = 5000;
/** The minimum time between two messages, in milliseconds. Faster reports are dropped, except the last. */
const LEAST_MS = 200;
/** The most that all heartbeats between two reports add to the progress value. */
const SIGNS = 0.01;
const MESSAGE_CHARACTERS = 200;

export function createProgress(clock: Clock, send: TellProgress): Progress {
  const began = clock.monotonic();
  let sentAt = Number.NEGATIVE_INFINITY;
  let last = -1;
  let reported = 0;
  let total: number | undefined;
  let signs = 0;
  let held: ProgressMessage | undefined;
  let sending = Promise.resolve();
  let isOver = false;
  let stopTimer = clock.after(FIRST_SIGN_MS, giveSign);

  function say(message: ProgressMessage): void {
    held = undefined;
    last = message.progress;
    sentAt = clock.monotonic();
    // The client has disconnected.
    sending = send(message).catch(() => undefined);
    wait(NEXT_SIGN_MS, giveSign);
  }

  function wait(ms: number, next: () => void): void {
    stopTimer();
    stopTimer = clock.after(ms, next);
  }

  function giveSign(): void {
    signs++;
    const progress = reported + (SIGNS * signs) / (signs + 1);
    const seconds = Math.round((clock.monotonic() - began) / 1000);
    say({ progress, ...(total !== undefined && { total }), message: `Still working, ${seconds} s` });
  }

  function sayHeld(): void {
    if (held) say(held);
  }

  return {
    report(done, of, message) {
      if (isOver || done <= last) return;
      reported = done;
      total = of;
      signs = 0;
      held = {
        progress: done,
        ...(of !== undefined && { total: of }),
        ...(message !== undefined && { message: message.slice(0, MESSAGE_CHARACTERS) }),
      };
      const since = clock.monotonic() - sentAt;
      if (since >= LEAST_MS) sayHeld();
      else wait(LEAST_MS - since, sayHeld);
    },
    async end() {
      isOver = true;
      sayHeld();
      stopTimer();
      await sending;
    },
  };
}
