// The public API: which tokens it accepts, what each allows, and its rate limits.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { routes } from '../../src/api/routes.ts';
import { systemClock } from '../../src/core/clock.ts';
import { openShop, type Shop } from '../app/shop.ts';

let late = 0;
let shop: Shop;
let made = 0;
const project = encodeURIComponent('My project');
beforeAll(async () => {
  shop = await openShop({
    env: { SERVICE_API_PER_MINUTE: '5', SERVICE_API_PER_HOUR: '8' },
    app: { clock: { ...systemClock, now: () => Date.now() + late } },
  });
});
afterAll(() => shop?.stop());

async function make(scopes: readonly string[], email = shop.account.email, expiresAt: number | null = null) {
  const user = (await shop.store.identity.findUserByEmail(email))!;
  return shop.store.tokens.create({ userId: user.id, name: `program ${++made}`, scopes, expiresAt });
}

async function ask(path: string, secret?: string, init: RequestInit = {}) {
  const headers = { ...init.headers, ...(secret !== undefined && { authorization: `Bearer ${secret}` }) };
  const response = await fetch(`${shop.address}/v1${path}`, { ...init, headers });
  const text = await response.text();
  const body = text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>);
  return { status: response.status, headers: response.headers, body };
}

test('GET /token describes the token of the request', async () => {
  const expiresAt = Date.now() + 60_000;
  const { token, secret } = await make(['notes:read'], undefined, expiresAt);
  const { status, body } = await ask('/token', secret);
  expect([status, body]).toEqual([
    200,
    {
      object: 'token',
      id: token.id,
      name: token.name,
      level: 'read-only',
      scopes: ['notes:read'],
      createdAt: new Date(token.createdAt).toISOString(),
      expiresAt: new Date(expiresAt).toISOString(),
      user: { object: 'user', id: token.userId, email: shop.account.email },
    },
  ]);
  const { secret: writer } = await make(['notes:write']);
  expect((await ask('/token', writer)).body).toMatchObject({ level: 'read-write' });
});

test('a missing, expired, revoked, unknown or MCP token gets 401 with error, message, code and the reason', async () => {
  const { secret: expired } = await make(['all'], undefined, Date.now() + 10_000);
  const { secret: mcp } = await make(['mcp:read']);
  const { token, secret: revoked } = await make(['all']);
  const before = await ask('/token', revoked);
  await shop.store.tokens.revoke(token.id);
  late = 11_000;
  const [none, old, other, gone, unknown] = [
    await ask('/token'),
    await ask('/token', expired),
    await ask('/token', mcp),
    await ask('/token', revoked),
    await ask('/nothing', `svc_${'x'.repeat(43)}`),
  ];
  late = 0;
  expect(before.status).toBe(200);
  expect([none, old, other, gone, unknown].map(({ status, body }) => [status, body])).toEqual(
    ['Send an application token', 'has expired', 'is for /mcp', 'unknown or revoked', 'unknown or revoked'].map(
      (told) => [401, { error: 'Unauthorized', message: expect.stringContaining(told), code: 'UNAUTHENTICATED' }],
    ),
  );
  expect([none, old].map(({ headers }) => headers.get('www-authenticate'))).toEqual([
    'Bearer realm="public api"',
    'Bearer realm="public api", error="invalid_token"',
  ]);
});

test('a call needs the scope and the Admin role, and the error names the missing one', async () => {
  await shop.addUser({ email: 'edda@example.com', level: 'editor' });
  const [admin, narrow, editor] = [
    await make(['all']),
    await make(['notes:read', 'notes:write']),
    await make(['all'], 'edda@example.com'),
  ];
  const path = `/project/${project}/tokens`;
  const [good, scope, role] = [
    await ask(path, admin.secret),
    await ask(path, narrow.secret),
    await ask(path, editor.secret),
  ];
  expect([good.status, good.body?.data]).toEqual([
    200,
    expect.arrayContaining([
      expect.objectContaining({ id: admin.token.id }),
      expect.objectContaining({ id: editor.token.id }),
    ]),
  ]);
  expect(JSON.stringify(good.body)).not.toContain('svc_');
  expect([scope.status, scope.body, role.status, role.body]).toEqual([
    403,
    { error: 'Forbidden', message: 'The token needs the scope all.', code: 'DENIED' },
    403,
    { error: 'Forbidden', message: expect.stringContaining('Admin role'), code: 'DENIED' },
  ]);
  const gone = await ask(`${path}/${narrow.token.id}`, admin.secret, { method: 'DELETE' });
  const again = await ask(`${path}/${narrow.token.id}`, admin.secret, { method: 'DELETE' });
  expect([gone.status, gone.body, again.status, (await ask('/token', narrow.secret)).status]).toEqual([
    204,
    undefined,
    404,
    401,
  ]);
});

test('project names are case-sensitive, unknown paths get 404 and wrong methods 405, in JSON', async () => {
  const { secret } = await make(['all']);
  const asked = [
    await ask(`/project/${project.toUpperCase()}/tokens`, secret),
    await ask('/nothing', secret),
    await ask('/token', secret, { method: 'POST' }),
    await ask(`/project/${project}/tokens/x`, secret, { method: 'DELETE' }),
    await ask('/project/%zz/tokens', secret),
  ];
  expect(asked.map(({ status, body }) => [status, body?.code])).toEqual([
    [404, 'NOT_FOUND'],
    [404, 'NOT_FOUND'],
    [405, 'METHOD_NOT_ALLOWED'],
    [400, 'INVALID_ARGUMENT'],
    [400, 'INVALID_ARGUMENT'],
  ]);
  expect(asked[2]?.headers.get('allow')).toBe('GET, HEAD');
});

test('calls are counted per token, every response has the rate limit headers, and calls over the limit get 429', async () => {
  const { secret } = await make(['notes:read']);
  const { secret: other } = await make(['notes:read']);
  const answers = [];
  for (let call = 0; call < 6; call++) answers.push(await ask(call === 1 ? '/nothing' : '/token', secret));
  expect(answers.map(({ status, headers }) => [status, headers.get('x-ratelimit-remaining')])).toEqual([
    [200, '4'],
    [404, '3'],
    [200, '2'],
    [200, '1'],
    [200, '0'],
    [429, '0'],
  ]);
  const last = answers[5]!;
  const wait = Number(last.headers.get('retry-after'));
  expect([last.headers.get('x-ratelimit-limit'), wait > 0 && wait <= 60, last.body?.retry_after]).toEqual([
    '5',
    true,
    wait,
  ]);
  expect(Number(last.headers.get('x-ratelimit-reset')) - Date.now() / 1000).toBeLessThanOrEqual(61);
  expect((await ask('/token', other)).status).toBe(200);
});

test('the OpenAPI document is public and lists every route', async () => {
  const { status, body } = await ask('/openapi.json');
  expect([status, body?.openapi, Object.keys(body?.paths as object)]).toEqual([
    200,
    '3.1.0',
    [...new Set(routes.map(({ path }) => path)), '/v1/webhooks/workflows/{signedId}'],
  ]);
});
