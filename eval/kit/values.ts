// Resolves values that are unknown when an evaluation is written: parts of earlier answers and database results.
import { AppError, fail } from '../../src/core/errors.ts';
import type { Value } from './definitions.ts';

export interface ReferenceContext {
  /** Answers by call name. */
  readonly answers: ReadonlyMap<string, unknown>;
  /** Queries the database directly. Undefined if there is no database. */
  readonly ask: ((sql: string, parameters: readonly Value[]) => readonly (readonly unknown[])[]) | undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Replaces all references in a value. Throws INVALID_ARGUMENT if a reference has no value. */
export function fill(value: Value, context: ReferenceContext): Value {
  if (Array.isArray(value)) return value.map((item: Value) => fill(item, context));
  if (!isObject(value)) return value;
  const object = value;
  if (typeof object.$ref === 'string') return resolveReference(object.$ref, context);
  if (typeof object.$sql === 'string') return runQuery(object.$sql, object.with, context) as Value;
  if (typeof object.$value === 'string')
    return (runQuery(object.$value, object.with, context)[0]?.[0] ?? null) as Value;
  return Object.fromEntries(Object.entries(object).map(([name, item]) => [name, fill(item, context)]));
}

function resolveReference(reference: string, { answers }: ReferenceContext): Value {
  const [name = '', ...path] = reference.split('.');
  if (!answers.has(name)) {
    const problem = `'${reference}': no earlier call has the name '${name}'.`;
    fail('INVALID_ARGUMENT', { argument: '$ref', problem });
  }
  const found = at(answers.get(name), path);
  if (found === undefined) {
    fail('INVALID_ARGUMENT', { argument: '$ref', problem: `'${reference}': the answer has no value there.` });
  }
  return found as Value;
}

function runQuery(
  sql: string,
  parameters: Value | undefined,
  context: ReferenceContext,
): readonly (readonly unknown[])[] {
  if (!context.ask) {
    const problem = 'there is no database to query: $sql and $value are for the demo shop. Write the value itself.';
    fail('INVALID_ARGUMENT', { argument: '$sql', problem });
  }
  const parameterValues = fill(parameters ?? [], context) as readonly Value[];
  try {
    return context.ask(sql, parameterValues);
  } catch (cause) {
    const problem = `'${sql}' with ${parameterValues.length} values: ${(cause as Error).message}.`;
    throw new AppError('INVALID_ARGUMENT', { argument: '$sql', problem }, cause);
  }
}

/** Returns undefined if there is no such position. */
function indexOfStep(step: string, columns: readonly string[]): number | undefined {
  if (step === 'last') return -1;
  if (/^\d+$/.test(step)) return Number(step);
  const column = columns.indexOf(step);
  return column < 0 ? undefined : column;
}

/** Returns the value at a path, or undefined. A step into a row can be a column name. */
export function at(answer: unknown, path: readonly string[]): unknown {
  const columns = isObject(answer) && Array.isArray(answer.columns) ? (answer.columns as readonly string[]) : [];
  const walk = (value: unknown, [step, ...rest]: readonly string[]): unknown => {
    if (step === undefined) return value;
    if (step === '*') return Array.isArray(value) ? value.map((item) => walk(item, rest)) : undefined;
    if (Array.isArray(value)) return walk(value.at(indexOfStep(step, columns) ?? value.length), rest);
    return isObject(value) ? walk(value[step], rest) : undefined;
  };
  return walk(answer, path);
}
