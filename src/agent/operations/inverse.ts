// Finds the collection that can count the records of a to-many relation for each record of this one. It is the foreign
// collection or the join collection, and it needs a to-one relation back to this collection.
import type { Access } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import { findHolder, turnedPairs } from '../model/inverse.ts';
import type { Collection, Relation } from '../model/types.ts';
import type { WayBack, WayBackRequest } from '../requests.ts';
import { viewOf } from '../resolve/visibility.ts';
import { getCollection, type Operations } from './call.ts';
import { findRelation } from './link.ts';

/** Considers only relations that the caller can see. */
export function wayBack(
  ops: Operations,
  access: Access,
  { collection: name, relation: asked }: WayBackRequest,
): WayBack {
  const home = viewOf(access, getCollection(ops.model, access, name));
  const relation = findRelation(home, asked);
  const { through, on, to } = relation;
  if (relation.kind !== 'many') return noWay(name, relation);
  const held = (collection: Collection, pairs: Relation['on']): string => {
    if (!collection.published || !access.can('browse', collection.name)) return noWay(name, relation);
    const holder = findHolder(collection, pairs);
    return holder && viewOf(access, collection).relations.includes(holder) ? holder.name : noWay(name, relation);
  };
  if (!through) return { collection: to.name, home: held(to, turnedPairs(on)) };
  const { collection, origin, foreign } = through;
  return {
    collection: collection.name,
    home: held(collection, turnedPairs(origin)),
    foreign: held(collection, foreign),
  };
}

function noWay(collection: string, { name, kind }: Relation): never {
  const why =
    kind === 'one'
      ? 'leads to one record'
      : 'has no way back that you see: give what it leads to a relation to one that leads here';
  return fail('INVALID_ARGUMENT', { argument: 'relation', problem: `'${name}' of '${collection}' ${why}.` });
}
