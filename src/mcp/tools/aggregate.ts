import type { AggregateRequest } from '../../agent/requests.ts';
import { bucketUnits, type Operation, operations } from '../../agent/sources/statement.ts';
import { fail } from '../../core/errors.ts';
import {
  checkNames,
  type JsonObject,
  readChoice,
  readCount,
  readFlag,
  readGroups,
  readRequiredText,
  readText,
} from '../input/arguments.ts';
import { readFilter } from '../input/filters.ts';
import { listText } from '../results/list-result.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { toolVisibility } from '../visibility/visibility.ts';
import type { AggregateArguments } from './aggregate-instead.ts';
import { failWithInverseCall } from './aggregate-instead.ts';

const description = `Count, sum, average, min or max of records, per group. Returns {columns, rows, hasMore, nextCursor?}, largest value first.
groups: "field", "relation:field", or {field, bucket} for the ${bucketUnits.join(', ')} of a date, shown as its first day in the timezone. The rest as in list.`;

const argumentNames = [
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
  'cursor',
  'format',
] as const;

const DEFAULT_LIMIT = 50;
const operationNames = operations.map((operation) => operation.toLowerCase());

export const aggregate: Tool<AggregateArguments> = {
  name: 'aggregate',
  title: 'Count and sum records',
  description,
  scope: 'mcp:read',
  isVisible: toolVisibility.browse,
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
      cursor: { type: 'string' },
      format: { type: 'string' },
    },
    required: ['collectionName', 'operation'],
  },
  parse,
  subject: (args) => ({ collection: args.collection }),
  run,
};

function parse(input: JsonObject): AggregateArguments {
  checkNames(input, argumentNames);
  return {
    collection: readRequiredText(
      input,
      'collectionName',
      'send the name of a collection; describeCollection without a name lists them.',
    ),
    operation: readOperation(input),
    field: readText(input, 'field')?.trim() || undefined,
    groups: readGroups(input, 'groups'),
    segment: readText(input, 'segment') || undefined,
    search: readText(input, 'search')?.trim() || undefined,
    searchExtended: readFlag(input, 'shouldSearchInRelation'),
    filter: readFilter(input, 'filters'),
    timezone: readText(input, 'timezone') || undefined,
    order: readChoice(input, 'order', ['value', 'groups'] as const) ?? 'value',
    limit: readCount(input.limit, 'limit'),
    cursor: readText(input, 'cursor') || undefined,
    format: readChoice(input, 'format', ['table', 'records'] as const) ?? 'table',
  };
}

function readOperation(input: JsonObject): Operation {
  const name = operationNames.find((each) => each === readText(input, 'operation')?.trim().toLowerCase());
  const operation = operations[operationNames.indexOf(name ?? '')];
  if (operation) return operation;
  const others = operationNames.slice(1).map((each) => `"${each}"`);
  return fail('INVALID_ARGUMENT', {
    argument: 'operation',
    problem: `send {"operation":"count"}, or ${others.join(' or ')} with a field.`,
  });
}

async function run(args: AggregateArguments, call: ToolCall): Promise<string> {
  const { pageSizeLimit, answerTokens } = call.config;
  const advice = 'Narrow the filters, or group by fewer fields.';
  if (args.limit !== undefined && args.limit > pageSizeLimit)
    fail('INVALID_ARGUMENT', {
      argument: 'limit',
      problem: `at most ${pageSizeLimit} groups; continue with nextCursor.`,
    });
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
    ...(args.cursor && { cursor: args.cursor }),
  };
  const answer = await call.engine
    .aggregate(call.access, request, { signal: call.signal })
    .catch((error: unknown) => failWithInverseCall(args, call, error));
  return listText(answer, { format: args.format, budgetTokens: answerTokens, unit: 'groups', advice });
}
