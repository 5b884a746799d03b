// The related records of one record, as a condition on them. Known values of the record become values of the statement.
// Other values are looked up by the same statement or, in another source, before it.

import { and } from '../lower/simplify.ts';
import type { Collection, KeyPair, Relation } from '../model/types.ts';
import { onlyAt, pathTo } from '../resolve/paths.ts';
import type { View } from '../resolve/visibility.ts';
import { isIn, type Planner, pairsOf } from './cross-source.ts';
import type { Filter, Lookup } from './types.ts';
import { equals, keysFilter, planTarget } from './write.ts';

/** A record by its key, with the caller's view of its collection. */
export interface Origin {
  readonly view: View;
  readonly key: readonly unknown[];
}

/** A condition on the foreign collection. It matches no records if the origin is missing or outside the row scope. */
export function relatedTo(origin: Origin, relation: Relation, planner: Planner): Filter {
  const { to, on, through, name } = relation;
  const of = { collection: origin.view.collection.name, name };
  if (!through) return and(onlyAt(relation, 'to', to, []), pointsTo(to, on, origin, planner, of));
  const { collection } = through;
  const where = and(planner.scope(collection), pointsTo(collection, through.origin, origin, planner, of));
  return isIn(pairsOf(to, [], turn(through.foreign)), collection, where, planner, of);
}

/** `pairs` lead from the origin to `collection`. */
function pointsTo(
  collection: Collection,
  pairs: readonly KeyPair[],
  { view, key }: Origin,
  planner: Planner,
  of: Lookup['of'],
): Filter {
  const home = view.collection;
  const places = pairs.map(({ from }) => home.key.indexOf(from));
  if (!places.includes(-1) && !view.sight.withholds(home))
    return and(...pairs.map(({ to }, at) => equals(pathTo(collection, [], to), key[places[at]!])));
  const where = and(keysFilter(planTarget(view), [key]), planner.scope(home));
  return isIn(pairsOf(collection, [], turn(pairs)), home, where, planner, of);
}

const turn = (pairs: readonly KeyPair[]): KeyPair[] => pairs.map(({ from, to }) => ({ from: to, to: from }));
