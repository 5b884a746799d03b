import { expect, test } from 'vitest';
import { accessOf, sellers } from '../agent/shop.ts';

test('Charts | addChart(name, definition) | a chart of each record of the collection', async () => {
  const shop = await sellers[0]!.open({
    customize: (agent) =>
      agent.customizeCollection('customers', (customers) =>
        customers.addChart('city', async ({ getRecord }, builder) => builder.smart(await getRecord(['city']))),
      ),
  });
  const request = { chart: 'city', collection: 'customers', id: 2 };
  expect([
    shop.engine.charts.names(accessOf(), 'customers'),
    await shop.engine.charts.render(accessOf(), request),
  ]).toEqual([['city'], { city: 'Rome' }]);
  await shop.close();
});
