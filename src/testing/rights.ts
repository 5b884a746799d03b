// Permissions of the sandbox user in a test: everything is allowed except what the test overrides.
import type { PlainFilter } from '../core/filter.ts';
import type { CollectionPermission } from '../store/permissions/types.ts';
import type { SandboxRights } from './sandbox.ts';

/** Permissions for one collection. Absent ones are allowed. */
export type PermissionOverride = Partial<CollectionPermission> & {
  /** The records visible to the user, as a condition. Values may be `{{currentUser...}}`. */
  readonly scope?: PlainFilter;
};

/** Overrides by collection; `*` applies to all other collections. */
export type PermissionOverrides = Readonly<Record<string, PermissionOverride>>;

const allowed: CollectionPermission = { browse: true, read: true, edit: true, add: true, delete: true, export: true };

/** `scoped`: collections with a scope from an earlier override. Their scope is removed. */
export function writeRights(overrides: PermissionOverrides, scoped: Iterable<string>): SandboxRights {
  const entries = Object.entries(overrides);
  const own = entries.map(([name, { scope, ...rights }]) => [name, { ...allowed, ...rights }] as const);
  const ended = [...scoped].map((name) => [name, null] as const);
  const scopes = entries.flatMap(([name, { scope }]) => (scope ? [[name, scope] as const] : []));
  return {
    collections: entries.length === 0 ? null : { '*': allowed, ...Object.fromEntries(own) },
    scopes: Object.fromEntries([...ended, ...scopes]),
  };
}
