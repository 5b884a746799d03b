// How the code of an action looks at the data: as the house, not as the caller. It sees every field; the row scope of
// the caller stays, unless the code asks the collection itself, which is the inside door.
import { type Access, fullAccess } from '../../core/caller.ts';
import type { PlainFilter } from '../../core/filter.ts';

const scoped = new WeakMap<Access, Access>();

/** Every field, and the rows that the caller may see. */
export function scopedAccess(access: Access): Access {
  return once(scoped, access, () => ({
    ...fullAccess(access.caller),
    scope: (collection) => access.scope(collection),
  }));
}

/** The caller's own, but for the key of one collection: what a selection is resolved with. */
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

/** The same, where the records of the collection are those alone that satisfy a condition of the role as well. */
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

/** One for one, since what a caller sees is kept by the identity of the Access. */
function once(known: WeakMap<Access, Access>, access: Access, make: () => Access): Access {
  const found = known.get(access) ?? make();
  known.set(access, found);
  return found;
}
