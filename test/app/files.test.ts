// File URLs are below the endpoint, and the agent answers them.
import { expect, test } from 'vitest';
import { shopAgent } from './agent.ts';

test.each(['', '/ai'])('file URLs are below the endpoint, with the base path %j', async (basePath) => {
  const { agent } = shopAgent();
  agent.mountAiMcpServer(basePath ? { basePath } : {}).mountOnStandaloneServer(0);
  const { server } = await agent.start();
  const key = 'a'.repeat(43);
  const ask = async (path: string, method: string) => {
    const response = await fetch(`${server!.mcpUrl}${path}`, { method, ...(method === 'PUT' && { body: 'x' }) });
    return [response.status, ((await response.json()) as { error: string }).error];
  };
  expect([
    await ask(`/uploads/${key}`, 'PUT'),
    await ask(`/downloads/${key}`, 'GET'),
    await ask('/downloads/short', 'GET'),
    await ask('/other', 'GET'),
  ]).toEqual([
    [404, 'file_gone'],
    [404, 'file_gone'],
    [404, 'not_found'],
    [404, 'not_found'],
  ]);
});
