// The engine of an agent over its lifetime: built at the start, rebuilt while in use, with the connections that each
// build left open. A restart swaps one pointer, and a failed restart changes nothing.
import { closeSources, type EngineParts, type OpenedEngine } from '../../agent/agent.ts';
import { createEngineHandle, type EngineHandle } from '../../agent/engine-handle.ts';
import type { Source } from '../../agent/sources/source.ts';
import { type SchemaFileOptions, syncSchemaFiles } from './files.ts';

export interface Running {
  readonly live: EngineHandle;
  readonly parts: EngineParts;
  opened: OpenedEngine;
  /** Text of the schema file, as served. */
  schema: string;
}

interface AgentEngineParts {
  /** `abandon` closes the sources that a failed build has opened. Default: close all of them. */
  readonly build: (
    parts: EngineParts,
    abandon?: (sources: readonly Source[]) => Promise<unknown>,
  ) => Promise<OpenedEngine>;
  readonly files: () => SchemaFileOptions;
}

export class AgentEngine {
  readonly #build: AgentEngineParts['build'];
  readonly #files: AgentEngineParts['files'];
  #running: Running | undefined;
  /** Sources opened without a start, or by an engine that was replaced while calls were running. */
  readonly #retained = new Set<readonly Source[]>();

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
      const schema = syncSchemaFiles(opened, this.#files(), parts.observe);
      this.#running = { live: createEngineHandle(opened.engine), parts, opened, schema };
      return this.#running;
    } catch (error) {
      await closeSources(opened.sources);
      throw error;
    }
  }

  /** Logs and rethrows a failure. The running engine stays in use. */
  async rebuild(running: Running): Promise<void> {
    const { parts, opened: previous } = running;
    const sourcesMissingIn = (sources: readonly Source[], others: readonly Source[]) =>
      sources.filter((source) => !others.includes(source));
    const abandon = (sources: readonly Source[]) => closeSources(sourcesMissingIn(sources, previous.sources));
    let next: OpenedEngine;
    let schema: string;
    try {
      next = await this.#build(parts, abandon);
      try {
        schema = syncSchemaFiles(next, this.#files(), parts.observe);
      } catch (error) {
        await abandon(next.sources);
        throw error;
      }
    } catch (cause) {
      parts.observe({ type: 'warning', message: 'The restart failed; the agent continues unchanged', cause });
      throw cause;
    }
    running.opened = next;
    running.schema = schema;
    const unused = sourcesMissingIn(previous.sources, next.sources);
    this.#retained.add(unused);
    // Not awaited, because it takes as long as the longest running call.
    void running.live.swap(next.engine, async () => {
      if (this.#retained.delete(unused)) await closeSources(unused);
    });
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
    this.#running = undefined;
  }
}
