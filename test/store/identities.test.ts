// External identities on every store: how they map to users, and what changes in claims of the issuer do.
import { describe, expect, test } from 'vitest';
import type { ExternalIdentity } from '../../src/store/users/types.ts';
import { cleanUpAfterEach, createPlace, openPair, variants } from './stores.ts';

cleanUpAfterEach();

const issuer = 'https://login.example.com';
const nina: ExternalIdentity = {
  issuer,
  subject: 'n-1',
  email: 'Nina@Example.com',
  emailVerified: true,
  firstName: 'Nina',
  timezone: 'Europe/Oslo',
  rights: { tags: { region: 'north' } },
};
const apart = { link: false };

describe.each(variants)('identities on $name', (variant) => {
  test('are users by issuer and subject, in every process, even for concurrent first sign-ins', async () => {
    const [one, two] = await openPair(await createPlace(variant), variant);
    const admitted = await Promise.all([one.identities.admit(nina, apart), two.identities.admit(nina, apart)]);
    const ids = admitted.map((one) => (one.state === 'ok' ? one.user.id : one.why));
    expect(new Set(ids).size).toBe(1);
    await one.identity.addUser({ email: 'invited@example.com' });
    const known = (await two.identity.listUsers()).map((user) => [user.email, user.hasPassword, user.hasIdentity]);
    expect(known).toContainEqual(['nina@example.com', false, true]);
    expect(known).toContainEqual(['invited@example.com', false, false]);
    expect(await two.identities.findUserId(issuer, 'n-1')).toBe(ids[0]);
    expect(await one.identities.has(ids[0] as number, issuer)).toBe(true);
    expect(await one.identities.has(ids[0] as number, 'https://another.example')).toBe(false);
    // Issuer and subject compare byte by byte, without padding.
    for (const [by, subject] of [
      [issuer, 'N-1'],
      [issuer, 'n-1 '],
      [`${issuer}/`, 'n-1'],
    ] as const) {
      expect(await one.identities.findUserId(by, subject)).toBeUndefined();
    }
    const user = (await one.identity.findUser(ids[0] as number))!;
    expect(user).toMatchObject({
      email: 'nina@example.com',
      firstName: 'Nina',
      timezone: 'Europe/Oslo',
      level: 'user',
    });
    expect([user.team, user.role, user.tags]).toEqual(['Operations', 'Member', { region: 'north' }]);
    expect(await one.identity.verifyPassword('nina@example.com', '')).toBeUndefined();
  });

  test('apply new rights immediately and log them; an unchanged sign-in raises no version', async () => {
    const place = await createPlace(variant);
    const [one, two] = await openPair(place, variant);
    await one.identities.admit(nina, apart);
    const settled = await two.versions();
    await one.identities.admit(nina, apart);
    expect(await two.versions()).toEqual(settled);
    await one.identities.admit(
      { ...nina, rights: { level: 'admin', role: ['None', 'Administrator'], tags: { region: null } } },
      apart,
    );
    expect((await two.versions()).permissions).toBeGreaterThan(settled.permissions);
    const id = (await two.identities.findUserId(issuer, 'n-1'))!;
    expect((await two.permissions.caller(id))!).toMatchObject({
      role: 'Administrator',
      permissionLevel: 'admin',
      tags: {},
    });
    // Missing claims leave the values unchanged.
    await one.identities.admit({ ...nina, rights: {} }, apart);
    expect((await two.identity.findUser(id))!).toMatchObject({ role: 'Administrator', level: 'admin' });
    const log = await place
      .tables()
      .knex('admin_logs')
      .whereNot({ type: 'initial' })
      .orderBy('id')
      .select('action', 'subject', 'detail');
    expect(log.map(({ action, subject, detail }) => [action, subject, JSON.parse(detail)])).toEqual([
      [
        'user.add',
        'nina@example.com',
        { issuer, level: 'user', team: 'Operations', role: 'Member', tags: { region: 'north' } },
      ],
      [
        'user.claims',
        'nina@example.com',
        {
          issuer,
          before: { level: 'user', role: 'Member', tags: { region: 'north' } },
          after: { level: 'admin', role: 'Administrator', tags: {} },
        },
      ],
    ]);
  });

  test('refuse a disabled user, a taken address, and an unknown team or role', async () => {
    const store = await (await createPlace(variant)).open();
    const whyNot = async (identity: ExternalIdentity, link = false) => {
      const admission = await store.identities.admit(identity, { link });
      return admission.state === 'refused' ? admission.why : 'came in';
    };
    const ada = await store.identity.addUser({ email: 'ada@example.com', password: 'correct horse battery' });
    const asAda = { ...nina, subject: 'a-1', email: 'ada@example.com' };
    expect([
      await whyNot(asAda),
      await whyNot({ ...asAda, emailVerified: false }, true),
      await whyNot({ ...nina, rights: { team: ['Elsewhere'] } }),
      await whyNot({ ...nina, rights: { role: [] } }),
      await whyNot({ ...nina, rights: { level: null } }),
      await store.identities.findUserId(issuer, 'n-1'),
    ]).toEqual([
      `user ${ada.id} has this address, and linking users by address is off`,
      `user ${ada.id} has this address, and it is not verified`,
      'the team does not exist (requested: Elsewhere)',
      'the role does not exist (requested: )',
      'there is no valid permission level',
      undefined,
    ]);
    expect((await store.identity.listUsers()).length).toBe(1);
    expect(await whyNot(asAda, true)).toBe('came in');
    expect(await whyNot({ ...asAda, subject: 'a-2' }, true)).toBe(
      `user ${ada.id} has this address, and is another account of the issuer`,
    );
    expect(await whyNot(nina)).toBe('came in');
    expect(await whyNot({ ...nina, email: 'ada@example.com' }, true)).toMatch(/^another user now has the address/);
    await store.identity.setDisabled(ada.id, true);
    expect(await whyNot(asAda, true)).toBe(`user ${ada.id} is disabled`);
  });

  test('follow a changed e-mail address of a known user', async () => {
    const store = await (await createPlace(variant)).open();
    const first = await store.identities.admit(nina, apart);
    const moved = await store.identities.admit({ ...nina, email: 'n.simon@example.com' }, apart);
    expect([first.state === 'ok' && first.user.id, moved.state === 'ok' && moved.user.email]).toEqual([
      await store.identities.findUserId(issuer, 'n-1'),
      'n.simon@example.com',
    ]);
  });
});
