// Polymorphic relations: another field says to which collection a key belongs.
import { afterEach, describe, expect, test } from 'vitest';
import { createHeadlessAgent, type HeadlessAgent } from '../../src/agent/agent.ts';
import type { PolymorphicManyToOneOptions } from '../../src/agent/customize/definitions.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { MemoryTable } from '../../src/agent/sources/memory/tables.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { servers } from '../databases.ts';
import { connect } from './connection.ts';
import { accessOf, type Rights } from './shop.ts';

const people: MemoryTable = {
  name: 'people',
  columns: [
    { name: 'id', type: 'Number' },
    { name: 'name', type: 'String' },
  ],
  primaryKey: ['id'],
  rows: [
    [1, 'Ada'],
    [2, 'Bo'],
  ],
};
const firms: MemoryTable = {
  name: 'firms',
  columns: [
    { name: 'id', type: 'Number' },
    { name: 'label', type: 'String' },
  ],
  primaryKey: ['id'],
  rows: [
    [1, 'Acme'],
    [3, 'Zeta'],
  ],
};
const notes: MemoryTable = {
  name: 'notes',
  columns: [
    { name: 'id', type: 'Number' },
    { name: 'kind', type: 'String', nullable: true },
    { name: 'about_id', type: 'Number', nullable: true },
  ],
  primaryKey: ['id'],
  uniqueKeys: [['kind', 'about_id']],
  rows: [
    [1, 'Person', 1],
    [2, 'Firm', 1],
    [3, 'Firm', 3],
    [4, 'person', 2],
    [5, null, 1],
    [6, 'Person', 9],
  ],
};

const options: PolymorphicManyToOneOptions = {
  foreignKey: 'about_id',
  typeField: 'kind',
  targets: { Person: 'people', Firm: { collection: 'firms', name: 'firm' } },
};

function relate(agent: HeadlessAgent): void {
  agent
    .customizeCollection('notes', (each) => each.addPolymorphicManyToOneRelation('about', options))
    .customizeCollection('people', (each) =>
      each
        .addPolymorphicOneToManyRelation('notes', 'notes', { originKey: 'about_id', typeField: 'kind', type: 'Person' })
        .addPolymorphicOneToOneRelation('note', 'notes', { originKey: 'about_id', typeField: 'kind', type: 'Person' }),
    );
}

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function open(sources: readonly Source[], customize: (agent: HeadlessAgent) => void = relate): Promise<Engine> {
  const agent = createHeadlessAgent();
  for (const source of sources) agent.addDataSource(() => source);
  customize(agent);
  const limits = { pageSizeLimit: 100, queryTimeoutMs: 10_000 };
  const engine = await agent.createEngine({ observe: () => {}, clock: systemClock, limits });
  closing.push(() => engine.close());
  return engine;
}

const inOne = () => [createMemorySource('memory', [people, firms, notes])];
const inTwo = () => [createMemorySource('notes', [notes]), createMemorySource('others', [people, firms])];

async function inDatabase(server: (typeof servers)[number]): Promise<Source[]> {
  const database = await server.create();
  closing.push(() => database.drop());
  const connection = await connect(database);
  const text = database.dialect === 'mariadb' ? 'varchar(20) collate utf8mb4_bin' : 'varchar(20)';
  for (const sql of [
    `create table people (id int primary key, name ${text} not null)`,
    `create table firms (id int primary key, label ${text} not null)`,
    `create table notes (id int primary key, kind ${text} null, about_id int null, unique (kind, about_id))`,
    "insert into people values (1, 'Ada'), (2, 'Bo')",
    "insert into firms values (1, 'Acme'), (3, 'Zeta')",
    "insert into notes values (1, 'Person', 1), (2, 'Firm', 1), (3, 'Firm', 3), (4, 'person', 2), (5, null, 1), (6, 'Person', 9)",
  ])
    await connection.run(sql, []);
  await connection.end();
  return [createSqlSource(database.url, { clock: systemClock, observe: () => {} })];
}

const places: readonly (readonly [string, () => Source[] | Promise<Source[]>])[] = [
  ['memory', inOne],
  ['two sources', inTwo],
  ...servers.map((server) => [server.dialect, () => inDatabase(server)] as const),
];

describe.each(places)('in %s', (name, sources) => {
  const ids = async (engine: Engine, more: object, rights: Rights = {}) =>
    (await engine.list(accessOf(rights), { collection: 'notes', fields: ['id'], limit: 10, ...more })).rows.flat();

  test('each type is a relation that can be shown, filtered and sorted by', async () => {
    const engine = await open(await sources());
    const fields = ['id', 'about_people:name', 'firm:label'];
    const { rows } = await engine.list(accessOf(), { collection: 'notes', fields, limit: 10 });
    expect(rows).toEqual([
      [1, 'Ada', null],
      [2, null, 'Acme'],
      [3, null, 'Zeta'],
      [4, null, null],
      [5, null, null],
      [6, null, null],
    ]);
    expect(await ids(engine, { filter: { field: 'about_people:name', operator: 'Equal', value: 'Ada' } })).toEqual([1]);
    expect(await ids(engine, { filter: { field: 'firm:label', operator: 'Missing' } })).toEqual([1, 4, 5, 6]);
    expect(await ids(engine, { sort: [{ field: 'firm:label', ascending: false }] })).toEqual([3, 2, 6, 5, 4, 1]);
  });

  test('the inverse relations list, show, associate and dissociate records', async () => {
    const engine = await open(await sources());
    const parent = { collection: 'people', relation: 'notes', id: 1 };
    const about = async () => {
      const { rows } = await engine.listRelated(accessOf(), { ...parent, fields: ['id'], limit: 9 });
      return rows.flat();
    };
    expect(await about()).toEqual([1]);
    const one = await engine.list(accessOf(), { collection: 'people', fields: ['name', 'note:id'], limit: 9 });
    expect(one.rows).toEqual([
      ['Ada', 1],
      ['Bo', null],
    ]);
    expect((await engine.associate(accessOf(), { ...parent, id: 2, ids: [3] })).records).toMatchObject([
      { id: 3, kind: 'Person', about_id: 2 },
    ]);
    await expect(engine.dissociate(accessOf(), { ...parent, ids: [2] })).rejects.toMatchObject({
      code: 'RECORD_NOT_FOUND',
    });
    expect((await engine.dissociate(accessOf(), { ...parent, ids: [1] })).count).toBe(1);
    expect(await about()).toEqual([]);
  });

  test('records outside the row scope are not related, and foreign keys to them are refused', async () => {
    const engine = await open(await sources());
    const rights = { scopes: { firms: { field: 'label', operator: 'Equal', value: 'Zeta' } } } as const;
    expect(await ids(engine, { filter: { field: 'firm:label', operator: 'Present' } }, rights)).toEqual([3]);
    const write = (values: object) =>
      engine.update(accessOf(rights), { collection: 'notes', ids: [4], values: { ...values } });
    await expect(write({ kind: 'Firm', about_id: 1 })).rejects.toMatchObject({ code: 'INVALID_RECORD' });
    expect((await write({ kind: 'Other', about_id: 1 })).count).toBe(1);
  });

  test('a row scope through a polymorphic relation applies to related records', async () => {
    const engine = await open(await sources());
    const access = accessOf({ scopes: { notes: { field: 'firm:label', operator: 'Missing' } } });
    const { rows } = await engine.list(access, { collection: 'people', fields: ['name', 'note:id'], limit: 9 });
    expect(rows).toEqual([
      ['Ada', 1],
      ['Bo', null],
    ]);
  });

  test('the plan shows the type', async () => {
    const engine = await open(await sources());
    const plan = await engine.explain(accessOf(), {
      collection: 'notes',
      fields: ['about_people:name'],
      filter: { field: 'firm:label', operator: 'Equal', value: 'Acme' },
      limit: 5,
    });
    await expect(plan).toMatchFileSnapshot(`plans/polymorphic.${name.replace(' ', '-')}.plan`);
  });
});

test('the description has the value of the type field', async () => {
  const engine = await open(inOne());
  expect(engine.describe(accessOf(), 'notes').relations).toEqual([
    {
      name: 'about_people',
      kind: 'one',
      to: 'people',
      only: { field: 'kind', value: 'Person' },
      columns: ['about_id'],
    },
    { name: 'firm', kind: 'one', to: 'firms', only: { field: 'kind', value: 'Firm' }, columns: ['about_id'] },
  ]);
  expect(engine.describe(accessOf({ hidden: ['notes.kind'] }), 'notes').relations).toEqual([]);
});

test('a nested write through a polymorphic relation is refused', async () => {
  const engine = await open(inOne());
  const update = engine.update(accessOf(), { collection: 'notes', ids: [1], values: { 'about_people:name': 'x' } });
  await expect(update).rejects.toThrow("write to 'people' directly");
});

test.each([
  [{ targets: {} }, "needs 'targets'"],
  [{ targets: { Person: 'peple' } }, "There is no collection 'peple'. Near: people"],
  [{ typeField: 'knd' }, "has no field 'knd'. Near: kind"],
  [{ foreignKey: 'kind' }, 'the two keys must have the same type'],
])('%j ends the start at the line of the call', async (more, problem) => {
  const started = open(inOne(), (agent) =>
    agent.customizeCollection('notes', (each) =>
      each.addPolymorphicManyToOneRelation('about', { ...options, ...more }),
    ),
  );
  await expect(started).rejects.toThrow(problem);
  await expect(started).rejects.toThrow(/polymorphic\.test\.ts:\d+/);
});

test.each([
  ['one source', (each: MemoryTable) => [createMemorySource('memory', [people, firms, each])]],
  ['two sources', (each: MemoryTable) => [createMemorySource('a', [people, firms]), createMemorySource('b', [each])]],
])(
  'a one-to-one relation without a unique key leads to the record with the lowest key of the type, in %s',
  async (_, held) => {
    const rows = [[8, 'Person', 2], [3, 'Firm', 1], [7, 'Person', 1], [5, 'Person', 1], [4, 'person', 2], [9, 'Person', 2]]; // biome-ignore format: a table
    const engine = await open(held({ ...notes, uniqueKeys: [], rows }));
    const list = (rights: Rights = {}) =>
      engine.list(accessOf(rights), { collection: 'people', fields: ['id', 'note:id'], limit: 9 });
    expect((await list()).rows).toEqual([
      [1, 5],
      [2, 8],
    ]);
    expect((await list({ scopes: { notes: { field: 'id', operator: 'GreaterThan', value: 5 } } })).rows).toEqual([
      [1, 7],
      [2, 8],
    ]);
  },
);
