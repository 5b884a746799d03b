// What administrators say about collections in the console: storage, limits, log, and its visibility in every process.
import { describe, expect, test } from 'vitest';
import type { MeaningSubject } from '../../src/core/caller/meanings.ts';
import { cleanUpAfterEach, createPlace, variants } from './stores.ts';

cleanUpAfterEach();

const status: MeaningSubject = { kind: 'field', collection: 'orders', name: 'status' };
const orders: MeaningSubject = { kind: 'collection', collection: 'orders' };

describe.each(variants)('meanings on $name', (variant) => {
  test('a change is part of the next access in every process', async () => {
    const place = await createPlace(variant);
    const [one, other] = [await place.open(), await place.open()];
    const { id } = await one.identity.addUser({ email: 'ada@example.com', password: 'correct horse' });
    const read = async () => {
      const { introduction, collections } = (await other.permissions.accessOf(id))!.meanings!;
      const found = collections.get('orders');
      const [field, ofMetrics] = [found?.fields.get('status'), found?.metrics.get('paid')];
      return [introduction, found?.meaning, field, ofMetrics, found?.segments.get('late')];
    };
    const values = { 2: 'The money arrived', 10: 'Sent é' };
    const metric = { measure: { count: true }, filter: { field: 'status', operator: 'Equal', value: 2 } };

    const segment = { filter: { field: 'status', operator: 'Equal', value: 'late' }, description: 'Not sent yet' };

    expect(await read()).toEqual([undefined, undefined, undefined, undefined, undefined]);
    await one.meanings.set({ kind: 'introduction' }, 'A tea shop.', { before: null, by: id });
    await one.meanings.set(orders, { description: 'Sold tea' }, { before: null, by: id });
    await one.meanings.set(status, { values, hiddenByDefault: true }, { before: null, by: id });
    await one.meanings.set({ kind: 'metric', collection: 'orders', name: 'paid' }, metric, { before: null, by: id });
    await one.meanings.set({ kind: 'segment', collection: 'orders', name: 'late' }, segment, { before: null, by: id });
    expect(await read()).toEqual([
      'A tea shop.',
      { description: 'Sold tea' },
      { values, hiddenByDefault: true },
      metric,
      segment,
    ]);
    await one.meanings.set(status, null, { before: { values, hiddenByDefault: true }, by: id });
    expect(await read()).toEqual(['A tea shop.', { description: 'Sold tea' }, undefined, metric, segment]);
  });

  test('a change of what somebody else has changed meanwhile is refused, also at the same time', async () => {
    const place = await createPlace(variant);
    const [one, other] = [await place.open(), await place.open()];

    const first = await Promise.all([
      one.meanings.set(orders, { description: 'One' }, { before: null }),
      other.meanings.set(orders, { description: 'Other' }, { before: null }),
    ]);
    const later = await one.meanings.set(orders, { description: 'Later' }, { before: { description: 'Nothing' } });

    expect([first.filter(Boolean).length, later]).toEqual([1, false]);
    expect((await one.meanings.list()).length).toBe(1);
  });

  test('a change is in the admin log, with the values before and after', async () => {
    const store = await (await createPlace(variant)).open();
    const ada = await store.identity.addUser({ email: 'ada@example.com', password: 'correct horse' });

    await store.meanings.set(status, { unit: 'EUR' }, { before: null, by: ada.id });
    await store.meanings.set(status, { unit: 'NOK' }, { before: { unit: 'EUR' }, by: ada.id });
    await store.meanings.set(status, { unit: 'NOK' }, { before: { unit: 'NOK' }, by: ada.id });
    await store.meanings.set(status, null, { before: { unit: 'NOK' }, by: ada.id });

    const value = (unit: string) => ({ name: 'orders.status', details: { kind: 'field', value: { unit } } });
    const log = (await store.adminLog.search({ limit: 10 }))
      .filter(({ action }) => action.startsWith('meaning.'))
      .reverse();
    expect(log.map(({ action, subject, type, initiator }) => [action, subject, type, initiator])).toEqual([
      ['meaning.add', 'orders.status', 'add', 'administrator'],
      ['meaning.update', 'orders.status', 'update', 'administrator'],
      ['meaning.delete', 'orders.status', 'remove', 'administrator'],
    ]);
    expect(log.map(({ previousValue, newValue }) => [previousValue, newValue])).toEqual([
      [undefined, value('EUR')],
      [value('EUR'), value('NOK')],
      [value('NOK'), undefined],
    ]);
  });

  test.each<[string, MeaningSubject, unknown, string]>([
    ['a long introduction', { kind: 'introduction' }, 'a'.repeat(2001), 'at most 2000 characters'],
    ['an empty introduction', { kind: 'introduction' }, ' ', 'at most 2000 characters'],
    ['a long description', orders, { description: 'a'.repeat(501) }, 'description: expected a text of at most 500'],
    ['many synonyms', orders, { synonyms: Array(21).fill('a') }, 'synonyms: expected a list of at most 20 texts'],
    ['a unit of a collection', orders, { unit: 'EUR' }, 'unit: expected nothing'],
    ['many examples', status, { examples: [1, 2, 3, 4, 5, 6] }, 'examples: expected a list of at most 5'],
    ['a long meaning of a value', status, { values: { paid: 'a'.repeat(201) } }, 'texts of at most 200 characters'],
    [
      'a metric with a long description',
      { kind: 'metric', collection: 'orders', name: 'n' },
      { measure: { count: true }, description: 'a'.repeat(501) },
      'at most 500 characters',
    ],
    [
      'a segment with a long description',
      { kind: 'segment', collection: 'orders', name: 'n' },
      { filter: { field: 'status', operator: 'Present' }, description: 'a'.repeat(501) },
      'at most 500 characters',
    ],
  ])('%s is refused, and changes nothing', async (_, subject, value, problem) => {
    const store = await (await createPlace(variant)).open();
    await expect(store.meanings.set(subject, value, { before: null })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(problem),
    });
    expect(await store.meanings.list()).toEqual([]);
  });
});
