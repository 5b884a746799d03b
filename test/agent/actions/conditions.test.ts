// A role may trigger an action under a condition. The condition must hold for every record that the action runs on,
// however they were selected, both when the form loads and when the code runs. If it fails, no data changes.
import { afterEach, describe, expect, test } from 'vitest';
import type { ActionDefinition } from '../../../src/agent/actions/definitions.ts';
import type { PlainFilter } from '../../../src/core/filter.ts';
import { accessOf, type Rights, sellers } from '../shop.ts';
import { add, closeAll, memory, openCounter } from './counter.ts';

afterEach(closeAll);

const dear: PlainFilter = { field: 'total', operator: 'GreaterThan', value: 15 };
const under = (condition: PlainFilter, rights: Rights = {}) =>
  accessOf({ ...rights, conditions: { 'orders.Act': condition } });
const refused = (ids: string) => ({
  code: 'FORBIDDEN',
  message: `You may not run 'Act' on 'orders': your role allows this only under a condition, not met by ${ids}. The action did not run; leave those records out.`,
});

describe.each(sellers)('on $name', (seller) => {
  async function openBulk(access = under(dear)) {
    const ran: unknown[] = [];
    const definition: ActionDefinition = {
      scope: 'Bulk',
      form: [{ label: 'A', type: 'String', value: async (context) => String((await context.getRecordIds()).length) }],
      async execute(context) {
        ran.push(await context.getRecordIds());
      },
    };
    return { ran, ...(await openCounter(definition, { access, seller })) };
  }

  test('the condition must hold for every selected record, by id and by filter, or the action does not run', async () => {
    const counter = await openBulk();
    await counter.execute({ recordIds: [2, 3] });
    await counter.execute({ filter: { field: 'customer_id', operator: 'Equal', value: 2 } });
    await expect(counter.execute({ recordIds: [1, 2, 5] })).rejects.toMatchObject(refused("'1', '5'"));
    await expect(counter.execute({ filter: { field: 'id', operator: 'LessThan', value: 3 } })).rejects.toMatchObject(
      refused("'1'"),
    );
    expect(counter.ran).toEqual([
      [2, 3],
      [2, 3],
    ]);
  });

  test('the form, its options, the check and the preview are refused too', async () => {
    const counter = await openBulk();
    const request = { collection: 'orders', action: 'Act', recordIds: [1] };
    const access = under(dear);
    const calls: readonly (() => Promise<unknown>)[] = [
      () => counter.load({ recordIds: [1] }),
      () => counter.openForm({ recordIds: [1] }),
      () => counter.search('A', '', { recordIds: [1] }),
      () => counter.actions.check(access, request),
      () => counter.actions.preview(access, request),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject(refused("'1'"));
    expect((await counter.load({ recordIds: [2] })).fields[0]).toMatchObject({ value: '1' });
  });

  test.skipIf(seller === memory)('a condition that no longer holds refuses the next call', async () => {
    const counter = await openBulk();
    await counter.execute({ recordIds: [2] });
    await counter.shop.run('update orders set total = 1 where id = 2');
    await expect(counter.execute({ recordIds: [2] })).rejects.toMatchObject(refused("'2'"));
    expect(counter.ran).toEqual([[2]]);
  });

  test('the condition may use hidden fields and related records; records outside the row scope do not exist', async () => {
    const hidden = await openBulk(under(dear, { hidden: ['orders.total', 'orders.id'] }));
    await hidden.execute({ recordIds: [2] });
    await expect(hidden.execute({ recordIds: [1] })).rejects.toMatchObject(refused("'1'"));

    const related: PlainFilter = { field: 'customer:name', operator: 'Present' };
    const through = await openBulk(under(related));
    await through.execute({ recordIds: [1] });
    await expect(through.execute({ recordIds: [4] })).rejects.toMatchObject(refused("'4'"));

    const scoped = await openBulk(under(dear, { scopes: { orders: { field: 'id', operator: 'NotEqual', value: 2 } } }));
    await scoped.execute({ recordIds: [3] });
    await expect(scoped.execute({ recordIds: [2] })).rejects.toMatchObject({ code: 'RECORD_NOT_FOUND' });
  });
});

test('a global action with a condition does not exist', async () => {
  const counter = await openCounter({ scope: 'Global', execute: () => undefined }, { access: under(dear) });
  expect(counter.describe()).toEqual([]);
  await expect(counter.execute()).rejects.toMatchObject({ code: 'UNKNOWN_ACTION', details: { near: [] } });
});

test('a single action runs on a record that meets the condition', async () => {
  const access = under(dear);
  const counter = await openCounter({ scope: 'Single', execute: () => undefined }, { access });
  await counter.execute({ recordIds: [2] });
  await expect(counter.execute({ recordIds: [1] })).rejects.toMatchObject(refused("'1'"));
  expect(counter.describe().map(({ name }) => name)).toEqual(['Act']);
});

test('the condition applies to its own action only', async () => {
  const bulk: ActionDefinition = { scope: 'Bulk', execute: () => undefined };
  const counter = await openCounter(bulk, { access: under(dear), actions: [add(bulk), add(bulk, 'Other')] });
  const other = { collection: 'orders', action: 'Other', recordIds: [1] };
  await expect(counter.actions.execute(under(dear), other)).resolves.toMatchObject({ type: 'success' });
});

test('an invalid condition refuses every call without revealing its fields', async () => {
  const broken = under({ field: 'secretFlag', operator: 'Equal', value: 1 });
  const counter = await openCounter({ scope: 'Bulk', execute: () => undefined }, { access: broken });
  const failure = await counter.execute({ recordIds: [1] }).catch((error: Error) => error);
  expect(failure).toMatchObject({ code: 'CONFIGURATION' });
  expect((failure as Error).message).not.toContain('secretFlag');
});

test('the refusal names the records that do not meet the condition', async () => {
  const never: PlainFilter = { field: 'line', operator: 'GreaterThan', value: 100 };
  const lines: ActionDefinition = { scope: 'Bulk', execute: () => undefined };
  const access = accessOf({ conditions: { 'order_lines.Act': never } });
  const counter = await openCounter(lines, { access, actions: [add(lines, 'Act', 'order_lines')] });
  const request = { collection: 'order_lines', action: 'Act', filter: { field: 'line', operator: 'Present' } as const };
  await expect(counter.actions.execute(access, request)).rejects.toMatchObject({
    message: expect.stringContaining("not met by '1|1', '1|2', '2|1', '3|1', '4|1'."),
  });
});
