// From what the sources hold, and what code says about it, to the frozen Model, in passes that are listed in one place
// and each do one thing.
import { fail } from '../../core/errors.ts';
import type { Operator } from '../../core/filter.ts';
import type { Observe } from '../../core/observe.ts';
import type { Customizations } from '../customize/definitions.ts';
import type { Described, DescribedColumn, DescribedTable, Source } from '../sources/source.ts';
import { addFields, type Home } from './added.ts';
import { buildDeclared } from './declared.ts';
import { buildColumns, type ColumnWishes, keyOf } from './fields.ts';
import { decidedHere, operatorsFor, type Patches } from './operators.ts';
import { buildRelations, findReference, type Reference } from './relations.ts';
import { checkSorts } from './sorts.ts';
import type { Collection, Column, Field, Model, Relation, Replacement } from './types.ts';
import { checkWishes, gatherWishes, misuse, noWishes, publishedName, unknownName, type Wishes } from './wishes.ts';

interface Draft extends Home {
  readonly table: DescribedTable;
  readonly collection: Collection;
  /** The map that `collection.fields` shows. */
  readonly published: Map<string, Field>;
}

const nothingSaid: Customizations = { recorded: [], removed: [], tables: new Map() };

/** CONFIGURATION, with the user's file and line, when the customizations do not fit what the sources hold. */
export async function buildModel(
  sources: readonly Source[],
  observe: Observe,
  said: Customizations = nothingSaid,
): Promise<Model> {
  const described = await describeSources(sources, observe);
  const drafts = draftCollections(selectTables(described, said), said);
  linkRelations(drafts);
  declareRelations(drafts);
  addDeclaredFields(drafts);
  for (const { name, wishes, inside } of drafts) checkWishes(name, wishes, inside);
  checkSorts(drafts);
  publish(drafts);
  return freeze(drafts);
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
  return all;
}

interface Chosen {
  readonly source: Source;
  readonly table: DescribedTable;
  readonly name: string;
}

/** The tables that are wanted, by the names that collections will have. */
function selectTables(
  described: readonly (readonly [Source, Described])[],
  { tables: said }: Customizations,
): Chosen[] {
  return described.flatMap(([source, { tables }]) => {
    const wanted = said.get(source);
    if (!wanted) return tables.map((table) => ({ source, table, name: table.name }));
    const { include, exclude = [], rename = {} } = wanted.options;
    const names = tables.map((table) => table.name);
    for (const name of [...(include ?? []), ...exclude, ...Object.keys(rename)])
      if (!names.includes(name)) unknownName(`${source.name} holds no '${name}'`, name, names, wanted.at);
    return tables
      .filter(({ name }) => (!include || include.includes(name)) && !exclude.includes(name))
      .map((table) => ({ source, table, name: rename[table.name] ?? table.name }));
  });
}

function draftCollections(chosen: readonly Chosen[], { recorded, removed }: Customizations): readonly Draft[] {
  const drafts = new Map<string, Draft>();
  const wishes = gatherWishes(recorded);
  const hidden = new Set(removed.map(({ collection }) => collection));
  for (const each of chosen) {
    const other = drafts.get(each.name)?.collection.source;
    if (other)
      fail('CONFIGURATION', {
        problem: `The collection '${each.name}' is published by both '${other.name}' and '${each.source.name}'. Rename one of them.`,
      });
    drafts.set(each.name, draftCollection(each, wishes.get(each.name) ?? noWishes(), !hidden.has(each.name)));
  }
  for (const [name, { at }] of [...wishes, ...removed.map(({ collection, at }) => [collection, { at }] as const)])
    if (!drafts.has(name)) unknownName(`There is no collection '${name}'`, name, drafts.keys(), at);
  return [...drafts.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function draftCollection({ source, table, name }: Chosen, wishes: Wishes, isPublished: boolean): Draft {
  const wishesFor = (column: DescribedColumn) => columnWishes(wishes, column);
  // By the name in the database, which is the name inside.
  const columns = new Map(buildColumns(table, wishesFor).map((column) => [column.column, column]));
  const pick = (names: readonly string[]): readonly Column[] => Object.freeze(names.map((name) => columns.get(name)!));
  const served = (names: readonly string[]): boolean => names.length > 0 && names.every((name) => columns.has(name));
  const inside = new Map<string, Field>(columns);
  const published = new Map<string, Field>();
  const key = keyOf(table);
  const { segments, search, countable, beforeList, afterList } = wishes;
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
    rules: Object.freeze({ segments, search, countable, hooks: Object.freeze({ beforeList, afterList }) }),
  });
  return { name, table, collection, inside, published, wishes, wishesFor };
}

function columnWishes(wishes: Wishes, { name, type }: DescribedColumn): ColumnWishes {
  const order = wishes.sorts.get(name)?.by;
  const operators = wishes.operators.get(name);
  return {
    name: publishedName(wishes, name),
    nullable: wishes.nullable.has(name),
    ...(order !== undefined && { order }),
    ...(operators && { patches: patchesFor(name, type, operators) }),
  };
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
  return field.to.published && (field.inverse || !field.on.some(({ from }) => gone(from)));
}

function freeze(drafts: readonly Draft[]): Model {
  const all = drafts.map(({ collection }) => collection);
  const byName = (collections: readonly Collection[]) => new Map(collections.map((each) => [each.name, each]));
  return Object.freeze({ collections: byName(all.filter((each) => each.published)), inside: byName(all) });
}
