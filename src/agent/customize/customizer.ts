// The customizer only keeps what it is told, and where: names are looked up when the model is built, since other calls
// may still add them. Every call gives the customizer back.
import { fail } from '../../core/errors.ts';
import { type Operator, operators, type PlainSort } from '../../core/filter.ts';
import { nearNames } from '../../core/near.ts';
import type { ActionDefinition, FormValues } from '../actions/definitions.ts';
import type { ChartDefinition, RecordChartContext } from '../charts/definitions.ts';
import { callSite } from './call-site.ts';
import type {
  BinaryMode,
  ComputedDefinition,
  Customization,
  ExternalRelationDefinition,
  Flattening,
  ImportDefinition,
  ManyToManyOptions,
  ManyToOneOptions,
  MaybePromise,
  OneToManyOptions,
  OperatorReplacer,
  PolymorphicManyToOneOptions,
  PolymorphicOneToManyOptions,
  SearchReplacer,
  SegmentDefinition,
} from './definitions.ts';
import type {
  FieldWriter,
  HookContexts,
  HookHandler,
  HookPosition,
  HookType,
  OverrideHandlers,
  OverrideVerb,
} from './hooks.ts';
import type { Recording } from './recording.ts';

/** A plugin of one collection; it may be async. */
export type CollectionPlugin<O> = (collection: CollectionCustomizer, options: O) => MaybePromise<void>;

/** What `customizeCollection` gives to say of a collection. Every call gives the customizer back. */
export class CollectionCustomizer {
  readonly name: string;
  readonly #recording: Recording;

  constructor(name: string, recording: Recording) {
    this.name = name;
    this.#recording = recording;
  }

  #add(at: string, what: Customization): this {
    this.#recording.add(Object.freeze({ collection: this.name, at, what: Object.freeze(what) }));
    return this;
  }

  /** Callers use `newName` from now on; customization code keeps using the name from before. */
  renameField(name: string, newName: string): this {
    return this.#add(callSite(this.renameField), { kind: 'renameField', name, newName });
  }

  /** Callers no longer see the fields; customization code does. */
  removeField(...names: readonly string[]): this {
    const at = callSite(this.removeField);
    for (const name of names) this.#add(at, { kind: 'removeField', name });
    return this;
  }

  /** What callers may have done to records, with a form where it needs values (spec 2.3). */
  addAction<Values = FormValues>(name: string, definition: ActionDefinition<Values>): this {
    const at = callSite(this.addAction);
    needFunction(definition?.execute, 'execute', at);
    return this.#add(at, { kind: 'action', name, definition: definition as ActionDefinition });
  }

  /** A chart of one record (spec 4.3); those of the whole agent are added to the agent. */
  addChart(name: string, definition: ChartDefinition<RecordChartContext>): this {
    const at = callSite(this.addChart);
    needFunction(definition, `The chart '${name}'`, at);
    return this.#add(at, { kind: 'chart', name, definition });
  }

  /** A read-only field whose values are made of others after reading. */
  addField(name: string, definition: ComputedDefinition): this {
    const at = callSite(this.addField);
    needFunction(definition?.getValues, 'getValues', at);
    if (!Array.isArray(definition.dependencies) || definition.dependencies.length === 0)
      refuse(at, `The field '${name}' needs 'dependencies': the names of at least one field.`);
    return this.#add(at, { kind: 'addField', name, definition });
  }

  /** A field of a to-one relation as a field of this collection: filtered and sorted by the database. */
  importField(name: string, definition: ImportDefinition): this {
    return this.#add(callSite(this.importField), { kind: 'importField', name, definition });
  }

  addSegment(name: string, definition: SegmentDefinition): this {
    return this.#add(callSite(this.addSegment), { kind: 'addSegment', name, definition });
  }

  addManyToOneRelation(name: string, foreign: string, options: ManyToOneOptions): this {
    return this.#add(callSite(this.addManyToOneRelation), { kind: 'toOne', name, foreign, options });
  }

  addOneToManyRelation(name: string, foreign: string, options: OneToManyOptions): this {
    const at = callSite(this.addOneToManyRelation);
    return this.#add(at, { kind: 'fromOther', name, foreign, single: false, options });
  }

  addOneToOneRelation(name: string, foreign: string, options: OneToManyOptions): this {
    const at = callSite(this.addOneToOneRelation);
    return this.#add(at, { kind: 'fromOther', name, foreign, single: true, options });
  }

  /**
   * A key that is about records of several collections, as another field says: one relation to each of them, named
   * `<name>_<collection>` unless the target says otherwise.
   */
  addPolymorphicManyToOneRelation(name: string, options: PolymorphicManyToOneOptions): this {
    const at = callSite(this.addPolymorphicManyToOneRelation);
    const targets = Object.entries(options?.targets ?? {});
    if (targets.length === 0) refuse(at, `The relation '${name}' needs 'targets': a collection for each type.`);
    for (const [value, given] of targets) {
      const { collection, foreignKeyTarget, name: own } = typeof given === 'string' ? { collection: given } : given;
      this.#add(at, {
        kind: 'toOne',
        name: own ?? `${name}_${collection}`,
        foreign: collection,
        options: { foreignKey: options.foreignKey, ...(foreignKeyTarget !== undefined && { foreignKeyTarget }) },
        only: { field: options.typeField, value },
      });
    }
    return this;
  }

  /** The other side of a polymorphic relation to one. */
  addPolymorphicOneToManyRelation(name: string, foreign: string, options: PolymorphicOneToManyOptions): this {
    const at = callSite(this.addPolymorphicOneToManyRelation);
    const only = { field: options?.typeField, value: options?.type };
    return this.#add(at, { kind: 'fromOther', name, foreign, single: false, options, only });
  }

  /** The same, where at most one record is about each: the key and the type are unique together. */
  addPolymorphicOneToOneRelation(name: string, foreign: string, options: PolymorphicOneToManyOptions): this {
    const at = callSite(this.addPolymorphicOneToOneRelation);
    const only = { field: options?.typeField, value: options?.type };
    return this.#add(at, { kind: 'fromOther', name, foreign, single: true, options, only });
  }

  /** `through` holds a record for each pair of related records. */
  addManyToManyRelation(name: string, foreign: string, through: string, options: ManyToManyOptions): this {
    const at = callSite(this.addManyToManyRelation);
    return this.#add(at, { kind: 'throughOther', name, foreign, through, options });
  }

  /** Records that code gives for each record: shown whole, listed from one record, and neither filtered nor sorted by. */
  addExternalRelation(name: string, definition: ExternalRelationDefinition): this {
    const at = callSite(this.addExternalRelation);
    needFunction(definition?.listRecords, 'listRecords', at);
    const { schema } = definition;
    if (typeof schema !== 'object' || schema === null || Object.keys(schema).length === 0)
      refuse(at, `The relation '${name}' needs a 'schema': the fields of its records and their types.`);
    return this.#add(at, { kind: 'external', name, definition });
  }

  /** The operator means the filter that `replace` gives, and the database answers that. */
  replaceFieldOperator(name: string, operator: Operator, replace: OperatorReplacer): this {
    const at = callSite(this.replaceFieldOperator);
    needOperator(operator, at);
    needFunction(replace, 'The replacement of the operator', at);
    return this.#add(at, { kind: 'replaceOperator', name, operator, replace });
  }

  /** Answered after reading: every record that the rest of the filter leaves is read. */
  emulateFieldOperator(name: string, operator: Operator): this {
    const at = callSite(this.emulateFieldOperator);
    needOperator(operator, at);
    return this.#add(at, { kind: 'emulateOperator', name, operator });
  }

  /** `emulateFieldOperator` for every operator of the type that nothing else answers. */
  emulateFieldFiltering(name: string): this {
    return this.#add(callSite(this.emulateFieldFiltering), { kind: 'emulateOperator', name });
  }

  /** To sort by the field is to sort by these. */
  replaceFieldSorting(name: string, clauses: readonly PlainSort[]): this {
    const at = callSite(this.replaceFieldSorting);
    if (!Array.isArray(clauses) || clauses.length === 0)
      refuse(at, `The sorting of '${name}' needs at least one clause {field, ascending}.`);
    return this.#add(at, { kind: 'sort', name, by: clauses });
  }

  /** Sorted after reading: every record that the filter leaves is read. */
  emulateFieldSorting(name: string): this {
    return this.#add(callSite(this.emulateFieldSorting), { kind: 'sort', name, by: 'here' });
  }

  disableFieldSorting(name: string): this {
    return this.#add(callSite(this.disableFieldSorting), { kind: 'sort', name, by: 'nothing' });
  }

  /** Callers are told that the field may be null. */
  setFieldNullable(name: string): this {
    return this.#add(callSite(this.setFieldNullable), { kind: 'nullable', name });
  }

  /** How callers are shown a binary: as a `data:` URI, or as hexadecimal digits. Without it, hex up to 32 bytes. */
  replaceFieldBinaryMode(name: string, mode: BinaryMode): this {
    const at = callSite(this.replaceFieldBinaryMode);
    if (mode !== 'datauri' && mode !== 'hex')
      refuse(at, `There is no binary mode '${String(mode)}': it is 'datauri' or 'hex'.`);
    return this.#add(at, { kind: 'binaryMode', name, mode });
  }

  /** What a search means; the words are the function's business. */
  replaceSearch(replace: SearchReplacer): this {
    const at = callSite(this.replaceSearch);
    needFunction(replace, 'The replacement of the search', at);
    return this.#add(at, { kind: 'search', replace });
  }

  disableSearch(): this {
    return this.#add(callSite(this.disableSearch), { kind: 'search', replace: null });
  }

  disableCount(): this {
    return this.#add(callSite(this.disableCount), { kind: 'disableCount' });
  }

  addHook<P extends HookPosition, T extends keyof HookContexts[P] & string>(
    position: P,
    type: T,
    handler: HookHandler<HookContexts[P][T]>,
  ): this {
    const at = callSite(this.addHook);
    needFunction(handler, 'The hook', at);
    needOneOf(position, ['Before', 'After'], 'position of hooks', at);
    needOneOf(type, ['List', 'Create', 'Update', 'Delete', 'Aggregate'], 'type of hooks', at);
    return this.#add(at, { kind: 'hook', position, type: type as HookType, handler });
  }

  /** Writes of callers and of code are refused where the field does not satisfy this. Null is only checked by `Present`. */
  addFieldValidation(name: string, operator: Operator, value?: unknown): this {
    const at = callSite(this.addFieldValidation);
    needOperator(operator, at);
    return this.#add(at, { kind: 'validation', name, operator, value });
  }

  /** What is written when the field is; null makes it read-only. An added field can be written with it. */
  replaceFieldWriting(name: string, definition: FieldWriter | null): this {
    const at = callSite(this.replaceFieldWriting);
    if (definition !== null) needFunction(definition, `What replaces the writing of '${name}' (or null)`, at);
    return this.#add(at, { kind: 'writing', name, write: definition });
  }

  /** Creates records in place of the data source. */
  overrideCreate(handler: OverrideHandlers['create']): this {
    return this.#override(callSite(this.overrideCreate), 'create', handler);
  }

  /** Updates records in place of the data source. */
  overrideUpdate(handler: OverrideHandlers['update']): this {
    return this.#override(callSite(this.overrideUpdate), 'update', handler);
  }

  /** Deletes records in place of the data source. */
  overrideDelete(handler: OverrideHandlers['delete']): this {
    return this.#override(callSite(this.overrideDelete), 'delete', handler);
  }

  #override<V extends OverrideVerb>(at: string, verb: V, handler: OverrideHandlers[V]): this {
    needFunction(handler, `What overrides ${verb}`, at);
    return this.#add(at, { kind: 'override', verb, handler });
  }

  /** What the plugins of `portico/plugins` say (flatten.ts), which also look at the options. */
  flatten(flattening: Flattening): this {
    return this.#add(callSite(this.flatten), { kind: 'flatten', flattening });
  }

  use(plugin: CollectionPlugin<undefined>): this;
  use<O>(plugin: CollectionPlugin<O>, options: O): this;
  use<O>(plugin: CollectionPlugin<O | undefined>, options?: O): this {
    const at = callSite(this.use);
    needFunction(plugin, 'The plugin', at);
    this.#recording.plug(at, (inner) => plugin(new CollectionCustomizer(this.name, inner), options));
    return this;
  }
}

function needOneOf(given: string, known: readonly string[], what: string, at: string): void {
  if (!known.includes(given)) refuse(at, `There is no ${what} '${String(given)}': it is one of ${known.join(', ')}.`);
}

function needFunction(given: unknown, what: string, at: string): void {
  if (typeof given !== 'function') refuse(at, `${what} must be a function.`);
}

function needOperator(operator: string, at: string): void {
  if ((operators as readonly string[]).includes(operator)) return;
  const near = nearNames(String(operator), operators);
  refuse(at, `No operator '${operator}'.${near.length ? ` Near: ${near.join(', ')}.` : ''}`);
}

function refuse(at: string, problem: string): never {
  return fail('CONFIGURATION', { problem: `${problem} (${at})` });
}
