// To-one relations: the foreign key values for a link, and setting a link from either side. If one record replaces
// another, one transaction writes both.
import type { Access } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import { unpackId } from '../encode/record-id.ts';
import { binarySlots, readyRows } from '../encode/records.ts';
import { updateRecords } from '../execute/write.ts';
import { and } from '../lower/simplify.ts';
import type { Column, Relation } from '../model/types.ts';
import { meantBy } from '../plan/cross-source.ts';
import { plannerOf } from '../plan/read.ts';
import { equals, keysFilter, planTarget } from '../plan/write.ts';
import type { CallOptions, PointersRequest, PointRequest, WriteAnswer, WriteOptions } from '../requests.ts';
import { onlyAt, pathTo } from '../resolve/paths.ts';
import { type View, viewOf } from '../resolve/visibility.ts';
import type { Values } from '../write/drafts.ts';
import { decide, knowing, readWhere } from '../write/prefetch.ts';
import { checkValues } from '../write/prepare.ts';
import { callerWriter, needKey, type Place, placeOf, readKeys } from '../write/target.ts';
import { packReady } from '../write/transaction.ts';
import { type Call, callOf, getCollection, type Operations, rowsLimitOf, scopesOf } from './call.ts';
import { findRelation, needOne, originOf, ownValues } from './link.ts';
import { update, updateWhere } from './write.ts';

/** The foreign key values by field. */
export async function pointers(
  ops: Operations,
  access: Access,
  request: PointersRequest,
  options: CallOptions = {},
): Promise<Readonly<Record<string, unknown>>> {
  const home = viewOf(access, getCollection(ops.model, access, request.collection));
  const relation = findToOne(home, request.relation);
  if (relation.inverse)
    fail('INVALID_ARGUMENT', {
      argument: 'relation',
      problem: `'${relation.name}' is held by '${relation.to.name}': write the record first, then what it relates to.`,
    });
  const call = callOf(ops, access, {}, options);
  const writer = callerWriter(access, home, call.moment, 'edit');
  const nameOf = (column: Column): string =>
    writer.label(column) ??
    fail('FORBIDDEN', {
      verb: 'edit',
      collection: home.collection.name,
      why: `what '${relation.name}' is held by is hidden from you.`,
    });
  const columns = relation.on.map(({ from }) => from);
  const { only } = relation;
  if (request.to === null) {
    const all = [...columns, ...(only ? [only.column] : [])];
    const taken = all.filter((column) => column.nullable);
    if (!columns.some((column) => taken.includes(column)))
      fail('INVALID_RECORD', {
        collection: home.collection.name,
        problems: [{ field: relation.name, problem: 'may not be null: send the id of a record.' }],
      });
    return Object.fromEntries(taken.map((column) => [nameOf(column), null]));
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
async function readForeign(call: Call, relation: Relation, id: NonNullable<PointersRequest['to']>): Promise<unknown[]> {
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
  if (!row) return fail('RECORD_NOT_FOUND', { collection: to.name, id: packReady(target, key) });
  if (relation.lowestBy) {
    const first = and(keysFilter(target, [key]), meantBy(relation, plannerOf(scopesOf(call), rowsLimitOf(call.ops))));
    if ((await readWhere(call, to, { where: first, columns: [], limit: 1 })).rows.length === 0)
      fail('INVALID_ARGUMENT', {
        argument: 'to',
        problem: `'${relation.name}' goes by a value that several records of '${to.name}' hold, and would lead to another one of them: make the values different first.`,
      });
  }
  readyRows([row], binarySlots(columns));
  return row;
}

export async function point(
  ops: Operations,
  access: Access,
  request: PointRequest,
  options: WriteOptions = {},
): Promise<WriteAnswer> {
  const { collection, id } = request;
  const home = viewOf(access, getCollection(ops.model, access, collection));
  const relation = findToOne(home, request.relation);
  if (relation.inverse) return pointBack(ops, access, { home, relation }, request, options);
  // Checks the permission to write before any lookup.
  placeOf(ops, access, collection, 'edit', options);
  const values = await pointers(ops, access, request, options);
  return update(ops, access, { collection, ids: [id], values }, options);
}

interface Behind {
  readonly home: View;
  readonly relation: Relation;
}

/** The foreign record has the key; the previously linked record is released. */
async function pointBack(
  ops: Operations,
  access: Access,
  { home, relation }: Behind,
  { id, to }: PointRequest,
  options: WriteOptions,
): Promise<WriteAnswer> {
  needOne(relation);
  const call = callOf(ops, access, {}, options);
  const place = placeOf(ops, access, relation.to.name, 'edit', options);
  needKey(place);
  const columns = relation.on.map((pair) => pair.to);
  const values = await ownValues({ call, home }, originOf(relation), id, options);
  const related = and(
    onlyAt(relation, 'to', relation.to, []),
    ...columns.map((column, at) => equals(pathTo(relation.to, [], column), values[at])),
  );
  const scoped = await knowing(() => place.scope(relation.to));
  const { key } = place.target;
  const read = async (where: typeof related) =>
    (await readWhere(call, relation.to, { where, columns: key, limit: null }, options)).rows;
  const [held, seen] = await Promise.all([read(related), read(and(related, scoped))]);
  if (held.length > seen.length)
    fail('FORBIDDEN', {
      verb: 'edit',
      collection: relation.to.name,
      why: `a record that you may not see is '${relation.name}' of this one.`,
    });
  const next = to === null ? [] : readKeys(place, [to], 'id', call.moment);
  const mark = (one: readonly unknown[]) => packReady(place.target, one);
  const released = seen.filter((one) => !next.some((other) => mark(other) === mark(one)));
  const none = released.length > 0 ? nothingHeld(place, columns) : new Map();
  const condition = () => and(keysFilter(place.target, released), scoped, related);
  if (to === null) {
    if (released.length === 0) return { count: 0, ids: [], records: [], effects: [], unseen: [] };
    return updateWhere(place, { keys: released, set: none, where: condition() }, options);
  }
  const set = heldBy(place, relation, values);
  const where = and(keysFilter(place.target, next), scoped);
  if (released.length === 0) return updateWhere(place, { keys: next, set, where }, options);
  const free = await decide(call, relation.to, condition());
  return updateWhere(
    place,
    {
      ...{ keys: next, set, where },
      // Releases the previous record in the same transaction.
      first: (context) => updateRecords({ ...context, ledger: context.ledger.along }, released, none, free),
    },
    options,
  );
}

/** Throws INVALID_RECORD if the foreign key is not nullable. */
function nothingHeld(place: Place, columns: readonly Column[]): Values {
  const taken = columns.filter((column) => column.nullable);
  const nameOf = (column: Column) => place.writer.label(column) ?? column.name;
  if (taken.length === 0)
    fail('INVALID_RECORD', {
      collection: place.view.collection.name,
      problems: columns.map((column) => ({
        field: nameOf(column),
        problem: 'may not be null, so the record cannot be without one: point it to another, or delete it.',
      })),
    });
  return checkValues(place, [Object.fromEntries(taken.map((column) => [nameOf(column), null]))], false)[0]!;
}

/** These values come from the database and need no validation. */
function heldBy(place: Place, { on, only }: Relation, values: readonly unknown[]): Values {
  const nameOf = (column: Column) => place.writer.label(column) ?? column.name;
  const held = new Map<Column, unknown>([
    ...on.map((pair, at) => [pair.to, values[at]] as const),
    ...(only ? [[only.column, only.value] as const] : []),
  ]);
  const plain = Object.fromEntries([...held].map(([column, value]) => [nameOf(column), value]));
  const [checked] = checkValues(place, [plain], false) as [Values];
  return new Map([...checked].map(([column]) => [column, held.get(column)]));
}

function findToOne(home: View, name: string): Relation {
  const relation = findRelation(home, name);
  if (relation.kind === 'one') return relation;
  return fail('INVALID_ARGUMENT', {
    argument: 'relation',
    problem: `'${name}' leads to many records; associate and dissociate change them.`,
  });
}
