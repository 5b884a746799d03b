// A second authorization of an allowed client skips the page only if the user began it. If another site sent the
// browser, the page is shown: otherwise any web page could get a code for that client (as in GHSA-6x8h-498w-gv8c).
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, openChromium } from '../chromium.ts';
import { authorizationUrl, byDocument, type Registered, register } from './client.ts';
import { type Browser, createBrowser, type Page, signIn } from './flow.ts';
import { type OAuthTestServer, startServer } from './oauth-server.ts';

const documentUrl = 'https://paper.example/client.json';
const redirectUri = 'https://paper.example/callback';
let server: OAuthTestServer;
beforeAll(async () => {
  server = await startServer();
  server.documents.set(documentUrl, { client_id: documentUrl, client_name: 'Paper', redirect_uris: [redirectUri] });
  await server.addUser({ email: 'bob@example.com', password: 'another password', firstName: 'Bob' });
});
afterAll(() => server.stop());

const paper = () => byDocument(server.paths.issuer, documentUrl);
const asking = { redirectUri, scope: 'mcp:read mcp:write' };

/** A browser whose user has allowed the client. */
async function allowed(registered: Registered, back = redirectUri): Promise<Browser> {
  const browser = createBrowser();
  const { url } = await authorizationUrl(registered, { ...asking, redirectUri: back });
  await signIn(url, server.account, browser);
  return browser;
}

async function again(browser: Browser, registered: Registered, site?: string, back = redirectUri): Promise<Page> {
  const { url } = await authorizationUrl(registered, { ...asking, redirectUri: back });
  return browser.open(url, site === undefined ? {} : { headers: { 'sec-fetch-site': site } });
}

const gives = (page: Page): 'code' | 'page' | 'neither' =>
  page.leftTo?.searchParams.has('code') ? 'code' : page.html.includes('value="allow"') ? 'page' : 'neither';

describe('the second authorization', () => {
  // Fetch Metadata section 2.3; RFC 9700 section 4.16 (clickjacking and unwanted navigations), RFC 6819 section
  // 5.2.3.5.
  test.each([
    ['none', 'code'],
    ['same-origin', 'code'],
    ['same-site', 'page'],
    ['cross-site', 'page'],
    ['nonsense', 'page'],
    [undefined, 'page'],
  ])('of a client with a metadata document, with Sec-Fetch-Site: %s, gives a %s', async (site, expected) => {
    const registered = await paper();
    const browser = await allowed(registered);
    expect(gives(await again(browser, registered, site))).toBe(expected);
  });

  // RFC 7591 section 5, OAuth 2.1 section 2.2: a dynamically registered client has no verified identity.
  test.each(['none', 'same-origin', 'cross-site', undefined])(
    'of a self-registered client always shows the page (%s)',
    async (site) => {
      const registered = await register(server.paths.issuer, { client_name: 'Paper', redirect_uris: [redirectUri] });
      const browser = await allowed(registered);
      expect(gives(await again(browser, registered, site))).toBe('page');
    },
  );

  // RFC 8252 section 8.6: any program on the device can impersonate such a client.
  test.each([
    'http://localhost:7777/cb',
    'https://localhost:7777/cb',
    'https://127.0.0.1/cb',
    'https://x.localhost/cb',
  ])('of a client whose response stays on the device shows the page: %s', async (back) => {
    const id = `https://paper.example/${encodeURIComponent(back)}`;
    server.documents.set(id, { client_id: id, client_name: 'Paper', redirect_uris: [back] });
    const registered = await byDocument(server.paths.issuer, id);
    const browser = await allowed(registered, back);
    const page = await again(browser, registered, 'none', back);
    expect([gives(page), page.html.includes('This app runs on a device')]).toEqual(['page', true]);
  });

  test('is one page with one button, which gives the code', async () => {
    const registered = await paper();
    const browser = await allowed(registered);
    const page = await again(browser, registered, 'cross-site');
    const buttons = [...page.html.matchAll(/<button class="primary"[^>]*>([^<]*)/g)].map(([, text]) => text);
    const pressed = await browser.press(page, 'allow');
    expect([buttons, gives(pressed)]).toEqual([['Continue'], 'code']);
  });

  test('shows the page again after the button was pressed', async () => {
    const registered = await paper();
    const browser = await allowed(registered);
    await browser.press(await again(browser, registered, 'cross-site'), 'allow');
    expect(gives(await again(browser, registered, 'cross-site'))).toBe('page');
  });
});

// Our own intermediate pages send Sec-Fetch-Site: same-origin.
describe('the Sec-Fetch-Site of the first request is kept', () => {
  test('through the sign-in', async () => {
    const registered = await paper();
    await allowed(registered);
    const stranger = createBrowser();
    const page = await again(stranger, registered, 'cross-site');
    const sent = createBrowser();
    const own = await again(sent, registered, 'none');
    expect([
      gives(await stranger.press(page, 'sign-in', { ...server.account })),
      gives(await sent.press(own, 'sign-in', { ...server.account })),
    ]).toEqual(['page', 'code']);
  });

  test('through a change of the account', async () => {
    const registered = await paper();
    await allowed(registered);
    const browser = createBrowser();
    const bob = { email: 'bob@example.com', password: 'another password' };
    const page = await browser.press(await again(browser, registered, 'cross-site'), 'sign-in', bob);
    const other = await browser.press(page, 'switch');
    expect(gives(await browser.press(other, 'sign-in', { ...server.account }))).toBe('page');
  });

  test('through a pushed request', async () => {
    const registered = await paper();
    const browser = await allowed(registered);
    const push = async () => {
      const { url } = await authorizationUrl(registered, asking);
      const body = url.searchParams;
      const answer = await fetch(`${server.local}/oauth/par`, { method: 'POST', body });
      const { request_uri } = (await answer.json()) as { request_uri: string };
      return `${server.local}/oauth/authorize?${new URLSearchParams({ client_id: documentUrl, request_uri })}`;
    };
    const from = async (site: string) =>
      gives(await browser.open(await push(), { headers: { 'sec-fetch-site': site } }));
    expect([await from('cross-site'), await from('none')]).toEqual(['page', 'code']);
  });
});

describe.runIf(hasChromium)('in Chromium', () => {
  test('a navigation from another site gets no code; a typed URL does', async () => {
    const registered = await paper();
    const evil = createServer((_req, res) => {
      res.setHeader('content-type', 'text/html');
      const to = JSON.stringify(address);
      res.end(`<a id="go" href=${to}>go</a><script>if (location.hash) location = ${to}</script>`);
    });
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
    let address = '';
    await allowed(registered);
    const browser = await openChromium();
    try {
      const context = await browser.newContext();
      const reached: string[] = [];
      // The host does not exist; the request is enough.
      context.on('request', (request) => {
        const { host, searchParams } = new URL(request.url());
        if (host === 'paper.example') reached.push(searchParams.has('code') ? 'code' : 'error');
      });
      const sent = () => context.waitForEvent('request', (request) => request.url().startsWith(redirectUri));
      const fresh = async () => (await authorizationUrl(registered, asking)).url.href;
      // Each visit uses its own page: a failed navigation interrupts the next one on the same page.
      let page = await context.newPage();
      await page.goto(await fresh());
      await page.getByLabel('E-mail').fill(server.account.email);
      await page.getByLabel('Password').fill(server.account.password);
      // The earlier consent is still valid, and no other site began this request.
      await Promise.all([sent(), page.getByRole('button', { name: 'Sign in', exact: true }).click()]);
      const { port } = evil.address() as AddressInfo;
      const shown: unknown[] = [reached.splice(0)];
      for (const hash of ['', '#go']) {
        address = await fresh();
        page = await context.newPage();
        await page.goto(`http://127.0.0.1:${port}/${hash}`);
        if (!hash) await page.locator('#go').click();
        await page.getByRole('button', { name: 'Continue' }).waitFor();
        shown.push(reached.splice(0));
      }
      await Promise.all([sent(), page.getByRole('button', { name: 'Continue' }).click()]);
      shown.push(reached.splice(0));
      page = await context.newPage();
      const typed = await fresh();
      await Promise.all([sent(), page.goto(typed).catch(() => undefined)]);
      shown.push(reached.splice(0));
      expect(shown).toEqual([['code'], [], [], ['code'], ['code']]);
    } finally {
      await browser.close();
      evil.close();
    }
  }, 60_000);
});
