import { describe, expect, test } from 'vitest';
import { refusalOf } from '../agent/attempt.ts';
import { accessOf } from '../agent/shop.ts';
import { openWith } from './opened.ts';

const size = {
  columnType: 'String',
  dependencies: ['total'],
  getValues: (records: readonly Readonly<Record<string, unknown>>[]) =>
    records.map(({ total }) => (Number(total) > 15 ? 'large' : 'small')),
} as const;
const small = { field: 'size', operator: 'Equal', value: 'small' } as const;
const bySize = [{ field: 'size' }, { field: 'id', ascending: false }];

describe('Segments', () => {
  test('addSegment(name, definition): a condition leaf or tree, or an async function of the context returning one', async () => {
    const leaf = { field: 'total', operator: 'GreaterThan', value: 15 } as const;
    const shop = await openWith('orders', (orders) =>
      orders
        .addSegment('leaf', leaf)
        .addSegment('tree', { aggregator: 'And', conditions: [leaf, { field: 'id', operator: 'LessThan', value: 4 }] })
        .addSegment('own', async ({ caller }) => ({ field: 'customer_id', operator: 'Equal', value: caller.id })),
    );
    const of = (segment: string) => shop.orders({ segment });
    expect([
      await of('leaf'),
      await of('tree'),
      await of('own'),
      shop.engine.describe(accessOf(), 'orders').segments,
    ]).toEqual([[2, 3, 4], [2, 3], [1], ['leaf', 'tree', 'own']]);
  });
});

describe('Search', () => {
  test('replaceSearch(definition taking the search string)', async () => {
    const shop = await openWith('orders', (orders) =>
      orders.replaceSearch(async (search) => ({ field: 'customer:name', operator: 'StartsWith', value: search })),
    );
    expect([await shop.orders({ search: 'B' }), await shop.orders({ search: '20' })]).toEqual([[2, 3], []]);
  });

  test('disableSearch()', async () => {
    const shop = await openWith('orders', (orders) => orders.disableSearch());
    const { code } = await refusalOf(shop.orders({ search: '20' }));
    expect([code, shop.engine.describe(accessOf(), 'orders').searchable]).toEqual(['INVALID_ARGUMENT', false]);
  });
});

describe('Sorting', () => {
  test('emulateFieldSorting(name)', async () => {
    const shop = await openWith('orders', (orders) => orders.addField('size', size).emulateFieldSorting('size'));
    const plain = await openWith('orders', (orders) => orders.addField('size', size));
    expect([
      await shop.orders({ sort: bySize }),
      await shop.orders({ sort: bySize, limit: 2, skip: 1 }),
      (await refusalOf(plain.orders({ sort: bySize }))).code,
    ]).toEqual([[4, 3, 2, 5, 1], [3, 2], 'FIELD_NOT_SORTABLE']);
  });

  test('replaceFieldSorting(name, sortClauses)', async () => {
    const shop = await openWith('orders', (orders) =>
      orders.replaceFieldSorting('placed_at', [{ field: 'total', ascending: false }, { field: 'id' }]),
    );
    const by = (ascending: boolean) => shop.orders({ sort: [{ field: 'placed_at', ascending }] });
    expect([await by(true), await by(false)]).toEqual([
      [4, 2, 3, 1, 5],
      [5, 1, 3, 2, 4],
    ]);
  });

  test('disableFieldSorting(name)', async () => {
    const shop = await openWith('orders', (orders) => orders.disableFieldSorting('total'));
    const { fields } = shop.engine.describe(accessOf(), 'orders');
    expect([
      (await refusalOf(shop.orders({ sort: [{ field: 'total' }] }))).code,
      fields.find(({ name }) => name === 'total')?.sortable,
    ]).toEqual(['FIELD_NOT_SORTABLE', false]);
  });
});

describe('Filtering', () => {
  test('emulateFieldFiltering(name)', async () => {
    const shop = await openWith('orders', (orders) => orders.addField('size', size).emulateFieldFiltering('size'));
    const plain = await openWith('orders', (orders) => orders.addField('size', size));
    expect([
      await shop.orders({ filter: small }),
      await shop.orders({ filter: { field: 'size', operator: 'IStartsWith', value: 'LAR' } }),
      (await refusalOf(plain.orders({ filter: small }))).code,
    ]).toEqual([[1, 5], [2, 3, 4], 'OPERATOR_NOT_ALLOWED']);
  });

  test('emulateFieldOperator(name, operator)', async () => {
    const shop = await openWith('orders', (orders) =>
      orders.addField('size', size).emulateFieldOperator('size', 'Equal'),
    );
    const like = { field: 'size', operator: 'Like', value: '%' } as const;
    expect([await shop.orders({ filter: small }), (await refusalOf(shop.orders({ filter: like }))).code]).toEqual([
      [1, 5],
      'OPERATOR_NOT_ALLOWED',
    ]);
  });

  test('replaceFieldOperator(name, operator, replacer)', async () => {
    const shop = await openWith('orders', (orders) =>
      orders.addField('size', size).replaceFieldOperator('size', 'Equal', async (value) => ({
        field: 'total',
        operator: value === 'large' ? 'GreaterThan' : 'LessThanOrEqual',
        value: 15,
      })),
    );
    const text = await shop.engine.explain(accessOf(), {
      collection: 'orders',
      fields: ['id'],
      filter: small,
      limit: 9,
    });
    expect([await shop.orders({ filter: small }), text]).toEqual([
      [1, 5],
      expect.stringContaining('where total LessThanOrEqual ?'),
    ]);
  });
});

describe('Hooks', () => {
  test('addHook(position, type, handler)', async () => {
    const seen: unknown[] = [];
    const shop = await openWith('orders', (orders) =>
      orders
        .addHook('Before', 'Create', ({ data }) => void seen.push('before', data.length))
        .addHook('After', 'Create', ({ records }) => void seen.push('after', records[0]?.id)),
    );
    const records = [{ id: 9, total: 1, placed_at: '2024-05-01T00:00:00Z' }];
    await shop.engine.create(accessOf(), { collection: 'orders', records });
    expect(seen).toEqual(['before', 1, 'after', 9]);
  });
});

describe('Fields', () => {
  test('addFieldValidation(name, operator, value?)', async () => {
    const shop = await openWith('customers', (customers) =>
      customers.addFieldValidation('city', 'LongerThan', 3).addFieldValidation('city', 'Present'),
    );
    const write = (city: unknown) =>
      refusalOf(shop.engine.update(accessOf(), { collection: 'customers', ids: [1], values: { city } }));
    expect([(await write('Ulm')).code, (await write('')).code, (await write('Oslo')).code]).toEqual([
      'INVALID_RECORD',
      'INVALID_RECORD',
      undefined,
    ]);
    expect(await shop.list({ collection: 'customers', fields: ['city'], limit: 1 })).toEqual([['Oslo']]);
  });
});
