// The effects of the customizer operations (behaviour 4.2) for callers over HTTP and MCP, on a real database.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Agent, CollectionCustomizer } from '../../src/index.ts';
import { type Outside, openOutside } from './outside.ts';

const copies = ['found', 'unfound', 'sorted', 'filtered', 'ruled', 'taken', 'marked', 'plain'];
const tables = [
  'CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, town VARCHAR(20), secret VARCHAR(20))',
  "INSERT INTO people VALUES (1, 'Ada', 'Paris', 'x'), (2, 'Bo', 'Rome', 'y'), (3, 'Cy', NULL, 'z')",
  'CREATE TABLE orders (id INTEGER PRIMARY KEY, total REAL NOT NULL, person_id INTEGER REFERENCES people(id), blob BLOB, code BLOB)',
  "INSERT INTO orders VALUES (1, 10, 1, x'0102', x'0A0B'), (2, 20, 2, NULL, NULL), (3, 20, 2, NULL, NULL), (4, 30, NULL, NULL, NULL)",
  'CREATE TABLE likes (person_id INTEGER NOT NULL, order_id INTEGER NOT NULL, PRIMARY KEY (person_id, order_id))',
  'INSERT INTO likes VALUES (1, 2), (1, 3), (3, 2)',
  'CREATE TABLE badges (id INTEGER PRIMARY KEY, owner INTEGER UNIQUE, label VARCHAR(20))',
  "INSERT INTO badges VALUES (7, 2, 'gold'), (8, NULL, 'none')",
  ...copies.flatMap((name) => [
    `CREATE TABLE ${name} (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, n INTEGER)`,
    `INSERT INTO ${name} VALUES (1, 'One', 3), (2, 'two', 1), (3, 'Three', 2), (4, 'four', NULL)`,
  ]),
];

const seen: unknown[] = [];
const size = {
  columnType: 'String',
  dependencies: ['n'],
  getValues: (records: readonly Readonly<Record<string, unknown>>[]) =>
    records.map(({ n }) => (n === null ? null : Number(n) > 1 ? 'large' : 'small')),
} as const;
const customize = (agent: Agent) => {
  const on = (name: string, say: (each: CollectionCustomizer) => unknown) =>
    agent.customizeCollection(name, (each) => void say(each));
  on('people', (people) =>
    people
      .addOneToManyRelation('bought', 'orders', { originKey: 'person_id' })
      .addManyToManyRelation('liked', 'orders', 'likes', { originKey: 'person_id', foreignKey: 'order_id' })
      .addOneToOneRelation('badge', 'badges', { originKey: 'owner' })
      .addExternalRelation('marks', {
        schema: { of: 'Number', what: 'String' },
        async listRecords({ id }) {
          await new Promise((resolve) => setTimeout(resolve, 20 - 5 * Number(id)));
          return id === 3 ? [] : [{ of: id, what: 'a' }, { of: id }];
        },
      })
      .removeField('secret')
      .addField('greeting', {
        columnType: 'String',
        dependencies: ['name', 'secret'],
        getValues: (records) => records.map(({ name, secret }) => `${name} ${secret}`),
      })
      .addChart('worth', async ({ recordId, collection }, chart) =>
        chart.value(await collection('orders').count({ conditionTree: { field: 'person_id', operator: 'Equal', value: recordId } })),
      ),
  );
  on('badges', (badges) => badges.addManyToOneRelation('holder', 'people', { foreignKey: 'owner' }));
  on('orders', (orders) =>
    orders
      .renameField('total', 'amount')
      .renameField('person', 'buyer')
      .importField('town', { path: 'person:town', readonly: true })
      .replaceFieldBinaryMode('blob', 'datauri')
      .replaceFieldBinaryMode('code', 'hex')
      .addSegment('dear', { field: 'total', operator: 'GreaterThan', value: 15 })
      .addSegment('tree', { aggregator: 'Or', conditions: [{ field: 'total', operator: 'Equal', value: 10 }, { field: 'id', operator: 'Equal', value: 4 }] })
      .addSegment('mine', async ({ caller }) => ({ field: 'person_id', operator: 'Equal', value: caller.id }))
      .addAction('First thing', { scope: 'Single', execute: async ({ getRecordId }, result) => result.success(`first ${await getRecordId()}`) })
      .addAction('Second', { scope: 'Global', execute: (_, result) => result.success('second') }),
  );
  on('found', (each) =>
    each.replaceSearch((search, extended) => {
      seen.push([search, extended]);
      return { field: 'name', operator: 'Equal', value: search };
    }),
  );
  on('unfound', (each) => each.disableSearch().disableCount().disableFieldSorting('n'));
  on('sorted', (each) =>
    each
      .addField('size', size)
      .emulateFieldSorting('size')
      .replaceFieldSorting('name', [{ field: 'n', ascending: false }, { field: 'id' }]),
  );
  on('filtered', (each) =>
    each
      .addField('size', size)
      .addField('kind', size)
      .addField('sort', size)
      .emulateFieldFiltering('size')
      .emulateFieldOperator('kind', 'Equal')
      .replaceFieldOperator('sort', 'In', (values) => {
        seen.push(values);
        return { field: 'n', operator: (values as readonly unknown[]).includes('large') ? 'GreaterThan' : 'LessThan', value: 2 };
      }),
  );
  on('ruled', (each) =>
    each
      .addFieldValidation('name', 'LongerThan', 2)
      .addFieldValidation('name', 'ShorterThan', 5)
      .addFieldValidation('n', 'LessThan', 10)
      .replaceFieldWriting('n', (value) => ({ n: value === null ? null : Number(value) * 2 }))
      .addHook('Before', 'Create', ({ data }) => void seen.push(['before', data.length]))
      .addHook('After', 'Create', ({ records }) => void seen.push(['after', records.length]))
      .addHook('Before', 'Delete', () => void seen.push(['gone'])),
  );
  on('taken', (each) =>
    each
      .overrideCreate(async ({ data }) => {
        seen.push(['create', data]);
        return data.map((_, at) => ({ id: [4, 2][at] }));
      })
      .overrideUpdate(({ filter, patch }) => void seen.push(['update', filter, patch]))
      .overrideDelete(({ filter }) => void seen.push(['delete', filter])),
  );
  const mark = (each: CollectionCustomizer, options?: { readonly at: number }) =>
    void each.addSegment(options ? `at ${options.at}` : 'at nothing', { field: 'id', operator: 'GreaterThan', value: options?.at ?? 3 });
  on('marked', (each) => each.use(mark).use(mark, { at: 1 }).use(mark, { at: 2 }).setFieldNullable('name').addHook('Before', 'Create', ({ data }) => {
    for (const one of data) one.name ??= 'by a hook';
  }));
}; // biome-ignore format: a table

let place: Outside;
beforeAll(async () => {
  place = await openOutside(tables, customize);
});
afterAll(() => place?.stop());

const fieldOf = (collection: string, name: string) =>
  place.schema.collections
    .find((each: { name: string }) => each.name === collection)
    .fields.find(({ field }: { field: string }) => field === name);
const ids = async (path: string) =>
  (await place.get(path)).body.data.map(({ id }: { readonly id: string }) => Number(id));
const status = async (path: string) => (await place.get(path)).status;
// biome-ignore lint/suspicious/noExplicitAny: JSON that the tests compare.
type Json = any;
const ask = async (name: string, given: Record<string, unknown>): Promise<{ json?: Json; error?: unknown }> =>
  (await place.tool(name, given)) as Json;
/** Rows over MCP, or the error code. */
const rows = async (collectionName: string, asked: object) => {
  const answer = await ask('list', { collectionName, sort: 'id', ...asked });
  return answer.json?.rows ?? String(answer.error).split(':')[0];
};
const by = (filter: object) => `filters=${encodeURIComponent(JSON.stringify(filter))}`;
const save = (type: string, attributes: object, id?: number) =>
  place.post(
    id ? `/${type}/${id}` : `/${type}`,
    { data: { type, attributes, ...(id && { id: `${id}` }) } },
    id ? 'PUT' : 'POST',
  );

test('addAction: each has its position and name, only in this collection', async () => {
  const run = async (path: string, given = ['3']) => {
    const { status, body } = await place.act(`/_actions/${path}`, { ids: given });
    return [status, body.success];
  };
  const tool = async (collectionName: string, actionName: string, recordIds?: string[]) => {
    const { json, error } = await ask('executeAction', {
      collectionName,
      actionName,
      ...(recordIds && { recordIds }),
    });
    return json?.message ?? String(error).split(':')[0];
  };
  expect([
    await run('orders/0/first-thing'),
    await run('orders/1/second', []),
    (await run('orders/1/first-thing'))[0],
    (await run('people/0/first-thing'))[0],
    await tool('orders', 'First thing', ['2']),
    await tool('orders', 'Second'),
    await tool('people', 'Second'),
  ]).toEqual([[200, 'first 3'], [200, 'second'], 404, 404, 'first 2', 'second', 'UNKNOWN_ACTION']);
});

test('addField, removeField: an added field is in each list, in relations and CSV; a removed one is only visible to code', async () => {
  const [first] = await place.list('/people?sort=id');
  const csv = await place.get('/people.csv?fields[people]=id,greeting&header=%5B%22id%22%2C%22greeting%22%5D&sort=id');
  expect([
    [first!.greeting, Object.keys(first!).includes('secret')],
    await rows('orders', { fields: ['buyer:greeting'] }),
    String(csv.body).includes('Ada x'),
    await rows('people', { fields: ['secret'] }),
    await rows('orders', { fields: ['buyer:secret'] }),
    await rows('people', { filters: { field: 'secret', operator: 'Equal', value: 'x' } }),
    await status('/people?sort=secret'),
    await ids('/people?search=z'),
    (await save('people', { secret: 'new' }, 1)).status,
    place.schema.collections
      .find(({ name }: { name: string }) => name === 'people')
      .fields.map(({ field }: { field: string }) => field)
      .includes('secret'),
  ]).toEqual([
    ['Ada x', false],
    [['Ada x'], ['Bo y'], ['Bo y'], [null]],
    true,
    ...['UNKNOWN_FIELD', 'UNKNOWN_FIELD', 'UNKNOWN_FIELD', 400],
    [],
    400,
    false,
  ]);
});

test('renameField, importField: one name for reading, filters, sorts and writes, also for relations; the old one is unknown', async () => {
  const written = await save('orders', { amount: 11 }, 1);
  const refused = [await save('orders', { total: 12 }, 1), await save('orders', { town: 'Oslo' }, 1)];
  expect([
    [written.status, refused.map((one) => one.status)],
    await rows('orders', { fields: ['id', 'amount', 'buyer:name', 'town'], filters: { field: 'amount', operator: 'LessThan', value: 30 } }),
    await ids('/orders?sort=-amount,id'),
    await ids('/orders?sort=-town,id'),
    await ids(`/orders?${by({ field: 'town', operator: 'Equal', value: 'Rome' })}`),
    await ids(`/orders?${by({ field: 'town', operator: 'Missing' })}`),
    [await status('/orders?sort=total'), await status(`/orders?${by({ field: 'total', operator: 'Present' })}`), await status(`/orders?${by({ field: 'person:name', operator: 'Present' })}`)],
    (await place.list('/people?sort=id')).map(({ town }) => town),
  ]).toEqual([
    [200, [400, 400]],
    [[1, 11, 'Ada', 'Paris'], [2, 20, 'Bo', 'Rome'], [3, 20, 'Bo', 'Rome']],
    [4, 2, 3, 1],
    expect.arrayContaining([1, 2, 3, 4]),
    [2, 3],
    [4],
    [400, 400, 400],
    ['Paris', 'Rome', null],
  ]); // biome-ignore format: a table
  await save('orders', { amount: 10 }, 1);
});

test('addFieldValidation: every rule of a field applies, for creates and updates, HTTP and MCP; null breaks only Present', async () => {
  const tries = [];
  for (const given of [{ name: 'ab' }, { name: 'abcde' }, { name: 'abc', n: 10 }])
    tries.push((await save('ruled', { id: 9, ...given })).status, (await save('ruled', given, 1)).status);
  const { error } = await ask('update', {
    collectionName: 'ruled',
    recordIds: ['1'],
    attributes: { name: 'ab' },
  });
  const [one] = await place.list('/ruled?sort=id');
  const fine = await save('ruled', { name: 'abc', n: null }, 1);
  expect([tries, String(error), one, fine.status, (await place.list('/ruled?sort=id'))[0]]).toEqual([
    Array(6).fill(400),
    expect.stringContaining('LongerThan'),
    { id: 1, name: 'One', n: 3 },
    200,
    { id: 1, name: 'abc', n: null },
  ]);
});

test('replaceFieldWriting, addHook, setFieldNullable: the values of code are written, over HTTP and MCP; hooks run before and after, only for their type', async () => {
  seen.length = 0;
  const one = await save('ruled', { id: 8, name: 'four', n: 4 });
  await ask('create', {
    collectionName: 'ruled',
    attributes: [
      { id: 9, name: 'five', n: 3 },
      { id: 10, name: 'six', n: null },
    ],
  });
  await ask('update', { collectionName: 'ruled', recordIds: ['2'], attributes: { n: 2 } });
  const hooks = [...seen];
  const bare = await save('marked', { id: 7 });
  expect([
    one.status,
    (await place.list(`/ruled?sort=id&${by({ field: 'id', operator: 'In', value: [2, 8, 9, 10] })}`)).map(({ n }) => n),
    hooks,
    [bare.status, bare.body.data?.attributes.name, (await save('plain', { id: 7 })).status],
  ]).toEqual([
    expect.any(Number),
    [4, 8, 6, null],
    [
      ['before', 1],
      ['after', 1],
      ['before', 2],
      ['after', 2],
    ],
    [expect.any(Number), 'by a hook', 400],
  ]);
});

test('replaceFieldBinaryMode: hex or a data URI, as set for the column, for reading and writing', async () => {
  const [one] = await place.list('/orders?sort=id');
  const uri = `data:application/octet-stream;base64,${Buffer.from([7, 8, 9]).toString('base64')}`;
  const written = await save('orders', { blob: uri, code: 'ff00' }, 2);
  const [, two] = await place.list('/orders?sort=id');
  expect([
    one!.blob,
    one!.code,
    written.status,
    two!.blob,
    two!.code,
    (await save('orders', { code: 'xyz' }, 2)).status,
    [fieldOf('orders', 'blob').binaryMode, fieldOf('orders', 'code').binaryMode],
  ]).toEqual([
    `data:application/octet-stream;base64,${Buffer.from([1, 2]).toString('base64')}`,
    '0a0b',
    200,
    uri,
    'ff00',
    400,
    ['datauri', 'hex'],
  ]);
});

test('addManyToOneRelation, addOneToManyRelation, addOneToOneRelation, addManyToManyRelation, addExternalRelation: the records of each record', async () => {
  const related = async (id: number, relation: string) => {
    const { status, body } = await place.get(`/people/${id}/relationships/${relation}`);
    if (status !== 200) return status;
    const key = (one: { readonly id: string }) => Number(one.id);
    return Array.isArray(body.data) ? body.data.map(key) : body.data && key(body.data);
  };
  const all = async (relation: string) => [
    await related(1, relation),
    await related(2, relation),
    await related(3, relation),
  ];
  const some = (filter: object) => ids(`/people?sort=id&${by(filter)}`);
  expect([
    await all('bought'),
    await all('liked'),
    await all('badge'),
    await rows('badges', { fields: ['holder:name'] }),
    await rows('people', { fields: ['marks'] }),
    await some({ field: 'bought:amount', operator: 'GreaterThan', value: 15 }),
    await some({ none: 'liked' }),
    await some({ some: 'liked', where: { field: 'id', operator: 'Equal', value: 2 } }),
    await some({ field: 'badge:label', operator: 'Equal', value: 'gold' }),
  ]).toEqual([
    [[1], [2, 3], []],
    [[2, 3], [], [2]],
    [null, 7, null],
    [['Bo'], [null]],
    [
      [
        [
          { of: 1, what: 'a' },
          { of: 1, what: null },
        ],
      ],
      [
        [
          { of: 2, what: 'a' },
          { of: 2, what: null },
        ],
      ],
      [[]],
    ],
    [2],
    [2],
    [1, 3],
    [2],
  ]);
});

test('addSegment: a leaf, a tree or code for the caller, with filters, counts and over MCP; only in this collection', async () => {
  const count = async (query: string) => (await place.get(`/orders/count?${query}`)).body.count;
  expect([
    [
      await ids('/orders?segment=dear&sort=id'),
      await ids('/orders?segment=tree&sort=id'),
      await ids('/orders?segment=mine'),
    ],
    [
      await count('segment=dear'),
      await count(`segment=dear&${by({ field: 'id', operator: 'Equal', value: 4 })}`),
      await count(''),
    ],
    await rows('orders', { segment: 'tree', fields: ['id'] }),
    await rows('people', { segment: 'dear' }),
    await status('/orders?segment=Dear'),
  ]).toEqual([[[2, 3, 4], [1, 4], [1]], [3, 1, 4], [[1], [4]], 'UNKNOWN_SEGMENT', 400]);
});

test('replaceSearch, disableSearch: code gets the text as typed, for lists and counts; a collection without search refuses it', async () => {
  seen.length = 0;
  expect([
    await ids('/found?search=One'),
    await ids('/found?search=one&searchExtended=1'),
    (await place.get('/found/count?search=One')).body.count,
    await rows('found', { search: 'Three', fields: ['id'] }),
    [...seen],
    await status('/unfound?search=One'),
    await rows('unfound', { search: 'One' }),
    await status('/unfound'),
    await ids('/plain?search=ONE'),
  ]).toEqual([
    [1],
    [],
    1,
    [[3]],
    [
      ['One', false],
      ['one', true],
      ['One', false],
      ['Three', false],
    ],
    400,
    'INVALID_ARGUMENT',
    200,
    [1],
  ]);
});

test('emulateFieldSorting, replaceFieldSorting, disableFieldSorting: both directions, page by page; only the disabled field is refused', async () => {
  const page = (sort: string, number: number) => ids(`/sorted?sort=${sort}&page[size]=2&page[number]=${number}`);
  expect([
    [await ids('/sorted?sort=size,id'), await ids('/sorted?sort=-size,id')],
    [await page('size,-id', 1), await page('size,-id', 2)],
    [await ids('/sorted?sort=name'), await ids('/sorted?sort=-name')],
    [await status('/unfound?sort=n'), await status('/unfound?sort=-id'), await status('/plain?sort=n')],
    [
      fieldOf('unfound', 'n').isSortable,
      fieldOf('unfound', 'id').isSortable,
      fieldOf('sorted', 'size').isSortable,
      fieldOf('filtered', 'size').isSortable,
    ],
    await rows('unfound', { sort: [{ field: 'n' }] }),
  ]).toEqual([
    [
      [4, 1, 3, 2],
      [2, 1, 3, 4],
    ],
    [
      [4, 3],
      [1, 2],
    ],
    [
      [1, 3, 2, 4],
      [4, 2, 3, 1],
    ],
    [400, 200, 200],
    [false, true, true, false],
    'FIELD_NOT_SORTABLE',
  ]);
});

test('emulateFieldFiltering, emulateFieldOperator, replaceFieldOperator: every operator, one operator, or one replaced by code', async () => {
  const found = async (field: string, operator: string, value?: unknown) => {
    const answer = await place.get(`/filtered?sort=id&${by({ field, operator, value })}`);
    return answer.status === 200 ? answer.body.data.map(({ id }: { id: string }) => Number(id)) : answer.status;
  };
  seen.length = 0;
  expect([
    await found('size', 'Equal', 'large'),
    await found('size', 'Missing'),
    await found('size', 'NotEqual', 'large'),
    await found('size', 'IContains', 'MAL'),
    await found('kind', 'Equal', 'small'),
    await found('kind', 'Contains', 'small'),
    await found('sort', 'In', ['large', 'x']),
    await found('sort', 'In', ['small']),
    await found('sort', 'Contains', 'a'),
    seen.slice(0, 1),
    (await place.get(`/filtered/count?${by({ field: 'size', operator: 'Equal', value: 'large' })}`)).body.count,
  ]).toEqual([[1, 3], [4], [2, 4], [2], [2], 400, [1], [2], 400, [['large', 'x']], 2]);
});

test('addChart: about the requested record, over HTTP and MCP; a missing record is not found', async () => {
  const draw = async (id: number) => {
    const { status, body } = await place.post('/_charts/people/worth', { record_id: id });
    return [status, body.data?.attributes.value];
  };
  const tool = async (recordId: number) =>
    (await ask('getChart', { collectionName: 'people', chartName: 'worth', recordId })).json?.value;
  expect([await draw(1), await draw(2), (await draw(99))[0], await tool(2), await tool(3)]).toEqual([
    [200, { countCurrent: 1 }],
    [200, { countCurrent: 2 }],
    404,
    2,
    0,
  ]);
});

test('overrideCreate, overrideUpdate, overrideDelete: code is called once, with the data, the patch and the filter, and nothing else is written', async () => {
  seen.length = 0;
  const made = await ask('create', {
    collectionName: 'taken',
    attributes: [{ name: 'a' }, { name: 'b', n: 5 }],
  });
  await ask('update', { collectionName: 'taken', recordIds: ['2', '3'], attributes: { n: 9 } });
  await place.post('/taken/3', undefined, 'DELETE').catch(() => undefined);
  const of = (filter: object) => JSON.stringify(filter);
  const [create, update, gone] = seen as [string, Json, Json][];
  expect([
    made.json?.ids,
    create,
    [update![0], /2.*3/.test(of(update![1])), update![2]],
    [gone?.[0], of(gone?.[1] ?? {}).includes('3'), of(gone?.[1] ?? {}).includes('2')],
    seen.length,
    await place.list('/taken?sort=id'),
  ]).toEqual([
    ['4', '2'],
    ['create', [{ name: 'a' }, { name: 'b', n: 5 }]],
    ['update', true, { n: 9 }],
    ['delete', true, false],
    3,
    [
      { id: 1, name: 'One', n: 3 },
      { id: 2, name: 'two', n: 1 },
      { id: 3, name: 'Three', n: 2 },
      { id: 4, name: 'four', n: null },
    ],
  ]);
});

test('disableCount, use: no count of that collection, but its lists; plugins with options, without, and twice', async () => {
  const { body } = await place.get('/unfound/count');
  const counted = await ask('list', {
    collectionName: 'plain',
    enableCount: true,
    pagination: { size: 1 },
  });
  const uncounted = await ask('list', { collectionName: 'unfound', enableCount: true });
  expect([
    [body.count, (await ids('/unfound')).length, counted.json.totalCount],
    String(uncounted.error ?? ''),
    [
      await ids('/marked?segment=at%20nothing&sort=id'),
      await ids('/marked?segment=at%201&sort=id'),
      await ids('/marked?segment=at%202&sort=id'),
    ].map(([first]) => first),
  ]).toEqual([[undefined, 4, expect.any(Number)], expect.stringContaining('NOT_COUNTABLE'), [4, 2, 3]]);
});
