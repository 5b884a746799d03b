// The state of a note (behaviour api 3.3).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type NoteClient, openNoteClient } from '../api/note-client.ts';

let client: NoteClient;
beforeAll(async () => {
  client = await openNoteClient();
});
afterAll(() => client?.shop.stop());

describe('api 3.3 Note', () => {
  test('archivedAt | a note is archived when it is present, and open again when it is not', async () => {
    const { id } = await client.create({});
    const set = (archived: boolean) => client.ask('PATCH', `{notes}/${id}`, { body: { archived } });
    const archivedOnes = '?archivedAt.gte=2000-01-01T00:00:00Z';
    const [open, whileOpen] = [(await client.ask('GET', `{notes}/${id}`)).body, await client.ids(archivedOnes)];
    const [archived, while_] = [(await set(true)).body, await client.ids(archivedOnes)];
    const [back, after] = [(await set(false)).body, await client.ids(archivedOnes)];
    expect([
      [open, archived, back].map((note) => Object.hasOwn(note, 'archivedAt')),
      [whileOpen, while_, after],
    ]).toEqual([
      [false, true, false],
      [[], [id], []],
    ]);
  });
});
