// Endpoints that link and unlink records. The caller must see the source record and have the right to write the records
// at the other end. Linking also counts as an edit of the source record, so policies on both ends apply. Without
// `delete=true`, only the pairs of a many-to-many relation are deleted.

import type { RelationDescription } from '../../agent/requests.ts';
import { fail } from '../../core/errors.ts';
import { hasName } from '../../core/suggestions.ts';
import { checkPolicy, withApprovalCheck } from '../approval.ts';
import {
  type Answer,
  type AnyDataRoute,
  type DataCall,
  type DataRequest,
  dataRoute,
  respondDone,
  toCallOptions,
} from '../route.ts';
import { describe, describeRelated } from '../visible-schema.ts';
import { failArgument, isObject, readAttributes, readParameter } from './body.ts';
import { parseRelationReference, type RelationReference, relationPath, subjectOf } from './related.ts';
import { checkType, type Identifier, parseLinkage } from './resource.ts';
import { MAX_DELETED_RECORDS } from './routes.ts';
import { parseSelection, type Selection, selectIds } from './selection.ts';

/** Throws UNKNOWN_COLLECTION or UNKNOWN_RELATION. */
function findRelation(reference: RelationReference, call: DataCall): RelationDescription {
  const source = describe(call, reference.collection);
  describeRelated(call, source, reference.relation);
  return source.relations.find((each) => hasName(each, reference.relation))!;
}

function findToMany(reference: RelationReference, call: DataCall): RelationDescription {
  const found = findRelation(reference, call);
  if (found.kind === 'many') return found;
  return failArgument('relation', `'${found.name}' leads to one record: PUT {"data": {"id": "..."}}, or null.`);
}

function parseIdentifiers(data: unknown): readonly Identifier[] {
  const linkage = parseLinkage(data ?? null, 'data');
  if (linkage === null) return failArgument('data', 'expected a list such as [{"type": "tags", "id": "1"}].');
  return Array.isArray(linkage) ? linkage : [linkage as Identifier];
}

function checkTypes(data: readonly Identifier[], { to }: RelationDescription): void {
  for (const [index, one] of data.entries()) checkType(one, to, `data[${index}].type`);
}

/** Returns a relation to many with stored records. Throws READ_ONLY if code computes them. */
function findWritable(reference: RelationReference, call: DataCall): RelationDescription {
  const relation = findToMany(reference, call);
  if (relation.fields)
    fail('READ_ONLY', { collection: reference.collection, why: `the records of '${relation.name}' come from code.` });
  return relation;
}

interface LinkCall extends RelationReference {
  readonly data: readonly Identifier[];
}

async function associate({ data, ...reference }: LinkCall, call: DataCall): Promise<Answer> {
  checkTypes(data, findWritable(reference, call));
  checkPolicy(call, 'edit', reference.collection);
  const ids = data.map(({ id }) => id);
  return respondDone(await call.engine.associate(withApprovalCheck(call), { ...reference, ids }, toCallOptions(call)));
}

interface UnlinkCall extends RelationReference {
  /** Resource identifiers, or a selection. */
  readonly data: readonly Identifier[];
  readonly selection: Selection;
  readonly deletesRecords: boolean;
}

function parseUnlink(request: DataRequest): UnlinkCall {
  const { body, query } = request;
  const word = readParameter(query, 'delete') ?? (query.has('delete') ? '' : 'false');
  if (word !== 'true' && word !== 'false')
    return failArgument('delete', 'expected true to delete the records, or false to keep them.');
  const isList = isObject(body) && Array.isArray(body.data);
  const data = isList ? parseIdentifiers(body.data) : [];
  const selection = isList ? { ids: data.map(({ id }) => id) } : parseSelection(readAttributes(body));
  return { ...parseRelationReference(request), data, selection, deletesRecords: word === 'true' };
}

async function dissociate(
  { data, selection, deletesRecords, ...reference }: UnlinkCall,
  call: DataCall,
): Promise<Answer> {
  const relation = findWritable(reference, call);
  const { engine } = call;
  const { to } = relation;
  checkTypes(data, relation);
  const access = withApprovalCheck(call);
  if (!deletesRecords) checkPolicy(call, 'edit', reference.collection);
  // Checks the right before it looks up any record.
  else if (!access.can('delete', to)) fail('FORBIDDEN', { verb: 'delete from', collection: to });
  // `dissociate` looks up explicit ids itself.
  const hasExplicitIds = !selection.all && !deletesRecords;
  const ids = hasExplicitIds
    ? selection.ids
    : await selectIds({ ...selection, parent: reference }, { collection: to, maxRecords: MAX_DELETED_RECORDS }, call);
  return respondDone(
    deletesRecords
      ? await engine.delete(access, { collection: to, ids }, toCallOptions(call))
      : await engine.dissociate(access, { ...reference, ids }, toCallOptions(call)),
  );
}

interface SetRelationCall extends RelationReference {
  readonly to: Identifier | null;
}

function parseSetRelation(request: DataRequest): SetRelationCall {
  const { body } = request;
  const data = isObject(body) ? body.data : undefined;
  const linkage = data === undefined ? [] : parseLinkage(data, 'data');
  if (Array.isArray(linkage))
    return failArgument('data', 'expected one record such as {"type": "customers", "id": "1"}, or null.');
  return { ...parseRelationReference(request), to: linkage as Identifier | null };
}

async function setRelation({ to, ...reference }: SetRelationCall, call: DataCall): Promise<Answer> {
  const relation = findRelation(reference, call);
  if (to) checkType(to, relation.to, 'data.type');
  if (relation.kind === 'many')
    return failArgument(
      'relation',
      `'${relation.name}' leads to many records: POST records to link them, DELETE records to unlink them.`,
    );
  checkPolicy(call, 'edit', reference.collection);
  const request = { ...reference, to: to?.id ?? null };
  return respondDone(await call.engine.setRelation(withApprovalCheck(call), request, toCallOptions(call)));
}

export const relationRoutes: readonly AnyDataRoute[] = [
  dataRoute({
    ...{ method: 'POST', path: relationPath, action: 'associate', writes: true, subject: subjectOf },
    parse(request: DataRequest): LinkCall {
      const { body } = request;
      return { ...parseRelationReference(request), data: parseIdentifiers(isObject(body) ? body.data : undefined) };
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
    parse: parseSetRelation,
    run: setRelation,
  }),
];
