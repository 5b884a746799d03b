// The transaction of a write, and what is told of it: records, changes, and errors as the caller may hear them.
import { fail } from '../core/errors.ts';
import type { RecordChange, WriteAnswer, WriteOptions } from './engine.ts';
import type { Collection, Column } from './model/types.ts';
import { readOptions } from './operations.ts';
import type { Nest } from './query/execute-nested.ts';
import { keysOf, markKey, Shortfall, type WriteContext } from './query/execute-write.ts';
import { failWith } from './query/explain-refusal.ts';
import { insideNameOf } from './query/inside-names.ts';
import { type Guard, planGuards, planTarget, type Target } from './query/plan-write.ts';
import { binarySlots, readyRows } from './query/shape.ts';
import type { Filter } from './query/types.ts';
import type { View } from './query/view.ts';
import { checkDraft } from './query/write-rules.ts';
import type { Writer } from './query/write-values.ts';
import { packId } from './record-id.ts';
import { Refusal } from './sources/refusal.ts';
import type { Row, Session } from './sources/source.ts';
import { knowing, readWhere } from './write-known.ts';
import { needWriting, noKey, type Place, type Site } from './write-site.ts';

export interface Work {
  readonly target: Target;
  readonly guards: readonly Guard[];
  readonly written: ReadonlySet<Column>;
  /** What must be there, for an update and a delete. */
  readonly keys?: readonly unknown[][];
  readonly where?: Filter;
}

/** Where the last statement wrote. */
interface Whereabouts {
  writer: Writer;
  written: ReadonlySet<Column>;
}

/** One transaction; a preview takes it back. What went wrong is said as the caller may hear it. */
export async function inTransaction(
  place: Place,
  work: Work,
  options: WriteOptions,
  run: (context: WriteContext, nest: Nest) => Promise<Row[]>,
): Promise<Row[]> {
  const { call, known, writing, verb, writer } = place;
  const { target, guards, written } = work;
  const { returning } = writing;
  const at: Whereabouts = { writer, written };
  try {
    const rows = await knowing(() =>
      writing.transaction(
        (session) => {
          const marked = (mark: Whereabouts) => markSession(session, () => Object.assign(at, mark));
          const context = { session: marked({ writer, written }), returning, target, guards, known, verb };
          return run(
            { ...context, progress: options.progress },
            createNest(place, (more, mark) => ({ ...context, ...more, session: marked(mark) })),
          );
        },
        { ...readOptions(call.ops, options), ...(options.preview && { discard: true }) },
      ),
    );
    readyRows(rows, binarySlots(target.columns));
    return rows;
  } catch (error) {
    if (error instanceof Shortfall && work.keys && work.where)
      return failMissing(place, work.keys, work.where, options);
    if (error instanceof Refusal)
      return failWith(error, at.writer.view, verb, suspectsOf(at.writer.view, at.written, error));
    throw error;
  }
}

/** Tells before each statement, since what a database refuses is known by its last one. */
function markSession(session: Session, mark: () => void): Session {
  const marked = <G, A>(run: (given: G) => Promise<A>) => {
    return (given: G): Promise<A> => {
      mark();
      return run(given);
    };
  };
  return {
    read: session.read,
    insert: marked(session.insert),
    update: marked(session.update),
    delete: marked(session.delete),
  };
}

/** Related records are written with the permissions and the row scope of their own collection. */
function createNest(
  { call, known, writing, writer: root }: Place,
  contextOf: (more: Pick<WriteContext, 'target' | 'guards' | 'verb'>, mark: Whereabouts) => WriteContext,
): Nest {
  const { access, ops } = call;
  const writerAt = (collection: Collection): Writer => root.at(collection);
  return {
    end(collection, verb, drafts, more) {
      const phrase = verb === 'add' ? 'add to' : 'edit';
      // Nobody writes along what he may not write by itself. No permission can be given for what is removed.
      if (collection.published && !access.can(verb, collection.name))
        fail('FORBIDDEN', { verb: phrase, collection: collection.name });
      needWriting(collection);
      if (collection.rules.overrides[verb === 'add' ? 'create' : 'update'])
        fail('READ_ONLY', {
          collection: collection.name,
          why: 'it cannot be written along with another record, since code writes it. Write it by itself.',
        });
      const writer = writerAt(collection);
      const written = new Set(drafts.flatMap(({ values }) => [...values.keys()]));
      const target = planTarget(writer.view, more);
      if (target.key.length === 0) noKey(writer);
      const guards = planGuards(writer.view, known, written, writing.returning.joinedChecks);
      return contextOf({ target, guards, verb: phrase }, { writer, written });
    },
    checkNew(collection, draft) {
      const problems = checkDraft({ ...writerAt(collection), verb: 'add to' }, ops.rules, draft, true);
      if (problems.length) fail('INVALID_RECORD', { collection: collection.name, problems });
    },
    label: (collection, relation) => writerAt(collection).label(relation) ?? 'the record',
  };
}

/** Names the records that are not there; when they are all there again, somebody else was at them. */
export async function failMissing(
  { call, view, target }: Site,
  keys: readonly unknown[][],
  where: Filter,
  options: WriteOptions,
): Promise<never> {
  const { name } = view.collection;
  const { rows } = await readWhere(call, view.collection, { where, columns: target.key, limit: null }, options);
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

export function packReady({ key: columns }: Target, key: readonly unknown[]): string {
  const row = [...key];
  readyRows([row], binarySlots(columns));
  return packId(row);
}

/** What came back, as code names it. */
export function insideRecords({ collection, columns }: Target, rows: readonly Row[]): Record<string, unknown>[] {
  const names = columns.map(({ field }) => insideNameOf(collection, field));
  return rows.map((row) => Object.fromEntries(names.map((name, slot) => [name, row[slot]])));
}

/** `change` gives a record before and after; a record that is not there has none. */
export function answerWith(
  { target, showsKey }: Site,
  rows: readonly Row[],
  { preview = false, found = false }: WriteOptions,
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
  const shapeBefore = (row: Row, index: number) => {
    const [before] = change(row, index);
    return before ? [shape(before)] : [];
  };
  return {
    count: rows.length,
    ids: preview ? ids.slice(0, 0) : ids,
    records: preview ? [] : rows.map(shape),
    ...(preview && { changes: rows.map(compare) }),
    ...(preview && found && { found: rows.flatMap(shapeBefore) }),
  };
}
