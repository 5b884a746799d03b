// Readers for charts defined in code (behaviour 4.3). Each reader expects one kind and throws for any other.
import type {
  DistributionResult,
  LeaderboardResult,
  MultipleTimeBasedResult,
  ObjectiveResult,
  PercentageResult,
  TimeBasedResult,
  ValueResult,
} from '../agent/charts/definitions.ts';
import type { RecordId } from '../agent/encode/record-id.ts';
import { AgentHttpError } from './failures.ts';

interface ChartResults {
  /** The number of a value chart, and the previous one. */
  readonly valueChart: ValueResult;
  /** The shares of a distribution chart. */
  readonly distributionChart: DistributionResult;
  /** The periods of a chart over time. */
  readonly timeBasedChart: TimeBasedResult;
  /** The periods and lines of a chart over time. */
  readonly multipleTimeBasedChart: MultipleTimeBasedResult;
  /** The share of a percentage chart. */
  readonly percentageChart: PercentageResult;
  /** The value and the goal of an objective chart. */
  readonly objectiveChart: ObjectiveResult;
  /** The ranking of a leaderboard, the largest first. */
  readonly leaderboardChart: LeaderboardResult;
  /** The JSON of a smart chart. */
  readonly smartChart: unknown;
}

/** Readers for the agent's own charts, not tied to a record. */
export type ChartReaders = {
  readonly [K in keyof ChartResults]: (name: string) => Promise<ChartResults[K]>;
};

/** Readers for charts of a record. */
export type RecordChartReaders = {
  readonly [K in keyof ChartResults]: (name: string, id: RecordId) => Promise<ChartResults[K]>;
};

type Shape = (value: unknown) => boolean;
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const has =
  (...names: readonly string[]): Shape =>
  (value) =>
    isObject(value) && names.every((name) => name in value);
const listOf =
  (item: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every(item);

const shapes: { readonly [K in keyof ChartResults]: { readonly kind: string; readonly fits: Shape } } = {
  valueChart: { kind: 'value', fits: has('countCurrent') },
  distributionChart: { kind: 'distribution', fits: listOf(has('key', 'value')) },
  timeBasedChart: { kind: 'timeBased', fits: listOf(has('label', 'values')) },
  multipleTimeBasedChart: { kind: 'multipleTimeBased', fits: has('labels', 'values') },
  percentageChart: { kind: 'percentage', fits: (value) => typeof value === 'number' || typeof value === 'string' },
  objectiveChart: { kind: 'objective', fits: has('value', 'objective') },
  leaderboardChart: { kind: 'leaderboard', fits: listOf(has('key', 'value')) },
  smartChart: { kind: 'smart', fits: () => true },
};

/** `read` requests the chart from the agent and returns its value. */
export function createChartReaders<Arguments extends readonly unknown[]>(
  read: (name: string, ...args: Arguments) => Promise<unknown>,
): { readonly [K in keyof ChartResults]: (name: string, ...args: Arguments) => Promise<ChartResults[K]> } {
  const readers = Object.entries(shapes).map(([reader, { kind, fits }]) => [
    reader,
    async (name: string, ...args: Arguments) => {
      const value = await read(name, ...args);
      if (fits(value)) return value;
      const shown = JSON.stringify(value)?.slice(0, 200);
      throw new AgentHttpError(`The chart '${name}' is not a ${kind} chart: it returned ${shown}`, {
        status: 200,
        body: value,
      });
    },
  ]);
  return Object.fromEntries(readers);
}
