// What a role may do with one collection, as a row of the storage: checked when it is set, read when an Access is made.
import type { Knex } from 'knex';
import { type Policy, readPolicy, type Verb, verbs } from '../core/caller.ts';
import { fail } from '../core/errors.ts';
import type { PlainFilter } from '../core/filter.ts';
import { findFilterProblem } from './filters.ts';
import { checkPolicies, readPolicies } from './policies.ts';
import type { ActionTrigger, CollectionPermission } from './rights-types.ts';
import { matchesNothing } from './scopes.ts';

export interface Grant {
  readonly verbs: ReadonlySet<string>;
  readonly fields: Readonly<Record<string, 'read' | 'hidden'>>;
  readonly actions: Readonly<Record<string, { readonly trigger: ActionTrigger; readonly policy: Policy }>>;
  readonly policies: Readonly<Partial<Record<Verb, Policy>>>;
}

export const noGrant: Grant = { verbs: new Set(), fields: {}, actions: {}, policies: {} };

export interface PermissionRow {
  readonly collection: string;
  readonly verbs: string;
  readonly fields: string;
  /** Null in rows of before, where editing decides. */
  readonly actions: string | null;
  /** Null in rows of before, where nothing needs a yes. */
  readonly approval: string | null;
}

export const permissionColumns = ['collection', 'verbs', 'fields', 'actions', 'approval'] as const;

export function checkCollection(collection: string): void {
  if (collection === '' || collection.length > 191) {
    fail('INVALID_ARGUMENT', { argument: 'collection', problem: 'expected a name of 1 to 191 characters, or *.' });
  }
}

/** INVALID_ARGUMENT that names what is wrong. */
export function toPermissionRow([collection, permission]: readonly [string, CollectionPermission]): PermissionRow {
  checkCollection(collection);
  for (const [field, access] of Object.entries(permission.fields ?? {})) {
    if (access !== 'read' && access !== 'hidden') {
      const argument = `${collection}.fields.${field}`;
      fail('INVALID_ARGUMENT', { argument, problem: 'expected read or hidden; leave out what may be written.' });
    }
  }
  for (const [action, rights] of Object.entries(permission.actions ?? {})) {
    const problem = findTriggerProblem(rights?.trigger);
    if (problem) fail('INVALID_ARGUMENT', { argument: `${collection}.actions.${action}.trigger`, problem });
  }
  checkPolicies(collection, permission);
  return {
    collection,
    verbs: verbs.filter((verb) => permission[verb] === true).join(','),
    fields: JSON.stringify(permission.fields ?? {}),
    actions: JSON.stringify(permission.actions ?? {}),
    approval: JSON.stringify(permission.approval ?? {}),
  };
}

function findTriggerProblem(trigger: unknown): string | undefined {
  if (typeof trigger === 'boolean') return undefined;
  if (typeof trigger !== 'object' || trigger === null || Object.keys(trigger).join() !== 'when')
    return 'expected true, false or { when: a filter }.';
  return findFilterProblem((trigger as { when: unknown }).when, 'when');
}

/** The permission as it was set. */
export function toPermission(row: PermissionRow): CollectionPermission {
  const held = new Set(row.verbs.split(','));
  const rest = {
    fields: JSON.parse(row.fields) as object,
    actions: JSON.parse(row.actions ?? '{}') as object,
    approval: JSON.parse(row.approval ?? '{}') as object,
  };
  return {
    ...(Object.fromEntries(verbs.map((verb) => [verb, held.has(verb)])) as Record<Verb, boolean>),
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => Object.keys(value).length > 0)),
  };
}

export async function loadPermissionRows(
  on: Knex,
  roleId: number,
  environmentId: number,
): Promise<readonly PermissionRow[]> {
  return on('role_permissions')
    .where({ role_id: roleId, environment_id: environmentId })
    .select<PermissionRow[]>(permissionColumns);
}

/** What is denied is not granted: who asks whether he may is told no. */
export function toGrant(row: PermissionRow): Grant {
  const policies = readPolicies(row.approval);
  const actions = JSON.parse(row.actions ?? '{}') as NonNullable<CollectionPermission['actions']>;
  return {
    verbs: new Set(row.verbs.split(',').filter((verb) => policies[verb as Verb]?.policy !== 'deny')),
    fields: JSON.parse(row.fields) as Grant['fields'],
    actions: Object.fromEntries(
      Object.entries(actions).map(([name, { trigger, approval }]) => {
        const policy = readPolicy(approval);
        return [name, { trigger: policy.policy === 'deny' ? false : readTrigger(trigger), policy }];
      }),
    ),
    policies,
  };
}

/** Fails closed: of what is not understood nothing is let through. */
function readTrigger(stored: ActionTrigger): ActionTrigger {
  if (stored === true) return true;
  if (typeof stored !== 'object' || stored === null) return false;
  return { when: findFilterProblem(stored.when) ? matchesNothing : (stored.when as PlainFilter) };
}
