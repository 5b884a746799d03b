// A call that its client may repeat: with an idempotency key it is done once, and every repeat is given the first answer.
// The permissions are compared and the rights of the caller asked for before that, as for a first call.
import { verbs } from '../core/caller.ts';
import type { StopSignal } from '../core/clock/stop.ts';
import type { Clock } from '../core/clock.ts';
import { type AppError, type ErrorCode, fail } from '../core/errors.ts';
import type { Authenticated } from '../oauth/bearer.ts';
import type { IdempotencyClaim, IdempotencyKeys } from '../store/approval-types.ts';
import type { ToolCall } from './tools.ts';

/** For how long a repeat waits for the call that is under way. */
const WAIT_MS = 10_000;
const LOOK_MS = 100;

export type Held = Extract<IdempotencyClaim, { state: 'mine' | 'done' }>;

export interface KeyedCall {
  readonly tool: string;
  readonly key: string;
  /** As parsed: what means the same is the same. */
  readonly args: unknown;
  /** Of the caller, all that the answer depends on, ready for JSON. */
  readonly rights: unknown;
  readonly auth: Authenticated;
  readonly signal: StopSignal;
}

/**
 * The key for this call alone, or the answer of the one that had it. IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_KEY_BUSY,
 * OUTCOME_UNKNOWN, ANSWER_WITHHELD.
 */
export async function holdKey(
  { idempotency, clock }: { readonly idempotency: IdempotencyKeys; readonly clock: Clock },
  { tool, key, args, rights, auth, signal }: KeyedCall,
): Promise<Held> {
  const { userId, clientId } = auth;
  const claim = { userId, clientId, tool, key, args: sortedJson(args), rights: sortedJson(rights) };
  const until = clock.monotonic() + WAIT_MS;
  for (;;) {
    const found = await idempotency.claim(claim);
    if (found.state === 'mine' || found.state === 'done') return found;
    if (found.state === 'other') fail('IDEMPOTENCY_KEY_REUSED', { tool });
    if (found.state === 'unknown') fail('OUTCOME_UNKNOWN', {});
    if (found.state === 'withheld') fail('ANSWER_WITHHELD', {});
    if (clock.monotonic() >= until) fail('IDEMPOTENCY_KEY_BUSY', {});
    await clock.sleep(LOOK_MS, signal);
  }
}

/** After these nothing was written; what else goes wrong may have gone wrong in the middle, or on the way back. */
const harmless: ReadonlySet<ErrorCode> = new Set([
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

/** `began`: whether the call came as far as its work. `waits`: it has yet to be approved, and will be repeated with its key. */
export async function endHold(
  held: Held,
  {
    answer,
    failure,
    began,
    waits,
  }: {
    readonly answer: string;
    readonly failure: AppError | undefined;
    readonly began: boolean;
    readonly waits: boolean;
  },
): Promise<void> {
  if (held.state === 'done') return;
  if (waits) await held.release();
  else if (!failure) await held.settle(answer);
  else if (!began || harmless.has(failure.code)) await held.release();
  else await held.doubt();
}

/** What the answer of a write to one collection depends on. UNKNOWN_COLLECTION as for a first call. */
export function collectionRights({ access, engine }: Pick<ToolCall, 'access' | 'engine'>, collection: string): unknown {
  const { key, fields } = engine.describe(access, collection);
  const may = verbs.filter((verb) => access.can(verb, collection));
  return [may, key, fields.map(({ name, readOnly }) => [name, readOnly]), access.scope(collection)];
}

/** The same text for the same value, in whatever order its members came. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
