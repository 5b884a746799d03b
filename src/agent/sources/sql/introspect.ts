// What the database holds, from its catalogue: a handful of statements for all tables together, never one for each.
// A dialect reads its catalogue into facts (introspect-*.ts); here the facts become the description.
import type { Collation, Described, DescribedColumn, DescribedForeignKey, DescribedTable } from '../source.ts';
import type { Codec } from './codec.ts';

export type Catalogue = (sql: string) => Promise<Record<string, unknown>[]>;

export interface ColumnFacts {
  readonly table: string;
  readonly name: string;
  /** undefined when values of the type cannot be served. */
  readonly codec: Codec | undefined;
  readonly nativeType: string;
  readonly nullable: boolean;
  readonly readOnly: boolean;
  readonly hasDefault: boolean;
  readonly enumValues?: readonly string[];
  readonly collation: Collation;
}

/** A table in the database; its name in the source may have the schema before it. */
export interface Place {
  /** Where it is not that of the connection. */
  readonly schema?: string;
  readonly name: string;
}

export interface Facts {
  readonly tables: readonly { readonly name: string; readonly kind: 'table' | 'view'; readonly place?: Place }[];
  readonly columns: readonly ColumnFacts[];
  /** One for each key column, in key order. */
  readonly keys: readonly { table: string; key: string; primary: boolean; column: string | null }[];
  readonly foreignKeys: readonly {
    table: string;
    columns: readonly string[];
    /** null when it lies elsewhere; `why` says where. */
    target: string | null;
    targetColumns: readonly string[];
    why?: string;
  }[];
  readonly skipped: Described['skipped'];
  /** Of the family of MySQL, which differ in what they give back. */
  readonly isMariadb?: boolean;
}

export interface Introspection {
  readonly described: Described;
  readonly codecs: ReadonlyMap<string, ReadonlyMap<string, Codec>>;
}

export function assemble(facts: Facts): Introspection {
  const skipped = [...facts.skipped];
  const codecs = new Map<string, Map<string, Codec>>();
  const columns = new Map<string, DescribedColumn[]>();
  for (const column of facts.columns) {
    const { codec, table } = column;
    if (!codec) {
      skipped.push({ table, column: column.name, reason: `values of the type ${column.nativeType} cannot be served` });
      continue;
    }
    mapOf(codecs, table).set(column.name, codec);
    listOf(columns, table).push(describeColumn(column, codec));
  }
  const served = (table: string, names: readonly (string | null)[]): names is readonly string[] =>
    names.every((name) => name !== null && codecs.get(table)?.has(name));

  const keys = keysOf(facts);
  const foreignKeys = new Map<string, DescribedForeignKey[]>();
  for (const { table, columns: own, target, targetColumns, why } of facts.foreignKeys) {
    const reason =
      target === null || !columns.has(target)
        ? (why ?? `its target ${target} is not served`)
        : served(table, own) && served(target, targetColumns)
          ? undefined
          : 'a column of it is not served';
    if (reason) skipped.push({ table, reason: `the foreign key (${own.join(', ')}) is left out: ${reason}` });
    else listOf(foreignKeys, table).push({ columns: own, table: target!, targetColumns });
  }

  const tables: DescribedTable[] = [];
  for (const { name, kind } of facts.tables) {
    const own = columns.get(name);
    if (!own) {
      skipped.push({ table: name, reason: 'it has no column that can be served' });
      continue;
    }
    const usable = (keys.get(name) ?? []).filter((key) => served(name, key.columns));
    tables.push({
      name,
      kind,
      columns: own,
      primaryKey: (usable.find((key) => key.primary)?.columns ?? []) as string[],
      uniqueKeys: usable.filter((key) => !key.primary).map((key) => key.columns as string[]),
      foreignKeys: foreignKeys.get(name) ?? [],
    });
  }
  return { described: { tables, skipped }, codecs };
}

function describeColumn(column: ColumnFacts, codec: Codec): DescribedColumn {
  const { name, nativeType, nullable, readOnly, hasDefault, enumValues, collation } = column;
  return {
    name,
    type: codec.type,
    nativeType,
    nullable,
    readOnly,
    hasDefault,
    ...(enumValues ? { enumValues } : {}),
    collation,
    operators: codec.operators,
    sortable: codec.sortable,
  };
}

interface Key {
  readonly primary: boolean;
  readonly columns: (string | null)[];
}

/** A key over an expression has a null among its columns, and is not served. */
function keysOf(facts: Facts): Map<string, Key[]> {
  const byName = new Map<string, Key>();
  const byTable = new Map<string, Key[]>();
  for (const { table, key, primary, column } of facts.keys) {
    const id = JSON.stringify([table, key]);
    let found = byName.get(id);
    if (!found) {
      found = { primary, columns: [] };
      byName.set(id, found);
      listOf(byTable, table).push(found);
    }
    found.columns.push(column);
  }
  return byTable;
}

export function listOf<K, V>(lists: Map<K, V[]>, key: K): V[] {
  let list = lists.get(key);
  if (!list) {
    list = [];
    lists.set(key, list);
  }
  return list;
}

function mapOf<K, V>(maps: Map<K, Map<string, V>>, key: K): Map<string, V> {
  let map = maps.get(key);
  if (!map) {
    map = new Map();
    maps.set(key, map);
  }
  return map;
}
