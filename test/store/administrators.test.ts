// Changes by people: only administrators can make them, and not on themselves, so one administrator always remains.
import { describe, expect, test } from 'vitest';
import { createPlace, variants } from './stores.ts';

describe.each(variants)('$name', (variant) => {
  test('of administrators who demote each other concurrently, one keeps the level', async () => {
    const place = await createPlace(variant);
    const one = await place.open();
    // Two stores in one process would block each other on the single lock of SQLite.
    const other = variant.name.startsWith('sqlite') ? one : await place.open();
    const people = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => one.identity.addUser({ email: `${name}@example.com`, level: 'admin' })),
    );
    const outcomes = await Promise.all(
      people.map(({ id }, at) => {
        const next = people[(at + 1) % people.length]!.id;
        const store = at % 2 === 0 ? one : other;
        const change =
          at < 2 ? store.members.change(next, { level: 'user' }, id) : store.identity.setDisabled(next, true, id);
        return change.then(
          () => 'done',
          (error: { code?: string }) => error.code,
        );
      }),
    );
    const left = (await one.identity.listUsers()).filter(({ level, disabled }) => level === 'admin' && !disabled);
    expect([outcomes.includes('done'), outcomes.every((one) => one === 'done' || one === 'DENIED')]).toEqual([
      true,
      true,
    ]);
    expect(left.length).toBeGreaterThan(0);
  });

  test('administrators cannot disable or demote themselves, other users change nothing, and the log names the author', async () => {
    const place = await createPlace(variant);
    const { identity, members, rights } = await place.open();
    const ada = await identity.addUser({ email: 'ada@example.com', level: 'admin' });
    const bob = await identity.addUser({ email: 'bob@example.com', level: 'developer' }, ada.id);
    const before = await rights.read();
    const after = [...before, { kind: 'role', path: ['Clerk'], value: 'Clerk' } as const];
    const denied = [
      () => identity.setDisabled(ada.id, true, ada.id),
      () => members.change(ada.id, { level: 'user' }, ada.id),
      () => identity.setDisabled(ada.id, true, bob.id),
      () => members.change(bob.id, { level: 'admin' }, bob.id),
      () => members.change(bob.id, { tags: { a: 'b' } }, bob.id),
      () => rights.apply(before, after, bob.id),
      () => identity.addUser({ email: 'eve@example.com', level: 'admin' }, bob.id),
    ];
    for (const attempt of denied) await expect(attempt()).rejects.toMatchObject({ code: 'DENIED' });
    expect([await rights.read(), (await identity.listUsers()).map(({ email, level }) => [email, level])]).toEqual([
      before,
      [
        ['ada@example.com', 'admin'],
        ['bob@example.com', 'developer'],
      ],
    ]);
    await members.change(ada.id, { firstName: 'Ada' }, ada.id);
    await members.change(bob.id, { level: 'user' }, ada.id);
    await identity.setDisabled(bob.id, true, ada.id);
    await identity.setDisabled(bob.id, false, ada.id);
    await rights.apply(before, after, ada.id);
    const told = await place
      .tables()
      .knex('admin_logs')
      .whereNot({ type: 'initial' })
      .orderBy('id')
      .select('action', 'subject', 'user_id');
    expect(told.map(({ action, subject, user_id }) => `${action} ${subject} ${user_id}`)).toEqual([
      `user.add ada@example.com null`,
      `user.add bob@example.com ${ada.id}`,
      `user.set ada@example.com ${ada.id}`,
      `user.set bob@example.com ${ada.id}`,
      `user.disable bob@example.com ${ada.id}`,
      `user.enable bob@example.com ${ada.id}`,
      `role.add Clerk ${ada.id}`,
    ]);
  });
});
