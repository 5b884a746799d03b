// Spec 4.7: the test client, and the whole way of a test.
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createAgent, createMemoryDataSource } from '../../src/index.ts';
import { createAgentTestClient, createForestServerSandbox } from '../../src/testing/index.ts';
import { shopTables } from '../agent/shop.ts';
import { makeFolder, messageOf } from '../app/agent.ts';

test('createAgentTestClient(options of 2.9): returns a client with collection(name).list() to simulate frontend requests; workflow: start sandbox, start the agent with the platform server address pointing to the sandbox, connect the client, assert, close the sandbox', async () => {
  const folder = makeFolder();
  const schemaPath = join(folder, 'schema.json');
  const secrets = { authSecret: 'auth secret of the test', envSecret: 'env secret of the test' };

  const sandbox = await createForestServerSandbox(0);
  const agent = createAgent({
    ...secrets,
    serverUrl: sandbox.url,
    schemaPath,
    loggerLevel: 'Error',
    settings: { dataDir: folder },
  })
    .addDataSource(createMemoryDataSource('shop', shopTables))
    .customizeCollection('customers', (customers) =>
      customers.addSegment('Placed', { field: 'city', operator: 'Present' }),
    )
    .mountAiMcpServer()
    .mountOnStandaloneServer(0);
  onTestFinished(() => agent.stop());
  const { server } = await agent.start();
  const client = await createAgentTestClient({
    agentForestEnvSecret: secrets.envSecret,
    agentForestAuthSecret: secrets.authSecret,
    agentUrl: server!.address,
    serverUrl: sandbox.url,
    agentSchemaPath: schemaPath,
  });

  const placed = await client.collection('customers').list({ segment: 'Placed', fields: ['name', 'city'] });
  await client.close();
  await sandbox.close();
  expect(placed).toEqual([
    { name: 'Ada', city: 'Paris' },
    { name: 'Bo', city: 'Rome' },
  ]);
  expect(await messageOf(() => client.collection('customers').list())).toMatch(/503/);
});
