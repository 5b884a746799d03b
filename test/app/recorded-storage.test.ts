// A storage that version a2e641e wrote keeps its users, grants, row scopes and runs. It was recorded with a clerk of a team
// that sees the orders of Norway only, an application token, a connected assistant, and a run in each of two states.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { startServer, type TestServer } from '../server.ts';
import { runSql } from '../sql/schemas.ts';
import { callTool } from './call.ts';

/** The recorded tokens have since expired. */
const now = 1_795_626_347_450;
const origin = 'http://127.0.0.1:39311';
const token = 'svc_86HUrFxn28vzTAzo8iT7OfNCqGJnYo2tZ4YF8c1GYl4';
const clientId = 'WCTCXZ02gjX1_U0oyM1-K3n6w4-uM9h7';
const refreshToken = 'wV8P94BnYC92-C6kx_3v2XQ84NP1qxGdNe1YyWTXefh';
const account = { email: 'kim@example.com', password: 'correct horse battery' };
const runs = { waiting: '43d1223d-b2ba-4f96-87a4-8f9d423c8a4e', done: '7513dab6-d4a6-4b93-9b10-02afacef9960' };

const setDate = () => void vi.useFakeTimers({ toFake: ['Date'], now });
let folder: string;
let server: TestServer;
let mcpUrl: string;
beforeAll(async () => {
  setDate();
  folder = mkdtempSync(join(tmpdir(), 'portico-recorded-'));
  const storage = join(folder, 'storage.sqlite');
  writeFileSync(storage, gunzipSync(readFileSync('test/app/recorded/a2e641e.sqlite.gz')));
  const database = `sqlite:${join(folder, 'shop.sqlite')}`;
  await runSql({ dialect: 'sqlite', url: database, drop: async () => {} }, [
    'CREATE TABLE orders (id INTEGER PRIMARY KEY, label VARCHAR(40) NOT NULL, country CHAR(2) NOT NULL)',
    "INSERT INTO orders VALUES (1, 'boots', 'NO'), (2, 'hats', 'FR'), (3, 'socks', 'NO')",
  ]);
  const env = {
    SERVICE_STORAGE_URL: `sqlite:${storage}`,
    SERVICE_SECRET: 'the secret of the recorded storage',
    SERVICE_PUBLIC_URL: origin,
  };
  server = await startServer({ database, env, account });
  mcpUrl = `${server.address}/mcp`;
});
beforeEach(setDate);
afterAll(async () => {
  await server?.stop();
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

const list = { collectionName: 'orders', fields: ['label'] };
const norwegian = { json: { rows: [['boots'], ['socks']] } };

test('the users keep their passwords, teams and roles', async () => {
  const { identity, permissions } = server.store;
  expect((await identity.listUsers()).map(({ email }) => email)).toEqual(['ada@example.com', account.email]);
  const user = await identity.verifyPassword(account.email, account.password);
  expect(user).toBeDefined();
  expect((await permissions.accessOf(user!.id))?.caller).toMatchObject({ team: 'Norway', role: 'Clerk' });
});

test('the application tokens are accepted, with the row scope of their user', async () => {
  expect(await callTool(mcpUrl, token, 'list', list)).toMatchObject(norwegian);
});

test('the refresh tokens work', async () => {
  const { statusCode, body } = await request(`${server.address}/oauth/token`, {
    method: 'POST',
    headers: { host: new URL(origin).host, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: refreshToken,
    }).toString(),
  });
  const answer = (await body.json()) as { readonly access_token: string };
  expect(statusCode).toBe(200);
  expect(await callTool(mcpUrl, answer.access_token, 'list', list)).toMatchObject(norwegian);
});

test('the workflow runs keep their states', async () => {
  expect(await server.store.runs.find(runs.waiting)).toMatchObject({ state: 'awaiting-input', recordId: '1' });
  expect(await server.store.runs.find(runs.done)).toMatchObject({ state: 'succeeded', recordId: '1' });
  expect(await server.store.runs.steps(runs.done)).toHaveLength(1);
});
