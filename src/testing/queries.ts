// What is asked of the agent's HTTP API, as the query strings and bodies that front ends send.
import { packId, type RecordId } from '../agent/record-id.ts';
import { isBranch, type PlainFilter, type PlainSort } from '../core/filter.ts';

export interface QueryOptions {
  /** Paths such as `name` or `customer:city`; all columns when absent. */
  readonly fields?: readonly string[] | undefined;
  readonly filters?: PlainFilter | undefined;
  readonly sort?: PlainSort | readonly PlainSort[] | undefined;
  /** `size`: default 15, at most 1,000. `number`: from 1. */
  readonly page?: { readonly size?: number; readonly number?: number } | undefined;
  readonly search?: string | undefined;
  /** Searches in the records of to-one relations as well. */
  readonly searchExtended?: boolean | undefined;
  readonly segment?: string | undefined;
}

export interface SentQuery {
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
}

/** `timezone`: an IANA name. */
export function writeQuery(collection: string, options: QueryOptions, timezone: string): SentQuery {
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
  // `fields[relation]` has no place for what lies behind a second relation.
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
type WireFilter = WireLeaf | { readonly aggregator: 'and' | 'or'; readonly conditions: readonly WireFilter[] };

export function wireFilter(filter: PlainFilter): WireFilter {
  if (isBranch(filter)) {
    const aggregator = filter.aggregator === 'Or' ? 'or' : 'and';
    return { aggregator, conditions: filter.conditions.map(wireFilter) };
  }
  const { field, operator, value } = filter;
  // Absent where the operator takes none: front ends say null.
  return { field, operator: wireOperator(operator), value: value instanceof RegExp ? `${value}` : (value ?? null) };
}

/** `GreaterThan` is `greater_than` on the wire; `ILike` is `i_like`. */
export function wireOperator(operator: string): string {
  return operator.replace(/(?<!^)([A-Z])/g, '_$1').toLowerCase();
}

function wireSort({ field, ascending = true }: PlainSort): string {
  return `${ascending ? '' : '-'}${field.replaceAll(':', '.')}`;
}

/** As a caller names a record: the value of its key, or the values of its columns in their order. */
export function packRecordId(id: RecordId): string {
  return packId(Array.isArray(id) ? id : [id]);
}

/** Records chosen one by one. */
export function selectionBody(ids: readonly RecordId[]): unknown {
  const attributes = { ids: ids.map(packRecordId), all_records: false, all_records_ids_excluded: [] };
  return { data: { type: 'action-requests', attributes } };
}

/** A path below the API: each part escaped, so that no name or id can lead to another route. */
export function pathOf(...parts: readonly string[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('');
}
