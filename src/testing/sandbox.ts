// A platform for tests of an agent: the real implementation over an in-memory store. It has one user, with all
// permissions at first; tests can change them. It belongs to the first environment that connects. Agents and test
// clients on this machine authenticate with a key file, readable only by the OS user who runs the sandbox
// (remote-store/sandbox-key.ts).
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Caller } from '../core/caller.ts';
import { systemClock } from '../core/clock.ts';
import { loadConfig, processEnvironment } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import { createLogListener } from '../core/observe.ts';
import { randomId, timingSafeEqualText } from '../core/secret.ts';
import { pathOf } from '../http/request-target.ts';
import { createMountRouter } from '../http/router.ts';
import { listOf, mapOf, nullable, optional, plain, shape, text } from '../remote-store/checks.ts';
import { connectChannel } from '../remote-store/connect.ts';
import { defaultRpcPath } from '../remote-store/paths.ts';
import type { OwnStore } from '../remote-store/relayed.ts';
import { createRpcRouter, type RpcCall } from '../remote-store/rpc-router.ts';
import { makeSandboxKey } from '../remote-store/sandbox-key.ts';
import { listen } from '../server/http-server.ts';
import { openStore } from '../store/open.ts';
import type { CollectionPermission } from '../store/permissions/types.ts';

/** A platform for tests, running in this process. */
export interface Sandbox {
  /** URL to pass to an agent as its `serverUrl`. */
  readonly url: string;
  /** The port of the server. */
  readonly port: number;
  /** Stops the server. Calling it twice is safe. */
  close(): Promise<void>;
  /** Alias of `close`. */
  stop(): Promise<void>;
}

/** Changes to the permissions of the sandbox user. Absent properties stay as they are. */
export interface SandboxRights {
  /** Permissions by collection, `*` for all others. They replace all earlier ones. Null restores all permissions. */
  readonly collections?: Readonly<Record<string, CollectionPermission>> | null;
  /** Scopes by collection: a condition tree that limits the visible records. Null removes the scope. */
  readonly scopes?: Readonly<Record<string, unknown>>;
}

const host = '127.0.0.1';
/** Role of the sandbox user. */
const role = 'Administrator';
const team = 'Operations';
const everything: CollectionPermission = {
  browse: true,
  read: true,
  edit: true,
  add: true,
  delete: true,
  export: true,
};

/**
 * `port`: 0 picks a free port. Throws CONFIGURATION when the port is in use. (Behaviour 4.7.)
 *
 * @example
 * import { createForestServerSandbox } from 'portico/testing';
 *
 * const sandbox = await createForestServerSandbox();
 * process.env.SERVICE_SERVER_URL = sandbox.url;
 */
export async function createForestServerSandbox(port = 0): Promise<Sandbox> {
  if (!(Number.isInteger(port) && port >= 0 && port <= 65_535))
    fail('CONFIGURATION', { problem: 'createForestServerSandbox: the port must be a number from 0 to 65535.' });
  let route: (req: IncomingMessage, res: ServerResponse) => void = (_req, res) => void res.writeHead(503).end();
  const server = createServer((req, res) => route(req, res));
  const settings = { port: 'the port that createForestServerSandbox is given', host: 'nothing' };
  await listen(server, { port, host, settings });
  const taken = (server.address() as AddressInfo).port;
  const closers: (() => unknown)[] = [
    () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  ];
  let closing: Promise<unknown> | undefined;
  const close = async (): Promise<void> => {
    closing ??= (async () => {
      for (const one of closers) await one();
    })();
    await closing;
  };
  try {
    const store = await openSandboxStore();
    closers.push(() => store.close());
    const { key, remove } = makeSandboxKey(taken);
    closers.unshift(remove);
    route = createRoute(store, key);
  } catch (error) {
    await close();
    throw error;
  }
  return { url: `http://${host}:${taken}`, port: taken, close, stop: close };
}

/** Alias of `createForestServerSandbox` with this package's own name. */
export const createServiceServerSandbox: typeof createForestServerSandbox = createForestServerSandbox;

const observe = createLogListener('Error');

async function openSandboxStore(): Promise<OwnStore> {
  const { SERVICE_SQLITE } = processEnvironment();
  const config = loadConfig({ env: { SERVICE_SQLITE }, file: { storageUrl: 'sqlite::memory:' } });
  const store = await openStore({ config, observe, clock: systemClock });
  await store.identity.addUser({
    email: 'tester@sandbox.example',
    firstName: 'Test',
    lastName: 'User',
    level: 'admin',
    role,
    team,
  });
  return { ...store, relay: store.relay! };
}

/** The endpoint of a platform, and beside it the controls at their own paths. */
function createRoute(store: OwnStore, key: string): (req: IncomingMessage, res: ServerResponse) => void {
  let claimed: string | undefined;
  const more = listControls(store);
  const rpc = createRpcRouter({
    ...{ store, key, more, version: 'sandbox', clock: systemClock, observe },
    // The first environment to connect claims the sandbox.
    admits(environment) {
      if (environment === '') return false;
      claimed ??= environment;
      return timingSafeEqualText(claimed, environment);
    },
    readAddress: (req) => req.socket.remoteAddress ?? '',
  });
  const router = createMountRouter([
    { prefixes: [defaultRpcPath], router: rpc },
    { prefixes: Object.keys(more), isExact: true, router: rpc },
  ]);
  return (req, res) =>
    router(req, res, () => {
      req.resume();
      const detail = `Sandbox: no such route ${req.method} ${pathOf(req.url).slice(0, 200)}`;
      const body = JSON.stringify({ errors: [{ name: 'NotFoundError', status: 404, detail }] });
      res.writeHead(404, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }).end(body);
    });
}

const isRights = shape({ collections: optional(nullable(mapOf(plain))), scopes: optional(plain) });

function listControls(store: OwnStore): Readonly<Record<string, RpcCall>> {
  const { permissions, schema } = store;
  return {
    '/permission-override': {
      effect: 'once',
      takes: [isRights],
      async run({ collections, scopes = {} }: SandboxRights): Promise<void> {
        if (collections !== undefined) await permissions.setRole(role, collections ?? { '*': everything });
        for (const [name, filter] of Object.entries(scopes)) await permissions.setScope(team, name, filter);
      },
    },
    '/agent-schema': { effect: 'once', takes: [text], run: (document: string) => schema.keep(document) },
    '/mcp-token': {
      effect: 'once',
      takes: [listOf(text)],
      async run(scopes: readonly string[]): Promise<string> {
        const { secret } = await store.tokens.create({ userId: 1, name: `Test ${randomId()}`, scopes });
        return secret;
      },
    },
    '/user': { effect: 'again', takes: [], run: () => permissions.caller(1) },
  };
}

/** Controls of a sandbox, usable from any process on this machine. */
export interface SandboxControls {
  /** Takes effect at the next call of every agent. */
  overrideRights(rights: SandboxRights): Promise<void>;
  /** `document`: the text of a schema file. */
  uploadSchema(document: string): Promise<void>;
  /** The schema that an agent or `uploadSchema` uploaded last. */
  schema(): Promise<string | undefined>;
  /** The sandbox user. */
  user(): Promise<Caller>;
  /** An application token of that user with these OAuth scopes. */
  makeMcpToken(scopes: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

/** Throws CONFIGURATION when no sandbox answers at the URL, or when another environment has claimed it. */
export async function connectSandbox(options: {
  readonly serverUrl: string;
  readonly envSecret: string;
}): Promise<SandboxControls> {
  const { channel, isSandbox } = await connectChannel({ ...options, clock: systemClock, observe });
  if (!isSandbox) {
    await channel.close();
    fail('CONFIGURATION', { problem: `serverUrl: ${options.serverUrl} is a platform, not a sandbox for tests.` });
  }
  return {
    async overrideRights(rights) {
      await channel.call('/permission-override', [rights], 'once');
    },
    async uploadSchema(document) {
      await channel.call('/agent-schema', [document], 'once');
    },
    async schema() {
      const found = (await channel.call('/v1/schema/get', [], 'again')) as { readonly document: string } | undefined;
      return found?.document;
    },
    makeMcpToken: async (scopes) => (await channel.call('/mcp-token', [scopes], 'once')) as string,
    user: async () => (await channel.call('/user', [], 'again')) as Caller,
    close: () => channel.close(),
  };
}
