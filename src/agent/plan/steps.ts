// Plans the steps after the statement, over positional rows. A row starts with the columns of the statement. Fetched
// columns follow, then added fields in order of their dependencies, then the results of `ask` steps.
import { fail } from '../../core/errors.ts';
import { crossSourceIndex, pathTo, relationPathId } from '../resolve/paths.ts';
import { type Planner, planTargetCondition } from './cross-source.ts';
import { findResidualPath, pathsOf, visitTests } from './residual.ts';
import type {
  ComputeStep,
  FetchStep,
  Filter,
  Path,
  PathSegment,
  Query,
  RequestedField,
  Shape,
  Slot,
  Step,
  SubqueryFilter,
  SubqueryStep,
} from './types.ts';

/** The slots of a plan. Slots other than columns get their numbers after all calls of `want`. */
export class SlotList {
  readonly columns: Path[] = [];
  /** Columns of another source. */
  readonly fetched: Path[] = [];
  /** Added fields, each after its dependencies. */
  readonly computed: Path[] = [];
  /** Conditions for `ask` steps. Their results are the last slots of a row. */
  readonly subqueries: SubqueryFilter[] = [];
  readonly #columns = new Map<string, Slot>();
  readonly #fetched = new Map<string, number>();
  #made: Map<string, number> | undefined;
  readonly #query: Query;
  /** The columns whose values something else than the answer needs. */
  readonly #needed: Set<string> | undefined;

  constructor(query: Query) {
    this.#query = query;
    this.#needed = query.cut && new Set();
  }

  /**
   * Adds the path. Returns the slot of a column, and -1 for a path that has no number yet. `isShown`: its value is only
   * part of the answer.
   */
  add(path: Path, isShown = false): Slot {
    if (!isShown) this.#needed?.add(path.id);
    if (path.field.computedFrom) return this.#wantMade(path);
    if (crossSourceIndex(path) >= 0) return this.#wantFetched(path);
    let slot = this.#columns.get(path.id);
    if (slot === undefined) {
      slot = this.columns.push(path) - 1;
      this.#columns.set(path.id, slot);
    }
    return slot;
  }

  #wantFetched(path: Path): Slot {
    if (this.#fetched.has(path.id)) return -1;
    this.add(foreignKeyOf(this.#query, path));
    const type = typeColumnOf(this.#query, path);
    if (type) this.add(type);
    this.#fetched.set(path.id, this.fetched.push(path) - 1);
    return -1;
  }

  #wantMade(path: Path): Slot {
    this.#made ??= new Map();
    if (this.#made.has(path.id)) return -1;
    if (path.via.length) this.add(presencePath(this.#query, path.via));
    for (const named of resolveDependencies(this.#query, path)) {
      this.add(named.path);
      for (const hop of named.through) this.add(hop.present);
    }
    this.#made.set(path.id, this.computed.push(path) - 1);
    return -1;
  }

  /** Also adds the key, which the `ask` step needs. */
  addSubquery(subquery: SubqueryFilter): void {
    for (const column of this.#query.collection.key) this.add(pathTo(this.#query.collection, [], column));
    this.subqueries.push(subquery);
  }

  get width(): number {
    return this.columns.length + this.fetched.length + this.computed.length + this.subqueries.length;
  }

  /** The slots of texts that are only part of the answer. */
  get shownTexts(): readonly Slot[] {
    const isShown = ({ id, field }: Path) => field.type === 'String' && !this.#needed?.has(id);
    return this.columns.flatMap((path, slot) => (isShown(path) ? [slot] : []));
  }

  subquerySlot(subquery: SubqueryFilter): Slot {
    return this.width - this.subqueries.length + this.subqueries.indexOf(subquery);
  }

  at(path: Path): Slot {
    if (path.field.computedFrom) return this.columns.length + this.fetched.length + this.#made!.get(path.id)!;
    return this.#columns.get(path.id) ?? this.columns.length + this.#fetched.get(path.id)!;
  }
}

/** The number of fetched and of added fields that the steps need. */
interface StepFieldCounts {
  readonly fetched: number;
  readonly computed: number;
}

/** The steps for the parts that the database cannot decide: `rest`, and the first `sorted` clauses of the order. */
export function planSteps(
  query: Query,
  slots: SlotList,
  counts: StepFieldCounts,
  residual: Filter,
  sorted: number,
  planner: Planner,
): readonly Step[] {
  const { collection, order, skip, limit } = query;
  const { field } = findResidualPath(residual, order)!;
  const steps: Step[] = [{ kind: 'bound', collection: collection.name, field: field.name, column: field }];
  steps.push(...planFetches(query, slots, slots.fetched.slice(0, counts.fetched), planner));
  steps.push(...slots.computed.slice(0, counts.computed).map((path) => planCompute(query, slots, path)));
  if (residual.op !== 'always') {
    const testSlots = new Map<string, Slot>();
    visitTests(residual, (test) => {
      for (const path of pathsOf(test)) testSlots.set(path.id, slots.at(path));
    });
    steps.push(...slots.subqueries.map((each) => planSubquery(query, slots, each, planner)));
    const subquerySlots = new Map(slots.subqueries.map((each) => [each, slots.subquerySlot(each)]));
    steps.push({ kind: 'keep', where: residual, slots: testSlots, subquerySlots });
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
function planSubquery({ collection }: Query, slots: SlotList, of: SubqueryFilter, planner: Planner): SubqueryStep {
  const key = collection.key.map((column) => pathTo(collection, [], column));
  if (key.length === 0)
    fail('INVALID_ARGUMENT', {
      argument: 'filter',
      problem: `'${collection.name}' has no key, so one Or cannot combine a condition on a to-many relation with a field that the database cannot evaluate; use a separate call for each.`,
    });
  const select = key.map((path) => ({ name: path.id, path, through: [], leaf: path.id }));
  const query: Query = { collection, select, where: of, order: [], limit: null, skip: 0, cursor: false };
  const from = key.map((path) => slots.at(path));
  return { kind: 'ask', of, plan: planner.plan(query), key, from, into: slots.subquerySlot(of) };
}

/** One fetch for each relation to another source. The plan of a fetch follows further such relations. */
export function planFetches(query: Query, slots: SlotList, paths: readonly Path[], planner: Planner): FetchStep[] {
  const groups = new Map<string, Path[]>();
  for (const path of paths) {
    const id = relationPathId(path.via.slice(0, crossSourceIndex(path) + 1));
    groups.set(id, [...(groups.get(id) ?? []), path]);
  }
  return [...groups.values()].map((group) => {
    const [first] = group as [Path];
    const via = first.via.slice(0, crossSourceIndex(first) + 1);
    const relation = via.at(-1)!;
    const { to } = relation;
    const type = typeColumnOf(query, first);
    const targetPaths = [
      pathTo(to, [], relation.on[0]!.to),
      ...group.map((path) => pathTo(to, path.via.slice(via.length), path.field)),
    ];
    const fetchQuery: Query = {
      collection: to,
      select: targetPaths.map((path) => ({ name: path.id, path, through: [], leaf: path.id })),
      where: planTargetCondition(relation, planner),
      order: [],
      limit: null,
      skip: 0,
      cursor: false,
    };
    return {
      kind: 'fetch',
      via,
      from: slots.at(foreignKeyOf(query, first)),
      ...(type && { type: slots.at(type) }),
      query: fetchQuery,
      plan: planner.plan(fetchQuery),
      into: group.map((path) => slots.at(path)),
    };
  });
}

/** The foreign key column that points to the related record in another source. */
function foreignKeyOf({ collection }: Query, path: Path): Path {
  const at = crossSourceIndex(path);
  return pathTo(collection, path.via.slice(0, at), path.via[at]!.on[0]!.from);
}

/** The type column of a polymorphic relation; undefined for other relations. */
function typeColumnOf({ collection }: Query, path: Path): Path | undefined {
  const at = crossSourceIndex(path);
  const { only } = path.via[at]!;
  return only?.side === 'from' ? pathTo(collection, path.via.slice(0, at), only.column) : undefined;
}

export function planCompute(query: Query, slots: SlotList, path: Path): ComputeStep {
  const needs = resolveDependencies(query, path);
  const slot = (each: Path): Slot => slots.at(each);
  return {
    kind: 'compute',
    path,
    computedFrom: path.field.computedFrom!,
    shape: createShape(needs, 0, slot),
    from: [...new Set(needs.flatMap((named) => [slot(named.path), ...named.through.map((hop) => slot(hop.present))]))],
    guard: path.via.length ? slot(presencePath(query, path.via)) : null,
    into: slot(path),
  };
}

/** The dependencies of an added field, as paths from the collection of the query. */
export function resolveDependencies(query: Query, { via, field }: Path): readonly RequestedField[] {
  return field.computedFrom!.dependencies.map((need) => ({
    name: [...need.relationNames, need.leaf].join(':'),
    path: pathTo(query.collection, [...via, ...need.via], need.field),
    through: need.relationNames.map((name, index) => ({
      name,
      present: presencePath(query, [...via, ...need.via.slice(0, index + 1)]),
    })),
    leaf: need.leaf,
  }));
}

/** A column that is null exactly if the last relation has no record. */
function presencePath({ collection }: Query, via: Path['via']): Path {
  return pathTo(collection, via, via.at(-1)!.on[0]!.to);
}

export function createShape(select: readonly RequestedField[], depth: number, slot: (path: Path) => Slot): Shape {
  const leaves: [string, Slot][] = [];
  const inner = new Map<string, { hop: PathSegment; select: RequestedField[] }>();
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
    nested: [...inner].map(([name, group]) => [
      name,
      slot(group.hop.present),
      createShape(group.select, depth + 1, slot),
    ]),
  };
}
