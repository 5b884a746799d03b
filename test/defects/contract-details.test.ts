// Smaller points of the contract, tested from outside.
import { join } from 'node:path';
import fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { examine } from '../../src/cli/doctor.ts';
import { createToken } from '../../src/cli/users/token.ts';
import { loadConfig } from '../../src/core/config.ts';
import { createMemoryDataSource } from '../../src/index.ts';
import { createTestableAgent } from '../../src/testing/index.ts';
import { shopTables } from '../agent/shop.ts';
import { makeFolder, messageOf, shopAgent } from '../app/agent.ts';

test('restart() before start() names the line that calls it', async () => {
  const { agent } = shopAgent();
  expect(await messageOf(() => agent.restart())).toMatch(/not started.*contract-details\.test\.ts:\d+/);
});

test('getActionForm returns the description of the action', async () => {
  const { mcp, close } = await createTestableAgent((agent) =>
    agent.addDataSource(createMemoryDataSource('shop', shopTables)).customizeCollection('orders', (orders) =>
      orders.addAction('Ship', {
        scope: 'Single',
        description: 'Hands it to the carrier',
        execute: (_context, result) => result.success('Gone'),
      }),
    ),
  );
  onTestFinished(close);
  const form = await mcp.call('getActionForm', { collectionName: 'orders', actionName: 'Ship', recordIds: [1] });
  expect(form.description).toBe('Hands it to the carrier');
});

test('portico token create makes no token where single sign-on is on', async () => {
  const dataDir = join(makeFolder(), 'data');
  const env = { SERVICE_SSO_CLIENT_ID: 'id', SERVICE_SSO_CLIENT_SECRET: 'secret' };
  const config = loadConfig({ env, file: { dataDir, ssoIssuer: 'https://id.example.com' } });
  const options = { user: 'ada@example.com', name: 'n', scopes: 'mcp:read', expires: 'never' };
  expect(await messageOf(() => createToken(config, options))).toMatch(/must be created in such a session/);
});

test('with a SERVICE_SECRET that did not seal the keys, the start fails, and the doctor reports it', async () => {
  const dataDir = join(makeFolder(), 'data');
  const start = async (secret: string) => {
    const { agent } = shopAgent({ settings: { dataDir, secret } });
    agent.mountAiMcpServer().mountOnStandaloneServer(0);
    const { server } = await agent.start();
    return { agent, address: server!.address };
  };
  const first = await start('the secret of the installation');
  await fetch(`${first.address}/oauth/jwks`);
  expect((await fetch(`${first.address}/readyz`)).status).toBe(200);
  await first.agent.stop();
  await expect(start('another secret of the same length')).rejects.toThrow(
    /^SERVICE_SECRET: .*encrypted with another secret/,
  );
  const said: string[] = [];
  const write = process.stdout.write;
  process.stdout.write = ((text: string) => said.push(text) > 0) as never;
  try {
    const file = { dataDir, port: 0 };
    expect(await examine(loadConfig({ file: { ...file, secret: 'another secret of the same length' } }))).toBe(false);
    expect(await examine(loadConfig({ file: { ...file, secret: 'the secret of the installation' } }))).toBe(true);
  } finally {
    process.stdout.write = write;
  }
  expect(said.join('')).toContain('encrypted with another secret');
});

test('routes that Fastify had before mountOnFastify are named when they cannot be reached', async () => {
  const app = fastify();
  onTestFinished(() => app.close());
  app.get('/oauth/callback', async () => 'of the shop');
  app.get('/oauth', async () => 'of the shop');
  app.get('/oauth/callback/:id', async () => 'of the shop');
  app.get('/orders', async () => 'of the shop');
  const { agent, logged } = shopAgent({
    settings: { dataDir: join(makeFolder(), 'data'), publicUrl: 'http://localhost' },
  });
  agent.mountAiMcpServer().mountOnFastify(app);
  app.get('/.well-known/late', async () => 'of the shop');
  await agent.start();
  const warned = logged.filter(([level]) => level === 'Warn').map(([, message]) => message);
  expect(warned).toContainEqual(expect.stringContaining('that the agent now handles: '));
  const [, named] = /that the agent now handles: (.*?)\. /.exec(warned.join(' '))!;
  expect(named!.split(', ').toSorted()).toEqual([
    ...['/.well-known/late', '/oauth', '/oauth/callback', '/oauth/callback/:id'],
  ]);
});

test('OPTIONS of /mcp names the methods that are allowed without a session', async () => {
  const { agent } = shopAgent({ settings: { dataDir: join(makeFolder(), 'data') } });
  const { server } = await agent.mountAiMcpServer().mountOnStandaloneServer(0).start();
  const options = await fetch(server!.mcpUrl, { method: 'OPTIONS' });
  const allowed = options.headers.get('allow')!.split(', ');
  for (const method of ['GET', 'DELETE', 'POST', 'PUT']) {
    const { status } = await fetch(server!.mcpUrl, { method });
    expect([method, status !== 405]).toEqual([method, allowed.includes(method)]);
  }
});
