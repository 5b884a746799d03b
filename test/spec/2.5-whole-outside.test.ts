// Computed fields as a whole (behaviour 2.5): each type at its edges, at each place that shows a value, and the calls of
// the code.
import { expect, test } from 'vitest';
import { type ComputedDefinition, createMemoryDataSource } from '../../src/index.ts';
import { emptyAgent, messageOf } from '../app/agent.ts';
import { serveOutside } from './outside.ts';

const tables = [
  'CREATE TABLE things (id INTEGER PRIMARY KEY, word VARCHAR(20), n INTEGER, of_id INTEGER REFERENCES things(id))',
  "INSERT INTO things VALUES (1, 'a', 1, NULL), (2, 'b', 2, 1), (3, 'b', 2, 1), (4, NULL, NULL, 2)",
];
type Type = Exclude<ComputedDefinition['columnType'], object | 'Binary'>;
const bytes = Buffer.from('hi');
const uri = `data:application/octet-stream;base64,${bytes.toString('base64')}`;
const uuid = '9e7b1d2a-90c4-4f1e-8a3b-000000000003';
interface Case {
  /** What the code returns, and what is read. */
  readonly taken: readonly (readonly [given: unknown, read: unknown])[];
  readonly wrong: readonly unknown[];
  /** A default, and what is read. */
  readonly byDefault: readonly [given: unknown, read: unknown];
}
const types: Readonly<Record<Type & string, Case>> = {
  String: { taken: [['', ''], ['12', '12'], [0, '0'], [true, 'true'], [5n, '5'], ['é\n', 'é\n']], wrong: [{}, [], new Date(0), bytes], byDefault: ['', ''] },
  Number: { taken: [[0, 0], [-0.5, -0.5], ['12.50', '12.50'], ['-3', '-3'], [3n, 3], [9007199254740991n, 9007199254740991]], wrong: [Number.POSITIVE_INFINITY, '', ' 1', '1e3', '1.', '0x1', '1,5', new Date(0), true], byDefault: [0, 0] },
  Boolean: { taken: [[false, false], [true, true]], wrong: ['false', 0, '', 'TRUE'], byDefault: [false, false] },
  Date: { taken: [['2024-03-31T12:00:00+02:00', '2024-03-31T10:00:00.000Z'], ['2024-03-31T10:00:00.123456Z', '2024-03-31T10:00:00.123456Z'], [new Date(0), '1970-01-01T00:00:00.000Z'], [new Date(1), '1970-01-01T00:00:00.001Z'], ['2024-03-31T10:00:00.5Z', '2024-03-31T10:00:00.500Z'], ['2024-03-31', '2024-03-31T00:00:00.000Z']], wrong: [new Date(Number.NaN), 0, '', 'soon'], byDefault: [new Date(0), '1970-01-01T00:00:00.000Z'] },
  Dateonly: { taken: [['2024-02-29', '2024-02-29'], [new Date('2024-02-29T23:59:59Z'), '2024-02-29']], wrong: ['2024-2-29', '2024-02-29T00:00', '', 20240229], byDefault: ['2024-02-29', '2024-02-29'] },
  Time: { taken: [['00:00:00', '00:00:00'], ['23:59:59.123456', '23:59:59.123456'], ['08:30:00.5', '08:30:00.5']], wrong: ['8:30:00', '08:30', '08:30:00.', '08:30:00.1234567', '', 830], byDefault: ['00:00:00', '00:00:00'] },
  Enum: { taken: [['low', 'low'], ['high', 'high']], wrong: ['', 'Low', 'lo', 0, ['low']], byDefault: ['high', 'high'] },
  Json: { taken: [[0, 0], ['', ''], [false, false], ['null', 'null'], [[], []], [{ b: [null], a: 1 }, { b: [null], a: 1 }]], wrong: [], byDefault: [[], []] },
  Uuid: { taken: [[uuid, uuid], [uuid.toUpperCase(), uuid]], wrong: [12, {}, false], byDefault: [uuid.toUpperCase(), uuid] },
  Point: { taken: [[[0, 0], [0, 0]], [[-1.5, 90], [-1.5, 90]]], wrong: [[1], [1, 2, 3], '1,2', { x: 1, y: 2 }, []], byDefault: [[0, 0], [0, 0]] },
  File: { taken: [[bytes, uri], [new Uint8Array(bytes), uri], [uri, uri]], wrong: ['', 'hi', 7, {}], byDefault: [bytes, uri] },
}; // biome-ignore format: a table
const names = Object.keys(types) as (keyof typeof types)[];
const enumOf = (type: string) => (type === 'Enum' ? { enumValues: ['low', 'high'] } : {});

/** The values that the code returns for all records; changed by each test. */
let returned: unknown;
const calls: unknown[][] = [];
const place = serveOutside(tables, (agent) =>
  agent.customizeCollection('things', (things) => {
    const value = (records: readonly unknown[]) => records.map(() => returned);
    for (const type of names) {
      const base = { columnType: type as Type, dependencies: ['id'], ...enumOf(type) };
      things
        .addField(type, { ...base, getValues: value as never })
        .addField(`${type} later`, { ...base, getValues: (async (records: readonly unknown[]) => value(records).map(async (each) => each)) as never })
        .addField(`${type} default`, { ...base, getValues: (records) => records.map(({ id }) => (id === 1 ? null : id === 2 ? undefined : (types[type].taken[0]![0] as never))), defaultValue: types[type].byDefault[0] });
    }
    const seen = (name: string) => (records: readonly Record<string, unknown>[]) => { calls.push([name, ...records.map((record) => ({ ...record }))]); };
    things
      .renameField('word', 'text')
      .addField('one', { columnType: 'String', dependencies: ['word'], getValues: (records) => { seen('one')(records); return records.map(({ word }) => `${word}`); } })
      .addField('two', { columnType: 'String', dependencies: ['word', 'n'], getValues: (records) => { seen('two')(records); return records.map(({ word, n }) => `${word}${n}`); } })
      .addField('above', { columnType: 'String', dependencies: ['of:two', 'one'], getValues: (records) => { seen('above')(records); return records.map(({ of, one }) => `${(of as { two: string } | null)?.two}<${one}`); } })
      .addField('asker', { columnType: 'String', dependencies: ['id'], getValues: (records, context) => records.map(({ id }) => `${id} ${context.caller.email}`) })
      .addField('holes', { columnType: 'Number', dependencies: ['id'], getValues: (records) => { const all: number[] = []; all.length = records.length; return all; }, defaultValue: 7 })
      .addField('object', { columnType: 'String', dependencies: ['id'], getValues: (records) => Object.fromEntries(records.map((_, at) => [at, 'a'])) as never })
      .addField('set', { columnType: 'String', dependencies: ['id'], getValues: (records) => new Set(records.map(({ id }) => `${id}`)) as never })
      .addField('none', { columnType: 'String', dependencies: ['id'], getValues: () => [] })
      .addField('nothing', { columnType: 'String', dependencies: ['id'], getValues: (() => undefined) as never })
      .addField('one fails', { columnType: 'String', dependencies: ['id'], getValues: (records) => records.map(({ id }) => (id === 3 ? Promise.reject(new Error('secret')) : 'a')) as never });
  }),
); // biome-ignore format: short

const rowsOf = async (fields: string[], more: object = {}) =>
  (await place.tool('list', { collectionName: 'things', fields, sort: 'id', ...more })).json?.rows;
const overHttp = async (name: string, path = '/things', query = '') => {
  const { status, body } = await place.get(`${path}?fields[things]=${encodeURIComponent(name)}${query}`);
  return status === 200 ? [body.data].flat().map(({ attributes }: { attributes: Record<string, unknown> }) => attributes[name]) : [status, body.errors[0].code];
}; // biome-ignore format: short
const inFile = (name: string) =>
  place.schema.collections[0].fields.find(({ field }: { field: string }) => field === name);

test.each(names)('columnType | %s: edge values, synchronous and async, in lists, in one record and over MCP', async (type) => {
  for (const [given, read] of types[type].taken) {
    returned = given;
    const seen = [await overHttp(type), await overHttp(`${type} later`), await overHttp(type, '/things/2')];
    expect([given, seen]).toEqual([given, [Array(4).fill(read), Array(4).fill(read), [read]]]);
    if (type === 'File') continue;
    expect(await rowsOf([type])).toEqual(Array(4).fill([read]));
  }
  const failed = [500, 'CUSTOMIZATION_FAILED'];
  for (const given of types[type].wrong) {
    returned = given;
    const outcome = [await overHttp(type), await overHttp(`${type} later`, '/things/1'), (await place.tool('list', { collectionName: 'things', fields: [type] })).error?.slice(0, 20)];
    expect([given, outcome]).toEqual([given, [failed, failed, 'CUSTOMIZATION_FAILED']]);
  }
  returned = null;
  expect([await overHttp(type), await rowsOf([`of:${type}`])]).toEqual([Array(4).fill(null), Array(4).fill([null])]);
}); // biome-ignore format: short

test.each(names)('columnType | %s, defaultValue, enumValues: replaces null and undefined; no filter, sort or write; in the schema file and describeCollection', async (type) => {
  const name = `${type} default`;
  const [read, first] = [types[type].byDefault[1], types[type].taken[0]![1]];
  expect(await overHttp(name)).toEqual([read, read, first, first]);
  if (type !== 'File') expect(await rowsOf([`of:${name}`])).toEqual([[null], [read], [read], [read]]);
  const operator = { field: name, operator: 'equal', value: null };
  const statuses = [
    (await place.get(`/things?filters=${encodeURIComponent(JSON.stringify(operator))}`)).status,
    (await place.get(`/things?sort=${encodeURIComponent(name)}`)).status,
    (await place.save('things', 1, { [name]: first })).status,
    (await place.save('things', null, { id: 9, [name]: first })).status,
  ];
  const told = inFile(name);
  expect([statuses, (await place.ids('/things?fields[things]=id')).length, told.type, told.isReadOnly, told.isSortable, told.isFilterable, told.isPrimaryKey, told.reference, told.enums]).toEqual([
    [400, 400, 400, 400], 4, type === 'File' ? 'Binary' : type, true, false, false, false, null, type === 'Enum' ? ['high', 'low'] : [],
  ]);
  const { json } = await place.tool('describeCollection', { collectionName: 'things' });
  expect(json.fields[name]).toMatch(new RegExp(`^${type}${type === 'Enum' ? '\\(low\\|high\\)' : ''}\\? ro`));
}); // biome-ignore format: short

test('dependencies, getValues: one call for a page, each combination once, in order, and only if the field is requested', async () => {
  const called = async (ask: () => Promise<unknown>) => {
    calls.length = 0;
    return [await ask(), calls.map((call) => [...call])];
  };
  const [a, b, none] = [{ word: 'a', n: 1 }, { word: 'b', n: 2 }, { word: null, n: null }];
  expect([
    await called(() => rowsOf(['id', 'text'])),
    await called(() => rowsOf(['two'], { filters: { field: 'id', operator: 'GreaterThan', value: 99 } })),
    await called(() => rowsOf(['two'])),
    await called(() => rowsOf(['two'], { pagination: { size: 2, page: 2 } })),
    await called(() => overHttp('two', '/things/3')),
    await called(() => rowsOf(['above', 'one'])),
  ]).toEqual([
    [[[1, 'a'], [2, 'b'], [3, 'b'], [4, null]], []],
    [[], []],
    [[['a1'], ['b2'], ['b2'], ['nullnull']], [['two', a, b, none]]],
    [[['b2'], ['nullnull']], [['two', b, none]]],
    [['b2'], [['two', b]]],
    [
      [['undefined<a', 'a'], ['a1<b', 'b'], ['a1<b', 'b'], ['b2<null', 'null']],
      expect.arrayContaining([
        ['one', { word: 'a' }, { word: 'b' }, { word: null }],
        ['two', a, b],
        ['above', { of: null, one: 'a' }, { of: { two: 'a1' }, one: 'b' }, { of: { two: 'b2' }, one: 'null' }],
      ]),
    ],
  ]);
}); // biome-ignore format: a table

test('getValues: gets the caller; holes use the default; a list of another length or a partial failure is a code error', async () => {
  const emails = Array.from({ length: 4 }, (_, index) => [`${index + 1} ada@example.com`]);
  expect([await rowsOf(['asker']), await rowsOf(['holes'])]).toEqual([emails, Array(4).fill([7])]);
  for (const name of ['object', 'set', 'none', 'nothing', 'one fails']) {
    const { error } = await place.tool('list', { collectionName: 'things', fields: [name] });
    expect([await overHttp(name), error.includes('CUSTOMIZATION_FAILED'), error.includes('secret')]).toEqual([[500, 'CUSTOMIZATION_FAILED'], true, false]);
  }
  expect(await overHttp('one fails', '/things/1')).toEqual(['a']);
}); // biome-ignore format: short

test.each<[row: string, definition: object, outcome: string]>([
  ['enumValues', { columnType: 'Enum', enumValues: ['a', 'b'] }, 'it worked'],
  ['enumValues', { columnType: 'Enum', enumValues: undefined }, "is an Enum and needs 'enumValues'"],
  ['enumValues', { columnType: 'Enum', enumValues: null }, "needs 'enumValues'"],
  ['enumValues', { enumValue: ['a'] }, "no option 'enumValue'. Near: enumValues"],
  ['defaultValue', { defaultValue: null }, 'it worked'],
  ['defaultValue', { default: 1 }, "no option 'default'"],
  ['columnType', { columnType: ['String'] }, 'it worked'],
  ['columnType', { columnType: { a: ['Number'], b: { c: 'Date' } } }, 'it worked'],
  ['columnType', { columnType: { a: 'Enum' } }, "'Enum' cannot be used in a Json: use String"],
  ['columnType', { columnType: ['Number', 'Number'] }, 'A column type must be'],
  ['columnType', { columnType: 'number' }, "There is no column type 'number'. Near: Number"],
  ['columnType', { columnType: null }, ''],
  ['columnType', { colmnType: 'String' }, "no option 'colmnType'. Near: columnType"],
  ['dependencies', { dependencies: 'id' }, ''],
  ['dependencies', { dependencies: ['id', 'boss:name', 'boss:boss:id'] }, 'it worked'],
  ['dependencies', { dependencies: ['id', 'nme'] }, "has no field 'nme'. Near: name"],
  ['dependencies', { dependencies: ['id', 'boss:nme'] }, "has no field 'nme'. Near: name"],
  ['dependencies', { dependencies: ['bos:name'] }, "has no relation 'bos'"],
  ['dependencies', { dependencies: ['id', 'boss'] }, "'boss' is a relation: name one of its fields"],
  ['dependencies', { dependencies: ['boss:added'] }, 'Circular fields: people.added -> people.added'],
  ['getValues', { getValues: null }, 'getValues must be a function'],
  ['getValues', { getValues: 'x' }, 'getValues must be a function'],
  ['getValues', { getValue: () => [] }, "no option 'getValue'. Near: getValues"],
])('%s: %j at the start', async (_, given, outcome) => {
  const { agent } = emptyAgent();
  const columns = [{ name: 'id', type: 'Number' as const }, { name: 'name', type: 'String' as const }, { name: 'boss_id', type: 'Number' as const, nullable: true }];
  const people = { name: 'people', columns, primaryKey: ['id'], foreignKeys: [{ columns: ['boss_id'], table: 'people', targetColumns: ['id'] }], rows: [] };
  const definition = { columnType: 'String', dependencies: ['id'], getValues: () => [], ...given } as never;
  agent.addDataSource(createMemoryDataSource('people', [people])).customizeCollection('people', (each) => each.addField('added', definition));
  const message = await messageOf(() => agent.start());
  expect(message).toContain(outcome);
  if (outcome !== 'it worked') expect(message).toMatch(/2\.5-whole-outside\.test\.ts:\d+/);
}); // biome-ignore format: a table
