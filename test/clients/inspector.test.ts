// The MCP Inspector CLI, with a given token and with its own sign-in. It needs Node 22. Without that, the tests print a
// warning, and fail with CI=true.
import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openShop, type Shop, signedIn } from '../app/shop.ts';
import { findTool } from '../tools.ts';
import { type Desktop, openDesktop } from './desktop.ts';
import { offered } from './person.ts';

const node = findTool('node22');
const launcher = node && findTool('inspector');

describe.skipIf(!launcher)('MCP Inspector', () => {
  let shop: Shop;
  let desktop: Desktop;
  beforeAll(async () => {
    shop = await openShop();
    desktop = await openDesktop(shop.account);
  });
  afterAll(async () => {
    await desktop.close();
    await shop.stop();
  });

  /** Returns the result that the method prints. */
  const run = (args: readonly string[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const env = { ...desktop.env, MCP_AUTO_OPEN_ENABLED: 'true' };
      const all = [launcher!, '--cli', shop.mcpUrl, '--transport', 'http', '--format', 'json', '--quiet', ...args];
      const child = spawn(node!, all, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 25_000 });
      let [output, problems] = ['', ''];
      child.stdout.on('data', (chunk) => (output += chunk));
      child.stderr.on('data', (chunk) => (problems += chunk));
      child.on('error', reject);
      child.on('close', (code) => {
        if (code === 0) resolve(JSON.parse(output).result);
        else reject(new Error(`exit ${code}\n${output}\n${problems}`));
      });
    });
  const listOrders = ['--method', 'tools/call', '--tool-name', 'list', '--tool-args-json'];
  const question = JSON.stringify({ collectionName: 'orders', fields: ['number'], pagination: { size: 2 } });
  const expected = async () =>
    (await shop.ask('SELECT number FROM orders ORDER BY id LIMIT 2')).map(({ number }) => [number]);
  const rowsOf = (result: unknown) => JSON.parse((result as { content: [{ text: string }] }).content[0].text).rows;

  test.each(['legacy', 'modern'])('era %s, with a bearer header: lists', async (era) => {
    const { token } = await signedIn(shop);
    const header = ['--header', `Authorization: Bearer ${token}`, '--protocol-era', era];
    const result = await run([...listOrders, question, ...header]);
    expect(rowsOf(result)).toEqual(await expected());
  });

  test('the strict check of the Inspector accepts the schemas of the tools', async () => {
    const { token } = await signedIn(shop);
    const result = await run(['--method', 'tools/list', '--strict', '--header', `Authorization: Bearer ${token}`]);
    expect((result as { tools: { name: string }[] }).tools.map(({ name }) => name).sort()).toEqual(offered);
  });

  test('registers, signs in through the browser and lists', async () => {
    const result = await run([...listOrders, question]);
    expect([rowsOf(result), desktop.opened.length]).toEqual([await expected(), 1]);
  });
});
