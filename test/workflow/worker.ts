// A process that executes runs: storage, engine, executor and queue, wired like the server, without HTTP.
// It counts points: before and after every storage call that moves a run, the hooks around a change, and
// the code of an action. At the requested point it kills itself with SIGKILL, without cleanup.
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import type { Observation } from '../../src/core/observe.ts';
import { openWorkflows } from '../../src/server/workflows/workflows.ts';
import { openStore } from '../../src/store/open.ts';
import type { Runs } from '../../src/store/workflows/types.ts';

export interface WorkerWish {
  readonly env: Readonly<Record<string, string>>;
  /** The URL of the served database. */
  readonly url: string;
}
/** `dieAt`: the worker kills itself at this point, by number or name. `stop`: it drains and exits. */
export type WorkerOrder = { readonly go: true; readonly dieAt?: number | string } | { readonly stop: true };
export type WorkerTold = { readonly ready: true } | { readonly warning: string } | { readonly owner: string };

const { env, url } = JSON.parse(process.argv[2]!) as WorkerWish;
const tell = (told: WorkerTold): void => void process.send?.(told);
const observe = (one: Observation): void => {
  if (one.type === 'warning') tell({ warning: `${one.message} ${one.cause ?? ''}` });
};
let passed = 0;
let dieAt: number | string = Number.POSITIVE_INFINITY;

function pass(point: string): void {
  if (++passed !== dieAt && point !== dieAt) return;
  process.kill(process.pid, 'SIGKILL');
  throw new Error(`killed at ${point}`);
}

/** Counts two points for each call of these methods. */
function counted<T extends object>(part: T, names: readonly (keyof T & string)[]): T {
  const around =
    (name: string, call: (...args: unknown[]) => Promise<unknown>) =>
    async (...args: unknown[]) => {
      pass(`before ${name}`);
      const answer = await call(...args);
      pass(`after ${name}`);
      return answer;
    };
  const isCounted = (name: string) => (names as readonly string[]).includes(name);
  const entries = Object.entries(part).map(([name, call]) => [name, isCounted(name) ? around(name, call) : call]);
  return Object.fromEntries(entries) as T;
}

/** Counts the storage calls that move a run. */
function watched(runs: Runs): Runs {
  const moving = ['create', 'claim', 'begin', 'finish', 'wait', 'fail', 'release'] as const;
  const { claim, ...others } = counted(runs, moving);
  return {
    ...others,
    claim(wish) {
      tell({ owner: wish.owner });
      return claim(wish);
    },
  };
}

const config = loadConfig({ env });
const opened = await openStore({ config, observe, clock: systemClock });
// Only automatic starts call these.
const starting = ['claimOccurrence', 'put', 'confirm', 'choose', 'settle'] as const;
const store = { ...opened, runs: watched(opened.runs), startRules: counted(opened.startRules, starting) };
const agent = createHeadlessAgent();
agent.addDataSource(() => createSqlSource(url, { clock: systemClock, observe }));
agent.customizeCollection('orders', (orders) =>
  orders
    .addHook('Before', 'Update', () => pass('before an update'))
    .addHook('After', 'Update', () => pass('after an update'))
    .addAction('Charge', {
      scope: 'Single',
      async execute(context, result) {
        pass('before an action');
        await context.collection.update(context.filter, { charged: 'yes' });
        pass('after an action');
        return result.success('Charged');
      },
    }),
);
const engine = await agent.createEngine({
  observe,
  clock: systemClock,
  limits: { pageSizeLimit: 100, queryTimeoutMs: 10_000 },
});
const rooms = openWorkflows({
  config,
  store,
  engine,
  sendWebhook: async () => 200,
  clock: systemClock,
  observe,
});

let began: Promise<void> | undefined;
let isStopping = false;
// Exits if the parent process is gone, because it can no longer stop this one.
process.on('disconnect', () => {
  if (!isStopping) process.exit(1);
});
process.on('message', async (order: WorkerOrder) => {
  if ('go' in order) {
    dieAt = order.dieAt ?? dieAt;
    began = rooms.start();
    return;
  }
  isStopping = true;
  await began;
  await rooms.stop(10_000);
  await engine.close();
  await opened.close();
  process.disconnect();
});
tell({ ready: true });
