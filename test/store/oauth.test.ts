import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { OAuthRow } from '../../src/store/oauth/types.ts';
import { cleanUpAfterEach, createPlace, openPair, variants } from './stores.ts';

cleanUpAfterEach();

const refreshToken = (id: string, rotations: number): OAuthRow => ({
  model: 'RefreshToken',
  id,
  grantId: 'grant',
  payload: { rotations, name: 'Zoë 🗝' },
});

describe.each(variants)('oauth rows on $name', (variant) => {
  test('a row is read as it was stored', async () => {
    const { oauth } = await (await createPlace(variant)).open();
    const row: OAuthRow = {
      model: 'Session',
      id: 'https://example.com/'.padEnd(2000, 'x'),
      payload: { nested: { list: [1, 'é', null] } },
      grantId: 'grant',
      uid: 'uid',
      accountId: '7',
      clientId: 'https://client.example/'.padEnd(2000, 'y'),
      consumedAt: 1_700_000_000,
      expiresAt: systemClock.now() + 60_000,
    };

    await oauth.upsert({ ...row, payload: {} });
    await oauth.upsert(row);

    expect(await Promise.all([oauth.find('Session', row.id), oauth.findByUid('Session', 'uid')])).toEqual([row, row]);
    expect(await oauth.listByAccount('Session', '7')).toEqual([row]);
    expect(await oauth.find('Grant', row.id)).toBeUndefined();
  });

  test('of twenty concurrent consumers, one wins, across processes', async () => {
    const place = await createPlace(variant);
    const stores = [await place.open(), await place.open()];
    await stores[0]!.oauth.upsert(refreshToken('t', 0));

    const wins = await Promise.all(
      Array.from({ length: 20 }, (_, turn) => stores[turn % 2]!.oauth.consume('RefreshToken', 't', 100 + turn)),
    );

    expect(wins.filter(Boolean)).toEqual([true]);
  });

  test('of twenty concurrent inserts of one row one succeeds, and no later one while it exists', async () => {
    const place = await createPlace(variant);
    const stores = await openPair(place, variant);
    const proof: OAuthRow = { model: 'DPoPProof', id: 'p', payload: {}, expiresAt: systemClock.now() - 1 };

    const made = await Promise.all(Array.from({ length: 20 }, (_, turn) => stores[turn % 2]!.oauth.insertOnce(proof)));
    const late = await stores[0].oauth.insertOnce(proof);
    await stores[0].oauth.sweep(systemClock.now(), 0, 0);

    expect([made.filter(Boolean), late, await stores[0].oauth.insertOnce(proof)]).toEqual([[true], false, true]);
  });

  test('concurrent changes of many grants do not interfere', async () => {
    const place = await createPlace(variant);
    const stores = await openPair(place, variant);

    const left = await Promise.all(
      Array.from({ length: 30 }, async (_, n) => {
        const { oauth } = stores[n % 2]!;
        for (const id of [`${n}a`, `${n}b`]) await oauth.upsert({ ...refreshToken(id, 0), grantId: `g${n % 10}-${n}` });
        await oauth.consume('RefreshToken', `${n}a`, 1);
        await oauth.revokeGrant(`g${n % 10}-${n}`);
        return oauth.find('RefreshToken', `${n}b`);
      }),
    );

    expect(left).toEqual(Array(30).fill(undefined));
    expect((await stores[0]!.versions()).grants).toBe(31);
  });

  test('saving a consumed row again keeps it consumed', async () => {
    const { oauth } = await (await createPlace(variant)).open();
    await oauth.upsert(refreshToken('t', 0));
    await oauth.consume('RefreshToken', 't', 100);

    await oauth.upsert(refreshToken('t', 0));

    expect(await oauth.find('RefreshToken', 't')).toEqual({ ...refreshToken('t', 0), consumedAt: 100 });
  });

  test('a successor is a later, consumed refresh token of the grant', async () => {
    const { oauth } = await (await createPlace(variant)).open();
    for (const rotations of [0, 1, 2]) await oauth.upsert(refreshToken(`t${rotations}`, rotations));
    const ask = () => Promise.all([0, 1, 2].map((rotations) => oauth.hasConsumedSuccessor('grant', rotations)));

    const before = await ask();
    await oauth.consume('RefreshToken', 't1', 100);

    expect([before, await ask()]).toEqual([
      [false, false, false],
      [true, false, false],
    ]);
  });

  test('an expired row is not found', async () => {
    const { oauth } = await (await createPlace(variant)).open();
    const row = { model: 'Interaction', id: 'i', uid: 'u', accountId: '1', payload: {} };

    await oauth.upsert({ ...row, expiresAt: systemClock.now() - 1 });

    expect([
      await oauth.find('Interaction', 'i'),
      await oauth.findByUid('Interaction', 'u'),
      await oauth.listByAccount('Interaction', '1'),
    ]).toEqual([undefined, undefined, []]);
  });

  test('revoking a grant deletes every row of it and nothing else, and raises the version', async () => {
    const place = await createPlace(variant);
    const [{ oauth }, other] = [await place.open(), await place.open()];
    await oauth.upsert({ model: 'Grant', id: 'grant', payload: {} });
    await oauth.upsert({ model: 'AccessToken', id: 'a', grantId: 'grant', payload: {} });
    await oauth.upsert({ model: 'AccessToken', id: 'b', grantId: 'another', payload: {} });

    await oauth.revokeGrant('grant');

    const left = await Promise.all([
      other.oauth.find('Grant', 'grant'),
      other.oauth.find('AccessToken', 'a'),
      other.oauth.find('AccessToken', 'b'),
    ]);
    expect([left.map((row) => row?.id), (await other.versions()).grants]).toEqual([[undefined, undefined, 'b'], 2]);
  });

  test('destroying a token raises the version; destroying a code, or a missing row, does not', async () => {
    const store = await (await createPlace(variant)).open();
    await store.oauth.upsert({ model: 'AuthorizationCode', id: 'c', payload: {} });
    await store.oauth.upsert({ model: 'AccessToken', id: 'a', payload: {} });
    const grants: number[] = [];

    for (const model of ['AuthorizationCode', 'AccessToken', 'AccessToken']) {
      await store.oauth.destroy(model, model === 'AccessToken' ? 'a' : 'c');
      grants.push((await store.versions()).grants);
    }

    expect(grants).toEqual([1, 2, 2]);
  });

  test('the sweep deletes expired rows in batches, and clients that were never used', async () => {
    const place = await createPlace(variant);
    const { oauth } = await place.open();
    const { knex } = place.tables();
    const old = Array.from({ length: 2100 }, (_, n) => ({
      model: 'AccessToken',
      id_hash: `h${n}`,
      id: `${n}`,
      payload: '{}',
      created_at: 1,
      expires_at: n < 2050 ? 1000 : systemClock.now() + 60_000,
    }));
    for (let at = 0; at < old.length; at += 50) await knex('oauth_store').insert(old.slice(at, at + 50));
    for (const id of ['idle', 'used']) await oauth.upsert({ model: 'Client', id, payload: {} });
    await oauth.touchClient('used', 5);

    const swept = await oauth.sweep(2000, systemClock.now() + 1000, 0);

    expect([swept, await oauth.find('Client', 'idle'), (await oauth.find('Client', 'used'))?.id]).toEqual([
      2051,
      undefined,
      'used',
    ]);
  });
});
