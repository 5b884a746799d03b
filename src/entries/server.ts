// The public API of `portico/server`: a server from a configuration, without an agent. Only named exports.

export type { Config, ConfigInput } from '../core/config.ts';
export { loadConfig } from '../core/config.ts';
export type { AgentSettings } from '../server/agent/options.ts';
export type { App, Started } from '../server/create-server.ts';
export { createApp } from '../server/create-server.ts';
export type { AppOptions } from '../server/options.ts';
export type { StepMode, WorkflowDefinition, WorkflowStep } from '../workflows/definition/definition.ts';
