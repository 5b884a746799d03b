// The statements of one write, within its transaction. Where the database does not give back what it wrote, it is read by
// key; a guard that the statement could not tell is asked the same way.
import { fail } from '../../core/errors.ts';
import type { Collection, Column } from '../model/types.ts';
import { markOf } from '../sources/evaluate.ts';
import type { Join, Row, Session, Writing } from '../sources/source.ts';
import { idOf, pathTo } from './paths.ts';
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
} from './plan-write.ts';
import { and, or } from './simplify.ts';
import type { Path } from './types.ts';
import type { Values } from './write-values.ts';

/** Thrown when a statement met fewer records than there are keys: which ones is found out when all is taken back. */
export class Shortfall extends Error {}

export interface WriteContext {
  readonly session: Session;
  readonly returning: Writing['returning'];
  readonly target: Target;
  readonly guards: readonly Guard[];
  readonly known: Known;
  /** What the caller wants to do, for messages. */
  readonly verb: string;
  /** Told how many of the records of a call are written. */
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

/** Rows as wide as `target.columns`, in the order of the records. */
export async function insertRecords(context: WriteContext, records: readonly Values[]): Promise<Row[]> {
  const { session, returning, target, guards } = context;
  const key = target.collection.key;
  const keys: unknown[][] = [];
  const rows: Row[] = [];
  // Without rows that come back, only the key of a single record is known.
  const one = !returning.insert && !records.every((values) => key.every((column) => values.has(column)));
  let done = 0;
  for (const { insert, positions } of planInserts(target, records, guards, one)) {
    const written = await session.insert(insert);
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
  if (!returning.insert) return readBack(context, keys);
  return settle(context, rows);
}

function unknownKey({ target }: WriteContext, { name }: Column): never {
  return fail('INVALID_RECORD', {
    collection: target.collection.name,
    problems: [{ field: name, problem: 'must be given, since this database does not tell what it would put there.' }],
  });
}

/** In the order of the keys. Shortfall when there are fewer records. Code may have left nothing to write. */
export async function updateRecords(
  context: WriteContext,
  keys: readonly (readonly unknown[])[],
  set: Values,
  condition: Meant,
): Promise<Row[]> {
  const { session, returning, target, guards } = context;
  if (set.size === 0) return readRecords(context, keys, condition);
  await needMeant(context, keys, condition);
  const { count, rows } = await session.update(planUpdate(target, set, condition, guards));
  if (count !== keys.length) throw new Shortfall();
  const next = keys.map((values) =>
    target.collection.key.map((column, at) => (set.has(column) ? set.get(column) : values[at])),
  );
  if (!returning.update) return readBack(context, next);
  return inOrder(target, await settle(context, rows), next);
}

/** As they were, in the order of the keys. Shortfall when there are fewer. */
export async function deleteRecords(
  context: WriteContext,
  keys: readonly (readonly unknown[])[],
  condition: Meant,
): Promise<Row[]> {
  const { session, returning, target } = context;
  await needMeant(context, keys, condition);
  const before = returning.delete ? undefined : await readMeant(at(context), target.columns, condition);
  const { count, rows } = await session.delete(planDelete(target, condition));
  if (count !== keys.length) throw new Shortfall();
  return inOrder(target, before ?? rows, keys);
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

/** Shortfall where what is decided here does not hold for a record. */
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

/** The records that satisfy a condition, whoever decides it. */
export async function readMeant(
  { session, known, collection }: Reading,
  columns: readonly Path[],
  { joins, where, rest }: Meant,
): Promise<Row[]> {
  const { table } = collection;
  if (!rest) return session.read({ table, columns, joins, where, order: [] });
  const all = { table, columns: [...columns, ...rest.columns], joins: mergeJoins(joins, rest.joins), where, order: [] };
  const rows = await session.read(all);
  // A rest that asks has the key among its columns, which tells about which record.
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

/** Each once, parents first. */
function mergeJoins(joins: readonly Join[], more: readonly Join[]): readonly Join[] {
  const known = new Set(joins.map(({ via }) => idOf(via)));
  return [...joins, ...more.filter(({ via }) => !known.has(idOf(via)))];
}

/** Rows with the answers of the guards behind their columns; the late guards are asked now. */
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

/** The records of these keys, if all guards hold for them. */
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

/** Those that satisfy the guards. Only that of the row scope can have something left that is decided here. */
function read(context: WriteContext, keys: readonly (readonly unknown[])[], all: readonly Guard[]): Promise<Row[]> {
  const { target } = context;
  const guards = all.filter(({ pointer }) => !pointer);
  const where = and(keysFilter(target, keys), ...guards.map(({ condition }) => condition.where));
  const joins = guards.reduce<readonly Join[]>((some, { condition }) => mergeJoins(some, condition.joins), []);
  const rest = guards.find(({ condition }) => condition.rest)?.condition.rest;
  return readMeant(at(context), target.columns, { joins, where, ...(rest && { rest }) });
}

/** What the records point to must be what the caller may see. */
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

/** The same for a record that does not exist and for one that the caller may not see. */
export const NO_SUCH_RECORD = 'no record has this key, or you may not see it.';

export function keysOf({ keySlots }: Target, rows: readonly Row[]): unknown[][] {
  return rows.map((row) => keySlots.map((slot) => row[slot]));
}

/** Keys that the database takes for the same have one mark. */
export function markKey({ collection }: Target, key: readonly unknown[]): string {
  return JSON.stringify(key.map((value, at) => markOf(value, collection.key[at]!)));
}

function inOrder(target: Target, rows: readonly Row[], keys: readonly (readonly unknown[])[]): Row[] {
  const places = new Map(keys.map((key, place) => [markKey(target, key), place]));
  const place = (row: Row): number =>
    places.get(
      markKey(
        target,
        target.keySlots.map((slot) => row[slot]),
      ),
    ) ?? keys.length;
  return [...rows].sort((a, b) => place(a) - place(b));
}
