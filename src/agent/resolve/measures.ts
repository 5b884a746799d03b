// Resolves the measures of an aggregate: base measures, which a source computes for each group, and those that are
// derived from other measures. Checks types before a database is asked.

import type { StoredMetric } from '../../core/caller/meanings.ts';
import { fail } from '../../core/errors.ts';
import type { PlainExpression } from '../../core/filter/expression.ts';
import { MAX_MEASURES, type PlainMeasures } from '../../core/filter/measures.ts';
import type { PlainFilter } from '../../core/filter.ts';
import { suggestNames } from '../../core/suggestions.ts';
import type { Column, Metric, Moment } from '../model/types.ts';
import type { Expression } from '../plan/types.ts';
import type { PrimitiveType } from '../sources/column-types.ts';
import { type MeasureOperation, type Operation, operations } from '../sources/statement.ts';
import { type Decimal, readDecimal } from '../sources/values/decimal.ts';
import { resolveUnambiguous } from './ambiguity.ts';
import { columnOf, formatType, quotientDecimals, resolveExpression, scaleOf, typeOf } from './expression.ts';
import { indexOfGroup, isDateGroup, type ResolvedGroup } from './groups.ts';
import { half, memberOf, readLast, readPercentile } from './measure-arguments.ts';
import { resolveName } from './names.ts';
import {
  type BaseMeasure,
  computedDecimals,
  failUnknownMeasure,
  isNumeric,
  type MeasureOperator,
  measureOperators,
  type ResolvedMeasure,
  scaleOfMeasure,
  type WindowMeasure,
} from './resolved-measures.ts';
import { createVisibleDefinitions } from './stored-definitions.ts';
import type { CollectionView } from './visibility.ts';

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

const operationOf = {
  count: 'Count',
  countDistinct: 'CountDistinct',
  sum: 'Sum',
  avg: 'Avg',
  min: 'Min',
  max: 'Max',
  median: 'Percentile',
  percentile: 'Percentile',
} as const satisfies Record<string, MeasureOperation>;
const windows = ['share', 'running', 'movingAverage', 'rank'] as const;
const kinds = [
  ...(Object.keys(operationOf) as (keyof typeof operationOf)[]),
  ...(['ratio', ...windows, 'metric'] as const),
  ...measureOperators,
];
/** These take more than two operands. */
const associative: ReadonlySet<string> = new Set(['plus', 'times', 'coalesce']);

const example = `send {"count":true}, {"sum":"price"}, or another of ${kinds.slice(1).join(', ')}`;

/** Where the names of a measure are looked up. */
interface Home {
  readonly view: CollectionView;
  /** The filters of the metrics that the measure is part of. */
  readonly filters: readonly PlainFilter[];
  /** Those metrics. */
  readonly metrics: readonly string[];
  readonly metric?: NonNullable<BaseMeasure['metric']>;
}

/**
 * All measures, in the order of the request, each followed by that of an earlier period if there are `periods`. Measures
 * in place of a name come last, not shown.
 */
export function resolveMeasures(
  view: CollectionView,
  measures: PlainMeasures,
  moment: Moment,
  groups: readonly ResolvedGroup[] = [],
  periods?: number,
): ResolvedMeasure[] {
  const names = typeof measures === 'object' && measures !== null ? Object.keys(measures) : [];
  if (names.length === 0) invalid('measures', 'send at least one, by name: {"orders":{"count":true}}.');
  if (names.length > MAX_MEASURES) invalid('measures', `at most ${MAX_MEASURES} measures.`);
  return createResolver(view, measures, moment, groups, periods).all(names);
}

function createResolver(
  view: CollectionView,
  measures: PlainMeasures,
  moment: Moment,
  groups: readonly ResolvedGroup[],
  periods: number | undefined,
  ofCaller: Home = { view, filters: [], metrics: [] },
) {
  const resolved: (ResolvedMeasure | 'resolving')[] = [];
  const indexes = new Map<string, number>();
  return {
    all(names: readonly string[]): ResolvedMeasure[] {
      const shown = periods === undefined ? names : names.flatMap((name) => [name, previousName(name)]);
      for (const [index, name] of shown.entries()) indexes.set(name, index);
      if (indexes.size < shown.length)
        invalid('measures', 'with compare, no name begins with "previous " and another name.');
      resolved.length = shown.length;
      for (const name of shown) named(name, `measures.${name}`);
      return resolved as ResolvedMeasure[];
    },
  };

  /** The index of the measure. */
  function named(name: string, at: string): number {
    const index = indexes.get(name);
    if (index === undefined) return failUnknownMeasure(name, indexes.keys(), at);
    if (resolved[index] === 'resolving') return invalid(at, `'${name}' refers to itself.`);
    if (!resolved[index]) {
      resolved[index] = 'resolving';
      resolved[index] = Object.hasOwn(measures, name)
        ? one(measures[name]!, name, `measures.${name}`, true, ofCaller)
        : previous(name, named(name.slice(previousName('').length), at));
    }
    return index;
  }

  function previous(name: string, of: number): ResolvedMeasure {
    const earlier = resolved[of] as ResolvedMeasure;
    const { decimals } = earlier;
    return { kind: 'previous', name, isShown: true, of, periods: periods!, decimals, scale: scaleOfMeasure(earlier) };
  }

  /** A measure, the name of one, or a number. */
  function operand(given: unknown, at: string, home: Home): number {
    if (typeof given === 'string')
      return home.metric ? invalid(at, 'a metric has no names of measures: write the measure.') : named(given, at);
    if (resolved.length >= 2 * MAX_MEASURES) invalid('measures', `at most ${MAX_MEASURES} measures.`);
    const index = resolved.push('resolving') - 1;
    const value = typeof given === 'number' ? readDecimal(given) : undefined;
    resolved[index] = value
      ? { kind: 'constant', name: String(given), isShown: false, decimals: value.scale, value }
      : one(given, '', at, false, home);
    return index;
  }

  function one(given: unknown, name: string, at: string, isShown: boolean, home: Home): ResolvedMeasure {
    if (typeof given === 'string' && findMetric(home, given))
      return invalid(at, `send {"metric":${JSON.stringify(given)}}.`);
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return invalid(at, `${example}.`);
    const measure = given as Readonly<Record<string, unknown>>;
    const kind = kinds.find((each) => each in measure);
    if (!kind) return invalid(at, `${example}.`);
    const also = kind in operationOf ? 'where' : memberOf[kind];
    const isPerOfRunning = (key: string) => key === 'per' && (kind === 'running' || kind === 'movingAverage');
    const other = Object.keys(measure).find((key) => key !== kind && key !== also && !isPerOfRunning(key));
    if (other !== undefined)
      return invalid(`${at}.${other}`, `only "${kind}"${also ? ` and "${also}"` : ''} can be here: ${example}.`);
    if (isOneOf(windows, kind)) return overGroups(kind, measure, name, at, isShown, home);
    if (kind === 'ratio' || isOneOf(measureOperators, kind))
      return compute(kind, measure[kind], name, at, isShown, home);
    if (kind === 'metric') return one(...metric(measure.metric, name, at, isShown, home));
    const base = resolveBase(home.view, kind as keyof typeof operationOf, measure[kind], `${at}.${kind}`, moment);
    const own = measure.where as PlainFilter | undefined;
    const where = own ? [...home.filters, own] : home.filters;
    const common = { name, isShown, at, ...(where.length > 0 && { where }) };
    return { ...base, ...common, ...(home.metric && { metric: home.metric }) };
  }

  /** The measure of a metric. In code, its names are those of code, which may use hidden fields. */
  function metric(given: unknown, name: string, at: string, isShown: boolean, home: Home): Parameters<typeof one> {
    const { collection } = home.view;
    const found = findMetric(home, given as string);
    if (!found) return failUnknownMetric(home, given, `${at}.metric`);
    const { measure, filter } = 'definition' in found ? found.definition : found;
    if (home.metrics.includes(given as string)) return invalid(`${at}.metric`, `'${given}' refers to itself.`);
    const inner: Home = {
      view: 'definition' in found ? home.view.toInternal(collection) : home.view,
      filters: filter ? [...home.filters, filter] : home.filters,
      metrics: [...home.metrics, given as string],
      ...('definition' in found && {
        metric: { what: `the metric '${given}' of '${collection.name}'`, at: found.at },
      }),
    };
    return [measure, name, at, isShown, inner];
  }

  function compute(
    kind: 'ratio' | MeasureOperator,
    given: unknown,
    name: string,
    at: string,
    isShown: boolean,
    home: Home,
  ): ResolvedMeasure {
    const isOfOne = kind === 'abs' || kind === 'round' || kind === 'sqrt';
    const list = isOfOne ? [given] : Array.isArray(given) ? given : [];
    if (!isOfOne && (list.length < 2 || (list.length > 2 && !associative.has(kind))))
      invalid(`${at}.${kind}`, `takes two measures, by name or in place, or numbers: {"${kind}":["paid","all"]}.`);
    const of = list.map((each, index) => operand(each, `${at}.${kind}${isOfOne ? '' : `[${index}]`}`, home));
    const parts = of.map((index) => resolved[index] as ResolvedMeasure);
    requireNumbers(parts, `${at}.${kind}`);
    const operator = kind === 'ratio' ? 'dividedBy' : kind;
    return { kind: 'computed', name, isShown, operator, of, decimals: computedDecimals(operator, parts) };
  }

  function overGroups(
    kind: WindowMeasure['kind'],
    { [kind]: given, per: within = [], last }: Readonly<Record<string, unknown>>,
    name: string,
    at: string,
    isShown: boolean,
    home: Home,
  ): ResolvedMeasure {
    const index = operand(given, `${at}.${kind}`, home);
    const of = resolved[index] as ResolvedMeasure;
    if (!Array.isArray(within))
      return invalid(`${at}.per`, `send a list of groups: ${JSON.stringify({ [kind]: given, per: [0] })}.`);
    const per = within.map((each) => indexOfGroup(each, groups, `${at}.per`));
    if (kind === 'running' || kind === 'movingAverage') checkRunningPer(per, groups, `${at}.per`);
    if (kind === 'rank') return { kind, name, isShown, of: index, per, decimals: 0, scale: 0 };
    if (kind === 'movingAverage') {
      requireNumbers([of], `${at}.${kind}`);
      const scale = quotientDecimals(scaleOfMeasure(of));
      return { kind, name, isShown, of: index, per, last: readLast(kind, given, last, at), decimals: scale, scale };
    }
    const isAdditive =
      (of.kind === 'base' && (of.operation === 'Count' || of.operation === 'Sum')) ||
      (of.kind === 'share' && kind === 'running');
    if (!isAdditive) invalid(`${at}.${kind}`, 'takes a count or a sum: only these add up over groups.');
    const scale = kind === 'share' ? quotientDecimals(scaleOfMeasure(of)) : scaleOfMeasure(of);
    return {
      ...{ kind, name, isShown, of: index, per, decimals: kind === 'share' ? scale : of.decimals, scale },
      ...(last !== undefined && { last: readLast(kind, given, last, at) }),
    };
  }

  function requireNumbers(parts: readonly ResolvedMeasure[], at: string): void {
    const index = parts.findIndex((part) => !isNumeric(part, resolved as ResolvedMeasure[]));
    const place = parts.length > 1 ? `${at}[${index}]` : at;
    const name = parts[index]?.name;
    if (index >= 0) invalid(place, `takes numbers${name && `, but '${name}' is not one`}.`);
  }
}

/** Along a date, running figures begin again for each combination of the other groups. `per` may say so. */
function checkRunningPer(per: readonly number[], groups: readonly ResolvedGroup[], at: string): void {
  const along = groups.findIndex(isDateGroup);
  const others = [...groups.keys()].filter((index) => index !== along);
  const isSame = along >= 0 && others.every((index) => per.includes(index)) && !per.includes(along);
  if (per.length === 0 || isSame) return;
  invalid(
    at,
    along < 0
      ? 'without a group by a date, it follows the order of all groups. Leave per out, or group by a date.'
      : 'along a date, it begins again for each combination of the other groups. Leave per out, and group by no more than it names.',
  );
}

/** A metric of code, else one of the console whose fields the caller may see. */
function findMetric(home: Home, name: string): Metric | StoredMetric | undefined {
  return home.view.collection.rules.metrics.get(name) ?? storedMetricsOf(home).get(name);
}

/** A metric uses none of the console. */
const storedMetricsOf = ({ view, metrics }: Home): ReadonlyMap<string, StoredMetric> =>
  metrics.length > 0 ? new Map() : visibleMetrics(view);

/** The metrics of the console that exist for the caller. */
export const visibleMetrics = createVisibleDefinitions('metrics', checkStoredMetric);

/** Throws as an aggregate of the caller would. */
export function checkStoredMetric(view: CollectionView, { measure, filter }: StoredMetric, moment: Moment): void {
  const ofMetric: Home = { view, filters: filter ? [filter] : [], metrics: ['metric'] };
  const resolver = createResolver(view, { metric: measure }, moment, [], undefined, ofMetric);
  for (const resolved of resolver.all(['metric']))
    if (resolved.kind === 'base') for (const where of resolved.where ?? []) resolveUnambiguous(view, where, moment);
}

function failUnknownMetric(home: Home, given: unknown, at: string): never {
  const { name, isExternal, rules } = home.view.collection;
  const names = [...rules.metrics.keys(), ...storedMetricsOf(home).keys()];
  if (names.length === 0)
    return invalid(at, `'${name}' has no metrics${isExternal ? '. With over, send them in over.measures' : ''}.`);
  const near = suggestNames(String(given), names);
  return invalid(
    at,
    `'${name}' has no metric '${String(given)}'. ${near.length ? 'Near' : 'Send one of'}: ${(near.length ? near : names).join(', ')}.`,
  );
}

const isOneOf = <T extends string>(list: readonly T[], kind: string): kind is T => list.includes(kind as T);

const previousName = (name: string): string => `previous ${name}`;

type ResolvedBase = Pick<BaseMeasure, 'kind' | 'operation' | 'of' | 'fraction' | 'column' | 'decimals'>;

function resolveBase(
  view: CollectionView,
  kind: keyof typeof operationOf,
  given: unknown,
  at: string,
  moment: Moment,
): ResolvedBase {
  const operation = operationOf[kind];
  if (kind === 'count' && (given === true || given === undefined)) return { kind: 'base', operation, decimals: 10 };
  const percentile = kind === 'percentile' ? readPercentile(given, at) : undefined;
  const plain = percentile ? percentile.of : given;
  if (typeof plain !== 'string' && typeof plain !== 'number' && (typeof plain !== 'object' || plain === null))
    return invalid(
      at,
      `${kind} takes a field or an expression: {"${kind}":${kind === 'percentile' ? '["price",0.9]' : '"price"'}}. Usable: ${listUsable(view, operation)}.`,
    );
  const of = resolveExpression(view, plain as PlainExpression, { moment, at });
  const fraction = kind === 'median' ? half : percentile?.fraction;
  return checkBase(view, operation, of, kind, at, fraction);
}

const summableTypes: ReadonlySet<PrimitiveType> = new Set<PrimitiveType>(['Number']);
const comparableTypes: ReadonlySet<PrimitiveType> = new Set<PrimitiveType>([
  ...(['Number', 'Date', 'Dateonly', 'Time', 'String', 'Enum', 'Boolean'] as const),
]);
/** For these types, `Min` and `Max` need a sortable or computed column: not every source orders them reliably. */
const textTypes: ReadonlySet<PrimitiveType> = new Set<PrimitiveType>(['String', 'Enum', 'Boolean']);

const typesFor = (operation: MeasureOperation): ReadonlySet<PrimitiveType> =>
  operation === 'Max' || operation === 'Min' ? comparableTypes : summableTypes;

function isUsable(operation: MeasureOperation, { type, sortable, computedFrom }: Column): boolean {
  if (operation === 'Count') return true;
  if (typeof type !== 'string') return false;
  if (operation === 'CountDistinct') return type !== 'Binary' && sortable;
  return typesFor(operation).has(type) && (!textTypes.has(type) || sortable || computedFrom !== undefined);
}

function listUsable(view: CollectionView, operation: MeasureOperation): string {
  const usable = view.columns.filter((column) => isUsable(operation, column)).map((column) => column.name);
  return usable.slice(0, 10).join(', ') || 'none';
}

function checkBase(
  view: CollectionView,
  operation: MeasureOperation,
  of: Expression,
  kind: string,
  at: string,
  fraction: Decimal | undefined,
): ResolvedBase {
  const column = columnOf(of);
  const type = typeOf(of);
  const isPlain = of.op === 'field';
  if (
    isPlain
      ? !isUsable(operation, of.path.field)
      : operation !== 'Count' && operation !== 'CountDistinct' && !typesFor(operation).has(type as PrimitiveType)
  ) {
    const allowed = operation === 'CountDistinct' ? 'a sortable field' : [...typesFor(operation)].join(', ');
    const what = isPlain ? `'${of.path.id}'` : 'the expression';
    const unsortable = isPlain && !of.path.field.sortable ? ' that cannot be sorted' : '';
    invalid(
      at,
      `${kind.length && kind[0]!.toUpperCase() + kind.slice(1)} takes ${allowed}, but ${what} is ${formatType(type)}${unsortable}. Usable: ${listUsable(view, operation)}.`,
    );
  }
  const isExtreme = operation === 'Max' || operation === 'Min';
  return {
    kind: 'base',
    operation,
    of,
    decimals: operation === 'Count' || operation === 'CountDistinct' ? 10 : quotientDecimals(scaleOf(of)),
    ...(fraction && { fraction }),
    ...(isExtreme && column && { column }),
  };
}

/** The arguments of the form with one operation. */
interface OperationArguments {
  readonly operation: Operation;
  readonly field?: string;
}

/** The same as a list of one measure, with the name of its column in the answer. */
export function resolveOperation(
  view: CollectionView,
  { operation, field }: OperationArguments,
  moment: Moment,
): ResolvedMeasure[] {
  if (!operations.includes(operation)) invalid('operation', `expected one of ${operations.join(', ')}.`);
  if (field === undefined && operation !== 'Count')
    return invalid('field', `${operation} needs a field. Usable: ${listUsable(view, operation)}.`);
  const kind = operation.toLowerCase();
  const common = { isShown: true, at: 'field' } as const;
  if (field === undefined) return [{ kind: 'base', operation, decimals: 10, name: kind, ...common }];
  const { name } = resolveName(view, field);
  const of = resolveExpression(view, name, { moment, at: 'field' });
  const base = checkBase(view, operation, of, kind, 'field', undefined);
  // Charts and code calculate with averages of this form, so they are numbers rather than digits.
  return [{ ...base, ...(operation === 'Avg' && { decimals: 'digits' }), name: `${kind}(${name})`, ...common }];
}
