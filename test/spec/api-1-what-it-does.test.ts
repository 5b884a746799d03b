// Section 1 of the public API: its paths contain a project and, for most endpoints, an environment.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NoteClient, openNoteClient } from '../api/note-client.ts';

let client: NoteClient;
beforeAll(async () => {
  client = await openNoteClient();
});
afterAll(() => client?.shop.stop());

const statusOf = async (path: string) => (await client.ask('GET', path)).status;

test('project | paths are scoped to a project', async () => {
  expect([
    await statusOf('/project/My%20project/tokens'),
    await statusOf('/project/My%20Project/tokens'),
    await statusOf('/project/Another/tokens'),
    await statusOf('/project/My%20project%20/tokens'),
    await statusOf('/project/Production/tokens'),
    await statusOf('/project//tokens'),
    await statusOf('/project/My%20project%20/admin-logs'),
    await statusOf('/project/Another/environment/Production/notes'),
  ]).toEqual([200, ...Array(7).fill(404)]);
});

test('environment | and, for most endpoints, to an environment', async () => {
  expect([
    await statusOf('/project/My%20project/environment/Production/notes'),
    await statusOf('/project/My%20project/environment/production/notes'),
    await statusOf('/project/My%20project/environment/Staging/notes'),
    await statusOf('/project/My%20project/environment/Production%20/activity-logs'),
    await statusOf('/project/My%20project/environment/My%20project/notes'),
    await statusOf('/project/My%20project/notes'),
  ]).toEqual([200, ...Array(5).fill(404)]);
});

test.each(['notes', 'notes/1', 'activity-logs', 'activity-logs/export', 'workflows', 'workflow-runs'])(
  'project, environment | both names must match exactly, in their positions: %s',
  async (name) => {
    const at = (project: string, environment: string) => `/project/${project}/environment/${environment}/${name}`;
    const wrong = [
      'my%20project',
      'My+project',
      'My%20project/',
      'Production',
      '%20',
      'My%20projec',
      'My%20project%00',
    ];
    const others = ['production', 'Productio', 'Productions', 'My%20project', '', '%20Production', 'Production%20'];
    const right = await statusOf(at('My%20project', 'Production'));
    expect([
      right === 200 || (name === 'notes/1' && right === 404),
      await statusOf(at('M%79%20project', 'Pr%6Fduction')),
    ]).toEqual([true, right]);
    const seen = [];
    for (const one of wrong) seen.push(await statusOf(at(one, 'Production')));
    for (const one of others) seen.push(await statusOf(at('My%20project', one)));
    expect(seen).toEqual(Array(wrong.length + others.length).fill(404));
  },
);

test('project | also for changes of the project: another name revokes no token', async () => {
  const secret = await client.secret(['notes:read']);
  const { id } = (await client.ask('GET', '/token', { secret })).body;
  for (const name of ['Another', 'my%20project', 'Production'])
    expect((await client.ask('DELETE', `/project/${name}/tokens/${id}`)).status).toBe(404);
  expect((await client.ask('GET', '/token', { secret })).status).toBe(200);
});

test('project, environment | the error names the one that does not exist, the project first', async () => {
  const messageAt = async (path: string) => (await client.ask('GET', path)).body.message;
  expect([
    await messageAt('/project/Another/environment/Staging/notes'),
    await messageAt('/project/My%20project/environment/Staging/notes'),
    await messageAt('/project/My%20project/environment/production/activity-logs'),
  ]).toEqual([
    "Not found: project 'Another'.",
    "Not found: environment 'Staging'.",
    "Not found: environment 'production'.",
  ]);
});
