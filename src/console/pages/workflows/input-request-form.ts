// The question of a waiting step as a form: a text, typed fields, and one button per decision.
import { type Html, html } from '../../../http/html.ts';
import type { Run } from '../../../store/workflows/types.ts';
import type { InputRequestField } from '../../../workflows/input-requests/fields.ts';
import type { InputRequest } from '../../../workflows/input-requests/input-request.ts';
import type { Parts, SignedInRequest } from '../../page-request.ts';
import { parseCount, runPage } from '../../paths.ts';
import { areaField, checkField, type Field, field, fileField, openForm, selectField } from '../../ui/form.ts';
import { changeTables, effectTables, shownValue, valueTable } from '../approvals/changes-view.ts';
import { fileLinks } from '../approvals/saved-file.ts';

interface FormError {
  readonly problem: string;
  readonly field?: string;
}

const fieldName = ({ name }: Pick<InputRequestField, 'name'>): string => `value.${name}`;
const idOf = (at: number): string => `value-${at}`;

/** Step that a submitted form answers. */
export const readPosition = (form: URLSearchParams): number | undefined => parseCount(form.get('position'));

/** Submitted values by field name: texts, files, and lists of them. Empty fields are absent. */
export function readValues(
  { fields }: InputRequest,
  { form, files }: Pick<SignedInRequest, 'form' | 'files'>,
): Readonly<Record<string, unknown>> {
  const read = fields.flatMap((one): (readonly [string, unknown])[] => {
    const name = fieldName(one);
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

export function questionForm(
  question: InputRequest,
  run: Run,
  request: SignedInRequest,
  parts: Parts,
  formError?: FormError,
): Html {
  const { title, text, fields, changes = [], decisions, position, refusal } = question;
  const isOfField = formError?.field !== undefined && fields.some(({ name }) => name === formError.field);
  const inputs = fields.map((one, at) =>
    input(one, at, {
      request,
      parts,
      submittedProblem: formError?.field === one.name ? formError.problem : undefined,
      isRetry: formError !== undefined,
    }),
  );
  return html`<section class="question" aria-labelledby="question"><h2 id="question">${title}</h2>
${text !== undefined && text !== '' && html`<p class="told">${text}</p>`}
${formError && !isOfField && html`<p class="alert" role="alert">${formError.problem}</p>`}
${changes.length > 0 && changesTable(question, (number) => parts.paths.path(`${runPage(run.id)}/files/${number}?asked=${position}`))}
${effectTables(question.effects ?? [], question.unseen ?? [])}
${
  refusal !== null
    ? html`<p class="warning" role="note">${refusal} Send the link to this page to a person who can answer.</p>`
    : html`${openForm(request, parts, runPage(run.id), fields.some(isOfFiles) ? 'files' : 'fields')}<input type="hidden" name="position" value="${position}">${inputs}<div class="pair${decisions.length === 1 && ' single'}">${decisions.map(({ id, label }, at) => html`<button class="${at === 0 ? 'primary' : 'plain'}" name="action" value="${id}"${at > 0 && html` formnovalidate`}>${label}</button>`)}</div></form>`
}
</section>`;
}

/** Updates have a previous value; inputs of actions and tools do not. */
function changesTable({ changes = [], type }: InputRequest, addressOf: (number: number) => string): Html {
  if (type !== 'update-record') {
    const rows = changes.map(({ field: name, after, files }) => {
      const links = files?.map(({ number, text }) => ({ text, address: addressOf(number) }));
      const value = links ? fileLinks(links) : shownValue(after);
      return [name, html`<ins>${value}</ins>`] as const;
    });
    return valueTable(html`<caption>With these values</caption>`, 'Value', rows);
  }
  const fields = Object.fromEntries(changes.map(({ field: name, before, after }) => [name, { before, after }]));
  return changeTables('update', [{ id: '', fields }]);
}

const isOfFiles = ({ type }: InputRequestField): boolean => type === 'file' || type === 'files';

/** File size for display. */
export const sizeOf = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.floor(bytes / 1000)} kB` : `${Math.floor(bytes / 100_000) / 10} MB`;

interface InputContext {
  readonly request: SignedInRequest;
  readonly parts: Parts;
  /** Error message of the field. */
  readonly submittedProblem: string | undefined;
  /** Whether the form is shown again after an error. */
  readonly isRetry: boolean;
}

function input(
  one: InputRequestField,
  at: number,
  { request: { form }, parts, submittedProblem, isRetry }: InputContext,
): Html {
  const { label, type, required, isOneOf, options, description, value } = one;
  const name = fieldName(one);
  const isSubmitted = form.has('position');
  const shown = isSubmitted ? (form.get(name) ?? '') : textOf(value);
  const problem = submittedProblem ?? one.problem;
  const about: Field = {
    ...{
      id: idOf(at),
      name,
      label: required || isOneOf || type === 'boolean' ? label : `${label} (optional)`,
      value: shown,
    },
    ...(description !== undefined && { hint: description }),
    ...(problem !== undefined && { problem }),
    required: required && type !== 'boolean',
  };
  if (type === 'file' || type === 'files') {
    const sizeLimit = sizeOf(parts.config.fileLimitBytes);
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
    const checked = isSubmitted ? form.get(name) === 'yes' : value === true;
    return checkField({ id: about.id, name, label, hint: description, checked });
  }
  if (type === 'enum' || (options && type !== 'list' && type !== 'number-list')) {
    const choices = (options ?? []).map((option) => [option.value, option.label] as const);
    return selectField({ ...about, options: [['', 'Choose'], ...choices] });
  }
  if (options) {
    const chosen = new Set(isSubmitted ? form.getAll(name) : Array.isArray(value) ? value.map(String) : []);
    return html`<fieldset class="plain-set"><legend>${label}</legend>${problem && html`<p class="note" role="alert">${problem}</p>`}${options.map((option, index) => checkField({ id: `${about.id}-${index}`, name, value: option.value, label: option.label, checked: chosen.has(option.value) }))}</fieldset>`;
  }
  if (type === 'list' || type === 'number-list') return areaField({ ...about, hint: description ?? 'One per line.' });
  if (type === 'json') return areaField({ ...about, hint: description ?? 'JSON.' });
  if (type === 'number') return field({ ...about, type: 'text', maxLength: 40, hint: description ?? 'A number.' });
  if (type === 'day') return field({ ...about, type: 'date' });
  if (type === 'date') return field({ ...about, hint: description ?? 'Such as 2027-01-31T09:00:00Z.' });
  const maxLength = one.answer?.type === 'text' ? one.answer.maxLength : undefined;
  return (maxLength ?? 10_000) > 255
    ? areaField({ ...about, ...(maxLength !== undefined && { maxLength }) })
    : field({ ...about, maxLength: maxLength ?? 255 });
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(String).join('\n');
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
}
