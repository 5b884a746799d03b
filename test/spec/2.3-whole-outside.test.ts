// Actions as a whole (behaviour 2.3): every way to reach one, and what each of them shows, checks and changes.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ActionError, createMemoryDataSource } from '../../src/index.ts';
import { shopTables } from '../agent/shop.ts';
import { emptyAgent, messageOf } from '../app/agent.ts';
import { type Outside, openOutside } from './outside.ts';

const tables = [
  'CREATE TABLE shelves (id INTEGER PRIMARY KEY, name VARCHAR(20))',
  "INSERT INTO shelves VALUES (1, 'high')",
  'CREATE TABLE boxes (code VARCHAR(9) PRIMARY KEY, word VARCHAR(20), amount INTEGER NOT NULL, shelf_id INTEGER REFERENCES shelves(id))',
  "INSERT INTO boxes VALUES ('007', 'red', 1, 1), ('01', 'blue', 2, NULL), ('1e2', 'red', -1, 1), ('x', 'red', 3, NULL)",
  'CREATE TABLE spare (code VARCHAR(9) PRIMARY KEY, word VARCHAR(20))',
  "INSERT INTO spare VALUES ('a', 'x'), ('b', 'y'), ('c', 'z'), ('d', 'z')",
  'CREATE TABLE coded (code VARCHAR(9) PRIMARY KEY)',
  "INSERT INTO coded VALUES ('a'), ('b')",
  'CREATE TABLE heap (word VARCHAR(9))',
  'CREATE TABLE many (id INTEGER PRIMARY KEY)',
  'INSERT INTO many WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10001) SELECT i FROM n',
];
// Rows with a negative amount are outside the row scope of the team, which uses the published name of the field.
const scopes = {
  boxes: { field: 'sum', operator: 'GreaterThan', value: 0 },
  // Only code can decide this one, so no action may write under it.
  coded: { field: 'late', operator: 'Equal', value: 'late a' },
};
type Context = { readonly formValues: Record<string, unknown> } & Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: whatever a test wants of the code.
let run: (context: any, result: any) => unknown = () => undefined;
const execute = (context: unknown, result: unknown) => run(context, result) as never;
const note = { label: 'Note', type: 'String' } as const;
const shows = (show: (context: Context) => unknown) => ({
  ...{ label: 'Shown', type: 'String' },
  value: async (context: Context) => JSON.stringify(await show(context)),
});

let place: Outside;
beforeAll(async () => {
  place = await openOutside(tables, customize, scopes);
});
afterAll(() => place?.stop());
const customize: Parameters<typeof openOutside>[1] = (agent) => {
  agent
    .customizeCollection('boxes', (boxes) =>
      boxes
        .renameField('amount', 'sum')
        .addAction('One', { scope: 'Single', description: '', submitButtonLabel: ' Go ', execute })
        .addAction('One with a form', { scope: 'Single', form: [note], execute })
        .addAction('Some', { scope: 'Bulk', execute })
        .addAction('All', { scope: 'Global', description: 'Every one', execute })
        .addAction('File', { scope: 'Global', generateFile: true, description: 'A list', form: () => [note], execute })
        .addAction('Empty form', { scope: 'Global', form: [], execute })
        .addAction('Inner', {
          scope: 'Global',
          form: [{ type: 'Layout', component: 'Row', fields: [{ ...note, description: () => 'now' }] }],
          execute,
        })
        .addAction('Grows', {
          scope: 'Global',
          form: (({ formValues }: Context) => [note, ...(formValues.Note === 'more' ? [{ label: 'More', type: 'Number' }] : [])]) as never,
          execute,
        })
        .addAction('Two numbers', {
          scope: 'Global',
          form: [{ label: 'A', type: 'Number' }, { label: 'B', type: 'Number', defaultValue: 7 }, { label: 'Box', type: 'Collection', collectionName: 'shelves' }, shows(({ formValues }) => formValues.A) as never],
          execute,
        })
        .addAction('Looks', {
          scope: 'Single',
          form: [shows(async (context) => [context.caller, context.filter, await (context.getRecordId as () => unknown)()]) as never],
          execute,
        })
        .addAction('Breaks', {
          scope: 'Global',
          form: [note, { label: 'Bad', type: 'String', value: ({ formValues }: Context) => { if (formValues.Note === 'write') (formValues as { Note: string }).Note = 'x'; return undefined; } } as never],
          execute,
        }),
    )
    .customizeCollection('spare', (spare) => spare.addAction('Some', { scope: 'Bulk', execute }).addAction('One', { scope: 'Single', execute }))
    .customizeCollection('coded', (coded) => {
      const getValues = (records: readonly Record<string, unknown>[]) => records.map(({ code }) => `late ${code}`);
      coded.addField('late', { columnType: 'String', dependencies: ['code'], getValues }).emulateFieldFiltering('late');
      for (const scope of ['Single', 'Bulk', 'Global'] as const) coded.addAction(scope, { scope, execute });
    })
    .customizeCollection('heap', (heap) => heap.addAction('All', { scope: 'Global', execute }))
    .customizeCollection('many', (many) => many.addAction('Some', { scope: 'Bulk', execute }));
}; // biome-ignore format: short

const actionsOf = (name: string): Record<string, unknown>[] =>
  place.schema.collections.find((each: { name: string }) => each.name === name).actions;
const urlOf = (collection: string, name: string) =>
  String(actionsOf(collection).find((action) => action.name === name)!.endpoint).replace('/service', '');
/** What the code returned, or else the status. */
const at = async (collection: string, name: string, attributes: object, code: typeof run): Promise<unknown> => {
  let found: unknown = 'was not run';
  run = async (context, result) => {
    found = await code(context, result);
  };
  const { status } = await place.act(urlOf(collection, name), attributes);
  return status === 200 ? found : status;
};
/** The response to the result that the code returns. */
const answerTo = (name: string, code: typeof run, attributes: object = {}) => {
  run = code;
  return place.act(urlOf('boxes', name), attributes);
};
const call = (actionName: string, code: typeof run, given: object = {}, collectionName = 'boxes') => {
  run = code;
  return place.tool('executeAction', { collectionName, actionName, ...given });
};
const ids = ({ getRecordIds }: { getRecordIds(): Promise<unknown> }) => getRecordIds();
const failed = (error: { code?: string }) => error.code ?? String(error);

test('Single, Bulk, Global, form, description, generateFile, submitButtonLabel: describeCollection, the schema file and the form agree', async () => {
  const described = async (detail?: string) => (await place.tool('describeCollection', { collectionName: 'boxes', detail })).json.actions;
  const kinds = { One: 'single', 'One with a form': 'single form', Some: 'bulk', All: 'global', File: 'global form file', 'Empty form': 'global', Inner: 'global form', Grows: 'global form', 'Two numbers': 'global form', Looks: 'single form', Breaks: 'global form' };
  const whole = await described('full');
  expect([await described(), { ...whole, One: whole.One.replace(/: $/, '') }]).toEqual([kinds, { ...kinds, All: 'global: Every one', File: 'global form file: A list' }]);
  expect(actionsOf('boxes').slice(0, 7).map((action) => [action.type, action.description, action.submitButtonLabel, action.download, (action.hooks as { load: boolean }).load])).toEqual([
    ['single', '', ' Go ', false, false],
    ['single', null, null, false, false],
    ['bulk', null, null, false, false],
    ['global', 'Every one', null, false, false],
    ['global', 'A list', null, true, true],
    ['global', null, null, false, false],
    ['global', null, null, false, true],
  ]);
  const form = async (actionName: string) => (await place.tool('getActionForm', { collectionName: 'boxes', actionName })).json.description;
  expect([await form('File'), await form('All'), await form('Inner')]).toEqual(['A list', 'Every one', undefined]);
}); // biome-ignore format: a table

test('Single, Bulk, Global, execute: dryRun counts and checks the records, and runs nothing', async () => {
  let runs = 0;
  const dry = async (actionName: string, given: object) => {
    const { json, error } = await call(actionName, () => void runs++, { dryRun: true, ...given });
    return error?.slice(0, 16) ?? ('records' in json ? json.records : json.dryRun);
  };
  expect([
    await dry('One', { recordIds: ['007'] }),
    await dry('Some', { recordIds: ['007', '01'] }),
    await dry('All', {}),
    await dry('All', { recordIds: ['007'] }),
    await dry('Some', { recordIds: ['1e2'] }),
    await dry('One', {}),
    runs,
  ]).toEqual([1, 2, true, 'INVALID_ARGUMENT', 'RECORD_NOT_FOUND', 'INVALID_ARGUMENT', 0]);
});

test('Single, Bulk, Global, getRecordIds: the meaning of each selection: all, a search, a related list, and a table without key', async () => {
  const all = (query: object = {}, excluded: string[] = []) => ({ all_records: true, all_records_subset_query: query, all_records_ids_excluded: excluded });
  const parent = { parent_collection_name: 'shelves', parent_collection_id: '1', parent_association_name: 'boxes' };
  const wrong = all({ filters: JSON.stringify({ field: 'nothing', operator: 'Equal', value: 1 }) });
  expect([
    [await at('boxes', 'One', all({ search: 'blue' }), ids), await at('boxes', 'One', all({ search: 'red' }), ids), await at('boxes', 'One', { ids: ['007'], ...parent }, ids), await at('boxes', 'One', { ids: ['01'], ...parent }, ids)],
    [await at('boxes', 'Some', all({ search: 'red' }), ids), await at('boxes', 'Some', all({}, ['01', 'x']), ids), await at('boxes', 'Some', { ids: ['007'], ...parent }, ids), await at('boxes', 'Some', { ids: ['007', '01'], ...parent }, ids), await at('boxes', 'Some', { ids: ['1e2'] }, ids), await at('boxes', 'Some', wrong, ids)],
    [await at('boxes', 'All', wrong, ids), await at('boxes', 'All', { ids: ['01'], ...parent }, ids), await at('heap', 'All', {}, () => 'ran')],
  ]).toEqual([
    [['01'], 400, ['007'], 404],
    [['007', 'x'], ['007'], ['007'], 404, 404, 400],
    [['007', '01', 'x'], ['007', '01', 'x'], 'ran'],
  ]);
}); // biome-ignore format: a table

test('Single, Bulk, Global, execute: under a row scope that only code decides, an action is listed and refused', async () => {
  const outcomes = [];
  for (const name of ['Single', 'Bulk', 'Global']) {
    const { status } = await place.act(`${urlOf('coded', name)}/hooks/load`, { ids: ['a'] });
    const given = name === 'Global' ? {} : { recordIds: ['a'] };
    outcomes.push([status, await at('coded', name, { ids: ['a'] }, ids), (await call(name, ids as never, given, 'coded')).error]);
  }
  expect(outcomes).toEqual(['Single', 'Bulk', 'Global'].map((name) => [200, 403, expect.stringContaining(`You may not run '${name}' on 'coded'`)]));
}); // biome-ignore format: short

test('Bulk: at most 10,000 records, by ids or all', async () => {
  const count = async ({ getRecordIds }: { getRecordIds(): Promise<unknown[]> }) => (await getRecordIds()).length;
  const some = Array.from({ length: 10_001 }, (_, index) => `${index + 1}`);
  expect([
    await at('many', 'Some', { ids: some.slice(1) }, count),
    await at('many', 'Some', { ids: some }, count),
    await at('many', 'Some', { all_records: true }, count),
    await at('many', 'Some', { all_records: true, all_records_ids_excluded: ['5'] }, count),
  ]).toEqual([10_000, 400, 400, 10_000]);
});

test('execute, generateFile, success: an ActionError shows its message, other errors do not; a dry run and a success of a file action', async () => {
  const fails = (error: unknown) => () => {
    throw error;
  };
  const http = async (code: typeof run, name = 'All') => {
    const { status, body } = await answerTo(name, code);
    return [status, body.errors?.[0].detail ?? body];
  };
  const broken = "The code of the action 'All' of 'boxes' failed (execute). Tell the operator; the log has the cause.";
  expect([
    await http(fails(new ActionError('Sold out'))),
    await http(fails(new Error('password'))),
    await http(async ({ collection }) => collection.update({}, { nothing: 1 })),
    await http((_, result) => result.success('made'), 'File'),
  ]).toMatchObject([
    [expect.any(Number), expect.stringContaining('Sold out')],
    [500, broken],
    [500, broken],
    [200, { success: 'made' }],
  ]);
  expect([
    await call('All', fails(new ActionError('Sold out'))),
    await call('All', () => Promise.reject(new Error('password'))),
  ]).toEqual([{ error: 'ACTION_REFUSED: Sold out' }, { error: `ACTION_FAILED: ${broken}` }]);
});

test('form, formValues: a function runs again for each form; all errors are returned together, and nothing runs', async () => {
  const fields = async (values: object) =>
    Object.keys((await place.tool('getActionForm', { collectionName: 'boxes', actionName: 'Grows', values })).json.fields);
  expect([await fields({}), await fields({ Note: 'more' }), await fields({ Note: 'less' })]).toEqual([['Note'], ['Note', 'More'], ['Note']]);
  const values = ({ formValues }: Context) => ({ ...formValues });
  const send = (name: string, given: object) => at('boxes', name, { values: given }, values);
  expect([
    await send('Grows', { Note: 'more', More: 2 }),
    await send('Grows', { Note: 'less', More: 2 }),
    await send('Two numbers', { A: 'x', B: 'y' }),
    await send('Two numbers', { A: 1, B: 'y' }),
    await send('Two numbers', { A: 1, C: 1 }),
    await send('Two numbers', { A: '1', Box: '1' }),
    await send('Two numbers', { A: null, B: null }),
  ]).toEqual([
    { Note: 'more', More: 2 },
    ...Array(4).fill(400),
    { A: 1, B: 7, Box: [1], Shown: '1' },
    { A: null, B: null, Shown: 'null' },
  ]);
  const wrong = await place.act(urlOf('boxes', 'Two numbers'), { values: { A: 'x', B: 'y', C: 1 } });
  const overMcp = await call('Two numbers', () => undefined, { values: { A: 'x', B: 'y' } });
  expect([wrong.body.errors[0].data.fields.map(({ field }: { field: string }) => field).sort(), overMcp.error]).toEqual([
    ['A', 'B', 'C'],
    expect.stringMatching(/A.*B/s),
  ]);
}); // biome-ignore format: short

test('formValues: code cannot change them, in execute or in the form', async () => {
  const change = (context: Context) => {
    try {
      context.formValues.A = 2;
    } catch {
      return 'refused';
    }
    return context.formValues.A;
  };
  const load = async (value: string) =>
    (await place.act(`${urlOf('boxes', 'Breaks')}/hooks/change`, { fields: [{ field: 'Note', value }] })).status;
  expect([
    await at('boxes', 'Two numbers', { values: { A: 1 } }, change),
    await load('read'),
    await load('write'),
  ]).toEqual(['refused', 200, 500]);
});

test('caller, filter, getRecordId: complete, in the form and in execute, over HTTP and MCP', async () => {
  const caller = { id: 1, email: 'ada@example.com', firstName: 'Ada', lastName: 'Byron', team: 'Operations', role: 'Administrator', tags: { region: 'south' }, timezone: 'Europe/Paris' };
  const scope = { field: 'amount', operator: 'GreaterThan', value: 0 };
  const chosen = (...codes: string[]) => ({ conditionTree: { aggregator: 'And', conditions: [{ field: 'code', operator: 'In', value: codes }, scope] } });
  const both = async (context: Context) => [context.caller, context.filter, context.getRecordId && (await (context.getRecordId as () => unknown)())];
  const { body } = await place.act(`${urlOf('boxes', 'Looks')}/hooks/load`, { ids: ['007'] });
  const form = await place.tool('getActionForm', { collectionName: 'boxes', actionName: 'Looks', recordIds: ['007'] });
  let overMcp: unknown;
  await call('Looks', async (context) => { overMcp = await both(context); }, { recordIds: ['007'] });
  const seen = [JSON.parse(body.fields[0].value), JSON.parse(form.json.fields.Shown.value), await at('boxes', 'Looks', { ids: ['007'] }, both), overMcp];
  expect(seen).toEqual(Array(4).fill([{ ...caller, permissionLevel: 'admin', renderingId: expect.anything() }, chosen('007'), '007']));
  expect([await at('boxes', 'Some', { ids: ['x', '007'] }, ({ filter }) => filter), await at('boxes', 'All', {}, ({ filter }) => filter)]).toEqual([chosen('007', 'x'), { conditionTree: scope }]);
}); // biome-ignore format: short

test('collection, filter, getRecordIds: code reads and writes all rows under their names in code, and the answer lists the writes', async () => {
  const codes = (rows: { code: string }[]) => rows.map(({ code }) => code);
  expect([
    await at('boxes', 'Some', { ids: ['007'] }, async ({ collection, filter }) => [
      collection.name,
      codes(await collection.list(null, ['code'])),
      codes(await collection.list(filter, ['code'])),
      codes(await collection.list({ conditionTree: null, search: 'blue' }, ['code'])),
      codes(await collection.list({ ...filter, search: 'blue' }, ['code'])),
      await collection.list(filter, ['amount', 'shelf:name']),
      await collection.count(),
    ]),
    await at('spare', 'Some', { ids: ['c', 'd'] }, async ({ collection, filter, getRecordIds }) => [
      await collection.delete(filter),
      codes(await collection.list(null, ['code'])),
      await getRecordIds(),
    ]),
  ]).toEqual([
    ['boxes', ['007', '01', '1e2', 'x'], ['007'], ['01'], [], [{ amount: 1, shelf: { name: 'high' } }], 4],
    [2, ['a', 'b'], []],
  ]);
  const write: typeof run = async ({ collection, filter }) => void (await collection.update(filter, { word: 'new' }));
  const overMcp = await call('Some', write, { recordIds: ['a'] }, 'spare');
  const { body } = await place.act(urlOf('spare', 'Some'), { ids: ['b'] });
  expect([JSON.stringify(overMcp.json), JSON.stringify(body.meta)]).toEqual(Array(2).fill(expect.stringMatching(/spare.*new/)));
}); // biome-ignore format: short

test('getRecord, getRecordId, getCompositeRecordId, getField, getRecords, getRecordIds, getCompositeRecordIds: keys unchanged, a failing call beside others, and a deleted record', async () => {
  const one = (code: typeof run) => at('boxes', 'One', { ids: ['007'] }, code);
  expect([
    await one((context) => Promise.all([context.getRecordId(), context.getCompositeRecordId(), context.getRecordIds(), context.getCompositeRecordIds()])),
    await at('boxes', 'Some', { ids: ['x', '01', '007', 'x'] }, (context) => Promise.all([context.getRecordIds(), context.getCompositeRecordIds(), context.getRecords(['code'])])),
    await one((context) => Promise.all([context.getRecords(['amount']), context.getRecords(['nothing']).catch(failed), context.getRecord(['word', 'shelf:name']), context.getField('amount'), context.getField('shelf:name')])),
    await one((context) => Promise.all([context.getRecords([]), context.getField('word')])),
    await at('many', 'Some', { ids: ['12', '7', '007'] }, (context) => Promise.all([context.getRecordIds(), context.getCompositeRecordIds()])),
  ]).toMatchObject([
    ['007', ['007'], ['007'], [['007']]],
    [['007', '01', 'x'], [['007'], ['01'], ['x']], [{ code: '007' }, { code: '01' }, { code: 'x' }]],
    [[{ amount: 1 }], expect.any(String), { word: 'red', shelf: { name: 'high' } }, 1, 'high'],
    [[{}], 'red'],
    [[7, 12], [[7], [12]]],
  ]);
  expect(
    await at('spare', 'One', { ids: ['b'] }, async (context) => {
      await context.collection.delete(context.filter);
      const gone = [context.getRecord(['code']), context.getRecordId(), context.getCompositeRecordId(), context.getField('code')];
      return Promise.all([...gone, context.getRecords(['code']), context.getRecordIds(), context.getCompositeRecordIds()].map((each) => each.catch(failed)));
    }),
  ).toEqual([...Array(4).fill('RECORD_NOT_FOUND'), [], [], []]);
}); // biome-ignore format: a table

test('hasFieldChanged: false in execute; getRecord, getRecordId, getCompositeRecordId, getField: only for Single', async () => {
  const members = ({ hasFieldChanged, ...context }: Context & { hasFieldChanged(name: string): boolean }) => [
    hasFieldChanged('A'),
    ['getRecord', 'getRecordId', 'getCompositeRecordId', 'getField'].filter((name) => name in context),
  ];
  expect([
    await at('boxes', 'Two numbers', { values: { A: 1 } }, members as never),
    await at('boxes', 'Some', { ids: ['x'] }, members as never),
    await at('boxes', 'One', { ids: ['x'] }, members as never),
  ]).toEqual([
    [false, []],
    [false, []],
    [false, ['getRecord', 'getRecordId', 'getCompositeRecordId', 'getField']],
  ]);
});

test('success, error, setHeader: long messages, an empty html, the collections to reload, and a header', async () => {
  const long = 'é'.repeat(5000);
  const http = async (code: typeof run) => (await answerTo('All', code)).body;
  const success: typeof run = (_, result) => result.success(long, { html: '', invalidated: ['boxes', 'many', 'boxes'] });
  expect([
    await http(success),
    (await call('All', success)).json,
    (await call('All', (_, result) => result.success('', { html: '<p>a</p><p>b &amp; c</p>' }))).json,
    await http((_, result) => result.error('a', { html: '' })),
    await call('All', (_, result) => result.error('', { html: '<b>why</b>' })),
    await call('All', (_, result) => result.error('only')),
  ]).toEqual([
    { success: long, html: '', refresh: { relationships: ['boxes', 'many'] } },
    { result: 'success', message: long.slice(0, 4000), text: '', changed: ['boxes', 'many'] },
    { result: 'success', message: '', text: expect.stringMatching(/^a\s+b & c$/) },
    { error: 'a', html: '' },
    { error: 'ACTION_REFUSED: why' },
    { error: 'ACTION_REFUSED: only' },
  ]);
  const headers = async (code: typeof run) => (await answerTo('All', code)).headers.get('x-a');
  expect([await headers((_, result) => result.setHeader('X-A', '1').success()), await headers((_, result) => result.setHeader('X-A', '2').error())]).toEqual(['1', '2']);
}); // biome-ignore format: short

test('setHeader, file: a result keeps the headers set before it; reserved ones are dropped in any case; invalid characters are refused', async () => {
  const early = await answerTo('All', (_, result) => {
    const built = result.setHeader('X-A', '1').success();
    result.setHeader('X-A', '2');
    return built;
  });
  const reserved = ['SET-COOKIE', 'Cache-Control', 'CONTENT-type', 'Access-Control-Allow-Origin', 'Location', 'Transfer-Encoding'];
  const plain = await answerTo('All', (_, result) => result.success());
  const sent = await answerTo('File', (_, result) => reserved.reduce((all, name) => all.setHeader(name, 'mine'), result).setHeader('X-B', 'é').file('a', 'a.txt', 'text/plain'));
  const status = async (name: string, value: string) => (await answerTo('All', (_, result) => result.setHeader(name, value).success())).status;
  expect([
    early.headers.get('x-a'),
    reserved.map((name) => sent.headers.get(name)).filter((value) => value?.includes('mine')),
    [sent.headers.get('x-b'), sent.headers.get('content-type'), sent.headers.get('access-control-expose-headers')?.split(', ').includes('X-B'), plain.headers.get('access-control-expose-headers')?.includes('X-B') ?? false],
    [await status('X-A', 'Ā'), await status('X-A', '\u0001'), await status('X-A', 'a\tb'), await status('', 'a'), await status('X:A', 'a')],
  ]).toEqual(['1', [], ['é', 'text/plain', true, false], [500, 500, 200, 500, 500]]);
}); // biome-ignore format: a table

test('file, redirectTo, webhook: edge cases of names, URLs and bodies, over HTTP and MCP', async () => {
  const named = async (name: string) => (await answerTo('File', (_, result) => result.file('a', name))).headers.get('content-disposition')?.match(/filename="([^"]*)"/)?.[1];
  const names = [];
  for (const name of ['.', '..', 'a\\b.txt', '/etc/passwd', 'a b.txt', '.hidden', ' x.txt ', ' ']) names.push(await named(name));
  expect(names).toEqual(['file', 'file', 'b.txt', 'passwd', 'a b.txt', '.hidden', 'x.txt', 'file']);
  const file = await answerTo('File', (_, result) => result.file(['two ', 'parts'].join(''), 'a.html', 'text/html'));
  expect([file.body, file.headers.get('content-security-policy'), file.headers.get('x-content-type-options')]).toEqual(['two parts', "sandbox; default-src 'none'", 'nosniff']);
  const offered = (await call('File', (_, result) => result.file('abc', '../x.csv', 'text/csv'))).json;
  expect([offered, (await (await fetch(offered.url)).text())]).toMatchObject([{ result: 'file', name: 'x.csv', mimeType: 'text/csv', expiresInSeconds: expect.any(Number) }, 'abc']);
  const redirect = async (path: string) => {
    const { status, body } = await answerTo('All', (_, result) => result.redirectTo(path));
    return status === 200 ? body.redirectTo : status;
  };
  const places = [];
  for (const path of ['/a', 'https://a.example', 'ftp://a.example/x', 'mailto:a@a.example', '/\\a', '///a']) places.push(await redirect(path));
  expect(places).toEqual(['/a', 'https://a.example/', 500, 500, 500, 500]);
  expect((await call('All', (_, result) => result.redirectTo('/a?b=1#c'))).json).toEqual({ result: 'redirect', url: expect.stringMatching(/^http:\/\/.*\/a\?b=1#c$/) });
  const body = async (...given: unknown[]) => (await answerTo('All', (_, result) => result.webhook('https://a.example', ...given))).body.webhook;
  expect([await body(), await body('PATCH', { A: '1', B: '2' }, [1]), await body('delete', {}, 'text'), await body('POST', {}, 0)]).toEqual([
    { url: 'https://a.example/', method: 'POST', headers: {}, body: {} },
    { url: 'https://a.example/', method: 'PATCH', headers: { A: '1', B: '2' }, body: [1] },
    { url: 'https://a.example/', method: 'DELETE', headers: {}, body: 'text' },
    { url: 'https://a.example/', method: 'POST', headers: {}, body: 0 },
  ]);
}); // biome-ignore format: a table

test.each<[row: string, definition: object, problem: string, collection?: string]>([
  ['scope, Single', { scope: 'Single' }, 'has no key to identify records', 'keyless'],
  ['scope, Bulk', { scope: 'Bulk' }, 'has no key to identify records', 'keyless'],
  ['scope, Global', { scope: 'Global' }, 'it worked', 'keyless'],
  ...['now', {}, null, true].map((execute): [string, object, string] => ['execute', { execute }, 'execute must be a function']),
  ...[0, false, null, ''].map((description): [string, object, string] => ['description', { description }, description === '' ? 'it worked' : 'description must be a string']),
  ...[0, '', null, false].map((generateFile): [string, object, string] => ['generateFile', { generateFile }, generateFile === false ? 'it worked' : 'generateFile must be true or false']),
  ...[7, null, false, '', 'x'.repeat(51), 'x'.repeat(50)].map((submitButtonLabel): [string, object, string] => ['submitButtonLabel', { submitButtonLabel }, String(submitButtonLabel).length === 50 ? 'it worked' : 'submitButtonLabel must be a string of at most 50 characters']),
  ...['bulk', '', null, undefined, ['Bulk']].map((scope): [string, object, string] => ['scope, Bulk', { scope }, Array.isArray(scope) ? 'scope must be' : 'scope must be one of Single, Bulk, Global']),
])('%s: %j at the start', async (_, definition, problem, collection = 'orders') => {
  const { agent } = emptyAgent();
  const keyless = { name: 'keyless', columns: [{ name: 'word', type: 'String' as const }], primaryKey: [], rows: [] };
  agent
    .addDataSource(createMemoryDataSource('shop', [...shopTables, keyless]))
    .customizeCollection(collection, (each) => each.addAction('Act', { scope: 'Global', execute: () => undefined, ...definition } as never));
  expect(await messageOf(() => agent.start())).toContain(problem);
}); // biome-ignore format: a table
