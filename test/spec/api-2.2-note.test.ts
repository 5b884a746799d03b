// The fields of a note (spec public-http-api 2.2), as the list gives them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type NoteDoor, openNoteDoor } from '../api/note-door.ts';

let door: NoteDoor;
beforeAll(async () => {
  door = await openNoteDoor();
});
afterAll(() => door?.shop.stop());

async function listed(id: number) {
  const { body } = await door.ask('GET', '{notes}?limit=100');
  return body.data.find((note: { id: number }) => note.id === id);
}

const made = async (given: Readonly<Record<string, unknown>> = {}) => listed((await door.create(given)).id);
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('api 2.2 Note', () => {
  test('object | string | constant `note`', async () => {
    expect((await made()).object).toBe('note');
  });

  test('id | integer | note id; the sort key', async () => {
    const [one, two] = [await made(), await made()];
    expect([Number.isInteger(one.id), two.id > one.id, await door.ids('?limit=2')]).toEqual([
      true,
      true,
      [two.id, one.id],
    ]);
  });

  test('title | string |', async () => {
    expect((await made({ title: 'Called “twice” <b>' })).title).toBe('Called “twice” <b>');
  });

  test('recordId | string | id of the record the note is attached to', async () => {
    expect((await made({ recordId: '17' })).recordId).toBe('17');
  });

  test('createdAt | string, ISO 8601 | creation time', async () => {
    const before = Date.now();
    const { createdAt } = await made();
    expect(createdAt).toMatch(iso);
    expect(Math.abs(Date.parse(createdAt) - before)).toBeLessThan(5000);
  });

  test('updatedAt | string, ISO 8601 | last update of the note or of one of its messages', async () => {
    const { id, createdAt, updatedAt } = await made({ content: 'x' });
    await door.ask('PATCH', `{notes}/${id}`, { body: { title: 'Renamed' } });
    const renamed = (await listed(id)).updatedAt;
    const { body } = await door.ask('POST', `{notes}/${id}/messages`, { body: { content: 'y' } });
    const added = (await listed(id)).updatedAt;
    await door.ask('PATCH', `{notes}/${id}/messages/${body.messages[0].id}`, { body: { content: 'z' } });
    const edited = (await listed(id)).updatedAt;
    expect([updatedAt, renamed > updatedAt, added > renamed, edited > added]).toEqual([createdAt, true, true, true]);
    expect(edited).toMatch(iso);
  });

  test('archivedAt | string, ISO 8601 | present when the note is archived', async () => {
    const note = await made();
    await door.ask('PATCH', `{notes}/${note.id}`, { body: { archived: true } });
    expect([Object.hasOwn(note, 'archivedAt'), (await listed(note.id)).archivedAt]).toEqual([
      false,
      expect.stringMatching(iso),
    ]);
  });

  test('user | User | creator', async () => {
    const zoe = await door.shop.addUser({ email: 'zoe@example.com', firstName: 'Zoe', level: 'admin' });
    const { id } = await door.create({}, await door.secret(['all'], zoe.email));
    expect((await listed(id)).user).toMatchObject({ email: 'zoe@example.com', username: 'Zoe' });
  });

  test('environment | Environment | environment the note is attached to', async () => {
    expect((await made()).environment).toStrictEqual({ object: 'environment', name: 'Production' });
  });

  test('team | Team | team the note is attached to', async () => {
    const yan = await door.shop.addUser({ email: 'yan@example.com', level: 'admin', team: 'South' });
    const { id } = await door.create({}, await door.secret(['all'], yan.email));
    expect((await listed(id)).team).toStrictEqual({ object: 'team', name: 'South' });
  });

  test('collection | Collection | may be missing on notes created on collections that were deleted: never null', async () => {
    const note = await made({ collectionName: 'orders' });
    const { knex } = door.tables();
    await knex('notes').where({ id: note.id }).update({ collection: null });
    const after = await listed(note.id);
    expect([note.collection, Object.hasOwn(after, 'collection')]).toEqual([
      { object: 'collection', name: 'orders' },
      false,
    ]);
  });

  test('messages | array of Note message | thread of the note', async () => {
    const { id, messages } = await made({ content: 'one' });
    await door.ask('POST', `{notes}/${id}/messages`, { body: { content: 'two' } });
    const texts = (await listed(id)).messages.map(({ content }: { content: string }) => content);
    expect([messages.length, texts]).toEqual([1, ['one', 'two']]);
  });
});
