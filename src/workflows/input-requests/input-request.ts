// The question of a waiting step for a viewer: a text, typed fields and possible decisions. Record values are read with
// the viewer's permissions. Values that the run has read are visible only to the run's own user.

import type { FormFile } from '../../agent/actions/definitions.ts';
import { filesIn, sayFile } from '../../agent/actions/form-file.ts';
import type { Engine } from '../../agent/engine.ts';
import type { WriteEffect } from '../../agent/write/effects.ts';
import type { Access } from '../../core/caller.ts';
import { isAppError } from '../../core/errors.ts';
import type { Run, RunStep } from '../../store/workflows/types.ts';
import { stepOf, type TypedAnswer, type WorkflowDefinition, type WorkflowStep } from '../definition/definition.ts';
import { fillTemplates, type Reference, referencesOf } from '../definition/template.ts';
import { forPeople } from '../runs/failure.ts';
import type { RunFiles } from '../runs/files.ts';
import type { Asked } from '../steps/input-request.ts';
import { CANDIDATES, findCandidates, findRelated } from '../steps/load-related-record.ts';
import { readFields } from '../steps/step.ts';
import { loadForm } from '../steps/trigger-action.ts';
import { previewChange } from '../steps/update-record.ts';

export interface Question {
  /** Position of the step. An answer names it. */
  readonly position: number;
  readonly stepId: string;
  readonly type: WorkflowStep['type'];
  readonly title: string;
  readonly text?: string;
  readonly fields: readonly QuestionField[];
  /** The proposed changes, if the step asks for their confirmation. */
  readonly changes?: readonly AskedChange[];
  /** Additional records that would be written, in any collection. */
  readonly effects?: readonly WriteEffect[];
  /** Possible side effects that cannot be computed, as sentences. */
  readonly unseen?: readonly string[];
  readonly decisions: readonly Decision[];
  /** Why the viewer may not answer; null if they may. */
  readonly refusal: string | null;
}

export interface AskedChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
  /** For files: a description of each, and the number that opens it. */
  readonly files?: readonly { readonly number: number; readonly text: string }[];
}

export interface QuestionField {
  readonly name: string;
  readonly label: string;
  /** `list`: strings; `number-list`: numbers; `json`: any JSON; `file`, `files`: a browser upload (FormFile). */
  readonly type: TypedAnswer['type'] | 'date' | 'day' | 'time' | 'list' | 'number-list' | 'json' | 'file' | 'files';
  readonly required: boolean;
  /** Set if exactly one of several fields is needed. `required` is then false for all of them. */
  readonly isOneOf?: true;
  /** Initial value. For files, a description of each. */
  readonly value?: unknown;
  /** Choices for `enum`, and for lists restricted to them. */
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  readonly description?: string;
  /** For `text` and `number`. */
  readonly answer?: TypedAnswer;
  /** For `file` and `files` with restricted types: file extensions without the dot. */
  readonly endings?: readonly string[];
  /** Problem with the initial value. */
  readonly problem?: string;
}

export interface Decision {
  readonly id: string;
  readonly label: string;
  /** Whether the decision uses the values of the fields. */
  readonly takesFields: boolean;
}

export interface QuestionParts {
  readonly engine: Engine;
  readonly access: Access;
  readonly run: Run;
  readonly definition: WorkflowDefinition;
  readonly steps: readonly RunStep[];
  readonly files: RunFiles;
}

type Shown = Pick<Question, 'fields' | 'decisions'> &
  Partial<Pick<Question, 'text' | 'changes' | 'effects' | 'unseen'>>;
type Place = QuestionParts & { readonly step: WorkflowStep };

/** Returns undefined for a run that does not wait for a person. */
export async function questionOf(parts: QuestionParts): Promise<Question | undefined> {
  const place = waitingIn(parts);
  if (!place) return undefined;
  const { step, open } = place;
  const about = { position: open.position, stepId: step.id, type: step.type, title: step.title ?? step.id };
  try {
    const asked = open.data as Asked;
    return { ...about, ...(await show(place, asked)), refusal: refusalOf(place, asked) };
  } catch (error) {
    // The viewer may not read the subject of the question, and therefore cannot answer it.
    if (!isAppError(error)) throw error;
    return { ...about, fields: [], decisions: [], refusal: forPeople(error) };
  }
}

/**
 * A file named by the question at that position, for viewers who may read the question. Throws FORBIDDEN for all
 * others.
 */
export async function fileAsked(
  parts: QuestionParts,
  { position, number }: { readonly position: number; readonly number: number },
): Promise<FormFile | undefined> {
  const place = waitingIn(parts);
  const asked = place?.open.data as Asked | undefined;
  if (place?.open.position !== position || asked?.ask !== 'action') return undefined;
  const fields = await actionFields(place, asked);
  return fields.flatMap(({ value }) => filesIn(value))[number - 1];
}

function waitingIn(parts: QuestionParts): (Place & { readonly open: RunStep }) | undefined {
  const { run, steps, definition } = parts;
  const open = steps.at(-1);
  if (run.state !== 'awaiting-input' || open?.state !== 'waiting' || run.stepId === null) return undefined;
  const step = stepOf(definition, run.stepId);
  return step && { ...parts, step, open };
}

const decision = (id: string, label: string, takesFields = false): Decision => ({ id, label, takesFields });
const decline = decision('decline', 'No: end the run here');

async function show(place: Place, asked: Asked): Promise<Shown> {
  const { step } = place;
  const isOwn = place.access.caller.id === place.run.userId;
  switch (asked.ask) {
    case 'inputs': {
      const inputs = step.type === 'guidance' ? (step.inputs ?? []) : [];
      const fields = inputs.map(({ name, label = name, required = true, answer }) =>
        typedField({ name, label, required }, answer),
      );
      const text = isOwn ? asked.text : await fillFor(place, step.type === 'guidance' ? step.text : '');
      return { text, fields, decisions: [decision('done', 'Done: go on', true)] };
    }
    case 'option': {
      const { options, question } = step as Extract<WorkflowStep, { type: 'condition' }>;
      const text = question === undefined ? undefined : await fillFor(place, question);
      const choices = options.map(({ id, label = id }) => ({ value: id, label }));
      const { proposed } = asked;
      const field = choiceField('option', 'Which way', choices, proposed);
      return {
        ...(text !== undefined && { text }),
        fields: [field],
        decisions: [decision('choose', 'Go this way', true)],
      };
    }
    case 'values':
      return { fields: valueFields(place, asked), decisions: [decision('save', 'Save', true), decline] };
    case 'change': {
      const { changes, effects, unseen } = await previewChange(place, asked, asked.values);
      const shown = Object.entries(changes).map(([field, { before, after }]) => ({ field, before, after }));
      return {
        fields: [],
        changes: shown,
        effects,
        unseen,
        decisions: [decision('confirm', 'Yes: change it'), decline],
      };
    }
    case 'form':
      return { fields: await formFields(place, asked), decisions: [decision('run', 'Execute', true), decline] };
    case 'action': {
      let number = 0;
      const changes = (await actionFields(place, asked)).map(({ label, value }) => {
        const files = filesIn(value).map((file) => ({ number: ++number, text: sayFile(file) }));
        return { field: label, before: null, after: sayFiles(value), ...(files.length > 0 && { files }) };
      });
      const decisions = [decision('confirm', `Yes: execute '${asked.action}'`), decline];
      return {
        text: `The action '${asked.action}' of '${asked.collection}' is to be executed.`,
        fields: [],
        changes,
        decisions,
      };
    }
    case 'call': {
      const given = Object.entries(isOwn ? asked.arguments : {});
      const changes = given.map(([field, after]) => ({ field, before: null, after }));
      const text = `The tool '${asked.tool}' of the server '${asked.server}' is to be called.`;
      return { text, fields: [], changes, decisions: [decision('confirm', 'Yes: call it'), decline] };
    }
    case 'record': {
      const candidates = await findCandidates(...(await related(place, asked, CANDIDATES + 1)));
      const hasMore = candidates.length > CANDIDATES;
      const shown = candidates.slice(0, CANDIDATES);
      const { proposed } = asked;
      if (hasMore && proposed !== undefined && !shown.some(({ id }) => id === proposed)) {
        shown.unshift(...(await findCandidates(...(await related(place, asked, 1, proposed)))));
      }
      const choices = shown.map(({ id, title }) => ({
        value: id,
        label: title === undefined ? id : `${title} (${id})`,
      }));
      const field = choiceField('record', asked.relation, choices, proposed);
      const decisions = [decision('choose', 'Take this one', true), decision('none', 'None of them')];
      if (!hasMore) return { fields: [field], decisions };
      const other: QuestionField = {
        ...{ name: 'other', label: 'Or another, by its id', type: 'text', required: false, isOneOf: true },
        answer: { type: 'text', maxLength: 255 },
        description: `There are more than ${CANDIDATES}: these are the first. What is typed here counts before what is chosen.`,
      };
      return { fields: [{ ...field, required: false, isOneOf: true }, other], decisions };
    }
    case 'answer': {
      const { answer, prompt } = step as Extract<WorkflowStep, { type: 'ai' }>;
      const text = isOwn ? asked.prompt : await fillFor(place, prompt);
      const field = typedField({ name: 'answer', label: 'Answer', required: true }, answer);
      const value = isOwn ? asked.proposed : undefined;
      return {
        text,
        fields: [{ ...field, ...(value !== undefined && { value }) }],
        decisions: [decision('answer', 'Answer', true)],
      };
    }
    case 'reconnect': {
      const text = `The server '${asked.server}' must be connected again; then this can go on.`;
      return { text, fields: [], decisions: [decision('done', 'It is connected: go on'), decline] };
    }
    case 'uncertain': {
      const text =
        'This step was begun and cut off. Whether it was done is not known here: look at the record, and say what is to happen.';
      const decisions = [
        decision('done', 'It was done: go on'),
        decision('again', 'It was not: do it again'),
        decision('end', 'End the run'),
      ];
      return { text, fields: [], decisions };
    }
  }
}

type AskedRecord = Extract<Asked, { ask: 'record' }>;

/** Arguments to find the selectable records of a step, as the viewer. */
async function related(place: Place, asked: AskedRecord, limit: number, only?: string) {
  const { engine, access } = place;
  const reader = { engine, access, step: place.step as Extract<WorkflowStep, { type: 'load-related-record' }> };
  const filter = reader.step.filter && (await fillRaw(place, reader.step.filter));
  return [reader, asked, { filter, limit, ...(only !== undefined && { only }) }] as const;
}

/** Whether the step accepts that record, even if it was not among the offered ones. */
export async function isChoosable(parts: QuestionParts, asked: AskedRecord, id: string): Promise<boolean> {
  const step = stepOf(parts.definition, parts.run.stepId ?? '');
  if (!step) return false;
  try {
    return (await findRelated(...(await related({ ...parts, step }, asked, 1, id)))).length === 1;
  } catch (error) {
    // An id that the key column cannot hold matches no record.
    if (isAppError(error, 'RECORD_NOT_FOUND') || isAppError(error, 'INVALID_VALUE')) return false;
    throw error;
  }
}

/** The caller must hold the permission that the step needs. If a second person is required, it must be another user. */
function refusalOf({ access, step, definition, run }: Place, asked: Asked): string | null {
  if ('notBy' in asked && asked.notBy?.includes(access.caller.id)) return 'This needs the yes of another person.';
  // The call uses the user's own account, and only they may see its arguments. Others cannot confirm what they cannot
  // see.
  if (step.type === 'mcp' && access.caller.id !== run.userId) {
    return 'Only the user of the run can answer here: it is his account that the server is asked with. An editor can end the run.';
  }
  const collection = 'collection' in asked ? asked.collection : run.collection;
  if (step.type === 'update-record' && !access.can('edit', collection)) return `You may not edit '${collection}'.`;
  if (step.type === 'trigger-action' && !access.canTrigger(collection, step.action)) {
    return `You may not trigger '${step.action}' of '${collection}'.`;
  }
  return access.can('browse', definition.collection) ? null : `You may not see '${definition.collection}'.`;
}

const typedField = (about: Pick<QuestionField, 'name' | 'label' | 'required'>, answer: TypedAnswer): QuestionField => ({
  ...about,
  type: answer.type,
  answer,
  ...(answer.type === 'enum' && { options: answer.options.map((value) => ({ value, label: value })) }),
});

const choiceField = (
  name: string,
  label: string,
  options: NonNullable<QuestionField['options']>,
  value: string | undefined,
): QuestionField => ({ name, label, type: 'enum', required: true, options, ...(value !== undefined && { value }) });

const columnTypes: Readonly<Record<string, QuestionField['type']>> = {
  String: 'text',
  Uuid: 'text',
  Number: 'number',
  Boolean: 'boolean',
  Enum: 'enum',
  Date: 'date',
  Dateonly: 'day',
  Time: 'time',
};

/** Fields of the record, limited to those visible to the viewer. */
function valueFields(
  { engine, access, run }: Place,
  { collection, values }: Extract<Asked, { ask: 'values' }>,
): readonly QuestionField[] {
  const { fields } = engine.describe(access, collection);
  return Object.entries(values).flatMap(([name, value]) => {
    const known = fields.find((field) => field.name === name);
    if (!known) return [];
    const { type, nullable, enumValues } = known;
    const options = enumValues?.map((each) => ({ value: each, label: each }));
    const isOwn = access.caller.id === run.userId;
    return [
      {
        name,
        label: name,
        type: columnTypes[type] ?? 'json',
        required: !nullable,
        ...(isOwn && value !== null && { value }),
        ...(options && { options }),
      },
    ];
  });
}

const formTypes: Readonly<Record<string, QuestionField['type']>> = {
  ...columnTypes,
  EnumList: 'list',
  StringList: 'list',
  NumberList: 'number-list',
  File: 'file',
  FileList: 'files',
};

/** The values for an action, from its form as the viewer loads it. */
async function actionFields(place: Place, asked: Extract<Asked, { ask: 'action' }>) {
  const { values } = await place.files.open(place.run.id, asked.values);
  return (await loadForm(place, asked, asked.action, values)).fields;
}

/** Replaces files by a description. Returns other values unchanged. */
function sayFiles(value: unknown): unknown {
  const files = filesIn(value);
  return files.length > 0 ? files.map(sayFile).join(', ') : value;
}

const endingOf = (extension: unknown): string => String(extension).replace(/^\./, '');

async function formFields(place: Place, asked: Extract<Asked, { ask: 'form' }>): Promise<readonly QuestionField[]> {
  const isOwn = place.access.caller.id === place.run.userId;
  const { values } = await place.files.open(place.run.id, isOwn ? asked.values : {});
  const form = await loadForm(place, asked, asked.action, values);
  return form.fields
    .filter(({ isReadOnly }) => !isReadOnly)
    .map(({ id, label, type, value: held, isRequired, description, enumValues, options, settings }) => {
      const choices =
        enumValues?.map((each) => ({ value: each, label: each })) ??
        options?.map((option) => ({ value: String(option.value), label: option.label }));
      const problem = form.problems.find(({ field }) => field === id)?.problem;
      const plain = formTypes[type] ?? 'json';
      const isFile = plain === 'file' || plain === 'files';
      const value = isFile ? sayFiles(held) : held;
      const endings = Array.isArray(settings?.extensions) ? settings.extensions.map(endingOf) : [];
      return {
        name: id,
        label,
        type: choices && plain === 'text' ? 'enum' : plain,
        // A file provided earlier is retained until another is chosen.
        required: isRequired && !(isFile && value != null),
        ...(isFile && endings.length > 0 && { endings }),
        ...(value != null && { value }),
        ...(choices && { options: choices }),
        ...(description !== undefined && { description }),
        ...(problem !== undefined && { problem }),
      };
    });
}

/**
 * References to the record use the viewer's permissions. References to data of the run resolve only for the run's own
 * user.
 */
async function fillRaw<T>(place: Place, value: T): Promise<T> {
  const { access, run, steps, step } = place;
  const { id, email, firstName, lastName, team } = access.caller;
  const names = referencesOf(value, step.id).filter(({ root }) => root === 'record');
  const fields = [...new Set(names.map(({ name }) => name))];
  const record =
    fields.length === 0 ? {} : await readFields(place, { collection: run.collection, id: run.recordId }, fields);
  const isOwn = id === run.userId;
  const look = ({ root, name, member }: Reference): unknown => {
    if (root === 'record') return record[name] ?? null;
    if (root === 'run') return { id: run.id, record: run.recordId, workflow: run.name }[name] ?? null;
    if (!isOwn) return '(not shown)';
    if (root === 'user') return { id, email, firstName, lastName, team }[name] ?? null;
    const data = steps.findLast((each) => each.stepId === name && each.state === 'done')?.data;
    return (data as Readonly<Record<string, unknown>> | undefined)?.[member!] ?? null;
  };
  return fillTemplates(value, look);
}

const fillFor = async (place: Place, text: string): Promise<string> => String(await fillRaw(place, text));
