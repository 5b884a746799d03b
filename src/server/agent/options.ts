// Checks the options of createAgent and mountAiMcpServer. Each option is a row of a table that says what is expected.
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  checkOptions,
  isText,
  type OptionRule,
  type OptionRules,
  refuseOption,
} from '../../agent/customize/option-checks.ts';
import { parseSettings } from '../../core/config/given.ts';
import { type Config, loadConfig, type SettingName, type SettingValues, settings } from '../../core/config.ts';
import { isAppError } from '../../core/errors.ts';
import { type LogFunction, type LogLevel, logLevels } from '../../core/observe.ts';
import { selectTools, toolNames } from '../../mcp/tools.ts';
import type { Authenticate, HostSignInOptions } from '../../oauth/login/host-sign-in.ts';

/** Options of `createAgent` (behaviour 2.1), plus `settings`. */
export interface AgentOptions {
  /** The authentication secret of the environment. It signs the sessions of the HTTP API. */
  readonly authSecret: string;
  /** The environment secret. It identifies the environment that a storage belongs to. */
  readonly envSecret: string;
  /**
   * URL of another Portico server that stores users, permissions and logs for this agent. If it has a path, that is the
   * path of its platform endpoint. Default: this agent stores them itself.
   */
  readonly serverUrl?: string;
  /** If true, the agent reads the schema file and writes neither it nor the typings. Default false. */
  readonly isProduction?: boolean;
  /** Receives each log line. Default: JSON lines on standard error. */
  readonly logger?: LogFunction;
  /** Default: SERVICE_LOG_LEVEL, else `Info`. */
  readonly loggerLevel?: LogLevel;
  /** Path of the HTTP API. Default `/service`. */
  readonly prefix?: string;
  /** Path of the console. Default `_console` under the prefix. */
  readonly consolePath?: string;
  /** Path before `/v1` of the public API. Default `_api` under the prefix. */
  readonly apiPath?: string;
  /** Path of the schema file. Default `.service-schema.json` in the working directory. */
  readonly schemaPath?: string;
  /** File for the typings, written at the start. Default: no typings. */
  readonly typingsPath?: string;
  /** The number of relations that a path in the typings may follow, 1 to 10. Default 5. */
  readonly typingsMaxDepth?: number;
  /** Leaves the position of the action out of action URLs. Default false. */
  readonly useUnsafeActionEndpoint?: boolean;
  /**
   * Returns the signed-in user of the application for a request. Called only on the sign-in pages of Portico. Default:
   * users sign in at Portico.
   */
  readonly authenticate?: Authenticate;
  /**
   * With `authenticate`: the sign-in page of the application, as a path or an http(s) URL. `{returnTo}` in it is
   * replaced by the URL to return to. Without the placeholder, a `returnTo` parameter is added. Default: the sign-in
   * page of Portico.
   */
  readonly signInUrl?: string;
  /**
   * With `authenticate`: whether users of Portico may sign in with a password. Default: true only without a
   * `signInUrl`.
   */
  readonly passwordSignIn?: boolean;
  /**
   * The settings of docs/configuration.md by their names in code, such as `dataDir`. They win over the environment;
   * lists of allowed or denied names are combined with it. Default: the environment, else the defaults of the settings.
   */
  readonly settings?: AgentSettings;
}

/** The settings of the configuration by their names in code, except those set by options and calls. */
export type AgentSettings = Partial<{ readonly [K in Exclude<SettingName, OptionSetting>]: Config[K] }>;

/** Set by an option or a call, and therefore not part of `settings`. */
type OptionSetting = 'database' | 'envSecret' | 'serverUrl';

/** Options that are settings. */
type SettingOption = 'loggerLevel' | 'serverUrl' | 'prefix' | 'consolePath' | 'apiPath';

type SignInOption = 'authenticate' | 'signInUrl' | 'passwordSignIn';

export interface CheckedOptions
  extends Required<Omit<AgentOptions, 'logger' | 'typingsPath' | 'settings' | SettingOption | SignInOption>> {
  readonly hostSignIn: HostSignInOptions | undefined;
  readonly logger: LogFunction | null;
  readonly typingsPath: string | null;
  /** The settings from the options. */
  readonly code: SettingValues;
}

/** Options of `mountAiMcpServer`. */
export interface McpOptions {
  /** Serve exactly these tools. Default: `SERVICE_MCP_ENABLED_TOOLS`, else all. */
  readonly enabledTools?: readonly string[];
  /** Path before /mcp and /oauth. Default: `SERVICE_MCP_BASE_PATH`, else the root. */
  readonly basePath?: string;
}

/** CWE-601: browsers treat a path with two leading slashes, or with a backslash, as the URL of another site. */
const isPageAddress = (value: unknown): boolean => {
  if (!isText(value) || /[\\\s\p{C}]/u.test(value)) return false;
  return /^\/(?!\/)/.test(value) || (/^https?:\/\//.test(value) && URL.canParse(value.replaceAll('{returnTo}', '')));
};
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const secret: OptionRule = { required: true, expected: 'a string that is not empty', accepts: isText };
const flag: OptionRule = { expected: 'true or false', accepts: isFlag };
const filePath: OptionRule = {
  expected: 'the path of a file in an existing folder',
  accepts: (value) => isText(value) && existsSync(dirname(resolve(value))),
};

const agentRows: OptionRules<AgentOptions> = {
  authSecret: secret,
  envSecret: secret,
  serverUrl: {
    expected: "an address such as 'https://platform.example.com'",
    accepts: (value) => isText(value) && /^https?:\/\//.test(value) && URL.canParse(value),
  },
  isProduction: flag,
  logger: { expected: 'a function (level, message, error?)', accepts: (value) => typeof value === 'function' },
  loggerLevel: {
    expected: `one of ${logLevels.join(', ')}`,
    accepts: (value) => (logLevels as readonly unknown[]).includes(value),
  },
  prefix: {
    expected: "a path such as '/service', of letters, digits, '-', '_' and '~'",
    accepts: (value) => typeof value === 'string' && /^\/*[-~\w]+(\/+[-~\w]+)*\/*$|^\/*$/.test(value),
  },
  consolePath: {
    expected: "a path such as '/console', of letters, digits, '-', '_' and '~'",
    accepts: (value) => typeof value === 'string' && /^\/*[-~\w]+(\/+[-~\w]+)*\/*$/.test(value),
  },
  apiPath: {
    expected: "a path such as '/api', of letters, digits, '-', '_' and '~'",
    accepts: (value) => typeof value === 'string' && /^\/*[-~\w]+(\/+[-~\w]+)*\/*$|^\/*$/.test(value),
  },
  schemaPath: filePath,
  typingsPath: filePath,
  typingsMaxDepth: {
    expected: 'a whole number from 1 to 10',
    accepts: (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 10,
  },
  useUnsafeActionEndpoint: flag,
  authenticate: { expected: 'a function (req) => caller or null', accepts: (value) => typeof value === 'function' },
  signInUrl: {
    expected: "a path such as '/login', or an address that begins with https:// or http://",
    accepts: isPageAddress,
  },
  passwordSignIn: flag,
  settings: { expected: 'an object', accepts: (value) => typeof value === 'object' && !Array.isArray(value) },
};

const isList = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

const mcpRows: OptionRules<McpOptions> = {
  enabledTools: { expected: `a list of tools, from ${toolNames.join(', ')}`, accepts: isList },
  basePath: { expected: 'a path', accepts: (value) => typeof value === 'string' },
};

/** Throws CONFIGURATION, with similar names, for options that are missing, unknown or invalid. Never shows secrets. */
export function checkAgentOptions(options: AgentOptions, at: string): CheckedOptions {
  checkOptions('createAgent', options, agentRows, at);
  const { schemaPath = '.service-schema.json' } = options;
  const { loggerLevel: logLevel, serverUrl, prefix, consolePath, apiPath } = options;
  const settingOptions = { logLevel, serverUrl, prefix, consolePath, apiPath };
  return {
    authSecret: options.authSecret,
    envSecret: options.envSecret,
    isProduction: options.isProduction ?? false,
    logger: options.logger ?? null,
    schemaPath: resolve(schemaPath),
    typingsPath: options.typingsPath === undefined ? null : resolve(options.typingsPath),
    typingsMaxDepth: options.typingsMaxDepth ?? 5,
    useUnsafeActionEndpoint: options.useUnsafeActionEndpoint ?? false,
    hostSignIn: checkHostSignIn(options, at),
    code: { ...checkSettings(options.settings ?? {}, at), ...withoutUndefined(settingOptions) },
  };
}

function checkHostSignIn(options: AgentOptions, at: string): HostSignInOptions | undefined {
  const { authenticate, signInUrl = null, passwordSignIn } = options;
  if (authenticate) return { authenticate, signInUrl, passwords: passwordSignIn ?? signInUrl === null };
  const dependentOption = (['signInUrl', 'passwordSignIn'] as const).find((name) => options[name] !== undefined);
  if (dependentOption)
    refuseOption(`createAgent: '${dependentOption}' requires 'authenticate', the sign-in of the application`, at);
  return undefined;
}

const withoutUndefined = <T extends object>(input: T): { readonly [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as T;

export function checkMcpOptions(options: McpOptions, at: string): McpOptions {
  checkOptions('mountAiMcpServer', options, mcpRows, at);
  const { basePath = '', enabledTools = null } = options;
  try {
    loadConfig({ file: { basePath } });
    selectTools(enabledTools, () => undefined);
  } catch (error) {
    // Errors in code are reported with its line. The start checks again, with the environment.
    if (isAppError(error, 'CONFIGURATION')) refuseOption(error.message.replace(/\.$/, ''), at);
    throw error;
  }
  return options;
}

export function checkTypingsOptions(typingsPath: unknown, typingsMaxDepth: unknown, at: string): void {
  const { typingsPath: path, typingsMaxDepth: depth } = agentRows;
  checkOptions(
    'updateTypesOnFileSystem',
    { typingsPath, typingsMaxDepth },
    { typingsPath: { ...path, required: true }, typingsMaxDepth: { ...depth, required: true } },
    at,
  );
}

function checkSettings(settingValues: AgentSettings, at: string): SettingValues {
  const { database: _database, envSecret: _envSecret, serverUrl: _serverUrl, ...rows } = settings;
  const own: readonly string[] = ['envSecret', 'serverUrl'] satisfies readonly OptionSetting[];
  for (const name of Object.keys(settingValues)) {
    if (name === 'database')
      refuseOption("settings: 'database' is not allowed here: add the served data with addDataSource", at);
    if (own.includes(name)) refuseOption(`settings: '${name}' is an option of createAgent itself`, at);
  }
  return parseSettings(rows, settingValues, (problem) => refuseOption(problem, at));
}
