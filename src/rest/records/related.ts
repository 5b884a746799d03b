// Endpoints that read the related records of one record. A relation to many returns a list or a count. A relation to
// one returns the record or null. The engine checks on each route that the caller can see the source record.
import type { CollectionDescription } from '../../agent/requests.ts';
import { fail } from '../../core/errors.ts';
import { type Listing, readListing } from '../parameters.ts';
import { type Answer, type DataCall, type DataRequest, dataRoute, type Route } from '../route.ts';
import { describe, describeRelated, type Related } from '../visible-schema.ts';
import { writerOf } from './document.ts';
import { answerCount, answerList } from './listing.ts';
import { project } from './projection.ts';

/** A record and one of its relations. */
export interface Place {
  readonly collection: string;
  readonly id: string;
  readonly relation: string;
}

export const relationPath = '/:collection/:id/relationships/:relation';

export function readPlace({ params }: Pick<DataRequest, 'params'>): Place {
  return { collection: params.collection!, id: params.id!, relation: params.relation! };
}

export const subjectOf = ({ collection, id }: Place) => ({ collection, recordIds: [id] });

/** Throws UNKNOWN_COLLECTION or UNKNOWN_RELATION. */
export function findRelated(call: DataCall, { collection, relation }: Place): Related {
  return describeRelated(call, describe(call, collection), relation);
}

/** Throws INVALID_ARGUMENT for a relation to one. */
export function needMany({ kind, description }: Related, { relation }: Place): CollectionDescription {
  if (kind === 'many') return description;
  return fail('INVALID_ARGUMENT', {
    argument: 'relation',
    problem: `'${relation}' leads to one record: get it at /relationships/${encodeURIComponent(relation)}.`,
  });
}

export const relatedRoutes: readonly Route[] = [
  dataRoute({
    method: 'GET',
    path: relationPath,
    action: 'listRelated',
    writes: false,
    parse: (request) => ({ ...readPlace(request), listing: readListing(request) }),
    subject: (args) => subjectOf(args),
    run({ listing, ...place }, call) {
      const related = findRelated(call, place);
      if (related.kind === 'one') return answerOne(place, listing, related.description, call);
      const { access, engine } = call;
      return answerList(related.description, listing, call, (request, options) =>
        engine.listRelated(access, { ...place, ...request }, options),
      );
    },
  }),
  dataRoute({
    method: 'GET',
    path: `${relationPath}/count`,
    action: 'countRelated',
    writes: false,
    parse: (request) => ({ ...readPlace(request), listing: readListing(request) }),
    subject: (args) => subjectOf(args),
    run({ listing, ...place }, call) {
      const { access, engine } = call;
      return answerCount(needMany(findRelated(call, place), place), listing, call, (request, options) =>
        engine.countRelated(access, { ...place, ...request }, options),
      );
    },
  }),
];

/** Returns the record of a relation to one. List parameters such as filters are ignored. */
async function answerOne(
  { collection, id, relation }: Place,
  { shown, asked }: Listing,
  description: CollectionDescription,
  { access, engine, signal, prefix }: DataCall,
): Promise<Answer> {
  const projection = project({ access, engine }, description, shown);
  const { root } = projection;
  if (root.key.length === 0)
    fail('INVALID_ARGUMENT', {
      argument: 'relation',
      problem: `'${relation}' leads to '${description.name}', whose key you do not see.`,
    });
  const fields = projection.fields.map((field) => `${relation}:${field}`);
  const zone = asked.timezone === undefined ? {} : { timezone: asked.timezone };
  const { rows } = await engine.get(access, { collection, id, fields, ...zone }, { signal });
  const [row] = rows;
  // The key of a record is never null.
  const isThere = row !== undefined && row[root.key[0]!] !== null;
  return { status: 200, text: writerOf(projection, prefix).one(isThere ? row : undefined) };
}
