// The schema that an agent sends to its platform, and the URL of the platform endpoint in a host application.
// agent in a host application finds another agent's endpoint.

import type { AddressInfo } from 'node:net';
import express from 'express';
import { expect, onTestFinished, test } from 'vitest';
import { withStore } from '../../src/cli/storage.ts';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { createMemoryDataSource } from '../../src/index.ts';
import { connectStore } from '../../src/remote-store/connect.ts';
import { openStore } from '../../src/store/open.ts';
import { createForestServerSandbox } from '../../src/testing/index.ts';
import { connectSandbox } from '../../src/testing/sandbox.ts';
import { shopTables } from '../agent/shop.ts';
import { emptyAgent, messageOf, secrets, shopAgent } from '../app/agent.ts';
import { envSecret } from './platform-servers.ts';

async function openSandbox() {
  const sandbox = await createForestServerSandbox();
  onTestFinished(() => sandbox.close());
  const controls = await connectSandbox({ serverUrl: sandbox.url, envSecret: secrets.envSecret });
  onTestFinished(() => controls.close());
  const namesTold = async () =>
    (JSON.parse((await controls.schema()) ?? '{"collections":[]}').collections as { name: string }[]).map(
      ({ name }) => name,
    );
  return { sandbox, controls, namesTold };
}

test('generateSchemaOnly sends nothing, and a restart sends the changed schema', async () => {
  const { sandbox, namesTold } = await openSandbox();
  const tables = shopTables.slice(0, 2);
  const { agent } = emptyAgent({ serverUrl: sandbox.url });
  agent.addDataSource(async () => (await createMemoryDataSource('shop', tables)({} as never)) as never);
  await agent.generateSchemaOnly();
  const generated = await namesTold();
  await agent.start();
  const started = await namesTold();
  tables.push(...shopTables.slice(2, 3));
  await agent.restart();
  expect([generated, started.length, (await namesTold()).length]).toEqual([[], 2, 3]);
});

test('a restart continues while the platform is unreachable, and logs that the schema was not sent', async () => {
  const { sandbox } = await openSandbox();
  const { agent, logged } = shopAgent({ serverUrl: sandbox.url });
  await agent.start();
  await sandbox.close();
  await agent.restart();
  expect(logged.map(([, message]) => message)).toContain(
    'Failed to send the new schema to the platform. The next start or restart sends it.',
  );
});

test('an agent with its own storage keeps its schema there', async () => {
  const { agent, folder, schemaPath } = shopAgent();
  agent.mountAiMcpServer().mountOnStandaloneServer(0);
  await agent.start();
  await agent.stop();
  const config = loadConfig({ env: { SERVICE_DATA_DIR: `${folder}/data` } });
  const store = await openStore({ config, observe: () => undefined, clock: systemClock });
  onTestFinished(() => store.close());
  const { readFileSync } = await import('node:fs');
  expect((await store.schema.get())?.document).toBe(readFileSync(schemaPath, 'utf8'));
});

test('in a host application the platform endpoint is under the prefix, and the host keeps its own /platform', async () => {
  const host = express();
  host.get('/platform', (_req, res) => void res.send('of the host'));
  const server = host.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { agent } = shopAgent({
    envSecret,
    settings: { publicUrl: address, platformDoor: true, storageUrl: 'sqlite::memory:' },
  });
  agent.mountAiMcpServer().mountOnExpress(host);
  await agent.start();
  const options = { envSecret, clock: systemClock, observe: () => undefined };
  const store = await connectStore({ serverUrl: `${address}/service/_platform`, ...options });
  onTestFinished(() => store.close());
  const elsewhere = await messageOf(() => connectStore({ serverUrl: address, ...options }));
  expect([
    (await store.identity.place()).environment,
    elsewhere,
    await (await fetch(`${address}/platform`)).text(),
  ]).toEqual(['Production', expect.stringMatching(/there is no platform at/), 'of the host']);
});

test('commands that administer a storage name the server to run them on', async () => {
  const config = loadConfig({ env: { SERVICE_SERVER_URL: 'https://platform.example.com' } });
  expect(await messageOf(() => withStore(config, async () => {}))).toBe(
    'SERVICE_SERVER_URL: https://platform.example.com keeps users, permissions and logs. Run this command there.',
  );
});
