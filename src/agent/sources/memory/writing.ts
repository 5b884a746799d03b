// Writes to in-memory tables. Transactions run one after another on copies, which replace the rows on success. They
// enforce what a database would: unique keys, non-null columns and foreign keys.

import { fail } from '../../../core/errors.ts';
import { equalityKey } from '../evaluate.ts';
import { Refusal } from '../refusal.ts';
import type { Session, Writing } from '../source.ts';
import type { Condition, CountSelect, Path, Row, Select, Update } from '../statement.ts';
import type { MemoryData } from './tables.ts';

interface Memory {
  readonly tables: ReadonlyMap<string, MemoryData>;
  readonly read: (select: Select) => Row[];
  /** The rows that satisfy a condition. */
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
        const rollBack = () => {
          for (const [name, data] of tables) data.own = before.get(name);
        };
        try {
          const answer = await work(session);
          if (discard) rollBack();
          return answer;
        } catch (error) {
          rollBack();
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
    const checkedRows = checks.map((check) => new Set(rows({ table: data.table.name, ...check })));
    return written.map((row) => [
      ...returning.map((path) => row[at(data, path)] ?? null),
      ...checkedRows.map((those) => those.has(row)),
    ]);
  };

  /** Rows are replaced, never modified: a rollback restores the previous ones. */
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
    const mark = keyAt(data, row, columns);
    if (other && mark !== undefined && !other.rows.some((each) => keyAt(other, each, targetColumns) === mark))
      throw new Refusal('reference', columns);
  }
}

function checkUnique(data: MemoryData): void {
  for (const columns of [data.table.primaryKey ?? [], ...(data.table.uniqueKeys ?? [])]) {
    if (columns.length === 0) continue;
    const seen = new Set<string>();
    for (const row of data.rows) {
      const mark = keyAt(data, row, columns);
      if (mark === undefined) continue;
      if (seen.has(mark)) throw new Refusal('unique', columns);
      seen.add(mark);
    }
  }
}

/** No record may reference a deleted one. */
function checkReferences(changed: MemoryData, tables: ReadonlyMap<string, MemoryData>): void {
  for (const data of tables.values())
    for (const { columns, table, targetColumns } of data.table.foreignKeys ?? []) {
      if (table !== changed.table.name) continue;
      const marks = new Set(changed.rows.map((row) => keyAt(changed, row, targetColumns)));
      for (const row of data.rows) {
        const mark = keyAt(data, row, columns);
        if (mark !== undefined && !marks.has(mark)) throw new Refusal('referenced', []);
      }
    }
}

/** Returns undefined if any part is null: such a key references no record and equals no other key. */
function keyAt({ table, positions }: MemoryData, row: Row, names: readonly string[]): string | undefined {
  const parts: string[] = [];
  for (const name of names) {
    const index = positions.get(name)!;
    const value = row[index] ?? null;
    if (value === null) return undefined;
    const { type, collation = 'binary' } = table.columns[index]!;
    parts.push(equalityKey(value, { type, collation }));
  }
  return JSON.stringify(parts);
}
