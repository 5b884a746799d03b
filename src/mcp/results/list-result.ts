// Answers with lists of records or groups: limited in tokens, cut between rows, with a cursor to continue.

import { stringifyJson } from '../../agent/sources/lossless-json.ts';
import { CutText } from '../../agent/sources/values/cut-text.ts';
import { fail } from '../../core/errors.ts';
import { createTurns } from '../../core/limit/turns.ts';
import { type CellStarts, cutRecord, cutRow, MAX_CELL_CHARACTERS } from './cells.ts';
import { estimateTokens, fitsTokens } from './tokens.ts';

export type ListFormat = 'table' | 'records';

/** The engine's result of a list or an aggregate. */
interface ListedRows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly hasMore: boolean;
  cursorAfter(index: number): string | undefined;
  /** Records with nested relations. Absent: flat objects are built from the rows. */
  records?(): readonly Readonly<Record<string, unknown>>[];
  /** Columns with `data:` URIs of files. Default: no columns. */
  readonly files?: readonly string[];
  /** A note that also goes with a complete answer. */
  readonly note?: string;
  /** Reads the first record again, with more of its texts. Required if rows have a CutText. */
  readonly readFirst?: (() => Promise<ListedRows>) | undefined;
}

interface ListResultOptions {
  readonly format: ListFormat;
  /** Absent if the caller did not request it, null if there was no time to count. */
  readonly totalCount?: number | null | undefined;
  readonly budgetTokens: number;
  /** The first character to show of cells, by column. Default: 0. */
  readonly cells?: CellStarts | undefined;
  /** The unit of the rows in notes. Default: records. */
  readonly unit?: 'records' | 'groups' | 'combinations';
  /** A sentence how to make the answer smaller. */
  readonly advice?: string;
}

/** `{columns, rows, hasMore, nextCursor?, totalCount?, note?}`, or `{records, ...}`. */
export async function listText(answer: ListedRows, options: ListResultOptions): Promise<string> {
  const { budgetTokens, unit = 'records', advice = 'Name fewer fields to see more at once.' } = options;
  const items = toItems(answer, options);
  const baseNote = [fileNote(answer, options), answer.note].filter(Boolean).join(' ') || undefined;
  if (items.length === 1) return formatSingle(await withFirst(answer, options), options, baseNote);
  // Cutting and printing large cells is slow, so it stops when the answer is full.
  const cut = createCutter(answer, options);
  const shown = await cutUntilFull(items, options, cut);
  if (shown.length === items.length) {
    const whole = render(answer, options, shown, answer.hasMore, baseNote);
    if (fitsTokens(whole, budgetTokens)) return whole;
  }
  const count = Math.max(1, countThatFits(answer, options, shown));
  const next =
    answer.cursorAfter(count - 1) === undefined
      ? `This list has no cursor: request pages of at most ${count} (pagination.size).`
      : 'Continue with nextCursor.';
  const note = `Cut at ${count} of ${items.length} ${unit}: an answer is limited to about ${budgetTokens} tokens. ${next} ${advice}`;
  if (count === 1) return formatSingle(await withFirst({ ...answer, hasMore: true }, options), options, note);
  return render(answer, options, shown.slice(0, count), true, note);
}

type Item = readonly unknown[] | Readonly<Record<string, unknown>>;

function toItems(answer: ListedRows, { format }: ListResultOptions): readonly Item[] {
  if (format === 'table') return answer.rows;
  const { columns, rows } = answer;
  return (
    answer.records?.() ?? rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]])))
  );
}

type Cut = (item: Item, limit: number) => Item;

function createCutter({ columns, files = [] }: ListedRows, { cells = {} }: ListResultOptions): Cut {
  const options = { starts: cells, files: new Set(files), printed: new Map<object, string>() };
  return (item, limit) =>
    Array.isArray(item)
      ? cutRow(item, columns, { ...options, limit })
      : cutRecord(item as Record<string, unknown>, { ...options, limit });
}

/** No token of any text has more characters. The rest is a margin for names. */
const TOKEN_CHARACTERS = 16;

/** Cuts items from the first on, until further ones cannot fit the answer. */
async function cutUntilFull(
  items: readonly Item[],
  { budgetTokens }: ListResultOptions,
  cut: Cut,
): Promise<readonly Item[]> {
  const nextTurn = createTurns();
  let remaining = budgetTokens * TOKEN_CHARACTERS;
  const shown: Item[] = [];
  for (const item of items) {
    const next = cut(item, MAX_CELL_CHARACTERS);
    shown.push(next);
    remaining -= stringifyJson(next).length;
    if (remaining < 0) break;
    const pause = nextTurn();
    if (pause) await pause;
  }
  return shown;
}

function countThatFits(answer: ListedRows, options: ListResultOptions, items: readonly Item[]): number {
  const envelope = render(answer, options, [], true, 'x'.repeat(120));
  let remaining = options.budgetTokens - estimateTokens(envelope) - 100;
  let count = 0;
  for (const item of items) {
    remaining -= estimateTokens(stringifyJson(item)) + 1;
    if (remaining < 0) break;
    count++;
  }
  return count;
}

/** The answer, or an answer with more of its first record if the texts were cut for a list of several records. */
async function withFirst(answer: ListedRows, { budgetTokens }: ListResultOptions): Promise<ListedRows> {
  const shown = maxSingleCharacters(budgetTokens);
  const isShort = answer.rows[0]?.some((value) => value instanceof CutText && value.start.length < shown);
  return (isShort && (await answer.readFirst?.())) || answer;
}

/** The maximum characters of a cell in a list of one record. A token rarely has more than eight characters. */
export const maxSingleCharacters = (budgetTokens: number): number => budgetTokens * 8;

/** One record, with as much of its long cells as the budget allows. */
function formatSingle(answer: ListedRows, options: ListResultOptions, note: string | undefined): string {
  const [first] = toItems(answer, options);
  const cut = createCutter(answer, options);
  const text = (limit: number): string =>
    render(answer, options, first === undefined ? [] : [cut(first, limit)], answer.hasMore, note);
  const fits = (limit: number): boolean => fitsTokens(text(limit), options.budgetTokens);
  let [low, high] = [8, maxSingleCharacters(options.budgetTokens)];
  if (fits(high)) return text(high);
  if (!fits(low))
    fail('INVALID_ARGUMENT', {
      argument: 'fields',
      problem: `one record with ${answer.columns.length} columns exceeds the size of an answer (about ${options.budgetTokens} tokens). Name fewer fields.`,
    });
  while (high - low > 16) {
    const middle = (low + high) >> 1;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return text(low);
}

function fileNote({ files = [] }: ListedRows, { cells = {} }: ListResultOptions): string | undefined {
  const described = files.filter((file) => !Object.hasOwn(cells, file));
  if (described.length === 0) return undefined;
  return `${described.join(', ')}: shown as type and size. The content is the resource portico://files/{collection}/{id}/{field}.`;
}

function render(
  answer: ListedRows,
  options: ListResultOptions,
  items: readonly Item[],
  hasMore: boolean,
  note: string | undefined,
): string {
  const cursor = hasMore && items.length > 0 ? answer.cursorAfter(items.length - 1) : undefined;
  const rest = {
    hasMore,
    ...(cursor === undefined ? {} : { nextCursor: cursor }),
    ...(options.totalCount === undefined ? {} : { totalCount: options.totalCount }),
    ...(note === undefined ? {} : { note }),
  };
  return options.format === 'records'
    ? stringifyJson({ records: items, ...rest })
    : stringifyJson({ columns: answer.columns, rows: items, ...rest });
}
