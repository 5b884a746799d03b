import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { answerOf, legacy, type McpTestServer, modern, notes, openMcpServer, post } from './mcp-server.ts';

const USERS = 50;

describe.each(servers)('rows in $dialect', (server) => {
  let testServer: McpTestServer;
  let database: TestDatabase;
  beforeAll(async () => {
    database = await server.create();
    await runSql(database, [
      'CREATE TABLE notes (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, text VARCHAR(100) NOT NULL)',
      `INSERT INTO notes VALUES ${notes.rows.map(([id, owner, text]) => `(${id}, ${owner}, '${text}')`).join(', ')}`,
    ]);
    // Responses arrive in another order than the calls.
    const beforeList = (access: { caller: { id: number } }) => systemClock.sleep((access.caller.id * 7) % 23);
    const source = createSqlSource(database.url, { observe: () => undefined, clock: systemClock });
    testServer = await openMcpServer({ source, beforeList, legacySessions: 'auto' });
  });
  afterAll(async () => {
    await testServer.close();
    await database.drop();
  });

  /** The owners and ids of the returned rows, and the JSON-RPC id of the response. */
  async function callAs(user: number, n: number) {
    const params = { name: 'list', arguments: { collectionName: 'notes', fields: ['id', 'owner'] } };
    const wire = n % 3 === 0 ? { body: legacy('tools/call', params, n), headers: {} } : modern('tools/call', params, n);
    const answer = await post(testServer, wire.body, { ...wire.headers, authorization: `Bearer user-${user}` });
    const { rows } = answerOf(answer.body) as { rows: [number, number][] };
    return { id: (answer.body as { id: number }).id, rows };
  }

  const calls = server.dialect === 'sqlite' ? 2000 : 500;

  test(`${calls} calls of 50 concurrent users: no answer has the identity or the rows of another user`, {
    timeout: 60_000,
  }, async () => {
    const wrong: unknown[] = [];
    let next = 0;
    const worker = async () => {
      while (next < calls) {
        const n = next++;
        const user = (n % USERS) + 1;
        const answer = await callAs(user, n);
        const expected = [0, 1, 2].map((k) => [user + k * USERS, user]);
        if (answer.id !== n || JSON.stringify(answer.rows) !== JSON.stringify(expected)) wrong.push({ user, answer });
      }
    };
    await Promise.all(Array.from({ length: 200 }, worker));
    const mixed = testServer.activity.filter((entry) => entry.clientId !== `client-${entry.userId}`);
    expect({ wrong, entries: testServer.activity.length, mixed }).toEqual({ wrong: [], entries: calls, mixed: [] });
  });

  test('equal JSON-RPC ids of different users are independent', async () => {
    const answers = await Promise.all([1, 2, 3, 4, 5].map((user) => callAs(user, 7)));
    expect(answers.map((answer) => answer.rows[0])).toEqual([1, 2, 3, 4, 5].map((user) => [user, user]));
  });

  test('only the user who opened a session can use it', async () => {
    const initialize = legacy('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: {} },
      clientInfo: { name: 'test', version: '1' },
    });
    const opened = await post(testServer, initialize, { authorization: 'Bearer user-2' });
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id')!, 'mcp-protocol-version': '2025-11-25' };
    const own = await post(testServer, legacy('ping'), { ...session, authorization: 'Bearer user-2' });
    const other = await post(testServer, legacy('ping'), { ...session, authorization: 'Bearer user-4' });
    expect([opened.status, own.status, other.status]).toEqual([200, 200, 404]);
  });
});
