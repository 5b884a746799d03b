// The nested objects of a note (behaviour api 2.3): exactly these fields.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type NoteClient, openNoteClient } from '../api/note-client.ts';

let client: NoteClient;
// biome-ignore lint/suspicious/noExplicitAny: each test says what it expects of it
let note: any;
beforeAll(async () => {
  client = await openNoteClient();
  await client.create({ collectionName: 'orders', content: '<p>Text with <em>markup</em></p>' });
  note = (await client.ask('GET', '{notes}')).body.data[0];
});
afterAll(() => client?.shop.stop());

/** A thread of two people; its first message was edited. */
async function thread() {
  const { email } = await client.shop.addUser({
    email: 'xia@example.com',
    firstName: 'Xia',
    lastName: '',
    level: 'admin',
  });
  const secret = await client.secret(['all'], email);
  const made = await client.create({ collectionName: 'customers', content: 'one' }, secret);
  const path = `{notes}/${made.id}/messages`;
  await new Promise((resolve) => setTimeout(resolve, 5));
  await client.ask('POST', path, { body: { content: '<b>two</b><script>x</script>' } });
  await client.ask('PATCH', `${path}/${made.messages[0].id}`, { secret, body: { content: 'edited' } });
  const { body } = await client.ask('GET', '{notes}?limit=1');
  return { made, listed: body.data[0], xia: (await client.shop.store.identity.findUserByEmail(email))! };
}

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

  test('Collection | object (constant `collection`), name (string, as defined in the schema)', async () => {
    expect(note.collection).toStrictEqual({ object: 'collection', name: 'orders' });
    const { id } = await client.create({ collectionName: 'orders' });
    for (const name of ['Order_Items', 'order items', 'ÄRZTE', 'sales.orders', 'a:b/c', '%41']) {
      await client.tables().knex('notes').where({ id }).update({ collection: name });
      expect((await client.ask('GET', '{notes}?limit=1')).body.data[0].collection).toStrictEqual({
        object: 'collection',
        name,
      });
    }
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

  test('Note message | object, content, createdAt, user: each message with its own author and time, oldest first, without executable content', async () => {
    const { made, listed, xia } = await thread();
    const author = { object: 'user', id: xia.id, username: 'Xia', email: 'xia@example.com' };
    const [first, second] = listed.messages;
    expect([listed.user, first, second, listed.messages.length]).toStrictEqual([
      author,
      { object: 'note-message', content: 'edited', createdAt: made.createdAt, user: author },
      { object: 'note-message', content: '<b>two</b>', createdAt: expect.any(String), user },
      2,
    ]);
    expect(second.createdAt > first.createdAt).toBe(true);
    expect(listed.collection).toStrictEqual({ object: 'collection', name: 'customers' });
  });

  test('User | object, id, username, email: without a last name, with only a last name, without a name, and of a deleted user', async () => {
    const { knex } = client.tables();
    const { id } = await client.create({});
    const read = async () => (await client.ask('GET', `{notes}/${id}`)).body;
    const users = knex('users').where({ id: 1 });
    const seen = [];
    for (const [first_name, last_name] of [
      ['Ada', ''],
      ['', 'Byron'],
      ['', ''],
    ]) {
      await users.clone().update({ first_name, last_name });
      seen.push((await read()).user.username);
    }
    await users.update({ first_name: 'Ada', last_name: 'Byron' });
    await knex('notes').where({ id }).update({ user_id: 4711 });
    expect([seen, (await read()).user]).toStrictEqual([
      ['Ada', 'Byron', 'ada@example.com'],
      { object: 'user', id: 4711, username: 'user 4711', email: '' },
    ]);
  });

  test.each([
    ['Environment | object, name', 'environments', 'environment'],
    ['Team | object, name', 'teams', 'team'],
  ] as const)('%s: the current name', async (_, table, member) => {
    const { knex } = client.tables();
    const { id } = await client.create({});
    const row = await knex('notes').where({ id }).first();
    const named = knex(table).where({ id: row[`${member}_id`] });
    const { name } = await named.clone().first();
    await named.clone().update({ name: 'Of now' });
    const environment = member === 'environment' ? 'Of%20now' : 'Production';
    const { body } = await client.ask('GET', `/project/My%20project/environment/${environment}/notes?limit=1`);
    await named.update({ name });
    expect(body.data[0][member]).toStrictEqual({ object: member, name: 'Of now' });
  });

  test.each([
    ['User | object', 'user', ['User']],
    ['Environment | object', 'environment', ['Environment']],
    ['Team | object', 'team', ['Team']],
    ['Collection | object', 'collection', ['Collection']],
    ['Note message | object', 'note-message', ['NoteMessage', 'NoteThreadMessage']],
  ])('%s: the OpenAPI document requires the constant %s', async (_, constant, names) => {
    const { schemas } = (await client.ask('GET', '/openapi.json')).body.components;
    for (const name of names) {
      const { required, properties } = schemas[name];
      expect([properties.object, required]).toStrictEqual([
        { type: 'string', const: constant },
        expect.arrayContaining(['object']),
      ]);
    }
  });

  test('Note message | content: allowed markup, link addresses, and the longest text, new and edited', async () => {
    const { id, messages } = await client.create({ content: 'first' });
    const write = async (content: string) => {
      const added = await client.ask('POST', `{notes}/${id}/messages`, { body: { content } });
      const edited = await client.ask('PATCH', `{notes}/${id}/messages/${messages[0].id}`, { body: { content } });
      return [added.status, edited.status, added.body.messages?.at(-1).content, edited.body.messages?.[0].content];
    };
    const kept = 'p b strong i em u s ul ol li blockquote code pre h3 h4'.split(' ');
    const text = `${kept.map((tag) => `<${tag}>${tag}</${tag}>`).join('')}<br />1 &lt; 2 &amp; “é”`;
    expect(await write(text)).toEqual([201, 200, text, text]);
    const link = (href: string, rel = '') => `<a href="${href}"${rel}>x</a>`;
    for (const href of ['http://a.example/?b=1', 'https://a.example/#c', 'mailto:a@b.example', 'HTTPS://a.example']) {
      const saved = link(href, ' rel="noopener noreferrer"');
      expect(await write(link(href, ' target="_blank"'))).toEqual([201, 200, saved, saved]);
    }
    for (const href of [
      'javascript:x()',
      '/console',
      '//a.example',
      'data:text/html,x',
      'ftp://a.example',
      'vbscript:x',
    ])
      expect(await write(link(href))).toEqual([201, 200, '<a>x</a>', '<a>x</a>']);
    const long = 'x'.repeat(100_000);
    expect(await write(long)).toEqual([201, 200, long, long]);
    for (const wrong of [`${long}x`, '<script>x</script>', '<p> </p>', '&nbsp;', ''])
      expect((await write(wrong)).slice(0, 2)).toEqual([400, 400]);
    expect(await write('<p><ul><li><blockquote>deep</blockquote></li></ul></p>')).toEqual(
      Array(0).concat([201, 200], Array(2).fill(expect.stringContaining('<li><blockquote>deep</blockquote></li>'))),
    );
  });

  test.each(['User', 'Environment', 'Team', 'Collection', 'Note message'])(
    '%s | object: the same constant in the answers to a new, a read and a changed note',
    async () => {
      const { id, messages, ...created } = await client.create({ content: 'first' });
      const path = `{notes}/${id}`;
      const answers = [
        { ...created, messages },
        (await client.ask('POST', `${path}/messages`, { body: { content: 'second' } })).body,
        (await client.ask('PATCH', `${path}/messages/${messages[0].id}`, { body: { content: 'edited' } })).body,
        (await client.ask('PATCH', path, { body: { title: 'Renamed' } })).body,
        (await client.ask('GET', path)).body,
      ];
      const own = ['note', 'user', 'environment', 'team', 'collection'];
      const message = ['note-message', 'user'];
      const seen = answers.map((each) => [
        ...[each.object, each.user.object, each.environment.object, each.team.object, each.collection.object],
        ...each.messages.flatMap((one: typeof each) => [one.object, one.user.object]),
      ]);
      expect(seen).toEqual([[...own, ...message], ...Array(4).fill([...own, ...message, ...message])]);
    },
  );
});
