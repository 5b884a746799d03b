import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callMcp, connect, register } from './client.ts';
import { type Started, type StartOptions, startServer } from './place.ts';

const mounts: [string, StartOptions][] = [
  ['at the root', {}],
  ['under a basePath', { basePath: '/shop/ai' }],
  ['behind a public URL with a path', { publicPath: '/portico' }],
];

describe.each(mounts)('%s', (_name, options) => {
  let place: Started;
  beforeAll(async () => {
    place = await startServer(options);
  });
  afterAll(() => place.stop());

  test('a client that knows only the issuer registers, signs in and calls', async () => {
    const registered = await register(place.paths.issuer, {
      client_name: 'Notebook',
      redirect_uris: ['https://notebook.example/callback'],
    });
    const session = await connect(registered, place.account, {
      redirectUri: 'https://notebook.example/callback',
      scope: 'mcp:read mcp:write',
      resource: place.paths.resource,
    });
    expect(await callMcp(`${place.local}${options.basePath ?? ''}/mcp`, session.tokens.access_token)).toEqual({
      status: 200,
      body: '{"email":"ada@example.com","client":"Notebook","scopes":["mcp:read","mcp:write"]}',
    });
  });
});
