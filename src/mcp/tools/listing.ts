// What `list` and `listRelated` have in common: the arguments that say which records are meant and how they are shown, and
// the answer. The collection that they are about is the tool's own matter.
import type { CallOptions, CountRequest, ListAnswer, ListRequest } from '../../agent/engine.ts';
import { fail } from '../../core/errors.ts';
import type { PlainFilter, PlainSort } from '../../core/filter.ts';
import { type ListFormat, listText } from '../answers/result.ts';
import {
  type Given,
  readChoice,
  readCount,
  readFilter,
  readFlag,
  readObject,
  readPaths,
  readSort,
  readText,
} from '../arguments/arguments.ts';
import type { ToolCall } from '../tools.ts';

export interface Listing {
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

/** JSON Schema of each; with a type, since some model providers refuse an argument that has none. */
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
} as const;

export const listingNames = Object.keys(listingSchemas);

/** `checkNames` is the tool's, which knows all of its arguments. */
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
    fields: readPaths(given, 'fields'),
    size: readCount(page.size, 'pagination.size'),
    number: readCount(page.number, 'pagination.number') ?? 1,
    cursor: readText(given, 'cursor') || undefined,
    count: readFlag(given, 'enableCount'),
    timezone: readText(given, 'timezone') || undefined,
    format: readChoice(given, 'format', ['table', 'records'] as const) ?? 'table',
  };
}

type Asked = Omit<CountRequest, 'collection'>;
type Shown = Omit<ListRequest, 'collection'>;

/** How the engine is asked for the records and for their number. */
export interface ListingDoors {
  list(request: Shown, options: CallOptions): Promise<ListAnswer>;
  count(request: Asked, options: CallOptions): Promise<number>;
}

/** The text of the answer; INVALID_ARGUMENT for a page that is too large. */
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
  const listed = doors.list(request, options);
  // The count runs beside the list, not after it.
  const [answer, totalCount] = args.count
    ? await Promise.all([listed, doors.count(asked, options)])
    : [await listed, undefined];
  return listText(answer, { format: args.format, totalCount, budgetTokens: answerTokens });
}
