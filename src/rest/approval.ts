// Policies on this API. The person himself works here: where an assistant would have to ask him (`ask`), he does not ask
// himself. What a person must decide in the console (`ask-person`, and with it a second person) is not done here at all,
// since a yes is bound to a request that is filed for it; and what is denied is denied. Nothing of a yes is skipped by coming
// this way: every right that the engine asks for while it writes is held against its policy.
import { type Access, freely, type Policy, strictestOf, type WriteVerb } from '../core/caller.ts';
import { fail } from '../core/errors.ts';

/** What the caller wants to do, for messages. */
export const phrases: Readonly<Record<WriteVerb, string>> = { add: 'add to', edit: 'edit', delete: 'delete from' };

const needsConsole = ({ policy }: Policy): boolean => policy === 'ask-person' || policy === 'deny';

/** NEEDS_APPROVAL. */
export function checkPolicy(access: Access, verb: WriteVerb, collection: string): void {
  if (!needsConsole(access.policy(verb, collection))) return;
  fail('NEEDS_APPROVAL', { verb: phrases[verb], collection, roleIdsAllowedToApprove: [] });
}

/**
 * The same Access, which refuses with NEEDS_APPROVAL what somebody would have to say yes to: for the writes of one call. What a
 * write reaches is known by the rights that it asks for, all of them before its first statement or within its transaction.
 */
export function unapproved(access: Access): Access {
  if (!access.hasPolicies) return access;
  return {
    ...access,
    can(verb, collection) {
      const may = access.can(verb, collection);
      // Who may not is told so first.
      if (may && isWriting(verb)) checkPolicy(access, verb, collection);
      return may;
    },
  };
}

const isWriting = (verb: string): verb is WriteVerb => verb in phrases;

/** Of an action: the stricter of what the role and the code say. NEEDS_APPROVAL. */
export function checkActionPolicy(
  access: Access,
  collection: string,
  { name, policy = freely }: { readonly name: string; readonly policy?: Policy },
): void {
  if (!needsConsole(strictestOf(access.actionPolicy(collection, name), policy))) return;
  const verb = `run '${name}' on`;
  // Roles that approve are no notion of ours: whoever may do the same decides.
  fail('NEEDS_APPROVAL', { verb, collection, action: name, roleIdsAllowedToApprove: [] });
}
