// Charts that a front end defines by aggregation, on every database, with the caller's permissions, row scopes and time
// zone.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { servers } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { all, openWorkshop, type Workshop } from './workshop.ts';

// A Tuesday.
const now = Date.parse('2024-03-05T12:00:00Z');
const by = (key: unknown, value: unknown) => ({ key, value });
const at = (label: string, value: unknown) => ({ label, values: { value } });

const charts: readonly (readonly [what: string, path: string, body: object, value: unknown])[] = [
  ['a count', 'orders', { type: 'Value', aggregator: 'Count' }, { countCurrent: 4 }],
  ['a sum', 'orders', { type: 'Value', aggregator: 'Sum', aggregateFieldName: 'total' }, { countCurrent: 100 }],
  [
    'an average of no records',
    'orders',
    {
      ...{ type: 'Value', aggregator: 'Avg', aggregateFieldName: 'total' },
      filter: { field: 'total', operator: 'greater_than', value: 1000 },
    },
    { countCurrent: 0 },
  ],
  [
    'a value beside that of the previous period, with other filters',
    'orders',
    {
      ...{ type: 'Value', aggregator: 'Sum', aggregateFieldName: 'total' },
      filter: {
        aggregator: 'and',
        conditions: [
          { field: 'placed', operator: 'previous_month_to_date', value: null },
          { field: 'total', operator: 'greater_than', value: 0 },
        ],
      },
    },
    { countCurrent: 30, countPrevious: 0 },
  ],
  [
    'a quarter beside the previous one',
    'orders',
    { type: 'Value', aggregator: 'Count', filter: '{"field":"placed","operator":"PreviousQuarterToDate"}' },
    { countCurrent: 3, countPrevious: 0 },
  ],
  ['an objective', 'orders', { type: 'Objective', aggregator: 'Max', aggregateFieldName: 'total' }, { value: 40 }],
  [
    'an objective of some records',
    'orders',
    {
      ...{ type: 'Objective', aggregator: 'Count' },
      filter: { field: 'total', operator: 'less_than', value: 40 },
    },
    { value: 3 },
  ],
  [
    'a pie of some records',
    'orders',
    {
      ...{ type: 'Pie', aggregator: 'Count', groupByFieldName: 'customer_id' },
      filter: { field: 'total', operator: 'less_than', value: 40 },
    },
    [by(1, 2), by(2, 1)],
  ],
  [
    'a sum of no records',
    'orders',
    {
      type: 'Value',
      aggregator: 'Sum',
      aggregateFieldName: 'total',
      filter: { field: 'id', operator: 'equal', value: 99 },
    },
    { countCurrent: 0 },
  ],
  [
    'a pie',
    'orders',
    { type: 'Pie', aggregator: 'Count', groupByFieldName: 'customer_id' },
    [by(1, 2), by(null, 1), by(2, 1)],
  ],
  [
    'a pie by a field of a relation',
    'orders',
    { type: 'Pie', aggregator: 'Sum', aggregateFieldName: 'total', groupByFieldName: 'customer.name' },
    [by(null, 40), by('Ada', 30), by('Bo', 30)],
  ],
  [
    'a line, with 0 in its gaps and without records that have no date',
    'orders',
    { type: 'Line', aggregator: 'Count', groupByFieldName: 'placed', timeRange: 'Month' },
    [at('Jan 24', 2), at('Feb 24', 0), at('Mar 24', 1)],
  ],
  [
    'a line by week',
    'orders',
    {
      ...{ type: 'Line', aggregator: 'Sum', aggregateFieldName: 'total', groupByFieldName: 'placed' },
      ...{ timeRange: 'week', filter: { field: 'id', operator: 'less_than', value: 3 } },
    },
    [at('W1-2024', 10), at('W2-2024', 0), at('W3-2024', 20)],
  ],
  [
    'a line of no records',
    'orders',
    {
      ...{ type: 'Line', aggregator: 'Count', groupByFieldName: 'placed', timeRange: 'Day' },
      filter: { field: 'id', operator: 'equal', value: 99 },
    },
    [],
  ],
  [
    'a leaderboard over a to-many relation',
    'customers',
    {
      type: 'Leaderboard',
      aggregator: 'Sum',
      aggregateFieldName: 'total',
      relationshipFieldName: 'orders',
      labelFieldName: 'name',
    },
    [by('Ada', 30), by('Bo', 30)],
  ],
  [
    'a leaderboard over a many-to-many relation, limited and filtered',
    'orders',
    {
      ...{ type: 'Leaderboard', aggregator: 'Count', relationshipFieldName: 'tags', labelFieldName: 'label', limit: 1 },
      filter: { field: 'total', operator: 'less_than', value: 50 },
    },
    [by('boots', 2)],
  ],
  [
    'variables of the user',
    'customers',
    {
      type: 'Value',
      aggregator: 'Count',
      filter: { field: 'name', operator: 'equal', value: '{{currentUser.firstName}}' },
    },
    { countCurrent: 0 },
  ],
];

describe.each(servers)('on $dialect', (server) => {
  let place: Workshop;
  beforeAll(async () => {
    place = await openWorkshop({ server, app: { clock: { ...systemClock, now: () => now + (Date.now() - started) } } });
  });
  const started = Date.now();
  afterAll(() => place?.stop());

  test.each(charts)('%s', async (_, path, body, value) => {
    const answer = await place.call('POST', `/stats/${path}?timezone=UTC`, body);
    expect([answer.status, answer.body]).toEqual([
      200,
      { data: { id: expect.any(String), type: 'stats', attributes: { value } } },
    ]);
  });

  test('measures, with pages by cursor', async () => {
    const body = {
      measures: { all: { sum: 'total' }, part: { share: 'all' }, big: { count: true, where: { field: 'total', operator: 'GreaterThan', value: 20 } } },
      groups: ['customer:name'],
      sort: [{ group: 0 }],
      timezone: 'UTC',
    };
    const answer = await place.call('POST', '/stats/orders', body);
    const columns = ['customer:name', 'all', 'part', 'big'];
    expect([answer.status, answer.body]).toEqual([
      200,
      { columns, rows: [[null, 40, 0.4, 1], ['Ada', 30, 0.3, 0], ['Bo', 30, 0.3, 1]], hasMore: false, note: expect.any(String) },
    ]);
    const first = await place.call('POST', '/stats/orders', { ...body, limit: 2 });
    const { nextCursor: cursor } = first.body as { nextCursor: string };
    expect(first.body).toMatchObject({ hasMore: true, rows: [[null, 40, 0.4, 1], ['Ada', 30, 0.3, 0]] });
    const second = await place.call('POST', '/stats/orders', { ...body, limit: 2, cursor });
    expect(second.body).toMatchObject({ columns, rows: [['Bo', 30, 0.3, 1]], hasMore: false });
  }); // biome-ignore format: rows

  test('the arguments of the tool aggregate, unchanged', async () => {
    const named = { collectionName: 'orders', measures: { all: { sum: 'total' } }, timezone: 'UTC' };
    expect((await place.call('POST', '/stats/orders', named)).body).toEqual({ columns: ['all'], rows: [[100]], hasMore: false });
    const one = { collectionName: 'orders', operation: 'sum', field: 'total', groups: ['customer:name'], order: 'groups' };
    expect((await place.call('POST', '/stats/orders', one)).body).toMatchObject({
      columns: ['customer:name', 'sum(total)'],
      rows: [[null, 40], ['Ada', 30], ['Bo', 30]],
    });
  }); // biome-ignore format: rows

  test('a period through a to-many relation, of one record, beside the previous one', async () => {
    // Cy has orders before and after the period, and none within it.
    const orders = "(8, 'old', 1, '2023-12-20', 3), (9, 'new', 1, '2024-02-20', 3)";
    await runSql(place.database, [`INSERT INTO orders VALUES ${orders}`]);
    const filter = { field: 'orders:placed', operator: 'previous_month' };
    const body = { type: 'Value', aggregator: 'Count', filter };
    const answer = await place.call('POST', '/stats/customers?timezone=UTC', body);
    await runSql(place.database, ['DELETE FROM orders WHERE id > 7']);
    expect(answer.body).toMatchObject({ data: { attributes: { value: { countCurrent: 1, countPrevious: 1 } } } });
  });
});

describe('permissions and invalid requests', () => {
  let place: Workshop;
  beforeAll(async () => {
    place = await openWorkshop({ app: { clock: { ...systemClock, now: () => now + (Date.now() - started) } } });
  });
  const started = Date.now();
  afterAll(() => place?.stop());
  const draw = async (path: string, body: object) => {
    const answer = await place.call('POST', `/stats/${path}`, body);
    const { data } = (answer.body ?? {}) as { data?: { attributes: { value: unknown } } };
    return data ? data.attributes.value : answer.status;
  };

  test.each<[body: object, named: string]>([
    [{ measures: [] }, 'measures'],
    [{ measures: {} }, 'measures'],
    [{ measures: { a: 5 } }, 'measures.a'],
    [{ measures: { a: null } }, 'measures.a'],
    [{ measures: { a: { sum: { plus: 3 } } } }, 'measures.a'],
    [{ measures: { a: { count: true, where: 'x' } } }, 'where'],
    [{ measures: { a: { count: true } }, type: 'Value' }, 'type'],
    [{ measures: { a: { count: true } }, collectionName: 'customers' }, 'collectionName'],
    [{ measures: { a: { count: true } }, operation: 'count' }, 'operation'],
    [{ operation: 'most' }, 'operation'],
    [{ measures: { a: { count: true } }, filter: {} }, 'filters'],
    [{ measures: { a: { count: true } }, filters: { field: 3 } }, 'field'],
    [{ measures: { a: { count: true } }, groups: [null] }, 'groups'],
    [{ measures: { a: { count: true } }, groups: [{ field: 'placed', bucket: {} }] }, 'bucket'],
    [{ measures: { a: { count: true } }, groups: [[]] }, 'groups'],
    [{ measures: { a: { count: true } }, sort: [3] }, 'sort'],
    [{ measures: { a: { count: true } }, having: { measure: 3 } }, 'having'],
    [{ measures: { a: { count: true } }, top: { n: 'x' } }, 'top'],
    [{ measures: { a: { count: true } }, compare: { previous: null } }, 'compare'],
    [{ measures: { a: { count: true } }, over: { groups: 'x' } }, 'over'],
    [{ measures: { a: { count: true } }, over: { groups: [{}], measures: 3 } }, 'over'],
    [{ measures: { a: { count: true } }, limit: 1e9 }, 'limit'],
    [{ measures: { a: { count: true } }, limit: '5' }, 'limit'],
    [{ measures: { a: { count: true } }, timezone: 'Nowhere/City' }, 'timezone'],
    [{ measures: { a: { count: true } }, cursor: 'AAAA' }, 'INVALID_CURSOR'],
    [{ measures: { a: { sum: 'nothing' } } }, 'nothing'],
    [{ measures: { a: { count: true } }, constructor: 1 }, 'constructor'],
  ])('invalid measures: %j', async (body, named) => {
    const answer = await place.call('POST', '/stats/orders', body);
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([400, expect.stringContaining(named)]);
  });

  test.each<[what: string, body: unknown, told: string]>([
    ['an empty body', {}, 'aggregator'],
    ['a list as the body', [], 'body'],
    ['an unknown type', { type: 'Donut', aggregator: 'Count' }, 'Pie'],
    ['an unknown aggregator', { type: 'Value', aggregator: 'Median' }, 'Avg'],
    ['a sum without a field', { type: 'Value', aggregator: 'Sum' }, 'aggregateFieldName'],
    ['a sum of strings', { type: 'Value', aggregator: 'Sum', aggregateFieldName: 'label' }, 'label'],
    ['an unknown field', { type: 'Value', aggregator: 'Max', aggregateFieldName: 'nothing' }, 'nothing'],
    ['a pie without groups', { type: 'Pie', aggregator: 'Count' }, 'groupByFieldName'],
    ['a line without periods', { type: 'Line', aggregator: 'Count', groupByFieldName: 'placed' }, 'timeRange'],
    [
      'a line without dates',
      { type: 'Line', aggregator: 'Count', groupByFieldName: 'label', timeRange: 'Day' },
      'label',
    ],
    ['a leaderboard without a relation', { type: 'Leaderboard', aggregator: 'Count' }, 'relationshipFieldName'],
    [
      'a leaderboard over a to-one relation',
      { type: 'Leaderboard', aggregator: 'Count', relationshipFieldName: 'customer', labelFieldName: 'label' },
      'leads to one record',
    ],
    ['an invalid limit', { type: 'Leaderboard', aggregator: 'Count', limit: 0 }, 'limit'],
    ['an invalid filter', { type: 'Value', aggregator: 'Count', filter: { field: 'id' } }, 'filter'],
    [
      'an unknown variable',
      {
        type: 'Value',
        aggregator: 'Count',
        filter: { field: 'label', operator: 'equal', value: '{{currentUser.nme}}' },
      },
      'no variable',
    ],
    ['an unknown timezone', { type: 'Value', aggregator: 'Count', timezone: 'Nowhere' }, 'timezone'],
  ])('%s: 400, with what to send', async (_, body, told) => {
    const answer = await place.call('POST', '/stats/orders', body);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(told)]);
  });

  test('a line with empty periods over many centuries returns 400, and is not logged as a failure', async () => {
    const attributes = { id: 99, label: 'old', total: 1, placed: '0090-01-01' };
    const created = await place.call('POST', '/orders', { data: { type: 'orders', attributes } });
    expect(created.status).toBe(200);
    const line = { type: 'Line', aggregator: 'Count', groupByFieldName: 'placed', timeRange: 'Day' };
    const answer = await place.call('POST', '/stats/orders', line);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('use a longer time range')]);
    await place.call('DELETE', '/orders/99');
  });

  test('charts in SQL are refused', async () => {
    const answer = await place.call('POST', '/_internal/native_query', { type: 'Value', query: 'select 1' });
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('addChart')]);
  });

  test('only the rows of the caller count, also in the comparison, and hidden data is refused', async () => {
    const { permissions } = place.store;
    const { team } = (await permissions.accessOf(2))!.caller;
    await permissions.setScope(team, 'orders', { field: 'id', operator: 'In', value: [1, 3] });
    await permissions.setScope(team, 'customers', { field: 'id', operator: 'NotEqual', value: 2 });
    const quarter = { field: 'placed', operator: 'previous_quarter_to_date' };
    const leaders = {
      type: 'Leaderboard',
      aggregator: 'Count',
      relationshipFieldName: 'orders',
      labelFieldName: 'name',
    };
    const seen = [
      await draw('orders', { type: 'Value', aggregator: 'Count', filter: quarter }),
      await draw('orders', { type: 'Pie', aggregator: 'Count', groupByFieldName: 'customer:name' }),
      await draw('customers', leaders),
    ];
    await place.permit({ '*': all, orders: { ...all, browse: false } });
    seen.push(await draw('orders', { type: 'Value', aggregator: 'Count' }), await draw('customers', leaders));
    await place.permit({ '*': all, orders: { ...all, fields: { total: 'hidden' } } });
    seen.push(await draw('orders', { type: 'Value', aggregator: 'Sum', aggregateFieldName: 'total' }));
    expect(seen).toEqual([
      { countCurrent: 2, countPrevious: 0 },
      [by(null, 1), by('Ada', 1)],
      [by('Ada', 1)],
      404,
      404,
      400,
    ]);
  });
});
