// Charts computed by code, over the HTTP API.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { all, openWorkshop, type Workshop } from './workshop.ts';

let place: Workshop;
beforeAll(async () => {
  place = await openWorkshop();
});
afterAll(() => place?.stop());

const values: readonly (readonly [name: string, value: unknown])[] = [
  ['value', { countCurrent: 12, countPrevious: 8 }],
  [
    'distribution',
    [
      { key: 'a', value: 1 },
      { key: 'b', value: 2 },
    ],
  ],
  [
    'timeBased',
    [
      { label: '06/01/2024', values: { value: 1 } },
      { label: '07/01/2024', values: { value: 2 } },
    ],
  ],
  ['multipleTimeBased', { labels: ['Jan 24', 'Feb 24', 'Mar 24'], values: [{ key: 'sold', values: [1, 0, null] }] }],
  ['percentage', 42],
  ['objective', { value: 3, objective: 10 }],
  [
    'leaderboard',
    [
      { key: 'b', value: 2 },
      { key: 'a', value: 1 },
    ],
  ],
  ['smart', { any: ['thing', null] }],
];

describe.each(values)('%s', (name, value) => {
  test('GET returns the value, POST the same as a statistic; periods are in the requested timezone', async () => {
    const bare = await place.call('GET', `/_charts/${name}?timezone=Europe/Paris`);
    const wrapped = await place.call('POST', `/_charts/${name}`, { timezone: 'Europe/Paris' });
    expect([bare.status, bare.body, wrapped.status, wrapped.body]).toEqual([
      200,
      value,
      200,
      { data: { id: expect.stringMatching(/^[\w-]{10,}$/), type: 'stats', attributes: { value } } },
    ]);
  });
});

test('a chart of measures has the rows of the caller, and is unknown without its collection', async () => {
  const chart = () => place.call('GET', '/_charts/measures');
  const every = (await chart()).body as readonly { readonly key: string; readonly value: number }[];
  expect(every.map(({ key }) => key).sort()).toEqual(['Ada', 'Bo', 'no value']);
  await place.permit({ customers: all });
  expect(await chart()).toMatchObject({ status: 404, body: { errors: [{ code: 'UNKNOWN_CHART' }] } });
  await place.permit({ '*': all });
});

test('without a timezone, periods are in the timezone of the caller, not of the server', async () => {
  expect((await place.call('GET', '/_charts/timeBased')).body).toEqual([
    { label: '05/01/2024', values: { value: 1 } },
    { label: '06/01/2024', values: { value: 0 } },
    { label: '07/01/2024', values: { value: 2 } },
  ]);
});

test('a chart of one record, which the query or the body names', async () => {
  const bare = await place.call('GET', '/_charts/orders/weight?record_id=2');
  const wrapped = await place.call('POST', '/_charts/orders/weight', { record_id: 3 });
  expect([bare.body, wrapped.body]).toMatchObject([
    { countCurrent: 22 },
    { data: { type: 'stats', attributes: { value: { countCurrent: 33 } } } },
  ]);
});

test.each([
  ['an unknown chart', 'GET', '/_charts/nothing', undefined, 404],
  ['an unknown collection', 'GET', '/_charts/nothing/weight?record_id=1', undefined, 404],
  ['an unknown record', 'GET', '/_charts/orders/weight?record_id=99', undefined, 404],
  ['no record', 'GET', '/_charts/orders/weight', undefined, 400],
  ['two records', 'GET', '/_charts/orders/weight?record_id=1&record_id=2', undefined, 400],
  ['an unknown timezone', 'POST', '/_charts/value', { timezone: 'Nowhere' }, 400],
  ['an invalid body', 'POST', '/_charts/value', [], 400],
] as const)('%s', async (_, method, path, body, status) => {
  expect((await place.call(method, path, body)).status).toBe(status);
});

test('a record outside the row scope is not found, and charts of a record need the right to read', async () => {
  const { permissions } = place.store;
  const ask = async () => (await place.call('GET', '/_charts/orders/weight?record_id=1')).status;
  const seen = [await ask()];
  await place.permit({ orders: { ...all, read: false } });
  seen.push(await ask());
  await place.permit({ orders: { ...all, browse: false } });
  seen.push(await ask());
  await place.permit({ '*': all });
  const { team } = (await place.store.permissions.accessOf(2))!.caller;
  await permissions.setScope(team, 'orders', { field: 'id', operator: 'GreaterThan', value: 1 });
  seen.push(await ask());
  expect(seen).toEqual([200, 403, 404, 404]);
});
