// Every setting is a row of one table, which documents it, reads it, checks it and gives its default. Precedence: flag,
// environment, config file, default. A secret is never a flag; `NAME_FILE` reads any setting from a file.
import { readFileSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { AppError, fail } from './errors.ts';
import { type LogLevel, logLevels } from './observe.ts';
import type { SqliteWish } from './sqlite.ts';

interface Setting<T> {
  /** Environment variable. */
  readonly env: string;
  /** Command-line flag of `portico start`; none for secrets. */
  readonly flag?: string;
  readonly secret?: true;
  readonly about: string;
  readonly fallback: T;
  /** Reads a text from a flag or the environment; throws a plain Error that says what is expected. */
  readonly read: (text: string) => T;
}

const text = (value: string): string => value;
const list = (value: string): readonly string[] =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);
const flagged = (value: string): boolean => {
  if (/^(true|1|yes|on)$/i.test(value)) return true;
  if (/^(false|0|no|off)$/i.test(value)) return false;
  throw new Error('expected true or false');
};
const whole =
  (least: number, most: number) =>
  (value: string): number => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < least || number > most)
      throw new Error(`expected a whole number from ${least} to ${most}`);
    return number;
  };
const oneOf =
  <T extends string>(...choices: readonly T[]) =>
  (value: string): T => {
    const found = choices.find((choice) => choice.toLowerCase() === value.toLowerCase());
    if (!found) throw new Error(`expected one of ${choices.join(', ')}`);
    return found;
  };

/** OpenID Connect Discovery section 3: https, without query and fragment. On this machine alone http will do. */
const issuer = (value: string): string => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const loopback = url !== undefined && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  const secure = url?.protocol === 'https:' || (url?.protocol === 'http:' && loopback);
  if (!url || !secure || url.search || url.hash || url.username || url.password) {
    throw new Error('expected an https address such as https://login.example.com (http on this machine only)');
  }
  return value;
};

/** Its text is never shown: it may hold a password. */
const redisAddress = (value: string): string => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.hostname && /^rediss?:$/.test(url.protocol) && /^(\/\d*)?$/.test(url.pathname)) return value;
  throw new Error('expected an address such as redis://:password@host:6379/0, or rediss: for TLS');
};

function setting<T>(row: Setting<T>): Setting<T> {
  return row;
}

export const settings = {
  dataDir: setting({
    env: 'SERVICE_DATA_DIR',
    flag: '--data-dir',
    about: 'Folder for everything that is kept on disk',
    fallback: '.portico',
    read: text,
  }),
  database: setting({
    env: 'SERVICE_DATABASE_URL',
    flag: '--database',
    secret: true,
    about: 'The database to serve (sqlite:, mysql:, mariadb:, postgres:); the demo shop when none is named',
    fallback: null as string | null,
    read: text,
  }),
  storageUrl: setting({
    env: 'SERVICE_STORAGE_URL',
    secret: true,
    about: 'Where Portico keeps users, grants and logs; a SQLite file in the data folder by default',
    fallback: null as string | null,
    read: text,
  }),
  redisUrl: setting({
    env: 'SERVICE_REDIS_URL',
    secret: true,
    about:
      'A Redis that counts the calls of the public API and carries the runs of workflows for all processes; the storage does without one',
    fallback: null as string | null,
    read: redisAddress,
  }),
  serverUrl: setting({
    env: 'SERVICE_SERVER_URL',
    about: 'Another Portico server that keeps users, permissions and logs, in place of a storage of our own',
    fallback: null as string | null,
    read: text,
  }),
  envSecret: setting({
    env: 'SERVICE_ENV_SECRET',
    secret: true,
    about:
      'Names the environment: agent and platform know each other by it, and `portico cloud` proves it; made when not set',
    fallback: null as string | null,
    read: text,
  }),
  platformDoor: setting({
    env: 'SERVICE_PLATFORM_DOOR',
    about: 'Agents with this server as their SERVICE_SERVER_URL are let in, by SERVICE_ENV_SECRET',
    fallback: false,
    read: flagged,
  }),
  platformPath: setting({
    env: 'SERVICE_PLATFORM_PATH',
    about: 'Where agents are let in; /service/_platform in a host application',
    fallback: '/platform',
    read: text,
  }),
  environment: setting({
    env: 'SERVICE_ENVIRONMENT',
    flag: '--environment',
    about: 'Name of the environment whose permissions hold in this process; needed where the storage has several',
    fallback: null as string | null,
    read: text,
  }),
  sqlite: setting<SqliteWish>({
    env: 'SERVICE_SQLITE',
    about: 'SQLite driver: native, wasm, or auto (native where it loads)',
    fallback: 'auto',
    read: oneOf('auto', 'native', 'wasm'),
  }),
  secret: setting({
    env: 'SERVICE_SECRET',
    secret: true,
    about:
      'Seals the keys kept in the storage; made once in the data folder when not set. Processes that share a storage need the same',
    fallback: null as string | null,
    read: text,
  }),
  cloud: setting({
    env: 'SERVICE_CLOUD',
    about: 'The command line may sign in (`portico cloud`), for admins and developers',
    fallback: true,
    read: flagged,
  }),
  host: setting({
    env: 'SERVICE_HOST',
    flag: '--host',
    about: 'Address to listen on',
    fallback: '127.0.0.1',
    read: text,
  }),
  port: setting({
    env: 'MCP_SERVER_PORT',
    flag: '--port',
    about: 'Port to listen on; 0 takes a free one',
    fallback: 3931,
    read: whole(0, 65535),
  }),
  publicUrl: setting({
    env: 'SERVICE_PUBLIC_URL',
    flag: '--public-url',
    about: 'The address by which clients reach the server; every advertised URL is made of it',
    fallback: null as string | null,
    read: text,
  }),
  basePath: setting({ env: 'SERVICE_MCP_BASE_PATH', about: 'Prefix for /mcp and /oauth', fallback: '', read: text }),
  consolePath: setting({
    env: 'SERVICE_CONSOLE_PATH',
    about: 'Where the console lies; /service/_console in a host application',
    fallback: '/console',
    read: text,
  }),
  prefix: setting({
    env: 'SERVICE_PREFIX',
    about: "Where the agent's HTTP API lies",
    fallback: '/service',
    read: text,
  }),
  apiPath: setting({
    env: 'SERVICE_API_PATH',
    about: 'What stands before /v1 of the public API; /service/_api in a host application',
    fallback: '',
    read: text,
  }),
  trustedProxies: setting({
    env: 'SERVICE_TRUSTED_PROXIES',
    about: 'Addresses or networks whose X-Forwarded-* headers are believed',
    fallback: [] as readonly string[],
    read: list,
  }),
  allowedHosts: setting({
    env: 'SERVICE_ALLOWED_HOSTS',
    about: 'Further Host names that are served',
    fallback: [] as readonly string[],
    read: list,
  }),
  allowedOrigins: setting({
    env: 'SERVICE_ALLOWED_ORIGINS',
    about: 'Further browser Origins that may call /mcp',
    fallback: [] as readonly string[],
    read: list,
  }),
  agentOrigins: setting({
    env: 'SERVICE_AGENT_ORIGINS',
    about: "Origins of the front ends that may call the agent's HTTP API and sign people in to it",
    fallback: [] as readonly string[],
    read: list,
  }),
  enabledTools: setting({
    env: 'SERVICE_MCP_ENABLED_TOOLS',
    about: 'Exact list of the tools that are served; all by default',
    fallback: null as readonly string[] | null,
    read: list,
  }),
  mcpToken: setting({
    env: 'SERVICE_MCP_TOKEN',
    secret: true,
    about: 'Application token of whoever `portico mcp --stdio` serves',
    fallback: null as string | null,
    read: text,
  }),
  outputSchemas: setting({
    env: 'SERVICE_MCP_OUTPUT_SCHEMA',
    about: 'Tools say the shape of their answers (outputSchema), and answer structuredContent beside the text',
    fallback: false,
    read: flagged,
  }),
  logLevel: setting<LogLevel>({
    env: 'SERVICE_LOG_LEVEL',
    flag: '--log-level',
    about: 'Debug, Info, Warn or Error',
    fallback: 'Warn',
    read: oneOf(...logLevels),
  }),
  metricsPort: setting({
    env: 'SERVICE_METRICS_PORT',
    about: 'Port for /metrics (Prometheus); 0 takes a free one; no metrics are served without it',
    fallback: null as number | null,
    read: whole(0, 65535),
  }),
  metricsHost: setting({
    env: 'SERVICE_METRICS_HOST',
    about: 'Address that /metrics listens on; whoever reaches it may read it',
    fallback: '127.0.0.1',
    read: text,
  }),
  drainSeconds: setting({
    env: 'SERVICE_DRAIN_SECONDS',
    about:
      'How long after SIGTERM it goes on taking requests while /readyz says no, so that a balancer takes it out first',
    fallback: 0,
    read: whole(0, 600),
  }),
  shutdownSeconds: setting({
    env: 'SERVICE_SHUTDOWN_SECONDS',
    about: 'How long calls under way may go on after SIGTERM',
    fallback: 10,
    read: whole(0, 600),
  }),

  accessTokenSeconds: setting({
    env: 'SERVICE_ACCESS_TOKEN_SECONDS',
    about: 'Life of an access token',
    fallback: 900,
    read: whole(60, 3600),
  }),
  refreshTokenSeconds: setting({
    env: 'SERVICE_REFRESH_TOKEN_SECONDS',
    about: 'Life of a refresh token since its last use',
    fallback: 30 * 86_400,
    read: whole(3600, 365 * 86_400),
  }),
  refreshGraceSeconds: setting({
    env: 'SERVICE_REFRESH_GRACE_SECONDS',
    about: 'How long a used refresh token is taken again after a lost answer; 0 is strict',
    fallback: 60,
    read: whole(0, 600),
  }),
  authorizationCodeSeconds: setting({
    env: 'SERVICE_AUTHORIZATION_CODE_SECONDS',
    about: 'Life of an authorization code',
    fallback: 60,
    read: whole(10, 600),
  }),
  interactionSeconds: setting({
    env: 'SERVICE_INTERACTION_SECONDS',
    about: 'How long a sign-in may take',
    fallback: 600,
    read: whole(60, 3600),
  }),
  deviceCodeSeconds: setting({
    env: 'SERVICE_DEVICE_CODE_SECONDS',
    about: 'How long the code that a terminal shows can be typed in',
    fallback: 600,
    read: whole(10, 1800),
  }),
  sessionSeconds: setting({
    env: 'SERVICE_SESSION_SECONDS',
    about: 'Life of a browser session',
    fallback: 86_400,
    read: whole(300, 30 * 86_400),
  }),
  dynamicRegistration: setting({
    env: 'SERVICE_DCR',
    about: 'Clients may register themselves (RFC 7591)',
    fallback: true,
    read: flagged,
  }),
  registrationsPerHour: setting({
    env: 'SERVICE_DCR_PER_HOUR',
    about: 'Registrations for each client address in an hour',
    fallback: 60,
    read: whole(1, 100_000),
  }),
  unusedClientSeconds: setting({
    env: 'SERVICE_DCR_UNUSED_SECONDS',
    about: 'When a registered client that was never used is forgotten',
    fallback: 86_400,
    read: whole(3600, 365 * 86_400),
  }),
  clientMetadataDocuments: setting({
    env: 'SERVICE_CIMD',
    about: 'Clients may be named by the URL of their metadata document',
    fallback: true,
    read: flagged,
  }),
  clientMetadataDomains: setting({
    env: 'SERVICE_CIMD_DOMAINS',
    about: 'Only these domains may host client metadata documents; any by default',
    fallback: null as readonly string[] | null,
    read: list,
  }),
  clientMetadataDeniedDomains: setting({
    env: 'SERVICE_CIMD_DENIED_DOMAINS',
    about: 'These domains may not host client metadata documents',
    fallback: [] as readonly string[],
    read: list,
  }),
  redirectDomains: setting({
    env: 'SERVICE_DCR_REDIRECT_DOMAINS',
    about: 'Registered clients may have web answers sent to these domains only; to any by default',
    fallback: null as readonly string[] | null,
    read: list,
  }),
  redirectDeniedDomains: setting({
    env: 'SERVICE_DCR_REDIRECT_DENIED_DOMAINS',
    about: 'Registered clients may not have answers sent to these domains',
    fallback: [] as readonly string[],
    read: list,
  }),
  clientsMost: setting({
    env: 'SERVICE_DCR_MOST',
    about: 'Registered clients in all; further ones wait until others are forgotten',
    fallback: 10_000,
    read: whole(1, 1_000_000),
  }),
  idleClientSeconds: setting({
    env: 'SERVICE_DCR_IDLE_SECONDS',
    about: 'When a registered client that nobody is connected through any more is forgotten, since its last use',
    fallback: 90 * 86_400,
    read: whole(3600, 3 * 365 * 86_400),
  }),
  activityDays: setting({
    env: 'SERVICE_ACTIVITY_DAYS',
    about: 'For how many days entries of the activity log are kept; for ever when not set',
    fallback: null as number | null,
    read: whole(1, 36_500),
  }),
  adminLogDays: setting({
    env: 'SERVICE_ADMIN_LOG_DAYS',
    about: 'For how many days entries of the admin log are kept; for ever when not set',
    fallback: null as number | null,
    read: whole(1, 36_500),
  }),
  consoleIdleSeconds: setting({
    env: 'SERVICE_CONSOLE_IDLE_SECONDS',
    about: 'When a console session that is not used ends',
    fallback: 8 * 3600,
    read: whole(300, 30 * 86_400),
  }),
  consoleSessionSeconds: setting({
    env: 'SERVICE_CONSOLE_SESSION_SECONDS',
    about: 'Life of a console session, used or not',
    fallback: 7 * 86_400,
    read: whole(300, 90 * 86_400),
  }),
  agentSessionSeconds: setting({
    env: 'SERVICE_AGENT_SESSION_SECONDS',
    about: "Life of a session of the agent's HTTP API",
    fallback: 3600,
    read: whole(300, 86_400),
  }),
  aiPerMinute: setting({
    env: 'SERVICE_AI_PER_MINUTE',
    about: "Questions of one user to the AI provider over the agent's HTTP API in a minute, in each process",
    fallback: 20,
    read: whole(1, 1_000_000),
  }),
  apiPerMinute: setting({
    env: 'SERVICE_API_PER_MINUTE',
    about: 'Calls of the public API for each token in a minute',
    fallback: 60,
    read: whole(1, 1_000_000),
  }),
  apiPerHour: setting({
    env: 'SERVICE_API_PER_HOUR',
    about: 'Calls of the public API for each token in an hour',
    fallback: 1000,
    read: whole(1, 10_000_000),
  }),
  apiPerDay: setting({
    env: 'SERVICE_API_PER_DAY',
    about: 'Calls of the public API for each token in a day',
    fallback: 10_000,
    read: whole(1, 100_000_000),
  }),
  webhookPerMinute: setting({
    env: 'SERVICE_WEBHOOK_PER_MINUTE',
    about: 'Calls of the webhook of each workflow in a minute',
    fallback: 60,
    read: whole(1, 1_000_000),
  }),
  invitationSeconds: setting({
    env: 'SERVICE_INVITATION_SECONDS',
    about: 'Life of the link that invites a user',
    fallback: 7 * 86_400,
    read: whole(300, 90 * 86_400),
  }),
  resetSeconds: setting({
    env: 'SERVICE_RESET_SECONDS',
    about: 'Life of the link that lets a user choose another password',
    fallback: 3600,
    read: whole(300, 7 * 86_400),
  }),
  signInAttempts: setting({
    env: 'SERVICE_SIGN_IN_ATTEMPTS',
    about: 'Wrong passwords for an account or address before it waits 15 minutes',
    fallback: 10,
    read: whole(3, 1000),
  }),

  ssoIssuer: setting({
    env: 'SERVICE_SSO_ISSUER',
    about: 'Issuer of the OpenID provider through which people sign in; passwords are off then',
    fallback: null as string | null,
    read: issuer,
  }),
  ssoClientId: setting({
    env: 'SERVICE_SSO_CLIENT_ID',
    about: 'What the OpenID provider calls this server',
    fallback: null as string | null,
    read: text,
  }),
  ssoClientSecret: setting({
    env: 'SERVICE_SSO_CLIENT_SECRET',
    secret: true,
    about: 'What the OpenID provider gave with it; none for a public client',
    fallback: null as string | null,
    read: text,
  }),
  ssoName: setting({
    env: 'SERVICE_SSO_NAME',
    about: 'Of the provider, on the button "Sign in with ..."; its host by default',
    fallback: null as string | null,
    read: text,
  }),
  ssoScopes: setting({
    env: 'SERVICE_SSO_SCOPES',
    about: 'What the provider is asked for; openid is always among it',
    fallback: ['openid', 'email', 'profile'] as readonly string[],
    read: (value) => [...new Set(['openid', ...value.split(/[\s,]+/).filter(Boolean)])],
  }),
  ssoEmailClaim: setting({
    env: 'SERVICE_SSO_EMAIL_CLAIM',
    about: 'Claim that holds the e-mail address',
    fallback: 'email',
    read: text,
  }),
  ssoVerifiedEmail: setting({
    env: 'SERVICE_SSO_VERIFIED_EMAIL',
    about: 'Only those whose address the provider calls verified (email_verified) come in',
    fallback: true,
    read: flagged,
  }),
  ssoDomains: setting({
    env: 'SERVICE_SSO_DOMAINS',
    about: 'Only people with an address of these domains come in; any by default',
    fallback: null as readonly string[] | null,
    read: (value) => list(value.toLowerCase()),
  }),
  ssoMapping: setting({
    env: 'SERVICE_SSO_MAPPING',
    about: 'Which claims say team, role, level and tags, as JSON',
    fallback: null as string | null,
    read: text,
  }),
  ssoPasswords: setting({
    env: 'SERVICE_SSO_PASSWORDS',
    about: 'Passwords work beside the provider, for as long as it is broken',
    fallback: false,
    read: flagged,
  }),
  linkUsers: setting({
    env: 'SERVICE_LINK_USERS',
    about: 'Who signs in elsewhere for the first time becomes the user who has the same verified address',
    fallback: false,
    read: flagged,
  }),

  requestSeconds: setting({
    env: 'SERVICE_REQUEST_SECONDS',
    about: 'How long a request may take to arrive',
    fallback: 30,
    read: whole(1, 600),
  }),
  bodyLimitBytes: setting({
    env: 'SERVICE_BODY_LIMIT_BYTES',
    about: 'Largest request body of /mcp',
    fallback: 1_048_576,
    read: whole(10_000, 100_000_000),
  }),
  requestsPerMinute: setting({
    env: 'SERVICE_MCP_REQUESTS_PER_MINUTE',
    about: 'Requests of one user at /mcp in a minute, in each process; 0 is no limit',
    fallback: 6000,
    read: whole(0, 10_000_000),
  }),
  jsonDepthLimit: setting({
    env: 'SERVICE_JSON_DEPTH_LIMIT',
    about: 'Deepest nesting of a request body',
    fallback: 64,
    read: whole(16, 1000),
  }),
  pageSize: setting({
    env: 'SERVICE_PAGE_SIZE',
    about: 'Records of a list when the caller names no number',
    fallback: 15,
    read: whole(1, 1000),
  }),
  pageSizeLimit: setting({
    env: 'SERVICE_PAGE_SIZE_LIMIT',
    about: 'Most records of one list',
    fallback: 1000,
    read: whole(1, 10_000),
  }),
  answerTokens: setting({
    env: 'SERVICE_ANSWER_TOKENS',
    about: 'Budget of one answer, in tokens of a language model',
    fallback: 8000,
    read: whole(500, 1_000_000),
  }),
  fileLimitBytes: setting({
    env: 'SERVICE_FILE_LIMIT_BYTES',
    about: 'Largest file that is sent to an action, or that an action gives',
    fallback: 20_971_520,
    read: whole(1000, 500_000_000),
  }),
  approvalSeconds: setting({
    env: 'SERVICE_APPROVAL_SECONDS',
    about: 'How long a call that needs approval waits for it',
    fallback: 3600,
    read: whole(60, 80_000),
  }),
  approvalUseSeconds: setting({
    env: 'SERVICE_APPROVAL_USE_SECONDS',
    about: 'How long an approved call may be made, and a question of the assistant be answered',
    fallback: 900,
    read: whole(60, 6000),
  }),
  webhookHosts: setting({
    env: 'SERVICE_WEBHOOK_HOSTS',
    about: 'Hosts that webhooks of actions and callbacks of workflows may reach though their addresses are not public',
    fallback: [] as readonly string[],
    read: list,
  }),
  remoteHosts: setting({
    env: 'SERVICE_REMOTE_HOSTS',
    about: 'Hosts of remote MCP servers that may be reached though their addresses are not public, and without https',
    fallback: [] as readonly string[],
    read: list,
  }),
  querySeconds: setting({
    env: 'SERVICE_QUERY_SECONDS',
    about: 'How long one query may run',
    fallback: 30,
    read: whole(1, 3600),
  }),
  callSeconds: setting({
    env: 'SERVICE_CALL_SECONDS',
    about: 'How long one call may take in all, with every query and the code of actions and hooks',
    fallback: 300,
    read: whole(1, 86_400),
  }),
  workflows: setting({
    env: 'SERVICE_WORKFLOWS',
    about: 'This process executes runs of workflows; off: they wait for another that does',
    fallback: true,
    read: flagged,
  }),
  workflowRunsAtOnce: setting({
    env: 'SERVICE_WORKFLOW_RUNS_AT_ONCE',
    about: 'How many runs of workflows this process works at at the same time',
    fallback: 8,
    read: whole(1, 200),
  }),
} as const;

type Settings = typeof settings;
export type SettingName = keyof Settings;

/** Every setting with its value; the data folder absolute, URLs checked and without a trailing slash. */
export type Config = { readonly [K in SettingName]: Settings[K]['fallback'] } & {
  /** Where each value came from, for `portico doctor`. */
  readonly origins: Readonly<Record<SettingName, 'flag' | 'environment' | 'file' | 'default'>>;
};

/** Where settings are taken from: a flag goes before the environment, and that before the file. */
export interface ConfigInput {
  readonly flags?: Readonly<Partial<Record<SettingName, string>>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Values of a config file, already of the right types. */
  readonly file?: Partial<{ readonly [K in SettingName]: Settings[K]['fallback'] }>;
}

/** The environment of the process, for code that has no other. */
export function processEnvironment(): NonNullable<ConfigInput['env']> {
  return process.env;
}

/** CONFIGURATION when a value is malformed or two contradict; it names the variable and never shows a secret. */
export function loadConfig(input: ConfigInput = {}): Config {
  const values: Record<string, unknown> = {};
  const origins: Record<string, string> = {};
  for (const [name, row] of Object.entries(settings) as [SettingName, Setting<unknown>][]) {
    const given = find(name, row, input);
    values[name] = given.value;
    origins[name] = given.origin;
  }
  values.dataDir = resolve(values.dataDir as string);
  if (values.publicUrl) values.publicUrl = checkPublicUrl(values.publicUrl as string);
  values.basePath = checkBasePath(values.basePath as string, values.publicUrl as string | null);
  values.consolePath = checkConsolePath(values.consolePath as string, values.basePath as string);
  values.prefix = checkPlace('SERVICE_PREFIX', values.prefix as string, values.basePath as string);
  values.apiPath = checkPlace('SERVICE_API_PATH', values.apiPath as string, values.basePath as string);
  values.platformPath = checkPlatformPath(values.platformPath as string, values.basePath as string);
  if (values.serverUrl) values.serverUrl = checkServerUrl(values as unknown as Config);
  values.agentOrigins = (values.agentOrigins as readonly string[]).map(checkOrigin);
  checkSso(values as unknown as SsoSettings);
  return Object.freeze({ ...values, origins: Object.freeze(origins) }) as unknown as Config;
}

function find(name: SettingName, row: Setting<unknown>, input: ConfigInput): { value: unknown; origin: string } {
  const flag = input.flags?.[name];
  if (flag !== undefined) return { value: parse(row.flag ?? row.env, row, flag), origin: 'flag' };
  const given = input.env?.[row.env];
  if (given !== undefined && given !== '') return { value: parse(row.env, row, given), origin: 'environment' };
  const path = input.env?.[`${row.env}_FILE`];
  if (path) return { value: parse(`${row.env}_FILE`, row, readSecret(`${row.env}_FILE`, path)), origin: 'environment' };
  const value = input.file?.[name];
  if (value !== undefined) return { value, origin: 'file' };
  return { value: row.fallback, origin: 'default' };
}

function parse(label: string, row: Setting<unknown>, value: string): unknown {
  try {
    return row.read(value);
  } catch (error) {
    const got = row.secret ? 'a value that is not shown' : `'${value}'`;
    fail('CONFIGURATION', { problem: `${label}: ${(error as Error).message}, got ${got}.` });
  }
}

function readSecret(label: string, path: string): string {
  try {
    return readFileSync(isAbsolute(path) ? path : resolve(path), 'utf8').trim();
  } catch (cause) {
    throw new AppError('CONFIGURATION', { problem: `${label}: '${path}' cannot be read.` }, cause);
  }
}

function checkPublicUrl(value: string): string {
  const problem = (what: string) => fail('CONFIGURATION', { problem: `SERVICE_PUBLIC_URL: ${what}.` });
  if (!URL.canParse(value)) problem('expected an address such as https://data.example.com');
  const url = new URL(value);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') problem('expected http or https');
  if (url.username || url.password || url.search || url.hash)
    problem('credentials, query and fragment are not allowed');
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/** Spec 7: a basePath while the agent's URL has a path is an error at start. */
function checkBasePath(value: string, publicUrl: string | null): string {
  const path = `/${value}`.replace(/\/+/g, '/').replace(/\/$/, '');
  if (path !== '' && !/^(\/[A-Za-z0-9_-]+)+$/.test(path)) {
    fail('CONFIGURATION', { problem: `basePath: expected segments of letters, digits, '-' and '_', got '${value}'.` });
  }
  if (path !== '' && publicUrl && new URL(publicUrl).pathname !== '/') {
    fail('CONFIGURATION', {
      problem: 'basePath needs the agent at the root of its domain, but SERVICE_PUBLIC_URL has a path.',
    });
  }
  return path;
}

/** Of the HTTP APIs, either of which may lie at the root. */
function checkPlace(name: string, value: string, basePath: string): string {
  const path = `/${value}`.replace(/\/+/g, '/').replace(/\/$/, '');
  const problem = (what: string) => fail('CONFIGURATION', { problem: `${name}: ${what}, got '${value}'.` });
  if (!/^(\/[-~\w]+)*$/.test(path)) problem("expected a path such as /service, of letters, digits, '-', '_' and '~'");
  const taken = [`${basePath}/mcp`, `${basePath}/oauth`].find((one) => `${path}/`.startsWith(`${one}/`));
  if (taken !== undefined) problem(`expected a path outside of ${taken}`);
  return path;
}

/** The door takes every path below its own, as the console does. */
function checkPlatformPath(value: string, basePath: string): string {
  const path = checkPlace('SERVICE_PLATFORM_PATH', value, basePath);
  if (path === '')
    fail('CONFIGURATION', { problem: "SERVICE_PLATFORM_PATH: expected a path such as /platform, got ''." });
  return path;
}

/**
 * Everything that says who may do what comes from there: over TLS, or from this machine (OWASP ASVS 9.1.1). What would be kept
 * in a storage of our own has no place then.
 */
function checkServerUrl(config: Pick<Config, 'serverUrl' | 'storageUrl' | 'platformDoor'>): string {
  const problem = (what: string) => fail('CONFIGURATION', { problem: `serverUrl (SERVICE_SERVER_URL): ${what}.` });
  const url = URL.canParse(`${config.serverUrl}`) ? new URL(`${config.serverUrl}`) : undefined;
  if (!url || !['https:', 'http:'].includes(url.protocol))
    return problem('expected an address such as https://platform.example.com');
  if (url.username || url.password || url.search || url.hash)
    problem('credentials, query and fragment are not allowed');
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol === 'http:' && !isLocal) problem('expected https; http will do on this machine alone');
  if (config.storageUrl !== null)
    problem('SERVICE_STORAGE_URL is set as well. The platform has the storage: leave one of the two out');
  if (config.platformDoor)
    problem('SERVICE_PLATFORM_DOOR is set as well, but a server whose storage is elsewhere lets nobody in to it');
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/** As an Origin header carries it (RFC 6454 section 7): a sign-in answers there, so that nothing may be left open. */
function checkOrigin(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isLocal = url !== undefined && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal);
  if (url && isSafe && url.href === `${url.origin}/`) return url.origin;
  return fail('CONFIGURATION', {
    problem: `SERVICE_AGENT_ORIGINS: expected origins such as https://admin.example.com (http on this machine alone), got '${value}'.`,
  });
}

type SsoSettings = Pick<Config, 'ssoIssuer' | 'ssoClientId' | 'ssoVerifiedEmail' | 'linkUsers'>;

/** Half of it would be taken for all of it: a client without an issuer leaves passwords on. */
function checkSso({ ssoIssuer, ssoClientId, ssoVerifiedEmail, linkUsers }: SsoSettings): void {
  const problem = (what: string) => fail('CONFIGURATION', { problem: what });
  if (ssoIssuer !== null && ssoClientId === null)
    problem(
      'SERVICE_SSO_ISSUER: SERVICE_SSO_CLIENT_ID is missing. The provider gives one when this server is registered there.',
    );
  if (ssoIssuer === null && ssoClientId !== null)
    problem('SERVICE_SSO_CLIENT_ID: SERVICE_SSO_ISSUER is missing. Name the provider, or leave both out.');
  if (ssoIssuer !== null && linkUsers && !ssoVerifiedEmail)
    problem('SERVICE_LINK_USERS: only verified addresses link users. Leave SERVICE_SSO_VERIFIED_EMAIL on.');
}

/** The console takes every path below its own, so that it can lie neither at the root nor in another of our namespaces. */
function checkConsolePath(value: string, basePath: string): string {
  const path = `/${value}`.replace(/\/+/g, '/').replace(/\/$/, '');
  const problem = (what: string) =>
    fail('CONFIGURATION', { problem: `SERVICE_CONSOLE_PATH: ${what}, got '${value}'.` });
  if (!/^(\/[-~\w]+)+$/.test(path)) problem("expected a path such as /console, of letters, digits, '-', '_' and '~'");
  const taken = [`${basePath}/mcp`, `${basePath}/oauth`].find((one) => `${path}/`.startsWith(`${one}/`));
  if (taken !== undefined) problem(`expected a path outside of ${taken}`);
  return path;
}
