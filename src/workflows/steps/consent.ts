// Decides whether a change still needs a confirmation, by the mode of the step or the policy of the role.
import type { Policy } from '../../core/caller.ts';
import type { AwaitReason, Run } from '../../store/workflows/types.ts';
import type { StepMode } from '../definition/definition.ts';
import type { AnsweredRequest, InputRequestData } from './input-request.ts';

interface ConfirmationNeed {
  /** Absent: no further confirmation is needed. */
  readonly reason?: AwaitReason;
  /** Users who may not confirm. */
  readonly notBy: readonly number[];
}

/**
 * `answered`: the last question and its answer. Filling in a form counts as a confirmation, but not as the second
 * person's. The user of the run and the user who filled in the form cannot be the second person.
 */
export function requiredConfirmation(
  policy: Policy | undefined,
  mode: StepMode,
  run: Run,
  answered: AnsweredRequest | undefined,
): ConfirmationNeed {
  const lastRequest = answered?.asked;
  const isConfirmed = lastRequest !== undefined && isConfirmable(lastRequest);
  const involvedUsers = [
    run.userId,
    ...(answered && !isConfirmed ? [answered.by] : []),
    ...(isConfirmed ? (lastRequest.notBy ?? []) : []),
  ];
  const notBy = policy?.secondPerson ? [...new Set(involvedUsers)] : [];
  if (policy?.secondPerson) {
    return isConfirmed && !notBy.includes(answered!.by) ? { notBy } : { reason: 'approval', notBy };
  }
  if (answered) return { notBy };
  if (policy) return { reason: 'approval', notBy };
  return mode === 'automatic' ? { notBy } : { reason: 'confirmation', notBy };
}

type ConfirmableData = Extract<InputRequestData, { readonly ask: 'change' | 'action' | 'call' }>;

const isConfirmable = (requestData: InputRequestData): requestData is ConfirmableData =>
  requestData.ask === 'change' || requestData.ask === 'action' || requestData.ask === 'call';
