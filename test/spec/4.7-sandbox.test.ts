// Behaviour 4.7: the local sandbox that replaces the platform in tests of an agent.
import { once } from 'node:events';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createMemoryDataSource } from '../../src/index.ts';
import { createTestingToken } from '../../src/oauth/tokens/session-token.ts';
import { createForestServerSandbox, createServiceServerSandbox, type Sandbox } from '../../src/testing/index.ts';
import { connectSandbox } from '../../src/testing/sandbox.ts';
import { shopTables } from '../agent/shop.ts';
import { emptyAgent, messageOf, secrets } from '../app/agent.ts';
import { whoAmI } from '../rest/front-end.ts';

async function open(port?: number): Promise<Sandbox> {
  const sandbox = await createForestServerSandbox(port);
  onTestFinished(() => sandbox.close());
  return sandbox;
}

function agentOf(sandbox: Sandbox, options: Parameters<typeof emptyAgent>[0] = {}) {
  const { agent } = emptyAgent({ serverUrl: sandbox.url, ...options });
  agent.addDataSource(createMemoryDataSource('shop', shopTables)).mountAiMcpServer();
  return agent.mountOnStandaloneServer(0);
}

const makeToken = (userId = 1, authSecret = secrets.authSecret) =>
  createTestingToken({ authSecret, userId, seconds: 60, clock: systemClock });

test('createForestServerSandbox(port): starts a local sandbox mimicking the platform servers', async () => {
  const { port } = await open();
  const taken = await messageOf(() => createForestServerSandbox(port));
  const wrong = await messageOf(() => createForestServerSandbox(-1));
  for (const port of [65_536, 1.5, Number.NaN, '0', null])
    expect(await messageOf(() => createForestServerSandbox(port as number)), `${port}`).toBe(wrong);
  const sandbox = await open(0);
  const agent = agentOf(sandbox);
  const { server } = await agent.start();
  const told = await connectSandbox({ serverUrl: sandbox.url, envSecret: secrets.envSecret });
  onTestFinished(() => told.close());
  const { status, text } = await whoAmI(`${server!.address}/service`, await makeToken());
  expect([
    taken,
    wrong,
    new URL(sandbox.url).port,
    JSON.parse(`${await told.schema()}`).collections.length,
    status,
    JSON.parse(text).tokenData,
  ]).toMatchObject([
    expect.stringMatching(/^Port \d+ is in use/),
    'createForestServerSandbox: the port must be a number from 0 to 65535.',
    `${sandbox.port}`,
    4,
    200,
    { id: 1, email: 'tester@sandbox.example', role: 'Administrator', permissionLevel: 'admin' },
  ]);
});

test('createForestServerSandbox: two concurrently without a port, the last port too, only on this machine; bound to the first environment', async () => {
  const [one, other] = [await open(), await open()];
  const last = await open(65_535);
  expect([one.port === other.port, last.port, one.url, last.url]).toEqual([
    ...[false, 65_535, `http://127.0.0.1:${one.port}`, 'http://127.0.0.1:65535'],
  ]);
  const { server } = await agentOf(one).start();
  const stranger = await messageOf(() => agentOf(one, { envSecret: 'of another environment' }).start());
  const { server: second } = await agentOf(other, { envSecret: 'of another environment' }).start();
  const statuses = [];
  for (const { address } of [server!, second!])
    statuses.push((await whoAmI(`${address}/service`, await makeToken())).status);
  // Only the token of the one user, signed with the authSecret, is valid.
  statuses.push((await whoAmI(`${server!.address}/service`, await makeToken(2))).status);
  statuses.push((await whoAmI(`${server!.address}/service`, await makeToken(1, 'another secret'))).status);
  expect([statuses, stranger]).toEqual([[200, 200, 401, 401], expect.stringMatching(/does not accept this envSecret/)]);
});

test('createForestServerSandbox: has close()', async () => {
  const sandbox = await createServiceServerSandbox();
  const agent = agentOf(sandbox);
  await agent.start();
  await agent.stop();
  await sandbox.close();
  await sandbox.close();
  await sandbox.stop();
  expect(await messageOf(() => agentOf(sandbox).start())).toMatch(
    `serverUrl: no server answers at ${sandbox.url}/platform (ECONNREFUSED). Start the platform there`,
  );
  // The port is released.
  const another = await open(sandbox.port);
  expect(another.port).toBe(sandbox.port);
});

test('createForestServerSandbox: an unknown path returns 404 with a message', async () => {
  const { url } = await open();
  const response = await fetch(`${url}/service/authentication?x=1`, { method: 'PUT' });
  expect([response.status, await response.json()]).toEqual([
    404,
    { errors: [{ name: 'NotFoundError', status: 404, detail: 'Sandbox: no such route PUT /service/authentication' }] },
  ]);
});

test('createForestServerSandbox: close() ends the connections that clients keep open, before and during a request', async () => {
  const sandbox = await open();
  const unfinished = 'POST /platform/v1/schema/get HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n';
  const ends = [];
  for (const sent of ['', unfinished]) {
    const socket = connect(sandbox.port, '127.0.0.1');
    socket.on('error', () => undefined).resume();
    ends.push(new Promise((resolve) => socket.once('close', resolve)));
    await once(socket, 'connect');
    if (sent !== '') await promisify(socket.write.bind(socket) as (text: string, done: () => void) => void)(sent);
  }
  await Promise.all([sandbox.close(), ...ends]);
  expect(await messageOf(() => fetch(sandbox.url))).toMatch(/fetch failed/);
});
