// Fields with a write replacement: the code of each returns other fields to write, and this repeats until only stored
// columns remain. A field that leads back to itself is a circular replacement. Two different values for one column are
// an error, whether they come from the caller or from code.
import type { FieldProblem } from '../../core/errors.ts';
import type { CustomizationContext } from '../customize/context.ts';
import type { WriteContext } from '../customize/hooks.ts';
import { callCode, failCode, withoutValue } from '../customize/user-code.ts';
import type { Collection, Column } from '../model/types.ts';
import { insideNameOf } from '../resolve/internal-names.ts';
import {
  type Draft,
  type DraftRead,
  draftRecord,
  isSame,
  newDraft,
  readDraft,
  relatedDraft,
  type Writer,
} from './drafts.ts';
import { brokenRules, describeRule, type RuleBook } from './validation.ts';

export interface Replacing {
  readonly action: 'create' | 'update';
  readonly code: () => CustomizationContext;
  /** The current records of an update. */
  readonly current: WriteContext['getRecords'];
  /** The code as author, to parse the values that code returns. */
  readonly inside: Writer;
  readonly book: RuleBook;
}

/** Whether the draft has any field with a replacement. */
export function isReplaced({ values, related }: Draft): boolean {
  for (const column of values.keys()) if (column.writing) return true;
  for (const inner of related.values()) if (isReplaced(inner)) return true;
  return false;
}

/** Throws CUSTOMIZATION_FAILED for code that throws, replaces in a circle, or returns invalid values. */
export async function replaceWrites(replacing: Replacing, writer: Writer, draft: Draft): Promise<DraftRead> {
  if (!isReplaced(draft)) return { draft, problems: [] };
  const { collection } = writer.view;
  const record = Object.freeze(draftRecord(draft, insideNameOf, collection));
  const context = Object.freeze({
    ...replacing.code(),
    action: replacing.action,
    record,
    getRecords: replacing.current,
  });
  const problems: FieldProblem[] = [];
  return { draft: await replaceDraft({ ...replacing, context, problems, under: [] }, writer, draft), problems };
}

interface Under extends Replacing {
  readonly context: WriteContext;
  readonly problems: FieldProblem[];
  /** Fields with a running replacement, to detect circles. */
  readonly under: readonly Column[];
}

async function replaceDraft(given: Under, writer: Writer, { values, related }: Draft): Promise<Draft> {
  const out = newDraft();
  for (const [column, value] of values) {
    const inner = column.writing?.write ? await replaceField(given, writer, column, value) : undefined;
    if (inner) merge(given, writer, out, inner);
    else put(given, writer, out, column, value);
  }
  for (const [relation, inner] of related)
    merge(given, writer, out, {
      values: new Map(),
      related: new Map([
        [
          relation,
          await replaceDraft({ ...given, inside: given.inside.at(relation.to) }, writer.at(relation.to), inner),
        ],
      ]),
    });
  return out;
}

async function replaceField(given: Under, writer: Writer, column: Column, value: unknown): Promise<Draft> {
  const { inside, context, under, book, problems } = given;
  const { collection } = inside.view;
  const { write, at } = column.writing!;
  const what = whatOf(collection, column);
  if (under.includes(column)) {
    const round = [...under.slice(under.indexOf(column)), column].map((each) => insideNameOf(collection, each));
    failCode(what, at, new Error(`The replacements of writing go in a circle: ${round.join(' -> ')}`));
  }
  // Stored fields are validated later. A computed field must be validated at this point, before its value is replaced.
  const broken = column.made ? brokenRules(book, collection, column, value, inside.moment) : [];
  for (const rule of broken)
    problems.push({ field: writer.label(column) ?? 'the record', problem: describeRule(rule, value) });
  if (broken.length) return newDraft();
  const patch = await callCode(what, at, () => write!(value, context));
  if (patch === undefined || patch === null) return newDraft();
  const { draft, problems: wrong } = callCode(
    what,
    at,
    () => readDraft(inside, patch, 'the patch'),
    true,
  ) as ReturnType<typeof readDraft>;
  const [first] = wrong;
  if (first)
    failCode(
      what,
      at,
      new Error(`It gave something that cannot be written: ${first.field}: ${withoutValue(first.problem)}`),
    );
  const own = draft.values.get(column);
  if (own === undefined) return replaceDraft({ ...given, under: [...under, column] }, writer, draft);
  if (column.made || column.isGenerated)
    failCode(what, at, new Error('It gave the field itself, which nothing stores'));
  draft.values.delete(column);
  const rest = await replaceDraft({ ...given, under: [...under, column] }, writer, draft);
  put(given, writer, rest, column, own);
  return rest;
}

const whatOf = (collection: Collection, column: Column): string =>
  `the writing of '${insideNameOf(collection, column)}' of '${collection.name}'`;

function merge(given: Under, writer: Writer, out: Draft, more: Draft): void {
  for (const [column, value] of more.values) put(given, writer, out, column, value);
  for (const [relation, inner] of more.related)
    merge(given, writer.at(relation.to), relatedDraft(out, relation), inner);
}

function put({ problems }: Under, writer: Writer, { values }: Draft, column: Column, value: unknown): void {
  if (!values.has(column) || isSame(values.get(column), value)) values.set(column, value);
  else
    problems.push({
      field: writer.label(column) ?? 'the record',
      problem: 'would be written twice with different values: send one of the fields that write it.',
    });
}
