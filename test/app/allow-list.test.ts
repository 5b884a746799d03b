// The IP allow-list of a project covers every route at the root, under a basePath and inside a host application. The
// routes come from the tables that define them. Only configured proxies are trusted, and a change applies to the next
// request even if another process made it.
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { routes as apiRoutes } from '../../src/api/routes.ts';
import { routes } from '../../src/console/routes.ts';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import type { Observation } from '../../src/core/observe.ts';
import { endpointPaths } from '../../src/oauth/server/paths.ts';
import { createApp } from '../../src/server/create-server.ts';
import { openStore } from '../../src/store/open.ts';
import { createNetworkMatch, readNetwork } from '../../src/store/permissions/networks.ts';
import type { Right } from '../../src/store/permissions/types.ts';
import type { Store } from '../../src/store/store.ts';
import { servers } from '../databases.ts';
import { platformSettings } from '../platform/platform-servers.ts';
import { runSql } from '../sql/schemas.ts';
import { createStorage } from '../store/spares.ts';
import { makeFolder } from './agent.ts';
import { callTool } from './call.ts';
import { openShop, signedIn } from './shop.ts';

interface Served {
  readonly origin: string;
  /** The store of another process on the same storage. */
  readonly store: Store;
  readonly observed: readonly Observation[];
  readonly isHosted: boolean;
}

interface Place {
  readonly basePath: string;
  readonly consolePath: string;
  readonly prefix: string;
  readonly apiPath: string;
  readonly platformPath: string;
  readonly isHosted?: boolean;
}

const places: readonly (readonly [string, Place])[] = [
  [
    'at the root',
    { basePath: '', consolePath: '/console', prefix: '/service', apiPath: '', platformPath: '/platform' },
  ],
  [
    'under a basePath',
    { basePath: '/data', consolePath: '/data/desk', prefix: '/rest', apiPath: '/api', platformPath: '/rest/door' },
  ],
  [
    'inside a host application',
    {
      basePath: '/data',
      consolePath: '/service/_console',
      prefix: '/service',
      apiPath: '/service/_api',
      platformPath: '/service/_platform',
      isHosted: true,
    },
  ],
];

async function serve(
  { basePath, consolePath, prefix, apiPath, platformPath, isHosted = false }: Place,
  env: Record<string, string> = {},
): Promise<Served> {
  const database = await servers[0]!.create();
  onTestFinished(() => database.drop());
  await runSql(database, ['CREATE TABLE notes (id INTEGER PRIMARY KEY)']);
  const host = createServer();
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  const hostOrigin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  const config = loadConfig({
    env: {
      SERVICE_DATA_DIR: makeFolder(),
      SERVICE_DATABASE_URL: database.url,
      SERVICE_MCP_BASE_PATH: basePath,
      SERVICE_CONSOLE_PATH: consolePath,
      SERVICE_PREFIX: prefix,
      SERVICE_API_PATH: apiPath,
      SERVICE_PLATFORM_PATH: platformPath,
      ...platformSettings,
      SERVICE_LOG_LEVEL: 'Error',
      MCP_SERVER_PORT: '0',
      ...(isHosted && { SERVICE_PUBLIC_URL: hostOrigin }),
      ...env,
    },
  });
  const observed: Observation[] = [];
  const observe = (one: Observation) => void observed.push(one);
  const app = createApp(config, { version: '0', log: observe, listens: !isHosted });
  const { address } = await app.start();
  host.on('request', (req, res) => app.handle(req, res, () => res.end('of the host')));
  const store = await openStore({ config, observe, clock: systemClock });
  onTestFinished(async () => {
    await app.stop('end of the test');
    await store.close();
    host.closeAllConnections();
    await new Promise((resolve) => host.close(resolve));
  });
  return { origin: isHosted ? hostOrigin : address, store, observed, isHosted };
}

/** Null allows every address. */
async function allow({ rights }: Pick<Store, 'rights'>, networks: readonly string[] | null): Promise<void> {
  const before = await rights.read();
  const others = before.filter(({ kind }) => kind !== 'network');
  const allowed = (networks ?? []).map((network): Right => ({ kind: 'network', path: [network], value: network }));
  await rights.apply(before, [...others, ...allowed]);
}

function pathsOf({ basePath, consolePath, prefix, apiPath, platformPath }: Place): string[] {
  return [
    ...['/mcp', '/mcp/', '/mcp?readonly=true', '/mcp/uploads/abc', '/mcp/downloads/abc', '/mcp/unknown'].map(
      (path) => basePath + path,
    ),
    ...[...Object.keys(endpointPaths).map((path) => path.replace(':uid', 'abc')), '/oauth/unknown'].map(
      (path) => basePath + path,
    ),
    `/.well-known/oauth-authorization-server${basePath}`,
    `/.well-known/oauth-protected-resource${basePath}/mcp`,
    ...[...apiRoutes.map(({ path }) => path.replace(/\{\w+\}/g, 'abc')), '/v1', '/v1/unknown'].map(
      (path) => apiPath + path,
    ),
    ...['', '/v1/versions', '/unknown'].map((path) => platformPath + path),
    ...['', '/', '/authentication', '/authentication/callback', '/unknown'].map((path) => `${prefix}${path}`),
    ...[...routes.map(({ page }) => page.replace(/:\w+/g, 'abc')), '/unknown'].map((page) => consolePath + page),
  ];
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'];

function ask(origin: string, path: string, method = 'GET', headers: Record<string, string> = {}) {
  return new Promise<{ status: number; type: string; body: string }>((resolve, reject) => {
    const asked = request(origin + path, { method, headers }, (res) => {
      const done = (body: string) => resolve({ status: res.statusCode!, type: `${res.headers['content-type']}`, body });
      text(res).then(done, reject);
    });
    asked.on('error', reject).end(method === 'POST' ? '{}' : undefined);
  });
}

describe.each(places)('%s', (_name, place) => {
  test('every route of Portico refuses addresses outside the list, and none without a list', async () => {
    const served = await serve(place);
    const { origin, store, isHosted } = served;
    const walk = async () => {
      const refused: string[] = [];
      const passed: string[] = [];
      for (const path of [...pathsOf(place), ...(isHosted ? [] : ['/', '/unknown'])]) {
        for (const method of methods) {
          const { status, body } = await ask(origin, path, method);
          const isRefused =
            status === 403 && (method === 'HEAD' || body.includes('Requests from 127.0.0.1 are not allowed.'));
          (isRefused ? refused : passed).push(`${method} ${path} ${status}`);
        }
      }
      return { refused, passed };
    };
    const before = await walk();
    await allow(store, ['203.0.113.0/24', '2001:db8::/32']);
    const during = await walk();
    await allow(store, null);
    const after = await walk();
    expect([before.refused, during.passed, after]).toEqual([[], [], before]);
    expect(during.refused.length).toBe(before.passed.length);
  });

  test('health checks and routes of the host are not restricted', async () => {
    const { origin, store, isHosted } = await serve(place);
    await allow(store, ['203.0.113.0/24']);
    const others = isHosted ? ['/', '/healthz', '/oauthx', '/data', '/services'] : ['/healthz', '/readyz'];
    const bodies = await Promise.all(others.map(async (path) => (await ask(origin, path)).body));
    expect(bodies).toEqual(isHosted ? others.map(() => 'of the host') : ['{"status":"ok"}', '{"status":"ready"}']);
  });
});

test('a refused browser gets a page and a program JSON, and the log has the address', async () => {
  const { origin, store, observed } = await serve(places[0]![1]);
  await allow(store, ['203.0.113.0/24']);
  const page = await ask(origin, '/console', 'GET', { accept: 'text/html,*/*' });
  expect([page.status, page.type, page.body.match(/<p class="lead" role="alert">(.*?)<\/p>/)?.[1]]).toEqual([
    403,
    'text/html; charset=utf-8',
    'Requests from 127.0.0.1 are not allowed. The operator of this server can add the address to its allow-list.',
  ]);
  const told = await ask(origin, '/oauth/token', 'POST', { authorization: 'Bearer secret-of-somebody' });
  const why =
    'Requests from 127.0.0.1 are not allowed. The operator of this server can add the address to its allow-list.';
  expect(JSON.parse(told.body)).toEqual({
    ...{ error: 'address_not_allowed', error_description: why },
    ...{ code: 'ADDRESS_NOT_ALLOWED', message: why },
  });
  expect(observed.filter(({ type }) => type === 'security')).toEqual([
    { type: 'security', event: 'address.refused', address: '127.0.0.1' },
    { type: 'security', event: 'address.refused', address: '127.0.0.1' },
  ]);
});

describe('the client address', () => {
  const seen = async (env: Record<string, string>, forwarded: string, networks: readonly string[]) => {
    const { origin, store } = await serve(places[0]![1], env);
    await allow(store, networks);
    const { status, body } = await ask(origin, '/oauth/jwks', 'GET', { 'x-forwarded-for': forwarded });
    return status === 403 ? /from (\S+) are/.exec(body)?.[1] : status;
  };
  const proxied = { SERVICE_TRUSTED_PROXIES: 'loopback' };

  test.each([
    ['X-Forwarded-For of an untrusted client is ignored', {}, '203.0.113.7', ['203.0.113.0/24'], '127.0.0.1'],
    ['X-Forwarded-For of a trusted proxy is used', proxied, '203.0.113.7', ['203.0.113.0/24'], 200],
    [
      'what the trusted proxy received itself is ignored',
      proxied,
      '203.0.113.7, 198.51.100.1',
      ['203.0.113.0/24'],
      '198.51.100.1',
    ],
    ['IPv6 works', proxied, '2001:db8::5', ['2001:db8::/32'], 200],
    ['IPv4 mapped to IPv6 works', proxied, '::ffff:203.0.113.7', ['203.0.113.0/24'], 200],
    ['an invalid value counts as the address of the proxy', proxied, 'unknown', ['203.0.113.0/24'], '127.0.0.1'],
    ['allowing the proxy does not allow its clients', proxied, '198.51.100.1', ['127.0.0.0/8'], '198.51.100.1'],
  ])('%s', async (_what, env, forwarded, networks, expected) => {
    expect(await seen(env as Record<string, string>, forwarded, networks)).toBe(expected);
  });
});

test.each(servers)('a new list from another process applies to the next call, on $dialect', async (server) => {
  const storage = await createStorage(server);
  onTestFinished(() => storage.drop());
  const env = { SERVICE_STORAGE_URL: storage.url, SERVICE_SECRET: 'a secret that two processes share' };
  const shop = await openShop({ env });
  onTestFinished(() => shop.stop());
  const { token } = await signedIn(shop);
  const config = loadConfig({ env: { ...env, SERVICE_DATA_DIR: makeFolder() } });
  const other = await openStore({ config, observe: () => undefined, clock: systemClock });
  onTestFinished(() => other.close());
  const ends: unknown[] = [];
  const call = async () => {
    const answer = await callTool(shop.mcpUrl, token, 'list', { collectionName: 'categories', fields: ['id'] });
    ends.push('json' in answer ? 'ok' : answer);
  };
  for (let round = 0; round < 3; round++) {
    await call();
    await allow(other, ['203.0.113.0/24']);
    await Promise.all([call(), call(), call()]);
    await allow(other, ['203.0.113.0/24', '127.0.0.1/32', '::1/128']);
  }
  const refused = { status: 403 };
  expect(ends).toEqual([1, 2, 3].flatMap(() => ['ok', refused, refused, refused]));
});

test('if the list cannot be read, every request is refused', async () => {
  const shop = await openShop();
  onTestFinished(() => shop.stop());
  await shop.store.close();
  const { status } = await fetch(`${new URL(shop.mcpUrl).origin}/.well-known/oauth-protected-resource/mcp`);
  expect(status).toBe(503);
});

test.each([
  ['10.0.0.0/8', '10.0.0.0/8'],
  ['192.0.2.7', '192.0.2.7/32'],
  ['2001:DB8::/32', '2001:db8::/32'],
  ['2001:db8:0:0::1', '2001:db8::1/128'],
  ['0.0.0.0/0', '0.0.0.0/0'],
])('%s is stored as %s', (written, network) => {
  expect(readNetwork(written)).toEqual({ network });
});

test('a network contains exactly its own addresses, of its own IP version', () => {
  const admits = createNetworkMatch(['10.0.0.0/8', '192.0.2.7/32', '2001:db8::/32']);
  const inside = ['10.0.0.0', '10.255.255.255', '192.0.2.7', '::ffff:10.1.2.3', '2001:db8:ffff::1'];
  const outside = ['11.0.0.0', '9.255.255.255', '192.0.2.6', '::1', '::a00:1', '2001:db9::', '', 'localhost'];
  expect([inside.filter((one) => !admits(one)), outside.filter(admits)]).toEqual([[], []]);
});
