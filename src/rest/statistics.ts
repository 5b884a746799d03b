// Charts that a front end asks for by what is to be counted: an aggregate of the engine with the caller's own rights and rows,
// so that nobody sees in a chart what a list would not show him. A value is compared with the period before whenever its filter
// names a period, whatever else the filter says.
import { createChartBuilder } from '../agent/charts/builder.ts';
import type { ChartDate, ChartNumber } from '../agent/charts/definitions.ts';
import type { AggregateRequest, PlainGroup } from '../agent/engine.ts';
import { isZone } from '../agent/query/dates.ts';
import { previousPeriod } from '../agent/query/previous-period.ts';
import { type BucketUnit, bucketUnits, type Operation, operations } from '../agent/sources/source.ts';
import { fail } from '../core/errors.ts';
import { isBranch, type PlainFilter } from '../core/filter.ts';
import { fillScope, findVariableProblems } from '../store/scopes.ts';
import { type Given, isObject, readParameter, readText, refuseArgument } from './body.ts';
import { statistic } from './chart-routes.ts';
import { castValues, readFilters, readTree } from './filters.ts';
import { type Answer, type DataCall, type DataRequest, dataRoute, type Route } from './route.ts';
import { describe, describeRelated, typeAt } from './seen.ts';

interface Wish {
  readonly collection: string;
  readonly type: ChartType;
  readonly operation: Operation;
  /** What is added up or compared. */
  readonly field?: string;
  readonly filter?: PlainFilter;
  readonly timezone?: string;
  readonly groupBy?: string;
  readonly timeRange?: BucketUnit;
  readonly relation?: string;
  readonly label?: string;
  readonly limit?: number;
}

const LEADERS = 10;
const most = (call: DataCall): number => call.config.pageSizeLimit;

function parseWish({ params, query, body }: DataRequest): Wish {
  if (!isObject(body))
    return refuseArgument('body', 'expected an object such as {"type": "Value", "aggregator": "Count"}.');
  const texts = ['aggregateFieldName', 'groupByFieldName', 'relationshipFieldName', 'labelFieldName'] as const;
  const [field, groupBy, relation, label] = texts.map((name) => readText(body, name));
  const timezone = readText(body, 'timezone') ?? readParameter(query, 'timezone');
  const timeRange = readWord(body, 'timeRange', bucketUnits);
  const filter = readFilter(body.filter);
  const limit = body.limit ?? undefined;
  if (limit !== undefined && !(Number.isInteger(limit) && (limit as number) > 0))
    return refuseArgument('limit', 'expected a whole number, 1 or more.');
  const operation = readWord(body, 'aggregator', operations) ?? refuseWord('aggregator', operations);
  if (operation !== 'Count' && field === undefined)
    return refuseArgument('aggregateFieldName', `expected the field of which the ${operation.toLowerCase()} is taken.`);
  return {
    collection: params.collection!,
    type: readWord(body, 'type', chartTypes) ?? refuseWord('type', chartTypes),
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

/** Front ends write `customer.name` for what is `customer:name` elsewhere. */
const pathOf = (name: string): string => (name.includes(':') ? name : name.replaceAll('.', ':'));

function readWord<W extends string>(given: Given, name: string, words: readonly W[]): W | undefined {
  const text = readText(given, name);
  if (text === undefined) return undefined;
  return words.find((word) => word.toLowerCase() === text.toLowerCase()) ?? refuseWord(name, words);
}

function refuseWord(name: string, words: readonly string[]): never {
  return refuseArgument(name, `expected one of ${words.join(', ')}.`);
}

function readFilter(given: unknown): PlainFilter | undefined {
  if (given === undefined || given === null) return undefined;
  const filter = typeof given === 'string' ? readFilters(given) : readTree(given, 'filter');
  if (filter) checkVariables(filter);
  return filter;
}

/** Of the user who asks; one that no user can have would find nothing, and look like an answer. */
function checkVariables(filter: PlainFilter): void {
  if (isBranch(filter)) {
    for (const condition of filter.conditions) checkVariables(condition);
    return;
  }
  for (const text of [filter.value].flat()) {
    const [problem] = typeof text === 'string' && text.includes('{{') ? findVariableProblems(text) : [];
    if (problem !== undefined) refuseArgument('filter', problem);
  }
}

type Draw = (wish: Wish, call: DataCall) => Promise<unknown>;

/** Of the call's own zone, as the engine takes it. */
function zoneOf({ timezone }: Wish, { access }: DataCall): string {
  const zone = timezone ?? access.caller.timezone;
  return isZone(zone) ? zone : 'UTC';
}

function filterOf({ collection, filter }: Wish, call: DataCall): { readonly filter?: PlainFilter } {
  if (!filter) return {};
  const description = describe(call, collection);
  const cast = castValues(filter, (field) => typeAt(call, description, field));
  return { filter: fillScope(cast, call.access.caller) };
}

type Asked = Pick<AggregateRequest, 'limit' | 'order' | 'filter'> & {
  readonly groups?: readonly PlainGroup[];
  /** Where not of the collection of the chart. */
  readonly collection?: string;
  readonly field?: string;
};

async function aggregate(wish: Wish, call: DataCall, asked: Asked) {
  const { access, engine, signal } = call;
  const { collection, operation, field, timezone } = wish;
  const request = {
    ...{ collection, operation },
    ...(field !== undefined && { field }),
    ...(timezone !== undefined && { timezone }),
    ...asked,
  };
  const { rows, hasMore } = await engine.aggregate(access, request, { signal });
  return { rows, hasMore };
}

/** Of no record at all: 0. */
async function measure(wish: Wish, call: DataCall, filter: PlainFilter | undefined): Promise<ChartNumber> {
  const { rows } = await aggregate(wish, call, { limit: 1, ...(filter && { filter }) });
  return (rows[0]?.at(-1) ?? 0) as ChartNumber;
}

const drawValue: Draw = async (wish, call) => {
  const { filter } = filterOf(wish, call);
  const description = describe(call, wish.collection);
  const isDay = (field: string) => typeAt(call, description, field) === 'Dateonly';
  const period = { now: call.clock.now(), timezone: zoneOf(wish, call), isDay };
  const before = filter && previousPeriod(filter, period);
  const [countCurrent, countPrevious] = await Promise.all([
    measure(wish, call, filter),
    before ? measure(wish, call, before) : undefined,
  ]);
  return { countCurrent, ...(countPrevious !== undefined && { countPrevious }) };
};

const drawObjective: Draw = async (wish, call) => ({ value: await measure(wish, call, filterOf(wish, call).filter) });

const needGroup = ({ groupBy }: Wish): string =>
  groupBy ?? refuseArgument('groupByFieldName', 'expected the field that the records are grouped by.');

const drawPie: Draw = async (wish, call) => {
  const groups = [{ field: needGroup(wish) }];
  const { rows, hasMore } = await aggregate(wish, call, { groups, limit: most(call), ...filterOf(wish, call) });
  if (hasMore)
    return refuseArgument(
      'groupByFieldName',
      `gives more than ${most(call)} groups: take another, or narrow the filter.`,
    );
  return rows.map(([key, value]) => ({ key, value: value ?? 0 }));
};

const drawLine: Draw = async (wish, call) => {
  const unit = wish.timeRange ?? refuseWord('timeRange', bucketUnits);
  const groups = [{ field: needGroup(wish), bucket: unit }];
  const asked = { groups, order: 'groups', limit: most(call), ...filterOf(wish, call) } as const;
  const { rows, hasMore } = await aggregate(wish, call, asked);
  if (hasMore)
    return refuseArgument(
      'timeRange',
      `gives more than ${most(call)} periods: take a longer one, or narrow the filter.`,
    );
  const points = rows.flatMap(([date, value]) =>
    date === null ? [] : [{ date: date as ChartDate, value: (value ?? 0) as ChartNumber }],
  );
  return createChartBuilder(zoneOf(wish, call)).timeBased(unit, points);
};

/** Each record of the collection by what belongs to it over a relation to many. */
const drawLeaderboard: Draw = async (wish, call) => {
  const { relation, label, field, limit = LEADERS } = wish;
  if (relation === undefined || label === undefined)
    return refuseArgument(
      'relationshipFieldName, labelFieldName',
      'expected a relation to many, and what its records are shown by.',
    );
  if (limit > most(call)) return refuseArgument('limit', `at most ${most(call)}.`);
  describeRelated(call, describe(call, wish.collection), relation);
  const { access, engine } = call;
  const { collection, home, foreign } = engine.wayBack(access, { collection: wish.collection, relation });
  const { key } = describe(call, wish.collection);
  // Records of the same label are told apart by their key; rows that belong to nobody whom the caller sees count for nobody.
  const shown = (name: string): PlainFilter[] => {
    const at = describe(call, collection).relations.find((each) => each.name === name)!.to;
    return describe(call, at).key.map((column) => ({ field: `${name}:${column}`, operator: 'Present' }));
  };
  const { filter } = filterOf(wish, call);
  const conditions = [...shown(home), ...(foreign ? shown(foreign) : []), ...(filter ? [beneath(filter, home)] : [])];
  const { rows } = await aggregate(wish, call, {
    collection,
    ...(field !== undefined && { field: foreign ? `${foreign}:${field}` : field }),
    groups: [...key.filter((column) => column !== label), label].map((column) => ({ field: `${home}:${column}` })),
    filter: { aggregator: 'And', conditions },
    limit,
  });
  return rows.map((row) => ({ key: row.at(-2), value: row.at(-1) ?? 0 }));
};

/** The same of what a relation leads to. */
function beneath(filter: PlainFilter, relation: string): PlainFilter {
  if (!isBranch(filter)) return { ...filter, field: `${relation}:${filter.field}` };
  return { ...filter, conditions: filter.conditions.map((condition) => beneath(condition, relation)) };
}

const draws = {
  Value: drawValue,
  Objective: drawObjective,
  Pie: drawPie,
  Line: drawLine,
  Leaderboard: drawLeaderboard,
} satisfies Readonly<Record<string, Draw>>;
type ChartType = keyof typeof draws;
const chartTypes = Object.keys(draws) as readonly ChartType[];

export const statisticRoutes: readonly Route[] = [
  dataRoute({
    method: 'POST',
    path: '/stats/:collection',
    action: 'aggregate',
    writes: false,
    parse: parseWish,
    subject: ({ collection }) => ({ collection }),
    run: async (wish, call): Promise<Answer> => statistic(await draws[wish.type](wish, call)),
  }),
  dataRoute({
    method: 'POST',
    path: '/_internal/native_query',
    action: 'nativeQuery',
    writes: false,
    parse: () => ({}),
    subject: () => ({}),
    run: async (): Promise<Answer> =>
      fail('REFUSED', { problem: 'Charts written in SQL are not offered here. Add a chart in code, with addChart.' }),
  }),
];
