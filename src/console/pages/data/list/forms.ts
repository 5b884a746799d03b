// The forms above a list of records: search and segment, the filter as rows or as JSON, and the columns.
import type { CollectionDescription } from '../../../../agent/requests.ts';
import { type Html, html } from '../../../../http/html.ts';
import type { Parts } from '../../../page-request.ts';
import { dataPage } from '../../../paths.ts';
import { filterBuilder } from '../../../ui/filter/builder.ts';
import type { Describe } from '../../../ui/filter/fields.ts';
import { noRows } from '../../../ui/filter/state.ts';
import { filterWords } from '../../../ui/filter/words.ts';
import { areaField, checkField } from '../../../ui/form.ts';
import { newSegmentPage } from '../meanings/places.ts';
import { type ListState, listPage, queryOf } from '../state.ts';

interface FormsView {
  readonly state: ListState;
  readonly described: CollectionDescription;
  readonly describe: Describe;
  readonly parts: Parts;
  readonly problem: string | undefined;
  /** Whether the viewer may make the filter a segment. */
  readonly makesSegments: boolean;
}

/** The parts of the state that a form does not change, as hidden fields. */
function hidden(state: ListState, without: readonly string[]): Html {
  const kept = [...queryOf(state)].filter(([name]) => !without.includes(name));
  return html`${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;
}

export function filterForms(view: FormsView): Html {
  const { state, described, parts, problem } = view;
  const { segments, searchable } = described;
  const makesSegment = view.makesSegments && state.filter !== undefined && state.rows !== undefined;
  const action = parts.paths.path(dataPage(state.collection));
  const isOpen =
    state.isJson || problem !== undefined || view.state.rows?.conditions.length || view.state.rows?.groups.length;
  const segmentOptions = ['', ...segments].map(
    (name) =>
      html`<option value="${name}"${name === state.segment && html` selected`}>${name === '' ? 'All records' : name}</option>`,
  );
  return html`<form method="get" action="${action}" class="list-form" role="search" autocomplete="off">${hidden(state, ['search', 'segment', 'filter', 'mode'])}
<div class="list-find">${searchable && html`<input type="search" name="search" value="${state.search}" aria-label="Search ${state.collection}" placeholder="Search" maxlength="400">`}
${segments.length > 0 && html`<select name="segment" aria-label="Segment">${segmentOptions}</select>`}
<button class="plain slim">Find</button></div>
${problem !== undefined && html`<p class="alert" role="alert">${problem}</p>`}
<details class="more"${isOpen && html` open`}><summary>Filter${state.filter && html`: <span>${words(state)}</span>`}</summary>
${state.isJson ? jsonFilter(state) : filterBuilder({ rows: state.rows ?? noRows, describe: view.describe, collection: state.collection })}
<div class="fb-tools"><button class="primary slim" name="do" value="apply">Apply filter</button>${modeButton(state)}${state.filter && html`<a href="${parts.paths.path(listPage({ ...state, isJson: false, filter: undefined }))}">Clear filter</a>`}${makesSegment && html`<a href="${parts.paths.path(newSegmentPage(state.collection))}?${new URLSearchParams({ filter: JSON.stringify(state.filter) }).toString()}">Save as segment</a>`}</div>
</details></form>`;
}

function words({ filter }: ListState): string {
  try {
    return filter ? filterWords(filter) : '';
  } catch {
    // A filter of the wrong shape, which the engine refuses.
    return '';
  }
}

const jsonFilter = (state: ListState): Html =>
  html`<input type="hidden" name="mode" value="json">${areaField({
    id: 'filter',
    label: 'Filter as JSON',
    value: state.json,
    rows: Math.min(16, Math.max(4, state.json.split('\n').length + 1)),
    problem: state.problem,
    ...(state.rows === undefined && { hint: 'The rows cannot show this filter. It stays as it is.' }),
  })}`;

function modeButton({ isJson, rows }: ListState): Html | false {
  if (!isJson) return html`<button class="plain slim" name="do" value="json">Advanced: JSON</button>`;
  return rows !== undefined && html`<button class="plain slim" name="do" value="rows">Show as rows</button>`;
}

export interface ColumnChoice {
  readonly id: string;
  readonly label: string;
  readonly isShown: boolean;
}

export function columnChooser(state: ListState, choices: readonly ColumnChoice[], { paths }: Parts): Html {
  return html`<details class="more"><summary>Columns</summary><form method="get" action="${paths.path(dataPage(state.collection))}">${hidden(state, ['col'])}
<div class="ticks">${choices.map(({ id, label, isShown }, at) => checkField({ id: `col-${at}`, name: 'col', value: id, label: id.endsWith(':') ? html`${label} <small>related record</small>` : label, checked: isShown }))}</div>
<button class="plain slim">Show columns</button></form></details>`;
}
