// Associates and dissociates many-to-many relations: inserts and deletes pairs in the join collection, under its own
// permissions, scopes and guards. An existing pair is not inserted again.

import { fail, isAppError } from '../../core/errors.ts';
import type { RecordId } from '../encode/record-id.ts';
import { deleteRecords, insertRecords, MissingRecords, readMatching } from '../execute/write.ts';
import { and, or } from '../lower/simplify.ts';
import type { Collection, Column, Relation, Through } from '../model/types.ts';
import type { Filter, Path } from '../plan/types.ts';
import { equals, keysFilter, planGuards, planTarget } from '../plan/write.ts';
import type { WriteAnswer, WriteOptions } from '../requests.ts';
import { pathTo } from '../resolve/paths.ts';
import type { CollectionView } from '../resolve/visibility.ts';
import { equalityKey } from '../sources/evaluate.ts';
import type { Row } from '../sources/statement.ts';
import type { Values } from '../write/drafts.ts';
import { readWhere, withPrefetch } from '../write/prefetch.ts';
import { checkValues } from '../write/prepare.ts';
import type { WriteVerb } from '../write/target.ts';
import { failWithoutKey, readKeys, type WritableContext } from '../write/target.ts';
import { createAnswer, inTransaction, packKey } from '../write/transaction.ts';
import type { Call } from './call.ts';
import { scopesOf } from './call.ts';

interface JunctionLink {
  readonly relation: Relation;
  readonly through: Through;
  /** The columns of the pairs that reference the record with the relation. */
  readonly values: () => Promise<readonly unknown[]>;
}

interface JunctionRows {
  readonly place: WritableContext;
  readonly through: Through;
  readonly relation: Relation;
  /** One per record of the foreign collection, with its id. */
  readonly records: readonly Values[];
  readonly ids: readonly string[];
}

/** The answer describes the inserted or deleted pairs. */
export async function linkJunctionRows(
  linkAccess: LinkAccess,
  linked: JunctionLink,
  ids: readonly RecordId[],
  options: WriteOptions,
  isOn: boolean,
): Promise<WriteAnswer> {
  const { relation, through } = linked;
  if (!through.collection.isPublished && !linkAccess.isInternal)
    fail('READ_ONLY', {
      collection: relation.to.name,
      why: `the collection that links '${relation.name}' is not served.`,
    });
  const place = linkAccess.contextFor(through.collection, isOn ? 'add' : 'delete');
  const junctionRows = await readJunctionRows(linkAccess, place, linked, ids, options);
  if (isOn) return retryConflict(() => insertJunctionRows(junctionRows, options));
  return deleteJunctionRows(junctionRows, options);
}

/** If a concurrent call inserts the same pair in between, the second try finds it. */
async function retryConflict(run: () => Promise<WriteAnswer>): Promise<WriteAnswer> {
  try {
    return await run();
  } catch (error) {
    if (isAppError(error, 'INVALID_RECORD')) return run();
    throw error;
  }
}

async function insertJunctionRows(
  { place, records, through }: JunctionRows,
  options: WriteOptions,
): Promise<WriteAnswer> {
  const { view, prefetched: known, target, writing, verb } = place;
  const plain = records.map((values) =>
    Object.fromEntries([...values].map(([column, value]) => [place.writer.label(column) ?? column.name, value])),
  );
  const checked = checkValues(place, plain, true);
  // These values come from the database and need no validation.
  const completed = checked.map((values, at) => new Map([...values, ...records[at]!]));
  const written = new Set(records.flatMap((values) => [...values.keys()]));
  const guards = await withPrefetch(() => planGuards(view, known, written, writing.returning.joinedChecks));
  if (!target.key.length && (guards.some(({ isDeferred: isLate }) => isLate) || !writing.returning.insert))
    failWithoutKey(place);
  const { collection } = through;
  const columns = [...written].map((column) => pathTo(collection, [], column));
  const where = matchesAny(records, columns);
  const rows = await inTransaction(place, { target, guards, written }, options, async (context) => {
    const { session } = context;
    const existing = await session.read({ table: collection.table, columns, order: [], joins: [], where });
    const linked = new Set(existing.map((row) => rowKey(columns, row)));
    if (linked.size > 0 && view.visibility.hidesRows(collection)) {
      const seen = await readMatching(
        { session, prefetched: known, collection },
        columns,
        known.withScope(collection, where),
      );
      if (seen.length < existing.length) failHidden(collection.name, verb);
    }
    const missing = completed.filter((_, at) => !linked.has(recordKey(columns, records[at]!)));
    return missing.length ? insertRecords(context, missing) : [];
  });
  return createAnswer(place, rows, options, (row) => [undefined, row]);
}

async function deleteJunctionRows(junctionRows: JunctionRows, options: WriteOptions): Promise<WriteAnswer> {
  const { place, records, ids, through, relation } = junctionRows;
  const { prefetched: known, target } = place;
  const { collection } = through;
  if (target.key.length === 0) failWithoutKey(place);
  const columns = [...records[0]!.keys()].map((column) => pathTo(collection, [], column));
  const rows = await inTransaction(place, { target, guards: [], written: new Set() }, options, async (context) => {
    const { session } = context;
    const match = known.withScope(collection, matchesAny(records, columns));
    const found = await readMatching({ session, prefetched: known, collection }, [...target.key, ...columns], match);
    const keys = found.map((row) => row.slice(0, target.key.length));
    const linked = new Set(found.map((row) => rowKey(columns, row.slice(target.key.length))));
    const missing = ids.filter((_, at) => !linked.has(recordKey(columns, records[at]!)));
    if (missing.length)
      fail('RECORD_NOT_FOUND', { collection: relation.to.name, id: missing[0]!, missing, relation: relation.name });
    return deleteExisting(context, keys, known.withScope(collection, keysFilter(target, keys)));
  });
  return createAnswer(place, rows, options, (row) => [row, undefined]);
}

/** The pairs may have been deleted since they were read: WRITE_CONFLICT. */
async function deleteExisting(...parameters: Parameters<typeof deleteRecords>): Promise<Row[]> {
  try {
    return await deleteRecords(...parameters);
  } catch (error) {
    if (error instanceof MissingRecords)
      return fail('WRITE_CONFLICT', { collection: parameters[0].target.collection.name });
    throw error;
  }
}

/** The values of each pair, for foreign records that the caller can see. Throws RECORD_NOT_FOUND with the others. */
async function readJunctionRows(
  { call, viewOf: viewAt }: LinkAccess,
  place: WritableContext,
  { relation, through, values }: JunctionLink,
  given: readonly RecordId[],
  options: WriteOptions,
): Promise<JunctionRows> {
  const originValues = await values();
  const { to } = relation;
  const view = viewAt(to);
  const target = planTarget(view);
  if (to.key.length === 0) failWithoutKey({ view });
  const scope = scopesOf(call);
  const keys = readKeys({ target, view }, given, 'ids', call.moment);
  const ids = keys.map((key) => packKey(target, key));
  const keyColumns = through.foreign.map((pair) => pathTo(to, [], pair.to));
  const where = and(keysFilter(target, keys), scope(to));
  const found = await readWhere(call, to, { where, columns: [...target.key, ...keyColumns], limit: null }, options);
  const byKey = new Map(found.rows.map((row) => [rowKey(target.key, row), row.slice(target.key.length)]));
  const missing = ids.filter((_, at) => !byKey.has(rowKey(target.key, keys[at]!)));
  if (missing.length) fail('RECORD_NOT_FOUND', { collection: to.name, id: missing[0]!, missing });
  const records = keys.map((key) => {
    const record = new Map<Column, unknown>();
    for (const [at, pair] of through.origin.entries()) record.set(pair.to, originValues[at]);
    for (const [at, pair] of through.foreign.entries()) record.set(pair.from, byKey.get(rowKey(target.key, key))![at]);
    return record;
  });
  const missingValue = records.flatMap((record) => [...record]).find(([, value]) => value === null);
  if (missingValue)
    fail('INVALID_RECORD', {
      collection: through.collection.name,
      problems: [
        {
          field: missingValue[0].name,
          problem: 'the value that it would point to is null, so the records cannot be linked.',
        },
      ],
    });
  return { place, through, relation, records, ids };
}

function matchesAny(records: readonly Values[], columns: readonly Path[]): Filter {
  return or(...records.map((values) => and(...columns.map((path) => equals(path, values.get(path.field))))));
}

function recordKey(columns: readonly Path[], values: Values): string {
  return rowKey(
    columns,
    columns.map(({ field }) => values.get(field)),
  );
}

/** Equal for values that the database treats as equal. */
function rowKey(columns: readonly Path[], row: readonly unknown[]): string {
  return JSON.stringify(columns.map(({ field }, at) => (row[at] === null ? null : equalityKey(row[at], field))));
}

function failHidden(collection: string, verb: string): never {
  return fail('FORBIDDEN', {
    verb,
    collection,
    why: 'this link already exists, outside the rows that you may see.',
  });
}

/** How the collections of a relation are read and written. */
export interface LinkAccess {
  readonly call: Call;
  /** The collection with the relation. */
  readonly home: CollectionView;
  viewOf(collection: Collection): CollectionView;
  contextFor(collection: Collection, verb: WriteVerb): WritableContext;
  readonly isInternal: boolean;
}
