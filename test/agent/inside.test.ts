// Unscoped access on every source: reads and writes of code through `context.collection`, by the names before renaming.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CustomizationContext } from '../../src/agent/customize/context.ts';
import { problemsOf, refusalOf } from './attempt.ts';
import { accessOf, type Shop, sellers } from './shop.ts';

const all = accessOf();
const everything = { conditionTree: { aggregator: 'And', conditions: [] } } as const;
const of = (id: number) => ({ conditionTree: { field: 'id', operator: 'Equal', value: id } }) as const;

describe.each(sellers)('$name', (seller) => {
  let shop: Shop;
  let work: (context: CustomizationContext) => unknown;
  let hooked: string[];
  /** Runs code within a call of a caller with almost no rights, and returns its result. */
  async function inside<T>(run: (context: CustomizationContext) => Promise<T>): Promise<T> {
    let answer: Promise<T> | undefined;
    work = async (context) => {
      answer = run(context);
      await answer.catch(() => {});
    };
    const scopes = { order_lines: { field: 'article', operator: 'Equal', value: 'ink' } } as const;
    const access = { ...accessOf({ browse: ['order_lines'], scopes }), field: () => 'read' as const };
    await shop.engine.list(access, { collection: 'order_lines', limit: 1 });
    return answer!;
  }

  beforeEach(async () => {
    hooked = [];
    shop = await seller.open({
      customize: (agent) =>
        agent
          .customizeCollection('order_lines', (lines) =>
            lines.addHook('Before', 'List', (context) => work(context) as never),
          )
          .customizeCollection('customers', (customers) =>
            customers
              .renameField('name', 'full name')
              .removeField('secret')
              .addField('label', {
                columnType: 'String',
                dependencies: ['name'],
                getValues: (records) => records.map(({ name }) => `<${name}>`),
              })
              .replaceFieldWriting('label', (value) => ({ name: String(value).slice(1, -1) }))
              .emulateFieldFiltering('label')
              .addFieldValidation('name', 'LongerThan', 1)
              .addHook('Before', 'Create', () => void hooked.push('create'))
              .addHook('Before', 'Update', () => void hooked.push('update'))
              .addHook('Before', 'Delete', () => void hooked.push('delete')),
          )
          .removeCollection('line_notes'),
    });
  });
  afterEach(() => shop?.close());

  const fields = ['id', 'name', 'secret', 'label'];

  test('create: writes removed fields, applies replaced fields and rules, and calls no hooks', async () => {
    const created = await inside(({ collection }) =>
      collection('customers').create([
        { id: 8, label: '<Di>', secret: 's' },
        { id: 9, name: 'Ed', city: 'Oslo' },
      ]),
    );
    const broken = await problemsOf(
      inside(({ collection }) => collection('customers').create([{ id: 10, name: 'X' }])),
    );
    const listed = await inside(({ collection }) =>
      collection('customers').list({ conditionTree: { field: 'id', operator: 'GreaterThan', value: 7 } }, fields),
    );
    expect([created, broken, listed, hooked]).toEqual([
      [
        { id: 8, name: 'Di', city: null, secret: 's' },
        { id: 9, name: 'Ed', city: 'Oslo', secret: null },
      ],
      ['name: breaks the rule LongerThan(1): send more than 1 characters, not 1.'],
      [
        { id: 8, name: 'Di', secret: 's', label: '<Di>' },
        { id: 9, name: 'Ed', secret: null, label: '<Ed>' },
      ],
      [],
    ]);
  });

  test('update: accepts any filter, also by computed and related fields, and nested writes', async () => {
    const update = (collectionName: string, conditionTree: object, patch: object) =>
      inside(({ collection }) =>
        collection(collectionName).update({ conditionTree: conditionTree as never }, { ...patch }),
      );
    const counts = [
      await update('customers', everything.conditionTree, { secret: 'all' }),
      await update('customers', { field: 'label', operator: 'Equal', value: '<Bo>' }, { label: '<Bob>' }),
      await update('orders', { field: 'customer:name', operator: 'Equal', value: 'Bob' }, { total: 1 }),
      await update('orders', { field: 'id', operator: 'LessThan', value: 4 }, { total: 2, 'customer:city': 'Bern' }),
      await update('orders', { field: 'id', operator: 'Equal', value: 77 }, { total: 2 }),
      await update('line_notes', everything.conditionTree, { text: 'x' }),
    ];
    const rows = await inside(({ collection }) => collection('customers').list({}, ['name', 'city', 'secret']));
    expect([counts, rows.map((row) => Object.values(row)), hooked]).toEqual([
      [3, 1, 2, 3, 0, 3],
      [
        ['Ada', 'Bern', 'all'],
        ['Bob', 'Bern', 'all'],
        ['Cy', null, 'all'],
      ],
      [],
    ]);
  });

  test('delete: accepts any filter, also on removed collections', async () => {
    const counts = [
      await inside(({ collection }) => collection('line_notes').delete(everything)),
      await inside(({ collection }) =>
        collection('order_lines').delete({ conditionTree: { field: 'order:total', operator: 'Equal', value: 20 } }),
      ),
      await inside(({ collection }) => collection('orders').delete(of(5))),
      await inside(({ collection }) =>
        collection('customers').delete({ conditionTree: { field: 'label', operator: 'Equal', value: '<Cy>' } }),
      ),
    ];
    const left = (name: string) => inside(({ collection }) => collection(name).count());
    expect([
      counts,
      await left('line_notes'),
      await left('order_lines'),
      await left('orders'),
      await left('customers'),
    ]).toEqual([[3, 2, 1, 1], 0, 3, 4, 2]);
  });

  test('aggregate: groups by the names before renaming', async () => {
    const by = (groups: { field: string }[], limit?: number) =>
      inside(({ collection }) =>
        collection('orders').aggregate(
          { conditionTree: { field: 'id', operator: 'LessThan', value: 5 } },
          { operation: 'Sum', field: 'total', groups },
          limit,
        ),
      );
    expect([await by([{ field: 'customer:name' }]), await by([{ field: 'customer:name' }], 1), await by([])]).toEqual([
      [
        { value: 40, group: { 'customer:name': 'Bo' } },
        { value: 30, group: { 'customer:name': null } },
        { value: 10.5, group: { 'customer:name': 'Ada' } },
      ],
      [{ value: 40, group: { 'customer:name': 'Bo' } }],
      [{ value: 80.5, group: {} }],
    ]);
  });

  test('associate and dissociate: are atomic', async () => {
    const link = (kind: 'associate' | 'dissociate', id: number, ids: number[]) =>
      inside(({ collection }) => collection('customers')[kind](id, 'orders', ids));
    const missing = await refusalOf(link('associate', 1, [2, 77]));
    const counts = [await link('associate', 1, [2, 4]), await link('dissociate', 2, [3])];
    const rows = await inside(({ collection }) => collection('orders').list({}, ['customer_id']));
    expect([missing.details?.missing, counts, rows.map((row) => row.customer_id)]).toEqual([
      ['77'],
      [2, 1],
      [1, 1, null, 1, 3],
    ]);
  });

  test('a missing filter is refused, and unknown names get similar ones', async () => {
    const codes = [
      await refusalOf(inside(({ collection }) => collection('customers').delete({}))),
      await refusalOf(
        inside(({ collection }) =>
          collection('customers').update({ conditionTree: undefined as never }, { city: 'x' }),
        ),
      ),
      await refusalOf(inside(async ({ collection }) => collection('costumers').count())),
      await refusalOf(inside(({ collection }) => collection('customers').associate(1, 'order', [1]))),
      await refusalOf(inside(({ collection }) => collection('customers').update(of(1), { 'full name': 'x' }))),
    ];
    expect(codes.map(({ code, details }) => [code, details?.near ?? details?.argument])).toEqual([
      ['INVALID_ARGUMENT', 'filter'],
      ['INVALID_ARGUMENT', 'filter'],
      ['UNKNOWN_COLLECTION', ['customers']],
      ['UNKNOWN_RELATION', ['orders']],
      ['INVALID_RECORD', undefined],
    ]);
    expect((await shop.engine.list(all, { collection: 'customers', limit: 9 })).rows).toHaveLength(3);
  });

  test('concurrent writes of one call do not deadlock', async () => {
    const counts = await inside(({ collection }) =>
      Promise.all([1, 2, 3, 1, 2, 3].map((id) => collection('customers').update(of(id), { city: `c${id}` }))),
    );
    const rows = await inside(({ collection }) => collection('customers').list({}, ['city']));
    expect([counts, rows.map(({ city }) => city)]).toEqual([
      [1, 1, 1, 1, 1, 1],
      ['c1', 'c2', 'c3'],
    ]);
  });

  test('actions: context.collection is unscoped, and accepts context.filter', async () => {
    const other = await seller.open({
      customize: (agent) =>
        agent.customizeCollection('customers', (customers) =>
          customers.renameField('name', 'full name').addAction('Mark', {
            scope: 'Bulk',
            async execute({ collection, filter, getRecords }, result) {
              const names = (await getRecords(['name'])).map(({ name }) => name);
              const count = await collection.update(filter, { secret: names.join('+') });
              const [made] = await collection.create([{ id: 9, name: 'Zed' }]);
              return result.success(`${count} ${made?.name}`);
            },
          }),
        ),
    });
    const scopes = { customers: { field: 'full name', operator: 'NotEqual', value: 'Cy' } } as const;
    const done = await other.engine.actions.execute(accessOf({ scopes }), {
      collection: 'customers',
      action: 'Mark',
      filter: { field: 'full name', operator: 'Present' },
    });
    const { rows } = await other.engine.list(all, {
      collection: 'customers',
      fields: ['full name', 'secret'],
      limit: 9,
    });
    await other.close();
    expect([done, rows]).toEqual([
      expect.objectContaining({ message: '2 Zed' }),
      [
        ['Ada', 'Ada+Bo'],
        ['Bo', 'Ada+Bo'],
        ['Cy', 'x3'],
        ['Zed', null],
      ],
    ]);
  });
});
