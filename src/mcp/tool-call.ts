// One tool call from its name to its answer: the OAuth scope, the arguments, the work, a second comparison of the
// permissions, and the entry in the activity log. Every transport (shared instances, the SDK's own handler, sessions)
// calls this module.
//
// A read runs while the permissions are compared. Its answer is held until they are known to be unchanged; otherwise
// the read runs again. A write cannot be undone, so its order is different: the log entry, the comparison, then the
// work, exactly once. A write that needs approval waits for it before these steps (approval.ts). With an idempotency
// key (idempotency.ts), all repeats of a call share one execution.

import type { Engine } from '../agent/engine.ts';
import { describeEffects, loggedBeside, type Written } from '../agent/write/effects.ts';
import type { StopSignal } from '../core/clock/stop.ts';
import { createTimeLimit, type TimeLimit } from '../core/clock/time-limit.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { fateOf } from '../core/errors/lost-commit.ts';
import { AppError, fail, isAppError } from '../core/errors.ts';
import { markLogged, reportFailure } from '../core/observe/failures.ts';
import type { TraceOrigin } from '../core/observe/traces.ts';
import type { Observe } from '../core/observe.ts';
import { stepUpScopes } from '../oauth/server/scopes.ts';
import type { Gate } from '../oauth/tokens/bearer.ts';
import type { Authenticated } from '../oauth/tokens/verify.ts';
import type { IdempotencyKeys } from '../store/approvals/types.ts';
import { outcomeOfCode } from '../store/audit/activity-outcome.ts';
import type { ActivityEntry, ActivityLog, Intent } from '../store/audit/activity-types.ts';
import type { Versions } from '../store/version-types.ts';
import type { ApprovalDoor, Asker, Cleared, Question } from './approvals/approval.ts';
import { endHold, type Held, holdKey } from './idempotency.ts';
import { repairArguments } from './input/repair.ts';
import { createProgress, type Progress, type TellProgress } from './progress.ts';
import { keptText } from './results/write-result.ts';
import type { Tool, ToolAnswer, ToolCall, WorkflowDoor } from './tool.ts';
import type { Files } from './uploads/files.ts';
import type { Menu } from './visibility/tool-list.ts';
import { createWebhookSender } from './webhook.ts';

/** The caller of one request. It lives as long as the request. */
export interface Identity {
  readonly auth: Authenticated;
  /** The remote span that the trace of this request continues. */
  readonly origin?: TraceOrigin;
  /** The client shows our views of answers (mcp/results/chart-view.ts). */
  views?: boolean;
  /**
   * Set if the token became invalid during the call. The response is then a 401, unless its headers are already sent.
   */
  refusal?: AppError;
}

export interface CallParts {
  readonly engine: Engine;
  readonly gate: Pick<Gate, 'holds' | 'renew'>;
  readonly activity: Pick<ActivityLog, 'record' | 'begin'>;
  readonly idempotency: IdempotencyKeys;
  readonly approval: ApprovalDoor;
  readonly workflows?: WorkflowDoor | undefined;
  readonly menu: Pick<Menu, 'absentFor'>;
  readonly config: Config;
  readonly files: Files;
  readonly observe: Observe;
  readonly clock: Clock;
}

/**
 * The text of the answer, the error of the call, or the question that the client asks its user before it repeats the
 * call.
 */
export type Called = Answered | { readonly question: Question };
export type Answered =
  | { readonly text: string }
  /** `absent`: names of the tools that the caller is not shown; the error text does not recommend them. */
  | {
      readonly failure: AppError;
      readonly absent: ReadonlySet<string>;
      /** The records written before the failure, as far as the caller may see them, as text. Empty for none. */
      readonly kept: string;
    };

/** The capabilities of the transport for one call. */
export interface CallWire {
  /** Aborted when the client cancels or disconnects. */
  readonly signal: StopSignal;
  /** Sends progress; present if the client requested it. */
  readonly tell?: TellProgress;
  /** Asks the client's user; present if the client supports it. */
  readonly asker?: Asker | undefined;
  /** The id of the approval, if the server executes an approved call (mcp/approvals/execution.ts). */
  readonly executes?: string | undefined;
}

/** Never throws: an error becomes the answer. Every call leaves an entry in the activity log. */
export type CallTool = (
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
  identity: Identity,
  wire: CallWire,
) => Promise<Called>;

type Subject = ReturnType<Tool['subject']>;

interface Call {
  readonly tool: Tool;
  readonly args: unknown;
  readonly signal: StopSignal;
  readonly progress: Progress | undefined;
  readonly fileSeconds?: number;
  readonly approved?: ToolCall['approved'];
  /** Every record that the call writes, also if it fails. */
  readonly written?: Written[];
}

/** How long the result of an approved call is stored and its files can be downloaded: 24 hours, in seconds. */
const RESULT_SECONDS = 24 * 3600;

/** A read is repeated from the start if the permissions changed while it ran. */
const ATTEMPTS = 2;

export function createCallTool(parts: CallParts): CallTool {
  const { engine, gate, config, clock, files, approval, workflows, menu } = parts;
  const sendWebhook = createWebhookSender(parts);

  const callAs = (auth: Authenticated, { signal, progress, fileSeconds, approved, written }: Call): ToolCall => ({
    ...{ access: auth.access, engine, config, signal, sendWebhook, files },
    absentTools: () => menu.absentFor(auth),
    ...(progress && { progress: progress.report }),
    ...(fileSeconds !== undefined && { fileSeconds }),
    ...(approved && { approved }),
    ...(written && { written }),
    ...(workflows && { workflows: { ...workflows, clientId: auth.clientId, clientName: auth.clientName } }),
  });

  const work = async (call: Call, auth: Authenticated): Promise<ToolAnswer> => {
    const { tool, args } = call;
    needScope(tool, auth);
    const answer = await tool.run(args, callAs(auth, call));
    return typeof answer === 'string' ? { text: answer } : answer;
  };

  const read = async (call: Call, identity: Identity): Promise<ToolAnswer> => {
    let auth = identity.auth;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) auth = await recheck(identity);
      const working = work(call, auth);
      const holds = gate.holds(auth);
      if (holds === true) return working;
      const [done, stands] = await Promise.allSettled([working, holds]);
      if (stands.status === 'rejected') throw stands.reason;
      if (!stands.value) continue;
      if (done.status === 'rejected') throw done.reason;
      return done.value;
    }
    return fail('NOT_READY', {});
  };

  /** Returns the current rights: those of the check if they still hold, else renewed ones. */
  const standing = async (identity: Identity, versions?: Versions): Promise<Authenticated> =>
    (await gate.holds(identity.auth, versions)) ? identity.auth : recheck(identity);

  const write = async (
    call: Call,
    identity: Identity,
    { access: cleared, approved }: Extract<Cleared, { state: 'clear' }>,
    marked: Intent,
  ): Promise<ToolAnswer> => {
    const auth = await standing(identity, marked.versions);
    // The rights changed after the approval was checked, so it was decided on outdated data.
    if (auth.access !== cleared && approval.concerns(call.tool, call.args, callAs(auth, call)))
      fail('APPROVAL_OVERTAKEN', {});
    return work(approved ? { ...call, approved: approved.check } : call, auth);
  };

  /** Decides whether the call may run: it needs no approval, or it has one. */
  const clear = async (
    call: Call,
    given: Readonly<Record<string, unknown>>,
    identity: Identity,
    { asker, executes }: Pick<CallWire, 'asker' | 'executes'>,
  ): Promise<Cleared> => {
    const { tool, args } = call;
    const { access } = identity.auth;
    if (executes === undefined && !approval.concerns(tool, args, callAs(identity.auth, call)))
      return { state: 'clear', access };
    const standingCall = async () => {
      const auth = await standing(identity);
      needScope(tool, auth);
      return { auth, call: callAs(auth, call) };
    };
    return approval.clear({ tool, args, given, asker, executes, standing: standingCall });
  };

  /** A repeat gets the stored answer only after the same checks as a first call. */
  const hold = async (call: Call, identity: Identity): Promise<Held | undefined> => {
    const { tool, args, signal } = call;
    const { idempotency } = tool;
    const key = idempotency?.key(args);
    if (!idempotency || key === undefined) return undefined;
    const auth = await standing(identity);
    needScope(tool, auth);
    const rights = idempotency.rights(args, callAs(auth, call));
    return holdKey(parts, { tool: tool.name, key, args, rights, auth, signal });
  };

  const recheck = async (identity: Identity): Promise<Authenticated> => {
    try {
      return await gate.renew(identity.auth);
    } catch (error) {
      if (isAppError(error, 'UNAUTHENTICATED')) identity.refusal = error;
      throw error;
    }
  };

  return async (tool, given, identity, { signal, tell, asker, executes }) => {
    const { auth } = identity;
    const startedAt = clock.now();
    const from = clock.monotonic();
    let subject: Subject = {};
    let type = typeOf(tool);
    let dryRun = false;
    let held: Held | undefined;
    let intent: Intent | undefined;
    let answer: ToolAnswer = { text: '' };
    const written: Written[] = [];
    let cleared: Cleared | undefined;
    let failure: AppError | undefined;
    let kept = '';
    const progress = tell && createProgress(clock, tell);
    const limit = createTimeLimit(clock, config.callSeconds, signal);
    parts.observe({ type: 'tool.began', tool: tool.name });
    try {
      const meant = repairArguments(tool, given, engine.names(auth.access));
      const args = tool.parse(meant);
      subject = tool.subject(args);
      const call = { tool, args, signal: limit.signal, progress, ...(executes && { fileSeconds: RESULT_SECONDS }) };
      if (tool.writes?.(args)) {
        needScope(tool, auth);
        held = await hold(call, identity);
        if (held?.state === 'done') {
          type = 'read';
          answer = { text: held.answer };
        } else {
          cleared = await clear(call, meant, identity, { asker: asker && patient(asker, limit), executes });
          if (cleared.state === 'done') {
            type = 'read';
            answer = { text: cleared.text };
          } else if (cleared.state === 'failed') {
            type = 'read';
            ({ failure, kept } = cleared);
          } else if (cleared.state === 'clear') {
            const approvalId = cleared.approved?.id;
            intent = await begin(parts, entryOf({ tool, type, subject, auth, startedAt, approvalId }));
            // A call with an idempotency key runs on after the client disconnects, because the client will repeat it
            // for the answer.
            const signal = held ? limit.withoutClient() : limit.signal;
            answer = await write({ ...call, signal, written }, identity, cleared, intent);
          }
        }
      } else {
        type = 'read';
        dryRun = tool.writes !== undefined;
        answer = await limit.bound(read(call, identity));
      }
    } catch (error) {
      failure = limit.explain(reportFailure(parts.observe, `mcp ${tool.name}`, error));
    } finally {
      limit.end();
      await progress?.end();
    }
    const waits = cleared?.state === 'pending' || cleared?.state === 'asked';
    const durationMs = clock.monotonic() - from;
    const call = { tool, type, subject, auth, startedAt, durationMs, failure, waits, dryRun };
    if (held)
      await end(parts, held, {
        answer: answer.text,
        failure,
        began: intent !== undefined,
        wrote: written.length > 0,
        waits,
      });
    if (intent) await complete(parts, intent, call, answer.recordIds, written);
    else recordCall(parts, call);
    if (failure) {
      kept ||= keptText(describeEffects(auth.access, written, false));
      return { failure, absent: parts.menu.absentFor(auth), kept };
    }
    if (cleared?.state === 'asked') return { question: cleared.question };
    return { text: cleared?.state === 'pending' ? cleared.text : answer.text };
  };
}

/**
 * The token must hold the OAuth scope of the tool (RFC 6750 section 3.1). The endpoint checks this too, before the
 * SDK; this check covers every transport.
 */
function needScope(tool: Tool, auth: Authenticated): void {
  if (!auth.scopes.has(tool.scope))
    fail('INSUFFICIENT_SCOPE', { tool: tool.name, scope: tool.scope, scopes: stepUpScopes(auth.scopes, tool.scope) });
}

/** The time that the client's user takes to answer does not count towards the time limit of the call. */
function patient(asker: Asker, limit: TimeLimit): Asker {
  if (asker.way !== 'wait') return asker;
  return { way: 'wait', ask: (...question) => limit.aside(() => asker.ask(...question)) };
}

/** Every write is logged before it runs; if the log cannot be written, the write is refused. */
async function begin(parts: CallParts, entry: Parameters<ActivityLog['begin']>[0]): Promise<Intent> {
  try {
    return await parts.activity.begin(entry);
  } catch (cause) {
    parts.observe({ type: 'warning', message: 'A write was refused: the activity log cannot be written.', cause });
    if (isAppError(cause, 'PLATFORM_UNAVAILABLE')) throw cause;
    throw markLogged(new AppError('SOURCE_UNAVAILABLE', {}, cause));
  }
}

/**
 * Records the outcome of an idempotency key. If the storage fails, repeats get the error that the outcome is unknown.
 */
async function end(parts: CallParts, ...hold: Parameters<typeof endHold>): Promise<void> {
  try {
    await endHold(...hold);
  } catch (cause) {
    parts.observe({ type: 'warning', message: 'An idempotency key could not be told of its call.', cause });
  }
}

async function complete(
  parts: CallParts,
  intent: Intent,
  call: CallRecord,
  recordIds: ToolAnswer['recordIds'],
  written: readonly Written[],
): Promise<void> {
  const effects = loggedBeside(written, call.subject.collection, recordIds);
  const result = { ...outcomeOf(call), ...(recordIds && { recordIds }), ...effects };
  await intent.complete(result, fateOf(call.failure));
  tell(parts, call);
}

export interface CallRecord {
  readonly tool: Tool;
  /** Default: the type of the tool. A dry run of a writing tool is a read. */
  readonly type?: ActivityEntry['type'];
  readonly subject: Subject;
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

const typeOf = ({ annotations }: Tool): ActivityEntry['type'] => (annotations.readOnlyHint ? 'read' : 'write');

/** The log entry of a call: names and ids, never argument values. */
function entryOf({
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
    type: type ?? typeOf(tool),
    ...subject,
    startedAt,
    ...(approvalId !== undefined && { approvalId }),
    ...(dryRun && { dryRun }),
  };
}

const WAITS = 'APPROVAL_PENDING';

const outcomeOf = ({ failure, waits }: Pick<CallRecord, 'failure' | 'waits'>) =>
  waits ? ({ outcome: 'denied', code: WAITS } as const) : outcomeOfCode(failure?.code);

/** Writes one entry per call, denied calls included. */
export function recordCall(parts: Pick<CallParts, 'activity' | 'observe'>, call: CallRecord): void {
  const durationMs = Math.max(0, Math.round(call.durationMs));
  parts.activity.record({ ...entryOf(call), ...outcomeOf(call), durationMs });
  tell(parts, call);
}

function tell(parts: Pick<CallParts, 'observe'>, call: CallRecord): void {
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
