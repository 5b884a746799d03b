// `portico doctor`: prints the effective settings and their problems. It changes no state: it creates no folder, runs
// no migration and adds no user.
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { createSqlSource } from '../agent/sources/sql/source.ts';
import { systemClock } from '../core/clock.ts';
import { checkAddress, type Finding, note, ok, risks, wrong } from '../core/config/findings.ts';
import { maskUrl } from '../core/config/masking.ts';
import { describeSettings } from '../core/config/shown.ts';
import type { Config } from '../core/config.ts';
import { messageForOperator } from '../core/errors/connection.ts';
import { toAppError } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { loadSqliteDriver } from '../core/sqlite.ts';
import { openPlatform } from '../server/remote-store.ts';
import { locateStorage, openDatabase } from '../store/database/database.ts';
import { checkSecret, createSecretReader } from '../store/keys.ts';
import { pingRedis } from '../store/limits/redis-quotas.ts';
import { findPending } from '../store/migrations/migrations.ts';
import { demoPath } from './parts.ts';
import { alignColumns, createPaint } from './terminal.ts';
import { checkStoredFilters } from './unclear-filters.ts';

/** Prints settings and findings to standard output. Returns false if there is a problem. */
export async function examine(config: Config): Promise<boolean> {
  const paint = createPaint(process.stdout);
  const print = (line = '') => process.stdout.write(`${line}\n`);

  print(paint('bold', 'Settings'));
  const rows = describeSettings(config).map(({ env, value, origin }) => [env, value, origin]);
  for (const line of alignColumns(rows)) print(`  ${line}`);
  print();
  print(paint('bold', 'Checks'));
  let problems = 0;
  const colours = { ok: 'green', note: 'yellow', wrong: 'red' } as const;
  for (const check of checks) {
    const found = await check(config);
    if (!found) continue;
    const { state, text } = found;
    if (state === 'wrong') problems++;
    print(`  ${paint(colours[state], state.padEnd(5))}  ${text}`);
  }
  print();
  print(problems === 0 ? 'No problems found.' : `${problems === 1 ? '1 problem' : `${problems} problems`} found.`);
  return problems === 0;
}

type Check = (config: Config) => Finding | undefined | Promise<Finding | undefined>;
const checks: readonly Check[] = [
  checkNode,
  checkSqlite,
  checkFolder,
  checkStorage,
  checkSource,
  checkRedis,
  checkStoredFilters,
  checkAddress,
  checkPort,
  checkMetricsPort,
  ...risks,
];

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const enough = major > 20 || (major === 20 && minor >= 19);
  return enough
    ? ok(`Node ${process.versions.node}`)
    : wrong(`Node ${process.versions.node}: 20.19 or newer is required`);
}

function checkSqlite(config: Config): Finding {
  return guard('SQLite', () =>
    loadSqliteDriver(config.sqlite).kind === 'native'
      ? ok('SQLite: native driver')
      : note('SQLite: WebAssembly, slower than the native driver, which could not be built or is turned off'),
  );
}

function checkFolder({ dataDir }: Config): Finding {
  const exists = existsSync(dataDir);
  if (exists && !statSync(dataDir).isDirectory()) return wrong(`Data folder ${dataDir} is not a folder`);
  let nearest = dataDir;
  while (!existsSync(nearest)) nearest = dirname(nearest);
  try {
    accessSync(nearest, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return wrong(`Data folder ${dataDir}: ${nearest} is not writable; change its owner or set SERVICE_DATA_DIR`);
  }
  return ok(exists ? `Data folder ${dataDir} is writable` : `Data folder ${dataDir} is created at the first start`);
}

async function checkStorage(config: Config): Promise<Finding> {
  if (config.serverUrl !== null) return checkPlatform(config);
  return guard('Storage', async () => {
    const options = { url: config.storageUrl, dataDir: config.dataDir, sqlite: config.sqlite };
    const file = locateStorage(options);
    if (file && !existsSync(file)) return ok(`Storage ${file} is created at the first start`);
    const warnings: string[] = [];
    const database = openDatabase({ ...options, observe: warningsTo(warnings) });
    try {
      const pending = await findPending(database);
      if (pending.length === 0) {
        const { secret: configured, dataDir } = config;
        await checkSecret(database.knex, createSecretReader({ configured, dataDir, inMemory: false, make: false }));
        return ok(`Storage ${database.shownAs} is up to date${also(warnings)}`);
      }
      return ok(`Storage ${database.shownAs}: the next start runs ${pending.length} migrations${also(warnings)}`);
    } finally {
      await database.close();
    }
  });
}

/** Replaces the storage check if another server has the storage. */
function checkPlatform(config: Config): Promise<Finding> {
  return guard('Platform', async () => {
    const store = await openPlatform({ config, envSecret: undefined, observe: () => {}, clock: systemClock });
    try {
      const { environment, project } = await store.identity.place();
      return ok(`Platform ${config.serverUrl}: environment '${environment}' of '${project}'`);
    } finally {
      await store.close();
    }
  });
}

async function checkSource(config: Config): Promise<Finding> {
  const demo = demoPath(config.dataDir);
  if (config.database === null && !existsSync(demo)) return ok('Database: the demo shop, created at the first start');
  return guard('Database', async () => {
    const url = config.database ?? `sqlite:${demo}`;
    const driverWarnings: string[] = [];
    const source = createSqlSource(url, {
      observe: warningsTo(driverWarnings),
      clock: systemClock,
      sqlite: config.sqlite,
    });
    try {
      const { tables, skipped, warnings = [] } = await source.describe();
      const left = skipped.length ? `, ${skipped.length} tables or columns cannot be served` : '';
      return ok(
        `Database ${maskUrl(url)}: ${tables.length} tables and views${left}${warnings.map(({ table, problem }) => `; '${table}' ${problem}`).join('')}${also(driverWarnings)}`,
      );
    } finally {
      await source.close();
    }
  });
}

/** Checks Redis if it is configured. Redis is optional: without it, the storage does the same work. */
async function checkRedis({ redisUrl }: Config): Promise<Finding | undefined> {
  if (redisUrl === null) return undefined;
  const problem = await pingRedis(redisUrl);
  return problem === undefined ? ok(`Redis ${maskUrl(redisUrl)} answers`) : wrong(`Redis: ${problem}`);
}

function warningsTo(list: string[]): Observe {
  return (observation) => {
    if (observation.type === 'warning') list.push(observation.message);
  };
}

const also = (warnings: readonly string[]): string => warnings.map((warning) => `; ${warning}`).join('');

function checkPort({ host, port }: Config): Promise<Finding> {
  return tryPort('Port', { host, port, settings: ['MCP_SERVER_PORT', 'SERVICE_HOST'] });
}

async function checkMetricsPort({ metricsHost: host, metricsPort: port }: Config): Promise<Finding> {
  if (port === null) return ok('Metrics: not served');
  return tryPort('Metrics: port', { host, port, settings: ['SERVICE_METRICS_PORT', 'SERVICE_METRICS_HOST'] });
}

interface PortCheck {
  readonly host: string;
  readonly port: number;
  readonly settings: readonly [port: string, host: string];
}

function tryPort(name: string, { host, port, settings: [portSetting, hostSetting] }: PortCheck): Promise<Finding> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      const what =
        error.code === 'EADDRINUSE'
          ? `${name} ${port} is in use, perhaps by Portico itself; stop that program, or set ${portSetting}`
          : `${name} ${port}: cannot listen on ${host} (${error.code}); set ${portSetting} or ${hostSetting}`;
      resolve(wrong(what));
    });
    server.listen({ host, port, exclusive: true }, () =>
      server.close(() => resolve(ok(port === 0 ? `${name}: any free port` : `${name} ${port} is free`))),
    );
  });
}

/** Converts an error to a finding. A driver's message can contain a URL with a password, but its code cannot. */
function guard(what: string, run: () => Finding): Finding;
function guard(what: string, run: () => Promise<Finding>): Promise<Finding>;
function guard(what: string, run: () => Finding | Promise<Finding>): Finding | Promise<Finding> {
  const failed = (error: unknown): Finding => {
    const appError = toAppError(error, '');
    if (appError.code !== 'INTERNAL') return wrong(`${what}: ${messageForOperator(appError)}`);
    const code = (error as { code?: unknown } | null)?.code;
    return wrong(`${what}: cannot be opened (${typeof code === 'string' ? code : 'unknown reason'})`);
  };
  try {
    const found = run();
    return found instanceof Promise ? found.catch(failed) : found;
  } catch (error) {
    return failed(error);
  }
}
