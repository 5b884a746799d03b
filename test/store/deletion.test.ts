// Users and workflows that are deleted: everything that they opened ends, and the storage no longer contains the person.
import { describe, expect, test } from 'vitest';
import { cleanUpAfterEach, createPlace, openPair, type Place, variants } from './stores.ts';

cleanUpAfterEach();

const person = {
  ...{ email: 'bob.marsh@example.com', password: 'correct horse battery', firstName: 'Bobby', lastName: 'Marshland' },
  ...({ level: 'editor', tags: { desk: 'window-seat' } } as const),
};

async function dump(place: Place): Promise<Record<string, string>> {
  const { knex, dialect } = place.tables();
  const sql = {
    sqlite: "SELECT name FROM sqlite_master WHERE type = 'table'",
    mysql: 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
    postgres: 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()',
  }[dialect];
  const found = (await knex.raw(sql)) as unknown;
  const rows = (
    Array.isArray(found) ? (Array.isArray(found[0]) ? found[0] : found) : (found as { rows: unknown }).rows
  ) as { name: string }[];
  const tables: Record<string, string> = {};
  for (const { name } of rows) tables[name] = JSON.stringify(await knex(name));
  return tables;
}

describe.each(variants)('on $name', (variant) => {
  async function open() {
    const place = await createPlace(variant);
    const [store, other] = await openPair(place, variant);
    const ada = await store.identity.addUser({ email: 'ada@example.com', level: 'admin' });
    return { place, store, other, ada };
  }

  test('a deleted user has no access from the next call on, in every process, and leaves nothing in the storage', async () => {
    const { place, store, other, ada } = await open();
    const bob = await store.identity.addUser(person, ada.id);
    await store.members.change(bob.id, { firstName: 'Bobbie', tags: { floor: 'third-floor' } }, ada.id);
    await store.identity.setProfile(bob.id, { firstName: 'Robert', lastName: 'Marshland', timezone: 'Europe/Oslo' });
    const sso = { issuer: 'https://id.example.com', subject: 'b-7', emailVerified: true, rights: {} };
    await store.identities.admit({ ...sso, email: person.email }, { link: true });
    await store.identities.admit({ ...sso, email: 'robert@elsewhere.example' }, { link: true });
    const session = await store.sessions.begin({ userId: bob.id, browser: 'Firefox' });
    const { secret } = await store.tokens.create({ userId: bob.id, name: 'nightly', scopes: ['mcp:read'] });
    const { token } = await store.links.make(bob.id, 'reset', ada.id);
    const grant = { model: 'Grant', id: 'grant-1', accountId: `${bob.id}`, clientId: 'claude', payload: {} };
    const rest = { grantId: undefined, uid: undefined, expiresAt: undefined };
    await store.oauth.upsert({ ...rest, ...grant } as never);
    await store.oauth.upsert({
      ...rest,
      ...grant,
      model: 'RefreshToken',
      id: 'refresh-1',
      grantId: 'grant-1',
    } as never);
    expect(await other.permissions.accessOf(bob.id)).toBeDefined();

    await store.identity.deleteUser(bob.id, ada.id);

    expect([
      await other.permissions.accessOf(bob.id),
      await other.identity.verifyPassword(person.email, person.password),
      await other.sessions.find(session),
      (await other.links.find(token)).state,
      await other.oauth.find('Grant', 'grant-1'),
      await other.oauth.find('RefreshToken', 'refresh-1'),
      (await other.tokens.list()).length,
      await other.identities.findUserId(sso.issuer, sso.subject),
    ]).toEqual([undefined, undefined, undefined, 'unknown', undefined, undefined, 0, undefined]);
    const traces = /bob\.marsh|bobb|marshland|robert|window-seat|third-floor|Oslo|b-7/i;
    const tables = await dump(place);
    expect(Object.entries(tables).filter(([, rows]) => traces.test(rows) || rows.includes(secret))).toEqual([]);
    const told = await place
      .tables()
      .knex('admin_logs')
      .where({ subject: `user ${bob.id}` })
      .orderBy('id')
      .pluck('action');
    expect(told).toEqual(expect.arrayContaining(['user.add', 'user.set', 'user.profile', 'user.reset', 'user.delete']));
    const again = await store.identity.addUser(person, ada.id);
    expect(again.id).not.toBe(bob.id);
  });

  test('the log of users with similar addresses does not change', async () => {
    const { place, store, ada } = await open();
    const near = await store.identity.addUser({ email: 'bobxmarsh@example.com', firstName: 'Barbara' });
    await store.tokens.create({ userId: near.id, name: 'timezone', scopes: ['mcp:read'] });
    await store.identity.setProfile(near.id, { firstName: 'Barbara', lastName: 'Stone', timezone: 'Europe/Oslo' });
    const { id } = await store.identity.addUser({ email: 'bob_marsh@example.com' });
    const rows = () => place.tables().knex('admin_logs').where('subject', 'like', 'bobxmarsh%').orderBy('id');
    const before = await rows();
    await store.identity.deleteUser(id, ada.id);
    expect([before.length, await rows()]).toEqual([3, before]);
  });

  test('deleting a user needs the level, users cannot delete themselves, and one administrator remains', async () => {
    const { store, ada } = await open();
    const bob = await store.identity.addUser({ email: 'bob@example.com', level: 'developer' });
    const { identity } = store;
    await expect(identity.deleteUser(ada.id, ada.id)).rejects.toMatchObject({ code: 'DENIED' });
    await expect(identity.deleteUser(ada.id, bob.id)).rejects.toMatchObject({ code: 'DENIED' });
    await expect(identity.deleteUser(ada.id)).rejects.toThrow('this is the last administrator');
    await expect(identity.deleteUser(99)).rejects.toThrow('there is no user 99');
    const eve = await identity.addUser({ email: 'eve@example.com', level: 'admin' });
    await identity.setDisabled(eve.id, true, ada.id);
    await expect(identity.deleteUser(ada.id)).rejects.toThrow('this is the last administrator');
    await identity.deleteUser(eve.id);
    expect((await identity.listUsers()).map(({ email }) => email)).toEqual(['ada@example.com', 'bob@example.com']);
  });

  test('runs of a deleted user end; a workflow is deleted with its runs, unless one is in progress', async () => {
    const { place, store, ada } = await open();
    const bob = await store.identity.addUser({ email: 'bob@example.com', level: 'editor' });
    const { renderingId } = (await store.permissions.caller(bob.id))!;
    const wish = { renderingId, name: 'flow', collection: 'orders', definition: '{}', concurrency: null, by: bob.id };
    const workflow = await store.workflows.publish(wish);
    const run = async (recordId: string) => {
      const created = await store.runs.create({
        workflow,
        recordId,
        userId: bob.id,
        origin: 'console',
        originName: 'c',
      });
      return created.state === 'created' ? created.runId : expect.fail(created.state);
    };
    const [waits, works] = [await run('1'), await run('2')];
    const claimed = await store.runs.claim({ owner: 'a', leaseMs: 60_000, limit: 5, ids: [works] });
    expect(claimed.length).toBe(1);
    await expect(store.workflows.delete(workflow.id, ada.id)).rejects.toThrow("a run of 'flow' is in progress");
    expect((await store.runs.find(waits))?.state).toBe('queued');
    await store.identity.deleteUser(bob.id, ada.id);
    expect([(await store.runs.find(waits))?.state, (await store.runs.find(works))?.cancelAsked]).toEqual([
      'cancelled',
      true,
    ]);
    await place.tables().knex('workflow_runs').where({ id: works }).update({ state: 'cancelled' });
    expect([
      await store.workflows.delete(workflow.id, ada.id),
      await store.workflows.delete(workflow.id, ada.id),
      await store.workflows.find(workflow.id),
      await store.runs.find(waits),
    ]).toEqual([true, false, undefined, undefined]);
    const { name } = await store.workflows.publish({ ...wish, by: ada.id });
    expect(name).toBe('flow');
    await store.workflows.publishCode([
      { name: 'fixed', collection: 'orders', definition: '{}', concurrency: null },
    ] as never);
    const fixed = (await store.workflows.list({})).find((one) => one.name === 'fixed')!;
    await expect(store.workflows.delete(fixed.id, ada.id)).rejects.toThrow('defined in code');
  });
});
