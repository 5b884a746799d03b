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
import { createLastUsed } from '../store/database/last-used.ts';
import type { OpenedStore } from '../store/open.ts';
import { createAccessReader } from '../store/permissions/access.ts';
import type { Keys, Store } from '../store/store.ts';
import { calls, type Part, type Row } from './methods.ts';
import { type RelayedAnswer, type RelayedArguments, type RelayedName, relayedCalls } from './relayed.ts';
import { type Channel, RpcFailure } from './rpc-client.ts';
import { shareCall } from './shared-call.ts';

interface RemoteStoreParts {
  readonly channel: Channel;
  readonly isSandbox: boolean;
  readonly clock: Clock;
  readonly observe: Observe;
}

/** Maximum number of concurrent requests for the versions. */
const MAX_CONCURRENT_VERSIONS = 4;

type Relay = <N extends RelayedName>(name: N, ...args: RelayedArguments<N>) => Promise<RelayedAnswer<N>>;

export function createRemoteStore({ channel, isSandbox, clock, observe }: RemoteStoreParts): OpenedStore {
  const relay = ((name: RelayedName, ...args: readonly unknown[]) =>
    channel.call(`/v1/${name}`, args, relayedCalls[name].effect)) as Relay;
  const remotePart = <P extends Part>(part: P): Store[P] => createRemotePart(part, channel);
  const versions = shareCall(() => relay('versions'), MAX_CONCURRENT_VERSIONS);
  const meanings = remotePart('meanings');
  const loadMeanings = () => meanings.list().catch((error) => (isUnknownCall(error) ? [] : Promise.reject(error)));
  const activity = createActivityLog(createRemoteRows(relay, remotePart('activity').list), observe, clock);
  const [remoteTokens, remoteRuns] = [remotePart('tokens'), remotePart('runs')];
  const runs: Store['runs'] = {
    ...remoteRuns,
    // A platform of an earlier version does not take the position of the last step.
    begin: (claim, stepId, position, passed) => remoteRuns.begin(claim, stepId, position, passed),
  };
  const tokenUses = createLastUsed(clock, (token: number) => relay('noteTokenUse', token));
  const connectionUses = createLastUsed(clock, (connection: string) => relay('noteConnectionUse', connection));
  return {
    identity: remotePart('identity'),
    identities: remotePart('identities'),
    permissions: {
      ...remotePart('permissions'),
      ...createAccessReader({ versions, load: (userId) => relay('facts', userId), loadMeanings, observe }),
    },
    meanings,
    rights: remotePart('rights'),
    members: remotePart('members'),
    oauth: remotePart('oauth'),
    activity: { ...remotePart('activity'), ...activity },
    adminLog: remotePart('adminLog'),
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
    approvals: remotePart('approvals'),
    settings: remotePart('settings'),
    keys: { ...remotePart('keys'), of: createKeyReader(relay) },
    files: remotePart('files'),
    sessions: remotePart('sessions'),
    agentSessions: remotePart('agentSessions'),
    links: remotePart('links'),
    secondFactors: remotePart('secondFactors'),
    windows: remotePart('windows'),
    quotas: remotePart('quotas'),
    tokens: { ...remoteTokens, find: (hash) => remoteTokens.find(hash), noteUse: tokenUses.touch },
    connections: { ...remotePart('connections'), noteUse: connectionUses.touch },
    schema: remotePart('schema'),
    workflows: remotePart('workflows'),
    runs,
    startRules: remotePart('startRules'),
    remotes: remotePart('remotes'),
    waitingMails: remotePart('waitingMails'),
    notes: remotePart('notes'),
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

/** A platform of an earlier version does not have the call. */
const isUnknownCall = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof RpcFailure && error.cause.refused === 'unknown';

/** The methods of a part that are plain calls. The caller replaces those with another wire format. */
function createRemotePart<P extends Part>(part: P, channel: Channel): Store[P] {
  const refuse = async (): Promise<never> =>
    fail('DENIED', { problem: 'Do this on the platform (serverUrl); an agent cannot do it.' });
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
