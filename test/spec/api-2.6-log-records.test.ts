// Spec public-http-api 2.6 does not show the fields of these records; reference 6.7 does.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NoteDoor, openNoteDoor } from '../api/note-door.ts';

let door: NoteDoor;
beforeAll(async () => {
  door = await openNoteDoor();
});
afterAll(() => door?.shop.stop());

const id = expect.stringMatching(/^\d+$/);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

test('Activity log records: the fields of reference 6.7, and no others', async () => {
  await door.create({ recordId: '2' });
  const path = '/project/My%20project/environment/Production/activity-logs';
  const { body } = await door.ask('GET', `${path}?action=createNote`);
  expect(body.data).toEqual([
    {
      object: 'activityLog',
      id,
      type: 'write',
      action: 'createNote',
      recordIds: ['2'],
      createdAt: time,
      user: { object: 'user', id: 1, username: 'Ada Byron', email: door.shop.account.email },
      environment: { object: 'environment', name: 'Production' },
      collection: { object: 'collection', name: 'customers' },
      team: { object: 'team', name: 'Operations' },
    },
  ]);
});

test('admin log records: the fields of reference 6.7, and no others', async () => {
  const ada = (await door.shop.store.identity.findUserByEmail(door.shop.account.email))!;
  const { email } = await door.shop.addUser({ email: 'eve@example.com' });
  const eve = (await door.shop.store.identity.findUserByEmail(email))!;
  await door.shop.store.members.change(eve.id, { level: 'editor' }, ada.id);
  const { body } = await door.ask('GET', '/project/My%20project/admin-logs?type=update&resource=user-project');
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
