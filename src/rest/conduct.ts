// One call of a data route from its request to its answer: the arguments, the rights of this moment, the work, and the entry
// in the activity log. A read is allowed by what the session gate found when the request came in. A write leaves its mark in the
// log first; then the rights are compared once more, and only then it is done, once.
import type { Engine } from '../agent/engine.ts';
import { createTimeLimit } from '../core/clock/time-limit.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { AppError, type ErrorCode, fail, isAppError, toAppError } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { readJson } from '../oauth/body.ts';
import type { SessionGate, SignedIn } from '../oauth/session-gate.ts';
import type { ActivityEntry, ActivityLog, Intent, KnownOutcome } from '../store/activity-types.ts';
import type { Answer, DataCall, DataRoute, Visit } from './route.ts';

export interface ConductParts {
  readonly engine: Engine;
  readonly gate: SessionGate;
  readonly activity: Pick<ActivityLog, 'record' | 'begin'>;
  readonly config: Config;
  /** What stands before the path of a route in an address. */
  readonly prefix: string;
  readonly observe: Observe;
  readonly clock: Clock;
}

/** Rejects with what the call failed with; the entry in the activity log is made either way. */
export type Conduct = (route: DataRoute, visit: Visit, signedIn: SignedIn, requestId: string) => Promise<Answer>;

const denials: ReadonlySet<ErrorCode> = new Set(['FORBIDDEN', 'UNAUTHENTICATED', 'NOT_APPROVED', 'NEEDS_APPROVAL']);

export function createConduct(parts: ConductParts): Conduct {
  const { engine, gate, activity, config, prefix, observe, clock } = parts;
  const limits = { bytes: config.bodyLimitBytes, depth: config.jsonDepthLimit };

  const begin = async (entry: Parameters<ActivityLog['begin']>[0]): Promise<Intent> => {
    try {
      return await activity.begin(entry);
    } catch (cause) {
      // Nothing is written that the log cannot tell of.
      observe({ type: 'warning', message: 'A write was refused: the activity log cannot be written.', cause });
      if (isAppError(cause, 'PLATFORM_UNAVAILABLE')) throw cause;
      return fail('SOURCE_UNAVAILABLE', {}, cause);
    }
  };

  const complete = async (intent: Intent, action: string, result: Parameters<Intent['complete']>[0]): Promise<void> => {
    try {
      await intent.complete(result);
    } catch (cause) {
      observe({ type: 'warning', message: `An activity entry of '${action}' stays unknown.`, cause });
    }
  };

  return async (route, { req, params, query, left }, signedIn, requestId) => {
    const { action, writes } = route;
    const { access, userId, origin } = signedIn;
    const startedAt = clock.now();
    const from = clock.monotonic();
    const limit = createTimeLimit(clock, config.callSeconds, left);
    const who = { userId, renderingId: access.caller.renderingId, clientId: 'agent-api', clientName: origin };
    let subject: Pick<ActivityEntry, 'collection' | 'recordIds'> = {};
    let intent: Intent | undefined;
    let answer: Answer | undefined;
    let failure: AppError | undefined;
    const entry = () => ({
      ...who,
      action,
      type: writes ? ('write' as const) : ('read' as const),
      ...subject,
      startedAt,
    });
    try {
      const body = hasBody(req.headers) ? await readJson(req, limits) : undefined;
      const args = route.parse({ params, query, headers: req.headers, body });
      subject = route.subject(args);
      const call: DataCall = { access, engine, config, clock, signal: limit.signal, prefix, observe };
      if (writes) {
        intent = await begin(entry());
        // The rights of now: what was taken away since the request came in is felt before the first mutating statement.
        const stands = await gate.holds(signedIn, intent.versions);
        const now = stands ? access : (await gate.check(req.headers.authorization)).access;
        answer = await route.run(args, { ...call, access: now });
      } else answer = await limit.bound(route.run(args, call));
    } catch (error) {
      failure = limit.explain(toAppError(error, requestId));
      if (failure.code === 'INTERNAL')
        observe({ type: 'failure', where: `agent api ${action}`, requestId, cause: error });
    } finally {
      limit.end();
    }
    const tell = async (failed: AppError | undefined): Promise<void> => {
      const milliseconds = Math.max(0, Math.round(clock.monotonic() - from));
      const outcome = outcomeOf(failed?.code ?? answer?.refused);
      if (intent)
        await complete(intent, action, { ...outcome, ...(answer?.recordIds && { recordIds: answer.recordIds }) });
      else activity.record({ ...entry(), ...outcome, durationMs: milliseconds });
      const about = subject.collection === undefined ? {} : { collection: subject.collection };
      observe({ type: 'route.called', action, ...about, userId, ...outcome, milliseconds });
    };
    // What comes in parts has ended when the last of them has.
    if (answer?.stream && !writes && req.method !== 'HEAD') {
      const { type, parts } = answer.stream;
      return {
        ...answer,
        stream: {
          type,
          parts: toEnd(parts, (error) => tell(error === undefined ? undefined : toAppError(error, requestId))),
        },
      };
    }
    await tell(failure);
    if (failure) throw failure;
    return answer!;
  };
}

/** The same parts; `end` is told once how they ended. */
async function* toEnd<T>(parts: AsyncIterable<T>, end: (error: unknown) => Promise<void>): AsyncGenerator<T> {
  let how: unknown = new AppError('CANCELLED', {});
  try {
    yield* parts;
    how = undefined;
  } catch (error) {
    how = error;
    throw error;
  } finally {
    await end(how);
  }
}

function outcomeOf(code: ErrorCode | undefined): { readonly outcome: KnownOutcome; readonly code?: ErrorCode } {
  if (!code) return { outcome: 'completed' };
  return { outcome: denials.has(code) ? 'denied' : 'failed', code };
}

/** RFC 9112 section 6: a message has a body when one of the two says so. */
function hasBody(headers: Visit['req']['headers']): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
