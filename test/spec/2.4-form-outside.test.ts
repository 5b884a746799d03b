// Forms over HTTP, as front ends read them, and over MCP: every type, and the edge cases of each field property.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMemoryDataSource } from '../../src/index.ts';
import { shopTables } from '../agent/shop.ts';
import { emptyAgent } from '../app/agent.ts';
import { type Forms, openForms, shown } from './forms.ts';

const tables = [
  'CREATE TABLE cities (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL)',
  "INSERT INTO cities VALUES (1, 'Rome'), (2, 'Paris')",
  'CREATE TABLE seats (seat INTEGER NOT NULL, hall VARCHAR(5) NOT NULL, PRIMARY KEY (seat, hall))',
  "INSERT INTO seats VALUES (7, 'a|b')",
  'CREATE TABLE people (id INTEGER PRIMARY KEY, town VARCHAR(9) NOT NULL)',
  "INSERT INTO people VALUES (1, 'north'), (2, 'south')",
];
const more: Readonly<Record<string, object>> = {
  Enum: { enumValues: ['new', 'old'] },
  EnumList: { enumValues: ['new', 'old'] },
  Collection: { collectionName: 'cities' },
};
const uri = 'data:text/plain;name=a%20b.txt;base64,aGk=';
const file = { name: 'a b.txt', mimeType: 'text/plain', content: 'hi' };
const sendFile = "send a file as 'data:<media type>;name=<file name>;base64,<content>'";

interface Type {
  /** The field over HTTP. `mcp` has the properties over MCP, except the type. */
  readonly http: object;
  readonly mcp?: object;
  readonly taken: readonly (readonly [given: unknown, got?: unknown])[];
  readonly refused: readonly (readonly [given: unknown, problem: string])[];
}
const types: Readonly<Record<string, Type>> = {
  String: { http: { type: 'String' }, taken: [['é'], [12, '12'], [''], [' a '], [false, 'false'], ['x'.repeat(1000)]], refused: [[{}, 'send a string'], [['a'], 'send a string'], ['x'.repeat(1_000_001), 'send a string of at most 1000000 characters']] },
  Number: { http: { type: 'Number' }, taken: [['1.5', 1.5], [' 12 ', 12], [0], [-3]], refused: [['x', 'send a number'], ['12345678901234567890', 'send a number of at most 15 digits'], [true, 'send a number']] },
  Boolean: { http: { type: 'Boolean' }, taken: [[false], [true], ['true', true], ['false', false], ['TRUE', true], ['False', false]], refused: [['yes', 'send true or false'], ['1', 'send true or false'], [1, 'send true or false'], [0, 'send true or false'], [' true', 'send true or false']] },
  Date: { http: { type: 'Date' }, taken: [['2025-07-01', '2025-06-30T22:00:00.000Z'], ['2025-07-01T10:00', '2025-07-01T08:00:00.000Z'], ['2025-07-01T10:00:00Z', '2025-07-01T10:00:00.000Z']], refused: [['soon', "send a timestamp such as '2025-03-30T08:00:00Z'"]] },
  Dateonly: { http: { type: 'Dateonly' }, taken: [['2024-02-29'], [' 2024-02-29 ', '2024-02-29']], refused: ['2025-02-29', '2024-02-29T10:00:00Z', '2024-2-9', '29.02.2024', 20240229].map((day) => [day, "send a date such as '2025-03-30'"] as const) },
  Time: { http: { type: 'Time' }, taken: [['14:30', '14:30:00'], ['00:00:00'], [' 23:59:59 ', '23:59:59']], refused: ['25:00', '14', '14:60', 1430].map((time) => [time, "send a time such as '14:30:00'"] as const) },
  Enum: { http: { type: 'Enum', enums: ['new', 'old'] }, mcp: { values: ['new', 'old'] }, taken: [['old'], ['new']], refused: [['nw', 'send one of new, ...'], ['NEW', 'send one of new, ...'], ['zzzzzz', 'send one of new, old'], [['new', 'old'], 'send a string']] },
  EnumList: { http: { type: ['Enum'], enums: ['new', 'old'] }, mcp: { values: ['new', 'old'] }, taken: [[['old', 'new']], ['new', ['new']], [[]]], refused: [[['new', 'odl'], 'send some of old, ...']] },
  File: { http: { type: 'File' }, taken: [[uri, file], ['data:;base64,aGk=', { name: 'file', mimeType: 'application/octet-stream', content: 'hi' }], ['data:a/b;x=y;name=c;base64,', { name: 'c', mimeType: 'a/b', content: '' }]], refused: [['hi', sendFile], [[uri, uri], sendFile]] },
  FileList: { http: { type: ['File'] }, taken: [[[uri, uri], [file, file]], [uri, [file]], [[]]], refused: [[[uri, 3], `value 2: ${sendFile}`]] },
  Json: { http: { type: 'Json' }, taken: [[{ a: [1] }], ['{"a":[1]}', { a: [1] }], [[]]], refused: [['{a', 'send JSON: an object, a list, or a JSON string'], ['{"a":9007199254740993}', 'the number 9007199254740993 (at \'a\') cannot be represented exactly as a JSON number. Send its digits as a string: "9007199254740993".']] },
  Collection: { http: { type: 'Number', reference: 'cities.id' }, mcp: { idOf: 'cities' }, taken: [['1', [1]], [2, [2]], [[1], [1]]], refused: [['9', "send the id of a record of 'cities'"], [{}, 'send the id of a record'], [[1, 2], expect.stringContaining('send the id of a record') as never], [true, 'send the id of a record']] },
  NumberList: { http: { type: ['Number'] }, taken: [[[2, '1'], [2, 1]], [3, [3]], [[]], [[10, 9, 1.5], [10, 9, 1.5]], [[0, 0], [0, 0]]], refused: [[[1, 'x'], 'value 2: send a number']] },
  StringList: { http: { type: ['String'] }, taken: [[['b', 'a']], ['b', ['b']], [[]], [[''], ['']], [[1, true], ['1', 'true']]], refused: [[Array(10_001).fill('a'), 'send a list of at most 10000 values'], [['a', {}], 'value 2: send a string'], [['a', null, {}], 'value 2: send a string']] },
}; // biome-ignore format: a table

type Context = { readonly formValues: Record<string, unknown>; readonly caller: { readonly firstName: string } };
const all = ['Paris', 'Parma', 'Rome'];
const forms: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(Object.keys(types).map((type) => [type, [{ label: 'A', type, ...more[type] }]])),
  label: [{ label: 'First name', type: 'String' }, { label: 'Town', id: 'town', type: 'String' }],
  description: [
    { label: 'A', type: 'String', description: 'As in a passport' },
    { label: 'B', type: 'String', description: async ({ caller }: Context) => `for ${caller.firstName}` },
    { label: 'C', type: 'String' },
    { label: 'D', type: 'String', description: () => null },
  ],
  required: [
    { label: 'A', type: 'String', isRequired: true },
    { label: 'B', type: 'Enum', enumValues: ['x', 'y'], isRequired: ({ formValues }: Context) => formValues.A === 'b' },
    { label: 'C', type: 'StringList', isRequired: true, defaultValue: ['c'] },
    { label: 'D', type: 'Number', isRequired: false },
  ],
  zeros: [{ label: 'A', type: 'Number', isRequired: true }, { label: 'B', type: 'Boolean', isRequired: true }],
  readOnly: [
    { label: 'Open', type: 'Boolean' },
    { label: 'Total', type: 'Number', defaultValue: 7, isReadOnly: ({ formValues }: Context) => !formValues.Open },
    { label: 'Fixed', type: 'Number', defaultValue: 1, isReadOnly: true, isRequired: true },
  ],
  defaults: [
    { label: 'A', type: 'Number', defaultValue: 1 },
    { label: 'B', type: 'Number', defaultValue: async ({ formValues }: Context) => Number(formValues.A) + 1 },
    { label: 'C', type: 'Boolean', defaultValue: false },
    { label: 'D', type: 'Date', defaultValue: '2025-07-01' },
    { label: 'E', type: 'StringList', defaultValue: () => [] },
  ],
  values: [
    { label: 'Price', type: 'Number' },
    { label: 'Double', type: 'Number', value: ({ formValues }: Context) => Number(formValues.Price) * 2 },
    { label: 'Note', type: 'String', value: async ({ formValues }: Context) => (formValues.Double === 8 ? 'eight' : undefined) },
    { label: 'Unit', type: 'String', value: 'EUR' },
  ],
  enums: [
    { label: 'Land', type: 'String' },
    { label: 'City', type: 'Enum', enumValues: async ({ formValues }: Context) => (formValues.Land === 'fr' ? ['Paris'] : ['Rome']) },
  ],
  records: [
    { label: 'Kind', type: 'String' },
    { label: 'Seat', type: 'Collection', collectionName: 'seats' },
    { label: 'Who', type: 'Collection', collectionName: 'people' },
    { label: 'Any', type: 'Collection', collectionName: ({ formValues }: Context) => (formValues.Kind === 's' ? 'seats' : 'cities') },
  ],
  options: [
    { label: 'Land', type: 'String', widget: 'Dropdown', options: [{ label: 'France', value: 'fr' }, { label: 'None', value: null }], placeholder: 'Pick' },
    { label: 'City', type: 'StringList', widget: 'Dropdown', options: async ({ formValues }: Context) => (formValues.Land === 'fr' ? ['Paris', 'Lyon'] : ['Rome']) },
    { label: 'As', type: 'String', widget: 'TextInput', placeholder: ({ caller }: Context) => `as ${caller.firstName}` },
    { label: 'Bare', type: 'String', widget: 'TextInput' },
  ],
  search: [
    { label: 'Town', id: 'town', type: 'String', widget: 'Dropdown', search: 'static', options: all },
    { label: 'Shut', type: 'String', widget: 'Dropdown', search: 'disabled', options: all },
    { label: 'Plain', type: 'String', widget: 'Dropdown', options: all },
    {
      ...{ label: 'Found', type: 'Number', widget: 'Dropdown', search: 'dynamic' },
      options: ({ formValues }: Context, text: string | null) =>
        all.flatMap((label, value) => (text && label.startsWith(text) && formValues.town !== label ? [{ value, label }] : [])),
    },
  ],
  if: [
    { label: 'Kind', type: 'String' },
    { label: 'Why', type: 'String', isRequired: true, if: ({ formValues }: Context) => formValues.Kind === 'other' },
    { type: 'Layout', component: 'Row', if: async ({ formValues }: Context) => formValues.Why === 'row', fields: [{ label: 'In', type: 'String', defaultValue: 'in' }] },
  ],
}; // biome-ignore format: a table

let place: Forms;
beforeAll(async () => {
  place = await openForms(tables, forms, {
    people: { field: 'town', operator: 'Equal', value: '{{currentUser.tags.region}}' },
  });
});
afterAll(() => place?.stop());

describe('type', () => {
  test.each(Object.entries(types))(
    'type | %s | over HTTP and MCP',
    async (type, { http, mcp = {}, taken, refused }) => {
      const bare = { field: 'A', label: 'A', isRequired: false, isReadOnly: false, value: null };
      const { fields, ...rest } = await place.form(type);
      expect([await place.load(type), fields, rest]).toEqual([
        { A: { ...bare, ...http } },
        { A: { type, ...mcp } },
        { canExecute: true },
      ]);
      const outcomes = [];
      for (const [given] of [...taken, ...refused])
        outcomes.push(shown(((await place.submit(type, { A: given })) as { A: unknown }).A));
      expect(outcomes).toEqual([...taken.map(([given, got = given]) => got), ...refused.map(([, problem]) => problem)]);
      const [[first, got = first]] = taken as [readonly [unknown, unknown?]];
      const [[wrong, problem]] = refused as [readonly [unknown, string]];
      expect([
        { A: shown(((await place.execute(type, { values: { A: first } })) as { A: unknown }).A) },
        (await place.form(type, { values: { A: wrong } })).problems,
        [await place.submit(type, {}), await place.submit(type, { A: null })],
      ]).toEqual([{ A: got }, { A: problem }, [{}, { A: null }]]);
    },
  );

  test('type | Collection | a record outside the row scope is refused', async () => {
    expect([await place.submit('records', { Who: 2 }), await place.submit('records', { Who: 1 })]).toEqual([
      { Who: [2] },
      { Who: "send the id of a record of 'people'" },
    ]);
  });

  test('type | Collection | an id of several key columns is packed, and code gets a list', async () => {
    const { Seat, Any } = await place.load('records', { Kind: 's', Seat: '7|a\\|b' });
    expect([
      [Seat, Any],
      await place.submit('records', { Kind: 's', Seat: '7|a\\|b', Any: [7, 'a|b'] }),
      await place.submit('records', { Seat: '7|a|b' }),
    ]).toMatchObject([
      [{ type: 'String', value: '7|a\\|b' }, { type: 'String' }],
      { Seat: [7, 'a|b'], Any: [7, 'a|b'] },
      { Seat: expect.stringContaining('send') },
    ]);
  });
});

test('label: names the field, unless it has an id, and is shown to users', async () => {
  const told = await place.load('label');
  const { fields } = await place.form('label');
  expect([
    Object.entries(told).map(([id, { label }]) => [id, label]),
    fields,
    await place.submit('label', { 'First name': 'a', town: 'b' }),
    await place.submit('label', { Town: 'b' }),
  ]).toEqual([
    [['First name', 'First name'], ['town', 'Town']],
    { 'First name': { type: 'String' }, town: { type: 'String', label: 'Town' } },
    { 'First name': 'a', town: 'b' },
    { Town: 'there is no such field: send town' },
  ]); // biome-ignore format: short
});

test('description: a string or a function, and absent by default', async () => {
  const told = Object.values(await place.load('description'));
  const { fields } = await place.form('description');
  const texts = ['As in a passport', 'for Ada', undefined, undefined];
  expect([told.map(({ description }) => description), ['A', 'B', 'C', 'D'].map((id) => fields[id].description)]).toEqual([texts, texts]);
  expect(['description' in told[2]!, 'description' in told[3]!, 'description' in fields.D]).toEqual([false, false, false]);
}); // biome-ignore format: short

test('isRequired: null, an empty string and an empty list are missing, zero and false are not', async () => {
  const required = async (A: string) => Object.values(await place.load('required', { A })).map((field) => field.isRequired);
  expect([await required('a'), await required('b')]).toEqual([[true, false, true, false], [true, true, true, false]]);
  const { fields, missing, canExecute } = await place.form('required', { values: { A: '' } });
  expect([fields.A.required, fields.B.required, missing, canExecute]).toEqual([true, undefined, ['A'], false]);
  expect([
    await place.submit('required', { A: 'b', C: [] }),
    await place.submit('required', { A: '' }),
    await place.submit('required', { A: null }),
    await place.submit('required', { A: 'a' }),
    await place.submit('zeros', { A: 0, B: false }),
    (await place.form('zeros', { values: { A: 0, B: false } })).canExecute,
  ]).toEqual([
    { B: 'is required: send one of x, y', C: 'is required: send a list of strings' },
    { A: 'is required: send a string' },
    { A: 'is required: send a string' },
    { A: 'a', C: ['c'] },
    { A: 0, B: false },
    true,
  ]);
}); // biome-ignore format: short

test('isReadOnly: shown with its value, which may be sent back unchanged', async () => {
  const { Total, Fixed, Open } = await place.load('readOnly');
  const opened = await place.load('readOnly', { Open: true, Total: 8 });
  const { fields } = await place.form('readOnly', { values: { Total: 8 } });
  expect([Open?.isReadOnly, Total, Fixed, opened.Total, fields.Total]).toMatchObject([
    false,
    { isReadOnly: true, value: 7 },
    { isReadOnly: true, value: 1 },
    { isReadOnly: false, value: 8 },
    { readOnly: true, value: 7 },
  ]);
  const problem = 'is read-only: leave it out';
  expect([
    await place.submit('readOnly', { Total: 8 }),
    await place.submit('readOnly', { Total: '7' }),
    await place.submit('readOnly', { Open: true, Total: 8 }),
    await place.submit('readOnly', { Fixed: 2 }),
    await place.submit('readOnly', { Fixed: null }),
  ]).toEqual([{ Total: problem }, { Total: 7, Fixed: 1 }, { Open: true, Total: 8, Fixed: 1 }, { Fixed: problem }, { Total: 7, Fixed: 1 }]);
}); // biome-ignore format: short

test('defaultValue: used while no value was sent, so that null is kept', async () => {
  const values = async (sent?: object) => Object.values(await place.load('defaults', sent as never)).map(({ value }) => value);
  const D = '2025-06-30T22:00:00.000Z';
  expect([await values(), await values({ A: 5, B: null, C: true }), await values({ A: null })]).toEqual([
    [1, 2, false, D, []],
    [5, null, true, D, []],
    [null, 1, false, D, []],
  ]);
  expect([await place.submit('defaults', {}), await place.submit('defaults', { B: 9, D: null, E: ['e'] })]).toEqual([
    { A: 1, B: 2, C: false, D, E: [] },
    { A: 1, B: 9, C: false, D: null, E: ['e'] },
  ]);
  const { fields } = await place.form('defaults');
  expect([fields.A.value, fields.C.value]).toEqual([1, false]);
}); // biome-ignore format: short

test('value: computed from the entered values, and overrides a sent one; undefined keeps it', async () => {
  const { Price, Double, Unit } = await place.load('values', { Price: 4, Double: 1 });
  expect([Price?.hook, Double?.value, Double?.hook, Unit?.value, Unit?.hook]).toEqual(['changeHook', 8, 'changeHook', 'EUR', undefined]);
  expect([
    await place.submit('values', { Price: 4, Double: 1, Note: 'x' }),
    await place.submit('values', { Price: 5, Note: 'x' }),
  ]).toEqual([
    { Price: 4, Double: 8, Note: 'eight', Unit: 'EUR' },
    { Price: 5, Double: 10, Note: 'x', Unit: 'EUR' },
  ]);
  const { fields } = await place.form('values', { values: { Price: 4 } });
  expect([fields.Price.reload, fields.Note]).toEqual([true, { type: 'String', value: 'eight' }]);
}); // biome-ignore format: short

test('enumValues: a list, or a function of the entered values', async () => {
  expect([
    (await place.load('enums', { Land: 'fr' })).City?.enums,
    (await place.load('enums')).City?.enums,
    (await place.form('enums', { values: { Land: 'fr' } })).fields.City.values,
    await place.submit('enums', { Land: 'it', City: 'Paris' }),
    await place.submit('enums', { Land: 'fr', City: 'Paris' }),
  ]).toEqual([['Paris'], ['Rome'], ['Paris'], { City: 'send one of Rome' }, { Land: 'fr', City: 'Paris' }]);
});

test('collectionName: the collection of the selectable records, possibly a function', async () => {
  const { Any } = await place.load('records', { Kind: 'c' });
  expect([
    Any?.reference,
    (await place.form('records', { values: { Kind: 's' } })).fields.Any.idOf,
    await place.submit('records', { Kind: 'c', Any: 2 }),
    await place.submit('records', { Kind: 'c', Any: 3 }),
  ]).toEqual(['cities.id', 'seats', { Kind: 'c', Any: [2] }, { Any: "send the id of a record of 'cities'" }]);
});

test('widget, options, placeholder: a dropdown and its options', async () => {
  const { Land, City, As, Bare } = await place.load('options', { Land: 'fr' });
  const france = [{ label: 'France', value: 'fr' }, { label: 'None', value: null }];
  expect([Land, City, As, Bare].map((field) => field?.widgetEdit)).toMatchObject([
    { name: 'dropdown', parameters: { placeholder: 'Pick', static: { options: france } } },
    { name: 'dropdown', parameters: { placeholder: null, static: { options: ['Paris', 'Lyon'] } } },
    { name: 'text editor', parameters: { placeholder: 'as Ada' } },
    { name: 'text editor', parameters: {} },
  ]);
  expect(Bare?.widgetEdit).toEqual({ name: 'text editor', parameters: {} });
  const { fields } = await place.form('options', { values: { Land: 'fr' } });
  expect([fields.Land.options, fields.City.options]).toEqual([france.map(({ label, value }) => ({ value, label })), ['Paris', 'Lyon']]);
  expect([
    await place.submit('options', { Land: 'France' }),
    await place.submit('options', { Land: 'fr', City: ['Lyon', 'Rome'] }),
    await place.submit('options', { Land: 'fr', City: ['Lyon'] }),
    await place.submit('options', { Land: null, City: ['Lyon'] }),
  ]).toEqual([
    { Land: 'send one of fr, ...' },
    { City: 'send one of Paris, Lyon' },
    { Land: 'fr', City: ['Lyon'] },
    { City: 'send one of Rome' },
  ]);
}); // biome-ignore format: short

test('search | static | all options are listed, and a text searches their labels, in any case', async () => {
  const { town, Plain } = await place.load('search');
  const parameters = (field: unknown) => (field as { widgetEdit: { parameters: object } }).widgetEdit.parameters;
  expect([parameters(town), parameters(Plain)]).toMatchObject([
    { searchType: null, isSearchable: true, static: { options: all } },
    { searchType: null, isSearchable: false, static: { options: all } },
  ]);
  expect([
    await place.search('search', 'town', 'AR'),
    await place.search('search', 'town', 'x'),
    (await place.form('search', { searches: { town: 'rom' } })).fields.town,
    await place.submit('search', { town: 'Oslo' }),
  ]).toEqual([
    ['Paris', 'Parma'],
    [],
    { type: 'String', label: 'Town', options: ['Rome'] },
    { town: 'send one of Paris, Parma, Rome' },
  ]);
});

test('search | disabled | all options are listed, and a search is refused', async () => {
  const { Shut } = await place.load('search');
  expect(Shut?.widgetEdit).toEqual({
    name: 'dropdown',
    parameters: { searchType: null, isSearchable: false, placeholder: null, static: { options: all } },
  });
  expect([(await place.form('search')).fields.Shut, await place.submit('search', { Shut: 'Oslo' })]).toEqual([
    { type: 'String', options: all },
    { Shut: 'send one of Paris, Parma, Rome' },
  ]);
  // The search endpoint and the tool refuse too.
  for (const field of ['Shut', 'Plain']) {
    const refused = new RegExp(`'${field}' has no search: send one of its options`);
    await expect(place.search('search', field, 'Par')).rejects.toThrow(refused);
    expect(JSON.stringify(await place.form('search', { searches: { [field]: 'Par' } }))).toMatch(refused);
  }
});

test('search | dynamic | the function gets the text and the values; only a value found by a search is accepted', async () => {
  const { Found } = await place.load('search');
  expect(Found?.widgetEdit).toMatchObject({ parameters: { searchType: 'dynamic', isSearchable: true, static: { options: [] } } });
  const [paris, parma] = [{ value: 0, label: 'Paris' }, { value: 1, label: 'Parma' }];
  const told = await place.form('search', { searches: { Found: 'Par' } });
  expect([
    await place.search('search', 'Found', 'Par'),
    await place.search('search', 'Found', 'Par', { town: 'Paris' }),
    told.fields.Found,
    (await place.form('search')).fields.Found,
    await place.execute('search', { values: { Found: 1 }, searches: { Found: 'Par' } }),
    await place.execute('search', { values: { Found: 2 }, searches: { Found: 'Par' } }),
    await place.submit('search', { Found: 1 }),
  ]).toEqual([
    [paris, parma],
    [parma],
    { type: 'Number', options: [paris, parma], search: 'more through searches' },
    { type: 'Number', options: [], search: 'more through searches' },
    { Found: 1 },
    { error: expect.stringContaining('search for them') },
    { Found: expect.stringContaining('search for them') },
  ]);
}); // biome-ignore format: short

test('if: a hidden field or layout element is not required, and may not be sent', async () => {
  const there = async (Kind: string, Why?: string) => Object.keys(await place.load('if', { Kind, Why }));
  expect([await there('late'), await there('other'), await there('other', 'row')]).toEqual([['Kind'], ['Kind', 'Why'], ['Kind', 'Why', 'In']]);
  expect([
    Object.keys((await place.form('if', { values: { Kind: 'other' } })).fields),
    await place.submit('if', { Kind: 'late' }),
    await place.submit('if', { Kind: 'late', Why: null }),
    await place.submit('if', { Kind: 'late', Why: 'x' }),
    await place.submit('if', { Kind: 'other' }),
    await place.submit('if', { Kind: 'other', Why: 'row' }),
  ]).toEqual([
    ['Kind', 'Why'],
    { Kind: 'late' },
    { Kind: 'late' },
    { Why: 'is not shown: leave it out' },
    { Why: 'is required: send a string' },
    { Kind: 'other', Why: 'row', In: 'in' },
  ]);
}); // biome-ignore format: short

const field = { label: 'A', type: 'String' };
test.each<[row: string, form: unknown, problem: string]>([
  ['label', [{ labell: 'A', type: 'String' }], "no option 'labell' (near: label)"],
  ['label', [{ type: 'String' }], 'label is missing'],
  ['label', [{ ...field, label: '' }], 'label is missing'],
  ['label', [{ ...field, label: 7 }], 'label is missing'],
  ['label', [{ ...field, id: '' }], "field 'A': id must be a string"],
  ['label', [field, { ...field, label: 'B', id: 'A' }], "two fields have the id 'A'"],
  ['label', { label: 'A', type: 'String' }, 'a form must be a list of elements'],
  ['label', [field, null], 'element 2 is not an object'],
  ['isRequired', [{ ...field, isRequired: 'false' }], "'isRequired' must be true or false, or a function of the context"],
  ['isReadOnly', [{ ...field, isReadOnly: 1 }], "'isReadOnly' must be true or false, or a function of the context"],
  ['enumValues', [{ label: 'A', type: 'Enum', enumValues: ['a', 1] }], 'enumValues must be a list'],
  ['enumValues', [{ ...field, enumValues: ['a'] }], "no option 'enumValues'"],
  ['collectionName', [{ ...field, collectionName: 'cities' }], "no option 'collectionName'"],
  ['widget', [{ ...field, widget: null }], 'widget'],
  ['options', [{ ...field, options: ['a'] }], "no option 'options'"],
  ['search', [{ ...field, search: 'static' }], "no option 'search'"],
  ['if', [{ ...field, if: 'x' }], "'if' must be a function of the context"],
  ['if', [{ ...field, label: () => 'A' }], 'label'],
  ['label', [field, field], "two fields have the id 'A'"],
  ['type', [{ label: 'A', type: 'Text' }], "type: no 'Text'"],
  ['isRequired', [{ ...field, isRequird: true }], "no option 'isRequird' (near: isRequired)"],
  ['enumValues', [{ label: 'A', type: 'Enum' }], "'enumValues' is missing"],
  ['enumValues', [{ label: 'A', type: 'Enum', enumValues: [] }], 'enumValues must be a list of at least one string'],
  ['collectionName', [{ label: 'A', type: 'Collection', collectionName: 'custmers' }], "no collection 'custmers' (near: customers)"],
  ['collectionName', [{ label: 'A', type: 'Collection' }], "'collectionName' is missing"],
  ['widget', [{ ...field, widget: 'DropDown' }], "widget: no 'DropDown' (near: Dropdown, UserDropdown)"],
  ['widget', [{ ...field, widget: 'Checkbox' }], 'the widget Checkbox is for Boolean, not for String'],
  ['options', [{ ...field, widget: 'Dropdown' }], "'options' is missing"],
  ['options', [{ ...field, widget: 'Dropdown', options: { a: 1 } }], 'options must be a list'],
  ['placeholder', [{ label: 'A', type: 'Time', widget: 'TimePicker', placeholder: 'x' }], "no option 'placeholder'"],
  ['search', [{ ...field, widget: 'Dropdown', options: ['a'], search: 'static ' }], "search: no 'static ' (near: static"],
  ['search | dynamic', [{ ...field, widget: 'Dropdown', options: ['a'], search: 'dynamic' }], "needs 'options' to be a function"],
  ['if', [{ ...field, if: true }], "'if' must be a function of the context"],
  ['defaultValue', [{ label: 'A', type: 'Number', defaultValue: 'x' }], 'expected a value of type Number'],
])('%s | an error in a form ends the start: %j', async (_, form, problem) => {
  const { agent } = emptyAgent();
  agent.addDataSource(createMemoryDataSource('shop', shopTables));
  agent.customizeCollection('orders', (orders) => orders.addAction('Act', { scope: 'Global', form: form as never, execute: () => undefined }));
  await expect(agent.start()).rejects.toThrow(problem);
}); // biome-ignore format: a table
