// The public API: only named exports. `portico/engine`, `portico/server` and `portico/sources` have the rest.

export type { ActionDefinition, FormElement, FormField } from './agent/actions/definitions.ts';
export { ActionError } from './agent/actions/failure.ts';
export type { ActionResult, ResultBuilder } from './agent/actions/results.ts';
export type { AgentPlugin, HeadlessAgent as EngineAgent } from './agent/agent.ts';
export type { AiProvider, AiProviderOptions } from './agent/ai/definitions.ts';
export { createAiProvider } from './agent/ai/provider.ts';
export type {
  ChartBuilder,
  ChartContext,
  ChartDefinition,
  MeasuresChart,
  RecordChartContext,
} from './agent/charts/definitions.ts';
export type { CodeRecord, CustomizationContext } from './agent/customize/context.ts';
export type { CollectionCustomizer, CollectionPlugin } from './agent/customize/customizer.ts';
export type {
  ComputedDefinition,
  DataSourceOptions,
  ExternalRelationDefinition,
  SegmentDefinition,
} from './agent/customize/definitions.ts';
export type { DataSourceFactory } from './agent/customize/engine-parts.ts';
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
} from './agent/customize/hooks.ts';
export type { CustomizerOf } from './agent/customize/typed-customizer.ts';
export type { FilterOf, PatchOf, Path, RecordOf } from './agent/customize/typed-schema.ts';
export type { WorkflowSource } from './agent/customize/workflow-entry.ts';
export type { SqlDataSourceOptions } from './agent/data-sources.ts';
export { createMemoryDataSource, createSqlDataSource } from './agent/data-sources.ts';
export type { Engine } from './agent/engine.ts';
export type { MemoryTable } from './agent/sources/memory/tables.ts';
export type { SqlConnectionOptions } from './agent/sources/sql/connection/address.ts';
export type { Caller } from './core/caller.ts';
export type { ErrorCode } from './core/errors.ts';
export { AppError } from './core/errors.ts';
export type { Operator, PlainFilter, PlainSort } from './core/filter.ts';
export type { LogFunction, LogLevel } from './core/observe.ts';
// Aliases for one version, until the next one removes them.
export type {
  /** @deprecated Import it from "portico/engine". */
  ActionScope,
  /** @deprecated Import it from "portico/engine". */
  AiAnswer,
  /** @deprecated Import it from "portico/engine". */
  AiCallOptions,
  /** @deprecated Import it from "portico/engine". */
  AiChunk,
  /** @deprecated Import it from "portico/engine". */
  AiContent,
  /** @deprecated Import it from "portico/engine". */
  AiMessage,
  /** @deprecated Import it from "portico/engine". */
  AiRequest,
  /** @deprecated Import it from "portico/engine". */
  AiResponseFormat,
  /** @deprecated Import it from "portico/engine". */
  AiTool,
  /** @deprecated Import it from "portico/engine". */
  AiToolCall,
  /** @deprecated Import it from "portico/engine". */
  AiToolChoice,
  /** @deprecated Import it from "portico/engine". */
  AnySchema,
  /** @deprecated Import it from "portico/engine". */
  Blueprint,
  /** @deprecated Import it from "portico/engine". */
  ChartDate,
  /** @deprecated Import it from "portico/engine". */
  ChartNumber,
  /** @deprecated Import it from "portico/engine". */
  ChartResult,
  /** @deprecated Import it from "portico/engine". */
  CollectionName,
  /** @deprecated Import it from "portico/engine". */
  EngineParts,
  /** @deprecated Import it from "portico/engine". */
  ExternalLister,
  /** @deprecated Import it from "portico/engine". */
  FieldName,
  /** @deprecated Import it from "portico/engine". */
  ImportDefinition,
  /** @deprecated Import it from "portico/engine". */
  InsideCollection,
  /** @deprecated Import it from "portico/engine". */
  InsideFilter,
  /** @deprecated Import it from "portico/engine". */
  Line,
  /** @deprecated Import it from "portico/engine". */
  ManyToManyOptions,
  /** @deprecated Import it from "portico/engine". */
  ManyToOneOptions,
  /** @deprecated Import it from "portico/engine". */
  Observation,
  /** @deprecated Import it from "portico/engine". */
  Observe,
  /** @deprecated Import it from "portico/engine". */
  OneToManyOptions,
  /** @deprecated Import it from "portico/engine". */
  OperatorReplacer,
  /** @deprecated Import it from "portico/engine". */
  OverrideCreateContext,
  /** @deprecated Import it from "portico/engine". */
  OverrideDeleteContext,
  /** @deprecated Import it from "portico/engine". */
  OverrideUpdateContext,
  /** @deprecated Import it from "portico/engine". */
  PeriodOptions,
  /** @deprecated Import it from "portico/engine". */
  PermissionLevel,
  /** @deprecated Import it from "portico/engine". */
  Picked,
  /** @deprecated Import it from "portico/engine". */
  PlainBranch,
  /** @deprecated Import it from "portico/engine". */
  PlainLeaf,
  /** @deprecated Import it from "portico/engine". */
  PolymorphicManyToOneOptions,
  /** @deprecated Import it from "portico/engine". */
  PolymorphicOneToManyOptions,
  /** @deprecated Import it from "portico/engine". */
  PolymorphicTarget,
  /** @deprecated Import it from "portico/engine". */
  SearchReplacer,
  /** @deprecated Import it from "portico/engine". */
  TimePoint,
  /** @deprecated Import it from "portico/engine". */
  TimeRange,
  /** @deprecated Import it from "portico/engine". */
  TypedCustomizer,
  /** @deprecated Import it from "portico/engine". */
  ValueAt,
  /** @deprecated Import it from "portico/engine". */
  WorkflowOptions,
  /** @deprecated Import it from "portico/engine". */
  WriteContext,
} from './entries/engine.ts';
export {
  /** @deprecated Import it from "portico/engine". */
  createEngineAgent,
  /** @deprecated Import it from "portico/engine". */
  previousPeriod,
} from './entries/engine.ts';
export type {
  /** @deprecated Import it from "portico/server". */
  AgentSettings,
  /** @deprecated Import it from "portico/server". */
  App,
  /** @deprecated Import it from "portico/server". */
  AppOptions,
  /** @deprecated Import it from "portico/server". */
  Config,
  /** @deprecated Import it from "portico/server". */
  ConfigInput,
  /** @deprecated Import it from "portico/server". */
  Started,
  /** @deprecated Import it from "portico/server". */
  StepMode,
  /** @deprecated Import it from "portico/server". */
  WorkflowDefinition,
  /** @deprecated Import it from "portico/server". */
  WorkflowStep,
} from './entries/server.ts';
export {
  /** @deprecated Import it from "portico/server". */
  createApp,
  /** @deprecated Import it from "portico/server". */
  loadConfig,
} from './entries/server.ts';
export type {
  /** @deprecated Import it from "portico/sources". */
  ColumnType,
  /** @deprecated Import it from "portico/sources". */
  CountSelect,
  /** @deprecated Import it from "portico/sources". */
  Described,
  /** @deprecated Import it from "portico/sources". */
  DescribedColumn,
  /** @deprecated Import it from "portico/sources". */
  DescribedForeignKey,
  /** @deprecated Import it from "portico/sources". */
  DescribedTable,
  /** @deprecated Import it from "portico/sources". */
  Join,
  /** @deprecated Import it from "portico/sources". */
  MemoryColumn,
  /** @deprecated Import it from "portico/sources". */
  PoolOptions,
  /** @deprecated Import it from "portico/sources". */
  PrimitiveType,
  /** @deprecated Import it from "portico/sources". */
  ReadOptions,
  /** @deprecated Import it from "portico/sources". */
  Row,
  /** @deprecated Import it from "portico/sources". */
  Select,
  /** @deprecated Import it from "portico/sources". */
  Source,
  /** @deprecated Import it from "portico/sources". */
  SourceFilter,
  /** @deprecated Import it from "portico/sources". */
  SourceOrder,
  /** @deprecated Import it from "portico/sources". */
  SourcePath,
  /** @deprecated Import it from "portico/sources". */
  SourceTools,
  /** @deprecated Import it from "portico/sources". */
  TlsFiles,
  /** @deprecated Import it from "portico/sources". */
  TlsMode,
  /** @deprecated Import it from "portico/sources". */
  Writing,
} from './entries/sources.ts';
export {
  /** @deprecated Import it from "portico/sources". */
  createMemorySource,
} from './entries/sources.ts';
export type { Authenticate, HostCaller } from './oauth/login/host-sign-in.ts';
export type { Agent, AgentStarted } from './server/agent/create-agent.ts';
export { createAgent } from './server/agent/create-agent.ts';
export type { AgentOptions, McpOptions } from './server/agent/options.ts';
