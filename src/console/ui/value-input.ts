// One control for each typed value: of a question of a workflow, of the form of an action, and of a record.
import { type Html, html } from '../../http/html.ts';
import type { InputRequestField } from '../../workflows/input-requests/fields.ts';
import type { SignedInRequest } from '../page-request.ts';
import { areaField, checkField, type Field, field, fileField, selectField } from './form.ts';

/** Name of the control of a field. The prefix avoids collisions with the form's other fields. */
export const inputName = ({ name }: Pick<InputRequestField, 'name'>): string => `value.${name}`;
const idOf = (at: number): string => `value-${at}`;

export const isFileField = ({ type }: InputRequestField): boolean => type === 'file' || type === 'files';

/** Submitted values by field name: texts, files, and lists of them. Empty fields are absent. */
export function readValues(
  fields: readonly InputRequestField[],
  { form, files }: Pick<SignedInRequest, 'form' | 'files'>,
): Readonly<Record<string, unknown>> {
  const read = fields.flatMap((one): (readonly [string, unknown])[] => {
    const name = inputName(one);
    const { type } = one;
    if (type === 'file' || type === 'files') {
      const chosen = files.get(name) ?? [];
      return chosen.length > 0 ? [[one.name, type === 'file' ? chosen[0] : chosen]] : [];
    }
    if (type === 'boolean') return [[one.name, form.get(name) === 'yes']];
    if (type === 'list' || type === 'number-list') {
      const lines = one.options ? form.getAll(name) : (form.get(name) ?? '').split(/\r?\n/);
      const list = lines.map((each) => each.trim()).filter(Boolean);
      return list.length > 0 ? [[one.name, list]] : [];
    }
    const text = (form.get(name) ?? '').replaceAll('\r\n', '\n');
    return text === '' ? [] : [[one.name, text]];
  });
  return Object.fromEntries(read);
}

/** File size for display. */
export const sizeOf = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.floor(bytes / 1000)} kB` : `${Math.floor(bytes / 100_000) / 10} MB`;

interface InputContext {
  /** The submitted form, whose values are shown again; absent for a new form. */
  readonly submitted: URLSearchParams | undefined;
  readonly fileLimitBytes: number;
  /** Error message of the field. */
  readonly submittedProblem: string | undefined;
  /** The form edits a record: most values are there, so texts are small and nothing is marked as optional. */
  readonly isRecord?: boolean;
  /** Whether the form is shown again after an error. */
  readonly isRetry: boolean;
}

export function valueInput(
  one: InputRequestField,
  at: number,
  { submitted, fileLimitBytes, submittedProblem, isRetry, isRecord = false }: InputContext,
): Html {
  const { label, type, required, isOneOf, options, description, value } = one;
  const name = inputName(one);
  const shown = submitted ? (submitted.get(name) ?? '') : textOf(value);
  const problem = submittedProblem ?? one.problem;
  const about: Field = {
    ...{
      id: idOf(at),
      name,
      label: required || isOneOf || isRecord || type === 'boolean' ? label : `${label} (optional)`,
      value: shown,
    },
    ...(description !== undefined && { hint: description }),
    ...(problem !== undefined && { problem }),
    required: required && type !== 'boolean',
  };
  if (type === 'file' || type === 'files') {
    const sizeLimit = sizeOf(fileLimitBytes);
    const hints = [
      description,
      value != null && `Current file: ${value}. Choose a file to replace it.`,
      type === 'file' ? `At most ${sizeLimit}.` : `At most ${sizeLimit} in total.`,
      isRetry && 'Choose the file again: browsers do not keep it.',
    ];
    const hint = hints.filter(Boolean).join(' ');
    return fileField({ ...about, hint, several: type === 'files', endings: one.endings });
  }
  if (type === 'boolean') {
    const checked = submitted ? submitted.get(name) === 'yes' : value === true;
    return checkField({ id: about.id, name, label, hint: description, checked });
  }
  if (type === 'enum' || (options && type !== 'list' && type !== 'number-list')) {
    const choices = (options ?? []).map((option) => [option.value, option.label] as const);
    return selectField({ ...about, options: [['', 'Choose'], ...choices] });
  }
  if (options) {
    const chosen = new Set(submitted ? submitted.getAll(name) : Array.isArray(value) ? value.map(String) : []);
    return html`<fieldset class="plain-set"><legend>${label}</legend>${problem && html`<p class="note" role="alert">${problem}</p>`}${options.map((option, index) => checkField({ id: `${about.id}-${index}`, name, value: option.value, label: option.label, checked: chosen.has(option.value) }))}</fieldset>`;
  }
  if (type === 'list' || type === 'number-list') return areaField({ ...about, hint: description ?? 'One per line.' });
  if (type === 'json') return areaField({ ...about, hint: description ?? 'JSON.' });
  if (type === 'number') return field({ ...about, type: 'text', maxLength: 40, hint: description ?? 'A number.' });
  if (type === 'day') return field({ ...about, type: 'date' });
  if (type === 'date') return field({ ...about, hint: description ?? 'Such as 2027-01-31T09:00:00Z.' });
  const maxLength = one.answer?.type === 'text' ? one.answer.maxLength : undefined;
  return (maxLength ?? 10_000) > 255
    ? areaField({ ...about, ...(isRecord && { rows: rowsFor(shown) }), ...(maxLength !== undefined && { maxLength }) })
    : field({ ...about, maxLength: maxLength ?? 255 });
}

const rowsFor = (text: string): number => Math.min(10, Math.max(Math.ceil(text.length / 80), text.split('\n').length));

/** The value as the text of a control. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(String).join('\n');
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
}
