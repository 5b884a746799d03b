// Customizer operations (behaviour 4.2) where a caller reaches the field through relations, and under a row scope.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Outside, openOutside } from './outside.ts';

const tables = [
  'CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, note VARCHAR(20))',
  "INSERT INTO people VALUES (1, 'b', 'x'), (2, 'a', 'y')",
  'CREATE TABLE orders (id INTEGER PRIMARY KEY, owner_id INTEGER REFERENCES people(id))',
  'INSERT INTO orders VALUES (1, 1), (2, 2), (3, 2)',
  'CREATE TABLE items (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders(id))',
  'INSERT INTO items VALUES (1, 1), (2, 2), (3, 3), (4, NULL)',
  'CREATE TABLE papers (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, n INTEGER)',
  "INSERT INTO papers VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3), (4, 'a', 3)",
];
/** Ada sees the papers 1, 3 and 4: a paper meets one condition or both. */
const scope = { aggregator: 'Or', conditions: [{ field: 'name', operator: 'Equal', value: 'a' }, { field: 'n', operator: 'Equal', value: 3 }] }; // biome-ignore format: short
const deleted: unknown[] = [];

let place: Outside;
beforeAll(async () => {
  place = await openOutside(
    tables,
    (agent) =>
      agent
        .customizeCollection('people', (people) =>
          people
            .disableFieldSorting('note')
            // The text is the id.
            .replaceFieldOperator('name', 'Equal', (value) => ({
              field: 'id',
              operator: 'Equal',
              value: Number(value),
            })),
        )
        .customizeCollection('papers', (papers) =>
          papers.overrideDelete(async ({ filter, collection }) => {
            const found = await collection('papers').list(filter, ['id']);
            deleted.push(found.map(({ id }) => id));
          }),
        ),
    { papers: scope },
  );
});
afterAll(() => place?.stop());

test.each([
  ['people', 'name', [2]],
  ['orders', 'owner:name', [2, 3]],
  ['items', 'order:owner:name', [2, 3]],
])('replaceFieldOperator: on %s, the filter of %s finds %j', async (collection, field, found) => {
  const filter = { field, operator: 'Equal', value: '2' };
  const filters = encodeURIComponent(JSON.stringify({ ...filter, operator: 'equal' }));
  expect(await place.ids(`/${collection}?sort=id&filters=${filters}`)).toEqual(found);
  const { json } = await place.tool('list', { collectionName: collection, fields: ['id'], filters: filter });
  expect(json.rows.flat()).toEqual(found);
});

test.each([
  ['people', 'note'],
  ['orders', 'owner:note'],
  ['items', 'order:owner:note'],
])('disableFieldSorting: on %s, a sort by %s is refused', async (collection, field) => {
  const sort = [{ field, ascending: true }];
  expect(String((await place.tool('list', { collectionName: collection, sort })).error)).toMatch(/^FIELD_NOT_SORTABLE/);
  expect((await place.get(`/${collection}?sort=${field.replaceAll(':', '.')}`)).status).toBe(400);
});

test('overrideDelete: the filter has the records of the caller, whichever condition of the row scope they meet', async () => {
  expect(await place.ids('/papers?sort=id')).toEqual([1, 3, 4]);
  for (const id of [1, 3, 4]) expect((await place.remove('papers', id)).status).toBe(204);
  expect((await place.remove('papers', 2)).status).toBe(404);
  expect(deleted).toEqual([[1], [3], [4]]);
});
