// Parses the query string of record requests. An unknown parameter is an error that names it: ignoring it would look as
// if it had been applied. A few parameters that clients send and this API does not use are accepted.
import { fail } from '../core/errors.ts';
import type { PlainFilter } from '../core/filter.ts';
import { nearNames } from '../core/suggestions.ts';
import { readFilters } from './filters.ts';
import type { DataRequest } from './route.ts';

/** Selects the records. */
export interface Asked {
  readonly filter?: PlainFilter;
  readonly search?: string;
  readonly searchExtended?: boolean;
  readonly segment?: string;
  /** IANA name, checked by the engine. Defaults to the caller's time zone. */
  readonly timezone?: string;
}

/** Selects the fields to return. */
export interface Shown {
  /** Paths from the header Service-Projection. It takes precedence over `fields`. */
  readonly header?: string;
  /** Keys are the names in the brackets of `fields[...]`: the collection or a relation. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
}

export interface Listing {
  readonly asked: Asked;
  readonly shown: Shown;
  /** Clauses as written, without the leading `-`. */
  readonly sort: readonly SortClause[];
  /** Records per page. Defaults to the configured size. */
  readonly size: number | undefined;
  /** Page number, from 1. */
  readonly number: number;
}

export interface SortClause {
  readonly text: string;
  readonly ascending: boolean;
}

const listingNames: readonly string[] = [
  'timezone',
  'filters',
  'search',
  'searchExtended',
  'segment',
  'sort',
  'page[size]',
  'page[number]',
  // Clients with SQL segments send these two.
  'segmentQuery',
  'connectionName',
];

const refuse = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** `more`: extra parameters that the route reads. Throws INVALID_ARGUMENT or UNKNOWN_OPERATOR. */
export function readListing(request: Pick<DataRequest, 'query' | 'headers'>, more: readonly string[] = []): Listing {
  const given = readOnce(request.query, [...listingNames, ...more]);
  if (given.get('segmentQuery'))
    refuse(
      'segmentQuery',
      'segments written in SQL are not served. Add the segment in code, and send its name as segment.',
    );
  const search = given.get('search')?.trim();
  const [filters, segment, timezone] = ['filters', 'segment', 'timezone'].map((name) => given.get(name) || undefined);
  const filter = filters === undefined ? undefined : readFilters(filters);
  const [size, number] = [readPage(given, 'page[size]'), readPage(given, 'page[number]') ?? 1];
  return {
    asked: {
      ...(filter && { filter }),
      ...(search && { search }),
      ...(isFlag(given.get('searchExtended')) && { searchExtended: true }),
      ...(segment !== undefined && { segment }),
      ...(timezone !== undefined && { timezone }),
    },
    shown: shownOf(request, given),
    sort: readSort(given.get('sort')),
    size,
    number,
  };
}

/** Parses the parameters of a route for one record. */
export function readShown(request: Pick<DataRequest, 'query' | 'headers'>): Pick<Listing, 'shown'> & Asked {
  const given = readOnce(request.query, ['timezone']);
  const timezone = given.get('timezone') || undefined;
  return { shown: shownOf(request, given), ...(timezone !== undefined && { timezone }) };
}

/** Reads an optional parameter that `readListing` has already accepted in `more`. */
export function readExtra({ query }: Pick<DataRequest, 'query'>, name: string): string | undefined {
  return query.get(name) || undefined;
}

/** Throws INVALID_ARGUMENT for a repeated or unknown parameter. */
function readOnce(query: URLSearchParams, known: readonly string[]): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  for (const [name, value] of query) {
    if (given.has(name)) refuse(name, 'sent twice; send it once.');
    if (!known.includes(name) && !/^fields\[.+\]$/.test(name)) {
      const near = nearNames(name, [...known, 'fields[...]']);
      refuse(
        name,
        `unknown.${near.length > 0 ? ` Near: ${near.join(', ')}.` : ` Known: ${known.join(', ')}, fields[...].`}`,
      );
    }
    given.set(name, value);
  }
  return given;
}

const projectionHeader = 'service-projection';

function shownOf({ headers }: Pick<DataRequest, 'headers'>, given: ReadonlyMap<string, string>): Shown {
  const fields = new Map<string, readonly string[]>();
  for (const [name, value] of given) {
    const of = /^fields\[(.+)\]$/.exec(name)?.[1];
    if (of !== undefined) fields.set(of, splitNames(value));
  }
  const header = headers[projectionHeader];
  return { fields, ...(typeof header === 'string' && header.trim() !== '' && { header }) };
}

/** Splits a comma-separated list of names. */
export function splitNames(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** An empty value, `0` and `false` all mean false. */
function isFlag(text: string | undefined): boolean {
  return text !== undefined && !/^(?:|0|false)$/i.test(text.trim());
}

function readPage(given: ReadonlyMap<string, string>, name: string): number | undefined {
  const text = given.get(name);
  if (text === undefined || text === '') return undefined;
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1) return refuse(name, 'expected a whole number, 1 or more.');
  return Number(text);
}

function readSort(text: string | undefined): SortClause[] {
  if (text === undefined || text.trim() === '') return [];
  return text.split(',').map((clause) => {
    const [, minus, name = ''] = /^\s*(-?)(.*?)\s*$/s.exec(clause)!;
    if (name === '') refuse('sort', "expected fields between commas, such as '-placed_at,customer.name'.");
    return { text: name, ascending: minus === '' };
  });
}
