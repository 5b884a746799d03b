// What a relation leads to from one record. To many: the records and their number, as of a list. To one: the record itself,
// or null. That the record it starts from may be seen is the engine's to ask, on every one of these routes.
import type { CollectionDescription } from '../agent/engine.ts';
import { fail } from '../core/errors.ts';
import { writerOf } from './document.ts';
import { answerCount, answerList } from './listing.ts';
import { type Listing, readListing } from './parameters.ts';
import { project } from './projection.ts';
import { type Answer, type DataCall, type DataRequest, dataRoute, type Route } from './route.ts';
import { describe, describeRelated, type Related } from './seen.ts';

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

/** UNKNOWN_COLLECTION, UNKNOWN_RELATION. */
export function findRelated(call: DataCall, { collection, relation }: Place): Related {
  return describeRelated(call, describe(call, collection), relation);
}

/** INVALID_ARGUMENT for a relation to one. */
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

/** The record at the end of a relation to one; what says which records of many are meant has no meaning here. */
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
  // A key is never null in a record.
  const isThere = row !== undefined && row[root.key[0]!] !== null;
  return { status: 200, text: writerOf(projection, prefix).one(isThere ? row : undefined) };
}
