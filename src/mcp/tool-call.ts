// One tool call from its name to its answer: the OAuth scope, the arguments, the work, a second comparison of the
// permissions, and the entry in the activity log. Every transport (shared instances, the SDK's own handler, sessions)
// calls this module.
//
// A read runs while the permissions are compared. Its answer waits for that comparison. If
// they have changed, the read runs again. A write cannot be undone, so its order is different: the log entry, the comparison, then the
// work, exactly once. A write that needs approval waits for it before these steps (approval.ts). With an idempotency
// key (idempotency.ts), all repeats of a call share one execution.

import type { Engine } from '../agent/engine.ts';
import { describeEffects, type Written } from '../agent/write/effects.ts';
import type { EndWatch, WriteWatch } from '../agent/write/watch.ts';
import type { StopSignal } from '../core/clock/stop.ts';
import { createTimeLimit, type TimeLimit } from '../core/clock/time-limit.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { type AppError, fail, isAppError } from '../core/errors.ts';
import { reportFailure } from '../core/observe/failures.ts';
import type { TraceOrigin } from '../core/observe/telemetry.ts';
import type { Observe } from '../core/observe.ts';
import { stepUpScopes } from '../oauth/server/scopes.ts';
import type { TokenAuthenticator } from '../oauth/tokens/bearer.ts';
import type { Authenticated } from '../oauth/tokens/verify.ts';
import type { IdempotencyKeys } from '../store/approvals/types.ts';
import type { ActivityLog, Intent } from '../store/audit/activity-types.ts';
import type { Versions } from '../store/version-types.ts';
import type { ApprovalCheck, ApprovalDecision, ApprovalQuestion, Elicitation } from './approvals/approval.ts';
import { beginEntry, type CallRecord, completeEntry, entryOf, entryTypeOf, recordCall } from './call-log.ts';
import { type Acquired, acquireKey, completeKey } from './idempotency.ts';
import { repairArguments } from './input/repair.ts';
import { describeCommitted } from './results/write-result.ts';
import type { Tool, ToolAnswer, ToolCall, WorkflowAccess } from './tool.ts';
import { createProgress, type Progress, type SendProgress } from './transport/progress.ts';
import type { Files } from './uploads/files.ts';
import type { ToolList } from './visibility/tool-list.ts';
import { createWebhookSender } from './webhook.ts';

/** The caller of one request. It lives as long as the request. */
export interface Identity {
  readonly auth: Authenticated;
  /** The remote span that the trace of this request continues. */
  readonly origin?: TraceOrigin;
  /** The client can show answers as charts (mcp/results/chart-view.ts). */
  showsViews?: boolean;
  /**
   * Set if the token became invalid during the call. The response is then a 401, unless its headers are already sent.
   */
  refusal?: AppError;
}

export interface CallParts {
  readonly engine: Engine;
  readonly authenticator: Pick<TokenAuthenticator, 'isCurrent' | 'renew'>;
  readonly activity: Pick<ActivityLog, 'record' | 'begin'>;
  readonly idempotency: IdempotencyKeys;
  readonly approval: ApprovalCheck;
  readonly workflows?: WorkflowAccess | undefined;
  readonly toolList: Pick<ToolList, 'hiddenToolsFor'>;
  readonly config: Config;
  readonly files: Files;
  /** Learns of the records that calls write. */
  readonly watch?: WriteWatch | undefined;
  readonly observe: Observe;
  readonly clock: Clock;
}

/**
 * The text of the answer, the error of the call, or the question that the client asks its user before it repeats the
 * call.
 */
type CallOutcome = CallAnswer | { readonly question: ApprovalQuestion };
export type CallAnswer =
  | { readonly text: string }
  /** `hiddenTools`: tools that the caller does not see, so the error text must not recommend them. */
  | {
      readonly failure: AppError;
      readonly hiddenTools: ReadonlySet<string>;
      /** Describes the records that were written before the failure and that the caller may see. Empty if there are none. */
      readonly committedText: string;
    };

/** The capabilities of the transport for one call. */
export interface CallTransport {
  /** Aborted when the client cancels or disconnects. */
  readonly signal: StopSignal;
  /** Sends progress; present if the client requested it. */
  readonly sendProgress?: SendProgress;
  /** Asks the client's user; present if the client supports it. */
  readonly asker?: Elicitation | undefined;
  /** The id of the approval, if the server executes an approved call (mcp/approvals/execution.ts). */
  readonly executedApproval?: string | undefined;
  /** A person has just confirmed the call, so it is not the repeat of an earlier one. Default: false. */
  readonly isNew?: boolean;
}

/** Never throws: an error becomes the answer. Every call leaves an entry in the activity log. */
export type CallTool = (
  tool: Tool,
  input: Readonly<Record<string, unknown>>,
  identity: Identity,
  transport: CallTransport,
) => Promise<CallOutcome>;

interface Call {
  readonly tool: Tool;
  readonly args: unknown;
  readonly signal: StopSignal;
  readonly progress: Progress | undefined;
  readonly fileSeconds?: number;
  readonly approved?: ToolCall['checkEffects'];
  /** Every record that the call writes, even if the call fails. */
  readonly written?: Written[];
}

/** How long the result of an approved call is stored and its files can be downloaded: 24 hours, in seconds. */
const RESULT_SECONDS = 24 * 3600;

/** A read is repeated from the start if the permissions changed while it ran. */
const MAX_ATTEMPTS = 2;

/** The parts of a call, each with the checks of its caller that it needs. */
function createSteps(parts: CallParts) {
  const { engine, authenticator, config, files, approval, workflows, toolList } = parts;
  const sendWebhook = createWebhookSender(parts);

  const toToolCall = (auth: Authenticated, { signal, progress, fileSeconds, approved, written }: Call): ToolCall => ({
    ...{ access: auth.access, engine, config, signal, sendWebhook, files },
    hiddenTools: () => toolList.hiddenToolsFor(auth),
    ...(progress && { progress: progress.report }),
    ...(fileSeconds !== undefined && { fileSeconds }),
    ...(approved && { checkEffects: approved }),
    ...(written && { written }),
    ...(workflows && { workflows: { ...workflows, clientId: auth.clientId, clientName: auth.clientName } }),
  });

  const runTool = async (call: Call, auth: Authenticated): Promise<ToolAnswer> => {
    const { tool, args } = call;
    requireScope(tool, auth);
    const answer = await tool.run(args, toToolCall(auth, call));
    return typeof answer === 'string' ? { text: answer } : answer;
  };

  const read = async (call: Call, identity: Identity): Promise<ToolAnswer> => {
    let auth = identity.auth;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (attempt > 0) auth = await renewAuth(identity);
      const running = runTool(call, auth);
      const isCurrent = authenticator.isCurrent(auth);
      if (isCurrent === true) return running;
      const [result, current] = await Promise.allSettled([running, isCurrent]);
      if (current.status === 'rejected') throw current.reason;
      if (!current.value) continue;
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    }
    return fail('NOT_READY', {});
  };

  /** Returns the current rights: those of the check if they still hold, else renewed ones. */
  const currentAuth = async (identity: Identity, versions?: Versions): Promise<Authenticated> =>
    (await authenticator.isCurrent(identity.auth, versions)) ? identity.auth : renewAuth(identity);

  const write = async (
    call: Call,
    identity: Identity,
    { access: approvedAccess, approved }: Extract<ApprovalDecision, { state: 'clear' }>,
    entry: Intent,
  ): Promise<ToolAnswer> => {
    const auth = await currentAuth(identity, entry.versions);
    // The rights changed after the approval was checked, so it was decided on outdated data.
    if (auth.access !== approvedAccess && approval.mayNeedApproval(call.tool, call.args, toToolCall(auth, call)))
      fail('APPROVAL_OVERTAKEN', {});
    return runTool(approved ? { ...call, approved: approved.check } : call, auth);
  };

  /** Decides whether the call may run: it needs no approval, or it has one. */
  const requireApproval = async (
    call: Call,
    input: Readonly<Record<string, unknown>>,
    identity: Identity,
    { asker, executedApproval, isNew }: Pick<CallTransport, 'asker' | 'executedApproval' | 'isNew'>,
  ): Promise<ApprovalDecision> => {
    const { tool, args } = call;
    const { access } = identity.auth;
    if (executedApproval === undefined && !approval.mayNeedApproval(tool, args, toToolCall(identity.auth, call)))
      return { state: 'clear', access };
    const currentCall = async () => {
      const auth = await currentAuth(identity);
      requireScope(tool, auth);
      return { auth, call: toToolCall(auth, call) };
    };
    return approval.requireApproval({
      tool,
      args,
      input,
      asker,
      executedApproval,
      isNew: isNew ?? false,
      currentCall,
    });
  };

  /** A repeat gets the stored answer only after the same checks as a first call. */
  const acquire = async (call: Call, identity: Identity): Promise<Acquired | undefined> => {
    const { tool, args, signal } = call;
    const { idempotency } = tool;
    const key = idempotency?.key(args);
    if (!idempotency || key === undefined) return undefined;
    const auth = await currentAuth(identity);
    requireScope(tool, auth);
    const rights = idempotency.rights(args, toToolCall(auth, call));
    return acquireKey(parts, { tool: tool.name, key, args, rights, auth, signal });
  };

  const renewAuth = async (identity: Identity): Promise<Authenticated> => {
    try {
      return await authenticator.renew(identity.auth);
    } catch (error) {
      if (isAppError(error, 'UNAUTHENTICATED')) identity.refusal = error;
      throw error;
    }
  };

  return { read, write, requireApproval, acquire };
}

export function createCallTool(parts: CallParts): CallTool {
  const { engine, config, clock } = parts;
  const { read, write, requireApproval, acquire } = createSteps(parts);
  return async (tool, input, identity, { signal, sendProgress, asker, executedApproval, isNew = false }) => {
    const { auth } = identity;
    const startedAt = clock.now();
    const from = clock.monotonic();
    let subject: CallRecord['subject'] = {};
    let type = entryTypeOf(tool);
    let dryRun = false;
    let acquired: Acquired | undefined;
    let intent: Intent | undefined;
    let endWatch: EndWatch | undefined;
    let answer: ToolAnswer = { text: '' };
    const written: Written[] = [];
    let decision: ApprovalDecision | undefined;
    let failure: AppError | undefined;
    let committedText = '';
    const progress = sendProgress && createProgress(clock, sendProgress);
    const limit = createTimeLimit(clock, config.callSeconds, signal);
    parts.observe({ type: 'tool.began', tool: tool.name });
    try {
      const repaired = repairArguments(tool, input, engine.names(auth.access));
      const args = tool.parse(repaired);
      subject = tool.subject(args);
      const call = {
        tool,
        args,
        signal: limit.signal,
        progress,
        ...(executedApproval && { fileSeconds: RESULT_SECONDS }),
      };
      if (tool.writes?.(args)) {
        requireScope(tool, auth);
        acquired = await acquire(call, identity);
        if (acquired?.state === 'done') {
          type = 'read';
          answer = { text: acquired.answer };
        } else {
          decision = await requireApproval(call, repaired, identity, {
            asker: asker && withoutTimeLimit(asker, limit),
            executedApproval,
            isNew,
          });
          if (decision.state === 'done') {
            type = 'read';
            answer = { text: decision.text };
          } else if (decision.state === 'failed') {
            type = 'read';
            ({ failure, committedText } = decision);
          } else if (decision.state === 'clear') {
            const approvalId = decision.approved?.id;
            intent = await beginEntry(parts, entryOf({ tool, type, subject, auth, startedAt, approvalId }));
            endWatch = await parts.watch?.begin(written, intent.versions);
            // A call with an idempotency key runs on after the client disconnects, because the client will repeat it
            // for the answer.
            const signal = acquired ? limit.timeoutSignal() : limit.signal;
            answer = await write({ ...call, signal, written }, identity, decision, intent);
          }
        }
      } else {
        type = 'read';
        dryRun = tool.writes !== undefined;
        answer = await limit.race(read(call, identity));
      }
    } catch (error) {
      failure = limit.explain(reportFailure(parts.observe, `mcp ${tool.name}`, error));
    } finally {
      limit.end();
      await progress?.end();
    }
    await endWatch?.(failure);
    const waits = decision?.state === 'pending' || decision?.state === 'asked';
    const durationMs = clock.monotonic() - from;
    const call = { tool, type, subject, auth, startedAt, durationMs, failure, waits, dryRun };
    if (acquired)
      await completeKey(parts.observe, acquired, {
        answer: answer.text,
        failure,
        isStarted: intent !== undefined,
        hasWritten: written.length > 0,
        waits,
      });
    if (intent) await completeEntry(parts, intent, call, answer.recordIds, written);
    else recordCall(parts, call);
    if (failure) {
      committedText ||= describeCommitted(describeEffects(auth.access, written, false));
      return { failure, hiddenTools: parts.toolList.hiddenToolsFor(auth), committedText };
    }
    if (decision?.state === 'asked') return { question: decision.question };
    return { text: decision?.state === 'pending' ? decision.text : answer.text };
  };
}

/**
 * The token must hold the OAuth scope of the tool (RFC 6750 section 3.1). The endpoint checks this too, before the
 * SDK; this check covers every transport.
 */
function requireScope(tool: Tool, auth: Authenticated): void {
  if (!auth.scopes.has(tool.scope))
    fail('INSUFFICIENT_SCOPE', { tool: tool.name, scope: tool.scope, scopes: stepUpScopes(auth.scopes, tool.scope) });
}

/** The time that the client's user takes to answer does not count towards the time limit of the call. */
function withoutTimeLimit(asker: Elicitation, limit: TimeLimit): Elicitation {
  if (asker.mode !== 'wait') return asker;
  return { mode: 'wait', ask: (...question) => limit.pauseDuring(() => asker.ask(...question)) };
}
