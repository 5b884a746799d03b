// TOTP codes and recovery codes on every store: which are
// accepted, that each is accepted once, and how they are stored.
import { TOTP } from 'otpauth';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { wrongCode } from '../wrong-code.ts';
import { cleanUpAfterEach, createPlace, variants } from './stores.ts';

cleanUpAfterEach();

const step = 30_000;
const codeOf = (secret: string, timestamp: number) => new TOTP({ secret }).generate({ timestamp });

describe.each(variants)('second factors on $name', (variant) => {
  const open = async () => {
    let now = Math.floor(systemClock.now() / step) * step + 10_000;
    const clock = { ...systemClock, now: () => now };
    const place = await createPlace(variant);
    const store = await place.open({ clock, secret: 'a secret of the tests' });
    const { id } = await store.identity.addUser({ email: 'ada@example.com' });
    const { secret, uri } = await store.secondFactors.propose('ada@example.com', 'My organization');
    const codeAt = (steps: number) => codeOf(secret, now + steps * step);
    return { place, store, id, secret, uri, codeAt, wait: (steps: number) => (now += steps * step), clock };
  };

  test('are enabled by a code of the app, computed from the otpauth URL', async () => {
    const { store, id, secret, uri, codeAt, clock } = await open();
    const { secondFactors } = store;
    const wrong = await secondFactors.switchOn(id, secret, wrongCode(secret, clock.now()));
    const off = await secondFactors.of(id);
    const codes = (await secondFactors.switchOn(id, secret, ` ${codeAt(0).replace(/(...)/, '$1 ')}`))!;
    expect([wrong, off, (await secondFactors.of(id))?.recoveryCodes, new Set(codes).size]).toEqual([
      undefined,
      undefined,
      10,
      10,
    ]);
    expect(codes.every((code) => /^([a-z2-9]{4}-){3}[a-z2-9]{4}$/.test(code))).toBe(true);
    expect(new URL(uri)).toMatchObject({ protocol: 'otpauth:', host: 'totp' });
    expect(Object.fromEntries(new URL(uri).searchParams)).toMatchObject({
      secret,
      issuer: 'My organization',
      digits: '6',
      period: '30',
    });
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  });

  test('accept a code of the step before and after, none further, none twice, and no older one', async () => {
    const { store, id, secret, codeAt, wait, clock } = await open();
    const { secondFactors } = store;
    await secondFactors.switchOn(id, secret, codeAt(-1));
    const check = (steps: number) => secondFactors.check(id, codeAt(steps));
    wait(10);
    const far = [await check(-2), await check(2), await secondFactors.check(id, wrongCode(secret, clock.now()))];
    const near = [await check(-1), await check(-1), await check(1), await check(0), await check(1)];
    expect([far, near]).toEqual([
      [undefined, undefined, undefined],
      ['app', undefined, 'app', undefined, undefined],
    ]);
  });

  test('accept one of many concurrent uses of a code, across two processes', async () => {
    const { place, store, id, secret, codeAt, wait, clock } = await open();
    const codes = (await store.secondFactors.switchOn(id, secret, codeAt(0)))!;
    wait(2);
    const other =
      variant.server.dialect === 'sqlite' ? store : await place.open({ clock, secret: 'a secret of the tests' });
    const race = async (code: string) => {
      const tries = [store, other, store, other].map(({ secondFactors }) => secondFactors.check(id, code));
      return (await Promise.all(tries)).filter(Boolean);
    };
    const byApp = await race(codeAt(0));
    const byRecovery = await race(codes[3]!.toUpperCase().replaceAll('-', ' '));
    expect([byApp, byRecovery, (await other.secondFactors.of(id))?.recoveryCodes]).toEqual([['app'], ['recovery'], 9]);
  });

  test('are stored encrypted and hashed, and are deleted with every code when they are disabled', async () => {
    const { place, store, id, secret, codeAt } = await open();
    const { secondFactors } = store;
    const codes = (await secondFactors.switchOn(id, secret, codeAt(0)))!;
    const renewed = await secondFactors.renewRecoveryCodes(id);
    const oldOne = await secondFactors.check(id, codes[0]!);
    const { knex } = place.tables();
    const kept = JSON.stringify([await knex('second_factors'), await knex('recovery_codes'), await knex('admin_logs')]);
    const shown = [secret, ...codes, ...renewed].filter(
      (one) => kept.includes(one) || kept.includes(one.replaceAll('-', '')),
    );
    const off = [await secondFactors.switchOff(id), await secondFactors.switchOff(id)];
    const after = [await secondFactors.of(id), await secondFactors.check(id, renewed[0]!)];
    const log = await knex('admin_logs').whereNot({ type: 'initial' }).orderBy('id').pluck('action');
    expect([oldOne, shown, off, after, log]).toEqual([
      undefined,
      [],
      [true, false],
      [undefined, undefined],
      ['user.add', 'user.totp-on', 'user.recovery-codes', 'user.totp-off'],
    ]);
  });

  test('cannot be used from a copy of the storage without the secret of the installation', async () => {
    const { place, store, id, secret, codeAt, wait, clock } = await open();
    const codes = (await store.secondFactors.switchOn(id, secret, codeAt(0)))!;
    if (variant.server.dialect === 'sqlite') await store.close();
    wait(2);
    const copy = await place.open({ clock, secret: 'another secret' });
    expect(await copy.secondFactors.check(id, codes[0]!)).toBe(undefined);
    await expect(copy.secondFactors.check(id, codeAt(0))).rejects.toThrow();
  });
});
