// Every operation of the customizer returns the customizer, and the agent starts.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import type { CollectionCustomizer, CollectionPlugin } from '../../src/agent/customize/customizer.ts';
import { createMemoryDataSource } from '../../src/index.ts';
import { emptyAgent, messageOf, shopAgent } from '../app/agent.ts';
import { openShop } from './opened.ts';

const label = {
  columnType: 'String',
  dependencies: ['total'],
  getValues: (records: readonly unknown[]) => records.map(() => 'a'),
} as const;

test('chaining: every operation returns the customizer', async () => {
  const given: unknown[] = [];
  let customizer: CollectionCustomizer | undefined;
  const everything = (agent: HeadlessAgent) =>
    agent.customizeCollection('orders', (orders) => {
      customizer = orders;
      given.push(
        orders.addAction('Act', { scope: 'Global', execute: () => undefined }),
        orders.addField('label', label),
        orders.importField('city', { path: 'customer:city' }),
        orders.renameField('city', 'town'),
        orders.removeField('label'),
        orders.setFieldNullable('total'),
        orders.addManyToOneRelation('a', 'customers', { foreignKey: 'customer_id' }),
        orders.addOneToManyRelation('b', 'line_notes', { originKey: 'order_id' }),
        orders.addOneToOneRelation('c', 'customers', { originKey: 'id' }),
        orders.addSegment('d', { field: 'id', operator: 'Present' }),
        orders.addHook('Before', 'List', () => {}),
        orders.replaceSearch(() => ({ field: 'id', operator: 'Present' })),
        orders.disableSearch(),
        orders.emulateFieldSorting('total'),
        orders.replaceFieldSorting('id', [{ field: 'placed_at' }]),
        orders.disableFieldSorting('customer_id'),
        orders.emulateFieldFiltering('label'),
        orders.emulateFieldOperator('placed_at', 'Present'),
        orders.replaceFieldOperator('total', 'Equal', () => ({ field: 'id', operator: 'Present' })),
        orders.addChart('sum', (_, result) => result.value(1)),
        orders.addManyToManyRelation('e', 'customers', 'line_notes', { originKey: 'order_id', foreignKey: 'line' }),
        orders.addFieldValidation('total', 'GreaterThan', 0),
        orders.replaceFieldWriting('total', (value) => ({ total: value })),
        orders.overrideCreate(() => []),
        orders.overrideUpdate(() => {}),
        orders.overrideDelete(() => {}),
        orders.disableCount(),
        orders.use(() => {}),
      );
    });
  await openShop(everything);
  expect([given.length, given.filter((each) => each !== customizer)]).toEqual([28, []]);
});

test('chaining: addExternalRelation and replaceFieldBinaryMode return the customizer too', async () => {
  const { agent } = emptyAgent();
  const files = {
    name: 'files',
    columns: [
      { name: 'id', type: 'Number' as const },
      { name: 'bytes', type: 'Binary' as const, nullable: true },
    ],
    primaryKey: ['id'],
    rows: [],
  };
  const given: boolean[] = [];
  agent
    .addDataSource(createMemoryDataSource('memory', [files]))
    .customizeCollection('files', (each) =>
      given.push(
        each.addExternalRelation('far', { schema: { n: 'Number' }, listRecords: () => [] }) === each,
        each.replaceFieldBinaryMode('bytes', 'hex') === each,
      ),
    );
  expect([await messageOf(() => agent.start()), given]).toEqual(['it worked', [true, true]]);
});

test('chaining: the operations beyond the list of the specification return the customizer too', async () => {
  const { agent } = shopAgent();
  const given: unknown[] = [];
  let customizer: CollectionCustomizer | undefined;
  agent.customizeCollection('orders', (orders) => {
    customizer = orders as unknown as CollectionCustomizer;
    given.push(
      customizer.describe({ description: 'Orders of the shop' }),
      customizer.describeField('total', { description: 'With tax' }),
      customizer.displayField('id'),
      customizer.setFieldFilledByDatabase('total'),
      customizer.setMinGroupSize(2),
      customizer.allowNestedWrites(),
      customizer.trustForeignKey(),
      customizer.removeField(),
      customizer.addPolymorphicManyToOneRelation('about', { typeField: 'status', foreignKey: 'customer_id', targets: { open: 'customers' } }),
    );
  });
  await messageOf(() => agent.start());
  expect([given.length, given.filter((each) => each !== customizer)]).toEqual([9, []]);
}); // biome-ignore format: short

test('use: the calls of an async plugin take the place of its use', async () => {
  const namesAfter = async (say: (orders: CollectionCustomizer, plugin: CollectionPlugin<undefined>) => unknown) => {
    const { agent, schemaPath } = shopAgent();
    agent.customizeCollection('orders', (orders) => {
      say(orders, async (inner) => {
        await new Promise(setImmediate);
        inner.renameField('sum', 'amount');
      });
    });
    const message = await messageOf(() => agent.start());
    if (message !== 'it worked') return message;
    const { collections } = JSON.parse(readFileSync(schemaPath, 'utf8'));
    const { fields } = collections.find(({ name }: { name: string }) => name === 'orders');
    return fields.map(({ field }: { field: string }) => field).includes('amount');
  };
  expect([
    await namesAfter((orders, plugin) => orders.renameField('total', 'sum').use(plugin)),
    await namesAfter((orders, plugin) => orders.use(plugin).renameField('total', 'sum')),
  ]).toEqual([true, expect.stringContaining("no field 'sum'")]);
});

test('use: an error of a plugin ends the start with the lines of its use and of its call', async () => {
  const startWith = (plugin: CollectionPlugin<undefined>) => {
    const { agent } = shopAgent();
    agent.customizeCollection('orders', (orders) => void orders.use(plugin));
    return messageOf(() => agent.start());
  };
  const line = '4\\.2-collection-customizer\\.test\\.ts:\\d+';
  expect([
    await startWith((inner) => void inner.removeField('totl')),
    await startWith(async () => Promise.reject(new Error('no'))),
  ]).toEqual([
    expect.stringMatching(new RegExp(`no field 'totl'\\. Near: total\\. \\(.*${line}, by a plugin at .*${line}\\)`)),
    expect.stringMatching(new RegExp(`A plugin failed: no \\(.*${line}\\)`)),
  ]);
});
