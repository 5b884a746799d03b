// Edges of the operations of the agent (behaviour 4.1): several calls of each, what a failure leaves, and what a stop
// and a restart keep.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import {
  type Agent,
  type AgentOptions,
  createAgent,
  createAiProvider,
  createMemoryDataSource,
  type MemoryTable,
} from '../../src/index.ts';
import { createForestServerSandbox, createTestableAgent } from '../../src/testing/index.ts';
import { connectSandbox } from '../../src/testing/sandbox.ts';
import { accessOf } from '../agent/shop.ts';
import { emptyAgent, makeFolder, messageOf, secrets, shopAgent } from '../app/agent.ts';

const table = (name: string, ...ids: number[]): MemoryTable => ({
  ...{ name, columns: [{ name: 'id', type: 'Number' }], primaryKey: ['id'], rows: ids.map((id) => [id]) },
});
const source = (...names: string[]) =>
  createMemoryDataSource(
    names.join(),
    names.map((name) => table(name, 1)),
  );
const closing = (name: string, closed: string[], ...names: string[]): Source => ({
  ...createMemorySource(name, names.map((each) => table(each, 1))),
  close: async () => void closed.push(name),
}); // biome-ignore format: short
const namesIn = (schemaPath: string) =>
  JSON.parse(readFileSync(schemaPath, 'utf8')).collections.map(({ name }: { name: string }) => name);

test('addDataSource: include, exclude and rename of several sources apply to each separately', async () => {
  const { agent, schemaPath } = emptyAgent();
  agent
    .addDataSource(source('a', 'b'), { include: ['a'] })
    .addDataSource(source('c', 'd'), { exclude: ['c'], rename: { d: 'b' } })
    .addDataSource(source('e', 'f'), { include: ['f'], rename: { f: 'c' } });
  await agent.start();
  expect(namesIn(schemaPath)).toEqual(['a', 'b', 'c']);
});

test('removeCollection: removes every name of every call, also twice; no name removes nothing', async () => {
  const { agent, schemaPath } = emptyAgent();
  agent.addDataSource(source('a', 'b', 'c', 'd', 'e')).removeCollection('a', 'c').removeCollection().removeCollection('d').removeCollection('a');
  await agent.start();
  expect(namesIn(schemaPath)).toEqual(['b', 'e']);
}); // biome-ignore format: short

test('use: a plugin of the agent may use others; later errors name no plugin; a plugin that throws ends the call', async () => {
  const { agent } = emptyAgent();
  const order: string[] = [];
  const inner = { customizeAgent: () => void order.push('inner') };
  agent.use({ customizeAgent: (each) => [order.push('outer'), each.use(inner).addDataSource(source('a')), order.push('end')] as never });
  const message = await messageOf(() => agent.customizeCollection('a', 1 as never));
  const thrown = await messageOf(() => agent.use({ customizeAgent: () => { throw new Error('no'); } }));
  const after = await messageOf(() => agent.addChart('c', 1 as never));
  expect([order, message, thrown, after]).toEqual([
    ['outer', 'inner', 'end'],
    expect.not.stringContaining('by a plugin'),
    expect.stringMatching(/A plugin failed: no \(.*4\.1-edges-outside\.test\.ts:\d+\)/),
    expect.not.stringContaining('by a plugin'),
  ]);
}); // biome-ignore format: short

test('customizeCollection: callbacks run again at each restart, one after another, and an error of the last one ends it', async () => {
  const { agent } = emptyAgent();
  const order: string[] = [];
  const say = (name: string) => async () => {
    await new Promise((done) => setTimeout(done, name === 'slow' ? 20 : 0));
    order.push(name);
  };
  let fails = false;
  agent
    .addDataSource(source('a', 'b'))
    .customizeCollection('a', say('slow'))
    .customizeCollection('b', say('second'))
    .customizeCollection('a', async () => {
      order.push('third');
      if (fails) throw new Error('third fails');
    });
  await agent.start();
  fails = true;
  expect([await messageOf(() => agent.restart()), order]).toEqual([
    expect.stringContaining("customizeCollection('a') failed: third fails"),
    ['slow', 'second', 'third', 'slow', 'second', 'third'],
  ]);
});

test('addChart: charts that throw, that return nothing and whose names differ only by case are distinct', async () => {
  const place = await createTestableAgent((agent) =>
    agent
      .addDataSource(source('a'))
      .addChart('sum', (_, chart) => chart.value(0))
      .addChart('Sum', async ({ caller, timezone }, chart) => chart.smart([caller.email, timezone]))
      .addChart('broken', () => { throw new Error('secret'); })
      .addChart('nothing', () => undefined as never),
  );
  onTestFinished(() => place.close());
  const chart = (chartName: string) => place.mcp.call('getChart', { chartName }).catch((error: Error) => error.message);
  expect([await chart('sum'), await chart('Sum'), await chart('broken'), await chart('nothing')]).toEqual([
    { value: 0 },
    { data: [expect.stringContaining('@'), 'UTC'] },
    expect.not.stringContaining('secret'),
    expect.stringContaining('CHART_FAILED'),
  ]);
}); // biome-ignore format: short

describe('start, stop, restart', () => {
  test('start: after a failed contact a second start works completely and sends the schema; restart: the new schema is sent', async () => {
    const first = await createForestServerSandbox();
    const port = Number(new URL(first.url).port);
    await first.close();
    let second = false;
    const { agent, schemaPath } = emptyAgent({ serverUrl: first.url });
    const closed: string[] = [];
    agent.addDataSource(() => closing('a', closed, 'a', ...(second ? ['b'] : [])));
    const failed = await messageOf(() => agent.start());
    expect([failed, closed]).toEqual([expect.stringContaining('no server answers'), ['a']]);
    const sandbox = await createForestServerSandbox(port);
    onTestFinished(() => sandbox.close());
    const { engine } = await agent.start();
    const controls = await connectSandbox({ serverUrl: sandbox.url, envSecret: secrets.envSecret });
    onTestFinished(() => controls.close());
    const sent = await controls.schema();
    const { rows } = await engine.list(accessOf(), { collection: 'a', limit: 9 });
    second = true;
    const written = readFileSync(schemaPath, 'utf8');
    await agent.restart();
    expect([rows, closed.length, sent === written, await controls.schema(), namesIn(schemaPath)]).toEqual([
      ...[[[1]], 2, true, readFileSync(schemaPath, 'utf8'), ['a', 'b']],
    ]);
    expect(sent).not.toBe(readFileSync(schemaPath, 'utf8'));
  }); // biome-ignore format: short

  test('restart, stop: a source that the factory returns again is not closed by a restart, even a failed one, and once by stop', async () => {
    const closed: string[] = [];
    const kept = closing('kept', closed, 'a');
    let fails = false;
    const { agent } = emptyAgent();
    agent
      .addDataSource(() => kept)
      .addDataSource(() => closing('new', closed, 'b'))
      .customizeCollection('a', () => {
        if (fails) throw new Error('not now');
      });
    const { engine } = await agent.start();
    await agent.restart();
    await expect.poll(() => closed).toEqual(['new']);
    fails = true;
    const failed = await messageOf(() => agent.restart());
    expect([failed, closed]).toEqual([expect.stringContaining('not now'), ['new', 'new']]);
    expect((await engine.list(accessOf(), { collection: 'a', limit: 9 })).rows).toEqual([[1]]);
    await agent.stop();
    expect(closed.toSorted()).toEqual(['kept', 'new', 'new', 'new']);
  });

  test('stop: afterwards there is no port, describing operations are still refused, and it starts again on its port', async () => {
    const { agent } = shopAgent();
    agent.mountAiMcpServer().mountOnStandaloneServer(0);
    const { server } = await agent.start();
    const port = agent.standaloneServerPort;
    await agent.stop();
    expect([port, agent.standaloneServerPort]).toEqual([Number(new URL(server!.address).port), undefined]);
    await agent.start();
    expect(agent.standaloneServerPort).toBeGreaterThan(0);
    await agent.stop();
    expect(agent.standaloneServerPort).toBeUndefined();
  });

  test('start, generateSchemaOnly, restart: in production a start reads the schema file and writes no typings; generateSchemaOnly writes both', async () => {
    const typingsPath = join(makeFolder(), 'typings.ts');
    const { agent, schemaPath, logged } = emptyAgent({ isProduction: true, typingsPath });
    let name = 'a';
    agent.addDataSource(() => createMemorySource('x', [table(name, 1)]));
    expect([await messageOf(() => agent.start()), existsSync(schemaPath)]).toEqual([expect.stringContaining('cannot be read'), false]);
    await agent.generateSchemaOnly();
    const [schema, typings] = [readFileSync(schemaPath, 'utf8'), readFileSync(typingsPath, 'utf8')];
    name = 'b';
    await agent.start();
    await agent.restart();
    const warned = logged.filter(([, message]) => message.includes('differs from the served schema')).length;
    expect([readFileSync(schemaPath, 'utf8') === schema, readFileSync(typingsPath, 'utf8') === typings, warned]).toEqual([true, true, 2]);
    await agent.generateSchemaOnly();
    await agent.updateTypesOnFileSystem(join(makeFolder(), 'other.ts'), 1);
    expect([namesIn(schemaPath), readFileSync(typingsPath, 'utf8') === typings]).toEqual([['b'], false]);
  }); // biome-ignore format: short
});

test('updateTypesOnFileSystem: replaces only the named file, from the model of the last restart', async () => {
  const folder = makeFolder();
  const [own, other] = [join(folder, 'own.ts'), join(folder, 'other.ts')];
  const { agent } = emptyAgent({ typingsPath: own });
  let name = 'first';
  agent.addDataSource(() => createMemorySource('x', [table(name, 1)]));
  await agent.updateTypesOnFileSystem(other, 10);
  expect([existsSync(own), readFileSync(other, 'utf8').includes('first')]).toEqual([false, true]);
  await agent.start();
  name = 'second';
  await agent.restart();
  const before = readFileSync(own, 'utf8');
  await agent.updateTypesOnFileSystem(other, 2);
  const text = readFileSync(other, 'utf8');
  expect([text.includes('second'), text.includes('first'), text.includes('depth: 2'), readFileSync(own, 'utf8') === before]).toEqual([true, false, true, true]);
  expect(await messageOf(() => agent.updateTypesOnFileSystem(join(folder, 'none', 'a.ts'), 1))).toContain("'typingsPath' must be the path of a file in an existing folder");
}); // biome-ignore format: short

test('mountAiMcpServer: lists in the settings and in code both apply; an empty base path is the root', async () => {
  const toolsOf = async (agentOptions: Partial<AgentOptions>, mcp: object) => {
    const place = await createTestableAgent((agent: Agent) => void agent.addDataSource(source('a')), { agent: agentOptions, mcp });
    onTestFinished(() => place.close());
    return (await place.mcp.listTools()).map(({ name }) => name).sort();
  };
  expect([
    await toolsOf({ settings: { enabledTools: ['list', 'create'] } }, { enabledTools: ['create', 'delete'] }),
    await toolsOf({ settings: { enabledTools: ['list', 'create'] } }, {}),
    await toolsOf({}, { enabledTools: ['list'], basePath: '' }),
  ]).toEqual([['create'], ['create', 'list'], ['list']]);
}); // biome-ignore format: short

test.each<[option: string, values: unknown[]]>([
  ['authSecret', ['', '  ', 7, null, undefined]],
  ['envSecret', ['', '  ', 7, null, undefined]],
  ['serverUrl', ['platform', 'ftp://x', '', 7]],
  ['isProduction', ['true', 1, null]],
  ['logger', ['console', {}]],
  ['loggerLevel', ['info', 'Verbose', 1]],
  ['prefix', ['a b', '/a?b', 7]],
  ['schemaPath', ['', '/nowhere/a.json', 7]],
  ['typingsPath', ['', '/nowhere/a.ts', 7]],
  ['typingsMaxDepth', [0, 11, 1.5, '5']],
  ['useUnsafeActionEndpoint', ['yes', 0]],
  ['settings', ['x', []]],
])('createAgent: %s: an invalid value is refused, with the option and the line, without a secret', async (option, values) => {
  for (const value of values) {
    const message = await messageOf(() => createAgent({ ...secrets, [option]: value } as never));
    expect([message.includes(`'${option}'`), message.includes(secrets.authSecret)], `${option}: ${value}: ${message}`).toEqual([true, false]);
    expect(message).toMatch(/4\.1-edges-outside\.test\.ts:\d+/);
  }
}); // biome-ignore format: short

test('start, stop: a failed start reports its own error, even if a source fails to close', async () => {
  const { agent } = emptyAgent();
  agent
    .addDataSource(() => ({ ...closing('a', [], 'a'), close: () => Promise.reject(new Error('stuck')) }))
    .customizeCollection('a', () => Promise.reject(new Error('not yet')));
  expect(await messageOf(() => agent.start())).toContain('not yet');
});

test.each([{ model: '' }, { model: ' ' }, { model: 7 }, { name: '' }, { name: 7 }, { provider: 'OpenAI' }, { provider: '' }, { apiKey: 'a b' }, { apiKey: '' }, { apiKey: 7 }, { key: 'k' }])('addAi: the factory refuses %j, with the option and the line', async (more) => {
  const message = await messageOf(() => createAiProvider({ name: 'house', provider: 'openai', apiKey: 'k', model: 'm', ...more } as never));
  expect(message).toMatch(new RegExp(`'${Object.keys(more)[0]}'.*4\\.1-edges-outside\\.test\\.ts:\\d+`));
}); // biome-ignore format: short

test.each<[row: string, act: (agent: Agent) => unknown, problem: string]>([
  ['mountAiMcpServer', (agent) => agent.mountAiMcpServer({ enabledTools: 'list' } as never), "'enabledTools' must be a list of tools"],
  ['mountAiMcpServer', (agent) => agent.mountAiMcpServer({ enabledTools: ['list', ''] }), "'enabledTools' must be a list of tools"],
  ['mountAiMcpServer', (agent) => agent.mountAiMcpServer({ basePath: 7 } as never), "'basePath' must be a path"],
  ['mountAiMcpServer', (agent) => agent.mountAiMcpServer(null as never), 'mountAiMcpServer needs an object of options'],
  ['addDataSource', (agent) => agent.addDataSource(source('a'), { include: 'a' } as never), "'include' must be a list of names"],
  ['addDataSource', (agent) => agent.addDataSource(source('a'), { exclude: [1] } as never), "'exclude' must be a list of names"],
  ['addDataSource', (agent) => agent.addDataSource(source('a'), { rename: ['a'] } as never), "'rename' must be a map"],
  ['addDataSource', (agent) => agent.addDataSource(source('a'), null as never), 'addDataSource needs an object of options'],
  ['addDataSource', (agent) => agent.addDataSource(async () => { throw new Error('no file'); }).start(), 'The data source failed: no file'],
  ['use', (agent) => agent.use(null as never), 'use needs a plugin'],
  ['addAi', (agent) => agent.addAi(undefined as never), 'addAi needs a provider'],
  ['addChart', (agent) => agent.addDataSource(source('a')).addChart('  ', (_, chart) => chart.value(1)).start(), 'A chart needs a name'],
  ['customizeCollection', (agent) => agent.customizeCollection('a', undefined as never), "customizeCollection('a') needs a function"],
  ['removeCollection', (agent) => agent.addDataSource(source('a')).removeCollection('A').start(), "There is no collection 'A'"],
  ['start, generateSchemaOnly', (agent) => agent.addDataSource(source('a')).customizeCollection('b', () => {}).generateSchemaOnly(), "There is no collection 'b'"],
])('%s: %#: an invalid call is refused, with the error and the line', async (_, act, problem) => {
  const message = await messageOf(() => act(emptyAgent().agent));
  expect([message.includes(problem) ? problem : message, message]).toEqual([problem, expect.stringMatching(/4\.1-edges-outside\.test\.ts:\d+/)]);
}); // biome-ignore format: a table
