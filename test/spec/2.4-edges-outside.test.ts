// Edge cases of forms (behaviour 2.4): contents of a layout, and values at the limits of each widget.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createMemoryDataSource } from '../../src/index.ts';
import { shopTables } from '../agent/shop.ts';
import { emptyAgent, messageOf } from '../app/agent.ts';
import { type Forms, openForms } from './forms.ts';
import { serveOutside } from './outside.ts';

const inner = { label: 'A', type: 'String' };
const page = (...elements: object[]) => ({ type: 'Layout', component: 'Page', elements });
const row = (...fields: object[]) => ({ type: 'Layout', component: 'Row', fields });
test.each<[string, object[], string]>([
  ['Page', [page(inner), { ...inner, label: 'B' }], 'a form with pages can have only pages at its root'],
  ['Page', [page(page(inner))], 'a Page cannot contain another Page'],
  ['Page', [{ type: 'Layout', component: 'Page' }], "'elements' is missing"],
  ['Page', [{ ...page(inner), fields: [] }], "no option 'fields'"],
  ['Page', [page({ ...inner, type: 'Strng' })], "type: no 'Strng'"],
  ['Page', [{ ...page(inner), nextButtonLabl: 'x' }], "no option 'nextButtonLabl' (near: nextButtonLabel"],
  ['Row', [row(row(inner))], 'a Row can contain only fields'],
  ['Row', [row({ type: 'Layout', component: 'Separator' })], 'a Row can contain only fields'],
  ['Row', [{ type: 'Layout', component: 'Row' }], "'fields' is missing"],
  ['Row', [{ type: 'Layout', component: 'Row', fields: inner }], 'expected a list of elements'],
  ['Row', [row(inner, inner)], "two fields have the id 'A'"],
  ['Separator', [{ type: 'Layout', component: 'Separator', content: 'x' }], "no option 'content'"],
  ['Separator', [{ type: 'Layout', component: 'Seperator' }], "component: no 'Seperator' (near: Separator"],
  ['Separator', [{ type: 'Layout' }], 'component'],
  ['HtmlBlock', [{ type: 'Layout', component: 'HtmlBlock' }], "'content' is missing"],
  ['HtmlBlock', [{ type: 'Layout', component: 'HtmlBlock', content: 'x', html: 'y' }], "no option 'html'"],
  ['HtmlBlock', [{ type: 'Layout', component: 'HtmlBlock', content: 'x', if: true }], "'if' must be a function of the context"],
])('%s | an error in it ends the start: %j | layout', async (_, form, problem) => {
  const { agent } = emptyAgent();
  agent
    .addDataSource(createMemoryDataSource('shop', shopTables))
    .customizeCollection('customers', (each) => each.addAction('A', { scope: 'Global', form: form as never, execute: () => undefined }));
  const message = await messageOf(() => agent.start());
  expect([message.includes(problem) ? problem : message, message]).toEqual([problem, expect.stringMatching(/2\.4-edges-outside\.test\.ts:\d+/)]);
}); // biome-ignore format: a table

describe('bounds', () => {
  const bounded = {
    NumberInput: { type: 'Number', min: 0, max: 5, step: 2.5 },
    'NumberInput from': { type: 'Number', widget: 'NumberInput', min: 1, step: 2 },
    'NumberInput below': { type: 'Number', widget: 'NumberInput', max: 0 },
    NumberInputList: { type: 'NumberList', min: -1, max: 3 },
    'NumberInputList twice': { type: 'NumberList', widget: 'NumberInputList', allowDuplicates: true },
    CurrencyInput: { type: 'Number', currency: 'EUR', base: 'Cent', min: 0 },
    'CurrencyInput units': { type: 'Number', widget: 'CurrencyInput', currency: 'EUR', base: 'Unit' },
    ColorPicker: { type: 'String' },
    'ColorPicker clear': { type: 'String', widget: 'ColorPicker', enableOpacity: true },
    TextInputList: { type: 'StringList' },
    'TextInputList any': { type: 'StringList', widget: 'TextInputList', allowEmptyValues: true, allowDuplicates: true },
    FilePicker: { type: 'File', extensions: ['.TXT', 'tar.gz'], maxSizeMb: 0.000_003 },
    'FilePicker two': { type: 'FileList', widget: 'FilePicker', maxCount: 2 },
    DatePicker: { type: 'Dateonly', min: '2024-02-28', max: '2024-03-01' },
    CheckboxGroup: { type: 'NumberList', options: [1, { value: 2, label: 'two' }] },
    RadioGroup: { type: 'String', options: ['1', 'b'] },
  } as const;
  const file = (name: string, content: string) => `data:text/plain;name=${name};base64,${btoa(content)}`;
  const values: Readonly<Record<keyof typeof bounded, readonly [good: unknown[], bad: unknown[]]>> = {
    NumberInput: [[0, 2.5, 5], [-0.1, 5.1, 1, 2.6]],
    'NumberInput from': [[1, 3, 101], [0, 2, -1]],
    'NumberInput below': [[0, -7], [0.5, 1]],
    NumberInputList: [[[-1, 3], [0]], [[0, -2], [0, 4], [1, 1]]],
    'NumberInputList twice': [[[1, 1]], []],
    CurrencyInput: [[0, 199], [1.5, 0.01, -1]],
    'CurrencyInput units': [[1.5, -1], []],
    ColorPicker: [['#1a7f37', '#ABCDEF'], ['1a7f37', '#1a7f3', '#1a7f37cc', 'red', '#1a7f3g']],
    'ColorPicker clear': [['#1a7f37', '#1a7f37cc'], ['#1a7f37c']],
    TextInputList: [[['a', 'A']], [['a', ''], ['a', 'b', 'a']]],
    'TextInputList any': [[['', 'a', 'a', '']], []],
    FilePicker: [[file('a.txt', 'abc'), file('B.TXT', ''), file('c.tar.gz', 'x')], [file('a.txt', 'abcd'), file('atxt', 'a'), file('a.gz', 'a'), file('a.txt.exe', 'a')]],
    'FilePicker two': [[[file('a', '1'), file('b', '2')]], [[file('a', '1'), file('b', '2'), file('c', '3')]]],
    DatePicker: [['2024-02-28', '2024-02-29', '2024-03-01'], ['2024-02-27', '2024-03-02']],
    CheckboxGroup: [[[1, 2], ['2'], [2]], [[3], [1, 3]]],
    RadioGroup: [['1', 'b'], ['B', '2', 'c']],
  };
  let place: Forms;
  beforeAll(async () => {
    const forms = Object.entries(bounded).map(([name, field]) => [name, [{ label: 'A', widget: name.split(' ')[0], ...field }]]);
    place = await openForms(['CREATE TABLE cities (id INTEGER PRIMARY KEY)'], Object.fromEntries(forms));
  });
  afterAll(() => place?.stop());

  test.each(Object.keys(bounded) as (keyof typeof bounded)[])('%s | a value at each bound is accepted, and one beyond it is refused | widget', async (name) => {
    const [good, bad] = values[name];
    for (const value of good) expect(await place.submit(name, { A: value }), JSON.stringify(value)).toHaveProperty('A', expect.not.stringMatching(/^send |^value /));
    for (const value of bad) expect(await place.submit(name, { A: value }), JSON.stringify(value)).toEqual({ A: expect.stringMatching(/send /) });
  });
}); // biome-ignore format: a table

describe('value, defaultValue', () => {
  const form = [
    { label: 'Both', type: 'String', value: 'of the server', defaultValue: 'of the caller' },
    { label: 'Default', type: 'Number', defaultValue: 7 },
    { label: 'Neither', type: 'String' },
  ] as const;
  const place = serveOutside(['CREATE TABLE things (id INTEGER PRIMARY KEY)'], (agent) =>
    agent.customizeCollection('things', (each) => each.addAction('Set', { scope: 'Global', form, execute: () => undefined })),
  );

  test('value, defaultValue | the schema file and the form have the value before the default', async () => {
    const [action] = place.schema.collections[0].actions;
    const { json } = await place.tool('getActionForm', { collectionName: 'things', actionName: 'Set' });
    const expected = [['Both', 'of the server'], ['Default', 7], ['Neither', null]];
    expect(action.fields.map(({ field, defaultValue }: Record<string, unknown>) => [field, defaultValue])).toEqual(expected);
    expect(Object.entries(json.fields as Record<string, { value?: unknown }>).map(([name, { value = null }]) => [name, value])).toEqual(expected);
  });
}); // biome-ignore format: short

test('type | Date: a Date of code as a default and as a value is its instant, over HTTP and MCP', async () => {
  const at = new Date('2024-02-29T10:00:00.5Z');
  const own = await openForms(['CREATE TABLE cities (id INTEGER PRIMARY KEY)'], {
    dates: [
      { label: 'Given', type: 'Date', defaultValue: at },
      { label: 'Made', type: 'Date', defaultValue: async () => at },
      { label: 'Fixed', type: 'Date', value: () => at },
    ],
  });
  onTestFinished(() => own.stop());
  const text = '2024-02-29T10:00:00.500Z';
  const [http, mcp] = [await own.load('dates'), (await own.form('dates')).fields];
  for (const name of ['Given', 'Made', 'Fixed'])
    expect([http[name]!.value, mcp[name].value], name).toEqual([text, text]);
  expect(await own.submit('dates', {})).toEqual({ Given: text, Made: text, Fixed: text });
});

test('type | Number, NumberList: an integer that a double cannot hold is refused, whatever its form', async () => {
  const own = await openForms(['CREATE TABLE cities (id INTEGER PRIMARY KEY)'], {
    numbers: [{ label: 'A', type: 'Number' }],
    lists: [{ label: 'A', type: 'NumberList' }],
  });
  onTestFinished(() => own.stop());
  const largest = Number.MAX_SAFE_INTEGER;
  expect(await own.submit('numbers', { A: largest })).toEqual({ A: largest });
  expect(await own.submit('lists', { A: [-largest, 1] })).toEqual({ A: [-largest, 1] });
  for (const large of [largest + 1, -largest - 1, 1e20, '12345678901234567'])
    for (const [name, value] of [
      ['numbers', large],
      ['lists', [1, large]],
    ] as const)
      expect([name, large, await own.submit(name, { A: value })]).toEqual([
        name,
        large,
        { A: expect.stringContaining('send a number of at most 15 digits') },
      ]);
});
