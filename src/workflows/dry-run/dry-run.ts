// Tries a workflow on a record without any effect. The handlers of the steps read as in a run and return their effect,
// which is described instead of made. No run is stored, and no action, webhook, language model or remote server is called.
// The person who tries it answers all questions. Every call repeats their earlier answers.
import type { Engine } from '../../agent/engine.ts';
import type { Access } from '../../core/caller.ts';
import type { StopSignal } from '../../core/clock/stop.ts';
import type { Clock } from '../../core/clock.ts';
import { type AppError, fail, isAppError } from '../../core/errors.ts';
import type { Run, RunStep, Workflow } from '../../store/workflows/types.ts';
import { firstStep, stepOf, type WorkflowDefinition, type WorkflowStep } from '../definition/definition.ts';
import { referencesOf } from '../definition/template.ts';
import { acceptAnswer, type SubmittedAnswer } from '../input-requests/answers.ts';
import { type InputRequest, inputRequestOf } from '../input-requests/input-request.ts';
import type { RunFiles } from '../runs/files.ts';
import type { StepSubject } from '../runs/log.ts';
import type { AnsweredRequest, InputRequestData } from '../steps/input-request.ts';
import { createMcpStep } from '../steps/mcp.ts';
import type { DoneResult, StepCall, StepHandler, WaitResult } from '../steps/step.ts';
import { stepHandlers } from '../steps/table.ts';

const MAX_STEPS = 100;

interface DryRunParts {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly files: RunFiles;
}

export interface DryRunRequest {
  readonly workflow: Workflow;
  readonly definition: WorkflowDefinition;
  /** Packed. */
  readonly recordId: string;
  /** The answers so far, in the order of the questions. */
  readonly answers: readonly SubmittedAnswer[];
  readonly signal: StopSignal;
}

/** The effect of a step. */
export interface TriedStep {
  readonly step: WorkflowStep;
  /** Values for later steps; undefined if they are known only after the step has run. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** The chosen option of a condition. */
  readonly option?: string;
  /** It found no record. */
  readonly isSkipped?: true;
  /** Its change or call, as the question of a run shows it. */
  readonly effect?: InputRequest;
  /** Whether the person who tries it has answered in place of another person. */
  readonly isAnswered?: true;
  /** The limits of the dry run for this step, as sentences. */
  readonly notes: readonly string[];
}

export interface DryRun {
  readonly steps: readonly TriedStep[];
  /** The records that were read, for the activity log. */
  readonly reads: readonly StepSubject[];
  /**
   * `asks`: the next step waits for a person. `failed`: it would fail. `unknown`: a dry run cannot go on, as `problem`
   * says.
   */
  readonly end:
    | { readonly kind: 'succeeded' }
    | {
        readonly kind: 'asks';
        readonly step: WorkflowStep;
        readonly question: InputRequest;
        readonly notes: readonly string[];
        /** Why the last answer was refused. */
        readonly problem?: { readonly field: string; readonly text: string };
      }
    | { readonly kind: 'failed'; readonly step: WorkflowStep; readonly problem: AppError }
    | { readonly kind: 'unknown'; readonly step: WorkflowStep; readonly problem: string };
}

type EffectData = Extract<InputRequestData, { readonly ask: 'change' | 'action' | 'call' }>;

const isEffect = (data: InputRequestData): data is EffectData =>
  data.ask === 'change' || data.ask === 'action' || data.ask === 'call';

/** A call of a remote tool that cannot be sent. */
const unsent = async () => ({
  needsConfirmation: false,
  canHarm: false,
  execute: () => fail('INTERNAL', { requestId: 'dry-run' }),
});

const handlers = stepHandlers(createMcpStep({ prepare: unsent }));

/** Starts no run and does not write. A refusal of a step is part of the result; internal errors are thrown. */
export async function tryWorkflow(parts: DryRunParts, access: Access, request: DryRunRequest): Promise<DryRun> {
  const { definition, answers } = request;
  const tried: TriedStep[] = [];
  const reads: StepSubject[] = [];
  const state: DryRunState = { parts, access, request, run: createRun(request, access), steps: [], changedBy: [] };
  const unknown = new Map<string, string>();
  let answer = 0;
  const finish = (end: DryRun['end']): DryRun => ({ steps: tried, reads, end });
  for (let id: string | null = firstStep(definition); id !== null; ) {
    const step: WorkflowStep = stepOf(definition, id)!;
    if (tried.length >= MAX_STEPS) {
      return finish({ kind: 'unknown', step, problem: `A dry run ends after ${MAX_STEPS} steps.` });
    }
    const missing = referencesOf(step, step.id).find(({ root, name }) => root === 'steps' && unknown.has(name));
    if (missing) {
      const problem = `It uses a value of “${unknown.get(missing.name)}”, which is known only after that step has run.`;
      return finish({ kind: 'unknown', step, problem });
    }
    try {
      const outcome = await tryStep(state, step, () => answers[answer++]);
      reads.push(...outcome.reads);
      if ('end' in outcome) return finish(outcome.end);
      const { result, next } = outcome;
      tried.push(result);
      if (result.values === undefined && !result.isSkipped) unknown.set(step.id, step.title ?? step.id);
      if (result.effect) state.changedBy.push(step.title ?? step.id);
      const stored = result.isSkipped ? 'skipped' : 'done';
      state.steps.push(createStep(state.steps.length + 1, step.id, stored, result.values ?? {}));
      id = next;
    } catch (error) {
      if (!isAppError(error) || error.code === 'INTERNAL') throw error;
      return finish({ kind: 'failed', step, problem: error });
    }
  }
  return finish({ kind: 'succeeded' });
}

interface DryRunState {
  readonly parts: DryRunParts;
  readonly access: Access;
  readonly request: DryRunRequest;
  readonly run: Run;
  readonly steps: RunStep[];
  /** Titles of the steps that would have changed data. */
  readonly changedBy: string[];
}

type StepOutcome = { readonly reads: readonly StepSubject[] } & (
  | { readonly result: TriedStep; readonly next: string | null }
  | { readonly end: DryRun['end'] }
);

async function tryStep(
  state: DryRunState,
  stored: WorkflowStep,
  nextAnswer: () => SubmittedAnswer | undefined,
): Promise<StepOutcome> {
  const { parts, access, request, run, steps } = state;
  const { step, notes } = withoutModel(stored, state);
  const call: Omit<StepCall, 'answered'> = {
    ...{ step, definition: request.definition, run, access, steps, signal: request.signal },
    ...{ engine: parts.engine, clock: parts.clock, files: parts.files },
    sendWebhook: () => fail('INTERNAL', { requestId: 'dry-run' }),
  };
  const reads: StepSubject[] = [];
  let answered: AnsweredRequest | undefined;
  for (;;) {
    const handler = handlers[step.type] as StepHandler;
    const result = await handler({ ...call, answered });
    if (result.kind === 'done') {
      if (result.read) reads.push(result.read);
      return { reads, ...toOutcome(stored, result, { notes, isAnswered: answered !== undefined }) };
    }
    const { asked, reason } = result.kind === 'wait' ? result : { asked: toEffect(answered!), reason: undefined };
    if ('collection' in asked) reads.push({ action: 'read', collection: asked.collection, recordIds: [asked.id] });
    const question = await describe(state, step, asked);
    const isPersonNeeded = !isEffect(asked) || needsPerson(stored, reason);
    const said = [...notes, ...approvalNotes(asked, reason), ...effectNotes(stored)];
    const submitted = isPersonNeeded ? nextAnswer() : undefined;
    if (isPersonNeeded) {
      const asks = { kind: 'asks', step: stored, question, notes: said } as const;
      if (!submitted) return { reads, end: asks };
      try {
        answered = await accept(state, step, asked, question, submitted);
      } catch (error) {
        if (!isAppError(error) || error.status >= 500) throw error;
        const { argument = '', problem = error.message } = isAppError(error, 'INVALID_ARGUMENT') ? error.details : {};
        return { reads, end: { ...asks, problem: { field: argument, text: problem } } };
      }
      if (answered.answer.decision === 'decline')
        return { reads, end: { kind: 'unknown', step: stored, problem: 'You rejected it, which ends the run.' } };
    }
    if (!isEffect(asked)) continue;
    const values = asked.ask === 'change' ? valuesAfter(asked, question) : undefined;
    const tried = { step: stored, effect: question, notes: said, ...(values && { values }) };
    return { reads, next: stored.next ?? null, result: { ...tried, ...(answered && { isAnswered: true }) } };
  }
}

/** The effect of a filled-in form. */
function toEffect({ asked, answer }: AnsweredRequest): InputRequestData {
  if (asked.ask === 'values') {
    const { collection, id } = asked;
    return { ask: 'change', collection, id, values: answer.values, changes: {} };
  }
  if (asked.ask !== 'form') return asked;
  const { collection, id, action, values } = asked;
  return { ask: 'action', collection, id, action, values: { ...values, ...answer.values } };
}

/** An automatic change needs a person only if the role requires an approval. */
const needsPerson = (step: WorkflowStep, reason: WaitResult['reason'] | undefined): boolean =>
  reason === 'approval' || (reason !== undefined && !('mode' in step && step.mode === 'automatic'));

/** A dry run asks the person for the answer of the model, and to confirm what is automatic, to show it. */
function withoutModel(
  step: WorkflowStep,
  { parts, changedBy }: DryRunState,
): { readonly step: WorkflowStep; readonly notes: readonly string[] } {
  const notes =
    changedBy.length > 0 && readsRecords(step)
      ? [
          `It reads the records as they are now, without what ${changedBy.map((each) => `“${each}”`).join(', ')} would change.`,
        ]
      : [];
  const asksModel =
    step.type === 'ai' ||
    (step.type === 'condition' && step.question !== undefined && step.options.every(({ when }) => when === undefined));
  if (asksModel && parts.engine.ai && step.mode !== 'manual') {
    const note = 'The language model would be asked. A dry run does not ask it: answer in its place.';
    return { step: { ...step, mode: 'manual' }, notes: [...notes, note] };
  }
  const isAutomatic = 'mode' in step && step.mode === 'automatic';
  if (isAutomatic && (step.type === 'update-record' || step.type === 'trigger-action' || step.type === 'mcp'))
    return { step: { ...step, mode: 'confirm' }, notes };
  return { step, notes };
}

function readsRecords(step: WorkflowStep): boolean {
  if (step.type === 'guidance' || step.type === 'ai' || step.type === 'mcp')
    return referencesOf(step, step.id).some(({ root }) => root === 'record');
  return step.type !== 'condition' || step.options.some(({ when }) => when !== undefined);
}

function approvalNotes(asked: InputRequestData, reason: WaitResult['reason'] | undefined): readonly string[] {
  if (reason !== 'approval') return [];
  const isOther = 'notBy' in asked && asked.notBy !== undefined && asked.notBy.length > 0;
  return [isOther ? 'Your role requires that another person approves it.' : 'Your role requires an approval.'];
}

function effectNotes(step: WorkflowStep): readonly string[] {
  if (step.type === 'trigger-action') return ['A dry run does not run the action, so its result is not known.'];
  if (step.type !== 'mcp') return [];
  return [
    'A dry run does not call the server. Whether the tool exists and accepts these arguments is checked in a run.',
  ];
}

function toOutcome(
  step: WorkflowStep,
  { data, outcome, next = step.next ?? null, isSkipped }: DoneResult,
  { notes, isAnswered }: { readonly notes: readonly string[]; readonly isAnswered: boolean },
): { readonly result: TriedStep; readonly next: string | null } {
  const option = step.type === 'condition' ? String(outcome.label) : undefined;
  const values = (data ?? {}) as Readonly<Record<string, unknown>>;
  return {
    next,
    result: {
      ...{ step, values, notes },
      ...(option !== undefined && { option }),
      ...(isSkipped && { isSkipped }),
      ...(isAnswered && { isAnswered: true as const }),
    },
  };
}

/** The values that the record would have. */
function valuesAfter(
  { values }: Extract<EffectData, { readonly ask: 'change' }>,
  { changes = [] }: InputRequest,
): Readonly<Record<string, unknown>> {
  const after = new Map(changes.map((change) => [change.field, change.after]));
  return Object.fromEntries(
    Object.entries(values).map(([field, value]) => [field, after.has(field) ? after.get(field) : value]),
  );
}

const contextOf = (
  { parts, access, request, run, steps }: DryRunState,
  step: WorkflowStep,
  asked: InputRequestData,
) => {
  const { definition } = request;
  // The person who tries the workflow answers in place of all others.
  const data = 'notBy' in asked ? { ...asked, notBy: [] } : asked;
  const waiting = createStep(steps.length + 1, step.id, 'waiting', data);
  return {
    ...{ engine: parts.engine, access, files: parts.files, definition, steps: [...steps, waiting] },
    run: { ...run, state: 'awaiting-input' as const, stepId: step.id },
  };
};

const describe = async (state: DryRunState, step: WorkflowStep, asked: InputRequestData): Promise<InputRequest> =>
  (await inputRequestOf(contextOf(state, step, asked)))!;

async function accept(
  state: DryRunState,
  step: WorkflowStep,
  asked: InputRequestData,
  question: InputRequest,
  submitted: SubmittedAnswer,
): Promise<AnsweredRequest> {
  if (question.refusal !== null) fail('DENIED', { problem: question.refusal });
  const answer = await acceptAnswer(contextOf(state, step, asked), question, submitted);
  return { asked, answer, by: state.access.caller.id };
}

function createStep(position: number, stepId: string, state: RunStep['state'], data: unknown): RunStep {
  const unanswered = { startedAt: 0, finishedAt: null, answeredBy: null, outcome: {}, answer: undefined };
  return { ...unanswered, position, stepId, state, data };
}

/** A run that is not stored. */
function createRun({ workflow, recordId }: DryRunRequest, { caller }: Access): Run {
  const { id: workflowId, name, collection, version, renderingId } = workflow;
  return {
    ...{ id: '00000000-0000-0000-0000-000000000000', workflowId, name, collection, version, renderingId, recordId },
    ...{ userId: caller.id, origin: 'console', originName: 'Console', state: 'running', reason: null, stepId: null },
    ...{ position: 0, lostLeases: 0, collections: null, failure: null, callbackFailure: null, answerBy: null },
    ...{ cancelAsked: false, chain: [], createdAt: 0, startedAt: 0, updatedAt: 0, finishedAt: null },
  };
}
