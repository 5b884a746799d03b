// Policies of a role: validated on write, and read when an `Access` is built.
import {
  allowPolicy,
  findPolicyProblem,
  type Policy,
  type PolicyInput,
  readPolicy,
  type Verb,
  type WriteVerb,
} from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import type { CollectionPermission } from './types.ts';

const writeVerbs: readonly Verb[] = ['add', 'edit', 'delete'] satisfies readonly WriteVerb[];

/** INVALID_ARGUMENT that names the problem: an invalid policy must not count as no policy. */
export function checkPolicies(collection: string, { approval = {}, actions = {} }: CollectionPermission): void {
  for (const [verb, policy] of Object.entries(approval)) {
    const argument = `${collection}.approval.${verb}`;
    if (!writeVerbs.includes(verb as Verb))
      fail('INVALID_ARGUMENT', { argument, problem: 'expected add, edit or delete.' });
    checkPolicy(argument, policy);
  }
  for (const [action, rights] of Object.entries(actions)) {
    if (rights.approval !== undefined) checkPolicy(`${collection}.actions.${action}.approval`, rights.approval);
  }
}

function checkPolicy(argument: string, policy: unknown): void {
  const problem = findPolicyProblem(policy);
  if (problem) fail('INVALID_ARGUMENT', { argument, problem });
}

/** Reads the stored text. Verbs without a restriction are left out. */
export function readPolicies(text: string | null): Readonly<Partial<Record<Verb, Policy>>> {
  const inputs = JSON.parse(text ?? '{}') as Partial<Record<Verb, PolicyInput>>;
  return Object.fromEntries(
    Object.entries(inputs)
      .map(([verb, input]) => [verb, readPolicy(input)] as const)
      .filter(([, policy]) => policy !== allowPolicy),
  );
}
