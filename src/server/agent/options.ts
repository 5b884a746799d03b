// Checks the options of createAgent and mountAiMcpServer. Each option is a row of a table that says what is expected.
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  checkRows,
  isText,
  type OptionRow,
  type OptionRows,
  refuseOption,
} from '../../agent/customize/option-checks.ts';
import { readGiven } from '../../core/config/given.ts';
import { type Config, type GivenSettings, loadConfig, type SettingName, settings } from '../../core/config.ts';
import { isAppError } from '../../core/errors.ts';
import { type LogFunction, type LogLevel, logLevels } from '../../core/observe.ts';
import { selectTools, toolNames } from '../../mcp/tools.ts';
import type { Authenticate, HostSignInOptions } from '../../oauth/login/host-sign-in.ts';

/** Options of `createAgent` (spec 2.1), plus `settings`. */
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
  /** Replaces the JSON lines on standard error. */
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
  /** How many relations a path in the typings may follow, 1 to 10. Default 5. */
  readonly typingsMaxDepth?: number;
  /** Leaves the position of the action out of action URLs. Default false. */
  readonly useUnsafeActionEndpoint?: boolean;
  /** Returns the signed-in user of the application for a request. Called only on the sign-in pages of Portico. */
  readonly authenticate?: Authenticate;
  /**
   * With `authenticate`: the sign-in page of the application, as a path or an http(s) URL. `{returnTo}` in it is
   * replaced by the URL to return to. Without the placeholder, a `returnTo` parameter is added.
   */
  readonly signInUrl?: string;
  /**
   * With `authenticate`: whether users of Portico may sign in with a password. Default: true only without a
   * `signInUrl`.
   */
  readonly passwordSignIn?: boolean;
  /**
   * The settings of docs/configuration.md by their names in code, such as `dataDir`. They win over the environment;
   * lists of allowed or denied names are combined with it.
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
  readonly code: GivenSettings;
}

/** Options of `mountAiMcpServer`. */
export interface McpOptions {
  /** Serve exactly these tools. Default: all. */
  readonly enabledTools?: readonly string[];
  /** Path before /mcp and /oauth. */
  readonly basePath?: string;
}

/** CWE-601: browsers treat a path with two leading slashes, or with a backslash, as the URL of another site. */
const isPageAddress = (value: unknown): boolean => {
  if (!isText(value) || /[\\\s\p{C}]/u.test(value)) return false;
  return /^\/(?!\/)/.test(value) || (/^https?:\/\//.test(value) && URL.canParse(value.replaceAll('{returnTo}', '')));
};
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const secret: OptionRow = { required: true, expected: 'a text that is not empty', takes: isText };
const flag: OptionRow = { expected: 'true or false', takes: isFlag };
const filePath: OptionRow = {
  expected: 'the path of a file in a folder that is there',
  takes: (value) => isText(value) && existsSync(dirname(resolve(value))),
};

const agentRows: OptionRows<AgentOptions> = {
  authSecret: secret,
  envSecret: secret,
  serverUrl: {
    expected: "an address such as 'https://platform.example.com'",
    takes: (value) => isText(value) && /^https?:\/\//.test(value) && URL.canParse(value),
  },
  isProduction: flag,
  logger: { expected: 'a function (level, message, error?)', takes: (value) => typeof value === 'function' },
  loggerLevel: {
    expected: `one of ${logLevels.join(', ')}`,
    takes: (value) => (logLevels as readonly unknown[]).includes(value),
  },
  prefix: {
    expected: "a path such as '/service', of letters, digits, '-', '_' and '~'",
    takes: (value) => typeof value === 'string' && /^\/*[-~\w]+(\/+[-~\w]+)*\/*$|^\/*$/.test(value),
  },
  consolePath: {
    expected: "a path such as '/console', of letters, digits, '-', '_' and '~'",
    takes: (value) => typeof value === 'string' && /^\/*[-~\w]+(\/+[-~\w]+)*\/*$/.test(value),
  },
  apiPath: {
    expected: "a path such as '/api', of letters, digits, '-', '_' and '~'",
    takes: (value) => typeof value === 'string' && /^\/*[-~\w]+(\/+[-~\w]+)*\/*$|^\/*$/.test(value),
  },
  schemaPath: filePath,
  typingsPath: filePath,
  typingsMaxDepth: {
    expected: 'a whole number from 1 to 10',
    takes: (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 10,
  },
  useUnsafeActionEndpoint: flag,
  authenticate: { expected: 'a function (req) => caller or null', takes: (value) => typeof value === 'function' },
  signInUrl: {
    expected: "a path such as '/login', or an address that begins with https:// or http://",
    takes: isPageAddress,
  },
  passwordSignIn: flag,
  settings: { expected: 'an object', takes: (value) => typeof value === 'object' && !Array.isArray(value) },
};

const isList = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

const mcpRows: OptionRows<McpOptions> = {
  enabledTools: { expected: `a list of tools, of ${toolNames.join(', ')}`, takes: isList },
  basePath: { expected: 'a path', takes: (value) => typeof value === 'string' },
};

/** Throws CONFIGURATION, with similar names, for options that are missing, unknown or invalid. Never shows secrets. */
export function checkAgentOptions(given: AgentOptions, at: string): CheckedOptions {
  checkRows('createAgent', given, agentRows, at);
  const { schemaPath = '.service-schema.json' } = given;
  const { loggerLevel: logLevel, serverUrl, prefix, consolePath, apiPath } = given;
  const said = { logLevel, serverUrl, prefix, consolePath, apiPath };
  return {
    authSecret: given.authSecret,
    envSecret: given.envSecret,
    isProduction: given.isProduction ?? false,
    logger: given.logger ?? null,
    schemaPath: resolve(schemaPath),
    typingsPath: given.typingsPath === undefined ? null : resolve(given.typingsPath),
    typingsMaxDepth: given.typingsMaxDepth ?? 5,
    useUnsafeActionEndpoint: given.useUnsafeActionEndpoint ?? false,
    hostSignIn: checkHostSignIn(given, at),
    code: { ...checkSettings(given.settings ?? {}, at), ...withoutUndefined(said) },
  };
}

function checkHostSignIn(given: AgentOptions, at: string): HostSignInOptions | undefined {
  const { authenticate, signInUrl = null, passwordSignIn } = given;
  if (authenticate) return { authenticate, signInUrl, passwords: passwordSignIn ?? signInUrl === null };
  const lonely = (['signInUrl', 'passwordSignIn'] as const).find((name) => given[name] !== undefined);
  if (lonely)
    refuseOption(`createAgent: '${lonely}' is for a sign-in of the application: give 'authenticate' as well`, at);
  return undefined;
}

const withoutUndefined = <T extends object>(given: T): { readonly [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;

export function checkMcpOptions(given: McpOptions, at: string): McpOptions {
  checkRows('mountAiMcpServer', given, mcpRows, at);
  const { basePath = '', enabledTools = null } = given;
  try {
    loadConfig({ file: { basePath } });
    selectTools(enabledTools, () => undefined);
  } catch (error) {
    // Errors in code are reported with its line. The start checks again, with the environment.
    if (isAppError(error, 'CONFIGURATION')) refuseOption(error.message.replace(/\.$/, ''), at);
    throw error;
  }
  return given;
}

export function checkTypingsOptions(typingsPath: unknown, typingsMaxDepth: unknown, at: string): void {
  const { typingsPath: path, typingsMaxDepth: depth } = agentRows;
  checkRows(
    'updateTypesOnFileSystem',
    { typingsPath, typingsMaxDepth },
    { typingsPath: { ...path, required: true }, typingsMaxDepth: { ...depth, required: true } },
    at,
  );
}

function checkSettings(given: AgentSettings, at: string): GivenSettings {
  const { database: _database, envSecret: _envSecret, serverUrl: _serverUrl, ...rows } = settings;
  const own: readonly string[] = ['envSecret', 'serverUrl'] satisfies readonly OptionSetting[];
  for (const name of Object.keys(given)) {
    if (name === 'database') refuseOption("settings: the served data is what addDataSource names, not 'database'", at);
    if (own.includes(name)) refuseOption(`settings: '${name}' is an option of createAgent itself`, at);
  }
  return readGiven(rows, given, (problem) => refuseOption(problem, at));
}
