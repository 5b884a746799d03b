// The caller in every kind of code, hooks that refuse, validations in every way to write, binary values and periods of
// charts at their edges.
import { expect, test } from 'vitest';
import {
  type Caller,
  type CollectionCustomizer,
  type CustomizationContext,
  createMemoryDataSource,
} from '../../src/index.ts';
import { serveOutside } from './outside.ts';

const files = [['89504e470d0a1a0a', 'image/png'], ['ffd8ffe0', 'image/jpeg'], ['474946383961', 'image/gif'], ['474946383761', 'image/gif'], ['524946460000000057454250', 'image/webp'], ['255044462d31', 'application/pdf'], ['504b0304', 'application/zip'], ['fbff', 'application/octet-stream'], ['', 'application/octet-stream']]; // biome-ignore format: short
const tables = [
  'CREATE TABLE items (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, n INTEGER)',
  "INSERT INTO items VALUES (1, 'one', 1), (2, 'two', 0), (3, '', NULL)",
  'CREATE TABLE parts (id INTEGER PRIMARY KEY, item_id INTEGER REFERENCES items(id))',
  'INSERT INTO parts VALUES (1, 1), (2, 1), (3, 2)',
  'CREATE TABLE files (id INTEGER PRIMARY KEY, plain BLOB, uri BLOB, hex BLOB)',
  ...files.map(([bytes], at) => `INSERT INTO files VALUES (${at + 1}, x'${bytes}', x'${bytes}', x'${bytes}')`),
  'CREATE TABLE rules (id INTEGER PRIMARY KEY, present TEXT, longer TEXT, shorter TEXT, has TEXT, likes TEXT, fits TEXT, loose TEXT, n REAL, m REAL, before DATETIME, after DATETIME, before_day DATE, after_day DATE)',
  "INSERT INTO rules (id, present) VALUES (1, 'x')",
]; // biome-ignore format: a table

const rules = (each: CollectionCustomizer) =>
  each
    .addFieldValidation('present', 'Present')
    .addFieldValidation('longer', 'LongerThan', 0)
    .addFieldValidation('shorter', 'ShorterThan', 1)
    .addFieldValidation('has', 'Contains', '%')
    .addFieldValidation('likes', 'Like', 'a\\%_')
    .addFieldValidation('fits', 'Match', 'b+')
    .addFieldValidation('loose', 'Match', /^x.y$/gis)
    .addFieldValidation('n', 'GreaterThan', 0)
    .addFieldValidation('m', 'LessThan', 0)
    .addFieldValidation('before', 'Before', '2024-05-01')
    .addFieldValidation('after', 'After', new Date('2024-05-01T00:00:00Z'))
    .addFieldValidation('before_day', 'Before', '2024-05-01')
    .addFieldValidation('after_day', 'After', '2024-05-01');

const callers = new Map<string, Caller>();
const see = (kind: string, { caller }: Pick<CustomizationContext, 'caller'>) => void callers.set(kind, caller);
let handler: ((context: never) => unknown) | undefined;
let chart: (builder: never) => unknown = () => null;
const code = { run: (_: CustomizationContext): unknown => null };
const place = serveOutside(tables, (agent) => {
  agent
    .addDataSource(createMemoryDataSource('kept', [{ name: 'kept', columns: [{ name: 'id', type: 'Number' }, { name: 'name', type: 'String', nullable: true }], primaryKey: ['id'], rows: [[1, 'x']] }]))
    .addChart('code', async (context, builder) => [see('chart', context), builder.smart(await code.run(context))][1] as never)
    .addChart('any', (_, builder) => chart(builder as never) as never)
    .customizeCollection('rules', rules)
    .customizeCollection('files', (each) => each.replaceFieldBinaryMode('uri', 'datauri').replaceFieldBinaryMode('hex', 'hex'))
    .customizeCollection('kept', (kept) =>
      kept
        .overrideCreate((context) => [see('overrideCreate', context), context.data][1] as never)
        .overrideUpdate((context) => see('overrideUpdate', context))
        .overrideDelete((context) => see('overrideDelete', context))
        .addChart('one', (context, builder) => [see('chart of a record', context), builder.value(1)][1]!),
    )
    .customizeCollection('items', (items) => {
      items
        .addSegment('nothing', () => undefined as never)
        .addSegment('null', async () => null as never)
        .addSegment('mine', (context) => [see('segment', context), { field: 'id', operator: 'Present' }][1] as never)
        .addField('made', { columnType: 'Number', dependencies: ['id'], getValues: (all, context) => [see('computed', context), all.map(() => 1)][1] as never })
        .replaceFieldOperator('made', 'Equal', (_, context) => [see('operator', context), { field: 'id', operator: 'Present' }][1] as never)
        .replaceFieldWriting('n', (n, context) => [see('writing', context), { n }][1] as never)
        .replaceSearch((_, __, context) => [see('search', context), { field: 'id', operator: 'Present' }][1] as never)
        .addExternalRelation('far', { schema: { n: 'Number' }, listRecords: (_, context) => [see('external', context), []][1] as never })
        .addAction('act', {
          scope: 'Global',
          form: [{ label: 'x', type: 'String', defaultValue: (context: { caller: Caller }) => [see('form', context), 'd'][1] as never }],
          execute: (context, result) => [see('action', context), result.success('done')][1]!,
        });
      for (const position of ['Before', 'After'] as const)
        for (const type of ['List', 'Create', 'Update', 'Delete', 'Aggregate'] as const)
          items.addHook(position, type, async (context) => {
            see(`${position} ${type}`, context);
            if (kind === `${position} ${type}`) await handler?.(context as never);
          });
    });
}); // biome-ignore format: short
let kind = '';
const during = async <T>(what: string, run: (context: never) => unknown, act: () => Promise<T>): Promise<T> => {
  [kind, handler] = [what, run];
  try {
    return await act();
  } finally {
    [kind, handler] = ['', undefined];
  }
};

test('caller: id, email, firstName, lastName, team, role, tags, timezone: equal in every kind of code, over HTTP and MCP, and immutable', async () => {
  const expected = { id: 1, email: 'ada@example.com', firstName: 'Ada', lastName: 'Byron', team: 'Operations', role: 'Administrator', tags: { region: 'south' }, timezone: 'Europe/Paris' };
  const http = async () => {
    await place.get('/items?segment=mine&search=x&fields[items]=made,far&filters=%7B%22field%22%3A%22made%22%2C%22operator%22%3A%22Equal%22%2C%22value%22%3A1%7D&timezone=Asia/Tokyo');
    await place.get('/items/count');
    await place.save('items', null, { id: 9, name: 'nine', n: 9 });
    await place.save('items', 9, { n: 8 });
    await place.remove('items', 9);
    await place.save('kept', null, { id: 2, name: 'y' });
    await place.save('kept', 1, { name: 'z' });
    await place.remove('kept', 1);
    await place.act('/_actions/items/0/act', { values: { x: 'd' } });
    await place.post('/_actions/items/0/act/hooks/load', { data: { attributes: {} } });
    await place.get('/_charts/code');
    await place.get('/_charts/kept/one?record_id=1');
  };
  const mcp = async () => {
    await place.tool('list', { collectionName: 'items', segment: 'mine', search: 'x', fields: ['made', 'far'], filters: { field: 'made', operator: 'Equal', value: 1 }, timezone: 'Asia/Tokyo' });
    await place.tool('aggregate', { collectionName: 'items', operation: 'Count' });
    await place.tool('create', { collectionName: 'items', attributes: { id: 9, name: 'nine', n: 9 } });
    await place.tool('update', { collectionName: 'items', recordIds: [9], attributes: { n: 8 } });
    await place.tool('delete', { collectionName: 'items', recordIds: [9] });
    await place.tool('create', { collectionName: 'kept', attributes: { id: 2, name: 'y' } });
    await place.tool('update', { collectionName: 'kept', recordIds: [1], attributes: { name: 'z' } });
    await place.tool('delete', { collectionName: 'kept', recordIds: [1] });
    await place.tool('getActionForm', { collectionName: 'items', actionName: 'act' });
    await place.tool('executeAction', { collectionName: 'items', actionName: 'act', values: { x: 'd' } });
    await place.tool('getChart', { chartName: 'code' });
    await place.tool('getChart', { collectionName: 'kept', chartName: 'one', recordId: 1 });
  };
  const kinds = ['segment', 'computed', 'operator', 'writing', 'search', 'external', 'form', 'action', 'chart', 'chart of a record', 'overrideCreate', 'overrideUpdate', 'overrideDelete', ...['List', 'Create', 'Update', 'Delete', 'Aggregate'].flatMap((type) => [`Before ${type}`, `After ${type}`])];
  for (const run of [http, mcp]) {
    callers.clear();
    await run();
    expect([...callers.keys()].sort()).toEqual(kinds.toSorted());
    for (const [what, caller] of callers) {
      expect(caller, what).toMatchObject(expected);
      expect(() => Object.assign(caller, { id: 2 }), what).toThrow(TypeError);
      expect(() => Object.assign(caller.tags, { region: 'north' }), what).toThrow(TypeError);
      expect([typeof caller.id, Object.keys(caller.tags)]).toEqual(['number', ['region']]);
    }
  }
}); // biome-ignore format: short

// biome-ignore lint/suspicious/noExplicitAny: JSON that the tests compare.
type Act = () => Promise<any>;
const acts: Readonly<Record<string, readonly [http: Act, tool: Act]>> = {
  List: [() => place.get('/items'), () => place.tool('list', { collectionName: 'items' })],
  Aggregate: [() => place.get('/items/count'), () => place.tool('aggregate', { collectionName: 'items', operation: 'Count' })],
  Create: [() => place.save('items', null, { id: 9, name: 'nine' }), () => place.tool('create', { collectionName: 'items', attributes: { id: 9, name: 'nine' } })],
  Update: [() => place.save('items', 1, { name: 'uno' }), () => place.tool('update', { collectionName: 'items', recordIds: [1], attributes: { name: 'uno' } })],
  Delete: [() => place.remove('items', 3), () => place.tool('delete', { collectionName: 'items', recordIds: [3] })],
}; // biome-ignore format: a table
const stored = async () => (await place.list('/items?sort=id&fields[items]=name')).map(({ id, name }) => [id, name]);
const untouched = [[1, 'one'], [2, 'two'], [3, '']]; // biome-ignore format: short
type Stop = Readonly<
  Record<'throwError' | 'throwForbiddenError' | 'throwValidationError', (problem: string, field?: string) => never>
>;

test.each(Object.keys(acts))('hook | %s, position: Before: each way to refuse has its status, over HTTP and MCP, and nothing happens', async (type) => {
  const writes = !['List', 'Aggregate'].includes(type);
  const ways: [string, (context: Stop) => unknown, number, string, string][] = [
    ['throwError', (context) => context.throwError('Not now.'), 422, 'REFUSED', 'Not now.'],
    ['throwForbiddenError', (context) => context.throwForbiddenError('Not you.'), 403, 'DENIED', 'Not you.'],
    ['throwValidationError', (context) => context.throwValidationError('is taken.', 'name'), writes ? 400 : 422, writes ? 'INVALID_RECORD' : 'REFUSED', 'name: is taken.'],
    ['throwValidationError of the record', (context) => context.throwValidationError('is odd.'), writes ? 400 : 422, writes ? 'INVALID_RECORD' : 'REFUSED', 'is odd.'],
    ['an exception', () => { throw new Error('password'); }, 500, 'CUSTOMIZATION_FAILED', `the hook 'Before ${type}' of 'items'`],
    ['a rejection', () => Promise.reject(new Error('password')), 500, 'CUSTOMIZATION_FAILED', `the hook 'Before ${type}' of 'items'`],
  ];
  for (const [what, run, status, code, text] of ways) {
    const [http, tool] = acts[type]!;
    const answer = await during(`Before ${type}`, run as never, http);
    const told = await during(`Before ${type}`, run as never, tool);
    const [{ detail, code: given }] = answer.body.errors;
    expect([answer.status, given, detail.includes(text), detail.includes('password'), String(told.error).includes(code), String(told.error).includes(text)], what).toEqual([status, code, true, false, true, true]);
  }
  expect(await stored()).toEqual(untouched);
}); // biome-ignore format: a table

test.each(['Create', 'Update', 'Delete'])('hook | %s: a dry run calls Before with isPreview and not After; After that throws reports the saved write without its message', async (type) => {
  const seen: unknown[] = [];
  const tool = { Create: ['create', { attributes: { id: 9, name: 'nine' } }], Update: ['update', { recordIds: [1], attributes: { name: 'uno' } }], Delete: ['delete', { recordIds: [3] }] }[type]!;
  callers.clear();
  await during(`Before ${type}`, (({ isPreview }: { isPreview: boolean }) => seen.push(isPreview)) as never, () => place.tool(tool[0] as string, { collectionName: 'items', ...(tool[1] as object), dryRun: true }));
  expect([seen, callers.has(`Before ${type}`), callers.has(`After ${type}`), await stored()]).toEqual([[true], true, false, untouched]);
  const late = await during(`After ${type}`, (() => { throw new Error('password'); }) as never, acts[type]![0]);
  expect([late.body.errors[0].code, late.body.errors[0].detail]).toEqual(['FAILED_AFTER_WRITE', expect.not.stringContaining('password')]);
  expect(await stored()).not.toEqual(untouched);
  await ({ Create: () => place.remove('items', 9), Update: () => place.save('items', 1, { name: 'one' }), Delete: () => place.save('items', null, { id: 3, name: '' }) }[type]!)();
}); // biome-ignore format: short

test('hook: List, Aggregate, position: After: null, 0, false and an empty string are returned as set, also in related lists, files and groups', async () => {
  const values = [null, 0, false, ''];
  let next = 0;
  const set = ({ records }: { records: Record<string, unknown>[] }) => records.map((record) => Object.assign(record, { n: values[next] }));
  for (next = 0; next < values.length; next++) {
    const [http, tool] = [await during('After List', set as never, () => place.list('/items?sort=id&fields[items]=n')), await during('After List', set as never, () => place.tool('list', { collectionName: 'items', fields: ['n'] }))];
    expect([http.map(({ n }) => n), tool.json.rows.flat()], String(values[next])).toEqual([Array(3).fill(values[next]), Array(3).fill(values[next])]);
  }
  const zero = ({ result }: { result: { value: unknown }[] }) => result.map((group) => Object.assign(group, { value: 0 }));
  const narrow = ({ narrow }: { narrow: (filter: object) => void }) => narrow({ field: 'id', operator: 'GreaterThan', value: 1 });
  const csv = (path: string) => during('Before List', narrow as never, async () => String((await place.get(`${path}.csv?fields[items]=id&sort=id&filename=x&header=${encodeURIComponent('["id"]')}`)).body).trim().split(/\r?\n/).slice(1));
  const grouped = { collectionName: 'items', operation: 'Count', groups: ['name'] };
  expect({
    count: (await during('After Aggregate', zero as never, () => place.get('/items/count'))).body.count,
    groups: (await during('After Aggregate', zero as never, () => place.tool('aggregate', grouped))).json.rows.map((row: unknown[]) => row[1]),
    narrowed: (await during('Before Aggregate', narrow as never, () => place.tool('aggregate', grouped))).json.rows.length,
    file: await csv('/items'),
  }).toEqual({ count: 0, groups: [0, 0, 0], narrowed: 2, file: ['2', '3'] });
}); // biome-ignore format: short

test.each<[operator: string, field: string, bad: unknown[], good: unknown[]]>([
  ['Present', 'present', ['', null], ['0', ' ']],
  ['LongerThan', 'longer', [''], ['a', null]],
  ['ShorterThan', 'shorter', ['a', ' '], ['', null]],
  ['Contains', 'has', ['a', ''], ['%', null]],
  ['Like', 'likes', ['a%', 'abc', 'A%b', 'xa%b'], ['a%b', null]],
  ['Match', 'fits', ['aca', 'B', '', 'b'.repeat(100_001)], ['abba', 'b', null]],
  ['Match', 'loose', ['x-z', 'xy', ' x-y'], ['x-y', 'X\nY', 'x-y', null]],
  ['GreaterThan', 'n', [0, -0.5], [0.5, 1, null]],
  ['LessThan', 'm', [0, 0.5], [-0.5, null]],
  ['Before', 'before', ['2024-05-01T00:00:00.000Z'], ['2024-04-30T12:00:00.000Z', null]],
  ['After', 'after', ['2024-05-01T00:00:00.000Z'], ['2024-05-01T00:00:01.000Z', null]],
  ['Before', 'before_day', ['2024-05-01', '2024-05-02'], ['2024-04-30', null]],
  ['After', 'after_day', ['2024-05-01', '2024-04-30'], ['2024-05-02', null]],
])('validation | %s: of %s: in tools, code, dry runs and for the second of several records; valid values are stored', async (operator, field, bad, good) => {
  const others = { ...(field !== 'present' && { present: 'x' }) };
  const outcome = ({ error }: { error?: string }) => (error === undefined ? 'written' : error.includes(operator) || error.includes(`${field}`) ? 'refused' : error);
  const ways = async (value: unknown) => {
    const given = { ...others, [field]: value };
    code.run = async ({ collection }) => {
      const rules = collection('rules');
      const told = (error: Error) => (error.message.includes(operator) || error.message.includes(field) ? 'refused' : error.message);
      const created = await rules.create([{ id: 5, ...others, ...(field === 'present' && { present: 'x' }) }, { id: 6, ...given }]).then(() => 'written', told);
      const updated = await rules.update({ conditionTree: { field: 'id', operator: 'Equal', value: 1 } }, { [field]: value }).then(() => 'written', told);
      await rules.delete({ conditionTree: { field: 'id', operator: 'GreaterThan', value: 1 } });
      return [created, updated];
    };
    const answers = [
      outcome(await place.tool('create', { collectionName: 'rules', attributes: { id: 2, ...given }, dryRun: true })),
      outcome(await place.tool('create', { collectionName: 'rules', attributes: { id: 3, ...given } })),
      outcome(await place.tool('update', { collectionName: 'rules', recordIds: [1], attributes: { [field]: value } })),
      ...(await place.get('/_charts/code')).body,
    ];
    return [answers, await place.ids('/rules?sort=id')];
  };
  for (const value of good) expect(await ways(value), `${value}`).toEqual([Array(5).fill('written'), [1]]);
  for (const value of bad) expect(await ways(value), `${value}`.slice(0, 50)).toEqual([Array(5).fill('refused'), [1]]);
}); // biome-ignore format: a table

test.each(['nothing', 'null'])('filter | segment: code that returns no condition fails, and returns no record: %s', async (segment) => {
  const tool = await place.tool('list', { collectionName: 'items', segment });
  const { status, body } = await place.get(`/items?segment=${segment}`);
  expect([status, body.errors[0].code, tool.error]).toEqual([500, 'CUSTOMIZATION_FAILED', expect.stringContaining('CUSTOMIZATION_FAILED')]);
}); // biome-ignore format: short

test('binary mode | datauri, hex: each kind of file, also empty, in lists, tools, files and code; hex in any case and all of base64 are accepted', async () => {
  const shown = (await place.list('/files?sort=id')).map((one) => [one.plain, one.uri, one.hex]);
  const uri = ([bytes, type]: string[]) => `data:${type};base64,${Buffer.from(bytes!, 'hex').toString('base64')}`;
  expect(shown).toEqual(files.map((file) => [uri(file), uri(file), file[0]]));
  const { json } = await place.tool('list', { collectionName: 'files', fields: ['hex'], sort: 'id' });
  code.run = async ({ collection }) => (await collection('files').list({}, ['uri', 'hex'])).map((one) => [Buffer.isBuffer(one.uri), Buffer.isBuffer(one.hex)].join());
  const csv = String((await place.get(`/files.csv?fields[files]=hex&sort=id&filename=x&header=${encodeURIComponent('["h"]')}`)).body).split(/\r?\n/).slice(1, 1 + files.length);
  const kinds = new Set((await place.get('/_charts/code')).body as string[]);
  expect([json.rows.flat(), csv, kinds.size]).toEqual([files.map(([bytes]) => bytes), files.map(([bytes]) => bytes), 1]);
  for (const field of ['uri', 'hex'])
    for (const [value, bytes] of [['FBFF', 'fbff'], ['data:;base64,+/8=', 'fbff'], ['data:image/png;base64,-_8', 'fbff'], ['data:text/plain;charset=utf-8;base64,YQ==', '61'], ['', ''], ['data:;base64,', '']]) {
      expect([(await place.save('files', 9, { [field]: value })).status, (await place.list('/files?sort=-id'))[0]![field]]).toEqual([200, field === 'hex' ? bytes : uri([bytes!, 'application/octet-stream'])]);
    }
  for (const wrong of ['fbf', '0xfb', 'data:;base64,@', 'data:text/plain,a', 7, {}]) expect((await place.save('files', 9, { hex: wrong })).status, `${wrong}`).toBe(400);
}); // biome-ignore format: short

type Point = readonly [date: string | null, value: number | string | null];
test.each<[range: string, points: Point[], labels: string[], values: unknown[]]>([
  ['Day', [['2024-03-01', 1], ['2024-02-28', 2], [null, 9]], ['28/02/2024', '29/02/2024', '01/03/2024'], [2, 0, 1]],
  ['Day', [['2024-03-31T00:30:00Z', 1], ['2024-03-31T21:59:59Z', 2], ['2024-03-31T22:00:00Z', 4]], ['31/03/2024', '01/04/2024'], [3, 4]],
  ['Week', [['2021-01-03', 1], ['2020-12-28', 2], ['2021-01-04', 4]], ['W53-2020', 'W1-2021'], [3, 4]],
  ['Week', [['2019-12-30', 1], ['2019-12-29', null]], ['W52-2019', 'W1-2020'], [null, 1]],
  ['Week', [['0099-01-05', 1], ['0099-01-14', 2]], ['W2-0099', 'W3-0099'], [1, 2]],
  ['Month', [['2024-12-31T23:00:00Z', 1], ['2024-12-31T22:59:59Z', 2]], ['Dec 24', 'Jan 25'], [2, 1]],
  ['Month', [['2024-01-31', '0.1'], ['2024-01-01', '0.2']], ['Jan 24'], [0.3]],
  ['Quarter', [['2024-03-31', 1], ['2024-04-01', 2], ['2024-09-30', 4], ['2024-12-31', 8]], ['Q1-2024', 'Q2-2024', 'Q3-2024', 'Q4-2024'], [1, 2, 4, 8]],
  ['Quarter', [['2023-12-31T23:00:00Z', null], ['2024-02-01', null]], ['Q1-2024'], [null]],
  ['Year', [['2023-12-31T23:00:00Z', 1], ['2024-12-31', -1], ['2022-01-01', 5]], ['2022', '2023', '2024'], [5, 0, 0]],
  ['Year', [['2024-06-01', null], ['2024-07-01', 2], ['2024-08-01', null]], ['2024'], [2]],
  ...['Day', 'Week', 'Month', 'Quarter', 'Year'].map((range): [string, Point[], string[], unknown[]] => [range, [], [], []]),
])('time range | %s: %j: periods without a value, with null and in any order, of one line and two, over HTTP and MCP', async (range, points, labels, values) => {
  type Builder = { timeBased: (...given: unknown[]) => unknown; multipleTimeBased: (...given: unknown[]) => unknown };
  chart = ({ timeBased }: Builder) => timeBased(range, points.map(([date, value]) => ({ date, value })));
  const [http, posted, tool] = [(await place.get('/_charts/any')).body, (await place.post('/_charts/any', {})).body, await place.tool('getChart', { chartName: 'any' })];
  chart = ({ multipleTimeBased }: Builder) => multipleTimeBased(range, points.map(([date]) => date), [{ label: 'a', values: points.map(([, value]) => value) }, { label: 'b', values: points.map(() => 1) }]);
  const lines = (await place.get('/_charts/any')).body;
  const numbers = (list: { values: { value: unknown } }[]) => list.map((one) => (one.values.value === null ? null : Number(one.values.value)));
  expect([http.map(({ label }: { label: string }) => label), numbers(http), lines.labels, lines.values[0].values.map((one: unknown) => (one === null ? null : Number(one)))]).toEqual([labels, values, labels, values]);
  expect([JSON.stringify(posted).includes(JSON.stringify(http)), tool.error, lines.values[1].key]).toEqual([true, undefined, 'b']);
}); // biome-ignore format: a table

test.each(['Day', 'Week', 'Month', 'Quarter', 'Year'])('time range | %s: an invalid date or number, and more than 10,000 periods, fail the chart', async (range) => {
  const given = [[{ date: 'soon', value: 1 }], [{ date: '2024-02-30', value: 1 }], [{ date: '2024-01-01', value: 'many' }], [{ date: '2024-01-01' }], 'none', null, [null]];
  for (const points of given) {
    chart = ({ timeBased }: { timeBased: (...given: unknown[]) => unknown }) => timeBased(range, points);
    expect((await place.get('/_charts/any')).status, JSON.stringify(points)).toBe(500);
  }
  const last = { Day: '2000-02-09', Week: '2000-09-30', Month: '2003-04-01', Quarter: '2009-12-31', Year: '2039-01-01' }[range];
  chart = ({ timeBased }: { timeBased: (...given: unknown[]) => unknown }) => timeBased(range, [{ date: '2000-01-01', value: 1 }, { date: last, value: 1 }]);
  expect((await place.get('/_charts/any')).body).toHaveLength(40);
  const far = { Day: ['2000-01-01', '2027-05-18', '2027-05-19'] }[range];
  if (!far) return;
  for (const [last, status] of [[far[1], 200], [far[2], 500]] as const) {
    chart = ({ timeBased }: { timeBased: (...given: unknown[]) => unknown }) => timeBased(range, [{ date: far[0], value: 1 }, { date: last, value: 1 }]);
    expect((await place.get('/_charts/any')).status).toBe(status);
  }
}); // biome-ignore format: short

test.each<[operator: string, value: unknown]>([
  ['LongerThan', undefined], ['LongerThan', -1], ['LongerThan', 1.5], ['LongerThan', 'x'],
  ['ShorterThan', null], ['ShorterThan', -1], ['ShorterThan', '2x'],
  ['Contains', undefined], ['Contains', {}], ['Like', undefined], ['Like', 'a\\'], ['Match', undefined], ['Match', '('],
  ['GreaterThan', undefined], ['GreaterThan', 'many'], ['LessThan', null], ['LessThan', {}],
  ['Before', undefined], ['Before', 'soon'], ['After', undefined], ['After', '2024-02-30'],
])('validation | %s: with the value %j ends the start', async (operator, value) => {
  const field = /Than$/.test(operator) && !/^(Longer|Shorter)/.test(operator) ? 'n' : /Before|After/.test(operator) ? 'at' : 'text';
  const { emptyAgent, messageOf } = await import('../app/agent.ts');
  const { agent } = emptyAgent();
  const columns = [{ name: 'id', type: 'Number' as const }, { name: 'text', type: 'String' as const }, { name: 'n', type: 'Number' as const }, { name: 'at', type: 'Date' as const }];
  agent.addDataSource(createMemoryDataSource('x', [{ name: 'x', columns, primaryKey: ['id'], rows: [] }])).customizeCollection('x', (each) => each.addFieldValidation(field, operator as never, value));
  expect(await messageOf(() => agent.start())).toMatch(new RegExp(`The rule '${operator}' of '${field}'.*2\\.7-code-edges-outside\\.test\\.ts:\\d+`));
}); // biome-ignore format: a table
