import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { systemClock } from '../../../src/core/clock.ts';
import { createBrowser } from '../flow.ts';
import { allow, asMetadata, codeFor, open, redeem, redirectUri, refusal, shown } from './asks.ts';
import type { Standard } from './case.ts';
import type { ConformanceServer } from './conformance-server.ts';

let made = 0;

/** Publishes a metadata document at a new URL; undefined properties are omitted. */
function publish(at: ConformanceServer, change: Readonly<Record<string, unknown>> = {}, host = 'docs.example'): string {
  const id = `https://${host}/clients/${++made}.json`;
  const document = { client_id: id, client_name: 'Notebook', redirect_uris: [redirectUri], ...change };
  at.publish(id, JSON.parse(JSON.stringify(document)));
  return id;
}

const page = (at: ConformanceServer, client_id: string) => refusal(at, { client_id });
const fetches = (at: ConformanceServer, id: string) => at.fetched.filter((one) => one === id).length;

export const cimd: Standard = {
  name: 'CIMD',
  title: 'OAuth Client ID Metadata Document (draft-ietf-oauth-client-id-metadata-document-02)',
  url: 'https://datatracker.ietf.org/doc/html/draft-ietf-oauth-client-id-metadata-document-02',
  file: 'cimd.ts',
  cases: [
    {
      section: '3',
      level: 'MUST',
      requires: 'The URL of a document is https, with a path, and without credentials, fragment or dot segments',
      async send(at) {
        const wrong = [
          'http://docs.example/client.json',
          'https://docs.example',
          'https://user:secret@docs.example/client.json',
          'https://docs.example/client.json#part',
          'https://docs.example/a/../client.json',
          'https://docs.example/./client.json',
        ];
        for (const id of wrong)
          at.publish(id, { client_id: id, client_name: 'Notebook', redirect_uris: [redirectUri] });
        return [await Promise.all(wrong.map((id) => page(at, id))), at.fetched.filter((url) => wrong.includes(url))];
      },
      back: [Array(6).fill(400), []],
    },
    {
      section: '3',
      level: 'MUST',
      requires: 'URLs are compared exactly: another spelling is another client',
      async send(at) {
        const id = publish(at);
        at.publish(id.replace('docs.example', 'DOCS.example'), {
          client_id: id,
          client_name: 'N',
          redirect_uris: [redirectUri],
        });
        return page(at, id.replace('docs.example', 'DOCS.example'));
      },
      back: 400,
    },
    {
      section: '4',
      level: 'MUST',
      requires: 'A document with its own URL as client_id serves as registration: its client signs in and gets tokens',
      async send(at) {
        const client_id = publish(at);
        const { status, json } = await redeem(at, await codeFor(at, { client_id }), { client_id });
        return [status, json.token_type];
      },
      back: [200, 'Bearer'],
    },
    {
      section: '4',
      level: 'MUST',
      requires: 'A document that names another client, or no client, is refused',
      send: async (at) => [
        await page(at, publish(at, { client_id: 'https://docs.example/other.json' })),
        await page(at, publish(at, { client_id: undefined })),
      ],
      back: [400, 400],
    },
    {
      section: '4',
      level: 'MUST',
      requires: 'A document is a JSON object with the members that a client needs',
      async send(at) {
        const [text, list] = [publish(at), publish(at)];
        at.publish(text, () => new Response('<html>', { headers: { 'content-type': 'application/json' } }));
        at.publish(list, []);
        return [
          await page(at, text),
          await page(at, list),
          await page(at, publish(at, { client_name: undefined })),
          await page(at, publish(at, { redirect_uris: undefined })),
        ];
      },
      back: [400, 400, 400, 400],
    },
    {
      section: '4.1',
      level: 'MUST NOT',
      requires: 'A document contains no secret, and no authentication method with a secret',
      send: async (at) => [
        await page(at, publish(at, { client_secret: 'x' })),
        await page(at, publish(at, { client_secret_expires_at: 0 })),
        await page(at, publish(at, { token_endpoint_auth_method: 'client_secret_basic' })),
        await page(at, publish(at, { token_endpoint_auth_method: 'client_secret_post' })),
      ],
      back: [400, 400, 400, 400],
    },
    {
      section: '4.1',
      level: 'MUST NOT',
      requires: 'A document with a private key is refused',
      async send(at) {
        const { privateKey } = await generateKeyPair('ES256', { extractable: true });
        const keys = [{ ...(await exportJWK(privateKey)), kid: 'one', use: 'sig', alg: 'ES256' }];
        return page(at, publish(at, { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys } }));
      },
      back: 400,
    },
    {
      section: '4.2',
      level: 'MUST',
      requires: 'The response goes to a redirect URI of the document, compared exactly',
      async send(at) {
        const client_id = publish(at);
        return Promise.all(
          ['https://evil.example/', `${redirectUri}?x=1`, `${redirectUri}/more`].map((redirect_uri) =>
            refusal(at, { client_id, redirect_uri }),
          ),
        );
      },
      back: [400, 400, 400],
    },
    {
      section: '5',
      level: 'MUST NOT',
      requires: 'Only status 200 is a document, and a redirect is not followed',
      async send(at) {
        const [gone, moved, created] = [publish(at), publish(at), publish(at)];
        const target = publish(at);
        at.publish(gone, () => new Response('{}', { status: 404 }));
        at.publish(moved, () => new Response('', { status: 302, headers: { location: target } }));
        at.publish(created, () =>
          Response.json({ client_id: created, client_name: 'N', redirect_uris: [redirectUri] }, { status: 201 }),
        );
        return [await page(at, gone), await page(at, moved), await page(at, created), fetches(at, target)];
      },
      back: [400, 400, 400, 0],
    },
    {
      section: '5.2',
      level: 'SHOULD',
      requires: 'A document is cached for a while: one sign-in fetches it once',
      async send(at) {
        const client_id = publish(at);
        await redeem(at, await codeFor(at, { client_id }), { client_id });
        return fetches(at, client_id);
      },
      back: 1,
    },
    {
      section: '5.2',
      level: 'MUST NOT',
      requires: 'Errors and invalid documents are not cached: a repaired document works immediately',
      async send(at) {
        const client_id = publish(at, { client_id: 'https://docs.example/other.json' });
        const before = await page(at, client_id);
        at.publish(client_id, { client_id, client_name: 'Notebook', redirect_uris: [redirectUri] });
        return [before, (await open(at, { client_id }, createBrowser())).status];
      },
      back: [400, 200],
    },
    {
      section: '6',
      level: 'MUST',
      requires: 'The metadata of the server advertises client metadata documents',
      send: async (at) => (await asMetadata(at)).json.client_id_metadata_document_supported,
      back: true,
    },
    {
      section: '8.2',
      level: 'MUST',
      requires: 'A client whose document names a key authenticates with it, with the keys of its jwks_uri',
      async send(at) {
        const keys = await generateKeyPair('ES256');
        const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', use: 'sig', alg: 'ES256' };
        const jwks_uri = `https://docs.example/keys/${++made}.json`;
        at.publish(jwks_uri, { keys: [jwk] });
        const client_id = publish(at, { token_endpoint_auth_method: 'private_key_jwt', jwks_uri });
        const now = Math.floor(systemClock.now() / 1000);
        const claims = { iss: client_id, sub: client_id, aud: at.issuer, jti: `a-${made}`, iat: now, exp: now + 60 };
        const client_assertion = await new SignJWT(claims)
          .setProtectedHeader({ alg: 'ES256', kid: 'one' })
          .sign(keys.privateKey);
        const proof = {
          client_assertion,
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        };
        return [
          shown(await redeem(at, await codeFor(at, { client_id }), { client_id })),
          (await redeem(at, await codeFor(at, { client_id }), { client_id, ...proof })).status,
        ];
      },
      back: [[401, 'invalid_client'], 200],
    },
    {
      section: '8.5',
      level: 'SHOULD',
      requires: 'Consent shows the host of the document as the requesting client, and where the response goes',
      async send(at) {
        const client_id = publish(at, { client_name: 'Trustworthy' }, 'assistant.example');
        const browser = createBrowser();
        const shownPage = await browser.press(await open(at, { client_id }, browser), 'sign-in', { ...at.account });
        return ['Trustworthy', 'assistant.example', 'notebook.example'].map((text) => shownPage.html.includes(text));
      },
      back: [true, true, true],
    },
    {
      section: '8.6',
      level: 'MUST NOT',
      requires:
        'Nothing is fetched from addresses that are not public: literals, this machine, internal names, other ports',
      async send(at) {
        const hosts = [
          '127.0.0.1',
          '[::1]',
          '169.254.169.254',
          '10.0.0.1',
          '0x7f.1',
          '2130706433',
          'localhost',
          'metadata.internal',
          'printer.local',
          'docs.example:8443',
        ];
        const ids = hosts.map((host) => publish(at, {}, host));
        const answers = [];
        for (const id of ids) answers.push(await page(at, id));
        return [answers, at.fetched.filter((url) => ids.includes(url))];
      },
      back: [Array(10).fill(400), []],
    },
    {
      section: '8.6',
      level: 'MUST NOT',
      requires: 'URLs in a document pass the same check: jwks_uri on this machine is not fetched',
      async send(at) {
        const jwks_uri = 'https://127.0.0.1/keys.json';
        at.publish(jwks_uri, { keys: [] });
        const client_id = publish(at, { token_endpoint_auth_method: 'private_key_jwt', jwks_uri });
        const code = (await allow(at, { client_id })).searchParams.get('code');
        const claims = { iss: client_id, sub: client_id, aud: at.issuer, jti: 'a', exp: 9_999_999_999 };
        const { privateKey } = await generateKeyPair('ES256');
        const client_assertion = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
        const answer = await redeem(at, `${code}`, {
          client_id,
          client_assertion,
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        });
        return [answer.status >= 400, fetches(at, jwks_uri)];
      },
      back: [true, 0],
    },
    {
      section: '8.7',
      level: 'SHOULD',
      requires: 'No more than 5 KB of a document is read',
      send: async (at) => page(at, publish(at, { padding: 'x'.repeat(6000) })),
      back: 400,
    },
    {
      section: '8.8',
      level: 'SHOULD',
      requires: 'Logos are not shown, and neither the server nor the browser fetches them',
      async send(at) {
        const logo_uri = 'https://docs.example/logo.png';
        const client_id = publish(at, { logo_uri });
        const browser = createBrowser();
        const consent = await browser.press(await open(at, { client_id }, browser), 'sign-in', { ...at.account });
        return [consent.html.includes(logo_uri), fetches(at, logo_uri)];
      },
      back: [false, 0],
    },
  ],
};
