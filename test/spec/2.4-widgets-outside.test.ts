// Widgets and layouts of forms with each of their options: the definition that front ends and assistants read, accepted
// values, and errors for other values.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Forms, openForms, shown } from './forms.ts';

const uri = (name: string, bytes = 2) =>
  `data:text/plain;name=${name};base64,${Buffer.alloc(bytes, 'a').toString('base64')}`;
const file = (name: string) => ({ name, mimeType: 'text/plain', content: 'aa' });

interface Case {
  readonly of: object;
  /** `widgetEdit` over HTTP. */
  readonly http: readonly [name: string, parameters: object];
  /** The field over MCP, without its type. */
  readonly mcp?: object;
  readonly taken: readonly (readonly [given: unknown, got?: unknown])[];
  readonly refused?: readonly (readonly [given: unknown, problem: string])[];
}

const numbers = { placeholder: 'How many', min: 2, max: 10, step: 0.5 };
const bounded = [
  [1.5, 'send a number from 2 on'],
  [10.5, 'send a number up to 10'],
  [2.25, 'send a number in steps of 0.5 from 2'],
] as const;
const two = { options: ['a', { value: 'b', label: 'Bee' }] };
const ofTwo = { static: { options: ['a', { value: 'b', label: 'Bee' }] } };
const cases: Readonly<Record<string, Case>> = {
  'RadioGroup of String': { of: { type: 'String', ...two }, http: ['radio button', ofTwo], mcp: two, taken: [['a'], ['b']], refused: [['Bee', 'send one of b, ...']] },
  'RadioGroup of Number': { of: { type: 'Number', options: [1, 2] }, http: ['radio button', { static: { options: [1, 2] } }], mcp: { options: [1, 2] }, taken: [['2', 2]], refused: [[3, 'send one of 1, 2']] },
  CheckboxGroup: { of: { type: 'StringList', ...two }, http: ['checkboxes', ofTwo], mcp: two, taken: [[['b', 'a']], [[]]], refused: [[['a', 'c'], 'send one of a, b']] },
  'CheckboxGroup of NumberList': { of: { type: 'NumberList', options: [1, 2], maxItems: 1 }, http: ['checkboxes', { maxItems: 1, static: { options: [1, 2] } }], mcp: { options: [1, 2], maxItems: 1 }, taken: [[['2'], [2]]], refused: [[[2, 1], 'send at most 1 values']] },
  Checkbox: { of: { type: 'Boolean' }, http: ['boolean editor', {}], taken: [[false], ['true', true]], refused: [['yes', 'send true or false']] },
  TextInput: { of: { type: 'String', placeholder: 'Name' }, http: ['text editor', { placeholder: 'Name' }], taken: [['x']] },
  TextInputList: { of: { type: 'StringList', placeholder: 'Words', enableReorder: true, minItems: 1, maxItems: 2 }, http: ['input array', { placeholder: 'Words', enableReorder: true, minItems: 1, maxItems: 2 }], mcp: { minItems: 1, maxItems: 2 }, taken: [[['b', 'a']]], refused: [[['a', 'a'], 'send each value once'], [['a', ''], 'send no empty strings'], [['a', 'b', 'c'], 'send at most 2 values']] },
  'TextInputList of anything': { of: { type: 'StringList', allowEmptyValues: true, allowDuplicates: true }, http: ['input array', { allowEmptyValues: true, allowDuplicates: true }], taken: [[['', 'a', 'a']]] },
  TextArea: { of: { type: 'String', placeholder: 'Text', rows: 5 }, http: ['text area editor', { placeholder: 'Text', rows: 5 }], taken: [['a\nb']] },
  RichText: { of: { type: 'String', placeholder: 'Text' }, http: ['rich text', { placeholder: 'Text' }], taken: [['<b>a</b>']] },
  NumberInput: { of: { type: 'Number', ...numbers }, http: ['number input', numbers], mcp: { min: 2, max: 10, step: 0.5 }, taken: [[2], [10], ['2.5', 2.5]], refused: bounded },
  'NumberInput by functions': { of: { type: 'Number', min: () => 2, max: async () => null }, http: ['number input', { min: 2 }], mcp: { min: 2 }, taken: [[2], [1e9]], refused: [[1, 'send a number from 2 on']] },
  NumberInputList: { of: { type: 'NumberList', ...numbers, enableReorder: true }, http: ['input array', { ...numbers, enableReorder: true }], mcp: { min: 2, max: 10, step: 0.5 }, taken: [[[10, 2.5]]], refused: [...bounded.map(([given, problem]) => [[5, given], problem] as const), [[5, 5], 'send each value once']] },
  'NumberInputList with the same again': { of: { type: 'NumberList', allowDuplicates: true }, http: ['input array', { allowDuplicates: true }], taken: [[[5, 5]]] },
  CurrencyInput: { of: { type: 'Number', currency: 'EUR', ...numbers, base: 'Unit' }, http: ['price editor', { currency: 'EUR', base: 'Unit', ...numbers }], mcp: { currency: 'EUR', base: 'Unit', min: 2, max: 10, step: 0.5 }, taken: [[2.5]], refused: bounded },
  'CurrencyInput in cents': { of: { type: 'Number', currency: () => 'USD', base: 'Cent' }, http: ['price editor', { currency: 'USD', base: 'Cent' }], mcp: { currency: 'USD', base: 'Cent' }, taken: [[250]], refused: [[2.5, 'send a whole number of cents']] },
  ColorPicker: { of: { type: 'String', quickPalette: ['#ffffff'], placeholder: 'Color' }, http: ['color editor', { quickPalette: ['#ffffff'], placeholder: 'Color' }], taken: [['#1A7f37']], refused: [['#1a7f37cc', "send a color such as '#1a7f37'"], ['red', "send a color such as '#1a7f37'"]] },
  'ColorPicker with opacity': { of: { type: 'String', enableOpacity: true }, http: ['color editor', { enableOpacity: true }], taken: [['#1a7f37cc'], ['#1a7f37']], refused: [['#1a7f37c', "send a color such as '#1a7f37cc'"]] },
  DatePicker: { of: { type: 'Dateonly', format: 'DD/MM', min: '2024-02-01', max: '2024-02-29', placeholder: 'Day' }, http: ['date editor', { format: 'DD/MM', min: '2024-02-01', max: '2024-02-29', placeholder: 'Day' }], mcp: { min: '2024-02-01', max: '2024-02-29' }, taken: [['2024-02-01'], ['2024-02-29']], refused: [['2024-01-31', 'send a date from 2024-02-01 on'], ['2024-03-01', 'send a date up to 2024-02-29']] },
  'DatePicker of Date': { of: { type: 'Date', min: '2024-02-01' }, http: ['date editor', { min: '2024-01-31T23:00:00.000Z' }], mcp: { min: '2024-01-31T23:00:00.000Z' }, taken: [['2024-01-31T23:00:00Z', '2024-01-31T23:00:00.000Z']], refused: [['2024-01-31T22:59:59Z', 'send a timestamp from 2024-01-31T23:00:00.000Z on']] },
  TimePicker: { of: { type: 'Time' }, http: ['time editor', {}], taken: [['00:00', '00:00:00'], ['23:59:59']], refused: [['24:00', "send a time such as '14:30:00'"]] },
  AddressAutocomplete: { of: { type: 'String', placeholder: 'Street' }, http: ['address editor', { placeholder: 'Street' }], taken: [['1 Rue A']] },
  UserDropdown: { of: { type: 'String', placeholder: 'Who' }, http: ['assignee editor', { placeholder: 'Who' }], taken: [['ada@example.com']], refused: [['nobody@example.com', "send the e-mail address of a user; no user has 'nobody@example.com'"]] },
  'UserDropdown of StringList': { of: { type: 'StringList' }, http: ['assignee editor', {}], taken: [[['ada@example.com']]], refused: [[['ada@example.com', 'b'], "send the e-mail address of a user; no user has 'b'"]] },
  FilePicker: { of: { type: 'File', extensions: ['.TXT', 'md'], maxSizeMb: 0.001 }, http: ['file picker', { extensions: ['.TXT', 'md'], maxSizeMb: 0.001 }], mcp: { extensions: ['.TXT', 'md'], maxSizeMb: 0.001 }, taken: [[uri('a.txt'), file('a.txt')], [uri('a.MD'), file('a.MD')]], refused: [[uri('a.txt.exe'), 'send a file with one of these extensions: .txt, .md'], [uri('atxt'), 'send a file with one of these extensions: .txt, .md'], [uri('a.md', 2000), 'send a file of at most 0.001 MB']] },
  'FilePicker of FileList': { of: { type: 'FileList', maxCount: 2, maxItems: 3 }, http: ['file picker', { maxCount: 2, maxItems: 3 }], mcp: { maxCount: 2, maxItems: 3 }, taken: [[[uri('b'), uri('a')], [file('b'), file('a')]]], refused: [[[uri('a'), uri('b'), uri('c')], 'send at most 2 values']] },
  JsonEditor: { of: { type: 'Json' }, http: ['json code editor', {}], taken: [[{ a: [1, null] }], ['{"a":1}', { a: 1 }], [[]]], refused: [['{a', 'send JSON: an object, a list, or a JSON string']] },
  Dropdown: { of: { type: 'String', ...two }, http: ['dropdown', { searchType: null, isSearchable: false, placeholder: null, ...ofTwo }], mcp: two, taken: [['b']], refused: [['Bee', 'send one of b, ...']] },
  'Dropdown of Dateonly': { of: { type: 'Dateonly', search: 'static', placeholder: 'Day', options: ['2024-02-29'] }, http: ['dropdown', { searchType: null, isSearchable: true, placeholder: 'Day', static: { options: ['2024-02-29'] } }], mcp: { options: ['2024-02-29'] }, taken: [['2024-02-29']], refused: [['2024-03-01', 'send one of 2024-02-29']] },
  'Dropdown of NumberList': { of: { type: 'NumberList', search: 'disabled', options: [1, 2] }, http: ['dropdown', { searchType: null, isSearchable: false, placeholder: null, static: { options: [1, 2] } }], mcp: { options: [1, 2] }, taken: [[['2', 1], [2, 1]]], refused: [[[1, 3], 'send one of 1, 2']] },
}; // biome-ignore format: a table

const A = { label: 'a', type: 'String' };
const layouts = {
  Page: [
    { type: 'Layout', component: 'Page', nextButtonLabel: 'On', previousButtonLabel: 'Back', elements: [A, { type: 'Layout', component: 'HtmlBlock', content: '<i>In</i> a page' }] },
    { type: 'Layout', component: 'Page', elements: [{ label: 'b', type: 'String', isRequired: true }] },
  ],
  Row: [{ type: 'Layout', component: 'Row', fields: [A, { label: 'b', type: 'String', if: ({ formValues }: { formValues: { a?: string } }) => formValues.a === 'x' }] }, { type: 'Layout', component: 'Row', fields: [{ label: 'c', type: 'String', if: () => false }] }],
  Separator: [A, { type: 'Layout', component: 'Separator' }, { type: 'Layout', component: 'Separator', if: () => false }, { label: 'b', type: 'String' }],
  HtmlBlock: [
    { type: 'Layout', component: 'HtmlBlock', content: '<p>Of <b>old</b></p><script>1</script>' },
    A,
    { type: 'Layout', component: 'HtmlBlock', content: async ({ formValues }: { formValues: { a?: string } }) => `for ${formValues.a ?? 'nobody'}` },
    { type: 'Layout', component: 'HtmlBlock', content: 'never', if: () => false },
  ],
}; // biome-ignore format: a table

let place: Forms;
beforeAll(async () => {
  const forms = Object.entries(cases).map(([name, { of }]) => [name, [{ label: 'A', widget: name.split(' ')[0], ...of }]]);
  place = await openForms(
    ['CREATE TABLE cities (id INTEGER PRIMARY KEY)'],
    { ...Object.fromEntries(forms), ...layouts },
  );
}); // biome-ignore format: short
afterAll(() => place?.stop());

test.each(Object.entries(cases))('%s | widget', async (name, { of, http, mcp = {}, taken, refused = [] }) => {
  const { A: told } = await place.load(name);
  const { fields } = await place.form(name);
  const { type } = of as { readonly type: string };
  expect([told!.widgetEdit, fields.A]).toEqual([
    { name: http[0], parameters: http[1] },
    { type, ...mcp },
  ]);
  const outcomes = [];
  for (const [given] of taken) outcomes.push(shown(((await place.submit(name, { A: given })) as { A: unknown }).A));
  for (const [given] of refused) outcomes.push(((await place.submit(name, { A: given })) as { A: unknown }).A);
  const [[first, got = first]] = taken as [readonly [unknown, unknown?]];
  const overMcp = (await place.execute(name, { values: { A: first } })) as { readonly A: unknown };
  expect([outcomes, shown(overMcp.A)]).toEqual([
    [...taken.map(([given, value = given]) => value), ...refused.map(([, problem]) => problem)],
    got,
  ]);
  const problems = [];
  for (const [given] of refused) problems.push((await place.form(name, { values: { A: given } })).problems);
  expect(problems).toEqual(refused.map(([, problem]) => ({ A: problem })));
});

const input = (fieldId: string) => ({ component: 'input', fieldId });
test.each<[keyof typeof layouts, unknown]>([
  [
    'Page',
    [
      {
        component: 'page',
        nextButtonLabel: 'On',
        previousButtonLabel: 'Back',
        elements: [input('a'), { component: 'htmlBlock', content: '<i>In</i> a page' }],
      },
      { component: 'page', elements: [input('b')] },
    ],
  ],
  ['Row', [{ component: 'row', fields: [input('a')] }]],
  ['Separator', [input('a'), { component: 'separator' }, input('b')]],
  [
    'HtmlBlock',
    [
      { component: 'htmlBlock', content: '<p>Of <b>old</b></p><script>1</script>' },
      input('a'),
      { component: 'htmlBlock', content: 'for nobody' },
    ],
  ],
])('%s | layout', async (name, layout) => {
  expect(await place.layout(name)).toEqual(layout);
  const { fields, notes, missing } = await place.form(name, { values: { a: 'x' } });
  const text = { a: { type: 'String', value: 'x' }, b: { type: 'String' } };
  expect({ fields, notes, missing }).toMatchObject(
    {
      Page: { fields: { a: text.a, b: { type: 'String', required: true } }, notes: ['In a page'], missing: ['b'] },
      Row: { fields: { a: { ...text.a, reload: true }, b: text.b } },
      Separator: { fields: text },
      HtmlBlock: { notes: ['Of old', 'for x'], fields: { a: { ...text.a, reload: true } } },
    }[name],
  );
});
