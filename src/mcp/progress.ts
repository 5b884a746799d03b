// What a client that sent a progress token hears of its call while it runs (MCP, utilities, progress). Code that knows how
// far it is says so; of everything else, and while code is silent, there is a sign of life now and then, so that a client
// that counts from the last sign does not give up. The token's number must grow with each message: what is not more than
// was said before waits for what is, and signs of life move it by less than any step that code could mean.
import type { ReportProgress } from '../agent/actions/definitions.ts';
import type { Clock } from '../core/clock.ts';

export interface ProgressMessage {
  /** Always more than before. */
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** How progress is sent on the stream of its call: to a client that gave a token for it, and to no other. */
export type TellProgress = (message: ProgressMessage) => Promise<void>;

export interface ProgressParams extends ProgressMessage {
  readonly progressToken: string | number;
  readonly [member: string]: unknown;
}

/** Nothing without a token, as it stands in `_meta` of a request that was checked (MCP, utilities, progress). */
export function tellsProgress(
  progressToken: unknown,
  notify: (method: 'notifications/progress', params: ProgressParams) => void | Promise<void>,
): { readonly tell?: TellProgress } {
  if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return {};
  return { tell: async (message) => notify('notifications/progress', { progressToken, ...message }) };
}

export interface Progress {
  readonly report: ReportProgress;
  /** Sends what was held back; after it nothing is sent, whatever is still reported. */
  end(): Promise<void>;
}

const FIRST_SIGN_MS = 1000;
const NEXT_SIGN_MS = 5000;
/** Between two messages; what is reported faster is left out, but for the last. */
const LEAST_MS = 200;
/** All signs of life together, between two reports. */
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
    // A client that is gone wants no progress either.
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
