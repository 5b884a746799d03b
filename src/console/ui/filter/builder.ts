// The filter builder: a row for each condition, and groups of conditions. It is part of a form of the page, and works
// without scripts: its buttons submit the form, and the page shows the changed rows.
import { type Html, html } from '../../../http/html.ts';
import { type Describe, fieldChoices, findField, relationChoices } from './fields.ts';
import { type Condition, collectionOf, type GroupKind, isIncomplete, type Rows, valueKindOf } from './state.ts';
import { describeVariable, operatorWords } from './words.ts';

interface BuilderView {
  readonly rows: Rows;
  readonly describe: Describe;
  readonly collection: string;
  /** Variables that may give a value, such as `currentUser.tags.region`. Default: none. */
  readonly variables?: readonly string[];
  /** A variable in words. Default: those of the current user. */
  readonly variableWords?: (name: string) => string;
  /** Starts the names of the controls, for a page with several builders; `partOf` reads them. Default: ''. */
  readonly prefix?: string;
  /** Starts the labels of the controls, for people who hear them, such as `Measure 2: `. Default: ''. */
  readonly about?: string;
}

export function filterBuilder(view: BuilderView): Html {
  const { rows, describe, collection, prefix = '', about = '' } = view;
  let at = 0;
  const rowsOf = (conditions: readonly Condition[], of: string, group: string) =>
    conditions.map((condition) => row(view, condition, of, group, at++));
  const relations = relationChoices(describe, collection);
  const top = rowsOf(rows.conditions, collection, '');
  const groups = rows.groups.map(({ kind, conditions }, index) => {
    const of = collectionOf(kind, describe, collection) ?? collection;
    return html`<fieldset class="fb-group"><legend>${kindText(kind)}</legend><input type="hidden" name="${prefix}kind" value="${kind}">
${rowsOf(conditions, of, `${index}`)}
<div class="fb-tools">${adder(view, of, `add.${index}`, `Add condition to group ${index + 1}`)}<button class="plain slim" name="do" value="${prefix}remove-group:${index}" aria-label="${about}Remove group ${index + 1}">Remove group</button></div></fieldset>`;
  });
  const count = rows.conditions.length + rows.groups.length;
  const matchOptions = [
    ['And', 'all of these'],
    ['Or', 'any of these'],
  ] as const;
  const kinds: readonly (readonly [GroupKind, string])[] = [
    ['Or', 'Any of some conditions'],
    ['And', 'All of some conditions'],
    ...relations.shown.flatMap(({ name }): (readonly [GroupKind, string])[] => [
      [`some:${name}`, `Has ${name} where …`],
      [`none:${name}`, `Has no ${name} where …`],
      [`every:${name}`, `All its ${name} match …`],
    ]),
  ];
  return html`<div class="fb">
<p class="fb-match${count < 2 && ' fb-one'}"><label for="${prefix}fb-match">Records that match</label> <select id="${prefix}fb-match" name="${prefix}match">${matchOptions.map(([value, text]) => option(value, text, rows.match))}</select></p>
${top}${groups}
<div class="fb-tools">${adder(view, collection, 'add', 'Add condition')}
<details class="more fb-more"><summary>Add a group</summary><div class="fb-tools"><select name="${prefix}group" aria-label="${about}Kind of group"><option value="">Choose a kind</option>${kinds.map(([value, text]) => option(value, text, ''))}${leftOut(relations.more, 'relations')}</select><button class="plain slim" name="do" value="${prefix}group">Add group</button></div></details></div>
</div>`;
}

const option = (value: string, text: string, chosen: string): Html =>
  html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`;

const leftOut = (count: number, what: string): Html | false =>
  count > 0 && html`<option value="" disabled>${count} more ${what}: write the filter as JSON</option>`;

function kindText(kind: GroupKind): string {
  if (kind === 'And') return 'All of';
  if (kind === 'Or') return 'Any of';
  const [quantifier, relation] = kind.split(/:(.*)/s);
  if (quantifier === 'every') return `All its ${relation} (or it has none) match all of`;
  return quantifier === 'some' ? `Has ${relation} where all of` : `Has no ${relation} where all of`;
}

function adder(
  { describe, prefix = '', about = '' }: BuilderView,
  collection: string,
  name: string,
  label: string,
): Html {
  const choices = fieldChoices(describe, collection);
  return html`<span class="fb-add"><select name="${prefix}${name}" aria-label="${about}${label}: field"><option value="">Choose a field</option>${choices.shown.map(({ path, label }) => option(path, label, ''))}${leftOut(choices.more, 'fields')}</select><button class="plain slim" name="do" value="${prefix}add" aria-label="${about}${label}">Add condition</button></span>`;
}

function row(view: BuilderView, condition: Condition, collection: string, group: string, at: number): Html {
  const { describe, variables = [], variableWords = describeVariable, prefix = '', about = '' } = view;
  const { field: path, operator, variable } = condition;
  const field = findField(describe, collection, path);
  const title = field?.label ?? path;
  const label = `${about}${title}`;
  const name = `${prefix}c.${at}`;
  const known = field?.operators ?? [];
  const offered = known.includes(operator) ? known : [operator, ...known];
  const kind = valueKindOf(operator);
  const sources = variables.includes(variable) || variable === '' ? variables : [variable, ...variables];
  const source =
    kind !== 'none' &&
    sources.length > 0 &&
    html`<select name="${name}.variable" aria-label="${label}: compare with"><option value="">this value</option>${sources.map((each) => option(each, variableWords(each), variable))}</select>`;
  const ending = html`<button class="plain slim fb-x" name="do" value="${prefix}remove:${at}" aria-label="${about}Remove the condition on ${title}">Remove</button>`;
  return html`<div class="fb-row${isIncomplete(condition) && ' fb-open'}"><input type="hidden" name="${name}.group" value="${group}"><input type="hidden" name="${name}.field" value="${path}">
<b>${title}</b><select name="${name}.operator" aria-label="${label}: how to compare">${offered.map((each) => option(each, operatorWords[each], operator))}</select>
<span class="fb-value">${source}${kind !== 'none' && valueControl(condition, field?.type ?? 'String', field?.enumValues, name, label, sources.length > 0)}</span>${ending}</div>`;
}

const isDay = (text: string): boolean => text === '' || /^\d{4}-\d\d-\d\d$/.test(text);

function valueControl(
  { operator, values, variable }: Condition,
  type: string,
  enumValues: readonly string[] | undefined,
  name: string,
  label: string,
  takesVariables: boolean,
): Html {
  const attributes = html`name="${name}.value" aria-label="${label}: value"`;
  const kind = valueKindOf(operator);
  const [first = ''] = values;
  const base = type.replace(/^\[(.*)\]$/, '$1');
  if (kind === 'list') {
    const choices = enumValues ?? [];
    if (choices.length > 0 && values.every((value) => choices.includes(value)))
      return html`<select ${attributes} multiple size="${Math.min(6, choices.length)}">${choices.map((each) => html`<option value="${each}"${values.includes(each) && html` selected`}>${each}</option>`)}</select>`;
    return html`<textarea ${attributes} rows="${Math.min(6, Math.max(2, values.length))}" placeholder="One value on each line">
${values.join('\n')}</textarea>`;
  }
  const choices =
    base === 'Boolean' && kind === 'value'
      ? (['true', 'false'] as const)
      : kind === 'value' && (operator === 'Equal' || operator === 'NotEqual')
        ? enumValues
        : undefined;
  if (choices && (first === '' || choices.includes(first as never)))
    return html`<select ${attributes}><option value="">${takesVariables && variable !== '' ? '' : 'Choose'}</option>${choices.map((each) => option(each, base === 'Boolean' ? (each === 'true' ? 'Yes' : 'No') : each, first))}</select>`;
  if ((base === 'Dateonly' || base === 'Date') && kind === 'value' && isDay(first))
    return html`<input type="date" ${attributes} value="${first}">`;
  const isNumber = kind === 'count' || base === 'Number';
  return html`<input type="text" ${attributes}${isNumber && html` inputmode="decimal"`} value="${first}" autocomplete="off" maxlength="1000">`;
}
