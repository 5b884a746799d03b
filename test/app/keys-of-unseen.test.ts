// A foreign key to a collection that the caller may not browse cannot be written. Every kind of write over MCP gets the
// same answer whether or not the record exists, and the database does not change.
import { expect, test } from 'vitest';
import { frontOrigin, sessionToken } from '../rest/front-end.ts';
import { all, connect, openDesk } from './approvals.ts';

const noCustomers = { '*': all, customers: { ...all, browse: false } };
const untouched = ['1 boots 10 1', '2 hats 20 1', '3 socks 30 '];
const refusal =
  /^INVALID_RECORD: Nothing was written to 'orders'\. customer_id: points to a collection that you may not see: leave it out, or send null\./;

const writes = (key: number): readonly (readonly [tool: string, args: Record<string, unknown>])[] => [
  ['update', { collectionName: 'orders', recordId: 3, attributes: { customer_id: key } }],
  ['update', { collectionName: 'orders', recordIds: [1, 3], attributes: { customer_id: key } }],
  ['update', { collectionName: 'orders', recordId: 3, attributes: { customer_id: key }, dryRun: true }],
  ['create', { collectionName: 'orders', attributes: { id: 9, label: 'caps', total: 5, customer_id: key } }],
];

test.each([2, 77_777])('key %i is refused with the same message as any other', async (key) => {
  const desk = await openDesk({ permissions: noCustomers });
  const assistant = await connect(desk, desk.token, '2026-07-28');
  const answers = [];
  for (const [tool, args] of writes(key)) answers.push(await assistant.call(tool, args));
  expect([answers, (await desk.state()).orders]).toEqual([
    answers.map(() => expect.stringMatching(refusal)),
    untouched,
  ]);
});

test('with a row scope on the collection, every key gets the same refusal', async () => {
  const desk = await openDesk({ permissions: noCustomers });
  await desk.store.permissions.setScope('Operations', 'customers', { field: 'id', operator: 'Equal', value: 1 });
  const assistant = await connect(desk, desk.token, '2026-07-28');
  const answers = [];
  for (const key of [1, 2, 77_777]) answers.push(await assistant.call(...writes(key)[0]!));
  expect([new Set(answers), (await desk.state()).orders]).toEqual([
    new Set([expect.stringMatching(refusal)]),
    untouched,
  ]);
});

test('writes without the key, with null and of other fields succeed', async () => {
  const desk = await openDesk({ permissions: noCustomers });
  const assistant = await connect(desk, desk.token, '2026-07-28');
  for (const attributes of [{ customer_id: null }, { total: 11 }])
    await assistant.call('update', { collectionName: 'orders', recordId: 1, attributes });
  await assistant.call('create', { collectionName: 'orders', attributes: { id: 9, label: 'caps', total: 5 } });
  expect((await desk.state()).orders).toEqual(['1 boots 11 ', ...untouched.slice(1), '9 caps 5 ']);
});

test('over the HTTP API, an existing and a missing key get the same refusal', async () => {
  const desk = await openDesk({ permissions: noCustomers, env: { SERVICE_AGENT_ORIGINS: frontOrigin } });
  const session = await sessionToken(desk.apiUrl, { email: 'kim@example.test', password: 'correct horse battery' });
  const answers = [];
  for (const key of [2, 77_777]) {
    const response = await fetch(`${desk.apiUrl}/orders/3`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' },
      body: JSON.stringify({ data: { type: 'orders', id: '3', attributes: { customer_id: key } } }),
    });
    answers.push([response.status, (await response.text()).replaceAll(/"id":"[^"]*"/g, '')]);
  }
  expect([answers[0], (await desk.state()).orders]).toEqual([answers[1], untouched]);
  expect(answers[0]![0]).toBe(400);
});
