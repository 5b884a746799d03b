// What is left to do after the statement, as steps over positional rows. The columns of the statement come first in a row,
// then one slot for each added field, in the order in which they need each other.
import { eachTest, undecided } from './here.ts';
import { pathTo } from './paths.ts';
import type { Compute, Filter, Hop, Named, Path, Query, Shape, Slot, Step } from './types.ts';

/** The slots of a plan. They have numbers once all have been asked for. */
export class SlotList {
  readonly columns: Path[] = [];
  /** Added fields; each after those that it needs. */
  readonly made: Path[] = [];
  readonly #columns = new Map<string, Slot>();
  #made: Map<string, number> | undefined;
  readonly #query: Query;

  constructor(query: Query) {
    this.#query = query;
  }

  /** The slot, when it has a number already: a column has. */
  want(path: Path): Slot {
    if (path.field.made) return this.#wantMade(path);
    let slot = this.#columns.get(path.id);
    if (slot === undefined) {
      slot = this.columns.push(path) - 1;
      this.#columns.set(path.id, slot);
    }
    return slot;
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

  at(path: Path): Slot {
    return path.field.made ? this.columns.length + this.#made!.get(path.id)! : this.#columns.get(path.id)!;
  }
}

/** What the database could not decide: `rest`, and the order up to `sorted`; the first `early` added fields are needed for it. */
export function planSteps(query: Query, slots: SlotList, early: number, rest: Filter, sorted: number): readonly Step[] {
  const { collection, order, skip, limit } = query;
  const { field } = undecided(rest, order)!;
  const steps: Step[] = [{ kind: 'bound', collection: collection.name, field: field.name, column: field }];
  steps.push(...slots.made.slice(0, early).map((path) => planCompute(query, slots, path)));
  if (rest.op !== 'always') {
    const places = new Map<string, Slot>();
    eachTest(rest, ({ path }) => places.set(path.id, slots.at(path)));
    steps.push({ kind: 'keep', where: rest, slots: places });
  }
  if (sorted > 0)
    steps.push({
      kind: 'sort',
      by: order.slice(0, sorted).map((each) => ({ slot: slots.at(each.path), order: each })),
    });
  if (limit !== null) steps.push({ kind: 'slice', skip, limit: limit + 1 });
  return steps;
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

/** The dependencies of an added field, seen from the start of the query. */
function namedNeeds(query: Query, { via, field }: Path): readonly Named[] {
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

/** A column that is null exactly when the last relation has no record. */
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
