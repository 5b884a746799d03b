// Values by field: of a record, and of the form of an action. A value is entered with the control of its field, or comes
// from the run, such as a field that an earlier step has read.
import { isAppError } from '../../../../../core/errors.ts';
import { type Html, html, visibleText } from '../../../../../http/html.ts';
import type { InputRequestField } from '../../../../../workflows/input-requests/fields.ts';
import type { Option } from '../../../../ui/form.ts';
import { inputName, valueInput } from '../../../../ui/value-input.ts';
import { toValue } from '../../../data/form.ts';
import type { FormContext, FormView, Part } from './part.ts';
import { isTemplate, referenceOf, variablesOf } from './variables.ts';

type Values = Readonly<Record<string, unknown>>;

interface ValuesPart {
  readonly legend: string;
  readonly hint: string;
  readonly add: string;
  /** The fields that may have a value, for the step with the form. */
  readonly fields: (context: FormContext, form: URLSearchParams | undefined) => readonly InputRequestField[];
  readonly isRequired: boolean;
}

const yesNo = [
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
];

/** Where a value comes from: '' for the control, `null` for no value, or a reference. */
const sourceName = (name: string): string => `value-from.${name}`;
const NOTHING = 'null';

/** The control of a field that can show the value. A check mark cannot say "not chosen". */
function controlOf(name: string, fields: readonly InputRequestField[], value: unknown): InputRequestField {
  const found = fields.find((each) => each.name === name);
  const { description: _, ...plain }: InputRequestField = found ?? { name, label: name, type: 'json', required: false };
  const basic = { ...plain, required: false };
  const field = basic.type === 'boolean' ? { ...basic, type: 'enum' as const, options: yesNo } : basic;
  if (value === undefined || value === null || referenceOf(value) !== undefined || fits(field, value)) return field;
  const { options: _options, ...rest } = field;
  return { ...rest, type: typeof value === 'string' ? 'text' : 'json' };
}

function fits({ type, options }: InputRequestField, value: unknown): boolean {
  const isChoice = (each: unknown) => !options || options.some((option) => option.value === String(each));
  if (type === 'json') return true;
  if (type === 'list' || type === 'number-list') {
    const isItem = (each: unknown) => typeof each === (type === 'list' ? 'string' : 'number') && isChoice(each);
    if (!Array.isArray(value) || value.length === 0 || new Set(value).size < value.length) return false;
    return value.every((each) => isItem(each) && !/^\s*$|\n/.test(`${each}`));
  }
  if (type === 'number') return typeof value === 'number' || (typeof value === 'string' && !value.includes('\n'));
  if (options && options === yesNo) return typeof value === 'boolean';
  if (options) return typeof value === 'string' ? isChoice(value) : typeof value === 'boolean' && isChoice(value);
  if (type === 'day') return typeof value === 'string' && isDay(value);
  return typeof value === 'string' && (type === 'text' || !value.includes('\n'));
}

function isDay(text: string): boolean {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

const rowNames = (form: URLSearchParams): readonly string[] => [...new Set(form.getAll('value-row'))];

export function valuesPart({ legend, hint, add, fields: fieldsOf, isRequired }: ValuesPart): Part {
  const fill: Part['fill'] = (step, set, context) => {
    const fields = fieldsOf(context, undefined);
    for (const [name, value] of Object.entries(step.values ?? {})) {
      set('value-row', name);
      const reference = referenceOf(value);
      if (value === null || reference !== undefined) set(sourceName(name), reference ?? NOTHING);
      else for (const text of textsOf(controlOf(name, fields, value), value)) set(inputName({ name }), text);
    }
  };
  return {
    prefix: 'value',
    fill,
    show({ context, form, problem }) {
      const fields = fieldsOf(context, form);
      const rows = rowNames(form);
      const free = fields.filter(({ name }) => !rows.includes(name));
      const shown = rows.map((name, at) => valueRow(name, at, fields, { context, form, problem }));
      const wrong = rows.some((name) => problem(`values.${name}`)) ? undefined : problem('values');
      return html`<fieldset class="wf-set"><legend>${legend}</legend><p class="hint">${hint}</p>
${wrong !== undefined && html`<p class="note" role="alert">${wrong}</p>`}${shown}
${free.length > 0 && html`<div class="fb-tools"><span class="fb-add"><select name="add-value" aria-label="${add}: field"><option value="">Choose a field</option>${free.map(({ name, label }) => html`<option value="${name}">${label}</option>`)}</select><button class="plain slim" name="action" value="update" formnovalidate>${add}</button></span></div>`}</fieldset>`;
    },
    read({ context, form, fail }) {
      const fields = fieldsOf(context, form);
      const old: Values = context.base.values ?? {};
      const shown = new URLSearchParams();
      fill(context.base, (name, value) => shown.append(name, visibleText(value)), context);
      const values = rowNames(form).flatMap((name): readonly (readonly [string, unknown])[] => {
        const same = [inputName({ name }), sourceName(name)].every(
          (control) => form.getAll(control).join('\n') === shown.getAll(control).join('\n'),
        );
        if (same && Object.hasOwn(old, name)) return [[name, old[name]]];
        const source = form.get(sourceName(name)) ?? '';
        if (source !== '') return [[name, source === NOTHING ? null : `{{${source}}}`]];
        const isNew = !Object.hasOwn(old, name);
        return readValue(controlOf(name, fields, old[name]), form, isNew, (text) => fail(`values.${name}`, text));
      });
      return { values: values.length > 0 || isRequired ? (Object.fromEntries(values) as never) : undefined };
    },
  };
}

/** The values of the control. Check marks stand in the order of their options. */
function textsOf({ type, options }: InputRequestField, value: unknown): readonly string[] {
  if (type === 'json') return [JSON.stringify(value, null, 2)];
  if (!Array.isArray(value)) return [String(value)];
  const chosen = value.map(String);
  return options
    ? options.flatMap((option) => (chosen.includes(option.value) ? [option.value] : []))
    : [chosen.join('\n')];
}

function readValue(
  field: InputRequestField,
  form: URLSearchParams,
  isNew: boolean,
  fail: (problem: string) => void,
): readonly (readonly [string, unknown])[] {
  const text = form.getAll(inputName(field)).join('\n');
  if (isTemplate(text)) return [[field.name, text]];
  if (text === '' && (isNew || field.type !== 'text')) {
    fail('Enter a value, or choose where it comes from.');
    return [];
  }
  try {
    return [[field.name, toValue(field, text)]];
  } catch (error) {
    if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
    fail(error.details.problem);
    return [];
  }
}

function valueRow(
  name: string,
  at: number,
  fields: readonly InputRequestField[],
  { context, form, problem }: FormView,
): Html {
  const field = controlOf(name, fields, context.base.values?.[name]);
  const source = form.get(sourceName(name)) ?? '';
  const variables = variablesOf(context);
  const isKnown = source === '' || source === NOTHING || variables.some(([value]) => value === source);
  const options: readonly Option[] = [
    ['', 'this value'],
    [NOTHING, 'no value'],
    ...(isKnown ? [] : [[source, source] as const]),
    ...variables,
  ];
  const lookup = field.type === 'json' ? undefined : context.lookups.get(name);
  const control =
    lookup ??
    valueInput(field, at, {
      submitted: form,
      fileLimitBytes: 0,
      isRecord: true,
      submittedProblem: problem(`values.${name}`),
      isRetry: false,
    });
  return html`<div class="wf-row"><input type="hidden" name="value-row" value="${name}">${control}
<select name="${sourceName(name)}" aria-label="${field.label}: where the value comes from">${options.map(([value, text]) => html`<option value="${value}"${value === source && html` selected`}>${text}</option>`)}</select>
<button class="plain slim" name="action" value="remove-value:${name}" formnovalidate aria-label="Remove ${field.label}">Remove</button></div>`;
}

/** The form with the added or without the removed value. */
export function changeValues(form: URLSearchParams): URLSearchParams {
  const next = new URLSearchParams(form);
  const added = form.get('add-value') ?? '';
  if (added !== '') next.append('value-row', added);
  next.delete('add-value');
  const [, removed] = /^remove-value:(.*)$/s.exec(form.get('action') ?? '') ?? [];
  if (removed === undefined) return next;
  for (const name of [inputName({ name: removed }), sourceName(removed)]) next.delete(name);
  const rows = rowNames(next).filter((name) => name !== removed);
  next.delete('value-row');
  for (const name of rows) next.append('value-row', name);
  return next;
}
