// Section 2.5 of the public API: an application token as its holder sees it over HTTP.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { type NoteClient, openNoteClient } from '../api/note-client.ts';
import { createBrowser } from '../oauth/flow.ts';

let late = 0;
let frozen: number | undefined;
let client: NoteClient;
beforeAll(async () => {
  client = await openNoteClient({ app: { clock: { ...systemClock, now: () => frozen ?? Date.now() + late } } });
});
afterAll(() => client?.shop.stop());

let made = 0;
async function make(given: { readonly expiresAt?: number; readonly scopes?: readonly string[] } = {}) {
  const { store, account } = client.shop;
  const user = (await store.identity.findUserByEmail(account.email))!;
  return store.tokens.create({ userId: user.id, name: `report ${++made}`, scopes: ['notes:read'], ...given });
}
const own = async (secret: string) => (await client.ask('GET', '/token', { secret })).body;

test('name | given at creation', async () => {
  const { token, secret } = await make();
  expect((await own(secret)).name).toBe(token.name);
});

test('project | bound to one project', async () => {
  const { secret } = await make();
  const there = await client.ask('GET', '/project/Another/environment/Production/notes', { secret });
  expect([there.status, (await client.ask('GET', '{notes}', { secret })).status]).toEqual([404, 200]);
});

test('creation date | ISO 8601', async () => {
  const before = Date.now();
  const { secret } = await make();
  const { createdAt } = await own(secret);
  expect(new Date(createdAt).toISOString()).toBe(createdAt);
  expect(Date.parse(createdAt) - before).toBeLessThan(60_000);
  expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before);
});

test('last used | absent before the first use, and then the time of the use; creation date | unchanged', {
  timeout: 30_000,
}, async () => {
  const { token, secret } = await make();
  const [behind, ahead] = [await make(), await make()];
  const far = Date.now() + 7_200_000;
  const { knex } = client.tables();
  await knex('application_tokens').where({ id: behind.token.id }).update({ last_used_at: 1000 });
  await knex('application_tokens').where({ id: ahead.token.id }).update({ last_used_at: far });
  late = 3_600_000;
  const first = (await own(secret)).lastUsedAt;
  await own(behind.secret);
  await own(ahead.secret);
  // The server writes uses in batches, a few seconds later.
  await expect
    .poll(async () => (await own(secret)).lastUsedAt && (await own(behind.secret)).lastUsedAt > '2000', {
      timeout: 20_000,
      interval: 1000,
    })
    .toBe(true);
  const used = Date.parse((await own(secret)).lastUsedAt);
  await own(ahead.secret);
  const [earlier, later] = [(await own(behind.secret)).lastUsedAt, (await own(ahead.secret)).lastUsedAt];
  late = 0;
  // A later use updates lastUsedAt. An earlier use that is written late does not.
  expect([Date.parse(earlier) - used < 60_000, later]).toEqual([true, new Date(far).toISOString()]);
  expect((await own(secret)).createdAt).toBe(new Date(token.createdAt).toISOString());
  expect(first).toBeUndefined();
  expect(used - token.createdAt).toBeGreaterThanOrEqual(3_600_000);
  expect(used - token.createdAt).toBeLessThan(3_660_000);
});

test('expiration date | the token is refused from then on', async () => {
  const expiresAt = Date.now() + 60_000;
  const { secret } = await make({ expiresAt });
  const shown = (await own(secret)).expiresAt;
  late = 60_001;
  const after = await client.ask('GET', '/token', { secret });
  late = 0;
  expect([shown, after.status]).toEqual([new Date(expiresAt).toISOString(), 401]);
  const { secret: lasting } = await make();
  late = 400 * 86_400_000;
  const forever = await own(lasting);
  late = 0;
  expect(Object.hasOwn(forever, 'expiresAt')).toBe(false);
  for (const over of [Date.now() - 1, Date.now() - 86_400_000, Number.NaN])
    await expect(make({ expiresAt: over })).rejects.toThrow('a time in the future');
});

test('expiration date | to the millisecond: valid before it, and not at it', async () => {
  const expiresAt = Date.now() + 120_000;
  const { secret } = await make({ expiresAt });
  const seen = [];
  for (const at of [expiresAt - 1, expiresAt, expiresAt + 1]) {
    frozen = at;
    seen.push((await client.ask('GET', '/token', { secret })).status);
  }
  frozen = undefined;
  expect(seen).toEqual([200, 401, 401]);
});

test('name | trimmed, 1 to 100 printable characters, unique for each user; project | a token of another project is refused', async () => {
  const { tokens, identity } = client.shop.store;
  const { id: ada } = (await identity.findUserByEmail(client.shop.account.email))!;
  const { id: bea } = await client.shop.addUser({ email: 'bea@example.com' }).then(async ({ email }) => {
    return (await identity.findUserByEmail(email))!;
  });
  const create = (name: string, userId = ada) => tokens.create({ userId, name, scopes: ['notes:read'] });
  const { secret } = await create('  the name ');
  const { token: long } = await create('n'.repeat(100));
  expect([(await own(secret)).name, long.name.length, (await create('the name', bea)).token.name]).toEqual([
    'the name',
    100,
    'the name',
  ]);
  for (const wrong of ['', ' ', 'n'.repeat(101), 'two\nlines', 'the name', ' the name'])
    await expect(create(wrong), wrong).rejects.toThrow(/printable characters|has a token 'the name'/);
  const { knex } = client.tables();
  const [other] = await knex('projects')
    .insert({ organization: 'Mine', name: 'Another', created_at: 1 })
    .returning('id');
  const elsewhere = await create('elsewhere');
  await knex('application_tokens').where({ id: elsewhere.token.id }).update({ project_id: other.id });
  const there = await client.ask('GET', '/token', { secret: elsewhere.secret });
  await knex('application_tokens').where({ id: elsewhere.token.id }).delete();
  await knex('projects').where({ id: other.id }).delete();
  expect(there.status).toBe(401);
});

test('scopes | each once, at least one, only those of one API', async () => {
  const { secret } = await make({ scopes: ['notes:read', 'admin_logs:read', 'notes:read'] });
  const { scopes, level } = await own(secret);
  expect([scopes, level]).toEqual([['notes:read', 'admin_logs:read'], 'read-only']);
  for (const wrong of [
    [],
    ['notes:read', 'mcp:read'],
    ['notes:delete'],
    ['notes:read', 'x'],
    ['Notes:read'],
    ['notes:read notes:write'],
  ])
    await expect(make({ scopes: wrong }), `${wrong}`).rejects.toThrow('expected some of');
});

test('scopes | as chosen', async () => {
  const { secret } = await make({ scopes: ['notes:read', 'activity_logs:read'] });
  expect((await own(secret)).scopes).toEqual(['notes:read', 'activity_logs:read']);
});

test('value | different each time, also for the same name', async () => {
  const { tokens, identity } = client.shop.store;
  const { id: userId } = (await identity.findUserByEmail(client.shop.account.email))!;
  const values = [];
  for (let time = 0; time < 3; time++) {
    const { token, secret } = await tokens.create({ userId, name: 'The same', scopes: ['notes:read'] });
    values.push(secret);
    await tokens.revoke(token.id);
  }
  const statuses = [];
  for (const secret of values) statuses.push((await client.ask('GET', '/token', { secret })).status);
  expect([new Set(values).size, values.every((each) => /^svc_[\w-]{43}$/.test(each)), statuses]).toEqual([
    3,
    true,
    [401, 401, 401],
  ]);
});

test('value | displayed once at creation, and cannot be retrieved later', async () => {
  const { shop } = client;
  const browser = createBrowser();
  const at = (page: string) => shop.consoleUrl + page;
  await browser.press(await browser.open(at('/tokens')), 'sign-in', { ...shop.account });
  const form = await browser.open(at('/tokens/new?for=api'));
  const typed = { name: 'Once', scope: 'notes:read', expires: '30', password: shop.account.password };
  const { html } = await browser.press(form, 'make', typed);
  const [, secret = 'none'] = /aria-label="the token"><code>(svc_[\w-]{43})</.exec(html) ?? [];
  const everywhere = [
    (await browser.open(at('/tokens'))).html,
    (await browser.open(at('/tokens/new?for=api'))).html,
    (await browser.press(form, 'make', typed)).html,
    JSON.stringify([await own(secret), await client.ask('GET', '/project/My%20project/tokens')]),
  ];
  expect([
    (await client.ask('GET', '/token', { secret })).status,
    everywhere.some((text) => text.includes('svc_')),
  ]).toEqual([200, false]);
});

test('name, creation date, last used, expiration date, scopes: of tokens of each kind, in both responses; without the value', async () => {
  const list = '/project/My%20project/tokens';
  const all = ['activity_logs:read', 'admin_logs:read', 'notes:read', 'notes:write', 'workflows:trigger', 'all'];
  const { knex } = client.tables();
  for (const given of [
    { scopes: all, expiresAt: Date.now() + 86_400_123 },
    { scopes: all.toReversed() },
    { scopes: ['all', 'notes:read'] },
  ]) {
    const { token, secret } = await make(given);
    const usedAt = token.createdAt + 12_345;
    await knex('application_tokens').where({ id: token.id }).update({ last_used_at: usedAt });
    const expected = {
      ...{ object: 'token', id: token.id, name: token.name, level: 'read-write', scopes: given.scopes },
      createdAt: new Date(token.createdAt).toISOString(),
      ...(given.expiresAt !== undefined && { expiresAt: new Date(given.expiresAt).toISOString() }),
      lastUsedAt: new Date(usedAt).toISOString(),
      user: { object: 'user', id: 1, email: 'ada@example.com' },
    };
    const listed = (await client.ask('GET', list)).body.data.find(({ id }: { id: number }) => id === token.id);
    expect([await own(secret), listed]).toStrictEqual([expected, expected]);
  }
});

test('name | only printable characters', async () => {
  const create = (name: string) => client.shop.store.tokens.create({ userId: 1, name, scopes: ['notes:read'] });
  for (const wrong of ['a\u200bb', 'a\u202eb', 'a\u0000b', 'a\tb', 'a\u007fb', 'a\ufeffb'])
    await expect(create(wrong), JSON.stringify(wrong)).rejects.toThrow('printable characters');
  expect((await create('Zürich – “1”, 北京')).token.name).toBe('Zürich – “1”, 北京');
});
