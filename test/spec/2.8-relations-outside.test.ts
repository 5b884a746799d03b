// Flattened relations of each kind that leads to one record, over HTTP and MCP: also those whose key is in the other
// collection, or that code adds.
import { expect, test } from 'vitest';
import { flattenRelation } from '../../src/plugins/index.ts';
import { serveOutside } from './outside.ts';

const place = serveOutside(
  [
    'CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL)',
    "INSERT INTO people VALUES (1, 'Ada'), (2, 'Bo'), (3, 'Cy')",
    // The database has the relation 'profiles' of people, whose key is here.
    'CREATE TABLE profiles (id INTEGER PRIMARY KEY, person_id INTEGER UNIQUE REFERENCES people(id), bio VARCHAR(20))',
    "INSERT INTO profiles VALUES (7, 2, 'writes'), (8, 1, NULL)",
    'CREATE TABLE passes (code VARCHAR(9) PRIMARY KEY, holder INTEGER)',
    "INSERT INTO passes VALUES ('p3', 3), ('p1', 1)",
    'CREATE TABLE visits (id INTEGER PRIMARY KEY, pass VARCHAR(9))',
    "INSERT INTO visits VALUES (1, 'p3'), (2, NULL), (3, 'gone')",
  ],
  (agent) =>
    agent
      .customizeCollection('people', (each) =>
        each
          .addOneToOneRelation('pass', 'passes', { originKey: 'holder' })
          .use(flattenRelation, { relationName: 'profiles', include: ['bio', 'id'] })
          .use(flattenRelation, { relationName: 'pass', readonly: true }),
      )
      .customizeCollection('visits', (each) =>
        each
          .addManyToOneRelation('used', 'passes', { foreignKey: 'pass' })
          .use(flattenRelation, { relationName: 'used', exclude: ['code'] }),
      ),
);

const rowsOf = async (collectionName: string, fields: string[], more: object = {}) =>
  (await place.tool('list', { collectionName, fields, sort: [{ field: 'id' }], ...more })).json.rows;

test('flattenRelation: relationName: a one-to-one relation of the database or of code, whose key is in the other collection: read, filtered, sorted and written', async () => {
  const fields = ['name', 'profiles@@@bio', 'profiles@@@id', 'pass@@@code'];
  expect(await rowsOf('people', fields)).toEqual([
    ['Ada', null, 8, 'p1'],
    ['Bo', 'writes', 7, null],
    ['Cy', null, null, 'p3'],
  ]);
  const filters = { field: 'profiles@@@bio', operator: 'Equal', value: 'writes' };
  const sort = [{ field: 'pass@@@code', ascending: false }];
  expect([await rowsOf('people', ['id'], { filters }), await rowsOf('people', ['id'], { sort })]).toEqual([
    [[2]],
    [[3], [1], [2]],
  ]);
  const statuses = [
    (await place.save('people', 1, { 'profiles@@@bio': 'reads' })).status,
    (await place.save('people', 1, { 'pass@@@code': 'p9' })).status,
  ];
  expect([statuses, await rowsOf('profiles', ['id', 'bio'])]).toEqual([
    [200, 400],
    [
      [7, 'writes'],
      [8, 'reads'],
    ],
  ]);
  await place.save('people', 1, { 'profiles@@@bio': null });
});

test('flattenRelation: relationName: a many-to-one relation that code adds, with keys that lead to no record', async () => {
  expect(await rowsOf('visits', ['id', 'used@@@holder'])).toEqual([
    [1, 3],
    [2, null],
    [3, null],
  ]);
});
