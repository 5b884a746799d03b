import { checkNames, type JsonObject, readRequiredText } from '../input/arguments.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { toolVisibility } from '../visibility/visibility.ts';
import { type Listing, listingNames, listingSchemas, readListing, runListing } from './listing.ts';

interface ListArguments extends Listing {
  readonly collection: string;
}

const description = `List records: {columns, rows, hasMore, nextCursor?, totalCount?}.
fields, sort: "field" or "relation:field" (to-one; filters: any). Computed fields: {name, count|sum|max...: "orders:total", where}, {name, expression}.
A filter is {field, operator, value}, {aggregator: "And"|"Or"|"Not", conditions: [...]} or {"some"|"none"|"every": "relation", where: filter}. Operators: Equal, NotEqual, In, NotIn, Present, Missing, LessThan, GreaterThan (...OrEqual); Contains, StartsWith, Like (IContains ignores case); Before, After, Today, PreviousXDays, PreviousMonth (Week, Year; ...ToDate).
All: describeCollection, detail "query".`;

export const list: Tool<ListArguments> = {
  name: 'list',
  title: 'List records',
  description,
  scope: 'mcp:read',
  isVisible: toolVisibility.browse,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  inputSchema: {
    type: 'object',
    properties: {
      collectionName: { type: 'string' },
      ...listingSchemas,
      distinct: { type: 'boolean' },
      sort: { ...listingSchemas.sort, description: '{field, ascending}' },
      pagination: { type: 'object', description: '{size: 15, number: 1}' },
      format: { type: 'string', enum: ['table', 'records'] },
    },
    required: ['collectionName'],
  },
  parse,
  subject: (args) => ({ collection: args.collection }),
  run,
};

function parse(input: JsonObject): ListArguments {
  checkNames(input, ['collectionName', ...listingNames]);
  const hint = 'send the name of a collection; describeCollection without a name lists them.';
  return { collection: readRequiredText(input, 'collectionName', hint), ...readListing(input) };
}

function run(args: ListArguments, call: ToolCall): Promise<string> {
  const { access, engine } = call;
  const { collection } = args;
  return runListing(args, call, {
    list: (request, options) => engine.list(access, { collection, ...request }, options),
    count: (request, options) => engine.count(access, { collection, ...request }, options),
  });
}
