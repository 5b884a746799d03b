import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AppError } from '../../src/core/errors.ts';
import { accessOf, type Shop, sellers } from './shop.ts';

interface Refused {
  readonly code?: string;
  readonly details?: { readonly problems?: unknown };
  readonly answer?: unknown;
}

const refusal = (run: Promise<unknown>): Promise<Refused> =>
  run.then(
    (answer) => ({ answer }),
    ({ code, details }: AppError) => ({ code, details }),
  );

/** The effects of a call that writes only the records of `customers` that it names. */
const only = (change: string, ids: readonly string[]) => {
  const effect = { collection: 'customers', change, cause: 'call', count: ids.length, ids };
  return { effects: [effect], unseen: [] };
};
/** The effects of a preview. The changes of its one effect are those of the answer. */
const foreseen = (
  collection: string,
  effect: { readonly change: string; readonly count: number; readonly ids?: string[] },
) => ({
  effects: [{ collection, cause: 'call', ...effect, changes: expect.any(Array) }],
  unseen: [],
});

describe.each(sellers)('$name', (seller) => {
  let shop: Shop;
  beforeEach(async () => {
    shop = await seller.open();
  });
  afterEach(() => shop?.close());

  const all = accessOf();
  const inCity = (city: string) => ({ field: 'city', operator: 'Equal', value: city }) as const;
  const paris = accessOf({ scopes: { customers: inCity('Paris') } });
  const ordersOfParis = accessOf({
    scopes: { orders: { field: 'customer:city', operator: 'Equal', value: 'Paris' } },
  });
  const rowsOf = async (collection: string, fields: string[]) =>
    (await shop.engine.list(all, { collection, fields, limit: 50 })).rows;
  const customers = () => rowsOf('customers', ['id', 'name', 'city']);
  const orders = () => rowsOf('orders', ['id', 'customer_id', 'total']);
  const untouched = [
    [1, 'Ada', 'Paris'],
    [2, 'Bo', 'Rome'],
    [3, 'Cy', null],
  ];

  test('create returns the stored records in the given order, also if they have different fields', async () => {
    const records = [
      { id: 10, name: 'Di', city: 'Oslo' },
      { id: '11', name: 'Ed' },
      { id: 12, name: 'Flo', city: null },
    ];
    expect(await shop.engine.create(all, { collection: 'customers', records })).toEqual({
      count: 3,
      ids: ['10', '11', '12'],
      records: [
        { id: 10, name: 'Di', city: 'Oslo', secret: null },
        { id: 11, name: 'Ed', city: null, secret: null },
        { id: 12, name: 'Flo', city: null, secret: null },
      ],
      ...only('created', ['10', '11', '12']),
    });
    expect(await customers()).toEqual([...untouched, [10, 'Di', 'Oslo'], [11, 'Ed', null], [12, 'Flo', null]]);
  });

  test('a timestamp without an offset is read in the timezone of the call', async () => {
    const records = [{ id: 9, total: '12.50', placed_at: '2024-03-31T12:00' }];
    const { records: stored } = await shop.engine.create(all, {
      collection: 'orders',
      records,
      timezone: 'Asia/Tokyo',
    });
    expect(stored).toEqual([{ id: 9, customer_id: null, total: 12.5, placed_at: '2024-03-31T03:00:00.000Z' }]);
  });

  test('update by ids returns the records in the order of the ids, also if no value changes', async () => {
    const request = { collection: 'customers', ids: ['2', 1, '2'], values: { city: 'Bern' } };
    await shop.engine.update(all, request);
    const again = await shop.engine.update(all, request);
    expect(again).toEqual({
      count: 2,
      ids: ['2', '1'],
      records: [
        { id: 2, name: 'Bo', city: 'Bern', secret: 'x2' },
        { id: 1, name: 'Ada', city: 'Bern', secret: 'x1' },
      ],
      ...only('updated', ['2', '1']),
    });
  });

  test('update by a filter, also through relations, changes only records that the caller may see', async () => {
    const filter = { field: 'customer:city', operator: 'In', value: ['Paris', 'Rome'] } as const;
    const answer = await shop.engine.update(ordersOfParis, { collection: 'orders', filter, values: { total: 1 } });
    const none = await shop.engine.update(all, {
      collection: 'orders',
      filter: { field: 'id', operator: 'Equal', value: 99 },
      values: { total: 1 },
    });
    expect([answer.ids, none.count, await orders()]).toEqual([
      ['1'],
      0,
      [
        [1, 1, 1],
        [2, 2, 20],
        [3, 2, 20],
        [4, null, 30],
        [5, 3, 5],
      ],
    ]);
  });

  test('a composite key is packed, and can be changed', async () => {
    const answer = await shop.engine.update(all, { collection: 'order_lines', ids: ['2|1'], values: { line: 7 } });
    expect([answer.ids, answer.records]).toEqual([['2|7'], [{ order_id: 2, line: 7, article: 'pen' }]]);
    expect((await shop.engine.delete(all, { collection: 'order_lines', ids: ['2|7', [4, 1]] })).ids).toEqual([
      '2|7',
      '4|1',
    ]);
  });

  test('a write by several ids is atomic, and names the missing ids', async () => {
    const ids = [1, 77, 2, 78];
    const missing = {
      code: 'RECORD_NOT_FOUND',
      details: { collection: 'line_notes', id: '77', missing: ['77', '78'] },
    };
    expect([
      await refusal(shop.engine.update(all, { collection: 'line_notes', ids, values: { text: 'X' } })),
      await refusal(shop.engine.delete(all, { collection: 'line_notes', ids })),
      (await rowsOf('line_notes', ['text'])).flat(),
    ]).toEqual([missing, missing, ['blue', 'lined', 'loose']]);
  });

  test('delete returns the deleted records, and an empty list of ids is refused', async () => {
    await shop.engine.delete(all, { collection: 'line_notes', ids: [1, 2, 3] });
    const { ids, records } = await shop.engine.delete(all, { collection: 'order_lines', ids: ['1|2'] });
    const none = await refusal(shop.engine.delete(all, { collection: 'order_lines', ids: [] }));
    expect([ids, records, none, (await rowsOf('order_lines', ['line'])).length]).toEqual([
      ['1|2'],
      [{ order_id: 1, line: 2, article: 'ink' }],
      {
        code: 'INVALID_ARGUMENT',
        details: { argument: 'ids', problem: 'send at least one; an empty list does not mean all records.' },
      },
      4,
    ]);
  });

  test('a write that would move a record out of the row scope is refused', async () => {
    const outside = (verb: string, collection: string) => ({
      code: 'FORBIDDEN',
      details: { verb, collection, why: 'with these values the record would be outside the rows that you may see.' },
    });
    const created = { collection: 'customers', records: [{ id: 20, name: 'X', city: 'Rome' }] };
    const placed = { id: 50, total: 2, placed_at: '2024-01-01', customer_id: 2 };
    expect([
      await refusal(shop.engine.create(paris, created)),
      await refusal(shop.engine.update(paris, { collection: 'customers', ids: [1], values: { city: 'Rome' } })),
      await refusal(shop.engine.create(ordersOfParis, { collection: 'orders', records: [placed] })),
      await refusal(shop.engine.update(ordersOfParis, { collection: 'orders', ids: [1], values: { customer_id: 2 } })),
      await customers(),
      (await orders()).length,
    ]).toEqual([
      outside('add to', 'customers'),
      outside('edit', 'customers'),
      outside('add to', 'orders'),
      outside('edit', 'orders'),
      untouched,
      5,
    ]);
  });

  test('a record outside the row scope is not found by update and delete', async () => {
    const missing = (collection: string) => ({
      code: 'RECORD_NOT_FOUND',
      details: { collection, id: '2', missing: ['2'] },
    });
    expect([
      await refusal(shop.engine.update(paris, { collection: 'customers', ids: [1, 2], values: { name: 'X' } })),
      await refusal(shop.engine.delete(paris, { collection: 'customers', ids: [2] })),
      await refusal(shop.engine.update(ordersOfParis, { collection: 'orders', ids: [2], values: { customer_id: 1 } })),
      await refusal(shop.engine.delete(ordersOfParis, { collection: 'orders', ids: [2] })),
      await customers(),
    ]).toEqual([missing('customers'), missing('customers'), missing('orders'), missing('orders'), untouched]);
  });

  test('a foreign key to a record outside the row scope is refused like one to a missing record', async () => {
    const update = (customer_id: number) =>
      refusal(shop.engine.update(paris, { collection: 'orders', ids: [4], values: { customer_id } }));
    const problem = { field: 'customer_id', problem: 'no record has this key, or you may not see it.' };
    const refused = { code: 'INVALID_RECORD', details: { collection: 'orders', problems: [problem] } };
    expect([await update(2), await update(99), await update(1)]).toMatchObject([
      refused,
      refused,
      { answer: { ids: ['4'] } },
    ]);
  });

  test('all problems of the fields are reported together', async () => {
    const records = [
      { id: 'x', nme: 'A' },
      { id: 5, name: null, orders: 1 },
    ];
    expect(await refusal(shop.engine.create(all, { collection: 'customers', records }))).toEqual({
      code: 'INVALID_RECORD',
      details: {
        collection: 'customers',
        problems: [
          { field: 'records[0].id', problem: 'expected a number, got "x".' },
          { field: 'records[0].nme', problem: 'no such field. Near: name.' },
          { field: 'records[0].name', problem: 'is required: send a String.' },
          { field: 'records[1].name', problem: 'may not be null: send a String.' },
          {
            field: 'records[1].orders',
            problem: "is a relation to 'orders': write there, or use associate to link existing records.",
          },
        ],
      },
    });
  });

  test('hidden fields are unknown, read-only fields are refused, and each write needs its permission', async () => {
    const hidden = accessOf({ hidden: ['customers.secret'] });
    const update = { collection: 'customers', ids: [1], values: { secret: 'y', city: 'Bern' } };
    const reader = { ...all, field: () => 'read' as const };
    const browser = { ...all, can: (verb: string) => verb === 'browse' };
    const forbidden = (verb: string) => ({ code: 'FORBIDDEN', details: { verb, collection: 'customers' } });
    const problems = async (access: typeof all) =>
      (await refusal(shop.engine.update(access, update))).details?.problems;
    expect([
      await problems(hidden),
      await problems(reader),
      await refusal(shop.engine.create(browser, { collection: 'customers', records: [{ id: 9, name: 'X' }] })),
      await refusal(shop.engine.update(browser, update)),
      await refusal(shop.engine.delete(browser, { collection: 'customers', ids: [1] })),
      (await shop.engine.update(hidden, { ...update, values: { city: 'Paris' } })).records,
    ]).toEqual([
      [{ field: 'secret', problem: 'no such field.' }],
      [
        { field: 'secret', problem: 'is read-only for you; leave it out.' },
        { field: 'city', problem: 'is read-only for you; leave it out.' },
      ],
      forbidden('add to'),
      forbidden('edit'),
      forbidden('delete from'),
      [{ id: 1, name: 'Ada', city: 'Paris' }],
    ]);
  });

  test('associate sets foreign keys, and dissociate sets them to null without deleting records', async () => {
    const link = { collection: 'customers', id: 1, relation: 'orders', ids: [2, 4] };
    const on = await shop.engine.associate(all, link);
    const held = await orders();
    const off = await shop.engine.dissociate(all, { ...link, ids: [2] });
    const wrong = await refusal(shop.engine.dissociate(all, { ...link, ids: [4, 5] }));
    expect([
      on.ids,
      held.map(([, customer]) => customer),
      off.records[0]?.customer_id,
      wrong,
      (await orders()).length,
    ]).toEqual([
      ['2', '4'],
      [1, 1, 2, 1, 3],
      null,
      { code: 'RECORD_NOT_FOUND', details: { collection: 'orders', id: '5', missing: ['5'], relation: 'orders' } },
      5,
    ]);
  });

  test('associate applies the row scopes of both ends', async () => {
    const link = (id: number, ids: number[]) => ({ collection: 'customers', id, relation: 'orders', ids });
    expect([
      await refusal(shop.engine.associate(paris, link(2, [1]))),
      await refusal(shop.engine.associate(ordersOfParis, link(1, [2]))),
      await refusal(shop.engine.associate(ordersOfParis, link(2, [1]))),
      (await orders()).map(([, customer]) => customer),
    ]).toMatchObject([
      { code: 'RECORD_NOT_FOUND', details: { collection: 'customers' } },
      { code: 'RECORD_NOT_FOUND', details: { collection: 'orders' } },
      { code: 'FORBIDDEN' },
      [1, 2, 2, null, 3],
    ]);
  });

  test('dissociating a non-null foreign key is refused, and so is associate on a to-one relation', async () => {
    const lines = { collection: 'orders', id: 1, relation: 'order_lines', ids: ['1|1'] };
    const customer = { collection: 'orders', id: 1, relation: 'customer', ids: [1] };
    expect([
      await refusal(shop.engine.dissociate(all, lines)),
      await refusal(shop.engine.associate(all, customer)),
      (await rowsOf('order_lines', ['line'])).length,
    ]).toMatchObject([
      { code: 'INVALID_RECORD', details: { problems: [{ field: 'order_id' }] } },
      { code: 'INVALID_ARGUMENT', details: { argument: 'relation' } },
      5,
    ]);
  });

  test('a preview that only reads shows the same changes, and does not execute the write', async () => {
    const change = (ids: number[], values: object) => ({ collection: 'customers', ids, values: { ...values } });
    const orphan = { collection: 'orders', ids: [1], values: { customer_id: 999 } };
    const [preview, onlyReads] = [{ preview: true }, { preview: true, onlyReads: true }];

    const executed = await shop.engine.update(all, change([3], { city: 'Paris' }), preview);
    const { changes, effects } = await shop.engine.update(all, change([3], { city: 'Paris' }), onlyReads);
    const [missing, hidden, invalid] = [
      await refusal(shop.engine.update(all, change([77], { city: 'Paris' }), onlyReads)),
      await refusal(shop.engine.update(paris, change([2], { name: 'X' }), onlyReads)),
      await refusal(shop.engine.update(all, change([1], { name: null }), onlyReads)),
    ];
    const refused = [
      await refusal(shop.engine.update(all, orphan, preview)),
      await refusal(shop.engine.update(all, orphan, onlyReads)),
    ];

    expect([changes, effects]).toEqual([executed.changes, []]);
    expect([missing, hidden, invalid].map(({ code }) => code)).toEqual([
      'RECORD_NOT_FOUND',
      'RECORD_NOT_FOUND',
      'INVALID_RECORD',
    ]);
    // The database would refuse it.
    expect(refused).toMatchObject([
      { code: 'INVALID_RECORD' },
      { answer: { changes: [{ id: '1', fields: { customer_id: { after: 999 } } }] } },
    ]);
    expect(await customers()).toEqual(untouched);
  });

  test('a preview returns the values before and after, and writes nothing', async () => {
    const preview = { preview: true };
    const ids = [1, 3];
    const values = { city: 'Paris' };
    expect([
      await shop.engine.create(all, { collection: 'customers', records: [{ id: 9, name: 'X' }] }, preview),
      await shop.engine.update(all, { collection: 'customers', ids, values }, preview),
      await shop.engine.delete(all, { collection: 'line_notes', ids: [3] }, preview),
      await refusal(shop.engine.delete(all, { collection: 'customers', ids: [1] }, preview)),
      await customers(),
      (await rowsOf('line_notes', ['id'])).length,
    ]).toEqual([
      {
        count: 1,
        ids: [],
        records: [],
        changes: [{ id: null, fields: { id: { before: null, after: 9 }, name: { before: null, after: 'X' } } }],
        ...foreseen('customers', { change: 'created', count: 1 }),
      },
      {
        count: 2,
        ids: [],
        records: [],
        changes: [
          { id: '1', fields: {} },
          { id: '3', fields: { city: { before: null, after: 'Paris' } } },
        ],
        ...foreseen('customers', { change: 'updated', count: 2, ids: ['1', '3'] }),
      },
      {
        count: 1,
        ids: [],
        records: [],
        changes: [
          {
            id: '3',
            fields: {
              id: { before: 3, after: null },
              order_id: { before: 1, after: null },
              text: { before: 'loose', after: null },
            },
          },
        ],
        ...foreseen('line_notes', { change: 'deleted', count: 1, ids: ['3'] }),
      },
      { code: 'RECORD_IN_USE', details: { collection: 'customers', verb: 'delete' } },
      untouched,
      3,
    ]);
  });

  test('a call that is cancelled before its write writes nothing', async () => {
    const signal = AbortSignal.abort();
    const gone = await refusal(shop.engine.delete(all, { collection: 'line_notes', ids: [1] }, { signal }));
    expect([gone.code, (await rowsOf('line_notes', ['id'])).length]).toEqual(['CANCELLED', 3]);
  });

  test('concurrent writes do not mix, and concurrent reads see complete writes', async () => {
    const write = (city: string) =>
      shop.engine.update(all, { collection: 'customers', ids: [1, 2, 3], values: { city, name: city } });
    const seen = await Promise.all(['a', 'b', 'c', 'd'].flatMap((city) => [write(city).then(() => true), customers()]));
    const torn = seen.filter((rows) => Array.isArray(rows) && new Set(rows.map(([, name]) => name)).size === 2);
    expect([torn, new Set((await customers()).map(([, name, city]) => name === city && city)).size]).toEqual([[], 1]);
  });
});
