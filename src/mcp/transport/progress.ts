// Progress notifications for a client that sent a progress token (MCP, utilities, progress). Code that knows its
// progress reports it. Without reports, a heartbeat is sent every few seconds, because clients with a timeout reset it
// on each message. The progress value must grow with each message, so a report that does not exceed the last value is
// skipped. A heartbeat raises the value by less than any plausible step of a report.
import type { ReportProgress } from '../../agent/actions/definitions.ts';
import type { Clock } from '../../core/clock.ts';

export interface ProgressMessage {
  /** Greater than in every earlier message. */
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** Sends progress on the stream of its call, only to a client that sent a progress token. */
export type SendProgress = (message: ProgressMessage) => Promise<void>;

interface ProgressParams extends ProgressMessage {
  readonly progressToken: string | number;
  readonly [member: string]: unknown;
}

/**
 * Returns no function without a token. The token is read from `_meta` of a checked request (MCP, utilities, progress).
 */
export function createProgressSender(
  progressToken: unknown,
  notify: (method: 'notifications/progress', params: ProgressParams) => void | Promise<void>,
): { readonly sendProgress?: SendProgress } {
  if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return {};
  return { sendProgress: async (message) => notify('notifications/progress', { progressToken, ...message }) };
}

export interface Progress {
  readonly report: ReportProgress;
  /** Sends the last delayed message. Later reports are ignored. */
  end(): Promise<void>;
}

const FIRST_HEARTBEAT_MS = 1000;
const HEARTBEAT_MS = 5000;
/** The minimum time between two messages, in milliseconds. Faster reports are dropped, except the last. */
const MIN_INTERVAL_MS = 200;
/** The most that all heartbeats between two reports add to the progress value. */
const HEARTBEAT_SHARE = 0.01;
const MAX_MESSAGE_CHARACTERS = 200;

export function createProgress(clock: Clock, send: SendProgress): Progress {
  const startedAt = clock.monotonic();
  let sentAt = Number.NEGATIVE_INFINITY;
  let last = -1;
  let reported = 0;
  let total: number | undefined;
  let heartbeats = 0;
  let delayed: ProgressMessage | undefined;
  let sending = Promise.resolve();
  let isEnded = false;
  let stopTimer = clock.after(FIRST_HEARTBEAT_MS, sendHeartbeat);

  function sendNow(message: ProgressMessage): void {
    delayed = undefined;
    last = message.progress;
    sentAt = clock.monotonic();
    // The client has disconnected.
    sending = send(message).catch(() => undefined);
    schedule(HEARTBEAT_MS, sendHeartbeat);
  }

  function schedule(ms: number, next: () => void): void {
    stopTimer();
    stopTimer = clock.after(ms, next);
  }

  function sendHeartbeat(): void {
    heartbeats++;
    const progress = reported + (HEARTBEAT_SHARE * heartbeats) / (heartbeats + 1);
    const seconds = Math.round((clock.monotonic() - startedAt) / 1000);
    sendNow({ progress, ...(total !== undefined && { total }), message: `Still working, ${seconds} s` });
  }

  function sendDelayed(): void {
    if (delayed) sendNow(delayed);
  }

  return {
    report(done, of, message) {
      if (isEnded || done <= last) return;
      reported = done;
      total = of;
      heartbeats = 0;
      delayed = {
        progress: done,
        ...(of !== undefined && { total: of }),
        ...(message !== undefined && { message: message.slice(0, MAX_MESSAGE_CHARACTERS) }),
      };
      const since = clock.monotonic() - sentAt;
      if (since >= MIN_INTERVAL_MS) sendDelayed();
      else schedule(MIN_INTERVAL_MS - since, sendDelayed);
    },
    async end() {
      isEnded = true;
      sendDelayed();
      stopTimer();
      await sending;
    },
  };
}
