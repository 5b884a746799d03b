// What users write to add charts, and what charts give. Types alone.
import type { CustomizationContext, MaybePromise } from '../customize/definitions.ts';
import type { BucketUnit } from '../sources/source.ts';

/** The unit of a chart over time (spec 2.7). */
export type TimeRange = BucketUnit;
/** As the engine gives it: a text of digits where a number would lose some. */
export type ChartNumber = number | string;
/** An instant, or a text of one; a day ('YYYY-MM-DD') is that day in every zone. */
export type ChartDate = Date | string;

/** One value of a chart over time. */
export interface TimePoint {
  readonly date: ChartDate;
  readonly value: ChartNumber | null;
}

/** One line of a chart of several. */
export interface Line {
  readonly label: string;
  /** One for each of the dates. */
  readonly values: readonly (ChartNumber | null)[];
}

export interface ValueResult {
  readonly countCurrent: ChartNumber;
  /** Absent when there is nothing to compare with. */
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
/** What `smart` was given. */
export type SmartResult = unknown;

/** A wrong argument is a TypeError, whose message is for whoever wrote the chart. */
export interface ChartBuilder {
  value(value: ChartNumber, previousValue?: ChartNumber | null): ValueResult;
  distribution(values: Readonly<Record<string, ChartNumber>>): DistributionResult;
  /** Every period from the first date to the last. Values of one period are added up; a period without any date is 0. */
  timeBased(timeRange: TimeRange, values: readonly TimePoint[]): TimeBasedResult;
  /** The same for several lines; a value whose date is null is left out. */
  multipleTimeBased(
    timeRange: TimeRange,
    dates: readonly (ChartDate | null)[],
    lines: readonly Line[],
  ): MultipleTimeBasedResult;
  percentage(value: ChartNumber): PercentageResult;
  objective(value: ChartNumber, objective: ChartNumber): ObjectiveResult;
  /** Largest first; of equals, the one that was given first. */
  leaderboard(values: Readonly<Record<string, ChartNumber>>): LeaderboardResult;
  smart<T>(data: T): T;
}

/** Of a chart of the whole agent. */
export type ChartContext = CustomizationContext;

/** Of a chart of one record. */
export interface RecordChartContext extends CustomizationContext {
  /** Where the key has several columns, their values packed (record-id.ts). */
  readonly recordId: string | number;
  /** The values of the key, in its order. */
  readonly compositeRecordId: readonly (string | number)[];
  /** The record, by inside names, `relation:field` too: what the caller may see of it. */
  getRecord(fields: readonly string[]): Promise<Record<string, unknown>>;
}

/** What `addChart` is given: a function that works out a chart with the result builder. */
export type ChartDefinition<C = ChartContext> = (context: C, resultBuilder: ChartBuilder) => MaybePromise<ChartResult>;

/** One that was added: to the whole agent, when it has no collection. */
export interface ChartEntry {
  readonly collection?: string;
  readonly name: string;
  readonly at: string;
  readonly definition: ChartDefinition<ChartContext> | ChartDefinition<RecordChartContext>;
}
