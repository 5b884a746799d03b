// Regression tests for defects of operators that were seen elsewhere.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Operator, PlainFilter } from '../../../src/core/filter.ts';
import { refusalOf } from '../attempt.ts';
import { accessOf, sellers } from '../shop.ts';
import { type Opened, openOn } from './opened.ts';

/** Texts that a pattern could misread. */
const awkward = [
  'a.b',
  'axb',
  'a|b',
  'a',
  'b',
  'a[b]',
  'ab',
  'g%4',
  'tag14',
  'g_4',
  'a\\b',
  "it's",
  '^a$',
  '(a)',
  'a*',
];
const noon = Date.parse('2024-03-31T12:00:00Z');

describe.each(sellers)('$name', (seller) => {
  let shop: Opened;
  beforeAll(async () => {
    shop = await openOn(
      seller,
      (agent) =>
        agent.customizeCollection('customers', (customers) => {
          customers.addFieldValidation('city', 'Match', /o/g);
        }),
      { clock: { now: () => noon, monotonic: () => 0 } as never },
    );
    await shop.engine.create(accessOf(), {
      collection: 'customers',
      records: awkward.map((name, index) => ({ id: 100 + index, name })),
    });
  });
  afterAll(() => shop?.close());

  const named = (operator: Operator, value: unknown): Promise<unknown[]> => {
    const conditions: PlainFilter[] = [
      { field: 'id', operator: 'GreaterThanOrEqual', value: 100 },
      { field: 'name', operator, value },
    ];
    return shop.values({ collection: 'customers', fields: ['name'], filter: { aggregator: 'And', conditions } });
  };

  test('In matches whole texts and does not treat them as patterns', async () => {
    expect([await named('In', ['a', 'b']), await named('In', ['a.b', 'a|b', '(a)', '^a$', 'a*'])]).toEqual([
      ['a', 'b'],
      ['a.b', 'a|b', '^a$', '(a)', 'a*'],
    ]);
  });

  test('NotIn excludes exactly the listed values', async () => {
    expect(await named('NotIn', ['a.b', 'a', 'ab'])).toEqual(
      awkward.filter((name) => !['a.b', 'a', 'ab'].includes(name)),
    );
  });

  test('a row exactly at midnight belongs to the day that begins, in the timezone of the caller', async () => {
    const on = (operator: Operator, timezone: string) =>
      shop.values({ collection: 'orders', fields: ['id'], filter: { field: 'placed_at', operator } }, { timezone });
    await shop.engine.update(accessOf(), {
      collection: 'orders',
      ids: [1],
      values: { placed_at: '2024-03-30T23:00:00.000Z' },
    });
    // In Paris the clocks go forward on this day. It lasts from 23:00 to 22:00 UTC, and the fourth order is at its end.
    expect([await on('Today', 'Europe/Paris'), await on('Yesterday', 'Europe/Paris')]).toEqual([[1, 2, 3], []]);
    expect(await on('Yesterday', 'UTC')).toEqual([1]);
  });

  test('text operators and searches treat %, _ and the backslash literally', async () => {
    expect([
      await named('Contains', '%'),
      await named('Contains', 'g%4'),
      await named('StartsWith', 'g_'),
      await named('EndsWith', '\\b'),
      await named('IContains', "T'S"),
      await named('NotContains', '%').then((names) => names.length),
      await shop.values({ collection: 'customers', fields: ['name'], search: '%' }),
      await shop.values({ collection: 'customers', fields: ['name'], search: 'g%4' }),
    ]).toEqual([['g%4'], ['g%4'], ['g_4'], ['a\\b'], ["it's"], awkward.length - 1, ['g%4'], ['g%4']]);
  });

  test('a validation with a global regular expression gives the same result each time', async () => {
    const cities = ['Oslo', 'Bonn', 'Oslo', 'Oslo'];
    const tell = (city: string) =>
      refusalOf(
        shop.engine.update(accessOf(), { collection: 'customers', ids: [1], values: { city } }, { preview: true }),
      );
    const codes: unknown[] = [];
    for (const city of [...cities, 'Bern']) codes.push((await tell(city)).code);
    expect(codes).toEqual([undefined, undefined, undefined, undefined, 'INVALID_RECORD']);
  });

  test('dates are compared as instants whatever their offset, and NotEqual includes nulls', async () => {
    const filter = { field: 'placed_at', operator: 'Before', value: '2024-03-31T03:00:00+02:00' } as const;
    const not = { field: 'city', operator: 'NotEqual', value: 'Rome' } as const;
    expect([
      await shop.values({ collection: 'orders', fields: ['id'], filter }),
      await shop.values({ collection: 'customers', fields: ['id'], filter: not, limit: 2 }),
    ]).toEqual([
      [1, 2],
      [1, 3],
    ]);
  });
});
