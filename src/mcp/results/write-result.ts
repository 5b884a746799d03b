// Answers of writes: the number of written records, their ids and their current values. A dry run answers the changes
// that it would make. Both are cut between records like lists, with a note.

import type { WriteAnswer } from '../../agent/requests.ts';
import { stringifyJson } from '../../agent/sources/lossless-json.ts';
import type { RecordChange, WriteEffect } from '../../agent/write/effects.ts';
import type { ToolAnswer } from '../tool.ts';
import { clipValue, MAX_CELL_CHARACTERS } from './cells.ts';
import { fitsTokens } from './tokens.ts';

interface WriteResultOptions {
  readonly budgetTokens: number;
  /** Whether the answer contains the records, or only their ids. */
  readonly records: boolean;
  /** Additional members beside the count. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/**
 * `{count, ids, columns?, rows?, alsoWritten?, unseen?, note?}`. A dry run returns `{dryRun, count, changes: [{id,
 * fields: {name: {before, after}}}], alsoWritten?, unseen?, note?}`, with a null id for a new record. `alsoWritten`
 * are written records that `count` does not include: `[{collection, change, cause, count, ids?, changes?}]`.
 */
export function writeText(answer: WriteAnswer, options: WriteResultOptions): ToolAnswer {
  const text = answer.changes ? formatPreview(answer, answer.changes, options) : formatWritten(answer, options);
  return {
    text,
    ...(answer.ids.length > 0 && { recordIds: answer.ids }),
  };
}

function formatWritten(
  { count, ids, records, effects, unseen }: WriteAnswer,
  { budgetTokens, ...options }: WriteResultOptions,
): string {
  const columns = Object.keys(records[0] ?? {});
  const showsRecords = options.records && columns.length > 0;
  const omittedNote = `Shown: %n of ${count}. All were written; list them to see the rest.`;
  return fitRecords({ count, longest: longestList(count, effects), omittedNote, budgetTokens }, (max, limit, note) => ({
    count,
    ...options.more,
    ids: ids.slice(0, max),
    ...(showsRecords && {
      columns,
      rows: records.slice(0, max).map((record) => columns.map((name) => clipValue(record[name], limit))),
    }),
    ...alsoWritten(effects, max, limit),
    ...(unseen.length > 0 && { unseen }),
    ...note,
  }));
}

function formatPreview(
  { count, effects, unseen }: WriteAnswer,
  changes: NonNullable<WriteAnswer['changes']>,
  { budgetTokens, more }: WriteResultOptions,
): string {
  const omittedNote = `Shown: %n of ${count}. This dry run wrote no records.`;
  return fitRecords({ count, longest: longestList(count, effects), omittedNote, budgetTokens }, (max, limit, note) => ({
    dryRun: true,
    count,
    ...more,
    changes: clipChanges(changes.slice(0, max), limit),
    ...alsoWritten(effects, max, limit),
    ...(unseen.length > 0 && { unseen }),
    ...note,
  }));
}

/** Fields before and after, each value clipped to `limit` characters. */
export function clipChanges(changes: readonly RecordChange[], limit: number): RecordChange[] {
  return changes.map(({ id, fields }) => ({
    id,
    fields: Object.fromEntries(
      Object.entries(fields).map(([name, { before, after }]) => [
        name,
        { before: clipValue(before, limit), after: clipValue(after, limit) },
      ]),
    ),
  }));
}

/** Effects on records that the call does not name. */
export const otherEffects = (effects: readonly WriteEffect[]): WriteEffect[] =>
  effects.filter(({ cause }) => cause !== 'call');

/** Ids and changes of the first records of each effect. The counts include all records. */
function alsoWritten(
  effects: readonly WriteEffect[],
  max: number,
  limit: number,
): { readonly alsoWritten?: readonly WriteEffect[] } {
  const others = otherEffects(effects);
  if (others.length === 0) return {};
  return {
    alsoWritten: others.map(({ ids, changes, ...effect }) => ({
      ...effect,
      ...(ids && !changes && { ids: ids.slice(0, max) }),
      ...(changes && { changes: clipChanges(changes.slice(0, max), limit) }),
    })),
  };
}

/** Adds the writes of an action's code to its answer, within the token budget. */
export function addEffects(result: object, effects: readonly WriteEffect[], budgetTokens: number): string {
  const options = { count: 0, longest: longestList(0, effects), omittedNote: '', budgetTokens };
  return fitRecords(options, (max, limit) => ({ ...result, ...alsoWritten(effects, max, limit) }));
}

const MAX_COMMITTED = 5;

/** For the end of an error text. */
export const committedNote = (committedText: string): string =>
  `Written before the error, and not rolled back: ${committedText}.`;

/** For example `1 record of orders updated (7)`, for an error after writes that stay committed. */
export function describeCommitted(effects: readonly WriteEffect[]): string {
  const some = effects.slice(0, MAX_COMMITTED).map(({ collection, change, count, ids = [] }) => {
    const where = collection ?? 'a collection that you may not see';
    const named =
      ids.length > 0 ? ` (${ids.slice(0, MAX_COMMITTED).join(', ')}${count > MAX_COMMITTED ? ', ...' : ''})` : '';
    return `${count} ${count === 1 ? 'record' : 'records'} of ${where} ${change}${named}`;
  });
  return [...some, ...(effects.length > MAX_COMMITTED ? ['...'] : [])].join('; ');
}

/** The maximum number of shown records per effect, unless the call itself names more. */
const MAX_OTHERS = 20;

/** The length of the longest list in the answer. */
function longestList(count: number, effects: readonly WriteEffect[]): number {
  const lengths = otherEffects(effects).map(({ ids, changes }) => (changes ?? ids ?? []).length);
  return Math.max(count, Math.min(MAX_OTHERS, Math.max(0, ...lengths)));
}

interface FitOptions {
  readonly count: number;
  /** The length of the longest of the lists that are cut together. */
  readonly longest: number;
  /** The note if records are left out; `%n` is the number of shown ones. */
  readonly omittedNote: string;
  readonly budgetTokens: number;
}

/** A shorter limit applies only if not even one record would fit with the longer one. */
const cellLimits = [MAX_CELL_CHARACTERS, 400, 80, 10];

function fitRecords(
  { count, longest, omittedNote, budgetTokens }: FitOptions,
  render: (max: number, limit: number, note: { readonly note?: string }) => unknown,
): string {
  const textOf = (most: number, limit: number) =>
    stringifyJson(render(most, limit, most < count ? { note: omittedNote.replace('%n', `${most}`) } : {}));
  for (const limit of cellLimits) {
    let [fits, most] = [0, longest];
    let text = '';
    // Binary search for the number of records that fit.
    for (let next = most; fits < most; next = Math.ceil((fits + most) / 2)) {
      const tried = textOf(next, limit);
      if (fitsTokens(tried, budgetTokens)) [fits, text] = [next, tried];
      else most = next - 1;
    }
    if (fits > 0) return text;
  }
  return textOf(0, cellLimits.at(-1)!);
}
