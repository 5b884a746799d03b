// The store on every available database, and on the WebAssembly SQLite.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import type { Observation } from '../../src/core/observe.ts';
import type { SqliteChoice } from '../../src/core/sqlite.ts';
import { type Database, openDatabase } from '../../src/store/database/database.ts';
import { type OpenedStore, openStore } from '../../src/store/open.ts';
import { servers, type TestServer } from '../databases.ts';
import { prepareStorage } from '../storage.ts';
import { dropSpares, takeSpare } from './spares.ts';

export interface Variant {
  readonly name: string;
  readonly server: TestServer;
  readonly sqlite: SqliteChoice;
}

export const variants: readonly Variant[] = [
  ...servers.map((server): Variant => ({ name: server.dialect, server, sqlite: 'auto' })),
  { name: 'sqlite (wasm)', server: servers[0]!, sqlite: 'wasm' },
];

export interface OpenOptions {
  readonly clock?: Clock;
  readonly secret?: string;
  readonly environment?: string;
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Place {
  readonly url: string;
  readonly dataDir: string;
  readonly observed: Observation[];
  /** Opens another store on the same database, as another process would. */
  open(options?: OpenOptions): Promise<OpenedStore>;
  /** Direct access to the tables, for states that the store cannot create. */
  tables(): Database;
  child(): Promise<StoreChild>;
}

const undo: (() => unknown)[] = [];

/** A database with only our tables, and a data folder. The cleanup removes both and closes everything that is open. */
export async function createPlace(variant: Variant): Promise<Place> {
  if (variant.server.dialect === 'sqlite') {
    const place = await createEmptyPlace(variant);
    await prepareStorage({ storageUrl: place.url, dataDir: place.dataDir, sqlite: variant.sqlite });
    return place;
  }
  const spare = await takeSpare(variant.server);
  undo.push(() => spare.release());
  return placeAt(spare.url, variant);
}

/** The same with a new, empty database. */
export async function createEmptyPlace(variant: Variant): Promise<Place> {
  const database = await variant.server.create();
  undo.push(() => database.drop());
  return placeAt(database.url, variant);
}

function placeAt(url: string, { sqlite }: Variant): Place {
  const dataDir = mkdtempSync(join(tmpdir(), 'portico-store-'));
  undo.push(() => rmSync(dataDir, { recursive: true, force: true }));
  const observed: Observation[] = [];
  const environment = { SERVICE_STORAGE_URL: url, SERVICE_DATA_DIR: dataDir, SERVICE_SQLITE: sqlite };
  return {
    url,
    dataDir,
    observed,
    async open({ clock = systemClock, secret, environment: served, env: more } = {}) {
      const env = {
        ...environment,
        ...more,
        ...(secret !== undefined && { SERVICE_SECRET: secret }),
        ...(served !== undefined && { SERVICE_ENVIRONMENT: served }),
      };
      const store = await openStore({ config: loadConfig({ env }), observe: (one) => observed.push(one), clock });
      undo.push(() => store.close());
      return store;
    },
    tables() {
      const tables = openDatabase({ url, dataDir, sqlite });
      undo.push(() => tables.close());
      return tables;
    },
    child: () => startChild(environment),
  };
}

/**
 * Two stores with transactions that can overlap. SQLite waits for a lock and blocks the event loop, so two
 * writers in one process would deadlock. There, both are the same store; use `child` for separate processes.
 */
export async function openPair(place: Place, { server }: Variant): Promise<readonly [OpenedStore, OpenedStore]> {
  const one = await place.open();
  return [one, server.dialect === 'sqlite' ? one : await place.open()];
}

/** Registers the cleanup; call it once in each test file. */
export function cleanUpAfterEach(): void {
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step();
  });
  afterAll(dropSpares);
}

/** The same for a `describe` that creates its places before all tests; call it in the `describe`. */
export function cleanUpAfterAll(): void {
  afterAll(async () => {
    for (const step of undo.splice(0).reverse()) await step();
  }, 30_000);
}

export interface StoreChild {
  readonly process: ChildProcess;
  ask(request: ChildRequest): Promise<ChildAnswer>;
}
export type ChildRequest = { readonly do: 'open' | 'key' | 'begin' | 'claim' };
export interface ChildAnswer {
  readonly migrations?: readonly string[];
  readonly keys?: readonly string[];
  readonly error?: string;
}

async function startChild(environment: Readonly<Record<string, string>>): Promise<StoreChild> {
  const child = fork(join(import.meta.dirname, 'child.ts'), [JSON.stringify(environment)], {
    execArgv: ['--import', 'tsx'],
  });
  undo.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  await once(child, 'message');
  return {
    process: child,
    async ask(request) {
      child.send(request);
      return (await once(child, 'message'))[0] as ChildAnswer;
    },
  };
}
