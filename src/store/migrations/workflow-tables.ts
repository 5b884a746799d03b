// The eighteenth migration: workflows with their versions and triggers, runs with their steps, and the activity log
// entries of each run.
import type { Knex } from 'knex';
import type { Database } from '../database/database.ts';
import type { Tables } from './first-tables.ts';
import { addColumns } from './indexes.ts';

const name = 191;
/** Maximum length of a packed id: the space that every database has in an index beside the other columns. */
const recordId = 400;

export const workflowTables: Tables = {
  workflows(table) {
    table.string('id', 36).primary();
    table.integer('environment_id').notNullable();
    table.integer('rendering_id').notNullable();
    table.string('name', name).notNullable();
    table.string('collection', name).notNullable();
    table.string('source', 10).notNullable();
    table.boolean('active').notNullable();
    table.integer('version').notNullable();
    table.integer('concurrency');
    table.boolean('trigger_enabled').notNullable();
    table.integer('trigger_version').notNullable();
    table.string('trigger_key', 40);
    table.boolean('needs_signature').notNullable();
    table.text('signing_secret');
    table.text('callback_url');
    table.bigInteger('created_at').notNullable();
    table.bigInteger('updated_at').notNullable();
    table.unique(['rendering_id', 'name']);
    table.index(['environment_id', 'name']);
  },
  workflow_versions(table) {
    table.string('workflow_id', 36).notNullable();
    table.integer('version').notNullable();
    table.text('definition', 'mediumtext').notNullable();
    table.bigInteger('created_at').notNullable();
    table.integer('created_by');
    table.primary(['workflow_id', 'version']);
  },
  workflow_runs(table) {
    table.string('id', 36).primary();
    table.integer('environment_id').notNullable();
    table.string('workflow_id', 36).notNullable();
    table.integer('version').notNullable();
    table.integer('rendering_id').notNullable();
    table.string('record_id', recordId).notNullable();
    table.integer('user_id').notNullable();
    table.string('origin', 10).notNullable();
    table.string('origin_name', name).notNullable();
    table.string('state', 20).notNullable();
    table.string('reason', 20);
    table.string('step_id', 40);
    table.integer('position').notNullable();
    table.string('code', 60);
    table.string('message', 500);
    // Hash of workflow and record while the run is active: one run at a time (behaviour api 8, 'active runs').
    table.string('active_key', 43).unique();
    table.string('request_key', 43).unique();
    table.string('request_hash', 43);
    // When an executor must act: at once, at the end of the lease, or at the deadline for an answer. Null when the run
    // has ended.
    table.bigInteger('due_at');
    table.bigInteger('answer_by');
    table.string('owner', 60);
    table.integer('fence').notNullable();
    table.integer('cancelled_by');
    table.bigInteger('callback_at');
    table.integer('callback_attempts').notNullable();
    table.bigInteger('created_at').notNullable();
    table.bigInteger('started_at');
    table.bigInteger('updated_at').notNullable();
    table.bigInteger('finished_at');
    table.index(['environment_id', 'due_at']);
    table.index(['environment_id', 'callback_at']);
    table.index(['environment_id', 'created_at', 'id']);
    table.index(['workflow_id', 'created_at', 'id']);
    table.index(['workflow_id', 'state']);
  },
  workflow_run_steps(table) {
    table.string('run_id', 36).notNullable();
    table.integer('position').notNullable();
    table.string('step_id', 40).notNullable();
    table.string('state', 10).notNullable();
    table.bigInteger('started_at').notNullable();
    table.bigInteger('finished_at');
    table.integer('answered_by');
    table.text('outcome').notNullable();
    table.text('sealed', 'mediumtext');
    table.text('answer', 'mediumtext');
    table.primary(['run_id', 'position']);
  },
  activity_workflows(table) {
    table.bigInteger('log_id').primary();
    table.string('run_id', 36).notNullable();
    table.string('name', name).notNullable();
    table.string('step_name', name);
    table.string('option_name', name);
    table.index(['run_id']);
  },
};

/** JSON: the only collections that a run may read and change; null for no limit. */
export const addRunCollections = ({ dialect }: Database, on: Knex): Promise<void> =>
  addColumns(on, dialect, 'workflow_runs', { collections: (table) => table.text('collections') });

/** Why the last attempt to deliver the callback failed; null when it was delivered, or before the first attempt. */
export const addCallbackProblem = ({ dialect }: Database, on: Knex): Promise<void> =>
  addColumns(on, dialect, 'workflow_runs', { callback_problem: (table) => table.string('callback_problem', 100) });

/** Leases that expired without a release since the run last progressed. */
export const addLostLeasesColumn = ({ dialect }: Database, on: Knex): Promise<void> =>
  addColumns(on, dialect, 'workflow_runs', {
    lost_leases: (table) => table.integer('lost_leases').notNullable().defaultTo(0),
  });
