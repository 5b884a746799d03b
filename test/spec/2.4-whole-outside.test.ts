// Forms as a whole (behaviour 2.4): every type and widget with each property, as front ends and assistants read them, as
// the schema file has them, and as the code receives the values.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMemoryDataSource } from '../../src/index.ts';
import { emptyAgent, messageOf } from '../app/agent.ts';
import { type Forms, openForms, shown } from './forms.ts';

const tables = ['CREATE TABLE cities (id INTEGER PRIMARY KEY)', 'INSERT INTO cities VALUES (1), (2)'];
const content = Buffer.from('hi');
const file = { name: 'a b.txt', mimeType: 'text/plain', content };
const uri = 'data:text/plain;name=a%20b.txt;base64,aGk=';
const ofFile = { name: 'a b.txt', mimeType: 'text/plain', bytes: 2 };
interface Type {
  readonly more?: object;
  /** In the definition; another one; over HTTP; over MCP; as the code gets it. */
  readonly given: unknown;
  readonly other: unknown;
  readonly http?: unknown;
  readonly mcp?: unknown;
  readonly got?: unknown;
  readonly needed: string;
}
const types: Readonly<Record<string, Type>> = {
  String: { given: ' a ', other: 'b', needed: 'send a string' },
  Number: { given: 0, other: 1, needed: 'send a number' },
  Boolean: { given: false, other: true, needed: 'send true or false' },
  Date: { given: '2025-07-01T10:00:00Z', other: '2025-07-01T10:00:01Z', http: '2025-07-01T10:00:00.000Z', needed: "send a timestamp such as '2025-03-30T08:00:00Z'" },
  Dateonly: { given: '2024-02-29', other: '2024-02-28', needed: "send a date such as '2025-03-30'" },
  Time: { given: '00:00', other: '00:01', http: '00:00:00', needed: "send a time such as '14:30:00'" },
  Enum: { more: { enumValues: ['new', 'old'] }, given: 'old', other: 'new', needed: 'send one of new, old' },
  EnumList: { more: { enumValues: ['new', 'old'] }, given: ['old', 'new'], other: ['new'], needed: 'send one of new, old' },
  File: { given: file, other: uri.replace('a%20b', 'c'), http: uri, mcp: ofFile, got: shown(file), needed: "send a file as 'data:<media type>;name=<file name>;base64,<content>'" },
  FileList: { given: [file, file], other: [uri], http: [uri, uri], mcp: [ofFile, ofFile], got: shown([file, file]), needed: 'send a list of files' },
  Json: { given: { a: [1, null] }, other: [], needed: 'send JSON: an object, a list, or a JSON string' },
  Collection: { more: { collectionName: 'cities' }, given: [2], other: 1, http: '2', needed: 'send the id of a record' },
  NumberList: { given: [2, 1, 0], other: [2], needed: 'send a list of numbers' },
  StringList: { given: ['b', 'a'], other: ['a', 'b'], needed: 'send a list of strings' },
}; // biome-ignore format: a table

type Context = { readonly formValues: Record<string, unknown> };
const options: Readonly<Record<string, unknown>> = {
  ...{ placeholder: 'Pick', rows: 3, step: 2, currency: 'EUR', base: 'Cent', enableReorder: true, allowEmptyValues: true },
  ...{ allowDuplicates: true, enableOpacity: true, quickPalette: ['#ffffff', '#000000'], format: 'DD', extensions: ['txt'] },
  ...{ maxSizeMb: 1, maxCount: 2, search: 'static' },
}; // biome-ignore format: short
const mayBeFunctions = ['options', 'placeholder', 'rows', 'min', 'max', 'step', 'currency', 'base'];
const bounds: Readonly<Record<string, { readonly min: unknown; readonly max: unknown; readonly options: unknown }>> = {
  String: { min: 'a', max: 'b', options: ['a', { value: 'b', label: 'Bee' }] },
  Number: { min: 0, max: 10, options: [0, { value: 2, label: 'Two' }] },
  Date: { min: '2024-01-01T00:00:00.000Z', max: '2024-12-31T00:00:00.000Z', options: ['2024-02-29T00:00:00.000Z'] },
  Dateonly: { min: '2024-01-01', max: '2024-12-31', options: ['2024-02-29'] },
  Time: { min: '', max: '', options: ['08:30:00'] },
  StringList: { min: 'a', max: 'b', options: ['a', 'b'] },
  NumberList: { min: 0, max: 10, options: [0, 2, 4] },
};
/** Types, options, and a value that each type accepts with all of them. */
const widgets: Readonly<Record<string, readonly [values: Readonly<Record<string, unknown>>, options: string]>> = {
  Dropdown: [{ String: 'b', Number: 0, Date: '2024-02-29T00:00:00.000Z', Dateonly: '2024-02-29', Time: '08:30:00', StringList: ['b', 'a'], NumberList: [4, 0] }, 'options search placeholder'],
  RadioGroup: [{ String: 'b', Number: 0 }, 'options'],
  CheckboxGroup: [{ StringList: ['b', 'a'], NumberList: [4, 0] }, 'options'],
  Checkbox: [{ Boolean: false }, ''],
  TextInput: [{ String: '' }, 'placeholder'],
  TextInputList: [{ StringList: ['b', '', 'b'] }, 'placeholder enableReorder allowEmptyValues allowDuplicates'],
  TextArea: [{ String: 'a\n\nb' }, 'placeholder rows'],
  RichText: [{ String: '<b>a</b>' }, 'placeholder'],
  NumberInput: [{ Number: 0 }, 'placeholder min max step'],
  NumberInputList: [{ NumberList: [4, 0, 4] }, 'placeholder enableReorder allowDuplicates min max step'],
  CurrencyInput: [{ Number: 0 }, 'currency base min max step placeholder'],
  ColorPicker: [{ String: '#FFffff80' }, 'enableOpacity quickPalette placeholder'],
  DatePicker: [{ Date: '2024-12-31T00:00:00.000Z', Dateonly: '2024-01-01' }, 'format min max placeholder'],
  TimePicker: [{ Time: '00:00:00' }, ''],
  AddressAutocomplete: [{ String: '1 Rue' }, 'placeholder'],
  UserDropdown: [{ String: 'ada@example.com', StringList: ['ada@example.com', 'ada@example.com'] }, 'placeholder'],
  FilePicker: [{ File: uri, FileList: [uri, uri] }, 'extensions maxSizeMb maxCount'],
  JsonEditor: [{ Json: { a: 1 } }, ''],
}; // biome-ignore format: a table
const required = ['options', 'currency'];
const optionOf = (name: string, type: string): unknown =>
  name in options ? options[name] : bounds[type]![name as 'min'];
const optionsOf = (widget: string, type: string, make: (value: unknown) => unknown): object =>
  Object.fromEntries(
    widgets[widget]![1].split(' ').filter(Boolean).map((name) => {
      const value = optionOf(name, type);
      return [name, mayBeFunctions.includes(name) ? make(value) : value];
    }),
  ); // biome-ignore format: short
const widgetCases = Object.entries(widgets).flatMap(([widget, [values]]) =>
  Object.entries(values).map(([type, value]) => [widget, type, value] as const),
);
const widgetField = (widget: string, type: string, make: (value: unknown) => unknown, more: object = {}) => ({
  ...{ label: 'A', type, widget, ...optionsOf(widget, type, make), ...more },
});

const towns = Array.from({ length: 150 }, (_, index) => `town ${index}`);
const text = { label: 'A', type: 'String' };
const html = (content: unknown, more: object = {}) => ({ type: 'Layout', component: 'HtmlBlock', content, ...more });
const layout = (component: string, more: object) => ({ type: 'Layout', component, ...more });
const forms: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(
    Object.entries(types).flatMap(([type, { more, given }]) => [
      [`${type} alone`, [{ label: 'A', type, ...more }]],
      [`${type} moves`, [
        { label: 'default', type, ...more, defaultValue: given },
        { label: 'made', type, ...more, defaultValue: async () => given },
        { label: 'set', type, ...more, value: given },
        { label: 'computed', type, ...more, value: async () => given },
        { label: 'fixed', type, ...more, defaultValue: given, isReadOnly: true },
        { label: 'needed', type, ...more, isRequired: true },
      ]],
      [`${type} stays`, [
        { label: 'A', type, ...more, defaultValue: given, description: '' },
        { label: 'The B', id: 'b', type, ...more, value: given, isReadOnly: true },
        { label: 'C', type, ...more, isRequired: true, description: 'See' },
      ]],
    ]),
  ),
  ...Object.fromEntries(
    widgetCases.flatMap(([widget, type, value]) => [
      [`${widget} ${type} stays`, [widgetField(widget, type, (each) => each)]],
      [`${widget} ${type} moves`, [widgetField(widget, type, (each) => async () => each)]],
      [`${widget} ${type} needed`, [widgetField(widget, type, (each) => each, { isRequired: true })]],
      [`${widget} ${type} default`, [widgetField(widget, type, (each) => each, { defaultValue: value })]],
    ]),
  ),
  many: [
    { label: 'A', type: 'Enum', enumValues: towns },
    { label: 'B', type: 'String', widget: 'Dropdown', search: 'static', options: towns },
    { label: 'C', type: 'String', defaultValue: 'x'.repeat(3000) },
  ],
  descriptions: [{ ...text, description: '' }, { ...text, label: 'B', description: () => 7 }, { ...text, label: 'C', description: async () => '' }],
  placeholders: [
    { ...text, widget: 'TextInput', placeholder: '' },
    { ...text, label: 'B', widget: 'TextInput', placeholder: () => null },
    { ...text, label: 'C', widget: 'Dropdown', options: ['a'], placeholder: async () => '' },
    { ...text, label: 'D', widget: 'Dropdown', options: ['a'], placeholder: ({ formValues }: Context) => formValues.A },
  ],
  values: [
    { label: 'In', type: 'Number' },
    { label: 'Zero', type: 'Number', value: () => 0 },
    { label: 'No', type: 'Boolean', value: async () => false },
    { label: 'Empty', type: 'String', value: () => '' },
    { label: 'Null', type: 'String', value: () => null, defaultValue: 'd' },
    { label: 'Nothing', type: 'String', value: () => undefined, defaultValue: 'd' },
    { label: 'Not a number', type: 'Number', value: () => Number.NaN, defaultValue: 4 },
    { label: 'Locked', type: 'Number', isReadOnly: true, value: ({ formValues }: Context) => Number(formValues.In ?? 1) * 2 },
  ],
  defaults: [
    { label: 'Null', type: 'String', defaultValue: null },
    { label: 'Later null', type: 'String', defaultValue: () => null },
    { label: 'Nothing', type: 'Number', defaultValue: () => undefined },
    { label: 'Seen', type: 'String', value: ({ formValues }: Context) => JSON.stringify(Object.keys(formValues).sort()) },
  ],
  flags: [
    { ...text, isRequired: () => null, isReadOnly: () => undefined },
    { ...text, label: 'B', isRequired: async () => 1, isReadOnly: async () => 0 },
    { ...text, label: 'C', isReadOnly: async () => 'yes', defaultValue: 'c' },
    { ...text, label: 'D', isRequired: true, isReadOnly: true },
  ],
  ifs: [
    ...[0, '', null, undefined, false, 1, 'x', true].map((answer, at) => ({ ...text, label: `f${at}`, if: async () => answer })),
    layout('Row', { if: () => false, fields: [{ ...text, label: 'gone', isRequired: true, defaultValue: 'g' }] }),
    { label: 'On', type: 'Boolean', defaultValue: true },
    { ...text, label: 'Then', if: ({ formValues }: Context) => formValues.On, isRequired: true, defaultValue: 't' },
    { ...text, label: 'After', if: ({ formValues }: Context) => formValues.Then === 't', defaultValue: 'a' },
  ],
  searches: [
    { ...text, label: 'Static', id: 's', widget: 'Dropdown', search: 'static', options: [{ value: 'p', label: 'Paris' }, { value: 'par', label: 'Rome' }, 'ÉPARNE'] },
    { label: 'Numbers', type: 'NumberList', widget: 'Dropdown', search: 'static', options: [12, 21, { value: 3, label: '123' }] },
    { label: 'Made', type: 'String', widget: 'Dropdown', search: 'static', options: ({ formValues }: Context, text: string | null) => (formValues.s === 'p' ? ['ab', 'b'] : ['a', `for ${text}`]) },
    { label: 'Many', type: 'StringList', widget: 'Dropdown', search: 'dynamic', options: async (_: Context, text: string | null) => (text === null ? ['first'] : text === '' ? ['empty'] : [`${text} 1`, `${text} 2`]) },
    { label: 'Shut', type: 'String', widget: 'RadioGroup', options: ['a'] },
    { label: 'Off', type: 'String', widget: 'Dropdown', search: 'disabled', options: ['a', 'b'] },
  ],
  pages: [
    layout('Page', { nextButtonLabel: 'On', elements: [text, layout('Separator', {}), layout('Row', { fields: [{ ...text, label: 'B' }, { ...text, label: 'C' }] }), html('<p>One</p>')] }),
    layout('Page', { if: () => false, elements: [{ ...text, label: 'D', isRequired: true }] }),
    layout('Page', { elements: [layout('Row', { fields: [{ ...text, label: 'E', if: () => false }] })] }),
    layout('Page', { previousButtonLabel: 'Back', elements: [{ ...text, label: 'F' }, html(() => null), html(async () => 'Two &amp; <i>three</i>'), layout('Separator', { if: async () => false })] }),
  ],
  'static pages': [layout('Page', { nextButtonLabel: 'On', elements: [text, layout('Separator', {}), html('<p>One</p>')] }), layout('Page', { previousButtonLabel: 'Back', elements: [layout('Row', { fields: [{ ...text, label: 'B' }] })] })],
  labels: [{ ...text, label: 'Same', id: 'one' }, { ...text, label: 'Same', id: 'two' }, { ...text, label: 'Été & <b>' }, { ...text, label: '0' }],
  collections: [
    { label: 'Which', type: 'String' },
    { label: 'Who', type: 'Collection', collectionName: async ({ formValues }: Context) => formValues.Which ?? 'cities' },
  ],
}; // biome-ignore format: a table

let place: Forms;
beforeAll(async () => {
  place = await openForms(tables, forms);
});
afterAll(() => place?.stop());
const inFile = (name: string) => {
  const { actions } = place.schema.collections.find((each: { name: string }) => each.name === 'cities');
  const { fields, layout } = actions.find((action: { name: string }) => action.name === name);
  return [fields.map(({ defaultValue: value, ...field }: { defaultValue: unknown }) => ({ ...field, value })), layout ?? []];
}; // biome-ignore format: short
const valuesOf = (fields: Readonly<Record<string, Record<string, unknown>>>) =>
  Object.fromEntries(Object.entries(fields).map(([id, { value }]) => [id, value]));
const got = async (values: Promise<unknown>) =>
  Object.fromEntries(Object.entries((await values) as object).map(([id, value]) => [id, shown(value)]));

describe('type', () => {
  test.each(Object.entries(types))('type | %s, defaultValue, value, isRequired, isReadOnly: constants and functions, for each reader', async (type, { given, other, http = given, mcp = http, got: taken = http, needed }) => {
    const ids = ['default', 'made', 'set', 'computed', 'fixed'];
    const each = (value: unknown) => Object.fromEntries(ids.map((id) => [id, value]));
    const form = await place.form(`${type} moves`);
    const inCode = type === 'Collection' ? given : taken;
    expect([valuesOf(await place.load(`${type} moves`)), valuesOf(form.fields), form.missing]).toEqual([
      { ...each(http), needed: null },
      { ...each(type === 'Collection' ? given : mcp), needed: undefined },
      ['needed'],
    ]);
    expect([
      await place.submit(`${type} moves`, {}),
      await place.submit(`${type} moves`, { needed: null }),
      await got(place.submit(`${type} moves`, { needed: http })),
      await got(place.execute(`${type} moves`, { values: { needed: http } })),
      await got(place.submit(`${type} moves`, { needed: http, default: null, made: null, set: other })),
      await place.submit(`${type} moves`, { needed: http, fixed: other }),
      Object.keys((await place.submit(`${type} moves`, { needed: http, default: other, made: other })) as object).length,
    ]).toEqual([
      ...Array(2).fill({ needed: `is required: ${needed}` }),
      ...Array(2).fill({ ...each(inCode), needed: inCode }),
      { ...each(inCode), needed: inCode, default: null, made: null },
      { fixed: 'is read-only: leave it out' },
      6,
    ]);
  }); // biome-ignore format: short

  test.each(Object.entries(types))('type | %s, label, description, isRequired, isReadOnly, defaultValue, value: the schema file has a static form as loaded', async (type, { http, given }) => {
    const name = `${type} stays`;
    const loaded = await place.load(name);
    expect([inFile(name)[0], loaded]).toMatchObject([
      Object.values(loaded),
      {
        A: { label: 'A', isRequired: false, isReadOnly: false, description: '', value: http ?? given },
        b: { label: 'The B', isRequired: false, isReadOnly: true, value: http ?? given },
        C: { isRequired: true, description: 'See', value: null },
      },
    ]);
    expect([loaded.A!.type, 'description' in loaded.b!]).toEqual([loaded.b!.type, false]);
  }); // biome-ignore format: short
});

// Notations that a person could mean, and that could be read in two ways.
const strange: Readonly<Record<string, readonly unknown[]>> = {
  Number: ['1,5', '0x10', 'NaN', 'Infinity', '1_000', '1 000', '5 %', [1], {}],
  Boolean: ['ja', 'on', 'yes', '0', 'truee', [true], {}],
  Date: ['01.07.2025', '2025-13-01', '2025-02-30', '7/1/2025', 'today', 20250701, true, {}],
  Dateonly: ['2024/02/29', '20240229', '29-02-2024', '2024-02-29Z', '2024-02-30', '2023-02-29', 20240229, {}],
  Time: ['14.30', '2:30 PM', '24:00', '23:60', '1430', '14h30', 14, {}],
  Enum: [' new', 'NEW', 'new,old', 'n', {}],
  EnumList: [['new', 'NEW'], ['new,old'], [' old'], [{}]],
  File: ['data:text/plain,hi', 'aGk=', 'https://a.example/a.txt', { name: 'a' }, 7],
  FileList: [['data:text/plain,hi'], [uri, 'aGk=']],
  Json: ['{a:1}', "{'a':1}", '[1,]', 'undefined'],
  Collection: ['1|2', [1, 2], {}, true, [], 'cities.1'],
  NumberList: [['1,5'], [1, 'x'], [[1]], [true]],
  StringList: [['a', {}], [['a']]],
  String: [{}, ['a'], []],
}; // biome-ignore format: a table
test.each(Object.entries(strange))('type | %s: a value in another notation is an error of the field, over HTTP and MCP', async (type, values) => {
  for (const A of values) {
    const problem = { A: expect.stringMatching(/(^|: )(send |the number )/) };
    expect([A, await place.submit(`${type} alone`, { A }), (await place.form(`${type} alone`, { values: { A } })).problems]).toEqual([A, problem, problem]);
  }
}); // biome-ignore format: short

describe('widget', () => {
  test.each(widgetCases)('%s of %s, options, placeholder: functions give the same as constants, in the schema file and over MCP | widget', async (widget, type) => {
    const names = ['stays', 'moves'].map((how) => `${widget} ${type} ${how}`);
    const [stays, moves] = [(await place.load(names[0]!)).A!, (await place.load(names[1]!)).A!];
    const [{ fields }, changing] = [await place.form(names[0]!), await place.form(names[1]!)];
    expect([stays.type, moves, inFile(names[0]!)[0], changing.fields]).toEqual([expect.anything(), stays, [stays], fields]);
    const { name: _, parameters } = stays.widgetEdit as { name: string; parameters: Record<string, unknown> };
    const wanted = Object.entries(optionsOf(widget, type, (each) => each)).filter(([name]) => name !== 'options' && name !== 'search');
    expect(parameters).toMatchObject(Object.fromEntries(wanted));
  }); // biome-ignore format: short

  test.each(widgetCases)('%s of %s, isRequired, defaultValue: a value, a default, no value and null | widget', async (widget, type, value) => {
    const name = `${widget} ${type}`;
    const isEmpty = value === '';
    const same = async (values: Promise<unknown>) => JSON.stringify(shown(((await values) as { A: unknown }).A));
    const wanted = await same(place.submit(`${name} stays`, { A: value }));
    if (!/File/.test(type)) expect(wanted).toBe(JSON.stringify(value));
    expect([
      await same(place.execute(`${name} moves`, { values: { A: value } })),
      await same(place.submit(`${name} default`, {})),
      (await place.load(`${name} default`)).A!.value,
      await place.submit(`${name} default`, { A: null }),
      await place.submit(`${name} stays`, {}),
      isEmpty || (await same(place.submit(`${name} needed`, { A: value }))),
    ]).toEqual([wanted, wanted, value, { A: null }, {}, isEmpty || wanted]);
    for (const values of [{}, { A: null }]) expect(await place.submit(`${name} needed`, values)).toEqual({ A: expect.stringMatching(/^is required: send /) });
    expect((await place.form(`${name} needed`)).missing).toEqual(['A']);
  }); // biome-ignore format: short

  test('UserDropdown, ColorPicker, DatePicker, NumberInput, CurrencyInput: values beyond their bounds, with all options | widget', async () => {
    const of = async (name: string, A: unknown) => ((await place.submit(name, { A })) as { A: unknown }).A;
    expect([
      await of('UserDropdown String stays', 'bob@example.com'),
      await of('UserDropdown String stays', ''),
      await of('UserDropdown StringList stays', ['ada@example.com', 'bob@example.com']),
      await of('ColorPicker String stays', '#ffffff8'),
      await of('DatePicker Date stays', '2023-12-31T23:59:59.999Z'),
      await of('DatePicker Date stays', '2024-12-31T00:00:00.001Z'),
      await of('DatePicker Date stays', '2024-01-01T01:00:00+01:00'),
      await of('NumberInput Number stays', 3),
      await of('NumberInput Number stays', -2),
      await of('CurrencyInput Number stays', 0.5),
      await of('CurrencyInput Number stays', 12),
    ]).toEqual([
      "send the e-mail address of a user; no user has 'bob@example.com'",
      '',
      "send the e-mail address of a user; no user has 'bob@example.com'",
      "send a color such as '#1a7f37cc'",
      'send a timestamp from 2024-01-01T00:00:00.000Z on',
      'send a timestamp up to 2024-12-31T00:00:00.000Z',
      '2024-01-01T00:00:00.000Z',
      'send a number in steps of 2 from 0',
      'send a number from 0 on',
      'send a number in steps of 2 from 0',
      'send a number up to 10',
    ]);
  });
});

test('enumValues, options, defaultValue, Enum, Dropdown: of many options assistants see a part, front ends all; each may be sent', async () => {
  const { A, B, C } = await place.load('many');
  const { fields } = await place.form('many');
  const part = [...towns.slice(0, 100), '... 50 more'];
  expect([A!.enums, (B!.widgetEdit as { parameters: { static: { options: unknown } } }).parameters.static.options, C!.value]).toEqual([towns, towns, 'x'.repeat(3000)]);
  expect([fields.A.values, fields.B.options, fields.C.value]).toEqual([part, part, `${'x'.repeat(2000)}…[3000 characters]`]);
  expect([await place.submit('many', { A: 'town 149', B: 'town 149', C: '' }), await place.submit('many', { A: 'zzz' }), await place.submit('many', { B: 'zzz' })]).toEqual([
    { A: 'town 149', B: 'town 149', C: '' },
    { A: `send one of ${towns.slice(0, 10).join(', ')}, ...` },
    { B: `send one of ${towns.slice(0, 10).join(', ')}, ...` },
  ]);
}); // biome-ignore format: short

test('description: an empty string counts, and a value of another type does not', async () => {
  const { A, B, C } = await place.load('descriptions');
  const { fields } = await place.form('descriptions');
  expect([A!.description, 'description' in B!, C!.description, fields.A.description, 'description' in fields.B, fields.C.description]).toEqual(['', false, '', '', false, '']);
}); // biome-ignore format: short

test('placeholder: an empty string counts; the default is null in a Dropdown and absent elsewhere', async () => {
  const parameters = async (values?: object) => Object.values(await place.load('placeholders', values as never)).map(({ widgetEdit }) => (widgetEdit as { parameters: { placeholder?: unknown } }).parameters.placeholder);
  expect([await parameters(), await parameters({ A: 'now' })]).toEqual([['', undefined, '', null], ['', undefined, '', 'now']]);
}); // biome-ignore format: short

test('value: 0, false, an empty string and null are values; undefined and NaN are not; a read-only field follows it', async () => {
  const made = { Zero: 0, No: false, Empty: '', Null: null, Nothing: 'd', 'Not a number': 4 };
  expect([
    await place.submit('values', {}),
    await place.submit('values', { In: 5, Zero: 9, No: true, Empty: 'x', Null: 'x', Nothing: 'x', 'Not a number': 9 }),
    await place.submit('values', { In: 5, Locked: 10 }),
    await place.submit('values', { In: 5, Locked: 11 }),
    valuesOf(await place.load('values', { In: 3 })),
  ]).toEqual([
    { ...made, Locked: 2 },
    { ...made, In: 5, Nothing: 'x', 'Not a number': 9, Locked: 10 },
    { ...made, In: 5, Locked: 10 },
    { Locked: 'is read-only: leave it out' },
    { ...made, In: 3, Locked: 6 },
  ]);
});

test('defaultValue: null is a value, undefined is not, and handlers see which fields have one', async () => {
  expect([await place.submit('defaults', {}), await place.submit('defaults', { Nothing: null })]).toMatchObject([
    { Null: null, 'Later null': null, Seen: expect.stringContaining('"Later null","Null"') },
    { Nothing: null, Seen: expect.stringContaining('"Nothing","Null"') },
  ]);
  expect(valuesOf(await place.load('defaults'))).toMatchObject({ Null: null, 'Later null': null, Nothing: null });
});

test('isRequired, isReadOnly: the result of a function counts as true or false', async () => {
  const { A, B, C, D } = await place.load('flags');
  expect([A, B, C, D].map((field) => [field!.isRequired, field!.isReadOnly])).toEqual([[false, false], [true, false], [false, true], [true, true]]);
  const { fields, missing } = await place.form('flags');
  expect([Object.values(fields as Record<string, { required?: boolean; readOnly?: boolean }>).map(({ required, readOnly }) => [required, readOnly]), missing]).toEqual([
    [[undefined, undefined], [true, undefined], [undefined, true], [true, true]],
    ['B', 'D'],
  ]);
  expect(await place.submit('flags', { A: 'a', B: 'b', C: 'c' })).toBeOneOf([{ D: 'is required: send a string' }, { A: 'a', B: 'b', C: 'c' }]);
}); // biome-ignore format: short

test('if: any result counts as true or false; a hidden field has no value, and its dependants follow', async () => {
  const there = async (values?: object) => Object.keys(await place.load('ifs', values as never));
  expect([await there(), await there({ On: false }), await there({ On: true, Then: 'x' })]).toEqual([
    ['f5', 'f6', 'f7', 'On', 'Then', 'After'],
    ['f5', 'f6', 'f7', 'On'],
    ['f5', 'f6', 'f7', 'On', 'Then'],
  ]);
  expect([
    await place.submit('ifs', {}),
    await place.submit('ifs', { On: false }),
    await place.submit('ifs', { On: false, Then: null }),
    await place.submit('ifs', { On: false, Then: 't' }),
    await place.submit('ifs', { gone: 'x' }),
    Object.keys((await place.form('ifs', { values: { On: false } })).fields),
  ]).toEqual([
    { On: true, Then: 't', After: 'a' },
    { On: false },
    { On: false },
    { Then: 'is not shown: leave it out' },
    { gone: 'is not shown: leave it out' },
    ['f5', 'f6', 'f7', 'On'],
  ]);
});

test('search, options | static, dynamic, disabled: labels in any case, numbers, functions and lists; over HTTP and MCP', async () => {
  const both = async (field: string, text: string, values = {}) => {
    const found = (await place.form('searches', { searches: { [field]: text }, values })).fields?.[field]?.options;
    const http = await place.search('searches', field, text, values).catch(() => 'refused');
    return [http, found];
  };
  const paris = { value: 'p', label: 'Paris' };
  const rome = { value: 'par', label: 'Rome' };
  expect([
    await both('s', 'PAR'), await both('s', 'éparne'), await both('s', ''), await both('s', 'rome'), await both('Numbers', '12'), await both('Made', 'B', { s: 'p' }), await both('Many', 'x'), await both('Many', ''),
  ]).toEqual([
    [[paris, 'ÉPARNE'], [paris, 'ÉPARNE']], [['ÉPARNE'], ['ÉPARNE']], [[paris, rome, 'ÉPARNE'], [paris, rome, 'ÉPARNE']], [[rome], [rome]], [[12, { value: 3, label: '123' }], [12, { value: 3, label: '123' }]],
    [['ab', 'b'], ['ab', 'b']], [['x 1', 'x 2'], ['x 1', 'x 2']], [['empty'], ['empty']],
  ]);
  for (const field of ['Shut', 'Off', 'nothing']) expect(await both(field, 'a')).toEqual(['refused', undefined]);
  expect([
    await place.submit('searches', { Many: ['first'] }),
    await place.submit('searches', { Many: ['a', 'first'] }),
    await place.execute('searches', { values: { Many: ['x 1', 'x 2', 'first'] }, searches: { Many: 'x' } }),
    await place.execute('searches', { values: { Many: ['x 2'] }, searches: { s: 'x' } }),
    await place.submit('searches', { Made: 'for null' }),
    await place.submit('searches', { s: 'p', Made: 'b', Numbers: ['3', 12] }),
    await place.submit('searches', { Numbers: [123] }),
    await place.submit('searches', { Off: 'c' }),
  ]).toEqual([
    { Many: ['first'] },
    { Many: expect.stringContaining('search for them') },
    { Many: ['x 1', 'x 2', 'first'] },
    { error: expect.stringContaining("search text in 'searches'") },
    { Made: 'for null' },
    { s: 'p', Made: 'b', Numbers: [3, 12] },
    { Numbers: 'send one of 12, 3, 21' },
    { Off: 'send one of a, b' },
  ]);
}); // biome-ignore format: a table

test('Page, Row, Separator, HtmlBlock: their contents; empty ones are omitted; the text that assistants get | layout', async () => {
  const input = (fieldId: string) => ({ component: 'input', fieldId });
  expect(await place.layout('pages')).toEqual([
    { component: 'page', nextButtonLabel: 'On', elements: [input('A'), { component: 'separator' }, { component: 'row', fields: [input('B'), input('C')] }, { component: 'htmlBlock', content: '<p>One</p>' }] },
    { component: 'page', previousButtonLabel: 'Back', elements: [input('F'), { component: 'htmlBlock', content: '' }, { component: 'htmlBlock', content: 'Two &amp; <i>three</i>' }] },
  ]);
  const { fields, notes, missing } = await place.form('pages');
  expect([Object.keys(fields), notes, missing]).toEqual([['A', 'B', 'C', 'F'], ['One', 'Two & three'], undefined]);
  expect([await place.submit('pages', { A: '1', B: '2', C: '3', F: '4' }), await place.submit('pages', { D: 'x' })]).toEqual([{ A: '1', B: '2', C: '3', F: '4' }, { D: 'is not shown: leave it out' }]);
  expect(inFile('static pages')).toEqual([Object.values(await place.load('static pages')), await place.layout('static pages')]);
  expect(await place.layout('static pages')).toMatchObject([{ component: 'page', nextButtonLabel: 'On' }, { component: 'page', previousButtonLabel: 'Back', elements: [{ component: 'row', fields: [input('B')] }] }]);
}); // biome-ignore format: a table

test('label: two fields may share one if their ids differ, and any string is valid', async () => {
  const loaded = await place.load('labels');
  const { fields } = await place.form('labels');
  expect([Object.values(loaded).map(({ field, label }) => [field, label]), Object.entries(fields as Record<string, { label?: string }>).map(([id, { label }]) => [id, label])]).toEqual([
    [['one', 'Same'], ['two', 'Same'], ['Été & <b>', 'Été & <b>'], ['0', '0']].sort(([a], [b]) => Number(b === '0') - Number(a === '0')),
    [['0', undefined], ['one', 'Same'], ['two', 'Same'], ['Été & <b>', undefined]],
  ]);
  expect(await place.submit('labels', { one: '1', two: '2', 'Été & <b>': '3', 0: '4' })).toEqual({ one: '1', two: '2', 'Été & <b>': '3', 0: '4' });
}); // biome-ignore format: short

test('collectionName: an unknown collection is a code error; a default of a missing record is refused', async () => {
  const status = async (Which: string) => (await place.form('collections', { values: { Which, Who: 1 } })).error;
  const problem = { Who: "send the id of a record of 'cities'" };
  expect([await place.submit('collections', { Who: 2 }), await place.submit('collections', { Who: 3 }), await status('nowhere')]).toEqual([{ Who: [2] }, problem, expect.stringContaining('ACTION_FAILED')]);
  // A text that no key of the collection can be is a problem of the field as well.
  for (const Who of ['', 'Rome', '1.5', 1.5, '1|2', -1]) expect([Who, await place.submit('collections', { Who }), (await place.form('collections', { values: { Who } })).problems]).toEqual([Who, problem, problem]);
  expect((await place.load('collections', { Which: 'cities' })).Who).toMatchObject({ type: 'Number', reference: 'cities.id' });
}); // biome-ignore format: short

// After the tests that share an agent, because its connections close after some seconds without a request.
test.each(Object.entries(widgets))('%s | only some options may be functions, and only some are required | widget', async (widget, [values, names]) => {
  const [type] = Object.keys(values);
  const startOf = (...fields: object[]) => {
    const { agent } = emptyAgent();
    const cities = { name: 'cities', columns: [{ name: 'id', type: 'Number' as const }], primaryKey: ['id'], rows: [] };
    agent.addDataSource(createMemoryDataSource('m', [cities])).customizeCollection('cities', (each) => each.addAction('A', { scope: 'Global', form: fields as never, execute: () => undefined }));
    return messageOf(() => agent.start());
  };
  const whole = widgetField(widget, type!, (each) => each) as Record<string, unknown>;
  const known = names.split(' ').filter(Boolean);
  const without = known.filter((name) => !required.includes(name)).map((name) => ({ ...whole, label: name, [name]: undefined }));
  expect(await startOf(widgetField(widget, type!, (each) => () => each), ...without)).toBe('it worked');
  const problems = [];
  for (const name of known) {
    if (!mayBeFunctions.includes(name)) problems.push([`'${name}' cannot be a function`, await startOf({ ...whole, [name]: () => optionOf(name, type!) })] as const);
    if (required.includes(name)) problems.push([`'${name}' is missing`, await startOf({ ...whole, [name]: undefined })] as const);
  }
  expect(problems.filter(([problem, message]) => !message.includes(problem))).toEqual([]);
}); // biome-ignore format: short
