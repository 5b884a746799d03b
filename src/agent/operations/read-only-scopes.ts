// A row scope makes a collection read-only if its database cannot evaluate it. Code would evaluate it outside the
// transaction, and other writes could change the records before the commit.
import type { Access } from '../../core/caller.ts';
import { fail, isAppError } from '../../core/errors.ts';
import {
  comparedNames,
  isBranch,
  isComparison,
  isQuantified,
  joinPaths,
  type PlainFilter,
  readQuantified,
} from '../../core/filter.ts';
import { lower } from '../lower/filter.ts';
import type { Collection } from '../model/types.ts';
import { isEvaluatedInMemory, isReadAfterwards } from '../plan/residual.ts';
import type { Filter } from '../plan/types.ts';
import { resolveFilter } from '../resolve/filter.ts';
import { resolveName } from '../resolve/names.ts';
import { relationPathId } from '../resolve/paths.ts';
import { type CollectionView, scopeViewOf } from '../resolve/visibility.ts';
import { comparedPaths } from '../sources/aggregate/expression.ts';
import { type Call, callOf, type Operations, scopesOf } from './call.ts';

/** Throws FORBIDDEN with the name of the field. */
export function requireNativeScope(call: Call, collection: Collection, verb: string): void {
  const field = findResidualScopeField(call, collection);
  if (field === undefined) return;
  const why = `the database cannot evaluate '${field}' of your row scope, so you can only read here. An administrator can define the scope with stored fields of this database.`;
  fail('FORBIDDEN', { verb, collection: collection.name, why });
}

/** The first field of the row scope that the database of the collection cannot evaluate. */
export function findResidualScopeField(call: Call, collection: Collection): string | undefined {
  return findInLowered(scopesOf(call)(collection));
}

/** The same for a stored row scope filter. Undefined for an invalid filter, which other checks report. */
export function findResidualFilterField(
  ops: Operations,
  access: Access,
  collection: Collection,
  filter: PlainFilter,
): string | undefined {
  return findInFilter(callOf(ops, access, {}, {}), scopeViewOf(access, collection), filter);
}

function findInFilter(call: Call, view: CollectionView, filter: PlainFilter): string | undefined {
  try {
    const { moment, code } = call;
    const lowered = lower(resolveFilter(view, filter, moment), { view, moment, code });
    return lowered instanceof Promise ? undefined : findInLowered(lowered);
  } catch (error) {
    return isAppError(error, 'INVALID_VALUE') ? findInNames(call, view, filter) : undefined;
  }
}

/**
 * A variable such as {{currentUser.id}} is not a valid value of the field, so only fields and operators are checked.
 */
function findInNames(call: Call, view: CollectionView, filter: PlainFilter): string | undefined {
  if (isBranch(filter)) return findFirst(filter.conditions, (each) => findInFilter(call, view, each));
  if (isQuantified(filter)) {
    const { path, where } = readQuantified(filter);
    const relation = view.relations.find(({ name }) => name === path);
    const inner = relation && where ? findInFilter(call, view.forCollection(relation.to), where) : undefined;
    return findInFilter(call, view, { some: path } as PlainFilter) ?? (inner && joinPaths(path, inner));
  }
  if (isComparison(filter)) {
    const paths = comparedNames(filter).map((name) => resolveName(view, name).path);
    return findFirst(paths, (path) => (isReadAfterwards(path) ? withoutScopeMark(path.id) : undefined));
  }
  const { path } = resolveName(view, filter.field);
  return findInLowered({ op: 'test', path, is: filter.operator, value: null });
}

function findInLowered(filter: Filter): string | undefined {
  switch (filter.op) {
    case 'test':
      return isEvaluatedInMemory(filter) ? withoutScopeMark(filter.path.id) : undefined;
    case 'compare':
      return isEvaluatedInMemory(filter)
        ? findFirst(comparedPaths(filter), (path) => withoutScopeMark(path.id))
        : undefined;
    case 'any': {
      const relations = [...filter.via, filter.relation];
      const name = withoutScopeMark(relationPathId(relations));
      if (relations.some(({ reach }) => reach !== 'join')) return name;
      const inner = findInLowered(filter.of);
      return inner === undefined ? undefined : joinPaths(name, inner);
    }
    case 'not':
      return findInLowered(filter.of);
    case 'and':
    case 'or':
      return findFirst(filter.of, findInLowered);
    default:
      return undefined;
  }
}

function findFirst<T>(list: readonly T[], find: (each: T) => string | undefined): string | undefined {
  for (const each of list) {
    const found = find(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Removes the mark of relations that a row scope uses (paths.ts). */
const withoutScopeMark = (id: string): string => id.replaceAll('\0scope', '');
