// The public surface: named exports, nothing else.

export type { ActionDefinition, ActionScope, FormElement, FormField } from './agent/actions/definitions.ts';
export { ActionError } from './agent/actions/failure.ts';
export type { ActionResult, ResultBuilder } from './agent/actions/results.ts';
export type { AgentPlugin, DataSourceFactory, EngineAgent, EngineParts, SourceTools } from './agent/agent.ts';
export { createEngineAgent } from './agent/agent.ts';
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
export type { CollectionCustomizer, CollectionPlugin } from './agent/customize/customizer.ts';
export type {
  AfterListContext,
  BeforeListContext,
  CodeRecord,
  ComputedDefinition,
  CustomizationContext,
  DataSourceOptions,
  ImportDefinition,
  InsideCollection,
  InsideFilter,
  ManyToOneOptions,
  OneToManyOptions,
  OperatorReplacer,
  SearchReplacer,
  SegmentDefinition,
} from './agent/customize/definitions.ts';
export type { SqlDataSourceOptions } from './agent/data-sources.ts';
export { createMemoryDataSource, createSqlDataSource } from './agent/data-sources.ts';
export type { Engine } from './agent/engine.ts';
export type { PeriodOptions } from './agent/query/previous-period.ts';
export { previousPeriod } from './agent/query/previous-period.ts';
export type { MemoryColumn, MemoryTable } from './agent/sources/memory.ts';
export type { App, AppOptions, Started } from './app.ts';
export { createApp } from './app.ts';
export type { Caller, PermissionLevel } from './core/caller.ts';
export type { Config, ConfigInput } from './core/config.ts';
export { loadConfig } from './core/config.ts';
export type { ErrorCode } from './core/errors.ts';
export { AppError } from './core/errors.ts';
export type { Operator, PlainBranch, PlainFilter, PlainLeaf, PlainSort } from './core/filter.ts';
export type { LogLevel, Observation, Observe } from './core/observe.ts';
