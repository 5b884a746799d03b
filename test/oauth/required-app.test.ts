// SERVICE_SECOND_FACTOR=required: users without an authenticator app set one up in the middle of their sign-in.
import { TOTP } from 'otpauth';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { wrongCode } from '../wrong-code.ts';
import { authorizationUrl, register } from './client.ts';
import { createBrowser, type Page } from './flow.ts';
import { type OAuthTestServer, startServer } from './oauth-server.ts';

const redirectUri = 'https://notebook.example/callback';
let late = 0;
const clock: Clock = { ...systemClock, now: () => systemClock.now() + late };
let server: OAuthTestServer;
beforeAll(async () => {
  server = await startServer({
    clock,
    env: { SERVICE_SECOND_FACTOR: 'required', SERVICE_INTERACTION_SECONDS: '3600' },
  });
});
afterAll(() => server.stop());

let users = 0;
async function addUser() {
  const account = { email: `user${++users}@example.com`, password: 'correct horse battery' };
  const { id } = await server.addUser(account);
  return { id, ...account };
}

const heading = (page: Page): string => /<h1>(.*?)<\/h1>/.exec(page.html)?.[1] ?? '';
const fieldOf = (page: Page, name: string): string =>
  new RegExp(`name="${name}" value="([^"]+)"`).exec(page.html)?.[1] ?? '';
const codeOf = (secret: string) => new TOTP({ secret }).generate({ timestamp: clock.now() });
const shownCodes = (page: Page) => [...page.html.matchAll(/<li><code>([^<]+)/g)].map(([, code]) => code!);

async function enterPassword(
  account: { readonly email: string; readonly password: string },
  browser = createBrowser(),
) {
  const client = await register(server.paths.issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
  const asked = await browser.open((await authorizationUrl(client, { redirectUri })).url);
  const { email, password } = account;
  return { browser, page: await browser.press(asked, 'sign-in', { email, password }) };
}

test('a user without an authenticator app sets one up, sees the recovery codes once, and reaches consent', async () => {
  const user = await addUser();
  const { browser, page } = await enterPassword(user);
  const secret = fieldOf(page, 'secret');
  const wrong = await browser.press(page, 'set-up', { code: wrongCode(secret, clock.now()) });
  const isOn = await server.store.secondFactors.of(user.id);
  const codes = await browser.press(wrong, 'set-up', { code: codeOf(secret) });
  const next = /class="button primary slim" href="([^"]+)"/.exec(codes.html)![1]!.replaceAll('&amp;', '&');
  const consent = await browser.open(new URL(next, codes.url).href);

  expect([heading(page), page.html.includes('<svg viewBox')]).toEqual(['Set up an authenticator app', true]);
  expect([wrong.status, heading(wrong), fieldOf(wrong, 'secret') === secret, isOn]).toEqual([
    400,
    'Set up an authenticator app',
    true,
    undefined,
  ]);
  expect([heading(codes), new Set(shownCodes(codes)).size]).toEqual(['Your recovery codes', 10]);
  expect(heading(consent)).toBe('Allow notebook.example to connect?');

  late += 60_000;
  const again = await enterPassword(user);
  expect(heading(again.page)).toBe('One more step');
  expect(heading(await again.browser.press(again.page, 'code', { code: shownCodes(codes)[0]! }))).toBe(
    'Allow notebook.example to connect?',
  );
});

test('only the password leads to no code and no consent', async () => {
  const { browser, page } = await enterPassword(await addUser());
  const there = await browser.open(page.url.replace('/interaction/', '/authorize/'));
  expect(there.leftTo?.searchParams.has('code') ?? false).toBe(false);
  expect(heading(there)).not.toContain('Allow');
});

/** The setup form, sent with the ticket of another page. */
const withTicket = (page: Page, ticket: string): Page => ({
  ...page,
  html: page.html.replace(fieldOf(page, 'ticket'), ticket),
});

test('only the password is not enough to replace the authenticator app of a user', async () => {
  const user = await addUser();
  const early = await enterPassword(user);
  const mine = await enterPassword(user);
  await mine.browser.press(mine.page, 'set-up', { code: codeOf(fieldOf(mine.page, 'secret')) });
  const since = await server.store.secondFactors.of(user.id);
  // A setup that began before the user's own.
  const late = await early.browser.press(early.page, 'set-up', { code: codeOf(fieldOf(early.page, 'secret')) });
  // A ticket for the code of the app.
  const asked = await enterPassword(user, early.browser);
  const forged = await early.browser.press(withTicket(early.page, fieldOf(asked.page, 'ticket')), 'set-up', {
    code: codeOf(fieldOf(early.page, 'secret')),
  });
  expect([late.status, heading(late)]).toEqual([400, 'Set up an authenticator app']);
  expect(heading(asked.page)).toBe('One more step');
  expect([forged.status, heading(forged)]).toEqual([400, 'Sign in']);
  expect(await server.store.secondFactors.of(user.id)).toEqual(since);
});

test('a setup belongs to one browser, and expires after five minutes', async () => {
  const user = await addUser();
  const mine = await enterPassword(user);
  const other = await enterPassword(user);
  const code = () => ({ code: codeOf(fieldOf(other.page, 'secret')) });
  const planted = await other.browser.press(withTicket(other.page, fieldOf(mine.page, 'ticket')), 'set-up', code());
  late += 300_000;
  const tooLate = await other.browser.press(other.page, 'set-up', code());
  expect([planted, tooLate].map((page) => [page.status, heading(page)])).toEqual(Array(2).fill([400, 'Sign in']));
  expect(await server.store.secondFactors.of(user.id)).toBe(undefined);
});
