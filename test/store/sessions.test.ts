// Console sessions on every store: how they are stored, and everything that ends them.
import { describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { cleanUpAfterEach, createPlace, openPair, variants } from './stores.ts';

cleanUpAfterEach();

const hour = 3_600_000;
const ada = { email: 'ada@example.com' };

function heldClock(): { clock: Clock; wait(ms: number): void } {
  let now = systemClock.now();
  const wait = (ms: number): void => {
    now += ms;
  };
  return { clock: { ...systemClock, now: () => now }, wait };
}

describe.each(variants)('console sessions on $name', (variant) => {
  test('are found by their id in every process, and the id is not stored', async () => {
    const place = await createPlace(variant);
    const [one, two] = await openPair(place, variant);
    const { id: userId } = await one.identity.addUser(ada);
    const browser = `Firefox\u0000\u202e ${'x'.repeat(300)}`;
    const ids = [await one.sessions.begin({ userId, browser }), await one.sessions.begin({ userId, browser: '' })];
    const rows = await place.tables().knex('console_sessions');
    expect([
      (await two.sessions.find(ids[0]!))?.userId,
      (await two.sessions.find(ids[0]!))?.browser,
      await two.sessions.find('another'),
      new Set(ids).size,
      ids.some((id) => JSON.stringify(rows).includes(id)),
    ]).toEqual([userId, `Firefox ${'x'.repeat(192)}`, undefined, 2, false]);
  });

  test('end on sign-out, without ending others', async () => {
    const [one, two] = await openPair(await createPlace(variant), variant);
    const { id: userId } = await one.identity.addUser(ada);
    const [first, second] = [
      await one.sessions.begin({ userId, browser: 'a' }),
      await one.sessions.begin({ userId, browser: 'b' }),
    ];
    await two.sessions.end(first);
    expect([await one.sessions.find(first), (await one.sessions.find(second))?.browser]).toEqual([undefined, 'b']);
  });

  test('end after eight hours without use, and a week after sign-in despite use', async () => {
    const { clock, wait } = heldClock();
    const { identity, sessions } = await (await createPlace(variant)).open({ clock });
    const { id: userId } = await identity.addUser(ada);
    const unused = await sessions.begin({ userId, browser: '' });
    const used = await sessions.begin({ userId, browser: '' });
    const alive: boolean[] = [];
    for (let hours = 0; hours < 7 * 24; hours += 7) {
      alive.push((await sessions.find(used)) !== undefined);
      wait(7 * hour);
    }
    expect([alive, await sessions.find(unused), await sessions.find(used)]).toEqual([
      Array(24).fill(true),
      undefined,
      undefined,
    ]);
  });

  test('are swept after they ended', async () => {
    const { clock, wait } = heldClock();
    const place = await createPlace(variant);
    const { identity, sessions } = await place.open({ clock });
    const { id: userId } = await identity.addUser(ada);
    await sessions.begin({ userId, browser: 'old' });
    wait(8 * hour);
    await sessions.begin({ userId, browser: 'new' });
    expect(await place.tables().knex('console_sessions').pluck('browser')).toEqual(['new']);
  });

  test.each([
    ['the password is changed', (id: number) => ['setPassword', id, 'another password'] as const],
    ['the user is disabled', (id: number) => ['setDisabled', id, true] as const],
  ])('end when %s, and other users keep theirs', async (_what, change) => {
    const [one, two] = await openPair(await createPlace(variant), variant);
    const user = await one.identity.addUser(ada);
    const other = await one.identity.addUser({ ...ada, email: 'bob@example.com' });
    const ids = [
      await one.sessions.begin({ userId: user.id, browser: '' }),
      await one.sessions.begin({ userId: user.id, browser: '' }),
      await one.sessions.begin({ userId: other.id, browser: '' }),
    ];
    const [method, id, value] = change(user.id);
    if (method === 'setPassword') await two.identity.setPassword(id, value);
    else await two.identity.setDisabled(id, value);
    if (method === 'setDisabled') await two.identity.setDisabled(id, false);
    const found = await Promise.all(ids.map((one_) => one.sessions.find(one_)));
    expect(found.map((session) => session?.userId)).toEqual([undefined, undefined, other.id]);
  });
});
