import type { SqliteWish } from '../core/sqlite.ts';
import type { DataSourceFactory } from './agent.ts';
import { createMemorySource, type MemoryTable } from './sources/memory.ts';
import { createSqlSource } from './sources/sql/source.ts';

export interface SqlDataSourceOptions {
  /** `auto` by default: the native SQLite driver where it loads, else the WebAssembly one. */
  readonly sqlite?: SqliteWish;
}

/** The tables and views of a database: `sqlite:<path>`, `mysql://`, `mariadb://` or `postgres://`. CONFIGURATION at the start when it is malformed. */
export function createSqlDataSource(url: string, options: SqlDataSourceOptions = {}): DataSourceFactory {
  return ({ observe, clock }) => createSqlSource(url, { observe, clock, ...options });
}

/** Tables over arrays, read anew by every call. */
export function createMemoryDataSource(name: string, tables: readonly MemoryTable[]): DataSourceFactory {
  return () => createMemorySource(name, tables);
}
