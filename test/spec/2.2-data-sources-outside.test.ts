// How the options of a data source change its tables, over HTTP and MCP.
import { expect, test } from 'vitest';
import { createMemoryDataSource, type MemoryTable } from '../../src/index.ts';
import { serveOutside } from './outside.ts';

const table = (name: string, to: string | null, label: string): MemoryTable => ({
  name,
  columns: [
    { name: 'id', type: 'Number' },
    { name: 'label', type: 'String' },
    { name: 'parent_id', type: 'Number', nullable: true },
  ],
  primaryKey: ['id'],
  ...(to && { foreignKeys: [{ columns: ['parent_id'], table: to, targetColumns: ['id'] }] }),
  rows: [[1, label, 1]],
});
const source = (p: string) =>
  createMemoryDataSource(p, [
    table(`${p}_people`, null, 'person'),
    table(`${p}_orders`, `${p}_people`, 'order'),
    table(`${p}_lines`, `${p}_orders`, 'line'),
  ]);
const options = {
  i: { include: ['i_orders', 'i_people'], rename: { i_people: 'i_clients' } },
  e: { exclude: ['e_people'] },
  r: { rename: { r_people: 'r_orders', r_orders: 'r_people' } },
  b: { include: ['b_people', 'b_orders'], exclude: ['b_orders'] },
  n: { exclude: [] },
  z: { include: [] },
  k: { include: ['k_people'], rename: { k_people: 'k_orders', k_lines: 'k_people' } },
  d: { exclude: ['d_people', 'd_orders'] },
  g: { exclude: ['g_people', 'g_lines'], rename: { g_orders: 'g_people' } },
};
/** Names that JavaScript objects have of themselves, in another order than that of the alphabet. */
const strange = createMemoryDataSource('strange', [
  table('toString', null, 'text'),
  table('constructor', 'toString', 'maker'),
  table('Hidden', 'toString', 'hidden'),
  table('hidden', null, 'lower'),
]);
const asked: unknown[] = [];
const place = serveOutside(['CREATE TABLE own (id INTEGER PRIMARY KEY)'], (agent) => {
  for (const [p, given] of Object.entries(options)) agent.addDataSource(source(p), given);
  agent
    .addDataSource(strange, { exclude: ['Hidden'], rename: { hidden: 's_hidden' } })
    .customizeCollection('s_hidden', (each) =>
      each.addAction('Act', { scope: 'Global', execute: (_, result) => result.success('done') }),
    );
  agent.addDataSource(createMemoryDataSource('upper', [table('N_PEOPLE', null, 'upper')]));
  agent.addDataSource(async (parts) => {
    asked.push(Object.keys(parts));
    await new Promise(setImmediate);
    return source('f')(parts);
  });
});

/** The label of the record and the relations, by collection. */
async function served(p: string): Promise<Record<string, unknown>> {
  const names: string[] = place.schema.collections.map(({ name }: { name: string }) => name);
  const mine = names.filter((name) => name.startsWith(`${p}_`));
  const told = mine.map(async (collectionName) => {
    const { json } = await place.tool('describeCollection', { collectionName });
    const [row] = await place.list(`/${collectionName}`);
    return [collectionName, [row?.label, ...Object.keys(json.relations ?? {}).sort()]];
  });
  return Object.fromEntries(await Promise.all(told));
}
const gone = async (...names: string[]) =>
  Promise.all(
    names.map(async (name) => [
      (await place.get(`/${name}`)).status,
      (await place.tool('list', { collectionName: name })).error !== undefined,
    ]),
  );

const whole = (p: string) => ({
  [`${p}_people`]: ['person', `${p}_orders`],
  [`${p}_orders`]: ['order', ...[`${p}_lines`, 'parent'].sort()],
  [`${p}_lines`]: ['line', 'parent'],
});

test('factory | DataSourceFactory | its tables are served, also if it is async, and it is called once', async () => {
  expect([await served('f'), asked.length, asked[0], (await place.get('/own')).status]).toEqual([
    whole('f'),
    1,
    expect.arrayContaining(['observe', 'clock']),
    200,
  ]);
});

test('include | string[] | only these tables, and relations between them; rename | they get new names, and relations follow', async () => {
  expect(await served('i')).toEqual({ i_clients: ['person', 'i_orders'], i_orders: ['order', 'parent'] });
  expect(await gone('i_people', 'i_lines')).toEqual(Array(2).fill([404, true]));
});

test('exclude | string[] | all tables but these, without relations to them; an empty list excludes nothing', async () => {
  expect(await served('e')).toEqual({ e_orders: ['order', 'e_lines'], e_lines: ['line', 'parent'] });
  expect([await served('n'), await gone('e_people')]).toEqual([whole('n'), [[404, true]]]);
});

test('include, exclude | together: a name in both is excluded', async () => {
  expect([await served('b'), await gone('b_orders', 'b_lines')]).toEqual([
    { b_people: ['person'] },
    Array(2).fill([404, true]),
  ]);
});

test('rename, exclude | names are those of the source: two can be swapped, and one can take an excluded name', async () => {
  expect([await served('r'), await served('g')]).toEqual([
    { r_orders: ['person', 'r_people'], r_people: ['order', 'parent', 'r_lines'], r_lines: ['line', 'parent'] },
    { g_people: ['order'] },
  ]);
});

test('include | an empty list serves nothing; exclude | each of several; rename | applies once', async () => {
  expect([await served('z'), await served('d'), await served('k')]).toEqual([
    {},
    { d_lines: ['line'] },
    { k_orders: ['person'] },
  ]);
});

test('include, exclude, rename | names match exactly, also names like constructor; code, actions and the schema file use the new name', async () => {
  const of = async (name: string) => (await place.list(`/${name}`)).map(({ label }) => label);
  expect([await of('toString'), await of('constructor'), await of('s_hidden'), await gone('Hidden', 'hidden')]).toEqual(
    [...[['text'], ['maker'], ['lower']], Array(2).fill([404, true])],
  );
  const { json } = await place.tool('describeCollection', { collectionName: 'constructor' });
  const schema = place.schema.collections.find(({ name }: { name: string }) => name === 's_hidden');
  const { body } = await place.act('/_actions/s_hidden/0/act', {});
  expect([json.relations, schema.actions[0].endpoint, body.success]).toEqual([
    { parent: 'one toString' },
    '/service/_actions/s_hidden/0/act',
    'done',
  ]);
});

test('factory | two sources have collections whose names differ only in case: each is served under its own name', async () => {
  const labelsOf = async (name: string) => (await place.list(`/${name}`)).map(({ label }) => label);
  const { json } = await place.tool('list', { collectionName: 'N_PEOPLE', fields: ['label'] });
  expect([await labelsOf('n_people'), await labelsOf('N_PEOPLE'), json.rows]).toEqual([
    ['person'],
    ['upper'],
    [['upper']],
  ]);
});
