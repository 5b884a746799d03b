// Columns and indexes that migrations add to tables that are there. MySQL and MariaDB commit each statement at once, so that all
// of it may be run again after a crash in its middle: what is there already is left.
import type { Knex } from 'knex';
import type { StoreDialect } from './database.ts';

export interface NewIndex {
  readonly name: string;
  readonly columns: readonly string[];
  /** Where a database can leave rows out of an index: what is the rule costs a call nothing there. */
  readonly where?: string;
}

export type AddColumn = (table: Knex.AlterTableBuilder) => unknown;

export async function addColumns(
  on: Knex,
  dialect: StoreDialect,
  table: string,
  columns: Readonly<Record<string, AddColumn>>,
): Promise<void> {
  for (const [column, add] of Object.entries(columns)) {
    if (await hasColumn(on, dialect, table, column)) continue;
    await on.schema.alterTable(table, (altered) => void add(altered));
  }
}

async function hasColumn(on: Knex, dialect: StoreDialect, table: string, column: string): Promise<boolean> {
  if (dialect !== 'sqlite') return on.schema.hasColumn(table, column);
  // knex looks where SQLite leaves out columns that it makes of others.
  const found = await on.raw('select name from pragma_table_xinfo(?) where name = ?', [table, column]);
  return found.length > 0;
}

export async function ensureIndex(
  on: Knex,
  dialect: StoreDialect,
  table: string,
  { name, columns, where }: NewIndex,
): Promise<void> {
  if (dialect === 'mysql' && (await hasMysqlIndex(on, table, name))) return;
  const unless = dialect === 'mysql' ? '' : 'if not exists ';
  const rows = where === undefined || dialect === 'mysql' ? '' : ` where ${where}`;
  await on.raw(`create index ${unless}${name} on ${table} (${columns.join(', ')})${rows}`);
}

export async function dropIndex(on: Knex, dialect: StoreDialect, table: string, name: string): Promise<void> {
  if (dialect !== 'mysql') await on.raw(`drop index if exists ${name}`);
  else if (await hasMysqlIndex(on, table, name)) await on.raw(`drop index ${name} on ${table}`);
}

async function hasMysqlIndex(on: Knex, table: string, name: string): Promise<boolean> {
  const found = await on('information_schema.statistics')
    .where({ table_schema: on.raw('database()'), table_name: table, index_name: name })
    .first('index_name');
  return found !== undefined;
}
