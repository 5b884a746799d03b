// The statuses and headers of every path of the MCP namespaces, at the root, under a basePath, and behind a path of the
// public URL that a proxy strips or passes on.
import { type IncomingHttpHeaders, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OAuthTestServer, startServer } from '../oauth/oauth-server.ts';

const host = 'the host application';
interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Not fetch, which normalizes paths and sends no Host. */
function send(
  { local }: OAuthTestServer,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: new URL(local).port, method, path, headers }, (res) => {
      let text = '';
      res.on('data', (chunk) => {
        text += chunk;
      });
      res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, text }));
    })
      .on('error', reject)
      .end();
  });
}

const servers: Record<string, OAuthTestServer> = {};
beforeAll(async () => {
  const env = { SERVICE_OPENAI_APPS_CHALLENGE: 'token-of-openai' };
  servers.root = await startServer({ env });
  servers.base = await startServer({ basePath: '/data', env });
  servers.path = await startServer({ publicPath: '/agents/shop' });
});
afterAll(async () => {
  for (const server of Object.values(servers)) await server.stop();
});

const authorization = '/.well-known/oauth-authorization-server';
const resource = '/.well-known/oauth-protected-resource';

// Where each document is, and the statuses of GET for paths beside it.
const documents: readonly (readonly [server: string, path: string, found: string])[] = [
  ['root', authorization, 'issuer'],
  ['root', `${resource}/mcp`, 'resource'],
  ['root', resource, 'resource'],
  ['root', '/.well-known/openai-apps-challenge', 'token-of-openai'],
  ['root', `${authorization}/`, '404'],
  ['root', `${authorization}/data`, '404'],
  ['root', `${authorization}?x=1`, 'issuer'],
  ['root', authorization.toUpperCase(), host],
  ['root', `${resource}/MCP`, '404'],
  ['root', `${resource}/mcp/`, '404'],
  ['root', '/.well-known', '404'],
  ['root', '/.well-known/', '404'],
  ['root', '/.well-known/security.txt', '404'],
  ['root', '/.well-knownx', host],
  ['root', '/x/.well-known/oauth-authorization-server', host],
  ['base', `${authorization}/data`, 'issuer'],
  ['base', `${resource}/data/mcp`, 'resource'],
  ['base', authorization, host],
  ['base', `${resource}/mcp`, host],
  ['base', `${resource}/data`, host],
  ['base', resource, host],
  ['base', `/data${authorization}`, host],
  ['base', `/data${resource}/mcp`, host],
  ['base', `${authorization}/data/`, host],
  ['base', '/.well-known/security.txt', host],
  ['base', '/.well-known/openai-apps-challenge', host],
  ['path', `${authorization}/agents/shop`, 'issuer'],
  ['path', `${resource}/agents/shop/mcp`, 'resource'],
  ['path', `/agents/shop${authorization}/agents/shop`, 'issuer'],
  ['path', `/agents/shop${resource}/agents/shop/mcp`, 'resource'],
  ['path', authorization, 'issuer'],
  ['path', `${resource}/mcp`, 'resource'],
  ['path', resource, 'resource'],
  ['path', `/agents/shop${authorization}`, 'issuer'],
  ['path', `/agents/shop${resource}/mcp`, 'resource'],
  ['path', `/agents/shop${resource}`, 'resource'],
  ['path', '/.well-known/security.txt', '404'],
  ['path', '/agents/shop/.well-known/security.txt', '404'],
  // There is no token of OpenAI here.
  ['path', '/.well-known/openai-apps-challenge', '404'],
  ['path', `/agents${authorization}`, host],
];

describe('4.4 rules, discovery', () => {
  test.each(documents)(
    'discovery: prefix: on %s, %s is %s; HEAD has the same headers and no body',
    async (on, path, found) => {
      const server = servers[on]!;
      const [got, head] = [await send(server, 'GET', path), await send(server, 'HEAD', path)];
      const { issuer, resource: url } = server.paths;
      expect([head.status, head.text, head.headers['content-type']]).toEqual([
        got.status,
        '',
        got.headers['content-type'],
      ]);
      if (found === host) expect(got.text).toBe(host);
      else if (found === '404') expect([got.status, JSON.parse(got.text).error]).toEqual([404, 'not_found']);
      else if (found === 'token-of-openai')
        expect([got.status, got.text, got.headers['content-type']]).toEqual([200, found, 'text/plain']);
      else {
        const { [found]: name, authorization_servers: authorizationServers } = JSON.parse(got.text);
        expect([got.status, name, authorizationServers]).toEqual(
          found === 'issuer' ? [200, issuer, undefined] : [200, url, [issuer]],
        );
        expect(Number(head.headers['content-length'])).toBe(Buffer.byteLength(got.text));
      }
    },
  );

  test.each([
    ['root', '', ''],
    ['base', '/data', '/data'],
    ['path', '/agents/shop', '/agents/shop'],
    ['path', '/agents/shop', ''],
  ])(
    'capture: prefix: on %s with the public prefix %j, the endpoints are at %j, and exactly there',
    async (on, _public, prefix) => {
      const server = servers[on]!;
      const paths = ['/oauth/jwks', '/oauth', '/oauth/', '/oauth/x', '/oauth/jwks/', '/oauth/JWKS', '/oauth//jwks'];
      const seen = [];
      for (const path of paths) seen.push((await send(server, 'GET', prefix + path)).status);
      expect(seen).toEqual([200, 404, 404, 404, 404, 404, 404]);
      for (const path of ['/oauthx', '/OAUTH/jwks', '/x/oauth/jwks', '/agents/oauth/jwks', '/data/x/oauth/jwks'])
        expect([path, (await send(server, 'GET', prefix + path)).text]).toEqual([path, host]);
    },
  );
});

// Status and Allow of each method; CORS for scripts of any site, except on pages.
const anyone = ['*', 'WWW-Authenticate, Retry-After'];
const nobody = [undefined, undefined];
const endpoints = [
  ['/oauth/token', 'POST', anyone],
  ['/oauth/register', 'POST', anyone],
  ['/oauth/revoke', 'POST', anyone],
  ['/oauth/introspect', 'POST', anyone],
  ['/oauth/par', 'POST', anyone],
  ['/oauth/jwks', 'GET, HEAD', anyone],
  ['/oauth/authorize', 'GET, POST', nobody],
  ['/oauth/authorize/some-id', 'GET', nobody],
  ['/oauth/interaction/some-id', 'GET, POST', nobody],
] as const;

describe.each([
  ['4.4 at host root', '', 'root'],
  ['4.4 with basePath', '<prefix>', 'base'],
])('%s', (_section, shown, on) => {
  const prefix = on === 'base' ? '/data' : '';

  test.each(endpoints)(
    `${shown}/oauth/token, ${shown}/oauth/authorize: the methods and headers of %s: %s`,
    async (path, allow, cors) => {
      const server = servers[on]!;
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const { status, headers } = await send(server, method, prefix + path, { origin: 'https://x.example' });
        const isAllowed = allow.split(', ').includes(method);
        expect([method, status === 405, headers.allow]).toEqual([method, !isAllowed, isAllowed ? undefined : allow]);
        expect([
          method,
          headers['cache-control'],
          headers['x-content-type-options'],
          headers['referrer-policy'],
        ]).toEqual([method, 'no-store', 'nosniff', 'no-referrer']);
        expect([
          method,
          headers['access-control-allow-origin'],
          headers['access-control-expose-headers'],
          headers['access-control-allow-credentials'],
        ]).toEqual([method, ...cors, undefined]);
      }
      const preflight = await send(server, 'OPTIONS', prefix + path, { origin: 'https://x.example' });
      expect([
        preflight.status,
        preflight.headers['access-control-allow-methods'],
        preflight.headers['access-control-allow-headers'],
        preflight.headers['access-control-max-age'],
      ]).toEqual(
        cors === anyone
          ? [204, allow.replace(', HEAD', ''), 'Authorization, Content-Type, DPoP, MCP-Protocol-Version', '3600']
          : [405, undefined, undefined, undefined],
      );
    },
  );

  test.each([[`${authorization}${prefix}`], [`${resource}${prefix}/mcp`]])(
    `/.well-known/oauth-authorization-server${shown}, /.well-known/oauth-protected-resource${shown}/mcp: the methods and headers of %s`,
    async (path) => {
      const server = servers[on]!;
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']) {
        const { status, headers } = await send(server, method, path, { origin: 'https://x.example' });
        const isRead = method === 'GET' || method === 'HEAD';
        expect([method, status, headers.allow, headers['cache-control'], headers['content-type']]).toEqual([
          ...[method, isRead ? 200 : 405, isRead ? undefined : 'GET, HEAD'],
          ...[isRead ? 'public, max-age=300' : 'no-store', 'application/json'],
        ]);
        expect([method, headers['access-control-allow-origin'], headers['access-control-expose-headers']]).toEqual([
          method,
          ...anyone,
        ]);
        expect([headers['x-content-type-options'], headers['referrer-policy']]).toEqual(['nosniff', 'no-referrer']);
      }
      const { status, headers } = await send(server, 'OPTIONS', path, { origin: 'https://x.example' });
      expect([status, headers['access-control-allow-methods'], headers['access-control-max-age']]).toEqual([
        ...[204, 'GET, HEAD', '3600'],
      ]);
      expect((await send(server, 'GET', path, { host: 'evil.example' })).status).toBe(403);
    },
  );

  test(`${shown}/oauth/authorize: the id of a sign-in has 1 to 128 letters, digits, - and _`, async () => {
    const seen = [];
    for (const id of ['a', 'A-z_9', 'x'.repeat(128), 'x'.repeat(129), 'a.b', 'a%2Fb', 'a%20b', 'é', ''])
      for (const path of ['/oauth/interaction', '/oauth/authorize'])
        seen.push((await send(servers[on]!, 'PUT', `${prefix}${path}/${encodeURI(decodeURI(id))}`)).status);
    expect(seen).toEqual([405, 405, 405, 405, 405, 405, ...Array(12).fill(404)]);
  });

  test(`${shown}/oauth/token, ${shown}/oauth/authorize: another Host is refused`, async () => {
    const server = servers[on]!;
    const seen = [];
    for (const [method, path] of [
      ['POST', '/oauth/token'],
      ['GET', '/oauth/authorize'],
      ['GET', '/oauth/unknown'],
    ] as const)
      seen.push((await send(server, method, prefix + path, { host: 'evil.example' })).status);
    expect(seen).toEqual([403, 403, 403]);
  });
});

// A request in the namespaces never reaches the host application.
describe('7', () => {
  const unserved = [
    '/oauth',
    '/oauth/',
    '/oauth/x',
    '/oauth/token/x',
    '/.well-known',
    '/.well-known/x',
    '/oauth/x?y=1',
  ];
  test.each([
    ...unserved.map((path) => ['root', path] as const),
    ...unserved.filter((path) => path.startsWith('/oauth')).map((path) => ['base', `/data${path}`] as const),
    ...unserved.flatMap((path) => [['path', path] as const, ['path', `/agents/shop${path}`] as const]),
  ])(
    'namespaces: on %s, %s is answered 404 for every method and does not reach the host application',
    async (on, path) => {
      const seen = [];
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const { status, text } = await send(servers[on]!, method, path);
        seen.push([method, status, text === host]);
      }
      expect(seen).toEqual(
        ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) => [method, 404, false]),
      );
    },
  );
});
