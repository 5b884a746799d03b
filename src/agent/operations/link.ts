// The operations on relations. They write the foreign keys in the records of the other collection, or the pairs of the
// join collection (link-pairs.ts).

import type { Access } from '../../core/caller.ts';
import { fail, isAppError } from '../../core/errors.ts';
import { suggestNames } from '../../core/suggestions.ts';
import { type RecordId, unpackId } from '../encode/record-id.ts';
import { and } from '../lower/simplify.ts';
import type { Collection, Column, Relation } from '../model/types.ts';
import { equals, keysFilter, planTarget } from '../plan/write.ts';
import type { LinkRequest, WriteAnswer, WriteOptions } from '../requests.ts';
import { pathTo, planTypeCondition } from '../resolve/paths.ts';
import { type CollectionView, internalViewOf, viewOf } from '../resolve/visibility.ts';
import type { Values } from '../write/drafts.ts';
import { readWhere, withPrefetch } from '../write/prefetch.ts';
import { checkValues } from '../write/prepare.ts';
import {
  createInternalWriteContext,
  createWritableContext,
  failWithoutKey,
  readKeys,
  requireKey,
  requireWritable,
  type WriteVerb,
} from '../write/target.ts';
import { packKey } from '../write/transaction.ts';
import { type Call, callOf, getCollection, type Operations, scopesOf } from './call.ts';
import type { LinkAccess } from './link-pairs.ts';
import { linkJunctionRows } from './link-pairs.ts';
import { updateWhere } from './write.ts';

/** Makes foreign records belong to this record. */
export function associate(ops: Operations, access: Access, request: LinkRequest, options: WriteOptions = {}) {
  return link(createCallerLinkAccess(ops, access, request, options), request, options, true);
}

/** Removes foreign records from the relation, without deleting them. */
export function dissociate(ops: Operations, access: Access, request: LinkRequest, options: WriteOptions = {}) {
  return link(createCallerLinkAccess(ops, access, request, options), request, options, false);
}

/** The same for code, without permission checks. Returns the number of records. */
export async function linkInternal(
  call: Call,
  collection: Collection,
  request: Omit<LinkRequest, 'collection'>,
  isOn: boolean,
): Promise<number> {
  const viewAt = (other: Collection) => internalViewOf(call.access, other);
  const placeAt = (other: Collection, verb: WriteVerb) =>
    requireWritable(createInternalWriteContext(call, other, verb));
  const linkAccess: LinkAccess = {
    call,
    home: viewAt(collection),
    viewOf: viewAt,
    contextFor: placeAt,
    isInternal: true,
  };
  return (await link(linkAccess, request, call.options, isOn)).count;
}

function createCallerLinkAccess(
  ops: Operations,
  access: Access,
  { collection }: LinkRequest,
  options: WriteOptions,
): LinkAccess {
  return {
    call: callOf(ops, access, {}, options),
    home: viewOf(access, getCollection(ops.model, access, collection)),
    viewOf: (other) => viewOf(access, other),
    contextFor: (other, verb) => createWritableContext(ops, access, other.name, verb, options),
    isInternal: false,
  };
}

async function link(
  linkAccess: LinkAccess,
  request: Omit<LinkRequest, 'collection'>,
  options: WriteOptions,
  isOn: boolean,
): Promise<WriteAnswer> {
  const { call, home } = linkAccess;
  const { collection } = home;
  const { moment } = call;
  const relation = findWritableRelation(home, request.relation);
  if (relation.through) {
    if (collection.key.length === 0) failWithoutKey({ view: home });
    const values = () => readOriginValues(linkAccess, referencedColumns(relation), request.id, options);
    return linkJunctionRows(linkAccess, { relation, through: relation.through, values }, request.ids, options, isOn);
  }
  const place = linkAccess.contextFor(relation.to, 'edit');
  if (collection.key.length === 0) failWithoutKey({ view: home });
  requireKey(place);
  const columns = relation.on.map(({ to }) => to);
  const nullable = columns.filter((column) => column.nullable);
  const nameOf = (column: Column) => place.writer.label(column) ?? column.name;
  if (!isOn && nullable.length === 0)
    fail('INVALID_RECORD', {
      collection: relation.to.name,
      problems: columns.map((column) => ({
        field: nameOf(column),
        problem: LINK_REQUIRED,
      })),
    });
  const keys = readKeys(place, request.ids, 'ids', moment);
  const values = await readOriginValues(linkAccess, referencedColumns(relation), request.id, options);
  const written = Object.fromEntries(
    isOn
      ? [
          ...columns.map((column, at) => [nameOf(column), values[at]]),
          ...(relation.only ? [[nameOf(relation.only.column), relation.only.value]] : []),
        ]
      : nullable.map((column) => [nameOf(column), null]),
  );
  const [checked] = checkValues(place, [written], false) as [Values];
  // These values come from the database and need no validation.
  const { only } = relation;
  const linkedValue = (column: Column) => (column === only?.column ? only.value : values[columns.indexOf(column)]);
  const set = new Map([...checked].map(([column]) => [column, isOn ? linkedValue(column) : null]));
  const related = [
    planTypeCondition(relation, 'to', relation.to, []),
    ...columns.map((column, at) => equals(pathTo(relation.to, [], column), values[at])),
  ];
  const scoped = await withPrefetch(() => place.scope(relation.to));
  const where = and(keysFilter(place.target, keys), scoped, ...(isOn ? [] : related));
  try {
    return await updateWhere(place, { keys, set, where }, options);
  } catch (error) {
    if (isOn || !isAppError(error, 'RECORD_NOT_FOUND') || error.details.collection !== relation.to.name) throw error;
    // The foreign records may exist without belonging to this record.
    return fail('RECORD_NOT_FOUND', { ...error.details, relation: request.relation });
  }
}

/** For a foreign key that is not nullable. */
export const LINK_REQUIRED =
  'may not be null, so the link cannot be removed: link the record to another one, or delete it.';

/** Throws UNKNOWN_RELATION, or READ_ONLY if code computes the related records. */
export function findRelation({ collection, relations, visibility }: CollectionView, name: string): Relation {
  const relation = visibility.fields(collection).get(name);
  if (!relation || relation.kind === 'column' || !relations.includes(relation)) {
    const names = [...visibility.fields(collection)].flatMap(([each, field]) =>
      relations.some((known) => known === field) ? [each] : [],
    );
    const near = suggestNames(String(name), names);
    return fail('UNKNOWN_RELATION', { collection: collection.name, relation: String(name), near });
  }
  if (relation.recordsColumn)
    fail('READ_ONLY', { collection: collection.name, why: `the records of '${name}' come from code.` });
  return relation;
}

function findWritableRelation(home: CollectionView, name: string): Relation {
  const relation = findRelation(home, name);
  const { collection } = home;
  if (relation.inverse) return requireToOne(relation);
  return fail('INVALID_ARGUMENT', {
    argument: 'relation',
    problem: `'${name}' leads to one record: update ${namesOf(relation.on.map(({ from }) => from))} of '${collection.name}' instead.`,
  });
}

/**
 * Throws INVALID_ARGUMENT if several records can belong to this one: the written record could differ from the one
 * read.
 */
export function requireToOne(relation: Relation): Relation {
  const { lowestBy, on, to, name } = relation;
  if (!lowestBy) return relation;
  return fail('INVALID_ARGUMENT', {
    argument: 'relation',
    problem: `'${name}' leads to the first of several records of '${to.name}': update ${namesOf(on.map((pair) => pair.to))} of '${to.name}' instead, by the id of the intended record.`,
  });
}

const namesOf = (columns: readonly Column[]): string => columns.map(({ name }) => `'${name}'`).join(' and ');

/** The columns that the foreign keys reference. */
export const referencedColumns = ({ on, through }: Relation): Column[] =>
  (through?.origin ?? on).map(({ from }) => from);

/** The values of these columns in this record, which the caller must be able to see. */
export async function readOriginValues(
  { call, home }: Pick<LinkAccess, 'call' | 'home'>,
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
  if (!row) return fail('RECORD_NOT_FOUND', { collection: collection.name, id: packKey(target, key) });
  return row;
}
