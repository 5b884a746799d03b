// Every operation of the customizer returns the customizer, and the agent starts.
import { expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import type { CollectionCustomizer } from '../../src/agent/customize/customizer.ts';
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
