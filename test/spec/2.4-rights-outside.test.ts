// Values of forms that name records, by callers who may not see these records, over MCP.
import { afterEach, expect, test } from 'vitest';
import type { ActionDefinition } from '../../src/agent/actions/definitions.ts';
import type { Rights } from '../agent/shop.ts';
import { type Counter, openCounter } from '../mcp/counter.ts';

let counter: Counter;
afterEach(() => counter.house.close());

let ran: unknown[] = [];
const assign: ActionDefinition = {
  scope: 'Global',
  form: [
    { label: 'customer', type: 'Collection', collectionName: 'customers' },
    { label: 'other', type: 'Collection', collectionName: ({ formValues }) => (formValues.customer ? 'customers' : 'orders') },
  ],
  execute: ({ formValues }) => void ran.push(formValues.customer),
}; // biome-ignore format: a form

async function answers(rights: Rights, ids: readonly unknown[], field = 'customer') {
  ran = [];
  counter = await openCounter({ Assign: assign }, rights);
  const action = { collectionName: 'orders', actionName: 'Assign' };
  const problems: unknown[] = [];
  for (const id of ids) {
    const values = field === 'customer' ? { customer: id } : { customer: 1, other: id };
    const form = JSON.parse(await counter.ask('getActionForm', { ...action, values }));
    const text = await counter.ask('executeAction', { ...action, values });
    problems.push([form.problems?.[field], text.includes('send the id of a record')]);
  }
  return { problems, ran };
}

const refused = ["send the id of a record of 'customers'", true];
const accepted = [undefined, false];

test('collectionName: a record of a collection that the caller may not browse is as unknown as one that does not exist', async () => {
  expect(await answers({ browse: ['orders'] }, [1, 99])).toEqual({ problems: [refused, refused], ran: [] });
  await counter.house.close();
  expect(await answers({}, [1, 99])).toEqual({ problems: [accepted, refused], ran: [[1]] });
});

test('collectionName: a record out of the row scope is as unknown as one that does not exist, also for a function', async () => {
  const scopes = { customers: { field: 'id', operator: 'Equal', value: 1 } } as const;
  expect(await answers({ scopes }, [1, 2, 99])).toEqual({ problems: [accepted, refused, refused], ran: [[1]] });
  await counter.house.close();
  expect((await answers({ scopes }, [1, 2, 99], 'other')).problems).toEqual([accepted, refused, refused]);
});
