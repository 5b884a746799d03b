// A storage, a served database that counts changes of its orders, and worker
// processes over both. The steps of a run change the order twice: an update, then an
// action. A database trigger records each change, so duplicate changes are visible.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Knex } from 'knex';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { openDatabase } from '../../src/store/database/database.ts';
import { type OpenedStore, openStore } from '../../src/store/open.ts';
import type { Workflow } from '../../src/store/workflows/types.ts';
import { parseDefinition } from '../../src/workflows/definition/definition.ts';
import type { Dialect, TestServer } from '../databases.ts';
import type { WorkerOrder, WorkerTold, WorkerWish } from './worker.ts';

/** The changes of a run to an order, as recorded in `effects`. */
export const changing = ['change', 'charge'] as const;
export type Changing = (typeof changing)[number];

export const threeSteps = [
  { id: 'look', type: 'read-record', fields: ['total'], next: 'size' },
  {
    id: 'size',
    type: 'condition',
    mode: 'automatic',
    options: [
      { id: 'some', when: { field: 'total', operator: 'GreaterThan', value: 0 }, next: 'change' },
      { id: 'none', next: null },
    ],
  },
  { id: 'change', type: 'update-record', mode: 'automatic', values: { status: 'paid' } },
] as const;
const [look, size, change] = threeSteps;
export const fourSteps = [
  look,
  size,
  { ...change, next: 'charge' },
  { id: 'charge', type: 'trigger-action', mode: 'automatic', action: 'Charge' },
] as const;

export interface Worker {
  readonly process: ChildProcess;
  /** The warnings that the worker logged. */
  readonly warnings: readonly string[];
  /** The owner id of its claims; undefined before the first claim. */
  owner(): string | undefined;
  order(order: WorkerOrder): void;
  /** Resolves when the process has exited. */
  readonly gone: Promise<unknown>;
}

export interface Field {
  readonly store: OpenedStore;
  /** The tables of the storage, for checks that the store does not offer. */
  readonly tables: Knex;
  readonly served: Knex;
  readonly userId: number;
  readonly storageUrl: string;
  readonly servedUrl: string;
  publish(steps: readonly object[], more?: object): Promise<Workflow>;
  /** Creates orders, and returns their ids. */
  orders(count: number): Promise<readonly string[]>;
  start(workflow: Workflow, order: string): Promise<string>;
  /** Starts a worker that loads everything and waits for `go`. */
  worker(env?: Readonly<Record<string, string>>): Promise<Worker>;
  /** How often each change was made to each order. */
  effects(): Promise<ReadonlyMap<string, Readonly<Record<Changing, number>>>>;
  close(): Promise<void>;
}

const trigger: Readonly<Record<Dialect, readonly string[]>> = {
  sqlite: [
    'create trigger told after update on orders begin insert into effects (order_id, charged) values (new.id, new.charged); end',
  ],
  mariadb: [
    'create trigger told after update on orders for each row insert into effects (order_id, charged) values (new.id, new.charged)',
  ],
  postgres: [
    "create function tell() returns trigger language plpgsql as 'begin insert into effects (order_id, charged) values (new.id, new.charged); return new; end'",
    'create trigger told after update on orders for each row execute function tell()',
  ],
};

/** `serves`: the server of the served database, if it differs from the storage's. */
export async function openField(server: TestServer, serves: TestServer = server): Promise<Field> {
  const [storage, database] = [await server.create(), await serves.create()];
  const folder = mkdtempSync(join(tmpdir(), 'portico-field-'));
  const env = { SERVICE_STORAGE_URL: storage.url, SERVICE_DATA_DIR: folder, SERVICE_SECRET: 'of all workers' };
  const store = await openStore({ config: loadConfig({ env }), observe: () => undefined, clock: systemClock });
  const open = (url: string) => openDatabase({ url, dataDir: folder, sqlite: 'auto' });
  const [tables, served] = [open(storage.url), open(database.url)];
  await served.knex.schema.createTable('orders', (table) => {
    table.integer('id').primary();
    table.integer('total').notNullable();
    table.string('status', 10).notNullable();
    table.string('charged', 10);
  });
  await served.knex.schema.createTable('effects', (table) => {
    table.increments('id');
    table.integer('order_id').notNullable();
    table.string('charged', 10);
  });
  for (const sql of trigger[serves.dialect]) await served.knex.raw(sql);
  const { id: userId } = await store.identity.addUser({ email: 'ada@b.example', role: 'Clerk', level: 'admin' });
  const all = { browse: true, read: true, edit: true, add: true, delete: true, export: true };
  await store.permissions.setRole('Clerk', { '*': all });
  const { renderingId } = (await store.permissions.caller(userId))!;
  const workers: Worker[] = [];
  let made = 0;
  let named = 0;
  return {
    store,
    tables: tables.knex,
    served: served.knex,
    userId,
    storageUrl: storage.url,
    servedUrl: database.url,
    async publish(steps, more = {}) {
      const definition = parseDefinition({ name: `flow ${++named}`, collection: 'orders', steps, ...more });
      const { name, collection, concurrency = null } = definition;
      const wish = { renderingId, name, collection, concurrency, by: userId };
      return store.workflows.publish({ ...wish, definition: JSON.stringify(definition) });
    },
    async orders(count) {
      const ids = Array.from({ length: count }, () => ++made);
      for (let from = 0; from < count; from += 100) {
        const rows = ids.slice(from, from + 100).map((id) => ({ id, total: 10, status: 'open' }));
        await served.knex('orders').insert(rows);
      }
      return ids.map(String);
    },
    async start(workflow, recordId) {
      const created = await store.runs.create({ workflow, recordId, userId, origin: 'webhook', originName: 'ci' });
      if (created.state !== 'created') throw new Error(`the run is ${created.state}`);
      return created.runId;
    },
    async worker(more = {}) {
      const wish: WorkerWish = { env: { ...env, ...more }, url: database.url };
      const process = fork(join(import.meta.dirname, 'worker.ts'), [JSON.stringify(wish)], {
        execArgv: ['--import', 'tsx'],
      });
      const warnings: string[] = [];
      let owner: string | undefined;
      process.on('message', (told: WorkerTold) => {
        if ('warning' in told) warnings.push(told.warning);
        if ('owner' in told) owner = told.owner;
      });
      const worker: Worker = {
        process,
        warnings,
        owner: () => owner,
        order: (order) => process.send(order),
        gone: once(process, 'exit'),
      };
      workers.push(worker);
      await Promise.race([
        once(process, 'message'),
        worker.gone.then(() => Promise.reject(new Error('a worker ended before it was ready'))),
      ]);
      return worker;
    },
    async effects() {
      const rows = (await served.knex('effects').select('order_id', 'charged').orderBy('id')) as {
        order_id: number;
        charged: string | null;
      }[];
      const counted = new Map<string, Record<Changing, number>>();
      for (const { order_id, charged } of rows) {
        const of = counted.get(`${order_id}`) ?? { change: 0, charge: 0 };
        of[charged === null ? 'change' : 'charge']++;
        counted.set(`${order_id}`, of);
      }
      return counted;
    },
    async close() {
      for (const { process, gone } of workers) {
        if (process.exitCode === null && process.signalCode === null) {
          process.kill('SIGKILL');
          await gone;
        }
      }
      await Promise.all([store.close(), tables.close(), served.close()]);
      await Promise.all([storage.drop(), database.drop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
