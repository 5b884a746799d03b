// Compares an answer with its expectation and returns one line per difference.
import type { Expectation, Value } from './definitions.ts';
import { at, fill, type ReferenceContext } from './values.ts';

export interface Answer {
  /** The text block of the answer, or the HTTP error. */
  readonly text: string;
  readonly isError: boolean;
}

/** Returns undefined if the answer is not JSON. */
export function parseAnswer({ text, isError }: Answer): unknown {
  if (isError) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function judge(answer: Answer, expectation: Expectation = {}, context: ReferenceContext): string[] {
  const { error, equals = {}, rows, count, contains = [], lacks = [], database = [] } = expectation;
  const parsed = parseAnswer(answer);
  const problems: string[] = [];
  const expectSame = (what: string, got: unknown, value: Value) => {
    const expected = fill(value, context);
    if (!isSame(got, expected)) problems.push(`${what}: expected ${show(expected)}, got ${show(got)}`);
  };
  if (error === undefined && answer.isError) problems.push(`an error: ${answer.text}`);
  if (error !== undefined && !(answer.isError && answer.text.startsWith(`${error}:`)))
    problems.push(`expected the error ${error}, got ${show(answer.text)}`);
  for (const [path, value] of Object.entries(equals)) expectSame(path, at(parsed, path.split('.')), value);
  if (rows !== undefined) expectSame('rows', at(parsed, ['rows']), rows);
  if (count !== undefined) expectSame('number of rows', (at(parsed, ['rows']) as unknown[] | undefined)?.length, count);
  for (const text of contains.map((value) => String(fill(value, context))))
    if (!answer.text.includes(text)) problems.push(`'${text}' is missing in ${show(answer.text)}`);
  for (const text of lacks.map((value) => String(fill(value, context))))
    if (answer.text.includes(text)) problems.push(`'${text}' must not be in ${show(answer.text)}`);
  for (const { is, was } of database) expectSame('the database', fill(is, context), was);
  return problems;
}

/** Sums of different databases differ in their last digits. Whole numbers may be ids, and do not. */
const CLOSE = 1e-9;

function isSame(one: unknown, other: unknown): boolean {
  if (Number.isInteger(one) && Number.isInteger(other)) return one === other;
  if (typeof one === 'number' && typeof other === 'number')
    return Math.abs(one - other) <= CLOSE * Math.max(1, Math.abs(one), Math.abs(other));
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]));
  if (isObject(one) && isObject(other)) {
    const names = Object.keys(one);
    return names.length === Object.keys(other).length && names.every((name) => isSame(one[name], other[name]));
  }
  return one === other;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function show(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return text.length > 400 ? `${text.slice(0, 400)}...` : text;
}
