// What Portico is told of the warehouse.
import { createAgent, createMemoryDataSource } from 'portico';

export function createWarehouseAgent(publicUrl: string) {
  return createAgent({
    authSecret: process.env.AUTH_SECRET ?? 'for trying it out only',
    envSecret: process.env.ENV_SECRET ?? 'for trying it out only',
    settings: { publicUrl },
  })
    .addDataSource(
      createMemoryDataSource('warehouse', [
        {
          name: 'parcels',
          columns: [
            { name: 'id', type: 'Number' },
            { name: 'shelf', type: 'String' },
            { name: 'grams', type: 'Number' },
          ],
          primaryKey: ['id'],
          rows: [
            [1, 'A-1', 1200],
            [2, 'A-2', 31_000],
          ],
        },
      ]),
    )
    .customizeCollection('parcels', (parcels) =>
      parcels.addSegment('Heavy', { field: 'grams', operator: 'GreaterThan', value: 25_000 }),
    )
    .mountAiMcpServer({ basePath: '/portico' });
}
