// Invalid calls of agent operations (behaviour 4.1) throw an error that names the problem and the line.
import { expect, test } from 'vitest';
import {
  type Agent,
  createAgent,
  createAiProvider,
  createMemoryDataSource,
  type MemoryTable,
} from '../../src/index.ts';
import { emptyAgent, makeFolder, messageOf, secrets } from '../app/agent.ts';

const table = (name: string): MemoryTable => ({
  ...{ name, columns: [{ name: 'id', type: 'Number' }], primaryKey: ['id'], rows: [] },
});
const source = (...names: string[]) => createMemoryDataSource('m', names.map(table));
const never = (value: unknown) => value as never;
const draw = () => ({}) as never;
const ai = () => createAiProvider({ name: 'house', provider: 'openai', apiKey: 'k', model: 'm' });

const cases: readonly (readonly [row: string, act: (agent: Agent) => unknown, problem: string])[] = [
  ['createAgent', () => createAgent({ ...secrets, isProducton: true } as never), 'Near: isProduction'],
  ['createAgent', () => createAgent({ ...secrets, isProduction: 'yes' } as never), "'isProduction' must be true or false"],
  ['createAgent', () => createAgent(never(null)), 'createAgent'],
  ['addDataSource', (agent) => agent.addDataSource(never({})), 'addDataSource needs a factory'],
  ['addDataSource', (agent) => agent.addDataSource(source('a'), { includ: [] } as never), 'Near: include'],
  ['addDataSource', (agent) => agent.addDataSource(source('a')).addDataSource(source('a')).start(), "The collection 'a' is published by both"],
  ['addDataSource', (agent) => agent.addDataSource(source('a')).addDataSource(source('b'), { rename: { b: 'a' } }).start(), "The collection 'a' is published by both"],
  ['addDataSource', (agent) => agent.addDataSource(() => never(null)).start(), 'The factory of addDataSource must return a data source'],
  ['customizeCollection', (agent) => agent.customizeCollection('a', never(1)), "customizeCollection('a') needs a function"],
  ['customizeCollection', (agent) => agent.addDataSource(source('a')).customizeCollection('aa', () => {}).start(), "There is no collection 'aa'. Near: a."],
  ['addChart', (agent) => agent.addChart('c', never(1)), "The chart 'c' must be a function"],
  ['addChart', (agent) => agent.addDataSource(source('a')).addChart('c', draw).addChart('c', draw).start(), "The chart 'c' is already defined, at"],
  ['addChart', (agent) => agent.addDataSource(source('a')).addChart('', draw).start(), 'A chart needs a name'],
  ['removeCollection', (agent) => agent.addDataSource(source('a')).removeCollection('a', 'aa').start(), "There is no collection 'aa'. Near: a."],
  ['use', (agent) => agent.use(never({})), 'use needs a plugin'],
  ['use', (agent) => agent.use({ customizeAgent: async () => {} } as never), 'must not be async'],
  ['start', (agent) => agent.start(), 'The agent has no data source: call addDataSource.'],
  ['start', async (agent) => [await agent.addDataSource(source('a')).start(), await agent.start()], 'The agent is already started.'],
  ['start', async (agent) => [await agent.addDataSource(source('a')).start(), agent.addDataSource(source('b'))], 'accepts no more customizations'],
  ['start, mountAiMcpServer', (agent) => agent.addDataSource(source('a')).mountAiMcpServer().start(), 'mountAiMcpServer: there is no server to mount it on'],
  ['stop', async (agent) => {
    const starting = agent.addDataSource(source('a')).start();
    const message = await messageOf(() => agent.stop());
    await starting;
    throw new Error(message);
  }, 'The agent is starting. Wait for the start before you stop it.'],
  ['restart', (agent) => agent.addDataSource(source('a')).restart(), 'Cannot restart: the agent is not started.'],
  ['restart', async (agent) => {
    await agent.addDataSource(source('a')).start();
    await agent.stop();
    await agent.restart();
  }, 'Cannot restart: the agent is not started.'],
  ['addAi', (agent) => agent.addAi(never({ name: 'x' })), 'addAi needs a provider'],
  ['addAi', (agent) => agent.addAi(ai()).addAi(ai()), 'an agent can have only one AI provider'],
  ['mountAiMcpServer', (agent) => agent.mountAiMcpServer().mountAiMcpServer(), 'mountAiMcpServer was already called.'],
  ['mountAiMcpServer', (agent) => agent.mountAiMcpServer({ enabledTools: ['lits'] }), "no tool 'lits'. Near: list"],
  ['mountAiMcpServer', (agent) => agent.mountAiMcpServer({ enabledTools: [] }), 'is empty'],
  ['mountAiMcpServer', (agent) => agent.mountAiMcpServer({ basepath: '/x' } as never), 'Near: basePath'],
  ['updateTypesOnFileSystem', (agent) => agent.updateTypesOnFileSystem(never(undefined), 1), 'typingsPath'],
  ['updateTypesOnFileSystem', (agent) => agent.updateTypesOnFileSystem(`${makeFolder()}/a.ts`, never(undefined)), "typingsMaxDepth"],
  ['updateTypesOnFileSystem', (agent) => agent.updateTypesOnFileSystem('', 1), "'typingsPath' must be"],
  ['updateTypesOnFileSystem', (agent) => agent.updateTypesOnFileSystem(`${makeFolder()}/a.ts`, 1.5), "'typingsMaxDepth' must be a whole number from 1 to 10"],
  ['customizeCollection', (agent) => agent.addDataSource(source('a')).customizeCollection('A', () => {}).start(), "There is no collection 'A'."],
  ['updateTypesOnFileSystem', (agent) => agent.updateTypesOnFileSystem(`${makeFolder()}/a.ts`, 11), "'typingsMaxDepth' must be a whole number from 1 to 10"],
  ['generateSchemaOnly', (agent) => agent.addDataSource(source('a')).customizeCollection('a', (each) => each.removeField('id')).generateSchemaOnly(), 'and cannot be removed'],
]; // biome-ignore format: a table

test.each(cases)('%s: an invalid call is refused, with the error and the line', async (row, act, problem) => {
  const { agent } = emptyAgent();
  const message = await messageOf(() => act(agent));
  // An error about an agent without a data source cannot name a line.
  const line = /has no data source|mount it on/.test(message) ? '' : '4.1-refusals-outside.test.ts:';
  expect([row, message.includes(problem) ? problem : message, message.includes(line) ? line : message]).toEqual([
    row,
    problem,
    line,
  ]);
  expect(message).not.toBe('it worked');
});
