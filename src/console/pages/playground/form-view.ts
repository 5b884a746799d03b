// Form of a tool: one control for each argument, or one for all arguments as JSON. Optional arguments are collapsed. The
// browser does not validate, because an invalid call shows the error that an assistant gets.
import { type Html, html } from '../../../http/html.ts';
import { hiddenToken } from '../../ui/form.ts';
import { typedLines, typedText } from './exact.ts';
import { type Field, inputName, isTrial, type Problems, type Typed } from './fields.ts';

interface FormView {
  readonly fields: readonly Field[];
  readonly typed: Typed;
  readonly problems: Problems;
  /** Names that the user may use, by field. */
  readonly names: ReadonlyMap<string, readonly string[]>;
  readonly action: string;
  readonly csrf: string;
  readonly button: string;
}

/** Up to this many optional fields stay expanded. */
const SHOWN_ANYWAY = 3;

export function callForm(view: FormView): Html {
  const { action, csrf, typed, button } = view;
  const other = typed.mode === 'form' ? (['json', 'Edit as JSON'] as const) : (['form', 'Back to the form'] as const);
  return html`<form method="post" action="${action}" class="call" autocomplete="off">
${hiddenToken({ csrf })}
<input type="hidden" name="mode" value="${typed.mode}">
${typed.mode === 'form' ? controls(view) : jsonControl(view)}
<div class="run"><button class="primary" name="action" value="run">${button}</button><button class="quiet" name="action" value="${other[0]}">${other[1]}</button></div>
</form>`;
}

function controls(view: FormView): Html {
  const { fields, typed, problems } = view;
  if (fields.length === 0) return html`<p class="quietly">This tool takes no arguments.</p>`;
  const isUsed = ({ name }: Field) => (typed.fields.get(name) ?? '') !== '' || problems.has(name);
  const trials = fields.filter(isTrial);
  const first = fields.filter((field) => field.required);
  const optional = fields.filter((field) => !field.required && !isTrial(field));
  // Group tall controls for an even layout.
  const others = [...optional.filter(isTall), ...optional.filter((field) => !isTall(field))];
  const isFew = others.length <= SHOWN_ANYWAY;
  return html`${first.map((field) => control(field, view))}
${isFew && others.map((field) => control(field, view))}
${!isFew && html`<details class="more"${others.some(isUsed) && html` open`}><summary>${first.length > 0 && 'More '}arguments, all optional (${others.length})</summary><div class="args">${others.map((field) => control(field, view))}</div></details>`}
${trials.map((field) => control(field, view))}`;
}

const isTall = ({ kind }: Field): boolean => kind === 'json' || kind === 'lines';

function jsonControl({ typed, problems }: FormView): Html {
  const problem = problems.get('');
  return html`<div class="field"><label for="json">Arguments, as JSON</label>
<textarea id="json" name="json" class="mono" rows="${rowsFor(typed.json, 8)}" spellcheck="false"${described('json', problem)}>${typedLines(typed.json)}</textarea>
${problemNote('json', problem)}</div>`;
}

const trialText = 'Dry run: shows the changes without making them.';

function control(field: Field, view: FormView): Html {
  const { name, required } = field;
  const id = inputName(name);
  const value = view.typed.fields.get(name) ?? '';
  const problem = view.problems.get(name);
  const hintText = isTrial(field) ? trialText : hintOf(field);
  if (field.kind === 'flag') {
    return html`<div class="choice${isTrial(field) && ' trial'}"><input type="checkbox" id="${id}" name="${id}" value="true"${value !== '' && html` checked`}${described(id, problem, hintText)}><label for="${id}">${name}</label>${hintNote(id, hintText, 'small')}${problemNote(id, problem)}</div>`;
  }
  return html`<div class="field"><label for="${id}">${name}${required && html` <span class="must">required</span>`}</label>
${input(field, value, html`id="${id}" name="${id}"${required && html` aria-required="true"`}${described(id, problem, hintText)}`, view.names.get(name))}
${hintNote(id, hintText, 'p')}${problemNote(id, problem)}</div>`;
}

function input({ kind, name, choices }: Field, value: string, attributes: Html, names: readonly string[] = []): Html {
  if (kind === 'choice') {
    // Keep a value outside the choices, from a link or a manual request, so the tool reports it.
    const all = ['', ...choices, ...(value === '' || choices.includes(value) ? [] : [value])];
    return html`<select ${attributes}>${all.map((each) => html`<option value="${typedText(each)}"${each === value && html` selected`}>${each || '—'}</option>`)}</select>`;
  }
  if (kind === 'json' || kind === 'lines') {
    return html`<textarea ${attributes} class="mono" rows="${rowsFor(value, 3)}" spellcheck="false">${typedLines(value)}</textarea>`;
  }
  const list = names.length > 0 && html` list="names.${name}"`;
  const options = names.map((each) => html`<option value="${each}"></option>`);
  return html`<input type="text"${kind === 'number' && html` inputmode="decimal"`} ${attributes}${list} value="${typedText(value)}" spellcheck="false" autocapitalize="none">${list && html`<datalist id="names.${name}">${options}</datalist>`}`;
}

const rowsFor = (text: string, least: number): number => Math.min(24, Math.max(least, text.split('\n').length));

/** Examples for JSON arguments: the schema only declares objects or lists. */
const examples: Readonly<Record<string, string>> = {
  filters: '{"field": "status", "operator": "Equal", "value": "paid"}',
  sort: '[{"field": "id", "ascending": false}]',
  pagination: '{"size": 15, "number": 1}',
  groups: '["status"]',
  attributes: '{"name": "value"}',
  values: '{"field": "value"}',
  searches: '{"city": "par"}',
};

function hintOf({ name, kind, hint }: Field): Html | '' {
  const example = kind === 'json' ? examples[name] : undefined;
  const how = kind === 'lines' ? 'One per line.' : '';
  if (example === undefined) return hint || how ? html`${[hint, how].filter(Boolean).join(' ')}` : '';
  return html`JSON, such as <code>${example}</code>`;
}

function described(id: string, problem: string | undefined, hint: Html | string = ''): Html {
  const by = [...(hint ? [`${id}.hint`] : []), ...(problem === undefined ? [] : [`${id}.problem`])];
  return html`${by.length > 0 && html` aria-describedby="${by.join(' ')}"`}${problem !== undefined && html` aria-invalid="true"`}`;
}

function hintNote(id: string, hint: Html | string, tag: 'p' | 'small'): Html | false {
  if (!hint) return false;
  return tag === 'p' ? html`<p class="hint" id="${id}.hint">${hint}</p>` : html`<small id="${id}.hint">${hint}</small>`;
}

const problemNote = (id: string, problem: string | undefined): Html | false =>
  problem !== undefined && html`<p class="note" id="${id}.problem">${problem}</p>`;
