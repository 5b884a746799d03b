// A third process revokes a right while calls run in two others: a call that starts after the change must not use it.
// This process starts the calls and makes the changes, so all times come from one clock.
import { hashToken } from '../../src/core/secret.ts';
import type { CollectionPermission } from '../../src/store/permissions/types.ts';
import { callTool } from '../app/call.ts';
import { connect, register } from '../oauth/client.ts';
import { sessionToken, whoAmI } from '../rest/front-end.ts';
import type { Cluster } from './cluster.ts';

const redirectUri = 'http://127.0.0.1:49152/callback';
const password = 'correct horse battery';
const all = { browse: true, read: true, edit: true, add: true, delete: true, export: true };

/** A right or credential, and how it is revoked. */
interface Held {
  /** Makes a call at one of the processes, and returns whether it succeeded. */
  use(at: string): Promise<boolean>;
  take(): Promise<unknown>;
}

export type Taking = (cluster: Cluster) => Promise<Held>;

let made = 0;

async function newUser(
  { store, addUser }: Cluster,
  permissions: Readonly<Record<string, CollectionPermission>> = { '*': all },
) {
  const email = `person-${++made}@example.com`;
  const [role, team] = [`Role ${made}`, `Team ${made}`];
  const user = await addUser({ email, password, role, team, level: 'editor' });
  await store.permissions.setRole(role, permissions);
  return { ...user, password };
}

async function newToken(cluster: Cluster, account: { readonly email: string; readonly password: string }) {
  const { origin } = cluster;
  const registered = await register(origin, { client_name: 'Notebook', redirect_uris: [redirectUri] });
  const asking = { redirectUri, resource: `${origin}/mcp`, scope: 'mcp:read mcp:write' };
  return (await connect(registered, account, asking)).tokens.access_token;
}

/** The first customers by id as text, or the status or message of a refusal. */
async function list(at: string, token: string): Promise<string> {
  const asked = {
    collectionName: 'customers',
    fields: ['id', 'city'],
    sort: { field: 'id' },
    pagination: { size: 50 },
  };
  return JSON.stringify(await callTool(`${at}/mcp`, token, 'list', asked));
}
const isAnswer = (text: string): boolean => text.startsWith('{"json"');

export const takings: Readonly<Record<string, Taking>> = {
  async 'a user who is disabled'(cluster) {
    const user = await newUser(cluster);
    const token = await newToken(cluster, user);
    return {
      use: async (at) => isAnswer(await list(at, token)),
      take: () => cluster.store.identity.setDisabled(user.id, true),
    };
  },
  async 'a grant'(cluster) {
    const token = await newToken(cluster, await newUser(cluster));
    const row = (await cluster.store.oauth.find('AccessToken', hashToken(token)))!;
    return {
      use: async (at) => isAnswer(await list(at, token)),
      take: () => cluster.store.oauth.revokeGrant(row.grantId!),
    };
  },
  async 'an application token for /mcp'(cluster) {
    const { id: userId } = await newUser(cluster);
    const { token, secret } = await cluster.store.tokens.create({ userId, name: 'program', scopes: ['mcp:read'] });
    return {
      use: async (at) => isAnswer(await list(at, secret)),
      take: () => cluster.store.tokens.revoke(token.id),
    };
  },
  async 'an application token for the public API'(cluster) {
    const { id: userId } = await newUser(cluster);
    const { token, secret } = await cluster.store.tokens.create({ userId, name: 'program', scopes: ['notes:read'] });
    return {
      use: async (at) => (await fetch(`${at}/v1/token`, { headers: { authorization: `Bearer ${secret}` } })).ok,
      take: () => cluster.store.tokens.revoke(token.id),
    };
  },
  async 'a session of a front end, signed out of at one process'(cluster) {
    const token = await sessionToken(`${cluster.origin}/service`, await newUser(cluster));
    const headers = { authorization: `Bearer ${token}` };
    return {
      use: async (at) => (await whoAmI(`${at}/service`, token)).status === 200,
      take: () => fetch(`${cluster.direct[0]}/service/authentication/sign-out`, { method: 'POST', headers }),
    };
  },
  async 'the rows outside of a new row scope'(cluster) {
    const user = await newUser(cluster);
    const token = await newToken(cluster, user);
    const scope = { field: 'id', operator: 'LessThan', value: 3 };
    return {
      use: async (at) => /\[9,/.test(await list(at, token)),
      take: () => cluster.store.permissions.setScope(user.team, 'customers', scope),
    };
  },
  async 'a field that is hidden'(cluster) {
    const user = await newUser(cluster);
    const token = await newToken(cluster, user);
    return {
      use: async (at) => isAnswer(await list(at, token)),
      take: () => cluster.store.permissions.setRole(user.role, { '*': { ...all, fields: { city: 'hidden' } } }),
    };
  },
  async 'a verb of a role'(cluster) {
    const user = await newUser(cluster);
    const token = await newToken(cluster, user);
    return {
      use: async (at) => isAnswer(await list(at, token)),
      take: () => cluster.store.permissions.setRole(user.role, { '*': { ...all, browse: false } }),
    };
  },
};

export interface Seen {
  /** For each process, the successful calls that ended before the change. Zero would prove nothing. */
  readonly usedBefore: readonly number[];
  /** Calls that started after the change, and those that succeeded nevertheless. */
  readonly begunAfter: readonly number[];
  readonly usedAfter: readonly number[];
  /** Milliseconds from the end of the change to the start of the first call after it, at either process. */
  readonly firstAfterMs: number;
}

interface Call {
  readonly begun: number;
  readonly ended: number;
  readonly used: boolean;
}

const CALLERS = 3;

/** `each` is the minimum number of calls at each process before and after the change. */
export async function takeAway(cluster: Cluster, taking: Taking, each: number): Promise<Seen> {
  const held = await taking(cluster);
  const calls = cluster.direct.map((): Call[] => []);
  let changedFrom = Number.POSITIVE_INFINITY;
  let changedAt = Number.POSITIVE_INFINITY;
  const after = (list: readonly Call[]) => list.filter(({ begun }) => begun > changedAt);
  const isDone = () => calls.every((list) => after(list).length >= each);
  const work = async (process: number): Promise<void> => {
    while (!isDone()) {
      const begun = performance.now();
      const used = await held.use(cluster.direct[process]!);
      calls[process]!.push({ begun, ended: performance.now(), used });
    }
  };
  const working = Promise.all(calls.flatMap((_, process) => Array.from({ length: CALLERS }, () => work(process))));
  const change = async (): Promise<void> => {
    while (!calls.every((list) => list.length >= each)) await new Promise((resolve) => setTimeout(resolve, 2));
    changedFrom = performance.now();
    await held.take();
    changedAt = performance.now();
  };
  await Promise.all([working, change()]);
  const later = calls.flatMap(after);
  return {
    usedBefore: calls.map((list) => list.filter(({ ended, used }) => used && ended < changedFrom).length),
    begunAfter: calls.map((list) => after(list).length),
    usedAfter: calls.map((list) => after(list).filter(({ used }) => used).length),
    firstAfterMs: Math.min(...later.map(({ begun }) => begun)) - changedAt,
  };
}
