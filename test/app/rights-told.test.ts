// A listening client is notified when rights change: in the open conversation the assistant gets the new tools and
// loses the removed ones. Users without a right are refused immediately, notified or not (wrong-things.test.ts).
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { openShop, type Shop, signedIn } from './shop.ts';

const rights = (may: boolean) => ({ browse: true, read: true, edit: may, add: may, delete: may, export: may });
/** The server polls every five seconds. */
const HEARD_MS = 15_000;

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
  // Consent offers only the scopes that grant something at that moment.
  await shop.store.permissions.setRole('Clerk', { '*': rights(true) });
});
afterAll(() => shop.stop());

async function until(holds: () => boolean): Promise<void> {
  for (let waited = 0; !holds() && waited < HEARD_MS; waited += 50) await systemClock.sleep(50);
}

test('a client is notified of tools and collections that its role gains or loses', { timeout: 60_000 }, async () => {
  const account = await shop.addUser({ email: 'cleo@example.com', team: 'Operations', role: 'Clerk' });
  const { token } = await signedIn(shop, account);
  await shop.store.permissions.setRole('Clerk', { '*': rights(false) });
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(shop.mcpUrl), { requestInit }));
  const heard: string[] = [];
  for (const what of ['tools', 'resources'] as const) {
    client.setNotificationHandler(`notifications/${what}/list_changed`, () => void heard.push(what));
  }
  const offers = async () => {
    const [tools, resources] = [await client.listTools(), await client.listResources()];
    return [
      tools.tools.some(({ name }) => name === 'create'),
      resources.resources.some(({ name }) => /orders/.test(name)),
    ];
  };
  const listening = await client.listen({ toolsListChanged: true, resourcesListChanged: true });
  const shown = [await offers()];
  const quiet = heard.length;
  const changes = [{ '*': rights(true) }, { categories: rights(true) }];
  for (const [at, change] of changes.entries()) {
    await shop.store.permissions.setRole('Clerk', change);
    await until(() => heard.length >= 2 * (at + 1));
    shown.push(await offers());
  }
  await listening.close();
  await client.close();
  expect([quiet, heard, shown]).toEqual([
    0,
    ['tools', 'resources', 'tools', 'resources'],
    [
      [false, true],
      [true, true],
      [true, false],
    ],
  ]);
});
