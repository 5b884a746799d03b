// The operations of the agent (behaviour 4.1) and their effects for callers over HTTP and MCP.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { type Agent, createMemoryDataSource, type MemoryTable } from '../../src/index.ts';
import { createTestableAgent, type TestableAgentOptions } from '../../src/testing/index.ts';
import { accessOf, shopTables } from '../agent/shop.ts';
import { emptyAgent, makeFolder, messageOf, shopAgent } from '../app/agent.ts';

const table = (name: string, ...ids: number[]): MemoryTable => ({
  name,
  columns: [{ name: 'id', type: 'Number' }],
  primaryKey: ['id'],
  rows: ids.map((id) => [id]),
});
const shop = () => createMemoryDataSource('shop', shopTables);

async function open(customize: (agent: Agent) => unknown, options?: TestableAgentOptions) {
  const place = await createTestableAgent((agent) => void customize(agent), options);
  onTestFinished(() => place.close());
  /** The result of a tool, or the text of its error. */
  const tool = async (name: string, given: Record<string, unknown> = {}) =>
    place.mcp.call(name, given).catch((error: Error) => error.message);
  return { ...place, tool };
}
const closing = (name: string, closed: string[], close: () => Promise<void> = async () => {}): Source => ({
  ...createMemorySource(name, [table(name, 1)]),
  async close() {
    await close();
    closed.push(name);
  },
});

test('addDataSource: each source adds its collections with their own records; options apply only to it', async () => {
  const { client, tool } = await open((agent) =>
    agent
      .addDataSource(createMemoryDataSource('one', [table('a', 1), table('b', 2)]), { exclude: ['b'] })
      .addDataSource(createMemoryDataSource('two', [table('b', 3), table('c', 4)]), { rename: { c: 'd' } })
      .addDataSource(createMemoryDataSource('three', [table('c', 5)])),
  );
  const lists = [];
  for (const name of ['a', 'b', 'c', 'd']) lists.push((await client.collection(name).list()).map(({ id }) => id));
  const index = JSON.stringify(await tool('describeCollection'));
  expect([lists, [...new Set(index.match(/\b[abcd]\b/g))].sort()]).toEqual([
    [[1], [3], [5], [4]],
    ['a', 'b', 'c', 'd'],
  ]);
});

test('customizeCollection: several callbacks for one collection run in order, and affect no other', async () => {
  const seen: string[] = [];
  const { client, tool } = await open((agent) =>
    agent
      .customizeCollection('orders', async (orders) => {
        await new Promise(setImmediate);
        seen.push('first');
        orders.renameField('total', 'sum');
      })
      .addDataSource(shop())
      .customizeCollection('customers', () => void seen.push('second'))
      .customizeCollection('orders', (orders) => {
        seen.push('third');
        orders.addSegment('dear', { field: 'total', operator: 'GreaterThan', value: 15 });
      }),
  );
  const dear = await client.collection('orders').list({ segment: 'dear', fields: ['id', 'sum'] });
  expect([
    seen,
    dear.length,
    Object.keys(dear[0]!),
    await tool('list', { collectionName: 'customers', segment: 'dear' }),
  ]).toEqual([['first', 'second', 'third'], 3, ['id', 'sum'], expect.stringContaining('UNKNOWN_SEGMENT')]);
});

test('addChart: every chart of the agent is available over MCP by its exact name, beside those of collections', async () => {
  const { tool } = await open((agent) =>
    agent
      .addDataSource(shop())
      .addChart('first', async ({ collection }, result) => result.value(await collection('orders').count()))
      .addChart('second', (_, result) => result.percentage(12.5))
      .customizeCollection('orders', (orders) => orders.addChart('first', (_, result) => result.value(-1))),
  );
  expect([
    await tool('getChart', { chartName: 'first' }),
    await tool('getChart', { chartName: 'second' }),
    await tool('getChart', { collectionName: 'orders', chartName: 'first', recordId: 1 }),
    await tool('getChart', { chartName: 'First' }),
    await tool('getChart', { collectionName: 'orders', chartName: 'second', recordId: 1 }),
  ]).toMatchObject([
    { value: 5 },
    { value: 12.5 },
    { value: -1 },
    expect.stringContaining('UNKNOWN_CHART'),
    expect.stringContaining('UNKNOWN_CHART'),
  ]);
});

test('removeCollection: a field that is imported from it stays for roles with rights on named collections only', async () => {
  const agent = createHeadlessAgent();
  agent
    .addDataSource(shop())
    .removeCollection('customers')
    .customizeCollection('orders', (orders) => orders.importField('town', { path: 'customer:city' }));
  const limits = { pageSizeLimit: 10, queryTimeoutMs: 10_000 };
  const engine = await agent.createEngine({ observe: () => {}, clock: systemClock, limits });
  const list = { collection: 'orders', fields: ['town'], sort: [{ field: 'id' }], limit: 5 };
  const { rows } = await engine.list(accessOf({ browse: ['orders'] }), list);
  await engine.close();
  expect(rows.flat()).toEqual(['Paris', 'Rome', 'Rome', null, null]);
});

test('removeCollection: HTTP and MCP have neither the collections nor relations to them; code still reads and writes them', async () => {
  const { client, tool } = await open((agent) =>
    agent
      .addDataSource(shop())
      .removeCollection('customers')
      .removeCollection('line_notes')
      .customizeCollection('orders', (orders) =>
        orders.addField('town', {
          columnType: 'String',
          dependencies: ['customer:city'],
          getValues: (records) => records.map(({ customer }) => (customer as { city?: string } | null)?.city ?? null),
        }),
      ),
  );
  const filters = { field: 'customer:name', operator: 'Equal', value: 'Ada' };
  const index = JSON.stringify(await tool('describeCollection'));
  expect([
    await messageOf(() => client.collection('customers').list()),
    await tool('list', { collectionName: 'customers' }),
    await tool('list', { collectionName: 'line_notes' }),
    await tool('list', { collectionName: 'orders', filters }),
    await tool('list', { collectionName: 'orders', fields: ['customer:name'] }),
    [index.includes('customer'), index.includes('line_notes'), index.includes('order_lines')],
    (await client.collection('orders').list({ fields: ['town'] })).map(({ town }) => town),
  ]).toEqual([
    expect.stringMatching(/customers/),
    ...[expect.stringContaining('UNKNOWN_COLLECTION'), expect.stringContaining('UNKNOWN_COLLECTION')],
    ...[expect.stringContaining('UNKNOWN_FIELD'), expect.stringContaining('UNKNOWN_FIELD')],
    [false, false, true],
    ['Paris', 'Rome', 'Rome', null, null],
  ]);
});

test('use: the plugin gets its options for each collection, once a start, or undefined', async () => {
  const given: unknown[] = [];
  const options = { mark: 1 };
  const { agent } = shopAgent();
  agent
    .use((collection, more: object | undefined) => void given.push([collection.name, more === options]), options)
    .use((collection, more: unknown) => void given.push([collection.name, more]));
  await agent.start();
  const names = ['customers', 'orders', 'order_lines', 'line_notes'];
  const once = [...names.map((name) => [name, true]), ...names.map((name) => [name, undefined])];
  expect(given).toEqual(once);
  await agent.restart();
  expect(given).toEqual([...once, ...once]);
});

test('start, stop: every data source is opened in order, and closed, even if one fails to close; then it starts again', async () => {
  const closed: string[] = [];
  const { agent } = emptyAgent();
  let fails = true;
  const close = async () => {
    if (fails) throw new Error('stuck');
  };
  agent
    .addDataSource(() => closing('a', closed))
    .addDataSource(() => closing('b', closed, close))
    .addDataSource(() => closing('c', closed));
  await agent.stop();
  const { engine } = await agent.start();
  const outcome = await messageOf(() => agent.stop());
  await agent.stop();
  expect([closed, outcome]).toEqual([['a', 'c'], expect.any(String)]);
  fails = false;
  void engine;
  await agent.start();
  await agent.stop();
  expect(closed).toEqual(['a', 'c', 'a', 'b', 'c']);
});

test('restart: new routes and tools appear, and removed ones disappear; the schema file and typings follow', async () => {
  let second = false;
  const typingsPath = join(makeFolder(), 'typings.ts');
  const { agent, client, tool } = await open(
    (given) =>
      given.addDataSource(shop()).customizeCollection('orders', (orders) => {
        if (second) orders.addAction('New', { scope: 'Global', execute: (_, result) => result.success('new') });
        else orders.addAction('Old', { scope: 'Global', execute: (_, result) => result.success('old') });
        if (second) orders.renameField('total', 'sum');
      }),
    { agent: { typingsPath } },
  );
  const look = async () => [
    await tool('executeAction', { collectionName: 'orders', actionName: 'Old' }),
    await tool('executeAction', { collectionName: 'orders', actionName: 'New' }),
    Object.keys((await client.collection('orders').list())[0]!).includes('sum'),
    readFileSync(typingsPath, 'utf8').includes('total'),
  ];
  const before = await look();
  second = true;
  await agent.restart();
  expect([before, await look()]).toEqual([
    [expect.objectContaining({ message: 'old' }), expect.stringContaining('UNKNOWN_ACTION'), false, true],
    [expect.stringContaining('UNKNOWN_ACTION'), expect.objectContaining({ message: 'new' }), true, true],
  ]);
});

test('updateTypesOnFileSystem, generateSchemaOnly: also for a running agent; typings need a path, and use the given depth', async () => {
  const { agent, folder, schemaPath } = shopAgent();
  await agent.generateSchemaOnly();
  const [path, other] = [join(folder, 'a.ts'), join(folder, 'b.ts')];
  expect([existsSync(schemaPath), existsSync(join(folder, 'typings.ts'))]).toEqual([true, false]);
  await agent.updateTypesOnFileSystem(path, 10);
  await agent.start();
  const schema = readFileSync(schemaPath, 'utf8');
  await agent.updateTypesOnFileSystem(other, 1);
  expect([
    readFileSync(path, 'utf8').match(/depth: \d+/g)?.[0],
    readFileSync(other, 'utf8').match(/depth: \d+/g)?.[0],
    readFileSync(schemaPath, 'utf8') === schema,
  ]).toEqual(['depth: 10', 'depth: 1', true]);
});

test('mountAiMcpServer: all tools by default, or those of enabledTools in any order; a basePath moves all routes', async () => {
  const names = async (options: TestableAgentOptions) => {
    const { mcp } = await open((agent) => agent.addDataSource(shop()), options);
    return (await mcp.listTools()).map(({ name }) => name).sort();
  };
  expect([
    (await names({})).filter((name) => /^(create|delete|list|update)$/.test(name)),
    await names({ mcp: { enabledTools: ['list', 'describeCollection'], basePath: '/a/b' } }),
  ]).toEqual([
    ['create', 'delete', 'list', 'update'],
    ['describeCollection', 'list'],
  ]);
});

test('stop: nothing answers afterwards; a second stop, and one before the start, do nothing', async () => {
  const { agent } = shopAgent();
  await agent.mountAiMcpServer().mountOnStandaloneServer(0).stop();
  const { server } = await agent.start();
  const ask = () => fetch(server!.mcpUrl, { method: 'POST' }).then(({ status }) => status, () => 'refused');
  const before = await ask();
  await agent.stop();
  await agent.stop();
  expect([before, await ask()]).toEqual([401, 'refused']);
}); // biome-ignore format: short

test('use: omitted options are undefined, null and 0 are passed, for a plugin of the agent and of each collection', async () => {
  const given: unknown[] = [];
  const { agent } = emptyAgent();
  const ofAgent = { customizeAgent: (_: unknown, options: unknown) => void given.push(options) };
  const each = (_: unknown, options: unknown) => void given.push(options);
  agent.addDataSource(createMemoryDataSource('one', [table('a', 1)])).use(ofAgent as never);
  for (const options of [null, 0, '']) agent.use(ofAgent as never, options).use(each as never, options);
  agent.use(each as never);
  await agent.start();
  expect(given).toEqual([undefined, null, 0, '', null, 0, '', undefined]);
});

test('start, generateSchemaOnly: after a failure more can be added; stop: closes the sources of generateSchemaOnly; updateTypesOnFileSystem: closes its own', async () => {
  const closed: string[] = [];
  const { agent, folder } = emptyAgent();
  let fails = true;
  agent
    .addDataSource(() => closing('a', closed))
    .addDataSource(() => closing('b', closed))
    .customizeCollection('a', () => {
      if (fails) throw new Error('not yet');
    });
  await messageOf(() => agent.start());
  fails = false;
  const seen = [closed.splice(0).sort()];
  expect(agent.addDataSource(() => closing('c', closed))).toBe(agent);
  await agent.generateSchemaOnly();
  seen.push(closed.splice(0));
  await agent.start();
  seen.push(closed.splice(0));
  await agent.updateTypesOnFileSystem(join(folder, 'a.ts'), 1);
  seen.push(closed.splice(0));
  await agent.stop();
  seen.push(closed.splice(0).sort());
  await agent.updateTypesOnFileSystem(join(folder, 'a.ts'), 1);
  seen.push(closed.splice(0).sort());
  const all = ['a', 'b', 'c'];
  expect(seen).toEqual([['a', 'b'], [], [], [], [...all, ...all].sort(), all]);
});

test('generateSchemaOnly, stop: without a start, stop closes the sources once, also of several files, and the agent can start', async () => {
  const closed: string[] = [];
  const { agent } = emptyAgent();
  agent.addDataSource(() => closing('a', closed)).addDataSource(() => closing('b', closed));
  await agent.generateSchemaOnly();
  await agent.generateSchemaOnly();
  const seen = [closed.splice(0)];
  await agent.stop();
  seen.push(closed.splice(0).sort());
  await agent.stop();
  seen.push(closed.splice(0));
  await agent.start();
  await agent.stop();
  seen.push(closed.splice(0).sort());
  expect(seen).toEqual([[], ['a', 'a', 'b', 'b'], [], ['a', 'b']]);
});

test('restart, stop: restarts run one after another, and a stop waits for them', async () => {
  const order: string[] = [];
  const closed: string[] = [];
  let round = 0;
  const { agent } = emptyAgent();
  agent
    .addDataSource(() => closing(`source ${++round}`, closed))
    .use(async () => {
      const mine = round;
      order.push(`begin ${mine}`);
      await new Promise((resolve) => setTimeout(resolve, 30));
      order.push(`end ${mine}`);
    });
  await agent.start();
  await Promise.all([agent.restart(), agent.restart()]);
  const last = agent.restart();
  await expect.poll(() => order, { interval: 2 }).toContain('begin 4');
  await agent.stop();
  order.push('stopped');
  await last;
  expect([order, closed.sort()]).toEqual([
    [...[1, 2, 3, 4].flatMap((at) => [`begin ${at}`, `end ${at}`]), 'stopped'],
    [1, 2, 3, 4].map((at) => `source ${at}`),
  ]);
}); // biome-ignore format: short

test('createAgent, generateSchemaOnly: typings are five levels deep by default, or as configured; the schema is written too', async () => {
  for (const given of [{}, { typingsMaxDepth: 3 }]) {
    const typingsPath = join(makeFolder(), 'typings.ts');
    const { agent, schemaPath } = shopAgent({ typingsPath, ...given });
    await agent.generateSchemaOnly();
    const depth = readFileSync(typingsPath, 'utf8').match(/depth: \d+/)?.[0];
    await agent.start();
    const started = readFileSync(typingsPath, 'utf8').match(/depth: \d+/)?.[0];
    expect([depth, started, existsSync(schemaPath)]).toEqual([...Array(2).fill(`depth: ${given.typingsMaxDepth ?? 5}`), true]);
  }
}); // biome-ignore format: short
