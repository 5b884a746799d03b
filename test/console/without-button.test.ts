// Like test/oauth/without-button.test.ts, for the forms of the console.
import { TOTP } from 'otpauth';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { type Account, createBrowser, type Page } from '../oauth/flow.ts';
import { beginSignIn, frontOrigin } from '../rest/front-end.ts';
import { wrongCode } from '../wrong-code.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';

let late = 0;
const clock: Clock = { ...systemClock, now: () => systemClock.now() + late };
let server: ConsoleTestServer;
let users = 0;
let eve: Account;

beforeAll(async () => {
  server = await openConsoleServer({ app: { clock }, env: { SERVICE_AGENT_ORIGINS: frontOrigin } });
});
afterAll(() => server.stop());
beforeEach(async () => {
  eve = await server.addUser({ email: `eve${++users}@example.com`, firstName: 'Eve', level: 'editor' });
});

const heading = (page: Page): string => /<h1>(.*?)<\/h1>/s.exec(page.html)?.[1] ?? '';
const alertOf = (page: Page): string | undefined => /role="(?:alert|status)">([^<]+)</.exec(page.html)?.[1];

describe('a form submitted without a button', () => {
  test('signs in, and passes the second step', async () => {
    const { id } = await server.userOf(eve);
    const { secret } = await server.store.secondFactors.propose(eve.email, 'Test');
    const codeNow = () => new TOTP({ secret }).generate({ timestamp: clock.now() });
    await server.store.secondFactors.switchOn(id, secret, codeNow());
    late += 60_000;
    const browser = createBrowser();
    const code = await browser.submit(await browser.open(server.at('/account')), 'sign-in', { ...eve });
    expect(heading(code)).toBe('One more step');
    const wrong = await browser.submit(code, 'code', { code: wrongCode(secret, clock.now()) });
    expect([heading(wrong), alertOf(wrong)]).toEqual(['One more step', expect.stringContaining('This code is wrong')]);
    const account = await browser.submit(wrong, 'code', { code: codeNow() });
    expect([account.status, account.url]).toEqual([200, server.at('/account')]);
  });

  test('sets a new password by a link', async () => {
    const { id } = await server.userOf(eve);
    const { token } = await server.store.links.make(id, 'reset');
    const browser = createBrowser();
    const page = await browser.open(server.at(`/welcome/${token}`));
    const password = 'a few words of hers';
    await browser.submit(page, 'choose', { new: password, again: password });
    expect((await server.browse({ ...eve, password })).page.html).not.toContain('name="password"');
  });

  test('changes the password of a signed-in user', async () => {
    const { browser } = await server.browse(eve);
    const page = await browser.open(server.at('/account'));
    const password = 'other words of hers';
    const changed = await browser.submit(page, 'password', { password: eve.password, new: password, again: password });
    expect([changed.status, new URL(changed.url).search]).toEqual([200, '?done=password']);
    expect((await server.browse({ ...eve, password })).page.html).not.toContain('name="password"');
  });

  test('does not count as a refusal of a front end: the page asks again', async () => {
    const { browser } = await server.browse(eve);
    const { url } = await beginSignIn(server.apiUrl);
    const page = await browser.open(url);
    const undecided = await browser.submit(page, 'allow');
    expect([undecided.status, heading(undecided), undecided.leftTo]).toEqual([400, heading(page), undefined]);
    expect((await browser.press(undecided, 'allow')).leftTo?.searchParams.get('code')).toEqual(expect.any(String));
  });
});
