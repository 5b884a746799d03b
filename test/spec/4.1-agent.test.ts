import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import type { AiAnswer } from '../../src/entries/engine.ts';
import { createAgent, createAiProvider, createMemoryDataSource, type MemoryTable } from '../../src/index.ts';
import { createForestServerSandbox } from '../../src/testing/index.ts';
import { connectSandbox } from '../../src/testing/sandbox.ts';
import { KEY, kinds, openAiServer, saying } from '../agent/ai-server.ts';
import { accessOf } from '../agent/shop.ts';
import { emptyAgent, makeFolder, messageOf, secrets, shopAgent } from '../app/agent.ts';
import { openRestServer } from '../rest/rest-server.ts';

const here = /4\.1-agent\.test\.ts:\d+/;
const things: MemoryTable = {
  name: 'things',
  columns: [{ name: 'id', type: 'Number' }],
  primaryKey: ['id'],
  rows: [[1], [2]],
};

const namesOf = async (started: ReturnType<ReturnType<typeof shopAgent>['agent']['start']>) =>
  (await started).engine.index(accessOf()).map(({ name }) => name);

interface SchemaText {
  readonly collections: readonly { readonly name: string; readonly fields: readonly { readonly field: string }[] }[];
}
const readSchema = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as SchemaText;

describe('programmatic operations of the agent', () => {
  test('createAgent | options | Agent', async () => {
    const agent = createAgent({ ...secrets, schemaPath: join(makeFolder(), 'schema.json') });
    agent.addDataSource(createMemoryDataSource('things', [things]));
    const { engine } = await agent.start();
    const { rows } = await engine.list(accessOf(), { collection: 'things', limit: 9 });
    await agent.stop();
    expect(rows).toEqual([[1], [2]]);
  });

  test('every operation that describes the agent returns it for chaining: createAgent, addDataSource, ...', () => {
    const { agent } = emptyAgent();
    const chained = agent
      .addDataSource(createMemoryDataSource('things', [things]))
      .customizeCollection('things', () => {})
      .removeCollection('things')
      .use(() => {})
      .mountAiMcpServer()
      .mountOnStandaloneServer(0);
    expect(chained).toBe(agent);
  });

  test('addDataSource | factory, options? | adds the collections of a data source', async () => {
    const { agent } = shopAgent();
    agent.addDataSource(createMemoryDataSource('things', [things]));
    expect(await namesOf(agent.start())).toEqual(['customers', 'line_notes', 'order_lines', 'orders', 'things']);
  });

  test('addDataSource: two sources with a collection of one name need rename', async () => {
    const { agent } = shopAgent();
    agent.addDataSource(createMemoryDataSource('more', [{ ...things, name: 'orders' }]));
    expect(await messageOf(() => agent.start())).toMatch(
      /'orders' is published by both 'shop' and 'more'\. Rename one/,
    );
  });

  test('customizeCollection | name, callback(collection) | applies the callback, also an async one', async () => {
    const { agent } = shopAgent();
    agent.customizeCollection('customers', async (customers) => {
      await Promise.resolve();
      customers.renameField('name', 'full name');
    });
    const { engine } = await agent.start();
    const fields = engine.describe(accessOf(), 'customers').fields.map(({ name }) => name);
    expect(fields).toEqual(['id', 'full name', 'city', 'secret']);
  });

  test('removeCollection | ...names | removes from the exported schema; they stay usable inside the agent', async () => {
    const { agent, schemaPath } = shopAgent();
    agent.removeCollection('customers', 'line_notes').customizeCollection('orders', (orders) =>
      orders.addSegment('of Ada', async ({ collection }) => {
        const conditionTree = { field: 'name', operator: 'Equal', value: 'Ada' } as const;
        const [ada] = await collection('customers').list({ conditionTree }, ['id']);
        return { field: 'customer_id', operator: 'Equal', value: ada?.id };
      }),
    );
    const { engine } = await agent.start();
    const request = { collection: 'orders', fields: ['id'], segment: 'of Ada', limit: 9 };
    const asked = await messageOf(() => engine.list(accessOf(), { collection: 'customers', limit: 1 }));
    expect([
      readSchema(schemaPath).collections.map(({ name }) => name),
      readSchema(schemaPath).collections.map(({ fields }) => fields.some(({ field }) => field === 'customer')),
      (await engine.list(accessOf(), request)).rows,
      asked.startsWith("No collection 'customers'"),
    ]).toEqual([['order_lines', 'orders'], [false, false], [[1]], true]);
  });

  test('use | plugin, options? | applies a plugin to all collections, also of sources added later', async () => {
    const { agent } = shopAgent();
    const seen: [string, unknown][] = [];
    agent.use(
      async (collection, options: { label: string }) => {
        seen.push([collection.name, options.label]);
        await Promise.resolve();
        if (!['line_notes', 'order_lines'].includes(collection.name))
          collection.addSegment(options.label, { field: 'id', operator: 'Present' });
      },
      { label: 'all' },
    );
    agent.addDataSource(createMemoryDataSource('things', [things])).removeCollection('order_lines', 'orders');
    const { engine } = await agent.start().catch((error: Error) => expect.fail(error.message));
    const segments = ['customers', 'line_notes', 'things'].map((name) => engine.describe(accessOf(), name).segments);
    expect([seen.map(([name]) => name).sort(), segments]).toEqual([
      ['customers', 'line_notes', 'order_lines', 'orders', 'things'],
      [['all'], [], ['all']],
    ]);
  });

  test('use: a plugin of the agent is called once, with the agent and its options', async () => {
    const { agent } = shopAgent();
    agent.use(
      {
        customizeAgent(given, { hidden }: { hidden: string }) {
          given.addDataSource(createMemoryDataSource('things', [things])).removeCollection(hidden);
        },
      },
      { hidden: 'line_notes' },
    );
    expect(await namesOf(agent.start())).toEqual(['customers', 'order_lines', 'orders', 'things']);
  });

  test('start | none | promise; opens the sources, only once', async () => {
    const opened: string[] = [];
    const { agent } = emptyAgent();
    agent.addDataSource(() => {
      opened.push('things');
      return createMemorySource('things', [things]);
    });
    expect(opened).toEqual([]);
    await agent.start();
    expect([opened, await messageOf(() => agent.start())]).toEqual([
      ['things'],
      expect.stringMatching(/is already started/),
    ]);
  });

  test('start serves MCP to a client that reads the metadata', async () => {
    const { agent } = shopAgent();
    agent.mountAiMcpServer({ basePath: '/ai' }).mountOnStandaloneServer(0, '127.0.0.1');
    const { server } = await agent.start();
    const unauthorized = await fetch(`${server?.mcpUrl}`, { method: 'POST', body: '{}' });
    const metadata = await fetch(`${server?.address}/.well-known/oauth-protected-resource/ai/mcp`);
    expect([server?.mcpUrl, unauthorized.status, await metadata.json()]).toEqual([
      `http://127.0.0.1:${agent.standaloneServerPort}/ai/mcp`,
      401,
      expect.objectContaining({ resource: server?.mcpUrl }),
    ]);
    await agent.stop();
    expect([agent.standaloneServerPort, await fetch(`${server?.mcpUrl}`).then(String, () => 'refused')]).toEqual([
      undefined,
      'refused',
    ]);
  });

  test('addDataSource, start: start that fails closes the opened sources, and can be tried again', async () => {
    const closed: string[] = [];
    let fails = true;
    const { agent } = emptyAgent();
    agent
      .addDataSource(() => watched(createMemorySource('things', [things]), closed))
      .customizeCollection('things', () => {
        if (fails) throw new Error('not yet');
      });
    expect(await messageOf(() => agent.start())).toMatch(
      /customizeCollection\('things'\) failed: not yet \(.*4\.1-agent/,
    );
    fails = false;
    expect([closed, await namesOf(agent.start())]).toEqual([['things'], ['things']]);
  });

  test('stop | none | promise; closes connections', async () => {
    const closed: string[] = [];
    const { agent } = emptyAgent();
    agent.addDataSource(() => watched(createMemorySource('things', [things]), closed));
    await agent.start();
    expect(closed).toEqual([]);
    await agent.stop();
    expect(closed).toEqual(['things']);
  });

  test('restart | none | rebuilds everything and swaps it: callbacks run again, over the current sources', async () => {
    const tables: MemoryTable[] = [things];
    let label = 'first';
    const { agent, schemaPath } = emptyAgent();
    agent
      .addDataSource(() => createMemorySource('things', tables))
      .customizeCollection('things', (collection) =>
        collection.addSegment(label, { field: 'id', operator: 'Present' }),
      );
    const { engine } = await agent.start();
    tables.push({ ...things, name: 'others' });
    label = 'second';
    await agent.restart();
    expect([
      engine.index(accessOf()).map(({ name }) => name),
      engine.describe(accessOf(), 'things').segments,
      readSchema(schemaPath).collections.map(({ name }) => name),
    ]).toEqual([['others', 'things'], ['second'], ['others', 'things']]);
  });

  test('restart: running calls finish on the old engine, which is closed after the last of them', async () => {
    const closed: string[] = [];
    let proceed = () => {};
    const asked = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    let isRead = () => {};
    const reading = new Promise<void>((resolve) => {
      isRead = resolve;
    });
    let opened = 0;
    const { agent } = emptyAgent();
    agent.addDataSource(() => {
      const source = watched(createMemorySource(`source ${++opened}`, [things]), closed);
      if (opened > 1) return source;
      return {
        ...source,
        async read(...given) {
          isRead();
          await asked;
          return source.read(...given);
        },
      };
    });
    const { engine } = await agent.start();
    const underWay = engine.list(accessOf(), { collection: 'things', limit: 9 });
    await reading;
    await agent.restart();
    const after = await engine.list(accessOf(), { collection: 'things', limit: 9 });
    const before = [...closed];
    proceed();
    const { rows } = await underWay;
    await new Promise(setImmediate);
    expect([after.rows, before, rows, closed]).toEqual([[[1], [2]], [], [[1], [2]], ['source 1']]);
  });

  test('restart that fails leaves everything unchanged, and logs the failure', async () => {
    const closed: string[] = [];
    let name = 'things';
    const { agent, logged, schemaPath } = emptyAgent();
    agent
      .addDataSource(() => watched(createMemorySource(name, [{ ...things, name }]), closed))
      .customizeCollection('things', () => {});
    const { engine } = await agent.start();
    const schema = readFileSync(schemaPath, 'utf8');
    name = 'thigns';
    const problem = await messageOf(() => agent.restart());
    const { rows } = await engine.list(accessOf(), { collection: 'things', limit: 9 });
    expect([problem, rows, closed, readFileSync(schemaPath, 'utf8') === schema]).toEqual([
      expect.stringMatching(/There is no collection 'things'\. Near: thigns\. \(.*4\.1-agent\.test\.ts:\d+\)/),
      [[1], [2]],
      ['thigns'],
      true,
    ]);
    expect(logged).toContainEqual(['Warn', 'The restart failed; the agent continues unchanged', expect.any(Error)]);
  });

  test('restart: records written to a memory source are kept', async () => {
    const { agent } = shopAgent();
    const { engine } = await agent.start();
    await engine.create(accessOf(), { collection: 'customers', records: [{ id: 9, name: 'Di' }] });
    await agent.restart();
    expect(await engine.count(accessOf(), { collection: 'customers' })).toBe(4);
  });

  test('updateTypesOnFileSystem | typingsPath, typingsMaxDepth | promise; regenerates typings only', async () => {
    const { agent, folder, schemaPath } = shopAgent();
    const path = join(folder, 'typings.ts');
    await agent.updateTypesOnFileSystem(path, 1);
    const text = readFileSync(path, 'utf8');
    expect([existsSync(schemaPath), text.includes('depth: 1;'), text.includes('export interface Schema {')]).toEqual([
      false,
      true,
      true,
    ]);
    expect(await messageOf(() => agent.updateTypesOnFileSystem(path, 0))).toMatch(
      /'typingsMaxDepth' must be a whole number from 1 to 10\. \(.*4\.1-agent/,
    );
  });

  test('generateSchemaOnly | none | writes the schema to schemaPath and typings to typingsPath, without starting', async () => {
    const closed: string[] = [];
    const folder = makeFolder();
    const typingsPath = join(folder, 'typings.ts');
    const { agent, schemaPath } = emptyAgent({ isProduction: true, typingsPath });
    agent.addDataSource(() => watched(createMemorySource('things', [things]), closed));
    writeFileSync(schemaPath, '{"collections":[]}');
    await agent.generateSchemaOnly();
    // It rebuilds the file, which production reads at start. Connections stay open until the agent stops.
    expect([
      readSchema(schemaPath).collections.map(({ name }) => name),
      existsSync(typingsPath),
      closed,
      await messageOf(() => agent.restart()),
    ]).toEqual([['things'], true, [], expect.stringMatching(/the agent is not started/)]);
    agent.removeCollection('things');
    await agent.stop();
    expect(closed).toEqual(['things']);
  });
});

test.each(kinds)(
  'addAi | provider from the AI provider factory: name, provider, apiKey, model | routes AI features through the host, %s',
  async (provider) => {
    const { baseUrl, asked } = await openAiServer(provider, saying(provider, 'Four.'));
    const { agent } = shopAgent();
    const ai = createAiProvider({ name: 'house', provider, apiKey: KEY, model: 'model-1', baseUrl });
    const { engine } = await agent.addAi(ai).start();
    const testServer = await openRestServer({ engine });
    const answer = await testServer.ask('/_internal/ai/query', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'How many?' }] }),
    });
    const { choices } = (await answer.json()) as AiAnswer;
    await testServer.close();
    expect([answer.status, choices[0].message.content, asked.map(({ body }) => body.model)]).toEqual([
      200,
      'Four.',
      ['model-1'],
    ]);
  },
);

describe('writing files without a start contacts no platform', () => {
  /** A platform that records its requests. */
  const openPlatform = async () => {
    const asked: string[] = [];
    const server = createServer((req, res) => {
      asked.push(`${req.method} ${req.url}`);
      res.writeHead(500).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return { asked, serverUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  };

  test('generateSchemaOnly: without sending the schema or contacting the platform', async () => {
    const { asked, serverUrl } = await openPlatform();
    const { agent, schemaPath } = shopAgent({ serverUrl });
    await agent.generateSchemaOnly();
    expect([readSchema(schemaPath).collections.length > 0, asked]).toEqual([true, []]);
    // start contacts the platform.
    await messageOf(() => agent.start());
    expect(asked).not.toEqual([]);
  });

  test('updateTypesOnFileSystem: without writing the schema or contacting the platform', async () => {
    const { asked, serverUrl } = await openPlatform();
    const { agent, folder, schemaPath } = shopAgent({ serverUrl });
    await agent.updateTypesOnFileSystem(join(folder, 'typings.ts'), 1);
    expect([existsSync(schemaPath), asked]).toEqual([false, []]);
  });

  test('generateSchemaOnly: experimental no-code customizations are not supported', async () => {
    const options = { ...secrets, experimental: { noCode: true } };
    expect(await messageOf(() => createAgent(options as never))).toMatch(/has no option 'experimental'/);
  });

  test('generateSchemaOnly: always rebuilds, so that a broken or old schema file is replaced', async () => {
    const { agent, schemaPath } = shopAgent({ isProduction: true });
    for (const text of ['{"coll', '{"collections":[{"name":"gone","fields":[]}],"meta":{}}']) {
      writeFileSync(schemaPath, text);
      await agent.generateSchemaOnly();
      expect(readSchema(schemaPath).collections.map(({ name }) => name)).toContain('customers');
    }
  });
});

describe('late and incomplete calls', () => {
  test.each<[string, (agent: ReturnType<typeof shopAgent>['agent']) => unknown]>([
    ['addDataSource', (agent) => agent.addDataSource(createMemoryDataSource('x', []))],
    ['customizeCollection', (agent) => agent.customizeCollection('orders', () => {})],
    ['removeCollection', (agent) => agent.removeCollection('orders')],
    ['use', (agent) => agent.use(() => {})],
    ['mountAiMcpServer', (agent) => agent.mountAiMcpServer()],
    ['mountOnStandaloneServer', (agent) => agent.mountOnStandaloneServer(0)],
  ])('%s after the start names the line', async (_name, add) => {
    const { agent } = shopAgent();
    await agent.start();
    expect(await messageOf(() => add(agent))).toMatch(
      /has already started and accepts no more customizations\. \(.*4\.1-agent/,
    );
  });

  test('customizeCollection: a customizer refuses calls after its callback has ended', async () => {
    const { agent } = shopAgent();
    let late: (() => unknown) | undefined;
    agent.customizeCollection('orders', (orders) => {
      late = () => orders.disableCount();
    });
    await agent.start();
    expect(await messageOf(() => late?.())).toMatch(here);
  });

  test.each<[string, RegExp, (agent: ReturnType<typeof emptyAgent>['agent']) => unknown]>([
    ['start, addDataSource: no data source', /has no data source: call addDataSource/, () => {}],
    ['addDataSource: an invalid factory', /needs a factory/, (agent) => agent.addDataSource('sqlite:x' as never)],
    ['mountAiMcpServer: MCP without a server', /Also call mountOnStandaloneServer\(port\?, host\?\), or mountOnExpress\(app\) or the equivalent/, (agent) => agent.mountAiMcpServer()],
    ['start: two servers', /was already called: an agent has only one server/, (agent) => agent.mountOnStandaloneServer(0).mountOnStandaloneServer(0)],
    ['mountAiMcpServer: MCP twice', /was already called/, (agent) => agent.mountAiMcpServer().mountAiMcpServer()],
    ['mountAiMcpServer: an unknown tool', /no tool 'lits'\. Near: list/, (agent) => agent.mountAiMcpServer({ enabledTools: ['lits'] })],
    ['mountAiMcpServer: an unknown option', /no option 'basepath'\. Near: basePath/, (agent) => agent.mountAiMcpServer({ basepath: '/x' } as never)],
    ['mountAiMcpServer: an invalid base path', /basePath: expected segments/, (agent) => agent.mountAiMcpServer({ basePath: 'a b' })],
    ['start: an invalid port', /a number from 0 to 65535/, (agent) => agent.mountOnStandaloneServer(70_000)],
    ['use: an invalid plugin', /use needs a plugin/, (agent) => agent.use({} as never)],
    ['use: an async plugin of the agent', /must not be async/, (agent) => agent.use({ customizeAgent: async () => {} } as never)],
  ])('%s is an error that says what to do', async (_what, problem, add) => {
    const { agent } = emptyAgent();
    const act = async () => {
      add(agent);
      await agent.start();
    };
    expect(await messageOf(act)).toMatch(problem);
  }); // biome-ignore format: a table
});

describe('every error of a customization names the line of user code', () => {
  const failing = (name: string) => ({ columnType: 'Number', dependencies: [name], getValues: () => [] }) as const;
  test.each<[string, (agent: ReturnType<typeof shopAgent>['agent']) => unknown]>([
    [
      'customizeCollection: in a callback',
      (agent) => agent.customizeCollection('orders', (each) => each.addField('x', failing('nam'))),
    ],
    [
      'customizeCollection: after an await in a callback',
      (agent) =>
        agent.customizeCollection('orders', async (each) => {
          await new Promise(setImmediate);
          each.addField('x', failing('nam'));
        }),
    ],
    [
      'customizeCollection: a callback that throws',
      (agent) => agent.customizeCollection('orders', () => Promise.reject(new Error('gone'))),
    ],
    ['customizeCollection: an unknown collection', (agent) => agent.customizeCollection('ordrs', () => {})],
  ])('%s', async (_where, say) => {
    const { agent } = shopAgent();
    say(agent);
    expect(await messageOf(() => agent.start())).toMatch(here);
  });

  test('use: through a plugin: the line of the use call, and the line in the plugin', async () => {
    const { plugin, laterPlugin, wrongPlugin } = await import('../app/plugins.ts');
    for (const each of [plugin, laterPlugin, wrongPlugin]) {
      const onCollection = shopAgent();
      onCollection.agent.customizeCollection('orders', (orders) => orders.use(each));
      const onAgent = shopAgent();
      onAgent.agent.use(each);
      for (const { agent } of [onCollection, onAgent]) {
        const message = await messageOf(() => agent.start());
        expect(message).toMatch(here);
        expect(message).toMatch(/plugins\.ts:\d+/);
      }
    }
  });
});

function watched(source: Source, closed: string[]): Source {
  return {
    ...source,
    async close() {
      closed.push(source.name);
    },
  };
}

test('start: connects to the platform servers, and sends the schema', async () => {
  const sandbox = await createForestServerSandbox();
  onTestFinished(() => sandbox.close());
  const { agent, schemaPath } = shopAgent({ serverUrl: sandbox.url });
  await agent.start();
  const controls = await connectSandbox({ serverUrl: sandbox.url, envSecret: secrets.envSecret });
  onTestFinished(() => controls.close());
  expect(await controls.schema()).toBe(readFileSync(schemaPath, 'utf8'));
});

test('start: if the platform does not answer, the error says so and nothing keeps running', async () => {
  const sandbox = await createForestServerSandbox();
  await sandbox.close();
  const { agent } = shopAgent({ serverUrl: sandbox.url });
  agent.mountAiMcpServer().mountOnStandaloneServer(0);
  expect([await messageOf(() => agent.start()), agent.standaloneServerPort]).toEqual([
    `serverUrl: no server answers at ${sandbox.url}/platform (ECONNREFUSED). Start the platform there, or correct the address.`,
    undefined,
  ]);
});

test('addAi | can be called only once; it needs a provider of the factory, with name, provider, apiKey and model', async () => {
  const ai = (more: object = {}) =>
    createAiProvider({ ...{ name: 'house', provider: 'openai', apiKey: 'k', model: 'm' }, ...more } as Parameters<typeof createAiProvider>[0]);
  const { agent } = emptyAgent();
  agent.addAi(ai());
  expect([
    await messageOf(() => agent.addAi(ai())),
    await messageOf(() => emptyAgent().agent.addAi({} as never)),
    await messageOf(() => ai({ provider: 'other' })),
    await messageOf(() => ai({ apiKey: '' })),
    await messageOf(() => ai({ model: undefined })),
    await messageOf(() => ai({ name: undefined })),
  ]).toEqual([/addAi/, /addAi/, /provider/, /apiKey/, /model/, /name/].map((problem) => expect.stringMatching(problem)));
}); // biome-ignore format: short
