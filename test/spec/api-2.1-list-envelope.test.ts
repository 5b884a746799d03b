// The envelope of the list of notes (spec public-http-api 2.1).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type NoteDoor, openNoteDoor } from '../api/note-door.ts';

let door: NoteDoor;
beforeAll(async () => {
  door = await openNoteDoor();
  for (const title of ['first', 'second', 'third']) await door.create({ title });
});
afterAll(() => door?.shop.stop());

const list = async (query: string) => (await door.ask('GET', `{notes}${query}`)).body;

describe('api 2.1 List envelope', () => {
  test('hasMore | boolean | true when more notes exist after this set', async () => {
    const [two, three, last] = [await list('?limit=2'), await list('?limit=3'), await list('?limit=1&recordId=2')];
    expect([two.hasMore, three.hasMore, last.hasMore]).toEqual([true, false, false]);
  });

  test('parameters | object | echo of the request: projectName (string), environmentName (string), limit (integer)', async () => {
    const place = { projectName: 'My project', environmentName: 'Production' };
    expect([
      (await list('')).parameters,
      (await list('?limit=2&userId=1&teamName=Operations')).parameters,
    ]).toStrictEqual([
      { ...place, limit: 10 },
      { ...place, limit: 2, userId: 1, teamName: 'Operations' },
    ]);
  });

  test('data | array of Note | notes, newest id first', async () => {
    const { data } = await list('');
    const ids = data.map(({ id }: { id: number }) => id);
    expect([data.map(({ title }: { title: string }) => title), ids]).toEqual([
      ['third', 'second', 'first'],
      ids.toSorted((a: number, b: number) => b - a),
    ]);
  });
});
