import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express from 'express';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder, shopAgent } from '../app/agent.ts';
import { ask } from '../app/call.ts';
import { mounts, tokenOf } from '../app/mounts.ts';

test('mountAiMcpServer | options? {enabledTools, basePath} | enables the MCP server', async () => {
  const [, open] = mounts[1]!;
  const mounted = await open({ mcp: { enabledTools: ['list'] } });
  const { text } = await ask(mounted.mcpUrl, await tokenOf(mounted), 'tools/list', {});
  expect([mounted.mcpUrl, JSON.parse(text).result.tools.map(({ name }: { name: string }) => name)]).toEqual([
    `${mounted.origin}/data/mcp`,
    ['list'],
  ]);
});

test('mountAiMcpServer returns the agent, and can be called before or after the mount', async () => {
  const outcomes = [];
  for (const order of ['before', 'after']) {
    const { agent } = shopAgent();
    const back = order === 'before' ? agent.mountAiMcpServer() : agent.mountOnStandaloneServer(0);
    const last = order === 'before' ? back.mountOnStandaloneServer(0) : back.mountAiMcpServer();
    outcomes.push(back === agent, last === agent, (await agent.start()).server !== null);
  }
  expect(outcomes).toEqual(Array(6).fill(true));
});

test('an agent without mountAiMcpServer leaves the paths of MCP to its host, and serves its HTTP API', async () => {
  const app = express();
  app.use((_req, res) => void res.send('of the host'));
  const listening = createServer(app).listen(0, '127.0.0.1');
  onTestFinished(() => void listening.close());
  await once(listening, 'listening');
  const origin = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  const { agent } = shopAgent({ settings: { dataDir: join(makeFolder(), 'data'), publicUrl: origin } });
  agent.mountOnExpress(app);
  const paths = ['/mcp', '/oauth/token', '/.well-known/oauth-authorization-server', '/service', '/service/_console'];
  const ask = async (path: string) => (await fetch(origin + path, { redirect: 'manual' })).status;
  const before = await Promise.all(paths.map(ask));
  const { server } = await agent.start();
  expect([before, await Promise.all(paths.map(ask)), server]).toEqual([
    [200, 200, 200, 503, 503],
    [200, 200, 200, 200, 303],
    { address: origin, mcpUrl: '', apiUrl: `${origin}/service`, consoleUrl: `${origin}/service/_console` },
  ]);
});
