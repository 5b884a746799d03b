// A source over arrays. It answers every operator by sources/evaluate.ts, the slow and plain way: every row is looked at.
import { fail } from '../../core/errors.ts';
import { type Operator, operators } from '../../core/filter.ts';
import type { KeyPair, Relation } from '../model/types.ts';
import type { Filter, Path } from '../query/types.ts';
import { aggregateRecords } from './aggregate.ts';
import { compareNullable, holds, markOf } from './evaluate.ts';
import { createMemoryWriting, type MemoryData } from './memory-writing.ts';
import type {
  Collation,
  ColumnType,
  CountSelect,
  Described,
  DescribedForeignKey,
  Join,
  ReadOptions,
  Row,
  Select,
  Source,
} from './source.ts';

export interface MemoryColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** Default false. */
  readonly nullable?: boolean;
  /** Default `binary`. */
  readonly collation?: Collation;
  readonly enumValues?: readonly string[];
}

export interface MemoryTable {
  readonly name: string;
  readonly columns: readonly MemoryColumn[];
  readonly primaryKey?: readonly string[];
  readonly uniqueKeys?: readonly (readonly string[])[];
  readonly foreignKeys?: readonly DescribedForeignKey[];
  /** Canonical values, in the order of the columns. Read anew by every statement until the first write, which works on a copy. */
  readonly rows: readonly Row[];
}

const native: ReadonlySet<Operator> = new Set(operators.filter((operator) => operator !== 'Match'));

export function createMemorySource(name: string, tables: readonly MemoryTable[]): Source {
  const byName = new Map(tables.map((table) => [table.name, new Data(table)]));
  const records = ({ table, joins, where }: CountSelect): Reached[] => {
    const data = byName.get(table)!;
    const links = joins.map((join) => link(join, byName));
    return data.rows
      .map((row) => reach(row, data, links))
      .filter((record) => holds(where, (path) => record.value(path)));
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
    describe: async () => describe(tables),
    async read(select, options) {
      check(options);
      return readRows(select);
    },
    async count(select, options) {
      check(options);
      return records(select).length;
    },
    async aggregate(group, options) {
      check(options);
      return aggregateRecords(
        records(group).map((record) => (path: Path) => record.value(path)),
        group,
      );
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

function check({ signal }: ReadOptions): void {
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

/** A root row and the row that each join found for it. */
interface Reached {
  readonly row: Row;
  value(path: Path): unknown;
}

interface Link {
  readonly id: string;
  readonly parent: string;
  readonly data: Data;
  find(owner: Row, from: Data): Row | undefined;
}

function link({ via, where }: Join, byName: ReadonlyMap<string, Data>): Link {
  const relation = via.at(-1)!;
  const data = byName.get(relation.to.table)!;
  const seen = rowsOf(data, where, byName);
  const index = new Map<string, Row>();
  for (const row of seen) {
    const mark = tupleMark(relation.on, (pair) => data.value(row, pair.to.column));
    if (mark !== undefined) index.set(mark, row);
  }
  return {
    id: idOf(via),
    parent: idOf(via.slice(0, -1)),
    data,
    find(owner, from) {
      const mark = tupleMark(relation.on, (pair) => from.value(owner, pair.from.column));
      return mark === undefined ? undefined : index.get(mark);
    },
  };
}

/** The rows that satisfy a condition, following the relations in it with no condition on them. */
function rowsOf(data: Data, where: Filter, byName: ReadonlyMap<string, Data>): readonly Row[] {
  if (where.op === 'always') return data.rows;
  const links = new Map<string, Link>();
  const need = (filter: Filter): void => {
    if (filter.op === 'and' || filter.op === 'or') filter.of.forEach(need);
    else if (filter.op === 'not') need(filter.of);
    else if (filter.op === 'test')
      for (let length = 1; length <= filter.path.via.length; length++) {
        const via = filter.path.via.slice(0, length);
        if (!links.has(idOf(via))) links.set(idOf(via), link({ via, where: { op: 'always' } }, byName));
      }
  };
  need(where);
  return data.rows.filter((row) => {
    const record = reach(row, data, [...links.values()]);
    return holds(where, (path) => record.value(path));
  });
}

/** Null in any part of a key relates to nothing. */
function tupleMark(on: readonly KeyPair[], value: (pair: KeyPair) => unknown): string | undefined {
  const parts: string[] = [];
  for (const pair of on) {
    const part = value(pair);
    if (part === null) return undefined;
    parts.push(markOf(part, pair.to));
  }
  return parts.length === 1 ? parts[0] : JSON.stringify(parts);
}

function reach(row: Row, data: Data, links: readonly Link[]): Reached {
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

function idOf(via: readonly Relation[]): string {
  return via.map((relation) => relation.name).join(':');
}

function compareRecords(a: Reached, b: Reached, { order }: Select): number {
  for (const { path, ascending } of order) {
    const difference = compareNullable(a.value(path), b.value(path), path.field);
    if (difference !== 0) return ascending ? difference : -difference;
  }
  return 0;
}

function describe(tables: readonly MemoryTable[]): Described {
  return {
    tables: tables.map(({ name, columns, primaryKey = [], uniqueKeys = [], foreignKeys = [] }) => ({
      name,
      kind: 'table',
      columns: columns.map(({ name, type, nullable = false, collation = 'binary', enumValues }) => ({
        name,
        type,
        nativeType: Array.isArray(type) ? `${type[0]}[]` : String(type),
        nullable,
        readOnly: false,
        hasDefault: false,
        ...(enumValues && { enumValues }),
        collation,
        operators: native,
        sortable: typeof type === 'string' && type !== 'Json' && type !== 'Point',
      })),
      primaryKey,
      uniqueKeys,
      foreignKeys,
    })),
    skipped: [],
  };
}
