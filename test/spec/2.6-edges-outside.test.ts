// Relations that code adds: what is written through them, relations of a collection with itself, and how each is shown
// in lists, files, filters, sorts and groups. One record has the key 0.
import { expect, test } from 'vitest';
import { type CustomizationContext, createMemoryDataSource } from '../../src/index.ts';
import { serveOutside } from './outside.ts';

const tables = [
  'CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, badge VARCHAR(20) UNIQUE, boss_id INTEGER, deputy_of INTEGER UNIQUE)',
  "INSERT INTO people VALUES (0, 'Zed', 'b0', NULL, 1), (1, 'Ada', 'b1', 0, NULL), (2, 'Bo', 'b2', 0, 0), (3, 'Cy', NULL, 1, NULL)",
  'CREATE TABLE desks (id INTEGER PRIMARY KEY, person_id INTEGER UNIQUE, person_badge VARCHAR(20) UNIQUE)',
  "INSERT INTO desks VALUES (10, 2, 'b0'), (11, 0, 'b2'), (12, NULL, NULL)",
  'CREATE TABLE notes (id INTEGER PRIMARY KEY, person_id INTEGER, person_badge VARCHAR(20), must_id INTEGER NOT NULL, day INTEGER)',
  "INSERT INTO notes VALUES (20, 0, 'b2', 1, 1), (21, 1, 'b0', 1, 2), (22, 0, 'b1', 2, 3), (23, NULL, NULL, 2, 4)",
  'CREATE TABLE friends (one INTEGER NOT NULL, other INTEGER NOT NULL, PRIMARY KEY (one, other))',
  'INSERT INTO friends VALUES (0, 1), (0, 2), (1, 0)',
  'CREATE TABLE lends (id INTEGER PRIMARY KEY, lender VARCHAR(20), borrower VARCHAR(20))',
  "INSERT INTO lends VALUES (1, 'b0', 'b1')",
  'CREATE TABLE days (id INTEGER PRIMARY KEY, number INTEGER)',
  'INSERT INTO days VALUES (31, 1), (30, 1), (32, 2)',
];
const code = { run: (_: CustomizationContext): unknown => null };
const cities = { name: 'cities', columns: [{ name: 'id', type: 'Number' as const }, { name: 'label', type: 'String' as const }], primaryKey: ['id'], rows: [[0, 'Oslo'], [1, 'Rome']] }; // biome-ignore format: short
const many = {
  name: 'many',
  columns: [{ name: 'id', type: 'Number' as const }],
  primaryKey: ['id'],
  rows: Array.from({ length: 12 }, (_, id) => [id]),
};
const calls = { now: 0, most: 0 };
const uuid = '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d';
/** By the id of the record: good values in other forms, then wrong ones. */
const forms: readonly object[] = [
  {
    text: 5,
    number: '12.5',
    day: new Date('2024-02-29T10:00:00Z'),
    at: new Date('2024-02-29T10:00:00Z'),
    is: false,
    time: '23:59:59',
    id: uuid.toUpperCase(),
    place: [1, 2],
    file: Buffer.from('a'),
    json: { a: [] },
    list: ['1', 2, null],
  },
  ...[
    { text: {} },
    { number: 'many' },
    { day: '2024-2-1' },
    { at: 'soon' },
    { is: 'yes' },
    { time: '9' },
    { place: [1] },
    { file: 'x' },
    { list: 1 },
    { list: ['x'] },
  ],
];
const place = serveOutside(tables, (agent) =>
  agent
    .addDataSource(createMemoryDataSource('many', [many]))
    .addDataSource(createMemoryDataSource('cities', [cities]))
    .addChart('code', async (context, chart) => chart.smart(await code.run(context)))
    .customizeCollection('people', (people) =>
      people
        .renameField('boss_id', 'superior')
        .addManyToOneRelation('boss', 'people', { foreignKey: 'boss_id' })
        .addOneToManyRelation('reports', 'people', { originKey: 'boss_id' })
        .addOneToOneRelation('deputy', 'people', { originKey: 'deputy_of' })
        .addManyToManyRelation('friends', 'people', 'friends', { originKey: 'one', foreignKey: 'other' })
        .addManyToManyRelation('friend of', 'people', 'friends', { originKey: 'other', foreignKey: 'one' })
        .addManyToManyRelation('lent to', 'people', 'lends', {
          originKey: 'lender',
          originKeyTarget: 'badge',
          foreignKey: 'borrower',
          foreignKeyTarget: 'badge',
        })
        .addOneToOneRelation('first friend', 'friends', { originKey: 'one' })
        .addOneToManyRelation('written', 'notes', { originKey: 'person_id' })
        .addOneToManyRelation('badged', 'notes', { originKey: 'person_badge', originKeyTarget: 'badge' })
        .addOneToManyRelation('duties', 'notes', { originKey: 'must_id' })
        .addOneToOneRelation('desk', 'desks', { originKey: 'person_id' })
        .addOneToOneRelation('badge desk', 'desks', { originKey: 'person_badge', originKeyTarget: 'badge' })
        .addManyToOneRelation('city', 'cities', { foreignKey: 'id' })
        .addExternalRelation('shifts', {
          schema: { day: 'Dateonly', hours: 'Number', who: 'String' },
          listRecords: ({ id }, { caller }) => [
            { day: '2024-03-02', hours: id, who: caller.firstName },
            { day: '2024-03-01', hours: 0, who: null },
          ],
        }),
    )
    .customizeCollection('many', (many) =>
      many
        .addExternalRelation('forms', {
          schema: {
            text: 'String',
            number: 'Number',
            day: 'Dateonly',
            at: 'Date',
            is: 'Boolean',
            time: 'Time',
            id: 'Uuid',
            place: 'Point',
            file: 'Binary',
            json: 'Json',
            list: ['Number'],
          },
          listRecords: ({ id }) => [forms[Number(id)] ?? {}] as never,
        })
        .addExternalRelation('slow', {
          schema: { n: 'Number' },
          async listRecords({ id }) {
            calls.most = Math.max(calls.most, ++calls.now);
            await new Promise((done) => setTimeout(done, Number(id) % 3));
            calls.now--;
            return [{ n: id }];
          },
        }),
    )
    .customizeCollection('notes', (notes) =>
      notes
        .addManyToOneRelation('writer', 'people', { foreignKey: 'person_id' })
        .addManyToOneRelation('holder', 'people', { foreignKey: 'person_badge', foreignKeyTarget: 'badge' })
        .addManyToOneRelation('owner', 'people', { foreignKey: 'must_id' })
        .addManyToOneRelation('first day', 'days', { foreignKey: 'day', foreignKeyTarget: 'number' }),
    ),
);

const put = async (path: string, body: unknown) => {
  const { status, body: answer } = await place.post(path, body, 'PUT');
  return status < 300 ? 'done' : `${status} ${answer.errors[0].code}`;
};
const rowsOf = async (collection: string, ...fields: string[]) =>
  (await place.tool('list', { collectionName: collection, fields: ['id', ...fields], sort: 'id' })).json.rows;
const record = async (collection: string, id: number) =>
  (await place.list(`/${collection}?sort=id`)).find((one) => one.id === id)!;
const idsOf = async (path: string) => (await place.get(path)).body.data.map(({ id }: { id: string }) => Number(id));

type Step = readonly [data: unknown, outcome: string, state: unknown];
test.each<[row: string, path: string, state: () => Promise<unknown>, first: unknown, steps: Step[]]>([
  ['many-to-one: foreignKey', '/notes/20/relationships/writer', async () => (await record('notes', 20)).person_id, 0, [
    [{ type: 'people', id: '3' }, 'done', 3], [{ type: 'people', id: '9' }, '404 RECORD_NOT_FOUND', 3], [null, 'done', null], [undefined, '400 INVALID_ARGUMENT', null], [{ type: 'desks', id: '1' }, '400 INVALID_ARGUMENT', null], [[{ type: 'people', id: '1' }], '400 INVALID_ARGUMENT', null], [{ type: 'people', id: '0' }, 'done', 0],
  ]],
  ['many-to-one: foreignKeyTarget', '/notes/20/relationships/holder', async () => (await record('notes', 20)).person_badge, 'b2', [
    [{ type: 'people', id: '0' }, 'done', 'b0'], [{ type: 'people', id: '9' }, '404 RECORD_NOT_FOUND', 'b0'], [null, 'done', null], [{ type: 'people', id: '2' }, 'done', 'b2'],
  ]],
  ['many-to-one: foreignKey: that may not be null', '/notes/20/relationships/owner', async () => (await record('notes', 20)).must_id, 1, [
    [null, '400 INVALID_RECORD', 1], [{ type: 'people', id: '0' }, 'done', 0], [{ type: 'people', id: '1' }, 'done', 1],
  ]],
  ['many-to-one: foreignKeyTarget: without a unique index', '/notes/23/relationships/first%20day', async () => (await record('notes', 23)).day, 4, [
    [{ type: 'days', id: '31' }, '400 INVALID_ARGUMENT', 4], [{ type: 'days', id: '30' }, 'done', 1], [{ type: 'days', id: '32' }, 'done', 2], [null, 'done', null],
  ]],
  ['one-to-one: originKey', '/people/0/relationships/desk', () => rowsOf('desks', 'person_id'), [[10, 2], [11, 0], [12, null]], [
    [{ type: 'desks', id: '12' }, 'done', [[10, 2], [11, null], [12, 0]]], [{ type: 'desks', id: '99' }, '404 RECORD_NOT_FOUND', [[10, 2], [11, null], [12, 0]]],
    [{ type: 'desks', id: '12' }, 'done', [[10, 2], [11, null], [12, 0]]], [null, 'done', [[10, 2], [11, null], [12, null]]], [null, 'done', [[10, 2], [11, null], [12, null]]], [{ type: 'desks', id: '11' }, 'done', [[10, 2], [11, 0], [12, null]]],
  ]],
  ['one-to-one: originKeyTarget', '/people/0/relationships/badge%20desk', () => rowsOf('desks', 'person_badge'), [[10, 'b0'], [11, 'b2'], [12, null]], [
    [{ type: 'desks', id: '12' }, 'done', [[10, null], [11, 'b2'], [12, 'b0']]], [{ type: 'desks', id: '10' }, 'done', [[10, 'b0'], [11, 'b2'], [12, null]]],
  ]],
  ['one-to-one: originKey: of the same collection', '/people/0/relationships/deputy', () => rowsOf('people', 'deputy_of'), [[0, 1], [1, null], [2, 0], [3, null]], [
    [{ type: 'people', id: '3' }, 'done', [[0, 1], [1, null], [2, null], [3, 0]]], [{ type: 'people', id: '2' }, 'done', [[0, 1], [1, null], [2, 0], [3, null]]],
  ]],
  ['one-to-many: originKey', '/people/0/relationships/written', () => rowsOf('notes', 'person_id'), [[20, 0], [21, 1], [22, 0], [23, null]], [
    [{ type: 'notes', id: '23' }, '400 INVALID_ARGUMENT', [[20, 0], [21, 1], [22, 0], [23, null]]], [null, '400 INVALID_ARGUMENT', [[20, 0], [21, 1], [22, 0], [23, null]]],
  ]],
])('%s: one record is linked, replaced and unlinked; invalid requests are refused and change nothing', async (_, path, state, first, steps) => {
  expect(await state()).toEqual(first);
  for (const [data, outcome, then] of steps) expect([await put(path, { data }), await state()], JSON.stringify(data)).toEqual([outcome, then]);
}); // biome-ignore format: a table

test.each([
  ['one-to-many: originKey', 'written', 23, (note: Record<string, unknown>) => note.person_id, null, 'done'],
  ['one-to-many: originKeyTarget', 'badged', 23, (note: Record<string, unknown>) => note.person_badge, null, 'done'],
  ['one-to-many: originKey: that may not be null', 'duties', 23, (note: Record<string, unknown>) => note.must_id, 2, 'INVALID_RECORD'],
])('%s: a record is linked over HTTP and MCP, and unlinked unless its key is not nullable', async (_, relation, id, keyOf, empty, unlinked) => {
  const note = async () => keyOf(await record('notes', id));
  const data = [{ type: 'notes', id: `${id}` }];
  const path = `/people/0/relationships/${relation}`;
  const asked = { collectionName: 'people', parentRecordId: 0, relationName: relation, targetRecordIds: [id] };
  expect((await place.post(path, { data })).status).toBe(204);
  const key = await note();
  expect([key, await idsOf(path)]).toEqual([relation === 'badged' ? 'b0' : 0, expect.arrayContaining([id])]);
  const taken = await place.post(path, { data }, 'DELETE');
  expect(taken.status < 300 ? 'done' : taken.body.errors[0].code).toBe(unlinked);
  expect(await note()).toBe(unlinked === 'done' ? null : key);
  const linked = await place.tool('associate', asked);
  const again = await place.tool('dissociate', asked);
  expect([linked.error, String(again.error ?? 'done').split(/\W/)[0]]).toEqual([undefined, unlinked]);
  if (unlinked === 'done') expect(await note()).toBe(empty);
  else await place.save('notes', id, { must_id: empty });
}); // biome-ignore format: a table

test('many-to-one, one-to-many, one-to-one, many-to-many: of a collection with itself, by names before renaming, from a record with the key 0', async () => {
  expect([
    await rowsOf('people', 'superior', 'boss:name', 'deputy:name'),
    ...[await idsOf('/people/0/relationships/reports?sort=id'), await idsOf('/people/0/relationships/friends?sort=-id'), await idsOf('/people/0/relationships/friend%20of')],
    (await place.get('/people/0/relationships/deputy')).body.data.id,
  ]).toEqual([
    [[0, null, null, 'Bo'], [1, 0, 'Zed', 'Zed'], [2, 0, 'Zed', null], [3, 1, 'Ada', null]],
    ...[[1, 2], [2, 1], [1], '2'],
  ]);
  const link = { collectionName: 'people', parentRecordId: 2, relationName: 'friends', targetRecordIds: [0] };
  const linked = await place.tool('associate', link);
  const [there, back] = [await idsOf('/people/2/relationships/friends'), await idsOf('/people/0/relationships/friend%20of?sort=id')];
  await place.tool('dissociate', link);
  expect([linked.error, there, back, await idsOf('/people/2/relationships/friends')]).toEqual([undefined, [0], [1, 2], []]);
}); // biome-ignore format: short

const toOne: readonly (readonly [row: string, collection: string, relation: string, values: readonly (string | number | null)[], order: readonly number[]])[] = [
  ['many-to-one: foreignKey', 'notes', 'writer', ['Zed', 'Ada', 'Zed', null], [23, 21, 20, 22]],
  ['many-to-one: foreignKeyTarget', 'notes', 'holder', ['Bo', 'Zed', 'Ada', null], [23, 22, 20, 21]],
  ['one-to-one: originKey', 'people', 'desk', [11, null, 10, null], [1, 3, 2, 0]],
  ['one-to-one: originKeyTarget', 'people', 'badge desk', [10, null, 11, null], [1, 3, 0, 2]],
  ['many-to-one: foreignKey: to another data source', 'people', 'city', ['Oslo', 'Rome', null, null], [2, 3, 0, 1]],
]; // biome-ignore format: a table
test.each(toOne)('%s: in records, lists, CSV, filters, sorts, groups and code', async (_, collection, relation, values, order) => {
  const field = typeof values.find((one) => one !== null) === 'number' ? 'id' : relation === 'city' ? 'label' : 'name';
  const path = `${relation}:${field}`;
  const first = collection === 'notes' ? 20 : 0;
  const ids = values.map((_, at) => at + first);
  const where = (operator: string, value?: unknown) => `filters=${encodeURIComponent(JSON.stringify({ field: path, operator, ...(value !== undefined && { value }) }))}`;
  const { body } = await place.get(`/${collection}?sort=id&fields[${collection}]=id,${relation}&fields[${relation}]=${field}`);
  const shown = body.data.map(({ relationships }: { relationships: Record<string, { data: { id: string } | null }> }) => relationships[relation]!.data?.id ?? null);
  const included = body.included.map((one: { attributes: Record<string, unknown> }) => one.attributes[field]);
  code.run = async ({ collection: open }) => (await open(collection).list({}, ['id', path])).map((one) => (one[relation] as Record<string, unknown> | null)?.[field] ?? null);
  const { json: grouped } = await place.tool('aggregate', { collectionName: collection, operation: 'Count', groups: [path] });
  const csv = String((await place.get(`/${collection}.csv?fields[${collection}]=${relation}&fields[${relation}]=${field}&sort=id&filename=x&header=${encodeURIComponent('["v"]')}`)).body);
  const known = values.filter((one) => one !== null);
  expect({
    tool: await rowsOf(collection, path),
    shown: shown.map((id: string | null) => id !== null),
    included: [...new Set(included)].sort(),
    equal: await idsOf(`/${collection}?sort=id&${where('Equal', known[0])}`),
    missing: await idsOf(`/${collection}?sort=id&${where('Missing')}`),
    ascending: await idsOf(`/${collection}?sort=${encodeURIComponent(relation)}.${field},id`),
    descending: await idsOf(`/${collection}?sort=-${encodeURIComponent(relation)}.${field},-id`),
    code: (await place.get('/_charts/code')).body,
    groups: grouped.rows.map(([value]: unknown[]) => value).sort(),
    csv: csv.split(/\r?\n/).slice(1, 1 + values.length),
  }).toEqual({
    tool: values.map((value, at) => [ids[at], value]),
    shown: values.map((value) => value !== null),
    included: [...new Set(known)].sort(),
    equal: ids.filter((_, at) => values[at] === known[0]),
    missing: ids.filter((_, at) => values[at] === null),
    ascending: order,
    descending: order.toReversed(),
    code: values,
    groups: [...new Set(values)].sort(),
    csv: values.map((value) => String(value ?? '')),
  });
}); // biome-ignore format: a table

test.each([
  ['one-to-many: originKey', 'written', 'notes', [20, 22]],
  ['one-to-many: originKeyTarget', 'badged', 'notes', [21]],
  ['many-to-many: throughCollection, originKey, foreignKey', 'friends', 'people', [1, 2]],
])('%s: the related list is filtered, sorted, searched, paged, counted and exported, and can be filtered through', async (_, relation, collection, ids) => {
  const path = `/people/0/relationships/${relation}`;
  const last = ids.at(-1)!;
  const is = `filters=${encodeURIComponent(JSON.stringify({ field: 'id', operator: 'Equal', value: last }))}`;
  const related = { collectionName: 'people', relationName: relation, parentRecordId: 0, fields: ['id'] };
  const listed = async (more: object) => (await place.tool('listRelated', { ...related, ...more })).json;
  const some = async (where: object) => (await place.tool('list', { collectionName: 'people', fields: ['id'], sort: 'id', filters: { some: relation, where } })).json.rows.flat();
  const none = (await place.tool('list', { collectionName: 'people', fields: ['id'], sort: 'id', filters: { none: relation } })).json.rows.flat();
  const page = await listed({ sort: 'id', pagination: { size: 1, number: 2 } });
  expect({
    filtered: [await idsOf(`${path}?${is}`), (await place.get(`${path}/count?${is}`)).body.count],
    sorted: [await idsOf(`${path}?sort=-id`), (await listed({ sort: '-id' })).rows.flat()],
    searched: await idsOf(`${path}?search=${last}`),
    second: page.rows.flat(),
    first: await idsOf(`${path}?sort=id&page[size]=1`),
    csv: String((await place.get(`${path}.csv?fields[${collection}]=id&sort=id&filename=x&header=${encodeURIComponent('["id"]')}`)).body).trim().split(/\r?\n/).slice(1).map(Number),
    some: (await some({ field: 'id', operator: 'Equal', value: last })).includes(0),
    other: (await some({ field: 'id', operator: 'Equal', value: 999 })),
    none: none.includes(0),
  }).toEqual({
    filtered: [[last], 1],
    sorted: [ids.toReversed(), ids.toReversed()],
    searched: [last],
    second: ids.slice(1),
    first: ids.slice(0, 1),
    csv: ids,
    some: true,
    other: [],
    none: false,
  });
}); // biome-ignore format: a table

test('external: schema, listRecords: records are attributes and CSV columns, as code returns them; no filter, sort or group', async () => {
  const shifts = (id: number) => [{ day: '2024-03-02', hours: id, who: 'Ada' }, { day: '2024-03-01', hours: 0, who: null }];
  const asked = { collectionName: 'people', fields: ['id', 'shifts'] };
  const related = { collectionName: 'people', relationName: 'shifts', parentRecordId: 0 };
  code.run = async ({ collection }) => (await collection('people').list({}, ['shifts'])).map((one) => one.shifts);
  const refused = async (more: object) => String((await place.tool('list', { ...asked, ...more })).error).split(/\W/)[0];
  expect({
    list: (await place.list('/people?sort=id&fields[people]=shifts')).map((one) => one.shifts),
    byDefault: Object.keys((await place.list('/people?sort=id'))[0]!).includes('shifts'),
    tool: (await place.tool('list', { ...asked, sort: 'id' })).json.rows[0],
    code: ((await place.get('/_charts/code')).body as unknown[])[1],
    count: (await place.tool('listRelated', { ...related, filters: { field: 'hours', operator: 'Equal', value: 0 } })).json.rows.length,
    sum: (await place.tool('listRelated', { ...related, sort: 'hours', pagination: { size: 1 } })).json.hasMore,
    refused: [await refused({ filters: { field: 'shifts', operator: 'Present' } }), await refused({ sort: 'shifts' }), await refused({ fields: ['shifts:day'] })],
    described: place.schema.collections.find(({ name }: { name: string }) => name === 'people').fields.find(({ field }: { field: string }) => field === 'shifts').type,
    written: (await place.save('people', 0, { shifts: [] })).status,
  }).toEqual({
    list: [0, 1, 2, 3].map(shifts),
    byDefault: false,
    tool: [0, shifts(0)],
    code: shifts(1),
    count: 2,
    sum: true,
    refused: Array(3).fill('INVALID_ARGUMENT'),
    described: [{ fields: [{ field: 'day', type: 'Dateonly' }, { field: 'hours', type: 'Number' }, { field: 'who', type: 'String' }] }],
    written: 400,
  });
}); // biome-ignore format: short

test('external: listRecords: the code runs for four records concurrently, and each record gets its own', async () => {
  const shown = (await place.list('/many?sort=id&fields[many]=slow')).map((one) => one.slow);
  expect([shown, calls.most]).toEqual([Array.from({ length: 12 }, (_, id) => [{ n: id }]), 4]);
});

test('many-to-many: throughCollection, originKey, foreignKey, originKeyTarget, foreignKeyTarget: a link is a row of these columns, made once, and removed', async () => {
  const asked = { collectionName: 'people', parentRecordId: 0, relationName: 'lent to', targetRecordIds: [2, 1] };
  const pairs = async () => (await place.list('/lends?sort=id')).map(({ lender, borrower }) => [lender, borrower]);
  const linked = await place.tool('associate', asked);
  const there = await pairs();
  const none = await place.tool('associate', { ...asked, targetRecordIds: [3] });
  const taken = await place.post('/people/0/relationships/lent%20to', { data: [{ type: 'people', id: '2' }] }, 'DELETE');
  expect([linked.json.count, there, none.error, taken.status, await pairs(), await idsOf('/people/1/relationships/lent%20to')]).toEqual([
    ...[1, [['b0', 'b1'], ['b0', 'b2']], expect.stringContaining('that it would point to is null'), 204, [['b0', 'b1']], []],
  ]);
}); // biome-ignore format: short

test('one-to-one: originKey: half of a composite unique index is not unique: the first record, with a warning, and read-only', async () => {
  const set = await put('/people/0/relationships/first%20friend', { data: null });
  expect([await rowsOf('people', 'first friend:other'), set, place.warnings.filter((each) => each.includes("'first friend'")).length]).toEqual([
    [[0, 1], [1, 0], [2, null], [3, null]],
    '400 INVALID_ARGUMENT',
    1,
  ]);
}); // biome-ignore format: short

test('external: schema: values of each type in their usual JavaScript forms; a value of another type is a code error', async () => {
  const of = async (id: number) => (await place.get(`/many/${id}/relationships/forms`)).body;
  const [good, missing] = [await of(0), await of(11)];
  const wrong = await Promise.all(forms.slice(1).map(async (_, at) => (await of(at + 1)).errors?.[0].code));
  expect([good.data[0].attributes, Object.values(missing.data[0].attributes), wrong]).toEqual([
    { text: '5', number: '12.5', day: '2024-02-29', at: '2024-02-29T10:00:00.000Z', is: false, time: '23:59:59', id: uuid, place: [1, 2], file: 'data:application/octet-stream;base64,YQ==', json: { a: [] }, list: ['1', 2, null] },
    Array(11).fill(null),
    Array(10).fill('CUSTOMIZATION_FAILED'),
  ]);
}); // biome-ignore format: short

test('many-to-one: foreignKey, foreignKeyTarget: the schema file has the relation instead of its key column', () => {
  const { fields } = place.schema.collections.find(({ name }: { name: string }) => name === 'notes');
  const names = fields.map(({ field }: { field: string }) => field);
  expect(names).toEqual(['first day', 'holder', 'id', 'owner', 'writer']);
});
