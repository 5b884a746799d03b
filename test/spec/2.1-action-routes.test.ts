// The URLs of actions over HTTP.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder, shopAgent } from '../app/agent.ts';
import { frontOrigin, sessionToken } from '../rest/front-end.ts';
import { addUserIn } from '../users.ts';

const account = { email: 'ada@example.com', password: 'correct horse battery' };

/** The status of each URL of the second action of orders. */
async function ends(useUnsafeActionEndpoint: boolean): Promise<number[]> {
  const dataDir = join(makeFolder(), 'data');
  await addUserIn(dataDir, { ...account, firstName: 'Ada', lastName: 'Byron', level: 'admin' });
  const { agent } = shopAgent({ useUnsafeActionEndpoint, settings: { dataDir, agentOrigins: [frontOrigin] } });
  agent.customizeCollection('orders', (orders) =>
    orders
      .addAction('Open', { scope: 'Global', execute: (_, result) => result.success('opened') })
      .addAction('Close now!', { scope: 'Global', execute: (_, result) => result.success('closed') }),
  );
  agent.mountAiMcpServer();
  const { server } = await agent.mountOnStandaloneServer(0).start();
  const api = `${server!.address}/service`;
  const headers = {
    authorization: `Bearer ${await sessionToken(api, account)}`,
    'content-type': 'application/json',
  };
  const paths = [
    'orders/1/close-now-',
    'orders/close-now-',
    'orders/0/close-now-',
    'orders/1/open',
    'orders/close-now',
  ];
  const body = JSON.stringify({ data: { attributes: {} } });
  return Promise.all(
    paths.map(async (path) => (await fetch(`${api}/_actions/${path}`, { method: 'POST', headers, body })).status),
  );
}

test('with useUnsafeActionEndpoint the action route is /_actions/{collection}/{slug} instead of /_actions/{collection}/{index}/{slug}', async () => {
  expect([await ends(false), await ends(true)]).toEqual([
    [200, 404, 404, 404, 404],
    [404, 200, 404, 404, 404],
  ]);
});
