// The data routes of collections, as front ends use them: lists, records, counts, relations, files, statistics, writes.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Outside, openOutside } from './outside.ts';

const tables = [
  'CREATE TABLE owners (id INTEGER PRIMARY KEY, name VARCHAR(20))',
  "INSERT INTO owners VALUES (1, 'Ada'), (2, 'Bo')",
  'CREATE TABLE shops (id INTEGER PRIMARY KEY, label VARCHAR(20) NOT NULL, stock INTEGER, owner_id INTEGER REFERENCES owners(id))',
  "INSERT INTO shops VALUES (1, 'Boots', 10, 1), (2, 'Hats', NULL, 1), (3, '=Sum', 30, 2), (4, 'Gone', 5, NULL)",
  'CREATE TABLE shelves (shop_id INTEGER NOT NULL REFERENCES shops(id), place VARCHAR(9) NOT NULL, PRIMARY KEY (shop_id, place))',
  "INSERT INTO shelves VALUES (1, 'a|b'), (1, 'c'), (3, 'c')",
  'CREATE TABLE heaps (id INTEGER PRIMARY KEY, n INTEGER)',
  'INSERT INTO heaps WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 510) SELECT i, -i FROM c',
]; // biome-ignore format: a table

let place: Outside;
beforeAll(async () => {
  place = await openOutside(
    tables,
    (agent) =>
      agent.customizeCollection('shops', (shops) =>
        shops.addSegment('stocked', { field: 'stock', operator: 'Present' }),
      ),
    { shops: { field: 'label', operator: 'NotEqual', value: 'Gone' } },
  );
});
afterAll(() => place?.stop());

const ids = async (query: string, path = '/shops') =>
  ((await place.get(`${path}?fields[shops]=id&${query}`)).body.data as { id: string }[]).map(({ id }) => Number(id));
const filters = (filter: object) => `filters=${encodeURIComponent(JSON.stringify(filter))}`;
const count = async (query: string) => (await place.get(`/shops/count?${query}`)).body;

test('collections: lists are filtered, searched, sorted and paged, within the row scope', async () => {
  expect([
    await ids(''),
    await ids('sort=-label'),
    await ids('sort=stock,-id'),
    await ids('sort=-owner.name,id'),
    await ids('page[size]=2&page[number]=1'),
    await ids('page[size]=2&page[number]=2'),
    await ids('page[size]=2&page[number]=3'),
    await ids('segment=stocked'),
    await ids('search=HAT'),
    await ids(filters({ field: 'stock', operator: 'blank' })),
    await ids(`segment=stocked&${filters({ field: 'owner:name', operator: 'equal', value: 'Ada' })}`),
    await ids(filters({ aggregator: 'or', conditions: [{ field: 'id', operator: 'equal', value: 4 }, { field: 'id', operator: 'equal', value: 2 }] })),
  ]).toEqual([[1, 2, 3], [2, 1, 3], [2, 1, 3], [3, 1, 2], [1, 2], [3], [], [1, 3], [2], [2], [1], [2]]);
  expect([await count(''), await count('segment=stocked'), await count('search=hat')]).toEqual([{ count: 3 }, { count: 2 }, { count: 1 }]);
}); // biome-ignore format: short

test('collections: one record with the requested fields and relations; one outside the row scope is not found', async () => {
  const { body } = await place.get('/shops/1?fields[shops]=label,owner&fields[owner]=name');
  const statuses = [];
  for (const id of ['4', '77', 'x']) statuses.push((await place.get(`/shops/${id}`)).status);
  expect([body, statuses, (await place.get('/shelves/1|a%5C%7Cb')).body.data.attributes]).toMatchObject([
    {
      data: { type: 'shops', id: '1', attributes: { label: 'Boots' }, relationships: { owner: { data: { type: 'owners', id: '1' } } } },
      included: [{ type: 'owners', id: '1', attributes: { name: 'Ada' } }],
    },
    [404, 404, expect.any(Number)],
    { shop_id: 1, place: 'a|b' },
  ]);
  expect('stock' in body.data.attributes).toBe(false);
}); // biome-ignore format: short

test('collections: related records, their count and their CSV file', async () => {
  const shops = '/owners/1/relationships/shops';
  expect([
    await ids('sort=-id', shops),
    await ids('page[size]=1&page[number]=2', shops),
    (await place.get(`${shops}/count`)).body,
    (await place.get('/owners/2/relationships/shops/count')).body,
    (await place.get(`${shops}.csv?fields[shops]=label`)).body,
    (await place.get('/owners/77/relationships/shops')).status,
    (await place.get('/shops/1/relationships/shelves/count')).body,
  ]).toEqual([[2, 1], [2], { count: 2 }, { count: 1 }, expect.stringMatching(/Boots\r?\n.*Hats/), 404, { count: 2 }]);
});

test('collections: a CSV file has the requested columns, and no cell is a formula', async () => {
  const { body, headers } = await place.get('/shops.csv?fields[shops]=label,stock&header=Label,Stock&filename=all&sort=-id');
  expect([body.replaceAll('\r', '').trim().replace(/^\uFEFF/, ''), headers.get('content-type'), headers.get('content-disposition')]).toEqual([
    "Label,Stock\n'=Sum,30\nHats,\nBoots,10",
    expect.stringMatching(/^text\/csv/),
    expect.stringContaining('all.csv'),
  ]);
}); // biome-ignore format: short

test('collections: statistics and capabilities', async () => {
  const stat = async (body: object) => (await place.post('/stats/shops?timezone=UTC', body)).body.data.attributes.value;
  expect([
    await stat({ type: 'Value', aggregator: 'Count' }),
    await stat({ type: 'Value', aggregator: 'Sum', aggregateFieldName: 'stock' }),
    await stat({ type: 'Pie', aggregator: 'Count', groupByFieldName: 'owner:name' }),
  ]).toEqual([{ countCurrent: 3 }, { countCurrent: 40 }, [{ key: 'Ada', value: 2 }, { key: 'Bo', value: 1 }]]);
  const { body } = await place.post('/_internal/capabilities', { collectionNames: ['shops'] });
  const [{ name, fields }] = body.collections;
  const stock = fields.find((field: { name: string }) => field.name === 'stock');
  expect([body.collections.length, name, stock]).toMatchObject([1, 'shops', { type: 'Number', operators: expect.arrayContaining(['equal', 'greater_than']) }]);
}); // biome-ignore format: short

test('collections: records are created, changed and deleted; links are created and removed', async () => {
  const document = (attributes: object) => ({ data: { type: 'shops', attributes } });
  const made = await place.post('/shops', document({ id: 20, label: 'New' }));
  const changed = await place.post('/shops/20', document({ stock: 3 }), 'PUT');
  const linked = await place.post('/owners/2/relationships/shops', { data: [{ type: 'shops', id: '20' }] });
  const between = await ids('', '/owners/2/relationships/shops');
  const unlinked = await place.post('/owners/2/relationships/shops', { data: [{ type: 'shops', id: '20' }] }, 'DELETE');
  const one = await place.get('/shops/20?fields[shops]=label,stock,owner_id');
  const gone = await place.post('/shops/20', undefined, 'DELETE');
  expect([made, changed, linked, unlinked, gone].map(({ status }) => status)).toEqual([200, 200, 204, 204, 204]);
  expect([made.body.data.attributes, changed.body.data.attributes, between, one.body.data.attributes, await ids('')]).toMatchObject([
    { id: 20, label: 'New', stock: null },
    { label: 'New', stock: 3 },
    [3, 20],
    { label: 'New', stock: 3, owner_id: null },
    [1, 2, 3],
  ]);
  const refused = [
    await place.post('/shops', document({ id: 21 })),
    await place.post('/shops', document({ id: 1, label: 'x' })),
    await place.post('/shops/4', document({ stock: 1 }), 'PUT'),
    await place.post('/shops/1', document({ label: 'Gone' }), 'PUT'),
    await place.post('/shops/4', undefined, 'DELETE'),
  ];
  expect(refused.map(({ status }) => status)).toEqual([400, 400, 404, expect.any(Number), 404]);
  expect(refused[3]!.status).toBeGreaterThanOrEqual(400);
}); // biome-ignore format: short

test('collections: unknown names are refused by name', async () => {
  const told = [];
  for (const path of ['/shop', '/shops?sort=labl', '/shops?fields[shops]=labl', '/shops?segment=stock', '/shops?page[size]=0', `/shops?${filters({ field: 'labl', operator: 'present' })}`, '/shops?timezone=Mars']) {
    const { status, body } = await place.get(path);
    told.push([status, body.errors[0].detail]);
  }
  expect(told).toEqual([
    [404, expect.stringContaining('shops')],
    ...['label', 'label', 'stocked', 'size', 'label', 'timezone'].map((name) => [400, expect.stringContaining(name)]),
  ]);
}); // biome-ignore format: short

test('collections: each list parameter once; each notation of false; pages from 1 up to the limit; empty parameters are ignored', async () => {
  const status = async (query: string) => (await place.get(`/shops?${query}`)).status;
  const refused = ['page[size]=1&page[size]=2', 'page[size]=0', 'page[number]=0', 'page[size]=-1', 'page[size]=1.5', 'page[size]=x', 'page[size]=1001', 'page[number]=1e2', 'sort=,id', 'sort=id,', 'filters={', 'filters=[]', 'nothing=1', 'segmentQuery=SELECT 1', 'fields[shops]=', 'searchextended=1'];
  const statuses: Record<string, number> = {};
  for (const query of refused) statuses[query] = await status(query);
  expect(statuses).toEqual({ ...Object.fromEntries(refused.map((query) => [query, 400])), 'fields[shops]=': 200 });
  const taken = [];
  for (const query of ['page[size]=1000', 'page[size]=', 'sort=', 'filters=', 'search=', 'segment=', 'timezone=', 'segmentQuery=']) taken.push((await ids(query)).length);
  expect(taken).toEqual(Array(8).fill(3));
  const further = [];
  for (const no of ['0', 'false', 'FALSE', '', '1', 'true']) further.push(await ids(`search=ada&searchExtended=${no}`));
  expect(further).toEqual([...Array(4).fill([]), [1, 2], [1, 2]]);
  expect([await ids('page[size]=1&page[number]=3'), await ids('page[size]=1&page[number]=4'), await ids('sort= -id '), await ids('sort=-stock, id')]).toEqual([[3], [], [3, 2, 1], [3, 1, 2]]);
}); // biome-ignore format: short

test('collections: invalid methods, bodies and ids are refused, each with its status, and nothing is written', async () => {
  const document = (attributes: unknown, type = 'shops') => ({ data: { type, attributes } });
  const asked = [
    await place.post('/shops', document({ id: 30, label: 'x', colour: 'red' })),
    await place.post('/shops', document({ id: 'x', label: 'x' })),
    await place.post('/shops', document({ id: 30, label: null })),
    await place.post('/shops', {}),
    await place.post('/shops', []),
    await place.post('/shops/1', document({ id: 2 }), 'PUT'),
    await place.post('/shops/x', document({ stock: 1 }), 'PUT'),
    await place.post('/shops/77', document({ stock: 1 }), 'PUT'),
    await place.post('/shops/77', undefined, 'DELETE'),
    await place.post('/shops/1', undefined, 'POST'),
    await place.post('/nowhere', document({}, 'nowhere')),
    await place.post('/owners/1/relationships/nowhere', { data: [] }),
    await place.post('/owners/1/relationships/shops', { data: [{ type: 'shops', id: '3' }, { type: 'owners', id: '2' }] }),
    await place.post('/owners/1/relationships/shops', { data: [{ type: 'shops', id: '1' }, { type: 'owners', id: '2' }] }, 'DELETE'),
    await place.get('/shops/1/nowhere'),
    await place.get('/shops/1/relationships/owners'),
  ];
  expect(asked.map(({ status }) => status >= 400 && status < 500)).toEqual(Array(16).fill(true));
  expect(asked.map(({ body }) => typeof body.errors[0].detail)).toEqual(Array(16).fill('string'));
  expect([asked[7]!.status, asked[8]!.status, asked[10]!.status, asked[14]!.status]).toEqual([404, 404, 404, 404]);
  expect(await ids('sort=id', '/owners/1/relationships/shops')).toEqual([1, 2]);
  expect([await ids(''), (await place.get('/shops/1')).body.data.attributes.stock]).toEqual([[1, 2, 3], 10]);
}); // biome-ignore format: short

test('collections: deletes by ids, or all but some, at most 500, atomically; PATCH equals PUT; CSV numbers are numbers; the file name is kept', async () => {
  const remove = async (attributes: object) => {
    const { status, body } = await place.post('/heaps', { data: { attributes } }, 'DELETE');
    return status === 204 ? status : [status, body.errors[0].detail];
  };
  const left = async () => (await place.get('/heaps/count')).body.count;
  const some = (operator: string, value: number) => ({ filters: JSON.stringify({ field: 'id', operator, value }) });
  const some2 = { all_records: true, all_records_subset_query: some('less_than', 4), all_records_ids_excluded: ['2'] };
  expect([
    [await remove({ all_records: true }), await remove({ ids: ['5', '999'] }), await remove({ ids: [] }), await left()],
    [await remove({ ids: ['5', 6, '5'] }), await left(), await remove(some2), await left(), await place.ids('/heaps?sort=id&page[size]=3')],
    [await remove({ all_records: true, all_records_subset_query: some('greater_than', 10) }), await left()],
  ]).toEqual([
    [[400, expect.stringContaining('it selects 510 records')], [404, expect.stringContaining('999')], expect.anything(), 510],
    [204, 508, 204, 506, [2, 4, 7]],
    [204, 6],
  ]);
  const patched = await place.post('/heaps/2', { data: { type: 'heaps', id: '2', attributes: { n: 5 } } }, 'PATCH');
  const file = await place.get(`/heaps.csv?fields[heaps]=n&filename=A.CSV&${filters({ field: 'id', operator: 'equal', value: 7 })}`);
  expect([patched.status, patched.body.data.attributes, file.body.trim().split(/\r?\n/).at(-1), file.headers.get('content-disposition')]).toEqual([
    ...[200, { id: 2, n: 5 }, '-7'],
    expect.stringMatching(/A\.CSV(?!\.csv)/),
  ]);
}); // biome-ignore format: short

test('collections: related records are computed in the timezone of the request, else in that of the user', async () => {
  const zoned = await openOutside(tables, (agent) => {
    for (const name of ['owners', 'shops'])
      agent.customizeCollection(name, (each) =>
        each.addField('zone', {
          columnType: 'String',
          dependencies: ['id'],
          getValues: (records, { timezone }) => records.map(() => timezone),
        }),
      );
  });
  onTestFinished(() => zoned.stop());
  const one = async (query = '') =>
    (await zoned.get(`/shops/1/relationships/owner?fields[owners]=zone${query}`)).body.data.attributes.zone;
  const many = async (query = '') =>
    (await zoned.list(`/owners/1/relationships/shops?fields[shops]=zone${query}`)).map(({ zone }) => zone);
  expect([await one(), await one('&timezone=Asia/Tokyo'), await many(), await many('&timezone=Asia/Tokyo')]).toEqual([
    'Europe/Paris',
    'Asia/Tokyo',
    ['Europe/Paris', 'Europe/Paris'],
    ['Asia/Tokyo', 'Asia/Tokyo'],
  ]);
});
