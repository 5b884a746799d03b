// Each operator in every place that takes a filter: lists, counts, files, tools, code, segments, and through relations to
// one and to many. Then the limits and forms of filters, searches, projections and sort clauses in these places.
import { DateTime } from 'luxon';
import { expect, test } from 'vitest';
import {
  type CustomizationContext,
  createMemoryDataSource,
  type MemoryTable,
  type PlainFilter,
} from '../../src/index.ts';
import { serveOutside } from './outside.ts';

type Cell = string | number | null;
const things: readonly (readonly Cell[])[] = [
  [1, 'Ada', 0, '2020-01-01 00:00:00', '2020-01-01'],
  [2, 'ada', 1, '2020-01-01 00:00:01', '2020-01-01'],
  [3, '', -1, '2019-12-31 23:59:59', '2019-12-31'],
  [4, null, null, null, null],
  [5, 'A_%', 1.5, '2999-01-01 00:00:00', '2999-01-01'],
  [6, 'Zoë ', 2, '2020-06-01 00:00:00', '2020-06-01'],
];
/** The zone of the user. */
const zone = 'Europe/Paris';
const today = DateTime.now().setZone(zone).startOf('day');
const startsOf = (unit: 'day' | 'week' | 'month' | 'quarter' | 'year') => [
  today.startOf(unit).minus({ [unit]: 1 }),
  today.startOf(unit),
];
/** The first moment of each period, and the last second before it. */
const starts = [...(['day', 'week', 'month', 'quarter', 'year'] as const).flatMap(startsOf), today.plus({ days: 1 })];
const moments: readonly (readonly Cell[])[] = starts.flatMap((start) => [start, start.minus({ seconds: 1 })]).map((time, at) => [
  ...[at + 1, null, null, time.toUTC().toFormat('yyyy-MM-dd HH:mm:ss'), time.toISODate()],
]); // biome-ignore format: short
const within = ([from, to]: DateTime[]) => moments.flatMap(([id, , , at]) => {
  const time = DateTime.fromSQL(String(at), { zone: 'utc' });
  return time >= from! && time < to! ? [Number(id)] : [];
}); // biome-ignore format: short

type Ask = readonly [operator: string, field: string, value: unknown, ids: readonly number[]];
const asks: readonly Ask[] = [
  ['Equal', 'name', 'Ada', [1]], ['Equal', 'name', '', [3]], ['Equal', 'n', 0, [1]], ['Equal', 'n', null, [4]], ['Equal', 'at', '2020-01-01T01:00:00+01:00', [1]],
  ['NotEqual', 'n', 0, [2, 3, 4, 5, 6]], ['NotEqual', 'name', null, [1, 2, 3, 5, 6]], ['NotEqual', 'name', '', [1, 2, 4, 5, 6]],
  ['GreaterThan', 'n', 0, [2, 5, 6]], ['GreaterThan', 'n', 1.4, [5, 6]], ['GreaterThan', 'day', '2020-01-01', [5, 6]], ['GreaterThan', 'name', 'Z', [2, 6]],
  ['LessThan', 'n', 0, [3]], ['LessThan', 'n', 1.5, [1, 2, 3]], ['LessThan', 'at', '2020-01-01T00:00:00Z', [3]], ['LessThan', 'name', 'Ada', [3, 5]],
  ['In', 'n', [2, 1.5, 0, null], [1, 4, 5, 6]], ['In', 'n', 0, [1]], ['In', 'name', ['', 'x'], [3]], ['In', 'n', [], []],
  ['NotIn', 'n', [2, 1.5, 0], [2, 3, 4]], ['NotIn', 'n', [null, 1], [1, 3, 5, 6]], ['NotIn', 'name', '', [1, 2, 4, 5, 6]],
  ['Present', 'n', undefined, [1, 2, 3, 5, 6]], ['Present', 'name', undefined, [1, 2, 5, 6]], ['Present', 'day', undefined, [1, 2, 3, 5, 6]],
  ['Blank', 'n', undefined, [4]], ['Blank', 'name', undefined, [3, 4]], ['Blank', 'at', undefined, [4]],
  ['Contains', 'name', 'a', [1, 2]], ['Contains', 'name', '', [1, 2, 3, 5, 6]], ['Contains', 'name', '_%', [5]],
  ['NotContains', 'name', 'a', [3, 4, 5, 6]], ['NotContains', 'name', '', [4]], ['NotContains', 'name', '_', [1, 2, 3, 4, 6]],
  ['StartsWith', 'name', 'A', [1, 5]], ['StartsWith', 'name', 'A_', [5]], ['StartsWith', 'name', '', [1, 2, 3, 5, 6]],
  ['EndsWith', 'name', 'a', [1, 2]], ['EndsWith', 'name', 'ë ', [6]], ['EndsWith', 'name', 'ë', []], ['EndsWith', 'name', '%', [5]],
  ['Like', 'name', 'A%', [1, 5]], ['Like', 'name', 'A\\_\\%', [5]], ['Like', 'name', '', [3]], ['Like', 'name', '_d_', [1, 2]],
  ['ILike', 'name', 'ADA', [1, 2]], ['ILike', 'name', 'zOË ', [6]], ['ILike', 'name', 'zOË', []], ['ILike', 'name', '%\\%', [5]],
  ['Before', 'at', '2020-01-01T00:00:00Z', [3]], ['Before', 'day', '2020-01-01', [3]], ['Before', 'at', '2020-01-01', [3].slice(1)],
  ['After', 'at', '2020-01-01T00:00:00Z', [2, 5, 6]], ['After', 'day', '2020-01-01', [5, 6]], ['After', 'at', '2020-06-01T00:00:00Z', [5]],
  ['Past', 'at', undefined, [1, 2, 3, 6]], ['Past', 'day', undefined, [1, 2, 3, 6]],
  ['Future', 'at', undefined, [5]], ['Future', 'day', undefined, [5]],
]; // biome-ignore format: a table
const periods: readonly Ask[] = [
  ['Today', [today, today.plus({ days: 1 })]], ['Yesterday', startsOf('day')], ['PreviousWeek', startsOf('week')],
  ['PreviousMonth', startsOf('month')], ['PreviousQuarter', startsOf('quarter')], ['PreviousYear', startsOf('year')],
].flatMap(([operator, range]) => ['at', 'day'].map((field) => [operator, field, undefined, within(range as DateTime[])] as Ask)); // biome-ignore format: a table

const leafOf = ([operator, field, value]: Ask) =>
  ({ field, operator, ...(value !== undefined && { value }) }) as PlainFilter;
const nameOf = (ask: Ask) => JSON.stringify(ask.slice(0, 3));
const tablesOf = (name: string, rows: typeof things) => [
  `CREATE TABLE boxes_${name} (id INTEGER PRIMARY KEY)`,
  `CREATE TABLE ${name} (id INTEGER PRIMARY KEY, name VARCHAR(20), n REAL, at DATETIME, day DATE, box_id INTEGER REFERENCES boxes_${name}(id))`,
  `CREATE TABLE tags_${name} (id INTEGER PRIMARY KEY, thing_id INTEGER REFERENCES ${name}(id))`,
  ...rows.flatMap((row) => [
    `INSERT INTO boxes_${name} VALUES (${row[0]})`,
    `INSERT INTO ${name} VALUES (${row.map((cell) => (cell === null ? 'NULL' : typeof cell === 'number' ? cell : `'${cell}'`))}, ${row[0]})`,
    `INSERT INTO tags_${name} VALUES (${row[0]}, ${row[0]})`,
  ]),
]; // biome-ignore format: short
const nullable = (name: string, type: 'String' | 'Number' | 'Date' | 'Dateonly') => ({ name, type, nullable: true });
const inMemory = (name: string, rows: typeof things): MemoryTable => ({
  ...{ name: `m_${name}`, primaryKey: ['id'], rows: rows.map((row) => row.map((cell, at) => (at === 3 && cell !== null ? `${String(cell).replace(' ', 'T')}.000Z` : cell))) },
  columns: [{ name: 'id', type: 'Number' }, nullable('name', 'String'), nullable('n', 'Number'), nullable('at', 'Date'), nullable('day', 'Dateonly')],
}); // biome-ignore format: short
const labels = [['a', 'b'], ['a'], null, [], ['b', 'c']];
const tagged: MemoryTable = {
  ...{ name: 'tagged', primaryKey: ['id'], rows: labels.map((tags, at) => [at + 1, tags]) },
  columns: [
    { name: 'id', type: 'Number' },
    { name: 'tags', type: ['String'], nullable: true },
  ],
};

const code = { run: (_: CustomizationContext): unknown => null };
const place = serveOutside([...tablesOf('things', things), ...tablesOf('moments', moments)], (agent) => {
  agent
    .addDataSource(createMemoryDataSource('memory', [inMemory('things', things), inMemory('moments', moments), tagged]))
    .addChart('code', async (context, chart) => chart.smart(await code.run(context)));
  for (const [name, rows] of [['things', asks], ['moments', periods]] as const)
    agent.customizeCollection(name, (each) => {
      for (const ask of rows) each.addSegment(nameOf(ask), leafOf(ask));
    });
}); // biome-ignore format: short

const idsOf = async (path: string, query: Record<string, string> = {}) => {
  const { status, body } = await place.get(
    `${path}?${new URLSearchParams({ sort: 'id', 'page[size]': '99', ...query })}`,
  );
  return status === 200 ? body.data.map(({ id }: { id: string }) => Number(id)) : `${status} ${body.errors[0].detail}`;
};
async function everyWay(collection: string, ask: Ask) {
  const [, field] = ask;
  const filter = leafOf(ask);
  const filters = JSON.stringify(filter);
  const through = JSON.stringify({ ...filter, field: `thing:${field}` });
  const some = JSON.stringify({ some: collection, where: filter });
  code.run = async ({ collection: open }) => [(await open(collection).list({ conditionTree: filter }, ['id'])).map(({ id }) => id), await open(collection).count({ conditionTree: filter })];
  const segment = nameOf(ask);
  const csv = String((await place.get(`/${collection}.csv?${new URLSearchParams({ filters, sort: 'id', [`fields[${collection}]`]: 'id', filename: 'x', header: '["id"]' })}`)).body);
  const [listed, counted] = (await place.get('/_charts/code')).body;
  return {
    http: await idsOf(`/${collection}`, { filters }),
    count: (await place.get(`/${collection}/count?${new URLSearchParams({ filters })}`)).body.count,
    csv: csv.trim().split(/\r?\n/).slice(1).map(Number),
    tool: (await place.tool('list', { collectionName: collection, fields: ['id'], sort: 'id', filters: filter })).json.rows.flat(),
    number: (await place.tool('aggregate', { collectionName: collection, operation: 'Count', filters: filter })).json.rows[0][0],
    ...{ code: listed, counted },
    segment: await idsOf(`/${collection}`, { segment }),
    toOne: await idsOf(`/tags_${collection}`, { filters: through }),
    toMany: await idsOf(`/boxes_${collection}`, { filters: some }),
    memory: await idsOf(`/m_${collection}`, { filters }),
  };
} // biome-ignore format: short
const everywhere = (ids: readonly number[]) => ({
  ...{ http: ids, count: ids.length, csv: ids, tool: ids, number: ids.length, code: ids, counted: ids.length },
  ...{ segment: ids, toOne: ids, toMany: ids, memory: ids },
});

test.each(asks)('%s of %s, %j: matches the same records in every place that accepts a filter', async (...ask: Ask) => {
  expect(await everyWay('things', ask)).toEqual(everywhere(ask[3]));
});
test.each(periods)(
  '%s of %s: matches the same records in every place that accepts a filter',
  async (operator, field, _, ids) => {
    expect(await everyWay('moments', [operator, field, undefined, ids])).toEqual(everywhere(ids));
  },
);
test.each<Ask>([
  ['IncludesAll', 'tags', ['a', 'b'], [1]],
  ['IncludesAll', 'tags', 'b', [1, 5]],
  ['IncludesNone', 'tags', ['c', 'a'], [3, 4]],
  ['IncludesNone', 'tags', 'b', [2, 3, 4]],
  ['Equal', 'tags', ['a', 'b'], [1]],
  ['NotEqual', 'tags', ['b', 'a'], [1, 2, 3, 4, 5]],
  ['Present', 'tags', undefined, [1, 2, 4, 5]],
  ['Blank', 'tags', undefined, [3]],
])('%s of %s, %j: of lists, over HTTP, MCP and in code', async (...ask) => {
  const filter = leafOf(ask);
  code.run = async ({ collection }) => (await collection('tagged').list({ conditionTree: filter }, ['id'])).map(({ id }) => id);
  expect([
    await idsOf('/tagged', { filters: JSON.stringify(filter) }),
    (await place.tool('list', { collectionName: 'tagged', fields: ['id'], sort: 'id', filters: filter })).json.rows.flat(),
    (await place.get('/_charts/code')).body,
  ]).toEqual([ask[3], ask[3], ask[3]]);
}); // biome-ignore format: short

test.each<[row: string, collection: string, field: string, values: unknown[]]>([
  ['Equal', 'things', 'n', ['x', true, {}]], ['NotEqual', 'things', 'n', ['x', {}]],
  ['GreaterThan', 'things', 'n', ['x', null, undefined]], ['LessThan', 'things', 'n', ['x', null]],
  ['In', 'things', 'n', [['x'], undefined, [[1]], Array.from({ length: 10_001 }, (_, at) => at)]], ['NotIn', 'things', 'n', [['x'], undefined]],
  ['Contains', 'things', 'name', [null, {}, ['a'], 'a\0', 'x'.repeat(5001)]], ['NotContains', 'things', 'name', [null, {}]],
  ['StartsWith', 'things', 'name', [null, ['a']]], ['EndsWith', 'things', 'name', [null, ['a']]],
  ['Like', 'things', 'name', ['a\\', 'a\\\\\\', null, {}]], ['ILike', 'things', 'name', ['a\\', null]],
  ['Before', 'things', 'at', ['soon', '2024-02-30', null, 5]], ['Before', 'things', 'day', ['2024-02-30', '2024-1-1', null]],
  ['After', 'things', 'at', ['2024-01-01T24:00:00Z', null, '']], ['After', 'things', 'day', ['', null]],
  ['IncludesAll', 'tagged', 'tags', [[], [null], ['a', null], undefined]], ['IncludesNone', 'tagged', 'tags', [[], [null], undefined]],
  ['Today', 'things', 'n', [undefined]], ['Yesterday', 'things', 'name', [undefined]], ['Past', 'things', 'n', [undefined]], ['Future', 'things', 'name', [undefined]],
  ['PreviousWeek', 'things', 'n', [undefined]], ['PreviousMonth', 'things', 'n', [undefined]], ['PreviousQuarter', 'things', 'n', [undefined]], ['PreviousYear', 'things', 'n', [undefined]],
  ['Like', 'things', 'n', ['1']], ['Contains', 'things', 'day', ['2']], ['Before', 'things', 'n', [1]], ['IncludesAll', 'things', 'name', [['a']]], ['GreaterThan', 'tagged', 'tags', [['a']]], ['In', 'tagged', 'tags', [['a']]],
])('%s: of %s, field %s: an invalid value or type is refused over HTTP, MCP and in code', async (operator, collection, field, values) => {
  for (const value of values) {
    const filter = { field, operator, ...(value !== undefined && { value }) } as PlainFilter;
    code.run = ({ collection: open }) => open(collection).list({ conditionTree: filter }, ['id']).then(() => 'found', () => 'refused');
    const tool = await place.tool('list', { collectionName: collection, fields: ['id'], filters: filter });
    expect([await refusedOf(collection, filter), tool.json, (await place.get('/_charts/code')).body], `${value}`.slice(0, 99)).toEqual(['refused', undefined, 'refused']);
  }
}); // biome-ignore format: a table

/** Longer ones do not fit in a URL. */
const refusedOf = async (collection: string, filter: unknown) => {
  const filters = JSON.stringify(filter);
  if (filters.length > 5_000) return 'refused';
  return String(await idsOf(`/${collection}`, { filters })).startsWith('400 ') ? 'refused' : 'found';
};
const big: PlainFilter = { field: 'n', operator: 'GreaterThan', value: 0 };
test('leaf, And, Or: operators and aggregators in any case and with underscores; a missing field, operator or condition is refused', async () => {
  const ask = async (filter: unknown) => idsOf('/things', { filters: JSON.stringify(filter) });
  const found = [];
  for (const operator of ['GreaterThan', 'greater_than', 'greaterThan', 'GREATERTHAN', 'greaterthan']) found.push(await ask({ ...big, operator }));
  for (const aggregator of ['And', 'and', 'AND', 'aNd']) found.push(await ask({ aggregator, conditions: [big, { field: 'n', operator: 'NotEqual', value: null }] }));
  for (const aggregator of ['Or', 'or', 'OR', 'oR']) found.push(await ask({ aggregator, conditions: [{ ...big, value: 99 }, big, { ...big, value: 98 }] }));
  expect(found).toEqual(Array(13).fill([2, 5, 6]));
  expect([await ask({ aggregator: 'Or', conditions: [{ field: 'n', operator: 'NotEqual', value: null }, { field: 'id', operator: 'Equal', value: 4 }] }), await ask({ ...big, operator: 'Equal', value: null })]).toEqual([[1, 2, 3, 4, 5, 6], [4]]);
  for (const wrong of [{ operator: 'Equal', value: 1 }, { field: 'n', value: 1 }, { aggregator: 'And' }, { aggregator: 'Or', conditions: null }, { aggregator: 'And', conditions: [null] }, { aggregator: 'Or', conditions: [big, 5] }, { field: '', operator: 'Present' }])
    expect(String(await ask(wrong)).slice(0, 4), JSON.stringify(wrong)).toBe('400 ');
}); // biome-ignore format: short

test('And, Or: code may write them in any case', async () => {
  const conditions = [big, { field: 'id', operator: 'LessThan', value: 6 }];
  const found: Record<string, unknown> = {};
  for (const aggregator of ['And', 'and', 'AND', 'Or', 'or', 'oR']) {
    code.run = async ({ collection }) =>
      (await collection('things').list({ conditionTree: { aggregator, conditions } as PlainFilter }, ['id'])).map(({ id }) => id);
    found[aggregator] = (await place.get('/_charts/code')).body;
  }
  const [both, either] = [[2, 5], [1, 2, 3, 4, 5, 6]];
  expect(found).toEqual({ And: both, and: both, AND: both, Or: either, or: either, oR: either });
}); // biome-ignore format: short

test.each(['And', 'Or'] as const)('%s: at most 500 conditions and 32 levels, for callers and for code', async (aggregator) => {
  const wide = (count: number) => ({ aggregator, conditions: Array.from({ length: count }, () => big) });
  const deep = (levels: number) => Array.from({ length: levels - 1 }).reduce<{ aggregator: typeof aggregator; conditions: PlainFilter[] }>((inner) => ({ aggregator, conditions: [inner, big] }), { aggregator, conditions: [big, big] });
  for (const [filter, outcome] of [[wide(500), 'found'], [wide(501), 'refused'], [deep(32), 'found'], [deep(33), 'refused']] as const) {
    code.run = ({ collection }) => collection('things').list({ conditionTree: filter }, ['id']).then(() => 'found', () => 'refused');
    const http = JSON.stringify(filter).length > 5_000 ? outcome : await refusedOf('things', filter);
    // The body of a call of MCP has a depth limit of its own.
    const isDeep = filter.conditions.length < 500;
    const tool = await place.tool('list', { collectionName: 'things', fields: ['id'], filters: filter });
    expect([http, isDeep ? outcome : tool.json ? 'found' : 'refused', (await place.get('/_charts/code')).body]).toEqual([outcome, outcome, outcome]);
  }
}); // biome-ignore format: short

test('filter | segment, search, searchExtended, conditionTree: also for related lists, counts, groups and files', async () => {
  const segment = nameOf(['GreaterThan', 'n', 0, []]);
  const csv = String((await place.get(`/things.csv?${new URLSearchParams({ segment, search: 'a', 'fields[things]': 'id', filename: 'x', header: '["id"]', sort: '-id' })}`)).body);
  expect([
    await idsOf('/boxes_things/2/relationships/things', { segment }),
    await idsOf('/boxes_things/1/relationships/things', { segment }),
    await idsOf('/boxes_things/1/relationships/things', { search: 'ADA' }),
    (await place.get(`/boxes_things/1/relationships/things/count?${new URLSearchParams({ segment })}`)).body.count,
    (await place.tool('aggregate', { collectionName: 'things', operation: 'Sum', field: 'n', segment })).json.rows,
    csv.trim().split(/\r?\n/).slice(1),
    await idsOf('/tags_things', { search: 'ada', searchExtended: 'true' }),
    await idsOf('/tags_things', { search: 'ada', searchExtended: 'FALSE' }),
    (await place.tool('list', { collectionName: 'tags_things', fields: ['id'], search: ' ada ', shouldSearchInRelation: true, sort: 'id' })).json.rows.flat(),
    String(await idsOf('/things', { segment: segment.toLowerCase() })).slice(0, 4),
    await idsOf('/things', { segment: '' }),
    String(await idsOf('/things', { search: 'a\0' })).slice(0, 4),
  ]).toEqual([[2], [], [1], 0, [[4.5]], ['5', '2'], [1, 2], [], [1, 2], '400 ', [1, 2, 3, 4, 5, 6], '400 ']);
}); // biome-ignore format: short

test('projection: a duplicate field is one column; relation:field in tools, code, parameters and the header, two levels deep', async () => {
  code.run = ({ collection }) => collection('tags_things').list({ conditionTree: { field: 'id', operator: 'LessThan', value: 3 } }, ['id', 'thing:name', 'id', 'thing:box:id']);
  const fields = ['thing:box:id', 'id', 'thing:name', 'id'];
  const { json } = await place.tool('list', { collectionName: 'tags_things', fields, sort: 'id', pagination: { size: 2 } });
  const { body } = await place.get('/tags_things?sort=id&page[size]=1&fields[tags_things]=thing&fields[thing]=name,n');
  const none = await place.get('/tags_things?fields[thnig]=name');
  expect({
    tool: [json.columns, json.rows],
    code: (await place.get('/_charts/code')).body,
    parameter: [body.data[0].attributes, body.included.map((one: { attributes: object }) => one.attributes)],
    wrong: [none.status, none.body.errors[0].detail],
  }).toEqual({
    tool: [['thing:box:id', 'id', 'thing:name'], [[1, 1, 'Ada'], [2, 2, 'ada']]],
    code: [{ id: 1, thing: { name: 'Ada', box: { id: 1 } } }, { id: 2, thing: { name: 'ada', box: { id: 2 } } }],
    parameter: [{ id: 1 }, [{ id: 1, name: 'Ada', n: 0 }]],
    wrong: [400, expect.stringContaining('Near: thing')],
  });
}); // biome-ignore format: short

test('sort: field, ascending: nulls first and last, relations two levels deep, spaces, duplicates, and at most 100 clauses, over HTTP and MCP', async () => {
  const tool = async (sort: unknown, collectionName = 'things') => (await place.tool('list', { collectionName, fields: ['id'], sort })).json?.rows.flat();
  const many = Array.from({ length: 101 }, () => ({ field: 'n' }));
  expect({
    up: [await idsOf('/things', { sort: 'n' }), await tool([{ field: 'n' }]), await tool('n')],
    down: [await idsOf('/things', { sort: '-n' }), await tool([{ field: 'n', ascending: false }]), await tool('-n'), await idsOf('/things', { sort: ' -n , id ' })],
    twice: await idsOf('/things', { sort: '-n,n' }),
    through: [await idsOf('/tags_things', { sort: 'thing.n' }), await idsOf('/tags_things', { sort: '-thing.box.id' }), await tool([{ field: 'thing:n', ascending: false }], 'tags_things')],
    many: [(await tool(many.slice(1)))?.length, await tool(many)],
    wrong: [String(await idsOf('/things', { sort: 'n,,id' })).slice(0, 4), String(await idsOf('/things', { sort: '-' })).slice(0, 4), String(await idsOf('/tags_things', { sort: 'thing' })).slice(0, 4)],
  }).toEqual({
    up: Array(3).fill([4, 3, 1, 2, 5, 6]),
    down: Array(4).fill([6, 5, 2, 1, 3, 4]),
    twice: [6, 5, 2, 1, 3, 4],
    through: [[4, 3, 1, 2, 5, 6], [6, 5, 4, 3, 2, 1], [6, 5, 2, 1, 3, 4]],
    many: [6, undefined],
    wrong: ['400 ', '400 ', '400 '],
  });
}); // biome-ignore format: short
