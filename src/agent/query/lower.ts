// Everything that decides which records are meant becomes one Filter of tests that the source answers itself: row scope
// AND search AND filter, operators said with others, constants folded.
import type { Access } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import type { PlainFilter } from '../../core/filter.ts';
import type { Collection, Moment, Said } from '../model/types.ts';
import { resolveFilter } from './resolve.ts';
import { searchFilter } from './search.ts';
import { always, and, join, not } from './simplify.ts';
import type { Filter, Path } from './types.ts';
import { scopeViewOf, type View } from './view.ts';

export interface Conditions {
  readonly filter?: PlainFilter | null;
  readonly search?: string;
  readonly searchExtended?: boolean;
}

/** The rows of a collection that the caller may see. */
export type ScopeOf = (collection: Collection) => Filter;

/** The row scope of the caller is always in it: nothing can be lowered without one. */
export function lowerConditions(scope: ScopeOf, view: View, conditions: Conditions, moment: Moment): Filter {
  const { filter, search, searchExtended = false } = conditions;
  return and(
    scope(view.collection),
    search ? lower(searchFilter(view, search, searchExtended), moment) : always,
    filter ? lower(resolveFilter(view, filter, moment), moment) : always,
  );
}

/** A resolved filter with every test answered by the source. */
export function lower(filter: Filter, moment: Moment): Filter {
  switch (filter.op) {
    case 'and':
    case 'or':
      return join(
        filter.op,
        filter.of.map((each) => lower(each, moment)),
      );
    case 'not':
      return not(lower(filter.of, moment));
    case 'test': {
      const answer = filter.path.field.operators.get(filter.is);
      if (!answer || answer.by === 'native') return filter;
      return lower(place(answer.by.say(filter.value, moment), filter.path), moment);
    }
    default:
      return filter;
  }
}

function place(said: Said, path: Path): Filter {
  switch (said.op) {
    case 'test':
      return { op: 'test', path, is: said.is, value: said.value };
    case 'not':
      return { op: 'not', of: place(said.of, path) };
    default:
      return { op: said.op, of: said.of.map((each) => place(each, path)) };
  }
}

interface Scope {
  readonly resolved: Filter;
  /** When it does not depend on the time. */
  readonly lowered: Filter | undefined;
}

const scopes = new WeakMap<Access, Map<Collection, Scope>>();

/**
 * The rows that the caller may see. Names in it are looked up without permissions and other scopes: whoever writes a
 * scope sees everything. The moment is that of the caller's profile: arguments must not move the dates of a scope.
 * A scope that cannot be used lets nothing through: CONFIGURATION.
 */
export function scopeOf(access: Access, collection: Collection, moment: Moment): Filter {
  let known = scopes.get(access);
  if (!known) {
    known = new Map();
    scopes.set(access, known);
  }
  let scope = known.get(collection);
  if (!scope) {
    const resolved = resolveScope(access, collection, moment);
    scope = { resolved, lowered: isDated(resolved) ? undefined : lower(resolved, moment) };
    known.set(collection, scope);
  }
  return scope.lowered ?? lower(scope.resolved, moment);
}

function resolveScope(access: Access, collection: Collection, moment: Moment): Filter {
  const plain = access.scope(collection.name);
  if (plain === null) return always;
  try {
    return resolveFilter(scopeViewOf(access, collection), plain, moment);
  } catch (cause) {
    return fail(
      'CONFIGURATION',
      { problem: `The row scope of '${collection.name}' cannot be used; an administrator has to correct it.` },
      cause,
    );
  }
}

function isDated(filter: Filter): boolean {
  switch (filter.op) {
    case 'and':
    case 'or':
      return filter.of.some(isDated);
    case 'not':
      return isDated(filter.of);
    case 'test': {
      const by = filter.path.field.operators.get(filter.is)?.by;
      return typeof by === 'object' && by.dated;
    }
    default:
      return false;
  }
}
