// Whether a change has the yes that it needs: that of the mode of the step, and that of the role's policy.
import type { Policy } from '../../core/caller.ts';
import type { AwaitReason, Run } from '../../store/workflow-types.ts';
import type { StepMode } from '../definition.ts';
import type { Answered, Asked } from './asked.ts';

export interface Consent {
  /** Absent: nobody is to be asked any more. */
  readonly reason?: AwaitReason;
  /** Users whose own yes does not count. */
  readonly notBy: readonly number[];
}

/**
 * `answered`: what was asked last. Filling in a form is a yes too; a second person's it is not. Whoever filled it in, and the
 * user of the run, cannot be the second person.
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
