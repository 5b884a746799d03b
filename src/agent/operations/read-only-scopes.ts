// A row scope makes a collection read-only if its database cannot evaluate it. Code would evaluate it outside the
// transaction, and other writes could change the records before the commit.
import type { Access } from '../../core/caller.ts';
import { fail, isAppError } from '../../core/errors.ts';
import { isBranch, isQuantified, joinPaths, type PlainFilter, readQuantified } from '../../core/filter.ts';
import { lower } from '../lower/filter.ts';
import type { Collection } from '../model/types.ts';
import { isDecidedHere } from '../plan/residual.ts';
import type { Filter } from '../plan/types.ts';
import { resolveFilter } from '../resolve/filter.ts';
import { resolveName } from '../resolve/names.ts';
import { idOf } from '../resolve/paths.ts';
import { scopeViewOf, type View } from '../resolve/visibility.ts';
import { type Call, callOf, type Operations, scopesOf } from './call.ts';

/** Throws FORBIDDEN with the name of the field. */
export function needDecidedScope(call: Call, collection: Collection, verb: string): void {
  const field = undecidedScope(call, collection);
  if (field === undefined) return;
  const why = `the database cannot decide '${field}' of your row scope, so that you only read here. An administrator can say the scope with stored fields of this database.`;
  fail('FORBIDDEN', { verb, collection: collection.name, why });
}

/** The first field of the row scope that the database of the collection cannot evaluate. */
export function undecidedScope(call: Call, collection: Collection): string | undefined {
  return undecidedIn(scopesOf(call)(collection));
}

/** The same for a stored row scope filter. Undefined for an invalid filter, which other checks report. */
export function undecidedByScope(
  ops: Operations,
  access: Access,
  collection: Collection,
  filter: PlainFilter,
): string | undefined {
  return look(callOf(ops, access, {}, {}), scopeViewOf(access, collection), filter);
}

function look(call: Call, view: View, filter: PlainFilter): string | undefined {
  try {
    const { moment, code } = call;
    const lowered = lower(resolveFilter(view, filter, moment), { view, moment, code });
    return lowered instanceof Promise ? undefined : undecidedIn(lowered);
  } catch (error) {
    return isAppError(error, 'INVALID_VALUE') ? lookAtNames(call, view, filter) : undefined;
  }
}

/**
 * A variable such as {{currentUser.id}} is not a valid value of the field, so only fields and operators are checked.
 */
function lookAtNames(call: Call, view: View, filter: PlainFilter): string | undefined {
  if (isBranch(filter)) return firstOf(filter.conditions, (each) => look(call, view, each));
  if (isQuantified(filter)) {
    const { path, where } = readQuantified(filter);
    const relation = view.relations.find(({ name }) => name === path);
    const inner = relation && where ? look(call, view.other(relation.to), where) : undefined;
    return look(call, view, { some: path } as PlainFilter) ?? (inner && joinPaths(path, inner));
  }
  const { path } = resolveName(view, filter.field);
  return undecidedIn({ op: 'test', path, is: filter.operator, value: null });
}

function undecidedIn(filter: Filter): string | undefined {
  switch (filter.op) {
    case 'test':
      return isDecidedHere(filter) ? plain(filter.path.id) : undefined;
    case 'any': {
      const relations = [...filter.via, filter.relation];
      const name = plain(idOf(relations));
      if (relations.some(({ reach }) => reach !== 'join')) return name;
      const inner = undecidedIn(filter.of);
      return inner === undefined ? undefined : joinPaths(name, inner);
    }
    case 'not':
      return undecidedIn(filter.of);
    case 'and':
    case 'or':
      return firstOf(filter.of, undecidedIn);
    default:
      return undefined;
  }
}

function firstOf<T>(list: readonly T[], look: (each: T) => string | undefined): string | undefined {
  for (const each of list) {
    const found = look(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Removes the mark of relations that a row scope uses (paths.ts). */
const plain = (id: string): string => id.replaceAll('\0scope', '');
