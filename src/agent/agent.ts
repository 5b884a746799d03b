// What a user writes to set up the engine: data sources, and what is said of their collections. It is only kept here, with
// the line of the call, and said anew to every build, once the names of the collections are known: a restart runs the
// user's callbacks again over what the sources hold then. After the start nothing can be added.
import type { Clock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import { nearNames } from '../core/near.ts';
import type { Observe } from '../core/observe.ts';
import type { AiProvider } from './ai/definitions.ts';
import { isAiProvider } from './ai.ts';
import type { ChartDefinition, ChartEntry } from './charts/definitions.ts';
import { callSite } from './customize/call-site.ts';
import { CollectionCustomizer, type CollectionPlugin } from './customize/customizer.ts';
import type { DataSourceOptions, MaybePromise, Recorded, Said } from './customize/definitions.ts';
import { blameUser, blameUserLater, isPromise, PLUGIN, Recording, throughPlugin } from './customize/recording.ts';
import type { AgentChartContext, CustomizerOf } from './customize/typed-customizer.ts';
import type { AnySchema, CollectionName } from './customize/typed-schema.ts';
import { type BuiltEngine, buildEngine, type Engine, type EngineLimits } from './engine.ts';
import type { Source } from './sources/source.ts';
import type { WorkflowEntry, WorkflowOptions, WorkflowSource } from './workflow-entry.ts';

/** What a source is opened with: whom to tell, and the clock. */
export interface SourceTools {
  readonly observe: Observe;
  readonly clock: Clock;
}

/** Called by every start and restart. One that gives the same source again keeps it: it is closed when the agent stops. */
export type DataSourceFactory = (tools: SourceTools) => MaybePromise<Source>;

/** A plugin of the whole agent, called once, by `use`. */
export interface AgentPlugin<O, A = Blueprint> {
  customizeAgent(agent: A, options: O): void;
}

/** What an engine is built with: limits, and where it is told and timed. */
export interface EngineParts extends SourceTools {
  readonly limits: EngineLimits;
  /** Action addresses without the position of the action; default false (spec 2.1). */
  readonly useUnsafeActionEndpoint?: boolean;
}

/** A built engine with the sources that it reads; they are closed apart, since another engine may read them as well. */
export interface Opened extends BuiltEngine {
  readonly sources: readonly Source[];
}

interface Step {
  readonly at: string;
  /** What is being done, for an error that code throws. */
  readonly what: string;
  run(collections: readonly string[], recording: Recording): unknown;
}

/** With `S`, the interface of generated typings, names and values are checked by the compiler. */
export class Blueprint<S extends object = AnySchema> {
  readonly #factories: {
    readonly factory: DataSourceFactory;
    readonly options?: DataSourceOptions;
    readonly at: string;
  }[] = [];
  readonly #steps: Step[] = [];
  readonly #removed: { readonly collection: string; readonly at: string }[] = [];
  readonly #charts: ChartEntry[] = [];
  readonly #workflows: WorkflowEntry[] = [];
  #ai: { readonly provider: AiProvider; readonly at: string } | undefined;
  /** Where the agent plugins that are at work were used. */
  readonly #plugins: string[] = [];
  #isClosed = false;

  /** Where the user's code is: CONFIGURATION once the agent has been started. */
  protected check(site: string): string {
    const [used] = this.#plugins;
    const at = used === undefined ? site : throughPlugin(used, site);
    if (!this.#isClosed) return at;
    return fail('CONFIGURATION', { problem: `The agent has been started: nothing can be added any more. (${at})` });
  }

  /** From now on nothing can be added. CONFIGURATION when there is nothing to serve. */
  protected closeBlueprint(): void {
    if (this.#factories.length === 0)
      fail('CONFIGURATION', { problem: 'The agent has no data source: addDataSource.' });
    this.#isClosed = true;
  }

  /** After a start that failed: what was wrong can be made good. */
  protected reopenBlueprint(): void {
    this.#isClosed = false;
  }

  addDataSource(factory: DataSourceFactory, options?: DataSourceOptions): this {
    const at = this.check(callSite(this.addDataSource));
    if (typeof factory !== 'function') misuse('addDataSource needs a factory, such as createSqlDataSource(url)', at);
    if (options !== undefined) checkSourceOptions(options, at);
    this.#factories.push({ factory, at, ...(options && { options }) });
    return this;
  }

  /** `callback` is called by every start and restart, and may be async. */
  customizeCollection<C extends CollectionName<S>>(
    name: C,
    callback: (collection: CustomizerOf<S, C>) => unknown,
  ): this {
    const at = this.check(callSite(this.customizeCollection));
    if (typeof callback !== 'function') misuse(`customizeCollection('${name}') needs a function of the collection`, at);
    return this.#say(at, `customizeCollection('${name}')`, (collections, recording) => {
      if (!collections.includes(name)) unknownCollection(name, collections, at);
      return callback(new CollectionCustomizer(name, recording) as unknown as CustomizerOf<S, C>);
    });
  }

  /** A chart of the whole agent (spec 4.3): there for every caller, whatever the caller may see. */
  addChart(name: string, definition: ChartDefinition<AgentChartContext<S>>): this {
    const at = this.check(callSite(this.addChart));
    if (typeof definition !== 'function')
      misuse(`The chart '${name}' must be a function of the context and the result builder`, at);
    this.#charts.push({ name, at, definition: definition as ChartDefinition });
    return this;
  }

  /** What customization code is given as `context.ai`: made by `createAiProvider`, and one only. */
  addAi(provider: AiProvider): this {
    const at = this.check(callSite(this.addAi));
    if (!isAiProvider(provider))
      misuse('addAi needs a provider: addAi(createAiProvider({ name, provider, apiKey, model }))', at);
    if (this.#ai) misuse(`addAi was called before, at ${this.#ai.at}: an agent has one AI provider`, at);
    this.#ai = { provider, at };
    return this;
  }

  /**
   * A workflow that code defines: there in the views of all teams, or of those that are named. Checked at the start: CONFIGURATION
   * with what is wrong, and where. To change it, change the code; runs under way keep the definition that they began with.
   */
  addWorkflow(definition: WorkflowSource, options: WorkflowOptions = {}): this {
    const at = this.check(callSite(this.addWorkflow));
    if (typeof definition !== 'object' || definition === null || typeof definition.name !== 'string')
      misuse('addWorkflow needs a definition: addWorkflow({ name, collection, steps })', at);
    const { teams } = options;
    if (teams !== undefined && !(Array.isArray(teams) && teams.every((team) => typeof team === 'string')))
      misuse("addWorkflow: 'teams' must be a list of names of teams", at);
    const known = this.#workflows.find((each) => each.definition.name === definition.name);
    if (known) misuse(`The workflow '${definition.name}' was added before, at ${known.at}`, at);
    this.#workflows.push({ definition, at, ...(teams && { teams }) });
    return this;
  }

  /** Callers no longer see the collections; customization code does. */
  removeCollection(...names: readonly CollectionName<S>[]): this {
    const at = this.check(callSite(this.removeCollection));
    for (const collection of names) this.#removed.push({ collection, at });
    return this;
  }

  /**
   * Applies a plugin to every collection, those of sources that are added later included. One with `customizeAgent` is
   * called once, at once, with the agent.
   */
  use(plugin: CollectionPlugin<undefined> | AgentPlugin<undefined, this>): this;
  use<O>(plugin: CollectionPlugin<O> | AgentPlugin<O, this>, options: O): this;
  use<O>(plugin: CollectionPlugin<O | undefined> | AgentPlugin<O | undefined, this>, options?: O): this {
    const at = this.check(callSite(this.use));
    if (typeof plugin === 'function')
      return this.#say(at, PLUGIN, (collections, recording) => {
        for (const name of collections)
          recording.plug(at, (inner) => plugin(new CollectionCustomizer(name, inner), options));
      });
    if (typeof plugin?.customizeAgent !== 'function')
      misuse('use needs a plugin: a function of the collection and its options, or an object with customizeAgent', at);
    this.#plugins.unshift(at);
    try {
      const answer: unknown = blameUser(PLUGIN, at, () => plugin.customizeAgent(this, options));
      if (isPromise(answer))
        misuse('customizeAgent of a plugin must not be async: what it says would come too late', at);
    } finally {
      this.#plugins.shift();
    }
    return this;
  }

  #say(at: string, what: string, run: Step['run']): this {
    this.#steps.push({ at, what, run });
    return this;
  }

  /** Opens the data sources and builds an engine. CONFIGURATION with the user's file and line; `abandon` is then given what was opened. */
  protected async openEngine(
    parts: EngineParts,
    abandon: (sources: readonly Source[]) => Promise<unknown> = closeSources,
  ): Promise<Opened> {
    const { observe, clock } = parts;
    const opened: [Source, { readonly options: DataSourceOptions; readonly at: string }][] = [];
    try {
      for (const { factory, options = {}, at } of this.#factories) {
        const source = await blameUserLater('The data source', at, () => factory({ observe, clock }));
        opened.push([source, { options, at }]);
      }
      const sources = opened.map(([source]) => source);
      const customizations = { tables: new Map(opened), say: (names: readonly string[]) => this.#replay(names) };
      const workflows = [...this.#workflows];
      const built = await buildEngine({ ...parts, sources, customizations, workflows, ai: this.#ai?.provider ?? null });
      return { ...built, sources };
    } catch (error) {
      await abandon(opened.map(([source]) => source));
      throw error;
    }
  }

  async #replay(collections: readonly string[]): Promise<Said> {
    const recorded: Recorded[] = [];
    for (const { at, what, run } of this.#steps) {
      const recording = new Recording();
      await blameUserLater(what, at, () => run(collections, recording));
      recorded.push(...(await recording.end()));
    }
    return { recorded, removed: [...this.#removed], charts: [...this.#charts] };
  }
}

/** The engine alone, for code that serves it by itself. */
export class EngineAgent<S extends object = AnySchema> extends Blueprint<S> {
  /** Opens the data sources and builds the engine. CONFIGURATION with the user's file and line; the sources are closed then. */
  async createEngine(parts: EngineParts): Promise<Engine> {
    this.check(callSite(this.createEngine));
    this.closeBlueprint();
    const { engine } = await this.openEngine(parts);
    return engine;
  }
}

/** An agent without data sources. */
export function createEngineAgent(): EngineAgent {
  return new EngineAgent();
}

export function closeSources(sources: readonly Source[]): Promise<unknown> {
  return Promise.allSettled(sources.map((source) => source.close()));
}

function checkSourceOptions(options: DataSourceOptions, at: string): void {
  const known = ['include', 'exclude', 'rename'];
  const isList = (value: unknown) => Array.isArray(value) && value.every((each) => typeof each === 'string');
  const isMap = (value: unknown) =>
    typeof value === 'object' && !Array.isArray(value) && isList(Object.values(value ?? {}));
  for (const [name, value] of Object.entries(options)) {
    if (!known.includes(name)) {
      const near = nearNames(name, known);
      misuse(
        `addDataSource has no option '${name}'. ${near.length ? `Near: ${near}` : `There are ${known.join(', ')}`}`,
        at,
      );
    }
    if (value === undefined) continue;
    const isRight = name === 'rename' ? isMap(value) : isList(value);
    if (!isRight)
      misuse(
        name === 'rename'
          ? "addDataSource: 'rename' must map names in the source to names of collections, such as { customers: 'clients' }"
          : `addDataSource: '${name}' must be a list of names`,
        at,
      );
  }
}

function unknownCollection(name: string, known: readonly string[], at: string): never {
  const near = nearNames(String(name), known);
  return fail('CONFIGURATION', {
    problem: `There is no collection '${name}'.${near.length ? ` Near: ${near.join(', ')}.` : ''} (${at})`,
  });
}

function misuse(problem: string, at: string): never {
  return fail('CONFIGURATION', { problem: `${problem}. (${at})` });
}
