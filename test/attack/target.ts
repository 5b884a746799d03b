// A started server of a place, and users outside of its process. Rights and tokens are written to the storage as by a
// second process. All other calls use HTTP.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { type OpenedStore, openStore } from '../../src/store/open.ts';
import type { CollectionPermission } from '../../src/store/permissions/types.ts';
import type { NewUser } from '../../src/store/users/types.ts';
import { requestOf } from '../app/call.ts';
import { openWire, type Wire } from '../app/wire.ts';
import { makePlace, root, type StartedServer, startServer } from '../cli/command.ts';
import type { Dialect, TestDatabase, TestServer } from '../databases.ts';
import { type Account, createBrowser, type Page } from '../oauth/flow.ts';
import { frontOrigin, sessionToken } from '../rest/front-end.ts';
import { askSql, runSql } from '../sql/schemas.ts';
import type { Place } from './attack.ts';

type Collections = Readonly<Record<string, CollectionPermission>>;

export interface Caller {
  readonly token: string;
  /** The answer as JSON. An error is its text, which starts with its code. */
  call(tool: string, args: Record<string, unknown>): Promise<unknown>;
  /** The same with the raw JSON text of the arguments. */
  raw(tool: string, args: string): Promise<unknown>;
}

export interface Person extends Account, Caller {
  readonly id: number;
  readonly role: string;
  readonly team: string;
  /** Calls the agent's HTTP API in a session of this person. A text `body` is sent unchanged. */
  http(method: string, path: string, body?: object | string): Promise<HttpAnswer>;
  /** A console page of the signed-in user. */
  visit(path: string): Promise<Visit>;
  permit(collections: Collections): Promise<void>;
  scope(collection: string, filter: unknown): Promise<void>;
}

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

export interface Visit {
  readonly page: Page;
  press(button: string, typed?: Record<string, string>): Promise<Page>;
  open(path: string, init?: RequestInit): Promise<Page>;
  /** Sends a form that is not on the page, with the CSRF token of one that is. */
  forge(fields: Readonly<Record<string, string>>): Promise<Page>;
}

export interface Twin extends StartedServer {
  readonly consoleUrl: string;
  caller(token: string): Caller;
}

export interface Target extends StartedServer {
  readonly dialect: Dialect;
  readonly database: TestDatabase;
  readonly storage: string;
  readonly apiUrl: string;
  readonly consoleUrl: string;
  /** The storage as a second process opens it. */
  readonly store: OpenedStore;
  /** The proxy between the server and its database, if the place has one. */
  readonly wire: Wire | undefined;
  /** `query` is the query string of the MCP URL. */
  caller(token: string, query?: string): Caller;
  person(options?: Partial<NewUser> & { readonly permissions?: Collections }): Promise<Person>;
  /** Another process on the same storage and database, until the target stops. */
  twin(): Promise<Twin>;
  sql(...statements: string[]): Promise<void>;
  /** Rows read from the database itself, with values separated by spaces. */
  rows(statement: string): Promise<string[]>;
  stop(): Promise<void>;
}

export const all: CollectionPermission = {
  browse: true,
  read: true,
  edit: true,
  add: true,
  delete: true,
  export: true,
};
export const none: CollectionPermission = {
  browse: false,
  read: false,
  edit: false,
  add: false,
  delete: false,
  export: false,
};

const password = 'correct horse battery';
const scopes = ['mcp:read', 'mcp:write', 'mcp:action'];

/** `from` is the `root` of `startServer`. */
export async function openTarget(maker: TestServer, place: Place, from?: string): Promise<Target> {
  const ends: (() => unknown)[] = [];
  const stop = async () => {
    for (const end of ends.reverse()) await end();
  };
  try {
    const database = await maker.create();
    ends.push(() => database.drop());
    await runSql(database, place.tables(maker.dialect));
    let { url } = database;
    let wire: Wire | undefined;
    if (place.isWired) {
      const through = new URL(url);
      wire = await openWire({ host: through.hostname, port: Number(through.port) });
      ends.push(() => wire?.close());
      through.port = String(wire.port);
      url = through.href;
    }
    const { folder, remove } = makePlace();
    ends.push(remove);
    if (place.code !== undefined)
      buildSync({
        entryPoints: [place.code],
        outfile: join(folder, 'portico.config.mjs'),
        bundle: true,
        platform: 'node',
        format: 'esm',
      });
    const around = await place.around?.();
    if (around) ends.push(() => around.close());
    const storage = `sqlite:${join(folder, 'storage.sqlite')}`;
    const env = {
      SERVICE_STORAGE_URL: storage,
      SERVICE_DATABASE_URL: place.address?.(url) ?? url,
      SERVICE_SECRET: 'the secret of the server that is attacked',
      SERVICE_DATA_DIR: folder,
      SERVICE_AGENT_ORIGINS: frontOrigin,
      SERVICE_LOG_LEVEL: 'Error',
      SERVICE_SIGN_IN_ATTEMPTS: '1000',
      SERVICE_DCR_PER_HOUR: '10000',
      SERVICE_MCP_REQUESTS_PER_MINUTE: '0',
      SERVICE_SHUTDOWN_SECONDS: '1',
      ...place.env,
      ...around?.env,
    };
    const store = await openStore({ config: loadConfig({ env }), observe: () => undefined, clock: systemClock });
    ends.push(() => store.close());
    await store.identity.addUser({ email: 'ada@example.test', password, level: 'admin' });
    const script = place.host === undefined ? undefined : bundleHost(place.host, folder);
    const start = async (more: Readonly<Record<string, string>> = {}) => {
      const run = { folder, env: { ...env, ...more, ...hostEnv(from) }, script, root: from };
      const server = await startServer([], run);
      ends.push(async () => {
        server.signal('SIGTERM');
        const cancel = systemClock.after(5000, () => server.signal('SIGKILL'));
        await server.ended;
        cancel();
      });
      return server;
    };
    const server = await start();
    const { origin } = server;
    const at = { apiUrl: `${origin}/service`, consoleUrl: `${origin}/console` };
    const target: Target = {
      ...server,
      ...{ ...at, dialect: maker.dialect, database, storage, store, wire, stop },
      caller: (token, query = '') => callerOf(server.mcpUrl + query, token),
      person: (options) => makePerson({ ...at, mcpUrl: server.mcpUrl, store }, options),
      async twin() {
        const twin = await start({ SERVICE_DATA_DIR: join(folder, 'twin') });
        return { ...twin, consoleUrl: `${twin.origin}/console`, caller: (token) => callerOf(twin.mcpUrl, token) };
      },
      sql: (...statements) => runSql(database, statements),
      rows: async (statement) => (await askSql(database, statement)).map((row) => Object.values(row).join(' ')),
    };
    around?.started?.(target);
    return target;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Bundles all imports except the package itself, which is found by `PACKAGE_INDEX`. */
function bundleHost(script: string, folder: string): string {
  const outfile = join(folder, 'host.cjs');
  buildSync({ entryPoints: [script], outfile, bundle: true, platform: 'node', format: 'cjs' });
  return outfile;
}

const hostEnv = (at = root) => ({ PACKAGE_INDEX: pathToFileURL(join(at, 'dist', 'index.js')).href });

let made = 0;

async function makePerson(
  { mcpUrl, apiUrl, consoleUrl, store }: Pick<Target, 'mcpUrl' | 'apiUrl' | 'consoleUrl' | 'store'>,
  { permissions = { '*': all }, ...options }: Parameters<Target['person']>[0] = {},
): Promise<Person> {
  const email = `person-${++made}@example.test`;
  const { role = `Role ${made}`, team = `Team ${made}` } = options;
  const user = await store.identity.addUser({ email, password, level: 'editor', ...options, role, team });
  const permit: Person['permit'] = (collections) => store.permissions.setRole(role, collections);
  await permit(permissions);
  const { secret: token } = await store.tokens.create({ userId: user.id, name: 'assistant', scopes });
  let session: Promise<string> | undefined;
  return {
    ...{ id: user.id, email, password, role, team, permit },
    ...callerOf(mcpUrl, token),
    scope: (collection, filter) => store.permissions.setScope(team, collection, filter),
    async http(method, path, body) {
      session ??= sessionToken(apiUrl, { email, password });
      const response = await fetch(apiUrl + path, {
        method,
        headers: {
          authorization: `Bearer ${await session}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      return { status: response.status, text: await response.text() };
    },
    async visit(path) {
      const browser = createBrowser();
      const page = await browser.press(await browser.open(consoleUrl + path), 'sign-in', { email, password });
      return {
        page,
        press: (button, typed) => browser.press(page, button, typed),
        open: (other, init) => browser.open(consoleUrl + other, init),
        forge(fields) {
          const csrf = /name="csrf" value="([^"]+)"/.exec(page.html)?.[1] ?? '';
          const headers = { 'sec-fetch-site': 'same-origin', origin: new URL(consoleUrl).origin };
          return browser.open(page.url, { method: 'POST', body: new URLSearchParams({ csrf, ...fields }), headers });
        },
      };
    },
  };
}

function callerOf(mcpUrl: string, token: string): Caller {
  const raw: Caller['raw'] = async (name, args) => {
    const { headers, body } = requestOf('tools/call', { name, arguments: 'HERE' });
    const response = await fetch(mcpUrl, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${token}` },
      body: body.replace('"HERE"', () => args),
    });
    return answerOf(response.status, await response.text());
  };
  return { token, raw, call: (name, args) => raw(name, JSON.stringify(args)) };
}

function answerOf(status: number, text: string): unknown {
  if (status !== 200) return `${status} ${text}`;
  const { result, error } = JSON.parse(text);
  if (error) return `${error.code} ${error.message}`;
  const block: string = result.content[0].text;
  return result.isError ? block : JSON.parse(block);
}
