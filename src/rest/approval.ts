// Applies policies to this API. The users of a front end are people, so `ask`, which makes an assistant ask its user,
// allows the write. A program with an application token cannot ask its user, so `ask` counts as `ask-person`.
// `ask-person`, with or without a second person, must be decided in the console: an approval belongs to a request that
// is filed there. `deny` refuses the write. The same checks cover every right that the engine requests while it writes.
import { type Access, allowPolicy, type Policy, strictestPolicy, type WriteVerb } from '../core/caller.ts';
import { fail } from '../core/errors.ts';
import type { DataCall } from './route.ts';

type Calling = Pick<DataCall, 'access' | 'byProgram'>;

/** Describes each verb in error messages. */
export const verbPhrases: Readonly<Record<WriteVerb, string>> = { add: 'add to', edit: 'edit', delete: 'delete from' };

const requiresConsole = ({ policy }: Policy, { byProgram }: Calling): boolean =>
  policy === 'ask-person' || policy === 'deny' || (byProgram && policy === 'ask');

/** Throws NEEDS_APPROVAL, or FORBIDDEN if the policy is `deny`. */
export function checkPolicy(calling: Calling, verb: WriteVerb, collection: string): void {
  const policy = calling.access.policy(verb, collection);
  if (policy.policy === 'deny') fail('FORBIDDEN', { verb: verbPhrases[verb], collection });
  if (!requiresConsole(policy, calling)) return;
  fail('NEEDS_APPROVAL', { verb: verbPhrases[verb], collection, roleIdsAllowedToApprove: [] });
}

/**
 * Returns an Access that throws NEEDS_APPROVAL for writes that need an approval. Use it for the writes of one call. A
 * write requests all its rights before its first statement or within its transaction, so this also covers indirect
 * writes.
 */
export function withApprovalCheck(calling: Calling): Access {
  const { access } = calling;
  if (!access.hasPolicies) return access;
  return {
    ...access,
    can(verb, collection) {
      const isAllowed = access.can(verb, collection);
      // A missing right is reported before a missing approval.
      if (isAllowed && isWriteVerb(verb)) checkPolicy(calling, verb, collection);
      return isAllowed;
    },
  };
}

const isWriteVerb = (verb: string): verb is WriteVerb => verb in verbPhrases;

/** Applies the stricter of the role's policy and the policy in code. Throws NEEDS_APPROVAL. */
export function checkActionPolicy(
  calling: Calling,
  collection: string,
  { name, policy = allowPolicy }: { readonly name: string; readonly policy?: Policy },
): void {
  if (!requiresConsole(strictestPolicy(calling.access.actionPolicy(collection, name), policy), calling)) return;
  const verb = `run '${name}' on`;
  // Portico has no approver roles. Users with the same right decide.
  fail('NEEDS_APPROVAL', { verb, collection, action: name, roleIdsAllowedToApprove: [] });
}
