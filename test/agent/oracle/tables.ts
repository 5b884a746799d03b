// Creates the tables of a world in a real database, or over arrays.

import type { PrimitiveType } from '../../../src/agent/sources/column-types.ts';
import { createMemorySource } from '../../../src/agent/sources/memory/source.ts';
import type { Source } from '../../../src/agent/sources/source.ts';
import type { Dialect, TestDatabase } from '../../databases.ts';
import { connect } from '../connection.ts';
import { choices, type Kind, uniqueOf, type World, type WorldTable } from './world.ts';

const types: { readonly [K in Kind]: PrimitiveType } = {
  text: 'String',
  label: 'String',
  whole: 'Number',
  big: 'Number',
  decimal: 'Number',
  flag: 'Boolean',
  instant: 'Date',
  day: 'Dateonly',
  time: 'Time',
  choice: 'Enum',
  uuid: 'Uuid',
};

const words = choices.map((choice) => `'${choice}'`).join(', ');
const sqlTypes: { readonly [D in Dialect]: { readonly [K in Kind]: string } } = {
  sqlite: {
    text: 'text',
    label: 'text collate nocase',
    // SQLite generates missing keys that are declared `integer`.
    whole: 'int',
    big: 'bigint',
    decimal: 'decimal(12, 2)',
    flag: 'boolean',
    instant: 'datetime',
    day: 'date',
    time: 'time',
    choice: 'text',
    uuid: 'uuid',
  },
  mariadb: {
    text: 'varchar(40) character set utf8mb4 collate utf8mb4_nopad_bin',
    label: 'varchar(40) character set utf8mb4 collate utf8mb4_unicode_ci',
    whole: 'int',
    big: 'bigint',
    decimal: 'decimal(12, 2)',
    flag: 'tinyint(1)',
    instant: 'datetime(3)',
    day: 'date',
    time: 'time',
    choice: `enum(${words})`,
    uuid: 'uuid',
  },
  postgres: {
    text: 'text collate "C"',
    label: 'text collate "C"',
    whole: 'integer',
    big: 'bigint',
    decimal: 'numeric(12, 2)',
    flag: 'boolean',
    instant: 'timestamptz',
    day: 'date',
    time: 'time',
    choice: 'choice',
    uuid: 'uuid',
  },
};

/** The tables that this source holds. Foreign keys to other tables are left out. */
type Held = readonly WorldTable[];

export function createMemoryTables(world: World, held: Held = world.tables): Source {
  return createMemorySource(
    'memory',
    held.map((table) => ({
      name: table.name,
      columns: table.columns.map(({ name, kind, nullable }) => ({
        name,
        type: types[kind],
        nullable,
        collation: kind === 'label' ? ('insensitive' as const) : ('binary' as const),
        ...(kind === 'decimal' && { decimals: 2 }),
        ...(kind === 'choice' && { enumValues: choices }),
      })),
      primaryKey: table.key,
      uniqueKeys: uniqueOf(table) ? [uniqueOf(table)!] : [],
      foreignKeys: foreignKeys(table, held),
      rows: table.rows,
    })),
  );
}

function foreignKeys(table: WorldTable, held: Held) {
  return table.relations
    .filter(
      (relation) =>
        !relation.inverse && !relation.only && !relation.isFirst && held.some(({ name }) => name === relation.to),
    )
    .map(({ from, to, target }) => ({ columns: from, table: to, targetColumns: target }));
}

export async function createTables(world: World, database: TestDatabase, held: Held = world.tables): Promise<void> {
  const { dialect } = database;
  const connection = await connect(database);
  const quote = (name: string) => (dialect === 'mariadb' ? `\`${name}\`` : `"${name}"`);
  const list = (names: readonly string[]) => `(${names.map(quote).join(', ')})`;
  if (dialect === 'postgres') await connection.run(`create type choice as enum (${words})`, []);
  for (const table of held) {
    const unique = uniqueOf(table);
    const parts = [
      ...table.columns.map(
        ({ name, kind, nullable }) => `${quote(name)} ${sqlTypes[dialect][kind]}${nullable ? ' null' : ' not null'}`,
      ),
      ...(table.key.length ? [`primary key ${list(table.key)}`] : []),
      ...(unique ? [`unique ${list(unique)}`] : []),
      ...foreignKeys(table, held).map(
        (key) => `foreign key ${list(key.columns)} references ${quote(key.table)} ${list(key.targetColumns)}`,
      ),
    ];
    await connection.run(`create table ${quote(table.name)} (${parts.join(', ')})`, []);
    for (const row of table.rows) {
      const places = row.map((_, index) => (dialect === 'postgres' ? `$${index + 1}` : '?')).join(', ');
      const values = row.map((value, index) => encode(value, table.columns[index]!.kind, dialect));
      await connection.run(`insert into ${quote(table.name)} values (${places})`, values);
    }
  }
  await connection.end();
}

function encode(value: unknown, kind: Kind, dialect: Dialect): unknown {
  if (value === null) return null;
  if (dialect === 'sqlite') return kind === 'flag' ? Number(value) : kind === 'big' ? BigInt(String(value)) : value;
  if (dialect === 'mariadb' && kind === 'instant') return String(value).replace('T', ' ').replace('Z', '');
  return value;
}
