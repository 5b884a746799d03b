// Writes over arrays: one after another, on copies that take the place of the rows when all went well. What a database
// would hold, this holds too: keys that are unique, columns that are not null, foreign keys that point to a record.
import { fail } from '../../core/errors.ts';
import type { Path } from '../query/types.ts';
import { markOf } from './evaluate.ts';
import type { MemoryTable } from './memory.ts';
import { Refusal } from './refusal.ts';
import type { Condition, CountSelect, Row, Select, Session, Update, Writing } from './source.ts';

export interface MemoryData {
  readonly table: MemoryTable;
  readonly positions: ReadonlyMap<string, number>;
  readonly rows: readonly Row[];
  /** The rows since the first write. */
  own: readonly Row[] | undefined;
}

interface Memory {
  readonly tables: ReadonlyMap<string, MemoryData>;
  readonly read: (select: Select) => Row[];
  /** The rows that a condition is true of. */
  readonly rows: (select: CountSelect) => Row[];
}

export function createMemoryWriting({ tables, read, rows }: Memory): Writing {
  let last: Promise<unknown> = Promise.resolve();
  const session = createSession({ tables, read, rows });
  return {
    returning: { insert: true, update: true, delete: true, joinedChecks: true },
    transaction(work, { signal, discard }) {
      const run = async () => {
        if (signal?.aborted) fail('CANCELLED', {}, signal.reason);
        const before = new Map([...tables].map(([name, data]) => [name, data.own]));
        const takeBack = () => {
          for (const [name, data] of tables) data.own = before.get(name);
        };
        try {
          const answer = await work(session);
          if (discard) takeBack();
          return answer;
        } catch (error) {
          takeBack();
          throw error;
        }
      };
      const running = last.then(run, run);
      last = running.catch(() => undefined);
      return running;
    },
  };
}

function createSession({ tables, read, rows }: Memory): Session {
  const at = (data: MemoryData, path: Path): number => data.positions.get(path.field.column)!;

  const show = (
    data: MemoryData,
    written: readonly Row[],
    returning: readonly Path[],
    checks: readonly Condition[],
  ) => {
    const held = checks.map((check) => new Set(rows({ table: data.table.name, ...check })));
    return written.map((row) => [
      ...returning.map((path) => row[at(data, path)] ?? null),
      ...held.map((those) => those.has(row)),
    ]);
  };

  /** Rows are replaced and never changed, so that those of before are still there to go back to. */
  const replace = (data: MemoryData, next: readonly Row[], written: readonly Row[]) => {
    data.own = next;
    for (const row of written) checkRow(data, row, tables);
    checkUnique(data);
    checkReferences(data, tables);
  };

  return {
    read: async (select) => read(select),
    async insert({ table, columns, rows: given, returning, checks }) {
      const data = tables.get(table)!;
      const added = given.map((values) => {
        const row: Row = data.table.columns.map(() => null);
        for (const [index, path] of columns.entries()) row[at(data, path)] = values[index] ?? null;
        return row;
      });
      replace(data, [...data.rows, ...added], added);
      return { count: added.length, rows: show(data, added, returning, checks) };
    },
    async update({ table, joins, where, set, returning, checks }: Update) {
      const data = tables.get(table)!;
      const found = new Set(rows({ table, joins, where }));
      const changed: Row[] = [];
      const next = data.rows.map((row) => {
        if (!found.has(row)) return row;
        const copy = [...row];
        for (const [path, value] of set) copy[at(data, path)] = value;
        changed.push(copy);
        return copy;
      });
      replace(data, next, changed);
      return { count: changed.length, rows: show(data, changed, returning, checks) };
    },
    async delete({ table, joins, where, returning }) {
      const data = tables.get(table)!;
      const found = new Set(rows({ table, joins, where }));
      data.own = data.rows.filter((row) => !found.has(row));
      checkReferences(data, tables);
      return { count: found.size, rows: show(data, [...found], returning, []) };
    },
  };
}

function checkRow({ table }: MemoryData, row: Row, tables: ReadonlyMap<string, MemoryData>): void {
  for (const [index, { name, nullable = false }] of table.columns.entries())
    if (!nullable && row[index] === null) throw new Refusal('null', [name]);
  const data = tables.get(table.name)!;
  for (const { columns, table: target, targetColumns } of table.foreignKeys ?? []) {
    const other = tables.get(target);
    const mark = markAt(data, row, columns);
    if (other && mark !== undefined && !other.rows.some((each) => markAt(other, each, targetColumns) === mark))
      throw new Refusal('reference', columns);
  }
}

function checkUnique(data: MemoryData): void {
  for (const columns of [data.table.primaryKey ?? [], ...(data.table.uniqueKeys ?? [])]) {
    if (columns.length === 0) continue;
    const seen = new Set<string>();
    for (const row of data.rows) {
      const mark = markAt(data, row, columns);
      if (mark === undefined) continue;
      if (seen.has(mark)) throw new Refusal('unique', columns);
      seen.add(mark);
    }
  }
}

/** Nothing points to a record that is no longer there. */
function checkReferences(changed: MemoryData, tables: ReadonlyMap<string, MemoryData>): void {
  for (const data of tables.values())
    for (const { columns, table, targetColumns } of data.table.foreignKeys ?? []) {
      if (table !== changed.table.name) continue;
      const marks = new Set(changed.rows.map((row) => markAt(changed, row, targetColumns)));
      for (const row of data.rows) {
        const mark = markAt(data, row, columns);
        if (mark !== undefined && !marks.has(mark)) throw new Refusal('referenced', []);
      }
    }
}

/** Null in any part relates to nothing, and is like nothing. */
function markAt({ table, positions }: MemoryData, row: Row, names: readonly string[]): string | undefined {
  const parts: string[] = [];
  for (const name of names) {
    const index = positions.get(name)!;
    const value = row[index] ?? null;
    if (value === null) return undefined;
    const { type, collation = 'binary' } = table.columns[index]!;
    parts.push(markOf(value, { type, collation }));
  }
  return JSON.stringify(parts);
}
