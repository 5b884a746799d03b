// The customizer records each call with its file and line. Names are checked when the model is built, because a later
// call may still add them.

import type { FieldMeaning, Meaning } from '../../core/caller/meanings.ts';
import { fail } from '../../core/errors.ts';
import { type Operator, operators, type PlainSort } from '../../core/filter.ts';
import { suggestNames } from '../../core/suggestions.ts';
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
  MinGroupSizeOptions,
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
import { checkDefinition, checkPlainFilter } from './option-rows.ts';
import type { Recording } from './recording.ts';

/** A plugin for one collection; may be async. */
export type CollectionPlugin<O> = (collection: CollectionCustomizer, options: O) => MaybePromise<void>;

/**
 * The customizer that `customizeCollection` passes to its callback. Every method returns the customizer, for chaining.
 * Names are checked when the model is built: a wrong name, option or type fails the start with CONFIGURATION, your file
 * and line, and similar names.
 */
export class CollectionCustomizer {
  /** The name of the collection. */
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

  /**
   * Renames a field for callers. Customization code continues to use the original name.
   *
   * @example
   * customers.renameField('cust_nm', 'name');
   */
  renameField(name: string, newName: string): this {
    return this.#add(callSite(this.renameField), { kind: 'renameField', name, newName });
  }

  /**
   * Hides the fields from callers. Customization code still reads them.
   *
   * @example
   * customers.removeField('birth_date', 'password_hash');
   */
  removeField(...names: readonly string[]): this {
    const at = callSite(this.removeField);
    for (const name of names) this.#add(at, { kind: 'removeField', name });
    return this;
  }

  /**
   * Says what the records are: `describeCollection` shows it, and its search finds the words.
   *
   * @example
   * orders.describe({ description: 'Orders of the web shop, without returns', synonyms: ['purchases'] });
   */
  describe(meaning: Meaning): this {
    const at = callSite(this.describe);
    checkDefinition('meaning', 'describe', meaning, at);
    return this.#add(at, { kind: 'meaning', meaning });
  }

  /**
   * Says what a field or relation means. A relation takes only `description` and `synonyms`. Shown only to callers who may
   * see the field.
   *
   * @example
   * orders
   *   .describeField('total', { description: 'With tax, without shipping', unit: 'EUR', synonyms: ['amount'] })
   *   .describeField('status', { values: { paid: 'The money arrived', sent: 'The parcel left' } })
   *   .describeField('search_vector', { hiddenByDefault: true });
   */
  describeField(name: string, meaning: FieldMeaning): this {
    const at = callSite(this.describeField);
    checkDefinition('fieldMeaning', `describeField('${name}')`, meaning, at);
    return this.#add(at, { kind: 'fieldMeaning', name, meaning });
  }

  /**
   * Chooses the field whose value names a record for people, in the console: in lists, links, approvals and notes.
   * Default: a visible text field with a usual name, such as `name`, `title`, `number` or `email`. People who may not
   * see the field get that default too.
   *
   * @example
   * orders.displayField('number');
   */
  displayField(name: string): this {
    return this.#add(callSite(this.displayField), { kind: 'displayField', name });
  }

  /**
   * Adds an action on records, with an optional form for its values (behaviour 2.3).
   *
   * @example
   * orders.addAction<{ Amount: number }>('Refund', {
   *   scope: 'Single',
   *   form: [{ label: 'Amount', type: 'Number', isRequired: true }],
   *   execute: async (context, resultBuilder) => {
   *     const id = await context.getRecordId();
   *     return resultBuilder.success(`Refunded ${context.formValues.Amount} of order ${id}`);
   *   },
   * });
   */
  addAction<Values = FormValues>(name: string, definition: ActionDefinition<Values>): this {
    const at = callSite(this.addAction);
    if (typeof definition !== 'object' || definition === null) refuse(at, `The action '${name}' needs a definition.`);
    return this.#add(at, { kind: 'action', name, definition: definition as ActionDefinition });
  }

  /**
   * Adds a chart of one record (behaviour 4.3). Charts of the whole agent are added to the agent.
   *
   * @example
   * customers.addChart('Orders', async ({ collection, recordId }, builder) => {
   *   const conditionTree: PlainFilter = { field: 'customer_id', operator: 'Equal', value: recordId };
   *   return builder.value(await collection('orders').count({ conditionTree }));
   * });
   */
  addChart(name: string, definition: ChartDefinition<RecordChartContext>): this {
    const at = callSite(this.addChart);
    requireFunction(definition, `The chart '${name}'`, at);
    return this.#add(at, { kind: 'chart', name, definition });
  }

  /**
   * Adds a read-only field. `getValues` computes its values from other fields after reading.
   *
   * @example
   * customers.addField('full_name', {
   *   columnType: 'String',
   *   dependencies: ['first_name', 'last_name'],
   *   getValues: (records) => records.map((one) => `${one.first_name} ${one.last_name}`),
   * });
   */
  addField(name: string, definition: ComputedDefinition): this {
    const at = callSite(this.addField);
    checkDefinition('computed', `addField('${name}')`, definition, at);
    requireFunction(definition?.getValues, 'getValues', at);
    if (!Array.isArray(definition.dependencies) || definition.dependencies.length === 0)
      refuse(at, `The field '${name}' needs 'dependencies': the names of at least one field.`);
    return this.#add(at, { kind: 'addField', name, definition });
  }

  /**
   * Adds a field of a to-one relation to this collection. The database filters and sorts by it.
   *
   * @example
   * orders.importField('customer_city', { path: 'customer:city', readonly: true });
   */
  importField(name: string, definition: ImportDefinition): this {
    const at = callSite(this.importField);
    checkDefinition('imported', `importField('${name}')`, definition, at);
    return this.#add(at, { kind: 'importField', name, definition });
  }

  /**
   * Adds a named filter, or a function that returns one for each call. Callers pass its name as `segment`.
   *
   * @example
   * orders
   *   .addSegment('large', { field: 'total', operator: 'GreaterThan', value: 1000 })
   *   .addSegment('mine', ({ caller }) => ({ field: 'seller_email', operator: 'Equal', value: caller.email }));
   */
  addSegment(name: string, definition: SegmentDefinition): this {
    const at = callSite(this.addSegment);
    if (typeof name !== 'string' || name.trim() === '') refuse(at, 'A segment needs a name.');
    if (typeof definition !== 'function') checkPlainFilter(`addSegment('${name}')`, definition, at);
    return this.#add(at, { kind: 'addSegment', name, definition });
  }

  /**
   * Adds a relation to one record of `foreign`: the record with the value of the foreign key.
   *
   * @example
   * orders.addManyToOneRelation('buyer', 'customers', { foreignKey: 'customer_id' });
   */
  addManyToOneRelation(name: string, foreign: string, options: ManyToOneOptions): this {
    const at = callSite(this.addManyToOneRelation);
    checkDefinition('manyToOne', `addManyToOneRelation('${name}')`, options, at);
    return this.#add(at, { kind: 'toOne', name, foreign, options });
  }

  /**
   * Adds a relation to the records of `foreign` with the key of this record.
   *
   * @example
   * customers.addOneToManyRelation('purchases', 'orders', { originKey: 'customer_id' });
   */
  addOneToManyRelation(name: string, foreign: string, options: OneToManyOptions): this {
    const at = callSite(this.addOneToManyRelation);
    checkDefinition('oneToMany', `addOneToManyRelation('${name}')`, options, at);
    return this.#add(at, { kind: 'fromOther', name, foreign, single: false, options });
  }

  /**
   * Adds a relation to the one record of `foreign` with the key of this record. If several have it, the relation leads
   * to the one with the lowest key that the caller may see.
   *
   * @example
   * customers.addOneToOneRelation('profile', 'profiles', { originKey: 'customer_id' });
   */
  addOneToOneRelation(name: string, foreign: string, options: OneToManyOptions): this {
    const at = callSite(this.addOneToOneRelation);
    checkDefinition('oneToMany', `addOneToOneRelation('${name}')`, options, at);
    return this.#add(at, { kind: 'fromOther', name, foreign, single: true, options });
  }

  /**
   * Adds a to-one relation for each target of a polymorphic foreign key; `typeField` selects the target. Each is named
   * `<name>_<collection>` unless the target has a `name`.
   *
   * @example
   * comments.addPolymorphicManyToOneRelation('about', {
   *   foreignKey: 'subject_id',
   *   typeField: 'subject_type',
   *   targets: { Customer: 'customers', Order: { collection: 'orders', name: 'about_order' } },
   * });
   */
  addPolymorphicManyToOneRelation(name: string, options: PolymorphicManyToOneOptions): this {
    const at = callSite(this.addPolymorphicManyToOneRelation);
    const call = `addPolymorphicManyToOneRelation('${name}')`;
    checkDefinition('polymorphicToOne', call, options, at);
    const targets = Object.entries(options.targets);
    if (targets.length === 0) refuse(at, `The relation '${name}' needs 'targets': a collection for each type.`);
    for (const [value, given] of targets) {
      if (typeof given !== 'string') checkDefinition('polymorphicTarget', `${call}: the target '${value}'`, given, at);
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

  /**
   * Adds the other side of a polymorphic to-one relation.
   *
   * @example
   * customers.addPolymorphicOneToManyRelation('comments', 'comments', {
   *   originKey: 'subject_id',
   *   typeField: 'subject_type',
   *   type: 'Customer',
   * });
   */
  addPolymorphicOneToManyRelation(name: string, foreign: string, options: PolymorphicOneToManyOptions): this {
    const at = callSite(this.addPolymorphicOneToManyRelation);
    checkDefinition('polymorphicToMany', `addPolymorphicOneToManyRelation('${name}')`, options, at);
    const only = { field: options.typeField, value: options.type };
    return this.#add(at, { kind: 'fromOther', name, foreign, single: false, options, only });
  }

  /**
   * Like `addPolymorphicOneToManyRelation`, with at most one related record: key and type are unique together.
   *
   * @example
   * customers.addPolymorphicOneToOneRelation('picture', 'files', {
   *   originKey: 'owner_id',
   *   typeField: 'owner_type',
   *   type: 'Customer',
   * });
   */
  addPolymorphicOneToOneRelation(name: string, foreign: string, options: PolymorphicOneToManyOptions): this {
    const at = callSite(this.addPolymorphicOneToOneRelation);
    checkDefinition('polymorphicToMany', `addPolymorphicOneToOneRelation('${name}')`, options, at);
    const only = { field: options.typeField, value: options.type };
    return this.#add(at, { kind: 'fromOther', name, foreign, single: true, options, only });
  }

  /**
   * Adds a relation to many records of `foreign`. The collection `through` has one record for each pair.
   *
   * @example
   * products.addManyToManyRelation('tags', 'tags', 'product_tags', { originKey: 'product_id', foreignKey: 'tag_id' });
   */
  addManyToManyRelation(name: string, foreign: string, through: string, options: ManyToManyOptions): this {
    const at = callSite(this.addManyToManyRelation);
    checkDefinition('manyToMany', `addManyToManyRelation('${name}')`, options, at);
    return this.#add(at, { kind: 'throughOther', name, foreign, through, options });
  }

  /**
   * Adds a relation to records that code returns for each record. Callers read them whole and list them for one record,
   * but cannot filter or sort by them.
   *
   * @example
   * customers.addExternalRelation('offers', {
   *   schema: { title: 'String', percent: 'Number' },
   *   dependencies: ['loyalty_points'],
   *   listRecords: ({ loyalty_points }) => (Number(loyalty_points) > 500 ? [{ title: 'Thank you', percent: 10 }] : []),
   * });
   */
  addExternalRelation(name: string, definition: ExternalRelationDefinition): this {
    const at = callSite(this.addExternalRelation);
    checkDefinition('external', `addExternalRelation('${name}')`, definition, at);
    requireFunction(definition?.listRecords, 'listRecords', at);
    const { schema } = definition;
    if (typeof schema !== 'object' || schema === null || Object.keys(schema).length === 0)
      refuse(at, `The relation '${name}' needs a 'schema': the fields of its records and their types.`);
    return this.#add(at, { kind: 'external', name, definition });
  }

  /**
   * Replaces an operator with the filter that `replace` returns. The database evaluates it.
   *
   * @example
   * customers.replaceFieldOperator('full_name', 'Equal', (value) => {
   *   const [first, last] = String(value).split(' ');
   *   return {
   *     aggregator: 'And',
   *     conditions: [
   *       { field: 'first_name', operator: 'Equal', value: first },
   *       { field: 'last_name', operator: 'Equal', value: last },
   *     ],
   *   };
   * });
   */
  replaceFieldOperator(name: string, operator: Operator, replace: OperatorReplacer): this {
    const at = callSite(this.replaceFieldOperator);
    requireOperator(operator, at);
    requireFunction(replace, 'The replacement of the operator', at);
    return this.#add(at, { kind: 'replaceOperator', name, operator, replace });
  }

  /**
   * Evaluates the operator in memory, after reading every record that matches the rest of the filter.
   *
   * @example
   * customers.emulateFieldOperator('full_name', 'IContains');
   */
  emulateFieldOperator(name: string, operator: Operator): this {
    const at = callSite(this.emulateFieldOperator);
    requireOperator(operator, at);
    return this.#add(at, { kind: 'emulateOperator', name, operator });
  }

  /**
   * Like `emulateFieldOperator`, for every operator of the type that is not otherwise supported.
   *
   * @example
   * customers.emulateFieldFiltering('full_name');
   */
  emulateFieldFiltering(name: string): this {
    return this.#add(callSite(this.emulateFieldFiltering), { kind: 'emulateOperator', name });
  }

  /**
   * Sorts by these clauses instead of by the field.
   *
   * @example
   * customers.replaceFieldSorting('full_name', [{ field: 'last_name' }, { field: 'first_name', ascending: false }]);
   */
  replaceFieldSorting(name: string, clauses: readonly PlainSort[]): this {
    const at = callSite(this.replaceFieldSorting);
    if (!Array.isArray(clauses) || clauses.length === 0)
      refuse(at, `The sorting of '${name}' needs at least one clause {field, ascending}.`);
    for (const clause of clauses) checkDefinition('sort', `replaceFieldSorting('${name}')`, clause, at);
    return this.#add(at, { kind: 'sort', name, by: clauses });
  }

  /**
   * Sorts in memory, after reading every record that matches the filter.
   *
   * @example
   * customers.emulateFieldSorting('full_name');
   */
  emulateFieldSorting(name: string): this {
    return this.#add(callSite(this.emulateFieldSorting), { kind: 'sort', name, by: 'here' });
  }

  /**
   * Refuses to sort by the field: FIELD_NOT_SORTABLE.
   *
   * @example
   * orders.disableFieldSorting('notes');
   */
  disableFieldSorting(name: string): this {
    return this.#add(callSite(this.disableFieldSorting), { kind: 'sort', name, by: 'nothing' });
  }

  /**
   * Describes the field to callers as nullable.
   *
   * @example
   * customers.setFieldNullable('nickname');
   */
  setFieldNullable(name: string): this {
    return this.#add(callSite(this.setFieldNullable), { kind: 'nullable', name });
  }

  /**
   * Makes the field optional in a create because the database fills it, for example with a trigger. Triggers that the
   * engine detects need no call. If the database does not fill the field, the create fails and the error names it.
   *
   * @example
   * products.setFieldFilledByDatabase('fulltext');
   */
  setFieldFilledByDatabase(name: string): this {
    return this.#add(callSite(this.setFieldFilledByDatabase), { kind: 'filledByDatabase', name });
  }

  /**
   * Shows a binary to callers as a `data:` URI or as hexadecimal digits. Default: `hex` for keys, foreign keys and
   * columns of at most 32 bytes, otherwise `datauri`.
   *
   * @example
   * customers.replaceFieldBinaryMode('avatar', 'datauri');
   */
  replaceFieldBinaryMode(name: string, mode: BinaryMode): this {
    const at = callSite(this.replaceFieldBinaryMode);
    if (mode !== 'datauri' && mode !== 'hex')
      refuse(at, `There is no binary mode '${String(mode)}'. Use 'datauri' or 'hex'.`);
    return this.#add(at, { kind: 'binaryMode', name, mode });
  }

  /**
   * Replaces search with the filter that `replace` returns for the search text.
   *
   * @example
   * customers.replaceSearch((search) => ({ field: 'email', operator: 'IContains', value: search }));
   */
  replaceSearch(replace: SearchReplacer): this {
    const at = callSite(this.replaceSearch);
    requireFunction(replace, 'The replacement of the search', at);
    return this.#add(at, { kind: 'search', replace });
  }

  /**
   * Removes the search of the collection: requests with a search are INVALID_ARGUMENT.
   *
   * @example
   * logs.disableSearch();
   */
  disableSearch(): this {
    return this.#add(callSite(this.disableSearch), { kind: 'search', replace: null });
  }

  /**
   * Refuses to count the records of the collection: NOT_COUNTABLE.
   *
   * @example
   * logs.disableCount();
   */
  disableCount(): this {
    return this.#add(callSite(this.disableCount), { kind: 'disableCount' });
  }

  /**
   * Shows fields only in aggregates of at least `size` records: no list, filter, sort, search or relation has them.
   * Without `fields`, no record of the collection can be read. It hides neither what your code returns, nor what callers
   * learn from several tables of figures.
   *
   * @example
   * customers.setMinGroupSize(5, { fields: ['loyalty_points'], by: ['country', { field: 'created_at', bucket: 'Year' }] });
   */
  setMinGroupSize(size: number, options: MinGroupSizeOptions = {}): this {
    const at = callSite(this.setMinGroupSize);
    if (!Number.isInteger(size) || size < 2 || size > 10_000)
      fail('CONFIGURATION', { problem: `setMinGroupSize needs a whole number from 2 to 10,000. (${at})` });
    checkDefinition('minGroupSize', 'setMinGroupSize', options, at);
    return this.#add(at, { kind: 'minGroupSize', size, options });
  }

  /**
   * Runs code before or after each operation of callers, in the order of the calls. A `Before` hook may change or
   * refuse the call. An error in an `After` hook is FAILED_AFTER_WRITE, because the write is committed.
   *
   * @example
   * orders
   *   .addHook('Before', 'Create', ({ data, caller }) => {
   *     for (const order of data) order.created_by = caller.id;
   *   })
   *   .addHook('Before', 'Delete', (context) => {
   *     if (context.caller.team !== 'Support') context.throwForbiddenError('Only Support deletes orders.');
   *   });
   */
  addHook<P extends HookPosition, T extends keyof HookContexts[P] & string>(
    position: P,
    type: T,
    handler: HookHandler<HookContexts[P][T]>,
  ): this {
    const at = callSite(this.addHook);
    requireFunction(handler, 'The hook', at);
    requireOneOf(position, ['Before', 'After'], 'hook position', at);
    requireOneOf(type, ['List', 'Create', 'Update', 'Delete', 'Aggregate'], 'hook type', at);
    return this.#add(at, { kind: 'hook', position, type: type as HookType, handler });
  }

  /**
   * Refuses writes by callers and by code if the field fails this condition. Only `Present` checks null. The error is
   * INVALID_RECORD.
   *
   * @example
   * customers
   *   .addFieldValidation('last_name', 'Present')
   *   .addFieldValidation('email', 'Match', /^[^@\s]+@[^@\s]+$/);
   */
  addFieldValidation(name: string, operator: Operator, value?: unknown): this {
    const at = callSite(this.addFieldValidation);
    requireOperator(operator, at);
    return this.#add(at, { kind: 'validation', name, operator, value });
  }

  /**
   * Replaces the write of the field with the values that the function returns; null makes the field read-only. An added
   * field becomes writable.
   *
   * @example
   * customers.replaceFieldWriting('full_name', (value) => {
   *   const [first_name, ...last_name] = String(value).split(' ');
   *   return { first_name, last_name: last_name.join(' ') };
   * });
   */
  replaceFieldWriting(name: string, definition: FieldWriter | null): this {
    const at = callSite(this.replaceFieldWriting);
    if (definition !== null) requireFunction(definition, `The replacement for writing '${name}' (or null)`, at);
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

  /**
   * Promises that every record has its related record in these to-one relations: the foreign key is never null, and no
   * row lacks its target. A sort by the related record can then be read from an index of its table. A record that breaks
   * the promise is missing from such a list. PostgreSQL proves it by a validated constraint and needs no call; MySQL,
   * MariaDB and SQLite do not check rows that were written while the checks were off.
   *
   * @example
   * orders.trustForeignKey('customer');
   */
  trustForeignKey(...relations: readonly string[]): this {
    const at = callSite(this.trustForeignKey);
    for (const name of relations) this.#add(at, { kind: 'trustedKey', name });
    return this;
  }

  /**
   * Creates records instead of the data source. The function returns them with their keys. FAILED_AFTER_WRITE if one of
   * them cannot be read afterwards.
   *
   * @example
   * customers.overrideCreate(async ({ data }) => {
   *   const answer = await fetch('https://crm.example.com/customers', { method: 'POST', body: JSON.stringify(data) });
   *   return (await answer.json()) as CodeRecord[];
   * });
   */
  overrideCreate(handler: OverrideHandlers['create']): this {
    return this.#override(callSite(this.overrideCreate), 'create', handler);
  }

  /**
   * Updates records instead of the data source. The filter includes the row scope of the caller.
   *
   * @example
   * customers.overrideUpdate(async ({ filter, patch }) => {
   *   await fetch('https://crm.example.com/customers', { method: 'PATCH', body: JSON.stringify({ filter, patch }) });
   * });
   */
  overrideUpdate(handler: OverrideHandlers['update']): this {
    return this.#override(callSite(this.overrideUpdate), 'update', handler);
  }

  /**
   * Deletes records instead of the data source. The filter includes the row scope of the caller.
   *
   * @example
   * customers.overrideDelete(async ({ filter, collection }) => {
   *   await collection('customers').update(filter, { is_deleted: true });
   * });
   */
  overrideDelete(handler: OverrideHandlers['delete']): this {
    return this.#override(callSite(this.overrideDelete), 'delete', handler);
  }

  #override<V extends OverrideVerb>(at: string, verb: V, handler: OverrideHandlers[V]): this {
    requireFunction(handler, `The override of ${verb}`, at);
    return this.#add(at, { kind: 'override', verb, handler });
  }

  /**
   * For the plugins of `portico/plugins`, which also check the options. Use the plugins.
   *
   * @example
   * import { flattenRelation } from 'portico/plugins';
   *
   * orders.use(flattenRelation, { relationName: 'customer', include: ['first_name', 'last_name'] });
   */
  flatten(flattening: Flattening): this {
    return this.#add(callSite(this.flatten), { kind: 'flatten', flattening });
  }

  /**
   * Applies a plugin to this collection.
   *
   * @example
   * const withoutTimestamps: CollectionPlugin<undefined> = (collection) => {
   *   collection.removeField('created_at', 'updated_at');
   * };
   * customers.use(withoutTimestamps);
   */
  use(plugin: CollectionPlugin<undefined>): this;
  /**
   * Applies a plugin with options to this collection.
   *
   * @example
   * import { flattenColumn } from 'portico/plugins';
   *
   * customers.use(flattenColumn, { columnName: 'address', include: ['street', 'city'] });
   */
  use<O>(plugin: CollectionPlugin<O>, options: O): this;
  use<O>(plugin: CollectionPlugin<O | undefined>, options?: O): this {
    const at = callSite(this.use);
    requireFunction(plugin, 'The plugin', at);
    this.#recording.runPlugin(at, (inner) => plugin(new CollectionCustomizer(this.name, inner), options));
    return this;
  }
}

function requireOneOf(given: string, known: readonly string[], what: string, at: string): void {
  if (!known.includes(given)) refuse(at, `There is no ${what} '${String(given)}'. Use one of ${known.join(', ')}.`);
}

function requireFunction(given: unknown, what: string, at: string): void {
  if (typeof given !== 'function') refuse(at, `${what} must be a function.`);
}

function requireOperator(operator: string, at: string): void {
  if ((operators as readonly string[]).includes(operator)) return;
  const near = suggestNames(String(operator), operators);
  refuse(at, `No operator '${operator}'.${near.length ? ` Near: ${near.join(', ')}.` : ''}`);
}

function refuse(at: string, problem: string): never {
  return fail('CONFIGURATION', { problem: `${problem} (${at})` });
}
