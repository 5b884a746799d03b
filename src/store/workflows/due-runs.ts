// Finds runs that could be claimed now, for the service that distributes them to other processes. It takes no locks:
// another process may claim a run first, and the claim checks the limit of the workflow again.
import type { PreparedStatements } from '../database/prepared-statements.ts';
import type { Statement } from '../database/statement-groups.ts';
import type { DueRequest, DueRun, RunState } from './types.ts';

interface DueRow {
  readonly id: string;
  readonly fence: number;
  readonly state: RunState;
  readonly workflow_id: string;
  readonly concurrency: number | null;
  /** Number of runs of its workflow in state `running`, including those that a crash interrupted. */
  readonly working: number | string;
}

const working = "(SELECT COUNT(*) FROM workflow_runs o WHERE o.workflow_id = r.workflow_id AND o.state = 'running')";

/**
 * SQL from `FROM` on: runs `r` with their workflows `w`. Runs above the limit are left out, because they would hide the
 * ones after them.
 */
export function dueFrom(environmentId: number, now: number, ids: readonly string[] | undefined): Statement {
  const among = ids ? ` AND r.id IN (${ids.map(() => '?').join(', ') || 'NULL'})` : '';
  const sql = `FROM workflow_runs r JOIN workflows w ON w.id = r.workflow_id
WHERE r.environment_id = ? AND r.due_at <= ?${among} AND (w.concurrency IS NULL OR r.state = 'running' OR w.concurrency > ${working})`;
  return { sql, values: [environmentId, now, ...(ids ?? [])] };
}

export async function findDueRuns(
  statements: PreparedStatements,
  environmentId: number,
  now: number,
  { limit, ids }: DueRequest,
): Promise<readonly DueRun[]> {
  const from = dueFrom(environmentId, now, ids);
  const counted = `CASE WHEN w.concurrency IS NULL THEN 0 ELSE ${working} END`;
  const sql = `SELECT r.id, r.fence, r.state, r.workflow_id, w.concurrency, ${counted} AS working ${from.sql} ORDER BY r.due_at LIMIT ?`;
  const rows = await statements.read<DueRow>({ sql, values: [...from.values, limit] });
  const capacity = new Map<string, number>();
  return rows
    .filter(({ state, workflow_id, concurrency, working: at }) => {
      if (concurrency === null || state === 'running') return true;
      const left = capacity.get(workflow_id) ?? concurrency - Number(at);
      capacity.set(workflow_id, left - 1);
      return left > 0;
    })
    .map(({ id, fence }) => ({ id, fence }));
}
