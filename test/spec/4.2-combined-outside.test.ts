// Customizer operations (behaviour 4.2) together and in both orders, each on its own collection, over HTTP: which of two
// calls wins, and which names code and callers use.
import { expect, test } from 'vitest';
import type { CollectionCustomizer } from '../../src/index.ts';
import { serveOutside } from './outside.ts';

const rows = "(1, 'b', 2, 'x', 1), (2, 'a', 0, NULL, 1), (3, 'c', NULL, '', 2), (4, 'a', 1, 'x', NULL)";
const made: [name: string, say: (each: CollectionCustomizer) => unknown][] = [];
const on = (name: string, say: (each: CollectionCustomizer) => unknown): string => {
  made.push([name, say]);
  return name;
};
const third = { field: 'id', operator: 'Equal', value: 3 } as const;
const told: unknown[] = [];

// The ids that a query finds, in order. [row, collection, query, ids or a status]
type Case = readonly [row: string, collection: string, query: string, found: readonly number[] | number];
const f = (field: string, operator: string, value?: unknown) => `filters=${encodeURIComponent(JSON.stringify({ field, operator, ...(value !== undefined && { value }) }))}&sort=id`; // biome-ignore format: short
const shout = { columnType: 'String', dependencies: ['name'], getValues: (all: readonly { name?: unknown }[]) => all.map(({ name }) => `${name}!`) } as const; // biome-ignore format: short

const emulatedFirst = on('emulated_first', (each) => each.addField('shout', shout).emulateFieldOperator('shout', 'Equal').emulateFieldOperator('shout', 'NotEqual').replaceFieldOperator('shout', 'In', () => third)); // biome-ignore format: short
const replacedFirst = on('replaced_first', (each) => each.addField('shout', shout).replaceFieldOperator('shout', 'Equal', () => third).emulateFieldFiltering('shout')); // biome-ignore format: short
const replacedLast = on('replaced_last', (each) => each.addField('shout', shout).emulateFieldFiltering('shout').replaceFieldOperator('shout', 'Equal', () => third)); // biome-ignore format: short
const derived = on('derived', (each) => each.replaceFieldOperator('n', 'LessThan', () => third).emulateFieldOperator('n', 'Blank')); // biome-ignore format: short
const oneOperator = on('one_operator', (each) => each.addField('shout', shout).emulateFieldOperator('shout', 'Like'));
const copied = on('copied', (each) => each.replaceFieldOperator('n', 'Equal', (value) => ({ aggregator: 'Or', conditions: [{ field: 'n', operator: 'GreaterThan', value: value as number }, third] }))); // biome-ignore format: short
const filtering: Case[] = [
  ['emulateFieldOperator', emulatedFirst, f('shout', 'equal', 'a!'), [2, 4]],
  ['emulateFieldOperator', emulatedFirst, f('shout', 'not_equal', 'a!'), [1, 3]],
  ['emulateFieldOperator', emulatedFirst, f('shout', 'contains', 'a'), 400],
  ['replaceFieldOperator', emulatedFirst, f('shout', 'in', ['a!']), [3]],
  ['replaceFieldOperator', replacedFirst, f('shout', 'equal', 'a!'), [3]],
  ['emulateFieldFiltering', replacedFirst, f('shout', 'contains', 'a'), [2, 4]],
  ['emulateFieldFiltering', replacedFirst, f('shout', 'starts_with', 'B'), []],
  ['emulateFieldFiltering', replacedFirst, f('shout', 'i_starts_with', 'B'), [1]],
  ['replaceFieldOperator', replacedLast, f('shout', 'equal', 'a!'), [3]],
  ['emulateFieldFiltering', replacedLast, f('shout', 'ends_with', 'c!'), [3]],
  ['emulateFieldFiltering', replacedLast, f('shout', 'present'), [1, 2, 3, 4]],
  ['emulateFieldFiltering', replacedLast, f('shout', 'blank'), []],
  ['replaceFieldOperator', derived, f('n', 'less_than', 9), [3]],
  ['replaceFieldOperator', derived, f('n', 'greater_than', 0), [1, 4]],
  ['emulateFieldOperator', derived, f('n', 'blank'), [3]],
  ['emulateFieldOperator', oneOperator, f('shout', 'like', '_!'), [1, 2, 3, 4]],
  ['emulateFieldOperator', oneOperator, f('shout', 'like', 'A!'), []],
  ['emulateFieldOperator', oneOperator, f('shout', 'equal', 'a!'), 400],
  ['emulateFieldOperator', oneOperator, f('shout', 'i_like', 'a!'), 400],
  ['replaceFieldOperator', copied, f('n', 'equal', 0), [1, 3, 4]],
  ['replaceFieldOperator', copied, f('n', 'in', [0]), [2]],
  ['replaceFieldOperator', copied, f('n', 'not_equal', 1), [1, 2, 3]],
]; // biome-ignore format: a table

const searchOn = on('search_on', (each) => each.disableSearch().replaceSearch(() => third));
const searchOff = on('search_off', (each) => each.replaceSearch(() => third).disableSearch());
const searchTwice = on('search_twice', (each) => each.replaceSearch(() => ({ ...third, value: 1 })).replaceSearch((text, extended) => ({ ...third, value: extended ? 2 : text === ' ' ? 1 : 4 }))); // biome-ignore format: short
const search: Case[] = [
  ['replaceSearch', searchOn, 'search=b', [3]],
  ['disableSearch', searchOff, 'search=b', 400],
  ['disableSearch', searchOff, 'search=', [1, 2, 3, 4]],
  ['disableSearch', searchOff, '', [1, 2, 3, 4]],
  ['disableSearch', searchOff, f('name', 'equal', 'b'), [1]],
  ['replaceSearch', searchTwice, 'search=b', [4]],
  ['replaceSearch', searchTwice, 'search=b&searchExtended=1', [2]],
  ['replaceSearch', searchTwice, 'search=b&searchExtended=0', [4]],
  ['replaceSearch', searchTwice, `search=b&${f('id', 'less_than', 4)}`, []],
];

const sorted = on('sorted', (each) => each.replaceFieldSorting('owner_id', [{ field: 'name' }, { field: 'n', ascending: false }]).renameField('n', 'number').disableFieldSorting('note').addField('shout', shout).emulateFieldSorting('shout')); // biome-ignore format: short
const backwards = on('backwards', (each) => each.replaceFieldSorting('note', [{ field: 'id', ascending: false }]).replaceFieldSorting('n', [{ field: 'note' }])); // biome-ignore format: short
const sorting: Case[] = [
  ['replaceFieldSorting', backwards, 'sort=note', [4, 3, 2, 1]],
  ['replaceFieldSorting', backwards, 'sort=-note', [1, 2, 3, 4]],
  ['replaceFieldSorting', backwards, 'sort=n', [4, 3, 2, 1]],
  ['replaceFieldSorting', backwards, 'sort=-n', [1, 2, 3, 4]],
  ['replaceFieldSorting', sorted, 'sort=owner_id', [4, 2, 1, 3]],
  ['replaceFieldSorting', sorted, 'sort=-owner_id', [3, 1, 2, 4]],
  ['disableFieldSorting', sorted, 'sort=note', 400],
  ['disableFieldSorting', sorted, 'sort=-note', 400],
  ['disableFieldSorting', sorted, 'sort=id,note', 400],
  ['disableFieldSorting', sorted, `${f('note', 'equal', 'x')}`, [1, 4]],
  ['disableFieldSorting', sorted, 'sort=number', [3, 2, 4, 1]],
  ['emulateFieldSorting', sorted, 'sort=shout,id', [2, 4, 1, 3]],
  ['emulateFieldSorting', sorted, 'sort=-shout,-id', [3, 1, 4, 2]],
  ['emulateFieldSorting', sorted, 'sort=shout,-id&page[size]=2&page[number]=2', [1, 3]],
];

const named = on('named', (each) => each.renameField('n', 'number').renameField('name', 'n').removeField('note').addSegment('few', { field: 'n', operator: 'LessThan', value: 2 }).addSegment('noted', { field: 'note', operator: 'Equal', value: 'x' }).replaceSearch((text) => ({ field: 'name', operator: 'Equal', value: text }))); // biome-ignore format: short
const names: Case[] = [
  ['renameField', named, 'segment=few', [2, 4]],
  ['removeField', named, 'segment=noted', [1, 4]],
  ['renameField', named, 'search=b', [1]],
  ['renameField', named, f('n', 'equal', 'a'), [2, 4]],
  ['renameField', named, f('number', 'equal', 0), [2]],
  ['renameField', named, 'sort=-n,-number', [3, 1, 4, 2]],
  ['removeField', named, f('note', 'present'), 400],
  ['removeField', named, 'sort=note', 400],
  ['removeField', named, `fields[${'named'}]=note`, 400],
  ['addSegment', named, `segment=few&${f('number', 'equal', 1)}`, [4]],
  ['addSegment', named, 'segment=Few', 400],
  ['addSegment', named, 'segment=few&search=b', []],
];

const generated = on('generated', (each) => each.replaceFieldWriting('made', (value) => ({ made: value })).addFieldValidation('long', 'Match', /x/).replaceFieldOperator('at', 'GreaterThanOrEqual', () => third).emulateFieldOperator('at', 'Today')); // biome-ignore format: short
const cases = [...filtering, ...search, ...sorting, ...names];
const counted = on('counted', (each) => each.disableCount().disableCount());
const ruled = on('ruled', (each) => each.addFieldValidation('name', 'LongerThan', 1).addFieldValidation('name', 'ShorterThan', 4).addFieldValidation('note', 'Present').setFieldNullable('note').addFieldValidation('note', 'ShorterThan', 3)); // biome-ignore format: short
const ruledLater = on('ruled_later', (each) => each.setFieldNullable('note').addFieldValidation('note', 'Present').addFieldValidation('name', 'In', ['u', 'v']).addFieldValidation('n', 'GreaterThan', 0).addFieldValidation('n', 'LessThan', 10)); // biome-ignore format: short
const hooked = on('hooked', (each) => each.renameField('n', 'number')
  .addHook('Before', 'Create', ({ data }) => { told.push(['first', { ...data[0] }]); data[0]!.n = Number(data[0]!.n) + 1; })
  .addHook('Before', 'Create', ({ data }) => { told.push(['second', data[0]!.n]); data[0]!.note = 'hooked'; })
  .addHook('After', 'Create', ({ records }) => void told.push(['after', records[0]!.n, records[0]!.note]))
  .addHook('Before', 'List', ({ narrow }) => narrow({ field: 'id', operator: 'LessThan', value: 100 }))
  .addHook('Before', 'List', ({ narrow, filter }) => { told.push(Object.keys(filter)); narrow({ field: 'id', operator: 'GreaterThan', value: 1 }); })); // biome-ignore format: short
const overridden = on('overridden', (each) => each.overrideUpdate(({ patch, filter }) => void told.push(['update', patch, 'conditionTree' in filter]))); // biome-ignore format: short
const values = on('valued', (each) => each
  .addField('zero', { columnType: 'Number', dependencies: ['n'], defaultValue: 7, getValues: (all) => all.map(({ n }) => n as number | null) })
  .addField('none', { columnType: 'Boolean', dependencies: ['n'], defaultValue: false, getValues: (all) => all.map(({ n }) => (n === null ? undefined : n === 2)) })
  .addField('twice', { columnType: 'Number', dependencies: ['zero', 'n'], getValues: async (all) => all.map(({ zero }) => Number(zero) * 2) })
  .importField('owner_name', { path: 'owner:name' }).importField('fixed', { path: 'owner:name', readonly: true })
  .replaceFieldWriting('note', (value, { action }) => ({ note: `${action}: ${value}` }))); // biome-ignore format: short
const charts = ['chart_one', 'chart_other'].map((name, at) => on(name, (each) => each.addChart('same', ({ recordId }, chart) => chart.value(Number(recordId) * 10 + at)).addAction('Same', { scope: 'Global', execute: (_, result) => result.success(name) }).addSegment('same', { ...third, value: at + 1 }))); // biome-ignore format: short

const plain = made.filter(([name]) => name !== generated);
const tables = [
  `CREATE TABLE ${generated} (id INTEGER PRIMARY KEY, n INTEGER, made INTEGER GENERATED ALWAYS AS (n + 1), long TEXT, at DATETIME)`,
  `INSERT INTO ${generated} (id, n, at) VALUES (1, 1, '2020-01-01 00:00:00'), (2, 5, '2999-01-01 00:00:00'), (3, 2, NULL)`,
  'CREATE TABLE owners (id INTEGER PRIMARY KEY, name VARCHAR(20))',
  "INSERT INTO owners VALUES (1, 'Ada'), (2, 'Bo')",
  ...plain.flatMap(([name]) => [
    `CREATE TABLE ${name} (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, n INTEGER, note VARCHAR(40), owner_id INTEGER REFERENCES owners(id))`,
    `INSERT INTO ${name} VALUES ${rows}`,
  ]),
];
const place = serveOutside(tables, (agent) => {
  for (const [name, say] of made) agent.customizeCollection(name, (each) => void say(each));
});

test.each(cases)('%s: on %s, ?%s finds %j', async (_, collection, query, found) => {
  const { status, body } = await place.get(`/${collection}?${query.includes('fields[') ? '' : `fields[${collection}]=id&`}${query.includes('sort=') ? '' : 'sort=id&'}${query}`); // biome-ignore format: short
  expect(status === 200 ? body.data.map(({ id }: { id: string }) => Number(id)) : status).toEqual(found);
  if (typeof found === 'number' || /page|sort=[^i]/.test(query)) return;
  const { body: count } = await place.get(`/${collection}/count?${query.replace(/&?sort=id/, '')}`);
  expect(count).toEqual({ count: found.length });
});

const save = async (collection: string, attributes: object, id: number | null = null) => {
  const { status, body } = await place.save(collection, id, attributes);
  return status === 200 ? body.data.attributes : [status, body.errors[0].detail];
};

test('disableCount: no count, also if disabled twice; the list, its relation and its schema say so', async () => {
  const of = (name: string) => place.schema.collections.find((each: { name: string }) => each.name === name);
  expect([(await place.get(`/${counted}/count`)).body, (await place.get(`/owners/1/relationships/${counted}/count`)).body, await place.ids(`/${counted}?sort=id`), of(counted).isSearchable]).toEqual([
    { meta: { count: 'deactivated' } }, { meta: { count: 'deactivated' } }, [1, 2, 3, 4], true,
  ]);
  const { json } = await place.tool('describeCollection', { collectionName: counted });
  expect([json.countable, (await place.tool('list', { collectionName: counted, enableCount: true })).error?.split(':')[0], (await place.tool('describeCollection', { collectionName: ruled })).json.countable]).toEqual([false, 'NOT_COUNTABLE', undefined]);
}); // biome-ignore format: short

test('addFieldValidation, setFieldNullable: all rules of a field apply; setFieldNullable removes only an earlier Present', async () => {
  const over = expect.stringContaining('LongerThan');
  expect([
    await save(ruled, { id: 10, name: 'a' }), await save(ruled, { id: 10, name: 'abcd' }), await save(ruled, { id: 10, name: 'abc', note: 'abc' }),
    await save(ruled, { id: 10, name: 'ab' }), await save(ruled, { name: 'b' }, 10), await save(ruled, { note: 'xy' }, 10),
    await save(ruledLater, { id: 10, name: 'u', n: 5 }), await save(ruledLater, { id: 10, name: 'u', n: 5, note: '' }), await save(ruledLater, { id: 10, name: 'w', n: 5, note: 'x' }),
    await save(ruledLater, { id: 10, name: 'u', n: 0, note: 'x' }), await save(ruledLater, { id: 10, name: 'u', n: 10, note: 'x' }), await save(ruledLater, { id: 10, name: 'v', n: 1, note: 'x' }), await save(ruledLater, { id: 11, name: 'u', note: 'x' }),
  ]).toMatchObject([
    [400, over], [400, expect.stringContaining('ShorterThan')], [400, expect.stringContaining('note')],
    { id: 10, name: 'ab' }, [400, over], { note: 'xy' },
    [400, expect.stringContaining('note')], [400, expect.stringContaining('note')], [400, expect.stringContaining('name')],
    [400, expect.stringContaining('GreaterThan')], [400, expect.stringContaining('LessThan')], { id: 10, n: 1 }, { id: 11, n: null },
  ]);
}); // biome-ignore format: short

test('addHook: hooks of one kind run in order with the names in code, and both restrictions apply', async () => {
  told.length = 0;
  const created = await save(hooked, { id: 200, name: 'h', number: 4 });
  // The last entry is of the list that the answer reads.
  expect([created, told.slice(0, 3)]).toMatchObject([{ id: 200, number: 5, note: 'hooked' }, [['first', { id: 200, name: 'h', n: 4 }], ['second', 5], ['after', 5, 'hooked']]]);
  told.length = 0;
  expect([await place.ids(`/${hooked}?sort=id`), await place.ids(`/${hooked}?sort=id&search=c`), told]).toEqual([[2, 3, 4], [3], [[], ['search']]]);
}); // biome-ignore format: short

test('overrideUpdate, overrideCreate, overrideDelete: one override leaves the other operations to the database', async () => {
  told.length = 0;
  const created = await save(overridden, { id: 20, name: 'new' });
  const updated = await save(overridden, { name: 'other' }, 20);
  const deleted = await place.remove(overridden, 20);
  expect([created.name, updated.name, deleted.status, told, await place.ids(`/${overridden}?sort=id`)]).toEqual(['new', 'new', 204, [['update', { name: 'other' }, true]], [1, 2, 3, 4]]);
}); // biome-ignore format: short

test('addField, importField, replaceFieldWriting: 0 and false are values; fields of fields; which fields can be written', async () => {
  const shown = (await place.list(`/${values}?sort=id&fields[${values}]=zero,none,twice,owner_name,fixed`)).map(({ zero, none, twice, owner_name, fixed }) => [zero, none, twice, owner_name, fixed]);
  expect(shown).toEqual([[2, true, 4, 'Ada', 'Ada'], [0, false, 0, 'Ada', 'Ada'], [7, false, 14, 'Bo', 'Bo'], [1, false, 2, null, null]]);
  expect([await save(values, { note: 'n' }, 1), await save(values, { note: 'm' }, 2), await save(values, { id: 30, name: 'x', note: 'c' }), await save(values, { owner_name: 'Eve' }, 1), (await place.list('/owners?sort=id')).map(({ name }) => name)]).toMatchObject([
    { note: 'update: n' }, { note: 'update: m' }, { note: 'create: c' }, { owner_name: 'Eve', fixed: 'Eve' }, ['Eve', 'Bo'],
  ]);
  const refused = [await save(values, { fixed: 'Eve' }, 1), await save(values, { zero: 1 }, 1), await save(values, { twice: 1 }, 1), await save(values, { none: true }, 1)];
  expect(refused.map((one) => one[0])).toEqual([400, 400, 400, 400]);
  const { fields } = place.schema.collections.find((each: { name: string }) => each.name === values);
  const readOnly = Object.fromEntries(fields.map(({ field, isReadOnly }: { field: string; isReadOnly: boolean }) => [field, isReadOnly]));
  expect(readOnly).toMatchObject({ zero: true, none: true, twice: true, owner_name: false, fixed: true, note: false, name: false });
}); // biome-ignore format: short

test('addChart, addAction, addSegment: two collections may use one name', async () => {
  for (const [at, name] of charts.entries()) {
    const chart = await place.get(`/_charts/${name}/same?record_id=2`);
    const action = await place.post(`/_actions/${name}/0/same`, { data: { attributes: { ids: [], collection_name: name, values: {} }, type: 'custom-action-requests' } });
    expect([chart.body.countCurrent, action.body.success, await place.ids(`/${name}?segment=same`)]).toEqual([20 + at, name, [at + 1]]);
  }
}); // biome-ignore format: short

test('replaceFieldWriting, addFieldValidation, emulateFieldOperator: a generated field is not stored; a pattern checks 100,000 characters; a replaced operator stays', async () => {
  const [stored, computed] = [await save(generated, { n: 4 }, 1), await save(generated, { made: 9 }, 1)];
  const texts = [];
  for (const long of [`x${'a'.repeat(99_999)}`, `x${'a'.repeat(100_000)}`, 'a']) texts.push(await save(generated, { long }, 2));
  expect([stored.made, computed[0] >= 400, place.causes.at(-1)?.includes('It returned the field itself, which is not stored'), texts.map((one) => one.long?.length ?? one[0])]).toEqual([5, true, true, [100_000, 400, 400]]);
  expect([await place.ids(`/${generated}?${f('at', 'greater_than_or_equal', '1999-01-01')}`), await place.ids(`/${generated}?${f('at', 'today')}`), await place.ids(`/${generated}?${f('at', 'before', '2021-01-01')}`)]).toEqual([[3], [], [1]]);
}); // biome-ignore format: short
