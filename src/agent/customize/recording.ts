// Records the calls of customizers in order while the user's callbacks run. The calls of a plugin take the position of
// its `use`, even if the plugin is async. Their call site names both the user's line and the plugin's.
import { CodeFailure } from '../../core/errors/code-failure.ts';
import { AppError, fail, isAppError } from '../../core/errors.ts';
import type { MaybePromise } from './context.ts';
import type { Customization, RecordedCall, RecordedCustomizations } from './definitions.ts';

export class Recording {
  readonly #entries: (RecordedCall | Recording)[] = [];
  readonly #waits: Promise<void>[] = [];
  /** The call site of `use`, if a plugin makes these calls. */
  readonly #used: string | undefined;
  #isOver = false;

  constructor(used?: string) {
    this.#used = used;
  }

  /** CONFIGURATION after the end of the recording. */
  add(recorded: RecordedCall): void {
    if (this.#isOver)
      fail('CONFIGURATION', {
        problem: `The agent has already started and accepts no more customizations. An async callback must return its promise. (${recorded.at})`,
      });
    this.#entries.push(recorded);
  }

  /** Runs a plugin used at `at`. CONFIGURATION if it throws; `end` reports a later rejection. */
  runPlugin(at: string, run: (recording: Recording) => MaybePromise<void>): void {
    const inner = new Recording(at);
    this.#entries.push(inner);
    const answer = runUserCode(PLUGIN_LABEL, at, () => run(inner));
    if (!isPromise(answer)) return;
    const done = runUserCodeAsync(PLUGIN_LABEL, at, () => answer).then(() => undefined);
    // Prevents an unhandled rejection until `end` awaits it.
    done.catch(() => undefined);
    this.#waits.push(done);
  }

  /** Waits for async plugins, then returns all recorded calls. Further calls fail. */
  async end(): Promise<readonly RecordedCall[]> {
    await this.#settle();
    return this.#flatten();
  }

  async #settle(): Promise<void> {
    for (const wait of this.#waits) await wait;
    for (const entry of this.#entries) if (entry instanceof Recording) await entry.#settle();
  }

  #flatten(): RecordedCall[] {
    this.#isOver = true;
    const all = this.#entries.flatMap((entry) => (entry instanceof Recording ? entry.#flatten() : [entry]));
    const used = this.#used;
    return used === undefined ? all : all.map((each) => ({ ...each, at: toPluginSite(used, each.at) }));
  }
}

/** The recorded actions or charts of collections, in the order of the calls. */
export function definitionsOf<K extends 'action' | 'chart'>({ recorded }: RecordedCustomizations, kind: K) {
  type Recorded = Customization & { readonly kind: K };
  return recorded.flatMap(({ collection, at, what }) => {
    if (what.kind !== kind) return [];
    const { name, definition } = what as Recorded;
    return [{ collection, name, at, definition: definition as Recorded['definition'] }];
  });
}

/** The name of a plugin in errors. */
export const PLUGIN_LABEL = 'A plugin';

/** The call site of a plugin's call: the user's line first. */
export function toPluginSite(used: string, at: string): string {
  return `${used}, by a plugin at ${at}`;
}

/** Runs the user's code. An exception becomes CONFIGURATION with the call site, and the exception as its cause. */
export function runUserCode<T>(what: string, at: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    return failAtCallSite(error, what, at);
  }
}

export async function runUserCodeAsync<T>(what: string, at: string, run: () => MaybePromise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    return failAtCallSite(error, what, at);
  }
}

/** Errors of a customizer already name a line. For a plugin that line is in the plugin, so the user's line is added. */
function failAtCallSite(error: unknown, what: string, at: string): never {
  if (!isAppError(error)) {
    const message = error instanceof Error ? error.message : String(error);
    const failure = new CodeFailure(`${what}, used at ${at}, failed`, error);
    throw new AppError('CONFIGURATION', { problem: `${what} failed: ${message} (${at})` }, failure);
  }
  if (error.code !== 'CONFIGURATION' || error.message.includes(at) || what !== PLUGIN_LABEL) throw error;
  throw new AppError('CONFIGURATION', { problem: `${error.message} (used at ${at})` }, error.cause);
}

export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}
