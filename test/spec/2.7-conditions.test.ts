import { describe, expect, test } from 'vitest';
import type { CustomizationContext, InsideFilter } from '../../src/agent/customize/definitions.ts';
import { type Caller, fullAccess } from '../../src/core/caller.ts';
import type { PlainFilter } from '../../src/core/filter.ts';
import { accessOf } from '../agent/shop.ts';
import { openShop, openWith } from './opened.ts';

const big: PlainFilter = { field: 'total', operator: 'GreaterThan', value: 15 };
const third: PlainFilter = { field: 'id', operator: 'Equal', value: 3 };
const first: PlainFilter = { field: 'id', operator: 'Equal', value: 1 };

describe('conditions', () => {
  test('leaf: field, operator, value', async () => {
    const shop = await openShop();
    expect([await shop.orders({ filter: big }), await shop.orders({ filter: null })]).toEqual([
      [2, 3, 4],
      [1, 2, 3, 4, 5],
    ]);
    const wrong = { field: 'total', operator: 'GreaterThen' as 'GreaterThan', value: 1 };
    await expect(shop.orders({ filter: wrong })).rejects.toMatchObject({
      code: 'UNKNOWN_OPERATOR',
      details: { near: ['GreaterThan', 'ShorterThan'] },
    });
    await expect(shop.orders({ filter: { ...big, field: 'totl' } })).rejects.toMatchObject({
      code: 'UNKNOWN_FIELD',
      details: { near: ['total'] },
    });
  });

  test('And: all conditions hold; none means every record', async () => {
    const shop = await openShop();
    const and = (...conditions: PlainFilter[]) => shop.orders({ filter: { aggregator: 'And', conditions } });
    expect([await and(big, third), await and(first, third), await and()]).toEqual([[3], [], [1, 2, 3, 4, 5]]);
  });

  test('Or: one of the conditions holds; none means no record', async () => {
    const shop = await openShop();
    const or = (...conditions: PlainFilter[]) => shop.orders({ filter: { aggregator: 'Or', conditions } });
    const within = await or(first, { aggregator: 'And', conditions: [big, third] });
    expect([await or(first, third), within, await or()]).toEqual([[1, 3], [1, 3], []]);
  });
});

/** What the inside door answers to a filter: the ids of orders. */
async function inside(filter: InsideFilter): Promise<unknown[]> {
  let found: unknown[] = [];
  const shop = await openWith('customers', (customers) =>
    customers.addSegment('asks', async ({ collection }) => {
      found = (await collection('orders').list(filter, ['id'])).map(({ id }) => id);
      return { aggregator: 'And', conditions: [] };
    }),
  );
  await shop.list({ collection: 'customers', segment: 'asks' });
  return found;
}

describe('filter', () => {
  test('conditionTree: which records customization code asks for', async () => {
    expect([await inside({ conditionTree: big }), await inside({})]).toEqual([
      [2, 3, 4],
      [1, 2, 3, 4, 5],
    ]);
  });

  test('search: a text that is looked for in the columns of the collection', async () => {
    const shop = await openShop();
    const search = async (text: string) =>
      (await shop.list({ collection: 'customers', fields: ['name'], search: text })).flat();
    expect([await search('PAR'), await search('nobody'), await inside({ search: '30' })]).toEqual([['Ada'], [], [4]]);
  });

  test('searchExtended: the text is looked for in to-one relations too', async () => {
    const shop = await openShop();
    expect([
      await shop.orders({ search: 'rome' }),
      await shop.orders({ search: 'rome', searchExtended: true }),
      await inside({ search: 'rome', searchExtended: true }),
      await shop.orders({ search: 'rome', searchExtended: true }, { hidden: ['customers.city'] }),
    ]).toEqual([[], [2, 3], [2, 3], []]);
  });

  test('segment: a named filter of the collection, beside the others', async () => {
    const shop = await openWith('orders', (orders) => orders.addSegment('dear', big));
    expect([await shop.orders({ segment: 'dear' }), await shop.orders({ segment: 'dear', filter: third })]).toEqual([
      [2, 3, 4],
      [3],
    ]);
    await expect(shop.orders({ segment: 'deer' })).rejects.toMatchObject({
      code: 'UNKNOWN_SEGMENT',
      details: { near: ['dear'] },
    });
  });
});

describe('projection', () => {
  test('projection: field paths, relation fields written relation:field', async () => {
    const shop = await openShop();
    const fields = ['article', 'order:total', 'order:customer:name'];
    const answer = await shop.engine.list(accessOf(), { collection: 'order_lines', fields, limit: 1 });
    expect([answer.columns, answer.rows, answer.records()]).toEqual([
      fields,
      [['pen', 10.5, 'Ada']],
      [{ article: 'pen', order: { total: 10.5, customer: { name: 'Ada' } } }],
    ]);
    await expect(shop.list({ collection: 'order_lines', fields: ['order'] })).rejects.toMatchObject({
      code: 'RELATION_NEEDS_FIELD',
    });
  });
});

describe('caller', () => {
  const caller: Caller = {
    id: 7,
    email: 'eve@example.com',
    firstName: 'Eve',
    lastName: 'Moss',
    team: 'Support',
    role: 'Agent',
    tags: { city: 'Rome' },
    timezone: 'Asia/Tokyo',
    permissionLevel: 'editor',
    renderingId: 3,
  };
  const expected = {
    id: 7,
    email: 'eve@example.com',
    firstName: 'Eve',
    lastName: 'Moss',
    team: 'Support',
    role: 'Agent',
    tags: { city: 'Rome' },
    timezone: 'Asia/Tokyo',
  };

  test.each(Object.entries(expected))('caller: %s: customization code reads it', async (name, value) => {
    const seen: CustomizationContext[] = [];
    const shop = await openWith('orders', (orders) =>
      orders.addSegment('seen', (context) => {
        seen.push(context);
        return third;
      }),
    );
    await shop.engine.list(fullAccess(caller), { collection: 'orders', segment: 'seen', limit: 9 });
    expect(seen.map((context) => context.caller[name as keyof Caller])).toEqual([value]);
  });

  test('timezone: the days of a filter are those of the caller, unless the call names others', async () => {
    // 2024-03-31 in Tokyo is from 15:00 of the day before to 15:00, UTC.
    const shop = await openShop(undefined, {
      clock: { now: () => Date.parse('2024-03-31T20:00:00Z'), sleep: async () => {} } as never,
    });
    const filter = { field: 'placed_at', operator: 'Yesterday' } as const;
    expect([
      await shop.orders({ filter }, { timezone: 'Asia/Tokyo' }),
      await shop.orders({ filter }, { timezone: 'UTC' }),
      await shop.orders({ filter, timezone: 'UTC' }, { timezone: 'Asia/Tokyo' }),
    ]).toEqual([[1, 2], [1], [1]]);
  });
});

describe('sort clauses', () => {
  test('sort: field: what is sorted by, through relations too, and the key after it', async () => {
    const shop = await openShop();
    expect([
      await shop.orders({ sort: [{ field: 'total' }] }),
      await shop.orders({ sort: [{ field: 'customer:name' }, { field: 'total' }] }),
    ]).toEqual([
      [5, 1, 2, 3, 4],
      [4, 1, 2, 3, 5],
    ]);
    await expect(shop.orders({ sort: [{ field: 'totl' }] })).rejects.toMatchObject({ details: { near: ['total'] } });
  });

  test('sort: ascending: true unless it is said', async () => {
    const shop = await openShop();
    const by = (ascending?: boolean) =>
      shop.orders({ sort: [{ field: 'total', ...(ascending !== undefined && { ascending }) }] });
    expect([await by(), await by(true), await by(false)]).toEqual([
      [5, 1, 2, 3, 4],
      [5, 1, 2, 3, 4],
      [4, 2, 3, 1, 5],
    ]);
  });
});
