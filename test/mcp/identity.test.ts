import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { answerOf, type House, legacy, modern, openHouse, post } from './house.ts';

const USERS = 50;
const CALLS = 2000;

let house: House;
beforeAll(async () => {
  // Answers come back in another order than the calls went in.
  const beforeList = (access: { caller: { id: number } }) => systemClock.sleep((access.caller.id * 7) % 23);
  house = await openHouse({ steering: { beforeList }, legacySessions: 'auto' });
});
afterAll(() => house.close());

/** The owners and ids of the rows that a call gave, and the JSON-RPC id it was answered under. */
async function callAs(user: number, n: number) {
  const params = { name: 'list', arguments: { collectionName: 'notes', fields: ['id', 'owner'] } };
  const wire = n % 3 === 0 ? { body: legacy('tools/call', params, n), headers: {} } : modern('tools/call', params, n);
  const answer = await post(house, wire.body, { ...wire.headers, authorization: `Bearer user-${user}` });
  const { rows } = answerOf(answer.body) as { rows: [number, number][] };
  return { id: (answer.body as { id: number }).id, rows };
}

test('2,000 calls of 50 users at once: no answer carries the identity or the rows of another', {
  timeout: 60_000,
}, async () => {
  const users = Array.from({ length: CALLS }, (_, n) => (n % USERS) + 1);
  const wrong: unknown[] = [];
  let next = 0;
  const worker = async () => {
    while (next < CALLS) {
      const n = next++;
      const user = users[n]!;
      const answer = await callAs(user, n);
      const expected = [0, 1, 2].map((k) => [user + k * USERS, user]);
      if (answer.id !== n || JSON.stringify(answer.rows) !== JSON.stringify(expected)) wrong.push({ user, answer });
    }
  };
  await Promise.all(Array.from({ length: 200 }, worker));
  expect(wrong).toEqual([]);
  const logged = house.activity.filter((entry) => entry.clientId !== `client-${entry.userId}`);
  expect({ entries: house.activity.length, mixed: logged }).toEqual({ entries: CALLS, mixed: [] });
});

test('equal JSON-RPC ids of different users do not meet', async () => {
  const answers = await Promise.all([1, 2, 3, 4, 5].map((user) => callAs(user, 7)));
  expect(answers.map((answer) => answer.rows[0])).toEqual([1, 2, 3, 4, 5].map((user) => [user, user]));
});

test('the id of another user opens no session', async () => {
  const initialize = legacy('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'test', version: '1' },
  });
  const opened = await post(house, initialize, { authorization: 'Bearer user-2' });
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id')!, 'mcp-protocol-version': '2025-11-25' };
  const own = await post(house, legacy('ping'), { ...session, authorization: 'Bearer user-2' });
  const other = await post(house, legacy('ping'), { ...session, authorization: 'Bearer user-4' });
  expect([opened.status, own.status, other.status]).toEqual([200, 200, 404]);
});
