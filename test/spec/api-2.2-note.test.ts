// The fields of a note (behaviour api 2.2) in the list.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type NoteClient, openNoteClient } from '../api/note-client.ts';

let client: NoteClient;
beforeAll(async () => {
  client = await openNoteClient();
});
afterAll(() => client?.shop.stop());

async function listed(id: number) {
  const { body } = await client.ask('GET', '{notes}?limit=100');
  return body.data.find((note: { id: number }) => note.id === id);
}

const made = async (given: Readonly<Record<string, unknown>> = {}) => listed((await client.create(given)).id);
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('api 2.2 Note', () => {
  test('object | string | constant `note`', async () => {
    expect((await made()).object).toBe('note');
  });

  test('id | integer | note id; the sort key', async () => {
    const [one, two] = [await made(), await made()];
    expect([Number.isInteger(one.id), two.id > one.id, await client.ids('?limit=2')]).toEqual([
      true,
      true,
      [two.id, one.id],
    ]);
  });

  test('title | string |', async () => {
    expect((await made({ title: 'Called “twice” <b>' })).title).toBe('Called “twice” <b>');
  });

  test('title | string | one line: control characters and line breaks become one space, on creation and on a change', async () => {
    const sent = ' One\u0007two\u0000\u0085three\r\n\tfour\u001b ';
    const { id, title } = await made({ title: sent });
    const { body } = await client.ask('PATCH', `{notes}/${id}`, { body: { title: `${sent}five` } });
    const empty = await client.ask('PATCH', `{notes}/${id}`, { body: { title: '\u0000\u0007' } });
    expect([title, body.title, empty.status]).toEqual(['One two three four', 'One two three four five', 400]);
  });

  test('id | integer | has one form: with zeros before it, there is no such note or message', async () => {
    const { id } = await client.create({ content: 'first' });
    const { body } = await client.ask('GET', `{notes}/${id}`);
    const message = body.messages[0].id;
    const calls: readonly (readonly [method: string, path: string, body?: object])[] = [
      ['GET', `{notes}/0${id}`],
      ['PATCH', `{notes}/0${id}`, { title: 'Other' }],
      ['POST', `{notes}/00${id}/messages`, { content: 'other' }],
      ['PATCH', `{notes}/0${id}/messages/${message}`, { content: 'other' }],
      ['PATCH', `{notes}/${id}/messages/0${message}`, { content: 'other' }],
    ];
    const statuses: number[] = [];
    for (const [method, path, sent] of calls)
      statuses.push((await client.ask(method, path, sent && { body: sent })).status);
    expect([statuses, (await client.ask('GET', `{notes}/${id}`)).body]).toEqual([Array(5).fill(404), body]);
  });

  test('recordId | string | id of the record the note is attached to', async () => {
    for (const recordId of ['17', '18']) expect((await made({ recordId })).recordId).toBe(recordId);
  });

  test('title | string | as last written; recordId | string | a composite key in packed form', async () => {
    const [line] = await client.shop.ask('SELECT order_id, product_id FROM order_items LIMIT 1');
    const packed = `${line!.order_id}|${line!.product_id}`;
    const { id, recordId } = await made({ collectionName: 'order_items', recordId: packed, title: 'Before' });
    await client.ask('PATCH', `{notes}/${id}`, { body: { title: 'After' } });
    const number = await made({ recordId: '1' });
    expect([recordId, (await listed(id)).title, (await listed(id)).recordId, number.recordId]).toEqual([
      packed,
      'After',
      packed,
      '1',
    ]);
  });

  test('createdAt | string, ISO 8601 | never changes; updatedAt | string, ISO 8601 | changes on archiving', async () => {
    const note = await made();
    const seen: { readonly createdAt: string; readonly updatedAt: string }[] = [];
    for (const body of [{ title: 'B' }, { archived: true }, { archived: false }]) {
      await client.ask('PATCH', `{notes}/${note.id}`, { body });
      seen.push(await listed(note.id));
    }
    const moved = seen.map(({ updatedAt }, at) => updatedAt > (seen[at - 1] ?? note).updatedAt);
    expect([seen.map(({ createdAt }) => createdAt), moved]).toEqual([
      Array(3).fill(note.createdAt),
      [true, true, true],
    ]);
  });

  test('archivedAt | string, ISO 8601 | when the note was archived; archiving it again keeps it', async () => {
    const [note, other] = [await made(), await made()];
    const archive = () => client.ask('PATCH', `{notes}/${note.id}`, { body: { archived: true } });
    const before = Date.now();
    await archive();
    const first = (await listed(note.id)).archivedAt;
    await archive();
    expect([
      (await listed(note.id)).archivedAt,
      Date.parse(first) >= before && Date.parse(first) <= Date.now(),
    ]).toEqual([first, true]);
    const reopened = await client.ask('PATCH', `{notes}/${note.id}`, { body: { archived: false } });
    expect([Object.hasOwn(reopened.body, 'archivedAt'), Object.hasOwn(await listed(note.id), 'archivedAt')]).toEqual([
      false,
      false,
    ]);
    await archive();
    expect((await listed(note.id)).archivedAt > first).toBe(true);
    expect(Object.hasOwn(await listed(other.id), 'archivedAt')).toBe(false);
  });

  test('user | User | the creator, whoever writes later; team | Team | the team at creation', async () => {
    const { email } = await client.shop.addUser({ email: 'wim@example.com', level: 'admin', team: 'West' });
    const { id } = await client.create({ content: 'mine' }, await client.secret(['all'], email));
    await client.ask('PATCH', `{notes}/${id}`, { body: { title: 'Ada was here' } });
    await client.ask('POST', `{notes}/${id}/messages`, { body: { content: 'yours' } });
    const wim = (await client.shop.store.identity.findUserByEmail(email))!;
    await client.shop.store.members.change(wim.id, { team: 'Operations' });
    const { user, team, messages } = await listed(id);
    expect([user.email, team.name, messages.map((one: { user: { email: string } }) => one.user.email)]).toEqual([
      'wim@example.com',
      'West',
      ['wim@example.com', 'ada@example.com'],
    ]);
  });

  test('createdAt | string, ISO 8601 | creation time', async () => {
    const before = Date.now();
    const { id, createdAt } = await made();
    await client.ask('PATCH', `{notes}/${id}`, { body: { title: 'Renamed' } });
    expect((await listed(id)).createdAt).toBe(createdAt);
    expect(createdAt).toMatch(iso);
    expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(createdAt)).toBeLessThanOrEqual(Date.now());
  });

  test('updatedAt | string, ISO 8601 | last update of the note or of one of its messages', async () => {
    const { id, createdAt, updatedAt } = await made({ content: 'x' });
    await client.ask('PATCH', `{notes}/${id}`, { body: { title: 'Renamed' } });
    const renamed = (await listed(id)).updatedAt;
    const { body } = await client.ask('POST', `{notes}/${id}/messages`, { body: { content: 'y' } });
    const added = (await listed(id)).updatedAt;
    await client.ask('PATCH', `{notes}/${id}/messages/${body.messages[0].id}`, { body: { content: 'z' } });
    const edited = (await listed(id)).updatedAt;
    expect([updatedAt, renamed > updatedAt, added > renamed, edited > added]).toEqual([createdAt, true, true, true]);
    expect(edited).toMatch(iso);
  });

  test('archivedAt | string, ISO 8601 | present when the note is archived', async () => {
    const note = await made();
    const before = Date.now();
    await client.ask('PATCH', `{notes}/${note.id}`, { body: { archived: true } });
    const { archivedAt } = await listed(note.id);
    expect(Date.parse(archivedAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(archivedAt)).toBeLessThanOrEqual(Date.now());
    expect([Object.hasOwn(note, 'archivedAt'), (await listed(note.id)).archivedAt]).toEqual([
      false,
      expect.stringMatching(iso),
    ]);
  });

  test('user | User | creator', async () => {
    const zoe = await client.shop.addUser({ email: 'zoe@example.com', firstName: 'Zoe', level: 'admin' });
    const { id } = await client.create({}, await client.secret(['all'], zoe.email));
    await client.ask('POST', `{notes}/${id}/messages`, { body: { content: 'of somebody else' } });
    await client.ask('PATCH', `{notes}/${id}`, { body: { title: 'Renamed by somebody else' } });
    expect((await listed(id)).user).toMatchObject({ email: 'zoe@example.com', username: 'Zoe' });
  });

  test('environment | Environment | environment the note is attached to', async () => {
    expect((await made()).environment).toStrictEqual({ object: 'environment', name: 'Production' });
  });

  test('team | Team | team the note is attached to', async () => {
    const yan = await client.shop.addUser({ email: 'yan@example.com', level: 'admin', team: 'South' });
    const { id } = await client.create({}, await client.secret(['all'], yan.email));
    await client.ask('PATCH', `{notes}/${id}`, { body: { title: 'Renamed from another team' } });
    expect((await listed(id)).team).toStrictEqual({ object: 'team', name: 'South' });
  });

  test('collection | Collection | the name in its own case', async () => {
    const { knex } = client.tables();
    const { id } = await made({ collectionName: 'orders' });
    await knex('notes').where({ id }).update({ collection: 'Order_Items' });
    const { body } = await client.ask('GET', `{notes}/${id}`);
    expect(body.collection).toStrictEqual({ object: 'collection', name: 'Order_Items' });
  });

  test('collection | Collection | may be missing on notes created on collections that were deleted: never null', async () => {
    const note = await made({ collectionName: 'orders' });
    const { knex } = client.tables();
    await knex('notes').where({ id: note.id }).update({ collection: null });
    const after = await listed(note.id);
    expect([note.collection, Object.hasOwn(after, 'collection')]).toEqual([
      { object: 'collection', name: 'orders' },
      false,
    ]);
  });

  test('messages | array of Note message | thread of the note', async () => {
    const { id, messages } = await made({ content: 'one' });
    const { body } = await client.ask('POST', `{notes}/${id}/messages`, { body: { content: 'two' } });
    const texts = (await listed(id)).messages.map(({ content }: { content: string }) => content);
    await client.ask('PATCH', `{notes}/${id}/messages/${body.messages[0].id}`, { body: { content: 'first' } });
    const after = (await listed(id)).messages.map(({ content }: { content: string }) => content);
    expect([messages.length, texts, after]).toEqual([1, ['one', 'two'], ['first', 'two']]);
    // In the order of writing, not of their texts.
    await client.ask('POST', `{notes}/${id}/messages`, { body: { content: 'alpha' } });
    expect((await listed(id)).messages.map(({ content }: { content: string }) => content)).toEqual([
      'first',
      'two',
      'alpha',
    ]);
    const thread = (await client.ask('GET', `{notes}/${id}`)).body.messages;
    expect(thread.map(({ content }: { content: string }) => content)).toEqual(['first', 'two', 'alpha']);
    expect((await made()).messages).toEqual([]);
  });

  test('title, updatedAt, messages | stored exactly; an edit without a change keeps the time; each note of a page has its own thread', async () => {
    const one = await client.create({ title: 'Call', content: 'same' });
    const two = await client.create({ title: 'Other' });
    for (const content of ['first', 'second', 'third'])
      await client.ask('POST', `{notes}/${two.id}/messages`, { body: { content } });
    for (const [path, body] of [
      [`{notes}/${one.id}`, { title: 'Call' }],
      [`{notes}/${one.id}`, { archived: false }],
      [`{notes}/${one.id}/messages/${one.messages[0].id}`, { content: 'same' }],
    ] as const)
      expect((await client.ask('PATCH', path, { body })).body.updatedAt).toBe(one.updatedAt);
    const renamed = await client.ask('PATCH', `{notes}/${one.id}`, { body: { title: 'CALL' } });
    expect([renamed.body.title, renamed.body.updatedAt > one.updatedAt]).toEqual(['CALL', true]);
    const { body } = await client.ask('GET', '{notes}?limit=2');
    const threads = body.data.map((note: { messages: { content: string }[] }) => note.messages.map((m) => m.content));
    expect(threads).toEqual([['first', 'second', 'third'], ['same']]);
  });

  test('user, team, environment | their current names; a deleted user has only the id, a deleted team its last name', async () => {
    const { knex } = client.tables();
    const { id } = await client.create({ content: 'x' });
    const { user, team, environment } = await listed(id);
    const row = await knex('notes').where({ id }).first();
    const teams = knex('teams').where({ id: row.team_id });
    await teams.clone().update({ name: 'Renamed' });
    await knex('environments').where({ id: row.environment_id }).update({ name: 'Live' });
    const read = async (name: string) =>
      (await client.ask('GET', `/project/My%20project/environment/${name}/notes/${id}`)).body;
    const renamed = await read('Live');
    await knex('environments').where({ id: row.environment_id }).update({ name: environment.name });
    await teams.update({ name: team.name });
    await knex('notes').where({ id }).update({ user_id: 4711, team_id: 0, team_name: 'Of old' });
    await knex('note_messages').where({ note_id: id }).update({ user_id: 4711 });
    const left = await listed(id);
    const nobody = { object: 'user', id: 4711, username: 'user 4711', email: '' };
    expect([user.id, renamed.team, renamed.environment, left.user, left.team, left.messages[0].user]).toStrictEqual([
      1,
      { object: 'team', name: 'Renamed' },
      { object: 'environment', name: 'Live' },
      nobody,
      { object: 'team', name: 'Of old' },
      nobody,
    ]);
  });

  test('object, id, title, recordId, createdAt, updatedAt, archivedAt, user, environment, team, collection, messages: of notes in each state, in each response', async () => {
    const writer = { email: 'asa+notes@example.com', firstName: 'Åsa', lastName: 'von Öst', team: 'South West' };
    await client.shop.addUser({ ...writer, level: 'admin' });
    const { id: userId } = (await client.shop.store.identity.findUserByEmail(writer.email))!;
    const secret = await client.secret(['all'], writer.email);
    const [line] = await client.shop.ask('SELECT order_id, product_id FROM order_items LIMIT 1');
    const recordId = `${line!.order_id}|${line!.product_id}`;
    const draft = { title: 'Zürich  – "1"', collectionName: 'order_items', recordId };
    const change = async (id: number, body: object) => (await client.ask('PATCH', `{notes}/${id}`, { body })).body;
    const bare = await client.create(draft, secret);
    const full = await client.create({ ...draft, content: 'one' }, secret);
    await client.ask('POST', `{notes}/${full.id}/messages`, { body: { content: 'two' } });
    const archived = await client.create({ ...draft, content: 'three' }, secret);
    const { archivedAt } = await change(archived.id, { archived: true });
    const renamed = await change(archived.id, { title: 'Renamed' });
    const user = { object: 'user', id: userId, username: 'Åsa von Öst', email: writer.email };
    const ada = { object: 'user', id: 1, username: 'Ada Byron', email: 'ada@example.com' };
    const message = { object: 'note-message', createdAt: expect.stringMatching(iso) };
    const of = ({ id, createdAt }: { id: number; createdAt: string }) => ({
      ...{ object: 'note', id, title: 'Zürich – "1"', recordId, createdAt, updatedAt: createdAt, user },
      environment: { object: 'environment', name: 'Production' },
      team: { object: 'team', name: 'South West' },
      collection: { object: 'collection', name: 'order_items' },
      messages: [] as object[],
    });
    const expected = [
      {
        ...{ ...of(archived), title: 'Renamed', archivedAt, updatedAt: renamed.updatedAt },
        messages: [{ ...message, content: 'three', user }],
      },
      {
        ...{ ...of(full), updatedAt: expect.stringMatching(iso) },
        messages: [
          { ...message, content: 'one', user },
          { ...message, content: 'two', user: ada },
        ],
      },
      of(bare),
    ];
    expect((await client.ask('GET', '{notes}?limit=3')).body.data).toStrictEqual(expected);
    for (const note of expected) {
      const one = (await client.ask('GET', `{notes}/${note.id}`)).body;
      const same = await change(note.id, { title: note.title });
      expect(same).toStrictEqual(one);
      expect({ ...one, messages: one.messages.map(({ id, ...rest }: { id: number }) => rest) }).toStrictEqual(note);
    }
    expect([archivedAt < renamed.updatedAt, new Set([bare.id, full.id, archived.id]).size]).toEqual([true, 3]);
  });

  test('title | string | 1 to 255 characters on one line, on creation and on change; recordId | string | as the record has it', async () => {
    const { id } = await made();
    const sent = ['x'.repeat(255), ' a\n\tb ', 'x'.repeat(256), '', ' \n', 'é'.repeat(255)];
    const seen = [];
    for (const title of sent) {
      const given = { title, collectionName: 'customers', recordId: '1' };
      const created = await client.ask('POST', '{notes}', { body: given });
      const changed = await client.ask('PATCH', `{notes}/${id}`, { body: { title } });
      seen.push([created.status, changed.status, created.body.title, changed.body.title]);
    }
    const refused = [400, 400, undefined, undefined];
    const taken = (title: string) => [201, 200, title, title];
    expect(seen).toEqual([taken(sent[0]!), taken('a b'), ...Array(3).fill(refused), taken(sent[5]!)]);
    expect([(await made({ recordId: '007' })).recordId, (await made({ recordId: '7' })).recordId]).toEqual(['7', '7']);
    for (const recordId of ['1|2', 'x', '999999999', '1.5', ' '])
      expect(
        (await client.ask('POST', '{notes}', { body: { title: 'x', collectionName: 'customers', recordId } })).status,
        recordId,
      ).toBeGreaterThanOrEqual(400);
  });
});
