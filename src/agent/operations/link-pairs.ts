// Associates and dissociates many-to-many relations: inserts and deletes pairs in the join collection, under its own
// permissions, scopes and guards. An existing pair is not inserted again.

import { fail, isAppError } from '../../core/errors.ts';
import type { RecordId } from '../encode/record-id.ts';
import { deleteRecords, insertRecords, readMeant, Shortfall } from '../execute/write.ts';
import { and, or } from '../lower/simplify.ts';
import type { Collection, Column, Relation, Through } from '../model/types.ts';
import type { Filter, Path } from '../plan/types.ts';
import { equals, keysFilter, planGuards, planTarget } from '../plan/write.ts';
import type { WriteAnswer, WriteOptions } from '../requests.ts';
import { pathTo } from '../resolve/paths.ts';
import type { View } from '../resolve/visibility.ts';
import { markOf } from '../sources/evaluate.ts';
import type { Row } from '../sources/statement.ts';
import type { Values } from '../write/drafts.ts';
import { knowing, readWhere } from '../write/prefetch.ts';
import { checkValues } from '../write/prepare.ts';
import type { WriteVerb } from '../write/target.ts';
import { noKey, type Place, readKeys } from '../write/target.ts';
import { answerWith, inTransaction, packReady } from '../write/transaction.ts';
import type { Call } from './call.ts';
import { scopesOf } from './call.ts';

export interface Linked {
  readonly relation: Relation;
  readonly through: Through;
  /** The columns of the pairs that reference the record with the relation. */
  readonly values: () => Promise<readonly unknown[]>;
}

interface Pairs {
  readonly place: Place;
  readonly through: Through;
  readonly relation: Relation;
  /** One per record of the foreign collection, with its id. */
  readonly records: readonly Values[];
  readonly ids: readonly string[];
}

/** The answer describes the inserted or deleted pairs. */
export async function linkPairs(
  door: LinkDoor,
  linked: Linked,
  ids: readonly RecordId[],
  options: WriteOptions,
  isOn: boolean,
): Promise<WriteAnswer> {
  const { relation, through } = linked;
  if (!through.collection.published && !door.isInside)
    fail('READ_ONLY', {
      collection: relation.to.name,
      why: `what belongs to '${relation.name}' is kept out of reach.`,
    });
  const place = door.placeAt(through.collection, isOn ? 'add' : 'delete');
  const pairs = await readPairs(door, place, linked, ids, options);
  if (isOn) return again(() => makePairs(pairs, options));
  return deletePairs(pairs, options);
}

/** If a concurrent call inserts the same pair in between, the second try finds it. */
async function again(run: () => Promise<WriteAnswer>): Promise<WriteAnswer> {
  try {
    return await run();
  } catch (error) {
    if (isAppError(error, 'INVALID_RECORD')) return run();
    throw error;
  }
}

async function makePairs({ place, records, through }: Pairs, options: WriteOptions): Promise<WriteAnswer> {
  const { view, known, target, writing, verb } = place;
  const plain = records.map((values) =>
    Object.fromEntries([...values].map(([column, value]) => [place.writer.label(column) ?? column.name, value])),
  );
  const checked = checkValues(place, plain, true);
  // These values come from the database and need no validation.
  const full = checked.map((values, at) => new Map([...values, ...records[at]!]));
  const written = new Set(records.flatMap((values) => [...values.keys()]));
  const guards = await knowing(() => planGuards(view, known, written, writing.returning.joinedChecks));
  if (!target.key.length && (guards.some(({ isLate }) => isLate) || !writing.returning.insert)) noKey(place);
  const { collection } = through;
  const columns = [...written].map((column) => pathTo(collection, [], column));
  const where = anyOf(records, columns);
  const rows = await inTransaction(place, { target, guards, written }, options, async (context) => {
    const { session } = context;
    const there = await session.read({ table: collection.table, columns, order: [], joins: [], where });
    const linked = new Set(there.map((row) => markRow(columns, row)));
    if (linked.size > 0 && view.sight.withholds(collection)) {
      const seen = await readMeant({ session, known, collection }, columns, known.within(collection, where));
      if (seen.length < there.length) failHidden(collection.name, verb);
    }
    const missing = full.filter((_, at) => !linked.has(markRecord(columns, records[at]!)));
    return missing.length ? insertRecords(context, missing) : [];
  });
  return answerWith(place, rows, options, (row) => [undefined, row]);
}

async function deletePairs(pairs: Pairs, options: WriteOptions): Promise<WriteAnswer> {
  const { place, records, ids, through, relation } = pairs;
  const { known, target } = place;
  const { collection } = through;
  if (target.key.length === 0) noKey(place);
  const columns = [...records[0]!.keys()].map((column) => pathTo(collection, [], column));
  const rows = await inTransaction(place, { target, guards: [], written: new Set() }, options, async (context) => {
    const { session } = context;
    const meant = known.within(collection, anyOf(records, columns));
    const found = await readMeant({ session, known, collection }, [...target.key, ...columns], meant);
    const keys = found.map((row) => row.slice(0, target.key.length));
    const linked = new Set(found.map((row) => markRow(columns, row.slice(target.key.length))));
    const missing = ids.filter((_, at) => !linked.has(markRecord(columns, records[at]!)));
    if (missing.length)
      fail('RECORD_NOT_FOUND', { collection: relation.to.name, id: missing[0]!, missing, relation: relation.name });
    return deleteFound(context, keys, known.within(collection, keysFilter(target, keys)));
  });
  return answerWith(place, rows, options, (row) => [row, undefined]);
}

/** The pairs may have been deleted since they were read: WRITE_CONFLICT. */
async function deleteFound(...parameters: Parameters<typeof deleteRecords>): Promise<Row[]> {
  try {
    return await deleteRecords(...parameters);
  } catch (error) {
    if (error instanceof Shortfall) return fail('WRITE_CONFLICT', { collection: parameters[0].target.collection.name });
    throw error;
  }
}

/** The values of each pair, for foreign records that the caller can see. Throws RECORD_NOT_FOUND with the others. */
async function readPairs(
  { call, viewAt }: LinkDoor,
  place: Place,
  { relation, through, values }: Linked,
  given: readonly RecordId[],
  options: WriteOptions,
): Promise<Pairs> {
  const own = await values();
  const { to } = relation;
  const view = viewAt(to);
  const target = planTarget(view);
  if (to.key.length === 0) noKey({ view });
  const scope = scopesOf(call);
  const keys = readKeys({ target, view }, given, 'ids', call.moment);
  const ids = keys.map((key) => packReady(target, key));
  const held = through.foreign.map((pair) => pathTo(to, [], pair.to));
  const where = and(keysFilter(target, keys), scope(to));
  const found = await readWhere(call, to, { where, columns: [...target.key, ...held], limit: null }, options);
  const byKey = new Map(found.rows.map((row) => [markRow(target.key, row), row.slice(target.key.length)]));
  const missing = ids.filter((_, at) => !byKey.has(markRow(target.key, keys[at]!)));
  if (missing.length) fail('RECORD_NOT_FOUND', { collection: to.name, id: missing[0]!, missing });
  const records = keys.map((key) => {
    const record = new Map<Column, unknown>();
    for (const [at, pair] of through.origin.entries()) record.set(pair.to, own[at]);
    for (const [at, pair] of through.foreign.entries()) record.set(pair.from, byKey.get(markRow(target.key, key))![at]);
    return record;
  });
  const nothing = records.flatMap((record) => [...record]).find(([, value]) => value === null);
  if (nothing)
    fail('INVALID_RECORD', {
      collection: through.collection.name,
      problems: [
        { field: nothing[0].name, problem: 'what it would point to is null there, so nothing can belong to it.' },
      ],
    });
  return { place, through, relation, records, ids };
}

function anyOf(records: readonly Values[], columns: readonly Path[]): Filter {
  return or(...records.map((values) => and(...columns.map((path) => equals(path, values.get(path.field))))));
}

function markRecord(columns: readonly Path[], values: Values): string {
  return markRow(
    columns,
    columns.map(({ field }) => values.get(field)),
  );
}

/** Equal for values that the database treats as equal. */
function markRow(columns: readonly Path[], row: readonly unknown[]): string {
  return JSON.stringify(columns.map(({ field }, at) => (row[at] === null ? null : markOf(row[at], field))));
}

function failHidden(collection: string, verb: string): never {
  return fail('FORBIDDEN', {
    verb,
    collection,
    why: 'such a pair is there already, outside the rows that you may see.',
  });
}

/** How the collections of a relation are read and written. */
export interface LinkDoor {
  readonly call: Call;
  /** The collection with the relation. */
  readonly home: View;
  viewAt(collection: Collection): View;
  placeAt(collection: Collection, verb: WriteVerb): Place;
  readonly isInside: boolean;
}
