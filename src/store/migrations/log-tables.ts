// The sixteenth migration makes the logs searchable. Activity entries get their environment, a number for the client
// name, and a narrow table of their records. Admin entries get the filter columns and the values before and after.
// Every list uses an index that begins with its filter and ends with the sort order.
import type { Knex } from 'knex';
import type { Database, StoreDialect } from '../database/database.ts';
import { createTables, type Tables } from './first-tables.ts';
import { addColumns, dropIndex, ensureIndex } from './indexes.ts';
import { backfillActivity, backfillAdminLog, logExistingStructure } from './log-backfill.ts';

const tables: Tables = {
  // In the order of the list for one record, with the entry's own time.
  activity_records(table) {
    table.integer('environment_id').notNullable();
    table.string('record_key', 100).notNullable();
    table.bigInteger('started_at').notNullable();
    table.bigInteger('log_id').notNullable();
    table.primary(['environment_id', 'record_key', 'started_at', 'log_id']);
  },
  // Team names of deleted renderings, because their entries remain.
  past_renderings(table) {
    table.integer('id').primary();
    table.integer('environment_id').notNullable();
    table.string('team', 191).notNullable();
  },
};

interface Index {
  /** Followed by the time and by the id, unless the index already contains it. */
  readonly by: readonly string[];
  /**
   * Condition of a partial index, on databases that support it. Common values are left out and cost calls no index
   * write.
   */
  readonly where?: string;
}

const activityIndexes: readonly Index[] = [
  { by: ['environment_id'] },
  { by: ['environment_id', 'user_id'] },
  { by: ['environment_id', 'collection'] },
  { by: ['environment_id', 'action'] },
  { by: ['environment_id', 'type'], where: "type <> 'read'" },
  { by: ['environment_id', 'outcome'], where: "outcome <> 'completed'" },
  { by: ['environment_id', 'client_key'] },
  { by: ['rendering_id'] },
];
const adminIndexes: readonly Index[] = ['', 'user_id', 'type', 'resource', 'initiator'].map((column) => ({
  by: column === '' ? [] : [column],
}));

export async function addLogSearch(database: Database, on: Knex, now: number): Promise<void> {
  const { dialect } = database;
  await createTables(on, dialect, tables);
  await addColumns(on, dialect, 'activity_logs', {
    environment_id: (table) => table.integer('environment_id').notNullable().defaultTo(0),
    client_key: (table) => table.bigInteger('client_key').notNullable().defaultTo(0),
  });
  await addColumns(on, dialect, 'admin_logs', {
    type: (table) => table.string('type', 10).notNullable().defaultTo('update'),
    resource: (table) => table.string('resource', 100).notNullable().defaultTo(''),
    initiator: (table) => table.string('initiator', 20).notNullable().defaultTo('serviceAdmin'),
    new_value: (table) => table.text('new_value', 'mediumtext'),
    previous_value: (table) => table.text('previous_value', 'mediumtext'),
  });
  await backfillActivity(on);
  await backfillAdminLog(on);
  for (const index of activityIndexes) await ensureOrdered(on, dialect, 'activity_logs', 'started_at', index);
  for (const index of adminIndexes) await ensureOrdered(on, dialect, 'admin_logs', 'at', index);
  await dropIndex(on, dialect, 'activity_logs', 'activity_logs_started_at_index');
  await dropIndex(on, dialect, 'activity_logs', 'activity_logs_user_id_started_at_index');
  if (dialect === 'postgres') await dropIndex(on, dialect, 'admin_logs', 'admin_logs_at_index');
  await logExistingStructure(on, now);
}

async function ensureOrdered(
  on: Knex,
  dialect: StoreDialect,
  table: string,
  at: string,
  { by, ...rest }: Index,
): Promise<void> {
  const columns = [...by, at, ...(dialect === 'postgres' ? ['id'] : [])];
  await ensureIndex(on, dialect, table, { name: `${table}_${columns.join('_')}_index`, columns, ...rest });
}
