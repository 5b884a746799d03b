// The values that each widget accepts, and the errors for other values.
import { afterEach, expect, test } from 'vitest';
import type { FormElement } from '../../../src/agent/actions/definitions.ts';
import { closeAll, openForm } from './counter.ts';

afterEach(closeAll);

const data = (name: string, bytes: number) =>
  `data:text/plain;name=${name};base64,${Buffer.alloc(bytes).toString('base64')}`;
const field = (element: object) => ({ label: 'A', ...element }) as FormElement;
const number = { type: 'Number', widget: 'NumberInput' };
const list = { type: 'NumberList', widget: 'NumberInputList' };
const texts = { type: 'StringList', widget: 'TextInputList' };

test.each<[FormElement, taken: unknown[], refused: [unknown, string][]]>([
  [
    field({ ...number, min: 1, max: 3 }),
    [1, 3],
    [
      [0, 'send a number from 1 on'],
      [4, 'send a number up to 3'],
    ],
  ],
  [field({ ...number, min: 0.1, step: 0.1 }), [0.1, 0.3, 12.7], [[0.15, 'send a number in steps of 0.1 from 0.1']]],
  [field({ ...number, max: async () => 2 }), [2], [[3, 'send a number up to 2']]],
  [
    field({ ...list, min: 1, step: 2 }),
    [[1, 3]],
    [
      [[1, 4], 'send a number in steps of 2 from 1'],
      [[0], 'send a number from 1 on'],
    ],
  ],
  [field({ ...list }), [[1, 2]], [[[1, 1], 'send each value once']]],
  [field({ ...list, allowDuplicates: true }), [[1, 1]], []],
  [
    field({ ...texts }),
    [['a', 'b']],
    [
      [['a', 'a'], 'send each value once'],
      [['a', ''], 'send no empty strings'],
    ],
  ],
  [field({ ...texts, allowEmptyValues: true, allowDuplicates: true }), [['', '']], []],
  [
    field({ type: 'StringList', minItems: 2, maxItems: 3 }),
    [['a', 'b']],
    [
      [['a'], 'send at least 2 values'],
      [['a', 'b', 'c', 'd'], 'send at most 3 values'],
    ],
  ],
  [
    field({ type: 'Number', widget: 'CurrencyInput', currency: 'EUR', base: 'Cent' }),
    [100],
    [[1.5, 'send a whole number of cents']],
  ],
  [
    field({ type: 'String', widget: 'ColorPicker' }),
    ['#1A7f37'],
    [
      ['red', "send a color such as '#1a7f37'"],
      ['#1a7f37cc', "send a color such as '#1a7f37'"],
    ],
  ],
  [
    field({ type: 'String', widget: 'ColorPicker', enableOpacity: true }),
    ['#1a7f37cc'],
    [['red', "send a color such as '#1a7f37cc'"]],
  ],
  [
    field({ type: 'Dateonly', widget: 'DatePicker', min: '2025-01-02', max: '2025-02-01' }),
    ['2025-01-02'],
    [
      ['2025-01-01', 'send a date from 2025-01-02 on'],
      ['2025-02-02', 'send a date up to 2025-02-01'],
    ],
  ],
  [
    field({ type: 'Date', widget: 'DatePicker', min: '2025-01-02T00:00:00+02:00' }),
    ['2025-01-01T22:00:00.000Z'],
    [['2025-01-01T21:59:59Z', 'send a timestamp from 2025-01-01T22:00:00.000Z on']],
  ],
  [field({ type: 'Time', widget: 'TimePicker' }), ['10:00:00'], [['x', "send a time such as '14:30:00'"]]],
  [field({ type: 'String', widget: 'RadioGroup', options: ['a', 'b'] }), ['a'], [['c', 'send one of a, b']]],
  [
    field({ type: 'NumberList', widget: 'CheckboxGroup', options: [1, 2, 3] }),
    [[1, 3]],
    [[[1, 4], 'send one of 1, 2, 3']],
  ],
  [field({ type: 'Boolean', widget: 'Checkbox' }), [true], [['on', 'send true or false']]],
  [field({ type: 'String', widget: 'TextArea', rows: 4 }), ['a\nb'], [[[], 'send a string']]],
  [field({ type: 'String', widget: 'RichText' }), ['<p>a</p>'], [[{}, 'send a string']]],
  [field({ type: 'String', widget: 'AddressAutocomplete' }), ['1 Main St'], [[{}, 'send a string']]],
  [field({ type: 'StringList', widget: 'UserDropdown' }), [['ada@example.com']], [[[{}], 'value 1: send a string']]],
  [
    field({ type: 'Json', widget: 'JsonEditor' }),
    [{ a: 1 }],
    [['{', 'send JSON: an object, a list, or a JSON string']],
  ],
])('$widget of $type accepts and refuses values: %j', async (element, taken, refused) => {
  const form = await openForm([element]);
  const outcomes: unknown[] = [];
  for (const given of [...taken, ...refused.map(([wrong]) => wrong)])
    outcomes.push(((await form.submit({ A: given })) as { A: unknown }).A);
  expect(outcomes).toEqual([...taken, ...refused.map(([, problem]) => problem)]);
});

test('FilePicker checks the extensions, size and number of files', async () => {
  const form = await openForm([
    field({ type: 'FileList', widget: 'FilePicker', extensions: ['.CSV', 'txt'], maxSizeMb: 0.001, maxCount: 2 }),
  ]);
  const outcomes: unknown[] = [];
  for (const files of [
    [data('a.csv', 1000)],
    [data('a.pdf', 1)],
    [data('a.txt', 1001)],
    ['a', 'b', 'c'].map((name) => data(`${name}.txt`, 1)),
  ])
    outcomes.push(((await form.submit({ A: files })) as { A: unknown }).A);
  expect(outcomes).toEqual([
    [{ name: 'a.csv', mimeType: 'text/plain', content: Buffer.alloc(1000) }],
    'send a file with one of these extensions: .csv, .txt',
    'send a file of at most 0.001 MB',
    'send at most 2 values',
  ]);
});
