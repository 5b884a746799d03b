// The twenty-ninth migration: rules that start workflows by themselves, and starts that are not complete yet.
import type { Knex } from 'knex';
import type { Database } from '../database/database.ts';
import { createTables, type Tables } from './first-tables.ts';
import { addColumns } from './indexes.ts';

const startRuleTables: Tables = {
  workflow_start_rules(table) {
    table.string('id', 36).primary();
    table.integer('environment_id').notNullable();
    table.string('workflow_id', 36).notNullable();
    table.integer('user_id').notNullable();
    table.string('collection', 191).notNullable();
    table.integer('workflow_version').notNullable();
    table.text('settings', 'mediumtext').notNullable();
    table.boolean('active').notNullable();
    // Of a schedule that is active.
    table.bigInteger('next_at');
    table.text('last_result');
    table.bigInteger('created_at').notNullable();
    table.bigInteger('updated_at').notNullable();
    table.index(['environment_id', 'next_at']);
    table.index(['workflow_id']);
  },
  workflow_starts(table) {
    table.string('id', 36).primary();
    table.integer('environment_id').notNullable();
    table.string('rule_id', 36).notNullable();
    // Packed ids as JSON; null until the records of a schedule are chosen.
    table.text('records', 'mediumtext');
    table.integer('unlisted').notNullable();
    table.boolean('has_more').notNullable();
    table.text('chain').notNullable();
    table.bigInteger('occurred_at').notNullable();
    table.bigInteger('due_at').notNullable();
    table.integer('fence').notNullable();
    table.index(['environment_id', 'due_at']);
    table.index(['rule_id']);
  },
};

/** `chain`: the workflows whose changes led to the run, as JSON; null for none. */
export async function addStartRules({ dialect }: Database, on: Knex): Promise<void> {
  await createTables(on, dialect, startRuleTables);
  await addColumns(on, dialect, 'workflow_runs', { chain: (table) => table.text('chain') });
}
