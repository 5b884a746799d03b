// The other endpoints of the public API (behaviour api 4.3).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type NoteClient, openNoteClient } from '../api/note-client.ts';

let client: NoteClient;
beforeAll(async () => {
  client = await openNoteClient();
});
afterAll(() => client?.shop.stop());

describe('other endpoints', () => {
  test('activity-logs | GET {base_url}/v1/project/{projectName}/environment/{environmentName}/activity-logs', async () => {
    const note = await client.create({ title: 'About the first customer' });
    const path = '/project/My%20project/environment/Production/activity-logs';
    const { status, body } = await client.ask('GET', `${path}?action=createNote&limit=1`);
    expect([note.title, status, body.parameters, body.data.map(({ action, type }: never) => [action, type])]).toEqual([
      'About the first customer',
      200,
      { projectName: 'My project', environmentName: 'Production', limit: 1, action: 'createNote' },
      [['createNote', 'write']],
    ]);
    await client.create({ title: 'Another', recordId: '2' });
    const full = await client.ask('GET', `${path}?action=createNote&limit=2`);
    const { email } = await client.shop.addUser({ email: 'bea@example.com', level: 'admin' });
    const about = async (query: string) =>
      (await client.ask('GET', `${path}?action=createNote&${query}`)).body.data.length;
    expect([
      await about('userId=1'),
      await about('userEmail=ada@example.com&userId=1'),
      await about(`userEmail=${email}`),
      await about(`userEmail=${email}&userId=1`),
      await about('userEmail=nobody@example.com&userId=1'),
      await about('userEmail=ada@example.com&userId=2'),
    ]).toEqual([2, 2, 0, 0, 0, 0]);
    expect([full.body.data.length, full.body.hasMore, full.body.nextCursor]).toEqual([2, false, undefined]);
    const both = await client.ask('GET', `${path}?action=createNote`);
    const reader = await client.secret(['notes:read']);
    expect([
      both.body.data.map(({ recordIds }: { recordIds: string[] }) => recordIds[0]),
      both.body.hasMore,
      both.body.parameters.limit,
      (await client.ask('GET', `${path}?action=createNote&limit=1`)).body.hasMore,
      (await client.ask('GET', `${path}?limit=101`)).status,
      (await client.ask('GET', path, { secret: reader })).status,
      (await client.ask('GET', path.replace('Production', 'production'))).status,
    ]).toEqual([['2', '1'], false, 10, true, 400, 403, 404]);
  });

  test('admin-logs | GET {base_url}/v1/project/{projectName}/admin-logs', async () => {
    await client.shop.addUser({ email: 'new@example.com' });
    const { status, body } = await client.ask(
      'GET',
      '/project/My%20project/admin-logs?type=add&resource=user-project&limit=1',
    );
    expect([status, body.parameters, body.data[0].newValue.user.email]).toEqual([
      200,
      { projectName: 'My project', limit: 1, type: 'add', resource: 'user-project' },
      'new@example.com',
    ]);
    await client.shop.addUser({ email: 'newer@example.com' });
    const all = '/project/My%20project/admin-logs?type=add&resource=user-project';
    const { body: both } = await client.ask('GET', `${all}&limit=2`);
    const { body: first } = await client.ask('GET', `${all}&limit=1`);
    const whole = (await client.ask('GET', `${all}&limit=100`)).body;
    const full = (await client.ask('GET', `${all}&limit=${whole.data.length}`)).body;
    const byHand = (await client.ask('GET', `${all}&initiator=identityProvider`)).body;
    expect([first.hasMore, first.data.length, whole.hasMore, full.hasMore, full.data.length, byHand.data]).toEqual([
      true,
      1,
      false,
      false,
      whole.data.length,
      [],
    ]);
    expect([
      both.data.map(({ newValue }: { newValue: { user: { email: string } } }) => newValue.user.email),
      (await client.ask('GET', all, { secret: await client.secret(['activity_logs:read']) })).status,
      (await client.ask('GET', all.replace('My%20project', 'Other'))).status,
    ]).toEqual([['newer@example.com', 'new@example.com'], 403, 404]);
  });

  test('create and update of notes (write scope exists): notes', async () => {
    const secret = await client.secret(['notes:write']);
    const reader = await client.secret(['notes:read']);
    const given = { title: 'A note', collectionName: 'customers', recordId: '1' };
    const created = await client.ask('POST', '{notes}', { secret, body: given });
    const renamed = await client.ask('PATCH', `{notes}/${created.body.id}`, { secret, body: { title: 'Another' } });
    const refused = await client.ask('POST', '{notes}', { secret: reader, body: given });
    const wrong = [];
    for (const body of [
      { ...given, title: '' },
      { ...given, title: undefined },
      { ...given, collectionName: 'nowhere' },
      { ...given, more: 1 },
      '{',
    ])
      wrong.push((await client.ask('POST', '{notes}', { secret, body })).status);
    const unseen = await client.ask('PATCH', '{notes}/999999', { secret, body: { title: 'x' } });
    const readersChange = await client.ask('PATCH', `{notes}/${created.body.id}`, {
      secret: reader,
      body: { title: 'x' },
    });
    expect([wrong.every((status) => status === 400 || status === 404), unseen.status, readersChange.status]).toEqual([
      true,
      404,
      403,
    ]);
    expect((await client.ask('GET', '{notes}')).body.data[0]).toMatchObject({
      ...{ title: 'Another', recordId: '1', collection: { name: 'customers' } },
    });
    expect([created.status, renamed.status, renamed.body.title, refused.status]).toEqual([201, 200, 'Another', 403]);
  });

  test('activity-logs, admin-logs: each filter selects its entries, pages continue, and unknown filters are refused', async () => {
    const { activity, permissions, identity, members } = client.shop.store;
    await client.shop.addUser({ email: 'sam@example.com', team: 'South', level: 'admin' });
    const sam = (await identity.findUserByEmail('sam@example.com'))!;
    const [ada, south] = [(await permissions.caller(1))!, (await permissions.caller(sam.id))!];
    const at = (minute: number) => Date.parse('2024-05-01T10:00:00Z') + minute * 60_000;
    const made = { clientId: 'c', type: 'read', outcome: 'completed', durationMs: 0 } as const;
    const rows = [
      { userId: 1, renderingId: ada.renderingId, action: 'list', collection: 'orders', clientName: 'One' },
      { userId: 1, renderingId: ada.renderingId, action: 'get', collection: 'orders', recordIds: ['7'], clientName: 'One' },
      { userId: sam.id, renderingId: south.renderingId, action: 'get', collection: 'customers', recordIds: ['7'], clientName: 'Two', outcome: 'denied' as const },
      { userId: sam.id, renderingId: south.renderingId, action: 'update', type: 'write' as const, clientName: 'Two', outcome: 'failed' as const },
    ];
    // The last two have the same time.
    for (const [index, row] of rows.entries()) activity.record({ ...made, ...row, startedAt: at(Math.min(index, 2)) });
    await activity.flush();
    const logs = '/project/My%20project/environment/Production/activity-logs?createdAt.lt=2024-05-02';
    const times = (data: { createdAt: string; action: string }[]) => data.map(({ createdAt, action }) => `${(Date.parse(createdAt) - at(0)) / 60_000} ${action}`);
    const [index, read, other, update] = ['0 index', '1 read', '2 read', '2 update'];
    const found: Record<string, string[]> = {};
    const expected: Record<string, (string | undefined)[]> = {
      '': [update, other, read, index],
      'userId=1': [read, index],
      'userEmail=sam@example.com': [update, other],
      'teamName=South': [update, other],
      'teamName=south': [],
      'collectionName=orders': [read, index],
      'collectionName=Orders': [],
      'recordId=7': [other, read],
      'recordId=07': [],
      'action=read': [other, read],
      'action=index': [index],
      'type=write': [update],
      'type=read': [other, read, index],
      'outcome=denied': [other],
      'outcome=completed': [read, index],
      'clientName=Two': [update, other],
      'clientName=Tw': [],
      'createdAt.gt=2024-05-01T10:01:00Z': [update, other],
      'createdAt.gte=2024-05-01T10:01:00Z': [update, other, read],
      'createdAt.lte=2024-05-01T10:01:00Z': [read, index],
      'createdAt.eq=2024-05-01T10:01:00Z': [read],
      'recordId=7&teamName=South': [other],
    };
    for (const query of Object.keys(expected)) found[query] = times((await client.ask('GET', `${logs}&${query}`)).body.data);
    expect(found).toEqual(expected);
    const pages = async (path: string) => {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const { body } = await client.ask('GET', `${path}&limit=1${cursor ? `&cursor=${cursor}` : ''}`);
        seen.push(...body.data.map(({ id }: { id: string }) => id));
        expect([body.hasMore, body.data.length, 'cursor' in body.parameters]).toEqual([body.nextCursor !== undefined, 1, false]);
        cursor = body.nextCursor;
      } while (cursor);
      return seen;
    };
    const idsOf = async (path: string) => (await client.ask('GET', `${path}&limit=100`)).body.data.map(({ id }: { id: string }) => id);
    expect(await pages(logs)).toEqual(await idsOf(logs));
    const admin = '/project/My%20project/admin-logs?type=update&resource=user-project';
    // Changes of the same moment by two users.
    await members.change(sam.id, { firstName: 'Sam' }, 1);
    for (const level of ['editor', 'user', 'developer', 'admin'] as const) await members.change(sam.id, { level }, 1);
    await members.change(sam.id, { lastName: 'S' }, sam.id);
    expect(await pages(admin)).toEqual(await idsOf(admin));
    const count = async (query: string) => (await client.ask('GET', `${admin}&limit=100&${query}`)).body.data.length;
    const all = await count('');
    const { knex } = client.tables();
    await knex('admin_logs').where({ id: Number((await idsOf(admin)).at(-1)) }).update({ at: at(0) });
    expect([
      ...[await count('userId=1'), await count('userId=999'), await count(`userId=${sam.id}`), await count('userEmail=sam@example.com')],
      ...[await count('userEmail=sam@example.com&userId=1'), await count('initiator=administrator'), await count('initiator=serviceAdmin')],
      ...[await count('createdAt.lt=2024-05-02'), await count('createdAt.gte=2024-05-02'), await count('createdAt.lt=2024-05-01')],
    ]).toEqual([...[all - 1, 0, 1, 1], ...[0, all, 0], ...[1, all - 1, 0]]);
    for (const path of [logs, admin])
      for (const wrong of ['limit=0', 'limit=101', 'limit=1.5', 'userId=0', 'userId=x', 'userEmail=sam', 'createdAt.lt=soon', 'cursor=x', 'sort=id', 'type=delete', 'createdAt=2024-05-01'])
        expect((await client.ask('GET', `${path.split('?')[0]}?${wrong}`)).status, `${path} ${wrong}`).toBe(400);
  }); // biome-ignore format: a table

  test('activity-logs, admin-logs: 1 to 100 entries, 10 by default', async () => {
    const { activity, permissions, members } = client.shop.store;
    const { renderingId } = (await permissions.caller(1))!;
    for (let entry = 0; entry < 11; entry++) {
      activity.record({ userId: 1, renderingId, clientId: 'c', clientName: 'Many', action: 'list', type: 'read', outcome: 'completed', startedAt: entry, durationMs: 0 });
      await members.change(1, { firstName: `Ada ${entry}` }, 1);
    }
    await members.change(1, { firstName: 'Ada' }, 1);
    await activity.flush();
    const logs = '/project/My%20project/environment/Production/activity-logs?clientName=Many';
    const admin = '/project/My%20project/admin-logs?type=update';
    const told = [];
    for (const path of [logs, admin])
      for (const limit of ['', '&limit=1', '&limit=100']) {
        const { status, body } = await client.ask('GET', path + limit);
        told.push([status, body.parameters.limit, Math.min(body.data.length, 11), body.hasMore]);
      }
    const each = [[200, 10, 10, true], [200, 1, 1, true], [200, 100, 11, false]];
    expect(told).toEqual([...each, ...each]);
  }); // biome-ignore format: short

  test('create and update of notes (write scope exists): notes: each member is validated, and unknown ones are refused', async () => {
    const { id, messages } = await client.create({ content: 'x' });
    const given = { title: 'A note', collectionName: 'customers', recordId: '1' };
    const create = [{ ...given, recordId: '' }, { ...given, recordId: 1 }, { ...given, title: ' ' }, { ...given, title: 'x'.repeat(256) }, { ...given, content: '' }, { ...given, content: null }, { ...given, collectionName: '' }, { ...given, collectionName: 'Customers' }, [], 'null', ''];
    const change = [{}, { title: '' }, { title: null }, { archived: 'true' }, { archived: null }, { recordId: '2' }, { titel: 'x' }, []];
    const statuses = async (method: string, path: string, bodies: readonly unknown[]) => {
      const seen = new Set<number>();
      for (const body of bodies) seen.add((await client.ask(method, path, { body })).status);
      return [...seen];
    };
    expect([
      await statuses('POST', '{notes}', create),
      await statuses('PATCH', `{notes}/${id}`, change),
      await statuses('POST', `{notes}/${id}/messages`, [{}, { content: '' }, { content: 1 }, { content: 'x', user: 1 }]),
      await statuses('PATCH', `{notes}/${id}/messages/${messages[0].id}`, [{}, { content: '<script>1</script>' }]),
      await statuses('PATCH', `{notes}/${id}/messages/999999`, [{ content: 'y' }]),
      (await client.ask('POST', '{notes}', { body: { ...given, recordId: '99999999' } })).status,
      (await client.ask('POST', '{notes}', { body: { ...given, title: 'x'.repeat(255) } })).status,
      (await client.ask('GET', `{notes}/${id}`)).body.messages.length,
      (await client.ask('GET', '{notes}/0')).status,
      (await client.ask('GET', '{notes}/x')).status,
      (await client.ask('DELETE', `{notes}/${id}`)).status,
    ]).toEqual([[400], [400], [400], [400], [404], 404, 201, 1, 404, 400, 405]);
  }); // biome-ignore format: short

  test('activity-logs, admin-logs, notes: the Admin role at each call, other methods, HEAD, and the echoed parameters', async () => {
    const { email } = await client.shop.addUser({ email: 'dev@example.com', level: 'developer' });
    const [secret, none] = [await client.secret(['all'], email), await client.secret(['workflows:trigger'])];
    const environment = '/project/My%20project/environment/Production';
    const lists = [`${environment}/activity-logs`, '/project/My%20project/admin-logs', `${environment}/notes`];
    for (const path of lists) {
      const seen = [];
      for (const one of path.endsWith('logs') ? [path, `${path}/export`] : [path])
        for (const sent of [secret, none]) seen.push((await client.ask('GET', one, { secret: sent })).status);
      for (const method of ['PUT', 'DELETE', 'PATCH']) seen.push((await client.ask(method, path)).status);
      expect([path, new Set(seen)]).toEqual([path, new Set([403, 405])]);
      expect(await client.ask('HEAD', path)).toEqual({ status: 200, body: undefined });
    }
    for (const [path, query] of [
      [lists[0], 'details=true&userId=1&type=write&outcome=completed&createdAt.gte=2020-01-01'],
      [lists[1], 'userId=1&type=update&initiator=administrator&resource=team&createdAt.gte=2020-01-01'],
    ] as const) {
      const { parameters } = (await client.ask('GET', `${path}?${query}`)).body;
      expect(parameters).toMatchObject({ ...Object.fromEntries(new URLSearchParams(query)), userId: 1, limit: 10 });
    }
  });

  test('create and update of notes (write scope exists): notes: a message is edited by its author or an administrator; a full and a missing note; both are logged', async () => {
    const { email } = await client.shop.addUser({ email: 'ann@example.com', level: 'admin' });
    const secret = await client.secret(['notes:write'], email);
    const note = await client.create({ content: 'hers', title: 'Shared' }, secret);
    const path = `{notes}/${note.id}/messages/${note.messages[0].id}`;
    const other = await client.create({ content: 'x' });
    const answers = [
      await client.ask('PATCH', path, { body: { content: 'of Ada' } }),
      await client.ask('PATCH', path, { secret, body: { content: 'of Ann' } }),
      await client.ask('PATCH', `{notes}/${other.id}/messages/${note.messages[0].id}`, {
        body: { content: 'of another' },
      }),
      await client.ask('PATCH', `{notes}/${note.id}`, { body: { archived: true, title: 'Both' } }),
      await client.ask('POST', '{notes}/999999/messages', { body: { content: 'x' } }),
    ];
    const seen = answers.map(({ status, body }) => [status, body.messages?.[0].content]);
    expect(seen).toEqual([
      [200, 'of Ada'],
      [200, 'of Ann'],
      [404, undefined],
      [200, 'of Ann'],
      [404, undefined],
    ]);
    expect([answers[3]!.body.title, answers[3]!.body.archivedAt === answers[3]!.body.updatedAt]).toEqual([
      'Both',
      true,
    ]);
    await client.shop.store.activity.flush();
    const { data } = (
      await client.ask('GET', '/project/My%20project/environment/Production/activity-logs?limit=4&type=write')
    ).body;
    expect(data.map(({ action, user }: { action: string; user: { email: string } }) => [action, user.email])).toEqual(
      [
        ['updateNote', 'ada@example.com'],
        ['updateMessage', email],
        ['updateMessage', 'ada@example.com'],
        ['createMessage', 'ada@example.com'],
      ].with(3, ['createNote', 'ada@example.com']),
    );
  });

  test('activity-logs, admin-logs, notes: a cursor is valid unchanged and for its own list; the limit may differ', async () => {
    for (const title of ['1', '2', '3']) await client.create({ title });
    for (const email of ['u1@example.com', 'u2@example.com', 'u3@example.com']) await client.shop.addUser({ email });
    await client.shop.store.activity.flush();
    const environment = '/project/My%20project/environment/Production';
    const lists = [`${environment}/notes`, `${environment}/activity-logs`, '/project/My%20project/admin-logs'];
    const cursors: string[] = [];
    for (const list of lists) cursors.push((await client.ask('GET', `${list}?limit=1`)).body.nextCursor);
    for (const [at, list] of lists.entries()) {
      const cursor = cursors[at]!;
      const code = async (sent: string, more = '') =>
        (await client.ask('GET', `${list}?limit=2&cursor=${encodeURIComponent(sent)}${more}`)).body.code;
      const changed = Buffer.from(cursor, 'base64url').toString();
      const encode = (text: string) => Buffer.from(text).toString('base64url');
      const wrong = [
        ...[
          `${cursor}x`,
          `${cursor}=`,
          `${cursor}==`,
          `${cursor}!`,
          ` ${cursor}`,
          `${cursor.slice(0, 9)} ${cursor.slice(9)}`,
        ],
        ...[
          cursor.slice(1),
          cursor.slice(0, -1),
          cursor.toUpperCase(),
          `${cursor}${cursor}`,
          '1',
          '0',
          'null',
          encode('[]'),
        ],
        ...[
          encode(changed.replace(']', ',1]')),
          encode(changed.replace(/,\d+\]/, ']')),
          encode(changed.replace(/\d+\]/, '-1]')),
        ],
        ...[encode(changed.replace(/\d+\]/, '1.5]')), encode(changed.replace('["', '["x')), encode(`${changed} `)],
        ...cursors.filter((_, other) => other !== at),
      ];
      for (const one of wrong) expect(await code(one), `${list} ${one}`).toBe('INVALID_CURSOR');
      expect([await code(cursor), await code(cursor, '&userId=1'), await code('')]).toEqual([
        undefined,
        'INVALID_CURSOR',
        'INVALID_ARGUMENT',
      ]);
    }
  });
});
