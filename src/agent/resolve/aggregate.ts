// Resolves the arguments of an aggregate. The form with one operation becomes the form with measures.
import { fail } from '../../core/errors.ts';
import type {
  PlainCompare,
  PlainGroup,
  PlainGroupSort,
  PlainHaving,
  PlainMeasures,
  PlainTop,
} from '../../core/filter/measures.ts';
import { always } from '../lower/simplify.ts';
import type { Moment } from '../model/types.ts';
import type { Filter } from '../plan/types.ts';
import type { GroupOrder, Operation } from '../sources/statement.ts';
import { indexOfGroup, isDateGroup, type ResolvedGroup, resolveGroups } from './groups.ts';
import { resolveGroupSort, resolveHaving } from './having.ts';
import { resolveMeasures, resolveOperation } from './measures.ts';
import { isRunning, type ResolvedMeasure } from './resolved-measures.ts';
import type { CollectionView } from './visibility.ts';

/** An aggregate with names resolved. */
export interface AggregateQuery {
  readonly measures: readonly ResolvedMeasure[];
  readonly groups: readonly ResolvedGroup[];
  /** Each test is on a path whose id is the index of a measure. */
  readonly having: Filter;
  readonly order: readonly GroupOrder[];
  readonly top?: { readonly n: number; readonly per: readonly number[] };
  /** Adds groups without records. */
  readonly includeEmpty: boolean;
  readonly limit: number;
  /** Number of groups on earlier pages. */
  readonly skip: number;
  /** Reads all groups, since some of them may not be shown. */
  readonly readsAll?: boolean;
  /** Only the groups are shown, so the statement may decide `having`. */
  readonly hidesFigures?: true;
  /** Groups with equal figures may be merged if they have the same values of the used columns. */
  readonly isUsed?: (column: string) => boolean;
}

/** The wire form (`AggregateRequest` of requests.ts). */
interface AggregateArguments {
  readonly measures?: PlainMeasures;
  readonly operation?: Operation;
  readonly field?: string;
  readonly groups?: readonly (string | PlainGroup)[];
  readonly having?: PlainHaving;
  readonly sort?: readonly PlainGroupSort[];
  readonly order?: 'value' | 'groups';
  readonly top?: PlainTop;
  readonly compare?: PlainCompare;
  readonly includeEmpty?: boolean;
  readonly limit: number;
  readonly skip?: number;
}

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** Throws INVALID_ARGUMENT and the errors of `resolveName`. */
export function resolveAggregate(view: CollectionView, args: AggregateArguments, moment: Moment): AggregateQuery {
  const groups = resolveGroups(view, args.groups ?? [], moment);
  const measures = resolveEither(view, args, moment, groups);
  const taken = groups.find(({ column }) => measures.some(({ name, isShown }) => isShown && name === column));
  if (taken) invalid('measures', `'${taken.column}' is a group too: choose another name for the measure.`);
  const order = args.order === undefined ? resolveGroupSort(args.sort, measures, groups) : orderBy(args, groups.length);
  if (!groups.some(isDateGroup)) checkRunning(measures, order, (args.sort?.length ?? 0) > 0);
  return {
    measures,
    groups,
    having: args.having ? resolveHaving(args.having, measures, moment) : always,
    order,
    ...(args.top && { top: resolveTop(args.top, args.sort, groups, measures) }),
    includeEmpty: args.includeEmpty ?? false,
    limit: args.limit,
    skip: args.skip ?? 0,
  };
}

/** A running total along the order of the answer cannot be part of what decides that order. */
function checkRunning(measures: readonly ResolvedMeasure[], order: readonly GroupOrder[], isSorted: boolean): void {
  const dependsOnRunning = (measure: ResolvedMeasure): boolean =>
    (measure.kind === 'rank' && dependsOnRunning(measures[measure.of]!)) ||
    (measure.kind === 'computed' && measure.of.some((index) => dependsOnRunning(measures[index]!))) ||
    isRunning(measure);
  for (const { by, index } of order) {
    const measure = measures[index]!;
    if (by === 'measure' && isRunning(measure) && isSorted) {
      const { name, isShown } = measures[measure.of]!;
      invalid(
        'sort',
        `'${measure.name}' is a running total along this order, so it cannot decide the order. Sort by ${isShown ? `'${name}' or by ` : ''}a group, or group by a date.`,
      );
    }
    if (by === 'measure' && !isRunning(measure) && dependsOnRunning(measure))
      invalid(
        'sort',
        `'${measure.name}' depends on a running total, which follows this order. Sort by another measure.`,
      );
  }
}

const changeAdvice =
  'For the change, add a measure: "change":{"minus":["revenue","previous revenue"]}; as a part, {"ratio":[{"minus":["revenue","previous revenue"]},"previous revenue"]}.';

const bucketsOfYear: Readonly<Record<string, number>> = { Quarter: 4, Month: 12 };

/** The number of periods that a wrong form probably means: for a year before, the buckets of a year. */
function guessPeriods(given: unknown, groups: readonly ResolvedGroup[]): number {
  const by = groups.find(({ key }) => key.by?.kind === 'bucket')?.key.by;
  const isYear = /year|yoy/i.test(JSON.stringify(given));
  return (isYear && by?.kind === 'bucket' && bucketsOfYear[by.unit]) || 1;
}

/** The number of periods. */
function resolveCompare(compare: PlainCompare, groups: readonly ResolvedGroup[]): number {
  const { previous, ...others } = compare;
  if (!Number.isInteger(previous) || previous < 1 || previous > 1000 || Object.keys(others).length > 0)
    invalid('compare', `send {"previous":${guessPeriods(compare, groups)}}, the number of periods. ${changeAdvice}`);
  if (groups.filter(({ key }) => key.by?.kind === 'bucket').length !== 1)
    invalid('compare', 'needs exactly one group with a bucket: {"field":"placed_at","bucket":"Month"}.');
  return previous;
}

function resolveTop(
  top: PlainTop,
  sort: unknown,
  groups: readonly ResolvedGroup[],
  measures: readonly ResolvedMeasure[],
) {
  const { n, per = [], ...others } = top;
  if (!Number.isInteger(n) || n < 1 || !Array.isArray(per) || Object.keys(others).length > 0)
    return invalid('top', 'send {"n":3,"per":[0]}: the first 3 for each value of the first group.');
  if (!Array.isArray(sort) || sort.length === 0) {
    const order = [{ measure: measures.find(({ isShown }) => isShown)?.name ?? 'revenue', ascending: false }];
    return invalid('top', `takes the order of sort: send both, such as ${JSON.stringify({ top, sort: order })}.`);
  }
  return { n, per: per.map((each) => indexOfGroup(each, groups, 'top.per')) };
}

function resolveEither(
  view: CollectionView,
  args: AggregateArguments,
  moment: Moment,
  groups: readonly ResolvedGroup[],
): ResolvedMeasure[] {
  const { measures, operation, field } = args;
  const periods = args.compare && resolveCompare(args.compare, groups);
  if (measures === undefined) {
    if (operation === undefined)
      return invalid('measures', 'send figures by name: {"orders":{"count":true},"revenue":{"sum":"total"}}.');
    if (periods !== undefined) invalid('compare', `needs measures: {"value":{"${operation.toLowerCase()}":"..."}}.`);
    return resolveOperation(view, { operation, ...(field !== undefined && { field }) }, moment);
  }
  const [other] = (['operation', 'field', 'order'] as const).filter((name) => args[name] !== undefined);
  if (other === 'order')
    invalid('order', 'measures take sort: [{"measure":"revenue","ascending":false}] or [{"group":0}].');
  const kind = operation?.toLowerCase() ?? 'sum';
  const form = kind === 'count' && field === undefined ? { count: true } : { [kind]: field ?? '...' };
  if (other) invalid(other, `send either ${other} or measures. As a measure: {"${kind}":${JSON.stringify(form)}}.`);
  return resolveMeasures(view, measures, moment, groups, periods);
}

/** The order of the form with one operation. */
function orderBy({ order, sort }: AggregateArguments, groupCount: number): GroupOrder[] {
  if (order !== 'value' && order !== 'groups') return invalid('order', "expected 'value' or 'groups'.");
  if (sort !== undefined) invalid('order', 'send either order or sort.');
  const value: GroupOrder = { by: 'measure', index: 0, ascending: false };
  const groups = Array.from(
    { length: groupCount },
    (_, index): GroupOrder => ({ by: 'group', index, ascending: true }),
  );
  return order === 'value' ? [value, ...groups] : [...groups, value];
}
