// The tool getActionForm over the real endpoint.
import { afterEach, describe, expect, test } from 'vitest';
import type { ActionDefinition } from '../../src/agent/actions/definitions.ts';
import type { Rights } from '../agent/shop.ts';
import { type Counter, openCounter } from '../mcp/counter.ts';

let counter: Counter;
afterEach(() => counter.house.close());

const refund: ActionDefinition = {
  scope: 'Single',
  description: 'Gives money back',
  form: [
    {
      component: 'Page',
      type: 'Layout',
      elements: [
        { type: 'Layout', component: 'HtmlBlock', content: '<p>At most the <b>total</b>.</p><script>steal()</script>' },
        {
          label: 'Amount',
          id: 'amount',
          type: 'Number',
          isRequired: true,
          widget: 'NumberInput',
          min: 1,
          max: 50,
          step: 0.5,
        },
        { label: 'reason', type: 'Enum', enumValues: ['damaged', 'late', 'other'] },
        { label: 'note', type: 'String', if: ({ formValues }) => formValues.reason === 'other', isRequired: true },
        { label: 'by', type: 'String', isReadOnly: true, value: ({ caller }) => caller.email },
        {
          label: 'city',
          type: 'String',
          widget: 'Dropdown',
          search: 'dynamic',
          options: (_, text) => (text === 'par' ? ['Paris', { value: 'Parma', label: 'Parma (IT)' }] : ['Oslo']),
        },
        { label: 'customer', type: 'Collection', collectionName: 'customers' },
        { label: 'total', type: 'Number', defaultValue: async (context) => Number(await context.getField('total')) },
      ],
    },
  ],
  execute: () => undefined,
};
const archive: ActionDefinition = { scope: 'Bulk', execute: () => undefined };
const close: ActionDefinition = {
  scope: 'Global',
  form: [{ label: 'day', type: 'Dateonly' }],
  execute: () => undefined,
};

async function open(rights: Rights = {}) {
  counter = await openCounter({ Refund: refund, Archive: archive, Close: close }, rights);
  return async (given: Record<string, unknown>) => {
    const text = await counter.ask('getActionForm', { collectionName: 'orders', actionName: 'Refund', ...given });
    return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : text;
  };
}

const fresh = {
  description: 'Gives money back',
  fields: {
    amount: { type: 'Number', label: 'Amount', required: true, min: 1, max: 50, step: 0.5 },
    reason: { type: 'Enum', values: ['damaged', 'late', 'other'], reload: true },
    by: { type: 'String', readOnly: true, value: 'ada@example.com' },
    city: { type: 'String', options: ['Oslo'], search: 'more through searches' },
    customer: { type: 'Collection', idOf: 'customers' },
    total: { type: 'Number', value: 10.5 },
  },
  notes: ['At most the total.'],
  missing: ['amount'],
  canExecute: false,
};

describe('4.4 MCP tools', () => {
  test('getActionForm: type, required, value and accepted values, for the chosen record', async () => {
    const form = await open();
    expect(await form({ recordIds: [1] })).toEqual(fresh);
    expect(await form({ recordIds: '1' })).toEqual(fresh);
  });

  test('getActionForm: evaluated again with the sent values, also as a JSON string', async () => {
    const form = await open();
    const { fields, missing, canExecute, ...rest } = (await form({
      recordIds: [1],
      values: '{"amount":"12.5","reason":"other"}',
      changedField: 'reason',
    })) as typeof fresh;
    expect([fields.amount, fields.reason, (fields as Record<string, unknown>).note, missing, canExecute, rest]).toEqual(
      [
        { ...fresh.fields.amount, value: 12.5 },
        { ...fresh.fields.reason, value: 'other' },
        { type: 'String', required: true },
        ['note'],
        false,
        { description: fresh.description, notes: fresh.notes },
      ],
    );
  });

  test('getActionForm: all errors of the values together', async () => {
    const form = await open();
    expect(
      await form({ recordIds: [1], values: { amount: 51, reason: 'latte', by: 'me', amout: 3, customer: 99 } }),
    ).toMatchObject({
      problems: {
        amount: 'send a number up to 50',
        reason: 'send one of late, ...',
        by: 'is read-only: leave it out',
        amout: 'there is no such field: send amount',
        customer: "send the id of a record of 'customers'",
      },
      canExecute: false,
    });
  });

  test('getActionForm: searches find the options of a field', async () => {
    const form = await open();
    expect(await form({ recordIds: [1], searches: { city: 'par' } })).toMatchObject({
      fields: { city: { options: ['Paris', { value: 'Parma', label: 'Parma (IT)' }] } },
    });
    expect(await form({ recordIds: [1], searches: { reason: 'd' } })).toBe(
      "INVALID_ARGUMENT: searches: 'reason' has no options. Fields with options: city.",
    );
  });

  test('getActionForm: an action without fields, a global one, and one without records yet', async () => {
    const form = await open();
    expect([
      await form({ actionName: 'Archive', recordIds: [1, 2] }),
      await form({ actionName: 'Archive' }),
      await form({ actionName: 'Close', recordIds: null }),
      await form({ actionName: 'Close', recordIds: [] }),
    ]).toEqual([
      { fields: {}, canExecute: true },
      { fields: {}, canExecute: true },
      { fields: { day: { type: 'Dateonly' } }, canExecute: true },
      { fields: { day: { type: 'Dateonly' } }, canExecute: true },
    ]);
  });
});

describe('errors', () => {
  test('getActionForm: invalid names, records and ids', async () => {
    const form = await open();
    expect([
      await form({ actionName: 'Refunds', recordIds: [1] }),
      await form({ collectionName: 'customers', recordIds: [1] }),
      await form({ collectionName: 'oders', recordIds: [1] }),
      await form({ recordIds: [99] }),
      await form({ recordIds: [1, 2] }),
      await form({ actionName: 'Close', recordIds: [1] }),
      await form({ recordIds: { id: 1 } }),
      await form({ recordIds: [1], values: 'amount' }),
      await form({ recordIds: [1], form: {} }),
    ]).toEqual([
      "UNKNOWN_ACTION: 'orders' has no action 'Refunds'. Near: Refund.",
      "UNKNOWN_ACTION: 'customers' has no action 'Refund'.",
      "UNKNOWN_COLLECTION: No collection 'oders'. Near: orders. Call describeCollection without a name for the list.",
      "RECORD_NOT_FOUND: No record '99' in 'orders', or you may not see it.",
      "INVALID_ARGUMENT: recordIds: 'Refund' runs on one record: send one id.",
      "INVALID_ARGUMENT: recordIds: 'Close' is a global action and takes no records: leave it out.",
      'INVALID_ARGUMENT: recordIds: send a list of ids, numbers or strings.',
      'INVALID_ARGUMENT: values: send an object such as {"field":"value"}.',
      'INVALID_ARGUMENT: form: unknown argument. Known: collectionName, actionName, recordIds, values, searches, changedField.',
    ]);
  });

  test('getActionForm: a hidden action or record gives the same error as an unknown one', async () => {
    const scopes = { orders: { field: 'id', operator: 'Equal', value: 2 } } as const;
    const form = await open({ untriggered: ['orders.Refund'], scopes });
    expect([
      await form({ recordIds: [2] }),
      await form({ actionName: 'Refunds', recordIds: [2] }),
      await form({ actionName: 'Archive', recordIds: [2, 1] }),
      JSON.parse(await counter.ask('describeCollection', { collectionName: 'orders' })).actions,
    ]).toEqual([
      "UNKNOWN_ACTION: 'orders' has no action 'Refund'.",
      "UNKNOWN_ACTION: 'orders' has no action 'Refunds'.",
      "RECORD_NOT_FOUND: No record '1' in 'orders', or you may not see it.",
      { Archive: 'bulk', Close: 'global form' },
    ]);
  });
});

test('describeCollection lists the actions, in full with their descriptions', async () => {
  await open();
  const describe = async (detail: string) =>
    JSON.parse(await counter.ask('describeCollection', { collectionName: 'orders', detail })).actions;
  expect([await describe('concise'), await describe('full')]).toEqual([
    { Refund: 'single form', Archive: 'bulk', Close: 'global form' },
    { Refund: 'single form: Gives money back', Archive: 'bulk', Close: 'global form' },
  ]);
});
