import type { SqliteChoice } from '../core/sqlite.ts';
import { callSite } from './customize/call-site.ts';
import type { DataSourceFactory } from './customize/engine-parts.ts';
import { checkOptions, isText, type OptionRules, refuseOption } from './customize/option-checks.ts';
import { createMemorySource } from './sources/memory/source.ts';
import { checkTables, type MemoryTable } from './sources/memory/tables.ts';
import { readAddress, type SqlConnectionOptions } from './sources/sql/connection/address.ts';
import type { TimezoneOptions } from './sources/sql/connection/timezones.ts';
import { createSqlSource } from './sources/sql/source.ts';

/** Options of an SQL data source. */
export interface SqlDataSourceOptions extends TimezoneOptions {
  /** Default `auto`: the first that loads of `native` (better-sqlite3), `node` (node:sqlite) and `wasm`. */
  readonly sqlite?: SqliteChoice;
  /** Its name in the log, in metrics and on pages. Default: the address, without user, password and query. */
  readonly name?: string;
}

const optionRules: OptionRules<SqlDataSourceOptions> = {
  sqlite: {
    expected: 'auto, native, node or wasm',
    accepts: (value) => value === 'auto' || value === 'native' || value === 'node' || value === 'wasm',
  },
  name: { expected: 'a text', accepts: isText },
  timezone: { expected: "the IANA name of a timezone, such as 'America/New_York' or 'UTC'", accepts: isText },
  columnTimezones: {
    expected: "an object such as { 'orders.placed_at': 'America/New_York' }",
    accepts: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  },
};

/** Checks a connection object early, for an error with the user's line. URLs are checked at the start. */
function checkAddress(connection: SqlConnectionOptions, at: string): void {
  try {
    readAddress(connection);
  } catch (error) {
    refuseOption((error as Error).message.replace(/\.$/, ''), at);
  }
}

/**
 * The tables and views of a database: `sqlite:<path>`, `mysql://`, `mariadb://` or `postgres://`, or an object with the
 * parts of a URL, TLS, pool and schemas. `timezone` applies to timestamps without a zone (default UTC). CONFIGURATION
 * at the start for a malformed connection, without any secret in the message.
 *
 * @example
 * createSqlDataSource('mysql://app@localhost/shop', {
 *   timezone: 'America/New_York',
 *   columnTimezones: { 'orders.synced_at': 'UTC' },
 * })
 */
export function createSqlDataSource(
  connection: string | SqlConnectionOptions,
  options: SqlDataSourceOptions = {},
): DataSourceFactory {
  const at = callSite(createSqlDataSource);
  checkOptions('createSqlDataSource', options, optionRules, at);
  if (typeof connection !== 'string') checkAddress(connection, at);
  return ({ observe, clock }) => createSqlSource(connection, { observe, clock, ...options });
}

/**
 * Tables over arrays. Every call reads the arrays again until the first write, which works on a copy. CONFIGURATION,
 * with the user's line, for inconsistent tables.
 *
 * @example
 * agent.addDataSource(
 *   createMemoryDataSource('rates', [
 *     {
 *       name: 'rates',
 *       columns: [
 *         { name: 'currency', type: 'String' },
 *         { name: 'rate', type: 'Number' },
 *       ],
 *       primaryKey: ['currency'],
 *       rows: [['NOK', 11.7]],
 *     },
 *   ]),
 * );
 */
export function createMemoryDataSource(name: string, tables: readonly MemoryTable[]): DataSourceFactory {
  checkTables(tables, callSite(createMemoryDataSource));
  // All starts share one source, so writes survive a restart.
  const source = createMemorySource(name, tables);
  return () => source;
}
