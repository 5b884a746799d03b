// What a test lets the user of the sandbox do: everything, but what it says.
import type { PlainFilter } from '../core/filter.ts';
import type { CollectionPermission } from '../store/rights-types.ts';
import type { SandboxRights } from './sandbox.ts';

/** Of one collection; what is absent is allowed. */
export type PermissionOverride = Partial<CollectionPermission> & {
  /** The records that he sees: a condition, in which values may be `{{currentUser...}}`. */
  readonly scope?: PlainFilter;
};

/** By collection; `*` stands for every other. */
export type PermissionOverrides = Readonly<Record<string, PermissionOverride>>;

const allowed: CollectionPermission = { browse: true, read: true, edit: true, add: true, delete: true, export: true };

/** `scoped`: collections that may have a scope from before, which ends. */
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
