// Shared by `list` and `listRelated`: the arguments that select and format records, and the answer. Each tool chooses
// the collection itself.
import type { CallOptions, CountRequest, ListAnswer, ListRequest } from '../../agent/requests.ts';
import { fail } from '../../core/errors.ts';
import type { PlainFilter, PlainSort } from '../../core/filter.ts';
import { type Given, readCells, readChoice, readCount, readFlag, readObject, readText } from '../input/arguments.ts';
import { readFields, readSort } from '../input/columns.ts';
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
export function readListing(given: Given): Listing {
  const page = readObject(given, 'pagination', '{"size":15,"number":1}') ?? {};
  for (const name of Object.keys(page)) {
    if (name === 'size' || name === 'number') continue;
    fail('INVALID_ARGUMENT', { argument: `pagination.${name}`, problem: 'unknown; send {"size":15,"number":1}.' });
  }
  return {
    segment: readText(given, 'segment') || undefined,
    search: readText(given, 'search')?.trim() || undefined,
    searchExtended: readFlag(given, 'shouldSearchInRelation'),
    filter: readFilter(given, 'filters'),
    sort: readSort(given, 'sort'),
    fields: readFields(given, 'fields'),
    size: readCount(page.size, 'pagination.size'),
    number: readCount(page.number, 'pagination.number') ?? 1,
    cursor: readText(given, 'cursor') || undefined,
    count: readFlag(given, 'enableCount'),
    timezone: readText(given, 'timezone') || undefined,
    format: readChoice(given, 'format', ['table', 'records'] as const) ?? 'table',
    cells: readCells(given, 'cells'),
  };
}

type Asked = Omit<CountRequest, 'collection'>;
type Shown = Omit<ListRequest, 'collection'>;

/** How the engine lists and counts the records. */
export interface ListingDoors {
  list(request: Shown, options: CallOptions): Promise<ListAnswer>;
  count(request: Asked, options: CallOptions): Promise<number>;
}

/** The text of the answer. Throws INVALID_ARGUMENT for a page size above the limit. */
export async function answerListing(args: Listing, call: ToolCall, doors: ListingDoors): Promise<string> {
  const { pageSize, pageSizeLimit, answerTokens } = call.config;
  const limit = args.size ?? pageSize;
  if (limit > pageSizeLimit) {
    fail('INVALID_ARGUMENT', {
      argument: 'pagination.size',
      problem: `at most ${pageSizeLimit}; go on with nextCursor.`,
    });
  }
  const asked: Asked = {
    ...(args.filter && { filter: args.filter }),
    ...(args.segment !== undefined && { segment: args.segment }),
    ...(args.search && { search: args.search }),
    ...(args.searchExtended && { searchExtended: true }),
    ...(args.timezone && { timezone: args.timezone }),
  };
  const request: Shown = {
    ...asked,
    ...(args.fields && { fields: args.fields }),
    ...(args.sort && { sort: args.sort }),
    ...(args.cursor && { cursor: args.cursor }),
    limit,
    skip: args.cursor ? 0 : (args.number - 1) * limit,
  };
  const options = { signal: call.signal };
  const listed = doors.list(request, { ...options, cutsPages: true });
  // The count runs in parallel with the list.
  const [answer, totalCount] = args.count
    ? await Promise.all([listed, doors.count(asked, options)])
    : [await listed, undefined];
  checkCells(args.cells, answer.columns);
  return listText(answer, { format: args.format, totalCount, budgetTokens: answerTokens, cells: args.cells });
}

/** Throws INVALID_ARGUMENT for a field that the answer does not contain. */
function checkCells(cells: CellStarts | undefined, columns: readonly string[]): void {
  for (const name of Object.keys(cells ?? {})) {
    if (columns.includes(name)) continue;
    fail('INVALID_ARGUMENT', { argument: `cells.${name}`, problem: `'${name}' is not shown; name it in fields too.` });
  }
}
