// Shared by the lists of collections and of relations: the engine request and the response.
import type {
  CallOptions,
  CollectionDescription,
  CountRequest,
  ListAnswer,
  ListRequest,
} from '../../agent/requests.ts';
import { fail, isAppError } from '../../core/errors.ts';
import { castValues } from '../filters.ts';
import type { Asked, Listing } from '../parameters.ts';
import type { Answer, DataCall } from '../route.ts';
import { typeAt } from '../visible-schema.ts';
import { writerOf } from './document.ts';
import { type Projection, project, sortOf } from './projection.ts';

type Conditions = Omit<CountRequest, 'collection'>;
export type ListConditions = Omit<ListRequest, 'collection'>;

/** Reads one page from the engine. */
export type ListDoor = (request: ListConditions, options: CallOptions) => Promise<ListAnswer>;
export type CountDoor = (request: Conditions, options: CallOptions) => Promise<number>;

/** Throws INVALID_ARGUMENT if the page size exceeds the limit. */
export async function answerList(
  description: CollectionDescription,
  listing: Listing,
  call: DataCall,
  list: ListDoor,
): Promise<Answer> {
  const { pageSize, pageSizeLimit } = call.config;
  const limit = listing.size ?? pageSize;
  if (limit > pageSizeLimit)
    fail('INVALID_ARGUMENT', { argument: 'page[size]', problem: `at most ${pageSizeLimit}; go on with page[number].` });
  const projection = project(call, description, listing.shown);
  const request = {
    ...conditionsOf(description, listing, call, projection),
    limit,
    skip: (listing.number - 1) * limit,
  };
  const { rows } = await list(request, { signal: call.signal });
  return { status: 200, text: writerOf(projection, call.prefix).list(rows, listing.asked.search) };
}

/** Returns all conditions of a list except the page. */
export function conditionsOf(
  description: CollectionDescription,
  { asked, sort }: Pick<Listing, 'asked' | 'sort'>,
  call: DataCall,
  { fields }: Pick<Projection, 'fields'>,
): Omit<ListConditions, 'limit'> {
  const order = sortOf(description, sort);
  return { ...askedOf(description, asked, call), fields, ...(order.length > 0 && { sort: order }) };
}

function askedOf(description: CollectionDescription, { filter, ...asked }: Asked, call: DataCall): Conditions {
  if (!filter) return asked;
  return { ...asked, filter: castValues(filter, (field) => typeAt(call, description, field)) };
}

/** If counting is disabled, returns `count: deactivated` in `meta`, as clients expect. */
export async function answerCount(
  description: CollectionDescription,
  { asked }: Pick<Listing, 'asked'>,
  call: DataCall,
  count: CountDoor,
): Promise<Answer> {
  try {
    return { status: 200, body: { count: await count(askedOf(description, asked, call), { signal: call.signal }) } };
  } catch (error) {
    if (isAppError(error, 'NOT_COUNTABLE')) return { status: 200, body: { meta: { count: 'deactivated' } } };
    throw error;
  }
}
