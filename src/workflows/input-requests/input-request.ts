// The question of a waiting step for a viewer: a text, typed fields and possible decisions. Record values are read with
// the viewer's permissions. Values that the run has read are visible only to the run's own user.

import type { FormFile } from '../../agent/actions/definitions.ts';
import { filesOf, formatFile } from '../../agent/actions/form-file.ts';
import type { WriteEffect } from '../../agent/write/effects.ts';
import { isAppError } from '../../core/errors.ts';
import type { RunStep } from '../../store/workflows/types.ts';
import { stepOf, type WorkflowDefinition, type WorkflowStep } from '../definition/definition.ts';
import { fillTemplates, type Reference, referencesOf } from '../definition/template.ts';
import { withoutToolAdvice } from '../runs/failure.ts';
import type { InputRequestData } from '../steps/input-request.ts';
import { findCandidates, findRelated, MAX_CANDIDATES } from '../steps/load-related-record.ts';
import { readFields } from '../steps/step.ts';
import { previewChange } from '../steps/update-record.ts';
import {
  actionFields,
  choiceField,
  describeFiles,
  type FieldParts,
  formFields,
  type InputRequestField,
  typedField,
  valueFields,
} from './fields.ts';

export interface InputRequest {
  /** Position of the step. An answer names it. */
  readonly position: number;
  readonly stepId: string;
  readonly type: WorkflowStep['type'];
  readonly title: string;
  readonly text?: string;
  readonly fields: readonly InputRequestField[];
  /** The proposed changes, if the step asks for their confirmation. */
  readonly changes?: readonly ProposedChange[];
  /** Additional records that would be written, in any collection. */
  readonly effects?: readonly WriteEffect[];
  /** Possible side effects that cannot be computed, as sentences. */
  readonly unseen?: readonly string[];
  readonly decisions: readonly Decision[];
  /** Why the viewer may not answer; null if they may. */
  readonly refusal: string | null;
}

interface ProposedChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
  /** For files: a description of each, and the number that opens it. */
  readonly files?: readonly { readonly number: number; readonly text: string }[];
}

interface Decision {
  readonly id: string;
  readonly label: string;
  /** Whether the decision uses the values of the fields. */
  readonly takesFields: boolean;
}

export interface InputRequestContext extends FieldParts {
  readonly definition: WorkflowDefinition;
  readonly steps: readonly RunStep[];
}

type RequestContent = Pick<InputRequest, 'fields' | 'decisions'> &
  Partial<Pick<InputRequest, 'text' | 'changes' | 'effects' | 'unseen'>>;
type StepContext = InputRequestContext & { readonly step: WorkflowStep };

/** Returns undefined for a run that does not wait for a person. */
export async function inputRequestOf(parts: InputRequestContext): Promise<InputRequest | undefined> {
  const context = findWaitingStep(parts);
  if (!context) return undefined;
  const { step, waitingStep } = context;
  const about = { position: waitingStep.position, stepId: step.id, type: step.type, title: step.title ?? step.id };
  try {
    const requestData = waitingStep.data as InputRequestData;
    return { ...about, ...(await describeRequest(context, requestData)), refusal: findRefusal(context, requestData) };
  } catch (error) {
    // The viewer may not read the subject of the question, and therefore cannot answer it.
    if (!isAppError(error)) throw error;
    return { ...about, fields: [], decisions: [], refusal: withoutToolAdvice(error) };
  }
}

/**
 * A file named by the question at that position, for viewers who may read the question. Throws FORBIDDEN for all
 * others.
 */
export async function findRequestedFile(
  parts: InputRequestContext,
  { position, number }: { readonly position: number; readonly number: number },
): Promise<FormFile | undefined> {
  const context = findWaitingStep(parts);
  const requestData = context?.waitingStep.data as InputRequestData | undefined;
  if (context?.waitingStep.position !== position || requestData?.ask !== 'action') return undefined;
  const fields = await actionFields(context, requestData);
  return fields.flatMap(({ value }) => filesOf(value))[number - 1];
}

function findWaitingStep(parts: InputRequestContext): (StepContext & { readonly waitingStep: RunStep }) | undefined {
  const { run, steps, definition } = parts;
  const waitingStep = steps.at(-1);
  if (run.state !== 'awaiting-input' || waitingStep?.state !== 'waiting' || run.stepId === null) return undefined;
  const step = stepOf(definition, run.stepId);
  return step && { ...parts, step, waitingStep };
}

const createDecision = (id: string, label: string, takesFields = false): Decision => ({ id, label, takesFields });
const declineDecision = createDecision('decline', 'Reject and end the run');

async function describeRequest(context: StepContext, requestData: InputRequestData): Promise<RequestContent> {
  const { step } = context;
  const isOwn = context.access.caller.id === context.run.userId;
  switch (requestData.ask) {
    case 'inputs': {
      const inputs = step.type === 'guidance' ? (step.inputs ?? []) : [];
      const fields = inputs.map(({ name, label = name, required = true, answer }) =>
        typedField({ name, label, required }, answer),
      );
      const text = isOwn
        ? requestData.text
        : await fillTextForViewer(context, step.type === 'guidance' ? step.text : '');
      return { text, fields, decisions: [createDecision('done', 'Mark as done', true)] };
    }
    case 'option': {
      const { options, question } = step as Extract<WorkflowStep, { type: 'condition' }>;
      const text = question === undefined ? undefined : await fillTextForViewer(context, question);
      const choices = options.map(({ id, label = id }) => ({ value: id, label }));
      const { proposed } = requestData;
      const field = choiceField('option', 'Option', choices, proposed);
      return {
        ...(text !== undefined && { text }),
        fields: [field],
        decisions: [createDecision('choose', 'Choose', true)],
      };
    }
    case 'values':
      return {
        fields: valueFields(context, requestData),
        decisions: [createDecision('save', 'Save', true), declineDecision],
      };
    case 'change': {
      const { changes, effects, unseen } = await previewChange(context, requestData, requestData.values);
      const shown = Object.entries(changes).map(([field, { before, after }]) => ({ field, before, after }));
      return {
        fields: [],
        changes: shown,
        effects,
        unseen,
        decisions: [createDecision('confirm', 'Apply'), declineDecision],
      };
    }
    case 'form':
      return {
        fields: await formFields(context, requestData),
        decisions: [createDecision('run', 'Execute', true), declineDecision],
      };
    case 'action': {
      let number = 0;
      const changes = (await actionFields(context, requestData)).map(({ label, value }) => {
        const files = filesOf(value).map((file) => ({ number: ++number, text: formatFile(file) }));
        return { field: label, before: null, after: describeFiles(value), ...(files.length > 0 && { files }) };
      });
      const decisions = [createDecision('confirm', `Execute '${requestData.action}'`), declineDecision];
      return {
        text: `This step executes the action '${requestData.action}' of '${requestData.collection}'.`,
        fields: [],
        changes,
        decisions,
      };
    }
    case 'call': {
      const argumentEntries = Object.entries(isOwn ? requestData.arguments : {});
      const changes = argumentEntries.map(([field, after]) => ({ field, before: null, after }));
      const text = `This step calls the tool '${requestData.tool}' of the server '${requestData.server}'.`;
      return { text, fields: [], changes, decisions: [createDecision('confirm', 'Call the tool'), declineDecision] };
    }
    case 'record': {
      const candidates = await findCandidates(...(await toRelatedQuery(context, requestData, MAX_CANDIDATES + 1)));
      const hasMore = candidates.length > MAX_CANDIDATES;
      const shown = candidates.slice(0, MAX_CANDIDATES);
      const { proposed } = requestData;
      if (hasMore && proposed !== undefined && !shown.some(({ id }) => id === proposed)) {
        shown.unshift(...(await findCandidates(...(await toRelatedQuery(context, requestData, 1, proposed)))));
      }
      const choices = shown.map(({ id, title }) => ({
        value: id,
        label: title === undefined ? id : `${title} (${id})`,
      }));
      const field = choiceField('record', requestData.relation, choices, proposed);
      const decisions = [createDecision('choose', 'Use this record', true), createDecision('none', 'None of these')];
      if (!hasMore) return { fields: [field], decisions };
      const other: InputRequestField = {
        ...{ name: 'other', label: 'Another record (id)', type: 'text', required: false, isOneOf: true },
        answer: { type: 'text', maxLength: 255 },
        description: `The list shows only the first ${MAX_CANDIDATES}. An id that you enter here takes precedence over your choice.`,
      };
      return { fields: [{ ...field, required: false, isOneOf: true }, other], decisions };
    }
    case 'answer': {
      const { answer, prompt } = step as Extract<WorkflowStep, { type: 'ai' }>;
      const text = isOwn ? requestData.prompt : await fillTextForViewer(context, prompt);
      const field = typedField({ name: 'answer', label: 'Answer', required: true }, answer);
      const value = isOwn ? requestData.proposed : undefined;
      return {
        text,
        fields: [{ ...field, ...(value !== undefined && { value }) }],
        decisions: [createDecision('answer', 'Answer', true)],
      };
    }
    case 'reconnect': {
      const text = `Reconnect the server '${requestData.server}', then continue.`;
      return { text, fields: [], decisions: [createDecision('done', 'Continue'), declineDecision] };
    }
    case 'uncertain': {
      const text =
        'This step was interrupted, and its outcome is unknown. Check the record, then choose how to continue.';
      const decisions = [
        createDecision('done', 'It was done: continue'),
        createDecision('again', 'It was not done: retry'),
        createDecision('end', 'End the run'),
      ];
      return { text, fields: [], decisions };
    }
  }
}

type RecordChoiceData = Extract<InputRequestData, { ask: 'record' }>;

/** Arguments to find the selectable records of a step, as the viewer. */
async function toRelatedQuery(context: StepContext, requestData: RecordChoiceData, limit: number, only?: string) {
  const { engine, access } = context;
  const reader = { engine, access, step: context.step as Extract<WorkflowStep, { type: 'load-related-record' }> };
  const filter = reader.step.filter && (await fillForViewer(context, reader.step.filter));
  return [reader, requestData, { filter, limit, ...(only !== undefined && { only }) }] as const;
}

/** Whether the step accepts that record, even if it was not among the offered ones. */
export async function isChoosable(
  parts: InputRequestContext,
  requestData: RecordChoiceData,
  id: string,
): Promise<boolean> {
  const step = stepOf(parts.definition, parts.run.stepId ?? '');
  if (!step) return false;
  try {
    return (await findRelated(...(await toRelatedQuery({ ...parts, step }, requestData, 1, id)))).length === 1;
  } catch (error) {
    // An id that the key column cannot hold matches no record.
    if (isAppError(error, 'RECORD_NOT_FOUND') || isAppError(error, 'INVALID_VALUE')) return false;
    throw error;
  }
}

/** The caller must hold the permission that the step needs. If a second person is required, it must be another user. */
function findRefusal({ access, step, definition, run }: StepContext, requestData: InputRequestData): string | null {
  if ('notBy' in requestData && requestData.notBy?.includes(access.caller.id))
    return 'This needs the approval of another person.';
  // The call uses the user's own account, and only they may see its arguments. Others cannot confirm what they cannot
  // see.
  if (step.type === 'mcp' && access.caller.id !== run.userId) {
    return 'Only the user of the run can answer, because the call uses their account. An editor can end the run.';
  }
  const collection = 'collection' in requestData ? requestData.collection : run.collection;
  if (step.type === 'update-record' && !access.can('edit', collection)) return `You may not edit '${collection}'.`;
  if (step.type === 'trigger-action' && !access.canTrigger(collection, step.action)) {
    return `You may not trigger '${step.action}' of '${collection}'.`;
  }
  return access.can('browse', definition.collection) ? null : `You may not see '${definition.collection}'.`;
}

/**
 * References to the record use the viewer's permissions. References to data of the run resolve only for the run's own
 * user.
 */
async function fillForViewer<T>(context: StepContext, value: T): Promise<T> {
  const { access, run, steps, step } = context;
  const { id, email, firstName, lastName, team } = access.caller;
  const names = referencesOf(value, step.id).filter(({ root }) => root === 'record');
  const fields = [...new Set(names.map(({ name }) => name))];
  const record =
    fields.length === 0 ? {} : await readFields(context, { collection: run.collection, id: run.recordId }, fields);
  const isOwn = id === run.userId;
  const resolve = ({ root, name, member }: Reference): unknown => {
    if (root === 'record') return record[name] ?? null;
    if (root === 'run') return { id: run.id, record: run.recordId, workflow: run.name }[name] ?? null;
    if (!isOwn) return '(not shown)';
    if (root === 'user') return { id, email, firstName, lastName, team }[name] ?? null;
    const data = steps.findLast((each) => each.stepId === name && each.state === 'done')?.data;
    return (data as Readonly<Record<string, unknown>> | undefined)?.[member!] ?? null;
  };
  return fillTemplates(value, resolve);
}

const fillTextForViewer = async (context: StepContext, text: string): Promise<string> =>
  String(await fillForViewer(context, text));
