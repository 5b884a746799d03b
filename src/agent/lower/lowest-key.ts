// A relation to one whose key several records may hold leads to the first of them, among those that count.
import type { Relation } from '../model/types.ts';
import type { Condition, Filter } from '../plan/types.ts';
import { onlyAt, pathTo } from '../resolve/paths.ts';
import { always, and, not } from './simplify.ts';

/**
 * On the foreign collection: no record that counts comes before this one with the same key. `always` for a relation whose
 * key only one record can hold. `counts`: the rows that the caller may see, and what it joins; every row when absent.
 */
export function lowest(relation: Relation, counts: Condition = everyRow): Filter {
  const { to, on, lowestBy } = relation;
  if (!lowestBy) return always;
  const held = on.map((pair) => pathTo(to, [], pair.to));
  const other = { ...counts, where: and(onlyAt(relation, 'to', to, []), counts.where), collection: to, keys: held };
  return not({ op: 'some', own: held, other, after: lowestBy.map((column) => pathTo(to, [], column)) });
}

const everyRow: Condition = { where: always, joins: [] };
