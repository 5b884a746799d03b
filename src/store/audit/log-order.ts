// Shared parts of both log searches: the total order, and the names of users.
import type { Knex } from 'knex';
import type { StoreDialect } from '../database/database.ts';
import type { LoggedUser, LogPosition, LogTimes, ScanStep } from './log-types.ts';

export const MAX_PAGE = 1000;
/** Ids that one step of a walk reads. The primary key bounds the step, whatever the filter. */
const SCAN_IDS = 2000;
/** Longer than a transaction that writes log entries takes. */
const STABLE_MS = 5000;

/** The columns of the sort order. */
interface OrderColumns {
  readonly at: string;
  readonly id: string;
}

export function filterTimes(query: Knex.QueryBuilder, column: string, { from, to }: LogTimes = {}): void {
  if (from !== undefined) query.where(column, '>=', from);
  if (to !== undefined) query.where(column, '<=', to);
}

/**
 * Condition on the first column of an index. With an equality, MariaDB scans the index from its end instead of from the
 * requested time. A range with one value, as part of the order, avoids that.
 */
export function indexPrefix(query: Knex.QueryBuilder, dialect: StoreDialect, column: string, value: number): void {
  if (dialect !== 'mysql') query.where(column, value);
  else query.where(column, '>=', value).where(column, '<=', value).orderBy(column, 'desc');
}

/**
 * Newest first, after the position `after`. The first comparison is the range for the index; the second resolves ties.
 */
export function orderNewest(query: Knex.QueryBuilder, { at, id }: OrderColumns, after: LogPosition | undefined): void {
  query.orderBy(at, 'desc').orderBy(id, 'desc');
  if (!after) return;
  query.where(at, '<=', after.at).where((tie) => void tie.where(at, '<', after.at).orWhere(id, '<', after.id));
}

/** Removes undefined conditions. */
export function withoutUndefined<T>(conditions: Readonly<Record<string, T | undefined>>): Record<string, T> {
  return Object.fromEntries(Object.entries(conditions).filter((pair): pair is [string, T] => pair[1] !== undefined));
}

interface ScannedIds<E> {
  readonly from: number;
  readonly until: number;
  /** Reads the entries of an id range. */
  readonly read: (first: number, last: number) => Promise<readonly E[]>;
  /** The table to walk. */
  readonly table: Knex.QueryBuilder;
}

/** One step of a walk by id. */
export async function scanIds<E>({ from, until, read, table }: ScannedIds<E>): Promise<ScanStep<E>> {
  if (from >= until) return { entries: [], next: undefined };
  const last = Math.min(from + SCAN_IDS, until);
  const entries = await read(from + 1, last);
  if (last === until) return { entries, next: undefined };
  if (entries.length > 0) return { entries, next: last };
  // After a deletion of old entries there may be millions of unused ids.
  const [found] = await table.where('id', '>', last).min<{ id: number | null }[]>({ id: 'id' });
  const following = found?.id == null ? until : Number(found.id) - 1;
  return { entries, next: following < until ? following : undefined };
}

/** SQLite runs write transactions one at a time, and ids are committed in order. */
export function stableBefore(dialect: StoreDialect, now: number): number {
  return dialect === 'sqlite' ? Number.MAX_SAFE_INTEGER : now - STABLE_MS;
}

export async function readUsers(on: Knex, ids: readonly (number | null)[]): Promise<ReadonlyMap<number, LoggedUser>> {
  const userIds = [...new Set(ids.filter((id) => id !== null))];
  if (userIds.length === 0) return new Map();
  const rows = await on('users')
    .whereIn('id', userIds)
    .select<{ id: number; email: string; first_name: string; last_name: string }[]>(
      'id',
      'email',
      'first_name',
      'last_name',
    );
  return new Map(
    rows.map(({ id, email, first_name, last_name }) => [id, { id, email, name: nameOf(email, first_name, last_name) }]),
  );
}

export function nameOf(email: string, firstName: string, lastName: string): string {
  return `${firstName} ${lastName}`.trim() || email;
}
