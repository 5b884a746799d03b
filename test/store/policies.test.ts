// Approval policies: the settings of a role, and the resulting Access.
import { describe, expect, test } from 'vitest';
import type { Access } from '../../src/core/caller.ts';
import type { OpenedStore } from '../../src/store/open.ts';
import type { CollectionPermission } from '../../src/store/permissions/types.ts';
import { cleanUpAfterEach, createPlace, variants } from './stores.ts';

cleanUpAfterEach();

const all = { browse: true, read: true, edit: true, add: true, delete: true, export: true };

async function accessWith(store: OpenedStore, collections: Record<string, CollectionPermission>): Promise<Access> {
  const { id } = await store.identity.addUser({ email: 'kim@example.test', role: 'Clerk' });
  await store.permissions.setRole('Clerk', collections);
  return (await store.permissions.accessOf(id))!;
}

describe.each(variants)('policies on $name', (variant) => {
  test('a collection and an action have the policies of their row; an action without one has that of edit', async () => {
    const store = await (await createPlace(variant)).open();
    const access = await accessWith(store, {
      '*': all,
      orders: {
        ...all,
        approval: { edit: 'ask', delete: { policy: 'ask-person', secondPerson: true } },
        actions: { Refund: { trigger: true, approval: 'ask-person' }, Print: { trigger: true } },
      },
    });
    const told = (collection: string) =>
      (['add', 'edit', 'delete'] as const).map((verb) => Object.values(access.policy(verb, collection)).join(' '));
    const actions = ['Refund', 'Print', 'Cancel'].map((name) => access.actionPolicy('orders', name).policy);
    expect([access.hasPolicies, told('orders'), told('customers'), actions]).toEqual([
      true,
      ['allow false', 'ask false', 'ask-person true'],
      ['allow false', 'allow false', 'allow false'],
      ['ask-person', 'allow', 'ask'],
    ]);
  });

  test('a denied operation is not permitted; without a policy no approval is needed', async () => {
    const store = await (await createPlace(variant)).open();
    const access = await accessWith(store, {
      orders: {
        ...all,
        approval: { add: 'allow', edit: 'deny' },
        actions: { Refund: { trigger: true, approval: 'deny' } },
      },
    });
    const may = [access.can('add', 'orders'), access.can('edit', 'orders'), access.canTrigger('orders', 'Refund')];
    await store.permissions.setRole('Clerk', { orders: { ...all, approval: { add: 'allow' } } });
    const after = (await store.permissions.accessOf(access.caller.id))!;
    expect([may, after.hasPolicies, after.can('edit', 'orders')]).toEqual([[true, false, false], false, true]);
  });

  test('an unknown policy is refused, and denies if it was written directly to the database', async () => {
    const place = await createPlace(variant);
    const store = await place.open();
    const wrong: readonly [CollectionPermission, string][] = [
      [{ ...all, approval: { edit: 'maybe' as never } }, 'orders.approval.edit: expected allow, ask,'],
      [{ ...all, approval: { browse: 'ask' } as never }, 'orders.approval.browse: expected add, edit or delete.'],
      [
        { ...all, actions: { A: { trigger: true, approval: 7 as never } } },
        'orders.actions.A.approval: expected allow',
      ],
      [
        { ...all, approval: { add: { policy: 'ask', secondPerson: true } } },
        "secondPerson needs the policy 'ask-person'",
      ],
    ];
    for (const [permission, expected] of wrong)
      await expect(store.permissions.setRole('Clerk', { orders: permission })).rejects.toThrow(expected);
    const access = await accessWith(store, { orders: { ...all, approval: { edit: 'ask' } } });
    await place
      .tables()
      .knex('role_permissions')
      .where({ collection: 'orders' })
      .update({ approval: '{"edit":"later"}' });
    await store.permissions.setScope('Operations', 'orders', null);
    const after = (await store.permissions.accessOf(access.caller.id))!;
    expect([access.can('edit', 'orders'), after.can('edit', 'orders')]).toEqual([true, false]);
  });
});
