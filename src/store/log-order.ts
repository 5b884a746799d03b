// What the searches of both logs have in common: their order, which is total, and the names of those who did something.
import type { Knex } from 'knex';
import type { StoreDialect } from './database.ts';
import type { LoggedUser, LogPlace, LogTimes, WalkStep } from './log-types.ts';

export const PAGE_MOST = 1000;
/** Ids that one step of a walk looks at: by their key alone, so that no filter can make a step slow. */
export const WALK_IDS = 2000;
/** Longer than a transaction that writes entries takes. */
export const SETTLED_MS = 5000;

/** The columns that a list is ordered by. */
export interface OrderColumns {
  readonly at: string;
  readonly id: string;
}

export function filterTimes(query: Knex.QueryBuilder, column: string, { from, to }: LogTimes = {}): void {
  if (from !== undefined) query.where(column, '>=', from);
  if (to !== undefined) query.where(column, '<=', to);
}

/**
 * What an index begins with. Where it is an equality, MariaDB reads the index from its end, and not from where a time says; as a
 * range of one value, in the order, it does not.
 */
export function leadBy(query: Knex.QueryBuilder, dialect: StoreDialect, column: string, value: number): void {
  if (dialect !== 'mysql') query.where(column, value);
  else query.where(column, '>=', value).where(column, '<=', value).orderBy(column, 'desc');
}

/** Newest first, after the place. The first comparison is all that a range of an index needs; the second settles ties. */
export function orderNewest(query: Knex.QueryBuilder, { at, id }: OrderColumns, after: LogPlace | undefined): void {
  query.orderBy(at, 'desc').orderBy(id, 'desc');
  if (!after) return;
  query.where(at, '<=', after.at).where((tie) => void tie.where(at, '<', after.at).orWhere(id, '<', after.id));
}

/** What is not given is no condition. */
export function given<T>(conditions: Readonly<Record<string, T | undefined>>): Record<string, T> {
  return Object.fromEntries(Object.entries(conditions).filter((pair): pair is [string, T] => pair[1] !== undefined));
}

export interface WalkedIds<E> {
  readonly from: number;
  readonly until: number;
  /** Of the ids to look at. */
  readonly read: (first: number, last: number) => Promise<readonly E[]>;
  /** The table that is walked. */
  readonly table: Knex.QueryBuilder;
}

/** One step of a walk by id. */
export async function walkIds<E>({ from, until, read, table }: WalkedIds<E>): Promise<WalkStep<E>> {
  if (from >= until) return { entries: [], next: undefined };
  const last = Math.min(from + WALK_IDS, until);
  const entries = await read(from + 1, last);
  if (last === until) return { entries, next: undefined };
  if (entries.length > 0) return { entries, next: last };
  // Where old entries were deleted there may be millions of ids without one.
  const [found] = await table.where('id', '>', last).min<{ id: number | null }[]>({ id: 'id' });
  const following = found?.id == null ? until : Number(found.id) - 1;
  return { entries, next: following < until ? following : undefined };
}

/** SQLite writes one transaction after another, so that ids are committed in their order. */
export function settledBefore(dialect: StoreDialect, now: number): number {
  return dialect === 'sqlite' ? Number.MAX_SAFE_INTEGER : now - SETTLED_MS;
}

export async function readUsers(on: Knex, ids: readonly (number | null)[]): Promise<ReadonlyMap<number, LoggedUser>> {
  const wanted = [...new Set(ids.filter((id) => id !== null))];
  if (wanted.length === 0) return new Map();
  const rows = await on('users')
    .whereIn('id', wanted)
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
