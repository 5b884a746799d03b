// Builds the frozen Model from the schema of the sources and the customizations. `buildModel` lists the passes.
import type { Operator } from '../../core/filter.ts';
import type { Observe } from '../../core/observe.ts';
import type { RecordedCustomizations } from '../customize/definitions.ts';
import type { Hooks } from '../customize/hooks.ts';
import type { DescribedColumn, DescribedTable } from '../sources/described.ts';
import type { Source } from '../sources/source.ts';
import { addFields, type CollectionBuild } from './added.ts';
import type { ChosenTable } from './chosen-tables.ts';
import {
  type CollectionCustomizations,
  checkCustomizations,
  collectCustomizations,
  createCollectionCustomizations,
  failMisuse,
  failUnknownName,
  minGroupSizeOf,
  publishedNameOf,
  type Validation,
} from './customizations.ts';
import { buildDeclaredRelation } from './declared.ts';
import { FieldMap } from './field-map.ts';
import { buildColumns, type ColumnCustomizations, keyOf } from './fields.ts';
import { flattenFields } from './flatten.ts';
import { meaningOf } from './meaning.ts';
import { findInMemoryOperators, type OperatorPatches, operatorsFor, resolveOperators } from './operators.ts';
import { createQuery, linkQueries } from './queries.ts';
import { buildRelations, findReference, type Reference, toReferencingCollection } from './relations.ts';
import { checkSorts } from './sorts.ts';
import type { Collection, Column, Field, FieldRule, Incoming, Model, Relation, Replacement } from './types.ts';

interface CollectionDraft extends CollectionBuild {
  readonly internalFields: FieldMap;
  readonly table: DescribedTable;
  readonly collection: Collection;
  /** The map behind `collection.fields`. */
  readonly publishedFields: FieldMap;
  /** The list behind `collection.referencedBy`. */
  readonly incoming: Incoming[];
}

/** CONFIGURATION, with the user's file and line, for customizations that do not fit the schema. */
export function buildModel(chosen: readonly ChosenTable[], recorded: RecordedCustomizations, observe: Observe): Model {
  const drafts = createDrafts(chosen, recorded);
  const tables = findTables(drafts);
  linkRelations(drafts, tables);
  linkIncoming(drafts, tables);
  declareRelations(drafts, (message) => observe({ type: 'warning', message }));
  linkQueries(drafts);
  flattenDeclared(drafts);
  addDeclaredFields(drafts);
  for (const { name, customizations, internalFields } of drafts)
    checkCustomizations(name, customizations, internalFields);
  checkSorts(drafts);
  publish(drafts);
  return freezeModel(drafts);
}

function createDrafts(
  chosen: readonly ChosenTable[],
  { recorded, removed }: RecordedCustomizations,
): readonly CollectionDraft[] {
  const drafts = new Map<string, CollectionDraft>();
  const customizations = collectCustomizations(recorded);
  const hidden = new Set(removed.map(({ collection }) => collection));
  for (const each of chosen) {
    drafts.set(
      each.name,
      createDraft(each, customizations.get(each.name) ?? createCollectionCustomizations(), !hidden.has(each.name)),
    );
  }
  for (const [name, { at }] of [
    ...customizations,
    ...removed.map(({ collection, at }) => [collection, { at }] as const),
  ])
    if (!drafts.has(name)) failUnknownName(`There is no collection '${name}'`, name, drafts.keys(), at);
  return [...drafts.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function createDraft(
  { source, table, name, query }: ChosenTable,
  customizations: CollectionCustomizations,
  isPublished: boolean,
): CollectionDraft {
  const customizationsFor = (column: DescribedColumn) => columnCustomizations(customizations, column);
  // By the name in the database, which is the original name in code.
  const columns = new Map(buildColumns(table, customizationsFor).map((column) => [column.column, column]));
  const pick = (names: readonly string[]): readonly Column[] => Object.freeze(names.map((name) => columns.get(name)!));
  const publishedColumns = (names: readonly string[]): boolean =>
    names.length > 0 && names.every((name) => columns.has(name));
  const internalFields = new FieldMap(columns);
  const published = new FieldMap();
  const incoming: Incoming[] = [];
  const key = keyOf(table);
  const { segments, metrics, search, countable, displayField, hooks, overrides } = customizations;
  const collection: Collection = Object.freeze({
    name,
    source,
    table: table.name,
    kind: table.kind,
    ...meaningOf(customizations.meaning?.meaning, table.comment),
    ...readOnlyFor(source, table),
    key: publishedColumns(key) ? pick(key) : Object.freeze([]),
    uniqueKeys: Object.freeze([table.primaryKey, ...table.uniqueKeys].filter(publishedColumns).map(pick)),
    indexes: table.indexes?.map(({ columns, sorted }) => ({ columns: pick(columns), sorted })),
    fields: published,
    internalFields,
    isPublished,
    referencedBy: incoming,
    triggers: table.triggers ?? [],
    ...(query && { query: createQuery(query, [...columns.values()]) }),
    // Collected by position and type, so each hook matches the context of its event.
    rules: Object.freeze({
      ...{ segments, metrics, search, countable, displayField, overrides },
      minGroupSize: minGroupSizeOf(customizations),
      hooks: hooks as unknown as Hooks,
    }),
  });
  const keyNames = collection.key.map(({ column }) => column);
  return {
    name,
    key: keyNames,
    table,
    collection,
    internalFields,
    publishedFields: published,
    incoming,
    customizations,
    customizationsFor,
  };
}

function readOnlyFor({ writing }: Source, { kind, readOnly }: DescribedTable): Pick<Collection, 'readOnly'> {
  if (kind === 'view') return { readOnly: readOnly ?? 'it is a view. Write to its tables.' };
  if (!writing) return { readOnly: 'its data source is read-only.' };
  return readOnly === undefined ? {} : { readOnly };
}

function columnCustomizations(
  customizations: CollectionCustomizations,
  { name, type }: DescribedColumn,
): ColumnCustomizations {
  const order = customizations.sorts.get(name)?.by;
  const operators = customizations.operators.get(name);
  const binary = customizations.binaryModes.get(name);
  const writing = customizations.writings.get(name);
  const validations = customizations.validations.get(name);
  const described = customizations.fieldMeanings.get(name);
  return {
    name: publishedNameOf(customizations, name),
    ...(described && { meaning: described.meaning }),
    nullable: customizations.nullable.has(name),
    filledByDatabase: customizations.filledByDatabase.has(name),
    ...(order !== undefined && { order }),
    ...(binary && { binary: binary.mode }),
    ...(operators && { patches: toPatches(name, type, operators) }),
    ...(writing && { writing }),
    ...(validations && { rules: validations.map((validation) => buildRule(name, type, validation)) }),
  };
}

function buildRule(name: string, type: DescribedColumn['type'], validation: Validation): FieldRule {
  const allowed = operatorsFor(type);
  const answer = resolveOperators(type, new Set(allowed)).get(validation.operator);
  if (answer) return Object.freeze({ ...validation, answer });
  const near = `Allowed: ${allowed.join(', ')}`;
  return failMisuse(`'${validation.operator}' cannot check '${name}', which is ${type}. ${near}`, validation.at);
}

function toPatches(
  name: string,
  type: DescribedColumn['type'],
  { replacements: answers, emulatedAt: rest }: NonNullable<ReturnType<CollectionCustomizations['operators']['get']>>,
): OperatorPatches {
  const found = new Map<Operator, 'here' | Replacement>();
  const allowed = operatorsFor(type);
  for (const [operator, { by, at }] of answers) {
    if (!allowed.includes(operator))
      failMisuse(`'${operator}' cannot be used on '${name}', which is ${type}. Allowed: ${allowed.join(', ')}`, at);
    if (by !== 'here') {
      found.set(operator, by);
      continue;
    }
    const inMemory =
      findInMemoryOperators(operator) ?? failMisuse(`'${operator}' cannot be emulated: use replaceFieldOperator`, at);
    for (const each of inMemory) if (!answers.has(each) || each === operator) found.set(each, 'here');
  }
  return { replacements: found, emulatesOthers: rest !== undefined };
}

/** The collection of each table. */
type Tables = ReadonlyMap<Source, ReadonlyMap<string, Collection>>;

function findTables(drafts: readonly CollectionDraft[]): Tables {
  const bySource = new Map<Source, Map<string, Collection>>();
  for (const { table, collection } of drafts) {
    const tables = bySource.get(collection.source) ?? new Map<string, Collection>();
    bySource.set(collection.source, tables.set(table.name, collection));
  }
  return bySource;
}

/** Foreign keys stay within their source. */
function linkRelations(drafts: readonly CollectionDraft[], tables: Tables): void {
  const references: Reference[] = [];
  for (const { table, collection } of drafts)
    for (const foreignKey of table.foreignKeys) {
      const found = findReference(collection, tables.get(collection.source)?.get(foreignKey.table), foreignKey);
      if (found) references.push(found);
    }
  const { relations, better } = buildRelations(references);
  for (const draft of drafts)
    for (const relation of relations.get(draft.collection) ?? [])
      addForeignKey(draft, relation, better.get(draft.collection)?.get(relation.name));
}

/** Foreign keys without a delete or update action change no records, so they are skipped. */
function linkIncoming(drafts: readonly CollectionDraft[], tables: Tables): void {
  for (const { table, collection, incoming } of drafts)
    for (const reference of table.referencedBy ?? []) {
      if (reference.onDelete === 'none' && reference.onUpdate === 'none') continue;
      const referencing = reference.table === null ? undefined : tables.get(collection.source)?.get(reference.table);
      incoming.push(
        Object.freeze({
          from: referencing ? toReferencingCollection(referencing, collection, reference) : null,
          reference,
        }),
      );
    }
}

function declareRelations(drafts: readonly CollectionDraft[], warn: (problem: string) => void): void {
  const collections = new Map(drafts.map(({ name, collection }) => [name, collection]));
  for (const draft of drafts)
    for (const declared of draft.customizations.relations) {
      if (draft.internalFields.has(declared.name))
        failMisuse(`The collection '${draft.name}' already has a field '${declared.name}'`, declared.at);
      addRelation(draft, declared.name, buildDeclaredRelation(draft.collection, declared, collections, warn));
    }
}

/**
 * Adds the relation under its derived name for code, and under its better name for callers. Code can override both:
 * with a relation of that name, or by renaming or removing a field.
 */
function addForeignKey(draft: CollectionDraft, relation: Relation, better: string | undefined): void {
  const { internalFields, customizations } = draft;
  const { name } = relation;
  const isUsed =
    better === undefined ||
    customizations.added.has(better) ||
    customizations.relations.some((declared) => declared.name === better) ||
    [...customizations.renames.values()].some(({ to }) => to === better);
  if (isUsed) {
    addRelation(draft, name, relation);
    return;
  }
  // Code may rename or remove it by either name.
  moveKey(customizations.renames, better, name);
  moveKey(customizations.removed, better, name);
  moveKey(customizations.trustedKeys, better, name);
  moveKey(customizations.fieldMeanings, better, name);
  const isRenamed = customizations.renames.has(name);
  const published = {
    ...relation,
    ...meaningOf(customizations.fieldMeanings.get(name)?.meaning, undefined),
    name: isRenamed ? publishedNameOf(customizations, name) : better,
    ...(!isRenamed && { formerly: name }),
    ...(customizations.trustedKeys.has(name) && { isComplete: true as const }),
  };
  const added = Object.freeze(published);
  internalFields.set(name, added);
  internalFields.addUnlisted(better, added);
}

function moveKey<V>(entries: Map<string, V>, from: string, to: string): void {
  const value = entries.get(from);
  if (value === undefined) return;
  entries.delete(from);
  if (!entries.has(to)) entries.set(to, value);
}

function addRelation(
  { internalFields, customizations }: CollectionDraft,
  name: string,
  relation: Omit<Relation, 'name'>,
): void {
  const isWritten = customizations.nestedWrites.has(name);
  const isComplete = customizations.trustedKeys.has(name);
  internalFields.set(
    name,
    Object.freeze({
      ...relation,
      ...meaningOf(customizations.fieldMeanings.get(name)?.meaning, undefined),
      name: publishedNameOf(customizations, name),
      ...(isWritten && { isWritten }),
      ...(isComplete && { isComplete }),
    }),
  );
}

function flattenDeclared(drafts: readonly CollectionDraft[]): void {
  const builds = new Map(drafts.map((draft) => [draft.collection, draft]));
  flattenFields(drafts, (relation) => builds.get(relation.to)!);
}

function addDeclaredFields(drafts: readonly CollectionDraft[]): void {
  const builds = new Map(drafts.map((draft) => [draft.collection, draft]));
  addFields(drafts, (relation) => builds.get(relation.to)!);
}

/** Lists the fields of callers: without removed fields, and without relations through removed parts. */
function publish(drafts: readonly CollectionDraft[]): void {
  for (const { name: collection, internalFields, publishedFields: published, customizations } of drafts) {
    const seen = new Map<string, string>();
    const shown = [...internalFields].filter(([name, field]) =>
      isPublished(customizations, name, field, internalFields),
    );
    // Columns first, then added fields, then relations.
    shown.sort(([, a], [, b]) => Number(a.kind !== 'column') - Number(b.kind !== 'column'));
    for (const [name, field] of shown) {
      const other = seen.get(field.name);
      if (other !== undefined) {
        const { at } = customizations.renames.get(name) ?? customizations.renames.get(other)!;
        failMisuse(`Both '${other}' and '${name}' of '${collection}' would have the name '${field.name}'`, at);
      }
      seen.set(field.name, name);
      published.set(field.name, field);
      if (field.kind !== 'column' && field.formerly !== undefined) published.addUnlisted(field.formerly, field);
    }
  }
}

function isPublished(
  { removed }: CollectionCustomizations,
  name: string,
  field: Field,
  internalFields: ReadonlyMap<string, Field>,
): boolean {
  if (removed.has(name)) return false;
  if (field.kind === 'column') return true;
  const isRemoved = (column: Column) => [...removed.keys()].some((each) => internalFields.get(each) === column);
  if (field.recordsColumn) return true;
  return (
    field.to.isPublished &&
    (field.inverse ||
      ![...field.on.map(({ from }) => from), ...(field.only ? [field.only.column] : [])].some(isRemoved))
  );
}

function freezeModel(drafts: readonly CollectionDraft[]): Model {
  const all = drafts.map(({ collection }) => collection);
  const byName = (collections: readonly Collection[]) => new Map(collections.map((each) => [each.name, each]));
  return Object.freeze({
    collections: byName(all.filter((each) => each.isPublished)),
    internalCollections: byName(all),
  });
}
