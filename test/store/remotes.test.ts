// Remote MCP servers and their accounts in the storage: which values are encrypted, when a sign-in response is valid,
// and that only one of several processes refreshes a token.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RemoteServer } from '../../src/store/remotes/types.ts';
import { dropSpares } from './spares.ts';
import { cleanUpAfterAll, createPlace, type Variant, variants } from './stores.ts';

afterAll(dropSpares);

async function open(variant: Variant) {
  const place = await createPlace(variant);
  let now = 1_800_000_000_000;
  const clock = {
    now: () => now,
    monotonic: () => now,
    after: () => () => undefined,
    sleep: async () => undefined,
  };
  const store = await place.open({ clock });
  const other = await place.open({ clock });
  const { id: userId } = await store.identity.addUser({ email: 'ada@b.example' });
  const pass = (ms: number): void => {
    now += ms;
  };
  return { place, store, other, userId, pass, now: () => now };
}

describe.each(variants)('remote servers on $name', (variant) => {
  cleanUpAfterAll();
  let opened: Awaited<ReturnType<typeof open>>;
  let made = 0;
  beforeAll(async () => {
    opened = await open(variant);
  });
  const add = (more: object = {}): Promise<RemoteServer> => {
    const wish = { name: `server ${++made}`, url: 'https://a.example/mcp?key=1', signIn: 'oauth' as const };
    return opened.store.remotes.add({ ...wish, addedBy: opened.userId, ...more });
  };
  const connected = async () => {
    const { id: serverId } = await add();
    const key = { serverId, userId: opened.userId };
    await opened.store.remotes.connect({ ...key, held: { token: 'first-token' }, expiresAt: opened.now() + 60_000 });
    return key;
  };

  test('a server has a unique name, and its log entries contain no secret', async () => {
    const { store, other, userId, place } = opened;
    const server = await add({ signIn: 'bearer', secret: 'bearer-secret' });
    await expect(add({ name: server.name })).rejects.toThrow('already exists');
    expect(await other.remotes.findByName(server.name)).toEqual(server);
    expect([await other.remotes.secretOf(server.id), await other.remotes.find(server.id)]).toEqual([
      'bearer-secret',
      server,
    ]);
    const rows = JSON.stringify(await place.tables().knex('remote_servers').where({ id: server.id }));
    const log = () => store.adminLog.search({ limit: 5, resource: 'remote-server' });
    expect([rows.includes('bearer-secret'), (await log())[0]]).toEqual([
      false,
      expect.objectContaining({ action: 'remote-server.add', subject: server.name, type: 'add' }),
    ]);
    expect(JSON.stringify(await log())).not.toContain('key=1');
    expect([await other.remotes.remove(server.id, userId), await store.remotes.remove(server.id, userId)]).toEqual([
      true,
      false,
    ]);
    expect((await log())[0]).toMatchObject({ action: 'remote-server.remove', type: 'remove' });
  });

  test('the client of a server, with an encrypted secret, and its tools are stored', async () => {
    const { store, other, userId, place } = opened;
    const server = await add();
    const { remotes } = other;
    const client = { id: 'portico-prod', issuer: 'https://login.example' };
    expect(await store.remotes.setClient(server.id, { ...client, secret: 'client-secret' }, userId)).toBe(true);
    expect(await store.remotes.setTools(server.id, { open: 'allow', '*': 'ask' }, userId)).toBe(true);
    expect(await remotes.find(server.id)).toEqual({ ...server, client, tools: { open: 'allow', '*': 'ask' } });
    expect(await remotes.secretOf(server.id)).toBe('client-secret');
    const rows = JSON.stringify(await place.tables().knex('remote_servers').where({ id: server.id }));
    const log = await store.adminLog.search({ limit: 2, resource: 'remote-server' });
    expect([rows.includes('client-secret'), JSON.stringify(log).includes('client-secret')]).toEqual([false, false]);
    expect(log[1]).toMatchObject({ action: 'remote-server.change', subject: server.name });
    await store.remotes.setClient(server.id, null, userId);
    await store.remotes.setTools(server.id, null, userId);
    expect([await remotes.find(server.id), await remotes.secretOf(server.id)]).toEqual([server, undefined]);
    const { id } = await add({ signIn: 'bearer', secret: 'bearer-secret' });
    expect([await store.remotes.setClient(id, client, userId), await remotes.secretOf(id)]).toEqual([
      false,
      'bearer-secret',
    ]);
  });

  test('a response to a sign-in is accepted once, for the same user and session, before it expires', async () => {
    const { store, other, userId, pass, now } = opened;
    const { id: serverId } = await add();
    const begin = (state: string) =>
      store.remotes.beginSignIn({
        serverId,
        userId,
        state,
        sessionId: 's1',
        held: { verifier: 'v' },
        expiresAt: now() + 1000,
      });
    await begin('a');
    const take = (more: object = {}) => other.remotes.takeSignIn({ state: 'a', userId, sessionId: 's1', ...more });
    expect([await take({ state: 'b' }), await take({ userId: userId + 1 }), await take({ sessionId: 's2' })]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect([await take(), await take()]).toEqual([{ serverId, held: { verifier: 'v' } }, undefined]);
    await begin('c');
    pass(1001);
    expect(await take({ state: 'c' })).toBeUndefined();
  });

  test('of two processes one refreshes, and both read the result', async () => {
    const { store, other } = opened;
    const key = await connected();
    const claims = await Promise.all([
      store.remotes.claimRefresh(key, 1, 1000),
      other.remotes.claimRefresh(key, 1, 1000),
    ]);
    expect([...claims].sort()).toEqual(['busy', 'claimed']);
    const fresh = { held: { token: 'second' }, expiresAt: null };
    expect(await store.remotes.settleRefresh(key, 1, fresh)).toBe(true);
    expect(await other.remotes.settleRefresh(key, 1, fresh)).toBe(false);
    expect(await other.remotes.claimRefresh(key, 1, 1000)).toBe('stale');
    expect(await other.remotes.grantOf(key)).toMatchObject({ ...fresh, generation: 2, state: 'connected' });
  });

  test('a failed refresh can be tried again, and an unfinished one requires a new sign-in', async () => {
    const { store, other, pass } = opened;
    const key = await connected();
    const claim = (from = store) => from.remotes.claimRefresh(key, 1, 1000);
    expect([await claim(), await store.remotes.settleRefresh(key, 1, undefined), await claim(other)]).toEqual([
      'claimed',
      true,
      'claimed',
    ]);
    pass(999);
    expect(await claim()).toBe('busy');
    pass(1);
    expect([await claim(), await claim()]).toEqual(['lost', 'stale']);
    expect(await other.remotes.grantOf(key)).toMatchObject({ state: 'reconnect', generation: 1 });
    const late = { held: { token: 'late' }, expiresAt: null };
    expect(await other.remotes.settleRefresh(key, 1, late)).toBe(false);
    await store.remotes.connect({ ...key, ...late });
    expect(await other.remotes.grantOf(key)).toMatchObject({ state: 'connected', generation: 2, held: late.held });
    await store.remotes.markReconnect(key, 1);
    expect((await other.remotes.grantOf(key))?.state).toBe('connected');
  });

  test('an account is encrypted, shows its last use, and is deleted on disconnect or with its server', async () => {
    const { store, other, userId, place, now } = opened;
    const key = await connected();
    await store.remotes.noteUse(key);
    const [account] = (await other.remotes.accountsOf(userId)).filter(({ serverId }) => serverId === key.serverId);
    expect(account).toEqual({ ...key, state: 'connected', connectedAt: now(), usedAt: now() });
    const rows = await place.tables().knex('remote_credentials').where({ server_id: key.serverId });
    expect(JSON.stringify(rows)).not.toContain('first-token');
    expect([await other.remotes.disconnect(key, userId), await store.remotes.disconnect(key, userId)]).toEqual([
      true,
      false,
    ]);
    const log = await store.adminLog.search({ limit: 10, resource: 'remote-account' });
    expect(log.slice(0, 2).map(({ action, type }) => [action, type])).toEqual([
      ['remote-account.revoke', 'remove'],
      ['remote-account.link', 'add'],
    ]);
    const second = await connected();
    await store.remotes.remove(second.serverId, userId);
    expect(await other.remotes.grantOf(second)).toBeUndefined();
    expect(await store.remotes.connect({ ...second, held: {}, expiresAt: null })).toBe(false);
  });
});
