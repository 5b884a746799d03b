// Mistakes of callers and of customization code. Each gets a clear error, with near names for a wrong name, and no
// partial write.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import type { CollectionCustomizer } from '../../src/agent/customize/customizer.ts';
import type { Engine } from '../../src/agent/engine.ts';
import type { PlainFilter } from '../../src/core/filter.ts';
import { type Refused, refusalOf } from './attempt.ts';
import { type Opened, openOn } from './defects/opened.ts';
import { accessOf, sellers } from './shop.ts';

const access = accessOf();
const memory = sellers[0]!;
const on = (name: string, say: (collection: CollectionCustomizer) => unknown) => (agent: HeadlessAgent) =>
  void agent.customizeCollection(name, (collection) => void say(collection));

const made = (dependencies: string[], getValues?: (records: readonly unknown[]) => unknown[]) => ({
  columnType: 'String' as const,
  dependencies,
  getValues: getValues ?? ((records: readonly unknown[]) => records.map(() => 'x')),
});

describe('an unknown name is refused with similar names', () => {
  let shop: Opened;
  beforeAll(async () => {
    shop = await openOn(memory, (agent) => {
      on('orders', (orders) =>
        orders
          .addSegment('dear', { field: 'total', operator: 'GreaterThan', value: 15 })
          .addAction('Refund', { scope: 'Global', execute: () => undefined })
          .addChart('spent', (_, result) => result.value(1)),
      )(agent);
    });
  });
  afterAll(() => shop.close());

  const leaf = (field: string): PlainFilter => ({ field, operator: 'Present' });
  const orders = { collection: 'orders', limit: 9 };
  const placed_at = '2024-05-01T00:00:00Z';
  const wrongs: readonly (readonly [what: string, (engine: Engine) => unknown, code: string, near: string])[] = [
    ['a collection of a list', (e) => e.list(access, { ...orders, collection: 'order' }), 'UNKNOWN_COLLECTION', 'orders'],
    ['a collection of a write', (e) => e.delete(access, { collection: 'oders', ids: [1] }), 'UNKNOWN_COLLECTION', 'orders'],
    ['a selected field', (e) => e.list(access, { ...orders, fields: ['totl'] }), 'UNKNOWN_FIELD', 'total'],
    ['a relation', (e) => e.list(access, { ...orders, fields: ['custmer:name'] }), 'UNKNOWN_FIELD', 'customer'],
    ['a field at the end of a relation', (e) => e.list(access, { ...orders, fields: ['customer:nam'] }), 'UNKNOWN_FIELD', 'name'],
    ['a field of a filter', (e) => e.count(access, { collection: 'orders', filter: leaf('totle') }), 'UNKNOWN_FIELD', 'total'],
    ['a field of a sort', (e) => e.list(access, { ...orders, sort: [{ field: 'toatl' }] }), 'UNKNOWN_FIELD', 'total'],
    ['a field of a group', (e) => e.aggregate(access, { ...orders, operation: 'Count', groups: [{ field: 'totl' }] }), 'UNKNOWN_FIELD', 'total'],
    ['a summed field', (e) => e.aggregate(access, { ...orders, operation: 'Sum', field: 'totl' }), 'UNKNOWN_FIELD', 'total'],
    ['an operator', (e) => e.count(access, { collection: 'orders', filter: { field: 'total', operator: 'Equls' as 'Equal', value: 1 } }), 'UNKNOWN_OPERATOR', 'Equal'],
    ['a segment', (e) => e.count(access, { collection: 'orders', segment: 'der' }), 'UNKNOWN_SEGMENT', 'dear'],
    ['a relation of a related list', (e) => e.listRelated(access, { collection: 'customers', id: 1, relation: 'order', limit: 9 }), 'UNKNOWN_RELATION', 'orders'],
    ['a field of a create', (e) => e.create(access, { collection: 'orders', records: [{ id: 9, totl: 1, placed_at }] }), 'INVALID_RECORD', 'total'],
    ['a field of an update', (e) => e.update(access, { collection: 'orders', ids: [1], values: { totl: 1 } }), 'INVALID_RECORD', 'total'],
    ['an action', (e) => e.actions.execute(access, { collection: 'orders', action: 'refnd' }), 'UNKNOWN_ACTION', 'Refund'],
    ['a chart', (e) => e.charts.render(access, { collection: 'orders', chart: 'spnt', id: 1 }), 'UNKNOWN_CHART', 'spent'],
  ]; // biome-ignore format: a table

  test.each(wrongs)('%s', async (_, ask, code, near) => {
    // Some calls throw at once, others reject a promise.
    const refused = await refusalOf((async () => ask(shop.engine))());
    expect([refused.code, `${refused.message} ${JSON.stringify(refused.details)}`]).toEqual([
      code,
      expect.stringContaining(near),
    ]);
  });
});

describe('invalid customizations end the start with the line of the call', () => {
  const same = (value: unknown) => ({ field: 'total', operator: 'Equal', value }) as const;
  const wrongs: readonly (readonly [what: string, customize: (agent: HeadlessAgent) => void, problem: RegExp])[] = [
    ['circular computed fields', on('orders', (each) => each.addField('a', made(['b'])).addField('b', made(['c'])).addField('c', made(['a']))), /Circular fields: orders\.a -> orders\.b -> orders\.c -> orders\.a/],
    ['circular computed fields through relations', (agent) => {
      on('orders', (each) => each.addField('a', made(['customer:b'])))(agent);
      on('customers', (each) => each.addField('b', made(['last:a'])).addOneToOneRelation('last', 'orders', { originKey: 'id' }))(agent);
    }, /Circular fields/],
    ['an operator replaced twice', on('orders', (each) => each.replaceFieldOperator('id', 'Equal', same).replaceFieldOperator('id', 'Equal', same)), /is already defined/],
    ['an unknown dependency', on('orders', (each) => each.addField('a', made(['totl']))), /no field 'totl'\. Near: total/],
    ['an unknown column type', on('orders', (each) => each.addField('a', { ...made(['id']), columnType: 'Strng' as 'String' })), /Near: String/],
    ['an unknown field in a validation', on('orders', (each) => each.addFieldValidation('totl', 'Present')), /Near: total/],
    ['an unknown chart clause', on('orders', (each) => each.replaceFieldSorting('id', [{ field: 'totl' }])), /Near: total/],
  ]; // biome-ignore format: a table

  test.each(wrongs)('%s', async (_, customize, problem) => {
    const { message } = await refusalOf(openOn(memory, customize));
    expect([message, message]).toEqual([
      expect.stringMatching(problem),
      expect.stringMatching(/wrong-things\.test\.ts:\d+\)$/),
    ]);
  });
});

describe('failing code is reported to the caller by its name and to the log by its line', () => {
  const throwing = () => {
    throw new Error('inner secret');
  };
  const list = (more: object) => (engine: Engine) => engine.list(access, { collection: 'orders', limit: 9, ...more });
  const wrongs: readonly (readonly [what: string, (agent: HeadlessAgent) => void, (engine: Engine) => Promise<unknown>, named: RegExp])[] = [
    ['getValues that returns too few values', on('orders', (each) => each.addField('a', made(['id'], () => ['x']))), list({ fields: ['a'] }), /'a'/],
    ['getValues that returns too many values', on('orders', (each) => each.addField('a', made(['id'], (all) => [...all, 1]))), list({ fields: ['a'] }), /'a'/],
    ['getValues that does not return a list', on('orders', (each) => each.addField('a', made(['id'], () => 'xxxxx' as never))), list({ fields: ['a'] }), /'a'/],
    ['getValues that throws', on('orders', (each) => each.addField('a', made(['id'], throwing))), list({ fields: ['a'] }), /'a'/],
    ['a segment that throws', on('orders', (each) => each.addSegment('s', throwing)), list({ segment: 's' }), /'s'/],
    ['a segment with an unknown field', on('orders', (each) => each.addSegment('s', () => ({ field: 'totl', operator: 'Present' }))), list({ segment: 's' }), /'s'/],
    ['a search that throws', on('orders', (each) => each.replaceSearch(throwing)), list({ search: 'x' }), /search/],
    ['a hook that throws', on('orders', (each) => each.addHook('Before', 'List', throwing)), list({}), /hook 'Before List'/],
    ['circular operator replacements', on('orders', (each) =>
      each
        .replaceFieldOperator('id', 'Equal', (value) => ({ field: 'total', operator: 'Equal', value }))
        .replaceFieldOperator('total', 'Equal', (value) => ({ field: 'id', operator: 'Equal', value }))), list({ filter: { field: 'id', operator: 'Equal', value: 1 } }), /'Equal'/],
  ]; // biome-ignore format: a table

  test.each(wrongs)('%s', async (_, customize, ask, named) => {
    const shop = await openOn(memory, customize);
    const { code, message, cause } = await refusalOf(ask(shop.engine));
    await shop.close();
    expect([code, message, String(message).includes('secret'), (cause as Error | undefined)?.message]).toEqual([
      'CUSTOMIZATION_FAILED',
      expect.stringMatching(named),
      false,
      expect.stringMatching(/wrong-things\.test\.ts:\d+/),
    ]);
  });

  test('a hook that throws before a write writes nothing', async () => {
    const shop = await openOn(
      memory,
      on('customers', (each) => each.addHook('Before', 'Delete', throwing)),
    );
    const { code } = await refusalOf(shop.engine.delete(access, { collection: 'customers', ids: [3] }));
    expect([code, (await shop.rows({ collection: 'customers' })).length]).toEqual(['CUSTOMIZATION_FAILED', 3]);
    await shop.close();
  });
});

const hostile = [
  "'; drop table customers; --",
  '%',
  '_',
  '\\',
  '\\%',
  '"',
  '`',
  '$1',
  '?',
  ':x',
  '{}',
  '\u0000x',
  '[a-z]',
  '.*',
  '🙂',
];

describe.each(sellers)('$name', (seller) => {
  let shop: Opened;
  beforeAll(async () => {
    shop = await openOn(
      seller,
      on('orders', (orders) =>
        orders
          .addField(
            'label',
            made(['total'], (all) => all.map((each) => `~${(each as { total: number }).total}`)),
          )
          .emulateFieldFiltering('label')
          .emulateFieldSorting('label'),
      ),
      { limits: { pageSizeLimit: 100, queryTimeoutMs: 10_000, rowsLimit: 4 } },
    );
  });
  afterAll(() => shop?.close());

  test('an emulated filter or sort over the limit is refused with a remedy', async () => {
    const filter = { field: 'label', operator: 'EndsWith', value: '0' } as const;
    const refusals: Refused[] = [
      await refusalOf(shop.rows({ collection: 'orders', filter })),
      await refusalOf(shop.engine.count(access, { collection: 'orders', filter })),
      await refusalOf(shop.rows({ collection: 'orders', sort: [{ field: 'label' }], limit: 1 })),
    ];
    const cured = { aggregator: 'And', conditions: [filter, { field: 'id', operator: 'LessThan', value: 5 }] } as const;
    expect([
      refusals.map(({ code, message }) => [code, /replaceField|narrow|filter/i.test(String(message))]),
      await shop.values({ collection: 'orders', fields: ['id'], filter: cured }),
    ]).toEqual([Array(3).fill(['TOO_MANY_ROWS', true]), [2, 3, 4]]);
  });

  test('a cursor of another request or an invalid cursor is refused', async () => {
    const request = { collection: 'orders', fields: ['id'], limit: 2 };
    const cursor = (await shop.engine.list(access, request)).cursorAfter(1)!;
    const wrongs = [
      { ...request, cursor: 'x' },
      { ...request, cursor: '' },
      { ...request, cursor: `A${cursor}` },
      { ...request, cursor: cursor.slice(0, -2) },
      { ...request, cursor: Buffer.from('{"a":1}').toString('base64url') },
      { ...request, cursor, sort: [{ field: 'total' }] },
      { ...request, cursor, filter: { field: 'id', operator: 'Present' } as const },
      { ...request, collection: 'customers', cursor },
    ];
    const codes = await Promise.all(wrongs.map(async (wrong) => (await refusalOf(shop.rows(wrong))).code));
    expect([codes, await shop.values({ ...request, cursor })]).toEqual([wrongs.map(() => 'INVALID_CURSOR'), [3, 4]]);
  });

  test('text operators match special characters literally', async () => {
    const texts = hostile.filter((text) => !text.includes('\0'));
    const records = texts.map((name, index) => ({ id: 500 + index, name }));
    await shop.engine.create(access, { collection: 'customers', records });
    const find = async (operator: 'Contains' | 'IContains' | 'StartsWith' | 'EndsWith' | 'Equal', value: string) =>
      shop.values({ collection: 'customers', fields: ['name'], filter: { field: 'name', operator, value } });
    for (const text of texts) {
      const holding = texts.filter((other) => other.includes(text));
      expect([text, await find('Contains', text), await find('IContains', text)]).toEqual([text, holding, holding]);
      expect([text, await find('Equal', text)]).toEqual([text, [text]]);
      expect(await find('StartsWith', text)).toEqual(texts.filter((other) => other.startsWith(text)));
      expect(await find('EndsWith', text)).toEqual(texts.filter((other) => other.endsWith(text)));
    }
    for (const search of hostile) await refusalOf(shop.rows({ collection: 'customers', search }));
    const ids = records.map(({ id }) => id);
    expect((await shop.engine.delete(access, { collection: 'customers', ids })).count).toBe(texts.length);
  });

  test('a filter of 10,000 conditions, wide or deep, is refused; a list of 10,000 values is accepted', async () => {
    const leaf = { field: 'id', operator: 'Equal', value: 1 } as const;
    const wide: PlainFilter = { aggregator: 'Or', conditions: Array.from({ length: 10_000 }, () => leaf) };
    const nested = Array.from(
      { length: 100 },
      (): PlainFilter => ({ aggregator: 'And', conditions: Array(100).fill(leaf) }),
    );
    let deep: PlainFilter = leaf;
    for (let level = 0; level < 10_000; level++) deep = { aggregator: 'And', conditions: [deep] };
    const ask = async (filter: PlainFilter) => {
      const { code, message } = await refusalOf(shop.rows({ collection: 'customers', filter }));
      return [code, /at most \d+/.test(String(message))];
    };
    const value = Array.from({ length: 10_000 }, (_, index) => index);
    expect([
      await ask(wide),
      await ask({ aggregator: 'Or', conditions: nested }),
      await ask(deep),
      await shop.values({ collection: 'customers', fields: ['id'], filter: { field: 'id', operator: 'In', value } }),
    ]).toEqual([...Array(3).fill(['INVALID_ARGUMENT', true]), [1, 2, 3]]);
  });
});
