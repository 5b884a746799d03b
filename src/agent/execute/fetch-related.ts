// Queries another source before a statement runs, or for its rows afterwards. Each key is sent once, in lists of
// limited length, a few statements at a time.

import { and, not, or } from '../lower/simplify.ts';
import type { Ask, Condition, Fetch, Filter, Lookup, Path } from '../plan/types.ts';
import { keysFilter } from '../plan/write.ts';
import { markOf } from '../sources/evaluate.ts';
import type { Row } from '../sources/statement.ts';

/** Keys per statement, far below the limit of any database. */
const KEYS_AT_ONCE = 1_000;
export const STATEMENTS_AT_ONCE = 4;
/** SQLite and MariaDB limit the length of a list. */
const LIST_LIMIT = 16_000;

/** Replaces the lookups of a condition by their results. */
export function settle<C extends Condition>(condition: C, found: ReadonlyMap<Lookup, readonly unknown[]>): C {
  const visit = (filter: Filter): Filter => {
    switch (filter.op) {
      case 'found':
        return isAmong(filter.own, found.get(filter.lookup)!);
      case 'some':
        return { ...filter, other: settle(filter.other, found) };
      case 'not':
        return not(visit(filter.of));
      case 'and':
        return and(...filter.of.map(visit));
      case 'or':
        return or(...filter.of.map(visit));
      default:
        return filter;
    }
  };
  return {
    ...condition,
    where: visit(condition.where),
    joins: condition.joins.map((join) => settle(join, found)),
  };
}

function isAmong(path: Path, keys: readonly unknown[]): Filter {
  return or(...slices(keys, LIST_LIMIT).map((value): Filter => ({ op: 'test', path, is: 'In', value })));
}

function slices<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/** The distinct keys, without null. */
export function distinctKeys(rows: readonly Row[], slot: number, { field }: Path): unknown[] {
  const keys = new Map<string, unknown>();
  for (const row of rows) {
    const value = row[slot] ?? null;
    if (value !== null) keys.set(markOf(value, field), value);
  }
  return [...keys.values()];
}

/** Fills the slots of the fetch in every row. `read` runs its plan with a further condition. */
export async function fetchRelated(
  { via, from, type, query, plan, into }: Fetch,
  rows: readonly Row[],
  read: (where: Filter) => Promise<Row[]>,
): Promise<void> {
  const key = query.select[0]!.path;
  const { only } = via.at(-1)!;
  const isAbout = (row: Row): boolean => {
    if (type === undefined || !only) return true;
    const value = row[type] ?? null;
    return value !== null && markOf(value, only.column) === markOf(only.value, only.column);
  };
  const keys = plan.select ? distinctKeys(rows.filter(isAbout), from, key) : [];
  const found = new Map<string, Row>();
  const batches = slices(keys, KEYS_AT_ONCE);
  await inTurns(batches, STATEMENTS_AT_ONCE, async (value) => {
    for (const row of await read({ op: 'test', path: key, is: 'In', value })) {
      const mark = markOf(row[plan.columns[0]!], key.field);
      if (!found.has(mark)) found.set(mark, row);
    }
  });
  for (const row of rows) {
    const value = row[from] ?? null;
    const other = value === null || !isAbout(row) ? undefined : found.get(markOf(value, key.field));
    for (const [at, slot] of into.entries()) row[slot] = other ? other[plan.columns[at + 1]!] : null;
  }
}

/** Far below SQLite's limit for the depth of a condition, which is relevant for composite keys. */
const ASKED_AT_ONCE = 400;

/** Fills the slot of the condition in every row. `read` runs its plan with a further condition. */
export async function askTold(
  { key, from, into, plan }: Ask,
  rows: readonly Row[],
  read: (where: Filter) => Promise<Row[]>,
): Promise<void> {
  const markAt = (row: Row, slots: readonly number[]) =>
    JSON.stringify(slots.map((slot, at) => markOf(row[slot], key[at]!.field)));
  const found = new Set<string>();
  await inTurns(slices(rows, ASKED_AT_ONCE), STATEMENTS_AT_ONCE, async (some) => {
    const those = some.map((row) => from.map((slot) => row[slot]));
    for (const row of await read(keysFilter({ key }, those))) found.add(markAt(row, plan.columns));
  });
  for (const row of rows) row[into] = found.has(markAt(row, from));
}

/** Runs at most `most` items at a time. Throws the first error, and starts no further item after it. */
export async function inTurns<T>(
  items: readonly T[],
  most: number,
  run: (item: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failed = false;
  const work = async (): Promise<void> => {
    while (next < items.length && !failed) {
      const index = next++;
      try {
        await run(items[index]!, index);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, work));
}
