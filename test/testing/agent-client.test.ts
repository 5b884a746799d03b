// All requests of the test client, to a real agent over HTTP with a real sandbox behind it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  ActionFormValidationError,
  ActionRequiresApprovalError,
  type AgentHttpError,
  createTestableAgent,
  type TestableAgent,
  UnknownActionFieldError,
} from '../../src/testing/index.ts';
import { messageOf } from '../app/agent.ts';
import { describeShop, photo } from './shop.ts';
import { failing, thrown } from './thrown.ts';

let place: TestableAgent;
beforeAll(async () => {
  place = await createTestableAgent(describeShop);
});
afterAll(() => place?.close());

const collection = (name: string) => place.client.collection(name);

describe('reading', () => {
  test('records have the requested fields, under their own names, with relations nested', async () => {
    const orders = collection('orders');
    expect([
      await orders.list({
        fields: ['id', 'total', 'customer:name', 'customer:Secret_word'],
        sort: [{ field: 'customer:name', ascending: false }, { field: 'id' }],
        page: { size: 2, number: 2 },
      }),
      await orders.get(4, { fields: ['customer:name', 'placed_at'] }),
      await orders.get('1'),
      await collection('line_notes').list({ fields: ['text', 'order_lines:order:customer:name'], page: { size: 1 } }),
    ]).toEqual([
      [
        { id: 3, total: 20, customer: { name: 'Bo', Secret_word: 'x2' } },
        { id: 1, total: 10.5, customer: { name: 'Ada', Secret_word: 'x1' } },
      ],
      { customer: null, placed_at: '2024-03-31T22:00:00.000Z' },
      {
        id: 1,
        customer_id: 1,
        total: 10.5,
        placed_at: '2024-03-30T23:30:00.000Z',
        customer: { id: 1, name: 'Ada', city: 'Paris', Secret_word: 'x1', label: 'Ada (Paris)' },
      },
      [{ text: 'blue', order_lines: { order: { customer: { name: 'Ada' } } } }],
    ]);
  });

  test('filters, search, segments and counts', async () => {
    const customers = collection('customers');
    const fields = ['label'];
    expect([
      await customers.list({
        fields,
        filters: {
          aggregator: 'Or',
          conditions: [
            { field: 'city', operator: 'Missing' },
            { field: 'name', operator: 'In', value: ['Ada'] },
          ],
        },
      }),
      (await customers.search('rom')).map(({ name }) => name),
      await customers.count(),
      await customers.count({ search: 'o' }),
      await customers.segment('Placed').list({ fields, sort: { field: 'id', ascending: false } }),
      await customers.segment('Placed').count({ filters: { field: 'id', operator: 'GreaterThan', value: 1 } }),
    ]).toEqual([
      [{ label: 'Ada (Paris)' }, { label: 'Cy (nowhere)' }],
      ['Bo'],
      3,
      1,
      [{ label: 'Bo (Rome)' }, { label: 'Ada (Paris)' }],
      1,
    ]);
  });

  test('hooks run, and errors are those of the agent', async () => {
    const customers = collection('customers');
    const [first] = await customers.list({ fields: ['Secret_word'], page: { size: 1 } });
    const unknown = (await thrown(() => customers.list({ fields: ['nam'] }))) as AgentHttpError;
    expect([
      first,
      [unknown.status, unknown.code, unknown.message],
      await failing(() => customers.get(99)),
      await failing(() => customers.list({ segment: 'Nowhere' })),
      await messageOf(() => collection('customer')),
      await messageOf(() => customers.relation('order', 1)),
    ]).toEqual([
      { Secret_word: '***' },
      [
        400,
        'UNKNOWN_FIELD',
        expect.stringMatching(/^GET \/customers: 400 'customers' has no field 'nam'\. Near: name/),
      ],
      [404, 'RECORD_NOT_FOUND'],
      [400, 'UNKNOWN_SEGMENT'],
      expect.stringMatching(/has no collection 'customer'\. Near: customers/),
      expect.stringMatching(/has no relation of 'customers' called 'order'\. Near: orders/),
    ]);
  });
});

describe('charts', () => {
  test('each reader reads its kind of chart, of the agent and of a record', async () => {
    const { client } = place;
    expect([
      await client.valueChart('Orders'),
      await client.distributionChart('By city'),
      await client.timeBasedChart('By month'),
      await client.multipleTimeBasedChart('By month and kind'),
      await client.percentageChart('Paid'),
      await client.objectiveChart('Goal'),
      await client.leaderboardChart('Best'),
      await client.smartChart('Anything'),
      await collection('customers').valueChart('Spent', 2),
    ]).toEqual([
      { countCurrent: 5, countPrevious: 4 },
      [
        { key: 'Paris', value: 1 },
        { key: 'Rome', value: 2 },
      ],
      [
        { label: 'Mar 24', values: { value: 1 } },
        { label: 'Apr 24', values: { value: 0 } },
        { label: 'May 24', values: { value: 2 } },
      ],
      { labels: ['Mar 24', 'Apr 24'], values: [{ key: 'pens', values: [1, 2] }] },
      87.5,
      { value: 80, objective: 100 },
      [
        { key: 'Bo', value: 3 },
        { key: 'Ada', value: 1 },
      ],
      { a: [1] },
      { countCurrent: 40, countPrevious: 1 },
    ]);
  });

  test('a chart of another kind, and an unknown chart, are errors', async () => {
    expect([
      await messageOf(() => place.client.valueChart('Paid')),
      await failing(() => place.client.valueChart('Order')),
      await failing(() => collection('customers').valueChart('Spent', 99)),
    ]).toEqual([
      "The chart 'Paid' is not a value chart: it returned 87.5",
      [404, 'UNKNOWN_CHART'],
      [404, 'RECORD_NOT_FOUND'],
    ]);
  });
});

describe('actions', () => {
  test('a form is filled in, reloads when a field depends on a value, and is executed', async () => {
    const form = await collection('customers').action('Rename', { recordId: 3 });
    const names = () => form.fields.map(({ name }) => name);
    const before = names();
    const name = form.getField('name');
    const why = form.getField('Why');
    const told = [name.label, name.type, name.isRequired, name.description, why.enumValues, form.getField('Was').value];
    await why.fill('other');
    const between = names();
    const unfinished = await thrown(() => form.execute());
    await form.fill({ name: 'Cyrus', Why: 'wedding' });
    const after = names();
    const done = await form.execute();
    expect([
      [before, between, after],
      told,
      unfinished instanceof ActionFormValidationError && unfinished.problems.map(({ field }) => field).sort(),
      done,
      await collection('customers').get(3, { fields: ['name'] }),
    ]).toEqual([
      [
        ['name', 'Why', 'Was'],
        ['name', 'Why', 'Which other reason', 'Was'],
        ['name', 'Why', 'Was'],
      ],
      ['Name', 'String', true, 'As it is to be', ['wedding', 'other'], 'Cy'],
      ['Which other reason', 'name'],
      {
        type: 'success',
        message: 'Cy is Cyrus now, for wedding',
        html: '<b>Done</b>',
        invalidated: ['customers', 'orders'],
      },
      { name: 'Cyrus' },
    ]);
  });

  test('files, webhooks, redirects and errors are returned as their own result types', async () => {
    const file = await (await collection('customers').action('List names', { recordIds: [1, 2] })).execute();
    const say = await collection('orders').action('Say');
    const how = say.getField('How');
    await how.fill('redirect');
    const redirect = await say.execute();
    await how.fill('error');
    const error = await say.execute();
    await how.fill('webhook');
    const options = await say.search('To', 'Ada');
    await say.fill({
      To: 'Ada!',
      Customer: 2,
      Photo: { name: 'å.png', mimeType: 'image/png', content: photo },
      Numbers: [1, 2.5],
    });
    const webhook = await say.execute();
    expect([file.responseHeaders.get('x-names'), Object.keys(redirect)]).toEqual(['2', ['type', 'path']]);
    expect([file, redirect, error, options, webhook]).toEqual([
      { type: 'file', filename: 'nåmes.txt', mimeType: 'text/plain', content: Buffer.from('Ada\nBo') },
      { type: 'redirect', path: '/there' },
      { type: 'error', message: 'It cannot be said', html: '<i>no</i>' },
      [{ value: 'Ada!', label: 'To Ada' }],
      {
        type: 'webhook',
        url: 'https://hook.example/say',
        method: 'PUT',
        headers: { a: 'b' },
        body: { To: 'Ada!', Numbers: [1, 2.5], customer: [2], photo: ['å.png'] },
      },
    ]);
  });

  test('fields return their types, and the layout is available', async () => {
    const say = await collection('orders').action('Say');
    const customer = say.getField('Customer');
    expect([
      say.fields.map(({ name, type }) => [name, type]),
      [customer.collectionName, customer.value, customer.isReadOnly],
      say.getField('To').widget,
      say.getLayout().map(({ component, nextButtonLabel }) => [component, nextButtonLabel]),
      (await collection('customers').action('Rename', { recordId: 1 })).getLayout(),
    ]).toEqual([
      [
        ['How', 'Enum'],
        ['To', 'String'],
        ['Customer', 'Collection'],
        ['Photo', 'File'],
        ['Numbers', 'NumberList'],
      ],
      ['customers', undefined, false],
      'dropdown',
      [
        ['page', 'On'],
        ['page', undefined],
      ],
      [],
    ]);
  });

  test('an unknown field or action, a failure and a denial are errors', async () => {
    const form = await collection('customers').action('Rename', { recordId: 1 });
    const field = await thrown(() => form.getField('Nam'));
    const say = await collection('orders').action('Say');
    await say.getField('How').fill('throw');
    const burn = await collection('customers').action('Burn the house', { recordId: 1 });
    const approval = await thrown(() => burn.execute());
    expect([
      field instanceof UnknownActionFieldError && [field.message, field.fields],
      await failing(() => say.execute()),
      approval instanceof ActionRequiresApprovalError && approval.status,
      await failing(() => collection('customers').action('Rename', { recordId: 99 })),
      await messageOf(() => collection('customers').action('Renam', { recordId: 1 })),
    ]).toEqual([
      ["The form of 'Rename' has no field 'Nam' with its current values. Near: name, Was.", ['name', 'Why', 'Was']],
      [500, 'ACTION_FAILED'],
      403,
      [404, 'RECORD_NOT_FOUND'],
      expect.stringMatching(/has no action of 'customers' called 'Renam'\. Near: Rename/),
    ]);
  });
});

describe('relations', () => {
  test('the records of a relation are listed, counted and exported, by the names of both sides', async () => {
    const orders = collection('customers').relation('orders', 2);
    const fields = ['id', 'total'];
    expect([
      await orders.list({ fields, sort: { field: 'id', ascending: false } }),
      await orders.count({ filters: { field: 'id', operator: 'GreaterThan', value: 2 } }),
      (await orders.exportCsv({ fields, header: ['Number', 'Sum, in all'] })).trim().split(/\r?\n/),
      await collection('order_lines')
        .relation('line_notes', [1, 2])
        .list({ fields: ['text'] }),
    ]).toEqual([
      [
        { id: 3, total: 20 },
        { id: 2, total: 20 },
      ],
      1,
      [expect.stringMatching(/^\uFEFF?Number,"Sum, in all"$/), '2,20', '3,20'],
      [{ text: 'blue' }],
    ]);
  });

  test('a call for the wrong kind of relation names the right one', async () => {
    expect([
      await messageOf(() => collection('orders').relation('customer', 1).list()),
      await messageOf(() => collection('customers').relation('orders', 1).set(1)),
      await failing(() => collection('customers').relation('orders', 99).list()),
    ]).toEqual([
      expect.stringMatching(/list is for relations to many records; 'customer' of 'orders' leads to one: use set/),
      expect.stringMatching(/set is for relations to one record; 'orders' of 'customers' leads to many: use associate/),
      [404, 'RECORD_NOT_FOUND'],
    ]);
  });
});

test('records are exported as a file, and capabilities describes the collection', async () => {
  const customers = collection('customers');
  const { name, fields } = await customers.capabilities();
  const label = fields.find((field) => field.name === 'name');
  expect([
    (await customers.exportCsv({ fields: ['id', 'label'], sort: { field: 'id' }, segment: 'Placed' }))
      .trim()
      .split(/\r?\n/),
    name,
    label?.type,
    label?.operators?.includes('starts_with'),
  ]).toEqual([
    [expect.stringMatching(/^\uFEFF?id,label$/), '1,Ada (Paris)', '2,Bo (Rome)'],
    'customers',
    'String',
    true,
  ]);
});

describe('permissions', () => {
  beforeEach(() => place.client.overridePermissions({}));

  test('are overridden from the next call on, only where named, and {} restores all', async () => {
    const customers = collection('customers');
    const what = async () => [
      await customers.count().catch((error: AgentHttpError) => error.code),
      await collection('orders').count(),
      Object.keys(await customers.get(1)).sort(),
    ];
    await place.client.overridePermissions({
      customers: { fields: { Secret_word: 'hidden' }, scope: { field: 'city', operator: 'Equal', value: 'Paris' } },
    });
    const scoped = await what();
    const outside = await failing(() => customers.get(2));
    await place.client.overridePermissions({ customers: { browse: false } });
    const unbrowsed = await failing(() => customers.list());
    await place.client.overridePermissions({ customers: { actions: { Rename: { trigger: false } } } });
    const untriggered = await failing(() => customers.action('Rename', { recordId: 1 }));
    await place.client.overridePermissions({});
    expect([scoped, outside, unbrowsed, untriggered, await what()]).toEqual([
      [1, 5, ['city', 'id', 'label', 'name']],
      [404, 'RECORD_NOT_FOUND'],
      [404, 'UNKNOWN_COLLECTION'],
      [404, 'UNKNOWN_ACTION'],
      [3, 5, ['Secret_word', 'city', 'id', 'label', 'name']],
    ]);
    expect(await messageOf(() => place.client.overridePermissions({ costumers: {} }))).toMatch(/Near: customers/);
  });
});

test('benchmark measures how long a function takes', async () => {
  let calls = 0;
  const run = async () => {
    calls++;
    await collection('orders').count();
  };
  const { times, least, median, most } = await place.client.benchmark(run, { times: 5 });
  expect([times, calls, least > 0 && least <= median && median <= most]).toEqual([5, 5, true]);
});
