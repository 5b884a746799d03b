// The field that names a record for people: chosen by code, or guessed, within the rights of the caller.
import { expect, onTestFinished, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { accessOf, sellers } from './shop.ts';

async function open(customize: (agent: HeadlessAgent) => void = () => undefined) {
  const shop = await sellers[0]!.open({ customize });
  onTestFinished(() => shop.close());
  return shop.engine;
}

test('the display field is a text field with a common name', async () => {
  const engine = await open();
  expect(engine.describe(accessOf(), 'customers').displayField).toBe('name');
  expect(engine.describe(accessOf(), 'line_notes').displayField).toBeUndefined();
});

test('the display field is never hidden', async () => {
  const engine = await open((agent) => agent.customizeCollection('customers', (all) => all.displayField('secret')));
  expect(engine.describe(accessOf(), 'customers').displayField).toBe('secret');
  const hidden = (...names: string[]) => accessOf({ hidden: names.map((name) => `customers.${name}`) });
  expect(engine.describe(hidden('secret'), 'customers').displayField).toBe('name');
  expect(engine.describe(hidden('secret', 'name'), 'customers').displayField).toBeUndefined();
});

test('the display field has its published name', async () => {
  const engine = await open((agent) =>
    agent.customizeCollection('customers', (all) => all.renameField('city', 'town').displayField('city')),
  );
  expect(engine.describe(accessOf(), 'customers').displayField).toBe('town');
});

test.each([
  [['title', 'name'], 'name'],
  [['email', 'order_number'], 'order_number'],
  [['first_name', 'email'], 'email'],
  [['code', 'unitLabel', 'label'], 'label'],
  [['user_name', 'note'], 'user_name'],
])('the display field of %s is %s', async (names, expected) => {
  const engine = await open((agent) =>
    agent.addDataSource(async () =>
      createMemorySource('other', [
        {
          name: 'order',
          columns: [{ name: 'id', type: 'Number' }, ...names.map((name) => ({ name, type: 'String' as const }))],
          primaryKey: ['id'],
          rows: [],
        },
      ]),
    ),
  );
  expect(engine.describe(accessOf(), 'order').displayField).toBe(expected);
});

test.each([
  [
    (agent: HeadlessAgent) => agent.customizeCollection('customers', (all) => all.displayField('nam')),
    /nam.*Near: name/,
  ],
  [
    (agent: HeadlessAgent) => agent.customizeCollection('orders', (all) => all.displayField('customer')),
    /is a relation and cannot be the display field/,
  ],
  [
    (agent: HeadlessAgent) =>
      agent.customizeCollection('customers', (all) => all.displayField('name').displayField('city')),
    /display field of 'customers' is already defined/,
  ],
])('an invalid display field fails the start with what to change', async (customize, message) => {
  await expect(open(customize)).rejects.toThrow(message);
});
