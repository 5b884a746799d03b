import { fail } from '../../core/errors.ts';
import { checkNames } from '../input/arguments.ts';
import { listText } from '../results/list-result.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { toolVisibility } from '../visibility/visibility.ts';
import type { AggregateArguments } from './aggregate/instead.ts';
import { failWithInverseCall } from './aggregate/instead.ts';
import { parseAggregate, toRequest } from './aggregate/request.ts';

const description = `measures by name: {"count": true}, {"sum"|"avg"|"min"|"max"|"countDistinct"|"median": field or expression}, with own where; {"ratio"|"minus": [name, name]}, {"share"|"running"|"metric": name}.
Example: {"measures":{"revenue":{"sum":{"times":["price","quantity"]}}},"groups":["order:city",{"field":"order:placed_at","bucket":"Month"}],"having":{"measure":"revenue","operator":"GreaterThan","value":9},"sort":[{"group":0}]}
filters as in list. More (rank, part, ranges, top, compare, over): describeCollection, detail "query".`;

const DEFAULT_LIMIT = 50;
const properties = {
  collectionName: { type: 'string' },
  measures: { type: 'object' },
  operation: { type: 'string' },
  field: { type: 'string' },
  groups: { type: 'array', items: {} },
  filters: { type: 'object' },
  having: { type: 'object' },
  sort: { type: 'array', items: {} },
  order: { type: 'string' },
  top: { type: 'object' },
  compare: { type: 'object' },
  includeEmpty: { type: 'boolean' },
  over: { type: 'object' },
  segment: { type: 'string' },
  search: { type: 'string' },
  shouldSearchInRelation: { type: 'boolean' },
  timezone: { type: 'string' },
  limit: { type: 'integer' },
  cursor: { type: 'string' },
  format: { type: 'string' },
} as const;

export const aggregate: Tool<AggregateArguments> = {
  name: 'aggregate',
  title: 'Count and sum records',
  description,
  scope: 'mcp:read',
  isVisible: toolVisibility.browse,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  inputSchema: {
    type: 'object',
    properties,
    required: ['collectionName'],
  },
  parse(input) {
    checkNames(input, Object.keys(properties));
    return parseAggregate(input);
  },
  subject: (args) => ({ collection: args.collection }),
  run,
};

async function run(args: AggregateArguments, call: ToolCall): Promise<string> {
  const { pageSizeLimit, answerTokens } = call.config;
  const advice = 'Narrow the filters, or group by fewer fields.';
  if (args.limit !== undefined && args.limit > pageSizeLimit)
    fail('INVALID_ARGUMENT', {
      argument: 'limit',
      problem: `at most ${pageSizeLimit} groups; continue with nextCursor.`,
    });
  const request = toRequest(args, args.limit ?? Math.min(DEFAULT_LIMIT, pageSizeLimit));
  const answer = await call.engine
    .aggregate(call.access, request, { signal: call.signal })
    .catch((error: unknown) => failWithInverseCall(args, call, error));
  return listText(answer, { format: args.format, budgetTokens: answerTokens, unit: 'groups', advice });
}
