// Answers to waiting steps, and cancellation of runs. An answer is validated against the current question with the
// access of the caller: callers cannot decide on data they cannot read. An invalid answer changes no state.
import type { FormFile } from '../../agent/actions/definitions.ts';
import { isFormFile } from '../../agent/actions/form-file.ts';
import type { Engine } from '../../agent/engine.ts';
import type { Access } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import { findInexactNumber } from '../../core/filter/exact-numbers.ts';
import type { Store } from '../../store/store.ts';
import type { Run } from '../../store/workflows/types.ts';
import { parseDefinition, stepOf, type WorkflowDefinition, waitSecondsOf } from '../definition/definition.ts';
import { parseTypedValue } from '../definition/typed.ts';
import type { RunFiles } from '../runs/files.ts';
import type { RunLog } from '../runs/log.ts';
import type { Answer, InputRequestData } from '../steps/input-request.ts';
import { loadForm } from '../steps/trigger-action.ts';
import { previewChange } from '../steps/update-record.ts';
import type { InputRequestField } from './fields.ts';
import {
  findRequestedFile,
  type InputRequest,
  type InputRequestContext,
  inputRequestOf,
  isChoosable,
} from './input-request.ts';

interface InputRequestParts {
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
export interface SubmittedAnswer {
  readonly decision: string;
  readonly values?: Readonly<Record<string, unknown>>;
}

export interface InputRequests {
  /** Returns undefined when the run is not visible to the caller or does not wait for a person. */
  inputRequest(access: Access, runId: string): Promise<InputRequest | undefined>;
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
  answer(access: Access, runId: string, position: number, submitted: SubmittedAnswer): Promise<boolean>;
  /**
   * Requires the user of the run, or an editor or higher. Returns false when the run has ended. Throws NOT_FOUND if the
   * run is not visible to the caller.
   */
  cancel(access: Access, runId: string): Promise<boolean>;
}

/** Time that files live beyond the waiting time of the step. */
const EXTRA_FILE_SECONDS = 3600;

export function createInputRequests({
  store,
  engine,
  log,
  files,
  fileLimitBytes,
  find,
  nudge,
}: InputRequestParts): InputRequests {
  const loadContext = async (access: Access, runId: string) => {
    const run = await find(access, runId);
    if (!run) return undefined;
    const text = await store.workflows.definition(run.workflowId, run.version);
    if (text === undefined) return undefined;
    const definition: WorkflowDefinition = parseDefinition(JSON.parse(text));
    return { engine, access, run, definition, files, steps: await store.runs.steps(runId) };
  };
  return {
    async inputRequest(access, runId) {
      const parts = await loadContext(access, runId);
      return parts && inputRequestOf(parts);
    },
    async file(access, runId, at) {
      const parts = await loadContext(access, runId);
      return parts && findRequestedFile(parts, at);
    },
    async answer(access, runId, position, submitted) {
      const parts = (await loadContext(access, runId)) ?? fail('NOT_FOUND', { path: runId });
      const inputRequest = await inputRequestOf(parts);
      if (!inputRequest || inputRequest.position !== position) return false;
      if (inputRequest.refusal !== null) fail('DENIED', { problem: inputRequest.refusal });
      const requestData = parts.steps.at(-1)!.data as InputRequestData;
      const value = await acceptAnswer(parts, inputRequest, submitted);
      const { id: userId } = access.caller;
      const step = stepOf(parts.definition, inputRequest.stepId)!;
      // The run may still wait for a confirmation before the action, for the same time again.
      const owner = { runId, userId, seconds: waitSecondsOf(step) + EXTRA_FILE_SECONDS };
      const storedValues = await files.save(owner, value.values, fileLimitBytes);
      const isFirst = await store.runs.answer(runId, {
        position,
        by: userId,
        value: { ...value, values: storedValues },
      });
      if (!isFirst) {
        await files.remove(runId, storedValues);
        return false;
      }
      const option = requestData.ask === 'option' ? String(value.values.option) : undefined;
      const more = { step: inputRequest.stepId, userId };
      if (option !== undefined) log.logEvent(parts.run, 'selectWorkflowOption', { ...more, option });
      log.logEvent(parts.run, 'resumeWorkflow', more);
      nudge?.(runId);
      return true;
    },
    async cancel(access, runId) {
      const run = (await find(access, runId)) ?? fail('NOT_FOUND', { path: runId });
      const isEnded = await store.runs.cancel(runId, access.caller.id);
      // If the run is executing, its executor logs the end.
      if (isEnded && run.state !== 'running') {
        log.logEvent(run, 'abortWorkflow', { userId: access.caller.id });
        await files.remove(runId, (await store.runs.steps(runId)).at(-1));
      }
      return isEnded;
    },
  };
}

/**
 * The answer to the question of the waiting step, checked with the access of the caller. Throws INVALID_ARGUMENT for a
 * decision or values that the question does not accept. Changes nothing.
 */
export async function acceptAnswer(
  parts: InputRequestContext,
  inputRequest: InputRequest,
  submitted: SubmittedAnswer,
): Promise<Answer> {
  const requestData = parts.steps.at(-1)!.data as InputRequestData;
  const value = await resolveChosenRecord(parts, requestData, parseAnswer(inputRequest, submitted));
  await checkAnswer({ ...parts, runId: parts.run.id }, requestData, value);
  return value;
}

function parseAnswer({ decisions, fields }: InputRequest, { decision, values = {} }: SubmittedAnswer): Answer {
  const chosen = decisions.find(({ id }) => id === decision);
  if (!chosen) {
    const names = decisions.map(({ id }) => id).join(', ');
    return fail('INVALID_ARGUMENT', { argument: 'decision', problem: `expected one of ${names}.` });
  }
  if (!chosen.takesFields) return { decision, values: {} };
  const unknown = Object.keys(values).find((name) => !fields.some((field) => field.name === name));
  if (unknown !== undefined) fail('INVALID_ARGUMENT', { argument: unknown, problem: 'this step does not ask for it.' });
  const parsedValues = fields.flatMap((field) => {
    const submitted = Object.hasOwn(values, field.name) ? values[field.name] : undefined;
    const isAbsent = submitted === undefined || submitted === null || submitted === '';
    if (!isAbsent) return [[field.name, parseInput(field, submitted)] as const];
    if (field.required) fail('INVALID_ARGUMENT', { argument: field.name, problem: 'a value is required.' });
    // A file chosen earlier is retained.
    return field.type === 'file' || field.type === 'files' ? [] : [[field.name, null] as const];
  });
  return { decision, values: Object.fromEntries(parsedValues) };
}

/** Resolves a choice to one record: the typed id takes precedence over the selected one. */
async function resolveChosenRecord(
  parts: InputRequestContext,
  requestData: InputRequestData,
  { decision, values }: Answer,
): Promise<Answer> {
  if (requestData.ask !== 'record' || decision !== 'choose') return { decision, values };
  const { record, other } = values;
  const typed = typeof other === 'string' ? other.trim() : '';
  if (typed === '') {
    if (record == null) fail('INVALID_ARGUMENT', { argument: 'record', problem: 'choose a record, or enter its id.' });
    return { decision, values: { record } };
  }
  if (!(await isChoosable(parts, requestData, typed))) {
    fail('INVALID_ARGUMENT', { argument: 'other', problem: `'${requestData.relation}' has no such record.` });
  }
  return { decision, values: { record: typed } };
}

/** The value of one field. Throws INVALID_ARGUMENT for a value that the field does not accept. */
export function parseInput({ name, type, options, answer }: InputRequestField, input: unknown): unknown {
  const allowed = options?.map(({ value }) => value);
  const failValue = (problem: string): never => fail('INVALID_ARGUMENT', { argument: name, problem });
  if (answer) return parseTypedValue(answer, input, name);
  switch (type) {
    case 'text':
      return parseTypedValue({ type: 'text' }, input, name);
    case 'number':
    case 'boolean':
      return parseTypedValue({ type }, input, name);
    case 'enum':
      return parseTypedValue({ type, options: allowed ?? [] }, String(input), name);
    case 'list':
    case 'number-list': {
      const list = Array.isArray(input) ? input : [input];
      if (allowed && !list.every((each) => allowed.includes(String(each))))
        failValue(`expected some of ${allowed.join(', ')}.`);
      return type === 'list' ? list.map(String) : list.map((each) => parseTypedValue({ type: 'number' }, each, name));
    }
    case 'file':
      return isFormFile(input) ? input : failValue('choose a file.');
    case 'files': {
      const chosen: unknown[] = Array.isArray(input) ? input : [input];
      return chosen.every(isFormFile) ? chosen : failValue('choose files.');
    }
    case 'json':
      return typeof input === 'string' ? parseJsonValue(input, failValue) : input;
    default:
      // The engine parses dates.
      return String(input);
  }
}

function parseJsonValue(text: string, failValue: (problem: string) => never): unknown {
  const inexact = findInexactNumber(text);
  if (inexact !== undefined) return failValue(inexact);
  try {
    return JSON.parse(text);
  } catch {
    return failValue('expected JSON.');
  }
}

/** Checks the caller's permissions on the actual records and fields: the engine evaluates the change as the caller. */
async function checkAnswer(
  context: { readonly engine: Engine; readonly access: Access; readonly files: RunFiles; readonly runId: string },
  requestData: InputRequestData,
  { decision, values }: Answer,
): Promise<void> {
  if (decision === 'decline' || decision === 'end') return;
  if (requestData.ask === 'values') await previewChange(context, requestData, values);
  if (requestData.ask === 'change') await previewChange(context, requestData, requestData.values);
  if (requestData.ask === 'form' || requestData.ask === 'action') {
    const { action } = requestData;
    const allValues = requestData.ask === 'form' ? { ...requestData.values, ...values } : requestData.values;
    const opened = await context.files.open(context.runId, allValues);
    const form = await loadForm(context, requestData, action, opened.values);
    const [problem] = form.problems;
    if (problem) fail('INVALID_ARGUMENT', { argument: problem.field, problem: problem.problem });
    // If a file has expired in the meantime, the run asks for it again.
    const missing = form.missing.find((name) => requestData.ask === 'form' || !opened.expired.includes(name));
    if (missing !== undefined) fail('INVALID_ARGUMENT', { argument: missing, problem: 'a value is required.' });
  }
  if (requestData.ask === 'uncertain' && decision === 'again' && requestData.before)
    await checkAnswer(context, requestData.before.asked, requestData.before.answer);
}
