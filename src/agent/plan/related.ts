// The related records of one record, as a condition on them. Known values of the record become values of the statement.
// Other values are looked up by the same statement or, in another source, before it.

import { and } from '../lower/simplify.ts';
import type { Collection, KeyPair, Relation } from '../model/types.ts';
import { pathTo, planTypeCondition } from '../resolve/paths.ts';
import type { CollectionView } from '../resolve/visibility.ts';
import { type Planner, planExistsIn, toColumnPairs } from './cross-source.ts';
import type { Filter, Lookup } from './types.ts';
import { equals, keysFilter, planTarget } from './write.ts';

/** A record by its key, with the caller's view of its collection. */
export interface Origin {
  readonly view: CollectionView;
  readonly key: readonly unknown[];
}

/** A condition on the foreign collection. It matches no records if the origin is missing or outside the row scope. */
export function planRelatedFilter(origin: Origin, relation: Relation, planner: Planner): Filter {
  const { to, on, through, name } = relation;
  const of = { collection: origin.view.collection.name, name };
  if (!through) return and(planTypeCondition(relation, 'to', to, []), planReferenceFilter(to, on, origin, planner, of));
  const { collection } = through;
  const where = and(planner.scope(collection), planReferenceFilter(collection, through.origin, origin, planner, of));
  return planExistsIn(toColumnPairs(to, [], invertPairs(through.foreign)), collection, where, planner, of);
}

/** `pairs` lead from the origin to `collection`. */
function planReferenceFilter(
  collection: Collection,
  pairs: readonly KeyPair[],
  { view, key }: Origin,
  planner: Planner,
  of: Lookup['of'],
): Filter {
  const home = view.collection;
  const places = pairs.map(({ from }) => home.key.indexOf(from));
  if (!places.includes(-1) && !view.visibility.hidesRows(home))
    return and(...pairs.map(({ to }, at) => equals(pathTo(collection, [], to), key[places[at]!])));
  const where = and(keysFilter(planTarget(view), [key]), planner.scope(home));
  return planExistsIn(toColumnPairs(collection, [], invertPairs(pairs)), home, where, planner, of);
}

const invertPairs = (pairs: readonly KeyPair[]): KeyPair[] => pairs.map(({ from, to }) => ({ from: to, to: from }));
