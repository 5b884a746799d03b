// An agent for the tests of a whole file, as users run it: createAgent over a real SQLite database on its own
// server, with a user signed in through the pages. Tests use it over HTTP and MCP, and read its schema file.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { type Agent, createAgent, createSqlDataSource, type LogFunction } from '../../src/index.ts';
import { openStore } from '../../src/store/open.ts';
import { secrets } from '../app/agent.ts';
import { callTool } from '../app/call.ts';
import { tokenOf } from '../app/mounts.ts';
import { servers } from '../databases.ts';
import { frontOrigin, sessionToken } from '../rest/front-end.ts';
import { runSql } from '../sql/schemas.ts';
import { prepareStorage } from '../storage.ts';
import { addUser } from '../users.ts';

const account = { email: 'ada@example.com', password: 'correct horse battery' };

export interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: JSON that the tests compare.
  readonly body: any;
  readonly headers: Headers;
}

export interface Outside {
  get(path: string, headers?: Record<string, string>): Promise<Answered>;
  post(path: string, body?: unknown, method?: string): Promise<Answered>;
  /** A request with its own headers; those of the session are absent. */
  send(path: string, init?: RequestInit): Promise<Answered>;
  /** The value of Authorization of the session. */
  readonly session: string;
  /** Calls the endpoint of an action: `/_actions/<collection>/<index>/<slug>` and further segments. */
  act(path: string, attributes: object): Promise<Answered>;
  /** The attributes of each row of a list. */
  list(path: string): Promise<Record<string, unknown>[]>;
  /** The ids of a list, in order. */
  ids(path: string): Promise<number[]>;
  /** Creates a record, or updates the one with the id. */
  save(collection: string, id: number | null, attributes: object): Promise<Answered>;
  remove(collection: string, id: number): Promise<Answered>;
  /** The JSON result of a tool; an error as `{ error }`. */
  // biome-ignore lint/suspicious/noExplicitAny: JSON that the tests compare.
  tool(name: string, given: Record<string, unknown>): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: JSON that the tests compare.
  readonly schema: any;
  /** The messages of all errors logged so far. */
  readonly causes: readonly string[];
  /** The warnings logged so far. */
  readonly warnings: readonly string[];
  stop(): Promise<void>;
}

/** The same for all tests of a file. If the start fails, each test fails with its error. */
export function serveOutside(tables: readonly string[], customize?: (agent: Agent) => unknown): Outside {
  let place: Outside | undefined;
  let failure: unknown;
  beforeAll(async () => {
    place = await openOutside(tables, customize).catch((error: unknown) => {
      failure = error;
      return undefined;
    });
  });
  afterAll(() => place?.stop());
  const get = (_: unknown, name: string | symbol): unknown => {
    if (place) return place[name as keyof Outside];
    throw failure;
  };
  return new Proxy<Outside>({} as Outside, { get });
}

/** The user is Ada Byron, an administrator in Paris with the tag `region: south`. */
export async function openOutside(
  tables: readonly string[],
  customize: (agent: Agent) => unknown = () => {},
  /** The row scopes of the team, by collection. */
  scopes: Readonly<Record<string, unknown>> = {},
): Promise<Outside> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-outside-'));
  const dataDir = join(folder, 'data');
  const schemaPath = join(folder, 'schema.json');
  const config = loadConfig({ file: { dataDir } });
  await prepareStorage(config);
  const store = await openStore({ config, observe: () => undefined, clock: systemClock });
  const { team } = await addUser(store, config, {
    ...{ ...account, firstName: 'Ada', lastName: 'Byron', level: 'admin' },
    ...{ timezone: 'Europe/Paris', tags: { region: 'south' } },
  });
  for (const [name, scope] of Object.entries(scopes)) await store.permissions.setScope(team, name, scope);
  await store.close();
  const database = await servers[0]!.create();
  await runSql(database, tables);
  const causes: string[] = [];
  const warnings: string[] = [];
  const logger: LogFunction = (level, message, error) => {
    if (level === 'Warn') warnings.push(message);
    if (error instanceof Error) causes.push(error.message);
  };
  const settings = { dataDir, agentOrigins: [frontOrigin] };
  const agent = createAgent({ ...secrets, schemaPath, settings, logger });
  agent.addDataSource(createSqlDataSource(database.url)).mountAiMcpServer().mountOnStandaloneServer(0);
  customize(agent);
  const { server } = await agent.start();
  const { address, mcpUrl } = server!;
  const api = `${address}/service`;
  const headers = {
    authorization: `Bearer ${await sessionToken(api, account)}`,
    'content-type': 'application/json',
  };
  const read = async (response: Response): Promise<Answered> => {
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return {
      status: response.status,
      body: isJson && text !== '' ? JSON.parse(text) : text,
      headers: response.headers,
    };
  };
  const send: Outside['send'] = async (path, init = {}) => read(await fetch(`${api}${path}`, init));
  const get: Outside['get'] = async (path, more = {}) =>
    read(await fetch(`${api}${path}`, { headers: { ...headers, ...more } }));
  const post: Outside['post'] = async (path, body, method = 'POST') =>
    read(await fetch(`${api}${path}`, { method, headers, body: JSON.stringify(body) }));
  let token: Promise<string> | undefined;
  return {
    get,
    post,
    send,
    session: headers.authorization,
    act: (path, attributes) => post(path, { data: { attributes, type: 'custom-action-requests' } }),
    list: async (path) =>
      (await get(path)).body.data.map(({ attributes }: { attributes: Record<string, unknown> }) => attributes),
    ids: async (path) => (await get(path)).body.data.map(({ id }: { id: string }) => Number(id)),
    save(type, id, attributes) {
      const data = { type, attributes, ...(id !== null && { id: `${id}` }) };
      return post(id === null ? `/${type}` : `/${type}/${id}`, { data }, id === null ? 'POST' : 'PUT');
    },
    remove: (collection, id) => post(`/${collection}/${id}`, undefined, 'DELETE'),
    async tool(name, given) {
      token ??= tokenOf({ agent, origin: address, prefix: '', mcpUrl, reached: [] }, 'mcp:read mcp:write mcp:action');
      return callTool(mcpUrl, await token, name, given);
    },
    causes,
    warnings,
    schema: JSON.parse(readFileSync(schemaPath, 'utf8')),
    async stop() {
      await agent.stop();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
