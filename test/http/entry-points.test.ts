// Every entry point, with every kind of Host, Origin and method: which are refused, and which headers browsers get.
// Statuses beyond that depend on the caller, who is not signed in here.
import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/core/config.ts';
import { createApp } from '../../src/server/create-server.ts';
import { servers } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';

const frontEnd = 'https://front.example';
const stranger = 'https://stranger.example';

type Policy = 'listed' | 'anyone' | 'none';

interface EntryPoint {
  readonly path: string;
  /** The value of Allow. HEAD is answered wherever GET is, except by pages of the sign-in. */
  readonly methods: readonly string[];
  /** Which origins scripts may read it from: listed ones, all without credentials, or only its own (no CORS headers). */
  readonly cors: Policy;
  /** Whether callers without credentials get 401 before 405. */
  readonly isProtected?: boolean;
}

const entryPoints: Readonly<Record<string, EntryPoint>> = {
  'the MCP endpoint': { path: '/mcp', methods: ['POST', 'OPTIONS'], cors: 'listed' },
  'an upload': { path: `/mcp/uploads/${'a'.repeat(43)}`, methods: ['PUT'], cors: 'listed' },
  'a download': { path: `/mcp/downloads/${'a'.repeat(43)}`, methods: ['GET', 'HEAD'], cors: 'listed' },
  'the authorization page': { path: '/oauth/authorize', methods: ['GET', 'POST'], cors: 'none' },
  'a page of the sign-in': { path: '/oauth/interaction/abc', methods: ['GET', 'POST'], cors: 'none' },
  'the token endpoint': { path: '/oauth/token', methods: ['POST'], cors: 'anyone' },
  'the registration': { path: '/oauth/register', methods: ['POST'], cors: 'anyone' },
  'the keys': { path: '/oauth/jwks', methods: ['GET', 'HEAD'], cors: 'anyone' },
  'the metadata of the server': {
    path: '/.well-known/oauth-authorization-server',
    methods: ['GET', 'HEAD'],
    cors: 'anyone',
  },
  'the metadata of the resource': {
    path: '/.well-known/oauth-protected-resource/mcp',
    methods: ['GET', 'HEAD'],
    cors: 'anyone',
  },
  'a page of the console': { path: '/console/sign-in', methods: ['GET', 'HEAD', 'POST'], cors: 'none' },
  'the public API': { path: '/v1/token', methods: ['GET', 'HEAD'], cors: 'none', isProtected: true },
  'a webhook': { path: '/v1/webhooks/workflows/abc', methods: ['POST'], cors: 'none' },
  'the HTTP API of the agent': { path: '/service/orders', methods: ['GET', 'POST'], cors: 'listed', isProtected: true },
  'its sign-in': { path: '/service/authentication', methods: ['POST'], cors: 'listed' },
};
const allMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

function send(url: URL, method: string, headers: Readonly<Record<string, string>>): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const req = request(url, { method, headers }, (res) => {
      res.resume();
      resolve({ status: res.statusCode ?? 0, headers: res.headers });
    });
    req.on('error', reject).end();
  });
}

let origin = '';

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-entry-points-'));
  const database = await servers[0]!.create();
  await runSql(database, ['CREATE TABLE orders (id INTEGER PRIMARY KEY)']);
  const config = loadConfig({
    env: {
      SERVICE_DATA_DIR: folder,
      SERVICE_DATABASE_URL: database.url,
      SERVICE_AGENT_ORIGINS: frontEnd,
      SERVICE_ALLOWED_ORIGINS: frontEnd,
      SERVICE_LOG_LEVEL: 'Error',
      MCP_SERVER_PORT: '0',
    },
  });
  const app = createApp(config, { version: '0', log: () => undefined });
  ({ address: origin } = await app.start());
  return async () => {
    await app.stop('end of the test');
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  };
});

describe.each(Object.entries(entryPoints))('%s', (_name, { path, methods, cors, isProtected }) => {
  const ask = (method: string, headers: Readonly<Record<string, string>> = {}) =>
    send(new URL(path, origin), method, headers);

  test.each(allMethods)('refuses %s with the Host of another site', async (method) => {
    const { status } = await ask(method, { host: 'evil.example' });
    expect(status).toBe(403);
  });

  test.each(allMethods.filter((method) => method !== 'OPTIONS'))('allows %s, or names the methods', async (method) => {
    const { status, headers } = await ask(method);
    const isAllowed = methods.includes(method);
    if (isAllowed) expect(status).not.toBe(405);
    else if (isProtected) expect(status).toBe(401);
    else {
      expect(status).toBe(405);
      expect(headers.allow?.split(', ')).toEqual(expect.arrayContaining(methods.filter((one) => one !== 'OPTIONS')));
    }
  });

  test.each([
    [frontEnd, cors === 'listed' ? frontEnd : cors === 'anyone' ? '*' : undefined],
    [stranger, cors === 'anyone' ? '*' : undefined],
    ['null', cors === 'anyone' ? '*' : undefined],
  ])('lets scripts of %s read: %s', async (from, readable) => {
    const method = methods[0]!;
    const preflight = await ask('OPTIONS', { origin: from, 'access-control-request-method': method });
    const answer = await ask(method, { origin: from });
    expect(preflight.headers['access-control-allow-origin']).toBe(readable);
    expect(answer.headers['access-control-allow-origin']).toBe(readable);
    if (readable) expect(preflight.status).toBe(204);
    if (readable) expect(preflight.headers['access-control-allow-methods']).toContain(method);
    // Caches must not give the answer for one origin to another.
    if (cors === 'listed') expect(answer.headers.vary).toContain('Origin');
    // An origin that may not read must not write either.
    if (cors === 'listed' && !readable) expect(answer.status).toBe(403);
    // Only front ends of the HTTP API send requests with credentials.
    const isFrontEnd = path.startsWith('/service') && from === frontEnd;
    expect(answer.headers['access-control-allow-credentials']).toBe(isFrontEnd ? 'true' : undefined);
  });
});
