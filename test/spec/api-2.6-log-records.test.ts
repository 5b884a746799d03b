// The fields of log records (behaviour api 2.6).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NoteClient, openNoteClient } from '../api/note-client.ts';

let apiClient: NoteClient;
beforeAll(async () => {
  apiClient = await openNoteClient();
  await apiClient.create({ recordId: '2' });
});
afterAll(() => apiClient?.shop.stop());

const id = expect.stringMatching(/^\d+$/);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

test('Activity log records: exactly the fields of reference 6.7', async () => {
  const path = '/project/My%20project/environment/Production/activity-logs';
  const { body } = await apiClient.ask('GET', `${path}?action=createNote`);
  expect(body.data).toEqual([
    {
      object: 'activityLog',
      id,
      type: 'write',
      action: 'createNote',
      recordIds: ['2'],
      createdAt: time,
      user: { object: 'user', id: 1, username: 'Ada Byron', email: apiClient.shop.account.email },
      environment: { object: 'environment', name: 'Production' },
      collection: { object: 'collection', name: 'customers' },
      team: { object: 'team', name: 'Operations' },
    },
  ]);
});

test('Activity log: keeps the id of a deleted user', async () => {
  const { knex } = apiClient.tables();
  const path = '/project/My%20project/environment/Production/activity-logs?action=createNote&limit=1';
  const before = (await apiClient.ask('GET', path)).body.data[0];
  await knex('activity_logs')
    .where({ id: Number(before.id) })
    .update({ user_id: 4711 });
  const after = (await apiClient.ask('GET', path)).body.data[0];
  await knex('activity_logs')
    .where({ id: Number(before.id) })
    .update({ user_id: 1 });
  expect([after.id, after.user]).toEqual([before.id, { object: 'user', id: 4711, username: '', email: '' }]);
});

test('admin log records: exactly the fields of reference 6.7', async () => {
  const ada = (await apiClient.shop.store.identity.findUserByEmail(apiClient.shop.account.email))!;
  const { email } = await apiClient.shop.addUser({ email: 'eve@example.com' });
  const eve = (await apiClient.shop.store.identity.findUserByEmail(email))!;
  await apiClient.shop.store.members.change(eve.id, { level: 'editor' }, ada.id);
  const { body } = await apiClient.ask('GET', '/project/My%20project/admin-logs?type=update&resource=user-project');
  const user = { object: 'user', id: eve.id, username: expect.any(String), email };
  const value = {
    user,
    tags: [],
    role: { object: 'role', name: eve.role },
    teams: [{ object: 'team', name: eve.team }],
  };
  expect(body.data).toEqual([
    {
      object: 'adminLog',
      id,
      type: 'update',
      resource: 'user-project',
      initiator: 'administrator',
      createdAt: time,
      user: { object: 'user', id: ada.id, username: 'Ada Byron', email: ada.email },
      previousValue: { ...value, permissionLevel: eve.level },
      newValue: { ...value, permissionLevel: 'editor' },
    },
  ]);
});

test('Activity log: empty members are absent; details are returned on request; the time is the start of the call', async () => {
  const { activity, permissions } = apiClient.shop.store;
  const { renderingId } = (await permissions.caller(1))!;
  const entry = { userId: 1, renderingId, clientId: 'c', clientName: 'The client', type: 'read', outcome: 'failed', code: 'FORBIDDEN' } as const;
  const startedAt = Date.parse('2024-05-01T10:00:00.123Z');
  activity.record({ ...entry, action: 'list', startedAt, durationMs: 5000 });
  activity.record({ ...entry, action: 'get', collection: 'orders', recordIds: [], startedAt: startedAt + 1, durationMs: 0 });
  await activity.flush();
  const path = '/project/My%20project/environment/Production/activity-logs?createdAt.lt=2024-06-01';
  const read = async (more = '') => (await apiClient.ask('GET', path + more)).body.data;
  const [second, first] = await read();
  const user = { object: 'user', id: 1, username: 'Ada Byron', email: apiClient.shop.account.email };
  const shared = { object: 'activityLog', id, type: 'read', user, environment: { object: 'environment', name: 'Production' }, team: { object: 'team', name: 'Operations' } };
  expect([first, second]).toStrictEqual([
    { ...shared, action: 'index', createdAt: '2024-05-01T10:00:00.123Z' },
    { ...shared, action: 'read', createdAt: '2024-05-01T10:00:00.124Z', recordIds: [], collection: { object: 'collection', name: 'orders' } },
  ]);
  const [, detailed] = await read('&details=true');
  expect([detailed, await read('&details=false')]).toStrictEqual([
    { ...first, call: { outcome: 'failed', code: 'FORBIDDEN', durationMs: 5000, client: { id: 'c', name: 'The client' } } },
    [second, first],
  ]);
}); // biome-ignore format: short

test('admin log: an entry without an author, without a before or an after; tags as pairs; other resources by name', async () => {
  const { identity, members, permissions, tokens } = apiClient.shop.store;
  const { email } = await apiClient.shop.addUser({ email: 'tia@example.com', tags: { level: '2', region: 'south' } });
  const tia = (await identity.findUserByEmail(email))!;
  await members.change(tia.id, { tags: { region: null, area: 'west' } });
  await permissions.setRole('Reader', { orders: { browse: true, read: true, edit: false, add: false, delete: false, export: false } });
  await tokens.create({ userId: tia.id, name: 'hers', scopes: ['notes:read'] }, 1);
  const read = async (query: string) => (await apiClient.ask('GET', `/project/My%20project/admin-logs?${query}`)).body.data[0];
  const added = await read('type=add&resource=user-project');
  const changed = await read('type=update&resource=user-project');
  const token = await read('resource=token');
  expect([Object.keys(added), added.initiator, added.newValue.tags]).toEqual([
    ['object', 'id', 'type', 'resource', 'initiator', 'createdAt', 'newValue'],
    'serviceAdmin',
    [{ key: 'level', value: '2' }, { key: 'region', value: 'south' }],
  ]);
  expect([Object.keys(changed).slice(-2), changed.previousValue.tags.length, changed.newValue.tags]).toEqual([
    ['newValue', 'previousValue'],
    2,
    [{ key: 'area', value: 'west' }, { key: 'level', value: '2' }],
  ]);
  expect([token.user.id, token.initiator, token.type, token.newValue.name.includes('hers'), token.newValue.details.scopes, 'previousValue' in token]).toEqual([1, 'administrator', 'add', true, ['notes:read'], false]);
}); // biome-ignore format: short

test('Activity log: every possible member of an entry, each action by its documented name', async () => {
  const { activity, permissions } = apiClient.shop.store;
  const { renderingId } = (await permissions.caller(1))!;
  const startedAt = Date.parse('2023-05-01T10:00:00.000Z');
  const made = { userId: 1, renderingId, clientId: 'c', clientName: 'The client', type: 'write', outcome: 'completed', durationMs: 7 } as const;
  const effects = [{ collection: 'orders', change: 'deleted', cause: 'cascade', count: 2, ids: ['1', '2'] }, { collection: 'customers', change: 'updated', cause: 'code', count: 3 }] as const;
  const workflow = { name: 'Refund', runId: '0b4f6c1e-8a55-4a53-9d0c-2f7f6f1f7a10', stepName: 'Look', optionName: 'Yes' };
  activity.record({ ...made, action: 'delete', collection: 'orders', recordIds: ['1', '2|3'], startedAt, effects, workflow, approvalId: 'the approval' });
  activity.record({ ...made, action: 'update', collection: 'orders', recordIds: ['1'], startedAt: startedAt + 1, dryRun: true });
  const names = { list: 'index', get: 'read', listRelated: 'listRelatedData', executeAction: 'action', approve: 'approveApproval', deny: 'rejectApproval', create: 'create', aggregate: 'aggregate' };
  for (const [at, action] of Object.keys(names).entries()) activity.record({ ...made, action, startedAt: startedAt + 2 + at });
  await activity.flush();
  const path = '/project/My%20project/environment/Production/activity-logs';
  const { body } = await apiClient.ask('GET', `${path}?limit=100&details=true&createdAt.lt=2023-06-01`);
  const [second, first] = body.data.slice(-2);
  const call = { outcome: 'completed', durationMs: 7, client: { id: 'c', name: 'The client' } };
  expect([first.workflow, first.recordIds, first.call, second.call]).toStrictEqual([
    { object: 'workflow', ...workflow },
    ['1', '2|3'],
    { ...call, approvalId: 'the approval', effects },
    { ...call, dryRun: true },
  ]);
  expect(body.data.slice(0, -2).map(({ action }: { action: string }) => action)).toEqual(Object.values(names).toReversed());
  for (const [own, name] of Object.entries(names)) {
    const { body } = await apiClient.ask('GET', `${path}?action=${name}&createdAt.lt=2023-06-01`);
    expect([own, body.data.length]).toEqual([own, 1]);
  }
  const { knex } = apiClient.tables();
  await knex('activity_logs').where({ id: Number(first.id) }).update({ rendering_id: 99_999 });
  const { body: left } = await apiClient.ask('GET', `${path}?action=delete&createdAt.lt=2023-06-01`);
  expect(left.data[0].team).toStrictEqual({ object: 'team', name: '(removed)' });
}); // biome-ignore format: short

test('admin log: roles, teams and environments have a name, others details too; each level and the team of a member', async () => {
  const { identity, members, rights, permissions } = apiClient.shop.store;
  const before = await rights.read();
  await rights.apply(before, [...before, { kind: 'team', path: ['East'], value: 'East' }]);
  await permissions.setRole('Auditor', {});
  const read = async (query: string) => (await apiClient.ask('GET', `/project/My%20project/admin-logs?limit=100&${query}`)).body.data;
  const [team] = await read('resource=team&type=add');
  const [role] = await read('resource=role');
  const [environment] = await read('resource=environment');
  expect([team.newValue, role.newValue, environment.newValue]).toStrictEqual([{ name: 'East' }, { name: 'Auditor' }, { name: 'Production', codeCustomizationVersion: 0 }]);
  const { email } = await apiClient.shop.addUser({ email: 'lev@example.com', level: 'user' });
  const { id: userId } = (await identity.findUserByEmail(email))!;
  const levels = ['editor', 'developer', 'admin', 'user'] as const;
  for (const level of levels) await members.change(userId, { level, team: level === 'admin' ? 'East' : 'Operations' }, 1);
  const changes = (await read('type=update&resource=user-project')).slice(0, levels.length).toReversed();
  expect(changes.map(({ previousValue, newValue }: { previousValue: Record<string, unknown>; newValue: Record<string, unknown> }) => [previousValue.permissionLevel, newValue.permissionLevel, newValue.teams, newValue.role])).toEqual(
    levels.map((level, at) => [levels[at - 1] ?? 'user', level, [{ object: 'team', name: level === 'admin' ? 'East' : 'Operations' }], { object: 'role', name: 'Member' }]),
  );
}); // biome-ignore format: short
