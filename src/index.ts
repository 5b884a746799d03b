// The public surface: named exports, nothing else.
export type { ActionDefinition, ActionScope, FormElement, FormField } from './agent/actions/definitions.ts';
export { ActionError } from './agent/actions/failure.ts';
export type { ActionResult, ResultBuilder } from './agent/actions/results.ts';
export type { App, AppOptions, Started } from './app.ts';
export { createApp } from './app.ts';
export type { Caller, PermissionLevel } from './core/caller.ts';
export type { Config, ConfigInput } from './core/config.ts';
export { loadConfig } from './core/config.ts';
export type { ErrorCode } from './core/errors.ts';
export { AppError } from './core/errors.ts';
export type { Operator, PlainBranch, PlainFilter, PlainLeaf, PlainSort } from './core/filter.ts';
export type { LogLevel, Observation, Observe } from './core/observe.ts';
