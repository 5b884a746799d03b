// All permissions of a project as one list of plain facts. The command compares a roles file with it (cli/roles), and
// one transaction applies the difference. Members are not included: roles are assigned to each user separately.
import type { Knex } from 'knex';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import type { LogValue } from '../audit/log-types.ts';
import type { Database } from '../database/database.ts';
import { removeNotes } from '../notes/notes.ts';
import { removeRemotes } from '../remotes/remotes.ts';
import { checkAdministrator } from '../users/administrators.ts';
import type { VersionRows } from '../versions.ts';
import { removeWorkflows } from '../workflows/runs.ts';
import { type PermissionRow, permissionColumns, toPermission, toPermissionRow } from './grants.ts';
import { loadNetworks } from './networks.ts';
import { addRenderings, getProjectId, logChange } from './roles.ts';
import type { CollectionPermission, Right, RightChange, RightKind, Rights } from './types.ts';

export function createRights(database: Database, versions: VersionRows, clock: Clock): Rights {
  return {
    read: () => readRights(database.knex),
    async networks() {
      return loadNetworks(database.knex, await getProjectId(database.knex));
    },
    apply: (before, after, by) =>
      versions.change('permissions', async (trx) => {
        await checkAdministrator(trx, by);
        // Locks the row: of two simultaneous calls, the second reads the result of the first.
        await trx('versions').where({ name: 'permissions' }).forUpdate().first('number');
        if (diffRights(before, await readRights(trx)).length > 0) {
          fail('INVALID_ARGUMENT', {
            argument: 'rights',
            problem: 'another user has changed them in the meantime. No changes were made; review them again.',
          });
        }
        const changes = diffRights(before, after);
        await applyChanges({ database, trx, projectId: await getProjectId(trx), now: clock.now() }, changes, by);
        return changes;
      }),
  };
}

async function readRights(on: Knex): Promise<readonly Right[]> {
  const project_id = await getProjectId(on);
  const project = await on('projects').where({ id: project_id }).first<{ organization: string; name: string }>();
  const named = async (table: string): Promise<string[]> =>
    on(table).where({ project_id }).orderBy('name').pluck('name');
  const names = async (kind: RightKind, table: string): Promise<Right[]> =>
    (await named(table)).map((name) => ({ kind, path: [name], value: name }));
  const scopes = await on('row_scopes')
    .join('renderings', 'renderings.id', 'row_scopes.rendering_id')
    .join('teams', 'teams.id', 'renderings.team_id')
    .join('environments', 'environments.id', 'renderings.environment_id')
    .where('teams.project_id', project_id)
    .select<ScopeRow[]>('teams.name as team', 'environments.name as environment', 'collection', 'filter');
  const permissions = await on('role_permissions')
    .join('roles', 'roles.id', 'role_permissions.role_id')
    .join('environments', 'environments.id', 'role_permissions.environment_id')
    .where('roles.project_id', project_id)
    .select<(PermissionRow & { role: string; environment: string })[]>(
      'roles.name as role',
      'environments.name as environment',
      ...permissionColumns,
    );
  return [
    { kind: 'organization', path: [], value: project.organization },
    { kind: 'project', path: [], value: project.name },
    ...(await names('environment', 'environments')),
    ...(await loadNetworks(on, project_id)).map(
      (network): Right => ({ kind: 'network', path: [network], value: network }),
    ),
    ...(await names('team', 'teams')),
    ...scopes.map(
      (row): Right => ({
        kind: 'scope',
        path: [row.team, row.environment, row.collection],
        value: readJson(row.filter),
      }),
    ),
    ...(await names('role', 'roles')),
    ...permissions.map(
      (row): Right => ({
        kind: 'permission',
        path: [row.role, row.environment, row.collection],
        value: toPermission(row),
      }),
    ),
  ];
}

interface ScopeRow {
  readonly team: string;
  readonly environment: string;
  readonly collection: string;
  readonly filter: string;
}

/**
 * Returns the raw text when a scope is not JSON. Such a scope matches no record, and a file that contains it is
 * rejected.
 */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The order in the result of `diffRights`; removals run in reverse. */
const order: readonly RightKind[] = [
  'organization',
  'project',
  'environment',
  'team',
  'role',
  'network',
  'permission',
  'scope',
];

/**
 * The changes that turn `before` into `after`, in the order of application. When each side has one environment under a
 * different name, this is a rename.
 */
export function diffRights(before: readonly Right[], after: readonly Right[]): readonly RightChange[] {
  const renamed = findRenaming(before, after);
  const from = index(renamed ? before.map((right) => rename(right, renamed)) : before);
  const to = index(after);
  const changes: RightChange[] = renamed
    ? [{ kind: 'environment', path: [renamed.to], before: renamed.from, after: renamed.to }]
    : [];
  for (const [key, { kind, path, value }] of to) {
    const previous = from.get(key);
    if (!previous) changes.push({ kind, path, after: value });
    else if (canonical(previous.value) !== canonical(value))
      changes.push({ kind, path, before: previous.value, after: value });
  }
  const removed = [...from]
    .filter(([key]) => !to.has(key))
    .map(([, { kind, path, value }]) => ({ kind, path, before: value }));
  const rank = ({ kind }: RightChange) => order.indexOf(kind);
  return [...changes.sort((a, b) => rank(a) - rank(b)), ...removed.sort((a, b) => rank(b) - rank(a))];
}

function findRenaming(before: readonly Right[], after: readonly Right[]): { from: string; to: string } | undefined {
  const [[from, ...more], [to, ...others]] = [before, after].map((rights) =>
    rights.filter(({ kind }) => kind === 'environment').map(({ path }) => path[0]!),
  ) as [string[], string[]];
  if (from === undefined || to === undefined || from === to || more.length > 0 || others.length > 0) return undefined;
  return { from, to };
}

function rename(right: Right, { from, to }: { from: string; to: string }): Right {
  const { kind, path } = right;
  if (kind === 'environment' && path[0] === from) return { kind, path: [to], value: to };
  if ((kind === 'scope' || kind === 'permission') && path[1] === from) {
    return { ...right, path: [path[0]!, to, path[2]!] };
  }
  return right;
}

const index = (rights: readonly Right[]): ReadonlyMap<string, Right> =>
  new Map(rights.map((right) => [JSON.stringify([right.kind, ...right.path]), right]));

/** The same text for equal values, whatever the order of their keys. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

interface ApplyContext {
  readonly database: Database;
  readonly trx: Knex.Transaction;
  readonly projectId: number;
  readonly now: number;
}

type ApplyChange = (context: ApplyContext, change: RightChange) => Promise<void>;

async function applyChanges(
  context: ApplyContext,
  changes: readonly RightChange[],
  by: number | undefined,
): Promise<void> {
  const { trx, now } = context;
  for (const change of changes) {
    await appliers[change.kind](context, change);
    const { kind, path, before, after } = change;
    const how = before === undefined ? 'add' : after === undefined ? 'remove' : 'change';
    const subject = path.join('/').slice(0, 400);
    await logChange(trx, {
      ...{ at: now, by, action: `${kind}.${how}`, subject, detail: { path, before, after } },
      ...{ before: toValue(change, before), after: toValue(change, after) },
    });
  }
}

/** The log value: the path for a permission or a row scope, otherwise the name. */
function toValue({ kind, path }: RightChange, value: unknown): LogValue | undefined {
  if (value === undefined) return undefined;
  if (kind !== 'permission' && kind !== 'scope') return { name: `${value}` };
  return { name: path.join('/'), details: value as Readonly<Record<string, unknown>> };
}

const appliers: Readonly<Record<RightKind, ApplyChange>> = {
  organization: ({ trx, projectId }, { after }) =>
    trx('projects').where({ id: projectId }).update({ organization: after }),
  project: ({ trx, projectId }, { after }) => trx('projects').where({ id: projectId }).update({ name: after }),
  async environment({ trx, projectId, now }, { before, after }) {
    const namedRow = { project_id: projectId, name: before };
    if (after === undefined) {
      const id = await idOf(trx, 'environments', projectId, `${before}`);
      await trx('role_permissions').where({ environment_id: id }).delete();
      await removeRenderings(trx, { environment_id: id });
      await removeNotes(trx, id);
      await removeWorkflows(trx, id);
      await removeRemotes(trx, id);
      await trx('environments').where({ id }).delete();
    } else if (before === undefined) {
      await trx('environments').insert({ project_id: projectId, name: after, created_at: now });
      await addRenderings(trx, projectId);
    } else {
      await trx('environments').where(namedRow).update({ name: after });
    }
  },
  async team({ trx, projectId }, { before, after }) {
    if (after !== undefined) {
      await trx('teams').insert({ project_id: projectId, name: after });
      await addRenderings(trx, projectId);
      return;
    }
    const id = await idOf(trx, 'teams', projectId, `${before}`);
    await refuseWithMembers(trx, { team_id: id }, `team '${before}'`);
    await removeRenderings(trx, { team_id: id });
    await trx('teams').where({ id }).delete();
  },
  async role({ trx, projectId }, { before, after }) {
    if (after !== undefined) {
      await trx('roles').insert({ project_id: projectId, name: after });
      return;
    }
    const id = await idOf(trx, 'roles', projectId, `${before}`);
    await refuseWithMembers(trx, { role_id: id }, `role '${before}'`);
    await trx('role_permissions').where({ role_id: id }).delete();
    await trx('roles').where({ id }).delete();
  },
  async network({ trx, projectId }, { path: [network], after }) {
    const row = { project_id: projectId, network };
    if (after === undefined) await trx('allowed_networks').where(row).delete();
    else await trx('allowed_networks').insert(row);
  },
  async permission({ trx, projectId }, { path: [role, environment, collection], after }) {
    const key = {
      role_id: await idOf(trx, 'roles', projectId, role!),
      environment_id: await idOf(trx, 'environments', projectId, environment!),
    };
    await trx('role_permissions')
      .where({ ...key, collection })
      .delete();
    if (after === undefined) return;
    await trx('role_permissions').insert({ ...key, ...toPermissionRow([collection!, after as CollectionPermission]) });
  },
  async scope({ trx, projectId }, { path: [team, environment, collection], after }) {
    const view = {
      team_id: await idOf(trx, 'teams', projectId, team!),
      environment_id: await idOf(trx, 'environments', projectId, environment!),
    };
    const rendering = await trx('renderings').where(view).first<{ id: number }>('id');
    const key = { rendering_id: rendering.id, collection };
    await trx('row_scopes').where(key).delete();
    if (after !== undefined) await trx('row_scopes').insert({ ...key, filter: JSON.stringify(after) });
  },
};

async function idOf(on: Knex, table: string, projectId: number, name: string): Promise<number> {
  const row = await on(table).where({ project_id: projectId, name }).first<{ id: number } | undefined>('id');
  return row?.id ?? fail('INVALID_ARGUMENT', { argument: table, problem: `'${name}' does not exist.` });
}

async function removeRenderings(on: Knex, where: Readonly<Record<string, number>>): Promise<void> {
  const deleted = await on('renderings')
    .join('teams', 'teams.id', 'renderings.team_id')
    .where(where)
    .select<{ id: number; environment_id: number; team: string }[]>('renderings.id', 'environment_id', 'name as team');
  const ids = deleted.map(({ id }) => id);
  // Entries of the activity log still need the names of deleted teams.
  if (deleted.length > 0) await on('past_renderings').insert(deleted).onConflict('id').ignore();
  await on('row_scopes').whereIn('rendering_id', ids).delete();
  await on('renderings').whereIn('id', ids).delete();
}

/** Refuses to remove a team or role that has members: they would lose it without an explicit change. */
async function refuseWithMembers(on: Knex, where: Readonly<Record<string, number>>, what: string): Promise<void> {
  const emails = await on('memberships')
    .join('users', 'users.id', 'memberships.user_id')
    .where(where)
    .orderBy('users.id')
    .pluck<string[]>('users.email');
  if (emails.length === 0) return;
  const shown = emails.slice(0, 5).join(', ');
  const more = emails.length > 5 ? ` and ${emails.length - 5} more` : '';
  const problem = `${what} has members (${shown}${more}). Assign them another first with 'portico user set', or keep it. No changes were made.`;
  fail('INVALID_ARGUMENT', { argument: what.split(' ')[0]!, problem });
}
