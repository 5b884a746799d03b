// How knex talks to SQLite: through whichever driver was loaded, over connections that the caller opens.
import { createRequire } from 'node:module';
import type { Knex } from 'knex';
import { WasmDatabase } from '../core/sqlite/wasm.ts';
import type { WasmStatement } from '../core/sqlite/wasm-statement.ts';
import type { SqliteConnection, SqliteDriver } from '../core/sqlite.ts';

const require = createRequire(import.meta.url);

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
    override async _query(connection: SqliteConnection | WasmDatabase, query: KnexQuery): Promise<unknown> {
      if (options.immediate && query.sql === 'BEGIN;') query.sql = 'BEGIN IMMEDIATE;';
      if (!(connection instanceof WasmDatabase)) return super._query(connection, query);
      // knex prepares each query anew; statements of the WebAssembly driver are freed by hand.
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
