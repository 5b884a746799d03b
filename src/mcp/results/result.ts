// Tool results: one text block of compact JSON, because hosts drop or duplicate additional content. Errors are also
// tool results, which lets a model correct its call.
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { AppError } from '../../core/errors.ts';
import { isAppError } from '../../core/errors.ts';
import type { Operator } from '../../core/filter.ts';
import { suggestNames } from '../../core/suggestions.ts';
import type { CallAnswer } from '../tool-call.ts';
import { withoutTools } from './absent-tools.ts';
import { parseStructured } from './output-schemas.ts';
import { fitsTokens } from './tokens.ts';
import { committedNote } from './write-result.ts';

export const MAX_ERROR_TOKENS = 80;
/** `structured` adds the same data as structured content, for tools with an output schema. */
export function toResult(answer: CallAnswer, structured = false): CallToolResult {
  if ('text' in answer) {
    const structuredContent = structured ? parseStructured(answer.text) : undefined;
    return { content: [{ type: 'text', text: answer.text }], ...(structuredContent && { structuredContent }) };
  }
  return { content: [{ type: 'text', text: failureText(answer) }], isError: true };
}

/** The error, and the records that were written before it. */
export function failureText({
  failure,
  hiddenTools,
  committedText,
}: Extract<CallAnswer, { readonly failure: AppError }>): string {
  const text = errorText(failure, hiddenTools);
  return committedText === '' ? text : `${text} ${committedNote(committedText)}`;
}

/** The code, then the message: at most 80 tokens, without advice to call absent tools. */
export function errorText(error: AppError, hiddenTools: ReadonlySet<string> = new Set()): string {
  if (isAppError(error, 'INVALID_FORM')) return withoutTools(formatFormError(error), hiddenTools);
  const text = withoutTools(`${error.code}: ${error.message}`, hiddenTools);
  // A message with a call as JSON stays whole, because a cut call is useless.
  if (/\{"/.test(text) || fitsTokens(text, MAX_ERROR_TOKENS)) return text;
  if (isAppError(error, 'OPERATOR_NOT_ALLOWED')) return withoutTools(formatOperatorError(error), hiddenTools);
  if (isAppError(error, 'INVALID_RECORD')) return formatRecordError(error);
  return clipText(text);
}

/** As many fields as fit, by their argument names. */
function formatFormError(error: AppError<'INVALID_FORM'>): string {
  const lines = error.details.fields.map(({ field, problem }) => `${field}: ${problem}.`);
  const format = (count: number) => {
    const more = `${lines.length - count} more; getActionForm with these values shows all.`;
    return [`${error.code}: Nothing was done.`, ...lines.slice(0, count), ...(count < lines.length ? [more] : [])].join(
      ' ',
    );
  };
  let count = lines.length;
  while (count > 1 && !fitsTokens(format(count), MAX_ERROR_TOKENS)) count--;
  return clipText(format(count));
}

/** The token limit of a message with field names, above the usual one. */
const MAX_NAMES_TOKENS = 400;

/**
 * As many problems as fit, then the names of the other fields. Names are never cut. They are omitted only if there are
 * far too many for one call.
 */
function formatRecordError(error: AppError<'INVALID_RECORD'>): string {
  const { collection, problems } = error.details;
  const format = (count: number, names: number) => {
    const complete = problems.slice(0, count).map(({ field, problem }) => clipText(`${field}: ${problem}`));
    const others = problems.slice(count).map(({ field }) => field);
    const more = others.length > names ? ', ...' : '';
    const rest = others.length > 0 ? [`Also wrong or missing: ${others.slice(0, names).join(', ')}${more}.`] : [];
    return [`${error.code}: Nothing was written to '${collection}'.`, ...complete, ...rest].join(' ');
  };
  let count = problems.length;
  while (count > 1 && !fitsTokens(format(count, problems.length), MAX_ERROR_TOKENS)) count--;
  let names = problems.length - count;
  // The records of one call mostly have the same problems as the first.
  const fieldNames = problems.map(({ field }) => field.replace(/^attributes\[\d+\]\./, ''));
  const distinct = fieldNames.findLastIndex((field, at) => fieldNames.indexOf(field) === at) + 1;
  const limit = () => (count + names > distinct ? MAX_ERROR_TOKENS : MAX_NAMES_TOKENS);
  while (names > 1 && !fitsTokens(format(count, names), limit())) names--;
  return format(count, names);
}

// The most common operators, for a message without space for all.
const commonOperators: readonly Operator[] = [
  ...(['Equal', 'NotEqual', 'In', 'GreaterThan', 'LessThan', 'GreaterThanOrEqual', 'LessThanOrEqual'] as const),
  ...(['Contains', 'Before', 'After', 'IncludesAll', 'IncludesNone', 'Missing', 'Present'] as const),
];

/** As many allowed operators as fit, the most common first. */
function formatOperatorError(error: AppError<'OPERATOR_NOT_ALLOWED'>): string {
  const { collection, field, operator, allowed } = error.details;
  const allowedCommon = commonOperators.filter((each) => allowed.includes(each));
  const names = [...new Set([...suggestNames(operator, allowed, 2), ...allowedCommon, ...allowed])];
  const format = (count: number) =>
    `${error.code}: '${operator}' cannot be used on '${field}' of '${collection}'. Allowed: ${names.slice(0, count).join(', ')}, ...; detail 'full' of describeCollection lists all.`;
  let count = 12;
  while (count > 1 && !fitsTokens(format(count), MAX_ERROR_TOKENS)) count--;
  return clipText(format(count));
}

const MAX_QUOTED_CHARACTERS = 40;

/**
 * Shortens the caller's own values and the longest list, which begins with its best names. It then shows the start of
 * the text, which names the argument, and the end, which contains the next step. Both consist of whole words.
 */
function clipText(text: string): string {
  const short = text.replace(/(?<!\w)(['"])((?:(?!\1)[^\n]){41,}?)\1(?!\w)/g, (_, quote: string, inner: string) => {
    return `${quote}${inner.slice(0, MAX_QUOTED_CHARACTERS - 10).trimEnd()}...${quote}`;
  });
  const listed = shortenList(short);
  if (fitsTokens(listed, MAX_ERROR_TOKENS)) return listed;
  const words = short.split(' ');
  let clipped = short;
  for (let size = words.length - 1; !fitsTokens(clipped, MAX_ERROR_TOKENS) && size > 3; size--) {
    const head = Math.ceil(size * 0.6);
    clipped = [...words.slice(0, head), '...', ...words.slice(words.length - (size - head))].join(' ');
  }
  return clipped;
}

/** Removes names from the end of the longest list, as many as necessary. */
function shortenList(text: string): string {
  const lists = text.match(/[\w:|-]+(?:, [\w:|-]+)+(?:, \.\.\.)?/g) ?? [];
  const [longest] = lists.sort((a, b) => b.length - a.length);
  if (longest === undefined) return text;
  const names = longest.replace(/, \.\.\.$/, '').split(', ');
  let shortened = text;
  for (let count = names.length - 1; count > 0 && !fitsTokens(shortened, MAX_ERROR_TOKENS); count--)
    shortened = text.replace(longest, () => [...names.slice(0, count), '...'].join(', ')).replace(', ....', ', ...');
  return shortened;
}
