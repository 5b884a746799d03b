// The public surface: named exports, nothing else.
export type {
  ChartBuilder,
  ChartDate,
  ChartDefinition,
  ChartNumber,
  ChartResult,
  Charts,
  Line,
  TimePoint,
  TimeRange,
} from './agent/charts.ts';
export { createChartBuilder, renderChart } from './agent/charts.ts';
export type { PeriodOptions } from './agent/query/previous-period.ts';
export { previousPeriod } from './agent/query/previous-period.ts';
export type { App, AppOptions, Started } from './app.ts';
export { createApp } from './app.ts';
export type { Caller, PermissionLevel } from './core/caller.ts';
export type { Config, ConfigInput } from './core/config.ts';
export { loadConfig } from './core/config.ts';
export type { ErrorCode } from './core/errors.ts';
export { AppError } from './core/errors.ts';
export type { Operator, PlainBranch, PlainFilter, PlainLeaf, PlainSort } from './core/filter.ts';
export type { LogLevel, Observation, Observe } from './core/observe.ts';
