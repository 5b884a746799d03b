// The clients of both official SDKs sign in with only the URL of /mcp, and refresh on their own.
import { auth as authV2, type OAuthClientProvider } from '@modelcontextprotocol/client';
import { auth as authV1 } from '@modelcontextprotocol/sdk/client/auth.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callMcp } from './client.ts';
import { signIn } from './flow.ts';
import { type OAuthTestServer, startServer } from './oauth-server.ts';

const documentUrl = 'https://inspector.example/client.json';
const redirectUrl = 'http://localhost:6276/oauth/callback';
let server: OAuthTestServer;
beforeAll(async () => {
  server = await startServer();
  server.documents.set(documentUrl, {
    client_id: documentUrl,
    client_name: 'Inspector',
    redirect_uris: ['http://localhost/oauth/callback'],
    token_endpoint_auth_method: 'none',
  });
});
afterAll(() => server.stop());

/** The state that an application keeps for the SDK, in memory. */
function createMemory(clientMetadataUrl?: string) {
  const kept: Record<string, unknown> = {};
  const keep = (more: object): void => void Object.assign(kept, more);
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: { client_name: 'Inspector', redirect_uris: [redirectUrl] },
    ...(clientMetadataUrl ? { clientMetadataUrl } : {}),
    clientInformation: () => kept.client as never,
    saveClientInformation: (client) => keep({ client }),
    tokens: () => kept.tokens as never,
    saveTokens: (tokens) => keep({ tokens }),
    redirectToAuthorization: (url) => keep({ url }),
    saveCodeVerifier: (verifier) => keep({ verifier }),
    saveDiscoveryState: (discovery) => keep({ discovery }),
    discoveryState: () => kept.discovery as never,
    codeVerifier: () => `${kept.verifier}`,
  };
  return { kept: kept as { url: URL; tokens: { access_token: string; refresh_token: string } }, provider };
}

test.each([
  ['2.x, registering itself', authV2, undefined],
  ['2.x, by its metadata document', authV2, documentUrl],
  ['1.x, registering itself', authV1, undefined],
  ['1.x, by its metadata document', authV1, documentUrl],
] as const)('the SDK %s, signs in, calls and refreshes', async (_version, auth, url) => {
  const { kept, provider } = createMemory(url);
  const serverUrl = server.paths.resource;
  const steps: unknown[] = [await auth(provider as never, { serverUrl })];
  const { searchParams } = await signIn(kept.url, server.account);
  const answer = { authorizationCode: `${searchParams.get('code')}`, iss: `${searchParams.get('iss')}` };
  steps.push(await auth(provider as never, { serverUrl, ...answer }));
  const first = kept.tokens;
  steps.push((await callMcp(serverUrl, first.access_token)).status);
  steps.push(await auth(provider as never, { serverUrl }));
  steps.push(
    kept.tokens.access_token !== first.access_token,
    (await callMcp(serverUrl, kept.tokens.access_token)).status,
  );
  expect(steps).toEqual(['REDIRECT', 'AUTHORIZED', 200, 'AUTHORIZED', true, 200]);
});
