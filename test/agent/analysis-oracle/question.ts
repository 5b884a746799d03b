// Analytic questions as callers write them (QUERY.md), and the kinds of their expressions, groups and measures.
import type { Filter } from '../oracle/filters.ts';
import type { Kind, World, WorldTable } from '../oracle/world.ts';

export type Bucket = 'Hour' | 'Day' | 'Week' | 'Month' | 'Quarter' | 'Year';
export type Part = 'HourOfDay' | 'Weekday' | 'MonthOfYear';
export type Unit = 'day' | 'hour' | 'minute' | 'month' | 'year';
export type Pair = readonly [Expression, Expression];

export type Expression =
  | string
  | number
  | { readonly value: string | number }
  | { readonly plus: Pair }
  | { readonly minus: Pair }
  | { readonly times: Pair }
  | { readonly dividedBy: Pair }
  | { readonly abs: Expression }
  | { readonly round: Expression }
  | { readonly coalesce: Pair }
  | { readonly difference: Pair; readonly unit: Unit }
  | { readonly field: string; readonly part: Part };

/** Names of measures, or a number. */
export type Operands = readonly [string, string | number];

export type Measure = (
  | { readonly count: true | Expression }
  | { readonly sum: Expression }
  | { readonly avg: Expression }
  | { readonly min: Expression }
  | { readonly max: Expression }
  | { readonly countDistinct: Expression }
  | { readonly median: Expression }
  | { readonly percentile: readonly [Expression, number] }
  | { readonly ratio: readonly [string, string] }
  | { readonly share: string; readonly per?: readonly number[] }
  | { readonly running: string; readonly last?: number }
  | { readonly movingAverage: string; readonly last: number }
  | { readonly rank: string; readonly per?: readonly number[] }
  | { readonly plus: Operands }
  | { readonly minus: Operands }
  | { readonly times: Operands }
  | { readonly coalesce: Operands }
  | { readonly abs: string }
  | { readonly round: string }
) & { readonly where?: Filter };

export type Measures = Readonly<Record<string, Measure>>;

export type Group =
  | string
  | { readonly field: string; readonly bucket: Bucket }
  | { readonly field: string; readonly part: Part }
  | { readonly field: string; readonly ranges: readonly number[] };

export type Having =
  | { readonly measure: string; readonly operator: string; readonly value?: unknown }
  | { readonly aggregator: 'And' | 'Or' | 'Not'; readonly conditions: readonly Having[] };

export type Sort = ({ readonly measure: string } | { readonly group: number }) & { readonly ascending?: boolean };

export interface Aggregate {
  readonly collectionName: string;
  readonly measures: Measures;
  readonly groups?: readonly Group[];
  readonly filters?: Filter;
  readonly having?: Having;
  readonly sort?: readonly Sort[];
  readonly top?: { readonly n: number; readonly per?: readonly number[] };
  readonly compare?: { readonly previous: number };
  readonly includeEmpty?: true;
  readonly over?: { readonly groups: readonly Group[]; readonly measures: Measures };
  readonly timezone?: string;
}

/** The order of the groups: that of `sort`, or the first measure from the largest on, and then all groups. */
export function orderOf({ sort, groups = [], measures }: Aggregate): Sort[] {
  const [first] = Object.keys(measures);
  return [...(sort ?? [{ measure: first!, ascending: false }]), ...groups.map((_, group) => ({ group }))];
}

/** The group that running totals follow; -1 if no group is a date. */
export const findDate = (kinds: readonly ColumnKind[]): number =>
  kinds.findIndex((kind) => ['bucket', 'part', 'instant', 'day'].includes(kind));

/** How a column of the answer is compared: numbers by their digits, periods and ranges by their names. */
export type ColumnKind = Kind | 'bucket' | 'part' | 'range';

export type Operation =
  | 'count' | 'sum' | 'avg' | 'min' | 'max' | 'countDistinct' | 'median' | 'percentile' | 'ratio' | 'share' | 'running'
  | 'movingAverage' | 'rank' | Arithmetic; // biome-ignore format: one family

export type Arithmetic = (typeof arithmetic)[number];
const arithmetic = ['plus', 'minus', 'times', 'coalesce', 'abs', 'round'] as const;
const derived: readonly string[] = ['ratio', 'share', 'running', 'movingAverage', 'rank', ...arithmetic];

/** The arithmetic of a measure, and its operands. Undefined for other measures. */
export function readArithmetic(
  measure: Measure,
): { readonly operator: Arithmetic; readonly operands: readonly (string | number)[] } | undefined {
  const operator = arithmetic.find((each) => each in measure);
  return operator && { operator, operands: [readMeasure(measure).argument].flat() as (string | number)[] };
}

/** The operation of a measure, its argument, and the fraction of a percentile. */
export function readMeasure(measure: Measure): {
  readonly operation: Operation;
  readonly argument: unknown;
  readonly fraction?: number;
} {
  const [operation, argument] = Object.entries(measure).find(([name]) => name !== 'where') as [Operation, unknown];
  if (operation === 'median') return { operation: 'percentile', argument, fraction: 0.5 };
  if (operation !== 'percentile') return { operation, argument };
  const [of, fraction] = argument as readonly [Expression, number];
  return { operation, argument: of, fraction };
}

/** Whether the measure is computed from other measures. */
export const isDerived = (measure: Measure): boolean => derived.includes(readMeasure(measure).operation);

/** The measures that a derived one is computed from. */
export const operandsOf = (measure: Measure): string[] =>
  isDerived(measure) ? [readMeasure(measure).argument].flat().filter((each) => typeof each === 'string') : [];

export const fieldOf = (group: Group): string => (typeof group === 'string' ? group : group.field);

export type Operator = 'plus' | 'minus' | 'times' | 'dividedBy' | 'abs' | 'round' | 'coalesce' | 'difference' | 'part';

/** The operator of an expression and its operands; undefined for fields and constants. */
export function readOperator(expression: Expression):
  | {
      readonly operator: Operator;
      readonly operands: readonly Expression[];
      readonly unit?: Unit;
      readonly part?: Part;
    }
  | undefined {
  if (typeof expression !== 'object' || 'value' in expression) return undefined;
  if ('part' in expression) return { operator: 'part', operands: [expression.field], part: expression.part };
  const [operator, given] = Object.entries(expression).find(([name]) => name !== 'unit') as [Operator, unknown];
  const operands = (Array.isArray(given) ? given : [given]) as Expression[];
  return { operator, operands, ...('unit' in expression && { unit: expression.unit }) };
}

/** The kind of a field, also behind relations. */
export function kindOfField(world: World, { columns, twists, relations, many }: WorldTable, name: string): Kind {
  const shown = columns.filter((each) => !twists.removed.has(each.name));
  const column = shown.find((each) => (twists.renames.get(each.name) ?? each.name) === name);
  const own = column ?? twists.added.find((each) => each.name === name);
  if (own) return own.kind;
  const [head, ...rest] = name.split(':');
  const { to } = [...relations, ...many].find((each) => each.name === head)!;
  return kindOfField(world, world.tables.find((each) => each.name === to)!, rest.join(':'));
}

/** All numbers are of kind `decimal`. */
export function kindOf(world: World, table: WorldTable, expression: Expression): Kind {
  if (typeof expression === 'number') return 'decimal';
  if (typeof expression === 'string') return plainKind(kindOfField(world, table, expression));
  if ('value' in expression) return typeof expression.value === 'number' ? 'decimal' : 'text';
  const { operator, operands } = readOperator(expression)!;
  return operator === 'coalesce' ? kindOf(world, table, operands[0]!) : 'decimal';
}

const plainKind = (kind: Kind): Kind => (kind === 'whole' || kind === 'big' ? 'decimal' : kind);

/** The declared decimals of a field. */
export type Scale = (name: string) => number;

/** Every source declares two decimals for columns of kind `decimal`. */
export const scaleOfField =
  (world: World, table: WorldTable): Scale =>
  (name) =>
    kindOfField(world, table, name) === 'decimal' ? 2 : 0;

const MOST_DECIMALS = 24;

/** A quotient is rounded to ten decimals more than its operands have. */
export const quotientScale = (...scales: readonly number[]): number =>
  Math.min(MOST_DECIMALS, Math.max(...scales) + 10);

/** The decimals of an expression, from those of its fields. */
export function scaleOf(expression: Expression, scale: Scale): number {
  if (typeof expression === 'string') return scale(expression);
  const found = readOperator(expression);
  if (!found) return decimalsOf(typeof expression === 'object' ? (expression as { value: unknown }).value : expression);
  const { operator, operands, unit } = found;
  const scales = operands.map((each) => scaleOf(each, scale));
  switch (operator) {
    case 'dividedBy':
      return quotientScale(...scales);
    case 'times':
      return Math.min(MOST_DECIMALS, scales[0]! + scales[1]!);
    case 'round':
    case 'part':
      return 0;
    case 'difference':
      return unit === 'month' || unit === 'year' ? 0 : 10;
    default:
      return Math.max(...scales);
  }
}

export const decimalsOf = (constant: unknown): number => String(constant).split('.')[1]?.length ?? 0;

export function scaleOfMeasure(measure: Measure, measures: Measures, scale: Scale): number {
  const { operation, argument } = readMeasure(measure);
  const scales = (readArithmetic(measure)?.operands ?? []).map((each) =>
    typeof each === 'number' ? decimalsOf(each) : scaleOfMeasure(measures[each]!, measures, scale),
  );
  switch (operation) {
    case 'rank':
    case 'round':
      return 0;
    case 'times':
      return Math.min(MOST_DECIMALS, scales[0]! + scales[1]!);
    case 'plus':
    case 'minus':
    case 'coalesce':
    case 'abs':
      return Math.max(...scales);
    case 'count':
    case 'countDistinct':
      return 0;
    case 'ratio':
    case 'share':
      return quotientScale(
        ...[argument].flat().map((name) => scaleOfMeasure(measures[name as string]!, measures, scale)),
      );
    case 'running':
      return scaleOfMeasure(measures[argument as string]!, measures, scale);
    case 'movingAverage':
      return quotientScale(scaleOfMeasure(measures[argument as string]!, measures, scale));
    case 'avg':
    case 'percentile':
      return quotientScale(scaleOf(argument as Expression, scale));
    default:
      return scaleOf(argument as Expression, scale);
  }
}

export function kindOfMeasure(world: World, table: WorldTable, measure: Measure): Kind {
  const { operation, argument } = readMeasure(measure);
  return operation === 'min' || operation === 'max' ? kindOf(world, table, argument as Expression) : 'decimal';
}

export function kindOfGroup(world: World, table: WorldTable, group: Group): ColumnKind {
  if (typeof group === 'string') return kindOfField(world, table, group);
  return 'bucket' in group ? 'bucket' : 'part' in group ? 'part' : 'range';
}

/** The steps of relations that the groups of a question lead through, up to the last relation to many of each path. */
export function manyPrefixes(world: World, table: WorldTable, groups: readonly Group[]): string[] {
  const prefixes = new Set<string>();
  for (const group of groups) {
    const steps = fieldOf(group).split(':').slice(0, -1);
    let [at, last]: [WorldTable, number] = [table, 0];
    for (const [index, step] of steps.entries()) {
      if (at.many.some(({ name }) => name === step)) last = index + 1;
      const { to } = [...at.relations, ...at.many].find(({ name }) => name === step)!;
      at = world.tables.find(({ name }) => name === to)!;
    }
    for (let length = 1; length <= last; length++) prefixes.add(steps.slice(0, length).join(':'));
  }
  return [...prefixes].sort((a, b) => a.split(':').length - b.split(':').length || (a < b ? -1 : 1));
}

/** The longest of the prefixes that the path begins with, or an empty text. */
export const prefixOf = (prefixes: readonly string[], path: string): string =>
  prefixes.findLast((each) => path.startsWith(`${each}:`)) ?? '';
