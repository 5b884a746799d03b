// Answers to waiting steps, and cancellation of runs. An answer is validated against the current question with the
// access of the caller: callers cannot decide on data they cannot read. An invalid answer changes no state.
import type { FormFile } from '../../agent/actions/definitions.ts';
import { isFormFile } from '../../agent/actions/form-file.ts';
import type { Engine } from '../../agent/engine.ts';
import type { Access } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import { findInexact } from '../../core/filter/exact-numbers.ts';
import type { Store } from '../../store/store.ts';
import type { Run } from '../../store/workflows/types.ts';
import { readDefinition, stepOf, type WorkflowDefinition, waitSecondsOf } from '../definition/definition.ts';
import { readTyped } from '../definition/typed.ts';
import type { RunFiles } from '../runs/files.ts';
import type { RunLog } from '../runs/log.ts';
import type { Answer, Asked } from '../steps/input-request.ts';
import { loadForm } from '../steps/trigger-action.ts';
import { previewChange } from '../steps/update-record.ts';
import {
  fileAsked,
  isChoosable,
  type Question,
  type QuestionField,
  type QuestionParts,
  questionOf,
} from './input-request.ts';

export interface AnswerParts {
  readonly store: Pick<Store, 'workflows' | 'runs'>;
  readonly engine: Engine;
  readonly log: RunLog;
  readonly files: RunFiles;
  /** Size limit of a single file for an action. */
  readonly fileLimitBytes: number;
  /** Finds a run that the caller may view. */
  readonly find: (access: Access, id: string) => Promise<Run | undefined>;
  readonly nudge?: ((runId: string) => void) | undefined;
}

/** An answer from a page or a program. Values may be strings; a file is a FormFile. */
export interface GivenAnswer {
  readonly decision: string;
  readonly values?: Readonly<Record<string, unknown>>;
}

export interface Answers {
  /** Returns undefined when the run is not visible to the caller or does not wait for a person. */
  question(access: Access, runId: string): Promise<Question | undefined>;
  /**
   * Returns a file that the question shows to the caller. Returns undefined for any other file, and after the question
   * was answered. Throws FORBIDDEN like `answer`.
   */
  file(
    access: Access,
    runId: string,
    at: { readonly position: number; readonly number: number },
  ): Promise<FormFile | undefined>;
  /**
   * Returns false when the step was already answered or no longer waits. Throws INVALID_ARGUMENT for a decision or
   * values that the question does not accept. Throws BODY_TOO_LARGE and TOO_MANY_FILES for files, DENIED if the caller
   * may not answer, and NOT_FOUND if the run is not visible to the caller.
   */
  answer(access: Access, runId: string, position: number, given: GivenAnswer): Promise<boolean>;
  /**
   * Requires the user of the run, or an editor or higher. Returns false when the run has ended. Throws NOT_FOUND if the
   * run is not visible to the caller.
   */
  cancel(access: Access, runId: string): Promise<boolean>;
}

/** Time that files live beyond the waiting time of the step. */
const KEPT_LONGER_SECONDS = 3600;

export function createAnswers({ store, engine, log, files, fileLimitBytes, find, nudge }: AnswerParts): Answers {
  const read = async (access: Access, runId: string) => {
    const run = await find(access, runId);
    if (!run) return undefined;
    const text = await store.workflows.definition(run.workflowId, run.version);
    if (text === undefined) return undefined;
    const definition: WorkflowDefinition = readDefinition(JSON.parse(text));
    return { engine, access, run, definition, files, steps: await store.runs.steps(runId) };
  };
  return {
    async question(access, runId) {
      const parts = await read(access, runId);
      return parts && questionOf(parts);
    },
    async file(access, runId, at) {
      const parts = await read(access, runId);
      return parts && fileAsked(parts, at);
    },
    async answer(access, runId, position, given) {
      const parts = (await read(access, runId)) ?? fail('NOT_FOUND', { path: runId });
      const question = await questionOf(parts);
      if (!question || question.position !== position) return false;
      if (question.refusal !== null) fail('DENIED', { problem: question.refusal });
      const asked = parts.steps.at(-1)!.data as Asked;
      const value = await settleChoice(parts, asked, readAnswer(question, given));
      await check({ engine, access, files, runId }, asked, value);
      const { id: userId } = access.caller;
      const step = stepOf(parts.definition, question.stepId)!;
      // The run may still wait for a confirmation before the action, for the same time again.
      const by = { runId, userId, seconds: waitSecondsOf(step) + KEPT_LONGER_SECONDS };
      const kept = await files.keep(by, value.values, fileLimitBytes);
      const isFirst = await store.runs.answer(runId, { position, by: userId, value: { ...value, values: kept } });
      if (!isFirst) {
        await files.drop(runId, kept);
        return false;
      }
      const option = asked.ask === 'option' ? String(value.values.option) : undefined;
      const more = { step: question.stepId, userId };
      if (option !== undefined) log.tell(parts.run, 'selectWorkflowOption', { ...more, option });
      log.tell(parts.run, 'resumeWorkflow', more);
      nudge?.(runId);
      return true;
    },
    async cancel(access, runId) {
      const run = (await find(access, runId)) ?? fail('NOT_FOUND', { path: runId });
      const isEnded = await store.runs.cancel(runId, access.caller.id);
      // If the run is executing, its executor logs the end.
      if (isEnded && run.state !== 'running') {
        log.tell(run, 'abortWorkflow', { userId: access.caller.id });
        await files.drop(runId, (await store.runs.steps(runId)).at(-1));
      }
      return isEnded;
    },
  };
}

function readAnswer({ decisions, fields }: Question, { decision, values = {} }: GivenAnswer): Answer {
  const chosen = decisions.find(({ id }) => id === decision);
  if (!chosen) {
    const names = decisions.map(({ id }) => id).join(', ');
    return fail('INVALID_ARGUMENT', { argument: 'decision', problem: `expected one of ${names}.` });
  }
  if (!chosen.takesFields) return { decision, values: {} };
  const unknown = Object.keys(values).find((name) => !fields.some((field) => field.name === name));
  if (unknown !== undefined) fail('INVALID_ARGUMENT', { argument: unknown, problem: 'it is not asked for.' });
  const read = fields.flatMap((field) => {
    const given = Object.hasOwn(values, field.name) ? values[field.name] : undefined;
    const isAbsent = given === undefined || given === null || given === '';
    if (!isAbsent) return [[field.name, readField(field, given)] as const];
    if (field.required) fail('INVALID_ARGUMENT', { argument: field.name, problem: 'a value is needed.' });
    // A file chosen earlier is retained.
    return field.type === 'file' || field.type === 'files' ? [] : [[field.name, null] as const];
  });
  return { decision, values: Object.fromEntries(read) };
}

/** Resolves a choice to one record: the typed id takes precedence over the selected one. */
async function settleChoice(parts: QuestionParts, asked: Asked, { decision, values }: Answer): Promise<Answer> {
  if (asked.ask !== 'record' || decision !== 'choose') return { decision, values };
  const { record, other } = values;
  const typed = typeof other === 'string' ? other.trim() : '';
  if (typed === '') {
    if (record == null) fail('INVALID_ARGUMENT', { argument: 'record', problem: 'choose one, or type the id of one.' });
    return { decision, values: { record } };
  }
  if (!(await isChoosable(parts, asked, typed))) {
    fail('INVALID_ARGUMENT', { argument: 'other', problem: `'${asked.relation}' leads to no such record.` });
  }
  return { decision, values: { record: typed } };
}

function readField({ name, type, options, answer }: QuestionField, given: unknown): unknown {
  const allowed = options?.map(({ value }) => value);
  const wrong = (problem: string): never => fail('INVALID_ARGUMENT', { argument: name, problem });
  if (answer) return readTyped(answer, given, name);
  switch (type) {
    case 'text':
      return readTyped({ type: 'text' }, given, name);
    case 'number':
    case 'boolean':
      return readTyped({ type }, given, name);
    case 'enum':
      return readTyped({ type, options: allowed ?? [] }, String(given), name);
    case 'list':
    case 'number-list': {
      const list = Array.isArray(given) ? given : [given];
      if (allowed && !list.every((each) => allowed.includes(String(each))))
        wrong(`expected some of ${allowed.join(', ')}.`);
      return type === 'list' ? list.map(String) : list.map((each) => readTyped({ type: 'number' }, each, name));
    }
    case 'file':
      return isFormFile(given) ? given : wrong('choose a file.');
    case 'files': {
      const chosen: unknown[] = Array.isArray(given) ? given : [given];
      return chosen.every(isFormFile) ? chosen : wrong('choose files.');
    }
    case 'json':
      return typeof given === 'string' ? readJson(given, wrong) : given;
    default:
      // The engine parses dates.
      return String(given);
  }
}

function readJson(text: string, wrong: (problem: string) => never): unknown {
  const inexact = findInexact(text);
  if (inexact !== undefined) return wrong(inexact);
  try {
    return JSON.parse(text);
  } catch {
    return wrong('expected JSON.');
  }
}

/** Checks the caller's permissions on the actual records and fields: the engine evaluates the change as the caller. */
async function check(
  asker: { readonly engine: Engine; readonly access: Access; readonly files: RunFiles; readonly runId: string },
  asked: Asked,
  { decision, values }: Answer,
): Promise<void> {
  if (decision === 'decline' || decision === 'end') return;
  if (asked.ask === 'values') await previewChange(asker, asked, values);
  if (asked.ask === 'change') await previewChange(asker, asked, asked.values);
  if (asked.ask === 'form' || asked.ask === 'action') {
    const { action } = asked;
    const all = asked.ask === 'form' ? { ...asked.values, ...values } : asked.values;
    const opened = await asker.files.open(asker.runId, all);
    const form = await loadForm(asker, asked, action, opened.values);
    const [problem] = form.problems;
    if (problem) fail('INVALID_ARGUMENT', { argument: problem.field, problem: problem.problem });
    // If a file has expired in the meantime, the run asks for it again.
    const missing = form.missing.find((name) => asked.ask === 'form' || !opened.gone.includes(name));
    if (missing !== undefined) fail('INVALID_ARGUMENT', { argument: missing, problem: 'a value is needed.' });
  }
  if (asked.ask === 'uncertain' && decision === 'again' && asked.before)
    await check(asker, asked.before.asked, asked.before.answer);
}
