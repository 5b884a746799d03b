import { describe, expect, test } from 'vitest';
import { createMemorySource } from '../../src/agent/sources/memory.ts';
import { accessOf, shopTables } from '../agent/shop.ts';
import { emptyAgent, messageOf, shopAgent } from '../app/agent.ts';

type Options = Parameters<ReturnType<typeof emptyAgent>['agent']['addDataSource']>[1];

async function served(options: Options): Promise<Record<string, readonly string[]>> {
  const { agent } = emptyAgent();
  const { engine } = await agent.addDataSource(() => createMemorySource('shop', shopTables), options).start();
  return Object.fromEntries(engine.index(accessOf()).map(({ name, relations }) => [name, relations]));
}

describe('data source options', () => {
  test('factory | DataSourceFactory | datasource factory function, given the log and the clock, async ones too', async () => {
    const { agent } = emptyAgent();
    const given: unknown[] = [];
    agent.addDataSource(async ({ observe, clock }) => {
      given.push(typeof observe, typeof clock.now());
      return createMemorySource('shop', shopTables);
    });
    const { engine } = await agent.start();
    expect([given, engine.index(accessOf()).length]).toEqual([['function', 'number'], 4]);
  });

  test('factory: one that throws ends the start with the line that added it', async () => {
    const { agent } = shopAgent();
    agent.addDataSource(() => Promise.reject(new Error('no such host')));
    expect(await messageOf(() => agent.start())).toMatch(
      /^The data source failed: no such host \(.*2\.2-data-source-options\.test\.ts:\d+\)$/,
    );
  });

  test('include | string[] | collections to include: these alone, and relations between them', async () => {
    expect(await served({ include: ['orders', 'customers'] })).toEqual({ customers: ['orders'], orders: ['customer'] });
  });

  test('exclude | string[] | collections to exclude', async () => {
    expect(await served({ exclude: ['customers', 'line_notes'] })).toEqual({
      order_lines: ['order'],
      orders: ['order_lines'],
    });
  });

  test('rename | Record<string, string> | rename collections: relations follow', async () => {
    expect(await served({ include: ['orders', 'customers'], rename: { customers: 'clients' } })).toEqual({
      clients: ['orders'],
      orders: ['customer'],
    });
  });

  test.each<[string, unknown, RegExp]>([
    ['include', { include: ['order'] }, /shop holds no 'order'\. Near: orders/],
    ['exclude', { exclude: ['order'] }, /shop holds no 'order'\. Near: orders/],
    ['rename', { rename: { order: 'x' } }, /shop holds no 'order'\. Near: orders/],
    ['rename to a name that is there', { rename: { orders: 'customers' } }, /'customers' is published by both/],
    ['an unknown option', { includes: [] }, /no option 'includes'\. Near: include/],
    ['a list that is none', { include: 'orders' }, /'include' must be a list of names/],
    ['a map that is none', { rename: ['orders'] }, /'rename' must map names/],
  ])('%s that cannot be is told with the line', async (_what, options, problem) => {
    const message = await messageOf(() => served(options as Options));
    expect([message, message]).toEqual([
      expect.stringMatching(problem),
      expect.stringMatching(/\(.*2\.2-data-source-options\.test\.ts:\d+\)$/),
    ]);
  });
});
