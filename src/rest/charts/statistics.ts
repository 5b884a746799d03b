// Charts that a client defines in its request. Each is an engine aggregate with the caller's rights and visible rows,
// so a chart never shows more than a list. A value chart includes the previous period if its filter names a period,
// whatever its other conditions.

import { createChartBuilder } from '../../agent/charts/builder.ts';
import type { ChartDate, ChartNumber } from '../../agent/charts/definitions.ts';
import { previousPeriod } from '../../agent/lower/previous-period.ts';
import type { AggregateRequest, PlainGroup } from '../../agent/requests.ts';
import { type BucketUnit, bucketUnits, type Operation, operations } from '../../agent/sources/statement.ts';
import { isZone } from '../../agent/sources/zones.ts';
import { fail } from '../../core/errors.ts';
import {
  isBranch,
  isQuantified,
  joinPaths,
  mapLeaves,
  type PlainFilter,
  quantified,
  readQuantified,
} from '../../core/filter.ts';
import { isCalled } from '../../core/suggestions.ts';
import { fillScope, findVariableProblems } from '../../store/permissions/scopes.ts';
import { castValues, readFilters, readTree } from '../filters.ts';
import { type Given, isObject, readParameter, readText, refuseArgument } from '../records/body.ts';
import { type Answer, type DataCall, type DataRequest, dataRoute, type Route } from '../route.ts';
import { describe, describeRelated, typeAt } from '../visible-schema.ts';
import { statistic } from './routes.ts';

interface Wish {
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

/** Clients write `customer.name`. The engine writes `customer:name`. */
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

/** Checks variables of the current user. An unknown variable would match no record and look like a valid result. */
function checkVariables(filter: PlainFilter): void {
  mapLeaves(filter, (leaf) => {
    for (const text of [leaf.value].flat()) {
      const [problem] = typeof text === 'string' && text.includes('{{') ? findVariableProblems(text) : [];
      if (problem !== undefined) refuseArgument('filter', problem);
    }
    return leaf;
  });
}

type Draw = (wish: Wish, call: DataCall) => Promise<unknown>;

/** The request's time zone, or the caller's. UTC if the name is invalid. */
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
  /** Set if it differs from the chart's collection. */
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

/** 0 if no record matches. */
async function measure(wish: Wish, call: DataCall, filter: PlainFilter | undefined): Promise<ChartNumber> {
  const { rows } = await aggregate(wish, call, { limit: 1, ...(filter && { filter }) });
  return (rows[0]?.at(-1) ?? 0) as ChartNumber;
}

const drawValue: Draw = async (wish, call) => {
  const { filter } = filterOf(wish, call);
  const description = describe(call, wish.collection);
  const isDay = (field: string) => typeAt(call, description, field) === 'Dateonly';
  const period = { now: call.clock.now(), timezone: zoneOf(wish, call), isDay };
  // A period becomes two conditions. Across a relation to many, `keepMeaning` makes both match the same record.
  const clear = filter && call.engine.storedFilters.keepMeaning(call.access, wish.collection, filter);
  const before = clear && previousPeriod(clear, period);
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

/** Ranks records of the collection by an aggregate over a relation to many. */
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
  // The key separates records that share a label. `Present` excludes rows that belong to records the caller cannot see.
  const shown = (name: string): PlainFilter[] => {
    const at = describe(call, collection).relations.find((each) => isCalled(each, name))!.to;
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

/** Moves a filter to the other end of a relation, by prefixing its field paths. */
function beneath(filter: PlainFilter, relation: string): PlainFilter {
  if (isBranch(filter))
    return { ...filter, conditions: filter.conditions.map((condition) => beneath(condition, relation)) };
  if (!isQuantified(filter)) return { ...filter, field: joinPaths(relation, filter.field) };
  const parts = readQuantified(filter);
  return quantified({ ...parts, path: joinPaths(relation, parts.path) });
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
