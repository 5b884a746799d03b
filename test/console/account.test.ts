// The user's own account: links, the password, the authenticator app, and active sessions.
import { TOTP } from 'otpauth';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { servers, type TestDatabase } from '../databases.ts';
import type { Account, Browser, Page } from '../oauth/flow.ts';
import { createBrowser } from '../oauth/flow.ts';
import { askSql } from '../sql/schemas.ts';
import { wrongCode } from '../wrong-code.ts';
import { type ConsoleTestServer, csrfOf, openConsoleServer, read } from './console-server.ts';

let late = 0;
const clock: Clock = { ...systemClock, now: () => systemClock.now() + late };
let server: ConsoleTestServer;
let users = 0;
let eve: Account;
let eveId: number;

let storage: TestDatabase;
beforeAll(async () => {
  storage = await servers[0]!.create();
  server = await openConsoleServer({
    app: { clock },
    env: { SERVICE_SIGN_IN_ATTEMPTS: '4', SERVICE_STORAGE_URL: storage.url },
  });
});
afterAll(async () => {
  await server.stop();
  await storage.drop();
});
beforeEach(async () => {
  // Earlier failed guesses count for this IP address until the limit resets.
  late += 900_000;
  eve = await server.addUser({ email: `eve${++users}@example.com`, firstName: 'Eve', level: 'editor' });
  eveId = (await server.userOf(eve)).id;
});

const heading = (page: Page): string => /<h1>(.*?)<\/h1>/.exec(page.html)?.[1] ?? '';
const alertOf = (page: Page): string => /role="(?:alert|status)">([^<]+)</.exec(page.html)?.[1] ?? '';
const chosen = { new: 'a few words of hers', again: 'a few words of hers' };
const eventsOf = (userId: number) =>
  server.observed.flatMap((one) => (one.type === 'security' && one.userId === userId ? [one.event] : []));
const canSignIn = async (account: Account) => {
  const { page } = await server.browse(account);
  return page.status === 200 && !page.html.includes('name="password"');
};
const logOf = async ({ email }: Account) => {
  const rows = await askSql(
    storage,
    "SELECT action, subject, user_id FROM admin_logs WHERE type <> 'initial' ORDER BY id",
  );
  return rows.filter(({ subject }) => subject === email).map(({ action, user_id }) => [action, user_id]);
};

describe('a one-time link', () => {
  const open = async (purpose: 'invite' | 'reset', browser: Browser = createBrowser()) => {
    const { token } = await server.store.links.make(eveId, purpose);
    return { token, browser, page: await browser.open(server.at(`/welcome/${token}`)) };
  };

  test('stays valid after it is opened, shows its token in no URL or page, and works once', async () => {
    const { token, browser, page } = await open('reset');
    const scanned = await fetch(server.at(`/welcome/${token}`), { redirect: 'manual' });
    const short = await browser.press(page, 'choose', { new: 'short', again: 'short' });
    const unlike = await browser.press(page, 'choose', { new: 'one long password', again: 'another long one' });
    const set = await browser.press(page, 'choose', chosen);
    const again = await browser.press(page, 'choose', chosen);
    const replayed = await createBrowser().open(server.at(`/welcome/${token}`));
    expect([
      [page.url, page.html.includes(token), page.headers.get('cache-control'), page.headers.get('referrer-policy')],
      [scanned.status, scanned.headers.get('location'), scanned.headers.get('cache-control')],
      [short.status, alertOf(short)],
      [unlike.status, alertOf(unlike)],
      [set.status, heading(set), set.url],
      [again.status, heading(again)],
      [replayed.status, heading(replayed)],
      await canSignIn(eve),
      await canSignIn({ ...eve, password: chosen.new }),
    ]).toEqual([
      [server.at('/welcome'), false, 'no-store', 'same-origin'],
      [303, '/console/welcome', 'no-store'],
      [400, 'Expected 10 to 1024 characters.'],
      [400, 'The passwords do not match.'],
      [200, 'Password set', server.at('/password-set')],
      [410, 'This link no longer works'],
      [410, 'This link no longer works'],
      false,
      true,
    ]);
    expect(eventsOf(eveId)).toEqual(['link.used', 'password.changed', 'link.replayed', 'console.sign-in.ok']);
  });

  test('works only in the browser that opened it, with its own form', async () => {
    const { token, page } = await open('invite');
    const body = new URLSearchParams({ ...chosen, csrf: csrfOf(page), action: 'choose' });
    const send = (headers: Record<string, string>) =>
      fetch(server.at('/welcome'), { method: 'POST', body, headers, redirect: 'manual' });
    const name = `portico-console-${new URL(server.consoleUrl).port}`;
    const statuses = [
      (await send({ 'sec-fetch-site': 'same-origin' })).status,
      (await send({ 'sec-fetch-site': 'same-origin', cookie: `${name}-link=${token}` })).status,
      (await send({ 'sec-fetch-site': 'cross-site', cookie: `${name}-link=${token}` })).status,
    ];
    const wrongMethod = await fetch(server.at(`/welcome/${token}`), { method: 'POST', redirect: 'manual' });
    expect([statuses, wrongMethod.status, (await server.store.links.find(token)).state]).toEqual([
      [403, 403, 403],
      405,
      'open',
    ]);
  });

  test('of an invitation names the place and the user, and sets the first password', async () => {
    const bob = await server.store.identity.addUser({ email: `bob${users}@example.com`, firstName: 'Bob' });
    const { token } = await server.store.links.make(bob.id, 'invite');
    const browser = createBrowser();
    const page = await browser.open(server.at(`/welcome/${token}`));
    const before = await canSignIn({ email: bob.email, password: '' });
    await browser.press(page, 'choose', chosen);
    expect([heading(page), read(page).includes(bob.email), page.html.includes('disconnect'), before]).toEqual([
      'Welcome, Bob',
      true,
      false,
      false,
    ]);
    expect(await canSignIn({ email: bob.email, password: chosen.new })).toBe(true);
  });

  test('helps a user whose account is locked by guesses, since their browser is then known', async () => {
    const guess = createBrowser();
    const asked = await guess.open(server.at('/sign-in'));
    for (let i = 0; i < 5; i++) await guess.press(asked, 'sign-in', { email: eve.email, password: 'wrong password' });
    const { browser, page } = await open('reset');
    const done = await browser.press(page, 'choose', chosen);
    const signIn = await browser.open(server.at('/sign-in'));
    for (let i = 0; i < 5; i++) await guess.press(asked, 'sign-in', { email: eve.email, password: 'wrong password' });
    const signedIn = await browser.press(signIn, 'sign-in', { email: eve.email, password: chosen.new });
    expect([done.status, signedIn.status, heading(signedIn)]).toEqual([200, 200, 'Hello, Eve']);
  });
});

describe('the account', () => {
  const openAccount = async () => {
    const { browser } = await server.browse(eve);
    return { browser, page: await browser.open(server.at('/account')) };
  };

  test('saves another name and timezone, and refuses invalid ones', async () => {
    const { browser, page } = await openAccount();
    const saved = await browser.press(page, 'profile', { firstName: 'Eva', lastName: 'Ö', timezone: 'Europe/Paris' });
    const wrong = await browser.press(page, 'profile', { timezone: 'Mars/Olympus' });
    expect([saved.url, alertOf(saved), wrong.status, await server.userOf(eve)]).toMatchObject([
      server.at('/account?done=profile'),
      'Saved.',
      400,
      { firstName: 'Eva', lastName: 'Ö', timezone: 'Europe/Paris' },
    ]);
  });

  test('changes the password if the old one is given; all other sessions end', async () => {
    const { browser, page } = await openAccount();
    const other = await openAccount();
    const wrong = await browser.press(page, 'password', { ...chosen, password: 'not the old one' });
    const email = { new: eve.email, again: eve.email };
    const own = await browser.press(page, 'password', { ...email, password: eve.password });
    const changed = await browser.press(page, 'password', { ...chosen, password: eve.password });
    const otherAfter = await other.browser.open(server.at('/account'));
    expect([
      [wrong.status, alertOf(wrong)],
      [own.status, alertOf(own)],
      [changed.status, heading(changed), alertOf(changed).slice(0, 17)],
      heading(otherAfter),
      await canSignIn(eve),
    ]).toEqual([
      [400, 'The current password is wrong.'],
      [400, 'Expected a password other than the e-mail address.'],
      [200, 'Account', 'Password changed.'],
      'Sign in',
      false,
    ]);
    expect(await logOf(eve)).toEqual([
      ['user.add', null],
      ['user.password', eveId],
    ]);
  });

  test('limits guesses of the password in an open session', async () => {
    const { browser, page } = await openAccount();
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++)
      statuses.push((await browser.press(page, 'password', { ...chosen, password: `guess ${i}` })).status);
    statuses.push((await browser.press(page, 'password', { ...chosen, password: eve.password })).status);
    expect([statuses, await canSignIn(eve)]).toEqual([[400, 400, 400, 400, 429, 429], true]);
  });

  test('lists the sessions of the user; one or all of them can be ended, and not those of others', async () => {
    const { browser } = await openAccount();
    const other = await openAccount();
    const stranger = await server.browse(server.account, '/account');
    const page = await browser.open(server.at('/account'));
    const names = (await server.store.sessions.list(eveId)).map(({ name }) => name);
    const stolen = await stranger.browser.press(
      {
        ...page,
        html: page.html.replace(/name="csrf" value="[^"]+"/g, `name="csrf" value="${csrfOf(stranger.page)}"`),
      },
      'end',
    );
    const left = (await server.store.sessions.list(eveId)).length;
    const ended = await browser.press(page, 'end');
    const otherAfter = await other.browser.open(server.at('/account'));
    const third = await openAccount();
    const now = await browser.open(server.at('/account'));
    const out = await browser.press(now, 'sign-out-everywhere');
    expect([
      names.length,
      page.html.split('aria-label="End the session').length - 1,
      [stolen.status, left],
      [ended.status, alertOf(ended)],
      heading(otherAfter),
      [out.url, heading(await third.browser.open(server.at('')))],
      (await server.store.sessions.list(eveId)).length,
    ]).toEqual([2, 1, [200, 2], [200, 'Session ended.'], 'Sign in', [server.at('/sign-in'), 'Sign in'], 0]);
    expect(await logOf(eve)).toEqual([
      ['user.add', null],
      ['user.end-session', eveId],
      ['user.sign-out', eveId],
    ]);
  });
});

describe('an authenticator app', () => {
  const codeOf = (secret: string) => new TOTP({ secret }).generate({ timestamp: clock.now() });
  const setUp = async () => {
    const { browser } = await server.browse(eve);
    const page = await browser.open(server.at('/account/app'));
    const secret = /name="secret" value="([A-Z2-7]{32})"/.exec(page.html)![1]!;
    return { browser, page, secret };
  };
  const switchOn = async () => {
    const { browser, page, secret } = await setUp();
    const on = await browser.press(page, 'totp-on', { code: codeOf(secret), password: eve.password });
    const codes = [...on.html.matchAll(/<code>([a-z2-9-]{19})<\/code>/g)].map(([, code]) => code!);
    late += 60_000;
    return { browser, secret, on, codes };
  };

  test('is enabled with a code and the password, and never with only one of them', async () => {
    const { browser, page, secret } = await setUp();
    const byWrongCode = await browser.press(page, 'totp-on', {
      code: wrongCode(secret, clock.now()),
      password: eve.password,
    });
    const wrongPassword = await browser.press(page, 'totp-on', { code: codeOf(secret), password: 'not the password' });
    const off = await server.store.secondFactors.of(eveId);
    const on = await browser.press(wrongPassword, 'totp-on', { code: codeOf(secret), password: eve.password });
    expect([
      [byWrongCode.status, alertOf(byWrongCode)],
      [wrongPassword.status, alertOf(wrongPassword)],
      off,
      [on.status, heading(on)],
      (await server.store.secondFactors.of(eveId))?.recoveryCodes,
      page.html.includes('<svg'),
      wrongPassword.html.includes(secret),
    ]).toEqual([
      [400, 'The code is wrong. Check the clock of your phone.'],
      [400, 'The current password is wrong.'],
      undefined,
      [200, 'Your recovery codes'],
      10,
      true,
      true,
    ]);
  });

  test('is required at sign-in: no page opens before it, and its ticket belongs to this browser', async () => {
    const { secret, codes } = await switchOn();
    const first = await server.browse(eve, '/approvals');
    const around = await first.browser.open(server.at('/approvals'));
    const other = await server.browse(eve);
    const ticket = /name="ticket" value="([^"]+)"/.exec(first.page.html)![1]!;
    const swapped = {
      ...other.page,
      html: other.page.html.replace(/name="ticket" value="[^"]+"/, `name="ticket" value="${ticket}"`),
    };
    const planted = await other.browser.press(swapped, 'code', { code: codeOf(secret) });
    const wrong = await first.browser.press(first.page, 'code', { code: wrongCode(secret, clock.now()) });
    const code = codeOf(secret);
    const right = await first.browser.press(wrong, 'code', { code });
    const third = await server.browse(eve);
    const replayed = await third.browser.press(third.page, 'code', { code });
    const byRecovery = await third.browser.press(replayed, 'code', { code: codes[9]! });
    expect(
      [first.page, around, planted, wrong, right, replayed, byRecovery].map((page) => [page.status, heading(page)]),
    ).toEqual([
      [200, 'One more step'],
      [200, 'Sign in'],
      [400, 'Sign in'],
      [400, 'One more step'],
      [200, 'Approvals'],
      [400, 'One more step'],
      [200, 'Hello, Eve'],
    ]);
    expect(eventsOf(eveId)).toEqual([
      'console.sign-in.ok',
      'totp.on',
      'console.sign-in.half',
      'console.sign-in.half',
      'console.totp.failed',
      'console.totp.app',
      'console.sign-in.ok',
      'console.sign-in.half',
      'console.totp.failed',
      'console.totp.recovery',
      'console.sign-in.ok',
    ]);
  });

  test('is disabled, and gets new recovery codes, with the password', async () => {
    const { browser, codes } = await switchOn();
    const page = await browser.open(server.at('/account'));
    const refused = await browser.press(page, 'totp-off', { password: 'not the password' });
    const renewed = await browser.press(page, 'codes', { password: eve.password });
    const other = await server.browse(eve);
    const old = await other.browser.press(other.page, 'code', { code: codes[0]! });
    const off = await browser.press(page, 'totp-off', { password: eve.password });
    expect([
      [refused.status, alertOf(refused)],
      [heading(renewed), codes.some((code) => renewed.html.includes(code))],
      old.status,
      alertOf(off),
      await canSignIn(eve),
    ]).toEqual([
      [400, 'The current password is wrong.'],
      ['Your recovery codes', false],
      400,
      'The authenticator app is off. Your password is now enough to sign in.',
      true,
    ]);
  });
});
