// One tool call from its name to its answer: the OAuth scope, the arguments, the work, the permissions compared once
// more, and the entry in the activity log. Every way in (shared instances, the SDK's own handler, sessions) ends here.
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Engine } from '../agent/engine.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { AppError, type ErrorCode, fail, isAppError, toAppError } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { randomId } from '../core/secret.ts';
import type { Authenticated, Gate } from '../oauth/bearer.ts';
import type { ActivityLog } from '../store/store.ts';
import { errorResult, textResult } from './result.ts';
import type { Tool } from './tools.ts';

/** Who makes one request; it lives as long as the request does. */
export interface Identity {
  readonly auth: Authenticated;
  /** Set when the token stopped being good while the call was served: the answer is a 401, where one can still be given. */
  refusal?: AppError;
}

export interface CallParts {
  readonly engine: Engine;
  readonly gate: Gate;
  readonly activity: Pick<ActivityLog, 'record'>;
  readonly config: Config;
  readonly observe: Observe;
  readonly clock: Clock;
}

export type CallTool = (
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
  identity: Identity,
  signal: AbortSignal,
) => Promise<CallToolResult>;

const denials: ReadonlySet<ErrorCode> = new Set(['FORBIDDEN', 'INSUFFICIENT_SCOPE', 'UNAUTHENTICATED']);

type Subject = ReturnType<Tool['subject']>;

interface Call {
  readonly tool: Tool;
  readonly args: unknown;
  readonly signal: AbortSignal;
}

/** The work starts at once and its answer is held until the permissions are known to stand; else once more from the start. */
const ATTEMPTS = 2;

export function createCallTool(parts: CallParts): CallTool {
  const { engine, gate, config, clock } = parts;

  const work = async (call: Call, auth: Authenticated): Promise<string> => {
    // The token holds the OAuth scope of the tool (RFC 6750 section 3.1). The front asked the same before the SDK saw
    // the call; this is the check that no other way in can miss.
    if (!auth.scopes.has(call.tool.scope)) {
      fail('INSUFFICIENT_SCOPE', { tool: call.tool.name, scopes: [call.tool.scope] });
    }
    return call.tool.run(call.args, { access: auth.access, engine, config, signal: call.signal });
  };

  const answer = async (call: Call, identity: Identity): Promise<string> => {
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

  const recheck = async (identity: Identity): Promise<Authenticated> => {
    try {
      return await gate.renew(identity.auth);
    } catch (error) {
      if (isAppError(error, 'UNAUTHENTICATED')) identity.refusal = error;
      throw error;
    }
  };

  return async (tool, given, identity, signal) => {
    const startedAt = clock.now();
    const from = clock.monotonic();
    let subject: Subject = {};
    let failure: AppError | undefined;
    let text = '';
    try {
      const args = tool.parse(given);
      subject = tool.subject(args);
      text = await answer({ tool, args, signal }, identity);
    } catch (error) {
      failure = report(parts, tool.name, error);
    }
    const timing = { startedAt, durationMs: clock.monotonic() - from };
    recordCall(parts, { tool, subject, auth: identity.auth, ...timing, failure });
    return failure ? errorResult(failure) : textResult(text);
  };
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
  readonly subject: Subject;
  readonly auth: Authenticated;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly failure: AppError | undefined;
}

/** One entry for each call, denied ones included: names and ids, never argument values. */
export function recordCall(parts: Pick<CallParts, 'activity' | 'observe'>, call: CallRecord): void {
  const { tool, auth, failure, startedAt } = call;
  const outcome = !failure ? 'completed' : denials.has(failure.code) ? 'denied' : 'failed';
  const code = failure ? { code: failure.code } : {};
  parts.activity.record({
    userId: auth.userId,
    renderingId: auth.access.caller.renderingId,
    clientId: auth.clientId,
    clientName: auth.clientName,
    action: tool.name,
    type: tool.annotations.readOnlyHint ? 'read' : 'write',
    ...call.subject,
    outcome,
    ...code,
    startedAt,
    durationMs: Math.max(0, Math.round(call.durationMs)),
  });
  parts.observe({
    type: 'tool.called',
    tool: tool.name,
    ...(call.subject.collection === undefined ? {} : { collection: call.subject.collection }),
    userId: auth.userId,
    clientId: auth.clientId,
    outcome,
    ...code,
    milliseconds: call.durationMs,
  });
}
