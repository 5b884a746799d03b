// What the database does by itself when records are deleted or their keys change, found out before the statement that
// starts it, in its transaction: from the written records along the foreign keys, one statement for each key and level.
// Every record is followed once, so that cycles end.

import { always, and, or } from '../lower/simplify.ts';
import type { Collection, Column, Holder, Incoming, KeyPair } from '../model/types.ts';
import type { Filter } from '../plan/types.ts';
import { equals, keysFilter, storedColumns } from '../plan/write.ts';
import { pathTo, twinOf } from '../resolve/paths.ts';
import { markOf } from '../sources/evaluate.ts';
import type { Session } from '../sources/source.ts';

/** Records whose keys are put into one statement. */
const BATCH = 500;

/** Stands for what SET DEFAULT puts into a column. */
export const byDefault = Symbol('default');

/** A record that the statement writes, or that the database writes for it. */
export interface Reached {
  readonly collection: Collection;
  /** Of the key, and of the foreign keys that hold it or that it holds. */
  readonly before: Map<Column, unknown>;
  /** Whether the call itself names it. */
  readonly isRoot: boolean;
  /** The database meets it, too. */
  isExtended: boolean;
  isDeleted: boolean;
  /** What an update puts there. */
  readonly next: Map<Column, unknown>;
  /** More than one only where the table has no key that would tell them apart. */
  count: number;
}

/** What the caller may reach; each method fails where it may not be. */
export interface CascadeGate {
  /** Records were found that would be deleted, or of which the database would set these columns. */
  reach(collection: Collection, columns: readonly Column[] | 'delete'): void;
  /** Records were found in a table that is not served. */
  reachUnserved(): void;
  /** That the row scope leaves out none of the records that satisfy the filter. */
  needSeen(session: Session, collection: Collection, where: Filter, count: number): Promise<void>;
  /** So many records were found in all. */
  needBounded(count: number): void;
}

/** Whether the catalogue says that such a write goes on elsewhere. `set` is what an update writes; null for a delete. */
export function mayExtend({ referencedBy }: Collection, set: ReadonlyMap<Column, unknown> | null): boolean {
  if (!set) return referencedBy.some(({ reference }) => reference.onDelete !== 'none');
  return referencedBy.some((incoming) => incoming.reference.onUpdate !== 'none' && touches(incoming, set));
}

function touches({ reference }: Incoming, set: ReadonlyMap<Column, unknown>): boolean {
  return [...set.keys()].some(({ column }) => reference.targetColumns.includes(column));
}

/** The records of the statement, and all that the database will write for it. */
export async function findCascades(
  session: Session,
  gate: CascadeGate,
  collection: Collection,
  keys: readonly (readonly unknown[])[],
  set: ReadonlyMap<Column, unknown> | null,
): Promise<readonly Reached[]> {
  const walk = createWalk({ ...session, read: (select) => session.read({ ...select, lock: true }) }, gate);
  let wave = await walk.readRoots(collection, keys, set);
  while (wave.size > 0) wave = await walk.follow(wave);
  return walk.reached();
}

function createWalk(session: Session, gate: CascadeGate) {
  const known = new Map<Collection, Map<string, Reached>>();
  let extended = 0;

  const recordsOf = (collection: Collection) => {
    const records = known.get(collection) ?? new Map<string, Reached>();
    known.set(collection, records);
    return records;
  };

  async function readAll(
    collection: Collection,
    more: readonly KeyPair[],
    where: Filter,
    holder?: Holder,
  ): Promise<Map<Column, unknown>[]> {
    const columns = columnsOf(collection, more);
    const joins = holder ? [{ via: [twinOf(holder.relation)], where: always, joins: [] }] : [];
    const paths = columns.map((column) => pathTo(collection, [], column));
    const rows = await session.read({ table: collection.table, columns: paths, joins, where, order: [] });
    return rows.map((row) => new Map(columns.map((column, slot) => [column, row[slot]])));
  }

  /** One that was met before is that one. */
  function recordOf(collection: Collection, before: Map<Column, unknown>): Reached {
    const records = recordsOf(collection);
    const mark = markRecord(collection, before);
    const record = records.get(mark) ?? newReached(collection, before, false);
    for (const [column, value] of before) record.before.set(column, value);
    if (!record.isExtended && !record.isRoot) gate.needBounded(++extended);
    record.isExtended = true;
    records.set(mark, record);
    return record;
  }

  /** The records that are met for the first time, or of which more is written than before. */
  async function followKey(
    collection: Collection,
    { from, reference }: Incoming,
    parents: readonly Reached[],
    changed: Set<Reached>,
  ): Promise<void> {
    const isDelete = parents[0]!.isDeleted;
    const action = isDelete ? reference.onDelete : reference.onUpdate;
    if (!from) {
      const where = recordsFilter(collection, parents);
      const asked = { table: collection.table, columns: [], joins: [], order: [], limit: 1 };
      if ((await session.read({ ...asked, where, heldBy: reference })).length > 0) gate.reachUnserved();
      return;
    }
    const { collection: holder, relation } = from;
    const where = recordsFilter(holder, parents, from);
    const found = await readAll(holder, relation.on, where, from);
    const records = [...new Set(found.map((before) => recordOf(holder, before)))];
    for (const record of records) record.count = Math.max(record.count, countOf(record, found));
    const left = records.filter(({ isDeleted }) => !isDeleted);
    if (left.length === 0) return;
    await gate.needSeen(session, holder, where, found.length);
    if (isDelete && action === 'cascade') {
      gate.reach(holder, 'delete');
      for (const record of left) {
        record.isDeleted = true;
        changed.add(record);
      }
      return;
    }
    const byKey = new Map(parents.map((each) => [markHeld(relation.on, each.before, 'to'), each]));
    const touched = new Set<Column>();
    for (const record of left) {
      const parent = byKey.get(markHeld(relation.on, record.before, 'from'));
      for (const pair of relation.on) {
        const { from: column, to } = pair;
        if (action === 'cascade' ? !parent?.next.has(to) : isDelete && !from.set.includes(column)) continue;
        touched.add(column);
        if (record.next.has(column)) continue;
        record.next.set(column, action === 'cascade' ? parent?.next.get(to) : action === 'set null' ? null : byDefault);
        changed.add(record);
      }
    }
    gate.reach(holder, [...touched]);
  }

  return {
    reached: () => [...known.values()].flatMap((records) => [...records.values()]),

    async readRoots(
      collection: Collection,
      keys: readonly (readonly unknown[])[],
      set: ReadonlyMap<Column, unknown> | null,
    ): Promise<ReadonlySet<Reached>> {
      const roots = new Set<Reached>();
      const key = collection.key.map((column) => pathTo(collection, [], column));
      for (const some of batches(keys))
        for (const before of await readAll(collection, [], keysFilter({ key }, some))) {
          const root = newReached(collection, before, true);
          root.isDeleted = !set;
          for (const [column, value] of set ?? [])
            if (before.has(column) && differs(column, before.get(column), value)) root.next.set(column, value);
          recordsOf(collection).set(markRecord(collection, before), root);
          roots.add(root);
        }
      return roots;
    },

    async follow(wave: ReadonlySet<Reached>): Promise<ReadonlySet<Reached>> {
      const changed = new Set<Reached>();
      for (const collection of new Set([...wave].map((each) => each.collection)))
        for (const incoming of collection.referencedBy) {
          const { onDelete, onUpdate } = incoming.reference;
          const records = [...wave].filter((each) => each.collection === collection);
          const deleted = onDelete === 'none' ? [] : records.filter(({ isDeleted }) => isDeleted);
          const updated =
            onUpdate === 'none' ? [] : records.filter((each) => !each.isDeleted && touches(incoming, each.next));
          for (const some of [...batches(deleted), ...batches(updated)])
            await followKey(collection, incoming, some, changed);
        }
      return changed;
    },
  };
}

function newReached(collection: Collection, before: Map<Column, unknown>, isRoot: boolean): Reached {
  return { collection, before, isRoot, isExtended: false, isDeleted: false, next: new Map(), count: 1 };
}

/** What tells its records apart, what other keys point to, and the foreign key itself. */
function columnsOf(collection: Collection, on: readonly KeyPair[]): Column[] {
  const pointedTo = collection.referencedBy.flatMap(({ from }) => from?.relation.on.map(({ to }) => to) ?? []);
  return [...new Set([...identityOf(collection), ...pointedTo, ...on.map(({ from }) => from)])];
}

/** Without a key, records with the same values count as so many: whatever reaches one of them reaches them all. */
function identityOf(collection: Collection): readonly Column[] {
  if (collection.key.length > 0) return collection.key;
  return storedColumns(collection).filter(
    ({ type }) => typeof type === 'string' && type !== 'Json' && type !== 'Point',
  );
}

function markRecord(collection: Collection, values: ReadonlyMap<Column, unknown>): string {
  return JSON.stringify(identityOf(collection).map((column) => mark(column, values.get(column))));
}

const mark = (column: Column, value: unknown): string | null =>
  value === null || value === undefined ? null : markOf(value, column);

/** By the columns that the key points to, on both sides. */
function markHeld(on: readonly KeyPair[], values: ReadonlyMap<Column, unknown>, side: 'from' | 'to'): string {
  return JSON.stringify(on.map((pair) => mark(pair.to, values.get(pair[side]))));
}

function countOf(record: Reached, found: readonly ReadonlyMap<Column, unknown>[]): number {
  if (record.collection.key.length > 0) return 1;
  const own = markRecord(record.collection, record.before);
  return found.filter((values) => markRecord(record.collection, values) === own).length;
}

function differs(column: Column, was: unknown, is: unknown): boolean {
  const exact: Column = { ...column, collation: 'binary' };
  return mark(exact, was) !== mark(exact, is);
}

/** These records; with a holder, the records that hold a key of theirs. */
function recordsFilter(home: Collection, records: readonly Reached[], holder?: Holder): Filter {
  const { collection } = records[0]!;
  const via = holder ? [twinOf(holder.relation)] : [];
  const { key } = collection;
  const columns = key.length > 0 || !holder ? identityOf(collection) : holder.relation.on.map(({ to }) => to);
  const paths = columns.map((column) => pathTo(home, via, column));
  if (key.length > 0)
    return keysFilter(
      { key: paths },
      records.map(({ before }) => columns.map((each) => before.get(each))),
    );
  return or(
    ...records.map(({ before }) => and(...paths.map((path, at) => equals(path, before.get(columns[at]!) ?? null)))),
  );
}

function batches<T>(list: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let at = 0; at < list.length; at += BATCH) parts.push(list.slice(at, at + BATCH));
  return parts;
}
