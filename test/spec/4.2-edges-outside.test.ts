// Edge cases of the customizer operations, over HTTP and MCP: duplicates, renamed or
// removed names, values such as 0, null or undefined, and invalid results of code.
import { expect, test } from 'vitest';
import type { CollectionCustomizer } from '../../src/index.ts';
import { serveOutside } from './outside.ts';

const made = (name: string) => [
  `CREATE TABLE ${name} (id INTEGER PRIMARY KEY, name VARCHAR(200) NOT NULL, n INTEGER, note VARCHAR(20))`,
  `INSERT INTO ${name} VALUES (1, 'one', 0, NULL), (2, 'two', 2, ''), (3, 'six', NULL, 'x')`,
];
const plain = 'ruled written hooked found lost sorted emulated drawn created given short keyed scoped extra'.split(' ');
const tables = [
  'CREATE TABLE owners (id INTEGER PRIMARY KEY, first VARCHAR(20) NOT NULL, last VARCHAR(20), old VARCHAR(20))',
  "INSERT INTO owners VALUES (1, 'Ada', 'Byron', 'a'), (2, 'Bo', NULL, 'b')",
  'CREATE TABLE pets (id INTEGER PRIMARY KEY, owner_id INTEGER REFERENCES owners(id), friend_id INTEGER REFERENCES pets(id), code VARCHAR(9))',
  "INSERT INTO pets VALUES (1, 1, 2, 'a'), (2, NULL, NULL, 'b'), (3, 2, 1, NULL)",
  ...plain.flatMap(made),
  'CREATE TABLE ties (id INTEGER PRIMARY KEY, name VARCHAR(9), a INTEGER, b INTEGER)',
  'CREATE TABLE bytes (id INTEGER PRIMARY KEY, short BINARY(32), long BINARY(33), said BINARY(8), other BLOB)',
  "INSERT INTO bytes VALUES (1, x'01', x'02', x'03', x'04')",
  "INSERT INTO ties VALUES (1, 'x', 1, 2), (2, 'y', 1, 3), (3, 'z', 0, 1), (4, 'w', 1, NULL)",
]; // biome-ignore format: short

const told: unknown[] = [];
// biome-ignore lint/suspicious/noExplicitAny: whatever a test wants of the code.
let give: any;
const on = (name: string, say: (each: CollectionCustomizer) => unknown) => [name, say] as const;
const sayings = [
  on('owners', (owners) =>
    owners
      .renameField('first', 'given')
      .renameField('given', 'forename')
      .removeField('old')
      .renameField('last', 'old')
      .addField('label', { columnType: 'String', dependencies: ['last'], defaultValue: 'none', getValues: (all) => all.map(({ last }) => last as string | null) })
      .addExternalRelation('moods', { schema: { mood: 'Enum', at: 'Date', file: 'File' }, listRecords: ({ id }) => [{ mood: `mood ${id}`, at: new Date(0) }] }),
  ),
  on('pets', (pets) =>
    pets
      .importField('owner name', { path: 'owner:first' })
      .importField('owner label', { path: 'owner:label' })
      .importField('friend code', { path: 'friend:code', readonly: false })
      .importField('own code', { path: 'code' })
      .importField('far owner', { path: 'friend:owner:first' })
      .importField('far code', { path: 'friend:friend:code', readonly: false })
      .importField('far fixed', { path: 'friend:owner:last', readonly: true })
      .renameField('code', 'mark')
      .renameField('friend_id', 'pal')
      .removeField('mark', 'pal'),
  ),
  on('ties', (each) => each.addSegment('void', () => give).replaceFieldSorting('name', [{ field: 'a', ascending: false }, { field: 'b', ascending: false }])),
  on('bytes', (each) => each.replaceFieldBinaryMode('said', 'datauri').replaceFieldBinaryMode('other', 'hex')),
  on('extra', (each) =>
    each
      .addSegment('only', async ({ caller, timezone }) => ({ field: 'id', operator: caller.email.includes('@') && timezone === 'Asia/Tokyo' ? 'Equal' : 'GreaterThan', value: 2 }))
      .replaceFieldOperator('note', 'Equal', () => ({ field: 'id', operator: 'Equal', value: 3 }))
      .replaceSearch((text, extended) => {
        told.push([text, extended]);
        return { field: 'id', operator: 'Present' };
      })
      .replaceFieldWriting('note', async (value, { getRecords }) => ({ note: `${value} ${(await getRecords(['name'])).map(({ name }) => name)}` }))
      .addHook('After', 'List', ({ filter }) => void told.push(filter))
      .addHook('After', 'Update', ({ throwError }) => (give === 'late' ? throwError('Too late.') : undefined)),
  ),
  on('ruled', (each) =>
    each
      .renameField('note', 'remark')
      .addFieldValidation('note', 'Present')
      .addFieldValidation('note', 'ShorterThan', 9)
      .setFieldNullable('note')
      .addFieldValidation('n', 'In', [1, 2, null])
      .addFieldValidation('n', 'Present')
      .addFieldValidation('name', 'Match', /^[a-z]+$/),
  ),
  on('written', (each) =>
    each
      .replaceFieldWriting('n', (value) => (value === 0 ? null : value === 1 ? undefined : { n: value, note: `of ${value}` }))
      .replaceFieldWriting('name', async (value, { action }) => ({ name: `${value} by ${action}` })),
  ),
  on('hooked', (each) => {
    for (const type of ['List', 'Create', 'Update', 'Delete', 'Aggregate'] as const)
      for (const position of ['Before', 'After'] as const)
        each.addHook(position, type, (context) => {
          told.push(`${position} ${type}`);
          give?.(context, `${position} ${type}`);
        });
  }),
  on('found', (each) =>
    each
      .disableSearch()
      .replaceSearch(() => ({ field: 'id', operator: 'Equal', value: 1 }))
      .replaceSearch((text) => ({ field: 'note', operator: text === '' ? 'Missing' : 'Equal', value: text === '' ? undefined : text })),
  ),
  on('lost', (each) => each.replaceSearch(() => ({ field: 'id', operator: 'Present' })).disableSearch().disableCount().disableCount()),
  on('sorted', (each) =>
    each
      .addField('size', { columnType: 'Number', dependencies: ['n'], getValues: (all) => all.map(({ n }) => (n === null ? null : -Number(n))) })
      .emulateFieldSorting('size')
      .renameField('note', 'remark')
      .disableFieldSorting('note')
      .replaceFieldSorting('name', [{ field: 'n', ascending: false }, { field: 'id', ascending: false }]),
  ),
  on('emulated', (each) =>
    each
      .addField('size', { columnType: 'String', dependencies: ['name'], getValues: (all) => all.map(({ name }) => String(name).toUpperCase()) })
      .emulateFieldOperator('size', 'Equal')
      .replaceFieldOperator('size', 'Like', (value) => ({ field: 'name', operator: 'Equal', value: `${value}` }))
      .emulateFieldFiltering('size')
      .replaceFieldOperator('name', 'Match', (value) => {
        told.push(value);
        return { field: 'id', operator: 'Equal', value: 2 };
      }),
  ),
  on('drawn', (each) =>
    each
      .addChart('other', () => ({ countCurrent: 1 }) as never)
      .addChart('nothing', () => undefined as never)
      .addChart('own', ({ recordId, compositeRecordId }, chart) => chart.smart([recordId, compositeRecordId])),
  ),
  on('created', (each) => each.overrideCreate(() => give())),
  on('given', (each) => each.overrideCreate(({ data, collection }) => collection('given').create(data.map((one) => ({ ...one, note: 'by code' }))))),
  on('keyed', (each) => each.overrideUpdate(async ({ patch, filter, collection }) => void (await collection('keyed').update(filter, patch)))),
  on('short', (each) => each.overrideDelete(({ filter }) => void told.push(filter)).overrideUpdate(() => {})),
  on('scoped', (each) => {
    const plugin = (inner: CollectionCustomizer, given?: { readonly more: boolean }) => {
      inner.addSegment(given === undefined ? 'none' : `${given.more}`, { field: 'n', operator: 'Present' });
      if (given?.more) inner.use(plugin);
    };
    each.use(plugin, { more: true }).use(plugin, { more: false }).renameField('name', 'title').setFieldNullable('name');
  }),
] as const; // biome-ignore format: a table

const place = serveOutside(tables, (agent) => {
  for (const [name, say] of sayings) agent.customizeCollection(name, (each) => void say(each));
});
const by = (filter: object) => `filters=${encodeURIComponent(JSON.stringify(filter))}`;
const rowsOf = async (collectionName: string, fields: string[], more: object = {}) => {
  const { json, error } = await place.tool('list', { collectionName, fields, sort: 'id', ...more });
  return json?.rows ?? String(error).split(':')[0];
};
const status = async (path: string) => (await place.get(path)).status;
const described = async (collectionName: string) =>
  (await place.tool('describeCollection', { collectionName })).json.fields as Record<string, string>;
const inSchema = (name: string) => place.schema.collections.find((one: { name: string }) => one.name === name);

test('renameField, removeField: a renamed field can be renamed again; a removed name is free; a removed key removes its relation', async () => {
  const fields = await described('owners');
  const { json } = await place.tool('describeCollection', { collectionName: 'pets' });
  expect([Object.keys(fields), await rowsOf('owners', ['forename', 'old']), await rowsOf('owners', ['given']), await rowsOf('owners', ['first'])]).toEqual([
    ['id', 'forename', 'old', 'label', 'moods'].filter((name) => name in fields),
    [['Ada', 'Byron'], ['Bo', null]],
    'UNKNOWN_FIELD',
    'UNKNOWN_FIELD',
  ]);
  expect([Object.keys(json.fields).includes('mark'), Object.keys(json.fields).includes('pal'), Object.keys(json.relations)]).toEqual([false, false, expect.not.arrayContaining(['friend'])]);
  expect([(await place.save('owners', 2, { old: 'Bell' })).status, await rowsOf('owners', ['old']), (await place.save('owners', 2, { old: null })).status]).toEqual([200, [['Byron'], ['Bell']], 200]);
}); // biome-ignore format: short

test('importField, addField: a missing related record gives null despite a default; nullable; readonly as set', async () => {
  const fields = await described('pets');
  expect([await rowsOf('pets', ['owner name', 'owner label', 'friend code', 'own code']), await rowsOf('owners', ['label'])]).toEqual([
    [['Ada', 'Byron', 'b', 'a'], [null, null, null, 'b'], ['Bo', 'none', 'a', null]],
    [['Byron'], ['none']],
  ]);
  expect(['owner name', 'owner label', 'friend code', 'own code'].map((name) => fields[name])).toEqual(['String?', expect.stringContaining('ro'), 'String?', 'String? ro']);
  expect(inSchema('pets').fields.filter(({ isRequired }: { isRequired: boolean }) => isRequired)).toEqual([]);
  expect([await rowsOf('pets', ['id'], { filters: { field: 'owner name', operator: 'Missing' } }), (await place.save('pets', 2, { 'owner name': 'X' })).status]).toEqual([[[2]], expect.any(Number)]);
}); // biome-ignore format: short

test('importField: over several relations, the field is read, and written to the last record unless it is read-only', async () => {
  const far = ['far owner', 'far code', 'far fixed'];
  const fields = await described('pets');
  expect(far.map((name) => fields[name])).toEqual(['String?', 'String?', 'String? ro']);
  const readOnly = inSchema('pets').fields.filter(({ isReadOnly }: { isReadOnly: boolean }) => isReadOnly).map(({ field }: { field: string }) => field);
  expect([readOnly.includes('far owner'), readOnly.includes('far code'), readOnly.includes('far fixed')]).toEqual([false, false, true]);
  const ofThird = { filters: { field: 'id', operator: 'Equal', value: 3 } };
  expect(await rowsOf('pets', far, ofThird)).toEqual([['Ada', 'b', 'Byron']]);
  const refused = await place.save('pets', 3, { 'far fixed': 'X' });
  expect([refused.status, (await place.save('pets', 3, { 'far owner': 'Ann' })).status, (await rowsOf('owners', ['forename']))[0]]).toEqual([400, 200, ['Ann']]);
  expect([(await place.save('pets', 3, { 'far owner': 'Ada' })).status, (await rowsOf('owners', ['forename'])).slice(0, 2)]).toEqual([200, [['Ada'], ['Bo']]]);
}); // biome-ignore format: short

test('addFieldValidation, setFieldNullable: null breaks only Present; a nullable field keeps other rules; null in In never matches; long strings are checked fully', async () => {
  const write = async (attributes: object) => (await place.save('ruled', 1, attributes)).status;
  expect([
    ...[await write({ n: null }), await write({ n: 3 }), await write({ n: 2 }), await write({ remark: null }), await write({ remark: '' })],
    ...[await write({ remark: '123456789' }), await write({ remark: '12345678' }), await write({ name: 'a'.repeat(200) }), await write({ name: `${'a'.repeat(150)}1` })],
    (await write({ remark: '\u{1F600}'.repeat(8) })),
    (await place.save('ruled', 1, { remark: '\u{1F600}'.repeat(9) })).body.errors[0].detail,
    (await place.save('ruled', null, { id: 9, name: 'nine' })).status,
    (await place.save('ruled', null, { id: 9, name: 'nine', n: 1 })).status,
  ]).toEqual([400, 400, 200, 200, 200, 400, 200, 200, 400, 200, expect.stringContaining('send fewer than 9 characters, not 9'), 400, 200]);
  expect((await described('scoped')).title).toBe('String?');
  expect([(await described('ruled')).remark, inSchema('ruled').fields.find(({ field }: { field: string }) => field === 'remark').isRequired]).toEqual(['String?', false]);
}); // biome-ignore format: short

test('replaceFieldWriting: null or no result writes nothing of the field; the rest is written; each field has its own', async () => {
  const after = async (attributes: object) => {
    const { status } = await place.save('written', 2, attributes);
    return [status, ...(await rowsOf('written', ['name', 'n', 'note'], { filters: { field: 'id', operator: 'Equal', value: 2 } }))];
  };
  expect([await after({ n: 0 }), await after({ n: 1, note: 'kept' }), await after({ n: 5 }), await after({ name: 'x', n: 6 }), await after({ n: 7, note: 'other' })]).toEqual([
    [200, ['two', 2, '']],
    [200, ['two', 2, 'kept']],
    [200, ['two', 5, 'of 5']],
    [200, ['x by update', 6, 'of 6']],
    [400, ['x by update', 6, 'of 6']],
  ]);
}); // biome-ignore format: short

test('addExternalRelation: enums are strings there, times are times, and missing values are null', async () => {
  const { body } = await place.get('/owners/2/relationships/moods');
  expect(body.data.map(({ attributes }: { attributes: object }) => attributes)).toEqual([
    { mood: 'mood 2', at: '1970-01-01T00:00:00.000Z', file: null },
  ]);
  const { type } = inSchema('owners').fields.find(({ field }: { field: string }) => field === 'moods');
  expect(type[0].fields.map((one: Record<string, string>) => [one.field, one.type])).toEqual([
    ['at', 'Date'],
    ['file', 'Binary'],
    ['mood', 'String'],
  ]);
});

test('addHook: errors of a call are returned before any hook runs; each way of stopping has its status', async () => {
  told.length = 0;
  const wrong = [await status(`/hooked?${by({ field: 'nam', operator: 'Present' })}`), await status(`/hooked/count?${by({ field: 'n', operator: 'Like', value: 'x' })}`)];
  expect([wrong, told.splice(0)]).toEqual([[400, 400], []]);
  const acts = {
    List: () => place.get('/hooked'),
    Aggregate: () => place.get('/hooked/count'),
    Create: () => place.save('hooked', null, { id: 9, name: 'nine' }),
    Update: () => place.save('hooked', 1, { name: 'uno' }),
    Delete: () => place.remove('hooked', 1),
  };
  const seen: unknown[] = [];
  for (const [type, act] of Object.entries(acts))
    for (const way of ['throwError', 'throwForbiddenError', 'throwValidationError']) {
      give = (context: Record<string, (problem: string, field?: string) => never>, at: string) => at === `Before ${type}` && context[way]!('Not so.', 'name');
      const { status, body } = await act();
      seen.push([type, way, status, body.errors[0].detail, body.errors[0].data?.fields]);
    }
  give = undefined;
  const fields = [{ field: 'name', problem: 'Not so.' }];
  const of = (type: string, isWrite: boolean) => [
    [type, 'throwError', 422, 'Not so.', undefined],
    [type, 'throwForbiddenError', 403, 'Not so.', undefined],
    isWrite ? [type, 'throwValidationError', 400, expect.stringContaining('name: Not so.'), fields] : [type, 'throwValidationError', 422, 'name: Not so.', undefined],
  ];
  expect([seen, await rowsOf('hooked', ['id', 'name'])]).toEqual([
    [...of('List', false), ...of('Aggregate', false), ...of('Create', true), ...of('Update', true), ...of('Delete', true)],
    [[1, 'one'], [2, 'two'], [3, 'six']],
  ]);
}); // biome-ignore format: short

test('replaceSearch, disableSearch, disableCount: the last call wins, in lists, counts and the schema file; an empty search is ignored', async () => {
  expect([await place.ids('/found?search=x'), await place.ids('/found?search=&sort=id'), (await place.get('/found/count?search=x')).body.count, inSchema('found').isSearchable]).toEqual([[3], [1, 2, 3], 1, true]);
  expect([await status('/lost?search=x'), (await place.get('/lost/count')).body, inSchema('lost').isSearchable, await status('/lost?search=')]).toEqual([400, { meta: { count: 'deactivated' } }, false, 200]);
}); // biome-ignore format: short

test('emulateFieldSorting, replaceFieldSorting, disableFieldSorting: null, ties and several clauses, in both directions; by earlier names', async () => {
  expect([
    await place.ids('/sorted?sort=size,id'),
    await place.ids('/sorted?sort=-size,id'),
    await place.ids('/sorted?sort=name'),
    await place.ids('/sorted?sort=-name'),
    await place.ids('/sorted?sort=id&page[size]=2&page[number]=2'),
    [await status('/sorted?sort=remark'), await status('/sorted?sort=-remark,id'), await status('/sorted?sort=id,-remark')],
  ]).toEqual([[3, 2, 1], [1, 2, 3], [2, 1, 3], [3, 1, 2], [3], [400, 400, 400]]);
}); // biome-ignore format: short

test('emulateFieldFiltering, emulateFieldOperator, replaceFieldOperator: a replaced operator is kept when the rest is emulated; code gets patterns as typed', async () => {
  told.length = 0;
  const found = async (field: string, operator: string, value?: unknown) => {
    const { status, body } = await place.get(`/emulated?sort=id&${by({ field, operator, value })}`);
    return status === 200 ? body.data.map(({ id }: { id: string }) => Number(id)) : status;
  };
  expect([
    ...[await found('size', 'Like', 'two'), await found('size', 'Equal', 'TWO'), await found('size', 'Like', 'TWO'), await found('size', 'In', ['ONE', 'SIX']), await found('size', 'Missing')],
    ...[await found('size', 'NotEqual', 'TWO'), await found('size', 'LongerThan', 3), await found('name', 'Match', '(('), await found('name', 'Equal', 'one')],
    told,
  ]).toEqual([[2], [2], [], [1, 3], [], [1, 3], [], [2], [1], ['((']]);
}); // biome-ignore format: short

test('addChart: only results of the builder are charts; a number in the record id stays a number', async () => {
  const draw = async (chart: string, id: number | string) => {
    const { status, body } = await place.post(`/_charts/drawn/${chart}`, { record_id: id });
    return [status, status === 200 ? body.data.attributes.value : body.errors[0].code];
  };
  expect([await draw('other', 1), await draw('nothing', 1), await draw('own', 2), await draw('own', '2'), await draw('own', 9), await draw('own', 'x'), await draw('owns', 1)]).toEqual([
    ...[[500, 'CHART_FAILED'], [500, 'CHART_FAILED'], [200, [2, [2]]], [200, [2, [2]]]],
    ...[[404, 'RECORD_NOT_FOUND'], [400, expect.any(String)], [404, 'UNKNOWN_CHART']],
  ]);
}); // biome-ignore format: short

test('overrideCreate: must return as many existing records, each with its key; later errors say that it was done', async () => {
  const create = async (answer: () => unknown, attributes: object[] = [{ name: 'a' }]) => {
    give = answer;
    const { json, error } = await place.tool('create', { collectionName: 'created', attributes });
    return json?.ids ?? String(error).split(':')[0];
  };
  expect([
    ...[await create(() => [{ id: 1 }]), await create(async () => [{ id: 3 }, { id: 2 }], [{ name: 'a' }, { name: 'b' }]), await create(() => [{ id: 1 }, { id: 2 }]), await create(() => [])],
    ...[await create(() => [{ id: 1 }], [{ name: 'a' }, { name: 'b' }]), await create(() => [{ id: null }]), await create(() => [{}]), await create(() => [null]), await create(() => [{ id: 'x' }])],
    ...[await create(() => undefined), await create(() => ({ id: 1 })), await create(() => [{ id: 99 }])],
  ]).toEqual([['1'], ['3', '2'], ...Array(10).fill('FAILED_AFTER_WRITE')]);
  give = undefined;
  const several = await place.tool('create', { collectionName: 'given', attributes: [{ id: 8, name: 'x' }, { id: 7, name: 'y', n: 0 }] });
  expect([several.json.ids, await rowsOf('given', ['id', 'name', 'n', 'note'], { filters: { field: 'id', operator: 'GreaterThan', value: 3 } })]).toEqual([
    ['8', '7'],
    [[7, 'y', 0, 'by code'], [8, 'x', null, 'by code']],
  ]);
}); // biome-ignore format: short

test('overrideUpdate, overrideDelete: a changed key is followed; missing records are reported before code runs; a dry run is refused', async () => {
  told.length = 0;
  const tool = async (name: string, collectionName: string, more: object) => {
    const { json, error } = await place.tool(name, { collectionName, ...more });
    return json?.ids ?? json?.count ?? String(error).split(':')[0];
  };
  expect([
    await tool('update', 'keyed', { recordIds: [2], attributes: { id: 20, name: 'twenty' } }),
    await rowsOf('keyed', ['id', 'name']),
    await tool('update', 'short', { recordIds: [1, 99], attributes: { n: 1 } }),
    await tool('delete', 'short', { recordIds: [1, 99] }),
    await tool('delete', 'short', { recordIds: [1], dryRun: true }),
    await tool('update', 'short', { recordIds: [1], attributes: { n: 1 }, dryRun: true }),
    await tool('create', 'created', { attributes: { name: 'a' }, dryRun: true }),
    told.length,
    await tool('delete', 'short', { recordIds: [1, 3] }),
    JSON.stringify(told),
  ]).toEqual([
    ['20'],
    [[1, 'one'], [3, 'six'], [20, 'twenty']],
    ...['RECORD_NOT_FOUND', 'RECORD_NOT_FOUND', 'INVALID_ARGUMENT', 'INVALID_ARGUMENT', 'INVALID_ARGUMENT'],
    0,
    ['1', '3'],
    expect.stringMatching(/"id".*1.*3/),
  ]);
}); // biome-ignore format: short

test('use: a nested plugin, with options and without', async () => {
  expect(inSchema('scoped').segments.map(({ name }: { name: string }) => name)).toEqual(['false', 'none', 'true']);
});

test('addSegment, addHook, replaceSearch: a segment depends on caller and timezone; code gets segment and search as sent', async () => {
  told.length = 0;
  expect([
    (await place.tool('describeCollection', { collectionName: 'extra' })).json.segments,
    await place.ids('/extra?segment=only&timezone=Asia/Tokyo'),
    await place.ids('/extra?segment=only&timezone=UTC'),
    (await place.get('/extra/count?segment=only')).body,
    await place.ids('/extra?segment=only&search=a%20b&searchExtended=1'),
    told.splice(0),
  ]).toEqual([
    ['only'],
    [2],
    [3],
    { count: 1 },
    [3],
    [{ segment: 'only' }, { segment: 'only' }, ['a b', true], { segment: 'only', search: 'a b', searchExtended: true }],
  ]);
});

test('addSegment: code that returns no filter fails the call, also a count', async () => {
  const answers = [];
  for (const value of [undefined, null, 'id', {}, { aggregator: 'And', conditions: [null] }]) {
    give = value;
    answers.push(await status('/ties?segment=void'), await status('/ties/count?segment=void'));
  }
  give = undefined;
  expect(answers).toEqual(Array(10).fill(500));
});

test('addHook, replaceFieldWriting: code reads the records before a write; an error afterwards says that it was written', async () => {
  expect([(await place.save('extra', 1, { note: 'x' })).status, await rowsOf('extra', ['note'])]).toEqual([200, [['x one'], [''], ['x']]]);
  give = 'late';
  const { error } = await place.tool('update', { collectionName: 'extra', recordIds: [2], attributes: { n: 7 } });
  give = undefined;
  expect([error, await rowsOf('extra', ['n'])]).toEqual([expect.stringMatching(/^FAILED_AFTER_WRITE.*Too late\./), [[0], [7], [null]]]);
}); // biome-ignore format: short

test('replaceFieldSorting: every clause applies with its direction, all reversed together, also through a relation', async () => {
  expect([await place.ids('/ties?sort=name'), await place.ids('/ties?sort=-name'), await place.ids('/ties?sort=id')]).toEqual([[2, 1, 4, 3], [3, 4, 1, 2], [1, 2, 3, 4]]);
}); // biome-ignore format: short

test('replaceFieldOperator, emulateFieldFiltering: code replaces an operator of the database; derived operators use it', async () => {
  const found = async (name: string, filter: object) => place.ids(`/${name}?sort=id&${by(filter)}`);
  expect([
    await found('extra', { field: 'note', operator: 'Equal', value: 'nothing' }),
    await found('emulated', { field: 'size', operator: 'Present' }),
    await found('emulated', { field: 'size', operator: 'Blank' }),
    await found('emulated', { field: 'size', operator: 'IContains', value: 'o' }),
    await found('emulated', { field: 'size', operator: 'NotIn', value: ['ONE'] }),
  ]).toEqual([[3], [1, 2, 3], [], [1, 2], [2, 3]]);
});

test('replaceFieldBinaryMode: up to 32 bytes are hex and more are a file, unless code sets a mode', async () => {
  const { short, long, said, other } = await described('bytes');
  const uri = (byte: string) => `data:application/octet-stream;base64,${Buffer.from(byte, 'hex').toString('base64')}`;
  expect([short, long, said, other, await rowsOf('bytes', ['short', 'said', 'other']), (await place.list('/bytes'))[0]]).toEqual([
    ...['Binary?', 'File?', 'File?', 'Binary?'].map((type) => `${type} unsortable`),
    [['01', 'application/octet-stream, 1 bytes', '04']],
    { id: 1, short: '01', long: uri('02'), said: uri('03'), other: '04' },
  ]);
}); // biome-ignore format: short
