import { describe, expect, test } from 'vitest';
import { cleanUpAfterEach, createPlace, openPair, variants } from './stores.ts';

cleanUpAfterEach();

const password = 'correct horse battery';

describe.each(variants)('users on $name', (variant) => {
  test('a user gets defaults for omitted members, and a lower case e-mail address', async () => {
    const { identity } = await (await createPlace(variant)).open();

    const user = await identity.addUser({ email: ' Ada@Example.COM ', password });

    expect(user).toEqual({
      id: user.id,
      email: 'ada@example.com',
      firstName: '',
      lastName: '',
      timezone: 'UTC',
      disabled: false,
      hasPassword: true,
      hasIdentity: false,
      sessionsFrom: null,
      level: 'user',
      team: 'Operations',
      role: 'Member',
      tags: {},
    });
    expect([await identity.findUser(user.id), await identity.findUserByEmail('ADA@example.com')]).toEqual([user, user]);
    expect(await identity.countUsers()).toBe(1);
  });

  test('addUser creates an administrator, a new team and a new role', async () => {
    const { identity } = await (await createPlace(variant)).open();
    const full = { email: 'a@b.c', password, firstName: 'Ada', lastName: 'Lövelace 🎩', timezone: 'Europe/Paris' };

    const admin = await identity.addUser({ email: 'root@b.c', password, level: 'admin' });
    const user = await identity.addUser({
      ...full,
      level: 'editor',
      team: 'Süd',
      role: 'Clerk',
      tags: { region: 'é' },
    });

    const { password: _, ...kept } = full;
    expect([admin.role, user]).toEqual([
      'Administrator',
      {
        ...kept,
        id: user.id,
        disabled: false,
        hasPassword: true,
        hasIdentity: false,
        sessionsFrom: null,
        level: 'editor',
        team: 'Süd',
        role: 'Clerk',
        tags: { region: 'é' },
      },
    ]);
  });

  test('an e-mail address is unique, in any spelling and for concurrent calls', async () => {
    const place = await createPlace(variant);
    const stores = await openPair(place, variant);

    const tries = await Promise.allSettled(
      ['ada@example.com', 'ADA@example.com', 'Ada@Example.com', 'ada@EXAMPLE.com'].map((email, turn) =>
        stores[turn % 2]!.identity.addUser({ email, password }),
      ),
    );

    const refused = tries.flatMap((one) => (one.status === 'rejected' ? [one.reason.message] : []));
    expect(refused).toEqual(Array(3).fill("email: 'ada@example.com' is taken."));
    expect(await stores[0]!.identity.countUsers()).toBe(1);
  });

  test("only the current password of an enabled user works, not a wrong, an old or another user's", async () => {
    const { identity } = await (await createPlace(variant)).open();
    const user = await identity.addUser({ email: 'ada@example.com', password });
    const tryIt = async (email: string, secret: string) => (await identity.verifyPassword(email, secret))?.id;

    const enabled = [
      await tryIt('Ada@example.com', password),
      await tryIt('ada@example.com', `${password}r`),
      await tryIt('bob@example.com', password),
    ];
    await identity.setDisabled(user.id, true);
    const disabled = await tryIt('ada@example.com', password);
    await identity.setDisabled(user.id, false);
    await identity.setPassword(user.id, 'another long one');
    const changed = [await tryIt('ada@example.com', password), await tryIt('ada@example.com', 'another long one')];

    expect({ enabled, disabled, changed }).toEqual({
      enabled: [user.id, undefined, undefined],
      disabled: undefined,
      changed: [undefined, user.id],
    });
  });

  test('passwords are stored as slow hashes, and every change of a user is in the admin log', async () => {
    const place = await createPlace(variant);
    const { identity } = await place.open();
    const user = await identity.addUser({ email: 'ada@example.com', password });
    await identity.setPassword(user.id, 'another long one');
    await identity.setDisabled(user.id, true);

    const { knex } = place.tables();

    expect(await knex('users').pluck('password_hash')).toEqual([expect.stringMatching(/^scrypt\$32768\$8\$1\$/)]);
    const entries = await knex('admin_logs')
      .whereNot({ type: 'initial' })
      .orderBy('id')
      .select('action', 'subject', 'detail');
    expect(entries.map(({ action, subject }) => [action, subject])).toEqual([
      ['user.add', 'ada@example.com'],
      ['user.password', 'ada@example.com'],
      ['user.disable', 'ada@example.com'],
    ]);
    expect(JSON.stringify(entries)).not.toContain('another long one');
  });
});

describe('users', () => {
  const open = async () => (await createPlace(variants[0]!)).open();

  test.each([
    [{ email: 'nobody' }, 'email'],
    [{ email: 'a b@c.d' }, 'email'],
    [{ password: 'short' }, 'password'],
    [{ password: 'x'.repeat(1025) }, 'password'],
    [{ password: 'Ada@Example.com' }, 'password'],
    [{ email: 'lovelace-a@example.com', password: 'Lovelace-A 2026' }, 'password'],
    [{ password: 'Password 12345!' }, 'password'],
    [{ password: 'qwertyuiop' }, 'password'],
    [{ password: '1234567890' }, 'password'],
    [{ password: '0987654321' }, 'password'],
    [{ password: 'abababababab' }, 'password'],
    [{ password: '🎩'.repeat(9) }, 'password'],
    [{ timezone: 'Mars/Olympus' }, 'timezone'],
    [{ level: 'god' as 'admin' }, 'level'],
    [{ team: ' ' }, 'team'],
    [{ firstName: 'x'.repeat(192) }, 'firstName'],
  ])('%j is refused by name', async (wrong, argument) => {
    const { identity } = await open();

    const adding = identity.addUser({ email: 'ada@example.com', password, ...wrong });

    await expect(adding).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', details: { argument } });
  });

  test('an unknown user cannot be changed', async () => {
    const { identity } = await open();

    await expect(identity.setDisabled(99, true)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('the response time does not reveal which users exist or are disabled', async () => {
    const { identity } = await open();
    await identity.addUser({ email: 'known@example.com', password });
    const off = await identity.addUser({ email: 'off@example.com', password });
    await identity.setDisabled(off.id, true);
    const fastest: Record<string, number> = {};

    for (let turn = 0; turn < 6; turn++) {
      for (const name of ['known', 'unknown', 'off']) {
        const start = process.cpuUsage();
        await identity.verifyPassword(`${name}@example.com`, 'a wrong password');
        // CPU time, because other processes share the wall time.
        const { user, system } = process.cpuUsage(start);
        fastest[name] = Math.min(fastest[name] ?? Number.POSITIVE_INFINITY, user + system);
      }
    }

    // Without hashing for unknown and disabled users, the ratios would be below 0.1.
    const ratios = [fastest.unknown! / fastest.known!, fastest.off! / fastest.known!];
    expect(ratios.filter((ratio) => ratio < 0.4 || ratio > 2.5)).toEqual([]);
  });

  test('place returns the names of organization, project and environment', async () => {
    const { identity } = await open();

    expect(await identity.place()).toEqual({
      organization: 'My organization',
      project: 'My project',
      environment: 'Production',
      environmentId: 1,
    });
  });
});
