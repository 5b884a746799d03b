// A shop with every form of type in typings; `typed-shop-typings.ts` is generated from it.
import { createMemoryDataSource, type DataSourceFactory } from '../../src/index.ts';

export const typedShop = (): DataSourceFactory =>
  createMemoryDataSource('typed shop', [
    {
      name: 'customers',
      columns: [
        { name: 'id', type: 'Number' },
        { name: 'name', type: 'String' },
        { name: 'city', type: 'String', nullable: true },
        { name: 'level', type: 'Enum', enumValues: ['gold', "it's"], nullable: true },
        { name: 'born', type: 'Dateonly' },
        { name: 'tags', type: ['String'] },
        { name: 'photo', type: 'Binary', nullable: true },
        { name: 'extra data', type: 'Json' },
      ],
      primaryKey: ['id'],
      rows: [],
    },
    {
      name: 'orders',
      columns: [
        { name: 'id', type: 'Number' },
        { name: 'customer_id', type: 'Number', nullable: true },
        { name: 'total', type: 'Number' },
        { name: 'placed_at', type: 'Date' },
        { name: 'isPaid', type: 'Boolean' },
      ],
      primaryKey: ['id'],
      foreignKeys: [{ columns: ['customer_id'], table: 'customers', targetColumns: ['id'] }],
      rows: [],
    },
    {
      name: 'order-lines',
      columns: [
        { name: 'order_id', type: 'Number' },
        { name: 'line', type: 'Number' },
      ],
      primaryKey: ['order_id', 'line'],
      foreignKeys: [{ columns: ['order_id'], table: 'orders', targetColumns: ['id'] }],
      rows: [],
    },
  ]);
