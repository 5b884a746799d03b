// The collection routes in each mount of an agent: its own server, a prefix of the user, and an Express application.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express from 'express';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Agent, type AgentOptions, createMemoryDataSource } from '../../src/index.ts';
import { shopTables } from '../agent/shop.ts';
import { emptyAgent, makeFolder } from '../app/agent.ts';
import { frontOrigin, sessionToken } from '../rest/front-end.ts';
import { addUserIn } from '../users.ts';

const account = { email: 'ada@example.com', password: 'correct horse battery' };

async function prepare(options: Partial<AgentOptions>, publicUrl?: string): Promise<Agent> {
  const dataDir = join(makeFolder(), 'data');
  await addUserIn(dataDir, { ...account, firstName: 'Ada', lastName: 'Byron', level: 'admin' });
  const settings = { dataDir, agentOrigins: [frontOrigin], ...(publicUrl !== undefined && { publicUrl }) };
  const { agent } = emptyAgent({ ...options, settings });
  agent.addDataSource(createMemoryDataSource('shop', shopTables)).mountAiMcpServer();
  return agent;
}

async function standalone(options: Partial<AgentOptions>): Promise<string> {
  const agent = await prepare(options);
  const { server } = await agent.mountOnStandaloneServer(0).start();
  return server!.address;
}

/** The host parses bodies before the agent, and serves its own page on other paths. */
async function hosted(options: Partial<AgentOptions>): Promise<string> {
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const agent = await prepare(options, origin);
  app.use(express.json());
  app.use(agent.requestHandler);
  app.use((_req, res) => {
    res.status(418).json({ of: 'the host' });
  });
  await agent.start();
  return origin;
}

describe('4.5 Collection data routes', () => {
  test.each([
    ['on a standalone server', standalone, {}, '/service'],
    ['under a prefix', standalone, { prefix: '/data/api' }, '/data/api'],
    ['at the root', standalone, { prefix: '' }, ''],
    ['in a host application', hosted, { prefix: '/data' }, '/data'],
  ] as const)('collections, served under the configured prefix: %s', async (_place, open, options, prefix) => {
    const origin = await open(options);
    const headers = { authorization: `Bearer ${await sessionToken(`${origin}${prefix}`, account)}` };
    const get = async (path: string) => (await fetch(`${origin}${prefix}${path}`, { headers })).json();
    const capabilities = await fetch(`${origin}${prefix}/_internal/capabilities`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"collectionNames":["customers"]}',
    });
    const ada = {
      type: 'customers',
      id: '1',
      attributes: { id: 1, name: 'Ada' },
      relationships: { orders: { links: { related: { href: `${prefix}/customers/1/relationships/orders` } } } },
    };
    const jsonapi = { version: '1.0' };
    expect([
      await get('/customers?page[size]=1&fields[customers]=name'),
      await get('/customers/1?fields[customers]=name'),
      await get('/customers/count'),
      await get('/customers/2/relationships/orders/count'),
      ((await capabilities.json()) as { collections: { name: string }[] }).collections.map(({ name }) => name),
    ]).toEqual([{ jsonapi, data: [ada] }, { jsonapi, data: ada }, { count: 3 }, { count: 2 }, ['customers']]);
  });

  test('prefix: the routes exist only below it', async () => {
    const origin = await hosted({ prefix: '/data' });
    const status = async (path: string) => (await fetch(`${origin}${path}`)).status;
    expect([await status('/data/customers'), await status('/service/customers'), await status('/customers')]).toEqual([
      401, 418, 418,
    ]);
    // Paths are case-sensitive and whole (RFC 3986 section 6.2.2.1); the prefix itself is a path of the API.
    expect([
      await status('/DATA/customers'),
      await status('/datas/customers'),
      await status('/data'),
      await status('/data/'),
    ]).toEqual([418, 418, 200, 200]);
    await expect(hosted({ prefix: '' })).rejects.toThrow(
      "prefix: at the root, the HTTP API would handle every path of your application. Set a path such as '/service'.",
    );
  });
});
