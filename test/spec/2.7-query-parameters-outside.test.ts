// Searches, filters, projections and sort clauses as front ends write them in the URL: each form that is accepted, with
// the records, and each that is refused, with what to send. Paris is the timezone of the user.
import { expect, test } from 'vitest';
import { createMemoryDataSource, type MemoryTable } from '../../src/index.ts';
import { serveOutside } from './outside.ts';

const uuid = '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d';
const things: MemoryTable = {
  name: 'things',
  columns: [
    { name: 'id', type: 'Number' },
    { name: 'name', type: 'String', nullable: true },
    { name: 'n', type: 'Number', nullable: true },
    { name: 'is', type: 'Boolean', nullable: true },
    { name: 'kind', type: 'Enum', enumValues: ['in progress', 'Done'], nullable: true },
    { name: 'code', type: 'Uuid', nullable: true },
    { name: 'tags', type: ['String'], nullable: true },
    { name: 'at', type: 'Date', nullable: true },
    { name: 'box_id', type: 'Number', nullable: true },
  ],
  primaryKey: ['id'],
  foreignKeys: [{ columns: ['box_id'], table: 'boxes', targetColumns: ['id'] }],
  rows: [
    [1, "It's red", 0, true, 'in progress', uuid, ['red', 'big'], '2024-02-29T23:30:00.000Z', 10],
    [2, 'red wine (old)', 7, false, 'Done', null, ['wine'], '2024-03-31T21:59:59.999Z', 20],
    [3, '', null, null, null, null, null, null, null],
    [4, 'a:b OR c', 2024, true, null, null, [], '1700-01-01T00:00:00.000Z', 10],
  ],
};
const boxes: MemoryTable = {
  ...{ name: 'boxes', primaryKey: ['id'], rows: [[10, 'wood', 1], [20, 'red tin', 1]] },
  columns: [{ name: 'id', type: 'Number' }, { name: 'label', type: 'String' }, { name: 'shelf_id', type: 'Number' }],
  foreignKeys: [{ columns: ['shelf_id'], table: 'shelves', targetColumns: ['id'] }],
}; // biome-ignore format: short
const shelves: MemoryTable = {
  ...{ name: 'shelves', primaryKey: ['id'], rows: [[1, 'north']] },
  columns: [{ name: 'id', type: 'Number' }, { name: 'side', type: 'String' }],
}; // biome-ignore format: short
const place = serveOutside(['CREATE TABLE one (id INTEGER PRIMARY KEY)'], (agent) =>
  agent.addDataSource(createMemoryDataSource('memory', [things, boxes, shelves])),
);
const get = (query: Record<string, string>, headers: Record<string, string> = {}) =>
  place.get(`/things?${new URLSearchParams(query)}`, headers);
const ids = async (query: Record<string, string>): Promise<unknown> => {
  const { status, body } = await get({ sort: 'id', ...query });
  return status === 200 ? body.data.map(({ id }: { id: string }) => Number(id)) : `${status} ${body.errors[0].detail}`;
}; // biome-ignore format: short

test.each<[row: string, search: string, found: number[], extended?: number[]]>([
  ...([
    ['red', [1, 2]], ['RED', [1, 2]], ['red wine', [2]], ['"red wine"', [2]], ["'red wine'", [2]], ['"wine red"', []], ['red OR wine', [1, 2]], ['red AND wine', [2]], ['red or wine', []],
    ['"red', [1, 2]], ["It's", [1]], ['-red', [3, 4]], ['-"red wine"', [1, 3, 4]], ['-(red OR c)', [3]], ['(red', []], ['(old)', [2]], ['"(old)"', [2]], ['red (wine OR big)', [1, 2]], ['-', []],
    ['a:b', [4]], ['"a:b"', [4]], ['OR', [4]], ['red OR', []], ['red OR c', [1, 2, 4]], ['red "OR" c', []], ['red "AND" wine', []], ['true', [1, 4]], ['yes', [1, 4]], ['false', [2]], ['no', [2]], ['is:true', [1, 4]], ['is:NULL', [3]], ['is:0', [2]],
    ['0', [1]], ['7', [2]], ['2024', [1, 2, 4]], ['1700', []], ['at:1700', [4]], ['2024-03-01', [1]], ['2024-02', []], ['2024-03', [1, 2]], ['at:2024-03-31', [2]], ['at:<2024-03', [4]], ['at:>=2024-03-31', [2]], ['at:>2024', []], ['at:NULL', [3]], ['at:soon', []],
    ['n:0', [1]], ['n:=7', [2]], ['n:<>7', [1, 3, 4]], ['n:≥7', [2, 4]], ['n:≤7', [1, 2]], ['n:..7', [1, 2]], ['n:..', []], ['n:x', []], ['n:>x', []], ['n:NULL', [3]], ['N:7', [2]],
    ['in-progress', [1]], ['In_Progress', [1]], ['done', [2]], ['kind:done', [2]], ['kind:NULL', [3, 4]], ['kind:progress', []], [uuid, [1]], [uuid.toUpperCase(), [1]], ['9b1deb4d', []], [`code:${uuid}`, [1]],
    ['big', [1]], ['bi', []], ['tags:wine', [2]], ['tags:NULL', [3]], ['name:""', [3]], ['name:NULL', []], ['name:red', [1, 2]], ['nam:red', []], ['box:label:wood', [1, 4]], ['box.label:WOOD', [1, 4]], ['box:NULL', []],
  ] as const).map(([search, found]): [string, string, number[]] => ['filter | search', search, [...found]]),
  ...([
    ['wood', [], [1, 4]], ['tin', [], [2]], ['north', [], []], ['red', [1, 2], [1, 2]], ['-red', [3, 4], [3, 4]], ['-tin', [1, 2, 3, 4], [1, 3, 4]], ['20', [2], [2]], ['wood 2024', [], [1, 4]], ['box:label:tin', [2], [2]],
  ] as const).map(([search, found, extended]): [string, string, number[], number[]] => ['filter | search, searchExtended', search, [...found], [...extended]]),
])('%s: %s: the records that a search finds', async (_, search, found, extended = undefined) => {
  expect(await ids({ search })).toEqual(found);
  if (!extended) return;
  for (const flag of ['1', 'true', 'yes', ' TRUE ']) expect(await ids({ search, searchExtended: flag })).toEqual(extended);
  for (const flag of ['', '0', 'false', ' False ']) expect(await ids({ search, searchExtended: flag })).toEqual(found);
}); // biome-ignore format: a table

const example = 'expected {"field": "status", "operator": "equal", "value": "paid"}';
test.each<[row: string, filters: unknown, found: number[] | string]>([
  ['leaf', { field: 'is', operator: 'equal', value: 'yes' }, [1, 4]], ['leaf', { field: 'is', operator: 'equal', value: 'No' }, [2]], ['leaf', { field: 'is', operator: 'in', value: ['yes', 'no'] }, [1, 2, 4]], ['leaf', { field: 'name', operator: 'equal', value: 'yes' }, []],
  ['leaf', { field: 'n', operator: 'in', value: '0, 7' }, [1, 2]], ['leaf', { field: 'n', operator: 'not_in', value: '0,7' }, [3, 4]], ['leaf', { field: 'tags', operator: 'includes_all', value: 'red,big' }, [1]], ['leaf', { field: 'name', operator: 'equal', value: 'a,b' }, []],
  ['leaf, NotIn', { field: 'name', operator: 'not_in', value: 'x, red wine (old)' }, [1, 3, 4]], ['leaf, In', { field: 'name', operator: 'in', value: 'x , red wine (old) ' }, [2]],
  ['leaf', { field: 'n', operator: 'not-equal', value: 7 }, [1, 3, 4]], ['leaf', { field: 'n', operator: 'greater than', value: 0 }, [2, 4]], ['leaf', { field: 'box:label', operator: 'contains', value: 'oo' }, [1, 4]],
  ['leaf', { field: 'n', operator: 'is', value: 1 }, 'is'], ['leaf', { field: 'n', operator: 'equals', value: 1 }, 'Near: Equal'], ['leaf', { field: 'm', operator: 'equal', value: 1 }, "'m'"], ['leaf', { field: 'n', value: 1 }, example], ['leaf', { operator: 'equal' }, example], ['leaf', [], example], ['leaf', 'x', example], ['leaf', { field: 1, operator: 'equal' }, example],
  ['leaf', { some: 'box' }, [1, 2, 4]], ['And', { aggregator: 'and', conditions: [] }, [1, 2, 3, 4]], ['Or', { aggregator: 'or', conditions: [] }, []], ['And, Or', { aggregator: 'not', conditions: [{ field: 'n', operator: 'present' }] }, [3]],
  ['And', { aggregator: 'and', conditions: [{ field: 'n', operator: 'present' }, { field: 'is', operator: 'equal', value: 'no' }] }, [2]], ['Or', { aggregator: 'or', conditions: [{ field: 'n', operator: 'blank' }, { field: 'n', operator: 'equal', value: 0 }] }, [1, 3]],
  ['And, Or', { aggregator: 'xor', conditions: [] }, example], ['And', { aggregator: 'and' }, example], ['Or', { conditions: [{ field: 'n', operator: 'present' }] }, example], ['Or', { aggregator: 'or', conditions: [null] }, 'at filters.conditions[0]'], ['And', { aggregator: 'and', conditions: [{ aggregator: 'or', conditions: [{ field: 'n', operator: 'present' }, 7] }] }, 'at filters.conditions[0].conditions[1]'],
  ['filter | conditionTree', null, [1, 2, 3, 4]],
])('%s: %j: a filter in the URL', async (_, filters, found) => {
  const answer = await ids({ filters: JSON.stringify(filters) });
  if (typeof found !== 'string') expect(answer).toEqual(found);
  else expect([String(answer).slice(0, 4), String(answer).includes(found) ? found : answer]).toEqual(['400 ', found]);
}); // biome-ignore format: a table

test.each<[row: string, query: Record<string, string>, text: string]>([
  ['filter | conditionTree', { filters: '{' }, 'filters: not valid JSON: expected'],
  ['filter | search', { serch: 'x' }, 'serch: unknown. Near: search'],
  ['filter | segment', { segmentQuery: 'SELECT 1' }, 'segments written in SQL are not supported'],
  ['filter | segment', { segment: 'x' }, "'x'"],
  ['sort: field', { sort: '-' }, "expected fields separated by commas, such as '-placed_at,customer.name'"],
  ['sort: field', { sort: 'n,,id' }, 'expected fields separated by commas'],
  ['sort: field', { sort: 'tags' }, "'tags'"],
  ['sort: field', { sort: 'box' }, 'box'],
  ['sort: ascending', { sort: '+n' }, "'+n'"],
  [
    'projection',
    { 'fields[bxo]': 'label' },
    "fields[bxo]: 'bxo' is neither 'things' nor one of its relations. Near: box",
  ],
  ['projection', { 'fields[things]': 'nmae' }, 'Near: n, name'],
  ['projection', { 'fields[box]': 'lable' }, 'Near: label'],
  ['projection', { 'fields[boxes]': 'things', 'fields[things]': 'id' }, "'boxes'"],
  ['projection', { 'page[size]': '0' }, 'page[size]: expected a whole number, 1 or more'],
  ['projection', { 'page[number]': '1.5' }, 'page[number]: expected a whole number, 1 or more'],
])('%s: %j: is refused, with what to send', async (_, query, text) => {
  const { status, body } = await get(query);
  expect([status, body.errors[0].detail.includes(text) ? text : body.errors[0].detail]).toEqual([400, text]);
});

test.each<[query: Record<string, string>, header: string | undefined, attributes: string[], boxes: Record<string, unknown>[]]>([
  [{ 'fields[things]': 'n,name' }, undefined, ['id', 'n', 'name'], []],
  [{ 'fields[things]': ' n , , name ' }, undefined, ['id', 'n', 'name'], []],
  [{ 'fields[things]': '' }, undefined, ['id'], []],
  [{ 'fields[things]': 'n,box', 'fields[box]': 'label' }, undefined, ['id', 'n'], [{ id: 10, label: 'wood' }]],
  [{ 'fields[things]': 'box' }, undefined, ['id'], [{ id: 10, label: 'wood', shelf_id: 1 }]],
  [{ 'fields[things]': 'n' }, 'name, box:label', ['id', 'name'], [{ id: 10, label: 'wood' }]],
  [{ 'fields[things]': 'n' }, ' ', ['id', 'n'], []],
  [{}, 'box:label, ,n', ['id', 'n'], [{ id: 10, label: 'wood' }]],
  [{}, 'box:shelf:side', ['id'], [{ id: 10 }]],
])('projection: %j with the header %j: these attributes and related records', async (query, header, attributes, related) => {
  const { body } = await get({ sort: 'id', 'page[size]': '1', ...query }, header === undefined ? {} : { 'service-projection': header });
  const included = (body.included ?? []).filter(({ type }: { type: string }) => type === 'boxes');
  expect([Object.keys(body.data[0].attributes).sort(), included.map((one: { attributes: object }) => one.attributes)]).toEqual([attributes.toSorted(), related]);
}); // biome-ignore format: a table
