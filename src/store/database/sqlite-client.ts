// A knex client for SQLite: works with any loaded driver, on connections that the caller opens.
import { createRequire } from 'node:module';
import type { Knex } from 'knex';
import { systemClock } from '../../core/clock.ts';
import { WasmDatabase } from '../../core/sqlite/wasm.ts';
import type { WasmStatement } from '../../core/sqlite/wasm-statement.ts';
import type { SqliteConnection, SqliteDriver } from '../../core/sqlite.ts';

const require = createRequire(import.meta.url);

/** How long a lock of another process may block the event loop; after that the wait is asynchronous. */
export const BUSY_TURN_MS = 20;
const MAX_BUSY_MS = 10_000;
const RETRY_MS = 25;

/** Whether another connection or process holds the lock. The statement had no effect. */
export const isBusy = (error: unknown): boolean =>
  String((error as { code?: unknown } | null)?.code).startsWith('SQLITE_BUSY');

interface KnexQuery {
  sql: string;
}
interface KnexSqliteClient extends Knex.Client {
  _query(connection: unknown, query: KnexQuery): Promise<unknown>;
}
type KnexSqliteClientClass = new (config: Knex.Config) => KnexSqliteClient;

/**
 * A knex client (for `knex({ client })`) that uses the driver and the connections of `options`: pragmas and open
 * options remain the caller's decision. `immediate`: transactions take the write lock at the beginning. Otherwise a
 * transaction that reads before it writes fails with SQLITE_BUSY, without waiting, when another process has written in
 * between.
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
    override async _query(connection: SqliteConnection | WasmDatabase, query: KnexQuery): Promise<unknown> {
      if (options.immediate && query.sql === 'BEGIN;') query.sql = 'BEGIN IMMEDIATE;';
      const until = systemClock.monotonic() + MAX_BUSY_MS;
      for (;;) {
        try {
          return await this.queryOnce(connection, query);
        } catch (error) {
          if (!isBusy(error) || systemClock.monotonic() > until) throw error;
        }
        await systemClock.sleep(RETRY_MS);
      }
    }
    /** Not a `#` private method: knex runs transactions on objects that inherit from the client. */
    async queryOnce(connection: SqliteConnection | WasmDatabase, query: KnexQuery): Promise<unknown> {
      if (!(connection instanceof WasmDatabase)) return super._query(connection, query);
      // Knex prepares each query again; statements of the WebAssembly driver must be freed explicitly.
      const prepared: WasmStatement[] = [];
      const prepare = (sql: string): WasmStatement => {
        const statement = connection.prepare(sql);
        prepared.push(statement);
        return statement;
      };
      try {
        return await super._query({ prepare }, query);
      } finally {
        for (const statement of prepared) statement.finalize();
      }
    }
  }
  return SqliteClient as unknown as typeof Knex.Client;
}
