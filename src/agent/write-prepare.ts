// From what was sent to what will be written, before anything is: names, types and permissions -> hooks -> replaced fields
// -> what must be given, and rules. What code makes of a record is checked as what was sent is.
import { type FieldProblem, fail } from '../core/errors.ts';
import type { OpenRecord, WriteContext } from './customize/hooks.ts';
import { hasHooks, hookOf, type Narrowing, runHooks } from './hooks.ts';
import type { Collection } from './model/types.ts';
import { failCode } from './query/code.ts';
import { insideNameOf } from './query/inside-names.ts';
import { insideViewOf } from './query/view.ts';
import { type Replacing, replaceWrites } from './query/write-replace.ts';
import { checkDraft } from './query/write-rules.ts';
import { type Draft, type DraftRead, draftRecord, readDraft, type Values, type Writer } from './query/write-values.ts';
import { codeWriter, type Site } from './write-site.ts';

export interface Prepared {
  readonly drafts: readonly Draft[];
  /** As code sees them, for hooks after the write; empty where there are none. */
  readonly data: readonly OpenRecord[];
}

/** INVALID_RECORD with the problems of all records, each field preceded by `records[i].` where there are several. */
export async function prepareCreate(site: Site, given: readonly unknown[], isPreview: boolean): Promise<Prepared> {
  const { writer, isInside, view } = site;
  const { collection } = view;
  const reads = given.map((record) => readDraft(writer, record, 'records'));
  if (reads.some(({ problems }) => problems.length)) failReads(site, reads, true);
  let drafts = reads.map(({ draft }) => draft);
  let data: readonly OpenRecord[] = [];
  if (!isInside && hasHooks(collection, 'Create')) {
    data = Object.freeze(drafts.map((draft) => draftRecord(draft, insideNameOf, collection)));
    await runHooks(collection, ['Before', 'Create'], site.call.code, { data, isPreview });
    drafts = data.map((record) => readHooked(site, record, 'Create'));
  }
  return { drafts: await finish(site, drafts, null), data };
}

/** `narrowing` is for hooks: what they may look at and narrow; `current` for replaced fields: what is there already. */
export async function prepareUpdate(
  site: Site,
  given: unknown,
  current: WriteContext['getRecords'],
  narrowing: Narrowing | null,
  isPreview: boolean,
): Promise<{ readonly draft: Draft; readonly patch: OpenRecord }> {
  const { writer, view } = site;
  const { collection } = view;
  const read = readDraft(writer, given, 'values');
  if (read.problems.length) failReads(site, [read], false);
  let { draft } = read;
  if (isEmpty(draft)) fail('INVALID_ARGUMENT', { argument: 'values', problem: 'name at least one field to write.' });
  let patch: OpenRecord = {};
  if (narrowing) {
    patch = draftRecord(draft, insideNameOf, collection);
    await runHooks(collection, ['Before', 'Update'], site.call.code, { ...narrowing.told, patch, isPreview });
    draft = readHooked(site, patch, 'Update');
  }
  const [finished] = await finish(site, [draft], current);
  return { draft: finished!, patch };
}

/** For values that no code has a say in, besides the rules. */
export function checkValues(site: Site, given: readonly unknown[], isNew: boolean): Values[] {
  const { writer, call, view } = site;
  const reads = given.map((record) => readDraft(writer, record, 'values'));
  const problems = reads.map((read) => [
    ...read.problems,
    ...checkDraft(writer, call.ops.rules, read.draft, isNew, new Set(read.problems.map(({ field }) => field))),
  ]);
  if (problems.some((some) => some.length))
    fail('INVALID_RECORD', { collection: view.collection.name, problems: numbered(problems) });
  return reads.map(({ draft }) => draft.values);
}

export const isEmpty = ({ values, related }: Draft): boolean => values.size + related.size === 0;

/** What is missing is told as well, where no code could still give it. */
function failReads({ view, writer, call, isInside }: Site, reads: readonly DraftRead[], isNew: boolean): never {
  const { collection } = view;
  const isFinal = !isReplacedAnywhere(collection) && (isInside || !hasHooks(collection, 'Create'));
  const problems = reads.map((read) => {
    const known = new Set(read.problems.map(({ field }) => field));
    const more = isFinal || !isNew ? checkDraft(writer, call.ops.rules, read.draft, isNew, known) : [];
    return [...read.problems, ...more];
  });
  return fail('INVALID_RECORD', { collection: collection.name, problems: numbered(problems) });
}

function isReplacedAnywhere({ inside }: Collection): boolean {
  return [...inside.values()].some((field) => field.kind === 'column' && field.writing !== undefined);
}

function numbered(problems: readonly (readonly FieldProblem[])[]): FieldProblem[] {
  if (problems.length === 1) return [...problems[0]!];
  return problems.flatMap((some, index) =>
    some.map(({ field, problem }) => ({ field: `records[${index}].${field}`, problem })),
  );
}

/** What a hook left cannot be the fault of the caller. */
function readHooked(site: Site, record: OpenRecord, type: 'Create' | 'Update'): Draft {
  const { draft, problems } = readDraft(insideWriter(site), record, 'data');
  const [first] = problems;
  const { what, at } = hookOf(site.view.collection, type);
  if (first)
    failCode(what, at, new Error(`It left something that cannot be written: ${first.field}: ${first.problem}`));
  return draft;
}

function insideWriter({ call, view, writer, isInside }: Site): Writer {
  if (isInside) return writer;
  const { access, moment } = call;
  return codeWriter(access, insideViewOf(access, view.collection), moment, writer.verb);
}

/** `current` is null for new records. */
async function finish(
  site: Site,
  drafts: readonly Draft[],
  current: WriteContext['getRecords'] | null,
): Promise<Draft[]> {
  const isNew = current === null;
  const { call, writer, view } = site;
  const { rules: book } = call.ops;
  const replacing: Replacing = {
    action: isNew ? 'create' : 'update',
    code: call.code,
    current: current ?? (async () => []),
    inside: insideWriter(site),
    book,
  };
  const replaced = await Promise.all(drafts.map((draft) => replaceWrites(replacing, writer, draft)));
  const problems = replaced.map(({ draft, problems: some }) => {
    const known = new Set(some.map(({ field }) => field));
    return [...some, ...checkDraft(writer, book, draft, isNew, known)];
  });
  if (problems.some((some) => some.length))
    fail('INVALID_RECORD', { collection: view.collection.name, problems: numbered(problems) });
  return replaced.map(({ draft }) => draft);
}
