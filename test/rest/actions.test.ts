// Actions over the HTTP API: documents of forms and results, invalid requests, and data that must not leak.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { frontOrigin } from './front-end.ts';
import { all, openWorkshop, type Workshop } from './workshop.ts';

let place: Workshop;
beforeAll(async () => {
  place = await openWorkshop();
});
afterAll(() => place?.stop());
beforeEach(() => {
  place.ran.length = 0;
});

const lost = '/_actions/orders/0/mark-as-lost-';
const bundle = '/_actions/orders/1/bundle';
const lostForm = [
  {
    field: 'reason',
    label: 'Reason',
    description: 'In a word',
    isRequired: true,
    isReadOnly: false,
    type: 'String',
    hook: 'changeHook',
    value: null,
  },
  {
    ...{ field: 'kind', label: 'kind', isRequired: false, isReadOnly: false, type: 'Enum' },
    ...{ enums: ['stolen', 'other'], hook: 'changeHook', value: 'stolen' },
  },
  {
    ...{ field: 'amount', label: 'amount', isRequired: false, isReadOnly: false, type: 'Number', value: null },
    widgetEdit: { name: 'number input', parameters: { placeholder: 'In euros', min: 1, max: 100 } },
  },
  {
    ...{ field: 'customer', label: 'customer', isRequired: false, isReadOnly: false, type: 'Number' },
    ...{ reference: 'customers.id', value: null },
  },
  {
    ...{ field: 'proof', label: 'proof', isRequired: false, isReadOnly: false, type: 'File', value: null },
    widgetEdit: { name: 'file picker', parameters: { extensions: ['txt'], maxSizeMb: 1 } },
  },
  {
    ...{ field: 'city', label: 'city', isRequired: false, isReadOnly: false, type: 'String', value: null },
    widgetEdit: {
      name: 'dropdown',
      parameters: {
        ...{ searchType: 'dynamic', isSearchable: true, placeholder: null },
        static: { options: ['Bergen', 'Bonn'] },
      },
    },
  },
  {
    ...{ field: 'stamp', label: 'stamp', isRequired: false, isReadOnly: true, type: 'String' },
    value: 'for undefined',
  },
];

describe('forms', () => {
  test('load returns the document of the form', async () => {
    const { status, body } = await place.act(`${lost}/hooks/load`, { ids: ['1'], collection_name: 'orders' });
    expect([status, body]).toEqual([200, { fields: lostForm, layout: [] }]);
  });

  test('change accepts the current fields, and returns the form again', async () => {
    const file = 'data:text/plain;name=a%20b.txt;base64,aGk=';
    const fields = [
      { field: 'reason', value: 'gone' },
      { field: 'kind', value: 'other' },
      { field: 'customer', value: '2' },
      { field: 'proof', value: file },
    ];
    const { status, body } = await place.act(`${lost}/hooks/change`, { ids: ['1'], fields, changed_field: 'kind' });
    const told = (body as { fields: { field: string; value: unknown }[] }).fields;
    expect([status, told.map(({ field, value }) => [field, value])]).toEqual([
      200,
      [
        ['reason', 'gone'],
        ['kind', 'other'],
        ['other', null],
        ['amount', null],
        ['customer', '2'],
        ['proof', file],
        ['city', null],
        ['stamp', 'for gone'],
      ],
    ]);
  });

  test('search returns the options that match a text', async () => {
    const fields = [{ field: 'city', value: null, searchValue: 'L' }];
    const { body } = await place.act(`${lost}/hooks/search`, { ids: ['1'], fields, search_field: 'city' });
    const city = (body as { fields: Record<string, unknown>[] }).fields.find(({ field }) => field === 'city');
    expect(city).toMatchObject({ widgetEdit: { parameters: { static: { options: ['Lyon'] } } } });
  });

  test('a form can be loaded before a record is selected', async () => {
    expect((await place.act(`${bundle}/hooks/load`, { ids: [] })).body).toEqual({ fields: [], layout: [] });
  });
});

describe('running', () => {
  test('with valid values: the code gets decoded files and unpacked ids, and the answer says what to reload', async () => {
    const values = {
      ...{ reason: 'gone', kind: 'stolen', amount: 5, customer: '2', city: 'Bonn' },
      proof: 'data:text/plain;name=a.txt;base64,aGk=',
    };
    const { status, body } = await place.act(lost, { ids: ['1'], values });
    expect([status, body, place.ran]).toEqual([
      200,
      { success: 'Marked.', html: '<b>lost</b>', refresh: { relationships: ['items', 'profiles'] } },
      [
        [
          1,
          { reason: 'gone', kind: 'stolen', amount: 5, customer: [2], city: 'Bonn', stamp: 'for gone' },
          ['a.txt', 'text/plain', 'hi'],
        ],
      ],
    ]);
  });

  test('every value of a form is checked: all problems are returned by field, and nothing runs', async () => {
    const values = {
      ...{ kind: 'melted', other: 'x', amount: 101, customer: '99', city: 'Oslo', stamp: 'mine', unknown: 1 },
      proof: 'data:text/plain;name=a.exe;base64,aGk=',
    };
    const { status, body } = await place.act(lost, { ids: ['1'], values });
    const [error] = (body as { errors: { data: { fields: { field: string }[] } }[] }).errors;
    expect([status, error, error?.data.fields.map(({ field }) => field).sort(), place.ran]).toEqual([
      400,
      expect.objectContaining({ name: 'ValidationError', status: 400, code: 'INVALID_FORM' }),
      ['amount', 'city', 'customer', 'kind', 'other', 'proof', 'reason', 'stamp', 'unknown'],
      [],
    ]);
  });

  test('a file is an attachment; headers of the action are sent, except those that Portico sets', async () => {
    const report = await place.call(
      'POST',
      '/_actions/orders/2/report',
      { data: { attributes: { ids: ['1'] } } },
      { origin: frontOrigin },
    );
    const of = (name: string) => report.headers.get(name);
    expect([
      report.status,
      report.text,
      of('content-type'),
      of('content-disposition'),
      of('x-total'),
      of('set-cookie'),
      of('access-control-allow-origin'),
      of('access-control-expose-headers'),
      of('content-security-policy'),
      of('x-content-type-options'),
    ]).toEqual([
      200,
      'a;b\r\nä;€\r\n',
      'text/csv',
      `attachment; filename="Gr__e _1_.csv"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%221%22.csv`,
      '3',
      null,
      frontOrigin,
      'X-Service-Correlation-Id, WWW-Authenticate, Retry-After, Content-Disposition, X-Total',
      "sandbox; default-src 'none'",
      'nosniff',
    ]);
    // A global action covers every record, whatever the selection.
    expect(place.ran).toEqual([[1, 2, 3, 4]]);
  });

  test.each([
    ['an error', '3/refuse', 400, { error: 'No.', html: '<i>no</i>' }],
    [
      'a webhook, which is returned and not sent',
      '4/call',
      200,
      { webhook: { url: 'https://hooks.example.com/a', method: 'PUT', headers: { 'X-Key': '1' }, body: { id: 1 } } },
    ],
    ['a redirect', '5/go', 200, { redirectTo: '/elsewhere?a=b' }],
  ])('%s', async (_, path, status, body) => {
    const told = await place.act(`/_actions/orders/${path}`, { ids: ['1'] });
    expect([told.status, told.body]).toEqual([status, body]);
  });

  test('code that throws is reported without its message', async () => {
    const { status, text } = await place.act('/_actions/orders/6/break', { ids: ['1'] });
    expect([status, text.includes('ACTION_FAILED'), text.includes('inner secret')]).toEqual([500, true, false]);
  });
});

describe('records', () => {
  const subset = (filters: object, more = {}) => ({ filters: JSON.stringify(filters), timezone: 'UTC', ...more });
  const dear = { field: 'total', operator: 'greater_than', value: 15 };
  test.each([
    ['named', { ids: ['3', '1', '3'] }, [1, 3]],
    ['all', { all_records: true, all_records_ids_excluded: [] }, [1, 2, 3, 4]],
    ['all but some', { all_records: true, all_records_ids_excluded: ['2', 4] }, [1, 3]],
    ['all that match a filter', { all_records: true, all_records_subset_query: subset(dear) }, [2, 3, 4]],
    [
      'all that match a search, whatever page is shown',
      {
        all_records: true,
        all_records_ids_excluded: null,
        all_records_subset_query: {
          ...{ 'fields[orders]': 'id,label', 'page[size]': 1, 'page[number]': 7, search: 'hats', searchExtended: 0 },
          ...{ sort: '-id', segment: null },
        },
      },
      [2],
    ],
    [
      'all related to another record',
      {
        ...{ all_records: true, parent_collection_name: 'customers', parent_collection_id: '1' },
        parent_association_name: 'orders',
      },
      [1, 2],
    ],
    [
      'named, and related to another record',
      {
        ...{ ids: ['2'], parent_collection_name: 'customers', parent_collection_id: '1' },
        parent_association_name: 'orders',
      },
      [2],
    ],
  ])('%s', async (_, selection, expected) => {
    const { status } = await place.act(bundle, selection);
    expect([status, place.ran]).toEqual([200, [expected]]);
  });

  const page = { parent_collection_name: 'customers', parent_collection_id: '1', parent_association_name: 'orders' };
  test.each([
    ['no record, which does not mean all', bundle, {}, 400, 'An empty list does not mean all records'],
    ['all of an empty list', bundle, { all_records: true, all_records_subset_query: { search: 'zzz' } }, 400, ''],
    [
      'several records for a Single action',
      lost,
      { ids: ['1', '2'], values: { reason: 'x' } },
      400,
      'runs on one record',
    ],
    ['an unknown record', bundle, { ids: ['1', '99'] }, 404, '99'],
    ['a record of another parent', bundle, { ids: ['1', '3'], ...page }, 404, "'3'"],
    ['all of an unknown parent', bundle, { all_records: true, ...page, parent_collection_id: '99' }, 404, '99'],
    [
      'an incomplete parent',
      bundle,
      { ids: ['1'], parent_collection_name: 'customers' },
      400,
      'parent_association_name',
    ],
    [
      'another relation',
      bundle,
      { ids: ['1'], ...page, parent_association_name: 'profile' },
      400,
      'not a relation from',
    ],
    ['ids that are not a list', bundle, { ids: '1' }, 400, 'list of ids'],
    ['an invalid flag', bundle, { all_records: 'true' }, 400, 'all_records'],
    ['invalid filters', bundle, { all_records: true, all_records_subset_query: { filters: '{' } }, 400, 'JSON'],
    ['invalid values', lost, { ids: ['1'], values: [] }, 400, 'values'],
    ['an approval in the request', bundle, { ids: ['1'], signed_approval_request: 'x' }, 422, 'console'],
  ])('%s: refused, and nothing runs', async (_, path, attributes, status, told) => {
    const answer = await place.act(path, attributes);
    expect([answer.status, answer.text, place.ran]).toEqual([status, expect.stringContaining(told), []]);
  });

  test.each([
    ['another slug', '/_actions/orders/1/bundles'],
    ['another position', '/_actions/orders/0/bundle'],
    ['no position', '/_actions/orders/bundle'],
    ['another collection', '/_actions/customers/1/bundle'],
    ['no collection', '/_actions/nothing/1/bundle'],
  ])('%s returns 404', async (_, path) => {
    const told = await Promise.all(
      ['', '/hooks/load'].map((more) => place.act(path + more, { ids: ['1'] }).then(({ status }) => status)),
    );
    expect([told, place.ran]).toEqual([[404, 404], []]);
  });
});

describe('approvals', () => {
  afterAll(() => place.permit({ '*': all }));
  const run = async (path: string) => {
    const { status, body } = await place.act(`/_actions/orders/${path}`, { ids: ['1'] });
    const [error] = (body as { errors?: { name: string; code: string; data?: unknown }[] }).errors ?? [];
    return error ? [status, error.name, error.code, error.data] : [status];
  };
  const needsApproval = [403, 'CustomActionRequiresApprovalError', 'NEEDS_APPROVAL', { roleIdsAllowedToApprove: [] }];

  test('an approval in the console cannot be given here; a confirmation in the client is not needed', async () => {
    expect([await run('7/guarded'), await run('8/asked'), place.ran]).toEqual([needsApproval, [200], ['asked']]);
  });

  test.each([
    ['ask-person', needsApproval],
    ['ask', [200]],
    ['deny', [404, 'NotFoundError', 'UNKNOWN_ACTION', undefined]],
    ['allow', [200]],
  ] as const)('a role with the policy %s', async (approval, expected) => {
    await place.permit({ orders: { ...all, actions: { Bundle: { trigger: true, approval } } } });
    expect([await run('1/bundle'), place.ran.length]).toEqual([expected, expected[0] === 200 ? 1 : 0]);
  });
});

test('each call makes a log entry, a write before it runs, with its outcome', async () => {
  // Flushes pending entries of earlier tests first.
  await place.entries();
  await place.act(bundle, { all_records: true, all_records_ids_excluded: ['1'] });
  await place.act('/_actions/orders/3/refuse', { ids: ['1'] });
  const entries = (await place.entries()).filter(({ type }) => type === 'write').slice(-2);
  expect(entries).toMatchObject([
    { action: 'executeAction', collection: 'orders', recordIds: ['2', '3', '4'], outcome: 'completed' },
    { action: 'executeAction', collection: 'orders', recordIds: ['1'], outcome: 'failed', code: 'ACTION_REFUSED' },
  ]);
});
