// Actions in the schema file, over HTTP and over MCP.
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createMemoryDataSource, type ResultBuilder } from '../../src/index.ts';
import { shopTables } from '../agent/shop.ts';
import { emptyAgent } from '../app/agent.ts';
import { type Outside, openOutside } from './outside.ts';

const tables = [
  'CREATE TABLE lines (order_id INTEGER NOT NULL, line INTEGER NOT NULL, article VARCHAR(20), PRIMARY KEY (order_id, line))',
  "INSERT INTO lines VALUES (1, 1, 'sole'), (1, 2, 'lace'), (2, 1, 'felt')",
  'CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(20), city VARCHAR(20), debt INTEGER, motto VARCHAR(20), paid BOOLEAN)',
  "INSERT INTO customers VALUES (1, 'Ada', 'Paris', 0, '', 0), (2, 'Bo', 'Rome', 5, 'x', 1)",
  'CREATE TABLE orders (id INTEGER PRIMARY KEY, total INTEGER, customer_id INTEGER REFERENCES customers(id))',
  'INSERT INTO orders VALUES (1, 10, 1), (2, 20, 2), (3, 20, NULL), (4, -5, 2)',
];
// The row scope of the team excludes orders with a total of 0 or less.
const scopes = { orders: { field: 'total', operator: 'GreaterThan', value: 0 } };
const note = { label: 'Note', type: 'String' } as const;

type Build = (result: ResultBuilder) => unknown;
const builds: Readonly<Record<string, Build>> = {
  bare: (result) => result.success(),
  all: (result) => result.success('Done.', { html: '<b>1</b><script>2</script>', invalidated: ['lines', 'orders', 'lines'] }),
  error: (result) => result.error(),
  refused: (result) => result.error('No.', { html: '<i>no</i>' }),
  path: (result) => result.redirectTo('/there?a=b#c'),
  address: (result) => result.redirectTo('https://a.example/there'),
  webhook: (result) => result.webhook('https://a.example/b'),
  full: (result) => result.webhook('https://a.example/b', 'put', { 'X-Key': '1' }, { id: 1 }),
  headers: (result) => result.setHeader('X-A', '1').setHeader('X-B', '2').setHeader('X-A', '3').setHeader('Set-Cookie', 'a=b').success(),
  nothing: () => undefined,
  null: () => null,
  'null-later': async () => null,
  promise: async (result) => result.success('Later'),
  'header-break': (result) => result.setHeader('X-A', 'a\r\nSet-Cookie: b').success(),
  'header-name': (result) => result.setHeader('X A', 'a').success(),
  script: (result) => result.redirectTo('javascript:alert(1)'),
  host: (result) => result.redirectTo('//evil.example'),
  'webhook-file': (result) => result.webhook('file:///etc/passwd'),
  'webhook-method': (result) => result.webhook('https://a.example', 'SEND'),
  own: () => ({ type: 'success', message: 'Mine' }),
  unsaid: (result) => result.file('x', 'x.txt', 'text/plain'),
}; // biome-ignore format: a table
const files: Readonly<Record<string, Build>> = {
  text: (result) => result.file('a;b', 'a.csv', 'text/csv'),
  bytes: (result) => result.file(Buffer.from('é')),
  stream: (result) => result.setHeader('X-Total', '3').file(Readable.from(['ä', '€']), '../../etc/\r\npasswd'),
  type: (result) => result.file('x', 'x', 'text/csv\r\nX: 1'),
};

let place: Outside;
const seen: unknown[] = [];
beforeEach(() => void seen.splice(0));
beforeAll(async () => {
  place = await openOutside(tables, open, scopes);
});
afterAll(() => place?.stop());

const open: Parameters<typeof openOutside>[1] = (agent) =>
  agent
    .customizeCollection('customers', (customers) => {
      for (const [name, make] of Object.entries(builds))
        customers.addAction(name, { scope: 'Global', execute: (_, result) => make(result) as never });
      for (const [name, make] of Object.entries(files))
        customers.addAction(name, { scope: 'Global', generateFile: true, execute: (_, result) => make(result) as never });
    })
    .customizeCollection('lines', (lines) =>
      lines
        .addAction('Report', {
          scope: 'Global',
          ...{ generateFile: true, description: 'All of it', submitButtonLabel: 'x'.repeat(50) },
          form: [note],
          execute: (_, result) => result.file('', 'empty.csv', 'text/csv'),
        })
        .addAction('Plain', {
          scope: 'Bulk',
          form: [{ ...note, isRequired: () => false }],
          execute: async (context) =>
            void seen.push(await context.getRecordIds(), await context.getCompositeRecordIds(), await context.getRecords(['article'])),
        })
        .addAction('One', {
          scope: 'Single',
          form: () => [note],
          execute: async (context) =>
            void seen.push(await context.getRecordId(), await context.getCompositeRecordId(), await context.getField('article')),
        })
        .addAction('Empty', { scope: 'Bulk', form: [], execute: () => undefined }),
    )
    .customizeCollection('orders', (orders) =>
      orders
        .addAction('All', {
          scope: 'Global',
          execute: async (context) => {
            seen.push(await context.getRecordIds(), await context.getCompositeRecordIds(), await context.getRecords(['total', 'customer:city']));
            seen.push(await context.collection.list(context.filter, ['id']));
          },
        })
        .addAction('Some', {
          scope: 'Bulk',
          form: [note, { label: 'Count', type: 'Number' }],
          execute: async (context) => {
            const { collection, filter, caller, formValues } = context;
            const chosen = await collection.list(filter, ['id', 'customer:name']);
            // `context.collection` has no row scope. Only the records of the context apply it.
            seen.push(collection.name, chosen, (await collection.list(null, ['id'])).length, caller, { ...formValues });
            seen.push('getRecord' in context, 'getField' in context, await context.getRecordIds());
          },
        })
        .addAction('One', {
          scope: 'Single',
          execute: async (context) => {
            seen.push(await context.getRecord(['total', 'customer:city']), await context.getRecordId(), await context.getCompositeRecordId());
            seen.push(await context.getField('customer:name'), await context.getField('total'), await context.getRecords(['id']));
          },
        })
        .addAction('Values', {
          scope: 'Single',
          execute: async ({ getField, getRecord, getRecords }) => {
            for (const name of ['debt', 'motto', 'paid', 'name']) seen.push(await getField(`customer:${name}`));
            const fields = ['total', 'customer:debt', 'customer:city', 'customer:motto'];
            seen.push(await getRecord(fields), await getRecords(fields), await Promise.all([getRecords(['total']), getRecord(['customer:city'])]));
          },
        })
        .addAction('Static', {
          scope: 'Single',
          form: [
            { label: 'N', id: 'n', type: 'NumberList', widget: 'NumberInputList', max: 5, defaultValue: [1] },
            { type: 'Layout', component: 'Row', fields: [{ label: 'Who', type: 'Collection', collectionName: 'customers' }] },
          ],
          execute: () => undefined,
        })
        .addAction('Change', {
          scope: 'Global',
          form: [
            { label: 'City', type: 'String' },
            { label: 'Note', type: 'String', value: (context) => `${context.hasFieldChanged('City')}` },
          ],
          execute: () => undefined,
        }),
    ); // biome-ignore format: short

const actions = (name: string) =>
  place.schema.collections.find((each: { name: string }) => each.name === name).actions as Record<string, unknown>[];
const at = (collection: string, name: string) => {
  const { endpoint } = actions(collection).find((action) => action.name === name) as { endpoint: string };
  return endpoint.replace('/service', '');
};
const act = (collection: string, name: string, attributes: object) =>
  place.act(at(collection, name), { ids: [], ...attributes });
const call = (collectionName: string, actionName: string, given: object = {}) =>
  place.tool('executeAction', { collectionName, actionName, ...given }); // biome-ignore format: short

test('description, generateFile, submitButtonLabel: the schema file has their values or defaults', () => {
  const told = ({ description, download, submitButtonLabel }: Record<string, unknown>) =>
    [description, download, submitButtonLabel]; // biome-ignore format: one line
  expect(actions('lines').slice(0, 2).map(told)).toEqual([
    ['All of it', true, 'x'.repeat(50)],
    [null, false, null],
  ]);
});

test('description, generateFile, submitButtonLabel: describeCollection and getActionForm have them', async () => {
  const { json } = (await place.tool('describeCollection', { collectionName: 'lines', detail: 'full' })) as {
    readonly json: { readonly actions: Readonly<Record<string, unknown>> };
  };
  const form = await place.tool('getActionForm', { collectionName: 'lines', actionName: 'Report' });
  expect([json.actions, form]).toMatchObject([
    { Report: 'global form file: All of it', Plain: 'bulk form', One: 'single form', Empty: 'bulk' },
    { json: { description: 'All of it' } },
  ]);
});

test('Single, Bulk, Global, form: the schema file has the scope, and whether the form is static', () => {
  const told = actions('lines').map(({ name, type, hooks, fields }) => [name, type, hooks, (fields as { field: string }[]).map(({ field }) => field)]);
  const hooks = (load: boolean) => ({ load, change: ['changeHook'] });
  expect(told).toEqual([
    ['Report', 'global', hooks(false), ['Note']],
    ['Plain', 'bulk', hooks(true), [expect.any(String)]],
    ['One', 'single', hooks(true), [expect.any(String)]],
    ['Empty', 'bulk', hooks(false), []],
  ]);
}); // biome-ignore format: short

test('form: a static form is in the schema file as it is loaded, with values as defaults', async () => {
  const { body } = await place.act(`${at('orders', 'Static')}/hooks/load`, { ids: ['1'] });
  const { fields, layout } = actions('orders').find(({ name }) => name === 'Static') as typeof body;
  const told = fields.map(({ defaultValue: value, ...field }: { defaultValue: unknown }) => ({ ...field, value }));
  expect([told, layout]).toEqual([body.fields, body.layout]);
  expect(fields).toMatchObject([
    { field: 'n', label: 'N', type: ['Number'], defaultValue: [1], widgetEdit: { name: 'input array' } },
    { field: 'Who', type: 'Number', reference: 'customers.id', defaultValue: null },
  ]);
});

test('form: static, dynamic by one property, and a function, as loaded', async () => {
  const fields = async (name: string, ids: string[]) =>
    (await place.act(`${at('lines', name)}/hooks/load`, { ids })).body.fields.map(({ field }: { field: string }) => field);
  expect([await fields('Report', []), await fields('Plain', ['1|1']), await fields('One', ['1|1']), await fields('Empty', ['1|1'])]).toEqual([['Note'], ['Note'], ['Note'], []]);
}); // biome-ignore format: short

test('Single: exactly one record, which exists', async () => {
  const taken = await act('lines', 'One', { ids: ['1|2'] });
  expect([taken.status, seen]).toEqual([200, ['1|2', [1, 2], 'lace']]);
  const refused = [];
  for (const ids of [['1|2', '2|1'], [], ['9|9'], ['1']]) refused.push((await act('lines', 'One', { ids })).status);
  const overMcp = [];
  for (const recordIds of [[], ['1|2', '2|1'], ['9|9'], undefined]) overMcp.push(await call('lines', 'One', recordIds && { recordIds }));
  const send = { error: "INVALID_ARGUMENT: recordIds: 'One' runs on one record: send one id." };
  expect([refused, overMcp, seen.length]).toEqual([
    [400, 400, 404, 400],
    [send, send, { error: expect.stringMatching(/^RECORD_NOT_FOUND: No record '9\|9'/) }, send],
    3,
  ]);
  await call('lines', 'One', { recordIds: '2|1' });
  expect(seen.slice(3)).toEqual(['2|1', [2, 1], 'felt']);
}); // biome-ignore format: short

test('Bulk; getRecordIds, getCompositeRecordIds, getRecords: the selected records, and an empty selection is refused', async () => {
  await act('lines', 'Plain', { ids: ['2|1', '1|1'] });
  expect(seen).toEqual([['1|1', '2|1'], [[1, 1], [2, 1]], [{ article: 'sole' }, { article: 'felt' }]]);
  const refused = [];
  for (const ids of [[], ['1|1', '9|9']]) refused.push((await act('lines', 'Plain', { ids })).status);
  const overMcp = [];
  for (const recordIds of [[], undefined, ['1|1', '9|9', '8|8']]) overMcp.push(await call('lines', 'Plain', recordIds && { recordIds }));
  const send = "INVALID_ARGUMENT: recordIds: 'Plain' runs on selected records: send at least one id. An empty list does not mean all records.";
  expect([refused, overMcp, seen.length]).toEqual([
    [400, 404],
    [{ error: send }, { error: send }, { error: expect.stringMatching(/'9\|9', '8\|8'/) }],
    3,
  ]);
  await act('lines', 'Plain', { all_records: true, all_records_ids_excluded: ['1|1'] });
  await call('lines', 'Plain', { recordIds: [[1, 2], '2|1'] });
  expect(seen.slice(3).filter((_, index) => index % 3 === 0)).toEqual([['1|2', '2|1'], ['1|2', '2|1']]);
}); // biome-ignore format: short

test('Global; filter, getRecordIds, getCompositeRecordIds, getRecords: every record in the row scope, whatever is selected', async () => {
  await act('orders', 'All', { ids: ['2'] });
  await call('orders', 'All');
  expect(await call('orders', 'All', { recordIds: [2] })).toEqual({
    error: "INVALID_ARGUMENT: recordIds: 'All' is a global action and takes no records: leave it out.",
  });
  const records = [
    { total: 10, customer: { city: 'Paris' } },
    { total: 20, customer: { city: 'Rome' } },
    { total: 20, customer: null },
  ];
  const each = [[1, 2, 3], [[1], [2], [3]], records, [{ id: 1 }, { id: 2 }, { id: 3 }]];
  expect(seen).toEqual([...each, ...each]);
}); // biome-ignore format: short

test('collection, filter, caller, formValues: the context has the caller, the records and the values', async () => {
  await act('orders', 'Some', { ids: ['2'], values: { Note: 'x' } });
  await call('orders', 'Some', { recordIds: [3], values: { Count: '2' } });
  const caller = { id: 1, email: 'ada@example.com', firstName: 'Ada', lastName: 'Byron', tags: { region: 'south' }, timezone: 'Europe/Paris' };
  expect(seen).toEqual([
    ...['orders', [{ id: 2, customer: { name: 'Bo' } }], 4, expect.objectContaining(caller), { Note: 'x' }, false, false, [2]],
    ...['orders', [{ id: 3, customer: null }], 4, expect.objectContaining(caller), { Count: 2 }, false, false, [3]],
  ]);
  seen.length = 0;
  const refused = [await act('orders', 'Some', { ids: ['1', '4'] }), await act('orders', 'Some', { ids: ['77'] })];
  expect([refused.map(({ status }) => status), seen]).toEqual([[404, 404], []]);
}); // biome-ignore format: short

test('getRecord, getRecordId, getCompositeRecordId, getField: of one record, also through relations', async () => {
  await act('orders', 'One', { ids: ['2'] });
  await act('orders', 'One', { ids: ['3'] });
  expect(seen).toEqual([
    ...[{ total: 20, customer: { city: 'Rome' } }, 2, [2], 'Bo', 20, [{ id: 2 }]],
    ...[{ total: 20, customer: null }, 3, [3], null, 20, [{ id: 3 }]],
  ]);
  expect((await act('orders', 'One', { ids: ['4'] })).status).toBe(404);
});

test('getField, getRecord, getRecords: values of 0, false and an empty string, and several fields of one relation', async () => {
  await act('orders', 'Values', { ids: ['1'] });
  const whole = { total: 10, customer: { debt: 0, city: 'Paris', motto: '' } };
  expect(seen).toEqual([0, '', false, 'Ada', whole, [whole], [[{ total: 10 }], { customer: { city: 'Paris' } }]]);
  seen.length = 0;
  await act('orders', 'Values', { ids: ['3'] });
  const none = { total: 20, customer: null };
  expect(seen).toEqual([null, null, null, null, none, [none], [[{ total: 20 }], { customer: null }]]);
});

test('hasFieldChanged: true only for the field whose change reloaded the form', async () => {
  const changed = async (changed_field?: string) => {
    const fields = [{ field: 'City', value: 'Rome' }];
    const { body } = await place.act(`${at('orders', 'Change')}/hooks/change`, { ids: [], fields, changed_field });
    return body.fields[1].value;
  };
  const about = { collectionName: 'orders', actionName: 'Change', values: { City: 'Rome' } };
  const told = async (given: object) => {
    const { json } = (await place.tool('getActionForm', { ...about, ...given })) as { json: { fields: { Note: { value: string } } } };
    return json.fields.Note.value;
  };
  expect([await changed(), await changed('Note'), await changed('City'), await told({}), await told({ changedField: 'City' })])
    .toEqual(['false', 'false', 'true', 'false', 'true']);
}); // biome-ignore format: short

const http = async (name: string) => {
  const { status, body } = await act('customers', name, {});
  return [status, body];
};

test('execute: its returned or promised result is the answer; no result is success; errors do not show their message', async () => {
  expect([await http('nothing'), await http('promise'), await call('customers', 'nothing'), await call('customers', 'promise')]).toEqual([
    [200, { success: 'Success', refresh: { relationships: [] } }],
    [200, { success: 'Later', refresh: { relationships: [] } }],
    { json: { result: 'success', message: 'Success' } },
    { json: { result: 'success', message: 'Later' } },
  ]);
}); // biome-ignore format: short

test('execute: null counts as no result, returned or promised', async () => {
  const done = [200, { success: 'Success', refresh: { relationships: [] } }];
  expect([await http('null'), await http('null-later'), await call('customers', 'null')]).toEqual([
    ...[done, done, { json: { result: 'success', message: 'Success' } }],
  ]);
});

test('success: message, html, and the collections to reload that the caller may see, each once', async () => {
  expect([await http('bare'), await http('all'), await call('customers', 'all')]).toEqual([
    [200, { success: 'Success', refresh: { relationships: [] } }],
    [200, { success: 'Done.', html: '<b>1</b><script>2</script>', refresh: { relationships: ['lines', 'orders'] } }],
    { json: { result: 'success', message: 'Done.', text: '1', changed: ['lines', 'orders'] } },
  ]);
});

test('error: message and html', async () => {
  expect([await http('error'), await http('refused'), await call('customers', 'error'), await call('customers', 'refused')]).toEqual([
    [400, { error: 'Error' }],
    [400, { error: 'No.', html: '<i>no</i>' }],
    { error: 'ACTION_REFUSED: Error' },
    { error: 'ACTION_REFUSED: No.\nno' },
  ]);
}); // biome-ignore format: short

test('webhook, redirectTo: front ends get the request and the target; assistants get the outcome', async () => {
  const webhook = { url: 'https://a.example/b', method: 'POST', headers: {}, body: {} };
  expect([await http('webhook'), await http('full'), await http('path'), await http('address')]).toEqual([
    [200, { webhook }],
    [200, { webhook: { ...webhook, method: 'PUT', headers: { 'X-Key': '1' }, body: { id: 1 } } }],
    [200, { redirectTo: '/there?a=b#c' }],
    [200, { redirectTo: 'https://a.example/there' }],
  ]);
  expect([await call('customers', 'path'), await call('customers', 'address')]).toEqual([
    { json: { result: 'redirect', url: expect.stringMatching(/\/there\?a=b#c$/) } },
    { json: { result: 'redirect', url: 'https://a.example/there' } },
  ]);
});

test('setHeader: every header, the last value of each name, and no reserved one', async () => {
  const { headers } = await act('customers', 'headers', {});
  const file = await act('customers', 'stream', {});
  expect([
    ['x-a', 'x-b', 'set-cookie'].map((name) => headers.get(name)),
    headers.get('access-control-expose-headers')?.split(', ').slice(-2).sort(),
    file.headers.get('x-total'),
  ]).toEqual([['3', '2', null], ['X-A', 'X-B'], '3']);
});

test('file, generateFile: an attachment with its name and type; only for actions declared with generateFile', async () => {
  const told = async (name: string) => {
    const { status, body, headers } = await act('customers', name, {});
    return [status, body, headers.get('content-type'), headers.get('content-disposition')];
  };
  expect([await told('text'), await told('bytes'), await told('stream')]).toEqual([
    [200, 'a;b', 'text/csv', `attachment; filename="a.csv"; filename*=UTF-8''a.csv`],
    [200, 'é', 'application/octet-stream', `attachment; filename="file"; filename*=UTF-8''file`],
    [200, 'ä€', 'application/octet-stream', `attachment; filename="passwd"; filename*=UTF-8''passwd`],
  ]);
  expect([(await http('unsaid'))[0], (await http('type'))[0]]).toEqual([500, 500]);
  const offered = (await call('customers', 'text')) as { readonly json: { readonly url: string } };
  expect(offered.json).toMatchObject({ result: 'file', name: 'a.csv', mimeType: 'text/csv' });
});

test.each([
  ['setHeader | a line break', 'header-break'],
  ['setHeader | a name with a space', 'header-name'],
  ['redirectTo | a script', 'script'],
  ['redirectTo | another host', 'host'],
  ['webhook | a file', 'webhook-file'],
  ['webhook | a method that HTTP does not have', 'webhook-method'],
  ['execute | an invalid result', 'own'],
])('%s fails the action', async (_, name) => {
  const message = `The code of the action '${name}' of 'customers' failed (execute). Tell the operator; the log has the cause.`;
  const [status, body] = await http(name);
  expect([status, body.errors[0].detail, await call('customers', name)]).toEqual([
    500,
    message,
    { error: `ACTION_FAILED: ${message}` },
  ]);
});

describe('an error in a definition ends the start', () => {
  const execute = () => undefined;
  test.each<[row: string, definition: unknown, problem: string]>([
    ['scope', { scope: 'single', execute }, 'scope must be one of Single, Bulk, Global'],
    ['scope', { scop: 'Single', execute }, "no option 'scop' (near: scope)"],
    ['execute', { scope: 'Single' }, 'execute must be a function'],
    ['form', { scope: 'Single', execute, form: {} }, 'a form must be a list of elements'],
    ['description', { scope: 'Single', execute, description: 1 }, 'description must be a string'],
    ['description', { scope: 'Single', execute, descripton: 'x' }, "no option 'descripton' (near: description)"],
    ['generateFile', { scope: 'Single', execute, generateFile: 'yes' }, 'generateFile must be true or false'],
    ['submitButtonLabel', { scope: 'Single', execute, submitButtonLabel: 'x'.repeat(51) }, 'a string of at most 50 characters'],
    ['submitButtonLabel', { scope: 'Single', execute, submitButtonLabel: '' }, 'a string of at most 50 characters'],
  ])('%s | %j', async (_, definition, problem) => {
    const { agent } = emptyAgent();
    agent.addDataSource(createMemoryDataSource('shop', shopTables));
    agent.customizeCollection('orders', (orders) => orders.addAction('Act', definition as never));
    await expect(agent.start()).rejects.toThrow(problem);
  }); // biome-ignore format: a table
});
