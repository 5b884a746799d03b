// An engine over its lifetime: built at the start, rebuilt while in use, with the connections that each build left open.
// A rebuild swaps one pointer, and a failed rebuild changes nothing. Rebuilds run one after the other.
import type { Clock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import type { BuiltEngine } from './engine.ts';
import { createEngineHandle, type EngineHandle } from './engine-handle.ts';
import type { Source } from './sources/source.ts';
import { watchTables } from './sources/table-watch.ts';

/** A built engine with its data sources. They are closed separately, since another engine may share them. */
export interface OpenedEngine extends BuiltEngine {
  readonly sources: readonly Source[];
}

interface LiveParts {
  readonly observe: Observe;
  readonly clock: Clock;
  /** Seconds between comparisons of the tables with those that are served. Default 0: never. */
  readonly schemaSeconds?: number;
}

export interface Running<P extends LiveParts> {
  readonly live: EngineHandle;
  readonly parts: P;
  opened: OpenedEngine;
  /** Text of the schema file, as served. */
  schema: string;
}

/** `watch`: the tables have changed. `request`: someone asked for the rebuild. */
type RebuildCause = 'request' | 'watch';

interface LiveEngineParts<P extends LiveParts> {
  /** `abandon` closes the sources that a failed build has opened. Default: close all of them. */
  readonly build: (parts: P, abandon?: (sources: readonly Source[]) => Promise<unknown>) => Promise<OpenedEngine>;
  /** Checks a build before it serves, and returns the text of its schema file. Default: no check, and an empty text. */
  readonly accept?: (opened: OpenedEngine, parts: P, cause: RebuildCause | 'start') => string;
  /** Runs after each rebuild. It must not fail. Default: nothing. */
  readonly afterRebuild?: (running: Running<P>) => Promise<void>;
}

export class LiveEngine<P extends LiveParts> {
  readonly #given: Required<LiveEngineParts<P>>;
  #running: Running<P> | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #stopWatch: () => void = () => undefined;
  readonly #listeners = new Set<() => void>();
  /** Sources opened without a start, or by an engine that was replaced while calls were running. */
  readonly #retained = new Set<readonly Source[]>();

  constructor({ build, accept = () => '', afterRebuild = async () => undefined }: LiveEngineParts<P>) {
    this.#given = { build, accept, afterRebuild };
  }

  get running(): Running<P> | undefined {
    return this.#running;
  }

  /** On failure, closes everything that it opened. */
  async open(parts: P): Promise<Running<P>> {
    const opened = await this.#given.build(parts);
    try {
      const schema = this.#given.accept(opened, parts, 'start');
      const rebuild = (cause: RebuildCause) =>
        this.enqueue(() => (this.#running === running ? this.rebuild(running, cause) : fail('NOT_READY', {})));
      const live = createEngineHandle(opened.engine, {
        catalogue: {
          reload: () => rebuild('request'),
          onReload: (listener) => {
            this.#listeners.add(listener);
            return () => void this.#listeners.delete(listener);
          },
        },
        close: () => this.#close(running),
      });
      const running: Running<P> = { live, parts, opened, schema };
      this.#running = running;
      const { observe, clock, schemaSeconds: seconds = 0 } = parts;
      const served = () => running.opened;
      this.#stopWatch = watchTables({ seconds, served, rebuild: () => rebuild('watch'), observe, clock });
      return running;
    } catch (error) {
      await closeSources(opened.sources);
      throw error;
    }
  }

  /** Runs after the rebuilds that were requested before. */
  enqueue(run: () => Promise<unknown>): Promise<void> {
    const next = this.#queue.then(run);
    this.#queue = next.catch(() => undefined);
    return next.then(() => undefined);
  }

  /** Resolves after the requested rebuilds. */
  async settled(): Promise<void> {
    await this.#queue;
  }

  /** Rethrows a failure, and logs it unless the watch does. The running engine stays in use. */
  async rebuild(running: Running<P>, cause: RebuildCause = 'request'): Promise<void> {
    const { parts, opened: previous } = running;
    const sourcesMissingIn = (sources: readonly Source[], others: readonly Source[]) =>
      sources.filter((source) => !others.includes(source));
    const abandon = (sources: readonly Source[]) => closeSources(sourcesMissingIn(sources, previous.sources));
    let next: OpenedEngine;
    let schema: string;
    try {
      next = await this.#given.build(parts, abandon);
      try {
        schema = this.#given.accept(next, parts, cause);
      } catch (error) {
        await abandon(next.sources);
        throw error;
      }
    } catch (failure) {
      if (cause === 'request')
        parts.observe({
          type: 'warning',
          message: 'The restart failed; the agent continues unchanged',
          cause: failure,
        });
      throw failure;
    }
    running.opened = next;
    running.schema = schema;
    const unused = sourcesMissingIn(previous.sources, next.sources);
    this.#retained.add(unused);
    // Not awaited, because it takes as long as the longest running call.
    void running.live.swap(next.engine, async () => {
      if (this.#retained.delete(unused)) await closeSources(unused);
    });
    for (const listener of this.#listeners) listener();
    await this.#given.afterRebuild(running);
  }

  /** `closePending` closes them at the latest. */
  closeLater(sources: readonly Source[]): void {
    this.#retained.add(sources);
  }

  async closePending(): Promise<void> {
    const pending = [...this.#retained];
    this.#retained.clear();
    await Promise.all(pending.map(closeSources));
  }

  /** The caller must close the engine. */
  forget(): void {
    this.#stopWatch();
    this.#running = undefined;
  }

  async #close(running: Running<P>): Promise<void> {
    this.#stopWatch();
    await this.settled();
    await running.opened.engine.close();
    await this.closePending();
  }
}

export function closeSources(sources: readonly Source[]): Promise<unknown> {
  return Promise.allSettled(sources.map((source) => source.close()));
}
