// Application tokens in the console: users create their own, see the secret once, use it at its endpoint, and revoke
// it.
import { TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../app/call.ts';
import type { Account, Page } from '../oauth/flow.ts';
import { wrongCode } from '../wrong-code.ts';
import { type ConsoleTestServer, openConsoleServer, read } from './console-server.ts';

let server: ConsoleTestServer;
let bob: Account;
beforeAll(async () => {
  server = await openConsoleServer({ env: { SERVICE_SIGN_IN_ATTEMPTS: '20' } });
  bob = await server.addUser({ email: 'bob@example.com', firstName: 'Bob', level: 'editor' });
});
afterAll(() => server.stop());

type Typed = Readonly<Record<string, string | readonly string[]>>;

async function make(account: Account, entrance: 'api' | 'mcp', typed: Typed) {
  const { browser, page } = await server.browse(account, '/tokens');
  const form = await browser.open(server.at(`/tokens/new?for=${entrance}`));
  const { password } = account;
  const made = await browser.press(form, 'make', { name: 'a', expires: '30', password, ...typed });
  return { browser, page, form, made, secret: secretIn(made) };
}
const secretIn = ({ html }: Page): string => /svc_[\w-]{43}/.exec(html)?.[0] ?? 'none';
const atApi = async (secret: string) => {
  const answer = await fetch(`${server.address}/v1/token`, { headers: { authorization: `Bearer ${secret}` } });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};
const atMcp = async (secret: string) => (await ask(server.mcpUrl, secret, 'tools/list', {})).status;
const find = async (name: string) => (await server.store.tokens.list()).find((token) => token.name === name);

test('a token for the public API has the chosen scopes and is shown only in one response', async () => {
  const typed = { name: 'Nightly report', scope: ['notes:read', 'activity_logs:read'] };
  const { browser, made, secret } = await make(server.account, 'api', typed);
  const { status, body } = await atApi(secret);
  const list = await browser.open(server.at('/tokens'));
  const token = (await find('Nightly report'))!;
  expect([made.status, made.url, made.headers.get('cache-control')]).toEqual([
    200,
    server.at('/tokens/new'),
    'no-store',
  ]);
  expect([status, body.level, body.scopes, await atMcp(secret)]).toEqual([
    200,
    'read-only',
    ['notes:read', 'activity_logs:read'],
    401,
  ]);
  expect(Math.round((token.expiresAt! - token.createdAt) / 86_400_000)).toBe(30);
  expect([secretIn(list), read(list).includes('Nightly report Public API read-only'), read(made)]).toEqual([
    'none',
    true,
    expect.stringContaining('it is shown only once'),
  ]);
  expect(JSON.stringify(server.observed)).not.toContain(secret);
  expect(server.observed).toContainEqual(
    expect.objectContaining({ event: 'token.made', userId: server.ada.id, detail: `${token.id}` }),
  );
});

test('the same form sent again, as by a reload, shows and creates nothing', async () => {
  const typed = { name: 'Once', scope: ['notes:read'] };
  const { browser, form } = await make(server.account, 'api', typed);
  const count = (await server.store.tokens.list()).length;
  const sent = { ...typed, expires: '30', password: server.account.password };
  const again = await browser.press(form, 'make', sent);
  // The name is free again after the revocation.
  await server.store.tokens.revoke((await find('Once'))!.id, server.ada.id);
  const afterwards = await browser.press(form, 'make', sent);
  const unmarked = await browser.press(form, 'make', { ...sent, once: '' });
  for (const page of [again, afterwards, unmarked])
    expect([page.status, secretIn(page), read(page).includes('was already sent')]).toEqual([400, 'none', true]);
  expect((await server.store.tokens.list()).length).toBe(count - 1);
  // The form on the error page can be sent.
  expect(secretIn(await browser.press(afterwards, 'make', sent))).toMatch(/^svc_/);
});

test('a second token of the same name is refused', async () => {
  const typed = { name: 'Twin', scope: ['notes:read'] };
  await make(server.account, 'api', typed);
  const { made } = await make(server.account, 'api', typed);
  expect([made.status, secretIn(made), /has a token .{1,6}Twin/.test(read(made))]).toEqual([400, 'none', true]);
});

test('users with an authenticator app need a code after the password', async () => {
  const kim = await server.addUser({ email: 'kim@example.com' });
  const { id } = await server.userOf(kim);
  const { browser } = await server.browse(kim, '/tokens');
  const { secret } = await server.store.secondFactors.propose('kim@example.com', 'here');
  const codes = await server.store.secondFactors.switchOn(id, secret, new TOTP({ secret }).generate());
  const form = await browser.open(server.at('/tokens/new?for=api'));
  const typed = { name: 'With a code', scope: ['notes:read'], expires: '30', password: kim.password };
  const none = await browser.press(form, 'make', typed);
  const wrong = await browser.press(none, 'make', { ...typed, code: wrongCode(secret) });
  const noPassword = await browser.press(wrong, 'make', { ...typed, password: 'not hers', code: codes![0]! });
  const before = await find('With a code');
  const made = await browser.press(noPassword, 'make', { ...typed, code: codes![0]! });

  expect([none, wrong].map((page) => [page.status, read(page).includes('This code is wrong')])).toEqual(
    Array(2).fill([400, true]),
  );
  expect([noPassword.status, read(noPassword).includes('The current password is wrong'), before]).toEqual([
    400,
    true,
    undefined,
  ]);
  // The wrong password did not use up the recovery code; the successful request did.
  expect([made.status, secretIn(made)]).toEqual([200, expect.stringMatching(/^svc_/)]);
  expect((await server.store.secondFactors.of(id))?.recoveryCodes).toBe(codes!.length - 1);
  // Users without a second factor need no code.
  const { form: plain } = await make(bob, 'api', { name: 'No code', scope: ['notes:read'] });
  expect([plain.html.includes('name="code"'), form.html.includes('name="code"')]).toEqual([false, true]);
});

test('a token for assistants opens /mcp and not the public API', async () => {
  const { secret } = await make(bob, 'mcp', { name: 'Script', scope: ['mcp:read'], expires: 'never' });
  expect([await atMcp(secret), (await atApi(secret)).status, (await find('Script'))?.expiresAt]).toEqual([
    200,
    401,
    null,
  ]);
});

test('a token ends at the end of the chosen day, in the timezone of the user', async () => {
  await server.store.identity.setProfile(server.ada.id, {
    firstName: 'Ada',
    lastName: 'Byron',
    timezone: 'America/New_York',
  });
  await make(server.account, 'api', { name: 'Dated', scope: ['notes:read'], expires: 'date', date: '2031-07-04' });
  await make(server.account, 'api', { name: 'Winter', scope: ['notes:read'], expires: 'date', date: '2031-11-02' });
  const ends = [(await find('Dated'))?.expiresAt, (await find('Winter'))?.expiresAt];
  // New York is four hours behind UTC in July, and five from 2 November 2031.
  expect(ends.map((at) => new Date(at!).toISOString())).toEqual([
    '2031-07-05T03:59:59.999Z',
    '2031-11-03T04:59:59.999Z',
  ]);
});

test.each([
  ['no name', { name: ' ' }, 'Enter a name'],
  ['no scope', { name: 'n1', scope: [] }, 'Choose at least one'],
  ['a scope of the other API', { name: 'n2', scope: ['mcp:read'] }, 'Choose at least one'],
  ['a read-only token that writes', { name: 'n3', scope: ['notes:write'] }, 'A read-only token cannot “write notes”'],
  ['a read-only token with all scopes', { name: 'n4', scope: ['all'] }, 'A read-only token cannot “everything”'],
  ['a past day', { name: 'n5', expires: 'date', date: '2020-01-01' }, 'an expiry date in the future'],
  ['an invalid day', { name: 'n6', expires: 'date', date: '2031-02-30' }, 'an expiry date in the future'],
  ['an unknown expiry', { name: 'n7', expires: '1000000' }, 'an expiry date in the future'],
  ['a wrong password', { name: 'n8', password: 'not hers' }, 'The current password is wrong'],
  ['no password', { name: 'n9', password: '' }, 'The current password is wrong'],
])('%s is refused, and nothing is created', async (_, typed, text) => {
  const before = (await server.store.tokens.list()).length;
  const { made } = await make(server.account, 'api', { scope: ['notes:read'], ...typed });
  expect([made.status, read(made).includes(text), secretIn(made)]).toEqual([400, true, 'none']);
  expect((await server.store.tokens.list()).length).toBe(before);
});

test('a user without the Admin role sees a warning, and calls are refused until they have it', async () => {
  const { form, secret } = await make(bob, 'api', { name: 'Later', scope: ['all'], level: 'read-write' });
  const path = `${server.address}/v1/project/${encodeURIComponent('My project')}/tokens`;
  const call = async () => (await fetch(path, { headers: { authorization: `Bearer ${secret}` } })).status;
  const before = await call();
  const { id } = await server.userOf(bob);
  await server.store.members.change(id, { level: 'admin' });
  const after = await call();
  await server.store.members.change(id, { level: 'editor' });
  expect([
    read(form).includes('They require the level admin, which you do not have'),
    before,
    after,
    await call(),
  ]).toEqual([true, 403, 200, 403]);
});

describe('revoking', () => {
  const press = async (account: Account, id: number, page = '/tokens', from = '/tokens') => {
    const { browser, page: shown } = await server.browse(account, page);
    const csrf = /name="csrf" value="([^"]+)"/.exec(shown.html)?.[1] ?? '';
    const body = new URLSearchParams({ csrf, from, action: 'revoke' });
    const headers = { 'sec-fetch-site': 'same-origin' };
    return browser.open(server.at(`/tokens/${id}`), { method: 'POST', body, headers });
  };

  test('applies to the next call, and has no effect a second time', async () => {
    const { secret } = await make(server.account, 'api', { name: 'Short', scope: ['notes:read'] });
    const before = (await atApi(secret)).status;
    const left = await press(server.account, (await find('Short'))!.id);
    const again = await press(server.account, 999_999);
    expect([before, left.url, (await atApi(secret)).status, again.url]).toEqual([
      200,
      server.at('/tokens?done=revoked'),
      401,
      server.at('/tokens?done=gone'),
    ]);
  });

  test('only administrators can see tokens of other users', async () => {
    const hers = await make(server.account, 'api', { name: 'Hers', scope: ['notes:read'] });
    const his = await make(bob, 'api', { name: 'His', scope: ['notes:read'] });
    const refused = await press(bob, (await find('Hers'))!.id);
    const closed = (await server.browse(bob, '/tokens')).browser.open(server.at('/tokens/everyone'));
    const mine = read((await server.browse(bob, '/tokens')).page);
    const admin = (await server.browse(server.account, '/tokens')).browser;
    const all = read(await admin.open(server.at('/tokens/everyone?user=BOB@&entrance=api&state=good')));
    const done = await press(server.account, (await find('His'))!.id, '/tokens', '/tokens/everyone');
    expect([refused.url, (await atApi(hers.secret)).status, (await closed).status]).toEqual([
      server.at('/tokens?done=gone'),
      200,
      404,
    ]);
    expect([
      mine.includes('Hers'),
      mine.includes('Tokens of all users'),
      all.includes('His'),
      all.includes('Hers'),
    ]).toEqual([false, false, true, false]);
    expect([done.url, (await atApi(his.secret)).status]).toEqual([server.at('/tokens/everyone?done=revoked'), 401]);
  });
});
