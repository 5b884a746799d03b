// The demo shop on each database, plus a table for writes. The data for the tools has the same
// columns, keys and indexes everywhere. The SQLite file is in WAL mode, like production files.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { writeDemo } from '../examples/demo-shop/shop.ts';
import { systemClock } from '../src/core/clock.ts';
import { loadSqliteDriver } from '../src/core/sqlite.ts';
import { type Dialect, servers, type TestDatabase } from '../test/databases.ts';

type Server = Exclude<Dialect, 'sqlite'>;

const NOTES = 4_000;
/** The number of notes of each of the first orders. */
const NOTES_AN_ORDER = 40;

const words: Record<Server, Record<'instant' | 'number' | 'generated', string>> = {
  mariadb: { instant: 'DATETIME(3)', number: 'DOUBLE', generated: 'INT AUTO_INCREMENT' },
  postgres: { instant: 'TIMESTAMPTZ(3)', number: 'FLOAT8', generated: 'SERIAL' },
};

const columns = {
  customers: ['id', 'first_name', 'last_name', 'email', 'city'],
  orders: ['id', 'number', 'customer_id', 'status', 'placed_at', 'shipping_fee', 'total', 'coupon'],
  notes: ['id', 'order_id', 'author', 'text', 'stars'],
} as const;
type Table = keyof typeof columns;
const tables = Object.keys(columns) as Table[];

const definitions = (dialect: Server): readonly string[] => {
  const { instant, number, generated } = words[dialect];
  return [
    `CREATE TABLE customers (id INT PRIMARY KEY, first_name VARCHAR(60) NOT NULL, last_name VARCHAR(60) NOT NULL,
      email VARCHAR(120) NOT NULL UNIQUE, city VARCHAR(60) NOT NULL)`,
    `CREATE TABLE orders (id INT PRIMARY KEY, number CHAR(9) NOT NULL UNIQUE, customer_id INT NOT NULL,
      status VARCHAR(10) NOT NULL, placed_at ${instant} NOT NULL, shipping_fee ${number} NOT NULL, total ${number} NOT NULL,
      coupon VARCHAR(20), FOREIGN KEY (customer_id) REFERENCES customers (id))`,
    'CREATE INDEX orders_status ON orders (status, placed_at)',
    `CREATE TABLE notes (id ${generated} PRIMARY KEY, order_id INT NOT NULL, author VARCHAR(40) NOT NULL,
      text VARCHAR(200), stars INT NOT NULL, FOREIGN KEY (order_id) REFERENCES orders (id))`,
    'CREATE INDEX notes_order ON notes (order_id)',
  ];
};

/** A file in `folder` for SQLite; otherwise a database with a random name. */
export async function makeShop(dialect: Dialect, folder: string): Promise<TestDatabase> {
  const path = join(folder, 'shop.sqlite');
  if (dialect === 'sqlite') {
    writeShop(path);
    return { dialect, url: `sqlite:${path}`, drop: async () => undefined };
  }
  const server = servers.find((each) => each.dialect === dialect);
  if (!server) throw new Error(`no ${dialect} to measure with`);
  const database = await server.create();
  const copied = join(folder, `${dialect}.sqlite`);
  writeShop(copied);
  await copyTo(dialect, copied, database.url);
  return database;
}

function writeShop(path: string): void {
  writeDemo(path, { driver: loadSqliteDriver('native').driver, clock: systemClock });
  const database = new Database(path);
  database.pragma('journal_mode = wal');
  database.exec(`CREATE TABLE notes (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders (id),
    author VARCHAR(40) NOT NULL, text VARCHAR(200), stars INTEGER NOT NULL)`);
  const insert = database.prepare('INSERT INTO notes VALUES (?, ?, ?, ?, ?)');
  database.transaction(() => {
    for (let id = 1; id <= NOTES; id++)
      insert.run(id, Math.ceil(id / NOTES_AN_ORDER), `author ${id % 7}`, `what was said of it, ${id}`, id % 5);
  })();
  database.exec('CREATE INDEX notes_order ON notes (order_id); ANALYZE');
  database.close();
}

async function copyTo(dialect: Server, path: string, url: string): Promise<void> {
  const from = new Database(path, { readonly: true });
  const { run, end } = dialect === 'mariadb' ? await openMariadb(url) : await openPostgres(url);
  for (const definition of definitions(dialect)) await run(definition);
  for (const table of tables) {
    const names = columns[table].join(', ');
    const rows = from.prepare(`SELECT ${names} FROM ${table}`).raw().all() as unknown[][];
    for (let at = 0; at < rows.length; at += 500) {
      const values = rows
        .slice(at, at + 500)
        .map((row) => `(${row.map((value) => literal(dialect, value)).join(', ')})`);
      await run(`INSERT INTO ${table} (${names}) VALUES ${values.join(', ')}`);
    }
  }
  await run(dialect === 'mariadb' ? `ANALYZE TABLE ${tables.join(', ')}` : 'ANALYZE');
  if (dialect === 'postgres') await run("SELECT setval('notes_id_seq', (SELECT max(id) FROM notes))");
  await end();
  from.close();
}

function literal(dialect: Server, value: unknown): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number') return String(value);
  const text = String(value).replaceAll("'", "''");
  const isInstant = /^\d{4}-\d\d-\d\dT.*Z$/.test(text);
  return `'${isInstant && dialect === 'mariadb' ? text.replace(/[TZ]/g, ' ').trim() : text}'`;
}

async function openMariadb(url: string) {
  const connection = await mysql.createConnection(url);
  return { run: (sql: string): Promise<unknown> => connection.query(sql), end: () => connection.end() };
}

async function openPostgres(url: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return { run: (sql: string): Promise<unknown> => client.query(sql), end: () => client.end() };
}
