// What a worker learns from the heartbeat of its run: a cancellation,
// or the loss of its lease. The tests trigger the heartbeat.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { dropSpares } from '../store/spares.ts';
import { cleanUpAfterAll, variants } from '../store/stores.ts';
import { openWorkflowServer, type WorkflowTestServer } from './workflow-server.ts';

afterAll(dropSpares);
cleanUpAfterAll();

/** Equal to those of the executor. */
const [RENEW_MS, LEASE_MS] = [10_000, 30_000];

let hearts: (() => void)[] = [];
let beaten: () => void = () => undefined;
const clock: Clock = {
  ...systemClock,
  after(ms, run) {
    if (ms !== RENEW_MS) return systemClock.after(ms, run);
    hearts.push(run);
    beaten();
    return () => {
      hearts = hearts.filter((one) => one !== run);
    };
  },
};
/** Resolves after an attempt to renew the lease. */
const beat = (): Promise<void> =>
  new Promise((resolve) => {
    beaten = resolve;
    for (const run of hearts.splice(0)) run();
  });

/** An action that has begun: its signal, and a function that completes it. */
interface Work {
  readonly signal: AbortSignal;
  end(): void;
}
let begun: (work: Work) => void;
let work: Promise<Work>;

let at: WorkflowTestServer;
beforeAll(async () => {
  at = await openWorkflowServer(variants[0]!, {
    parts: { clock },
    customize: (agent) =>
      agent.customizeCollection('orders', (orders) =>
        orders.addAction('slow', {
          scope: 'Single',
          execute: async ({ signal }, result) => {
            await new Promise<void>((end) => begun({ signal, end }));
            return result.success();
          },
        }),
      ),
  });
});
afterAll(() => at.close());
beforeEach(() => {
  hearts = [];
  work = new Promise((resolve) => {
    begun = resolve;
  });
});

const steps = [
  { id: 'slow', type: 'trigger-action', action: 'slow', mode: 'automatic', next: 'look' },
  { id: 'look', type: 'read-record', fields: ['id'] },
];
const access = async () => (await at.store.permissions.accessOf(at.userId))!;

test.each([
  ['noticed by the heartbeat', true],
  ['noticed at the end of the step', false],
])('a run that is cancelled during a step ends after that step, %s', async (_, beats) => {
  const id = await at.start(await at.publish(steps), '1');
  const going = at.go(id);
  const { end, signal } = await work;
  expect(await at.room.cancel(await access(), id)).toBe(true);
  if (beats) await beat();
  expect(await at.store.runs.find(id)).toMatchObject({ state: 'running', cancelAsked: true });
  // An action that has begun runs to its end, so its outcome is known.
  expect(signal.aborted).toBe(false);
  end();
  expect(await going).toMatchObject({ state: 'cancelled', position: 1 });
  expect(await at.steps(id)).toMatchObject([{ stepId: 'slow', state: 'done' }]);
  await at.store.activity.flush();
  const entries = await at.store.activity.list({ limit: 20 });
  const told = entries.filter(({ workflow, action }) => workflow?.runId === id && action !== 'action');
  expect(told.map(({ action }) => action).reverse()).toEqual(['completeWorkflowStep', 'abortWorkflow']);
});

test('a run that is cancelled just before it waits ends, and its end is logged', async () => {
  const guidance = { id: 'ask', type: 'guidance', text: 'Look.' };
  const id = await at.start(await at.publish([guidance]), '1');
  const [claim] = await at.store.runs.claim({ owner: at.executor.owner, leaseMs: LEASE_MS, limit: 1, ids: [id] });
  expect(await at.room.cancel(await access(), id)).toBe(true);
  await at.executor.execute(claim!);
  expect(await at.store.runs.find(id)).toMatchObject({ state: 'cancelled' });
  await at.store.activity.flush();
  const entries = await at.store.activity.list({ limit: 20 });
  expect(entries.filter(({ workflow }) => workflow?.runId === id).map(({ action }) => action)).toEqual([
    'abortWorkflow',
  ]);
});

test('a cancelled run that another process takes over executes no further step', async () => {
  const id = await at.start(await at.publish([steps[1]!]), '1');
  await at.store.runs.claim({ owner: 'gone', leaseMs: -1, limit: 1, ids: [id] });
  expect(await at.room.cancel(await access(), id)).toBe(true);
  expect(await at.go(id)).toMatchObject({ state: 'cancelled', position: 0 });
  expect(await at.steps(id)).toEqual([]);
});

test('a run that is cancelled before a change keeps the read steps before it', async () => {
  const id = await at.start(
    await at.publish([
      { ...steps[1]!, next: 'slow' },
      { ...steps[0]!, next: null },
    ]),
    '1',
  );
  const [claim] = await at.store.runs.claim({ owner: at.executor.owner, leaseMs: LEASE_MS, limit: 1, ids: [id] });
  expect(await at.room.cancel(await access(), id)).toBe(true);
  const before = at.ends();
  await at.executor.execute(claim!);
  expect(await at.store.runs.find(id)).toMatchObject({ state: 'cancelled', position: 1 });
  expect(await at.steps(id)).toMatchObject([{ stepId: 'look', state: 'done' }]);
  expect(at.ends()).toBe(before + 1);
});

test.each([
  ['was signalled to stop', true],
  ['does not know yet', false],
])('a process that lost a run writes nothing more of it, if it %s', async (_, beats) => {
  const id = await at.start(await at.publish(steps), '2');
  const going = at.go(id);
  const { end, signal } = await work;
  await beat();
  expect(signal.aborted).toBe(false);
  at.wait(LEASE_MS + 1);
  const [taken] = await at.store.runs.claim({ owner: 'other', leaseMs: LEASE_MS, limit: 1, ids: [id] });
  if (beats) await beat();
  expect(signal.aborted).toBe(beats);
  end();
  await going;
  expect(await at.store.runs.find(id)).toMatchObject({ state: 'running', position: 1 });
  expect(await at.steps(id)).toMatchObject([{ stepId: 'slow', state: 'begun' }]);
  // The new owner cannot know whether the step was done, and asks.
  await at.another().execute(taken!);
  expect(await at.store.runs.find(id)).toMatchObject({ state: 'awaiting-input', reason: 'uncertain' });
});
