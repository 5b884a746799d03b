// The public API of `portico/testing`. Only named exports.
export type { ActionOutcome } from './action-results.ts';
export { createAgentTestClient } from './agent-client.ts';
export type { ChartReaders, RecordChartReaders } from './charts.ts';
export type { PlainRecord } from './documents.ts';
export type { FormProblem } from './failures.ts';
export {
  ActionFormValidationError,
  ActionRequiresApprovalError,
  AgentHttpError,
  UnknownActionFieldError,
} from './failures.ts';
export type { McpTestClient, McpTestClientOptions, McpTool } from './mcp-client.ts';
export { createMcpTestClient, McpToolError } from './mcp-client.ts';
export type { TestClientOptions } from './options.ts';
export type { PermissionOverride, PermissionOverrides } from './rights.ts';
export type { Sandbox } from './sandbox.ts';
export { createForestServerSandbox, createServiceServerSandbox } from './sandbox.ts';
export type { TestableAgent, TestableAgentOptions } from './testable-agent.ts';
export { createTestableAgent } from './testable-agent.ts';
export type {
  ActionFieldClient,
  ActionFormClient,
  ActionTarget,
  AgentTestClient,
  Capabilities,
  CollectionClient,
  CsvOptions,
  FieldOption,
  GivenFile,
  ListOptions,
  RecordIds,
  RelationClient,
  SegmentClient,
  SelectOptions,
  Timing,
} from './typed-client.ts';
