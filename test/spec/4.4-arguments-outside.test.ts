// Every argument of the ten tools (behaviour 4.4): the values that it refuses, with its name in the error, and the
// spellings that it takes; and what the list of tools says of each.
import { describe, expect, test } from 'vitest';
import { ask } from '../app/call.ts';
import { mounts, tokenOf } from '../app/mounts.ts';
import { serveOutside } from './outside.ts';

const tables = [
  'CREATE TABLE shelves (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL)',
  "INSERT INTO shelves VALUES (1, 'high'), (2, 'low')",
  'CREATE TABLE things (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, shelf_id INTEGER REFERENCES shelves(id))',
  "INSERT INTO things VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', NULL)",
  'CREATE TABLE pairs (one INTEGER, other VARCHAR(9), word VARCHAR(9), PRIMARY KEY (one, other))',
  "INSERT INTO pairs VALUES (1, 'x', 'w'), (1, 'a|b', 'v')",
];
const place = serveOutside(tables, (agent) =>
  agent.customizeCollection('things', (each) =>
    each
      .addAction('Paint it', { scope: 'Bulk', form: [{ label: 'Color', type: 'String' }, { label: 'City', type: 'String', widget: 'Dropdown', search: 'dynamic', options: (_, text) => [`${text}-1`] }], execute: async (context, result) => result.success(`${(await context.getRecordIds()).join()} ${context.formValues.Color ?? 'bare'}`) })
      .addAction('Sweep', { scope: 'Global', execute: (_, result) => result.success('swept') })
      .addSegment('odd', { field: 'id', operator: 'NotEqual', value: 2 }),
  ),
); // biome-ignore format: short

/** The JSON, or the text of the error. */
async function call(name: string, given: Record<string, unknown>): Promise<unknown> {
  const answer = await place.tool(name, given);
  return 'json' in answer ? answer.json : String(answer.error ?? JSON.stringify(answer));
}

const action = { collectionName: 'things', actionName: 'Paint it', recordIds: [1] };
const link = { collectionName: 'shelves', relationName: 'things', parentRecordId: 2 };
/** Right arguments of each tool, which write nothing, and those that it needs. */
const tools: Readonly<Record<string, readonly [given: Record<string, unknown>, required: readonly string[]]>> = {
  describeCollection: [{ collectionName: 'things' }, []],
  list: [{ collectionName: 'things' }, ['collectionName']],
  listRelated: [{ ...link, parentRecordId: 1 }, ['collectionName', 'relationName', 'parentRecordId']],
  create: [{ collectionName: 'shelves', attributes: { id: 9, name: 'n' }, dryRun: true }, ['collectionName', 'attributes']],
  update: [{ collectionName: 'shelves', recordId: 1, attributes: { name: 'n' }, dryRun: true }, ['collectionName', 'recordId', 'attributes']],
  delete: [{ collectionName: 'things', recordIds: [3], dryRun: true }, ['collectionName', 'recordIds']],
  associate: [{ ...link, targetRecordId: 3, dryRun: true }, ['collectionName', 'relationName', 'parentRecordId', 'targetRecordId']],
  dissociate: [{ ...link, parentRecordId: 1, targetRecordIds: [1], dryRun: true }, ['collectionName', 'relationName', 'parentRecordId', 'targetRecordIds']],
  getActionForm: [action, ['collectionName', 'actionName']],
  executeAction: [{ ...action, dryRun: true }, ['collectionName', 'actionName']],
}; // biome-ignore format: a table

const texts: readonly unknown[] = [[], {}, ['things']];
const ids: readonly unknown[] = [{}, true, [[]], [{}], [null], ['']];
const flags: readonly unknown[] = ['yes', 2, [], {}, 'x', ''];
const objects: readonly unknown[] = ['x', 5, [], [1], true];
const counts: readonly unknown[] = [{ size: 0 }, { size: -1 }, { size: 1.5 }, { size: 'x' }, { size: true }, { number: 0 }, { number: 'x' }, { number: 2.5 }, { colour: 1 }, 5, 'x', []]; // biome-ignore format: short
const listing: Readonly<Record<string, readonly unknown[]>> = {
  segment: texts, search: [[], {}], shouldSearchInRelation: flags, enableCount: flags, distinct: flags, cursor: [[], {}], timezone: [[], {}], filters: ['x', 5, true, [5]],
  sort: [5, true, {}, [5], [{}], { field: 5 }, { field: 'id', ascending: 'up' }, { field: 'id', ascending: 2 }, { field: 'id', ascending: true, direction: 'desc' }],
  fields: [5, true, {}, [5], [null]], pagination: counts, format: ['csv', 'xml', '', [], 5], cells: [5, [], { name: -1 }, { name: 'x' }, { name: { to: 1 } }, { name: { from: 1, to: 2 } }],
}; // biome-ignore format: a table
const ofAction = { recordIds: [{}, true, [{}], [null]], values: objects, searches: objects };
/** Values that each argument refuses. */
const refused: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> = {
  describeCollection: { search: [[], {}, 'x'.repeat(201)], detail: ['most', '', [], 5], collectionName: [{}, [5], [null]] },
  list: { collectionName: texts, ...listing },
  listRelated: { collectionName: texts, relationName: texts, parentRecordId: [...ids.slice(0, 5), [[1]]], ...listing },
  create: { collectionName: texts, attributes: ['x', 5, true, [5], ['x'], [[]]], dryRun: flags, idempotencyKey: [[], {}, 'k'.repeat(201)] },
  update: { collectionName: texts, recordId: [...ids, []], attributes: objects, dryRun: flags },
  delete: { collectionName: texts, recordIds: [...ids, []], dryRun: flags },
  associate: { collectionName: texts, relationName: texts, parentRecordId: ids.slice(0, 5), targetRecordId: [...ids, []], dryRun: flags },
  dissociate: { collectionName: texts, relationName: texts, parentRecordId: ids.slice(0, 5), targetRecordIds: [...ids, []], dryRun: flags },
  getActionForm: { collectionName: texts, actionName: texts, ...ofAction, changedField: [[], {}] },
  executeAction: { collectionName: texts, actionName: texts, ...ofAction, dryRun: flags, idempotencyKey: [[], {}, 'k'.repeat(201)] },
}; // biome-ignore format: a table

describe('4.4', () => {
  test.each(Object.keys(tools))('%s: each wrong value of an argument is refused with its name, and each missing one', async (name) => {
    const [given, required] = tools[name]!;
    expect([name, await call(name, given)]).toEqual([name, expect.any(Object)]);
    for (const [argument, values] of Object.entries(refused[name]!))
      for (const value of values) {
        const about = `${name} ${argument} ${JSON.stringify(value)}`;
        const answer = await call(name, { ...given, [argument]: value });
        expect([about, `${answer}`.slice(0, 17 + argument.length)]).toEqual([about, `INVALID_ARGUMENT: ${argument}`.slice(0, 17 + argument.length)]);
      }
    for (const argument of required)
      for (const value of [undefined, null, '', ' ']) {
        if (value === ' ' && !/Name$/.test(argument)) continue;
        const about = `${name} ${argument} ${JSON.stringify(value)}`;
        expect([about, await call(name, { ...given, [argument]: value })]).toEqual([about, expect.stringMatching(new RegExp(`^INVALID_ARGUMENT: ${argument}`))]);
      }
  }); // biome-ignore format: short

  test.each(Object.keys(tools))('%s: null counts as absent; other arguments are unknown, with near names', async (name) => {
    const [given, required] = tools[name]!;
    const optional = Object.keys(refused[name]!).filter((argument) => !required.includes(argument) && !(argument in given));
    expect(await call(name, { ...given, ...Object.fromEntries(optional.map((argument) => [argument, null])) })).toEqual(await call(name, given));
    for (const argument of ['nothing', 'colour', 'constructor', 'x'])
      expect([argument, await call(name, { ...given, [argument]: 1 })]).toEqual([argument, expect.stringContaining(`${argument}: unknown argument. `)]);
    // Another spelling of an argument is the argument, but not beside it.
    expect(await call(name, { ...given, COLLECTIONNAME: 'x', collectionName: 'things' })).toMatch(/^INVALID_ARGUMENT: COLLECTIONNAME: same as 'collectionName', which was also sent/);
  }); // biome-ignore format: short

  test.each(['list', 'listRelated', 'create', 'update', 'delete', 'associate', 'dissociate', 'getActionForm', 'executeAction'])('%s: names are trimmed, and found in another case; unknown ones are refused with near names', async (name) => {
    const [given] = tools[name]!;
    const collection = `${given.collectionName}`;
    const right = await call(name, given);
    const same = async (more: Record<string, unknown>) => expect([name, more, await call(name, { ...given, ...more })]).toEqual([name, more, right]);
    await same({ collectionName: ` ${collection} ` });
    if ('relationName' in given) await same({ relationName: '\tthings\n' });
    if ('actionName' in given) await same({ actionName: ' Paint it ' });
    if ('dryRun' in given) for (const dryRun of ['true', 1, ' true ']) await same({ dryRun });
    await same({ collectionName: collection.toUpperCase() });
    expect(await call(name, { ...given, collectionName: 'nowhere' })).toMatch(/^UNKNOWN_COLLECTION: .*'nowhere'/);
    if ('relationName' in given) expect(await call(name, { ...given, relationName: 'nothing' })).toMatch(/^UNKNOWN_RELATION: .*'nothing'/);
    if ('actionName' in given) expect(await call(name, { ...given, actionName: 'Paint' })).toMatch(/^UNKNOWN_ACTION: .*Near: Paint it/);
  }); // biome-ignore format: short

  test('update, delete, associate, dissociate, listRelated: one id, a list, a composite key and JSON text mean the same; both argument names together are refused', async () => {
    const changed = async (name: string, more: Record<string, unknown>) => {
      const answer = (await call(name, { ...tools[name]![0], ...more })) as { changes?: { id: string }[]; rows?: unknown[] };
      return answer.changes?.map(({ id }) => id) ?? answer.rows?.length ?? answer;
    };
    for (const recordId of [1, '1', [1], ['1'], '[1]', '["1"]', ' [1] ']) expect([recordId, await changed('update', { recordId })]).toEqual([recordId, ['1']]);
    for (const recordIds of [3, '3', [3], '[3]']) expect([recordIds, await changed('delete', { recordIds })]).toEqual([recordIds, ['3']]);
    for (const parentRecordId of [1, '1', [1], '[1]']) expect([parentRecordId, await changed('listRelated', { parentRecordId })]).toEqual([parentRecordId, 2]);
    for (const recordId of ['1|x', [[1, 'x']], '[[1,"x"]]', ['1|x']]) expect([recordId, await changed('update', { collectionName: 'pairs', recordId, attributes: { word: 'n' } })]).toEqual([recordId, ['1|x']]);
    expect(await changed('update', { collectionName: 'pairs', recordId: [[1, 'a|b']], attributes: { word: 'n' } })).toEqual(['1|a\\|b']);
    expect([await changed('update', { recordIds: [1] }), await changed('delete', { recordId: 3 }), await changed('associate', { targetRecordIds: [3] }), await changed('dissociate', { targetRecordId: 1 })]).toEqual(['recordIds', 'recordId', 'targetRecordIds', 'targetRecordId'].map((argument) => expect.stringContaining(argument)));
  }); // biome-ignore format: short

  test('list, listRelated: spellings of sort, page, format and flags; an empty argument is absent; both tools have the same', async () => {
    const shelf = { collectionName: 'shelves', relationName: 'things', parentRecordId: 1, fields: ['id'] };
    const rows = async (more: Record<string, unknown>) => {
      const [all, related] = [await call('list', { collectionName: 'things', fields: ['id'], filters: { field: 'shelf_id', operator: 'Equal', value: 1 }, ...more }), await call('listRelated', { ...shelf, ...more })] as { rows?: unknown[][]; hasMore?: boolean; totalCount?: number }[];
      expect([more, related!.rows, related!.hasMore, related!.totalCount]).toEqual([more, all!.rows, all!.hasMore, all!.totalCount]);
      return all!.rows?.flat();
    };
    for (const sort of ['-id', 'id desc', 'id:desc', 'id DESCENDING', { id: 'desc' }, { id: -1 }, { id: false }, ['id', 'desc'].length && [['id', 'desc']], { field: 'id', ascending: false }, { field: 'id', ascending: 'false' }, { field: 'id', ascending: 0 }, { field: 'id', direction: 'desc' }, { field: 'id', desc: true }, '[{"field":"id","ascending":false}]', [' -id ']]) expect([sort, await rows({ sort })]).toEqual([sort, [2, 1]]);
    for (const sort of ['id', '+id', 'id asc', { field: 'id' }, { field: 'id', ascending: null }, { field: 'id', ascending: 1 }, { id: 'ASC' }, { field: 'id', desc: false }, [], '', null]) expect([sort, await rows({ sort })]).toEqual([sort, [1, 2]]);
    for (const pagination of [{ size: 1, number: 2 }, { size: '1', number: '2' }, '{"size":1,"number":2}']) expect([pagination, await rows({ pagination })]).toEqual([pagination, [2]]);
    for (const more of [{ segment: '' }, { search: '' }, { search: '  ' }, { cursor: '' }, { timezone: '' }, { pagination: {} }, { format: ' TABLE ' }, { enableCount: 'false' }, { enableCount: 0 }, { shouldSearchInRelation: false }]) expect([more, await rows(more)]).toEqual([more, [1, 2]]);
    for (const enableCount of [true, 'true', 1]) expect(await rows({ enableCount, pagination: { size: 1 } })).toEqual([1]);
    expect([await rows({ segment: 'odd' }), await rows({ search: ' b ' }), await rows({ pagination: { size: 2, number: 2 } })]).toEqual([[1], [2], []]);
  }); // biome-ignore format: short

  test('getActionForm, executeAction: values and searches as text, no records for a global action, and 0 records in a dry run', async () => {
    const run = (more: object) => call('executeAction', { ...action, ...more });
    const form = (more: object) => call('getActionForm', { ...action, ...more });
    expect([await run({ recordIds: '[1,"2"]', values: '{"Color":"red"}' }), await run({ values: null }), await run({ dryRun: true }), await run({ actionName: 'Sweep', recordIds: undefined, dryRun: true }), await run({ actionName: 'Sweep', recordIds: [] }), await run({ actionName: 'Sweep', recordIds: [1] })]).toMatchObject([
      { message: '1,2 red' }, { message: '1 bare' }, { dryRun: true, records: 1 }, { dryRun: true }, { message: 'swept' }, expect.stringMatching(/^INVALID_ARGUMENT: recordIds: 'Sweep' is a global action/),
    ]);
    expect(await run({ actionName: 'Sweep', recordIds: undefined, dryRun: true })).not.toHaveProperty('records');
    for (const searches of [{ City: 'par' }, '{"City":"par"}']) expect(await form({ searches })).toMatchObject({ fields: { City: { options: ['par-1'] } } });
    expect(await form({ searches: { City: 5 } })).toMatchObject({ fields: { City: { options: ['5-1'] } } });
    expect([await form({ searches: { Town: 'x' } }), await form({ searches: { Color: 'x' } }), await form({ actionName: 'Sweep' })].map(String)).toEqual([expect.stringMatching(/searches|Town/), expect.stringMatching(/searches|Color/), expect.stringMatching(/^INVALID_ARGUMENT: recordIds/)]);
  }); // biome-ignore format: short

  test('describeCollection: one name, a list, names with commas, a pattern, and words; each detail in any case', async () => {
    const names = async (given: object) => {
      const answer = (await call('describeCollection', { ...given })) as { name?: string; collections?: object };
      return answer.name ?? (answer.collections ? Object.keys(answer.collections) : answer);
    };
    expect([await names({}), await names({ collectionName: '' }), await names({ collectionName: ' things ' }), await names({ collectionName: ['things'] }), await names({ collectionName: 'things, shelves' }), await names({ collectionName: '["shelves","things"]' }), await names({ collectionName: '*s' }), await names({ collectionName: 'TH*' }), await names({ collectionName: 'x*' }), await names({ search: 'shelf' })]).toEqual([
      ['pairs', 'shelves', 'things'], ['pairs', 'shelves', 'things'], 'things', 'things', ['things', 'shelves'], ['shelves', 'things'], ['pairs', 'shelves', 'things'], ['things'], expect.stringMatching(/^UNKNOWN_COLLECTION/), expect.any(Array),
    ]);
    const { json: full } = await place.tool('describeCollection', { collectionName: 'pairs', detail: 'full' });
    expect([full.key, full.ids, 'permissions' in full, (await place.tool('describeCollection', { collectionName: 'pairs', detail: ' FULL ' })).json, 'permissions' in (await place.tool('describeCollection', { collectionName: 'pairs' })).json, (await place.tool('describeCollection', { collectionName: 'things' })).json.key]).toEqual([['one', 'other'], 'one|other', true, full, false, 'id']);
  }); // biome-ignore format: short

  test('describeCollection, list, listRelated, create, update, delete, associate, dissociate, getActionForm, executeAction: the list says what each needs and whether it writes', async () => {
    const mounted = await mounts[0]![1]();
    const { text } = await ask(mounted.mcpUrl, await tokenOf(mounted), 'tools/list', {});
    const listed = JSON.parse(text).result.tools as { name: string; title: string; inputSchema: { type: string; required?: string[]; properties: object }; annotations: Record<string, boolean> }[];
    const seen = Object.fromEntries(listed.map(({ name, title, inputSchema, annotations }) => [name, [title, inputSchema.required ?? [], Object.keys(inputSchema.properties).length, ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'].map((hint) => Number(annotations[hint])).join('')]]));
    const required = (name: string) => tools[name]![1];
    expect(Object.fromEntries(Object.keys(tools).filter((name) => name in seen).map((name) => [name, seen[name]]))).toEqual({
      describeCollection: ['Describe a collection', [], 3, '1010'],
      list: ['List records', required('list'), 14, '1010'],
      listRelated: ['List related records', required('listRelated'), 15, '1010'],
      create: ['Create a record', required('create'), 4, '0000'],
      update: ['Update records', required('update'), 4, '0110'],
      delete: ['Delete records', required('delete'), 3, '0110'],
      associate: ['Link records', required('associate'), 5, '0110'],
      dissociate: ['Unlink records', required('dissociate'), 5, '0110'],
    });
  }); // biome-ignore format: short
});
