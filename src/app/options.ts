// What createAgent and mountAiMcpServer are given, checked: each option is a row of a table that says what is expected.
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  checkRows,
  isText,
  type OptionRow,
  type OptionRows,
  refuseOption,
  unknownOption,
} from '../agent/check-options.ts';
import { type Config, loadConfig, type SettingName, settings } from '../core/config.ts';
import { isAppError } from '../core/errors.ts';
import { type LogFunction, type LogLevel, logLevels } from '../core/observe.ts';
import { selectTools, toolNames } from '../mcp/tools.ts';
import type { Authenticate, HostSignInOptions } from '../oauth/host-sign-in.ts';

/** Spec 2.1, and `settings`. */
export interface AgentOptions {
  /** The authentication secret of the environment, for the sessions of the HTTP API. */
  readonly authSecret: string;
  /** The environment secret: it names the environment that a storage belongs to. */
  readonly envSecret: string;
  /**
   * The address of another Portico server, which keeps users, permissions and logs for this agent; with a path, that of its
   * platform door. Default: this agent keeps them itself.
   */
  readonly serverUrl?: string;
  /** In production the schema file is read, and neither it nor the typings are written. Default false. */
  readonly isProduction?: boolean;
  /** In place of JSON lines on standard error. */
  readonly logger?: LogFunction;
  /** Default `Info`, or what SERVICE_LOG_LEVEL says. */
  readonly loggerLevel?: LogLevel;
  /** Of the HTTP API. Default `/service`. */
  readonly prefix?: string;
  /** Of the console. Default `_console` under the prefix. */
  readonly consolePath?: string;
  /** What stands before `/v1` of the public API. Default `_api` under the prefix. */
  readonly apiPath?: string;
  /** Default `.service-schema.json` in the working folder. */
  readonly schemaPath?: string;
  /** Where typings are written at the start; nowhere when absent. */
  readonly typingsPath?: string;
  /** How many relations a path may follow in the typings, 1 to 10. Default 5. */
  readonly typingsMaxDepth?: number;
  /** Action addresses without the position of the action. Default false. */
  readonly useUnsafeActionEndpoint?: boolean;
  /** How the application signs people in; asked on our sign-in pages alone. */
  readonly authenticate?: Authenticate;
  /**
   * With `authenticate`: the application's sign-in page, a path or an https address. `{returnTo}` in it is replaced by the
   * address to come back to; without it a parameter `returnTo` is added.
   */
  readonly signInUrl?: string;
  /** With `authenticate`: whether people of ours may sign in with a password. Default: only without a `signInUrl`. */
  readonly passwordSignIn?: boolean;
  /** The settings of docs/configuration.md by their names in code, such as `dataDir`; the environment goes before them. */
  readonly settings?: AgentSettings;
}

/** The settings of the configuration by their names in code, without those that options and calls say. */
export type AgentSettings = Partial<{ readonly [K in Exclude<SettingName, OptionSetting>]: Config[K] }>;

/** Said by an option or a call, and not among `settings`. */
type OptionSetting = 'database' | 'envSecret' | 'serverUrl';

type SignInOption = 'authenticate' | 'signInUrl' | 'passwordSignIn';

export interface CheckedOptions
  extends Required<Omit<AgentOptions, 'logger' | 'loggerLevel' | 'typingsPath' | 'serverUrl' | SignInOption>> {
  readonly hostSignIn: HostSignInOptions | undefined;
  readonly logger: LogFunction | null;
  readonly loggerLevel: LogLevel | null;
  readonly typingsPath: string | null;
  readonly serverUrl: string | null;
}

/** What `mountAiMcpServer` is given. */
export interface McpOptions {
  /** Exactly these tools; all when absent. */
  readonly enabledTools?: readonly string[];
  /** In front of /mcp and /oauth. */
  readonly basePath?: string;
}

/** CWE-601: what begins with two slashes, or holds a backslash, is another site's address to a browser. */
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

/** CONFIGURATION, with near names, for what is missing, unknown or not as it must be. Secrets are never shown. */
export function checkAgentOptions(given: AgentOptions, at: string): CheckedOptions {
  checkRows('createAgent', given, agentRows, at);
  const { schemaPath = '.service-schema.json' } = given;
  const prefix = asPath(given.prefix ?? '/service');
  return {
    authSecret: given.authSecret,
    envSecret: given.envSecret,
    serverUrl: given.serverUrl ?? null,
    isProduction: given.isProduction ?? false,
    logger: given.logger ?? null,
    loggerLevel: given.loggerLevel ?? null,
    prefix,
    consolePath: asPath(given.consolePath ?? `${prefix}/_console`),
    apiPath: asPath(given.apiPath ?? `${prefix}/_api`),
    schemaPath: resolve(schemaPath),
    typingsPath: given.typingsPath === undefined ? null : resolve(given.typingsPath),
    typingsMaxDepth: given.typingsMaxDepth ?? 5,
    useUnsafeActionEndpoint: given.useUnsafeActionEndpoint ?? false,
    hostSignIn: checkHostSignIn(given, at),
    settings: checkSettings(given.settings ?? {}, at),
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

const asPath = (path: string): string => `/${path}`.replace(/\/+/g, '/').replace(/\/$/, '');

export function checkMcpOptions(given: McpOptions, at: string): McpOptions {
  checkRows('mountAiMcpServer', given, mcpRows, at);
  const { basePath = '', enabledTools = null } = given;
  try {
    loadConfig({ file: { basePath } });
    selectTools(enabledTools, () => undefined);
  } catch (error) {
    // Told again at the start where the environment says otherwise; what the code says is told with its line.
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

function checkSettings(given: AgentSettings, at: string): AgentSettings {
  const said: readonly string[] = ['database', 'envSecret', 'serverUrl'] satisfies readonly OptionSetting[];
  const known = Object.keys(settings).filter((name) => !said.includes(name));
  const checked: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (name === 'database') refuseOption("settings: the served data is what addDataSource names, not 'database'", at);
    if (said.includes(name)) refuseOption(`settings: '${name}' is an option of createAgent itself`, at);
    if (!known.includes(name)) unknownOption(`There is no setting '${name}'`, name, known, at);
    if (value === undefined) continue;
    try {
      const text = Array.isArray(value) ? value.join(',') : String(value);
      checked[name] = value === null ? null : settings[name as SettingName].read(text);
    } catch (error) {
      refuseOption(`settings: '${name}': ${(error as Error).message}`, at);
    }
  }
  return checked;
}
