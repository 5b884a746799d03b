// Charts that a client defines in its request. Each is an engine aggregate with the caller's rights and visible rows,
// so a chart never shows more than a list. If the filter of a value chart names a period, the answer
// also has the value of the previous period.

import { createChartBuilder, TooManyPeriodsError } from '../../agent/charts/builder.ts';
import type { ChartDate, ChartNumber } from '../../agent/charts/definitions.ts';
import { previousPeriod } from '../../agent/lower/previous-period.ts';
import type { AggregateRequest } from '../../agent/requests.ts';
import { type Operation, operations } from '../../agent/sources/statement.ts';
import { isZone } from '../../core/clock/timezone.ts';
import { fail } from '../../core/errors.ts';
import { type BucketUnit, bucketUnits, type PlainGroup } from '../../core/filter/measures.ts';
import {
  isBranch,
  isComparison,
  isQuantified,
  joinPaths,
  mapCompared,
  mapLeaves,
  type PlainFilter,
  quantified,
  readQuantified,
} from '../../core/filter.ts';
import { hasName } from '../../core/suggestions.ts';
import { fillScope, findVariableProblems } from '../../store/permissions/scopes.ts';
import { castValues, parseFilterText, parseFilterTree } from '../filters.ts';
import { failArgument, isObject, type JsonObject, readParameter, readText } from '../records/body.ts';
import { type Answer, type AnyDataRoute, type DataCall, type DataRequest, dataRoute } from '../route.ts';
import { describe, describeRelated, typeAt } from '../visible-schema.ts';
import { isAggregate, parseAggregate, runAggregate } from './aggregates.ts';
import { toStatistic } from './routes.ts';

interface ChartRequest {
  readonly collection: string;
  readonly type: ChartType;
  readonly operation: Operation;
  /** The field to aggregate. */
  readonly field?: string;
  readonly filter?: PlainFilter;
  readonly timezone?: string;
  readonly groupBy?: string;
  readonly timeRange?: BucketUnit;
  readonly relation?: string;
  readonly label?: string;
  readonly limit?: number;
}

const DEFAULT_LEADERS = 10;
const maxGroups = (call: DataCall): number => call.config.pageSizeLimit;

function parseChartRequest({ params, query, body }: DataRequest): ChartRequest {
  if (!isObject(body))
    return failArgument('body', 'expected an object such as {"type": "Value", "aggregator": "Count"}.');
  const texts = ['aggregateFieldName', 'groupByFieldName', 'relationshipFieldName', 'labelFieldName'] as const;
  const [field, groupBy, relation, label] = texts.map((name) => readText(body, name));
  const timezone = readText(body, 'timezone') ?? readParameter(query, 'timezone');
  const timeRange = parseChoice(body, 'timeRange', bucketUnits);
  const filter = parseFilter(body.filter);
  const limit = body.limit ?? undefined;
  if (limit !== undefined && !(Number.isInteger(limit) && (limit as number) > 0))
    return failArgument('limit', 'expected a whole number, 1 or more.');
  const operation = parseChoice(body, 'aggregator', operations) ?? failChoice('aggregator', operations);
  if (operation !== 'Count' && field === undefined)
    return failArgument('aggregateFieldName', `expected the field for the ${operation.toLowerCase()}.`);
  return {
    collection: params.collection!,
    type: parseChoice(body, 'type', chartTypes) ?? failChoice('type', chartTypes),
    operation,
    ...(field !== undefined && { field: pathOf(field) }),
    ...(filter && { filter }),
    ...(timezone !== undefined && { timezone }),
    ...(groupBy !== undefined && { groupBy: pathOf(groupBy) }),
    ...(timeRange !== undefined && { timeRange }),
    ...(relation !== undefined && { relation }),
    ...(label !== undefined && { label: pathOf(label) }),
    ...(limit !== undefined && { limit: limit as number }),
  };
}

/** Clients write `customer.name`. The engine writes `customer:name`. */
const pathOf = (name: string): string => (name.includes(':') ? name : name.replaceAll('.', ':'));

function parseChoice<W extends string>(input: JsonObject, name: string, words: readonly W[]): W | undefined {
  const text = readText(input, name);
  if (text === undefined) return undefined;
  return words.find((word) => word.toLowerCase() === text.toLowerCase()) ?? failChoice(name, words);
}

function failChoice(name: string, words: readonly string[]): never {
  return failArgument(name, `expected one of ${words.join(', ')}.`);
}

function parseFilter(input: unknown): PlainFilter | undefined {
  if (input === undefined || input === null) return undefined;
  const filter = typeof input === 'string' ? parseFilterText(input) : parseFilterTree(input, 'filter');
  if (filter) checkVariables(filter);
  return filter;
}

/** Checks variables of the current user. An unknown variable would match no record and look like a valid result. */
function checkVariables(filter: PlainFilter): void {
  mapLeaves(filter, (leaf) => {
    for (const text of textsOf(leaf)) {
      const [problem] = text.includes('{{') ? findVariableProblems(text) : [];
      if (problem !== undefined) failArgument('filter', problem);
    }
    return leaf;
  });
}

/** The texts at any depth of a condition. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

type RenderChart = (chart: ChartRequest, call: DataCall) => Promise<unknown>;

/** The request's time zone, or the caller's. UTC if the name is invalid. */
function timezoneOf({ timezone }: ChartRequest, { access }: DataCall): string {
  const zone = timezone ?? access.caller.timezone;
  return isZone(zone) ? zone : 'UTC';
}

function filterOf({ collection, filter }: ChartRequest, call: DataCall): { readonly filter?: PlainFilter } {
  if (!filter) return {};
  const description = describe(call, collection);
  const cast = castValues(filter, (field) => typeAt(call, description, field));
  return { filter: fillScope(cast, call.access.caller) };
}

type AggregateOptions = Pick<AggregateRequest, 'limit' | 'order' | 'filter'> & {
  readonly groups?: readonly PlainGroup[];
  /** Set if it differs from the chart's collection. */
  readonly collection?: string;
  readonly field?: string;
};

async function aggregate(chart: ChartRequest, call: DataCall, options: AggregateOptions) {
  const { access, engine, signal } = call;
  const { collection, operation, field, timezone } = chart;
  const request = {
    ...{ collection, operation },
    ...(field !== undefined && { field }),
    ...(timezone !== undefined && { timezone }),
    ...options,
  };
  const { rows, hasMore } = await engine.aggregate(access, request, { signal });
  return { rows, hasMore };
}

/** 0 if no record matches. */
async function measure(chart: ChartRequest, call: DataCall, filter: PlainFilter | undefined): Promise<ChartNumber> {
  const { rows } = await aggregate(chart, call, { limit: 1, ...(filter && { filter }) });
  return (rows[0]?.at(-1) ?? 0) as ChartNumber;
}

const renderValue: RenderChart = async (chart, call) => {
  const { filter } = filterOf(chart, call);
  const description = describe(call, chart.collection);
  const isDay = (field: string) => typeAt(call, description, field) === 'Dateonly';
  const period = { now: call.clock.now(), timezone: timezoneOf(chart, call), isDay };
  // A period becomes two conditions. Across a relation to many, `disambiguate` makes both match the same record.
  const disambiguated = filter && call.engine.storedFilters.disambiguate(call.access, chart.collection, filter);
  const previousFilter = disambiguated && previousPeriod(disambiguated, period);
  const [countCurrent, countPrevious] = await Promise.all([
    measure(chart, call, filter),
    previousFilter ? measure(chart, call, previousFilter) : undefined,
  ]);
  return { countCurrent, ...(countPrevious !== undefined && { countPrevious }) };
};

const renderObjective: RenderChart = async (chart, call) => ({
  value: await measure(chart, call, filterOf(chart, call).filter),
});

const requireGroup = ({ groupBy }: ChartRequest): string =>
  groupBy ?? failArgument('groupByFieldName', 'expected the field to group the records by.');

const renderPie: RenderChart = async (chart, call) => {
  const groups = [{ field: requireGroup(chart) }];
  const { rows, hasMore } = await aggregate(chart, call, { groups, limit: maxGroups(call), ...filterOf(chart, call) });
  if (hasMore)
    return failArgument(
      'groupByFieldName',
      `has more than ${maxGroups(call)} groups: choose another field, or narrow the filter.`,
    );
  return rows.map(([key, value]) => ({ key, value: value ?? 0 }));
};

const renderLine: RenderChart = async (chart, call) => {
  const unit = chart.timeRange ?? failChoice('timeRange', bucketUnits);
  const groups = [{ field: requireGroup(chart), bucket: unit }];
  const options = { groups, order: 'groups', limit: maxGroups(call), ...filterOf(chart, call) } as const;
  const { rows, hasMore } = await aggregate(chart, call, options);
  if (hasMore)
    return failArgument(
      'timeRange',
      `has more than ${maxGroups(call)} periods: choose a longer one, or narrow the filter.`,
    );
  const points = rows.flatMap(([date, value]) =>
    date === null ? [] : [{ date: date as ChartDate, value: (value ?? 0) as ChartNumber }],
  );
  try {
    return createChartBuilder(timezoneOf(chart, call)).timeBased(unit, points);
  } catch (error) {
    if (!(error instanceof TooManyPeriodsError)) throw error;
    return failArgument('timeRange', error.message);
  }
};

/** Ranks records of the collection by an aggregate over a relation to many. */
const renderLeaderboard: RenderChart = async (chart, call) => {
  const { relation, label, field, limit = DEFAULT_LEADERS } = chart;
  if (relation === undefined || label === undefined)
    return failArgument(
      'relationshipFieldName, labelFieldName',
      'expected a to-many relation, and the field that labels the records.',
    );
  if (limit > maxGroups(call)) return failArgument('limit', `at most ${maxGroups(call)}.`);
  describeRelated(call, describe(call, chart.collection), relation);
  const { access, engine } = call;
  const { collection, home, foreign } = engine.inverseOf(access, { collection: chart.collection, relation });
  const { key } = describe(call, chart.collection);
  // The key separates records that share a label. `Present` excludes rows that belong to records the caller cannot see.
  const presentConditions = (name: string): PlainFilter[] => {
    const target = describe(call, collection).relations.find((each) => hasName(each, name))!.to;
    return describe(call, target).key.map((column) => ({ field: `${name}:${column}`, operator: 'Present' }));
  };
  const { filter } = filterOf(chart, call);
  const conditions = [
    ...presentConditions(home),
    ...(foreign ? presentConditions(foreign) : []),
    ...(filter ? [prefixFilter(filter, home)] : []),
  ];
  const { rows } = await aggregate(chart, call, {
    collection,
    ...(field !== undefined && { field: foreign ? `${foreign}:${field}` : field }),
    groups: [...key.filter((column) => column !== label), label].map((column) => ({ field: `${home}:${column}` })),
    filter: { aggregator: 'And', conditions },
    limit,
  });
  return rows.map((row) => ({ key: row.at(-2), value: row.at(-1) ?? 0 }));
};

/** Moves a filter to the other end of a relation, by prefixing its field paths. */
function prefixFilter(filter: PlainFilter, relation: string): PlainFilter {
  if (isBranch(filter))
    return { ...filter, conditions: filter.conditions.map((condition) => prefixFilter(condition, relation)) };
  if (isComparison(filter)) return mapCompared(filter, (name) => joinPaths(relation, name));
  if (!isQuantified(filter)) return { ...filter, field: joinPaths(relation, filter.field) };
  const parts = readQuantified(filter);
  return quantified({ ...parts, path: joinPaths(relation, parts.path) });
}

const renderers = {
  Value: renderValue,
  Objective: renderObjective,
  Pie: renderPie,
  Line: renderLine,
  Leaderboard: renderLeaderboard,
} satisfies Readonly<Record<string, RenderChart>>;
type ChartType = keyof typeof renderers;
const chartTypes = Object.keys(renderers) as readonly ChartType[];

export const statisticRoutes: readonly AnyDataRoute[] = [
  dataRoute({
    method: 'POST',
    path: '/stats/:collection',
    action: 'aggregate',
    writes: false,
    parse: (request): ChartRequest | AggregateRequest =>
      isAggregate(request.body) ? parseAggregate(request.body, request) : parseChartRequest(request),
    subject: ({ collection }) => ({ collection }),
    run: async (request, call): Promise<Answer> =>
      'type' in request ? toStatistic(await renderers[request.type](request, call)) : runAggregate(request, call),
  }),
  dataRoute({
    method: 'POST',
    path: '/_internal/native_query',
    action: 'nativeQuery',
    writes: false,
    parse: () => ({}),
    subject: () => ({}),
    run: async (): Promise<Answer> =>
      fail('REFUSED', { problem: 'Charts written in SQL are not supported. Add a chart in code, with addChart.' }),
  }),
];
