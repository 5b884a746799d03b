// Errors around mounting and starting: each message names the option or call and the user's line, and says what to do.
// No resource stays open, and the start works after the fix.
import { existsSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express from 'express';
import fastify from 'fastify';
import Koa from 'koa';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Agent, createMemoryDataSource } from '../../src/index.ts';
import { shopTables } from '../agent/shop.ts';
import { emptyAgent, makeFolder, messageOf, shopAgent } from '../app/agent.ts';
import { isNotDriverWarning } from '../driver-warning.ts';
import { hosts } from './hosts.ts';

const here = /\(.*wrong-things\.test\.ts:\d+\)$/;
const { env } = process;
const handles = () => process.getActiveResourcesInfo().filter((kind) => /TCP(Server|Socket)|Process|Pipe/.test(kind));
/** New resources. Those that earlier tests release in the meantime do not count. */
function added(before: readonly string[]): string[] {
  const left = [...before];
  return handles().filter((kind) => {
    const at = left.indexOf(kind);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

const shop = (settings: Record<string, unknown> = {}) => {
  const { agent, folder, logged } = emptyAgent({ settings: { dataDir: join(makeFolder(), 'data'), ...settings } });
  agent.addDataSource(createMemoryDataSource('shop', shopTables));
  return { agent, folder, logged };
};

describe('a mount', () => {
  const row = (name: string) => hosts.find((one) => one.name === name)!;
  const nest = async () => {
    let given: unknown;
    const host = await row('NestJS on Express').open();
    host.mount({
      mountOnNestJs(app: unknown) {
        given = app;
      },
    } as unknown as Agent);
    onTestFinished(async () => void (await host.close()));
    return given;
  };
  test.each<[string, (agent: Agent) => unknown, RegExp]>([
    ['Koa, passed to mountOnExpress', (agent) => agent.mountOnExpress(new Koa() as never), /^mountOnExpress: pass the application from express\(\); for this application use mountOnKoa\(app\)\./],
    ['NestJS, passed to mountOnExpress', async (agent) => agent.mountOnExpress((await nest()) as never), /^mountOnExpress: .*use mountOnNestJs\(app\)\./],
    ['Express, passed to mountOnFastify', (agent) => agent.mountOnFastify(express() as never), /^mountOnFastify: pass the application from fastify\(\); .*mountOnExpress\(app\)\./],
    ['Fastify, passed to mountOnKoa', (agent) => agent.mountOnKoa(fastify() as never), /^mountOnKoa: pass the application from new Koa\(\); .*mountOnFastify\(app\)\./],
    ['Fastify, passed to mountOnNestJs', (agent) => agent.mountOnNestJs(fastify() as never), /^mountOnNestJs: pass the application from NestFactory\.create\(\); .*mountOnFastify\(app\)\./],
    ['a promise of NestJS', (agent) => agent.mountOnNestJs(Promise.resolve() as never), /^mountOnNestJs: pass the application from NestFactory\.create\(\)\. /],
    ['nothing', (agent) => agent.mountOnKoa(undefined as never), /^mountOnKoa: pass the application from new Koa\(\)\. /],
    ['NestJS on an unknown adapter', (agent) => agent.mountOnNestJs({ getHttpAdapter: () => ({ getType: () => 'other', getInstance: () => ({}) }) }), /^mountOnNestJs: its platform is 'other': use @nestjs\/platform-express or @nestjs\/platform-fastify\./],
    ['Fastify with HTTP/2', (agent) => agent.mountOnFastify(fastify({ http2: true }) as never), /^mountOnFastify: it serves HTTP\/2, which is not supported: remove its option http2\./],
    ['Fastify that is ready', async (agent) => agent.mountOnFastify(await fastify().ready() as never), /^mountOnFastify: it is ready and accepts no more hooks: mount before ready\(\), inject\(\) and listen\(\)\./],
    ['the same application twice', (agent) => { const app = new Koa(); agent.mountOnKoa(app).mountOnKoa(app); }, /^mountOnKoa: the agent is already mounted on this application\./],
    ['a second server', (agent) => agent.mountOnStandaloneServer(0).mountOnStandaloneServer(0), /^mountOnStandaloneServer was already called: an agent has only one server\./],
  ])('%s', async (_what, mount, problem) => {
    const message = await messageOf(() => mount(shop().agent));
    expect([message, message]).toEqual([expect.stringMatching(problem), expect.stringMatching(here)]);
  }); // biome-ignore format: a table

  test.each<[string, (agent: Agent) => unknown]>([
    ['mountOnExpress', (agent) => agent.mountOnExpress(express())],
    ['mountOnFastify', (agent) => agent.mountOnFastify(fastify())],
    ['mountOnKoa', (agent) => agent.mountOnKoa(new Koa())],
    ['mountOnNestJs', (agent) => agent.mountOnNestJs({} as never)],
    ['mountOnStandaloneServer', (agent) => agent.mountOnStandaloneServer(0)],
    ['mountAiMcpServer', (agent) => agent.mountAiMcpServer()],
  ])('%s after the start', async (_what, mount) => {
    const { agent } = shop();
    await agent.start();
    expect(await messageOf(() => mount(agent))).toMatch(
      /^The agent has already started and accepts no more customizations\. \(.*wrong-things\.test\.ts:\d+\)$/,
    );
  });
});

describe('a failed start leaves nothing running, and succeeds once the cause is fixed', () => {
  async function failsThenWorks(agent: Agent, cure: () => unknown): Promise<string> {
    const before = handles();
    const message = await messageOf(() => agent.start());
    await expect.poll(() => added(before)).toEqual([]);
    expect(agent.standaloneServerPort).toBeUndefined();
    await cure();
    const { server } = await agent.start();
    expect(await (await fetch(`${server!.address}/service/`)).json()).toEqual({
      error: null,
      message: 'Agent is running',
    });
    await agent.stop();
    return message;
  }

  test('a port in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    const { agent } = shop();
    agent.mountOnStandaloneServer(port);
    expect(await failsThenWorks(agent, () => new Promise((resolve) => taken.close(resolve)))).toBe(
      `Port ${port} is in use. Stop the program that listens on it, or set MCP_SERVER_PORT to another port.`,
    );
  });

  test('a path in the public URL, with a basePath', async () => {
    const { agent } = shop();
    agent.mountAiMcpServer({ basePath: '/ai' }).mountOnStandaloneServer(0);
    env.SERVICE_PUBLIC_URL = 'https://shop.example.com/tools';
    onTestFinished(() => void delete env.SERVICE_PUBLIC_URL);
    expect(await failsThenWorks(agent, () => delete env.SERVICE_PUBLIC_URL)).toBe(
      'basePath needs the agent at the root of its domain, but SERVICE_PUBLIC_URL has a path.',
    );
  });

  test('a secret of another environment', async () => {
    const dataDir = join(makeFolder(), 'data');
    const first = shopAgent({ envSecret: 'one', settings: { dataDir } });
    first.agent.mountOnStandaloneServer(0);
    await first.agent.start();
    await first.agent.stop();
    const { agent } = shopAgent({ envSecret: 'other', settings: { dataDir } });
    agent.mountOnStandaloneServer(0);
    const cure = () => rmSync(dataDir, { recursive: true });
    expect(await failsThenWorks(agent, cure)).toMatch(/^envSecret: the storage belongs to an environment with another/);
  });

  test('no schema file in production', async () => {
    const folder = makeFolder();
    const schemaPath = join(folder, 'schema.json');
    const settings = { dataDir: join(folder, 'data') };
    const { agent } = shopAgent({ isProduction: true, schemaPath, settings });
    agent.mountOnStandaloneServer(0);
    const message = await failsThenWorks(agent, () => shopAgent({ schemaPath }).agent.generateSchemaOnly());
    expect([message, existsSync(schemaPath)]).toEqual([
      expect.stringMatching(
        /^isProduction: the schema file .*schema\.json cannot be read; write it with generateSchemaOnly/,
      ),
      true,
    ]);
  });

  test('a customization that throws', async () => {
    const { agent } = shop();
    let isWrong = true;
    agent.mountOnStandaloneServer(0).customizeCollection('orders', (orders) => {
      if (isWrong) orders.renameField('nothing', 'something');
    });
    const message = await failsThenWorks(agent, () => {
      isWrong = false;
    });
    expect([message, message]).toEqual([
      expect.stringContaining("'nothing'"),
      expect.stringMatching(/wrong-things\.test\.ts:\d+/),
    ]);
  });

  test('no data source, and MCP without a mount: more calls fix it', async () => {
    const { agent } = emptyAgent({ settings: { dataDir: join(makeFolder(), 'data') } });
    agent.mountAiMcpServer();
    const without = await messageOf(() => agent.start());
    agent.mountOnStandaloneServer(0);
    const message = await failsThenWorks(agent, () => agent.addDataSource(createMemoryDataSource('shop', shopTables)));
    expect([without, message]).toEqual([
      expect.stringMatching(/^mountAiMcpServer: there is no server to mount it on\. Also call mountOnStandaloneServer/),
      'The agent has no data source: call addDataSource.',
    ]);
  });

  test('a host application without a public URL', async () => {
    const { agent } = shop();
    agent.mountOnKoa(new Koa());
    const message = await messageOf(() => agent.start());
    expect(message).toMatch(/set SERVICE_PUBLIC_URL \(or settings\.publicUrl\)/);
    // Another call also fixes it: then the standalone server has an address.
    agent.mountOnStandaloneServer(0);
    expect(await messageOf(() => agent.start())).toBe('it worked');
  });
});

test('the start names routes of the host that Portico now serves, if it can list them', async () => {
  const warnings = async (mount: (agent: Agent) => unknown) => {
    const { agent, logged } = shop({ publicUrl: 'http://127.0.0.1:4999' });
    await mount(agent.mountAiMcpServer());
    await agent.start();
    return logged
      .filter(([level, message]) => level === 'Warn' && isNotDriverWarning(message))
      .map(([, message]) => /now handles: (.*?)\. /.exec(message)?.[1]);
  };
  const nest = await hosts.find(({ name }) => name === 'NestJS on Express')!.open();
  const bare = await hosts.find(({ name }) => name === 'Koa')!.open();
  onTestFinished(async () => void (await nest.close()));
  expect([
    await warnings((agent) => {
      const app = fastify();
      agent.mountOnFastify(app);
      app.get('/oauth/callback', async () => 'ours').get('/', async () => 'the shop');
      app.get('/service/other', async () => 'ours');
      return app.ready();
    }),
    await warnings(async (agent) => {
      nest.mount(agent);
      await nest.furnish();
    }),
    await warnings((agent) => bare.mount(agent)),
  ]).toEqual([['/oauth/callback, /service/other'], ['/oauth/callback, /.well-known/security.txt'], []]);
});
