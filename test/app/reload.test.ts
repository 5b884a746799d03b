// A running server serves changed tables, notifies the clients that listen, and follows a request in the storage.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { requestReload } from '../../src/store/settings.ts';
import { runSql } from '../sql/schemas.ts';
import { callTool } from './call.ts';
import { openShop, type Shop, signedIn } from './shop.ts';

const COLUMN = 'ALTER TABLE customers ADD COLUMN nickname TEXT';

async function open(seconds: number): Promise<{ readonly shop: Shop; readonly token: string }> {
  const shop = await openShop({ env: { SERVICE_SCHEMA_SECONDS: String(seconds) } });
  onTestFinished(() => shop.stop());
  return { shop, token: (await signedIn(shop)).token };
}

const change = ({ database: url }: Shop, sql: string) =>
  runSql({ dialect: 'sqlite', url, drop: async () => {} }, [sql]);

const describe = async (shop: Shop, token: string, collectionName: string) =>
  JSON.stringify(await callTool(shop.mcpUrl, token, 'describeCollection', { collectionName }));

test('a new column is described, and a listening client is notified of changed tools and resources', async () => {
  const { shop, token } = await open(1);
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(shop.mcpUrl), { requestInit }));
  const heard: string[] = [];
  for (const what of ['tools', 'resources'] as const)
    client.setNotificationHandler(`notifications/${what}/list_changed`, () => void heard.push(what));
  const listening = await client.listen({ toolsListChanged: true, resourcesListChanged: true });
  await change(shop, COLUMN);
  await expect.poll(() => heard).toEqual(['tools', 'resources']);
  expect(await describe(shop, token, 'customers')).toContain('nickname');
  await listening.close();
  await client.close();
});

test('a reload request in the storage makes the server read the tables', async () => {
  const { shop, token } = await open(0);
  await change(shop, COLUMN);
  expect(await describe(shop, token, 'customers')).not.toContain('nickname');
  await requestReload(shop.store.settings);
  await expect.poll(() => describe(shop, token, 'customers')).toContain('nickname');
});

test('a part of a name with * finds visible collections only', async () => {
  const { shop, token } = await open(0);
  await shop.store.permissions.setRole('Clerk', { orders: { browse: true, read: true } as never });
  const clerk = await shop.addUser({ email: 'cleo@example.com', team: 'Operations', role: 'Clerk' });
  const { token: ofClerk } = await signedIn(shop, clerk);
  const found = async (of: string, name: string) => describe(shop, of, name);
  expect(await found(token, 'ORDER*')).toMatch(/"orders"/);
  expect(await found(token, '*_items')).toMatch(/"order_items"/);
  expect(await found(token, '*usto*rs')).toMatch(/"customers"/);
  expect(await found(token, 'customers*customers')).toMatch(/UNKNOWN_COLLECTION/);
  expect(await found(ofClerk, '*')).toMatch(/^(?!.*customers).*"orders"/);
  expect(await found(ofClerk, 'custom*')).toMatch(/UNKNOWN_COLLECTION/);
});
