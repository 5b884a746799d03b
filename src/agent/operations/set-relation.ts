// To-one relations: the foreign key values for a link, and setting a link from either side. If one record replaces
// another, one transaction writes both.
import type { Access } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import { unpackId } from '../encode/record-id.ts';
import { binarySlots, readyRows } from '../encode/records.ts';
import { updateRecords } from '../execute/write.ts';
import { and } from '../lower/simplify.ts';
import type { Column, Relation } from '../model/types.ts';
import { planTargetCondition } from '../plan/cross-source.ts';
import { createPlanner } from '../plan/read.ts';
import { equals, keysFilter, planTarget } from '../plan/write.ts';
import type { CallOptions, ForeignKeyRequest, SetRelationRequest, WriteAnswer, WriteOptions } from '../requests.ts';
import { pathTo, planTypeCondition } from '../resolve/paths.ts';
import { type CollectionView, viewOf } from '../resolve/visibility.ts';
import type { Values } from '../write/drafts.ts';
import { readWhere, resolveCondition, withPrefetch } from '../write/prefetch.ts';
import { checkValues } from '../write/prepare.ts';
import {
  createCallerWriter,
  createWritableContext,
  readKeys,
  requireKey,
  type WritableContext,
} from '../write/target.ts';
import { packKey } from '../write/transaction.ts';
import { type Call, callOf, getCollection, type Operations, rowsLimitOf, scopesOf } from './call.ts';
import { findRelation, LINK_REQUIRED, readOriginValues, referencedColumns, requireToOne } from './link.ts';
import { update, updateWhere } from './write.ts';

/** The foreign key values by field. */
export async function foreignKeyValues(
  ops: Operations,
  access: Access,
  request: ForeignKeyRequest,
  options: CallOptions = {},
): Promise<Readonly<Record<string, unknown>>> {
  const home = viewOf(access, getCollection(ops.model, access, request.collection));
  const relation = findToOne(home, request.relation);
  if (relation.inverse)
    fail('INVALID_ARGUMENT', {
      argument: 'relation',
      problem: `'${relation.name}' is stored in '${relation.to.name}': write this record first, then the related one.`,
    });
  const call = callOf(ops, access, {}, options);
  const writer = createCallerWriter(access, home, call.moment, 'edit');
  const nameOf = (column: Column): string =>
    writer.label(column) ??
    fail('FORBIDDEN', {
      verb: 'edit',
      collection: home.collection.name,
      why: `the foreign key of '${relation.name}' is hidden from you.`,
    });
  const columns = relation.on.map(({ from }) => from);
  const { only } = relation;
  if (request.to === null) {
    const all = [...columns, ...(only ? [only.column] : [])];
    const nullable = all.filter((column) => column.nullable);
    if (!columns.some((column) => nullable.includes(column)))
      fail('INVALID_RECORD', {
        collection: home.collection.name,
        problems: [{ field: relation.name, problem: 'may not be null: send the id of a record.' }],
      });
    return Object.fromEntries(nullable.map((column) => [nameOf(column), null]));
  }
  const values = await readForeign(call, relation, request.to);
  return Object.fromEntries([
    ...columns.map((column, at) => [nameOf(column), values[at]]),
    ...(only ? [[nameOf(only.column), only.value]] : []),
  ]);
}

/**
 * The values that reference a foreign record, ready for JSON. Throws RECORD_NOT_FOUND, also for an invisible record,
 * and INVALID_ARGUMENT if the relation would lead to another record with the same values.
 */
async function readForeign(
  call: Call,
  relation: Relation,
  id: NonNullable<ForeignKeyRequest['to']>,
): Promise<unknown[]> {
  const { access, moment } = call;
  const { to, on } = relation;
  const foreign = viewOf(access, to);
  if (!to.key.every((column) => foreign.columns.includes(column)))
    fail('FORBIDDEN', { verb: 'read', collection: to.name, why: 'its key is hidden from you.' });
  const target = planTarget(foreign);
  const key = unpackId(to.key, id, 'id', moment);
  const where = and(keysFilter(target, [key]), scopesOf(call)(to));
  const columns = on.map((pair) => pathTo(to, [], pair.to));
  const [row] = (await readWhere(call, to, { where, columns, limit: 1 })).rows;
  if (!row) return fail('RECORD_NOT_FOUND', { collection: to.name, id: packKey(target, key) });
  if (relation.lowestBy) {
    const first = and(
      keysFilter(target, [key]),
      planTargetCondition(relation, createPlanner(scopesOf(call), rowsLimitOf(call.ops))),
    );
    if ((await readWhere(call, to, { where: first, columns: [], limit: 1 })).rows.length === 0)
      fail('INVALID_ARGUMENT', {
        argument: 'to',
        problem: `several records of '${to.name}' have the value that '${relation.name}' uses, and it would lead to another one of them: make the values different first.`,
      });
  }
  readyRows([row], binarySlots(columns));
  return row;
}

export async function setRelation(
  ops: Operations,
  access: Access,
  request: SetRelationRequest,
  options: WriteOptions = {},
): Promise<WriteAnswer> {
  const { collection, id } = request;
  const home = viewOf(access, getCollection(ops.model, access, collection));
  const relation = findToOne(home, request.relation);
  if (relation.inverse) return setInverseRelation(ops, access, { home, relation }, request, options);
  // Checks the permission to write before any lookup.
  createWritableContext(ops, access, collection, 'edit', options);
  const values = await foreignKeyValues(ops, access, request, options);
  return update(ops, access, { collection, ids: [id], values }, options);
}

interface InverseRelationOf {
  readonly home: CollectionView;
  readonly relation: Relation;
}

/** The foreign record has the key; the previously linked record is released. */
async function setInverseRelation(
  ops: Operations,
  access: Access,
  { home, relation }: InverseRelationOf,
  { id, to }: SetRelationRequest,
  options: WriteOptions,
): Promise<WriteAnswer> {
  requireToOne(relation);
  const call = callOf(ops, access, {}, options);
  const place = createWritableContext(ops, access, relation.to.name, 'edit', options);
  requireKey(place);
  const columns = relation.on.map((pair) => pair.to);
  const values = await readOriginValues({ call, home }, referencedColumns(relation), id, options);
  const related = and(
    planTypeCondition(relation, 'to', relation.to, []),
    ...columns.map((column, at) => equals(pathTo(relation.to, [], column), values[at])),
  );
  const scoped = await withPrefetch(() => place.scope(relation.to));
  const { key } = place.target;
  const readMatchingKeys = async (where: typeof related) =>
    (await readWhere(call, relation.to, { where, columns: key, limit: null }, options)).rows;
  const [held, seen] = await Promise.all([readMatchingKeys(related), readMatchingKeys(and(related, scoped))]);
  if (held.length > seen.length)
    fail('FORBIDDEN', {
      verb: 'edit',
      collection: relation.to.name,
      why: `'${relation.name}' of this record is a record that you may not see.`,
    });
  const next = to === null ? [] : readKeys(place, [to], 'id', call.moment);
  const mark = (one: readonly unknown[]) => packKey(place.target, one);
  const released = seen.filter((one) => !next.some((other) => mark(other) === mark(one)));
  const none = released.length > 0 ? emptyForeignKey(place, columns) : new Map();
  const condition = () => and(keysFilter(place.target, released), scoped, related);
  if (to === null) {
    if (released.length === 0) return { count: 0, ids: [], records: [], effects: [], unseen: [] };
    return updateWhere(place, { keys: released, set: none, where: condition() }, options);
  }
  const set = foreignKeyOf(place, relation, values);
  const where = and(keysFilter(place.target, next), scoped);
  if (released.length === 0) return updateWhere(place, { keys: next, set, where }, options);
  const free = await resolveCondition(call, relation.to, condition());
  return updateWhere(
    place,
    {
      ...{ keys: next, set, where },
      // Releases the previous record in the same transaction.
      first: (context) => updateRecords({ ...context, writeLog: context.writeLog.related }, released, none, free),
    },
    options,
  );
}

/** Throws INVALID_RECORD if the foreign key is not nullable. */
function emptyForeignKey(place: WritableContext, columns: readonly Column[]): Values {
  const nullable = columns.filter((column) => column.nullable);
  const nameOf = (column: Column) => place.writer.label(column) ?? column.name;
  if (nullable.length === 0)
    fail('INVALID_RECORD', {
      collection: place.view.collection.name,
      problems: columns.map((column) => ({
        field: nameOf(column),
        problem: LINK_REQUIRED,
      })),
    });
  return checkValues(place, [Object.fromEntries(nullable.map((column) => [nameOf(column), null]))], false)[0]!;
}

/** These values come from the database and need no validation. */
function foreignKeyOf(place: WritableContext, { on, only }: Relation, values: readonly unknown[]): Values {
  const nameOf = (column: Column) => place.writer.label(column) ?? column.name;
  const byColumn = new Map<Column, unknown>([
    ...on.map((pair, at) => [pair.to, values[at]] as const),
    ...(only ? [[only.column, only.value] as const] : []),
  ]);
  const plain = Object.fromEntries([...byColumn].map(([column, value]) => [nameOf(column), value]));
  const [checked] = checkValues(place, [plain], false) as [Values];
  return new Map([...checked].map(([column]) => [column, byColumn.get(column)]));
}

function findToOne(home: CollectionView, name: string): Relation {
  const relation = findRelation(home, name);
  if (relation.kind === 'one') return relation;
  return fail('INVALID_ARGUMENT', {
    argument: 'relation',
    problem: `'${name}' leads to many records; change them with associate and dissociate.`,
  });
}
