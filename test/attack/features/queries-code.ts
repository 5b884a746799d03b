// Named queries on the tables of the shop.
import type { HeadlessAgent } from '../../../src/agent/agent.ts';

export function customize(agent: HeadlessAgent): void {
  agent.addQuery('spending', {
    sql: 'SELECT customer_id, sum(total) AS spent FROM orders WHERE label = :label GROUP BY customer_id',
    parameters: { label: { type: 'String' } },
    rowScope: { customers: 'customer_id' },
    ignoreRowScopes: ['orders'],
  });
  agent.addQuery('totals', { sql: 'SELECT city, name, secret FROM customers', beside: 'customers' });
}
