// Building blocks for forms: `formOf` and `hiddenToken` (the CSRF token that console/router.ts checks); `field`,
// `selectField` and `areaField` with hint and error message; `checkField`; `filterForm` (a GET form); and `buttonTo`, a
// form with one button. Other building blocks: data.ts (tables, pagers, facts, empty lists), notices.ts (messages,
// copyable text), parts-style.ts.
import { type Html, html } from '../../http/html.ts';
import type { ConsolePaths } from '../paths.ts';

interface CsrfContext {
  readonly csrf: string;
}
interface PathContext {
  readonly paths: Pick<ConsolePaths, 'path'>;
}

export const hiddenToken = ({ csrf }: CsrfContext): Html => html`<input type="hidden" name="csrf" value="${csrf}">`;

/** Opening tag of a form that posts to `page`, such as '/account'. The caller writes `</form>`. */
export const openForm = (
  request: CsrfContext,
  { paths }: PathContext,
  page: string,
  content: 'fields' | 'files' = 'fields',
): Html =>
  html`<form method="post" action="${paths.path(page)}"${content === 'files' && html` enctype="multipart/form-data"`}>${hiddenToken(request)}`;

export interface Field {
  /** Element id, unique on the page. */
  readonly id: string;
  /** Field name in the request; default `id`. */
  readonly name?: string;
  readonly label: string;
  readonly value?: string;
  readonly hint?: Html | string | undefined;
  /** Error message for the submitted value. */
  readonly problem?: string | undefined;
  readonly required?: boolean;
}

interface InputField extends Field {
  /** Default `text`. */
  readonly type?: 'text' | 'email' | 'password' | 'search' | 'date' | 'datetime-local' | 'time' | 'number';
  readonly maxLength?: number;
  readonly autocomplete?: string;
}

/** Hint and error message, linked to the field for screen readers (WCAG 2.2, 3.3.1 and 3.3.3). */
function describeField({ id, hint, problem, required }: Field): { readonly attributes: Html; readonly notes: Html } {
  const ids = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ');
  return {
    attributes: html`${required && html` required`}${ids && html` aria-describedby="${ids}"`}${problem && html` aria-invalid="true"`}`,
    notes: html`${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}${problem && html`<p class="note" id="${id}-problem" role="alert">${problem}</p>`}`,
  };
}

const labelOf = ({ id, label }: Field): Html => html`<label for="${id}">${label}</label>`;

export function field(options: InputField): Html {
  const { id, name = id, type = 'text', value = '', maxLength = 255, autocomplete = 'off' } = options;
  const { attributes, notes } = describeField(options);
  return html`<div class="field">${labelOf(options)}<input id="${id}" name="${name}" type="${type}" value="${value}" maxlength="${maxLength}" autocomplete="${autocomplete}"${attributes}>${notes}</div>`;
}

interface FileField extends Field {
  readonly several?: boolean;
  /** File extensions without the dot; absent means any. */
  readonly endings?: readonly string[] | undefined;
}

/** File input for forms that accept files. Browsers do not allow a preset value, so `value` is ignored. */
export function fileField(options: FileField): Html {
  const { id, name = id, several, endings } = options;
  const { attributes, notes } = describeField(options);
  const accept = endings?.map((ending) => `.${ending}`).join(',');
  return html`<div class="field">${labelOf(options)}<input id="${id}" name="${name}" type="file"${several && html` multiple`}${accept && html` accept="${accept}"`}${attributes}>${notes}</div>`;
}

interface AreaField extends Field {
  /** Default 4. */
  readonly rows?: number;
  readonly maxLength?: number;
}

export function areaField(options: AreaField): Html {
  const { id, name = id, value = '', rows = 4, maxLength } = options;
  const { attributes, notes } = describeField(options);
  return html`<div class="field">${labelOf(options)}<textarea id="${id}" name="${name}" rows="${rows}"${maxLength && html` maxlength="${maxLength}"`}${attributes}>
${value}</textarea>${notes}</div>`;
}

export type Option = readonly [value: string, text: string];

export function selectField(fieldOptions: Field & { readonly options: readonly Option[] }): Html {
  const { id, name = id, value, options } = fieldOptions;
  const { attributes, notes } = describeField(fieldOptions);
  const lines = options.map(
    ([one, text]) => html`<option value="${one}"${one === value && html` selected`}>${text}</option>`,
  );
  return html`<div class="field">${labelOf(fieldOptions)}<select id="${id}" name="${name}"${attributes}>${lines}</select>${notes}</div>`;
}

interface CheckField {
  readonly id: string;
  readonly name: string;
  /** Default `yes`. */
  readonly value?: string;
  readonly label: Html | string;
  readonly hint?: Html | string | undefined;
  readonly checked?: boolean;
  readonly type?: 'checkbox' | 'radio';
}

export function checkField({ id, name, value = 'yes', label, hint, checked, type = 'checkbox' }: CheckField): Html {
  const describedBy = hint && html` aria-describedby="${id}-hint"`;
  return html`<div class="choice"><input type="${type}" id="${id}" name="${name}" value="${value}"${checked && html` checked`}${describedBy}><label for="${id}">${label}</label>${hint && html`<small id="${id}-hint">${hint}</small>`}</div>`;
}

/** More filters than these are folded on narrow screens, so that the list comes first. */
const FIELDS_SHOWN = 3;

/** Reloads the page with the selected filters in its query. Create `fields` with `field` and `selectField`. */
export function filterForm(
  { paths }: PathContext,
  page: string,
  fields: readonly (Html | false)[],
  button = 'Find',
): Html {
  const form = html`<form method="get" action="${paths.path(page)}" class="filters" role="search">${fields}<button class="plain slim">${button}</button></form>`;
  if (fields.filter(Boolean).length <= FIELDS_SHOWN) return form;
  return html`<details class="filter-box"><summary>Filters</summary>${form}</details>`;
}

interface Button {
  /** Target page of the POST. */
  readonly page: string;
  readonly action: string;
  readonly text: string;
  /** Accessible label, when the button text is ambiguous. */
  readonly label?: string;
  readonly kind?: 'plain' | 'primary' | 'danger';
  readonly values?: Readonly<Record<string, string>>;
}

export function buttonTo(request: CsrfContext, parts: PathContext, button: Button): Html {
  const { page, action, text, label, kind = 'plain', values = {} } = button;
  const hidden = Object.entries(values).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`${openForm(request, parts, page)}${hidden}<button class="${kind} slim" name="action" value="${action}"${label && html` aria-label="${label}"`}>${text}</button></form>`;
}
