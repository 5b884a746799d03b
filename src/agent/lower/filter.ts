// Lowers the conditions of a request to one Filter of tests that the source can evaluate: row scope AND segment AND
// search AND filter. Operators that the source lacks are rewritten in terms of others.
import type { Access } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import type { PlainFilter } from '../../core/filter.ts';
import { suggestNames } from '../../core/suggestions.ts';
import type { CustomizationContext, MaybePromise } from '../customize/context.ts';
import { callCode, failCode, whenAll, whenDone } from '../customize/user-code.ts';
import type { Collection, ColumnCondition, Moment, Query, Relation, Replacement } from '../model/types.ts';
import type { Filter, Path } from '../plan/types.ts';
import { resolveUnambiguous } from '../resolve/ambiguity.ts';
import { prependRelations, resolveFilter } from '../resolve/filter.ts';
import { pathTo } from '../resolve/paths.ts';
import { visibleSegments } from '../resolve/stored-definitions.ts';
import { type CollectionView, isQueryVisible, scopeViewOf } from '../resolve/visibility.ts';
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

/** The context of lowering. `code` is called only if customization code has to run. */
export interface Lowering {
  /** The collection where the paths of the filter start. */
  readonly view: CollectionView;
  readonly moment: Moment;
  readonly code: () => CustomizationContext;
  /** The operator replacements in progress, to detect cycles. */
  readonly activeReplacements?: readonly string[];
  /** Accepts ambiguous conditions through to-many relations. */
  readonly acceptsAmbiguity?: boolean;
}

/** The result always includes the caller's row scope. Throws UNKNOWN_SEGMENT. */
export function lowerConditions(scope: ScopeOf, conditions: Conditions, lowering: Lowering): MaybePromise<Filter> {
  const { filter, search, searchExtended = false, segment } = conditions;
  const { view } = lowering;
  const scoped = scope(view.collection);
  const filtered = filter ? lowerFilter(filter, lowering) : always;
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

/** Lowers a filter of a request. */
export function lowerFilter(filter: PlainFilter, lowering: Lowering): MaybePromise<Filter> {
  return lower(resolveUnambiguous(lowering.view, filter, lowering.moment), lowering);
}

function lowerSegment(name: string, lowering: Lowering): MaybePromise<Filter> {
  const { collection } = lowering.view;
  const { segments } = collection.rules;
  const found = segments.get(name);
  if (!found) {
    const ofConsole = visibleSegments(lowering.view);
    const stored = ofConsole.get(name);
    if (stored) return lowerFilter(stored.filter, lowering);
    const near = suggestNames(String(name), [...segments.keys(), ...ofConsole.keys()]);
    return fail('UNKNOWN_SEGMENT', { collection: collection.name, segment: String(name), near });
  }
  const { definition, at } = found;
  // Existing segments keep their meaning. `portico doctor` lists the ambiguous ones.
  if (typeof definition !== 'function') return lowerInternal(definition, { ...lowering, acceptsAmbiguity: true });
  const what = `the segment '${name}' of '${collection.name}'`;
  return whenDone(
    callCode(what, at, () => definition(lowering.code())),
    (plain) => lowerInternal(plain, { ...lowering, acceptsAmbiguity: true }, { what, at }),
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
    (plain) => lowerInternal(plain, lowering, { what, at: rule.at }),
  );
}

/** Lowers a filter from customization code, on the collection of the view or at the end of `via`. */
export function lowerInternal(
  plain: PlainFilter,
  lowering: Lowering,
  by?: { readonly what: string; readonly at: string },
  via: readonly Relation[] = [],
): MaybePromise<Filter> {
  const { view, moment, acceptsAmbiguity: isKept } = lowering;
  const collection = via.at(-1)?.to ?? view.collection;
  const resolve = () => (isKept ? resolveFilter : resolveUnambiguous)(view.toInternal(collection), plain, moment);
  const resolved = by ? (callCode(by.what, by.at, resolve, true) as Filter) : resolve();
  return lower(via.length ? prependRelations(resolved, view.collection, via) : resolved, lowering);
}

/** Every test of the result is evaluated by the source, or after reading. A promise only if code returns one. */
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
        lower(filter.of, { ...lowering, view: lowering.view.forCollection(filter.relation.to) }),
        (of): Filter => (of.op === 'never' ? never : { ...filter, of }),
      );
    case 'test': {
      const by = filter.path.field.operators.get(filter.is)?.evaluatedBy;
      if (by === undefined || by === 'native' || by === 'here') return filter;
      if ('toCondition' in by)
        return lower(applyToPath(by.toCondition(filter.value, lowering.moment), filter.path), lowering);
      return lowerReplacement(filter, by, lowering);
    }
    default:
      return filter;
  }
}

function lowerReplacement(
  { path, is, value }: Filter & { readonly op: 'test' },
  { replace, at }: Replacement,
  lowering: Lowering,
): MaybePromise<Filter> {
  const id = `${path.id} ${is}`;
  const under = lowering.activeReplacements ?? [];
  const what = `the operator '${is}' of '${path.id}'`;
  if (under.includes(id))
    failCode(what, at, new Error(`Circular operator replacements: ${[...under, id].join(' -> ')}`));
  return whenDone(
    callCode(what, at, () => replace(value, lowering.code())),
    (plain) => lowerInternal(plain, { ...lowering, activeReplacements: [...under, id] }, { what, at }, path.via),
  );
}

/** Applies the condition to the path. */
export function applyToPath(condition: ColumnCondition, path: Path): Filter {
  switch (condition.op) {
    case 'test':
      return { op: 'test', path, is: condition.is, value: condition.value };
    case 'not':
      return { op: 'not', of: applyToPath(condition.of, path) };
    default:
      return { op: condition.op, of: condition.of.map((each) => applyToPath(each, path)) };
  }
}

interface CachedScope {
  readonly resolved: Filter;
  /** Undefined if it depends on the time. */
  readonly lowered: Filter | undefined;
}

/** Weak in the collections too: an Access outlives the models of many restarts, and must not retain them. */
const scopes = new WeakMap<Access, WeakMap<Collection, CachedScope>>();

/**
 * The rows that the caller may see. Names in a scope resolve without grants and other scopes, because its author sees
 * everything. `moment` has the timezone of the caller's profile: arguments must not shift the dates of a scope. Throws
 * CONFIGURATION for an invalid scope.
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
      lowered: dependsOnTime(resolved) ? undefined : lowerScope(access, collection, resolved, moment, code),
    };
    known.set(collection, scope);
  }
  const own = scope.lowered ?? lowerScope(access, collection, scope.resolved, moment, code);
  return collection.query ? and(own, ...queryScope(access, collection, collection.query)) : own;
}

/** The rows of a query whose related records the caller may see. */
function queryScope(access: Access, collection: Collection, { rowScope }: Query): Filter[] {
  if (!isQueryVisible(access, collection)) return [never];
  return rowScope.map((relation) =>
    not({ op: 'test', path: pathTo(collection, [relation], relation.on[0]!.to), is: 'Missing', value: null }),
  );
}

/** Synchronous, because joins include scopes and are planned synchronously. */
function lowerScope(
  access: Access,
  collection: Collection,
  resolved: Filter,
  moment: Moment,
  code: () => CustomizationContext,
): Filter {
  const view = scopeViewOf(access, collection);
  const lowered = lower(resolved, { view, moment, code });
  return lowered instanceof Promise ? failUnusableScope(collection) : lowered;
}

function resolveScope(access: Access, collection: Collection, moment: Moment): Filter {
  const plain = collection.isExternal ? null : access.scope(collection.name);
  if (plain === null) return always;
  try {
    return resolveFilter(scopeViewOf(access, collection), plain, moment);
  } catch (cause) {
    return failUnusableScope(collection, cause);
  }
}

function failUnusableScope(collection: Collection, cause?: unknown): never {
  return fail(
    'CONFIGURATION',
    { problem: `The row scope of '${collection.name}' cannot be used. An administrator must correct it.` },
    cause,
  );
}

function dependsOnTime(filter: Filter): boolean {
  switch (filter.op) {
    case 'and':
    case 'or':
      return filter.of.some(dependsOnTime);
    case 'not':
    case 'any':
      return dependsOnTime(filter.of);
    case 'test': {
      const by = filter.path.field.operators.get(filter.is)?.evaluatedBy;
      return typeof by === 'object' && (!('toCondition' in by) || by.dated);
    }
    default:
      return false;
  }
}
