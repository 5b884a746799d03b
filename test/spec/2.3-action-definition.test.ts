import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import type { ActionDefinition, BulkContext } from '../../src/agent/actions/definitions.ts';
import type { ResultBuilder } from '../../src/agent/actions/results.ts';
import { add, closeAll, memory, openCounter } from '../agent/actions/counter.ts';
import { accessOf, sellers } from '../agent/shop.ts';

afterEach(closeAll);

const nothing = () => undefined;
const keeping = (scope: 'Bulk' | 'Global', seen: unknown[]): ActionDefinition => ({
  scope,
  async execute(context: BulkContext) {
    seen.push(await context.getRecordIds());
    return undefined;
  },
});

describe('Action definition', () => {
  test('scope | Single | the action is about one record', async () => {
    const counter = await openCounter({ scope: 'Single', execute: nothing });
    const outcomes = await Promise.allSettled(
      [[1], [0], [], [1, 2], null].map((recordIds) => counter.execute({ recordIds })),
    );
    expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.message : 'done'))).toEqual([
      'done',
      "No record '0' in 'orders', or you may not see it.",
      "recordIds: 'Act' works on one record: send its id, and no other.",
      "recordIds: 'Act' works on one record: send its id, and no other.",
      "recordIds: 'Act' works on one record: send its id, and no other.",
    ]);
  });

  test('scope | Bulk | the action is about chosen records, and never about all because none was chosen', async () => {
    const seen: unknown[] = [];
    const counter = await openCounter(keeping('Bulk', seen));
    const selections = [
      { recordIds: ['2', 1] },
      { filter: { field: 'total', operator: 'GreaterThan', value: 15 } as const },
      { recordIds: [] },
      { filter: { field: 'total', operator: 'GreaterThan', value: 99 } as const },
      {},
    ];
    const outcomes = await Promise.allSettled(selections.map((selection) => counter.execute(selection)));
    expect([
      seen,
      outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.message : 'done')),
    ]).toEqual([
      [
        [1, 2],
        [2, 3, 4],
      ],
      [
        'done',
        'done',
        "recordIds: 'Act' works on chosen records: send at least one id. No ids never means all.",
        'filter: matches no record that you may see; nothing was done.',
        "recordIds: 'Act' works on chosen records: send at least one id. No ids never means all.",
      ],
    ]);
  });

  test('scope | Global | the action is about the collection, whatever is selected', async () => {
    const seen: unknown[] = [];
    const counter = await openCounter(keeping('Global', seen));
    await counter.execute({ recordIds: [2] });
    expect(seen).toEqual([[1, 2, 3, 4, 5]]);
  });

  test('execute | function (context, resultBuilder) returning a promise of an action result | handler', async () => {
    const counter = await openCounter({ scope: 'Global', execute: async (_, builder) => builder.success('Well done') });
    expect(await counter.execute()).toEqual({
      type: 'success',
      message: 'Well done',
      invalidated: [],
      responseHeaders: {},
    });
  });

  test('execute | returning nothing is success', async () => {
    const counter = await openCounter({ scope: 'Global', execute: nothing });
    expect(await counter.execute()).toEqual({
      type: 'success',
      message: 'Success',
      invalidated: [],
      responseHeaders: {},
    });
  });

  test('form | FormElement[] | dynamic form: static ones are known at start', async () => {
    const note = { label: 'Note', type: 'String' } as const;
    const forms = [undefined, [], [note], [{ ...note, isRequired: () => true }], () => [note]];
    const described = await Promise.all(
      forms.map(async (form) => {
        const definition = { scope: 'Global', execute: nothing, ...(form && { form }) } as const;
        return (await openCounter(definition)).describe()[0]!;
      }),
    );
    expect(described.map(({ form, fields }) => [form, fields?.map(({ label }) => label)])).toEqual([
      ['none', undefined],
      ['none', undefined],
      ['static', ['Note']],
      ['dynamic', undefined],
      ['dynamic', undefined],
    ]);
  });

  test('description, generateFile, submitButtonLabel are told', async () => {
    const told = { description: 'Pays back', generateFile: true, submitButtonLabel: 'Pay' };
    const counter = await openCounter({ scope: 'Bulk', execute: nothing, ...told });
    expect(counter.describe()).toEqual([
      { name: 'Act', scope: 'Bulk', form: 'none', endpoint: '/_actions/orders/0/act', ...told },
    ]);
  });

  test('generateFile | boolean | the action returns a file', async () => {
    const execute = (_: unknown, builder: ResultBuilder) => builder.file('a,b', 'orders.csv', 'text/csv');
    const counter = await openCounter({ scope: 'Global', generateFile: true, execute });
    const result = await counter.execute();
    const content = result.type === 'file' && (await text(result.stream));
    expect([content, { ...result, stream: null }]).toEqual([
      'a,b',
      { type: 'file', filename: 'orders.csv', mimeType: 'text/csv', stream: null, responseHeaders: {} },
    ]);
    const other = await openCounter({ scope: 'Global', execute });
    await expect(other.execute()).rejects.toMatchObject({
      code: 'ACTION_FAILED',
      cause: { message: expect.stringContaining('define it with generateFile: true') },
    });
  });

  test('submitButtonLabel | string | button text of at most 50 characters', async () => {
    const actions = [add({ scope: 'Global', execute: nothing, submitButtonLabel: 'x'.repeat(51) })];
    await expect(memory.open({ actions })).rejects.toThrow(
      "Action 'Act' of 'orders' (added at shop.ts:7): submitButtonLabel must be a text of at most 50 characters.",
    );
  });
});

describe.each(sellers)('Action context on $name', (seller) => {
  const scopes = { orders: { field: 'customer:city', operator: 'Present' } } as const;
  const access = accessOf({ scopes, hidden: ['orders.total'] });

  test('collection, filter, caller, formValues', async () => {
    const seen: unknown[] = [];
    const definition: ActionDefinition = {
      scope: 'Bulk',
      form: [{ label: 'Note', type: 'String' }],
      async execute({ collection, filter, caller, formValues }) {
        const chosen = await collection.list(filter, ['id', 'total', 'customer:name']);
        const all = await collection.list(null, ['id']);
        seen.push(collection.name, chosen, all.length, caller.email, formValues);
        return undefined;
      },
    };
    const counter = await openCounter(definition, { seller, access });
    await counter.execute({ recordIds: [2], values: { Note: 'x' } });
    const bo = { id: 2, total: 20, customer: { name: 'Bo' } };
    expect(seen).toEqual(['orders', [bo], 5, 'ada@example.com', { Note: 'x' }]);
  });

  test('getRecords(fields), getRecordIds(), getCompositeRecordIds() hold the row scope', async () => {
    const seen: unknown[] = [];
    const definition: ActionDefinition = {
      scope: 'Global',
      async execute(context) {
        const lines = context.getRecords(['total', 'customer:name']);
        seen.push(await lines, await context.getRecordIds(), await context.getCompositeRecordIds());
        return undefined;
      },
    };
    await (await openCounter(definition, { seller, access })).execute();
    const [ada, bo] = [{ name: 'Ada' }, { name: 'Bo' }];
    expect(seen).toEqual([
      [
        { total: 10.5, customer: ada },
        { total: 20, customer: bo },
        { total: 20, customer: bo },
      ],
      [1, 2, 3],
      [[1], [2], [3]],
    ]);
  });

  test('getRecordIds() of a key of several columns are packed, getCompositeRecordIds() are lists', async () => {
    const seen: unknown[] = [];
    const definition: ActionDefinition = {
      scope: 'Bulk',
      async execute(context) {
        seen.push(await context.getRecordIds(), await context.getCompositeRecordIds());
        return undefined;
      },
    };
    const counter = await openCounter(definition, { seller, actions: [add(definition, 'Act', 'order_lines')] });
    await counter.execute({ collection: 'order_lines', recordIds: ['1|2', [3, 1]] });
    expect(seen).toEqual([
      ['1|2', '3|1'],
      [
        [1, 2],
        [3, 1],
      ],
    ]);
  });

  test('getRecord(fields), getRecordId(), getCompositeRecordId(), getField(fieldName) | Single scope only', async () => {
    const seen: unknown[] = [];
    const definition: ActionDefinition = {
      scope: 'Single',
      async execute(context) {
        seen.push(await context.getRecord(['total', 'customer:city']));
        seen.push(await context.getRecordId(), await context.getCompositeRecordId());
        seen.push(await context.getField('customer:name'), await context.getField('total'));
        return undefined;
      },
    };
    const bulk: ActionDefinition = {
      scope: 'Bulk',
      execute(context) {
        seen.push(Object.keys(context).filter((name) => /Record|Field/.test(name)));
        return undefined;
      },
    };
    const actions = [add(definition), add(bulk, 'Many')];
    const counter = await openCounter(definition, { seller, access, actions });
    await counter.execute({ recordIds: ['2'] });
    await counter.execute({ action: 'Many', recordIds: [1] });
    const many = ['getRecords', 'getRecordIds', 'getCompositeRecordIds', 'hasFieldChanged'];
    expect(seen).toEqual([{ total: 20, customer: { city: 'Rome' } }, 2, [2], 'Bo', 20, many]);
  });

  test('records out of the row scope are missing, each named, and nothing runs', async () => {
    const seen: unknown[] = [];
    const counter = await openCounter(keeping('Bulk', seen), { seller, access });
    await expect(counter.execute({ recordIds: [1, 4, 77] })).rejects.toMatchObject({
      code: 'RECORD_NOT_FOUND',
      details: { id: "4', '77" },
    });
    expect(seen).toEqual([]);
  });
});

test('hasFieldChanged(fieldName)', async () => {
  const counter = await openCounter({
    scope: 'Global',
    form: [
      { label: 'City', type: 'String' },
      { label: 'Note', type: 'String', value: (context) => `city changed: ${context.hasFieldChanged('City')}` },
    ],
    execute: nothing,
  });
  const answers = [await counter.load({ values: { City: 'Rome' } }), await counter.load({ changed: 'City' })];
  expect(answers.map(({ values }) => values.Note)).toEqual(['city changed: false', 'city changed: true']);
});

describe('Result builder', () => {
  const build = async (make: (builder: ResultBuilder) => unknown) => {
    const counter = await openCounter({
      scope: 'Global',
      generateFile: true,
      execute: (_, builder) => make(builder) as undefined,
    });
    return counter.execute();
  };
  const plain = { responseHeaders: {} };

  test('success(message?, options?) | options.html (custom HTML), options.invalidated', async () => {
    expect([
      await build((builder) => builder.success()),
      await build((builder) => builder.success('Done', { html: '<b>!</b>', invalidated: ['orders', 'customers'] })),
    ]).toEqual([
      { type: 'success', message: 'Success', invalidated: [], ...plain },
      { type: 'success', message: 'Done', html: '<b>!</b>', invalidated: ['orders', 'customers'], ...plain },
    ]);
  });

  test('error(message?, options?) | options.html', async () => {
    expect([
      await build((builder) => builder.error()),
      await build((builder) => builder.error('No', { html: '<i>no</i>' })),
    ]).toEqual([
      { type: 'error', message: 'Error', ...plain },
      { type: 'error', message: 'No', html: '<i>no</i>', ...plain },
    ]);
  });

  test('webhook(url, method, headers, body) | triggers a webhook', async () => {
    expect([
      await build((builder) => builder.webhook('https://a.example/x')),
      await build((builder) => builder.webhook('https://a.example/x', 'put', { 'X-A': '1' }, { b: 2 })),
    ]).toEqual([
      { type: 'webhook', url: 'https://a.example/x', method: 'POST', headers: {}, body: {}, ...plain },
      { type: 'webhook', url: 'https://a.example/x', method: 'PUT', headers: { 'X-A': '1' }, body: { b: 2 }, ...plain },
    ]);
  });

  test('file(stream, filename, mimeType) | file download', async () => {
    const result = await build((builder) => builder.file(Buffer.from('a')));
    const named = await build((builder) => builder.file('a', '../../etc/\r\npasswd'));
    expect([result.type === 'file' && (await text(result.stream)), { ...result, stream: null }, named]).toMatchObject([
      'a',
      { filename: 'file', mimeType: 'application/octet-stream' },
      { filename: 'passwd' },
    ]);
  });

  test('redirectTo(path) | redirect', async () => {
    expect(await build((builder) => builder.redirectTo('/orders/7'))).toEqual({
      type: 'redirect',
      path: '/orders/7',
      ...plain,
    });
  });

  test('setHeader(name, value) | adds a response header', async () => {
    expect(await build((builder) => builder.setHeader('X-A', '1').setHeader('X-B', '2').success())).toMatchObject({
      responseHeaders: { 'X-A': '1', 'X-B': '2' },
    });
  });

  test.each<[string, (builder: ResultBuilder) => unknown, string]>([
    ['a header with a line break', (builder) => builder.setHeader('X-A', 'a\r\nSet-Cookie: b'), 'without line breaks'],
    ['a header name with a space', (builder) => builder.setHeader('X A', 'a'), 'expected a token'],
    ['a script as a redirect', (builder) => builder.redirectTo('javascript:alert(1)'), "starts with '/'"],
    ['a redirect to another host', (builder) => builder.redirectTo('//evil.example'), "starts with '/'"],
    ['a file as a webhook', (builder) => builder.webhook('file:///etc/passwd'), 'https://'],
    ['a result of its own', () => ({ type: 'success' }), 'result builder'],
  ])('%s is refused', async (_name, make, problem) => {
    await expect(build(make)).rejects.toMatchObject({
      code: 'ACTION_FAILED',
      message: "The code of the action 'Act' of 'orders' failed (execute). Tell the operator; the log says more.",
      cause: { message: expect.stringContaining(problem) },
    });
  });
});
