// The policies of code, of the role and of every collection that a call writes hold together: where one of them asks for
// a second person, the user of the assistant cannot approve the call.
import { expect, test } from 'vitest';
import type { PolicyInput } from '../../src/core/caller.ts';
import { all, connect, type Desk, openDesk } from './approvals.ts';

const second = { policy: 'ask-person', secondPerson: true } as const;
const refund = { collectionName: 'orders', actionName: 'Refund', recordIds: [1], values: { reason: 'torn' } };

/** Whether the user of the assistant could approve the call, and whether another one could. */
async function approvals(desk: Desk, pending: string): Promise<readonly [own: boolean, other: boolean]> {
  const { approve } = JSON.parse(pending) as { readonly approve: string };
  const by = (user: number) =>
    desk.store.approvals.decide(approve.split('/').at(-1)!, { by: user, verdict: 'approved' });
  return [await by(desk.userId), await by(1)];
}

test.each<[ofCode: PolicyInput | undefined, ofRole: PolicyInput | undefined]>([
  [second, undefined],
  [second, 'allow'],
  [second, 'ask'],
  [second, 'ask-person'],
  [second, second],
  [undefined, second],
  ['allow', second],
  ['ask', second],
  ['ask-person', second],
])('an action with the policy %j of code and %j of the role needs a second person', async (ofCode, ofRole) => {
  const actions = { Refund: { trigger: true, ...(ofRole && { approval: ofRole }) } };
  const desk = await openDesk({
    permissions: { '*': { ...all, actions } },
    ...(ofCode && { approval: ofCode }),
  });
  const assistant = await connect(desk, desk.token, '2026-07-28', () => 'accept');
  const pending = await assistant.call('executeAction', refund);
  expect([await approvals(desk, pending), assistant.questions, (await desk.state()).ran]).toEqual([
    [false, true],
    [],
    [],
  ]);
  await assistant.call('executeAction', refund);
  expect((await desk.state()).ran).toEqual(['1 torn']);
});

test.each<[ofOrders: PolicyInput, ofCustomers: PolicyInput]>([
  ['allow', second],
  ['ask', second],
  ['ask-person', second],
  [second, 'allow'],
  [second, 'ask-person'],
])('a write of orders (%j) that reaches customers (%j) needs a second person', async (ofOrders, ofCustomers) => {
  const desk = await openDesk({
    permissions: {
      orders: { ...all, approval: { edit: ofOrders } },
      customers: { ...all, approval: { edit: ofCustomers } },
    },
    customize: (agent) =>
      void agent.customizeCollection('orders', (orders) => void orders.allowNestedWrites('customer')),
  });
  const assistant = await connect(desk, desk.token, '2026-07-28', () => 'accept');
  const update = { collectionName: 'orders', recordId: 1, attributes: { total: 99, 'customer:name': 'Eva' } };
  const pending = await assistant.call('update', update);
  expect([await approvals(desk, pending), assistant.questions]).toEqual([[false, true], []]);
  await assistant.call('update', update);
  const { orders, customers } = await desk.state();
  expect([orders[0], customers[0]]).toEqual(['1 boots 99 1', '1 Eva']);
});
