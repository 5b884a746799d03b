import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type AgentOptions, createAgent } from '../../src/index.ts';
import { emptyAgent, makeFolder, messageOf, secrets, shopAgent } from '../app/agent.ts';

const make = (options: object) => messageOf(() => createAgent({ ...secrets, ...options } as AgentOptions));
const line = /\(.*2\.1-agent-options\.test\.ts:\d+\)$/;

interface Schema {
  readonly collections: readonly {
    readonly name: string;
    readonly actions: readonly { readonly endpoint: string }[];
  }[];
}
const schemaOf = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Schema;
const endpointOf = (path: string) =>
  schemaOf(path)
    .collections.find(({ name }) => name === 'orders')!
    .actions.map(({ endpoint }) => endpoint);

function withAction(options: Partial<AgentOptions>) {
  const prepared = shopAgent(options);
  prepared.agent.customizeCollection('orders', (orders) =>
    orders.addAction('Close', { scope: 'Global', execute: () => undefined }),
  );
  return prepared;
}

describe('agent options', () => {
  test.each(['authSecret', 'envSecret'])('%s | string | yes | it is required, and never shown', async (name) => {
    const problem = new RegExp(`createAgent needs '${name}': a text that is not empty\\. ${line.source}`);
    expect(await make({ [name]: undefined })).toMatch(problem);
    const wrong = await make({ [name]: ['a-secret'] });
    expect([wrong.includes('a-secret'), wrong]).toEqual([false, expect.stringMatching(line)]);
  });

  test('envSecret: a storage belongs to the environment that used it first', async () => {
    const settings = { dataDir: makeFolder() };
    const begin = async (envSecret: string) => {
      const { agent } = shopAgent({ envSecret, settings });
      agent.mountAiMcpServer().mountOnStandaloneServer(0);
      const message = await messageOf(() => agent.start());
      await agent.stop();
      return message;
    };
    expect([await begin('one'), await begin('another'), await begin('one')]).toEqual([
      'it worked',
      expect.stringMatching(/^envSecret: the storage belongs to an environment with another secret/),
      'it worked',
    ]);
  });

  test('isProduction | boolean | no | production mode reads the schema file, and writes nothing', async () => {
    const folder = makeFolder();
    const [schemaPath, typingsPath] = [join(folder, 'schema.json'), join(folder, 'typings.ts')];
    const production = () => shopAgent({ isProduction: true, schemaPath, typingsPath });

    expect(await messageOf(() => production().agent.start())).toMatch(
      /^isProduction: the schema file .*schema\.json cannot be read; write it with generateSchemaOnly/,
    );
    writeFileSync(schemaPath, '{}');
    expect(await messageOf(() => production().agent.start())).toMatch(/schema\.json is no schema file/);
    expect([readFileSync(schemaPath, 'utf8'), existsSync(typingsPath)]).toEqual(['{}', false]);
    writeFileSync(schemaPath, '{\n  "collections": }');
    expect(await messageOf(() => production().agent.start())).toMatch(
      /^isProduction: the schema file .*schema\.json is no JSON, from line 2, column 18 on; write it with generateSchemaOnly/,
    );

    const { agent } = shopAgent({ schemaPath });
    await agent.start();
    const written = statSync(schemaPath).mtimeMs;
    const same = production();
    await same.agent.start();
    const other = production();
    other.agent.removeCollection('line_notes');
    await other.agent.start();
    const warnings = [same, other].map(({ logged }) => logged.filter(([level]) => level === 'Warn'));
    expect([warnings, statSync(schemaPath).mtimeMs === written, existsSync(typingsPath)]).toEqual([
      [
        [],
        [['Warn', expect.stringMatching(/schema\.json is not what is served, in: line_notes, order_lines\. Write it/)]],
      ],
      true,
      false,
    ]);
  });

  test('logger | function | no | custom logger: level, message, error', async () => {
    const { agent, logged } = shopAgent({ loggerLevel: 'Debug' });
    agent.mountAiMcpServer({ enabledTools: ['list'] }).mountOnStandaloneServer(0);
    await agent.start();
    await agent.stop();
    expect(logged).toEqual(
      expect.arrayContaining([
        ['Warn', 'describeCollection is not among the enabled tools: assistants cannot find collections and fields.'],
        ['Info', expect.stringMatching(/^server\.started: address=http:\/\/127\.0\.0\.1:\d+ milliseconds=\d+$/)],
      ]),
    );
  });

  test('logger: one that throws stops nothing', async () => {
    const { agent } = shopAgent({
      logger: () => {
        throw new Error('the disk is full');
      },
    });
    agent.mountAiMcpServer().mountOnStandaloneServer(0);
    expect(await messageOf(() => agent.start())).toBe('it worked');
  });

  test('loggerLevel | string | no | one of Debug, Info, Warn, Error', async () => {
    const levelsOf = async (loggerLevel?: 'Debug' | 'Info' | 'Warn' | 'Error') => {
      const { agent, logged } = shopAgent(loggerLevel ? { loggerLevel } : {});
      agent.mountAiMcpServer({ enabledTools: ['list'] }).mountOnStandaloneServer(0);
      await agent.start();
      await agent.stop();
      return [...new Set(logged.map(([level]) => level))].sort();
    };
    expect([await levelsOf(), await levelsOf('Warn'), await levelsOf('Error')]).toEqual([
      ['Info', 'Warn'],
      ['Warn'],
      [],
    ]);
    expect(await make({ loggerLevel: 'debug' })).toMatch(/'loggerLevel' must be one of Debug, Info, Warn, Error/);
  });

  test('prefix | string | no | API prefix; default is /service', async () => {
    const endpoints: string[][] = [];
    for (const prefix of [undefined, '/data/', 'api//v2', '']) {
      const { agent, schemaPath } = withAction(prefix === undefined ? {} : { prefix });
      await agent.generateSchemaOnly();
      endpoints.push(endpointOf(schemaPath));
    }
    expect(endpoints.flat()).toEqual([
      '/service/_actions/orders/0/close',
      '/data/_actions/orders/0/close',
      '/api/v2/_actions/orders/0/close',
      '/_actions/orders/0/close',
    ]);
    expect(await make({ prefix: '/a b' })).toMatch(/'prefix' must be a path such as '\/service'/);
  });

  test('schemaPath | string | no | path of the schema file', async () => {
    const schemaPath = join(makeFolder(), 'elsewhere.json');
    await shopAgent({ schemaPath }).agent.start();
    expect(schemaOf(schemaPath).collections).toHaveLength(4);
    expect(await make({ schemaPath: '/no/such/folder/schema.json' })).toMatch(
      /'schemaPath' must be the path of a file in a folder that is there/,
    );
  });

  test('typingsPath | string | no | path of generated typings file; written when set', async () => {
    const typingsPath = join(makeFolder(), 'typings.ts');
    await shopAgent().agent.start();
    const before = existsSync(typingsPath);
    await shopAgent({ typingsPath }).agent.start();
    expect([before, readFileSync(typingsPath, 'utf8').includes('interface Schema')]).toEqual([false, true]);
  });

  test('typingsMaxDepth | number | no | depth used for typings generation', async () => {
    const typingsPath = join(makeFolder(), 'typings.ts');
    const depths: unknown[] = [];
    for (const options of [{}, { typingsMaxDepth: 2 }]) {
      await shopAgent({ typingsPath, ...options }).agent.generateSchemaOnly();
      depths.push([...new Set(readFileSync(typingsPath, 'utf8').match(/depth: \d+/g))]);
    }
    expect(depths).toEqual([['depth: 5'], ['depth: 2']]);
  });

  test('useUnsafeActionEndpoint | boolean | no | default false; drops the positional index from action routes', async () => {
    const endpoints: string[][] = [];
    for (const options of [{}, { useUnsafeActionEndpoint: true }]) {
      const { agent, schemaPath } = withAction(options);
      await agent.generateSchemaOnly();
      endpoints.push(endpointOf(schemaPath));
    }
    expect(endpoints.flat()).toEqual(['/service/_actions/orders/0/close', '/service/_actions/orders/close']);
  });

  test.each<[string, object, RegExp]>([
    ['an unknown option', { isProd: true }, /no option 'isProd'\. Near: isProduction/],
    ['a flag that is a text', { isProduction: 'true' }, /'isProduction' must be true or false/],
    ['a logger that is none', { logger: console }, /'logger' must be a function \(level, message, error\?\)/],
    ['a depth of nothing', { typingsMaxDepth: 0 }, /'typingsMaxDepth' must be a whole number from 1 to 10/],
    ['a setting that is none', { settings: { dataDirectory: 'x' } }, /no setting 'dataDirectory'\. Near: dataDir/],
    ['a setting that is wrong', { settings: { pageSize: 0 } }, /settings: 'pageSize': expected a whole number from 1/],
    ['the served database as a setting', { settings: { database: 'sqlite:x' } }, /what addDataSource names/],
  ])('%s is told with its line', async (_what, options, problem) => {
    const message = await make(options);
    expect([message, message]).toEqual([expect.stringMatching(problem), expect.stringMatching(line)]);
  });

  test('no options at all are told as well', async () => {
    expect(await messageOf(() => createAgent(undefined as never))).toMatch(/createAgent needs an object of options/);
  });
});

test('environment variables of the MCP server: SERVICE_MCP_ENABLED_TOOLS and MCP_SERVER_PORT', async () => {
  const { agent } = emptyAgent();
  expect(agent.standaloneServerPort).toBeUndefined();
  const { loadConfig } = await import('../../src/index.ts');
  const env = { SERVICE_MCP_ENABLED_TOOLS: 'list, aggregate', MCP_SERVER_PORT: '4000' };
  const { enabledTools, port } = loadConfig({ env });
  expect([enabledTools, port, loadConfig().port]).toEqual([['list', 'aggregate'], 4000, 3931]);
});
