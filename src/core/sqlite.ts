// The SQLite driver, for the two rooms that own databases (store and agent/sources/sql). The native driver is used where
// it could be built or fetched; elsewhere a WebAssembly SQLite with the same interface takes its place.
import { createRequire } from 'node:module';
import type BetterSqlite3 from 'better-sqlite3';
import type { Knex } from 'knex';
import { AppError } from './errors.ts';

export type SqliteConnection = BetterSqlite3.Database;
export type SqliteDriver = typeof BetterSqlite3;
export type SqliteKind = 'native' | 'wasm';
/** `auto`: native where it loads, else wasm. */
export type SqliteWish = SqliteKind | 'auto';

export interface LoadedSqlite {
  readonly driver: SqliteDriver;
  readonly kind: SqliteKind;
}

const require = createRequire(import.meta.url);
const loaded = new Map<SqliteWish, LoadedSqlite>();

/** CONFIGURATION when the native driver is asked for by name and does not load. */
export function loadSqliteDriver(wish: SqliteWish = 'auto'): LoadedSqlite {
  const known = loaded.get(wish);
  if (known) return known;
  const found = load();
  loaded.set(wish, found);
  return found;

  function load(): LoadedSqlite {
    try {
      return { driver: loadNative(), kind: 'native' };
    } catch (cause) {
      throw new AppError(
        'CONFIGURATION',
        { problem: 'SERVICE_SQLITE: the native SQLite driver cannot be loaded. Set it to auto or wasm, or reinstall.' },
        cause,
      );
    }
  }
}

/** Opening a database is the proof: the package loads even where its binary is missing or made for another Node. */
function loadNative(): SqliteDriver {
  const driver = require('better-sqlite3') as SqliteDriver;
  new driver(':memory:').close();
  return driver;
}

interface KnexQuery {
  sql: string;
}
interface KnexSqliteClient extends Knex.Client {
  _query(connection: unknown, query: KnexQuery): Promise<unknown>;
}
type KnexSqliteClientClass = new (config: Knex.Config) => KnexSqliteClient;

/**
 * A knex client (for `knex({ client })`) that uses the given driver and whatever connection `open` gives, so that
 * pragmas and open options stay with the caller. `immediate`: transactions take the write lock when they begin, since
 * one that reads first and writes later fails with SQLITE_BUSY, without waiting, when another process wrote in between.
 */
export function createKnexClient(options: {
  readonly driver: SqliteDriver;
  readonly open: () => SqliteConnection;
  readonly immediate?: boolean;
}): typeof Knex.Client {
  const Base = require('knex/lib/dialects/better-sqlite3/index.js') as KnexSqliteClientClass;
  class SqliteClient extends Base {
    _driver(): SqliteDriver {
      return options.driver;
    }
    override async acquireRawConnection(): Promise<SqliteConnection> {
      return options.open();
    }
    override async _query(connection: SqliteConnection, query: KnexQuery): Promise<unknown> {
      if (options.immediate && query.sql === 'BEGIN;') query.sql = 'BEGIN IMMEDIATE;';
      return super._query(connection, query);
    }
  }
  return SqliteClient as unknown as typeof Knex.Client;
}
