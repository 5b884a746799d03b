// Opens the platform's database. SQLite uses a pool of one connection, plus a second connection that only reads
// versions (store/versions.ts). Database servers use a normal pool.
import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import knex, { type Knex } from 'knex';
import { type AddressParameters, readParameters } from '../../core/config/address-parameters.ts';
import { requireOptional } from '../../core/config/optional-package.ts';
import { mysqlSession } from '../../core/config/session-settings.ts';
import type { ServerLocation } from '../../core/errors/connection.ts';
import { AppError, fail } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';
import { explainFile } from '../../core/sqlite/file.ts';
import { loadSqliteDriver, type SqliteChoice, type SqliteConnection, type SqliteKind } from '../../core/sqlite.ts';
import { watchConnectivity } from './connectivity.ts';
import { createDirect, type Direct } from './direct.ts';
import { createGroupedWrites, type GroupedWrites } from './grouped-writes.ts';
import { BUSY_TURN_MS, createKnexClient, isBusy } from './sqlite-client.ts';

export type StoreDialect = 'sqlite' | 'mysql' | 'postgres';

export interface Database {
  readonly dialect: StoreDialect;
  readonly knex: Knex;
  /** Runs a write transaction; on SQLite it takes the write lock at the beginning. */
  write<T>(run: (trx: Knex.Transaction) => Promise<T>): Promise<T>;
  /** Repeats a single statement that lost a deadlock; `write` repeats its transaction too. */
  retry<T>(run: () => PromiseLike<T>): Promise<T>;
  /** Inserts one row and returns its generated id. */
  insert(on: Knex, table: string, row: Record<string, unknown>): Promise<number>;
  /** The address for display, without user and password. */
  readonly shownAs: string;
  /** Only on SQLite. */
  readonly sqlite?: SqliteParts;
  /** Only on a database server. */
  readonly direct?: Direct;
  close(): Promise<void>;
}

interface SqliteParts extends GroupedWrites {
  readonly kind: SqliteKind;
  readonly inMemory: boolean;
  /** A separate connection that never waits for a lock; null for an in-memory database. */
  readonly watch: SqliteConnection | null;
  /**
   * Runs synchronously on the single connection. Each statement is a transaction of its own, because no other code runs
   * in between. Returns undefined without running when a transaction is open or another process has locked the file:
   * the caller then uses knex, which waits. Never runs with the WebAssembly driver, because its statements must be
   * freed explicitly.
   */
  runSync<T>(run: (connection: SqliteConnection) => T): { readonly answer: T } | undefined;
}

interface DatabaseOptions {
  /**
   * `sqlite:<path>`, `sqlite::memory:`, `mysql:`, `mariadb:`, `postgres:`, `postgresql:`; null: a file in `dataDir`.
   */
  readonly url: string | null;
  /** An absolute path. */
  readonly dataDir: string;
  readonly sqlite: SqliteChoice;
  /** Receives the warnings of the connection, for example when a server becomes unavailable. */
  readonly observe?: Observe;
}

/** Lock timeout at startup, when no requests are waiting. */
const BUSY_MS = 10_000;
const variable = 'SERVICE_STORAGE_URL';

const defaultUrl = ({ dataDir }: Pick<DatabaseOptions, 'dataDir'>): string =>
  `sqlite:${resolve(dataDir, 'portico.sqlite')}`;
const filePart = (location: string): string => location.replace(/^\/\/(?=\/|[^/])/, '');

/** The path of a SQLite file storage; undefined for other storages. */
export function locateStorage(options: Pick<DatabaseOptions, 'url' | 'dataDir'>): string | undefined {
  const url = options.url ?? defaultUrl(options);
  const path = /^sqlite:/i.test(url) ? filePart(url.slice('sqlite:'.length)) : '';
  return path && path !== ':memory:' ? resolve(path) : undefined;
}

/**
 * CONFIGURATION when the address is malformed or SQLite cannot open the file. A server is first contacted by a query.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const url = options.url ?? defaultUrl(options);
  const scheme = /^([a-z]+):/i.exec(url)?.[1]?.toLowerCase();
  switch (scheme) {
    case 'sqlite':
      return openSqlite(url.slice('sqlite:'.length), options);
    case 'mysql':
    case 'mariadb':
      return openServer('mysql', parseServerUrl(url), mysqlConfig, options);
    case 'postgres':
    case 'postgresql':
      return openServer('postgres', parseServerUrl(url), postgresConfig, options);
    default:
      return failMalformedUrl();
  }
}

function failMalformedUrl(cause?: unknown): never {
  fail(
    'CONFIGURATION',
    {
      problem: `${variable}: expected sqlite:<path>, mysql://user:password@host/database or postgres://user:password@host/database, got a value that is not shown.`,
    },
    cause,
  );
}

function parseServerUrl(text: string): URL {
  if (!URL.canParse(text)) failMalformedUrl();
  const url = new URL(text);
  if (!url.hostname || url.pathname.length < 2) failMalformedUrl();
  try {
    for (const part of [url.username, url.password, url.pathname]) decodeURIComponent(part);
  } catch (cause) {
    failMalformedUrl(cause);
  }
  return url;
}

function openSqlite(location: string, options: DatabaseOptions): Database {
  const { driver, kind } = loadSqliteDriver(options.sqlite);
  const path = filePart(location);
  if (!path) failMalformedUrl();
  const inMemory = path === ':memory:';
  const file = inMemory ? path : resolve(path);
  const open = (timeout: number): SqliteConnection => {
    try {
      return new driver(file, { timeout });
    } catch (cause) {
      throw new AppError('CONFIGURATION', { problem: unusable(file, cause) }, cause);
    }
  };
  if (!inMemory) prepareFile(file, resolve(options.dataDir));
  const connection = open(BUSY_MS);
  try {
    setPragmas(connection, kind, inMemory);
  } catch (cause) {
    connection.close();
    throw new AppError('CONFIGURATION', { problem: unusable(file, cause) }, cause);
  }
  connection.pragma(`busy_timeout = ${BUSY_TURN_MS}`);
  const watch = inMemory ? null : open(0);
  const database = knex({
    log,
    compileSqlOnError,
    client: createKnexClient({ driver, open: () => connection, immediate: true }),
    connection: { filename: file },
    useNullAsDefault: true,
    pool: { min: 1, max: 1, idleTimeoutMillis: 2 ** 31 - 1 },
  });
  const runSync: SqliteParts['runSync'] = (run) => {
    if (kind === 'wasm' || !connection.open || connection.inTransaction) return undefined;
    try {
      return { answer: run(connection) };
    } catch (error) {
      if (isBusy(error)) return undefined;
      throw error;
    }
  };
  return {
    ...shared('sqlite', database, `sqlite:${file}`),
    sqlite: {
      kind,
      inMemory,
      watch,
      runSync,
      ...createGroupedWrites(runSync),
    },
    async close() {
      watch?.close();
      await database.destroy();
      if (connection.open) connection.close();
    },
  };
}

/** SQLite creates its journals with the mode of the database file, which must therefore be correct beforehand. */
function prepareFile(file: string, dataDir: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    if (dirname(file) === dataDir) chmodSync(dataDir, 0o700);
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
  } catch (cause) {
    throw new AppError('CONFIGURATION', { problem: unusable(file, cause) }, cause);
  }
}

function unusable(file: string, cause: unknown): string {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  const reason = existsSync(file) ? explainFile(file, cause) : `cannot be created (${code ?? 'unknown reason'})`;
  return `${variable}: the storage '${file}' ${reason}. Without SERVICE_STORAGE_URL it is in SERVICE_DATA_DIR.`;
}

function setPragmas(connection: SqliteConnection, kind: SqliteKind, inMemory: boolean): void {
  connection.pragma('foreign_keys = ON');
  if (inMemory) return;
  // The WebAssembly driver has no shared memory and cannot use WAL; a rollback journal is safe only with full syncs.
  if (kind === 'wasm') {
    connection.pragma('synchronous = FULL');
    return;
  }
  connection.pragma('synchronous = NORMAL');
  if (connection.pragma('journal_mode', { simple: true }) === 'wal') return;
  // If two processes switch a new file at once, SQLite refuses one without waiting. The mode is stored in the file, and
  // the second process finds it set when it gets the lock.
  for (let attempt = 1; ; attempt++) {
    try {
      connection.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      if (attempt === 200 || !/locked|busy/i.test((error as Error).message)) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

function openServer(
  dialect: 'mysql' | 'postgres',
  url: URL,
  toConfig: (url: URL, read: AddressParameters) => Knex.Config,
  { observe = () => undefined }: DatabaseOptions,
): Database {
  const read = readParameters(dialect, url.href, []);
  const common = { log, compileSqlOnError, acquireConnectionTimeout: 15_000 };
  const database = knex({ ...common, ...toConfig(url, read) });
  for (const warning of read.warnings) observe({ type: 'warning', message: `${variable}: ${warning}` });
  if (dialect === 'mysql' && read.schemas)
    observe({ type: 'warning', message: `${variable}: the parameter 'schema' has no effect with MySQL and MariaDB.` });
  watchConnectivity(database, locationOf(dialect, url), observe);
  return {
    ...shared(dialect, database, `${url.protocol}//${url.host}${url.pathname}`),
    direct: createDirect(dialect, database, read.pooled === true),
    close: () => database.destroy(),
  };
}

function parts(url: URL) {
  return {
    host: decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1'),
    ...(url.port ? { port: Number(url.port) } : {}),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
  };
}

/**
 * READ COMMITTED: the default isolation locks gaps between rows, which causes waits and deadlocks between unrelated
 * writes.
 */
function mysqlConfig(url: URL, read: AddressParameters): Knex.Config {
  requireOptional('mysql2');
  return {
    client: 'mysql2',
    pool: {
      ...poolOf(read),
      afterCreate: (
        connection: { query(sql: string, done: (error: unknown) => void): void },
        done: (error?: unknown) => void,
      ) =>
        connection.query(mysqlSession, (error) =>
          error ? done(error) : connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED', done),
        ),
    },
    connection: {
      ...parts(url),
      charset: 'utf8mb4',
      timezone: 'Z',
      connectTimeout: read.connectMs ?? CONNECT_MS,
      ...tls(read),
    },
  };
}

/** Parses BIGINT (type 20) as a number: such columns hold counts, ids and milliseconds. Applies only to this pool. */
function postgresConfig(url: URL, read: AddressParameters): Knex.Config {
  const pg = requireOptional<typeof import('pg')>('pg');
  const asNumber = (text: string): number => Number(text);
  return {
    client: 'pg',
    pool: poolOf(read),
    ...(read.schemas && { searchPath: read.schemas }),
    connection: {
      ...parts(url),
      ...tls(read),
      connectionTimeoutMillis: read.connectMs ?? CONNECT_MS,
      types: {
        getTypeParser: ((oid: number, format?: 'text') =>
          oid === 20 ? asNumber : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
      },
    } as Knex.PgConnectionConfig,
  };
}

const CONNECT_MS = 10_000;
const poolOf = ({ maxConnections = 10 }: AddressParameters) => ({ min: 0, max: maxConnections });

/** `?sslmode=require` (or `ssl=true`) requires a verified TLS connection. */
function tls({ tls: mode }: AddressParameters): { ssl?: { rejectUnauthorized: boolean } } {
  if (mode === undefined || mode === 'disabled' || mode === 'preferred') return {};
  return { ssl: { rejectUnauthorized: true } };
}

function locationOf(dialect: 'mysql' | 'postgres', url: URL): ServerLocation {
  const { host, port, database } = parts(url);
  const system = dialect === 'mysql' ? 'MySQL or MariaDB' : 'PostgreSQL';
  return { system, host, port: port ?? (dialect === 'mysql' ? 3306 : 5432), database, setting: variable };
}

const deadlocks: ReadonlySet<unknown> = new Set(['ER_LOCK_DEADLOCK', '40P01', '40001']);

/** The loser of a deadlock is rolled back completely and can run again. */
async function retryDeadlocks<T>(run: () => PromiseLike<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt === 5 || !deadlocks.has((error as { code?: unknown }).code)) throw error;
    }
  }
}

/** Errors are thrown; knex would also print them to standard output, which belongs to the command. */
const silent = (): void => undefined;
const log = { warn: silent, error: silent, deprecate: silent, debug: silent };
/** Leaves values out of error messages: they would reach the log. */
const compileSqlOnError = false;

function shared(dialect: StoreDialect, database: Knex, shownAs: string) {
  return {
    dialect,
    knex: database,
    shownAs,
    retry: retryDeadlocks,
    write: <T>(run: (trx: Knex.Transaction) => Promise<T>): Promise<T> =>
      retryDeadlocks(() => database.transaction(run)),
    async insert(on: Knex, table: string, row: Record<string, unknown>): Promise<number> {
      if (dialect !== 'postgres') return (await on(table).insert(row))[0]!;
      const [inserted] = await on(table).insert(row).returning<{ id: number }[]>('id');
      return inserted!.id;
    },
  };
}
