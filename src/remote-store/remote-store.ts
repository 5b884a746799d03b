// A Store with its rows in another process. Every method calls the platform endpoint, which makes it equivalent to a
// local storage. Cached objects (an Access, a validated token) are compared with the platform's versions at every call;
// no cache has a time to live. Log entries for reads are batched. Methods that only the platform may run (methods.ts)
// are refused locally.
import type { Clock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { randomToken } from '../core/secret.ts';
import { createIdempotencyKeys } from '../store/approvals/idempotency.ts';
import { createActivityLog } from '../store/audit/activity.ts';
import type { ActivityRows } from '../store/audit/activity-rows.ts';
import type { ActivityEntry } from '../store/audit/activity-types.ts';
import { createUses } from '../store/database/last-used.ts';
import type { OpenedStore } from '../store/open.ts';
import { createAccessReader } from '../store/permissions/access.ts';
import type { Keys, Store } from '../store/store.ts';
import { calls, type Part, type Row } from './methods.ts';
import { type RelayedAnswer, type RelayedArguments, type RelayedName, relayedCalls } from './relayed.ts';
import type { Channel } from './rpc-client.ts';
import { shareCall } from './shared-call.ts';

export interface RemoteStoreParts {
  readonly channel: Channel;
  readonly isSandbox: boolean;
  readonly clock: Clock;
  readonly observe: Observe;
}

/** Maximum number of concurrent requests for the versions. */
const VERSIONS_AT_ONCE = 4;

type Relay = <N extends RelayedName>(name: N, ...args: RelayedArguments<N>) => Promise<RelayedAnswer<N>>;

export function createRemoteStore({ channel, isSandbox, clock, observe }: RemoteStoreParts): OpenedStore {
  const relay = ((name: RelayedName, ...args: readonly unknown[]) =>
    channel.call(`/v1/${name}`, args, relayedCalls[name].effect)) as Relay;
  const passed = <P extends Part>(part: P): Store[P] => passPart(part, channel);
  const versions = shareCall(() => relay('versions'), VERSIONS_AT_ONCE);
  const activity = createActivityLog(createRemoteRows(relay, passed('activity').list), observe, clock);
  const tokenUses = createUses(clock, (token: number) => relay('noteTokenUse', token));
  const connectionUses = createUses(clock, (connection: string) => relay('noteConnectionUse', connection));
  return {
    identity: passed('identity'),
    identities: passed('identities'),
    permissions: {
      ...passed('permissions'),
      ...createAccessReader({ versions, load: (userId) => relay('facts', userId), observe }),
    },
    rights: passed('rights'),
    members: passed('members'),
    oauth: passed('oauth'),
    activity: { ...passed('activity'), ...activity },
    adminLog: passed('adminLog'),
    idempotency: createIdempotencyKeys(
      {
        claim: (call) => relay('claim', call),
        stayAlive: (ticket) => relay('stayAlive', ticket),
        settle: (ticket, answer) => relay('settle', ticket, answer),
        release: (ticket) => relay('release', ticket),
        doubt: (ticket) => relay('doubt', ticket),
      },
      clock,
    ),
    approvals: passed('approvals'),
    settings: passed('settings'),
    keys: { ...passed('keys'), of: createKeyReader(relay) },
    files: passed('files'),
    sessions: passed('sessions'),
    agentSessions: passed('agentSessions'),
    links: passed('links'),
    secondFactors: passed('secondFactors'),
    windows: passed('windows'),
    quotas: passed('quotas'),
    tokens: { ...passed('tokens'), noteUse: tokenUses.note },
    connections: { ...passed('connections'), noteUse: connectionUses.note },
    schema: passed('schema'),
    workflows: passed('workflows'),
    runs: passed('runs'),
    remotes: passed('remotes'),
    notes: passed('notes'),
    versions,
    ready: () => relay('ready'),
    async close() {
      await activity.flush();
      await tokenUses.flush();
      await connectionUses.flush();
      await channel.close();
    },
    ...(isSandbox && { isSandbox }),
  };
}

/** The methods of a part that are plain calls. The caller replaces those with another wire format. */
function passPart<P extends Part>(part: P, channel: Channel): Store[P] {
  const refuse = async (): Promise<never> =>
    fail('DENIED', { problem: 'This is done where the platform runs (serverUrl), not through an agent.' });
  const rows: Readonly<Record<string, Row>> = calls[part];
  const methods = Object.entries(rows).map(([method, row]) => [
    method,
    typeof row === 'string'
      ? refuse
      : (...args: readonly unknown[]) => channel.call(`/v1/${part}/${method}`, args, row.effect),
  ]);
  return Object.fromEntries(methods) as Store[P];
}

function createRemoteRows(relay: Relay, list: ActivityRows['list']): Omit<ActivityRows, 'completeMark'> {
  const batches = new WeakMap<readonly ActivityEntry[], string>();
  return {
    insert: ({ outcome: _, durationMs: __, ...entry }) => relay('mark', entry),
    async insertAll(entries) {
      // A retried batch has the same name, because the first attempt may have succeeded and only its response was lost.
      const batch = batches.get(entries) ?? randomToken(128);
      batches.set(entries, batch);
      await relay('record', batch, entries);
    },
    complete: (id, result) => relay('complete', id, result),
    list,
  };
}

function createKeyReader(relay: Relay): Keys['of'] {
  return async (purpose, make) => (await relay('keys', purpose)) ?? relay('makeKey', purpose, await make());
}
