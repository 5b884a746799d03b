// Validation of records before a write, beyond the types of values: required fields, and the rules that code adds.
// Rules are evaluated with the semantics of agent/sources/evaluate.ts. Only Present checks a null.
import { type FieldProblem, fail, isAppError } from '../../core/errors.ts';
import type { Operator } from '../../core/filter.ts';
import { applyToPath } from '../lower/filter.ts';
import type { Collection, Column, FieldRule, Model, Moment } from '../model/types.ts';
import type { Filter, Path } from '../plan/types.ts';
import { pathTo } from '../resolve/paths.ts';
import { checkValue } from '../resolve/values.ts';
import { evaluateFilter } from '../sources/evaluate.ts';
import { type Draft, describeExpected, type Writer } from './drafts.ts';

/** The canonical values of rules. */
export type CompiledRules = ReadonlyMap<FieldRule, unknown>;

/** Longer texts are not matched against patterns. */
const MAX_MATCHED_LENGTH = 100_000;

/** Throws CONFIGURATION, with the line in the user's code, for an invalid value of a rule. */
export function compileRules({ internalCollections: internalFields }: Model, moment: Moment): CompiledRules {
  const compiled = new Map<FieldRule, unknown>();
  for (const collection of internalFields.values())
    for (const [name, field] of collection.internalFields)
      for (const rule of field.kind === 'column' ? (field.rules ?? []) : [])
        compiled.set(rule, compileRule(name, field as Column, rule, moment));
  return compiled;
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
    const checked = checkValue(answer.takes, value, { column, label: 'its value', moment, acceptsDays: true });
    return answer.takes === 'values' ? (checked as unknown[]).filter((item) => item !== null) : checked;
  } catch (error) {
    if (isAppError(error, 'CONFIGURATION')) throw error;
    return refuse((error as Error).message, error);
  }
}

const CLOSED_MISSING = 'a required field is hidden from you or read-only. An administrator can change this.';
const CLOSED_RULE = 'the value of a field that is hidden from you would break a rule.';

/**
 * Returns all problems of the draft; problems of the `known` fields are already reported. Missing fields of nested
 * records are not reported, since these records may exist. Throws FORBIDDEN if the field is closed to the caller.
 */
export function checkDraft(
  writer: Writer,
  rules: CompiledRules,
  draft: Draft,
  isNew: boolean,
  known: ReadonlySet<string> = new Set(),
  prefix = '',
): FieldProblem[] {
  const { view, moment, verb } = writer;
  const { collection } = view;
  const problems: FieldProblem[] = [];
  const report = (column: Column, problem: string, closed: string) => {
    const label = writer.label(column);
    if (label === undefined) fail('FORBIDDEN', { verb, collection: collection.name, why: closed });
    const field = `${prefix}${label}`;
    if (!known.has(field)) problems.push({ field, problem });
  };
  for (const field of collection.internalFields.values()) {
    if (field.kind !== 'column' || field.route) continue;
    const value = draft.values.get(field);
    if (value === undefined) {
      if (!isNew || isSetByRelation(draft, field)) continue;
      // A trigger may set the field; if it does not, the database reports the error.
      const isRequired = field.required && !collection.triggers.includes('insert');
      const isMissing = isRequired || field.rules?.some(({ operator }) => operator === 'Present');
      const isClosed = isRequired && writer.refusalReason(field) !== undefined;
      if (isClosed) fail('FORBIDDEN', { verb, collection: collection.name, why: CLOSED_MISSING });
      if (isMissing) report(field, `is required: ${describeExpected(field)}.`, CLOSED_MISSING);
    } else if (value === null && !field.nullable)
      report(field, `may not be null: ${describeExpected(field)}.`, CLOSED_RULE);
    else
      for (const rule of findBrokenRules(rules, collection, field, value, moment))
        report(field, describeRule(rule, value), CLOSED_RULE);
  }
  for (const [relation, inner] of draft.related) {
    const inside = `${prefix}${writer.label(relation) ?? relation.name}:`;
    problems.push(...checkDraft(writer.forCollection(relation.to), rules, inner, false, known, inside));
  }
  return problems;
}

/** The key of a nested record sets the column. */
function isSetByRelation({ related }: Draft, column: Column): boolean {
  return [...related.keys()].some(({ inverse, on }) => !inverse && on.some(({ from }) => from === column));
}

export function findBrokenRules(
  rules: CompiledRules,
  collection: Collection,
  column: Column,
  value: unknown,
  moment: Moment,
): readonly FieldRule[] {
  return (column.rules ?? []).filter((rule) =>
    value === null
      ? rule.operator === 'Present'
      : !satisfiesRule(rules.get(rule), rule, pathTo(collection, [], column), value, moment),
  );
}

function satisfiesRule(
  operand: unknown,
  { operator, answer }: FieldRule,
  path: Path,
  value: unknown,
  moment: Moment,
): boolean {
  if (answer.takes === 'expression' && (value as string).length > MAX_MATCHED_LENGTH) return false;
  const { evaluatedBy: by } = answer;
  const filter: Filter =
    typeof by === 'object' && 'toCondition' in by
      ? applyToPath(by.toCondition(operand, moment), path)
      : { op: 'test', path, is: operator, value: operand };
  return evaluateFilter(filter, () => value);
}

const ruleAdvice: { readonly [O in Operator]?: (value: unknown) => string } = {
  Present: () => 'send a value that is not empty',
  LongerThan: (value) => `send more than ${value} characters`,
  ShorterThan: (value) => `send fewer than ${value} characters`,
  GreaterThan: (value) => `send more than ${value}`,
  LessThan: (value) => `send less than ${value}`,
  GreaterThanOrEqual: (value) => `send ${value} or more`,
  LessThanOrEqual: (value) => `send ${value} or less`,
  Before: (value) => `send a value before ${value}`,
  After: (value) => `send a value after ${value}`,
  Contains: (value) => `send a string with ${JSON.stringify(value)} in it`,
  StartsWith: (value) => `send a string that starts with ${JSON.stringify(value)}`,
  EndsWith: (value) => `send a string that ends with ${JSON.stringify(value)}`,
  Like: (value) => `send a string like ${JSON.stringify(value)}, where % is any string and _ is one character`,
  Match: (value) => `send a string that matches ${String(value)}`,
  In: (value) => `send one of ${(value as unknown[]).slice(0, 10).join(', ')}`,
  NotIn: (value) => `send a value other than ${(value as unknown[]).slice(0, 10).join(', ')}`,
};

export function describeRule({ operator, value, answer }: FieldRule, got: unknown): string {
  const operand = answer.takes === 'nothing' ? '' : `(${value instanceof RegExp ? value : JSON.stringify(value)})`;
  const advice = ruleAdvice[operator]?.(value) ?? 'send another value';
  const length = typeof got === 'string' && answer.takes === 'length' ? `, not ${[...got].length}` : '';
  return `breaks the rule ${operator}${operand}: ${advice}${length}.`;
}
