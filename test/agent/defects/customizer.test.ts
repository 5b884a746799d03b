// Regression tests for defects of customizations and forms seen elsewhere.
import { afterEach, describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../../src/agent/agent.ts';
import type { CollectionCustomizer } from '../../../src/agent/customize/customizer.ts';
import type { Select } from '../../../src/agent/sources/statement.ts';
import { closeAll, openForm } from '../actions/counter.ts';
import { refusalOf } from '../attempt.ts';
import { accessOf, databases, type ShopOptions, sellers } from '../shop.ts';
import { type Opened, openOn } from './opened.ts';

const opened: Opened[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((shop) => shop.close()));
  await closeAll();
});

const on =
  (name: string, say: (collection: CollectionCustomizer) => unknown) =>
  (agent: HeadlessAgent): unknown =>
    agent.customizeCollection(name, (collection) => void say(collection));

async function open(customize: (agent: HeadlessAgent) => unknown, options: ShopOptions = {}): Promise<Opened> {
  const shop = await openOn(sellers[0]!, customize, options);
  opened.push(shop);
  return shop;
}

const label = {
  columnType: 'String',
  dependencies: ['name'],
  getValues: (records: readonly Readonly<Record<string, unknown>>[]) => records.map(({ name }) => `~${name}`),
} as const;

describe('customizations', () => {
  test('filtering by an emulated field reads only the rows that match the rest of the filter', async () => {
    const reads: Select[] = [];
    const shop = await open(
      on('customers', (customers) => customers.addField('label', label).emulateFieldFiltering('label')),
      {
        wrap: (source) => ({
          ...source,
          async read(select, options) {
            const rows = await source.read(select, options);
            reads.push({ ...select, limit: rows.length });
            return rows;
          },
        }),
      },
    );
    const conditions = [
      { field: 'id', operator: 'LessThan', value: 3 },
      { field: 'label', operator: 'EndsWith', value: 'o' },
    ] as const;
    const filter = { aggregator: 'And', conditions } as const;
    expect([
      await shop.values({ collection: 'customers', fields: ['id'], filter }),
      reads.map(({ limit, where }) => [limit, where.op]),
    ]).toEqual([[2], [[2, 'test']]]);
  });

  test('a search ignores an emulated field and does not read the whole collection', async () => {
    const shop = await open(
      on('customers', (customers) => customers.addField('label', label).emulateFieldFiltering('label')),
    );
    const request = { collection: 'customers', fields: ['id'], search: 'Bo ~Ada', limit: 9 };
    expect([await shop.values(request), (await shop.engine.explain(accessOf(), request)).includes('then')]).toEqual([
      [],
      false,
    ]);
  });

  test('a list is sorted by a field of a one-to-one relation', async () => {
    const shop = await open(
      on('line_notes', (notes) =>
        notes.addOneToOneRelation('same', 'customers', { originKey: 'id', originKeyTarget: 'id' }),
      ),
    );
    const sort = [{ field: 'same:name', ascending: false }];
    expect(await shop.values({ collection: 'line_notes', fields: ['same:name'], sort })).toEqual(['Cy', 'Bo', 'Ada']);
  });

  test('a list does not modify its request', async () => {
    const shop = await open(() => {});
    const deepFreeze = <T>(value: T): T => {
      if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze);
      return Object.freeze(value);
    };
    const request = deepFreeze({
      collection: 'orders',
      fields: ['customer:id'],
      filter: {
        aggregator: 'And' as const,
        conditions: [{ field: 'customer:id', operator: 'In' as const, value: [1, 2] }],
      },
      sort: [{ field: 'customer:id' }],
    });
    expect(await shop.values(request)).toEqual([1, 2, 2]);
  });

  test('a sort by a field whose sorting is disabled is refused', async () => {
    const shop = await open(on('orders', (orders) => orders.disableFieldSorting('total')));
    const refusal = await refusalOf(shop.values({ collection: 'orders', sort: [{ field: 'total' }] }));
    expect([refusal.code, refusal.message]).toEqual(['FIELD_NOT_SORTABLE', expect.stringContaining("'total'")]);
  });

  test('a hook before a list can restrict its filter, and a hook after it sees the final filter', async () => {
    const seen: unknown[] = [];
    const shop = await open(
      on('orders', (orders) =>
        orders
          .addHook('Before', 'List', ({ narrow }) => narrow({ field: 'id', operator: 'LessThan', value: 3 }))
          .addHook('After', 'List', ({ filter }) => void seen.push(filter.conditionTree)),
      ),
    );
    expect([await shop.values({ collection: 'orders', fields: ['id'] }), seen]).toEqual([
      [1, 2],
      [{ aggregator: 'And', conditions: [{ field: 'id', operator: 'LessThan', value: 3 }] }],
    ]);
  });

  test('an error of a hook after a write reports that the write is done', async () => {
    const shop = await open(
      on('customers', (customers) =>
        customers.addHook('After', 'Create', () => {
          throw new Error('mail server is down');
        }),
      ),
    );
    const records = [{ id: 9, name: 'Di' }];
    const { code, message } = await refusalOf(shop.engine.create(accessOf(), { collection: 'customers', records }));
    expect([code, message?.includes('mail server'), (await shop.values({ collection: 'customers' })).length]).toEqual([
      'FAILED_AFTER_WRITE',
      false,
      4,
    ]);
  });

  test('records of one create with different fields each keep their own values', async () => {
    const shop = await open(
      on('customers', (customers) =>
        customers.replaceFieldWriting('name', (value) => ({ secret: `s-${value}`, name: value })),
      ),
    );
    const records = [
      { id: 10, name: 'Di', city: 'Bern' },
      { id: 11, name: 'Ed' },
      { id: 12, name: 'Flo', city: 'Ulm' },
    ];
    const written = await shop.engine.create(accessOf(), { collection: 'customers', records });
    expect(written.records.map(({ id, name, city, secret }) => [id, name, city, secret])).toEqual([
      [10, 'Di', 'Bern', 's-Di'],
      [11, 'Ed', null, 's-Ed'],
      [12, 'Flo', 'Ulm', 's-Flo'],
    ]);
  });

  test.each(databases)(
    'an update returns the records of its filter, even if it changes the filtered field ($name)',
    async (seller) => {
      const shop = await openOn(seller);
      opened.push(shop);
      const filter = { field: 'total', operator: 'Equal', value: 20 } as const;
      const { count, records } = await shop.engine.update(accessOf(), {
        collection: 'orders',
        filter,
        values: { total: 21 },
      });
      expect([count, records.map(({ id, total }) => [id, total])]).toEqual([
        2,
        [
          [2, 21],
          [3, 21],
        ],
      ]);
    },
  );

  test.each(databases)('a write of several records is atomic ($name)', async (seller) => {
    const shop = await openOn(seller);
    opened.push(shop);
    const records = [
      { id: 20, name: 'Gil' },
      { id: 1, name: 'Ada again' },
    ];
    const { code } = await refusalOf(shop.engine.create(accessOf(), { collection: 'customers', records }));
    expect([code, await shop.values({ collection: 'customers', fields: ['id'] })]).toEqual([
      'INVALID_RECORD',
      [1, 2, 3],
    ]);
  });

  test('replaceFieldWriting with null makes a field read-only', async () => {
    const shop = await open(on('customers', (customers) => customers.replaceFieldWriting('city', null)));
    const { code, details } = await refusalOf(
      shop.engine.update(accessOf(), { collection: 'customers', ids: [1], values: { city: 'Ulm' } }),
    );
    expect([code, JSON.stringify(details)]).toEqual(['INVALID_RECORD', expect.stringContaining('city')]);
  });
});

test('an external relation queries each record once, however often a page shows it', async () => {
  const asked: unknown[] = [];
  const shop = await open(
    on('customers', (customers) =>
      customers.addExternalRelation('visits', {
        schema: { day: 'String' },
        listRecords({ id }) {
          asked.push(id);
          return [{ day: `day ${id}` }];
        },
      }),
    ),
  );
  const rows = await shop.values({ collection: 'orders', fields: ['customer:visits'] });
  expect([rows.map((each) => JSON.stringify(each)), [...asked].sort()]).toEqual([
    ['[{"day":"day 1"}]', '[{"day":"day 2"}]', '[{"day":"day 2"}]', 'null', '[{"day":"day 3"}]'],
    [1, 2, 3],
  ]);
});

test.each(databases)('an imported field and own fields are written atomically ($name)', async (seller) => {
  const shop = await openOn(
    seller,
    on('orders', (orders) => orders.importField('town', { path: 'customer:city' })),
  );
  opened.push(shop);
  await shop.run('create unique index one_town on customers (city)');
  const write = (town: string) =>
    refusalOf(shop.engine.update(accessOf(), { collection: 'orders', ids: [1], values: { total: 99, town } }));
  const state = async () => (await shop.rows({ collection: 'orders', fields: ['total', 'customer:city'] }))[0];
  const [refused, before] = [(await write('Rome')).code, await state()];
  const [written, after] = [(await write('Ulm')).code, await state()];
  expect([refused, before, written, after]).toEqual(['INVALID_RECORD', [10.5, 'Paris'], undefined, [99, 'Ulm']]);
});

test('the periods of a chart are those of the timezone of the caller', async () => {
  const shop = await open((agent) =>
    agent.addChart('orders', (_, result) => result.timeBased('Month', [{ date: '2024-03-31T22:30:00Z', value: 1 }])),
  );
  const labels = async (timezone: string) =>
    JSON.stringify(await shop.engine.charts.render(accessOf({ timezone }), { chart: 'orders' })).match(/\w+ 24/g);
  expect([await labels('UTC'), await labels('Europe/Paris')]).toEqual([['Mar 24'], ['Apr 24']]);
});

describe('action forms', () => {
  test('the options function of a dropdown gets the search text, whatever its name', async () => {
    const anyName = (_: unknown, text: string | null) => (text === null ? [] : [`${text}!`]);
    const form = await openForm([
      { label: 'City', type: 'String', widget: 'Dropdown', search: 'dynamic', options: anyName },
    ]);
    expect(await form.search('City', 'Par')).toEqual([{ value: 'Par!', label: 'Par!' }]);
  });

  test('two fields with the same id are refused, also in nested layouts and form functions', async () => {
    const field = { label: 'Note', type: 'String' } as const;
    const nested = [field, { type: 'Layout', component: 'Row', fields: [field] }] as const;
    const refused = /two fields have the id 'Note'/;
    await expect(openForm(nested)).rejects.toThrow(refused);
    const made = await openForm((() => nested) as never);
    await expect(made.load()).rejects.toMatchObject({
      code: 'ACTION_FAILED',
      cause: { message: expect.stringMatching(refused) },
    });
  });

  test('every falsy `if` hides a field, not only false', async () => {
    const hide = (value: unknown) => ({ label: `if ${value}`, type: 'String', if: () => value as boolean }) as const;
    const form = await openForm([hide(false), hide(null), hide(0), hide(''), hide(undefined), hide(true)]);
    expect((await form.load()).fields.map(({ id }) => id)).toEqual(['if true']);
  });

  test('a hidden field is not evaluated when the action is executed', async () => {
    let calls = 0;
    const form = await openForm([
      { label: 'A', type: 'String', if: () => false, value: () => `${++calls}`, isRequired: true },
    ]);
    expect([await form.submit({}), calls]).toEqual([{}, 0]);
  });
});
