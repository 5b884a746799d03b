// The entry of a tool call in the activity log: before a write and after every call. The endpoint also logs the calls
// that it refuses.

import { logOtherEffects, type Written } from '../agent/write/effects.ts';
import { commitOutcomeOf } from '../core/errors/lost-commit.ts';
import { AppError, isAppError } from '../core/errors.ts';
import { markLogged } from '../core/observe/failures.ts';
import type { Observe } from '../core/observe.ts';
import type { Authenticated } from '../oauth/tokens/verify.ts';
import { outcomeOfCode } from '../store/audit/activity.ts';
import type { ActivityEntry, ActivityLog, Intent } from '../store/audit/activity-types.ts';
import type { Tool, ToolAnswer } from './tool.ts';

interface LogParts {
  readonly activity: Pick<ActivityLog, 'record' | 'begin'>;
  readonly observe: Observe;
}

/** Every write is logged before it runs; if the log cannot be written, the write is refused. */
export async function beginEntry(parts: LogParts, entry: Parameters<ActivityLog['begin']>[0]): Promise<Intent> {
  try {
    return await parts.activity.begin(entry);
  } catch (cause) {
    parts.observe({ type: 'warning', message: 'A write was refused: the activity log cannot be written.', cause });
    if (isAppError(cause, 'PLATFORM_UNAVAILABLE')) throw cause;
    throw markLogged(new AppError('SOURCE_UNAVAILABLE', {}, cause));
  }
}

export async function completeEntry(
  parts: LogParts,
  intent: Intent,
  call: CallRecord,
  recordIds: ToolAnswer['recordIds'],
  written: readonly Written[],
): Promise<void> {
  const effects = logOtherEffects(written, call.subject.collection, recordIds);
  const result = { ...outcomeOf(call), ...(recordIds && { recordIds }), ...effects };
  await intent.complete(result, commitOutcomeOf(call.failure));
  reportCall(parts, call);
}

export interface CallRecord {
  readonly tool: Tool;
  /** Default: the type of the tool. A dry run of a writing tool is a read. */
  readonly type?: ActivityEntry['type'];
  readonly subject: ReturnType<Tool['subject']>;
  readonly auth: Authenticated;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly failure: AppError | undefined;
  /** The call waits for approval; it has not run. */
  readonly waits?: boolean;
  readonly approvalId?: string | undefined;
  /** The call only computed a preview. */
  readonly dryRun?: boolean;
}

export const entryTypeOf = ({ annotations }: Tool): ActivityEntry['type'] =>
  annotations.readOnlyHint ? 'read' : 'write';

/** The log entry of a call: names and ids, never argument values. */
export function entryOf({
  tool,
  type,
  subject,
  auth,
  startedAt,
  approvalId,
  dryRun,
}: Omit<CallRecord, 'durationMs' | 'failure' | 'waits'>) {
  return {
    userId: auth.userId,
    renderingId: auth.access.caller.renderingId,
    clientId: auth.clientId,
    clientName: auth.clientName,
    action: tool.name,
    type: type ?? entryTypeOf(tool),
    ...subject,
    startedAt,
    ...(approvalId !== undefined && { approvalId }),
    ...(dryRun && { dryRun }),
  };
}

const outcomeOf = ({ failure, waits }: Pick<CallRecord, 'failure' | 'waits'>) =>
  waits ? ({ outcome: 'denied', code: 'APPROVAL_PENDING' } as const) : outcomeOfCode(failure?.code);

/** Writes one entry per call, denied calls included. */
export function recordCall(parts: LogParts, call: CallRecord): void {
  const durationMs = Math.max(0, Math.round(call.durationMs));
  parts.activity.record({ ...entryOf(call), ...outcomeOf(call), durationMs });
  reportCall(parts, call);
}

function reportCall(parts: Pick<LogParts, 'observe'>, call: CallRecord): void {
  const { tool, subject, auth, durationMs } = call;
  parts.observe({
    type: 'tool.called',
    tool: tool.name,
    ...(subject.collection === undefined ? {} : { collection: subject.collection }),
    userId: auth.userId,
    clientId: auth.clientId,
    ...outcomeOf(call),
    milliseconds: durationMs,
  });
}
