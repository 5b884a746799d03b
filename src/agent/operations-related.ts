// What a to-many relation leads to from one record: the reading operations, on the foreign collection, within that relation.
// That the record is there to be seen is asked only where nothing was found, so that a related list is one statement.
import type { Access } from '../core/caller.ts';
import { fail } from '../core/errors.ts';
import { nearNames } from '../core/near.ts';
import type {
  AggregateAnswer,
  AggregateRelatedRequest,
  CallOptions,
  CountRelatedRequest,
  GetRequest,
  ListAnswer,
  ListRelatedRequest,
  Parent,
} from './engine.ts';
import type { Column, Relation } from './model/types.ts';
import {
  type Call,
  callOf,
  countFrom,
  countWhere,
  everywhere,
  getCollection,
  listFrom,
  momentOf,
  type Operations,
  readOptions,
  rowsLimitOf,
  scopesOf,
  type Within,
} from './operations.ts';
import { aggregateFrom } from './operations-aggregate.ts';
import { executeRead } from './query/execute.ts';
import { listExternal } from './query/external.ts';
import { pathTo } from './query/paths.ts';
import { plannerOf, planRead } from './query/plan-read.ts';
import { namedNeeds } from './query/plan-steps.ts';
import { keysFilter, planTarget } from './query/plan-write.ts';
import { type Origin, relatedTo } from './query/related.ts';
import { shapeRecords } from './query/shape.ts';
import { and } from './query/simplify.ts';
import type { Query } from './query/types.ts';
import { type View, viewOf } from './query/view.ts';
import { type RecordId, unpackId } from './record-id.ts';
import { createMemorySource } from './sources/memory.ts';
import type { Source } from './sources/source.ts';
import { packReady } from './write-transaction.ts';

export async function listRelated(
  ops: Operations,
  access: Access,
  request: ListRelatedRequest,
  options: CallOptions = {},
): Promise<ListAnswer> {
  const { call, view, within, origin } = await relate(ops, access, request, options);
  const answer = await listFrom(call, view, request, within);
  if (answer.rows.length === 0) await needOrigin(call, origin);
  return answer;
}

/** NOT_COUNTABLE. */
export async function countRelated(
  ops: Operations,
  access: Access,
  request: CountRelatedRequest,
  options: CallOptions = {},
): Promise<number> {
  const { call, view, within, origin } = await relate(ops, access, request, options);
  const { name, rules } = view.collection;
  if (!rules.countable) fail('NOT_COUNTABLE', { collection: name });
  const count = await countFrom(call, view, request, within);
  if (count === 0) await needOrigin(call, origin);
  return count;
}

export async function aggregateRelated(
  ops: Operations,
  access: Access,
  request: AggregateRelatedRequest,
  options: CallOptions = {},
): Promise<AggregateAnswer> {
  const { call, view, within, origin } = await relate(ops, access, request, options);
  const answer = await aggregateFrom(call, view, request, within);
  const isEmpty = request.groups?.length ? answer.rows.length === 0 : !answer.rows[0]?.[0];
  if (isEmpty) await needOrigin(call, origin);
  return answer;
}

interface Related {
  readonly call: Call;
  /** Of the foreign collection. */
  readonly view: View;
  readonly within: Within;
  readonly origin: Origin;
}

/** UNKNOWN_COLLECTION, UNKNOWN_FIELD, INVALID_ARGUMENT. */
async function relate(
  ops: Operations,
  access: Access,
  request: Parent & { readonly timezone?: string },
  options: CallOptions,
): Promise<Related> {
  const home = viewOf(access, getCollection(ops.model, access, request.collection));
  const relation = findToMany(home, request.relation);
  const { collection } = home;
  const call = callOf(ops, access, request, options);
  const origin = { view: home, key: readId(ops, access, home, request.id) };
  const mark = JSON.stringify([collection.name, relation.name, packReady(planTarget(home), origin.key)]);
  const related = { call, view: viewOf(access, relation.to), origin };
  if (relation.given)
    return { ...related, within: { ...everywhere, source: await sourceOf(call, origin, relation.given) } };
  const planner = plannerOf(scopesOf(call), rowsLimitOf(ops));
  return { ...related, within: { where: relatedTo(origin, relation, planner), mark } };
}

/** The records that code gives for this one. RECORD_NOT_FOUND, CUSTOMIZATION_FAILED. */
async function sourceOf(call: Call, { view, key }: Origin, given: Column): Promise<Source> {
  const { ops, options } = call;
  const { collection } = view;
  const scope = scopesOf(call);
  const target = planTarget(view);
  const where = and(keysFilter(target, [key]), scope(collection));
  const query: Query = { collection, select: [], where, order: [], limit: 1, skip: 0, cursor: false };
  const select = namedNeeds(query, pathTo(collection, [], given));
  // As the code is given them elsewhere: not yet ready for JSON.
  const plan = { ...planRead({ ...query, select }, scope, rowsLimitOf(ops)), binary: [] };
  const { rows } = await executeRead(plan, 1, readOptions(ops, options), call);
  const records = shapeRecords(rows, plan.shape);
  if (records.length === 0)
    return fail('RECORD_NOT_FOUND', { collection: collection.name, id: packReady(target, key) });
  const external = given.made!.external!;
  const { name, table, inside } = external.collection;
  const columns = [...inside.values()].flatMap((field) => (field.kind === 'column' ? [field] : []));
  const [found] = await listExternal(external, records, call.code());
  return createMemorySource(name, [
    {
      name: table,
      columns: columns.map(({ column, type, nullable }) => ({ name: column, type, nullable })),
      rows: found!,
    },
  ]);
}

/** The values of the key. INVALID_VALUE; INVALID_ARGUMENT where there is none, FORBIDDEN where a part of it is hidden. */
function readId(ops: Operations, access: Access, { collection, columns }: View, id: RecordId): unknown[] {
  if (collection.key.length === 0)
    fail('INVALID_ARGUMENT', {
      argument: 'collection',
      problem: `'${collection.name}' has no key that would tell one record from another.`,
    });
  // Nobody may try out the values of a key that is hidden from him.
  if (!collection.key.every((column) => columns.includes(column)))
    fail('FORBIDDEN', {
      verb: 'read',
      collection: collection.name,
      why: 'its key is hidden from you. An administrator can show it.',
    });
  return unpackId(collection.key, id, 'id', momentOf(ops, access, {}));
}

/** The only row of one record. RECORD_NOT_FOUND also for one that the caller may not see. */
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
  const key = readId(ops, access, view, request.id);
  const target = planTarget(view);
  const { fields, timezone } = request;
  const asked = { limit: 1, ...(fields && { fields }), ...(timezone !== undefined && { timezone }) };
  const call = callOf(ops, access, request, options);
  const answer = await listFrom(call, view, asked, { where: keysFilter(target, [key]) });
  if (answer.rows.length === 0) fail('RECORD_NOT_FOUND', { collection: name, id: packReady(target, key) });
  return answer;
}

function findToMany({ collection, relations }: View, name: string): Relation {
  const many = relations.filter(({ kind }) => kind === 'many');
  const relation = relations.find((each) => each.name === name);
  if (relation?.kind === 'one')
    fail('INVALID_ARGUMENT', {
      argument: 'relation',
      problem: `'${name}' leads to one record: list '${collection.name}' with fields such as '${name}:${relation.to.key[0]?.name ?? '...'}'.`,
    });
  if (relation) return relation;
  const names = many.map((each) => each.name);
  return fail('UNKNOWN_FIELD', {
    collection: collection.name,
    field: String(name),
    near: nearNames(String(name), names),
  });
}

/** Nothing tells a record that is not there from one that the caller may not see: RECORD_NOT_FOUND. */
async function needOrigin(call: Call, { view, key }: Origin): Promise<void> {
  const { collection } = view;
  const target = planTarget(view);
  if ((await countWhere(call, collection, and(keysFilter(target, [key]), scopesOf(call)(collection)))) === 0)
    fail('RECORD_NOT_FOUND', { collection: collection.name, id: packReady(target, key) });
}
