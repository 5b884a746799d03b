// What a user writes to set up the engine: data sources, and what is said of their collections. It is only kept here, and
// all of it comes to hold when the engine is created; after that, nothing can be added.
import type { Clock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { callSite } from './customize/call-site.ts';
import { CollectionCustomizer } from './customize/customizer.ts';
import type { Customizations, DataSourceOptions, Recorded } from './customize/definitions.ts';
import { createEngine, type Engine, type EngineLimits } from './engine.ts';
import type { Source } from './sources/source.ts';

export interface SourceTools {
  readonly observe: Observe;
  readonly clock: Clock;
}

export type DataSourceFactory = (tools: SourceTools) => Source;

/** A plugin of the whole agent. */
export type AgentPlugin<O> = (agent: EngineAgent, options: O) => void;

export interface EngineParts extends SourceTools {
  readonly limits: EngineLimits;
  /** Action addresses without the position of the action; default false (spec 2.1). */
  readonly useUnsafeActionEndpoint?: boolean;
}

export class EngineAgent {
  readonly #factories: {
    readonly factory: DataSourceFactory;
    readonly options?: DataSourceOptions;
    readonly at: string;
  }[] = [];
  readonly #recorded: Recorded[] = [];
  readonly #removed: { readonly collection: string; readonly at: string }[] = [];
  #isBuilt = false;

  /** CONFIGURATION once the engine has been created. */
  #check(at: string): string {
    if (!this.#isBuilt) return at;
    return fail('CONFIGURATION', { problem: `The agent has been started: nothing can be added any more. (${at})` });
  }

  addDataSource(factory: DataSourceFactory, options?: DataSourceOptions): this {
    const at = this.#check(callSite(this.addDataSource));
    this.#factories.push({ factory, at, ...(options && { options }) });
    return this;
  }

  customizeCollection(name: string, callback: (collection: CollectionCustomizer) => void): this {
    this.#check(callSite(this.customizeCollection));
    callback(
      new CollectionCustomizer(name, (recorded) => {
        this.#check(recorded.at);
        this.#recorded.push(recorded);
      }),
    );
    return this;
  }

  /** Callers no longer see the collections; customization code does. */
  removeCollection(...names: readonly string[]): this {
    const at = this.#check(callSite(this.removeCollection));
    for (const collection of names) this.#removed.push({ collection, at });
    return this;
  }

  use(plugin: AgentPlugin<undefined>): this;
  use<O>(plugin: AgentPlugin<O>, options: O): this;
  use<O>(plugin: AgentPlugin<O | undefined>, options?: O): this {
    this.#check(callSite(this.use));
    plugin(this, options);
    return this;
  }

  /** Opens the data sources and builds the engine. CONFIGURATION with the user's file and line; the sources are closed then. */
  async createEngine(parts: EngineParts): Promise<Engine> {
    const { observe, clock } = parts;
    this.#check(callSite(this.createEngine));
    if (this.#factories.length === 0)
      fail('CONFIGURATION', { problem: 'The agent has no data source: addDataSource.' });
    this.#isBuilt = true;
    const opened = this.#factories.map(
      ({ factory, options = {}, at }) => [factory({ observe, clock }), { options, at }] as const,
    );
    const sources = opened.map(([source]) => source);
    const customizations: Customizations = {
      recorded: [...this.#recorded],
      removed: [...this.#removed],
      tables: new Map(opened),
    };
    try {
      return await createEngine({ ...parts, sources, customizations });
    } catch (error) {
      await Promise.allSettled(sources.map((source) => source.close()));
      throw error;
    }
  }
}

/** An agent without data sources. */
export function createEngineAgent(): EngineAgent {
  return new EngineAgent();
}
