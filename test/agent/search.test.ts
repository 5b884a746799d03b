// The search grammar, on every source. The oracle tests the meaning of random searches.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseSearch, type SearchExpression } from '../../src/agent/lower/search-grammar.ts';
import type { PlainFilter } from '../../src/core/filter.ts';
import { accessOf, type Rights, type Shop, sellers } from './shop.ts';

describe.each(sellers)('$name', (seller) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await seller.open({
      customize: (agent) =>
        agent
          .customizeCollection('customers', (customers) =>
            customers
              .addField('initial', {
                columnType: 'String',
                dependencies: ['name'],
                getValues: (records) => records.map(({ name }) => String(name)[0]),
              })
              .emulateFieldFiltering('initial'),
          )
          .customizeCollection('order_lines', (lines) =>
            lines.replaceSearch(async (text, extended, { caller, collection }) => {
              const orders = await collection('orders').list({ search: text }, ['id']);
              const conditions: PlainFilter[] = [
                { field: 'order_id', operator: 'In', value: orders.map(({ id }) => id) },
                ...(extended ? [{ field: 'article', operator: 'Equal', value: caller.firstName } as const] : []),
              ];
              return { aggregator: 'Or', conditions };
            }),
          ),
    });
  });
  afterAll(() => shop?.close());

  const find = async (collection: string, search: string, extended = false, rights: Rights = {}) =>
    (
      await shop.engine.list(accessOf(rights), {
        collection,
        fields: ['id'],
        search,
        searchExtended: extended,
        limit: 9,
      })
    ).rows.flat();

  test.each<[search: string, ids: number[]]>([
    ['paris', [1]],
    ['a', [1]],
    ['"Ada" Paris', [1]],
    ['ada rome', []],
    ['ada OR rome', [1, 2]],
    ['ada AND paris', [1]],
    ['-paris', [2, 3]],
    ['-(ada OR bo)', [3]],
    ['name:o', [2]],
    ['Name:"bo"', [2]],
    ['-name:o', [1, 3]],
    ['city:NULL', [3]],
    ['-city:NULL', [1, 2]],
    ['city:"NULL"', []],
    ['id:>1', [2, 3]],
    ['id:1..2', [1, 2]],
    ['id:2..', [2, 3]],
    ['id:!=2', [1, 3]],
    ['id:x', []],
    ['initial:A', [1]],
    ['A -initial:A', []],
  ])('customers: %s', async (search, ids) => {
    expect(await find('customers', search)).toEqual(ids);
  });

  test.each<[search: string, ids: number[]]>([
    ['20', [2, 3]],
    ['total:>=20', [2, 3, 4]],
    ['total:10..20', [1, 2, 3]],
    ['customer:city:rome', [2, 3]],
    ['customer.city:rome OR total:5', [2, 3, 5]],
    ['customer:NULL', []],
    ['customer:city:NULL', [4, 5]],
    ['2024-04', [4, 5]],
    ['placed_at:2024-03-31', [1, 2, 3]],
    ['placed_at:2024-04', [4, 5]],
    ['placed_at:>2024-03', [4, 5]],
    ['placed_at:<=2024-03', [1, 2, 3]],
    ['placed_at:2024-03-31..2024-03-31', [1, 2, 3]],
    ['placed_at:>2024-03-31T21:59:59Z', [3, 4, 5]],
    ['placed_at:1812', []],
  ])('orders, in the timezone of the caller: %s', async (search, ids) => {
    expect(await find('orders', search, false, { timezone: 'Europe/Paris' })).toEqual(ids);
  });

  test('searchExtended also searches to-one relations, within their row scopes', async () => {
    expect([
      await find('orders', 'rome'),
      await find('orders', 'rome', true),
      await find('orders', 'rome', true, { browse: ['orders'] }),
      await find('orders', 'bo OR ada', true, {
        scopes: { customers: { field: 'city', operator: 'Equal', value: 'Rome' } },
      }),
      await find('orders', 'customer:name:ada', false, {
        scopes: { customers: { field: 'city', operator: 'Equal', value: 'Rome' } },
      }),
    ]).toEqual([[], [2, 3], [], [2, 3], []]);
  });

  test('hidden and unknown fields in a search are treated as text', async () => {
    const hidden = { hidden: ['customers.secret'] };
    expect([
      await find('customers', 'secret:x1'),
      await find('customers', 'secret:x1', false, hidden),
      await find('customers', '-secret:x1', false, hidden),
      await find('customers', '-nothing:x1'),
      await find('orders', '-customer:secret:x1', false, { browse: ['orders'] }),
    ]).toEqual([[1], [], [1, 2, 3], [1, 2, 3], [1, 2, 3, 4, 5]]);
  });

  const hostile = [
    '%', '_', '\\', "'", '"', '`', ';--', "' OR 1=1 --", '%%%%', '__', '[a-z]', '*', '?', '{{x}}', '$1', ':name', 'NULL', '\n',
    '(((', ')))', '(a', 'a)', 'OR', 'AND OR', 'OR OR OR', '-', '--', '-()', '()', ':', '::', 'id:', ':1', 'id:>', 'id:..', '..',
    '""', "''", '"unclosed', "'tis", '-"', 'name:"', 'placed_at:2024-13', 'placed_at:2023-02-29', 'total:1e999', 'id:>=<', '\u{1f600}',
    '\ud800', 'a:'.repeat(400), '('.repeat(900), '-'.repeat(900), 'x'.repeat(990), '9'.repeat(990),
  ]; // biome-ignore format: a pool
  test.each(hostile.map((search) => [search.slice(0, 20), search]))(
    'a malicious or malformed search does not fail: %j',
    async (_, search) => {
      const found = await find('customers', search, true);
      const rest = await find('customers', `-(${search})`, true);
      expect([...found].every((id) => [1, 2, 3].includes(id as number))).toBe(true);
      expect(Array.isArray(rest)).toBe(true);
      await expect(find('orders', search)).resolves.toBeInstanceOf(Array);
    },
  );

  test.each(['%', '_', '\\', '*', '?', '[A]'])('%j is a literal character, not a wildcard', async (search) => {
    expect(await find('customers', search)).toEqual([]);
  });

  test.each([
    ['10,000 characters', 'x'.repeat(10_000), 'at most 1000 characters'],
    ['10,000 words', `${'x '.repeat(499)}y`, 'at most 16 words'],
  ])('%s are refused, with the limit', async (_, search, problem) => {
    await expect(find('customers', search)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(problem),
    });
  });

  test('replaceSearch: an async function gets the text, the extended flag and a context', async () => {
    const articles = async (search: string, searchExtended: boolean) =>
      (
        await shop.engine.list(accessOf(), {
          collection: 'order_lines',
          fields: ['article'],
          search,
          searchExtended,
          limit: 9,
        })
      ).rows.flat();
    expect([await articles('id:1', false), await articles('id:4', true), await articles('nothing', false)]).toEqual([
      ['pen', 'ink'],
      ['pen'],
      [],
    ]);
  });
});

/** Formats a search tree as text. */
function show(sought: SearchExpression): string {
  if (sought.op === 'word') return sought.quoted ? `"${sought.text}"` : sought.text;
  if (sought.op === 'not') return `not ${show(sought.of)}`;
  return `${sought.op}(${sought.of.map(show).join(', ')})`;
}

test.each([
  ['', 'all()'],
  ['a  b\tc', 'all(a, b, c)'],
  ['a OR b c', 'any(a, all(b, c))'],
  ['(a OR b) c', 'all(any(a, b), c)'],
  ['a AND b OR c', 'any(all(a, b), c)'],
  ['OR a', 'all(OR, a)'],
  ['a OR', 'all(a, OR)'],
  ['a OR OR b', 'any(a, all(OR, b))'],
  ['or', 'or'],
  ['-a -"b c" -(d e)', 'all(not a, not "b c", not all(d, e))'],
  ['- a', 'all(-, a)'],
  ['--a', 'not -a'],
  ["O'Brien 'x y' 'tis", 'all(O\'Brien, "x y", \'tis)'],
  ['"a b', '"a b"'],
  ['"a"b', 'all("a", b)'],
  ['f(x) :) (g(y) z)', 'all(f(x), :), all(g(y), z))'],
  ['(a', '(a'],
  ['a)', 'a)'],
  ['() b', 'b'],
  ['a:"b c" d', 'all("a:b c", d)'],
])('%j is read as %s', (text, tree) => {
  expect(show(parseSearch(text))).toBe(tree);
});
