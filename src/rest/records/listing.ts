// Shared by the lists of collections and of relations: the engine request and the response.
import type {
  CallOptions,
  CollectionDescription,
  CountRequest,
  ListAnswer,
  ListRequest,
} from '../../agent/requests.ts';
import { fail, isAppError } from '../../core/errors.ts';
import type { PlainColumn } from '../../core/filter/columns.ts';
import { castValues } from '../filters.ts';
import type { Listing, RecordConditions } from '../parameters.ts';
import type { Answer, DataCall } from '../route.ts';
import { typeAt } from '../visible-schema.ts';
import { writerOf } from './document.ts';
import { type Projection, project, toSort } from './projection.ts';

type CountConditions = Omit<CountRequest, 'collection'>;
export type ListConditions = Omit<ListRequest, 'collection'>;

/** Reads one page from the engine. */
export type ListRecords = (request: ListConditions, options: CallOptions) => Promise<ListAnswer>;
type CountRecords = (request: CountConditions, options: CallOptions) => Promise<number>;

/** Throws INVALID_ARGUMENT if the page size exceeds the limit. */
export async function runList(
  description: CollectionDescription,
  listing: Listing,
  call: DataCall,
  list: ListRecords,
): Promise<Answer> {
  const { pageSize, pageSizeLimit } = call.config;
  const limit = listing.size ?? pageSize;
  if (limit > pageSizeLimit)
    fail('INVALID_ARGUMENT', {
      argument: 'page[size]',
      problem: `at most ${pageSizeLimit}; continue with page[number].`,
    });
  const projection = project(call, description, listing.selection);
  const { columns } = listing;
  const conditions = toListConditions(description, listing, call, projection);
  const request: ListConditions = {
    ...conditions,
    ...(columns.length > 0 && { fields: [...projection.fields, ...columns] }),
    limit,
    skip: (listing.number - 1) * limit,
  };
  const { rows } = await list(request, { signal: call.signal });
  const shown = columns.length > 0 ? withColumns(projection, columns) : projection;
  return { status: 200, text: writerOf(shown, call.prefix).list(rows, listing.conditions.search) };
}

/** The computed columns as attributes of each record. Their values follow those of the fields. */
function withColumns(projection: Projection, columns: readonly PlainColumn[]): Projection {
  const { root, fields } = projection;
  const names = [...root.names, ...columns.map(({ name }) => name)];
  const slots = [...root.slots, ...columns.map((_, at) => fields.length + at)];
  return { ...projection, root: { ...root, names, slots } };
}

/** Returns all conditions of a list except the page. */
export function toListConditions(
  description: CollectionDescription,
  { conditions, sort }: Pick<Listing, 'conditions' | 'sort'>,
  call: DataCall,
  { fields }: Pick<Projection, 'fields'>,
): Omit<ListConditions, 'limit'> {
  const order = toSort(description, sort);
  return { ...toEngineConditions(description, conditions, call), fields, ...(order.length > 0 && { sort: order }) };
}

function toEngineConditions(
  description: CollectionDescription,
  { filter, ...conditions }: RecordConditions,
  call: DataCall,
): CountConditions {
  if (!filter) return conditions;
  return { ...conditions, filter: castValues(filter, (field) => typeAt(call, description, field)) };
}

/** If counting is disabled, returns `count: deactivated` in `meta`, as clients expect. */
export async function runCount(
  description: CollectionDescription,
  { conditions, columns }: Pick<Listing, 'conditions' | 'columns'>,
  call: DataCall,
  count: CountRecords,
): Promise<Answer> {
  const ofRecords = toEngineConditions(description, conditions, call);
  const request = columns.length > 0 ? { ...ofRecords, fields: columns } : ofRecords;
  try {
    return { status: 200, body: { count: await count(request, { signal: call.signal }) } };
  } catch (error) {
    if (isAppError(error, 'NOT_COUNTABLE')) return { status: 200, body: { meta: { count: 'deactivated' } } };
    throw error;
  }
}
