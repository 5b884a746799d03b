// Further edge cases of customizer operations (behaviour 4.2), over HTTP and MCP: segments of the old form, plugins that
// use plugins, and relations without a record.
import { expect, test } from 'vitest';
import type { CollectionCustomizer, PlainFilter } from '../../src/index.ts';
import { serveOutside } from './outside.ts';

const tables = [
  'CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL)',
  'CREATE TABLE orders (id INTEGER PRIMARY KEY, total INTEGER NOT NULL, note VARCHAR(20), customer_id INTEGER REFERENCES customers(id), extra INTEGER)',
  "INSERT INTO customers VALUES (1, 'Ada'), (2, 'Bo'), (3, 'Cy')",
  "INSERT INTO orders VALUES (1, 10, 'x', 1, 7), (2, 50, 'y', 1, 7), (3, 50, 'x', 2, 7), (4, 5, 'z', NULL, 7)",
];
const big: PlainFilter = { field: 'orders:total', operator: 'GreaterThan', value: 20 };
const marked: PlainFilter = { field: 'orders:note', operator: 'Equal', value: 'x' };
/** Each is ambiguous in a filter of a caller. */
const segments: Readonly<Record<string, readonly [filter: PlainFilter, ids: readonly number[]]>> = {
  'two conditions of some order': [{ aggregator: 'And', conditions: [big, marked] }, [1, 2]],
  'another note in some order': [{ field: 'orders:note', operator: 'NotEqual', value: 'x' }, [1]],
  'two conditions below an Or': [{ aggregator: 'Or', conditions: [{ aggregator: 'And', conditions: [marked, big] }] }, [1, 2]],
}; // biome-ignore format: a table

const pause = () => new Promise(setImmediate);
const place = serveOutside(tables, (agent) =>
  agent
    .customizeCollection('customers', (customers) => {
      for (const [name, [filter]] of Object.entries(segments))
        customers
          .addSegment(name, filter)
          .addSegment(`${name}, by a function`, () => filter)
          .addSegment(`${name}, by an async function`, async () => filter);
    })
    .use((each: CollectionCustomizer) => {
      if (each.name !== 'orders') return;
      each.use(async (inner) => {
        await pause();
        inner.renameField('extra', 'sum');
        inner.use(async (innermost) => {
          await pause();
          innermost.renameField('sum', 'amount');
        });
      });
    }),
);

const forms = ['', ', by a function', ', by an async function'];
test.each(Object.entries(segments))('addSegment: keeps the old meaning of an ambiguous filter, fixed or from a function: %s', async (name, [filter, ids]) => {
  for (const form of forms) {
    const segment = encodeURIComponent(name + form);
    const { json } = await place.tool('list', { collectionName: 'customers', segment: name + form, fields: ['id'] });
    const { body } = await place.get(`/customers/count?segment=${segment}`);
    expect([form, await place.ids(`/customers?segment=${segment}`), json.rows.flat(), body]).toEqual([form, ids, ids, { count: ids.length }]);
  }
  const refused = await place.get(`/customers?filters=${encodeURIComponent(JSON.stringify(filter))}`);
  expect([refused.status, refused.body.errors[0].code]).toEqual([400, 'AMBIGUOUS_FILTER']);
}); // biome-ignore format: short

test('use: an async plugin that an async plugin uses is awaited, in the place of its use', async () => {
  const orders = place.schema.collections.find(({ name }: { name: string }) => name === 'orders');
  expect(orders.fields.map(({ field }: { field: string }) => field).sort()).toEqual(['amount', 'customer', 'id', 'note', 'total']);
  expect((await place.get('/orders/1')).body.data.attributes).toMatchObject({ amount: 7 });
}); // biome-ignore format: short

test('addManyToOneRelation: a relation to one without a record answers null, as the record of the other does', async () => {
  const related = async (path: string) => {
    const { status, body } = await place.get(path);
    return [status, body.data === null ? null : body.data?.id];
  };
  expect([
    await related('/orders/4/relationships/customer'),
    await related('/orders/1/relationships/customer'),
    await related('/orders/9/relationships/customer'),
    (await place.get('/orders/4')).body.data.relationships?.customer?.data ?? null,
  ]).toEqual([[200, null], [200, '1'], [404, undefined], null]);
}); // biome-ignore format: short
