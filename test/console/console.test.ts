// The console over HTTP: sign-in and sign-out, access to pages, and rejection of cross-site forms.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../app/call.ts';
import { signedIn } from '../app/shop.ts';
import { createBrowser, type Page } from '../oauth/flow.ts';
import { type ConsoleTestServer, csrfOf, openConsoleServer, read } from './console-server.ts';

let server: ConsoleTestServer;
beforeAll(async () => {
  server = await openConsoleServer({ env: { SERVICE_SIGN_IN_ATTEMPTS: '1000' } });
});
afterAll(() => server.stop());

const heading = (page: Page): string => /<h1>(.*?)<\/h1>/.exec(page.html)?.[1] ?? '';
const get = (url: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(url, { method, headers, redirect: 'manual' });
const post = (url: string, cookie: string, body: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    body: new URLSearchParams(body),
    headers: { cookie, 'sec-fetch-site': 'same-origin', ...headers },
    redirect: 'manual',
  });
const cookieOf = async (page = '') => {
  const { browser, page: shown } = await server.browse(server.account, page);
  return { cookie: browser.cookieHeader(new URL(server.at(page))), csrf: csrfOf(shown), browser, page: shown };
};

describe('signing in', () => {
  test('is required by every page, and leads back to the requested one', async () => {
    const { id } = await server.file({ recordIds: ['1'], given: change('1') });
    const browser = createBrowser();
    const asked = await browser.open(server.at(`/approvals/${id}`));
    const page = await browser.press(asked, 'sign-in', { ...server.account });
    expect([heading(asked), asked.url, heading(page), page.url]).toEqual([
      'Sign in',
      server.at(`/sign-in?to=%2Fapprovals%2F${id}`),
      'Change vera.virtanen1@example.org of customers?',
      server.at(`/approvals/${id}`),
    ]);
  });

  test('that fails keeps the requested page, with the same error for a wrong password and an unknown account', async () => {
    const browser = createBrowser();
    const asked = await browser.open(server.at('/approvals'));
    const wrong = await browser.press(asked, 'sign-in', { email: server.account.email, password: 'wrong password' });
    const unknown = await browser.press(wrong, 'sign-in', { email: 'nobody@example.com', password: 'wrong password' });
    const right = await browser.press(unknown, 'sign-in', { ...server.account });
    const problems = [wrong, unknown].map(({ status, html }) => [status, /role="alert">(.*?)</.exec(html)?.[1]]);
    expect([problems, wrong.html.includes('wrong password'), right.url]).toEqual([
      Array(2).fill([400, 'Wrong e-mail or password.']),
      false,
      server.at('/approvals'),
    ]);
  });

  test.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example',
    '/approvals/../../mcp',
    '/sign-in?to=/approvals',
    '/sso/callback?code=1',
    '//evil.example/?x=/approvals',
    '/@evil.example?x=1',
    'approvals',
    '/sign-out',
    '/sign-in',
    '/approvals/a%2f',
    'javascript:alert(1)',
  ])('never redirects to %s', async (to) => {
    const browser = createBrowser();
    const page = await browser.press(
      await browser.open(server.at(`/sign-in?${new URLSearchParams({ to })}`)),
      'sign-in',
      { ...server.account },
    );
    const again = await browser.open(server.at(`/sign-in?${new URLSearchParams({ to })}`));
    expect([page.leftTo, page.url, again.leftTo, again.url]).toEqual([
      undefined,
      server.at(''),
      undefined,
      server.at(''),
    ]);
  });

  test.each([
    ['/activity?record=18&type=write', '/activity?record=18&type=write'],
    ['/playground/list?arg.collectionName=b%C3%A9', '/playground/list?arg.collectionName=b%C3%A9'],
    ['/approvals?x=https://evil.example/', '/approvals?x=https://evil.example/'],
    ['/approvals?x=1\r\nSet-Cookie: a=b', '/approvals'],
    ['/approvals?x=1#y', '/approvals'],
    ['/approvals?x=\\evil', '/approvals'],
    [`/approvals?x=${'y'.repeat(4000)}`, '/approvals'],
  ])('leads to the requested page without extra headers: %s', async (to, led) => {
    const browser = createBrowser();
    const asked = await browser.open(server.at(`/sign-in?${new URLSearchParams({ to })}`));
    const page = await browser.press(asked, 'sign-in', { ...server.account });
    expect([page.leftTo, page.url, page.headers.get('set-cookie')]).toEqual([undefined, server.at(led), null]);
  });

  test('keeps the query of the requested page', async () => {
    const browser = createBrowser();
    const asked = await browser.open(server.at('/activity?record=18&type=write'));
    const wrong = await browser.press(asked, 'sign-in', { ...server.account, password: 'wrong password' });
    const page = await browser.press(wrong, 'sign-in', { ...server.account });
    expect([heading(asked), page.url]).toEqual(['Sign in', server.at('/activity?record=18&type=write')]);
    expect(page.html).toContain('name="record" type="search" value="18"');
  });

  test('makes a session with a new id, whatever the browser sends', async () => {
    const fixed = 'A'.repeat(43);
    const name = `portico-console-${new URL(server.consoleUrl).port}`;
    const page = await (
      await get(server.at('/sign-in'), { cookie: `${name}=${fixed}; ${name}-visit=${fixed}` })
    ).text();
    const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const body = { ...server.account, action: 'sign-in', csrf };
    const answer = await post(server.at('/sign-in'), `${name}=${fixed}; ${name}-visit=${fixed}`, body);
    const given = answer.headers.getSetCookie().find((line) => line.startsWith(`${name}=`)) ?? '';
    const id = given.slice(name.length + 1, given.indexOf(';'));
    const made = await get(server.at(''), { cookie: `${name}=${id}` });
    const planted = await get(server.at(''), { cookie: `${name}=${fixed}` });
    expect([answer.status, id === fixed, id.length, made.status, planted.status]).toEqual([303, false, 43, 200, 303]);
  });

  test('over plain http limits the cookie to the console, and hides it from scripts', async () => {
    const browser = createBrowser();
    const asked = await browser.open(server.at('/sign-in'));
    const { port } = new URL(server.consoleUrl);
    const visit = browser.cookieHeader(new URL(server.at('/sign-in')));
    const body = { ...server.account, action: 'sign-in', csrf: csrfOf(asked) };
    const lines = (await post(server.at('/sign-in'), visit, body)).headers.getSetCookie();
    expect(lines.map((line) => line.replace(/=[\w-]{43};|=[\w-]{22}\.[\w-]{43};/, '=<id>;'))).toEqual([
      `portico-console-${port}=<id>; HttpOnly; SameSite=Lax; Path=/console`,
      `portico-console-${port}-visit=; HttpOnly; SameSite=Lax; Path=/console; Max-Age=0`,
      `portico-console-${port}-device=<id>; HttpOnly; SameSite=Lax; Path=/console; Max-Age=15552000`,
    ]);
  });

  test('counts wrong passwords together with those at the sign-in of assistants', async () => {
    const busy = await openConsoleServer({ env: { SERVICE_SIGN_IN_ATTEMPTS: '3' } });
    try {
      const browser = createBrowser();
      const page = await browser.open(busy.at('/sign-in'));
      for (let i = 0; i < 3; i++)
        await browser.press(page, 'sign-in', { email: busy.account.email, password: 'wrong password' });
      const here = await browser.press(page, 'sign-in', { ...busy.account });
      const there = await signedIn(busy).then(
        () => 'signed in',
        (error: Error) => error.message.split('\n')[0]!.split(' at ')[0],
      );
      expect([here.status, Number(here.headers.get('retry-after')) > 880, read(here), there]).toEqual([
        429,
        true,
        'Portico Please wait Too many wrong passwords or codes. Wait 15 minutes, then sign in again.',
        'sign-in stopped with status 429',
      ]);
    } finally {
      await busy.stop();
    }
  });
});

const change = (id: string) => ({ collectionName: 'customers', recordId: id, attributes: { city: 'Bergen' } });

describe('a session', () => {
  test('shows the signed-in user, and ends with sign-out', async () => {
    const { browser, page } = await server.browse(server.account);
    const left = await browser.press(page, 'sign-out');
    const after = await browser.open(server.at(''));
    expect([
      heading(page),
      read(page).includes('ada@example.com · Operations · Administrator'),
      left.url,
      heading(after),
    ]).toEqual(['Hello, Ada Byron', true, server.at('/sign-in'), 'Sign in']);
  });

  test('that ended by sign-out cannot be resumed with its cookie', async () => {
    const { cookie, csrf } = await cookieOf();
    await post(server.at('/sign-out'), cookie, { csrf });
    expect((await get(server.at(''), { cookie })).headers.get('location')).toBe('/console/sign-in');
  });

  test('ends with a change of its password, and with the user', async () => {
    const eve = await server.addUser({ email: 'eve@example.com', level: 'admin' });
    const { id } = await server.userOf(eve);
    const statuses: number[] = [];
    const look = async (cookie: string) => statuses.push((await get(server.at('/approvals'), { cookie })).status);
    const open = async (account: typeof eve) => {
      const { browser } = await server.browse(account);
      return browser.cookieHeader(new URL(server.at('')));
    };
    const first = await open(eve);
    await look(first);
    await server.store.identity.setPassword(id, 'another password');
    await look(first);
    const second = await open({ ...eve, password: 'another password' });
    await look(second);
    await server.store.identity.setDisabled(id, true);
    await look(second);
    expect(statuses).toEqual([200, 303, 200, 303]);
  });
});

describe('credentials that open no page', () => {
  test('an access token for /mcp', async () => {
    const { token } = await signedIn(server);
    const { id } = await server.file({ recordIds: ['2'], given: change('2') });
    const headers = { authorization: `Bearer ${token}` };
    const pages = ['', '/approvals', `/approvals/${id}`];
    const answers = await Promise.all(pages.map((page) => get(server.at(page), headers)));
    const decided = await fetch(server.at(`/approvals/${id}`), {
      method: 'POST',
      body: new URLSearchParams({ action: 'approve' }),
      headers: { ...headers, 'sec-fetch-site': 'same-origin' },
      redirect: 'manual',
    });
    const tools = await ask(server.mcpUrl, token, 'tools/list', {});
    expect([
      answers.map(({ status, headers }) => [status, headers.get('location')?.split('?')[0]]),
      (await answers[2]!.text()).length,
      [decided.status, (await server.store.approvals.find(id))?.state],
      tools.status,
    ]).toEqual([Array(3).fill([303, '/console/sign-in']), 0, [303, 'pending'], 200]);
  });

  test('a session cookie does not open /mcp', async () => {
    const { cookie } = await cookieOf();
    const answer = await fetch(server.mcpUrl, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
      headers: { cookie, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    });
    expect(answer.status).toBe(401);
  });

  test('an unknown Host', async () => {
    const { request } = await import('node:http');
    const { cookie } = await cookieOf();
    const status = await new Promise((resolve, reject) => {
      const asked = request(server.at(''), { headers: { host: 'evil.example', cookie } }, (res) => {
        res.resume();
        resolve(res.statusCode);
      });
      asked.on('error', reject).end();
    });
    expect(status).toBe(403);
  });
});

describe('a form is refused', () => {
  const decide = async (headers: Record<string, string>, body: (csrf: string) => Record<string, string>) => {
    const { id } = await server.file({ recordIds: ['3'], given: change('3') });
    const { cookie, csrf } = await cookieOf(`/approvals/${id}`);
    const answer = await post(server.at(`/approvals/${id}`), cookie, { action: 'approve', ...body(csrf) }, headers);
    return [answer.status, (await server.store.approvals.find(id))?.state];
  };

  test('without its CSRF token, or with the token of another browser', async () => {
    const other = await cookieOf('/approvals');
    const stranger = createBrowser();
    const signInPage = await stranger.open(server.at('/sign-in'));
    expect([
      await decide({}, () => ({})),
      await decide({}, () => ({ csrf: other.csrf })),
      await decide({}, () => ({ csrf: csrfOf(signInPage) })),
      await decide({}, (csrf) => ({ csrf: `${csrf}x` })),
      await decide({}, (csrf) => ({ csrf })),
    ]).toEqual([...Array(4).fill([403, 'pending']), [303, 'approved']]);
  });

  test('from another site, according to Sec-Fetch-Site and Origin', async () => {
    const ours = new URL(server.consoleUrl).origin;
    const refused = [403, 'pending'];
    const ok = [303, 'approved'];
    const from = (headers: Record<string, string>) => decide(headers, (csrf) => ({ csrf }));
    const none = async (headers: Record<string, string>) => {
      const { id } = await server.file({ recordIds: ['3'], given: change('3') });
      const { cookie, csrf } = await cookieOf(`/approvals/${id}`);
      const body = new URLSearchParams({ action: 'approve', csrf });
      const url = server.at(`/approvals/${id}`);
      const answer = await fetch(url, { method: 'POST', body, headers: { cookie, ...headers }, redirect: 'manual' });
      return [answer.status, (await server.store.approvals.find(id))?.state];
    };
    expect([
      await from({ 'sec-fetch-site': 'cross-site' }),
      await from({ 'sec-fetch-site': 'same-site', origin: ours }),
      await from({ 'sec-fetch-site': 'none' }),
      await none({ origin: 'https://evil.example' }),
      await none({ origin: 'null' }),
      await none({}),
      await none({ origin: ours }),
    ]).toEqual([refused, refused, refused, refused, refused, refused, ok]);
  });

  test('with another content type, an unknown action, or too large a body', async () => {
    const { id } = await server.file({ recordIds: ['3'], given: change('3') });
    const { cookie, csrf } = await cookieOf(`/approvals/${id}`);
    const send = async (type: string, body: string) => {
      const headers = { cookie, 'content-type': type, 'sec-fetch-site': 'same-origin' };
      const answer = await fetch(server.at(`/approvals/${id}`), { method: 'POST', body, headers, redirect: 'manual' });
      return answer.status;
    };
    expect([
      await send('application/json', JSON.stringify({ action: 'approve', csrf })),
      await send('text/plain', `${new URLSearchParams({ action: 'approve', csrf })}`),
      await send('application/x-www-form-urlencoded', `${new URLSearchParams({ action: 'else', csrf })}`),
      await send('application/x-www-form-urlencoded', `${new URLSearchParams({ csrf, x: 'y'.repeat(60_000) })}`),
      (await server.store.approvals.find(id))?.state,
    ]).toEqual([403, 403, 400, 413, 'pending']);
  });

  test('to sign in, with the page of another browser', async () => {
    const [one, other] = [createBrowser(), createBrowser()];
    const [page, theirs] = [await one.open(server.at('/sign-in')), await other.open(server.at('/sign-in'))];
    const cookie = one.cookieHeader(new URL(page.url));
    const body = { ...server.account, action: 'sign-in' };
    const forged = await post(server.at('/sign-in'), cookie, { ...body, csrf: csrfOf(theirs) });
    const afar = await post(
      server.at('/sign-in'),
      cookie,
      { ...body, csrf: csrfOf(page) },
      { 'sec-fetch-site': 'cross-site' },
    );
    expect([forged.status, afar.status, forged.headers.getSetCookie(), afar.headers.getSetCookie()]).toEqual([
      403,
      403,
      [],
      [],
    ]);
  });

  test('and raises a security event', () => {
    const { id } = server.ada;
    const events = server.observed.filter((one) => one.type === 'security' && one.event === 'console.forged');
    expect(events).toContainEqual(expect.objectContaining({ userId: id, address: '127.0.0.1' }));
  });
});

describe('a page', () => {
  test('cannot be framed or cached, runs and loads nothing, and sends its forms only to the console', async () => {
    const { cookie } = await cookieOf();
    const answers = await Promise.all(
      ['', '/approvals', '/approvals/unknown', '/sign-in', '/nothing'].map((page) => get(server.at(page), { cookie })),
    );
    const names = [
      'content-security-policy',
      'x-frame-options',
      'referrer-policy',
      'x-content-type-options',
      'cache-control',
      'cross-origin-opener-policy',
    ];
    const shown = answers
      .filter(({ status }) => status !== 303)
      .map(({ headers }) => names.map((name) => headers.get(name)?.replaceAll(/'sha256-[^']+'/g, "'sha256-…'")));
    const policy =
      "default-src 'none'; style-src 'sha256-…'; img-src data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";
    const others = ['DENY', 'same-origin', 'nosniff', 'no-store', 'same-origin'];
    expect(shown).toEqual([...Array(4).fill([`${policy}; script-src 'sha256-…'; connect-src 'self'`, ...others])]);
    const texts = await Promise.all(answers.map((one) => one.text()));
    expect(texts.map((text) => text.split('<script>').length - 1)).toEqual([1, 1, 1, 0, 1]);
    expect(texts.some((text) => /<script[^>]|\son[a-z]+=/.test(text))).toBe(false);
  });

  test('that does not exist, or is requested with a wrong method, returns an error page', async () => {
    const { cookie } = await cookieOf();
    const summary = async (method: string, page: string) => {
      const answer = await get(server.at(page), { cookie }, method);
      return [answer.status, answer.headers.get('allow'), answer.headers.get('content-type')];
    };
    const type = 'text/html; charset=utf-8';
    expect([
      await summary('GET', '/nothing'),
      await summary('GET', '/approvals/a/b'),
      await summary('GET', '/sign-out'),
      await summary('DELETE', '/approvals/x'),
      await summary('POST', '/approvals'),
      await summary('HEAD', '/approvals'),
    ]).toEqual([
      [404, null, type],
      [404, null, type],
      [405, 'POST', type],
      [405, 'GET, HEAD, POST', type],
      [405, 'GET, HEAD', type],
      [200, null, type],
    ]);
  });
});
