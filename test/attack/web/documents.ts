// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of the source
// Documents that strangers publish and the server fetches: client metadata documents, key sets, and the URLs in them.
import { gzipSync } from 'node:zlib';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { authorizationUrl, byDocument } from '../../oauth/client.ts';
import { createBrowser } from '../../oauth/flow.ts';
import { type Attack, verdict } from '../attack.ts';
import type { Target } from '../target.ts';
import { late, networked, outsideOf, publicName } from './outside.ts';
import { headline, on, post, redirectUri, registerRaw, tell } from './web.ts';

const onTheWeb = 'https://notebook.example/callback';
const at = (name: string): string => `https://${name}/client.json`;

/** A metadata document that claims to be the client of this name. */
const documentAt = (name: string, more: object = {}): object => ({
  ...{ client_id: at(name), client_name: 'Notebook', redirect_uris: [onTheWeb], token_endpoint_auth_method: 'none' },
  ...more,
});

function publish(target: Target, more: object = {}): string {
  const name = publicName();
  outsideOf(target).serve(name, documentAt(name, more));
  return name;
}

let last = 0;
/** An address may cause thirty fetches a minute. */
const fromAnywhere = () => ({ 'x-forwarded-for': `203.0.113.${++last % 250}` });

/**
 * A request that makes the server fetch a document. If the document is accepted, the answer redirects to the sign-in.
 */
function authorize({ origin, mcpUrl }: Target, clientId: string, headers = fromAnywhere()) {
  const query = new URLSearchParams({
    ...{ client_id: clientId, response_type: 'code', redirect_uri: onTheWeb, resource: mcpUrl },
    ...{ scope: 'mcp:read', code_challenge: 'x'.repeat(43), code_challenge_method: 'S256', state: 'the-state' },
  });
  return tell(`${origin}/oauth/authorize?${query}`, { headers });
}
const isTaken = ({ status }: { readonly status: number }): boolean => status === 303 || status === 302;

const keyPair = generateKeyPair('ES256');
async function publicKeys(): Promise<object> {
  const jwk = await exportJWK((await keyPair).publicKey);
  return { keys: [{ ...jwk, kid: 'one', use: 'sig', alg: 'ES256' }] };
}

/** A token request with an assertion. `invalid_grant` means that the key set was read and the assertion is valid. */
async function present(target: Target, name: string, jti: string): Promise<string> {
  const assertion = await new SignJWT({ jti })
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .setIssuer(at(name))
    .setSubject(at(name))
    .setAudience(target.origin)
    .setIssuedAt()
    .setExpirationTime('1m')
    .sign((await keyPair).privateKey);
  const form = {
    ...{ grant_type: 'refresh_token', refresh_token: 'nobody-has-this-one', client_id: at(name) },
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
  };
  const { json, text } = await post(target, 'token', form, fromAnywhere());
  return json?.error ?? text;
}

const withKeys = (keys: string) => ({
  token_endpoint_auth_method: 'private_key_jwt',
  jwks_uri: `https://${keys}/jwks.json`,
});

/**
 * An object followed by blanks, which compress to almost no bytes. There are few enough to be read in time, so only the
 * size counts.
 */
const bomb = (object: object) => gzipSync(JSON.stringify(object) + ' '.repeat(30_000));

const documents = 'src/oauth/clients/documents.ts';
const namesAreJudged = { file: documents, text: 'if (privateAddress || !first)', into: 'if (!first)' } as const;
const limits = 'src/oauth/clients/outgoing-requests.ts';

const attacks: readonly Omit<Attack, 'place' | 'on'>[] = [
  {
    id: 'web-held-document-of-a-private-address',
    finding: 'web held',
    title: 'a metadata document lies at a public name of a private address (CWE-918)',
    async attack(target) {
      const labels = ['127-0-0-1', '10-0-0-5', '192-168-1-1', '169-254-169-254', '100-64-0-1', '0-0-0-0', 'xx1'];
      const others = ['xxffffxa00x5', 'fd00xx5', '64xff9bxxa00x5', '10-0-0-5-and-93-184-215-14'];
      const before = outsideOf(target).inside();
      for (const label of [...labels, ...others]) await authorize(target, at(`${label}.names.example`));
      const inside = outsideOf(target).inside() - before;
      // Check that documents are fetched.
      const honest = isTaken(await authorize(target, at(publish(target))));
      if (!honest) throw new Error('no document is fetched');
      return verdict(inside > 0, { inside });
    },
    protection: [namesAreJudged],
  },
  {
    id: 'web-held-rebinding',
    finding: 'web held',
    title: 'a name leads to a public address when it is judged and to a private one when it is connected to (CWE-350)',
    async attack(target) {
      const before = outsideOf(target).inside();
      const { status } = await authorize(target, at('93-184-215-14-then-10-0-0-5.names.example'));
      await authorize(target, at('93-184-215-14-then-127-0-0-1.names.example'));
      return verdict(outsideOf(target).inside() > before, { inside: outsideOf(target).inside() - before, status });
    },
    protection: [
      {
        file: documents,
        text: '    if (options.all) return callback(null, addresses);\n',
        into: '    if (options.all) return lookup(host, { ...options, all: true }, callback);\n',
      },
    ],
  },
  {
    id: 'web-held-address-in-place-of-a-name',
    finding: 'web held',
    title: 'a metadata document has no name, but an address',
    async attack(target) {
      const before = outsideOf(target).connections();
      const { status } = await authorize(target, 'https://93.184.215.14/client.json');
      return verdict(outsideOf(target).connections() > before, { status });
    },
    protection: [
      {
        file: documents,
        text: "  if (ipOf(host) !== undefined) return 'the host must be a name, not an address';\n",
        into: '',
      },
    ],
  },
  {
    id: 'web-6-denied-document-with-a-dot',
    finding: 'web 6',
    title: 'the document of a denied domain is fetched when a final dot is written (CWE-184)',
    async attack(target) {
      const before = outsideOf(target).connections();
      const { status } = await authorize(target, 'https://evil.example./client.json');
      return verdict(outsideOf(target).connections() > before, { status });
    },
    protection: [{ file: 'src/core/config/hosts.ts', text: ".replace(/\\.$/, '')", into: '' }],
  },
  {
    id: 'web-3-verified-name',
    finding: 'web 3',
    title: 'a name stands as verified beside the document of a host that nobody asked about (CWE-451)',
    async attack(target) {
      const name = publish(target, { client_name: 'Claude by Anthropic (claude.ai)' });
      const registered = await byDocument(target.origin, at(name));
      const { url } = await authorizationUrl(registered, { redirectUri: onTheWeb, resource: target.mcpUrl });
      const browser = createBrowser();
      const { email, password } = await target.person();
      const page = await browser.press(await browser.open(url), 'sign-in', { email, password });
      return verdict(headline(page).includes('Claude'), headline(page));
    },
    protection: [
      {
        file: 'src/oauth/clients/display-name.ts',
        text: '  return verifiedHost ?? destination?.name ?? name;',
        into: '  return name;',
      },
    ],
  },
  {
    id: 'issue-18-remembered-across-sites',
    finding: 'issue 18',
    title:
      'a page of another site leads the browser to a code of an allowed client, without a page (GHSA-6x8h-498w-gv8c)',
    async attack(target) {
      const registered = await byDocument(target.origin, at(publish(target)));
      const ask = async () =>
        (await authorizationUrl(registered, { redirectUri: onTheWeb, resource: target.mcpUrl })).url;
      const browser = createBrowser();
      const { email, password } = await target.person();
      const page = await browser.press(await browser.open(await ask()), 'sign-in', { email, password });
      await browser.press(page, 'allow');
      const from = async (site: string) => {
        const { leftTo } = await browser.open(await ask(), { headers: { 'sec-fetch-site': site } });
        return leftTo?.searchParams.has('code') ? 'code' : 'page';
      };
      const sites = { none: await from('none'), same: await from('same-site'), cross: await from('cross-site') };
      if (sites.none !== 'code') throw new Error('the consent is not remembered');
      return verdict(sites.same === 'code' || sites.cross === 'code', sites);
    },
    protection: [
      {
        file: 'src/oauth/consent/first-site.ts',
        text: "return ['none', 'same-origin'].includes(readFirstSite(ctx));",
        into: "return readFirstSite(ctx) !== 'nowhere';",
      },
    ],
  },
  {
    id: 'web-2-sector-identifier',
    finding: 'web 2',
    title: 'a registration or a document makes the server fetch an address that nobody needs (CWE-918)',
    async attack(target) {
      const third = publicName();
      const sector_identifier_uri = `https://${third}/sector.json`;
      outsideOf(target).serve(third, [redirectUri]);
      const { status } = await registerRaw(target, { redirect_uris: [redirectUri], sector_identifier_uri });
      await authorize(target, at(publish(target, { sector_identifier_uri })));
      const fetched = outsideOf(target).asked.filter((name) => name === third).length;
      return verdict(fetched > 0, { fetched, status });
    },
    protection: [
      {
        file: 'src/oauth/clients/normalize.ts',
        text: '    for (const name of openidMembers) delete members[name];\n',
        into: '',
      },
    ],
  },
  {
    id: 'web-2-key-set-for-each-request',
    finding: 'web 2',
    title: 'every token request makes the server fetch a key set (CWE-770)',
    async attack(target) {
      const keys = publicName();
      outsideOf(target).serve(keys, await publicKeys());
      const name = publish(target, withKeys(keys));
      const said = [];
      for (let n = 0; n < 10; n++) said.push(await present(target, name, `${keys} ${n}`));
      if (said[0] !== 'invalid_grant') throw new Error(`no key set is fetched: ${said[0]}`);
      const fetched = outsideOf(target).asked.filter((one) => one === keys).length;
      return verdict(fetched > 2, { fetched, requests: said.length });
    },
    protection: [{ file: limits, text: '    keySets.set(`${url}`, cached);\n', into: '' }],
  },
  {
    id: 'web-2-fetches-of-one-address',
    finding: 'web 2',
    title: 'one address makes the server fetch as many documents as it likes (CWE-770)',
    async attack(target) {
      const before = outsideOf(target).asked.length;
      const headers = { 'x-forwarded-for': '198.51.100.77' };
      for (let n = 0; n < 45; n++) await authorize(target, at(publish(target)), headers);
      const fetched = outsideOf(target).asked.length - before;
      return verdict(fetched > 30, { fetched });
    },
    protection: [
      { file: limits, text: 'const MAX_FETCHES_PER_MINUTE = 30;', into: 'const MAX_FETCHES_PER_MINUTE = 1e9;' },
    ],
  },
  {
    id: 'web-2-key-set-that-unpacks',
    finding: 'web 2',
    title: 'a key set unpacks to 30 kB, and is read (CWE-409)',
    async attack(target) {
      const keys = publicName();
      const body = bomb(await publicKeys());
      outsideOf(target).serve(keys, (_req, res) =>
        res.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(body),
      );
      const said = await present(target, publish(target, withKeys(keys)), keys);
      return verdict(said === 'invalid_grant', said);
    },
    protection: [{ file: limits, text: '    if (length > maxBytes) throw', into: '    if (length < 0) throw' }],
  },
  {
    id: 'web-held-document-that-unpacks',
    finding: 'web held',
    title: 'a metadata document unpacks to 30 kB, and is read (CWE-409)',
    async attack(target) {
      const name = publicName();
      const body = bomb(documentAt(name));
      outsideOf(target).serve(name, (_req, res) =>
        res.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(body),
      );
      const answer = await authorize(target, at(name));
      return verdict(isTaken(answer), `${answer.status}`);
    },
    protection: [
      {
        file: 'src/oauth/server/provider.ts',
        text: "{ 'client_id metadata document': MAX_DOCUMENT_BYTES }",
        into: "{ 'client_id metadata document': MAX_DOCUMENT_BYTES * 1e6 }",
      },
    ],
  },
  {
    id: 'web-held-document-without-end',
    finding: 'web held',
    title: 'a metadata document that comes a byte at a time, and one that never comes, hold a request (CWE-400)',
    isSlow: true,
    async attack(target) {
      const [slow, silent] = [publicName(), publicName()];
      const timers: NodeJS.Timeout[] = [];
      outsideOf(target).serve(slow, (_req, res) => {
        res.writeHead(200, { 'content-type': 'application/json' });
        timers.push(setInterval(() => res.write(' '), 200));
      });
      outsideOf(target).serve(silent, () => undefined);
      const told = await Promise.all([slow, silent].map((name) => late(authorize(target, at(name)))));
      for (const timer of timers) clearInterval(timer);
      return verdict(
        told.includes('late'),
        told.map((one) => (one === 'late' ? one : one.status)),
      );
    },
    protection: [
      {
        file: documents,
        text: "const options = { ...init, redirect: 'manual', dispatcher }",
        into: "const options = { ...init, signal: null, redirect: 'manual', dispatcher }",
      },
    ],
  },
  {
    id: 'web-held-document-that-redirects',
    finding: 'web held',
    title: 'a document or a key set sends the server on to another address (CWE-918)',
    async attack(target) {
      const third = publicName();
      outsideOf(target).serve(third, {});
      const location = `https://${third}/`;
      const sendOn = () => {
        const name = publicName();
        outsideOf(target).serve(name, (_req, res) => res.writeHead(302, { location }).end());
        return name;
      };
      const { status } = await authorize(target, at(sendOn()));
      const said = await present(target, publish(target, withKeys(sendOn())), third);
      const followed = outsideOf(target).asked.filter((name) => name === third).length;
      return verdict(followed > 0, { followed, status, said });
    },
    protection: [
      {
        file: documents,
        text: "const options = { ...init, redirect: 'manual', dispatcher }",
        into: "const options = { ...init, redirect: 'follow', dispatcher }",
      },
    ],
  },
  {
    id: 'web-held-key-set-of-a-private-address',
    finding: 'web held',
    title: 'a key set lies at a public name of a private address (CWE-918)',
    async attack(target) {
      const before = outsideOf(target).inside();
      const said = await present(target, publish(target, withKeys('10-0-0-6.names.example')), 'inside');
      return verdict(outsideOf(target).inside() > before, { said });
    },
    protection: [namesAreJudged],
  },
  {
    id: 'web-held-remote-server-of-a-private-address',
    finding: 'web held',
    title: 'the address of a remote server, or of its authorization server, leads to a private address (CWE-918)',
    async attack(target) {
      const before = outsideOf(target).inside();
      const admin = await target.person({ level: 'admin' });
      const url = 'https://10-0-0-7.names.example/mcp';
      await target.store.remotes.add({ name: 'far', url, signIn: 'oauth', addedBy: admin.id });
      const { status } = await (await admin.visit('/remotes')).press('connect');
      return verdict(outsideOf(target).inside() > before, { status });
    },
    protection: [namesAreJudged],
  },
];

export const documentAttacks: readonly Attack[] = attacks.map((attack) => ({ ...attack, place: networked, on }));
