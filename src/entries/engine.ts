// The public API of `portico/engine`: the engine by itself, its requests and answers, and the rest of the types that
// customization code uses. Only named exports.

export type { ActionScope } from '../agent/actions/definitions.ts';
export type { AgentBuilder as Blueprint, HeadlessAgent as EngineAgent } from '../agent/agent.ts';
export { createHeadlessAgent as createEngineAgent } from '../agent/agent.ts';
export type {
  AiAnswer,
  AiCallOptions,
  AiChunk,
  AiContent,
  AiMessage,
  AiRequest,
  AiResponseFormat,
  AiTool,
  AiToolCall,
  AiToolChoice,
} from '../agent/ai/definitions.ts';
export type { ChartDate, ChartNumber, ChartResult, Line, TimePoint, TimeRange } from '../agent/charts/definitions.ts';
export type { CodeFilter as InsideFilter, UnscopedCollection as InsideCollection } from '../agent/customize/context.ts';
export type {
  ExternalLister,
  ImportDefinition,
  ManyToManyOptions,
  ManyToOneOptions,
  MetricDefinition,
  OneToManyOptions,
  OperatorReplacer,
  PolymorphicManyToOneOptions,
  PolymorphicOneToManyOptions,
  PolymorphicTarget,
  QueryDefinition,
  QueryParameter,
  SearchReplacer,
} from '../agent/customize/definitions.ts';
export type { EngineParts } from '../agent/customize/engine-parts.ts';
export type {
  OverrideCreateContext,
  OverrideDeleteContext,
  OverrideUpdateContext,
  WriteContext,
} from '../agent/customize/hooks.ts';
export type { TypedCustomizer } from '../agent/customize/typed-customizer.ts';
export type { AnySchema, CollectionName, FieldName, Picked, ValueAt } from '../agent/customize/typed-schema.ts';
export type { WorkflowOptions } from '../agent/customize/workflow-entry.ts';
export type { Engine } from '../agent/engine.ts';
export type { PeriodOptions } from '../agent/lower/previous-period.ts';
export { previousPeriod } from '../agent/lower/previous-period.ts';
export type { ExplainRequests as Explained } from '../agent/operations/explain.ts';
export type {
  AggregateAnswer,
  AggregateRelatedRequest,
  AggregateRequest,
  CallOptions,
  CollectionDescription,
  CollectionSummary,
  CountRelatedRequest,
  CountRequest,
  CreateRequest,
  DeleteRequest,
  EngineLimits,
  FieldDescription,
  ForeignKeyRequest as PointersRequest,
  GetRequest,
  InverseRelation as WayBack,
  InverseRequest as WayBackRequest,
  LinkRequest,
  ListAnswer,
  ListRelatedRequest,
  ListRequest,
  ParentRecord as Parent,
  RelationDescription,
  SetRelationRequest as PointRequest,
  UpdateRequest,
  WriteAnswer,
  WriteOptions,
} from '../agent/requests.ts';
export type { FieldMeaning, Meaning } from '../core/caller/meanings.ts';
export type { Access, PermissionLevel } from '../core/caller.ts';
export { fullAccess } from '../core/caller.ts';
export type { PlainColumn } from '../core/filter/columns.ts';
export type { PlainExpression } from '../core/filter/expression.ts';
export type { PlainGroup, PlainGroupSort, PlainHaving, PlainMeasure, PlainMeasures } from '../core/filter/measures.ts';
export type { PlainBranch, PlainComparison, PlainLeaf } from '../core/filter.ts';
export type { Observation, Observe } from '../core/observe.ts';
