// The operations on relations: they write the foreign key that the records of the other side hold.
import type { Access } from '../core/caller.ts';
import { fail } from '../core/errors.ts';
import { nearNames } from '../core/near.ts';
import type { LinkRequest, WriteAnswer, WriteOptions } from './engine.ts';
import type { Moment, Relation } from './model/types.ts';
import { callOf, getCollection, momentOf, type Operations, readOptions, scopesOf } from './operations.ts';
import { needKey, noKey, packReady, placeOf, readKeys, updateWhere } from './operations-write.ts';
import { pathTo } from './query/paths.ts';
import { conditionOf, equals, keysFilter, planTarget } from './query/plan-write.ts';
import { and } from './query/simplify.ts';
import { type View, viewOf } from './query/view.ts';
import { readRecords, type Values } from './query/write-values.ts';
import { type RecordId, unpackId } from './record-id.ts';

/** Points records of the other side of a relation to this record. */
export function associate(ops: Operations, access: Access, request: LinkRequest, options: WriteOptions = {}) {
  return link(ops, access, request, options, true);
}

/** Takes records away from this one; they stay. */
export function dissociate(ops: Operations, access: Access, request: LinkRequest, options: WriteOptions = {}) {
  return link(ops, access, request, options, false);
}

async function link(
  ops: Operations,
  access: Access,
  request: LinkRequest,
  options: WriteOptions,
  isOn: boolean,
): Promise<WriteAnswer> {
  const collection = getCollection(ops.model, access, request.collection);
  const view = viewOf(access, collection);
  const relation = findLink(view, request.relation);
  const place = placeOf(ops, access, relation.to.name, 'edit');
  const moment = momentOf(ops, access, {});
  if (collection.key.length === 0) noKey({ view });
  needKey(place);
  const columns = relation.on.map(({ to }) => to);
  const taken = columns.filter((column) => column.nullable);
  if (!isOn && taken.length === 0)
    fail('INVALID_RECORD', {
      collection: relation.to.name,
      problems: columns.map(({ name }) => ({
        field: name,
        problem: 'may not be null, so the record cannot be without one: associate it with another, or delete it.',
      })),
    });
  const keys = readKeys(place, request.ids, 'ids', moment);
  const values = await ownValues(ops, access, view, relation, request.id, moment, options);
  const written = Object.fromEntries(
    isOn ? columns.map(({ name }, at) => [name, values[at]]) : taken.map(({ name }) => [name, null]),
  );
  const [checked] = readRecords(access, place.view, [written], false, moment) as [Values];
  // The values come from the database, and are as they are.
  const set = new Map([...checked].map(([column]) => [column, isOn ? values[columns.indexOf(column)] : null]));
  const related = columns.map((column, at) => equals(pathTo(relation.to, [], column), values[at]));
  const where = and(keysFilter(place.target, keys), place.scope(relation.to), ...(isOn ? [] : related));
  return updateWhere(ops, place, { keys, set, where }, options);
}

function findLink({ collection, relations }: View, name: string): Relation {
  const relation = relations.find((each) => each.name === name);
  if (!relation) {
    const near = nearNames(
      String(name),
      relations.map((each) => each.name),
    );
    return fail('UNKNOWN_FIELD', { collection: collection.name, field: String(name), near });
  }
  if (relation.inverse) return relation;
  return fail('INVALID_ARGUMENT', {
    argument: 'relation',
    problem: `'${name}' leads to one record: update ${relation.on.map(({ from }) => `'${from.name}'`).join(' and ')} of '${collection.name}' instead.`,
  });
}

/** What the records of the other side hold when they point to this record, which the caller must see. */
async function ownValues(
  ops: Operations,
  access: Access,
  view: View,
  relation: Relation,
  id: RecordId,
  moment: Moment,
  options: WriteOptions,
): Promise<unknown[]> {
  const { collection } = view;
  const scope = scopesOf(callOf(ops, access, { collection: collection.name }, options));
  const target = planTarget(view);
  const key = unpackId(collection.key, id, 'id', moment);
  const condition = conditionOf(and(keysFilter(target, [key]), scope(collection)), scope);
  const columns = relation.on.map(({ from }) => pathTo(collection, [], from));
  const [row] = await collection.source.read(
    { table: collection.table, columns, ...condition, order: [], limit: 1 },
    readOptions(ops, options),
  );
  if (!row) return fail('RECORD_NOT_FOUND', { collection: collection.name, id: packReady(target, key) });
  return row;
}
