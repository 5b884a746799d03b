// Several OpenID providers: one of them is under the control of the attacker.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { authorizationUrl, register } from '../../oauth/client.ts';
import { createBrowser, type Page } from '../../oauth/flow.ts';
import { clientId, goThrough, openUpstream, type Upstream } from '../../oauth/upstream.ts';
import { type Attack, type Place, verdict } from '../attack.ts';
import type { Target } from '../target.ts';
import { on, redirectUri, web } from './web.ts';

interface Both {
  readonly honest: Upstream;
  readonly evil: Upstream;
}
const both = new WeakMap<Target, Both>();

const place: Place = {
  ...web,
  name: 'web with two OpenID providers',
  async around() {
    const [honest, evil] = [await openUpstream(), await openUpstream()];
    const folder = mkdtempSync(join(tmpdir(), 'portico-providers-'));
    const clientSecretFile = join(folder, 'secret');
    writeFileSync(clientSecretFile, `${honest.env.SERVICE_SSO_CLIENT_SECRET}`);
    const entry = { id: 'evil', name: 'Evil', issuer: evil.issuer, clientId, clientSecretFile, linkUsers: true };
    return {
      env: { ...honest.env, SERVICE_SSO_PROVIDERS: JSON.stringify([entry]) },
      started(target) {
        honest.start([`${target.origin}/oauth/sso/callback`]);
        evil.start([`${target.origin}/oauth/sso/callback/evil`]);
        both.set(target, { honest, evil });
      },
      async close() {
        rmSync(folder, { recursive: true, force: true });
        await Promise.all([honest.stop(), evil.stop()]);
      },
    };
  },
};

let last = 0;

/** The address at which the provider sends the browser back, and the browser. */
async function through({ origin }: Target, who: string, button: 'sso' | 'sso:evil') {
  const registered = await register(origin, { client_name: 'Notebook', redirect_uris: [redirectUri] });
  const browser = createBrowser();
  const page = await browser.open((await authorizationUrl(registered, { redirectUri })).url);
  return { browser, callback: await goThrough(browser, page, who, button) };
}
async function enter(target: Target, who: string, button: 'sso' | 'sso:evil'): Promise<Page> {
  const { browser, callback } = await through(target, who, button);
  return browser.open(callback);
}
const isConsent = ({ html }: Page): boolean => html.includes('value="allow"');

const attacks: readonly Omit<Attack, 'place' | 'on'>[] = [
  {
    id: 'web-held-code-to-another-provider',
    finding: 'web held',
    title: 'the code of one provider is sent to another one (mix-up, RFC 9700 section 4.4)',
    async attack(target) {
      const { honest, evil } = both.get(target)!;
      const { browser, callback } = await through(target, 'nina', 'sso');
      // The discovery of the other provider must have happened.
      evil.people.set('mallory', { email: `mallory-${++last}@evil.example`, email_verified: true });
      await through(target, 'mallory', 'sso:evil');
      const mixedUp = new URL(`${target.origin}/oauth/sso/callback/evil${callback.search}`);
      mixedUp.searchParams.set('iss', evil.issuer);
      const asked = () => evil.asked.filter((path) => path === '/token').length;
      const before = asked();
      const { status } = await browser.open(mixedUp);
      return verdict(asked() > before, { status, asked: asked() - before, honest: honest.issuer });
    },
    protection: [
      {
        file: 'src/oauth/sso/sign-in.ts',
        text: "if ((attempt.payload.provider ?? '') !== provider) {",
        into: "if (provider === 'none') {",
      },
    ],
  },
  {
    id: 'web-held-user-of-another-provider',
    finding: 'web held',
    title: 'a provider that links users by address signs in as a user of another provider',
    async attack(target) {
      const { honest, evil } = both.get(target)!;
      const email = `victim-${++last}@example.com`;
      honest.people.set(`victim-${last}`, { email, email_verified: true });
      evil.people.set(`mallory-${last}`, { email, email_verified: true });
      const [own, other] = [`victim-${last}`, `mallory-${last}`];
      if (!isConsent(await enter(target, own, 'sso'))) throw new Error('the victim is not signed in');
      const page = await enter(target, other, 'sso:evil');
      return verdict(isConsent(page), { status: page.status });
    },
    protection: [
      {
        file: 'src/store/users/identities.ts',
        text: 'if (inUse) return refused(',
        into: 'if (!others) return refused(',
      },
    ],
  },
  {
    id: 'web-held-subject-of-another-provider',
    finding: 'web held',
    title: 'a provider claims the subject of a user of another one (OpenID Connect Core section 5.7)',
    async attack(target) {
      const { honest, evil } = both.get(target)!;
      const subject = `subject-${++last}`;
      honest.people.set(subject, { email: `${subject}@example.com`, email_verified: true });
      evil.people.set(subject, { email: `${subject}@evil.example`, email_verified: true });
      if (!isConsent(await enter(target, subject, 'sso'))) throw new Error('the victim is not signed in');
      const victim = await target.store.identity.findUserByEmail(`${subject}@example.com`);
      const page = await enter(target, subject, 'sso:evil');
      const after = await target.store.identity.findUserByEmail(`${subject}@evil.example`);
      return verdict(after?.id === victim?.id, { status: page.status, victim: victim?.id, after: after?.id });
    },
    protection: [
      {
        file: 'src/store/users/identities.ts',
        text: 'hashToken(JSON.stringify([issuer, subject]));',
        into: 'hashToken(JSON.stringify([issuer && null, subject]));',
      },
    ],
  },
  {
    id: 'web-held-link-by-unverified-address',
    finding: 'web held',
    title: 'a provider that links users by address becomes a user here by an address that nobody verified',
    async attack(target) {
      const { evil } = both.get(target)!;
      const email = `chief-${++last}@example.com`;
      await target.store.identity.addUser({ email, password: 'correct horse battery', level: 'admin' });
      evil.people.set(`mallory-${last}`, { email, email_verified: false });
      const page = await enter(target, `mallory-${last}`, 'sso:evil');
      return verdict(isConsent(page), { status: page.status });
    },
    protection: [
      { file: 'src/oauth/sso/sign-in.ts', text: 'if (rules.verifiedEmail && !emailVerified) {', into: 'if (false) {' },
      {
        file: 'src/store/users/identities.ts',
        text: 'if (!given.emailVerified) return refused(',
        into: 'if (!given) return refused(',
      },
    ],
  },
];

export const providersAttacks: readonly Attack[] = attacks.map((attack) => ({ ...attack, place, on }));
