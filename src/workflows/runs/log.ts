// Entries about runs in the activity log. Each belongs to the user of the run and names the workflow and, if any, the
// step.
import type { Clock } from '../../core/clock.ts';
import type { ErrorCode } from '../../core/errors.ts';
import { outcomeOfCode } from '../../store/audit/activity.ts';
import type { ActivityEntry, ActivityLog, Intent } from '../../store/audit/activity-types.ts';
import type { Run } from '../../store/workflows/types.ts';

type RunAction =
  | 'completeWorkflow'
  | 'abortWorkflow'
  | 'completeWorkflowStep'
  | 'selectWorkflowOption'
  | 'resumeWorkflow';

/** The action of a step and its records; default: the record of the run. */
export interface StepSubject {
  readonly action: string;
  readonly collection?: string;
  readonly recordIds?: readonly string[];
}

export interface RunLog {
  /** Logs an event that changes no data. The write is deferred. */
  logEvent(
    run: Run,
    action: RunAction,
    more?: { readonly step?: string; readonly option?: string; readonly userId?: number; readonly code?: ErrorCode },
  ): void;
  /** Logs a read of a step. */
  logRead(run: Run, step: string, subject: StepSubject): void;
  /** Logs a change of a step. The entry is committed with an unknown outcome before the change. */
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
      ...outcomeOfCode(code),
      ...(userId !== undefined && { userId }),
      durationMs: 0,
    });
  return {
    logEvent: (run, action, { code, userId, ...at } = {}) =>
      record(entryOf(run, { action }, at), 'write', code, userId),
    logRead: (run, step, subject) => record(entryOf(run, subject, { step }), 'read', undefined),
    begin: (run, step, subject) => activity.begin({ ...entryOf(run, subject, { step }), type: 'write' }),
  };
}
