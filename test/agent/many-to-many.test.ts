// Many-to-many relations through a junction collection: declared, or derived from the foreign keys of a junction table.
import { afterEach, describe, expect, test } from 'vitest';
import { createHeadlessAgent, type HeadlessAgent } from '../../src/agent/agent.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { MemoryTable } from '../../src/agent/sources/memory/tables.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { servers } from '../databases.ts';
import { connect } from './connection.ts';
import { counted } from './counted.ts';
import { accessOf, type Rights } from './shop.ts';

const posts = (rows: MemoryTable['rows'] = []): MemoryTable => ({
  name: 'posts',
  columns: [
    { name: 'id', type: 'Number' },
    { name: 'title', type: 'String' },
  ],
  primaryKey: ['id'],
  rows,
});
const tags: MemoryTable = {
  name: 'tags',
  columns: [
    { name: 'id', type: 'Number' },
    { name: 'label', type: 'String' },
    { name: 'rank', type: 'Number', nullable: true },
  ],
  primaryKey: ['id'],
  rows: [
    [1, 'red', 3],
    [2, 'blue', 2],
    [3, 'green', null],
  ],
};
const taggings = (more: Partial<MemoryTable> = {}): MemoryTable => ({
  name: 'taggings',
  columns: [
    { name: 'post_id', type: 'Number' },
    { name: 'tag_id', type: 'Number' },
    { name: 'by', type: 'String', nullable: true },
  ],
  primaryKey: ['post_id', 'tag_id'],
  foreignKeys: [
    { columns: ['post_id'], table: 'posts', targetColumns: ['id'] },
    { columns: ['tag_id'], table: 'tags', targetColumns: ['id'] },
  ],
  rows: [
    [1, 1, 'ada'],
    [1, 2, 'bo'],
    [2, 2, 'ada'],
  ],
  ...more,
});
const tables = [
  posts([
    [1, 'One'],
    [2, 'Two'],
    [3, 'Three'],
  ]),
  tags,
  taggings(),
];

const schema = [
  'create table posts (id int primary key, title varchar(40) not null)',
  'create table tags (id int primary key, label varchar(40) not null, rank int null)',
  'create table taggings (post_id int not null, tag_id int not null, made_by varchar(40) null, primary key (post_id, tag_id), foreign key (post_id) references posts (id), foreign key (tag_id) references tags (id))',
  "insert into posts values (1, 'One'), (2, 'Two'), (3, 'Three')",
  "insert into tags values (1, 'red', 3), (2, 'blue', 2), (3, 'green', null)",
  "insert into taggings values (1, 1, 'ada'), (1, 2, 'bo'), (2, 2, 'ada')",
];

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function open(source: Source, customize: (agent: HeadlessAgent) => void = () => {}): Promise<Engine> {
  const agent = createHeadlessAgent().addDataSource(() => source);
  customize(agent);
  const limits = { pageSizeLimit: 100, queryTimeoutMs: 10_000 };
  const engine = await agent.createEngine({ observe: () => {}, clock: systemClock, limits });
  closing.push(() => engine.close());
  return engine;
}

const memory = (list: readonly MemoryTable[] = tables) => createMemorySource('memory', list);
const labels = async (engine: Engine, id: number, more: object = {}, rights: Rights = {}) =>
  (
    await engine.listRelated(accessOf(rights), {
      collection: 'posts',
      relation: 'tags',
      id,
      fields: ['label'],
      limit: 10,
      ...more,
    })
  ).rows.flat();

describe('a junction table', () => {
  test('relates both ends to each other, in addition to the relations to the table itself', async () => {
    const engine = await open(memory());
    expect(engine.describe(accessOf(), 'posts').relations).toEqual([
      { name: 'taggings', kind: 'many', to: 'taggings', columns: ['id'] },
      { name: 'tags', kind: 'many', to: 'tags', through: 'taggings', columns: ['id'] },
    ]);
    expect(engine.describe(accessOf(), 'tags').relations.map(({ name }) => name)).toEqual(['posts', 'taggings']);
  });

  test.each([
    ['the pair is not unique', { primaryKey: [] }],
    [
      'it has another required column',
      { columns: [...taggings().columns.slice(0, 2), { name: 'by', type: 'String' as const }] },
    ],
    [
      'the unique key has more than the pair',
      {
        primaryKey: ['post_id', 'tag_id', 'by'],
        columns: taggings().columns.map((column) => ({ ...column, nullable: false })),
      },
    ],
  ])('is not recognised if %s', async (_, more) => {
    const engine = await open(memory([...tables.slice(0, 2), taggings(more as Partial<MemoryTable>)]));
    expect(engine.describe(accessOf(), 'posts').relations.map(({ name }) => name)).toEqual(['taggings']);
  });

  test('of a table with itself gives two relations, named after their columns', async () => {
    const pairs = taggings({
      name: 'similar',
      foreignKeys: [
        { columns: ['post_id'], table: 'posts', targetColumns: ['id'] },
        { columns: ['tag_id'], table: 'posts', targetColumns: ['id'] },
      ],
    });
    const engine = await open(memory([tables[0]!, pairs]));
    expect(
      engine
        .describe(accessOf(), 'posts')
        .relations.filter(({ through }) => through)
        .map(({ name }) => name),
    ).toEqual(['posts_through_similar_post_id', 'posts_through_similar_tag_id']);
  });

  test('does not take the name of another relation', async () => {
    const owned = { ...tags, columns: [...tags.columns, { name: 'post_id', type: 'Number' as const, nullable: true }] };
    const keyed = {
      ...owned,
      foreignKeys: [{ columns: ['post_id'], table: 'posts', targetColumns: ['id'] }],
      rows: [],
    };
    const engine = await open(memory([tables[0]!, keyed, taggings({ rows: [] })]));
    expect(engine.describe(accessOf(), 'posts').relations.map(({ name, to }) => `${name} ${to}`)).toEqual([
      'taggings taggings',
      'tags tags',
      'tags_through_taggings_tag_id tags',
    ]);
  });
});

describe('a declared relation', () => {
  const declare =
    (options: object, through = 'taggings') =>
    (agent: HeadlessAgent) =>
      agent.customizeCollection('posts', (each) =>
        each.addManyToManyRelation('marks', 'tags', through, options as never),
      );

  test('works like a derived relation', async () => {
    const engine = await open(memory(), declare({ originKey: 'post_id', foreignKey: 'tag_id' }));
    expect(await labels(engine, 1, { relation: 'marks' })).toEqual(['red', 'blue']);
  });

  test.each([
    ['taggings', { originKey: 'pst_id', foreignKey: 'tag_id' }, "has no field 'pst_id'. Near: post_id"],
    ['tagging', { originKey: 'post_id', foreignKey: 'tag_id' }, "There is no collection 'tagging'. Near: taggings"],
    ['taggings', { originKey: 'by', foreignKey: 'tag_id' }, 'the two keys must have the same type'],
    ['taggings', { originKey: 'post_id', foreignKey: 'post_id' }, "both keys are 'post_id'"],
    ['taggings', undefined, 'needs an object of options'],
  ])('through %s by %j ends the start at the line of the call', async (through, options, problem) => {
    const started = open(memory(), declare(options as object, through));
    await expect(started).rejects.toThrow(problem);
    await expect(started).rejects.toThrow(/many-to-many\.test\.ts:\d+/);
  });
});

describe('permissions', () => {
  test('junction rows outside the row scope do not relate records', async () => {
    const engine = await open(memory());
    const scopes = { taggings: { field: 'by', operator: 'Equal', value: 'ada' } } as const;
    expect(await labels(engine, 1, {}, { scopes })).toEqual(['red']);
  });

  test.each([
    ['the junction collection may not be read', { browse: ['posts', 'tags'] }],
    ['a key of the junction collection is hidden', { hidden: ['taggings.tag_id'] }],
  ])('the relation does not exist if %s', async (_, rights) => {
    const engine = await open(memory());
    await expect(labels(engine, 1, {}, rights)).rejects.toMatchObject({ code: 'UNKNOWN_RELATION' });
  });

  test('a record outside the row scope gives the same error as a missing record', async () => {
    const engine = await open(memory());
    const scopes = { posts: { field: 'id', operator: 'GreaterThan', value: 1 } } as const;
    await expect(labels(engine, 1, {}, { scopes })).rejects.toMatchObject({ code: 'RECORD_NOT_FOUND' });
    await expect(labels(engine, 9)).rejects.toMatchObject({ code: 'RECORD_NOT_FOUND' });
    expect(await labels(engine, 3)).toEqual([]);
  });

  test('related records by a hidden key are refused', async () => {
    const engine = await open(memory());
    await expect(labels(engine, 1, {}, { hidden: ['posts.id'] })).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  test('a removed junction collection still relates records, but is read-only', async () => {
    const engine = await open(memory(), (agent) => agent.removeCollection('taggings'));
    expect(await labels(engine, 1, {}, { browse: ['posts', 'tags'] })).toEqual(['red', 'blue']);
    expect(engine.describe(accessOf(), 'posts').relations).toEqual([
      { name: 'tags', kind: 'many', to: 'tags', columns: ['id'] },
    ]);
    const link = { collection: 'posts', id: 1, relation: 'tags', ids: [3] };
    await expect(engine.associate(accessOf(), link)).rejects.toMatchObject({ code: 'READ_ONLY' });
  });

  test('associate needs the permission to add to the junction collection, and dissociate to delete from it', async () => {
    const engine = await open(memory());
    const link = { collection: 'posts', id: 1, relation: 'tags', ids: [2] };
    for (const [verb, run] of [
      ['add', engine.associate],
      ['delete', engine.dissociate],
    ] as const) {
      const access = { ...accessOf(), can: (asked: string, name: string) => asked !== verb || name !== 'taggings' };
      await expect(run(access, link)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    }
  });

  test('associating a pair that exists outside the row scope is refused', async () => {
    const engine = await open(memory());
    const access = accessOf({ scopes: { taggings: { field: 'by', operator: 'Equal', value: 'ada' } } });
    const link = { collection: 'posts', id: 1, relation: 'tags', ids: [2] };
    await expect(engine.associate(access, link)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });
});

test('a cursor of one parent record is refused for another', async () => {
  const engine = await open(memory());
  const list = (id: number, cursor?: string) =>
    engine.listRelated(accessOf(), { collection: 'posts', relation: 'tags', id, limit: 1, ...(cursor && { cursor }) });
  const first = await list(1);
  const cursor = first.cursorAfter(0)!;
  expect((await list(1, cursor)).rows).toEqual([[2, 'blue', 2]]);
  await expect(list(2, cursor)).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
});

test('listing a to-one relation is refused with how to read it', async () => {
  const engine = await open(memory());
  const asked = engine.listRelated(accessOf(), { collection: 'taggings', relation: 'tag', id: [1, 1], limit: 1 });
  await expect(asked).rejects.toThrow("fields such as 'tag:id'");
});

describe.each(servers)('on $dialect', (server) => {
  const start = async () => {
    const database = await server.create();
    const connection = await connect(database);
    for (const sql of schema)
      await connection.run(database.dialect === 'mariadb' ? sql.replaceAll('rank', '`rank`') : sql, []);
    await connection.end();
    const { source, ...rest } = counted(createSqlSource(database.url, { clock: systemClock, observe: () => {} }), true);
    const engine = await open(source);
    closing.push(() => database.drop());
    return { engine, ...rest };
  };

  test('lists, counts and aggregates the related records of one record in one statement each', async () => {
    const { engine, statements } = await start();
    const parent = { collection: 'posts', relation: 'tags', id: 1 };
    statements();
    expect(await labels(engine, 1, { sort: [{ field: 'rank' }] })).toEqual(['blue', 'red']);
    expect(statements()).toBe(1);
    expect(await engine.countRelated(accessOf(), { ...parent, search: 'red' })).toBe(1);
    expect(statements()).toBe(1);
    const sum = await engine.aggregateRelated(accessOf(), { ...parent, operation: 'Sum', field: 'rank', limit: 1 });
    expect(sum.rows).toEqual([[5]]);
    expect(statements()).toBe(1);
  });

  test('associate creates a pair once, and dissociate deletes only junction rows', async () => {
    const { engine } = await start();
    const link = { collection: 'posts', relation: 'tags', id: 1, ids: [1, 3] };
    const preview = await engine.associate(accessOf(), link, { preview: true });
    expect([preview.count, preview.changes?.[0]?.fields.tag_id]).toEqual([1, { before: null, after: 3 }]);
    expect(await engine.associate(accessOf(), link)).toMatchObject({ count: 1, ids: ['1|3'] });
    expect(await engine.associate(accessOf(), link)).toMatchObject({ count: 0, ids: [] });
    expect(await labels(engine, 1)).toEqual(['red', 'blue', 'green']);
    expect(await engine.dissociate(accessOf(), { ...link, ids: [2, 3] })).toMatchObject({ count: 2 });
    expect(await labels(engine, 1)).toEqual(['red']);
    expect(await engine.count(accessOf(), { collection: 'tags' })).toBe(3);
    await expect(engine.dissociate(accessOf(), { ...link, ids: [1, 2] })).rejects.toMatchObject({
      code: 'RECORD_NOT_FOUND',
      details: { collection: 'tags', missing: ['2'] },
    });
    expect(await labels(engine, 1)).toEqual(['red']);
  });

  test('two concurrent calls that associate the same pair both succeed', async () => {
    const { engine } = await start();
    const link = { collection: 'posts', relation: 'tags', id: 3, ids: [1] };
    const both = await Promise.all([engine.associate(accessOf(), link), engine.associate(accessOf(), link)]);
    expect(both.map(({ count }) => count).sort()).toEqual([0, 1]);
  });
});
