// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of the source
// An agent in a host application: the application's cookies, parsers and routes.
import { join } from 'node:path';
import { sendRaw } from '../../app/socket.ts';
import { authorizationUrl, register } from '../../oauth/client.ts';
import { type Browser, createBrowser, type Page } from '../../oauth/flow.ts';
import { type Attack, type Place, verdict } from '../attack.ts';
import { shop } from '../data/shop.ts';
import type { Target } from '../target.ts';
import { headline, on, redirectUri, tell } from './web.ts';

const { code: _, ...tables } = shop;
const hosted: Place = {
  ...tables,
  name: 'an Express application',
  host: join(import.meta.dirname, 'host-app.ts'),
};

/** Paths of the requests that reached the routes of the application. */
const reachedOf = async ({ origin }: Target): Promise<readonly string[]> =>
  (await fetch(`${origin}/reached`)).json() as Promise<string[]>;

const login = ({ origin }: Target, browser: Browser, who: string): Promise<Page> =>
  browser.open(`${origin}/login?as=${who}`);

async function ask({ origin }: Target, browser: Browser): Promise<Page> {
  const registered = await register(origin, { client_name: 'Notebook', redirect_uris: [redirectUri] });
  return browser.open((await authorizationUrl(registered, { redirectUri })).url);
}

const isConsent = (page: Page): boolean => page.html.includes('value="allow"');
const form = { 'content-type': 'application/x-www-form-urlencoded' };

const attacks: readonly Omit<Attack, 'place' | 'on'>[] = [
  {
    id: 'web-held-rebound-host-of-an-application',
    finding: 'web held',
    title: 'a page whose name was pointed at this machine reaches the paths of ours in an application (CWE-350)',
    async attack({ mcpUrl }) {
      const paths = ['/mcp', '/oauth/jwks', '/.well-known/oauth-authorization-server', '/console/sign-in'];
      const statuses = [];
      for (const path of paths) statuses.push((await sendRaw(mcpUrl, `GET ${path}`, { Host: 'evil.example' })).status);
      return verdict(
        statuses.some((status) => status !== 403),
        statuses,
      );
    },
    protection: [
      {
        file: 'src/http/host-check.ts',
        text: 'if (name === undefined || !hosts.has(name)) return false;',
        into: 'if (name === undefined) return false;',
      },
    ],
  },
  {
    id: 'web-held-another-person-of-the-host',
    finding: 'web held',
    title: 'consent is given in the name of somebody who has left the application meanwhile',
    async attack(target) {
      const browser = createBrowser();
      await login(target, browser, 'nina');
      const consent = await ask(target, browser);
      if (!isConsent(consent)) throw new Error(`no consent: ${consent.status} ${headline(consent)}`);
      await login(target, browser, 'otto');
      const { leftTo, status } = await browser.press(consent, 'allow');
      return verdict(leftTo?.searchParams.has('code') ?? false, `${status} ${leftTo}`);
    },
    protection: [
      {
        file: 'src/oauth/login/host-sign-in.ts',
        text: '(await store.identities.findUserId(issuer, identity.subject)) === userId;',
        into: 'identity.subject !== String(userId);',
      },
    ],
  },
  {
    id: 'web-held-person-of-the-host-with-an-address-of-ours',
    finding: 'web held',
    title: 'somebody of the application becomes the administrator here who has the same address',
    async attack(target) {
      const browser = createBrowser();
      await login(target, browser, 'thief');
      const page = await ask(target, browser);
      return verdict(isConsent(page), `${page.status} ${headline(page)}`);
    },
    protection: [
      {
        file: 'src/store/users/identities.ts',
        text: 'if (!link) return refused(`user ${sameAddress.id} has this address, and linking users by address is off`);',
        into: '',
      },
    ],
  },
  {
    id: 'web-held-cookies-of-the-host',
    finding: 'web held',
    title: 'the application is shown the cookies of ours (RFC 6265 section 8.6)',
    async attack(target) {
      const browser = createBrowser();
      await login(target, browser, 'nina');
      await browser.press(await ask(target, browser), 'allow');
      const shown = browser.cookieHeader(new URL(`${target.origin}/orders`));
      return verdict(/portico_/.test(shown), shown);
    },
    protection: [
      {
        file: 'src/oauth/server/provider.ts',
        text: 'long: { ...shared, path: `${paths.prefix}/oauth` },',
        into: "long: { ...shared, path: '/' },",
      },
    ],
  },
  {
    id: 'web-11-two-people-in-an-application',
    finding: 'web 11',
    title: 'a form of the sign-in is posted to a route of the application',
    async attack(target) {
      const browser = createBrowser();
      const [one, other] = [await ask(target, browser), await ask(target, browser)];
      const [ada, bob] = [await target.person(), await target.person()];
      await browser.press(one, 'sign-in', { email: ada.email, password: ada.password });
      const late = await browser.press(other, 'sign-in', { email: bob.email, password: bob.password });
      const action = /<form[^>]* action="([^"]*)"/.exec(late.html)?.[1];
      if (action !== undefined)
        await tell(new URL(action, late.url).href, { method: 'POST', headers: form, body: 'x=y' });
      const reached = await reachedOf(target);
      return verdict(reached.length > 0, { reached, page: headline(late) });
    },
    protection: [
      {
        file: 'src/oauth/login/completion.ts',
        text: 'if (session === undefined || returnUrl === undefined) return;',
        into: 'return;',
      },
    ],
  },
  {
    id: 'web-13-form-with-methods',
    finding: 'web 13',
    title: 'a form that the parser of the application makes an object of is a 500 (CWE-248)',
    async attack({ origin }) {
      const names = ['client_id', 'csrf', 'email', 'token', 'user_code'];
      const body = names.map((name) => `${name}[toString]=x&${name}[valueOf]=y`).join('&');
      const statuses: Record<string, number> = {};
      for (const path of [
        '/oauth/token',
        '/oauth/revoke',
        '/oauth/par',
        '/oauth/authorize',
        '/console/sign-in',
        '/oauth/device',
      ])
        statuses[path] = (await tell(origin + path, { method: 'POST', headers: form, body })).status;
      return verdict(
        Object.values(statuses).some((status) => status >= 500),
        statuses,
      );
    },
    protection: [{ file: 'src/http/body.ts', text: "if (typeof one !== 'object') form", into: 'form' }],
  },
  {
    id: 'data-6-rounded-by-the-application',
    finding: 'data 6',
    title: 'a record id above 2^53 that the parser of the application has rounded deletes another record',
    async attack(target) {
      await target.sql("INSERT INTO snow (id, name) VALUES (9007199254740992, 'even'), (9007199254740993, 'odd')");
      const attacker = await target.person();
      const answer = await attacker.raw('delete', '{"collectionName":"snow","recordIds":[9007199254740993]}');
      const left = await target.rows("SELECT name FROM snow WHERE name IN ('even', 'odd')");
      return verdict(!left.includes('even'), { left, answer });
    },
    protection: [
      {
        file: 'src/core/filter/exact-numbers.ts',
        text: 'Number.isInteger(value) && !Number.isSafeInteger(value)',
        into: "value === 'none'",
      },
    ],
  },
];

export const hostAttacks: readonly Attack[] = attacks.map((attack) => ({ ...attack, place: hosted, on }));
