// The customizer records each call with its file and line. Names are checked when the model is built, because a later
// call may still add them.
import { fail } from '../../core/errors.ts';
import { type Operator, operators, type PlainSort } from '../../core/filter.ts';
import { nearNames } from '../../core/suggestions.ts';
import type { ActionDefinition, FormValues } from '../actions/definitions.ts';
import type { ChartDefinition, RecordChartContext } from '../charts/definitions.ts';
import { callSite } from './call-site.ts';
import type { MaybePromise } from './context.ts';
import type {
  BinaryMode,
  ComputedDefinition,
  Customization,
  ExternalRelationDefinition,
  Flattening,
  ImportDefinition,
  ManyToManyOptions,
  ManyToOneOptions,
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
import { checkGiven, checkPlainFilter } from './option-rows.ts';
import type { Recording } from './recording.ts';

/** A plugin for one collection; may be async. */
export type CollectionPlugin<O> = (collection: CollectionCustomizer, options: O) => MaybePromise<void>;

/**
 * The customizer that `customizeCollection` passes to its callback. Every method returns the customizer, for chaining.
 */
export class CollectionCustomizer {
  readonly name: string;
  readonly #recording: Recording;

  /** @internal `customizeCollection` passes one to its callback. */
  constructor(name: string, recording: Recording) {
    this.name = name;
    this.#recording = recording;
  }

  #add(at: string, what: Customization): this {
    this.#recording.add(Object.freeze({ collection: this.name, at, what: Object.freeze(what) }));
    return this;
  }

  /** Renames a field for callers. Customization code continues to use the original name. */
  renameField(name: string, newName: string): this {
    return this.#add(callSite(this.renameField), { kind: 'renameField', name, newName });
  }

  /** Hides the fields from callers. Customization code still reads them. */
  removeField(...names: readonly string[]): this {
    const at = callSite(this.removeField);
    for (const name of names) this.#add(at, { kind: 'removeField', name });
    return this;
  }

  /** Adds an action on records, with an optional form for its values (spec 2.3). */
  addAction<Values = FormValues>(name: string, definition: ActionDefinition<Values>): this {
    const at = callSite(this.addAction);
    if (typeof definition !== 'object' || definition === null) refuse(at, `The action '${name}' needs a definition.`);
    return this.#add(at, { kind: 'action', name, definition: definition as ActionDefinition });
  }

  /** Adds a chart of one record (spec 4.3). Charts of the whole agent are added to the agent. */
  addChart(name: string, definition: ChartDefinition<RecordChartContext>): this {
    const at = callSite(this.addChart);
    needFunction(definition, `The chart '${name}'`, at);
    return this.#add(at, { kind: 'chart', name, definition });
  }

  /** Adds a read-only field. `getValues` computes its values from other fields after reading. */
  addField(name: string, definition: ComputedDefinition): this {
    const at = callSite(this.addField);
    checkGiven('computed', `addField('${name}')`, definition, at);
    needFunction(definition?.getValues, 'getValues', at);
    if (!Array.isArray(definition.dependencies) || definition.dependencies.length === 0)
      refuse(at, `The field '${name}' needs 'dependencies': the names of at least one field.`);
    return this.#add(at, { kind: 'addField', name, definition });
  }

  /** Adds a field of a to-one relation to this collection. The database filters and sorts by it. */
  importField(name: string, definition: ImportDefinition): this {
    const at = callSite(this.importField);
    checkGiven('imported', `importField('${name}')`, definition, at);
    return this.#add(at, { kind: 'importField', name, definition });
  }

  addSegment(name: string, definition: SegmentDefinition): this {
    const at = callSite(this.addSegment);
    if (typeof definition !== 'function') checkPlainFilter(`addSegment('${name}')`, definition, at);
    return this.#add(at, { kind: 'addSegment', name, definition });
  }

  addManyToOneRelation(name: string, foreign: string, options: ManyToOneOptions): this {
    const at = callSite(this.addManyToOneRelation);
    checkGiven('manyToOne', `addManyToOneRelation('${name}')`, options, at);
    return this.#add(at, { kind: 'toOne', name, foreign, options });
  }

  addOneToManyRelation(name: string, foreign: string, options: OneToManyOptions): this {
    const at = callSite(this.addOneToManyRelation);
    checkGiven('oneToMany', `addOneToManyRelation('${name}')`, options, at);
    return this.#add(at, { kind: 'fromOther', name, foreign, single: false, options });
  }

  addOneToOneRelation(name: string, foreign: string, options: OneToManyOptions): this {
    const at = callSite(this.addOneToOneRelation);
    checkGiven('oneToMany', `addOneToOneRelation('${name}')`, options, at);
    return this.#add(at, { kind: 'fromOther', name, foreign, single: true, options });
  }

  /**
   * Adds a to-one relation for each target of a polymorphic foreign key; `typeField` selects the target. Each is named
   * `<name>_<collection>` unless the target has a `name`.
   */
  addPolymorphicManyToOneRelation(name: string, options: PolymorphicManyToOneOptions): this {
    const at = callSite(this.addPolymorphicManyToOneRelation);
    const call = `addPolymorphicManyToOneRelation('${name}')`;
    checkGiven('polymorphicToOne', call, options, at);
    const targets = Object.entries(options.targets);
    if (targets.length === 0) refuse(at, `The relation '${name}' needs 'targets': a collection for each type.`);
    for (const [value, given] of targets) {
      if (typeof given !== 'string') checkGiven('polymorphicTarget', `${call}: the target '${value}'`, given, at);
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

  /** Adds the other side of a polymorphic to-one relation. */
  addPolymorphicOneToManyRelation(name: string, foreign: string, options: PolymorphicOneToManyOptions): this {
    const at = callSite(this.addPolymorphicOneToManyRelation);
    checkGiven('polymorphicToMany', `addPolymorphicOneToManyRelation('${name}')`, options, at);
    const only = { field: options.typeField, value: options.type };
    return this.#add(at, { kind: 'fromOther', name, foreign, single: false, options, only });
  }

  /** Like `addPolymorphicOneToManyRelation`, with at most one related record: key and type are unique together. */
  addPolymorphicOneToOneRelation(name: string, foreign: string, options: PolymorphicOneToManyOptions): this {
    const at = callSite(this.addPolymorphicOneToOneRelation);
    checkGiven('polymorphicToMany', `addPolymorphicOneToOneRelation('${name}')`, options, at);
    const only = { field: options.typeField, value: options.type };
    return this.#add(at, { kind: 'fromOther', name, foreign, single: true, options, only });
  }

  /** `through` is the collection of the pairs, with one record for each. */
  addManyToManyRelation(name: string, foreign: string, through: string, options: ManyToManyOptions): this {
    const at = callSite(this.addManyToManyRelation);
    checkGiven('manyToMany', `addManyToManyRelation('${name}')`, options, at);
    return this.#add(at, { kind: 'throughOther', name, foreign, through, options });
  }

  /**
   * Adds a relation to records that code returns for each record. Callers read them whole and list them for one record,
   * but cannot filter or sort by them.
   */
  addExternalRelation(name: string, definition: ExternalRelationDefinition): this {
    const at = callSite(this.addExternalRelation);
    checkGiven('external', `addExternalRelation('${name}')`, definition, at);
    needFunction(definition?.listRecords, 'listRecords', at);
    const { schema } = definition;
    if (typeof schema !== 'object' || schema === null || Object.keys(schema).length === 0)
      refuse(at, `The relation '${name}' needs a 'schema': the fields of its records and their types.`);
    return this.#add(at, { kind: 'external', name, definition });
  }

  /** Replaces an operator with the filter that `replace` returns. The database evaluates it. */
  replaceFieldOperator(name: string, operator: Operator, replace: OperatorReplacer): this {
    const at = callSite(this.replaceFieldOperator);
    needOperator(operator, at);
    needFunction(replace, 'The replacement of the operator', at);
    return this.#add(at, { kind: 'replaceOperator', name, operator, replace });
  }

  /** Evaluates the operator in memory, after reading every record that matches the rest of the filter. */
  emulateFieldOperator(name: string, operator: Operator): this {
    const at = callSite(this.emulateFieldOperator);
    needOperator(operator, at);
    return this.#add(at, { kind: 'emulateOperator', name, operator });
  }

  /** Like `emulateFieldOperator`, for every operator of the type that is not otherwise supported. */
  emulateFieldFiltering(name: string): this {
    return this.#add(callSite(this.emulateFieldFiltering), { kind: 'emulateOperator', name });
  }

  /** Sorts by these clauses instead of by the field. */
  replaceFieldSorting(name: string, clauses: readonly PlainSort[]): this {
    const at = callSite(this.replaceFieldSorting);
    if (!Array.isArray(clauses) || clauses.length === 0)
      refuse(at, `The sorting of '${name}' needs at least one clause {field, ascending}.`);
    for (const clause of clauses) checkGiven('sort', `replaceFieldSorting('${name}')`, clause, at);
    return this.#add(at, { kind: 'sort', name, by: clauses });
  }

  /** Sorts in memory, after reading every record that matches the filter. */
  emulateFieldSorting(name: string): this {
    return this.#add(callSite(this.emulateFieldSorting), { kind: 'sort', name, by: 'here' });
  }

  disableFieldSorting(name: string): this {
    return this.#add(callSite(this.disableFieldSorting), { kind: 'sort', name, by: 'nothing' });
  }

  /** Describes the field to callers as nullable. */
  setFieldNullable(name: string): this {
    return this.#add(callSite(this.setFieldNullable), { kind: 'nullable', name });
  }

  /**
   * Makes the field optional in a create because the database fills it, for example with a trigger. Triggers that the
   * engine detects need no call. If the database does not fill the field, the create fails and the error names it.
   *
   * @example collection.setFieldFilledByDatabase('fulltext')
   */
  setFieldFilledByDatabase(name: string): this {
    return this.#add(callSite(this.setFieldFilledByDatabase), { kind: 'filledByDatabase', name });
  }

  /** Shows a binary to callers as a `data:` URI or as hexadecimal digits. Default: hex up to 32 bytes. */
  replaceFieldBinaryMode(name: string, mode: BinaryMode): this {
    const at = callSite(this.replaceFieldBinaryMode);
    if (mode !== 'datauri' && mode !== 'hex')
      refuse(at, `There is no binary mode '${String(mode)}': it is 'datauri' or 'hex'.`);
    return this.#add(at, { kind: 'binaryMode', name, mode });
  }

  /** Replaces search with the filter that `replace` returns for the search text. */
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

  /** Refuses writes by callers and by code if the field fails this condition. Only `Present` checks null. */
  addFieldValidation(name: string, operator: Operator, value?: unknown): this {
    const at = callSite(this.addFieldValidation);
    needOperator(operator, at);
    return this.#add(at, { kind: 'validation', name, operator, value });
  }

  /**
   * Replaces the write of the field with the values that the function returns; null makes the field read-only. An added
   * field becomes writable.
   */
  replaceFieldWriting(name: string, definition: FieldWriter | null): this {
    const at = callSite(this.replaceFieldWriting);
    if (definition !== null) needFunction(definition, `What replaces the writing of '${name}' (or null)`, at);
    return this.#add(at, { kind: 'writing', name, write: definition });
  }

  /**
   * Lets assistants write the record of these to-one relations together with a record of this collection, as in
   * `{"customer:city": "Oslo"}`. The write updates the related record, or creates it if missing. Other relations refuse
   * such a call and explain how to link instead. The caller also needs permission on the other collection.
   *
   * @example
   * orders.allowNestedWrites('customer');
   */
  allowNestedWrites(...relations: readonly string[]): this {
    const at = callSite(this.allowNestedWrites);
    for (const name of relations) this.#add(at, { kind: 'nestedWrites', name });
    return this;
  }

  /** Creates records instead of the data source. */
  overrideCreate(handler: OverrideHandlers['create']): this {
    return this.#override(callSite(this.overrideCreate), 'create', handler);
  }

  /** Updates records instead of the data source. */
  overrideUpdate(handler: OverrideHandlers['update']): this {
    return this.#override(callSite(this.overrideUpdate), 'update', handler);
  }

  /** Deletes records instead of the data source. */
  overrideDelete(handler: OverrideHandlers['delete']): this {
    return this.#override(callSite(this.overrideDelete), 'delete', handler);
  }

  #override<V extends OverrideVerb>(at: string, verb: V, handler: OverrideHandlers[V]): this {
    needFunction(handler, `What overrides ${verb}`, at);
    return this.#add(at, { kind: 'override', verb, handler });
  }

  /** For the plugins of `portico/plugins` (flatten.ts), which also check the options. */
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
