// Valid tests compile with generated typings, and invalid ones do not: tsc reads this file.
import { type AgentTestClient, createAgentTestClient } from '../../src/testing/index.ts';
import type { Schema } from './typed-shop-typings.ts';

declare const client: AgentTestClient<Schema>;
declare const plain: AgentTestClient;
const same = <A, B>(_: [A] extends [B] ? ([B] extends [A] ? true : false) : false) => undefined;

export async function read() {
  const orders = client.collection('orders');
  const listed = await orders.list({
    fields: ['total', 'customer:level'],
    filters: { field: 'customer:level', operator: 'Equal', value: 'gold' },
    sort: { field: 'placed_at', ascending: false },
  });
  same<(typeof listed)[number]['total'], number>(true);
  same<NonNullable<(typeof listed)[number]['customer']>['level'], 'gold' | "it's" | null>(true);
  const whole = await orders.get(1);
  same<(typeof whole)['isPaid'], boolean>(true);
  const related = await client
    .collection('customers')
    .relation('orders', 1)
    .list({ fields: ['total'] });
  same<(typeof related)[number]['total'], number>(true);
  const toOne = orders.relation('customer', 1);
  await toOne.set(null);
  await orders.create({ total: 1 });
  await client.overridePermissions({ orders: { edit: false }, '*': { delete: false } });
  // @ts-expect-error: no such collection
  client.collection('order');
  // @ts-expect-error: no such field
  await orders.list({ fields: ['totl'] });
  // @ts-expect-error: numbers do not start with anything
  await orders.list({ filters: { field: 'total', operator: 'StartsWith', value: 'x' } });
  // @ts-expect-error: the field is read-only
  await orders.update(1, { summary: 'x' });
  // @ts-expect-error: no such relation
  orders.relation('customers', 1);
  // @ts-expect-error: no such collection
  await client.overridePermissions({ order: { edit: false } });
}

export async function readPlainly() {
  const [first] = await plain.collection('anything').list({ fields: ['a:b'] });
  return first?.a.b;
}

export const connect = () =>
  createAgentTestClient<Schema>({
    agentServiceEnvSecret: 'x',
    agentServiceAuthSecret: 'x',
    agentUrl: 'x',
    serverUrl: 'x',
    agentSchemaPath: 'x',
  });
