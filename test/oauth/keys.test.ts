// Key rotation during sign-ins and refreshes, with two processes on one storage. No request fails, old signatures stay
// valid until their key is retired, and each process signs with the new key from its next request on.
import { describe, expect, test } from 'vitest';
import { servers } from '../databases.ts';
import { createStorage } from '../store/spares.ts';
import { authorizationUrl, redeem, refresh, register } from './client.ts';
import { type Browser, createBrowser, type Page } from './flow.ts';
import { type OAuthTestServer, startServer } from './oauth-server.ts';

const redirectUri = 'https://notebook.example/callback';

const keyIds = async ({ local }: OAuthTestServer): Promise<string[]> => {
  const { keys } = (await (await fetch(`${local}/oauth/jwks`)).json()) as { keys: { kid: string }[] };
  return keys.map(({ kid }) => kid);
};
const signatureOf = (cookies: ReadonlyMap<string, { readonly value: string }>) =>
  [...cookies].filter(([name]) => /session\S*\.sig/.test(name)).map(([, { value }]) => value);

/** The session is valid. A dynamically registered client always gets the consent page, without a sign-in before it. */
const isSignedIn = ({ html }: Page): boolean => html.includes('value="allow"') && !html.includes('name="password"');

describe.each(servers)('on $dialect', (server) => {
  const { dialect } = server;
  async function open() {
    const database = await createStorage(server);
    const one = await startServer({ storageUrl: database.url });
    const two = await startServer({ storageUrl: database.url, beside: one });
    const at = ({ local }: OAuthTestServer, page: Page): Page => ({
      ...page,
      url: page.url.replace(/^http:\/\/[^/]+/, local),
    });
    /** Both servers use the public URL of the first, so redirects there go to `server`. */
    const press = async (
      server: OAuthTestServer,
      browser: Browser,
      page: Page,
      button: string,
      typed = {},
    ): Promise<Page> => {
      const next = await browser.press(at(server, page), button, typed);
      const { leftTo } = next;
      return leftTo?.origin === one.paths.origin
        ? browser.open(leftTo.href.replace(leftTo.origin, server.local))
        : next;
    };
    return {
      one,
      two,
      press,
      async [Symbol.asyncDispose]() {
        await two.stop();
        await one.stop();
        await database.drop();
      },
    };
  }

  test('a sign-in and a session that began before a rotation continue after it, on the other process', async () => {
    await using testServer = await open();
    const { one, two, press } = testServer;
    const registered = await register(one.paths.issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
    const browser = createBrowser();
    const { url, verifier } = await authorizationUrl(registered, { redirectUri });
    const signIn = await browser.open(url);
    await one.store.keys.rotate();
    const consent = await press(two, browser, signIn, 'sign-in', { ...one.account });
    const before = signatureOf(browser.cookies);
    await two.store.keys.rotate();
    const { leftTo } = await press(one, browser, consent, 'allow');
    const { validateAuthResponse } = await import('oauth4webapi');
    const parameters = validateAuthResponse(registered.server, registered.client, leftTo!, 'the-state');
    const tokens = await redeem(registered, { parameters, verifier, redirectUri });
    const again = await browser.open((await authorizationUrl(registered, { redirectUri })).url);
    expect([consent.html.includes('value="allow"'), isSignedIn(again)]).toEqual([true, true]);
    expect((await refresh(registered, `${tokens.refresh_token}`)).access_token).toMatch(/\S{20}/);
    // The cookie is signed again, with the current key.
    expect([before.length, signatureOf(browser.cookies)].length).toBe(2);
    expect(signatureOf(browser.cookies)).not.toEqual(before);

    // No cookie has the path `/`, which would send it to other applications on the host.
    expect([...browser.cookies.values()].filter(({ path }) => path === '/')).toEqual([]);
    await one.store.keys.retire(Date.now());
    const lost = await browser.open((await authorizationUrl(registered, { redirectUri })).url);
    // Signed with the newest key, which remains.
    expect(isSignedIn(lost)).toBe(true);
    expect([(await keyIds(one)).length, await keyIds(two)]).toEqual([1, await keyIds(one)]);
  });

  test('both processes publish the public keys of the storage, newest first, from the next request on', async () => {
    await using testServer = await open();
    const { one, two } = testServer;
    const first = await keyIds(one);
    await two.store.keys.rotate('oauth-signing');
    const rotated = [await keyIds(one), await keyIds(two)];
    await one.store.keys.retire(Date.now(), 'oauth-signing');
    const [newest] = rotated[0]!;
    expect([first.length, rotated[0]!.length, rotated[0]![1], rotated[1]]).toEqual([1, 2, first[0], rotated[0]]);
    expect([await keyIds(one), await keyIds(two)]).toEqual([[newest], [newest]]);
  });

  test('a form and a session of a retired key are refused', async () => {
    await using testServer = await open();
    const { one } = testServer;
    const registered = await register(one.paths.issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
    const browser = createBrowser();
    const page = await browser.open((await authorizationUrl(registered, { redirectUri })).url);
    await one.store.keys.rotate('oauth-cookies');
    await one.store.keys.retire(Date.now(), 'oauth-cookies');
    const refused = await browser.press(page, 'sign-in', { ...one.account });
    expect([refused.status, refused.html.includes('This sign-in has expired')]).toEqual([400, true]);
  });

  test('no request fails while keys change', async () => {
    await using testServer = await open();
    const { one, two, press } = testServer;
    // The first key is created on demand; a rotation before that has no effect.
    await keyIds(one);
    const failures: string[] = [];
    let over = false;
    const client = async (server: OAuthTestServer) => {
      const registered = await register(one.paths.issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
      let count = 0;
      do {
        const browser = createBrowser();
        const { url } = await authorizationUrl(registered, { redirectUri });
        url.port = new URL(server.local).port;
        const page = await browser.open(url);
        const next = await press(server, browser, page, 'sign-in', { ...one.account });
        if (!next.html.includes('value="allow"')) failures.push(`${next.status} ${next.url}`);
        count++;
      } while (!over);
      return count;
    };
    const working = Promise.all([client(one), client(two)]);
    for (let n = 0; n < 6; n++) {
      await new Promise((resolve) => setTimeout(resolve, 400));
      // SQLite allows one writer at a time, so all rotations run on the first server.
      await (dialect === 'sqlite' || n % 2 === 0 ? one : two).store.keys.rotate();
    }
    over = true;
    const counts = await working;
    expect([failures, counts.every((count) => count > 0), (await keyIds(one)).length]).toEqual([[], true, 7]);
  });
});
