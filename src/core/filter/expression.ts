// The JSON of expressions over the fields of a record. This file only defines the data; agent/resolve/expression.ts
// resolves names and checks types.

export const arithmeticOperators = ['plus', 'minus', 'times', 'dividedBy'] as const;
export type ArithmeticOperator = (typeof arithmeticOperators)[number];
export const differenceUnits = ['minute', 'hour', 'day', 'month', 'year'] as const;
export type DifferenceUnit = (typeof differenceUnits)[number];
export const dateParts = ['HourOfDay', 'Weekday', 'MonthOfYear'] as const;
export type DatePart = (typeof dateParts)[number];

/** The maximum of nested expressions. */
export const MAX_EXPRESSION_DEPTH = 8;
/** The maximum number of fields, constants and operators in one expression. */
export const MAX_EXPRESSION_NODES = 64;

type Pair<F extends string> = readonly [PlainExpression<F>, PlainExpression<F>];

/**
 * A value computed from the fields of a record: a field or a path to one, a number, a constant, or an operation.
 * A division by zero is null. A null operand makes the result null, except for `coalesce`, which takes the first value
 * that is not null. `round` gives a whole number, halves away from zero. `difference` is the time from the first to the
 * second: with a fraction for days, hours and minutes, in whole calendar months and years. A part of a date is a whole
 * number, as in groups. `F`: the names of fields.
 *
 * @example
 * const net: PlainExpression = { times: ['price', { minus: [1, 'discount'] }] };
 */
export type PlainExpression<F extends string = string> =
  | F
  | number
  | { readonly value: string | number | boolean }
  | { readonly plus: Pair<F> }
  | { readonly minus: Pair<F> }
  | { readonly times: Pair<F> }
  | { readonly dividedBy: Pair<F> }
  | { readonly abs: PlainExpression<F> }
  | { readonly round: PlainExpression<F> }
  | { readonly difference: Pair<F>; readonly unit: DifferenceUnit }
  | { readonly field: F; readonly part: DatePart }
  | { readonly coalesce: Pair<F> };

const notFields: ReadonlySet<string> = new Set(['value', 'unit', 'part']);

/** Returns the expression with each field name replaced, by a name or an expression. Invalid parts stay unchanged. */
export function mapFieldNames(expression: PlainExpression, change: (name: string) => PlainExpression): PlainExpression {
  const visit = (part: unknown): unknown => {
    if (typeof part === 'string') return change(part);
    if (Array.isArray(part)) return part.map(visit);
    if (typeof part !== 'object' || part === null) return part;
    const entries = Object.entries(part).map(([key, of]) => [key, notFields.has(key) ? of : visit(of)]);
    return Object.fromEntries(entries);
  };
  return visit(expression) as PlainExpression;
}

/** The field names in an expression, as written. */
export function fieldNames(expression: PlainExpression): string[] {
  const names: string[] = [];
  mapFieldNames(expression, (name) => {
    names.push(name);
    return name;
  });
  return names;
}
