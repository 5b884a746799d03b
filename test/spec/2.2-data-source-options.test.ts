import { describe, expect, test } from 'vitest';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { accessOf, shopTables } from '../agent/shop.ts';
import { emptyAgent, messageOf, shopAgent } from '../app/agent.ts';

type Options = Parameters<ReturnType<typeof emptyAgent>['agent']['addDataSource']>[1];

describe('data source options', () => {
  test('factory | DataSourceFactory | a function, possibly async, that gets the log and the clock', async () => {
    const { agent } = emptyAgent();
    const given: unknown[] = [];
    agent.addDataSource(async ({ observe, clock }) => {
      given.push(typeof observe, typeof clock.now());
      return createMemorySource('shop', shopTables);
    });
    const { engine } = await agent.start();
    expect([given, engine.index(accessOf()).length]).toEqual([['function', 'number'], 4]);
  });

  test('factory: a factory that throws ends the start with the line that added it', async () => {
    const { agent } = shopAgent();
    agent.addDataSource(() => Promise.reject(new Error('no such host')));
    expect(await messageOf(() => agent.start())).toMatch(
      /^The data source failed: no such host \(.*2\.2-data-source-options\.test\.ts:\d+\)$/,
    );
  });

  test.each<[string, unknown, RegExp]>([
    ['include', { include: ['order'] }, /shop has no table 'order'\. Near: orders/],
    ['exclude', { exclude: ['order'] }, /shop has no table 'order'\. Near: orders/],
    ['rename', { rename: { order: 'x' } }, /shop has no table 'order'\. Near: orders/],
    ['rename to an existing name', { rename: { orders: 'customers' } }, /'customers' is published by both/],
    [
      'include: the second of two',
      { include: ['orders', 'Customers'] },
      /shop has no table 'Customers'\. Near: customers/,
    ],
    [
      'exclude: the second of two',
      { exclude: ['orders', 'customer'] },
      /shop has no table 'customer'\. Near: customers/,
    ],
    [
      'rename: the second of two',
      { rename: { orders: 'a', customer: 'b' } },
      /shop has no table 'customer'\. Near: customers/,
    ],
    ['rename to an empty name', { rename: { orders: '' } }, /'' cannot be a name/],
    ['rename to a path', { rename: { customers: 'people', orders: 'a:b' } }, /'a:b' cannot be a name/],
    ['rename to one name twice', { rename: { customers: 'x', orders: 'x' } }, /'x' is published by both/],
    ['rename to a number', { rename: { orders: 1 } }, /'rename' must be a map of names/],
    ['include: a list with a number', { include: ['orders', 1] }, /'include' must be a list of names/],
    ['exclude: a list with a number', { exclude: [null] }, /'exclude' must be a list of names/],
    ['exclude: a string', { exclude: 'orders' }, /'exclude' must be a list of names/],
    ['include, exclude, rename: an unknown option', { includes: [] }, /no option 'includes'\. Near: include/],
    ['include: not a list', { include: 'orders' }, /'include' must be a list of names/],
    ['rename: not a map', { rename: ['orders'] }, /'rename' must be a map of names/],
  ])('%s is invalid and ends the start with the line', async (_what, options, problem) => {
    const { agent } = emptyAgent();
    const message = await messageOf(() =>
      agent.addDataSource(() => createMemorySource('shop', shopTables), options as Options).start(),
    );
    expect([message, message]).toEqual([
      expect.stringMatching(problem),
      expect.stringMatching(/\(.*2\.2-data-source-options\.test\.ts:\d+\)$/),
    ]);
  });

  test.each<[string, unknown, RegExp]>([
    ['a data source instead of its factory', createMemorySource('shop', shopTables), /^addDataSource needs a factory/],
    ['a URL', 'sqlite:shop.sqlite', /^addDataSource needs a factory/],
    ['nothing', undefined, /^addDataSource needs a factory/],
    ['a factory that returns nothing', () => undefined, /must return a data source/],
    ['a factory that returns something else', async () => ({ name: 'shop' }), /must return a data source/],
  ])('factory: %s is refused with the line', async (_, factory, problem) => {
    const { agent } = emptyAgent();
    const message = await messageOf(() => agent.addDataSource(factory as never).start());
    expect([message, message]).toEqual([
      expect.stringMatching(problem),
      expect.stringMatching(/\(.*2\.2-data-source-options\.test\.ts:\d+\)$/),
    ]);
  });

  test('factory: several factories are called in order, each after the previous one returned', async () => {
    const { agent } = emptyAgent();
    const called: string[] = [];
    for (const name of ['first', 'second', 'third'])
      agent.addDataSource(async () => {
        called.push(name);
        await new Promise(setImmediate);
        called.push(`${name} given`);
        return createMemorySource(name, [{ ...shopTables[0]!, name, foreignKeys: [] }]);
      });
    await agent.start();
    expect(called).toEqual(['first', 'first given', 'second', 'second given', 'third', 'third given']);
  });
});
