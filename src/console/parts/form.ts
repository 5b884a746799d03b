// What forms are made of, so that no page writes it twice: `formOf` and `hiddenToken` (the token that console.ts checks),
// `field`, `selectField` and `areaField` with their hint and what is wrong with them, `checkField`, `filterForm` (a GET), and
// `buttonTo`, a form of one button. The other parts: data.ts (tables, pages, facts, what is empty), said.ts (what happened,
// what can be copied), style.ts.
import { type Html, html } from '../../oauth/html.ts';
import type { ConsolePaths } from '../paths.ts';

interface Bound {
  readonly csrf: string;
}
interface Placed {
  readonly paths: Pick<ConsolePaths, 'path'>;
}

export const hiddenToken = ({ csrf }: Bound): Html => html`<input type="hidden" name="csrf" value="${csrf}">`;

/** The beginning of a form that posts to `page`, such as '/account'; whoever writes it ends it with `</form>`. */
export const formOf = (visit: Bound, { paths }: Placed, page: string, holds: 'fields' | 'files' = 'fields'): Html =>
  html`<form method="post" action="${paths.path(page)}"${holds === 'files' && html` enctype="multipart/form-data"`}>${hiddenToken(visit)}`;

export interface Field {
  /** Of the element; one on a page. */
  readonly id: string;
  /** As it is sent; default `id`. */
  readonly name?: string;
  readonly label: string;
  readonly value?: string;
  readonly hint?: Html | string | undefined;
  /** What is wrong with what was sent. */
  readonly problem?: string | undefined;
  readonly required?: boolean;
}

export interface InputField extends Field {
  /** Default `text`. */
  readonly type?: 'text' | 'email' | 'password' | 'search' | 'date' | 'datetime-local' | 'number';
  readonly most?: number;
  readonly autocomplete?: string;
}

/** What a reader of the page is told with the field: WCAG 2.2, 3.3.1 and 3.3.3. */
function told({ id, hint, problem, required }: Field): { readonly attributes: Html; readonly notes: Html } {
  const ids = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ');
  return {
    attributes: html`${required && html` required`}${ids && html` aria-describedby="${ids}"`}${problem && html` aria-invalid="true"`}`,
    notes: html`${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}${problem && html`<p class="note" id="${id}-problem" role="alert">${problem}</p>`}`,
  };
}

const labelOf = ({ id, label }: Field): Html => html`<label for="${id}">${label}</label>`;

export function field(given: InputField): Html {
  const { id, name = id, type = 'text', value = '', most = 255, autocomplete = 'off' } = given;
  const { attributes, notes } = told(given);
  return html`<div class="field">${labelOf(given)}<input id="${id}" name="${name}" type="${type}" value="${value}" maxlength="${most}" autocomplete="${autocomplete}"${attributes}>${notes}</div>`;
}

export interface FileField extends Field {
  readonly several?: boolean;
  /** Endings of names, without the dot; any when absent. */
  readonly endings?: readonly string[] | undefined;
}

/** In a form that holds files. A browser puts nothing into it: `value` is not shown. */
export function fileField(given: FileField): Html {
  const { id, name = id, several, endings } = given;
  const { attributes, notes } = told(given);
  const accept = endings?.map((ending) => `.${ending}`).join(',');
  return html`<div class="field">${labelOf(given)}<input id="${id}" name="${name}" type="file"${several && html` multiple`}${accept && html` accept="${accept}"`}${attributes}>${notes}</div>`;
}

export interface AreaField extends Field {
  /** Default 4. */
  readonly rows?: number;
  readonly most?: number;
}

export function areaField(given: AreaField): Html {
  const { id, name = id, value = '', rows = 4, most } = given;
  const { attributes, notes } = told(given);
  return html`<div class="field">${labelOf(given)}<textarea id="${id}" name="${name}" rows="${rows}"${most && html` maxlength="${most}"`}${attributes}>
${value}</textarea>${notes}</div>`;
}

export type Option = readonly [value: string, text: string];

export function selectField(given: Field & { readonly options: readonly Option[] }): Html {
  const { id, name = id, value, options } = given;
  const { attributes, notes } = told(given);
  const lines = options.map(
    ([one, text]) => html`<option value="${one}"${one === value && html` selected`}>${text}</option>`,
  );
  return html`<div class="field">${labelOf(given)}<select id="${id}" name="${name}"${attributes}>${lines}</select>${notes}</div>`;
}

export interface CheckField {
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
  const said = hint && html` aria-describedby="${id}-hint"`;
  return html`<div class="choice"><input type="${type}" id="${id}" name="${name}" value="${value}"${checked && html` checked`}${said}><label for="${id}">${label}</label>${hint && html`<small id="${id}-hint">${hint}</small>`}</div>`;
}

/** Asks for the same page with what is chosen in its address. `fields` as `field` and `selectField` make them. */
export function filterForm({ paths }: Placed, page: string, fields: readonly (Html | false)[], button = 'Find'): Html {
  return html`<form method="get" action="${paths.path(page)}" class="filters" role="search">${fields}<button class="plain slim">${button}</button></form>`;
}

export interface Button {
  /** Where it posts to. */
  readonly page: string;
  readonly action: string;
  readonly text: string;
  /** Where the text alone does not say of what. */
  readonly label?: string;
  readonly kind?: 'plain' | 'primary' | 'danger';
  readonly values?: Readonly<Record<string, string>>;
}

export function buttonTo(visit: Bound, parts: Placed, given: Button): Html {
  const { page, action, text, label, kind = 'plain', values = {} } = given;
  const hidden = Object.entries(values).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`${formOf(visit, parts, page)}${hidden}<button class="${kind} slim" name="action" value="${action}"${label && html` aria-label="${label}"`}>${text}</button></form>`;
}
