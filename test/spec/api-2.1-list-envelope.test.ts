// The envelope of the list of notes (behaviour api 2.1).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type NoteClient, openNoteClient } from '../api/note-client.ts';

let client: NoteClient;
beforeAll(async () => {
  client = await openNoteClient();
  for (const title of ['first', 'second', 'third']) await client.create({ title });
});
afterAll(() => client?.shop.stop());

const list = async (query: string) => (await client.ask('GET', `{notes}${query}`)).body;

describe('api 2.1 List envelope', () => {
  test('hasMore | boolean | true when more notes exist after this set', async () => {
    const asked = ['?limit=2', '?limit=3', '?limit=4', '?limit=1&recordId=2', '?limit=1&recordId=1', '?recordId=77'];
    const answers = [];
    for (const query of asked) answers.push(await list(query));
    expect(answers.map(({ hasMore, data }) => [hasMore, data.length])).toEqual([
      [true, 2],
      [false, 3],
      [false, 3],
      [false, 0],
      [true, 1],
      [false, 0],
    ]);
  });

  test('hasMore | boolean | also with filters by each time', async () => {
    const since = '2020-01-01';
    const answers = [];
    for (const name of ['createdAt', 'updatedAt'])
      for (const limit of [1, 2, 3]) answers.push(await list(`?limit=${limit}&recordId=1&${name}.gte=${since}`));
    for (const name of ['createdAt', 'updatedAt', 'archivedAt'])
      for (const limit of [1, 3]) answers.push(await list(`?limit=${limit}&${name}.gte=${since}`));
    const two = [[true, 1], [true, 2], [false, 3]];
    expect(answers.map(({ hasMore, data }) => [hasMore, data.length])).toEqual([
      ...[...two, ...two],
      ...[[true, 1], [false, 3], [true, 1], [false, 3], [false, 0], [false, 0]],
    ]);
  }); // biome-ignore format: short

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

  test('hasMore | boolean | counts only filtered notes; each page begins where the previous one ended', async () => {
    await client.create({ title: 'other', recordId: '2' });
    const one = await list('?limit=1&recordId=2');
    const titles = [];
    let page = await list('?limit=2&recordId=1');
    titles.push(page.data.map(({ title }: { title: string }) => title));
    page = await list(`?limit=2&recordId=1&cursor=${page.nextCursor}`);
    titles.push(page.data.map(({ title }: { title: string }) => title));
    const none = await list('?recordId=3');
    expect([one.hasMore, titles, page.hasMore, Object.hasOwn(page, 'nextCursor'), none.hasMore, none.data]).toEqual([
      ...[false, [['third', 'second'], ['first']], false, false],
      ...[false, []],
    ]);
  });

  test('parameters | object | every filter as sent, numbers as numbers', async () => {
    const sent = {
      ...{
        userEmail: 'ada@example.com',
        userId: 1,
        teamName: 'Operations',
        collectionName: 'customers',
        recordId: '01',
      },
      ...{
        'createdAt.gte': '2020-01-01',
        'updatedAt.lt': '2999-01-01T00:00:00+01:00',
        'archivedAt.eq': '2020-01-01T00',
      },
    };
    const query = new URLSearchParams(
      Object.entries(sent).map(([name, value]): [string, string] => [name, `${value}`]),
    );
    expect((await list(`?limit=100&${query}`)).parameters).toStrictEqual({
      ...{ projectName: 'My project', environmentName: 'Production', limit: 100 },
      ...sent,
    });
  });

  test('parameters, hasMore, data | with a cursor: the request is echoed without it, and its page has the remaining notes', async () => {
    const first = await list('?limit=1&teamName=Operations');
    const next = await list(`?limit=1&teamName=Operations&cursor=${first.nextCursor}`);
    const whole = await list('?limit=100');
    expect([first.parameters, next.parameters, Object.keys(whole), whole.parameters.limit]).toStrictEqual([
      ...Array(2).fill({ projectName: 'My project', environmentName: 'Production', limit: 1, teamName: 'Operations' }),
      ['hasMore', 'parameters', 'data'],
      100,
    ]);
    expect([first.data[0].id, next.data[0].id]).toEqual(
      whole.data.slice(0, 2).map(({ id }: { readonly id: number }) => id),
    );
  });

  test('data | array of Note | notes, newest id first, whichever changed last', async () => {
    const [, , { id: oldest }] = (await list('?recordId=1')).data;
    await client.ask('PATCH', `{notes}/${oldest}`, { body: { archived: true } });
    const { data } = await list('?recordId=1');
    expect((await list('?limit=2&recordId=1')).data.map(({ title }: { title: string }) => title)).toEqual([
      'third',
      'second',
    ]);
    const ids = data.map(({ id }: { id: number }) => id);
    expect([data.map(({ title }: { title: string }) => title), ids]).toEqual([
      ['third', 'second', 'first'],
      ids.toSorted((a: number, b: number) => b - a),
    ]);
  });

  test('hasMore, data, parameters | over three pages by cursor: true except on the last; each note once', async () => {
    for (const title of ['p', 'q', 'r', 's', 't']) await client.create({ title, recordId: '9' });
    for (const filter of ['', '&createdAt.gte=2020-01-01', '&updatedAt.gte=2020-01-01']) {
      const pages = [];
      for (let cursor = ''; ; ) {
        const page = await list(`?limit=2&recordId=9${filter}${cursor}`);
        pages.push(page);
        if (!page.hasMore) break;
        cursor = `&cursor=${page.nextCursor}`;
      }
      expect(pages.map(({ hasMore, data }) => [hasMore, data.map(({ title }: { title: string }) => title)])).toEqual([
        [true, ['t', 's']],
        [true, ['r', 'q']],
        [false, ['p']],
      ]);
      expect(pages.map(({ parameters }) => parameters)).toEqual(Array(3).fill(pages[0].parameters));
    }
    const exact = await list('?limit=5&recordId=9');
    const over = await list('?limit=6&recordId=9');
    expect([exact, over].map(({ hasMore, nextCursor, data }) => [hasMore, nextCursor, data.length])).toEqual(
      Array(2).fill([false, undefined, 5]),
    );
  });

  test('data, hasMore | only notes of this environment, even if another one has a note of the same moment', async () => {
    const { id } = await client.create({ title: 'ours', recordId: '8' });
    const { knex } = client.tables();
    const { id: own, is_archived, ...row } = await knex('notes').where({ id }).first();
    const { project_id } = await knex('environments').where({ id: row.environment_id }).first();
    const insert = async (table: string, values: object) => (await knex(table).insert(values).returning('id'))[0].id;
    const environment_id = await insert('environments', { project_id, name: 'Another', created_at: 1 });
    const theirs = await insert('notes', { ...row, environment_id, title: 'theirs' });
    const page = await list('?recordId=8');
    const answers = [
      await client.ask('GET', `{notes}/${theirs}`),
      await client.ask('PATCH', `{notes}/${theirs}`, { body: { title: 'ours too' } }),
      await client.ask('POST', `{notes}/${theirs}/messages`, { body: { content: 'x' } }),
    ];
    const { title } = await knex('notes').where({ id: theirs }).first();
    await knex('notes').where({ id: theirs }).delete();
    await knex('environments').where({ id: environment_id }).delete();
    expect([page.hasMore, page.data.map((note: { id: number }) => note.id), title]).toEqual([false, [own], 'theirs']);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
  });
});
