// Fields whose writing code replaces: each gives way to what its code says instead, and those fields to what theirs say,
// until only stored columns are left. A field that comes back to itself is a circle; two different values for one column
// are an error, whoever gave them.
import type { FieldProblem } from '../../core/errors.ts';
import type { CustomizationContext } from '../customize/definitions.ts';
import type { WriteContext } from '../customize/hooks.ts';
import type { Collection, Column } from '../model/types.ts';
import { callCode, failCode } from './code.ts';
import { insideNameOf } from './inside-names.ts';
import { brokenRules, describeRule, type RuleBook } from './write-rules.ts';
import {
  type Draft,
  type DraftRead,
  draftRecord,
  isSame,
  newDraft,
  readDraft,
  relatedDraft,
  type Writer,
} from './write-values.ts';

export interface Replacing {
  readonly action: 'create' | 'update';
  readonly code: () => CustomizationContext;
  /** The records that are being updated, as they are. */
  readonly current: WriteContext['getRecords'];
  /** Code, which reads what other code gives. */
  readonly inside: Writer;
  readonly book: RuleBook;
}

/** Whether a replacement is needed at all. */
export function isReplaced({ values, related }: Draft): boolean {
  for (const column of values.keys()) if (column.writing) return true;
  for (const inner of related.values()) if (isReplaced(inner)) return true;
  return false;
}

/** CUSTOMIZATION_FAILED for code that throws, goes in a circle, or gives what cannot be written. */
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
  /** Fields that are being replaced, against circles. */
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
  // What is stored is checked later; the value of a field that is not stored is gone by then.
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
    failCode(what, at, new Error(`It gave something that cannot be written: ${first.field}: ${first.problem}`));
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
