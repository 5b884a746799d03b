// Plans a Query as a ReadPlan: one statement and the slot of each value in its rows. Each column is selected once, even
// if requested several times. Parent joins come first, and each join applies the row scope of its collection.
import { fail } from '../../core/errors.ts';
import { binarySlots } from '../encode/records.ts';
import type { ScopeOf } from '../lower/filter.ts';
import { isLowest } from '../lower/lowest-key.ts';
import { and } from '../lower/simplify.ts';
import type { Collection, Relation } from '../model/types.ts';
import { isUnscoped, pathTo, relationPathId } from '../resolve/paths.ts';
import { afterFilter } from '../sources/after.ts';
import { collectLookups, type Planner, planCrossSource, planResidualFilter } from './cross-source.ts';
import { planParameters } from './queries.ts';
import { isSortedInMemory, pathsOf, splitFilter, visitSubqueries, visitTests } from './residual.ts';
import { createShape, planCompute, planFetches, planSteps, SlotList } from './steps.ts';
import type { Condition, Filter, Join, Order, Path, Query, ReadPlan, Select, Slot } from './types.ts';

/** MariaDB joins at most 61 tables, SQLite 64. */
const JOINS_LIMIT = 40;

/** `rowsLimit` is the maximum number of rows to read if the database cannot filter or sort by itself. */
export function planRead(query: Query, scope: ScopeOf, rowsLimit: number): ReadPlan {
  const { collection, order } = query;
  const planner = createPlanner(scope, rowsLimit);
  // Number of order clauses up to the last one that the database cannot sort by. It sorts by the remaining clauses.
  const sorted = order.findLastIndex(isSortedInMemory) + 1;
  const readsAfter = sorted === 0 && collection.source.readsAfter === true;
  const requestedFilter = planCrossSource(collection, query.where, planner);
  const where = query.after && !readsAfter ? and(requestedFilter, afterFilter(order, query.after)) : requestedFilter;
  const { native, residual: unplanned } = splitFilter(where);
  const residual = planResidualFilter(collection, unplanned, planner);
  const isBounded = residual.op !== 'always' || sorted > 0;
  const slots = new SlotList(query);

  if (isBounded) {
    visitTests(residual, (test) => {
      for (const path of pathsOf(test)) slots.add(path);
    });
    visitSubqueries(residual, (subquery) => slots.addSubquery(subquery));
    for (const { path } of order.slice(0, sorted)) slots.add(path);
  }
  const early = { fetched: slots.fetched.length, computed: slots.computed.length };
  const requestedSlots = query.select.map((named, at) => slots.add(named.path, at < (query.cut?.fields ?? 0)));
  for (const named of query.select) for (const hop of named.through) slots.add(hop.present);
  const keys = query.cursor ? order.map(({ path }) => slots.add(path)) : [];

  const { columns, fetched, computed } = slots;
  const slot = (path: Path): Slot => slots.at(path);
  const { width } = slots;
  const isPlain = width === columns.length;
  const isNever = where.op === 'never';
  const selected = isNever ? null : planSelect(query, planner, columns, native, sorted, isBounded ? rowsLimit : null);
  const select = selected && {
    ...selected,
    ...(query.after && readsAfter && { after: query.after }),
    ...(query.cut && !isBounded && { cut: { characters: query.cut.characters, columns: slots.shownTexts } }),
  };
  return {
    source: collection.source,
    lookups: select ? collectLookups(select) : none,
    select,
    steps: isBounded && !isNever ? planSteps(query, slots, early, residual, sorted, planner) : none,
    outputSteps: isPlain
      ? none
      : [
          ...planFetches(query, slots, fetched.slice(early.fetched), planner),
          ...computed.slice(early.computed).map((path) => planCompute(query, slots, path)),
        ],
    width,
    columns: isPlain ? requestedSlots : query.select.map((named) => slot(named.path)),
    keys: isPlain ? keys : order.slice(0, keys.length).map(({ path }) => slot(path)),
    binary: binarySlots(isPlain ? columns : [...columns, ...fetched, ...computed]),
    shape: createShape(query.select, 0, slot),
  };
}

const none: readonly never[] = Object.freeze([]);

/** `bound` is the limit of rows if the page is cut after reading. */
function planSelect(
  { collection, order, limit, skip }: Query,
  planner: Planner,
  columns: readonly Path[],
  where: Filter,
  sorted: number,
  rowsLimit: number | null,
): Select {
  const native = sorted === 0 ? order : order.slice(sorted);
  const joins = new JoinList(planner.scope, planner, native);
  for (const path of columns) joins.add(path);
  joins.addAll(where);
  for (const { path } of native) joins.add(path);
  const select = {
    table: collection.table,
    ...(collection.query && planParameters(collection, where)),
    ...{ columns, joins: joins.list, where, order: native },
  };
  const most = rowsLimit ?? limit;
  if (most === null) return select;
  if (skip === 0 || rowsLimit !== null) return { ...select, limit: most + 1 };
  const key = identifies(collection) && collection.key.map((column) => pathTo(collection, [], column));
  return { ...select, limit: most + 1, skip, ...(key && { key }) };
}

/** Whether a database ensures that each row has a key of its own. In SQLite, several rows may have the key null. */
function identifies({ key, kind, query }: Collection): boolean {
  return kind === 'table' && !query && key.length > 0 && key.every(({ nullable }) => !nullable);
}

export function createPlanner(scope: ScopeOf, rowsLimit: number): Planner {
  const planner: Planner = {
    scope,
    plan: (query) => planRead(query, scope, rowsLimit),
    joins: (where) => planJoins(where, scope, [], planner),
  };
  return planner;
}

/** The joins for a condition and further paths. Row scopes that need lookups require a planner. */
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
  readonly #complete = new Set<string>();
  readonly #scope: ScopeOf;

  readonly #planner: Planner | undefined;

  /** An inner join lets the database read the order from an index of the joined table. */
  readonly #sorted: ReadonlySet<string>;

  constructor(scope: ScopeOf, planner: Planner | undefined, order: readonly Order[] = []) {
    this.#scope = scope;
    this.#planner = planner;
    const relations = order.flatMap(({ path: { via } }) => via.map((_, at) => via.slice(0, at + 1)));
    this.#sorted = new Set(relations.map(relationPathId));
  }

  add({ via }: Path): void {
    for (let length = 1; length <= via.length; length++) {
      if (via[length - 1]!.reach === 'fetch') return;
      const part = length === via.length ? via : via.slice(0, length);
      const id = relationPathId(part);
      if (this.#seen.has(id)) continue;
      if (this.list.length === JOINS_LIMIT)
        fail('INVALID_ARGUMENT', {
          argument: 'fields',
          problem: `this call follows more than ${JOINS_LIMIT} relations; use fewer.`,
        });
      this.#seen.add(id);
      const condition = this.#visible(part[part.length - 1]!);
      // An inner join behind a left join would lose the records that the left join keeps.
      const isBehindComplete = length === 1 || this.#complete.has(relationPathId(via.slice(0, length - 1)));
      const isComplete =
        isBehindComplete && this.#sorted.has(id) && condition.where.op === 'always' && part.at(-1)!.isComplete === true;
      if (isComplete) this.#complete.add(id);
      this.list.push({ via: part, ...condition, ...(isComplete && { isComplete }) });
    }
  }

  addAll(where: Filter): void {
    if (where.op === 'test' || where.op === 'compare') for (const path of pathsOf(where)) this.add(path);
    else if (where.op === 'found') this.add(where.own);
    else if (where.op === 'some') for (const path of where.own) this.add(path);
    else if (where.op === 'not') this.addAll(where.of);
    else if (where.op === 'and' || where.op === 'or') for (const each of where.of) this.addAll(each);
  }

  #visible(relation: Relation): Condition {
    if (isUnscoped(relation)) return { where: isLowest(relation), joins: none };
    const scoped = this.#scope(relation.to);
    const where = this.#planner ? planCrossSource(relation.to, scoped, this.#planner) : scoped;
    // Fail closed: a join cannot apply a row scope that is decided after reading.
    if (splitFilter(where).residual.op !== 'always')
      fail('CONFIGURATION', {
        problem: `The row scope of '${relation.to.name}' uses a field that the database cannot evaluate, so relations to it cannot be followed. An administrator must correct it.`,
      });
    const joins = where.op === 'always' ? none : planJoins(where, this.#scope, [], this.#planner);
    return { where: and(where, isLowest(relation, { where, joins })), joins };
  }
}

/**
 * A total order: the requested order, then the key in the direction of the last requested field, so that an index on
 * the fields can be read in one direction. Pages therefore cannot overlap. Without a key, every sortable column
 * follows, and only rows with equal values can change places.
 */
export function totalOrder(collection: Collection, asked: readonly Order[]): readonly Order[] {
  const order = [...asked];
  const ascending = asked.at(-1)?.ascending ?? true;
  const last = collection.key.length
    ? collection.key
    : [...collection.internalFields.values()].filter(
        (field) =>
          field.kind === 'column' && field.sortable && !field.computedFrom && !field.route && field.order === undefined,
      );
  for (const column of last) {
    if (column.kind !== 'column') continue;
    const path = pathTo(collection, [], column);
    if (!order.some((other) => other.path.id === path.id)) order.push({ path, ascending });
  }
  return order;
}
