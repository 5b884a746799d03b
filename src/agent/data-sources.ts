import type { SqliteWish } from '../core/sqlite.ts';
import type { DataSourceFactory } from './agent.ts';
import { callSite } from './customize/call-site.ts';
import { createMemorySource, type MemoryTable } from './sources/memory.ts';
import { checkTables } from './sources/memory-tables.ts';
import type { SqlConnectionOptions } from './sources/sql/address.ts';
import { createSqlSource } from './sources/sql/source.ts';

/** How an SQL source is opened. */
export interface SqlDataSourceOptions {
  /** `auto` by default: the native SQLite driver where it loads, else the WebAssembly one. */
  readonly sqlite?: SqliteWish;
}

/**
 * The tables and views of a database: `sqlite:<path>`, `mysql://`, `mariadb://` or `postgres://`, or an object with the parts
 * of an address, TLS, pool and schemas. CONFIGURATION at the start when it is malformed, with no secret in it.
 */
export function createSqlDataSource(
  connection: string | SqlConnectionOptions,
  options: SqlDataSourceOptions = {},
): DataSourceFactory {
  return ({ observe, clock }) => createSqlSource(connection, { observe, clock, ...options });
}

/**
 * Tables over arrays, read anew by every call until the first write, which works on a copy. CONFIGURATION, with the user's
 * line, for tables that contradict themselves.
 */
export function createMemoryDataSource(name: string, tables: readonly MemoryTable[]): DataSourceFactory {
  checkTables(tables, callSite(createMemoryDataSource));
  // One for every start: what was written to it outlives a restart.
  const source = createMemorySource(name, tables);
  return () => source;
}
