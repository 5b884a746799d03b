// Permissions of actions, and what the errors of action code disclose.
import { afterEach, expect, test } from 'vitest';
import { ActionError } from '../../../src/agent/actions/failure.ts';
import { accessOf } from '../shop.ts';
import { closeAll, openCounter } from './counter.ts';

afterEach(closeAll);

test('an action that the caller may not trigger does not exist', async () => {
  const access = accessOf({ untriggered: ['orders.Act'] });
  const counter = await openCounter({ scope: 'Global', execute: () => undefined }, { access });
  expect(counter.describe()).toEqual([]);
  for (const call of [counter.load(), counter.execute(), counter.search('A', '')])
    await expect(call).rejects.toMatchObject({ code: 'UNKNOWN_ACTION', details: { near: [] } });
});

test('an action of a collection that the caller may not browse does not exist', async () => {
  const counter = await openCounter(
    { scope: 'Global', execute: () => undefined },
    { access: accessOf({ browse: ['customers'] }) },
  );
  await expect(counter.execute()).rejects.toMatchObject({ code: 'UNKNOWN_COLLECTION' });
});

test('a selection by a hidden field is refused as an unknown field', async () => {
  const counter = await openCounter(
    { scope: 'Bulk', execute: () => undefined },
    { access: accessOf({ hidden: ['orders.total'] }) },
  );
  const filter = { field: 'total', operator: 'GreaterThan', value: 1 } as const;
  await expect(counter.execute({ filter })).rejects.toMatchObject({ code: 'UNKNOWN_FIELD' });
});

test('the user gets the message of an ActionError; other errors only reach the log, with the action and its line', async () => {
  const thrown = [new ActionError('Paid out already.'), new Error('secret')];
  const counter = await openCounter({
    scope: 'Global',
    execute() {
      throw thrown.shift();
    },
  });
  await expect(counter.execute()).rejects.toMatchObject({ code: 'ACTION_REFUSED', message: 'Paid out already.' });
  await expect(counter.execute()).rejects.toMatchObject({
    message: "The code of the action 'Act' of 'orders' failed (execute). Tell the operator; the log has the cause.",
    cause: { message: "Action 'Act' of 'orders' (defined at shop.ts:7), execute: secret" },
  });
});
