// Plans conditions across relations that the database cannot join. For a relation to another data source, a lookup
// there finds the keys of the matching records, and the own record must contain one of these keys. Tests on one
// relation share a lookup. This file also plans to-many relations: as a condition on the other collection if both are
// in the same source, otherwise as a lookup.
import { fail } from '../../core/errors.ts';
import type { ScopeOf } from '../lower/filter.ts';
import { lowest } from '../lower/lowest-key.ts';
import { always, and, join, never, not } from '../lower/simplify.ts';
import type { Collection, Column, KeyPair, Relation } from '../model/types.ts';
import { awayAt, awayIn, idOf, isUnscoped, onlyAt, pathTo } from '../resolve/paths.ts';
import { holds } from '../sources/evaluate.ts';
import { eachTest, isDecidedHere, splitFilter } from './residual.ts';
import type { Any, Condition, Filter, Join, Lookup, Path, Query, ReadPlan } from './types.ts';

/** The planning functions of one call. */
export interface Planner {
  readonly scope: ScopeOf;
  plan(query: Query): ReadPlan;
  /** The joins that a condition needs. */
  joins(where: Filter): readonly Join[];
}

/** Whether the filter tests a field of another data source. */
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
 * Replaces tests on other data sources by lookups. Returns the same filter if it contains no such tests. Conditions
 * that are decided after reading remain unchanged: execution fetches their related values.
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

/**
 * Plans the to-many relations in a condition that is decided after reading, as conditions that a database can decide.
 */
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

/** The relations up to the cross-source relation that all tests of the filter share. */
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
 * If the filter also holds for a missing related record, the lookup is negated: it finds the keys that do not match,
 * and the own record must not contain one of them.
 */
function lookUp(home: Collection, filter: Filter, via: readonly Relation[], planner: Planner): Filter {
  const relation = via.at(-1)!;
  const behind = within(relation.to, filter, via.length);
  const holdsForNone = holds(withoutMany(behind), () => null);
  const where = and(meantBy(relation, planner), holdsForNone ? not(behind) : behind);
  const [{ from, to }] = relation.on as [Relation['on'][number]];
  const found = foundIn(pathTo(home, via.slice(0, -1), from), relation.to, to, where, planner, {
    collection: home.name,
    name: idOf(via),
  });
  const related = and(onlyAt(relation, 'from', home, via.slice(0, -1)), found);
  return holdsForNone ? not(related) : related;
}

/**
 * The condition that a record of another source must satisfy as the target of the relation. Throws CONFIGURATION if its
 * row scope cannot be applied.
 */
export function meantBy(relation: Relation, planner: Planner): Filter {
  const { to } = relation;
  const seen = isUnscoped(relation) ? always : planner.scope(to);
  const own = and(onlyAt(relation, 'to', to, []), seen);
  if (!relation.lowestBy) return own;
  const where = planAway(to, seen, planner);
  // Fail closed: the target's database must find the lowest key, and cannot apply this row scope.
  if (splitFilter(where).rest.op !== 'always')
    fail('CONFIGURATION', {
      problem: `The row scope of '${to.name}' uses a field that the database cannot decide, so that a relation to one of several records of it cannot be followed; an administrator has to correct it.`,
    });
  return and(own, lowest(relation, { where, joins: planner.joins(where) }));
}

/** A missing record has no related records. */
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

/** Replaces to-many relations by conditions on keys. The plan of another source handles the relations there. */
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
  // Row scope applies to related records and to the rows of a many-to-many link.
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

/** Columns of a record, and the columns of a related record that must equal them. */
export interface Pairs {
  readonly home: Collection;
  readonly own: readonly Path[];
  readonly to: readonly Column[];
}

export function pairsOf(home: Collection, via: readonly Relation[], pairs: readonly KeyPair[]): Pairs {
  return { home, own: pairs.map(({ from }) => pathTo(home, via, from)), to: pairs.map(({ to }) => to) };
}

/** A condition: the other collection has a record with equal columns that satisfies `asked`. */
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

/** A condition: `own` equals `key` of a matching record. `of` names the relation in the error for too many keys. */
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

/** All lookups of a condition, including nested ones. */
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
  // The same row scope can occur several times. It needs one lookup.
  return [...new Set([...joins.flatMap(lookupsOf), ...visit(where)])];
}

/** The same tests, with paths that start after the first `depth` relations. */
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
