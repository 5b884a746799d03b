// Regular expressions of callers: the same results on every source, evaluated after reading.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PlainFilter } from '../../src/core/filter.ts';
import { refusalOf } from './attempt.ts';
import { type Opened, openOn } from './defects/opened.ts';
import { accessOf, sellers } from './shop.ts';

const match = (value: unknown, field = 'name'): PlainFilter => ({ field, operator: 'Match', value });

describe.each(sellers)('$name', (seller) => {
  let shop: Opened;
  const asked: unknown[] = [];
  beforeAll(async () => {
    shop = await openOn(seller, (agent) =>
      agent.customizeCollection('customers', (customers) =>
        customers.addSegment('two letters', match(/^[a-z]{2}$/i)).replaceFieldOperator('secret', 'Match', (value) => {
          asked.push(value);
          return { field: 'id', operator: 'GreaterThan', value: 1 };
        }),
      ),
    );
  });
  afterAll(() => shop?.close());
  const names = (filter: PlainFilter, more = {}) =>
    shop.values({ collection: 'customers', fields: ['name'], filter, ...more });

  test('Match finds texts that contain the pattern, case-sensitive by default, and never null', async () => {
    expect([
      await names(match('^[AB]')),
      await names(match('a$')),
      await names(match('(?i)^a')),
      await names(match('e$', 'city')),
      await names({
        aggregator: 'And',
        conditions: [match('^.o$'), { field: 'city', operator: 'Equal', value: 'Rome' }],
      }),
      await shop.values({ collection: 'customers', fields: ['id'], segment: 'two letters' }),
    ]).toEqual([['Ada', 'Bo'], ['Ada'], ['Ada'], ['Bo'], ['Bo'], [2, 3]]);
  });

  test('Match works through relations, in counts and in row scopes', async () => {
    const scopes = { customers: match('^[AC]') };
    expect([
      await shop.values({ collection: 'orders', fields: ['id'], filter: match('^B', 'customer:name') }),
      await shop.values({
        collection: 'customers',
        fields: ['id'],
        filter: match('^pe', 'orders:order_lines:article'),
      }),
      await shop.values({ collection: 'customers', fields: ['id'] }, { scopes }),
      await shop.engine.count(accessOf({ scopes }), { collection: 'customers' }),
    ]).toEqual([[2, 3], [1, 2], [1, 3], 2]);
  });

  test('code that replaces Match gets the pattern unchanged', async () => {
    expect([await names(match('(?=x)\\1', 'secret')), asked.at(-1)]).toEqual([['Bo', 'Cy'], '(?=x)\\1']);
  });

  test('an invalid pattern is refused with what to send', async () => {
    const refused = (filter: PlainFilter) =>
      refusalOf(shop.engine.list(accessOf(), { collection: 'customers', limit: 9, filter }));
    expect([await refused(match('(')), await refused(match('7', 'id'))]).toMatchObject([
      {
        code: 'INVALID_VALUE',
        message: expect.stringContaining(
          'expected a regular expression in the syntax of RE2, without lookaround (missing',
        ),
      },
      { code: 'OPERATOR_NOT_ALLOWED' },
    ]);
  });

  test('reading too many rows is refused; other conditions of the filter reduce the rows', async () => {
    const small = await openOn(seller, () => {}, {
      limits: { pageSizeLimit: 100, queryTimeoutMs: 10_000, rowsLimit: 4 },
    });
    try {
      const filter = match('^p', 'article');
      const first: PlainFilter = { field: 'order_id', operator: 'Equal', value: 1 };
      expect([
        (await refusalOf(small.values({ collection: 'order_lines', fields: ['line'], filter }))).code,
        await small.values({
          collection: 'order_lines',
          fields: ['line'],
          filter: { aggregator: 'And', conditions: [filter, first] },
        }),
      ]).toEqual(['TOO_MANY_ROWS', [1]]);
    } finally {
      await small.close();
    }
  });
});
