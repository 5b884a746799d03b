// The sign-in of a user with an authenticator app, for an assistant: a second page of the same interaction, which
// cannot be bypassed.
import { TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { wrongCode } from '../wrong-code.ts';
import { authorizationUrl, register } from './client.ts';
import { createBrowser, type Page } from './flow.ts';
import { account, type OAuthTestServer, startServer } from './oauth-server.ts';

const step = 30_000;
const redirectUri = 'https://notebook.example/callback';
let late = 0;
const clock: Clock = { ...systemClock, now: () => systemClock.now() + late };
let server: OAuthTestServer;
let secret: string;
let recoveryCodes: readonly string[];
const codeNow = () => new TOTP({ secret }).generate({ timestamp: clock.now() });

beforeAll(async () => {
  server = await startServer({ clock, env: { SERVICE_SIGN_IN_ATTEMPTS: '6', SERVICE_INTERACTION_SECONDS: '3600' } });
  const { identity, secondFactors } = server.store;
  const { id } = (await identity.findUserByEmail(account.email))!;
  ({ secret } = await secondFactors.propose(account.email, 'Test'));
  recoveryCodes = (await secondFactors.switchOn(id, secret, codeNow()))!;
});
afterAll(() => server.stop());

/** Signs in with the password, up to the page that asks for the code. */
async function reachSecondStep(browser = createBrowser()) {
  late += 2 * step;
  const client = await register(server.paths.issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
  const asked = await browser.open((await authorizationUrl(client, { redirectUri })).url);
  return { browser, asked, page: await browser.press(asked, 'sign-in', { ...account }) };
}

const heading = (page: Page): string => /<h1>(.*?)<\/h1>/.exec(page.html)?.[1] ?? '';
const ticketOf = (page: Page): string => /name="ticket" value="([^"]+)"/.exec(page.html)?.[1] ?? '';

describe('the second step', () => {
  test('leads to consent with a code of the app, and with a recovery code once', async () => {
    const byApp = await reachSecondStep();
    const consent = await byApp.browser.press(byApp.page, 'code', { code: codeNow() });
    const left = await byApp.browser.press(consent, 'allow');
    const first = await reachSecondStep();
    const byRecovery = await first.browser.press(first.page, 'code', { code: recoveryCodes[0]! });
    const second = await reachSecondStep();
    const again = await second.browser.press(second.page, 'code', { code: recoveryCodes[0]! });
    expect([
      heading(byApp.page),
      heading(consent),
      left.leftTo?.searchParams.has('code'),
      heading(byRecovery),
      [again.status, heading(again)],
    ]).toEqual([
      'One more step',
      'Allow notebook.example to connect?',
      true,
      'Allow notebook.example to connect?',
      [400, 'One more step'],
    ]);
  });

  test('cannot be bypassed: an interaction with only the password leads to no code and no consent', async () => {
    const { browser, page } = await reachSecondStep();
    const resume = page.url.replace('/interaction/', '/authorize/');
    const there = await browser.open(resume);
    const allowed = await browser
      .press({ ...page, html: page.html.replace('value="code"', 'value="allow"') }, 'allow')
      .catch((error: Error) => error.message);
    expect([there.leftTo?.searchParams.has('code') ?? false, heading(there)]).not.toContain(
      'Allow notebook.example to connect?',
    );
    expect(there.leftTo?.searchParams.get('code') ?? null).toBe(null);
    expect(typeof allowed === 'string' ? allowed : [allowed.status, heading(allowed)]).toEqual([
      400,
      'This sign-in has expired',
    ]);
  });

  test('accepts a code once, in one browser, and no ticket of another sign-in', async () => {
    const mine = await reachSecondStep();
    const other = await reachSecondStep();
    const swap = (page: Page, ticket: string): Page => ({ ...page, html: page.html.replace(ticketOf(page), ticket) });
    const planted = await other.browser.press(swap(other.page, ticketOf(mine.page)), 'code', { code: codeNow() });
    const forged = await other.browser.press(swap(other.page, 'a.b.c'), 'code', { code: codeNow() });
    const used = codeNow();
    const right = await mine.browser.press(mine.page, 'code', { code: used });
    const next = await reachSecondStep();
    late -= 2 * step;
    const replayed = await next.browser.press(next.page, 'code', { code: used });
    late += 2 * step;
    expect([planted, forged, right, replayed].map((page) => [page.status, heading(page)])).toEqual([
      [400, 'Sign in'],
      [400, 'Sign in'],
      [200, 'Allow notebook.example to connect?'],
      [400, 'One more step'],
    ]);
  });

  test('expires after five minutes, or when the user is signed out everywhere', async () => {
    const slow = await reachSecondStep();
    late += 300_000;
    const tooLate = await slow.browser.press(slow.page, 'code', { code: codeNow() });
    const ended = await reachSecondStep();
    late += 1;
    const { id } = (await server.store.identity.findUserByEmail(account.email))!;
    await server.store.sessions.endAll(id, { grants: false });
    const after = await ended.browser.press(ended.page, 'code', { code: codeNow() });
    expect([tooLate, after].map((page) => [page.status, heading(page)])).toEqual(Array(2).fill([400, 'Sign in']));
  });

  test('counts wrong codes together with wrong passwords; the correct password does not reset the count', async () => {
    late += 900_000;
    const { browser, page } = await reachSecondStep();
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++)
      statuses.push((await browser.press(page, 'code', { code: wrongCode(secret, clock.now()) })).status);
    const again = await reachSecondStep();
    for (let i = 0; i < 3; i++)
      statuses.push((await again.browser.press(again.page, 'code', { code: wrongCode(secret, clock.now()) })).status);
    const right = await again.browser.press(again.page, 'code', { code: codeNow() });
    const password = await reachSecondStep();
    expect([statuses, right.status, password.page.status]).toEqual([Array(6).fill(400), 429, 429]);
    late += 900_000;
    const waited = await reachSecondStep();
    expect(heading(await waited.browser.press(waited.page, 'code', { code: codeNow() }))).toBe(
      'Allow notebook.example to connect?',
    );
  });
});
