import { describe, expect, test } from 'vitest';
import { verbs } from '../../src/core/caller.ts';
import type { PlainFilter } from '../../src/core/filter.ts';
import type { CollectionPermission } from '../../src/store/permissions/types.ts';
import { cleanUpAfterEach, createPlace, type Place, variants } from './stores.ts';

cleanUpAfterEach();

const none = { browse: false, read: false, edit: false, add: false, delete: false, export: false };
const reading: CollectionPermission = { ...none, browse: true, read: true };
const nothing: PlainFilter = { aggregator: 'Or', conditions: [] };

async function openWithAda(place: Place, more: { readonly password?: string } = {}) {
  const store = await place.open();
  const ada = await store.identity.addUser({
    email: 'ada@example.com',
    firstName: 'Ada',
    team: 'South',
    role: 'Clerk',
    tags: { region: 'é%', branch: '12', empty: '' },
    ...more,
  });
  return { store, ada };
}

describe.each(variants)('permissions on $name', (variant) => {
  test('a role has the rights of its own row, otherwise of the row *, otherwise none', async () => {
    const { store, ada } = await openWithAda(await createPlace(variant));
    const allowed = async () => {
      const access = (await store.permissions.accessOf(ada.id))!;
      return ['orders', 'users'].map((collection) => verbs.filter((verb) => access.can(verb, collection)).join(' '));
    };

    const before = await allowed();
    await store.permissions.setRole('Clerk', { '*': reading, users: none });
    const between = await allowed();
    await store.permissions.setRole('Clerk', { users: { ...none, export: true } });

    expect([before, between, await allowed()]).toEqual([
      ['', ''],
      ['browse read', ''],
      ['', 'export'],
    ]);
  });

  test('fields are writable, readable or hidden', async () => {
    const { store, ada } = await openWithAda(await createPlace(variant));
    await store.permissions.setRole('Clerk', { users: { ...reading, fields: { salary: 'hidden', email: 'read' } } });

    const access = (await store.permissions.accessOf(ada.id))!;

    expect([
      access.field('users', 'salary'),
      access.field('users', 'email'),
      access.field('users', 'toString'),
      access.field('orders', 'id'),
    ]).toEqual(['hidden', 'read', 'write', 'hidden']);
  });

  test('an action may be triggered by users who may edit, unless the role says otherwise', async () => {
    const { store, ada } = await openWithAda(await createPlace(variant));
    const actions = { Refund: { trigger: false }, Remind: { trigger: true } };
    await store.permissions.setRole('Clerk', {
      orders: { ...reading, edit: true, actions },
      users: { ...reading, actions },
    });

    const access = (await store.permissions.accessOf(ada.id))!;

    const names = ['Refund', 'Remind', 'Other', 'toString'];
    expect(
      ['orders', 'users', 'stores'].map((name) => names.filter((action) => access.canTrigger(name, action))),
    ).toEqual([['Remind', 'Other', 'toString'], ['Remind'], []]);
  });

  test('an action may be triggered always, never, or under a condition on the caller', async () => {
    const place = await createPlace(variant);
    const { store, ada } = await openWithAda(place);
    const mine: PlainFilter = { field: 'branch', operator: 'Equal', value: '{{currentUser.tags.branch}}' };
    const lost: PlainFilter = { field: 'branch', operator: 'Equal', value: '{{currentUser.tags.none}}' };
    const actions = {
      Refund: { trigger: { when: mine } },
      Remind: { trigger: { when: lost } },
      Cancel: { trigger: true },
    };
    await store.permissions.setRole('Clerk', { orders: { ...reading, actions }, users: { ...reading, actions } });
    const { knex } = place.tables();
    const broken = JSON.stringify({ Refund: { trigger: { when: { field: '' } } }, Remind: { trigger: 'sometimes' } });
    await knex('role_permissions').where({ collection: 'users' }).update({ actions: broken });
    await knex('versions').increment('number', 1);

    const access = (await store.permissions.accessOf(ada.id))!;

    const names = ['Refund', 'Remind', 'Cancel', 'Other'];
    const told = (collection: string) =>
      names.map((name) => [access.canTrigger(collection, name), access.triggerCondition(collection, name)]);
    expect([told('orders'), told('users')]).toEqual([
      [
        [true, { ...mine, value: '12' }],
        [true, nothing],
        [true, null],
        [false, null],
      ],
      // Invalid scopes allow no access.
      [
        [true, nothing],
        [false, null],
        [false, null],
        [false, null],
      ],
    ]);
  });

  test('an administrator may do everything and sees all rows', async () => {
    const store = await (await createPlace(variant)).open();
    const root = await store.identity.addUser({ email: 'root@b.c', level: 'admin' });

    const access = (await store.permissions.accessOf(root.id))!;

    expect([verbs.every((verb) => access.can(verb, 'x')), access.field('x', 'y'), access.scope('x')]).toEqual([
      true,
      'write',
      null,
    ]);
  });

  test('the caller has the current attributes of the user', async () => {
    const { store, ada } = await openWithAda(await createPlace(variant));

    expect(await store.permissions.caller(ada.id)).toEqual({
      id: ada.id,
      email: 'ada@example.com',
      firstName: 'Ada',
      lastName: '',
      team: 'South',
      role: 'Clerk',
      tags: { region: 'é%', branch: '12', empty: '' },
      timezone: 'UTC',
      permissionLevel: 'user',
      renderingId: expect.any(Number),
    });
  });

  test('an access is cached while nothing changes, and a change elsewhere applies to the next call', async () => {
    const place = await createPlace(variant);
    const [{ store, ada }, other] = [await openWithAda(place), await place.open()];
    const first = await store.permissions.accessOf(ada.id);
    const { permissions: version } = await store.versions();

    const kept = [await store.permissions.accessOf(ada.id), store.permissions.cachedAccessOf(ada.id, version)];
    await other.permissions.setRole('Clerk', { '*': reading });
    const after = await store.permissions.accessOf(ada.id);

    expect(kept.map((one) => one === first)).toEqual([true, true]);
    expect([first!.can('read', 'x'), after!.can('read', 'x')]).toEqual([false, true]);
    expect(store.permissions.cachedAccessOf(ada.id, (await store.versions()).permissions)).toBe(after);
    expect(store.permissions.cachedAccessOf(ada.id, version)).toBeUndefined();
  });

  test('a disabled user has no access, in any process, from the next call on', async () => {
    const place = await createPlace(variant);
    const [{ store, ada }, other] = [await openWithAda(place), await place.open()];
    const before = await other.permissions.accessOf(ada.id);

    await store.identity.setDisabled(ada.id, true);

    expect([before?.caller.id, await other.permissions.accessOf(ada.id), await other.permissions.caller(404)]).toEqual([
      ada.id,
      undefined,
      undefined,
    ]);
  });

  test('a scope applies only to its team and collection, until it is removed', async () => {
    const { store, ada } = await openWithAda(await createPlace(variant));
    const root = await store.identity.addUser({ email: 'root@b.c', level: 'admin' });
    const scopes = async () =>
      Promise.all(
        [ada.id, root.id].map(async (id) => {
          const access = (await store.permissions.accessOf(id))!;
          return [access.scope('orders'), access.scope('users')];
        }),
      );

    await store.permissions.setScope('South', 'orders', { field: 'id', operator: 'Equal', value: 1 });
    const set = await scopes();
    await store.permissions.setScope('South', 'orders', null);

    expect([set, await scopes()]).toEqual([
      [
        [{ field: 'id', operator: 'Equal', value: 1 }, null],
        [null, null],
      ],
      [
        [null, null],
        [null, null],
      ],
    ]);
  });

  test('an invalid scope that was written directly to the database shows no rows and is logged', async () => {
    const place = await createPlace(variant);
    const { store, ada } = await openWithAda(place);
    const good = { field: 'id', operator: 'Equal', value: 1 };
    for (const collection of ['a', 'b', 'c']) await store.permissions.setScope('South', collection, good);
    const { knex } = place.tables();
    await knex('row_scopes').where({ collection: 'a' }).update({ filter: '{"field":' });
    await knex('row_scopes').where({ collection: 'b' }).update({ filter: '{"aggregator":"Nor","conditions":[]}' });
    await knex('versions').increment('number', 1);

    const access = (await store.permissions.accessOf(ada.id))!;

    expect(['a', 'b', 'c', 'a'].map((collection) => access.scope(collection))).toEqual([
      nothing,
      nothing,
      good,
      nothing,
    ]);
    const messages = place.observed.flatMap((one) => (one.type === 'warning' ? [one.message] : []));
    expect(messages.filter((each) => !each.startsWith('SQLite runs'))).toEqual([
      "The row scope of team 'South' on 'a' is not a filter (not JSON): it shows no records. Set it again.",
      "The row scope of team 'South' on 'b' is not a filter (filter.aggregator: expected And, Or or Not.): it shows no records. Set it again.",
    ]);
  });
});

describe('scope variables', () => {
  const equal = (value: unknown): PlainFilter => ({ field: 'f', operator: 'Equal', value });
  /** Sets each filter as the scope of its own collection, and returns the scopes that apply to Ada. */
  const fill = async (filters: readonly PlainFilter[]) => {
    // Ada has a password hash, which a variable must not expose.
    const { store, ada } = await openWithAda(await createPlace(variants[0]!), { password: 'correct horse' });
    for (const [index, filter] of filters.entries()) await store.permissions.setScope('South', `c${index}`, filter);
    const access = (await store.permissions.accessOf(ada.id))!;
    return { ada, scopes: filters.map((_, index) => access.scope(`c${index}`)) };
  };

  test('a variable that is the whole string keeps its type', async () => {
    const { ada, scopes } = await fill([equal(' {{ currentUser.id }} ')]);

    expect(scopes).toEqual([equal(ada.id)]);
  });

  test('variables are replaced in every position', async () => {
    const pairs: readonly [unknown, unknown][] = [
      ['{{currentUser.tags.branch}}', '12'],
      ['{{currentUser.team.name}}', 'South'],
      ['{{currentUser.tags.region}}-{{currentUser.firstName}}!', 'é%-Ada!'],
      [
        ['a', '{{currentUser.team}}'],
        ['a', 'South'],
      ],
      [{ deep: ['{{currentUser.role}}'] }, { deep: ['Clerk'] }],
      ['plain { text }', 'plain { text }'],
    ];

    const { scopes } = await fill(pairs.map(([value]) => equal(value)));

    expect(scopes).toEqual(pairs.map(([, expected]) => equal(expected)));
  });

  test('a leaf with a variable without a value matches nothing, and the rest of the filter applies', async () => {
    const values = [
      '{{currentUser.tags.nope}}',
      '{{currentUser.tags.empty}}',
      '{{currentUser.tags.toString}}',
      '{{currentUser.lastName}}',
      '{{currentUser.password_hash}}',
      '{{currentUser.constructor}}',
      '{{user.id}}',
      '{{}}',
      '{{currentUser.id',
      '{{{{currentUser.id}}}}',
      'a {{currentUser.tags.nope}} b {{currentUser.id}}',
      ['fine', '{{currentUser.tags.nope}}'],
      { deep: [{ er: '{{currentUser.tags.nope}}' }] },
    ];

    const { scopes } = await fill(values.map((value) => ({ aggregator: 'Or', conditions: [equal(value), equal(1)] })));

    expect(scopes).toEqual(values.map(() => ({ aggregator: 'Or', conditions: [nothing, equal(1)] })));
  });

  test('in comparisons variables are replaced in constants, not in names of fields', async () => {
    const compared = (constant: unknown, name: string): PlainFilter => ({
      expression: { coalesce: [name, { value: constant as string }] },
      operator: 'Equal',
      other: { value: constant as string },
    });
    const value = (constant: string): PlainFilter => ({
      expression: { plus: ['a', 1] },
      operator: 'LessThan',
      value: constant,
    });
    const role = '{{currentUser.role}}';
    const lost = '{{currentUser.tags.nope}}';
    const not = (filter: PlainFilter): PlainFilter => ({ aggregator: 'Not', conditions: [filter] });

    const { scopes } = await fill([
      compared(role, role),
      value('{{currentUser.tags.branch}}'),
      compared(lost, 'a'),
      not(value(lost)),
    ]);

    expect(scopes).toEqual([compared('Clerk', role), value('12'), nothing, nothing]);
  });

  test('a variable in a Like or Match pattern matches nothing, and Contains uses it as text', async () => {
    const value = '{{currentUser.tags.region}}';

    const { scopes } = await fill(
      (['Like', 'ILike', 'Match', 'Contains'] as const).map((operator) => ({ field: 'f', operator, value })),
    );

    expect(scopes).toEqual([nothing, nothing, nothing, { field: 'f', operator: 'Contains', value: 'é%' }]);
  });
});

describe('setting permissions', () => {
  test.each([
    ['a list', [], 'filter: expected an object.'],
    [
      'no comparison',
      { field: 'a', operator: 'Like', other: 'b' },
      'filter.operator: expected one of Equal, NotEqual, LessThan, GreaterThan, LessThanOrEqual, GreaterThanOrEqual, Before, After.',
    ],
    [
      'two sides',
      { expression: 'a', field: 'a', operator: 'Equal', other: 'b' },
      'filter.field: unknown; a filter here can have expression, operator, other.',
    ],
    ['no operator', { field: 'a', operator: 'Is' }, 'filter.operator: expected an operator.'],
    [
      'an invalid branch',
      { aggregator: 'And', conditions: [{ field: '' }] },
      'filter.conditions[0].field: expected the name of a field.',
    ],
  ])('a scope that is %s is refused', async (_, filter, problem) => {
    const { store } = await openWithAda(await createPlace(variants[0]!));

    await expect(store.permissions.setScope('South', 'orders', filter)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      details: { argument: 'filter', problem },
    });
  });

  test.each([
    ['sometimes', 'expected true, false or { when: a filter }.'],
    [{ if: { field: 'a', operator: 'Present' } }, 'expected true, false or { when: a filter }.'],
    [{ when: { field: 'a' } }, 'when.operator: expected an operator.'],
  ])('an action with trigger %j is refused', async (trigger, problem) => {
    const { store } = await openWithAda(await createPlace(variants[0]!));
    const orders = { ...reading, actions: { Refund: { trigger: trigger as unknown as boolean } } };
    await expect(store.permissions.setRole('Clerk', { orders })).rejects.toMatchObject({
      details: { argument: 'orders.actions.Refund.trigger', problem },
    });
  });

  test('a scope on a misspelled team is refused with near names', async () => {
    const { store } = await openWithAda(await createPlace(variants[0]!));

    await expect(store.permissions.setScope('south', 'orders', null)).rejects.toMatchObject({
      message: "team: there is no team 'south'. Near: South.",
    });
  });

  test('changes are in the admin log', async () => {
    const place = await createPlace(variants[0]!);
    const { store } = await openWithAda(place);
    await store.permissions.setRole('Clerk', { '*': reading });
    await store.permissions.setScope('South', 'orders', null);

    const entries = await place
      .tables()
      .knex('admin_logs')
      .whereNot({ type: 'initial' })
      .orderBy('id')
      .select('action', 'subject', 'detail');

    expect(entries.slice(1)).toEqual([
      { action: 'role.set', subject: 'Clerk', detail: JSON.stringify({ '*': reading }) },
      { action: 'scope.set', subject: 'South/orders', detail: '{"filter":null}' },
    ]);
  });
});
