// The writing operations, each a list of phases read from top to bottom: may the caller -> values and ids -> conditions
// before and after -> one transaction -> what was touched. Nothing is written by halves.
import type { Access, Verb } from '../core/caller.ts';
import { fail } from '../core/errors.ts';
import type { CreateRequest, DeleteRequest, RecordChange, UpdateRequest, WriteAnswer, WriteOptions } from './engine.ts';
import type { Column, Moment } from './model/types.ts';
import { type Call, callOf, getCollection, momentOf, type Operations, readOptions, scopesOf } from './operations.ts';
import {
  deleteRecords,
  insertRecords,
  keysOf,
  markKey,
  readRecords as readBefore,
  Shortfall,
  updateRecords,
  type WriteContext,
} from './query/execute-write.ts';
import { failWith } from './query/explain-refusal.ts';
import { splitFilter } from './query/here.ts';
import { lowerConditions, type ScopeOf } from './query/lower.ts';
import { conditionOf, type Guard, keysFilter, planGuards, planTarget, type Target } from './query/plan-write.ts';
import { readyRows } from './query/shape.ts';
import { and } from './query/simplify.ts';
import type { Filter } from './query/types.ts';
import { type View, viewOf } from './query/view.ts';
import { readRecords, type Values } from './query/write-values.ts';
import { packId, type RecordId, unpackId } from './record-id.ts';
import { Refusal } from './sources/refusal.ts';
import type { Condition, Row, Session, Writing } from './sources/source.ts';

/** The most records that one call may write. */
const RECORDS_LIMIT = 500;

const phrases = { add: 'add to', edit: 'edit', delete: 'delete from' } as const;

export async function create(
  ops: Operations,
  access: Access,
  request: CreateRequest,
  options: WriteOptions = {},
): Promise<WriteAnswer> {
  const place = placeOf(ops, access, request.collection, 'add');
  const moment = momentOf(ops, access, request);
  checkCount('records', request.records);
  const records = readRecords(access, place.view, request.records, true, moment);
  const written = new Set(records.flatMap((values) => [...values.keys()]));
  const guards = planGuards(place.view, place.scope, written, place.writing.returning.joinedChecks);
  if (!place.target.key.length && (guards.some(({ isLate }) => isLate) || !place.writing.returning.insert))
    noKey(place);
  const rows = await inTransaction(ops, place, { guards, written }, options, (context) =>
    insertRecords(context, records),
  );
  return answer(place, rows, options, (row) => [undefined, row]);
}

export async function update(
  ops: Operations,
  access: Access,
  request: UpdateRequest,
  options: WriteOptions = {},
): Promise<WriteAnswer> {
  const place = placeOf(ops, access, request.collection, 'edit');
  const moment = momentOf(ops, access, request);
  needKey(place);
  const [set] = readRecords(access, place.view, [request.values], false, moment) as [Values];
  if (set.size === 0) fail('INVALID_ARGUMENT', { argument: 'values', problem: 'name at least one field to write.' });
  if ((request.ids === undefined) === (request.filter === undefined))
    fail('INVALID_ARGUMENT', { argument: 'ids', problem: 'give either the ids of the records or a filter.' });
  const { view, call } = place;
  const conditions = { filter: request.filter ?? null };
  const condition = await lowerConditions(place.scope, conditions, { view, moment, code: call.code });
  if (request.filter) checkDecided(condition);
  const keys = request.ids
    ? readKeys(place, request.ids, 'ids', moment)
    : await findKeys(ops, place, condition, options);
  if (keys.length === 0) return answer(place, [], options, () => [undefined, undefined]);
  if (keys.length > 1 && place.view.collection.key.some((column) => set.has(column)))
    fail('INVALID_ARGUMENT', { argument: 'ids', problem: 'the key can be changed of one record at a time.' });
  const where = and(keysFilter(place.target, keys), condition);
  return updateWhere(ops, place, { keys, set, where }, options);
}

export async function remove(
  ops: Operations,
  access: Access,
  request: DeleteRequest,
  options: WriteOptions = {},
): Promise<WriteAnswer> {
  const place = placeOf(ops, access, request.collection, 'delete');
  const moment = momentOf(ops, access, {});
  needKey(place);
  const keys = readKeys(place, request.ids, 'ids', moment);
  const condition = conditionOf(and(keysFilter(place.target, keys), place.scope(place.view.collection)), place.scope);
  const rows = await inTransaction(
    ops,
    place,
    { guards: [], written: new Set(), keys, condition },
    options,
    (context) => deleteRecords(context, keys, condition),
  );
  return answer(place, rows, options, (row) => [row, undefined]);
}

/** INVALID_ARGUMENT when the records would have to be read to know which are meant. */
function checkDecided(condition: Filter): void {
  if (splitFilter(condition).rest.op !== 'always')
    fail('INVALID_ARGUMENT', {
      argument: 'filter',
      problem: 'the database cannot decide it. List the records first, and give their ids.',
    });
}

export interface Place {
  readonly call: Call;
  readonly view: View;
  readonly scope: ScopeOf;
  readonly target: Target;
  readonly writing: Writing;
  readonly verb: (typeof phrases)[keyof typeof phrases];
  /** Whether the caller may see the whole key. */
  readonly showsKey: boolean;
}

/** FORBIDDEN without the permission; READ_ONLY where nobody can write. */
export function placeOf(
  ops: Operations,
  access: Access,
  name: string,
  verb: Extract<Verb, keyof typeof phrases>,
): Place {
  const collection = getCollection(ops.model, access, name);
  if (!access.can(verb, name)) fail('FORBIDDEN', { verb: phrases[verb], collection: name });
  if (collection.kind === 'view')
    fail('READ_ONLY', { collection: name, why: 'it is a view. Write to the tables that it shows.' });
  const { writing } = collection.source;
  if (!writing) return fail('READ_ONLY', { collection: name, why: 'its data source only reads.' });
  const view = viewOf(access, collection);
  const call = callOf(ops, access, { collection: name }, {});
  return {
    call,
    view,
    scope: scopesOf(call),
    target: planTarget(view),
    writing,
    verb: phrases[verb],
    showsKey: collection.key.length > 0 && collection.key.every((column) => view.columns.includes(column)),
  };
}

export function noKey({ view }: Pick<Place, 'view'>): never {
  return fail('READ_ONLY', {
    collection: view.collection.name,
    why: 'it has no key that would tell one record from another. Give the table a primary key.',
  });
}

export function needKey(place: Place): void {
  if (place.target.key.length === 0) noKey(place);
  if (!place.showsKey)
    fail('FORBIDDEN', {
      verb: place.verb,
      collection: place.view.collection.name,
      why: 'its key is hidden from you. An administrator can show it.',
    });
}

function checkCount(argument: string, given: readonly unknown[]): void {
  if (!Array.isArray(given) || given.length === 0)
    fail('INVALID_ARGUMENT', { argument, problem: 'give at least one; none never means all.' });
  if (given.length > RECORDS_LIMIT)
    fail('INVALID_ARGUMENT', { argument, problem: `at most ${RECORDS_LIMIT} in one call.` });
}

/** Each key once. */
export function readKeys(
  { target, view }: Place,
  ids: readonly RecordId[],
  argument: string,
  moment: Moment,
): unknown[][] {
  checkCount(argument, ids);
  const keys = new Map<string, unknown[]>();
  for (const id of ids) {
    const key = unpackId(view.collection.key, id, argument, moment);
    keys.set(markKey(target, key), key);
  }
  return [...keys.values()];
}

async function findKeys(ops: Operations, place: Place, where: Filter, options: WriteOptions): Promise<unknown[][]> {
  if (where.op === 'never') return [];
  const { source, table } = place.view.collection;
  const order = place.target.key.map((path) => ({ path, ascending: true }));
  const found = await source.read(
    { table, columns: place.target.key, ...conditionOf(where, place.scope), order, limit: RECORDS_LIMIT + 1 },
    readOptions(ops, options),
  );
  if (found.length > RECORDS_LIMIT)
    fail('INVALID_ARGUMENT', {
      argument: 'filter',
      problem: `it matches more than ${RECORDS_LIMIT} records; narrow it, and write in several calls.`,
    });
  return found;
}

interface Updating {
  readonly keys: readonly unknown[][];
  readonly set: Values;
  readonly where: Filter;
}

export async function updateWhere(
  ops: Operations,
  place: Place,
  { keys, set, where }: Updating,
  options: WriteOptions,
): Promise<WriteAnswer> {
  const written = new Set(set.keys());
  const guards = planGuards(place.view, place.scope, written, place.writing.returning.joinedChecks);
  const condition = conditionOf(where, place.scope);
  let before: Row[] = [];
  const rows = await inTransaction(ops, place, { guards, written, keys, condition }, options, async (context) => {
    if (options.preview) before = await readBefore(context, keys, condition);
    return updateRecords(context, keys, set, condition);
  });
  readyRows(before, binarySlots(place.target));
  return answer(place, rows, options, (row, index) => [before[index], row]);
}

interface Work {
  readonly guards: readonly Guard[];
  readonly written: ReadonlySet<Column>;
  /** What must be there, for an update and a delete. */
  readonly keys?: readonly unknown[][];
  readonly condition?: Condition;
}

/** One transaction; a preview takes it back. What went wrong is said as the caller may hear it. */
async function inTransaction(
  ops: Operations,
  place: Place,
  work: Work,
  options: WriteOptions,
  run: (context: WriteContext) => Promise<Row[]>,
): Promise<Row[]> {
  const { view, scope, target, writing, verb } = place;
  const { guards } = work;
  const { returning } = writing;
  try {
    const rows = await writing.transaction(
      (session: Session) => run({ session, returning, target, guards, scope, verb }),
      { ...readOptions(ops, options), ...(options.preview && { discard: true }) },
    );
    readyRows(rows, binarySlots(target));
    return rows;
  } catch (error) {
    if (error instanceof Shortfall && work.keys && work.condition)
      return failMissing(ops, place, work.keys, work.condition, options);
    if (error instanceof Refusal) return failWith(error, view, verb, suspectsOf(view, work.written, error));
    throw error;
  }
}

/** Names the records that are not there; when they are all there again, somebody else was at them. */
async function failMissing(
  ops: Operations,
  { view, target }: Place,
  keys: readonly unknown[][],
  condition: Condition,
  options: WriteOptions,
): Promise<never> {
  const { source, table, name } = view.collection;
  const rows = await source.read({ table, columns: target.key, ...condition, order: [] }, readOptions(ops, options));
  const there = new Set(rows.map((key) => markKey(target, key)));
  const missing = keys.filter((key) => !there.has(markKey(target, key))).map((key) => packReady(target, key));
  if (missing.length === 0) return fail('WRITE_CONFLICT', { collection: name });
  return fail('RECORD_NOT_FOUND', { collection: name, id: missing[0]!, missing });
}

/**
 * Where the database does not say which columns it means: for a foreign key those that are one; none when other records
 * point to this one; else all that were written.
 */
function suspectsOf({ relations }: View, written: ReadonlySet<Column>, { kind }: Refusal): string[] {
  const pointers = relations.filter((relation) => !relation.inverse).flatMap(({ on }) => on.map(({ from }) => from));
  const suspects = [...written].filter((column) => kind !== 'reference' || pointers.includes(column));
  return suspects.map(({ name }) => name);
}

function binarySlots({ columns }: Target): number[] {
  return columns.flatMap(({ field }, slot) => (field.type === 'Binary' ? [slot] : []));
}

export function packReady({ collection }: Target, key: readonly unknown[]): string {
  const row = [...key];
  readyRows(
    [row],
    collection.key.flatMap(({ type }, slot) => (type === 'Binary' ? [slot] : [])),
  );
  return packId(row);
}

function answer(
  { target, showsKey }: Place,
  rows: readonly Row[],
  { preview = false }: WriteOptions,
  change: (row: Row, index: number) => readonly [before: Row | undefined, after: Row | undefined],
): WriteAnswer {
  const shape = (row: Row): Record<string, unknown> => {
    const record: Record<string, unknown> = Object.create(null);
    for (const [slot, column] of target.shown.entries()) record[column.name] = row[slot];
    return record;
  };
  const ids = showsKey ? keysOf(target, rows).map(packId) : [];
  const compare = (row: Row, index: number): RecordChange => {
    const [before, after] = change(row, index);
    const isNew = before === undefined;
    return {
      // The id of a record that was taken back means nothing.
      id: isNew ? null : (ids[index] ?? null),
      fields: Object.fromEntries(
        target.shown.flatMap((column, slot) => {
          const [was, is] = [before?.[slot] ?? null, after?.[slot] ?? null];
          if (isNew ? is === null : JSON.stringify(was) === JSON.stringify(is)) return [];
          return [[column.name, { before: was, after: is }]];
        }),
      ),
    };
  };
  return {
    count: rows.length,
    ids: preview ? ids.slice(0, 0) : ids,
    records: preview ? [] : rows.map(shape),
    ...(preview && { changes: rows.map(compare) }),
  };
}
