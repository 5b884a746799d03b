// What a write answers: how many records it touched, which, and what they hold now. A dry run answers what would change.
// Both are bounded as lists are: cut on a record, saying so.
import type { WriteAnswer } from '../../agent/engine.ts';
import { printJson } from '../../agent/sources/json-text.ts';
import type { ToolAnswer } from '../tools.ts';
import { CELL_CHARACTERS, clipValue } from './result.ts';
import { fitsTokens } from './tokens.ts';

export interface WriteResultOptions {
  readonly budgetTokens: number;
  /** Whether the records themselves are told; else their ids alone. */
  readonly records: boolean;
  /** Told beside the count. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/**
 * `{count, ids, columns?, rows?, note?}`, or for a dry run `{dryRun, count, changes: [{id, fields: {name: {before, after}}}],
 * note?}`, where the id of a record that does not exist yet is null.
 */
export function writeText(answer: WriteAnswer, options: WriteResultOptions): ToolAnswer {
  const text = answer.changes ? previewText(answer, answer.changes, options) : doneText(answer, options);
  return { text, ...(answer.ids.length > 0 && { recordIds: answer.ids }) };
}

function doneText({ count, ids, records }: WriteAnswer, { budgetTokens, ...options }: WriteResultOptions): string {
  const columns = Object.keys(records[0] ?? {});
  const shown = options.records && columns.length > 0;
  const told = `Told: %n of ${count}. All were written; list them for the rest.`;
  return fitRecords({ count, told, budgetTokens }, (most, limit, note) => ({
    count,
    ...options.more,
    ids: ids.slice(0, most),
    ...(shown && {
      columns,
      rows: records.slice(0, most).map((record) => columns.map((name) => clipValue(record[name], limit, true))),
    }),
    ...note,
  }));
}

function previewText(
  { count }: WriteAnswer,
  changes: NonNullable<WriteAnswer['changes']>,
  { budgetTokens, more }: WriteResultOptions,
): string {
  const told = `Told: %n of ${count}. Nothing was written.`;
  return fitRecords({ count, told, budgetTokens }, (most, limit, note) => ({
    dryRun: true,
    count,
    ...more,
    changes: changes.slice(0, most).map(({ id, fields }) => ({
      id,
      fields: Object.fromEntries(
        Object.entries(fields).map(([name, { before, after }]) => [
          name,
          { before: clipValue(before, limit, true), after: clipValue(after, limit, true) },
        ]),
      ),
    })),
    ...note,
  }));
}

interface Fitting {
  readonly count: number;
  /** What is said when not all are told; `%n` is how many are. */
  readonly told: string;
  readonly budgetTokens: number;
}

/** Long values are clipped shorter only where not even one record would fit otherwise. */
const limits = [CELL_CHARACTERS, 400, 80, 10];

function fitRecords(
  { count, told, budgetTokens }: Fitting,
  render: (most: number, limit: number, note: { readonly note?: string }) => unknown,
): string {
  const textOf = (most: number, limit: number) =>
    printJson(render(most, limit, most < count ? { note: told.replace('%n', `${most}`) } : {}));
  for (const limit of limits) {
    let [fits, most] = [0, count];
    let text = '';
    // How many records fit is found by halving.
    for (let next = most; fits < most; next = Math.ceil((fits + most) / 2)) {
      const tried = textOf(next, limit);
      if (fitsTokens(tried, budgetTokens)) [fits, text] = [next, tried];
      else most = next - 1;
    }
    if (fits > 0) return text;
  }
  return textOf(0, limits.at(-1)!);
}
