// The servers an evaluation can run against: an existing server, or a temporary demo shop. Both receive HTTP requests
// with application tokens, like any other client.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import { writeDemo } from '../../examples/demo-shop/shop.ts';
import { makePassword } from '../../src/cli/users/password.ts';
import { systemClock } from '../../src/core/clock.ts';
import { type Config, loadConfig } from '../../src/core/config.ts';
import { AppError, fail } from '../../src/core/errors.ts';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import { createApp } from '../../src/server/create-server.ts';
import { tokenScopes } from '../../src/store/oauth/tokens.ts';
import type { CollectionPermission } from '../../src/store/permissions/types.ts';
import type { Store } from '../../src/store/store.ts';
import { type Evaluation, type Person, permissions } from './definitions.ts';
import type { Answer } from './judge.ts';
import type { Target } from './run.ts';

interface OpenedTarget extends Target {
  close(): Promise<void>;
}

const OWNER = 'owner';

/** There is only one token, so a task with `as` is an error. */
export function openAddress(url: string, token: string): OpenedTarget {
  return {
    call({ as, query }, tool, args) {
      if (as !== undefined)
        fail('INVALID_ARGUMENT', { argument: 'as', problem: 'people are created only in the demo shop.' });
      return callTool(narrowed(url, query), token, tool, args);
    },
    greeting: () => greet(url, token),
    ask: undefined,
    close: async () => undefined,
  };
}

export async function openDemo(
  configured: Config,
  version: string,
  people: Evaluation['people'] = {},
): Promise<OpenedTarget> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-eval-'));
  const path = join(folder, 'demo.sqlite');
  const { driver } = loadSqliteDriver(configured.sqlite);
  writeDemo(path, { driver, clock: systemClock });
  const env = { SERVICE_DATA_DIR: folder, SERVICE_DATABASE_URL: `sqlite:${path}`, MCP_SERVER_PORT: '0' };
  const config = { ...loadConfig({ env }), sqlite: configured.sqlite, logLevel: configured.logLevel };
  const app = createApp(config, { version, customize: customizeDemo });
  const { store, mcpUrl } = await app.start();
  const database = new driver(path);
  const tokens = new Map([[OWNER, await addPerson(store, OWNER, undefined)]]);
  for (const [name, person] of Object.entries(people)) tokens.set(name, await addPerson(store, name, person));
  return {
    call: ({ as = OWNER, query }, tool, args) => callTool(narrowed(mcpUrl, query), tokens.get(as) ?? '', tool, args),
    greeting: () => greet(mcpUrl, tokens.get(OWNER) ?? ''),
    ask: (sql, parameters) =>
      database
        .prepare(sql)
        .raw()
        .all(...parameters) as unknown[][],
    async close() {
      database.close();
      await app.stop('end of the evaluation');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Adds a user with a role and a team of the same name. Returns the token. */
async function addPerson(store: Store, name: string, person: Person | undefined): Promise<string> {
  const level = person ? 'user' : 'admin';
  const membership = person ? { team: name, role: name } : {};
  const email = `${name}@example.com`;
  const { id: userId } = await store.identity.addUser({ email, password: makePassword(), level, ...membership });
  if (person) {
    const collections = Object.entries(person.permissions).map(
      ([collection, permission]): [string, CollectionPermission] => [
        collection,
        Object.fromEntries(
          permissions.map((verb) => [verb, permission[verb] ?? false]),
        ) as unknown as CollectionPermission,
      ],
    );
    await store.permissions.setRole(name, Object.fromEntries(collections));
    for (const [collection, filter] of Object.entries(person.rows ?? {}))
      await store.permissions.setScope(name, collection, filter);
  }
  const scopes = person?.scopes ?? tokenScopes.mcp;
  return (await store.tokens.create({ userId, name: 'evaluation', scopes })).secret;
}

const narrowed = (url: string, query: string | undefined): string => (query === undefined ? url : `${url}?${query}`);

async function callTool(url: string, token: string, tool: string, args: unknown): Promise<Answer> {
  const body = await post(url, token, 'tools/call', { name: tool, arguments: args });
  if (typeof body === 'string') return { text: body, isError: true };
  const { result, error } = body as {
    readonly result?: { readonly content: readonly { readonly text?: string }[]; readonly isError?: boolean };
    readonly error?: { readonly message: string };
  };
  if (!result) return { text: error?.message ?? 'no answer', isError: true };
  return { text: result.content.map(({ text = '' }) => text).join('\n'), isError: result.isError === true };
}

async function greet(url: string, token: string): Promise<string> {
  const clientInfo = { name: 'portico eval', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const opened = await post(url, token, 'initialize', params);
  const listed = await post(url, token, 'tools/list', {});
  if (typeof opened === 'string' || typeof listed === 'string') {
    const problem = `${url} does not answer as an MCP server: ${typeof opened === 'string' ? opened : listed}`;
    return fail('CONFIGURATION', { problem });
  }
  const { instructions = '' } = opened.result as { readonly instructions?: string };
  const { tools = [] } = listed.result as { readonly tools?: readonly Record<string, unknown>[] };
  const shown = tools.map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema }));
  return [instructions, ...shown].join('\n');
}

/** Returns the JSON-RPC message. For an HTTP error, returns a text that begins with the status. */
async function post(
  url: string,
  token: string,
  method: string,
  params: object,
): Promise<Record<string, unknown> | string> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(method !== 'initialize' && { 'mcp-protocol-version': '2025-11-25' }),
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, { method: 'POST', headers, body }).catch((cause: unknown) => {
    throw new AppError('CONFIGURATION', { problem: `--url: ${url} cannot be reached.` }, cause);
  });
  const text = await response.text();
  if (!response.ok) return `${response.status}: ${text}`;
  // The response is the last event of a stream, or the body (MCP 2025-11-25, transports, sending messages to the
  // server, 5).
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const message = isStream ? /^data: (.*)$/m.exec(text.slice(text.lastIndexOf('\ndata: ') + 1))?.[1] : text;
  return JSON.parse(message ?? 'null') as Record<string, unknown>;
}
