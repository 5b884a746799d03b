// Relations to records from code. A list of the parent reads them as one column with all related records. A list from
// one parent treats them as a collection over arrays.
import type { ExternalRelationDefinition } from '../customize/definitions.ts';
import type { Hooks } from '../customize/hooks.ts';
import type { ColumnType } from '../sources/column-types.ts';
import { createMemorySource, describeTables } from '../sources/memory/source.ts';
import type { MemoryColumn } from '../sources/memory/tables.ts';
import { createCollectionCustomizations, failMisuse } from './customizations.ts';
import { buildColumn, buildColumns, describeColumn } from './fields.ts';
import type { Collection, Column, Dependency, External, Field, Relation } from './types.ts';

/** Databases do not allow NUL in a name, so this name is unique. */
const INDEX_COLUMN = '\0place';

interface ExternalParts {
  readonly collectionName: string;
  /** The original name; `published` is the name for callers. */
  readonly name: string;
  readonly published: string;
  readonly definition: ExternalRelationDefinition;
  /** The fields of a record, by name. */
  readonly types: ReadonlyMap<string, ColumnType>;
  readonly dependencies: readonly Dependency[];
  readonly at: string;
}

export function buildExternal(parts: ExternalParts): Relation {
  const { collectionName: home, name, published, definition, dependencies: needs, types, at } = parts;
  if (needs.length === 0)
    failMisuse(`'${home}' has no key: list the fields that '${name}' needs in 'dependencies'`, at);
  const { collection, columns } = buildRecordCollection(
    `${home}.${name}`,
    [...types].map(([field, type]) => ({ name: field, type })),
  );
  const external: External = Object.freeze({
    what: `the relation '${name}' of '${home}'`,
    at,
    list: definition.listRecords,
    collection,
    columns,
  });
  const source = Object.freeze({
    dependencies: Object.freeze(needs),
    at,
    external,
    definition: { columnType: 'Json' as const, dependencies: [], getValues: () => [] },
  });
  return Object.freeze({
    kind: 'many',
    name: published,
    to: collection,
    on: Object.freeze([]),
    inverse: true,
    reach: 'call',
    enforced: false,
    recordsColumn: buildColumn(describeColumn(name, 'Json'), false, { name: published, nullable: true }, source),
  });
}

/** A collection of records that are not in a database. Its columns precede a key that no caller sees. */
export function buildRecordCollection(
  label: string,
  fields: readonly Pick<MemoryColumn, 'name' | 'type' | 'collation' | 'decimals'>[],
): {
  readonly collection: Collection;
  readonly columns: readonly Column[];
} {
  const table = {
    name: label,
    columns: [
      ...fields.map((field) => ({ ...field, nullable: true })),
      { name: INDEX_COLUMN, type: 'Number' as const },
    ],
    primaryKey: [INDEX_COLUMN],
    rows: [],
  };
  const [described] = describeTables([table]);
  const all = buildColumns(described!, (column) => ({ name: column.name, nullable: column.nullable }));
  const columns = Object.freeze(all.slice(0, -1));
  const { segments, metrics, search, countable, hooks, overrides } = createCollectionCustomizations();
  const collection: Collection = Object.freeze({
    name: label,
    source: createMemorySource(label, [table]),
    table: label,
    kind: 'view',
    readOnly: 'its records come from code.',
    key: Object.freeze(all.slice(-1)),
    uniqueKeys: Object.freeze([]),
    indexes: undefined,
    referencedBy: Object.freeze([]),
    triggers: Object.freeze([]),
    fields: new Map<string, Field>(columns.map((column) => [column.name, column])),
    internalFields: new Map<string, Field>(all.map((column) => [column.name, column])),
    isPublished: false,
    isExternal: true,
    rules: Object.freeze({ segments, metrics, search, countable, hooks: hooks as unknown as Hooks, overrides }),
  });
  return { collection, columns };
}
