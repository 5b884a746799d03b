// Who may do what. An Access is made once for a user and a version of the permissions, and kept until the version
// moves; everything it answers comes from memory.
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import {
  type Access,
  type Caller,
  type FieldAccess,
  freely,
  type PermissionLevel,
  type Policy,
  type Verb,
} from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import type { PlainFilter } from '../core/filter.ts';
import { nearNames } from '../core/near.ts';
import type { Observe } from '../core/observe.ts';
import type { Database } from './database.ts';
import { findFilterProblem } from './filters.ts';
import { checkCollection, type Grant, loadGrants, noGrant, toPermissionRow } from './grants.ts';
import { ensureNamed, logChange, type Place, type PlaceReader } from './roles.ts';
import { fillScope, matchesNothing } from './scopes.ts';
import type { Permissions } from './store.ts';
import type { VersionRows } from './versions.ts';

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

export function createPermissions(
  database: Database,
  versions: VersionRows,
  getPlace: PlaceReader,
  observe: Observe,
  clock: Clock,
): Permissions {
  const { knex } = database;
  const kept = new LRUCache<number, { readonly version: number; readonly access: Access }>({ max: 10_000 });

  const cachedAccessOf = (userId: number, version: number): Access | undefined => {
    const found = kept.get(userId);
    return found?.version === version ? found.access : undefined;
  };

  async function accessOf(userId: number): Promise<Access | undefined> {
    for (;;) {
      const { permissions: version } = await versions.current();
      const cached = cachedAccessOf(userId, version);
      if (cached) return cached;
      const access = await loadAccess(userId);
      // Several statements made it: it is of one version only when that stood still meanwhile.
      if ((await versions.current()).permissions !== version) continue;
      if (access) kept.set(userId, { version, access });
      return access;
    }
  }

  async function loadAccess(userId: number): Promise<Access | undefined> {
    const place = await getPlace(knex);
    const member = await knex('users')
      .join('memberships', 'memberships.user_id', 'users.id')
      .join('teams', 'teams.id', 'memberships.team_id')
      .join('roles', 'roles.id', 'memberships.role_id')
      .join('renderings', 'renderings.team_id', 'teams.id')
      .where({ 'users.id': userId, 'renderings.environment_id': place.environmentId })
      .where('memberships.project_id', place.projectId)
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
    const [grants, scopes] = await Promise.all([
      loadGrants(knex, member.role_id, place.environmentId),
      loadScopes(knex, member.rendering_id),
    ]);
    return createAccess(toCaller(member), grants, scopes, observe);
  }

  return {
    accessOf,
    cachedAccessOf,
    async caller(userId) {
      return (await accessOf(userId))?.caller;
    },
    async setRole(role, collections) {
      if (role === '' || role.length > 191) {
        fail('INVALID_ARGUMENT', { argument: 'role', problem: 'expected a name of 1 to 191 characters.' });
      }
      const rows = Object.entries(collections).map(toPermissionRow);
      await versions.change('permissions', async (trx) => {
        const place = await getPlace(trx);
        const key = {
          role_id: await ensureNamed(trx, 'roles', place.projectId, role),
          environment_id: place.environmentId,
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
        const rendering_id = await getRendering(trx, await getPlace(trx), team);
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

/** A team that is not there is an error, not made: a scope on a misspelt name would leave the meant team unscoped. */
async function getRendering(on: Knex, place: Place, team: string): Promise<number> {
  const rows = await on('renderings')
    .join('teams', 'teams.id', 'renderings.team_id')
    .where({ 'renderings.environment_id': place.environmentId })
    .select<{ id: number; name: string }[]>('renderings.id', 'teams.name');
  const found = rows.find(({ name }) => name === team);
  if (found) return found.id;
  const near = nearNames(
    team,
    rows.map(({ name }) => name),
  );
  const hint = near.length ? ` Near: ${near.join(', ')}.` : '';
  fail('INVALID_ARGUMENT', { argument: 'team', problem: `there is no team '${team}'.${hint}` });
}

async function loadScopes(on: Knex, renderingId: number): Promise<ReadonlyMap<string, string>> {
  const rows = await on('row_scopes')
    .where({ rendering_id: renderingId })
    .select<{ collection: string; filter: string }[]>('collection', 'filter');
  return new Map(rows.map((row) => [row.collection, row.filter]));
}

function toCaller(member: Member): Caller {
  return Object.freeze({
    id: member.id,
    email: member.email,
    firstName: member.first_name,
    lastName: member.last_name,
    team: member.team,
    role: member.role,
    tags: Object.freeze(JSON.parse(member.tags) as Record<string, string>),
    timezone: member.timezone,
    permissionLevel: member.level,
    renderingId: member.rendering_id,
  });
}

function createAccess(
  caller: Caller,
  grants: ReadonlyMap<string, Grant>,
  scopes: ReadonlyMap<string, string>,
  observe: Observe,
): Access {
  const filled = new Map<string, PlainFilter>();
  const grantOf = (collection: string): Grant => grants.get(collection) ?? grants.get('*') ?? noGrant;

  function fill(collection: string, text: string): PlainFilter {
    const stored = parseScope(text);
    if (typeof stored !== 'string') return fillScope(stored, caller);
    observe({
      type: 'warning',
      message: `The row scope of team '${caller.team}' on '${collection}' is not a filter (${stored}): it shows nothing. Set it again.`,
    });
    return matchesNothing;
  }

  const hasPolicies = [...grants.values()].some(
    ({ policies, actions }) =>
      Object.keys(policies).length > 0 || Object.values(actions).some(({ policy }) => policy !== freely),
  );

  return Object.freeze({
    caller,
    seesAgentCharts: true,
    hasPolicies,
    policy: (verb: Verb, collection: string): Policy => grantOf(collection).policies[verb] ?? freely,
    actionPolicy(collection: string, action: string): Policy {
      const grant = grantOf(collection);
      // An action without a row of its own is for those who may edit, and on the same terms.
      return Object.hasOwn(grant.actions, action) ? grant.actions[action]!.policy : (grant.policies.edit ?? freely);
    },
    can: (verb: Verb, collection: string): boolean => grantOf(collection).verbs.has(verb),
    canTrigger(collection: string, action: string): boolean {
      const grant = grantOf(collection);
      return Object.hasOwn(grant.actions, action) ? grant.actions[action]!.trigger !== false : grant.verbs.has('edit');
    },
    triggerCondition(collection: string, action: string): PlainFilter | null {
      const { actions } = grantOf(collection);
      const trigger = Object.hasOwn(actions, action) ? actions[action]!.trigger : true;
      // In words that lack a value for the caller, it holds for no record: as with row scopes, nothing is let through.
      return typeof trigger === 'boolean' ? null : fillScope(trigger.when, caller);
    },
    field(collection: string, field: string): FieldAccess {
      const grant = grantOf(collection);
      if (grant === noGrant) return 'hidden';
      return Object.hasOwn(grant.fields, field) ? grant.fields[field]! : 'write';
    },
    scope(collection: string): PlainFilter | null {
      const text = scopes.get(collection) ?? scopes.get('*');
      if (text === undefined) return null;
      const known = filled.get(collection);
      if (known) return known;
      const filter = fill(collection, text);
      filled.set(collection, filter);
      return filter;
    },
  });
}

/** The filter, or what is wrong with the text. */
function parseScope(text: string): PlainFilter | string {
  try {
    const value: unknown = JSON.parse(text);
    return findFilterProblem(value) ?? (value as PlainFilter);
  } catch {
    return 'not JSON';
  }
}
