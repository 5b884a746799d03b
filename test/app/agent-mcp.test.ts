// An agent with MCP, started as a host application starts it: a user signs in, a client lists records, and a restart
// changes what its open session sees.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addUserIn } from '../users.ts';
import { shopAgent } from './agent.ts';
import { callTool } from './call.ts';
import { signedIn } from './shop.ts';

const account = { email: 'ada@example.com', password: 'correct horse battery' };

const addAdmin = (dataDir: string) => addUserIn(dataDir, { ...account, level: 'admin' });

test('an assistant keeps its token and gets the model of the last successful restart', async () => {
  const { agent, folder } = shopAgent();
  let name = 'full name';
  agent
    .customizeCollection('customers', (customers) => customers.renameField('name', name))
    .mountAiMcpServer({ enabledTools: ['describeCollection', 'list'] })
    .mountOnStandaloneServer(0);
  const { server } = await agent.start();
  await addAdmin(join(folder, 'data'));
  const { mcpUrl } = server!;
  const { token } = await signedIn({ mcpUrl } as Parameters<typeof signedIn>[0], account);
  const list = () => callTool(mcpUrl, token, 'list', { collectionName: 'customers', pagination: { size: 1 } });

  const before = await list();
  name = 'who';
  await agent.restart();
  const after = await list();
  name = 'city';
  const failed = await agent.restart().then(
    () => 'restarted',
    (error: Error) => error.message,
  );
  const still = await list();
  const disabled = await callTool(mcpUrl, token, 'aggregate', { collectionName: 'customers', operation: 'Count' });
  const columns = [before, after, still].map((answer) => (answer as { json: { columns: string[] } }).json.columns);
  expect([columns, failed, 'error' in disabled]).toEqual([
    [
      ['id', 'full name', 'city', 'secret'],
      ['id', 'who', 'city', 'secret'],
      ['id', 'who', 'city', 'secret'],
    ],
    expect.stringMatching(/would have the name 'city'\. \(.*agent-mcp\.test\.ts:\d+\)/),
    true,
  ]);
});
