// Edge cases of the arguments and results of the ten tools (behaviour 4.4), as an assistant sees them: omitted,
// misspelled, duplicate and missing arguments, and the names in each result.
import { expect, test } from 'vitest';
import { serveOutside } from './outside.ts';

const things = Array.from(
  { length: 30 },
  (_, at) =>
    `(${at + 1}, 'thing ${at + 1}', ${at === 4 ? 'NULL' : (at * 7) % 30}, '2024-03-31 ${at % 2 ? '23' : '10'}:30:00', ${(at % 3) + 1})`,
);
const tables = [
  'CREATE TABLE shelves (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL)',
  "INSERT INTO shelves VALUES (1, 'high'), (2, 'low'), (3, 'far'), (4, 'empty')",
  'CREATE TABLE things (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, n INTEGER, at DATETIME, shelf_id INTEGER REFERENCES shelves(id))',
  `INSERT INTO things VALUES ${things.join(', ')}`,
  'CREATE TABLE parts (thing_id INTEGER NOT NULL REFERENCES things(id), part INTEGER NOT NULL, word VARCHAR(9), PRIMARY KEY (thing_id, part))',
  "INSERT INTO parts VALUES (1, 1, 'a'), (1, 2, 'b'), (2, 1, 'c')",
  'CREATE TABLE quiet (id INTEGER PRIMARY KEY, word VARCHAR(9))',
  'CREATE TABLE marks (id INTEGER PRIMARY KEY, word VARCHAR(9) NOT NULL, state VARCHAR(9) NOT NULL DEFAULT \'new\', long TEXT, thing_id INTEGER REFERENCES things(id))',
  `INSERT INTO marks VALUES (1, 'a', 'new', '${'ab'.repeat(3000)}', 7)`,
  "CREATE VIEW few AS SELECT id, name FROM things WHERE id < 4",
]; // biome-ignore format: a table
const seen: unknown[] = [];
const place = serveOutside(tables, (agent) =>
  agent
    .addChart('whole', (_, chart) => chart.value(1))
    .customizeCollection('quiet', (quiet) => quiet.disableSearch().disableCount())
    .customizeCollection('marks', (each) =>
      each.allowNestedWrites('thing').addSegment('lone', { field: 'id', operator: 'Present' }).addAction('Tag', {
        scope: 'Single',
        form: [
          { type: 'Layout', component: 'Page', elements: [{ type: 'Layout', component: 'HtmlBlock', content: '<p>Read this</p>' }, { label: 'Fixed', type: 'String', isReadOnly: true, value: () => 'f' }, { label: 'Kind', type: 'Number', widget: 'Dropdown', options: [{ value: 1, label: 'one' }, { value: 2, label: '2' }, ...Array.from({ length: 60 }, (_, at) => ({ value: at + 3, label: `k${at + 3}` }))] }] },
        ],
        execute: () => undefined,
      }),
    )
    .customizeCollection('things', (each) =>
      each
        .addField('size', { columnType: 'Enum', enumValues: ['small', 'large'], dependencies: ['n'], getValues: (all) => all.map(({ n }) => (Number(n) > 15 ? 'large' : 'small')) })
        .addSegment('some', { field: 'id', operator: 'LessThan', value: 10 })
        .addSegment('of today', { field: 'at', operator: 'Before', value: '2024-04-01' })
        .addHook('After', 'List', ({ timezone }) => void seen.push(timezone))
        .addChart('one', (_, chart) => chart.value(2))
        .addAction('Paint', {
          scope: 'Bulk',
          description: 'Paints them.',
          form: [
            { label: 'Color', type: 'Enum', enumValues: ['red', 'blue'], isRequired: true },
            { label: 'Shade', type: 'String', widget: 'Dropdown', options: (_, search) => (search ? [`${search} 1`, `${search} 2`] : ['pale']), search: 'dynamic' },
            { label: 'Layers', type: 'Number', widget: 'NumberInput', min: 1, max: 3, defaultValue: 2 },
            { label: 'Note', type: 'String', value: ({ hasFieldChanged, formValues }) => (hasFieldChanged('Color') ? `now ${formValues.Color}` : undefined) },
          ],
          execute: async ({ getRecordIds, formValues }, result) => {
            seen.push([await getRecordIds(), formValues.Color, formValues.Layers]);
            return result.success('x'.repeat(20_000), { html: '<b>Dry</b> it', invalidated: ['things', 'things', 'nowhere', 'shelves'] });
          },
        })
        .addAction('Sweep', { scope: 'Global', execute: (_, result) => result.error('No broom.', { html: '<i>None</i>' }) }),
    ),
); // biome-ignore format: a table

// biome-ignore lint/suspicious/noExplicitAny: JSON that the tests compare.
async function ask(name: string, given: Record<string, unknown> = {}): Promise<any> {
  const answer = await place.tool(name, given);
  return 'json' in answer ? answer.json : String(answer.error ?? JSON.stringify(answer));
}
const list = (more: object = {}) => ask('list', { collectionName: 'things', fields: ['id'], ...more });
const ids = async (more: object = {}) => {
  const answer = await list(more);
  return answer.rows?.flat() ?? answer.split(':')[0];
};

test('list: a page has 15 records by default, or as many as requested up to the limit; pages start at 1; other members are refused', async () => {
  const size = async (pagination: unknown) => {
    const answer = await list({ pagination });
    return answer.rows?.length ?? answer;
  };
  expect([await size(undefined), await size({ size: 1 }), await size({ size: 1000 }), await size({ size: '2' }), await size('{"size":3}'), await size({ number: 2 })]).toEqual([15, 1, 30, 2, 3, 15]);
  expect([await ids({ pagination: { size: 2, number: 1 } }), await ids({ pagination: { size: 2, number: 2 } }), await ids({ pagination: { size: 29, number: 2 } }), await ids({ pagination: { size: 30, number: 2 } })]).toEqual([[1, 2], [3, 4], [30], []]);
  for (const wrong of [{ size: 1001 }, { size: 0 }, { size: -1 }, { size: 1.5 }, { number: 0 }, { size: 'many' }, { size: 2, offset: 3 }])
    expect(await size(wrong), JSON.stringify(wrong)).toMatch(/^INVALID_ARGUMENT: (pagination|offset)/);
}); // biome-ignore format: short

test('list: fields once each in order, also as a string; a sort in each notation; a trimmed search; both formats', async () => {
  const sorted = async (sort: unknown) => (await list({ sort, pagination: { size: 3 } })).rows?.flat();
  expect([
    (await list({ fields: ['name', 'id', 'name', ' id '] })).columns,
    (await list({ fields: 'name, id' })).columns,
    (await list({ fields: 'name' })).columns,
    (await list({ fields: [] })).columns.length,
    await Promise.all(['-id', 'id desc', 'id DESC', 'id Descending', { id: 'DESC' }, { field: 'id', ascending: false }, [{ field: 'id', ascending: 'false' }], [['id', 'desc']], '[{"field":"id","ascending":false}]'].map(sorted)),
    await Promise.all(['id', '+id', 'id asc', { field: 'id' }, { field: 'id', ascending: true }, 'shelf_id,id'].map(async (sort) => (await sorted(sort))?.[0])),
    [await ids({ search: ' thing 7 ' }), await ids({ search: '   ', pagination: { size: 1 } })],
  ]).toEqual([['name', 'id'], ['name', 'id'], ['name'], 6, Array(9).fill([30, 29, 28]), Array(6).fill(1), [[2, 7, 17, 27], [1]]]);
  const records = await list({ format: 'records', fields: ['id', 'shelf:name', 'n'], pagination: { size: 1 } });
  expect([records, (await list({ format: 'Table' })).columns, await list({ format: 'csv' })]).toEqual([
    { records: [{ id: 1, shelf: { name: 'high' }, n: 0 }], hasMore: true, nextCursor: expect.any(String) },
    ['id'],
    expect.stringMatching(/^INVALID_ARGUMENT: format: send 'table' or 'records'/),
  ]);
}); // biome-ignore format: short

test('list: the timezone of the argument or the profile; a cursor continues only the same request; the count is of all pages', async () => {
  seen.length = 0;
  const zoned = [];
  for (const timezone of ['Pacific/Auckland', undefined, 'UTC']) zoned.push((await ids({ segment: 'of today', pagination: { size: 30 }, timezone })).length);
  expect([zoned, seen]).toEqual([[15, 15, 30], ['Pacific/Auckland', 'Europe/Paris', 'UTC']]);
  const page = await list({ sort: '-n', pagination: { size: 2 }, enableCount: true, filters: { field: 'n', operator: 'Present' } });
  const next = await list({ sort: '-n', pagination: { size: 2 }, cursor: page.nextCursor, filters: { field: 'n', operator: 'Present' } });
  const all = await ids({ sort: '-n', pagination: { size: 4 }, filters: { field: 'n', operator: 'Present' } });
  expect([[...page.rows.flat(), ...next.rows.flat()], page.totalCount, page.hasMore, 'totalCount' in next]).toEqual([all, 29, true, false]);
  expect([await list({ sort: 'n', cursor: page.nextCursor }), await list({ cursor: 'x' }), await list({ timezone: 'Mars/Base' }), await list({ segment: 'Some' }), await list({ colour: 3 })]).toEqual([
    ...[expect.stringMatching(/cursor/), expect.stringMatching(/cursor/), expect.stringMatching(/timezone|zone/), expect.stringMatching(/^UNKNOWN_SEGMENT/), expect.stringMatching(/^INVALID_ARGUMENT: colour: unknown argument/)],
  ]);
  const last = await list({ pagination: { size: 30 } });
  expect([last.hasMore, 'nextCursor' in last, await ids({ segment: 'some', pagination: { size: 5, number: 2 } })]).toEqual([false, false, [6, 7, 8, 9]]);
}); // biome-ignore format: short

test('listRelated: with a segment, a filter, a search and their count; of one existing record; a to-one relation is refused', async () => {
  const related = (more: object = {}, relationName = 'things', parentRecordId: unknown = 1) => ask('listRelated', { collectionName: 'shelves', relationName, parentRecordId, fields: ['id'], ...more });
  expect([
    await related({ segment: 'some', enableCount: true }),
    await related({ filters: { field: 'n', operator: 'GreaterThan', value: 20 }, enableCount: true, pagination: { size: 1 } }),
    await related({ search: 'thing 7', enableCount: true }),
    (await related({ enableCount: true, pagination: { size: 2, number: 2 }, sort: '-id' })),
    await related({ enableCount: true }, 'things', '4'),
  ]).toMatchObject([
    { rows: [[1], [4], [7]], totalCount: 3 },
    { totalCount: expect.any(Number), hasMore: true },
    { rows: [[7]], totalCount: 1 },
    { rows: [[22], [19]], totalCount: 10, hasMore: true },
    { rows: [], totalCount: 0, hasMore: false },
  ]);
  const part = await ask('listRelated', { collectionName: 'things', relationName: 'parts', parentRecordId: [1], fields: ['word'] });
  expect([part.rows, await related({}, 'things', 99), await related({}, 'nothing'), await ask('listRelated', { collectionName: 'things', relationName: 'shelf', parentRecordId: 1 }), await related({}, 'things', null), await related({}, 'things', [1, 2])]).toEqual([
    [['a'], ['b']],
    ...[/^RECORD_NOT_FOUND/, /^UNKNOWN_RELATION/, /to one|leads to one/, /^INVALID_ARGUMENT: parentRecordId: send the id/, /parentRecordId/].map((one) => expect.stringMatching(one)),
  ]);
}); // biome-ignore format: short

test('describeCollection: the kind and limits of a collection: views, search, count, enums, charts, actions, ids; in full rights and operators', async () => {
  const index = await ask('describeCollection');
  const [thingsOf, quiet, few, parts] = await Promise.all(['things', 'quiet', 'few', 'parts'].map((collectionName) => ask('describeCollection', { collectionName })));
  expect([index.collections.few, index.collections.things.split(' ').sort(), index.charts]).toEqual([expect.stringMatching(/^view/), ['marks', 'parts', 'shelf'], ['whole']]);
  expect([thingsOf.fields.size, thingsOf.charts, thingsOf.actions, thingsOf.segments, thingsOf.key, 'ids' in thingsOf]).toEqual(['Enum(small|large)? ro unsortable', ['one'], { Paint: 'bulk form', Sweep: 'global' }, ['some', 'of today'], 'id', false]);
  expect([quiet.searchable, quiet.countable, 'searchable' in thingsOf, 'countable' in thingsOf, few.kind, parts.key, parts.ids]).toEqual([false, false, false, false, 'view', ['thing_id', 'part'], 'thing_id|part']);
  const full = await ask('describeCollection', { collectionName: 'things', detail: 'FULL' });
  expect([full.permissions, full.operators.Number.includes('GreaterThan'), full.actions.Paint]).toEqual(['read add edit delete', true, 'bulk form: Paints them.']);
  expect([await ask('describeCollection', { collectionName: ' things ' }).then(({ name }) => name), await ask('describeCollection', { collectionName: 'things', detail: 'all' }), await ask('describeCollection', { colour: 'things' })]).toEqual(['things', expect.stringMatching(/^INVALID_ARGUMENT: detail/), expect.stringMatching(/^INVALID_ARGUMENT: colour/)]);
}); // biome-ignore format: short

test('create, update, delete: one or several records, ids in each notation; dry runs; empty, duplicate and long arguments are refused', async () => {
  const create = (more: object) => ask('create', { collectionName: 'shelves', ...more });
  const dry = await create({ attributes: [{ id: 50, name: 'a' }, { id: 51, name: 'b' }], dryRun: true });
  expect([dry.count, dry.changes.map(({ fields }: { fields: { name: object } }) => fields.name), (await ask('list', { collectionName: 'shelves', fields: ['id'] })).rows.length]).toEqual([2, [{ before: null, after: 'a' }, { before: null, after: 'b' }], 4]);
  const made = await create({ attributes: [{ id: 50, name: 'a' }, { id: 51, name: 'b' }] });
  expect([made.count, made.ids, made.rows.length, await create({ attributes: '{"id":52,"name":"c"}' }).then(({ ids }) => ids)]).toEqual([2, ['50', '51'], 2, ['52']]);
  const keyed = async (length: number) => create({ attributes: { id: 100 + length, name: 'k' }, idempotencyKey: 'k'.repeat(length) });
  expect([(await keyed(200)).ids, await keyed(201), await create({ attributes: [] }), await create({ attributes: 'a' }), await create({}), await create({ attributes: [{ id: 60, name: 'x' }, { id: 61 }] })]).toEqual([['300'], ...[/idempotencyKey: at most 200/, /attributes|INVALID/, /attributes/, /attributes/, /name/].map((one) => expect.stringMatching(one))]);
  const update = (more: object) => ask('update', { collectionName: 'shelves', attributes: { name: 'z' }, ...more });
  expect([
    await update({ recordId: 50 }).then(({ ids }) => ids), await update({ recordId: '50' }).then(({ ids }) => ids), await update({ recordId: [50, '51'] }).then(({ ids }) => ids), await update({ recordIds: ' [50, 51]' }).then(({ ids }) => ids),
    ...[await update({ recordId: 50, recordIds: [51] }), await update({ recordId: [] }), await update({}), await update({ recordId: null }), await update({ recordIds: [50, 99] })],
  ]).toEqual([['50'], ['50'], ['50', '51'], ['50', '51'], ...[/recordIds: same as 'recordId', which was also sent/, /recordId: send at least one id/, /at least one/, /at least one/, /^RECORD_NOT_FOUND.*99/].map((one) => expect.stringMatching(one))]);
  const parts = (more: object) => ask('delete', { collectionName: 'parts', ...more });
  const left = async () => (await ask('list', { collectionName: 'parts', fields: ['word'] })).rows.flat();
  expect([await parts({ recordIds: [[1, 2], '2|1'], dryRun: true }).then(({ count, dryRun }) => [count, dryRun]), await left(), await parts({ recordIds: ['1|2', '9|9'] }), await left(), await parts({ recordIds: [[1, 2], '2|1'] }).then(({ count }) => count), await left(), await parts({ recordIds: [] }), await parts({ recordIds: [1] })]).toEqual([
    [2, true], ['a', 'b', 'c'], expect.stringMatching(/^RECORD_NOT_FOUND/), ['a', 'b', 'c'], 2, ['a'], expect.stringMatching(/at least one/), expect.stringMatching(/part|key/),
  ]);
  await ask('delete', { collectionName: 'shelves', recordIds: [50, 51, 52, 300] });
}); // biome-ignore format: a table

test('associate, dissociate: one or several records, with and without dry run; other argument names are refused', async () => {
  const link = (tool: string, more: object) => ask(tool, { collectionName: 'shelves', relationName: 'things', parentRecordId: 4, ...more });
  const on = async () => (await ask('listRelated', { collectionName: 'shelves', relationName: 'things', parentRecordId: 4, fields: ['id'] })).rows.flat();
  const dry = await link('associate', { targetRecordId: [1, 2], dryRun: true });
  expect([dry.dryRun, dry.count, dry.changes.map(({ id, fields }: { id: string; fields: object }) => [id, fields]), await on()]).toEqual([true, 2, [['1', { shelf_id: { before: 1, after: 4 } }], ['2', { shelf_id: { before: 2, after: 4 } }]], []]);
  expect([(await link('associate', { targetRecordId: 1 })).count, (await link('associate', { targetRecordId: '[1,2]' })).count, await on(), (await link('dissociate', { targetRecordIds: [1, 2], dryRun: 'true' })).dryRun, await on()]).toEqual([1, 2, [1, 2], true, [1, 2]]);
  expect([await link('dissociate', { targetRecordIds: [1, 3] }), await on(), (await link('dissociate', { targetRecordIds: '1' })).count, await on(), await link('dissociate', {}), await link('associate', { targetRecordId: [] }), await link('associate', { targetRecordId: 1, dryRun: 'maybe' })]).toEqual([
    expect.stringMatching(/^RECORD_NOT_FOUND.*3/), [1, 2], 1, [2], expect.stringMatching(/targetRecordIds/), expect.stringMatching(/targetRecordId/), expect.stringMatching(/dryRun: send true or false/),
  ]);
  await link('dissociate', { targetRecordIds: [2] });
}); // biome-ignore format: a table

test('getActionForm: current values, defaults, missing fields and errors; the effect of a change; options of a search', async () => {
  const form = (more: object = {}) => ask('getActionForm', { collectionName: 'things', actionName: 'Paint', recordIds: [1], ...more });
  const [plain, sent, changed, found] = [await form(), await form({ values: { Color: 'green', Layers: 9 } }), await form({ values: { Color: 'red' }, changedField: 'Color' }), await form({ searches: { Shade: 'sea' } })];
  expect([plain.description, plain.fields.Color, plain.fields.Layers.value, plain.missing, plain.canExecute, 'problems' in plain]).toEqual(['Paints them.', { type: 'Enum', required: true, reload: true, values: ['red', 'blue'] }, 2, ['Color'], false, false]);
  expect([Object.keys(sent.problems), sent.canExecute, (await form({ values: { Layers: 9, Color: 'red' } })).problems]).toEqual([['Color', 'Layers'], false, { Layers: expect.stringContaining('up to 3') }]);
  expect([changed.fields.Note.value, changed.canExecute, (await form({ values: { Color: 'red' } })).fields.Note.value, found.fields.Shade.options, plain.fields.Shade.options]).toEqual(['now red', true, undefined, ['sea 1', 'sea 2'], ['pale']]);
  expect([await form({ actionName: 'paint' }), await form({ recordIds: [99] }), await form({ values: { Colour: 'red' } }), await form({ searches: { Note: 'x' } })].map(String)).toEqual([expect.anything(), expect.stringMatching(/RECORD_NOT_FOUND|99/), expect.anything(), expect.stringMatching(/searches|options/)]);
}); // biome-ignore format: short

test('executeAction: a dry run only checks; invalid calls run nothing; the result is cut, and names the visible changes', async () => {
  const run = (more: object = {}, actionName = 'Paint') => ask('executeAction', { collectionName: 'things', actionName, ...more });
  seen.length = 0;
  const dry = [await run({ recordIds: [1, 2], values: { Color: 'red' }, dryRun: true }), await run({ recordIds: [1], values: { Color: 'red' }, dryRun: 'true' })];
  expect([dry.map(({ dryRun, records }) => [dryRun, records]), seen.filter(Array.isArray)]).toEqual([[[true, 2], [true, 1]], []]);
  const refused = [await run({ recordIds: [1], values: { Color: 'green' } }), await run({ recordIds: [1] }), await run({ values: { Color: 'red' } }), await run({ recordIds: [], values: { Color: 'red' } }), await run({ recordIds: [1, 99], values: { Color: 'red' } }), await run({}, 'Paint it')];
  expect([refused.map((one) => String(one).split(':')[0]), seen.filter(Array.isArray)]).toEqual([['INVALID_FORM', 'INVALID_FORM', expect.any(String), expect.any(String), 'RECORD_NOT_FOUND', 'UNKNOWN_ACTION'], []]);
  const done = await run({ recordIds: [3, '4'], values: '{"Color":"blue"}' });
  expect([done.result, done.message.length < 20_000, done.text, done.changed, seen.filter(Array.isArray)]).toEqual(['success', true, 'Dry it', ['things', 'nowhere', 'shelves'], [[['3', '4'].map(Number), 'blue', 2]]]);
  expect(await run({}, 'Sweep')).toMatch(/No broom\.[\s\S]*None/);
}); // biome-ignore format: short

test('describeCollection: required fields have a mark, optional ones do not; a nested-write relation, and its key in full; one segment', async () => {
  const [marks, full] = await Promise.all([{ collectionName: 'marks' }, { collectionName: 'marks', detail: 'full' }].map((given) => ask('describeCollection', given)));
  expect([marks.fields, marks.relations, marks.segments, marks.actions, full.relations]).toEqual([
    { id: expect.stringMatching(/^Number/), word: 'String!', state: 'String', long: 'String?', thing_id: 'Number?' },
    { thing: 'one things (nested writes)' },
    ['lone'],
    { Tag: 'single form' },
    { thing: 'one things by thing_id (nested writes)' },
  ]);
}); // biome-ignore format: short

test('list, listRelated: many fields, empty names, a search in relations, and the rest of a long cell, which must be listed', async () => {
  const marks = (more: object) => ask('list', { collectionName: 'marks', ...more });
  const rest = await marks({ fields: ['long'], cells: { long: { from: 5990 } } });
  expect([
    (await list({ fields: ['id', 'name', 'n', 'at', 'shelf_id', 'size', 'shelf:id', 'shelf:name'] })).columns.length,
    (await list({ fields: ['', ' ', 'id'] })).columns,
    (await marks({ search: 'thing', fields: ['id'] })).rows,
    (await marks({ search: 'thing', fields: ['id'], shouldSearchInRelation: true })).rows,
    (await ask('listRelated', { collectionName: 'things', relationName: 'marks', parentRecordId: 7, search: 'thing', shouldSearchInRelation: 'true', fields: ['id'] })).rows,
    JSON.stringify(rest.rows).includes('ababababab'),
    JSON.stringify(rest.rows).length < 100,
    (await marks({ fields: ['long'], cells: { long: 5990 } })).rows,
    await marks({ fields: ['id'], cells: { long: 2 } }),
    await marks({ fields: ['long'], cells: { long: { to: 2 } } }),
  ]).toEqual([8, ['id'], [], [[1]], [[1]], true, true, rest.rows, ...[/cells\.long: 'long' is not shown/, /cells\.long/].map((one) => expect.stringMatching(one))]);
}); // biome-ignore format: short

test('getActionForm: texts and fields of a page; read-only fields; every option, as its value if that is the label', async () => {
  const form = await ask('getActionForm', { collectionName: 'marks', actionName: 'Tag', recordIds: [1] });
  expect([form.notes, form.fields.Fixed, form.fields.Kind.options.length, form.fields.Kind.options.slice(0, 2)]).toEqual([['Read this'], { type: 'String', readOnly: true, value: 'f' }, 62, [{ value: 1, label: 'one' }, 2]]);
}); // biome-ignore format: short

test('executeAction: a global action takes no records, and the error says so', async () => {
  expect([await ask('executeAction', { collectionName: 'things', actionName: 'Sweep', recordIds: [1] }), await ask('getActionForm', { collectionName: 'things', actionName: 'Sweep', recordIds: [1] }), await ask('getActionForm', { collectionName: 'things', actionName: 'Sweep', recordIds: [] }).then(({ canExecute }) => canExecute)]).toEqual([
    ...Array(2).fill(expect.stringMatching(/^INVALID_ARGUMENT: recordIds: .*global action/)),
    true,
  ]);
}); // biome-ignore format: short
