// Measures with names resolved, and what is known about their figures.
import { fail } from '../../core/errors.ts';
import { arithmeticOperators } from '../../core/filter/expression.ts';
import type { PlainFilter } from '../../core/filter.ts';
import { suggestNames } from '../../core/suggestions.ts';
import type { Column } from '../model/types.ts';
import type { Expression } from '../plan/types.ts';
import type { MeasureOperation } from '../sources/statement.ts';
import type { Decimal } from '../sources/values/decimal.ts';
import { MAX_DECIMALS, quotientDecimals, scaleOf } from './expression.ts';
import type { ToManySplit } from './filter.ts';

/** What is computed from measures. */
export const measureOperators = [...arithmeticOperators, 'abs', 'round', 'sqrt', 'coalesce'] as const;
export type MeasureOperator = (typeof measureOperators)[number];

interface Named {
  readonly name: string;
  /** False for a measure that only another one uses. */
  readonly isShown: boolean;
  /** The decimals of a value that has to be rounded. `digits`: 15 digits, or 6 decimals where that is finer. */
  readonly decimals: number | 'digits';
}

/** Refers to other measures by their index. */
export type ResolvedMeasure =
  | BaseMeasure
  | ConstantMeasure
  | ComputedMeasure
  | ExpressionMeasure
  | WindowMeasure
  | PreviousMeasure;

export interface BaseMeasure extends Named {
  readonly kind: 'base';
  readonly operation: MeasureOperation;
  readonly of?: Expression;
  /** It is about the related records of each record. Names start there. Groups then have one record each. */
  readonly many?: ToManySplit;
  /** It is a field of the record itself, beside figures of its related records. */
  readonly isOwn?: true;
  /** Records must match all of them. */
  readonly where?: readonly PlainFilter[];
  /** The metric that it is part of. The names in `where` are then those of code. */
  readonly metric?: { readonly what: string; readonly at: string };
  readonly fraction?: Decimal;
  /** For messages: the argument of the measure. */
  readonly at: string;
  /** How its values compare: the column of a Max or Min. Absent for numbers that are computed. */
  readonly column?: Column;
}

/** The same number for each group. */
interface ConstantMeasure extends Named {
  readonly kind: 'constant';
  readonly value: Decimal;
}

/** Arithmetic of other measures of the group. */
export interface ComputedMeasure extends Named {
  readonly kind: 'computed';
  readonly operator: MeasureOperator;
  /** One for `abs`, `round` and `sqrt`, otherwise at least two. */
  readonly of: readonly number[];
}

/** An expression over the figures of the group, as they are shown. The id of a path is the index of a measure. */
export interface ExpressionMeasure extends Named {
  readonly kind: 'expression';
  readonly of: Expression;
  /** How its values compare: the column of a text or date. Absent for numbers. */
  readonly column?: Column;
}

/** The figure among those of all groups. `rank`: 1 for the largest; equal figures have one rank. */
export interface WindowMeasure extends Named {
  readonly kind: 'share' | 'running' | 'movingAverage' | 'rank';
  readonly of: number;
  /** `running` and `movingAverage`: of so many groups up to this one. Absent: of all. */
  readonly last?: number;
  /** Among the groups with the same values of these. */
  readonly per: readonly number[];
  /** The decimals of the figures. */
  readonly scale: number;
}

/** The figure of the group with the same values in an earlier period. */
export interface PreviousMeasure extends Named {
  readonly kind: 'previous';
  readonly of: number;
  /** How many periods earlier. */
  readonly periods: number;
  /** The decimals of the figures. */
  readonly scale: number;
}

/** Whether it follows an order of the groups. */
export const isRunning = (measure: ResolvedMeasure): measure is WindowMeasure =>
  measure.kind === 'running' || measure.kind === 'movingAverage';

/** Whether its figures are numbers. */
export function isNumeric(measure: ResolvedMeasure, all: readonly ResolvedMeasure[]): boolean {
  const column = columnOfMeasure(measure, all);
  return column === undefined || column.type === 'Number';
}

/** How the figures of a measure compare: the column of a Max or Min. Undefined for numbers that are computed. */
export function columnOfMeasure(measure: ResolvedMeasure, all: readonly ResolvedMeasure[]): Column | undefined {
  if (measure.kind === 'previous') return columnOfMeasure(all[measure.of]!, all);
  return measure.kind === 'base' || measure.kind === 'expression' ? measure.column : undefined;
}

/** The number of decimals of its figures. */
export function scaleOfMeasure(measure: ResolvedMeasure): number {
  const decimals = Number(measure.decimals);
  if ('scale' in measure) return measure.scale;
  if (measure.kind !== 'base') return decimals;
  if (measure.operation === 'Count' || measure.operation === 'CountDistinct') return 0;
  if (measure.operation === 'Avg' || measure.operation === 'Percentile') return decimals;
  return measure.of ? scaleOf(measure.of) : 0;
}

/** The decimals of what is computed from these measures. */
export function computedDecimals(operator: MeasureOperator, parts: readonly ResolvedMeasure[]): number {
  const scales = parts.map(scaleOfMeasure);
  if (operator === 'dividedBy' || operator === 'sqrt') return quotientDecimals(...scales);
  if (operator === 'round') return 0;
  return operator === 'times'
    ? Math.min(
        MAX_DECIMALS,
        scales.reduce((a, b) => a + b),
      )
    : Math.max(...scales);
}

/** Throws INVALID_ARGUMENT with the names that exist. */
export function failUnknownMeasure(name: string, known: Iterable<string>, at: string): never {
  const names = [...known];
  const near = suggestNames(name, names);
  const problem = `no measure '${name}'. ${near.length ? 'Near' : 'Send one of'}: ${(near.length ? near : names).join(', ')}.`;
  return fail('INVALID_ARGUMENT', { argument: at, problem });
}
