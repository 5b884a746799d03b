// The fields of a question to a person, with their values as the viewer may see them: those of a step, of a record, and
// of the form of an action.

import type { FormAnswer } from '../../agent/actions/answer.ts';
import { filesOf, formatFile } from '../../agent/actions/form-file.ts';
import type { Engine } from '../../agent/engine.ts';
import type { Access } from '../../core/caller.ts';
import type { Run } from '../../store/workflows/types.ts';
import type { AnswerType } from '../definition/definition.ts';
import type { RunFiles } from '../runs/files.ts';
import type { InputRequestData } from '../steps/input-request.ts';
import { loadForm } from '../steps/trigger-action.ts';

export interface InputRequestField {
  readonly name: string;
  readonly label: string;
  /** `list`: strings; `number-list`: numbers; `json`: any JSON; `file`, `files`: a browser upload (FormFile). */
  readonly type: AnswerType['type'] | 'date' | 'day' | 'time' | 'list' | 'number-list' | 'json' | 'file' | 'files';
  readonly required: boolean;
  /** Set if exactly one of several fields is needed. `required` is then false for all of them. */
  readonly isOneOf?: true;
  /** Initial value. For files, a description of each. */
  readonly value?: unknown;
  /** Choices for `enum`, and for lists restricted to them. */
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  readonly description?: string;
  /** For `text` and `number`. */
  readonly answer?: AnswerType;
  /** For `file` and `files` with restricted types: file extensions without the dot. */
  readonly endings?: readonly string[];
  /** Problem with the initial value. */
  readonly problem?: string;
}

export interface FieldParts {
  readonly engine: Engine;
  readonly access: Access;
  readonly run: Run;
  readonly files: RunFiles;
}

export const typedField = (
  basics: Pick<InputRequestField, 'name' | 'label' | 'required'>,
  answer: AnswerType,
): InputRequestField => ({
  ...basics,
  type: answer.type,
  answer,
  ...(answer.type === 'enum' && { options: answer.options.map((value) => ({ value, label: value })) }),
});

export const choiceField = (
  name: string,
  label: string,
  options: NonNullable<InputRequestField['options']>,
  value: string | undefined,
): InputRequestField => ({ name, label, type: 'enum', required: true, options, ...(value !== undefined && { value }) });

export const columnTypes: Readonly<Record<string, InputRequestField['type']>> = {
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
export function valueFields(
  { engine, access, run }: FieldParts,
  { collection, values }: Extract<InputRequestData, { ask: 'values' }>,
): readonly InputRequestField[] {
  const { fields } = engine.describe(access, collection);
  return Object.entries(values).flatMap(([name, value]) => {
    const described = fields.find((field) => field.name === name);
    if (!described) return [];
    const { type, nullable, enumValues } = described;
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

const formTypes: Readonly<Record<string, InputRequestField['type']>> = {
  ...columnTypes,
  EnumList: 'list',
  StringList: 'list',
  NumberList: 'number-list',
  File: 'file',
  FileList: 'files',
};

/** The values for an action, from its form as the viewer loads it. */
export async function actionFields(context: FieldParts, requestData: Extract<InputRequestData, { ask: 'action' }>) {
  const { values } = await context.files.open(context.run.id, requestData.values);
  return (await loadForm(context, requestData, requestData.action, values)).fields;
}

/** Replaces files by a description. Returns other values unchanged. */
export function describeFiles(value: unknown): unknown {
  const files = filesOf(value);
  return files.length > 0 ? files.map(formatFile).join(', ') : value;
}

const toExtension = (extension: unknown): string => String(extension).replace(/^\./, '');

export async function formFields(
  context: FieldParts,
  requestData: Extract<InputRequestData, { ask: 'form' }>,
): Promise<readonly InputRequestField[]> {
  const isOwn = context.access.caller.id === context.run.userId;
  const { values } = await context.files.open(context.run.id, isOwn ? requestData.values : {});
  return toInputFields(await loadForm(context, requestData, requestData.action, values));
}

/** The fields of an action's form that a person can fill, with their values so far. */
export function toInputFields(form: FormAnswer): readonly InputRequestField[] {
  return form.fields
    .filter(({ isReadOnly }) => !isReadOnly)
    .map(({ id, label, type, value: storedValue, isRequired, description, enumValues, options, settings }) => {
      const choices =
        enumValues?.map((each) => ({ value: each, label: each })) ??
        options?.map((option) => ({ value: String(option.value), label: option.label }));
      const problem = form.problems.find(({ field }) => field === id)?.problem;
      const plain = formTypes[type] ?? 'json';
      const isFile = plain === 'file' || plain === 'files';
      const value = isFile ? describeFiles(storedValue) : storedValue;
      const endings = Array.isArray(settings?.extensions) ? settings.extensions.map(toExtension) : [];
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
