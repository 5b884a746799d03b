// Callers with and without a profile; hooks around several measures, and what an After hook may say; links that are
// refused, with what they name; and parts of a flattened column that holds no object.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Caller, createMemoryDataSource, type MemoryTable } from '../../src/index.ts';
import { flattenColumn } from '../../src/plugins/index.ts';
import { emptyAgent, makeFolder, messageOf } from '../app/agent.ts';
import { frontOrigin, sessionToken } from '../rest/front-end.ts';
import { addUserIn } from '../users.ts';
import { serveOutside } from './outside.ts';

const tables = [
  'CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, boss_id INTEGER REFERENCES people(id))',
  "INSERT INTO people VALUES (1, 'Ada', NULL), (2, 'Bo', 1), (3, 'Cy', 1)",
  'CREATE TABLE items (id INTEGER PRIMARY KEY, n INTEGER, owner_id INTEGER)',
  'INSERT INTO items VALUES (1, 5, 1), (2, 7, 1), (3, NULL, 2)',
  'CREATE TABLE uses (person_id INTEGER NOT NULL, item_id INTEGER NOT NULL, PRIMARY KEY (person_id, item_id))',
  'INSERT INTO uses VALUES (1, 1)',
];
const boxes: MemoryTable = {
  name: 'boxes',
  columns: [
    { name: 'id', type: 'Number' },
    { name: 'in', type: 'Json', nullable: true, shape: { a: { b: 'String' }, c: 'Number' } },
  ],
  primaryKey: ['id'],
  rows: [[1, ['x']], [2, 'text'], [3, { a: [1], c: 0 }], [4, { a: { b: '', d: 1 } }], [5, null]],
}; // biome-ignore format: short
const hooks: Record<string, ((context: never) => unknown) | undefined> = {};
const place = serveOutside(tables, (agent) =>
  agent
    .addDataSource(createMemoryDataSource('boxes', [boxes]))
    .customizeCollection('boxes', (each) =>
      each
        .addField('whole', { columnType: 'Json', dependencies: ['in'], getValues: (all) => all.map((one) => one.in) })
        .use(flattenColumn, { columnName: 'in', level: 2 }),
    )
    .customizeCollection('people', (people) =>
      people
        .addOneToManyRelation('owned', 'items', { originKey: 'owner_id' })
        .addManyToManyRelation('used', 'items', 'uses', { originKey: 'person_id', foreignKey: 'item_id' }),
    )
    .customizeCollection('items', (items) => {
      items.addSegment('cheap', { field: 'n', operator: 'LessThan', value: 6 });
      for (const position of ['Before', 'After'] as const)
        for (const type of ['List', 'Create', 'Update', 'Delete', 'Aggregate'] as const)
          items.addHook(position, type, (context) => hooks[`${position} ${type}`]?.(context as never) as never);
    }),
);
const during = async <T>(kind: string, hook: (context: never) => unknown, act: () => Promise<T>): Promise<T> => {
  hooks[kind] = hook;
  try {
    return await act();
  } finally {
    hooks[kind] = undefined;
  }
};

test.each<[profile: object, expected: object]>([
  [{}, { firstName: '', lastName: '', tags: {}, timezone: 'UTC', role: 'Administrator', team: 'Operations' }],
  [{ firstName: 'Bo', timezone: 'Asia/Tokyo', tags: { a: '', b: 'x' } }, { firstName: 'Bo', lastName: '', tags: { a: '', b: 'x' }, timezone: 'Asia/Tokyo' }],
  [{ lastName: 'Wu', tags: {}, timezone: 'Europe/Oslo' }, { firstName: '', lastName: 'Wu', tags: {}, timezone: 'Europe/Oslo' }],
])('caller: id, email, firstName, lastName, team, role, tags, timezone: of a user with the profile %j', async (profile, expected) => {
  const dataDir = join(makeFolder(), 'data');
  const account = { email: 'bo@example.com', password: 'correct horse battery' };
  // The ids of users are not those of other things.
  for (const email of ['a@example.com', 'b@example.com', 'c@example.com']) await addUserIn(dataDir, { email });
  const { id } = await addUserIn(dataDir, { ...account, ...profile, level: 'admin' });
  const callers: Caller[] = [];
  const { agent } = emptyAgent({ settings: { dataDir, agentOrigins: [frontOrigin] } });
  agent
    .addDataSource(createMemoryDataSource('boxes', [boxes]))
    .addChart('who', ({ caller }, chart) => [callers.push(caller), chart.value(1)][1] as never)
    .mountOnStandaloneServer(0);
  const { server } = await agent.start();
  const api = `${server!.address}/service`;
  const headers = { authorization: `Bearer ${await sessionToken(api, account)}` };
  expect((await fetch(`${api}/_charts/who`, { headers })).status).toBe(200);
  expect(callers).toMatchObject([{ id, email: account.email, ...expected }]);
}); // biome-ignore format: a table

test('hook: Aggregate; position: Before, After: each plain measure has its own call, and other measures are refused', async () => {
  const told: unknown[] = [];
  const measures = { all: { count: true }, sum: { sum: 'n' }, most: { max: 'n' } };
  const given = { collectionName: 'items', groups: ['owner_id'], measures };
  const see = ({ aggregation, result }: { aggregation: { operation: string; field?: string }; result: { value: unknown; group: object }[] }) => {
    told.push([aggregation.operation, aggregation.field, result.map(({ value, group }) => [group, Number(value)])]);
    for (const each of result) if (aggregation.operation === 'Sum') each.value = 0;
  };
  const { json } = await during('After Aggregate', see as never, () => place.tool('aggregate', given));
  const [one, two] = [{ owner_id: 1 }, { owner_id: 2 }];
  expect(json.rows.map((row: unknown[]) => row.map((cell) => (cell === null ? null : Number(cell)))).sort()).toEqual([[1, 2, 0, 7], [2, 1, 0, null]]);
  expect(told.map((each) => (each as unknown[]).slice(0, 2))).toEqual([['Count', undefined], ['Sum', 'n'], ['Max', 'n']]);
  expect((told[0] as [string, string, unknown[]])[2]).toEqual(expect.arrayContaining([[one, 2], [two, 1]]));
  const refused = await place.tool('aggregate', { ...given, measures: { some: { count: true, where: { field: 'n', operator: 'Present' } } } });
  expect(String(refused.error)).toMatch(/^INVALID_ARGUMENT: measures\.some: code of the operator checks aggregates of 'items'/);
}); // biome-ignore format: short

test.each(['Create', 'Update', 'Delete'])('hook: %s; position: After: throwError says its message after the write', async (type) => {
  const acts = { Create: () => place.save('items', null, { id: 9, n: 1 }), Update: () => place.save('items', 9, { n: 2 }), Delete: () => place.remove('items', 9) };
  const refuse = ({ throwError }: { throwError: (message: string) => never }) => throwError('Call the office.');
  const { status, body } = await during(`After ${type}`, refuse as never, acts[type as 'Create']);
  expect([status, body.errors[0].code, body.errors[0].detail]).toEqual([500, 'FAILED_AFTER_WRITE', expect.stringContaining('Call the office.')]);
  expect((await place.ids('/items')).includes(9)).toBe(type !== 'Delete');
}); // biome-ignore format: a table

test('hook: List; position: Before: the filter has each part of the request, and only these', async () => {
  const filters: unknown[] = [];
  const see = ({ filter }: { filter: object }) => void filters.push({ ...filter });
  const leaf = { field: 'n', operator: 'Present' };
  for (const query of [{}, { search: '5' }, { search: '5', searchExtended: '1' }, { segment: 'cheap' }, { filters: JSON.stringify(leaf) }] as Record<string, string>[])
    await during('Before List', see as never, () => place.get(`/items?${new URLSearchParams(query)}`));
  expect(filters).toEqual([{}, { search: '5' }, { search: '5', searchExtended: true }, { segment: 'cheap' }, { conditionTree: expect.objectContaining(leaf) }]);
}); // biome-ignore format: short

test.each([
  ['filter | segment', '/items?segment=cheep', 400, "cheap"],
  ['filter | segment', '/items?segment=Cheap', 400, "cheap"],
  ['sort: field', '/items?sort=m', 400, "'m'"],
  ['projection', '/items?fields[items]=m', 400, "'m'"],
  ['filter | search', `/items?search=${'a'.repeat(1001)}`, 400, '1000'],
])('%s: %s: an unknown or invalid one is refused with what there is', async (_, path, status, text) => {
  const answer = await place.get(path);
  expect([answer.status, answer.body.errors[0].detail.includes(text) ? text : answer.body.errors[0].detail]).toEqual([status, text]);
}); // biome-ignore format: a table

test('flatten: a value that is no object is replaced by one when a part is written; other members stay', async () => {
  const stored = async () => (await place.list('/boxes?sort=id')).map((one) => one.whole);
  expect((await place.list('/boxes?sort=id')).map((one) => [one['in@@@a@@@b'], one['in@@@c']])).toEqual([[null, null], [null, null], [null, 0], ['', null], [null, null]]);
  for (const id of [1, 2, 3, 4, 5]) expect((await place.save('boxes', id, { 'in@@@a@@@b': `${id}` })).status).toBe(200);
  expect(await stored()).toEqual([{ a: { b: '1' } }, { a: { b: '2' } }, { a: { b: '3' }, c: 0 }, { a: { b: '4', d: 1 } }, { a: { b: '5' } }]);
  expect((await place.save('boxes', 4, { 'in@@@c': null, 'in@@@a@@@b': '' })).status).toBe(200);
  expect((await stored())[3]).toEqual({ a: { b: '', d: 1 }, c: null });
}); // biome-ignore format: short

test('links: a to-one relation is not linked but updated; an error about a link names the records or the relation', async () => {
  const act = async (tool: string, relationName: string, ids: number[]) =>
    String((await place.tool(tool, { collectionName: 'people', parentRecordId: 1, relationName, targetRecordIds: ids })).error);
  expect([await act('associate', 'boss', [2]), await act('dissociate', 'boss', [2])]).toEqual(Array(2).fill(expect.stringContaining("update 'boss_id' of 'people' instead")));
  expect([await act('dissociate', 'owned', [3]), await act('dissociate', 'used', [1, 2])]).toEqual([expect.stringContaining("'owned'"), expect.stringContaining("'used'")]);
  expect([await act('associate', 'owned', [99]), await act('associate', 'used', [2, 99])]).toEqual(Array(2).fill(expect.stringContaining('99')));
  expect([await act('associate', 'used', [1]), (await place.list('/uses')).length]).toEqual(['undefined', 1]);
}); // biome-ignore format: short

test('external: schema, listRecords: of a collection without a key, dependencies are needed', async () => {
  const keyless: MemoryTable = { name: 'k', columns: [{ name: 'n', type: 'Number' }], rows: [[1]] } as never;
  const open = (more: object) => {
    const { agent } = emptyAgent();
    agent.addDataSource(createMemoryDataSource('k', [keyless]));
    agent.customizeCollection('k', (each) => each.addExternalRelation('x', { schema: { a: 'String' }, listRecords: () => [], ...more }));
    return messageOf(() => agent.start());
  };
  expect([await open({}), await open({ dependencies: ['n'] })]).toEqual([
    expect.stringMatching(/^'k' has no key: list the fields that 'x' needs in 'dependencies'.*outside\.test\.ts:\d+/),
    'it worked',
  ]);
}); // biome-ignore format: short
