// Reads the catalogue of a database in a handful of statements for all tables together, never one for each table. Each
// dialect reads its catalogue into facts (introspect.ts in its folder); this module turns the facts into the
// description.
import type { Collation } from '../../column-types.ts';
import type {
  Described,
  DescribedColumn,
  DescribedForeignKey,
  DescribedIndex,
  DescribedReference,
  DescribedTable,
  ReferentialAction,
  WriteEvent,
} from '../../described.ts';
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
  /** Null or empty without one. */
  readonly comment?: string | null;
}

/** The location of a table in the database. Its name in the source may include the schema. */
export interface TableLocation {
  /** Absent for the connection's own schema. */
  readonly schema?: string;
  readonly name: string;
  /** Whether this is the connection's own schema, where known. */
  readonly isCurrent?: boolean;
}

interface ReferenceFacts extends Omit<DescribedReference, 'table' | 'place'> {
  readonly from: TableLocation;
  readonly to: TableLocation;
}

/** What the database does by itself after a write. Includes foreign keys of tables that are not served. */
export interface Effects {
  readonly references: readonly ReferenceFacts[];
  /** `before`: the code of triggers that run before an insert and may set columns. */
  readonly triggers: readonly (TableLocation & {
    readonly events: readonly WriteEvent[];
    readonly before?: string | undefined;
  })[];
}

export interface Facts extends Effects {
  /** Of the catalogue, read before anything else. */
  readonly version: string;
  readonly tables: readonly {
    readonly name: string;
    readonly kind: 'table' | 'view';
    readonly place?: TableLocation;
    /** Null or empty without one. */
    readonly comment?: string | null;
  }[];
  readonly columns: readonly ColumnFacts[];
  /** One entry for each column of each key and index, in its order. */
  readonly keys: readonly KeyColumn[];
  readonly foreignKeys: readonly {
    table: string;
    columns: readonly string[];
    /** null if the target is outside the served schemas; `why` gives the reason. */
    target: string | null;
    targetColumns: readonly string[];
    why?: string;
    /** No row can be without its target. */
    isValidated?: boolean;
  }[];
  readonly skipped: Described['skipped'];
  readonly warnings?: NonNullable<Described['warnings']>;
  /** Tables without rollback: the reason and the remedy. Dry runs and approvals depend on it. */
  readonly withoutRollback?: ReadonlyMap<string, string>;
  /** MariaDB and MySQL support different RETURNING clauses. */
  readonly isMariadb?: boolean;
}

interface KeyColumn {
  readonly table: string;
  readonly key: string;
  readonly primary: boolean;
  readonly unique: boolean;
  /** Whether it gives an order. */
  readonly sorted: boolean;
  /** null for an expression or a prefix of the values. */
  readonly column: string | null;
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
  for (const { table, columns: own, target, targetColumns, why, isValidated } of facts.foreignKeys) {
    const reason =
      target === null || !columns.has(target)
        ? (why ?? `its target ${target} is not served`)
        : served(table, own) && served(target, targetColumns)
          ? undefined
          : 'one of its columns is not served';
    if (reason) skipped.push({ table, reason: `the foreign key (${own.join(', ')}) is left out: ${reason}` });
    else
      listAt(foreignKeys, table).push({
        ...{ columns: own, table: target!, targetColumns },
        ...(isValidated && { isValidated }),
      });
  }

  const tables: DescribedTable[] = [];
  const warnings = [...(facts.warnings ?? [])];
  for (const { name, kind, comment } of facts.tables) {
    const own = columns.get(name);
    if (!own) {
      skipped.push({ table: name, reason: 'it has no column that can be served' });
      continue;
    }
    const all = keys.get(name) ?? [];
    const usable = all.filter((key) => key.unique && served(name, key.columns));
    const readOnly = facts.withoutRollback?.get(name);
    if (readOnly) warnings.push({ table: name, problem: `is read-only: ${readOnly}` });
    tables.push({
      name,
      kind,
      ...(comment && { comment }),
      ...(readOnly && { readOnly }),
      columns: own,
      primaryKey: (usable.find((key) => key.primary)?.columns ?? []) as string[],
      uniqueKeys: usable.filter((key) => !key.primary).map((key) => key.columns as string[]),
      foreignKeys: foreignKeys.get(name) ?? [],
      indexes: all.map((key) => toIndex(key, codecs.get(name))).filter((index) => index.columns.length > 0),
    });
  }
  return { described: { version: facts.version, tables, skipped, warnings }, codecs };
}

function describeColumn(column: ColumnFacts, codec: Codec): DescribedColumn {
  const { name, nativeType, nullable, readOnly, hasDefault, enumValues, collation, comment } = column;
  return {
    name,
    ...(comment && { comment }),
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
  readonly unique: boolean;
  readonly sorted: boolean;
  readonly columns: (string | null)[];
}

/** Ends before the first expression. An index does not give the order of values that statements convert. */
function toIndex({ columns, sorted }: Key, codecs: ReadonlyMap<string, Codec> | undefined): DescribedIndex {
  const end = columns.findIndex((column) => column === null || !codecs?.has(column));
  const names = (end < 0 ? columns : columns.slice(0, end)) as string[];
  const isPlain = names.every((name) => (codecs?.get(name)?.ordered?.(name, '') ?? name) === name);
  return { columns: names, sorted: sorted && isPlain };
}

/** A key over an expression has a null among its columns and is filtered out later. */
function keysOf(facts: Facts): Map<string, Key[]> {
  const byName = new Map<string, Key>();
  const byTable = new Map<string, Key[]>();
  for (const { table, key, primary, unique, sorted, column } of facts.keys) {
    const id = JSON.stringify([table, key]);
    let found = byName.get(id);
    if (!found) {
      found = { primary, unique, sorted, columns: [] };
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

const actions: Readonly<Record<string, ReferentialAction>> = {
  c: 'cascade',
  n: 'set null',
  d: 'set default',
  CASCADE: 'cascade',
  'SET NULL': 'set null',
  'SET DEFAULT': 'set default',
};

/** RESTRICT and NO ACTION refuse the statement and have no effects. */
export const actionOf = (word: string): ReferentialAction => actions[word] ?? 'none';
