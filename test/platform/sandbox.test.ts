// Access to a sandbox. Only an agent over a sandbox of the same user accepts tokens of the testing client.
import { chmodSync, existsSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createTestingToken } from '../../src/oauth/tokens/session-token.ts';
import { readSandboxKey } from '../../src/remote-store/sandbox-key.ts';
import { createForestServerSandbox, type Sandbox } from '../../src/testing/index.ts';
import { connectSandbox, type SandboxControls } from '../../src/testing/sandbox.ts';
import { messageOf, secrets, shopAgent } from '../app/agent.ts';
import type { TestDatabase } from '../databases.ts';
import { whoAmI } from '../rest/front-end.ts';
import { startServer, type TestServer } from '../server.ts';
import { createNotes, envSecret, startAgent, startPlatform } from './platform-servers.ts';

const authSecret = 'the auth secret of the agent';
let notes: TestDatabase;
let sandbox: Sandbox;
let controls: SandboxControls;
let agent: TestServer;
const make = (options: { userId?: number; authSecret?: string; seconds?: number } = {}) =>
  createTestingToken({ authSecret, userId: 1, seconds: 60, clock: systemClock, ...options });
const enter = async (token: string, at: Pick<TestServer, 'address'> = agent) =>
  (await whoAmI(`${at.address}/service`, token)).status;

beforeAll(async () => {
  notes = await createNotes();
  sandbox = await createForestServerSandbox();
  const account = { email: 'tester@sandbox.example', password: 'has none' };
  agent = await startServer({
    database: notes.url,
    account,
    app: { authSecret },
    env: { SERVICE_SERVER_URL: sandbox.url, SERVICE_ENV_SECRET: envSecret },
  });
  controls = await connectSandbox({ serverUrl: sandbox.url, envSecret });
});
afterAll(async () => {
  await controls?.close();
  await agent?.stop();
  await sandbox?.close();
  await notes?.drop();
});

test('only its user can read the key file of a sandbox, and close removes it', async () => {
  const own = await createForestServerSandbox();
  const path = join(tmpdir(), `portico-sandbox-${own.port}.key`);
  const mode = statSync(path).mode & 0o777;
  const read = readSandboxKey(own.port);
  chmodSync(path, 0o644);
  const opened = readSandboxKey(own.port);
  chmodSync(path, 0o600);
  await own.close();
  writeFileSync(`${path}.other`, `${read}`, { mode: 0o600 });
  symlinkSync(`${path}.other`, path);
  const linked = readSandboxKey(own.port);
  rmSync(path);
  rmSync(`${path}.other`);
  expect([mode, read?.length, opened, linked, existsSync(path)]).toEqual([0o600, 43, undefined, undefined, false]);
});

test('the sandbox accepts its first environment, and refuses another secret', async () => {
  const other = () => connectSandbox({ serverUrl: sandbox.url, envSecret: 'another secret' });
  expect([await messageOf(other), (await controls.user()).id]).toEqual([
    `serverUrl: the platform at ${sandbox.url}/platform does not accept this envSecret. Use the same one on both.`,
    1,
  ]);
});

test('rights that a test overrides apply to the next call', async () => {
  const access = async () => (await agent.store.permissions.accessOf(1))!;
  const before = await access();
  await controls.overrideRights({
    collections: {
      notes: {
        browse: true,
        read: true,
        edit: false,
        add: false,
        delete: false,
        export: false,
        fields: { text: 'hidden' },
      },
    },
    scopes: { notes: { field: 'id', operator: 'Equal', value: 1 } },
  });
  const proxy = await access();
  await controls.overrideRights({ collections: null, scopes: { notes: null } });
  const after = await access();
  const rightsOf = (one: typeof before) => [one.can('edit', 'notes'), one.field('notes', 'text'), one.scope('notes')];
  expect([before, proxy, after].map(rightsOf)).toEqual([
    [true, 'write', null],
    [false, 'hidden', { field: 'id', operator: 'Equal', value: 1 }],
    [true, 'write', null],
  ]);
});

test('invalid rights are refused with the usual error', async () => {
  const wrong = { collections: { notes: { fields: { text: 'nonsense' } } } } as never;
  expect(await messageOf(() => controls.overrideRights(wrong))).toMatch(/notes\.fields\.text: expected read or hidden/);
});

test('a testing token opens an agent over a sandbox, for its user, until it expires, with its secret', async () => {
  expect([
    await enter(await make()),
    await enter(await make({ userId: 2 })),
    await enter(await make({ seconds: -1 })),
    await enter(await make({ authSecret: 'another secret' })),
  ]).toEqual([200, 401, 401, 401]);
});

test('a testing token opens no agent over a platform or over its own storage', async () => {
  const platform = await startPlatform(notes.url);
  onTestFinished(() => platform.stop());
  const production = await startServer({
    database: notes.url,
    account: platform.account,
    app: { authSecret },
    env: { SERVICE_SERVER_URL: platform.address, SERVICE_ENV_SECRET: envSecret },
  });
  onTestFinished(() => production.stop());
  const alone = await startServer({ database: notes.url, app: { authSecret } });
  onTestFinished(() => alone.stop());
  expect([await enter(await make(), production), await enter(await make(), alone)]).toEqual([401, 401]);
});

test('a sandbox key file for the port of a platform does not turn it into a sandbox', async () => {
  const platform = await startPlatform(notes.url);
  onTestFinished(() => platform.stop());
  const path = join(tmpdir(), `portico-sandbox-${new URL(platform.address).port}.key`);
  writeFileSync(path, 'k'.repeat(43), { mode: 0o600 });
  onTestFinished(() => rmSync(path, { force: true }));
  const over = await startAgent(notes.url, platform);
  onTestFinished(() => over.stop());
  expect([
    over.store.isSandbox,
    await messageOf(() => connectSandbox({ serverUrl: platform.address, envSecret })),
  ]).toEqual([undefined, `serverUrl: ${platform.address} is a platform, not a sandbox for tests.`]);
});

test('an agent that mounts nothing also sends its schema', async () => {
  const own = await createForestServerSandbox();
  onTestFinished(() => own.close());
  const { agent } = shopAgent({ serverUrl: own.url });
  await agent.start();
  const told = await connectSandbox({ serverUrl: own.url, envSecret: secrets.envSecret });
  onTestFinished(() => told.close());
  expect(JSON.parse(`${await told.schema()}`).collections.length).toBe(4);
});
