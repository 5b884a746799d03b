// The types and options that each form widget accepts, and the maximum length of a list of values.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMemoryDataSource } from '../../src/index.ts';
import { emptyAgent, messageOf } from '../app/agent.ts';
import { type Forms, openForms, shown } from './forms.ts';

const allTypes = [
  ...['String', 'Number', 'Boolean', 'Date', 'Dateonly', 'Time', 'Enum', 'EnumList', 'File', 'FileList', 'Json'],
  ...['Collection', 'NumberList', 'StringList'],
];
const needs: Readonly<Record<string, object>> = {
  Enum: { enumValues: ['a'] },
  EnumList: { enumValues: ['a'] },
  Collection: { collectionName: 'cities' },
};
const optionValues: Readonly<Record<string, unknown>> = {
  ...{
    placeholder: 'p',
    options: [],
    search: 'static',
    rows: 2,
    min: undefined,
    max: undefined,
    step: 1,
    base: 'Unit',
  },
  ...{ currency: 'EUR', enableReorder: true, allowEmptyValues: true, allowDuplicates: true, enableOpacity: true },
  ...{ quickPalette: ['#ffffff'], format: 'DD', extensions: ['txt'], maxSizeMb: 1, maxCount: 1 },
};
/** The types and options of each widget. Required options are in brackets. */
const widgets: Readonly<Record<string, readonly [types: string, options: string]>> = {
  Dropdown: ['String Number Date Dateonly Time StringList NumberList', '(options) search placeholder'],
  RadioGroup: ['String Number', '(options)'],
  CheckboxGroup: ['StringList NumberList', '(options)'],
  Checkbox: ['Boolean', ''],
  TextInput: ['String', 'placeholder'],
  TextInputList: ['StringList', 'placeholder enableReorder allowEmptyValues allowDuplicates'],
  TextArea: ['String', 'placeholder rows'],
  RichText: ['String', 'placeholder'],
  NumberInput: ['Number', 'placeholder min max step'],
  NumberInputList: ['NumberList', 'placeholder enableReorder allowDuplicates min max step'],
  CurrencyInput: ['Number', '(currency) base min max step placeholder'],
  ColorPicker: ['String', 'enableOpacity quickPalette placeholder'],
  DatePicker: ['Date Dateonly', 'format min max placeholder'],
  TimePicker: ['Time', ''],
  AddressAutocomplete: ['String', 'placeholder'],
  UserDropdown: ['String StringList', 'placeholder'],
  FilePicker: ['File FileList', 'extensions maxSizeMb maxCount'],
  JsonEditor: ['Json', ''],
};

async function outcomeOf(form: readonly object[]): Promise<string> {
  const { agent } = emptyAgent();
  const cities = { name: 'cities', columns: [{ name: 'id', type: 'Number' as const }], primaryKey: ['id'], rows: [] };
  agent
    .addDataSource(createMemoryDataSource('m', [cities]))
    .customizeCollection('cities', (each) =>
      each.addAction('A', { scope: 'Global', form: form as never, execute: () => undefined }),
    );
  return messageOf(() => agent.start());
}

test.each(Object.entries(widgets))('%s | accepts these types and options and no others | widget', async (widget, [types, options]) => {
  const known = options.split(' ').filter(Boolean);
  const names = known.map((name) => name.replace(/[()]/g, ''));
  const needed = names.filter((name) => known.includes(`(${name})`));
  const pick = (chosen: readonly string[]) => Object.fromEntries(chosen.map((name) => [name, optionValues[name]]));
  const field = (type: string, chosen = needed) => ({ label: `f ${type}`, type, widget, ...needs[type], ...pick(chosen) });
  const taken = types.split(' ');
  const refused: string[] = [];
  for (const type of allTypes.filter((each) => !taken.includes(each))) refused.push(await outcomeOf([field(type)]));
  const stray = Object.keys(optionValues).filter((name) => !names.includes(name));
  const strange: string[] = [];
  for (const name of stray) strange.push(await outcomeOf([field(taken[0]!, [...needed, name])]));
  const without: string[] = [];
  for (const name of needed) without.push(await outcomeOf([field(taken[0]!, needed.filter((each) => each !== name))]));
  expect([
    await outcomeOf(taken.map((type) => field(type, names))),
    refused.filter((message) => !message.includes(`the widget ${widget} is for ${taken.join(', ')}, not for `)),
    strange.filter((message, at) => !message.includes(`no option '${stray[at]}'`)),
    without.filter((message, at) => !message.includes(`'${needed[at]}' is missing`)),
  ]).toEqual(['it worked', [], [], []]);
}); // biome-ignore format: short

test('CurrencyInput | the currency is three capital letters | widget', async () => {
  const outcomes = [];
  for (const currency of ['EUR', 'eur', 'Eur', 'EURO', 'EU', '', 7])
    outcomes.push(await outcomeOf([{ label: 'A', type: 'Number', widget: 'CurrencyInput', currency }]));
  const problem = expect.stringContaining('currency must be three capital letters such as EUR');
  expect(outcomes).toEqual(['it worked', ...Array(6).fill(problem)]);
});

const uri = 'data:text/plain;name=a;base64,aGk=';
const lists: Readonly<Record<string, readonly [more: object, items: readonly unknown[]]>> = {
  EnumList: [{ enumValues: ['a', 'b', 'c', 'd'] }, ['a', 'b', 'c', 'd']],
  FileList: [{}, [uri, uri, uri, uri]],
  NumberList: [{}, [1, 0, -2, 3.5]],
  StringList: [{}, ['a', 'b', 'c', 'd']],
};
const entries = [
  1,
  'two',
  { value: 3, label: 'Three' },
  { value: 'four', label: 'four' },
  { value: null, label: 'None' },
  0,
];
const withPlaceholder = Object.entries(widgets).filter(([, [, names]]) => names.includes('placeholder'));
/** Fields of one widget with each kind of placeholder. */
function placeholders(widget: string, [types, names]: readonly [types: string, options: string]): readonly object[] {
  const needed = [...names.matchAll(/\((\w+)\)/g)].map(([, name]) => [name, optionValues[name!]]);
  const field = { type: types.split(' ')[0], widget, ...Object.fromEntries(needed) };
  const kinds = { Text: 'p', Empty: '', Made: () => '', Null: null, Gone: async () => null, Bare: undefined };
  return Object.entries(kinds).map(([label, placeholder]) => ({ label, ...field, placeholder }));
}
let place: Forms;
beforeAll(async () => {
  place = await openForms(['CREATE TABLE cities (id INTEGER PRIMARY KEY)'], {
    ...Object.fromEntries(withPlaceholder.map(([widget, each]) => [widget, placeholders(widget, each)])),
    ...Object.fromEntries(
      Object.entries(lists).map(([type, [more]]) => [type, [{ label: 'A', type, minItems: 2, maxItems: 3, ...more }]]),
    ),
    required: [
      { label: 'Box', type: 'Boolean', widget: 'Checkbox', isRequired: true },
      { label: 'Zero', type: 'Number', widget: 'NumberInput', isRequired: true },
    ],
    options: [
      { label: 'Number', type: 'Number', widget: 'Dropdown', options: [1, { value: 3, label: 'Three' }, 0] },
      { label: 'Text', type: 'String', widget: 'Dropdown', options: entries },
      { label: 'Later', type: 'Number', widget: 'RadioGroup', options: async () => [7, 0] },
    ],
  });
}); // biome-ignore format: short
afterAll(() => place?.stop());

test.each(['Checkbox', 'NumberInput'])('%s | false and 0 satisfy isRequired | widget', async () => {
  expect([
    await place.submit('required', { Box: false, Zero: 0 }),
    (await place.form('required', { values: { Box: false, Zero: 0 } })).missing,
    (await place.form('required', { values: { Box: null } })).missing,
    await place.submit('required', {}),
  ]).toEqual([
    { Box: false, Zero: 0 },
    undefined,
    ['Box', 'Zero'],
    { Box: 'is required: send true or false', Zero: 'is required: send a number' },
  ]);
});

test.each(withPlaceholder)('%s | an empty placeholder is kept; without one, front ends get none | widget', async (widget) => {
  const shown = Object.values(await place.load(widget)) as unknown as readonly { widgetEdit: { parameters: object } }[];
  // A Dropdown always has the member.
  const none = widget === 'Dropdown' ? [null] : [];
  expect(shown.map(({ widgetEdit: { parameters } }) => ('placeholder' in parameters ? [parameters.placeholder] : []))).toEqual([['p'], [''], [''], none, none, none]);
}); // biome-ignore format: short

describe('type', () => {
  test.each(Object.entries(lists))('type | %s | at least minItems and at most maxItems', async (name, [, items]) => {
    const submit = async (count: number) => {
      const got = (await place.submit(name, { A: items.slice(0, count) })) as { readonly A: unknown };
      return Array.isArray(shown(got.A)) ? (shown(got.A) as unknown[]).length : got.A;
    };
    const few = 'send at least 2 values';
    const many = 'send at most 3 values';
    expect([await submit(1), await submit(2), await submit(3), await submit(4)]).toEqual([few, 2, 3, many]);
    const problems = [];
    for (const count of [1, 2, 4])
      problems.push((await place.form(name, { values: { A: items.slice(0, count) } })).problems);
    expect(problems).toEqual([{ A: few }, undefined, { A: many }]);
  });
});

test('options: strings and numbers, and values with a label; a sent value must be one of them', async () => {
  const { fields } = await place.form('options');
  const { Number: number, Text, Later } = await place.load('options');
  const parameters = (told: unknown) => (told as { widgetEdit: { parameters: { static: { options: unknown } } } }).widgetEdit.parameters.static.options;
  const whole = [1, 'two', { value: 3, label: 'Three' }, 'four', { value: null, label: 'None' }, 0];
  expect([[parameters(number), parameters(Text), parameters(Later)], [fields.Number.options, fields.Text.options, fields.Later.options]]).toEqual(
    Array(2).fill([[1, { value: 3, label: 'Three' }, 0], whole, [7, 0]]),
  );
  const outcomes = [];
  for (const values of [{ Number: 0 }, { Number: '3' }, { Number: 2 }, { Later: 0 }, { Later: 1 }, { Text: 'four' }, { Text: 'Three' }])
    outcomes.push(await place.submit('options', values));
  expect(outcomes).toEqual([
    { Number: 0 },
    { Number: 3 },
    { Number: expect.stringContaining('send one of') },
    { Later: 0 },
    { Later: expect.stringContaining('send one of') },
    { Text: 'four' },
    { Text: expect.stringContaining('send one of') },
  ]);
}); // biome-ignore format: short
