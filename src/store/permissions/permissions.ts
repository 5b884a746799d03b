// Reads permissions as facts, which become an `Access` (access.ts), and sets them by role and team.
import type { Knex } from 'knex';
import type { Caller, PermissionLevel } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';
import { suggestNames } from '../../core/suggestions.ts';
import type { Database } from '../database/database.ts';
import type { VersionRows } from '../versions.ts';
import { type AccessFacts, createAccessReader, type FactsAt } from './access.ts';
import { findFilterProblem } from './filters.ts';
import { checkCollection, loadPermissionRows, toPermissionRow } from './grants.ts';
import { type EnvironmentInfo, type EnvironmentInfoReader, ensureNamed, logChange } from './roles.ts';
import type { Meanings, Permissions } from './types.ts';

interface Member {
  readonly id: number;
  readonly email: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly timezone: string;
  readonly level: PermissionLevel;
  readonly tags: string;
  readonly team: string;
  readonly role: string;
  readonly role_id: number;
  readonly rendering_id: number;
}

/** Permissions with the facts of an `Access`, for a process that reads them from this one. */
export interface PermissionRows extends Permissions {
  factsOf(userId: number): Promise<FactsAt>;
}

export function createPermissions(
  database: Database,
  versions: VersionRows,
  getEnvironment: EnvironmentInfoReader,
  observe: Observe,
  clock: Clock,
  loadMeanings: Meanings['list'],
): PermissionRows {
  const { knex } = database;
  async function load(userId: number): Promise<FactsAt> {
    for (;;) {
      const { permissions: version } = await versions.current();
      const facts = await loadFacts(userId);
      // Several statements read the facts. They belong to one version only if the version did not change meanwhile.
      if ((await versions.current()).permissions === version) return { version, facts };
    }
  }

  async function loadFacts(userId: number): Promise<AccessFacts | undefined> {
    const environment = await getEnvironment(knex);
    const member = await knex('users')
      .join('memberships', 'memberships.user_id', 'users.id')
      .join('teams', 'teams.id', 'memberships.team_id')
      .join('roles', 'roles.id', 'memberships.role_id')
      .join('renderings', 'renderings.team_id', 'teams.id')
      .where({ 'users.id': userId, 'renderings.environment_id': environment.environmentId })
      .where('memberships.project_id', environment.projectId)
      .whereNull('users.disabled_at')
      .first<Member | undefined>(
        'users.id',
        'users.email',
        'users.first_name',
        'users.last_name',
        'users.timezone',
        'memberships.level',
        'memberships.tags',
        'teams.name as team',
        'roles.name as role',
        'roles.id as role_id',
        'renderings.id as rendering_id',
      );
    if (!member) return undefined;
    const [permissions, scopes] = await Promise.all([
      loadPermissionRows(knex, member.role_id, environment.environmentId),
      loadScopes(knex, member.rendering_id),
    ]);
    return { caller: toCaller(member), permissions, scopes };
  }

  return {
    ...createAccessReader({ versions: versions.current, load, loadMeanings, observe }),
    factsOf: load,
    async setRole(role, collections) {
      if (role === '' || role.length > 191) {
        fail('INVALID_ARGUMENT', { argument: 'role', problem: 'expected a name of 1 to 191 characters.' });
      }
      const rows = Object.entries(collections).map(toPermissionRow);
      await versions.change('permissions', async (trx) => {
        const environment = await getEnvironment(trx);
        const key = {
          role_id: await ensureNamed(trx, 'roles', environment.projectId, role),
          environment_id: environment.environmentId,
        };
        await trx('role_permissions').where(key).delete();
        for (const row of rows) await trx('role_permissions').insert({ ...key, ...row });
        await logChange(trx, { at: clock.now(), action: 'role.set', subject: role, detail: collections });
      });
    },
    async setScope(team, collection, filter) {
      const problem = filter === null ? undefined : findFilterProblem(filter);
      if (problem) fail('INVALID_ARGUMENT', { argument: 'filter', problem });
      checkCollection(collection);
      await versions.change('permissions', async (trx) => {
        const rendering_id = await getRendering(trx, await getEnvironment(trx), team);
        await trx('row_scopes').where({ rendering_id, collection }).delete();
        if (filter !== null) {
          await trx('row_scopes').insert({ rendering_id, collection, filter: JSON.stringify(filter) });
        }
        const subject = `${team}/${collection}`;
        await logChange(trx, { at: clock.now(), action: 'scope.set', subject, detail: { filter } });
      });
    },
  };
}

/**
 * An unknown team is an error and is not created: a scope on a misspelled name would leave the intended team without
 * one.
 */
async function getRendering(on: Knex, environment: EnvironmentInfo, team: string): Promise<number> {
  const rows = await on('renderings')
    .join('teams', 'teams.id', 'renderings.team_id')
    .where({ 'renderings.environment_id': environment.environmentId })
    .select<{ id: number; name: string }[]>('renderings.id', 'teams.name');
  const found = rows.find(({ name }) => name === team);
  if (found) return found.id;
  const near = suggestNames(
    team,
    rows.map(({ name }) => name),
  );
  const hint = near.length ? ` Near: ${near.join(', ')}.` : '';
  fail('INVALID_ARGUMENT', { argument: 'team', problem: `there is no team '${team}'.${hint}` });
}

async function loadScopes(on: Knex, renderingId: number): Promise<AccessFacts['scopes']> {
  const rows = await on('row_scopes')
    .where({ rendering_id: renderingId })
    .select<{ collection: string; filter: string }[]>('collection', 'filter');
  return rows.map((row) => [row.collection, row.filter] as const);
}

function toCaller(member: Member): Caller {
  return {
    id: member.id,
    email: member.email,
    firstName: member.first_name,
    lastName: member.last_name,
    team: member.team,
    role: member.role,
    tags: JSON.parse(member.tags) as Record<string, string>,
    timezone: member.timezone,
    permissionLevel: member.level,
    renderingId: member.rendering_id,
  };
}
