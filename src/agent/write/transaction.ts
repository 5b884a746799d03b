// The transaction of a write, and its result for the caller: records, changes and errors.
import { fail, isAppError } from '../../core/errors.ts';
import { failRefusal } from '../encode/constraint-errors.ts';
import { packId } from '../encode/record-id.ts';
import { binarySlots, readyRows } from '../encode/records.ts';
import type { NestedWrites } from '../execute/nested-write.ts';
import { keyMark, keysOf, MissingRecords, type TransactionContext } from '../execute/write.ts';
import { createWriteLog, type WriteLogEntry } from '../execute/written-records.ts';
import type { Collection, Column } from '../model/types.ts';
import { readOptions } from '../operations/call.ts';
import { requireNativeScope } from '../operations/read-only-scopes.ts';
import type { Filter } from '../plan/types.ts';
import { type Guard, planGuards, planTarget, type Target } from '../plan/write.ts';
import type { WriteAnswer, WriteOptions } from '../requests.ts';
import { internalNameOf } from '../resolve/internal-names.ts';
import type { CollectionView } from '../resolve/visibility.ts';
import { Refusal } from '../sources/refusal.ts';
import type { Session } from '../sources/source.ts';
import type { Row } from '../sources/statement.ts';
import { createCascades } from './cascades.ts';
import type { Writer } from './drafts.ts';
import { describeEffects, type RecordChange, toApprovalEffects } from './effects.ts';
import { readWhere, withPrefetch } from './prefetch.ts';
import { type CollectionWriteContext, failWithoutKey, requireWriting, type WritableContext } from './target.ts';
import { checkDraft } from './validation.ts';

interface TransactionWork {
  readonly target: Target;
  readonly guards: readonly Guard[];
  readonly written: ReadonlySet<Column>;
  /** The records that must exist, for an update and a delete. */
  readonly keys?: readonly unknown[][];
  readonly where?: Filter;
}

/** The author and columns of the last statement. */
interface StatementOrigin {
  writer: Writer;
  written: ReadonlySet<Column>;
}

/** Runs the work in one transaction; a preview rolls it back. Converts errors for the caller. */
export async function inTransaction(
  place: WritableContext,
  work: TransactionWork,
  options: WriteOptions,
  run: (context: TransactionContext, nest: NestedWrites) => Promise<Row[]>,
): Promise<Row[]> {
  const { call, prefetched, writing, verb, writer } = place;
  const { target, guards, written } = work;
  const { returning } = writing;
  const origin: StatementOrigin = { writer, written };
  const list: WriteLogEntry[] = [];
  const { preview = false, approved } = options;
  const { hooks } = call.written;
  const readsPrevious = preview || approved !== undefined || hooks?.readsPrevious(place.view.collection.name) === true;
  try {
    const rows = await withPrefetch(() =>
      writing.transaction(
        async (session) => {
          // The transaction may start again.
          list.length = 0;
          const trackedSession = (mark: StatementOrigin) => trackSession(session, () => Object.assign(origin, mark));
          const writeLog = createWriteLog(list, {
            isCode: place.isInternal,
            before: readsPrevious || place.isInternal,
          });
          const own = trackedSession({ writer, written });
          const cascades = createCascades(place, session, writeLog);
          const context = { session: own, returning, target, guards, prefetched, verb, writeLog, cascades };
          const rows = await run(
            { ...context, progress: options.progress },
            createNestedWrites(place, (more, mark) => ({
              ...{ ...context, ...more, session: trackedSession(mark) },
              writeLog: writeLog.related,
            })),
          );
          if (!preview && !place.isInternal) approved?.(toApprovalEffects(list));
          if (!preview) await hooks?.beforeCommit(list);
          return rows;
        },
        { ...readOptions(call.ops, options), ...(options.preview && { discard: true }) },
      ),
    );
    call.written.push(...list);
    hooks?.afterCommit(list, preview);
    readyRows(rows, binarySlots(target.columns));
    return rows;
  } catch (error) {
    // The outcome of one write by code is not the outcome of the whole call.
    if (place.isInternal && isAppError(error, 'OUTCOME_UNKNOWN')) fail('OUTCOME_UNKNOWN', { of: 'write' }, error);
    if (error instanceof MissingRecords && work.keys && work.where)
      return failMissing(place, work.keys, work.where, options);
    if (error instanceof Refusal)
      return failRefusal(
        error,
        origin.writer.view,
        verb,
        findSuspectColumns(origin.writer.view, origin.written, error),
      );
    throw error;
  }
}

/** Marks the session before each statement, because a refusal of the database concerns the last statement. */
function trackSession(session: Session, mark: () => void): Session {
  const track = <G, A>(run: (given: G) => Promise<A>) => {
    return (given: G): Promise<A> => {
      mark();
      return run(given);
    };
  };
  return {
    read: session.read,
    insert: track(session.insert),
    update: track(session.update),
    delete: track(session.delete),
  };
}

/** Nested records are written with the permissions and the row scope of their own collection. */
function createNestedWrites(
  { call, prefetched: known, writing, writer: root }: WritableContext,
  contextOf: (
    more: Pick<TransactionContext, 'target' | 'guards' | 'verb'>,
    mark: StatementOrigin,
  ) => TransactionContext,
): NestedWrites {
  const { access, ops } = call;
  const writerAt = (collection: Collection): Writer => root.forCollection(collection);
  return {
    contextFor(collection, verb, drafts, more) {
      const verbPhrase = verb === 'add' ? 'add to' : 'edit';
      // A nested write needs the same permission as a direct one. No permission applies to a removed collection.
      if (collection.isPublished && !access.can(verb, collection.name))
        fail('FORBIDDEN', { verb: verbPhrase, collection: collection.name });
      if (collection.isPublished) requireNativeScope(call, collection, verbPhrase);
      requireWriting(collection);
      if (collection.rules.overrides[verb === 'add' ? 'create' : 'update'])
        fail('READ_ONLY', {
          collection: collection.name,
          why: 'code writes its records, so a nested write is not possible. Write to it directly.',
        });
      const writer = writerAt(collection);
      const written = new Set(drafts.flatMap(({ values }) => [...values.keys()]));
      const target = planTarget(writer.view, more);
      if (target.key.length === 0) failWithoutKey(writer);
      const guards = planGuards(writer.view, known, written, writing.returning.joinedChecks);
      return contextOf({ target, guards, verb: verbPhrase }, { writer, written });
    },
    checkCreatable(collection, draft) {
      const problems = checkDraft({ ...writerAt(collection), verb: 'add to' }, ops.rules, draft, true);
      if (problems.length) fail('INVALID_RECORD', { collection: collection.name, problems });
    },
    label: (collection, relation) => writerAt(collection).label(relation) ?? 'the record',
  };
}

/**
 * Throws RECORD_NOT_FOUND with the missing records. If all exist again after a concurrent write, throws
 * WRITE_CONFLICT.
 */
export async function failMissing(
  { call, view, target }: CollectionWriteContext,
  keys: readonly unknown[][],
  where: Filter,
  options: WriteOptions,
): Promise<never> {
  const { name } = view.collection;
  const { rows } = await readWhere(call, view.collection, { where, columns: target.key, limit: null }, options);
  const existing = new Set(rows.map((key) => keyMark(target, key)));
  const missing = keys.filter((key) => !existing.has(keyMark(target, key))).map((key) => packKey(target, key));
  if (missing.length === 0) return fail('WRITE_CONFLICT', { collection: name, kept: true });
  return fail('RECORD_NOT_FOUND', { collection: name, id: missing[0]!, missing });
}

/**
 * The possible columns of an error, if the database does not name them: the foreign keys for a broken reference, no
 * columns if other records reference this one, otherwise all written columns.
 */
function findSuspectColumns(
  { relations, columns }: CollectionView,
  written: ReadonlySet<Column>,
  { kind }: Refusal,
): string[] {
  const foreignKeys = relations.filter((relation) => !relation.inverse).flatMap(({ on }) => on.map(({ from }) => from));
  const suspects = [...written].filter((column) => kind !== 'reference' || foreignKeys.includes(column));
  return suspects.filter((column) => columns.includes(column)).map(({ name }) => name);
}

export function packKey({ key: columns }: Target, key: readonly unknown[]): string {
  const row = [...key];
  readyRows([row], binarySlots(columns));
  return packId(row);
}

/** The returned rows as records with internal names. */
export function toInternalRecords({ collection, columns }: Target, rows: readonly Row[]): Record<string, unknown>[] {
  const names = columns.map(({ field }) => internalNameOf(collection, field));
  return rows.map((row) => Object.fromEntries(names.map((name, slot) => [name, row[slot]])));
}

/** `change` returns a record before and after the write; null if it does not exist at that time. */
export function createAnswer(
  { target, showsKey, call }: CollectionWriteContext,
  rows: readonly Row[],
  { preview = false, found = false }: WriteOptions,
  change: (row: Row, index: number) => readonly [before: Row | undefined, after: Row | undefined],
): WriteAnswer {
  const shape = (row: Row): Record<string, unknown> => {
    const record: Record<string, unknown> = Object.create(null);
    for (const [slot, column] of target.visibleColumns.entries()) record[column.name] = row[slot];
    return record;
  };
  const ids = showsKey ? keysOf(target, rows).map(packId) : [];
  const compare = (row: Row, index: number): RecordChange => {
    const [before, after] = change(row, index);
    const isNew = before === undefined;
    return {
      // The transaction rolled back, so the id of a new record is meaningless.
      id: isNew ? null : (ids[index] ?? null),
      fields: Object.fromEntries(
        target.visibleColumns.flatMap((column, slot) => {
          const [was, is] = [before?.[slot] ?? null, after?.[slot] ?? null];
          if (isNew ? is === null : JSON.stringify(was) === JSON.stringify(is)) return [];
          return [[column.name, { before: was, after: is }]];
        }),
      ),
    };
  };
  const shapeBefore = (row: Row, index: number) => {
    const [before] = change(row, index);
    return before ? [shape(before)] : [];
  };
  return {
    count: rows.length,
    ids: preview ? ids.slice(0, 0) : ids,
    records: preview ? [] : rows.map(shape),
    ...(preview && { changes: rows.map(compare) }),
    unseen: [...call.unseen],
    effects: describeEffects(call.access, call.written, preview),
    ...(preview &&
      found && { found: { records: rows.flatMap(shapeBefore), effects: toApprovalEffects(call.written) } }),
  };
}
