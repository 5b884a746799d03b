// Tables with enough rows that a planner prefers an index, and an index for each column.
import type { Dialect } from '../../databases.ts';

export const ROWS = 20_000;
const OWNERS = 2000;

const types = {
  sqlite: { text: 'text', instant: 'datetime', uuid: 'uuid' },
  mariadb: { text: 'varchar(60) collate utf8mb4_bin', instant: 'datetime(3)', uuid: 'char(36) collate utf8mb4_bin' },
  postgres: { text: 'text collate "C"', instant: 'timestamptz', uuid: 'uuid' },
} as const;

const digits = (value: number) => String(value).padStart(5, '0');
/** A permutation of the row numbers, so that the order of an index is not that of the table. */
const mixed = (row: number) => (row * 7919) % ROWS;

export function instantOf(row: number): string {
  return new Date(Date.UTC(2024, 0, 1) + row * 60_000).toISOString();
}

export const dayOf = (row: number): string =>
  new Date(Date.UTC(2024, 0, 1) + row * 86_400_000).toISOString().slice(0, 10);
export const nameOf = (row: number): string => `name ${digits(row)}`;
export const uuidOf = (row: number): string => `0e7b1d2a-90c4-4f1e-8a3b-0000000${digits(row)}`;

/** The text of an instant, as the database of the test stores it. */
export function storedInstant(dialect: Dialect, instant: string): string {
  return dialect === 'mariadb' ? instant.replace('T', ' ').slice(0, -1) : instant;
}

export function createThings(dialect: Dialect): string[] {
  const { text, instant, uuid } = types[dialect];
  const owner = (name: string, rule: string) => `${name} integer ${rule} references owners (id)`;
  const tables = [
    `create table owners (id integer primary key, last_name ${text} not null, nick ${text})`,
    `create table things (id integer primary key, status ${text} not null, whole integer not null,
      optional integer, amount decimal(10, 2) not null, name ${text} not null, made_at ${instant} not null,
      day date not null, mark ${uuid} not null, ${owner('owner_id', 'not null')}, ${owner('lender_id', 'null')},
      note ${text} not null)`,
  ];
  const owners = Array.from({ length: OWNERS }, (_, row) => {
    const nick = row % 10 === 0 ? 'null' : `'nick ${digits((row * 31) % OWNERS)}'`;
    return `(${row}, 'name ${digits((row * 37) % OWNERS)}', ${nick})`;
  });
  const things = Array.from({ length: ROWS }, (_, row) => {
    const at = mixed(row);
    const optional = row % 20 === 0 ? 'null' : String(mixed(at));
    const lender = row % 25 === 0 ? 'null' : String(at % OWNERS);
    const day = dayOf(at % 2000);
    return `(${row}, 'status ${row % 7}', ${at}, ${optional}, ${at}.5, '${nameOf(at)}',
      '${storedInstant(dialect, instantOf(at))}', '${day}', '${uuidOf(at)}', ${row % OWNERS}, ${lender},
      '${'a note of some length '.repeat(2)}')`;
  });
  const inserts = (table: string, rows: readonly string[]) =>
    Array.from({ length: Math.ceil(rows.length / 2000) }, (_, part) => {
      return `insert into ${table} values ${rows.slice(part * 2000, (part + 1) * 2000).join(', ')}`;
    });
  const indexes = [
    ...['status, made_at', 'status, optional', 'whole', 'optional', 'amount', 'name', 'made_at', 'day', 'mark'],
    ...['owner_id', 'lender_id'],
  ].map((columns, at) => `create index things_${at} on things (${columns})`);
  const analyze = { sqlite: 'analyze', postgres: 'analyze', mariadb: 'analyze table things, owners' } as const;
  return [
    ...tables,
    ...inserts('owners', owners),
    ...inserts('things', things),
    ...indexes,
    'create index owners_0 on owners (last_name)',
    'create index owners_1 on owners (nick)',
    analyze[dialect],
  ];
}
