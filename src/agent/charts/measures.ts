// Charts of measures: an aggregate with the rights of the caller, in the forms that the builder gives charts of code.
import { type Access, type Caller, fullAccess } from '../../core/caller.ts';
import { fail, isAppError } from '../../core/errors.ts';
import { type BucketUnit, bucketUnits, type PlainGroup } from '../../core/filter/measures.ts';
import type { Moment } from '../model/types.ts';
import { aggregate } from '../operations/aggregate.ts';
import { callOf, getCollection, type Operations } from '../operations/call.ts';
import type { AggregateAnswer, CallOptions } from '../requests.ts';
import { resolveAggregate } from '../resolve/aggregate.ts';
import { resolveUnambiguous } from '../resolve/ambiguity.ts';
import type { CollectionView } from '../resolve/visibility.ts';
import { aggregateViewOf } from '../resolve/visibility.ts';
import { periodLabel } from './builder.ts';
import type { ChartNumber, ChartResult, DistributionResult, MeasuresChart } from './definitions.ts';

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** Throws for names, types and filters that the chart cannot have. Groups of groups are checked when they are read. */
export function checkMeasuresChart(ops: Operations, chart: MeasuresChart, access = fullAccess({} as Caller)): void {
  const { filter, segment, over } = chart;
  const collection = getCollection(ops.model, access, chart.collection, 'aggregates');
  const { moment } = callOf(ops, access, { timezone: chart.timezone ?? 'UTC' }, {});
  const view = aggregateViewOf(access, collection);
  checkShape(chart);
  if (filter) resolveUnambiguous(view, filter, moment);
  if (segment !== undefined && !collection.rules.segments.has(segment)) invalid('segment', `no segment '${segment}'.`);
  resolveMeasures(
    view,
    over ? { measures: over.measures, groups: over.groups, ...limited } : { ...chart, ...limited },
    moment,
  );
}

const limited = { limit: 1 } as const;

function resolveMeasures(view: CollectionView, args: Parameters<typeof resolveAggregate>[1], moment: Moment): void {
  for (const measure of resolveAggregate(view, args, moment).measures) {
    // The start has checked the filters of metrics, which have names of code.
    if (measure.kind !== 'base' || measure.metric) continue;
    const home = measure.many ? view.forCollection(measure.many.relation.to) : view;
    for (const where of measure.where ?? []) resolveUnambiguous(home, where, moment);
  }
}

/** Whether the caller may use every name of the chart. To others, there is no such chart. */
export function canDraw(ops: Operations, access: Access, chart: MeasuresChart): boolean {
  try {
    checkMeasuresChart(ops, chart, access);
    return true;
  } catch (error) {
    if (isAppError(error)) return false;
    throw error;
  }
}

const MAX_GROUPS = 2;

function checkShape({ groups = [], measures, compare }: MeasuresChart): void {
  if (groups.length > MAX_GROUPS) invalid('groups', `a chart has at most ${MAX_GROUPS}: the labels and the lines.`);
  if (groups.length === MAX_GROUPS && Object.keys(measures ?? {}).length !== 1)
    invalid('measures', 'a chart with two groups has one measure: the second group makes the lines.');
  if (groups.length === MAX_GROUPS && compare) invalid('compare', 'a chart that compares periods has one group.');
}

const partOf = (group: string | PlainGroup | undefined): Partial<PlainGroup> =>
  typeof group === 'object' && group !== null ? group : {};

/** Throws the errors of `aggregate`, and INVALID_ARGUMENT for what no chart can show. */
export async function drawMeasures(
  ops: Operations,
  access: Access,
  { timezone, ...chart }: MeasuresChart,
  options: CallOptions,
): Promise<ChartResult> {
  checkShape(chart);
  const { groups = [], sort, limit = ops.limits.pageSizeLimit } = chart;
  const { bucket, part } = partOf(groups[0]);
  // A line needs every period. `having` and `top` choose groups, so others are left out on purpose.
  const isWhole = bucket !== undefined && groups.length === 1 && !chart.having && !chart.top && !chart.limit;
  const request = {
    ...(isWhole && { includeEmpty: true }),
    ...((bucket ?? part) !== undefined && !sort && { sort: [{ group: 0 }] }),
    ...chart,
    limit,
    ...(timezone !== undefined && { timezone }),
  };
  const answer = await aggregate(ops, access, request, options);
  if (answer.hasMore && chart.limit === undefined)
    invalid('groups', `more than ${limit}: send limit, or narrow the filters.`);
  return toResult(groups, answer);
}

function toResult(groups: readonly (string | PlainGroup)[], { columns, rows }: AggregateAnswer): ChartResult {
  const names = columns.slice(groups.length);
  if (groups.length === 0) {
    const figures = names.map((_, at) => figureOf(rows[0]?.[at] ?? null));
    return names.length === 1 ? { countCurrent: figures[0]! } : toShares(names, figures);
  }
  const { bucket } = partOf(groups[0]);
  // Charts over time leave out records without a date.
  const shown = bucket === undefined ? rows : rows.filter(([value]) => value !== null);
  const labelOf = (value: unknown): string =>
    isPeriod(bucket) && typeof value === 'string' ? periodLabel(bucket, value) : textOf(value);
  if (groups.length === MAX_GROUPS) return toLines(shown, labelOf);
  const labels = shown.map(([value]) => labelOf(value));
  const figuresOf = (at: number) => shown.map((row) => figureOf(row[1 + at]));
  if (names.length > 1) return { labels, values: names.map((key, at) => ({ key, values: figuresOf(at) })) };
  const figures = figuresOf(0);
  if (bucket !== undefined) return labels.map((label, at) => ({ label, values: { value: figures[at]! } }));
  return toShares(labels, figures);
}

/** A label without a figure has no share. */
const toShares = (labels: readonly string[], figures: readonly (ChartNumber | null)[]): DistributionResult =>
  labels.flatMap((key, at) => {
    const value = figures[at] ?? null;
    return value === null ? [] : [{ key, value }];
  });

const isPeriod = (bucket: string | undefined): bucket is BucketUnit =>
  (bucketUnits as readonly (string | undefined)[]).includes(bucket);

const textOf = (value: unknown): string => (value === null ? 'no value' : String(value));

/** Dates and texts are figures too, of `min` and `max`. No chart can draw them. */
function figureOf(value: unknown): ChartNumber | null {
  if (value === null || typeof value === 'number') return value;
  if (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)) return value;
  return invalid('measures', 'a chart shows numbers only.');
}

/** A line for each value of the second group, in the order of the answer. */
function toLines(rows: readonly (readonly unknown[])[], labelOf: (value: unknown) => string): ChartResult {
  const labels = [...new Set(rows.map(([value]) => value))];
  const lines = new Map<unknown, (ChartNumber | null)[]>();
  for (const [value, line, figure] of rows) {
    const values = lines.get(line) ?? labels.map(() => null);
    values[labels.indexOf(value)] = figureOf(figure);
    lines.set(line, values);
  }
  return { labels: labels.map(labelOf), values: [...lines].map(([line, values]) => ({ key: textOf(line), values })) };
}
