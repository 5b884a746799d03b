// Query strings and bodies of requests to the agent's HTTP API.
import { packId, type RecordId } from '../agent/encode/record-id.ts';
import {
  isBranch,
  isComparison,
  isQuantified,
  type PlainComparison,
  type PlainFilter,
  type PlainSort,
  type Quantifier,
  readQuantified,
} from '../core/filter.ts';

export interface QueryOptions {
  /** Paths such as `name` or `customer:city`; all columns when absent. */
  readonly fields?: readonly string[] | undefined;
  readonly filters?: PlainFilter | undefined;
  readonly sort?: PlainSort | readonly PlainSort[] | undefined;
  /** `size`: default 15, at most 1,000. `number`: from 1. */
  readonly page?: { readonly size?: number; readonly number?: number } | undefined;
  readonly search?: string | undefined;
  /** Also searches the records of to-one relations. */
  readonly searchExtended?: boolean | undefined;
  readonly segment?: string | undefined;
}

interface RequestQuery {
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
}

/** `timezone`: an IANA name. */
export function writeQuery(collection: string, options: QueryOptions, timezone: string): RequestQuery {
  const { fields, filters, sort, page, search, searchExtended, segment } = options;
  const query = new URLSearchParams({ timezone });
  const sorts = sort === undefined ? [] : 'field' in sort ? [sort] : sort;
  const deep = fields?.some((path) => path.split(':').length > 2) === true;
  if (fields && !deep)
    for (const [name, own] of selections(collection, fields)) query.set(`fields[${name}]`, own.join());
  if (filters) query.set('filters', JSON.stringify(wireFilter(filters)));
  if (sorts.length > 0) query.set('sort', sorts.map(wireSort).join());
  if (page?.size !== undefined) query.set('page[size]', `${page.size}`);
  if (page?.number !== undefined) query.set('page[number]', `${page.number}`);
  if (search !== undefined) query.set('search', search);
  if (searchExtended !== undefined) query.set('searchExtended', searchExtended ? '1' : '0');
  if (segment !== undefined) query.set('segment', segment);
  // `fields[relation]` cannot express a path through two relations.
  return { query, headers: deep ? { 'service-projection': fields.join() } : {} };
}

/** `fields[orders]=id,customer` and `fields[customer]=name`. */
function selections(collection: string, fields: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const all = new Map<string, string[]>([[collection, []]]);
  const add = (key: string, name: string) => {
    const own = all.get(key) ?? [];
    if (!own.includes(name)) own.push(name);
    all.set(key, own);
  };
  for (const path of fields) {
    const [first = '', ...rest] = path.split(':');
    add(collection, first);
    if (rest.length > 0) add(first, rest.join(':'));
  }
  return all;
}

interface WireLeaf {
  readonly field: string;
  readonly operator: string;
  readonly value: unknown;
}
type WireFilter =
  | WireLeaf
  | (Omit<PlainComparison, 'operator'> & { readonly operator: string })
  | { readonly aggregator: 'and' | 'or' | 'not'; readonly conditions: readonly WireFilter[] }
  | (Partial<Record<Quantifier, string>> & { readonly where?: WireFilter });

function wireFilter(filter: PlainFilter): WireFilter {
  if (isBranch(filter)) {
    const aggregator = ({ And: 'and', Or: 'or', Not: 'not' } as const)[filter.aggregator];
    return { aggregator, conditions: filter.conditions.map(wireFilter) };
  }
  if (isQuantified(filter)) {
    const { quantifier, path, where } = readQuantified(filter);
    return { [quantifier]: path, ...(where && { where: wireFilter(where) }) };
  }
  if (isComparison(filter)) return { ...filter, operator: wireOperator(filter.operator) };
  const { field, operator, value } = filter;
  // Frontends send null for operators without a value.
  return { field, operator: wireOperator(operator), value: value instanceof RegExp ? `${value}` : (value ?? null) };
}

/** `GreaterThan` becomes `greater_than`; `ILike` becomes `i_like`. */
export function wireOperator(operator: string): string {
  return operator.replace(/(?<!^)([A-Z])/g, '_$1').toLowerCase();
}

function wireSort({ field, ascending = true }: PlainSort): string {
  return `${ascending ? '' : '-'}${field.replaceAll(':', '.')}`;
}

/** Encodes a record id: the value of a single-column key, or the values of the key columns in their order. */
export function packRecordId(id: RecordId): string {
  return packId(Array.isArray(id) ? id : [id]);
}

/** The body that selects records by id. */
export function selectionBody(ids: readonly RecordId[]): unknown {
  const attributes = { ids: ids.map(packRecordId), all_records: false, all_records_ids_excluded: [] };
  return { data: { type: 'action-requests', attributes } };
}

/** A path below the API. Each part is escaped to prevent names and ids from changing the route. */
export function pathOf(...parts: readonly string[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('');
}
