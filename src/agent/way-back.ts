// Where the records at the other end of a relation to many are counted for each record of this end: a collection of which
// each record leads to one record here.
import type { Access } from '../core/caller.ts';
import { fail } from '../core/errors.ts';
import type { WayBack, WayBackRequest } from './engine.ts';
import { findHolder, turnedPairs } from './model/inverse.ts';
import type { Collection, Relation } from './model/types.ts';
import { getCollection, type Operations } from './operations.ts';
import { findRelation } from './operations-link.ts';
import { viewOf } from './query/view.ts';

/** Only ways that the caller sees. */
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
