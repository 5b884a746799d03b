// Forms that are sent without the value of their button, as password managers and `form.submit()` send them: what the fields say
// is done, and what only a button decides is asked again.
import { TOTP } from 'otpauth';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { authorizationUrl, register } from './client.ts';
import { createBrowser, type Page } from './flow.ts';
import { account, type OAuthTestServer, startServer } from './oauth-server.ts';
import { ask, poll } from './terminal.ts';

const redirectUri = 'https://notebook.example/callback';
let late = 0;
const clock: Clock = { ...systemClock, now: () => systemClock.now() + late };
let server: OAuthTestServer;
beforeAll(async () => {
  server = await startServer({ cloud: true, clock, env: { SERVICE_INTERACTION_SECONDS: '3600' } });
});
afterAll(() => server.stop());

const heading = (page: Page): string => /<h1>(.*?)<\/h1>/s.exec(page.html)?.[1] ?? '';
const alertOf = (page: Page): string | undefined => /role="alert">([^<]+)</.exec(page.html)?.[1];

async function atSignIn() {
  const client = await register(server.paths.issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
  const browser = createBrowser();
  return { browser, page: await browser.open((await authorizationUrl(client, { redirectUri })).url) };
}

test('sign-in and consent', async () => {
  const { browser, page } = await atSignIn();
  const empty = await browser.submit(page, 'sign-in', { email: account.email });
  expect([empty.status, heading(empty), alertOf(empty)]).toEqual([400, heading(page), 'Wrong e-mail or password.']);
  const consent = await browser.submit(empty, 'sign-in', { ...account });
  expect(heading(consent)).toBe('Allow notebook.example to connect?');
  const undecided = await browser.submit(consent, 'allow', { lasts: 'day' });
  expect([undecided.status, heading(undecided), alertOf(undecided), undecided.leftTo]).toEqual([
    ...[400, heading(consent), 'Press Allow or Cancel.', undefined],
  ]);
  expect(undecided.html).toMatch(/<option value="day" selected/);
  const { leftTo } = await browser.press(undecided, 'allow');
  expect(leftTo?.searchParams.get('code')).toEqual(expect.any(String));
});

test('the codes of a terminal, and the consent to them', async () => {
  const asked = await ask(server.paths.issuer);
  const browser = createBrowser();
  const signIn = await browser.submit(await browser.open(asked.verification_uri), 'continue', {
    user_code: asked.user_code,
  });
  const consent = await browser.submit(signIn, 'sign-in', { ...account });
  expect(heading(consent)).toContain('Allow the Portico command line');
  const undecided = await browser.submit(consent, 'allow');
  expect([undecided.status, heading(undecided), alertOf(undecided)]).toEqual([
    ...[400, heading(consent), 'Press Allow or Cancel.'],
  ]);
  expect((await poll(server.paths.issuer, asked.device_code)).body.error).toBe('authorization_pending');
  await browser.press(undecided, 'allow');
  late += 60_000;
  expect((await poll(server.paths.issuer, asked.device_code)).body).toMatchObject({ access_token: expect.any(String) });
});

test('the second step', async () => {
  const { identity, secondFactors } = server.store;
  const { id } = (await identity.findUserByEmail(account.email))!;
  const { secret } = await secondFactors.propose(account.email, 'Test');
  const codeNow = () => new TOTP({ secret }).generate({ timestamp: clock.now() });
  await secondFactors.switchOn(id, secret, codeNow());
  late += 60_000;
  const { browser, page } = await atSignIn();
  const code = await browser.submit(page, 'sign-in', { ...account });
  expect(heading(code)).toBe('One more step');
  expect(heading(await browser.submit(code, 'code', { code: codeNow() }))).toBe('Allow notebook.example to connect?');
});
