// A platform for tests of an agent: the real one, over a storage in memory, with one user who may do everything and whose
// rights can be changed. It takes any environment, the first that comes; agents and clients of tests on this machine know it by
// a key that only the user who runs it can read (platform/sandbox-key.ts).
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listen } from '../app/doors.ts';
import type { Caller } from '../core/caller.ts';
import { systemClock } from '../core/clock.ts';
import { loadConfig, processEnvironment } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import { createLogListener } from '../core/observe.ts';
import { randomId, sameText } from '../core/secret.ts';
import { listOf, mapOf, nullable, optional, plain, shape, text } from '../platform/checks.ts';
import { connectDoor } from '../platform/connect.ts';
import { createDoor, type Door, type DoorCall } from '../platform/door.ts';
import { createDoorPaths, defaultDoorPath } from '../platform/paths.ts';
import type { OwnStore } from '../platform/relayed.ts';
import { makeSandboxKey } from '../platform/sandbox-key.ts';
import { openStore } from '../store/open.ts';
import type { CollectionPermission } from '../store/rights-types.ts';

/** A platform for tests, in this process. */
export interface Sandbox {
  /** What an agent takes as its `serverUrl`. */
  readonly url: string;
  readonly port: number;
  /** Ends it; a second call does nothing. */
  close(): Promise<void>;
  /** The same as `close`. */
  stop(): Promise<void>;
}

/** What the user of the sandbox may do from now on; what is absent stays as it is. */
export interface SandboxRights {
  /** By collection, `*` for every other; in place of all that were said before. Null: everything, as at the start. */
  readonly collections?: Readonly<Record<string, CollectionPermission>> | null;
  /** By collection: a condition tree that the records he sees satisfy; null: he sees all of them. */
  readonly scopes?: Readonly<Record<string, unknown>>;
}

const host = '127.0.0.1';
/** Of the user of a sandbox. */
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

/** `port`: 0 takes a free one. CONFIGURATION when it is taken. (Spec 4.7.) */
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
    route = createRoute(createSandboxDoor(store, key));
  } catch (error) {
    await close();
    throw error;
  }
  return { url: `http://${host}:${taken}`, port: taken, close, stop: close };
}

/** The name of the same in this package's own words. */
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

function createSandboxDoor(store: OwnStore, key: string): Door {
  let claimed: string | undefined;
  const { locate } = createDoorPaths(`http://${host}`, defaultDoorPath);
  const more = listControls(store);
  return createDoor({
    store,
    key,
    // The first who comes says which environment this is.
    admits(environment) {
      if (environment === '') return false;
      claimed ??= environment;
      return sameText(claimed, environment);
    },
    paths: { locate: (path) => locate(path) ?? (Object.hasOwn(more, path) ? path : undefined) },
    more,
    readAddress: (req) => req.socket.remoteAddress ?? '',
    version: 'sandbox',
    clock: systemClock,
    observe,
  });
}

const isRights = shape({ collections: optional(nullable(mapOf(plain))), scopes: optional(plain) });

function listControls(store: OwnStore): Readonly<Record<string, DoorCall>> {
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

function createRoute(door: Door): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    if (door.handle(req, res)) return;
    req.resume();
    const path = (req.url ?? '/').split('?', 1)[0]!.slice(0, 200);
    const detail = `Sandbox: no such route ${req.method} ${path}`;
    const body = JSON.stringify({ errors: [{ name: 'NotFoundError', status: 404, detail }] });
    res.writeHead(404, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }).end(body);
  };
}

/** A sandbox as a test sees it, from whichever process of this machine. */
export interface SandboxControls {
  /** Felt by the next call of every agent. */
  overrideRights(rights: SandboxRights): Promise<void>;
  /** `document`: the text of a schema file. */
  uploadSchema(document: string): Promise<void>;
  /** The schema that an agent or `uploadSchema` told last. */
  schema(): Promise<string | undefined>;
  /** The one user. */
  user(): Promise<Caller>;
  /** An application token of that user, of these OAuth scopes. */
  makeMcpToken(scopes: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

/** CONFIGURATION when there is no sandbox at the address, or when it has been taken by another environment. */
export async function connectSandbox(options: {
  readonly serverUrl: string;
  readonly envSecret: string;
}): Promise<SandboxControls> {
  const { channel, isSandbox } = await connectDoor({ ...options, clock: systemClock, observe });
  if (!isSandbox) {
    await channel.close();
    fail('CONFIGURATION', { problem: `serverUrl: ${options.serverUrl} is a platform, and no sandbox for tests.` });
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
