// Everything that decides which records are meant becomes one Filter of tests that the source answers itself: row scope
// AND search AND filter, operators said with others, constants folded.
import type { Access } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import type { PlainFilter } from '../../core/filter.ts';
import { nearNames } from '../../core/suggestions.ts';
import type { CustomizationContext, MaybePromise } from '../customize/context.ts';
import { callCode, failCode, whenAll, whenDone } from '../customize/user-code.ts';
import type { Collection, Moment, Relation, Replacement, Said } from '../model/types.ts';
import type { Filter, Path } from '../plan/types.ts';
import { resolveClear } from '../resolve/ambiguity.ts';
import { replant, resolveFilter } from '../resolve/filter.ts';
import { scopeViewOf, type View } from '../resolve/visibility.ts';
import { checkSearch, searchFilter } from './search.ts';
import { always, and, join, never, not } from './simplify.ts';

export interface Conditions {
  readonly filter?: PlainFilter | null;
  readonly search?: string;
  readonly searchExtended?: boolean;
  readonly segment?: string;
}

/** The rows of a collection that the caller may see. */
export type ScopeOf = (collection: Collection) => Filter;

/** What a lowering needs besides the filter. `code` is asked for only where customization code has to be called. */
export interface Lowering {
  /** The collection that the paths of the filter start at. */
  readonly view: View;
  readonly moment: Moment;
  readonly code: () => CustomizationContext;
  /** Replaced operators that are being answered, against circles. */
  readonly under?: readonly string[];
  /** What the filter says through relations to many stands as it was written, also where it can mean several things. */
  readonly isKept?: boolean;
}

/** The row scope of the caller is always in it: nothing can be lowered without one. UNKNOWN_SEGMENT. */
export function lowerConditions(scope: ScopeOf, conditions: Conditions, lowering: Lowering): MaybePromise<Filter> {
  const { filter, search, searchExtended = false, segment } = conditions;
  const { view, moment } = lowering;
  const scoped = scope(view.collection);
  const filtered = filter ? lower(resolveClear(view, filter, moment), lowering) : always;
  if (segment === undefined && !search) return whenDone(filtered, (where) => and(scoped, where));
  return whenAll(
    [
      scoped,
      segment === undefined ? always : lowerSegment(segment, lowering),
      search ? lowerSearch(search, searchExtended, lowering) : always,
      filtered,
    ],
    (parts) => and(...parts),
  );
}

function lowerSegment(name: string, lowering: Lowering): MaybePromise<Filter> {
  const { collection } = lowering.view;
  const { segments } = collection.rules;
  const found = segments.get(name);
  if (!found) {
    const near = nearNames(String(name), segments.keys());
    return fail('UNKNOWN_SEGMENT', { collection: collection.name, segment: String(name), near });
  }
  const { definition, at } = found;
  // What a segment of old means it goes on meaning; `portico doctor` names those that are not clear.
  if (typeof definition !== 'function') return lowerInside(definition, { ...lowering, isKept: true });
  const what = `the segment '${name}' of '${collection.name}'`;
  return whenDone(
    callCode(what, at, () => definition(lowering.code())),
    (plain) => lowerInside(plain, { ...lowering, isKept: true }, { what, at }),
  );
}

function lowerSearch(search: string, extended: boolean, lowering: Lowering): MaybePromise<Filter> {
  const { collection } = lowering.view;
  const rule = collection.rules.search;
  if (rule === 'columns') return lower(searchFilter(lowering.view, search, extended, lowering.moment), lowering);
  if (rule === 'none')
    return fail('INVALID_ARGUMENT', {
      argument: 'search',
      problem: `'${collection.name}' cannot be searched; filter it.`,
    });
  checkSearch(search);
  const what = `the search of '${collection.name}'`;
  return whenDone(
    callCode(what, rule.at, () => rule.replace(search, extended, lowering.code())),
    (plain) => lowerInside(plain, lowering, { what, at: rule.at }),
  );
}

/** A filter that code wrote, about the collection of the view or the one that `via` leads to. */
export function lowerInside(
  plain: PlainFilter,
  lowering: Lowering,
  by?: { readonly what: string; readonly at: string },
  via: readonly Relation[] = [],
): MaybePromise<Filter> {
  const { view, moment, isKept } = lowering;
  const collection = via.at(-1)?.to ?? view.collection;
  const resolve = () => (isKept ? resolveFilter : resolveClear)(view.inside(collection), plain, moment);
  const resolved = by ? (callCode(by.what, by.at, resolve, true) as Filter) : resolve();
  return lower(via.length ? replant(resolved, view.collection, via) : resolved, lowering);
}

/** A resolved filter with every test answered by the source, or after reading; at once unless code takes its time. */
export function lower(filter: Filter, lowering: Lowering): MaybePromise<Filter> {
  switch (filter.op) {
    case 'and':
    case 'or':
      return whenAll(
        filter.of.map((each) => lower(each, lowering)),
        (of) => join(filter.op, of),
      );
    case 'not':
      return whenDone(lower(filter.of, lowering), not);
    case 'any':
      return whenDone(
        lower(filter.of, { ...lowering, view: lowering.view.other(filter.relation.to) }),
        (of): Filter => (of.op === 'never' ? never : { ...filter, of }),
      );
    case 'test': {
      const by = filter.path.field.operators.get(filter.is)?.by;
      if (by === undefined || by === 'native' || by === 'here') return filter;
      if ('say' in by) return lower(placeSaid(by.say(filter.value, lowering.moment), filter.path), lowering);
      return lowerReplaced(filter, by, lowering);
    }
    default:
      return filter;
  }
}

function lowerReplaced(
  { path, is, value }: Filter & { readonly op: 'test' },
  { replace, at }: Replacement,
  lowering: Lowering,
): MaybePromise<Filter> {
  const id = `${path.id} ${is}`;
  const under = lowering.under ?? [];
  const what = `the operator '${is}' of '${path.id}'`;
  if (under.includes(id))
    failCode(what, at, new Error(`Operator replacements go in a circle: ${[...under, id].join(' -> ')}`));
  return whenDone(
    callCode(what, at, () => replace(value, lowering.code())),
    (plain) => lowerInside(plain, { ...lowering, under: [...under, id] }, { what, at }, path.via),
  );
}

/** The condition as one on the path. */
export function placeSaid(said: Said, path: Path): Filter {
  switch (said.op) {
    case 'test':
      return { op: 'test', path, is: said.is, value: said.value };
    case 'not':
      return { op: 'not', of: placeSaid(said.of, path) };
    default:
      return { op: said.op, of: said.of.map((each) => placeSaid(each, path)) };
  }
}

interface Scope {
  readonly resolved: Filter;
  /** When it does not depend on the time. */
  readonly lowered: Filter | undefined;
}

/** Weak in the collections too: an Access outlives the models of many restarts, and must not keep them. */
const scopes = new WeakMap<Access, WeakMap<Collection, Scope>>();

/**
 * The rows that the caller may see. Names in it are looked up without permissions and other scopes: whoever writes a
 * scope sees everything. The moment is that of the caller's profile: arguments must not move the dates of a scope.
 * A scope that cannot be used lets nothing through: CONFIGURATION.
 */
export function scopeOf(
  access: Access,
  collection: Collection,
  moment: Moment,
  code: () => CustomizationContext,
): Filter {
  let known = scopes.get(access);
  if (!known) {
    known = new WeakMap();
    scopes.set(access, known);
  }
  let scope = known.get(collection);
  if (!scope) {
    const resolved = resolveScope(access, collection, moment);
    scope = {
      resolved,
      lowered: isDated(resolved) ? undefined : lowerScope(access, collection, resolved, moment, code),
    };
    known.set(collection, scope);
  }
  return scope.lowered ?? lowerScope(access, collection, scope.resolved, moment, code);
}

/** At once: a scope stands within joins, which are planned without waiting. */
function lowerScope(
  access: Access,
  collection: Collection,
  resolved: Filter,
  moment: Moment,
  code: () => CustomizationContext,
): Filter {
  const view = scopeViewOf(access, collection);
  const lowered = lower(resolved, { view, moment, code });
  return lowered instanceof Promise ? unusable(collection) : lowered;
}

function resolveScope(access: Access, collection: Collection, moment: Moment): Filter {
  const plain = collection.isGiven ? null : access.scope(collection.name);
  if (plain === null) return always;
  try {
    return resolveFilter(scopeViewOf(access, collection), plain, moment);
  } catch (cause) {
    return unusable(collection, cause);
  }
}

function unusable(collection: Collection, cause?: unknown): never {
  return fail(
    'CONFIGURATION',
    { problem: `The row scope of '${collection.name}' cannot be used; an administrator has to correct it.` },
    cause,
  );
}

function isDated(filter: Filter): boolean {
  switch (filter.op) {
    case 'and':
    case 'or':
      return filter.of.some(isDated);
    case 'not':
    case 'any':
      return isDated(filter.of);
    case 'test': {
      const by = filter.path.field.operators.get(filter.is)?.by;
      return typeof by === 'object' && (!('say' in by) || by.dated);
    }
    default:
      return false;
  }
}
