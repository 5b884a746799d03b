import { expect, test } from 'vitest';
import { refusalOf } from '../agent/attempt.ts';
import { accessOf } from '../agent/shop.ts';
import { openShop } from './opened.ts';

test('addChart | name, definition(context, resultBuilder) | datasource-level chart; Agent', async () => {
  let given: unknown;
  let agentOf: unknown;
  const { engine } = await openShop((agent) => {
    agentOf = agent;
    given = agent.addChart('orders', async ({ collection }, result) =>
      result.value(await collection('orders').count({})),
    );
  });
  expect([
    given === agentOf,
    engine.charts.names(accessOf()),
    await engine.charts.render(accessOf(), { chart: 'orders' }),
    (await refusalOf(engine.charts.render(accessOf(), { chart: 'order' }))).details,
  ]).toMatchObject([true, ['orders'], { countCurrent: 5 }, { near: ['orders'] }]);
});
