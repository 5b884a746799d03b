// Items of the checklist in docs/security.md that no other file covers: secrets do not leak, and an unfinished sign-in
// expires.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as oauth from 'oauth4webapi';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createFunctionListener } from '../../src/core/observe.ts';
import { callTool } from '../app/call.ts';
import { issuerOf, openShop, redirectUri } from '../app/shop.ts';
import { authorizationUrl, bearer, connect, insecure, redeem, refresh, register } from './client.ts';
import { createBrowser } from './flow.ts';
import { startServer } from './oauth-server.ts';

test('neither the debug log nor the observations of good and bad sign-ins contain a secret', async () => {
  const lines: string[] = [];
  const log = createFunctionListener(
    (level, message, error) => lines.push(`${level} ${message} ${error ?? ''}`),
    'Debug',
  );
  const shop = await openShop({ app: { log } });
  try {
    const metadata = {
      client_name: 'N',
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'client_secret_post',
    };
    const registered = await register(issuerOf(shop), metadata);
    const browser = createBrowser();
    const { url } = await authorizationUrl(registered, { redirectUri });
    await browser.press(await browser.open(url), 'sign-in', {
      email: shop.account.email,
      password: 'my other password',
    });
    const session = await connect(registered, shop.account, { redirectUri, browser });
    const next = await refresh(session, `${session.tokens.refresh_token}`);
    const { server, client, authentication } = session;
    await callTool(shop.mcpUrl, next.access_token, 'list', { collectionName: 'orders' });
    await callTool(`${shop.mcpUrl}?access_token=${next.access_token}`, undefined, 'list', { collectionName: 'orders' });
    await redeem(session, session.code).catch(() => undefined);
    await oauth.revocationRequest(server, client, authentication, next.access_token, insecure);
    await callTool(shop.mcpUrl, next.access_token, 'list', { collectionName: 'orders' });
    const secrets = [
      shop.account.password,
      'my other password',
      `${client.client_secret}`,
      `${session.code.parameters.get('code')}`,
      session.code.verifier,
      session.tokens.access_token,
      `${session.tokens.refresh_token}`,
      next.access_token,
      `${next.refresh_token}`,
      ...[...browser.cookies.values()].map(({ value }) => value),
    ];
    const told = [...lines, ...shop.observed.map((one) => JSON.stringify(one))].join('\n');
    expect([
      secrets.filter((secret) => told.includes(secret)),
      /token\.issued/.test(told),
      /token\.reused/.test(told),
    ]).toEqual([[], true, true]);
  } finally {
    await shop.stop();
  }
});

test('the result of the token check contains no token', async () => {
  const testServer = await startServer();
  try {
    const registered = await register(testServer.paths.issuer, { client_name: 'N', redirect_uris: [redirectUri] });
    const { access_token } = (await connect(registered, testServer.account, { redirectUri })).tokens;
    const auth = await testServer.gate.check(bearer(access_token));
    expect([auth.userId > 0, JSON.stringify(auth).includes(access_token)]).toEqual([true, false]);
  } finally {
    await testServer.stop();
  }
});

test('a sign-in that is not finished within ten minutes expires, and the page says so', async () => {
  let late = 0;
  const testServer = await startServer({ clock: { ...systemClock, now: () => systemClock.now() + late } });
  try {
    const registered = await register(testServer.paths.issuer, { client_name: 'N', redirect_uris: [redirectUri] });
    const { url } = await authorizationUrl(registered, { redirectUri });
    const browser = createBrowser();
    const page = await browser.open(url);
    late = 601_000;
    const { status, html } = await browser.press(page, 'sign-in', { ...testServer.account });
    expect([page.status, status, html.includes('This sign-in has expired')]).toEqual([200, 400, true]);
  } finally {
    await testServer.stop();
  }
});

test('secrets are compared only by timingSafeEqualText, in constant time', () => {
  const read = (path: string) => readFileSync(path, 'utf8');
  const files = ['src/oauth', 'src/console', 'src/store', 'src/mcp', 'src/server', 'src/http'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  );
  const compared = /\b\w*(?:csrf|secret|signature|password|verifier)\b(?:\(\))?\s*[!=]==(?!\s*(?:undefined|null|'))/i;
  const offences = files.filter((path) => compared.test(read(path)));
  expect([
    files.length > 50,
    offences,
    /timingSafeEqualText[\s\S]{0,400}timingSafeEqual/.test(read('src/core/secret.ts')),
  ]).toEqual([true, [], true]);
});
