// Relations to another data source cannot be joined. What a filter says of fields behind one is decided there first: the
// keys of the records that satisfy it are looked up, and the record must hold one of them. Tests behind one relation are
// looked up together. What a filter says of fields behind a relation to many is planned here as well: in the same source as
// a condition on the other collection, else by a lookup.
import { fail } from '../../core/errors.ts';
import type { Collection, Column, KeyPair, Relation } from '../model/types.ts';
import { holds } from '../sources/evaluate.ts';
import type { Condition, Join } from '../sources/source.ts';
import { eachTest, isDecidedHere, splitFilter } from './here.ts';
import type { ScopeOf } from './lower.ts';
import { awayAt, awayIn, idOf, isUnscoped, onlyAt, pathTo } from './paths.ts';
import { always, and, join, never, not } from './simplify.ts';
import type { Any, Filter, Lookup, Path, Query, ReadPlan } from './types.ts';

/** What planning needs of the call that it is for. */
export interface Planner {
  readonly scope: ScopeOf;
  plan(query: Query): ReadPlan;
  /** The joins that a condition needs. */
  joins(where: Filter): readonly Join[];
}

/** Whether a test is on a field behind such a relation. */
export function isAway(filter: Filter): boolean {
  switch (filter.op) {
    case 'test':
      return awayAt(filter.path) >= 0;
    case 'any':
      return awayIn(filter.via) >= 0;
    case 'not':
      return isAway(filter.of);
    case 'and':
    case 'or':
      return filter.of.some(isAway);
    default:
      return false;
  }
}

/**
 * The filter with lookups in place of such tests; itself when there are none. A condition that has to be decided after
 * reading anyway is left as it is: what it says of related records is fetched then.
 */
export function planAway(home: Collection, asked: Filter, planner: Planner): Filter {
  const filter = planMany(home, asked, planner);
  if (!isAway(filter)) return filter;
  const behind = relationBehind(filter);
  if (!behind && filter.op !== 'and' && isLeftHere(filter)) return filter;
  if (behind) return lookUp(home, filter, behind, planner);
  if (filter.op === 'not') return not(planAway(home, filter.of, planner));
  if (filter.op !== 'and' && filter.op !== 'or') return filter;
  const together = new Map<string, Filter[]>();
  for (const [index, each] of filter.of.entries()) {
    const via = relationBehind(each);
    const id = via ? idOf(via) : `${index}`;
    together.set(via ? `:${id}` : id, [...(together.get(`:${id}`) ?? []), each]);
  }
  return join(
    filter.op,
    [...together.values()].map((parts) =>
      planAway(home, parts.length === 1 ? parts[0]! : { op: filter.op, of: parts }, planner),
    ),
  );
}

/** What is decided after reading, with what it says of relations to many in a form that the database can be asked. */
export function planLeft(home: Collection, left: Filter, planner: Planner): Filter {
  switch (left.op) {
    case 'any':
      return planAway(home, left, planner);
    case 'not': {
      const of = planLeft(home, left.of, planner);
      return of === left.of ? left : not(of);
    }
    case 'and':
    case 'or': {
      const of = left.of.map((each) => planLeft(home, each, planner));
      return of.every((each, at) => each === left.of[at]) ? left : join(left.op, of);
    }
    default:
      return left;
  }
}

function isLeftHere(filter: Filter): boolean {
  let isLeft = false;
  eachTest(filter, (test) => {
    isLeft ||= awayAt(test.path) < 0 && isDecidedHere(test);
  });
  return isLeft;
}

/** The relations up to the one that all tests of the filter are behind. */
function relationBehind(filter: Filter): readonly Relation[] | undefined {
  switch (filter.op) {
    case 'test': {
      const at = awayAt(filter.path);
      return at < 0 ? undefined : filter.path.via.slice(0, at + 1);
    }
    case 'any': {
      const at = awayIn(filter.via);
      return at < 0 ? undefined : filter.via.slice(0, at + 1);
    }
    case 'not':
      return relationBehind(filter.of);
    case 'and':
    case 'or': {
      const [first, ...others] = filter.of.map(relationBehind);
      if (!first) return undefined;
      return others.every((other) => other && idOf(other) === idOf(first)) ? first : undefined;
    }
    default:
      return undefined;
  }
}

/**
 * What also holds where there is no related record is said the other way round: the record must not hold the key of one
 * for which it does not.
 */
function lookUp(home: Collection, filter: Filter, via: readonly Relation[], planner: Planner): Filter {
  const relation = via.at(-1)!;
  const behind = within(relation.to, filter, via.length);
  const holdsForNone = holds(withoutMany(behind), () => null);
  const where = and(
    onlyAt(relation, 'to', relation.to, []),
    isUnscoped(relation) ? always : planner.scope(relation.to),
    holdsForNone ? not(behind) : behind,
  );
  const [{ from, to }] = relation.on as [Relation['on'][number]];
  const found = foundIn(pathTo(home, via.slice(0, -1), from), relation.to, to, where, planner, {
    collection: home.name,
    name: idOf(via),
  });
  const related = and(onlyAt(relation, 'from', home, via.slice(0, -1)), found);
  return holdsForNone ? not(related) : related;
}

/** Where there is no record, nothing is related to it. */
function withoutMany(filter: Filter): Filter {
  switch (filter.op) {
    case 'any':
      return never;
    case 'not':
      return not(withoutMany(filter.of));
    case 'and':
    case 'or':
      return join(filter.op, filter.of.map(withoutMany));
    default:
      return filter;
  }
}

/** The filter with the relations to many said by what the records hold; those behind another source are left to its plan. */
function planMany(home: Collection, filter: Filter, planner: Planner): Filter {
  switch (filter.op) {
    case 'any':
      return awayIn(filter.via) >= 0 ? filter : planAny(home, filter, planner);
    case 'not': {
      const of = planMany(home, filter.of, planner);
      return of === filter.of ? filter : not(of);
    }
    case 'and':
    case 'or': {
      const of = filter.of.map((each) => planMany(home, each, planner));
      return of.every((each, at) => each === filter.of[at]) ? filter : join(filter.op, of);
    }
    default:
      return filter;
  }
}

function planAny(home: Collection, { via, relation, of, scoped }: Any, planner: Planner): Filter {
  const { to, on, through } = relation;
  // Row scope holds through relations: only rows count that the caller may see, of the pairs as well.
  const visible = (collection: Collection) => (scoped ? planner.scope(collection) : always);
  const name = { collection: home.name, name: idOf([...via, relation]) };
  const where = and(onlyAt(relation, 'to', to, []), visible(to), of);
  const related = through
    ? isIn(
        pairsOf(home, via, through.origin),
        through.collection,
        and(
          visible(through.collection),
          isIn(pairsOf(through.collection, [], through.foreign), to, where, planner, name),
        ),
        planner,
        name,
      )
    : isIn(pairsOf(home, via, on), to, where, planner, name);
  return and(onlyAt(relation, 'from', home, via), related);
}

/** What a record holds, and what another has to hold to belong to it. */
export interface Pairs {
  readonly home: Collection;
  readonly own: readonly Path[];
  readonly to: readonly Column[];
}

export function pairsOf(home: Collection, via: readonly Relation[], pairs: readonly KeyPair[]): Pairs {
  return { home, own: pairs.map(({ from }) => pathTo(home, via, from)), to: pairs.map(({ to }) => to) };
}

/** The record has a partner in the other collection, by the pairs. */
export function isIn(
  { home, own, to }: Pairs,
  collection: Collection,
  asked: Filter,
  planner: Planner,
  of: Lookup['of'],
): Filter {
  const where = planAway(collection, asked, planner);
  if (where.op === 'never') return never;
  if (collection.source === home.source && splitFilter(where).rest.op === 'always') {
    const keys = to.map((column) => pathTo(collection, [], column));
    return { op: 'some', own, other: { collection, keys, where, joins: planner.joins(where) } };
  }
  const [path, ...more] = own;
  if (path && more.length === 0) return foundIn(path, collection, to[0]!, asked, planner, of);
  const because = `a field that the database cannot decide, so that '${of.name}' of '${of.collection}' cannot be followed by its composite key`;
  if (splitFilter(planAway(collection, planner.scope(collection), planner)).rest.op !== 'always')
    fail('CONFIGURATION', {
      problem: `The row scope of '${collection.name}' uses ${because}; an administrator has to correct it.`,
    });
  return fail('INVALID_ARGUMENT', { argument: 'filter', problem: `it uses ${because}.` });
}

/** That the record holds what some record of a collection has in `key`; `of` names what there may be too many of. */
export function foundIn(
  own: Path,
  collection: Collection,
  key: Column,
  where: Filter,
  planner: Planner,
  of: Lookup['of'],
): Filter {
  const path = pathTo(collection, [], key);
  const select = [{ name: path.id, path, through: [], leaf: path.id }];
  const query = { collection, select, where, order: [], limit: null, skip: 0, cursor: false };
  return { op: 'found', own, lookup: { of, query, plan: planner.plan(query) } };
}

/** Every lookup of a condition, those within others too. */
export function lookupsOf({ where, joins }: Condition): Lookup[] {
  const visit = (filter: Filter): Lookup[] => {
    switch (filter.op) {
      case 'found':
        return [filter.lookup];
      case 'some':
        return lookupsOf(filter.other);
      case 'not':
        return visit(filter.of);
      case 'and':
      case 'or':
        return filter.of.flatMap(visit);
      default:
        return [];
    }
  };
  return [...joins.flatMap((each) => visit(each.where)), ...visit(where)];
}

/** The same tests, seen from behind the relations. */
function within(collection: Collection, filter: Filter, depth: number): Filter {
  switch (filter.op) {
    case 'test':
      return { ...filter, path: pathTo(collection, filter.path.via.slice(depth), filter.path.field) };
    case 'any':
      return { ...filter, via: filter.via.slice(depth) };
    case 'not':
      return { op: 'not', of: within(collection, filter.of, depth) };
    case 'and':
    case 'or':
      return { op: filter.op, of: filter.of.map((each) => within(collection, each, depth)) };
    default:
      return filter;
  }
}
