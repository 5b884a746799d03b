// Parses the query string of record requests. An unknown parameter is an error that names it: ignoring it would look as
// if it had been applied. A few parameters that clients send and this API does not use are accepted.
import { fail } from '../core/errors.ts';
import type { PlainColumn } from '../core/filter/columns.ts';
import type { PlainFilter } from '../core/filter.ts';
import { suggestNames } from '../core/suggestions.ts';
import { parseJson } from '../http/body.ts';
import { parseFilterText } from './filters.ts';
import type { DataRequest } from './route.ts';

/** Selects the records. */
export interface RecordConditions {
  readonly filter?: PlainFilter;
  readonly search?: string;
  readonly searchExtended?: boolean;
  readonly segment?: string;
  /** IANA name, checked by the engine. Defaults to the caller's time zone. */
  readonly timezone?: string;
}

/** Selects the fields to return. */
export interface FieldSelection {
  /** Paths from the header Service-Projection. It takes precedence over `fields`. */
  readonly header?: string;
  /** Keys are the names in the brackets of `fields[...]`: the collection or a relation. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
}

export interface Listing {
  readonly conditions: RecordConditions;
  readonly selection: FieldSelection;
  /** Computed columns, which become attributes of each record. The engine checks them. */
  readonly columns: readonly PlainColumn[];
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
  'columns',
  'sort',
  'page[size]',
  'page[number]',
  // Clients with SQL segments send these two.
  'segmentQuery',
  'connectionName',
];

/** The engine limits the depth of expressions and filters further. */
const MAX_JSON_DEPTH = 64;

const refuse = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** `more`: extra parameters that the route reads. Throws INVALID_ARGUMENT or UNKNOWN_OPERATOR. */
export function readListing(request: Pick<DataRequest, 'query' | 'headers'>, more: readonly string[] = []): Listing {
  const parameters = readUnique(request.query, [...listingNames, ...more]);
  if (parameters.get('segmentQuery'))
    refuse(
      'segmentQuery',
      'segments written in SQL are not supported. Add the segment in code, and send its name as segment.',
    );
  const search = parameters.get('search')?.trim();
  const [filters, segment, timezone] = ['filters', 'segment', 'timezone'].map(
    (name) => parameters.get(name) || undefined,
  );
  const filter = filters === undefined ? undefined : parseFilterText(filters);
  const [size, number] = [readPage(parameters, 'page[size]'), readPage(parameters, 'page[number]') ?? 1];
  return {
    conditions: {
      ...(filter && { filter }),
      ...(search && { search }),
      ...(isFlag(parameters.get('searchExtended')) && { searchExtended: true }),
      ...(segment !== undefined && { segment }),
      ...(timezone !== undefined && { timezone }),
    },
    selection: parseFieldSelection(request, parameters),
    columns: readColumns(parameters.get('columns')),
    sort: readSort(parameters.get('sort')),
    size,
    number,
  };
}

/** Parses the parameters of a route for one record. */
export function readFieldSelection(
  request: Pick<DataRequest, 'query' | 'headers'>,
): Pick<Listing, 'selection'> & RecordConditions {
  const parameters = readUnique(request.query, ['timezone']);
  const timezone = parameters.get('timezone') || undefined;
  return { selection: parseFieldSelection(request, parameters), ...(timezone !== undefined && { timezone }) };
}

/** Reads an optional parameter that `readListing` has already accepted in `more`. */
export function readExtra({ query }: Pick<DataRequest, 'query'>, name: string): string | undefined {
  return query.get(name) || undefined;
}

/** Throws INVALID_ARGUMENT for a repeated or unknown parameter. */
function readUnique(query: URLSearchParams, known: readonly string[]): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, value] of query) {
    if (parameters.has(name)) refuse(name, 'sent twice; send it once.');
    if (!known.includes(name) && !/^fields\[.+\]$/.test(name)) {
      const near = suggestNames(name, [...known, 'fields[...]']);
      refuse(
        name,
        `unknown.${near.length > 0 ? ` Near: ${near.join(', ')}.` : ` Known: ${known.join(', ')}, fields[...].`}`,
      );
    }
    parameters.set(name, value);
  }
  return parameters;
}

const projectionHeader = 'service-projection';

function parseFieldSelection(
  { headers }: Pick<DataRequest, 'headers'>,
  parameters: ReadonlyMap<string, string>,
): FieldSelection {
  const fields = new Map<string, readonly string[]>();
  for (const [name, value] of parameters) {
    const owner = /^fields\[(.+)\]$/.exec(name)?.[1];
    if (owner !== undefined) fields.set(owner, splitNames(value));
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

/** The JSON text of a list of columns. */
function readColumns(text: string | undefined): readonly PlainColumn[] {
  if (text === undefined || text.trim() === '') return [];
  const form = 'expected the JSON of a list, such as [{"name":"orders_count","count":"orders"}].';
  let columns: unknown;
  try {
    columns = parseJson(Buffer.from(text), MAX_JSON_DEPTH);
  } catch {
    return refuse('columns', form);
  }
  if (!Array.isArray(columns) || !columns.every((each) => typeof each === 'object' && each !== null))
    return refuse('columns', form);
  return columns as readonly PlainColumn[];
}

function readPage(parameters: ReadonlyMap<string, string>, name: string): number | undefined {
  const text = parameters.get(name);
  if (text === undefined || text === '') return undefined;
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1) return refuse(name, 'expected a whole number, 1 or more.');
  return Number(text);
}

function readSort(text: string | undefined): SortClause[] {
  if (text === undefined || text.trim() === '') return [];
  return text.split(',').map((clause) => {
    const [, minus, name = ''] = /^\s*(-?)(.*?)\s*$/s.exec(clause)!;
    if (name === '') refuse('sort', "expected fields separated by commas, such as '-placed_at,customer.name'.");
    return { text: name, ascending: minus === '' };
  });
}
