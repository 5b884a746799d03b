// Tool results: one text block of compact JSON, because hosts drop or duplicate additional content. Errors are also
// tool results, which lets a model correct its call.
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { AppError } from '../../core/errors.ts';
import { isAppError } from '../../core/errors.ts';
import type { Operator } from '../../core/filter.ts';
import { nearNames } from '../../core/suggestions.ts';
import type { Answered } from '../tool-call.ts';
import { withoutTools } from './absent-tools.ts';
import { structureOf } from './output-schemas.ts';
import { fitsTokens } from './tokens.ts';
import { keptNote } from './write-result.ts';

export const ERROR_TOKENS = 80;
/** `structured` adds the same data as structured content, for tools with an output schema. */
export function toResult(called: Answered, structured = false): CallToolResult {
  if ('text' in called) {
    const structuredContent = structured ? structureOf(called.text) : undefined;
    return { content: [{ type: 'text', text: called.text }], ...(structuredContent && { structuredContent }) };
  }
  return { content: [{ type: 'text', text: failureText(called) }], isError: true };
}

/** The error, and the records that were written before it. */
export function failureText({ failure, absent, kept }: Extract<Answered, { readonly failure: AppError }>): string {
  const text = errorText(failure, absent);
  return kept === '' ? text : `${text} ${keptNote(kept)}`;
}

/** The code, then the message: at most 80 tokens, without advice to call absent tools. */
export function errorText(error: AppError, absent: ReadonlySet<string> = new Set()): string {
  if (isAppError(error, 'INVALID_FORM')) return withoutTools(formText(error), absent);
  const text = withoutTools(`${error.code}: ${error.message}`, absent);
  // A message with a call as JSON stays whole, because a cut call is useless.
  if (/\{"/.test(text) || fitsTokens(text, ERROR_TOKENS)) return text;
  if (isAppError(error, 'OPERATOR_NOT_ALLOWED')) return withoutTools(operatorText(error), absent);
  if (isAppError(error, 'INVALID_RECORD')) return recordText(error);
  return clip(text);
}

/** As many fields as fit, by their argument names. */
function formText(error: AppError<'INVALID_FORM'>): string {
  const lines = error.details.fields.map(({ field, problem }) => `${field}: ${problem}.`);
  const say = (count: number) => {
    const more = `${lines.length - count} more; getActionForm with these values shows all.`;
    return [`${error.code}: Nothing was done.`, ...lines.slice(0, count), ...(count < lines.length ? [more] : [])].join(
      ' ',
    );
  };
  let count = lines.length;
  while (count > 1 && !fitsTokens(say(count), ERROR_TOKENS)) count--;
  return clip(say(count));
}

/** The token limit of a message with field names, above the usual one. */
const NAMES_TOKENS = 400;

/**
 * As many problems as fit, then the names of the other fields. Names are never cut. They are omitted only if there are
 * far too many for one call.
 */
function recordText(error: AppError<'INVALID_RECORD'>): string {
  const { collection, problems } = error.details;
  const say = (count: number, names: number) => {
    const whole = problems.slice(0, count).map(({ field, problem }) => clip(`${field}: ${problem}`));
    const others = problems.slice(count).map(({ field }) => field);
    const more = others.length > names ? ', ...' : '';
    const rest = others.length > 0 ? [`Also wrong or missing: ${others.slice(0, names).join(', ')}${more}.`] : [];
    return [`${error.code}: Nothing was written to '${collection}'.`, ...whole, ...rest].join(' ');
  };
  let count = problems.length;
  while (count > 1 && !fitsTokens(say(count, problems.length), ERROR_TOKENS)) count--;
  let names = problems.length - count;
  // The records of one call mostly have the same problems as the first.
  const own = problems.map(({ field }) => field.replace(/^attributes\[\d+\]\./, ''));
  const distinct = own.findLastIndex((field, at) => own.indexOf(field) === at) + 1;
  const limit = () => (count + names > distinct ? ERROR_TOKENS : NAMES_TOKENS);
  while (names > 1 && !fitsTokens(say(count, names), limit())) names--;
  return say(count, names);
}

// The most common operators, for a message without space for all.
const common: readonly Operator[] = [
  ...(['Equal', 'NotEqual', 'In', 'GreaterThan', 'LessThan', 'GreaterThanOrEqual', 'LessThanOrEqual'] as const),
  ...(['Contains', 'Before', 'After', 'IncludesAll', 'IncludesNone', 'Missing', 'Present'] as const),
];

/** As many allowed operators as fit, the most common first. */
function operatorText(error: AppError<'OPERATOR_NOT_ALLOWED'>): string {
  const { collection, field, operator, allowed } = error.details;
  const known = common.filter((each) => allowed.includes(each));
  const names = [...new Set([...nearNames(operator, allowed, 2), ...known, ...allowed])];
  const say = (count: number) =>
    `${error.code}: '${operator}' cannot be used on '${field}' of '${collection}'. Allowed: ${names.slice(0, count).join(', ')}, ...; detail 'full' of describeCollection lists all.`;
  let count = 12;
  while (count > 1 && !fitsTokens(say(count), ERROR_TOKENS)) count--;
  return clip(say(count));
}

const QUOTED_CHARACTERS = 40;

/**
 * Shortens the caller's own values and the longest list, which begins with its best names. It then shows the start of
 * the text, which names the argument, and the end, which contains the next step. Both consist of whole words.
 */
function clip(text: string): string {
  const short = text.replace(/(?<!\w)(['"])((?:(?!\1)[^\n]){41,}?)\1(?!\w)/g, (_, quote: string, inner: string) => {
    return `${quote}${inner.slice(0, QUOTED_CHARACTERS - 10).trimEnd()}...${quote}`;
  });
  const listed = shortenList(short);
  if (fitsTokens(listed, ERROR_TOKENS)) return listed;
  const words = short.split(' ');
  let kept = short;
  for (let size = words.length - 1; !fitsTokens(kept, ERROR_TOKENS) && size > 3; size--) {
    const head = Math.ceil(size * 0.6);
    kept = [...words.slice(0, head), '...', ...words.slice(words.length - (size - head))].join(' ');
  }
  return kept;
}

/** Removes names from the end of the longest list, as many as necessary. */
function shortenList(text: string): string {
  const lists = text.match(/[\w:|-]+(?:, [\w:|-]+)+(?:, \.\.\.)?/g) ?? [];
  const [longest] = lists.sort((a, b) => b.length - a.length);
  if (longest === undefined) return text;
  const names = longest.replace(/, \.\.\.$/, '').split(', ');
  let kept = text;
  for (let count = names.length - 1; count > 0 && !fitsTokens(kept, ERROR_TOKENS); count--)
    kept = text.replace(longest, () => [...names.slice(0, count), '...'].join(', ')).replace(', ....', ', ...');
  return kept;
}
