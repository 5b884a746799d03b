// The authorization endpoint does not redirect to a dynamically registered URL before the user has decided about the
// client (RFC 9700 section 4.11.2, a MUST).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authorizationUrl, type Registered, register } from './client.ts';
import { createBrowser, signIn } from './flow.ts';
import { type OAuthTestServer, startServer } from './oauth-server.ts';

const redirectUri = 'https://phish.example/land';
let server: OAuthTestServer;
let registered: Registered;
beforeAll(async () => {
  server = await startServer();
  registered = await register(server.paths.issuer, { client_name: 'Mail', redirect_uris: [redirectUri] });
});
afterAll(() => server.stop());

const wrong: readonly (readonly [string, Readonly<Record<string, string | undefined>>])[] = [
  ['prompt=none', { prompt: 'none' }],
  ['an unknown prompt', { prompt: 'select' }],
  ['no code challenge', { code_challenge: undefined, code_challenge_method: undefined }],
  ['a plain code challenge', { code_challenge_method: 'plain' }],
  ['a bad scope', { scope: 'mcp:read "' }],
  ['a foreign resource', { resource: 'https://other.example/mcp' }],
  ['another response type', { response_type: 'token' }],
  ['another response mode', { response_mode: 'fragment' }],
  ['a posted answer', { response_mode: 'form_post' }],
  ['a request object', { request: 'eyJhbGciOiJub25lIn0.e30.' }],
  ['a registration', { registration: '{}' }],
];

async function ask(change: Readonly<Record<string, string | undefined>>, browser = createBrowser()) {
  const { url } = await authorizationUrl(registered, { redirectUri });
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return browser.open(url);
}

describe.each(wrong)('%s', (_name, change) => {
  test('without a session is shown as a page, with a link', async () => {
    const page = await ask(change);
    const [, link = ''] = /<a class="back" href="([^"]+)"/.exec(page.html) ?? [];
    expect([page.status, page.leftTo, new URL(link).host, page.html.includes('<script')]).toEqual([
      400,
      undefined,
      'phish.example',
      false,
    ]);
    expect(page.headers.get('location')).toBe(null);
  });
});

test('with a session and a decision about another client is shown as a page too', async () => {
  const browser = createBrowser();
  const other = await register(server.paths.issuer, {
    client_name: 'Known',
    redirect_uris: ['https://known.example/cb'],
  });
  const { url } = await authorizationUrl(other, { redirectUri: 'https://known.example/cb' });
  await signIn(url, server.account, browser);
  expect((await ask({ prompt: 'none' }, browser)).leftTo).toBe(undefined);
});

// RFC 6749 section 4.1.2.1: the client then gets the error with state and iss.
test('with a decision about the client is redirected to it', async () => {
  const browser = createBrowser();
  await signIn((await authorizationUrl(registered, { redirectUri })).url, server.account, browser);
  const { leftTo } = await ask({ prompt: 'none' }, browser);
  expect([leftTo?.host, leftTo?.searchParams.get('error'), leftTo?.searchParams.get('state')]).toEqual([
    'phish.example',
    'consent_required',
    'the-state',
  ]);
});
