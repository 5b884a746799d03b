// The rows that users and permissions both hang on: the project and the environment that this process serves, its
// teams with their renderings, and its roles.
import type { Knex } from 'knex';
import { fail } from '../core/errors.ts';
import { describeAction } from './admin-kinds.ts';
import type { Initiator, LogValue } from './log-types.ts';

export interface Place {
  readonly projectId: number;
  readonly environmentId: number;
  readonly organization: string;
  readonly project: string;
  readonly environment: string;
}

/**
 * The project and the environment that this process serves, with their names as they are now. CONFIGURATION when the storage
 * has none of the name that was wanted, or several and none was named: to guess would give people rights of elsewhere.
 */
export type PlaceReader = (on: Knex) => Promise<Place>;

interface Named {
  readonly id: number;
  readonly name: string;
}

/**
 * One process serves one environment: the one that is named, or the only one. Which it is, is settled by the first question,
 * so that a process goes on serving it when others are added or it is renamed.
 */
export function createPlaceReader(wanted: string | null): PlaceReader {
  let served: Named | undefined;
  return async (on) => {
    served ??= await chooseEnvironment(on, wanted);
    return (await findPlace(on, served.id)) ?? gone(served.name);
  };
}

/** The id alone, asked once: which environment a process serves never changes. */
export function createEnvironmentReader(on: Knex, getPlace: PlaceReader): () => Promise<number> {
  let served: number | undefined;
  return async () => {
    served ??= (await getPlace(on)).environmentId;
    return served;
  };
}

async function chooseEnvironment(on: Knex, wanted: string | null): Promise<Named> {
  const all = await on('environments').orderBy('id').select<Named[]>('id', 'name');
  const names = all.map(({ name }) => name);
  const found = wanted === null ? (all.length === 1 ? all[0] : undefined) : all.find(({ name }) => name === wanted);
  return found ?? fail('CONFIGURATION', { problem: `SERVICE_ENVIRONMENT: ${describeChoice(wanted, names)}` });
}

function describeChoice(wanted: string | null, names: readonly string[]): string {
  const choice = `one of ${names.map((name) => `'${name}'`).join(', ')}`;
  if (wanted === null) return `the storage holds several environments, and a process serves one. Set it to ${choice}.`;
  return `the storage has no environment '${wanted}'. Set it to ${choice}.`;
}

function gone(name: string): never {
  fail('CONFIGURATION', {
    problem: `The environment '${name}' is no longer in the storage. Start the process anew, with another SERVICE_ENVIRONMENT.`,
  });
}

function findPlace(on: Knex, environmentId: number): Promise<Place | undefined> {
  return on('environments')
    .join('projects', 'projects.id', 'environments.project_id')
    .where('environments.id', environmentId)
    .first<Place | undefined>(
      'projects.id as projectId',
      'environments.id as environmentId',
      'projects.organization',
      'projects.name as project',
      'environments.name as environment',
    );
}

/** The one project of the storage. */
export async function getProjectId(on: Knex): Promise<number> {
  const row = await on('projects').orderBy('id').first<{ id: number } | undefined>('id');
  if (!row) throw new Error('the storage holds no project');
  return row.id;
}

/** The id of the row of that name, made when it is missing; two callers at once get the same. */
export async function ensureNamed(
  on: Knex,
  table: 'teams' | 'roles',
  projectId: number,
  name: string,
): Promise<number> {
  const where = { project_id: projectId, name };
  const found = await on(table).where(where).first<{ id: number } | undefined>('id');
  if (found) return found.id;
  await on(table).insert(where).onConflict(['project_id', 'name']).ignore();
  return (await on(table).where(where).first<{ id: number }>('id')).id;
}

export async function ensureTeam(on: Knex, projectId: number, name: string): Promise<number> {
  const team = await ensureNamed(on, 'teams', projectId, name);
  await addRenderings(on, projectId);
  return team;
}

/** Every team has its view of every environment. */
export async function addRenderings(on: Knex, projectId: number): Promise<void> {
  const [teams, environments] = [
    await on('teams').where({ project_id: projectId }).pluck<number[]>('id'),
    await on('environments').where({ project_id: projectId }).pluck<number[]>('id'),
  ];
  const all = teams.flatMap((team_id) => environments.map((environment_id) => ({ team_id, environment_id })));
  await on('renderings').insert(all).onConflict(['team_id', 'environment_id']).ignore();
}

export interface AdminEntry {
  readonly at: number;
  /** Id of the user who did it; absent when nobody was signed in, as at the command line. */
  readonly by?: number | undefined;
  readonly action: string;
  /** A name, never a secret. */
  readonly subject: string;
  readonly detail?: unknown;
  /** Default: an administrator where `by` is said, else nobody who was signed in. */
  readonly initiator?: Initiator | undefined;
  /** What it was before and is after, where the subject and the detail do not say it. */
  readonly before?: LogValue | undefined;
  readonly after?: LogValue | undefined;
}

const jsonOf = (value: LogValue | undefined): string | null => (value ? JSON.stringify(value) : null);

/** Within the transaction of the change that it tells of. */
export async function logChange(trx: Knex.Transaction, entry: AdminEntry): Promise<void> {
  await trx('admin_logs').insert({
    at: entry.at,
    user_id: entry.by ?? null,
    action: entry.action,
    subject: entry.subject,
    detail: JSON.stringify(entry.detail ?? {}),
    ...describeAction(entry.action),
    initiator: entry.initiator ?? (entry.by === undefined ? 'serviceAdmin' : 'administrator'),
    previous_value: jsonOf(entry.before),
    new_value: jsonOf(entry.after),
  });
}
