// Plans the steps after the statement, over positional rows. A row starts with the columns of the statement. Fetched
// columns follow, then added fields in order of their dependencies, then the results of `ask` steps.
import { fail } from '../../core/errors.ts';
import { awayAt, idOf, pathTo } from '../resolve/paths.ts';
import { meantBy, type Planner } from './cross-source.ts';
import { eachTest, undecided } from './residual.ts';
import type { Ask, Compute, Fetch, Filter, Hop, Named, Path, Query, Shape, Slot, Step, Told } from './types.ts';

/** The slots of a plan. Slots other than columns get their numbers after all calls of `want`. */
export class SlotList {
  readonly columns: Path[] = [];
  /** Columns of another source. */
  readonly fetched: Path[] = [];
  /** Added fields, each after its dependencies. */
  readonly made: Path[] = [];
  /** Conditions for `ask` steps. Their results are the last slots of a row. */
  readonly told: Told[] = [];
  readonly #columns = new Map<string, Slot>();
  readonly #fetched = new Map<string, number>();
  #made: Map<string, number> | undefined;
  readonly #query: Query;

  constructor(query: Query) {
    this.#query = query;
  }

  /** Adds the path. Returns the slot of a column, and -1 for a path that has no number yet. */
  want(path: Path): Slot {
    if (path.field.made) return this.#wantMade(path);
    if (awayAt(path) >= 0) return this.#wantFetched(path);
    let slot = this.#columns.get(path.id);
    if (slot === undefined) {
      slot = this.columns.push(path) - 1;
      this.#columns.set(path.id, slot);
    }
    return slot;
  }

  #wantFetched(path: Path): Slot {
    if (this.#fetched.has(path.id)) return -1;
    this.want(keyOf(this.#query, path));
    const type = typeOf(this.#query, path);
    if (type) this.want(type);
    this.#fetched.set(path.id, this.fetched.push(path) - 1);
    return -1;
  }

  #wantMade(path: Path): Slot {
    this.#made ??= new Map();
    if (this.#made.has(path.id)) return -1;
    if (path.via.length) this.want(presence(this.#query, path.via));
    for (const named of namedNeeds(this.#query, path)) {
      this.want(named.path);
      for (const hop of named.through) this.want(hop.present);
    }
    this.#made.set(path.id, this.made.push(path) - 1);
    return -1;
  }

  /** Also adds the key, which the `ask` step needs. */
  wantTold(told: Told): void {
    for (const column of this.#query.collection.key) this.want(pathTo(this.#query.collection, [], column));
    this.told.push(told);
  }

  get width(): number {
    return this.columns.length + this.fetched.length + this.made.length + this.told.length;
  }

  toldAt(told: Told): Slot {
    return this.width - this.told.length + this.told.indexOf(told);
  }

  at(path: Path): Slot {
    if (path.field.made) return this.columns.length + this.fetched.length + this.#made!.get(path.id)!;
    return this.#columns.get(path.id) ?? this.columns.length + this.#fetched.get(path.id)!;
  }
}

/** The number of fetched and of added fields that the steps need. */
export interface Early {
  readonly fetched: number;
  readonly made: number;
}

/** The steps for the parts that the database cannot decide: `rest`, and the first `sorted` clauses of the order. */
export function planSteps(
  query: Query,
  slots: SlotList,
  early: Early,
  rest: Filter,
  sorted: number,
  planner: Planner,
): readonly Step[] {
  const { collection, order, skip, limit } = query;
  const { field } = undecided(rest, order)!;
  const steps: Step[] = [{ kind: 'bound', collection: collection.name, field: field.name, column: field }];
  steps.push(...planFetches(query, slots, slots.fetched.slice(0, early.fetched), planner));
  steps.push(...slots.made.slice(0, early.made).map((path) => planCompute(query, slots, path)));
  if (rest.op !== 'always') {
    const places = new Map<string, Slot>();
    eachTest(rest, ({ path }) => places.set(path.id, slots.at(path)));
    steps.push(...slots.told.map((each) => planAsk(query, slots, each, planner)));
    const told = new Map(slots.told.map((each) => [each, slots.toldAt(each)]));
    steps.push({ kind: 'keep', where: rest, slots: places, told });
  }
  if (sorted > 0)
    steps.push({
      kind: 'sort',
      by: order.slice(0, sorted).map((each) => ({ slot: slots.at(each.path), order: each })),
    });
  if (limit !== null) steps.push({ kind: 'slice', skip, limit: limit + 1 });
  return steps;
}

/** Throws INVALID_ARGUMENT if the collection has no key to identify its rows. */
function planAsk({ collection }: Query, slots: SlotList, of: Told, planner: Planner): Ask {
  const key = collection.key.map((column) => pathTo(collection, [], column));
  if (key.length === 0)
    fail('INVALID_ARGUMENT', {
      argument: 'filter',
      problem: `a condition behind a relation to many cannot stand in one Or with a field that the database cannot decide, since '${collection.name}' has no key; ask for each in a call of its own.`,
    });
  const select = key.map((path) => ({ name: path.id, path, through: [], leaf: path.id }));
  const query: Query = { collection, select, where: of, order: [], limit: null, skip: 0, cursor: false };
  const from = key.map((path) => slots.at(path));
  return { kind: 'ask', of, plan: planner.plan(query), key, from, into: slots.toldAt(of) };
}

/** One fetch for each relation to another source. The plan of a fetch follows further such relations. */
export function planFetches(query: Query, slots: SlotList, paths: readonly Path[], planner: Planner): Fetch[] {
  const groups = new Map<string, Path[]>();
  for (const path of paths) {
    const id = idOf(path.via.slice(0, awayAt(path) + 1));
    groups.set(id, [...(groups.get(id) ?? []), path]);
  }
  return [...groups.values()].map((group) => {
    const [first] = group as [Path];
    const via = first.via.slice(0, awayAt(first) + 1);
    const relation = via.at(-1)!;
    const { to } = relation;
    const type = typeOf(query, first);
    const wanted = [
      pathTo(to, [], relation.on[0]!.to),
      ...group.map((path) => pathTo(to, path.via.slice(via.length), path.field)),
    ];
    const far: Query = {
      collection: to,
      select: wanted.map((path) => ({ name: path.id, path, through: [], leaf: path.id })),
      where: meantBy(relation, planner),
      order: [],
      limit: null,
      skip: 0,
      cursor: false,
    };
    return {
      kind: 'fetch',
      via,
      from: slots.at(keyOf(query, first)),
      ...(type && { type: slots.at(type) }),
      query: far,
      plan: planner.plan(far),
      into: group.map((path) => slots.at(path)),
    };
  });
}

/** The foreign key column that points to the related record in another source. */
function keyOf({ collection }: Query, path: Path): Path {
  const at = awayAt(path);
  return pathTo(collection, path.via.slice(0, at), path.via[at]!.on[0]!.from);
}

/** The type column of a polymorphic relation; undefined for other relations. */
function typeOf({ collection }: Query, path: Path): Path | undefined {
  const at = awayAt(path);
  const { only } = path.via[at]!;
  return only?.side === 'from' ? pathTo(collection, path.via.slice(0, at), only.column) : undefined;
}

export function planCompute(query: Query, slots: SlotList, path: Path): Compute {
  const needs = namedNeeds(query, path);
  const slot = (each: Path): Slot => slots.at(each);
  return {
    kind: 'compute',
    path,
    made: path.field.made!,
    shape: shapeOf(needs, 0, slot),
    from: [...new Set(needs.flatMap((named) => [slot(named.path), ...named.through.map((hop) => slot(hop.present))]))],
    guard: path.via.length ? slot(presence(query, path.via)) : null,
    into: slot(path),
  };
}

/** The dependencies of an added field, as paths from the collection of the query. */
export function namedNeeds(query: Query, { via, field }: Path): readonly Named[] {
  return field.made!.needs.map((need) => ({
    name: [...need.hops, need.leaf].join(':'),
    path: pathTo(query.collection, [...via, ...need.via], need.field),
    through: need.hops.map((name, index) => ({
      name,
      present: presence(query, [...via, ...need.via.slice(0, index + 1)]),
    })),
    leaf: need.leaf,
  }));
}

/** A column that is null exactly if the last relation has no record. */
function presence({ collection }: Query, via: Path['via']): Path {
  return pathTo(collection, via, via.at(-1)!.on[0]!.to);
}

export function shapeOf(select: readonly Named[], depth: number, slot: (path: Path) => Slot): Shape {
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
