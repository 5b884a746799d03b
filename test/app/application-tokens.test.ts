// A program with an application token calls /mcp with the rights of its user, within the scopes of the token.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { servers, type TestDatabase } from '../databases.ts';
import { startServer, type TestServer } from '../server.ts';
import { runSql } from '../sql/schemas.ts';
import { ask, callTool } from './call.ts';

let database: TestDatabase;
let server: TestServer;
beforeAll(async () => {
  database = await servers[0]!.create();
  await runSql(database, [
    'CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)',
    "INSERT INTO notes VALUES (1, 'first')",
  ]);
  const customize: NonNullable<Parameters<typeof startServer>[0]['app']>['customize'] = (agent) => {
    agent.customizeCollection('notes', (notes) =>
      notes.addAction('Archive', { scope: 'Single', execute: (_context, result) => result.success('Archived.') }),
    );
  };
  server = await startServer({ database: database.url, app: { customize } });
});
afterAll(async () => {
  await server.stop();
  await database.drop();
});

async function make(name: string, ...scopes: string[]): Promise<string> {
  const { id: userId } = (await server.store.identity.findUserByEmail(server.account.email))!;
  return (await server.store.tokens.create({ userId, name, scopes })).secret;
}
const toolsOf = async (token: string): Promise<string[]> => {
  const { text } = await ask(server.mcpUrl, token, 'tools/list', {});
  return JSON.parse(text).result.tools.map(({ name }: { name: string }) => name);
};

test('a token reads, and the activity log names the token', async () => {
  const token = await make('nightly report', 'mcp:read');
  const answer = await callTool(server.mcpUrl, token, 'list', { collectionName: 'notes' });
  await server.store.activity.flush();
  const [entry] = await server.store.activity.list({ limit: 1 });
  expect(answer).toMatchObject({ json: { rows: [[1, 'first']] } });
  expect(entry).toMatchObject({ action: 'list', clientId: 'token:nightly report', clientName: 'nightly report' });
});

test('tools of other scopes are hidden, and calls of them get a challenge', async () => {
  const reader = await make('reader', 'mcp:read');
  const actor = await make('actor', 'mcp:action', 'mcp:write');
  const write = { name: 'create', arguments: { collectionName: 'notes', attributes: { text: 'second' } } };
  const refused = await ask(server.mcpUrl, reader, 'tools/call', write);
  const [read, acted] = [await toolsOf(reader), await toolsOf(actor)];
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
    403,
    expect.stringMatching(/^Bearer error="insufficient_scope", .*scope="mcp:read mcp:write"/),
  ]);
  expect([read.includes('create'), read.includes('executeAction')]).toEqual([false, false]);
  expect([acted.includes('create'), acted.includes('executeAction')]).toEqual([true, true]);
});

test('parameters of the URL limit the tools of a token', async () => {
  const token = await make('narrowed', 'mcp:write');
  const { text } = await ask(`${server.mcpUrl}?readonly=true`, token, 'tools/list', {});
  expect(text).not.toContain('"create"');
});
