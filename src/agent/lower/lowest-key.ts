// A to-one relation with several candidates leads to the first one, usually among those that the caller may see.
import type { Relation } from '../model/types.ts';
import type { Condition, Filter } from '../plan/types.ts';
import { pathTo, planTypeCondition } from '../resolve/paths.ts';
import { always, and, not } from './simplify.ts';

/**
 * A condition on the foreign collection: no other candidate with the same key sorts before this record. `always` if the
 * key is unique. `counts` selects the candidates, such as the rows that the caller may see; all rows by default.
 */
export function isLowest(relation: Relation, counts: Condition = everyRow): Filter {
  const { to, on, lowestBy } = relation;
  if (!lowestBy) return always;
  const keyPaths = on.map((pair) => pathTo(to, [], pair.to));
  const other = {
    ...counts,
    where: and(planTypeCondition(relation, 'to', to, []), counts.where),
    collection: to,
    keys: keyPaths,
  };
  return not({ op: 'some', own: keyPaths, other, after: lowestBy.map((column) => pathTo(to, [], column)) });
}

const everyRow: Condition = { where: always, joins: [] };
