// Finds the collection that can count the records of a to-many relation for each record of this one. It is the foreign
// collection or the join collection, and it needs a to-one relation back to this collection.
import type { Access } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import { findForeignKeyRelation, invertPairs } from '../model/inverse.ts';
import type { Collection, Relation } from '../model/types.ts';
import type { InverseRelation, InverseRequest } from '../requests.ts';
import { viewOf } from '../resolve/visibility.ts';
import { getCollection, type Operations } from './call.ts';
import { findRelation } from './link.ts';

/** Considers only relations that the caller can see. */
export function inverseOf(
  ops: Operations,
  access: Access,
  { collection: name, relation: relationName }: InverseRequest,
): InverseRelation {
  const home = viewOf(access, getCollection(ops.model, access, name));
  const relation = findRelation(home, relationName);
  const { through, on, to } = relation;
  if (relation.kind !== 'many') return failWithoutInverse(name, relation);
  const findVisible = (collection: Collection, pairs: Relation['on']): string => {
    if (!collection.isPublished || !access.can('browse', collection.name)) return failWithoutInverse(name, relation);
    const foreignKeyRelation = findForeignKeyRelation(collection, pairs);
    return foreignKeyRelation && viewOf(access, collection).relations.includes(foreignKeyRelation)
      ? foreignKeyRelation.name
      : failWithoutInverse(name, relation);
  };
  if (!through) return { collection: to.name, home: findVisible(to, invertPairs(on)) };
  const { collection, origin, foreign } = through;
  return {
    collection: collection.name,
    home: findVisible(collection, invertPairs(origin)),
    foreign: findVisible(collection, foreign),
  };
}

function failWithoutInverse(collection: string, { name, kind }: Relation): never {
  const why =
    kind === 'one'
      ? 'leads to one record'
      : 'has no relation back that you can see: add a to-one relation from its collection to this one';
  return fail('INVALID_ARGUMENT', { argument: 'relation', problem: `'${name}' of '${collection}' ${why}.` });
}
