// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of the source
// Sign-in through an external OpenID provider: answers for another browser, sign-in, client or issuer, and users
// without access.
import { authorizationUrl, register } from '../../oauth/client.ts';
import { type Browser, createBrowser, type Page } from '../../oauth/flow.ts';
import { atUpstream, goThrough, openUpstream, type Upstream } from '../../oauth/upstream.ts';
import { type Attack, type Place, verdict } from '../attack.ts';
import type { Target } from '../target.ts';
import { on, redirectUri, web } from './web.ts';

const providers = new WeakMap<Target, Upstream>();

const provided: Place = {
  ...web,
  name: 'web with an OpenID provider',
  env: { ...web.env, SERVICE_SSO_DOMAINS: 'example.com' },
  async around() {
    const upstream = await openUpstream();
    return {
      env: upstream.env,
      started(target) {
        upstream.start([`${target.origin}/oauth/sso/callback`, `${target.consoleUrl}/sso/callback`]);
        providers.set(target, upstream);
      },
      close: () => upstream.stop(),
    };
  },
};

interface Begun {
  readonly browser: Browser;
  /** The page with the button for the provider. */
  readonly page: Page;
}

async function begin({ origin }: Target, browser = createBrowser()): Promise<Begun> {
  const registered = await register(origin, { client_name: 'Notebook', redirect_uris: [redirectUri] });
  const { url } = await authorizationUrl(registered, { redirectUri });
  return { browser, page: await browser.open(url) };
}

const isConsent = (page: Page): boolean => page.html.includes('value="allow"');

const shown = ({ html, status }: Page): string =>
  `${status} ${html
    .replace(/<(style|head|svg|script).*?<\/\1>/gs, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 200)}`;

type Claims = Record<string, unknown>;

/** Signs in with a changed ID token, signed with the key of the provider. */
async function enterWith(target: Target, spoil: (claims: Claims) => Claims, forge = false): Promise<Page> {
  const upstream = providers.get(target)!;
  const { browser, page } = await begin(target);
  Object.assign(upstream, { spoil, forges: forge });
  try {
    return await browser.open(await goThrough(browser, page, 'nina'));
  } finally {
    Object.assign(upstream, { spoil: undefined, forges: false });
  }
}

/** Signs in a user of the provider with these claims. */
async function enterAs(target: Target, claims: Claims): Promise<Page> {
  const who = `otto-${++last}`;
  providers.get(target)!.people.set(who, claims);
  const { browser, page } = await begin(target);
  return browser.open(await goThrough(browser, page, who));
}
let last = 0;

const sso = 'src/oauth/sso/sign-in.ts';
const upstream = 'src/oauth/sso/provider.ts';

/** Exchanges the code by hand and trusts the claims without validation. */
const believes = {
  file: upstream,
  text: '        const tokens = await client.authorizationCodeGrant(provider, callbackUrl, {\n',
  into: `        const answered = await fetch(\`\${provider.serverMetadata().token_endpoint}\`, {
          method: 'POST',
          headers: { authorization: \`Basic \${btoa(\`\${clientId}:\${encodeURIComponent(settings.clientSecret ?? '')}\`)}\` },
          body: new URLSearchParams({
            grant_type: 'authorization_code',
            code: \`\${callbackUrl.searchParams.get('code')}\`,
            redirect_uri: callbackUrl.origin + callbackUrl.pathname,
            code_verifier: verifier,
          }),
        });
        const given = await answered.json();
        const tokens = { access_token: given.access_token, claims: () => JSON.parse(atob(given.id_token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/'))) };
        void ({
`,
} as const;

const attacks: readonly Omit<Attack, 'place' | 'on'>[] = [
  {
    id: 'web-held-answer-in-another-browser',
    finding: 'web held',
    title: 'who follows the address of another at the provider signs that other one in (CVE-2026-27124)',
    async attack(target) {
      const attacker = await begin(target);
      const leaving = await attacker.browser.press(attacker.page, 'sso');
      // The victim is signed in at the provider, which does not ask again.
      const victim = createBrowser();
      const refused = await victim.open(await atUpstream(victim, leaving.leftTo!, 'nina'));
      const { href } = new URL(attacker.page.url);
      const resumed = await attacker.browser.open(href.replace('/interaction/', '/authorize/'));
      return verdict(isConsent(refused) || isConsent(resumed), { refused: shown(refused), resumed: shown(resumed) });
    },
    protection: [
      {
        file: 'src/oauth/sso/redirects.ts',
        text: "  for (const pair of (req.headers.cookie ?? '').split(';')) {\n",
        into: "  if (name !== '') return 'x'.repeat(43);\n  for (const pair of (req.headers.cookie ?? '').split(';')) {\n",
      },
    ],
  },
  {
    id: 'web-held-answer-twice',
    finding: 'web held',
    title: 'an answer of the provider is taken a second time (RFC 9700 section 4.7.1)',
    async attack(target) {
      const { browser, page } = await begin(target);
      const callback = await goThrough(browser, page, 'nina');
      const first = await browser.open(callback);
      const asked = () => providers.get(target)!.asked.filter((path) => path === '/token').length;
      const before = asked();
      await browser.open(callback);
      if (!isConsent(first)) throw new Error(`nobody was signed in: ${shown(first)}`);
      return verdict(asked() > before, { before, after: asked() });
    },
    protection: [
      {
        file: sso,
        text: 'if (!(await store.oauth.consume(MODEL, id, Math.floor(clock.now() / 1000)))) {',
        into: 'if (!(await store.oauth.consume(MODEL, id, Math.floor(clock.now() / 1000))) && !attempt) {',
      },
    ],
  },
  {
    id: 'web-held-forged-state',
    finding: 'web held',
    title: 'a sign-in comes back that this browser did not begin (login CSRF, RFC 9700 section 4.7)',
    async attack(target) {
      const [victim, attacker] = [await begin(target), await begin(target)];
      await victim.browser.press(victim.page, 'sso');
      const callback = await goThrough(attacker.browser, attacker.page, 'nina');
      const page = await victim.browser.open(callback);
      const resumed = await attacker.browser.open(attacker.page.url.replace('/interaction/', '/authorize/'));
      return verdict(isConsent(page) || isConsent(resumed), { page: shown(page), resumed: shown(resumed) });
    },
    protection: [
      {
        file: 'src/oauth/sso/redirects.ts',
        text: "  for (const pair of (req.headers.cookie ?? '').split(';')) {\n",
        into: "  if (name !== '') return 'x'.repeat(43);\n  for (const pair of (req.headers.cookie ?? '').split(';')) {\n",
      },
    ],
  },
  {
    id: 'web-held-code-of-another-sign-in',
    finding: 'web held',
    title: 'the code of another sign-in is brought with the state of this one (RFC 9700 section 4.5)',
    async attack(target) {
      const [mine, theirs] = [await begin(target), await begin(target)];
      const callback = await goThrough(mine.browser, mine.page, 'nina');
      const { searchParams } = await goThrough(theirs.browser, theirs.page, 'nina');
      callback.searchParams.set('code', `${searchParams.get('code')}`);
      const page = await mine.browser.open(callback);
      return verdict(isConsent(page), shown(page));
    },
    protection: [
      {
        file: sso,
        text: 'return { state, nonce: sign(`nonce ${state}`, binding), verifier: sign(`verifier ${state}`, binding) };',
        into: "return { state, nonce: 'n'.repeat(43), verifier: (binding && 'v').repeat(43) };",
      },
    ],
  },
  {
    id: 'web-held-id-token-without-nonce',
    finding: 'web held',
    title: 'an ID token that was made for no sign-in of ours is taken (OpenID Connect Core section 3.1.3.7)',
    async attack(target) {
      const page = await enterWith(target, ({ nonce: _, ...claims }) => claims);
      return verdict(isConsent(page), shown(page));
    },
    protection: [{ file: upstream, text: '          expectedNonce: nonce,\n', into: '' }],
  },
  {
    id: 'web-held-id-token-of-another-client',
    finding: 'web held',
    title: 'an ID token for another client is taken (wrong audience)',
    async attack(target) {
      const page = await enterWith(target, (claims) => ({ ...claims, aud: 'another' }));
      return verdict(isConsent(page), shown(page));
    },
    protection: [believes],
  },
  {
    id: 'web-held-id-token-authorized-to-another',
    finding: 'web held',
    title: 'an ID token whose authorized party is another client is taken',
    async attack(target) {
      const page = await enterWith(target, (claims) => ({ ...claims, azp: 'another' }));
      return verdict(isConsent(page), shown(page));
    },
    protection: [
      {
        file: upstream,
        text: 'if (claims.azp !== undefined && claims.azp !== clientId) refuse(',
        into: 'if (claims.azp === null) refuse(',
      },
    ],
  },
  {
    id: 'web-held-id-token-of-another-issuer',
    finding: 'web held',
    title: 'an ID token of another issuer is taken',
    async attack(target) {
      const page = await enterWith(target, (claims) => ({ ...claims, iss: 'https://evil.example' }));
      return verdict(isConsent(page), shown(page));
    },
    // The package checks the issuer. Portico also checks it, for multi-tenant providers.
    protection: [
      believes,
      { file: upstream, text: 'if (new URL(claims.iss).href !== issuer.href) refuse(', into: 'if (false) refuse(' },
    ],
  },
  {
    id: 'web-held-id-token-of-before',
    finding: 'web held',
    title: 'an ID token that has expired is taken',
    async attack(target) {
      const page = await enterWith(target, (claims) => ({ ...claims, exp: Number(claims.iat) - 600 }));
      return verdict(isConsent(page), shown(page));
    },
    protection: [believes],
  },
  {
    id: 'web-held-id-token-with-another-signature',
    finding: 'web held',
    title: 'an ID token that somebody else signed is taken',
    async attack(target) {
      const page = await enterWith(target, (claims) => claims, true);
      return verdict(isConsent(page), shown(page));
    },
    protection: [{ file: upstream, text: '        client.enableNonRepudiationChecks,\n', into: '' }],
  },
  {
    id: 'web-held-answer-of-another-issuer',
    finding: 'web held',
    title: 'an answer that says that it is of another issuer is taken (mix-up, RFC 9207)',
    async attack(target) {
      const seen = [];
      for (const iss of ['https://evil.example', undefined]) {
        const { browser, page } = await begin(target);
        const callback = await goThrough(browser, page, 'nina');
        if (iss === undefined) callback.searchParams.delete('iss');
        else callback.searchParams.set('iss', iss);
        seen.push(await browser.open(callback));
      }
      return verdict(seen.some(isConsent), seen.map(shown));
    },
    protection: [believes],
  },
  {
    id: 'web-held-address-that-nobody-verified',
    finding: 'web held',
    title: 'somebody comes in by an e-mail address that the provider did not verify',
    async attack(target) {
      const page = await enterAs(target, { email: `otto-${last}@example.com`, email_verified: false });
      return verdict(isConsent(page), shown(page));
    },
    protection: [{ file: sso, text: 'if (rules.verifiedEmail && !emailVerified) {', into: 'if (false) {' }],
  },
  {
    id: 'web-held-address-of-another-domain',
    finding: 'web held',
    title: 'somebody comes in by an address of another domain',
    async attack(target) {
      const email = `otto-${last}@sub.example.com.evil.example`;
      const page = await enterAs(target, { email, email_verified: true });
      return verdict(isConsent(page), shown(page));
    },
    protection: [{ file: sso, text: 'if (rules.domains && !rules.domains.includes(domain)) {', into: 'if (false) {' }],
  },
  {
    id: 'web-held-address-of-a-user-here',
    finding: 'web held',
    title: 'somebody of the provider becomes the user here who has the same address',
    async attack(target) {
      const email = `victim-${++last}@example.com`;
      await target.store.identity.addUser({ email, password: 'correct horse battery', level: 'admin' });
      const page = await enterAs(target, { email, email_verified: true });
      return verdict(isConsent(page), shown(page));
    },
    protection: [
      {
        file: 'src/store/users/identities.ts',
        text: 'if (!link) return refused(`user ${sameAddress.id} has this address, and linking users by address is off`);',
        into: '',
      },
    ],
  },
];

export const providerAttacks: readonly Attack[] = attacks.map((attack) => ({ ...attack, place: provided, on }));
