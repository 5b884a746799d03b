// Decides whether a change still needs a confirmation, by the mode of the step or the policy of the role.
import type { Policy } from '../../core/caller.ts';
import type { AwaitReason, Run } from '../../store/workflows/types.ts';
import type { StepMode } from '../definition/definition.ts';
import type { Answered, Asked } from './input-request.ts';

export interface Consent {
  /** Absent: no further confirmation is needed. */
  readonly reason?: AwaitReason;
  /** Users who may not confirm. */
  readonly notBy: readonly number[];
}

/**
 * `answered`: the last question and its answer. Filling in a form counts as a confirmation, but not as the second
 * person's. The user of the run and the user who filled in the form cannot be the second person.
 */
export function consentOf(
  policy: Policy | undefined,
  mode: StepMode,
  run: Run,
  answered: Answered | undefined,
): Consent {
  const last = answered?.asked;
  const isYes = last !== undefined && isDecided(last);
  const asking = [run.userId, ...(answered && !isYes ? [answered.by] : []), ...(isYes ? (last.notBy ?? []) : [])];
  const notBy = policy?.secondPerson ? [...new Set(asking)] : [];
  if (policy?.secondPerson) {
    return isYes && !notBy.includes(answered!.by) ? { notBy } : { reason: 'approval', notBy };
  }
  if (answered) return { notBy };
  if (policy) return { reason: 'approval', notBy };
  return mode === 'automatic' ? { notBy } : { reason: 'confirmation', notBy };
}

type Decided = Extract<Asked, { readonly ask: 'change' | 'action' | 'call' }>;

const isDecided = (asked: Asked): asked is Decided =>
  asked.ask === 'change' || asked.ask === 'action' || asked.ask === 'call';
