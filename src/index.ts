// The public API: only named exports.

export type { ActionDefinition, ActionScope, FormElement, FormField } from './agent/actions/definitions.ts';
export { ActionError } from './agent/actions/failure.ts';
export type { ActionResult, ResultBuilder } from './agent/actions/results.ts';
export type {
  AgentPlugin,
  Blueprint,
  DataSourceFactory,
  EngineAgent,
  EngineParts,
  SourceTools,
} from './agent/agent.ts';
export { createEngineAgent } from './agent/agent.ts';
export type {
  AiAnswer,
  AiCallOptions,
  AiChunk,
  AiContent,
  AiMessage,
  AiProvider,
  AiProviderOptions,
  AiRequest,
  AiResponseFormat,
  AiTool,
  AiToolCall,
  AiToolChoice,
} from './agent/ai/definitions.ts';
export { createAiProvider } from './agent/ai/provider.ts';
export type {
  ChartBuilder,
  ChartContext,
  ChartDate,
  ChartDefinition,
  ChartNumber,
  ChartResult,
  Line,
  RecordChartContext,
  TimePoint,
  TimeRange,
} from './agent/charts/definitions.ts';
export type { CodeRecord, CustomizationContext, InsideCollection, InsideFilter } from './agent/customize/context.ts';
export type { CollectionCustomizer, CollectionPlugin } from './agent/customize/customizer.ts';
export type {
  ComputedDefinition,
  DataSourceOptions,
  ExternalLister,
  ExternalRelationDefinition,
  ImportDefinition,
  ManyToManyOptions,
  ManyToOneOptions,
  OneToManyOptions,
  OperatorReplacer,
  PolymorphicManyToOneOptions,
  PolymorphicOneToManyOptions,
  PolymorphicTarget,
  SearchReplacer,
  SegmentDefinition,
} from './agent/customize/definitions.ts';
export type {
  AfterAggregateContext,
  AfterCreateContext,
  AfterDeleteContext,
  AfterListContext,
  AfterUpdateContext,
  BeforeAggregateContext,
  BeforeCreateContext,
  BeforeDeleteContext,
  BeforeListContext,
  BeforeUpdateContext,
  FieldWriter,
  HookContext,
  OverrideCreateContext,
  OverrideDeleteContext,
  OverrideUpdateContext,
  WriteContext,
} from './agent/customize/hooks.ts';
export type { CustomizerOf, TypedCustomizer } from './agent/customize/typed-customizer.ts';
export type {
  AnySchema,
  CollectionName,
  FieldName,
  FilterOf,
  PatchOf,
  Path,
  Picked,
  RecordOf,
  ValueAt,
} from './agent/customize/typed-schema.ts';
export type { WorkflowOptions, WorkflowSource } from './agent/customize/workflow-entry.ts';
export type { SqlDataSourceOptions } from './agent/data-sources.ts';
export { createMemoryDataSource, createSqlDataSource } from './agent/data-sources.ts';
export type { Engine } from './agent/engine.ts';
export type { PeriodOptions } from './agent/lower/previous-period.ts';
export { previousPeriod } from './agent/lower/previous-period.ts';
export type { Filter as SourceFilter, Order as SourceOrder, Path as SourcePath } from './agent/plan/types.ts';
export type { ColumnType, PrimitiveType } from './agent/sources/column-types.ts';
export type { Described, DescribedColumn, DescribedForeignKey, DescribedTable } from './agent/sources/described.ts';
export { createMemorySource } from './agent/sources/memory/source.ts';
export type { MemoryColumn, MemoryTable } from './agent/sources/memory/tables.ts';
export type { ReadOptions, Source, Writing } from './agent/sources/source.ts';
export type { PoolOptions, SqlConnectionOptions, TlsFiles, TlsMode } from './agent/sources/sql/connection/address.ts';
export type { CountSelect, Join, Row, Select } from './agent/sources/statement.ts';
export type { Caller, PermissionLevel } from './core/caller.ts';
export type { Config, ConfigInput } from './core/config.ts';
export { loadConfig } from './core/config.ts';
export type { ErrorCode } from './core/errors.ts';
export { AppError } from './core/errors.ts';
export type { Operator, PlainBranch, PlainFilter, PlainLeaf, PlainSort } from './core/filter.ts';
export type { LogFunction, LogLevel, Observation, Observe } from './core/observe.ts';
export type { Authenticate, HostCaller } from './oauth/login/host-sign-in.ts';
export type { Agent, AgentStarted } from './server/agent/create-agent.ts';
export { createAgent } from './server/agent/create-agent.ts';
export type { AgentOptions, AgentSettings, McpOptions } from './server/agent/options.ts';
export type { App, AppOptions, Started } from './server/create-server.ts';
export { createApp } from './server/create-server.ts';
export type { StepMode, WorkflowDefinition, WorkflowStep } from './workflows/definition/definition.ts';
