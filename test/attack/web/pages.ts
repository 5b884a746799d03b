// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of the source
// The pages for sign-in and consent, and the console.
import { authorizationUrl } from '../../oauth/client.ts';
import { createBrowser, type Page } from '../../oauth/flow.ts';
import { ask as askDevice, poll } from '../../oauth/terminal.ts';
import { type Attack, verdict } from '../attack.ts';
import type { Target } from '../target.ts';
import { type Asked, ask, connectClient, headline, limited, on, opens, redirectUri, tell, web } from './web.ts';

const formOf = ({ html, url }: Page): string => new URL(/<form[^>]* action="([^"]*)"/.exec(html)?.[1] ?? '', url).href;

/** Signs in with a password from the given address. */
async function signInFrom(
  target: Pick<Target, 'consoleUrl'>,
  account: { email: string; password: string },
  from: string,
) {
  const browser = createBrowser();
  const headers = { 'x-forwarded-for': from };
  const page = await browser.open(`${target.consoleUrl}/sign-in`, { headers });
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.html)?.[1] ?? '';
  const body = new URLSearchParams({ csrf, action: 'sign-in', ...account });
  const sent = { method: 'POST', body, headers: { ...headers, 'sec-fetch-site': 'same-origin' } };
  return { browser, page: await browser.open(`${target.consoleUrl}/sign-in`, sent) };
}
const isSignedIn = async (
  target: Pick<Target, 'consoleUrl'>,
  { browser }: Awaited<ReturnType<typeof signInFrom>>,
): Promise<boolean> => !(await browser.open(`${target.consoleUrl}/account`)).html.includes('value="sign-in"');

/** The URL of another authorization request of the same client. */
const authorizeAgain = async (target: Target, { registered }: Asked): Promise<URL> =>
  (await authorizationUrl(registered, { redirectUri, resource: target.mcpUrl })).url;

export const pageAttacks: readonly Attack[] = [
  {
    id: 'web-held-forged-consent',
    finding: 'web held',
    title: 'a form that is no page of ours allows a client (RFC 6749 section 10.12)',
    place: web,
    on,
    async attack(target) {
      const { browser, page } = await ask(target, await target.person());
      const body = new URLSearchParams({ csrf: 'x', action: 'allow', limit: 'none', which: 'all', lasts: 'forever' });
      const after = await browser.open(formOf(page), { method: 'POST', body });
      return verdict(after.leftTo?.searchParams.has('code') ?? false, `${after.status} ${after.leftTo}`);
    },
    protection: [
      {
        file: 'src/oauth/login/interaction.ts',
        text: '!cookieKeys.some((key) => timingSafeEqualText(csrf, createCsrfToken(step.details, key)))',
        into: 'false',
      },
    ],
  },
  {
    id: 'web-held-framed-consent',
    finding: 'web held',
    title: 'the page of consent is shown in a frame (RFC 9700 section 4.16)',
    place: web,
    on,
    async attack(target) {
      const { headers } = (await ask(target, await target.person())).page;
      const [policy, options] = [headers.get('content-security-policy') ?? '', headers.get('x-frame-options')];
      return verdict(!policy.includes("frame-ancestors 'none'") && options === null, `${policy} ${options}`);
    },
    protection: [
      { file: 'src/http/page.ts', text: "; frame-ancestors 'none'", into: '' },
      { file: 'src/http/page.ts', text: "      'X-Frame-Options': 'DENY',\n", into: '' },
    ],
  },
  {
    id: 'web-4-openid-loops',
    finding: 'web 4',
    title: 'who asks for openid is asked for ever',
    place: web,
    on,
    async attack(target) {
      const asked = await ask(target, await target.person(), {}, { scope: 'openid mcp:read' });
      const { leftTo, html } = await asked.browser.press(asked.page, 'allow');
      return verdict(!leftTo?.searchParams.has('code'), leftTo ? leftTo.href : html.slice(-300));
    },
    protection: [
      {
        file: 'src/oauth/server/authorization-request.ts',
        text: "parameters.set('scope', knownScopes(scope, defaultScopes));",
        into: '',
      },
    ],
  },
  {
    id: 'web-11-two-people-in-two-tabs',
    finding: 'web 11',
    title: 'the second of two people in one browser gets a page that is not ours, with a script',
    place: web,
    on,
    async attack(target) {
      const [first, second] = [await ask(target, undefined), await ask(target, undefined)];
      const [ada, bob] = [await target.person(), await target.person()];
      const { browser } = first;
      const one = await browser.open(first.page.url);
      const other = await browser.open(await authorizeAgain(target, second));
      await browser.press(one, 'sign-in', { email: ada.email, password: ada.password });
      const late = await browser.press(other, 'sign-in', { email: bob.email, password: bob.password });
      const policy = late.headers.get('content-security-policy');
      return verdict(late.html.includes('<script') || policy === null, `${late.status} ${headline(late)} ${policy}`);
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
    id: 'web-14-answer-in-the-fragment',
    finding: 'web 14',
    title: 'the answer is asked for in the fragment, or in a page that posts it (RFC 9700 section 4.1.3)',
    place: web,
    on,
    async attack(target) {
      const person = await target.person();
      const seen = [];
      for (const response_mode of ['fragment', 'form_post']) {
        const { browser, page } = await ask(target, person, {}, { response_mode });
        const after = page.html.includes('value="allow"') ? await browser.press(page, 'allow') : page;
        seen.push(after.leftTo?.hash.includes('code=') || /name="code"/.test(after.html));
      }
      return verdict(seen.includes(true), seen);
    },
    protection: [
      {
        file: 'src/oauth/server/authorization-request.ts',
        text: "parameters.set('response_mode', 'not-offered')",
        into: 'parameters.get(modes[0])',
      },
    ],
  },
  {
    id: 'web-12-device-without-cookie',
    finding: 'web 12',
    title: 'a form of the page for devices without its cookie is a 500',
    place: web,
    on,
    async attack({ origin }) {
      const body = new URLSearchParams({ user_code: 'BCDF-GHJK', xsrf: 'x', confirm: 'yes' });
      const { status, text } = await tell(`${origin}/oauth/device`, { method: 'POST', body });
      return verdict(status >= 500, `${status} ${text.slice(0, 80)}`);
    },
    protection: [
      {
        file: 'src/oauth/device/flow.ts',
        text: '        if (sessionOf(ctx).exp === undefined) return restartEntry(ctx);\n',
        into: '',
      },
    ],
  },
  {
    id: 'web-held-guessed-device-codes',
    finding: 'web held',
    title: 'codes of terminals are guessed as often as somebody likes (RFC 8628 section 5.1)',
    place: limited,
    on,
    async attack({ origin }) {
      const browser = createBrowser();
      const statuses = [];
      for (let n = 0; n < 9; n++) {
        const page = await browser.open(`${origin}/oauth/device?user_code=BCDF-GHJK`);
        statuses.push((await browser.press(page, 'continue', { user_code: 'ZZZZ-ZZZZ' })).status);
      }
      return verdict(!statuses.includes(429), statuses);
    },
    protection: [{ file: 'src/oauth/device/endpoint.ts', text: '      await guesses.consume(address);\n', into: '' }],
  },
  {
    id: 'web-held-device-code-of-another-client',
    finding: 'web held',
    title: 'the name of a device code in the storage is used as the code (CWE-312)',
    place: web,
    on,
    async attack({ origin, store }) {
      const { device_code } = await askDevice(origin);
      const { createHash } = await import('node:crypto');
      const id = createHash('sha256').update(device_code).digest('base64url');
      const known = (await store.oauth.find('DeviceCode', id)) !== undefined;
      const { status, body } = await poll(origin, `~${id}`);
      return verdict(known && body.error === 'authorization_pending', { known, status, body });
    },
    protection: [
      {
        file: 'src/oauth/device/endpoint.ts',
        text: 'if (code.startsWith(HASH_PREFIX))\n',
        into: 'if (code.startsWith("~~"))\n',
      },
    ],
  },
  {
    id: 'web-held-guessed-password',
    finding: 'web held',
    title: 'a password is guessed from many addresses (NIST SP 800-63B section 5.2.2)',
    place: limited,
    on,
    async attack(target) {
      const { email, password } = await target.person();
      for (let n = 1; n <= 8; n++) await signInFrom(target, { email, password: `guess ${n}` }, `203.0.113.${n}`);
      const last = await signInFrom(target, { email, password }, '203.0.113.99');
      return verdict(await isSignedIn(target, last), `${last.page.status}`);
    },
    protection: [{ file: 'src/oauth/login/sign-in.ts', text: '    await attempts.consume(account);\n', into: '' }],
  },
  {
    id: 'web-held-guessed-at-two-servers',
    finding: 'web held',
    title: 'a password is guessed at two servers of one storage as often as at each (NIST SP 800-63B section 5.2.2)',
    place: limited,
    on,
    isSlow: true,
    async attack(target) {
      const { email, password } = await target.person();
      const twin = await target.twin();
      // Three at each server: fewer than the limit of either.
      for (let n = 1; n <= 3; n++)
        for (const one of [target, twin]) await signInFrom(one, { email, password: `guess ${n}` }, `203.0.113.${n}`);
      const last = await signInFrom(twin, { email, password }, '203.0.113.98');
      return verdict(await isSignedIn(twin, last), `${last.page.status}`);
    },
    protection: [
      {
        file: 'src/core/limit.ts',
        text: 'const keyOf = (key: string) => `${name} ${key}`;',
        into: 'const keyOf = (key: string) => `${name} ${process.pid} ${key}`;',
      },
    ],
  },
  {
    id: 'web-8-one-password-from-one-network',
    finding: 'web 8',
    title: 'one password is tried at many accounts from one IPv6 network (CWE-307)',
    place: limited,
    on,
    async attack(target) {
      for (let n = 1; n <= 8; n++) {
        const account = { email: `nobody-${n}@example.test`, password: 'correct horse battery' };
        await signInFrom(target, account, `2001:db8:9:9:${n}::1`);
      }
      const { email, password } = await target.person();
      const last = await signInFrom(target, { email, password }, '2001:db8:9:9:99::1');
      return verdict(await isSignedIn(target, last), `${last.page.status}`);
    },
    protection: [{ file: 'src/core/limit/addresses.ts', text: 'networkOf(64)', into: 'networkOf(128)' }],
  },
  {
    id: 'web-held-link-leads-away',
    finding: 'web held',
    title: 'a link to the sign-in leads to another site afterwards (CWE-601)',
    place: web,
    on,
    async attack(target) {
      const { email, password } = await target.person();
      const left = [];
      for (const to of ['//evil.example/', 'https://evil.example/', '/\\evil.example', '/x:y//evil.example']) {
        const browser = createBrowser();
        const page = await browser.open(`${target.consoleUrl}/sign-in?${new URLSearchParams({ to })}`);
        const after = await browser.press(page, 'sign-in', { email, password });
        left.push(after.leftTo?.host ?? new URL(after.url).host);
      }
      return verdict(left.includes('evil.example'), left);
    },
    protection: [
      {
        file: 'src/console/routes.ts',
        text: "!returnPages.some((pattern) => pattern.test(page))) return '';",
        into: "!returnPages.some((pattern) => pattern.test(page))) return input ?? '';",
      },
      {
        file: 'src/console/router.ts',
        text: 'Location: paths.path(result.to)',
        into: 'Location: result.to || paths.path(result.to)',
      },
    ],
  },
  {
    id: 'web-held-forged-console-form',
    finding: 'web held',
    title: 'a page of another site signs somebody out of the console (CWE-352)',
    place: web,
    on,
    async attack(target) {
      const { email, password } = await target.person();
      const browser = createBrowser();
      await browser.press(await browser.open(`${target.consoleUrl}/account`), 'sign-in', { email, password });
      const forged = { method: 'POST', body: new URLSearchParams(), headers: { 'sec-fetch-site': 'cross-site' } };
      const { status } = await browser.open(`${target.consoleUrl}/sign-out`, forged);
      const after = await browser.open(`${target.consoleUrl}/account`);
      return verdict(after.html.includes('name="password"') && after.html.includes('value="sign-in"'), `${status}`);
    },
    protection: [
      { file: 'src/console/router.ts', text: 'if (posted && !(isOwnPage', into: 'if (false && !(isOwnPage' },
    ],
  },
  {
    id: 'web-held-page-of-administrators',
    finding: 'web held',
    title: 'an editor opens the pages of administrators (CWE-862)',
    place: web,
    on,
    async attack(target) {
      const visit = await (await target.person()).visit('/account');
      const pages = ['/settings', '/admin-log', '/apps/everyone', '/people'];
      const statuses = await Promise.all(pages.map(async (page) => (await visit.open(page)).status));
      return verdict(statuses.includes(200), statuses);
    },
    protection: [
      {
        file: 'src/console/router.ts',
        text: "if (!route.open && route.admin && session?.access.caller.permissionLevel !== 'admin') {",
        into: 'if (false) {',
      },
    ],
  },
  {
    id: 'web-held-entry-of-another',
    finding: 'web held',
    title: 'an editor opens what another did in the activity log, by its number (CWE-639)',
    place: web,
    on,
    async attack(target) {
      const victim = await target.person();
      await victim.call('create', { collectionName: 'tags', attributes: { label: 'of the victim' } });
      const [entry] = await target.store.activity.search({ userId: victim.id, limit: 1 });
      const visit = await (await target.person()).visit('/activity');
      const page = await visit.open(`/activity/${entry?.id}`);
      return verdict(page.status === 200 && page.html.includes(victim.email), `${entry?.id} ${page.status}`);
    },
    protection: [
      {
        file: 'src/console/pages/logs/activity.ts',
        text: 'isAdmin(request) ? undefined : caller.id);',
        into: 'undefined);',
      },
    ],
  },
  {
    id: 'web-held-app-of-another',
    finding: 'web held',
    title: 'an editor disconnects an app of another person (CWE-639)',
    place: web,
    on,
    async attack(target) {
      const victim = await target.person();
      const { access } = await connectClient(target, victim);
      const [grant] = await target.store.connections.list({ userId: victim.id, limit: 1 });
      const attacker = await target.person();
      await connectClient(target, attacker);
      const visit = await attacker.visit('/apps');
      const csrf = /name="csrf" value="([^"]+)"/.exec(visit.page.html)?.[1] ?? '';
      const own = /action="([^"]*\/apps\/)[^"]+"/.exec(visit.page.html)?.[1] ?? '';
      const form = `<form method="post" action="${own}${grant?.id}"><input name="csrf" value="${csrf}"><button name="action" value="disconnect"></form>`;
      const browser = createBrowser();
      const { email, password } = attacker;
      const page = await browser.press(await browser.open(`${target.consoleUrl}/apps`), 'sign-in', { email, password });
      const token = /name="csrf" value="([^"]+)"/.exec(page.html)?.[1] ?? '';
      const after = await browser.press({ ...page, html: form.replace(csrf, token) }, 'disconnect');
      return verdict(!(await opens(target, access)), `${grant?.id} ${after.status} ${after.url}`);
    },
    protection: [
      {
        file: 'src/console/pages/connections/connections.ts',
        text: '!(connection.userId === caller.id || isAdmin(request))',
        into: 'false',
      },
    ],
  },
];
