// Which runs could be claimed now, for what hands them to other processes. Nothing is locked: what is told may be claimed by
// somebody else a moment later, and the claim counts again what a workflow allows.
import type { Scripts, Statement } from './scripts.ts';
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

const working = "(SELECT COUNT(*) FROM workflow_runs o WHERE o.workflow_id = r.workflow_id AND o.state = 'running')";

/** From there: runs `r` with their workflows `w`. What a limit holds back would hide what is behind it. */
export function dueFrom(environmentId: number, now: number, ids: readonly string[] | undefined): Statement {
  const among = ids ? ` AND r.id IN (${ids.map(() => '?').join(', ') || 'NULL'})` : '';
  const sql = `FROM workflow_runs r JOIN workflows w ON w.id = r.workflow_id
WHERE r.environment_id = ? AND r.due_at <= ?${among} AND (w.concurrency IS NULL OR r.state = 'running' OR w.concurrency > ${working})`;
  return { sql, values: [environmentId, now, ...(ids ?? [])] };
}

export async function findDueRuns(
  scripts: Scripts,
  environmentId: number,
  now: number,
  { limit, ids }: DueWish,
): Promise<readonly DueRun[]> {
  const from = dueFrom(environmentId, now, ids);
  const counted = `CASE WHEN w.concurrency IS NULL THEN 0 ELSE ${working} END`;
  const sql = `SELECT r.id, r.fence, r.state, r.workflow_id, w.concurrency, ${counted} AS working ${from.sql} ORDER BY r.due_at LIMIT ?`;
  const rows = await scripts.read<DueRow>({ sql, values: [...from.values, limit] });
  const room = new Map<string, number>();
  return rows
    .filter(({ state, workflow_id, concurrency, working: at }) => {
      if (concurrency === null || state === 'running') return true;
      const left = room.get(workflow_id) ?? concurrency - Number(at);
      room.set(workflow_id, left - 1);
      return left > 0;
    })
    .map(({ id, fence }) => ({ id, fence }));
}
