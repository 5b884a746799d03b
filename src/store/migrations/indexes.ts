// Adds columns and indexes to existing tables. MySQL and MariaDB commit each statement separately. Every step can
// therefore be repeated after a crash and skips what exists.
import type { Knex } from 'knex';
import type { StoreDialect } from '../database/database.ts';

interface NewIndex {
  readonly name: string;
  readonly columns: readonly string[];
  /**
   * Condition of a partial index, on databases that support it. Common values are left out and cost calls no index
   * write.
   */
  readonly where?: string;
}

type AddColumn = (table: Knex.AlterTableBuilder) => unknown;

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
  // The check of knex omits generated columns on SQLite.
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
