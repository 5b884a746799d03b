// The arguments of an aggregate, as `aggregate` and the charts of `getChart` take them.
import type { AggregateRequest } from '../../../agent/requests.ts';
import { type Operation, operations } from '../../../agent/sources/statement.ts';
import { fail } from '../../../core/errors.ts';
import type { PlainCompare, PlainMeasures, PlainTop } from '../../../core/filter/measures.ts';
import {
  type JsonObject,
  readChoice,
  readCount,
  readFlag,
  readObject,
  readRequiredText,
  readText,
} from '../../input/arguments.ts';
import { readFilter } from '../../input/filters.ts';
import { readGroupSort, readHaving } from '../../input/group-order.ts';
import { readGroups } from '../../input/groups.ts';
import { readMeasures } from '../../input/measures.ts';
import { readOver } from '../../input/over.ts';
import type { AggregateArguments } from './instead.ts';

const operationNames = operations.map((operation) => operation.toLowerCase());

/** The caller has checked the names of the arguments. */
export function parseAggregate(input: JsonObject): AggregateArguments {
  const measures = readMeasures(input, 'measures');
  const known = { measures: measures ?? {} };
  return {
    collection: readRequiredText(
      input,
      'collectionName',
      'send the name of a collection; describeCollection without a name lists them.',
    ),
    measures,
    operation: readOperation(input, measures !== undefined),
    field: readText(input, 'field')?.trim() || undefined,
    groups: readGroups(input, 'groups'),
    segment: readText(input, 'segment') || undefined,
    search: readText(input, 'search')?.trim() || undefined,
    searchExtended: readFlag(input, 'shouldSearchInRelation'),
    filter: readFilter(input, 'filters'),
    timezone: readText(input, 'timezone') || undefined,
    having: readHaving(input, 'having', known),
    sort: readGroupSort(input, 'sort', known),
    top: readTop(input),
    compare: readCompare(input),
    includeEmpty: readFlag(input, 'includeEmpty'),
    over: readOver(input, 'over'),
    order: readOrder(input, measures),
    limit: readCount(input.limit, 'limit'),
    cursor: readText(input, 'cursor') || undefined,
    format: readChoice(input, 'format', ['table', 'records'] as const) ?? 'table',
  };
}

function readOperation(input: JsonObject, hasMeasures: boolean): Operation | undefined {
  if (hasMeasures && (input.operation === undefined || input.operation === null)) return undefined;
  const name = operationNames.find((each) => each === readText(input, 'operation')?.trim().toLowerCase());
  const operation = operations[operationNames.indexOf(name ?? '')];
  if (operation) return operation;
  const others = operationNames.slice(1).map((each) => `"${each}"`);
  return fail('INVALID_ARGUMENT', {
    argument: 'operation',
    problem: `send {"operation":"count"}, or ${others.join(' or ')} with a field. More: {"measures":{"middle":{"median":"price"}}}.`,
  });
}

function readOrder(input: JsonObject, measures: PlainMeasures | undefined): 'value' | 'groups' | undefined {
  const [first] = Object.keys(measures ?? {});
  if (first !== undefined && /^(asc|desc)/i.test(String(input.order))) {
    const sort = [{ measure: first, ascending: /^asc/i.test(String(input.order)) }];
    return fail('INVALID_ARGUMENT', {
      argument: 'order',
      problem: `send ${JSON.stringify({ sort })} or {"sort":[{"group":0}]}.`,
    });
  }
  const order = ['value', 'groups'].find((each) => each === readText(input, 'order')?.trim().toLowerCase());
  if (order !== undefined || readText(input, 'order') === undefined) return order as 'value' | 'groups' | undefined;
  const problem = 'send {"order":"value"} for the largest first, or {"order":"groups"}.';
  return fail('INVALID_ARGUMENT', { argument: 'order', problem });
}

/** `{previous}`. The engine refuses a text such as `previous_year` with the number of periods that it means. */
function readCompare(input: JsonObject): PlainCompare | undefined {
  if (/^[a-z_ ]+$/i.test(String(input.compare)) && typeof input.compare === 'string')
    return { previous: input.compare } as unknown as PlainCompare;
  return readObject(input, 'compare', '{"previous":1}') as PlainCompare | undefined;
}

/** `{n, per}`, or a number. */
function readTop(input: JsonObject): PlainTop | undefined {
  if (/^\d+$/.test(String(input.top))) return { n: Number(input.top) };
  return readObject(input, 'top', '{"n":3,"per":[0]}') as PlainTop | undefined;
}

export function toRequest(args: AggregateArguments, limit: number): AggregateRequest {
  return {
    collection: args.collection,
    ...(args.measures && { measures: args.measures }),
    ...(args.operation && { operation: args.operation }),
    ...(args.field && { field: args.field }),
    ...(args.groups && { groups: args.groups }),
    ...(args.filter && { filter: args.filter }),
    ...(args.segment !== undefined && { segment: args.segment }),
    ...(args.search && { search: args.search }),
    ...(args.searchExtended && { searchExtended: true }),
    ...(args.timezone && { timezone: args.timezone }),
    ...(args.having && { having: args.having }),
    ...(args.sort && { sort: args.sort }),
    ...(args.order && { order: args.order }),
    ...(args.top && { top: args.top }),
    ...(args.compare && { compare: args.compare }),
    ...(args.includeEmpty && { includeEmpty: true }),
    ...(args.over && { over: args.over }),
    limit,
    ...(args.cursor && { cursor: args.cursor }),
  };
}
