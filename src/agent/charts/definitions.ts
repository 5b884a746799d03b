// The types of chart definitions and chart results.
import type { CustomizationContext, MaybePromise } from '../customize/context.ts';
import type { BucketUnit } from '../sources/statement.ts';

/** The unit of a chart over time (spec 2.7). */
export type TimeRange = BucketUnit;
/** A number, or its digits as text where a JavaScript number would lose precision. */
export type ChartNumber = number | string;
/** An instant, as a Date or text. A day ('YYYY-MM-DD') is that day in every timezone. */
export type ChartDate = Date | string;

/** One value of a chart over time. */
export interface TimePoint {
  readonly date: ChartDate;
  readonly value: ChartNumber | null;
}

/** One line of a multi-line chart. */
export interface Line {
  readonly label: string;
  /** One for each of the dates. */
  readonly values: readonly (ChartNumber | null)[];
}

export interface ValueResult {
  readonly countCurrent: ChartNumber;
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
export type SmartResult = unknown;

/** A wrong argument throws a TypeError, with a message for the author of the chart. */
export interface ChartBuilder {
  value(value: ChartNumber, previousValue?: ChartNumber | null): ValueResult;
  distribution(values: Readonly<Record<string, ChartNumber>>): DistributionResult;
  /**
   * Returns every period from the first date to the last. Values of the same period are added; a period without dates
   * is 0.
   */
  timeBased(timeRange: TimeRange, values: readonly TimePoint[]): TimeBasedResult;
  /** Like `timeBased`, for several lines. A value with a null date is omitted. */
  multipleTimeBased(
    timeRange: TimeRange,
    dates: readonly (ChartDate | null)[],
    lines: readonly Line[],
  ): MultipleTimeBasedResult;
  percentage(value: ChartNumber): PercentageResult;
  objective(value: ChartNumber, objective: ChartNumber): ObjectiveResult;
  /** Largest first; equal values in the order of the argument. */
  leaderboard(values: Readonly<Record<string, ChartNumber>>): LeaderboardResult;
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

/** A registered chart; without a collection, of the whole agent. */
export interface ChartEntry {
  readonly collection?: string;
  readonly name: string;
  readonly at: string;
  readonly definition: ChartDefinition<ChartContext> | ChartDefinition<RecordChartContext>;
}
