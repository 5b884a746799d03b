// Section 1 of the public API: its paths name a project, and for most endpoints an environment.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NoteDoor, openNoteDoor } from '../api/note-door.ts';

let door: NoteDoor;
beforeAll(async () => {
  door = await openNoteDoor();
});
afterAll(() => door?.shop.stop());

const statusOf = async (path: string) => (await door.ask('GET', path)).status;

test('project | paths are scoped to a project', async () => {
  expect([
    await statusOf('/project/My%20project/tokens'),
    await statusOf('/project/My%20Project/tokens'),
    await statusOf('/project/Another/tokens'),
  ]).toEqual([200, 404, 404]);
});

test('environment | and, for most endpoints, to an environment', async () => {
  expect([
    await statusOf('/project/My%20project/environment/Production/notes'),
    await statusOf('/project/My%20project/environment/production/notes'),
    await statusOf('/project/My%20project/environment/Staging/notes'),
  ]).toEqual([200, 404, 404]);
});
