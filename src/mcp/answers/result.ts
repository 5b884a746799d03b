// What a tool call answers: one text block of compact JSON, since hosts drop or double anything more. Lists are bounded
// in tokens, cut on a row, and say how to go on. Errors are tool results, so that a model can correct itself.
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ListAnswer } from '../../agent/engine.ts';
import { printJson } from '../../agent/sources/json-text.ts';
import type { AppError } from '../../core/errors.ts';
import { isAppError } from '../../core/errors.ts';
import { nearNames } from '../../core/near.ts';
import type { Answered } from '../call.ts';
import { structureOf } from './output-schemas.ts';
import { estimateTokens, fitsTokens } from './tokens.ts';

export const ERROR_TOKENS = 80;
/** A longer text in a list is clipped; a record listed alone shows as much of it as the budget holds. */
export const CELL_CHARACTERS = 2000;

export type ListFormat = 'table' | 'records';

/** `structured`: the same data once more as a value, for a client that was told its schema. */
export function toResult(called: Answered, structured = false): CallToolResult {
  if ('text' in called) {
    const structuredContent = structured ? structureOf(called.text) : undefined;
    return { content: [{ type: 'text', text: called.text }], ...(structuredContent && { structuredContent }) };
  }
  return { content: [{ type: 'text', text: errorText(called.failure) }], isError: true };
}

/** The code, then the message: at most 80 tokens. */
export function errorText(error: AppError): string {
  if (isAppError(error, 'INVALID_FORM')) return formText(error);
  const text = `${error.code}: ${error.message}`;
  if (fitsTokens(text, ERROR_TOKENS)) return text;
  if (isAppError(error, 'OPERATOR_NOT_ALLOWED')) return operatorText(error);
  return clip(text);
}

/** As many fields as there is room for, by the names that are sent. */
function formText(error: AppError<'INVALID_FORM'>): string {
  const lines = error.details.fields.map(({ field, problem }) => `${field}: ${problem}.`);
  const say = (count: number) => {
    const more = `${lines.length - count} more: getActionForm with these values tells all.`;
    return [`${error.code}: Nothing was done.`, ...lines.slice(0, count), ...(count < lines.length ? [more] : [])].join(
      ' ',
    );
  };
  let count = lines.length;
  while (count > 1 && !fitsTokens(say(count), ERROR_TOKENS)) count--;
  return clip(say(count));
}

/** As many of the allowed operators as there is room for, the near ones first. */
function operatorText(error: AppError<'OPERATOR_NOT_ALLOWED'>): string {
  const { collection, field, operator, allowed } = error.details;
  const names = [...new Set([...nearNames(operator, allowed), ...allowed])];
  const say = (count: number) =>
    `${error.code}: '${operator}' cannot be used on '${field}' of '${collection}'. Allowed: ${names.slice(0, count).join(', ')}, ...; detail 'full' of describeCollection lists all.`;
  let count = 12;
  while (count > 1 && !fitsTokens(say(count), ERROR_TOKENS)) count--;
  return clip(say(count));
}

/** Keeps the start, which names the argument, and the end, which holds the next step. */
function clip(text: string): string {
  let kept = text;
  for (let size = text.length - 10; !fitsTokens(kept, ERROR_TOKENS) && size > 20; size -= 10) {
    const head = Math.ceil(size * 0.6);
    kept = `${text.slice(0, head)} ... ${text.slice(text.length - (size - head))}`;
  }
  return kept;
}

export interface ListResultOptions {
  readonly format: ListFormat;
  /** Absent when it was not asked for. */
  readonly totalCount?: number | undefined;
  readonly budgetTokens: number;
}

/** `{columns, rows, hasMore, nextCursor?, totalCount?, note?}`, or `{records, ...}`. */
export function listText(answer: ListAnswer, options: ListResultOptions): string {
  const { format, budgetTokens } = options;
  const items: readonly unknown[] = format === 'records' ? answer.records() : answer.rows;
  const shown = clipCells(items, CELL_CHARACTERS, items.length === 1 ? budgetTokens : 0);
  const whole = render(answer, options, shown, answer.hasMore, undefined);
  if (fitsTokens(whole, budgetTokens)) return whole;
  const count = countThatFits(answer, options, shown);
  if (count === 0) return shrinkFirst(answer, options, items);
  const note = `Cut at ${count} of ${items.length} records: an answer holds about ${budgetTokens} tokens. Go on with nextCursor, or name fewer fields.`;
  return render(answer, options, shown.slice(0, count), true, note);
}

function countThatFits(answer: ListAnswer, options: ListResultOptions, items: readonly unknown[]): number {
  const envelope = render(answer, options, [], true, 'x'.repeat(120));
  let left = options.budgetTokens - estimateTokens(envelope) - 100;
  let count = 0;
  for (const item of items) {
    left -= estimateTokens(printJson(item)) + 1;
    if (left < 0) break;
    count++;
  }
  return count;
}

/** One record alone is larger than the budget: its cells are clipped shorter until it fits. */
function shrinkFirst(answer: ListAnswer, options: ListResultOptions, items: readonly unknown[]): string {
  const more = items.length > 1 || answer.hasMore;
  const note = 'One record fills the answer, so its long values are cut. Name fewer fields.';
  let text = '';
  for (let limit = CELL_CHARACTERS * 8; limit >= 8; limit = Math.floor(limit / 2)) {
    text = render(answer, options, clipCells(items.slice(0, 1), limit, 0), more, note);
    if (fitsTokens(text, options.budgetTokens)) return text;
  }
  return text;
}

function render(
  answer: ListAnswer,
  options: ListResultOptions,
  items: readonly unknown[],
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
    ? printJson({ records: items, ...rest })
    : printJson({ columns: answer.columns, rows: items, ...rest });
}

/** The items with long cells clipped; the very same array when there are none. With `freeTokens`, what fits it is left. */
function clipCells(items: readonly unknown[], limit: number, freeTokens: number): readonly unknown[] {
  if (freeTokens > 0 && fitsTokens(printJson(items), freeTokens)) return items;
  let changed = false;
  const clipped = items.map((item) => {
    const next = clipValues(item as object, limit);
    if (next !== item) changed = true;
    return next;
  });
  return changed ? clipped : items;
}

/** A row, or a record whose relations are nested; the very same one when nothing in it is long. */
function clipValues(item: object, limit: number): object {
  return Array.isArray(item) ? clipRow(item, limit) : clipRecord(item as Record<string, unknown>, limit);
}

function clipRow(row: readonly unknown[], limit: number): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let i = 0; i < row.length; i++) {
    const next = clipValue(row[i], limit, true);
    if (next === row[i]) continue;
    copy ??= [...row];
    copy[i] = next;
  }
  return copy ?? row;
}

function clipRecord(record: Record<string, unknown>, limit: number): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(record)) {
    const next = clipValue(record[name], limit, false);
    if (next === record[name]) continue;
    copy ??= { ...record };
    copy[name] = next;
  }
  return copy ?? record;
}

/** A longer text, or JSON value, is cut and says so; in a `positional` place an object is a JSON value and no relation. */
export function clipValue(value: unknown, limit: number, positional: boolean): unknown {
  if (typeof value === 'string') return value.length > limit ? clipText(value, limit) : value;
  if (typeof value !== 'object' || value === null) return value;
  const text = printJson(value);
  if (text.length <= limit) return value;
  // In a record an object may be a relation: its values are clipped where they lie. A large JSON value becomes text.
  if (!positional && !Array.isArray(value)) {
    const inner = clipValues(value, limit);
    if (printJson(inner).length <= limit * 20) return inner;
  }
  return clipText(text, limit);
}

function clipText(text: string, limit: number): string {
  const cut = text.charCodeAt(limit - 1) >= 0xd800 && text.charCodeAt(limit - 1) <= 0xdbff ? limit - 1 : limit;
  return `${text.slice(0, cut)}…[${cut} of ${text.length} characters; for more, list this record alone with only this field]`;
}
