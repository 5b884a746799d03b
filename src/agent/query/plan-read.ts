// A Query becomes a ReadPlan: one statement, and where each value lies in its rows. A column is selected once, however
// often it is asked for; joins come parents first, each with the rows of its collection that the caller may see.
import { fail } from '../../core/errors.ts';
import type { Collection, Relation } from '../model/types.ts';
import type { Join, Select } from '../sources/source.ts';
import { lookupsOf, type Planner, planAway, planLeft } from './away.ts';
import { eachTest, eachTold, isSortedHere, splitFilter } from './here.ts';
import type { ScopeOf } from './lower.ts';
import { idOf, isUnscoped, pathTo } from './paths.ts';
import { planCompute, planFetches, planSteps, SlotList, shapeOf } from './plan-steps.ts';
import { binarySlots } from './shape.ts';
import { always, and } from './simplify.ts';
import type { Filter, Order, Path, Query, ReadPlan, Slot } from './types.ts';

/** MariaDB joins at most 61 tables, SQLite 64. */
const JOINS_LIMIT = 40;

/** `rowsLimit` is how many rows are read at most where the database cannot decide which are meant. */
export function planRead(query: Query, scope: ScopeOf, rowsLimit: number): ReadPlan {
  const { collection, order } = query;
  const planner = plannerOf(scope, rowsLimit);
  const asAsked = planAway(collection, query.where, planner);
  const where = query.after ? and(asAsked, query.after) : asAsked;
  const { native, rest: left } = splitFilter(where);
  const rest = planLeft(collection, left, planner);
  // From the first to the last clause that the database cannot sort by; what comes after, it can.
  const sorted = order.findLastIndex(isSortedHere) + 1;
  const isBounded = rest.op !== 'always' || sorted > 0;
  const slots = new SlotList(query);

  if (isBounded) {
    eachTest(rest, ({ path }) => slots.want(path));
    eachTold(rest, (told) => slots.wantTold(told));
    for (const { path } of order.slice(0, sorted)) slots.want(path);
  }
  const early = { fetched: slots.fetched.length, made: slots.made.length };
  const asked = query.select.map((named) => slots.want(named.path));
  for (const named of query.select) for (const hop of named.through) slots.want(hop.present);
  const keys = query.cursor ? order.map(({ path }) => slots.want(path)) : [];

  const { columns, fetched, made } = slots;
  const slot = (path: Path): Slot => slots.at(path);
  const { width } = slots;
  const isPlain = width === columns.length;
  const isNever = where.op === 'never';
  const select = isNever ? null : planSelect(query, planner, columns, native, sorted, isBounded ? rowsLimit : null);
  return {
    source: collection.source,
    lookups: select ? lookupsOf(select) : none,
    select,
    steps: isBounded && !isNever ? planSteps(query, slots, early, rest, sorted, planner) : none,
    finish: isPlain
      ? none
      : [
          ...planFetches(query, slots, fetched.slice(early.fetched), planner),
          ...made.slice(early.made).map((path) => planCompute(query, slots, path)),
        ],
    width,
    columns: isPlain ? asked : query.select.map((named) => slot(named.path)),
    keys: isPlain ? keys : order.slice(0, keys.length).map(({ path }) => slot(path)),
    binary: binarySlots(isPlain ? columns : [...columns, ...fetched, ...made]),
    shape: shapeOf(query.select, 0, slot),
  };
}

const none: readonly never[] = Object.freeze([]);

/** `bound` is set where the page is cut after reading. */
function planSelect(
  { collection, order, limit, skip }: Query,
  planner: Planner,
  columns: readonly Path[],
  where: Filter,
  sorted: number,
  bound: number | null,
): Select {
  const joins = new JoinList(planner.scope, planner);
  for (const path of columns) joins.add(path);
  joins.addAll(where);
  const native = sorted === 0 ? order : order.slice(sorted);
  for (const { path } of native) joins.add(path);
  const select = { table: collection.table, columns, joins: joins.list, where, order: native };
  const most = bound ?? limit;
  if (most === null) return select;
  return skip > 0 && bound === null ? { ...select, limit: most + 1, skip } : { ...select, limit: most + 1 };
}

export function plannerOf(scope: ScopeOf, rowsLimit: number): Planner {
  const planner: Planner = {
    scope,
    plan: (query) => planRead(query, scope, rowsLimit),
    joins: (where) => planJoins(where, scope, [], planner),
  };
  return planner;
}

/** The joins that a condition and further paths need; only with a planner may their scopes need lookups. */
export function planJoins(
  where: Filter,
  scope: ScopeOf,
  paths: readonly Path[] = [],
  planner?: Planner,
): readonly Join[] {
  const joins = new JoinList(scope, planner);
  for (const path of paths) joins.add(path);
  joins.addAll(where);
  return joins.list;
}

class JoinList {
  readonly list: Join[] = [];
  readonly #seen = new Set<string>();
  readonly #scope: ScopeOf;

  readonly #planner: Planner | undefined;

  constructor(scope: ScopeOf, planner: Planner | undefined) {
    this.#scope = scope;
    this.#planner = planner;
  }

  add({ via }: Path): void {
    for (let length = 1; length <= via.length; length++) {
      if (via[length - 1]!.reach === 'fetch') return;
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
    else if (where.op === 'found') this.add(where.own);
    else if (where.op === 'some') for (const path of where.own) this.add(path);
    else if (where.op === 'not') this.addAll(where.of);
    else if (where.op === 'and' || where.op === 'or') for (const each of where.of) this.addAll(each);
  }

  #visible(relation: Relation): Filter {
    if (isUnscoped(relation)) return always;
    const scoped = this.#scope(relation.to);
    const where = this.#planner ? planAway(relation.to, scoped, this.#planner) : scoped;
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
