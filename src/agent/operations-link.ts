// The operations on relations: they write the foreign key that the records of the other side hold, or the pairs that stand
// between the two (operations-pairs.ts).
import type { Access } from '../core/caller.ts';
import { fail } from '../core/errors.ts';
import { nearNames } from '../core/near.ts';
import type { LinkRequest, WriteAnswer, WriteOptions } from './engine.ts';
import type { Collection, Column, Relation } from './model/types.ts';
import { type Call, callOf, getCollection, type Operations, scopesOf } from './operations.ts';
import { linkPairs } from './operations-pairs.ts';
import { updateWhere } from './operations-write.ts';
import { onlyAt, pathTo } from './query/paths.ts';
import { equals, keysFilter, planTarget } from './query/plan-write.ts';
import { and } from './query/simplify.ts';
import { insideViewOf, type View, viewOf } from './query/view.ts';
import type { Values } from './query/write-values.ts';
import { type RecordId, unpackId } from './record-id.ts';
import { knowing, readWhere } from './write-known.ts';
import { checkValues } from './write-prepare.ts';
import { insideSiteOf, needKey, noKey, type Place, placeOf, readKeys, type WriteVerb, writable } from './write-site.ts';
import { packReady } from './write-transaction.ts';

/** Points records of the other side of a relation to this record. */
export function associate(ops: Operations, access: Access, request: LinkRequest, options: WriteOptions = {}) {
  return link(outsideDoor(ops, access, request, options), request, options, true);
}

/** Takes records away from this one; they stay. */
export function dissociate(ops: Operations, access: Access, request: LinkRequest, options: WriteOptions = {}) {
  return link(outsideDoor(ops, access, request, options), request, options, false);
}

/** The same by code, which sees and may do everything: how many records. */
export async function linkInside(
  call: Call,
  collection: Collection,
  request: Omit<LinkRequest, 'collection'>,
  isOn: boolean,
): Promise<number> {
  const viewAt = (other: Collection) => insideViewOf(call.access, other);
  const placeAt = (other: Collection, verb: WriteVerb) => writable(insideSiteOf(call, other, verb));
  const door: LinkDoor = { call, home: viewAt(collection), viewAt, placeAt, isInside: true };
  return (await link(door, request, call.options, isOn)).count;
}

/** How the two sides of a relation are seen and written. */
export interface LinkDoor {
  readonly call: Call;
  /** The collection that has the relation. */
  readonly home: View;
  viewAt(collection: Collection): View;
  placeAt(collection: Collection, verb: WriteVerb): Place;
  readonly isInside: boolean;
}

function outsideDoor(ops: Operations, access: Access, { collection }: LinkRequest, options: WriteOptions): LinkDoor {
  return {
    call: callOf(ops, access, {}, options),
    home: viewOf(access, getCollection(ops.model, access, collection)),
    viewAt: (other) => viewOf(access, other),
    placeAt: (other, verb) => placeOf(ops, access, other.name, verb),
    isInside: false,
  };
}

async function link(
  door: LinkDoor,
  request: Omit<LinkRequest, 'collection'>,
  options: WriteOptions,
  isOn: boolean,
): Promise<WriteAnswer> {
  const { call, home } = door;
  const { collection } = home;
  const { moment } = call;
  const relation = findLink(home, request.relation);
  if (relation.through) {
    if (collection.key.length === 0) noKey({ view: home });
    const values = () => ownValues(door, originOf(relation), request.id, options);
    return linkPairs(door, { relation, through: relation.through, values }, request.ids, options, isOn);
  }
  const place = door.placeAt(relation.to, 'edit');
  if (collection.key.length === 0) noKey({ view: home });
  needKey(place);
  const columns = relation.on.map(({ to }) => to);
  const taken = columns.filter((column) => column.nullable);
  const nameOf = (column: Column) => place.writer.label(column) ?? column.name;
  if (!isOn && taken.length === 0)
    fail('INVALID_RECORD', {
      collection: relation.to.name,
      problems: columns.map((column) => ({
        field: nameOf(column),
        problem: 'may not be null, so the record cannot be without one: associate it with another, or delete it.',
      })),
    });
  const keys = readKeys(place, request.ids, 'ids', moment);
  const values = await ownValues(door, originOf(relation), request.id, options);
  const written = Object.fromEntries(
    isOn
      ? [
          ...columns.map((column, at) => [nameOf(column), values[at]]),
          ...(relation.only ? [[nameOf(relation.only.column), relation.only.value]] : []),
        ]
      : taken.map((column) => [nameOf(column), null]),
  );
  const [checked] = checkValues(place, [written], false) as [Values];
  // The values come from the database, and are as they are.
  const { only } = relation;
  const held = (column: Column) => (column === only?.column ? only.value : values[columns.indexOf(column)]);
  const set = new Map([...checked].map(([column]) => [column, isOn ? held(column) : null]));
  const related = [
    onlyAt(relation, 'to', relation.to, []),
    ...columns.map((column, at) => equals(pathTo(relation.to, [], column), values[at])),
  ];
  const scoped = await knowing(() => place.scope(relation.to));
  const where = and(keysFilter(place.target, keys), scoped, ...(isOn ? [] : related));
  return updateWhere(place, { keys, set, where }, options);
}

/** UNKNOWN_FIELD; READ_ONLY where code gives the records. */
export function findRelation({ collection, relations, sight }: View, name: string): Relation {
  const relation = sight.fields(collection).get(name);
  if (!relation || relation.kind === 'column' || !relations.includes(relation)) {
    const names = [...sight.fields(collection)].flatMap(([each, field]) =>
      relations.some((known) => known === field) ? [each] : [],
    );
    const near = nearNames(String(name), names);
    return fail('UNKNOWN_FIELD', { collection: collection.name, field: String(name), near });
  }
  if (relation.given)
    fail('READ_ONLY', { collection: collection.name, why: `the records of '${name}' are given by code.` });
  return relation;
}

function findLink(home: View, name: string): Relation {
  const relation = findRelation(home, name);
  const { collection } = home;
  if (relation.inverse) return relation;
  return fail('INVALID_ARGUMENT', {
    argument: 'relation',
    problem: `'${name}' leads to one record: update ${relation.on.map(({ from }) => `'${from.name}'`).join(' and ')} of '${collection.name}' instead.`,
  });
}

/** The columns that the other side points to. */
export const originOf = ({ on, through }: Relation): Column[] => (through?.origin ?? on).map(({ from }) => from);

/** What the records of the other side hold when they point to this record, which the caller must see. */
export async function ownValues(
  { call, home }: Pick<LinkDoor, 'call' | 'home'>,
  origin: readonly Column[],
  id: RecordId,
  options: WriteOptions,
): Promise<unknown[]> {
  const { collection } = home;
  const target = planTarget(home);
  const key = unpackId(collection.key, id, 'id', call.moment);
  const where = and(keysFilter(target, [key]), scopesOf(call)(collection));
  const columns = origin.map((column) => pathTo(collection, [], column));
  const [row] = (await readWhere(call, collection, { where, columns, limit: 1 }, options)).rows;
  if (!row) return fail('RECORD_NOT_FOUND', { collection: collection.name, id: packReady(target, key) });
  return row;
}
