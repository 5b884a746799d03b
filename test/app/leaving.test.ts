// A client disconnects during a call, for every kind of call on every database: the statement is stopped, no row is
// written, and the activity log has the outcome. Also tests how much a slow call delays others.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { systemClock } from '../../src/core/clock.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { startServer, type TestServer } from '../server.ts';
import { runningStatements } from '../sql/running.ts';
import { askSql, runSql, slowSchema, sqliteIsolates } from '../sql/schemas.ts';
import { callTool, requestOf } from './call.ts';
import { hold } from './holding.ts';
import { signedIn } from './shop.ts';

const schema = [
  ...slowSchema(),
  'create table boxes (id integer not null primary key)',
  'create table items (id integer not null primary key, label varchar(20), box_id integer references boxes (id))',
  'insert into boxes (id) values (1)',
  "insert into items (id, label, box_id) values (1, 'first', null), (2, 'second', 1)",
  'create view slow_of as select cheap.id as cheap_id, slow.id from cheap cross join slow',
];
const held = ['select id from items for update', "insert into items (id, label) values (3, 'theirs')"];

/** Code that queries the slow view, or writes to locked rows. */
function customize(agent: HeadlessAgent): void {
  const slow = { conditionTree: { field: 'id', operator: 'GreaterThan', value: 0 } } as const;
  agent.customizeCollection('cheap', (cheap) =>
    cheap.addOneToManyRelation('slows', 'slow_of', { originKey: 'cheap_id' }),
  );
  agent.customizeCollection('boxes', (boxes) =>
    boxes.addOneToManyRelation('content', 'items', { originKey: 'box_id' }),
  );
  agent.addChart('slow', async (context, resultBuilder) => {
    const rows = await context.collection('slow').list(slow, ['id']);
    return resultBuilder.value(rows.length);
  });
  agent.customizeCollection('slow', (collection) =>
    collection
      .addAction('Read', {
        scope: 'Global',
        async execute(context, resultBuilder) {
          await context.collection.list(slow, ['id']);
          return resultBuilder.success();
        },
      })
      .addAction('Ask', {
        scope: 'Global',
        form: [
          {
            label: 'Which',
            type: 'String',
            defaultValue: async (context) => `${(await context.collection.list(slow, ['id'])).length}`,
          },
        ],
        execute: (_context, resultBuilder) => resultBuilder.success(),
      }),
  );
  agent.customizeCollection('items', (items) =>
    items.addAction('Relabel', {
      scope: 'Single',
      async execute(context, resultBuilder) {
        await context.collection.update(context.filter, { label: 'relabelled' });
        return resultBuilder.success();
      },
    }),
  );
}

const reads: readonly (readonly [tool: string, args: Record<string, unknown>])[] = [
  ['list', { collectionName: 'slow' }],
  ['listRelated', { collectionName: 'cheap', relationName: 'slows', parentRecordId: 1 }],
  ['aggregate', { collectionName: 'slow', operation: 'count' }],
  ['getChart', { chartName: 'slow' }],
  ['getActionForm', { collectionName: 'slow', actionName: 'Ask' }],
  ['executeAction', { collectionName: 'slow', actionName: 'Read' }],
];
const link = { collectionName: 'boxes', relationName: 'content', parentRecordId: 1 };
const writes: typeof reads = [
  ['create', { collectionName: 'items', attributes: { id: 3, label: 'ours' } }],
  ['update', { collectionName: 'items', recordId: 1, attributes: { label: 'changed' } }],
  ['delete', { collectionName: 'items', recordIds: [1, 2] }],
  ['associate', { ...link, targetRecordId: 1 }],
  ['dissociate', { ...link, targetRecordIds: [2] }],
  ['executeAction', { collectionName: 'items', actionName: 'Relabel', recordIds: [1] }],
];

const stoppable = servers.filter(({ dialect }) => dialect !== 'sqlite' || sqliteIsolates);

// A file must contain a test.
if (stoppable.length === 0) test.skip('needs a database that can stop a statement', () => {});

describe.each(stoppable)('on $dialect', ({ dialect, create }) => {
  let database: TestDatabase;
  let server: TestServer;
  let token: string;
  beforeAll(async () => {
    database = await create();
    await runSql(database, schema);
    server = await startServer({ database: database.url, app: { customize } });
    token = (await signedIn(server, server.account, 'mcp:read mcp:write mcp:action')).token;
  });
  afterAll(async () => {
    await server?.stop();
    await database?.drop();
  });

  const running = () => runningStatements(database);

  const until = async (holds: () => Promise<boolean>): Promise<boolean> => {
    for (let tries = 0; tries < 200; tries++) {
      if (await holds()) return true;
      await systemClock.sleep(25);
    }
    return false;
  };

  const lastEntry = async () => {
    await server.store.activity.flush();
    const [last] = await server.store.activity.list({ limit: 1 });
    return last;
  };

  /** Makes a call, disconnects once the database is running it, and returns the outcome. */
  async function leave(tool: string, args: Record<string, unknown>, isAtIt: () => Promise<boolean>) {
    const before = (await lastEntry())?.id;
    const { headers, body } = requestOf('tools/call', { name: tool, arguments: args }, 'modern');
    const gone = new AbortController();
    const call = fetch(server.mcpUrl, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${token}` },
      body,
      signal: gone.signal,
    }).then(
      async (answer) => `answered: ${await answer.text()}`,
      () => 'left',
    );
    const wasAtIt = await until(isAtIt);
    gone.abort();
    const outcome = await call;
    await until(async () => {
      const last = await lastEntry();
      return last?.id !== before && last?.outcome !== 'unknown';
    });
    const entry = await lastEntry();
    return { wasAtIt, outcome, entry: [entry?.action, entry?.outcome, entry?.code] };
  }

  test.each(reads)('%s %j: a disconnect stops the statement in the database', async (tool, args) => {
    const left = await leave(tool, args, async () => (await running()) > 0);
    expect([left, await until(async () => (await running()) === 0)]).toEqual([
      { wasAtIt: true, outcome: 'left', entry: [tool, 'failed', 'CANCELLED'] },
      true,
    ]);
  });

  test.each(writes)('%s %j: after a disconnect nothing is written', async (tool, args) => {
    const items = 'select id, label, box_id from items order by id';
    const before = await askSql(database, items);
    const holder = await hold(database, held);
    // A write of SQLite waits in the process, not in the database. Its intent in the log shows that it began.
    const waits = async () => (await lastEntry())?.outcome === 'unknown';
    const left = await leave(tool, args, dialect === 'sqlite' ? waits : async () => (await running()) > 0);
    const isOver = dialect === 'sqlite' || (await until(async () => (await running()) === 0));
    await holder.release();
    expect([left, isOver, await askSql(database, items)]).toEqual([
      { wasAtIt: true, outcome: 'left', entry: [tool, 'failed', 'CANCELLED'] },
      true,
      before,
    ]);
  });

  test('after the disconnects, a call and a write succeed', async () => {
    const values = { collectionName: 'items', recordId: 2, attributes: { label: 'again' } };
    expect([
      await callTool(server.mcpUrl, token, 'update', values),
      await callTool(server.mcpUrl, token, 'list', {
        collectionName: 'cheap',
        pagination: { size: 1 },
        fields: ['id'],
      }),
    ]).toMatchObject([{ json: { count: 1 } }, { json: { rows: [[0]] } }]);
  });

  test('cheap calls are answered while a slow one runs', async () => {
    const gone = new AbortController();
    const { headers, body } = requestOf(
      'tools/call',
      { name: 'list', arguments: { collectionName: 'slow' } },
      'modern',
    );
    const slow = fetch(server.mcpUrl, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${token}` },
      body,
      signal: gone.signal,
    }).catch(() => 'left');
    const wasAtIt = await until(async () => (await running()) > 0);
    const answers = [];
    for (let n = 0; n < 20; n++)
      answers.push(await callTool(server.mcpUrl, token, 'list', { collectionName: 'cheap', fields: ['id'] }));
    const stillRuns = (await running()) > 0;
    gone.abort();
    const settled = await until(async () => (await running()) === 0);
    expect([await slow, wasAtIt, stillRuns, settled]).toEqual(['left', true, true, true]);
    for (const answer of answers) expect(answer).toHaveProperty('json');
  });
});
