// Runs one call of a data route: it parses the arguments, checks the rights, runs the route and writes the activity
// log. A read uses the rights that the token check found. A write is logged first. Then its rights are checked again,
// and it runs once.

import type { Engine } from '../agent/engine.ts';
import { describeEffects, logOtherEffects, type WriteEffect, type Written } from '../agent/write/effects.ts';
import type { EndWatch, WriteWatch } from '../agent/write/watch.ts';
import { createTimeLimit } from '../core/clock/time-limit.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { commitOutcomeOf } from '../core/errors/lost-commit.ts';
import { AppError, isAppError, toAppError } from '../core/errors.ts';
import { userTurn } from '../core/limit/turns.ts';
import { markLogged, reportFailure } from '../core/observe/failures.ts';
import type { Observe } from '../core/observe.ts';
import { readJson } from '../http/body.ts';
import type { SessionAuthenticator, SignedIn } from '../oauth/tokens/session-gate.ts';
import { outcomeOfCode } from '../store/audit/activity.ts';
import type { ActivityEntry, ActivityLog, Intent } from '../store/audit/activity-types.ts';
import { describeError } from './error-text.ts';
import type { Answer, DataCall, DataRoute, RouteRequest } from './route.ts';
import { checkScope } from './token-scope.ts';

interface PipelineParts {
  readonly engine: Engine;
  readonly authenticator: SessionAuthenticator;
  readonly activity: Pick<ActivityLog, 'record' | 'begin'>;
  readonly config: Config;
  /** The URL path before the path of a route. */
  readonly prefix: string;
  /** Learns of the records that calls write. */
  readonly watch?: WriteWatch | undefined;
  readonly observe: Observe;
  readonly clock: Clock;
}

/** Rejects with the call's error. The activity log records the call in either case. */
type RunDataRoute = (route: DataRoute, request: RouteRequest, signedIn: SignedIn, requestId: string) => Promise<Answer>;

export function createPipeline(parts: PipelineParts): RunDataRoute {
  const { engine, authenticator, activity, config, prefix, observe, clock } = parts;
  const limits = { bytes: config.bodyLimitBytes, depth: config.jsonDepthLimit };

  const begin = async (entry: Parameters<ActivityLog['begin']>[0]): Promise<Intent> => {
    try {
      return await activity.begin(entry);
    } catch (cause) {
      // Every write is logged before it runs.
      observe({ type: 'warning', message: 'A write was refused: the activity log cannot be written.', cause });
      if (isAppError(cause, 'PLATFORM_UNAVAILABLE')) throw cause;
      throw markLogged(new AppError('SOURCE_UNAVAILABLE', {}, cause));
    }
  };

  return async (route, { req, params, query, disconnected }, signedIn, requestId) => {
    const { action, writes } = route;
    const { access, userId, clientId, clientName } = signedIn;
    const startedAt = clock.now();
    const from = clock.monotonic();
    const limit = createTimeLimit(clock, config.callSeconds, disconnected);
    const callerPart = { userId, renderingId: access.caller.renderingId, clientId, clientName };
    let subject: Pick<ActivityEntry, 'collection' | 'recordIds'> = {};
    let intent: Intent | undefined;
    let endWatch: EndWatch | undefined;
    let answer: Answer | undefined;
    const written: Written[] = [];
    let failure: AppError | undefined;
    // A statement cancelled by a client disconnect is not a failure.
    const report = (error: unknown) =>
      disconnected.aborted
        ? toAppError(error, requestId)
        : reportFailure(observe, `agent api ${action}`, error, requestId);
    const entry = () => ({
      ...callerPart,
      action,
      type: writes ? ('write' as const) : ('read' as const),
      ...subject,
      startedAt,
    });
    try {
      const turn = () => userTurn(userId);
      const body = hasBody(req.headers) ? await readJson(req, limits, turn) : undefined;
      if (body === undefined) await turn();
      const args = route.parse({ params, query, headers: req.headers, body });
      subject = route.subject(args);
      checkScope(route, signedIn);
      const accessNow = async () => (await authenticator.check(req.headers.authorization)).access;
      const call: DataCall = {
        access,
        byProgram: signedIn.token !== undefined,
        currentAccess: accessNow,
        engine,
        config,
        clock,
        signal: limit.signal,
        written,
        prefix,
        observe,
      };
      if (writes) {
        intent = await begin(entry());
        endWatch = await parts.watch?.begin(written, intent.versions);
        // A right revoked since the request arrived must block the first mutating statement.
        const isCurrent = await authenticator.isCurrent(signedIn, intent.versions);
        const currentAccess = isCurrent ? access : await accessNow();
        answer = await route.run(args, { ...call, access: currentAccess });
      } else answer = await limit.race(route.run(args, call));
    } catch (error) {
      failure = limit.explain(report(error));
    } finally {
      limit.end();
    }
    await endWatch?.(failure);
    const recordOutcome = async (failed: AppError | undefined): Promise<void> => {
      const milliseconds = Math.max(0, Math.round(clock.monotonic() - from));
      const outcome = outcomeOfCode(failed?.code ?? answer?.errorCode);
      if (intent)
        await intent.complete({ ...outcome, ...writtenRecords(answer, written, subject) }, commitOutcomeOf(failed));
      else activity.record({ ...entry(), ...outcome, durationMs: milliseconds });
      const collectionPart = subject.collection === undefined ? {} : { collection: subject.collection };
      observe({ type: 'route.called', action, ...collectionPart, userId, ...outcome, milliseconds });
    };
    // A stream is logged after its last part.
    if (answer?.stream && !writes && req.method !== 'HEAD') {
      const { type, parts } = answer.stream;
      return {
        ...answer,
        stream: {
          type,
          parts: withStreamEnd(parts, (error) => recordOutcome(error === undefined ? undefined : report(error))),
        },
      };
    }
    await recordOutcome(failure);
    // The error response lists the writes that were committed despite the failure.
    const committedEffects = failure ? describeEffects(access, written, false) : [];
    if (failure && committedEffects.length > 0)
      return { status: failure.status, body: failureBody(failure, committedEffects) };
    if (failure) throw failure;
    return answer!;
  };
}

/** Builds the activity log entry of a write. */
function writtenRecords(
  { recordIds }: Pick<Answer, 'recordIds'> = {},
  written: readonly Written[],
  { collection }: Pick<ActivityEntry, 'collection'>,
): Pick<ActivityEntry, 'recordIds' | 'effects'> {
  return { ...(recordIds && { recordIds }), ...logOtherEffects(written, collection, recordIds) };
}

const failureBody = (failure: AppError, alsoWritten: readonly WriteEffect[]) => ({
  errors: [{ ...describeError(failure), meta: { alsoWritten } }],
});

/** Forwards the parts and calls `end` once, with the error or undefined. */
async function* withStreamEnd<T>(parts: AsyncIterable<T>, onEnd: (error: unknown) => Promise<void>): AsyncGenerator<T> {
  let outcome: unknown = new AppError('CANCELLED', {});
  try {
    yield* parts;
    outcome = undefined;
  } catch (error) {
    outcome = error;
    throw error;
  } finally {
    await onEnd(outcome);
  }
}

/** RFC 9112 section 6: either header means that there is a body. */
function hasBody(headers: RouteRequest['req']['headers']): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
