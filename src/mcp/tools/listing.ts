// Shared by `list` and `listRelated`: the arguments that select and format records, and the answer. Each tool chooses
// the collection itself.
import type { CallOptions, CountRequest, ListAnswer, ListRequest } from '../../agent/requests.ts';
import { fail } from '../../core/errors.ts';
import type { PlainFilter, PlainSort } from '../../core/filter.ts';
import {
  type JsonObject,
  readCells,
  readChoice,
  readCount,
  readFields,
  readFlag,
  readObject,
  readSort,
  readText,
} from '../input/arguments.ts';
import { readFilter } from '../input/filters.ts';
import type { CellStarts } from '../results/cells.ts';
import { type ListFormat, listText } from '../results/list-result.ts';
import type { ToolCall } from '../tool.ts';

export interface Listing {
  readonly segment: string | undefined;
  readonly search: string | undefined;
  readonly searchExtended: boolean;
  readonly filter: PlainFilter | undefined;
  readonly sort: readonly PlainSort[] | undefined;
  readonly fields: readonly string[] | undefined;
  /** Records per page. Default: the configured size. */
  readonly size: number | undefined;
  /** The page number, from 1. */
  readonly number: number;
  readonly cursor: string | undefined;
  readonly count: boolean;
  readonly timezone: string | undefined;
  readonly format: ListFormat;
  readonly cells: CellStarts | undefined;
}

/** The JSON Schema of each argument. Each has a type, because some model providers refuse arguments without one. */
export const listingSchemas = {
  segment: { type: 'string' },
  search: { type: 'string' },
  shouldSearchInRelation: { type: 'boolean' },
  filters: { type: 'object' },
  sort: { type: 'array', items: { type: 'object' } },
  fields: { type: 'array', items: { type: 'string' } },
  pagination: { type: 'object' },
  cursor: { type: 'string' },
  enableCount: { type: 'boolean' },
  timezone: { type: 'string' },
  format: { type: 'string' },
  cells: { type: 'object' },
} as const;

export const listingNames = Object.keys(listingSchemas);

/** Does not check for unknown arguments; each tool calls `checkNames` with all of its own. */
export function readListing(input: JsonObject): Listing {
  const page = readObject(input, 'pagination', '{"size":15,"number":1}') ?? {};
  for (const name of Object.keys(page)) {
    if (name === 'size' || name === 'number') continue;
    fail('INVALID_ARGUMENT', { argument: `pagination.${name}`, problem: 'unknown; send {"size":15,"number":1}.' });
  }
  return {
    segment: readText(input, 'segment') || undefined,
    search: readText(input, 'search')?.trim() || undefined,
    searchExtended: readFlag(input, 'shouldSearchInRelation'),
    filter: readFilter(input, 'filters'),
    sort: readSort(input, 'sort'),
    fields: readFields(input, 'fields'),
    size: readCount(page.size, 'pagination.size'),
    number: readCount(page.number, 'pagination.number') ?? 1,
    cursor: readText(input, 'cursor') || undefined,
    count: readFlag(input, 'enableCount'),
    timezone: readText(input, 'timezone') || undefined,
    format: readChoice(input, 'format', ['table', 'records'] as const) ?? 'table',
    cells: readCells(input, 'cells'),
  };
}

type CountConditions = Omit<CountRequest, 'collection'>;
type ListConditions = Omit<ListRequest, 'collection'>;

/** How the engine lists and counts the records. */
export interface ListingReads {
  list(request: ListConditions, options: CallOptions): Promise<ListAnswer>;
  count(request: CountConditions, options: CallOptions): Promise<number>;
}

/** The text of the answer. Throws INVALID_ARGUMENT for a page size above the limit. */
export async function runListing(args: Listing, call: ToolCall, reads: ListingReads): Promise<string> {
  const { pageSize, pageSizeLimit, answerTokens } = call.config;
  const limit = args.size ?? pageSize;
  if (limit > pageSizeLimit) {
    fail('INVALID_ARGUMENT', {
      argument: 'pagination.size',
      problem: `at most ${pageSizeLimit}; continue with nextCursor.`,
    });
  }
  const conditions: CountConditions = {
    ...(args.filter && { filter: args.filter }),
    ...(args.segment !== undefined && { segment: args.segment }),
    ...(args.search && { search: args.search }),
    ...(args.searchExtended && { searchExtended: true }),
    ...(args.timezone && { timezone: args.timezone }),
  };
  const request: ListConditions = {
    ...conditions,
    ...(args.fields && { fields: args.fields }),
    ...(args.sort && { sort: args.sort }),
    ...(args.cursor && { cursor: args.cursor }),
    limit,
    skip: args.cursor ? 0 : (args.number - 1) * limit,
  };
  const options = { signal: call.signal };
  const listed = reads.list(request, { ...options, cutsPages: true });
  // The count runs in parallel with the list.
  const [answer, totalCount] = args.count
    ? await Promise.all([listed, reads.count(conditions, options)])
    : [await listed, undefined];
  checkCells(args.cells, answer.columns);
  return listText(answer, { format: args.format, totalCount, budgetTokens: answerTokens, cells: args.cells });
}

/** Throws INVALID_ARGUMENT for a field that the answer does not contain. */
function checkCells(cells: CellStarts | undefined, columns: readonly string[]): void {
  for (const name of Object.keys(cells ?? {})) {
    if (columns.includes(name)) continue;
    fail('INVALID_ARGUMENT', { argument: `cells.${name}`, problem: `'${name}' is not shown; add it to fields.` });
  }
}
