// The records that belong to one record, as a condition on them: what is known of that record goes into the statement as a
// value; what has to be looked up there is looked up by the same statement, or, in another source, before it.
import type { Collection, KeyPair, Relation } from '../model/types.ts';
import { isIn, type Planner, pairsOf } from './away.ts';
import { onlyAt, pathTo } from './paths.ts';
import { equals, keysFilter, planTarget } from './plan-write.ts';
import { and } from './simplify.ts';
import type { Filter, Lookup } from './types.ts';
import type { View } from './view.ts';

/** A record by its key, as the caller sees its collection. */
export interface Origin {
  readonly view: View;
  readonly key: readonly unknown[];
}

/** On the foreign collection of the relation. Of an origin that is not there, or not to be seen, there are none. */
export function relatedTo(origin: Origin, relation: Relation, planner: Planner): Filter {
  const { to, on, through, name } = relation;
  const of = { collection: origin.view.collection.name, name };
  if (!through) return and(onlyAt(relation, 'to', to, []), pointsTo(to, on, origin, planner, of));
  const { collection } = through;
  const where = and(planner.scope(collection), pointsTo(collection, through.origin, origin, planner, of));
  return isIn(pairsOf(to, [], turn(through.foreign)), collection, where, planner, of);
}

/** The pairs lead from the origin to the collection. */
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
