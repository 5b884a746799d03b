// Application tokens at the gate of /mcp: their user and scopes, and that changes to either apply at once.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { servers } from '../databases.ts';
import { createStorage } from '../store/spares.ts';
import { bearer, callMcp } from './client.ts';
import { type OAuthTestServer, startServer } from './oauth-server.ts';

let late = 0;
const clock = { ...systemClock, now: () => Date.now() + late };
let testServer: OAuthTestServer;
beforeAll(async () => {
  testServer = await startServer({ clock });
});
afterAll(() => testServer.stop());
beforeEach(() => {
  late = 0;
});

let made = 0;
async function make(scopes: readonly string[], at = testServer, expiresAt: number | null = null) {
  const user = (await at.store.identity.findUserByEmail(at.account.email))!;
  return at.store.tokens.create({ userId: user.id, name: `program ${++made}`, scopes, expiresAt });
}
const call = async (secret: string) => callMcp(testServer.paths.resource, secret);

test('a token opens /mcp with the rights of its user and its scopes, under its own name', async () => {
  const { token, secret } = await make(['mcp:write']);
  const first = await testServer.gate.check(bearer(secret));
  const again = testServer.gate.check(bearer(secret));
  const user = await testServer.store.identity.findUserByEmail(testServer.account.email);
  expect([first.userId, first.clientId, first.clientName, [...first.scopes].sort(), again === first]).toEqual([
    user?.id,
    `token:${token.name}`,
    token.name,
    ['mcp:read', 'mcp:write'],
    true,
  ]);
  expect(await call(secret)).toMatchObject({ status: 200, body: expect.stringContaining('ada@example.com') });
});

test('a token for the public API is refused, and the error names the required scopes', async () => {
  const { secret } = await make(['all']);
  const response = await fetch(testServer.paths.resource, { method: 'POST', headers: bearer(secret).headers });
  expect([response.status, await response.text()]).toEqual([
    401,
    'The token is for the public API. A token for /mcp needs one of the scopes mcp:read, mcp:write, mcp:action.',
  ]);
  expect(response.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token", resource_metadata="/);
});

test('an expired token gets another error than an unknown one, even if it was cached', async () => {
  const { secret } = await make(['mcp:read'], testServer, Date.now() + 60_000);
  const before = await call(secret);
  late = 61_000;
  expect([before.status, await call(secret), await call(`svc_${'x'.repeat(43)}`)]).toEqual([
    200,
    { status: 401, body: "The token has expired. Create a new one with 'portico token create'." },
    { status: 401, body: "The token is unknown or revoked. Create a new one with 'portico token create'." },
  ]);
});

test('the DPoP scheme is refused: the token is not bound to a key', async () => {
  const { secret } = await make(['mcp:read']);
  const headers = { authorization: `DPoP ${secret}` };
  const response = await fetch(testServer.paths.resource, { method: 'POST', headers });
  expect([response.status, await response.text()]).toEqual([
    401,
    'The token is not bound to a key: send it as `Authorization: Bearer <token>`.',
  ]);
});

test('disabling and enabling a user apply to the next call, and a running call notices them', async () => {
  const { secret } = await make(['mcp:read']);
  const auth = await testServer.gate.check(bearer(secret));
  await testServer.store.identity.setDisabled(auth.userId, true);
  const renewing = testServer.gate.renew(auth).catch((error: Error) => error.message);
  const seen = [await testServer.gate.isCurrent(auth), await renewing, (await call(secret)).status];
  await testServer.store.identity.setDisabled(auth.userId, false);
  expect([...seen, (await call(secret)).status]).toEqual([false, 'The account is disabled or gone.', 401, 200]);
});

test('the last use is stored, at the latest when the process ends', async () => {
  const database = await servers[0]!.create();
  const one = await startServer({ storageUrl: database.url });
  const { token, secret } = await make(['mcp:read'], one);
  await one.gate.check(bearer(secret));
  await one.stop();
  const two = await startServer({ storageUrl: database.url, beside: one });
  const found = (await two.store.tokens.list()).find(({ id }) => id === token.id);
  await two.stop();
  await database.drop();
  expect(Math.abs(Date.now() - Number(found?.lastUsedAt))).toBeLessThan(60_000);
});

describe('revoking', () => {
  test.each(servers.map((server) => [server.dialect, server] as const))(
    'in one process applies to the next call in another, on %s',
    async (_dialect, server) => {
      const database = await createStorage(server);
      const one = await startServer({ storageUrl: database.url });
      const two = await startServer({ storageUrl: database.url, beside: one });
      try {
        const { token, secret } = await make(['mcp:read'], one);
        const there = `${two.local}/mcp`;
        const before = await callMcp(there, secret);
        const auth = await two.gate.check(bearer(secret));
        await one.store.tokens.revoke(token.id);
        const after = await callMcp(there, secret);
        expect([before.status, await two.gate.isCurrent(auth), after.status]).toEqual([200, false, 401]);
      } finally {
        await two.stop();
        await one.stop();
        await database.drop();
      }
    },
  );
});
