import type { ListRequest } from '../../agent/engine.ts';
import { fail } from '../../core/errors.ts';
import type { PlainFilter, PlainSort } from '../../core/filter.ts';
import {
  checkNames,
  type Given,
  readChoice,
  readCount,
  readFilter,
  readFlag,
  readObject,
  readPaths,
  readRequiredText,
  readSort,
  readText,
} from '../arguments.ts';
import { type ListFormat, listText } from '../result.ts';
import type { Tool, ToolCall } from '../tools.ts';

interface ListArguments {
  readonly collection: string;
  readonly segment: string | undefined;
  readonly search: string | undefined;
  readonly searchExtended: boolean;
  readonly filter: PlainFilter | undefined;
  readonly sort: readonly PlainSort[] | undefined;
  readonly fields: readonly string[] | undefined;
  /** Records a page; the configured size when absent. */
  readonly size: number | undefined;
  /** Page from 1. */
  readonly number: number;
  readonly cursor: string | undefined;
  readonly count: boolean;
  readonly timezone: string | undefined;
  readonly format: ListFormat;
}

const description = `List records of a collection. Answers {columns, rows, hasMore, nextCursor?, totalCount?}.
In fields and sort: "field", or "relation:field" of a to-one relation (filters: any).
A filter is {field, operator, value} or {aggregator: "And"|"Or", conditions: [...]}. Operators: Equal, NotEqual, In, NotIn, Present, Blank, Missing, LessThan, GreaterThan, LessThanOrEqual, GreaterThanOrEqual; text: Contains, NotContains, StartsWith, EndsWith, Like (each also with I in front: ignores case), LongerThan, ShorterThan; dates: Before, After, Past, Future, Today, Yesterday, PreviousXDays, PreviousWeek, PreviousMonth, PreviousQuarter, PreviousYear (each also ...ToDate).`;

const names = [
  'collectionName',
  'segment',
  'search',
  'shouldSearchInRelation',
  'filters',
  'sort',
  'fields',
  'pagination',
  'cursor',
  'enableCount',
  'timezone',
  'format',
] as const;

export const list: Tool<ListArguments> = {
  name: 'list',
  title: 'List records',
  description,
  scope: 'mcp:read',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  inputSchema: {
    type: 'object',
    properties: {
      collectionName: { type: 'string' },
      segment: { type: 'string' },
      search: { type: 'string' },
      shouldSearchInRelation: { type: 'boolean', description: 'Search to-one relations' },
      filters: { type: 'object' },
      sort: { type: 'array', items: { type: 'object' }, description: '{field, ascending}, one or several' },
      fields: { type: 'array', items: { type: 'string' } },
      pagination: { type: 'object', description: '{size: 15, number: 1}' },
      cursor: { type: 'string', description: 'nextCursor of the same call' },
      enableCount: { type: 'boolean' },
      timezone: { type: 'string' },
      format: { type: 'string', enum: ['table', 'records'] },
    },
    required: ['collectionName'],
  },
  parse,
  subject: (args) => ({ collection: args.collection }),
  run,
};

function parse(given: Given): ListArguments {
  checkNames(given, names);
  const page = readObject(given, 'pagination', '{"size":15,"number":1}') ?? {};
  for (const name of Object.keys(page)) {
    if (name === 'size' || name === 'number') continue;
    fail('INVALID_ARGUMENT', { argument: `pagination.${name}`, problem: 'unknown; send {"size":15,"number":1}.' });
  }
  return {
    collection: readRequiredText(
      given,
      'collectionName',
      'send the name of a collection; describeCollection without a name lists them.',
    ),
    segment: readText(given, 'segment') || undefined,
    search: readText(given, 'search')?.trim() || undefined,
    searchExtended: readFlag(given, 'shouldSearchInRelation'),
    filter: readFilter(given, 'filters'),
    sort: readSort(given, 'sort'),
    fields: readPaths(given, 'fields'),
    size: readCount(page.size, 'pagination.size'),
    number: readCount(page.number, 'pagination.number') ?? 1,
    cursor: readText(given, 'cursor') || undefined,
    count: readFlag(given, 'enableCount'),
    timezone: readText(given, 'timezone') || undefined,
    format: readChoice(given, 'format', ['table', 'records'] as const) ?? 'table',
  };
}

async function run(args: ListArguments, call: ToolCall): Promise<string> {
  const { pageSize, pageSizeLimit, answerTokens } = call.config;
  const limit = args.size ?? pageSize;
  if (limit > pageSizeLimit) {
    fail('INVALID_ARGUMENT', {
      argument: 'pagination.size',
      problem: `at most ${pageSizeLimit}; go on with nextCursor.`,
    });
  }
  const asked = {
    collection: args.collection,
    ...(args.filter && { filter: args.filter }),
    ...(args.segment !== undefined && { segment: args.segment }),
    ...(args.search && { search: args.search }),
    ...(args.searchExtended && { searchExtended: true }),
    ...(args.timezone && { timezone: args.timezone }),
  };
  const request: ListRequest = {
    ...asked,
    ...(args.fields && { fields: args.fields }),
    ...(args.sort && { sort: args.sort }),
    ...(args.cursor && { cursor: args.cursor }),
    limit,
    skip: args.cursor ? 0 : (args.number - 1) * limit,
  };
  const options = { signal: call.signal };
  // The count runs beside the list, not after it.
  const [answer, totalCount] = await Promise.all([
    call.engine.list(call.access, request, options),
    args.count ? call.engine.count(call.access, asked, options) : undefined,
  ]);
  return listText(answer, { format: args.format, totalCount, budgetTokens: answerTokens });
}
