// The settings of an agent in a host application: what calls name goes before the environment, and that before `settings`.
import type { EngineParts } from '../agent/agent.ts';
import { systemClock } from '../core/clock.ts';
import { type Config, loadConfig, processEnvironment } from '../core/config.ts';
import { createFunctionListener, createLogListener, type Observe } from '../core/observe.ts';
import type { CheckedOptions, McpOptions } from './options.ts';

/** What `mountOnStandaloneServer` was given. */
export interface StandaloneAt {
  readonly port?: number;
  readonly host?: string;
}

export interface Mounts {
  readonly mcp: McpOptions | undefined;
  readonly standalone: StandaloneAt | undefined;
}

/** CONFIGURATION as of `loadConfig`. */
export function createAgentConfig(
  { settings, loggerLevel, consolePath, prefix, apiPath, serverUrl }: CheckedOptions,
  { mcp, standalone }: Mounts,
): Config {
  const { enabledTools, basePath } = mcp ?? {};
  const { port, host } = standalone ?? {};
  return loadConfig({
    flags: {
      ...(loggerLevel && { logLevel: loggerLevel }),
      ...(port !== undefined && { port: String(port) }),
      ...(host !== undefined && { host }),
    },
    env: processEnvironment(),
    file: {
      logLevel: 'Info',
      consolePath,
      prefix,
      apiPath,
      platformPath: `${prefix}/_platform`,
      ...(serverUrl !== null && { serverUrl }),
      ...settings,
      ...(enabledTools && { enabledTools }),
      ...(basePath !== undefined && { basePath }),
    },
  });
}

export function createAgentLog({ logLevel }: Config, { logger }: CheckedOptions): Observe {
  return logger ? createFunctionListener(logger, logLevel) : createLogListener(logLevel);
}

export function createEngineParts(config: Config, options: CheckedOptions): EngineParts {
  const limits = { pageSizeLimit: config.pageSizeLimit, queryTimeoutMs: config.querySeconds * 1000 };
  const { useUnsafeActionEndpoint } = options;
  return { observe: createAgentLog(config, options), clock: systemClock, limits, useUnsafeActionEndpoint };
}
