// One-time links on every store: each can be used once across processes, and its use ends sessions.
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { cleanUpAfterEach, createPlace, openPair, variants } from './stores.ts';

cleanUpAfterEach();

const ada = { email: 'ada@example.com' };
const chosen = 'a few words of hers';

describe.each(variants)('one-time links on $name', (variant) => {
  test('let a user without a password choose one, once; the token is not stored', async () => {
    const place = await createPlace(variant);
    const [one, two] = await openPair(place, variant);
    const user = await one.identity.addUser(ada);
    const { token } = await one.links.make(user.id, 'invite');
    const before = await one.identity.verifyPassword(ada.email, '');
    const found = await two.links.find(token);
    // Neither reading a link nor an invalid password uses it up.
    const refused = await two.links.use(token, 'short').catch((error: Error) => error.message);
    const answers = await Promise.all([one, two, one, two].map(({ links }) => links.use(token, chosen)));
    const { knex } = place.tables();
    const kept = JSON.stringify([await knex('one_time_links'), await knex('admin_logs')]);
    const log = await knex('admin_logs').whereNot({ type: 'initial' }).orderBy('id').select('action', 'user_id');
    expect([
      [user.hasPassword, before, found.state],
      refused,
      answers.map(({ state }) => state).sort(),
      (await two.identity.verifyPassword(ada.email, chosen))?.hasPassword,
      kept.includes(token),
      log.map(({ action, user_id }) => [action, user_id]),
    ]).toEqual([
      [false, undefined, 'open'],
      'password: expected 10 to 1024 characters.',
      ['used', 'used', 'used', 'used-now'],
      true,
      false,
      [
        ['user.add', null],
        ['user.invite', null],
        ['user.password', user.id],
      ],
    ]);
  });

  test('fail if expired, replaced, unknown, or of a disabled user', async () => {
    let now = systemClock.now();
    const place = await createPlace(variant);
    const { identity, links } = await place.open({ clock: { ...systemClock, now: () => now } });
    const { id } = await identity.addUser(ada);
    const replaced = await links.make(id, 'invite');
    const old = await links.make(id, 'reset');
    const lives = [replaced, old].map(({ expiresAt }) => expiresAt - now);
    const states = async (token: string) => [(await links.find(token)).state, (await links.use(token, chosen)).state];
    const first = await states(replaced.token);
    now += 3_600_000;
    const expired = await states(old.token);
    const other = await links.make(id, 'reset');
    await identity.setDisabled(id, true);
    const disabled = await states(other.token);
    const making = await links.make(id, 'reset').catch((error: Error) => error.message);
    expect([lives, first, expired, disabled, await states('x'.repeat(43)), making]).toEqual([
      [7 * 86_400_000, 3_600_000],
      ['unknown', 'unknown'],
      ['expired', 'expired'],
      ['unknown', 'unknown'],
      ['unknown', 'unknown'],
      'email: ada@example.com is disabled. Enable the user first.',
    ]);
    expect(await identity.verifyPassword(ada.email, chosen)).toBe(undefined);
  });

  test('end every session of the user when they are used, also sessions that a running request saves again', async () => {
    let now = systemClock.now();
    const clock = { ...systemClock, now: () => now };
    const place = await createPlace(variant);
    const { identity, links, sessions, oauth } = await place.open({ clock });
    const { id } = await identity.addUser({ ...ada, password: 'correct horse battery' });
    const began = now;
    const session = await sessions.begin({ userId: id, browser: '' });
    const browserSession = { model: 'Session', id: 'one', payload: {}, accountId: `${id}` };
    await oauth.upsert(browserSession);
    await oauth.upsert({ model: 'Grant', id: 'kept', payload: {}, accountId: `${id}` });
    const { token } = await links.make(id, 'reset');
    now += 1000;
    await links.use(token, chosen);
    // A sign-in that began with the old password and completes after the reset.
    const late = await sessions.begin({ userId: id, browser: '', since: began });
    const own = await sessions.begin({ userId: id, browser: '' });
    expect([
      await sessions.find(session),
      await sessions.find(late),
      (await sessions.find(own))?.userId,
      await oauth.find('Session', 'one'),
      (await oauth.find('Grant', 'kept'))?.accountId,
      (await identity.findUser(id))?.sessionsFrom,
    ]).toEqual([undefined, undefined, id, undefined, `${id}`, now]);
  });
});
