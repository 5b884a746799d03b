// Shared by `list` and `listRelated`: the arguments that select and format records, and the answer. Each tool chooses
// the collection itself.
import type { CallOptions, CountRequest, ListAnswer, ListRequest } from '../../agent/requests.ts';
import { fail, isAppError } from '../../core/errors.ts';
import type { PlainColumn } from '../../core/filter/columns.ts';
import { isBranch, type PlainFilter, type PlainLeaf, type PlainSort } from '../../core/filter.ts';
import {
  type JsonObject,
  readCells,
  readChoice,
  readCount,
  readFlag,
  readObject,
  readSort,
  readText,
} from '../input/arguments.ts';
import { readListFields } from '../input/columns.ts';
import { readFilter } from '../input/filters.ts';
import { type CellStarts, MAX_CELL_CHARACTERS } from '../results/cells.ts';
import { type ListFormat, listText, maxSingleCharacters } from '../results/list-result.ts';
import type { ToolCall } from '../tool.ts';

export interface Listing {
  readonly segment: string | undefined;
  readonly search: string | undefined;
  readonly searchExtended: boolean;
  readonly filter: PlainFilter | undefined;
  readonly sort: readonly PlainSort[] | undefined;
  readonly fields: readonly (string | PlainColumn)[] | undefined;
  readonly distinct: boolean;
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
  fields: { type: 'array', items: {} },
  pagination: { type: 'object' },
  cursor: { type: 'string' },
  enableCount: { type: 'boolean' },
  timezone: { type: 'string' },
  format: { type: 'string' },
  cells: { type: 'object' },
} as const;

/** A page that starts further in is slow by number: the database reads every record before it. */
const NUMBERED_RECORDS = 10_000;

/** `distinct` is in the schema of `list` only, which describes the arguments of both tools. */
export const listingNames = [...Object.keys(listingSchemas), 'distinct'];

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
    fields: readListFields(input, 'fields'),
    distinct: readFlag(input, 'distinct'),
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
  if (args.distinct && args.count)
    fail('INVALID_ARGUMENT', {
      argument: 'enableCount',
      problem:
        'counts records, not their distinct values. Leave it out, or send countDistinct of one field to aggregate.',
    });
  const conditions: CountConditions = {
    ...(args.filter && { filter: args.filter }),
    ...(args.segment !== undefined && { segment: args.segment }),
    ...(args.search && { search: args.search }),
    ...(args.searchExtended && { searchExtended: true }),
    ...(args.timezone && { timezone: args.timezone }),
    ...(args.fields && { fields: args.fields }),
  };
  const skip = args.cursor ? 0 : (args.number - 1) * limit;
  const request: ListConditions = {
    ...conditions,
    ...(args.distinct && { distinct: true }),
    ...(args.sort && { sort: args.sort }),
    ...(args.cursor && { cursor: args.cursor }),
    limit,
    skip,
  };
  const options = { signal: call.signal };
  const one = maxSingleCharacters(answerTokens);
  // The rest of a text is needed to show a part from its middle.
  const cut = !args.cells && { cutTexts: { many: Math.min(MAX_CELL_CHARACTERS, one), one } };
  const listed = reads.list(request, { ...options, cutsPages: true, ...cut });
  // The count runs in parallel with the list.
  const [answer, totalCount] = args.count
    ? await Promise.all([listed, countWithinBudget(reads.count(conditions, { ...options, timeoutMs: COUNT_MS }))])
    : [await listed, undefined];
  checkCells(args.cells, answer.columns);
  const isLate = skip >= NUMBERED_RECORDS && answer.hasMore && answer.cursorAfter(answer.rows.length - 1) !== undefined;
  const notes = [
    ...(totalCount === null ? [notCounted] : []),
    ...(isLate ? [lateNote(skip)] : []),
    ...noteOnMissing(args.fields, args.filter),
  ];
  return listText(
    {
      ...answer,
      ...(notes.length > 0 && { note: notes.join(' ') }),
      readFirst: () => reads.list({ ...request, limit: 1 }, { ...options, ...cut }),
    },
    {
      format: args.format,
      totalCount,
      budgetTokens: answerTokens,
      cells: args.cells,
      ...(args.distinct && { unit: 'combinations' }),
    },
  );
}

/** How long a list may wait for its total. */
const COUNT_MS = 2000;
const notCounted = `totalCount is null: counting took longer than ${COUNT_MS / 1000} s. Count fewer records with a filter, or read on while hasMore is true.`;

const lateNote = (skip: number) =>
  `The database read the ${skip} records before this page too. Continue with nextCursor instead of pagination.number.`;

/** Without related records, a sum is missing, and not below a number, as many expect. */
function noteOnMissing(fields: Listing['fields'], filter: Listing['filter']): string[] {
  const figures = new Set(
    fields?.flatMap((each) =>
      typeof each === 'object' && ['sum', 'avg', 'min', 'max'].some((kind) => kind in each) ? each.name : [],
    ),
  );
  const conditions =
    filter && isBranch(filter) && filter.aggregator === 'And' ? filter.conditions : filter ? [filter] : [];
  const below = conditions.filter(
    (each) => 'field' in each && figures.has(String(each.field)) && /^(LessThan(OrEqual)?|Before)$/.test(each.operator),
  );
  return below.map((each) => {
    const { field } = each as PlainLeaf;
    const form = { aggregator: 'Or', conditions: [each, { field, operator: 'Missing' }] };
    return `Records without a value of '${field}', such as those without related records, are left out. To include them, send ${JSON.stringify(form)}.`;
  });
}

/** Null when counting takes longer than the budget: the records must not wait for their number. */
async function countWithinBudget(counting: Promise<number>): Promise<number | null> {
  try {
    return await counting;
  } catch (error) {
    if (isAppError(error, 'TIMED_OUT')) return null;
    throw error;
  }
}

/** Throws INVALID_ARGUMENT for a field that the answer does not contain. */
function checkCells(cells: CellStarts | undefined, columns: readonly string[]): void {
  for (const name of Object.keys(cells ?? {})) {
    if (columns.includes(name)) continue;
    fail('INVALID_ARGUMENT', { argument: `cells.${name}`, problem: `'${name}' is not shown; add it to fields.` });
  }
}
