// Spec 2.9, with 4.7: the options of the test client. "Here `Forest` stands for the neutral word `service` in the option names."
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createMemoryDataSource } from '../../src/index.ts';
import { createAgentTestClient, createForestServerSandbox, type TestClientOptions } from '../../src/testing/index.ts';
import { shopTables } from '../agent/shop.ts';
import { emptyAgent, makeFolder, messageOf, secrets } from '../app/agent.ts';

/** A sandbox, and an agent that has been started with it. */
async function openPlace() {
  const sandbox = await createForestServerSandbox(0);
  onTestFinished(() => sandbox.close());
  const { agent, schemaPath } = emptyAgent({ serverUrl: sandbox.url });
  agent.addDataSource(createMemoryDataSource('shop', shopTables)).mountAiMcpServer().mountOnStandaloneServer(0);
  const { server } = await agent.start();
  const options: TestClientOptions = {
    agentForestEnvSecret: secrets.envSecret,
    agentForestAuthSecret: secrets.authSecret,
    agentUrl: server!.address,
    serverUrl: sandbox.url,
    agentSchemaPath: schemaPath,
  };
  return { sandbox, agent, options };
}

async function namesOf(options: TestClientOptions): Promise<unknown[]> {
  const client = await createAgentTestClient(options);
  onTestFinished(() => client.close());
  return (await client.collection('customers').list({ fields: ['name'] })).map(({ name }) => name);
}

const names = ['Ada', 'Bo', 'Cy'];
const without = (options: TestClientOptions, ...gone: (keyof TestClientOptions)[]): TestClientOptions =>
  Object.fromEntries(Object.entries(options).filter(([name]) => !gone.includes(name as never))) as never;
const here = /2\.9-testing-client-options\.test\.ts:\d+/;

test('agentForestEnvSecret | string | the envSecret of the agent; agentServiceEnvSecret is the same', async () => {
  const { options } = await openPlace();
  const rest = without(options, 'agentForestEnvSecret');
  expect([
    await namesOf(options),
    await namesOf({ ...rest, agentServiceEnvSecret: secrets.envSecret }),
    await messageOf(() => namesOf(rest)),
    await messageOf(() => namesOf({ ...options, agentServiceEnvSecret: 'x' })),
    await messageOf(() => namesOf({ ...options, agentForestEnvSecret: 7 as never })),
    await messageOf(() => namesOf({ ...options, agentForestEnvSecret: 'another' })),
  ]).toEqual([
    names,
    names,
    expect.stringMatching(
      /createAgentTestClient needs 'agentServiceEnvSecret': the envSecret that the agent was created with/,
    ),
    expect.stringMatching(/'agentServiceEnvSecret' and 'agentForestEnvSecret' are one option: give one of them/),
    expect.stringMatching(/createAgentTestClient: 'agentForestEnvSecret' must be the envSecret/),
    expect.stringMatching(/does not know this envSecret\. Give both the same one/),
  ]);
  expect(await messageOf(() => createAgentTestClient(rest))).toMatch(here);
});

test('agentForestAuthSecret | string | the authSecret of the agent; agentServiceAuthSecret is the same', async () => {
  const { options } = await openPlace();
  const rest = without(options, 'agentForestAuthSecret');
  expect([
    await namesOf({ ...rest, agentServiceAuthSecret: secrets.authSecret }),
    await messageOf(() => namesOf(rest)),
    await messageOf(() => namesOf({ ...options, agentForestAuthSecret: 'another' })),
  ]).toEqual([
    names,
    expect.stringMatching(/needs 'agentServiceAuthSecret': the authSecret that the agent was created with/),
    expect.stringMatching(/401 .*agentServiceAuthSecret must be the agent's authSecret/),
  ]);
});

test('agentUrl | string | where the agent listens, with its prefix or without', async () => {
  const { agent, options } = await openPlace();
  expect([
    await namesOf(options),
    await namesOf({ ...options, agentUrl: `${options.agentUrl}/service/` }),
    await messageOf(() => namesOf(without(options, 'agentUrl'))),
    await messageOf(() => namesOf({ ...options, agentUrl: 'shop' })),
    await messageOf(() => namesOf({ ...options, agentUrl: `${options.agentUrl}/elsewhere` })),
  ]).toEqual([
    names,
    names,
    expect.stringMatching(/needs 'agentUrl': the address at which the agent listens, such as/),
    expect.stringMatching(/'agentUrl' must be the address at which the agent listens/),
    expect.stringMatching(/GET \/authentication\/session: 404/),
  ]);
  await agent.stop();
  expect(await messageOf(() => namesOf(options))).toMatch(
    /cannot be reached: has the agent been started, and is agentUrl/,
  );
});

test('serverUrl | string | the address of the sandbox', async () => {
  const { sandbox, options } = await openPlace();
  const client = await createAgentTestClient(options);
  onTestFinished(() => client.close());
  expect([
    await messageOf(() => namesOf(without(options, 'serverUrl'))),
    await messageOf(() => namesOf({ ...options, serverUrl: 'ftp://x' })),
  ]).toEqual([
    expect.stringMatching(/needs 'serverUrl': the address of the sandbox: its 'url'/),
    expect.stringMatching(/'serverUrl' must be the address of the sandbox/),
  ]);
  await sandbox.close();
  expect(await messageOf(() => namesOf(options))).toMatch(/serverUrl: nothing answers at .* Start the platform there/);
  expect(await messageOf(() => client.collection('customers').list())).toMatch(/GET \/customers: 503 /);
});

test('agentSchemaPath | string | the schema file that the agent writes', async () => {
  const { agent, options } = await openPlace();
  const other = join(makeFolder(), 'other.json');
  expect([
    await messageOf(() => namesOf(without(options, 'agentSchemaPath'))),
    await messageOf(() => namesOf({ ...options, agentSchemaPath: other })),
  ]).toEqual([
    expect.stringMatching(/needs 'agentSchemaPath': the path of the schema file that the agent writes/),
    expect.stringMatching(/agentSchemaPath: .*other\.json cannot be read\. Start the agent first/),
  ]);
  writeFileSync(other, '[]');
  expect(await messageOf(() => namesOf({ ...options, agentSchemaPath: other }))).toMatch(/has no collections/);
  rmSync(other);
  // What the agent says anew is read anew.
  const client = await createAgentTestClient(options);
  onTestFinished(() => client.close());
  await messageOf(() => agent.restart());
  expect(client.collection('orders')).toBeDefined();
});

test('an option that there is not is told with near names', async () => {
  const { options } = await openPlace();
  expect(await messageOf(() => namesOf({ ...options, agentURL: 'x' } as never))).toMatch(
    /createAgentTestClient has no option 'agentURL'\. Near: agentUrl/,
  );
});
