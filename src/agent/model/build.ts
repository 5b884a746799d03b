// From what the sources hold, and what code says about it, to the frozen Model, in passes that are listed in one place
// and each do one thing.
import { fail } from '../../core/errors.ts';
import type { Operator } from '../../core/filter.ts';
import type { Observe } from '../../core/observe.ts';
import type { Customizations, Said } from '../customize/definitions.ts';
import type { Hooks } from '../customize/hooks.ts';
import type { Described, DescribedColumn, DescribedTable, Source } from '../sources/source.ts';
import { addFields, type Home } from './added.ts';
import { buildDeclared } from './declared.ts';
import { buildColumns, type ColumnWishes, keyOf } from './fields.ts';
import { flattenFields } from './flatten.ts';
import { decidedHere, operatorsFor, type Patches, solveOperators } from './operators.ts';
import { buildRelations, findReference, type Reference } from './relations.ts';
import { checkSorts } from './sorts.ts';
import type { Collection, Column, Field, FieldRule, Model, Relation, Replacement } from './types.ts';
import {
  checkWishes,
  gatherWishes,
  misuse,
  noWishes,
  publishedName,
  unknownName,
  type Validation,
  type Wishes,
} from './wishes.ts';

interface Draft extends Home {
  readonly table: DescribedTable;
  readonly collection: Collection;
  /** The map that `collection.fields` shows. */
  readonly published: Map<string, Field>;
}

/** CONFIGURATION, with the user's file and line, when what was said does not fit what the sources hold. */
export function buildModel(chosen: readonly ChosenTable[], said: Said): Model {
  const drafts = draftCollections(chosen, said);
  linkRelations(drafts);
  declareRelations(drafts);
  flattenDeclared(drafts);
  addDeclaredFields(drafts);
  for (const { name, wishes, inside } of drafts) checkWishes(name, wishes, inside);
  checkSorts(drafts);
  publish(drafts);
  return freeze(drafts);
}

/** Asks the sources what they hold: the tables that are wanted, by the names that collections will have. */
export async function chooseTables(
  sources: readonly Source[],
  observe: Observe,
  tables: Customizations['tables'] = new Map(),
): Promise<readonly ChosenTable[]> {
  return selectTables(await describeSources(sources, observe), tables);
}

async function describeSources(
  sources: readonly Source[],
  observe: Observe,
): Promise<readonly (readonly [Source, Described])[]> {
  const all = await Promise.all(sources.map(async (source) => [source, await source.describe()] as const));
  for (const [source, { skipped }] of all)
    for (const { table, column, reason } of skipped)
      observe({
        type: 'warning',
        message: `${source.name}: ${column ? `column '${column}' of '${table}'` : `'${table}'`} is not served: ${reason}`,
      });
  for (const [source, { tables }] of all) tellKeys(source, tables, observe);
  return all;
}

/** A key that was guessed, or is not there, decides how records are told apart: the operator is told. */
function tellKeys({ name }: Source, tables: readonly DescribedTable[], observe: Observe): void {
  const unsure = tables.filter(({ primaryKey }) => primaryKey.length === 0);
  if (unsure.length === 0) return;
  const keys = unsure.map((table) => [table.name, keyOf(table)] as const);
  observe({
    type: 'source.keys',
    source: name,
    guessed: keys.flatMap(([table, key]) => (key.length ? [`${table} (${key.join(', ')})`] : [])),
    without: keys.flatMap(([table, key]) => (key.length ? [] : [table])),
  });
}

export interface ChosenTable {
  readonly source: Source;
  readonly table: DescribedTable;
  /** Of the collection. */
  readonly name: string;
  /** Where the source was added. */
  readonly at?: string;
}

function selectTables(
  described: readonly (readonly [Source, Described])[],
  said: Customizations['tables'],
): ChosenTable[] {
  return described.flatMap(([source, { tables }]) => {
    const wanted = said.get(source);
    if (!wanted) return tables.map((table) => ({ source, table, name: table.name }));
    const { include, exclude = [], rename = {} } = wanted.options;
    const names = tables.map((table) => table.name);
    for (const name of [...(include ?? []), ...exclude, ...Object.keys(rename)])
      if (!names.includes(name)) unknownName(`${source.name} holds no '${name}'`, name, names, wanted.at);
    return tables
      .filter(({ name }) => (!include || include.includes(name)) && !exclude.includes(name))
      .map((table) => ({ source, table, name: rename[table.name] ?? table.name, at: wanted.at }));
  });
}

function draftCollections(chosen: readonly ChosenTable[], { recorded, removed }: Said): readonly Draft[] {
  const drafts = new Map<string, Draft>();
  const wishes = gatherWishes(recorded);
  const hidden = new Set(removed.map(({ collection }) => collection));
  for (const each of chosen) {
    const other = drafts.get(each.name)?.collection.source;
    if (other)
      fail('CONFIGURATION', {
        problem: `The collection '${each.name}' is published by both '${other.name}' and '${each.source.name}'. Rename one of them.${each.at ? ` (${each.at})` : ''}`,
      });
    drafts.set(each.name, draftCollection(each, wishes.get(each.name) ?? noWishes(), !hidden.has(each.name)));
  }
  for (const [name, { at }] of [...wishes, ...removed.map(({ collection, at }) => [collection, { at }] as const)])
    if (!drafts.has(name)) unknownName(`There is no collection '${name}'`, name, drafts.keys(), at);
  return [...drafts.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function draftCollection({ source, table, name }: ChosenTable, wishes: Wishes, isPublished: boolean): Draft {
  const wishesFor = (column: DescribedColumn) => columnWishes(wishes, column);
  // By the name in the database, which is the name inside.
  const columns = new Map(buildColumns(table, wishesFor).map((column) => [column.column, column]));
  const pick = (names: readonly string[]): readonly Column[] => Object.freeze(names.map((name) => columns.get(name)!));
  const served = (names: readonly string[]): boolean => names.length > 0 && names.every((name) => columns.has(name));
  const inside = new Map<string, Field>(columns);
  const published = new Map<string, Field>();
  const key = keyOf(table);
  const { segments, search, countable, hooks, overrides } = wishes;
  const collection: Collection = Object.freeze({
    name,
    source,
    table: table.name,
    kind: table.kind,
    key: served(key) ? pick(key) : Object.freeze([]),
    uniqueKeys: Object.freeze([table.primaryKey, ...table.uniqueKeys].filter(served).map(pick)),
    fields: published,
    inside,
    published: isPublished,
    // Gathered by position and type, so that each takes the context that it is called with.
    rules: Object.freeze({ segments, search, countable, hooks: hooks as unknown as Hooks, overrides }),
  });
  const keyNames = collection.key.map(({ column }) => column);
  return { name, key: keyNames, table, collection, inside, published, wishes, wishesFor };
}

function columnWishes(wishes: Wishes, { name, type }: DescribedColumn): ColumnWishes {
  const order = wishes.sorts.get(name)?.by;
  const operators = wishes.operators.get(name);
  const binary = wishes.binaryModes.get(name);
  const writing = wishes.writings.get(name);
  const validations = wishes.validations.get(name);
  return {
    name: publishedName(wishes, name),
    nullable: wishes.nullable.has(name),
    ...(order !== undefined && { order }),
    ...(binary && { binary: binary.mode }),
    ...(operators && { patches: patchesFor(name, type, operators) }),
    ...(writing && { writing }),
    ...(validations && { rules: validations.map((validation) => buildRule(name, type, validation)) }),
  };
}

function buildRule(name: string, type: DescribedColumn['type'], validation: Validation): FieldRule {
  const allowed = operatorsFor(type);
  const answer = solveOperators(type, new Set(allowed)).get(validation.operator);
  if (answer) return Object.freeze({ ...validation, answer });
  const near = `Allowed: ${allowed.join(', ')}`;
  return misuse(`'${validation.operator}' cannot check '${name}', which is ${type}. ${near}`, validation.at);
}

function patchesFor(
  name: string,
  type: DescribedColumn['type'],
  { answers, rest }: NonNullable<ReturnType<Wishes['operators']['get']>>,
): Patches {
  const found = new Map<Operator, 'here' | Replacement>();
  const allowed = operatorsFor(type);
  for (const [operator, { by, at }] of answers) {
    if (!allowed.includes(operator))
      misuse(`'${operator}' is not for '${name}', which is ${type}. Allowed: ${allowed.join(', ')}`, at);
    if (by !== 'here') {
      found.set(operator, by);
      continue;
    }
    const decided =
      decidedHere(operator) ?? misuse(`'${operator}' cannot be emulated: give it a replaceFieldOperator`, at);
    for (const each of decided) if (!answers.has(each) || each === operator) found.set(each, 'here');
  }
  return { answers: found, rest: rest !== undefined };
}

/** Foreign keys never leave their source. */
function linkRelations(drafts: readonly Draft[]): void {
  const bySource = new Map<Source, Map<string, Collection>>();
  for (const { table, collection } of drafts) {
    const tables = bySource.get(collection.source) ?? new Map<string, Collection>();
    bySource.set(collection.source, tables.set(table.name, collection));
  }
  const references: Reference[] = [];
  for (const { table, collection } of drafts)
    for (const foreignKey of table.foreignKeys) {
      const found = findReference(collection, bySource.get(collection.source)?.get(foreignKey.table), foreignKey);
      if (found) references.push(found);
    }
  const relations = buildRelations(references);
  for (const draft of drafts)
    for (const relation of relations.get(draft.collection) ?? []) addRelation(draft, relation.name, relation);
}

function declareRelations(drafts: readonly Draft[]): void {
  const collections = new Map(drafts.map(({ name, collection }) => [name, collection]));
  for (const draft of drafts)
    for (const declared of draft.wishes.relations) {
      if (draft.inside.has(declared.name))
        misuse(`The collection '${draft.name}' has a field '${declared.name}' already`, declared.at);
      addRelation(draft, declared.name, buildDeclared(draft.collection, declared, collections));
    }
}

function addRelation({ inside, wishes }: Draft, name: string, relation: Omit<Relation, 'name'>): void {
  inside.set(name, Object.freeze({ ...relation, name: publishedName(wishes, name) }));
}

function flattenDeclared(drafts: readonly Draft[]): void {
  const homes = new Map(drafts.map((draft) => [draft.collection, draft]));
  flattenFields(drafts, (relation) => homes.get(relation.to)!);
}

function addDeclaredFields(drafts: readonly Draft[]): void {
  const homes = new Map(drafts.map((draft) => [draft.collection, draft]));
  addFields(drafts, (relation) => homes.get(relation.to)!);
}

/** What callers see: without what was removed, and without relations that it would take to follow. */
function publish(drafts: readonly Draft[]): void {
  for (const { name: collection, inside, published, wishes } of drafts) {
    const seen = new Map<string, string>();
    const shown = [...inside].filter(([name, field]) => isShown(wishes, name, field, inside));
    // Columns first, then what was added, then relations.
    shown.sort(([, a], [, b]) => Number(a.kind !== 'column') - Number(b.kind !== 'column'));
    for (const [name, field] of shown) {
      const other = seen.get(field.name);
      if (other !== undefined) {
        const { at } = wishes.renames.get(name) ?? wishes.renames.get(other)!;
        misuse(`Both '${other}' and '${name}' of '${collection}' would be called '${field.name}'`, at);
      }
      seen.set(field.name, name);
      published.set(field.name, field);
    }
  }
}

function isShown({ removed }: Wishes, name: string, field: Field, inside: ReadonlyMap<string, Field>): boolean {
  if (removed.has(name)) return false;
  if (field.kind === 'column') return true;
  const gone = (column: Column) => [...removed.keys()].some((each) => inside.get(each) === column);
  if (field.given) return true;
  return (
    field.to.published &&
    (field.inverse || ![...field.on.map(({ from }) => from), ...(field.only ? [field.only.column] : [])].some(gone))
  );
}

function freeze(drafts: readonly Draft[]): Model {
  const all = drafts.map(({ collection }) => collection);
  const byName = (collections: readonly Collection[]) => new Map(collections.map((each) => [each.name, each]));
  return Object.freeze({ collections: byName(all.filter((each) => each.published)), inside: byName(all) });
}
