// The types of chart definitions and chart results.
import type { BucketUnit, PlainAggregate, PlainMeasures } from '../../core/filter/measures.ts';
import type { PlainFilter } from '../../core/filter.ts';
import type { CustomizationContext, MaybePromise } from '../customize/context.ts';

/** The unit of a chart over time (behaviour 2.7). */
export type TimeRange = BucketUnit;
/** A number, or its digits as text if a JavaScript number would lose precision. */
export type ChartNumber = number | string;
/** An instant, as a Date or text. A day ('YYYY-MM-DD') is that day in every timezone. */
export type ChartDate = Date | string;

/** One value of a chart over time. */
export interface TimePoint {
  /** The moment of the value. It selects the period in the timezone of the request. */
  readonly date: ChartDate;
  /** The value to add to its period. Null means no value. */
  readonly value: ChartNumber | null;
}

/** One line of a multi-line chart. */
export interface Line {
  /** The name of the line in the legend. */
  readonly label: string;
  /** One for each of the dates. */
  readonly values: readonly (ChartNumber | null)[];
}

export interface ValueResult {
  /** Null if a measure has no value, such as the average of no records. */
  readonly countCurrent: ChartNumber | null;
  /** Absent without a previous value. */
  readonly countPrevious?: ChartNumber;
}
export type DistributionResult = readonly { readonly key: string; readonly value: ChartNumber }[];
export type TimeBasedResult = readonly {
  readonly label: string;
  readonly values: { readonly value: ChartNumber | null };
}[];
export interface MultipleTimeBasedResult {
  readonly labels: readonly string[];
  readonly values: readonly { readonly key: string; readonly values: readonly (ChartNumber | null)[] }[];
}
export type PercentageResult = ChartNumber;
export interface ObjectiveResult {
  readonly value: ChartNumber;
  readonly objective: ChartNumber;
}
export type LeaderboardResult = DistributionResult;
/** A chart as the result builder makes it. */
export type ChartResult =
  | ValueResult
  | DistributionResult
  | TimeBasedResult
  | MultipleTimeBasedResult
  | PercentageResult
  | ObjectiveResult
  | SmartResult;
/** The value passed to `smart`. */
type SmartResult = unknown;

/** Makes the result of a chart. A wrong argument throws a TypeError, with a message for the author of the chart. */
export interface ChartBuilder {
  /**
   * One number, and optionally the number to compare it with. Default: no previous value.
   *
   * @example
   * agent.addChart('Orders', async ({ collection }, builder) =>
   *   builder.value(await collection('orders').count(), 120),
   * );
   */
  value(value: ChartNumber, previousValue?: ChartNumber | null): ValueResult;
  /**
   * The share of each label, in the order of the argument.
   *
   * @example
   * agent.addChart('Customers by tier', (context, builder) => builder.distribution({ Gold: 12, Others: 88 }));
   */
  distribution(values: Readonly<Record<string, ChartNumber>>): DistributionResult;
  /**
   * Returns every period from the first date to the last. Values of the same period are added; a period without dates
   * is 0.
   *
   * @example
   * agent.addChart('Orders a month', async ({ collection }, builder) => {
   *   const orders = await collection('orders').list({}, ['placed_at']);
   *   return builder.timeBased(
   *     'Month',
   *     orders.map((one) => ({ date: String(one.placed_at), value: 1 })),
   *   );
   * });
   */
  timeBased(timeRange: TimeRange, values: readonly TimePoint[]): TimeBasedResult;
  /**
   * Like `timeBased`, for several lines. A value with a null date is omitted.
   *
   * @example
   * agent.addChart('Sales', (context, builder) =>
   *   builder.multipleTimeBased('Month', ['2026-01-01', '2026-02-01'], [
   *     { label: 'Online', values: [10, 12] },
   *     { label: 'Shops', values: [7, null] },
   *   ]),
   * );
   */
  multipleTimeBased(
    timeRange: TimeRange,
    dates: readonly (ChartDate | null)[],
    lines: readonly Line[],
  ): MultipleTimeBasedResult;
  /**
   * A share in percent, from 0 to 100.
   *
   * @example
   * agent.addChart('Paid orders', (context, builder) => builder.percentage(42));
   */
  percentage(value: ChartNumber): PercentageResult;
  /**
   * A value and the goal that it is measured by, in the same unit.
   *
   * @example
   * agent.addChart('Sales this year', (context, builder) => builder.objective(180_000, 250_000));
   */
  objective(value: ChartNumber, objective: ChartNumber): ObjectiveResult;
  /**
   * Largest first; equal values in the order of the argument.
   *
   * @example
   * agent.addChart('Best customers', (context, builder) => builder.leaderboard({ Ada: 320, Grace: 410 }));
   */
  leaderboard(values: Readonly<Record<string, ChartNumber>>): LeaderboardResult;
  /**
   * Any JSON value, for a chart that your front end draws itself. The value is returned unchanged.
   *
   * @example
   * agent.addChart('Map', (context, builder) => builder.smart({ center: [59.9, 10.7], zoom: 9 }));
   */
  smart<T>(data: T): T;
}

/** The context of an agent chart. */
export type ChartContext = CustomizationContext;

/** The context of a record chart. */
export interface RecordChartContext extends CustomizationContext {
  /** For a composite key, its packed values (agent/encode/record-id.ts). */
  readonly recordId: string | number;
  /** The values of the key, in its order. */
  readonly compositeRecordId: readonly (string | number)[];
  /** The fields of the record that the caller may see, by original names or `relation:field`. */
  getRecord(fields: readonly string[]): Promise<Record<string, unknown>>;
}

/** The definition of `addChart`: a function that creates a chart with the result builder. */
export type ChartDefinition<C = ChartContext> = (context: C, resultBuilder: ChartBuilder) => MaybePromise<ChartResult>;

/**
 * A chart of measures: an aggregate of a collection, by the names of callers and with the rights of the caller. To callers
 * who may not use one of its names, there is no such chart. At most two groups: the labels, and with one measure the
 * lines.
 *
 * @example
 * const chart: MeasuresChart = {
 *   collection: 'order_items',
 *   measures: { revenue: { sum: { times: ['unit_price', 'quantity'] } } },
 *   groups: [{ field: 'order:placed_at', bucket: 'Month' }],
 * };
 */
export interface MeasuresChart extends PlainAggregate {
  /** The name of the collection. */
  readonly collection: string;
  /** Figures by name, at most 20; one if there are two groups. */
  readonly measures: PlainMeasures;
  /** The records that count. Default: all that the caller may see. */
  readonly filter?: PlainFilter;
  /** One of the segments of the collection. Default: no segment. */
  readonly segment?: string;
  /** The words that records must contain. Default: no search. */
  readonly search?: string;
  /** The maximum number of groups. Default: all; a chart with more than the page size limit is refused. */
  readonly limit?: number;
  /** IANA name; a request may send another one. Default: the caller's timezone. */
  readonly timezone?: string;
}

/** A registered chart; without a collection, of the whole agent. */
export interface ChartEntry {
  readonly collection?: string;
  readonly name: string;
  readonly at: string;
  readonly definition: ChartDefinition<ChartContext> | ChartDefinition<RecordChartContext> | MeasuresChart;
}
