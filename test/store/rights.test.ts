// The rights as one list, which is read and applied in one transaction.
import { describe, expect, test } from 'vitest';
import { diffRights } from '../../src/store/permissions/rights.ts';
import type { CollectionPermission, Right } from '../../src/store/permissions/types.ts';
import { cleanUpAfterEach, createPlace, variants } from './stores.ts';

cleanUpAfterEach();

const none = { browse: false, read: false, edit: false, add: false, delete: false, export: false };
const full: CollectionPermission = { browse: true, read: true, edit: true, add: true, delete: true, export: true };
const reading: CollectionPermission = { ...none, browse: true, read: true };
const mine = { field: 'owner', operator: 'Equal', value: '{{currentUser.id}}' };

const named = (kind: Right['kind'], name: string): Right => ({ kind, path: [name], value: name });
const permission = (role: string, environment: string, value: CollectionPermission, collection = '*'): Right => ({
  kind: 'permission',
  path: [role, environment, collection],
  value,
});
const scope = (team: string, environment: string, value: unknown, collection = 'orders'): Right => ({
  kind: 'scope',
  path: [team, environment, collection],
  value,
});
const first: readonly Right[] = [
  { kind: 'organization', path: [], value: 'My organization' },
  { kind: 'project', path: [], value: 'My project' },
  named('environment', 'Production'),
  named('team', 'Operations'),
  named('role', 'Administrator'),
  named('role', 'Member'),
  permission('Administrator', 'Production', full),
];
const rich: readonly Right[] = [
  { kind: 'organization', path: [], value: 'Acme' },
  { kind: 'project', path: [], value: 'Shop' },
  named('environment', 'Production'),
  named('environment', 'Staging'),
  named('network', '10.0.0.0/8'),
  named('network', '2001:db8::/32'),
  named('team', 'Operations'),
  named('team', 'South'),
  scope('South', 'Production', mine),
  scope('South', 'Staging', { ...mine, field: 'region' }),
  named('role', 'Administrator'),
  named('role', 'Clerk'),
  permission('Administrator', 'Production', full),
  permission('Administrator', 'Staging', full),
  permission(
    'Clerk',
    'Production',
    {
      ...reading,
      fields: { margin: 'hidden' },
      actions: { Refund: { trigger: { when: mine as never }, approval: 'ask-person' } },
      approval: { delete: 'ask' },
    },
    'orders',
  ),
];
const sorted = (rights: readonly Right[]) =>
  rights.map(({ kind, path, value }) => `${kind} ${path.join('/')} ${JSON.stringify(value)}`).sort();

describe.each(variants)('on $name', (variant) => {
  test('rights can be created, read in the same form, and removed', async () => {
    const place = await createPlace(variant);
    const store = await place.open();
    expect(await store.rights.read()).toEqual(first);
    const { permissions } = await store.versions();
    await store.rights.apply(first, rich);
    expect(sorted(await store.rights.read())).toEqual(sorted(rich));
    expect(await store.rights.networks()).toEqual(['10.0.0.0/8', '2001:db8::/32']);
    expect((await store.versions()).permissions).toBe(permissions + 1);
    await store.rights.apply(await store.rights.read(), first);
    expect(await store.rights.read()).toEqual(first);
    const left = await Promise.all(
      ['row_scopes', 'allowed_networks', 'renderings'].map((table) => place.tables().knex(table).select('*')),
    );
    expect(left.map((rows) => rows.length)).toEqual([0, 0, 1]);
  });

  test('every change is logged with before and after, and an unchanged right is not', async () => {
    const place = await createPlace(variant);
    const store = await place.open();
    await store.rights.apply(first, rich);
    const changed = rich.map((right) => (right.value === full ? { ...right, value: reading } : right));
    const changes = await store.rights.apply(await store.rights.read(), changed);
    const rows = await place
      .tables()
      .knex('admin_logs')
      .whereNot({ type: 'initial' })
      .orderBy('id')
      .select('action', 'subject', 'detail');
    expect(rows.slice(0, 3).map(({ action, subject }) => [action, subject])).toEqual([
      ['organization.change', ''],
      ['project.change', ''],
      ['environment.add', 'Staging'],
    ]);
    expect(rows.slice(-2)).toEqual(
      ['Production', 'Staging'].map((environment) => {
        const path = ['Administrator', environment, '*'];
        const detail = JSON.stringify({ path, before: full, after: reading });
        return { action: 'permission.change', subject: `Administrator/${environment}/*`, detail };
      }),
    );
    expect(changes.length).toBe(2);
    expect(rows.length).toBe(diffRights(first, rich).length + 2);
  });

  test('a change that would leave a user without a team or role is refused as a whole', async () => {
    const place = await createPlace(variant);
    const store = await place.open();
    await store.identity.addUser({ email: 'ada@b.example', team: 'South', role: 'Clerk' });
    const before = await store.rights.read();
    const without = (kind: Right['kind'], name: string) =>
      before.filter((right) => right.kind !== kind || right.path[0] !== name);
    await expect(store.rights.apply(before, [...without('team', 'South'), named('role', 'New')])).rejects.toMatchObject(
      {
        message:
          "team: team 'South' has members (ada@b.example). Assign them another first with 'portico user set', or keep it. No changes were made.",
      },
    );
    await expect(store.rights.apply(before, without('role', 'Clerk'))).rejects.toMatchObject({
      message: expect.stringContaining("role 'Clerk' has members (ada@b.example)"),
    });
    expect(await store.rights.read()).toEqual(before);
    expect(await place.tables().knex('admin_logs').where({ action: 'role.add' })).toEqual([]);
  });

  test('rights that changed after they were read are not overwritten', async () => {
    const place = await createPlace(variant);
    const [store, other] = [await place.open(), await place.open()];
    const before = await store.rights.read();
    await other.permissions.setRole('Member', { orders: reading });
    await expect(store.rights.apply(before, rich)).rejects.toMatchObject({
      message: 'rights: another user has changed them in the meantime. No changes were made; review them again.',
    });
    expect(await store.rights.read()).toEqual([...before, permission('Member', 'Production', reading, 'orders')]);
  });

  test('renaming the only environment keeps it', async () => {
    const place = await createPlace(variant);
    const store = await place.open();
    const { id } = await store.identity.addUser({ email: 'ada@b.example', level: 'admin' });
    const before = await store.rights.read();
    const after = before.map(
      (right): Right =>
        right.kind === 'environment'
          ? named('environment', 'Live')
          : { ...right, path: right.path.map((step) => (step === 'Production' ? 'Live' : step)) },
    );
    expect(await store.rights.apply(before, after)).toEqual([
      { kind: 'environment', path: ['Live'], before: 'Production', after: 'Live' },
    ]);
    expect((await store.identity.place()).environment).toBe('Live');
    expect((await store.permissions.accessOf(id))!.can('delete', 'orders')).toBe(true);
  });

  test('a change of team, role, level, tags and timezone applies to the access immediately', async () => {
    const place = await createPlace(variant);
    const [store, other] = [await place.open(), await place.open()];
    await store.rights.apply(first, [...rich, named('role', 'Member')]);
    const { id } = await store.identity.addUser({
      email: 'ada@b.example',
      tags: { region: 'north', desk: '4' },
      role: 'Member',
    });
    const served = await place.open({ environment: 'Production' });
    expect((await served.permissions.accessOf(id))!.can('read', 'orders')).toBe(false);
    const change = {
      team: 'South',
      role: 'Clerk',
      level: 'editor',
      timezone: 'Europe/Oslo',
      firstName: ' Ada ',
    } as const;
    const changes = await other.members.change(id, { ...change, tags: { region: 'south', desk: null, none: null } });
    const access = (await served.permissions.accessOf(id))!;
    expect([access.caller, access.can('read', 'orders'), access.scope('orders')]).toMatchObject([
      {
        team: 'South',
        role: 'Clerk',
        permissionLevel: 'editor',
        timezone: 'Europe/Oslo',
        firstName: 'Ada',
        tags: { region: 'south' },
      },
      true,
      { ...mine, value: id },
    ]);
    expect(access.caller.tags).toEqual({ region: 'south' });
    const [row] = await place.tables().knex('admin_logs').where({ action: 'user.set' }).select('subject', 'detail');
    expect([row.subject, JSON.parse(row.detail)]).toEqual(['ada@b.example', changes]);
    expect(changes.tags).toEqual({ before: { region: 'north', desk: '4' }, after: { region: 'south' } });
    expect(await other.members.change(id, { ...change, tags: { region: 'south' } })).toEqual({});
  });
});

test.each([
  [{ team: 'operations' }, "team: there is no team 'operations'. Near: Operations."],
  [{ role: 'Membr' }, "role: there is no role 'Membr'. Near: Member."],
  [{ level: 'king' as 'admin' }, 'level: expected one of admin, developer, editor, user.'],
  [{ timezone: 'Mars/Olympus' }, 'timezone: expected an IANA name such as Europe/Paris.'],
  [
    { tags: { 'a=b': 'c' } },
    'tags: expected a key of at most 100 characters without =, { and }, and a value of at most 1,000.',
  ],
])('%j is refused', async (change, message) => {
  const store = await (await createPlace(variants[0]!)).open();
  const { id } = await store.identity.addUser({ email: 'ada@b.example' });
  await expect(store.members.change(id, { firstName: 'Eve', ...change })).rejects.toMatchObject({ message });
  expect((await store.identity.findUser(id))!.firstName).toBe('');
});
