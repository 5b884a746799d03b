// What the operations of the agent (behaviour 4.1) return, keep and leave behind: addresses before and after a start, calls
// at the same time, options that change after the call, and files that cannot be written.
import { lstatSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  type Agent,
  type AgentOptions,
  createAgent,
  createMemoryDataSource,
  type MemoryTable,
} from '../../src/index.ts';
import { createTestableAgent } from '../../src/testing/index.ts';
import { emptyAgent, makeFolder, messageOf, secrets, shopAgent } from '../app/agent.ts';

const table = (name: string): MemoryTable => ({
  ...{ name, columns: [{ name: 'id', type: 'Number' }], primaryKey: ['id'], rows: [[1]] },
});
const source = (...names: string[]) => createMemoryDataSource(names.join(), names.map(table));

test('start: without a mount there is no server; on a server of its own it has a port until the stop; without mountAiMcpServer no MCP', async () => {
  const { agent: bare } = shopAgent();
  expect((await bare.start()).server).toBe(null);
  expect(bare.standaloneServerPort).toBe(undefined);
  const { agent } = shopAgent();
  agent.mountOnStandaloneServer(0);
  const before = agent.standaloneServerPort;
  const { server } = await agent.start();
  const during = agent.standaloneServerPort;
  await agent.stop();
  expect(server).toMatchObject({ mcpUrl: '', address: `http://127.0.0.1:${during}` });
  expect([before, typeof during, agent.standaloneServerPort]).toEqual([undefined, 'number', undefined]);
});

test('start, stop, mountAiMcpServer: the request handler is a mount: 503 before the start and after the stop, only at its own paths', async () => {
  const http = createServer((req, res) => handler(req, res, () => res.writeHead(299).end()));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void http.close());
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const { agent: served } = emptyAgent({ settings: { dataDir: join(makeFolder(), 'data'), publicUrl: origin } });
  const handler = served.addDataSource(source('a')).requestHandler;
  const statuses = async () => {
    const all = [];
    for (const path of ['/mcp', '/oauth/token', '/service', '/elsewhere']) {
      const { status } = await fetch(`${origin}${path}`, { method: 'POST' });
      all.push(status);
    }
    return all;
  };
  const plain = await statuses();
  served.mountAiMcpServer();
  const mounted = await statuses();
  const { server } = await served.start();
  const started = await statuses();
  await served.stop();
  expect(plain).toEqual([299, 299, 503, 299]);
  expect(mounted).toEqual([503, 503, 503, 299]);
  expect(started.map((status) => status === 503 || status === 299)).toEqual([false, false, false, true]);
  expect(await statuses()).toEqual(mounted);
  expect([server?.mcpUrl, served.standaloneServerPort]).toEqual([`${origin}/mcp`, undefined]);
});

test('start: two at once: the second is refused, and the first continues; a stop and a start begin again', async () => {
  const { agent } = shopAgent();
  const [first, second] = await Promise.allSettled([agent.start(), agent.start()]);
  expect(first.status).toBe('fulfilled');
  expect(String((second as PromiseRejectedResult).reason)).toMatch(/already started\. \(.*4\.1-calls-outside\.test\.ts:\d+\)/);
  await agent.stop();
  expect((await agent.start()).server).toBe(null);
}); // biome-ignore format: short

test('mountAiMcpServer: options that change after the call are ignored', async () => {
  const options: { enabledTools: string[] } = { enabledTools: ['list'] };
  const agentOf = (agent: Agent) => void agent.addDataSource(source('a'));
  const place = await createTestableAgent(agentOf, { mcp: options });
  onTestFinished(() => place.close());
  const { agent } = shopAgent();
  agent.mountOnStandaloneServer(0).mountAiMcpServer(options as never);
  options.enabledTools = ['nothing'];
  expect((await place.mcp.listTools()).map(({ name }) => name)).toEqual(['list']);
  expect((await agent.start()).server?.mcpUrl).toMatch(/\/mcp$/);
});

test.each<[options: Partial<AgentOptions>, problem: string]>([
  [{ settings: { envSecret: 'x' } as never }, "settings: 'envSecret' is an option of createAgent itself"],
  [{ settings: { serverUrl: 'http://x' } as never }, "settings: 'serverUrl' is an option of createAgent itself"],
  [{ settings: { database: 'sqlite:x' } as never }, "settings: 'database' is not allowed here: add the served data with addDataSource"],
  [{ settings: { dataDirr: 'x' } as never }, 'Near: dataDir'],
  [{ signInUrl: '/login' }, "createAgent: 'signInUrl' requires 'authenticate', the sign-in of the application"],
  [{ passwordSignIn: true }, "createAgent: 'passwordSignIn' requires 'authenticate', the sign-in of the application"],
  [{ consolePath: '' }, "'consolePath' must be a path such as '/console'"],
  [{ apiPath: '/a b' }, "'apiPath' must be a path such as '/api'"],
  [{ prefix: '/a/../b' }, "'prefix' must be a path such as '/service'"],
])('createAgent: %j is refused, with what to set and the line', async (options, problem) => {
  const message = await messageOf(() => createAgent({ ...secrets, ...options }));
  expect([message.includes(problem) ? problem : message, message]).toEqual([problem, expect.stringMatching(/4\.1-calls-outside\.test\.ts:\d+\)/)]);
}); // biome-ignore format: a table

test('createAgent: typingsMaxDepth from 1 to 10, and paths with or without slashes, are accepted', () => {
  const accepted: Partial<AgentOptions>[] = [{ typingsMaxDepth: 1 }, { typingsMaxDepth: 10 }, { prefix: '' }, { prefix: 'a' }, { prefix: '//a//b_-~9//' }, { consolePath: 'c' }, { apiPath: '' }, { isProduction: false }, { settings: {} }, { loggerLevel: 'Debug' }, { serverUrl: 'http://127.0.0.1:1/x' }]; // biome-ignore format: short
  for (const options of accepted) expect(createAgent({ ...secrets, ...options })).toBeDefined();
});

test('start, createAgent: in production, the difference to the schema file names five collections and the number of the others', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  for (const [count, expected] of [[5, 'in: a, b, c, d, e. Update'], [6, 'in: a, b, c, d, e and 1 more. Update'], [7, 'in: a, b, c, d, e and 2 more. Update']] as const) {
    const { agent, schemaPath } = emptyAgent();
    await agent.addDataSource(source('z')).generateSchemaOnly();
    const { agent: production, logged } = emptyAgent({ isProduction: true, schemaPath });
    await production.addDataSource(source('z', ...names.slice(0, count))).start();
    expect(logged.filter(([level]) => level === 'Warn').map(([, message]) => message)).toEqual([expect.stringContaining(expected)]);
  }
}); // biome-ignore format: short

test('generateSchemaOnly, updateTypesOnFileSystem: a link stays a link, also one to nothing; a folder is refused; no temporary file remains', async () => {
  const folder = makeFolder();
  const [file, link, dangling] = ['a.json', 'b.json', 'c.json'].map((name) => join(folder, name)) as [string, string, string];
  writeFileSync(file, 'old');
  symlinkSync(file, link);
  symlinkSync(join(folder, 'new.json'), dangling);
  for (const schemaPath of [link, dangling]) {
    const { agent } = shopAgent({ schemaPath });
    await agent.generateSchemaOnly();
    await agent.updateTypesOnFileSystem(`${schemaPath.slice(0, -4)}ts`, 1);
    expect([lstatSync(schemaPath).isSymbolicLink(), JSON.parse(readFileSync(schemaPath, 'utf8')).collections.length > 0]).toEqual([true, true]);
  }
  expect(readFileSync(file, 'utf8')).not.toBe('old');
  expect(readdirSync(folder).sort()).toEqual(['a.json', 'b.json', 'b.ts', 'c.json', 'c.ts', 'new.json']);
  const { agent } = shopAgent({ schemaPath: folder });
  expect(await messageOf(() => agent.generateSchemaOnly())).toBe(`schemaPath: ${folder} is not a file. Set the path of a file.`);
  expect(await messageOf(() => agent.updateTypesOnFileSystem(folder, 1))).toBe(`typingsPath: ${folder} is not a file. Set the path of a file.`);
}); // biome-ignore format: short

test('generateSchemaOnly, start: a folder that is gone: the error names the option and the path', async () => {
  const folder = makeFolder();
  const [schemaPath, typingsPath] = [join(folder, 'a.json'), join(folder, 'a.ts')];
  const { agent } = shopAgent({ schemaPath });
  const { agent: typed } = shopAgent({ typingsPath });
  rmSync(folder, { recursive: true });
  expect([await messageOf(() => agent.generateSchemaOnly()), await messageOf(() => agent.start()), await messageOf(() => typed.start())]).toEqual([
    ...Array(2).fill(`schemaPath: ${schemaPath} cannot be written. Set another path, or change its write permissions.`),
    `typingsPath: ${typingsPath} cannot be written. Set another path, or change its write permissions.`,
  ]);
}); // biome-ignore format: short

test('start, restart: a workflow of code that is invalid ends both, also without a server', async () => {
  const { agent } = shopAgent();
  agent.addWorkflow({ name: 'w', collection: 'nowhere', steps: [{ id: 'a', type: 'guidance', text: 'Do it.' }] } as never);
  expect(await messageOf(() => agent.start())).toMatch(/nowhere.*4\.1-calls-outside\.test\.ts:\d+/s);
}); // biome-ignore format: short

test('addDataSource: a factory that returns no source is refused with the line: nothing, an empty object, a text', async () => {
  for (const given of [undefined, null, {}, 'x', []]) {
    const { agent } = emptyAgent();
    agent.addDataSource(() => given as never);
    expect(await messageOf(() => agent.start())).toMatch(/^The factory of addDataSource must return a data source.*4\.1-calls-outside\.test\.ts:\d+/);
  }
  for (const given of [undefined, null, {}, 'x'])
    expect(await messageOf(() => emptyAgent().agent.addDataSource(given as never))).toMatch(/^addDataSource needs a factory/);
}); // biome-ignore format: short

test('generateSchemaOnly: fixed forms are in the file, with defaults and a layout only where there is one; dynamic forms are not', async () => {
  const { agent, schemaPath } = emptyAgent();
  const field = { label: 'reason', type: 'String' as const, defaultValue: 'none' };
  const execute = () => undefined as never;
  agent.addDataSource(source('a')).customizeCollection('a', (each) =>
    each
      .addAction('bare', { scope: 'Global', execute })
      .addAction('plain', { scope: 'Global', form: [field], execute })
      .addAction('laid out', { scope: 'Bulk', form: [field, { type: 'Layout', component: 'Separator' }], execute })
      .addAction('dynamic', { scope: 'Single', form: [{ ...field, defaultValue: () => 'x' }], execute }),
  );
  await agent.generateSchemaOnly();
  const [{ actions }] = JSON.parse(readFileSync(schemaPath, 'utf8')).collections;
  expect(
    Object.fromEntries(
      actions.map((one: Record<string, never>) => [one.name, [one.type, one.fields, Array.isArray(one.layout)]]),
    ),
  ).toEqual({
    bare: ['global', [], false],
    plain: ['global', [expect.objectContaining({ field: 'reason', defaultValue: 'none' })], false],
    'laid out': ['bulk', [expect.objectContaining({ field: 'reason', defaultValue: 'none' })], true],
    // Front ends that show the file until they have loaded the form.
    dynamic: ['single', [expect.objectContaining({ field: 'Loading...', isReadOnly: true })], false],
  });
});
