import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callMcp, connect, register } from './client.ts';
import { type OAuthTestServer, type OAuthTestServerOptions, startServer } from './oauth-server.ts';

const mounts: [string, OAuthTestServerOptions][] = [
  ['at the root', {}],
  ['under a basePath', { basePath: '/shop/ai' }],
  ['behind a public URL with a path', { publicPath: '/portico' }],
];

describe.each(mounts)('%s', (_name, options) => {
  let server: OAuthTestServer;
  beforeAll(async () => {
    server = await startServer(options);
  });
  afterAll(() => server.stop());

  test('a client that knows only the issuer registers, signs in and calls', async () => {
    const registered = await register(server.paths.issuer, {
      client_name: 'Notebook',
      redirect_uris: ['https://notebook.example/callback'],
    });
    const session = await connect(registered, server.account, {
      redirectUri: 'https://notebook.example/callback',
      scope: 'mcp:read mcp:write',
      resource: server.paths.resource,
    });
    expect(await callMcp(`${server.local}${options.basePath ?? ''}/mcp`, session.tokens.access_token)).toEqual({
      status: 200,
      body: '{"email":"ada@example.com","client":"Notebook","scopes":["mcp:read","mcp:write"]}',
    });
  });
});
