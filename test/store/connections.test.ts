// Connected apps in the storage: pages of the list, the last use and the name, what ending and blocking delete, and
// which refresh tokens count as successors and siblings.
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { OAuthRow } from '../../src/store/oauth/types.ts';
import { cleanUpAfterEach, createPlace, variants } from './stores.ts';

cleanUpAfterEach();

const start = 1_795_204_800_000;

describe.each(variants)('connections on $name', (variant) => {
  async function open() {
    const place = await createPlace(variant);
    let now = start;
    const clock = { ...systemClock, now: () => now };
    const store = await place.open({ clock });
    const ada = (await store.identity.addUser({ email: 'ada@example.com' })).id;
    const bob = (await store.identity.addUser({ email: 'bob@example.com' })).id;
    const add = (id: string, userId: number, more: Partial<OAuthRow> = {}) =>
      store.oauth.upsert({
        ...{ model: 'Grant', id, grantId: id, accountId: `${userId}`, clientId: 'https://one.example/app.json' },
        payload: { of: id },
        ...more,
      });
    const decide = (userId: number, clientId: string) =>
      store.connections.decide({
        ...{ userId, clientId, clientName: clientId, asked: ['mcp:read'], scopes: ['mcp:read'] },
        ...{ choice: {}, endsAt: null, told: {} },
      });
    const wait = (ms: number) => {
      now += ms;
    };
    return { place, store, clock, ada, bob, add, decide, wait };
  }

  test('are listed newest first, of one user or all, in pages that also split equal times, without ended ones', async () => {
    const { store, ada, bob, add, wait } = await open();
    for (const id of ['a', 'b', 'c', 'd', 'e']) await add(id, ada);
    wait(1000);
    await add('newest', bob);
    await add('ends', ada, { expiresAt: start + 2000 });
    const idsOf = async (userId: number | undefined, limit: number) => {
      const pages: string[][] = [];
      for (let after: string | undefined; ; ) {
        const rows = await store.connections.list({ userId, after, limit });
        if (rows.length === 0) return pages;
        pages.push(rows.map(({ id }) => id));
        after = rows.at(-1)!.cursor;
      }
    };
    const all = await idsOf(undefined, 2);
    expect(all.map((page) => page.length)).toEqual([2, 2, 2, 1]);
    expect([all[0]!.toSorted(), all.slice(1).flat().toSorted()]).toEqual([
      ['ends', 'newest'],
      ['a', 'b', 'c', 'd', 'e'],
    ]);
    expect((await idsOf(bob, 2)).flat()).toEqual(['newest']);
    expect((await store.connections.find('ends'))?.expiresAt).toBe(start + 2000);
    wait(1000);
    expect([(await idsOf(ada, 10)).flat().toSorted(), await store.connections.find('ends')]).toEqual([
      ['a', 'b', 'c', 'd', 'e'],
      undefined,
    ]);
  });

  test('keep their latest use, whichever process writes it first', async () => {
    const { place, store, clock, ada, add, wait } = await open();
    await add('a', ada);
    const [early, late] = [await place.open({ clock }), await place.open({ clock })];
    early.connections.noteUse('a');
    wait(5000);
    late.connections.noteUse('a');
    await late.close();
    await early.close();
    expect((await store.connections.find('a'))?.lastUsedAt).toBe(start + 5000);
  });

  test('are named by their user only, and keep the rest', async () => {
    const { store, ada, bob, add } = await open();
    await add('a', ada);
    const named = [
      await store.connections.name({ id: 'a', userId: bob, name: 'of Bob' }),
      await store.connections.name({ id: 'gone', userId: ada, name: 'none' }),
      await store.connections.name({ id: 'a', userId: ada, name: 'the laptop' }),
    ];
    expect(named).toEqual([false, false, true]);
    expect(await store.connections.find('a')).toMatchObject({ name: 'the laptop', payload: { of: 'a' } });
  });

  test('end with their tokens and the decision behind them, and nothing else', async () => {
    const { place, store, ada, bob, add, decide } = await open();
    const app = 'https://one.example/app.json';
    for (const userId of [ada, bob]) for (const clientId of [app, 'other']) await decide(userId, clientId);
    await add('a', ada);
    await add('b', bob);
    await add('token', ada, { model: 'RefreshToken', grantId: 'a' });
    const before = (await store.versions()).grants;
    const ended = [
      await store.connections.end({ id: 'a', by: bob, clientName: 'One' }),
      await store.connections.end({ id: 'a', by: bob, clientName: 'One' }),
    ];
    const has = async (userId: number, clientId: string) =>
      (await store.connections.decisionOf(userId, clientId)) !== undefined;
    expect([ended, await store.oauth.find('RefreshToken', 'token'), (await store.connections.find('b'))?.id]).toEqual([
      [true, false],
      undefined,
      'b',
    ]);
    expect([await has(ada, app), await has(ada, 'other'), await has(bob, app)]).toEqual([false, true, true]);
    expect((await store.versions()).grants).toBeGreaterThan(before);
    const logged = await place.tables().knex('admin_logs').where({ action: 'app.revoke' }).select('subject', 'user_id');
    expect(logged).toEqual([{ subject: 'ada@example.com: One', user_id: bob }]);
  });

  test('of a blocked app end for all users, with codes and decisions; its registration stays', async () => {
    const { store, ada, bob, add, decide } = await open();
    const clientId = 'registered';
    await add('client', ada, { model: 'Client', id: clientId });
    for (const userId of [ada, bob]) {
      await decide(userId, clientId);
      await decide(userId, 'other');
      await add(`${userId}`, userId, { clientId });
    }
    await add('code', ada, { model: 'AuthorizationCode', clientId, grantId: 'not yet' });
    await add('kept', ada, { clientId: 'other' });
    expect([await store.connections.block({ clientId }), await store.connections.isBlocked(clientId)]).toEqual([
      2,
      true,
    ]);
    const decisions = await Promise.all(
      [ada, bob].flatMap((userId) => [clientId, 'other'].map((id) => store.connections.decisionOf(userId, id))),
    );
    expect(decisions.map((decision) => decision !== undefined)).toEqual([false, true, false, true]);
    expect((await store.connections.list({ limit: 10 })).map(({ id }) => id)).toEqual(['kept']);
    expect([
      await store.oauth.find('AuthorizationCode', 'code'),
      (await store.oauth.find('Client', clientId))?.id,
      await store.connections.isBlocked('other'),
    ]).toEqual([undefined, clientId, false]);
  });

  test('any later token is a successor, and another of the same turn a sibling, once it is used', async () => {
    const { store, ada, add } = await open();
    const token = (id: string, rotations: number, grantId = 'grant') =>
      add(id, ada, { model: 'RefreshToken', grantId, payload: { rotations } });
    for (const [id, rotations] of [
      ['t0', 0],
      ['t1', 1],
      ['u1', 1],
      ['t2', 2],
    ] as const)
      await token(id, rotations);
    await token('elsewhere', 1, 'another');
    const successors = () =>
      Promise.all([0, 1, 2].map((rotations) => store.oauth.hasConsumedSuccessor('grant', rotations)));
    const siblings = () => Promise.all(['t1', 'u1'].map((id) => store.oauth.hasConsumedSibling('grant', 1, id)));
    await store.oauth.consume('RefreshToken', 'elsewhere', 1);
    expect([await successors(), await siblings()]).toEqual([
      [false, false, false],
      [false, false],
    ]);
    // Also a later one than the next.
    await store.oauth.consume('RefreshToken', 't2', 1);
    expect([await successors(), await siblings()]).toEqual([
      [true, true, false],
      [false, false],
    ]);
    await store.oauth.consume('RefreshToken', 't1', 1);
    expect(await siblings()).toEqual([false, true]);
  });
});
