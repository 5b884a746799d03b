// The fields of a collection that a caller can see. Views are cached per Access. An Access has one version of the
// permissions, so cached views cannot become stale. A map caches resolved names.
//
// Hidden names are reported as unknown. They are: hidden fields, relations to collections without the browse
// permission, and relations with a hidden foreign key. Errors and suggestions never mention them.

import type { CollectionMeanings } from '../../core/caller/meanings.ts';
import type { Access } from '../../core/caller.ts';
import { fieldMeaning } from '../model/meaning.ts';
import type { Collection, Column, Field, Relation, Route, Through } from '../model/types.ts';
import type { RequestedField } from '../plan/types.ts';
import { toUnscopedRelation } from './paths.ts';

export interface CollectionView {
  readonly collection: Collection;
  /** Visible columns, in the order of the table. */
  readonly columns: readonly Column[];
  /** Visible relations. */
  readonly relations: readonly Relation[];
  /** The names of the visible columns that are not hidden by default. */
  readonly defaultFields: readonly string[];
  /** A cache of resolved names. */
  readonly names: Map<string, RequestedField>;
  readonly visibility: FieldVisibility;
  /** The view of another collection, with the same `sight`. */
  forCollection(collection: Collection): CollectionView;
  /** The view of customization code, for the same caller. */
  toInternal(collection: Collection): CollectionView;
}

/** The rules for looking up names: those of a caller, a row scope or customization code. */
interface FieldVisibility {
  /** The names of a collection. */
  fields(collection: Collection): ReadonlyMap<string, Field>;
  canSee(collection: Collection, field: Field): boolean;
  /** Whether the field is only read if a request names it. */
  isNamedOnly(collection: Collection, column: Column): boolean;
  /** What the console defines. It uses the names of callers, so code has none of it. */
  stored(collection: Collection): CollectionMeanings | undefined;
  /** The relation to join when the name of this one is used. */
  relationToJoin(relation: Relation): Relation;
  /** Whether row scope can hide rows of the collection. */
  hidesRows(collection: Collection): boolean;
  /** Whether all rows of the collection are hidden. */
  hidesAllRows(collection: Collection): boolean;
  /** Whether related records are limited to visible ones. False for a row scope. */
  readonly scoped: boolean;
  /** Whether minimum group sizes apply. */
  readonly isOfCaller: boolean;
}

/** Weak by collection too: an Access outlives models that restarts replace. */
interface Views {
  readonly caller: WeakMap<Collection, CollectionView>;
  readonly aggregate: WeakMap<Collection, CollectionView>;
  readonly scope: WeakMap<Collection, CollectionView>;
  readonly internal: WeakMap<Collection, CollectionView>;
}

const cachedViews = new WeakMap<Access, Views>();

function viewsOf(access: Access): Views {
  let views = cachedViews.get(access);
  if (!views) {
    views = { caller: new WeakMap(), aggregate: new WeakMap(), scope: new WeakMap(), internal: new WeakMap() };
    cachedViews.set(access, views);
  }
  return views;
}

/** Whether the caller may browse the collection and, of a query, whether it applies the caller's row scopes. */
export function mayBrowse(access: Access, collection: Collection): boolean {
  return access.can('browse', collection.name) && isQueryVisible(access, collection);
}

export function isQueryVisible(access: Access, { query }: Collection): boolean {
  if (!query) return true;
  return (
    query.rowScope.every(({ to }) => !to.isPublished || access.can('browse', to.name)) &&
    query.unscoped.every((name) => access.scope(name) === null)
  );
}

/** The view of the caller. */
export function viewOf(access: Access, collection: Collection): CollectionView {
  const views = viewsOf(access).caller;
  let view = views.get(collection);
  if (!view) {
    view = createView(access, collection, createCallerVisibility(access), viewOf);
    views.set(collection, view);
  }
  return view;
}

/** The view of the caller for aggregates: with the fields of the collection that have a minimum group size. */
export function aggregateViewOf(access: Access, collection: Collection): CollectionView {
  if (!collection.rules.minGroupSize) return viewOf(access, collection);
  const views = viewsOf(access).aggregate;
  let view = views.get(collection);
  if (!view) {
    view = createView(access, collection, createCallerVisibility(access, collection), viewOf);
    views.set(collection, view);
  }
  return view;
}

/** The view of row scopes: all fields and all rows. */
export function scopeViewOf(access: Access, collection: Collection): CollectionView {
  const views = viewsOf(access).scope;
  let view = views.get(collection);
  if (!view) {
    view = createView(access, collection, createScopeVisibility(access), scopeViewOf);
    views.set(collection, view);
  }
  return view;
}

/**
 * The view of customization code: all fields, by their internal names. Row scope still applies, since results of the
 * code become part of a response to the caller.
 */
export function internalViewOf(access: Access, collection: Collection): CollectionView {
  const views = viewsOf(access).internal;
  let view = views.get(collection);
  if (!view) {
    view = createView(access, collection, createInternalVisibility(access), internalViewOf);
    views.set(collection, view);
  }
  return view;
}

function createView(
  access: Access,
  collection: Collection,
  visibility: FieldVisibility,
  viewAt: typeof viewOf,
): CollectionView {
  const visible = [...visibility.fields(collection).values()].filter((field) => visibility.canSee(collection, field));
  const columns = visible.filter((field) => field.kind === 'column');
  return {
    collection,
    columns,
    relations: visible.filter((field) => field.kind !== 'column'),
    defaultFields: [...visibility.fields(collection)].flatMap(([name, field]) =>
      field.kind === 'column' &&
      !visibility.isNamedOnly(collection, field) &&
      !field.parameter &&
      visibility.canSee(collection, field)
        ? [name]
        : [],
    ),
    names: new Map(),
    visibility,
    forCollection: (other) => viewAt(access, other),
    toInternal: (other) => internalViewOf(access, other),
  };
}

/** Whether only aggregates show the field. */
export function isOnlyAggregated({ rules: { minGroupSize } }: Collection, name: string): boolean {
  return minGroupSize !== undefined && (minGroupSize.fields?.has(name) ?? true);
}

/** Whether no caller can read a record. */
export function hasOnlyAggregates({ rules: { minGroupSize } }: Collection): boolean {
  return minGroupSize !== undefined && minGroupSize.fields === undefined;
}

/** `aggregated`: the collection whose fields with a minimum group size are shown. */
function createCallerVisibility(access: Access, aggregated?: Collection): FieldVisibility {
  const isShown = (collection: Collection, name: string) =>
    collection.isExternal === true ||
    (access.field(collection.name, name) !== 'hidden' &&
      (collection === aggregated || !isOnlyAggregated(collection, name)));
  const hasVisibleLink = (collection: Collection, { on, inverse, to: foreign, through, only }: Relation) =>
    through
      ? canReach(through)
      : (!only || isShown(only.side === 'from' ? collection : foreign, only.column.name)) &&
        on.every(({ from, to }) => (inverse ? isShown(foreign, to.name) : isShown(collection, from.name)));
  // Removed collections have no permissions. Hidden foreign keys still hide the relation.
  const canReach = ({ collection, origin, foreign }: Through) =>
    (!collection.isPublished || (access.can('browse', collection.name) && !hasOnlyAggregates(collection))) &&
    [...origin.map(({ to }) => to), ...foreign.map(({ from }) => from)].every((column) =>
      isShown(collection, column.name),
    );
  return {
    fields: (collection) => collection.fields,
    isNamedOnly: (collection, column) => fieldMeaning(access, collection, column)?.hiddenByDefault === true,
    stored: ({ name, isExternal }) => (isExternal ? undefined : access.meanings?.collections.get(name)),
    canSee(collection, field) {
      if (!isShown(collection, field.name)) return false;
      if (field.kind === 'column') return !field.route || sees(collection, field.route);
      if (field.formerly !== undefined && !isShown(collection, field.formerly)) return false;
      if (field.recordsColumn) return true;
      return !hasOnlyAggregates(field.to) && mayBrowse(access, field.to) && hasVisibleLink(collection, field);
    },
    relationToJoin: (relation) => relation,
    hidesRows: (collection) =>
      !collection.isExternal && (collection.query !== undefined || access.scope(collection.name) !== null),
    // Removed collections have no permissions.
    hidesAllRows: ({ isExternal: isGiven, isPublished: published, name }) =>
      !isGiven && published && !access.can('browse', name),
    scoped: true,
    isOfCaller: true,
  };

  /** An imported field is hidden if its origin is hidden. Removed collections have no permissions. */
  function sees(home: Collection, { via, field }: Route): boolean {
    let at = home;
    for (const relation of via) {
      if (relation.to.isPublished && (!access.can('browse', relation.to.name) || hasOnlyAggregates(relation.to)))
        return false;
      at = relation.to;
    }
    return !at.isPublished || isShown(at, field.name);
  }
}

/** The console does not change what code reads. */
const ofCode: Pick<FieldVisibility, 'isNamedOnly' | 'stored'> = {
  isNamedOnly: (_, { meaning }) => meaning?.hiddenByDefault === true,
  stored: () => undefined,
};

function createInternalVisibility(access: Access): FieldVisibility {
  return {
    fields: (collection) => collection.internalFields,
    canSee: () => true,
    ...ofCode,
    relationToJoin: (relation) => relation,
    hidesRows: (collection) =>
      !collection.isExternal && (collection.query !== undefined || access.scope(collection.name) !== null),
    hidesAllRows: () => false,
    scoped: true,
    isOfCaller: false,
  };
}

function createScopeVisibility(access: Access): FieldVisibility {
  return {
    fields: (collection) => collection.fields,
    canSee: () => true,
    ...ofCode,
    relationToJoin: (relation) => (access.scope(relation.to.name) === null ? relation : toUnscopedRelation(relation)),
    hidesRows: () => false,
    hidesAllRows: () => false,
    scoped: false,
    isOfCaller: false,
  };
}
