// The engine of an agent over its lifetime: built at the start, rebuilt while in use, with the connections that each
// build left open. A restart swaps one pointer, and a failed restart changes nothing.
import { closeSources, type EngineParts, type Opened } from '../../agent/agent.ts';
import { createLiveEngine, type LiveEngine } from '../../agent/engine-handle.ts';
import type { Source } from '../../agent/sources/source.ts';
import { keepSchemaFiles, type SchemaFileOptions } from './files.ts';

export interface Running {
  readonly live: LiveEngine;
  readonly parts: EngineParts;
  opened: Opened;
  /** Text of the schema file, as served. */
  schema: string;
}

export interface AgentEngineParts {
  /** `abandon` closes the sources that a failed build has opened. Default: close all of them. */
  readonly build: (parts: EngineParts, abandon?: (sources: readonly Source[]) => Promise<unknown>) => Promise<Opened>;
  readonly files: () => SchemaFileOptions;
}

export class AgentEngine {
  readonly #build: AgentEngineParts['build'];
  readonly #files: AgentEngineParts['files'];
  #running: Running | undefined;
  /** Sources opened without a start, or by an engine that was replaced while calls were running. */
  readonly #kept = new Set<readonly Source[]>();

  constructor({ build, files }: AgentEngineParts) {
    this.#build = build;
    this.#files = files;
  }

  get running(): Running | undefined {
    return this.#running;
  }

  /** On failure, closes everything that it opened. */
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

  /** Logs and rethrows a failure. The running engine stays in use. */
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
    // Not awaited, because it takes as long as the longest running call.
    void running.live.swap(next.engine, async () => {
      if (this.#kept.delete(unused)) await closeSources(unused);
    });
  }

  /** `closeKept` closes them at the latest. */
  keep(sources: readonly Source[]): void {
    this.#kept.add(sources);
  }

  async closeKept(): Promise<void> {
    const kept = [...this.#kept];
    this.#kept.clear();
    await Promise.all(kept.map(closeSources));
  }

  /** The caller must close the engine. */
  forget(): void {
    this.#running = undefined;
  }
}
