// Endpoints that read the related records of one record. A relation to many returns a list or a count. A relation to
// one returns the record or null. The engine checks on each route that the caller can see the source record.
import type { CollectionDescription } from '../../agent/requests.ts';
import { fail } from '../../core/errors.ts';
import { type Listing, readListing } from '../parameters.ts';
import { type Answer, type AnyDataRoute, type DataCall, type DataRequest, dataRoute } from '../route.ts';
import { describe, describeRelated, type Related } from '../visible-schema.ts';
import { writerOf } from './document.ts';
import { runCount, runList } from './listing.ts';
import { project } from './projection.ts';

/** A record and one of its relations. */
export interface RelationReference {
  readonly collection: string;
  readonly id: string;
  readonly relation: string;
}

export const relationPath = '/:collection/:id/relationships/:relation';

export function parseRelationReference({ params }: Pick<DataRequest, 'params'>): RelationReference {
  return { collection: params.collection!, id: params.id!, relation: params.relation! };
}

export const subjectOf = ({ collection, id }: RelationReference) => ({ collection, recordIds: [id] });

/** Throws UNKNOWN_COLLECTION or UNKNOWN_RELATION. */
export function findRelated(call: DataCall, { collection, relation }: RelationReference): Related {
  return describeRelated(call, describe(call, collection), relation);
}

/** Throws INVALID_ARGUMENT for a relation to one. */
export function requireToMany({ kind, description }: Related, { relation }: RelationReference): CollectionDescription {
  if (kind === 'many') return description;
  return fail('INVALID_ARGUMENT', {
    argument: 'relation',
    problem: `'${relation}' leads to one record: get it at /relationships/${encodeURIComponent(relation)}.`,
  });
}

export const relatedRoutes: readonly AnyDataRoute[] = [
  dataRoute({
    method: 'GET',
    path: relationPath,
    action: 'listRelated',
    writes: false,
    parse: (request) => ({ ...parseRelationReference(request), listing: readListing(request) }),
    subject: (args) => subjectOf(args),
    run({ listing, ...reference }, call) {
      const related = findRelated(call, reference);
      if (related.kind === 'one') return readToOne(reference, listing, related.description, call);
      const { access, engine } = call;
      return runList(related.description, listing, call, (request, options) =>
        engine.listRelated(access, { ...reference, ...request }, options),
      );
    },
  }),
  dataRoute({
    method: 'GET',
    path: `${relationPath}/count`,
    action: 'countRelated',
    writes: false,
    parse: (request) => ({ ...parseRelationReference(request), listing: readListing(request) }),
    subject: (args) => subjectOf(args),
    run({ listing, ...reference }, call) {
      const { access, engine } = call;
      return runCount(requireToMany(findRelated(call, reference), reference), listing, call, (request, options) =>
        engine.countRelated(access, { ...reference, ...request }, options),
      );
    },
  }),
];

/** Returns the record of a relation to one. List parameters such as filters are ignored. */
async function readToOne(
  { collection, id, relation }: RelationReference,
  { selection, conditions }: Listing,
  description: CollectionDescription,
  { access, engine, signal, prefix }: DataCall,
): Promise<Answer> {
  const projection = project({ access, engine }, description, selection);
  const { root } = projection;
  if (root.key.length === 0)
    fail('INVALID_ARGUMENT', {
      argument: 'relation',
      problem: `'${relation}' leads to '${description.name}', and you may not see its key.`,
    });
  const fields = projection.fields.map((field) => `${relation}:${field}`);
  const zone = conditions.timezone === undefined ? {} : { timezone: conditions.timezone };
  const { rows } = await engine.get(access, { collection, id, fields, ...zone }, { signal });
  const [row] = rows;
  // The key of a record is never null.
  const exists = row !== undefined && row[root.key[0]!] !== null;
  return { status: 200, text: writerOf(projection, prefix).one(exists ? row : undefined) };
}
