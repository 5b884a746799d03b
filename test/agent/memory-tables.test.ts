import { expect, test } from 'vitest';
import { createMemoryDataSource } from '../../src/index.ts';
import { messageOf } from '../app/agent.ts';

const table = {
  name: 'orders',
  columns: [
    { name: 'id', type: 'Number' },
    { name: 'total', type: 'Number' },
  ],
  primaryKey: ['id'],
  rows: [[1, 2]],
};
const key = { columns: ['total'], table: 'orders', targetColumns: ['id'] };

test.each<[what: string, tables: unknown, problem: string]>([
  ['an object instead of a list of tables', {}, 'createMemoryDataSource needs a list of tables.'],
  ['a table without a name', [{ ...table, name: undefined }], 'The table needs a name.'],
  ['a duplicate table', [table, table], "The table 'orders' is defined twice."],
  ['no columns', [{ ...table, columns: [] }], "The table 'orders' needs columns."],
  ['a duplicate column', [{ ...table, columns: [table.columns[0], table.columns[0]] }], "The column of 'orders' 'id' is defined twice."],
  ['an unknown type', [{ ...table, columns: [{ name: 'id', type: 'Numbr' }] }], "The column 'id' of 'orders' has an unknown type: 'Numbr'. Near: Number."],
  ['an enum without values', [{ ...table, columns: [{ name: 'id', type: 'Enum' }] }], "The column 'id' of 'orders' needs enumValues."],
  ['an unknown key column', [{ ...table, primaryKey: ['idd'] }], "A key of 'orders' names an unknown column: 'idd'. Near: id."],
  ['a foreign key to an unknown table', [{ ...table, foreignKeys: [{ ...key, table: 'order' }] }], "A foreign key of 'orders' points to an unknown table: 'order'. Near: orders."],
  ['a foreign key to an unknown column', [{ ...table, foreignKeys: [{ ...key, targetColumns: ['ids'] }] }], "A foreign key of 'orders' points to an unknown column of 'orders': 'ids'. Near: id."],
  ['a foreign key to too many columns', [{ ...table, foreignKeys: [{ ...key, targetColumns: ['id', 'total'] }] }], "A foreign key of 'orders' has 1 columns but points to 2."],
  ['no rows', [{ ...table, rows: undefined }], "The table 'orders' needs rows, a list of lists."],
  ['a row that is too short', [{ ...table, rows: [[1, 2], [3]] }], "Row 1 of 'orders' does not have a value for each of its 2 columns."],
])('%s is refused with the line', async (_what, tables, problem) => {
  const message = await messageOf(() => createMemoryDataSource('shop', tables as never));
  expect(message.replace(/ \([^(]*\)$/, '')).toBe(problem);
  expect(message).toMatch(/memory-tables\.test\.ts:\d+\)$/);
}); // biome-ignore format: a table
