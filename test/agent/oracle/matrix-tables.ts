// The tables of the operator matrix, one for each type. In column `v`, null has the id 0, and every value has its
// position as id.
import type { Dialect, TestDatabase } from '../../databases.ts';
import { connect } from '../connection.ts';
import type { Column, ColumnType } from './matrix.ts';
import { clockOf } from './matrix-dates.ts';

/** The timezone of columns of type `abroad`. */
export const ABROAD = 'America/New_York';

const words = "'alpha', 'beta', 'gamma', 'omega'";
const types: { readonly [D in Dialect]: { readonly [T in ColumnType]?: string } } = {
  sqlite: {
    text: 'text', loose: 'text collate nocase', whole: 'int', big: 'bigint', decimal: 'decimal(12, 2)', double: 'double',
    flag: 'boolean', instant: 'datetime', plain: 'datetime', abroad: 'datetime', days: 'datetime', day: 'date', time: 'time', uuid: 'uuid', json: 'json',
  },
  mariadb: {
    text: 'varchar(60) collate utf8mb4_nopad_bin', loose: 'varchar(60) collate utf8mb4_unicode_ci', whole: 'int', big: 'bigint',
    decimal: 'decimal(12, 2)', double: 'double', flag: 'tinyint(1)', instant: 'timestamp(3)', plain: 'datetime(3)', abroad: 'datetime(3)', day: 'date',
    time: 'time', choice: `enum(${words})`, uuid: 'uuid', json: 'json',
  },
  postgres: {
    text: 'text collate "C"', loose: 'text', whole: 'integer', big: 'bigint', decimal: 'numeric(12, 2)', double: 'double precision',
    flag: 'boolean', instant: 'timestamptz', plain: 'timestamp', abroad: 'timestamp', day: 'date', time: 'time', choice: 'choice', uuid: 'uuid', json: 'jsonb',
    list: 'text[]', numbers: 'integer[]',
  },
}; // biome-ignore format: a table

export const nameOf = (type: ColumnType): string => `of ${type}`;

/** The columns with a type that the database has. */
export const columnsOf = (dialect: Dialect, columns: readonly Column[]): readonly Column[] =>
  columns.filter(({ type }) => types[dialect][type]);

export async function createMatrix(database: TestDatabase, columns: readonly Column[]): Promise<void> {
  const { dialect } = database;
  const connection = await connect(database);
  const quote = (name: string) => (dialect === 'mariadb' ? `\`${name}\`` : `"${name}"`);
  if (dialect === 'postgres') await connection.run(`create type choice as enum (${words})`, []);
  if (dialect === 'mariadb') await connection.run("set time_zone = '+00:00'", []);
  for (const { type, stored } of columnsOf(dialect, columns)) {
    const table = quote(nameOf(type));
    await connection.run(`create table ${table} (id int primary key, v ${types[dialect][type]} null)`, []);
    for (const [at, value] of [null, ...stored].entries())
      await connection.run(`insert into ${table} values (${dialect === 'postgres' ? '$1, $2' : '?, ?'})`, [
        at,
        encode(dialect, type, value),
      ]);
  }
  await connection.end();
}

function encode(dialect: Dialect, type: ColumnType, value: unknown): unknown {
  if (value === null) return null;
  if (type === 'json') return JSON.stringify(value);
  if (type === 'flag' && dialect === 'sqlite') return Number(value);
  if (type === 'big' && dialect === 'sqlite') return BigInt(`${value}`);
  if (type === 'abroad') return clockOf(`${value}`, ABROAD);
  const isPlain = type === 'plain' || (type === 'instant' && dialect === 'mariadb');
  return isPlain ? `${value}`.replace('T', ' ').replace('Z', '') : value;
}
