import { afterEach, describe, expect, test } from 'vitest';
import type { FormElement } from '../../src/agent/actions/definitions.ts';
import { add, closeAll, memory, openForm } from '../agent/actions/counter.ts';
import { accessOf } from '../agent/shop.ts';

afterEach(closeAll);

const nothing = () => undefined;

describe('label', () => {
  test('label | string | names the field to callers, unless it has an id', async () => {
    const form = await openForm([
      { label: 'Note', type: 'String' },
      { label: 'Other', id: 'other', type: 'String' },
    ]);
    expect([await form.submit({ Note: 'a', other: 'b' }), await form.submit({ Other: 'b' })]).toEqual([
      { Note: 'a', other: 'b' },
      { Other: 'there is no such field: send other' },
    ]);
  });
});

type Kind = Exclude<FormElement['type'], 'Layout'>;
const file = { name: 'a b.txt', mimeType: 'text/plain', content: Buffer.from('hi') };
const uri = 'data:text/plain;name=a%20b.txt;base64,aGk=';
const extra: Partial<Record<Kind, object>> = {
  Enum: { enumValues: ['new', 'old'] },
  EnumList: { enumValues: ['new', 'old'] },
  Collection: { collectionName: 'customers' },
};

describe('type', () => {
  test.each<[Kind, [given: unknown, taken: unknown][], [given: unknown, problem: string][]]>([
    [
      'String',
      [
        ['é', 'é'],
        [12, '12'],
      ],
      [[{}, 'send a text']],
    ],
    [
      'Number',
      [
        [1.5, 1.5],
        [' 12 ', 12],
      ],
      [
        ['x', 'send a number'],
        ['12345678901234567890', 'send a number of at most 15 digits'],
      ],
    ],
    [
      'Boolean',
      [
        [false, false],
        ['true', true],
      ],
      [['yes', 'send true or false']],
    ],
    [
      'Date',
      [
        ['2025-07-01T10:00', '2025-07-01T08:00:00.000Z'],
        ['2025-07-01', '2025-06-30T22:00:00.000Z'],
      ],
      [['soon', "send an instant such as '2025-03-30T08:00:00Z'"]],
    ],
    ['Dateonly', [['2024-02-29', '2024-02-29']], [['2025-02-29', "send a day such as '2025-03-30'"]]],
    ['Time', [['14:30', '14:30:00']], [['25:00', "send a time such as '14:30:00'"]]],
    [
      'Enum',
      [['new', 'new']],
      [
        ['nw', 'send one of new, ...'],
        ['zzzzzzzz', 'send one of new, old'],
      ],
    ],
    [
      'EnumList',
      [
        [
          ['old', 'new'],
          ['old', 'new'],
        ],
        ['new', ['new']],
      ],
      [[['new', 'odl'], 'send some of old, ...']],
    ],
    [
      'File',
      [
        [uri, file],
        [file, file],
      ],
      [['hi', "send a file as 'data:<media type>;name=<file name>;base64,<content>'"]],
    ],
    [
      'FileList',
      [[[uri], [file]]],
      [[[uri, 3], "value 2: send a file as 'data:<media type>;name=<file name>;base64,<content>'"]],
    ],
    [
      'Json',
      [
        [{ a: [1] }, { a: [1] }],
        ['{"a":[1]}', { a: [1] }],
      ],
      [['{a', 'send JSON: an object, a list, or their text']],
    ],
    [
      'Collection',
      [
        [2, [2]],
        ['3', [3]],
        [[1], [1]],
      ],
      [
        [9, "send the id of a record of 'customers'"],
        [{}, 'send the id of a record'],
      ],
    ],
    [
      'NumberList',
      [
        [
          [1, '2'],
          [1, 2],
        ],
        [3, [3]],
      ],
      [[[1, 'x'], 'value 2: send a number']],
    ],
    [
      'StringList',
      [
        [['a'], ['a']],
        ['b', ['b']],
      ],
      [[['a', {}], 'value 2: send a text']],
    ],
  ])('type | %s', async (type, taken, refused) => {
    const form = await openForm([{ label: 'A', type, ...extra[type] } as FormElement], {
      access: accessOf({ timezone: 'Europe/Paris' }),
    });
    const outcomes: unknown[] = [];
    for (const [given] of [...taken, ...refused])
      outcomes.push(((await form.submit({ A: given })) as { A: unknown }).A);
    expect(outcomes).toEqual([...taken, ...refused].map(([, expected]) => expected));
  });

  test('Collection | a record that the caller may not see is no value', async () => {
    const access = accessOf({ scopes: { customers: { field: 'city', operator: 'Equal', value: 'Rome' } } });
    const form = await openForm([{ label: 'Who', type: 'Collection', collectionName: 'customers' }], { access });
    expect([await form.submit({ Who: 2 }), await form.submit({ Who: 1 })]).toEqual([
      { Who: [2] },
      { Who: "send the id of a record of 'customers'" },
    ]);
  });
});

test('isRequired | boolean', async () => {
  const form = await openForm([
    { label: 'A', type: 'String', isRequired: true },
    { label: 'B', type: 'Enum', enumValues: ['x', 'y'], isRequired: ({ formValues }) => formValues.A === 'b' },
    { label: 'C', type: 'StringList', isRequired: true, defaultValue: ['c'] },
  ]);
  const answer = await form.load({ values: { A: '' } });
  expect([
    answer.missing,
    answer.canExecute,
    await form.submit({ A: 'b', C: [] }),
    await form.submit({ A: 'a' }),
  ]).toEqual([
    ['A'],
    false,
    { B: 'is required: send one of x, y', C: 'is required: send a list of texts' },
    { A: 'a', C: ['c'] },
  ]);
});

test('isReadOnly | boolean', async () => {
  const form = await openForm([
    { label: 'Open', type: 'Boolean' },
    { label: 'Total', type: 'Number', defaultValue: 7, isReadOnly: ({ formValues }) => !formValues.Open },
  ]);
  expect([
    await form.submit({ Total: 8 }),
    await form.submit({ Total: '7' }),
    await form.submit({ Open: true, Total: 8 }),
    (await form.load({ values: { Total: 8 } })).values,
  ]).toEqual([{ Total: 'is read-only: leave it out' }, { Total: 7 }, { Open: true, Total: 8 }, { Total: 7 }]);
});

test('description | string', async () => {
  const form = await openForm([
    { label: 'A', type: 'String', description: 'of old' },
    { label: 'B', type: 'String', description: ({ caller }) => `for ${caller.firstName}` },
  ]);
  expect((await form.load()).fields.map(({ description }) => description)).toEqual(['of old', 'for Ada']);
});

test('defaultValue | any | used while nothing was sent', async () => {
  const form = await openForm([
    { label: 'A', type: 'Number', defaultValue: 1 },
    { label: 'B', type: 'Number', defaultValue: ({ formValues }) => (formValues.A as number) + 1 },
  ]);
  expect([await form.submit({}), await form.submit({ A: 5, B: null }), await form.submit({ B: 9 })]).toEqual([
    { A: 1, B: 2 },
    { A: 5, B: null },
    { A: 1, B: 9 },
  ]);
});

test('value | function (context) | computed value', async () => {
  const form = await openForm([
    { label: 'Price', type: 'Number' },
    { label: 'Double', type: 'Number', value: ({ formValues }) => (formValues.Price as number) * 2 },
    { label: 'Note', type: 'String', value: ({ formValues }) => (formValues.Double === 8 ? 'eight' : undefined) },
  ]);
  expect([await form.submit({ Price: 4, Double: 1, Note: 'x' }), await form.submit({ Price: 5, Note: 'x' })]).toEqual([
    { Price: 4, Double: 8, Note: 'eight' },
    { Price: 5, Double: 10, Note: 'x' },
  ]);
});

test('enumValues | string[] or async function (context) | for Enum types', async () => {
  const form = await openForm([
    { label: 'Land', type: 'String' },
    {
      label: 'City',
      type: 'Enum',
      enumValues: async ({ formValues }) => (formValues.Land === 'fr' ? ['Paris'] : ['Rome']),
    },
  ]);
  const answer = await form.load({ values: { Land: 'fr' } });
  expect([answer.fields[1]?.enumValues, await form.submit({ Land: 'it', City: 'Paris' })]).toEqual([
    ['Paris'],
    { City: 'send one of Rome' },
  ]);
});

test('collectionName | string | for Collection type', async () => {
  const field = { label: 'Who', type: 'Collection', collectionName: 'customers' } as const;
  const form = await openForm([field]);
  const actions = [add({ scope: 'Global', form: [{ ...field, collectionName: 'custmers' }], execute: nothing })];
  expect(form.describe()[0]?.fields?.[0]?.collectionName).toBe('customers');
  await expect(memory.open({ actions })).rejects.toThrow("field 'Who': no collection 'custmers' (near: customers).");
});

test('widget | Dropdown', async () => {
  const form = await openForm([
    {
      label: 'Size',
      type: 'Number',
      widget: 'Dropdown',
      options: [1, { value: 2, label: 'two' }],
      placeholder: 'Pick',
    },
  ]);
  expect(form.describe()[0]?.fields).toEqual([
    {
      id: 'Size',
      label: 'Size',
      type: 'Number',
      value: null,
      isRequired: false,
      isReadOnly: false,
      isWatched: false,
      widget: 'Dropdown',
      options: [
        { value: 1, label: '1' },
        { value: 2, label: 'two' },
      ],
      settings: { placeholder: 'Pick' },
    },
  ]);
});

test('options | array of {label, value} or async function (context, searchValue) | dropdown entries', async () => {
  const cities = async (context: { readonly formValues: Record<string, unknown> }) =>
    context.formValues.Land === 'fr' ? ['Paris', 'Lyon'] : ['Rome'];
  const form = await openForm([
    { label: 'Land', type: 'String', widget: 'Dropdown', options: [{ label: 'France', value: 'fr' }] },
    { label: 'City', type: 'StringList', widget: 'Dropdown', options: cities },
  ]);
  const answer = await form.load({ values: { Land: 'fr' } });
  expect([
    answer.fields[1]?.options?.map(({ label }) => label),
    await form.submit({ Land: 'de' }),
    await form.submit({ Land: 'fr', City: ['Lyon', 'Rome'] }),
    await form.submit({ Land: 'fr', City: ['Lyon'] }),
  ]).toEqual([
    ['Paris', 'Lyon'],
    { Land: 'send one of fr' },
    { City: 'send one of Paris, Lyon' },
    { Land: 'fr', City: ['Lyon'] },
  ]);
});

test('placeholder | string', async () => {
  const form = await openForm([
    { label: 'A', type: 'String', widget: 'TextInput', placeholder: ({ caller }) => `as ${caller.firstName}` },
  ]);
  expect((await form.load()).fields[0]?.settings).toEqual({ placeholder: 'as Ada' });
});

describe('search', () => {
  const all = ['Paris', 'Parma', 'Rome'];
  const find = (_: unknown, search: string | null) =>
    search === null ? [] : all.filter((city) => city.startsWith(search));

  test('search | dynamic | the handler is given what is typed, whatever the handler is called', async () => {
    const form = await openForm([
      { label: 'City', type: 'String', widget: 'Dropdown', search: 'dynamic', options: find },
      {
        type: 'Layout',
        component: 'Row',
        fields: [
          { label: 'Other', type: 'String', widget: 'Dropdown', search: 'dynamic', options: (_, text) => [`${text}!`] },
        ],
      },
    ]);
    expect([
      await form.search('City', 'Par'),
      await form.search('Other', 'x'),
      (await form.load()).fields[0]?.options,
    ]).toEqual([['Paris', 'Parma'].map((value) => ({ value, label: value })), [{ value: 'x!', label: 'x!' }], []]);
  });

  test('search | dynamic | a value is one that some search has found', async () => {
    const names = [{ value: 7, label: 'Seven' }];
    const byName = (_: unknown, text: string | null) => names.filter(({ label }) => text && label.startsWith(text));
    const form = await openForm([
      { label: 'Who', type: 'Number', widget: 'Dropdown', search: 'dynamic', options: byName },
    ]);
    expect([
      await form.submit({ Who: 7 }, { Who: 'Sev' }),
      await form.submit({ Who: 8 }, { Who: 'Sev' }),
      await form.submit({ Who: 7 }),
    ]).toEqual([
      { Who: 7 },
      { Who: "send one of its options; search them, and send the searched text in 'searches' with the values" },
      { Who: "send one of its options; search them, and send the searched text in 'searches' with the values" },
    ]);
  });

  test('search | static | the options are all there, and a text finds among their labels', async () => {
    const form = await openForm([
      { label: 'City', type: 'String', widget: 'Dropdown', search: 'static', options: all },
    ]);
    expect([
      form.describe()[0]?.fields?.[0]?.search,
      (await form.search('City', 'ROM')).map(({ value }) => value),
    ]).toEqual(['static', ['Rome']]);
  });

  test('search | disabled', async () => {
    const form = await openForm([
      { label: 'City', type: 'String', widget: 'Dropdown', search: 'disabled', options: all },
    ]);
    expect([form.describe()[0]?.fields?.[0]?.search, await form.submit({ City: 'Oslo' })]).toEqual([
      'disabled',
      { City: 'send one of Paris, Parma, Rome' },
    ]);
  });
});

test('if | function (context) returning boolean | conditional display based on formValues', async () => {
  const form = await openForm([
    { label: 'Kind', type: 'String' },
    { label: 'Why', type: 'String', isRequired: true, if: ({ formValues }) => formValues.Kind === 'other' },
  ]);
  const shown = async (Kind: string) => (await form.load({ values: { Kind } })).fields.map(({ id }) => id);
  expect([
    await shown('late'),
    await shown('other'),
    await form.submit({ Kind: 'late' }),
    await form.submit({ Kind: 'late', Why: 'x' }),
    await form.submit({ Kind: 'other' }),
  ]).toEqual([
    ['Kind'],
    ['Kind', 'Why'],
    { Kind: 'late' },
    { Why: 'is not asked for: leave it out' },
    { Why: 'is required: send a text' },
  ]);
});
