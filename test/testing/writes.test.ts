// Writes of the test client.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestableAgent, type TestableAgent } from '../../src/testing/index.ts';
import { describeShop } from './shop.ts';
import { failing } from './thrown.ts';

let place: TestableAgent;
beforeAll(async () => {
  place = await createTestableAgent(describeShop);
});
afterAll(() => place?.close());

const collection = (name: string) => place.client.collection(name);

describe('writing', () => {
  test('records are created, updated and deleted; ids of several columns too', async () => {
    const customers = collection('customers');
    const made = await customers.create({ id: 10, name: 'Dee', city: 'Oslo' });
    const changed = await customers.update(made.id, { city: null });
    const order = await collection('orders').create({
      id: 21,
      total: 7,
      placed_at: '2024-05-01T00:00:00.000Z',
      customer: made,
    });
    await collection('orders').update(order.id, { total: 8, customer: null });
    const pointed = await collection('orders').get(order.id, { fields: ['total', 'customer_id'] });
    const lines = collection('order_lines');
    await lines.create({ order_id: 5, line: 1, article: 'cap' });
    await lines.update([5, 1], { article: 'hat' });
    const line = await lines.get([5, 1], { fields: ['article'] });
    await lines.delete([[5, 1]]);
    await collection('orders').delete(order.id);
    await customers.delete([made.id]);
    expect([made, changed, pointed, line, await customers.count(), await failing(() => lines.get([5, 1]))]).toEqual([
      expect.objectContaining({ name: 'Dee', city: 'Oslo', label: 'Dee (Oslo)' }),
      expect.objectContaining({ name: 'Dee', city: null, label: 'Dee (nowhere)' }),
      { total: 8, customer_id: null },
      { article: 'hat' },
      3,
      [404, 'RECORD_NOT_FOUND'],
    ]);
  });

  test('refusals of hooks and rules are errors', async () => {
    expect([
      await failing(() => collection('customers').create({ id: 11, name: 'Nobody' })),
      await failing(() => collection('customers').create({ id: 11, nam: 'x' })),
      await failing(() => collection('customers').update(99, { name: 'x' })),
      await failing(() => collection('orders').delete([])),
    ]).toEqual([
      [400, 'INVALID_RECORD'],
      [400, 'INVALID_RECORD'],
      [404, 'RECORD_NOT_FOUND'],
      [400, 'INVALID_ARGUMENT'],
    ]);
  });
});

test('records are linked, unlinked, set and deleted', async () => {
  const of = (id: number) => collection('customers').relation('orders', id);
  const ids = async (id: number) => (await of(id).list({ fields: ['id'] })).map((order) => order.id);
  await of(1).associate(4);
  const linked = await ids(1);
  await of(1).dissociate([4]);
  const unlinked = await ids(1);
  const customerOf = collection('orders').relation('customer', 4);
  await customerOf.set(3);
  const pointed = await ids(3);
  await customerOf.set(null);
  const made = await collection('orders').create({
    id: 20,
    total: 1,
    placed_at: '2024-05-01T00:00:00.000Z',
    customer: 3,
  });
  await of(3).delete([made.id]);
  expect([linked, unlinked, pointed, await ids(3), await failing(() => collection('orders').get(made.id))]).toEqual([
    [1, 4],
    [1],
    [4, 5],
    [5],
    [404, 'RECORD_NOT_FOUND'],
  ]);
});
