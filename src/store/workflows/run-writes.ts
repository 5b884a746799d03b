// Writes of the executor that holds a run. Every write begins with one conditional update by owner and fence, first for
// a run without a cancellation request. Only if it matches no row, a second one checks whether the run was cancelled or
// lost. Steps that only read are stored with the next write (`passed`), which saves them a transaction.
import type { Clock } from '../../core/clock.ts';
import type { PreparedStatements } from '../database/prepared-statements.ts';
import type { Statement } from '../database/statement-groups.ts';
import type { Claim, LeaseState, PassedStep, Runs } from './types.ts';

type Value = string | number | null;
/** An SQL expression with its values, in place of a value. */
type Raw = Statement;
type Values = Readonly<Record<string, Value | Raw>>;
type Mark = Pick<Claim, 'run' | 'owner' | 'fence'>;

interface RunWriteParts {
  readonly statements: PreparedStatements;
  readonly clock: Clock;
  readonly seal: (value: unknown) => string | null;
}

type RunWrites = Pick<Runs, 'renew' | 'begin' | 'finish' | 'wait' | 'fail' | 'endCancelled' | 'release'>;

/** The assignments of a `SET` clause. */
export const setsOf = (values: Values): { readonly sql: string; readonly values: readonly Value[] } => {
  const all = Object.entries(values);
  const isRaw = (value: Value | Raw): value is Raw => typeof value === 'object' && value !== null;
  return {
    sql: all.map(([column, value]) => `${column} = ${isRaw(value) ? value.sql : '?'}`).join(', '),
    values: all.flatMap(([, value]) => (isRaw(value) ? value.values : [value])),
  };
};

/** Clears the columns of an active run and schedules the callback. */
export const ending = (now: number): Values => ({
  reason: null,
  step_id: null,
  active_key: null,
  due_at: null,
  answer_by: null,
  owner: null,
  finished_at: now,
  callback_at: {
    sql: "CASE WHEN origin = 'webhook' AND EXISTS (SELECT 1 FROM workflows w WHERE w.id = workflow_runs.workflow_id AND w.callback_url IS NOT NULL) THEN CAST(? AS DECIMAL(20)) ELSE NULL END",
    values: [now],
  },
});

const stepColumns = ['run_id', 'position', 'step_id', 'state', 'started_at', 'finished_at', 'outcome', 'sealed'];

interface StepRow {
  readonly stepId: string;
  readonly state: string;
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly outcome: Readonly<Record<string, unknown>>;
  readonly sealed: string | null;
}

/** Inserts consecutive steps. The last one gets the new position of the run. */
function insertSteps(runId: string, rows: readonly StepRow[]): readonly Statement[] {
  if (rows.length === 0) return [];
  const placeholders = rows.map(
    (_, at) => `(?, (SELECT position FROM workflow_runs WHERE id = ?) - ${rows.length - 1 - at}, ?, ?, ?, ?, ?, ?)`,
  );
  const values = rows.flatMap(({ stepId, state, startedAt, finishedAt, outcome, sealed }) => [
    ...[runId, runId, stepId, state, startedAt, finishedAt],
    ...[JSON.stringify(outcome), sealed],
  ]);
  const sql = `INSERT INTO workflow_run_steps (${stepColumns.join(', ')}) VALUES ${placeholders.join(', ')}`;
  return [{ sql, values, merge: 'rows' }];
}

function updateStep(runId: string, position: number, values: Values): Statement {
  const set = setsOf(values);
  const sql = `UPDATE workflow_run_steps SET ${set.sql} WHERE run_id = ? AND position = ?`;
  return { sql, values: [...set.values, runId, position], merge: { by: 'run_id' } };
}

export function createRunWrites({ statements, clock, seal }: RunWriteParts): RunWrites {
  const rowsOf = (passed: readonly PassedStep[]): StepRow[] =>
    passed.map(({ stepId, state, outcome, data, at }) => {
      return { stepId, state, outcome, sealed: seal(data), startedAt: at, finishedAt: at };
    });

  /**
   * Updates the run while it is held, and runs the other statements. `as`: requires a cancellation request, its
   * absence, or neither.
   */
  const write = (
    { run, owner, fence }: Mark,
    values: Values,
    rest: readonly Statement[],
    as: 'held' | 'cancel' | 'either' = 'either',
  ): Promise<boolean> => {
    const set = setsOf({ ...values, updated_at: clock.now() });
    const cancelCondition = { held: ' AND cancelled_by IS NULL', cancel: ' AND cancelled_by IS NOT NULL', either: '' }[
      as
    ];
    const sql = `UPDATE workflow_runs SET ${set.sql} WHERE id = ? AND owner = ? AND fence = ? AND state = 'running'${cancelCondition}`;
    return statements.run({ sql, values: [...set.values, run.id, owner, fence], merge: { by: 'id' } }, ...rest);
  };
  const moved = (by: number): Values => (by === 0 ? {} : { position: { sql: `position + ${by}`, values: [] } });

  type Write = (mark: Mark, values: Values, rest: readonly Statement[]) => Promise<LeaseState>;
  /** Writes even when cancellation was requested. */
  const writeStep: Write = async (mark, values, rest) => {
    if (await write(mark, values, rest, 'held')) return 'held';
    return (await write(mark, values, rest, 'cancel')) ? 'cancel' : 'lost';
  };
  /** Does not write when cancellation was requested. The run remains held until its holder or a later one ends it. */
  const proceed: Write = async (mark, values, rest) => {
    if (await write(mark, values, rest, 'held')) return 'held';
    return (await write(mark, {}, [], 'cancel')) ? 'cancel' : 'lost';
  };

  return {
    renew: (claim, leaseMs) => writeStep(claim, { due_at: clock.now() + leaseMs }, []),
    async begin(claim, stepId, position, passed = [], last) {
      const { id } = claim.run;
      const rows = rowsOf(passed);
      const begun = { stepId, state: 'begun', startedAt: clock.now(), finishedAt: null, outcome: {}, sealed: null };
      const isNew = position === undefined;
      const steps = isNew
        ? insertSteps(id, [...rows, begun])
        : [updateStep(id, position, { state: 'begun' }), ...insertSteps(id, rows)];
      const values = { ...moved(rows.length + (isNew ? 1 : 0)), step_id: stepId, lost_leases: 0 };
      // Read before the mark: if the read fails, no step has started. Only the holder changes the position.
      const at = position ?? (last ?? (await positionOf(id)) + rows.length) + 1;
      const leaseState = await proceed(claim, values, steps);
      return leaseState === 'held' ? at : leaseState;
    },
    finish(claim, { state, outcome, data, next, stepId, position, passed = [] }) {
      const now = clock.now();
      const run = next === null ? { ...ending(now), state: 'succeeded' } : { step_id: next };
      const sealed = seal(data);
      const step = { state, outcome: JSON.stringify(outcome), sealed, finished_at: now };
      const settledStep = { stepId, position, step, state, outcome, sealed, finishedAt: now };
      return writeStep(claim, ...stepWrite(claim, run, passed, settledStep));
    },
    wait(claim, { reason, outcome, data, until, stepId, position, passed = [] }) {
      const run = { state: 'awaiting-input', reason, step_id: stepId, owner: null, due_at: until, answer_by: until };
      const sealed = seal(data);
      const state = 'waiting';
      const step = { state, outcome: JSON.stringify(outcome), sealed, answered_by: null, answer: null };
      const settledStep = { stepId, position, step, state, outcome, sealed, finishedAt: null };
      return proceed(claim, ...stepWrite(claim, run, passed, settledStep));
    },
    fail(claim, { position, code, message, data, passed = [] }) {
      const now = clock.now();
      const failure = { code: code.slice(0, 60), message: message.slice(0, 500) };
      const values = {
        ...moved(passed.length),
        ...ending(now),
        step_id: claim.run.stepId,
        state: 'failed',
        ...failure,
      };
      const more = data === undefined ? {} : { sealed: seal(data) };
      const step =
        position === undefined
          ? []
          : [updateStep(claim.run.id, position, { state: 'failed', finished_at: now, ...more })];
      return write(claim, values, [...step, ...insertSteps(claim.run.id, rowsOf(passed))]);
    },
    endCancelled(claim, passed = []) {
      const values = { ...moved(passed.length), ...ending(clock.now()), state: 'cancelled' };
      return write(claim, values, insertSteps(claim.run.id, rowsOf(passed)));
    },
    release(claim, next, passed = []) {
      const at = next === undefined ? {} : { step_id: next };
      const values = { ...moved(passed.length), ...at, state: 'queued', owner: null, due_at: clock.now() };
      return write(claim, values, insertSteps(claim.run.id, rowsOf(passed)));
    },
  };

  interface SettledStep extends Omit<StepRow, 'startedAt'> {
    readonly position: number | undefined;
    /** New values for the step at its position. */
    readonly step: Values;
  }

  /** The changes of the run and of its steps. */
  function stepWrite(
    { run: { id } }: Mark,
    run: Values,
    passed: readonly PassedStep[],
    { position, step, ...row }: SettledStep,
  ): [values: Values, rest: readonly Statement[]] {
    const rows = rowsOf(passed);
    const mark = position === undefined ? [] : [updateStep(id, position, step)];
    if (position === undefined) rows.push({ ...row, startedAt: clock.now() });
    return [{ ...moved(rows.length), ...run, lost_leases: 0 }, [...mark, ...insertSteps(id, rows)]];
  }

  async function positionOf(id: string): Promise<number> {
    const sql = 'SELECT position FROM workflow_runs WHERE id = ?';
    return (await statements.read<{ position: number }>({ sql, values: [id] }))[0]?.position ?? 0;
  }
}
