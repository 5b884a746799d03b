import type { Access, Policy, Verb, WriteVerb } from '../caller.ts';

/**
 * The same Access, but it reports the policy of every write right that it checks: of the collection that a call names,
 * and of all others that the call writes to. If all are `allow`, it reports none and is the Access itself, because
 * caches use its identity.
 */
export function watchPolicies(access: Access, onPolicy: (policy: Policy) => void): Access {
  if (!access.hasPolicies) return access;
  return {
    ...access,
    can(verb, collection) {
      if (isWriting(verb)) onPolicy(access.policy(verb, collection));
      return access.can(verb, collection);
    },
  };
}

const isWriting = (verb: Verb): verb is WriteVerb => verb === 'add' || verb === 'edit' || verb === 'delete';
