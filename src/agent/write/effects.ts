// Computes the effects of a call in all collections, from the list that its writes filled
// (agent/execute/written-records.ts). Dry runs, approvals, answers and the activity log all use these effects.
import type { Access } from '../../core/caller.ts';
import { packId } from '../encode/record-id.ts';
import { binarySlots, readyRows } from '../encode/records.ts';
import type { Cause, Change, WriteList, WriteLogEntry } from '../execute/written-records.ts';
import type { Collection, Column } from '../model/types.ts';
import { viewOf } from '../resolve/visibility.ts';
import type { Row } from '../sources/statement.ts';

export type { WriteList, WriteLogEntry as Written };

export interface RecordChange {
  /** Null for a record that would be created. */
  readonly id: string | null;
  /** The fields that would change. */
  readonly fields: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>>;
}

/**
 * The records of one collection that a call writes in the same way and for the same cause. Each record belongs to one
 * effect: a record that is written twice counts once, with its values before the first write and after the last.
 *
 * @example
 * { "collection": "Album", "change": "updated", "cause": "relation", "count": 1, "ids": ["1"],
 *   "changes": [{ "id": "1", "fields": { "Title": { "before": "A", "after": "B" } } }] }
 */
export interface WriteEffect {
  /**
   * Null for a collection that the caller may not see. Its effect contains only the change, the cause and the count.
   */
  readonly collection: string | null;
  readonly change: Change;
  readonly cause: Cause;
  /** The number of written records, including updates that change no values. */
  readonly count: number;
  /** Absent for records that do not exist yet, if the key is hidden from the caller, and if only the count is known. */
  readonly ids?: readonly string[];
  /**
   * The fields that the caller sees, before and after. Absent if the previous values were not read, and for records
   * that the call itself names once they are written.
   */
  readonly changes?: readonly RecordChange[];
}

/**
 * An effect in the activity log: names, ids and counts, with the names of all collections
 * (store/audit/activity-types.ts).
 */
interface LoggedEffect {
  readonly collection: string;
  readonly change: Change;
  readonly cause: Cause;
  readonly count: number;
  readonly ids?: readonly string[];
}

/** One record, written once or several times. */
export interface WrittenRecord {
  readonly collection: Collection;
  readonly id: string | null;
  change: Change;
  cause: Cause;
  before?: ReadonlyMap<Column, unknown>;
  after?: ReadonlyMap<Column, unknown>;
}

/** Records of one collection that were written in the same way. */
interface EffectGroup extends Pick<WriteLogEntry, 'collection' | 'change' | 'cause'> {
  /** The number of records without known ids. */
  unknown: number;
  readonly records: WrittenRecord[];
}

/**
 * The effects that the caller may see. `preview`: ids of new records are omitted, because the transaction rolls back.
 */
export function describeEffects(access: Access, list: readonly WriteLogEntry[], preview: boolean): WriteEffect[] {
  return groupEffects(list).map(({ collection, change, cause, unknown, records }) => {
    const count = records.length + unknown;
    if (!collection.isPublished || !access.can('browse', collection.name))
      return { collection: null, change, cause, count };
    const { columns } = viewOf(access, collection);
    const seen = new Set(columns);
    const showsKey = collection.key.length > 0 && collection.key.every((column) => seen.has(column));
    const hasIds = showsKey && unknown === 0 && !(preview && change === 'created');
    const listsChanges = preview || cause !== 'call';
    const canCompare = listsChanges && unknown === 0 && records.every(({ before }) => before || change === 'created');
    const idOf = ({ id }: WrittenRecord) => (showsKey && !(preview && change === 'created') ? id : null);
    return {
      collection: collection.name,
      change,
      cause,
      count,
      ...(hasIds && { ids: records.map(({ id }) => id!) }),
      ...(canCompare && { changes: records.map((each) => ({ id: idOf(each), fields: compareValues(each, columns) })) }),
    };
  });
}

function logEffects(list: readonly WriteLogEntry[]): LoggedEffect[] {
  return groupEffects(list).map(({ collection, change, cause, unknown, records }) => ({
    ...{ collection: collection.name, change, cause, count: records.length + unknown },
    ...(unknown === 0 && collection.key.length > 0 && { ids: records.map(({ id }) => id!) }),
  }));
}

/**
 * For the activity log: the effects on records that the entry does not name as written. `recordIds` are those of the
 * answer. An entry about a link names the record with the relation, which can also be the written record.
 */
export function logOtherEffects(
  list: readonly WriteLogEntry[],
  collection: string | undefined,
  recordIds: readonly string[] = [],
): { readonly effects?: readonly LoggedEffect[] } {
  const own = new Set(recordIds);
  const effects = logEffects(list).filter(
    (effect) => effect.cause !== 'call' || effect.collection !== collection || !effect.ids?.every((id) => own.has(id)),
  );
  return effects.length > 0 ? { effects } : {};
}

/**
 * The effects that an approval is bound to: the written records and their previous values, visible to the caller or
 * not. Writes by code are excluded, because a preview may run code differently.
 */
export function toApprovalEffects(list: readonly WriteLogEntry[]): unknown {
  return groupEffects(list.filter(({ cause }) => cause !== 'code')).map(
    ({ collection, change, cause, unknown, records }) => ({
      ...{ collection: collection.name, change, cause, count: records.length + unknown },
      records: change === 'created' ? [] : records.map(({ id, before }) => [id, before && toValues(before)]).sort(byId),
    }),
  );
}

const toValues = (values: ReadonlyMap<Column, unknown>): Record<string, unknown> =>
  Object.fromEntries([...values].map(([column, value]) => [column.name, value ?? null]));

const byId = ([a]: readonly unknown[], [b]: readonly unknown[]): number => (String(a) < String(b) ? -1 : 1);

function groupEffects(list: readonly WriteLogEntry[]): EffectGroup[] {
  const groups = new Map<string, EffectGroup>();
  const groupOf = ({
    collection,
    change,
    cause,
  }: Pick<WriteLogEntry, 'collection' | 'change' | 'cause'>): EffectGroup => {
    const name = JSON.stringify([collection.name, change, cause]);
    const group = groups.get(name) ?? { collection, change, cause, unknown: 0, records: [] };
    groups.set(name, group);
    return group;
  };
  const { written: touched, others } = mergeRecords(list);
  // Groups stay in the order of the writes.
  for (const written of list) groupOf(written).unknown += others.has(written) ? written.count : 0;
  for (const each of touched) groupOf(each).records.push(each);
  return [...groups.values()].filter(({ unknown, records }) => unknown + records.length > 0);
}

/** Each record once, in the order of first writes. `others` are writes with only a known count. */
export function mergeRecords(list: readonly WriteLogEntry[]): {
  readonly written: readonly WrittenRecord[];
  readonly others: ReadonlySet<WriteLogEntry>;
} {
  const known = new Map<string, WrittenRecord>();
  const touched = new Set<WrittenRecord>();
  const others = new Set<WriteLogEntry>();
  for (const written of list) {
    const { collection, change, cause, rows } = written;
    if (!rows) {
      others.add(written);
      continue;
    }
    const { columns } = rows.target;
    const [before, after] = [toReadyRows(rows.before, columns), toReadyRows(rows.after, columns)];
    for (let at = 0; at < written.count; at++) {
      const [was, is] = [before?.[at], after?.[at]];
      const idOf = (row: Row | undefined) => row && packIdOf(rows.target, row);
      const id = idOf(is) ?? idOf(was) ?? null;
      const now: WrittenRecord = {
        ...{ collection, id, change, cause },
        ...(was && { before: toColumnValues(columns, was) }),
        ...(is && { after: toColumnValues(columns, is) }),
      };
      const recordKey = (each: string | null | undefined) => JSON.stringify([collection.name, each]);
      const mark = recordKey(idOf(was) ?? id);
      const earlier = id === null ? undefined : known.get(mark);
      if (earlier) touched.delete(earlier);
      known.delete(mark);
      const folded = earlier ? mergeWrites(earlier, now) : now;
      if (!folded) continue;
      if (id !== null) known.set(recordKey(id), folded);
      touched.add(folded);
    }
  }
  return { written: [...touched], others };
}

/** Combines two writes of one record. Undefined if they cancel each other out. */
function mergeWrites(first: WrittenRecord, next: WrittenRecord): WrittenRecord | undefined {
  if (first.change === 'created' && next.change === 'deleted') return undefined;
  const before = first.change === 'created' ? undefined : (first.before ?? next.before);
  const after =
    next.change === 'deleted'
      ? undefined
      : new Map([...(first.change === 'deleted' ? [] : (first.after ?? [])), ...(next.after ?? [])]);
  // Code that replaces the database write writes the records that the call names.
  const cause = next.cause === 'call' ? 'call' : first.cause;
  const change = first.change === 'created' ? 'created' : next.change === 'created' ? 'updated' : next.change;
  return {
    collection: next.collection,
    id: next.id,
    change,
    cause,
    ...(before && { before }),
    ...(after && { after }),
  };
}

function toReadyRows(rows: readonly Row[] | undefined, columns: Parameters<typeof binarySlots>[0]): Row[] | undefined {
  const copies = rows?.map((row) => [...row]);
  if (copies) readyRows(copies, binarySlots(columns));
  return copies;
}

function packIdOf({ collection, keySlots }: NonNullable<WriteLogEntry['rows']>['target'], row: Row): string | null {
  return collection.key.length === 0 ? null : packId(keySlots.map((slot) => row[slot]));
}

const toColumnValues = (columns: readonly { readonly field: Column }[], row: Row): ReadonlyMap<Column, unknown> =>
  new Map(columns.map(({ field }, slot) => [field, row[slot] ?? null]));

function compareValues({ change, before, after }: WrittenRecord, columns: readonly Column[]): RecordChange['fields'] {
  const fields: Record<string, { readonly before: unknown; readonly after: unknown }> = Object.create(null);
  for (const column of columns) {
    const [was, is] = [before?.get(column) ?? null, after?.get(column) ?? null];
    const isThere = before?.has(column) || after?.has(column);
    if (!isThere || (change === 'created' && is === null)) continue;
    if (JSON.stringify(was) === JSON.stringify(is)) continue;
    fields[column.name] = { before: was, after: is };
  }
  return fields;
}
