// The fields of a collection that a caller can see. Views are cached per Access. An Access has one version of the
// permissions, so cached views cannot become stale. A map caches resolved names.
//
// Hidden names are reported as unknown. They are: hidden fields, relations to collections without the browse
// permission, and relations with a hidden foreign key. Errors and suggestions never mention them.
import type { Access } from '../../core/caller.ts';
import type { Collection, Column, Field, Relation, Route, Through } from '../model/types.ts';
import type { Named } from '../plan/types.ts';
import { twinOf } from './paths.ts';

export interface View {
  readonly collection: Collection;
  /** Visible columns, in the order of the table. */
  readonly columns: readonly Column[];
  /** Visible relations. */
  readonly relations: readonly Relation[];
  /** The names of all visible columns. */
  readonly everything: readonly string[];
  /** A cache of resolved names. */
  readonly names: Map<string, Named>;
  readonly sight: Sight;
  /** The view of another collection, with the same `sight`. */
  other(collection: Collection): View;
  /** The view of customization code, for the same caller. */
  inside(collection: Collection): View;
}

/** The rules for looking up names: those of a caller, a row scope or customization code. */
export interface Sight {
  /** The names of a collection. */
  fields(collection: Collection): ReadonlyMap<string, Field>;
  sees(collection: Collection, field: Field): boolean;
  /** The relation to join when the name of this one is used. */
  follow(relation: Relation): Relation;
  /** Whether row scope can hide rows of the collection. */
  withholds(collection: Collection): boolean;
  /** Whether all rows of the collection are hidden. */
  withholdsAll(collection: Collection): boolean;
  /** Whether related records are limited to visible ones. False for a row scope. */
  readonly scoped: boolean;
}

/** Weak by collection too: an Access outlives models that restarts replace. */
interface Views {
  readonly caller: WeakMap<Collection, View>;
  readonly scope: WeakMap<Collection, View>;
  readonly inside: WeakMap<Collection, View>;
}

const kept = new WeakMap<Access, Views>();

function viewsOf(access: Access): Views {
  let views = kept.get(access);
  if (!views) {
    views = { caller: new WeakMap(), scope: new WeakMap(), inside: new WeakMap() };
    kept.set(access, views);
  }
  return views;
}

/** The view of the caller. */
export function viewOf(access: Access, collection: Collection): View {
  const views = viewsOf(access).caller;
  let view = views.get(collection);
  if (!view) {
    view = createView(access, collection, callerSight(access), viewOf);
    views.set(collection, view);
  }
  return view;
}

/** The view of row scopes: all fields and all rows. */
export function scopeViewOf(access: Access, collection: Collection): View {
  const views = viewsOf(access).scope;
  let view = views.get(collection);
  if (!view) {
    view = createView(access, collection, scopeSight(access), scopeViewOf);
    views.set(collection, view);
  }
  return view;
}

/**
 * The view of customization code: all fields, by their internal names. Row scope still applies, since results of the
 * code become part of a response to the caller.
 */
export function insideViewOf(access: Access, collection: Collection): View {
  const views = viewsOf(access).inside;
  let view = views.get(collection);
  if (!view) {
    view = createView(access, collection, insideSight(access), insideViewOf);
    views.set(collection, view);
  }
  return view;
}

function createView(access: Access, collection: Collection, sight: Sight, viewAt: typeof viewOf): View {
  const visible = [...sight.fields(collection).values()].filter((field) => sight.sees(collection, field));
  const columns = visible.filter((field) => field.kind === 'column');
  return {
    collection,
    columns,
    relations: visible.filter((field) => field.kind !== 'column'),
    everything: [...sight.fields(collection)].flatMap(([name, field]) =>
      field.kind === 'column' && sight.sees(collection, field) ? [name] : [],
    ),
    names: new Map(),
    sight,
    other: (other) => viewAt(access, other),
    inside: (other) => insideViewOf(access, other),
  };
}

function callerSight(access: Access): Sight {
  const shown = (collection: Collection, name: string) =>
    collection.isGiven === true || access.field(collection.name, name) !== 'hidden';
  const linked = (collection: Collection, { on, inverse, to: foreign, through, only }: Relation) =>
    through
      ? reaches(through)
      : (!only || shown(only.side === 'from' ? collection : foreign, only.column.name)) &&
        on.every(({ from, to }) => (inverse ? shown(foreign, to.name) : shown(collection, from.name)));
  // Removed collections have no permissions. Hidden foreign keys still hide the relation.
  const reaches = ({ collection, origin, foreign }: Through) =>
    (!collection.published || access.can('browse', collection.name)) &&
    [...origin.map(({ to }) => to), ...foreign.map(({ from }) => from)].every((column) =>
      shown(collection, column.name),
    );
  return {
    fields: (collection) => collection.fields,
    sees(collection, field) {
      if (!shown(collection, field.name)) return false;
      if (field.kind === 'column') return !field.route || sees(collection, field.route);
      if (field.formerly !== undefined && !shown(collection, field.formerly)) return false;
      if (field.given) return true;
      return access.can('browse', field.to.name) && linked(collection, field);
    },
    follow: (relation) => relation,
    withholds: (collection) => !collection.isGiven && access.scope(collection.name) !== null,
    // Removed collections have no permissions.
    withholdsAll: ({ isGiven, published, name }) => !isGiven && published && !access.can('browse', name),
    scoped: true,
  };

  /** An imported field is hidden if its origin is hidden. Removed collections have no permissions. */
  function sees(home: Collection, { via, field }: Route): boolean {
    let at = home;
    for (const relation of via) {
      if (relation.to.published && !access.can('browse', relation.to.name)) return false;
      at = relation.to;
    }
    return !at.published || shown(at, field.name);
  }
}

function insideSight(access: Access): Sight {
  return {
    fields: (collection) => collection.inside,
    sees: () => true,
    follow: (relation) => relation,
    withholds: (collection) => !collection.isGiven && access.scope(collection.name) !== null,
    withholdsAll: () => false,
    scoped: true,
  };
}

function scopeSight(access: Access): Sight {
  return {
    fields: (collection) => collection.fields,
    sees: () => true,
    follow: (relation) => (access.scope(relation.to.name) === null ? relation : twinOf(relation)),
    withholds: () => false,
    withholdsAll: () => false,
    scoped: false,
  };
}
