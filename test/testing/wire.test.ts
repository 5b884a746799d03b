// The data that the test client sends and reads, in the same form as a front end.
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readOutcome } from '../../src/testing/action-results.ts';
import { readRecords, writeRecord } from '../../src/testing/documents.ts';
import { ActionFormValidationError, ActionRequiresApprovalError, AgentHttpError } from '../../src/testing/failures.ts';
import { packRecordId, pathOf, selectionBody, wireOperator, writeQuery } from '../../src/testing/queries.ts';
import { openSchema } from '../../src/testing/schema.ts';
import { makeFolder, messageOf } from '../app/agent.ts';

const sent = (collection: string, options: Parameters<typeof writeQuery>[1]) => {
  const { query, headers } = writeQuery(collection, options, 'Europe/Oslo');
  return { ...Object.fromEntries(query), ...headers };
};

describe('queries', () => {
  test('columns and those of a relation are query parameters; deeper fields are a header', () => {
    expect([
      sent('orders', { fields: ['id', 'customer:name', 'customer:city', 'total'] }),
      sent('orders', { fields: ['id', 'customer:company:name'] }),
      sent('orders', {}),
    ]).toEqual([
      {
        timezone: 'Europe/Oslo',
        'fields[orders]': 'id,customer,total',
        'fields[customer]': 'name,city',
      },
      { timezone: 'Europe/Oslo', 'service-projection': 'id,customer:company:name' },
      { timezone: 'Europe/Oslo' },
    ]);
  });

  test('filters, sort, page, search and segment', () => {
    const { filters, ...rest } = sent('orders', {
      filters: {
        aggregator: 'Or',
        conditions: [
          { field: 'customer:name', operator: 'IStartsWith', value: 'ada' },
          { aggregator: 'And', conditions: [{ field: 'total', operator: 'Present' }] },
        ],
      },
      sort: [{ field: 'total', ascending: false }, { field: 'customer:name' }],
      page: { size: 20, number: 2 },
      search: 'a&b=c',
      searchExtended: true,
      segment: 'late ones',
    });
    expect([JSON.parse(`${filters}`), rest]).toEqual([
      {
        aggregator: 'or',
        conditions: [
          { field: 'customer:name', operator: 'i_starts_with', value: 'ada' },
          { aggregator: 'and', conditions: [{ field: 'total', operator: 'present', value: null }] },
        ],
      },
      {
        timezone: 'Europe/Oslo',
        sort: '-total,customer.name',
        'page[size]': '20',
        'page[number]': '2',
        search: 'a&b=c',
        searchExtended: '1',
        segment: 'late ones',
      },
    ]);
  });

  test('operators have their names of the HTTP API', () => {
    expect(['Equal', 'GreaterThan', 'ILike', 'PreviousXDaysToDate', 'BeforeXHoursAgo'].map(wireOperator)).toEqual([
      'equal',
      'greater_than',
      'i_like',
      'previous_x_days_to_date',
      'before_x_hours_ago',
    ]);
  });

  test('an id cannot change the route, and keys of several columns are packed', () => {
    expect([
      pathOf('orders', packRecordId('1/../../customers?x=#'), 'relationships', 'a b'),
      packRecordId(['a|b', 'c\\d']),
      packRecordId(7),
      selectionBody([1, ['a', 2]]),
    ]).toEqual([
      '/orders/1%2F..%2F..%2Fcustomers%3Fx%3D%23/relationships/a%20b',
      'a\\|b|c\\\\d',
      '7',
      {
        data: {
          type: 'action-requests',
          attributes: { ids: ['1', 'a|2'], all_records: false, all_records_ids_excluded: [] },
        },
      },
    ]);
  });
});

test('documents become records with nested relations, under their own names', () => {
  const records = readRecords({
    data: [
      {
        type: 'orders',
        id: '1',
        attributes: { id: 1, 'Ship To': { post_code: '5003' } },
        relationships: {
          customer_of: { data: { type: 'customers', id: '7' } },
          gift_for: { data: null },
          lines: {},
        },
      },
      {
        type: 'orders',
        id: '2',
        attributes: { id: 2 },
        relationships: { customer_of: { data: { type: 'x', id: '9' } } },
      },
    ],
    included: [
      {
        type: 'customers',
        id: '7',
        attributes: { first_name: 'Ada' },
        relationships: {
          company: { data: { type: 'companies', id: '3' } },
          last_order: { data: { type: 'orders', id: '1' } },
        },
      },
      { type: 'companies', id: '3', attributes: { name: 'Looms' }, relationships: {} },
    ],
  });
  expect(records).toEqual([
    {
      id: 1,
      'Ship To': { post_code: '5003' },
      customer_of: { first_name: 'Ada', company: { name: 'Looms' } },
      gift_for: null,
    },
    { id: 2, customer_of: { id: '9' } },
  ]);
});

const schemaText = (collections: unknown) => JSON.stringify({ collections, meta: {} });
const column = (field: string, isPrimaryKey = false) => ({ field, isPrimaryKey, reference: null });

describe('the schema file', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = join(tmpdir(), `portico-schema-${process.pid}`);
    mkdirSync(folder, { recursive: true });
    path = join(folder, 'schema.json');
    writeFileSync(
      path,
      schemaText([
        {
          name: 'sales.orders',
          fields: [
            column('id', true),
            { ...column('customer'), relationship: 'BelongsTo', reference: 'sales.customers.id' },
            { ...column('lines'), relationship: 'HasMany', reference: 'lines.order_id|line' },
          ],
          actions: [{ name: 'Send again', type: 'single', endpoint: '/service/_actions/sales.orders/0/send-again' }],
          segments: [],
        },
        {
          name: 'sales.customers',
          fields: [column('country', true), column('number', true)],
          actions: [],
          segments: [],
        },
      ]),
    );
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('relations are written by the key of their record', () => {
    const schema = openSchema(path);
    const written = (values: Record<string, unknown>) => writeRecord(schema, 'sales.orders', values);
    const of = (data: unknown) => ({
      data: { type: 'sales.orders', attributes: {}, relationships: { customer: { data } } },
    });
    expect([
      written({ note: 'x', at: undefined }),
      written({ customer: ['NO', 7] }),
      written({ customer: { country: 'NO', number: 7, name: 'Ada' } }),
      written({ customer: null }),
      schema.relation('sales.orders', 'lines'),
    ]).toEqual([
      { data: { type: 'sales.orders', attributes: { note: 'x' } } },
      of({ type: 'sales.customers', id: 'NO|7' }),
      of({ type: 'sales.customers', id: 'NO|7' }),
      of(null),
      { name: 'lines', target: 'lines', isMany: true },
    ]);
  });

  test('an unknown name is an error with near names', async () => {
    const schema = openSchema(path);
    expect([
      await messageOf(() => schema.collection('sales.order')),
      await messageOf(() => schema.action('sales.orders', 'Send')),
      await messageOf(() => schema.relation('sales.customers', 'orders')),
    ]).toEqual([
      expect.stringMatching(/has no collection 'sales\.order'\. Near: sales\.orders/),
      expect.stringMatching(/has no action of 'sales\.orders' called 'Send'\. Near: Send again/),
      expect.stringMatching(/has no relation of 'sales\.customers' called 'orders'\. There are: none/),
    ]);
  });

  test('a changed file is read again', () => {
    const schema = openSchema(path);
    writeFileSync(path, schemaText([{ name: 'things', fields: [], actions: [], segments: [] }]));
    utimesSync(path, new Date(), new Date(Date.now() + 5000));
    expect(schema.collection('things').name).toBe('things');
  });

  test('a missing or invalid file is an error that says what to set', async () => {
    const other = join(makeFolder(), 'other.json');
    const missing = await messageOf(() => openSchema(other));
    writeFileSync(other, 'x');
    const noJson = await messageOf(() => openSchema(other));
    writeFileSync(other, '{}');
    const noSchema = await messageOf(() => openSchema(other));
    expect([missing, noJson, noSchema]).toEqual([
      expect.stringMatching(/agentSchemaPath: .*other\.json cannot be read\. Start the agent first/),
      expect.stringMatching(/agentSchemaPath: .*other\.json is not JSON/),
      expect.stringMatching(/agentSchemaPath: .*other\.json has no collections/),
    ]);
  });
});

describe('answers of actions', () => {
  const read = (status: number, body: string | object, headers: Record<string, string> = {}) => {
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    return readOutcome("The action 'x'", { status, headers: new Headers(headers), bytes });
  };

  test('each kind of result is recognised', () => {
    const webhook = { url: 'https://a.example/', method: 'POST', headers: { a: 'b' }, body: { c: 1 } };
    expect([
      read(200, { success: 'ok', refresh: { relationships: ['orders'] } }),
      read(200, { success: 'ok', html: '<b>1</b>', refresh: { relationships: [] } }),
      read(400, { error: 'no', html: '<b>2</b>' }),
      read(200, { webhook }),
      read(200, { redirectTo: '/there' }),
      read(200, 'a;b', {
        'content-type': 'text/csv',
        'content-disposition': `attachment; filename="r.csv"; filename*=UTF-8''r%C3%A9.csv`,
      }),
      read(200, 'x', { 'content-type': 'text/plain', 'content-disposition': 'attachment; filename="a\\"b.txt"' }),
    ]).toEqual([
      { type: 'success', message: 'ok', invalidated: ['orders'] },
      { type: 'success', message: 'ok', html: '<b>1</b>', invalidated: [] },
      { type: 'error', message: 'no', html: '<b>2</b>' },
      { type: 'webhook', ...webhook },
      { type: 'redirect', path: '/there' },
      { type: 'file', filename: 'ré.csv', mimeType: 'text/csv', content: Buffer.from('a;b') },
      { type: 'file', filename: 'a"b.txt', mimeType: 'text/plain', content: Buffer.from('x') },
    ]);
  });

  const thrown = (run: () => unknown): unknown => {
    try {
      return run();
    } catch (error) {
      return error;
    }
  };

  test('each refusal of the agent has its own error class', () => {
    const failing = (status: number, error: object) => thrown(() => read(status, { errors: [error] }));
    const approval = failing(403, {
      name: 'CustomActionRequiresApprovalError',
      detail: 'Somebody has to agree',
      data: { roleIdsAllowedToApprove: [2] },
    });
    const problems = [{ field: 'Reason', label: 'Reason', problem: 'send a string' }];
    const form = failing(422, {
      name: 'UnprocessableError',
      code: 'INVALID_FORM',
      detail: 'Wrong',
      data: { fields: problems },
    });
    const other = failing(404, { name: 'NotFoundError', code: 'RECORD_NOT_FOUND', detail: 'Gone' });
    expect([
      approval instanceof ActionRequiresApprovalError && [approval.status, approval.roleIdsAllowedToApprove],
      form instanceof ActionFormValidationError && [form.status, form.problems],
      other instanceof AgentHttpError && [other.name, other.status, other.code, other.message],
      thrown(() => read(502, '<html>')) instanceof AgentHttpError,
    ]).toEqual([
      [403, [2]],
      [422, problems],
      ['AgentHttpError', 404, 'RECORD_NOT_FOUND', "The action 'x': 404 Gone"],
      true,
    ]);
  });
});
