// Another program on the served database that locks a row and a new key, so writers have to wait.
import mysql from 'mysql2/promise';
import pg from 'pg';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import type { TestDatabase } from '../databases.ts';

export interface Holder {
  /** Rolls back and releases all locks. */
  release(): Promise<void>;
}

/** Runs the statements in a transaction that stays open. On SQLite it locks the whole file for writing. */
export async function hold(database: TestDatabase, statements: readonly string[]): Promise<Holder> {
  if (database.dialect === 'sqlite') {
    const { driver: Database } = loadSqliteDriver();
    const connection = new Database(database.url.slice('sqlite:'.length));
    connection.exec('begin immediate');
    return {
      async release() {
        connection.exec('rollback');
        connection.close();
      },
    };
  }
  if (database.dialect === 'mariadb') {
    const connection = await mysql.createConnection(database.url);
    await connection.beginTransaction();
    for (const statement of statements) await connection.query(statement);
    return {
      async release() {
        await connection.rollback();
        await connection.end();
      },
    };
  }
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('begin');
  for (const statement of statements) await client.query(statement);
  return {
    async release() {
      await client.query('rollback');
      await client.end();
    },
  };
}
