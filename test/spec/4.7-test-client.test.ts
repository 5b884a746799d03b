// Behaviour 4.7: the test client in a complete test.
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
    prefix: '/data/v1',
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
    agentUrl: `${server!.address}/data/v1/`,
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

test('createAgentTestClient: list accepts the parameters of a front end, in its timezone; refusals are errors with status; workflow: a closed client sends nothing', async () => {
  const folder = makeFolder();
  const sandbox = await createForestServerSandbox(0);
  onTestFinished(() => sandbox.close());
  const schemaPath = join(folder, 'schema.json');
  const secrets = { authSecret: 'auth secret of the test', envSecret: 'env secret of the test' };
  const agent = createAgent({ ...secrets, serverUrl: sandbox.url, schemaPath, loggerLevel: 'Error', settings: { dataDir: folder } })
    .addDataSource(createMemoryDataSource('shop', shopTables))
    .customizeCollection('customers', (customers) => customers.addHook('Before', 'List', ({ timezone }) => void zones.push(timezone)))
    .mountOnStandaloneServer(0);
  onTestFinished(() => agent.stop());
  const zones: string[] = [];
  const { server } = await agent.start();
  const options = { agentForestEnvSecret: secrets.envSecret, agentForestAuthSecret: secrets.authSecret, agentUrl: server!.address, serverUrl: sandbox.url, agentSchemaPath: schemaPath };
  const client = await createAgentTestClient({ ...options, timezone: 'Asia/Tokyo' });
  const customers = client.collection('customers');
  const names = async (asked: object) => (await customers.list({ ...asked, fields: ['name'] })).map((record) => Object.values(record).join());
  expect([
    await names({ sort: { field: 'name', ascending: false } }),
    await names({ sort: [{ field: 'name' }], page: { size: 2 } }),
    await names({ sort: [{ field: 'name' }], page: { size: 2, number: 2 } }),
    await names({ filters: { field: 'city', operator: 'Missing' } }),
    await names({ search: 'rome' }),
    (await customers.search('o', { filters: { field: 'id', operator: 'LessThan', value: 2 } })).length,
    (await customers.search('bo')).map(({ id }) => id),
    await customers.count({ filters: { field: 'id', operator: 'GreaterThan', value: 1 } }),
    Object.keys((await customers.list())[0]!),
    Object.keys((await customers.list({ fields: ['city'] }))[0]!),
    [...new Set(zones)],
  ]).toEqual([
    ['Cy', 'Bo', 'Ada'],
    ['Ada', 'Bo'],
    ['Cy'],
    ['Cy'],
    ['Bo'],
    0,
    [2],
    2,
    ['id', 'name', 'city', 'secret'],
    ['city'],
    ['Asia/Tokyo'],
  ]);
  const statusOf = (act: () => Promise<unknown>) => act().then(() => 200, (error: { status?: number }) => error.status);
  expect([
    await statusOf(() => customers.list({ fields: ['nam'] as never })),
    await statusOf(() => customers.get(99)),
    await statusOf(() => customers.create({ name: null } as never)),
    await messageOf(() => client.collection('customer' as never)),
    await messageOf(() => createAgentTestClient({ ...options, timezone: 'Mars/Base' })),
    await messageOf(() => createAgentTestClient({ ...options, timeoutSeconds: 0 })),
    await messageOf(() => createAgentTestClient({ ...options, agentForestAuthSecret: 'another' })),
  ]).toEqual([400, 404, 400, expect.stringContaining('Near: customers'), expect.stringContaining("'timezone'"), expect.stringContaining("'timeoutSeconds'"), expect.stringContaining('401')]);
  await client.close();
  await client.close();
  await agent.stop();
  expect(await messageOf(() => customers.list())).toMatch(/cannot be reached/);
}); // biome-ignore format: short
