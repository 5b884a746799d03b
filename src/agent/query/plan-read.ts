// A Query becomes a ReadPlan: one statement, and where each value lies in its rows. A column is selected once, however
// often it is asked for; joins come parents first, each with the rows of its collection that the caller may see.
import { fail } from '../../core/errors.ts';
import type { Collection, Relation } from '../model/types.ts';
import type { Join } from '../sources/source.ts';
import type { ScopeOf } from './lower.ts';
import { idOf, isUnscoped, pathTo } from './paths.ts';
import { always } from './simplify.ts';
import type { Filter, Hop, Named, Order, Path, Query, ReadPlan, Shape, Slot } from './types.ts';

/** MariaDB joins at most 61 tables, SQLite 64. */
const JOINS_LIMIT = 40;

export function planRead(query: Query, scope: ScopeOf): ReadPlan {
  const columns: Path[] = [];
  const slots = new Map<string, Slot>();
  const slot = (path: Path): Slot => {
    let found = slots.get(path.id);
    if (found === undefined) {
      found = columns.push(path) - 1;
      slots.set(path.id, found);
    }
    return found;
  };
  const asked = query.select.map((named) => slot(named.path));
  for (const named of query.select) for (const hop of named.through) slot(hop.present);
  const keys = query.cursor ? query.order.map(({ path }) => slot(path)) : [];

  const { collection, where, order } = query;
  const plan = {
    source: collection.source,
    columns: asked,
    keys,
    binary: columns.flatMap(({ field }, index) => (field.type === 'Binary' ? [index] : [])),
    shape: shapeOf(query.select, 0, slot),
  };
  if (where.op === 'never') return { ...plan, select: null };
  const joins = new JoinList(scope);
  for (const path of columns) joins.add(path);
  joins.addAll(where);
  for (const { path } of order) joins.add(path);
  return {
    ...plan,
    select: {
      table: collection.table,
      columns,
      joins: joins.list,
      where,
      order,
      limit: query.limit + 1,
      ...(query.skip > 0 && { skip: query.skip }),
    },
  };
}

/** The joins that a condition and further paths need. */
export function planJoins(where: Filter, scope: ScopeOf, paths: readonly Path[] = []): readonly Join[] {
  const joins = new JoinList(scope);
  for (const path of paths) joins.add(path);
  joins.addAll(where);
  return joins.list;
}

class JoinList {
  readonly list: Join[] = [];
  readonly #seen = new Set<string>();
  readonly #scope: ScopeOf;

  constructor(scope: ScopeOf) {
    this.#scope = scope;
  }

  add({ via }: Path): void {
    for (let length = 1; length <= via.length; length++) {
      const part = length === via.length ? via : via.slice(0, length);
      const id = idOf(part);
      if (this.#seen.has(id)) continue;
      if (this.list.length === JOINS_LIMIT)
        fail('INVALID_ARGUMENT', {
          argument: 'fields',
          problem: `this call goes through more than ${JOINS_LIMIT} relations; ask for fewer.`,
        });
      this.#seen.add(id);
      this.list.push({ via: part, where: this.#visible(part[part.length - 1]!) });
    }
  }

  addAll(where: Filter): void {
    if (where.op === 'test') this.add(where.path);
    else if (where.op === 'not') this.addAll(where.of);
    else if (where.op === 'and' || where.op === 'or') for (const each of where.of) this.addAll(each);
  }

  #visible(relation: Relation): Filter {
    return isUnscoped(relation) ? always : this.#scope(relation.to);
  }
}

/**
 * A total order: what was asked for, then the key, so that no two pages can overlap; without a key, every sortable
 * column, so that only rows that look the same can change places.
 */
export function totalOrder(collection: Collection, asked: readonly Order[]): readonly Order[] {
  const order = [...asked];
  const last = collection.key.length
    ? collection.key
    : [...collection.fields.values()].filter((field) => field.kind === 'column' && field.sortable);
  for (const column of last) {
    if (column.kind !== 'column') continue;
    const path = pathTo(collection, [], column);
    if (!order.some((other) => other.path.id === path.id)) order.push({ path, ascending: true });
  }
  return order;
}

function shapeOf(select: readonly Named[], depth: number, slot: (path: Path) => Slot): Shape {
  const leaves: [string, Slot][] = [];
  const inner = new Map<string, { hop: Hop; select: Named[] }>();
  for (const named of select) {
    const hop = named.through[depth];
    if (!hop) {
      leaves.push([named.leaf, slot(named.path)]);
      continue;
    }
    const group = inner.get(hop.name);
    if (group) group.select.push(named);
    else inner.set(hop.name, { hop, select: [named] });
  }
  return {
    leaves,
    nested: [...inner].map(([name, group]) => [name, slot(group.hop.present), shapeOf(group.select, depth + 1, slot)]),
  };
}
