// What the activity log is told of runs: entries of the user of the run, each of the workflow and, where there is one, its step.
import type { Clock } from '../core/clock.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { ActivityEntry, ActivityLog, Intent } from '../store/activity-types.ts';
import type { Run } from '../store/workflow-types.ts';

export type RunAction =
  | 'completeWorkflow'
  | 'abortWorkflow'
  | 'completeWorkflowStep'
  | 'selectWorkflowOption'
  | 'resumeWorkflow';

/** Of what a step does to which records; those of the run when absent. */
export interface StepSubject {
  readonly action: string;
  readonly collection?: string;
  readonly recordIds?: readonly string[];
}

export interface RunLog {
  /** What changes no data: it is written a moment later. */
  tell(
    run: Run,
    action: RunAction,
    more?: { readonly step?: string; readonly option?: string; readonly userId?: number; readonly code?: ErrorCode },
  ): void;
  /** A read of a step. */
  read(run: Run, step: string, subject: StepSubject): void;
  /** A change of a step: committed as unknown before it is made. */
  begin(run: Run, step: string, subject: StepSubject): Promise<Intent>;
}

export function createRunLog(activity: Pick<ActivityLog, 'record' | 'begin'>, clock: Clock): RunLog {
  const entryOf = (
    run: Run,
    { action, collection, recordIds }: StepSubject,
    { step, option }: { readonly step?: string; readonly option?: string } = {},
  ) => ({
    userId: run.userId,
    renderingId: run.renderingId,
    clientId: 'workflow',
    clientName: run.name,
    action,
    collection: collection ?? run.collection,
    recordIds: recordIds ?? [run.recordId],
    startedAt: clock.now(),
    workflow: {
      name: run.name,
      runId: run.id,
      ...(step !== undefined && { stepName: step }),
      ...(option !== undefined && { optionName: option }),
    },
  });
  const record = (
    entry: ReturnType<typeof entryOf>,
    type: ActivityEntry['type'],
    code: ErrorCode | undefined,
    userId?: number,
  ): void =>
    activity.record({
      ...entry,
      type,
      outcome: code === undefined ? 'completed' : 'failed',
      ...(code !== undefined && { code }),
      ...(userId !== undefined && { userId }),
      durationMs: 0,
    });
  return {
    tell: (run, action, { code, userId, ...at } = {}) => record(entryOf(run, { action }, at), 'write', code, userId),
    read: (run, step, subject) => record(entryOf(run, subject, { step }), 'read', undefined),
    begin: (run, step, subject) => activity.begin({ ...entryOf(run, subject, { step }), type: 'write' }),
  };
}
