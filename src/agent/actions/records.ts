// The records of an action. A selection is read once, with the caller's grants, before any code of the action runs. If
// some records are missing or not visible, the call fails and names them all. Records that the code requests are read
// again, within the row scope. Requests in one tick share one query.
import type { Access } from '../../core/caller.ts';
import type { StopSignal } from '../../core/clock/stop.ts';
import { fail, isAppError } from '../../core/errors.ts';
import type { PlainFilter } from '../../core/filter.ts';
import type { AiProvider } from '../ai/definitions.ts';
import { packId } from '../encode/record-id.ts';
import type { CallOptions } from '../requests.ts';
import { splitFirst } from '../resolve/names.ts';
import { conditionedAccess, scopedAccess, selectingAccess } from './access.ts';
import type { ActionEngine, KeyColumn } from './collection-access.ts';
import type { ActionCollection, ActionEntry, ActionFilter, ActionRecord } from './definitions.ts';
import { type Key, keyOfRecord, type RecordId, readKey } from './keys.ts';

/** One id for `Single`; ids or conditions for `Bulk`; ignored for `Global`. */
export interface Selection {
  readonly recordIds?: readonly RecordId[] | null;
  readonly filter?: PlainFilter | null;
  readonly search?: string;
  readonly searchExtended?: boolean;
  readonly timezone?: string;
}

/** The maximum number of records in a selection. */
const SELECTION_LIMIT = 10_000;

export interface ActionCall {
  readonly engine: ActionEngine;
  readonly entry: ActionEntry;
  readonly access: Access;
  readonly signal: StopSignal | undefined;
  readonly written: CallOptions['written'];
}

/** Null without a selection; undefined for `Global`, which applies to the whole collection. */
export type Selected = readonly Key[] | null | undefined;

/**
 * INVALID_ARGUMENT for a selection that does not fit the scope of the action, RECORD_NOT_FOUND with all missing ids.
 * `needed`: the selection is required.
 */
export async function select(call: ActionCall, selection: Selection, needed: boolean): Promise<Selected> {
  const { entry } = call;
  const { scope } = entry.definition;
  if (scope === 'Global') return undefined;
  const { recordIds } = selection;
  if (recordIds) {
    const wrong = scope === 'Single' ? recordIds.length !== 1 : recordIds.length === 0;
    if (!wrong) return selectIds(call, recordIds);
    if (needed || recordIds.length > 1) refuseIds(call);
    return null;
  }
  const filtered = selection.filter || selection.search;
  if (scope === 'Bulk' && filtered) return selectWhere(call, selection);
  if (needed || filtered) refuseIds(call);
  return null;
}

function refuseIds({ entry }: ActionCall): never {
  const problem =
    entry.definition.scope === 'Single'
      ? `'${entry.name}' runs on one record: send one id.`
      : `'${entry.name}' runs on selected records: send at least one id. An empty list does not mean all records.`;
  return fail('INVALID_ARGUMENT', { argument: 'recordIds', problem });
}

async function selectIds(call: ActionCall, ids: readonly RecordId[]): Promise<readonly Key[]> {
  const { entry } = call;
  if (ids.length > SELECTION_LIMIT)
    fail('INVALID_ARGUMENT', { argument: 'recordIds', problem: `expected at most ${SELECTION_LIMIT} ids.` });
  const columns = keyColumns(call);
  const wantedIds = new Map(
    ids.map((id) => {
      const key =
        readKey(columns, id) ?? fail('INVALID_VALUE', { at: 'recordIds', expected: describeKey(columns), got: id });
      return [packId(key), key] as const;
    }),
  );
  const found = await listKeys(call, { filter: keyFilter(columns, [...wantedIds.values()]) });
  const known = new Set(found.map(packId));
  const missing = [...wantedIds.keys()].filter((id) => !known.has(id));
  if (missing.length > 0) fail('RECORD_NOT_FOUND', { collection: entry.collection, id: missing.join("', '") });
  return found;
}

/** Resolves the conditions with the caller's grants, so they reveal no hidden values. */
async function selectWhere(call: ActionCall, { recordIds: _, ...conditions }: Selection): Promise<readonly Key[]> {
  const found = await listKeys(call, { ...conditions, filter: conditions.filter ?? null });
  if (found.length === 0)
    fail('INVALID_ARGUMENT', {
      argument: 'filter',
      problem: 'matches no record that you may see; the action did not run.',
    });
  return found;
}

/**
 * FORBIDDEN with the ids of the records that do not satisfy the role's trigger condition. Like a row scope, the
 * condition is part of a query. It is checked on each load of the form and before the code runs, but not after changes
 * by the code.
 */
export async function checkCondition(call: ActionCall, selected: Selected): Promise<void> {
  const { access, entry } = call;
  const { collection, name } = entry;
  const condition = access.triggerCondition(collection, name);
  if (!condition || !selected) return;
  const columns = keyColumns(call);
  const fields = columns.map((column) => column.name);
  const conditioned = { ...call, access: conditionedAccess(access, collection, fields, condition) };
  const met = new Set((await readKeys(conditioned, { filter: keyFilter(columns, selected) })).map(packId));
  const failing = selected.map(packId).filter((id) => !met.has(id));
  if (failing.length === 0) return;
  const shown = failing.slice(0, 20).map((id) => `'${id}'`);
  const more = failing.length > shown.length ? ` and ${failing.length - shown.length} more` : '';
  const why = `your role allows this only under a condition, not met by ${shown.join(', ')}${more}. The action did not run; leave those records out.`;
  fail('FORBIDDEN', { verb: `run '${name}' on`, collection, why });
}

type Conditions = Omit<Selection, 'recordIds' | 'filter'> & { readonly filter: PlainFilter | null };

async function listKeys(call: ActionCall, conditions: Conditions): Promise<readonly Key[]> {
  const fields = keyColumns(call).map(({ name }) => name);
  return readKeys({ ...call, access: selectingAccess(call.access, call.entry.collection, fields) }, conditions);
}

/** `access` must show the key. */
async function readKeys({ access, ...call }: ActionCall, conditions: Conditions): Promise<readonly Key[]> {
  const { engine, entry, signal } = call;
  const columns = keyColumns(call);
  const fields = columns.map(({ name }) => name);
  const query = { ...conditions, collection: entry.collection, fields, limit: SELECTION_LIMIT };
  const records = await engine.list(access, query, signal);
  return records.map((record) => keyOfRecord(columns, record));
}

function keyColumns({ engine, entry }: Pick<ActionCall, 'engine' | 'entry'>): readonly KeyColumn[] {
  return engine.keyOf(entry.collection) ?? [];
}

function describeKey(columns: readonly KeyColumn[]): string {
  return columns.length === 1 ? 'an id' : `an id such as '${columns.map(({ name }) => `<${name}>`).join('|')}'`;
}

function keyFilter(columns: readonly Pick<KeyColumn, 'name'>[], keys: readonly Key[]): PlainFilter {
  const [only] = columns;
  if (columns.length === 1) return { field: only!.name, operator: 'In', value: keys.map(([part]) => part) };
  return {
    aggregator: 'Or',
    conditions: keys.map((key) => ({
      aggregator: 'And',
      conditions: columns.map(({ name }, index) => ({ field: name, operator: 'Equal', value: key[index] })),
    })),
  };
}

/** Whether the caller may see the record with this key. Used for the values of `Collection` fields. */
export async function isVisible(call: ActionCall, collection: string, key: Key): Promise<boolean> {
  const columns = call.engine.keyOf(collection);
  if (!columns || columns.length !== key.length || !call.access.can('browse', collection)) return false;
  const fields = columns.map(({ name }) => name);
  const query = { collection, filter: keyFilter(columns, [key]), fields, limit: 1 };
  try {
    return (await call.engine.list(scopedAccess(call.access), query, call.signal)).length > 0;
  } catch (error) {
    // A value of another type than the key identifies no record.
    if (isAppError(error, 'INVALID_VALUE')) return false;
    throw error;
  }
}

export interface Records {
  readonly collection: ActionCollection;
  readonly filter: ActionFilter;
  readonly ai: AiProvider | null;
  getRecords(fields: readonly string[]): Promise<ActionRecord[]>;
  getRecordIds(): Promise<(string | number)[]>;
  getCompositeRecordIds(): Promise<(string | number)[][]>;
  getRecord(fields: readonly string[]): Promise<ActionRecord>;
  getRecordId(): Promise<string | number>;
  getCompositeRecordId(): Promise<(string | number)[]>;
  getField(fieldName: string): Promise<unknown>;
}

/** The members that the contexts of one call share. */
export function createRecords(call: ActionCall, selected: Selected): Records {
  const { engine, entry, access, signal } = call;
  const name = entry.collection;
  const columns = keyColumns(call).map((column) => ({ ...column, name: column.internalName }));
  const chosen = selected ? keyFilter(columns, selected) : null;
  const scope = engine.scopeOf(access, name);
  const filter: ActionFilter = Object.freeze({
    conditionTree: chosen && scope ? { aggregator: 'And' as const, conditions: [chosen, scope] } : (chosen ?? scope),
  });
  const read = (fields: readonly string[]): Promise<ActionRecord[]> =>
    engine.listInternal(scopedAccess(access), { collection: name, filter: chosen, fields }, signal);
  const batch = batchReads(read);
  const list = (fields: readonly string[]): Promise<ActionRecord[]> => {
    if (selected !== null) return batch(fields);
    return Promise.reject(new Error('No record is selected: the form was requested without recordIds.'));
  };
  const listIds = async (): Promise<(string | number)[][]> => {
    const records = await list(columns.map((column) => column.name));
    return records.map((record) => keyOfRecord(columns, record));
  };
  const single = <Item>(items: readonly Item[]): Item =>
    items[0] ?? fail('RECORD_NOT_FOUND', { collection: name, id: selected?.[0] ? packId(selected[0]) : '' });
  const idOf = (key: Key): string | number => (key.length === 1 ? key[0]! : packId(key));
  const getRecord = async (fields: readonly string[]) => single(await list(fields));
  return {
    collection: createActionCollection(call),
    filter,
    ai: engine.ai(signal),
    getRecords: list,
    getRecordIds: async () => (await listIds()).map(idOf),
    getCompositeRecordIds: listIds,
    getRecord,
    getRecordId: async () => idOf(single(await listIds())),
    getCompositeRecordId: async () => single(await listIds()),
    getField: async (field) => fieldOf(await getRecord([field]), field),
  };
}

function createActionCollection({
  engine,
  entry: { collection: name },
  access,
  signal,
  written,
}: ActionCall): ActionCollection {
  const unscoped = engine.unscopedCollection(access, name, { ...(signal && { signal }), ...(written && { written }) });
  const conditions = ({ conditionTree, ...rest }: ActionFilter) => ({
    ...rest,
    ...(conditionTree && { conditionTree }),
  });
  return Object.freeze({
    ...unscoped,
    name,
    list: (filter: ActionFilter | null, fields: readonly string[]) =>
      unscoped.list(filter ? conditions(filter) : {}, fields),
    update: (filter: ActionFilter, patch: ActionRecord) => unscoped.update(conditions(filter), patch),
    delete: (filter: ActionFilter) => unscoped.delete(conditions(filter)),
  });
}

type Read = (fields: readonly string[]) => Promise<ActionRecord[]>;

interface PendingRead {
  readonly fields: readonly string[];
  resolve(records: Promise<ActionRecord[]>): void;
}

/**
 * Joins the calls of one tick, including those in continuations of fulfilled promises. If the joined call fails, each
 * call runs separately, so a wrong name fails only its own call.
 */
function batchReads(read: Read): Read {
  let waiting: PendingRead[] = [];
  const flush = () => {
    const batch = waiting;
    waiting = [];
    const all = read([...new Set(batch.flatMap(({ fields }) => fields))]);
    for (const { fields, resolve } of batch) {
      const mine = (records: ActionRecord[]) => records.map((record) => pick(record, fields));
      resolve(all.then(mine, batch.length > 1 ? () => read(fields).then(mine) : undefined));
    }
  };
  return (fields) =>
    new Promise((resolve) => {
      if (waiting.length === 0) process.nextTick(flush);
      waiting.push({ fields, resolve });
    });
}

/** A separate record for each call, with only the requested fields. */
function pick(record: ActionRecord, fields: readonly string[]): ActionRecord {
  const picked: Record<string, unknown> = {};
  for (const field of fields) {
    let [from, to, rest] = [record, picked, field];
    for (;;) {
      const [name, separator] = rest in from ? [rest, ''] : splitFirst(rest);
      const value = from[name];
      if (!separator || value === null) {
        to[name] = value;
        break;
      }
      to[name] ??= {};
      [from, to] = [value as ActionRecord, to[name] as Record<string, unknown>];
      rest = rest.slice(name.length + separator.length);
    }
  }
  return picked;
}

function fieldOf(record: ActionRecord, field: string): unknown {
  const [name, separator] = field in record ? [field, ''] : splitFirst(field);
  const value = record[name] ?? null;
  if (!separator || value === null) return value;
  return fieldOf(value as ActionRecord, field.slice(name.length + separator.length));
}
