// A negative condition through a relation to many is ambiguous, and so are two conditions through the same one. Such
// filters are refused with alternatives to choose from. Conditions from different authors are never compared.
import { afterAll, expect, test } from 'vitest';
import { AppError } from '../../src/core/errors.ts';
import type { PlainFilter } from '../../src/core/filter.ts';
import { accessOf, type Rights, sellers } from './shop.ts';

const shop = await sellers[0]!.open({
  customize: (agent) =>
    agent
      .customizeCollection('customers', (customers) =>
        customers
          .addSegment('dear', { field: 'orders:total', operator: 'GreaterThan', value: 15 })
          .addSegment('of old', {
            aggregator: 'And',
            conditions: [
              { field: 'orders:total', operator: 'LessThan', value: 25 },
              { field: 'orders:total', operator: 'NotEqual', value: 10.5 },
            ],
          })
          .addSegment('by code', () => ({ field: 'orders:total', operator: 'NotEqual', value: 10.5 })),
      )
      .customizeCollection('orders', (orders) =>
        orders.addHook('Before', 'List', (context) => {
          context.narrow({ field: 'order_lines:article', operator: 'In', value: ['pen', 'pad', 'ink'] });
          context.narrow({ field: 'order_lines:line', operator: 'Equal', value: 1 });
        }),
      ),
});
afterAll(() => shop.close());

type Conditions = { readonly filter?: unknown; readonly segment?: string };
async function ids(collection: string, { filter, ...rest }: Conditions, rights: Rights = {}) {
  const request = {
    collection,
    fields: ['id'],
    ...rest,
    ...(filter ? { filter: filter as PlainFilter } : {}),
    limit: 50,
  };
  return (await shop.engine.list(accessOf(rights), request)).rows.flat();
}

async function refusal(
  collection: string,
  filter: unknown,
  rights: Rights = {},
): Promise<AppError<'AMBIGUOUS_FILTER'>> {
  try {
    return await ids(collection, { filter }, rights).then(() => expect.unreachable());
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error as AppError<'AMBIGUOUS_FILTER'>;
  }
}

const leaf = (field: string, operator: string, value?: unknown) => ({
  field,
  operator,
  ...(value !== undefined && { value }),
});
const all = (...conditions: unknown[]) => ({ aggregator: 'And', conditions });
const any = (...conditions: unknown[]) => ({ aggregator: 'Or', conditions });
const not = (...conditions: unknown[]) => ({ aggregator: 'Not', conditions });
const some = (path: string, where: unknown) => ({ some: path, where });
const none = (path: string, where?: unknown) => ({ none: path, ...(where !== undefined && { where }) });

test.each([
  [leaf('orders:id', 'Missing'), none('orders'), some('orders', leaf('id', 'Missing'))],
  [leaf('orders:id', 'Equal', null), none('orders'), some('orders', leaf('id', 'Equal', null))],
  [leaf('orders:id', 'Blank'), none('orders'), some('orders', leaf('id', 'Blank'))],
  [leaf('orders:total', 'In', [null]), none('orders'), some('orders', leaf('total', 'In', [null]))],
  [
    leaf('orders:total', 'In', [20, null]),
    any(none('orders'), some('orders', leaf('total', 'In', [20]))),
    some('orders', leaf('total', 'In', [20, null])),
  ],
  [
    leaf('orders:total', 'NotIn', [20, null]),
    none('orders', leaf('total', 'In', [20, null])),
    some('orders', leaf('total', 'NotIn', [20, null])),
  ],
  [
    leaf('orders:total', 'NotEqual', 20),
    none('orders', leaf('total', 'Equal', 20)),
    some('orders', leaf('total', 'NotEqual', 20)),
  ],
  [
    leaf('orders:total', 'not_in', [20]),
    none('orders', leaf('total', 'In', [20])),
    some('orders', leaf('total', 'NotIn', [20])),
  ],
  [
    leaf('orders@@@order_lines@@@article', 'NotContains', 'pen'),
    none('orders:order_lines', leaf('article', 'Contains', 'pen')),
    some('orders:order_lines', leaf('article', 'NotContains', 'pen')),
  ],
  [
    leaf('orders:customer:name', 'NotIContains', 'a'),
    none('orders', leaf('customer:name', 'IContains', 'a')),
    some('orders', leaf('customer:name', 'NotIContains', 'a')),
  ],
])('%j is refused with two unambiguous forms, which are accepted', async (filter, first, second) => {
  for (const asked of [filter, all(filter), any(filter, leaf('id', 'Equal', 1)), not(filter)]) {
    const { code, details, message } = await refusal('customers', asked);
    expect([code, details.forms]).toEqual(['AMBIGUOUS_FILTER', [first, second]]);
    for (const form of [first, second]) {
      expect(message).toContain(JSON.stringify(form));
      await ids('customers', { filter: form });
    }
  }
});

test('other operators, to-one relations and conditions inside a where are not ambiguous', async () => {
  expect([
    await ids('customers', { filter: leaf('orders:id', 'Present') }),
    await ids('orders', { filter: leaf('customer:city', 'Missing') }),
    await ids('customers', { filter: some('orders', leaf('total', 'NotEqual', 20)) }),
  ]).toEqual([[1, 2, 3], [4], [1, 3]]);
});

const dear = leaf('orders:total', 'GreaterThan', 15);
const early = leaf('orders:id', 'LessThan', 3);
test.each([
  [
    all(dear, early),
    some('orders', all(leaf('total', 'GreaterThan', 15), leaf('id', 'LessThan', 3))),
    all(some('orders', leaf('total', 'GreaterThan', 15)), some('orders', leaf('id', 'LessThan', 3))),
  ],
  [
    all(leaf('id', 'Present'), all(dear), early),
    all(leaf('id', 'Present'), some('orders', all(leaf('total', 'GreaterThan', 15), leaf('id', 'LessThan', 3)))),
    all(
      leaf('id', 'Present'),
      some('orders', leaf('total', 'GreaterThan', 15)),
      some('orders', leaf('id', 'LessThan', 3)),
    ),
  ],
  [
    all(leaf('orders:order_lines:article', 'Equal', 'pen'), leaf('orders:order_lines:line', 'Equal', 1)),
    some('orders:order_lines', all(leaf('article', 'Equal', 'pen'), leaf('line', 'Equal', 1))),
    all(
      some('orders:order_lines', leaf('article', 'Equal', 'pen')),
      some('orders:order_lines', leaf('line', 'Equal', 1)),
    ),
  ],
  [
    all(leaf('orders:order_lines:article', 'Equal', 'pen'), dear),
    some('orders', all(leaf('order_lines:article', 'Equal', 'pen'), leaf('total', 'GreaterThan', 15))),
    all(some('orders:order_lines', leaf('article', 'Equal', 'pen')), some('orders', leaf('total', 'GreaterThan', 15))),
  ],
  [
    all(dear, not(early)),
    some('orders', all(leaf('total', 'GreaterThan', 15), not(leaf('id', 'LessThan', 3)))),
    all(some('orders', leaf('total', 'GreaterThan', 15)), not(some('orders', leaf('id', 'LessThan', 3)))),
  ],
  [
    not(dear, early),
    not(some('orders', all(leaf('total', 'GreaterThan', 15), leaf('id', 'LessThan', 3)))),
    not(some('orders', leaf('total', 'GreaterThan', 15)), some('orders', leaf('id', 'LessThan', 3))),
  ],
])('%j is refused with its two readings, which are accepted', async (filter, one, each) => {
  const { code, details, message } = await refusal('customers', filter);
  expect([code, details.forms]).toEqual(['AMBIGUOUS_FILTER', [one, each]]);
  for (const form of [one, each]) {
    expect(message).toContain(JSON.stringify(form));
    await ids('customers', { filter: form });
  }
});

test('two conditions through the same relation inside a where are ambiguous too', async () => {
  const lines = all(leaf('order_lines:article', 'Equal', 'pen'), leaf('order_lines:line', 'Equal', 1));
  const { code, message } = await refusal('customers', some('orders', lines));
  expect([code, message]).toEqual(['AMBIGUOUS_FILTER', expect.stringContaining('{"some":"order_lines","where"')]);
});

test('conditions in an Or, through different relations or through to-one relations are accepted', async () => {
  const { ids: orders } = { ids: (filter: unknown) => ids('orders', { filter }, { scopes: {} }) };
  expect([
    await ids('customers', { filter: any(dear, early) }),
    await ids('customers', { filter: all(dear, any(early, leaf('id', 'Equal', 2))) }),
    await orders(all(leaf('customer:id', 'Present'), leaf('customer:name', 'Present'))),
    await orders(all(leaf('customer:orders:id', 'Present'), leaf('order_lines:line', 'Present'))),
    await ids('customers', { filter: all(dear, some('orders', leaf('id', 'LessThan', 3))) }),
  ]).toEqual([[1, 2], [2], [1, 2, 3], [1, 2, 3], [2]]);
});

test('conditions of the caller, a segment, a row scope and hooks are combined without being ambiguous', async () => {
  const scopes = {
    customers: leaf('orders:total', 'LessThan', 25),
    orders: leaf('order_lines:line', 'Present'),
  } as never;
  expect([
    await ids('customers', { filter: early, segment: 'dear' }, { scopes }),
    await ids('orders', { filter: leaf('order_lines:article', 'Present') }, { scopes }),
  ]).toEqual([[2], [1, 2, 3, 4]]);
});

test('saved segments and row scopes keep their meaning', async () => {
  const scopes = { customers: all(leaf('orders:total', 'NotEqual', 10.5), leaf('orders:id', 'LessThan', 4)) } as never;
  expect([
    await ids('customers', { segment: 'of old' }),
    await ids('customers', { segment: 'by code' }),
    await ids('customers', {}, { scopes }),
    await ids('customers', {}, { scopes: { customers: leaf('orders:id', 'Missing') } as never }),
  ]).toEqual([[2, 3], [2, 3], [2], []]);
});

test('an ambiguous filter by a hidden field is refused as an unknown field', async () => {
  for (const rights of [{ browse: ['customers'] }, { hidden: ['orders.total'] }])
    expect(await refusal('customers', leaf('orders:total', 'NotEqual', 20), rights)).toMatchObject({
      code: 'UNKNOWN_FIELD',
    });
});

test.each([
  ['customers', leaf('orders', 'Missing'), '{"none":"orders"}'],
  ['customers', leaf('orders', 'Equal', null), '{"none":"orders"}'],
  ['customers', leaf('orders', 'Present'), '{"some":"orders"}'],
  ['customers', leaf('orders:order_lines', 'Missing'), '{"none":"orders:order_lines"}'],
  ['orders', leaf('customer', 'Missing'), '{"none":"customer"}'],
  ['customers', leaf('orders', 'Equal', 3), '{"some":"orders","where":{"field":"...","operator":"Equal","value":3}}'],
])('on %s, %j is refused with the form to send', async (collection, filter, form) => {
  expect(await refusal(collection, filter)).toMatchObject({
    code: collection === 'customers' ? 'RELATION_TO_MANY' : 'RELATION_NEEDS_FIELD',
    message: expect.stringContaining(`send ${form}`),
  });
});

test('a column through a to-many relation is refused with the collection to list and the inverse relation', async () => {
  const list = shop.engine.list(accessOf(), { collection: 'customers', fields: ['orders:total'], limit: 1 });
  await expect(list).rejects.toMatchObject({
    code: 'RELATION_TO_MANY',
    message: expect.stringContaining("Query 'orders' instead, where 'customer' leads back to 'customers'"),
  });
});
