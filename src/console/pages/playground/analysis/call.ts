// The form of an analysis as the arguments of the tool `aggregate`.
import { isExact } from '../../../../core/filter/exact-numbers.ts';
import { dateParts } from '../../../../core/filter/expression.ts';
import type { Describe } from '../../../ui/filter/fields.ts';
import { isUnfinished, toFilter } from '../../../ui/filter/state.ts';
import type { Arguments } from '../fields.ts';
import { type AnalysisState, FILTER, type GroupRow, type HavingRow, type MeasureRow, whereOf } from './state.ts';

interface AnalysisCall {
  readonly args: Arguments;
  /** What is missing, by the id of a row, or the prefix of a filter. Such a call is not made. */
  readonly problems: ReadonlyMap<string, string>;
}

const operationWords: Readonly<Record<string, string>> = {
  sum: 'sum of',
  avg: 'average of',
  min: 'lowest',
  max: 'highest',
  median: 'median of',
  percentile: 'percentile of',
  countDistinct: 'different',
  count: 'with',
  share: 'share of',
  running: 'running',
};

/** The names of the measures by their ids: as typed, else after what they are. All differ. */
export function namesOf({ measures }: Pick<AnalysisState, 'measures'>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>(measures.map(({ name }) => name).filter((name) => name !== ''));
  for (const measure of measures) {
    const usual = usualName(measure, names);
    let name = measure.name || usual;
    for (let count = 2; measure.name === '' && taken.has(name); count++) name = `${usual} ${count}`;
    taken.add(name);
    names.set(measure.id, name);
  }
  return names;
}

/** A measure can refer to a later one, whose name is then not known yet. */
function usualName({ kind, operation, of, by }: MeasureRow, names: ReadonlyMap<string, string>): string {
  const word = operationWords[operation] ?? operation;
  if (kind === 'count') return 'count';
  if (kind === 'field') return of === '' ? operation : `${word} ${of.replaceAll(':', ' ')}`;
  if (kind === 'metric') return of;
  if (kind === 'ratio') return `${names.get(of) ?? 'figure'} per ${names.get(by) ?? 'figure'}`;
  return `${word} ${names.get(of) ?? 'figure'}`;
}

/** Numbers as numbers, if they stay exact. */
const toValue = (text: string): unknown =>
  text.trim() !== '' && Number.isFinite(Number(text)) && isExact(text.trim()) ? Number(text) : text;

export function toCall(state: AnalysisState, describe: Describe): AnalysisCall {
  const { collection, measures, groups, filter, having, sort, includeEmpty, limit } = state;
  const problems = new Map<string, string>();
  const names = namesOf(state);
  const typed = measures.map(({ name }) => name).filter((name) => name !== '');
  const wordsOf = ({ id, name, ...row }: MeasureRow): unknown => {
    if (typed.filter((each) => each === name).length > 1) problems.set(`m${id}`, `Two measures are named '${name}'.`);
    return toMeasure({ id, name, ...row }, names, (problem) => problems.set(`m${id}`, problem));
  };
  const withWhere = (measure: MeasureRow): unknown => {
    const { kind, where } = measure;
    const condition = kind === 'count' || kind === 'field' ? toFilter(where, describe, collection) : undefined;
    if (isUnfinished(where)) problems.set(whereOf(measure), unfinished);
    return { ...(wordsOf(measure) as object), ...(condition && { where: condition }) };
  };
  if (measures.length === 0) problems.set('', 'Add a measure.');
  const filters = toFilter(filter, describe, collection);
  if (isUnfinished(filter)) problems.set(FILTER, unfinished);
  const orders = sort.map(({ by, ascending }) => {
    const id = by.slice(1);
    return by.startsWith('m')
      ? { measure: names.get(id)!, ascending }
      : { group: groups.findIndex((group) => group.id === id), ascending };
  });
  const args = {
    collectionName: collection,
    measures: Object.fromEntries(measures.map((measure) => [names.get(measure.id)!, withWhere(measure)])),
    ...(groups.length > 0 && { groups: groups.map(toGroup) }),
    ...(filters && { filters }),
    ...(having.length > 0 && { having: toHaving(having, names, problems) }),
    ...(orders.length > 0 && { sort: orders }),
    ...(includeEmpty && groups.length > 0 && { includeEmpty: true }),
    ...(limit !== '' && { limit: toValue(limit) }),
  };
  return { args, problems };
}

const unfinished = 'A condition has no value. Enter one, or remove the condition.';

function toMeasure(
  { kind, operation, of, by, fraction }: MeasureRow,
  names: ReadonlyMap<string, string>,
  fail: (problem: string) => void,
): unknown {
  if (kind === 'count') return { count: true };
  if (kind === 'metric') return { metric: of };
  if (kind === 'field') {
    if (of === '') fail('Choose a field.');
    return { [operation]: operation === 'percentile' ? [of, toValue(fraction)] : of };
  }
  const others = kind === 'ratio' ? [of, by] : [of];
  if (others.some((id) => !names.has(id))) fail('Choose another measure.');
  const named = others.map((id) => names.get(id) ?? '');
  return kind === 'ratio' ? { ratio: named } : { [operation]: named[0] };
}

function toGroup({ field, by, ranges }: GroupRow): unknown {
  const bounds = ranges.split(/[;,\s]+/).filter((text) => text !== '');
  if (by === '') return bounds.length > 0 ? { field, ranges: bounds.map(toValue) } : field;
  return { field, [(dateParts as readonly string[]).includes(by) ? 'part' : 'bucket']: by };
}

function toHaving(
  rows: readonly HavingRow[],
  names: ReadonlyMap<string, string>,
  problems: Map<string, string>,
): unknown {
  const conditions = rows.map(({ measure, operator, value }, at) => {
    const takesValue = operator !== 'Present' && operator !== 'Missing';
    if (takesValue && value.trim() === '') problems.set(`h${at}`, unfinished);
    return { measure: names.get(measure)!, operator, ...(takesValue && { value: toValue(value) }) };
  });
  return conditions.length === 1 ? conditions[0] : { aggregator: 'And', conditions };
}
