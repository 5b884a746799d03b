import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessOf, type Shop, sellers } from './shop.ts';

describe.each(sellers)('$name', (seller) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await seller.open();
  });
  afterAll(() => shop?.close());
  const count = (request: object) => shop.engine.count(accessOf(), { collection: 'orders', ...request });

  test.each(['And', 'Or'] as const)('a filter of 500 conditions joined by %s is accepted', async (aggregator) => {
    const one = { field: 'customer:city', operator: 'NotContains', value: 'om' } as const;
    expect(await count({ filter: { aggregator, conditions: Array(500).fill(one) } })).toBe(3);
  });

  test('a list of 10,000 values is accepted', async () => {
    const value = Array.from({ length: 10_000 }, (_, index) => index + 3);
    const not = { field: 'id', operator: 'NotIn', value };
    expect([await count({ filter: { field: 'id', operator: 'In', value } }), await count({ filter: not })]).toEqual([
      3, 2,
    ]);
  });

  test('a search for 16 words through relations is accepted', async () => {
    const request = { search: `ada${' -zz'.repeat(15)}`, searchExtended: true };
    expect(await count(request)).toBe(1);
  });

  test('numbers out of range match nothing, and only those that JSON may have rounded are refused', async () => {
    const counts = await Promise.all(
      ['99999999999999999999999999', '-1e-7', 1e300, '0.000000000001', 1.5].map((value) =>
        count({ filter: { field: 'id', operator: 'In', value: [value, 1] } }).catch((error) => error.code),
      ),
    );
    expect(counts).toEqual([1, 'INVALID_VALUE', 'INVALID_VALUE', 1, 1]);
  });
});
