// The form of an analysis. Its buttons submit it, and the page shows the changed rows.
import type { CollectionDescription } from '../../../../agent/requests.ts';
import { type Html, html } from '../../../../http/html.ts';
import { filterBuilder } from '../../../ui/filter/builder.ts';
import { type Describe, type FilterField, fieldChoices, findField } from '../../../ui/filter/fields.ts';
import { type Rows, toFilter } from '../../../ui/filter/state.ts';
import { filterWords, operatorWords } from '../../../ui/filter/words.ts';
import { hiddenToken } from '../../../ui/form.ts';
import { typedText } from '../exact.ts';
import { namesOf } from './call.ts';
import {
  type AnalysisState,
  FILTER,
  fieldOperations,
  type GroupRow,
  havingOperators,
  type MeasureRow,
  periodsFor,
  totalOperations,
  whereOf,
} from './state.ts';

interface AnalysisView {
  readonly state: AnalysisState;
  /** By the id of a row, or the prefix of a filter. */
  readonly problems: ReadonlyMap<string, string>;
  /** The collections that the viewer may browse. */
  readonly collections: readonly string[];
  readonly described: CollectionDescription | undefined;
  readonly describe: Describe;
  readonly action: string;
  readonly csrf: string;
}

type Choice = readonly [value: string, text: string];

const operationTexts: Readonly<Record<string, string>> = {
  sum: 'Sum of',
  avg: 'Average of',
  min: 'Lowest value of',
  max: 'Highest value of',
  median: 'Median of',
  percentile: 'Percentile of',
  countDistinct: 'Different values of',
  count: 'Records with a value in',
  share: 'Share of the total of',
  running: 'Running total of',
};
const periodTexts: Readonly<Record<string, string>> = {
  Year: 'by year',
  Quarter: 'by quarter',
  Month: 'by month',
  Week: 'by week',
  Day: 'by day',
  Hour: 'by hour',
  HourOfDay: 'by hour of the day',
  Weekday: 'by weekday',
  MonthOfYear: 'by month of the year',
};
/** Operations that need numbers. */
const arithmetic = ['sum', 'avg', 'median', 'percentile'];

export function analysisForm(view: AnalysisView): Html {
  const { state, collections, described, action, csrf } = view;
  const { collection } = state;
  const choices: readonly Choice[] = [
    ...(collection === '' ? [['', 'Choose a collection'] as const] : []),
    ...collections.map((name): Choice => [name, name]),
  ];
  // The first button of a form is the one that Enter presses.
  return html`<form method="post" action="${action}" class="an" autocomplete="off">${hiddenToken({ csrf })}
${described && html`<button class="unseen" name="do" value="run" formaction="${action}#answer" tabindex="-1" aria-hidden="true">Run</button>`}
<input type="hidden" name="was" value="${collection}">
<div class="an-from"><label for="collection">Records of</label>${select('collection', choices, collection, html` id="collection"`)}<button class="plain slim" name="do" value="choose">Choose</button></div>
${described?.description !== undefined && html`<p class="quietly">${described.description}</p>`}
${
  described &&
  html`${measureSection(view, described)}${groupSection(view)}${filterSection(view)}${orderSection(view)}
<div class="run"><button class="primary" name="do" value="run" formaction="${action}#answer">Run</button></div>`
}
</form>`;
}

const select = (name: string, choices: readonly Choice[], chosen: string, attributes: Html): Html =>
  html`<select name="${name}"${attributes}>${choices.map(([value, text]) => html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`)}</select>`;

const label = (text: string): Html => html` aria-label="${text}"`;

/** A choice that is not offered stays, and the tool refuses it. */
const withChosen = (choices: readonly Choice[], chosen: string): readonly Choice[] =>
  choices.some(([value]) => value === chosen) ? choices : [[chosen, chosen || 'Choose'], ...choices];

const adder = (view: AnalysisView, name: string, what: string, choices: readonly Choice[], anchor: string): Html =>
  html`<div class="fb-tools"><span class="fb-add">${select(`new.${name}`, [['', 'Choose'], ...choices], '', label(`New ${what}`))}<button class="plain slim" name="do" value="add.${name}" formaction="${view.action}#${anchor}">Add ${what}</button></span></div>`;

const remover = (view: AnalysisView, name: string, what: string, anchor: string): Html =>
  html`<button class="plain slim an-x" name="do" value="remove.${name}" formaction="${view.action}#${anchor}" aria-label="Remove ${what}">Remove</button>`;

const problemNote = (problem: string | undefined): Html | false =>
  problem !== undefined && html`<p class="note" role="alert">${problem}</p>`;

function measureSection(view: AnalysisView, { metrics }: CollectionDescription): Html {
  const { measures } = view.state;
  const kinds: readonly Choice[] = [
    ['count', 'Number of records'],
    ...fieldOperations.map((each): Choice => [`field:${each}`, `${operationTexts[each]} a field`]),
    ...metrics.map(({ name }): Choice => [`metric:${name}`, `Metric: ${name}`]),
    ...(measures.length > 0
      ? ([
          ['ratio', 'One measure divided by another'],
          ['total:share', 'Share of the total of a measure'],
          ['total:running', 'Running total of a measure'],
        ] as const)
      : []),
  ];
  return html`<section class="an-part" id="measures" aria-labelledby="measures-title"><h2 class="plainly" id="measures-title">Measures</h2>
${problemNote(view.problems.get(''))}
${measures.map((measure, at) => measureRow(view, measure, at))}
${adder(view, 'm', 'measure', kinds, 'measures')}</section>`;
}

function measureRow(view: AnalysisView, measure: MeasureRow, at: number): Html {
  const { state, problems } = view;
  const { id, kind, name } = measure;
  const row = `m.${at}`;
  const usual = namesOf({ measures: state.measures.map((each) => (each.id === id ? { ...each, name: '' } : each)) });
  const hasWhere = kind === 'count' || kind === 'field';
  return html`<fieldset class="an-row"><legend class="unseen">Measure ${at + 1}</legend><input type="hidden" name="${row}.is" value="${id}"><input type="hidden" name="${row}.kind" value="${kind}">
<div class="an-line"><span class="an-what">${measureControls(view, measure, row, at)}</span>
<label class="an-name"><span>named</span><input type="text" name="${row}.name" value="${typedText(name)}" placeholder="${usual.get(id)}" aria-label="Measure ${at + 1}: name" maxlength="100"></label>${remover(view, row, `measure ${at + 1}`, 'measures')}</div>
${problemNote(problems.get(`m${id}`))}
${hasWhere && whereSection(view, measure, at)}</fieldset>`;
}

function measureControls(view: AnalysisView, measure: MeasureRow, row: string, at: number): Html {
  const { kind, operation, of, by, fraction, id } = measure;
  const about = `Measure ${at + 1}`;
  if (kind === 'count') return html`<b>Number of records</b>`;
  if (kind === 'metric') {
    const { description } = view.described?.metrics.find((metric) => metric.name === of) ?? {};
    return html`<b>Metric ${of}</b><input type="hidden" name="${row}.of" value="${of}">${description !== undefined && html`<small>${description}</small>`}`;
  }
  const others = view.state.measures.filter((other) => other.id !== id);
  const names = namesOf(view.state);
  const measures = others.map((other): Choice => [other.id, names.get(other.id)!]);
  const measureSelect = (part: string, chosen: string, what: string) =>
    select(`${row}.${part}`, withChosen(measures, names.has(chosen) ? chosen : ''), chosen, label(`${about}: ${what}`));
  if (kind === 'ratio')
    return html`${measureSelect('of', of, 'dividend')}<span>divided by</span>${measureSelect('by', by, 'divisor')}`;
  const operations: readonly string[] = kind === 'total' ? totalOperations : fieldOperations;
  const choices = operations.map((each): Choice => [each, operationTexts[each]!]);
  const operationSelect = select(`${row}.operation`, choices, operation, label(`${about}: operation`));
  if (kind === 'total') return html`${operationSelect}${measureSelect('of', of, 'of the measure')}`;
  const fields = fieldChoices(view.describe, view.state.collection)
    .shown.filter(({ type }) => !arithmetic.includes(operation) || type === 'Number')
    .map(({ path, label }): Choice => [path, label]);
  return html`${operationSelect}${select(`${row}.of`, withChosen(fields, of), of, label(`${about}: field`))}
${operation === 'percentile' && html`<label class="an-short"><span>at</span><input type="text" inputmode="decimal" name="${row}.fraction" value="${fraction || '0.9'}" aria-label="${about}: from 0 to 1" maxlength="8"></label>`}`;
}

const isUsed = ({ conditions, groups }: Rows): boolean => conditions.length + groups.length > 0;

function wordsFor({ describe, state }: AnalysisView, rows: Rows): string {
  const filter = toFilter(rows, describe, state.collection);
  return filter ? filterWords(filter) : '';
}

function whereSection(view: AnalysisView, measure: MeasureRow, at: number): Html {
  const { describe, state, problems } = view;
  const prefix = whereOf(measure);
  const words = wordsFor(view, measure.where);
  const problem = problems.get(prefix);
  return html`<details class="more"${isUsed(measure.where) && html` open`}><summary>Only some records${words !== '' && html`: <span>${words}</span>`}</summary>
${problemNote(problem)}${filterBuilder({ rows: measure.where, describe, collection: state.collection, prefix, about: `Measure ${at + 1}: ` })}</details>`;
}

function groupSection(view: AnalysisView): Html {
  const { state, describe } = view;
  const choices = fieldChoices(describe, state.collection).shown.map(({ path, label }): Choice => [path, label]);
  return html`<section class="an-part" id="groups" aria-labelledby="groups-title"><h2 class="plainly" id="groups-title">For each</h2>
${state.groups.length === 0 && html`<p class="quietly">Without groups there is one figure for all records.</p>`}
${state.groups.map((group, at) => groupRow(view, group, at, findField(describe, state.collection, group.field)))}
${adder(view, 'g', 'group', choices, 'groups')}
${state.groups.length > 0 && html`<div class="choice"><input type="checkbox" id="empty" name="empty" value="yes"${state.includeEmpty && html` checked`}><label for="empty">Also groups without records</label></div>`}</section>`;
}

function groupRow(view: AnalysisView, group: GroupRow, at: number, field: FilterField | undefined): Html {
  const { id, field: path, by, ranges } = group;
  const row = `g.${at}`;
  const title = field?.label ?? path;
  const periods = periodsFor(field?.type ?? '');
  const choices: readonly Choice[] = [['', 'each value'], ...periods.map((each): Choice => [each, periodTexts[each]!])];
  return html`<div class="an-row an-line"><input type="hidden" name="${row}.is" value="${id}"><input type="hidden" name="${row}.field" value="${path}"><span class="an-what"><b>${title}</b>
${periods.length > 0 && select(`${row}.by`, choices, by, label(`${title}: period or part`))}
${field?.type === 'Number' && html`<label class="an-name"><span>ranges</span><input type="text" name="${row}.ranges" value="${ranges}" placeholder="each value, or 0, 10, 100" aria-label="${title}: bounds of ranges" maxlength="400"></label>`}</span>${remover(view, row, `the group ${title}`, 'groups')}</div>`;
}

function filterSection(view: AnalysisView): Html {
  const { state, describe, problems } = view;
  const words = wordsFor(view, state.filter);
  return html`<section class="an-part"><details class="more"${isUsed(state.filter) && html` open`}><summary>Filter all records${words !== '' && html`: <span>${words}</span>`}</summary>
${problemNote(problems.get(FILTER))}${filterBuilder({ rows: state.filter, describe, collection: state.collection, prefix: FILTER, about: 'All records: ' })}</details></section>`;
}

function orderSection(view: AnalysisView): Html {
  const { state, describe, problems } = view;
  const { measures, groups, having, sort, limit, collection } = state;
  if (groups.length === 0) return html``;
  const names = namesOf(state);
  const labelOf = ({ field }: GroupRow) => findField(describe, collection, field)?.label ?? field;
  const measureChoices = measures.map(({ id }): Choice => [id, names.get(id)!]);
  const sortChoices: readonly Choice[] = [
    ...measures.map(({ id }): Choice => [`m${id}`, names.get(id)!]),
    ...groups.map((group): Choice => [`g${group.id}`, labelOf(group)]),
  ];
  const textOf = (by: string) => sortChoices.find(([value]) => value === by)?.[1] ?? by;
  const isOpen = having.length + sort.length > 0 || limit !== '';
  const havingRows = having.map(({ measure, operator, value }, at) => {
    const name = names.get(measure)!;
    const choices = havingOperators.map((each): Choice => [each, operatorWords[each as keyof typeof operatorWords]]);
    const takesValue = operator !== 'Present' && operator !== 'Missing';
    return html`<div class="an-row an-line"><input type="hidden" name="h.${at}.is" value="${measure}"><span class="an-what"><b>${name}</b>${select(`h.${at}.operator`, choices, operator, label(`${name}: how to compare`))}
${takesValue && html`<input type="text" name="h.${at}.value" value="${typedText(value)}" aria-label="${name}: value" maxlength="100">`}</span>${remover(view, `h.${at}`, `the condition on ${name}`, 'order')}${problemNote(problems.get(`h${at}`))}</div>`;
  });
  const sortRows = sort.map(({ by, ascending }, at) => {
    const orders: readonly Choice[] = [
      ['up', 'ascending'],
      ['down', 'descending'],
    ];
    return html`<div class="an-row an-line"><input type="hidden" name="s.${at}.is" value="${by}"><span class="an-what"><b>${textOf(by)}</b>${select(`s.${at}.order`, orders, ascending ? 'up' : 'down', label(`${textOf(by)}: order`))}</span>${remover(view, `s.${at}`, `the order by ${textOf(by)}`, 'order')}</div>`;
  });
  return html`<section class="an-part" id="order"><details class="more"${isOpen && html` open`}><summary>Which groups, in which order</summary>
<h3>Only groups where</h3>${havingRows}${adder(view, 'h', 'condition', measureChoices, 'order')}
<h3>Sorted by</h3>${sortRows}${sort.length === 0 && html`<p class="quietly">The first measure, largest first.</p>`}${adder(view, 's', 'order', sortChoices, 'order')}
<div class="an-limit"><label for="limit">At most this many groups</label><input type="text" inputmode="numeric" id="limit" name="limit" value="${typedText(limit)}" placeholder="50" maxlength="8"></div></details></section>`;
}
