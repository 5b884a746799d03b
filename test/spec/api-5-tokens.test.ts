// Section 5 of the public API: the access that each token has at the moment of the call.
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { type NoteClient, notesPath, openNoteClient } from '../api/note-client.ts';
import { openShop } from '../app/shop.ts';
import { createBrowser } from '../oauth/flow.ts';
import { goThrough, openUpstream } from '../oauth/upstream.ts';

let late = 0;
let client: NoteClient;
beforeAll(async () => {
  client = await openNoteClient({ app: { clock: { ...systemClock, now: () => Date.now() + late } } });
  await client.shop.addUser({ email: 'eve@example.com', level: 'editor' });
});
afterAll(() => client?.shop.stop());

const note = { title: 'A note', collectionName: 'customers', recordId: '1' };
const tokens = '/project/My%20project/tokens';
const activity = '/project/My%20project/environment/Production/activity-logs';
const adminLogs = '/project/My%20project/admin-logs';

/** The statuses of: list notes, create a note, activity log, admin log, list tokens. */
async function statuses(scopes: readonly string[], email?: string) {
  const secret = await client.secret(scopes, email);
  const asked = [
    await client.ask('GET', '{notes}', { secret }),
    await client.ask('POST', '{notes}', { secret, body: note }),
    await client.ask('GET', activity, { secret }),
    await client.ask('GET', adminLogs, { secret }),
    await client.ask('GET', tokens, { secret }),
  ];
  return asked.map(({ status }) => status);
}

test('Bearer | every request carries `Authorization: Bearer <APPLICATION_TOKEN>`', async () => {
  const secret = await client.secret(['all']);
  const ask = async (headers: Record<string, string>, query = '') =>
    (await fetch(`${client.shop.address}/v1/token${query}`, { headers })).status;
  expect([
    await ask({ authorization: `Bearer ${secret}` }),
    await ask({}),
    await ask({ authorization: `Basic ${btoa(`${secret}:`)}` }),
    await ask({ authorization: secret }),
    await ask({ cookie: `token=${secret}` }),
    await ask({}, `?access_token=${secret}`),
  ]).toEqual([200, 401, 401, 401, 401, 401]);
});

test('Admin role | the generating user must have it; tokens of non-admin users cannot use the notes endpoint', async () => {
  const { identity, members } = client.shop.store;
  const secret = await client.secret(['all'], 'eve@example.com');
  const { id } = (await identity.findUserByEmail('eve@example.com'))!;
  const ask = async () => (await client.ask('GET', '{notes}', { secret })).status;
  const seen = [await ask()];
  await members.change(id, { level: 'admin' });
  seen.push(await ask());
  await members.change(id, { level: 'editor' });
  seen.push(await ask());
  expect(seen).toEqual([403, 200, 403]);
});

test('SSO | when the project uses it, the token must be generated while logged in through it', async () => {
  const upstream = await openUpstream();
  onTestFinished(() => upstream.stop());
  // Password sign-in stays enabled, to open a session that must not create a token.
  const other = await openNoteClient({ env: { ...upstream.env, SERVICE_SSO_PASSWORDS: 'true' } });
  onTestFinished(() => other.shop.stop());
  const at = (page: string) => other.shop.consoleUrl + page;
  upstream.start([at('/sso/callback')]);
  const through = createBrowser();
  await through.open(await goThrough(through, await through.open(at('/tokens')), 'nina'));
  const form = await through.open(at('/tokens/new?for=api'));
  const { html } = await through.press(form, 'make', { name: 'Hers', scope: 'notes:read', expires: 'never' });
  const [secret = 'none'] = /svc_[\w-]{43}/.exec(html) ?? [];
  const typed = createBrowser();
  await typed.press(await typed.open(at('/tokens')), 'sign-in', { ...other.shop.account });
  const refused = await typed.open(at('/tokens/new?for=api'));
  const without = await other.secret(['notes:read']);
  expect([
    refused.status,
    refused.html.includes('Single sign-on is required'),
    html.includes('type="password"'),
  ]).toEqual([403, true, false]);
  const [theirs, theOther] = [secret, without].map((sent) => other.ask('GET', '/token', { secret: sent }));
  const { status, body } = await theOther!;
  expect([(await theirs!).status, status, body.message]).toEqual([
    ...[200, 401],
    'Single sign-on is required, and this token was created without it. Sign in through it and create another token.',
  ]);
});

test('revoked | at any time; takes effect immediately, and calls then return 401', async () => {
  const { store, account } = client.shop;
  const user = (await store.identity.findUserByEmail(account.email))!;
  const { token, secret } = await store.tokens.create({ userId: user.id, name: 'gone', scopes: ['notes:read'] });
  const before = (await client.ask('GET', '{notes}', { secret })).status;
  const gone = await client.ask('DELETE', `${tokens}/${token.id}`);
  expect([before, gone.status, (await client.ask('GET', '{notes}', { secret })).status]).toEqual([200, 204, 401]);
  // A second deletion returns 404, and an unknown or invalid id an error.
  const others = [];
  for (const id of [token.id, 999_999, 0, 'x', '1.5', `${token.id}x`, 9_999_999_999])
    others.push((await client.ask('DELETE', `${tokens}/${id}`)).status);
  expect(others).toEqual([404, 404, 400, 400, 400, 400, 404]);
});

test('expire | a token can', async () => {
  const { store, account } = client.shop;
  const user = (await store.identity.findUserByEmail(account.email))!;
  const asked = { userId: user.id, name: 'short', scopes: ['notes:read'], expiresAt: Date.now() + 30_000 };
  const { secret } = await store.tokens.create(asked);
  const before = (await client.ask('GET', '{notes}', { secret })).status;
  late = 31_000;
  const after = (await client.ask('GET', '{notes}', { secret })).status;
  late = 0;
  expect([before, after]).toEqual([200, 401]);
});

test('read-only | view activity logs, admin logs, notes', async () => {
  const secret = await client.secret(['activity_logs:read', 'admin_logs:read', 'notes:read']);
  const { body } = await client.ask('GET', '/token', { secret });
  expect([body.level, await statuses(body.scopes)]).toEqual(['read-only', [200, 403, 200, 200, 403]]);
});

test('read-write | also create and update notes', async () => {
  const secret = await client.secret(['notes:read', 'notes:write']);
  const { body } = await client.ask('GET', '/token', { secret });
  const made = await client.ask('POST', '{notes}', { secret, body: note });
  const path = `{notes}/${made.body.id}`;
  const changed = await client.ask('PATCH', path, { secret, body: { title: 'Another' } });
  expect([body.level, made.status, changed.status, changed.body.title]).toEqual(['read-write', 201, 200, 'Another']);
});

test('read-only, read-write | notes:read, notes:write, all: every write of a note needs the write scope, every read the read scope', async () => {
  const { id, messages } = await client.create({ content: 'first' });
  const asked = async (scopes: readonly string[]) => {
    const secret = await client.secret(scopes);
    const about = `{notes}/${id}`;
    const answers = [
      await client.ask('GET', about, { secret }),
      await client.ask('PATCH', about, { secret, body: { title: 'Another' } }),
      await client.ask('POST', `${about}/messages`, { secret, body: { content: 'more' } }),
      await client.ask('PATCH', `${about}/messages/${messages[0].id}`, { secret, body: { content: 'changed' } }),
    ];
    return answers.map(({ status }) => status);
  };
  expect([
    await asked(['notes:read']),
    await asked(['notes:write']),
    await asked(['activity_logs:read', 'admin_logs:read']),
    await asked(['all']),
  ]).toEqual([[200, 403, 403, 403], [403, 200, 201, 200], [403, 403, 403, 403], [200, 200, 201, 200]]);
}); // biome-ignore format: short

test('Bearer | the scheme in any case, the token exactly; revoked | only this token, not others', async () => {
  const { store, account } = client.shop;
  const user = (await store.identity.findUserByEmail(account.email))!;
  const make = (name: string) => store.tokens.create({ userId: user.id, name, scopes: ['notes:read'] });
  const [one, other] = [await make('one'), await make('other')];
  const ask = async (authorization: string) =>
    (await fetch(`${client.shop.address}/v1/token`, { headers: { authorization } })).status;
  const seen = [await ask(`bearer ${one.secret}`), await ask(`Bearer ${one.secret.toUpperCase()}`), await ask(`Bearer ${one.secret}x`), await ask(`Bearer ${one.secret.slice(0, -1)}`)];
  await client.ask('DELETE', `${tokens}/${one.token.id}`);
  expect([...seen, await ask(`Bearer ${one.secret}`), await ask(`Bearer ${other.secret}`)]).toEqual([200, 401, 401, 401, 401, 200]);
}); // biome-ignore format: short

test('expire | at its exact moment; Admin role | also for writing notes and for the admin log', async () => {
  const { store, account } = client.shop;
  const user = (await store.identity.findUserByEmail(account.email))!;
  const expiresAt = Date.now() + 3_600_000;
  const { secret } = await store.tokens.create({ userId: user.id, name: 'hour', scopes: ['all'], expiresAt });
  const ask = async () => (await client.ask('GET', '/token', { secret })).status;
  late = expiresAt - Date.now() - 2000;
  const seen = [await ask()];
  late = expiresAt - Date.now();
  seen.push(await ask());
  late = 0;
  expect([seen, await statuses(['all'], 'eve@example.com')]).toEqual([[200, 401], [403, 403, 403, 403, 403]]);
}); // biome-ignore format: short

test.each([
  ['notes:read', 'read notes', [200, 403, 403, 403, 403]],
  ['notes:write', 'create and update notes', [403, 201, 403, 403, 403]],
  ['activity_logs:read', 'read activity logs', [403, 403, 200, 403, 403]],
  ['admin_logs:read', 'read admin logs', [403, 403, 403, 200, 403]],
  ['all', 'full API access', [200, 201, 200, 200, 200]],
] as const)('%s | %s', async (scope, _, expected) => {
  expect(await statuses([scope])).toEqual(expected);
  // All other scopes together do not grant this access.
  const others = ['notes:read', 'notes:write', 'activity_logs:read', 'admin_logs:read', 'workflows:trigger'].filter(
    (each) => each !== scope,
  );
  const own = (expected as readonly number[]).findIndex((status) => status < 300);
  if (scope !== 'all') expect((await statuses(others))[own]).toBe(403);
});

test.each([
  ['activity_logs:read', [200, 403, 403]],
  ['admin_logs:read', [403, 200, 403]],
  ['notes:read', [403, 403, 404]],
  ['notes:write', [403, 403, 403]],
  ['workflows:trigger', [403, 403, 403]],
  ['all', [200, 200, 404]],
] as const)('%s | at the exports of both logs, and at a single note', async (scope, expected) => {
  const headers = { authorization: `Bearer ${await client.secret([scope])}` };
  const seen = [];
  for (const path of [`${activity}/export?recordId=none`, `${adminLogs}/export?userId=999`, `${notesPath}/999999`])
    seen.push((await fetch(`${client.shop.address}/v1${path}`, { headers })).status);
  expect(seen).toEqual(expected);
});

test('read-only, read-write | the level of each set of scopes, and what read-only may never do', async () => {
  const levels: Record<string, string> = {};
  const reading = ['activity_logs:read', 'admin_logs:read', 'notes:read'];
  for (const scopes of [...reading.map((one) => [one]), reading, ['notes:write'], ['workflows:trigger'], ['all'], ['notes:read', 'workflows:trigger']])
    levels[scopes.join(' ')] = (await client.ask('GET', '/token', { secret: await client.secret(scopes) })).body.level;
  expect(levels).toEqual({
    ...Object.fromEntries([...reading, reading.join(' ')].map((one) => [one, 'read-only'])),
    ...Object.fromEntries(['notes:write', 'workflows:trigger', 'all', 'notes:read workflows:trigger'].map((one) => [one, 'read-write'])),
  });
  const secret = await client.secret(['all', 'notes:read']);
  const { secret: theirs } = await client.shop.store.tokens.create({ userId: 1, name: 'theirs', scopes: ['notes:read'] });
  const asked = await Promise.all([client.ask('GET', tokens, { secret }), client.ask('GET', tokens, { secret: theirs }), client.ask('DELETE', `${tokens}/1`, { secret: theirs })]);
  expect([asked.map(({ status }) => status), JSON.stringify(asked[0].body).includes('svc_')]).toEqual([[200, 403, 403], false]);
}); // biome-ignore format: short

test('Bearer | one header with one token, of 1 to 4096 characters, and the error describes the form', async () => {
  const secret = await client.secret(['all']);
  const ask = async (authorization: string) => {
    const response = await fetch(`${client.shop.address}/v1/token`, { headers: { authorization } });
    return [response.status, ((await response.json()) as { message?: string }).message];
  };
  const form = expect.stringContaining('`Bearer <token>`');
  expect([await ask(`Bearer  ${secret}`), await ask('Bearer'), await ask(`Bearer ${secret} ${secret}`), await ask(`Bearer ${secret}, Bearer ${secret}`), await ask(`Token ${secret}`), await ask(`Bearer ${'x'.repeat(4097)}`), await ask('Bearer x')]).toEqual([
    [200, undefined],
    ...Array(5).fill([401, form]),
    [401, expect.stringContaining('not an application token')],
  ]);
}); // biome-ignore format: short

const readings = ['activity_logs:read', 'admin_logs:read', 'notes:read'];
const scopes = [...readings, 'notes:write', 'workflows:trigger', 'all'];
test.each(scopes)('%s | alone, first and last of several: it grants the same, and restricts no other scope', async (scope) => {
  const grants: Record<string, readonly number[]> = { 'notes:read': [0], 'notes:write': [1], 'activity_logs:read': [2], 'admin_logs:read': [3], 'workflows:trigger': [], all: [0, 1, 2, 3, 4] };
  for (const other of scopes.filter((one) => one !== scope)) {
    const open = new Set([...grants[scope]!, ...grants[other]!]);
    const expected = [200, 201, 200, 200, 200].map((status, at) => (open.has(at) ? status : 403));
    expect([other, await statuses([scope, other])]).toEqual([other, expected]);
  }
}); // biome-ignore format: short

test('Admin role, revoked, expire | at each endpoint, for each level, at the next call', async () => {
  const { store } = client.shop;
  const { email } = await client.shop.addUser({ email: 'max@example.com', level: 'admin' });
  const { id } = (await store.identity.findUserByEmail(email))!;
  const asked = async (secret: string) => {
    const answers = [];
    for (const path of ['{notes}', activity, adminLogs, tokens, `${activity}/export?recordId=none`, `${adminLogs}/export?userId=999`])
      answers.push((await fetch(`${client.shop.address}/v1${path.replace('{notes}', notesPath)}`, { headers: { authorization: `Bearer ${secret}` } })).status);
    answers.push((await client.ask('POST', '{notes}', { secret, body: note })).status);
    return new Set(answers);
  };
  const { token, secret } = await store.tokens.create({ userId: id, name: 'max', scopes: ['all'], expiresAt: Date.now() + 3_600_000 });
  expect(await asked(secret)).toEqual(new Set([200, 201]));
  for (const level of ['developer', 'editor', 'user'] as const) {
    await store.members.change(id, { level });
    expect([level, await asked(secret)]).toEqual([level, new Set([403])]);
  }
  await store.members.change(id, { level: 'admin' });
  late = 3_600_001;
  expect(await asked(secret)).toEqual(new Set([401]));
  late = 0;
  expect(await asked(secret)).toEqual(new Set([200, 201]));
  expect((await client.ask('DELETE', `${tokens}/${token.id}`, { secret })).status).toBe(204);
  expect(await asked(secret)).toEqual(new Set([401]));
  const again = await store.tokens.create({ userId: id, name: 'max', scopes: ['all'] });
  await store.identity.setDisabled(id, true);
  expect(await asked(again.secret)).toEqual(new Set([401]));
}); // biome-ignore format: short

test('Admin role | checked again when the body has arrived: a user who loses it in between writes nothing', async () => {
  const { store } = client.shop;
  const { email } = await client.shop.addUser({ email: 'ray@example.com', level: 'admin' });
  const { id } = (await store.identity.findUserByEmail(email))!;
  const existing = await client.create({ content: 'of before' });
  const message = `${notesPath}/${existing.id}/messages/${existing.messages[0].id}`;
  for (const [method, path, body] of [
    ['POST', notesPath, { ...note, title: 'of Ray' }],
    ['PATCH', `${notesPath}/${existing.id}`, { title: 'of Ray' }],
    ['POST', `${notesPath}/${existing.id}/messages`, { content: 'of Ray' }],
    ['PATCH', message, { content: 'of Ray' }],
  ] as const) {
    const secret = await client.secret(['all'], email);
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const left = async () => Number((await fetch(`${client.shop.address}/v1/token`, { headers })).headers.get('x-ratelimit-remaining'));
    const first = await left();
    const text = JSON.stringify(body);
    const sent = httpRequest(`${client.shop.address}/v1${path}`, { method, headers: { ...headers, 'transfer-encoding': 'chunked' } });
    const answer = new Promise<number | undefined>((resolve, reject) => {
      sent.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
    });
    sent.write(text.slice(0, 5));
    // The call was counted: its rights were checked, and it waits for the rest of its body.
    let calls = 0;
    await expect.poll(async () => first - (await left()) - ++calls, { interval: 20, timeout: 10_000 }).toBe(1);
    await store.members.change(id, { level: 'developer' });
    sent.end(text.slice(5));
    expect([method, path, await answer]).toEqual([method, path, 403]);
    await store.members.change(id, { level: 'admin' });
  }
  const { data } = (await client.ask('GET', '{notes}?limit=100')).body;
  expect(JSON.stringify(data)).not.toContain('of Ray');
}); // biome-ignore format: short

test('read-only, read-write | the list of tokens has the level of those for assistants and for programs too', async () => {
  const levels: Record<string, string> = {
    'mcp:read': 'read-only',
    'mcp:write': 'read-write',
    'mcp:action': 'read-write',
    'records:read': 'read-only',
    'records:write': 'read-write',
    'records:action': 'read-write',
    'mcp:read mcp:action': 'read-write',
    'records:read records:write': 'read-write',
  };
  for (const name of Object.keys(levels))
    await client.shop.store.tokens.create({ userId: 1, name: `level ${name}`, scopes: name.split(' ') });
  const { data } = (await client.ask('GET', tokens)).body as { data: { name: string; level: string }[] };
  const listed = data.filter(({ name }) => name.startsWith('level '));
  expect(Object.fromEntries(listed.map(({ name, level }) => [name.slice('level '.length), level]))).toEqual(levels);
});

test('SSO | a token of a time without it is refused once it is on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-sso-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const env = { SERVICE_STORAGE_URL: `sqlite:${join(folder, 'portico.sqlite')}`, SERVICE_SECRET: 'x'.repeat(40) };
  const before = await openShop({ env });
  onTestFinished(() => before.stop());
  const browser = createBrowser();
  const at = (page: string) => before.consoleUrl + page;
  await browser.press(await browser.open(at('/tokens')), 'sign-in', { ...before.account });
  const form = await browser.open(at('/tokens/new?for=api'));
  const typed = { name: 'Old', scope: 'notes:read', expires: 'never', password: before.account.password };
  const [secret = 'none'] = /svc_[\w-]{43}/.exec((await browser.press(form, 'make', typed)).html) ?? [];
  const upstream = await openUpstream();
  onTestFinished(() => upstream.stop());
  const after = await openShop({ env: { ...env, ...upstream.env }, account: before.account });
  onTestFinished(() => after.stop());
  const seen = [];
  for (const { address } of [before, after]) {
    const answer = await fetch(`${address}/v1/token`, { headers: { authorization: `Bearer ${secret}` } });
    const { message } = (await answer.json()) as { readonly message?: string };
    seen.push([answer.status, message?.replace(/,.*/, '')]);
  }
  expect(seen).toEqual([
    [200, undefined],
    [401, 'Single sign-on is required'],
  ]);
});
