import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authorizationUrl, bearer, connect, register } from './client.ts';
import { createBrowser, signIn } from './flow.ts';
import { type OAuthTestServer, startServer } from './oauth-server.ts';

const documents = (issuer: string) => ({
  authorizationServer: {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    introspection_endpoint: `${issuer}/oauth/introspect`,
    pushed_authorization_request_endpoint: `${issuer}/oauth/par`,
    jwks_uri: `${issuer}/oauth/jwks`,
    scopes_supported: ['mcp:read', 'mcp:write', 'mcp:action', 'offline_access'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    token_endpoint_auth_signing_alg_values_supported: ['ES256', 'RS256', 'PS256', 'EdDSA'],
    revocation_endpoint_auth_methods_supported: [
      'none',
      'client_secret_basic',
      'client_secret_post',
      'private_key_jwt',
    ],
    revocation_endpoint_auth_signing_alg_values_supported: ['ES256', 'RS256', 'PS256', 'EdDSA'],
    introspection_endpoint_auth_methods_supported: [
      'client_secret_basic',
      'client_secret_post',
      'private_key_jwt',
      'none',
    ],
    introspection_endpoint_auth_signing_alg_values_supported: ['ES256', 'RS256', 'PS256', 'EdDSA'],
    dpop_signing_alg_values_supported: ['ES256', 'EdDSA'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    require_pushed_authorization_requests: false,
  },
  protectedResource: {
    resource: `${issuer}/mcp`,
    authorization_servers: [issuer],
    scopes_supported: ['mcp:read', 'mcp:write', 'mcp:action'],
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: ['ES256', 'EdDSA'],
    resource_name: 'Portico',
  },
});

/** A raw request, since fetch would not send the Host header and would normalize the path. */
function raw(local: string, path: string, options: { method?: string; host?: string } = {}): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    const { port, host } = new URL(local);
    const headers = { host: options.host ?? host };
    request({ port, path, method: options.method ?? 'GET', headers, host: '127.0.0.1' }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve([response.statusCode ?? 0, text]));
    })
      .on('error', reject)
      .end();
  });
}

describe('at the root', () => {
  let server: OAuthTestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  const get = async (path: string) => (await fetch(server.local + path)).json();

  test('the metadata documents have exactly these members', async () => {
    expect({
      authorizationServer: await get('/.well-known/oauth-authorization-server'),
      protectedResource: await get('/.well-known/oauth-protected-resource/mcp'),
    }).toEqual(documents(server.local));
  });

  test('unknown paths of /oauth and /.well-known return 404 and wrong methods 405, in JSON', async () => {
    const answers = [];
    for (const [method, path] of [
      ['GET', '/oauth'],
      ['GET', '/oauth/userinfo'],
      ['POST', '/oauth/logout/confirm'],
      ['GET', '/.well-known/openid-configuration'],
      ['GET', '/.well-known/apple-app-site-association'],
      ['GET', '/oauth/token'],
      ['DELETE', '/oauth/authorize'],
      ['POST', '/oauth/jwks'],
      ['POST', '/.well-known/oauth-authorization-server'],
    ] as const) {
      const response = await fetch(server.local + path, { method });
      const { error } = (await response.json()) as { error: string };
      answers.push([method, path, response.status, error, response.headers.get('allow')]);
    }
    expect(answers).toEqual([
      ['GET', '/oauth', 404, 'not_found', null],
      ['GET', '/oauth/userinfo', 404, 'not_found', null],
      ['POST', '/oauth/logout/confirm', 404, 'not_found', null],
      ['GET', '/.well-known/openid-configuration', 404, 'not_found', null],
      ['GET', '/.well-known/apple-app-site-association', 404, 'not_found', null],
      ['GET', '/oauth/token', 405, 'method_not_allowed', 'POST'],
      ['DELETE', '/oauth/authorize', 405, 'method_not_allowed', 'GET, POST'],
      ['POST', '/oauth/jwks', 405, 'method_not_allowed', 'GET, HEAD'],
      ['POST', '/.well-known/oauth-authorization-server', 405, 'method_not_allowed', 'GET, HEAD'],
    ]);
  });

  test('other paths reach the host application', async () => {
    expect([await raw(server.local, '/oauthx'), await raw(server.local, '/')]).toEqual([
      [404, 'the host application'],
      [404, 'the host application'],
    ]);
  });

  test('an unknown Host is refused, and changes no advertised URL', async () => {
    const statuses = [];
    for (const host of ['evil.example', 'evil.example:3931', 'x@localhost', '127.0.0.1', '[::1]:99']) {
      statuses.push([host, (await raw(server.local, '/.well-known/oauth-authorization-server', { host }))[0]]);
    }
    const [, body] = await raw(server.local, '/.well-known/oauth-authorization-server', { host: '127.0.0.1' });
    expect({ statuses, issuer: JSON.parse(body).issuer }).toEqual({
      statuses: [
        ['evil.example', 403],
        ['evil.example:3931', 403],
        ['x@localhost', 403],
        ['127.0.0.1', 200],
        ['[::1]:99', 200],
      ],
      issuer: server.local,
    });
  });

  test('scripts of any site may discover, register and redeem, without credentials', async () => {
    const seen = [];
    for (const path of ['/oauth/register', '/oauth/token', '/.well-known/oauth-protected-resource/mcp']) {
      const { status, headers } = await fetch(server.local + path, {
        method: 'OPTIONS',
        headers: { origin: 'https://inspector.example', 'access-control-request-method': 'POST' },
      });
      seen.push([
        status,
        headers.get('access-control-allow-origin'),
        headers.get('access-control-allow-headers'),
        headers.get('access-control-allow-credentials'),
      ]);
    }
    const answer = await fetch(`${server.local}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'authorization_code', client_id: 'nobody' }),
      headers: { origin: 'https://inspector.example' },
    });
    seen.push([answer.status, answer.headers.get('access-control-allow-origin')]);
    const allowed = 'Authorization, Content-Type, DPoP, MCP-Protocol-Version';
    expect(seen).toEqual([
      [204, '*', allowed, null],
      [204, '*', allowed, null],
      [204, '*', allowed, null],
      [401, '*'],
    ]);
  });

  test('an authorization request by POST is redirected to GET with 303, and signs in', async () => {
    const redirectUri = 'https://notebook.example/callback';
    const registered = await register(server.paths.issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
    const { url } = await authorizationUrl(registered, { redirectUri });
    const answer = await fetch(url.origin + url.pathname, {
      method: 'POST',
      body: url.searchParams,
      redirect: 'manual',
    });
    const callback = await signIn(`${answer.headers.get('location')}`, server.account, createBrowser());
    expect([answer.status, callback.searchParams.has('code'), callback.searchParams.get('iss')]).toEqual([
      303,
      true,
      server.paths.issuer,
    ]);
  });

  test('a body over the limit is refused with 413 and the server continues', async () => {
    const big = await fetch(`${server.local}/oauth/token`, { method: 'POST', body: 'a'.repeat(5_000_000) }).then(
      ({ status }) => status,
      () => 'closed',
    );
    expect([big, (await fetch(`${server.local}/oauth/jwks`)).status]).toEqual([413, 200]);
  });

  test('the published keys contain only public parts', async () => {
    const { keys } = (await get('/oauth/jwks')) as { keys: Record<string, unknown>[] };
    expect(keys.map((key) => Object.keys(key).sort())).toEqual([['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']]);
  });
});

test('under a basePath only the prefixed namespace and the two suffixed documents are served', async () => {
  const server = await startServer({ basePath: '/shop' });
  try {
    const seen = [];
    for (const path of [
      '/.well-known/oauth-authorization-server/shop',
      '/.well-known/oauth-protected-resource/shop/mcp',
      '/shop/oauth/jwks',
      '/shop/oauth/nothing',
      '/.well-known/oauth-authorization-server',
      '/.well-known/security.txt',
      '/oauth/token',
    ]) {
      const [status, body] = await raw(server.local, path);
      seen.push([path, status, body === 'the host application' ? 'host' : 'ours']);
    }
    const document = await fetch(`${server.local}/.well-known/oauth-authorization-server/shop`);
    expect({ seen, document: await document.json() }).toEqual({
      seen: [
        ['/.well-known/oauth-authorization-server/shop', 200, 'ours'],
        ['/.well-known/oauth-protected-resource/shop/mcp', 200, 'ours'],
        ['/shop/oauth/jwks', 200, 'ours'],
        ['/shop/oauth/nothing', 404, 'ours'],
        ['/.well-known/oauth-authorization-server', 404, 'host'],
        ['/.well-known/security.txt', 404, 'host'],
        ['/oauth/token', 404, 'host'],
      ],
      document: documents(`${server.local}/shop`).authorizationServer,
    });
  } finally {
    await server.stop();
  }
});

test('behind a proxy the redirect back uses the public URL, and cookies are Secure', async () => {
  const server = await startServer({ publicUrl: 'https://data.example.com' });
  try {
    const redirect_uris = ['https://notebook.example/callback'];
    const registration = await fetch(`${server.local}/oauth/register`, {
      method: 'POST',
      body: JSON.stringify({ client_name: 'Notebook', redirect_uris }),
      headers: { 'content-type': 'application/json' },
    });
    const { client_id } = (await registration.json()) as { client_id: string };
    const query = new URLSearchParams({
      client_id,
      response_type: 'code',
      redirect_uri: `${redirect_uris[0]}`,
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    });
    const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' };
    const answer = await fetch(`${server.local}/oauth/authorize?${query}`, { redirect: 'manual', headers });
    const cookies = answer.headers.getSetCookie().filter((cookie) => !cookie.includes('.sig='));
    expect({
      status: answer.status,
      location: answer.headers.get('location')?.replace(/[\w-]+$/, '<uid>'),
      cookies: cookies.map((cookie) =>
        cookie
          .replace(/=[^;]+/, '=')
          .replace(/(?<=\/)[\w-]{21,}/g, '<uid>')
          .replace(/expires=[^;]+; /, ''),
      ),
    }).toEqual({
      status: 303,
      location: '/oauth/interaction/<uid>',
      cookies: [
        '__Secure-portico_interaction=; path=/oauth/interaction/<uid>; samesite=lax; secure; httponly',
        '__Secure-portico_resume=; path=/oauth/authorize/<uid>; samesite=lax; secure; httponly',
      ],
    });
  } finally {
    await server.stop();
  }
});

test('body parsers of the host application do not interfere', async () => {
  const server = await startServer({ parsers: true });
  try {
    const redirectUri = 'https://notebook.example/callback';
    const registered = await register(server.paths.issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
    const { tokens } = await connect(registered, server.account, { redirectUri, resource: server.paths.resource });
    const auth = await server.gate.check(bearer(tokens.access_token));
    expect(auth.access.caller.email).toBe(server.account.email);
  } finally {
    await server.stop();
  }
});
