// Executes one run until it ends, waits for a person, or loses its lease. Every step uses the current permissions of
// the run's user. Before a step changes data, it is marked as begun in the run and in the activity log. If a crash
// leaves a step begun, the run asks a person instead of repeating it. When the storage fails, the run remains
// unchanged. Another process continues it after the lease expires.

import { LRUCache } from 'lru-cache';
import type { SendWebhook } from '../../agent/actions/results.ts';
import type { Engine } from '../../agent/engine.ts';
import { logOtherEffects, type Written } from '../../agent/write/effects.ts';
import type { WriteWatch } from '../../agent/write/watch.ts';
import { createRestrictions, restrictAccess } from '../../core/caller/restrictions.ts';
import type { Access } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { AppError, toAppError } from '../../core/errors.ts';
import { reportFailure } from '../../core/observe/failures.ts';
import type { Observe } from '../../core/observe.ts';
import { randomId } from '../../core/secret.ts';
import { outcomeOfCode } from '../../store/audit/activity.ts';
import type { Store } from '../../store/store.ts';
import type { Versions } from '../../store/version-types.ts';
import type { Claim, Run, RunStep } from '../../store/workflows/types.ts';
import {
  firstStep,
  parseDefinition,
  stepOf,
  type WorkflowDefinition,
  type WorkflowStep,
} from '../definition/definition.ts';
import type { Answer, AnsweredRequest, InputRequestData } from '../steps/input-request.ts';
import type { ChangeResult, DoneResult, StepCall, StepHandler, StepHandlers, StepResult } from '../steps/step.ts';
import { isTemporary, isUncertain, toRunFailure } from './failure.ts';
import { createRunFiles } from './files.ts';
import { createRunLog } from './log.ts';
import type { Lease } from './retry.ts';
import { OUTAGE_PAUSE_MS, OUTAGE_RETRIES, RETRY_PAUSES_MS, StepFailure, withStepFailure } from './retry.ts';
import { createStepOutcomes, type ExecutionContext, type NextStep, passedOf } from './step-outcomes.ts';

/** Maximum number of steps per run, since a workflow may loop. */
const MAX_STEPS_PER_RUN = 200;
/** How often a step restarts because permissions changed while it ran. */
const MAX_ATTEMPTS = 5;
/** After this many processes were lost at the same step, a person is asked. */
const MAX_LOST_LEASES = 3;
/** Interval for checking whether the run is still held during a pause. */
const LEASE_CHECK_MS = 500;

export interface ExecutionParts {
  readonly store: Pick<Store, 'workflows' | 'runs' | 'permissions' | 'activity' | 'files' | 'versions'>;
  readonly engine: Engine;
  readonly handlers: StepHandlers;
  readonly sendWebhook: SendWebhook;
  /** Learns of the records that steps write. */
  readonly watch?: WriteWatch | undefined;
  readonly clock: Clock;
  readonly observe: Observe;
}

/** Returns 'left' if another process should continue the run. Never rejects. */
type ExecuteRun = (claim: Claim, lease: Lease) => Promise<'left' | 'settled'>;

export function createExecution(parts: ExecutionParts): ExecuteRun {
  const { store, engine, clock, observe } = parts;
  const { runs } = store;
  const log = createRunLog(store.activity, clock);
  const files = createRunFiles(store.files, clock);
  const { awaitInput, endCancelled, finishStep, logPassedSteps } = createStepOutcomes({ runs, clock, log, files });

  /** Throws FORBIDDEN if the user may no longer continue the run. */
  const accessOf = async (run: Run, versions?: Versions): Promise<Access> => {
    const { permissions } = store;
    const cached = versions && permissions.cachedAccessOf(run.userId, versions.permissions);
    const unrestricted = cached ?? (await permissions.accessOf(run.userId));
    // A run started by an app cannot access collections that the user excluded for the app (RFC 6749 section 1.5).
    const restrictions = createRestrictions(false, run.collections);
    const access = unrestricted && restrictions ? restrictAccess(unrestricted, restrictions) : unrestricted;
    const isStillAllowed = access?.caller.renderingId === run.renderingId && access.can('browse', run.collection);
    if (access && isStillAllowed) return access;
    const reason = 'the user of the run is disabled, has changed teams, or may no longer see the collection.';
    throw new StepFailure(
      new AppError('FORBIDDEN', { verb: 'run workflows on', collection: run.collection, why: reason }),
    );
  };

  /** Versions are immutable, so the most recently used ones are cached. */
  const definitions = new LRUCache<string, WorkflowDefinition>({ max: 100 });
  const definitionOf = async ({ workflowId, version, name }: Run): Promise<WorkflowDefinition> => {
    const key = `${workflowId} ${version}`;
    const cached = definitions.get(key);
    if (cached) return cached;
    const text = await store.workflows.definition(workflowId, version);
    const missing = new AppError('STEP_FAILED', {
      step: name,
      problem: 'the definition of the workflow no longer exists.',
    });
    if (text === undefined) throw new StepFailure(missing);
    const definition = await withStepFailure(undefined, () => parseDefinition(JSON.parse(text)));
    definitions.set(key, definition);
    return definition;
  };

  /** Marks the step as begun, checks the permissions again, and then makes the change. */
  const makeChange = async (
    context: ExecutionContext,
    step: WorkflowStep,
    { execute: make, ...subject }: ChangeResult,
    at: { readonly access: Access; readonly position: number | undefined },
  ): Promise<NextStep | { readonly retryPosition: number }> => {
    const { claim, run, lease, steps } = context;
    // Both are committed before the change. Asked for at once, they share a commit.
    const [marked, begun] = await Promise.allSettled([
      log.begin(run, step.id, subject),
      runs.begin(claim, step.id, at.position, context.passed, steps.at(-1)?.position ?? 0),
    ]);
    if (marked.status === 'rejected') throw marked.reason;
    const intent = marked.value;
    const position = begun.status === 'fulfilled' ? begun.value : undefined;
    // The change was not made. Without this entry, its outcome would be recorded as unknown.
    if (typeof position !== 'number') await intent.complete(outcomeOfCode('CANCELLED'));
    if (begun.status === 'rejected') throw begun.reason;
    if (position === 'cancel') return endCancelled(context);
    if (typeof position !== 'number') return 'left';
    logPassedSteps(context);
    // Read after the mark, also when it came with some: the rights may change meanwhile. The watch compares them too.
    const versions = await store.versions();
    const currentAccess = await withStepFailure(position, () => accessOf(run, versions)).catch(async (failure) => {
      if (failure instanceof StepFailure) await intent.complete(outcomeOfCode(failure.failure.code));
      throw failure;
    });
    if (currentAccess !== at.access) {
      await intent.complete(outcomeOfCode('APPROVAL_OVERTAKEN'));
      return { retryPosition: position };
    }
    let done: DoneResult;
    const written: Written[] = [];
    const describeOtherEffects = () =>
      logOtherEffects(written, subject.collection ?? run.collection, subject.recordIds ?? [run.recordId]);
    const endWatch = await parts.watch?.begin(written, versions, run);
    try {
      done = await make({ signal: lease.signal, written });
      await endWatch?.();
    } catch (thrown) {
      await endWatch?.(thrown);
      const failure = toAppError(thrown, randomId());
      const isUnsure = isUncertain(failure);
      if (!isUnsure) await intent.complete({ ...outcomeOfCode(failure.code), ...describeOtherEffects() });
      // The process that takes over the run finds the step begun.
      if (lease.signal.aborted) return 'left';
      if (!isUnsure) throw new StepFailure(failure, position);
      // Writes through Portico are known, even when other effects are not.
      await intent.complete({ outcome: 'unknown', code: failure.code, ...describeOtherEffects() });
      reportFailure(observe, `workflow ${run.name}`, failure);
      observe({
        type: 'warning',
        message: `The outcome of a step of the workflow '${run.name}' is unknown (${failure.code}).`,
      });
      const before = steps.find((each) => each.position === position);
      return awaitInput(context, step, { reason: 'uncertain', asked: toUncertainRequest(before) }, position);
    }
    const { fails, data } = done;
    if (fails) reportFailure(observe, `workflow ${run.name}`, fails);
    // Never rejects. The step does not wait for it, so that both share a commit.
    const completing = intent.complete({ ...outcomeOfCode(fails?.code), ...describeOtherEffects() });
    if (fails && done.next === undefined) {
      await completing;
      throw new StepFailure(fails, position, data);
    }
    const [next] = await Promise.all([finishStep(context, step, done, position), completing]);
    return next;
  };

  /** Handles a person's decision about an interrupted change. */
  const resolveUncertain = async (
    context: ExecutionContext,
    step: WorkflowStep,
    { position }: RunStep,
    { decision }: Answer,
  ): Promise<NextStep | 'again'> => {
    if (decision === 'again') return 'again';
    if (decision === 'end') throw new StepFailure(new AppError('STEP_UNCERTAIN', { step: step.id }), position);
    return finishStep(context, step, { kind: 'done', outcome: { doneBy: 'person' } }, position);
  };

  /**
   * Calls the handler of the step. Retries temporary failures, unless this process should no longer continue the run.
   */
  const callHandler = async (
    call: StepCall,
    lease: Lease,
    position: number | undefined,
  ): Promise<StepResult | 'not held'> => {
    const handler = parts.handlers[call.step.type] as StepHandler;
    for (let attempt = 0; ; attempt++) {
      try {
        return await handler(call);
      } catch (thrown) {
        const failure = toAppError(thrown, randomId());
        const isUnavailable =
          failure.code === 'SOURCE_UNAVAILABLE' && attempt < RETRY_PAUSES_MS.length + OUTAGE_RETRIES;
        const pauseMs = RETRY_PAUSES_MS[attempt] ?? (isUnavailable ? OUTAGE_PAUSE_MS : undefined);
        if (pauseMs === undefined || !isTemporary(failure) || call.signal.aborted)
          throw new StepFailure(failure, position);
        for (let remainingMs = pauseMs; remainingMs > 0 && lease.state === 'held'; remainingMs -= LEASE_CHECK_MS) {
          await clock.sleep(Math.min(remainingMs, LEASE_CHECK_MS), call.signal).catch(() => undefined);
        }
        if (lease.state !== 'held') return 'not held';
      }
    }
  };

  const executeStep = async (context: ExecutionContext, step: WorkflowStep): Promise<NextStep> => {
    const { run, steps, lease, definition } = context;
    const { signal } = lease;
    const openStep = findOpenStep(steps, step.id);
    let position = openStep?.position;
    let answered: AnsweredRequest | undefined;
    // Stops a step that crashes its process from crashing more of them.
    if (openStep?.state === 'begun' || run.lostLeases >= MAX_LOST_LEASES) {
      return awaitInput(context, step, { reason: 'uncertain', asked: toUncertainRequest(openStep) }, position);
    }
    if (openStep) {
      if (openStep.answeredBy === null)
        throw new StepFailure(new AppError('ANSWER_TIMED_OUT', { step: step.id }), position);
      answered = {
        asked: openStep.data as InputRequestData,
        answer: openStep.answer as Answer,
        by: openStep.answeredBy,
      };
      const { asked, answer } = answered;
      if (asked.ask === 'uncertain') {
        const resolved = await resolveUncertain(context, step, openStep, answer);
        if (resolved !== 'again') return resolved;
        answered = asked.before;
      } else if (answer.decision === 'decline') {
        throw new StepFailure(new AppError('STEP_DECLINED', { step: step.id }), position);
      }
    }
    const currentAccess = () => withStepFailure(position, () => accessOf(run));
    const { sendWebhook } = parts;
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      // A step that only reads begins with the access of the step before, which is compared before its result counts.
      const known = attempt === 1 && onlyReads(step) ? context.access : undefined;
      const access = known ?? (await currentAccess());
      context.access = access;
      const isOvertaken = async () => known !== undefined && (await currentAccess()) !== known;
      const call = { step, definition, run, access, engine, clock, signal, steps, answered, sendWebhook, files };
      const result = await callHandler(call, lease, position).catch(async (failure: unknown) => {
        if (await isOvertaken()) return 'overtaken' as const;
        throw failure;
      });
      if (signal.aborted) return 'left';
      if (result === 'not held') return { to: step.id };
      // A change compares it after its mark.
      if (result === 'overtaken' || (result.kind !== 'change' && (await isOvertaken()))) continue;
      if (result.kind === 'wait') return awaitInput(context, step, result, position);
      if (result.kind === 'done') {
        if (result.read) log.logRead(run, step.id, result.read);
        return finishStep(context, step, result, position);
      }
      const outcome = await makeChange(context, step, result, { access, position });
      if (outcome === 'left' || 'to' in outcome) return outcome;
      position = outcome.retryPosition;
    }
    throw new StepFailure(new AppError('NOT_READY', {}), position);
  };

  const executeSteps = async (context: ExecutionContext): Promise<void> => {
    const { claim, run, definition, lease, steps } = context;
    for (let next: NextStep = { to: run.stepId ?? firstStep(definition) }; next !== 'left'; ) {
      if (lease.state === 'lost') return;
      // `run.cancelAsked` covers a cancellation before the previous owner released the run.
      if (lease.state === 'cancel' || run.cancelAsked) return void (await endCancelled(context));
      if (lease.state === 'leaving') {
        if (await runs.release(claim, next.to, context.passed)) logPassedSteps(context);
        return;
      }
      const step = stepOf(definition, next.to);
      if (!step)
        throw new StepFailure(new AppError('STEP_FAILED', { step: next.to, problem: 'there is no such step.' }));
      if (!findOpenStep(steps, step.id) && steps.length >= MAX_STEPS_PER_RUN) {
        throw new StepFailure(new AppError('TOO_MANY_STEPS', { limit: MAX_STEPS_PER_RUN }));
      }
      next = await executeStep(context, step);
    }
  };

  const failRun = async (claim: Claim, context: ExecutionContext | undefined, thrown: StepFailure): Promise<void> => {
    const { failure, position, data } = thrown;
    const { run } = claim;
    reportFailure(observe, `workflow ${run.name}`, failure);
    const at = position === undefined ? {} : { position, ...(data !== undefined && { data }) };
    const isStored = await runs.fail(claim, { ...toRunFailure(failure), ...at, ...(context && passedOf(context)) });
    if (!isStored) return;
    if (context) logPassedSteps(context);
    log.logEvent(run, 'abortWorkflow', { code: failure.code });
    await files.remove(run.id, claim.steps.at(-1));
  };

  return async (claim, lease) => {
    let working: ExecutionContext | undefined;
    try {
      try {
        const { run, steps } = claim;
        const definition = await definitionOf(run);
        working = { claim, run, definition, lease, steps: [...steps], passed: [] };
        await executeSteps(working);
      } catch (thrown) {
        if (!(thrown instanceof StepFailure)) throw thrown;
        if (!lease.signal.aborted) await failRun(claim, working, thrown);
      }
      return 'settled';
    } catch (cause) {
      observe({
        type: 'warning',
        message: `Releasing a run of '${claim.run.name}' for another process to resume.`,
        cause,
      });
      return 'left';
    }
  };
}

/** Sends nothing to others, and runs no code of actions. A change that it returns is not made yet. */
const onlyReads = (step: WorkflowStep): boolean =>
  step.type === 'read-record' ||
  step.type === 'load-related-record' ||
  step.type === 'update-record' ||
  (step.type === 'condition' && step.question === undefined);

/** The current step of a run, if it was begun or waits. */
function findOpenStep(steps: readonly RunStep[], id: string): RunStep | undefined {
  const last = steps.at(-1);
  return last?.stepId === id && (last.state === 'begun' || last.state === 'waiting') ? last : undefined;
}

function toUncertainRequest(openStep: RunStep | undefined): InputRequestData {
  const requestData = openStep?.data as InputRequestData | undefined;
  if (!requestData || openStep?.answeredBy == null) return { ask: 'uncertain' };
  if (requestData.ask === 'uncertain') return requestData;
  return {
    ask: 'uncertain',
    before: { asked: requestData, answer: openStep.answer as Answer, by: openStep.answeredBy },
  };
}
