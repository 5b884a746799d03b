// The rows that users and permissions both hang on: the one project and environment that this process serves, its
// teams with their renderings, and its roles.
import type { Knex } from 'knex';

export interface Place {
  readonly projectId: number;
  readonly environmentId: number;
  readonly organization: string;
  readonly project: string;
  readonly environment: string;
}

/** The first project and environment of the storage: one process serves one environment. */
export async function getPlace(on: Knex): Promise<Place> {
  const row = await on('environments')
    .join('projects', 'projects.id', 'environments.project_id')
    .orderBy('environments.id')
    .first<Place | undefined>(
      'projects.id as projectId',
      'environments.id as environmentId',
      'projects.organization',
      'projects.name as project',
      'environments.name as environment',
    );
  if (!row) throw new Error('the storage holds no environment');
  return row;
}

/** The id of the row of that name, made when it is missing; two callers at once get the same. */
export async function ensureNamed(on: Knex, table: 'teams' | 'roles', place: Place, name: string): Promise<number> {
  const where = { project_id: place.projectId, name };
  const found = await on(table).where(where).first<{ id: number } | undefined>('id');
  if (found) return found.id;
  await on(table).insert(where).onConflict(['project_id', 'name']).ignore();
  return (await on(table).where(where).first<{ id: number }>('id')).id;
}

export async function ensureTeam(on: Knex, place: Place, name: string): Promise<number> {
  const team = await ensureNamed(on, 'teams', place, name);
  await on('renderings')
    .insert({ team_id: team, environment_id: place.environmentId })
    .onConflict(['team_id', 'environment_id'])
    .ignore();
  return team;
}

export interface AdminEntry {
  readonly at: number;
  readonly action: string;
  /** A name, never a secret. */
  readonly subject: string;
  readonly detail?: unknown;
}

/** Within the transaction of the change that it tells of. */
export async function logChange(trx: Knex.Transaction, entry: AdminEntry): Promise<void> {
  await trx('admin_logs').insert({
    at: entry.at,
    user_id: null,
    action: entry.action,
    subject: entry.subject,
    detail: JSON.stringify(entry.detail ?? {}),
  });
}
