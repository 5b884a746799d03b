// Prepares the records before a write, in this order: names, types and permissions -> hooks -> replaced fields ->
// required fields and rules. Values from code are validated like values from the caller.
import { type FieldProblem, fail } from '../../core/errors.ts';
import type { OpenRecord, WriteContext } from '../customize/hooks.ts';
import { failCode, withoutValue } from '../customize/user-code.ts';
import type { Collection } from '../model/types.ts';
import { describeHook, type HookRestrictions, hasHooks, runHooks } from '../operations/hooks.ts';
import { internalNameOf } from '../resolve/internal-names.ts';
import { internalViewOf } from '../resolve/visibility.ts';
import { type Draft, type ParsedDraft, readDraft, toCodeRecord, type Values, type Writer } from './drafts.ts';
import { type ReplacementContext, replaceWrites } from './field-writers.ts';
import { type CollectionWriteContext, createCodeWriter } from './target.ts';
import { checkDraft } from './validation.ts';

interface Prepared {
  readonly drafts: readonly Draft[];
  /** The records for hooks after the write; empty without such hooks. */
  readonly data: readonly OpenRecord[];
}

/**
 * Throws INVALID_RECORD with the problems of all records. With several records, each field has the prefix
 * `records[i].`.
 */
export async function prepareCreate(
  site: CollectionWriteContext,
  given: readonly unknown[],
  isPreview: boolean,
): Promise<Prepared> {
  const { writer, isInternal: isInside, view } = site;
  const { collection } = view;
  const reads = given.map((record) => readDraft(writer, record, 'records'));
  if (reads.some(({ problems }) => problems.length)) failParsing(site, reads, true);
  let drafts = reads.map(({ draft }) => draft);
  let data: readonly OpenRecord[] = [];
  if (!isInside && hasHooks(collection, 'Create')) {
    data = Object.freeze(drafts.map((draft) => toCodeRecord(draft, internalNameOf, collection)));
    await runHooks(collection, ['Before', 'Create'], site.call.code, { data, isPreview });
    drafts = data.map((record) => readHookResult(site, record, 'Create'));
  }
  return { drafts: await replaceAndCheck(site, drafts, null), data };
}

/**
 * `narrowing` is for hooks, which can read and narrow the conditions. `current` reads current records for replaced
 * fields.
 */
export async function prepareUpdate(
  site: CollectionWriteContext,
  given: unknown,
  current: WriteContext['getRecords'],
  restrictions: HookRestrictions | null,
  isPreview: boolean,
): Promise<{ readonly draft: Draft; readonly patch: OpenRecord }> {
  const { writer, view } = site;
  const { collection } = view;
  const read = readDraft(writer, given, 'values');
  if (read.problems.length) failParsing(site, [read], false);
  let { draft } = read;
  if (isEmpty(draft)) fail('INVALID_ARGUMENT', { argument: 'values', problem: 'name at least one field to write.' });
  let patch: OpenRecord = {};
  if (restrictions) {
    patch = toCodeRecord(draft, internalNameOf, collection);
    await runHooks(collection, ['Before', 'Update'], site.call.code, {
      ...restrictions.hookArguments,
      patch,
      isPreview,
    });
    draft = readHookResult(site, patch, 'Update');
  }
  const [finished] = await replaceAndCheck(site, [draft], current);
  return { draft: finished!, patch };
}

/** For values without hooks and replaced fields; rules still apply. */
export function checkValues(site: CollectionWriteContext, given: readonly unknown[], isNew: boolean): Values[] {
  const { writer, call, view } = site;
  const reads = given.map((record) => readDraft(writer, record, 'values'));
  const problems = reads.map((read) => [
    ...read.problems,
    ...checkDraft(writer, call.ops.rules, read.draft, isNew, new Set(read.problems.map(({ field }) => field))),
  ]);
  if (problems.some((some) => some.length))
    fail('INVALID_RECORD', { collection: view.collection.name, problems: prefixProblems(problems) });
  return reads.map(({ draft }) => draft.values);
}

export const isEmpty = ({ values, related }: Draft): boolean => values.size + related.size === 0;

/** Reports missing fields too, unless code could still set them. */
function failParsing(
  { view, writer, call, isInternal: isInside }: CollectionWriteContext,
  reads: readonly ParsedDraft[],
  isNew: boolean,
): never {
  const { collection } = view;
  const isFinal = !isReplacedAnywhere(collection) && (isInside || !hasHooks(collection, 'Create'));
  const problems = reads.map((read) => {
    const known = new Set(read.problems.map(({ field }) => field));
    const more = isFinal || !isNew ? checkDraft(writer, call.ops.rules, read.draft, isNew, known) : [];
    return [...read.problems, ...more];
  });
  return fail('INVALID_RECORD', { collection: collection.name, problems: prefixProblems(problems) });
}

export function isReplacedAnywhere({ internalFields }: Collection): boolean {
  return [...internalFields.values()].some((field) => field.kind === 'column' && field.writing !== undefined);
}

function prefixProblems(problems: readonly (readonly FieldProblem[])[]): FieldProblem[] {
  if (problems.length === 1) return [...problems[0]!];
  return problems.flatMap((some, index) =>
    some.map(({ field, problem }) => ({ field: `records[${index}].${field}`, problem })),
  );
}

/** An invalid value from a hook is an error of the hook, not of the caller. */
function readHookResult(site: CollectionWriteContext, record: OpenRecord, type: 'Create' | 'Update'): Draft {
  const { draft, problems } = readDraft(createInternalWriter(site), record, 'data');
  const [first] = problems;
  const { what, at } = describeHook(site.view.collection, type);
  if (first)
    failCode(
      what,
      at,
      new Error(`It set a value that cannot be written: ${first.field}: ${withoutValue(first.problem)}`),
    );
  return draft;
}

function createInternalWriter({ call, view, writer, isInternal: isInside }: CollectionWriteContext): Writer {
  if (isInside) return writer;
  const { access, moment } = call;
  return createCodeWriter(access, internalViewOf(access, view.collection), moment, writer.verb);
}

/** `current` is null for new records. */
async function replaceAndCheck(
  site: CollectionWriteContext,
  drafts: readonly Draft[],
  current: WriteContext['getRecords'] | null,
): Promise<Draft[]> {
  const isNew = current === null;
  const { call, writer, view } = site;
  const { rules: book } = call.ops;
  const replacing: ReplacementContext = {
    action: isNew ? 'create' : 'update',
    code: call.code,
    current: current ?? (async () => []),
    internalWriter: createInternalWriter(site),
    rules: book,
  };
  const replaced = await Promise.all(drafts.map((draft) => replaceWrites(replacing, writer, draft)));
  const problems = replaced.map(({ draft, problems: some }) => {
    const known = new Set(some.map(({ field }) => field));
    return [...some, ...checkDraft(writer, book, draft, isNew, known)];
  });
  if (problems.some((some) => some.length))
    fail('INVALID_RECORD', { collection: view.collection.name, problems: prefixProblems(problems) });
  return replaced.map(({ draft }) => draft);
}
