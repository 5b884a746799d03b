// An invalid action definition fails the start. The error names the action and the line that added it.
import { afterEach, describe, expect, test } from 'vitest';
import type { ActionDefinition, FormElement } from '../../../src/agent/actions/definitions.ts';
import { accessOf } from '../shop.ts';
import { add, closeAll, memory, openCounter } from './counter.ts';

afterEach(closeAll);

const plain: ActionDefinition = { scope: 'Global', execute: () => undefined };
const field = (element: object) => ({ label: 'A', type: 'String', ...element }) as FormElement;
const layout = (element: object) => ({ type: 'Layout', ...element }) as unknown as FormElement;

async function startError(definition: object, name = 'Act', collection = 'orders'): Promise<string> {
  const opened = memory.open({ actions: [add({ ...plain, ...definition } as ActionDefinition, name, collection)] });
  return opened.then(
    () => 'started',
    (error: Error) => error.message,
  );
}

test.each<[problem: string, FormElement[]]>([
  ['element 1: label is missing', [field({ label: '' })]],
  ["field 'A': type: no 'Strng' (near: String)", [field({ type: 'Strng' })]],
  ["field 'A': no option 'isRequierd' (near: isRequired)", [field({ isRequierd: true })]],
  ["field 'A': widget: no 'DropDwn' (near: Dropdown)", [field({ widget: 'DropDwn' })]],
  ["field 'A': the widget Checkbox is for Boolean, not for String", [field({ widget: 'Checkbox' })]],
  ["field 'A': 'options' is missing", [field({ widget: 'Dropdown' })]],
  ["field 'A': 'enumValues' is missing", [field({ type: 'Enum' })]],
  ["field 'A': 'if' must be a function of the context", [field({ if: true })]],
  ["field 'A': 'maxSizeMb' cannot be a function", [field({ type: 'File', widget: 'FilePicker', maxSizeMb: () => 1 })]],
  [
    "field 'A': currency must be three capital letters such as EUR",
    [field({ type: 'Number', widget: 'CurrencyInput', currency: 'euro' })],
  ],
  ["field 'A': expected a value of type Number", [field({ type: 'Number', defaultValue: 'x' })]],
  [
    "field 'A': a dynamic search needs 'options' to be a function of the context and the search",
    [field({ widget: 'Dropdown', search: 'dynamic', options: [] })],
  ],
  ["two fields have the id 'A': change one of them", [field({}), layout({ component: 'Row', fields: [field({})] })]],
  ["two fields have the id 'A': change one of them", [field({ label: 'B', id: 'A' }), field({})]],
  ["element 1: component: no 'Rwo' (near: Row)", [layout({ component: 'Rwo', fields: [] })]],
  [
    'element 1 (Row), element 1: a Row can contain only fields',
    [layout({ component: 'Row', fields: [layout({ component: 'Separator' })] })],
  ],
  [
    'a form with pages can have only pages at its root: move the other elements into a page',
    [layout({ component: 'Page', elements: [] }), field({})],
  ],
])('%s', async (problem, form) => {
  expect(await startError({ form })).toBe(`Action 'Act' of 'orders' (added at shop.ts:7): ${problem}.`);
});

test.each<[problem: string, definition: object, name?: string, collection?: string]>([
  ['scope must be one of Single, Bulk, Global', { scope: 'Many' }],
  ['execute must be a function (context, resultBuilder)', { execute: 'now' }],
  ["no option 'exectue' (near: execute)", { exectue: () => undefined }],
  ['there is no such collection (near: orders)', {}, 'Act', 'ordrs'],
  ['an action needs a name without spaces at its ends', {}, ' '],
])('%s', async (problem, definition, name = 'Act', collection = 'orders') => {
  expect(await startError(definition, name, collection)).toBe(
    `Action '${name}' of '${collection}' (added at shop.ts:7): ${problem}.`,
  );
});

describe('URLs', () => {
  const two = [add(plain, 'Mark as paid!'), { ...add(plain, 'mark as  PAID?'), at: 'shop.ts:9' }];

  test('behaviour 2.1 | useUnsafeActionEndpoint | the route is /_actions/{collection}/{slug} instead of .../{index}/{slug}', async () => {
    const actions = [add(plain, 'Mark as paid!'), add(plain, 'Close')];
    const endpoints = async (useUnsafeActionEndpoint: boolean) => {
      const counter = await openCounter(plain, { actions, useUnsafeActionEndpoint });
      return counter.describe().map(({ endpoint }) => endpoint);
    };
    expect([await endpoints(false), await endpoints(true)]).toEqual([
      ['/_actions/orders/0/mark-as-paid-', '/_actions/orders/1/close'],
      ['/_actions/orders/mark-as-paid-', '/_actions/orders/close'],
    ]);
  });

  test('behaviour 7 | useUnsafeActionEndpoint enabled and two actions of one collection share a slug | the agent refuses to start', async () => {
    await expect(memory.open({ actions: two, useUnsafeActionEndpoint: true })).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message:
        "Action 'mark as  PAID?' of 'orders' (added at shop.ts:9): its URL name 'mark-as-paid-' is also that of 'Mark as paid!', added at shop.ts:7; rename one of them, or set useUnsafeActionEndpoint to false.",
    });
  });

  test('without useUnsafeActionEndpoint, or on two collections, actions may share a slug', async () => {
    const apart = [add(plain, 'Close'), add(plain, 'close', 'customers')];
    const shops = [
      await memory.open({ actions: two }),
      await memory.open({ actions: apart, useUnsafeActionEndpoint: true }),
    ];
    expect(shops.map(({ engine }) => engine.actions.describe(accessOf(), 'orders').length)).toEqual([2, 1]);
    await Promise.all(shops.map((shop) => shop.close()));
  });

  test('two actions with the same name are refused', async () => {
    await expect(memory.open({ actions: [add(plain), add(plain)] })).rejects.toThrow(
      "Action 'Act' of 'orders' (added at shop.ts:7): another action has this name, added at shop.ts:7.",
    );
  });
});

test('addAction of a customizer adds an action, and errors name the line of the call', async () => {
  const definition: ActionDefinition = { scope: 'Global', execute: (_context, result) => result.success('Shipped') };
  const shop = await memory.open({
    customize: (agent) => agent.customizeCollection('orders', (orders) => orders.addAction('Ship', definition)),
  });
  const result = await shop.engine.actions.execute(accessOf(), { collection: 'orders', action: 'Ship' });
  await shop.close();
  expect(result).toMatchObject({ type: 'success', message: 'Shipped' });

  const wrong = memory.open({
    customize: (agent) =>
      agent.customizeCollection('orders', (orders) =>
        orders.addAction('Ship', { ...definition, scope: 'Globl' } as unknown as ActionDefinition),
      ),
  });
  await expect(wrong).rejects.toThrow(/start\.test\.ts:\d+/);
});
