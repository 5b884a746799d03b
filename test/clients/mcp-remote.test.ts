// mcp-remote, which connects hosts that only support stdio: it registers, opens the browser and forwards calls.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openShop, type Shop } from '../app/shop.ts';
import { type Desktop, openDesktop } from './desktop.ts';
import { offered } from './person.ts';

let shop: Shop;
let desktop: Desktop;
let client: Client | undefined;
beforeAll(async () => {
  shop = await openShop();
  desktop = await openDesktop(shop.account);
});
// Also ends the child process after a timeout.
afterEach(() => client?.close());
afterAll(async () => {
  await desktop.close();
  await shop.stop();
});

const program = join(dirname(createRequire(import.meta.url).resolve('mcp-remote/package.json')), 'dist', 'proxy.js');

test.each(['legacy', 'auto'])('mcp-remote, protocol %s: a host on its stdio signs in and lists', async (protocol) => {
  const [expected] = await shop.ask('SELECT count(*) AS totalCount FROM orders');
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, shop.mcpUrl, '--allow-http', '--protocol', protocol],
    env: { ...desktop.env, MCP_REMOTE_CONFIG_DIR: join(desktop.home, protocol) },
    stderr: 'ignore',
  });
  client = new Client({ name: 'host', version: '1' });
  await client.connect(transport as never);
  const { tools } = await client.listTools();
  const result = await client.callTool({
    name: 'list',
    arguments: { collectionName: 'orders', fields: ['number'], pagination: { size: 1 }, enableCount: true },
  });
  const { columns, totalCount } = JSON.parse((result.content as [{ text: string }])[0].text);
  expect([tools.map((tool) => tool.name).sort(), columns, { totalCount }]).toEqual([offered, ['number'], expected]);
});
