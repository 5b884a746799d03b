// `portico doctor`: what is in effect and what is wrong with it. It looks and changes nothing: no folder is made, no
// migration is run, no user added.
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { createSqlSource } from '../agent/sources/sql/source.ts';
import { openPlatform } from '../app/platform.ts';
import { systemClock } from '../core/clock.ts';
import { checkAddress, type Finding, note, ok, risks, wrong } from '../core/config/findings.ts';
import { maskUrl } from '../core/config/masking.ts';
import { describeSettings } from '../core/config/shown.ts';
import type { Config } from '../core/config.ts';
import { isAppError } from '../core/errors.ts';
import { loadSqliteDriver } from '../core/sqlite.ts';
import { locateStorage, openDatabase } from '../store/database.ts';
import { findPending } from '../store/schema.ts';
import { demoPath } from './demo.ts';
import { alignColumns, createPaint } from './terminal.ts';

/** Prints settings and findings to standard output; false when something is wrong. */
export async function examine(config: Config): Promise<boolean> {
  const paint = createPaint(process.stdout);
  const say = (line = '') => process.stdout.write(`${line}\n`);

  say(paint('bold', 'Settings'));
  const rows = describeSettings(config).map(({ env, value, origin }) => [env, value, origin]);
  for (const line of alignColumns(rows)) say(`  ${line}`);
  say();
  say(paint('bold', 'Checks'));
  let problems = 0;
  const colours = { ok: 'green', note: 'yellow', wrong: 'red' } as const;
  for (const check of checks) {
    const found = await check(config);
    if (!found) continue;
    const { state, text } = found;
    if (state === 'wrong') problems++;
    say(`  ${paint(colours[state], state.padEnd(5))}  ${text}`);
  }
  say();
  say(problems === 0 ? 'Nothing is wrong.' : `${problems} ${problems === 1 ? 'thing is' : 'things are'} wrong.`);
  return problems === 0;
}

type Check = (config: Config) => Finding | undefined | Promise<Finding>;
const checks: readonly Check[] = [
  checkNode,
  checkSqlite,
  checkFolder,
  checkStorage,
  checkSource,
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
    : wrong(`Node ${process.versions.node}: 20.19 or newer is needed`);
}

function checkSqlite(config: Config): Finding {
  return guard('SQLite', () =>
    loadSqliteDriver(config.sqlite).kind === 'native'
      ? ok('SQLite: native driver')
      : note('SQLite: WebAssembly, slower than the native driver, which could not be built or is not wanted'),
  );
}

function checkFolder({ dataDir }: Config): Finding {
  const there = existsSync(dataDir);
  if (there && !statSync(dataDir).isDirectory()) return wrong(`Data folder ${dataDir} is not a folder`);
  let nearest = dataDir;
  while (!existsSync(nearest)) nearest = dirname(nearest);
  try {
    accessSync(nearest, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return wrong(`Data folder ${dataDir}: ${nearest} cannot be written to; change its owner or set SERVICE_DATA_DIR`);
  }
  return ok(there ? `Data folder ${dataDir} can be written to` : `Data folder ${dataDir} is made at the first start`);
}

async function checkStorage(config: Config): Promise<Finding> {
  if (config.serverUrl !== null) return checkPlatform(config);
  return guard('Storage', async () => {
    const options = { url: config.storageUrl, dataDir: config.dataDir, sqlite: config.sqlite };
    const file = locateStorage(options);
    if (file && !existsSync(file)) return ok(`Storage ${file} is made at the first start`);
    const database = openDatabase(options);
    try {
      const pending = await findPending(database);
      if (pending.length === 0) return ok(`Storage ${database.shownAs} is up to date`);
      return ok(`Storage ${database.shownAs}: the next start runs ${pending.length} migrations`);
    } finally {
      await database.close();
    }
  });
}

/** In place of the storage, where another server has it. */
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
  if (config.database === null && !existsSync(demo)) return ok('Database: the demo shop, made at the first start');
  return guard('Database', async () => {
    const url = config.database ?? `sqlite:${demo}`;
    const source = createSqlSource(url, { observe: () => {}, clock: systemClock, sqlite: config.sqlite });
    try {
      const { tables, skipped } = await source.describe();
      const left = skipped.length ? `, ${skipped.length} tables or columns cannot be served` : '';
      const found = `Database ${maskUrl(url)}: ${tables.length} tables and views${left}`;
      return tables.length === 0 ? wrong(`${found}; is it the right one?`) : ok(found);
    } finally {
      await source.close();
    }
  });
}

function checkPort({ host, port }: Config): Promise<Finding> {
  return tryPort('Port', { host, port, settings: ['MCP_SERVER_PORT', 'SERVICE_HOST'] });
}

async function checkMetricsPort({ metricsHost: host, metricsPort: port }: Config): Promise<Finding> {
  if (port === null) return ok('Metrics: none are served');
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
          ? `${name} ${port} is taken, perhaps by Portico itself; stop that program, or set ${portSetting}`
          : `${name} ${port} of ${host} cannot be listened on (${error.code}); set ${portSetting} or ${hostSetting}`;
      resolve(wrong(what));
    });
    server.listen({ host, port, exclusive: true }, () =>
      server.close(() => resolve(ok(port === 0 ? `${name}: any free one` : `${name} ${port} is free`))),
    );
  });
}

/** What a check throws is a finding. A driver's text may hold an address with a password, its code does not. */
function guard(what: string, run: () => Finding): Finding;
function guard(what: string, run: () => Promise<Finding>): Promise<Finding>;
function guard(what: string, run: () => Finding | Promise<Finding>): Finding | Promise<Finding> {
  const failed = (error: unknown): Finding => {
    if (isAppError(error)) return wrong(`${what}: ${error.message}`);
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
