// Computed fields over HTTP and MCP: their values, the input of their code, and the errors at start.
import { describe, expect, test } from 'vitest';
import { type Agent, type ComputedDefinition, createMemoryDataSource } from '../../src/index.ts';
import { emptyAgent, messageOf } from '../app/agent.ts';
import { serveOutside } from './outside.ts';

const tables = [
  'CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, city VARCHAR(20))',
  'CREATE TABLE orders (id INTEGER PRIMARY KEY, total REAL, customer_id INTEGER REFERENCES customers(id))',
  ...['typed', 'wrong'].flatMap((name) => [
    `CREATE TABLE ${name} (id INTEGER PRIMARY KEY)`,
    `INSERT INTO ${name} VALUES (1), (2), (3)`,
  ]),
  "INSERT INTO customers VALUES (1, 'Ada', 'Paris'), (2, 'Bo', NULL)",
  'CREATE TABLE marks (id INTEGER PRIMARY KEY, word VARCHAR(20), n INTEGER, customer_id INTEGER REFERENCES customers(id))',
  "INSERT INTO marks VALUES (1, '[null]', 1, 1), (2, NULL, NULL, NULL), (3, 'null', 1, 2), (4, '', 0, 1), (5, '[\"\"]', 0, 1), (6, NULL, 1, 2)",
  'INSERT INTO orders VALUES (1, 10.5, 1), (2, 20, 2), (3, 20, 2), (4, NULL, NULL)',
];

const png = Buffer.from('89504e470d0a1a0a', 'hex');
const pngUri = `data:image/png;base64,${png.toString('base64')}`;
const noon = '2024-03-31T10:00:00.000Z';
const uuid = '9e7b1d2a-90c4-4f1e-8a3b-000000000003';
type Type = ComputedDefinition['columnType'];
/** Each type: its name, two values that code returns, their serialized form, and invalid values. */
const types: readonly (readonly [type: string, told: string, given: unknown[], read: unknown[], wrong: unknown[]])[] = [
  ['String', 'String', ['', 12], ['', '12'], [{}, ['a']]],
  ['Number', 'Number', [0, 9007199254740993n], [0, '9007199254740993'], ['x', Number.NaN, true]],
  ['Boolean', 'Boolean', [false, true], [false, true], ['true', 1]],
  ['Date', 'Date', [new Date(noon), '2024-03-31T12:00:00+02:00'], [noon, noon], ['soon', 12]],
  ['Dateonly', 'Dateonly', ['2024-03-31', new Date(noon)], ['2024-03-31', '2024-03-31'], ['31/3', '2024-03-31T10:00:00Z']],
  ['Time', 'Time', ['08:30:00', '08:30:00.5'], ['08:30:00', '08:30:00.5'], ['8 o’clock', '08:30']],
  ['Enum', 'Enum', ['low', 'high'], ['low', 'high'], ['LOW', 'middle', 1]],
  ['Json', 'Json', [{ b: 1, a: [null] }, false], [{ b: 1, a: [null] }, false], []],
  ['Uuid', 'Uuid', [uuid.toUpperCase(), uuid], [uuid, uuid], [12]],
  ['Point', 'Point', [[2.35, 48.85], [0, 0]], [[2.35, 48.85], [0, 0]], [[1], 'here']],
  ['File', 'File', [png, pngUri], [pngUri, pngUri], ['x', 7]],
]; // biome-ignore format: a table
const wrongs = types.flatMap(([type, , , , wrong]) =>
  wrong.map((value, at) => [type, `${type} ${at}`, value] as const),
);
const shape = { street: 'String', geo: { at: 'Point', tags: ['String'] } } as const;

let seen: unknown[] = [];
const texts = (values: readonly unknown[]): ComputedDefinition['getValues'] => {
  return (records) => records.map(({ id }) => values[Number(id) - 1]);
};
const enumOf = (type: string) => (type === 'Enum' ? { enumValues: ['low', 'high'] } : {});
const field = (columnType: string, getValues: ComputedDefinition['getValues'], more: object = {}) => ({
  ...{ columnType: columnType as Type, dependencies: ['id'], getValues, ...enumOf(columnType), ...more },
});

const place = serveOutside(tables, (agent: Agent) =>
  agent
    .customizeCollection('typed', (typed) => {
      for (const [type, , given] of types) typed.addField(`a ${type}`, field(type, texts([...given, null])));
      typed.addField('list', field('String', texts([['1', '2.5', null], [], null]), { columnType: ['Number'] }));
      typed.addField('object', field('String', texts([{ street: 's', secret: 1, geo: { at: [1, 2], tags: ['a', null] } }, { geo: null }]), { columnType: shape }));
    })
    .customizeCollection('wrong', (wrong) => {
      for (const [type, name, value] of wrongs) wrong.addField(name, field(type, texts(['', '', value].map((_, at) => (at === 2 ? value : null)))));
      wrong
        .addField('few', field('String', () => ['a', 'b']))
        .addField('many', field('String', () => ['a', 'b', 'c', 'd']))
        .addField('text', field('String', () => 'abc' as never))
        .addField('throws', field('String', () => { throw new Error('password of the database'); }))
        .addField('rejects', field('String', () => Promise.reject(new Error('password of the database'))));
    })
    .customizeCollection('marks', (marks) =>
      marks
        .importField('home', { path: 'customer:city' })
        .addField('echo', { ...field('String', (records) => records.map(({ word }) => (word === null ? 'nothing' : `<${word}>`))), dependencies: ['word'] })
        .addField('both', { ...field('String', (records) => records.map(({ word, n }) => `${word}/${n}`)), dependencies: ['word', 'n'] })
        .addField('of home', { ...field('String', (records) => records.map(({ home }) => `at ${home}`)), dependencies: ['home'] })
        .addField('wrong default', { ...field('Number', (records) => records.map(({ id }) => (id === 1 ? 1 : null))), defaultValue: 'many' })
        .addField('day default', { ...field('Dateonly', (records) => records.map(() => undefined)), defaultValue: new Date('2024-02-29T00:00:00Z') })
        .addField('zero default', { ...field('Number', (records) => records.map(() => null)), defaultValue: 0 })
        .addField('no default', { ...field('Boolean', (records) => records.map(() => null)), defaultValue: false }),
    )
    .customizeCollection('customers', (customers) => customers.addField('shout', { ...field('String', (records) => records.map(({ name }) => `${name}!`)), dependencies: ['name'] }))
    .customizeCollection('orders', (orders) =>
      orders
        .addField('label', {
          ...{ columnType: 'String', dependencies: ['total', 'customer:city', 'customer:shout'] },
          getValues(records) {
            seen.push(...records.map((record) => structuredClone({ ...record })));
            return records.map(({ total, customer }) => `${total} ${(customer as { shout: string } | null)?.shout ?? '-'}`);
          },
        })
        .addField('pair', { ...field('String', (records) => records.map(({ total, id }) => `${total}/${id}`)), dependencies: ['total', 'id'] })
        .addField('pair of one', { ...field('String', (records) => records.map(({ total, customer }) => `${total}/${(customer as { name: string } | null)?.name}`)), dependencies: ['total', 'customer:name'] })
        .addField('twice', { ...field('String', async (records) => records.map(({ label }, at) => (at % 2 ? Promise.resolve(`${label} ${label}`) : `${label} ${label}`))), dependencies: ['label'] })
        .addField('null or', { ...field('String', texts([null, undefined, '', 'x'])), defaultValue: 'none' })
        .addField('zero or', { ...field('Number', texts([0, null, undefined, 7])), defaultValue: 5 })
        .addField('false or', { ...field('Boolean', texts([false, null, true, undefined])), defaultValue: true })
        .addField('enum or', { ...field('Enum', texts([null, 'high', 'low', null])), defaultValue: 'low' })
        .addField('without', field('String', texts([null, undefined, 'x', null]))),
    )
    .customizeCollection('customers', (customers) => customers.addField('level', { ...field('String', (records) => records.map(() => null)), defaultValue: 'basic' })),
); // biome-ignore format: short

const valuesOf = async (collection: string, name: string) =>
  (await place.list(`/${collection}?sort=id&fields[${collection}]=${encodeURIComponent(name)}`)).map(
    (one) => one[name],
  );
const rowsOf = async (collectionName: string, ...fields: string[]) =>
  (await place.tool('list', { collectionName, fields, sort: 'id' })).json?.rows;
const inSchema = (collection: string, name: string) =>
  place.schema.collections.find((one: { name: string }) => one.name === collection).fields.find((one: { field: string }) => one.field === name); // biome-ignore format: short
const describedAs = async (collectionName: string, name: string) =>
  (await place.tool('describeCollection', { collectionName })).json.fields[name] as string;

describe('columnType', () => {
  test.each(types)('columnType | %s: described with its type, read-only; its values and null are returned', async (type, told, _given, read) => {
    const name = `a ${type}`;
    const { type: inFile, isReadOnly, isSortable, isFilterable, isRequired } = inSchema('typed', name);
    expect([inFile, isReadOnly, isSortable, isFilterable, isRequired]).toEqual([type === 'File' ? 'Binary' : type, true, false, false, false]);
    expect(await describedAs('typed', name)).toMatch(new RegExp(`^${type === 'Enum' ? 'Enum\\(low\\|high\\)' : told}\\? .*ro`));
    expect(await valuesOf('typed', name)).toEqual([...read, null]);
    if (type !== 'File') expect((await rowsOf('typed', name)).flat(type === 'Point' ? 1 : 1)).toEqual([...read, null]);
    expect((await place.save('typed', 1, { [name]: read[0] })).status).toBe(400);
  }); // biome-ignore format: short

  test.each(wrongs)('columnType | %s: %s: a value of another type is a code error', async (_, name) => {
    const { status, body } = await place.get(`/wrong?fields[wrong]=${encodeURIComponent(name)}`);
    expect([status, body.errors?.[0].code]).toEqual([500, 'CUSTOMIZATION_FAILED']);
  });

  test('columnType: a list of one type, and an object of types by key, which omits other keys', async () => {
    const object = { street: 's', geo: { at: [1, 2], tags: ['a', null] } };
    expect([await valuesOf('typed', 'list'), await valuesOf('typed', 'object'), await describedAs('typed', 'object')]).toEqual([
      [['1', '2.5', null], [], null],
      [object, { street: null, geo: null }, null],
      expect.stringContaining('{ street: String, geo: { at: Point, tags: [String] } }'),
    ]);
  }); // biome-ignore format: short
});

test('dependencies: getValues gets only these, also of to-one relations and computed fields, each combination once', async () => {
  seen = [];
  const expected = ['10.5 Ada!', '20 Bo!', '20 Bo!', 'null -'];
  const values = await valuesOf('orders', 'label');
  const once = seen.splice(0);
  expect([values, once]).toEqual([
    expected,
    [
      { total: 10.5, customer: { city: 'Paris', shout: 'Ada!' } },
      { total: 20, customer: { city: null, shout: 'Bo!' } },
      { total: null, customer: null },
    ],
  ]);
  expect([await valuesOf('orders', 'pair'), await valuesOf('orders', 'pair of one')]).toEqual([
    ['10.5/1', '20/2', '20/3', 'null/4'],
    ['10.5/Ada', '20/Bo', '20/Bo', 'null/undefined'],
  ]);
  expect([await rowsOf('orders', 'twice'), await rowsOf('orders', 'customer:shout')]).toEqual([
    expected.map((text) => [`${text} ${text}`]),
    [['Ada!'], ['Bo!'], ['Bo!'], [null]],
  ]);
});

test('getValues: one value for each record by position, synchronous or async, in any order and on any page', async () => {
  const labels = async (query: string) => (await place.list(`/orders?${query}`)).map(({ label, twice }) => [label, twice]);
  const [ada, bo] = ['10.5 Ada!', '20 Bo!'].map((text) => [text, `${text} ${text}`]);
  expect([await labels('sort=-customer_id,id&page[size]=3'), await labels('sort=id&page[size]=2&page[number]=2')]).toEqual([
    [bo, bo, ada],
    [bo, ['null -', 'null - null -']],
  ]);
  for (const name of ['few', 'many', 'text', 'throws', 'rejects']) {
    const { status, body } = await place.get(`/wrong?fields[wrong]=${name}`);
    expect([status, body.errors[0].code, JSON.stringify(body).includes('password')]).toEqual([500, 'CUSTOMIZATION_FAILED', false]);
  }
}); // biome-ignore format: short

test('defaultValue: replaces only null and undefined, and not where the related record is missing', async () => {
  expect([
    await valuesOf('orders', 'null or'),
    await valuesOf('orders', 'zero or'),
    await valuesOf('orders', 'false or'),
    await valuesOf('orders', 'enum or'),
    await valuesOf('orders', 'without'),
    await rowsOf('orders', 'customer:level'),
  ]).toEqual([
    ['none', 'none', '', 'x'],
    [0, 5, 5, 7],
    [false, true, true, true],
    ['low', 'high', 'low', 'low'],
    [null, null, 'x', null],
    [['basic'], ['basic'], ['basic'], [null]],
  ]);
});

test('enumValues: the values of an Enum, in the schema file and in describeCollection', async () => {
  const { status } = await place.get('/wrong?fields[wrong]=Enum 1');
  expect([inSchema('typed', 'a Enum').enums, inSchema('typed', 'a String').enums, status]).toEqual([['high', 'low'], [], 500]);
  expect(await describedAs('typed', 'a Enum')).toMatch(/low.*high/);
}); // biome-ignore format: short

test.each<[string, object, string]>([
  ['columnType', { columnType: 'Strng' }, "There is no column type 'Strng'. Near: String."],
  ['columnType', { columnType: { a: 'Nmber' } }, "There is no column type 'Nmber'. Near: Number."],
  ['columnType', { columnType: ['String', 'Number'] }, 'A column type must be the name of a type, a list of one type, or an object of types by key.'],
  ['columnType', { columnType: [] }, 'A column type must be the name of a type, a list of one type, or an object of types by key.'],
  ['columnType', { columnType: ['Strng'] }, "There is no column type 'Strng'. Near: String."],
  ['columnType', { columnType: 'string' }, "There is no column type 'string'. Near: String."],
  ['columnType', { columnType: {} }, 'A column type must be the name of a type, a list of one type, or an object of types by key.'],
  ['columnType', { columnType: { a: 'Binary' } }, "'Binary' cannot be used in a Json: use String."],
  ['columnType', { columnType: undefined }, ''],
  ['dependencies', { dependencies: [] }, "The field 'added' needs 'dependencies': the names of at least one field."],
  ['dependencies', { dependencies: undefined }, "The field 'added' needs 'dependencies': the names of at least one field."],
  ['dependencies', { dependencies: ['nme'] }, "The collection 'people' has no field 'nme'. Near: name."],
  ['dependencies', { dependencies: ['boss'] }, "'boss' is a relation: name one of its fields, such as 'boss:id'."],
  ['dependencies', { dependencies: ['people:name'] }, "'people:name' goes through 'people' of 'people', which does not lead to one record."],
  ['dependencies', { dependencies: ['added'] }, 'Circular fields: people.added -> people.added.'],
  ['getValues', { getValues: undefined }, 'getValues must be a function.'],
  ['getValues', { getValues: ['a'] }, 'getValues must be a function.'],
  ['enumValues', { columnType: 'Enum' }, "The field 'added' is an Enum and needs 'enumValues'."],
  ['enumValues', { columnType: 'Enum', enumValues: [] }, "The field 'added' is an Enum and needs 'enumValues'."],
  ['defaultValue', { defaultVale: 1 }, 'defaultValue'],
])('%s: an invalid value ends the start, with the error and the line', async (_, wrong, problem) => {
  const { agent } = emptyAgent();
  const columns = [{ name: 'id', type: 'Number' as const }, { name: 'name', type: 'String' as const }, { name: 'boss_id', type: 'Number' as const, nullable: true }];
  const people = { name: 'people', columns, primaryKey: ['id'], foreignKeys: [{ columns: ['boss_id'], table: 'people', targetColumns: ['id'] }], rows: [] };
  const definition = { columnType: 'String', dependencies: ['id'], getValues: () => [], ...wrong } as never;
  agent.addDataSource(createMemoryDataSource('people', [people])).customizeCollection('people', (each) => each.addField('added', definition));
  const message = await messageOf(() => agent.start());
  expect([message.includes(problem) ? problem : message, message]).toEqual([problem, expect.stringMatching(/2\.5-computed-outside\.test\.ts:\d+/)]);
}); // biome-ignore format: a table

test('dependencies: similar values stay distinct: null, an empty string and JSON strings; also for an imported field', async () => {
  const rows = async (fields: string[]) => (await place.tool('list', { collectionName: 'marks', fields, sort: 'id' })).json.rows;
  expect([await rows(['echo']), await rows(['both']), await rows(['of home'])]).toEqual([
    ['<[null]>', 'nothing', '<null>', '<>', '<[""]>', 'nothing'].map((one) => [one]),
    ['[null]/1', 'null/null', 'null/1', '/0', '[""]/0', 'null/1'].map((one) => [one]),
    ['at Paris', 'at null', 'at null', 'at Paris', 'at Paris', 'at null'].map((one) => [one]),
  ]);
}); // biome-ignore format: short

test('defaultValue: must be of the type: 0 and false are valid, a day is shown as a day, others are code errors', async () => {
  const ask = (fields: string[]) => place.tool('list', { collectionName: 'marks', fields, sort: 'id', pagination: { size: 2 } });
  expect([(await ask(['zero default', 'no default', 'day default'])).json.rows, (await ask(['wrong default'])).error]).toEqual([
    Array(2).fill([0, false, '2024-02-29']),
    expect.stringMatching(/^CUSTOMIZATION_FAILED/),
  ]);
}); // biome-ignore format: short
