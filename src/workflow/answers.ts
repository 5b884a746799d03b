// Answers of people to steps that wait, and the end of runs by hand. An answer is held against what the step asks now, as it is
// asked of who answers: what he is not shown he cannot decide. One that is wrong changes nothing.
import type { FormFile } from '../agent/actions/definitions.ts';
import { isFormFile } from '../agent/actions/form-file.ts';
import type { Engine } from '../agent/engine.ts';
import type { Access } from '../core/caller.ts';
import { fail } from '../core/errors.ts';
import type { Store } from '../store/store.ts';
import type { Run } from '../store/workflow-types.ts';
import { readDefinition, stepOf, type WorkflowDefinition, waitSecondsOf } from './definition.ts';
import {
  fileAsked,
  isChoosable,
  type Question,
  type QuestionField,
  type QuestionParts,
  questionOf,
} from './question.ts';
import type { RunFiles } from './run-files.ts';
import type { RunLog } from './run-log.ts';
import type { Answer, Asked } from './steps/asked.ts';
import { loadForm } from './steps/trigger-action.ts';
import { previewChange } from './steps/update-record.ts';
import { readTyped } from './typed.ts';

export interface AnswerParts {
  readonly store: Pick<Store, 'workflows' | 'runs'>;
  readonly engine: Engine;
  readonly log: RunLog;
  readonly files: RunFiles;
  /** Of one file that an action is given. */
  readonly fileLimitBytes: number;
  /** Of a run that the caller may look at. */
  readonly find: (access: Access, id: string) => Promise<Run | undefined>;
  readonly nudge?: ((runId: string) => void) | undefined;
}

/** As a page or a program sends it: values may be texts; a file is a FormFile. */
export interface GivenAnswer {
  readonly decision: string;
  readonly values?: Readonly<Record<string, unknown>>;
}

export interface Answers {
  /** Undefined for a run that is not there for the caller, or waits for nobody. */
  question(access: Access, runId: string): Promise<Question | undefined>;
  /** One that the question shows the caller; undefined for any other, and once it was answered. FORBIDDEN as with an answer. */
  file(
    access: Access,
    runId: string,
    at: { readonly position: number; readonly number: number },
  ): Promise<FormFile | undefined>;
  /**
   * False when it is too late: the step was answered, or waits no more. INVALID_ARGUMENT for a decision or values that the
   * question does not take; BODY_TOO_LARGE and TOO_MANY_FILES for files; DENIED for who may not answer; NOT_FOUND for a run
   * that is not there for him.
   */
  answer(access: Access, runId: string, position: number, given: GivenAnswer): Promise<boolean>;
  /** By its user, or an editor and up. False when it is over. NOT_FOUND for one that is not there for him. */
  cancel(access: Access, runId: string): Promise<boolean>;
}

/** Beside what a step waits. */
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
      // It may wait for a yes before the action runs, as long as for this.
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
      // One that is worked at tells of its end itself.
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
    // What was chosen before stays.
    return field.type === 'file' || field.type === 'files' ? [] : [[field.name, null] as const];
  });
  return { decision, values: Object.fromEntries(read) };
}

/** Of a record that is chosen or typed, one is taken. */
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
      if (typeof given !== 'string') return given;
      try {
        return JSON.parse(given);
      } catch {
        return wrong('expected JSON.');
      }
    default:
      // The engine knows what a date may look like.
      return String(given);
  }
}

/** The rights of who answers, on the very records and fields: the engine is asked as if he did it. */
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
    // For a file that is gone meanwhile the run asks again.
    const missing = form.missing.find((name) => asked.ask === 'form' || !opened.gone.includes(name));
    if (missing !== undefined) fail('INVALID_ARGUMENT', { argument: missing, problem: 'a value is needed.' });
  }
  if (asked.ask === 'uncertain' && decision === 'again' && asked.before)
    await check(asker, asked.before.asked, asked.before.answer);
}
