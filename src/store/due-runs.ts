// Which runs could be claimed now, for what hands them to other processes. Nothing is locked: what is told may be claimed by
// somebody else a moment later, and the claim counts again what a workflow allows.
import type { Knex } from 'knex';
import type { DueRun, DueWish, RunState } from './workflow-types.ts';

interface DueRow {
  readonly id: string;
  readonly fence: number;
  readonly state: RunState;
  readonly workflow_id: string;
  readonly concurrency: number | null;
  /** How many runs of its workflow are at work, those among them that a crash left. */
  readonly working: number | string;
}

export async function findDueRuns(
  knex: Knex,
  environmentId: number,
  now: number,
  { limit, ids }: DueWish,
): Promise<readonly DueRun[]> {
  const working = () =>
    knex('workflow_runs as o').whereRaw('o.workflow_id = r.workflow_id').where('o.state', 'running').count('*');
  const query = knex('workflow_runs as r')
    .join('workflows as w', 'w.id', 'r.workflow_id')
    .where('r.environment_id', environmentId)
    .where('r.due_at', '<=', now)
    // What a limit holds back would hide what is behind it.
    .where((free) =>
      free.whereNull('w.concurrency').orWhere('r.state', 'running').orWhere('w.concurrency', '>', working()),
    )
    .orderBy('r.due_at')
    .limit(limit)
    .select('r.id', 'r.fence', 'r.state', 'r.workflow_id', 'w.concurrency', { working: working() });
  if (ids) query.whereIn('r.id', ids);
  const room = new Map<string, number>();
  return ((await query) as DueRow[])
    .filter(({ state, workflow_id, concurrency, working: at }) => {
      if (concurrency === null || state === 'running') return true;
      const left = room.get(workflow_id) ?? concurrency - Number(at);
      room.set(workflow_id, left - 1);
      return left > 0;
    })
    .map(({ id, fence }) => ({ id, fence }));
}
