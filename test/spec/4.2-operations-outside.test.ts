// Combinations of customizer operations in one collection, over HTTP and MCP, and in the schema file.
import { beforeEach, describe, expect, test } from 'vitest';
import type { Agent, CollectionCustomizer } from '../../src/index.ts';
import { serveOutside } from './outside.ts';

const orders = (name: string) => [
  `CREATE TABLE ${name} (id INTEGER PRIMARY KEY, total REAL NOT NULL, placed VARCHAR(10) NOT NULL, customer_id INTEGER REFERENCES customers(id), unseen INTEGER)`,
  `INSERT INTO ${name} VALUES (1, 10.5, 'a', 1, 1), (2, 20, 'b', 2, 1), (3, 20, 'c', 2, 1), (4, 30, 'd', NULL, 1), (5, 5, 'e', 1, 1)`,
];
const tables = [
  'CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, city VARCHAR(20), secret VARCHAR(20), photo BLOB)',
  "INSERT INTO customers VALUES (1, 'Ada', 'Paris', 'x1', x'07'), (2, 'Bo', 'Rome', 'x2', NULL), (3, 'Cy', NULL, NULL, NULL)",
  'CREATE TABLE notes (id INTEGER PRIMARY KEY, order_id INTEGER, text VARCHAR(20))',
  "INSERT INTO notes VALUES (1, 1, 'blue'), (2, 2, 'lined'), (3, 1, 'loose')",
  'CREATE TABLE items (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, size VARCHAR(20), mark VARCHAR(20))',
  'CREATE TABLE kept (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, mark VARCHAR(20))',
  "INSERT INTO kept VALUES (1, 'one', NULL), (2, 'two', NULL), (3, 'six', NULL)",
  ...['orders', 'sales', 'plain', 'quiet'].flatMap(orders),
];

const size = {
  columnType: 'String',
  dependencies: ['total'],
  getValues: (records: readonly Readonly<Record<string, unknown>>[]) =>
    records.map(({ total }) => (Number(total) > 15 ? 'large' : 'small')),
} as const;
const told: unknown[] = [];
const big = { field: 'total', operator: 'GreaterThan', value: 15 } as const;
const plugin = (each: CollectionCustomizer, options: { readonly above: number } | undefined) =>
  void each.addSegment(`above ${options?.above}`, { ...big, value: options?.above ?? 25 });

function customize(agent: Agent): void {
  agent
    .customizeCollection('orders', (each) =>
      each
        .addAction('First', { scope: 'Global', execute: (_, result) => result.success('one') })
        .addAction('Pay', { scope: 'Single', execute: async ({ getRecordId }, result) => result.success(`Paid ${await getRecordId()}`) })
        .addField('size', size)
        .importField('town', { path: 'customer:city' })
        .importField('buyer', { path: 'customer:name', readonly: true })
        .renameField('total', 'amount')
        .renameField('customer', 'client')
        .removeField('placed', 'unseen')
        .addField('hint', { columnType: 'String', dependencies: ['placed', 'total'], getValues: (all) => all.map(({ placed, total }) => `${placed}${total}`) })
        .addSegment('dear', big)
        .addSegment('tree', { aggregator: 'And', conditions: [big, { field: 'id', operator: 'LessThan', value: 4 }] })
        .addSegment('own', async ({ caller }) => ({ field: 'customer_id', operator: 'Equal', value: caller.id }))
        .addChart('record', async ({ recordId, getRecord }, chart) => chart.smart([recordId, await getRecord(['total', 'customer:name'])]))
        .use(plugin)
        .use(plugin, { above: 29 }),
    )
    .customizeCollection('sales', (each) =>
      each
        .addField('size', size)
        .addField('copy', size)
        .emulateFieldSorting('size')
        .emulateFieldFiltering('size')
        .emulateFieldOperator('copy', 'Equal')
        .replaceFieldOperator('copy', 'NotEqual', async (value, { caller }) => ({ field: 'total', operator: value === 'large' && caller.id === 1 ? 'LessThanOrEqual' : 'GreaterThan', value: 15 }))
        .replaceFieldOperator('customer_id', 'Equal', (value) => ({ field: 'customer_id', operator: 'In', value: [value, 1] }))
        .replaceFieldSorting('placed', [{ field: 'total', ascending: false }, { field: 'id' }])
        .replaceFieldSorting('copy', [{ field: 'total' }])
        .disableFieldSorting('customer_id')
        .replaceSearch(async (search, extended, { caller }) => ({ field: 'customer:name', operator: extended ? 'Equal' : 'StartsWith', value: caller.id === 1 ? search : '' })),
    )
    .customizeCollection('quiet', (each) => each.disableSearch().disableCount())
    .customizeCollection('customers', (each) =>
      each
        .setFieldNullable('name')
        .replaceFieldBinaryMode('photo', 'hex')
        .addManyToOneRelation('first order', 'plain', { foreignKey: 'id' })
        .addOneToManyRelation('bought', 'plain', { originKey: 'customer_id' })
        .addOneToOneRelation('same', 'items', { originKey: 'id' })
        .addManyToManyRelation('of notes', 'plain', 'notes', { originKey: 'order_id', foreignKey: 'id' })
        .addExternalRelation('marks', { schema: { of: 'Number' }, listRecords: ({ id }) => [{ of: Number(id) * 10 }] }),
    )
    .customizeCollection('items', (each) =>
      each
        .addField('label', { columnType: 'String', dependencies: ['name'], getValues: (all) => all.map(({ name }) => `<${name}>`) })
        .replaceFieldWriting('label', (value, { action }) => ({ name: String(value).slice(1, -1), mark: action }))
        .replaceFieldWriting('size', null)
        .addFieldValidation('name', 'LongerThan', 1)
        .addFieldValidation('name', 'ShorterThan', 6)
        .addHook('Before', 'Create', ({ data }) => void told.push('before', data.length))
        .addHook('Before', 'Create', async ({ data }) => {
          await new Promise(setImmediate);
          told.push(`second of ${data.length}`);
        })
        .addHook('Before', 'Create', () => void told.push('third'))
        .addHook('After', 'Create', ({ records }) => void told.push('after', records[0]?.id)),
    )
    .customizeCollection('kept', (each) =>
      each
        .overrideCreate(async ({ data, collection, caller }) => collection('kept').create(data.map((one) => ({ ...one, mark: `by ${caller.id}` }))))
        .overrideUpdate(async ({ filter, patch, collection }) => {
          told.push(patch);
          await collection('kept').update(filter, { ...patch, mark: 'updated' });
        })
        .overrideDelete(async ({ filter, collection }) => void (await collection('kept').update(filter, { name: 'gone' }))),
    );
} // biome-ignore format: short
const place = serveOutside(tables, customize);

const inSchema = (name: string) => place.schema.collections.find((one: { name: string }) => one.name === name);
const fieldOf = (collection: string, name: string) =>
  inSchema(collection).fields.find(({ field }: { field: string }) => field === name);
const filtered = (collection: string, filter: object, more = '') =>
  `/${collection}?sort=id${more}&filters=${encodeURIComponent(JSON.stringify(filter))}`;
const is = (field: string, value: unknown, operator = 'Equal') => ({ field, operator, value });
const describedAs = async (collectionName: string) => (await place.tool('describeCollection', { collectionName })).json;
const column = async (collection: string, name: string) =>
  (await place.list(`/${collection}?sort=id`)).map((one) => one[name]);
const statusOf = async (path: string) => (await place.get(path)).status;

test('Actions | addAction(name, definition): served in the order of the calls, run, and described', async () => {
  const run = async (path: string, ids: string[]) => (await place.act(`/_actions/orders/${path}`, { ids, collection_name: 'orders' })).body;
  const tool = await place.tool('executeAction', { collectionName: 'orders', actionName: 'Pay', recordIds: [3] });
  expect([
    inSchema('orders').actions.map(({ name, endpoint, type }: Record<string, unknown>) => [name, endpoint, type]),
    await run('0/first', []),
    await run('1/pay', ['2']),
    JSON.stringify(tool).includes('Paid 3'),
  ]).toMatchObject([
    [['First', '/service/_actions/orders/0/first', 'global'], ['Pay', '/service/_actions/orders/1/pay', 'single']],
    { success: 'one' },
    { success: 'Paid 2' },
    true,
  ]);
}); // biome-ignore format: short

describe('Fields', () => {
  test('addField(name, definition), renameField, removeField: by the names at the time of the call', async () => {
    expect([await column('orders', 'size'), await column('orders', 'hint')]).toEqual([
      ['small', 'large', 'large', 'large', 'small'],
      ['a10.5', 'b20', 'c20', 'd30', 'e5'],
    ]);
    expect([fieldOf('orders', 'size').isReadOnly, (await place.save('orders', 1, { size: 'x' })).status]).toEqual([
      true,
      400,
    ]);
  });

  test('importField(name, {path, readonly?}): read, filtered, sorted; written to its source, unless readonly or missing', async () => {
    const towns = [await column('orders', 'town'), await column('orders', 'buyer')];
    const found = [
      await place.ids(filtered('orders', is('town', 'Rome'))),
      await place.ids(filtered('orders', is('buyer', 'Ada'))),
      await place.ids('/orders?sort=-town,id'),
    ];
    const written = [(await place.save('orders', 1, { town: 'Lyon' })).status, (await place.save('orders', 1, { buyer: 'X' })).status];
    const after = [await column('orders', 'town'), await column('customers', 'city'), await column('customers', 'name')];
    await place.save('customers', 1, { city: 'Paris' });
    expect([towns, found, written, after]).toEqual([
      [['Paris', 'Rome', 'Rome', null, 'Paris'], ['Ada', 'Bo', 'Bo', null, 'Ada']],
      [[2, 3], [1, 5], [2, 3, 1, 5, 4]],
      [200, 400],
      [['Lyon', 'Rome', 'Rome', null, 'Lyon'], ['Lyon', 'Rome', null], ['Ada', 'Bo', 'Cy']],
    ]);
    expect([fieldOf('orders', 'town').isReadOnly, fieldOf('orders', 'buyer').isReadOnly]).toEqual([false, true]);
  }); // biome-ignore format: short

  test('renameField(currentName, newName): columns and relations have the new name everywhere, and not the old one', async () => {
    const names = inSchema('orders').fields.map(({ field }: { field: string }) => field);
    expect([names.includes('total'), names.includes('customer'), names]).toEqual([false, false, expect.arrayContaining(['amount', 'client'])]);
    const { fields, relations } = await describedAs('orders');
    expect([Object.keys(fields).includes('amount'), Object.keys(relations)]).toEqual([true, ['client']]);
    const rows = (await place.tool('list', { collectionName: 'orders', fields: ['amount', 'client:name'], sort: 'id' })).json.rows;
    expect([rows.slice(0, 2), await place.ids('/orders?sort=-amount,id'), await place.ids(filtered('orders', is('amount', 30))), await place.ids('/orders?segment=dear')]).toEqual([
      [[10.5, 'Ada'], [20, 'Bo']],
      [4, 2, 3, 1, 5],
      [4],
      [2, 3, 4],
    ]);
    expect([await statusOf(filtered('orders', is('total', 30))), await statusOf('/orders?sort=total')]).toEqual([400, 400]);
    const saved = await place.save('orders', 5, { amount: 6 });
    expect([saved.status, saved.body.data.attributes.amount, (await place.save('orders', 5, { total: 7 })).status]).toEqual([200, 6, 400]);
    await place.save('orders', 5, { amount: 5 });
  }); // biome-ignore format: short

  test('removeField(...names): cannot be read, filtered or written, for each of the names; code still has it', async () => {
    const { fields } = await describedAs('orders');
    expect([fieldOf('orders', 'placed'), fieldOf('orders', 'unseen'), fields.placed, fields.unseen, (await place.list('/orders'))[0]!.placed]).toEqual(Array(5).fill(undefined));
    expect([
      await statusOf('/orders?sort=placed'),
      await statusOf(filtered('orders', is('placed', 'a'))),
      await statusOf('/orders?fields[orders]=placed'),
      (await place.save('orders', 1, { placed: 'x' })).status,
      (await place.tool('list', { collectionName: 'orders', fields: ['placed'] })).error !== undefined,
    ]).toEqual([400, 400, 400, 400, true]);
    expect((await column('orders', 'hint'))[0]).toBe('a10.5');
  }); // biome-ignore format: short

  test('setFieldNullable(name): callers may omit the field or send null', async () => {
    const { isRequired } = fieldOf('customers', 'name');
    expect([isRequired, fieldOf('items', 'name').isRequired, (await describedAs('customers')).fields.name]).toEqual([
      false,
      true,
      'String?',
    ]);
  });

  test('addFieldValidation(name, operator, value?): every rule of the field applies, for creates and updates', async () => {
    const create = async (name: string) => (await place.save('items', null, { id: 70, name })).status;
    const statuses = [await create('a'), await create('sixsix'), await create('ab')];
    const update = async (name: string) => (await place.save('items', 70, { name })).status;
    expect([...statuses, await update('x'), await update('xyzxyz'), await update('fives')]).toEqual([400, 400, 200, 400, 400, 200]);
    expect(fieldOf('items', 'name').validations.map(({ type }: { type: string }) => type)).toEqual(['is present', 'is longer than', 'is shorter than']);
    await place.remove('items', 70);
  }); // biome-ignore format: short

  test('replaceFieldWriting(name, definition): its result is written, for creates and updates; null makes the field read-only', async () => {
    const created = await place.save('items', null, { id: 71, label: '<abc>' });
    const first = (await place.list('/items'))[0];
    const updated = await place.save('items', 71, { label: '<xyz>' });
    const second = (await place.list('/items'))[0];
    const refused = await place.save('items', 71, { size: 'x' });
    await place.remove('items', 71);
    expect([created.status, first, updated.status, second, refused.status]).toMatchObject([
      ...[200, { name: 'abc', label: '<abc>', mark: 'create' }, 200, { name: 'xyz', label: '<xyz>', mark: 'update' }, 400],
    ]);
    expect([fieldOf('items', 'label').isReadOnly, fieldOf('items', 'size').isReadOnly]).toEqual([false, true]);
  }); // biome-ignore format: short

  test('replaceFieldBinaryMode(name, mode): shown in this mode, also in the schema file', async () => {
    expect([await column('customers', 'photo'), fieldOf('customers', 'photo').binaryMode]).toEqual([['07', null, null], 'hex']);
  }); // biome-ignore format: short
});

test('Relations | addManyToOneRelation, addOneToManyRelation, addOneToOneRelation, addManyToManyRelation, addExternalRelation: each leads to its records', async () => {
  await place.save('items', null, { id: 2, name: 'two' });
  const related = async (id: number, name: string) => {
    const { body } = await place.get(`/customers/${id}/relationships/${encodeURIComponent(name)}`);
    const all = Array.isArray(body.data) ? body.data : [body.data];
    return all.map((one: { id: string; attributes: object } | null) => one && (name === 'marks' ? one.attributes : Number(one.id)));
  };
  const rows = (await place.tool('list', { collectionName: 'customers', fields: ['first order:placed', 'same:name'], sort: 'id' })).json.rows;
  await place.remove('items', 2);
  expect([rows, await related(1, 'bought'), await related(3, 'bought'), await related(1, 'of notes'), await related(2, 'marks')]).toEqual([
    [['a', null], ['b', 'two'], ['c', null]],
    [1, 5],
    [],
    [1, 3],
    [{ of: 20 }],
  ]);
}); // biome-ignore format: short

test('Segments | addSegment(name, definition): a condition leaf or tree, or an async function of the context returning one', async () => {
  const of = async (segment: string) => [
    await place.ids(`/orders?segment=${encodeURIComponent(segment)}&sort=id`),
    (await place.tool('list', { collectionName: 'orders', fields: ['id'], segment })).json.rows.flat(),
    (await place.get(`/orders/count?segment=${encodeURIComponent(segment)}`)).body.count,
  ];
  expect([await of('dear'), await of('tree'), await of('own'), inSchema('orders').segments.map(({ name }: { name: string }) => name)]).toEqual([
    [[2, 3, 4], [2, 3, 4], 3],
    [[2, 3], [2, 3], 2],
    [[1, 5], [1, 5], 2],
    ['above 29', 'above undefined', 'dear', 'own', 'tree'],
  ]);
  expect((await describedAs('orders')).segments).toEqual(['dear', 'tree', 'own', 'above undefined', 'above 29']);
}); // biome-ignore format: short

describe('Search', () => {
  test('replaceSearch(definition taking the search string): it decides what matches, and gets whether the search is extended', async () => {
    expect([
      await place.ids('/sales?search=B&sort=id'),
      await place.ids('/sales?search=B&searchExtended=1'),
      await place.ids('/sales?search=Bo&searchExtended=1&sort=id'),
      await place.ids('/sales?search=20'),
      (await place.tool('list', { collectionName: 'sales', fields: ['id'], search: 'B' })).json.rows.flat(),
      (await place.get('/sales/count?search=A')).body.count,
    ]).toEqual([[2, 3], [], [2, 3], [], [2, 3], 2]);
  });

  test('disableSearch(): a search is refused; the schema file has it', async () => {
    expect([await statusOf('/quiet?search=20'), inSchema('quiet').isSearchable, inSchema('plain').isSearchable, await place.ids('/plain?search=20&sort=id')]).toEqual([400, false, true, [2, 3]]);
    expect((await place.tool('list', { collectionName: 'quiet', search: '20' })).error).toContain('cannot be searched');
  }); // biome-ignore format: short
});

describe('Sorting', () => {
  test('emulateFieldSorting(name): in both directions, on any page, within other clauses', async () => {
    expect([
      await place.ids('/sales?sort=size,-id'),
      await place.ids('/sales?sort=-size,id'),
      await place.ids('/sales?sort=size,-id&page[size]=2&page[number]=2'),
      await place.ids('/sales?sort=-total,size,id'),
      fieldOf('sales', 'size').isSortable,
      await statusOf('/orders?sort=size'),
    ]).toEqual([[4, 3, 2, 5, 1], [1, 5, 2, 3, 4], [2, 5], [4, 2, 3, 1, 5], true, 400]);
  }); // biome-ignore format: short

  test('replaceFieldSorting(name, sortClauses): sorts by these instead, reversed when descending', async () => {
    expect([await place.ids('/sales?sort=placed'), await place.ids('/sales?sort=-placed'), await place.ids('/sales?sort=copy,id'), fieldOf('sales', 'copy').isSortable]).toEqual([
      [4, 2, 3, 1, 5],
      [5, 1, 3, 2, 4],
      [5, 1, 2, 3, 4],
      true,
    ]);
  }); // biome-ignore format: short

  test('disableFieldSorting(name): a sort by the field is refused, and others work', async () => {
    expect([await statusOf('/sales?sort=customer_id'), await statusOf('/sales?sort=-customer_id'), await statusOf('/plain?sort=customer_id'), (await describedAs('sales')).fields.customer_id, fieldOf('sales', 'total').isSortable]).toEqual([400, 400, 200, 'Number? unsortable', true]);
    expect((await place.tool('list', { collectionName: 'sales', sort: 'customer_id' })).error).toBeDefined();
  }); // biome-ignore format: short
});

describe('Filtering', () => {
  test('emulateFieldFiltering(name): every operator of its type', async () => {
    expect([
      await place.ids(filtered('sales', is('size', 'small'))),
      await place.ids(filtered('sales', is('size', ['small', 'x'], 'In'))),
      await place.ids(filtered('sales', is('size', 'LAR', 'IStartsWith'))),
      await place.ids(filtered('sales', { aggregator: 'And', conditions: [is('size', 'large'), is('id', 4, 'LessThan')] })),
      (await place.get(filtered('sales', is('size', 'small')).replace('/sales?', '/sales/count?').replace('sort=id&', ''))).body.count,
      fieldOf('sales', 'size').isFilterable,
      await statusOf(filtered('orders', is('size', 'small'))),
    ]).toEqual([[1, 5], [1, 5], [2, 3, 4], [2, 3], 2, true, 400]);
  }); // biome-ignore format: short

  test('emulateFieldOperator(name, operator): only this operator', async () => {
    expect([
      await place.ids(filtered('sales', is('copy', 'small'))),
      await statusOf(filtered('sales', is('copy', '%', 'Like'))),
      await statusOf(filtered('sales', is('copy', 'a', 'GreaterThan'))),
    ]).toEqual([[1, 5], 400, 400]);
  });

  test('replaceFieldOperator(name, operator, replacer): its filter applies instead, also within trees and for database fields', async () => {
    const both = { aggregator: 'Or', conditions: [is('copy', 'large', 'NotEqual'), is('id', 4)] };
    expect([
      await place.ids(filtered('sales', is('copy', 'large', 'NotEqual'))),
      await place.ids(filtered('sales', is('copy', 'small', 'NotEqual'))),
      await place.ids(filtered('sales', both)),
      await place.ids(filtered('sales', is('customer_id', 2))),
      await place.ids(filtered('plain', is('customer_id', 2))),
      (await place.tool('list', { collectionName: 'sales', fields: ['id'], filters: both })).json.rows.flat(),
    ]).toEqual([[1, 5], [2, 3, 4], [1, 4, 5], [1, 2, 3, 5], [2, 3], [1, 4, 5]]);
  }); // biome-ignore format: short
});

test('Hooks | addHook(position, type, handler): called before and after, in the order in which they were added', async () => {
  told.length = 0;
  await place.save('items', null, { id: 72, name: 'abc' });
  await place.remove('items', 72);
  expect(told).toEqual(['before', 1, 'second of 1', 'third', 'after', 72]);
});

test('Charts | addChart(name, definition): a chart of each record', async () => {
  const ask = async (id: number) => (await place.get(`/_charts/orders/record?record_id=${id}`)).body;
  expect([await ask(2), await ask(4), (await place.get('/_charts/orders/record?record_id=99')).status, (await describedAs('orders')).charts]).toEqual([
    [2, { total: 20, customer: { name: 'Bo' } }],
    [4, { total: 30, customer: null }],
    404,
    ['record'],
  ]);
}); // biome-ignore format: short

describe('Overrides', () => {
  const rows = async () => (await place.list('/kept?sort=id')).map(({ id, name, mark }) => [id, name, mark]);
  beforeEach(() => void told.splice(0));

  test('overrideCreate(handler returning the created records): it creates instead, and its records are returned', async () => {
    const { status, body } = await place.save('kept', null, { id: 8, name: 'new' });
    expect([status, body.data.attributes, (await rows()).at(-1)]).toEqual([200, { id: 8, name: 'new', mark: 'by 1' }, [8, 'new', 'by 1']]);
  }); // biome-ignore format: short

  test('overrideUpdate(handler with filter and patch): it updates these records instead, and no others', async () => {
    const { status, body } = await place.save('kept', 2, { name: 'zwei' });
    const tool = await place.tool('update', { collectionName: 'kept', recordIds: [1, 3], attributes: { name: 'both' } });
    expect([status, body.data.attributes.mark, tool.error, told, (await rows()).slice(0, 3)]).toEqual([
      ...[200, 'updated', undefined, [{ name: 'zwei' }, { name: 'both' }]],
      [[1, 'both', 'updated'], [2, 'zwei', 'updated'], [3, 'both', 'updated']],
    ]);
  }); // biome-ignore format: short

  test('overrideDelete(handler with filter): it deletes these records instead, and no others', async () => {
    const before = await rows();
    const { status } = await place.remove('kept', 2);
    expect([status, (await rows()).map(([id, name]) => [id, name])]).toEqual([204, before.map(([id, name]) => [id, id === 2 ? 'gone' : name])]);
  }); // biome-ignore format: short
});

describe('Other', () => {
  test('disableCount(): the count is not returned, and the list is', async () => {
    expect([(await place.get('/quiet/count')).body, await place.ids('/quiet?sort=id'), (await place.get('/plain/count')).body]).toEqual([{ meta: { count: 'deactivated' } }, [1, 2, 3, 4, 5], { count: 5 }]);
  }); // biome-ignore format: short

  test('use(plugin, options?): the plugin is called with the customizer and its options, or none', async () => {
    expect([await place.ids('/orders?segment=above undefined'), await place.ids('/orders?segment=above 29'), await place.ids('/orders?segment=dear&sort=id')]).toEqual([[4], [4], [2, 3, 4]]);
  }); // biome-ignore format: short
});
