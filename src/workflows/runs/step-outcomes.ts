// Stores the outcome of a step: it is done, it waits for a person, or the run was cancelled. Finished steps that only
// read are stored together with the next write.

import type { Access } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import type { Store } from '../../store/store.ts';
import type { Claim, PassedStep, Run, RunStep } from '../../store/workflows/types.ts';
import { stepOf, type WorkflowDefinition, type WorkflowStep, waitSecondsOf } from '../definition/definition.ts';
import type { DoneResult, WaitResult } from '../steps/step.ts';
import type { RunFiles } from './files.ts';
import type { RunLog } from './log.ts';
import { type Lease, retryTransient } from './retry.ts';

/** Steps that only read are written in batches, limited in number and time. */
const MAX_PASSED_STEPS = 20;
const MAX_PASSED_MS = 1000;

/** A run under way in this process. */
export interface ExecutionContext {
  readonly claim: Claim;
  readonly run: Run;
  readonly definition: WorkflowDefinition;
  readonly lease: Lease;
  readonly steps: RunStep[];
  /** Finished steps that only read. They are stored with the next write. */
  passed: readonly PassedStep[];
  /** The rights of the last step. */
  access?: Access;
}

/** The next step, or 'left' if this process has no more work on the run. */
export type NextStep = { readonly to: string } | 'left';

/** Passed steps, to add to a write. They are logged after it commits. */
export const passedOf = ({ passed }: ExecutionContext) => (passed.length > 0 ? { passed } : {});

interface OutcomeParts {
  readonly runs: Store['runs'];
  readonly clock: Clock;
  readonly log: RunLog;
  readonly files: RunFiles;
}

export function createStepOutcomes({ runs, clock, log, files }: OutcomeParts) {
  const logPassedSteps = (context: ExecutionContext): void => {
    for (const { stepId } of context.passed) log.logEvent(context.run, 'completeWorkflowStep', { step: stepId });
    context.passed = [];
  };

  const endCancelled = async (context: ExecutionContext): Promise<'left'> => {
    const { claim, run, passed } = context;
    if (await runs.endCancelled(claim, passed)) {
      logPassedSteps(context);
      log.logEvent(run, 'abortWorkflow');
      await files.remove(run.id, claim.steps.at(-1));
    }
    return 'left';
  };

  const awaitInput = async (
    context: ExecutionContext,
    step: WorkflowStep,
    { reason, asked: requestData }: Pick<WaitResult, 'reason' | 'asked'>,
    position: number | undefined,
  ): Promise<NextStep> => {
    const leaseState = await runs.wait(context.claim, {
      ...(position !== undefined && { position }),
      ...passedOf(context),
      stepId: step.id,
      reason,
      outcome: { type: step.type },
      data: requestData,
      until: clock.now() + waitSecondsOf(step) * 1000,
    });
    // The run was cancelled before the step asked its question.
    if (leaseState === 'cancel') return endCancelled(context);
    if (leaseState === 'held') logPassedSteps(context);
    return 'left';
  };

  const finishStep = async (
    context: ExecutionContext,
    step: WorkflowStep,
    done: DoneResult,
    position: number | undefined,
  ): Promise<NextStep> => {
    const { claim, run, lease, steps } = context;
    const next = done.next !== undefined ? done.next : (step.next ?? null);
    const state = done.isSkipped ? 'skipped' : 'done';
    const outcome = { type: step.type, ...done.outcome };
    const { data } = done;
    const now = clock.now();
    const last = steps.at(-1)?.position ?? 0;
    if (position === undefined && canDeferWrite(context, step, next)) {
      const passed = { stepId: step.id, state, outcome, ...(data !== undefined && { data }), at: now } as const;
      context.passed = [...context.passed, passed];
      const unanswered = { answeredBy: null, answer: undefined, startedAt: now, finishedAt: now };
      steps.push({ ...unanswered, position: last + 1, stepId: step.id, state, outcome, data });
      return { to: next! };
    }
    const stepResult = { stepId: step.id, state, outcome, ...(data !== undefined && { data }), next } as const;
    const leaseState =
      position === undefined
        ? await runs.finish(claim, { ...stepResult, ...passedOf(context) })
        : // A write with a position is idempotent, so it is retried until the completed change is stored.
          await retryTransient(clock, lease, () => runs.finish(claim, { ...stepResult, position }));
    if (leaseState === 'lost') return 'left';
    logPassedSteps(context);
    log.logEvent(run, 'completeWorkflowStep', { step: step.id });
    const openIndex = steps.findIndex((each) => each.position === position);
    const existing = steps[openIndex] ?? { startedAt: now, answeredBy: null, answer: undefined };
    const at = position ?? last + 1;
    const finishedStep: RunStep = { ...existing, position: at, stepId: step.id, state, finishedAt: now, outcome, data };
    steps.splice(openIndex < 0 ? steps.length : openIndex, openIndex < 0 ? 0 : 1, finishedStep);
    if (next === null) {
      log.logEvent(run, 'completeWorkflow');
      return 'left';
    }
    // The run was cancelled while the step was running.
    if (leaseState === 'cancel') return endCancelled(context);
    return { to: next };
  };

  /**
   * Whether a step that only read is stored with the next write. Steps before a slow step are stored at once, to show
   * progress to viewers of the run.
   */
  const canDeferWrite = (
    { passed, definition }: ExecutionContext,
    step: WorkflowStep,
    next: string | null,
  ): boolean => {
    const nextStep = next === null ? undefined : stepOf(definition, next);
    if (!nextStep || isSlow(step) || isSlow(nextStep) || passed.length >= MAX_PASSED_STEPS) return false;
    return passed.length === 0 || clock.now() - passed[0]!.at < MAX_PASSED_MS;
  };

  return { logPassedSteps, endCancelled, awaitInput, finishStep };
}

/** The step may take long or cost money, so its outcome is stored at once. */
const isSlow = (step: WorkflowStep): boolean =>
  step.type === 'ai' || step.type === 'mcp' || (step.type === 'condition' && step.question !== undefined);
