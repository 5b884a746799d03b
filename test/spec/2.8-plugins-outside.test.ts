// The plugins over HTTP and MCP: their fields and values, the effect of a write, and the errors at start.
import { describe, expect, test } from 'vitest';
import { type Agent, type CollectionCustomizer, createMemoryDataSource, type MemoryTable } from '../../src/index.ts';
import { flattenColumn, flattenJsonColumn, flattenRelation } from '../../src/plugins/index.ts';
import { accessOf } from '../agent/shop.ts';
import { emptyAgent, messageOf } from '../app/agent.ts';
import { serveOutside } from './outside.ts';

const address = {
  street: 'String',
  geo: { lat: 'Number', deep: { z: 'Number', y: 'Number' } },
  tags: ['String'],
} as const;
const home = { street: 'Rue 1', geo: { lat: 48.8, deep: { z: 1, y: 2 } }, tags: ['a'], old: true };
type Column = Parameters<typeof flattenColumn>[1];
type Json = Parameters<typeof flattenJsonColumn>[1];
type Relation = Parameters<typeof flattenRelation>[1];
const says: Readonly<Record<string, Omit<Column, 'columnName'>>> = {
  c_plain: {},
  c_include: { include: ['tags', 'street'] },
  c_exclude: { exclude: ['geo', 'tags'] },
  c_both: { include: ['street', 'tags'], exclude: ['tags'] },
  c_two: { level: 2 },
  c_two_some: { level: 2, include: ['geo:deep', 'address@@@geo@@@lat'] },
  c_three: { level: 3, exclude: ['geo:deep:y'] },
  c_readonly: { readonly: true },
  c_free: { readonly: false },
  c_twice: { include: ['tags', 'address@@@tags', 'street', 'address:street', 'tags'] },
  // The options override the column type of the source.
  c_shaped: { columnType: { street: 'String', more: { a: 'Boolean' } } },
};
const shape = { columnType: { street: 'String', geo: { lat: 'Number', deep: { z: 'Number' } } } } as const;
const jsonSays: Readonly<Record<string, Omit<Json, 'columnName'>>> = {
  j_plain: shape,
  j_one: { ...shape, level: 1 },
  j_two: { ...shape, level: 2 },
  j_three: { ...shape, level: 3 },
  j_readonly: { ...shape, readonly: true },
  j_free: { ...shape, readonly: false },
  j_keep: { ...shape, keepOriginalColumn: true },
  j_gone: { ...shape, keepOriginalColumn: false },
  j_order: { columnType: { tags: ['String'], nowhere: 'Number', street: 'String' } },
};
const relationSays: Readonly<Record<string, Omit<Relation, 'relationName'>>> = {
  r_plain: {},
  r_include: { include: ['town', 'name'] },
  r_exclude: { exclude: ['id', 'boss@@@town'] },
  r_both: { include: ['name', 'town'], exclude: ['town'] },
  r_readonly: { readonly: true },
  r_free: { include: ['name'], readonly: false },
  r_false: { readonly: false },
};
const rows = () => [
  [1, structuredClone(home)],
  [2, null],
  [3, { street: 7, geo: 'no object', tags: [] }],
];
const columnTables = (): MemoryTable[] =>
  Object.keys(says).map((name) => ({
    name,
    columns: [
      { name: 'id', type: 'Number' as const },
      { name: 'address', type: 'Json' as const, nullable: true, shape: address },
    ],
    primaryKey: ['id'],
    rows: rows(),
  }));
const tables = [
  'CREATE TABLE bosses (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, town VARCHAR(20))',
  "INSERT INTO bosses VALUES (1, 'Ada', 'Rome'), (2, 'Bo', NULL)",
  ...[...Object.keys(jsonSays), 'c_typed'].flatMap((name) => [
    `CREATE TABLE ${name} (id INTEGER PRIMARY KEY, address JSON)`,
    `INSERT INTO ${name} VALUES (1, '${JSON.stringify(home)}'), (2, NULL)`,
  ]),
  'CREATE TABLE c_made (id INTEGER PRIMARY KEY)',
  'INSERT INTO c_made VALUES (1), (2)',
  ...Object.keys(relationSays).flatMap((name) => [
    `CREATE TABLE ${name} (id INTEGER PRIMARY KEY, boss_id INTEGER REFERENCES bosses(id))`,
    `INSERT INTO ${name} VALUES (1, 1), (2, NULL), (3, 2)`,
  ]),
];

/** Exposes the column under another name, so tests can read the stored value. */
const whole = (each: CollectionCustomizer) =>
  each.addField('whole', {
    ...{ columnType: 'Json', dependencies: ['address'] },
    getValues: (records) => records.map((record) => record.address),
  });

function customize(agent: Agent): void {
  agent.addDataSource(createMemoryDataSource('memory', columnTables()));
  for (const [name, options] of Object.entries(says))
    agent.customizeCollection(name, (each) => whole(each).use(flattenColumn, { columnName: 'address', ...options }));
  const columnType = { street: 'String', old: 'Boolean' } as const;
  agent.customizeCollection('c_typed', (each) => each.use(flattenColumn, { columnName: 'address', columnType }));
  agent.customizeCollection('c_made', (each) =>
    each
      .addField('made', {
        ...{ columnType: { a: 'Number', b: { c: 'String' } }, dependencies: ['id'] },
        getValues: (records) => records.map(({ id }) => (id === 1 ? { a: 0, b: { c: 'x' } } : null)),
      })
      .use(flattenColumn, { columnName: 'made', level: 2 }),
  );
  for (const [name, options] of Object.entries(jsonSays))
    agent.customizeCollection(name, (each) =>
      whole(each).use(flattenJsonColumn, { columnName: 'address', ...options }),
    );
  for (const [name, options] of Object.entries(relationSays))
    agent.customizeCollection(name, (each) => each.use(flattenRelation, { relationName: 'boss', ...options }));
}

const place = serveOutside(tables, customize);

/** The fields that remain after a plugin, from describeCollection. The schema file has the same names. */
const fieldsOf = async (collectionName: string): Promise<Record<string, string>> => {
  const { json } = await place.tool('describeCollection', { collectionName });
  const { id: _id, whole: _whole, boss_id: _boss, ...fields } = json.fields;
  const { fields: inFile } = place.schema.collections.find(({ name }: { name: string }) => name === collectionName);
  const names = inFile.map(({ field }: { field: string }) => field);
  expect(names).toEqual(expect.arrayContaining(Object.keys(fields)));
  expect(names.includes('address')).toBe('address' in fields);
  return fields;
};
const withoutId = (all: Record<string, unknown>[]) => all.map(({ id: _id, whole: _whole, ...values }) => values);
const valuesOf = async (name: string) => withoutId(await place.list(`/${name}?sort=id`));
const storedOf = async (name: string) =>
  (await place.list(`/${name}?sort=id&fields[${name}]=whole`)).map((one) => one.whole);

const street = { 'address@@@street': 'String? unsortable' };
const tags = { 'address@@@tags': '[String]? unsortable' };
const deep = '{ z: Number, y: Number }? unsortable';
const number = 'Number? unsortable';
const geo = { 'address@@@geo': '{ lat: Number, deep: { z: Number, y: Number } }? unsortable' };
const ro = (fields: Record<string, string>) =>
  Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, type.replace('?', '? ro')]));

describe('flattenColumn', () => {
  test.each([
    ['columnName, include, exclude, level, readonly', 'c_plain', { ...street, ...geo, ...tags }],
    ['include', 'c_include', { ...tags, ...street }],
    ['exclude', 'c_exclude', street],
    ['include, exclude', 'c_both', street],
    ['level', 'c_two', { ...street, 'address@@@geo@@@lat': number, 'address@@@geo@@@deep': deep, ...tags }],
    ['level, include', 'c_two_some', { 'address@@@geo@@@deep': deep, 'address@@@geo@@@lat': number }],
    ['level, exclude', 'c_three', { ...street, 'address@@@geo@@@lat': number, 'address@@@geo@@@deep@@@z': number, ...tags }],
    ['readonly', 'c_readonly', ro({ ...street, ...geo, ...tags })],
    ['readonly', 'c_free', { ...street, ...geo, ...tags }],
    ['columnType', 'c_typed', { ...street, 'address@@@old': 'Boolean? unsortable' }],
    ['include', 'c_twice', { ...tags, ...street }],
    ['columnType', 'c_shaped', { ...street, 'address@@@more': '{ a: Boolean }? unsortable' }],
  ])('%s: of %s: these fields, in this order, with their types, instead of the column', async (_, name, expected) => {
    expect(Object.entries(await fieldsOf(name))).toEqual(Object.entries(expected));
  }); // biome-ignore format: a table

  test('columnName, level, include, columnType: each part has its value, and null without an object', async () => {
    const { street, geo, tags } = home;
    const at = (values: unknown[]) => [
      { 'address@@@street': values[0], 'address@@@geo': values[1], 'address@@@tags': values[2] },
    ];
    const first = { filters: JSON.stringify({ field: 'id', operator: 'LessThan', value: 3 }) };
    const list = async (name: string) => withoutId(await place.list(`/${name}?sort=id&${new URLSearchParams(first)}`));
    expect([await list('c_plain'), await list('c_two_some'), await list('c_typed')]).toEqual([
      [...at([street, geo, tags]), ...at([null, null, null])],
      [
        { 'address@@@geo@@@deep': geo.deep, 'address@@@geo@@@lat': geo.lat },
        { 'address@@@geo@@@deep': null, 'address@@@geo@@@lat': null },
      ],
      [
        { 'address@@@street': street, 'address@@@old': true },
        { 'address@@@street': null, 'address@@@old': null },
      ],
    ]);
  });

  test('readonly: a write is refused and changes nothing', async () => {
    const { status } = await place.save('c_readonly', 1, { 'address@@@street': 'x' });
    const created = await place.save('c_readonly', null, { id: 9, 'address@@@street': 'x' });
    expect([status, created.status, (await storedOf('c_readonly'))[0]]).toEqual([400, 400, home]);
  });

  test('readonly, level: without it parts are written into the object, beside its other members, also if it is null', async () => {
    const written = [
      await place.save('c_free', 1, { 'address@@@street': 'Via 2', 'address@@@tags': null }),
      await place.save('c_free', 2, { 'address@@@tags': ['n'] }),
      await place.save('c_three', 1, { 'address@@@geo@@@deep@@@z': 0 }),
      await place.save('c_three', 2, { 'address@@@geo@@@deep@@@z': 5, 'address@@@geo@@@lat': 1 }),
      await place.save('c_three', 3, { 'address@@@geo@@@lat': null }),
      await place.save('c_three', null, { id: 9, 'address@@@street': 'Rue 9' }),
    ];
    expect(written.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect([await storedOf('c_free'), await storedOf('c_three')]).toEqual([
      [{ ...home, street: 'Via 2', tags: null }, { tags: ['n'] }, rows()[2]![1]],
      [
        { ...home, geo: { lat: 48.8, deep: { z: 0, y: 2 } } },
        { geo: { lat: 1, deep: { z: 5 } } },
        { street: 7, geo: { lat: null }, tags: [] },
        { street: 'Rue 9' },
      ],
    ]);
  });

  test('readonly, columnType: an update of several records sets the part only if the rest of the object is equal', async () => {
    const update = (ids: number[], values: object) =>
      place.tool('update', { collectionName: 'c_exclude', recordIds: ids, values });
    const refused = await update([1, 2], { 'address@@@street': 'Same' });
    expect([refused.json === undefined, await storedOf('c_exclude')]).toEqual([true, rows().map(([, one]) => one)]);
  });
});

describe('flattenRelation', () => {
  const id = { 'boss@@@id': 'Number? ro' };
  const name = { 'boss@@@name': 'String?' };
  const town = { 'boss@@@town': 'String?' };
  test.each([
    ['relationName, include, exclude, readonly', 'r_plain', { ...id, ...name, ...town }],
    ['include', 'r_include', { ...town, ...name }],
    ['exclude', 'r_exclude', name],
    ['include, exclude', 'r_both', name],
    ['readonly', 'r_readonly', { ...id, ...ro({ ...name, ...town }) }],
    ['readonly', 'r_free', name],
    ['readonly', 'r_false', { ...id, ...name, ...town }],
  ])('%s: of %s: these fields, in this order, with their types', async (_, collection, expected) => {
    expect(Object.entries(await fieldsOf(collection))).toEqual(Object.entries(expected));
  });

  test('relationName: the values of the related record, null without one; they can be filtered and sorted by', async () => {
    const filters = JSON.stringify({ field: 'boss@@@town', operator: 'Missing' });
    expect([
      (await valuesOf('r_plain')).map(({ boss_id: _boss, ...values }) => values),
      await place.ids(
        `/r_plain?sort=-boss@@@name&${new URLSearchParams({ filters: filters.replace('Missing', 'Present') })}`,
      ),
      await place.ids('/r_include?sort=-boss@@@name,id'),
      await place.ids('/r_include?sort=boss@@@name,id'),
    ]).toEqual([
      [
        { 'boss@@@id': 1, 'boss@@@name': 'Ada', 'boss@@@town': 'Rome' },
        { 'boss@@@id': null, 'boss@@@name': null, 'boss@@@town': null },
        { 'boss@@@id': 2, 'boss@@@name': 'Bo', 'boss@@@town': null },
      ],
      [1],
      [3, 1, 2],
      [2, 1, 3],
    ]);
  });

  test('readonly: a write is refused and changes nothing; without it, the related record is written', async () => {
    const names = async () => (await place.list('/bosses?sort=id')).map((one) => one.name);
    const refused = await place.save('r_readonly', 1, { 'boss@@@name': 'X' });
    const before = await names();
    const free = await place.save('r_free', 3, { 'boss@@@name': 'Bob' });
    const plain = await place.save('r_plain', 1, { 'boss@@@name': 'Ava' });
    expect([refused.status, before, free.status, plain.status, await names()]).toEqual([
      ...[400, ['Ada', 'Bo'], 200, 200, ['Ava', 'Bob']],
    ]);
  });
});

test('flattenRelation: include, exclude: fields that code adds there are flattened, removed ones are not; renames keep their source', async () => {
  const { agent } = emptyAgent();
  const made = { columnType: 'String', dependencies: ['name'], getValues: (all: readonly unknown[]) => all.map(() => 'x') } as const;
  agent
    .addDataSource(createMemoryDataSource('people', [people()]))
    .customizeCollection('people', (each) => each.addField('label', made).removeField('address').renameField('extra', 'more').use(flattenRelation, { relationName: 'boss', exclude: ['boss_id'] }));
  const { engine } = await agent.start();
  const names = engine.describe(accessOf(), 'people').fields.map(({ name }) => name);
  expect(names.filter((name) => name.startsWith('boss@@@'))).toEqual(['boss@@@id', 'boss@@@name', 'boss@@@extra', 'boss@@@label']);
}); // biome-ignore format: short

test('flattenJsonColumn: readonly: parts of a read-only column are read-only; columnType, level, keepOriginalColumn: a non-object has no parts, and null is kept', async () => {
  const { agent } = emptyAgent();
  const table = people();
  const row = (id: number, extra: unknown) => [id, 'n', null, extra, null];
  agent
    .addDataSource(createMemoryDataSource('people', [{ ...table, rows: [row(1, { geo: 'text' }), row(2, 'a text'), row(3, ['a']), row(4, { geo: { lat: 0 } }), row(5, { geo: { lat: 'far' } })] }]))
    .customizeCollection('people', (each) => each.replaceFieldWriting('extra', null).use(flattenJsonColumn, { columnName: 'extra', ...shape, level: 2, keepOriginalColumn: true }));
  const { engine } = await agent.start();
  const { rows } = await engine.list(accessOf(), { collection: 'people', fields: ['extra@@@geo@@@lat', 'extra@@@street'], limit: 9 });
  const { fields } = engine.describe(accessOf(), 'people');
  expect([rows, fields.filter(({ name }) => name.startsWith('extra')).map(({ readOnly }) => readOnly)]).toEqual([
    [[null, null], [null, null], [null, null], [0, null], [null, null]],
    [true, true, true, true],
  ]);
}); // biome-ignore format: short

test('flattenColumn: columnName, level: of a computed field, with its declared shape', async () => {
  expect([Object.keys(await fieldsOf('c_made')), await valuesOf('c_made')]).toEqual([
    ['made@@@a', 'made@@@b@@@c'],
    [
      { 'made@@@a': 0, 'made@@@b@@@c': 'x' },
      { 'made@@@a': null, 'made@@@b@@@c': null },
    ],
  ]);
});

describe('flattenJsonColumn', () => {
  const one = {
    'address@@@street': 'String? unsortable',
    'address@@@geo': '{ lat: Number, deep: { z: Number } }? unsortable',
  };
  const two = {
    'address@@@street': 'String? unsortable',
    'address@@@geo@@@lat': number,
    'address@@@geo@@@deep': '{ z: Number }? unsortable',
  };
  const three = {
    'address@@@street': 'String? unsortable',
    'address@@@geo@@@lat': number,
    'address@@@geo@@@deep@@@z': number,
  };
  test.each([
    ['columnName, level, readonly, keepOriginalColumn', 'j_plain', one],
    ['level', 'j_one', one],
    ['level', 'j_two', two],
    ['level', 'j_three', three],
    ['readonly', 'j_readonly', ro(one)],
    ['readonly', 'j_free', one],
    ['keepOriginalColumn', 'j_keep', { address: 'Json? unsortable', ...one }],
    ['keepOriginalColumn', 'j_gone', one],
    ['columnType', 'j_order', { ...tags, 'address@@@nowhere': number, ...street }],
  ])('%s: of %s: these fields, in this order, with their types', async (_, name, expected) => {
    expect(Object.entries(await fieldsOf(name))).toEqual(Object.entries(expected));
  }); // biome-ignore format: a table

  test('columnName, columnType, level, keepOriginalColumn: each part has its value, a missing one is null, and other keys are hidden', async () => {
    const nothing = { 'address@@@street': null, 'address@@@geo': null };
    const { street, geo, tags } = home;
    expect([await valuesOf('j_plain'), await valuesOf('j_three'), await valuesOf('j_order')]).toMatchObject([
      [{ 'address@@@street': street, 'address@@@geo': { lat: 48.8, deep: { z: 1 } } }, nothing],
      [{ 'address@@@street': street, 'address@@@geo@@@lat': geo.lat, 'address@@@geo@@@deep@@@z': 1 }, {}],
      [
        { 'address@@@tags': tags, 'address@@@nowhere': null, 'address@@@street': street },
        { 'address@@@tags': null, 'address@@@nowhere': null, 'address@@@street': null },
      ],
    ]);
  });

  test('readonly: a write is refused and changes nothing; without it, it is written beside the other members', async () => {
    const refused = await place.save('j_readonly', 1, { 'address@@@street': 'x' });
    const taken = await place.save('j_free', 1, { 'address@@@street': 'x' });
    const plain = await place.save('j_plain', 2, { 'address@@@street': 'y' });
    const deep = await place.save('j_three', 1, { 'address@@@geo@@@deep@@@z': 9 });
    expect([refused.status, taken.status, plain.status, deep.status]).toEqual([400, 200, 200, 200]);
    expect([
      await storedOf('j_readonly'),
      await storedOf('j_free'),
      await storedOf('j_plain'),
      await storedOf('j_three'),
    ]).toEqual([
      [home, null],
      [{ ...home, street: 'x' }, null],
      [home, { street: 'y' }],
      [{ ...home, geo: { lat: 48.8, deep: { z: 9, y: 2 } } }, null],
    ]);
  });

  test('keepOriginalColumn: the column is shown and written as before; the parts follow it, and both together are refused', async () => {
    const whole = await place.save('j_keep', 2, { address: { street: 'Whole', more: 1 } });
    const both = await place.save('j_keep', 1, { address: { street: 'a' }, 'address@@@street': 'b' });
    const hidden = await place.save('j_gone', 1, { address: { street: 'x' } });
    expect([whole.status, both.status, hidden.status, await valuesOf('j_keep')]).toMatchObject([
      ...[200, 400, 400],
      [
        { address: home, 'address@@@street': 'Rue 1' },
        { address: { street: 'Whole', more: 1 }, 'address@@@street': 'Whole', 'address@@@geo': null },
      ],
    ]);
  });
});

const people = (): MemoryTable => ({
  name: 'people',
  columns: [
    { name: 'id', type: 'Number' as const },
    { name: 'name', type: 'String' as const },
    { name: 'address', type: 'Json' as const, nullable: true, shape: address },
    { name: 'extra', type: 'Json' as const, nullable: true },
    { name: 'boss_id', type: 'Number' as const, nullable: true },
  ],
  primaryKey: ['id'],
  foreignKeys: [{ columns: ['boss_id'], table: 'people', targetColumns: ['id'] }],
  rows: [],
});
const column = (options: object) => (each: CollectionCustomizer) => each.use(flattenColumn, options as Column);
const json = (options: object) => (each: CollectionCustomizer) => each.use(flattenJsonColumn, options as Json);
const relation = (options: object) => (each: CollectionCustomizer) => each.use(flattenRelation, options as Relation);

test.each<[string, (each: CollectionCustomizer) => unknown, string]>([
  ['flattenColumn: columnName', column({ columnName: 'adress' }), "The collection 'people' has no field 'adress'. Near: address."],
  ['flattenColumn: columnName', column({ columnName: 'name' }), "'name' of 'people' has no objects: it is String."],
  ['flattenColumn: columnName', column({ columnName: 'boss' }), "'boss' of 'people' is a relation: use flattenRelation."],
  ['flattenColumn: columnName', column({}), "flattenColumn: 'columnName' must be a name."],
  ['flattenColumn: columnName', column({ columnName: 'address', levels: 2 }), "flattenColumn: there is no option 'levels'. Near: level."],
  ['flattenColumn: include', column({ columnName: 'address', include: ['streat'] }), "'address' of 'people' has no part 'streat'. Near: street."],
  ['flattenColumn: include', column({ columnName: 'address', include: [] }), "'address' of 'people' has no fields left to flatten."],
  ['flattenColumn: include', column({ columnName: 'address', include: 'street' }), "flattenColumn: 'include' must be a list of names."],
  ['flattenColumn: exclude', column({ columnName: 'address', exclude: ['gea'] }), "'address' of 'people' has no part 'gea'. Near: geo."],
  ['flattenColumn: exclude', column({ columnName: 'address', exclude: ['street', 'geo', 'tags'] }), "'address' of 'people' has no fields left to flatten."],
  ['flattenColumn: level', column({ columnName: 'address', level: 0 }), "flattenColumn: 'level' must be a whole number, 1 or more."],
  ['flattenColumn: level', column({ columnName: 'address', level: 1.5 }), "flattenColumn: 'level' must be a whole number, 1 or more."],
  ['flattenColumn: readonly', column({ columnName: 'address', readonly: 'no' }), "flattenColumn: 'readonly' must be true or false."],
  ['flattenColumn: columnType', column({ columnName: 'extra' }), "'extra' of 'people' does not declare its types: set 'columnType', the types by key."],
  ['flattenColumn: columnType', column({ columnName: 'extra', columnType: { likes: 'Strng' } }), "There is no column type 'Strng'. Near: String."],
  ['flattenColumn: columnType', column({ columnName: 'extra', columnType: ['String'] }), "flattenColumn: 'columnType' must be an object of types by key."],
  ['flattenRelation: relationName', relation({ relationName: 'bos' }), "The collection 'people' has no relation 'bos'. Near: boss."],
  ['flattenRelation: relationName', relation({ relationName: 'people' }), "'people' of 'people' does not lead to one record, and cannot be flattened."],
  ['flattenColumn: columnName', (each) => [column({ columnName: 'address' })(each), column({ columnName: 'address', include: ['street'] })(each)], "'address' of 'people' is already flattened"],
  ['flattenColumn: readonly', (each) => column({ columnName: 'made', readonly: false })(each.addField('made', { columnType: { a: 'String' }, dependencies: ['id'], getValues: (all) => all })), "'made' of 'people' is read-only, and so are its parts"],
  ['flattenColumn: readonly', (each) => column({ columnName: 'address', readonly: false })(each.replaceFieldWriting('address', null)), "'address' of 'people' is read-only, and so are its parts"],
  ['flattenColumn: columnType', column({ columnName: 'extra', columnType: { a: 'File' } }), "There is no column type 'File'"],
  ['flattenColumn: columnType', column({ columnName: 'extra', columnType: { a: 'Binary' } }), "'Binary' cannot be used in a Json: use String"],
  ['flattenColumn: columnType', column({ columnName: 'extra', columnType: { a: { b: 'Enum' } } }), "'Enum' cannot be used in a Json: use String"],
  ['flattenColumn: columnType', column({ columnName: 'extra', columnType: { a: {} } }), 'A column type must be the name of a type'],
  ['flattenColumn: level', column({ columnName: 'address', level: '2' }), "flattenColumn: 'level' must be a whole number, 1 or more."],
  ['flattenColumn: include', column({ columnName: 'address', include: ['street', ''] }), "flattenColumn: 'include' must be a list of names."],
  ['flattenColumn: exclude', column({ columnName: 'address', exclude: ['street', 'gea'] }), "'address' of 'people' has no part 'gea'. Near: geo."],
  ['flattenRelation: relationName', (each) => [relation({ relationName: 'boss' })(each), relation({ relationName: 'boss', include: ['name'] })(each)], "'boss' of 'people' is already flattened"],
  ['flattenRelation: relationName', relation({ relationName: 'name' }), "'name' of 'people' does not lead to one record, and cannot be flattened."],
  ['flattenRelation: relationName', relation({ relationName: 'boss', level: 2 }), "flattenRelation: there is no option 'level'"],
  ['flattenRelation: exclude', relation({ relationName: 'boss', exclude: ['id', 'name', 'address', 'extra', 'boss_id'] }), "'boss' of 'people' has no fields left to flatten."],
  ['flattenRelation: include', (each) => relation({ relationName: 'boss', include: ['name'] })(each.removeField('name')), "'people' has no field 'name'"],
  ['flattenJsonColumn: columnType', json({ columnName: 'extra', columnType: ['String'] }), "flattenJsonColumn: 'columnType' must be an object of types by key."],
  ['flattenJsonColumn: columnType', json({ columnName: 'extra', columnType: null }), "flattenJsonColumn: 'columnType' must be an object of types by key."],
  ['flattenJsonColumn: columnType', json({ columnName: 'extra', columnType: 'String' }), "flattenJsonColumn: 'columnType' must be an object of types by key."],
  ['flattenJsonColumn: columnName', json({ columnName: 'extra', ...shape, include: ['street'] }), "flattenJsonColumn: there is no option 'include'"],
  ['flattenJsonColumn: columnName', (each) => [json({ columnName: 'extra', ...shape })(each), json({ columnName: 'extra', ...shape })(each)], "'extra' of 'people' is already flattened"],
  ['flattenRelation: relationName', relation({}), "flattenRelation: 'relationName' must be a name."],
  ['flattenRelation: include', relation({ relationName: 'boss', include: ['nam'] }), "'people' has no field 'nam'. Near: name."],
  ['flattenRelation: include', relation({ relationName: 'boss', include: [] }), "'boss' of 'people' has no fields left to flatten."],
  ['flattenRelation: exclude', relation({ relationName: 'boss', exclude: ['nam'] }), "'people' has no field 'nam'. Near: name."],
  ['flattenRelation: readonly', relation({ relationName: 'boss', readonly: 1 }), "flattenRelation: 'readonly' must be true or false."],
  ['flattenJsonColumn: columnName', json({ columnName: 'adress', ...shape }), "The collection 'people' has no field 'adress'. Near: address."],
  ['flattenJsonColumn: columnName', json(shape), "flattenJsonColumn: 'columnName' must be a name."],
  ['flattenJsonColumn: columnName', json({ columnName: 'name', ...shape }), "'name' of 'people' has no objects: it is String."],
  ['flattenJsonColumn: columnName', json({ columnName: 'boss', ...shape }), "'boss' of 'people' is a relation: use flattenRelation."],
  ['flattenColumn: columnName', column({ columnName: 'name', ...shape }), "'name' of 'people' has no objects: it is String."],
  ['flattenColumn: columnName', column({ columnName: 'boss', ...shape }), "'boss' of 'people' is a relation: use flattenRelation."],
  ['flattenJsonColumn: columnType', json({ columnName: 'extra' }), "flattenJsonColumn: 'columnType' must be an object of types by key."],
  ['flattenJsonColumn: columnType', json({ columnName: 'extra', columnType: {} }), 'A column type must be the name of a type, a list of one type, or an object of types by key.'],
  ['flattenJsonColumn: level', json({ columnName: 'extra', ...shape, level: 0 }), "flattenJsonColumn: 'level' must be a whole number, 1 or more."],
  ['flattenJsonColumn: readonly', json({ columnName: 'extra', ...shape, readonly: null }), "flattenJsonColumn: 'readonly' must be true or false."],
  ['flattenJsonColumn: keepOriginalColumn', json({ columnName: 'extra', ...shape, keepOriginalColumn: 'yes' }), "flattenJsonColumn: 'keepOriginalColumn' must be true or false."],
])('%s: an invalid value ends the start, with the error and the line', async (_, say, problem) => {
  const { agent } = emptyAgent();
  agent.addDataSource(createMemoryDataSource('people', [people()])).customizeCollection('people', (each) => void say(each));
  const message = await messageOf(() => agent.start());
  expect([message.startsWith(problem) ? problem : message, message]).toEqual([problem, expect.stringMatching(/2\.8-plugins-outside\.test\.ts:\d+/)]);
}); // biome-ignore format: a table
