// Clients that authenticate with their own key (private_key_jwt, RFC 7523). Each assertion is valid only once.
import { exportJWK, generateKeyPair } from 'jose';
import * as oauth from 'oauth4webapi';
import { describe, expect, test } from 'vitest';
import { servers } from '../databases.ts';
import { createStorage } from '../store/spares.ts';
import { callMcp, connect, type Registered, refresh, register } from './client.ts';
import { type OAuthTestServer, startServer } from './oauth-server.ts';

const redirectUri = 'https://notebook.example/callback';

/** A client that registers its public key and authenticates with the private one. */
async function registerWithKey(testServer: OAuthTestServer): Promise<Registered> {
  const keys = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', use: 'sig', alg: 'ES256' };
  const registered = await register(testServer.paths.issuer, {
    client_name: 'Notebook',
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: 'ES256',
    jwks: { keys: [jwk] },
  });
  return { ...registered, authentication: oauth.PrivateKeyJwt({ key: keys.privateKey, kid: 'one' }) };
}

/** Sends the same request, with the same assertion, to all token endpoints at once. */
async function presentAtOnce({ server, client, authentication }: Registered, endpoints: readonly string[]) {
  const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'nobody-has-this-one' });
  await authentication(server, client, body, new Headers());
  const answers = endpoints.map(async (endpoint) => {
    const response = await fetch(endpoint, { method: 'POST', body });
    const { error } = (await response.json()) as { error: string };
    return `${response.status} ${error}`;
  });
  return (await Promise.all(answers)).sort();
}

/** Authenticated clients learn that the refresh token is invalid; others get only invalid_client. */
const known = '400 invalid_grant';
const unknown = '401 invalid_client';

test('a client signs in with assertions, calls and refreshes; another key is refused', async () => {
  const testServer = await startServer();
  try {
    const registered = await registerWithKey(testServer);
    const session = await connect(registered, testServer.account, { redirectUri });
    const next = await refresh(session, `${session.tokens.refresh_token}`);
    const { privateKey } = await generateKeyPair('ES256');
    const stranger = { ...session, authentication: oauth.PrivateKeyJwt({ key: privateKey, kid: 'one' }) };
    const refused = await refresh(stranger, `${next.refresh_token}`).catch((error: { error: string }) => error.error);
    const nobody = { ...session, authentication: oauth.None() };
    const bare = await refresh(nobody, `${next.refresh_token}`).catch((error: { error: string }) => error.error);
    expect([(await callMcp(testServer.paths.resource, next.access_token)).status, refused, bare]).toEqual([
      200,
      'invalid_client',
      'invalid_client',
    ]);
  } finally {
    await testServer.stop();
  }
});

describe.each(servers.map((server) => [server.dialect, server] as const))('on %s', (dialect, server) => {
  test('an assertion presented several times concurrently is accepted once across the processes', async () => {
    const database = await createStorage(server);
    const one = await startServer({ storageUrl: database.url });
    const two = dialect === 'sqlite' ? one : await startServer({ storageUrl: database.url, beside: one });
    try {
      const registered = await registerWithKey(one);
      const endpoint = `${one.local}/oauth/token`;
      // Warms up both servers, so the requests really run concurrently.
      await presentAtOnce(registered, [endpoint]);
      await presentAtOnce(registered, [`${two.local}/oauth/token`]);
      const endpoints = Array.from({ length: 6 }, (_, n) => (n % 2 ? `${two.local}/oauth/token` : endpoint));
      expect(await presentAtOnce(registered, endpoints)).toEqual([known, ...Array.from({ length: 5 }, () => unknown)]);
    } finally {
      if (two !== one) await two.stop();
      await one.stop();
      await database.drop();
    }
  });
});
