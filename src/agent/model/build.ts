// From what the sources hold to the frozen Model, in passes that are listed in one place and each do one thing.
import { fail } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';
import type { Described, DescribedTable, Source } from '../sources/source.ts';
import { buildColumns, keyOf } from './fields.ts';
import { buildRelations, findReference, type Reference } from './relations.ts';
import type { Collection, Column, Field, Model } from './types.ts';

interface Draft {
  readonly table: DescribedTable;
  readonly collection: Collection;
  /** The map that `collection.fields` shows. */
  readonly fields: Map<string, Field>;
}

/** CONFIGURATION when two sources publish the same name. */
export async function buildModel(sources: readonly Source[], observe: Observe): Promise<Model> {
  const described = await describeSources(sources, observe);
  const drafts = draftCollections(described);
  linkRelations(drafts);
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

function draftCollections(described: readonly (readonly [Source, Described])[]): readonly Draft[] {
  const drafts = new Map<string, Draft>();
  for (const [source, { tables }] of described)
    for (const table of tables) {
      const other = drafts.get(table.name)?.collection.source;
      if (other)
        fail('CONFIGURATION', {
          problem: `The collection '${table.name}' is published by both '${other.name}' and '${source.name}'. Rename one of them.`,
        });
      drafts.set(table.name, draftCollection(source, table));
    }
  return [...drafts.values()].sort((a, b) => (a.table.name < b.table.name ? -1 : 1));
}

function draftCollection(source: Source, table: DescribedTable): Draft {
  const columns = new Map(buildColumns(table).map((column) => [column.name, column]));
  const pick = (names: readonly string[]): readonly Column[] => Object.freeze(names.map((name) => columns.get(name)!));
  const served = (names: readonly string[]): boolean => names.length > 0 && names.every((name) => columns.has(name));
  const fields = new Map<string, Field>(columns);
  const key = keyOf(table);
  const collection: Collection = Object.freeze({
    name: table.name,
    source,
    table: table.name,
    kind: table.kind,
    key: served(key) ? pick(key) : Object.freeze([]),
    uniqueKeys: Object.freeze([table.primaryKey, ...table.uniqueKeys].filter(served).map(pick)),
    fields,
  });
  return { table, collection, fields };
}

/** Foreign keys never leave their source. */
function linkRelations(drafts: readonly Draft[]): void {
  const collections = new Map(drafts.map(({ collection }) => [collection.name, collection]));
  const references: Reference[] = [];
  for (const { table, collection } of drafts)
    for (const foreignKey of table.foreignKeys) {
      const target = collections.get(foreignKey.table);
      const found = findReference(collection, target?.source === collection.source ? target : undefined, foreignKey);
      if (found) references.push(found);
    }
  const relations = buildRelations(references);
  for (const { collection, fields } of drafts)
    for (const relation of relations.get(collection) ?? []) fields.set(relation.name, relation);
}

function freeze(drafts: readonly Draft[]): Model {
  return Object.freeze({ collections: new Map(drafts.map(({ collection }) => [collection.name, collection])) });
}
