// Queries another source before a statement runs, or for its rows afterwards. Each key is sent once, in lists of
// limited length, a few statements at a time.

import { and, not, or } from '../lower/simplify.ts';
import type { Condition, FetchStep, Filter, Lookup, Path, SubqueryStep } from '../plan/types.ts';
import { keysFilter } from '../plan/write.ts';
import { equalityKey } from '../sources/evaluate.ts';
import type { Row } from '../sources/statement.ts';

/** Keys per statement, far below the limit of any database. */
const KEYS_PER_STATEMENT = 1_000;
export const MAX_CONCURRENT_STATEMENTS = 4;
/** SQLite and MariaDB limit the length of a list. */
const LIST_LIMIT = 16_000;

/** Replaces the lookups of a condition by their results. */
export function substituteLookups<C extends Condition>(
  condition: C,
  found: ReadonlyMap<Lookup, readonly unknown[]>,
): C {
  const visit = (filter: Filter): Filter => {
    switch (filter.op) {
      case 'found':
        return isOneOf(filter.own, found.get(filter.lookup)!);
      case 'some':
        return { ...filter, other: substituteLookups(filter.other, found) };
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
    joins: condition.joins.map((join) => substituteLookups(join, found)),
  };
}

function isOneOf(path: Path, keys: readonly unknown[]): Filter {
  return or(...toBatches(keys, LIST_LIMIT).map((value): Filter => ({ op: 'test', path, is: 'In', value })));
}

function toBatches<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/** The distinct keys, without null. */
export function distinctKeys(rows: readonly Row[], slot: number, { field }: Path): unknown[] {
  const keys = new Map<string, unknown>();
  for (const row of rows) {
    const value = row[slot] ?? null;
    if (value !== null) keys.set(equalityKey(value, field), value);
  }
  return [...keys.values()];
}

/** Fills the slots of the fetch in every row. `read` runs its plan with a further condition. */
export async function fetchRelated(
  { via, from, type, query, plan, into }: FetchStep,
  rows: readonly Row[],
  read: (where: Filter) => Promise<Row[]>,
): Promise<void> {
  const key = query.select[0]!.path;
  const { only } = via.at(-1)!;
  const isOfType = (row: Row): boolean => {
    if (type === undefined || !only) return true;
    const value = row[type] ?? null;
    return value !== null && equalityKey(value, only.column) === equalityKey(only.value, only.column);
  };
  const keys = plan.select ? distinctKeys(rows.filter(isOfType), from, key) : [];
  const found = new Map<string, Row>();
  const batches = toBatches(keys, KEYS_PER_STATEMENT);
  await inBatches(batches, MAX_CONCURRENT_STATEMENTS, async (value) => {
    for (const row of await read({ op: 'test', path: key, is: 'In', value })) {
      const mark = equalityKey(row[plan.columns[0]!], key.field);
      if (!found.has(mark)) found.set(mark, row);
    }
  });
  for (const row of rows) {
    const value = row[from] ?? null;
    const other = value === null || !isOfType(row) ? undefined : found.get(equalityKey(value, key.field));
    for (const [at, slot] of into.entries()) row[slot] = other ? other[plan.columns[at + 1]!] : null;
  }
}

/** Far below SQLite's limit for the depth of a condition, which is relevant for composite keys. */
const SUBQUERY_KEYS_PER_STATEMENT = 400;

/** Fills the slot of the condition in every row. `read` runs its plan with a further condition. */
export async function evaluateSubqueries(
  { key, from, into, plan }: SubqueryStep,
  rows: readonly Row[],
  read: (where: Filter) => Promise<Row[]>,
): Promise<void> {
  const markAt = (row: Row, slots: readonly number[]) =>
    JSON.stringify(slots.map((slot, at) => equalityKey(row[slot], key[at]!.field)));
  const found = new Set<string>();
  await inBatches(toBatches(rows, SUBQUERY_KEYS_PER_STATEMENT), MAX_CONCURRENT_STATEMENTS, async (some) => {
    const those = some.map((row) => from.map((slot) => row[slot]));
    for (const row of await read(keysFilter({ key }, those))) found.add(markAt(row, plan.columns));
  });
  for (const row of rows) row[into] = found.has(markAt(row, from));
}

/** Runs at most `most` items at a time. Throws the first error, and starts no further item after it. */
export async function inBatches<T>(
  items: readonly T[],
  maxConcurrent: number,
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
  await Promise.all(Array.from({ length: Math.min(maxConcurrent, items.length) }, work));
}
