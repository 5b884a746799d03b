import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type AgentOptions, createAgent, createMemoryDataSource } from '../../src/index.ts';
import { createTestableAgent } from '../../src/testing/index.ts';
import { shopTables } from '../agent/shop.ts';
import { type Logged, makeFolder, messageOf, secrets, shopAgent } from '../app/agent.ts';
import { freePort } from '../ports.ts';

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
  test.each(['authSecret', 'envSecret'])(
    '%s | string | yes | is required, and no error shows its value',
    async (name) => {
      const problem = new RegExp(`createAgent needs '${name}': a string that is not empty\\. ${line.source}`);
      expect(await make({ [name]: undefined })).toMatch(problem);
      const wrong = await make({ [name]: ['a-secret'] });
      expect([wrong.includes('a-secret'), wrong]).toEqual([false, expect.stringMatching(line)]);
    },
  );

  test('envSecret: a storage belongs to the environment that used it first', async () => {
    const settings = { dataDir: makeFolder() };
    const begin = async (envSecret: string) => {
      const { agent } = shopAgent({ envSecret, settings });
      agent.mountAiMcpServer().mountOnStandaloneServer(0);
      const message = await messageOf(() => agent.start());
      await agent.stop();
      return message;
    };
    const another = expect.stringMatching(/^envSecret: the storage belongs to an environment with another secret/);
    expect([
      await begin('one'),
      await begin('another'),
      await begin('One'),
      await begin('one '),
      await begin('one'),
    ]).toEqual(['it worked', another, another, another, 'it worked']);
  });

  test('isProduction | boolean | no | production mode reads the schema file, and writes nothing', async () => {
    const folder = makeFolder();
    const [schemaPath, typingsPath] = [join(folder, 'schema.json'), join(folder, 'typings.ts')];
    const production = () => shopAgent({ isProduction: true, schemaPath, typingsPath });

    expect(await messageOf(() => production().agent.start())).toMatch(
      /^isProduction: the schema file .*schema\.json cannot be read; write it with generateSchemaOnly/,
    );
    writeFileSync(schemaPath, '{}');
    expect(await messageOf(() => production().agent.start())).toMatch(/schema\.json is not a schema file/);
    expect([readFileSync(schemaPath, 'utf8'), existsSync(typingsPath)]).toEqual(['{}', false]);
    writeFileSync(schemaPath, '{\n  "collections": }');
    expect(await messageOf(() => production().agent.start())).toMatch(
      /^isProduction: the schema file .*schema\.json is not valid JSON at line 2, column 18; write it with generateSchemaOnly/,
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
        [
          [
            'Warn',
            expect.stringMatching(
              /schema\.json differs from the served schema in: line_notes, order_lines\. Update it/,
            ),
          ],
        ],
      ],
      true,
      false,
    ]);
  });

  test('isProduction: a start and a restart with other collections warn, with the first five of them and the number of others', async () => {
    const table = (name: string) => ({
      name,
      columns: [{ name: 'id', type: 'Number' as const }],
      primaryKey: ['id'],
      rows: [],
    });
    const shown = [];
    for (const count of [1, 5, 6]) {
      const { agent: before, schemaPath } = shopAgent();
      await before.generateSchemaOnly();
      const { agent, logged } = shopAgent({ isProduction: true, schemaPath });
      const names = Array.from({ length: count }, (_, at) => `table_${at}`);
      agent.addDataSource(createMemoryDataSource('others', names.map(table)));
      await agent.start();
      await agent.restart();
      const warnings = logged.filter(([level]) => level === 'Warn').map(([, message]) => message);
      shown.push(warnings.map((message) => /in: (.*)\. Update/.exec(message)?.[1]));
    }
    const five = 'table_0, table_1, table_2, table_3, table_4';
    expect(shown).toEqual(['table_0', five, `${five} and 1 more`].map((each) => [each, each]));
  });

  test('logger | function | no | custom logger: level, message, error', async () => {
    const { agent, logged } = shopAgent({ loggerLevel: 'Debug' });
    agent.mountAiMcpServer({ enabledTools: ['list'] }).mountOnStandaloneServer(0);
    await agent.start();
    await agent.stop();
    expect(logged).toEqual(
      expect.arrayContaining([
        ['Warn', 'describeCollection is not enabled: assistants cannot discover collections and fields.'],
        ['Info', expect.stringMatching(/^server\.started: address=http:\/\/127\.0\.0\.1:\d+ milliseconds=\d+$/)],
      ]),
    );

    // The third argument is the error itself, as the code of the customer threw it.
    const thrown = new Error('the printer is on fire');
    const lines: Logged[] = [];
    const place = await createTestableAgent(
      (agent) =>
        agent.addDataSource(createMemoryDataSource('shop', shopTables)).customizeCollection('orders', (orders) =>
          orders.addAction('Print', {
            scope: 'Global',
            execute: () => {
              throw thrown;
            },
          }),
        ),
      { agent: { logger: (...entry) => void lines.push(entry) } },
    );
    onTestFinished(() => place.close());
    const print = await place.client.collection('orders').action('Print');
    await expect(print.execute()).rejects.toThrow();
    await place.mcp.call('executeAction', { collectionName: 'orders', actionName: 'Print' }).catch(() => undefined);
    const ofPrint = lines.filter(([level]) => level === 'Error');
    expect(ofPrint).toHaveLength(2);
    for (const [, message, error] of ofPrint) {
      expect(message).toMatch(/Print/);
      expect(error).toBe(thrown);
    }
  });

  test('logger: a logger that throws does not stop the agent', async () => {
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
      /'schemaPath' must be the path of a file in an existing folder/,
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
    ['authSecret: an empty value', { authSecret: '' }, /'authSecret' must be a string that is not empty/],
    ['authSecret: a number', { authSecret: 1 }, /'authSecret' must be a string that is not empty/],
    ['envSecret: an empty value', { envSecret: '' }, /'envSecret' must be a string that is not empty/],
    ['envSecret: a list', { envSecret: ['x'] }, /'envSecret' must be a string that is not empty/],
    ['loggerLevel: another case', { loggerLevel: 'debug' }, /'loggerLevel' must be one of Debug, Info, Warn, Error/],
    [
      'useUnsafeActionEndpoint: a string',
      { useUnsafeActionEndpoint: 'false' },
      /'useUnsafeActionEndpoint' must be true or false/,
    ],
    [
      'typingsPath: a path in a missing folder',
      { typingsPath: '/nowhere/at/all.ts' },
      /'typingsPath' must be the path of a file/,
    ],
    ['typingsPath: an empty value', { typingsPath: '' }, /'typingsPath' must be the path of a file/],
    ['schemaPath: an empty value', { schemaPath: '' }, /'schemaPath' must be the path of a file/],
    [
      'typingsMaxDepth: too large a number',
      { typingsMaxDepth: 11 },
      /'typingsMaxDepth' must be a whole number from 1 to 10/,
    ],
    ['typingsMaxDepth: a fraction', { typingsMaxDepth: 2.5 }, /'typingsMaxDepth' must be a whole number from 1 to 10/],
    ['isProduction: null', { isProduction: null }, /'isProduction' must be true or false/],
    ['isProduction: an unknown option', { isProd: true }, /no option 'isProd'\. Near: isProduction/],
    ['isProduction: a string', { isProduction: 'true' }, /'isProduction' must be true or false/],
    ['logger: not a function', { logger: console }, /'logger' must be a function \(level, message, error\?\)/],
    ['typingsMaxDepth: zero', { typingsMaxDepth: 0 }, /'typingsMaxDepth' must be a whole number from 1 to 10/],
    ['an unknown setting', { settings: { dataDirectory: 'x' } }, /Unknown setting 'dataDirectory'\. Near: dataDir/],
    ['an invalid setting', { settings: { pageSize: 0 } }, /settings: 'pageSize': expected a whole number from 1/],
    [
      'the served database as a setting',
      { settings: { database: 'sqlite:x' } },
      /add the served data with addDataSource/,
    ],
  ])('%s is refused with the line of the call', async (_what, options, problem) => {
    const message = await make(options);
    expect([message, message]).toEqual([expect.stringMatching(problem), expect.stringMatching(line)]);
  });

  test('createAgent without options is refused as well', async () => {
    expect(await messageOf(() => createAgent(undefined as never))).toMatch(/createAgent needs an object of options/);
  });
});

test('environment variables of the MCP server: SERVICE_MCP_ENABLED_TOOLS and MCP_SERVER_PORT', async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('SERVICE_MCP_ENABLED_TOOLS', 'list, aggregate');
  const place = await createTestableAgent((agent) => agent.addDataSource(createMemoryDataSource('shop', shopTables)));
  onTestFinished(() => place.close());
  expect((await place.mcp.listTools()).map(({ name }) => name).sort()).toEqual(['aggregate', 'list']);

  const port = await freePort();
  vi.stubEnv('MCP_SERVER_PORT', `${port}`);
  const { agent } = shopAgent();
  expect(agent.standaloneServerPort).toBeUndefined();
  agent.mountAiMcpServer().mountOnStandaloneServer();
  await agent.start();
  const { status } = await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST' });
  expect([agent.standaloneServerPort, status]).toEqual([port, 401]);
});
