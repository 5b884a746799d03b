// Named queries: SQL of the operator whose rows are a collection.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import type { QueryDefinition } from '../../src/agent/customize/definitions.ts';
import type { AggregateRequest, ListRequest } from '../../src/agent/requests.ts';
import type { Access } from '../../src/core/caller.ts';
import { accessOf, databases, type Shop } from './shop.ts';

const spending: QueryDefinition = {
  sql: `select customer_id, sum(total) as spent, count(*) as orders -- :comment
    from orders where total >= :least and (:until is null or placed_at < :until) group by customer_id;`,
  parameters: {
    least: { type: 'Number', description: 'The smallest total that counts' },
    until: { type: 'Date', default: null },
  },
  rowScope: { customers: 'customer_id' },
  ignoreRowScopes: ['orders'],
  description: 'What each customer spent',
};

/** A query of a test that opens the engine again. */
let wrong: ((agent: HeadlessAgent) => void) | undefined;

function customize(agent: HeadlessAgent): void {
  wrong?.(agent);
  agent
    .addQuery('spending', spending)
    .addQuery('cities', {
      sql: `select c.city, 'a?b' as "mark?", count(*) as people from customers c where c.name <> :but group by c.city`.replace(
        ' as "mark?"',
        ' as mark',
      ),
      parameters: { but: { type: 'String', default: '?' } },
      columns: { mark: 'String' },
      beside: 'customers',
    })
    .customizeCollection('spending', (query) =>
      query.addSegment('dear', { field: 'least', operator: 'Equal', value: 20 }),
    )
    .addMetric('all spent', { collection: 'spending', measure: { sum: 'spent' } });
}

const is = (field: string, value: unknown) => ({ field, operator: 'Equal', value }) as const;
const and = (...conditions: readonly object[]) => ({ aggregator: 'And', conditions }) as never;

describe.each(databases)('$name', (seller) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await seller.open({ customize });
  });
  afterAll(() => shop?.close());

  const list = async (given: Omit<ListRequest, 'collection' | 'limit'>, access: Access = accessOf()) =>
    (await shop.engine.list(access, { collection: 'spending', limit: 10, ...given })).rows;
  const ask = async (given: Omit<AggregateRequest, 'collection' | 'limit'>, access: Access = accessOf()) =>
    (await shop.engine.aggregate(access, { collection: 'spending', limit: 10, ...given })).rows;

  test('lists rows with bound parameters, filters, sorts and relations', async () => {
    const sort = [{ field: 'spent', ascending: false }];
    expect(await list({ filter: is('least', 0), sort })).toEqual([
      [2, 40, 2],
      [1, 10.5, 1],
      [3, 5, 1],
    ]);
    const fields = ['customer:name', 'spent', 'least', 'until'];
    const filter = and(is('least', 10), is('until', '2024-03-31T12:00:00Z'), {
      field: 'spent',
      operator: 'GreaterThan',
      value: 10.5,
    });
    expect(await list({ fields, filter })).toEqual([['Bo', 20, 10, '2024-03-31T12:00:00.000Z']]);
    expect(await list({ fields: ['spent'], segment: 'dear' })).toEqual([[40]]);
    expect(await shop.engine.count(accessOf(), { collection: 'spending', filter: is('least', 6) })).toBe(2);
  });

  test('aggregates rows, also by groups and with over', async () => {
    const measures = { sum: { sum: 'spent' }, most: { max: 'orders' }, all: { metric: 'all spent' } } as const;
    expect(await ask({ measures, filter: is('least', 0) })).toEqual([[55.5, 2, 55.5]]);
    const groups = ['customer:city'];
    const filter = is('least', 0);
    expect(await ask({ measures: { n: { count: true } }, groups, filter, sort: [{ group: 0 }] })).toEqual([
      [null, 1],
      ['Paris', 1],
      ['Rome', 1],
    ]);
    const inner = { groups: ['orders'], measures: { spent: { sum: 'spent' } } };
    expect(await ask({ over: inner, measures: { most: { max: 'spent' } }, filter })).toEqual([[40]]);
    const empty = await ask({ groups: ['orders'], measures: { n: { count: true } }, filter, includeEmpty: true });
    expect(empty).toEqual([
      [1, 2],
      [2, 1],
    ]);
  });

  test('uses the default of a parameter, and can be searched', async () => {
    const rows = await shop.engine.list(accessOf(), { collection: 'cities', limit: 9, filter: is('but', 'Ada') });
    const found = await shop.engine.list(accessOf(), { collection: 'cities', limit: 9, search: 'Rome' });
    expect(found.rows).toEqual([['Rome', 'a?b', 1]]);
    expect(rows.rows).toEqual([
      [null, 'a?b', 1],
      ['Rome', 'a?b', 1],
    ]);
  });

  test('applies the row scopes of its collections', async () => {
    const scoped = accessOf({ scopes: { customers: is('city', 'Rome') } });
    expect(await list({ fields: ['spent'], filter: is('least', 0) }, scoped)).toEqual([[40]]);
    const measures = { n: { count: true }, sum: { sum: 'spent' } } as const;
    expect(await ask({ measures, filter: is('least', 0) }, scoped)).toEqual([[1, 40]]);
    expect(await shop.engine.count(scoped, { collection: 'spending', filter: is('least', 0) })).toBe(1);
    // A row of no customer is visible to nobody.
    expect((await ask({ measures, filter: is('least', 30) }))[0]?.[0]).toBe(0);
    const own = accessOf({ scopes: { spending: { field: 'spent', operator: 'LessThan', value: 11 } } });
    expect(await ask({ measures, filter: is('least', 0) }, own)).toEqual([[2, 15.5]]);
    // The scope of a parameter is the only value that has records.
    const fixed = accessOf({ scopes: { spending: is('least', 20) } });
    expect(await list({ fields: ['spent'] }, fixed)).toEqual([[40]]);
    expect(await list({ fields: ['spent'], filter: is('least', 0) }, fixed)).toEqual([]);
  });

  test('does not exist for callers with row scopes that it cannot apply', async () => {
    const names = (access: Access) => shop.engine.index(access).map(({ name }) => name);
    const unknown = { code: 'UNKNOWN_COLLECTION' };
    const hidden = accessOf({ scopes: { customers: is('city', 'Rome') } });
    expect(names(hidden)).not.toContain('cities');
    await expect(shop.engine.list(hidden, { collection: 'cities', limit: 1 })).rejects.toMatchObject(unknown);
    expect(shop.engine.names(hidden).collection('Cities')).toBeUndefined();
    // The collection of the row scope is not visible either.
    const blind = accessOf({ browse: ['spending', 'orders'] });
    expect(names(blind)).toEqual(['orders']);
    await expect(ask({ operation: 'Count', filter: is('least', 0) }, blind)).rejects.toMatchObject(unknown);
    expect(names(accessOf({ scopes: { orders: is('id', 1) } }))).toContain('spending');
  });

  test.each([
    [
      {},
      `'spending' needs its parameter 'least'. Send it in the filters with Equal, and other conditions beside it with And, such as {"field":"least","operator":"Equal","value":1}.`,
    ],
    [
      { filter: { aggregator: 'Or', conditions: [is('least', 1), is('least', 2)] } },
      "the parameter 'least' of 'spending' must hold for all records",
    ],
    [{ filter: { aggregator: 'Not', conditions: [is('least', 1)] } }, "the parameter 'least' of 'spending' must hold"],
    [{ filter: { aggregator: 'Not', conditions: [and(is('until', null), is('least', 1))] } }, "the parameter 'least'"],
    [
      { filter: and(is('least', 1), { aggregator: 'Or', conditions: [is('until', '2024-01-01T00:00:00Z')] }), x: 0 },
      '',
    ],
    [{ filter: { field: 'least', operator: 'GreaterThan', value: 1 } }, 'Equal'],
    [{ filter: is('least', 'many') }, 'expected a number'],
    [
      { filter: is('least', 1), measures: { a: { count: true, where: is('least', 2) } } },
      "'least' is a parameter of the whole query: send it in filters.",
    ],
  ])('refuses %j with the call to send', async (given, text) => {
    const request = { measures: { n: { count: true } }, ...(given as object) } as Parameters<typeof ask>[0];
    const found = await ask(request).catch((error: Error) => error.message);
    if (text === '') expect(found).toEqual([[0]]);
    else expect(found).toContain(text);
  });

  test('describes its parameters, and is read-only', async () => {
    const described = shop.engine.describe(accessOf(), 'spending');
    const parameters = described.fields.filter(({ parameter }) => parameter);
    expect(parameters).toMatchObject([
      {
        name: 'least',
        type: 'Number',
        operators: ['Equal'],
        parameter: {},
        description: 'The smallest total that counts',
      },
      { name: 'until', type: 'Date', operators: ['Equal'], parameter: { default: null } },
    ]);
    expect(described.fields.map(({ type }) => type)).toEqual(['Number', 'Number', 'Number', 'Number', 'Date']);
    expect(described.description).toBe('What each customer spent');
    const write = shop.engine.create(accessOf(), { collection: 'spending', records: [{ spent: 1 }] });
    await expect(write).rejects.toThrow('it is a query. Write to its tables.');
  });

  test.each([
    [{ sql: 'delete from orders' }, 'its text must be one SELECT'],
    [{ sql: 'select 1 as a; delete from orders' }, 'its text must be one statement'],
    [{ sql: 'select :a as b' }, "its text has ':a', which is not among its parameters"],
    [{ sql: 'select 1 as b', parameters: { a: { type: 'Number' } } }, "its text does not use the parameter ':a'"],
    [{ sql: 'select 1 as a where :a > 0', parameters: { a: { type: 'Number' } } }, "'a' is a column and a parameter"],
    [{ sql: 'select nothing from orders' }, 'nothing'],
    [{ sql: 'select id from orders', columns: { total: 'Number' } }, "it has no column 'total'. Its columns are id"],
    [
      { sql: 'select id from orders', rowScope: { costumers: 'id' } },
      "there is no collection 'costumers'. Near: customers",
    ],
    [{ sql: 'select id from orders', rowScope: { customers: 'customer' } }, "has no field 'customer'"],
    [{ sql: 'select id from orders', name: 'orders' }, 'a collection or table has this name'],
    [{ sql: 'select id from orders', ignoreRowScope: [] }, "has no option 'ignoreRowScope'. Near: ignoreRowScopes"],
    [
      { sql: 'select :a as b', parameters: { a: { type: 'Date', default: 'now' } } },
      "the default of 'a' must be a Date",
    ],
    [{ sql: 'select :a as b', parameters: { a: { type: 'Text' } } }, "'type' must be one of String, Number"],
  ])('the start fails for %j', async ({ name = 'wrong', ...definition }: object & { name?: string }, text) => {
    wrong = (agent) => void agent.addQuery(name, definition as QueryDefinition);
    const opened = shop.again().finally(() => {
      wrong = undefined;
    });
    await opened
      .then((other) => other.engine.close())
      .then(
        () => expect.fail('it started'),
        (error: Error) => {
          expect(error).toMatchObject({ code: 'CONFIGURATION' });
          expect(error.message).toContain(text);
          expect(error.message).toContain('named-queries.test.ts');
        },
      );
  });
});
