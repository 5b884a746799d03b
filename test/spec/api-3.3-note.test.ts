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

  test('archivedAt | an archived note keeps its messages, accepts more, and keeps its time', async () => {
    const { id, messages } = await client.create({ content: 'one' });
    const path = `{notes}/${id}`;
    const { archivedAt } = (await client.ask('PATCH', path, { body: { archived: true, title: 'Over' } })).body;
    const answers = [
      await client.ask('POST', `${path}/messages`, { body: { content: 'two' } }),
      await client.ask('PATCH', `${path}/messages/${messages[0].id}`, { body: { content: 'first' } }),
      await client.ask('PATCH', path, { body: { title: 'Quite over' } }),
      await client.ask('PATCH', path, { body: { archived: true } }),
      await client.ask('GET', path),
    ];
    expect(answers.map(({ status, body }) => [status, body.archivedAt])).toEqual(
      [201, 200, 200, 200, 200].map((status) => [status, archivedAt]),
    );
    expect([answers[4]!.body.title, answers[4]!.body.messages.map((one: { content: string }) => one.content)]).toEqual([
      'Quite over',
      ['first', 'two'],
    ]);
    const listed = (await client.ask('GET', `{notes}?archivedAt.eq=${archivedAt}`)).body.data;
    expect(listed.map((note: { id: number; archivedAt: string }) => [note.id, note.archivedAt])).toEqual([
      [id, archivedAt],
    ]);
  });
});
