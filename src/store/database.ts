// One database for everything the platform keeps. SQLite is used through a pool of one connection, with a second
// connection beside it that only looks (see versions.ts); servers are used through a pool.
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import knex, { type Knex } from 'knex';
import { AppError, fail } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { loadSqliteDriver, type SqliteConnection, type SqliteKind, type SqliteWish } from '../core/sqlite.ts';
import { watchServer } from './away.ts';
import { createKnexClient } from './sqlite-client.ts';

export type StoreDialect = 'sqlite' | 'mysql' | 'postgres';

export interface Database {
  readonly dialect: StoreDialect;
  readonly knex: Knex;
  /** A transaction that may write; on SQLite it holds the write lock from its beginning. */
  write<T>(run: (trx: Knex.Transaction) => Promise<T>): Promise<T>;
  /** Runs a single statement again when the server chose it to end a deadlock; `write` does so by itself. */
  retry<T>(run: () => PromiseLike<T>): Promise<T>;
  /** Inserts one row and answers its generated id. */
  insert(on: Knex, table: string, row: Record<string, unknown>): Promise<number>;
  /** The database as it may be shown: without user and password. */
  readonly shownAs: string;
  /** Only on SQLite. */
  readonly sqlite?: SqliteParts;
  close(): Promise<void>;
}

export interface SqliteParts {
  readonly kind: SqliteKind;
  readonly inMemory: boolean;
  /** A connection of its own that never waits for a lock; none for a database in memory. */
  readonly watch: SqliteConnection | null;
  /**
   * The one connection while no transaction is open on it: a statement that runs on it at once, in the same turn, is a
   * transaction of its own. Never with the WebAssembly driver, whose statements are freed by hand.
   */
  idle(): SqliteConnection | undefined;
}

export interface DatabaseOptions {
  /** `sqlite:<path>`, `sqlite::memory:`, `mysql:`, `mariadb:`, `postgres:`, `postgresql:`; null: a file in `dataDir`. */
  readonly url: string | null;
  /** Absolute. */
  readonly dataDir: string;
  readonly sqlite: SqliteWish;
  /** Told when a server goes away. */
  readonly observe?: Observe;
}

const BUSY_MS = 10_000;
const variable = 'SERVICE_STORAGE_URL';

const defaultUrl = ({ dataDir }: Pick<DatabaseOptions, 'dataDir'>): string =>
  `sqlite:${resolve(dataDir, 'portico.sqlite')}`;
const filePart = (location: string): string => location.replace(/^\/\/(?=\/|[^/])/, '');

/** The file of a storage that is SQLite in a file; undefined for others. */
export function locateStorage(options: Pick<DatabaseOptions, 'url' | 'dataDir'>): string | undefined {
  const url = options.url ?? defaultUrl(options);
  const path = /^sqlite:/i.test(url) ? filePart(url.slice('sqlite:'.length)) : '';
  return path && path !== ':memory:' ? resolve(path) : undefined;
}

/** CONFIGURATION when the address is malformed or SQLite cannot open the file. Servers are first reached by a query. */
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
      return malformed();
  }
}

function malformed(cause?: unknown): never {
  fail(
    'CONFIGURATION',
    {
      problem: `${variable}: expected sqlite:<path>, mysql://user:password@host/database or postgres://user:password@host/database, got a value that is not shown.`,
    },
    cause,
  );
}

function parseServerUrl(text: string): URL {
  if (!URL.canParse(text)) malformed();
  const url = new URL(text);
  if (!url.hostname || url.pathname.length < 2) malformed();
  try {
    for (const part of [url.username, url.password, url.pathname]) decodeURIComponent(part);
  } catch (cause) {
    malformed(cause);
  }
  return url;
}

function openSqlite(location: string, options: DatabaseOptions): Database {
  const { driver, kind } = loadSqliteDriver(options.sqlite);
  const path = filePart(location);
  if (!path) malformed();
  const inMemory = path === ':memory:';
  const file = inMemory ? path : resolve(path);
  const open = (timeout: number): SqliteConnection => {
    try {
      return new driver(file, { timeout });
    } catch (cause) {
      throw new AppError('CONFIGURATION', { problem: `${variable}: '${file}' cannot be opened.` }, cause);
    }
  };
  if (!inMemory) prepareFile(file, resolve(options.dataDir));
  const connection = open(BUSY_MS);
  try {
    setPragmas(connection, kind, inMemory);
  } catch (cause) {
    connection.close();
    throw new AppError('CONFIGURATION', { problem: `${variable}: '${file}' is not a usable SQLite database.` }, cause);
  }
  const watch = inMemory ? null : open(0);
  const database = knex({
    log,
    compileSqlOnError,
    client: createKnexClient({ driver, open: () => connection, immediate: true }),
    connection: { filename: file },
    useNullAsDefault: true,
    pool: { min: 1, max: 1, idleTimeoutMillis: 2 ** 31 - 1 },
  });
  return {
    ...shared('sqlite', database, `sqlite:${file}`),
    sqlite: {
      kind,
      inMemory,
      watch,
      idle: () => (kind === 'native' && connection.open && !connection.inTransaction ? connection : undefined),
    },
    async close() {
      watch?.close();
      await database.destroy();
      if (connection.open) connection.close();
    },
  };
}

/** SQLite gives its journals the mode of the file, so the file is made with the right one before SQLite sees it. */
function prepareFile(file: string, dataDir: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    if (dirname(file) === dataDir) chmodSync(dataDir, 0o700);
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
  } catch (cause) {
    throw new AppError('CONFIGURATION', { problem: `${variable}: '${file}' cannot be made or opened.` }, cause);
  }
}

function setPragmas(connection: SqliteConnection, kind: SqliteKind, inMemory: boolean): void {
  connection.pragma('foreign_keys = ON');
  if (inMemory) return;
  // The WebAssembly driver has no shared memory, hence no WAL; a rollback journal is safe only with full syncs.
  if (kind === 'wasm') {
    connection.pragma('synchronous = FULL');
    return;
  }
  connection.pragma('synchronous = NORMAL');
  if (connection.pragma('journal_mode', { simple: true }) === 'wal') return;
  // Two processes that switch a new file at once: SQLite refuses one of them without waiting. The mode is kept in the
  // file, so whoever was refused finds it set as soon as he gets the lock.
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
  toConfig: (url: URL) => Knex.Config,
  { observe = () => undefined }: DatabaseOptions,
): Database {
  const common = { log, compileSqlOnError, pool: { min: 0, max: 10 }, acquireConnectionTimeout: 15_000 };
  const database = knex({ ...common, ...toConfig(url) });
  watchServer(database, observe);
  return {
    ...shared(dialect, database, `${url.protocol}//${url.host}${url.pathname}`),
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

/** READ COMMITTED: the default locks gaps between rows, which makes strangers wait for and deadlock with each other. */
function mysqlConfig(url: URL): Knex.Config {
  return {
    client: 'mysql2',
    pool: {
      min: 0,
      max: 10,
      afterCreate: (connection: { query(sql: string, done: (error: unknown) => void): void }, done: () => void) =>
        connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED', done),
    },
    connection: { ...parts(url), charset: 'utf8mb4', timezone: 'Z', connectTimeout: 10_000, ...tls(url) },
  };
}

/** BIGINT (type 20) as a number: what is kept in one are counts, ids and milliseconds. Only for this pool. */
function postgresConfig(url: URL): Knex.Config {
  const asNumber = (text: string): number => Number(text);
  return {
    client: 'pg',
    connection: async () => {
      const { default: pg } = await import('pg');
      return {
        ...parts(url),
        ...tls(url),
        connectionTimeoutMillis: 10_000,
        types: {
          getTypeParser: ((oid: number, format?: 'text') =>
            oid === 20 ? asNumber : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
        },
      } as Knex.PgConnectionConfig;
    },
  };
}

/** `?sslmode=require` (or `ssl=true`) asks for a verified TLS connection. */
function tls(url: URL): { ssl?: { rejectUnauthorized: boolean } } {
  const mode = url.searchParams.get('sslmode') ?? url.searchParams.get('ssl');
  return mode && !['disable', 'prefer', 'false', '0'].includes(mode) ? { ssl: { rejectUnauthorized: true } } : {};
}

const deadlocks: ReadonlySet<unknown> = new Set(['ER_LOCK_DEADLOCK', '40P01', '40001']);

/** The loser of a deadlock was rolled back whole, so that it may simply be run again. */
async function retryDeadlocks<T>(run: () => PromiseLike<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt === 5 || !deadlocks.has((error as { code?: unknown }).code)) throw error;
    }
  }
}

/** What goes wrong is thrown; knex would also print it to standard output, which is the user's. */
const silent = (): void => undefined;
const log = { warn: silent, error: silent, deprecate: silent, debug: silent };
/** Errors come with their statement; the values would come into the log with it. */
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
      if (dialect !== 'postgres') return ((await on(table).insert(row)) as number[])[0]!;
      const [made] = await on(table).insert(row).returning<{ id: number }[]>('id');
      return made!.id;
    },
  };
}
