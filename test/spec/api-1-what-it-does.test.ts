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
