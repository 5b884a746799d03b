import { expect, test } from 'vitest';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { MemoryTable } from '../../src/agent/sources/memory/tables.ts';
import { operators } from '../../src/core/filter.ts';
import { accessOf, sellers } from './shop.ts';

const number = (name: string, nullable = false) => ({ name, type: 'Number' as const, nullable });

async function relationsOf(tables: readonly MemoryTable[]): Promise<Record<string, object>> {
  const { engine } = await sellers[0]!.open({ sources: [createMemorySource('tables', tables)] });
  const access = accessOf();
  return Object.fromEntries(
    engine.index(access).map(({ name }) => {
      const relations = engine.describe(access, name).relations;
      return [
        name,
        Object.fromEntries(relations.map((each) => [each.name, `${each.kind} ${each.to} ${each.columns}`])),
      ];
    }),
  );
}

const users: MemoryTable = { name: 'users', columns: [number('id')], primaryKey: ['id'], rows: [] };
const toUser = (column: string) => ({ columns: [column], table: 'users', targetColumns: ['id'] });

test('a relation is named after its column, its inverse after the collection', async () => {
  const posts = {
    name: 'posts',
    columns: [number('id'), number('author_id')],
    primaryKey: ['id'],
    foreignKeys: [toUser('author_id')],
    rows: [],
  };
  expect(await relationsOf([users, posts])).toEqual({
    posts: { author: 'one users author_id' },
    users: { posts: 'many posts id' },
  });
});

test('relations whose names would collide are named after their columns', async () => {
  const posts = {
    name: 'posts',
    columns: [number('id'), number('author_id'), number('author'), number('editorId'), number('users')],
    primaryKey: ['id'],
    foreignKeys: [toUser('author_id'), toUser('editorId'), toUser('users')],
    rows: [],
  };
  expect(await relationsOf([posts, users])).toEqual({
    posts: {
      editor: 'one users editorId',
      users_through_author_id: 'one users author_id',
      users_through_users: 'one users users',
    },
    users: {
      posts_through_author_id: 'many posts id',
      posts_as_editor: 'many posts id',
      posts_through_users: 'many posts id',
    },
  });
});

test('relations are named after their columns, on both ends', async () => {
  const table = (name: string, key: string, ...columns: string[]) => ({
    name,
    columns: [number(key), ...columns.map((column) => number(column, true))],
    primaryKey: [key],
    rows: [] as unknown[][],
  });
  const to = (column: string, name: string, key: string) => ({ columns: [column], table: name, targetColumns: [key] });
  const tables = [
    { ...table('Employee', 'EmployeeId', 'ReportsTo'), foreignKeys: [to('ReportsTo', 'Employee', 'EmployeeId')] },
    { ...table('folder', 'id', 'parent_id'), foreignKeys: [to('parent_id', 'folder', 'id')] },
    { ...table('store', 'store_id', 'manager_id'), foreignKeys: [to('manager_id', 'staff', 'staff_id')] },
    { ...table('staff', 'staff_id', 'store_id'), foreignKeys: [to('store_id', 'store', 'store_id')] },
    { ...table('city', 'id') },
    {
      ...table('flight', 'id', 'origin', 'destination'),
      foreignKeys: [to('origin', 'city', 'id'), to('destination', 'city', 'id')],
    },
  ];
  const named = await relationsOf(tables as never);
  expect(named).toMatchObject({
    Employee: { manager: 'one Employee ReportsTo', reports: 'many Employee EmployeeId' },
    folder: { parent: 'one folder parent_id', children: 'many folder id' },
    store: { manager: 'one staff manager_id', staff: 'many staff store_id' },
    staff: { store: 'one store store_id', store_as_manager: 'many store staff_id' },
    flight: { origin_city: 'one city origin', destination_city: 'one city destination' },
    city: { flight_as_origin_city: 'many flight id', flight_as_destination_city: 'many flight id' },
  });
  expect(await relationsOf([...tables].reverse() as never)).toEqual(named);
});

test('the inverse of a unique foreign key is a to-one relation, and a self relation has both ends', async () => {
  const people = {
    name: 'people',
    columns: [number('id'), number('boss_id', true)],
    primaryKey: ['id'],
    foreignKeys: [{ columns: ['boss_id'], table: 'people', targetColumns: ['id'] }],
    rows: [],
  };
  const desks = {
    name: 'desks',
    columns: [number('nr'), number('person_id', true)],
    primaryKey: ['nr'],
    uniqueKeys: [['person_id']],
    foreignKeys: [{ columns: ['person_id'], table: 'people', targetColumns: ['id'] }],
    rows: [],
  };
  expect(await relationsOf([people, desks])).toEqual({
    desks: { person: 'one people person_id' },
    people: { boss: 'one people boss_id', people: 'many people id', desks: 'one desks id' },
  });
});

test('a foreign key to columns that are not unique or to a table that is not served gives no relation', async () => {
  const tags = { name: 'tags', columns: [number('id'), number('nr')], primaryKey: ['id'], rows: [] };
  const posts = {
    name: 'posts',
    columns: [number('id'), number('tag_nr'), number('ghost_id')],
    primaryKey: ['id'],
    foreignKeys: [
      { columns: ['tag_nr'], table: 'tags', targetColumns: ['nr'] },
      { columns: ['ghost_id'], table: 'ghosts', targetColumns: ['id'] },
    ],
    rows: [],
  };
  expect(await relationsOf([tags, posts])).toEqual({ posts: {}, tags: {} });
});

test('without a primary key, the shortest unique non-null key is used; without any key there is no cursor', async () => {
  const columns = [number('a'), number('b'), number('c', true), number('d')];
  const keyed = {
    name: 'keyed',
    columns,
    uniqueKeys: [['c'], ['a', 'b'], ['d']],
    rows: [
      [1, 1, 1, 2],
      [1, 2, 2, 1],
    ],
  };
  const bare = {
    name: 'bare',
    columns,
    uniqueKeys: [['c']],
    rows: [
      [2, 1, null, 1],
      [1, 1, null, 1],
    ],
  };
  const { engine } = await sellers[0]!.open({ sources: [createMemorySource('tables', [keyed, bare])] });
  const list = (collection: string) => engine.list(accessOf(), { collection, fields: ['a', 'b'], limit: 1 });
  const [first, second] = [await list('keyed'), await list('bare')];
  expect([engine.describe(accessOf(), 'keyed').key, first.rows, typeof first.cursorAfter(0)]).toEqual([
    ['d'],
    [[1, 2]],
    'string',
  ]);
  expect([engine.describe(accessOf(), 'bare').key, second.rows, second.cursorAfter(0)]).toEqual([
    [],
    [[1, 1]],
    undefined,
  ]);
});

test('two sources with the same collection name are refused', async () => {
  const sources = [createMemorySource('first', [users]), createMemorySource('second', [users])];
  await expect(sellers[0]!.open({ sources })).rejects.toMatchObject({
    code: 'CONFIGURATION',
    message: expect.stringContaining(
      "The collection 'users' is published by both 'first' and 'second'. Rename one of them.",
    ),
  });
});

test('every operator is available for some type', async () => {
  const types = [
    'String',
    'Number',
    'Boolean',
    'Date',
    'Dateonly',
    'Time',
    'Enum',
    'Json',
    'Uuid',
    'Binary',
    'Point',
  ] as const;
  const columns = [...types.map((type) => ({ name: type, type })), { name: 'list', type: ['String'] as const }];
  const { engine } = await sellers[0]!.open({
    sources: [createMemorySource('all', [{ name: 'all', columns, rows: [] }])],
  });
  const offered = new Set(engine.describe(accessOf(), 'all').fields.flatMap((field) => field.operators));
  expect(operators.filter((operator) => !offered.has(operator))).toEqual([]);
});
