// Relations with records that code returns, through the test client of an agent over HTTP.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestableAgent, type TestableAgent } from '../../src/testing/index.ts';
import { describeShop } from './shop.ts';

const offers = [{ title: 'spring', percent: 5 }];
let place: TestableAgent;
beforeAll(async () => {
  place = await createTestableAgent((agent) => {
    describeShop(agent);
    agent.customizeCollection('customers', (customers) =>
      customers.addExternalRelation('offers', {
        schema: { title: 'String', percent: 'Number' },
        listRecords: ({ id }) => (id === 1 ? offers : []),
      }),
    );
  });
});
afterAll(() => place?.close());

test('are a field of a record that was asked for', async () => {
  const customers = place.client.collection('customers');
  expect(await customers.list({ fields: ['id', 'offers'], page: { size: 2 } })).toEqual([
    { id: 1, offers },
    { id: 2, offers: [] },
  ]);
  expect(await customers.get(1, { fields: ['offers'] })).toEqual({ offers });
});

test('are listed and counted from one record, and cannot be written', async () => {
  const related = place.client.collection('customers').relation('offers', 1);
  expect([await related.list(), await related.list({ fields: ['title'] }), await related.count()]).toEqual([
    offers,
    [{ title: 'spring' }],
    1,
  ]);
  await expect(related.associate([1])).rejects.toThrow(/READ_ONLY|come from code/);
});
