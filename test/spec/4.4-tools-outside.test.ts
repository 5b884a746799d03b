// The ten tools as an assistant calls them: createAgent over a real database with a token of a
// real sign-in. Covers empty and multiple values, order, defaults and composite keys of each tool.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Outside, openOutside } from './outside.ts';

const tables = [
  'CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, city VARCHAR(20))',
  "INSERT INTO customers VALUES (1, 'Ada', 'Paris'), (2, 'Bo', NULL), (3, 'Cy', 'Rome'), (9, 'Zed', 'Oslo')",
  "CREATE TABLE orders (id INTEGER PRIMARY KEY, total INTEGER, state VARCHAR(9) NOT NULL DEFAULT 'new', customer_id INTEGER REFERENCES customers(id))",
  "INSERT INTO orders (id, total, customer_id) VALUES (1, 10, 1), (2, NULL, 1), (3, 30, 2), (4, 5, NULL), (5, 30, 1), (6, 99, 9)",
  'CREATE TABLE lines (order_id INTEGER NOT NULL REFERENCES orders(id), line INTEGER NOT NULL, article VARCHAR(20), PRIMARY KEY (order_id, line))',
  "INSERT INTO lines VALUES (1, 2, 'lace'), (1, 1, 'sole'), (3, 1, 'felt')",
  'CREATE TABLE tags (id INTEGER PRIMARY KEY, word VARCHAR(9))',
  "INSERT INTO tags VALUES (1, 'rush'), (2, 'gift'), (3, 'late')",
  'CREATE TABLE taggings (order_id INTEGER NOT NULL REFERENCES orders(id), tag_id INTEGER NOT NULL REFERENCES tags(id), PRIMARY KEY (order_id, tag_id))',
  'INSERT INTO taggings VALUES (1, 2), (3, 1)',
]; // biome-ignore format: a table

let place: Outside;
beforeAll(async () => {
  place = await openOutside(
    tables,
    (agent) =>
      agent.customizeCollection('orders', (orders) =>
        orders
          .addSegment('large', { field: 'total', operator: 'GreaterThan', value: 9 })
          .addAction('Close', { scope: 'Single', form: [{ label: 'Why', type: 'String', isRequired: true }], execute: () => undefined }),
      ),
    // The row scope of the team excludes Oslo.
    { customers: { field: 'city', operator: 'NotEqual', value: 'Oslo' } },
  );
}); // biome-ignore format: short
afterAll(() => place?.stop());

// biome-ignore lint/suspicious/noExplicitAny: JSON that the tests compare.
async function ask(name: string, collectionName: string | undefined, given: object = {}): Promise<any> {
  const answer = await place.tool(name, { ...(collectionName && { collectionName }), ...given });
  return 'json' in answer ? answer.json : 'error' in answer ? answer.error : answer;
}
const rows = async (collection: string, given: object) => (await ask('list', collection, given)).rows;
const ids = async (given: object) => (await rows('orders', { fields: ['id'], ...given })).flat();

test('describeCollection: the index, a collection with its key, fields, relations and actions, and near names', async () => {
  const { collections } = await ask('describeCollection', undefined);
  const orders = await ask('describeCollection', 'orders');
  const lines = await ask('describeCollection', 'lines');
  expect([Object.keys(collections).sort(), orders, [lines.key, lines.ids, Object.keys(lines.fields)]]).toMatchObject([
    ['customers', 'lines', 'orders', 'taggings', 'tags'],
    {
      ...{ name: 'orders', key: 'id', segments: ['large'], actions: { Close: 'single form' } },
      fields: { id: /^Number/, total: /^Number\?/, state: /^String/, customer_id: /^Number\?/ },
      relations: { customer: 'one customers', lines: 'many lines', taggings: 'many taggings', tags: 'many tags' },
    },
    [['order_id', 'line'], 'order_id|line', ['order_id', 'line', 'article']],
  ].map((each) => asMatchers(each)));
  expect(await ask('describeCollection', 'ordres')).toMatch(/^UNKNOWN_COLLECTION: .*orders/);
}); // biome-ignore format: short

/** Replaces the patterns of a table with matchers. */
function asMatchers(value: unknown): unknown {
  if (value instanceof RegExp) return expect.stringMatching(value);
  if (Array.isArray(value)) return value.map(asMatchers);
  if (value?.constructor !== Object) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, asMatchers(each)]));
}

test('list: all records in the order of the key, with the requested columns', async () => {
  expect(await ask('list', 'orders', { fields: ['total', 'customer:name', 'id'] })).toEqual({
    columns: ['total', 'customer:name', 'id'],
    rows: [[10, 'Ada', 1], [null, 'Ada', 2], [30, 'Bo', 3], [5, null, 4], [30, 'Ada', 5], [99, null, 6]],
    hasMore: false,
  });
  expect(await rows('lines', { fields: ['order_id', 'line'] })).toEqual([[1, 1], [1, 2], [3, 1]]);
  expect(await ask('list', 'orders', { filters: { field: 'total', operator: 'GreaterThan', value: 100 } }))
    .toMatchObject({ rows: [], hasMore: false });
}); // biome-ignore format: short

test('list: filters, a segment and a search are combined with And; sorts apply in order', async () => {
  const thirty = { field: 'total', operator: 'Equal', value: 30 };
  const ofAda = { field: 'customer:name', operator: 'Equal', value: 'Ada' };
  expect([
    await ids({ filters: { aggregator: 'Or', conditions: [thirty, ofAda] } }),
    await ids({ filters: { aggregator: 'And', conditions: [thirty, ofAda] } }),
    await ids({ segment: 'large', filters: ofAda }),
    await ids({ segment: 'large', sort: [{ field: 'total', ascending: false }, { field: 'id', ascending: false }] }),
    await ids({ filters: { field: 'total', operator: 'Missing' } }),
    await rows('customers', { fields: ['name'], search: 'o' }),
    await rows('customers', { fields: ['name'], search: 'ROME' }),
  ]).toEqual([[1, 2, 3, 5], [5], [1, 5], [6, 5, 3, 1], [2], [['Bo'], ['Cy']], [['Cy']]]);
}); // biome-ignore format: short

test('list: pages by number and by cursor, with the count of all pages', async () => {
  const page = (number: number) => ask('list', 'orders', { fields: ['id'], pagination: { size: 4, number }, enableCount: true });
  const [first, second, third] = [await page(1), await page(2), await page(3)];
  expect([first, second, third].map(({ rows, hasMore, totalCount }) => [rows.flat(), hasMore, totalCount])).toEqual([
    [[1, 2, 3, 4], true, 6],
    [[5, 6], false, 6],
    [[], false, 6],
  ]);
  const next = await ask('list', 'orders', { fields: ['id'], pagination: { size: 4 }, cursor: first.nextCursor });
  expect([next.rows.flat(), next.hasMore, next.nextCursor, second.nextCursor]).toEqual([[5, 6], false, undefined, undefined]);
}); // biome-ignore format: short

test('list: the row scope of the caller, also through relations', async () => {
  expect([await rows('customers', { fields: ['id'] }), (await ask('list', 'customers', { enableCount: true })).totalCount]).toEqual([[[1], [2], [3]], 3]);
  expect(await ids({ filters: { field: 'customer:name', operator: 'Equal', value: 'Zed' } })).toEqual([]);
}); // biome-ignore format: short

test('listRelated: only records of this record, with the arguments of list', async () => {
  const related = (given: object) =>
    ask('listRelated', 'customers', { relationName: 'orders', parentRecordId: 1, fields: ['id'], ...given });
  const page = await related({ pagination: { size: 2 }, enableCount: true });
  expect([
    (await related({})).rows,
    [page.rows, page.hasMore, page.totalCount],
    (await related({ pagination: { size: 2 }, cursor: page.nextCursor })).rows,
    (await related({ filters: { field: 'total', operator: 'Present' }, sort: [{ field: 'id', ascending: false }] })).rows,
    (await related({ parentRecordId: '3' })).rows,
    (await ask('listRelated', 'orders', { relationName: 'tags', parentRecordId: 3, fields: ['word'] })).rows,
    (await ask('listRelated', 'orders', { relationName: 'lines', parentRecordId: 1, fields: ['article'] })).rows,
    (await related({ filters: { field: 'total', operator: 'Present' }, pagination: { size: 1 }, enableCount: true })).totalCount,
    (await related({ segment: 'large', search: '30', enableCount: true })).totalCount,
    await related({ parentRecordId: 9 }),
  ]).toEqual([
    [[1], [2], [5]],
    [[[1], [2]], true, 3],
    [[5]],
    [[5], [1]],
    [],
    [['rush']],
    [['sole'], ['lace']],
    2,
    1,
    "RECORD_NOT_FOUND: No record '9' in 'customers', or you may not see it.",
  ]);
}); // biome-ignore format: short

test('create: one with its defaults, several in order, and none if one is invalid', async () => {
  expect(await ask('create', 'orders', { attributes: { id: 20, total: null } })).toEqual({
    ...{ count: 1, ids: ['20'], columns: ['id', 'total', 'state', 'customer_id'], rows: [[20, null, 'new', null]] },
  });
  const several = await ask('create', 'lines', { attributes: [{ order_id: 20, line: 2, article: 'b' }, { order_id: 20, line: 1 }] });
  expect([several.ids, several.rows]).toEqual([['20|2', '20|1'], [[20, 2, 'b'], [20, 1, null]]]);
  expect([
    await ask('create', 'orders', { attributes: [{ id: 21 }, { id: 1 }] }),
    await ask('create', 'orders', { attributes: [{ id: 22 }, { id: 23, totl: 1 }] }),
    await ask('create', 'orders', { attributes: { id: 24, total: 'x' } }),
    await ask('create', 'customers', { attributes: { id: 25 } }),
    await ids({ filters: { field: 'id', operator: 'GreaterThan', value: 20 } }),
  ]).toEqual([...[/^INVALID_RECORD: .*id/, /^INVALID_RECORD: .*totl.*total/, /^INVALID_RECORD: .*total/, /^INVALID_RECORD: .*name/].map(asMatchers), []]);
}); // biome-ignore format: short

test('update: changes only the given fields, of one record, several, and one with a composite key', async () => {
  const all = () => rows('orders', { fields: ['id', 'total', 'state'], filters: { field: 'id', operator: 'In', value: [30, 31, 32] } });
  await ask('create', 'orders', { attributes: [30, 31, 32].map((id) => ({ id, total: 1 })) });
  const one = await ask('update', 'orders', { recordId: 30, attributes: { total: null } });
  const two = await ask('update', 'orders', { recordIds: [31, '32'], attributes: { state: 'paid' } });
  expect([[one.count, one.ids], [two.count, two.ids], await all()]).toEqual([
    [1, ['30']],
    [2, ['31', '32']],
    [[30, null, 'new'], [31, 1, 'paid'], [32, 1, 'paid']],
  ]);
  await ask('update', 'lines', { recordId: '3|1', attributes: { article: 'wool' } });
  expect(await rows('lines', { fields: ['article'], filters: { field: 'order_id', operator: 'In', value: [1, 3] } }))
    .toEqual([['sole'], ['lace'], ['wool']]);
  expect([
    await ask('update', 'orders', { recordIds: [30, 77], attributes: { total: 8 } }),
    await ask('update', 'customers', { recordId: 9, attributes: { city: 'Rome' } }),
    await ask('update', 'customers', { recordId: 1, attributes: { city: 'Oslo' } }),
    await ask('update', 'orders', { recordId: 30, attributes: { state: null } }),
    (await all())[0],
  ]).toEqual([
    ...[/^RECORD_NOT_FOUND: .*'77'/, /^RECORD_NOT_FOUND: .*'9'/, /^(FORBIDDEN|INVALID_RECORD|RECORD)/, /^INVALID_RECORD: .*state/].map(asMatchers),
    [30, null, 'new'],
  ]);
}); // biome-ignore format: short

test('delete: deletes the given records, all or none, and an empty list is refused', async () => {
  await ask('create', 'orders', { attributes: [40, 41, 42].map((id) => ({ id })) });
  const left = () => ids({ filters: { field: 'id', operator: 'In', value: [40, 41, 42] } });
  const refused = [];
  for (const recordIds of [[], undefined, [40, 77]]) refused.push(await ask('delete', 'orders', recordIds && { recordIds }));
  expect([refused, await left()]).toEqual([
    [/an empty list does not mean all records/, /an empty list does not mean all records/, /^RECORD_NOT_FOUND: .*'77'/].map(asMatchers),
    [40, 41, 42],
  ]);
  const dry = await ask('delete', 'orders', { recordIds: [42, '40'], dryRun: true });
  expect([dry.dryRun, dry.count, dry.changes.map(({ id }: { id: string }) => id), await left()]).toEqual([true, 2, ['42', '40'], [40, 41, 42]]);
  expect([await ask('delete', 'orders', { recordIds: [42, '40'] }), await left()]).toEqual([{ count: 2, ids: ['42', '40'] }, [41]]);
  expect(await ask('delete', 'customers', { recordIds: [1] })).toMatch(/^RECORD_IN_USE/);
}); // biome-ignore format: short

test('associate, dissociate: by a foreign key and by a join table; the other record stays, and an existing link is no error', async () => {
  const link = { relationName: 'orders', parentRecordId: 3 };
  const tags = { relationName: 'tags', parentRecordId: 4 };
  const mine = async (relation: object, collection: string) =>
    (await ask('listRelated', collection, { ...relation, fields: ['id'] })).rows.flat();
  await ask('create', 'orders', { attributes: [50, 51].map((id) => ({ id })) });
  expect([
    await ask('associate', 'customers', { ...link, targetRecordId: [50, '51'] }),
    await mine(link, 'customers'),
    await ask('dissociate', 'customers', { ...link, targetRecordIds: [50] }),
    await mine(link, 'customers'),
    await ids({ filters: { field: 'id', operator: 'Equal', value: 50 } }),
    await ask('dissociate', 'customers', { ...link, targetRecordIds: [1] }),
    await ask('dissociate', 'customers', { ...link, targetRecordIds: [] }),
  ]).toEqual([
    { count: 2, collection: 'orders', ids: ['50', '51'] },
    [50, 51],
    { count: 1, collection: 'orders', ids: ['50'] },
    [51],
    [50],
    ...[/^RECORD_NOT_FOUND: .*'1'/, /an empty list does not mean all records/].map(asMatchers),
  ]);
  const made = await ask('associate', 'orders', { ...tags, targetRecordId: [1, 3] });
  const again = await ask('associate', 'orders', { ...tags, targetRecordId: [3, 2] });
  const gone = await ask('dissociate', 'orders', { ...tags, targetRecordIds: [1, 2] });
  expect([made, again, gone, await mine(tags, 'orders'), await rows('tags', { fields: ['id'] })]).toEqual([
    { count: 2, collection: 'taggings', ids: ['4|1', '4|3'] },
    { count: 1, collection: 'taggings', ids: ['4|2'] },
    { count: 2, collection: 'taggings', ids: ['4|1', '4|2'] },
    [3],
    [[1], [2], [3]],
  ]);
}); // biome-ignore format: short

test('getActionForm, executeAction: of an existing action, with its requirements', async () => {
  const about = { actionName: 'Close', recordIds: [1] };
  expect([
    await ask('getActionForm', 'orders', about),
    await ask('getActionForm', 'orders', { ...about, actionName: 'Clos' }),
    await ask('executeAction', 'orders', about),
    await ask('executeAction', 'orders', { ...about, values: { Why: 'x' }, dryRun: true }),
    await ask('executeAction', 'orders', { ...about, values: { Why: 'x' } }),
    await ask('executeAction', 'orders', { ...about, recordIds: [77], values: { Why: 'x' } }),
  ]).toMatchObject([
    { fields: { Why: { type: 'String', required: true } }, missing: ['Why'], canExecute: false },
    expect.stringMatching(/^UNKNOWN_ACTION: .*Close/),
    'INVALID_FORM: Nothing was done. Why: is required: send a string.',
    { dryRun: true, records: 1 },
    { result: 'success', message: 'Success' },
    expect.stringMatching(/^RECORD_NOT_FOUND/),
  ]);
});

test('list, listRelated, describeCollection: unknown and invalid arguments are refused with what to send', async () => {
  expect([
    await ask('list', 'orders', { fields: ['totl'] }),
    await ask('list', 'orders', { filters: { field: 'total', operator: 'Equals', value: 1 } }),
    await ask('list', 'orders', { filters: { field: 'total', operator: 'GreaterThan', value: 'x' } }),
    await ask('list', 'orders', { segment: 'larg' }),
    await ask('list', 'orders', { pagination: { size: 1001 } }),
    await ask('listRelated', 'orders', { relationName: 'customer', parentRecordId: 1 }),
    await ask('listRelated', 'orders', { relationName: 'lins', parentRecordId: 1 }),
  ]).toEqual([/total/, expect.anything(), /total/, /large/, /1000/, /one record/, /lines/].map(asMatchers));
});
