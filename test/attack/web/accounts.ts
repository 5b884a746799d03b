// Credentials of an account: authenticator codes, one-time links, and accounts at remote servers.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TOTP } from 'otpauth';
import { systemClock } from '../../../src/core/clock.ts';
import { createBrowser } from '../../oauth/flow.ts';
import { type Attack, verdict } from '../attack.ts';
import type { Target } from '../target.ts';
import { on, web } from './web.ts';

/** A remote server with OAuth sign-in and its authorization server. It counts requests to its token endpoint. */
async function openSignIn() {
  let tokens = 0;
  const server = createServer((req, res) => {
    const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const json = (body: object, status = 200) =>
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (req.url === '/token') tokens++;
    if (req.url === '/token') return void json({ access_token: 'x', token_type: 'Bearer' });
    if (req.url === '/register') return void json({ client_id: 'portico', redirect_uris: [] }, 201);
    if (req.url?.startsWith('/.well-known/oauth-protected-resource'))
      return void json({ resource: `${at}/mcp`, authorization_servers: [at] });
    if (req.url?.startsWith('/.well-known/'))
      return void json({
        ...{ issuer: at, authorization_endpoint: `${at}/authorize`, token_endpoint: `${at}/token` },
        ...{ registration_endpoint: `${at}/register`, response_types_supported: ['code'] },
        code_challenge_methods_supported: ['S256'],
      });
    const known = `${at}/.well-known/oauth-protected-resource/mcp`;
    res.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${known}"` }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, tokens: () => tokens, close };
}

async function secondStep(target: Target, { email, password }: { email: string; password: string }, code: string) {
  const browser = createBrowser();
  const page = await browser.press(await browser.open(`${target.consoleUrl}/account`), 'sign-in', { email, password });
  const after = await browser.press(page, 'code', { code });
  return after.status === 200 && !after.html.includes('value="code"');
}

export const accountAttacks: readonly Attack[] = [
  {
    id: 'web-held-code-of-the-app-twice',
    finding: 'web held',
    title: 'a code of the authenticator app is used a second time (RFC 6238 section 5.2)',
    place: web,
    on,
    async attack(target) {
      const person = await target.person();
      const { secret } = await target.store.secondFactors.propose(person.email, 'Test');
      const codeAt = (timestamp: number) => new TOTP({ secret }).generate({ timestamp });
      await target.store.secondFactors.switchOn(person.id, secret, codeAt(systemClock.now() - 30_000));
      const code = codeAt(systemClock.now());
      const [owner, thief] = [await secondStep(target, person, code), await secondStep(target, person, code)];
      return verdict(thief, { owner, thief });
    },
    protection: [{ file: 'src/store/users/second-factors.ts', text: ".where('last_step', '<', step)", into: '' }],
  },
  {
    id: 'web-held-link-twice',
    finding: 'web held',
    title: 'a one-time link that two have open sets two passwords (CWE-640)',
    place: web,
    on,
    async attack(target) {
      const person = await target.person();
      const { token } = await target.store.links.make(person.id, 'reset');
      const open = async () => {
        const browser = createBrowser();
        return { browser, page: await browser.open(`${target.consoleUrl}/welcome/${token}`) };
      };
      // Both pages are open before either submits. Hashing a password takes a while.
      const both = [await open(), await open()];
      const chosen = both.map(({ browser, page }, at) => {
        const password = `a long password, number ${at}`;
        return browser.press(page, 'choose', { new: password, again: password });
      });
      const ended = (await Promise.all(chosen)).map(({ url, status }) => `${status} ${new URL(url).pathname}`);
      return verdict(ended.filter((one) => one === '200 /console/password-set').length > 1, ended);
    },
    protection: [
      {
        file: 'src/store/users/one-time-links.ts',
        text: ".where({ token_hash: hashToken(token) })\n          .whereNull('used_at')",
        into: '.where({ token_hash: hashToken(token) })',
      },
    ],
  },
  {
    id: 'web-held-answer-of-another-server',
    finding: 'web held',
    title: 'the answer of one remote server is taken at the address of another (RFC 9700 section 4.4.2)',
    place: web,
    on,
    // The attack connects the first server on the page.
    alone: true,
    async attack(target) {
      const [honest, evil] = [await openSignIn(), await openSignIn()];
      try {
        const person = await target.person({ level: 'admin' });
        const add = (name: string, url: string) =>
          target.store.remotes.add({ name, url, signIn: 'oauth', addedBy: person.id });
        await add(`honest ${person.id}`, honest.url);
        const visit = await person.visit('/remotes');
        const { html } = await visit.press('connect');
        const [, link = ''] = /href="(http[^"]+\/authorize\?[^"]+)"/.exec(html) ?? [];
        const state = `${new URL(link.replaceAll('&amp;', '&')).searchParams.get('state')}`;
        const { id } = await add(`evil ${person.id}`, evil.url);
        const query = new URLSearchParams({ state, code: 'stolen' });
        await visit.open(`/remotes/${id}/callback?${query}`);
        return verdict(honest.tokens() + evil.tokens() > 0, { tokens: honest.tokens(), ofEvil: evil.tokens() });
      } finally {
        honest.close();
        evil.close();
      }
    },
    protection: [
      {
        file: 'src/workflows/remote-mcp/accounts.ts',
        text: 'if (!server || server.id !== serverId) return undefined;',
        into: 'if (!server) return undefined;',
      },
    ],
  },
];
