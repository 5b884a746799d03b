// A plain connection to a test database, to create and fill tables.
import mysql from 'mysql2/promise';
import pg from 'pg';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import type { TestDatabase } from '../databases.ts';

const { driver: Database } = loadSqliteDriver();

export interface Connection {
  run(sql: string, values: unknown[]): Promise<unknown>;
  end(): Promise<unknown>;
}

export async function connect({ dialect, url }: TestDatabase): Promise<Connection> {
  if (dialect === 'sqlite') {
    const database = new Database(url.slice('sqlite:'.length));
    database.exec('pragma synchronous = off');
    return {
      run: async (sql, values) => database.prepare(sql).run(...values),
      end: async () => database.close(),
    };
  }
  if (dialect === 'mariadb') {
    const connection = await mysql.createConnection({ uri: url, multipleStatements: true });
    await connection.beginTransaction();
    return {
      run: (sql, values) => connection.query(sql, values),
      end: async () => {
        await connection.commit();
        await connection.end();
      },
    };
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return { run: (sql, values) => client.query(sql, values), end: () => client.end() };
}
