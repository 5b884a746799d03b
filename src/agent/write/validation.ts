// Validation of records before a write, beyond the types of values: required fields, and the rules that code adds.
// Rules are evaluated with the semantics of agent/sources/evaluate.ts. Only Present checks a null.
import { type FieldProblem, fail, isAppError } from '../../core/errors.ts';
import type { Operator } from '../../core/filter.ts';
import { placeSaid } from '../lower/filter.ts';
import type { Collection, Column, FieldRule, Model, Moment } from '../model/types.ts';
import type { Filter, Path } from '../plan/types.ts';
import { pathTo } from '../resolve/paths.ts';
import { checkValue } from '../resolve/values.ts';
import { holds } from '../sources/evaluate.ts';
import { type Draft, type Writer, wanted } from './drafts.ts';

/** The canonical values of rules. */
export type RuleBook = ReadonlyMap<FieldRule, unknown>;

/** Longer texts are not matched against patterns. */
const MATCHED_LIMIT = 100_000;

/** Throws CONFIGURATION, with the line in the user's code, for an invalid value of a rule. */
export function compileRules({ inside }: Model, moment: Moment): RuleBook {
  const book = new Map<FieldRule, unknown>();
  for (const collection of inside.values())
    for (const [name, field] of collection.inside)
      for (const rule of field.kind === 'column' ? (field.rules ?? []) : [])
        book.set(rule, compileRule(name, field as Column, rule, moment));
  return book;
}

function compileRule(
  name: string,
  column: Column,
  { operator, value, answer, at }: FieldRule,
  moment: Moment,
): unknown {
  const refuse = (problem: string, cause: unknown): never =>
    fail('CONFIGURATION', { problem: `The rule '${operator}' of '${name}': ${problem} (${at})` }, cause);
  try {
    if ((value === null || value === undefined) && answer.takes !== 'nothing')
      return refuse('it needs a value.', undefined);
    const checked = checkValue(answer.takes, value, { column, at: 'its value', moment, days: true });
    return answer.takes === 'values' ? (checked as unknown[]).filter((item) => item !== null) : checked;
  } catch (error) {
    if (isAppError(error, 'CONFIGURATION')) throw error;
    return refuse((error as Error).message, error);
  }
}

const CLOSED_MISSING = 'a field that must be given is closed to you. An administrator can open it.';
const CLOSED_RULE = 'what would stand in a field that is closed to you breaks a rule.';

/**
 * Returns all problems of the draft; problems of the `known` fields are already reported. Missing fields of nested
 * records are not reported, since these records may exist. Throws FORBIDDEN if the field is closed to the caller.
 */
export function checkDraft(
  writer: Writer,
  book: RuleBook,
  draft: Draft,
  isNew: boolean,
  known: ReadonlySet<string> = new Set(),
  prefix = '',
): FieldProblem[] {
  const { view, moment, verb } = writer;
  const { collection } = view;
  const problems: FieldProblem[] = [];
  const tell = (column: Column, problem: string, closed: string) => {
    const label = writer.label(column);
    if (label === undefined) fail('FORBIDDEN', { verb, collection: collection.name, why: closed });
    const field = `${prefix}${label}`;
    if (!known.has(field)) problems.push({ field, problem });
  };
  for (const field of collection.inside.values()) {
    if (field.kind !== 'column' || field.route) continue;
    const value = draft.values.get(field);
    if (value === undefined) {
      if (!isNew || isPointer(draft, field)) continue;
      // A trigger may set the field; if it does not, the database reports the error.
      const isRequired = field.required && !collection.triggers.includes('insert');
      const isMissing = isRequired || field.rules?.some(({ operator }) => operator === 'Present');
      const isClosed = isRequired && writer.refuses(field) !== undefined;
      if (isClosed) fail('FORBIDDEN', { verb, collection: collection.name, why: CLOSED_MISSING });
      if (isMissing) tell(field, `must be given: ${wanted(field)}.`, CLOSED_MISSING);
    } else if (value === null && !field.nullable) tell(field, `may not be null: ${wanted(field)}.`, CLOSED_RULE);
    else
      for (const rule of brokenRules(book, collection, field, value, moment))
        tell(field, describeRule(rule, value), CLOSED_RULE);
  }
  for (const [relation, inner] of draft.related) {
    const inside = `${prefix}${writer.label(relation) ?? relation.name}:`;
    problems.push(...checkDraft(writer.at(relation.to), book, inner, false, known, inside));
  }
  return problems;
}

/** The key of a nested record sets the column. */
function isPointer({ related }: Draft, column: Column): boolean {
  return [...related.keys()].some(({ inverse, on }) => !inverse && on.some(({ from }) => from === column));
}

export function brokenRules(
  book: RuleBook,
  collection: Collection,
  column: Column,
  value: unknown,
  moment: Moment,
): readonly FieldRule[] {
  return (column.rules ?? []).filter((rule) =>
    value === null
      ? rule.operator === 'Present'
      : !isKept(book.get(rule), rule, pathTo(collection, [], column), value, moment),
  );
}

function isKept(wanted: unknown, { operator, answer }: FieldRule, path: Path, value: unknown, moment: Moment): boolean {
  if (answer.takes === 'expression' && (value as string).length > MATCHED_LIMIT) return false;
  const { by } = answer;
  const filter: Filter =
    typeof by === 'object' && 'say' in by
      ? placeSaid(by.say(wanted, moment), path)
      : { op: 'test', path, is: operator, value: wanted };
  return holds(filter, () => value);
}

const sayings: { readonly [O in Operator]?: (value: unknown) => string } = {
  Present: () => 'send a value that is not empty',
  LongerThan: (value) => `send more than ${value} characters`,
  ShorterThan: (value) => `send less than ${value} characters`,
  GreaterThan: (value) => `send more than ${value}`,
  LessThan: (value) => `send less than ${value}`,
  GreaterThanOrEqual: (value) => `send ${value} or more`,
  LessThanOrEqual: (value) => `send ${value} or less`,
  Before: (value) => `send one before ${value}`,
  After: (value) => `send one after ${value}`,
  Contains: (value) => `send a text with ${JSON.stringify(value)} in it`,
  StartsWith: (value) => `send a text that starts with ${JSON.stringify(value)}`,
  EndsWith: (value) => `send a text that ends with ${JSON.stringify(value)}`,
  Like: (value) => `send a text like ${JSON.stringify(value)}, where % stands for any text and _ for one character`,
  Match: (value) => `send a text that fits ${String(value)}`,
  In: (value) => `send one of ${(value as unknown[]).slice(0, 10).join(', ')}`,
  NotIn: (value) => `send none of ${(value as unknown[]).slice(0, 10).join(', ')}`,
};

export function describeRule({ operator, value, answer }: FieldRule, got: unknown): string {
  const given = answer.takes === 'nothing' ? '' : `(${value instanceof RegExp ? value : JSON.stringify(value)})`;
  const saying = sayings[operator]?.(value) ?? 'send another value';
  const length = typeof got === 'string' && answer.takes === 'length' ? `, not ${[...got].length}` : '';
  return `breaks the rule ${operator}${given}: ${saying}${length}.`;
}
