// Calls with a different wire format. Some end later, in the process that runs the call (log marks, idempotency keys).
// Some take or return code (keys, an Access), and some are batched. Their responses include the versions that the agent
// needs, which saves a second request.
import { fail } from '../core/errors.ts';
import type { Claimed, Ticket } from '../store/approvals/idempotency.ts';
import type { IdempotencyKeys } from '../store/approvals/types.ts';
import type { LogMark } from '../store/audit/activity-rows.ts';
import type { Completed } from '../store/audit/activity-statements.ts';
import type { ActivityEntry } from '../store/audit/activity-types.ts';
import { agentPurpose } from '../store/keys.ts';
import type { OpenedStore, Relay } from '../store/open.ts';
import type { FactsAt } from '../store/permissions/access.ts';
import type { Versions } from '../store/version-types.ts';
import { flag, id, listOf, number, oneOf, optional, shape, text } from './checks.ts';
import type { RemoteCall } from './methods.ts';

/** A store with direct access to its storage. */
export type OwnStore = OpenedStore & { readonly relay: Relay };

interface Relayed<A extends readonly unknown[], R> extends Pick<RemoteCall, 'effect'> {
  readonly takes: RemoteCall['takes'];
  readonly run: (store: OwnStore, ...args: A) => R | Promise<R>;
}

export interface Greeting {
  /** Version of the protocol. Another number is incompatible. */
  readonly protocol: 1;
  /** Version of the package. */
  readonly version: string;
}

type KeyList = readonly { readonly id: string; readonly value: string }[];

/** How long the name of a log batch is remembered, for a batch that is repeated because its response was lost. */
const BATCH_MS = 600_000;

const relayed = <A extends readonly unknown[], R>(
  effect: RemoteCall['effect'],
  takes: RemoteCall['takes'],
  run: Relayed<A, R>['run'],
): Relayed<A, R> => ({ effect, takes, run });

const workflow = optional(shape({ name: text, runId: text, stepName: optional(text), optionName: optional(text) }));
const effects = optional(
  listOf(
    shape({
      collection: text,
      change: oneOf('created', 'updated', 'deleted'),
      cause: oneOf('call', 'relation', 'cascade', 'code'),
      count: number,
      ids: optional(listOf(text)),
    }),
  ),
);
const entry = {
  userId: id,
  renderingId: id,
  clientId: text,
  clientName: text,
  action: text,
  type: oneOf('read', 'write'),
  collection: optional(text),
  recordIds: optional(listOf(text)),
  code: optional(text),
  startedAt: number,
  workflow,
  effects,
  dryRun: optional(flag),
  approvalId: optional(text),
};
const outcome = oneOf('completed', 'failed', 'denied');
/** The outcome of a write, which can be unknown. */
const end = oneOf('completed', 'failed', 'denied', 'unknown');
const ticket = shape({ key_hash: text, attempt: text });
const claim = shape({ userId: id, clientId: text, tool: text, key: text, args: text, rights: text });

const noKey = Symbol('no key');
const purposeOf = async (store: OwnStore, purpose: string): Promise<string> =>
  agentPurpose((await store.identity.place()).environmentId, purpose);

export const relayedCalls = {
  versions: relayed('again', [], (store): Versions | Promise<Versions> => store.versions()),
  ready: relayed('again', [], (store) => store.ready()),
  facts: relayed('again', [id], (store, userId: number): Promise<FactsAt> => store.relay.factsOf(userId)),
  mark: relayed('once', [shape(entry)], async (store, marked: Omit<ActivityEntry, 'outcome' | 'durationMs'>) => {
    const mark = await store.relay.activity.insert({ ...marked, outcome: 'unknown', durationMs: 0 });
    return { id: mark.id, versions: mark.versions ?? (await store.versions()) } satisfies LogMark;
  }),
  // The calls that end an operation have no effect when repeated: the mark is already closed, the key already settled.
  complete: relayed(
    'again',
    [
      id,
      shape({
        ...{
          outcome: end,
          code: optional(text),
          recordIds: optional(listOf(text)),
          durationMs: number,
          workflow,
          effects,
        },
      }),
    ],
    (store, marked: number, result: Completed) => store.relay.activity.completeMark(marked, result),
  ),
  record: relayed(
    'once',
    [text, listOf(shape({ ...entry, outcome, durationMs: number }))],
    async (store, batch: string, entries: readonly ActivityEntry[]): Promise<void> => {
      const key = `platform batch ${batch}`;
      if ((await store.windows.add(key, BATCH_MS)).count > 1) return;
      try {
        await store.relay.activity.insertAll(entries);
      } catch (error) {
        await store.windows.clear(key);
        throw error;
      }
    },
  ),
  claim: relayed(
    'once',
    [claim],
    (store, call: Parameters<IdempotencyKeys['claim']>[0]): Promise<Claimed> => store.relay.idempotency.claim(call),
  ),
  stayAlive: relayed('again', [ticket], (store, ticket: Ticket) => store.relay.idempotency.stayAlive(ticket)),
  settle: relayed('again', [ticket, text], (store, ticket: Ticket, answer: string) =>
    store.relay.idempotency.settle(ticket, answer),
  ),
  release: relayed('again', [ticket], (store, ticket: Ticket) => store.relay.idempotency.release(ticket)),
  doubt: relayed('again', [ticket], (store, ticket: Ticket) => store.relay.idempotency.doubt(ticket)),
  /** Null: there is no key yet, and the agent makes one. */
  keys: relayed('again', [text], async (store, purpose: string): Promise<KeyList | null> => {
    try {
      return await store.keys.of(await purposeOf(store, purpose), () => {
        throw noKey;
      });
    } catch (error) {
      if (error === noKey) return null;
      throw error;
    }
  }),
  makeKey: relayed(
    'once',
    [text, text],
    async (store, purpose: string, value: string): Promise<KeyList> =>
      store.keys.of(await purposeOf(store, checkPurpose(purpose)), () => value),
  ),
  noteTokenUse: relayed('again', [id], (store, token: number) => store.tokens.noteUse(token)),
  noteConnectionUse: relayed('again', [text], (store, connection: string) => store.connections.noteUse(connection)),
} as const;

export type RelayedName = keyof typeof relayedCalls;
export type RelayedArguments<N extends RelayedName> =
  Parameters<(typeof relayedCalls)[N]['run']> extends [OwnStore, ...infer A] ? A : never;
export type RelayedAnswer<N extends RelayedName> = Awaited<ReturnType<(typeof relayedCalls)[N]['run']>>;

/** Accepts only names in the format that this package uses, because a name must not carry data. */
function checkPurpose(purpose: string): string {
  if (/^[a-z][a-z0-9 -]{0,59}$/.test(purpose)) return purpose;
  return fail('INVALID_ARGUMENT', {
    argument: 'purpose',
    problem: 'expected 1 to 60 lowercase letters, digits, spaces or hyphens.',
  });
}
