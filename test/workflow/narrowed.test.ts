// A consent or an MCP URL restricted to some collections also restricts the workflow runs started under it.

import * as oauth from 'oauth4webapi';
import { expect, test } from 'vitest';
import { all, connect, type Desk, openDesk } from '../app/approvals.ts';
import { issuerOf, redirectUri } from '../app/shop.ts';
import { authorizationUrl, redeem, register } from '../oauth/client.ts';
import { createBrowser } from '../oauth/flow.ts';

const kim = { email: 'kim@example.test', password: 'correct horse battery' };

const open = (): Promise<Desk> =>
  openDesk({
    permissions: { '*': all },
    customize: (agent) => {
      agent.customizeCollection('orders', (orders) => orders.importField('customer_name', { path: 'customer:name' }));
      for (const [name, values] of [
        ['renames the customer', { customer_name: 'Mallory' }],
        ['sets the total', { total: 99 }],
      ] as const)
        agent.addWorkflow({
          ...{ name, collection: 'orders' },
          steps: [{ id: 'set', type: 'update-record', mode: 'automatic', values }],
        });
    },
  });

/** Starts the workflow on order 1 and waits for its end. */
async function run(desk: Desk, mcpUrl: string, token: string, workflow: string): Promise<unknown> {
  const assistant = await connect({ mcpUrl }, token, '2026-07-28');
  const listed = JSON.parse(await assistant.call('listWorkflows', { collectionName: 'orders' })) as {
    rows: string[][];
  };
  const [workflowId] = listed.rows.find(([, name]) => name === workflow)!;
  const started = await assistant.call('triggerWorkflow', { workflowId, recordId: '1' });
  const { runId } = JSON.parse(started) as { runId: string };
  for (let at = 0; at < 200; at++) {
    const found = await desk.store.runs.find(runId);
    if (found?.state === 'succeeded' || found?.state === 'failed') return [found.state, found.failure?.code];
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return 'never ended';
}

async function consented(desk: Desk, choice: Record<string, string | string[]>): Promise<string> {
  const registered = await register(issuerOf(desk), { client_name: 'Notebook', redirect_uris: [redirectUri] });
  const scope = 'mcp:read mcp:write mcp:action';
  const { url, verifier } = await authorizationUrl(registered, { redirectUri, resource: desk.mcpUrl, scope });
  const browser = createBrowser();
  const consent = await browser.press(await browser.open(url), 'sign-in', { ...kim });
  const answer = await browser.press(consent, 'allow', choice as never);
  const parameters = oauth.validateAuthResponse(registered.server, registered.client, answer.leftTo!, 'the-state');
  return (await redeem(registered, { parameters, verifier, redirectUri })).access_token;
}

test.each([
  ['a consent', (desk: Desk) => consented(desk, { which: 'some', collection: ['orders'] }), ''],
  ['a URL', (desk: Desk) => desk.tokenOf(desk.userId, 'limited'), '?collections=orders'],
] as const)('%s for one collection', async (_, tokenOf, query) => {
  const desk = await open();
  const token = await tokenOf(desk);
  const ends = [];
  for (const workflow of ['renames the customer', 'sets the total'])
    ends.push(await run(desk, desk.mcpUrl + query, token, workflow));
  const { orders, customers } = await desk.state();
  expect([ends, orders[0], customers]).toEqual([
    [
      ['failed', 'INVALID_RECORD'],
      ['succeeded', undefined],
    ],
    '1 boots 99 1',
    ['1 Ada', '2 Bo'],
  ]);
});

test('without a limit both succeed', async () => {
  const desk = await open();
  const token = await consented(desk, { which: 'all' });
  expect(await run(desk, desk.mcpUrl, token, 'renames the customer')).toEqual(['succeeded', undefined]);
  expect((await desk.state()).customers).toEqual(['1 Mallory', '2 Bo']);
});
