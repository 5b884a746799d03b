import express from 'express';
import { expect, test } from 'vitest';
import { messageOf, shopAgent } from '../app/agent.ts';
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

test('mountAiMcpServer gives the agent back, and may come before or after the mount', async () => {
  const outcomes = [];
  for (const order of ['before', 'after']) {
    const { agent } = shopAgent();
    const back = order === 'before' ? agent.mountAiMcpServer() : agent.mountOnStandaloneServer(0);
    const last = order === 'before' ? back.mountOnStandaloneServer(0) : back.mountAiMcpServer();
    outcomes.push(back === agent, last === agent, (await agent.start()).server !== null);
  }
  expect(outcomes).toEqual(Array(6).fill(true));
});

test('an agent without mountAiMcpServer takes no path from its host', async () => {
  const { agent } = shopAgent();
  const passed: unknown[] = [];
  agent.requestHandler({ url: '/mcp' } as never, {} as never, () => passed.push('/mcp'));
  await agent.start();
  agent.requestHandler({ url: '/mcp' } as never, {} as never, () => passed.push('/mcp'));
  expect([passed, await messageOf(() => shopAgent().agent.mountOnExpress(express()).start())]).toEqual([
    ['/mcp', '/mcp'],
    expect.stringMatching(/Call mountAiMcpServer\(\) as well/),
  ]);
});
