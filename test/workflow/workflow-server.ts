// Workflows in tests: a storage and a shop on the same kind of database,
// and executors that take each run directly, so no test waits for polling.
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import type { Observation } from '../../src/core/observe.ts';
import type { OpenedStore } from '../../src/store/open.ts';
import type { CollectionPermission } from '../../src/store/permissions/types.ts';
import type { NewUser } from '../../src/store/users/types.ts';
import type { Run, RunStep, Workflow } from '../../src/store/workflows/types.ts';
import { parseDefinition } from '../../src/workflows/definition/definition.ts';
import { notifyOnEnd } from '../../src/workflows/runs/completion.ts';
import { createExecutor, type Executor, type ExecutorParts } from '../../src/workflows/runs/executor.ts';
import { stepHandlers } from '../../src/workflows/steps/table.ts';
import { createWorkflowService, type WorkflowService } from '../../src/workflows/workflows.ts';
import { databases, type Shop } from '../agent/shop.ts';
import { createPlace, type Place, type Variant } from '../store/stores.ts';

export const everything: CollectionPermission = {
  browse: true,
  read: true,
  edit: true,
  add: true,
  delete: true,
  export: true,
};

export interface WorkflowTestServer {
  readonly place: Place;
  readonly store: OpenedStore;
  readonly shop: Shop;
  readonly engine: Engine;
  readonly executor: Executor;
  readonly room: WorkflowService;
  readonly observed: readonly Observation[];
  /** The clock of the storage and of the executors. */
  readonly clock: Clock;
  /** The number of notifications that a run has ended. */
  ends(): number;
  /** Moves the clock of the storage and of the executors. */
  wait(ms: number): void;
  /** The default user of every run. */
  readonly userId: number;
  addUser(user: Partial<NewUser> & { readonly email: string }): Promise<number>;
  another(parts?: Partial<ExecutorParts>): Executor;
  publish(steps: readonly object[], more?: object): Promise<Workflow>;
  start(workflow: Workflow, recordId?: string, userId?: number): Promise<string>;
  /** Executes the run, and returns its new state. */
  go(runId: string): Promise<Run>;
  /** Publishes a workflow, starts it on order 1, and takes the run. */
  run(steps: readonly object[], more?: object): Promise<Run>;
  steps(runId: string): Promise<readonly RunStep[]>;
  close(): Promise<void>;
}

export interface WorkflowTestServerOptions {
  readonly customize?: (agent: HeadlessAgent) => void;
  readonly parts?: Partial<ExecutorParts>;
}

export async function openWorkflowServer(
  variant: Variant,
  options: WorkflowTestServerOptions = {},
): Promise<WorkflowTestServer> {
  let ahead = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + ahead };
  const place = await createPlace(variant);
  const silent = await place.open({ clock });
  // Wraps the store like the application does.
  let ends = 0;
  const store = { ...silent, runs: notifyOnEnd(silent.runs, () => void ends++) };
  const seller = databases.find(({ name }) => name === variant.server.dialect)!;
  const { customize } = options;
  const shop = await seller.open({ clock, ...(customize && { customize }) });
  const observed: Observation[] = [];
  const parts: ExecutorParts = {
    store,
    engine: shop.engine,
    handlers: stepHandlers(),
    sendWebhook: async () => 200,
    clock,
    observe: (one) => observed.push(one),
    maxConcurrent: 4,
    readCodeWorkflows: () => [],
    shouldPoll: () => false,
    ...options.parts,
  };
  const executor = createExecutor(parts);
  const addUser: WorkflowTestServer['addUser'] = async (user) =>
    (await store.identity.addUser({ team: 'Operations', role: 'Clerk', ...user })).id;
  const userId = await addUser({ email: 'ada@b.example', firstName: 'Ada' });
  await store.permissions.setRole('Clerk', { '*': everything });
  let made = 0;
  const opened: WorkflowTestServer = {
    place,
    store,
    shop,
    engine: shop.engine,
    executor,
    room: createWorkflowService({ store, engine: shop.engine, clock, fileLimitBytes: 1_000_000 }),
    ...{ observed, clock },
    ends: () => ends,
    wait: (ms) => {
      ahead += ms;
    },
    userId,
    addUser,
    another: (more = {}) => createExecutor({ ...parts, ...more }),
    async publish(steps, more = {}) {
      const given = { name: `flow ${++made}`, collection: 'orders', steps, ...more };
      const definition = parseDefinition(given);
      const { name, collection, concurrency = null } = definition;
      const { renderingId } = (await store.permissions.caller(userId))!;
      const wish = { renderingId, name, collection, concurrency, by: userId };
      return store.workflows.publish({ ...wish, definition: JSON.stringify(definition) });
    },
    async start(workflow, recordId = '1', by = userId) {
      const run = { workflow, recordId, userId: by, origin: 'webhook', originName: 'ci' } as const;
      const created = await store.runs.create(run);
      if (created.state !== 'created') throw new Error(`the run is ${created.state}`);
      return created.runId;
    },
    async go(runId) {
      await executor.take([runId]);
      return (await store.runs.find(runId))!;
    },
    async run(steps, more) {
      return opened.go(await opened.start(await opened.publish(steps, more)));
    },
    steps: (runId) => store.runs.steps(runId),
    async close() {
      await executor.stop(0);
      await shop.close();
    },
  };
  return opened;
}
