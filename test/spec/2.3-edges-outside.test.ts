// Edge cases of actions (behaviour 2.3): the selected records, the values read from them, and the contents of a result.
import { expect, onTestFinished, test } from 'vitest';
import { openOutside, serveOutside } from './outside.ts';

const tables = [
  'CREATE TABLE shelves (id INTEGER PRIMARY KEY, name VARCHAR(20))',
  "INSERT INTO shelves VALUES (1, 'high'), (2, NULL)",
  'CREATE TABLE parts (thing INTEGER NOT NULL, code VARCHAR(9) NOT NULL, word VARCHAR(20), n INTEGER, shelf_id INTEGER REFERENCES shelves(id), PRIMARY KEY (thing, code))',
  "INSERT INTO parts VALUES (1, 'a|b', 'x', 0, 1), (1, 'c', '', NULL, 2), (2, 'c', NULL, 7, NULL)",
]; // biome-ignore format: a table
// biome-ignore lint/suspicious/noExplicitAny: whatever a test wants of the code.
let run: (context: any, result: any) => unknown = () => undefined;
const place = serveOutside(tables, (agent) =>
  agent.customizeCollection('parts', (parts) =>
    parts
      .addAction('One', { scope: 'Single', execute: (context, result) => run(context, result) as never })
      .addAction('Some', { scope: 'Bulk', execute: (context, result) => run(context, result) as never })
      .addAction('All', { scope: 'Global', execute: (context, result) => run(context, result) as never })
      .addAction('File', { scope: 'Global', generateFile: true, execute: (context, result) => run(context, result) as never }),
  ),
); // biome-ignore format: short
const names = ['one', 'some', 'all', 'file'];
const act = async (name: string, attributes: object, code: typeof run) => {
  run = code;
  return place.act(`/_actions/parts/${names.indexOf(name)}/${name}`, { collection_name: 'parts', ...attributes });
};
/** What the code of the action returns, or the status of a failed call. */
const find = async (name: string, attributes: object, code: typeof run) => {
  let found: unknown = 'was not run';
  const { status } = await act(name, attributes, async (context, result) => {
    found = await code(context, result);
  });
  return status === 200 ? found : status;
};
/** Runs sequentially. */
async function each<Item, Answer>(items: readonly Item[], ask: (item: Item) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const item of items) answers.push(await ask(item));
  return answers;
}
const key = '1|a\\|b';

test('Single, Bulk, Global: composite, duplicate, missing, too many and unknown ids; all but some; a filter and a search', async () => {
  const ids: typeof run = (context) => context.getCompositeRecordIds();
  const by = (filter: object) => ({ all_records: true, all_records_subset_query: { filters: JSON.stringify(filter) } });
  expect([
    ...[await find('one', { ids: [key] }, ids), await find('one', { ids: [] }, ids), await find('one', { ids: [key, '1|c'] }, ids), await find('one', { ids: ['9|c'] }, ids), await find('one', { ids: ['1'] }, ids)],
    ...[await find('some', { ids: ['2|c', key, '2|c'] }, ids), await find('some', { ids: [] }, ids), await find('some', { ids: [key, '9|c'] }, ids), await find('some', {}, ids)],
    ...[await find('some', by({ field: 'thing', operator: 'Equal', value: 1 }), ids), await find('some', { ...by({ field: 'thing', operator: 'Equal', value: 1 }), all_records_ids_excluded: ['1|c'] }, ids), await find('some', by({ field: 'thing', operator: 'Equal', value: 9 }), ids)],
    ...[await find('all', { ids: [] }, ids), await find('all', { ids: [key] }, ids)],
  ]).toEqual([
    ...[[[1, 'a|b']], 400, 400, 404, 400],
    ...[[[1, 'a|b'], [2, 'c']], 400, 404, 400],
    ...[[[1, 'a|b'], [1, 'c']], [[1, 'a|b']], 400],
    ...Array(2).fill([[1, 'a|b'], [1, 'c'], [2, 'c']]),
  ]);
}); // biome-ignore format: a table

test('getRecordId, getRecordIds, getCompositeRecordId, getRecord, getRecords, getField: packed and composite keys, falsy values and empty relations; wrong names are code errors', async () => {
  const of = (id: string, code: typeof run) => find('one', { ids: [id] }, code);
  const fields = ['word', 'n', 'shelf:name', 'shelf:id'];
  expect([
    await of(key, (context) => Promise.all([context.getRecordId(), context.getCompositeRecordId(), context.getRecordIds()])),
    await of(key, (context) => context.getRecord(fields)),
    await of('1|c', (context) => context.getRecord(fields)),
    await of('2|c', (context) => context.getRecord(fields)),
    await of('1|c', (context) => Promise.all(fields.map((field) => context.getField(field)))),
    await of('2|c', (context) => Promise.all(fields.map((field) => context.getField(field)))),
    await find('some', { ids: ['2|c', key] }, (context) => context.getRecords(['n'])),
    await find('all', {}, async (context) => (await context.getRecords(['shelf:name'])).length),
    [await of(key, (context) => context.getField('nme')), await of(key, (context) => context.getRecord(['shelf'])), await find('some', { ids: [key] }, (context) => typeof context.getRecord), await find('all', {}, (context) => typeof context.getField)],
  ]).toEqual([
    [key, [1, 'a|b'], [key]],
    { word: 'x', n: 0, shelf: { name: 'high', id: 1 } },
    { word: '', n: null, shelf: { name: null, id: 2 } },
    { word: null, n: 7, shelf: null },
    ['', null, null, 2],
    [null, 7, null, null],
    [{ n: 0 }, { n: 7 }],
    3,
    [500, 500, 'undefined', 'undefined'],
  ]);
}); // biome-ignore format: a table

test('caller: complete for each scope, Single, Bulk and Global, over HTTP and MCP, and frozen', async () => {
  const seen: unknown[] = [];
  const look: typeof run = ({ caller }) => void seen.push({ ...caller }, Object.isFrozen(caller));
  for (const [name, ids] of [['one', [key]], ['some', [key, '1|c']], ['all', []], ['file', []]] as const) {
    await act(name, { ids }, look);
    const actionName = `${name[0]!.toUpperCase()}${name.slice(1)}`;
    await place.tool('executeAction', { collectionName: 'parts', actionName, ...(ids.length > 0 && { recordIds: ids }) });
  }
  const ada = {
    ...{ id: 1, email: 'ada@example.com', firstName: 'Ada', lastName: 'Byron', team: 'Operations' },
    ...{ role: 'Administrator', tags: { region: 'south' }, timezone: 'Europe/Paris', permissionLevel: 'admin' },
    renderingId: expect.anything(),
  };
  expect(seen).toEqual(Array(8).fill([ada, true]).flat());
}); // biome-ignore format: short

test('collection, filter, caller, formValues: the filter selects the chosen records, and code can update by it; it is frozen', async () => {
  const changed = await find('some', { ids: ['1|c', '2|c'] }, async ({ collection, filter, caller, formValues }) => [
    await collection.update(filter, { word: 'new' }),
    collection.name,
    caller.email,
    formValues,
    Object.isFrozen(filter),
  ]);
  const none = await find('all', {}, ({ filter }) => filter);
  expect([changed, none, (await place.list('/parts?sort=thing,code')).map(({ word }) => word)]).toEqual([
    [2, 'parts', 'ada@example.com', {}, true],
    { conditionTree: null },
    ['x', 'new', 'new'],
  ]);
});

test('success, error, webhook, redirectTo: texts, defaults and empty texts; valid and invalid methods and URLs', async () => {
  const answer = async (code: (result: Record<string, (...given: unknown[]) => unknown>) => unknown) => {
    const { status, body } = await act('all', {}, (_, result) => code(result));
    return [status, body.errors ? body.errors[0].code : body];
  };
  const ok = (success: string, more: object = {}) => [200, { success, refresh: { relationships: [] }, ...more }];
  expect([
    ...[await answer((result) => result.success!('')), await answer((result) => result.success!(undefined, { html: '' })), await answer((result) => result.error!('')), await answer((result) => result.error!(undefined, { html: '<b>x</b>' }))],
    ...[await answer((result) => result.success!('a', { invalidated: ['parts', 'shelves', 'parts'] })), await answer(() => 'done'), await answer(() => ({})), await answer(() => 0), await answer(() => false)],
  ]).toMatchObject([
    ...[ok(''), ok('Success', { html: '' }), [400, { error: '' }], [400, { error: 'Error', html: '<b>x</b>' }]],
    [200, { refresh: { relationships: ['parts', 'shelves'] } }],
    ...Array(4).fill([500, expect.any(String)]),
  ]);
  const webhook = async (...given: unknown[]) => {
    const [status, body] = (await answer((result) => result.webhook!(...given))) as [number, { webhook: unknown }];
    return status === 200 ? body.webhook : status;
  };
  const url = 'http://a.example/b';
  expect([
    await webhook(url),
    await webhook(url, 'get', { 'X-A': 1 }, null),
    ...(await each(['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'], async (method) => ((await webhook(url, method)) as { method: string }).method)),
    ...[await webhook('a.example'), await webhook('ftp://a.example'), await webhook(url, 'TRACE'), await webhook(url, ''), await webhook(url, 'POST', { 'X A': '1' }), await webhook(url, 'POST', { 'X-A': 'a\nb' })],
  ]).toEqual([
    { url, method: 'POST', headers: {}, body: {} },
    { url, method: 'GET', headers: { 'X-A': '1' }, body: null },
    ...['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
    ...Array(6).fill(500),
  ]);
  const redirect = async (path: unknown) => {
    const [status, body] = (await answer((result) => result.redirectTo!(path))) as [number, { redirectTo: string }];
    return status === 200 ? body.redirectTo : status;
  };
  expect(await each(['/', '/a b?c#d', 'http://a.example', 'https://a.example/x'], redirect)).toEqual(['/', '/a b?c#d', 'http://a.example/', 'https://a.example/x']);
  expect(await each(['a', '', '//a.example', '/\\a.example', 'data:text/html,x', undefined], redirect)).toEqual(Array(6).fill(500));
}); // biome-ignore format: a table

test('file, generateFile, setHeader: names without folders, valid types, strings, bytes and streams; a header of a file too', async () => {
  const file = async (...given: unknown[]) => {
    const { status, body, headers } = await act('file', {}, (_, result) => result.setHeader('X-Total', 7).file(...given));
    return status === 200 ? [body, headers.get('content-disposition'), headers.get('content-type'), headers.get('x-total')] : status;
  };
  expect([
    ...[await file(''), await file('é', 'a/b\\c.txt', 'text/plain'), await file(Buffer.from('x'), '..', 'text/plain; charset=utf-8'), await file('x', ' ', 'text/plain'), await file('x', 'ü.txt', 'text/plain')],
    ...[await file('x', 'a', 'text'), await file('x', 'a', ''), await file('x', 'a', 'text/plain; x')],
  ]).toEqual([
    ['', expect.stringContaining('file'), 'application/octet-stream', '7'],
    ['é', expect.stringContaining('c.txt'), expect.stringContaining('text/plain'), '7'],
    ['x', expect.stringContaining('file'), 'text/plain; charset=utf-8', '7'],
    ['x', expect.stringContaining('file'), expect.stringContaining('text/plain'), '7'],
    ['x', expect.stringContaining("filename*=UTF-8''%C3%BC.txt"), expect.stringContaining('text/plain'), '7'],
    ...[500, 500, 500],
  ]);
}); // biome-ignore format: a table

test('Single, Bulk; getRecordIds, getCompositeRecordIds, getRecords, getRecordId, getCompositeRecordId, getRecord, getField: without a selection the code of a form gets an error, and no record', async () => {
  const methods = ['getRecordIds', 'getCompositeRecordIds', 'getRecords', 'getRecordId', 'getCompositeRecordId', 'getRecord', 'getField'];
  const own = await openOutside(['CREATE TABLE things (id INTEGER PRIMARY KEY)', 'INSERT INTO things VALUES (77001), (77002)'], (agent) =>
    agent.customizeCollection('things', (things) => {
      for (const [at, method] of methods.entries())
        things.addAction(`F${at}`, {
          scope: method.includes('Ids') || method === 'getRecords' ? 'Bulk' : 'Single',
          form: [{ label: 'Found', type: 'String', value: async (context: Record<string, (fields: unknown) => unknown>) => JSON.stringify(await context[method]!(method === 'getField' ? 'id' : ['id'])) } as never],
          execute: () => undefined,
        });
    }),
  );
  onTestFinished(() => own.stop());
  for (const [at, method] of methods.entries()) {
    const load = async (attributes: object) => own.act(`/_actions/things/${at}/f${at}/hooks/load`, { collection_name: 'things', ...attributes });
    const [one, none] = [await load({ ids: ['77001'] }), await load({})];
    const tool = await own.tool('getActionForm', { collectionName: 'things', actionName: `F${at}` });
    expect([one.status, String(one.body.fields[0].value).includes('77001'), none.status, tool.error.split(':')[0]], method).toEqual([200, true, 500, 'ACTION_FAILED']);
    expect(JSON.stringify([none.body, tool])).not.toMatch(/7700/);
  }
  const message = 'No record is selected: the form was requested without recordIds.';
  expect(own.causes.filter((cause) => cause.includes(message)).length).toBe(2 * methods.length);
}); // biome-ignore format: short
