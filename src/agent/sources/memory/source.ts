// A source over arrays. It evaluates every operator with agent/sources/evaluate.ts in a full scan of the rows.

import { fail } from '../../../core/errors.ts';
import { type Operator, operators } from '../../../core/filter.ts';
import { aggregateRecords } from '../aggregate.ts';
import type { DescribedTable } from '../described.ts';
import { compareNullable, equalityKey, evaluateFilter } from '../evaluate.ts';
import type { ReadOptions, Source } from '../source.ts';
import type {
  Condition,
  CountSelect,
  Filter,
  Join,
  Path,
  RelatedRows,
  Row,
  Select,
  SourceKeyPair,
  SourceRelation,
  SubqueryFilter,
} from '../statement.ts';
import { precomputePatterns } from './patterns.ts';
import type { MemoryData, MemoryTable } from './tables.ts';
import { createMemoryWriting } from './writing.ts';

const native: ReadonlySet<Operator> = new Set(operators.filter((operator) => operator !== 'Match'));

/**
 * A source over arrays, for tests and small tables. Writes stay in memory. For aggregates, `countOf` says for how many
 * equal rows a row stands; default 1.
 *
 * @example
 * import { createMemorySource } from 'portico/sources';
 *
 * const currencies = createMemorySource('currencies', [
 *   { name: 'currencies', columns: [{ name: 'code', type: 'String' }], primaryKey: ['code'], rows: [['EUR']] },
 * ]);
 */
export function createMemorySource(
  name: string,
  tables: readonly MemoryTable[],
  countOf?: (row: Row) => number,
): Source {
  const byName = new Map(tables.map((table) => [table.name, new Data(table)]));
  const records = ({ table, joins, where }: CountSelect): JoinedRow[] => {
    const data = byName.get(table)!;
    const finds = createFinder(records);
    const links = joins.map((join) => link(join, byName, finds));
    return data.rows
      .map((row) => joinRow(row, data, links))
      .filter((record) => evaluateFilter(where, (path) => record.value(path), finds(record)));
  };
  const readRows = (select: Select): Row[] => {
    const found = records(select);
    if (select.order.length) found.sort((a, b) => compareRecords(a, b, select));
    const from = select.skip ?? 0;
    const page = found.slice(from, select.limit === undefined ? undefined : from + select.limit);
    return page.map((record) => select.columns.map((path) => record.value(path)));
  };
  return {
    name,
    compares: true,
    describe: async () => ({ tables: describeTables(tables), skipped: [] }),
    async read(select, options) {
      throwIfStopped(options);
      return readRows(await precomputePatterns(select, byName, options));
    },
    async count(select, options) {
      throwIfStopped(options);
      return records(await precomputePatterns(select, byName, options)).length;
    },
    async aggregate(group, options) {
      throwIfStopped(options);
      const light = await precomputePatterns(group, byName, options);
      const measures = await Promise.all(
        light.measures.map(async (measure) => {
          if (measure.related) {
            const { collection, joins, where } = measure.related;
            const rows = await precomputePatterns({ table: collection.table, joins, where }, byName, options);
            return { ...measure, related: { ...measure.related, joins: rows.joins, where: rows.where } };
          }
          if (!measure.where) return measure;
          const { where } = await precomputePatterns(
            { table: group.table, joins: [], where: measure.where },
            byName,
            options,
          );
          return { ...measure, where };
        }),
      );
      const finds = createFinder(records);
      const related = createRelated(records);
      const found = records(light).map((record) => {
        const satisfies = (where: Filter) => evaluateFilter(where, (path) => record.value(path), finds(record));
        return {
          value: (path: Path) => record.value(path),
          satisfies,
          ...(countOf && { count: countOf(record.row) }),
          related: (rows: RelatedRows) => (satisfies(rows.ownWhere) ? related(record, rows) : []),
        };
      });
      return aggregateRecords(found, { ...light, measures });
    },
    writing: createMemoryWriting({
      tables: byName,
      read: readRows,
      rows: (select) => records(select).map((record) => record.row),
    }),
    explain: (select) => `read every row of ${select.table}`,
    close: async () => {},
  };
}

function throwIfStopped({ signal }: ReadOptions): void {
  if (signal?.aborted) fail('CANCELLED', {}, signal.reason);
}

class Data implements MemoryData {
  readonly table: MemoryTable;
  readonly positions: ReadonlyMap<string, number>;
  own: readonly Row[] | undefined;

  constructor(table: MemoryTable) {
    this.table = table;
    this.positions = new Map(table.columns.map((column, index) => [column.name, index]));
  }

  get rows(): readonly Row[] {
    return this.own ?? this.table.rows;
  }

  value(row: Row, column: string): unknown {
    return row[this.positions.get(column)!] ?? null;
  }
}

/** A root row with the rows joined to it. */
interface JoinedRow {
  readonly row: Row;
  value(path: Path): unknown;
}

type Finder = (record: JoinedRow) => (subquery: SubqueryFilter) => boolean;

/** Reads the other collection once for each condition. */
function createFinder(records: (select: CountSelect) => JoinedRow[]): Finder {
  const firsts = new Map<SubqueryFilter, ReadonlyMap<string, JoinedRow>>();
  return (record: JoinedRow) => (some: SubqueryFilter) => {
    if (some.op === 'found') throw new Error(`the values for '${some.own.id}' have not been looked up`);
    const { own, other, after = [] } = some;
    const by = { order: after.map((path) => ({ path, ascending: true })) };
    let known = firsts.get(some);
    if (!known) {
      known = firstOfEach(records({ ...other, table: other.collection.table }), other.keys, by);
      firsts.set(some, known);
    }
    const mark = pathsKey(own, record, other.keys);
    const first = mark === undefined ? undefined : known.get(mark);
    return first !== undefined && (after.length === 0 || compareRecords(first, record, by) < 0);
  };
}

/** Reads the rows of a to-many relation once, and finds those of a record. */
function createRelated(records: (select: CountSelect) => JoinedRow[]) {
  const known = new Map<string, ReadonlyMap<string, JoinedRow[]>>();
  return (record: JoinedRow, { id, collection, own, keys, joins, where }: RelatedRows): readonly JoinedRow[] => {
    let byKey = known.get(id);
    if (!byKey) {
      const all = new Map<string, JoinedRow[]>();
      for (const row of records({ table: collection.table, joins, where })) {
        const mark = pathsKey(keys, row, keys);
        if (mark !== undefined) all.set(mark, [...(all.get(mark) ?? []), row]);
      }
      known.set(id, all);
      byKey = all;
    }
    const mark = pathsKey(own, record, keys);
    return (mark === undefined ? undefined : byKey.get(mark)) ?? [];
  };
}

/** Indexes the records by `keys`. Of records with equal keys, keeps the first by `by`. */
function firstOfEach(
  found: readonly JoinedRow[],
  keys: readonly Path[],
  by: Pick<Select, 'order'>,
): Map<string, JoinedRow> {
  const firsts = new Map<string, JoinedRow>();
  for (const each of found) {
    const mark = pathsKey(keys, each, keys);
    if (mark === undefined) continue;
    const first = firsts.get(mark);
    if (!first || compareRecords(each, first, by) < 0) firsts.set(mark, each);
  }
  return firsts;
}

/** A string key of the values; undefined if one is null. The columns of `as` define equality. */
function pathsKey(paths: readonly Path[], record: JoinedRow, as: readonly Path[]): string | undefined {
  const values = paths.map((path) => record.value(path));
  if (values.includes(null)) return undefined;
  return JSON.stringify(values.map((value, at) => equalityKey(value, as[at]!.field)));
}

interface Link {
  readonly id: string;
  readonly parent: string;
  readonly data: Data;
  find(owner: Row, from: Data): Row | undefined;
}

function link({ via, where, joins }: Join, byName: ReadonlyMap<string, Data>, finds: Finder): Link {
  const relation = via.at(-1)!;
  const data = byName.get(relation.to.table)!;
  const { only } = relation;
  const hasType = (row: Row, of: Data, side: 'from' | 'to'): boolean => {
    if (only?.side !== side) return true;
    const value = of.value(row, only.column.column);
    return value !== null && equalityKey(value, only.column) === equalityKey(only.value, only.column);
  };
  const seen = rowsOf(data, { where, joins }, byName, finds).filter((row) => hasType(row, data, 'to'));
  const index = new Map<string, Row>();
  for (const row of seen) {
    const mark = tupleKey(relation.on, (pair) => data.value(row, pair.to.column));
    if (mark !== undefined) index.set(mark, row);
  }
  return {
    id: idOf(via),
    parent: idOf(via.slice(0, -1)),
    data,
    find(owner, from) {
      if (!hasType(owner, from, 'from')) return undefined;
      const mark = tupleKey(relation.on, (pair) => from.value(owner, pair.from.column));
      return mark === undefined ? undefined : index.get(mark);
    },
  };
}

/** The rows that satisfy a condition. */
function rowsOf(
  data: Data,
  { where, joins }: Condition,
  byName: ReadonlyMap<string, Data>,
  finds: Finder,
): readonly Row[] {
  if (where.op === 'always') return data.rows;
  const links = joins.map((join) => link(join, byName, finds));
  return data.rows.filter((row) => {
    const record = joinRow(row, data, links);
    return evaluateFilter(where, (path) => record.value(path), finds(record));
  });
}

/** A key with a null part references no row. */
function tupleKey(on: readonly SourceKeyPair[], value: (pair: SourceKeyPair) => unknown): string | undefined {
  const parts: string[] = [];
  for (const pair of on) {
    const part = value(pair);
    if (part === null) return undefined;
    parts.push(equalityKey(part, pair.to));
  }
  return parts.length === 1 ? parts[0] : JSON.stringify(parts);
}

function joinRow(row: Row, data: Data, links: readonly Link[]): JoinedRow {
  const found = new Map<string, readonly [Row | undefined, Data]>([['', [row, data]]]);
  for (const { id, parent, data: foreign, find } of links) {
    const [owner, from] = found.get(parent)!;
    found.set(id, [owner && find(owner, from), foreign]);
  }
  return {
    row,
    value({ via, field }) {
      const [at, of] = found.get(via.length ? idOf(via) : '')!;
      return at ? of.value(at, field.column) : null;
    },
  };
}

function idOf(via: readonly SourceRelation[]): string {
  return via.map((relation) => relation.name).join(':');
}

function compareRecords(a: JoinedRow, b: JoinedRow, { order }: Pick<Select, 'order'>): number {
  for (const { path, ascending } of order) {
    const difference = compareNullable(a.value(path), b.value(path), path.field);
    if (difference !== 0) return ascending ? difference : -difference;
  }
  return 0;
}

export function describeTables(tables: readonly MemoryTable[]): DescribedTable[] {
  return tables.map(({ name, columns, primaryKey = [], uniqueKeys = [], foreignKeys = [] }) => ({
    name,
    kind: 'table',
    columns: columns.map(({ name, type, nullable = false, collation = 'binary', enumValues, shape, decimals }) => ({
      name,
      type,
      nativeType:
        decimals !== undefined ? `decimal(38, ${decimals})` : Array.isArray(type) ? `${type[0]}[]` : String(type),
      nullable,
      readOnly: false,
      hasDefault: false,
      ...(enumValues && { enumValues }),
      ...(shape && { shape }),
      collation,
      operators: native,
      sortable: typeof type === 'string' && type !== 'Json' && type !== 'Point',
    })),
    primaryKey,
    uniqueKeys,
    foreignKeys,
  }));
}
