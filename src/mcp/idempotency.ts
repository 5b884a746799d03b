// Idempotency keys: a call with a key runs once, and every repeat gets the first answer. A repeat passes the same
// permission checks as a first call before it gets that answer.
import { verbs } from '../core/caller.ts';
import type { StopSignal } from '../core/clock/stop.ts';
import type { Clock } from '../core/clock.ts';
import { type AppError, type ErrorCode, fail } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import type { Authenticated } from '../oauth/tokens/verify.ts';
import type { IdempotencyClaim, IdempotencyKeys } from '../store/approvals/types.ts';
import type { ToolCall } from './tool.ts';

/** How long a repeat waits for the call in progress, in milliseconds. */
const WAIT_MS = 10_000;
const POLL_MS = 100;

export type Acquired = Extract<IdempotencyClaim, { state: 'mine' | 'done' }>;

interface KeyedCall {
  readonly tool: string;
  readonly key: string;
  /** The parsed arguments, so different spellings of the same call count as equal. */
  readonly args: unknown;
  /** All rights of the caller that the answer depends on, ready for JSON. */
  readonly rights: unknown;
  readonly auth: Authenticated;
  readonly signal: StopSignal;
}

/**
 * Claims the key for this call, or returns the answer of the call that used it. Throws IDEMPOTENCY_KEY_REUSED,
 * IDEMPOTENCY_KEY_BUSY, OUTCOME_UNKNOWN and ANSWER_WITHHELD.
 */
export async function acquireKey(
  { idempotency, clock }: { readonly idempotency: IdempotencyKeys; readonly clock: Clock },
  { tool, key, args, rights, auth, signal }: KeyedCall,
): Promise<Acquired> {
  const { userId, clientId } = auth;
  const claim = { userId, clientId, tool, key, args: sortedJson(args), rights: sortedJson(rights) };
  const until = clock.monotonic() + WAIT_MS;
  for (;;) {
    const found = await idempotency.claim(claim);
    if (found.state === 'mine' || found.state === 'done') return found;
    if (found.state === 'other') fail('IDEMPOTENCY_KEY_REUSED', { tool });
    if (found.state === 'unknown') fail('OUTCOME_UNKNOWN', { of: 'key' });
    if (found.state === 'withheld') fail('ANSWER_WITHHELD', {});
    if (clock.monotonic() >= until) fail('IDEMPOTENCY_KEY_BUSY', {});
    await clock.sleep(POLL_MS, signal);
  }
}

/** Errors that guarantee that no data was written. After any other error the write may have happened. */
const noWriteCodes: ReadonlySet<ErrorCode> = new Set([
  'UNKNOWN_COLLECTION',
  'UNKNOWN_FIELD',
  'UNKNOWN_ACTION',
  'INVALID_VALUE',
  'INVALID_ARGUMENT',
  'INVALID_RECORD',
  'INVALID_FORM',
  'RECORD_IN_USE',
  'RECORD_NOT_FOUND',
  'WRITE_CONFLICT',
  'READ_ONLY',
  'FORBIDDEN',
  'INSUFFICIENT_SCOPE',
  'UNAUTHENTICATED',
  'NOT_APPROVED',
  'APPROVAL_OVERTAKEN',
  'INVALID_APPROVAL',
  'TOO_MANY_APPROVALS',
  'NOT_READY',
]);

/** Whether an error with this code guarantees that no data was written. */
export const wroteNothing = (code: ErrorCode): boolean => noWriteCodes.has(code);

/**
 * Records the outcome of a claimed key. `began`: whether the work had started. `waits`: the call waits for approval,
 * and its repeat will use the same key. If the storage fails, repeats get the error that the outcome is unknown.
 */
export async function completeKey(
  observe: Observe,
  acquired: Acquired,
  {
    answer,
    failure,
    isStarted,
    hasWritten,
    waits,
  }: {
    readonly answer: string;
    readonly failure: AppError | undefined;
    readonly isStarted: boolean;
    /** Whether records were written that stay written, such as those of an action's code before it failed. */
    readonly hasWritten: boolean;
    readonly waits: boolean;
  },
): Promise<void> {
  if (acquired.state === 'done') return;
  try {
    if (waits) await acquired.release();
    else if (!failure) await acquired.settle(answer);
    else if (!isStarted || (!hasWritten && wroteNothing(failure.code))) await acquired.release();
    else await acquired.doubt();
  } catch (cause) {
    observe({ type: 'warning', message: 'Failed to record the outcome of an idempotency key.', cause });
  }
}

/**
 * The rights that the answer of a write to one collection depends on. Throws UNKNOWN_COLLECTION, as a first call does.
 */
export function collectionRights({ access, engine }: Pick<ToolCall, 'access' | 'engine'>, collection: string): unknown {
  const { key, fields } = engine.describe(access, collection);
  const allowedVerbs = verbs.filter((verb) => access.can(verb, collection));
  return [allowedVerbs, key, fields.map(({ name, readOnly }) => [name, readOnly]), access.scope(collection)];
}

/** JSON with sorted members: equal values give equal texts. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
