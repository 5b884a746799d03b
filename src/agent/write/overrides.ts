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
import { markKey } from '../execute/write.ts';
import type { Change, Written } from '../execute/written-records.ts';
import { always, and } from '../lower/simplify.ts';
import type { Column } from '../model/types.ts';
import { callUnder } from '../operations/call.ts';
import type { Filter } from '../plan/types.ts';
import { keysFilter, planGuards, type Target } from '../plan/write.ts';
import type { WriteOptions } from '../requests.ts';
import { insideFilter, insideNameOf } from '../resolve/internal-names.ts';
import { checkStored } from '../resolve/values.ts';
import { insideViewOf, scopeViewOf } from '../resolve/visibility.ts';
import type { Row } from '../sources/statement.ts';
import { type Draft, draftRecord, readDraft } from './drafts.ts';
import { needForeign } from './foreign-checks.ts';
import { knowing, readWhere } from './prefetch.ts';
import { codeWriter, keyConditions, noKey, type Site } from './target.ts';
import { failMissing } from './transaction.ts';

/** An override that ran, and its place in the user's code. */
interface Ran {
  readonly verb: OverrideVerb;
  readonly at: string;
}

/** The override of a verb. Undefined also within the code of the override itself. */
export function overrideOf<V extends OverrideVerb>({ call, view }: Site, verb: V): Overrides[V] | undefined {
  const override = view.collection.rules.overrides[verb];
  return override && call.under?.includes(override) ? undefined : override;
}

/** Returns the rows of the created records. */
export async function overriddenCreate(
  site: Site,
  target: Target,
  override: Override<'create'>,
  drafts: readonly Draft[],
  { preview }: WriteOptions,
): Promise<Row[]> {
  const { collection } = site.view;
  // Without a key, the created records cannot be read back to check the row scope.
  if (target.key.length === 0 && (await knowing(() => site.scope(collection))).op !== 'always') noKey(site);
  const data = recordsOf(site, drafts);
  await needForeign(site, drafts, true);
  refusePreview(preview);
  const from = site.call.written.length;
  const records = await run(site, 'create', override, () =>
    override.handler({ ...callUnder(site.call, override).code(), data }),
  );
  const at = { verb: 'create', at: override.at } as const;
  if (target.key.length === 0) {
    const given = readGiven(site, target, records, drafts.length, override.at);
    return wrote(site, target, from, { change: 'created', after: given });
  }
  const keys = readCreated(site, records, drafts.length, override.at);
  const written = new Set(drafts.flatMap(({ values }) => [...values.keys()]));
  return wrote(site, target, from, { change: 'created', after: await readAfter(site, target, keys, written, at) });
}

/** Returns the rows after the update. */
export async function overriddenUpdate(
  site: Site,
  target: Target,
  override: Override<'update'>,
  { keys, draft, where }: { readonly keys: readonly unknown[][]; readonly draft: Draft; readonly where: Filter },
  options: WriteOptions,
): Promise<Row[]> {
  const { view } = site;
  const [patch] = recordsOf(site, [draft]);
  await needForeign(site, [draft], false);
  const before = await readBefore(site, target, keys, where, options);
  refusePreview(options.preview);
  const filter = { conditionTree: meant(site, keys) };
  const from = site.call.written.length;
  await run(site, 'update', override, () =>
    override.handler({ ...callUnder(site.call, override).code(), filter, patch: patch! }),
  );
  const next = keys.map((key) => view.collection.key.map((column, at) => draft.values.get(column) ?? key[at]));
  const written = new Set(draft.values.keys());
  const after = await readAfter(site, target, next, written, { verb: 'update', at: override.at });
  return wrote(site, target, from, { change: 'updated', before, after });
}

/** Returns the rows before the deletion. */
export async function overriddenDelete(
  site: Site,
  target: Target,
  override: Override<'delete'>,
  { keys, where }: { readonly keys: readonly unknown[][]; readonly where: Filter },
  options: WriteOptions,
): Promise<Row[]> {
  const rows = await readBefore(site, target, keys, where, options);
  refusePreview(options.preview);
  const filter = { conditionTree: meant(site, keys) };
  const from = site.call.written.length;
  await run(site, 'delete', override, () => override.handler({ ...callUnder(site.call, override).code(), filter }));
  return wrote(site, target, from, { change: 'deleted', before: rows });
}

/**
 * Marks the records that the call named as written. Writes of this collection by the override's own code, from index
 * `from` on, are the same records if only their count is known.
 */
function wrote(
  { call: { written } }: Site,
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
  const isSame = (each: Written) => !each.rows && each.collection === collection && each.change === change;
  const others = written.splice(from).filter((each) => !isSame(each));
  const known = { target, ...(before && { before }), ...(after && { after }) };
  written.push(...others, { collection, change, cause: 'call', count: rows.length, rows: known });
  return rows;
}

/** Runs the code. Its own writes through the internal API bypass this override. */
async function run<V extends OverrideVerb, T>(
  { view }: Site,
  verb: V,
  { at }: Override<V>,
  handle: () => T | Promise<T>,
): Promise<T> {
  return callCode(`the override of ${verb} of '${view.collection.name}'`, at, handle);
}

/** Reports an error after the code has run; its writes cannot be undone. */
function failAfter({ view }: Site, { verb, at }: Ran, why: string, cause: unknown = new Error(why)): never {
  const collection = view.collection.name;
  const failure = new CodeFailure(`the override of ${verb} of '${collection}', added at ${at}, failed`, cause);
  return fail('FAILED_AFTER_WRITE', { collection, why }, failure);
}

/** Called after all other checks: a preview thus fails with the same error as the write, if there is one. */
function refusePreview(preview: boolean | undefined): void {
  if (preview)
    fail('INVALID_ARGUMENT', { argument: 'dryRun', problem: 'code writes here, and nothing can be taken back of it.' });
}

function recordsOf({ view }: Site, drafts: readonly Draft[]): readonly CodeRecord[] {
  const { collection } = view;
  if (isNested(drafts))
    fail('READ_ONLY', {
      collection: collection.name,
      why: 'code writes its records, and none can be written along with them. Write the related records by themselves.',
    });
  return drafts.map((draft) => draftRecord(draft, insideNameOf, collection));
}

/** The filter for these keys, with the row scope repeated, because records may change while code runs. */
function meant({ call, view }: Site, keys: readonly (readonly unknown[])[]): PlainFilter {
  const { collection } = view;
  const plain = call.access.scope(collection.name);
  const known = keyConditions(collection, keys);
  if (plain === null) return known;
  const scope = insideFilter(scopeViewOf(call.access, collection), plain);
  const conditions = isBranch(scope) && scope.aggregator === 'And' ? scope.conditions : [scope];
  return { aggregator: 'And', conditions: [known, ...conditions] };
}

/** Reads all records of the keys within the row scope. Throws RECORD_NOT_FOUND with the missing ones. */
async function readBefore(
  site: Site,
  target: Target,
  keys: readonly unknown[][],
  where: Filter,
  options: WriteOptions,
): Promise<Row[]> {
  const rows = await readRows(site, target, where);
  if (rows.length !== keys.length) return failMissing(site, keys, where, options);
  return inOrder(target, rows, keys);
}

/** Throws FAILED_AFTER_WRITE if a record is missing, or if the caller may not see it or the records it references. */
async function readAfter(
  site: Site,
  target: Target,
  keys: readonly unknown[][],
  written: ReadonlySet<Column>,
  ran: Ran,
): Promise<Row[]> {
  const guards = await knowing(() => planGuards(site.view, site.known, written, true));
  const where = and(
    keysFilter(target, keys),
    ...guards.map(({ condition: { where, rest } }) => and(where, rest?.where ?? always)),
  );
  const rows = await readRows(site, target, where);
  if (rows.length === keys.length) return inOrder(target, rows, keys);
  const why = 'not every record is there afterwards, or it or a record that it points to is not one that you may see.';
  return failAfter(site, ran, why);
}

async function readRows({ call, view }: Site, { columns }: Target, where: Filter): Promise<Row[]> {
  return (await readWhere(call, view.collection, { where, columns, limit: null })).rows;
}

/** The rows in the order of the keys, ready for JSON. */
function inOrder(target: Target, rows: readonly Row[], keys: readonly unknown[][]): Row[] {
  const places = new Map(keys.map((key, place) => [markKey(target, key), place]));
  const mark = (row: Row) =>
    markKey(
      target,
      target.keySlots.map((slot) => row[slot]),
    );
  const sorted = [...rows].sort((a, b) => places.get(mark(a))! - places.get(mark(b))!);
  readyRows(sorted, binarySlots(target.columns));
  return sorted;
}

/** The created records as the code returned them, for a collection without a key. */
function readGiven(site: Site, { columns }: Target, given: unknown, count: number, at: string): Row[] {
  const { call, view } = site;
  const { collection } = view;
  const writer = codeWriter(call.access, insideViewOf(call.access, collection), call.moment, 'add to');
  const records = Array.isArray(given) && given.length === count ? given : undefined;
  const reads = records?.map((record) => readDraft(writer, record, 'the created record'));
  if (!reads || reads.some(({ problems }) => problems.length)) {
    const why = `the override of create must give a list of ${count} created records with fields of '${collection.name}'.`;
    return failAfter(site, { verb: 'create', at }, why);
  }
  return reads.map(({ draft }) => columns.map(({ field }) => draft.values.get(field) ?? null));
}

/** The keys of the created records, from the values that the code returned. */
function readCreated(site: Site, given: unknown, count: number, at: string): unknown[][] {
  const { view, call } = site;
  const { collection } = view;
  const refuse = (why: string, cause?: unknown): never =>
    failAfter(site, { verb: 'create', at }, `the override of create ${why}.`, cause);
  if (!Array.isArray(given) || given.length !== count) refuse(`must give a list of ${count} created records`);
  return (given as unknown[]).map((record) =>
    collection.key.map((column) => {
      const name = insideNameOf(collection, column);
      const value = (record as CodeRecord | null)?.[name];
      if (value === undefined || value === null)
        return refuse(`must give the key of each record, and gave no '${name}'`);
      try {
        return checkStored(value, { column, at: name, moment: call.moment, days: true });
      } catch (error) {
        return refuse(`gave a key that '${name}' cannot hold`, error);
      }
    }),
  );
}
