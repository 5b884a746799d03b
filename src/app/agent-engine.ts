// The engine of an agent over its life: built at the start, built again while it is used, and the connections that each left
// behind. A restart swaps one pointer; one that fails changes nothing.
import { closeSources, type EngineParts, type Opened } from '../agent/agent.ts';
import { createLiveEngine, type LiveEngine } from '../agent/live-engine.ts';
import type { Source } from '../agent/sources/source.ts';
import { keepSchemaFiles, type SchemaFileOptions } from './files.ts';

export interface Running {
  readonly live: LiveEngine;
  readonly parts: EngineParts;
  opened: Opened;
  /** Text of the schema file, as it is served. */
  schema: string;
}

export interface AgentEngineParts {
  /** `abandon` closes what a build that failed has opened; absent: all of it. */
  readonly build: (parts: EngineParts, abandon?: (sources: readonly Source[]) => Promise<unknown>) => Promise<Opened>;
  readonly files: () => SchemaFileOptions;
}

export class AgentEngine {
  readonly #build: AgentEngineParts['build'];
  readonly #files: AgentEngineParts['files'];
  #running: Running | undefined;
  /** Opened without a start, or of an engine that was replaced while calls were under way. */
  readonly #kept = new Set<readonly Source[]>();

  constructor({ build, files }: AgentEngineParts) {
    this.#build = build;
    this.#files = files;
  }

  get running(): Running | undefined {
    return this.#running;
  }

  /** Nothing of it is left open when it fails. */
  async open(parts: EngineParts): Promise<Running> {
    const opened = await this.#build(parts);
    try {
      const schema = keepSchemaFiles(opened, this.#files(), parts.observe);
      this.#running = { live: createLiveEngine(opened.engine), parts, opened, schema };
      return this.#running;
    } catch (error) {
      await closeSources(opened.sources);
      throw error;
    }
  }

  /** What failed is told to the log, and thrown; the engine that runs goes on. */
  async rebuild(running: Running): Promise<void> {
    const { parts, opened: before } = running;
    const unlike = (sources: readonly Source[], others: readonly Source[]) =>
      sources.filter((source) => !others.includes(source));
    const abandon = (sources: readonly Source[]) => closeSources(unlike(sources, before.sources));
    let next: Opened;
    let schema: string;
    try {
      next = await this.#build(parts, abandon);
      try {
        schema = keepSchemaFiles(next, this.#files(), parts.observe);
      } catch (error) {
        await abandon(next.sources);
        throw error;
      }
    } catch (cause) {
      parts.observe({ type: 'warning', message: 'The restart failed; the agent goes on as it was', cause });
      throw cause;
    }
    running.opened = next;
    running.schema = schema;
    const unused = unlike(before.sources, next.sources);
    this.#kept.add(unused);
    // Not waited for: it takes as long as the longest call under way.
    void running.live.swap(next.engine, async () => {
      if (this.#kept.delete(unused)) await closeSources(unused);
    });
  }

  /** Closed by `closeKept` at the latest. */
  keep(sources: readonly Source[]): void {
    this.#kept.add(sources);
  }

  async closeKept(): Promise<void> {
    const kept = [...this.#kept];
    this.#kept.clear();
    await Promise.all(kept.map(closeSources));
  }

  /** The engine is closed by whoever forgets it. */
  forget(): void {
    this.#running = undefined;
  }
}
