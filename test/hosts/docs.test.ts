// Runs the code of docs/embedding.md for each host unchanged: the shop's page comes from the host, and Portico's paths
// from the agent.
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import fastify from 'fastify';
import Koa from 'koa';
import { expect, onTestFinished, test } from 'vitest';
import { createMemoryDataSource } from '../../src/index.ts';
import { shopTables } from '../agent/shop.ts';
import { emptyAgent, makeFolder } from '../app/agent.ts';
import { freePort } from '../ports.ts';
import { ShopModule } from './hosts.ts';

const text = readFileSync('docs/embedding.md', 'utf8');
const blocks = [...text.matchAll(/^### ([^\n]+)\n+```js host\n(.*?)^```/gms)].map(([, title, code]) => ({
  title: title!,
  code: code!,
}));

test('each host has its code lines', () => {
  expect(blocks.map(({ title }) => title)).toEqual([
    'Fastify',
    'Koa',
    'NestJS',
    'A handler of Node',
    'A server of its own',
  ]);
});

test.each(blocks)('$title', async ({ title, code }) => {
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const { agent } = emptyAgent({ settings: { dataDir: join(makeFolder(), 'data'), publicUrl } });
  agent.addDataSource(createMemoryDataSource('shop', shopTables)).mountAiMcpServer({ basePath: '/data' });
  const opened: Server[] = [];
  const watched = new Koa();
  const listen = watched.listen.bind(watched);
  const run = Object.getPrototypeOf(async () => {}).constructor(
    'agent, fastify, Koa, NestFactory, ShopModule, createServer',
    `${code.replace(/^import .*$/gm, '').replaceAll('3000', `${port}`)}\nreturn typeof app === 'undefined' ? undefined : app;`,
  );
  const app = await run(
    agent,
    fastify,
    function KoaOfTheTest() {
      watched.listen = ((...at: [number, string]) => {
        opened.push(listen(...at));
        return opened[0];
      }) as typeof watched.listen;
      return watched;
    },
    { create: (module: typeof ShopModule) => NestFactory.create(module, { logger: false }) },
    ShopModule,
    (listener: never) => {
      opened.push(createServer(listener));
      return opened[0];
    },
  );
  onTestFinished(async () => {
    if (title === 'Fastify' || title === 'NestJS') await app.close();
    for (const server of opened) server.closeAllConnections();
    for (const server of opened) server.close();
  });
  const shown = await (await fetch(`${publicUrl}/`)).text();
  const health = await (await fetch(`${publicUrl}/service`)).json();
  const mcp = await fetch(`${publicUrl}/data/mcp`, { method: 'POST' });
  const own = title === 'A server of its own' ? '{"error":"not_fo' : 'The shop';
  expect([shown.slice(0, own.length), health, mcp.status]).toEqual([
    own,
    { error: null, message: 'Agent is running' },
    401,
  ]);
});
