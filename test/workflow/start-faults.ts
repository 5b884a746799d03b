// Invariants of automatic starts after any crash: each order is paid by one run of the schedule, and each payment starts
// one run. The normal tests run a sample, the long tests everything.
import { expect } from 'vitest';
import type { TestServer } from '../databases.ts';
import { pause } from './faults.ts';
import { type Field, openField, type Worker } from './field.ts';

/** Two for each storage call and one for each hook that a round passes. */
export const POINTS = 30;
const EACH = 2;

/** A schedule starts a workflow that pays orders, and each paid order starts another one. */
async function addRules(field: Field, ids: readonly string[]) {
  const { store, userId } = field;
  const pays = await field.publish([
    { id: 'pay', type: 'update-record', mode: 'automatic', values: { status: 'paid' } },
  ]);
  const follows = await field.publish([{ id: 'look', type: 'read-record', fields: ['total'] }]);
  const common = { collection: 'orders', version: 1, userId, nextAt: null };
  await store.startRules.add({
    ...{ ...common, workflowId: follows.id },
    settings: {
      ...{ kind: 'change', operations: ['update'], limit: 100 },
      filter: { field: 'status', operator: 'Equal', value: 'paid' },
    },
  });
  const filter = { field: 'id', operator: 'In', value: ids.map(Number) } as const;
  const { id } = await store.startRules.add({
    ...{ ...common, workflowId: pays.id, nextAt: Date.now() },
    settings: { kind: 'schedule', cron: '0 0 1 1 *', timezone: 'UTC', limit: 100, filter },
  });
  return { pays, follows, scheduled: id };
}

const isIdle = async ({ tables, store }: Field, rule: string): Promise<boolean> => {
  const [start] = await tables('workflow_starts').limit(1);
  const [run] = await tables('workflow_runs').whereIn('state', ['queued', 'running']).limit(1);
  const taken = ((await store.startRules.find(rule))?.nextAt ?? 0) > Date.now();
  return taken && !start && !run;
};

async function untilGone(field: Field, worker: Worker, rule: string): Promise<void> {
  let isGone = false;
  void worker.gone.then(() => {
    isGone = true;
  });
  while (!isGone) {
    // The point came after the work.
    if (await isIdle(field, rule)) worker.process.kill('SIGKILL');
    await Promise.race([worker.gone, pause(50)]);
  }
}

/** Ends all leases and waits, as time would. */
async function expire({ tables }: Field): Promise<void> {
  await tables('workflow_runs').where({ state: 'running' }).update({ due_at: 1 });
  await tables('workflow_starts').update({ due_at: 1 });
}

/** Kills a process at each of the points, and lets another one continue. */
export async function proveStartFaults(server: TestServer, points: readonly (number | string)[]): Promise<void> {
  const field = await openField(server);
  try {
    let next: Promise<Worker> = field.worker();
    for (const dieAt of points) {
      const ids = await field.orders(EACH);
      const { pays, follows, scheduled } = await addRules(field, ids);
      const worker = await next;
      next = field.worker();
      next.catch(() => undefined);
      worker.order({ go: true, dieAt });
      await untilGone(field, worker, scheduled);
      await expire(field);
      const survivor = await next;
      survivor.order({ go: true });
      await expect.poll(() => isIdle(field, scheduled), { timeout: 60_000, interval: 100 }).toBe(true);
      survivor.process.kill('SIGKILL');
      await survivor.gone;
      next = field.worker();
      next.catch(() => undefined);
      const runs = async (workflowId: string) =>
        (await field.store.runs.list({ workflowId, limit: 100 })).map(({ recordId }) => recordId).sort();
      expect({ dieAt, pays: await runs(pays.id) }).toEqual({ dieAt, pays: [...ids].sort() });
      const changed = await field.effects();
      const paid = ids.filter((id) => changed.get(id)?.change === 1).sort();
      expect({ dieAt, follows: await runs(follows.id) }).toEqual({ dieAt, follows: paid });
      for (const { id, workflowId } of await field.store.startRules.list())
        if (workflowId === pays.id || workflowId === follows.id) await field.store.startRules.delete(id, field.userId);
    }
  } finally {
    await field.close();
  }
}
