// Behaviour 2.9, with 4.7: the options of the test client. "Here `Forest`
// stands for the neutral word `service` in the option names."
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createMemoryDataSource } from '../../src/index.ts';
import { createAgentTestClient, createForestServerSandbox, type TestClientOptions } from '../../src/testing/index.ts';
import { shopTables } from '../agent/shop.ts';
import { emptyAgent, makeFolder, messageOf, secrets } from '../app/agent.ts';
import { openShop } from '../app/shop.ts';

/** A sandbox, and an agent that was started with it. */
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
    await messageOf(() => namesOf({ ...options, agentForestEnvSecret: ' ' })),
  ]).toEqual([
    names,
    names,
    expect.stringMatching(
      /createAgentTestClient needs 'agentServiceEnvSecret': the envSecret that the agent was created with/,
    ),
    expect.stringMatching(/'agentServiceEnvSecret' and 'agentForestEnvSecret' are the same option: set one of them/),
    expect.stringMatching(/createAgentTestClient: 'agentForestEnvSecret' must be the envSecret/),
    expect.stringMatching(/does not accept this envSecret\. Use the same one on both/),
    expect.stringMatching(/createAgentTestClient: 'agentForestEnvSecret' must be the envSecret/),
  ]);
  expect(await messageOf(() => createAgentTestClient(rest))).toMatch(here);
});

test('agentForestAuthSecret | string | the authSecret of the agent; agentServiceAuthSecret is the same', async () => {
  const { options } = await openPlace();
  const rest = without(options, 'agentForestAuthSecret');
  expect([
    await namesOf({ ...rest, agentServiceAuthSecret: secrets.authSecret }),
    await namesOf(options),
    await messageOf(() => namesOf({ ...options, agentForestAuthSecret: secrets.authSecret.toUpperCase() })),
    await messageOf(() => namesOf({ ...options, agentForestAuthSecret: `${secrets.authSecret} ` })),
    await messageOf(() => namesOf({ ...options, agentServiceAuthSecret: secrets.authSecret })),
    await messageOf(() => namesOf(rest)),
    await messageOf(() => namesOf({ ...options, agentForestAuthSecret: 'another' })),
    await messageOf(() => namesOf({ ...options, agentForestAuthSecret: 7 as never })),
    await messageOf(() => namesOf({ ...options, agentForestAuthSecret: ' ' })),
  ]).toEqual([
    ...[names, names, expect.stringMatching(/401/), expect.stringMatching(/401/)],
    expect.stringMatching(/are the same option: set one of them/),
    expect.stringMatching(/needs 'agentServiceAuthSecret': the authSecret that the agent was created with/),
    expect.stringMatching(/401 .*agentServiceAuthSecret must be the agent's authSecret/),
    ...Array(2).fill(expect.stringMatching(/createAgentTestClient: 'agentForestAuthSecret' must be the authSecret/)),
  ]);
});

test('agentUrl | string | the URL of the agent, with its prefix or without', async () => {
  const { agent, options } = await openPlace();
  expect([
    await namesOf(options),
    await namesOf({ ...options, agentUrl: `${options.agentUrl}/service/` }),
    await messageOf(() => namesOf(without(options, 'agentUrl'))),
    await messageOf(() => namesOf({ ...options, agentUrl: 'shop' })),
    await messageOf(() => namesOf({ ...options, agentUrl: `${options.agentUrl}/elsewhere` })),
    await messageOf(() => namesOf({ ...options, agentUrl: `${options.agentUrl}/service/elsewhere` })),
  ]).toEqual([
    names,
    names,
    expect.stringMatching(/needs 'agentUrl': the address of the agent, such as/),
    expect.stringMatching(/'agentUrl' must be the address of the agent/),
    expect.stringMatching(/GET \/authentication\/session: 404/),
    expect.stringMatching(/GET \/authentication\/session: 404/),
  ]);
  expect([
    await namesOf({ ...options, agentUrl: `${options.agentUrl}/service///` }),
    await namesOf({ ...options, agentUrl: `${options.agentUrl}//` }),
    await messageOf(() => namesOf({ ...options, agentUrl: options.agentUrl.replace('http:', 'https:') })),
    await messageOf(() => namesOf({ ...options, agentUrl: 'ftp://127.0.0.1' })),
    await messageOf(() => namesOf({ ...options, agentUrl: 'http://' })),
    await messageOf(() => namesOf({ ...options, agentUrl: '' })),
    await messageOf(() => namesOf({ ...options, agentUrl: 3931 as never })),
  ]).toEqual([
    ...[names, names, expect.stringMatching(/cannot be reached/)],
    ...Array(4).fill(expect.stringMatching(/'agentUrl' must be the address of the agent/)),
  ]);
  // The token of the test is valid only for this URL. The client does not follow a redirect with it (CWE-601).
  const led: unknown[] = [];
  const elsewhere = createServer((req, res) => {
    led.push(req.url);
    res.writeHead(302, { location: `${options.agentUrl}${req.url}` }).end();
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void elsewhere.close());
  const { port } = elsewhere.address() as AddressInfo;
  const message = await messageOf(() => namesOf({ ...options, agentUrl: `http://127.0.0.1:${port}` }));
  expect([message, led]).toEqual([expect.stringContaining(': 302 '), ['/service/authentication/session']]);
  await agent.stop();
  expect(await messageOf(() => namesOf(options))).toMatch(
    /cannot be reached: has the agent been started, and does it listen at agentUrl/,
  );
});

test('serverUrl | string | the URL of the sandbox', async () => {
  const { sandbox, options } = await openPlace();
  const client = await createAgentTestClient(options);
  onTestFinished(() => client.close());
  expect([
    await messageOf(() => namesOf(without(options, 'serverUrl'))),
    await messageOf(() => namesOf({ ...options, serverUrl: 'ftp://x' })),
    await messageOf(() => namesOf({ ...options, serverUrl: '' })),
    await namesOf({ ...options, serverUrl: `${sandbox.url}//` }),
  ]).toEqual([
    expect.stringMatching(/needs 'serverUrl': the address of the sandbox: its 'url'/),
    expect.stringMatching(/'serverUrl' must be the address of the sandbox/),
    expect.stringMatching(/'serverUrl' must be the address of the sandbox/),
    names,
  ]);
  // Tests must not run against a server with real users and data.
  const envSecret = 'a secret of thirty-two characters or more';
  const platform = await openShop({ env: { SERVICE_ENV_SECRET: envSecret, SERVICE_PLATFORM_DOOR: 'true' } });
  onTestFinished(() => platform.stop());
  expect(
    await messageOf(() => namesOf({ ...options, agentForestEnvSecret: envSecret, serverUrl: platform.address })),
  ).toMatch(/is a platform, not a sandbox for tests/);
  await sandbox.close();
  expect(await messageOf(() => namesOf(options))).toMatch(
    /serverUrl: no server answers at .* Start the platform there/,
  );
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
  const refused = [];
  for (const text of ['', '{', 'null', '{"collections":{}}']) {
    writeFileSync(other, text);
    refused.push(await messageOf(() => namesOf({ ...options, agentSchemaPath: other })));
  }
  refused.push(await messageOf(() => namesOf({ ...options, agentSchemaPath: '' })));
  expect(refused).toEqual([
    ...Array(4).fill(expect.stringContaining('other.json')),
    expect.stringMatching(/'agentSchemaPath' must be the path of the schema file/),
  ]);
  rmSync(other);
  // The client reads the schema again after the agent writes it.
  const client = await createAgentTestClient(options);
  onTestFinished(() => client.close());
  await messageOf(() => agent.restart());
  expect(client.collection('orders')).toBeDefined();
});

test('an unknown option is refused with near names', async () => {
  const { options } = await openPlace();
  expect(await messageOf(() => namesOf({ ...options, agentURL: 'x' } as never))).toMatch(
    /createAgentTestClient has no option 'agentURL'\. Near: agentUrl/,
  );
});
