// What customizers say while the user's callbacks run, in order. What a plugin says stands where the plugin was used,
// however long it takes, and bears both lines: the user's own and the plugin's.
import { AppError, fail, isAppError } from '../../core/errors.ts';
import type { MaybePromise, Recorded } from './definitions.ts';

export class Recording {
  readonly #entries: (Recorded | Recording)[] = [];
  readonly #waits: Promise<void>[] = [];
  /** Where the plugin was used whose calls these are. */
  readonly #used: string | undefined;
  #isOver = false;

  constructor(used?: string) {
    this.#used = used;
  }

  /** CONFIGURATION once it has ended. */
  add(recorded: Recorded): void {
    if (this.#isOver)
      fail('CONFIGURATION', {
        problem: `The agent has been started: nothing can be added any more. A callback that waits for something must return its promise. (${recorded.at})`,
      });
    this.#entries.push(recorded);
  }

  /** Runs a plugin that was used at `at`. CONFIGURATION for what it throws; what it throws later comes from `end`. */
  plug(at: string, run: (recording: Recording) => MaybePromise<void>): void {
    const inner = new Recording(at);
    this.#entries.push(inner);
    const answer = blameUser(PLUGIN, at, () => run(inner));
    if (!isPromise(answer)) return;
    const done = blameUserLater(PLUGIN, at, () => answer).then(() => undefined);
    // Until `end` looks at it.
    done.catch(() => undefined);
    this.#waits.push(done);
  }

  /** Everything that was said, once what is waited for is there. After that nothing can be added. */
  async end(): Promise<readonly Recorded[]> {
    await this.#settle();
    return this.#flatten();
  }

  async #settle(): Promise<void> {
    for (const wait of this.#waits) await wait;
    for (const entry of this.#entries) if (entry instanceof Recording) await entry.#settle();
  }

  #flatten(): Recorded[] {
    this.#isOver = true;
    const all = this.#entries.flatMap((entry) => (entry instanceof Recording ? entry.#flatten() : [entry]));
    const used = this.#used;
    return used === undefined ? all : all.map((each) => ({ ...each, at: throughPlugin(used, each.at) }));
  }
}

/** What a plugin is called in errors. */
export const PLUGIN = 'A plugin';

/** The place of a call that a plugin made: the user's line first. */
export function throughPlugin(used: string, at: string): string {
  return `${used}, by a plugin at ${at}`;
}

/** Runs code of the user's: whatever it throws is a CONFIGURATION that names its place, with the error as its cause. */
export function blameUser<T>(what: string, at: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    return blame(error, what, at);
  }
}

export async function blameUserLater<T>(what: string, at: string, run: () => MaybePromise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    return blame(error, what, at);
  }
}

/** What a customizer refuses names its line already; a plugin's line alone would not tell the user where to look. */
function blame(error: unknown, what: string, at: string): never {
  if (!isAppError(error)) {
    const message = error instanceof Error ? error.message : String(error);
    throw new AppError('CONFIGURATION', { problem: `${what} failed: ${message} (${at})` }, error);
  }
  if (error.code !== 'CONFIGURATION' || error.message.includes(at) || what !== PLUGIN) throw error;
  throw new AppError('CONFIGURATION', { problem: `${error.message} (used at ${at})` }, error.cause);
}

export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}
