// Plans conditions across relations that the database cannot join. For a relation to another data source, a lookup
// there finds the keys of the matching records, and the own record must contain one of these keys. Tests on one
// relation share a lookup. This file also plans to-many relations: as a condition on the other collection if both are
// in the same source, otherwise as a lookup.
import { fail } from '../../core/errors.ts';
import type { ScopeOf } from '../lower/filter.ts';
import { isLowest } from '../lower/lowest-key.ts';
import { always, and, join, never, not } from '../lower/simplify.ts';
import type { Collection, Column, KeyPair, Relation } from '../model/types.ts';
import {
  crossSourceIndex,
  findCrossSource,
  isUnscoped,
  pathTo,
  planTypeCondition,
  relationPathId,
} from '../resolve/paths.ts';
import { mapPaths } from '../sources/aggregate/expression.ts';
import { evaluateFilter } from '../sources/evaluate.ts';
import { isEvaluatedInMemory, pathsOf, splitFilter, visitTests } from './residual.ts';
import type { Condition, Filter, Join, Lookup, Path, Query, ReadPlan, RelationExists } from './types.ts';

/** The planning functions of one call. */
export interface Planner {
  readonly scope: ScopeOf;
  plan(query: Query): ReadPlan;
  /** The joins that a condition needs. */
  joins(where: Filter): readonly Join[];
}

/** Whether the filter tests a field of another data source. */
function crossesSource(filter: Filter): boolean {
  switch (filter.op) {
    case 'test':
    case 'compare':
      return pathsOf(filter).some((path) => crossSourceIndex(path) >= 0);
    case 'any':
      return findCrossSource(filter.via) >= 0;
    case 'not':
      return crossesSource(filter.of);
    case 'and':
    case 'or':
      return filter.of.some(crossesSource);
    default:
      return false;
  }
}

/**
 * Replaces tests on other data sources by lookups. Returns the same filter if it contains no such tests. Conditions
 * that are decided after reading remain unchanged: execution fetches their related values.
 */
export function planCrossSource(home: Collection, asked: Filter, planner: Planner): Filter {
  const filter = planToMany(home, asked, planner);
  if (!crossesSource(filter)) return filter;
  const shared = findSharedRelation(filter);
  if (!shared && filter.op !== 'and' && isResidual(filter)) return filter;
  if (shared) return planLookup(home, filter, shared, planner);
  if (filter.op === 'not') return not(planCrossSource(home, filter.of, planner));
  if (filter.op !== 'and' && filter.op !== 'or') return filter;
  const together = new Map<string, Filter[]>();
  for (const [index, each] of filter.of.entries()) {
    const via = findSharedRelation(each);
    const id = via ? relationPathId(via) : `${index}`;
    together.set(via ? `:${id}` : id, [...(together.get(`:${id}`) ?? []), each]);
  }
  return join(
    filter.op,
    [...together.values()].map((parts) =>
      planCrossSource(home, parts.length === 1 ? parts[0]! : { op: filter.op, of: parts }, planner),
    ),
  );
}

/**
 * Plans the to-many relations in a condition that is decided after reading, as conditions that a database can decide.
 */
export function planResidualFilter(home: Collection, residual: Filter, planner: Planner): Filter {
  switch (residual.op) {
    case 'any':
      return planCrossSource(home, residual, planner);
    case 'not': {
      const of = planResidualFilter(home, residual.of, planner);
      return of === residual.of ? residual : not(of);
    }
    case 'and':
    case 'or': {
      const of = residual.of.map((each) => planResidualFilter(home, each, planner));
      return of.every((each, at) => each === residual.of[at]) ? residual : join(residual.op, of);
    }
    default:
      return residual;
  }
}

function isResidual(filter: Filter): boolean {
  let isFound = false;
  visitTests(filter, (test) => {
    isFound ||= !findSharedRelation(test) && isEvaluatedInMemory(test);
  });
  return isFound;
}

/** The relations up to the cross-source relation that all tests of the filter share. */
function findSharedRelation(filter: Filter): readonly Relation[] | undefined {
  switch (filter.op) {
    case 'test':
    case 'compare':
      return findShared(
        pathsOf(filter).map((path) => {
          const at = crossSourceIndex(path);
          return at < 0 ? undefined : path.via.slice(0, at + 1);
        }),
      );
    case 'any': {
      const at = findCrossSource(filter.via);
      return at < 0 ? undefined : filter.via.slice(0, at + 1);
    }
    case 'not':
      return findSharedRelation(filter.of);
    case 'and':
    case 'or':
      return findShared(filter.of.map(findSharedRelation));
    default:
      return undefined;
  }
}

function findShared([first, ...others]: readonly (readonly Relation[] | undefined)[]): readonly Relation[] | undefined {
  if (!first) return undefined;
  return others.every((other) => other && relationPathId(other) === relationPathId(first)) ? first : undefined;
}

/**
 * If the filter also holds for a missing related record, the lookup is negated: it finds the keys that do not match,
 * and the own record must not contain one of them.
 */
function planLookup(home: Collection, filter: Filter, via: readonly Relation[], planner: Planner): Filter {
  const relation = via.at(-1)!;
  const behind = skipRelations(relation.to, filter, via.length);
  const holdsForNone = evaluateFilter(withoutToMany(behind), () => null);
  const where = and(planTargetCondition(relation, planner), holdsForNone ? not(behind) : behind);
  const [{ from, to }] = relation.on as [Relation['on'][number]];
  const found = planKeyLookup(pathTo(home, via.slice(0, -1), from), relation.to, to, where, planner, {
    collection: home.name,
    name: relationPathId(via),
  });
  const related = and(planTypeCondition(relation, 'from', home, via.slice(0, -1)), found);
  return holdsForNone ? not(related) : related;
}

/**
 * The condition that a record of another source must satisfy as the target of the relation. Throws CONFIGURATION if its
 * row scope cannot be applied.
 */
export function planTargetCondition(relation: Relation, planner: Planner): Filter {
  const { to } = relation;
  const seen = isUnscoped(relation) ? always : planner.scope(to);
  const own = and(planTypeCondition(relation, 'to', to, []), seen);
  if (!relation.lowestBy) return own;
  const where = planCrossSource(to, seen, planner);
  // Fail closed: the target's database must find the lowest key, and cannot apply this row scope.
  if (splitFilter(where).residual.op !== 'always')
    fail('CONFIGURATION', {
      problem: `The row scope of '${to.name}' uses a field that the database cannot evaluate, so a relation to one of several of its records cannot be followed. An administrator must correct it.`,
    });
  return and(own, isLowest(relation, { where, joins: planner.joins(where) }));
}

/** A missing record has no related records. */
function withoutToMany(filter: Filter): Filter {
  switch (filter.op) {
    case 'any':
      return never;
    case 'not':
      return not(withoutToMany(filter.of));
    case 'and':
    case 'or':
      return join(filter.op, filter.of.map(withoutToMany));
    default:
      return filter;
  }
}

/** Replaces to-many relations by conditions on keys. The plan of another source handles the relations there. */
function planToMany(home: Collection, filter: Filter, planner: Planner): Filter {
  switch (filter.op) {
    case 'any':
      return findCrossSource(filter.via) >= 0 ? filter : planRelationExists(home, filter, planner);
    case 'not': {
      const of = planToMany(home, filter.of, planner);
      return of === filter.of ? filter : not(of);
    }
    case 'and':
    case 'or': {
      const of = filter.of.map((each) => planToMany(home, each, planner));
      return of.every((each, at) => each === filter.of[at]) ? filter : join(filter.op, of);
    }
    default:
      return filter;
  }
}

function planRelationExists(home: Collection, { via, relation, of, scoped }: RelationExists, planner: Planner): Filter {
  const { to, on, through } = relation;
  // Row scope applies to related records and to the rows of a many-to-many link.
  const visible = (collection: Collection) => (scoped ? planner.scope(collection) : always);
  const name = { collection: home.name, name: relationPathId([...via, relation]) };
  const where = and(planTypeCondition(relation, 'to', to, []), visible(to), of);
  const related = through
    ? planExistsIn(
        toColumnPairs(home, via, through.origin),
        through.collection,
        and(
          visible(through.collection),
          planExistsIn(toColumnPairs(through.collection, [], through.foreign), to, where, planner, name),
        ),
        planner,
        name,
      )
    : planExistsIn(toColumnPairs(home, via, on), to, where, planner, name);
  return and(planTypeCondition(relation, 'from', home, via), related);
}

/** Columns of a record, and the columns of a related record that must equal them. */
interface ColumnPairs {
  readonly home: Collection;
  readonly own: readonly Path[];
  readonly to: readonly Column[];
}

export function toColumnPairs(home: Collection, via: readonly Relation[], pairs: readonly KeyPair[]): ColumnPairs {
  return { home, own: pairs.map(({ from }) => pathTo(home, via, from)), to: pairs.map(({ to }) => to) };
}

/** A condition: the other collection has a record with equal columns that satisfies `asked`. */
export function planExistsIn(
  { home, own, to }: ColumnPairs,
  collection: Collection,
  asked: Filter,
  planner: Planner,
  of: Lookup['of'],
): Filter {
  const where = planCrossSource(collection, asked, planner);
  if (where.op === 'never') return never;
  if (collection.source === home.source && splitFilter(where).residual.op === 'always') {
    const keys = to.map((column) => pathTo(collection, [], column));
    return { op: 'some', own, other: { collection, keys, where, joins: planner.joins(where) } };
  }
  const [path, ...more] = own;
  if (path && more.length === 0) return planKeyLookup(path, collection, to[0]!, asked, planner, of);
  const because = `a field that the database cannot evaluate, so '${of.name}' of '${of.collection}' cannot be followed by its composite key`;
  if (splitFilter(planCrossSource(collection, planner.scope(collection), planner)).residual.op !== 'always')
    fail('CONFIGURATION', {
      problem: `The row scope of '${collection.name}' uses ${because}. An administrator must correct it.`,
    });
  return fail('INVALID_ARGUMENT', { argument: 'filter', problem: `it uses ${because}.` });
}

/** A condition: `own` equals `key` of a matching record. `of` names the relation in the error for too many keys. */
function planKeyLookup(
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
export function collectLookups({ where, joins }: Condition): Lookup[] {
  const visit = (filter: Filter): Lookup[] => {
    switch (filter.op) {
      case 'found':
        return [filter.lookup];
      case 'some':
        return collectLookups(filter.other);
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
  return [...new Set([...joins.flatMap(collectLookups), ...visit(where)])];
}

/** The same tests, with paths that start after the first `depth` relations. */
function skipRelations(collection: Collection, filter: Filter, depth: number): Filter {
  switch (filter.op) {
    case 'test':
      return { ...filter, path: pathTo(collection, filter.path.via.slice(depth), filter.path.field) };
    case 'compare': {
      const skip = (path: Path) => pathTo(collection, path.via.slice(depth), path.field);
      return { ...filter, left: mapPaths(filter.left, skip), right: mapPaths(filter.right, skip) };
    }
    case 'any':
      return { ...filter, via: filter.via.slice(depth) };
    case 'not':
      return { op: 'not', of: skipRelations(collection, filter.of, depth) };
    case 'and':
    case 'or':
      return { op: filter.op, of: filter.of.map((each) => skipRelations(collection, each, depth)) };
    default:
      return filter;
  }
}
