// Which handlers a form runs, and when. The handlers count their calls.
import { afterEach, describe, expect, test } from 'vitest';
import type { BulkContext, FormElement } from '../../../src/agent/actions/definitions.ts';
import { Stop } from '../../../src/core/clock/stop.ts';
import { accessOf } from '../shop.ts';
import { closeAll, openCounter, openForm } from './counter.ts';

afterEach(closeAll);

const nothing = () => undefined;

/** Names of the handlers called since the last read. */
function createCalls() {
  let names: string[] = [];
  return {
    note<Result>(name: string, result: Result): Result {
      names.push(name);
      return result;
    },
    take() {
      const taken = names.sort();
      names = [];
      return taken;
    },
  };
}

describe('dependency tracking', () => {
  const watching = () => {
    const calls = createCalls();
    const form: FormElement[] = [
      { label: 'Land', type: 'String' },
      { label: 'Note', type: 'String' },
      {
        label: 'City',
        type: 'String',
        widget: 'Dropdown',
        options: ({ formValues }) => calls.note('cities', [`${formValues.Land}1`, `${formValues.Land}2`]),
      },
      {
        label: 'Tax',
        type: 'Number',
        value: ({ formValues }) => calls.note('tax', formValues.Land === 'fr' ? 20 : 19),
        description: async () => calls.note('text', 'per cent'),
      },
      { label: 'Sum', type: 'Number', value: ({ formValues }) => calls.note('sum', (formValues.Tax as number) * 2) },
      { label: 'Hint', type: 'String', if: ({ formValues }) => calls.note('hint', formValues.Note === 'why') },
    ];
    return { calls, form };
  };

  test('a handler runs again only when a value that it read has changed', async () => {
    const { calls, form } = watching();
    const open = await (await openForm(form)).openForm({ values: { Land: 'fr' } });
    const seen = [calls.take()];
    for (const values of [
      { Land: 'fr' },
      { Land: 'fr', Note: 'x' },
      { Land: 'fr', Note: 'why' },
      { Land: 'de', Note: 'why' },
    ]) {
      await open.fill(values);
      seen.push(calls.take());
    }
    expect(seen).toEqual([
      ['cities', 'hint', 'sum', 'sum', 'tax', 'text'],
      [],
      ['hint'],
      ['hint'],
      ['cities', 'sum', 'tax'],
    ]);
  });

  test('the form marks the fields on which others depend', async () => {
    const answer = await (await openForm(watching().form)).load();
    expect(answer.fields.filter(({ isWatched }) => isWatched).map(({ id }) => id)).toEqual(['Land', 'Note', 'Tax']);
  });

  test('a value from the caller stays until a dependency of the field changes', async () => {
    const { form } = watching();
    const open = await (await openForm(form)).openForm({ values: { Land: 'fr' } });
    const sums: unknown[] = [open.answer.values.Sum];
    for (const values of [
      { Land: 'fr', Sum: 7 },
      { Land: 'fr', Sum: 7, Note: 'x' },
      { Land: 'de', Sum: 7, Note: 'x' },
    ])
      sums.push((await open.fill(values)).values.Sum);
    expect(sums).toEqual([40, 7, 7, 38]);
  });

  test('a handler that reads its own field runs once', async () => {
    const form = await openForm([
      { label: 'N', type: 'Number', value: ({ formValues }) => ((formValues.N as number | undefined) ?? 0) + 1 },
    ]);
    expect([await form.submit({}), await form.submit({ N: 4 })]).toEqual([{ N: 1 }, { N: 5 }]);
  });

  test('a handler that enumerates all values depends on all of them', async () => {
    const form = await openForm([
      { label: 'A', type: 'String' },
      {
        label: 'All',
        type: 'Json',
        value: ({ formValues }: BulkContext) => Object.keys(formValues).filter((id) => id !== 'All'),
      },
    ]);
    const open = await form.openForm();
    expect([open.answer.values.All, (await open.fill({ A: 'x' })).values.All]).toEqual([[], ['A']]);
  });

  test('a form function runs again only when a value that it read has changed', async () => {
    const calls = createCalls();
    const counter = await openCounter({
      scope: 'Global',
      form: ({ formValues }: BulkContext) =>
        calls.note('form', [
          { label: 'Count', type: 'Number' },
          { label: 'Note', type: 'String' },
          ...Array.from({ length: Number(formValues.Count ?? 0) }, (_, index) => ({
            label: `Item ${index + 1}`,
            type: 'String' as const,
          })),
        ]),
      execute: nothing,
    });
    const open = await counter.openForm({ values: { Note: 'x' } });
    calls.take();
    const ids = async (values: Record<string, unknown>) => (await open.fill(values)).fields.map(({ id }) => id);
    expect([await ids({ Note: 'y' }), calls.take(), await ids({ Count: 2 }), calls.take()]).toEqual([
      ['Count', 'Note'],
      [],
      ['Count', 'Note', 'Item 1', 'Item 2'],
      ['form'],
    ]);
  });

  test('values that keep changing give an error that names their fields', async () => {
    const form = await openForm([
      { label: 'A', type: 'Number', value: ({ formValues }) => ((formValues.B as number) ?? 0) + 1 },
      { label: 'B', type: 'Number', value: ({ formValues }) => ((formValues.A as number) ?? 0) + 1 },
    ]);
    await expect(form.load()).rejects.toMatchObject({
      code: 'ACTION_FAILED',
      cause: { message: expect.stringContaining('the values of A, B keep changing') },
    });
  });
});

describe('hidden fields', () => {
  test('only their `if` is evaluated, also when the action is executed', async () => {
    const calls = createCalls();
    const form = await openForm([
      {
        label: 'A',
        type: 'String',
        if: () => false,
        value: () => calls.note('value', 'a'),
        description: () => calls.note('description', 'a'),
        isReadOnly: () => calls.note('isReadOnly', true),
        defaultValue: () => calls.note('defaultValue', 'a'),
      },
    ]);
    expect([await form.load(), await form.submit({}), calls.take()]).toMatchObject([
      { fields: [], values: {} },
      {},
      [],
    ]);
  });

  test('handlers do not see a value sent for a hidden field', async () => {
    const form = await openForm([
      { label: 'Secret', type: 'String', if: () => false },
      { label: 'Seen', type: 'String', value: ({ formValues }) => String(formValues.Secret) },
    ]);
    expect((await form.load({ values: { Secret: 'x' } })).values).toEqual({ Seen: 'undefined' });
  });

  test.each([false, 0, null, undefined, ''])('an `if` that returns %s hides the field', async (given) => {
    const form = await openForm([{ label: 'A', type: 'String', if: () => given as boolean }]);
    expect((await form.load()).fields).toEqual([]);
  });

  test('the fields of a hidden layout are hidden, and an empty layout is left out', async () => {
    const form = await openForm([
      { label: 'More', type: 'Boolean' },
      {
        type: 'Layout',
        component: 'Row',
        if: ({ formValues }) => formValues.More === true,
        fields: [{ label: 'A', type: 'String' }],
      },
      { type: 'Layout', component: 'Row', fields: [{ label: 'B', type: 'String', if: () => false }] },
    ]);
    const more = await form.load({ values: { More: true } });
    expect([(await form.load()).layout, more.layout, await form.submit({ A: 'x' })]).toEqual([
      [{ component: 'Input', fieldId: 'More' }],
      [
        { component: 'Input', fieldId: 'More' },
        { component: 'Row', fields: [{ component: 'Input', fieldId: 'A' }] },
      ],
      { A: 'is not shown: leave it out' },
    ]);
  });
});

test('pages, rows, separators and HTML blocks are returned in their order', async () => {
  const page = (elements: FormElement[], rest: object = {}) =>
    ({ type: 'Layout', component: 'Page', elements, ...rest }) as FormElement;
  const form = await openForm([
    page([
      { type: 'Layout', component: 'HtmlBlock', content: ({ formValues }) => `<b>${formValues.A ?? 'none'}</b>` },
      { label: 'A', type: 'String' },
      { type: 'Layout', component: 'Separator' },
    ]),
    page([{ type: 'Layout', component: 'Row', fields: [{ label: 'B', type: 'String' }] }], { nextButtonLabel: 'On' }),
    page([{ label: 'C', type: 'String', if: () => false }]),
  ]);
  expect((await form.load({ values: { A: 'x' } })).layout).toEqual([
    {
      component: 'Page',
      elements: [
        { component: 'HtmlBlock', content: '<b>x</b>' },
        { component: 'Input', fieldId: 'A' },
        { component: 'Separator' },
      ],
    },
    {
      component: 'Page',
      elements: [{ component: 'Row', fields: [{ component: 'Input', fieldId: 'B' }] }],
      nextButtonLabel: 'On',
    },
  ]);
});

describe('validation', () => {
  test('all problems are reported together by label, and the action does not run', async () => {
    const form = await openForm([
      { label: 'How many', id: 'count', type: 'Number', widget: 'NumberInput', min: 1, max: 9 },
      { label: 'Name', type: 'String', isRequired: true },
    ]);
    const wrong = form.execute({ values: { count: 10, nmae: 'x' } });
    await expect(wrong).rejects.toMatchObject({
      code: 'INVALID_FORM',
      status: 400,
      message:
        "Nothing was done: the form of 'Act' has 3 problems. 'nmae': there is no such field: send Name. 'How many': send a number up to 9. 'Name': is required: send a string.",
    });
  });

  test('loading a form reports missing and invalid values without an error', async () => {
    const form = await openForm([
      { label: 'A', type: 'Number' },
      { label: 'B', type: 'String', isRequired: true },
    ]);
    const { missing, problems, canExecute } = await form.load({ values: { A: 'x' } });
    expect({ missing, problems, canExecute }).toEqual({
      missing: ['B'],
      problems: [{ field: 'A', label: 'A', problem: 'send a number' }],
      canExecute: false,
    });
  });

  test('handlers cannot change form values', async () => {
    const form = await openForm([
      {
        label: 'A',
        type: 'String',
        value: ({ formValues }) => {
          (formValues as Record<string, unknown>).A = 'x';
          return undefined;
        },
      },
    ]);
    await expect(form.load()).rejects.toMatchObject({
      code: 'ACTION_FAILED',
      details: { part: "'value' of field 'A'" },
      cause: { message: expect.stringContaining('formValues cannot be changed') },
    });
  });

  test.each<[string, FormElement]>([
    ['value of another type', { label: 'A', type: 'Number', value: () => 'x' as unknown as number }],
    [
      'string instead of a list of options',
      { label: 'A', type: 'String', widget: 'RadioGroup', options: () => 'x' as unknown as [] },
    ],
    ['missing list of enumValues', { label: 'A', type: 'Enum', enumValues: async () => undefined }],
    ['collection name that is unknown', { label: 'A', type: 'Collection', collectionName: () => 'nowhere' }],
  ])('a handler that returns a %s gives ACTION_FAILED', async (_, element) => {
    await expect((await openForm([element])).submit({ A: 1 })).rejects.toMatchObject({ code: 'ACTION_FAILED' });
  });
});

test('a form function that fails after a cancellation gives CANCELLED', async () => {
  const stop = new Stop();
  const { actions } = await openForm([
    {
      label: 'Rate',
      type: 'Number',
      value: () => {
        stop.abort();
        throw new Error('the request was aborted');
      },
    },
  ]);
  const loading = actions.loadForm(accessOf(), { collection: 'orders', action: 'Act' }, { signal: stop });
  await expect(loading).rejects.toMatchObject({ code: 'CANCELLED' });
});
