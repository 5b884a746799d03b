// What administrators say about collections in the console: code precedes it, rights limit it, and its metrics are
// measures of the caller.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CollectionMeanings } from '../../src/core/caller/meanings.ts';
import { createRestrictions, restrictAccess } from '../../src/core/caller/restrictions.ts';
import type { Access } from '../../src/core/caller.ts';
import { accessOf, type Shop, sellers } from './shop.ts';

const meanings = (collections: Readonly<Record<string, Partial<CollectionMeanings>>>): Pick<Access, 'meanings'> => ({
  meanings: {
    collections: new Map(
      Object.entries(collections).map(([name, of]) => [
        name,
        { fields: new Map(), metrics: new Map(), segments: new Map(), ...of },
      ]),
    ),
  },
});

const ofConsole = meanings({
  customers: {
    meaning: { description: 'From the console', synonyms: ['buyers'] },
    fields: new Map([
      ['id', { hiddenByDefault: true, unit: 'pieces' }],
      ['name', { description: 'Also from the console', unit: 'letters' }],
      ['city', { description: 'Where they live', hiddenByDefault: true }],
      ['secret', { description: 'What nobody tells' }],
    ]),
    metrics: new Map([
      ['in Paris', { measure: { count: true }, filter: { field: 'city', operator: 'Equal', value: 'Paris' } }],
      ['secrets', { measure: { countDistinct: 'secret' }, description: 'How many secrets' }],
      ['known secrets', { measure: { count: true }, filter: { field: 'secret', operator: 'Present' } }],
      ['wrong', { measure: { sum: 'name' } }],
      ['self', { measure: { metric: 'self' } }],
      ['coded', { measure: { count: true }, description: 'From the console' }],
    ]),
    segments: new Map([
      [
        'Parisians',
        { filter: { field: 'city', operator: 'Equal', value: 'Paris' }, description: 'They live in Paris' },
      ],
      ['known', { filter: { field: 'secret', operator: 'Present' } }],
      ['buyers', { filter: { some: 'orders', where: { field: 'total', operator: 'GreaterThan', value: 15 } } }],
      ['without orders', { filter: { field: 'orders:id', operator: 'Missing' } }],
      ['gone', { filter: { field: 'gone', operator: 'Present' } }],
      ['Romans', { filter: { field: 'city', operator: 'Equal', value: 'Paris' }, description: 'From the console' }],
    ]),
  },
  orders: { fields: new Map([['customer', { description: 'Who pays' }]]) },
});

describe.each(sellers)('meanings of the console: $name', (seller) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await seller.open({
      customize: (agent) =>
        agent
          .customizeCollection('customers', (customers) =>
            customers
              .describe({ description: 'From code' })
              .describeField('name', { description: 'Of code' })
              .addSegment('Romans', { field: 'city', operator: 'Equal', value: 'Rome' })
              .addSegment('kept', async ({ collection }) => {
                const ofConsole = await collection('customers')
                  .list({ segment: 'Parisians' }, ['id'])
                  .catch((error: Error) => error.message);
                return { field: 'name', operator: 'Equal', value: String(ofConsole) };
              }),
          )
          .addMetric('coded', { collection: 'customers', measure: { count: true }, description: 'From code' }),
    });
  });
  afterAll(() => shop?.close());

  const as = (access = accessOf()): Access => ({ ...access, ...ofConsole });
  const fieldOf = (name: string, access: Access) =>
    shop.engine.describe(access, 'customers').fields.find((each) => each.name === name);
  const measure = async (metric: string, access: Access) => {
    const request = { collection: 'customers', measures: { figure: { metric } }, limit: 1 };
    return (await shop.engine.aggregate(access, request)).rows;
  };

  test('are part of descriptions, after what code says', () => {
    const described = shop.engine.describe(as(), 'customers');
    expect(described).toMatchObject({ description: 'From code', synonyms: ['buyers'] });
    expect(fieldOf('name', as())).toMatchObject({ description: 'Of code', unit: 'letters' });
    expect(fieldOf('city', as())).toMatchObject({ description: 'Where they live', hiddenByDefault: true });
    expect(shop.engine.index(as()).find(({ name }) => name === 'customers')?.synonyms).toEqual(['buyers']);
    const { relations } = shop.engine.describe(as(), 'orders');
    expect(relations.find(({ name }) => name === 'customer')?.description).toBe('Who pays');
    expect(fieldOf('city', accessOf())).not.toHaveProperty('description');
  });

  test('of hidden fields are hidden', () => {
    const hidden = as(accessOf({ hidden: ['customers.secret'] }));
    expect(JSON.stringify(shop.engine.describe(hidden, 'customers'))).not.toMatch(/secret/i);
    expect(fieldOf('secret', as())?.description).toBe('What nobody tells');
  });

  test('a restricted access has them too', () => {
    const restricted = restrictAccess(as(), createRestrictions(true, ['customers'])!);
    expect(fieldOf('city', restricted)?.description).toBe('Where they live');
  });

  test('a field hidden by default is read only by name, and the key always', async () => {
    const all = await shop.engine.list(as(), { collection: 'customers', limit: 1 });
    const named = await shop.engine.list(as(), { collection: 'customers', fields: ['city'], limit: 1 });
    const search = { collection: 'customers', search: 'Paris' };
    expect([all.records(), named.records()]).toEqual([[{ id: 1, name: 'Ada', secret: 'x1' }], [{ city: 'Paris' }]]);
    expect([await shop.engine.count(as(), search), await shop.engine.count(accessOf(), search)]).toEqual([0, 1]);
    expect(fieldOf('id', as())).not.toHaveProperty('hiddenByDefault');
  });

  test('metrics that the caller could write are listed, and are measures', async () => {
    const { metrics } = shop.engine.describe(as(), 'customers');
    expect(metrics).toEqual([
      { name: 'coded', description: 'From code' },
      { name: 'in Paris' },
      { name: 'secrets', description: 'How many secrets' },
      { name: 'known secrets' },
    ]);
    expect(await Promise.all(['in Paris', 'secrets'].map((name) => measure(name, as())))).toEqual([[[1]], [[3]]]);
  });

  test('a metric with a hidden field does not exist for the caller', async () => {
    const hidden = as(accessOf({ hidden: ['customers.secret'] }));
    const { metrics } = shop.engine.describe(hidden, 'customers');
    expect(metrics.map(({ name }) => name)).toEqual(['coded', 'in Paris']);
    const problems = await Promise.all(
      ['secrets', 'known secrets', 'nothing'].map((name) =>
        measure(name, hidden).catch((error: Error) => error.message),
      ),
    );
    expect(problems.map((problem) => `${problem}`.replace(/'(known )?(secrets|nothing)'/, 'X'))).toEqual(
      Array(3).fill(expect.stringMatching(/'customers' has no metric X\. Send one of: coded, in Paris\./)),
    );
  });

  test.each([
    ['wrong', /no metric 'wrong'/],
    ['self', /no metric 'self'/],
  ])('a metric that cannot be computed does not exist: %s', async (name, problem) => {
    await expect(measure(name, as())).rejects.toThrow(problem);
  });

  test('a metric has the row scope of the caller', async () => {
    const scoped = as(accessOf({ scopes: { customers: { field: 'city', operator: 'Equal', value: 'Rome' } } }));
    expect(await measure('secrets', scoped)).toEqual([[1]]);
  });

  test('the check of a metric names the mistake', () => {
    const check = (given: object) => shop.engine.storedMeanings.checkMetric(as(), 'customers', given as never);
    expect(() => check({ measure: { sum: 'id' } })).not.toThrow();
    expect(() => check({ measure: { sum: 'ide' } })).toThrow(/'ide'.*Near: id/);
    expect(() => check({ measure: { sum: 'name' } })).toThrow(/name/);
    expect(() => check({ measure: { count: true }, filter: { field: 'citty', operator: 'Present' } })).toThrow(
      /'citty'.*Near: city/,
    );
    expect(() => check({ measure: { metric: 'in Paris' } })).toThrow(/no metric 'in Paris'/);
  });

  const inSegment = async (segment: string, access: Access) =>
    (await shop.engine.list(access, { collection: 'customers', segment, fields: ['id'], limit: 10 })).rows.flat();

  test('segments that the caller could write are listed after those of code, and filter records', async () => {
    const { segments, segmentDescriptions } = shop.engine.describe(as(), 'customers');
    expect(segments).toEqual(['Romans', 'kept', 'Parisians', 'known', 'buyers']);
    expect(segmentDescriptions).toEqual({ Parisians: 'They live in Paris' });
    expect(await inSegment('Parisians', as())).toEqual([1]);
    expect(await inSegment('buyers', as())).toEqual([2]);
    expect(await shop.engine.count(as(), { collection: 'customers', segment: 'known' })).toBe(3);
    const grouped = {
      collection: 'customers',
      segment: 'Parisians',
      groups: ['name'],
      measures: { n: { count: true as const } },
    };
    expect((await shop.engine.aggregate(as(), { ...grouped, limit: 5 })).rows).toEqual([['Ada', 1]]);
  });

  test('a segment of code precedes one of the console with its name', async () => {
    expect(await inSegment('Romans', as())).toEqual([2]);
  });

  test('a segment with a hidden field, or on a collection that is hidden, does not exist for the caller', async () => {
    const hidden = as(accessOf({ hidden: ['customers.secret'], denied: ['orders.browse'] }));
    const { segments } = shop.engine.describe(hidden, 'customers');
    expect(segments).toEqual(['Romans', 'kept', 'Parisians']);
    const problems = await Promise.all(
      ['known', 'buyers', 'nothing'].map((name) => inSegment(name, hidden).catch((error: Error) => error.message)),
    );
    expect(problems.map((problem) => `${problem}`.replace(/'(known|buyers|nothing)'/, 'X'))).toEqual(
      Array(3).fill(expect.stringMatching(/^'customers' has no segment X\. (?!.*(known|buyers))/)),
    );
  });

  test.each(['without orders', 'gone'])('an ambiguous or invalid segment does not exist: %s', async (name) => {
    await expect(inSegment(name, as())).rejects.toThrow(/has no segment/);
  });

  test('a segment has the row scopes of the caller, also in conditions on related records', async () => {
    const equal = (field: string, value: unknown) => ({ field, operator: 'Equal', value }) as const;
    const inRome = as(accessOf({ scopes: { customers: equal('city', 'Rome') } }));
    expect([await inSegment('Parisians', inRome), await inSegment('known', inRome)]).toEqual([[], [2]]);
    const ownOrders = as(accessOf({ scopes: { orders: equal('id', 1) } }));
    expect(await inSegment('buyers', ownOrders)).toEqual([]);
  });

  test('code has no segments of the console', async () => {
    expect(await inSegment('kept', as())).toEqual([]);
  });

  test('the check of a segment names the mistake', () => {
    const check = (filter: object) =>
      shop.engine.storedMeanings.checkSegment(as(), 'customers', { filter: filter as never });
    expect(() => check({ field: 'city', operator: 'Present' })).not.toThrow();
    expect(() => check({ field: 'citty', operator: 'Present' })).toThrow(/'citty'.*Near: city/);
    expect(() => check({ field: 'orders:id', operator: 'Missing' })).toThrow(/orders/);
  });

  test('what code says is known to the console', () => {
    const { meaning, fields, metrics, segments } = shop.engine.storedMeanings.codeMeanings(as(), 'customers');
    expect([meaning, [...fields], metrics, segments]).toEqual([
      { description: 'From code' },
      [['name', { description: 'Of code' }]],
      ['coded'],
      ['Romans', 'kept'],
    ]);
  });
});
