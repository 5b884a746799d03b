// Storage locations, listening addresses and public URLs.
import { type LogLevel, logLevels } from '../observe.ts';
import type { SqliteWish } from '../sqlite.ts';
import { columnTimezones, flagged, list, oneOf, redisAddress, setting, text, timezone, whole } from './setting.ts';

export const listeningSettings = {
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
  databaseTimezone: setting({
    env: 'SERVICE_DATABASE_TIMEZONE',
    flag: '--database-timezone',
    about:
      'The timezone in which timestamps without zone of the database are read and written (timestamp of PostgreSQL, DATETIME of MySQL, texts without offset of SQLite)',
    fallback: 'UTC',
    read: timezone,
  }),
  databaseColumnTimezones: setting({
    env: 'SERVICE_DATABASE_COLUMN_TIMEZONES',
    about: 'The same for single columns: orders.placed_at=America/New_York, separated by commas',
    fallback: [] as readonly string[],
    read: columnTimezones,
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
    names: 'allowed',
    about: 'Addresses or networks whose X-Forwarded-* headers are believed',
    fallback: [] as readonly string[],
    read: list,
  }),
  allowedHosts: setting({
    env: 'SERVICE_ALLOWED_HOSTS',
    names: 'allowed',
    about: 'Further Host names that are served',
    fallback: [] as readonly string[],
    read: list,
  }),
  allowedOrigins: setting({
    env: 'SERVICE_ALLOWED_ORIGINS',
    names: 'allowed',
    about: 'Further browser Origins that may call /mcp',
    fallback: [] as readonly string[],
    read: list,
  }),
  agentOrigins: setting({
    env: 'SERVICE_AGENT_ORIGINS',
    names: 'allowed',
    about: "Origins of the front ends that may call the agent's HTTP API and sign people in to it",
    fallback: [] as readonly string[],
    read: list,
  }),
  enabledTools: setting({
    env: 'SERVICE_MCP_ENABLED_TOOLS',
    names: 'allowed',
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
} as const;
