// `portico doctor`: prints the effective settings and their problems. It changes no state: it creates no folder, runs
// no migration and adds no user.
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { createSqlSource } from '../agent/sources/sql/source.ts';
import { systemClock } from '../core/clock.ts';
import { databasesOf } from '../core/config/databases.ts';
import { checkAddress, type Finding, note, ok, risks, wrong } from '../core/config/findings.ts';
import { maskUrl } from '../core/config/masking.ts';
import { describeSettings } from '../core/config/shown.ts';
import { type SsoProvider, ssoProvidersOf } from '../core/config/sso.ts';
import type { Config } from '../core/config.ts';
import { messageForOperator } from '../core/errors/connection.ts';
import { toAppError } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { loadSqliteDriver } from '../core/sqlite.ts';
import { probeMailServer } from '../notifications/mail.ts';
import { explainColor, readBrand } from '../server/brand.ts';
import { openPlatform } from '../server/remote-store.ts';
import { locateStorage, openDatabase } from '../store/database/database.ts';
import { checkSecret, createSecretReader } from '../store/keys.ts';
import { pingRedis } from '../store/limits/redis-quotas.ts';
import { findPending } from '../store/migrations/migrations.ts';
import { checkIndexes } from './missing-indexes.ts';
import { demoPath } from './parts.ts';
import { withStore } from './storage.ts';
import { alignColumns, createPaint } from './terminal.ts';
import { checkStoredFilters, isStorageThere } from './unclear-filters.ts';

/** Prints settings, findings and, on request, missing indexes to standard output. Returns false if there is a problem. */
export async function examine(config: Config, { indexes = false }: { indexes?: boolean } = {}): Promise<boolean> {
  const paint = createPaint(process.stdout);
  const print = (line = '') => process.stdout.write(`${line}\n`);

  print(paint('bold', 'Settings'));
  const rows = describeSettings(config).map(({ env, value, origin }) => [env, value, origin]);
  for (const line of alignColumns(rows)) print(`  ${line}`);
  print();
  print(paint('bold', 'Checks'));
  let problems = 0;
  const colours = { ok: 'green', note: 'yellow', wrong: 'red' } as const;
  for (const check of indexes ? [...checks, checkIndexes] : checks) {
    for (const { state, text } of [(await check(config)) ?? []].flat()) {
      if (state === 'wrong') problems++;
      print(`  ${paint(colours[state], state.padEnd(5))}  ${text}`);
    }
  }
  print();
  print(problems === 0 ? 'No problems found.' : `${problems === 1 ? '1 problem' : `${problems} problems`} found.`);
  return problems === 0;
}

type Found = Finding | readonly Finding[] | undefined;
type Check = (config: Config) => Found | Promise<Found>;
const checks: readonly Check[] = [
  checkNode,
  checkSqlite,
  checkFolder,
  checkStorage,
  checkSources,
  checkRedis,
  checkStoredFilters,
  checkWaitingMail,
  checkAddress,
  checkPublicUrl,
  checkProviders,
  checkBrand,
  checkMail,
  checkPort,
  checkMetricsPort,
  ...risks,
];

/** Mail that the mail server did not accept. */
async function checkWaitingMail(config: Config): Promise<Finding | undefined> {
  if (config.mailUrl === null || !(await isStorageThere(config))) return undefined;
  let failing = 0;
  await withStore(config, async (store) => {
    failing = await store.waitingMails.countFailing();
  });
  if (failing === 0) return undefined;
  const people = failing === 1 ? '1 person' : `${failing} people`;
  return note(
    `SERVICE_MAIL_URL: the mail server did not accept the last mail about waiting items to ${people}. The log has its answer`,
  );
}

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const enough = major > 20 || (major === 20 && minor >= 19);
  return enough
    ? ok(`Node ${process.versions.node}`)
    : wrong(`Node ${process.versions.node}: 20.19 or newer is required`);
}

function checkSqlite(config: Config): Finding {
  return guard('SQLite', () => {
    const { kind } = loadSqliteDriver(config.sqlite);
    if (kind === 'native') return ok('SQLite: native driver');
    if (kind === 'node') return ok('SQLite: driver of Node (node:sqlite)');
    return note('SQLite: WebAssembly, slower than the other drivers, which are not installed or turned off');
  });
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

async function checkSources(config: Config): Promise<Found> {
  const demo = demoPath(config.dataDir);
  if (config.database === null && !existsSync(demo)) return ok('Database: the demo shop, created at the first start');
  const databases = databasesOf(config.database ?? `sqlite:${demo}`);
  return Promise.all(
    databases.map(({ name, url, prefix }) =>
      checkSource(databases.length > 1 || prefix !== '' ? `Database '${name}'` : 'Database', url, config),
    ),
  );
}

function checkSource(what: string, url: string, config: Config): Promise<Finding> {
  return guard(what, async () => {
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
        `${what} ${maskUrl(url)}: ${tables.length} tables and views${left}${warnings.map(({ table, problem }) => `; '${table}' ${problem}`).join('')}${also(driverWarnings)}`,
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

interface Probe {
  readonly status: number;
  /** Undefined if the answer is not JSON. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** How far the clock of the server is ahead, in seconds; undefined if it does not say (RFC 9110 section 6.6.1). */
  readonly secondsAhead: number | undefined;
}

const PROBE_MS = 5000;

/** Returns the reason instead if there is no answer. */
async function probe(url: string): Promise<Probe | string> {
  const late = new AbortController();
  const cancel = systemClock.after(PROBE_MS, () => late.abort());
  try {
    const response = await fetch(url, { redirect: 'error', signal: late.signal });
    const date = Date.parse(response.headers.get('date') ?? '');
    const secondsAhead = Number.isNaN(date) ? undefined : Math.round((date - systemClock.now()) / 1000);
    const text = await response.text();
    let body: Probe['body'];
    try {
      body = JSON.parse(text) as Probe['body'];
    } catch {
      // Says the status instead.
    }
    return { status: response.status, body: body ?? undefined, secondsAhead };
  } catch (error) {
    const { cause, name } = error as { readonly cause?: { readonly code?: unknown }; readonly name?: unknown };
    if (name === 'AbortError') return `no answer within ${PROBE_MS / 1000} seconds`;
    return typeof cause?.code === 'string' ? cause.code : 'the connection failed';
  } finally {
    cancel();
  }
}

/** A note, not a problem: the server may not run yet, and some networks do not reach their own public address. */
async function checkPublicUrl({ publicUrl }: Config): Promise<Finding | undefined> {
  if (publicUrl === null) return undefined;
  const answer = await probe(`${publicUrl}/healthz`);
  const expected = 'expected the answer of /healthz of a running Portico; check the proxy and SERVICE_PUBLIC_URL';
  if (typeof answer === 'string')
    return note(`Public address ${publicUrl} does not answer here (${answer}): ${expected}`);
  if (answer.status === 200 && answer.body?.status === 'ok') return ok(`Public address ${publicUrl} answers`);
  return note(`Public address ${publicUrl} answers with ${answer.status}: ${expected}`);
}

/** Ten minutes are the usual life of what a provider signs; most tolerate less than one minute of difference. */
const MAX_CLOCK_SECONDS = 60;

function checkProviders(config: Config): Promise<readonly Finding[]> {
  return Promise.all(ssoProvidersOf(config).map(checkProvider));
}

async function checkProvider({ issuer, setting }: SsoProvider): Promise<Finding> {
  // OpenID Connect Discovery section 4.
  const answer = await probe(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const problem = (text: string) => wrong(`Identity provider ${issuer}: ${text}; check ${setting}`);
  if (typeof answer === 'string') return problem(`its configuration cannot be read (${answer})`);
  if (answer.status !== 200 || answer.body === undefined)
    return problem(`it has no configuration (status ${answer.status})`);
  if (answer.body.issuer !== issuer) return problem(`its configuration is that of '${String(answer.body.issuer)}'`);
  const { secondsAhead = 0 } = answer;
  if (Math.abs(secondsAhead) > MAX_CLOCK_SECONDS) {
    const how = secondsAhead > 0 ? 'behind' : 'ahead';
    return wrong(
      `Clock: this machine is ${Math.abs(secondsAhead)} seconds ${how} of the identity provider; sign-ins fail until a time service (NTP) sets it`,
    );
  }
  return ok(`Identity provider ${issuer} answers, and the clocks agree`);
}

/** Mail is optional, so no finding without it. */
async function checkMail({ mailUrl, mailFrom }: Config): Promise<Finding | undefined> {
  if (mailUrl === null || mailFrom === null) return undefined;
  return guard('Mail', async () => {
    const problem = await probeMailServer(mailUrl, mailFrom);
    const shown = maskUrl(mailUrl);
    return problem === undefined ? ok(`Mail server ${shown} answers`) : wrong(`Mail server ${shown}: ${problem}`);
  });
}

function checkBrand(config: Config): Finding | undefined {
  try {
    const brand = readBrand(config);
    const color = explainColor(config);
    if (color !== undefined) return note(`Brand: ${color}`);
    return brand === undefined ? undefined : ok('Brand: the logo can be shown, and the color can be read');
  } catch (error) {
    return wrong(`Brand: ${messageForOperator(error as Error)}`);
  }
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
