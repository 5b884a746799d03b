// Measures of the period before, which only `compare` computes, and variances. The refusal has the call to send.
import { fail } from '../../core/errors.ts';
import { foldName, matchName } from '../../core/suggestions.ts';
import { isObject, type JsonObject, type NameContext, parseIfJson } from './arguments.ts';
import { toExpression } from './expressions.ts';
import { isWindow } from './measure-forms.ts';

const before = /^(lag|previous|prior|previousperiod|previousvalue)$/;
const change = /^(change|delta|diff|difference|absolutechange)$/;
const growth = /^(growth|growthrate|pctchange|percentchange|percentagechange|relativechange)$/;

interface Found {
  readonly measures: JsonObject;
  /** The names that `compare` gives, by those of the call. */
  readonly renamed: ReadonlyMap<string, string>;
  /** How many periods before. */
  readonly periods: Set<number>;
  readonly context: NameContext | undefined;
}

/** `previous_revenue` or `revenue_prev` as the name that `compare` gives. Undefined if it means no measure, or a field. */
export function earlierName(
  text: string,
  names: readonly string[],
  context: NameContext | undefined,
): string | undefined {
  const [, before, after] =
    /^(?:previous|prev|prior)(?:[\s_-]|period_)*(.+)$|^(.+?)[\s_-]+(?:previous|prev|prior|before)$/i.exec(text) ?? [];
  const isOther = names.includes(text) || context?.names.field(context.collection, text) !== undefined;
  const name = isOther ? undefined : matchName(before ?? after ?? '', names);
  return name === undefined ? undefined : `previous ${name}`;
}

/** Refuses measures that need the period before. With `compare`, other spellings of its names become those. */
export function repairEarlierPeriods(args: Record<string, unknown>, context: NameContext | undefined): void {
  const measures = parseIfJson(args.measures);
  if (!isObject(measures)) return;
  const entries = Object.entries(measures).map(([name, measure]) => [name, parseIfJson(measure)] as const);
  const earlier = entries.map(([, given]) => (isObject(given) ? earlierOf(given, measures) : undefined));
  // `compare` shows these figures as columns of their own.
  const renamed = new Map(
    entries.flatMap(([name], at) => (earlier[at] ? [[name, `previous ${earlier[at].of}`] as const] : [])),
  );
  const found: Found = { measures, renamed, periods: new Set(earlier.flatMap((each) => each?.periods ?? [])), context };
  const repaired = entries
    .filter(([name]) => !renamed.has(name))
    .map(([name, given]) => [name, withPrevious(given, found)] as const);
  if (found.periods.size === 0 || found.periods.size > 1) return;
  const [previous] = found.periods;
  if (args.compare !== undefined && renamed.size === 0) {
    args.measures = Object.fromEntries(repaired);
    return;
  }
  const form = JSON.stringify({ measures: Object.fromEntries(repaired), compare: { previous } });
  const problem = `compare adds the figures of the period before as "previous ..." to each group: send ${form}.`;
  fail('INVALID_ARGUMENT', { argument: 'measures', problem });
}

/** The number of a unit in a longer period. */
const periodsIn: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  year: { Week: 52, Month: 12, Quarter: 4 },
  quarter: { Month: 3 },
};

/** `{"to": "PreviousYear"}` with a filter on one period, and no group by dates: measures of two periods. */
export function failOnComparedPeriod(args: JsonObject, { names }: NameContext): void {
  const [compare, measures] = [parseIfJson(args.compare), parseIfJson(args.measures)];
  const groups = [parseIfJson(args.groups) ?? []].flat();
  if (!isObject(compare) || !isObject(measures) || groups.some((group) => isObject(group) && 'bucket' in group)) return;
  const [leaf, rest] = takePeriod(parseIfJson(args.filters));
  const [, unit] = /^Previous(Week|Month|Quarter|Year)$/.exec(String(leaf?.operator)) ?? [];
  const isPlain = Object.values(measures).every((each) => isObject(each) && Object.keys(each).length === 1);
  if (!leaf || unit === undefined || !isPlain || 'previous' in compare) return;
  const longer = /year|quarter/i.exec(JSON.stringify(Object.values(compare)))?.[0].toLowerCase() ?? '';
  const shift = periodsIn[longer]?.[unit] ?? 1;
  const [from, to] = [-1 - shift, -shift].map(
    (by) => names.moment.startOf(unit.toLowerCase() as 'week' | 'month' | 'quarter' | 'year', by).day,
  );
  const { field } = leaf;
  const before = {
    aggregator: 'And',
    conditions: [
      { field, operator: 'GreaterThanOrEqual', value: from },
      { field, operator: 'LessThan', value: to },
    ],
  };
  const both = Object.entries(measures).flatMap(([name, measure]) => [
    [name, { ...(measure as JsonObject), where: leaf }],
    [`${name} before`, { ...(measure as JsonObject), where: before }],
  ]);
  const { compare: _, filters: __, ...others } = args;
  const form = { ...others, measures: Object.fromEntries(both), ...(rest !== undefined && { filters: rest }) };
  fail('INVALID_ARGUMENT', {
    argument: 'compare',
    problem: `it compares periods that are groups. For the figures of two periods, send ${JSON.stringify(form)}.`,
  });
}

/** The condition such as `PreviousMonth`, and the filter without it. */
function takePeriod(filter: unknown): readonly [leaf?: JsonObject, rest?: unknown] {
  if (isPeriod(filter)) return [filter];
  if (!isObject(filter) || filter.aggregator !== 'And' || !Array.isArray(filter.conditions)) return [];
  const leaf = filter.conditions.find(isPeriod);
  const conditions = filter.conditions.filter((each) => each !== leaf);
  return leaf ? [leaf, conditions.length === 1 ? conditions[0] : { ...filter, conditions }] : [];
}

const isPeriod = (filter: unknown): filter is JsonObject =>
  isObject(filter) && /^Previous/.test(String(filter.operator)) && typeof filter.field === 'string';

/** `{"difference": ["first", "last"], "unit": "day"}` of two measures: groups of groups compute with their dates. */
export function failOnDifference(args: Record<string, unknown>): void {
  const measures = parseIfJson(args.measures);
  if (!isObject(measures) || args.over !== undefined || args.collectionName === undefined) return;
  const isOfMeasures = (given: unknown): boolean =>
    isObject(given) &&
    Array.isArray(given.difference) &&
    given.difference.every((each) => Object.hasOwn(measures, String(each)));
  const entries = Object.entries(measures).map(([name, given]) => [name, parseIfJson(given)] as const);
  const inner = entries.filter(([, given]) => !isOfMeasures(given));
  const groups = Array.isArray(args.groups) ? args.groups.map(fieldOfGroup) : [];
  if (inner.length === entries.length || groups.length === 0 || groups.includes(undefined)) return;
  const { having, ...rest } = args;
  const call = {
    ...rest,
    over: { groups, measures: Object.fromEntries(inner), ...(having !== undefined && { having }) },
    groups,
    measures: Object.fromEntries(entries.map(([name, given]) => [name, { max: isOfMeasures(given) ? given : name }])),
  };
  fail('INVALID_ARGUMENT', {
    argument: 'measures',
    problem: `only groups of groups compute with the dates of measures: send ${JSON.stringify(call)}.`,
  });
}

/** The column of a group by the values of a field. */
const fieldOfGroup = (group: unknown): unknown =>
  isObject(group) && Object.keys(group).length === 1 ? group.field : typeof group === 'string' ? group : undefined;

/** `{"stddev": "total"}`: in some databases of a sample, in others of all. */
export function failOnSpread(measure: JsonObject, at: string, context: NameContext | undefined): void {
  const [[word = '', of] = [], ...others] = Object.entries(measure);
  const [, name, kind] =
    /^(stddev|stdev|std|standarddeviation|variance|var)(pop|samp|population|sample)?$/.exec(foldName(word)) ?? [];
  if (!context || name === undefined || others.some(([key]) => key !== 'where')) return;
  const where = Object.fromEntries(others);
  const field = toExpression(of, context, at);
  const [sum, count] = [
    { sum: field, ...where },
    { count: field, ...where },
  ];
  const squares = { sum: { times: [field, field] }, ...where };
  const spread = { minus: [squares, { dividedBy: [{ times: [sum, sum] }, count] }] };
  const [ofSample, ofAll] = [{ minus: [count, 1] }, count].map((by) => {
    const variance = { dividedBy: [spread, by] };
    return JSON.stringify(name.startsWith('var') ? variance : { sqrt: variance });
  });
  const isOfAll = kind?.startsWith('pop');
  const problem = kind
    ? `send ${isOfAll ? ofAll : ofSample}.`
    : `databases differ in its meaning: send ${ofSample} for a sample, or ${ofAll} for all.`;
  fail('INVALID_ARGUMENT', { argument: at, problem });
}

/** `{"moving": "revenue", "window": 3}`: an average or a sum. */
export function failOnMoving(measure: JsonObject, at: string): void {
  const [[word = '', of] = [], [window = '', last] = [], ...others] = Object.entries(measure);
  const isMoving = /^(moving|rolling|trailing)$/.test(foldName(word)) && others.length === 0;
  if (!isMoving || !isWindow(window) || !Number.isInteger(last)) return;
  const [average, sum] = ['movingAverage', 'running'].map((kind) => JSON.stringify({ [kind]: of, last }));
  fail('INVALID_ARGUMENT', { argument: at, problem: `send ${average}, or ${sum} for the sum.` });
}

/** The measure of `{"lag": "revenue"}`, `{"lag": ["revenue", 12]}` or `{"previous": "revenue", "offset": 12}`. */
function earlierOf(given: JsonObject, measures: JsonObject): { of: string; periods: number } | undefined {
  const [[word = '', argument] = [], ...others] = Object.entries(given);
  const [of, second = 1] = Array.isArray(argument) && argument.length === 2 ? (argument as unknown[]) : [argument];
  const [[key = 'offset', periods = second] = [], ...more] = others;
  const isWhole = more.length === 0 && periodsForm.test(key) && Number.isInteger(periods);
  const isKnown = typeof of === 'string' && Object.hasOwn(measures, of);
  return isKnown && isWhole && before.test(foldName(word)) ? { of, periods: Number(periods) } : undefined;
}

/** `{"change": "revenue", "periods": 12, "percent": true}` */
function readChange(others: readonly (readonly [string, unknown])[]) {
  let [isPercent, count] = [false, 1];
  for (const [key, value] of others) {
    if (/^(percent|percentage|pct|relative)$/i.test(key) && typeof value === 'boolean') isPercent = value;
    else if (periodsForm.test(key) && Number.isInteger(value)) count = Number(value);
    else return undefined;
  }
  return { isPercent, count };
}

const periodsForm = /^(offset|periods|n|by|steps)$/i;

/** The measure with the names that `compare` gives. */
function withPrevious(given: unknown, found: Found): unknown {
  const { measures, renamed, periods } = found;
  const name = (of: string) => {
    const earlier = renamed.get(of) ?? earlierName(of, Object.keys(measures), found.context);
    if (earlier !== undefined && !renamed.has(of) && periods.size === 0) periods.add(1);
    return earlier ?? of;
  };
  if (Array.isArray(given))
    return given.map((each) => (typeof each === 'string' ? name(each) : withPrevious(each, found)));
  if (!isObject(given)) return given;
  const earlier = earlierOf(given, measures);
  if (earlier !== undefined) {
    periods.add(earlier.periods);
    return `previous ${earlier.of}`;
  }
  const [[word = '', of] = [], ...others] = Object.entries(given);
  const folded = foldName(word);
  const changed = readChange(others);
  const isChange = change.test(folded) || growth.test(folded);
  if (changed && isChange && typeof of === 'string' && Object.hasOwn(measures, of)) {
    const difference = { minus: [of, `previous ${of}`] };
    periods.add(changed.count);
    return changed.isPercent || growth.test(folded) ? { ratio: [difference, `previous ${of}`] } : difference;
  }
  return Object.fromEntries(
    Object.entries(given).map(([key, each]) => [key, key === 'where' ? each : withPrevious(each, found)]),
  );
}
