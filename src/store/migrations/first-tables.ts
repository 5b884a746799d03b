// The tables of the first version (docs/storage.md shows a row of each). Times are BIGINT milliseconds. JSON is text on
// every database. Names are compared byte by byte.
import type { Knex } from 'knex';
import type { Database, StoreDialect } from '../database/database.ts';

export type Tables = Readonly<Record<string, (table: Knex.CreateTableBuilder) => void>>;

const name = 191;

const firstTables: Tables = {
  projects(table) {
    table.increments('id');
    table.string('organization', name).notNullable();
    table.string('name', name).notNullable().unique();
    table.bigInteger('created_at').notNullable();
  },
  environments(table) {
    table.increments('id');
    table.integer('project_id').unsigned().notNullable().references('projects.id');
    table.string('name', name).notNullable();
    table.bigInteger('created_at').notNullable();
    table.unique(['project_id', 'name']);
  },
  teams(table) {
    table.increments('id');
    table.integer('project_id').unsigned().notNullable().references('projects.id');
    table.string('name', name).notNullable();
    table.unique(['project_id', 'name']);
  },
  renderings(table) {
    table.increments('id');
    table.integer('team_id').unsigned().notNullable().references('teams.id');
    table.integer('environment_id').unsigned().notNullable().references('environments.id');
    table.unique(['team_id', 'environment_id']);
  },
  roles(table) {
    table.increments('id');
    table.integer('project_id').unsigned().notNullable().references('projects.id');
    table.string('name', name).notNullable();
    table.unique(['project_id', 'name']);
  },
  role_permissions(table) {
    table.integer('role_id').unsigned().notNullable().references('roles.id');
    table.integer('environment_id').unsigned().notNullable().references('environments.id');
    table.string('collection', name).notNullable();
    table.string('verbs', 100).notNullable();
    table.text('fields').notNullable();
    table.primary(['role_id', 'environment_id', 'collection']);
  },
  row_scopes(table) {
    table.integer('rendering_id').unsigned().notNullable().references('renderings.id');
    table.string('collection', name).notNullable();
    table.text('filter', 'mediumtext').notNullable();
    table.primary(['rendering_id', 'collection']);
  },
  users(table) {
    table.increments('id');
    // 254 characters is the longest address that mail can carry (RFC 5321).
    table.string('email', 254).notNullable().unique();
    table.string('password_hash', 255).notNullable();
    table.string('first_name', name).notNullable();
    table.string('last_name', name).notNullable();
    table.string('timezone', 64).notNullable();
    table.bigInteger('disabled_at');
    table.bigInteger('created_at').notNullable();
  },
  memberships(table) {
    table.integer('user_id').unsigned().notNullable().references('users.id');
    table.integer('project_id').unsigned().notNullable().references('projects.id');
    table.string('level', 20).notNullable();
    table.integer('team_id').unsigned().notNullable().references('teams.id');
    table.integer('role_id').unsigned().notNullable().references('roles.id');
    table.text('tags').notNullable();
    table.primary(['user_id', 'project_id']);
  },
  oauth_store(table) {
    table.string('model', 40).notNullable();
    // SHA-256 of the id: a client id can be a URL that is too long to index.
    table.string('id_hash', 43).notNullable();
    table.text('id').notNullable();
    table.string('grant_id', name);
    table.string('uid', name);
    table.string('account_id', name);
    table.text('client_id');
    table.text('payload', 'mediumtext').notNullable();
    table.integer('rotations');
    table.bigInteger('consumed_at');
    table.bigInteger('expires_at');
    table.bigInteger('created_at').notNullable();
    table.bigInteger('used_at');
    table.primary(['model', 'id_hash']);
    table.index(['grant_id', 'model']);
    table.index(['model', 'uid']);
    table.index(['expires_at']);
    table.index(['account_id', 'model']);
    table.index(['model', 'created_at']);
  },
  activity_logs(table) {
    table.bigIncrements('id');
    table.integer('user_id').notNullable();
    table.integer('rendering_id').notNullable();
    table.text('client_id').notNullable();
    table.text('client_name').notNullable();
    table.string('action', 100).notNullable();
    table.string('type', 10).notNullable();
    table.string('collection', name);
    table.text('record_ids', 'mediumtext');
    table.string('outcome', 20).notNullable();
    table.string('code', 60);
    table.bigInteger('started_at').notNullable();
    table.double('duration_ms').notNullable();
    table.index(['started_at']);
    table.index(['user_id', 'started_at']);
  },
  admin_logs(table) {
    table.bigIncrements('id');
    table.bigInteger('at').notNullable();
    table.integer('user_id');
    table.string('action', 100).notNullable();
    table.string('subject', 400).notNullable();
    table.text('detail', 'mediumtext').notNullable();
    table.index(['at']);
  },
  settings(table) {
    table.string('key', name).primary();
    table.text('value', 'mediumtext').notNullable();
  },
  versions(table) {
    table.string('name', 40).primary();
    table.bigInteger('number').notNullable();
  },
  installation_keys(table) {
    table.string('purpose', 100).notNullable();
    table.integer('generation').notNullable();
    table.string('key_id', 40).notNullable().unique();
    table.text('sealed', 'mediumtext').notNullable();
    table.bigInteger('created_at').notNullable();
    table.primary(['purpose', 'generation']);
  },
};

export function createFirstTables(on: Knex, dialect: StoreDialect): Promise<void> {
  return createTables(on, dialect, firstTables);
}

/** Skips existing tables, because DDL may not be transactional and a crash can leave some of them. */
export async function createTables(on: Knex, dialect: StoreDialect, tables: Tables): Promise<void> {
  for (const [table, build] of Object.entries(tables)) {
    if (await on.schema.hasTable(table)) continue;
    await on.schema.createTable(table, (builder) => {
      if (dialect === 'mysql') {
        builder.engine('InnoDB');
        builder.charset('utf8mb4');
        builder.collate('utf8mb4_bin');
      }
      build(builder);
    });
  }
}

/** The third migration: who may trigger which action. Null in older rows: the `edit` permission applies. */
export async function addActionPermissions(on: Knex): Promise<void> {
  if (await on.schema.hasColumn('role_permissions', 'actions')) return;
  await on.schema.alterTable('role_permissions', (table) => {
    table.text('actions');
  });
}

/** Part of the sixth migration: writes that need approval. Null in older rows: no write needs it. */
export async function addPolicies(on: Knex): Promise<void> {
  if (await on.schema.hasColumn('role_permissions', 'approval')) return;
  await on.schema.alterTable('role_permissions', (table) => {
    table.text('approval');
  });
}

/** The fourth migration. */
export async function addIdempotencyKeys(on: Knex, dialect: StoreDialect): Promise<void> {
  await createTables(on, dialect, {
    idempotency_keys(table) {
      table.string('key_hash', 43).primary();
      table.string('arguments_hash', 43).notNullable();
      table.string('rights_hash', 43).notNullable();
      table.string('attempt', 40).notNullable();
      table.text('sealed', 'mediumtext');
      table.bigInteger('alive_until').notNullable();
      table.bigInteger('created_at').notNullable();
      table.bigInteger('expires_at').notNullable();
      table.index(['expires_at']);
    },
  });
}

/** The minimum for adding a user: a project, its environment, a team with its rendering, and two roles. */
export async function seedFirstRows(database: Database, on: Knex, now: number): Promise<void> {
  await on.transaction(async (trx) => {
    await trx('versions')
      .insert([
        { name: 'permissions', number: 1 },
        { name: 'grants', number: 1 },
      ])
      .onConflict('name')
      .ignore();
    if (await trx('projects').first('id')) return;
    const project = await database.insert(trx, 'projects', {
      organization: 'My organization',
      name: 'My project',
      created_at: now,
    });
    const environment = await database.insert(trx, 'environments', {
      project_id: project,
      name: 'Production',
      created_at: now,
    });
    const team = await database.insert(trx, 'teams', { project_id: project, name: 'Operations' });
    await trx('renderings').insert({ team_id: team, environment_id: environment });
    const administrator = await database.insert(trx, 'roles', { project_id: project, name: 'Administrator' });
    await trx('roles').insert({ project_id: project, name: 'Member' });
    await trx('role_permissions').insert({
      role_id: administrator,
      environment_id: environment,
      collection: '*',
      verbs: 'browse,read,edit,add,delete,export',
      fields: '{}',
    });
  });
}
