// An agent with another Portico server as platform, on every storage of a platform. It
// behaves as with its own storage, and changes at the platform apply to its next call.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashToken } from '../../src/core/secret.ts';
import { callTool } from '../app/call.ts';
import { signedIn } from '../app/shop.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { frontOrigin, sessionToken, whoAmI } from '../rest/front-end.ts';
import type { TestServer } from '../server.ts';
import { createStorage } from '../store/spares.ts';
import { createNotes, startAgent, startPlatform } from './platform-servers.ts';

const nothing = { browse: false, read: false, edit: false, add: false, delete: false, export: false };
const everything = { browse: true, read: true, edit: true, add: true, delete: true, export: true };

describe.each(servers)('with a platform over $dialect', (server) => {
  let storage: TestDatabase;
  let notes: TestDatabase;
  let platform: TestServer;
  let agent: TestServer;
  let token: string;
  const call = (tool: string, args: object, by = token) => callTool(agent.mcpUrl, by, tool, args as never);
  /** The log writes reads a moment later than writes. */
  const logged = async () => {
    await agent.store.activity.flush();
    const entries = await platform.store.activity.list({ limit: 2 });
    return entries.map(({ action, type, outcome, collection }) => [action, type, outcome, collection].join(' ')).sort();
  };
  beforeAll(async () => {
    [storage, notes] = [await createStorage(server), await createNotes()];
    platform = await startPlatform(notes.url, { SERVICE_STORAGE_URL: storage.url });
    agent = await startAgent(notes.url, platform, { SERVICE_AGENT_ORIGINS: frontOrigin });
    token = (await signedIn(agent)).token;
  });
  afterAll(async () => {
    await agent?.stop();
    await platform?.stop();
    await storage?.drop();
    await notes?.drop();
  });

  test('a user of the platform signs in at the agent, reads and writes, and the platform keeps the log', async () => {
    const listed = await call('list', {
      collectionName: 'notes',
      fields: ['text'],
      sort: { field: 'id', ascending: true },
    });
    const changed = await call('update', { collectionName: 'notes', recordId: 2, attributes: { text: 'changed' } });
    expect([listed, changed, await logged()]).toMatchObject([
      { json: { rows: [['first'], ['second']] } },
      { json: {} },
      ['list read completed notes', 'update write completed notes'],
    ]);
  });

  test('the HTTP API of the agent accepts the session of the user', async () => {
    const api = `${agent.address}/service`;
    const session = await sessionToken(api, platform.account);
    const { status, text } = await whoAmI(api, session);
    expect([status, JSON.parse(text)]).toMatchObject([200, { tokenData: { email: platform.account.email } }]);
  });

  test('a changed or revoked role applies to the next call', async () => {
    const list = () => call('list', { collectionName: 'notes', fields: ['id'] });
    await platform.store.permissions.setRole('Administrator', { '*': nothing });
    const without = await list();
    await platform.store.permissions.setRole('Administrator', { '*': everything });
    await platform.store.permissions.setScope('Operations', 'notes', {
      field: 'text',
      operator: 'Equal',
      value: 'first',
    });
    const scoped = await list();
    await platform.store.permissions.setScope('Operations', 'notes', null);
    expect([without, scoped, await list()]).toMatchObject([
      { error: expect.stringMatching(/^UNKNOWN_COLLECTION/) },
      { json: { rows: [[1]] } },
      { json: { rows: [[1], [2]] } },
    ]);
  });

  test('after a connection is revoked or a user is disabled, every call is refused', async () => {
    const eve = await platform.addUser({ email: 'eve@example.com', level: 'admin' });
    const first = await signedIn(agent, eve);
    const before = await call('list', { collectionName: 'notes' }, first.token);
    const { id } = (await platform.store.identity.findUserByEmail(eve.email))!;
    const [connection] = await platform.store.connections.list({ userId: id, limit: 1 });
    await platform.store.connections.end({ id: connection!.id, clientName: 'Notebook' });
    const ended = await call('list', { collectionName: 'notes' }, first.token);
    const second = await signedIn(agent, eve);
    await platform.store.identity.setDisabled(id, true);
    expect([before, ended, await call('list', { collectionName: 'notes' }, second.token)]).toMatchObject([
      { json: {} },
      { status: 401 },
      { status: 401 },
    ]);
  });

  test('an idempotency key applies across agents', async () => {
    const other = await startAgent(notes.url, platform);
    try {
      const args = { collectionName: 'notes', attributes: { text: 'once' }, idempotencyKey: 'a-key-of-the-test' };
      const made = await call('create', args);
      const asked = { userId: 1, clientId: 'c', tool: 'create', key: 'k', args: 'a', rights: 'r' };
      const claim = await agent.store.idempotency.claim(asked);
      const seen = await other.store.idempotency.claim(asked);
      if (claim.state === 'mine') await claim.settle('the answer');
      const done = await platform.store.idempotency.claim(asked);
      expect([await call('create', args), claim.state, seen.state, done]).toEqual([
        made,
        'mine',
        'running',
        { state: 'done', answer: 'the answer' },
      ]);
    } finally {
      await other.stop();
    }
  });

  test('the keys of an agent are separate: no signing key of the platform leaves it', async () => {
    const made = await agent.store.keys.of('test-purpose', () => 'made by the agent');
    const own = await platform.store.keys.of('test-purpose', () => 'made by the platform');
    const purposes = (await platform.store.keys.list()).map(({ purpose }) => purpose);
    expect([
      made.map(({ value }) => value),
      (await agent.store.keys.of('test-purpose', () => 'another')).map(({ value }) => value),
      own.map(({ value }) => value),
      purposes.filter((one) => one.endsWith('test-purpose')),
    ]).toEqual([
      ['made by the agent'],
      ['made by the agent'],
      ['made by the platform'],
      ['agent/1/test-purpose', 'test-purpose'],
    ]);
  });

  test('the schema of an agent is stored under its hash', async () => {
    const document = `{"collections":[],"text":"${'ü'.repeat(100_000)}"}`;
    await agent.store.schema.keep(document);
    const found = await platform.store.schema.get();
    expect([found?.document === document, await agent.store.schema.hash(), found?.hash]).toEqual([
      true,
      hashToken(document),
      hashToken(document),
    ]);
  });
});
