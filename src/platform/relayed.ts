// The calls that have a form of their own on the wire: those whose end comes later, from the process that has the call under
// way (marks of the log, idempotency keys), those that are given code or answer with it (keys, an Access), and those that are
// gathered. Whoever asks is told the versions with what he needs them for, so that he need not ask again.
import { fail } from '../core/errors.ts';
import type { FactsAt } from '../store/access.ts';
import type { Completed, Mark } from '../store/activity-rows.ts';
import type { ActivityEntry } from '../store/activity-types.ts';
import type { IdempotencyKeys } from '../store/approval-types.ts';
import type { Claimed, Ticket } from '../store/idempotency.ts';
import { agentPurpose } from '../store/keys.ts';
import type { OpenedStore, Relay } from '../store/open.ts';
import type { Versions } from '../store/store.ts';
import type { Passed } from './calls.ts';
import { id, listOf, number, oneOf, optional, shape, text } from './checks.ts';

/** A store that this process has itself. */
export type OwnStore = OpenedStore & { readonly relay: Relay };

interface Relayed<A extends readonly unknown[], R> extends Pick<Passed, 'effect'> {
  readonly takes: Passed['takes'];
  readonly run: (store: OwnStore, ...args: A) => R | Promise<R>;
}

export interface Greeting {
  /** Of what is said at the door; another number is another language. */
  readonly protocol: 1;
  /** Of the package. */
  readonly version: string;
}

export type KeyList = readonly { readonly id: string; readonly value: string }[];

/** How long a batch of the log is known by its name, for the one that comes again since its answer was lost. */
const BATCH_MS = 600_000;

const relayed = <A extends readonly unknown[], R>(
  effect: Passed['effect'],
  takes: Passed['takes'],
  run: Relayed<A, R>['run'],
): Relayed<A, R> => ({ effect, takes, run });

const workflow = optional(shape({ name: text, runId: text, stepName: optional(text), optionName: optional(text) }));
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
};
const outcome = oneOf('completed', 'failed', 'denied');
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
    return { id: mark.id, versions: mark.versions ?? (await store.versions()) } satisfies Mark;
  }),
  // What ends a call does nothing when it comes again: the mark is no longer open, the key is settled.
  complete: relayed(
    'again',
    [id, shape({ outcome, code: optional(text), recordIds: optional(listOf(text)), durationMs: number, workflow })],
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
  stayAlive: relayed('again', [ticket], (store, mine: Ticket) => store.relay.idempotency.stayAlive(mine)),
  settle: relayed('again', [ticket, text], (store, mine: Ticket, answer: string) =>
    store.relay.idempotency.settle(mine, answer),
  ),
  release: relayed('again', [ticket], (store, mine: Ticket) => store.relay.idempotency.release(mine)),
  doubt: relayed('again', [ticket], (store, mine: Ticket) => store.relay.idempotency.doubt(mine)),
  /** Null: there is none yet, and who asks makes one. */
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

/** Those that the code of this package has; a name is no place to keep things. */
function checkPurpose(purpose: string): string {
  if (/^[a-z][a-z0-9 -]{0,59}$/.test(purpose)) return purpose;
  return fail('INVALID_ARGUMENT', {
    argument: 'purpose',
    problem: 'expected 1 to 60 small letters, digits, spaces or hyphens.',
  });
}
