// Measures over a to-many relation, as measures of the foreign collection.
import type { PlainExpression } from '../../../core/filter/expression.ts';
import type { PlainMeasure, PlainMeasures } from '../../../core/filter/measures.ts';
import { isBranch, isComparison, isQuantified, mapCompared, type PlainFilter } from '../../../core/filter.ts';

/** Translates paths. `isBehind`: whether a path goes through the relation. */
interface PathInversion {
  readonly isBehind: (path: string) => boolean;
  readonly invertPath: (path: string) => string;
}

/** Undefined if a measure is about the records themselves: it would count once per related record. */
export function invertMeasures(measures: PlainMeasures, inversion: PathInversion): PlainMeasures | undefined {
  const inverted: Record<string, PlainMeasure> = {};
  for (const [name, measure] of Object.entries(measures)) {
    const each = invertMeasure(measure as unknown as Parts, inversion);
    if (!each) return undefined;
    inverted[name] = each as unknown as PlainMeasure;
  }
  return inverted;
}

/** Whether the kind of measure names other measures, not fields. */
const isOfMeasures = (kind: string): boolean =>
  [...windows, 'ratio', 'plus', 'minus', 'times', 'dividedBy', 'abs', 'round', 'sqrt', 'coalesce'].includes(kind);
const windows: readonly string[] = ['share', 'running', 'movingAverage', 'rank'];

type Parts = Readonly<Record<string, unknown>>;

function invertMeasure(measure: Parts, inversion: PathInversion): Parts | undefined {
  const { where, ...rest } = measure;
  const [[kind, of] = ['', undefined]] = Object.entries(rest);
  // Code defines metrics of this collection only.
  if (kind === 'metric') return undefined;
  if (isOfMeasures(kind)) {
    const invertOperand = (each: unknown) =>
      typeof each === 'string' || typeof each === 'number' ? each : invertMeasure(each as Parts, inversion);
    const parts = [of].flat().map(invertOperand);
    // The groups have other names there.
    const isByName = [measure.per].flat().some((each) => typeof each === 'string');
    return isByName || parts.includes(undefined)
      ? undefined
      : { ...measure, [kind]: Array.isArray(of) ? parts : parts[0] };
  }
  const list = kind === 'percentile' ? (of as readonly unknown[]) : [of];
  const expression = invertExpression(list[0] as PlainExpression | true, inversion);
  const condition = where === undefined ? undefined : invertFilter(where as PlainFilter, inversion);
  if (expression === undefined || (where !== undefined && !condition)) return undefined;
  // The relation itself, as in `{"count": "orders"}`, is the records that it leads to.
  if (expression === '') return kind === 'count' ? { count: true, ...(condition && { where: condition }) } : undefined;
  return {
    [kind]: kind === 'percentile' ? [expression, list[1]] : expression,
    ...(condition && { where: condition }),
  };
}

function invertExpression(expression: PlainExpression | true, inversion: PathInversion): PlainExpression | undefined {
  if (typeof expression === 'string')
    return inversion.isBehind(expression) ? inversion.invertPath(expression) : undefined;
  if (typeof expression === 'number') return expression;
  if (expression === true || typeof expression !== 'object' || 'value' in expression)
    return expression === true ? undefined : expression;
  const entries = Object.entries(expression).map(([key, of]): [string, unknown] => {
    if (key === 'unit') return [key, of];
    return [
      key,
      Array.isArray(of) ? of.map((each) => invertExpression(each, inversion)) : invertExpression(of, inversion),
    ];
  });
  const isWhole = entries.every(([, of]) => of !== undefined && !(Array.isArray(of) && of.includes(undefined)));
  return isWhole ? (Object.fromEntries(entries) as unknown as PlainExpression) : undefined;
}

/** Undefined for quantified filters, whose paths have other starts. */
function invertFilter(filter: PlainFilter, inversion: PathInversion): PlainFilter | undefined {
  if (isQuantified(filter)) return undefined;
  if (isComparison(filter)) return mapCompared(filter, inversion.invertPath);
  if (!isBranch(filter)) return { ...filter, field: inversion.invertPath(filter.field) };
  const conditions = filter.conditions.flatMap((each) => invertFilter(each, inversion) ?? []);
  return conditions.length === filter.conditions.length ? { ...filter, conditions } : undefined;
}

/** The fields of all measures. */
export function fieldsOfMeasures(measures: PlainMeasures): string[] {
  const visit = (value: unknown, key: string): string[] => {
    if (key === 'where' || key === 'value' || key === 'unit' || key === 'metric') return [];
    if (typeof value === 'string') return windows.includes(key) ? [] : [value];
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([each, item]) => visit(item, Array.isArray(value) ? key : each));
  };
  return Object.values(measures).flatMap((measure) => visit(measure, ''));
}
