import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { hashToken } from '../../src/core/secret.ts';
import { resourceScopes } from '../../src/oauth/server/scopes.ts';
import { isApplicationToken, tokenScopes } from '../../src/store/oauth/tokens.ts';
import { cleanUpAfterEach, createPlace, variants } from './stores.ts';

cleanUpAfterEach();

test('the scopes that open /mcp are the OAuth scopes of the resource', () => {
  expect(tokenScopes.mcp).toEqual(resourceScopes);
});

describe.each(variants)('application tokens on $name', (variant) => {
  async function open() {
    const place = await createPlace(variant);
    const store = await place.open();
    const user = await store.identity.addUser({ email: 'ada@example.com' });
    return { place, store, user };
  }

  test('a token is random, returned once, and stored as its SHA-256', async () => {
    const { place, store, user } = await open();
    const asked = { userId: user.id, name: 'nightly', scopes: ['mcp:read'] };
    const { token, secret } = await store.tokens.create(asked);
    const other = await store.tokens.create({ ...asked, name: 'weekly' });
    const rows = JSON.stringify(await place.tables().knex('application_tokens'));
    expect([
      isApplicationToken(secret),
      Buffer.from(secret.slice(4), 'base64url').length * 8,
      other.secret === secret,
      rows.includes(secret),
      rows.includes(secret.slice(4)),
      await store.tokens.find(hashToken(secret)),
      await store.tokens.find(secret),
    ]).toEqual([true, 256, false, false, false, token, undefined]);
    expect(token).toMatchObject({
      ...asked,
      email: 'ada@example.com',
      entrance: 'mcp',
      expiresAt: null,
      lastUsedAt: null,
    });
  });

  test('creation and revocation are in the admin log, with their author', async () => {
    const { place, store, user } = await open();
    const { token } = await store.tokens.create({ userId: user.id, name: 'nightly', scopes: ['mcp:read'] }, user.id);
    await store.tokens.revoke(token.id, user.id);
    const entries = await place.tables().knex('admin_logs').where('subject', 'ada@example.com: nightly').orderBy('id');
    expect(entries.map(({ action, subject, user_id }) => [action, subject, user_id])).toEqual([
      ['token.create', 'ada@example.com: nightly', user.id],
      ['token.revoke', 'ada@example.com: nightly', user.id],
    ]);
  });

  test.each([
    [{ scopes: ['mcp:read', 'all'] }, /^scopes: .*scopes of only one/],
    [{ scopes: [] }, /^scopes: /],
    [{ scopes: ['mcp:everything'] }, /^scopes: /],
    [{ name: ' ' }, /^name: /],
    [{ name: 'a\u001b[2Jb' }, /^name: .*printable/],
    [{ name: 'taken' }, /^name: .*has a token 'taken'/],
    [{ expiresAt: 1 }, /^expiresAt: /],
    [{ userId: 99 }, /^userId: there is no user 99/],
  ])('%j is refused', async (change, problem) => {
    const { store, user } = await open();
    await store.tokens.create({ userId: user.id, name: 'taken', scopes: ['all'] });
    const asked = { userId: user.id, name: 'new', scopes: ['mcp:read'], ...change };
    await expect(store.tokens.create(asked)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(new RegExp(`(^|[^a-z])${problem.source.replace('^', '')}`, 's')),
    });
    expect((await store.tokens.list()).map(({ name }) => name)).toEqual(['taken']);
  });

  test('a valid token is cached until it is revoked in any process', async () => {
    const { place, store, user } = await open();
    const other = await place.open();
    const { token, secret } = await store.tokens.create({ userId: user.id, name: 'nightly', scopes: ['all'] });
    const hash = hashToken(secret);
    expect(await store.tokens.find(hash)).toEqual(token);
    await place.tables().knex('application_tokens').where({ id: token.id }).update({ name: 'not looked at' });
    expect(await store.tokens.find(hash)).toEqual(token);
    await other.tokens.revoke(token.id);
    expect(await store.tokens.find(hash)).toBeUndefined();
  });

  test('revoking deletes the row, raises the version of grants and is logged; a second time does nothing', async () => {
    const { place, store, user } = await open();
    const { token, secret } = await store.tokens.create({ userId: user.id, name: 'nightly', scopes: ['notes:read'] });
    const before = (await store.versions()).grants;
    const gone = [await store.tokens.revoke(token.id), await store.tokens.revoke(token.id)];
    const log = await place.tables().knex('admin_logs').where('action', 'like', 'token.%').orderBy('id');
    expect([gone, await store.tokens.find(hashToken(secret)), (await store.versions()).grants]).toEqual([
      [token, undefined],
      undefined,
      before + 1,
    ]);
    expect(log.map(({ action, subject }) => `${action} ${subject}`)).toEqual([
      'token.create ada@example.com: nightly',
      'token.revoke ada@example.com: nightly',
    ]);
    expect(JSON.stringify(log)).not.toContain(secret);
  });

  test('uses are collected and written together, at the latest when the store closes; the latest is kept', async () => {
    const { place, store, user } = await open();
    let now = 1_795_204_800_000;
    const busy = await place.open({ clock: { ...systemClock, now: () => now } });
    const { token } = await store.tokens.create({ userId: user.id, name: 'nightly', scopes: ['mcp:read'] });
    busy.tokens.noteUse(token.id);
    now += 1000;
    busy.tokens.noteUse(token.id);
    const unwritten = (await store.tokens.list())[0]?.lastUsedAt;
    await busy.close();
    const written = (await store.tokens.list())[0]?.lastUsedAt;
    expect([unwritten, written]).toEqual([null, now]);
  });
});
