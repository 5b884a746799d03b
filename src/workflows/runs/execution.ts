// Executes one run until it ends, waits for a person, or loses its lease. Every step uses the current permissions of
// the run's user. Before a step changes data, it is marked as begun in the run and in the activity log. If a crash
// leaves a step begun, the run asks a person instead of repeating it. When the storage fails, the run remains
// unchanged. Another process continues it after the lease expires.

import { LRUCache } from 'lru-cache';
import type { SendWebhook } from '../../agent/actions/results.ts';
import type { Engine } from '../../agent/engine.ts';
import { loggedBeside, type Written } from '../../agent/write/effects.ts';
import { createNarrowing, narrowAccess } from '../../core/caller/restrictions.ts';
import type { Access } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { AppError, toAppError } from '../../core/errors.ts';
import { reportFailure } from '../../core/observe/failures.ts';
import type { Observe } from '../../core/observe.ts';
import { randomId } from '../../core/secret.ts';
import { outcomeOfCode } from '../../store/audit/activity-outcome.ts';
import type { Store } from '../../store/store.ts';
import type { Claim, PassedStep, Run, RunStep } from '../../store/workflows/types.ts';
import {
  firstStep,
  readDefinition,
  stepOf,
  type WorkflowDefinition,
  type WorkflowStep,
  waitSecondsOf,
} from '../definition/definition.ts';
import type { Answer, Answered, Asked } from '../steps/input-request.ts';
import type { Changes, Done, StepCall, StepHandler, StepHandlers, StepResult, Waits } from '../steps/step.ts';
import { failureOf, isPassing, isUncertain } from './failure.ts';
import { createRunFiles } from './files.ts';
import { createRunLog } from './log.ts';
import type { Holding } from './retry.ts';
import { AWAY_MS, AWAY_TRIES, deciding, Failure, insist, PAUSES_MS } from './retry.ts';

/** Maximum number of steps per run, since a workflow may loop. */
export const STEPS_OF_A_RUN = 200;
/** How often a step restarts because permissions changed while it ran. */
const ATTEMPTS = 5;
/** After this many processes were lost at the same step, a person is asked. */
const LOST_LEASES_MOST = 3;
/** Interval for checking whether the run is still held during a pause. */
const NOTICE_MS = 500;
/** Steps that only read are written in batches, limited in number and time. */
const PASSED_MOST = 20;
const PASSED_MS = 1000;

export interface ExecutionParts {
  readonly store: Pick<Store, 'workflows' | 'runs' | 'permissions' | 'activity' | 'files'>;
  readonly engine: Engine;
  readonly handlers: StepHandlers;
  readonly sendWebhook: SendWebhook;
  readonly clock: Clock;
  readonly observe: Observe;
}

/** Returns 'left' if another process should continue the run. Never rejects. */
export type ExecuteRun = (claim: Claim, holding: Holding) => Promise<'left' | 'settled'>;

interface Working {
  readonly claim: Claim;
  readonly run: Run;
  readonly definition: WorkflowDefinition;
  readonly holding: Holding;
  readonly steps: RunStep[];
  /** Finished steps that only read. They are stored with the next write. */
  passed: readonly PassedStep[];
}

/** The next step, or 'left' if this process has no more work on the run. */
type Next = { readonly to: string } | 'left';

export function createExecution(parts: ExecutionParts): ExecuteRun {
  const { store, engine, clock, observe } = parts;
  const { runs } = store;
  const log = createRunLog(store.activity, clock);
  const files = createRunFiles(store.files, clock);

  /** Throws FORBIDDEN if the user may no longer continue the run. */
  const accessOf = async (run: Run): Promise<Access> => {
    const whole = await store.permissions.accessOf(run.userId);
    // A run started by an app cannot access collections that the user excluded for the app (RFC 6749 section 1.5).
    const narrowing = createNarrowing(false, run.collections);
    const access = whole && narrowing ? narrowAccess(whole, narrowing) : whole;
    const isSame = access?.caller.renderingId === run.renderingId && access.can('browse', run.collection);
    if (access && isSame) return access;
    const why = 'the user of the run is disabled, is of another team now, or no longer sees the collection.';
    throw new Failure(new AppError('FORBIDDEN', { verb: 'run workflows on', collection: run.collection, why }));
  };

  /** Versions are immutable, so the most recently used ones are cached. */
  const definitions = new LRUCache<string, WorkflowDefinition>({ max: 100 });
  const definitionOf = async ({ workflowId, version, name }: Run): Promise<WorkflowDefinition> => {
    const key = `${workflowId} ${version}`;
    const known = definitions.get(key);
    if (known) return known;
    const text = await store.workflows.definition(workflowId, version);
    const gone = new AppError('STEP_FAILED', { step: name, problem: 'the definition of the workflow is gone.' });
    if (text === undefined) throw new Failure(gone);
    const definition = await deciding(undefined, () => readDefinition(JSON.parse(text)));
    definitions.set(key, definition);
    return definition;
  };

  /** Passed steps, to add to a write. They are logged after it commits. */
  const passedOf = ({ passed }: Working) => (passed.length > 0 ? { passed } : {});
  const tellPassed = (working: Working): void => {
    for (const { stepId } of working.passed) log.tell(working.run, 'completeWorkflowStep', { step: stepId });
    working.passed = [];
  };

  const endCancelled = async (working: Working): Promise<'left'> => {
    const { claim, run, passed } = working;
    if (await runs.endCancelled(claim, passed)) {
      tellPassed(working);
      log.tell(run, 'abortWorkflow');
      await files.drop(run.id, claim.steps.at(-1));
    }
    return 'left';
  };

  const wait = async (
    working: Working,
    step: WorkflowStep,
    { reason, asked }: Pick<Waits, 'reason' | 'asked'>,
    position: number | undefined,
  ): Promise<Next> => {
    const hold = await runs.wait(working.claim, {
      ...(position !== undefined && { position }),
      ...passedOf(working),
      stepId: step.id,
      reason,
      outcome: { type: step.type },
      data: asked,
      until: clock.now() + waitSecondsOf(step) * 1000,
    });
    // The run was cancelled before the step asked its question.
    if (hold === 'cancel') return endCancelled(working);
    if (hold === 'held') tellPassed(working);
    return 'left';
  };

  const finish = async (
    working: Working,
    step: WorkflowStep,
    done: Done,
    position: number | undefined,
  ): Promise<Next> => {
    const { claim, run, holding, steps } = working;
    const next = done.next !== undefined ? done.next : (step.next ?? null);
    const state = done.isSkipped ? 'skipped' : 'done';
    const outcome = { type: step.type, ...done.outcome };
    const { data } = done;
    const now = clock.now();
    const last = steps.at(-1)?.position ?? 0;
    if (position === undefined && maySettleLater(working, step, next)) {
      const passed = { stepId: step.id, state, outcome, ...(data !== undefined && { data }), at: now } as const;
      working.passed = [...working.passed, passed];
      const unanswered = { answeredBy: null, answer: undefined, startedAt: now, finishedAt: now };
      steps.push({ ...unanswered, position: last + 1, stepId: step.id, state, outcome, data });
      return { to: next! };
    }
    const told = { stepId: step.id, state, outcome, ...(data !== undefined && { data }), next } as const;
    const hold =
      position === undefined
        ? await runs.finish(claim, { ...told, ...passedOf(working) })
        : // A write with a position is idempotent, so it is retried until the completed change is stored.
          await insist(clock, holding, () => runs.finish(claim, { ...told, position }));
    if (hold === 'lost') return 'left';
    tellPassed(working);
    log.tell(run, 'completeWorkflowStep', { step: step.id });
    const open = steps.findIndex((each) => each.position === position);
    const known = steps[open] ?? { startedAt: now, answeredBy: null, answer: undefined };
    const at = position ?? last + 1;
    const kept: RunStep = { ...known, position: at, stepId: step.id, state, finishedAt: now, outcome, data };
    steps.splice(open < 0 ? steps.length : open, open < 0 ? 0 : 1, kept);
    if (next === null) {
      log.tell(run, 'completeWorkflow');
      return 'left';
    }
    // The run was cancelled while the step was running.
    if (hold === 'cancel') return endCancelled(working);
    return { to: next };
  };

  /** Marks the step as begun, checks the permissions again, and then makes the change. */
  const change = async (
    working: Working,
    step: WorkflowStep,
    { make, ...subject }: Changes,
    at: { readonly access: Access; readonly position: number | undefined },
  ): Promise<Next | { readonly again: number }> => {
    const { claim, run, holding, steps } = working;
    const position = await runs.begin(claim, step.id, at.position, working.passed);
    if (position === 'lost') return 'left';
    if (position === 'cancel') return endCancelled(working);
    tellPassed(working);
    const intent = await log.begin(run, step.id, subject);
    const now = await deciding(position, () => accessOf(run)).catch(async (refused: unknown) => {
      // The change was not made. Without this entry, its outcome would be recorded as unknown.
      if (refused instanceof Failure) await intent.complete(outcomeOfCode(refused.failure.code));
      throw refused;
    });
    if (now !== at.access) {
      await intent.complete(outcomeOfCode('APPROVAL_OVERTAKEN'));
      return { again: position };
    }
    let done: Done;
    const written: Written[] = [];
    const besides = () =>
      loggedBeside(written, subject.collection ?? run.collection, subject.recordIds ?? [run.recordId]);
    try {
      done = await make({ signal: holding.signal, written });
    } catch (thrown) {
      const failure = toAppError(thrown, randomId());
      const unsure = isUncertain(failure);
      if (!unsure) await intent.complete({ ...outcomeOfCode(failure.code), ...besides() });
      // The process that takes over the run finds the step begun.
      if (holding.signal.aborted) return 'left';
      if (!unsure) throw new Failure(failure, position);
      // Writes through Portico are known, even when other effects are not.
      await intent.complete({ outcome: 'unknown', code: failure.code, ...besides() });
      reportFailure(observe, `workflow ${run.name}`, failure);
      observe({
        type: 'warning',
        message: `A step of the workflow '${run.name}' may be done or not (${failure.code}).`,
      });
      const before = steps.find((each) => each.position === position);
      return wait(working, step, { reason: 'uncertain', asked: uncertainOf(before) }, position);
    }
    const { fails, data } = done;
    if (fails) reportFailure(observe, `workflow ${run.name}`, fails);
    await insist(clock, holding, () => intent.complete({ ...outcomeOfCode(fails?.code), ...besides() }));
    if (fails && done.next === undefined) throw new Failure(fails, position, data);
    return finish(working, step, done, position);
  };

  /** Handles a person's decision about an interrupted change. */
  const settle = async (
    working: Working,
    step: WorkflowStep,
    { position }: RunStep,
    { decision }: Answer,
  ): Promise<Next | 'again'> => {
    if (decision === 'again') return 'again';
    if (decision === 'end') throw new Failure(new AppError('STEP_UNCERTAIN', { step: step.id }), position);
    return finish(working, step, { kind: 'done', outcome: { doneBy: 'person' } }, position);
  };

  /**
   * Calls the handler of the step. Retries temporary failures, unless this process should no longer continue the run.
   */
  const handle = async (
    call: StepCall,
    holding: Holding,
    position: number | undefined,
  ): Promise<StepResult | 'not held'> => {
    const handler = parts.handlers[call.step.type] as StepHandler;
    for (let attempt = 0; ; attempt++) {
      try {
        return await handler(call);
      } catch (thrown) {
        const failure = toAppError(thrown, randomId());
        const isAway = failure.code === 'SOURCE_UNAVAILABLE' && attempt < PAUSES_MS.length + AWAY_TRIES;
        const pause = PAUSES_MS[attempt] ?? (isAway ? AWAY_MS : undefined);
        if (pause === undefined || !isPassing(failure) || call.signal.aborted) throw new Failure(failure, position);
        for (let left = pause; left > 0 && holding.state === 'held'; left -= NOTICE_MS) {
          await clock.sleep(Math.min(left, NOTICE_MS), call.signal).catch(() => undefined);
        }
        if (holding.state !== 'held') return 'not held';
      }
    }
  };

  const executeStep = async (working: Working, step: WorkflowStep): Promise<Next> => {
    const { run, steps, holding, definition } = working;
    const { signal } = holding;
    const open = openOf(steps, step.id);
    let position = open?.position;
    let answered: Answered | undefined;
    // Stops a step that crashes its process from crashing more of them.
    if (open?.state === 'begun' || run.lostLeases >= LOST_LEASES_MOST) {
      return wait(working, step, { reason: 'uncertain', asked: uncertainOf(open) }, position);
    }
    if (open) {
      if (open.answeredBy === null) throw new Failure(new AppError('ANSWER_TIMED_OUT', { step: step.id }), position);
      answered = { asked: open.data as Asked, answer: open.answer as Answer, by: open.answeredBy };
      const { asked, answer } = answered;
      if (asked.ask === 'uncertain') {
        const settled = await settle(working, step, open, answer);
        if (settled !== 'again') return settled;
        answered = asked.before;
      } else if (answer.decision === 'decline') {
        throw new Failure(new AppError('STEP_DECLINED', { step: step.id }), position);
      }
    }
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const access = await deciding(position, () => accessOf(run));
      const { sendWebhook } = parts;
      const call = { step, definition, run, access, engine, clock, signal, steps, answered, sendWebhook, files };
      const result = await handle(call, holding, position);
      if (signal.aborted) return 'left';
      if (result === 'not held') return { to: step.id };
      if (result.kind === 'wait') return wait(working, step, result, position);
      if (result.kind === 'done') {
        if (result.read) log.read(run, step.id, result.read);
        return finish(working, step, result, position);
      }
      const changed = await change(working, step, result, { access, position });
      if (changed === 'left' || 'to' in changed) return changed;
      position = changed.again;
    }
    throw new Failure(new AppError('NOT_READY', {}), position);
  };

  /**
   * Whether a step that only read is stored with the next write. Steps before a slow step are stored at once, to show
   * progress to viewers of the run.
   */
  const maySettleLater = ({ passed, definition }: Working, step: WorkflowStep, next: string | null): boolean => {
    const following = next === null ? undefined : stepOf(definition, next);
    if (!following || isSlow(step) || isSlow(following) || passed.length >= PASSED_MOST) return false;
    return passed.length === 0 || clock.now() - passed[0]!.at < PASSED_MS;
  };

  const go = async (working: Working): Promise<void> => {
    const { claim, run, definition, holding, steps } = working;
    for (let next: Next = { to: run.stepId ?? firstStep(definition) }; next !== 'left'; ) {
      if (holding.state === 'lost') return;
      // `run.cancelAsked` covers a cancellation before the previous owner released the run.
      if (holding.state === 'cancel' || run.cancelAsked) return void (await endCancelled(working));
      if (holding.state === 'leaving') {
        if (await runs.release(claim, next.to, working.passed)) tellPassed(working);
        return;
      }
      const step = stepOf(definition, next.to);
      if (!step) throw new Failure(new AppError('STEP_FAILED', { step: next.to, problem: 'there is no such step.' }));
      if (!openOf(steps, step.id) && steps.length >= STEPS_OF_A_RUN) {
        throw new Failure(new AppError('TOO_MANY_STEPS', { limit: STEPS_OF_A_RUN }));
      }
      next = await executeStep(working, step);
    }
  };

  const end = async (claim: Claim, working: Working | undefined, thrown: Failure): Promise<void> => {
    const { failure, position, data } = thrown;
    const { run } = claim;
    reportFailure(observe, `workflow ${run.name}`, failure);
    const at = position === undefined ? {} : { position, ...(data !== undefined && { data }) };
    const told = await runs.fail(claim, { ...failureOf(failure), ...at, ...(working && passedOf(working)) });
    if (!told) return;
    if (working) tellPassed(working);
    log.tell(run, 'abortWorkflow', { code: failure.code });
    await files.drop(run.id, claim.steps.at(-1));
  };

  return async (claim, holding) => {
    let working: Working | undefined;
    try {
      try {
        const { run, steps } = claim;
        const definition = await definitionOf(run);
        working = { claim, run, definition, holding, steps: [...steps], passed: [] };
        await go(working);
      } catch (thrown) {
        if (!(thrown instanceof Failure)) throw thrown;
        if (!holding.signal.aborted) await end(claim, working, thrown);
      }
      return 'settled';
    } catch (cause) {
      observe({ type: 'warning', message: `A run of '${claim.run.name}' is left to whoever takes it over.`, cause });
      return 'left';
    }
  };
}

/** The step may take long or cost money, so its outcome is stored at once. */
const isSlow = (step: WorkflowStep): boolean =>
  step.type === 'ai' || step.type === 'mcp' || (step.type === 'condition' && step.question !== undefined);

/** The current step of a run, if it was begun or waits. */
function openOf(steps: readonly RunStep[], id: string): RunStep | undefined {
  const last = steps.at(-1);
  return last?.stepId === id && (last.state === 'begun' || last.state === 'waiting') ? last : undefined;
}

function uncertainOf(open: RunStep | undefined): Asked {
  const asked = open?.data as Asked | undefined;
  if (!asked || open?.answeredBy == null) return { ask: 'uncertain' };
  if (asked.ask === 'uncertain') return asked;
  return { ask: 'uncertain', before: { asked, answer: open.answer as Answer, by: open.answeredBy } };
}
