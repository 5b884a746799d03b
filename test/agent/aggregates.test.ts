// Aggregates through the engine, on every source.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AggregateRequest } from '../../src/agent/requests.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { accessOf, type Rights, type Shop, sellers } from './shop.ts';

const cursorAfter = expect.any(Function);
const note = 'Groups without records are left out.';

describe.each(sellers)('$name', (seller) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await seller.open();
  });
  afterAll(() => shop?.close());

  const ask = (request: Partial<AggregateRequest>, rights?: Rights) =>
    shop.engine.aggregate(accessOf(rights), { collection: 'orders', operation: 'Count', limit: 50, ...request });
  const rows = async (request: Partial<AggregateRequest>, rights?: Rights) => (await ask(request, rights)).rows;
  const refusal = (request: Partial<AggregateRequest>, rights?: Rights) =>
    ask(request, rights).then(
      () => 'answered',
      (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
    );

  test('an aggregate without groups has one row, even if no record matches', async () => {
    const none = { field: 'total', operator: 'GreaterThan', value: 1000 } as const;
    const never = { field: 'id', operator: 'In', value: [] } as const;
    expect(
      await Promise.all([
        ask({}),
        rows({ operation: 'Sum', field: 'total' }),
        rows({ filter: none }),
        rows({ filter: none, operation: 'Sum', field: 'total' }),
        rows({ filter: never }),
        rows({ filter: never, operation: 'Avg', field: 'total' }),
        rows({ filter: never, groups: [{ field: 'id' }] }),
      ]),
    ).toEqual([
      { columns: ['count'], rows: [[5]], hasMore: false, cursorAfter },
      [[85.5]],
      [[0]],
      [[null]],
      [[0]],
      [[null]],
      [],
    ]);
  });

  test('rows are sorted by value descending, then by groups, nulls first, and hasMore reports further groups', async () => {
    const groups = [{ field: 'customer:name' }];
    expect([await ask({ groups, limit: 2 }), await rows({ groups })]).toEqual([
      {
        columns: ['customer:name', 'count'],
        rows: [
          ['Bo', 2],
          [null, 1],
        ],
        hasMore: true,
        note,
        cursorAfter,
      },
      [
        ['Bo', 2],
        [null, 1],
        ['Ada', 1],
        ['Cy', 1],
      ],
    ]);
  });

  test('sorted by groups, dates are ascending', async () => {
    const groups = [{ field: 'placed_at', bucket: 'Month' }] as const;
    expect(await ask({ operation: 'Sum', field: 'total', groups, order: 'groups', timezone: 'UTC' })).toEqual({
      columns: ['month(placed_at)', 'sum(total)'],
      rows: [
        ['2024-03-01', 80.5],
        ['2024-04-01', 5],
      ],
      hasMore: false,
      note,
      cursorAfter,
    });
  });

  test('days are those of the timezone of the request, else of the caller, also at a clock change', async () => {
    const groups = [{ field: 'placed_at', bucket: 'Day' }] as const;
    const rights = { timezone: 'Europe/Paris' };
    expect(
      await Promise.all([
        rows({ groups, order: 'groups' }, rights),
        rows({ groups, order: 'groups', timezone: 'America/New_York' }, rights),
      ]),
    ).toEqual([
      [
        ['2024-03-31', 3],
        ['2024-04-01', 2],
      ],
      [
        ['2024-03-30', 2],
        ['2024-03-31', 2],
        ['2024-04-01', 1],
      ],
    ]);
  });

  test('a bucket is the first day of its period, and weeks start on Monday', async () => {
    const first = { field: 'id', operator: 'Equal', value: 3 } as const;
    const of = async (bucket: 'Year' | 'Quarter' | 'Month' | 'Week' | 'Day') =>
      (await rows({ filter: first, groups: [{ field: 'placed_at', bucket }] }))[0]?.[0];
    expect(await Promise.all([of('Year'), of('Quarter'), of('Month'), of('Week'), of('Day')])).toEqual([
      '2024-01-01',
      '2024-01-01',
      '2024-03-01',
      '2024-03-25',
      '2024-03-31',
    ]);
  });

  test('Count and Avg ignore nulls, and Max and Min compare dates and numbers', async () => {
    expect(
      await Promise.all([
        rows({ field: 'customer_id' }),
        rows({ operation: 'Avg', field: 'customer_id' }),
        rows({ operation: 'Avg', field: 'total', filter: { field: 'id', operator: 'LessThan', value: 4 } }),
        rows({ operation: 'Max', field: 'placed_at' }),
        rows({ operation: 'Min', field: 'total', groups: [{ field: 'customer_id' }], limit: 2 }),
      ]),
    ).toEqual([
      [[4]],
      [[2]],
      [[16.8333333333333]],
      [['2024-04-01T08:00:00.000Z']],
      [
        [null, 30],
        [2, 20],
      ],
    ]);
  });

  test('the row scopes of the collection and of every joined collection apply', async () => {
    const scopes = {
      orders: { field: 'total', operator: 'LessThan', value: 25 },
      customers: { field: 'city', operator: 'Equal', value: 'Rome' },
    } as const;
    expect([
      await rows({ groups: [{ field: 'customer:name' }] }, { scopes }),
      await rows({ operation: 'Count', field: 'customer:name' }, { scopes }),
    ]).toEqual([
      [
        [null, 2],
        ['Bo', 2],
      ],
      [[2]],
    ]);
  });

  test('search and filter restrict the aggregated records', async () => {
    const filter = { field: 'customer:city', operator: 'Present' } as const;
    expect([
      await rows({ search: '20', filter }),
      await rows({ collection: 'order_lines', search: 'pen', groups: [{ field: 'order:customer:name' }] }),
    ]).toEqual([
      [[2]],
      [
        [null, 1],
        ['Ada', 1],
        ['Bo', 1],
      ],
    ]);
  });

  test('hidden collections and fields do not exist', async () => {
    const rights = { browse: ['orders', 'customers'], hidden: ['orders.total', 'customers.secret'] };
    expect([
      await refusal({ collection: 'line_notes' }, rights),
      await refusal({ operation: 'Sum', field: 'total' }, rights),
      await refusal({ groups: [{ field: 'total' }] }, rights),
      await refusal({ groups: [{ field: 'customer:secret' }] }, rights),
      await refusal({ operation: 'Sum', field: 'customer:name' }, rights),
    ]).toEqual([
      "UNKNOWN_COLLECTION: No collection 'line_notes'. Call describeCollection without a name for the list.",
      "UNKNOWN_FIELD: 'orders' has no field 'total'. Call describeCollection for all fields.",
      "UNKNOWN_FIELD: 'orders' has no field 'total'. Call describeCollection for all fields.",
      "UNKNOWN_FIELD: 'customers' has no field 'secret'. Call describeCollection for all fields.",
      "INVALID_ARGUMENT: field: Sum takes Number, but 'customer:name' is String. Usable: id, customer_id.",
    ]);
  });

  test('an invalid aggregate is refused with what to send instead', async () => {
    expect([
      await refusal({ operation: 'Sum' }),
      await refusal({ operation: 'Median' as 'Sum', field: 'total' }),
      await refusal({ groups: [{ field: 'total', bucket: 'Day' }] }),
      await refusal({ groups: [{ field: 'placed_at', bucket: 'Minute' as 'Day' }] }),
      await refusal({ groups: [{ field: 'customer' }] }),
      await refusal({ groups: Array.from({ length: 9 }, () => ({ field: 'id' })) }),
      await refusal({ limit: 0 }),
      await refusal({ timezone: 'Mars/Olympus' }),
      await refusal({ order: 'size' as 'value' }),
    ]).toEqual([
      'INVALID_ARGUMENT: field: Sum needs a field. Usable: id, customer_id, total.',
      'INVALID_ARGUMENT: operation: expected one of Count, Sum, Avg, Max, Min.',
      "INVALID_ARGUMENT: groups: a bucket needs a Date or Dateonly, but 'total' is Number. Leave the bucket out.",
      "INVALID_ARGUMENT: groups: no bucket 'Minute'. Send one of Year, Quarter, Month, Week, Day, Hour.",
      "RELATION_NEEDS_FIELD: 'customer' of 'orders' is a relation: name one of its fields, such as 'customer:id'.",
      'INVALID_ARGUMENT: groups: at most 8 groups.',
      'INVALID_ARGUMENT: limit: expected a whole number from 1 to 100.',
      "INVALID_ARGUMENT: timezone: expected an IANA name such as 'Europe/Paris'.",
      "INVALID_ARGUMENT: order: expected 'value' or 'groups'.",
    ]);
  });
});

test.each([
  // A summer time of one week, a half-hour shift, a skipped day, a month without summer time, and war time.
  ['America/Boa_Vista', '2000-10-07T00:00:00Z'],
  ['Australia/Lord_Howe', '2024-04-04T00:00:00Z'],
  ['Pacific/Apia', '2011-12-27T00:00:00Z'],
  ['Africa/Casablanca', '2024-03-08T00:00:00Z'],
  ['Europe/Paris', '1944-08-22T00:00:00Z'],
  ['Asia/Kolkata', '1945-10-12T00:00:00Z'],
])('every quarter of an hour of ten days in %s is in the same day as with Intl', async (zone, from) => {
  const instants = Array.from({ length: 960 }, (_, at) => new Date(Date.parse(from) + at * 900_000).toISOString());
  const source = createMemorySource('memory', [
    { name: 'events', columns: [{ name: 'at', type: 'Date' }], rows: instants.map((at) => [at]) },
  ]);
  const { engine } = await sellers[0]!.open({ sources: [source] });
  const groups = [{ field: 'at', bucket: 'Day' }] as const;
  const request = { collection: 'events', operation: 'Count', groups, order: 'groups', limit: 50 } as const;
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  const days = new Map<string, number>();
  for (const at of instants) {
    const day = format.format(new Date(at));
    days.set(day, (days.get(day) ?? 0) + 1);
  }
  expect((await engine.aggregate(accessOf({ timezone: zone }), request)).rows).toEqual([...days]);
});
