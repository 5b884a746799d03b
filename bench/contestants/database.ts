// The database of a bare server, with the fastest calls of its driver: statements prepared once, rows as arrays.
import Database from 'better-sqlite3';
import mysql from 'mysql2';
import pg from 'pg';

type Rows = unknown[][];

export interface BareDatabase {
  read(sql: string, values: readonly unknown[]): Rows | Promise<Rows>;
  /** Runs in one transaction, and returns the rows of the last statement. */
  write(sql: readonly string[], values: readonly (readonly unknown[])[]): Rows | Promise<Rows>;
}

export function openDatabase(url: string): BareDatabase {
  if (url.startsWith('sqlite:')) return openSqlite(url.slice('sqlite:'.length));
  return url.startsWith('postgres') ? openPostgres(url) : openMysql(url.replace(/^mariadb:/, 'mysql:'));
}

function openSqlite(path: string): BareDatabase {
  const database = new Database(path);
  database.pragma('foreign_keys = on');
  const kept = new Map<string, Database.Statement>();
  const statement = (sql: string) => {
    let found = kept.get(sql);
    if (!found) {
      found = database.prepare(sql).raw();
      kept.set(sql, found);
    }
    return found;
  };
  const [begin, commit] = [database.prepare('begin exclusive'), database.prepare('commit')];
  return {
    read: (sql, values) => statement(sql).all(...values) as Rows,
    write(sql, values) {
      begin.run();
      let rows: Rows = [];
      for (const [at, text] of sql.entries()) rows = statement(text).all(...values[at]!) as Rows;
      commit.run();
      return rows;
    },
  };
}

function openMysql(uri: string): BareDatabase {
  const pool = mysql.createPool({ uri, connectionLimit: 10, dateStrings: true, supportBigNumbers: true });
  const run = (on: Pick<mysql.Pool, 'execute'>, sql: string, values: readonly unknown[]) =>
    new Promise<Rows>((resolve, reject) =>
      on.execute({ sql, rowsAsArray: true, values: values as (string | number)[] }, (error, rows) =>
        error ? reject(error) : resolve(rows as unknown as Rows),
      ),
    );
  const take = () =>
    new Promise<mysql.PoolConnection>((resolve, reject) =>
      pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection))),
    );
  const say = (connection: mysql.PoolConnection, sql: string) =>
    new Promise<void>((resolve, reject) => connection.query(sql, (error) => (error ? reject(error) : resolve())));
  return {
    read: (sql, values) => run(pool, sql, values),
    async write(sql, values) {
      const connection = await take();
      await say(connection, 'begin');
      let rows: Rows = [];
      for (const [at, text] of sql.entries()) rows = await run(connection, text, values[at]!);
      await say(connection, 'commit');
      connection.release();
      return rows;
    },
  };
}

function openPostgres(connectionString: string): BareDatabase {
  const asText = (text: string) => text;
  const types = {
    // Keeps dates as text, because the bare server does not use them.
    getTypeParser: ((oid: number, format?: 'text') =>
      oid === pg.types.builtins.TIMESTAMPTZ ? asText : pg.types.getTypeParser(oid, format)) as never,
  };
  const pool = new pg.Pool({ connectionString, max: 10, types });
  const names = new Map<string, string>();
  const run = async (on: Pick<pg.Pool, 'query'>, text: string, values: readonly unknown[]) => {
    const name = names.get(text) ?? `bench_${names.size}`;
    names.set(text, name);
    return (await on.query({ name, text, values: [...values], rowMode: 'array' })).rows as Rows;
  };
  return {
    read: (sql, values) => run(pool, sql, values),
    async write(sql, values) {
      const client = await pool.connect();
      await client.query('begin');
      let rows: Rows = [];
      for (const [at, text] of sql.entries())
        rows = await run(client as unknown as Pick<pg.Pool, 'query'>, text, values[at]!);
      await client.query('commit');
      client.release();
      return rows;
    },
  };
}
