// Executes the statements of one write, in its transaction. If the database does not return the written rows, they are
// read by key. Guards that the statement cannot check are checked by such a read too.
import { fail } from '../../core/errors.ts';
import { and, or } from '../lower/simplify.ts';
import type { Collection, Column } from '../model/types.ts';
import type { Join, Path } from '../plan/types.ts';
import {
  equals,
  type Guard,
  type Known,
  keysFilter,
  type Meant,
  planDelete,
  planInserts,
  planUpdate,
  type Target,
} from '../plan/write.ts';
import { idOf, pathTo } from '../resolve/paths.ts';
import type { WriteEvent } from '../sources/described.ts';
import { markOf } from '../sources/evaluate.ts';
import { Refusal } from '../sources/refusal.ts';
import type { Session, Writing } from '../sources/source.ts';
import type { Row } from '../sources/statement.ts';
import type { Values } from '../write/drafts.ts';
import type { Ledger } from './written-records.ts';

/** Thrown if a statement finds fewer records than keys. The missing ones are determined after the rollback. */
export class Shortfall extends Error {}

/** The changes that the database makes itself during a statement (agent/write/cascades.ts). */
export interface Cascades {
  /** Notes that the table may have triggers for the event, with unknown effects. */
  note(collection: Collection, event: WriteEvent): void;
  /**
   * Called before the statement. `set`: the values of an update, null for a delete. Returns null if no cascade is
   * possible. Throws if the caller lacks the grants for the cascades.
   */
  foresee(
    collection: Collection,
    keys: readonly (readonly unknown[])[],
    set: Values | null,
  ): Promise<{
    /** How many of the records the cascades reach too, possibly before the statement does. */
    readonly overlap: number;
    /** Called after the statement: checks the cascades against the prediction, and records them. */
    readonly settle: () => Promise<void>;
  } | null>;
}

export interface WriteContext {
  readonly session: Session;
  readonly returning: Writing['returning'];
  readonly target: Target;
  readonly guards: readonly Guard[];
  readonly known: Known;
  /** The operation, for messages. */
  readonly verb: string;
  /** Receives the number of records written so far. */
  readonly progress?: ((done: number, total: number) => void) | undefined;
  /** Receives every written record. */
  readonly ledger: Ledger;
  readonly cascades: Cascades;
  /** The current rows of the records, if they have been read already. */
  readonly current?: readonly Row[];
}

/** Returns the columns of the target, in the order of the records. */
export async function insertRecords(context: WriteContext, records: readonly Values[]): Promise<Row[]> {
  const { session, returning, target, guards } = context;
  const key = target.collection.key;
  context.cascades.note(target.collection, 'insert');
  const keys: unknown[][] = [];
  const rows: Row[] = [];
  // Without RETURNING, the database reports a generated key only for a single record.
  const one = !returning.insert && !records.every((values) => key.every((column) => values.has(column)));
  let done = 0;
  for (const { insert, positions } of planInserts(target, records, guards, one)) {
    const written = await session.insert(insert);
    if (written.count < positions.length) throw new Refusal('ignored', []);
    done += positions.length;
    context.progress?.(done, records.length);
    for (const [index, position] of positions.entries()) {
      if (returning.insert) rows[position] = written.rows[index]!;
      else
        keys[position] = key.map(
          (column) => records[position]!.get(column) ?? written.insertedId ?? unknownKey(context, column),
        );
    }
  }
  const after = returning.insert ? await settle(context, rows) : await readBack(context, keys);
  context.ledger.add({
    collection: target.collection,
    change: 'created',
    count: after.length,
    rows: { target, after },
  });
  return after;
}

function unknownKey({ target }: WriteContext, { name }: Column): never {
  return fail('INVALID_RECORD', {
    collection: target.collection.name,
    problems: [{ field: name, problem: 'must be given, since this database does not tell what it would put there.' }],
  });
}

/** In the order of the keys. Throws Shortfall for missing records. `set` is empty if code removed all values. */
export async function updateRecords(
  context: WriteContext,
  keys: readonly (readonly unknown[])[],
  set: Values,
  condition: Meant,
): Promise<Row[]> {
  const { session, returning, target, guards } = context;
  if (set.size === 0) return readRecords(context, keys, condition);
  await needMeant(context, keys, condition);
  const before = await readCurrent(context, keys, condition);
  const extended = await context.cascades.foresee(target.collection, keys, set);
  const { count, rows } = await session.update(planUpdate(target, set, condition, guards));
  if (count !== keys.length) throw new Shortfall();
  const next = keys.map((values) =>
    target.collection.key.map((column, at) => (set.has(column) ? set.get(column) : values[at])),
  );
  // The returned rows lack the changes that cascades make to the same records.
  const isReturned = returning.update && !extended?.overlap;
  const after = isReturned ? inOrder(target, await settle(context, rows), next) : await readBack(context, next);
  await extended?.settle();
  const { collection } = target;
  context.ledger.add({ collection, change: 'updated', count, rows: { target, ...(before && { before }), after } });
  return after;
}

/** The rows before an update, in the order of the keys. Undefined if the ledger does not need them. */
async function readCurrent(
  context: WriteContext,
  keys: readonly (readonly unknown[])[],
  condition: Meant,
): Promise<readonly Row[] | undefined> {
  const { target, current, ledger } = context;
  if (!ledger.before) return undefined;
  if (!current) return readRecords(context, keys, condition);
  const meant = new Set(keys.map((key) => markKey(target, key)));
  const some = current.filter((row) => meant.has(markKey(target, keyOf(target, row))));
  return inOrder(target, some, keys);
}

/** Returns the deleted rows, in the order of the keys. Throws Shortfall for missing records. */
export async function deleteRecords(
  context: WriteContext,
  keys: readonly (readonly unknown[])[],
  condition: Meant,
): Promise<Row[]> {
  const { session, returning, target } = context;
  await needMeant(context, keys, condition);
  const extended = await context.cascades.foresee(target.collection, keys, null);
  const overlap = extended?.overlap ?? 0;
  const isReturned = returning.delete && overlap === 0;
  const before = isReturned ? undefined : await readMeant(at(context), target.columns, condition);
  const { count, rows } = await session.delete(planDelete(target, condition));
  if (count < keys.length - overlap || (before ?? rows).length !== keys.length) throw new Shortfall();
  await extended?.settle();
  const gone = inOrder(target, before ?? rows, keys);
  const { collection } = target;
  context.ledger.add({ collection, change: 'deleted', count: gone.length, rows: { target, before: gone } });
  return gone;
}

export async function readRecords(
  context: WriteContext,
  keys: readonly (readonly unknown[])[],
  condition: Meant,
): Promise<Row[]> {
  const { target } = context;
  const rows = await readMeant(at(context), target.columns, condition);
  if (rows.length !== keys.length) throw new Shortfall();
  return inOrder(target, rows, keys);
}

/** Throws Shortfall if a record does not satisfy the in-memory part of the condition. */
async function needMeant(
  context: WriteContext,
  keys: readonly (readonly unknown[])[],
  condition: Meant,
): Promise<void> {
  if (!condition.rest) return;
  if ((await readMeant(at(context), context.target.key, condition)).length !== keys.length) throw new Shortfall();
}

interface Reading extends Pick<WriteContext, 'session' | 'known'> {
  readonly collection: Collection;
}

/** Reads the records that satisfy a condition, including its in-memory part. */
export async function readMeant(
  { session, known, collection }: Reading,
  columns: readonly Path[],
  { joins, where, rest }: Meant,
): Promise<Row[]> {
  const { table } = collection;
  if (!rest) return session.read({ table, columns, joins, where, order: [] });
  const all = { table, columns: [...columns, ...rest.columns], joins: mergeJoins(joins, rest.joins), where, order: [] };
  const rows = await session.read(all);
  // A rest with `asked` conditions includes the key in its columns, to match their results with the rows.
  const key = rest.asked.length ? collection.key.map((column) => pathTo(collection, [], column)) : [];
  const slots = key.map((path) => columns.length + rest.columns.indexOf(path));
  const markAt = (row: Row, places: readonly number[]) =>
    JSON.stringify(places.map((slot, place) => markOf(row[slot], key[place]!.field)));
  const asked: ReadonlySet<string>[] = [];
  for (const further of rest.asked) {
    const both = { joins: mergeJoins(joins, further.joins), where: and(where, further.where) };
    const found = await session.read({ table, columns: key, ...both, order: [] });
    asked.push(new Set(found.map((row) => markAt(row, [...key.keys()]))));
  }
  const verdicts = known.judge(
    rest,
    rows.map((row) => [...row.slice(columns.length), ...asked.map((those) => those.has(markAt(row, slots)))]),
  );
  return rows.filter((_, place) => verdicts[place]).map((row) => row.slice(0, columns.length));
}

const at = ({ session, known, target: { collection } }: WriteContext): Reading => ({ session, known, collection });

/** Each join once, parents first. */
function mergeJoins(joins: readonly Join[], more: readonly Join[]): readonly Join[] {
  const known = new Set(joins.map(({ via }) => idOf(via)));
  return [...joins, ...more.filter(({ via }) => !known.has(idOf(via)))];
}

/** The rows end with the results of the guards. Late guards are checked now. */
async function settle(context: WriteContext, rows: readonly Row[]): Promise<Row[]> {
  const { target, guards } = context;
  const width = target.columns.length;
  const told = guards.filter(({ isLate }) => !isLate);
  for (const row of rows)
    for (const [at, guard] of told.entries()) if (row[width + at] !== true) refuse(context, guard);
  const settled = rows.map((row) => row.slice(0, width));
  const late = guards.filter(({ isLate }) => isLate);
  if (late.length) await ask(context, keysOf(target, settled), late);
  return settled;
}

/** Reads the records with these keys, and checks all guards. */
export async function readBack(context: WriteContext, keys: readonly (readonly unknown[])[]): Promise<Row[]> {
  const { target, guards } = context;
  const rows = await read(context, keys, guards);
  if (rows.length === keys.length) {
    for (const guard of guards) await follow(context, keys, guard);
    return inOrder(target, rows, keys);
  }
  for (const guard of guards) await ask(context, keys, [guard]);
  throw new Shortfall();
}

async function ask(
  context: WriteContext,
  keys: readonly (readonly unknown[])[],
  guards: readonly Guard[],
): Promise<void> {
  if ((await read(context, keys, guards)).length < keys.length) {
    if (guards.length === 1) return refuse(context, guards[0]!);
    for (const guard of guards) await ask(context, keys, [guard]);
  }
  for (const guard of guards) await follow(context, keys, guard);
}

/** The records that satisfy the guards. Only the guard of the row scope can have an in-memory part. */
function read(context: WriteContext, keys: readonly (readonly unknown[])[], all: readonly Guard[]): Promise<Row[]> {
  const { target } = context;
  const guards = all.filter(({ pointer }) => !pointer);
  const where = and(keysFilter(target, keys), ...guards.map(({ condition }) => condition.where));
  const joins = guards.reduce<readonly Join[]>((some, { condition }) => mergeJoins(some, condition.joins), []);
  const rest = guards.find(({ condition }) => condition.rest)?.condition.rest;
  return readMeant(at(context), target.columns, { joins, where, ...(rest && { rest }) });
}

/** Checks that the caller may see the records that the pointer of the guard leads to. */
async function follow(context: WriteContext, keys: readonly (readonly unknown[])[], guard: Guard): Promise<void> {
  const { target, known, session } = context;
  const { pointer, condition } = guard;
  if (!pointer) return;
  const { to: collection, on } = pointer;
  const own = on.map(({ from }) => pathTo(target.collection, [], from));
  const where = and(keysFilter(target, keys), condition.where);
  const rows = await readMeant(at(context), own, { joins: condition.joins, where });
  const held = rows.filter((row) => !row.includes(null));
  if (held.length === 0) return;
  const columns = on.map(({ to }) => pathTo(collection, [], to));
  const those = or(...held.map((row) => and(...columns.map((path, place) => equals(path, row[place])))));
  const found = await readMeant({ session, known, collection }, columns, known.within(collection, those));
  const mark = (row: Row) => JSON.stringify(columns.map(({ field }, place) => markOf(row[place], field)));
  const there = new Set(found.map(mark));
  if (!held.every((row) => there.has(mark(row)))) refuse(context, guard);
}

function refuse({ target, verb }: WriteContext, { fields }: Guard): never {
  const collection = target.collection.name;
  if (fields.length === 0)
    fail('FORBIDDEN', {
      verb,
      collection,
      why: 'with these values the record would lie outside the rows that you may see.',
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
export function markKey({ collection }: Target, key: readonly unknown[]): string {
  return JSON.stringify(key.map((value, at) => markOf(value, collection.key[at]!)));
}

function inOrder(target: Target, rows: readonly Row[], keys: readonly (readonly unknown[])[]): Row[] {
  const places = new Map(keys.map((key, place) => [markKey(target, key), place]));
  const place = (row: Row): number => places.get(markKey(target, keyOf(target, row))) ?? keys.length;
  return [...rows].sort((a, b) => place(a) - place(b));
}
