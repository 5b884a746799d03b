import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { altered } from '../altered.ts';
import { type Asking, authorizationUrl, byDocument, connect, redeem, register } from './client.ts';
import { createBrowser, type Page, signIn } from './flow.ts';
import { type OAuthTestServer, startServer } from './oauth-server.ts';

const redirectUri = 'https://notebook.example/callback';
let testServer: OAuthTestServer;
beforeAll(async () => {
  testServer = await startServer();
  await testServer.addUser({ email: 'bob@example.com', password: 'another password', firstName: 'Bob' });
  testServer.documents.set('https://paper.example/client.json', {
    client_id: 'https://paper.example/client.json',
    client_name: 'Paper',
    redirect_uris: ['https://paper.example/callback'],
  });
});
afterAll(() => testServer.stop());

const notebook = (metadata: Record<string, unknown> = {}) =>
  register(testServer.paths.issuer, { client_name: 'Notebook', redirect_uris: [redirectUri], ...metadata });

/** A browser at the sign-in page of a new client. */
async function atSignIn(asking: Partial<Asking> = {}, metadata: Record<string, unknown> = {}) {
  const registered = await notebook(metadata);
  const browser = createBrowser();
  const { url, verifier } = await authorizationUrl(registered, { redirectUri, ...asking });
  return { registered, browser, url, verifier, page: await browser.open(url) };
}
async function atConsent(asking: Partial<Asking> = {}, metadata: Record<string, unknown> = {}) {
  const begun = await atSignIn(asking, metadata);
  return { ...begun, page: await begun.browser.press(begun.page, 'sign-in', { ...testServer.account }) };
}
/** The visible text of a page. */
const read = (page: Page): string =>
  page.html
    .replace(/<(style|head|svg).*?<\/\1>/gs, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

const post = (url: string, cookie: string, body: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    body: new URLSearchParams(body),
    headers: { cookie, ...headers },
    redirect: 'manual',
  });
const csrfOf = (page: Page) => /name="csrf" value="([^"]+)"/.exec(page.html)?.[1] ?? '';

describe('the sign-in page', () => {
  test('shows which app asks and where the user signs in', async () => {
    const { page } = await atSignIn();
    const { organization, project, environment } = await testServer.store.identity.place();
    expect([page.status, read(page)]).toEqual([
      200,
      `${organization} ${project} · ${environment} Sign in notebook.example asks to connect. It calls itself “Notebook”. You see what it requests before you share any data. E-mail Password Sign in Cancel and go back to notebook.example`,
    ]);
  });

  test('cannot be framed or cached, and runs and loads nothing', async () => {
    const { page } = await atSignIn();
    const headers = Object.fromEntries(
      ['content-security-policy', 'x-frame-options', 'referrer-policy', 'x-content-type-options', 'cache-control'].map(
        (name) => [name, page.headers.get(name)?.replace(/'sha256-[^']+'/, "'sha256-…'")],
      ),
    );
    expect([headers, page.html.includes('<script')]).toEqual([
      {
        'content-security-policy':
          "default-src 'none'; style-src 'sha256-…'; img-src data:; base-uri 'none'; frame-ancestors 'none'",
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      },
      false,
    ]);
  });

  test('shows the same error for a wrong password and an unknown account, at the field', async () => {
    const { browser, page } = await atSignIn();
    const wrong = await browser.press(page, 'sign-in', { email: testServer.account.email, password: 'wrong' });
    const unknown = await browser.press(page, 'sign-in', { email: 'nobody@example.com', password: 'wrong' });
    const shown = [wrong, unknown].map((one) => [
      one.status,
      /<p class="note" id="problem" role="alert">(.*?)<\/p>/.exec(one.html)?.[1],
      /name="password"[^>]*aria-invalid="true" aria-describedby="problem"/.test(one.html),
    ]);
    expect(shown).toEqual([
      [400, 'Wrong e-mail or password.', true],
      [400, 'Wrong e-mail or password.', true],
    ]);
  });

  test('never shows the password again, and keeps the typed e-mail', async () => {
    const { browser, page } = await atSignIn();
    const email = '"><script>alert(1)</script>@example.com';
    const again = await browser.press(page, 'sign-in', { email, password: 'hunter2-hunter2' });
    expect([
      again.html.includes('hunter2'),
      again.html.includes('<script'),
      again.html.includes('value="&quot;&gt;&lt;script&gt;'),
    ]).toEqual([false, false, true]);
  });

  test('after ten wrong passwords the account is locked for any password, and the page says how long', async () => {
    const busy = await startServer();
    try {
      const registered = await register(busy.paths.issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
      const browser = createBrowser();
      const page = await browser.open((await authorizationUrl(registered, { redirectUri })).url);
      const statuses = [];
      for (let i = 0; i < 10; i++) {
        statuses.push((await browser.press(page, 'sign-in', { email: busy.account.email, password: 'wrong' })).status);
      }
      const right = await browser.press(page, 'sign-in', { ...busy.account });
      const wait = Number(right.headers.get('retry-after'));
      const events = busy.observed.flatMap((one) => (one.type === 'security' ? [one.event] : []));
      expect([statuses, right.status, wait > 880 && wait <= 900, read(right), events.slice(-2)]).toEqual([
        Array(10).fill(400),
        429,
        true,
        'Portico Please wait Too many wrong passwords or codes. Wait 15 minutes, then go back to your assistant and connect again.',
        ['sign-in.failed', 'sign-in.throttled'],
      ]);
    } finally {
      await busy.stop();
    }
  });

  test('correct passwords do not count: more sign-ins than attempts are allowed', async () => {
    const busy = await startServer({ env: { SERVICE_SIGN_IN_ATTEMPTS: '3' } });
    try {
      const registered = await register(busy.paths.issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
      const codes = [];
      for (let i = 0; i < 5; i++) {
        const { url } = await authorizationUrl(registered, { redirectUri });
        codes.push((await signIn(url, busy.account)).searchParams.has('code'));
      }
      expect(codes).toEqual([true, true, true, true, true]);
    } finally {
      await busy.stop();
    }
  });

  test('can be cancelled: the client gets access_denied with state and iss', async () => {
    const { browser, page } = await atSignIn();
    const { leftTo } = await browser.press(page, 'cancel');
    expect(Object.fromEntries(leftTo?.searchParams ?? [])).toEqual({
      error: 'access_denied',
      error_description: 'The user denied the request.',
      state: 'the-state',
      iss: testServer.paths.issuer,
    });
  });
});

describe('the consent page', () => {
  test('of a registered client says that the name is unverified', async () => {
    const { page } = await atConsent({ scope: 'mcp:read mcp:write' });
    const { organization, project, environment } = await testServer.store.identity.place();
    expect(read(page)).toBe(
      `${organization} ${project} · ${environment} Allow notebook.example to connect? Who asks notebook.example unverified Calls itself “Notebook”. ` +
        'Returns to notebook.example You are Ada Lovelace ada@example.com Sales · Clerk If you allow it, it can: ' +
        'Read your data See the collections and records that you may see, and search them. ' +
        'Change your data Create, update and delete the records that you may change. ' +
        'Limit it Read-only, selected collections or a limited time Read only Overrides the choices above: no changes, no actions. ' +
        'Connected Until revoked 30 days A day An hour ' +
        'Cancel Allow Not you? Switch account It never gets more rights than you have. You or an administrator can disconnect it at any time.',
    );
  });

  test('of a client with a metadata document names the verified host', async () => {
    const registered = await byDocument(testServer.paths.issuer, 'https://paper.example/client.json');
    const { url } = await authorizationUrl(registered, { redirectUri: 'https://paper.example/callback' });
    const browser = createBrowser();
    const page = await browser.press(await browser.open(url), 'sign-in', { ...testServer.account });
    expect(read(page)).toContain(
      'Allow paper.example to connect? Who asks paper.example verified Calls itself “Paper”. Returns to paper.example',
    );
  });

  test('does not show an app on a device as verified, since any program there can use the name', async () => {
    const clientId = 'https://paper.example/desktop.json';
    testServer.documents.set(clientId, {
      client_id: clientId,
      client_name: 'Paper',
      redirect_uris: ['http://localhost/cb'],
    });
    const redirectUri = 'http://localhost:4321/cb';
    const { url } = await authorizationUrl(await byDocument(testServer.paths.issuer, clientId), { redirectUri });
    const browser = createBrowser();
    const page = await browser.press(await browser.open(url), 'sign-in', { ...testServer.account });
    expect(read(page)).toContain(
      'Who asks An app on this device unverified Calls itself “Paper”. It claims to be the app of paper.example. Returns to This device',
    );
  });

  test.each([
    ['http://localhost:4444/callback', 'Returns to This device localhost:4444'],
    ['cursor://anysphere.cursor-mcp/callback', 'Returns to An app on this device that opens cursor: links'],
  ])('warns if the response stays on a device: %s', async (uri, destination) => {
    const { page } = await atConsent({ redirectUri: uri }, { redirect_uris: [uri, redirectUri] });
    expect([read(page).includes(destination), read(page).includes('Continue only if you started this')]).toEqual([
      true,
      true,
    ]);
  });

  test('shows names as text: markup, control and direction characters have no effect', async () => {
    const { page } = await atConsent({}, { client_name: '<img src=x onerror=alert(1)>"\u202eevil\u0000\u200b`' });
    expect([page.html.includes('<img'), /Calls itself “(.*?)”/.exec(page.html)?.[1]]).toEqual([
      false,
      '&lt;img src=x onerror=alert(1)&gt;&quot;evil&#96;',
    ]);
    for (const client_name of [undefined, ' ', '\u200b\u202e'])
      expect(read((await atConsent({}, { client_name })).page)).toContain('unverified Calls itself “An unnamed app”');
  });

  test('lets the user leave scopes out', async () => {
    const { registered, browser, page, verifier } = await atConsent({ scope: 'mcp:read mcp:write mcp:action' });
    const { leftTo } = await browser.press(page, 'allow', { scope: '' });
    const parameters = new URLSearchParams(leftTo?.search);
    const { validateAuthResponse } = await import('oauth4webapi');
    const checked = validateAuthResponse(registered.server, registered.client, parameters, 'the-state');
    expect((await redeem(registered, { parameters: checked, verifier, redirectUri })).scope).toBe('mcp:read');
  });

  test('is skipped for the same user, client and scopes; more scopes or prompt=consent ask again', async () => {
    const registered = await byDocument(testServer.paths.issuer, 'https://paper.example/client.json');
    const redirectUri = 'https://paper.example/callback';
    const browser = createBrowser();
    const asks = async (scope: string, prompt?: string): Promise<boolean> => {
      const asking = prompt ? { redirectUri, scope, prompt } : { redirectUri, scope };
      const { url } = await authorizationUrl(registered, asking);
      let page = await browser.open(url, { headers: { 'sec-fetch-site': 'none' } });
      if (page.html.includes('name="password"')) page = await browser.press(page, 'sign-in', { ...testServer.account });
      if (page.leftTo) return false;
      await browser.press(page, 'allow');
      return true;
    };
    testServer.observed.length = 0;
    expect([
      await asks('mcp:read mcp:write'),
      await asks('mcp:read mcp:write'),
      await asks('mcp:read'),
      await asks('mcp:read mcp:action'),
      await asks('mcp:read', 'consent'),
    ]).toEqual([true, false, false, true, true]);
    const events = testServer.observed.flatMap((one) =>
      one.type === 'security' ? [`${one.event} ${one.detail}`] : [],
    );
    expect(events.filter((event) => event.startsWith('consent'))).toEqual([
      'consent.allowed mcp:read mcp:write',
      'consent.stepped-up mcp:read mcp:action',
      'consent.allowed mcp:read',
    ]);
  });

  test('is shown every time for clients on a device', async () => {
    const uri = 'http://localhost:4444/callback';
    const registered = await notebook({ redirect_uris: [uri] });
    const browser = createBrowser();
    const session = await connect(registered, testServer.account, { redirectUri: uri, browser });
    const page = await browser.open((await authorizationUrl(registered, { redirectUri: uri })).url);
    expect([typeof session.tokens.access_token, page.leftTo, page.html.includes('value="allow"')]).toEqual([
      'string',
      undefined,
      true,
    ]);
  });

  test('lets another account sign in instead', async () => {
    const { browser, page } = await atConsent();
    const signInPage = await browser.press(page, 'switch');
    const bob = await browser.press(signInPage, 'sign-in', { email: 'bob@example.com', password: 'another password' });
    expect([signInPage.html.includes('name="password"'), read(bob).includes('You are Bob bob@example.com')]).toEqual([
      true,
      true,
    ]);
  });

  test('with prompt=login another account can sign in, and replaces the first session', async () => {
    const { browser, registered } = await atConsent();
    const { url } = await authorizationUrl(registered, { redirectUri, prompt: 'login' });
    const bob = { email: 'bob@example.com', password: 'another password' };
    const page = await browser.press(await browser.open(url), 'sign-in', bob);
    expect(read(page)).toContain('You are Bob bob@example.com');
  });

  test('pressed twice leads to the same redirect and allows once', async () => {
    const { browser, page } = await atConsent();
    const ada = (await testServer.store.identity.findUserByEmail(testServer.account.email))!;
    const grants = async () => (await testServer.store.oauth.listByAccount('Grant', `${ada.id}`)).length;
    const before = await grants();
    const cookie = browser.cookieHeader(new URL(page.url));
    const press = async () => {
      const answer = await post(page.url, cookie, { action: 'allow', csrf: csrfOf(page) });
      return [answer.status, answer.headers.get('location')];
    };
    const first = await press();
    expect([first[0], await press(), (await grants()) - before]).toEqual([303, first, 1]);
  });

  test('raises a security event for each step, with user and scopes', async () => {
    testServer.observed.length = 0;
    const { browser, page } = await atConsent({ scope: 'mcp:read' });
    await browser.press(page, 'allow');
    const events = testServer.observed.flatMap((one) =>
      one.type === 'security' ? [[one.event, one.userId, one.detail]] : [],
    );
    const { id } = (await testServer.store.identity.findUserByEmail(testServer.account.email))!;
    expect(events).toEqual([
      ['client.registered', undefined, undefined],
      ['sign-in.ok', id, undefined],
      ['consent.allowed', id, 'mcp:read'],
    ]);
  });
});

describe('a form is refused', () => {
  test('without the CSRF token, with that of another interaction, from another site, or without the cookie', async () => {
    const { browser, page } = await atConsent();
    const other = await atConsent();
    const cookie = browser.cookieHeader(new URL(page.url));
    const csrf = csrfOf(page);
    expect([
      (await post(page.url, cookie, { action: 'allow' })).status,
      (await post(page.url, cookie, { action: 'allow', csrf: csrfOf(other.page) })).status,
      (await post(page.url, cookie, { action: 'allow', csrf }, { 'sec-fetch-site': 'cross-site' })).status,
      (await post(page.url, '', { action: 'allow', csrf })).status,
      (
        await post(
          page.url,
          cookie.replace(/(?<=\.sig=)[^;]+/g, (text) => altered(text)),
          { action: 'allow', csrf },
        )
      ).status,
      (await post(page.url, cookie, { action: 'sign-in', csrf })).status,
      (await post(page.url, cookie, { action: 'allow', csrf })).status,
    ]).toEqual([400, 400, 400, 400, 400, 400, 303]);
  });

  test('with the CSRF token of the sign-in page of the same request', async () => {
    const begun = await atSignIn();
    const page = await begun.browser.press(begun.page, 'sign-in', { ...testServer.account });
    const cookie = begun.browser.cookieHeader(new URL(page.url));
    expect((await post(page.url, cookie, { action: 'allow', csrf: csrfOf(begun.page) })).status).toBe(400);
  });

  test.each(['/oauth/interaction/unknown', '/oauth/authorize/unknown'])(
    'and %s is a page that says to start again',
    async (path) => {
      const page = await createBrowser().open(testServer.local + path);
      expect([page.status, read(page), page.headers.get('x-frame-options')]).toEqual([
        400,
        'Portico This sign-in has expired It was not completed in time, or was already completed. Go back to your assistant and connect again.',
        'DENY',
      ]);
    },
  );

  test('after the first answer: the interaction is finished', async () => {
    const { browser, page } = await atConsent();
    const cookie = browser.cookieHeader(new URL(page.url));
    await browser.press(page, 'allow');
    expect((await post(page.url, cookie, { action: 'allow', csrf: csrfOf(page) })).status).toBe(400);
  });
});

test('an unregistered redirect URI gets a page and no redirect', async () => {
  const registered = await notebook();
  const { url } = await authorizationUrl(registered, { redirectUri: 'https://evil.example/' });
  const page = await createBrowser().open(url);
  expect([page.status, page.leftTo, read(page)]).toEqual([
    400,
    undefined,
    'Portico This request cannot be served The app requested a redirect address that it did not register, so no answer was sent. ' +
      'invalid_redirect_uri: redirect_uri did not match any of the client&#39;s registered redirect_uris',
  ]);
});

test('a user disabled during a session must sign in again and cannot', async () => {
  const { browser, registered } = await atConsent();
  const ada = (await testServer.store.identity.findUserByEmail(testServer.account.email))!;
  await testServer.store.identity.setDisabled(ada.id, true);
  try {
    const page = await browser.open((await authorizationUrl(registered, { redirectUri })).url);
    const again = await browser.press(page, 'sign-in', { ...testServer.account });
    expect([page.html.includes('name="password"'), again.status]).toEqual([true, 400]);
  } finally {
    await testServer.store.identity.setDisabled(ada.id, false);
  }
});
