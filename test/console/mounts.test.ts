// Mounts of the console: on our own server, in a host application that parses bodies first, and behind a proxy with a
// public URL.
import { describe, expect, test } from 'vitest';
import { routeBeforeStart } from '../../src/server/route.ts';
import { account, hosted, mounts } from '../app/mounts.ts';
import { openShop } from '../app/shop.ts';
import { createBrowser } from '../oauth/flow.ts';
import { csrfOf, read } from './console-server.ts';

const base = '/service/_console';

describe.each(mounts)('%s', (_place, open) => {
  test('a user signs in at {prefix}/_console, and unknown pages return error pages', async () => {
    const { agent, origin } = await open();
    try {
      const browser = createBrowser();
      const page = await browser.press(await browser.open(`${origin}${base}/approvals`), 'sign-in', { ...account });
      const start = await browser.open(`${origin}${base}/`);
      const left = await browser.press(start, 'sign-out');
      const missing = await fetch(`${origin}${base}/nothing`);
      const wrong = await fetch(`${origin}${base}`, { method: 'PUT' });
      expect([
        [page.url, page.status, read(page).includes('Requests from assistants that need your approval')],
        read(start).includes('Hello, Ada Byron'),
        left.url,
        [missing.status, missing.headers.get('content-type')],
        [wrong.status, wrong.headers.get('allow')],
      ]).toEqual([
        [`${origin}${base}/approvals`, 200, true],
        true,
        `${origin}${base}/sign-in`,
        [404, 'text/html; charset=utf-8'],
        [405, 'GET, HEAD'],
      ]);
    } finally {
      await agent.stop();
    }
  });
});

describe('in a host application', () => {
  test('other paths reach the host application', async () => {
    const { agent, origin, reached } = await hosted('/data');
    try {
      const statuses = await Promise.all(
        ['/', '/console', '/services', '/v1/token'].map(async (path) => (await fetch(origin + path)).status),
      );
      expect([statuses, reached]).toEqual([[200, 404, 404, 404], ['GET /']]);
    } finally {
      await agent.stop();
    }
  });

  test('body parsers of the host do not affect the forms', async () => {
    const { agent, origin } = await hosted('/data');
    try {
      const browser = createBrowser();
      const page = await browser.open(`${origin}${base}/sign-in?to=%2Fapprovals`);
      const wrong = await browser.press(page, 'sign-in', { email: 'ada+x@example.com', password: 'a&b=c%20"d"' });
      const forged = await fetch(`${origin}${base}/sign-in`, {
        method: 'POST',
        body: new URLSearchParams([
          ['csrf', csrfOf(page)],
          ['csrf', 'x'],
        ]),
        headers: { 'sec-fetch-site': 'same-origin' },
      });
      expect([wrong.status, /name="email"[^>]*value="([^"]*)"/.exec(wrong.html)?.[1], forged.status]).toEqual([
        400,
        'ada+x@example.com',
        403,
      ]);
    } finally {
      await agent.stop();
    }
  });

  // A body parser may turn `name[toString]` into a nested object; without it, this is just a field name.
  test('a value that a body parser turned into an object is not a form field', async () => {
    const { agent, origin } = await hosted('/data');
    try {
      const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
      const body = ['csrf', 'email', 'client_id', 'token', 'grant_type', 'user_code']
        .map((name) => `${name}[toString]=x&${name}[valueOf]=y&${name}[a][b]=z`)
        .join('&');
      const statuses = [];
      for (const path of [
        `${base}/sign-in`,
        '/data/oauth/token',
        '/data/oauth/revoke',
        '/data/oauth/par',
        '/data/oauth/authorize',
      ])
        statuses.push((await fetch(origin + path, { method: 'POST', headers, body })).status);
      expect(statuses).toEqual([403, 400, 400, 400, 400]);
    } finally {
      await agent.stop();
    }
  });

  test('Portico answers its paths before the start too, with an error', () => {
    const route = routeBeforeStart({
      publicUrl: 'https://shop.example',
      servesMcp: true,
      basePath: '/data',
      consolePath: base,
      prefix: '/service',
      apiPath: '/service/_api',
      platformDoor: false,
      platformPath: '/platform',
    });
    const went: string[] = [];
    for (const url of [`${base}/approvals`, '/service/other', '/other']) {
      const answered = {
        hasHeader: () => false,
        setHeader: () => answered,
        writeHead: () => answered,
        end: () => went.push(`ours ${url}`),
      };
      route({ url } as never, answered as never, () => went.push(`next ${url}`));
    }
    expect(went).toEqual([`ours ${base}/approvals`, 'ours /service/other', 'next /other']);
  });
});

describe('with its own public URL', () => {
  test('with a path, https cookies are limited to this host, and forms must come from that origin', async () => {
    const shop = await openShop({ env: { SERVICE_PUBLIC_URL: 'https://data.example.com/agent' } });
    try {
      expect(shop.consoleUrl).toBe('https://data.example.com/agent/console');
      for (const root of ['/console', '/agent/console']) {
        const at = (page: string) => `${shop.address}${root}${page}`;
        const asked = await fetch(at('/approvals'), { redirect: 'manual' });
        const page = await fetch(at('/sign-in'));
        const [visit = ''] = page.headers.getSetCookie();
        const cookie = visit.slice(0, visit.indexOf(';'));
        const csrf = /name="csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
        const signIn = (origin: string) =>
          fetch(at('/sign-in'), {
            method: 'POST',
            body: new URLSearchParams({ ...shop.account, action: 'sign-in', csrf }),
            headers: { cookie, origin },
            redirect: 'manual',
          });
        const [local, other, ours] = [
          await signIn(shop.address),
          await signIn('https://other.example.com'),
          await signIn('https://data.example.com'),
        ];
        expect([
          asked.headers.get('location'),
          visit.replace(/=[\w-]{43};/, '=<id>;'),
          [local.status, other.status, ours.status, ours.headers.get('location')],
          ours.headers.getSetCookie()[0]?.replace(/=[\w-]{43};/, '=<id>;'),
        ]).toEqual([
          '/agent/console/sign-in?to=%2Fapprovals',
          '__Host-portico-console-visit=<id>; HttpOnly; SameSite=Lax; Path=/; Secure',
          [403, 403, 303, '/agent/console'],
          '__Host-portico-console=<id>; HttpOnly; SameSite=Lax; Path=/; Secure',
        ]);
      }
    } finally {
      await shop.stop();
    }
  });
});
