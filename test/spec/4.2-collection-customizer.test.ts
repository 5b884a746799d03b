import { describe, expect, test } from 'vitest';
import type { EngineAgent } from '../../src/agent/agent.ts';
import type { CollectionCustomizer } from '../../src/agent/customize/customizer.ts';
import { accessOf } from '../agent/shop.ts';
import { openShop, openWith } from './opened.ts';

const label = {
  columnType: 'String',
  dependencies: ['total', 'customer:name'],
  getValues: (records: readonly Readonly<Record<string, unknown>>[]) =>
    records.map(({ total, customer }) => `${total} of ${(customer as { name: string } | null)?.name ?? 'nobody'}`),
} as const;

describe('Actions', () => {
  test('addAction(name, definition)', async () => {
    const shop = await openWith('orders', (orders) =>
      orders.addAction('Pay', { scope: 'Single', execute: (_, result) => result.success('Paid') }),
    );
    const { actions } = shop.engine;
    const request = { collection: 'orders', action: 'Pay', recordIds: [1] };
    expect([
      actions.describe(accessOf(), 'orders').map(({ name }) => name),
      await actions.execute(accessOf(), request),
    ]).toMatchObject([['Pay'], { type: 'success', message: 'Paid' }]);
  });
});

describe('Fields', () => {
  test('addField(name, definition)', async () => {
    const shop = await openWith('orders', (orders) => orders.addField('label', label));
    expect(await shop.orders({ fields: ['label'], limit: 4 })).toEqual([
      '10.5 of Ada',
      '20 of Bo',
      '20 of Bo',
      '30 of nobody',
    ]);
    await expect(openWith('orders', (orders) => orders.addField('total', label))).rejects.toThrow(
      /has a field 'total' already.*4\.2-collection-customizer\.test\.ts:\d+\)$/,
    );
  });

  test('importField(name, {path, readonly?})', async () => {
    const shop = await openWith('orders', (orders) =>
      orders.importField('city', { path: 'customer:city', readonly: true }),
    );
    const { fields } = shop.engine.describe(accessOf(), 'orders');
    expect([
      await shop.orders({ fields: ['city'] }),
      await shop.orders({ filter: { field: 'city', operator: 'Equal', value: 'Rome' } }),
      await shop.orders({ sort: [{ field: 'city', ascending: false }], limit: 3 }),
      fields.find(({ name }) => name === 'city')?.readOnly,
    ]).toEqual([['Paris', 'Rome', 'Rome', null, null], [2, 3], [2, 3, 1], true]);
  });

  test('renameField(currentName, newName)', async () => {
    const shop = await openWith('orders', (orders) =>
      orders
        .renameField('total', 'amount')
        .renameField('customer', 'buyer')
        .addField('label', label)
        .addSegment('dear', { field: 'total', operator: 'GreaterThan', value: 20 }),
    );
    const sort = [{ field: 'amount', ascending: false }];
    const fields = ['amount', 'buyer:name', 'label'];
    expect(await shop.list({ collection: 'orders', fields, sort, segment: 'dear' })).toEqual([
      [30, null, '30 of nobody'],
    ]);
    await expect(shop.orders({ fields: ['total'] })).rejects.toMatchObject({ code: 'UNKNOWN_FIELD' });
    const { records } = await shop.engine.create(accessOf(), {
      collection: 'orders',
      records: [{ id: 9, amount: 1, placed_at: '2024-01-01T00:00:00Z', customer_id: 1 }],
    });
    expect(records).toMatchObject([{ id: 9, amount: 1 }]);
  });

  test('removeField(...names)', async () => {
    const shop = await openWith('customers', (customers) =>
      customers
        .addField('hint', { ...label, dependencies: ['secret'], getValues: (all) => all.map(({ secret }) => secret) })
        .removeField('secret', 'city'),
    );
    const { fields } = shop.engine.describe(accessOf(), 'customers');
    expect([fields.map(({ name }) => name), await shop.list({ collection: 'customers', limit: 1 })]).toEqual([
      ['id', 'name', 'hint'],
      [[1, 'Ada', 'x1']],
    ]);
    for (const field of ['secret', 'city'])
      await expect(shop.list({ collection: 'orders', fields: [`customer:${field}`] })).rejects.toMatchObject({
        code: 'UNKNOWN_FIELD',
      });
    await expect(openWith('customers', (customers) => customers.removeField('id'))).rejects.toThrow(
      /key of 'customers', which cannot be removed/,
    );
  });

  test('setFieldNullable(name)', async () => {
    const needs = async (say: (orders: CollectionCustomizer) => unknown) => {
      const { engine } = await openWith('orders', say);
      const { nullable, required } = engine.describe(accessOf(), 'orders').fields.find(({ name }) => name === 'total')!;
      return { nullable, required };
    };
    expect([await needs(() => {}), await needs((orders) => orders.setFieldNullable('total'))]).toEqual([
      { nullable: false, required: true },
      { nullable: true, required: false },
    ]);
  });
});

describe('Relations', () => {
  // Without the foreign keys of the database: each is declared under a name of its own.
  test('addManyToOneRelation', async () => {
    const shop = await openWith('line_notes', (notes) =>
      notes.addManyToOneRelation('whole', 'orders', { foreignKey: 'order_id' }),
    );
    expect(await shop.list({ collection: 'line_notes', fields: ['text', 'whole:total'] })).toEqual([
      ['blue', 10.5],
      ['lined', 20],
      ['loose', 10.5],
    ]);
  });

  test('addOneToManyRelation', async () => {
    const shop = await openWith('orders', (orders) =>
      orders.addOneToManyRelation('notes', 'line_notes', { originKey: 'order_id' }),
    );
    expect(shop.engine.describe(accessOf(), 'orders').relations).toContainEqual({
      name: 'notes',
      kind: 'many',
      to: 'line_notes',
      columns: ['id'],
    });
  });

  test('addManyToManyRelation', async () => {
    const options = { originKey: 'order_id', foreignKey: 'line', foreignKeyTarget: 'line' };
    const shop = await openWith('orders', (orders) =>
      orders.addManyToManyRelation('likely', 'line_notes', 'order_lines', options),
    );
    const asked = { collection: 'orders', relation: 'likely', id: 2, fields: ['text'], limit: 9 };
    expect((await shop.engine.listRelated(accessOf(), asked)).rows).toEqual([['lined']]);
  });

  test('addExternalRelation', async () => {
    const shop = await openWith('customers', (each) =>
      each.addExternalRelation('marks', { schema: { of: 'Number' }, listRecords: ({ id }) => [{ of: id }] }),
    );
    const asked = { collection: 'customers', relation: 'marks', id: 2, limit: 9 };
    expect((await shop.engine.listRelated(accessOf(), asked)).rows).toEqual([[2]]);
  });

  test('addOneToOneRelation', async () => {
    const shop = await openWith('line_notes', (notes) =>
      notes.addOneToOneRelation('same', 'customers', { originKey: 'id', originKeyTarget: 'id' }),
    );
    expect(await shop.list({ collection: 'line_notes', fields: ['text', 'same:name'], limit: 1 })).toEqual([
      ['blue', 'Ada'],
    ]);
    await expect(
      openWith('customers', (each) => each.addOneToOneRelation('order', 'orders', { originKey: 'customer_id' })),
    ).rejects.toThrow(/not unique, so that one record could relate to many/);
  });
});

describe('Other', () => {
  test('disableCount()', async () => {
    const shop = await openWith('orders', (orders) => orders.disableCount());
    await expect(shop.engine.count(accessOf(), { collection: 'orders' })).rejects.toMatchObject({
      code: 'NOT_COUNTABLE',
    });
    expect([
      shop.engine.describe(accessOf(), 'orders').countable,
      await shop.engine.count(accessOf(), { collection: 'customers' }),
    ]).toEqual([false, 3]);
  });

  test('use(plugin, options?)', async () => {
    const plugin = (orders: CollectionCustomizer, options: { readonly above: number } | undefined) =>
      void orders.addSegment('dear', { field: 'total', operator: 'GreaterThan', value: options?.above ?? 25 });
    const [plain, told] = [
      await openWith('orders', (orders) => orders.use(plugin)),
      await openWith('orders', (orders) => orders.use(plugin, { above: 15 })),
    ];
    expect([await plain.orders({ segment: 'dear' }), await told.orders({ segment: 'dear' })]).toEqual([[4], [2, 3, 4]]);
  });

  test('chaining: every operation gives the customizer back', async () => {
    const given: unknown[] = [];
    let customizer: CollectionCustomizer | undefined;
    const everything = (agent: EngineAgent) =>
      agent.customizeCollection('orders', (orders) => {
        customizer = orders;
        given.push(
          orders.addAction('Act', { scope: 'Global', execute: () => undefined }),
          orders.addField('label', label),
          orders.importField('city', { path: 'customer:city' }),
          orders.renameField('city', 'town'),
          orders.removeField('label'),
          orders.setFieldNullable('total'),
          orders.addManyToOneRelation('a', 'customers', { foreignKey: 'customer_id' }),
          orders.addOneToManyRelation('b', 'line_notes', { originKey: 'order_id' }),
          orders.addOneToOneRelation('c', 'customers', { originKey: 'id' }),
          orders.addSegment('d', { field: 'id', operator: 'Present' }),
          orders.addHook('Before', 'List', () => {}),
          orders.replaceSearch(() => ({ field: 'id', operator: 'Present' })),
          orders.disableSearch(),
          orders.emulateFieldSorting('total'),
          orders.replaceFieldSorting('id', [{ field: 'placed_at' }]),
          orders.disableFieldSorting('customer_id'),
          orders.emulateFieldFiltering('label'),
          orders.emulateFieldOperator('placed_at', 'Present'),
          orders.replaceFieldOperator('total', 'Equal', () => ({ field: 'id', operator: 'Present' })),
          orders.addChart('sum', (_, result) => result.value(1)),
          orders.addManyToManyRelation('e', 'customers', 'line_notes', { originKey: 'order_id', foreignKey: 'line' }),
          orders.addFieldValidation('total', 'GreaterThan', 0),
          orders.replaceFieldWriting('total', (value) => ({ total: value })),
          orders.overrideCreate(() => []),
          orders.overrideUpdate(() => {}),
          orders.overrideDelete(() => {}),
          orders.disableCount(),
          orders.use(() => {}),
        );
      });
    await openShop(everything);
    expect([given.length, given.filter((each) => each !== customizer)]).toEqual([28, []]);
  });
});
