// Overrides: writes by code instead of the data source. No transaction covers them. The records are therefore selected
// before, within the caller's row scope, and checked after. An error found after the code is reported as a completed
// write.
import { CodeFailure } from '../../core/errors/code-failure.ts';
import { fail } from '../../core/errors.ts';
import { isBranch, type PlainFilter } from '../../core/filter.ts';
import type { CodeRecord } from '../customize/context.ts';
import type { Override, Overrides, OverrideVerb } from '../customize/hooks.ts';
import { callCode } from '../customize/user-code.ts';
import { binarySlots, readyRows } from '../encode/records.ts';
import { isNested } from '../execute/nested-write.ts';
import { keyMark } from '../execute/write.ts';
import type { Change, WriteLogEntry } from '../execute/written-records.ts';
import { always, and } from '../lower/simplify.ts';
import type { Column } from '../model/types.ts';
import { callWithinOverride } from '../operations/call.ts';
import type { Filter } from '../plan/types.ts';
import { keysFilter, planGuards, type Target } from '../plan/write.ts';
import type { WriteOptions } from '../requests.ts';
import { internalNameOf, toInternalFilter } from '../resolve/internal-names.ts';
import { checkStored } from '../resolve/values.ts';
import { internalViewOf, scopeViewOf } from '../resolve/visibility.ts';
import type { Row } from '../sources/statement.ts';
import { type Draft, readDraft, toCodeRecord } from './drafts.ts';
import { checkForeignKeys } from './foreign-checks.ts';
import { readWhere, withPrefetch } from './prefetch.ts';
import { type CollectionWriteContext, createCodeWriter, failWithoutKey, toKeyFilter } from './target.ts';
import { failMissing } from './transaction.ts';

/** An override that ran, and its place in the user's code. */
interface CompletedOverride {
  readonly verb: OverrideVerb;
  readonly at: string;
}

/** The override of a verb. Undefined also within the code of the override itself. */
export function overrideOf<V extends OverrideVerb>(
  { call, view }: CollectionWriteContext,
  verb: V,
): Overrides[V] | undefined {
  const override = view.collection.rules.overrides[verb];
  return override && call.runningOverrides?.includes(override) ? undefined : override;
}

/** Returns the rows of the created records. */
export async function createByOverride(
  site: CollectionWriteContext,
  target: Target,
  override: Override<'create'>,
  drafts: readonly Draft[],
  { preview }: WriteOptions,
): Promise<Row[]> {
  const { collection } = site.view;
  // Without a key, the created records cannot be read back to check the row scope.
  if (target.key.length === 0 && (await withPrefetch(() => site.scope(collection))).op !== 'always')
    failWithoutKey(site);
  const data = toCodeRecords(site, drafts);
  await checkForeignKeys(site, drafts, true);
  refusePreview(preview);
  const from = site.call.written.length;
  const records = await runOverride(site, 'create', override, () =>
    override.handler({ ...callWithinOverride(site.call, override).code(), data }),
  );
  const at = { verb: 'create', at: override.at } as const;
  if (target.key.length === 0) {
    const returnedRows = readReturnedRecords(site, target, records, drafts.length, override.at);
    return logWritten(site, target, from, { change: 'created', after: returnedRows });
  }
  const keys = readReturnedKeys(site, records, drafts.length, override.at);
  const written = new Set(drafts.flatMap(({ values }) => [...values.keys()]));
  return logWritten(site, target, from, { change: 'created', after: await readAfter(site, target, keys, written, at) });
}

/** Returns the rows after the update. */
export async function updateByOverride(
  site: CollectionWriteContext,
  target: Target,
  override: Override<'update'>,
  { keys, draft, where }: { readonly keys: readonly unknown[][]; readonly draft: Draft; readonly where: Filter },
  options: WriteOptions,
): Promise<Row[]> {
  const { view } = site;
  const [patch] = toCodeRecords(site, [draft]);
  await checkForeignKeys(site, [draft], false);
  const before = await readBefore(site, target, keys, where, options);
  refusePreview(options.preview);
  const filter = { conditionTree: selectKeysInScope(site, keys) };
  const from = site.call.written.length;
  await runOverride(site, 'update', override, () =>
    override.handler({ ...callWithinOverride(site.call, override).code(), filter, patch: patch! }),
  );
  const next = keys.map((key) => view.collection.key.map((column, at) => draft.values.get(column) ?? key[at]));
  const written = new Set(draft.values.keys());
  const after = await readAfter(site, target, next, written, { verb: 'update', at: override.at });
  return logWritten(site, target, from, { change: 'updated', before, after });
}

/** Returns the rows before the deletion. */
export async function deleteByOverride(
  site: CollectionWriteContext,
  target: Target,
  override: Override<'delete'>,
  { keys, where }: { readonly keys: readonly unknown[][]; readonly where: Filter },
  options: WriteOptions,
): Promise<Row[]> {
  const rows = await readBefore(site, target, keys, where, options);
  refusePreview(options.preview);
  const filter = { conditionTree: selectKeysInScope(site, keys) };
  const from = site.call.written.length;
  await runOverride(site, 'delete', override, () =>
    override.handler({ ...callWithinOverride(site.call, override).code(), filter }),
  );
  return logWritten(site, target, from, { change: 'deleted', before: rows });
}

/**
 * Marks the records that the call named as written. Writes of this collection by the override's own code, from index
 * `from` on, are the same records if only their count is known.
 */
function logWritten(
  { call: { written } }: CollectionWriteContext,
  target: Target,
  from: number,
  {
    change,
    before,
    after,
  }: { readonly change: Change; readonly before?: readonly Row[]; readonly after?: readonly Row[] },
): Row[] {
  const { collection } = target;
  const rows = [...(after ?? before)!];
  const isSame = (each: WriteLogEntry) => !each.rows && each.collection === collection && each.change === change;
  const others = written.splice(from).filter((each) => !isSame(each));
  const known = { target, ...(before && { before }), ...(after && { after }) };
  written.push(...others, { collection, change, cause: 'call', count: rows.length, rows: known });
  return rows;
}

/** Runs the code. Its own writes through the internal API bypass this override. */
async function runOverride<V extends OverrideVerb, T>(
  { view }: CollectionWriteContext,
  verb: V,
  { at }: Override<V>,
  handle: () => T | Promise<T>,
): Promise<T> {
  return callCode(`the override of ${verb} of '${view.collection.name}'`, at, handle);
}

/** Reports an error after the code has run; its writes cannot be undone. */
function failAfterOverride(
  { view }: CollectionWriteContext,
  { verb, at }: CompletedOverride,
  why: string,
  cause: unknown = new Error(why),
): never {
  const collection = view.collection.name;
  const failure = new CodeFailure(`the override of ${verb} of '${collection}', added at ${at}, failed`, cause);
  return fail('FAILED_AFTER_WRITE', { collection, why }, failure);
}

/** Called after all other checks: a preview thus fails with the same error as the write, if there is one. */
function refusePreview(preview: boolean | undefined): void {
  if (preview)
    fail('INVALID_ARGUMENT', {
      argument: 'dryRun',
      problem: 'code writes here, and its writes cannot be rolled back.',
    });
}

function toCodeRecords({ view }: CollectionWriteContext, drafts: readonly Draft[]): readonly CodeRecord[] {
  const { collection } = view;
  if (isNested(drafts))
    fail('READ_ONLY', {
      collection: collection.name,
      why: 'code writes its records, without nested records. Write the related records directly.',
    });
  return drafts.map((draft) => toCodeRecord(draft, internalNameOf, collection));
}

/** The filter for these keys, with the row scope repeated, because records may change while code runs. */
function selectKeysInScope({ call, view }: CollectionWriteContext, keys: readonly (readonly unknown[])[]): PlainFilter {
  const { collection } = view;
  const plain = call.access.scope(collection.name);
  const known = toKeyFilter(collection, keys);
  if (plain === null) return known;
  const scope = toInternalFilter(scopeViewOf(call.access, collection), plain);
  const conditions = isBranch(scope) && scope.aggregator === 'And' ? scope.conditions : [scope];
  return { aggregator: 'And', conditions: [known, ...conditions] };
}

/** Reads all records of the keys within the row scope. Throws RECORD_NOT_FOUND with the missing ones. */
async function readBefore(
  site: CollectionWriteContext,
  target: Target,
  keys: readonly unknown[][],
  where: Filter,
  options: WriteOptions,
): Promise<Row[]> {
  const rows = await readRows(site, target, where);
  if (rows.length !== keys.length) return failMissing(site, keys, where, options);
  return sortByKeys(target, rows, keys);
}

/** Throws FAILED_AFTER_WRITE if a record is missing, or if the caller may not see it or the records it references. */
async function readAfter(
  site: CollectionWriteContext,
  target: Target,
  keys: readonly unknown[][],
  written: ReadonlySet<Column>,
  ran: CompletedOverride,
): Promise<Row[]> {
  const guards = await withPrefetch(() => planGuards(site.view, site.prefetched, written, true));
  const where = and(
    keysFilter(target, keys),
    ...guards.map(({ condition: { where, residual: rest } }) => and(where, rest?.where ?? always)),
  );
  const rows = await readRows(site, target, where);
  if (rows.length === keys.length) return sortByKeys(target, rows, keys);
  const why = 'a record is missing afterwards, or you may not see it or a record that it points to.';
  return failAfterOverride(site, ran, why);
}

async function readRows({ call, view }: CollectionWriteContext, { columns }: Target, where: Filter): Promise<Row[]> {
  return (await readWhere(call, view.collection, { where, columns, limit: null })).rows;
}

/** The rows in the order of the keys, ready for JSON. */
function sortByKeys(target: Target, rows: readonly Row[], keys: readonly unknown[][]): Row[] {
  const places = new Map(keys.map((key, place) => [keyMark(target, key), place]));
  const keyOfRow = (row: Row) =>
    keyMark(
      target,
      target.keySlots.map((slot) => row[slot]),
    );
  const sorted = [...rows].sort((a, b) => places.get(keyOfRow(a))! - places.get(keyOfRow(b))!);
  readyRows(sorted, binarySlots(target.columns));
  return sorted;
}

/** The created records as the code returned them, for a collection without a key. */
function readReturnedRecords(
  site: CollectionWriteContext,
  { columns }: Target,
  given: unknown,
  count: number,
  at: string,
): Row[] {
  const { call, view } = site;
  const { collection } = view;
  const writer = createCodeWriter(call.access, internalViewOf(call.access, collection), call.moment, 'add to');
  const records = Array.isArray(given) && given.length === count ? given : undefined;
  const reads = records?.map((record) => readDraft(writer, record, 'the created record'));
  if (!reads || reads.some(({ problems }) => problems.length)) {
    const why = `the override of create must return a list of ${count} created records with fields of '${collection.name}'.`;
    return failAfterOverride(site, { verb: 'create', at }, why);
  }
  return reads.map(({ draft }) => columns.map(({ field }) => draft.values.get(field) ?? null));
}

/** The keys of the created records, from the values that the code returned. */
function readReturnedKeys(site: CollectionWriteContext, given: unknown, count: number, at: string): unknown[][] {
  const { view, call } = site;
  const { collection } = view;
  const refuse = (why: string, cause?: unknown): never =>
    failAfterOverride(site, { verb: 'create', at }, `the override of create ${why}.`, cause);
  if (!Array.isArray(given) || given.length !== count) refuse(`must return a list of ${count} created records`);
  return (given as unknown[]).map((record) =>
    collection.key.map((column) => {
      const name = internalNameOf(collection, column);
      const value = (record as CodeRecord | null)?.[name];
      if (value === undefined || value === null)
        return refuse(`must return the key of each record, but returned no '${name}'`);
      try {
        return checkStored(value, { column, label: name, moment: call.moment, acceptsDays: true });
      } catch (error) {
        return refuse(`returned a key that '${name}' cannot hold`, error);
      }
    }),
  );
}
