// One customized shop on every source. The customizations apply to callers on each of them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import type { ListRequest } from '../../src/agent/requests.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { PlainFilter } from '../../src/core/filter.ts';
import type { Observe } from '../../src/core/observe.ts';
import { accessOf, type Rights, type Shop, type ShopOptions, sellers } from './shop.ts';

/** The records of each call of `initial`. */
const asked: unknown[] = [];

function customizeShop(agent: HeadlessAgent): void {
  agent
    .customizeCollection('customers', (customers) =>
      customers
        .renameField('name', 'full name')
        .removeField('secret')
        .addField('initial', {
          columnType: 'String',
          dependencies: ['name'],
          getValues(records) {
            asked.push(records);
            return records.map((record) => String(record.name)[0]);
          },
        })
        .addField('label', {
          columnType: 'String',
          dependencies: ['initial', 'city'],
          getValues: async (records) => records.map(({ initial, city }) => (city ? `${initial} of ${city}` : null)),
          defaultValue: 'nowhere',
        })
        .replaceFieldOperator('initial', 'Equal', (value) => ({
          field: 'name',
          operator: 'StartsWith',
          value: String(value),
        }))
        .replaceFieldSorting('initial', [{ field: 'name', ascending: false }])
        .emulateFieldFiltering('label')
        .emulateFieldSorting('label')
        .addOneToManyRelation('purchases', 'orders', { originKey: 'customer_id' })
        .setFieldNullable('name'),
    )
    .customizeCollection('orders', (orders) =>
      orders
        .renameField('customer', 'buyer')
        .disableFieldSorting('placed_at')
        .importField('city', { path: 'customer:city' })
        .importField('password', { path: 'customer:secret' })
        .addField('summary', {
          columnType: 'String',
          dependencies: ['id', 'customer:label', 'customer:secret'],
          getValues: (records) =>
            records.map(({ id, customer }) => {
              const buyer = customer as { label: string; secret: string } | null;
              return buyer ? `${id}: ${buyer.label}/${buyer.secret}` : `${id}: nobody`;
            }),
        })
        .emulateFieldOperator('summary', 'Like')
        .emulateFieldSorting('summary')
        .addSegment('dear', { field: 'total', operator: 'GreaterThanOrEqual', value: 20 })
        .addSegment('of the same city', async (context) => {
          const [own] = await context
            .collection('customers')
            .list({ conditionTree: { field: 'id', operator: 'Equal', value: context.caller.id } }, ['secret', 'city']);
          return { field: 'customer:city', operator: 'Equal', value: own?.city };
        })
        .addSegment('labelled', { field: 'summary', operator: 'Like', value: '%Rome%' })
        .replaceSearch((text) => ({ field: 'customer:name', operator: 'IContains', value: text })),
    )
    .customizeCollection('order_lines', (lines) =>
      lines
        .addManyToOneRelation('owner', 'customers', { foreignKey: 'order_id' })
        .disableSearch()
        .disableCount()
        .addHook('Before', 'List', (context) => {
          if (context.caller.timezone === 'Asia/Tokyo') context.throwForbiddenError('Not from there.');
          context.narrow({ field: 'article', operator: 'NotEqual', value: 'ink' });
        }),
    )
    .removeCollection('line_notes');
}

describe.each(sellers)('$name', (seller) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await seller.open({ customize: customizeShop });
  });
  afterAll(() => shop?.close());

  const rows = async (request: Partial<ListRequest> & { collection: string }, rights?: Rights) =>
    (await shop.engine.list(accessOf(rights), { limit: 9, ...request })).rows;
  const ids = async (filter: PlainFilter) => (await rows({ collection: 'orders', fields: ['id'], filter })).flat();

  test('renameField: callers see only the new name, also through relations', async () => {
    const request = {
      collection: 'orders',
      fields: ['buyer:full name'],
      sort: [{ field: 'buyer:full name' }],
      limit: 2,
    };
    const { rows, ...answer } = await shop.engine.list(accessOf(), request);
    expect([rows, answer.records()]).toEqual([
      [[null], ['Ada']],
      [{ buyer: null }, { buyer: { 'full name': 'Ada' } }],
    ]);
    await expect(
      shop.engine.list(accessOf(), { collection: 'customers', fields: ['name'], limit: 1 }),
    ).rejects.toMatchObject({
      code: 'UNKNOWN_FIELD',
      details: { near: ['full name'] },
    });
  });

  test('removeField: the field does not exist for callers', async () => {
    const { fields, relations } = shop.engine.describe(accessOf(), 'customers');
    expect([fields.map((field) => field.name), relations]).toEqual([
      ['id', 'full name', 'city', 'initial', 'label'],
      [
        { name: 'orders', kind: 'many', to: 'orders', columns: ['id'] },
        { name: 'purchases', kind: 'many', to: 'orders', columns: ['id'] },
      ],
    ]);
    await expect(rows({ collection: 'customers', fields: ['secret'] })).rejects.toMatchObject({
      code: 'UNKNOWN_FIELD',
    });
    const filter = { field: 'secret', operator: 'Equal', value: 'x1' } as const;
    await expect(rows({ collection: 'customers', filter })).rejects.toMatchObject({ code: 'UNKNOWN_FIELD' });
  });

  test('removeCollection: the collection is not listed, and no relation leads to it', async () => {
    expect([
      shop.engine.index(accessOf()).map((collection) => collection.name),
      shop.engine.describe(accessOf(), 'order_lines').relations.map((relation) => relation.name),
    ]).toEqual([
      ['customers', 'order_lines', 'orders'],
      ['order', 'owner'],
    ]);
    await expect(rows({ collection: 'line_notes' })).rejects.toMatchObject({ code: 'UNKNOWN_COLLECTION' });
  });

  test('addField: fields can depend on others, be async, have a default, and are null without a record', async () => {
    const fields = ['id', 'buyer:label', 'summary'];
    expect(await rows({ collection: 'orders', fields })).toEqual([
      [1, 'A of Paris', '1: A of Paris/x1'],
      [2, 'B of Rome', '2: B of Rome/x2'],
      [3, 'B of Rome', '3: B of Rome/x2'],
      [4, null, '4: nobody'],
      [5, 'nowhere', '5: nowhere/x3'],
    ]);
  });

  test('addField: code runs once per page, with each record once', async () => {
    asked.length = 0;
    expect(await rows({ collection: 'orders', fields: ['buyer:initial'] })).toEqual([
      ['A'],
      ['B'],
      ['B'],
      [null],
      ['C'],
    ]);
    expect(asked).toEqual([[{ name: 'Ada' }, { name: 'Bo' }, { name: 'Cy' }]]);
  });

  test('addField: only the records and fields of the page are computed', async () => {
    asked.length = 0;
    await rows({ collection: 'customers', fields: ['initial'], limit: 1, skip: 1 });
    await rows({ collection: 'customers', fields: ['id'] });
    expect(asked).toEqual([[{ name: 'Bo' }]]);
  });

  test('addField: a related record outside the row scope counts as missing', async () => {
    const scopes = { customers: { field: 'city', operator: 'Equal', value: 'Paris' } } as const;
    expect((await rows({ collection: 'orders', fields: ['summary'] }, { scopes })).flat()).toEqual([
      '1: A of Paris/x1',
      '2: nobody',
      '3: nobody',
      '4: nobody',
      '5: nobody',
    ]);
  });

  test('importField: filtered and sorted by the database', async () => {
    const sort = [{ field: 'city', ascending: false }];
    expect(await rows({ collection: 'orders', fields: ['id', 'city'], sort, limit: 2 })).toEqual([
      [3, 'Rome'],
      [2, 'Rome'],
    ]);
    expect(await ids({ field: 'city', operator: 'Equal', value: 'Paris' })).toEqual([1]);
    expect(await rows({ collection: 'orders', fields: ['password'], limit: 1 })).toEqual([['x1']]);
  });

  test('importField: a field that is hidden in its own collection is unknown', async () => {
    const hidden = { hidden: ['customers.city'] };
    await expect(rows({ collection: 'orders', fields: ['city'] }, hidden)).rejects.toMatchObject({
      code: 'UNKNOWN_FIELD',
    });
    const browse = { browse: ['orders'] };
    await expect(rows({ collection: 'orders', fields: ['city'] }, browse)).rejects.toMatchObject({
      code: 'UNKNOWN_FIELD',
    });
  });

  test('replaceFieldOperator: its filter is used for In and NotEqual too', async () => {
    const named = async (operator: 'Equal' | 'NotEqual' | 'In', value: unknown) =>
      ids({ field: 'buyer:initial', operator, value });
    expect([await named('Equal', 'B'), await named('In', ['A', 'C']), await named('NotEqual', 'B')]).toEqual([
      [2, 3],
      [1, 5],
      [1, 4, 5],
    ]);
  });

  test('emulateFieldFiltering, emulateFieldOperator: filters are evaluated after reading, with pages and counts', async () => {
    const filter = {
      aggregator: 'Or',
      conditions: [
        { field: 'buyer:label', operator: 'IEndsWith', value: 'ROME' },
        { field: 'summary', operator: 'Like', value: '%: no%' },
      ],
    } as const;
    const page = await shop.engine.list(accessOf(), {
      collection: 'orders',
      fields: ['id'],
      filter,
      limit: 2,
      skip: 1,
    });
    expect([page.rows, page.hasMore, await shop.engine.count(accessOf(), { collection: 'orders', filter })]).toEqual([
      [[3], [4]],
      true,
      4,
    ]);
    await expect(ids({ field: 'summary', operator: 'Equal', value: 'x' })).rejects.toMatchObject({
      code: 'OPERATOR_NOT_ALLOWED',
    });
  });

  test('replaceFieldSorting: the field is sorted by its clauses, which a descending sort reverses', async () => {
    const by = async (ascending: boolean) =>
      (await rows({ collection: 'customers', fields: ['id'], sort: [{ field: 'initial', ascending }] })).flat();
    expect([await by(true), await by(false)]).toEqual([
      [3, 2, 1],
      [1, 2, 3],
    ]);
  });

  test('replaceFieldSorting: a cursor never contains a hidden field, also through a relation', async () => {
    const cursor = async (hidden: readonly string[], collection: string, field: string) => {
      const request = { collection, fields: ['id'], sort: [{ field }], limit: 2 };
      const page = await shop.engine.list(accessOf({ hidden }), request);
      expect([page.rows.length, page.hasMore]).toEqual([2, true]);
      return page.cursorAfter(1);
    };
    expect(await cursor(['customers.full name'], 'customers', 'initial')).toBeUndefined();
    expect(await cursor(['customers.full name'], 'orders', 'buyer:initial')).toBeUndefined();
    expect(await cursor(['customers.city'], 'customers', 'initial')).toBeTypeOf('string');
    expect(await cursor(['customers.city'], 'orders', 'buyer:initial')).toBeTypeOf('string');
    const shown = await cursor([], 'customers', 'initial');
    const hidden = accessOf({ hidden: ['customers.full name'] });
    await expect(
      shop.engine.list(hidden, {
        collection: 'customers',
        fields: ['id'],
        sort: [{ field: 'initial' }],
        limit: 2,
        ...(shown && { cursor: shown }),
      }),
    ).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
  });

  test('emulateFieldSorting: pages with cursors show every record once', async () => {
    const request = {
      collection: 'orders',
      fields: ['id'],
      sort: [{ field: 'buyer:label' }, { field: 'total', ascending: false }],
      limit: 2,
    };
    const seen: unknown[] = [];
    for (let cursor: string | undefined, more = true; more; ) {
      const page = await shop.engine.list(accessOf(), { ...request, ...(cursor && { cursor }) });
      seen.push(...page.rows.flat());
      more = page.hasMore;
      cursor = page.cursorAfter(page.rows.length - 1);
    }
    expect(seen).toEqual([4, 1, 3, 2, 5]);
  });

  test('disableFieldSorting: sorts are refused, and the field is not listed as sortable', async () => {
    const sort = [{ field: 'placed_at' }];
    await expect(rows({ collection: 'orders', sort })).rejects.toMatchObject({ code: 'FIELD_NOT_SORTABLE' });
    const { fields } = shop.engine.describe(accessOf(), 'orders');
    const sortable = fields.filter((field) => field.sortable).map((field) => field.name);
    expect(sortable).toEqual(['id', 'customer_id', 'total', 'city', 'password', 'summary']);
  });

  test('setFieldNullable: the description shows the field as nullable', async () => {
    const { fields } = shop.engine.describe(accessOf(), 'customers');
    expect(fields.find((field) => field.name === 'full name')).toMatchObject({ nullable: true, required: false });
  });

  test('addSegment: a filter, a function or a filter by a computed field, combined with other filters by And', async () => {
    const of = async (segment: string, filter?: PlainFilter) =>
      (await rows({ collection: 'orders', fields: ['id'], segment, ...(filter && { filter }) })).flat();
    expect([
      await of('dear'),
      await of('dear', { field: 'id', operator: 'GreaterThan', value: 2 }),
      await of('of the same city'),
      await of('labelled'),
      await shop.engine.count(accessOf(), { collection: 'orders', segment: 'labelled' }),
      shop.engine.describe(accessOf(), 'orders').segments,
    ]).toEqual([[2, 3, 4], [3, 4], [1], [2, 3], 2, ['dear', 'of the same city', 'labelled']]);
    await expect(of('deer')).rejects.toMatchObject({ code: 'UNKNOWN_SEGMENT', details: { near: ['dear'] } });
  });

  test('a row scope applies with a segment, and may use a computed field', async () => {
    const scopes = { orders: { field: 'summary', operator: 'Like', value: '%x2' } } as const;
    const request = { collection: 'orders', fields: ['id'] };
    expect([
      await rows({ ...request, segment: 'dear' }, { scopes }),
      await shop.engine.count(accessOf({ scopes }), request),
    ]).toEqual([[[2], [3]], 2]);
    // A join cannot wait for a computed field, so the query is refused.
    await expect(rows({ collection: 'order_lines', fields: ['order:total'] }, { scopes })).rejects.toMatchObject({
      code: 'CONFIGURATION',
    });
  });

  test('replaceSearch changes the search; disableSearch and disableCount refuse them', async () => {
    expect((await rows({ collection: 'orders', fields: ['id'], search: 'BO' })).flat()).toEqual([2, 3]);
    await expect(rows({ collection: 'order_lines', search: 'pen' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
    await expect(shop.engine.count(accessOf(), { collection: 'order_lines' })).rejects.toMatchObject({
      code: 'NOT_COUNTABLE',
    });
  });

  test('a search does not read all records for an emulated field', async () => {
    const text = await shop.engine.explain(accessOf(), {
      collection: 'customers',
      fields: ['id'],
      search: 'of',
      limit: 1,
    });
    expect(text).not.toContain('then');
  });

  test('addManyToOneRelation: the related record is joined', async () => {
    const filter = { field: 'owner:full name', operator: 'Equal', value: 'Bo' } as const;
    expect(await rows({ collection: 'order_lines', fields: ['order_id', 'owner:label'], filter })).toEqual([
      [2, 'B of Rome'],
    ]);
  });

  test('addHook: a hook before a list can restrict or refuse it', async () => {
    expect((await rows({ collection: 'order_lines', fields: ['article'] })).flat()).toEqual([
      'pen',
      'pen',
      'pad',
      'pen',
    ]);
    await expect(rows({ collection: 'order_lines' }, { timezone: 'Asia/Tokyo' })).rejects.toMatchObject({
      code: 'DENIED',
      message: 'Not from there.',
    });
  });
});

describe('over a memory source', () => {
  const memory = sellers[0]!;
  const open = (customize: (agent: HeadlessAgent) => void, options: ShopOptions = {}) =>
    memory.open({ customize, ...options });

  test('addField: values, promises and missing elements may be mixed', async () => {
    const shop = await open(
      on('customers', (customers) =>
        customers.addField('mixed', {
          columnType: 'String',
          dependencies: ['id'],
          defaultValue: 'none',
          getValues() {
            const values: unknown[] = ['at once', Promise.resolve('later')];
            values.length = 3;
            return values;
          },
        }),
      ),
    );
    const { rows } = await shop.engine.list(accessOf(), { collection: 'customers', fields: ['mixed'], limit: 9 });
    expect(rows).toEqual([['at once'], ['later'], ['none']]);
  });

  test('an error of code shows the caller the name of the field, and the log its line', async () => {
    const shop = await open((agent) =>
      agent.customizeCollection('orders', (orders) =>
        orders
          .addField('broken', {
            columnType: 'Number',
            dependencies: ['id'],
            getValues() {
              throw new Error('secret inner text');
            },
          })
          .addField('short', { columnType: 'Number', dependencies: ['id'], getValues: () => [1] })
          .addField('wrong', { columnType: 'Number', dependencies: ['id'], getValues: (all) => all.map(() => 'x') }),
      ),
    );
    const failure = async (field: string) => {
      const error = await shop.engine.list(accessOf(), { collection: 'orders', fields: [field], limit: 9 }).then(
        () => new Error('it answered'),
        (thrown) => thrown,
      );
      const { code, message, cause } = error as Error & { code: string; cause: Error };
      return [
        code,
        message.includes('secret'),
        message.includes(field),
        cause.message.replace(/ \/.*customize/, ' customize'),
      ];
    };
    expect([await failure('broken'), await failure('short'), await failure('wrong')]).toEqual(
      ['broken', 'short', 'wrong'].map((field) => [
        'CUSTOMIZATION_FAILED',
        false,
        true,
        expect.stringMatching(new RegExp(`^the field '${field}', added at customize.test.ts:\\d+, failed: `)),
      ]),
    );
  });

  test('reading more rows than the limit is refused; only rows that match the rest of the filter count', async () => {
    const limits = { pageSizeLimit: 9, queryTimeoutMs: 1000, rowsLimit: 4 };
    const sortTotals = on('orders', (orders) => orders.emulateFieldSorting('total'));
    const shop = await open(sortTotals, { limits });
    const request = { collection: 'orders', fields: ['id'], sort: [{ field: 'total' }], limit: 2 };
    await expect(shop.engine.list(accessOf(), request)).rejects.toMatchObject({ code: 'TOO_MANY_ROWS' });
    const filter = { field: 'id', operator: 'LessThan', value: 5 } as const;
    expect((await shop.engine.list(accessOf(), { ...request, filter })).rows).toEqual([[1], [2]]);
  });

  test('reading 10,000 rows for a field is logged once', async () => {
    const warnings: string[] = [];
    const observe: Observe = (each) => each.type === 'warning' && warnings.push(each.message);
    const rows = Array.from({ length: 10_000 }, (_, index) => [index]);
    const table = { name: 'orders', columns: [{ name: 'id', type: 'Number' }], primaryKey: ['id'], rows } as const;
    const sortIds = on('orders', (orders) => orders.emulateFieldSorting('id'));
    const shop = await open(sortIds, { observe, sources: [createMemorySource('memory', [table])] });
    for (const ascending of [true, false])
      await shop.engine.list(accessOf(), { collection: 'orders', sort: [{ field: 'id', ascending }], limit: 1 });
    expect(warnings).toEqual([
      "'id' of 'orders' is evaluated after reading, and 10000 rows were read for it: add a replaceFieldOperator or a replaceFieldSorting.",
    ]);
  });

  test('circular operator replacements give an error', async () => {
    const shop = await open((agent) =>
      agent.customizeCollection('orders', (orders) =>
        orders
          .replaceFieldOperator('id', 'Equal', (value) => ({ field: 'total', operator: 'Equal', value }))
          .replaceFieldOperator('total', 'Equal', (value) => ({ field: 'id', operator: 'Equal', value })),
      ),
    );
    const filter = { field: 'id', operator: 'Equal', value: 1 } as const;
    await expect(shop.engine.count(accessOf(), { collection: 'orders', filter })).rejects.toMatchObject({
      code: 'CUSTOMIZATION_FAILED',
    });
  });

  test('addDataSource: include, exclude and rename', async () => {
    const shop = await open(() => {}, {
      source: {
        exclude: ['line_notes'],
        include: ['orders', 'customers', 'line_notes'],
        rename: { customers: 'clients' },
      },
    });
    expect(shop.engine.index(accessOf()).map(({ name, relations }) => [name, relations])).toEqual([
      ['clients', ['orders']],
      ['orders', ['customer']],
    ]);
    const { rows } = await shop.engine.list(accessOf(), { collection: 'orders', fields: ['customer:name'], limit: 1 });
    expect(rows).toEqual([['Ada']]);
  });

  test('customizing after the start is refused', async () => {
    let kept: HeadlessAgent | undefined;
    await open((agent) => {
      kept = agent;
    });
    expect(() => kept!.customizeCollection('orders', () => {})).toThrow(/has already started.*customize\.test\.ts:\d+/);
  });

  const wrongs: readonly (readonly [what: string, customize: (agent: HeadlessAgent) => void, problem: RegExp])[] = [
    ['an unknown collection', (agent) => agent.customizeCollection('order', (each) => each.disableCount()), /no collection 'order'\. Near: orders/],
    ['removing an unknown collection', (agent) => agent.removeCollection('costumers'), /no collection 'costumers'\. Near: customers/],
    ['an unknown field', on('orders', (each) => each.renameField('totl', 'sum')), /no field 'totl'\. Near: total/],
    ['an unknown dependency', on('orders', (each) => each.addField('x', computed(['customer:nam']))), /'customers' has no field 'nam'\. Near: name/],
    ['a path through many', on('customers', (each) => each.importField('x', { path: 'orders:total' })), /does not lead to one record/],
    ['circular fields', on('orders', (each) => each.addField('a', computed(['b'])).addField('b', computed(['a']))), /Circular fields: orders\.a -> orders\.b -> orders\.a/],
    ['circular sortings', on('orders', (each) => each.replaceFieldSorting('id', [{ field: 'total' }]).replaceFieldSorting('total', [{ field: 'id' }])), /Circular sortings/],
    ['adding an existing field', on('orders', (each) => each.addField('total', computed(['id']))), /already has a field 'total'/],
    ['two fields with the same name', on('orders', (each) => each.renameField('id', 'total')), /would have the name 'total'/],
    ['removing the key', on('orders', (each) => each.removeField('id')), /key of 'orders' and cannot be removed/],
    ['an operator that the type does not have', on('orders', (each) => each.emulateFieldOperator('total', 'Like')), /'Like' cannot be used on 'total'/],
    ['an unknown operator', on('orders', (each) => each.emulateFieldOperator('total', 'Equals' as 'Equal')), /Near: Equal/],
    ['no dependencies', on('orders', (each) => each.addField('x', computed([]))), /needs 'dependencies'/],
    ['a duplicate segment', on('orders', (each) => each.addSegment('x', { field: 'id', operator: 'Present' }).addSegment('x', { field: 'id', operator: 'Present' })), /is already defined/],
    ['a name with a colon', on('orders', (each) => each.renameField('total', 'a:b')), /cannot be a name/],
    ['a failing data source', (agent) => agent.addDataSource(() => { throw new Error('cannot open'); }), /cannot open/],
  ]; // biome-ignore format: a table

  test.each(wrongs)('%s ends the start with the line of the call', async (what, customize, problem) => {
    const error: Error = await open(customize).then(
      () => new Error('it started'),
      (thrown) => thrown,
    );
    expect(error.message).toMatch(problem);
    if (what !== 'a failing data source') expect(error.message).toMatch(/customize\.test\.ts:\d+\)$/);
  });
});

function on(
  name: string,
  say: (collection: Parameters<Parameters<HeadlessAgent['customizeCollection']>[1]>[0]) => unknown,
) {
  return (agent: HeadlessAgent) => void agent.customizeCollection(name, (collection) => void say(collection));
}

function computed(dependencies: string[]) {
  return { columnType: 'Number', dependencies, getValues: (all: readonly unknown[]) => all.map(() => 1) } as const;
}
