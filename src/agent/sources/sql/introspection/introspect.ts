// Reads the catalogue of a database in a handful of statements for all tables together, never one for each table. Each
// dialect reads its catalogue into facts (introspect.ts in its folder); this module turns the facts into the
// description.
import type { Collation } from '../../column-types.ts';
import type { Described, DescribedColumn, DescribedForeignKey, DescribedTable } from '../../described.ts';
import type { Codec } from '../codec.ts';

/** Runs a statement on the catalogue. `Row` has the columns that the statement selects. */
export type Catalogue = <Row = Record<string, unknown>>(sql: string) => Promise<Row[]>;

export interface ColumnFacts {
  readonly table: string;
  readonly name: string;
  /** undefined if values of the type cannot be served. */
  readonly codec: Codec | undefined;
  readonly nativeType: string;
  readonly nullable: boolean;
  readonly readOnly: boolean;
  readonly hasDefault: boolean;
  readonly enumValues?: readonly string[];
  readonly collation: Collation;
}

/** The location of a table in the database. Its name in the source may include the schema. */
export interface TableLocation {
  /** Absent for the connection's own schema. */
  readonly schema?: string;
  readonly name: string;
  /** Whether this is the connection's own schema, where known. */
  readonly isCurrent?: boolean;
}

export interface Facts {
  readonly tables: readonly {
    readonly name: string;
    readonly kind: 'table' | 'view';
    readonly place?: TableLocation;
  }[];
  readonly columns: readonly ColumnFacts[];
  /** One entry for each key column, in key order. */
  readonly keys: readonly { table: string; key: string; primary: boolean; column: string | null }[];
  readonly foreignKeys: readonly {
    table: string;
    columns: readonly string[];
    /** null if the target is outside the served schemas; `why` gives the reason. */
    target: string | null;
    targetColumns: readonly string[];
    why?: string;
  }[];
  readonly skipped: Described['skipped'];
  readonly warnings?: NonNullable<Described['warnings']>;
  /** Tables without rollback: the reason and the remedy. Dry runs and approvals depend on it. */
  readonly withoutRollback?: ReadonlyMap<string, string>;
  /** MariaDB and MySQL support different RETURNING clauses. */
  readonly isMariadb?: boolean;
}

export interface Introspection {
  readonly described: Described;
  readonly codecs: ReadonlyMap<string, ReadonlyMap<string, Codec>>;
}

/** `zoneOf`: the timezone of a column of timestamps without zone. */
export function assembleIntrospection(facts: Facts, zoneOf: (table: string, column: string) => string): Introspection {
  const skipped = [...facts.skipped];
  const codecs = new Map<string, Map<string, Codec>>();
  const columns = new Map<string, DescribedColumn[]>();
  for (const column of facts.columns) {
    const { table } = column;
    const timezone = column.codec?.inZone && zoneOf(table, column.name);
    const codec = timezone === undefined ? column.codec : column.codec!.inZone!(timezone);
    if (!codec) {
      skipped.push({ table, column: column.name, reason: `the type ${column.nativeType} is not supported` });
      continue;
    }
    mapAt(codecs, table).set(column.name, codec);
    listAt(columns, table).push({ ...describeColumn(column, codec), ...(timezone && { timezone }) });
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
          : 'one of its columns is not served';
    if (reason) skipped.push({ table, reason: `the foreign key (${own.join(', ')}) is left out: ${reason}` });
    else listAt(foreignKeys, table).push({ columns: own, table: target!, targetColumns });
  }

  const tables: DescribedTable[] = [];
  const warnings = [...(facts.warnings ?? [])];
  for (const { name, kind } of facts.tables) {
    const own = columns.get(name);
    if (!own) {
      skipped.push({ table: name, reason: 'it has no column that can be served' });
      continue;
    }
    const usable = (keys.get(name) ?? []).filter((key) => served(name, key.columns));
    const readOnly = facts.withoutRollback?.get(name);
    if (readOnly) warnings.push({ table: name, problem: `is read-only: ${readOnly}` });
    tables.push({
      name,
      kind,
      ...(readOnly && { readOnly }),
      columns: own,
      primaryKey: (usable.find((key) => key.primary)?.columns ?? []) as string[],
      uniqueKeys: usable.filter((key) => !key.primary).map((key) => key.columns as string[]),
      foreignKeys: foreignKeys.get(name) ?? [],
    });
  }
  return { described: { tables, skipped, warnings }, codecs };
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
    collation: codec.collation ?? collation,
    operators: codec.operators,
    sortable: codec.sortable,
  };
}

interface Key {
  readonly primary: boolean;
  readonly columns: (string | null)[];
}

/** A key over an expression has a null among its columns and is filtered out later. */
function keysOf(facts: Facts): Map<string, Key[]> {
  const byName = new Map<string, Key>();
  const byTable = new Map<string, Key[]>();
  for (const { table, key, primary, column } of facts.keys) {
    const id = JSON.stringify([table, key]);
    let found = byName.get(id);
    if (!found) {
      found = { primary, columns: [] };
      byName.set(id, found);
      listAt(byTable, table).push(found);
    }
    found.columns.push(column);
  }
  return byTable;
}

export function listAt<K, V>(lists: Map<K, V[]>, key: K): V[] {
  let list = lists.get(key);
  if (!list) {
    list = [];
    lists.set(key, list);
  }
  return list;
}

function mapAt<K, V>(maps: Map<K, Map<string, V>>, key: K): Map<string, V> {
  let map = maps.get(key);
  if (!map) {
    map = new Map();
    maps.set(key, map);
  }
  return map;
}
