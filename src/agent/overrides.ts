// Writes that code does in place of the data source. No transaction holds what it does: which records are meant is decided
// before, within the row scope of the caller, and what is there afterwards is looked at; what is wrong then is told as
// something that stands.
import { fail } from '../core/errors.ts';
import { isBranch, type PlainFilter } from '../core/filter.ts';
import type { CodeRecord } from './customize/definitions.ts';
import type { Override, Overrides, OverrideVerb } from './customize/hooks.ts';
import type { WriteOptions } from './engine.ts';
import type { Column } from './model/types.ts';
import { callUnder } from './operations.ts';
import { needForeign } from './operations-foreign.ts';
import { callCode } from './query/code.ts';
import { isNested } from './query/execute-nested.ts';
import { markKey } from './query/execute-write.ts';
import { insideFilter, insideNameOf } from './query/inside-names.ts';
import { keysFilter, planGuards, type Target } from './query/plan-write.ts';
import { binarySlots, readyRows } from './query/shape.ts';
import { always, and } from './query/simplify.ts';
import type { Filter } from './query/types.ts';
import { checkStored } from './query/values.ts';
import { insideViewOf, scopeViewOf } from './query/view.ts';
import { type Draft, draftRecord, readDraft } from './query/write-values.ts';
import type { Row } from './sources/source.ts';
import { knowing, readWhere } from './write-known.ts';
import { codeWriter, keyConditions, noKey, type Site } from './write-site.ts';
import { failMissing } from './write-transaction.ts';

/** Undefined also for the code of the override itself. */
export function overrideOf<V extends OverrideVerb>({ call, view }: Site, verb: V): Overrides[V] | undefined {
  const override = view.collection.rules.overrides[verb];
  return override && call.under?.includes(override) ? undefined : override;
}

/** The rows of the created records. */
export async function overriddenCreate(
  site: Site,
  target: Target,
  override: Override<'create'>,
  drafts: readonly Draft[],
  { preview }: WriteOptions,
): Promise<Row[]> {
  const { collection } = site.view;
  // What cannot be read again cannot be held against the row scope.
  if (target.key.length === 0 && (await knowing(() => site.scope(collection))).op !== 'always') noKey(site);
  const data = recordsOf(site, drafts);
  await needForeign(site, drafts, true);
  refusePreview(preview);
  const records = await run(site, 'create', override, () =>
    override.handler({ ...callUnder(site.call, override).code(), data }),
  );
  if (target.key.length === 0) return readGiven(site, target, records, drafts.length);
  const keys = readCreated(site, records, drafts.length);
  return readAfter(site, target, keys, new Set(drafts.flatMap(({ values }) => [...values.keys()])), collection.name);
}

/** The rows as they are afterwards. */
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
  await readBefore(site, target, keys, where, options);
  refusePreview(options.preview);
  const filter = { conditionTree: meant(site, keys) };
  await run(site, 'update', override, () =>
    override.handler({ ...callUnder(site.call, override).code(), filter, patch: patch! }),
  );
  const next = keys.map((key) => view.collection.key.map((column, at) => draft.values.get(column) ?? key[at]));
  return readAfter(site, target, next, new Set(draft.values.keys()), view.collection.name);
}

/** The rows as they were. */
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
  await run(site, 'delete', override, () => override.handler({ ...callUnder(site.call, override).code(), filter }));
  return rows;
}

/** Its code writes itself, through the inside door too, where this override is then left out. */
async function run<V extends OverrideVerb, T>(
  { view }: Site,
  verb: V,
  { at }: Override<V>,
  handle: () => T | Promise<T>,
): Promise<T> {
  return callCode(`the override of ${verb} of '${view.collection.name}'`, at, handle);
}

/** After everything that can be known without the code: a preview fails as the write would, where it would. */
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

/** The records of these keys, and the row scope again: records may move while code works. */
function meant({ call, view }: Site, keys: readonly (readonly unknown[])[]): PlainFilter {
  const { collection } = view;
  const plain = call.access.scope(collection.name);
  const known = keyConditions(collection, keys);
  if (plain === null) return known;
  const scope = insideFilter(scopeViewOf(call.access, collection), plain);
  const conditions = isBranch(scope) && scope.aggregator === 'And' ? scope.conditions : [scope];
  return { aggregator: 'And', conditions: [known, ...conditions] };
}

/** Every record of the keys, within what may be touched. RECORD_NOT_FOUND names those that are missing. */
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

/** FAILED_AFTER_WRITE when the records are not there, or not such that the caller may see them and what they point to. */
async function readAfter(
  site: Site,
  target: Target,
  keys: readonly unknown[][],
  written: ReadonlySet<Column>,
  collection: string,
): Promise<Row[]> {
  const guards = await knowing(() => planGuards(site.view, site.known, written, true));
  const where = and(
    keysFilter(target, keys),
    ...guards.map(({ condition: { where, rest } }) => and(where, rest?.where ?? always)),
  );
  const rows = await readRows(site, target, where);
  if (rows.length === keys.length) return inOrder(target, rows, keys);
  const why = 'not every record is there afterwards, or it or a record that it points to is not one that you may see.';
  return fail('FAILED_AFTER_WRITE', { collection, why });
}

async function readRows({ call, view }: Site, { columns }: Target, where: Filter): Promise<Row[]> {
  return (await readWhere(call, view.collection, { where, columns, limit: null })).rows;
}

/** Ready for JSON. */
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

/** What the code says it created, where no key tells which records those are. */
function readGiven({ call, view }: Site, { collection, columns }: Target, given: unknown, count: number): Row[] {
  const writer = codeWriter(call.access, insideViewOf(call.access, collection), call.moment, 'add to');
  const records = Array.isArray(given) && given.length === count ? given : undefined;
  const reads = records?.map((record) => readDraft(writer, record, 'the created record'));
  if (!reads || reads.some(({ problems }) => problems.length)) {
    const why = `the override of create must give a list of ${count} created records with fields of '${view.collection.name}'.`;
    return fail('FAILED_AFTER_WRITE', { collection: collection.name, why });
  }
  return reads.map(({ draft }) => columns.map(({ field }) => draft.values.get(field) ?? null));
}

/** The keys of what the code says it created. */
function readCreated({ view, call }: Site, given: unknown, count: number): unknown[][] {
  const { collection } = view;
  const refuse = (why: string, cause?: unknown): never =>
    fail('FAILED_AFTER_WRITE', { collection: collection.name, why: `the override of create ${why}.` }, cause);
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
