// Another program at the served database: it holds a row and a new key, so that whoever writes there has to wait.
import mysql from 'mysql2/promise';
import pg from 'pg';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import type { TestDatabase } from '../databases.ts';

export interface Holder {
  /** Lets go of everything, with nothing changed. */
  release(): Promise<void>;
}

/** Runs the statements in a transaction that stays open; on SQLite it holds the whole file against writing. */
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
