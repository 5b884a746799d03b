// The query string of a request about records, read into what it means. What is not known is refused by name, since a
// parameter that is left unread looks as if it had been obeyed; front ends send some that mean nothing here, and those are
// let by.
import { fail } from '../core/errors.ts';
import type { PlainFilter } from '../core/filter.ts';
import { nearNames } from '../core/near.ts';
import { readFilters } from './filters.ts';
import type { DataRequest } from './route.ts';

/** Which records are meant. */
export interface Asked {
  readonly filter?: PlainFilter;
  readonly search?: string;
  readonly searchExtended?: boolean;
  readonly segment?: string;
  /** IANA name, checked by the engine; the caller's own when absent. */
  readonly timezone?: string;
}

/** Which of their fields are shown. */
export interface Shown {
  /** The header Service-Projection: paths. It goes before `fields`. */
  readonly header?: string;
  /** By what stands in the brackets of `fields[...]`: the collection, or a relation. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
}

export interface Listing {
  readonly asked: Asked;
  readonly shown: Shown;
  /** Clauses as they were written, without their `-`. */
  readonly sort: readonly SortClause[];
  /** Records a page; the configured size when absent. */
  readonly size: number | undefined;
  /** Page from 1. */
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
  // Of front ends with segments of their own making, in SQL.
  'segmentQuery',
  'connectionName',
];

const refuse = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** `more`: parameters that the route reads besides. INVALID_ARGUMENT, UNKNOWN_OPERATOR. */
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

/** Of a route about one record. */
export function readShown(request: Pick<DataRequest, 'query' | 'headers'>): Pick<Listing, 'shown'> & Asked {
  const given = readOnce(request.query, ['timezone']);
  const timezone = given.get('timezone') || undefined;
  return { shown: shownOf(request, given), ...(timezone !== undefined && { timezone }) };
}

/** A text that may be sent; the others were read with `readListing`. */
export function readExtra({ query }: Pick<DataRequest, 'query'>, name: string): string | undefined {
  return query.get(name) || undefined;
}

/** INVALID_ARGUMENT for one that comes twice, or that means nothing here. */
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

/** Names between commas. */
export function splitNames(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Front ends write no in three ways. */
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
