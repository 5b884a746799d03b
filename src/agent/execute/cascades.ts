// Predicts what the database does by itself when records are deleted or their keys change. Runs before the statement,
// in its transaction, and follows the foreign keys from the written records: one query for each key and level. Every
// record is followed once, so cycles end.

import { always, and, or } from '../lower/simplify.ts';
import type { Collection, Column, Incoming, KeyPair, ReferencingCollection } from '../model/types.ts';
import type { Filter } from '../plan/types.ts';
import { equals, keysFilter, storedColumns } from '../plan/write.ts';
import { pathTo, toUnscopedRelation } from '../resolve/paths.ts';
import { equalityKey } from '../sources/evaluate.ts';
import type { Session } from '../sources/source.ts';

/** Keys per statement. */
const KEYS_PER_STATEMENT = 500;

/** Placeholder for the value that SET DEFAULT writes. */
export const defaultValue = Symbol('default');

/** A record that the statement or one of its cascades writes. */
export interface CascadedRecord {
  readonly collection: Collection;
  /** The previous values of the identifying columns, of referenced columns and of the followed foreign keys. */
  readonly before: Map<Column, unknown>;
  /** The call itself names it. */
  readonly isRoot: boolean;
  /** A cascade reaches it. Roots can be reached too. */
  isCascaded: boolean;
  isDeleted: boolean;
  /** The new values of an update. */
  readonly next: Map<Column, unknown>;
  /** Greater than one only for equal records of a table without a key. */
  count: number;
}

/** Checks the grants of the caller for cascades. Each method throws if they do not suffice. */
export interface CascadePermissions {
  /** The database would delete records of the collection, or set these columns. */
  requireWrite(collection: Collection, columns: readonly Column[] | 'delete'): void;
  /** The database would write to a table that is not served. */
  refuseUnserved(): void;
  /** Requires all `count` records that satisfy the filter to be in the row scope. */
  requireVisible(session: Session, collection: Collection, where: Filter, count: number): Promise<void>;
  /** `count`: the number of records found so far. */
  requireWithinLimit(count: number): void;
}

/** Whether the foreign keys allow cascades of such a write. `set`: the values of an update; null for a delete. */
export function canCascade({ referencedBy }: Collection, set: ReadonlyMap<Column, unknown> | null): boolean {
  if (!set) return referencedBy.some(({ reference }) => reference.onDelete !== 'none');
  return referencedBy.some((incoming) => incoming.reference.onUpdate !== 'none' && affectsKey(incoming, set));
}

function affectsKey({ reference }: Incoming, set: ReadonlyMap<Column, unknown>): boolean {
  return [...set.keys()].some(({ column }) => reference.targetColumns.includes(column));
}

/** The records of the statement, and all records that its cascades write. */
export async function findCascades(
  session: Session,
  permissions: CascadePermissions,
  collection: Collection,
  keys: readonly (readonly unknown[])[],
  set: ReadonlyMap<Column, unknown> | null,
): Promise<readonly CascadedRecord[]> {
  const walk = createCascadeWalk(
    { ...session, read: (select) => session.read({ ...select, lock: true }) },
    permissions,
  );
  let wave = await walk.readRoots(collection, keys, set);
  while (wave.size > 0) wave = await walk.follow(wave);
  return walk.reached();
}

function createCascadeWalk(session: Session, permissions: CascadePermissions) {
  const known = new Map<Collection, Map<string, CascadedRecord>>();
  let extended = 0;

  const recordsOf = (collection: Collection) => {
    const records = known.get(collection) ?? new Map<string, CascadedRecord>();
    known.set(collection, records);
    return records;
  };

  async function readAll(
    collection: Collection,
    more: readonly KeyPair[],
    where: Filter,
    holder?: ReferencingCollection,
  ): Promise<Map<Column, unknown>[]> {
    const columns = columnsToRead(collection, more);
    const joins = holder ? [{ via: [toUnscopedRelation(holder.relation)], where: always, joins: [] }] : [];
    const paths = columns.map((column) => pathTo(collection, [], column));
    const rows = await session.read({ table: collection.table, columns: paths, joins, where, order: [] });
    return rows.map((row) => new Map(columns.map((column, slot) => [column, row[slot]])));
  }

  /** Returns the existing object if the record was reached before. */
  function recordOf(collection: Collection, before: Map<Column, unknown>): CascadedRecord {
    const records = recordsOf(collection);
    const mark = recordKey(collection, before);
    const record = records.get(mark) ?? createCascadedRecord(collection, before, false);
    for (const [column, value] of before) record.before.set(column, value);
    if (!record.isCascaded && !record.isRoot) permissions.requireWithinLimit(++extended);
    record.isCascaded = true;
    records.set(mark, record);
    return record;
  }

  /** Adds records to `changed` that are reached for the first time, or get further changes. */
  async function followKey(
    collection: Collection,
    { from, reference }: Incoming,
    parents: readonly CascadedRecord[],
    changed: Set<CascadedRecord>,
  ): Promise<void> {
    const isDelete = parents[0]!.isDeleted;
    const action = isDelete ? reference.onDelete : reference.onUpdate;
    if (!from) {
      const where = recordsFilter(collection, parents);
      const select = { table: collection.table, columns: [], joins: [], order: [], limit: 1 };
      if ((await session.read({ ...select, where, referencedBy: reference })).length > 0) permissions.refuseUnserved();
      return;
    }
    const { collection: holder, relation } = from;
    const where = recordsFilter(holder, parents, from);
    const found = await readAll(holder, relation.on, where, from);
    const records = [...new Set(found.map((before) => recordOf(holder, before)))];
    for (const record of records) record.count = Math.max(record.count, countOf(record, found));
    const left = records.filter(({ isDeleted }) => !isDeleted);
    if (left.length === 0) return;
    await permissions.requireVisible(session, holder, where, found.length);
    if (isDelete && action === 'cascade') {
      permissions.requireWrite(holder, 'delete');
      for (const record of left) {
        record.isDeleted = true;
        changed.add(record);
      }
      return;
    }
    const byKey = new Map(parents.map((each) => [foreignKeyMark(relation.on, each.before, 'to'), each]));
    const touched = new Set<Column>();
    for (const record of left) {
      const parent = byKey.get(foreignKeyMark(relation.on, record.before, 'from'));
      for (const pair of relation.on) {
        const { from: column, to } = pair;
        if (action === 'cascade' ? !parent?.next.has(to) : isDelete && !from.setColumns.includes(column)) continue;
        touched.add(column);
        if (record.next.has(column)) continue;
        record.next.set(
          column,
          action === 'cascade' ? parent?.next.get(to) : action === 'set null' ? null : defaultValue,
        );
        changed.add(record);
      }
    }
    permissions.requireWrite(holder, [...touched]);
  }

  return {
    reached: () => [...known.values()].flatMap((records) => [...records.values()]),

    async readRoots(
      collection: Collection,
      keys: readonly (readonly unknown[])[],
      set: ReadonlyMap<Column, unknown> | null,
    ): Promise<ReadonlySet<CascadedRecord>> {
      const roots = new Set<CascadedRecord>();
      const key = collection.key.map((column) => pathTo(collection, [], column));
      for (const some of toBatches(keys))
        for (const before of await readAll(collection, [], keysFilter({ key }, some))) {
          const root = createCascadedRecord(collection, before, true);
          root.isDeleted = !set;
          for (const [column, value] of set ?? [])
            if (before.has(column) && differs(column, before.get(column), value)) root.next.set(column, value);
          recordsOf(collection).set(recordKey(collection, before), root);
          roots.add(root);
        }
      return roots;
    },

    async follow(wave: ReadonlySet<CascadedRecord>): Promise<ReadonlySet<CascadedRecord>> {
      const changed = new Set<CascadedRecord>();
      for (const collection of new Set([...wave].map((each) => each.collection)))
        for (const incoming of collection.referencedBy) {
          const { onDelete, onUpdate } = incoming.reference;
          const records = [...wave].filter((each) => each.collection === collection);
          const deleted = onDelete === 'none' ? [] : records.filter(({ isDeleted }) => isDeleted);
          const updated =
            onUpdate === 'none' ? [] : records.filter((each) => !each.isDeleted && affectsKey(incoming, each.next));
          for (const some of [...toBatches(deleted), ...toBatches(updated)])
            await followKey(collection, incoming, some, changed);
        }
      return changed;
    },
  };
}

function createCascadedRecord(collection: Collection, before: Map<Column, unknown>, isRoot: boolean): CascadedRecord {
  return { collection, before, isRoot, isCascaded: false, isDeleted: false, next: new Map(), count: 1 };
}

/** The identifying columns, the columns that foreign keys reference, and the columns of the own foreign key. */
function columnsToRead(collection: Collection, on: readonly KeyPair[]): Column[] {
  const referenced = collection.referencedBy.flatMap(({ from }) => from?.relation.on.map(({ to }) => to) ?? []);
  return [...new Set([...identityOf(collection), ...referenced, ...on.map(({ from }) => from)])];
}

/** Without a key, all values identify a record. Equal records are counted: a cascade that reaches one reaches all. */
function identityOf(collection: Collection): readonly Column[] {
  if (collection.key.length > 0) return collection.key;
  return storedColumns(collection).filter(
    ({ type }) => typeof type === 'string' && type !== 'Json' && type !== 'Point',
  );
}

function recordKey(collection: Collection, values: ReadonlyMap<Column, unknown>): string {
  return JSON.stringify(identityOf(collection).map((column) => valueKey(column, values.get(column))));
}

const valueKey = (column: Column, value: unknown): string | null =>
  value === null || value === undefined ? null : equalityKey(value, column);

/** Equal for a foreign key and the key that it references. The referenced columns decide how values compare. */
function foreignKeyMark(on: readonly KeyPair[], values: ReadonlyMap<Column, unknown>, side: 'from' | 'to'): string {
  return JSON.stringify(on.map((pair) => valueKey(pair.to, values.get(pair[side]))));
}

function countOf(record: CascadedRecord, found: readonly ReadonlyMap<Column, unknown>[]): number {
  if (record.collection.key.length > 0) return 1;
  const own = recordKey(record.collection, record.before);
  return found.filter((values) => recordKey(record.collection, values) === own).length;
}

function differs(column: Column, was: unknown, is: unknown): boolean {
  const exact: Column = { ...column, collation: 'binary' };
  return valueKey(exact, was) !== valueKey(exact, is);
}

/** Selects these records; with a holder, the records that reference them. */
function recordsFilter(home: Collection, records: readonly CascadedRecord[], holder?: ReferencingCollection): Filter {
  const { collection } = records[0]!;
  const via = holder ? [toUnscopedRelation(holder.relation)] : [];
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

function toBatches<T>(list: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let at = 0; at < list.length; at += KEYS_PER_STATEMENT) parts.push(list.slice(at, at + KEYS_PER_STATEMENT));
  return parts;
}
