// A realistic schema for every database: composite keys, a self relation, quoted and non-ASCII names, a table name with
// a space, views, a table without a key, and a column of every type. Its few rows are full of NULLs and wildcards.
import mysql from 'mysql2/promise';
import pg from 'pg';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import type { Dialect, TestDatabase } from '../databases.ts';

const { driver: Database, kind } = loadSqliteDriver();
/** Whether slow SQLite statements run in child processes. With the WebAssembly driver they do not. */
export const sqliteIsolates = kind !== 'wasm';

/** Runs statements directly on the driver, in one transaction if the database can create tables in one. */
export async function runSql(database: TestDatabase, statements: readonly string[]): Promise<void> {
  if (database.dialect === 'sqlite') {
    const connection = new Database(database.url.slice('sqlite:'.length));
    connection.transaction(() => {
      for (const statement of statements) connection.exec(statement);
    })();
    connection.close();
  } else if (database.dialect === 'mariadb') {
    const connection = await mysql.createConnection({ uri: database.url, charset: 'utf8mb4' });
    await connection.query("set time_zone = '+00:00'");
    for (const statement of statements) await connection.query(statement);
    await connection.end();
  } else {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query("set timezone = 'UTC'");
    await client.query('begin');
    for (const statement of statements) await client.query(statement);
    await client.query('commit');
    await client.end();
  }
}

/** The rows of a statement as objects, directly from the driver, to compare with our own results. */
export async function askSql(database: TestDatabase, statement: string): Promise<Record<string, unknown>[]> {
  if (database.dialect === 'sqlite') {
    // Not read-only: a killed process may leave a journal, which the next connection must roll back.
    const connection = new Database(database.url.slice('sqlite:'.length));
    const rows = connection.prepare(statement).all() as Record<string, unknown>[];
    connection.close();
    return rows;
  }
  if (database.dialect === 'mariadb') {
    const connection = await mysql.createConnection(database.url);
    const [rows] = await connection.query(statement);
    await connection.end();
    return rows as Record<string, unknown>[];
  }
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query(statement);
  await client.end();
  return rows as Record<string, unknown>[];
}

interface Words {
  readonly quote: (name: string) => string;
  readonly text: string;
  readonly key: string;
  readonly bool: string;
  readonly yes: string;
  readonly no: string;
  readonly instant: string;
}

const words: Record<Dialect, Words> = {
  sqlite: {
    quote: (name) => `"${name.replaceAll('"', '""')}"`,
    text: 'text',
    key: 'varchar(20)',
    bool: 'boolean',
    yes: '1',
    no: '0',
    instant: 'datetime',
  },
  mariadb: {
    quote: (name) => `\`${name.replaceAll('`', '``')}\``,
    text: 'text collate utf8mb4_bin',
    key: 'varchar(20) collate utf8mb4_bin',
    bool: 'boolean',
    yes: '1',
    no: '0',
    instant: 'datetime(6)',
  },
  postgres: {
    quote: (name) => `"${name.replaceAll('"', '""')}"`,
    text: 'text collate "C"',
    key: 'varchar(20) collate "C"',
    bool: 'boolean',
    yes: 'true',
    no: 'false',
    instant: 'timestamptz',
  },
};

export const spaceTable = 'order lines';
export const unicodeTable = 'Größe?';
export const quotedColumn = 'the "name" of `it`';

/** Tables: places (self relation), visits (composite key), `order lines` (composite foreign key), `Größe?`, journal (no key), open_places (view). */
export function nastySchema(dialect: Dialect): string[] {
  const { quote, text, key, bool, yes, no, instant } = words[dialect];
  const binary = dialect === 'mariadb' ? 'engine = InnoDB default charset = utf8mb4 collate = utf8mb4_bin' : '';
  return [
    `create table places (id integer not null primary key, name ${text}, parent_id integer, is_open ${bool}, rating decimal(10, 2), opened_at ${instant}, code ${key}, unique (code), foreign key (parent_id) references places (id)) ${binary}`,
    `create table visits (place_id integer not null, day date not null, guests integer not null default 0, note ${text}, primary key (place_id, day), foreign key (place_id) references places (id)) ${binary}`,
    `create table ${quote(spaceTable)} (line integer not null primary key, visit_place integer, visit_day date, ${quote(quotedColumn)} ${text}, foreign key (visit_place, visit_day) references visits (place_id, day)) ${binary}`,
    `create table ${quote(unicodeTable)} (${quote('Nummer.1')} integer not null primary key, ${quote('höhe')} double precision, ${quote('wie?')} ${text}) ${binary}`,
    `create table journal (at ${instant}, line ${text}) ${binary}`,
    `create view open_places as select id, name, rating from places where is_open = ${yes}`,
    `insert into places (id, name, parent_id, is_open, rating, opened_at, code) values
      (1, 'Root', null, ${yes}, 4.50, '2024-03-31 00:30:00', 'r'),
      (2, '100% _pure_', 1, ${no}, 12345678.25, '2024-03-31 01:30:00.123', 'p'),
      (3, 'back\\${dialect === 'mariadb' ? '\\' : ''}slash|pipe*?[x]', 1, null, null, null, null),
      (4, 'ÄRGER Über', 2, ${yes}, -0.10, '1969-12-31 23:59:59', 'a'),
      (5, null, 4, ${no}, 0, '2024-03-31 01:30:00.124', 'z')`,
    `insert into visits (place_id, day, guests, note) values (1, '2024-01-01', 3, 'first'), (1, '2024-01-02', 0, null), (2, '2024-01-01', 7, '')`,
    `insert into ${quote(spaceTable)} (line, visit_place, visit_day, ${quote(quotedColumn)}) values (1, 1, '2024-01-02', 'a'), (2, 2, '2024-01-01', null), (3, null, null, 'c')`,
    `insert into ${quote(unicodeTable)} values (1, 1.5, 'so'), (2, null, 'oder so')`,
    `insert into journal values ('2024-01-01 00:00:00', 'x'), ('2024-01-01 00:00:00', 'x'), (null, null)`,
  ];
}

/** One column of every type with its own encoding, with one full row and one of NULLs. */
export const typeSchemas: Record<Dialect, readonly string[]> = {
  sqlite: [
    `create table kinds (id integer primary key, big bigint, dec decimal(20, 4), dbl double, flag boolean, txt varchar(20), ci text collate nocase, bin blob, day date, moment datetime, clock time, epoch timestamp, doc json, uid uuid, loose)`,
    `insert into kinds values (1, 9007199254740993, 1234.5, 0.1, 1, 'a''b', 'Ab', x'00ff', '2024-02-29', '2024-02-29T12:00:00.500Z', '12:30:00', 1709208000, '{"a":[1]}', 'd9428888-122b-11e1-b85c-61cd3cbb3210', 7)`,
    `insert into kinds (id) values (2)`,
  ],
  mariadb: [
    `create table kinds (id int unsigned not null auto_increment primary key, big bigint unsigned, dec_ decimal(30, 4), flt float, dbl double, flag tinyint(1), bits bit(1), txt varchar(20) collate utf8mb4_bin, ci varchar(20) collate utf8mb4_general_ci, latin varchar(20) character set latin1, bin varbinary(10), day date, moment datetime(6), stamp timestamp null, clock time(6), yr year, doc json, uid uuid, pick enum('small', 'it''s', 'LARGE'), many set('x', 'y'), spot point, sum_ int as (1 + 1) stored, area polygon) engine = InnoDB default charset = utf8mb4`,
    `insert into kinds (id, big, dec_, flt, dbl, flag, bits, txt, ci, latin, bin, day, moment, stamp, clock, yr, doc, uid, pick, many, spot, area) values (1, 18446744073709551615, 12345678901234567890.1200, 0.1, 0.1, 1, b'1', 'a\\'b', 'Ab', 'é', x'00ff', '2024-02-29', '2024-02-29 12:00:00.123456', '2024-02-29 12:00:00', '12:30:00.500000', 2024, '{"a":[1]}', 'd9428888-122b-11e1-b85c-61cd3cbb3210', 'it\\'s', 'x,y', point(1, 2.5), st_geomfromtext('POLYGON((0 0,1 0,1 1,0 0))'))`,
    `insert into kinds (id) values (2)`,
  ],
  postgres: [
    `create type size as enum ('small', 'it''s', 'LARGE')`,
    `create domain positive as integer check (value > 0)`,
    `create table kinds (id integer generated always as identity primary key, small smallint, big bigint, dec numeric(30, 4), flt real, dbl double precision, flag boolean, txt varchar(20), fixed char(4), bin bytea, day date, moment timestamptz, local timestamp(3), clock time, doc jsonb, uid uuid, pick size, spot point, tags text[], numbers integer[], price money, span interval, ip inet, dom positive, total integer generated always as (1 + 1) stored)`,
    `insert into kinds (small, big, dec, flt, dbl, flag, txt, fixed, bin, day, moment, local, clock, doc, uid, pick, spot, tags, numbers, price, span, ip, dom) values (-1, 9007199254740993, 12345678901234567890.1200, 0.1, 0.1, true, 'a''b', 'ab', '\\x00ff', '2024-02-29', '2024-02-29 12:00:00.123456+00', '2024-02-29 12:00:00', '12:30:00.5', '{"a":[1]}', 'D9428888-122b-11e1-b85c-61cd3cbb3210', 'it''s', point(1, 2.5), array['a"b', null, 'c,d'], array[1, 2], 1.5, '1 day', '10.0.0.1', 5)`,
    `insert into kinds (small) values (null)`,
  ],
};

/** The view `slow` would scan eight billion rows; `cheap` is a table of 100. */
export function slowSchema(): string[] {
  const values = (count: number) => Array.from({ length: count }, (_, at) => `(${at})`).join(', ');
  return [
    'create table cheap (id integer not null primary key)',
    `insert into cheap (id) values ${values(100)}`,
    'create table numbers (n integer not null primary key)',
    `insert into numbers (n) values ${values(2000)}`,
    'create view slow as select a.n as id from numbers a cross join numbers b cross join numbers c where a.n + b.n * c.n = -1',
  ];
}
