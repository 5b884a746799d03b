// Reads the records of a to-many relation of one record: the reading operations on the foreign collection, within that
// relation. The visibility of the parent record is checked only after an empty result, so most reads need one
// statement.
import type { Access } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import { hasName, suggestNames } from '../../core/suggestions.ts';
import { type RecordId, unpackId } from '../encode/record-id.ts';
import { shapeRecords } from '../encode/records.ts';
import { listExternal } from '../execute/external.ts';
import { executeRead } from '../execute/read.ts';
import { and } from '../lower/simplify.ts';
import type { Column, Relation } from '../model/types.ts';
import { createPlanner, planRead } from '../plan/read.ts';
import { type Origin, planRelatedFilter } from '../plan/related.ts';
import { resolveDependencies } from '../plan/steps.ts';
import type { Query } from '../plan/types.ts';
import { keysFilter, planTarget } from '../plan/write.ts';
import type {
  AggregateAnswer,
  AggregateRelatedRequest,
  CallOptions,
  CountRelatedRequest,
  GetRequest,
  ListAnswer,
  ListRelatedRequest,
  ParentRecord,
} from '../requests.ts';
import { pathTo } from '../resolve/paths.ts';
import { type CollectionView, viewOf } from '../resolve/visibility.ts';
import { createMemorySource } from '../sources/memory/source.ts';
import type { Source } from '../sources/source.ts';
import { packKey } from '../write/transaction.ts';
import { aggregateFrom } from './aggregate.ts';
import {
  type Call,
  callOf,
  getCollection,
  momentOf,
  type Operations,
  type Restriction,
  readOptions,
  rowsLimitOf,
  scopesOf,
  unrestricted,
} from './call.ts';
import { countFrom, listFrom } from './list.ts';

export async function listRelated(
  ops: Operations,
  access: Access,
  request: ListRelatedRequest,
  options: CallOptions = {},
): Promise<ListAnswer> {
  const { call, view, within, origin } = await resolveRelated(ops, access, request, options);
  const answer = await listFrom(call, view, request, within);
  if (answer.rows.length === 0) await requireOrigin(call, origin);
  return answer;
}

/** Throws NOT_COUNTABLE. */
export async function countRelated(
  ops: Operations,
  access: Access,
  request: CountRelatedRequest,
  options: CallOptions = {},
): Promise<number> {
  const { call, view, within, origin } = await resolveRelated(ops, access, request, options);
  const { name, rules } = view.collection;
  if (!rules.countable) fail('NOT_COUNTABLE', { collection: name });
  const count = await countFrom(call, view, request, within);
  if (count === 0) await requireOrigin(call, origin);
  return count;
}

export async function aggregateRelated(
  ops: Operations,
  access: Access,
  request: AggregateRelatedRequest,
  options: CallOptions = {},
): Promise<AggregateAnswer> {
  const { call, view, within, origin } = await resolveRelated(ops, access, request, options);
  const answer = await aggregateFrom(call, view, request, within);
  const isEmpty = request.groups?.length ? answer.rows.length === 0 : !answer.rows[0]?.[0];
  if (isEmpty) await requireOrigin(call, origin);
  return answer;
}

interface RelatedQuery {
  readonly call: Call;
  /** The view of the foreign collection. */
  readonly view: CollectionView;
  readonly within: Restriction;
  readonly origin: Origin;
}

/** Throws UNKNOWN_COLLECTION, UNKNOWN_FIELD and INVALID_ARGUMENT. */
async function resolveRelated(
  ops: Operations,
  access: Access,
  request: ParentRecord & { readonly timezone?: string },
  options: CallOptions,
): Promise<RelatedQuery> {
  const home = viewOf(access, getCollection(ops.model, access, request.collection));
  const relation = findToMany(home, request.relation);
  const { collection } = home;
  const call = callOf(ops, access, request, options);
  const origin = { view: home, key: parseId(ops, access, home, request.id) };
  const mark = JSON.stringify([collection.name, relation.name, packKey(planTarget(home), origin.key)]);
  const related = { call, view: viewOf(access, relation.to), origin };
  if (relation.recordsColumn)
    return {
      ...related,
      within: { ...unrestricted, source: await createExternalSource(call, origin, relation.recordsColumn) },
    };
  const planner = createPlanner(scopesOf(call), rowsLimitOf(ops));
  return { ...related, within: { where: planRelatedFilter(origin, relation, planner), mark } };
}

/** The related records that code computes. Throws RECORD_NOT_FOUND and CUSTOMIZATION_FAILED. */
async function createExternalSource(call: Call, { view, key }: Origin, recordsColumn: Column): Promise<Source> {
  const { ops, options } = call;
  const { collection } = view;
  const scope = scopesOf(call);
  const target = planTarget(view);
  const where = and(keysFilter(target, [key]), scope(collection));
  const query: Query = { collection, select: [], where, order: [], limit: 1, skip: 0, cursor: false };
  const select = resolveDependencies(query, pathTo(collection, [], recordsColumn));
  // Code gets raw values, before their conversion for JSON.
  const plan = { ...planRead({ ...query, select }, scope, rowsLimitOf(ops)), binary: [] };
  const { rows } = await executeRead(plan, 1, readOptions(ops, options), call);
  const records = shapeRecords(rows, plan.shape);
  if (records.length === 0) return fail('RECORD_NOT_FOUND', { collection: collection.name, id: packKey(target, key) });
  const external = recordsColumn.computedFrom!.external!;
  const { name, table, internalFields } = external.collection;
  const columns = [...internalFields.values()].flatMap((field) => (field.kind === 'column' ? [field] : []));
  const [found] = await listExternal(external, records, call.code());
  return createMemorySource(name, [
    {
      name: table,
      columns: columns.map(({ column, type, nullable }) => ({ name: column, type, nullable })),
      rows: found!,
    },
  ]);
}

/**
 * Parses the key. Throws INVALID_VALUE, INVALID_ARGUMENT if there is no key, and FORBIDDEN if a part of it is hidden.
 */
function parseId(ops: Operations, access: Access, { collection, columns }: CollectionView, id: RecordId): unknown[] {
  if (collection.key.length === 0)
    fail('INVALID_ARGUMENT', {
      argument: 'collection',
      problem: `'${collection.name}' has no key to identify records.`,
    });
  // Otherwise a caller could guess the values of a hidden key.
  if (!collection.key.every((column) => columns.includes(column)))
    fail('FORBIDDEN', {
      verb: 'read',
      collection: collection.name,
      why: 'its key is hidden from you. An administrator can show it.',
    });
  return unpackId(collection.key, id, 'id', momentOf(ops, access, {}));
}

/** The row of one record. Throws RECORD_NOT_FOUND, also for a record that the caller may not see. */
export async function get(
  ops: Operations,
  access: Access,
  request: GetRequest,
  options: CallOptions = {},
): Promise<ListAnswer> {
  const collection = getCollection(ops.model, access, request.collection);
  const { name } = collection;
  if (!access.can('read', name)) fail('FORBIDDEN', { verb: 'read', collection: name });
  const view = viewOf(access, collection);
  const key = parseId(ops, access, view, request.id);
  const target = planTarget(view);
  const { fields, timezone } = request;
  const listRequest = { limit: 1, ...(fields && { fields }), ...(timezone !== undefined && { timezone }) };
  const call = callOf(ops, access, request, options);
  const answer = await listFrom(call, view, listRequest, { where: keysFilter(target, [key]) });
  if (answer.rows.length === 0) fail('RECORD_NOT_FOUND', { collection: name, id: packKey(target, key) });
  return answer;
}

function findToMany({ collection, relations }: CollectionView, name: string): Relation {
  const many = relations.filter(({ kind }) => kind === 'many');
  const relation = relations.find((each) => hasName(each, name));
  if (relation?.kind === 'one')
    fail('INVALID_ARGUMENT', {
      argument: 'relation',
      problem: `'${name}' leads to one record: list '${collection.name}' with fields such as '${name}:${relation.to.key[0]?.name ?? '...'}'.`,
    });
  if (relation) return relation;
  const names = many.map((each) => each.name);
  return fail('UNKNOWN_RELATION', {
    collection: collection.name,
    relation: String(name),
    near: suggestNames(String(name), names),
  });
}

/**
 * Throws RECORD_NOT_FOUND, for a missing record as well as for one that the caller may not see. Reads at most one row by
 * its key, which SQLite does in the process; a count runs in a child process.
 */
async function requireOrigin(call: Call, { view, key }: Origin): Promise<void> {
  const { ops, options } = call;
  const { collection } = view;
  const scope = scopesOf(call);
  const target = planTarget(view);
  const select = target.key.map((path) => ({ name: path.id, path, through: [], leaf: path.id }));
  const where = and(keysFilter(target, [key]), scope(collection));
  const query: Query = { collection, select, where, order: [], limit: 1, skip: 0, cursor: false };
  const plan = { ...planRead(query, scope, rowsLimitOf(ops)), binary: [] };
  const { rows } = await executeRead(plan, 1, readOptions(ops, options), call);
  if (rows.length === 0) fail('RECORD_NOT_FOUND', { collection: collection.name, id: packKey(target, key) });
}
