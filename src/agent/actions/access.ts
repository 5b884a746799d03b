// The grants of an action's code: all fields, within the caller's row scope. Only `context.collection` also ignores the
// row scope.
import { type Access, fullAccess } from '../../core/caller.ts';
import type { PlainFilter } from '../../core/filter.ts';

const scoped = new WeakMap<Access, Access>();

/** All fields, and the rows that the caller may see. */
export function scopedAccess(access: Access): Access {
  return memoize(scoped, access, () => ({
    ...fullAccess(access.caller),
    scope: (collection) => access.scope(collection),
  }));
}

/** The access of the caller, plus the key of one collection. Selections are resolved with it. */
export function selectingAccess(access: Access, collection: string, key: readonly string[]): Access {
  return {
    caller: access.caller,
    can: (verb, name) => access.can(verb, name),
    canTrigger: (name, action) => access.canTrigger(name, action),
    triggerCondition: (name, action) => access.triggerCondition(name, action),
    field: (name, field) => (name === collection && key.includes(field) ? 'write' : access.field(name, field)),
    scope: (name) => access.scope(name),
    hasPolicies: access.hasPolicies,
    mayCascade: (collection) => access.mayCascade(collection),
    policy: (verb, name) => access.policy(verb, name),
    actionPolicy: (name, action) => access.actionPolicy(name, action),
    startsWorkflows: access.startsWorkflows,
    collections: access.collections,
  };
}

/** The same, limited to the records of the collection that also satisfy a condition of the role. */
export function conditionedAccess(
  access: Access,
  collection: string,
  key: readonly string[],
  condition: PlainFilter,
): Access {
  const selecting = selectingAccess(access, collection, key);
  return {
    ...selecting,
    scope(name) {
      const scope = selecting.scope(name);
      if (name !== collection) return scope;
      return scope ? { aggregator: 'And', conditions: [condition, scope] } : condition;
    },
  };
}

/** Returns the same result for the same Access, because visibility is cached by its identity. */
function memoize(known: WeakMap<Access, Access>, access: Access, make: () => Access): Access {
  const found = known.get(access) ?? make();
  known.set(access, found);
  return found;
}
