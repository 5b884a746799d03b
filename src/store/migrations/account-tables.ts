// The tenth migration: tables for users' own account settings, and the attempt counts that all processes share.
import type { Knex } from 'knex';
import type { Database } from '../database/database.ts';
import { createTables, type Tables } from './first-tables.ts';

const accountTables: Tables = {
  one_time_links(table) {
    table.string('token_hash', 43).primary();
    table.integer('user_id').unsigned().notNullable().references('users.id');
    table.string('purpose', 10).notNullable();
    table.bigInteger('created_at').notNullable();
    table.bigInteger('expires_at').notNullable();
    table.bigInteger('used_at');
    table.index(['user_id']);
    table.index(['expires_at']);
  },
  second_factors(table) {
    table.integer('user_id').unsigned().primary().references('users.id');
    table.text('sealed').notNullable();
    table.bigInteger('last_step').notNullable();
    table.bigInteger('created_at').notNullable();
  },
  recovery_codes(table) {
    table.integer('user_id').unsigned().notNullable().references('users.id');
    table.string('code_hash', 43).notNullable();
    table.primary(['user_id', 'code_hash']);
  },
  attempt_windows(table) {
    table.string('key_hash', 43).primary();
    table.integer('count').notNullable();
    table.bigInteger('ends_at').notNullable();
    table.index(['ends_at']);
  },
};

export async function addAccountColumns({ dialect }: Database, on: Knex): Promise<void> {
  await createTables(on, dialect, accountTables);
  await addColumn(on, 'users', 'sessions_from', (table) => table.bigInteger('sessions_from'));
  await addColumn(on, 'console_sessions', 'address', (table) => table.string('address', 64));
}

async function addColumn(on: Knex, table: string, column: string, add: (table: Knex.AlterTableBuilder) => unknown) {
  if (await on.schema.hasColumn(table, column)) return;
  await on.schema.alterTable(table, (altered) => void add(altered));
}
