// Executes the statements of one write, in its transaction. If the database does not return the written rows, they are
// read by key. Guards that the statement cannot check are checked by such a read too.
import { fail } from '../../core/errors.ts';
import { and, or } from '../lower/simplify.ts';
import type { Collection, Column } from '../model/types.ts';
import type { Join, Path } from '../plan/types.ts';
import {
  equals,
  type Guard,
  keysFilter,
  type Match,
  type Prefetched,
  planDelete,
  planInserts,
  planUpdate,
  type Target,
} from '../plan/write.ts';
import { pathTo, relationPathId } from '../resolve/paths.ts';
import type { WriteEvent } from '../sources/described.ts';
import { equalityKey } from '../sources/evaluate.ts';
import { Refusal } from '../sources/refusal.ts';
import type { Session, Writing } from '../sources/source.ts';
import type { Row } from '../sources/statement.ts';
import type { Values } from '../write/drafts.ts';
import type { WriteLog } from './written-records.ts';

/** Thrown if a statement finds fewer records than keys. The missing ones are determined after the rollback. */
export class MissingRecords extends Error {}

/** The changes that the database makes itself during a statement (agent/write/cascades.ts). */
export interface Cascades {
  /** Notes that the table may have triggers for the event, with unknown effects. */
  noteTriggers(collection: Collection, event: WriteEvent): void;
  /**
   * Called before the statement. `set`: the values of an update, null for a delete. Returns null if no cascade is
   * possible. Throws if the caller lacks the grants for the cascades.
   */
  preview(
    collection: Collection,
    keys: readonly (readonly unknown[])[],
    set: Values | null,
  ): Promise<{
    /** How many of the records the cascades reach too, possibly before the statement does. */
    readonly overlap: number;
    /** Called after the statement: checks the cascades against the prediction, and records them. */
    readonly verify: () => Promise<void>;
  } | null>;
}

export interface TransactionContext {
  readonly session: Session;
  readonly returning: Writing['returning'];
  readonly target: Target;
  readonly guards: readonly Guard[];
  readonly prefetched: Prefetched;
  /** The operation, for messages. */
  readonly verb: string;
  /** Receives the number of records written so far. */
  readonly progress?: ((done: number, total: number) => void) | undefined;
  /** Receives every written record. */
  readonly writeLog: WriteLog;
  readonly cascades: Cascades;
  /** The current rows of the records, if they have been read already. */
  readonly current?: readonly Row[];
}

/** Returns the columns of the target, in the order of the records. */
export async function insertRecords(context: TransactionContext, records: readonly Values[]): Promise<Row[]> {
  const { session, returning, target, guards } = context;
  const key = target.collection.key;
  context.cascades.noteTriggers(target.collection, 'insert');
  const keys: unknown[][] = [];
  const rows: Row[] = [];
  // Without RETURNING, the database reports a generated key only for a single record.
  const isSingle = !returning.insert && !records.every((values) => key.every((column) => values.has(column)));
  let done = 0;
  for (const { insert, positions } of planInserts(target, records, guards, isSingle)) {
    const written = await session.insert(insert);
    if (written.count < positions.length) throw new Refusal('ignored', []);
    done += positions.length;
    context.progress?.(done, records.length);
    for (const [index, position] of positions.entries()) {
      if (returning.insert) rows[position] = written.rows[index]!;
      else
        keys[position] = key.map(
          (column) => records[position]!.get(column) ?? written.insertedId ?? failUnknownKey(context, column),
        );
    }
  }
  const after = returning.insert ? await checkGuards(context, rows) : await readBack(context, keys);
  context.writeLog.add({
    collection: target.collection,
    change: 'created',
    count: after.length,
    rows: { target, after },
  });
  return after;
}

function failUnknownKey({ target }: TransactionContext, { name }: Column): never {
  return fail('INVALID_RECORD', {
    collection: target.collection.name,
    problems: [
      { field: name, problem: 'is required, because this database does not return the value that it would generate.' },
    ],
  });
}

/** In the order of the keys. Throws Shortfall for missing records. `set` is empty if code removed all values. */
export async function updateRecords(
  context: TransactionContext,
  keys: readonly (readonly unknown[])[],
  set: Values,
  condition: Match,
): Promise<Row[]> {
  const { session, returning, target, guards } = context;
  if (set.size === 0) return readRecords(context, keys, condition);
  await requireMatch(context, keys, condition);
  const before = await readCurrent(context, keys, condition);
  const cascade = await context.cascades.preview(target.collection, keys, set);
  const { count, rows } = await session.update(planUpdate(target, set, condition, guards));
  if (count !== keys.length) throw new MissingRecords();
  const next = keys.map((values) =>
    target.collection.key.map((column, at) => (set.has(column) ? set.get(column) : values[at])),
  );
  // The returned rows lack the changes that cascades make to the same records.
  const isReturned = returning.update && !cascade?.overlap;
  const after = isReturned ? sortByKeys(target, await checkGuards(context, rows), next) : await readBack(context, next);
  await cascade?.verify();
  const { collection } = target;
  context.writeLog.add({ collection, change: 'updated', count, rows: { target, ...(before && { before }), after } });
  return after;
}

/** The rows before an update, in the order of the keys. Undefined if the ledger does not need them. */
async function readCurrent(
  context: TransactionContext,
  keys: readonly (readonly unknown[])[],
  condition: Match,
): Promise<readonly Row[] | undefined> {
  const { target, current, writeLog: ledger } = context;
  if (!ledger.readsPrevious) return undefined;
  if (!current) return readRecords(context, keys, condition);
  const requestedKeys = new Set(keys.map((key) => keyMark(target, key)));
  const some = current.filter((row) => requestedKeys.has(keyMark(target, keyOf(target, row))));
  return sortByKeys(target, some, keys);
}

/** Returns the deleted rows, in the order of the keys. Throws Shortfall for missing records. */
export async function deleteRecords(
  context: TransactionContext,
  keys: readonly (readonly unknown[])[],
  condition: Match,
): Promise<Row[]> {
  const { session, returning, target } = context;
  await requireMatch(context, keys, condition);
  const cascade = await context.cascades.preview(target.collection, keys, null);
  const overlap = cascade?.overlap ?? 0;
  const isReturned = returning.delete && overlap === 0;
  const before = isReturned ? undefined : await readMatching(toReadContext(context), target.columns, condition);
  const { count, rows } = await session.delete(planDelete(target, condition));
  if (count < keys.length - overlap || (before ?? rows).length !== keys.length) throw new MissingRecords();
  await cascade?.verify();
  const deleted = sortByKeys(target, before ?? rows, keys);
  const { collection } = target;
  context.writeLog.add({ collection, change: 'deleted', count: deleted.length, rows: { target, before: deleted } });
  return deleted;
}

export async function readRecords(
  context: TransactionContext,
  keys: readonly (readonly unknown[])[],
  condition: Match,
): Promise<Row[]> {
  const { target } = context;
  const rows = await readMatching(toReadContext(context), target.columns, condition);
  if (rows.length !== keys.length) throw new MissingRecords();
  return sortByKeys(target, rows, keys);
}

/** Throws Shortfall if a record does not satisfy the in-memory part of the condition. */
async function requireMatch(
  context: TransactionContext,
  keys: readonly (readonly unknown[])[],
  condition: Match,
): Promise<void> {
  if (!condition.residual) return;
  if ((await readMatching(toReadContext(context), context.target.key, condition)).length !== keys.length)
    throw new MissingRecords();
}

interface MatchReadContext extends Pick<TransactionContext, 'session' | 'prefetched'> {
  readonly collection: Collection;
}

/** Reads the records that satisfy a condition, including its in-memory part. */
export async function readMatching(
  { session, prefetched: known, collection }: MatchReadContext,
  columns: readonly Path[],
  { joins, where, residual: rest }: Match,
): Promise<Row[]> {
  const { table } = collection;
  if (!rest) return session.read({ table, columns, joins, where, order: [] });
  const all = { table, columns: [...columns, ...rest.columns], joins: mergeJoins(joins, rest.joins), where, order: [] };
  const rows = await session.read(all);
  // A rest with `asked` conditions includes the key in its columns, to match their results with the rows.
  const key = rest.subqueries.length ? collection.key.map((column) => pathTo(collection, [], column)) : [];
  const slots = key.map((path) => columns.length + rest.columns.indexOf(path));
  const keyAt = (row: Row, places: readonly number[]) =>
    JSON.stringify(places.map((slot, place) => equalityKey(row[slot], key[place]!.field)));
  const subqueryResults: ReadonlySet<string>[] = [];
  for (const further of rest.subqueries) {
    const combined = { joins: mergeJoins(joins, further.joins), where: and(where, further.where) };
    const found = await session.read({ table, columns: key, ...combined, order: [] });
    subqueryResults.push(new Set(found.map((row) => keyAt(row, [...key.keys()]))));
  }
  const verdicts = known.evaluate(
    rest,
    rows.map((row) => [...row.slice(columns.length), ...subqueryResults.map((those) => those.has(keyAt(row, slots)))]),
  );
  return rows.filter((_, place) => verdicts[place]).map((row) => row.slice(0, columns.length));
}

const toReadContext = ({
  session,
  prefetched: known,
  target: { collection },
}: TransactionContext): MatchReadContext => ({ session, prefetched: known, collection });

/** Each join once, parents first. */
function mergeJoins(joins: readonly Join[], more: readonly Join[]): readonly Join[] {
  const known = new Set(joins.map(({ via }) => relationPathId(via)));
  return [...joins, ...more.filter(({ via }) => !known.has(relationPathId(via)))];
}

/** The rows end with the results of the guards. Late guards are checked now. */
async function checkGuards(context: TransactionContext, rows: readonly Row[]): Promise<Row[]> {
  const { target, guards } = context;
  const width = target.columns.length;
  const checked = guards.filter(({ isDeferred: isLate }) => !isLate);
  for (const row of rows)
    for (const [at, guard] of checked.entries()) if (row[width + at] !== true) refuseWrite(context, guard);
  const targetRows = rows.map((row) => row.slice(0, width));
  const deferred = guards.filter(({ isDeferred: isLate }) => isLate);
  if (deferred.length) await checkDeferred(context, keysOf(target, targetRows), deferred);
  return targetRows;
}

/** Reads the records with these keys, and checks all guards. */
export async function readBack(context: TransactionContext, keys: readonly (readonly unknown[])[]): Promise<Row[]> {
  const { target, guards } = context;
  const rows = await readGuarded(context, keys, guards);
  if (rows.length === keys.length) {
    for (const guard of guards) await checkTargets(context, keys, guard);
    return sortByKeys(target, rows, keys);
  }
  for (const guard of guards) await checkDeferred(context, keys, [guard]);
  throw new MissingRecords();
}

async function checkDeferred(
  context: TransactionContext,
  keys: readonly (readonly unknown[])[],
  guards: readonly Guard[],
): Promise<void> {
  if ((await readGuarded(context, keys, guards)).length < keys.length) {
    if (guards.length === 1) return refuseWrite(context, guards[0]!);
    for (const guard of guards) await checkDeferred(context, keys, [guard]);
  }
  for (const guard of guards) await checkTargets(context, keys, guard);
}

/** The records that satisfy the guards. Only the guard of the row scope can have an in-memory part. */
function readGuarded(
  context: TransactionContext,
  keys: readonly (readonly unknown[])[],
  all: readonly Guard[],
): Promise<Row[]> {
  const { target } = context;
  const guards = all.filter(({ targetRelation: pointer }) => !pointer);
  const where = and(keysFilter(target, keys), ...guards.map(({ condition }) => condition.where));
  const joins = guards.reduce<readonly Join[]>((some, { condition }) => mergeJoins(some, condition.joins), []);
  const rest = guards.find(({ condition }) => condition.residual)?.condition.residual;
  return readMatching(toReadContext(context), target.columns, { joins, where, ...(rest && { residual: rest }) });
}

/** Checks that the caller may see the records that the pointer of the guard leads to. */
async function checkTargets(
  context: TransactionContext,
  keys: readonly (readonly unknown[])[],
  guard: Guard,
): Promise<void> {
  const { target, prefetched: known, session } = context;
  const { targetRelation: pointer, condition } = guard;
  if (!pointer) return;
  const { to: collection, on } = pointer;
  const own = on.map(({ from }) => pathTo(target.collection, [], from));
  const where = and(keysFilter(target, keys), condition.where);
  const rows = await readMatching(toReadContext(context), own, { joins: condition.joins, where });
  const referencing = rows.filter((row) => !row.includes(null));
  if (referencing.length === 0) return;
  const columns = on.map(({ to }) => pathTo(collection, [], to));
  const those = or(...referencing.map((row) => and(...columns.map((path, place) => equals(path, row[place])))));
  const found = await readMatching(
    { session, prefetched: known, collection },
    columns,
    known.withScope(collection, those),
  );
  const rowKey = (row: Row) => JSON.stringify(columns.map(({ field }, place) => equalityKey(row[place], field)));
  const existing = new Set(found.map(rowKey));
  if (!referencing.every((row) => existing.has(rowKey(row)))) refuseWrite(context, guard);
}

function refuseWrite({ target, verb }: TransactionContext, { fields }: Guard): never {
  const collection = target.collection.name;
  if (fields.length === 0)
    fail('FORBIDDEN', {
      verb,
      collection,
      why: 'with these values the record would be outside the rows that you may see.',
    });
  return fail('INVALID_RECORD', { collection, problems: [{ field: fields.join(', '), problem: NO_SUCH_RECORD }] });
}

/** The same text for missing and for invisible records. */
export const NO_SUCH_RECORD = 'no record has this key, or you may not see it.';

export function keysOf(target: Target, rows: readonly Row[]): unknown[][] {
  return rows.map((row) => keyOf(target, row));
}

const keyOf = ({ keySlots }: Target, row: Row): unknown[] => keySlots.map((slot) => row[slot]);

/** Equal for keys that the database treats as equal. */
export function keyMark({ collection }: Target, key: readonly unknown[]): string {
  return JSON.stringify(key.map((value, at) => equalityKey(value, collection.key[at]!)));
}

function sortByKeys(target: Target, rows: readonly Row[], keys: readonly (readonly unknown[])[]): Row[] {
  const places = new Map(keys.map((key, place) => [keyMark(target, key), place]));
  const place = (row: Row): number => places.get(keyMark(target, keyOf(target, row))) ?? keys.length;
  return [...rows].sort((a, b) => place(a) - place(b));
}
