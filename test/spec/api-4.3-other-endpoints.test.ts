// Spec public-http-api 4.3 and, of what it leaves open, reference 6.7.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type NoteDoor, openNoteDoor } from '../api/note-door.ts';

let door: NoteDoor;
beforeAll(async () => {
  door = await openNoteDoor();
});
afterAll(() => door?.shop.stop());

describe('other endpoints', () => {
  test('activity-logs | GET {base_url}/v1/project/{projectName}/environment/{environmentName}/activity-logs', async () => {
    const note = await door.create({ title: 'About the first customer' });
    const path = '/project/My%20project/environment/Production/activity-logs';
    const { status, body } = await door.ask('GET', `${path}?action=createNote&limit=1`);
    expect([note.title, status, body.parameters, body.data.map(({ action, type }: never) => [action, type])]).toEqual([
      'About the first customer',
      200,
      { projectName: 'My project', environmentName: 'Production', limit: 1, action: 'createNote' },
      [['createNote', 'write']],
    ]);
  });

  test('admin-logs | GET {base_url}/v1/project/{projectName}/admin-logs', async () => {
    await door.shop.addUser({ email: 'new@example.com' });
    const { status, body } = await door.ask(
      'GET',
      '/project/My%20project/admin-logs?type=add&resource=user-project&limit=1',
    );
    expect([status, body.parameters, body.data[0].newValue.user.email]).toEqual([
      200,
      { projectName: 'My project', limit: 1, type: 'add', resource: 'user-project' },
      'new@example.com',
    ]);
  });

  test('create and update of notes (write scope exists): notes', async () => {
    const secret = await door.secret(['notes:write']);
    const reader = await door.secret(['notes:read']);
    const given = { title: 'A note', collectionName: 'customers', recordId: '1' };
    const created = await door.ask('POST', '{notes}', { secret, body: given });
    const renamed = await door.ask('PATCH', `{notes}/${created.body.id}`, { secret, body: { title: 'Another' } });
    const refused = await door.ask('POST', '{notes}', { secret: reader, body: given });
    expect([created.status, renamed.status, renamed.body.title, refused.status]).toEqual([201, 200, 'Another', 403]);
  });
});
