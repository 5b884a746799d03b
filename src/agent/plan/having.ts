// The conditions on groups that a statement decides: those on counts, and, for groups of one record each, all conditions on
// figures of related records and on fields of the record.
import type { Operator } from '../../core/filter.ts';
import { and, join, not } from '../lower/simplify.ts';
import type { AggregateQuery } from '../resolve/aggregate.ts';
import type { ResolvedMeasure } from '../resolve/resolved-measures.ts';
import { mapPaths } from '../sources/aggregate/expression.ts';
import type { Source } from '../sources/source.ts';
import type { CountBound } from '../sources/statement.ts';
import { readDecimal } from '../sources/values/decimal.ts';
import { isReadAfterwards, pathsOf, splitFilter, type ValueFilter, visitTests } from './residual.ts';
import type { Comparison, Filter, Measure, Path } from './types.ts';

/** The parts of an And. */
export const testsOf = (having: Filter): readonly Filter[] =>
  having.op === 'and' ? having.of : having.op === 'always' ? [] : [having];

/** Whether such a measure follows from the other figures of its group. */
export const isOfGroup = (kind: ResolvedMeasure['kind']): boolean => /^(computed|constant|expression)$/.test(kind);

/** Whether no group is needed for the figures of others, or to hide them. */
export function areSeparate({ measures, includeEmpty, readsAll }: AggregateQuery): boolean {
  if (includeEmpty || readsAll) return false;
  return measures.every(({ kind }) => kind === 'base' || isOfGroup(kind));
}

/** Where the statement has the figures of each measure. */
interface Figures {
  /** The index among its measures. */
  readonly at: readonly (number | undefined)[];
  /** The sum and the number of values of an average. */
  readonly parts: ReadonlyMap<number, readonly [sum: number, count: number]>;
}

interface PlannedHaving {
  readonly bounds: readonly CountBound[];
  readonly having?: Filter;
  /** The source decides all conditions. Otherwise it returns all groups, and too many are refused. */
  readonly isDecided: boolean;
}

/** `at`: the index of each measure among `measures`. `decides`: see `isDecidable`. Adds the parts of averages. */
export function planHaving(
  query: AggregateQuery,
  measures: Measure[],
  at: Figures['at'],
  decides: boolean,
): PlannedHaving {
  const tests = testsOf(query.having).map((test) => ({ test, bound: boundOf(test, query, at) }));
  const bounds = tests.flatMap(({ bound }) => bound ?? []);
  const others = tests.flatMap(({ test, bound }) => (bound ? [] : [test]));
  const having = decides && others.length > 0 && toStatement(others, query, { at, parts: addParts(measures, at) });
  return { bounds, ...(having && { having }), isDecided: others.length === 0 || decides };
}

/** The condition on the number that a measure counts. Undefined for another condition. */
function boundOf(test: Filter, query: AggregateQuery, at: Figures['at']): CountBound | undefined {
  const { groups, measures } = query;
  // Statements have no condition on the figures of all records.
  if (groups.length === 0 || !areSeparate(query)) return undefined;
  if (test.op !== 'test' || !isBound(test.is) || !isWhole(test.value)) return undefined;
  const measure = measures[Number(test.path.id)]!;
  if (measure.kind !== 'base' || !/^Count/.test(measure.operation)) return undefined;
  const bound = { measure: at[Number(test.path.id)]!, is: test.is, value: test.value };
  // A record without related rows has no group of them.
  return measure.many && !excludesZero(bound) ? undefined : bound;
}

const excludesZero = ({ is, value }: CountBound): boolean =>
  is === 'GreaterThan' || (value > 0 && (is === 'GreaterThanOrEqual' || is === 'Equal'));

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

const isBound = (is: Operator): is is CountBound['is'] => is === 'Equal' || /^(Less|Greater)Than(OrEqual)?$/.test(is);

/** Whether the source may decide all conditions: they are on figures of related records and on fields of the record. */
export function isDecidable(query: AggregateQuery, source: Source): boolean {
  const { having, measures, hidesFigures } = query;
  if (!hidesFigures || !source.usesFigures) return false;
  let isKnown = true;
  visitTests(having, (test) => {
    isKnown &&= pathsOf(test).every(({ id }) => isComparable(measures[Number(id)]!, test));
  });
  const at = [...measures.keys()];
  const figures = { at, parts: new Map(at.map((index) => [index, [index, index] as const])) };
  return isKnown && splitFilter(toStatement([having], query, figures)).residual.op === 'always';
}

/** Numbers and dates: databases may take different texts for equal. */
function isComparable(measure: ResolvedMeasure, test: ValueFilter): boolean {
  const own = ownPath(measure);
  if (own) return !isReadAfterwards(own);
  if (measure.kind !== 'base' || !measure.many) return false;
  const { operation, of } = measure;
  // An average is rounded to at least ten decimals. For a number with two, that is relevant from 200 million values.
  if (operation === 'Avg')
    return test.op === 'test' && [test.value].flat().every((value) => (readDecimal(value)?.scale ?? 0) <= 2);
  if (operation === 'Count' || operation === 'CountDistinct' || operation === 'Sum') return true;
  const isExtreme = operation === 'Max' || operation === 'Min';
  return isExtreme && of?.op === 'field' && /^(Number|Date|Dateonly)$/.test(String(of.path.field.type));
}

const ownPath = (measure: ResolvedMeasure): Path | undefined =>
  measure.kind === 'base' && measure.isOwn && measure.of?.op === 'field' ? measure.of.path : undefined;

/** An average is compared by its sum and its number of values, which are exact. */
function addParts(measures: Measure[], at: Figures['at']): Figures['parts'] {
  return new Map(
    at.flatMap((own, index) => {
      const measure = own === undefined ? undefined : measures[own];
      if (measure?.operation !== 'Avg') return [];
      const add = (operation: Measure['operation']) => measures.push({ ...measure, operation }) - 1;
      return [[index, [add('Sum'), add('Count')]]];
    }),
  );
}

/** The condition in terms of the record and of the measures of the statement. */
function toStatement(tests: readonly Filter[], { measures }: AggregateQuery, { at, parts }: Figures): Filter {
  const place = (path: Path): Path => {
    const index = Number(path.id);
    return ownPath(measures[index]!) ?? { ...path, measure: at[index]! };
  };
  const change = (filter: Filter): Filter => {
    switch (filter.op) {
      case 'and':
      case 'or':
        return join(filter.op, filter.of.map(change));
      case 'not':
        return not(change(filter.of));
      case 'compare':
        return { ...filter, left: mapPaths(filter.left, place), right: mapPaths(filter.right, place) };
      case 'test': {
        const path = place(filter.path);
        if (path.measure === undefined) return { ...filter, path };
        const [sum, count] = parts.get(Number(filter.path.id)) ?? [path.measure];
        return compareFigure(
          filter,
          { ...path, measure: sum },
          count === undefined ? undefined : { ...path, measure: count },
        );
      }
      default:
        return filter;
    }
  };
  return and(...tests.map(change));
}

/** A test of a figure as comparisons, which are false for a missing one. `count`: the figure is the quotient of both. */
function compareFigure({ is, value }: Extract<Filter, { op: 'test' }>, path: Path, count: Path | undefined): Filter {
  const missing: Filter = { op: 'test', path, is: 'Missing', value: null };
  const compare = (sign: Comparison['is'], operand: unknown): Filter => {
    const constant = { op: 'constant', type: path.field.type as 'Number', value: operand as number } as const;
    const right = count ? ({ op: 'times', of: [constant, { op: 'field', path: count }] } as const) : constant;
    return { op: 'compare', is: sign, left: { op: 'field', path }, right };
  };
  switch (is) {
    case 'Missing':
      return missing;
    case 'In':
    case 'NotIn': {
      const found = join(
        'or',
        (value as readonly unknown[]).map((each) => compare('Equal', each)),
      );
      return is === 'In' ? found : not(found);
    }
    case 'NotEqual':
      return not(compare('Equal', value));
    case 'GreaterThan':
      return and(not(missing), not(compare('LessThanOrEqual', value)));
    case 'GreaterThanOrEqual':
      return and(not(missing), not(compare('LessThan', value)));
    default:
      return compare(is as Comparison['is'], value);
  }
}
