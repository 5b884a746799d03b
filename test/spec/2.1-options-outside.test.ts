// Options of createAgent and their visible effects: URLs, files, ports and log lines.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type AgentOptions, createAgent, createMemoryDataSource } from '../../src/index.ts';
import { createTestableAgent } from '../../src/testing/index.ts';
import { accessOf, shopTables } from '../agent/shop.ts';
import { makeFolder, messageOf, secrets, shopAgent } from '../app/agent.ts';

async function statusesOf(agent: Partial<AgentOptions>, paths: readonly string[]): Promise<number[]> {
  const place = await createTestableAgent(
    (each) =>
      each.addDataSource(createMemoryDataSource('shop', shopTables)).customizeCollection('orders', (orders) =>
        orders
          .addAction('Open', { scope: 'Global', execute: () => undefined })
          .addAction('Close now!', { scope: 'Global', execute: () => undefined }),
      ),
    { agent },
  );
  const origin = new URL(place.options.agentUrl).origin;
  // Existing routes ask for authentication.
  const statuses = await Promise.all(paths.map(async (path) => (await fetch(`${origin}${path}`, { method: 'POST' })).status));
  await place.client.collection('customers').list();
  await place.close();
  return statuses;
} // biome-ignore format: short

test('prefix | string | no | the API is served only below it; default is /service', async () => {
  const notes = '_api/v1/project/portico/environment/main/notes';
  const paths = [
    '/service/customers',
    '/data/v1/customers',
    '/customers',
    `/service/${notes}`,
    `/data/v1/${notes}`,
    `/${notes}`,
  ];
  expect([await statusesOf({}, paths), await statusesOf({ prefix: 'data//v1/' }, paths)]).toEqual([
    [401, 404, 404, 401, 404, 404],
    [404, 401, 404, 404, 401, 404],
  ]);
});

test('MCP_SERVER_PORT: the default is 3931; a port in code wins; an invalid port is refused', async () => {
  const taken = createServer();
  // Another process may already have the port. Either way the agent does not get it.
  await new Promise<void>((done) => taken.on('error', () => done()).listen(3931, '127.0.0.1', done));
  onTestFinished(() => void taken.close());
  const start = async (port?: number) => {
    const { agent } = shopAgent();
    agent.mountAiMcpServer().mountOnStandaloneServer(port);
    return messageOf(async () => agent.start());
  };
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('MCP_SERVER_PORT', undefined);
  const byDefault = await start();
  vi.stubEnv('MCP_SERVER_PORT', '3931');
  const byCode = await start(0);
  vi.stubEnv('MCP_SERVER_PORT', 'many');
  expect([byDefault, byCode, await start()]).toEqual([
    expect.stringContaining('3931'),
    'it worked',
    expect.stringContaining('MCP_SERVER_PORT'),
  ]);
});

test('SERVICE_MCP_ENABLED_TOOLS: comma-separated; it restricts the tools that code enables, and refuses unknown names', async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  const tools = async (variable: string | undefined, enabledTools?: string[]) => {
    vi.stubEnv('SERVICE_MCP_ENABLED_TOOLS', variable);
    const place = await createTestableAgent(
      (agent) => agent.addDataSource(createMemoryDataSource('shop', shopTables)),
      enabledTools ? { mcp: { enabledTools } } : {},
    );
    const names = (await place.mcp.listTools()).map(({ name }) => name).sort();
    await place.close();
    return names;
  };
  expect([
    await tools(undefined),
    await tools(' list ,describeCollection,'),
    await tools('list,delete', ['list', 'describeCollection']),
    await messageOf(() => tools('list,lits')),
    await messageOf(() => tools('list,lits', ['list'])),
    await messageOf(() => tools('lits', ['list', 'delete'])),
    await messageOf(() => tools('list', ['list', 'lits'])),
  ]).toEqual([
    expect.arrayContaining(['create', 'delete', 'describeCollection', 'list', 'listRelated', 'update']),
    ['describeCollection', 'list'],
    ['list'],
    ...Array(4).fill(expect.stringMatching(/no tool 'lits'.*Near: list/s)),
  ]);
});

test('loggerLevel | string | no | Debug logs more than Info; Info is the default', async () => {
  const levelsOf = async (options: Partial<AgentOptions>) => {
    const levels = new Set<string>();
    const place = await createTestableAgent(
      (agent) => agent.addDataSource(createMemoryDataSource('shop', shopTables)),
      { agent: { loggerLevel: undefined as never, ...options, logger: (level) => void levels.add(level) } },
    );
    await place.mcp.call('list', { collectionName: 'orders' });
    await place.close();
    return levels;
  };
  const [debug, info, byDefault] = [await levelsOf({ loggerLevel: 'Debug' }), await levelsOf({ loggerLevel: 'Info' }), await levelsOf({})];
  expect([debug.has('Debug'), info.has('Debug'), info.has('Info'), byDefault]).toEqual([true, false, true, info]);
}); // biome-ignore format: short

test('loggerLevel | string | no | logs that level and higher ones, to the logger or to standard error', async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  // The option in code differs from the environment, which logs a warning.
  vi.stubEnv('SERVICE_PREFIX', '/elsewhere');
  const levels = ['Debug', 'Info', 'Warn', 'Error'] as const;
  const runsOf = async (loggerLevel: (typeof levels)[number], toLogger: boolean) => {
    const told = new Set<string>();
    const write = vi.spyOn(fs, 'writeSync').mockImplementation((_fd, line) => {
      for (const each of String(line).split('\n').filter(Boolean)) told.add(levels[JSON.parse(each).level / 10 - 2]!);
      return String(line).length;
    });
    const { agent } = shopAgent({ prefix: '/here', loggerLevel, logger: (toLogger ? (level: string) => void told.add(level) : undefined) as never });
    const { engine } = await agent.mountOnStandaloneServer(0).start();
    await engine.list(accessOf(), { collection: 'orders', limit: 1 });
    await agent.stop();
    write.mockRestore();
    return levels.filter((level) => told.has(level));
  };
  for (const toLogger of [true, false]) {
    const runs = [];
    for (const level of levels) runs.push(await runsOf(level, toLogger));
    expect([toLogger, runs]).toEqual([toLogger, [['Debug', 'Info', 'Warn'], ['Info', 'Warn'], ['Warn'], []]]);
  }
}); // biome-ignore format: short

test('typingsPath | string | no | written by start and generateSchemaOnly from the current schema, not in production', async () => {
  const written = async (options: Partial<AgentOptions>, act: 'start' | 'generateSchemaOnly') => {
    const { agent, folder } = shopAgent(options);
    const typingsPath = join(folder, 'typings.ts');
    const other = shopAgent({ ...options, typingsPath, schemaPath: join(folder, 'schema.json') }).agent;
    if (options.isProduction && act === 'start') await other.generateSchemaOnly();
    fs.rmSync(typingsPath, { force: true });
    await other.stop();
    const again = shopAgent({ ...options, typingsPath, schemaPath: join(folder, 'schema.json') }).agent;
    await again[act]();
    await again.stop();
    await agent.stop();
    return fs.existsSync(typingsPath) && fs.readFileSync(typingsPath, 'utf8').includes('customers');
  };
  expect([
    await written({}, 'start'),
    await written({}, 'generateSchemaOnly'),
    await written({ isProduction: true }, 'start'),
    await written({ isProduction: true }, 'generateSchemaOnly'),
  ]).toEqual([true, true, false, true]);
});

test('schemaPath | string | no | the default is .service-schema.json in the working folder; typingsPath: the default writes no file', async () => {
  const folder = makeFolder();
  const at = (path: string) => JSON.stringify(resolve(path));
  const code = `
    const { readdirSync } = await import('node:fs');
    const { createAgent, createMemoryDataSource } = await import(${at('src/index.ts')});
    const agent = createAgent({ authSecret: 'a', envSecret: 'e', loggerLevel: 'Error', settings: { dataDir: 'data' } });
    const table = { name: 'things', columns: [{ name: 'id', type: 'Number' }], primaryKey: ['id'], rows: [] };
    await agent.addDataSource(createMemoryDataSource('m', [table])).generateSchemaOnly();
    await agent.stop();
    console.log(JSON.stringify(readdirSync('.')));`;
  const { stdout } = await promisify(execFile)(resolve('node_modules/.bin/tsx'), ['--input-type=module', '-e', code], { cwd: folder });
  expect(JSON.parse(stdout).filter((name: string) => name !== 'data')).toEqual(['.service-schema.json']);
}, 60_000); // biome-ignore format: short

test('schemaPath | the default is a hidden file in the folder where the agent is created', async () => {
  const folder = makeFolder();
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder);
  const settings = { dataDir: join(folder, 'data') };
  const agent = createAgent({ ...secrets, settings, logger: () => undefined });
  cwd.mockRestore();
  onTestFinished(() => agent.stop());
  await agent.addDataSource(createMemoryDataSource('shop', shopTables)).generateSchemaOnly();
  expect(fs.readdirSync(folder).filter((name) => name !== 'data')).toEqual(['.service-schema.json']);
});

test('prefix | not a path of the MCP server, wherever that is', async () => {
  const start = (prefix: string, basePath?: string) => {
    const { agent } = shopAgent({ prefix });
    agent.mountAiMcpServer(basePath === undefined ? {} : { basePath }).mountOnStandaloneServer(0);
    return messageOf(() => agent.start());
  };
  const refused = (taken: string, prefix: string) =>
    `SERVICE_PREFIX: expected a path outside of ${taken}, got '${prefix}'.`;
  expect([
    await start('/mcp'),
    await start('/mcp/data'),
    await start('/oauth'),
    await start('/ai/mcp', '/ai'),
    await start('/mcpx'),
    await start('/mcp', '/ai'),
  ]).toEqual([
    refused('/mcp', '/mcp'),
    refused('/mcp', '/mcp/data'),
    refused('/oauth', '/oauth'),
    refused('/ai/mcp', '/ai/mcp'),
    'it worked',
    'it worked',
  ]);
});

test('schemaPath, typingsPath | a symbolic link stays one, and the file that it leads to is written', async () => {
  const folder = makeFolder();
  const elsewhere = makeFolder();
  const link = (name: string, exists: boolean) => {
    if (exists) fs.writeFileSync(join(elsewhere, name), 'old');
    fs.symlinkSync(join(elsewhere, name), join(folder, name));
    return join(folder, name);
  };
  for (const exists of [true, false]) {
    const [schemaPath, typingsPath] = [link(`${exists}.json`, exists), link(`${exists}.ts`, exists)];
    const { agent } = shopAgent({ schemaPath, typingsPath });
    await agent.generateSchemaOnly();
    await agent.stop();
    for (const path of [schemaPath, typingsPath])
      expect([path, fs.lstatSync(path).isSymbolicLink(), fs.readFileSync(path, 'utf8')]).toEqual([
        path,
        true,
        expect.stringContaining('customers'),
      ]);
    const folders = [folder, elsewhere].map((each) => fs.readdirSync(each).filter((name) => name.includes('tmp')));
    expect(folders).toEqual([[], []]);
  }
});

test('typingsPath | a description cannot end the comment that holds it', async () => {
  const typingsPath = join(makeFolder(), 'typings.ts');
  const { agent } = shopAgent({ typingsPath });
  const description = 'Such as */ export const oops = 1; /* or **/';
  agent.customizeCollection('customers', (customers) => customers.describeField('name', { description }));
  await agent.generateSchemaOnly();
  const [comment = ''] = /\/\*\* Such as.*/.exec(fs.readFileSync(typingsPath, 'utf8')) ?? [];
  expect(comment).toBe(`/** ${description.replaceAll('*/', '*\\/')} */`);
});
