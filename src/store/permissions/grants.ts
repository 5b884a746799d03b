// Permissions of a role on one collection, as a database row: validated on write, and read when an `Access` is built.
import type { Knex } from 'knex';
import { type Policy, readPolicy, type Verb, verbs } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import { findFilterProblem } from './filters.ts';
import { checkPolicies, readPolicies } from './policies.ts';
import { matchesNothing } from './scopes.ts';
import type { ActionTrigger, CollectionPermission } from './types.ts';

export interface Grant {
  readonly verbs: ReadonlySet<string>;
  readonly fields: Readonly<Record<string, 'read' | 'hidden'>>;
  readonly actions: Readonly<Record<string, { readonly trigger: ActionTrigger; readonly policy: Policy }>>;
  readonly policies: Readonly<Partial<Record<Verb, Policy>>>;
  readonly cascades: boolean;
}

/** Stored in the `verbs` column, although it removes a right. */
const NO_CASCADES = 'no-cascades';

export const noGrant: Grant = { verbs: new Set(), fields: {}, actions: {}, policies: {}, cascades: false };

export interface PermissionRow {
  readonly collection: string;
  readonly verbs: string;
  readonly fields: string;
  /** Null in old rows: the `edit` permission applies. */
  readonly actions: string | null;
  /** Null in old rows: no write needs approval. */
  readonly approval: string | null;
}

export const permissionColumns = ['collection', 'verbs', 'fields', 'actions', 'approval'] as const;

export function checkCollection(collection: string): void {
  if (collection === '' || collection.length > 191) {
    fail('INVALID_ARGUMENT', { argument: 'collection', problem: 'expected a name of 1 to 191 characters, or *.' });
  }
}

/** INVALID_ARGUMENT that names the invalid property. */
export function toPermissionRow([collection, permission]: readonly [string, CollectionPermission]): PermissionRow {
  checkCollection(collection);
  for (const [field, access] of Object.entries(permission.fields ?? {})) {
    if (access !== 'read' && access !== 'hidden') {
      const argument = `${collection}.fields.${field}`;
      fail('INVALID_ARGUMENT', {
        argument,
        problem: 'expected read or hidden; remove the field if it may be written.',
      });
    }
  }
  for (const [action, rights] of Object.entries(permission.actions ?? {})) {
    const problem = findTriggerProblem(rights?.trigger);
    if (problem) fail('INVALID_ARGUMENT', { argument: `${collection}.actions.${action}.trigger`, problem });
  }
  checkPolicies(collection, permission);
  if (permission.cascades !== undefined && permission.cascades !== 'deny')
    fail('INVALID_ARGUMENT', {
      argument: `${collection}.cascades`,
      problem: "expected 'deny'; remove it if the database may extend a write.",
    });
  return {
    collection,
    verbs: [...verbs.filter((verb) => permission[verb] === true), ...(permission.cascades ? [NO_CASCADES] : [])].join(
      ',',
    ),
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

/** The permission in its original form. */
export function toPermission(row: PermissionRow): CollectionPermission {
  const storedVerbs = new Set(row.verbs.split(','));
  const rest = {
    fields: JSON.parse(row.fields) as object,
    actions: JSON.parse(row.actions ?? '{}') as object,
    approval: JSON.parse(row.approval ?? '{}') as object,
  };
  return {
    ...(Object.fromEntries(verbs.map((verb) => [verb, storedVerbs.has(verb)])) as Record<Verb, boolean>),
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => Object.keys(value).length > 0)),
    ...(storedVerbs.has(NO_CASCADES) && { cascades: 'deny' as const }),
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

/** A policy of `deny` removes the verb, which makes `can` return false. */
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
    cascades: !row.verbs.split(',').includes(NO_CASCADES),
  };
}

/** Fails closed: an invalid trigger allows no record. */
function readTrigger(stored: ActionTrigger): ActionTrigger {
  if (stored === true) return true;
  if (typeof stored !== 'object' || stored === null) return false;
  return { when: findFilterProblem(stored.when) ? matchesNothing : stored.when };
}
