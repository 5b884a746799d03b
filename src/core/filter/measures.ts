// The JSON of aggregates: measures, groups and what selects and orders the groups. This file only defines the data;
// agent/resolve/measures.ts resolves names and checks types.
import type { PlainFilter } from '../filter.ts';
import type { DatePart, PlainExpression } from './expression.ts';

/** Maximum number of measures in one aggregate. */
export const MAX_MEASURES = 20;

interface Filtered<W> {
  /** Only records that match it count for this measure. */
  readonly where?: W;
}

interface Within {
  /** Among the groups with the same values of these, by index or field. Default: among all. */
  readonly per?: readonly (number | string)[];
}

/**
 * A figure of a group of records. `count: true` counts records; `count` of an expression counts its values that are not
 * null. `percentile` takes a number from 0 to 1 and interpolates. `ratio` divides two measures, named or in place;
 * `plus`, `minus`, `times`, `dividedBy`, `abs`, `round`, `sqrt` and `coalesce` compute with measures and numbers; the root
 * of a negative number is null. `share` is the
 * part of the total over all groups, `running` the total up to the group, `movingAverage` the average of the `last`
 * groups, `rank` the place of the figure, 1 for the largest; these take a measure, named or in place. `per` names groups,
 * within which ranks and shares are. `metric` is one of the metrics of the collection. `F`: the names of fields; `W`: the
 * filters.
 *
 * @example
 * const revenue: PlainMeasure = {
 *   sum: { times: ['price', 'quantity'] },
 *   where: { field: 'status', operator: 'Equal', value: 'paid' },
 * };
 */
export type PlainMeasure<F extends string = string, W = PlainFilter> =
  | (Filtered<W> &
      (
        | { readonly count: true | PlainExpression<F> }
        | { readonly countDistinct: PlainExpression<F> }
        | { readonly sum: PlainExpression<F> }
        | { readonly avg: PlainExpression<F> }
        | { readonly min: PlainExpression<F> }
        | { readonly max: PlainExpression<F> }
        | { readonly median: PlainExpression<F> }
        | { readonly percentile: readonly [PlainExpression<F>, number] }
      ))
  | { readonly ratio: readonly [MeasureOperand<F, W>, MeasureOperand<F, W>] }
  | { readonly minus: readonly [MeasureOperand<F, W>, MeasureOperand<F, W>] }
  | { readonly dividedBy: readonly [MeasureOperand<F, W>, MeasureOperand<F, W>] }
  | { readonly plus: readonly MeasureOperand<F, W>[] }
  | { readonly times: readonly MeasureOperand<F, W>[] }
  | { readonly coalesce: readonly MeasureOperand<F, W>[] }
  | { readonly abs: MeasureOperand<F, W> }
  | { readonly round: MeasureOperand<F, W> }
  | { readonly sqrt: MeasureOperand<F, W> }
  | (Within & ({ readonly rank: string | PlainMeasure<F, W> } | { readonly share: string | PlainMeasure<F, W> }))
  | { readonly running: string | PlainMeasure<F, W>; readonly last?: number }
  | { readonly movingAverage: string | PlainMeasure<F, W>; readonly last: number }
  | { readonly metric: string };

/** A measure by its name or in place, or a number. */
type MeasureOperand<F extends string, W> = string | number | PlainMeasure<F, W>;

/** The measures of an aggregate, by the names of their columns in the answer. At most 20. */
export type PlainMeasures = Readonly<Record<string, PlainMeasure>>;

/** The periods of days. Charts use them too. */
export const bucketUnits = ['Year', 'Quarter', 'Month', 'Week', 'Day'] as const;
export type BucketUnit = (typeof bucketUnits)[number];
export const periodUnits = [...bucketUnits, 'Hour'] as const;
export type PeriodUnit = (typeof periodUnits)[number];

/** A field to group by: its values, or one of its periods, parts and ranges. */
export interface PlainGroup {
  /** A field, or `relation:field`. */
  readonly field: string;
  /** For a Date or a Dateonly: groups by this period, in the timezone of the request. Hour is for a Date. */
  readonly bucket?: PeriodUnit;
  /** For a Date or a Dateonly: groups by this part, in the timezone of the request. HourOfDay is for a Date. */
  readonly part?: DatePart;
  /** For a Number: groups by the ranges between these bounds, below and above them. A range includes its start. */
  readonly ranges?: readonly (number | string)[];
}

/** A condition on the measures of a group. */
export type PlainHaving =
  | { readonly measure: string; readonly operator: string; readonly value?: unknown }
  | { readonly aggregator: 'And' | 'Or' | 'Not'; readonly conditions: readonly PlainHaving[] };

/** Orders groups by a measure, or by a group: its index or its field. Ascending by default. */
export type PlainGroupSort =
  | { readonly measure: string; readonly ascending?: boolean }
  | { readonly group: number | string; readonly ascending?: boolean };

/** The first `n` groups, in the order of `sort`: of all, or for each combination of the groups in `per`. */
export interface PlainTop {
  readonly n: number;
  /** Groups, by index or field. Default: none. */
  readonly per?: readonly (number | string)[];
}

/** Adds the figures of an earlier period to each group, as `previous <name>`. Needs exactly one bucket in the groups. */
export interface PlainCompare {
  /** How many periods earlier, from 1. */
  readonly previous: number;
}

/** The groups that the outer measures and groups are about. Filters apply to the records of these groups. */
export interface PlainOver {
  readonly measures: PlainMeasures;
  readonly groups: readonly (string | PlainGroup)[];
  readonly having?: PlainHaving;
  readonly includeEmpty?: boolean;
}

/** Figures of groups: what to compute, and which groups to show in which order. */
export interface PlainAggregate {
  /** Figures by name, at most 20. */
  readonly measures?: PlainMeasures;
  /** What to group by, at most 8. Default: no groups, one row. */
  readonly groups?: readonly (string | PlainGroup)[];
  /** Only groups with such figures. Default: all groups. */
  readonly having?: PlainHaving;
  /** Default: the first measure, largest first, then by group. */
  readonly sort?: readonly PlainGroupSort[];
  /** Only the first groups, in the order of `sort`. Default: all groups. */
  readonly top?: PlainTop;
  /** Adds the figures of an earlier period. Default: none. */
  readonly compare?: PlainCompare;
  /**
   * Adds groups without records: every period between the first and the last, or of the range that the filters set; every
   * part, range, enum value and boolean, and every other value of the field in the collection that it belongs to. Default
   * false.
   */
  readonly includeEmpty?: boolean;
  /** A group of groups: `measures` and `groups` are about these groups, whose columns they name. */
  readonly over?: PlainOver;
}
