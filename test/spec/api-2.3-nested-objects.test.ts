// What a note holds (spec public-http-api 2.3): each object with these fields and no others.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type NoteDoor, openNoteDoor } from '../api/note-door.ts';

let door: NoteDoor;
// biome-ignore lint/suspicious/noExplicitAny: each test says what it expects of it
let note: any;
beforeAll(async () => {
  door = await openNoteDoor();
  await door.create({ collectionName: 'orders', content: '<p>Text with <em>markup</em></p>' });
  note = (await door.ask('GET', '{notes}')).body.data[0];
});
afterAll(() => door?.shop.stop());

const user = { object: 'user', id: 1, username: 'Ada Byron', email: 'ada@example.com' };

describe('api 2.3 Nested objects', () => {
  test('User | object (constant `user`), id (integer), username (string), email (string)', () => {
    expect(note.user).toStrictEqual(user);
  });

  test('Environment | object (constant `environment`), name (string)', () => {
    expect(note.environment).toStrictEqual({ object: 'environment', name: 'Production' });
  });

  test('Team | object (constant `team`), name (string)', () => {
    expect(note.team).toStrictEqual({ object: 'team', name: 'Operations' });
  });

  test('Collection | object (constant `collection`), name (string, as defined in the schema)', () => {
    expect(note.collection).toStrictEqual({ object: 'collection', name: 'orders' });
  });

  test('Note message | object (constant `note-message`), content (string, HTML), createdAt (string, ISO 8601), user (User)', () => {
    expect(note.messages).toStrictEqual([
      {
        object: 'note-message',
        content: '<p>Text with <em>markup</em></p>',
        createdAt: expect.stringMatching(new RegExp(`^${note.createdAt.slice(0, 10)}T\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$`)),
        user,
      },
    ]);
  });
});
