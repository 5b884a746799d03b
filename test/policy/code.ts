// The customization of the shop: relations, an imported field, charts, and actions of each scope.
import type { HeadlessAgent } from '../../src/agent/agent.ts';

export function addRelations(agent: HeadlessAgent): void {
  agent.customizeCollection('remarks', (remarks) =>
    remarks.addPolymorphicManyToOneRelation('about', {
      ...{ foreignKey: 'about_id', typeField: 'about_type' },
      targets: { order: 'orders', customer: 'customers' },
    }),
  );
  agent.customizeCollection('orders', (orders) =>
    orders
      .importField('customer_name', { path: 'customer:name' })
      .allowNestedWrites('customer')
      .addPolymorphicOneToManyRelation('remarks', 'remarks', {
        ...{ originKey: 'about_id', typeField: 'about_type', type: 'order' },
      })
      .addChart('age', async (context, result) => result.value(Number(context.recordId))),
  );
}

export function addAction(agent: HeadlessAgent): void {
  const noteOf = (id: number) => ({ conditionTree: { field: 'id', operator: 'Equal', value: id } }) as const;
  agent.customizeCollection('orders', (orders) =>
    orders
      .addAction('Refund', {
        scope: 'Single',
        execute: async ({ collection, filter }) => void (await collection.update(filter, { note: 'refunded' })),
      })
      .addAction('Sweep', {
        scope: 'Bulk',
        execute: async ({ collection, filter }) => void (await collection.update(filter, { note: 'swept' })),
      })
      .addAction('Close', {
        scope: 'Global',
        execute: async ({ collection }) => void (await collection.update(noteOf(2), { note: 'closed' })),
      })
      .addAction('Attach', {
        scope: 'Single',
        form: [{ label: 'proof', type: 'File', isRequired: true }],
        execute: async ({ collection, filter }) => void (await collection.update(filter, { note: 'attached' })),
      }),
  );
}
