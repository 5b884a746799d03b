import type { EngineAgent } from 'portico';
import { addDemoActions, addDemoCharts } from './actions.ts';
import { addDemoWorkflows } from './workflows.ts';

/**
 * The customizations of the demo shop: computed, imported and renamed fields, segments, actions, charts and workflows.
 */
export function customizeDemo(agent: EngineAgent): void {
  addDemoActions(agent);
  addDemoCharts(agent);
  addDemoWorkflows(agent);
  agent
    .customizeCollection('customers', (customers) =>
      customers
        .addField('full_name', {
          columnType: 'String',
          dependencies: ['first_name', 'last_name'],
          getValues: (records) => records.map((record) => `${record.first_name} ${record.last_name}`),
        })
        .replaceFieldSorting('full_name', [{ field: 'last_name' }, { field: 'first_name' }])
        .replaceFieldOperator('full_name', 'IContains', (value) => ({
          aggregator: 'And',
          conditions: String(value)
            .split(/\s+/)
            .map((word) => ({
              aggregator: 'Or',
              conditions: [
                { field: 'first_name', operator: 'IContains', value: word },
                { field: 'last_name', operator: 'IContains', value: word },
              ],
            })),
        })),
    )
    .customizeCollection('orders', (orders) =>
      orders
        .importField('customer_email', { path: 'customer:email' })
        .addSegment('to ship', { field: 'status', operator: 'Equal', value: 'paid' }),
    )
    .customizeCollection('products', (products) =>
      products
        .addField('margin_percent', {
          columnType: 'Number',
          dependencies: ['price', 'cost'],
          getValues: (records) =>
            records.map(({ price, cost }) => Math.round((1 - Number(cost) / Number(price)) * 1000) / 10),
        })
        .addSegment('out of stock', { field: 'stock', operator: 'Equal', value: 0 }),
    )
    .customizeCollection('suppliers', (suppliers) => suppliers.renameField('contact_email', 'email'));
}
