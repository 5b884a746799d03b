// The agent inside an Express application with its own routes, body parsers and middleware. A client goes through
// discovery, sign-in and a call.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express from 'express';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import {
  type Agent,
  type AgentOptions,
  createAgent,
  createMemoryDataSource,
  createSqlDataSource,
} from '../../src/index.ts';
import { shopTables } from '../agent/shop.ts';
import { copyDemo } from '../demo.ts';
import { isNotDriverWarning } from '../driver-warning.ts';
import { connect, register } from '../oauth/client.ts';
import { addUserIn } from '../users.ts';
import { emptyAgent, type Logged, makeFolder, messageOf } from './agent.ts';
import { callTool } from './call.ts';

const account = { email: 'ada@example.com', password: 'correct horse battery' };
const redirectUri = 'http://127.0.0.1:49152/callback';

interface Host {
  readonly agent: Agent;
  readonly app: express.Express;
  readonly origin: string;
  readonly logged: readonly Logged[];
}

const addAda = (dataDir: string) =>
  addUserIn(dataDir, { ...account, firstName: 'Ada', lastName: 'Byron', level: 'admin' });

/** A listening host with an agent that is neither mounted nor started. */
async function openHost(): Promise<Host> {
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dataDir = join(makeFolder(), 'data');
  const { agent, logged } = emptyAgent({ settings: { dataDir, publicUrl: origin } });
  await addAda(dataDir);
  agent.addDataSource(createMemoryDataSource('shop', shopTables));
  return { agent, app, origin, logged };
}

/** Routes of the host. Some have names that the agent uses without a basePath. */
function addRoutes(app: express.Express): void {
  app.get('/', (_req, res) => void res.send('the shop'));
  app.get('/oauth/callback', (_req, res) => void res.send('of the shop'));
  app.get('/.well-known/security.txt', (_req, res) => void res.send('of the shop'));
  app.post('/orders', (req, res) => void res.json({ got: req.body }));
  app.get('/mcp-dashboard', (_req, res) => void res.send('of the shop'));
}

async function signIn({ origin }: Host, prefix: string): Promise<string> {
  const registered = await register(`${origin}${prefix}`, { client_name: 'Notebook', redirect_uris: [redirectUri] });
  const { tokens } = await connect(registered, account, { redirectUri, resource: `${origin}${prefix}/mcp` });
  return tokens.access_token;
}

const list = ({ origin }: Host, prefix: string, token: string): Promise<unknown> =>
  callTool(`${origin}${prefix}/mcp`, token, 'list', {
    collectionName: 'orders',
    fields: ['id'],
    pagination: { size: 1 },
  });

const listed = {
  json: { columns: ['id'], rows: [[expect.anything()]], hasMore: true, nextCursor: expect.any(String) },
};

const get = async (url: string, init?: RequestInit) => {
  const response = await fetch(url, init);
  const text = await response.text();
  return [
    response.status,
    response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text).error : text,
  ];
};

describe.each([
  ['at the root', ''],
  ['under a basePath', '/data'],
])('%s', (_name, prefix) => {
  test.each<[string, (agent: Agent, app: express.Express) => unknown]>([
    [
      'mountAiMcpServer before mountOnExpress',
      (agent, app) => agent.mountAiMcpServer({ basePath: prefix }).mountOnExpress(app),
    ],
    [
      'mountAiMcpServer after mountOnExpress',
      (agent, app) => agent.mountOnExpress(app).mountAiMcpServer({ basePath: prefix }),
    ],
    [
      'requestHandler behind body parsers',
      (agent, app) => app.use(agent.mountAiMcpServer({ basePath: prefix }).requestHandler),
    ],
  ])('a client signs in and lists: %s', async (_way, mount) => {
    const host = await openHost();
    const { agent, app } = host;
    app.use(express.json(), express.urlencoded({ extended: true }));
    mount(agent, app);
    addRoutes(app);
    const { server } = await agent.start();
    expect([server?.mcpUrl, await list(host, prefix, await signIn(host, prefix))]).toEqual([
      `${host.origin}${prefix}/mcp`,
      listed,
    ]);
  });

  test.each(['before', 'after'])(
    'the host keeps its other routes and their bodies (routes added %s)',
    async (order) => {
      const { agent, app, origin } = await openHost();
      if (order === 'after') agent.mountAiMcpServer({ basePath: prefix }).mountOnExpress(app);
      app.use(express.json());
      addRoutes(app);
      if (order === 'before') agent.mountAiMcpServer({ basePath: prefix }).mountOnExpress(app);
      await agent.start();
      const body = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"total":12}' };
      const ours = prefix === '';
      expect([
        await get(`${origin}/`),
        await (await fetch(`${origin}/orders`, body)).json(),
        await get(`${origin}/mcp-dashboard`),
        await get(`${origin}/oauth/callback`),
        await get(`${origin}/.well-known/security.txt`),
        (await get(`${origin}/nothing`))[0],
      ]).toEqual([
        [200, 'the shop'],
        { got: { total: 12 } },
        [200, 'of the shop'],
        ours ? [404, 'not_found'] : [200, 'of the shop'],
        ours ? [404, 'not_found'] : [200, 'of the shop'],
        404,
      ]);
    },
  );

  test('before the start and after the stop, paths of the agent get 503 and the host still answers', async () => {
    const { agent, app, origin } = await openHost();
    agent.mountAiMcpServer({ basePath: prefix }).mountOnExpress(app);
    addRoutes(app);
    const seen = async () => [await get(`${origin}${prefix}/mcp`, { method: 'POST' }), await get(`${origin}/`)];
    const before = await seen();
    await agent.start();
    const during = await seen();
    await agent.stop();
    expect([before, during, await seen()]).toEqual([
      [
        [503, 'not_ready'],
        [200, 'the shop'],
      ],
      [
        [401, 'invalid_token'],
        [200, 'the shop'],
      ],
      [
        [503, 'not_ready'],
        [200, 'the shop'],
      ],
    ]);
  });
});

test('routes of the host that the agent now handles are logged at the start', async () => {
  const { agent, app, logged } = await openHost();
  addRoutes(app);
  agent.mountAiMcpServer().mountOnExpress(app);
  await agent.start();
  const warnings = logged.filter(([level]) => level === 'Warn').map(([, message]) => message);
  expect(warnings.filter(isNotDriverWarning)).toEqual([
    expect.stringContaining(
      'the agent now handles: /oauth/callback, /.well-known/security.txt. To keep them in the application, set a basePath',
    ),
  ]);
});

test('stop waits for pending answers of the agent, and not for those of the host', async () => {
  const host = await openHost();
  const { agent, app, origin } = host;
  agent.mountAiMcpServer().mountOnExpress(app);
  agent.customizeCollection('orders', (orders) =>
    orders.addHook('Before', 'List', async () => {
      if (!stopping) return;
      asked = true;
      await systemClock.sleep(100);
      isRead = true;
    }),
  );
  let stopping = false;
  let asked = false;
  let isRead = false;
  let finish: (() => void) | undefined;
  app.get('/slow', (_req, res) => {
    finish = () => res.send('done');
  });
  await agent.start();
  const token = await signIn(host, '');
  const slow = get(`${origin}/slow`);
  while (!finish) await systemClock.sleep(5);
  stopping = true;
  const owed = list(host, '', token);
  while (!asked) await systemClock.sleep(5);
  await agent.stop();
  expect(isRead).toBe(true);
  finish();
  expect([await owed, await slow]).toEqual([listed, [200, 'done']]);
});

test('a plain Node server can use the handler without a next function', async () => {
  const { agent } = await openHost();
  const handle = agent.mountAiMcpServer().requestHandler;
  const server = createServer((req, res) => handle(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await agent.start();
  expect([await get(`${origin}/nothing`), (await get(`${origin}/oauth/token`))[0]]).toEqual([[404, 'not_found'], 405]);
});

test('a start without a public URL is refused with the setting to use', async () => {
  const { agent } = emptyAgent();
  agent.addDataSource(createMemoryDataSource('shop', shopTables)).mountAiMcpServer().mountOnExpress(express());
  expect(await messageOf(() => agent.start())).toMatch(/set SERVICE_PUBLIC_URL \(or settings\.publicUrl\)/);
});

test('a value that is not an Express application is refused with the line', async () => {
  const { agent } = emptyAgent();
  expect(await messageOf(() => agent.mountOnExpress({} as never))).toMatch(/from express\(\)\. \(.*express\.test\.ts/);
});

test('the example of docs/embedding.md serves the documented URLs', async () => {
  const [, code] = /```js\n(.*?)```/s.exec(readFileSync('docs/embedding.md', 'utf8'))!;
  const folder = makeFolder();
  const path = join(folder, 'demo.sqlite');
  copyDemo(path);
  const open = Object.getPrototypeOf(async () => {}).constructor(
    'express, createAgent, createSqlDataSource, process',
    `${code!.replace(/^import .*$/gm, '').replace(/app\.listen.*/, '')} return { agent, app };`,
  );
  const env = { SERVICE_AUTH_SECRET: 'a', SERVICE_ENV_SECRET: 'e', DATABASE_URL: `sqlite:${path}` };
  const inFolder = (options: AgentOptions) =>
    createAgent({
      ...options,
      schemaPath: join(folder, 'schema.json'),
      settings: { ...options.settings, dataDir: join(folder, 'data'), logLevel: 'Error' },
    });
  const { agent, app } = await open(express, inFolder, createSqlDataSource, { env });
  onTestFinished(() => agent.stop());
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const document = await fetch(`${origin}/.well-known/oauth-protected-resource/data/mcp`, {
    headers: { host: 'shop.example.com' },
  });
  const { resource } = (await document.json()) as { resource: unknown };
  expect([await get(`${origin}/`), resource]).toEqual([[200, 'The shop'], 'https://shop.example.com/data/mcp']);
});
