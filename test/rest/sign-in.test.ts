// Access to the agent's HTTP API: who gets in, by which login method, and which changes apply at once.
import { createHash, createHmac } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { openShop, type Shop } from '../app/shop.ts';
import { createBrowser } from '../oauth/flow.ts';
import { answerSignIn, beginSignIn, finishSignIn, frontOrigin, openAnswer, sessionToken, whoAmI } from './front-end.ts';

const other = 'https://other.example.com';
const authSecret = 'auth-secret-of-the-test';
let late = 0;
let shop: Shop;
let api: string;
beforeAll(async () => {
  shop = await openShop({
    env: { SERVICE_AGENT_ORIGINS: `${frontOrigin},${other}` },
    app: { authSecret, clock: { ...systemClock, now: () => Date.now() + late } },
  });
  api = `${shop.address}/service`;
});
afterAll(() => shop?.stop());

const events = () => shop.observed.flatMap((one) => (one.type === 'security' ? [one.event] : []));

test('health is public', async () => {
  const response = await fetch(`${api}/`);
  expect([response.status, await response.json(), (await fetch(api, { method: 'HEAD' })).status]).toEqual([
    200,
    { error: null, message: 'Agent is running' },
    200,
  ]);
});

test('a sign-in: the front end asks, the user answers in the console, the front end gets a session', async () => {
  const { url } = await beginSignIn(api, { body: { renderingId: 1 } });
  const callback = await answerSignIn(url, shop.account);
  const { status, body } = await finishSignIn(api, callback);
  expect(callback.origin + callback.pathname).toBe(`${frontOrigin}/authentication/callback`);
  expect([status, body.tokenData]).toMatchObject([
    200,
    { email: 'ada@example.com', firstName: 'Ada', permissionLevel: 'admin', renderingId: 1, exp: expect.any(Number) },
  ]);
  // Ids only: permissions are never read from a token.
  expect([decodeProtectedHeader(body.token), Object.keys(decodeJwt(body.token)).sort()]).toEqual([
    { alg: 'HS256', typ: 'portico-session+jwt' },
    ['aud', 'exp', 'iat', 'iss', 'sid', 'sub'],
  ]);
  const me = await whoAmI(api, body.token);
  expect([me.status, JSON.parse(me.text)]).toEqual([200, { tokenData: body.tokenData }]);
  expect(events()).toEqual(expect.arrayContaining(['agent.sign-in.allowed', 'agent.sign-in']));
});

test('the page shows who is signed in where, and its form can lead only to that front end', async () => {
  const { url } = await beginSignIn(api);
  const page = await openAnswer(url, shop.account);
  expect(page.html).toContain('Continue to admin.example.com?');
  expect(page.html).toContain('ada@example.com');
  expect(page.headers.get('content-security-policy')).toMatch(/; form-action 'self' https:\/\/admin\.example\.com$/);
  expect(page.headers.get('content-security-policy')).not.toContain(other);
});

test('viewing the page answers nothing; a refusal reaches the front end, and ends the sign-in', async () => {
  const { url } = await beginSignIn(api);
  await openAnswer(url, shop.account);
  const callback = await answerSignIn(url, shop.account, 'deny');
  const again = await openAnswer(url, shop.account);
  expect([callback.searchParams.get('error'), callback.searchParams.has('code'), again.status]).toEqual([
    'access_denied',
    false,
    404,
  ]);
});

test('a cross-site form gives no answer', async () => {
  const { url } = await beginSignIn(api);
  const browser = createBrowser();
  await openAnswer(url, shop.account, browser);
  const forged = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: browser.cookieHeader(new URL(url)), 'sec-fetch-site': 'cross-site' },
    body: new URLSearchParams({ action: 'allow', csrf: 'x' }),
  });
  expect([forged.status, (await openAnswer(url, shop.account)).status]).toEqual([403, 200]);
});

test('a code counts once; a second use ends the session made with it', async () => {
  const { url } = await beginSignIn(api);
  const callback = await answerSignIn(url, shop.account);
  const { body } = await finishSignIn(api, callback);
  const before = await whoAmI(api, body.token);
  const again = await finishSignIn(api, callback);
  const after = await whoAmI(api, body.token);
  expect([before.status, again.status, again.body.error, again.body.state, after.status]).toEqual([
    200,
    401,
    'invalid_grant',
    callback.searchParams.get('state'),
    401,
  ]);
});

test('a code is valid for the front end that asked, with its code verifier, for a minute', async () => {
  const verifier = 'v'.repeat(43);
  const codeChallenge = createHash('sha256').update(verifier).digest('base64url');
  const { url } = await beginSignIn(api, { body: { codeChallenge } });
  const callback = await answerSignIn(url, shop.account);
  const finish = (more: Record<string, string>, origin?: string) => finishSignIn(api, callback, more, origin);
  const outcomes = [
    await finish({ code_verifier: verifier }, other),
    await finish({}),
    await finish({ code_verifier: 'w'.repeat(43) }),
    await finish({ code_verifier: verifier, code: 'x'.repeat(43) }),
    await finish({ code_verifier: verifier, state: 'x'.repeat(43) }),
  ];
  late = 61_000;
  const expired = await finish({ code_verifier: verifier });
  late = 0;
  const good = await finish({ code_verifier: verifier });
  expect([outcomes.map(({ status }) => status), expired.status, good.status]).toEqual([
    [401, 401, 401, 401, 401],
    401,
    200,
  ]);
});

test('a sign-in for a rendering of another team is refused, and makes no session', async () => {
  const { url } = await beginSignIn(api, { body: { renderingId: 99 } });
  const { status, body } = await finishSignIn(api, await answerSignIn(url, shop.account));
  expect([status, body.error, body.token]).toEqual([403, 'access_denied', undefined]);
});

test.each([
  ['a front end that is not configured', {}, { origin: 'https://evil.example' }, 403, 'SERVICE_AGENT_ORIGINS'],
  ['no Origin, with two configured front ends', {}, { origin: undefined }, 403, 'SERVICE_AGENT_ORIGINS'],
  ['an invalid rendering', { renderingId: 'x' }, {}, 400, 'renderingId'],
  ['an invalid code challenge', { codeChallenge: 'short' }, {}, 400, 'codeChallenge'],
  ['a body that is not an object', [1], {}, 400, 'body'],
  ['a body that is not JSON', 'not json', {}, 400, 'does not parse'],
] as const)('begin with %s: refused with what to do', async (_, body, headers, status, told) => {
  const sent = Object.entries({ origin: frontOrigin, ...headers }).filter((one): one is [string, string] => !!one[1]);
  const response = await fetch(`${api}/authentication`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...Object.fromEntries(sent) },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const { errors } = (await response.json()) as { errors: { detail: string; status: number; name: string }[] };
  expect([response.status, errors[0]?.status, errors[0]?.detail]).toEqual([
    status,
    status,
    expect.stringContaining(told),
  ]);
});

test('a session ends on sign-out, at its expiry, with its user, and with a new password', async () => {
  const user = { email: 'eve@example.com', password: 'correct horse battery' };
  const account = await shop.addUser(user);
  const { id } = (await shop.store.identity.findUserByEmail(user.email))!;
  const tokens = await Promise.all([1, 2, 3].map(() => sessionToken(api, account)));
  const statuses = () => Promise.all(tokens.map(async (token) => (await whoAmI(api, token)).status));
  const seen = [await statuses()];
  const signOut = await fetch(`${api}/authentication/sign-out`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens[0]}` },
  });
  seen.push(await statuses());
  late = 3601_000;
  seen.push(await statuses());
  late = 0;
  await shop.store.identity.setPassword(id, 'another horse battery');
  seen.push(await statuses());
  const next = await sessionToken(api, { ...user, password: 'another horse battery' });
  const before = await whoAmI(api, next);
  await shop.store.identity.setDisabled(id, true);
  const disabled = await whoAmI(api, next);
  await shop.store.identity.setDisabled(id, false);
  expect([signOut.status, seen, before.status, disabled.status, (await whoAmI(api, next)).status]).toEqual([
    204,
    [
      [200, 200, 200],
      [401, 200, 200],
      [401, 401, 401],
      [401, 401, 401],
    ],
    200,
    401,
    401,
  ]);
});

test('rights are read from the storage, not from the token', async () => {
  const account = await shop.addUser({ email: 'rita@example.com', level: 'editor', role: 'Clerk' });
  const token = await sessionToken(api, account);
  const roleOf = async () => JSON.parse((await whoAmI(api, token)).text).tokenData.role;
  expect([await roleOf(), JSON.stringify(decodeJwt(token))]).toEqual(['Clerk', expect.not.stringContaining('Clerk')]);
});

// Each token has the claims of an active session, with one defect.
test.each([
  ['signed with the bare secret', { secret: authSecret }, 401],
  ['signed with another secret', { secret: 'another' }, 401],
  ['of the testing client', { typ: 'portico-testing+jwt' }, 401],
  ['without a type', { typ: undefined }, 401],
  ['for another audience', { aud: 'https://elsewhere.example/service' }, 401],
  ['of another issuer', { iss: 'https://elsewhere.example/service' }, 401],
  ['of another user', { sub: '2' }, 401],
  ['of an unknown session', { sid: 'x'.repeat(43) }, 401],
  ['that has expired', { exp: 1_000_000_000 }, 401],
  ['that is valid', {}, 200],
])('a token %s: %o', async (_, changes: { secret?: string; typ?: string | undefined } & JWTPayload, expected) => {
  const session = decodeJwt(await sessionToken(api, shop.account));
  const { secret, typ, ...more } = { typ: 'portico-session+jwt', ...changes };
  const key = secret
    ? new TextEncoder().encode(secret)
    : createHmac('sha256', authSecret).update('portico session token').digest();
  const header = { alg: 'HS256', ...(typ !== undefined && { typ }) };
  const token = await new SignJWT({ ...session, ...more }).setProtectedHeader(header).sign(key);
  const { status, headers } = await whoAmI(api, token);
  expect([status, headers.get('www-authenticate')]).toEqual([
    expected,
    expected === 200 ? null : 'Bearer realm="agent", error="invalid_token"',
  ]);
});

test('an unsigned token is refused', async () => {
  const session = decodeJwt(await sessionToken(api, shop.account));
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const none = `${part({ alg: 'none', typ: 'portico-session+jwt' })}.${part(session)}.`;
  expect((await whoAmI(api, none)).status).toBe(401);
  expect((await whoAmI(api, `${none}x`)).status).toBe(401);
});

test('with a session every unknown path returns 404 in JSON; without one 401', async () => {
  const token = await sessionToken(api, shop.account);
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(api + path, init);
    return [response.status, response.headers.get('content-type'), response.headers.get('allow')];
  };
  const headers = { authorization: `Bearer ${token}` };
  const json = 'application/json';
  expect([
    await ask('/customers'),
    await ask('/nothing', { headers }),
    await ask('/authentication/session', { method: 'DELETE', headers }),
    await ask('/authentication/session', { method: 'DELETE' }),
    await ask('/authentication', { headers }),
    await ask(`/authentication/session?access_token=${token}`),
    await ask('/authentication/session', { headers: { cookie: `service_session_token=${token}` } }),
  ]).toEqual([
    [401, json, null],
    [404, json, null],
    [405, json, 'GET, HEAD'],
    [401, json, null],
    [405, json, 'POST'],
    [401, json, null],
    [401, json, null],
  ]);
});

test('CORS allows the configured front ends: preflight, answers and refusals', async () => {
  const preflight = await fetch(`${api}/customers`, {
    method: 'OPTIONS',
    headers: {
      origin: frontOrigin,
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization, x-other',
      'access-control-request-private-network': 'true',
    },
  });
  const refused = await fetch(`${api}/customers`, { headers: { origin: frontOrigin } });
  const stranger = await fetch(`${api}/`, { headers: { origin: 'https://evil.example' } });
  const of = ({ status, headers }: Response) => [
    status,
    headers.get('access-control-allow-origin'),
    headers.get('access-control-allow-headers'),
    headers.get('access-control-allow-private-network'),
  ];
  expect([of(preflight), of(refused), of(stranger), refused.headers.get('vary')]).toEqual([
    [204, frontOrigin, 'authorization', 'true'],
    [401, frontOrigin, null, null],
    [403, null, null, null],
    'Origin',
  ]);
  expect([refused.headers.get('x-service-correlation-id'), stranger.headers.get('x-service-correlation-id')]).toEqual([
    expect.stringMatching(/^[\da-f-]{36}$/),
    expect.stringMatching(/^[\da-f-]{36}$/),
  ]);
});
