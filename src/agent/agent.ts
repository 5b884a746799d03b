// The setup of the engine: the user's data sources and customizations. `Blueprint` records each call with its file and
// line. Every build replays the calls when the collection names are known, so a restart runs the user's callbacks again
// on the current schema. After the start, further calls fail.
import type { Clock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { nearNames } from '../core/suggestions.ts';
import type { AiProvider } from './ai/definitions.ts';
import { isAiProvider } from './ai/provider.ts';
import type { ChartDefinition, ChartEntry } from './charts/definitions.ts';
import { callSite } from './customize/call-site.ts';
import type { MaybePromise } from './customize/context.ts';
import { CollectionCustomizer, type CollectionPlugin } from './customize/customizer.ts';
import type { DataSourceOptions, Recorded, Said } from './customize/definitions.ts';
import { checkRows, type OptionRow, type OptionRows } from './customize/option-checks.ts';
import { blameUser, blameUserLater, isPromise, PLUGIN, Recording, throughPlugin } from './customize/recording.ts';
import type { AgentChartContext, CustomizerOf } from './customize/typed-customizer.ts';
import type { AnySchema, CollectionName } from './customize/typed-schema.ts';
import type { WorkflowEntry, WorkflowOptions, WorkflowSource } from './customize/workflow-entry.ts';
import { type BuiltEngine, buildEngine, type Engine } from './engine.ts';
import type { EngineLimits } from './requests.ts';
import type { Source } from './sources/source.ts';

/** Parameters of a data source factory. */
export interface SourceTools {
  readonly observe: Observe;
  readonly clock: Clock;
}

/**
 * Called by every start and restart. A factory may return the same source each time; the agent closes it when it stops.
 */
export type DataSourceFactory = (tools: SourceTools) => MaybePromise<Source>;

/** A plugin for the whole agent. `use` calls it once. */
export interface AgentPlugin<O, A = Blueprint> {
  customizeAgent(agent: A, options: O): void;
}

/** What `buildEngine` needs besides the data sources. */
export interface EngineParts extends SourceTools {
  readonly limits: EngineLimits;
  /** Action URLs without the position of the action; default false (spec 2.1). */
  readonly useUnsafeActionEndpoint?: boolean;
  /** Collection names that are taken by URLs of the HTTP API; empty when absent. */
  readonly reservedNames?: ReadonlySet<string>;
  /** A setting names the database, not the user's code. Only the error message changes. */
  readonly isOfSettings?: boolean;
  /** Checks that a text is the e-mail address of a user. When absent, any text passes. */
  readonly isUser?: (email: string) => Promise<boolean>;
}

/** A built engine with its data sources. They are closed separately, since another engine may share them. */
export interface Opened extends BuiltEngine {
  readonly sources: readonly Source[];
}

interface Step {
  readonly at: string;
  /** The call, for the message when its code throws. */
  readonly what: string;
  run(collections: readonly string[], recording: Recording): unknown;
}

/** With `S`, the generated interface of the typings, the compiler checks names and values. */
export class Blueprint<in out S extends object = AnySchema> {
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
  /** Call sites of the agent plugins that are running, the innermost first. */
  readonly #plugins: string[] = [];
  #isClosed = false;

  /** Returns the call site, with the plugin's if one is running. CONFIGURATION after the start. */
  protected check(site: string): string {
    const [used] = this.#plugins;
    const at = used === undefined ? site : throughPlugin(used, site);
    if (!this.#isClosed) return at;
    return fail('CONFIGURATION', { problem: `The agent has been started: nothing can be added any more. (${at})` });
  }

  /** Refuses further calls. CONFIGURATION without a data source. */
  protected closeBlueprint(): void {
    if (this.#factories.length === 0)
      fail('CONFIGURATION', { problem: 'The agent has no data source: addDataSource.' });
    this.#isClosed = true;
  }

  /** Accepts calls again after a failed start, for the user to correct the mistake. */
  protected reopenBlueprint(): void {
    this.#isClosed = false;
  }

  addDataSource(factory: DataSourceFactory, options?: DataSourceOptions): this {
    const at = this.check(callSite(this.addDataSource));
    if (typeof factory !== 'function') misuse('addDataSource needs a factory, such as createSqlDataSource(url)', at);
    if (options !== undefined) checkRows('addDataSource', options, sourceRows, at);
    this.#factories.push({ factory, at, ...(options && { options }) });
    return this;
  }

  /** Every start and restart calls `callback`, which may be async. */
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

  /** A chart of the whole agent (spec 4.3). Every caller sees it, whatever their permissions. */
  addChart(name: string, definition: ChartDefinition<AgentChartContext<S>>): this {
    const at = this.check(callSite(this.addChart));
    if (typeof definition !== 'function')
      misuse(`The chart '${name}' must be a function of the context and the result builder`, at);
    this.#charts.push({ name, at, definition: definition as ChartDefinition });
    return this;
  }

  /** Sets `context.ai` of customization code. Takes the result of `createAiProvider`; an agent has at most one. */
  addAi(provider: AiProvider): this {
    const at = this.check(callSite(this.addAi));
    if (!isAiProvider(provider))
      misuse('addAi needs a provider: addAi(createAiProvider({ name, provider, apiKey, model }))', at);
    if (this.#ai) misuse(`addAi was called before, at ${this.#ai.at}: an agent has one AI provider`, at);
    this.#ai = { provider, at };
    return this;
  }

  /**
   * Adds a workflow from code, visible to all teams or to those in `options.teams`. The start checks it and fails with
   * CONFIGURATION, the problem and the call site. Edit the code to change it. Active runs continue with the definition
   * they started with.
   */
  addWorkflow(definition: WorkflowSource, options: WorkflowOptions = {}): this {
    const at = this.check(callSite(this.addWorkflow));
    if (typeof definition !== 'object' || definition === null || typeof definition.name !== 'string')
      misuse('addWorkflow needs a definition: addWorkflow({ name, collection, steps })', at);
    checkRows('addWorkflow', options, workflowRows, at);
    const { teams } = options;
    const known = this.#workflows.find((each) => each.definition.name === definition.name);
    if (known) misuse(`The workflow '${definition.name}' was added before, at ${known.at}`, at);
    this.#workflows.push({ definition, at, ...(teams && { teams }) });
    return this;
  }

  /** Hides the collections from callers. Customization code still reads them. */
  removeCollection(...names: readonly CollectionName<S>[]): this {
    const at = this.check(callSite(this.removeCollection));
    for (const collection of names) this.#removed.push({ collection, at });
    return this;
  }

  /**
   * Applies a plugin to every collection, including those of sources added later. A plugin with `customizeAgent` runs
   * immediately and once, with the agent.
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

  /**
   * Opens the data sources and builds an engine. CONFIGURATION with the user's file and line; `abandon` then receives
   * the sources that were opened.
   */
  protected async openEngine(
    parts: EngineParts,
    abandon: (sources: readonly Source[]) => Promise<unknown> = closeSources,
  ): Promise<Opened> {
    const { observe, clock } = parts;
    const opened: [Source, { readonly options: DataSourceOptions; readonly at: string }][] = [];
    try {
      for (const { factory, options = {}, at } of this.#factories) {
        const source = await blameUserLater('The data source', at, () => factory({ observe, clock }));
        if (typeof (source as Partial<Source> | null | undefined)?.describe !== 'function')
          misuse('The factory of addDataSource must give a data source, as that of createSqlDataSource does', at);
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

/** An agent with only the engine, for code that serves it itself. */
export class EngineAgent<in out S extends object = AnySchema> extends Blueprint<S> {
  /**
   * Opens the data sources and builds the engine. CONFIGURATION with the user's file and line, after closing the
   * sources.
   */
  async createEngine(parts: EngineParts): Promise<Engine> {
    this.check(callSite(this.createEngine));
    this.closeBlueprint();
    const { engine } = await this.openEngine(parts);
    return engine;
  }
}

/** Creates an agent without data sources. */
export function createEngineAgent(): EngineAgent {
  return new EngineAgent();
}

export function closeSources(sources: readonly Source[]): Promise<unknown> {
  return Promise.allSettled(sources.map((source) => source.close()));
}

const isNames = (value: unknown): boolean => Array.isArray(value) && value.every((each) => typeof each === 'string');
const names: OptionRow = { expected: 'a list of names', takes: isNames };
const sourceRows: OptionRows<DataSourceOptions> = {
  include: names,
  exclude: names,
  rename: {
    expected: "a map of names in the source to names of collections, such as { customers: 'clients' }",
    takes: (value) => typeof value === 'object' && !Array.isArray(value) && isNames(Object.values(value ?? {})),
  },
};
const workflowRows: OptionRows<WorkflowOptions> = { teams: { expected: 'a list of names of teams', takes: isNames } };

function unknownCollection(name: string, known: readonly string[], at: string): never {
  const near = nearNames(String(name), known);
  return fail('CONFIGURATION', {
    problem: `There is no collection '${name}'.${near.length ? ` Near: ${near.join(', ')}.` : ''} (${at})`,
  });
}

function misuse(problem: string, at: string): never {
  return fail('CONFIGURATION', { problem: `${problem}. (${at})` });
}
