// The code of the shop: relations, imported and computed fields, segments, metrics, and a second source.
import type { HeadlessAgent } from '../../../src/agent/agent.ts';
import { createMemoryDataSource } from '../../../src/agent/data-sources.ts';
import type { MemoryTable } from '../../../src/agent/sources/memory/tables.ts';
import { agentsOf, leaf, type World } from './shop.ts';

/** What the code shows of hidden fields is equal in both worlds for each record that the clerk may see. */
export function customize(agent: HeadlessAgent, world: World): void {
  agent
    .addDataSource(createMemoryDataSource('brokers', [brokers(world)]))
    .customizeCollection('customers', (customers) =>
      customers
        .addManyToOneRelation('referrer', 'customers', { foreignKey: 'referrer_id' })
        .addOneToManyRelation('referred', 'customers', { originKey: 'referrer_id' })
        .addManyToManyRelation('watched', 'orders', 'watches', { originKey: 'customer_id', foreignKey: 'order_id' })
        .importField('parent_name', { path: 'parent:name' })
        .importField('parent_credit', { path: 'parent:credit' })
        .addField('title', {
          columnType: 'String',
          dependencies: ['name'],
          getValues: (records) => records.map(({ name }) => `Dear ${name}`),
        })
        .addField('parent_title', {
          columnType: 'String',
          dependencies: ['parent:name'],
          getValues: (records) => records.map(({ parent }) => `Child of ${(parent as { name?: string } | null)?.name}`),
        })
        .emulateFieldFiltering('title')
        .emulateFieldFiltering('parent_title')
        .replaceFieldSorting('title', [{ field: 'name', ascending: false }])
        .renameField('born', 'birthday')
        .addOneToOneRelation('first_order', 'orders', { originKey: 'customer_id' })
        .addSegment('Gold', leaf('tier', 'Equal', 'gold'))
        .addSegment('From Oslo', leaf('city', 'Equal', 'Oslo')),
    )
    .customizeCollection('orders', (orders) =>
      orders
        .addManyToOneRelation('agent', 'agents', { foreignKey: 'agent_id' })
        .addManyToOneRelation('coupon', 'coupons', { foreignKey: 'coupon_id' })
        .addManyToOneRelation('broker', 'brokers', { foreignKey: 'agent_id' })
        // Names are not unique: it leads to the lowest key that the caller may see.
        .addManyToOneRelation('namesake', 'customers', { foreignKey: 'label', foreignKeyTarget: 'name' })
        .importField('customer_name', { path: 'customer:name' })
        .importField('customer_tier', { path: 'customer:tier' })
        .addPolymorphicOneToManyRelation('remarks', 'remarks', {
          ...{ originKey: 'about_id', typeField: 'about_type', type: 'order' },
        })
        .addSegment('Of gold', leaf('customer:tier', 'Equal', 'gold'))
        .addSegment('Large', { field: 'total', operator: 'GreaterThan', value: 90 }),
    )
    .customizeCollection('visits', (visits) =>
      visits.addManyToOneRelation('parcel', 'parcels', { foreignKey: 'parcel_id' }),
    )
    .customizeCollection('agents', (agents) =>
      agents.addOneToManyRelation('orders', 'orders', { originKey: 'agent_id' }),
    )
    .customizeCollection('brokers', (each) => each.addOneToManyRelation('deals', 'orders', { originKey: 'agent_id' }))
    .customizeCollection('coupons', (coupons) =>
      coupons.addOneToManyRelation('orders', 'orders', { originKey: 'coupon_id' }),
    )
    .customizeCollection('remarks', (remarks) =>
      remarks.addPolymorphicManyToOneRelation('about', {
        ...{ foreignKey: 'about_id', typeField: 'about_type' },
        targets: { order: 'orders', customer: 'customers' },
      }),
    )
    .addMetric('gold customers', {
      collection: 'customers',
      measure: { count: true },
      filter: leaf('tier', 'Equal', 'gold'),
    })
    .addMetric('gold sales', {
      collection: 'orders',
      measure: { sum: 'total' },
      filter: leaf('customer:tier', 'Equal', 'gold'),
    })
    .addMetric('payroll', { collection: 'staff', measure: { sum: 'wage' } })
    .addMetric('sold', { collection: 'items', measure: { sum: { times: ['quantity', 'order:total'] } } });
}

const brokers = (world: World): MemoryTable => ({
  name: 'brokers',
  columns: [
    { name: 'id', type: 'Number' },
    { name: 'name', type: 'String' },
    { name: 'zone', type: 'String' },
    { name: 'bonus', type: 'Number' },
  ],
  primaryKey: ['id'],
  rows: agentsOf(world),
});
