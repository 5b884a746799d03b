// The statements of one write, within its transaction. Where the database does not give back what it wrote, it is read by
// key; a guard that the statement could not tell is asked the same way.
import { fail } from '../../core/errors.ts';
import type { Column } from '../model/types.ts';
import { markOf } from '../sources/evaluate.ts';
import type { Condition, Row, Session, Writing } from '../sources/source.ts';
import type { ScopeOf } from './lower.ts';
import { planJoins } from './plan-read.ts';
import { type Guard, keysFilter, planDelete, planInserts, planUpdate, type Target } from './plan-write.ts';
import { and } from './simplify.ts';
import type { Values } from './write-values.ts';

/** Thrown when a statement met fewer records than there are keys: which ones is found out when all is taken back. */
export class Shortfall extends Error {}

export interface WriteContext {
  readonly session: Session;
  readonly returning: Writing['returning'];
  readonly target: Target;
  readonly guards: readonly Guard[];
  readonly scope: ScopeOf;
  /** What the caller wants to do, for messages. */
  readonly verb: string;
}

/** Rows as wide as `target.columns`, in the order of the records. */
export async function insertRecords(context: WriteContext, records: readonly Values[]): Promise<Row[]> {
  const { session, returning, target, guards } = context;
  const key = target.collection.key;
  const keys: unknown[][] = [];
  const rows: Row[] = [];
  // Without rows that come back, only the key of a single record is known.
  const one = !returning.insert && !records.every((values) => key.every((column) => values.has(column)));
  for (const { insert, positions } of planInserts(target, records, guards, one)) {
    const written = await session.insert(insert);
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
  condition: Condition,
): Promise<Row[]> {
  const { session, returning, target, guards } = context;
  if (set.size === 0) return readRecords(context, keys, condition);
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
  { session, returning, target }: WriteContext,
  keys: readonly (readonly unknown[])[],
  condition: Condition,
): Promise<Row[]> {
  const { table } = target.collection;
  const before = returning.delete
    ? undefined
    : await session.read({ table, ...condition, columns: target.columns, order: [] });
  const { count, rows } = await session.delete(planDelete(target, condition));
  if (count !== keys.length) throw new Shortfall();
  return inOrder(target, before ?? rows, keys);
}

export async function readRecords(
  { session, target }: Pick<WriteContext, 'session' | 'target'>,
  keys: readonly (readonly unknown[])[],
  condition: Condition,
): Promise<Row[]> {
  const rows = await session.read({ table: target.collection.table, ...condition, columns: target.columns, order: [] });
  if (rows.length !== keys.length) throw new Shortfall();
  return inOrder(target, rows, keys);
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
  if (rows.length === keys.length) return inOrder(target, rows, keys);
  for (const guard of guards) await ask(context, keys, [guard]);
  throw new Shortfall();
}

async function ask(
  context: WriteContext,
  keys: readonly (readonly unknown[])[],
  guards: readonly Guard[],
): Promise<void> {
  if ((await read(context, keys, guards)).length === keys.length) return;
  if (guards.length === 1) return refuse(context, guards[0]!);
  for (const guard of guards) await ask(context, keys, [guard]);
}

function read(
  { session, target, scope }: WriteContext,
  keys: readonly (readonly unknown[])[],
  guards: readonly Guard[],
): Promise<Row[]> {
  const where = and(keysFilter(target, keys), ...guards.map(({ condition }) => condition.where));
  const joins = planJoins(where, scope);
  return session.read({ table: target.collection.table, columns: target.columns, joins, where, order: [] });
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
