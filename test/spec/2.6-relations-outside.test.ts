// Relations that code adds, listed and filtered over HTTP and MCP on a real database.
import { expect, test } from 'vitest';
import { type CollectionCustomizer, createMemoryDataSource } from '../../src/index.ts';
import { emptyAgent, messageOf } from '../app/agent.ts';
import { serveOutside } from './outside.ts';

const tables = [
  'CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, badge VARCHAR(20) UNIQUE)',
  'CREATE TABLE desks (id INTEGER PRIMARY KEY, person_id INTEGER UNIQUE, person_badge VARCHAR(20) UNIQUE)',
  'CREATE TABLE notes (id INTEGER PRIMARY KEY, person_id INTEGER, person_badge VARCHAR(20))',
  'CREATE TABLE uses (person_id INTEGER NOT NULL, desk_id INTEGER NOT NULL, PRIMARY KEY (person_id, desk_id))',
  'CREATE TABLE lends (id INTEGER PRIMARY KEY, lender VARCHAR(20), borrower VARCHAR(20), desk_id INTEGER)',
  "INSERT INTO lends VALUES (1, 'b1', 'b2', 12), (2, 'b1', NULL, 11), (3, 'b2', 'b1', 10), (4, NULL, 'b1', 10)",
  "INSERT INTO people VALUES (1, 'Ada', 'b1'), (2, 'Bo', 'b2'), (3, 'Cy', NULL)",
  "INSERT INTO desks VALUES (10, 2, 'b1'), (11, 1, 'b2'), (12, NULL, NULL)",
  "INSERT INTO notes VALUES (20, 1, 'b2'), (21, 1, 'b1'), (22, 2, 'b1'), (23, NULL, NULL)",
  'INSERT INTO uses VALUES (1, 10), (1, 12), (2, 12)',
  // The key order differs from the insertion order.
  'CREATE TABLE marks (rank INTEGER NOT NULL, person_id INTEGER, must INTEGER NOT NULL, PRIMARY KEY (rank)) WITHOUT ROWID',
  'INSERT INTO marks VALUES (9, 1, 1), (3, 1, 1), (5, 2, 1), (7, NULL, 2)',
  'CREATE TABLE kept_uses (person_id INTEGER NOT NULL, desk_id INTEGER NOT NULL, PRIMARY KEY (person_id, desk_id))',
  'INSERT INTO kept_uses VALUES (1, 10)',
];
/** The arguments and the caller of each call to customer code. */
const asked: unknown[] = [];
const ranks = {
  name: 'ranks',
  columns: [
    { name: 'id', type: 'Number' as const },
    { name: 'label', type: 'String' as const },
  ],
  primaryKey: ['id'],
  rows: [
    [1, 'first'],
    [2, 'second'],
  ],
};
const place = serveOutside(tables, (agent) =>
  agent
    .addDataSource(createMemoryDataSource('ranks', [ranks]))
    .customizeCollection('people', (people) => people.addManyToOneRelation('rank', 'ranks', { foreignKey: 'id' }))
    .customizeCollection('ranks', (each) => each.addOneToManyRelation('of', 'notes', { originKey: 'person_id' }))
    .removeCollection('kept_uses')
    .customizeCollection('people', (people) =>
      people
        .addOneToOneRelation('mark', 'marks', { originKey: 'person_id' })
        .addOneToManyRelation('must', 'marks', { originKey: 'must' })
        .addManyToManyRelation('kept', 'desks', 'kept_uses', { originKey: 'person_id', foreignKey: 'desk_id' })
        .addExternalRelation('empty ones', {
          schema: { n: 'Number', text: 'String', is: 'Boolean' },
          listRecords: ({ id }) => [{ n: 0, text: '', is: false }, ...(id === 2 ? [{ n: null, text: undefined }] : [])],
        })
        .addExternalRelation('lists', { schema: { n: 'Number' }, listRecords: () => [[1]] as never })
        .addExternalRelation('late', { schema: { n: 'Number' }, listRecords: () => Promise.reject(new Error('not there')) })
        .addOneToManyRelation('written', 'notes', { originKey: 'person_id' })
        .addOneToManyRelation('badged', 'notes', { originKey: 'person_badge', originKeyTarget: 'badge' })
        .addOneToOneRelation('desk', 'desks', { originKey: 'person_id' })
        .addOneToOneRelation('note', 'notes', { originKey: 'person_id' })
        .addOneToOneRelation('badge desk', 'desks', { originKey: 'person_badge', originKeyTarget: 'badge' })
        .addManyToManyRelation('used', 'desks', 'uses', { originKey: 'person_id', foreignKey: 'desk_id' })
        .addManyToManyRelation('by badge', 'desks', 'lends', { originKey: 'lender', foreignKey: 'desk_id', originKeyTarget: 'badge' })
        .addManyToManyRelation('lent to', 'people', 'lends', { originKey: 'lender', foreignKey: 'borrower', originKeyTarget: 'badge', foreignKeyTarget: 'badge' })
        .addExternalRelation('shifts', {
          schema: { day: 'Dateonly', hours: 'Number', what: 'String' },
          listRecords({ id, ...others }, { caller }) {
            asked.push([id, others, caller.email]);
            const shift = (day: string, hours: number) => ({ day, hours, secret: 'x' });
            return id === 3 ? [] : [shift('2024-03-01', Number(id)), shift('2024-02-29', 8)];
          },
        })
        .addExternalRelation('cards', {
          ...{ schema: { label: 'String' }, dependencies: ['badge'] },
          listRecords: async ({ id, badge }) => (badge === null ? [] : [{ label: `card ${id} of ${badge}` }]),
        })
        .addExternalRelation('wrong', { schema: { n: 'Number' }, listRecords: () => [{ n: 'many' }] })
        .addExternalRelation('none', { schema: { n: 'Number' }, listRecords: () => null as never }),
    )
    .customizeCollection('desks', (desks) =>
      desks.addManyToManyRelation('users', 'people', 'uses', { originKey: 'desk_id', foreignKey: 'person_id' }),
    )
    .customizeCollection('notes', (notes) =>
      notes
        .addManyToOneRelation('writer', 'people', { foreignKey: 'person_id' })
        .addManyToOneRelation('holder', 'people', { foreignKey: 'person_badge', foreignKeyTarget: 'badge' })
        .addManyToOneRelation('desk', 'uses', { foreignKey: 'person_id', foreignKeyTarget: 'person_id' }),
    ),
); // biome-ignore format: short

const related = async (id: number, relation: string) => {
  const { body } = await place.get(`/people/${id}/relationships/${relation}?sort=id`);
  const { body: counted } = await place.get(`/people/${id}/relationships/${relation}/count`);
  return [body.data.map((one: { readonly id: string }) => Number(one.id)), counted.count];
};

test.each([
  ['one-to-many: originKey', 'written', [[20, 21], 2], [[22], 1]],
  ['one-to-many: originKeyTarget', 'badged', [[21, 22], 2], [[20], 1]],
  ['many-to-many: throughCollection, originKey, foreignKey', 'used', [[10, 12], 2], [[12], 1]],
  ['many-to-many: originKeyTarget', 'by badge', [[11, 12], 2], [[10], 1]],
  ['many-to-many: originKeyTarget, foreignKeyTarget', 'lent to', [[2], 1], [[1], 1]],
])('%s: the list of each record contains only its own records', async (_, relation, ofAda, ofBo) => {
  const listed = await place.tool('listRelated', {
    ...{ collectionName: 'people', relationName: relation, parentRecordId: 1, fields: ['id'], sort: 'id' },
  });
  expect([await related(1, relation), await related(2, relation), await related(3, relation), listed]).toMatchObject([
    ofAda,
    ofBo,
    [[], 0],
    { json: { rows: (ofAda[0] as number[]).map((id) => [id]), hasMore: false } },
  ]);
  expect((await place.get(`/people/9/relationships/${relation}`)).status).toBe(404);
}); // biome-ignore format: a table

test.each([
  ['originKey', 'desk', [11, 10, null]],
  ['originKey without a unique index', 'note', [20, 22, null]],
  ['originKeyTarget', 'badge desk', [10, 11, null]],
])('one-to-one: %s: the one record that refers to it, or null', async (_, relation, desks) => {
  const ids = [];
  for (const id of [1, 2, 3]) {
    const { body } = await place.get(`/people/${id}/relationships/${encodeURIComponent(relation)}`);
    ids.push(body.data === null ? null : Number(body.data.id));
  }
  const filters = [{ field: `${relation}:id`, operator: 'Equal', value: desks[0] }];
  const listed = await place.tool('list', { collectionName: 'people', fields: ['name'], filters: filters[0] });
  expect([ids, listed]).toMatchObject([desks, { json: { rows: [['Ada']] } }]);
});

test.each([
  ['foreignKey', 'writer', ['Ada', 'Ada', 'Bo', null]],
  ['foreignKeyTarget', 'holder', ['Bo', 'Ada', 'Ada', null]],
])('many-to-one: %s: the record that it refers to, also in filters, or null', async (_, relation, names) => {
  const asked = { collectionName: 'notes', fields: ['id', `${relation}:name`], sort: 'id' };
  const filters = { field: `${relation}:name`, operator: 'Equal', value: 'Ada' };
  const rows = names.map((name, index) => [20 + index, name]);
  expect([await place.tool('list', asked), await place.tool('list', { ...asked, filters })]).toMatchObject([
    { json: { rows } },
    { json: { rows: rows.filter(([, name]) => name === 'Ada') } },
  ]);
});

test('many-to-one: foreignKey; one-to-many: originKey: to a collection of another data source', async () => {
  const list = async (more: object) => (await place.tool('list', { collectionName: 'people', fields: ['id', 'rank:label'], sort: 'id', ...more })).json.rows;
  expect([
    await list({}),
    await list({ filters: { field: 'rank:label', operator: 'Equal', value: 'second' } }),
    (await place.get('/people/1/relationships/rank')).body.data.attributes.label,
    (await place.get('/people/3/relationships/rank')).body.data,
    (await place.tool('listRelated', { collectionName: 'ranks', relationName: 'of', parentRecordId: 1, fields: ['id'], sort: 'id' })).json.rows,
  ]).toEqual([[[1, 'first'], [2, 'second'], [3, null]], [[2, 'second']], 'first', null, [[20], [21]]]);
}); // biome-ignore format: short

test('many-to-many: throughCollection, originKey, foreignKey: also from the other side', async () => {
  const { body } = await place.get('/desks/12/relationships/users?sort=id');
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual(['1', '2']);
});

test('one-to-many: originKey, originKeyTarget; many-to-many: throughCollection, originKey, foreignKey: a linked record is listed, an unlinked one is not', async () => {
  const write = (tool: string, relationName: string, ids: number[]) =>
    place.tool(tool, { collectionName: 'people', parentRecordId: 3, relationName, targetRecordIds: ids });
  await place.save('people', 3, { badge: 'b3' });
  for (const [relation, id] of [['written', 23], ['badged', 23], ['used', 11]] as const) {
    const linked = await write('associate', relation, [id]);
    const [listed] = await related(3, relation);
    const others = [await related(1, relation), await related(2, relation)];
    await write('dissociate', relation, [id]);
    expect([linked.error, listed, (await related(3, relation))[0]], relation).toEqual([undefined, [id], []]);
    expect(JSON.stringify(others)).not.toContain(`[${id}]`);
  }
  await place.save('people', 3, { badge: null });
}); // biome-ignore format: short

test('one-to-many: originKeyTarget; many-to-many: originKeyTarget: a record whose target is null cannot be linked, and nothing is written', async () => {
  for (const [relationName, id] of [['by badge', 12], ['lent to', 1]] as const) {
    const linked = await place.tool('associate', { collectionName: 'people', parentRecordId: 3, relationName, targetRecordIds: [id] });
    expect([linked.error, (await place.list('/lends?sort=id')).length]).toEqual([expect.stringContaining('that it would point to is null'), 4]);
  }
  expect([await related(3, 'by badge'), await related(3, 'badged')]).toEqual([[[], 0], [[], 0]]);
}); // biome-ignore format: short

test('many-to-one, one-to-many, one-to-one, many-to-many, external: the schema file and describeCollection have their kind and target', async () => {
  const told = (name: string) => {
    const { fields } = place.schema.collections.find((one: { name: string }) => one.name === name);
    return Object.fromEntries(fields.map((one: Record<string, string>) => [one.field, [one.relationship, one.reference]]));
  };
  const { json } = await place.tool('describeCollection', { collectionName: 'people' });
  expect([told('people'), told('notes'), Object.entries(json.relations).map(([name, text]) => `${name}: ${text}`)]).toMatchObject([
    { written: ['HasMany', 'notes.id'], badged: ['HasMany', 'notes.id'], desk: ['HasOne', 'desks.id'], used: ['BelongsToMany', 'desks.id'] },
    { writer: ['BelongsTo', 'people.id'], holder: ['BelongsTo', 'people.badge'] },
    expect.arrayContaining([expect.stringMatching(/^written: many notes/), expect.stringMatching(/^desk: one desks/), expect.stringMatching(/^used: many desks/)]),
  ]);
}); // biome-ignore format: short

const shifts = (id: number) => [
  { day: '2024-03-01', hours: id, what: null },
  { day: '2024-02-29', hours: 8, what: null },
];

test('external: schema, listRecords: records have exactly these fields and types; they are filtered, sorted and counted', async () => {
  const asked = { collectionName: 'people', relationName: 'shifts', parentRecordId: 2 };
  const list = async (more: object) => (await place.tool('listRelated', { ...asked, ...more })).json;
  const { body } = await place.get('/people/2/relationships/shifts');
  const counted = await place.get('/people/2/relationships/shifts/count');
  expect([
    await list({}),
    (await list({ sort: 'day' })).rows,
    (await list({ filters: { field: 'day', operator: 'Before', value: '2024-03-01' } })).rows,
    (await list({ fields: ['hours'], filters: { field: 'hours', operator: 'LessThan', value: 8 } })).rows,
    body.data.map(({ attributes }: { attributes: object }) => attributes),
    counted.body.count,
    (await place.get('/people/2/relationships/wrong')).body.errors[0].code,
    (await place.get('/people/2/relationships/none')).body.errors[0].code,
  ]).toMatchObject([
    { columns: ['day', 'hours', 'what'], rows: [['2024-03-01', 2, null], ['2024-02-29', 8, null]] },
    [['2024-02-29', 8, null], ['2024-03-01', 2, null]],
    [['2024-02-29', 8, null]],
    [[2]],
    shifts(2),
    2,
    'CUSTOMIZATION_FAILED',
    'CUSTOMIZATION_FAILED',
  ]);
}); // biome-ignore format: short

test('external: listRecords, schema: gets the key of each record or its dependencies, and the caller; the order is kept', async () => {
  asked.length = 0;
  const { json } = await place.tool('list', { collectionName: 'people', fields: ['shifts', 'cards'], sort: 'id' });
  expect([json.rows, asked]).toEqual([
    [
      [shifts(1), [{ label: 'card 1 of b1' }]],
      [shifts(2), [{ label: 'card 2 of b2' }]],
      [[], []],
    ],
    [1, 2, 3].map((id) => [id, {}, 'ada@example.com']),
  ]);
  expect((await place.get('/people/9/relationships/shifts')).status).toBe(404);
});

test.each<[what: string, say: (people: CollectionCustomizer) => unknown, problem: string, of?: string]>([
  ['many-to-one: foreignKey', (each) => each.addManyToOneRelation('x', 'people', { foreignKey: 'bos_id' }), "The collection 'people' has no field 'bos_id'. Near: "],
  ['many-to-one: foreignKey', (each) => each.addManyToOneRelation('x', 'peple', { foreignKey: 'boss_id' }), "There is no collection 'peple'. Near: people."],
  ['many-to-one: foreignKey', (each) => each.addManyToOneRelation('x', 'people', { foreignKey: 'badge' }), "'badge' is String and 'id' is Number: the two keys must have the same type."],
  ['many-to-one: foreignKeyTarget', (each) => each.addManyToOneRelation('x', 'people', { foreignKey: 'badge', foreignKeyTarget: 'bdge' }), "no field 'bdge'"],
  ['many-to-one: foreignKeyTarget', (each) => each.addManyToOneRelation('x', 'people', { foreignKey: 'boss_id', foreignKeyTraget: 'id' } as never), 'Near: foreignKey, foreignKeyTarget'],
  ['one-to-many: originKey', (each) => each.addOneToManyRelation('x', 'people', { originKey: 'bos_id' }), "The collection 'people' has no field 'bos_id'. Near: "],
  ['one-to-many: originKey', (each) => each.addOneToManyRelation('x', 'people', {} as never), 'originKey'],
  ['one-to-many: originKeyTarget', (each) => each.addOneToManyRelation('x', 'people', { originKey: 'boss_id', originKeyTarget: 'ident' }), "no field 'ident'"],
  ['one-to-one: originKey', (each) => each.addOneToOneRelation('x', 'people', { originKey: 'bos_id' }), "no field 'bos_id'"],
  ['one-to-one: originKeyTarget', (each) => each.addOneToOneRelation('x', 'people', { originKey: 'id', originKeyTarget: 'badge' }), "'badge' is String and 'id' is Number: the two keys must have the same type."],
  ['many-to-many: throughCollection', (each) => each.addManyToManyRelation('x', 'people', 'peple', { originKey: 'id', foreignKey: 'boss_id' }), "There is no collection 'peple'. Near: people."],
  ['many-to-many: throughCollection, originKey, foreignKey', (each) => each.addManyToManyRelation('x', 'people', 'people', { originKey: 'boss_id', foreignKey: 'boss_id' }), "both keys are 'boss_id' of 'people'"],
  ['many-to-many: originKeyTarget, foreignKeyTarget', (each) => each.addManyToManyRelation('x', 'people', 'people', { originKey: 'badge', originKeyTarget: 'id', foreignKey: 'boss_id' }), 'the two keys must have the same type'],
  ['external: schema', (each) => each.addExternalRelation('x', { schema: { a: 'Strng' as 'String' }, listRecords: () => [] }), "There is no column type 'Strng'. Near: String."],
  ['external: schema', (each) => each.addExternalRelation('x', { listRecords: () => [] } as never), 'schema'],
  ['external: listRecords', (each) => each.addExternalRelation('x', { schema: { a: 'String' } } as never), 'listRecords'],
  ['external: listRecords', (each) => each.addExternalRelation('x', { schema: { a: 'String' }, listRecords: [] as never }), 'listRecords must be a function'],
  ['external: schema', (each) => each.addExternalRelation('x', { schema: {}, listRecords: () => [] }), "needs a 'schema'"],
  ['external: schema', (each) => each.addExternalRelation('badge', { schema: { a: 'String' }, listRecords: () => [] }), "'badge'"],
  ['many-to-one', (each) => each.addManyToOneRelation('badge', 'people', { foreignKey: 'boss_id' }), "already has a field 'badge'"],
  ['many-to-one', (each) => each.addManyToOneRelation('x', 'people', { foreignKey: 'boss_id' }).addOneToManyRelation('x', 'people', { originKey: 'boss_id' }), "relation 'x' of 'people' is already defined"],
  ['one-to-many', (each) => each.addOneToManyRelation('badge', 'people', { originKey: 'boss_id' }), "already has a field 'badge'"],
  ['one-to-one', (each) => each.addOneToOneRelation('badge', 'people', { originKey: 'boss_id' }), "already has a field 'badge'"],
  ['many-to-many', (each) => each.addManyToManyRelation('badge', 'people', 'pairs', { originKey: 'a', foreignKey: 'b' }), "already has a field 'badge'"],
  ['many-to-one: foreignKeyTarget', (each) => each.addManyToOneRelation('x', 'pairs', { foreignKey: 'boss_id' }), "'pairs' has no key of one column"],
  ['many-to-one: foreignKeyTarget', (each) => each.addManyToOneRelation('x', 'people', { foreignKey: 'boss_id', foreignKeyTarget: 'badge' }), "'boss_id' is Number and 'badge' is String"],
  ['many-to-one: foreignKey', (each) => each.addManyToOneRelation('x', 'people', {} as never), 'foreignKey'],
  ['one-to-many: originKeyTarget', (each) => each.addOneToManyRelation('x', 'people', { originKey: 'boss_id', originKeyTarget: 'badge' }), 'the two keys must have the same type'],
  ['one-to-one: originKeyTarget', (each) => each.addOneToOneRelation('x', 'people', { originKey: 'boss_id', originKeyTarget: 'bdge' }), "no field 'bdge'"],
  ['many-to-many: foreignKey', (each) => each.addManyToManyRelation('x', 'people', 'pairs', { originKey: 'a', foreignKey: 'c' }), "no field 'c'"],
  ['many-to-many: originKey', (each) => each.addManyToManyRelation('x', 'people', 'pairs', { originKey: 'c', foreignKey: 'b' }), "no field 'c'"],
  ['many-to-many: foreignKey', (each) => each.addManyToManyRelation('x', 'people', 'pairs', { originKey: 'a' } as never), 'foreignKey'],
  ['many-to-many: foreignKeyTarget', (each) => each.addManyToManyRelation('x', 'people', 'pairs', { originKey: 'a', foreignKey: 'b', foreignKeyTarget: 'badge' }), 'the two keys must have the same type'],
  ['one-to-many: originKeyTarget', (each) => each.addOneToManyRelation('x', 'people', { originKey: 'boss_id' }), "'pairs' has no key of one column", 'pairs'],
  ['one-to-one: originKeyTarget', (each) => each.addOneToOneRelation('x', 'people', { originKey: 'boss_id' }), "'pairs' has no key of one column", 'pairs'],
  ['many-to-many: originKeyTarget', (each) => each.addManyToManyRelation('x', 'people', 'people', { originKey: 'boss_id', foreignKey: 'id' }), "'pairs' has no key of one column", 'pairs'],
  ['many-to-many: foreignKeyTarget', (each) => each.addManyToManyRelation('x', 'pairs', 'people', { originKey: 'id', foreignKey: 'boss_id' }), "'pairs' has no key of one column"],
  ['many-to-many: originKeyTarget', (each) => each.addManyToManyRelation('x', 'people', 'pairs', { originKey: 'a', foreignKey: 'b', originKeyTarget: 'idd' }), "no field 'idd'"],
  ...(['foreignKey', 'originKey'] as const).flatMap((key) => {
    const declare = (each: CollectionCustomizer, options: object) => (key === 'foreignKey' ? each.addManyToOneRelation('x', 'people', options as never) : each.addOneToManyRelation('x', 'people', options as never));
    const made = (each: CollectionCustomizer) => each.addField('made', { columnType: 'Number', dependencies: ['id'], getValues: (all) => all.map(() => 1) });
    const what = key === 'foreignKey' ? 'many-to-one' : 'one-to-many';
    return ([
      [`${what}: ${key}`, (each) => declare(made(each), { [key]: 'made' }), "The collection 'people' has no field 'made'"],
      [`${what}: ${key}`, (each) => declare(each, { [key]: 'pairs' }), "'pairs' of 'people' is not a column of the database and cannot be a key"],
      [`${what}: ${key}Target`, (each) => declare(each, { [key]: 'boss_id', [`${key}Target`]: 'pairs' }), "'pairs' of 'people' is not a column of the database and cannot be a key"],
      [`${what}: ${key}`, (each) => declare(each.addManyToOneRelation('boss', 'people', { foreignKey: 'boss_id' }), { [key]: '' }), `'${key}' must be the name of a field`],
      [`${what}: ${key}Target`, (each) => declare(each, { [key]: 'badge', [`${key}Target`]: 'id' }), 'the two keys must have the same type'],
      [`${what}: ${key}Target`, (each) => declare(each, { [key]: 'boss_id', [`${key}Target`]: null }), `'${key}Target' must be the name of a field`],
    ] satisfies [string, (people: CollectionCustomizer) => unknown, string][]);
  }),
])('%s: an invalid value ends the start, with the error and the line', async (_, say, problem, of = 'people') => {
  const { agent } = emptyAgent();
  const columns = [{ name: 'id', type: 'Number' as const }, { name: 'badge', type: 'String' as const }, { name: 'boss_id', type: 'Number' as const, nullable: true }];
  const people = { name: 'people', columns, primaryKey: ['id'], rows: [] };
  const pair = ['a', 'b'].map((name) => ({ name, type: 'Number' as const }));
  const foreignKeys = [{ columns: ['a'], table: 'people', targetColumns: ['id'] }];
  const pairs = { name: 'pairs', columns: pair, primaryKey: ['a', 'b'], foreignKeys, rows: [] };
  agent.addDataSource(createMemoryDataSource('people', [people, pairs])).customizeCollection(of, (each) => void say(each));
  const message = await messageOf(() => agent.start());
  expect([message.includes(problem) ? problem : message, message]).toEqual([problem, expect.stringMatching(/2\.6-relations-outside\.test\.ts:\d+/)]);
}); // biome-ignore format: a table

test('one-to-one: originKey: without a unique index the lowest key wins, with a warning; it is linked from the other side', async () => {
  const list = async (more: object) => (await place.tool('list', { collectionName: 'people', fields: ['id', 'mark:rank'], sort: 'id', ...more })).json.rows;
  const is = (value: number) => ({ filters: { field: 'mark:rank', operator: 'Equal', value } });
  const link = await place.tool('associate', { collectionName: 'people', parentRecordId: 3, relationName: 'mark', targetRecordIds: [7] });
  expect([await list({}), await list(is(3)), await list(is(9)), link.error, (await place.list('/marks?sort=rank')).map((one) => one.person_id)]).toEqual([
    ...[[[1, 3], [2, 5], [3, null]], [[1, 3]], []],
    expect.stringContaining("'mark' leads to the first of several records of 'marks'"),
    [1, 2, null, 1],
  ]);
  expect(place.warnings.filter((each) => each.includes("'mark' of 'people'"))).toEqual([
    expect.stringMatching(/'person_id' of 'marks' has no unique index.*lowest key.*Add a unique index.*2\.6-relations-outside\.test\.ts:\d+/),
  ]);
  expect(place.warnings.filter((each) => /'(desk|badge desk|written)' of 'people'/.test(each))).toEqual([]);
}); // biome-ignore format: short

test('one-to-many, many-to-many: originKey, foreignKey, throughCollection: double links, unlinked and missing records, required keys, and a removed join collection', async () => {
  const write = async (tool: string, relationName: string, ids: number[], parentRecordId = 1) => {
    const { json, error } = await place.tool(tool, { collectionName: 'people', parentRecordId, relationName, targetRecordIds: ids });
    return json?.count ?? String(error).replace(/^(\w+).*$/s, '$1');
  };
  expect([
    ...[await write('associate', 'used', [10, 12]), await write('associate', 'used', [999]), await write('associate', 'used', [11, 999])],
    ...[await write('dissociate', 'used', [11]), await write('dissociate', 'used', [10, 11]), await write('associate', 'used', [10], 99)],
    ...[await write('associate', 'written', [999]), await write('dissociate', 'written', [22]), await write('dissociate', 'written', [20, 22])],
    ...[await write('dissociate', 'must', [9]), await write('associate', 'kept', [11]), await write('dissociate', 'kept', [10])],
  ]).toEqual([
    ...[0, 'RECORD_NOT_FOUND', 'RECORD_NOT_FOUND', 'RECORD_NOT_FOUND', 'RECORD_NOT_FOUND', 'RECORD_NOT_FOUND'],
    ...['RECORD_NOT_FOUND', 'RECORD_NOT_FOUND', 'RECORD_NOT_FOUND', 'INVALID_RECORD', 'READ_ONLY', 'READ_ONLY'],
  ]);
  expect([await related(1, 'used'), await related(1, 'written'), await related(2, 'written'), await related(1, 'kept'), await place.list('/uses')]).toEqual([
    ...[[[10, 12], 2], [[20, 21], 2], [[22], 1], [[10], 1]],
    expect.objectContaining({ length: 3 }),
  ]);
}); // biome-ignore format: short

test('external: schema, listRecords: 0, false and an empty string are kept; missing values are null; wrong lists and exceptions fail; no linking', async () => {
  const of = async (id: number, relation: string) => (await place.get(`/people/${id}/relationships/${encodeURIComponent(relation)}`)).body;
  const attributes = ({ data }: { data: { attributes: object }[] }) => data.map((one) => one.attributes);
  const code = async (relation: string) => (await of(1, relation)).errors[0].code;
  const linked = await place.tool('associate', { collectionName: 'people', parentRecordId: 1, relationName: 'shifts', targetRecordIds: [1] });
  const zero = { n: 0, text: '', is: false };
  expect([attributes(await of(1, 'empty ones')), attributes(await of(2, 'empty ones')), await code('lists'), await code('late'), linked.error]).toEqual([
    [zero],
    [zero, { n: null, text: null, is: null }],
    ...['CUSTOMIZATION_FAILED', 'CUSTOMIZATION_FAILED', expect.stringMatching(/^READ_ONLY/)],
  ]);
}); // biome-ignore format: short

test('many-to-one: foreignKeyTarget without a unique index: the first by key, also in filters', async () => {
  const asked = { collectionName: 'notes', fields: ['id', 'desk:desk_id'], sort: 'id' };
  const filters = { field: 'desk:desk_id', operator: 'Equal', value: 12 };
  expect([await place.tool('list', asked), await place.tool('list', { ...asked, filters })]).toMatchObject([
    { json: { rows: [[20, 10], [21, 10], [22, 12], [23, null]] } },
    { json: { rows: [[22, 12]] } },
  ]); // biome-ignore format: a table
});
