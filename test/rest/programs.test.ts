// Programs at the agent's HTTP API: they send an application token in place of a session. test/policy checks every
// operation with their tokens; these tests are about the tokens themselves.
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createSessionAuthenticator } from '../../src/oauth/tokens/session-gate.ts';
import { createSessionTokens } from '../../src/oauth/tokens/session-token.ts';
import { all, openWorkshop, type Workshop } from './workshop.ts';

const everyScope = ['records:read', 'records:write', 'records:action'];
let place: Workshop;
let kim: number;
beforeAll(async () => {
  place = await openWorkshop();
  kim = (await place.store.identity.findUserByEmail('kim@example.test'))!.id;
});
afterAll(() => place?.stop());
beforeEach(() => place.permit({ '*': all }));

let made = 0;
const make = (scopes: readonly string[] = everyScope, at = place, name = `program ${++made}`) =>
  at.store.tokens.create({ userId: kim, name, scopes });

async function open(scopes?: readonly string[]) {
  const { token, secret } = await make(scopes);
  const call = (method: string, path: string, body?: unknown) =>
    place.call(method, path, body, { authorization: `Bearer ${secret}` });
  return { token, secret, call };
}

const order = (attributes: object, id?: string) => ({ data: { type: 'orders', attributes, ...(id && { id }) } });
const ids = (...selected: readonly string[]) => ({ data: { attributes: { ids: selected, values: {} } } });

test('a program reads, creates, changes, exports and deletes records', async () => {
  const { call } = await open();
  const created = await call('POST', '/orders', order({ id: 9, label: 'gloves', total: 5 }));
  const changed = await call('PATCH', '/orders/9', order({ total: 6 }, '9'));
  const [one, csv, count] = [
    await call('GET', '/orders/9?fields[orders]=label,total'),
    await call('GET', '/orders.csv?fields[orders]=id,label&sort=id'),
    await call('GET', '/orders/count'),
  ];
  const deleted = await call('DELETE', '/orders/9');
  expect([created, changed, one, csv, count, deleted].map(({ status }) => status)).toEqual([
    200, 200, 200, 200, 200, 204,
  ]);
  expect([one.body, csv.text, count.body]).toEqual([
    expect.objectContaining({
      data: expect.objectContaining({ id: '9', attributes: { id: 9, label: 'gloves', total: 6 } }),
    }),
    expect.stringContaining('9,gloves'),
    { count: 5 },
  ]);
  expect(await place.rows('SELECT id FROM orders ORDER BY id')).toEqual(['1', '2', '3', '4']);
});

test('a token that was used ends at its expiry', async () => {
  const expiresAt = Date.now() + 5000;
  const { secret } = await place.store.tokens.create({ userId: kim, name: 'brief', scopes: everyScope, expiresAt });
  const call = async () =>
    (await place.call('GET', '/orders', undefined, { authorization: `Bearer ${secret}` })).status;
  expect(await call()).toBe(200);
  await new Promise((resolve) => setTimeout(resolve, expiresAt - Date.now() + 50));
  expect(await call()).toBe(401);
});

test('the activity log names the user and the token, and the token shows its last use', async () => {
  const { secret } = await make(everyScope, place, 'stock robot');
  const call = (method: string, path: string, body?: unknown) =>
    place.call(method, path, body, { authorization: `Bearer ${secret}` });
  await call('GET', '/orders');
  await call('PATCH', '/orders/2', order({ label: 'hats' }, '2'));
  const entries = (await place.entries()).filter(({ clientName }) => clientName === 'stock robot');
  // An entry of a read is written in the background.
  expect(entries.sort((a, b) => `${a.action}`.localeCompare(`${b.action}`))).toEqual([
    expect.objectContaining({ userId: kim, clientId: 'token:stock robot', action: 'list', type: 'read' }),
    expect.objectContaining({ userId: kim, clientId: 'token:stock robot', action: 'update', recordIds: ['2'] }),
  ]);
  expect(JSON.stringify([entries, place.observed])).not.toContain(secret);
  const lastUse = async () => (await place.store.tokens.list()).find(({ name }) => name === 'stock robot')?.lastUsedAt;
  await expect.poll(lastUse, { timeout: 20_000, interval: 200 }).toBeGreaterThan(Date.now() - 60_000);
});

test('a token counts only in the Authorization header', async () => {
  const { secret } = await make();
  const ask = async (path: string, headers: Readonly<Record<string, string>> = {}) =>
    (await fetch(`${place.api}${path}`, { headers })).status;
  expect([
    await ask('/orders', { authorization: `bearer  ${secret}` }),
    await ask(`/orders?access_token=${secret}`),
    await ask(`/orders?token=${secret}`),
    await ask('/orders', { cookie: `token=${secret}; authorization=Bearer ${secret}` }),
    await ask('/orders', { 'x-api-key': secret }),
    await ask('/orders', { authorization: `Basic ${btoa(`${secret}:`)}` }),
    await ask('/orders', { authorization: secret }),
    await ask('/orders', { authorization: `Bearer ${secret}x` }),
  ]).toEqual([200, 401, 401, 401, 401, 401, 401, 401]);
});

test('a token of another API is refused with the scopes that this one needs', async () => {
  for (const [scopes, named] of [
    [['mcp:read', 'mcp:write', 'mcp:action'], '/mcp'],
    [['all'], 'the public API'],
  ] as const) {
    const { call } = await open(scopes);
    const { status, body, headers } = await call('GET', '/orders');
    const detail = `The token is for ${named}. A token for the agent's HTTP API needs one of the scopes records:read, records:write, records:action.`;
    expect([status, body]).toEqual([401, { errors: [expect.objectContaining({ code: 'UNAUTHENTICATED', detail })] }]);
    expect(headers.get('www-authenticate')).toBe('Bearer realm="agent", error="invalid_token"');
  }
});

// RFC 6750 section 3.1
test('a call beyond the scopes of the token gets 403 with the missing scope, also in the log', async () => {
  const { call, token } = await open(['records:read']);
  const writer = await open(['records:write']);
  const refused = [
    [await call('PATCH', '/orders/1', order({ total: 1 }, '1')), 'records:write'],
    [await call('DELETE', '/orders', ids('1')), 'records:write'],
    [await call('POST', '/orders/1/relationships/tags', { data: [{ type: 'tags', id: '3' }] }), 'records:write'],
    [await call('POST', '/_actions/orders/1/bundle', ids('1')), 'records:action'],
    [await writer.call('POST', '/_actions/orders/1/bundle', ids('1')), 'records:action'],
  ] as const;
  for (const [{ status, body, headers }, scope] of refused) {
    const detail = `This call needs the scope ${scope}. Create an application token with it.`;
    expect([status, body, headers.get('www-authenticate')]).toEqual([
      403,
      { errors: [{ name: 'ForbiddenError', status: 403, code: 'INSUFFICIENT_SCOPE', detail }] },
      `Bearer realm="agent", error="insufficient_scope", scope="${scope}"`,
    ]);
  }
  expect([await place.rows('SELECT total FROM orders WHERE id = 1'), place.ran]).toEqual([['10'], []]);
  const logged = (await place.entries()).filter(({ clientName }) => clientName === token.name);
  expect(logged.map(({ outcome, code }) => [outcome, code])).toEqual(
    [1, 2, 3, 4].map(() => ['denied', 'INSUFFICIENT_SCOPE']),
  );
  expect((await writer.call('GET', '/orders/1')).status).toBe(200);
});

test('a program cannot answer a question, so `ask` keeps it from the write that a user in a front end may make', async () => {
  const { call } = await open();
  const asks = { add: 'ask', edit: 'ask', delete: 'ask' } as const;
  await place.permit({ '*': all, orders: { ...all, approval: asks }, taggings: { ...all, approval: asks } });
  const given = await Promise.all([
    call('POST', '/orders', order({ id: 11, label: 'scarf', total: 5 })),
    call('PATCH', '/orders/1', order({ total: 1 }, '1')),
    call('DELETE', '/orders/4'),
    call('POST', '/orders/4/relationships/tags', { data: [{ type: 'tags', id: '3' }] }),
    call('POST', '/_actions/orders/1/bundle', ids('1')),
  ]);
  await place.permit({ '*': all });
  // The policy of this action is in code.
  given.push(await call('POST', '/_actions/orders/8/asked', ids('1')));
  expect(given.map(({ status, text }) => [status, /"code":"(\w+)"/.exec(text)?.[1]])).toEqual(
    given.map(() => [403, 'NEEDS_APPROVAL']),
  );
  expect(await place.rows('SELECT total FROM orders ORDER BY id')).toEqual(['10', '20', '30', '40']);
  await place.permit({ '*': all, orders: { ...all, approval: asks } });
  expect((await place.call('PATCH', '/orders/1', order({ total: 10 }, '1'))).status).toBe(200);
});

test('sessions and the language model are only for users who are signed in', async () => {
  const { call } = await open();
  const answers = [
    await call('GET', '/authentication/session'),
    await call('POST', '/authentication/sign-out'),
    await call('POST', '/_internal/ai/query', { messages: [{ role: 'user', content: 'Hello' }] }),
  ];
  const detail = 'Application tokens cannot make this call, only users who are signed in to a front end.';
  expect(answers.map(({ status, body }) => [status, body])).toEqual(
    answers.map(() => [403, { errors: [{ name: 'ForbiddenError', status: 403, code: 'DENIED', detail }] }]),
  );
});

test('revoking a token ends its access with the next call', async () => {
  const { token, secret, call } = await open();
  expect((await call('GET', '/orders')).status).toBe(200);
  await place.store.tokens.revoke(token.id);
  const { status, text } = await call('GET', '/orders');
  expect([status, text]).toEqual([401, expect.stringContaining('The token is unknown or revoked.')]);
  expect(place.observed.filter((one) => one.type === 'security').map(({ event }) => event)).toContain(
    'agent.token-refused',
  );
  expect(JSON.stringify(place.observed)).not.toContain(secret);
});

test('the tokens of a user share their calls per minute, and sessions of front ends do not count', async () => {
  const limited = await openWorkshop({ env: { SERVICE_MCP_REQUESTS_PER_MINUTE: '2' } });
  onTestFinished(() => limited.stop());
  const secrets = [(await make(['records:read'], limited)).secret, (await make(['records:read'], limited)).secret];
  const ask = (secret: string) =>
    limited.call('GET', '/orders/count', undefined, { authorization: `Bearer ${secret}` });
  const answers = [await ask(secrets[0]!), await ask(secrets[1]!), await ask(secrets[0]!)];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(Number(answers[2]!.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await limited.call('GET', '/orders/count')).status).toBe(200);
});

test('with single sign-on, only a token that was created through it works', async () => {
  const { store } = place;
  const tokens = createSessionTokens({ secrets: async () => ['a'], address: place.api, clock: systemClock });
  const gate = createSessionAuthenticator({ store, tokens, clock: systemClock, sso: true });
  const through = await store.tokens.create({ userId: kim, name: 'through', scopes: ['records:read'], sso: true });
  const signedIn = await gate.check(`Bearer ${through.secret}`);
  expect([signedIn.userId, signedIn.sessionId, signedIn.clientName]).toEqual([kim, null, 'through']);
  const { secret } = await make(['records:read']);
  await expect(gate.check(`Bearer ${secret}`)).rejects.toMatchObject({
    code: 'UNAUTHENTICATED',
    message: expect.stringContaining('Single sign-on is required'),
  });
});
