import type { AggregateRequest, PlainGroup } from '../../agent/engine.ts';
import { bucketUnits, type Operation, operations } from '../../agent/sources/source.ts';
import { fail } from '../../core/errors.ts';
import type { PlainFilter } from '../../core/filter.ts';
import { tableText } from '../answers/table.ts';
import {
  checkNames,
  type Given,
  readChoice,
  readCount,
  readFilter,
  readFlag,
  readGroups,
  readRequiredText,
  readText,
} from '../arguments/arguments.ts';
import { offers } from '../offers/offers.ts';
import type { Tool, ToolCall } from '../tools.ts';

interface AggregateArguments {
  readonly collection: string;
  readonly operation: Operation;
  readonly field: string | undefined;
  readonly groups: readonly PlainGroup[] | undefined;
  readonly segment: string | undefined;
  readonly search: string | undefined;
  readonly searchExtended: boolean;
  readonly filter: PlainFilter | undefined;
  readonly timezone: string | undefined;
  readonly order: 'value' | 'groups';
  readonly limit: number | undefined;
}

const description = `Count, sum, average, min or max of records, per group. Answers {columns, rows, hasMore}, largest value first.
groups: "field", "relation:field", or {field, bucket} for the ${bucketUnits.join(', ')} of a date, shown as its first day in the timezone. The rest as in list.`;

const names = [
  'collectionName',
  'operation',
  'field',
  'groups',
  'filters',
  'segment',
  'search',
  'shouldSearchInRelation',
  'timezone',
  'order',
  'limit',
] as const;

const DEFAULT_LIMIT = 50;
const operationNames = operations.map((operation) => operation.toLowerCase());

export const aggregate: Tool<AggregateArguments> = {
  name: 'aggregate',
  title: 'Count and sum up records',
  description,
  scope: 'mcp:read',
  isOffered: offers.browse,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  inputSchema: {
    type: 'object',
    properties: {
      collectionName: { type: 'string' },
      operation: { type: 'string', enum: operationNames },
      field: { type: 'string' },
      groups: { type: 'array', items: {} },
      filters: { type: 'object' },
      segment: { type: 'string' },
      search: { type: 'string' },
      shouldSearchInRelation: { type: 'boolean' },
      timezone: { type: 'string' },
      order: { type: 'string', enum: ['value', 'groups'] },
      limit: { type: 'integer' },
    },
    required: ['collectionName', 'operation'],
  },
  parse,
  subject: (args) => ({ collection: args.collection }),
  run,
};

function parse(given: Given): AggregateArguments {
  checkNames(given, names);
  return {
    collection: readRequiredText(
      given,
      'collectionName',
      'send the name of a collection; describeCollection without a name lists them.',
    ),
    operation: readOperation(given),
    field: readText(given, 'field')?.trim() || undefined,
    groups: readGroups(given, 'groups', bucketUnits),
    segment: readText(given, 'segment') || undefined,
    search: readText(given, 'search')?.trim() || undefined,
    searchExtended: readFlag(given, 'shouldSearchInRelation'),
    filter: readFilter(given, 'filters'),
    timezone: readText(given, 'timezone') || undefined,
    order: readChoice(given, 'order', ['value', 'groups'] as const) ?? 'value',
    limit: readCount(given.limit, 'limit'),
  };
}

function readOperation(given: Given): Operation {
  const name = readChoice(given, 'operation', operationNames);
  const operation = operations[operationNames.indexOf(name ?? '')];
  if (operation) return operation;
  const offered = operationNames.map((each) => `'${each}'`).join(' or ');
  return fail('INVALID_ARGUMENT', { argument: 'operation', problem: `send ${offered}.` });
}

async function run(args: AggregateArguments, call: ToolCall): Promise<string> {
  const { pageSizeLimit, answerTokens } = call.config;
  const advice = 'Narrow the filters, or group by less.';
  if (args.limit !== undefined && args.limit > pageSizeLimit)
    fail('INVALID_ARGUMENT', { argument: 'limit', problem: `at most ${pageSizeLimit} groups. ${advice}` });
  const request: AggregateRequest = {
    collection: args.collection,
    operation: args.operation,
    ...(args.field && { field: args.field }),
    ...(args.groups && { groups: args.groups }),
    ...(args.filter && { filter: args.filter }),
    ...(args.segment !== undefined && { segment: args.segment }),
    ...(args.search && { search: args.search }),
    ...(args.searchExtended && { searchExtended: true }),
    ...(args.timezone && { timezone: args.timezone }),
    order: args.order,
    limit: args.limit ?? Math.min(DEFAULT_LIMIT, pageSizeLimit),
  };
  const { columns, rows, hasMore } = await call.engine.aggregate(call.access, request, { signal: call.signal });
  return tableText({ columns, rows, hasMore }, answerTokens, { of: 'groups', advice });
}
