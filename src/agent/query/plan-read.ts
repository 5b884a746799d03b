// A Query becomes a ReadPlan: one statement, and where each value lies in its rows. A column is selected once, however
// often it is asked for; joins come parents first, each with the rows of its collection that the caller may see.
import { fail } from '../../core/errors.ts';
import type { Collection, Relation } from '../model/types.ts';
import type { Join } from '../sources/source.ts';
import { eachTest, isSortedHere, splitFilter } from './here.ts';
import type { ScopeOf } from './lower.ts';
import { idOf, isUnscoped, pathTo } from './paths.ts';
import { planCompute, planSteps, SlotList, shapeOf } from './plan-steps.ts';
import { always } from './simplify.ts';
import type { Filter, Order, Path, Query, ReadPlan, Slot } from './types.ts';

/** MariaDB joins at most 61 tables, SQLite 64. */
const JOINS_LIMIT = 40;

/** `rowsLimit` is how many rows are read at most where the database cannot decide which are meant. */
export function planRead(query: Query, scope: ScopeOf, rowsLimit: number): ReadPlan {
  const { collection, where, order, limit } = query;
  const split = splitFilter(where);
  // From the first to the last clause that the database cannot sort by; what comes after, it can.
  const sorted = order.findLastIndex(isSortedHere) + 1;
  const isBounded = split.rest.op !== 'always' || sorted > 0;
  const slots = new SlotList(query);

  if (isBounded) {
    eachTest(split.rest, ({ path }) => slots.want(path));
    for (const { path } of order.slice(0, sorted)) slots.want(path);
  }
  const early = slots.made.length;
  for (const named of query.select) slots.want(named.path);
  for (const named of query.select) for (const hop of named.through) slots.want(hop.present);
  if (query.cursor) for (const { path } of order) slots.want(path);

  const { columns, made } = slots;
  const slot = (path: Path): Slot => slots.at(path);
  const width = columns.length + made.length;
  const plan = {
    source: collection.source,
    width,
    columns: query.select.map((named) => slot(named.path)),
    keys: query.cursor ? order.map(({ path }) => slot(path)) : [],
    binary: [...columns, ...made].flatMap(({ field }, index) => (field.type === 'Binary' ? [index] : [])),
    shape: shapeOf(query.select, 0, slot),
  };
  if (where.op === 'never') return { ...plan, select: null, steps: [], finish: [] };
  const joins = new JoinList(scope);
  for (const path of columns) joins.add(path);
  joins.addAll(split.native);
  const native = order.slice(sorted);
  for (const { path } of native) joins.add(path);
  const most = isBounded ? rowsLimit + 1 : limit === null ? null : limit + 1;
  return {
    ...plan,
    steps: isBounded ? planSteps(query, slots, early, split.rest, sorted) : [],
    finish: made.slice(early).map((path) => planCompute(query, slots, path)),
    select: {
      table: collection.table,
      columns,
      joins: joins.list,
      where: split.native,
      order: native,
      ...(most !== null && { limit: most }),
      ...(query.skip > 0 && !isBounded && { skip: query.skip }),
    },
  };
}

/** The joins that a condition needs. */
export function planJoins(where: Filter, scope: ScopeOf): readonly Join[] {
  const joins = new JoinList(scope);
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
    if (isUnscoped(relation)) return always;
    const where = this.#scope(relation.to);
    // Fail closed: a scope that needs reading first cannot stand in a join.
    if (splitFilter(where).rest.op !== 'always')
      fail('CONFIGURATION', {
        problem: `The row scope of '${relation.to.name}' uses a field that the database cannot decide, so that no relation to it can be followed; an administrator has to correct it.`,
      });
    return where;
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
    : [...collection.inside.values()].filter(
        (field) =>
          field.kind === 'column' && field.sortable && !field.made && !field.route && field.order === undefined,
      );
  for (const column of last) {
    if (column.kind !== 'column') continue;
    const path = pathTo(collection, [], column);
    if (!order.some((other) => other.path.id === path.id)) order.push({ path, ascending: true });
  }
  return order;
}
