// Relations to one: what a record holds to point to another, and making it so, from the side that holds the key as well as from
// the other. Where one record takes the place of another, both are written in one transaction.
import type { Access } from '../core/caller.ts';
import { fail } from '../core/errors.ts';
import type { CallOptions, PointersRequest, PointRequest, WriteAnswer, WriteOptions } from './engine.ts';
import type { Column, Relation } from './model/types.ts';
import { type Call, callOf, getCollection, type Operations, scopesOf } from './operations.ts';
import { findRelation, originOf, ownValues } from './operations-link.ts';
import { update, updateWhere } from './operations-write.ts';
import { updateRecords } from './query/execute-write.ts';
import { onlyAt, pathTo } from './query/paths.ts';
import { equals, keysFilter, planTarget } from './query/plan-write.ts';
import { binarySlots, readyRows } from './query/shape.ts';
import { and } from './query/simplify.ts';
import { type View, viewOf } from './query/view.ts';
import type { Values } from './query/write-values.ts';
import { unpackId } from './record-id.ts';
import { decide, knowing, readWhere } from './write-known.ts';
import { checkValues } from './write-prepare.ts';
import { callerWriter, needKey, type Place, placeOf, readKeys } from './write-site.ts';
import { packReady } from './write-transaction.ts';

/** Values by field. */
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

/** What a record of the foreign collection is pointed to by, ready for JSON. RECORD_NOT_FOUND also where it may not be seen. */
async function readForeign(
  call: Call,
  { to, on }: Relation,
  id: NonNullable<PointersRequest['to']>,
): Promise<unknown[]> {
  const { access, moment } = call;
  const foreign = viewOf(access, to);
  if (!to.key.every((column) => foreign.columns.includes(column)))
    fail('FORBIDDEN', { verb: 'read', collection: to.name, why: 'its key is hidden from you.' });
  const target = planTarget(foreign);
  const key = unpackId(to.key, id, 'id', moment);
  const where = and(keysFilter(target, [key]), scopesOf(call)(to));
  const columns = on.map((pair) => pathTo(to, [], pair.to));
  const [row] = (await readWhere(call, to, { where, columns, limit: 1 })).rows;
  if (!row) return fail('RECORD_NOT_FOUND', { collection: to.name, id: packReady(target, key) });
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
  // Who may not write is told so before anything is looked up.
  placeOf(ops, access, collection, 'edit');
  const values = await pointers(ops, access, request, options);
  return update(ops, access, { collection, ids: [id], values }, options);
}

interface Behind {
  readonly home: View;
  readonly relation: Relation;
}

/** The record at the other end holds the key: the one that held it so far is released. */
async function pointBack(
  ops: Operations,
  access: Access,
  { home, relation }: Behind,
  { id, to }: PointRequest,
  options: WriteOptions,
): Promise<WriteAnswer> {
  const call = callOf(ops, access, {}, options);
  const place = placeOf(ops, access, relation.to.name, 'edit');
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
    if (released.length === 0) return { count: 0, ids: [], records: [] };
    return updateWhere(place, { keys: released, set: none, where: condition() }, options);
  }
  const set = heldBy(place, relation, values);
  const where = and(keysFilter(place.target, next), scoped);
  if (released.length === 0) return updateWhere(place, { keys: next, set, where }, options);
  const free = await decide(call, relation.to, condition());
  return updateWhere(
    place,
    { keys: next, set, where, first: (context) => updateRecords(context, released, none, free) },
    options,
  );
}

/** INVALID_RECORD where the record cannot be without one. */
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

/** The values come from the database, and are as they are. */
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
    problem: `'${name}' leads to many records: associate and dissociate them.`,
  });
}
