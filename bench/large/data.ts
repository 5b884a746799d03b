// The large shop of each database, made once and kept between runs: a SQLite file in the folder BENCH_DATA (by default
// `portico-bench` in the folder for temporary files), and a database `portico_bench_large` on each server. The version
// below is kept with the data; data of another version is made again. `npx tsx bench/large/data.ts` makes all of it.
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import mysql from 'mysql2/promise';
import pg from 'pg';
import type { Dialect } from '../../test/databases.ts';
import { loadMariadb, loadPostgres, loadSqlite } from './load.ts';
import { countsOf } from './rows.ts';

/** Raise it with every change of tables.ts or rows.ts. */
const VERSION = 1;
const NAME = 'portico_bench_large';
const serverUrls = {
  mariadb: process.env.TEST_MYSQL_URL ?? 'mysql://root@127.0.0.1:3306/',
  postgres: process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres',
} as const;

/** The URL of the kept shop, which is made if it is missing or of another version. */
export async function keptShop(dialect: Dialect): Promise<string> {
  const began = performance.now();
  const { url, isMade } = await makers[dialect]();
  if (!isMade) await clearShop(dialect, url);
  else console.log(`${dialect}: made the large shop in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  return url;
}

/** A small SQLite shop, to see that a bench runs. */
export function smallShop(folder: string): string {
  const path = join(folder, 'large.sqlite');
  loadSqlite(path, 0.01, VERSION);
  return `sqlite:${path}`;
}

/** Removes what a bench has created: notes after those of the shop. */
export async function clearShop(dialect: Dialect, url: string): Promise<void> {
  const sql = `delete from notes where id > ${countsOf(1).notes}`;
  if (dialect === 'sqlite') {
    const database = new Database(url.slice('sqlite:'.length));
    database.exec(sql);
    database.close();
  } else if (dialect === 'mariadb') {
    const connection = await mysql.createConnection(url);
    await connection.query(sql);
    await connection.end();
  } else {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(sql);
    await client.end();
  }
}

interface Kept {
  readonly url: string;
  readonly isMade: boolean;
}

const makers: Readonly<Record<Dialect, () => Promise<Kept>>> = {
  async sqlite() {
    const folder = process.env.BENCH_DATA ?? join(tmpdir(), 'portico-bench');
    const path = join(folder, 'large.sqlite');
    const isMade = sqliteVersion(path) !== VERSION;
    if (isMade) {
      mkdirSync(folder, { recursive: true });
      for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
      loadSqlite(path, 1, VERSION);
    }
    return { url: `sqlite:${path}`, isMade };
  },

  async mariadb() {
    const url = new URL(serverUrls.mariadb);
    const connection = await mysql.createConnection(url.href);
    const marker = 'select schema_comment as marker from information_schema.schemata where schema_name = ?';
    const [[found]] = (await connection.query(marker, [NAME])) as unknown as [{ marker: string }[]];
    const isMade = found?.marker !== `version ${VERSION}`;
    url.pathname = `/${NAME}`;
    if (isMade) {
      await connection.query(`drop database if exists ${NAME}`);
      await connection.query(`create database ${NAME} character set utf8mb4`);
      await loadMariadb(url.href, 1);
      await connection.query(`alter database ${NAME} comment 'version ${VERSION}'`);
    }
    await connection.end();
    return { url: url.href, isMade };
  },

  async postgres() {
    const url = new URL(serverUrls.postgres);
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    const marker = `select shobj_description(oid, 'pg_database') as marker from pg_database where datname = $1`;
    const { rows } = await client.query<{ marker: string | null }>(marker, [NAME]);
    const isMade = rows[0]?.marker !== `version ${VERSION}`;
    url.pathname = `/${NAME}`;
    if (isMade) {
      await client.query(`drop database if exists ${NAME}`);
      await client.query(`create database ${NAME}`);
      await loadPostgres(url.href, 1);
      await client.query(`comment on database ${NAME} is 'version ${VERSION}'`);
    }
    await client.end();
    return { url: url.href, isMade };
  },
};

function sqliteVersion(path: string): number | undefined {
  if (!existsSync(path)) return undefined;
  const database = new Database(path, { readonly: true });
  const version = database.pragma('user_version', { simple: true }) as number;
  database.close();
  return version;
}

if (process.argv[1] === import.meta.filename)
  for (const dialect of ['sqlite', 'mariadb', 'postgres'] as const) await keptShop(dialect);
