// The setup of the engine: the user's data sources and customizations. `AgentBuilder` records each call with its file and
// line. Every build replays the calls when the collection names are known, so a restart runs the user's callbacks again
// on the current schema. After the start, further calls fail.
import { fail } from '../core/errors.ts';
import { suggestNames } from '../core/suggestions.ts';
import type { AiProvider } from './ai/definitions.ts';
import { isAiProvider } from './ai/provider.ts';
import type { ChartEntry } from './charts/definitions.ts';
import { callSite } from './customize/call-site.ts';
import { CollectionCustomizer, type CollectionPlugin } from './customize/customizer.ts';
import type {
  DataSourceOptions,
  MetricDefinition,
  QueryDefinition,
  QueryEntry,
  RecordedCall,
  RecordedCustomizations,
} from './customize/definitions.ts';
import type { DataSourceFactory, EngineParts } from './customize/engine-parts.ts';
import { checkOptions, isText } from './customize/option-checks.ts';
import { checkChart, checkMetric, sourceOptionRules, workflowOptionRules } from './customize/option-rows.ts';
import { checkQuery, recordQuery } from './customize/queries.ts';
import {
  isPromise,
  PLUGIN_LABEL,
  Recording,
  runUserCode,
  runUserCodeAsync,
  toPluginSite,
} from './customize/recording.ts';
import type { AgentChart, CustomizerOf, MetricOf } from './customize/typed-customizer.ts';
import type { AnySchema, CollectionName } from './customize/typed-schema.ts';
import type { WorkflowEntry, WorkflowOptions, WorkflowSource } from './customize/workflow-entry.ts';
import { buildEngine, type Engine } from './engine.ts';
import { closeSources, LiveEngine, type OpenedEngine } from './live-engine.ts';
import type { Source } from './sources/source.ts';

/** A plugin for the whole agent, called once by `use`. */
export interface AgentPlugin<O, A = AgentBuilder> {
  /**
   * Customizes the agent. It must not be async, but the callbacks that it passes to `customizeCollection` may be.
   */
  customizeAgent(agent: A, options: O): void;
}

interface BuildStep {
  readonly at: string;
  /** The call, for the message when its code throws. */
  readonly what: string;
  run(collections: readonly string[], recording: Recording): unknown;
}

/** With `S`, the generated interface of the typings, the compiler checks names and values. */
export class AgentBuilder<in out S extends object = AnySchema> {
  readonly #factories: {
    readonly factory: DataSourceFactory;
    readonly options?: DataSourceOptions;
    readonly at: string;
  }[] = [];
  readonly #steps: BuildStep[] = [];
  readonly #removed: { readonly collection: string; readonly at: string }[] = [];
  readonly #queries: QueryEntry[] = [];
  readonly #charts: ChartEntry[] = [];
  readonly #workflows: WorkflowEntry[] = [];
  #ai: { readonly provider: AiProvider; readonly at: string } | undefined;
  /** Call sites of the agent plugins that are running, the innermost first. */
  readonly #plugins: string[] = [];
  #instructions: { readonly text: string; readonly at: string } | undefined;
  #isClosed = false;

  /** Returns the call site, with the plugin's if one is running. CONFIGURATION after the start. */
  protected check(site: string): string {
    const [pluginSite] = this.#plugins;
    const at = pluginSite === undefined ? site : toPluginSite(pluginSite, site);
    if (!this.#isClosed) return at;
    return fail('CONFIGURATION', {
      problem: `The agent has already started and accepts no more customizations. (${at})`,
    });
  }

  /** Refuses further calls. CONFIGURATION without a data source. */
  protected closeBuilder(): void {
    if (this.#factories.length === 0)
      fail('CONFIGURATION', { problem: 'The agent has no data source: call addDataSource.' });
    this.#isClosed = true;
  }

  /** Accepts calls again after a failed start, for the user to correct the mistake. */
  protected reopenBuilder(): void {
    this.#isClosed = false;
  }

  /**
   * Serves the tables of a source as collections. CONFIGURATION for wrong options, for an unknown name in them, and at
   * the start for two collections of the same name.
   *
   * @example
   * agent.addDataSource(createSqlDataSource('postgres://reader@localhost/shop'), {
   *   exclude: ['migrations'],
   *   rename: { tbl_customers: 'customers' },
   * });
   */
  addDataSource(factory: DataSourceFactory, options?: DataSourceOptions): this {
    const at = this.check(callSite(this.addDataSource));
    if (typeof factory !== 'function')
      failMisuse('addDataSource needs a factory, such as createSqlDataSource(url)', at);
    if (options !== undefined) checkOptions('addDataSource', options, sourceOptionRules, at);
    this.#factories.push({ factory, at, ...(options && { options }) });
    return this;
  }

  /**
   * Customizes one collection. Every start and restart calls `callback`, which may be async. CONFIGURATION at the start
   * for an unknown collection, and for an error in the callback.
   *
   * @example
   * agent.customizeCollection('customers', (customers) =>
   *   customers.removeField('birth_date').addSegment('Norway', { field: 'country', operator: 'Equal', value: 'NO' }),
   * );
   */
  customizeCollection<C extends CollectionName<S>>(
    name: C,
    callback: (collection: CustomizerOf<S, C>) => unknown,
  ): this {
    const at = this.check(callSite(this.customizeCollection));
    if (typeof callback !== 'function')
      failMisuse(`customizeCollection('${name}') needs a function that takes the collection`, at);
    return this.#addStep(at, `customizeCollection('${name}')`, (collections, recording) => {
      if (!collections.includes(name)) failUnknownCollection(name, collections, at);
      return callback(new CollectionCustomizer(name, recording) as unknown as CustomizerOf<S, C>);
    });
  }

  /**
   * A chart of the whole agent (behaviour 4.3): a function, whose chart every caller sees, or measures of a collection,
   * with the rights of the caller.
   *
   * @example
   * agent.addChart('Customers', async ({ collection }, builder) => builder.value(await collection('customers').count()));
   */
  addChart(name: string, definition: AgentChart<S>): this {
    const at = this.check(callSite(this.addChart));
    checkChart(name, definition, at);
    this.#charts.push({ name, at, definition: definition as ChartEntry['definition'] });
    return this;
  }

  /**
   * Names a figure of a collection, such as what counts as revenue. Measures of an aggregate use it as
   * `{ metric: 'revenue' }`. CONFIGURATION at the start for a wrong name, type or filter. Row scopes always apply. Like a
   * segment, it may use fields that the caller may not see: they then see the figure.
   *
   * @example
   * agent.addMetric('revenue', {
   *   collection: 'order_items',
   *   measure: { sum: { times: ['unit_price', 'quantity'] } },
   *   filter: { field: 'order:status', operator: 'NotEqual', value: 'cancelled' },
   *   description: 'Of orders that were not cancelled, with tax',
   * });
   */
  addMetric<C extends CollectionName<S>>(name: string, definition: MetricOf<S, C>): this {
    const at = this.check(callSite(this.addMetric));
    const what = { kind: 'metric', name, definition: definition as unknown as MetricDefinition } as const;
    checkMetric(what, at);
    return this.#addStep(at, `addMetric('${name}')`, (collections, recording) => {
      const { collection } = what.definition;
      if (!collections.includes(collection)) failUnknownCollection(collection, collections, at);
      recording.add({ collection, at, what });
    });
  }

  /**
   * Serves the rows of your SQL as a collection, which is read-only. `:name` in its text is a parameter: a bound value,
   * which callers send as a filter with Equal, and never part of the text. Rows are visible by the row scopes of the
   * collections in `rowScope`. CONFIGURATION at the start for SQL that the database refuses.
   *
   * @example
   * agent.addQuery('monthly_revenue', {
   *   sql: `SELECT customer_id, sum(total) AS revenue FROM orders WHERE placed_at >= :since GROUP BY customer_id`,
   *   parameters: { since: { type: 'Dateonly', default: '2026-01-01' } },
   *   rowScope: { customers: 'customer_id' },
   *   ignoreRowScopes: ['orders'],
   * });
   */
  addQuery(name: string, definition: QueryDefinition<CollectionName<S>>): this {
    const at = this.check(callSite(this.addQuery));
    const entry: QueryEntry = { name, definition: definition as QueryDefinition, at };
    checkQuery(name, entry.definition, at);
    this.#queries.push(entry);
    return this.#addStep(at, `addQuery('${name}')`, (_, recording) => recordQuery(entry, recording));
  }

  /**
   * Sets `context.ai` of customization code. Takes the result of `createAiProvider`; an agent has at most one.
   * CONFIGURATION for a second call.
   *
   * @example
   * agent.addAi(
   *   createAiProvider({ name: 'support model', provider: 'anthropic', apiKey: 'sk-…', model: 'claude-sonnet-5' }),
   * );
   */
  addAi(provider: AiProvider): this {
    const at = this.check(callSite(this.addAi));
    if (!isAiProvider(provider))
      failMisuse('addAi needs a provider: addAi(createAiProvider({ name, provider, apiKey, model }))', at);
    if (this.#ai) failMisuse(`addAi was already called, at ${this.#ai.at}: an agent can have only one AI provider`, at);
    this.#ai = { provider, at };
    return this;
  }

  /**
   * Introduces the application to assistants: every client that connects reads this text after the instructions of
   * Portico, whatever the rights of its user. At most 2,000 characters. CONFIGURATION for a second call.
   *
   * @example
   * agent.addInstructions('The shop sells tea. Amounts are in EUR. A customer is active after an order within a year.');
   */
  addInstructions(text: string): this {
    const at = this.check(callSite(this.addInstructions));
    if (!isText(text) || text.length > 2000) failMisuse('addInstructions needs a text of at most 2000 characters', at);
    if (this.#instructions) failMisuse(`addInstructions was already called, at ${this.#instructions.at}`, at);
    this.#instructions = { text: text.trim(), at };
    return this;
  }

  /**
   * Adds a workflow from code, visible to all teams or to those in `options.teams`. The start checks it and fails with
   * CONFIGURATION, the problem and the call site. Edit the code to change it. Active runs continue with the definition
   * they started with.
   *
   * @example
   * agent.addWorkflow(
   *   {
   *     name: 'Pack an order',
   *     collection: 'orders',
   *     steps: [{ id: 'pack', type: 'guidance', text: 'Pack the order.' }],
   *   },
   *   { teams: ['Support'] },
   * );
   */
  addWorkflow(definition: WorkflowSource, options: WorkflowOptions = {}): this {
    const at = this.check(callSite(this.addWorkflow));
    if (typeof definition !== 'object' || definition === null || typeof definition.name !== 'string')
      failMisuse('addWorkflow needs a definition: addWorkflow({ name, collection, steps })', at);
    checkOptions('addWorkflow', options, workflowOptionRules, at);
    const { teams } = options;
    const known = this.#workflows.find((each) => each.definition.name === definition.name);
    if (known) failMisuse(`The workflow '${definition.name}' is already defined, at ${known.at}`, at);
    this.#workflows.push({ definition, at, ...(teams && { teams }) });
    return this;
  }

  /**
   * Hides the collections from callers. Customization code still reads them. CONFIGURATION at the start for an unknown
   * name.
   *
   * @example
   * agent.removeCollection('migrations', 'sessions');
   */
  removeCollection(...names: readonly CollectionName<S>[]): this {
    const at = this.check(callSite(this.removeCollection));
    for (const collection of names) this.#removed.push({ collection, at });
    return this;
  }

  /**
   * Applies a plugin to every collection, including those of sources added later. A plugin with `customizeAgent` runs
   * immediately and once, with the agent.
   *
   * @example
   * agent.use({ customizeAgent: (each) => void each.removeCollection('migrations') });
   */
  use(plugin: CollectionPlugin<undefined> | AgentPlugin<undefined, this>): this;
  /**
   * Applies a plugin with options, as above.
   *
   * @example
   * const hideFields: CollectionPlugin<{ names: string[] }> = (collection, { names }) => {
   *   collection.removeField(...names);
   * };
   * agent.use(hideFields, { names: ['updated_by'] });
   */
  use<O>(plugin: CollectionPlugin<O> | AgentPlugin<O, this>, options: O): this;
  use<O>(plugin: CollectionPlugin<O | undefined> | AgentPlugin<O | undefined, this>, options?: O): this {
    const at = this.check(callSite(this.use));
    if (typeof plugin === 'function')
      return this.#addStep(at, PLUGIN_LABEL, (collections, recording) => {
        for (const name of collections)
          recording.runPlugin(at, (inner) => plugin(new CollectionCustomizer(name, inner), options));
      });
    if (typeof plugin?.customizeAgent !== 'function')
      failMisuse(
        'use needs a plugin: a function of the collection and its options, or an object with customizeAgent',
        at,
      );
    this.#plugins.unshift(at);
    try {
      const answer: unknown = runUserCode(PLUGIN_LABEL, at, () => plugin.customizeAgent(this, options));
      if (isPromise(answer))
        failMisuse('customizeAgent of a plugin must not be async, because its calls would come too late', at);
    } finally {
      this.#plugins.shift();
    }
    return this;
  }

  #addStep(at: string, what: string, run: BuildStep['run']): this {
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
  ): Promise<OpenedEngine> {
    const { observe, clock } = parts;
    const opened: [Source, { readonly options: DataSourceOptions; readonly at: string }][] = [];
    try {
      for (const { factory, options = {}, at } of this.#factories) {
        const source = await runUserCodeAsync('The data source', at, () => factory({ observe, clock }));
        if (typeof (source as Partial<Source> | null | undefined)?.describe !== 'function')
          failMisuse(
            'The factory of addDataSource must return a data source, as the factory from createSqlDataSource does',
            at,
          );
        opened.push([source, { options, at }]);
      }
      const sources = opened.map(([source]) => source);
      const customizations = {
        ...{ tables: new Map(opened), queries: [...this.#queries] },
        collect: (names: readonly string[]) => this.#replay(names),
      };
      const added = { workflows: [...this.#workflows], instructions: this.#instructions?.text ?? null };
      const built = await buildEngine({ ...parts, ...added, sources, customizations, ai: this.#ai?.provider ?? null });
      return { ...built, sources };
    } catch (error) {
      await abandon(opened.map(([source]) => source));
      throw error;
    }
  }

  async #replay(collections: readonly string[]): Promise<RecordedCustomizations> {
    const recorded: RecordedCall[] = [];
    for (const { at, what, run } of this.#steps) {
      const recording = new Recording();
      await runUserCodeAsync(what, at, () => run(collections, recording));
      recorded.push(...(await recording.end()));
    }
    return { recorded, removed: [...this.#removed], charts: [...this.#charts] };
  }
}

/** An agent with only the engine, for code that serves it itself. */
export class HeadlessAgent<in out S extends object = AnySchema> extends AgentBuilder<S> {
  /**
   * Opens the data sources and builds the engine. CONFIGURATION with the user's file and line, after closing the
   * sources. The `clock` and `observe` of `parts` are those of the host process.
   */
  async createEngine(parts: EngineParts): Promise<Engine> {
    this.check(callSite(this.createEngine));
    this.closeBuilder();
    if (parts.schemaSeconds === undefined) return (await this.openEngine(parts)).engine;
    const live = new LiveEngine<EngineParts>({ build: (given, abandon) => this.openEngine(given, abandon) });
    return (await live.open(parts)).live.engine;
  }
}

/**
 * Creates an agent with only the engine. Add data sources, then call `createEngine`.
 *
 * @example
 * import { createEngineAgent } from 'portico/engine';
 *
 * const headless = createEngineAgent().addDataSource(createSqlDataSource('sqlite:shop.sqlite'));
 */
export function createHeadlessAgent(): HeadlessAgent {
  return new HeadlessAgent();
}

function failUnknownCollection(name: string, known: readonly string[], at: string): never {
  const near = suggestNames(String(name), known);
  return fail('CONFIGURATION', {
    problem: `There is no collection '${name}'.${near.length ? ` Near: ${near.join(', ')}.` : ''} (${at})`,
  });
}

function failMisuse(problem: string, at: string): never {
  return fail('CONFIGURATION', { problem: `${problem}. (${at})` });
}
