// What the form of an analysis contains: measures, groups, filters, and which groups to show. Each change of the rows is
// a request, so the form works without scripts. Rows refer to each other by ids, which stay when other rows are removed.
import { dateParts } from '../../../../core/filter/expression.ts';
import { bucketUnits, MAX_MEASURES, periodUnits } from '../../../../core/filter/measures.ts';
import { type Describe, findField } from '../../../ui/filter/fields.ts';
import { partOf, readRows } from '../../../ui/filter/form.ts';
import { noRows, type Rows } from '../../../ui/filter/state.ts';

/** `field`: of the values of a field. `total`: the share or the running total of another measure. */
type MeasureKind = 'count' | 'field' | 'ratio' | 'total' | 'metric';

export interface MeasureRow {
  readonly id: string;
  readonly kind: MeasureKind;
  /** Of `field` and `total`, such as `sum` or `share`. */
  readonly operation: string;
  /** A field, the id of another measure, or the name of a metric; '' for none yet. */
  readonly of: string;
  /** The id of the measure that a ratio divides by. */
  readonly by: string;
  /** Of a percentile, from 0 to 1. */
  readonly fraction: string;
  /** As typed; '' for the usual name. */
  readonly name: string;
  readonly where: Rows;
}

export interface GroupRow {
  readonly id: string;
  readonly field: string;
  /** A period or a part of a date; '' for the values. */
  readonly by: string;
  /** Bounds of ranges, as typed. */
  readonly ranges: string;
}

export interface HavingRow {
  /** The id of a measure. */
  readonly measure: string;
  readonly operator: string;
  readonly value: string;
}

interface SortRow {
  /** `m` or `g`, and the id of a measure or group. */
  readonly by: string;
  readonly ascending: boolean;
}

export interface AnalysisState {
  /** '' until one is chosen. */
  readonly collection: string;
  readonly measures: readonly MeasureRow[];
  readonly groups: readonly GroupRow[];
  readonly filter: Rows;
  readonly having: readonly HavingRow[];
  readonly sort: readonly SortRow[];
  readonly includeEmpty: boolean;
  readonly limit: string;
}

const MAX_GROUPS = 8;
const MAX_HAVING = 20;
const MAX_SORTS = 10;
/** Starts the names of the controls of a filter. */
export const FILTER = 'f.';
export const whereOf = ({ id }: Pick<MeasureRow, 'id'>): string => `w${id}.`;

export const fieldOperations = [
  ...['sum', 'avg', 'min', 'max', 'median', 'percentile'],
  ...['countDistinct', 'count'],
] as const;
export const totalOperations = ['share', 'running'] as const;
export const havingOperators = [
  ...['GreaterThanOrEqual', 'GreaterThan', 'LessThan', 'LessThanOrEqual'],
  ...['Equal', 'NotEqual', 'Present', 'Missing'],
] as const;

const blankMeasure = { operation: '', of: '', by: '', fraction: '', name: '', where: noRows } as const;

/** The number of records, to start with. */
export function startOf(collection: string): AnalysisState {
  return {
    collection,
    measures: collection === '' ? [] : [{ ...blankMeasure, id: '1', kind: 'count' }],
    groups: [],
    filter: noRows,
    having: [],
    sort: [],
    includeEmpty: false,
    limit: '',
  };
}

/** The form with the change of the pressed button. */
export function readAnalysis(form: URLSearchParams, describe: Describe): AnalysisState {
  const collection = form.get('collection') ?? '';
  // The fields of one collection mean nothing in another one.
  if (collection !== form.get('was') || !describe(collection)) return startOf(collection);
  const text = (name: string) => (form.get(name) ?? '').replaceAll('\0', '');
  const [removed = ''] = /^remove\..*/.exec(text('do')) ?? [];
  const rowsAt = (letter: string, most: number) =>
    Array.from({ length: most }, (_, at) => `${letter}.${at}`).filter(
      (name) => form.has(`${name}.is`) && removed !== `remove.${name}`,
    );
  const measures = rowsAt('m', MAX_MEASURES).map((name) => readMeasure(name, form, describe, collection));
  const groups = rowsAt('g', MAX_GROUPS).map((name): GroupRow => {
    const by = text(`${name}.by`);
    const isKnown = ([...periodUnits, ...dateParts] as readonly string[]).includes(by);
    return {
      id: text(`${name}.is`),
      field: text(`${name}.field`),
      by: isKnown ? by : '',
      ranges: text(`${name}.ranges`),
    };
  });
  const allMeasures = [...measures, ...addedMeasure(text('new.m'), measures)];
  const allGroups = [...groups, ...addedGroup(text('new.g'), groups, describe, collection)];
  const isMeasure = (id: string) => allMeasures.some((measure) => measure.id === id);
  const isThere = (by: string) =>
    by.startsWith('m') ? isMeasure(by.slice(1)) : allGroups.some(({ id }) => id === by.slice(1));
  const having = rowsAt('h', MAX_HAVING).map((name): HavingRow => {
    const operator = havingOperators.find((each) => each === text(`${name}.operator`)) ?? havingOperators[0];
    return { measure: text(`${name}.is`), operator: operator!, value: text(`${name}.value`) };
  });
  const sort = rowsAt('s', MAX_SORTS).map(
    (name): SortRow => ({ by: text(`${name}.is`), ascending: text(`${name}.order`) === 'up' }),
  );
  const [newHaving, newSort] = [text('new.h'), text('new.s')];
  return {
    collection,
    measures: allMeasures,
    groups: allGroups,
    filter: readRows(partOf(form, FILTER), describe, collection),
    having: [
      ...having,
      ...(newHaving === '' || having.length >= MAX_HAVING
        ? []
        : [{ measure: newHaving, operator: havingOperators[0]!, value: '' }]),
    ].filter(({ measure }) => isMeasure(measure)),
    sort: [
      ...sort,
      // The largest figures first, but the groups in their own order.
      ...(newSort === '' || sort.length >= MAX_SORTS ? [] : [{ by: newSort, ascending: newSort.startsWith('g') }]),
    ].filter(({ by }) => isThere(by)),
    includeEmpty: form.has('empty'),
    limit: text('limit').trim(),
  };
}

function readMeasure(name: string, form: URLSearchParams, describe: Describe, collection: string): MeasureRow {
  const text = (part: string) => (form.get(`${name}.${part}`) ?? '').replaceAll('\0', '');
  const id = text('is').replace(/\D/g, '').slice(0, 4);
  const kind =
    (['count', 'field', 'ratio', 'total', 'metric'] as const).find((each) => each === text('kind')) ?? 'count';
  const operations: readonly string[] = kind === 'total' ? totalOperations : kind === 'field' ? fieldOperations : [''];
  return {
    ...{ id, kind },
    operation: operations.find((each) => each === text('operation')) ?? operations[0]!,
    ...{ of: text('of'), by: text('by'), fraction: text('fraction').trim(), name: text('name').trim() },
    where: readRows(partOf(form, whereOf({ id })), describe, collection),
  };
}

const nextId = (rows: readonly { readonly id: string }[]): string =>
  `${1 + Math.max(0, ...rows.map(({ id }) => Number(id) || 0))}`;

/** `chosen`: a kind, with an operation or the name of a metric behind the colon. */
function addedMeasure(chosen: string, measures: readonly MeasureRow[]): readonly MeasureRow[] {
  const [kind = '', rest = ''] = chosen.split(/:(.*)/s);
  if (measures.length >= MAX_MEASURES) return [];
  const row = { ...blankMeasure, id: nextId(measures) };
  if (kind === 'count') return [{ ...row, kind }];
  if (kind === 'field') return [{ ...row, kind, operation: rest, fraction: rest === 'percentile' ? '0.9' : '' }];
  if (kind === 'metric') return [{ ...row, kind, of: rest }];
  const [first = '', second = ''] = measures.map(({ id }) => id);
  if (kind === 'ratio') return [{ ...row, kind, of: first, by: second }];
  return kind === 'total' ? [{ ...row, kind, operation: rest, of: first }] : [];
}

/** Periods of a date are months at first: its single moments rarely make groups. */
function addedGroup(
  field: string,
  groups: readonly GroupRow[],
  describe: Describe,
  collection: string,
): readonly GroupRow[] {
  const found = findField(describe, collection, field);
  if (!found || groups.length >= MAX_GROUPS) return [];
  const isDate = /^Date/.test(found.type);
  return [{ id: nextId(groups), field, by: isDate ? 'Month' : '', ranges: '' }];
}

/** What a group of the type may be by, beside the values. */
export function periodsFor(type: string): readonly string[] {
  if (type === 'Date') return [...periodUnits, ...dateParts];
  return type === 'Dateonly' ? [...bucketUnits, ...dateParts.filter((part) => part !== 'HourOfDay')] : [];
}
