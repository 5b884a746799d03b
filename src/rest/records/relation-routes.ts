// Endpoints that link and unlink records. The caller must see the source record and have the right to write the records
// at the other end. Linking also counts as an edit of the source record, so policies on both ends apply. Without
// `delete=true`, only the pairs of a many-to-many relation are deleted.

import type { RelationDescription } from '../../agent/requests.ts';
import { fail } from '../../core/errors.ts';
import { isCalled } from '../../core/suggestions.ts';
import { checkPolicy, unapproved } from '../approval.ts';
import {
  type Answer,
  answerDone,
  type DataCall,
  type DataRequest,
  dataRoute,
  optionsOf,
  type Route,
} from '../route.ts';
import { describe, describeRelated } from '../visible-schema.ts';
import { isObject, readAttributes, readParameter, refuseArgument } from './body.ts';
import { type Place, readPlace, relationPath, subjectOf } from './related.ts';
import { checkType, type Identifier, readLinkage } from './resource.ts';
import { DELETE_LIMIT } from './routes.ts';
import { readSelection, type Selection, selectIds } from './selection.ts';

/** Throws UNKNOWN_COLLECTION or UNKNOWN_RELATION. */
function findRelation(place: Place, call: DataCall): RelationDescription {
  const home = describe(call, place.collection);
  describeRelated(call, home, place.relation);
  return home.relations.find((each) => isCalled(each, place.relation))!;
}

function findToMany(place: Place, call: DataCall): RelationDescription {
  const found = findRelation(place, call);
  if (found.kind === 'many') return found;
  return refuseArgument('relation', `'${found.name}' leads to one record: PUT {"data": {"id": "..."}}, or null.`);
}

function readIdentifiers(data: unknown): readonly Identifier[] {
  const linkage = readLinkage(data ?? null, 'data');
  if (linkage === null) return refuseArgument('data', 'expected a list such as [{"type": "tags", "id": "1"}].');
  return Array.isArray(linkage) ? linkage : [linkage as Identifier];
}

function checkTypes(data: readonly Identifier[], { to }: RelationDescription): void {
  for (const [index, one] of data.entries()) checkType(one, to, `data[${index}].type`);
}

/** Returns a relation to many with stored records. Throws READ_ONLY if code computes them. */
function findWritable(place: Place, call: DataCall): RelationDescription {
  const relation = findToMany(place, call);
  if (relation.fields) fail('READ_ONLY', { collection: place.collection, why: `'${relation.name}' is given by code.` });
  return relation;
}

interface LinkCall extends Place {
  readonly data: readonly Identifier[];
}

async function associate({ data, ...place }: LinkCall, call: DataCall): Promise<Answer> {
  checkTypes(data, findWritable(place, call));
  checkPolicy(call.access, 'edit', place.collection);
  const ids = data.map(({ id }) => id);
  return answerDone(await call.engine.associate(unapproved(call.access), { ...place, ids }, optionsOf(call)));
}

interface UnlinkCall extends Place {
  /** Resource identifiers, or a selection. */
  readonly data: readonly Identifier[];
  readonly selection: Selection;
  readonly deletes: boolean;
}

function parseUnlink(request: DataRequest): UnlinkCall {
  const { body, query } = request;
  const word = readParameter(query, 'delete') ?? (query.has('delete') ? '' : 'false');
  if (word !== 'true' && word !== 'false')
    return refuseArgument('delete', 'expected true, which deletes the records, or false, which keeps them.');
  const isList = isObject(body) && Array.isArray(body.data);
  const data = isList ? readIdentifiers(body.data) : [];
  const selection = isList ? { ids: data.map(({ id }) => id) } : readSelection(readAttributes(body));
  return { ...readPlace(request), data, selection, deletes: word === 'true' };
}

async function dissociate({ data, selection, deletes, ...place }: UnlinkCall, call: DataCall): Promise<Answer> {
  const relation = findWritable(place, call);
  const { engine } = call;
  const { to } = relation;
  checkTypes(data, relation);
  const access = unapproved(call.access);
  if (!deletes) checkPolicy(call.access, 'edit', place.collection);
  // Checks the right before it looks up any record.
  else if (!access.can('delete', to)) fail('FORBIDDEN', { verb: 'delete from', collection: to });
  // `dissociate` looks up explicit ids itself.
  const named = !selection.all && !deletes;
  const ids = named
    ? selection.ids
    : await selectIds({ ...selection, parent: place }, { collection: to, most: DELETE_LIMIT }, call);
  return answerDone(
    deletes
      ? await engine.delete(access, { collection: to, ids }, optionsOf(call))
      : await engine.dissociate(access, { ...place, ids }, optionsOf(call)),
  );
}

interface PointCall extends Place {
  readonly to: Identifier | null;
}

function parsePoint(request: DataRequest): PointCall {
  const { body } = request;
  const data = isObject(body) ? body.data : undefined;
  const linkage = data === undefined ? [] : readLinkage(data, 'data');
  if (Array.isArray(linkage))
    return refuseArgument('data', 'expected one record such as {"type": "customers", "id": "1"}, or null.');
  return { ...readPlace(request), to: linkage as Identifier | null };
}

async function point({ to, ...place }: PointCall, call: DataCall): Promise<Answer> {
  const relation = findRelation(place, call);
  if (to) checkType(to, relation.to, 'data.type');
  if (relation.kind === 'many')
    return refuseArgument(
      'relation',
      `'${relation.name}' leads to many records: POST those to link, DELETE those not to.`,
    );
  checkPolicy(call.access, 'edit', place.collection);
  const request = { ...place, to: to?.id ?? null };
  return answerDone(await call.engine.point(unapproved(call.access), request, optionsOf(call)));
}

export const relationRoutes: readonly Route[] = [
  dataRoute({
    ...{ method: 'POST', path: relationPath, action: 'associate', writes: true, subject: subjectOf },
    parse(request: DataRequest): LinkCall {
      const { body } = request;
      return { ...readPlace(request), data: readIdentifiers(isObject(body) ? body.data : undefined) };
    },
    run: associate,
  }),
  dataRoute({
    ...{ method: 'DELETE', path: relationPath, action: 'dissociate', writes: true, subject: subjectOf },
    parse: parseUnlink,
    run: dissociate,
  }),
  dataRoute({
    ...{ method: 'PUT', path: relationPath, action: 'update', writes: true, subject: subjectOf },
    parse: parsePoint,
    run: point,
  }),
];
