// The settings of an agent in a host application. Options and calls in code win, the environment fills in what they
// leave out. The defaults differ from those of the command line.
import type { EngineParts } from '../../agent/customize/engine-parts.ts';
import { systemClock } from '../../core/clock.ts';
import { intersect } from '../../core/config/layers.ts';
import {
  type Config,
  type ConfigInput,
  loadConfig,
  processEnvironment,
  type SettingValues,
} from '../../core/config.ts';
import { createFunctionListener, createLogListener, type Observe } from '../../core/observe.ts';
import { selectTools } from '../../mcp/tools.ts';
import { reservedNames } from '../../rest/reserved.ts';
import type { CheckedOptions, McpOptions } from './options.ts';

/** The arguments of `mountOnStandaloneServer`. */
export interface StandaloneAt {
  readonly port?: number;
  readonly host?: string;
}

interface Mounts {
  readonly mcp: McpOptions | undefined;
  readonly standalone: StandaloneAt | undefined;
}

/** Throws CONFIGURATION like `loadConfig`. */
export function createAgentConfig({ code: options }: CheckedOptions, { mcp, standalone }: Mounts): Config {
  const { enabledTools = options.enabledTools, basePath = options.basePath } = mcp ?? {};
  const allowed =
    enabledTools && options.enabledTools
      ? intersect(enabledTools, options.enabledTools, "The setting 'enabledTools'")
      : enabledTools;
  const code: SettingValues = {
    ...options,
    ...standalone,
    ...(allowed && { enabledTools: allowed }),
    ...(basePath !== undefined && { basePath }),
  };
  const env = processEnvironment();
  // A name that matches no tool is an error, even if the list in code would drop it.
  selectTools(loadConfig({ env: { SERVICE_MCP_ENABLED_TOOLS: env.SERVICE_MCP_ENABLED_TOOLS } }).enabledTools, () => {});
  return loadConfig({ code, env, file: defaultsBelow(prefixOf({ code, env })) });
}

/** In a host application, every default path starts with the prefix. */
function defaultsBelow(prefix: string): SettingValues {
  return {
    logLevel: 'Info',
    prefix,
    consolePath: `${prefix}/_console`,
    apiPath: `${prefix}/_api`,
    platformPath: `${prefix}/_platform`,
  };
}

function prefixOf(input: ConfigInput): string {
  return loadConfig({ ...input, file: defaultsBelow('/service') }).prefix;
}

export function createAgentLog({ logLevel }: Config, { logger }: CheckedOptions): Observe {
  return logger ? createFunctionListener(logger, logLevel) : createLogListener(logLevel);
}

/** Warns once per start about variables that are set but overridden by code. */
export function warnAboutUnused({ unused }: Config, observe: Observe): void {
  for (const name of unused)
    observe({ type: 'warning', message: `${name} is ignored: code sets another value, which takes precedence.` });
}

export function createEngineParts(config: Config, options: CheckedOptions): EngineParts {
  const limits = {
    pageSizeLimit: config.pageSizeLimit,
    queryTimeoutMs: config.querySeconds * 1000,
    queriesAtOnce: config.queriesAtOnce,
  };
  const { useUnsafeActionEndpoint } = options;
  const observe = createAgentLog(config, options);
  const { schemaSeconds } = config;
  return {
    observe,
    clock: systemClock,
    limits,
    schemaSeconds,
    useUnsafeActionEndpoint,
    reservedNames: reservedNames(config),
  };
}
