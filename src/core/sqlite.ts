// The SQLite driver, for the two rooms that own databases (store and agent/sources/sql). The native driver is used where
// it could be built or fetched; elsewhere a WebAssembly SQLite with the same interface takes its place (sqlite/wasm.ts).
import { createRequire } from 'node:module';
import type BetterSqlite3 from 'better-sqlite3';
import { AppError } from './errors.ts';
import { WasmDatabase } from './sqlite/wasm.ts';

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
    if (wish === 'wasm') return { driver: WasmDatabase as unknown as SqliteDriver, kind: 'wasm' };
    try {
      return { driver: loadNative(), kind: 'native' };
    } catch (cause) {
      if (wish === 'auto') return loadSqliteDriver('wasm');
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
