// One tool call from its name to its answer: the OAuth scope, the arguments, the work, the permissions compared once
// more, and the entry in the activity log. Every way in (shared instances, the SDK's own handler, sessions) ends here.
//
// A read works while the permissions are compared, and its answer is held until they are known to stand; else it is made
// again. A write cannot be taken back, so that it goes the other way round: the mark in the log, the comparison, and only
// then the work, once. What needs somebody's yes waits for it before all that (approval.ts). With an idempotency key
// (once.ts) it is once for all repeats of the call as well.
import type { Engine } from '../agent/engine.ts';
import type { Access } from '../core/caller.ts';
import type { StopSignal } from '../core/clock/stop.ts';
import { createTimeLimit, type TimeLimit } from '../core/clock/time-limit.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { AppError, type ErrorCode, fail, isAppError, toAppError } from '../core/errors.ts';
import type { TraceOrigin } from '../core/observe/traces.ts';
import type { Observe } from '../core/observe.ts';
import { randomId } from '../core/secret.ts';
import type { Authenticated, Gate } from '../oauth/bearer.ts';
import type { ActivityEntry, ActivityLog, Intent, KnownOutcome } from '../store/activity-types.ts';
import type { IdempotencyKeys } from '../store/approval-types.ts';
import type { Versions } from '../store/store.ts';
import type { ApprovalDoor, Asker, Cleared, Question } from './approvals/approval.ts';
import type { Files } from './files/files.ts';
import { endHold, type Held, holdKey } from './once.ts';
import { createProgress, type Progress, type TellProgress } from './progress.ts';
import type { Tool, ToolAnswer, ToolCall, WorkflowDoor } from './tools.ts';
import { createWebhookSender } from './webhook.ts';

/** Who makes one request; it lives as long as the request does. */
export interface Identity {
  readonly auth: Authenticated;
  /** Where the caller's trace is continued. */
  readonly origin?: TraceOrigin;
  /** The client draws answers with views of ours (chart-view.ts). */
  views?: boolean;
  /** Set when the token stopped being good while the call was served: the answer is a 401, where one can still be given. */
  refusal?: AppError;
}

export interface CallParts {
  readonly engine: Engine;
  readonly gate: Pick<Gate, 'holds' | 'renew'>;
  readonly activity: Pick<ActivityLog, 'record' | 'begin'>;
  readonly idempotency: IdempotencyKeys;
  readonly approval: ApprovalDoor;
  readonly workflows?: WorkflowDoor | undefined;
  readonly config: Config;
  readonly files: Files;
  readonly observe: Observe;
  readonly clock: Clock;
}

/** The text of the answer, what the call failed with, or what the client is to ask its person before it repeats the call. */
export type Called = Answered | { readonly question: Question };
export type Answered = { readonly text: string } | { readonly failure: AppError };

/** What the request that a call came in is good for. */
export interface CallWire {
  /** Aborted when the client cancels or goes away. */
  readonly signal: StopSignal;
  /** Where the client asked to hear of the call's progress. */
  readonly tell?: TellProgress;
  /** How the client can ask its person, where it can. */
  readonly asker?: Asker | undefined;
}

/** Never throws: what goes wrong is the answer, and the entry in the activity log is made either way. */
export type CallTool = (
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
  identity: Identity,
  wire: CallWire,
) => Promise<Called>;

const denials: ReadonlySet<ErrorCode> = new Set(['FORBIDDEN', 'INSUFFICIENT_SCOPE', 'UNAUTHENTICATED', 'NOT_APPROVED']);

type Subject = ReturnType<Tool['subject']>;

interface Call {
  readonly tool: Tool;
  readonly args: unknown;
  readonly signal: StopSignal;
  readonly progress: Progress | undefined;
}

/** The work starts at once and its answer is held until the permissions are known to stand; else once more from the start. */
const ATTEMPTS = 2;

export function createCallTool(parts: CallParts): CallTool {
  const { engine, gate, config, clock, files, approval, workflows } = parts;
  const sendWebhook = createWebhookSender(parts);

  const callAs = ({ access, clientId, clientName }: Authenticated, { signal, progress }: Call): ToolCall => ({
    ...{ access, engine, config, signal, sendWebhook, files },
    ...(progress && { progress: progress.report }),
    ...(workflows && { workflows: { ...workflows, clientId, clientName } }),
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

  /** What `renew` gives was true a moment ago, as what `check` gave is where it still holds. */
  const standing = async (identity: Identity, versions?: Versions): Promise<Authenticated> =>
    (await gate.holds(identity.auth, versions)) ? identity.auth : recheck(identity);

  const write = async (call: Call, identity: Identity, cleared: Access, marked: Intent): Promise<ToolAnswer> => {
    const auth = await standing(identity, marked.versions);
    // What was allowed, or approved, was looked at with other rights than those of now.
    if (auth.access !== cleared && approval.concerns(call.tool, call.args, callAs(auth, call)))
      fail('APPROVAL_OVERTAKEN', {});
    return work(call, auth);
  };

  /** Whether the call has the yes that it needs, where it needs one. */
  const clear = async (
    call: Call,
    given: Readonly<Record<string, unknown>>,
    identity: Identity,
    asker: Asker | undefined,
  ): Promise<Cleared> => {
    const { tool, args } = call;
    const { access } = identity.auth;
    if (!approval.concerns(tool, args, callAs(identity.auth, call))) return { state: 'clear', access };
    const standingCall = async () => {
      const auth = await standing(identity);
      needScope(tool, auth);
      return { auth, call: callAs(auth, call) };
    };
    return approval.clear({ tool, args, given, asker, standing: standingCall });
  };

  /** A repeat is told an answer only after everything that a first call is asked. */
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

  return async (tool, given, identity, { signal, tell, asker }) => {
    const { auth } = identity;
    const startedAt = clock.now();
    const from = clock.monotonic();
    let subject: Subject = {};
    let type = typeOf(tool);
    let held: Held | undefined;
    let intent: Intent | undefined;
    let written: ToolAnswer = { text: '' };
    let cleared: Cleared | undefined;
    let failure: AppError | undefined;
    const progress = tell && createProgress(clock, tell);
    const limit = createTimeLimit(clock, config.callSeconds, signal);
    parts.observe({ type: 'tool.began', tool: tool.name });
    try {
      const args = tool.parse(given);
      subject = tool.subject(args);
      const call = { tool, args, signal: limit.signal, progress };
      if (tool.writes?.(args)) {
        needScope(tool, auth);
        held = await hold(call, identity);
        if (held?.state === 'done') {
          type = 'read';
          written = { text: held.answer };
        } else {
          cleared = await clear(call, given, identity, asker && patient(asker, limit));
          if (cleared.state === 'clear') {
            intent = await begin(parts, entryOf({ tool, type, subject, auth, startedAt }));
            // Who sends a key repeats a call that he lost: it goes on without him, so that there is an answer to repeat.
            const alone = held ? { ...call, signal: limit.withoutClient() } : call;
            written = await write(alone, identity, cleared.access, intent);
          }
        }
      } else {
        type = 'read';
        written = await limit.bound(read(call, identity));
      }
    } catch (error) {
      failure = limit.explain(report(parts, tool.name, error));
    } finally {
      limit.end();
      await progress?.end();
    }
    const waits = cleared !== undefined && cleared.state !== 'clear';
    const call = { tool, type, subject, auth, startedAt, durationMs: clock.monotonic() - from, failure, waits };
    if (held) await end(parts, held, { answer: written.text, failure, began: intent !== undefined, waits });
    if (intent) await complete(parts, intent, call, written);
    else recordCall(parts, call);
    if (failure) return { failure };
    if (cleared?.state === 'asked') return { question: cleared.question };
    return { text: cleared?.state === 'pending' ? cleared.text : written.text };
  };
}

/**
 * The token holds the OAuth scope of the tool (RFC 6750 section 3.1). The front asked the same before the SDK saw the
 * call; this is the check that no other way in can miss.
 */
function needScope(tool: Tool, auth: Authenticated): void {
  if (!auth.scopes.has(tool.scope)) fail('INSUFFICIENT_SCOPE', { tool: tool.name, scopes: [tool.scope] });
}

/** While a person thinks, the time of the call stands still. */
function patient(asker: Asker, limit: TimeLimit): Asker {
  if (asker.way !== 'wait') return asker;
  return { way: 'wait', ask: (...question) => limit.aside(() => asker.ask(...question)) };
}

/** Nothing is written that the log cannot tell of. */
async function begin(parts: CallParts, entry: Parameters<ActivityLog['begin']>[0]): Promise<Intent> {
  try {
    return await parts.activity.begin(entry);
  } catch (cause) {
    parts.observe({ type: 'warning', message: 'A write was refused: the activity log cannot be written.', cause });
    if (isAppError(cause, 'PLATFORM_UNAVAILABLE')) throw cause;
    return fail('SOURCE_UNAVAILABLE', {}, cause);
  }
}

/** Where the storage cannot be told, repeats are told that the outcome is unknown. */
async function end(parts: CallParts, ...hold: Parameters<typeof endHold>): Promise<void> {
  try {
    await endHold(...hold);
  } catch (cause) {
    parts.observe({ type: 'warning', message: 'An idempotency key could not be told of its call.', cause });
  }
}

/** What was written stands, whether or not the log could be told: the entry then stays `unknown`. */
async function complete(parts: CallParts, intent: Intent, call: CallRecord, { recordIds }: ToolAnswer): Promise<void> {
  const result = { ...outcomeOf(call), ...(recordIds && { recordIds }) };
  try {
    await intent.complete(result);
  } catch (cause) {
    parts.observe({ type: 'warning', message: `An activity entry of '${call.tool.name}' stays unknown.`, cause });
  }
  tell(parts, call);
}

/** What is not ours becomes INTERNAL; its cause goes to the log under the request id that the caller is told. */
function report(parts: CallParts, tool: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  const requestId = randomId();
  parts.observe({ type: 'failure', where: `mcp ${tool}`, requestId, cause: error });
  return toAppError(error, requestId);
}

export interface CallRecord {
  readonly tool: Tool;
  /** As the tool is when absent; a dry run of a writing tool is a read. */
  readonly type?: ActivityEntry['type'];
  readonly subject: Subject;
  readonly auth: Authenticated;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly failure: AppError | undefined;
  /** It has yet to be approved: nothing was done. */
  readonly waits?: boolean;
}

const typeOf = ({ annotations }: Tool): ActivityEntry['type'] => (annotations.readOnlyHint ? 'read' : 'write');

/** Names and ids, never argument values. */
function entryOf({ tool, type, subject, auth, startedAt }: Omit<CallRecord, 'durationMs' | 'failure' | 'waits'>) {
  return {
    userId: auth.userId,
    renderingId: auth.access.caller.renderingId,
    clientId: auth.clientId,
    clientName: auth.clientName,
    action: tool.name,
    type: type ?? typeOf(tool),
    ...subject,
    startedAt,
  };
}

const WAITS = 'APPROVAL_PENDING';

function outcomeOf({ failure, waits }: Pick<CallRecord, 'failure' | 'waits'>): {
  readonly outcome: KnownOutcome;
  readonly code?: ErrorCode | typeof WAITS;
} {
  if (waits) return { outcome: 'denied', code: WAITS };
  if (!failure) return { outcome: 'completed' };
  return { outcome: denials.has(failure.code) ? 'denied' : 'failed', code: failure.code };
}

/** One entry for each call, denied ones included. */
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
