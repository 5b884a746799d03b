// Rows that users and permissions share: the project and environment that this process serves, its teams with their
// renderings, and its roles.
import type { Knex } from 'knex';
import { fail } from '../../core/errors.ts';
import { describeAction } from '../audit/admin-kinds.ts';
import type { Initiator, LogValue } from '../audit/log-types.ts';

export interface EnvironmentInfo {
  readonly projectId: number;
  readonly environmentId: number;
  readonly organization: string;
  readonly project: string;
  readonly environment: string;
}

/**
 * Reads the project and the environment that this process serves, with their current names. CONFIGURATION when the
 * storage lacks the configured name, or has several environments and no name is configured. A guess could grant the
 * rights of another environment.
 */
export type EnvironmentInfoReader = (on: Knex) => Promise<EnvironmentInfo>;

interface NamedRow {
  readonly id: number;
  readonly name: string;
}

/**
 * A process serves one environment: the configured one, or the only one. The first call determines it. The choice is
 * permanent, even when environments are added or it is renamed.
 */
export function createEnvironmentInfoReader(requestedName: string | null): EnvironmentInfoReader {
  let served: NamedRow | undefined;
  return async (on) => {
    served ??= await chooseEnvironment(on, requestedName);
    return (await findEnvironmentInfo(on, served.id)) ?? failDeleted(served.name);
  };
}

/** Reads only the id, once: the environment of a process never changes. */
export function createEnvironmentReader(on: Knex, getEnvironment: EnvironmentInfoReader): () => Promise<number> {
  let served: number | undefined;
  return async () => {
    served ??= (await getEnvironment(on)).environmentId;
    return served;
  };
}

async function chooseEnvironment(on: Knex, requestedName: string | null): Promise<NamedRow> {
  const all = await on('environments').orderBy('id').select<NamedRow[]>('id', 'name');
  const names = all.map(({ name }) => name);
  const found =
    requestedName === null ? (all.length === 1 ? all[0] : undefined) : all.find(({ name }) => name === requestedName);
  return found ?? fail('CONFIGURATION', { problem: `SERVICE_ENVIRONMENT: ${describeChoice(requestedName, names)}` });
}

function describeChoice(requestedName: string | null, names: readonly string[]): string {
  const choice = `one of ${names.map((name) => `'${name}'`).join(', ')}`;
  if (requestedName === null)
    return `the storage has several environments, and a process serves one. Set it to ${choice}.`;
  return `the storage has no environment '${requestedName}'. Set it to ${choice}.`;
}

function failDeleted(name: string): never {
  fail('CONFIGURATION', {
    problem: `The environment '${name}' is no longer in the storage. Restart the process with another SERVICE_ENVIRONMENT.`,
  });
}

function findEnvironmentInfo(on: Knex, environmentId: number): Promise<EnvironmentInfo | undefined> {
  return on('environments')
    .join('projects', 'projects.id', 'environments.project_id')
    .where('environments.id', environmentId)
    .first<EnvironmentInfo | undefined>(
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
  if (!row) throw new Error('the storage has no project');
  return row.id;
}

/** The id of the row with that name, which is created when it is missing. Simultaneous callers get the same id. */
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

/** Every team has a rendering for every environment. */
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
  /** Id of the user who made the change; absent when no user was signed in, as at the command line. */
  readonly by?: number | undefined;
  readonly action: string;
  /** A name, never a secret. */
  readonly subject: string;
  readonly detail?: unknown;
  /** Default: `administrator` with `by`, else `serviceAdmin`. */
  readonly initiator?: Initiator | undefined;
  /** The values before and after, when the subject and the detail do not contain them. */
  readonly before?: LogValue | undefined;
  readonly after?: LogValue | undefined;
}

const jsonOf = (value: LogValue | undefined): string | null => (value ? JSON.stringify(value) : null);

/** Runs within the transaction of the logged change. */
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
