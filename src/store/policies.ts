// Policies as they are written for a role, checked when they are set and read when an Access is made.
import { freely, type Policy, policyNames, type Verb, type WriteVerb } from '../core/caller.ts';
import { fail } from '../core/errors.ts';
import type { CollectionPermission, PolicyWish } from './store.ts';

const writeVerbs: readonly Verb[] = ['add', 'edit', 'delete'] satisfies readonly WriteVerb[];

/** INVALID_ARGUMENT that names what is wrong: a policy that is not understood must not pass for none. */
export function checkPolicies(collection: string, { approval = {}, actions = {} }: CollectionPermission): void {
  for (const [verb, wish] of Object.entries(approval)) {
    const argument = `${collection}.approval.${verb}`;
    if (!writeVerbs.includes(verb as Verb))
      fail('INVALID_ARGUMENT', { argument, problem: 'expected add, edit or delete.' });
    checkWish(argument, wish);
  }
  for (const [action, rights] of Object.entries(actions)) {
    if (rights.approval !== undefined) checkWish(`${collection}.actions.${action}.approval`, rights.approval);
  }
}

function checkWish(argument: string, wish: unknown): void {
  const problem = findWishProblem(wish);
  if (problem) fail('INVALID_ARGUMENT', { argument, problem });
}

function findWishProblem(wish: unknown): string | undefined {
  const names: readonly unknown[] = policyNames;
  const expected = `expected ${policyNames.join(', ')}, or { policy: 'ask-person', secondPerson: true }.`;
  if (names.includes(wish)) return undefined;
  if (typeof wish !== 'object' || wish === null) return expected;
  const { policy, secondPerson = false, ...more } = wish as Record<string, unknown>;
  if (!names.includes(policy) || typeof secondPerson !== 'boolean' || Object.keys(more).length > 0) return expected;
  // Asking another person through the client of this one is not possible, and one who is asked about nothing is a mistake.
  if (secondPerson && policy !== 'ask-person') return "secondPerson needs the policy 'ask-person'.";
  return undefined;
}

/** {@link freely} itself where there is none. */
export function readPolicy(wish: PolicyWish | undefined): Policy {
  const { policy, secondPerson = false } = typeof wish === 'object' ? wish : { policy: wish ?? 'allow' };
  if (policy === 'allow') return freely;
  // Fail closed: what a newer version wrote, or a hand, is not understood.
  return policyNames.includes(policy) ? { policy, secondPerson } : { policy: 'deny', secondPerson: false };
}

/** Of the text in the storage; what is allowed freely is left out. */
export function readPolicies(text: string | null): Readonly<Partial<Record<Verb, Policy>>> {
  const wishes = JSON.parse(text ?? '{}') as Partial<Record<Verb, PolicyWish>>;
  return Object.fromEntries(
    Object.entries(wishes)
      .map(([verb, wish]) => [verb, readPolicy(wish)] as const)
      .filter(([, policy]) => policy !== freely),
  );
}
