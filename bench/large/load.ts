// Loads the large shop as fast as each database takes it: prepared inserts on SQLite, LOAD DATA on MariaDB, COPY on
// PostgreSQL. The last two read the same text: a line for each row, cells between tabs, \N for null.
import { once } from 'node:events';
import { renameSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import Database from 'better-sqlite3';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { type Cell, countsOf, rowOf } from './rows.ts';
import { addForeignKeys, createIndexes, createTable, type Table, tables } from './tables.ts';

const LINES_A_CHUNK = 2_000;

function* textOf(table: Table, part: number): Generator<Buffer> {
  const counts = countsOf(part);
  const count = counts[table.name];
  const make = rowOf[table.name];
  for (let from = 1; from <= count; from += LINES_A_CHUNK) {
    let chunk = '';
    for (let id = from; id < from + LINES_A_CHUNK && id <= count; id++)
      chunk += `${make(id, counts).map(cellText).join('\t')}\n`;
    yield Buffer.from(chunk);
  }
}

function cellText(cell: Cell): string {
  if (cell === null) return '\\N';
  const text = String(cell);
  return /^\d{4}-\d\d-\d\dT/.test(text) ? text.slice(0, 19).replace('T', ' ') : text;
}

/** The file appears whole, with `version` as its user_version. */
export function loadSqlite(path: string, part: number, version: number): void {
  const draft = `${path}.${process.pid}.tmp`;
  rmSync(draft, { force: true });
  const database = new Database(draft);
  try {
    // The draft has no readers and is deleted on failure, so it needs no journal.
    database.pragma('journal_mode = off');
    database.pragma('synchronous = off');
    const counts = countsOf(part);
    for (const table of tables) {
      database.exec(createTable('sqlite', table, true));
      const insert = database.prepare(
        `insert into ${table.name} values (${Object.keys(table.columns).map(() => '?')})`,
      );
      const make = rowOf[table.name];
      database.transaction(() => {
        for (let id = 1; id <= counts[table.name]; id++) insert.run(...make(id, counts));
      })();
      for (const index of createIndexes(table)) database.exec(index);
    }
    database.exec('analyze');
    database.pragma(`user_version = ${version}`);
    database.pragma('journal_mode = wal');
    database.close();
    renameSync(draft, path);
  } finally {
    database.close();
    rmSync(draft, { force: true });
  }
}

/** Into an empty database. */
export async function loadMariadb(url: string, part: number): Promise<void> {
  const connection = await mysql.createConnection(url);
  // The rows are right by construction, and checking them copies each table.
  await connection.query('set foreign_key_checks = 0, unique_checks = 0');
  for (const table of tables) {
    await connection.query(createTable('mariadb', table, false));
    await connection.query({
      sql: `load data local infile 'rows' into table ${table.name}`,
      infileStreamFactory: () => Readable.from(textOf(table, part)),
    });
    const indexes = createIndexes(table).map((sql) => sql.replace(/^create (.*index \w+) on \w+ /, 'add $1 '));
    if (indexes.length > 0) await connection.query(`alter table ${table.name} ${indexes.join(', ')}`);
  }
  for (const sql of tables.flatMap(addForeignKeys)) await connection.query(sql);
  await connection.query(`analyze table ${tables.map(({ name }) => name)}`);
  await connection.end();
}

/** Into an empty database. */
export async function loadPostgres(connectionString: string, part: number): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query("set timezone to 'UTC'; set maintenance_work_mem to '256MB'");
  for (const table of tables) {
    await client.query(createTable('postgres', table, false));
    await copy(client, table.name, textOf(table, part));
    for (const sql of createIndexes(table)) await client.query(sql);
    await client.query(`select setval('${table.name}_id_seq', (select max(id) from ${table.name}))`);
  }
  for (const sql of tables.flatMap(addForeignKeys)) await client.query(sql);
  await client.query('vacuum analyze');
  await client.end();
}

/** The connection of `pg`, as far as a query of another class uses it. */
interface CopyConnection {
  readonly stream: Socket;
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
}

/** COPY ... FROM STDIN, which `pg` leaves to queries of other classes. */
function copy(client: pg.Client, table: string, chunks: Iterable<Buffer>): Promise<void> {
  return new Promise((resolve, reject) => {
    const send = async (connection: CopyConnection) => {
      for (const chunk of chunks) {
        connection.sendCopyFromChunk(chunk);
        if (connection.stream.writableNeedDrain) await once(connection.stream, 'drain');
      }
      connection.endCopyFrom();
    };
    client.query({
      submit: (connection: object) => (connection as CopyConnection).query(`copy ${table} from stdin`),
      handleCopyInResponse: (connection: CopyConnection) =>
        void send(connection).catch((error: Error) => connection.sendCopyFail(error.message)),
      handleCommandComplete: () => undefined,
      handleReadyForQuery: () => resolve(),
      handleError: (error: Error) => reject(error),
    } as pg.Submittable);
  });
}
