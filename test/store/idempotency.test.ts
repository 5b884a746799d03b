import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import type { IdempotencyClaim } from '../../src/store/approvals/types.ts';
import { cleanUpAfterEach, createPlace, openPair, variants } from './stores.ts';

cleanUpAfterEach();

const call = { userId: 1, clientId: 'c', tool: 'create', key: 'k', args: '{}', rights: '[]' };

/** A clock that runs ahead by `ms`. */
const ahead = (ms: number): Clock => ({ ...systemClock, now: () => systemClock.now() + ms });

function mine(claim: IdempotencyClaim): Extract<IdempotencyClaim, { state: 'mine' }> {
  if (claim.state !== 'mine') throw new Error(`the key is ${claim.state}`);
  return claim;
}

describe.each(variants)('idempotency keys on $name', (variant) => {
  test('the first claim gets the key; the others get the answer, once it exists', async () => {
    const place = await createPlace(variant);
    const [one, other] = await openPair(place, variant);
    const first = mine(await one.idempotency.claim(call));
    const early = await other.idempotency.claim(call);
    await first.settle('{"count":1}');
    expect([
      early,
      await other.idempotency.claim(call),
      await other.idempotency.claim({ ...call, args: '{"a":1}' }),
      await other.idempotency.claim({ ...call, rights: '["edit"]' }),
    ]).toEqual([
      { state: 'running' },
      { state: 'done', answer: '{"count":1}' },
      { state: 'other' },
      { state: 'withheld' },
    ]);
  });

  test('of several concurrent claims one gets the key', async () => {
    const place = await createPlace(variant);
    const [one, other] = await openPair(place, variant);
    const claims = await Promise.all([one, other, one, other, one].map(({ idempotency }) => idempotency.claim(call)));
    expect(claims.map(({ state }) => state).sort()).toEqual(['mine', 'running', 'running', 'running', 'running']);
    await mine(claims.find(({ state }) => state === 'mine')!).release();
  });

  test('a key is bound to the user, the client and the tool', async () => {
    const { idempotency } = await (await createPlace(variant)).open();
    const others = [call, { ...call, userId: 2 }, { ...call, clientId: 'd' }, { ...call, tool: 'executeAction' }];
    const claims = [];
    for (const each of others) claims.push(mine(await idempotency.claim(each)));
    await Promise.all(claims.map((claim) => claim.release()));
    expect(claims).toHaveLength(4);
  });

  test('a released key can be claimed again; one in doubt cannot until a day has passed', async () => {
    const place = await createPlace(variant);
    const { idempotency } = await place.open();
    await mine(await idempotency.claim(call)).release();
    await mine(await idempotency.claim(call)).doubt();
    const late = async (ms: number) => (await place.open({ clock: ahead(ms) })).idempotency.claim(call);
    const [now, nearly, next] = [await idempotency.claim(call), await late(86_300_000), await late(86_500_000)];
    expect([now, nearly]).toEqual([{ state: 'unknown' }, { state: 'unknown' }]);
    await mine(next).release();
  });

  test('a minute after its process was killed, the outcome of a key is unknown, and it cannot be claimed', async () => {
    const place = await createPlace(variant);
    const child = await place.child();
    const { keys } = await child.ask({ do: 'claim' });
    child.process.kill('SIGKILL');
    await once(child.process, 'exit');
    const states = [];
    for (const ms of [0, 61_000]) {
      states.push(await (await place.open({ clock: ahead(ms) })).idempotency.claim(call));
    }
    expect([keys, states]).toEqual([['mine'], [{ state: 'running' }, { state: 'unknown' }]]);
  });

  test('a key is free again after a day, also before the storage is swept', async () => {
    let now = systemClock.now();
    const { idempotency } = await (await createPlace(variant)).open({ clock: { ...systemClock, now: () => now } });
    await mine(await idempotency.claim(call)).settle('{"count":1}');
    now += 86_399_000;
    // This claim sweeps; the next sweep is ten minutes later.
    await mine(await idempotency.claim({ ...call, key: 'another' })).release();
    const last = await idempotency.claim(call);
    now += 2000;
    const next = mine(await idempotency.claim(call));
    await next.release();
    expect([last, next.state]).toEqual([{ state: 'done', answer: '{"count":1}' }, 'mine']);
  });

  test('the storage contains no readable key, arguments or answer, and expired rows are swept', async () => {
    const place = await createPlace(variant);
    const { idempotency } = await place.open();
    const secret = { ...call, key: 'hunter2-key', args: 'hunter2-args' };
    await mine(await idempotency.claim(secret)).settle('hunter2-answer');
    const { knex } = place.tables();
    const [row] = await knex('idempotency_keys').select();
    const later = (await place.open({ clock: ahead(86_500_000) })).idempotency;
    await mine(await later.claim({ ...call, key: 'another' })).release();
    expect([JSON.stringify(row).includes('hunter2'), (await knex('idempotency_keys').select()).length]).toEqual([
      false,
      0,
    ]);
  });
});
