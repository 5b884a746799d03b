// Valid action definitions compile, and invalid ones do not: tsc reads this file.
import type { ActionDefinition } from '../../src/agent/actions/definitions.ts';

interface Refund {
  Amount: number;
  Reason?: string;
  tags?: readonly string[];
}

export const refund: ActionDefinition<Refund> = {
  scope: 'Single',
  form: [
    {
      label: 'Amount',
      type: 'Number',
      widget: 'NumberInput',
      min: 1,
      max: async (context) => context.formValues.Amount,
    },
    {
      label: 'Reason',
      type: 'Enum',
      enumValues: ['late', 'broken'],
      if: (context) => context.hasFieldChanged('Amount'),
    },
    {
      type: 'Layout',
      component: 'Row',
      fields: [
        {
          id: 'tags',
          label: 'Tags',
          type: 'StringList',
          value: async (context) => [await context.getRecordId()].map(String),
        },
      ],
    },
  ],
  async execute(context, resultBuilder) {
    const amount: number = context.formValues.Amount;
    const id: string | number = await context.getRecordId();
    return resultBuilder.setHeader('X-Id', String(id)).success(`Refunded ${amount}`);
  },
};

export const silent: ActionDefinition = { scope: 'Global', execute: () => {} };
export const silentLater: ActionDefinition = { scope: 'Global', execute: async () => {} };
export const sometimes: ActionDefinition = {
  scope: 'Bulk',
  execute: async (context, resultBuilder) => {
    if ((await context.getRecords(['id'])).length > 9) return resultBuilder.error('Too many');
  },
};
export const open: ActionDefinition = {
  scope: 'Bulk',
  form: [
    { label: 'City', type: 'String', widget: 'Dropdown', search: 'dynamic', options: (_, search) => [search ?? ''] },
    { label: 'When', type: 'Date', defaultValue: '2025-01-01T00:00:00Z' },
    { label: 'Which', type: 'Collection', collectionName: 'orders' },
  ],
  execute: (context, resultBuilder) => resultBuilder.success(String(context.formValues.City)),
};

export const wrong: readonly ActionDefinition<Refund>[] = [
  {
    scope: 'Bulk',
    // @ts-expect-error: no such form value
    execute: (context) => context.formValues.Amuont,
  },
  {
    scope: 'Bulk',
    // @ts-expect-error: only Single has one record
    execute: async (context) => void (await context.getRecordId()),
  },
  {
    scope: 'Bulk',
    // @ts-expect-error: no such field
    execute: (context) => void context.hasFieldChanged('Amuont'),
  },
  {
    scope: 'Single',
    // @ts-expect-error: not one of the form's values
    form: [{ label: 'Amuont', type: 'Number' }],
    execute: () => undefined,
  },
  {
    scope: 'Single',
    // @ts-expect-error: a number is not filled in as a text
    form: [{ label: 'Amount', type: 'String' }],
    execute: () => undefined,
  },
  {
    scope: 'Single',
    execute: () => undefined,
    // @ts-expect-error: at most plain texts
    submitButtonLabel: 3,
  },
  {
    scope: 'Single',
    // @ts-expect-error: a result comes from the result builder
    execute: () => 'done',
  },
  // @ts-expect-error: no such scope
  { scope: 'Many', execute: () => undefined },
];

export const wrongElements: readonly ActionDefinition[] = [
  {
    scope: 'Global',
    // @ts-expect-error: a default of another type
    form: [{ label: 'A', type: 'Number', defaultValue: 'one' }],
    execute: () => undefined,
  },
  {
    scope: 'Global',
    // @ts-expect-error: no such type
    form: [{ label: 'A', type: 'Text' }],
    execute: () => undefined,
  },
  {
    scope: 'Global',
    // @ts-expect-error: an Enum needs its values
    form: [{ label: 'A', type: 'Enum' }],
    execute: () => undefined,
  },
  {
    scope: 'Global',
    // @ts-expect-error: a Dropdown needs options
    form: [{ label: 'A', type: 'String', widget: 'Dropdown' }],
    execute: () => undefined,
  },
  {
    scope: 'Global',
    // @ts-expect-error: a Checkbox is for Boolean
    form: [{ label: 'A', type: 'String', widget: 'Checkbox' }],
    execute: () => undefined,
  },
  {
    scope: 'Global',
    // @ts-expect-error: a page within a row
    form: [{ type: 'Layout', component: 'Row', fields: [{ type: 'Layout', component: 'Page', elements: [] }] }],
    execute: () => undefined,
  },
];
