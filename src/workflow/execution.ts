// One run, from where it stands to where it can go no further: it ends, waits for a person, or is no longer ours. Every step is
// executed with what its user may do at that moment. A step that changes something is marked in the run and in the activity
// log before it is done; whoever finds such a mark after a crash asks a person, and does nothing again by himself. What the
// storage fails at is left as it stands, for whoever takes the run over when its lease ends.
import type { SendWebhook } from '../agent/actions/results.ts';
import type { Engine } from '../agent/engine.ts';
import type { Access } from '../core/caller.ts';
import type { StopSignal } from '../core/clock/stop.ts';
import type { Clock } from '../core/clock.ts';
import { AppError, isAppError, toAppError } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { randomId } from '../core/secret.ts';
import type { Store } from '../store/store.ts';
import type { Claim, Hold, Run, RunStep } from '../store/workflow-types.ts';
import { firstStep, readDefinition, stepOf, type WorkflowDefinition, type WorkflowStep } from './definition.ts';
import { failureOf, isPassing, isUncertain } from './failure.ts';
import { createRunLog } from './run-log.ts';
import type { Answer, Answered, Asked } from './steps/asked.ts';
import type { Changes, Done, StepCall, StepHandler, StepHandlers, StepResult, Waits } from './steps/step.ts';

/** The most steps that one run executes: a workflow may go in circles. */
export const STEPS_OF_A_RUN = 200;
const WAIT_SECONDS = 7 * 86_400;
/** How often a step is begun on rights that do not change under it. */
const ATTEMPTS = 5;
/** Between attempts at what does not answer at the moment. */
const PAUSES_MS = [500, 2000, 5000];

export interface ExecutionParts {
  readonly store: Pick<Store, 'workflows' | 'runs' | 'permissions' | 'activity'>;
  readonly engine: Engine;
  readonly handlers: StepHandlers;
  readonly sendWebhook: SendWebhook;
  readonly clock: Clock;
  readonly observe: Observe;
}

/** How the run is held, as its heartbeat knows. `leaving`: it is put back before its next step. */
export interface Holding {
  readonly state: Hold | 'leaving';
  /** Given when nothing may be written any more. */
  readonly signal: StopSignal;
}

/** Never rejects. */
export type ExecuteRun = (claim: Claim, holding: Holding) => Promise<void>;

interface Working {
  readonly claim: Claim;
  readonly run: Run;
  readonly definition: WorkflowDefinition;
  readonly holding: Holding;
  readonly steps: RunStep[];
}

/** The next step, or that nothing is left to do here. */
type Next = { readonly to: string } | 'left';

export function createExecution(parts: ExecutionParts): ExecuteRun {
  const { store, engine, clock, observe } = parts;
  const { runs } = store;
  const log = createRunLog(store.activity, clock);

  /** FORBIDDEN once the user may not go on with it. */
  const accessOf = async (run: Run): Promise<Access> => {
    const access = await store.permissions.accessOf(run.userId);
    const isSame = access?.caller.renderingId === run.renderingId && access.can('browse', run.collection);
    if (access && isSame) return access;
    const why = 'the user of the run is disabled, is of another team now, or no longer sees the collection.';
    throw new Failure(new AppError('FORBIDDEN', { verb: 'run workflows on', collection: run.collection, why }));
  };

  const definitionOf = async ({ workflowId, version, name }: Run): Promise<WorkflowDefinition> => {
    const text = await store.workflows.definition(workflowId, version);
    const gone = new AppError('STEP_FAILED', { step: name, problem: 'the definition of the workflow is gone.' });
    if (text === undefined) throw new Failure(gone);
    return deciding(undefined, () => readDefinition(JSON.parse(text)));
  };

  const wait = async (
    { claim, run }: Working,
    step: WorkflowStep,
    { reason, asked }: Pick<Waits, 'reason' | 'asked'>,
    position: number | undefined,
  ): Promise<Next> => {
    const seconds = ('waitSeconds' in step ? step.waitSeconds : undefined) ?? WAIT_SECONDS;
    const hold = await runs.wait(claim, {
      ...(position !== undefined && { position }),
      stepId: step.id,
      reason,
      outcome: { type: step.type },
      data: asked,
      until: clock.now() + seconds * 1000,
    });
    // It was asked to end in this moment, and nobody works at it any more.
    if (hold === 'cancel' && (await runs.cancel(run.id, run.userId))) log.tell(run, 'abortWorkflow');
    return 'left';
  };

  const endCancelled = async ({ claim, run }: Working): Promise<'left'> => {
    if (await runs.endCancelled(claim)) log.tell(run, 'abortWorkflow');
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
    const told = { stepId: step.id, state, outcome, ...(data !== undefined && { data }), next } as const;
    const hold =
      position === undefined
        ? await runs.finish(claim, told)
        : // With a position it is the same however often it is said, and what was done should be known.
          await insist(clock, holding, () => runs.finish(claim, { ...told, position }));
    if (hold === 'lost') return 'left';
    log.tell(run, 'completeWorkflowStep', { step: step.id });
    const now = clock.now();
    const open = steps.findIndex((each) => each.position === position);
    const known = steps[open] ?? { startedAt: now, answeredBy: null, answer: undefined };
    const at = position ?? (steps.at(-1)?.position ?? 0) + 1;
    const kept: RunStep = { ...known, position: at, stepId: step.id, state, finishedAt: now, outcome, data };
    steps.splice(open < 0 ? steps.length : open, open < 0 ? 0 : 1, kept);
    if (next === null) {
      log.tell(run, 'completeWorkflow');
      return 'left';
    }
    // It was asked to end while the step worked.
    if (hold === 'cancel') return endCancelled(working);
    return { to: next };
  };

  /** The mark, the rights once more, and only then the change. */
  const change = async (
    working: Working,
    step: WorkflowStep,
    { make, ...subject }: Changes,
    at: { readonly access: Access; readonly position: number | undefined },
  ): Promise<Next | { readonly again: number }> => {
    const { claim, run, holding, steps } = working;
    const position = await runs.begin(claim, step.id, at.position);
    if (position === 'lost') return 'left';
    if (position === 'cancel') return endCancelled(working);
    const intent = await log.begin(run, step.id, subject);
    if ((await deciding(position, () => accessOf(run))) !== at.access) {
      await intent.complete({ outcome: 'failed', code: 'APPROVAL_OVERTAKEN' });
      return { again: position };
    }
    let done: Done;
    try {
      done = await make(holding.signal);
    } catch (thrown) {
      const failure = toAppError(thrown, randomId());
      const unsure = isUncertain(failure);
      if (!unsure) await intent.complete({ outcome: 'failed', code: failure.code });
      // Whoever takes the run over finds the mark.
      if (holding.signal.aborted) return 'left';
      if (!unsure) throw new Failure(failure, position);
      observe({ type: 'warning', message: `A step of the workflow '${run.name}' may be done or not.`, cause: thrown });
      const before = steps.find((each) => each.position === position);
      return wait(working, step, { reason: 'uncertain', asked: uncertainOf(before) }, position);
    }
    await intent.complete({ outcome: 'completed' });
    return finish(working, step, done, position);
  };

  /** What a person said of a change that was cut off. */
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

  /** What the step answers; what does not answer at the moment is asked again. */
  const handle = async (call: StepCall, position: number | undefined): Promise<StepResult> => {
    const handler = parts.handlers[call.step.type] as StepHandler;
    for (let attempt = 0; ; attempt++) {
      try {
        return await handler(call);
      } catch (thrown) {
        const pause = PAUSES_MS[attempt];
        const failure = toAppError(thrown, randomId());
        if (pause === undefined || !isPassing(failure) || call.signal.aborted) throw new Failure(failure, position);
        await clock.sleep(pause, call.signal).catch(() => undefined);
      }
    }
  };

  const executeStep = async (working: Working, step: WorkflowStep): Promise<Next> => {
    const { run, steps, holding, definition } = working;
    const { signal } = holding;
    const open = openOf(steps, step.id);
    let position = open?.position;
    let answered: Answered | undefined;
    if (open?.state === 'begun') {
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
      const call = { step, definition, run, access, engine, clock, signal, steps, answered, sendWebhook };
      const result = await handle(call, position);
      if (signal.aborted) return 'left';
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

  const go = async (claim: Claim, holding: Holding): Promise<void> => {
    const { run } = claim;
    const definition = await definitionOf(run);
    const working: Working = { claim, run, definition, holding, steps: [...claim.steps] };
    const { steps } = working;
    for (let next: Next = { to: run.stepId ?? firstStep(definition) }; next !== 'left'; ) {
      if (holding.state === 'lost') return;
      if (holding.state === 'cancel') return void (await endCancelled(working));
      if (holding.state === 'leaving') return void (await runs.release(claim));
      const step = stepOf(definition, next.to);
      if (!step) throw new Failure(new AppError('STEP_FAILED', { step: next.to, problem: 'there is no such step.' }));
      if (!openOf(steps, step.id) && steps.length >= STEPS_OF_A_RUN) {
        throw new Failure(new AppError('TOO_MANY_STEPS', { limit: STEPS_OF_A_RUN }));
      }
      next = await executeStep(working, step);
    }
  };

  const end = async (claim: Claim, { failure, position }: Failure): Promise<void> => {
    const { run } = claim;
    if (isAppError(failure, 'INTERNAL')) {
      const { requestId } = failure.details;
      observe({ type: 'failure', where: `workflow ${run.name}`, requestId, cause: failure.cause });
    }
    const told = await runs.fail(claim, { ...failureOf(failure), ...(position !== undefined && { position }) });
    if (told) log.tell(run, 'abortWorkflow', { code: failure.code });
  };

  return async (claim, holding) => {
    try {
      await go(claim, holding).catch((thrown: unknown) => {
        if (!(thrown instanceof Failure)) throw thrown;
        if (holding.signal.aborted) return undefined;
        return end(claim, thrown);
      });
    } catch (cause) {
      observe({ type: 'warning', message: `A run of '${claim.run.name}' is left to whoever takes it over.`, cause });
    }
  };
}

/** What ends a run, as against what the storage fails at. */
class Failure extends Error {
  readonly failure: AppError;
  /** Of the step that is told to have failed, where it has a place. */
  readonly position: number | undefined;

  constructor(failure: AppError, position?: number) {
    super(failure.message, { cause: failure });
    this.failure = failure;
    this.position = position;
  }
}

/** What our own code decides is a failure of the step. */
async function deciding<T>(position: number | undefined, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    if (thrown instanceof Failure) throw new Failure(thrown.failure, position);
    if (isAppError(thrown, 'INVALID_ARGUMENT')) throw new Failure(thrown, position);
    throw thrown;
  }
}

/** The step that a run stands at, where it was begun or waits. */
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

/** Says it again while the storage does not answer and the run is held. */
async function insist<T>(clock: Clock, holding: Holding, say: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await say();
    } catch (error) {
      const pause = PAUSES_MS[attempt];
      if (pause === undefined || holding.signal.aborted) throw error;
      await clock.sleep(pause, holding.signal).catch(() => undefined);
    }
  }
}
