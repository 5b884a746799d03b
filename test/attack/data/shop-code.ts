// The customization of the shop.
import type { HeadlessAgent } from '../../../src/agent/agent.ts';

export function customize(agent: HeadlessAgent): void {
  agent.customizeCollection('customers', (customers) =>
    customers
      .addField('display', {
        columnType: 'String',
        dependencies: ['name'],
        getValues: (rows) => rows.map(({ name }) => name as string),
      })
      .replaceFieldSorting('display', [{ field: 'secret', ascending: true }]),
  );
  agent.customizeCollection('orders', (orders) =>
    orders
      .importField('customer_name', { path: 'customer:name' })
      .addAction('Refund', {
        scope: 'Single',
        form: [{ label: 'reason', type: 'String' }],
        execute: async (context, result) => {
          await context.collection.update(context.filter, { total: 0 });
          return result.success('Refunded.');
        },
      })
      .addAction('Attach', {
        scope: 'Single',
        form: [{ label: 'File', type: 'File' }],
        execute: async (context, result) => {
          await context.collection.update(context.filter, { label: context.formValues.File ? 'attached' : 'nothing' });
          return result.success('Attached.');
        },
      }),
  );
  for (const [name, values] of [
    ['renames the customer', { customer_name: 'Mallory' }],
    ['sets the total', { total: 99 }],
  ] as const)
    agent.addWorkflow({
      ...{ name, collection: 'orders' },
      steps: [{ id: 'set', type: 'update-record', mode: 'automatic', values }],
    });
}
