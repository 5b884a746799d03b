// Fields with a write replacement: the code of each returns other fields to write, and this repeats until only stored
// columns remain. A field that leads back to itself is a circular replacement. Two different values for one column are
// an error, whether they come from the caller or from code.
import type { FieldProblem } from '../../core/errors.ts';
import type { CustomizationContext } from '../customize/context.ts';
import type { WriteContext } from '../customize/hooks.ts';
import { callCode, failCode, withoutValue } from '../customize/user-code.ts';
import type { Collection, Column } from '../model/types.ts';
import { internalNameOf } from '../resolve/internal-names.ts';
import {
  type Draft,
  isSame,
  newDraft,
  type ParsedDraft,
  readDraft,
  relatedDraftOf,
  toCodeRecord,
  type Writer,
} from './drafts.ts';
import { type CompiledRules, describeRule, findBrokenRules } from './validation.ts';

export interface ReplacementContext {
  readonly action: 'create' | 'update';
  readonly code: () => CustomizationContext;
  /** The current records of an update. */
  readonly current: WriteContext['getRecords'];
  /** The code as author, to parse the values that code returns. */
  readonly internalWriter: Writer;
  readonly rules: CompiledRules;
}

/** Whether the draft has any field with a replacement. */
function isReplaced({ values, related }: Draft): boolean {
  for (const column of values.keys()) if (column.writing) return true;
  for (const inner of related.values()) if (isReplaced(inner)) return true;
  return false;
}

/** Throws CUSTOMIZATION_FAILED for code that throws, replaces in a circle, or returns invalid values. */
export async function replaceWrites(replacing: ReplacementContext, writer: Writer, draft: Draft): Promise<ParsedDraft> {
  if (!isReplaced(draft)) return { draft, problems: [] };
  const { collection } = writer.view;
  const record = Object.freeze(toCodeRecord(draft, internalNameOf, collection));
  const context = Object.freeze({
    ...replacing.code(),
    action: replacing.action,
    record,
    getRecords: replacing.current,
  });
  const problems: FieldProblem[] = [];
  return { draft: await replaceDraft({ ...replacing, context, problems, active: [] }, writer, draft), problems };
}

interface ReplacementRun extends ReplacementContext {
  readonly context: WriteContext;
  readonly problems: FieldProblem[];
  /** Fields with a running replacement, to detect circles. */
  readonly active: readonly Column[];
}

async function replaceDraft(given: ReplacementRun, writer: Writer, { values, related }: Draft): Promise<Draft> {
  const out = newDraft();
  for (const [column, value] of values) {
    const inner = column.writing?.write ? await replaceField(given, writer, column, value) : undefined;
    if (inner) merge(given, writer, out, inner);
    else setValue(given, writer, out, column, value);
  }
  for (const [relation, inner] of related)
    merge(given, writer, out, {
      values: new Map(),
      related: new Map([
        [
          relation,
          await replaceDraft(
            { ...given, internalWriter: given.internalWriter.forCollection(relation.to) },
            writer.forCollection(relation.to),
            inner,
          ),
        ],
      ]),
    });
  return out;
}

async function replaceField(given: ReplacementRun, writer: Writer, column: Column, value: unknown): Promise<Draft> {
  const { internalWriter: internalFields, context, active: under, rules: book, problems } = given;
  const { collection } = internalFields.view;
  const { write, at } = column.writing!;
  const what = describeField(collection, column);
  if (under.includes(column)) {
    const cycle = [...under.slice(under.indexOf(column)), column].map((each) => internalNameOf(collection, each));
    failCode(what, at, new Error(`Circular replacements of writing: ${cycle.join(' -> ')}`));
  }
  // Stored fields are validated later. A computed field must be validated at this point, before its value is replaced.
  const broken = column.computedFrom ? findBrokenRules(book, collection, column, value, internalFields.moment) : [];
  for (const rule of broken)
    problems.push({ field: writer.label(column) ?? 'the record', problem: describeRule(rule, value) });
  if (broken.length) return newDraft();
  const patch = await callCode(what, at, () => write!(value, context));
  if (patch === undefined || patch === null) return newDraft();
  const { draft, problems: invalid } = callCode(
    what,
    at,
    () => readDraft(internalFields, patch, 'the patch'),
    true,
  ) as ReturnType<typeof readDraft>;
  const [first] = invalid;
  if (first)
    failCode(
      what,
      at,
      new Error(`It returned a value that cannot be written: ${first.field}: ${withoutValue(first.problem)}`),
    );
  const own = draft.values.get(column);
  if (own === undefined) return replaceDraft({ ...given, active: [...under, column] }, writer, draft);
  if (column.computedFrom || column.isGenerated)
    failCode(what, at, new Error('It returned the field itself, which is not stored'));
  draft.values.delete(column);
  const rest = await replaceDraft({ ...given, active: [...under, column] }, writer, draft);
  setValue(given, writer, rest, column, own);
  return rest;
}

const describeField = (collection: Collection, column: Column): string =>
  `the writing of '${internalNameOf(collection, column)}' of '${collection.name}'`;

function merge(given: ReplacementRun, writer: Writer, out: Draft, more: Draft): void {
  for (const [column, value] of more.values) setValue(given, writer, out, column, value);
  for (const [relation, inner] of more.related)
    merge(given, writer.forCollection(relation.to), relatedDraftOf(out, relation), inner);
}

function setValue(
  { problems }: ReplacementRun,
  writer: Writer,
  { values }: Draft,
  column: Column,
  value: unknown,
): void {
  if (!values.has(column) || isSame(values.get(column), value)) values.set(column, value);
  else
    problems.push({
      field: writer.label(column) ?? 'the record',
      problem: 'would be written twice with different values: send only one of the fields that write it.',
    });
}
