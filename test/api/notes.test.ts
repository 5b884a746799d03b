// Notes over the public API: reads, writes and invalid requests.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NoteClient, openNoteClient } from './note-client.ts';

let client: NoteClient;
beforeAll(async () => {
  client = await openNoteClient();
});
afterAll(() => client?.shop.stop());

const isTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const ada = { object: 'user', id: 1, username: 'Ada Byron', email: 'ada@example.com' };

test('a new note with its first message is found by its id and in the list', async () => {
  const note = await client.create({ title: ' Call  them\nback ', recordId: '077', content: '<p>At <b>nine</b>.</p>' });
  const [one, list] = [
    await client.ask('GET', `{notes}/${note.id}`),
    await client.ask('GET', '{notes}?limit=1&recordId=77'),
  ];
  const fields = {
    object: 'note',
    id: note.id,
    title: 'Call them back',
    recordId: '77',
    createdAt: isTime,
    updatedAt: note.createdAt,
    user: ada,
    environment: { object: 'environment', name: 'Production' },
    team: { object: 'team', name: 'Operations' },
    collection: { object: 'collection', name: 'customers' },
  };
  const message = {
    object: 'note-message',
    content: '<p>At <b>nine</b>.</p>',
    createdAt: note.createdAt,
    user: ada,
  };
  expect(note).toStrictEqual({ ...fields, messages: [{ ...message, id: expect.any(Number) }] });
  expect(one).toStrictEqual({ status: 200, body: note });
  expect(list.body).toStrictEqual({
    hasMore: false,
    parameters: { projectName: 'My project', environmentName: 'Production', limit: 1, recordId: '77' },
    data: [{ ...fields, messages: [message] }],
  });
});

test('renaming, archiving, restoring, and adding or editing a message each advance updatedAt', async () => {
  const note = await client.create({});
  const path = `{notes}/${note.id}`;
  const steps = [
    await client.ask('PATCH', path, { body: { title: 'Another name' } }),
    await client.ask('PATCH', path, { body: { archived: true } }),
    await client.ask('PATCH', path, { body: { archived: false, title: 'A third' } }),
    await client.ask('POST', `${path}/messages`, { body: { content: 'one' } }),
    await client.ask('POST', `${path}/messages`, { body: { content: 'two' } }),
  ];
  const first = steps[4]!.body.messages[0].id;
  const edited = await client.ask('PATCH', `${path}/messages/${first}`, { body: { content: 'one, better' } });
  const all = [...steps, edited];
  expect(
    all.map(({ status, body }) => [status, body.title, body.archivedAt !== undefined, body.messages.length]),
  ).toEqual([
    [200, 'Another name', false, 0],
    [200, 'Another name', true, 0],
    [200, 'A third', false, 0],
    [201, 'A third', false, 1],
    [201, 'A third', false, 2],
    [200, 'A third', false, 2],
  ]);
  const times = [note, ...all.map(({ body }) => body)].map(({ updatedAt }) => Date.parse(updatedAt));
  expect(times.every((time, at) => at === 0 || time > times[at - 1]!)).toBe(true);
  expect(edited.body.messages.map(({ content, editedAt }: Record<string, unknown>) => [content, editedAt])).toEqual([
    ['one, better', edited.body.updatedAt],
    ['two', undefined],
  ]);
  // An update without changes keeps `updatedAt`.
  const same = await client.ask('PATCH', path, { body: { archived: false, title: 'A third' } });
  const sameText = await client.ask('PATCH', `${path}/messages/${first}`, { body: { content: 'one, better' } });
  expect([same.body, sameText.body]).toStrictEqual([edited.body, edited.body]);
});

test('the HTML of a message is sanitized, and a message that is empty afterwards is refused', async () => {
  const content = `<p onclick="x()">Hi <script>alert(1)</script><img src=x onerror=alert(1)>
<a href="javascript:alert(1)">a</a> <a href="https://example.com/?a=1&b=2" target="_blank">b</a> <a href="/console">c</a>
<iframe src="https://evil.example"></iframe><style>*{display:none}</style><h3>T</h3><svg><a xlink:href="javascript:1">d</a></svg></p>`;
  const { messages } = await client.create({ content });
  expect(messages[0].content.replace(/\s+/g, ' ')).toBe(
    '<p>Hi <a>a</a> <a href="https://example.com/?a=1&amp;b=2" rel="noopener noreferrer">b</a> <a>c</a> </p><h3>T</h3><a>d</a><p></p>',
  );
  const refused = await Promise.all(
    ['<script>alert(1)</script>', '<p> &nbsp;<br></p>', '<img src=x>'].map((sent) =>
      client.ask('POST', '{notes}', {
        body: { title: 'x', collectionName: 'customers', recordId: '1', content: sent },
      }),
    ),
  );
  expect(refused.map(({ status, body }) => [status, body.code, body.message])).toEqual(
    refused.map(() => [400, 'INVALID_ARGUMENT', 'content: expected some text.']),
  );
});

test('a hidden collection or record gets the same response as one that does not exist', async () => {
  const { store } = client.shop;
  const all = { browse: true, read: true, edit: true, add: true, delete: true, export: true };
  const bea = await client.shop.addUser({ email: 'bea@example.com', level: 'admin', team: 'North', role: 'Narrow' });
  await store.permissions.setRole('Narrow', {
    customers: all,
    orders: { ...all, browse: false },
    products: { ...all, read: false },
  });
  await store.permissions.setScope('North', 'customers', { field: 'id', operator: 'LessThan', value: 3 });
  const secret = await client.secret(['notes:write', 'notes:read'], bea.email);
  const post = (collectionName: string, recordId: string) =>
    client.ask('POST', '{notes}', { secret, body: { title: 'x', collectionName, recordId } });
  const seen = await post('customers', '2');
  const hidden = [await post('orders', '1'), await post('products', '1'), await post('nothing', '1')];
  const records = [await post('customers', '3'), await post('customers', '999999')];
  expect([seen.status, seen.body.team.name]).toEqual([201, 'North']);
  expect(hidden).toEqual(
    hidden.map(() => ({
      status: 400,
      body: { error: 'Bad request', message: 'collectionName: unknown collection.', code: 'INVALID_ARGUMENT' },
    })),
  );
  const told = records.map(({ status, body }) => [status, body.code, body.message.replace(/\d+/g, 'N')]);
  expect([told[0], told[0]?.slice(0, 2)]).toEqual([told[1], [404, 'RECORD_NOT_FOUND']]);
});

test('every call needs its scope and the Admin role', async () => {
  await client.shop.addUser({ email: 'eve@example.com', level: 'editor' });
  const [reader, writer, editor] = [
    await client.secret(['notes:read']),
    await client.secret(['notes:write']),
    await client.secret(['all'], 'eve@example.com'),
  ];
  const note = await client.create({});
  const body = { title: 'x', collectionName: 'customers', recordId: '1' };
  const asked = [
    await client.ask('GET', '{notes}', { secret: writer }),
    await client.ask('POST', '{notes}', { secret: reader, body }),
    await client.ask('PATCH', `{notes}/${note.id}`, { secret: reader, body: { archived: true } }),
    await client.ask('GET', '{notes}', { secret: editor }),
    await client.ask('POST', '{notes}', { secret: editor, body }),
    await client.ask('GET', '{notes}', { secret: await client.secret(['activity_logs:read']) }),
  ];
  expect(asked.map(({ status, body: { error, code, message } }) => [status, error, code, message])).toEqual([
    [403, 'Forbidden', 'DENIED', 'The token needs the scope notes:read.'],
    [403, 'Forbidden', 'DENIED', 'The token needs the scope notes:write.'],
    [403, 'Forbidden', 'DENIED', 'The token needs the scope notes:write.'],
    [403, 'Forbidden', 'DENIED', 'The user of the token needs the Admin role on the project.'],
    [403, 'Forbidden', 'DENIED', 'The user of the token needs the Admin role on the project.'],
    [403, 'Forbidden', 'DENIED', 'The token needs the scope notes:read.'],
  ]);
  expect((await client.ask('GET', '{notes}', { secret: reader })).status).toBe(200);
  expect((await client.ask('POST', '{notes}', { secret: writer, body })).status).toBe(201);
});

test('an invalid request gets a 4xx status with error, message and code, and the message names the problem', async () => {
  const note = await client.create({ title: 'Of a cursor' });
  await client.create({});
  const { nextCursor } = (await client.ask('GET', '{notes}?limit=1')).body;
  const big = 'x'.repeat(1_000_000);
  const rows: readonly (readonly [
    method: string,
    path: string,
    body: unknown,
    status: number,
    code: string,
    told: string,
  ])[] = [
    ...['0', '101', 'x', '1.5', '-1', '01'].map(
      (limit) => ['GET', `{notes}?limit=${limit}`, undefined, 400, 'INVALID_ARGUMENT', 'limit: '] as const,
    ),
    ['GET', '{notes}?limit=1&limit=2', undefined, 400, 'INVALID_ARGUMENT', 'limit: sent more than once.'],
    ['GET', '{notes}?limits=1', undefined, 400, 'INVALID_ARGUMENT', 'Near: limit'],
    ['GET', '{notes}?userEmail=x', undefined, 400, 'INVALID_ARGUMENT', 'userEmail: '],
    ['GET', '{notes}?userId=0', undefined, 400, 'INVALID_ARGUMENT', 'userId: '],
    ['GET', '{notes}?recordId=%00', undefined, 400, 'INVALID_ARGUMENT', 'recordId: '],
    ['GET', '{notes}?createdAt.lt=yesterday', undefined, 400, 'INVALID_ARGUMENT', 'createdAt.lt: '],
    ['GET', '{notes}?createdAt.ltt=2026-01-01T00:00:00Z', undefined, 400, 'INVALID_ARGUMENT', 'createdAt.lt'],
    ['GET', `{notes}?teamName=Operations&cursor=${nextCursor}`, undefined, 400, 'INVALID_CURSOR', 'cursor'],
    ['GET', '{notes}?cursor=x', undefined, 400, 'INVALID_CURSOR', 'cursor'],
    ['GET', `{notes}?cursor=${nextCursor}!`, undefined, 400, 'INVALID_CURSOR', 'cursor'],
    ['GET', '/project/my%20project/environment/Production/notes', undefined, 404, 'NOT_FOUND', 'my project'],
    ['GET', '/project/My%20project/environment/production/notes', undefined, 404, 'NOT_FOUND', 'production'],
    ['GET', '{notes}/x', undefined, 400, 'INVALID_ARGUMENT', 'noteId: '],
    ['GET', '{notes}/999999', undefined, 404, 'NOT_FOUND', 'note 999999'],
    ['GET', '{notes}/99999999999999', undefined, 404, 'NOT_FOUND', 'note 99999999999999'],
    ['PATCH', '{notes}/999999', { archived: true }, 404, 'NOT_FOUND', 'note 999999'],
    ['PATCH', `{notes}/${note.id}`, {}, 400, 'INVALID_ARGUMENT', 'body: Send title, archived or both.'],
    ['PATCH', `{notes}/${note.id}`, { archived: 'yes' }, 400, 'INVALID_ARGUMENT', 'archived: '],
    ['PATCH', `{notes}/${note.id}`, { title: '\n\t' }, 400, 'INVALID_ARGUMENT', 'title: '],
    ['PATCH', `{notes}/${note.id}`, { title: 'x'.repeat(256) }, 400, 'INVALID_ARGUMENT', 'title: '],
    ['PATCH', `{notes}/${note.id}`, { recordId: '2' }, 400, 'INVALID_ARGUMENT', 'recordId'],
    ['POST', `{notes}/${note.id}/messages`, { content: big }, 400, 'INVALID_ARGUMENT', 'content: '],
    [
      'POST',
      `{notes}/${note.id}/messages`,
      { content: '&'.repeat(99_999) },
      400,
      'INVALID_ARGUMENT',
      '100000 characters',
    ],
    ['POST', `{notes}/${note.id}/messages`, { content: big + big }, 413, 'BODY_TOO_LARGE', '1500000 bytes'],
    ['POST', `{notes}/${note.id}/messages`, '{', 400, 'MALFORMED_JSON', 'parse'],
    ['POST', '{notes}/999999/messages', { content: 'x' }, 404, 'NOT_FOUND', 'note 999999'],
    ['PATCH', `{notes}/${note.id}/messages/999999`, { content: 'x' }, 404, 'NOT_FOUND', 'message 999999'],
    ['PATCH', `{notes}/${note.id}/messages/x`, { content: 'x' }, 400, 'INVALID_ARGUMENT', 'messageId: '],
    ['POST', '{notes}', { title: 'x', collectionName: 'customers' }, 400, 'INVALID_ARGUMENT', 'recordId: '],
    [
      'POST',
      '{notes}',
      { title: 'x', collectionName: 'Customers', recordId: '1' },
      400,
      'INVALID_ARGUMENT',
      'collectionName: ',
    ],
    ['DELETE', `{notes}/${note.id}`, undefined, 405, 'METHOD_NOT_ALLOWED', 'GET or HEAD or PATCH'],
  ];
  const found = [];
  for (const [method, path, body] of rows) found.push(await client.ask(method, path, { body }));
  expect(found.map(({ status, body }, at) => [at, status, body.code, typeof body.error, body.message])).toEqual(
    rows.map(([, , , status, code, told], at) => [at, status, code, 'string', expect.stringContaining(told)]),
  );
});

test('every write is in the activity log, failed ones too, without the content', async () => {
  const { store } = client.shop;
  const secret = await client.secret(['notes:write', 'notes:read']);
  const note = await client.create({ collectionName: 'orders', recordId: '7', content: 'x' }, secret);
  const path = `{notes}/${note.id}`;
  await client.ask('PATCH', path, { secret, body: { archived: true } });
  await client.ask('POST', `${path}/messages`, { secret, body: { content: 'y' } });
  await client.ask('PATCH', `${path}/messages/${note.messages[0].id}`, { secret, body: { content: 'z' } });
  await client.ask('GET', path, { secret });
  await client.ask('POST', '{notes}', { secret, body: { title: 'x', collectionName: 'orders', recordId: '999999' } });
  await store.activity.flush();
  const entries = (await store.activity.list({ limit: 6 })).filter(({ clientId }) => clientId.startsWith('token:'));
  const told = entries.map(({ action, type, collection, recordIds, outcome, code }) =>
    [action, type, collection, recordIds?.join(), outcome, code ?? ''].join(' ').trim(),
  );
  expect(told.toSorted()).toEqual([
    'createMessage write orders 7 completed',
    'createNote write orders 7 completed',
    'createNote write orders 999999 failed RECORD_NOT_FOUND',
    'openNote read orders 7 completed',
    'updateMessage write orders 7 completed',
    'updateNote write orders 7 completed',
  ]);
  expect(JSON.stringify(entries)).not.toContain('"z"');
});
