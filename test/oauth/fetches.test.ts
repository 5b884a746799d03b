// Fetches that a stranger can cause: metadata documents, and URLs in documents and registrations. Size, time and number
// are limited.
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterEach, describe, expect, test } from 'vitest';
import { type OAuthTestServer, startServer } from './oauth-server.ts';

const redirectUri = 'https://notebook.example/callback';
const keysUri = 'https://keys.example/jwks.json';
const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function open(): Promise<OAuthTestServer> {
  const server = await startServer();
  undo.push(() => server.stop());
  return server;
}

function publish(server: OAuthTestServer, name: string, change: Readonly<Record<string, unknown>> = {}): string {
  const id = `https://docs.example/${name}.json`;
  server.documents.set(id, { client_id: id, client_name: 'Notebook', redirect_uris: [redirectUri], ...change });
  return id;
}

const withKeys = { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: keysUri };
const count = ({ fetched }: OAuthTestServer, url: string) => fetched.filter((one) => one === url).length;

async function makeKey() {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  return { jwk: { ...(await exportJWK(publicKey)), kid: 'one', use: 'sig', alg: 'ES256' }, privateKey };
}

/** A token request with an assertion signed by this key. */
async function present(server: OAuthTestServer, clientId: string, key: Parameters<SignJWT['sign']>[0], jti: string) {
  const assertion = await new SignJWT({ jti })
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(server.paths.issuer)
    .setIssuedAt()
    .setExpirationTime('1m')
    .sign(key);
  const body = new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: 'nobody-has-this-one',
    client_id: clientId,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
  });
  const response = await fetch(`${server.local}/oauth/token`, { method: 'POST', body });
  const { error } = (await response.json()) as { error: string };
  return `${response.status} ${error}`;
}

const authorize = (server: OAuthTestServer, clientId: string) =>
  fetch(`${server.local}/oauth/authorize?${new URLSearchParams({ client_id: clientId, response_type: 'code' })}`, {
    redirect: 'manual',
  });

describe('jwks_uri', () => {
  // RFC 7517 section 5; draft-ietf-oauth-client-id-metadata-document section 8.7: at most 5 KB of a client's key set is
  // read.
  test.each([
    ['announced', (text: string) => new Response(text, { headers: { 'content-length': `${text.length}` } })],
    ['without a Content-Length', (text: string) => new Response(new Blob([text]).stream())],
  ])('a key set of more than 5 KB, %s, is not read to its end', async (_how, answer) => {
    const server = await open();
    const { jwk, privateKey } = await makeKey();
    const id = publish(server, 'client', withKeys);
    const small = JSON.stringify({ keys: [jwk] });
    server.documents.set(keysUri, () => answer(small));
    const fits = await present(server, id, privateKey, 'first');
    const other = 'https://keys.example/large.json';
    const large = publish(server, 'large', { ...withKeys, jwks_uri: other });
    server.documents.set(other, () => answer(small.padEnd(6000)));
    expect([fits, await present(server, large, privateKey, 'second')]).toEqual([
      '400 invalid_grant',
      '401 invalid_client',
    ]);
  });

  test('is aborted after two and a half seconds, during the headers or the body', async () => {
    const server = await open();
    const { privateKey } = await makeKey();
    const id = publish(server, 'client', withKeys);
    server.documents.set(keysUri, (init: RequestInit) => {
      const stream = new ReadableStream({
        start: (out) => init.signal?.addEventListener('abort', () => out.error(init.signal?.reason)),
      });
      return new Response(stream);
    });
    // The response never ends; without a timeout in the server this test would time out.
    expect(await present(server, id, privateKey, 'one')).toBe('401 invalid_client');
  });

  test('is fetched once a minute for all requests of a client, whatever they send', async () => {
    const server = await open();
    const { jwk, privateKey } = await makeKey();
    const { privateKey: stranger } = await makeKey();
    const id = publish(server, 'client', withKeys);
    server.documents.set(keysUri, { keys: [jwk] });
    const answers = new Set<string>();
    for (let i = 0; i < 20; i++) answers.add(await present(server, id, stranger, `bad ${i}`));
    expect([[...answers], await present(server, id, privateKey, 'good'), count(server, keysUri)]).toEqual([
      ['401 invalid_client'],
      '400 invalid_grant',
      1,
    ]);
  });

  // The limit covers key sets and documents together: each costs an outgoing request.
  test('counts towards the thirty fetches of one address in a minute, even if it fails', async () => {
    const server = await open();
    const { privateKey } = await makeKey();
    const id = publish(server, 'client', withKeys);
    for (let i = 0; i < 60; i++) await present(server, id, privateKey, `${i}`);
    expect([server.fetched.length <= 30, count(server, id)]).toEqual([true, 1]);
  });
});

// RFC 6749 section 2.3.1: failed attempts are counted for every authentication method.
test('failed assertions count like failed secrets', async () => {
  const server = await open();
  const { jwk } = await makeKey();
  const { privateKey: stranger } = await makeKey();
  const id = publish(server, 'client', withKeys);
  server.documents.set(keysUri, { keys: [jwk] });
  const answers: string[] = [];
  for (let i = 0; i < 102; i++) answers.push(await present(server, id, stranger, `${i}`));
  expect([answers[99], answers[100], answers[101]]).toEqual([
    '401 invalid_client',
    '429 rate_limited',
    '429 rate_limited',
  ]);
});

describe('sector_identifier_uri', () => {
  // OpenID Connect Core section 8.1 applies only to pairwise subjects, which we do not support.
  test('of a registration is dropped and not fetched', async () => {
    const server = await open();
    const sector = 'https://third.example/sector.json';
    const response = await fetch(`${server.local}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'N', redirect_uris: [redirectUri], sector_identifier_uri: sector }),
    });
    const registered = (await response.json()) as object;
    expect([response.status, 'sector_identifier_uri' in registered, server.fetched]).toEqual([201, false, []]);
  });

  test('of a document is dropped and not fetched', async () => {
    const server = await open();
    const sector = 'https://third.example/sector.json';
    const id = publish(server, 'client', { sector_identifier_uri: sector });
    for (let i = 0; i < 3; i++) await authorize(server, id);
    expect(server.fetched).toEqual([id]);
  });
});
