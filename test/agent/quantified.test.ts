// `some`, `none`, `every` and `Not`: their meaning on every source, in one statement.
import { afterEach, describe, expect, test } from 'vitest';
import type { PlainFilter } from '../../src/core/filter.ts';
import { type Counted, counted } from './counted.ts';
import { accessOf, type Rights, type Shop, type ShopOptions, sellers } from './shop.ts';

const opened: Shop[] = [];
afterEach(async () => {
  for (const shop of opened.splice(0)) await shop.close();
});

describe.each(sellers)('on $name', (seller) => {
  async function open(options: ShopOptions = {}) {
    const shop = await seller.open(options);
    opened.push(shop);
    return {
      ...shop,
      async ids(collection: string, filter: unknown, rights: Rights = {}) {
        const request = { collection, fields: ['id'], filter: filter as PlainFilter, limit: 50 };
        const { rows } = await shop.engine.list(accessOf(rights), request);
        return rows.flat();
      },
    };
  }

  const leaf = (field: string, operator: string, value?: unknown) => ({
    field,
    operator,
    ...(value !== undefined && { value }),
  });
  const all = (...conditions: unknown[]) => ({ aggregator: 'And', conditions });
  const not = (...conditions: unknown[]) => ({ aggregator: 'Not', conditions });

  test('some, none, every and Not work as documented', async () => {
    const { ids } = await open();
    const dear = leaf('total', 'GreaterThan', 15);
    const paper = leaf('article', 'Equal', 'pad');
    expect({
      some: await ids('customers', { some: 'orders' }),
      someWhere: await ids('customers', { some: 'orders', where: dear }),
      none: await ids('customers', { none: 'orders' }),
      noneWhere: await ids('customers', { none: 'orders', where: dear }),
      everyWhere: await ids('customers', { every: 'orders', where: dear }),
      everyOfNothing: await ids('customers', { every: 'orders', where: leaf('id', 'Missing') }),
      not: await ids('customers', not(leaf('city', 'Equal', 'Rome'))),
      notBoth: await ids('customers', not(leaf('id', 'GreaterThan', 1), leaf('city', 'Equal', 'Rome'))),
      notOfNothing: await ids('customers', not()),
      path: await ids('customers', { none: 'orders:order_lines' }),
      pathWhere: await ids('customers', { some: 'orders:order_lines', where: paper }),
      everyOfPath: await ids('customers', { every: 'orders:order_lines', where: paper }),
      nested: await ids('customers', { some: 'orders', where: { none: 'order_lines' } }),
      nestedEvery: await ids('customers', { every: 'orders', where: { some: 'order_lines', where: paper } }),
      sameOrder: await ids('customers', { some: 'orders', where: all(leaf('id', 'Equal', 2), leaf('id', 'Equal', 3)) }),
      behindOne: await ids('orders', { none: 'customer:orders', where: leaf('total', 'LessThan', 15) }),
      compositeKeys: await ids('orders', { none: 'order_lines:line_notes' }),
      toOne: await ids('orders', { none: 'customer' }),
      toOneWhere: await ids('orders', { some: 'customer', where: leaf('city', 'Missing') }),
      toOneEvery: await ids('orders', { every: 'customer', where: leaf('city', 'Present') }),
    }).toEqual({
      some: [1, 2, 3],
      someWhere: [2],
      none: [],
      noneWhere: [1, 3],
      everyWhere: [2],
      everyOfNothing: [],
      not: [1, 3],
      notBoth: [1, 3],
      notOfNothing: [],
      path: [3],
      pathWhere: [2],
      everyOfPath: [3],
      nested: [3],
      nestedEvery: [],
      sameOrder: [],
      behindOne: [2, 3, 4],
      compositeKeys: [2, 4, 5],
      toOne: [4],
      toOneWhere: [5],
      toOneEvery: [1, 2, 3, 4],
    });
  });

  test('a row outside the row scope does not exist, at the end of the path and in between', async () => {
    const { ids } = await open();
    const scopes = { orders: leaf('id', 'NotIn', [1, 4]) } as never;
    expect([
      await ids('customers', { none: 'orders' }, { scopes }),
      await ids('customers', { none: 'orders:order_lines' }, { scopes }),
      await ids('orders', { none: 'customer' }, { scopes: { customers: leaf('id', 'Equal', 2) } as never }),
    ]).toEqual([[1], [1, 3], [1, 4, 5]]);
  });

  test('a hidden relation or field gives the same error as an unknown one', async () => {
    const { ids } = await open();
    const unknown = { code: 'UNKNOWN_RELATION', details: { collection: 'customers' } };
    const filters = [{ none: 'orders' }, { some: 'orders', where: leaf('id', 'Present') }];
    for (const filter of filters)
      for (const rights of [{ browse: ['customers'] }, { hidden: ['orders.customer_id'] }])
        await expect(ids('customers', filter, rights)).rejects.toMatchObject(unknown);
    await expect(ids('customers', { none: 'ordres' })).rejects.toMatchObject({
      ...unknown,
      details: { near: ['orders'] },
    });
    await expect(
      ids('customers', { none: 'orders', where: leaf('total', 'Present') }, { hidden: ['orders.total'] }),
    ).rejects.toMatchObject({ code: 'UNKNOWN_FIELD', details: { collection: 'orders', field: 'total' } });
  });

  test('a list with quantifiers takes one statement', async () => {
    let meter: Counted | undefined;
    const { ids } = await open({
      wrap: (source) => {
        meter = counted(source);
        return meter.source;
      },
    });
    const filter = { every: 'orders', where: { none: 'order_lines', where: leaf('article', 'Equal', 'ink') } };
    expect([await ids('customers', filter), meter?.statements()]).toEqual([[2, 3], 1]);
  });

  test('at most 8 to-many relations can be nested, in quantifiers or paths', async () => {
    const { ids } = await open();
    const nest = (depth: number, inmost: unknown): unknown =>
      Array.from({ length: depth }).reduce<unknown>(
        (where, _, at) => ({ some: (depth - at) % 2 === 1 ? 'orders' : 'customer', where }),
        inmost,
      );
    // Every second relation leads to one record, so 15 relations are 8 to many.
    const known = leaf('total', 'Present');
    expect(await ids('customers', nest(15, known))).toEqual([1, 2, 3]);
    for (const filter of [nest(17, known), nest(16, leaf('orders:total', 'Present'))])
      await expect(ids('customers', filter)).rejects.toThrow('at most 8 relations can be followed');
  });

  test('an invalid quantifier is refused with what to send', async () => {
    const { ids } = await open();
    const refusals = [
      { every: 'orders' },
      { some: 'orders', none: 'orders' },
      { some: 'orders', field: 'total', operator: 'Present' },
      { some: ['orders'] },
      { none: 'city' },
      { aggregator: 'Nor', conditions: [] },
    ];
    for (const filter of refusals)
      await expect(ids('customers', filter), JSON.stringify(filter)).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
      });
    await expect(ids('customers', { every: 'orders' })).rejects.toThrow('{"every":"orders","where":{"field"');
  });
});
